"""What commands say of options, files and findings, piece by piece."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import refdp
from refdp.audit import structural
from refdp.audit.verdicts import Row, Verdict
from refdp.data.records import Categorical, Classes, Interval
from refdp.errors import InvalidParameter
from refdp.faces import budgets, registry
from refdp.faces.commands import audit_one_run, audit_package, audit_run, audit_trainer, blackbox, prove
from refdp.privacy.events import Relation
from refdp.prove import report as reports
from tests.printed import printed

AR = Relation.ADD_REMOVE


# --- prove ------------------------------------------------------------------------------------------------------------


def test_ranges_of_parameters() -> None:
    assert prove.ranges(None) == prove.ranges([]) == {}
    assert prove.ranges(["a=1..2.5", "b", "c=-inf..1e3"]) == {"a": (1.0, 2.5), "b": None, "c": (-math.inf, 1000.0)}
    for wrong in (["a=1..2", "a"], ["=1..2"], [""], ["a="], ["a=3"], ["a=1.2"], ["a=x..2"], ["a=1.."]):
        with pytest.raises(InvalidParameter, match="--any"):
            prove.ranges(wrong)


@pytest.mark.parametrize("classes", [-1, 1])
def test_numbers_of_classes_that_nothing_is_proved_for(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both solvers are needed, too."""
    there = {"z3", "cvc5"}
    monkeypatch.setattr(prove.importlib.util, "find_spec", lambda name: name if name in there else None)
    with pytest.raises(InvalidParameter, match=f"--classes {classes}: 0 for a regression, or 2 and more"):
        prove.prove("dpboost", classes=classes)
    for missing in ("z3", "cvc5"):
        there.clear()
        there.update({"z3", "cvc5"} - {missing})
        with pytest.raises(InvalidParameter, match="needs two solvers"):
            prove.prove("dpboost", classes=classes)


