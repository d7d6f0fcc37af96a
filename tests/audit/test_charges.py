"""What a pair was seen to cost: releases folded into their scopes, and the enclosure of delta."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.accounting import gaussian
from refdp.audit import charge
from refdp.audit.charge import Cost, Item
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Exponential, Gaussian, Laplace
from refdp.privacy.curator import ScopeRef
from refdp.privacy.events import Partition, Plan, Relation, Release, Sequential, Subsample

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
LAPLACE = Laplace(1.0)


def item(moved: float, *scopes: ScopeRef, mechanism: Any = LAPLACE) -> Item:
    return Item(mechanism, np.array([moved]), np.zeros(1), scopes)


def part(serial: int, block: int, weights: tuple[float, ...] = (0.25, 0.5)) -> ScopeRef:
    return ScopeRef(serial, "p", "partition", weights, block)


def sample(serial: int, method: Any = "poisson") -> ScopeRef:
    return ScopeRef(serial, "s", "subsample", (0.125,), 0, method)


def told(event: Any) -> Any:
    """Bounds of releases in nested tuples, with weights and rates of scopes."""
    match event:
        case Release():
            return event.sensitivity.bound
        case Sequential():
            return tuple(map(told, event.events))
        case Partition():
            return event.weights, tuple(map(told, event.events))
        case Subsample():
            return event.method, event.rate, told(event.event)
    raise AssertionError(event)


def test_releases_are_folded_into_their_scopes_in_order() -> None:
    """Plain ones first, scopes by their serial, in them blocks in order, and scopes inside scopes."""
    items = [item(1, part(5, 1)), item(2), item(3, part(5, 0)), item(4, sample(6)), item(5, part(5, 1), part(7, 0)),
             item(6, part(8, 1)), item(7, part(5, 1)), item(8, sample(6, "poisson"), part(9, 1, (0.5, 0.25, 0.25))),
                 item(9)]  # fmt: skip
    found = told(charge.whole_event(items, ADD))
    weights = (0.25, 0.5)
    inner = ((1.0,), (7.0,), (weights, (((5.0,),), ())))
    assert found == (
        (2.0,), (9.0,), (weights, (((3.0,),), inner)),
        ("poisson", 0.125, ((4.0,), ((0.5, 0.25, 0.25), ((), ((8.0,),), ())))),
        (weights, ((), ((6.0,),))),
    )  # fmt: skip
    assert told(charge.whole_event([], ADD)) == ()
    fixed = told(charge.whole_event([item(4, sample(6, "without-replacement"))], ADD))
    assert fixed == (("without-replacement", 0.125, ((4.0,),)),)


def test_samples_of_the_other_relation_are_not_charged_from_below() -> None:
    for method, add, replace in (("poisson", False, True), ("without-replacement", True, False)):
        for scopes in ((sample(6, method),), (part(5, 1), sample(6, method))):
            event = charge.whole_event([item(1, *scopes)], ADD)
            assert charge._crossed(event, ADD) is add and charge._crossed(event, REPLACE) is replace
    assert not charge._crossed(charge.whole_event([item(1, part(5, 0)), item(1)], ADD), ADD)
    crossed = charge.whole_event([item(1, sample(6, "without-replacement"))], ADD)
    assert charge._delta(crossed, ADD, 0.1, quick=True) == (0.0, 1.0)


def test_mechanisms_of_somebody_else_are_charged_from_above_alone() -> None:
    class Other:
        def observed_change(self, value: Any, other: Any, norm: Any) -> float:
            if norm != "range":
                raise InvalidParameter("another norm")
            return 2.5

    class Nothing(Other):
        def observed_change(self, value: Any, other: Any, norm: Any) -> float:
            raise InvalidParameter("no norm")

    event = charge._event(item(1.0, mechanism=Other()), ADD, up=True)
    assert isinstance(event, Release) and event.sensitivity.bound == 2.5 and event.sensitivity.norm == "range"
    assert charge._event(item(1.0, mechanism=Other()), ADD, up=False) == Sequential(())
    with pytest.raises(InvalidParameter, match="knows no norm"):
        charge._event(item(1.0, mechanism=Nothing()), ADD, up=True)


def test_changes_of_one_release() -> None:
    """Coordinates that moved alone; from below no more than the largest counts; a choice's range, or its questions."""
    value, other = np.array([1.0, 2.0, -3.0, 0.0]), np.array([1.0, 2.5, 1.0, 1e9])
    for up, last in ((True, 1e9), (False, 5e8)):
        event = charge._event(Item(Laplace(1.0), value, other), REPLACE, up=up)
        assert told(event) == (0.5, 4.0, last)
        first = event.events[0]  # type: ignore[union-attr]
        assert isinstance(first, Release) and first.sensitivity.relation is REPLACE and first.sensitivity.norm == 1
        assert first.sensitivity.claim == "observed" and first.mechanism == Laplace(1.0)
    alone = charge._event(Item(Gaussian(2.0), np.array([3.0, 0.0]), np.array([0.0, 4.0])), ADD, up=True)
    assert isinstance(alone, Release) and (alone.sensitivity.bound, alone.sensitivity.norm) == (5.0, 2)
    several = charge._event(Item(Gaussian((2.0, 1.0)), np.array([6.0, 0.0]), np.array([0.0, 4.0])), ADD, up=False)
    assert isinstance(several, Release) and (several.sensitivity.bound, several.sensitivity.norm) == (5.0, "whitened")
    choice = Item(Exponential(0.5), np.array([[1.0, 0.0, 2.0]]), np.array([[0.5, 1.0, 2.0]]))
    above = charge._event(choice, ADD, up=True)
    assert isinstance(above, Release) and (above.sensitivity.bound, above.sensitivity.norm) == (1.5, "range")
    (below,) = charge._event(choice, ADD, up=False).events  # type: ignore[union-attr]
    assert isinstance(below, Release) and below.mechanism == Laplace(1.0) and 0 < below.sensitivity.bound < 0.75
    assert below.sensitivity.norm == 1
    assert told(charge.whole_event([item(1.23456)], ADD)) == ((1.235,),)


