"""The coverage table of a black box, and the power that it states."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from refdp.audit.blackbox import Bound, bound_from
from refdp.audit.blackbox_rows import SEARCHED, Looked, by_last_bits, coverage, power
from refdp.audit.page_blackbox import verdict
from refdp.audit.runs import InProcess, InputPair, Vectorised
from refdp.audit.verdicts import SUBJECTS, Row, Verdict

HOLDING = Bound(0.25, 0.99, 0.0, 1.0, "output 0 >= 1", "", "first", "betting", (30, 20), 50, 2100, 0, 1.0)
BROKEN = replace(HOLDING, lower=1.23456)
BITS = replace(BROKEN, event="log2 of the lowest set bit of output 0 >= -40")
LOOKED = Looked((4, 5, 4), 3, True, 2)
FINDINGS: list[dict[str, Any]] = [
    {"violation": True, "kind": "precision", "meaning": "few bits"},
    {"violation": False, "kind": "state", "meaning": "not told"},
]
ASIDE = {"releases", "scopes", "secret randomness", "noise law and scale", "control flow", "side channels", "time",
         "floating point", "sampler", "state between calls"}  # fmt: skip


def table(bound: Bound, findings: Any = (), looked: Looked = LOOKED) -> dict[str, Row]:
    rows = coverage(bound, findings, looked)
    assert [row.what for row in rows] == list(SUBJECTS)
    assert {row.what for row in rows if not row.decides} <= ASIDE | {"composition"}
    return {row.what: row for row in rows}


def test_what_was_looked_at_in_a_function_that_holds() -> None:
    rows = table(HOLDING)
    assert {what for what, row in rows.items() if not row.decides} == ASIDE
    left = {"releases", "scopes", "secret randomness", "noise law and scale", "control flow", "side channels", "time",
            "state between calls"}  # fmt: skip
    assert {what for what, row in rows.items() if row.verdict is Verdict.NOT_EXAMINED} == left
    assert {row.verdict for what, row in rows.items() if what not in left} == {Verdict.NOT_FOUND}
    assert (
        rows["composition"].reason == "epsilon is at least 0.25 in 2,100 runs a side of 2 pairs, all outputs together"
    )
    assert rows["composition"].power == power(HOLDING)
    assert rows["record counts"].reason.startswith("data sets of 4 and 5 records")
    assert rows["sampler"].reason == "structural checks in 3 runs a side"
    assert "not compared by which came before" in rows["state between calls"].reason
    alone = table(HOLDING, (), Looked((3,), 0, False))
    assert "a side of 1 pair:" in alone["published object"].reason
    assert {alone[what].verdict for what in ("sampler", "state between calls", "floating point")} == {
        Verdict.NOT_EXAMINED
    }
    assert "left out" in alone["sampler"].reason and "left out on request" in alone["floating point"].reason


def test_findings_have_rows_of_their_subjects() -> None:
    rows = table(HOLDING, FINDINGS)
    assert rows["floating point"].verdict is Verdict.VIOLATION and rows["floating point"].decides
    assert rows["floating point"].reason.startswith("precision: few bits; last bits")
    assert rows["published object"].verdict is Verdict.NOT_FOUND
    for kind, what in (("reused noise", "sampler"), ("identical outputs", "sampler"), ("other", "published object")):
        rows = table(HOLDING, [{"violation": True, "kind": kind, "meaning": "so"}])
        assert [name for name, row in rows.items() if row.verdict is Verdict.VIOLATION] == [what]


def test_a_refuted_claim_is_one_of_composition_or_of_last_bits() -> None:
    assert not by_last_bits(HOLDING) and not by_last_bits(BROKEN) and by_last_bits(BITS)
    assert not by_last_bits(replace(BITS, lower=1.0))
    rows = table(BROKEN)
    assert rows["composition"].verdict is Verdict.VIOLATION
    assert rows["composition"].reason == "epsilon is at least 1.235, confidence 0.99"
    assert rows["floating point"].verdict is Verdict.NOT_FOUND
    rows = table(BITS)
    assert rows["floating point"].verdict is Verdict.VIOLATION and rows["floating point"].decides
    assert "epsilon is at least 1.235 by last bits" in rows["floating point"].reason
    assert rows["composition"].verdict is Verdict.NOT_EXAMINED and not rows["composition"].decides


def by_hand(claimed: float, delta: float, confidence: float, tested: int) -> float | None:
    """The least step at which Clopper and Pearson's bound of the likely counts exceeds the claim."""
    error = (1 - confidence) / 8
    here = int(tested / 2 - 1.65 * math.sqrt(tested / 4))
    for step in range(1, 60):
        epsilon = claimed + 1.15**step / 20
        there = tested * math.exp(-epsilon) / 2
        count = min(tested, math.ceil(there + 1.65 * math.sqrt(there)))
        high = 1.0 if count == tested else stats.beta.isf(error, count + 1, tested - count)
        low = stats.beta.ppf(error, here, tested - here + 1) - delta if here > 0 else 0.0
        if low > 0 and math.log(low / high) > claimed:
            return epsilon
    return None


