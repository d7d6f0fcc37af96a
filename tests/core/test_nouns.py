"""Records, candidates, trees, losses."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdp.data import candidates as grids
from refdp.data.codes import Dense
from refdp.data.forms import from_json
from refdp.data.losses import GRID, LOG, SIGNED_LOG, SQUARE, grid_floor, on_grid
from refdp.data.records import Categorical, Classes, Ensemble, Interval, Model, Numeric, Schema, Tree, make_records
from refdp.errors import InvalidParameter, InvalidRecords, ModelFileError

SCHEMA = Schema((Numeric("a", 0.0, 1.0), Categorical("b", ("x", "y", "z"))), Interval(-1.0, 1.0))


def test_records_are_clamped_and_counted() -> None:
    records = make_records(SCHEMA, np.array([[2.0, 1.0], [0.5, 7.0], [np.nan, 2.0]]), np.array([3.0, 0.0, -0.5]))
    np.testing.assert_array_equal(records.x, [[1.0, 1.0], [0.5, np.nan], [np.nan, 2.0]])
    np.testing.assert_array_equal(records.y, [1.0, 0.0, -0.5])
    assert records.clamped == 3


@pytest.mark.parametrize(
    ("x", "y", "word"),
    [
        ([[0.5, 0.0]], [np.nan], "label"),
        ([[np.inf, 0.0]], [0.0], "infinite"),
        (np.empty((0, 2)), [], "0 records"),
        ([[0.5]], [0.0], "1 feature columns"),
        ([[0.5, 0.0]], [0.0, 1.0], "shape"),
    ],
)
def test_bad_records_get_one_clear_error(x: object, y: object, word: str) -> None:
    with pytest.raises(InvalidRecords, match=word):
        make_records(SCHEMA, np.array(x, dtype=float), np.array(y, dtype=float))


def test_bad_schemas_are_refused() -> None:
    for make in (
        lambda: Numeric("a", 1.0, 0.0),
        lambda: Numeric("a", 0.0, np.inf),
        lambda: Categorical("a", ()),
        lambda: Categorical("a", ("x", "x")),
        lambda: Interval(1.0, 1.0),
        lambda: Classes(("only",)),
        lambda: Schema((Numeric("a", 0, 1), Numeric("a", 0, 1)), Interval(0, 1)),
    ):
        with pytest.raises(InvalidParameter):
            make()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(-0.5, 1.5), st.integers(-1, 3)), min_size=1, max_size=20), st.integers(0, 2**31))
def test_training_and_prediction_route_alike(rows: list[tuple[float, int]], seed: int) -> None:
    """Leaves by codes (training) equal leaves by raw values (prediction), for every candidate and missing values."""
    records = make_records(SCHEMA, np.array(rows, dtype=float), np.zeros(len(rows)))
    x = np.where(records.x == 1.0, np.nan, records.x)
    for candidates in (grids.uniform(SCHEMA, 7), grids.logarithmic(SCHEMA, 7), grids.given(SCHEMA, {"a": [0.3, 0.1]})):
        generator = np.random.default_rng(seed)
        splits = candidates.values[generator.integers(0, len(candidates.values), 7)]
        tree = Tree(splits, np.arange(8.0))
        np.testing.assert_array_equal(
            Dense.of(x, candidates).leaf_index(tree.splits), tree.leaf_index(x, candidates.categorical)
        )


def test_sums_to_the_right_of_every_candidate() -> None:
    generator = np.random.default_rng(0)
    x = np.column_stack([generator.random(50), generator.integers(0, 3, 50)])
    x[::9] = np.nan
    candidates = grids.uniform(SCHEMA, 5)
    g = on_grid(generator.normal(size=50))
    table = Dense.of(x, candidates).bin_sums(candidates.features, np.zeros(50, dtype=np.int64), 1, (g, None), None)
    left, right = candidates.sides(table)
    for c, (feature, value) in enumerate(candidates.values):
        column = x[:, int(feature)]
        goes = column == value if feature == 1 else column >= value
        assert right[0, 0, c] == g[goes].sum() and right[1, 0, c] == goes.sum()
        assert left[0, 0, c] == g[~goes].sum() and left[1, 0, c] == (~goes).sum()


def test_equal_bounds_leave_no_candidate() -> None:
    with pytest.raises(InvalidParameter, match="no split candidate"):
        grids.uniform(Schema((Numeric("a", 1.0, 1.0),), Interval(0, 1)), 4)
    with pytest.raises(InvalidParameter, match="no thresholds given"):
        grids.given(SCHEMA, {})


def some_model() -> Model:
    tree = Tree(np.array([[0.0, 0.5], [1.0, 2.0], [0.0, 0.25]]), np.array([0.1, -1 / 3, 1e-17, 4.0]))
    return Model("dpboost", {"epsilon": 1.0}, SCHEMA, (Ensemble(0.0, (tree,), (0.1,)),))


def test_model_survives_its_file() -> None:
    model = some_model()
    text = model.to_json()
    again = from_json(text)
    assert again.to_json() == text
    x = np.array([[0.4, 2.0], [0.9, np.nan], [np.nan, 1.0]])
    np.testing.assert_array_equal(again.scores(x), model.scores(x))


@pytest.mark.parametrize(
    "spoil", [lambda t: t[: len(t) // 2], lambda t: t.replace("0.25", "0.75"), lambda t: "{}", lambda t: ""]
)
def test_spoiled_model_files_are_refused(spoil: object) -> None:
    assert callable(spoil)
    with pytest.raises(ModelFileError):
        from_json(spoil(some_model().to_json()))


def signed(body: object) -> str:
    """A model file with this content and the checksum that fits it."""
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    return json.dumps({"model": body, "sha256": digest})


def test_other_schema_versions_are_refused() -> None:
    with pytest.raises(ModelFileError, match="99"):
        from_json(signed(json.loads(some_model().to_json())["model"] | {"version": 99}))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ((), []),
        (("outputs",), None),
        (("outputs",), []),
        (("outputs", 0, "trees"), 3),
        (("outputs", 0, "trees", 0, "leaves"), [1.0]),
        (("outputs", 0, "trees", 0, "leaves"), [[1.0], [2.0]]),
        (("outputs", 0, "trees", 0, "splits", 0), [7, 0.5]),
        (("outputs", 0, "trees", 0, "splits", 0), [0.5, 0.5]),
        (("outputs", 0, "trees", 0, "splits", 0), [0]),
        (("outputs", 0, "trees", 0, "splits", 0), "split"),
        (("outputs", 0, "weights"), []),
        (("outputs", 0, "initial"), "much"),
        (("schema", "features"), {}),
        (("schema", "features", 0, "low"), 9.0),
        (("schema", "target"), None),
        (("params",), 1),
    ],
)
def test_what_is_no_model_is_refused_although_its_checksum_fits(place: tuple[Any, ...], value: object) -> None:
    """Edited by hand, or written by another program: an error that says so, here and not while predicting."""
    body: Any = {"": json.loads(some_model().to_json())["model"]}
    path = ("", *place)
    inner = body
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(ModelFileError):
        from_json(signed(body[""]))


def test_wrong_columns_at_predict() -> None:
    with pytest.raises(InvalidRecords, match="2 columns"):
        some_model().scores(np.zeros((3, 5)))


@pytest.mark.parametrize("loss", [SQUARE, LOG, SIGNED_LOG], ids=lambda loss: loss.name)
@pytest.mark.parametrize("score", [-700.0, -3.0, -0.2, 0.0, 0.7, 5.0, 700.0])
def test_derivatives_against_differences(loss: object, score: float) -> None:
    from refdp.data.losses import Loss

    assert isinstance(loss, Loss)
    label = -1.0 if loss is SIGNED_LOG else 0.0
    step = 1e-4
    slope = (loss.value(score + step, label) - loss.value(score - step, label)) / (2 * step)
    with np.errstate(over="ignore"):
        gradient, hessian = loss.gradient(score, label), loss.hessian(score, label)
        curve = (loss.gradient(score + step, label) - loss.gradient(score - step, label)) / (2 * step)
    assert gradient == pytest.approx(slope, abs=1e-6) and hessian == pytest.approx(curve, abs=1e-6)


def test_grid_is_exact() -> None:
    values = on_grid(np.random.default_rng(0).normal(size=1000))
    assert sum(Fraction(float(v)) for v in values) == Fraction(float(values.sum()))
    assert grid_floor(0.3) <= 0.3 < grid_floor(0.3) + GRID