@pytest.mark.parametrize(("classes", "targets"), [(None, (0, 2)), (0, (0,)), (2, (2,)), (3, (3,))])
def test_what_is_proved_and_with_which_status(
    classes: int | None, targets: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []
    verdict = ["PROVED"]

    def proved(paper: str, params: Any, targets: Any, progress: Any, anywhere: Any) -> Any:
        progress(3)
        asked.append((paper, params.epsilon, params.relation, targets, anywhere))
        return SimpleNamespace(verdict=verdict[0], to_dict=lambda: {"verdict": verdict[0]})

    monkeypatch.setattr(prove.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(reports, "proved", proved)
    monkeypatch.setattr(prove, "page", lambda report: "page")
    prove.prove("dpboost", classes=classes, any_=["bins=2..4"], as_json=True)
    assert json.loads(capsys.readouterr().out) == {"verdict": "PROVED"}
    prove.prove("dpboost", Relation.REPLACE_ONE, 2.0, classes=classes)
    assert capsys.readouterr().out == "page"
    assert asked == [("dpboost", 1.0, AR, targets, {"bins": (2.0, 4.0)}),
                     ("dpboost", 2.0, Relation.REPLACE_ONE, targets, {})]  # fmt: skip
    verdict[0] = "NOT PROVED"
    assert prove.prove("dpboost", classes=classes) == 1


def test_the_page_of_a_proof() -> None:
    failure = SimpleNamespace(kind="sensitivity", release="", line="file:3", reason="why", counterexample={"x": 2})
    plain: dict[str, Any] = {"paper": "dpboost", "relation": AR, "statement": "all", "covers": ["c1", "c2"],
                             "trusted": ["t1"], "questions": 9, "releases": 4, "single": 1,
                             "seconds": 2.06}  # fmt: skip
    good = prove.page(SimpleNamespace(**plain, verdict="PROVED", failures=[]))
    bad = prove.page(SimpleNamespace(**plain, verdict="NOT PROVED", failures=[failure]))
    lines = printed(good)
    assert [line.split()[0] for line in lines] == [
        "verdict", "paper", "statement", "covers", "covers", "trusted", "questions", "seconds"]  # fmt: skip
    assert lines[0].split() == ["verdict", "PROVED"] and lines[3].split() == ["covers", "c1"]
    assert lines[6].endswith("9 of 4 releases, 1 rest on one solver") and lines[7].endswith("2.1 of processor time")
    assert printed(bad)[8:] == ["", "sensitivity at the whole  file:3", "  why", "  x = 2"]
    styles = [str(next(iter(one.renderables[0].columns[1].cells)).style) for one in (good, bad)]
    assert styles == ["bold green", "bold red"]


# --- Audits of functions and of trainers ------------------------------------------------------------------------------


def given(**more: Any) -> blackbox.Given:
    plain: dict[str, Any] = {
        "name": "m:f", "pair": Path("p.json"), "schema": None, "example": None, "relation": None, "score": "",
        "gaussian": False, "epsilon": 1.0, "delta": 0.0, "confidence": 0.95, "samples": 1000, "seed": 3, "jobs": 1,
        "resume": None, "structural": True, "outliers": False, "low_bits": True, "html": None, "as_json": False,
    }  # fmt: skip
    return blackbox.Given(**(plain | more))


def test_the_command_that_gives_the_same_finding() -> None:
    tail = "--delta 0.0 --confidence 0.95 --samples 1000 --seed 3"
    assert given().command() == f"refdp audit --callable m:f --epsilon 1.0 --pair p.json {tail}"
    more = given(pair=None, schema=Path("a b"), score="m:s", relation=AR, gaussian=True, delta=1e-5, structural=False,
                 outliers=True, low_bits=False)  # fmt: skip
    assert more.command() == (
        "refdp audit --callable m:f --epsilon 1.0 --schema 'a b' --score m:s --relation add-remove --gaussian "
        "--delta 1e-05 --confidence 0.95 --samples 1000 --seed 3 --no-structural --outliers --no-low-bits"
    )
    asked = audit_trainer.Asked("m:t", Path("s"), None, 1.0, 0.0, AR, 9, 3, None, False, ("f", "g"), None)
    assert audit_trainer._command(asked) == ("refdp audit --filter f --filter g --trainer m:t --schema s --epsilon 1.0 "
                                             "--delta 0.0 --relation add-remove --pairs 9 --seed 3")  # fmt: skip
    assert audit_run.command_of("dpboost", True, ["trees=4"], {"seed": 3, "pairs": None}) == (
        "refdp audit dpboost --as-published --seed 3 --set trees=4")  # fmt: skip
    assert audit_run.command_of("dpboost", False, None, {}) == "refdp audit dpboost"


def test_limits_of_an_audits_options() -> None:
    limits: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
        "epsilon": ((0.0, 49.9), (-1e-9, 50.0, math.inf)), "delta": ((0.0, 0.999), (-1e-9, 1.0)),
        "confidence": ((1e-9, 0.999), (0.0, 1.0)), "samples": ((100, 10**9), (99, 10**9 + 1)),
        "seed": ((0, 2**32), (-1, 2**32 + 1)), "jobs": ((1, 1024), (0, 1025)),
    }  # fmt: skip
    for name, (fine, wrong) in limits.items():
        for value in fine:
            blackbox._check(given(**{name: value}))
        for value in wrong:
            with pytest.raises(InvalidParameter, match=f"^{name} = "):
                blackbox._check(given(**{name: value}))
    blackbox._check(given(gaussian=True, delta=1e-9))
    with pytest.raises(InvalidParameter, match="--gaussian: --delta above 0"):
        blackbox._check(given(gaussian=True))
    for both in ({"pair": None}, {"schema": Path("s"), "example": Path("e")}):
        with pytest.raises(InvalidParameter, match="one of --pair"):
            blackbox._columns(given(**both))


def test_structural_checks_have_as_many_runs_as_epsilon_needs_if_they_can_be_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for needed, due in ((10, 300), (300, 300), (301, 301), (5000, 5000), (5001, 300)):
        monkeypatch.setattr(structural, "needed", lambda epsilon, alarm: needed * (epsilon == 2.5 and alarm == 1e-15))  # noqa: B023
        assert blackbox.structural_calls(given(epsilon=2.5)) == due
        assert structural.calls_for(2.5, 1e-9) == (due, needed > 5000)
        assert blackbox.structural_calls(given(epsilon=2.5, structural=False)) == 0


def test_pairs_are_neighbours(tmp_path: Path) -> None:
    """Records in any order, with a zero of either sign."""
    file = tmp_path / "pair.json"

    def read(first: Any, second: Any, relation: Relation | None = None) -> Any:
        file.write_text(json.dumps({"first": first, "second": second}))
        return blackbox.read_pair(file, relation)

    rows = [[1.0, 2.0], [3.0, 4.0], [0.0, 5.0]]
    same = read(rows, [rows[1], [-0.0, 5.0], rows[0]])
    assert same.first.tolist() == rows and same.second.shape == (3, 2)
    fewer, other = rows[:2], [*rows[:2], [9.0, 9.0]]
    for relation in (None, AR, Relation.REPLACE_ONE):
        read(rows, rows[::-1], relation)
        for twice in ((rows, rows), (rows, [*rows[:2], [-0.0, 5.0]]), ([], [])):
            with pytest.raises(InvalidParameter, match=rf"the same data set of {len(twice[0])} records"):
                read(*twice, relation)
    for pair, fine, wrong in (((rows, fewer), AR, Relation.REPLACE_ONE), ((fewer, rows), AR, Relation.REPLACE_ONE),
                              ((rows, other), Relation.REPLACE_ONE, AR)):  # fmt: skip
        read(*pair)
        read(*pair, fine)
        with pytest.raises(InvalidParameter, match=f"no neighbours of --relation {wrong.value}"):
            read(*pair, wrong)
    for first, second in ((rows, rows[:1]), (rows, [*rows[:1], [8.0, 8.0], [9.0, 9.0]]), (rows[:1], rows)):
        with pytest.raises(InvalidParameter, match=r"2 of \d and \d records are not in the other"):
            read(first, second)
    for wrong in ((1, [1]), ([1], 2), ([["x"]], [[1]]), ([[1], [1, 2]], [[1]])):
        with pytest.raises(InvalidParameter, match="with numbers is needed"):
            read(*wrong)


def test_schemas_of_a_trainer(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"a": [0, 1], "b": ["x", "y"], "c": [-2, 3]}))
    last = audit_trainer.schema_of(file, None)
    assert [one.name for one in last.features] == ["a", "b"] and last.target == Interval(-2, 3)
    named = audit_trainer.schema_of(file, "b")
    assert [one.name for one in named.features] == ["a", "c"] and named.target == Classes(("x", "y"))
    assert isinstance(last.features[1], Categorical)
    with pytest.raises(InvalidParameter, match="no column 'd'; it has a, b, c"):
        audit_trainer.schema_of(file, "d")
    file.write_text(json.dumps({"a": [0, 1]}))
    for target in (None, "a"):
        with pytest.raises(InvalidParameter, match="a target and a feature are needed"):
            audit_trainer.schema_of(file, target)
    file.write_text(json.dumps({"a": [0, 1], "c": [-2, 3]}))
    assert len(audit_trainer.schema_of(file, None).features) == 1


