"""Looks at the runs of one pair, and what a bound of several pairs says."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from refdp.audit import betting
from refdp.audit.binomial import Counts, clopper_pearson
from refdp.audit.blackbox import Bound, Look, Side, bound_from, looks
from refdp.audit.events_choice import Choice, Event
from refdp.audit.events_statistics import Coordinate
from refdp.errors import InvalidParameter
from tests.audit.pinned import digest


@dataclass
class Laplace:
    """Runs of a number with Laplace noise; the second side's is moved."""

    moved: float
    seed: int = 0
    columns: int = 1

    def upto(self, count: int) -> tuple[Any, Any]:
        noise = np.random.default_rng(self.seed).laplace(size=(2, 6000, self.columns))[:, :count]
        return noise[0], noise[1] + self.moved


def test_looks_double_and_the_last_spends_half() -> None:
    assert looks(999, 0.1) == [Look(249, 999, 0.1)]
    assert looks(1999, 0.1) == [Look(499, 1999, 0.1)]
    assert looks(2000, 0.1) == [Look(250, 1000, 0.05), Look(1000, 2000, 0.05)]
    assert looks(9001, 0.12) == [
        Look(281, 1125, 0.02),
        Look(1125, 2250, 0.02),
        Look(2250, 4500, 0.02),
        Look(4500, 9001, 0.06),
    ]


def side(moved: float = 1.0, delta: float = 0.0, claimed: float | None = None) -> Side:
    return Side(Laplace(moved), 3, delta, 0.01, claimed, False)


@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_a_look_tests_on_later_runs_what_earlier_ones_chose(delta: float) -> None:
    """Its counts are those of its first choice on the tested runs, its bound the better of both tests."""
    one = side(delta=delta)
    found = one.look(Look(500, 2000, 0.005), 4000)
    first, second = one.runs.upto(2000)
    likelier, other = found.choices[0].sides(first[500:], second[500:])
    assert found.counts == Counts(int(likelier.sum()), int(other.sum()), 1500) and found.pair == 3
    exact = clopper_pearson(found.counts, delta, 0.005)
    bets = betting.bound(one.blocks, delta, 0.01)
    assert found.lower == max(exact, bets) and found.test == ("betting" if bets > exact else "Clopper-Pearson")
    (block,) = one.blocks
    assert block.table.sum() == 1500 and block.ways in (1, 2)
    assert len(found.choices) == (block.ways if found.test == "betting" else 1)
    gained, paid = np.indices((3, 3))
    if block.ways == 1:
        assert (block.table * gained).sum() == found.counts.likelier and (
            block.table * paid
        ).sum() == found.counts.other
    again = one.look(Look(2000, 4000, 0.005), 4000)
    assert len(one.blocks) == 2 and one.blocks[1].table.sum() == 2000 and again.lower > found.lower


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(("low", "rarer"), [(-0.5, 0.3), (-3.0, 0.02)])
def test_both_directions_are_bet_on_where_that_promises_more(swapped: bool, low: float, rarer: float) -> None:
    """The promise of both is of chances with the share of earlier runs in which both events happened."""
    one = side(0.5)
    first, second = (rows[:500] for rows in one.runs.upto(500)[:: -1 if swapped else 1])
    best = Choice(Event(Coordinate(0), "<=", 0.25), swapped, 0.6, 0.4)
    reverse = Choice(Event(Coordinate(0), ">=", low), not swapped, 0.5, rarer)
    found = one._stake((best, reverse), first, second, 300)
    here, there = (second, first) if swapped else (first, second)
    shares = [float(((side >= low) & (side <= 0.25)).mean()) for side in (here, there)]
    both = betting.expected(betting.Chances(0.6, rarer, shares[0]), betting.Chances(0.5, 0.4, shares[1]), 300)
    alone = betting.expected(betting.Chances(0.6, 0.0), betting.Chances(0.0, 0.4), 300)
    stakes = [betting.stake(table, ways, 0.0, 0.01, None) for ways, table in ((1, alone), (2, both))]
    promises = [betting.promise(stake, 0.0, 0.01, None) for stake in stakes]
    expected = stakes[promises.index(max(promises))]
    assert (found.ways, found.bet) == (expected.ways, expected.bet) and np.allclose(found.table, expected.table)


