"""What is read is what its sources make, of whomever it is: older bytecode, patches, edited files, texts elsewhere."""

from __future__ import annotations

import functools
import importlib
import inspect
import linecache
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.data import losses
from refdp.data.reading import recorded
from refdp.data.records import Interval, Numeric, Schema
from refdp.faces import registry
from refdp.ledger.proved import ELSEWHERE
from refdp.papers import dpboost
from refdp.privacy.events import Relation
from refdp.prove import made, texts
from refdp.prove.reading import Proof, prove
from refdp.prove.syntax import refused
from tests.additions import stumps

SCHEMA = Schema((Numeric("x", 0.0, 1.0),), Interval(-1.0, 1.0))
SMALL: dict[str, Any] = {"epsilon": 1.0, "relation": Relation.ADD_REMOVE, "trees": 1}
DEEP: dict[str, Any] = {**SMALL, "trees_per_ensemble": 1, "depth": 1, "noise": "floating"}


def elsewhere(module: Any) -> list[str]:
    """Where something else runs than a module's texts make."""
    start = f"{ELSEWHERE}: "
    return [one.reason.removeprefix(start) for one in refused(module) if one.reason.startswith(start)]


@pytest.mark.parametrize("name", [*registry.PAPERS, *registry.OWN])
def test_the_texts_make_what_runs(name: str) -> None:
    assert refused(registry.paper(name).module, name) == []


def test_what_runs_otherwise_than_its_text_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytecode of another text under the file's name, wrappers, and functions in one another's place."""
    old = dpboost.train_single_tree
    text = inspect.getsource(dpboost).replace("np.clip(value, -clip, clip)", "np.clip(1000 * value, -clip, clip)")
    other: dict[str, Any] = dict(vars(dpboost))
    exec(compile(text, str(dpboost.__file__), "exec"), other)

    @functools.wraps(old)
    def wrapped(*given: Any) -> Any:
        return old(*given)

    for instead in (other["train_single_tree"], wrapped, lambda *_: None, functools.partial(old), dpboost.predict):
        with monkeypatch.context() as patch:
            patch.setattr(dpboost, "train_single_tree", instead)
            assert elsewhere(dpboost) == ["refdp.papers.dpboost.train_single_tree"]


def louder(score: Any, label: Any) -> Any:
    """A gradient a thousand times as large where it is asked for arrays."""
    found = score - label
    return 1000 * found if isinstance(score, np.ndarray) else found


@pytest.mark.parametrize(
    ("owner", "name", "instead", "told"),
    [(dpboost, "square_gradient", louder, "refdp.papers.dpboost.square_gradient"),
     (losses, "square_gradient", louder, "refdp.data.losses.square_gradient"),
     (dpboost.Params, "delta", 0.25, "refdp.papers.dpboost.Params.delta"),
     (dpboost.Params, "leaf_charge", dpboost.Params.split_charge, "refdp.papers.dpboost.Params.leaf_charge")],
)  # fmt: skip
def test_what_a_text_imports_and_its_constants_are_compared_too(
    owner: Any, name: str, instead: Any, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Modules beside it as well: the reading executes them."""
    monkeypatch.setattr(owner, name, instead)
    found = prove("dpboost", dpboost.Params(**DEEP), SCHEMA)
    assert (found.verdict, found.questions) == ("NOT PROVED", 0)
    assert [one.reason for one in found.failures] == [f"{ELSEWHERE}: {told}"]


class Wide(Schema):
    def label(self, output: int, y: Any) -> Any:
        return super().label(output, y) * 1000


def test_settings_and_schemas_that_compute_by_themselves_are_not_read() -> None:
    own = dpboost.Params(**DEEP)
    object.__setattr__(own, "split_rule", lambda: lambda *_: None)
    for params, schema, told in (
        (own, SCHEMA, "params.split_rule"),
        (dpboost.Params(**DEEP), Wide(SCHEMA.features, SCHEMA.target), "schema, a tests.prove.test_made.Wide"),
    ):
        found = prove("dpboost", params, schema)
        assert (found.verdict, found.failures[0].reason) == ("NOT PROVED", f"{ELSEWHERE}: {told}")


# --- texts of somebody else -------------------------------------------------------------------------------------------

Register = Callable[..., ModuleType]
STUMPS = inspect.getsource(stumps)