def violation(**witness: Any) -> Any:
    return SimpleNamespace(kind="sensitivity", release="leaves", claim="x/y", declared=1.0, observed=None,
                           witness=witness, loss_in_words=lambda: "loss 2")  # fmt: skip


def test_witnesses_in_a_few_words() -> None:
    added = {"base_y": [1, 2], "new_x": [1.0, 2.0, 3.0], "new_y": 0.5}
    assert audit_run.witness_line(violation(releases=["a", "b"])) == "the same as at a"
    assert audit_run.witness_line(violation(**added)) == "with (1, 2, 3) -> 0.5 against without, beside 2 other records"
    told = audit_run.witness_line(violation(**added, old_x=[1.0, 2.0, 3.0, 4.0], old_y=-1, detail="more " * 20))
    assert told.startswith("with (1, 2, 3) -> 0.5 against (1, 2, 3, ...) -> -1, beside 2 other records; more more")
    assert len(told.partition("; ")[2]) == 58 and told.endswith(" ...")
    assert str(audit_run.described(violation(**added))).splitlines()[1:3] == [
        "sensitivity at leaves  x/y", "  declared 1, loss 2"]  # fmt: skip
    for count, due in ((0, "VIOLATION"), (1, "VIOLATION, 1 violation"), (2, "VIOLATION, 2 violations")):
        assert str(audit_run.verdict_text(Verdict.VIOLATION, count)) == due
    row = Row("what", Verdict.HOLDS, "reason", "power")
    table = audit_run.coverage_table((row,))
    assert [next(iter(column.cells)) for column in table.columns][2:] == ["reason", "power"]
    assert [str(column.header) for column in table.columns] == ["what", "verdict", "reason", "would have shown"]
    for counts, wrong in (((1, None, None), False), ((1, 2, None), True), ((None, 1, 2), True)):
        if wrong:
            with pytest.raises(InvalidParameter, match="one of them at a time"):
                audit_run.way_of(None, *counts)  # type: ignore[arg-type]
    assert audit_run.way_of(None, None, None, None) is None  # type: ignore[arg-type]
    for paper, counts in (("sgbdt", (3, None, None)), ("fedgbdt", (None, 3, None)), ("inprivate", (None, None, 3))):
        way = audit_run.way_of(registry.paper(paper), *counts)
        assert way is not None and way.paper.name == paper


