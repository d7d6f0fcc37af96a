"""What is looked at before anything runs, what finished entry points are kept as, and which stages are asked."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit.package import checked, run
from refdp.audit.package.causes import EPSILON
from refdp.audit.package.entries import Neighbours
from refdp.audit.package.findings import Finding, Witness
from refdp.audit.package.report import Examined
from refdp.audit.package.scope import Claim, Entry, Scope
from refdp.audit.package.sources import Location
from refdp.audit.package.stages import Fails
from refdp.audit.verdicts import SUBJECTS, Row, Verdict
from refdp.errors import InvalidParameter
from refdp.privacy.events import Relation

CLAIM = Claim("said", "there", "one record", Relation.ADD_REMOVE, 1.0, 0.0)
PAIRS = [
    Neighbours(np.ones((2, 1)), np.ones((1, 1)), (), "a pair"),
    Neighbours(np.ones((3, 1)), np.ones((2, 1)), (), "other"),
]


def entry(**changed: Any) -> Entry:
    return Entry(**{"name": "one", "kind": "callable", "target": "m:f", "claim": CLAIM, "place": 0, **changed})


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    made: Any = ModuleType("checked_pieces")
    made.f = lambda value, scale, rng=None: value
    made.any = lambda value, **more: value
    made.scale = lambda given: 1.0
    monkeypatch.setitem(sys.modules, "checked_pieces", made)
    return made


def noise(**changed: Any) -> dict[str, Any]:
    table = {"function": "checked_pieces:f", "law": "laplace", "value": "value", "scale": "scale", **changed}
    return {key: value for key, value in table.items() if value is not None}


@pytest.mark.parametrize(("changed", "words"), [
    ({}, ""), ({"value": "no"}, "value: no argument 'no'; allowed are value, scale, rng, a number or module:function"),
    ({"scale": "rng.inner"}, ""), ({"scale": "no.rng"}, "scale: no argument 'no'"), ({"scale": 0}, ""),
        ({"scale": -0.5}, "scale: -0.5, numbers from 0 on"),
    ({"value": -0.5}, ""), ({"epsilon": True}, "epsilon: True, the name"), ({"delta": [1]}, "delta: [1], the name"),
        ({"sensitivity": "no"}, "sensitivity: no"),
    ({"generator": "no"}, "generator: no"), ({"options": "no"}, "options: no"), ({"scale": "checked_pieces:scale"}, ""),
    ({"scale": "checked_pieces:no"}, "AttributeError"), ({"function": "checked_pieces:any", "scale": "whatever"}, ""),
    ({"law": "laplac"}, "'checked_pieces:f' law 'laplac': 'laplace' is meant?"),
        ({"function": "checked_pieces:no"}, "function 'checked_pieces:no'"),
    ({"value": None, "caller": "x", "scale": "caller.y"}, ""),
        ({"value": None, "caller": "x", "scale": "caller"},
            "no argument 'caller'; allowed are value, scale, rng or caller.NAME"),
    ({"scale": "caller.y"}, "no argument 'caller'"), ({"value": None, "caller": "x", "scale": "checked_pieces:scale"},
        "no argument 'checked_pieces:scale'"),
    ({"value": None, "caller": "x", "scale": "rng.y"}, ""),
])  # fmt: skip
def test_noise_functions_are_held_to_their_signatures(changed: Any, words: str, module: Any) -> None:
    if not words:
        checked._noise("[[noise]] 1", noise(**changed))
        return
    with pytest.raises(InvalidParameter) as error:
        checked._noise("[[noise]] 1", noise(**changed))
    assert words in str(error.value) and str(error.value).startswith("[[noise]] 1")


def test_functions_without_a_signature(module: Any) -> None:
    module.f = dict.fromkeys.__self__  # a type of another language that tells nothing
    with pytest.raises(InvalidParameter, match="its arguments cannot be read"):
        checked._noise("[[noise]] 1", noise())
    checked._takes_two(dict, "x")
    module.f = lambda: 0
    with pytest.raises(InvalidParameter, match="no argument 'scale'; allowed are none, a number"):
        checked._noise("[[noise]] 1", noise(value=0))


def test_entry_points_take_records_and_a_seed() -> None:
    for good in (lambda records, seed: 0, lambda *given: 0, lambda a, b, c=1: 0):
        checked._takes_two(good, "x")
    for wrong in (lambda a: 0, lambda a, b, c: 0, lambda a, *, b: 0, lambda: 0):
        with pytest.raises(InvalidParameter, match=r"x: its arguments are .*, but \(records, seed\) is what it gets"):
            checked._takes_two(wrong, "x")


def test_programs_and_scripts_of_commands(tmp_path: Path) -> None:
    script = tmp_path / "a.py"
    script.write_text("")
    for words in [
        (sys.executable,),
        (sys.executable, "absent.py"),
        ("{python}",),
        ("{python}", "-m"),
        ("{python}", str(script)),
    ]:
        checked._there("x", *words)
    with pytest.raises(InvalidParameter, match="no such program"):
        checked._there("x", "no such program")
    for script_name in ("absent.py", str(tmp_path)):
        with pytest.raises(InvalidParameter, match="no such file for"):
            checked._there("x", "{python}", script_name)


def test_functions_of_entries_and_their_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked, "function_of", lambda one: one.target)
    asked: list[Any] = []
    monkeypatch.setattr(checked, "_takes_two", lambda *given: asked.append(given))
    monkeypatch.setattr(checked, "_there", lambda *given: asked.append(given))
    assert checked._function(entry()) == "m:f" and asked.pop() == ("m:f", "[[entry]] 'one' callable 'm:f'")
    assert checked._function(entry(kind="notebook")) == "m:f" and asked == []
    checked._function(entry(kind="command", target=("a", "b", "c")))
    assert asked == [("[[entry]] 'one'", "a", "b")]

    def fails(one: Any) -> Any:
        raise InvalidParameter(one.target)

    monkeypatch.setattr(checked, "function_of", fails)
    for target, words in [("wrong", "[[entry]] 'one' wrong"), ("[[entry]] 'one' x", "[[entry]] 'one' x")]:
        with pytest.raises(InvalidParameter) as error:
            checked._function(entry(target=target))
        assert str(error.value) == words
    for name in ("no",):
        with pytest.raises(InvalidParameter, match="open 'no': allowed are"):
            checked._adapter(name)
    monkeypatch.setattr(checked, "_patches", lambda name: 1 / 0)
    with pytest.raises(InvalidParameter, match="open 'opendp': it cannot be opened here"):
        checked._adapter("opendp")


def test_everything_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    for name in ("_adapter", "_noise", "doors", "function_at"):
        monkeypatch.setattr(checked, name, lambda *given, name=name: asked.append((name, *given)))
    monkeypatch.setattr(checked, "_function", lambda one: f"function {one.name}")
    scope: Any = SimpleNamespace(opened=("opendp", "interpret"), noise=({"a": 1}, {"b": 2}))
    found = checked.check(scope, [entry(), entry(name="two", source="m:g")], "tree")  # type: ignore[arg-type]
    assert found == {"one": "function one", "two": "function two"}
    assert asked == [("function_at", "m:g", "tree", "[[entry]] 'two' source"), ("_adapter", "opendp"),
        ("_adapter", "interpret"),
                     ("_noise", "[[noise]] 1", {"a": 1}), ("_noise", "[[noise]] 2", {"b": 2}),
                         ("doors", scope)]  # fmt: skip


# --- One entry point --------------------------------------------------------------------------------------------------


def scope_at(path: Path) -> Scope:
    return Scope(path, "package", "1", ("p",), (), "", CLAIM, (entry(),), (), 40)


def test_stages_are_asked_one_by_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str] = []
    bound = SimpleNamespace(lower=float("inf"), confidence=0.9, samples=7, words="w", counts=(3, 4))
    where: list[Any] = []
    monkeypatch.setattr(run, "_location", lambda *given: where.append(given) or Location("p", 3, "f", "t"))
    monkeypatch.setattr(run, "ranked", lambda one: asked.append("ranked"))
    monkeypatch.setattr(
        run, "replay", lambda one: asked.append("replay") or ([Row("releases", Verdict.NOT_FOUND, "r")], {"runs": 2})
    )
    monkeypatch.setattr(run, "structure", lambda one: asked.append("structural") or ([{"kind": "k"}], 300))
    monkeypatch.setattr(run, "black_box", lambda one, curves: asked.append(f"black box {curves}") or bound)
    monkeypatch.setattr(run, "outside_rows", lambda one, *given: asked.append(str(given)) or [])
    monkeypatch.setattr(run, "merged", lambda *given: tuple(f"{name}: {len(listed)}" for name, listed in given))
    ticks = [1.0, 3.456]
    monkeypatch.setattr(run, "time", SimpleNamespace(perf_counter=lambda: ticks[len(asked) > 0]))

    def examined(*stages: str, curves: bool = False) -> Examined:
        asked.clear()
        return run._examined(scope_at(tmp_path / "a.toml"), entry(), "function", PAIRS, "tree", stages, curves, ())  # type: ignore[arg-type]

    whole = examined("replay", "structural", "black box", curves=True)
    kept = [Row("releases", Verdict.NOT_FOUND, "r")]
    assert asked == ["ranked", "replay", "structural", "black box True", str((bound, [{"kind": "k"}], 300, kept))]
    assert whole.figures == {"replay": {"runs": 2}, "structural": {"findings": 1, "calls": 300}, "seconds": 2.46,
                             "black box": {**run._figures(bound)}}  # type: ignore[arg-type]  # fmt: skip
    assert whole.coverage == ("replay: 1", "black box: 0") and whole.pairs == ("a pair", "other")  # type: ignore[comparison-overlap]
    assert where == [(scope_at(tmp_path / "a.toml"), entry(), "function", PAIRS, "tree", *where[0][5:])]
    assert run._figures(None) == {} and {**run._figures(bound), "epsilon at least": 0} == {  # type: ignore[arg-type]
        "epsilon at least": 0, "confidence": 0.9, "runs": 7, "event": "w", "counts": [3, 4]}  # fmt: skip
    assert (
        whole.location == Location("p", 3, "f", "t")
        and whole.entry == entry()
        and whole.findings == ()
        and whole.svg == ""
    )
    for stage, told in [("replay", "replay"), ("structural", "structural"), ("black box", "black box False")]:
        found = examined(stage)
        given = (
            bound if stage == "black box" else None,
            *(([{"kind": "k"}], 300) if stage == "structural" else ([], 0)),
            kept if stage == "replay" else [],
        )
        assert asked == ["ranked", told, str(given)] and found.figures.keys() == {stage, "seconds"}

    def fails(one: Any) -> None:
        raise Fails("wrong")

    monkeypatch.setattr(run, "ranked", fails)
    failed = examined("replay")
    assert asked == [] and failed.figures == {"error": "wrong"}
    assert (failed.entry, failed.location, failed.pairs) == (entry(), Location("p", 3, "f", "t"), ("a pair", "other"))
    assert list(failed.coverage) == [Row(what, Verdict.NOT_EXAMINED, "wrong") for what in SUBJECTS]


def test_the_line_behind_an_entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(run, "function_at", lambda *given: asked.append(given) or "source")
    monkeypatch.setattr(
        run, "entered", lambda function, rows, seed, tree: asked.append((function, rows.tolist(), seed, tree)) or found
    )
    scope = scope_at(tmp_path / "audit.toml")

    def location(**changed: Any) -> Any:
        return run._location(scope, entry(**changed), "function", PAIRS, "tree")  # type: ignore[arg-type]

    found: Any = "entered"
    assert location(source="m:g") == "source" and asked.pop() == ("m:g", "tree", "[[entry]] 'one' source")
    assert location() == "entered" and asked == [("function", [[1.0], [1.0]], 40, "tree")]
    asked.clear()
    assert location(kind="command") == Location("audit.toml", 1, "", "") and asked == []
    found = None
    scope.path.write_text('first one\n  name = "other"\n  name = "one"  \nname = "one more"\n')
    assert location() == Location("audit.toml", 3, "", 'name = "one"')
    assert location(name="absent") == Location("audit.toml", 1, "", "first one")


def test_what_was_finished_is_kept_and_recalled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    digests = {"tree files": "a"}
    monkeypatch.setattr(run, "digest", lambda files: f"{files} {digests['tree files']}")
    monkeypatch.setattr(run, "named", lambda scope: ["named"])
    monkeypatch.setattr(run, "versions", lambda scope: {"p": "1"})
    tree: Any = SimpleNamespace(files=["f"])
    scope = scope_at(tmp_path / "audit.toml")
    path = tmp_path / "kept.jsonl"
    location, figures = Location("p", 3, "f", "t"), {"black box": {"runs": 3}, "seconds": 1.0}
    finding = Finding(
        "one", "replay", EPSILON, "kind", "where", Location("q", 4, "g", "u"), CLAIM, "sure", {"n": 1}, "pair",
        Witness("code", True, False), False, ("x", "y"), package="package", records={"first": [[1.0]]},
    )  # fmt: skip
    row = Row("releases", Verdict.NOT_FOUND, "r", "p", False)
    one = Examined(entry(), location, ("a pair",), (row,), figures, (finding,), "")
    first = run._Memory(path, scope, tree, ["replay"])
    first.keep(one)
    lines = path.read_text().splitlines()
    assert (
        json.loads(lines[0]) == {"format": run.FORMAT, "digest": first.digest}
        and json.loads(lines[1])["entry"] == "one"
    )
    path.write_text(path.read_text() + '{"cut')
    again = run._Memory(path, scope, tree, ["replay"])
    found = again.recall(entry(), False)
    assert found == one
    assert (
        path.read_text().splitlines() == lines
        and again.recall(entry(), True) is None
        and again.recall(entry(name="no"), False) is None
    )
    for change in ("stages", "files"):
        digests["tree files"] = "b" if change == "files" else "a"
        with pytest.raises(InvalidParameter, match="give another file"):
            run._Memory(path, scope, tree, ["structural"] if change == "stages" else ["replay"])
    digests["tree files"] = "a"
    for text in ("3\n", "{}\n", "\n", "word\n", "{\n"):
        path.write_text(text)
        with pytest.raises(InvalidParameter, match="--resume"):
            run._Memory(path, scope, tree, ["replay"])
        assert path.read_text() == text
    path.write_text("")
    run._Memory(path, scope, tree, ["replay"])
    assert path.read_text().splitlines() == lines[:1]
    assert run._Memory(None, scope, tree, ["replay"]).recall(entry(), False) is None