@pytest.fixture
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Register]:
    """Makes a module of a text, somewhere, and registers it under its name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def made_of(name: str, text: str) -> ModuleType:
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        module = importlib.import_module(name)
        registry.register(name, module)  # type: ignore[arg-type]
        return module

    before = dict(registry._registered)
    yield made_of
    for name in registry._registered.keys() - before.keys():
        del registry._registered[name], sys.modules[name]


def proof(name: str, module: Any, settings: dict[str, Any] = SMALL, **more: Any) -> Proof:
    return prove(name, module.Params(**settings), SCHEMA, briefly=True, **more)


def test_a_text_of_somebody_else_is_proved_by_the_same_rules(register: Register) -> None:
    """One by a function of what was released that can give None is not: it is read on an example."""
    assert proof("stumps_fine", register("stumps_fine", STUMPS)).verdict == "PROVED"
    source = inspect.getsource(dpboost)
    clip = "    value = np.clip(value, -clip, clip)  # Alg. 1, l. 13: geometric leaf clipping\n"
    assert source.count(clip) == 1
    coin = '    coin = curator.draw("coin", ("uniform",), 1)[0]\n'
    large = "    value = value * (9.0 if flagged(coin) is None else 1.0)\n"
    flagged = "\n\ndef flagged(coin: float) -> Any:\n    found = []\n    found.append(None if coin > 0.5 else 1.0)\n"
    text = source.replace(clip, clip + coin + large) + flagged + "    return found[0]\n"
    found = proof("coins", register("coins", text), DEEP)
    assert found.verdict == "NOT PROVED" and found.failures[0].reason.startswith("flagged of released values")


def test_what_else_runs_in_a_text_of_somebody_else_is_told(register: Register, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = register("stumps_patched", STUMPS)
    for owner, name, told in (
        (module, "square_gradient", "stumps_patched.square_gradient"),
        (module.Params, "charges", "stumps_patched.Params.charges"),
        (losses, "on_grid", "refdp.data.losses.on_grid"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, louder)
            (failure,) = proof("stumps_patched", module).failures
            assert failure.reason == f"{ELSEWHERE}: {told}"
    assert refused(module, "stumps_patched") == []


def test_a_text_that_is_in_no_file_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor one that is another module than is imported by its name, or was run as a script."""
    names = {name: one for name, one in vars(stumps).items() if name not in ("__file__", "__spec__", "__loader__")}
    for own, told in (
        ({}, "None, of which there is no text"),
        ({"__file__": "nowhere.py"}, "nowhere.py, of which there is no text"),
        ({"__file__": stumps.__file__}, "stumps.py, which is imported by no name"),
        ({"__file__": stumps.__file__, "__spec__": stumps.__spec__}, "stumps.py, which is imported by no name"),
    ):
        module: Any = ModuleType(stumps.__name__)
        vars(module).update(names | own)
        monkeypatch.setitem(registry._registered, "nowhere", module)
        found = prove("nowhere", stumps.Params(**SMALL), SCHEMA)
        assert found.verdict == "NOT PROVED" and told in found.failures[0].reason
    monkeypatch.setitem(registry._registered, "nowhere", SimpleNamespace(**vars(stumps)))  # type: ignore[arg-type]
    found = prove("nowhere", stumps.Params(**SMALL), SCHEMA)
    assert found.verdict == "NOT PROVED" and "in a module's place" in found.failures[0].reason


def test_a_text_under_the_name_of_another_file_is_not_read(register: Register) -> None:
    """As loaders compile it, and bytecode in archives has it: rules that are asked while it runs know its file."""
    module = register("stumps_named", STUMPS)
    for file in ("stumps_named.py", "<string>", "refdp/papers/stumps_named.py"):
        exec(compile(STUMPS, file, "exec"), vars(module))
        (reason,) = (one.reason for one in proof("stumps_named", module).failures)
        assert reason.startswith(f"{ELSEWHERE}: stumps_named.")


def test_one_text_is_read_at_a_time(register: Register) -> None:
    """What was noted of values is of one reading: of two in threads each would forget what the other met."""
    source = inspect.getsource(dpboost)
    lost = source.replace("    value = np.clip(value, -clip, clip)", "    value = np.clip(9 * value, -clip, clip)")
    assert lost != source
    verdicts = {}

    def ask(name: str, module: Any) -> None:
        verdicts[name] = proof(name, module, DEEP).verdict

    asked = [
        ("dpboost", dpboost),
        ("one_louder", register("one_louder", lost)),
        ("one_more", register("one_more", source)),
    ]
    threads = [threading.Thread(target=ask, args=one) for one in asked]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert verdicts == {"dpboost": "PROVED", "one_louder": "NOT PROVED", "one_more": "PROVED"}


