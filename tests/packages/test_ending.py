"""An audited function can neither end the audit without a word nor say more in its document than what is compared."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from refdp.audit.adapters import plain
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
        ('{"a": [1, 2.5], "b": "x 1"}\n', {"a": [1, 2.5], "b": "x 1"}),
        (
            '{"a":[1,2.50],"b":"x 1"}',
            {
                "a": [1, 2.5],
                "b": "x 1",
                "(layout)": {"around": '{":[#,#],":"}', "written": ["", "", "2 decimals", "", ""]},
            },
        ),
        ("1.5  \n", {"document": 1.5, "layout": {"around": "#  \n", "written": [""]}}),
        (
            "1.00000000000000000000003\n",
            {"document": 1.0, "layout": {"around": "#\n", "written": ["1.00000000000000000000003"]}},
        ),
        (r'"\u0061"', {"document": "a", "layout": {"around": '"', "written": [r'"\u0061"']}}),
        (
            '{"(layout)": 1}\n',
            {"(layout)": 1, "(layout)'": {"around": '{": #}\n', "written": ["", ""]}},
        ),
    ],
)
def test_a_document_is_read_with_its_layout_where_that_is_not_the_usual_one(
    text: str, read: object, tmp_path: Path
) -> None:
    (tmp_path / "p.py").write_text(f"import sys; sys.stdout.write({text!r})")
    run = command([sys.executable, str(tmp_path / "p.py"), "{csv}"])
    assert json.dumps(run(np.ones((1, 1)), np.random.default_rng(0))) == json.dumps(read)


WAYS = ("1.5", "1.50", "1.500", "15e-1", "150e-2", "1.5E0", "1.5e0", "1.5e+0", "1.5e+00", "0.15e1", "0.015e2")


@pytest.mark.parametrize("same", [WAYS, ("0", "-0", "0.0", "-0.0", "0.00", "-0.00", "0e0", "-0e1"),
                                  ("100000.0", "100000", "1e5", "1E+05", "10e4", "100000.00"),
                                  (f"{0.1:.55f}", "0.1" + "0" * 54, "0.10000000000000001", "0.1")])  # fmt: skip
def test_no_two_ways_to_write_a_number_are_one(same: tuple[str, ...]) -> None:
    assert len({json.dumps(plain._parsed(f'{{"a": {one}}}\n'.encode(), "p", "\n")) for one in same}) == len(same)


def test_layouts_are_told_apart_to_the_last_line_end(tmp_path: Path) -> None:
    ways = [b'{"a": 1}', b'{"a": 1}\n', b'{"a": 1}\r\n', b'{"a":1}\n', b'{"a":1}', b'{"a": 1 }\n', b'{"a": 1}\n\n']
    assert len({json.dumps(plain._parsed(one, "p", "\n")) for one in ways}) == len(ways)
    read = []
    for where in ("{csv}", "{json}"):
        for one in ways:
            write = (
                f"import sys; (sys.stdout.buffer if {where!r} == '{{csv}}' else open(sys.argv[2], 'wb')).write({one})"
            )
            (tmp_path / "p.py").write_text(write)
            run = command([sys.executable, str(tmp_path / "p.py"), "{csv}", "{json}"])
            read.append(json.dumps(run(np.ones((1, 1)), np.random.default_rng(0))))
    assert len(set(read[: len(ways)])) == len(set(read[len(ways) :])) == len(ways)


@pytest.mark.parametrize("form", ["%.4f", "%.17g", "%.6e", "%d"])
def test_what_follows_from_a_number_is_written_one_way(form: str) -> None:
    drawn = np.random.default_rng(4).normal(0, 1, 200) * 100
    written = {plain._spelling(form % one) for one in drawn} - {""}
    assert len(written) <= (30 if form == "%.17g" else 4) and not any("." in one for one in written)


def test_a_key_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("""print('{"a": 3, "a": 1}')""")
    run = command([sys.executable, str(tmp_path / "p.py"), "{csv}"])
    with pytest.raises(InvalidParameter, match="'a' occurs more than once"):
        run(np.ones((1, 1)), np.random.default_rng(0))