@pytest.mark.parametrize("moved", [0.5, 1.25])
def test_the_enclosure_of_one_gaussian_release(moved: float) -> None:
    """Closed form: where the claim holds the quick upper end is enough and nothing is asked from below."""
    exact = gaussian.delta(moved, 1.0)
    items = [item(moved, mechanism=Gaussian(1.0))]
    holds = charge.composed(items, ADD, 1.0, 2 * exact)
    assert holds.lower == 0.0 and exact <= holds.upper <= 2 * exact
    broken = charge.composed(items, ADD, 1.0, exact / 2)
    assert exact / 2 < broken.lower <= exact * (1 + 1e-9) and exact <= broken.upper * (1 + 1e-9)


def test_parts_are_asked_from_below_until_they_exceed_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first, twice as many each time; quick methods from above first, then coarse changes, then all."""
    asked: list[tuple[int, float, bool]] = []
    uppers: list[float] = []

    def delta(event: Any, relation: Any, epsilon: float, quick: bool) -> tuple[float, float]:
        count, parts = len(event.events), told(event)
        asked.append((count, parts[0][0], quick))
        return 0.01 * count, uppers[len(asked) - 1] if len(asked) <= 3 else 1.0

    monkeypatch.setattr(charge, "_delta", delta)
    items = [item(1.23456)] * 7
    for ends, claimed, expected in (
        ((0.5, 0.4, 0.3), 0.035, Cost(0.04, 0.3)), ((0.5, 0.4, 0.3), 0.2, Cost(0.07, 0.3)),
        ((0.5, 0.4, 0.02), 0.011, Cost(0.02, 0.02)), ((0.5, 0.2, 0.3), 0.2, Cost(0.0, 0.2)), ((0.1, 0.2, 0.3), 0.2,
        Cost(0.0, 0.1)),
    ):  # fmt: skip
        asked.clear()
        uppers[:] = ends
        found = charge.composed(items, ADD, 1.0, claimed)
        assert (found.lower, found.upper) == pytest.approx((expected.lower, expected.upper))
        above = [(7, 1.235, True), (7, 1.3, False), (7, 1.235, False)]
        assert asked[:3] == above[: len(asked)]
        counts = [count for count, size, quick in asked[3:] if size == 1.234 and not quick]
        assert counts == {0.04: [1, 2, 4], 0.07: [1, 2, 4, 7], 0.02: [1, 2], 0.0: []}[expected.lower]
    asked.clear()
    uppers[:] = [1.0, 1.0, 1.0]
    assert charge.composed([items[0]], ADD, 1.0, 0.5) == Cost(0.01, 1.0)


def test_what_the_accountant_refuses_is_between_0_and_1(monkeypatch: pytest.MonkeyPatch) -> None:
    event = charge.whole_event([item(1.0)], ADD)
    low, high = charge._delta(event, ADD, 0.5, quick=False)
    assert low <= 1 - math.exp(-0.25) <= high and high - low < 1e-3  # exact for Laplace noise
    seen: list[Any] = []

    def account(plan: Plan, epsilon: float, quick: bool) -> Any:
        seen.append((plan, epsilon, quick))
        raise InvalidParameter("no")

    monkeypatch.setattr(charge, "account", account)
    assert charge._delta(event, ADD, 0.5, quick=True) == (0.0, 1.0) and seen == [(Plan(ADD, event), 0.5, True)]