@pytest.mark.parametrize("tested", [1, 2, 5, 20, 100, 5000])
@pytest.mark.parametrize(("claimed", "delta", "confidence"), [(1.0, 0.0, 0.99), (0.1, 0.01, 0.9), (3.0, 0.0, 1 - 1e-6)])
def test_the_power_that_is_stated(claimed: float, delta: float, confidence: float, tested: int) -> None:
    bound = replace(HOLDING, claimed=claimed, delta=delta, confidence=confidence, last=tested)
    expected = by_hand(claimed, delta, confidence, tested)
    words = f"no violation of an event that half of one side's runs hit, {SEARCHED}: too few runs"
    if expected is not None:
        words = f"epsilon {expected:.3g} (95%), by an event that half of one side's runs hit, {SEARCHED}"
    assert power(bound) == words


def test_no_power_is_stated_without_a_claim_or_a_test() -> None:
    for bound in (replace(HOLDING, claimed=None), replace(HOLDING, claimed=math.inf), replace(HOLDING, last=0)):
        assert power(bound) == ""


def test_one_output_is_nothing_examined_and_a_violation_stays_one() -> None:
    row = table(replace(HOLDING, still=True))["composition"]
    assert (row.verdict, row.decides) == (Verdict.NOT_EXAMINED, True) and "nothing was compared" in row.reason
    assert table(replace(BROKEN, still=True))["composition"].verdict is Verdict.VIOLATION


def test_how_many_of_many_numbers_are_looked_at_one_by_one_is_said() -> None:
    few, many = (table(replace(HOLDING, columns=columns, last=5_000)) for columns in (24, 1200))
    assert few == table(replace(HOLDING, last=5_000))
    assert few["floating point"].reason == "last bits, decimals and denominators of outputs are among the events"
    assert "denominators of at most 48 of 1,200 numbers are" in many["floating point"].reason
    assert "of 1,200 numbers one by one those 24 whose means" in many["composition"].power
    assert "too few runs" in power(replace(HOLDING, columns=1200, last=1))
    assert "of 1,200" in power(replace(HOLDING, columns=1200, last=1))


def test_a_pair_of_the_same_records_is_not_examined() -> None:
    same = Looked((3,), 300, True, reordered=True)
    assert table(HOLDING, (), same)["composition"].verdict is Verdict.NOT_EXAMINED
    assert table(BROKEN, (), same)["composition"].verdict is Verdict.VIOLATION


def test_nothing_was_looked_for_where_nothing_could_be_found() -> None:
    """Not even by an event of all runs of one side and none of the other: how many runs would show one is said."""
    short = replace(HOLDING, claimed=9.0, confidence=1 - 1e-6, samples=100_000)
    row = table(short)["composition"]
    assert (row.verdict, row.decides, row.power) == (Verdict.NOT_EXAMINED, True, "")
    assert row.reason.startswith("epsilon is at least 0.25 in 100,000 runs a side of 2 pairs: too few runs to show a ")
    assert f"epsilon 9, were it of all runs of one side and none of the other; {short.needed:,} a side" in row.reason
    assert table(replace(short, samples=int(short.needed)))["composition"].verdict is Verdict.NOT_FOUND
    assert table(replace(short, lower=9.5))["composition"].verdict is Verdict.VIOLATION
    beyond = table(replace(short, claimed=60.0, delta=0.5))["composition"].reason
    assert "epsilon 60 at delta 0.5" in beyond and "more than a trillion" in beyond
    assert verdict("m:f", short, []).startswith("Nothing is known of (9, 0) privacy of m:f: too few runs")
    assert verdict("m:f", HOLDING, []).startswith("No violation")
    for claimed in (None, math.inf):
        assert table(replace(short, claimed=claimed))["composition"].verdict is Verdict.NOT_FOUND
    rows = table(HOLDING, (), replace(LOOKED, few=True))
    assert (rows["sampler"].verdict, rows["sampler"].decides) == (Verdict.NOT_EXAMINED, False)
    assert rows["sampler"].reason == "structural checks in 3 runs a side: too few to show a violation of the claim"


def test_a_score_is_said_beside_outputs() -> None:
    rows = table(HOLDING, (), Looked((3,), 0, True, score="m:s"))
    assert rows["published object"] == table(HOLDING, (), Looked((3,), 0, True))["published object"]
    assert rows["composition"].reason.endswith("all outputs together and the score m:s, output 0")


def test_events_about_digits_are_of_floating_point() -> None:
    for event in (
        "decimals of output 0 >= 7",
        "significant digits of output 1 <= 3",
        "denominator of output 0 == 3000",
    ):
        assert by_last_bits(replace(BROKEN, event=event))
        rows = table(replace(BROKEN, event=event))
        assert rows["floating point"].reason.startswith(f"epsilon is at least 1.235 by digits ({event}); ")
        assert rows["composition"].reason.startswith(f"the audit ended with digits ({event})")
        assert not rows["composition"].decides


def test_power_is_that_of_the_last_look_and_of_all_pairs() -> None:
    """Where nothing is found, all looks have the same bound, and the first one is kept."""
    pair = InputPair(np.ones((2, 1)), np.ones((1, 1)))
    coin = Vectorised(lambda records, count, generator: generator.integers(0, 2, (count, 1)))
    bound = bound_from([InProcess(coin, pair, n) for n in (1, 2)], 0.0, claimed=1.0, confidence=0.99, samples=8_000)
    assert bound.lower == 0 and (bound.tested, bound.last, bound.pairs) == (750, 4_000, 2)
    alone = replace(bound, last=bound.tested), replace(bound, pairs=1)
    told, early, one = (float(power(each).split()[1]) for each in (bound, *alone))
    assert one <= told < early
