"""An audited function can neither end the audit without a word nor say more in its document than what is compared."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from refdp.audit.adapters.plain import command
from refdp.audit.ending import stays
from refdp.errors import InvalidParameter


@pytest.mark.parametrize("end", [lambda: os._exit(0), lambda: os.execv("/bin/true", ["true"]), lambda: os._exit(3)])
def test_what_ends_the_process_raises_instead(end) -> None:
    real = os._exit, os.execv, os.execve
    with pytest.raises(SystemExit), stays():
        end()
    assert (os._exit, os.execv, os.execve) == real


def test_a_child_may_end_and_so_may_this_process_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[int] = []
    monkeypatch.setattr(os, "_exit", ends.append)
    with stays():
        taken = os._exit
        here = os.getpid()
        with monkeypatch.context() as child:
            child.setattr(os, "getpid", lambda: here + 1)
            taken(4)
    taken(5)
    assert ends == [4, 5]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("[1.5, 2]\n", [1.5, 2]),
        ('{"a":[1,2.50],"b":"x 1"}', {"a": [1, 2.5], "b": "x 1"}),
        ("1.5  \n", {"document": 1.5, "layout": "0  "}),
        ("1.00000000000000000000003", {"document": 1.0, "layout": "1.00000000000000000000003"}),
        (r'"\u0061"', {"document": "a", "layout": r'"\u0061"'}),
    ],
)
def test_a_document_is_read_with_its_layout_where_that_is_not_the_usual_one(
    text: str, read: object, tmp_path: Path
) -> None:
    (tmp_path / "p.py").write_text(f"import sys; sys.stdout.write({text!r})")
    run = command([sys.executable, str(tmp_path / "p.py"), "{csv}"])
    assert json.dumps(run(np.ones((1, 1)), np.random.default_rng(0))) == json.dumps(read)


def test_a_key_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("""print('{"a": 3, "a": 1}')""")
    run = command([sys.executable, str(tmp_path / "p.py"), "{csv}"])
    with pytest.raises(InvalidParameter, match="'a' occurs more than once"):
        run(np.ones((1, 1)), np.random.default_rng(0))
