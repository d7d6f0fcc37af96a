"""Rows of the report on foreign code, each decided by hand: what was not looked at or not summed is never all right."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from refdp.audit import noise_law
from refdp.audit.opened_floating import Bits
from refdp.audit.opened_opaque import Opaque
from refdp.audit.opened_report import OpenedReport, Seen, largest, once
from refdp.audit.replay import Violation
from refdp.audit.verdicts import Verdict
from refdp.noise.mechanisms import Gaussian

FOUND, LEFT, LOOKED = Verdict.VIOLATION, Verdict.NOT_EXAMINED, Verdict.NOT_FOUND
QUIET = OpenedReport(1.0, 0.0, 4, 8, 0.5, 0.75, 0.0, (), (), known=0.75)


def row(report: OpenedReport, what: str) -> Any:
    return next(one for one in report.coverage if one.what == what)


def violation(kind: str, observed: float | None = None, release: str = "f") -> Violation:
    return Violation(kind, release, None, observed, None, "", {})


def test_a_quiet_report_looked_at_what_the_claim_depends_on() -> None:
    assert QUIET.verdict is LOOKED and QUIET.ok
    assert QUIET.floating is LEFT  # no function was played by itself
    assert replace(QUIET, bits=(Bits("f", (0.0, 1.0), (1.0, 0.0), 0.0, 4000),)).floating is LOOKED
    assert replace(QUIET, bits=(Bits("f", (0.0, 1.0), (8.0, 0.0), 0.0, 4000),)).floating is LEFT
    assert replace(QUIET, bits=(Bits("f", (0.0, 1.0), (1.0, 0.0), 2.0, 9, "an event"),)).floating is FOUND
    assert replace(QUIET, runs=0).verdict is LEFT and not replace(QUIET, runs=0).ok


@pytest.mark.parametrize(("kind", "what"), [
    ("sensitivity", "releases"), ("NaN", "releases"), ("noise", "noise law and scale"),
    ("sampler", "noise law and scale"), ("budget", "composition"), ("result", "published object"),
    ("error", "side channels"), ("order", "control flow"),
])  # fmt: skip
def test_every_violation_is_one_of_its_subject(kind: str, what: str) -> None:
    for runs in (4, 0):
        report = replace(QUIET, runs=runs, violations=(violation(kind),))
        assert report.verdict is FOUND and not report.ok and report.kinds() == [kind]
        assert [one.what for one in report.coverage if one.verdict is FOUND] == [what]
        assert row(report, what).reason.startswith(f"{kind} at f")


@pytest.mark.parametrize(("declared", "samples", "verdict", "words"), [
    ((0.125, 0.0), 400, LOOKED, "of unknown law, declared cost 0.125; 400 runs a side of it alone show an epsilon of"),
    ((8.0, 0.0), 4000, LEFT, "4000 runs a side are too few to show a violation of its declared cost 8"),
    ((0.1, 0.0), 9, LEFT, "9 runs a side are too few to show a violation of its declared cost 0.1"),
    (None, 9, LEFT, "f: of unknown law, no cost is declared; 9 runs a side of it alone show an epsilon of 0.05"),
    (None, 0, LEFT, "f: of unknown law, and not played by itself"),
    ((0.125, 0.0), 0, LEFT, "f: of unknown law, and not played by itself"),
])  # fmt: skip
def test_a_function_of_unknown_law_needs_a_cost_and_runs_of_its_own(
    declared: Any, samples: int, verdict: Verdict, words: str
) -> None:
    report = replace(QUIET, opaque=((Opaque("f", declared, 0.05, samples),), declared))
    found = row(report, "noise law and scale")
    assert found.verdict is verdict and words in found.reason
    assert report.verdict is verdict


@pytest.mark.parametrize(("changed", "verdict"), [
    ({"known": 1.0}, LOOKED), ({"known": 1.0 + 1e-8}, LEFT),
    ({"known": 0.5, "opaque": ((), (0.5, 0.0))}, LOOKED), ({"known": 0.75, "opaque": ((), (0.5, 0.0))}, LEFT),
    ({"known": 0.5, "opaque": ((), (0.25, 1e-9))}, LEFT),  # a delta that is not claimed
    ({"opaque": ((), None)}, LEFT),  # a cost that nobody declares
    ({"claimed_delta": 1e-5, "known": 9.0, "delta": 1e-5}, LOOKED), ({"claimed_delta": 1e-5, "delta": 1.1e-5}, LEFT),
    ({"claimed_delta": 1e-5, "delta": 6e-6, "opaque": ((), (0.0, 5e-6))}, LEFT),
    ({"claimed_delta": 1e-5, "delta": 5e-6, "opaque": ((), (0.0, 4e-6))}, LOOKED),
    ({"claimed_delta": 1e-5, "delta": 1e-9, "opaque": ((), (0.1, 0.0))}, LEFT),  # an epsilon beside the curve
])  # fmt: skip
def test_a_sum_is_within_the_claim_or_not_examined(changed: dict[str, Any], verdict: Verdict) -> None:
    report = replace(QUIET, **changed)
    assert row(report, "composition").verdict is verdict and report.verdict is verdict


def test_losses_that_are_not_counted_are_in_no_sum() -> None:
    seen = Seen("g", "x", math.nan, 1.0, math.nan, math.nan, math.nan)
    report = replace(QUIET, releases=(seen, replace(seen, name="h", worst=0.5)))
    assert report.uncounted == ("g",)
    assert row(report, "composition").verdict is LEFT
    assert "no loss can be stated of g" in row(report, "composition").reason
    told = replace(report, opaque=((Opaque("g", (0.125, 0.0), 0.0, 400),), (0.125, 0.0)))
    assert row(told, "composition").verdict is LOOKED


def test_what_other_dice_may_have_done_is_not_examined() -> None:
    report = replace(QUIET, dice=("result at x differs",))
    assert {one.what for one in report.coverage if one.verdict is LEFT and one.decides} == {
        "published object", "composition"
    }  # fmt: skip
    assert row(replace(QUIET, dice=("order at x differs",)), "control flow").verdict is LEFT


def test_each_is_told_once_with_what_shows_most() -> None:
    few, many, none = violation("a", 1.0), violation("a", 2.0), violation("a")
    other, elsewhere = violation("b", 0.5), violation("a", 0.25, "g")
    assert once([few, many, none, other, elsewhere]) == [many, other, elsewhere]
    assert once([none, few]) == [few] and once([few, violation("a", 1.0)])[0] is few
    seen = Seen("f", "x", 1.0, 1.0, 0.0, 0.0, 0.0)
    more, law = replace(seen, observed=2.0), replace(seen, law="y")
    assert largest([seen, law, more]) == [more, law] and largest([seen, replace(seen, loss=9.0)]) == [seen]


def test_noise_is_added_to_values_that_the_least_scale_allows() -> None:
    """A million scales of 1: 5e5 is near enough, 5e6 is not, however large the other scale is."""
    found = noise_law.sampled(Gaussian((1.0, 10.0)), 0, 40, values=(5e5, 5e6, -5e6))
    assert found is not None
    assert [name for name, _ in found.groups if name.startswith("at")] == ["at the value 0", "at the value 500000"]
