"""What a graded submission is told line by line, the table of one run with canaries, and the rows of last bits."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest

from refdp.audit import grade
from refdp.audit.onerun_rows import coverage
from refdp.audit.opened_floating import Bits, rows
from refdp.audit.package import causes
from refdp.audit.replay import Violation
from refdp.audit.trainer import TrainerReport
from refdp.audit.verdicts import SUBJECTS, Row, Verdict
from refdp.privacy.events import Relation

RECORD = {"new_x": [0.5, 2.0], "new_y": 1.0, "base_y": [0, 0, 0]}
OLD = {**RECORD, "old_x": [1.0, 3.25], "old_y": -1.0}
FINE = Row("composition", Verdict.HOLDS, "so")


def report(
    *violations: Violation, rows: tuple[Row, ...] = (FINE,), delta: float = 0.0, loss: float | None = 0.75
) -> TrainerReport:
    if violations:
        rows = (*rows, Row("releases", Verdict.VIOLATION, "seen"))
    return TrainerReport(1.5, delta, Relation.ADD_REMOVE, 12, loss, violations, rows)


def found(kind: str, release: str, seen: Any, declared: Any, witness: Any = None) -> Violation:
    return Violation(kind, release, declared, seen, None, "", witness or {})


def test_what_holds_is_told_with_its_greatest_loss() -> None:
    assert grade.lines(report()) == [
        "no violation found: the whole run revealed 0.75 at most, the task allows 1.5; 12 neighbouring pairs tried"
    ]
    for given in (report(loss=None), report(delta=0.01)):
        budget = "1.5 with delta 0.01" if given.delta else "1.5"
        assert grade.lines(given) == [f"no violation found: the task allows {budget}; 12 neighbouring pairs tried"]
    assert grade.Grade(report(), "").passed and not grade.Grade(report(found("loss", "", 2.0, 1.0)), "").passed


@pytest.mark.parametrize(
    ("kind", "seen", "declared", "said"),
    [
        ("sensitivity", 2.0, 1.0, "release 'a' changes by 2 between neighbours, declared 1"),
        ("cost", 2.0, 1.0, "release 'a' costs epsilon 2, its noise and sensitivity say 1"),
        ("cost of order 2", 2.0, 1.0, "release 'a' costs epsilon 2 (of order 2), its noise and sensitivity say 1"),
        ("loss", 2.0, 1.0, "the whole run can reveal 2, the task allows 1.5"),
        ("composition", 0.25, 0.1, "the whole run exceeds epsilon 1.5 with probability 0.25, the task allows 0"),
        ("options", None, None, "what can be chosen depends on a record (at a)"),
        ("something", None, None, "something depends on a record (at a)"),
        ("noise law", None, None, "the noise that was drawn is not the declared one (at a)"),
    ],
)
def test_every_kind_of_violation_has_its_line(kind: str, seen: Any, declared: Any, said: str) -> None:
    assert grade.lines(report(found(kind, "a", seen, declared))) == [said]
    assert grade.lines(report(found(kind, "a", seen, declared, RECORD))) == [
        f"{said} [record (0.5, 2) -> 1, beside 3 others]"
    ]
    (line,) = grade.lines(report(found(kind, "a", seen, declared, {**OLD, "detail": "so"})))
    assert line.endswith(" [record (0.5, 2) -> 1 for (1, 3.25) -> -1, beside 3 others]")
    assert (": so [" in line) == said.endswith("(at a)")


def test_noise_laws_with_figures_and_lines_in_order() -> None:
    scale = found("noise law", "a", 0.5, 1.0, RECORD)
    assert grade.lines(report(scale)) == ["release 'a' draws noise of 0.5 times the declared scale"]
    assert grade.lines(report(found("shape", "", None, None))) == [
        "the shape of a release depends on a record (at the whole run)"
    ]
    several = report(found("loss", "", 2.0, 1.0), found("cost", "a", 3.0, 1.0), found("sensitivity", "a", 2.0, 1.0),
        found("cost", "b", 3.0, 1.0),
                     found("cost", "b", 3.0, 1.0))  # fmt: skip
    assert [line.split()[1] for line in grade.lines(several)] == ["'a'", "'b'", "whole"]


def test_what_was_not_examined_cannot_be_graded() -> None:
    left = (
        Row("time", Verdict.NOT_EXAMINED, "not asked", decides=False),
        Row("sampler", Verdict.NOT_EXAMINED, "no noise"),
        FINE,
    )
    assert grade.lines(report(rows=left)) == ["this cannot be graded: no noise (sampler)"]
    assert grade.SEARCH == {"pairs": 40, "counts": (0, 1, 2, 7, 15, 49, 50, 99, 999), "steps": 96}


def test_the_search_of_a_grade_is_its_own_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def audited(*given: Any, **search: Any) -> TrainerReport:
        asked.append((given, search))
        return report()

    monkeypatch.setattr(grade, "audit_trainer", audited)
    assert grade.grade("train", "schema", 1.0, "replace-one", 0.1, steps=3).passed  # type: ignore[arg-type]
    grade.grade("train", "schema", 1.0)  # type: ignore[arg-type]
    assert asked == [(("train", "schema", 1.0, 0.1, "replace-one"), grade.SEARCH | {"steps": 3}),
                     (("train", "schema", 1.0, 0.0, Relation.ADD_REMOVE), grade.SEARCH)]  # fmt: skip


def test_one_run_shows_its_composition_alone() -> None:
    for epsilon, claimed, verdict in (
        (1.0, None, Verdict.NOT_FOUND),
        (1.0, 1.0, Verdict.NOT_FOUND),
        (1.01, 1.0, Verdict.VIOLATION),
    ):
        table = coverage(epsilon, claimed, 0.95, 30, 2.34567)
        assert [row.what for row in table] == list(SUBJECTS)
        (own,) = [row for row in table if row.what == "composition"]
        assert (
            own.verdict is verdict
            and own.decides
            and own.power == "bounds up to 2.346, which need every guess to be right"
        )
        assert own.reason == f"epsilon is at least {epsilon:.4g} by one run with 30 canaries, confidence 0.95"
        assert {(row.verdict, row.decides) for row in table if row is not own} == {(Verdict.NOT_EXAMINED, False)}
    assert [row.power for row in coverage(1.0, None, 0.95, 30, None)] == [""] * len(SUBJECTS)


def test_rows_of_last_bits() -> None:
    seen = [
        Bits("f", (0.0, 0.0), (1.0, 0.0), 0.0, 0),
        Bits("g", (0.0, 2.0), (1.0, 0.25), 3.0, 4000, "bits"),
        Bits("h", (0.0, 2.0), (1.0, 0.0), 0.5, 4000),
    ]
    left, broken, fine = rows(seen)
    assert not (left.decides or broken.decides or fine.decides) and {row.what for row in (left, broken, fine)} == {
        "floating point"
    }
    assert (left.verdict, left.reason) == (
        Verdict.NOT_EXAMINED,
        "f: not played by itself",
    ) and broken.verdict is Verdict.VIOLATION
    assert (
        broken.reason
        == "g: between the true values 0 and 2 ideal noise has epsilon 1 at delta 0.25, its numbers at least 3: bits"
    )
    assert (fine.verdict, fine.reason) == (
        Verdict.NOT_FOUND,
        "h: 4000 runs a side between 0 and 2",
    ) and "twentieth" in fine.power


def test_every_cause_is_a_name_a_sentence_and_a_remedy() -> None:
    assert len(causes.BY_NAME) == len({cause.title for cause in causes.BY_NAME.values()}) >= 17
    for name, cause in causes.BY_NAME.items():
        assert cause.name == name and re.fullmatch(r"[a-z-]+", name)
        assert cause.title[0].isupper() and " " in cause.title and not cause.title.endswith(".")
        assert isinstance(cause.group, causes.Class) and isinstance(cause.severity, causes.Severity)
        assert cause.words.endswith(".") and cause.remedy.endswith(".") and len(cause.words) > 10
    assert [one.name for one in fields(causes.Cause)][:2] == ["name", "title"]
    assert causes.of_replay("nothing known") is causes.FLOW and causes.of_structure("nothing known") is causes.OTHER
    assert causes.of_replay("sampler") is causes.SAMPLER and causes.of_structure("precision") is causes.BITS
    critical = {name for name, cause in causes.BY_NAME.items() if cause.severity is causes.Severity.CRITICAL}
    assert {"exact-statistic", "noise-reused", "one-sided-output", "no-fresh-noise", "unreleased-value"} <= critical
