"""Schemas, records and losses: what is refused on both sides of each border, clamping, and derivatives."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.data import losses
from refdp.data.forms import schema_in, schema_out
from refdp.data.losses import GRID, LOG, SIGNED_LOG, SQUARE, grid_floor, log_odds, on_grid
from refdp.data.records import (
    Categorical,
    Classes,
    Ensemble,
    Interval,
    Model,
    Numeric,
    Records,
    Schema,
    Tree,
    make_records,
    weighed,
)
from refdp.errors import InvalidParameter, InvalidRecords

MIXED = Schema((Numeric("x", -1.0, 3.0), Categorical("c", ("a", "b", "d"))), Interval(-2.0, 6.0))
THREE = Schema(MIXED.features, Classes(("u", "v", "w")))
TWO = Schema(MIXED.features, Classes(("u", "v")))


# --- Schemas ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(1.0, 0.0), (math.nan, 1.0), (0.0, math.nan), (-math.inf, 0.0),
                                           (0.0, math.inf), (-1e308, 1e308)])  # fmt: skip
def test_bounds_that_are_refused(low: float, high: float) -> None:
    for kind in (lambda: Schema((Numeric("x", low, high),), Interval(0.0, 1.0)), lambda: Interval(low, high)):
        with pytest.raises(InvalidParameter):
            kind()


def test_bounds_that_are_allowed() -> None:
    assert Numeric("x", 2.0, 2.0).low == 2.0 and Numeric("x", -5e300, 5e300).high == 5e300
    assert Interval(-4e307, 4e307).high == 4e307
    for low, high in ((2.0, 2.0), (-4.6e307, 4.6e307), (3.0, 2.0)):
        with pytest.raises(InvalidParameter, match="label range"):
            Interval(low, high)
    for one in (lambda: Categorical("c", ()), lambda: Categorical("c", ("a", "b", "a")), lambda: Classes(("a",)),
                lambda: Classes(()), lambda: Classes(("a", "a")), lambda: Schema((), MIXED.target),
                lambda: Schema((Numeric("x", 0, 1), Numeric("x", 0, 2)), MIXED.target)):  # fmt: skip
        with pytest.raises(InvalidParameter):
            one()
    assert Categorical("c", ("a",)).categories == ("a",) and Classes(("a", "b")).values == ("a", "b")


def test_bounds_are_floats() -> None:
    """As those of the same schema that was read from its plain form, by which nobody can tell the two apart."""
    whole = Schema((Numeric("x", 0, np.int64(3)), Numeric("z", -(10**17) - 1, True)), Interval(-1, np.float64(1)))
    bounds = [bound for one in (*whole.features, whole.target) for bound in (one.low, one.high)]  # type: ignore[union-attr]
    assert [type(one) for one in bounds] == [float] * 6 and bounds == [0.0, 3.0, -1e17, 1.0, -1.0, 1.0]
    assert whole == schema_in(schema_out(whole)) and repr(whole) == repr(schema_in(schema_out(whole)))
    with pytest.raises(InvalidParameter, match="low < high"):
        Interval(2**60, 2**60 + 1)  # which are one float


def test_labels_of_scores() -> None:
    assert (MIXED.scores, TWO.scores, THREE.scores) == (1, 1, 3) and MIXED.names == ("x", "c")
    y = np.array([-2.0, 2.0, 6.0, 0.0])
    assert MIXED.label(0, y).tolist() == [-1.0, 0.0, 1.0, -0.5]
    assert MIXED.target.unscaled(np.array([-1.0, 0.0, 1.0, -0.5, -7.0, 7.0])).tolist() == [-2, 2, 6, 0, -2, 6]  # type: ignore[union-attr]
    classes = np.array([0.0, 1.0, 2.0, 1.0])
    assert [THREE.label(k, classes).tolist() for k in range(3)] == [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    assert TWO.label(0, np.array([0.0, 1.0, 1.0])).tolist() == [0, 1, 1]


# --- Records ----------------------------------------------------------------------------------------------------------


def test_values_are_clamped_and_counted() -> None:
    x = np.array([[-9.0, 0.0], [3.0, 2.9], [np.nan, 3.0], [4.0, -1.0], [-1.0, np.nan], [0.5, 2.0]])
    y = np.array([-3.0, -2.0, 6.0, 7.0, 0.0, 1.0])
    found = make_records(MIXED, x, y)
    wanted = [[-1, 0], [3, 2], [np.nan, np.nan], [3, np.nan], [-1, np.nan], [0.5, 2]]
    assert np.array_equal(found.x, wanted, equal_nan=True) and found.y.tolist() == [-2, -2, 6, 6, 0, 1]
    assert found.clamped == 7 and found.size == 6 and found.weight is None and found.weights().tolist() == [1.0] * 6
    assert found.x.flags.f_contiguous


@pytest.mark.parametrize(("x", "y", "says"), [
    (np.zeros((2, 3)), np.zeros(2), "3 feature columns given, the schema has 2"),
    (np.zeros((2, 2)), np.zeros(3), "shape"), (np.zeros(2), np.zeros(2), "shape"),
    (np.zeros((2, 2)), np.zeros((2, 1)), "shape"), (np.zeros((0, 2)), np.zeros(0), "0 records"),
    (np.array([[0, 0], [0, np.inf]]), np.zeros(2), "'c' holds an infinite"),
    (np.array([[0, 0], [-np.inf, 0]]), np.zeros(2), "'x' holds an infinite"),
    (np.zeros((2, 2)), np.array([0, np.nan]), "label is NaN"), (np.zeros((2, 2)), np.array([0, -np.inf]), "label is"),
])  # fmt: skip
def test_records_that_are_refused(x: Any, y: Any, says: str) -> None:
    with pytest.raises(InvalidRecords, match=says):
        make_records(MIXED, x, y)


def test_class_indices() -> None:
    found = make_records(THREE, np.zeros((3, 2)), np.array([0.0, 2.0, 1.0]))
    assert found.y.tolist() == [0, 2, 1] and found.clamped == 0
    for wrong in (-1.0, 3.0, 0.5):
        with pytest.raises(InvalidRecords, match=r"0\.\.2"):
            make_records(THREE, np.zeros((1, 2)), np.array([wrong]))
    assert make_records(MIXED, np.zeros((1, 2)), np.zeros(1)).size == 1


def test_weights_are_between_0_and_1_and_follow_their_records() -> None:
    plain = make_records(MIXED, np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), np.array([0.0, 1.0, 2.0]))
    heavy = weighed(plain, np.array([0.0, 1.0, 0.25]))
    assert heavy.weights().tolist() == [0, 1, 0.25] and heavy.y is plain.y
    for wrong in ([-0.1, 0, 0], [0, 1.1, 0], [0, 0, np.nan]):
        with pytest.raises(InvalidRecords, match=r"not in \[0, 1\]"):
            weighed(plain, np.array(wrong))
    for wrong in (np.zeros(2), np.zeros((3, 1))):
        with pytest.raises(InvalidRecords, match="one for each of 3 records"):
            weighed(plain, wrong)
    with pytest.raises(InvalidRecords, match="sparse"):
        weighed(object(), np.zeros(3))
    some = heavy.take([2, 0])
    assert some.y.tolist() == [2, 0] and some.x[:, 0].tolist() == [2, 0] and some.weights().tolist() == [0.25, 0]
    assert plain.take([1]).weight is None and heavy.take([1]).clamped == 0
    joint = plain.insert(1, some)
    assert joint.y.tolist() == [0, 2, 0, 1, 2] and joint.x[:, 1].tolist() == [0, 2, 0, 1, 2]
    assert joint.weights().tolist() == [1, 0.25, 0, 1, 1] and joint.clamped == 0
    assert heavy.insert(3, plain).weights().tolist() == [0, 1, 0.25, 1, 1, 1]
    assert plain.insert(0, plain).weight is None and isinstance(joint, Records)


# --- Models -----------------------------------------------------------------------------------------------------------


def test_scores_add_weighed_leaves() -> None:
    """Right where a value is not below, or equal to the category; missing values left unless the split says right."""
    tree = Tree(np.array([[0, 1.0], [1, 2.0], [0, 2.5]]), np.array([1.0, 10.0, 100.0, 1000.0]))
    kind = np.array([False, True])
    x = np.array([[0.0, 2.0], [0.9, 1.0], [1.0, 2.0], [2.5, 0.0], [np.nan, np.nan], [np.nan, 2.0]])
    assert tree.predict(x, kind).tolist() == [10, 1, 100, 1000, 1, 10]
    stump = Tree(np.array([[0, 1.0, 1.0]]), np.array([3.0, 5.0]))
    assert stump.predict(x, kind).tolist() == [3, 3, 5, 5, 5, 5]
    root = Tree(np.zeros((0, 2)), np.array([7.0]))
    assert root.predict(x, kind).tolist() == [7.0] * 6
    one = Ensemble(0.5, (tree, stump), (2.0, -1.0))
    assert one.score(x, kind).tolist() == [17.5, -0.5, 195.5, 1995.5, -2.5, 15.5]
    model = Model("grove", {}, MIXED, (one, Ensemble(-1.0, (), ())))
    assert model.scores(x).tolist() == [[a, -1.0] for a in one.score(x, kind).tolist()]
    for wrong in (np.zeros((2, 3)), np.zeros(2)):
        with pytest.raises(InvalidRecords, match="2 columns"):
            model.scores(wrong)


# --- Losses -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [SQUARE, LOG, SIGNED_LOG], ids=lambda one: one.name)
def test_gradients_and_hessians_are_derivatives(loss: Any) -> None:
    """By central differences, and within the stated bounds."""
    step = 2.0**-13
    for label in (-1.0, 1.0) if loss is SIGNED_LOG else (0.0, 1.0):
        for score in (-3.0, -0.5, 0.0, 0.25, 2.0):
            values = [float(loss.value(score + k * step, label)) for k in (-1, 0, 1)]
            assert loss.gradient(score, label) == pytest.approx((values[2] - values[0]) / (2 * step), abs=1e-6)
            assert loss.hessian(score, label) == pytest.approx(
                (values[2] - 2 * values[1] + values[0]) / step**2, abs=1e-5
            )
            assert loss.gradient_bound is None or abs(loss.gradient(score, label)) <= loss.gradient_bound
            assert 0 <= loss.hessian(score, label) <= loss.hessian_bound
    assert (LOG.gradient_bound, LOG.hessian_bound) == (1.0, 0.25) == (1.0, LOG.hessian(0.0, 0.0))
    assert (SIGNED_LOG.gradient_bound, SIGNED_LOG.hessian_bound) == (2.0, SIGNED_LOG.hessian(0.0, 1.0))
    assert SQUARE.gradient_bound is None and SQUARE.hessian_bound == 1.0


def test_losses_at_points_known_in_closed_form() -> None:
    assert losses.square_loss(Fraction(3), Fraction(1, 2)) == Fraction(25, 8)
    assert losses.square_gradient(Fraction(3), Fraction(1, 2)) == Fraction(5, 2)
    assert losses.square_hessian(Fraction(3), Fraction(1)) == 1
    assert losses.log_loss(0.0, 1.0) == pytest.approx(math.log(2)) == losses.log_loss(0.0, 0.0)
    assert losses.log_loss(900.0, 0.0) == 900.0 and losses.log_loss(-900.0, 1.0) == 900.0
    assert losses.log_loss(900.0, 1.0) == 0.0 == losses.log_loss(-900.0, 0.0)
    assert losses.sigmoid(math.log(3)) == pytest.approx(0.75)


def test_the_grid() -> None:
    assert GRID == 2.0**-24 and losses.LARGEST == 1024 and losses.WIDEST == 1e100
    values = np.array([[0.49, 0.51, 1.5], [2.5, -0.51, -7.2]]) * GRID
    assert (on_grid(values) / GRID).tolist() == [[0, 1, 2], [2, -1, -7]]
    assert [grid_floor(k * GRID) / GRID for k in (0.0, 0.99, 1.0, 7.5)] == [0, 0, 1, 7]


def test_log_odds_are_kept_away_from_the_ends() -> None:
    end = math.log((1 - 1e-9) / 1e-9)
    found = log_odds(np.array([0.0, 1e-12, 0.25, 0.5, 0.9, 1.0]))
    assert found.tolist() == pytest.approx([-end, -end, -math.log(3), 0.0, math.log(9), end], rel=1e-7, abs=1e-12)


def test_bounds_that_are_no_numbers_are_shown_as_given() -> None:
    for low, high, shown in (("0", "1", "['0', '1']"), (2, None, "[2.0, None]"), (3, 1, "[3.0, 1.0]")):
        with pytest.raises(InvalidParameter, match=re.escape(f"bounds of 'a': {shown} given, finite low <= high")):
            Numeric("a", low, high)  # type: ignore[arg-type]
        with pytest.raises(InvalidParameter, match=re.escape(f"label range {shown} given, finite low < high")):
            Interval(low, high)  # type: ignore[arg-type]