def shown(bound: Bound) -> list[Any]:
    left = "seconds", "still", "unread", "last", "pairs", "columns"
    return [value for name, value in bound.to_dict().items() if name not in left]


def test_seeded_bounds_are_as_recorded() -> None:
    """A record of what seeds give, no truth: the choice of bets and events of several pairs."""
    found = []
    for moved, delta, claimed in ((1.0, 0.0, None), (0.7, 0.02, 0.2), (-1.0, 0.0, 3.0)):
        sources = [Laplace(moved / 2, 1), Laplace(moved, 2, 2), Laplace(moved, 3)]
        found.append(shown(bound_from(sources, delta, claimed=claimed, confidence=0.99, samples=2400)))
    assert [one[0] > 0.2 for one in found] == [True, True, True]
    assert digest(found) == "28d9d734b778"


def test_the_best_pair_is_told_and_an_audit_ends_above_the_claim() -> None:
    sources = [Laplace(0.2, 1), Laplace(1.0, 2), Laplace(0.5, 3)]
    seen: list[tuple[int, int, float]] = []
    found = bound_from(sources, 0.0, claimed=0.3, confidence=0.9, samples=6000, progress=lambda *now: seen.append(now),
                       low_bits=False)  # fmt: skip
    assert found.pair == 1 and found.refuted and found.samples == 1500 and found.seconds >= 0
    assert [now[:2] for now in seen] == [(1500, 6000)] * 3
    assert [now[2] for now in seen] == sorted(now[2] for now in seen) and seen[-1][2] == found.lower
    whole = bound_from(sources, 0.0, claimed=None, confidence=0.9, samples=6000, low_bits=False)
    assert whole.samples == 6000 and whole.tested in (3000, 4500) and whole.lower > found.lower and not whole.refuted
    alone = bound_from(sources[:1], 0.0, claimed=whole.lower, confidence=0.9, samples=3000, low_bits=False)
    assert not alone.refuted and alone.pair == 0 and alone.samples == 3000
    assert not replace(found, claimed=found.lower).refuted
    for moved, likelier in ((1.0, "first"), (-1.0, "second")):
        turned = bound_from([Laplace(moved, 2)], 0.0, claimed=None, confidence=0.9, samples=3000, low_bits=False)
        below = turned.event.split()[-2] == "<="
        assert 0 < turned.lower <= 1 and turned.likelier == (
            likelier if below else {"first": "second", "second": "first"}[likelier]
        )


def test_words_of_a_bound() -> None:
    one = Bound(0.25, 0.99, 0.0, 1.0, "output 0 >= 1", "", "first", "betting", (30, 20), 50, 2100, 0, 1.0)
    assert one.words == "output 0 >= 1, first side likelier"
    two = replace(one, also="output 0 <= -1")
    assert two.words == "output 0 >= 1, first side likelier; together with output 0 <= -1 on the other side"
    assert one.to_dict()["counts"] == [30, 20] and one.to_dict()["refuted"] is False
    assert replace(one, lower=1.5).to_dict()["refuted"] is True and not replace(one, lower=9.0, claimed=None).refuted


@pytest.mark.parametrize(
    ("change", "fine"),
    [({"samples": 99}, False), ({"samples": 100}, True), ({"confidence": 0.0}, False), ({"confidence": 1.0}, False),
     ({"delta": 1.0}, False), ({"delta": -0.1}, False), ({"claimed": -1.0}, False), ({"claimed": math.inf}, True),
     ({"claimed": 0.0}, True), ({"claimed": math.nan}, False), ({"samples": 2**31 + 1}, False)],
)  # fmt: skip
def test_limits_of_what_is_asked_for(change: dict[str, Any], fine: bool) -> None:
    given = {"delta": 0.0, "claimed": None, "confidence": 0.9, "samples": 100} | change
    if fine:
        assert bound_from([Laplace(1.0)], **given).samples == 100
    else:
        with pytest.raises(InvalidParameter, match=next(iter(change))):
            bound_from([Laplace(1.0)], **given)
    with pytest.raises(InvalidParameter):
        bound_from([], **given)