def test_an_edited_text_is_read_as_it_is_now(register: Register, tmp_path: Path) -> None:
    """A line that was shown before is kept; and one that is run is compared with the text that is read."""
    module, file = register("stumps_edited", STUMPS), tmp_path / "stumps_edited.py"
    assert refused(module) == [] and linecache.getline(str(file), 1)
    looks = "def looks(one: float) -> bool:\n    return hasattr(one, 'x')\n\n\n"
    edits = ("bins: int = 8", "bins: int = 9", ""), ("def predict(", f"{looks}def predict(", "hasattr")
    for number, (old, new, told) in enumerate(edits, 1):
        assert STUMPS.count(old) == 1
        file.write_text(STUMPS.replace(old, new), encoding="utf-8")
        os.utime(file, (number, number))
        if not told:
            assert "'bins'" in elsewhere(module)[0]
        importlib.reload(module)
        found = " ".join(one.reason for one in refused(module))
        assert told in found and bool(found) == bool(told)


def test_a_text_in_an_archive_is_read_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "texts.zip"
    looks = STUMPS.replace(
        "def predict(", "def looks(one: float) -> bool:\n    return hasattr(one, 'x')\n\n\ndef predict("
    )
    with zipfile.ZipFile(archive, "w") as made_of:
        for name, text in (("stumps_zipped", STUMPS), ("stumps_looking", looks)):
            made_of.writestr(f"{name}.py", text)
    monkeypatch.syspath_prepend(str(archive))
    assert refused(importlib.import_module("stumps_zipped")) == []
    assert "hasattr" in refused(importlib.import_module("stumps_looking"))[0].reason


def test_a_file_of_refdp_that_was_edited_since_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made, "source_of", lambda name: "another = 1\n")
    (told,) = elsewhere(dpboost)
    assert told == "refdp.papers.dpboost, whose file has changed since it was imported"


def test_what_a_cache_keeps_of_a_patch_is_told_by_the_proof_that_empties_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nothing would tell it any more: it is told once."""
    own, old = dpboost.Params(**{**DEEP, "depth": 3}), dpboost.leaf_sensitivity
    assert refused(dpboost, "dpboost") == []
    recorded.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(dpboost, "leaf_sensitivity", lambda *given: old(*given) / 1000)
        dpboost.plan(own, SCHEMA)
    assert elsewhere(dpboost) == ["refdp.data.reading.recorded, whose cache keeps what something else made"]
    assert elsewhere(dpboost) == []


@pytest.mark.parametrize("name", ["dpboost", "stumps_bare"])
def test_nothing_is_proved_where_python_leaves_assertions_out(name: str, tmp_path: Path) -> None:
    (tmp_path / "stumps_bare.py").write_text(STUMPS, encoding="utf-8")
    asked = (
        f"import importlib, sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from refdp.faces import registry\n"
        "from refdp.prove.syntax import refused\n"
        "if sys.argv[1] != 'dpboost': registry.register(sys.argv[1], importlib.import_module(sys.argv[1]))\n"
        "print([one.reason for one in refused(registry.paper(sys.argv[1]).module, sys.argv[1])])"
    )
    for option, told in (("-O", "python -O"), ("-OO", "python -O"), ("-B", "[]")):
        found = subprocess.run([sys.executable, option, "-c", asked, name], capture_output=True, text=True)
        assert told in found.stdout, found.stderr


def test_the_command_does_not_prove_where_python_leaves_assertions_out() -> None:
    asked = [sys.executable, "-O", "-m", "refdp", "prove", "dpboost", "--classes", "0", "--set", "trees=1"]
    found = subprocess.run(asked, capture_output=True, text=True)
    assert found.returncode == 1 and "NOT PROVED" in found.stdout and "leaves assertions out" in found.stdout


def test_which_files_and_modules_are_texts_while_one_is_read() -> None:
    assert not texts.is_text(stumps.__file__) and not texts.is_text_module(stumps.__name__)
    with texts.as_text(stumps):
        assert texts.is_text(stumps.__file__) and texts.is_text_module(stumps.__name__)
        assert texts.is_refdps(stumps.__name__) and texts.is_refdps("refdp.data.records")
        assert not texts.is_text(__file__) and not texts.is_refdps("refdp.prove.open")
    assert not texts.is_text(stumps.__file__) and not texts.is_refdps(stumps.__name__)
