"""Small functions at their borders: one slot, a count near 0, and bins that just fit into a byte."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.accounting import account
from refdp.data.following import Following
from refdp.data.population import Labels, Start
from refdp.data.records import Classes, Interval, Numeric, Schema
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteGaussian, Gaussian, Laplace, Mechanism
from refdp.papers import sgbdt
from refdp.privacy.events import Norm, Partition, Plan, Relation, Release, Sensitivity, balls_and_bins


@pytest.mark.parametrize("slots", [1, 2, 5])
def test_each_of_the_slots_is_as_likely(slots: int) -> None:
    event: Any = object()
    assert balls_and_bins(event, slots) == Partition((1 / slots,) * slots, (event,) * slots)


@pytest.mark.parametrize("slots", [0, -1, True, 1.0, "1"])
def test_slots_are_whole_numbers_from_1(slots: Any) -> None:
    with pytest.raises(InvalidParameter, match="whole numbers >= 1"):
        balls_and_bins(SimpleNamespace(), slots)  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "total", "mean"), [
    (4.0, 6.0, 1.5), (4.0, -6.0, -1.5), (0.25, 1.5, 1.5), (-3.0, 1.5, 1.5), (1.0, 1.25, 1.25), (2.0, 90.0, 2.0),
    (2.0, -90.0, -2.0),
])  # fmt: skip
def test_the_first_score_is_the_mean_of_a_count_of_1_at_least(count: float, total: float, mean: float) -> None:
    params = SimpleNamespace(
        initial_share=0.5, initial_charges=lambda schema: ("c", "t"), label_bound=2.0, loss="square"
    )
    schema = Schema((Numeric("x", 0.0, 1.0),), Interval(-2.0, 2.0))
    asked: list[Any] = []
    told: list[Any] = []
    population: Any = SimpleNamespace(ask=lambda query: np.array([5.0, 3.0]), tell=told.append)

    def release(name: str, charge: str, value: Any) -> Any:
        asked.append((name, charge, value.tolist()))
        return np.array([count if name == "count" else total])

    found = sgbdt.initial_score(params, schema, population, SimpleNamespace(release=release))  # type: ignore[arg-type]
    assert found == mean and [one[:2] for one in asked] == [("count", "c"), ("labels", "t")] and len(told) == 1
    params.initial_share = 0.0
    assert sgbdt.initial_score(params, schema, population, SimpleNamespace()) == 0.0  # type: ignore[arg-type]


@pytest.mark.parametrize(("classes", "low"), [(True, 0.0), (False, -2.0)])
def test_labels_of_classes_begin_at_0_and_their_first_score_is_a_logit(classes: bool, low: float) -> None:
    schema = Schema((Numeric("x", 0.0, 1.0),), Classes(("0", "1")) if classes else Interval(-2.0, 2.0))
    params: Any = SimpleNamespace(initial_share=0.5, initial_charges=lambda schema: ("c", "t"), label_bound=2.0)
    asked: list[Any] = []
    population: Any = SimpleNamespace(ask=lambda query: asked.append(query) or np.ones(2), tell=asked.append)
    for total, chance in ((1.0, 0.25), (4.0, 0.99), (-4.0, 0.01), (2.0, 0.5)):
        curator: Any = SimpleNamespace(
            release=lambda name, charge, value, total=total: np.array([4.0 if name == "count" else total])
        )
        found = sgbdt.initial_score(params, schema, population, curator)
        expected = math.log(chance / (1 - chance)) if classes else total / 4
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert asked[-2:] == [Labels(low, 2.0), Start(found)]


def test_what_is_followed_stays_until_it_is_changed() -> None:
    own = Following()
    assert own.still == (True, True)
    own._recoded = True
    assert own.still == (False, True)
    own._moved = True
    assert own.still == (False, False)


BOUNDED: list[tuple[Mechanism, Norm]] = [
    (Laplace(2.0), 1),
    (Gaussian(np.float64(2.0)), 2),
    (DiscreteGaussian(np.float64(2.0), 1.0), 2),
]


@pytest.mark.parametrize("bound", [np.int64(3), np.int8(3), np.float32(3), np.float64(3), 3])
def test_bounds_that_are_numbers_of_numpy_cost_what_they_are(bound: float) -> None:
    """Whole numbers of 8 bits overflowed in a group, and other numbers were no fractions."""
    for mechanism, norm in BOUNDED:
        plans = [
            Plan(relation, Release("", mechanism, Sensitivity(one, norm, "", relation)))
            for relation, one in zip(Relation, (bound, 3.0), strict=True)
        ]
        found, true = (account(one, delta=1e-6, group=50, quick=True).epsilon for one in plans)
        assert found == true > 30


@pytest.mark.parametrize("bound", [True, np.bool_(True), np.array(0.5), np.array([0.5, 1.0]), np.float32(np.nan)])
def test_bounds_that_are_no_numbers_are_refused(bound: Any) -> None:
    with pytest.raises(InvalidParameter, match="finite numbers >= 0"):
        Sensitivity(bound, 1, "", Relation.ADD_REMOVE)
