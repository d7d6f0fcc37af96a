"""What parameters and bounds alone rule out is refused before a budget is charged."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import refdp
from refdp.data.records import FINEST, NARROWEST, WIDEST, Interval, Numeric, Schema
from refdp.errors import InvalidParameter

RUN: dict[str, Any] = {"relation": "add-remove", "label_bounds": (0, 1)}
UNIT: dict[str, Any] = {"bounds": {0: (0, 1), 1: (0, 1)}, **RUN}
REFUSED: dict[str, tuple[type, dict[str, Any], str]] = {
    "participants": (refdp.FedGBDTRegressor, {"records_each": 10, **UNIT}, "records in one place"),
    "deep and monotone": (
        refdp.DPBoostRegressor, {"depth": 13, "monotone_constraints": {0: 1}, **UNIT}, "depth = 13: at most 12",
    ),
    "no epsilon for leaves": (refdp.DPXGBoostRegressor, {"leaf_part": 5e-324, **UNIT}, "next to nothing of epsilon"),
    "no epsilon for thresholds": (refdp.GroveRegressor, {"feature_share": 5e-324, **UNIT}, "next to nothing"),
    "narrow": (refdp.GroveRegressor, {"bounds": {0: (1.7e15, 1.7e15 + 200)}, **RUN}, "distance is too small"),
    "next to each other": (refdp.SGBDTRegressor, {"bounds": {0: (0, 5e-324)}, **RUN}, "distance is too small"),
    "wide": (refdp.FedGBDTRegressor, {"bounds": {0: (-1e307, 1e307)}, **RUN}, "distance is too large"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_nothing_is_charged(case: str) -> None:
    kind, given, said = REFUSED[case]
    budget = refdp.PrivacyBudget(10.0, 1e-3)
    x = np.full((60, len(given["bounds"])), given["bounds"][0][0])
    with pytest.raises(InvalidParameter, match=said):
        kind(epsilon=1.0, budget=budget, **given).fit(x, np.linspace(0, 1, 60))
    assert not budget.entries


@pytest.mark.parametrize("where", ["spread", "together"])
def test_the_narrowest_bounds_have_thresholds_wherever_the_records_are(where: str) -> None:
    low, high = 2.0**51, 2.0**51 * (1 + 2 * FINEST)
    Numeric("x", low, high)
    x = np.linspace(low, high, 4000) if where == "spread" else np.full(4000, low + (high - low) / 3)
    model = refdp.GroveRegressor(epsilon=8.0, rows=4000, trees=2, bounds={0: (low, high)}, **RUN)
    model.fit(x[:, None], np.linspace(0, 1, 4000))


def test_bounds_up_to_the_limits_are_bounds() -> None:
    for low, high in ((0.0, NARROWEST), (-WIDEST / 2, WIDEST / 2), (5.0, 5.0), (1.0, 1.0 + 2 * FINEST)):
        Schema((Numeric("x", low, high),), Interval(0.0, 1.0))
    for low, high in ((0.0, NARROWEST / 2), (-WIDEST, WIDEST / 2), (1.0, 1.0 + FINEST / 2)):
        with pytest.raises(InvalidParameter, match="distance is too"):
            Schema((Numeric("x", low, high),), Interval(0.0, 1.0))


@pytest.mark.parametrize("kind", [lambda low, high: Numeric("x", low, high), Interval])
def test_bounds_that_are_no_numbers_are_refused_as_such(kind: Any) -> None:
    for low, high in ((0, 10**5000), ("0", "1"), (None, 1), (0, 1j), (float("nan"), 1), (0, Decimal("sNaN"))):
        with pytest.raises(InvalidParameter, match="finite low"):
            kind(low, high)
    assert kind(10**20, 10**21).high == 1e21 and kind(Fraction(1, 4), Decimal(1)).low == 0.25


@pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")
def test_bounds_that_are_read_off_numbers_too_close_are_one_number() -> None:
    x = np.column_stack([np.tile([0.3, 0.1 + 0.2], 30), np.linspace(0, 1, 60)])
    model = refdp.DPBoostRegressor(epsilon=1.0, label_bounds=(0, 1)).fit(x, np.linspace(0, 1, 60))
    first = model.model_.schema.features[0]
    assert isinstance(first, Numeric) and first.low == first.high == 0.3