def test_files_of_one_run(tmp_path: Path) -> None:
    file = tmp_path / "run.json"

    def read(included: Any, scores: Any) -> tuple[list[Any], list[Any]]:
        file.write_text(json.dumps({"included": included, "scores": scores}))
        first, second = audit_one_run._read(file)
        return first.tolist(), second.tolist()

    fine = [True, False, True, False]
    assert read(fine, [1, 2, 3, 4]) == (fine, [1.0, 2.0, 3.0, 4.0])
    for included, scores in ((fine[:3], [1, 2, 3]), (fine, [1, 2, 3]), ([1, 0, 1, 0], [1, 2, 3, 4]),
                             ([[one] for one in fine], [1, 2, 3, 4])):  # fmt: skip
        with pytest.raises(InvalidParameter, match="at least 4, are needed"):
            read(included, scores)
    for scores in ([[1], [2], [3], [4]], [1, 2, 3, "4"], [1, 2, 3, None], [1, 2, 3, True]):
        with pytest.raises(InvalidParameter, match="scores that are no numbers"):
            read(fine, scores)
    for at in range(4):
        with pytest.raises(InvalidParameter, match="finite numbers"):
            read(fine, [math.nan if k == at else 1.0 for k in range(4)])
    with pytest.raises(InvalidParameter, match="is needed"):
        read(fine, "x")


def test_the_page_of_a_package() -> None:
    """Verdict, entry points, findings, what was covered, and what lies beside."""
    rows = [Row("one", Verdict.HOLDS, "r1"), Row("two", Verdict.NOT_EXAMINED, "r2", decides=False),
            Row("three", Verdict.NOT_EXAMINED, "r3")]  # fmt: skip
    cause = SimpleNamespace(title="bad noise", remedy="mend it")
    found: dict[str, Any] = {"cause": cause, "group": "g1", "severity": "high", "entry": "e", "where": "leaf",
                             "location": "f.py:3", "evidence": "ev", "pair": "pr", "figures": {"n": 1, "m": 2},
                             "witness": SimpleNamespace(code="a\nb")}  # fmt: skip
    findings = [SimpleNamespace(**found, violation=True, accepted=""),
                SimpleNamespace(**found, violation=False, accepted="known")]  # fmt: skip
    entry = SimpleNamespace(entry=SimpleNamespace(name="e"), verdict=Verdict.VIOLATION, location="f.py:1")
    report: Any = SimpleNamespace(verdict=Verdict.VIOLATION, sentence="s", entries=[entry], findings=findings,
                                  coverage=rows, stale=("old", "older"))  # fmt: skip
    lines = printed(audit_package._page(report))
    assert lines[0] == "VIOLATION: s" and lines[2].split() == ["e", "VIOLATION", "f.py:1"]
    assert lines[3:11] == ["", "bad noise  [g1, high] e: leaf", "  f.py:3", "  ev", "  neighbours: pr", "  n 1, m 2",
                           "  mend it", "    a"]  # fmt: skip
    assert "  accepted: known" in lines and lines.count("  mend it") == 1
    assert any(line.startswith("one ") for line in lines) and any(line.startswith("three ") for line in lines)
    assert "Not examined, and nothing is concluded about: two." in lines
    assert lines[-1] == "baseline: nothing found any more for old, older"
    report.stale, report.coverage = (), rows[:1]
    assert not any("concluded" in line or "baseline" in line for line in printed(audit_package._page(report)))


# --- Budgets ----------------------------------------------------------------------------------------------------------


def test_where_there_is_no_budget_to_charge() -> None:
    budgets.no_budget(None, "here")
    with pytest.raises(InvalidParameter, match="here with a budget"):
        budgets.no_budget(refdp.PrivacyBudget(1.0), "here")
