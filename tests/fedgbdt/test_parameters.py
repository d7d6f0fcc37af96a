"""Bad parameters: one clear error with the value and what is allowed, or the obvious meaning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.data.records import Numeric, Schema, make_records
from refdp.errors import InvalidParameter
from refdp.papers import fedgbdt, published
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import NoiselessSource, SampleSource
from tests.fedgbdt.cases import BINARY, FEATURES, TARGETS, params, records


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0.0}, "epsilon = 0.0"),
        ({"epsilon": math.nan}, "epsilon = nan"),
        ({"delta": 0.0}, "delta = 0.0"),
        ({"delta": 1.0}, "delta = 1.0"),
        ({"trees": 0}, "trees = 0"),
        ({"depth": 13}, "depth = 13"),
        ({"bins": 0}, "bins = 0"),
        ({"bins": 1, "grid": "published"}, "bins = 1: a whole number from 2"),
        ({"batch": 0}, "batch = 0"),
        ({"batch_share": 0.0}, "batch_share = 0.0"),
        ({"batch_share": 1.5}, "batch_share = 1.5"),
        ({"rounds": 0}, "rounds = 0"),
        ({"features_per_tree": 0}, "features_per_tree = 0"),
        ({"regularisation": 0.0}, "regularisation = 0.0"),
        ({"leaf_clip": -1.0}, "leaf_clip = -1.0"),
        ({"split_penalty": -1.0}, "split_penalty = -1.0"),
        ({"gradient_bound": 0.0}, "gradient_bound = 0.0"),
        ({"splits": "random"}, "splits = 'random'"),
        ({"update": "second-order"}, "update = 'second-order'"),
        ({"relation": "add-remove"}, "a Relation is needed"),
        ({"candidates": "quantiles"}, "no privacy guarantee holds; no_privacy=True"),
        ({"noise_by": "record"}, "relation = .* with noise_by = 'record'"),
        ({"noise_by": "record", "relation": Relation.REPLACE_ONE, "splits": "histogram"}, "splits = 'histogram'"),
        ({"noise_by": "record", "relation": Relation.REPLACE_ONE, "candidates": "iterative-hessian"}, "public ones"),
    ],
)
def test_values_outside_their_domain_are_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        published.params("fedgbdt", **{"epsilon": 1.0, "relation": Relation.ADD_REMOVE, **changes})


def test_more_features_a_tree_than_there_are_is_an_error_that_counts_them() -> None:
    with pytest.raises(InvalidParameter, match="features_per_tree = 4: the data have 3 features"):
        fedgbdt.plan(params(features_per_tree=4), BINARY)


def test_a_batch_larger_than_all_trees_is_one_batch() -> None:
    assert [len(batch) for batch in params(trees=4, batch=9).batches(BINARY)] == [4]
    assert [len(batch) for batch in params(trees=7, batch=3).batches(BINARY)] == [3, 3, 1]
    assert [len(batch) for batch in params(trees=8, batch_share=0.25).batches(BINARY)] == [2] * 4
    assert [len(batch) for batch in params(trees=3, batch_share=0.1).batches(BINARY)] == [1] * 3


def test_more_rounds_than_trees_refine_before_every_tree() -> None:
    assert params(trees=4, rounds=9, candidates="iterative-hessian").all_rounds(BINARY) == 4
    assert params(trees=4, rounds=1, rounds_per_feature=True, candidates="iterative-hessian").all_rounds(BINARY) == 3
    assert params(trees=4, rounds=9).all_rounds(BINARY) == 0


@pytest.mark.parametrize("candidates", ["uniform", "log", "iterative-hessian"])
@pytest.mark.parametrize("splits", ["histogram", "partially-random", "totally-random"])
def test_a_single_candidate_is_used(splits: Any, candidates: Any) -> None:
    given = params(bins=1, splits=splits, candidates=candidates, trees=3)
    model = fedgbdt.train(given, records(TARGETS[1]), Curator(SampleSource(np.random.default_rng(0)), given.relation))
    assert all(np.isfinite(tree.leaves).all() for tree in model.outputs[0].trees)


def test_no_feature_with_a_range_is_refused() -> None:
    schema = Schema((Numeric("constant", 2.0, 2.0),), TARGETS[1])
    data = make_records(schema, np.full((5, 1), 2.0), np.array([0.0, 1.0, 0.0, 1.0, 1.0]))
    with pytest.raises(InvalidParameter, match="no split candidate at all"):
        fedgbdt.train(params(), data, Curator(SampleSource(np.random.default_rng(0)), Relation.ADD_REMOVE))


def test_an_epsilon_out_of_reach_of_renyi_orders_is_named() -> None:
    given = params(epsilon=1e-12, delta=1e-300, accounting="renyi")
    with pytest.raises(InvalidParameter, match="out of reach of Renyi orders"):
        fedgbdt.plan(given, BINARY)


@pytest.mark.parametrize("splits", ["histogram", "partially-random", "totally-random"])
@pytest.mark.parametrize("update", ["averaging", "gradient", "newton"])
def test_without_noise_every_method_learns_a_threshold(splits: Any, update: Any) -> None:
    generator = np.random.default_rng(3)
    x = np.column_stack([generator.random(2000), generator.integers(0, 3, 2000), generator.random(2000)])
    y = ((x[:, 0] > 0.5) & (x[:, 1] != 1)).astype(np.float64)
    given = params(splits=splits, update=update, trees=40, depth=3, bins=15)
    data = make_records(Schema(FEATURES[:3], TARGETS[1]), x, y)
    model = fedgbdt.train(given, data, Curator(NoiselessSource(np.random.default_rng(0)), given.relation))
    order = np.argsort(fedgbdt.predict(model, data.x)[:, 0])
    assert y[order[-600:]].mean() > 0.93


def test_single_feature_models_are_sums_of_their_shape_functions() -> None:
    from refdp.faces.explain import shape_functions

    given = params(features_per_tree=1, trees=12, depth=3, bins=9, candidates="iterative-hessian")
    data = records(TARGETS[2])
    model = fedgbdt.train(given, data, Curator(SampleSource(np.random.default_rng(0)), given.relation))
    shapes = shape_functions(model)
    assert shapes.titles == ("p", "q", "r")
    for score, parts in enumerate(shapes.scores):
        total = np.zeros(data.size)
        for column, shape in zip(data.x.T, parts, strict=True):
            if isinstance(shape.steps[0], str):
                place = np.nan_to_num(column).astype(int)
            else:
                place = np.searchsorted(np.array(shape.steps, dtype=float), column, side="right") - 1
            total += np.where(np.isnan(column), shape.missing, shape.values[np.minimum(place, len(shape.values) - 1)])
        np.testing.assert_allclose(total, model.scores(data.x)[:, score], atol=1e-12)
    assert shapes.plot(1).get_axes()
    mixed = fedgbdt.train(
        params(trees=12, depth=3, bins=9), data, Curator(SampleSource(np.random.default_rng(0)), given.relation)
    )
    with pytest.raises(InvalidParameter, match=r"splits on \d features"):
        shape_functions(mixed)
