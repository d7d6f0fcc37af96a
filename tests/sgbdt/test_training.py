"""S-GBDT's text in its readings, its random splits, its parametrisations and its certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refdp.accounting import account
from refdp.data.codes import leaf_of
from refdp.data.records import Categorical, Classes, Interval, Numeric, Records, Schema, Tree, make_records
from refdp.errors import InvalidParameter
from refdp.papers import sgbdt
from refdp.papers import sgbdt as formula
from refdp.papers.published import sgbdt as printed_sgbdt
from refdp.papers.sgbdt import draw_splits, grid_index
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation, expand
from refdp.privacy.replay import ReplaySource
from refdp.privacy.sources import NoiselessSource, SampleSource
from refdp.privacy.tape import TapeSource
from tests.recorded import Recorded

FEATURES = (Numeric("a", 0.0, 1.0), Categorical("b", ("x", "y", "z")), Numeric("c", -5.0, 5.0))
TARGETS = [Interval(-1.0, 1.0), Classes(("no", "yes")), Classes(("p", "q", "r"))]
CHANGES: list[dict[str, Any]] = [
    {},
    {"extra_trees": 0},
    {"initial_share": 0.0, "subsample": 1.0},
    {"features": "cyclic", "values": "uniform", "support": "max"},
    {"weights": "slides", "orders": "joint"},
    printed_sgbdt.AS_PUBLISHED,
]


def some_records(target: Any, size: int = 60) -> Records:
    generator = np.random.default_rng(4)
    x = np.column_stack([generator.random(size), generator.integers(0, 3, size), generator.normal(0, 3, size)])
    x[::7, 2] = np.nan
    many = len(target.values) if isinstance(target, Classes) else 0
    y = generator.integers(0, many, size) if many else generator.uniform(-2, 2, size)
    return make_records(Schema(FEATURES, target), x, y.astype(np.float64))


def small(**changes: Any) -> sgbdt.Params:
    kind = printed_sgbdt.Params if changes.get("weights") == "printed" else sgbdt.Params
    return kind(1.0, Relation.ADD_REMOVE, **{"delta": 1e-4, "trees": 5, "extra_trees": 3, "depth": 2, **changes})


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("changes", CHANGES)
def test_recorded_events_equal_the_plan(target: Any, changes: dict[str, Any]) -> None:
    params, records = small(**changes), some_records(target)
    curator = Curator(SampleSource(np.random.default_rng(0)), params.relation)
    sgbdt.train(params, records, curator)
    assert curator.event() == expand(sgbdt.plan(params, records.schema).event)


def test_recorded_events_equal_the_plan_on_a_stream() -> None:
    params, records = small(), some_records(TARGETS[0])
    batches = [records.take(range(20)), records.take(range(20, 45)), records.take(range(45, 60))]
    curator = Curator(SampleSource(np.random.default_rng(0)), params.relation)
    sgbdt.train_stream(params, batches, curator)
    assert curator.event() == expand(sgbdt.plan(params, records.schema, batches=3).event)


def test_tape_and_replay_give_the_same_bytes() -> None:
    params, records = small(), some_records(TARGETS[1])
    source = SampleSource(np.random.default_rng(1), record=True)
    curator = Recorded(source, params.relation)
    first = sgbdt.train(params, records, curator).to_json()
    assert sgbdt.train(params, records, Curator(TapeSource(source.tape), params.relation)).to_json() == first
    replay = ReplaySource(curator.recorded)
    assert sgbdt.train(params, records, Curator(replay, params.relation)).to_json() == first
    replay.finish()


@pytest.mark.parametrize("depth", [1, 2, 4, 6])
@pytest.mark.parametrize("values", ["uniform", "grid"])
@pytest.mark.parametrize("features", ["uniform", "cyclic"])
def test_training_and_prediction_compare_alike(depth: int, values: Any, features: Any) -> None:
    records = some_records(TARGETS[0], 300)
    categorical = np.array([False, True, False])
    curator = Curator(SampleSource(np.random.default_rng(2)), Relation.ADD_REMOVE)
    splits = draw_splits(small(depth=depth, values=values, features=features), records.schema, 2, curator)
    expected = Tree(splits, np.zeros(2**depth)).leaf_index(records.x, categorical)
    assert np.array_equal(leaf_of(records.x, splits, categorical.tolist()), expected)


def test_grid_values_are_reachable_and_public() -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        index = grid_index(np.zeros(15, dtype=np.int64), generator.random(15), 1, 32)
        assert index[1] < index[0] or index[0] == 0  # left of the root: below its threshold
        assert index[2] > index[0] or index[0] == 31
    assert set(grid_index(np.zeros(1, dtype=np.int64), np.array([0.999999]), 1, 32)) == {31}


def test_it_learns_without_noise() -> None:
    generator = np.random.default_rng(3)
    x = np.column_stack([generator.random(800), generator.integers(0, 3, 800), generator.uniform(-5, 5, 800)])
    y = np.where(x[:, 0] > 0.5, 0.6, -0.6) + 0.3 * (x[:, 1] == 1)
    records = make_records(Schema(FEATURES, TARGETS[0]), x, y)
    params = small(trees=200, extra_trees=0, subsample=0.5, gradient_bound=1.0, regularisation=1.0, depth=3)
    model = sgbdt.train(params, records, Curator(NoiselessSource(generator), params.relation))
    assert np.sqrt(np.mean((sgbdt.predict(model, x) - y) ** 2)) < 0.25 * y.std()


@pytest.mark.parametrize("target", TARGETS)
def test_certificate_of_repaired_and_printed_runs(target: Any) -> None:
    schema = Schema(FEATURES, target)
    for changes in ({}, {"extra_trees": 0}, {"orders": "joint"}, {"weights": "slides"}):
        repaired = sgbdt.certificate(small(**changes), schema)
        assert repaired.established.epsilon <= repaired.claimed.epsilon
    told = " ".join(sgbdt.certificate(small(), schema).notes)
    assert "individual guarantee" in told
    settings = {"support_weight": 0.3, "gradient_bound": 0.2, "extra_trees": 0}
    certified = sgbdt.certificate(small(**printed_sgbdt.AS_PUBLISHED, **settings), schema)
    right = sgbdt.certificate(small(weights="slides", **settings), schema)
    assert certified.established.epsilon > 1.05 * right.established.epsilon  # r1 < r2 and h* > g*: too little noise
    assert any("sgbdt/nonspherical is" in note for note in certified.notes)


def test_filtered_guarantee_covers_the_regular_rounds_alone() -> None:
    schema = Schema(FEATURES, TARGETS[0])
    regular = account(sgbdt.plan(small(extra_trees=0), schema), delta=1e-4).epsilon
    filtered = sgbdt.filtered_epsilon(small(), schema)
    assert regular <= filtered <= 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"subsample": 0.0}, "subsample = 0.0"),
        ({"support_weight": 1.0}, "support_weight = 1.0"),
        ({"delta": 0.0}, "delta = 0.0"),
        ({"trees": 0}, "trees = 0"),
        ({"relation": Relation.REPLACE_ONE}, "add-remove is allowed"),
        ({"weights": "other"}, "weights = 'other'"),
    ],
)
def test_parameters_outside_their_domain(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        sgbdt.Params(**{"epsilon": 1.0, "relation": Relation.ADD_REMOVE, **changes})


def test_both_parametrisations_describe_the_same_noise() -> None:
    g, h = 0.5, 0.25
    for r1 in (0.1, 0.5, 0.8):
        relative = r1 * h * h / (r1 * h * h + (1 - r1) * g * g)
        squared = 3.0 * (r1 * h * h + (1 - r1) * g * g)
        assert formula.gradient_variance_slides(r1, squared) == pytest.approx(
            formula.gradient_variance(g, relative, 3.0)
        )
        assert formula.support_variance_slides(r1, squared) == pytest.approx(formula.support_variance(h, relative, 3.0))


@pytest.mark.parametrize("value", [0.2, 1.0, 2.0])
def test_optimum_ratio_minimises_the_noise_of_a_leaf(value: float) -> None:
    def leaf_noise(value: float, r1: Any) -> Any:
        return formula.gradient_variance(0.5, r1, 1) + value * value * formula.support_variance(0.25, r1, 1)

    ratio = printed_sgbdt.optimum_ratio(value, 0.5, 0.25)
    best = ratio / (1 + ratio)
    others = np.linspace(0.01, 0.99, 99)
    assert leaf_noise(value, best) <= np.min(leaf_noise(value, others)) * (1 + 1e-12)
