"""Training: default directions, the tree against a plain one, losses, samplers, models as files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from refdp.data.codes import coded
from refdp.data.forms import from_json
from refdp.data.memory import Memory
from refdp.data.population import Advance, Begin, Bins, Encode, Place, Refresh, Root, values
from refdp.data.records import Categorical, Classes, Floats, Interval, Numeric, Records, Schema, Tree, make_records
from refdp.noise.mechanisms import Exponential
from refdp.papers import dpxgboost
from refdp.papers.dpxgboost import Contribution, both_ways, gain, gains
from refdp.papers.published.dpxgboost import racing_key
from refdp.privacy.curator import Curator, Request
from refdp.privacy.events import Relation, releases
from refdp.privacy.sources import NoiselessSource, SampleSource
from refdp.privacy.tape import TapeSource
from tests.dpxgboost.cases import FEATURES, REPAIRED, TARGETS, params, records, target_of

MISSING = Schema((Numeric("a", 0.0, 1.0), Categorical("b", ("x", "y"))), Interval(-1.0, 1.0))


def noiseless(data: Records, **changes: Any) -> Any:
    """A model of a run without any noise: histograms exact, always the best split."""
    given = params(**{"subsample": 1.0, "epsilon": 1e4, **changes})
    return dpxgboost.train(given, data, Curator(NoiselessSource(np.random.default_rng(0)), given.relation))


def informative_missing() -> Records:
    """Labels are high where `a` is missing or large."""
    x = np.column_stack([np.linspace(0, 1, 40), np.zeros(40)])
    x[::4, 0] = np.nan
    y = np.where(np.isnan(x[:, 0]) | (x[:, 0] > 0.5), 0.8, -0.8)
    return make_records(MISSING, x, y)


def test_missing_values_go_where_they_gain_most() -> None:
    data = informative_missing()
    learned, left = (noiseless(data, missing=m, depth=1, trees=1, leaf="laplace") for m in ("learned", "left"))
    (tree,) = learned.outputs[0].trees
    assert tree.splits.shape == (1, 3) and tree.splits[0].tolist() == [0.0, 0.5, 1.0]
    assert left.outputs[0].trees[0].splits.shape == (1, 2)
    error = [np.abs(np.sign(dpxgboost.predict(m, data.x)) - np.sign(data.y)).mean() for m in (learned, left)]
    assert error[0] == 0 < error[1]


@pytest.mark.parametrize("depth", [1, 3, 7])
def test_training_and_prediction_route_missing_values_alike(depth: int) -> None:
    """Leaves of rows by codes and by raw values, for random trees with random default directions."""
    generator = np.random.default_rng(depth)
    data = records(TARGETS[0], 200)
    grid = params().public_grid(data.schema)
    codes = coded(data, grid)
    for _ in range(20):
        options = grid.values[generator.integers(0, len(grid.values), 2**depth - 1)]
        directions = generator.integers(0, 2, (2**depth - 1, 1))
        tree = Tree(np.hstack([options, directions]).astype(np.float64), np.zeros(2**depth))
        assert np.array_equal(codes.leaf_index(tree.splits), tree.leaf_index(data.x, grid.categorical))
    flipped = Tree(np.hstack([options, 1 - directions]).astype(np.float64), np.zeros(2**depth))
    assert not np.array_equal(codes.leaf_index(flipped.splits), codes.leaf_index(tree.splits))


def brute_force(x: Floats, g: Floats, h: Floats, options: Floats, categorical: Any, lam: float) -> Floats:
    """The gain of every option, record by record."""
    gains = []
    for feature, value, direction in options:
        column = x[:, int(feature)]
        goes = column == value if categorical[int(feature)] else column >= value
        goes = np.where(np.isnan(column), direction > 0, goes)
        gains.append(gain(g[~goes].sum(), h[~goes].sum(), g[goes].sum(), h[goes].sum(), lam))
    return np.array(gains)


@pytest.mark.parametrize("loss", ["square", "log"])
def test_utilities_are_the_gains_of_all_splits_with_missing_values_on_both_sides(loss: Any) -> None:
    target = target_of({"loss": loss})
    data, given = records(target), params(loss=loss)
    grid = given.public_grid(data.schema)
    contribution, population = Contribution(given, data.schema), Memory(data)
    label, splits, leaves = contribution.label(0, data.y), grid.values[-2:-1], np.array([-0.3, 0.2])
    for step in (Encode(grid), Begin(contribution), Place(splits), Advance(leaves[np.newaxis], 1.0)):
        population.tell(step)  # scores that differ
    score = leaves[Tree(splits, leaves).leaf_index(data.x, grid.categorical)]
    for step in (Refresh(("g", "h")), Root(grid.features)):
        population.tell(step)
    at = np.arange(len(grid.values))
    utility = gains(given, grid, values(population.ask(Bins(given.summed))), at)[0][0]
    found = contribution.statistics(score, label, ("g", "h"))
    assert found.used is not None
    g, h = np.asarray(found.values["g"])[found.used], found.values["h"]
    hessian = np.ones(len(g)) if h is None else h[found.used]
    options = both_ways(given, grid, at)
    expected = brute_force(data.x[found.used], g, hessian, options, grid.categorical, given.regularisation)
    np.testing.assert_allclose(utility, expected, rtol=1e-12)


@pytest.mark.parametrize("changes", [c for c in REPAIRED if c.get("loss") == "log"], ids=str)
def test_statistics_keep_the_bounds_that_are_charged(changes: dict[str, Any]) -> None:
    given = params(**changes)
    generator = np.random.default_rng(1)
    score, label = generator.normal(0, 6, 5000), generator.integers(0, 2, 5000).astype(np.float64)
    found = Contribution(given, Schema(FEATURES, TARGETS[1])).statistics(score, label, ("g", "h"))
    g, h = found.values["g"], found.values["h"]
    assert g is not None and h is not None and found.used is not None
    g, h = g[found.used], h[found.used]
    assert np.abs(g).max() <= given.largest_gradient
    assert h.min() >= 0 and h.max() <= 0.25
    if given.gain == "newton":
        assert np.all(np.abs(g) <= given.ratio_bound * h)
    assert np.array_equal(g * 2**24, np.rint(g * 2**24))


def test_filtering_leaves_out_large_gradients_and_clipping_cuts_them() -> None:
    score, label, schema = np.array([0.0, 2.5, -0.2]), np.array([0.5, -1.0, 0.1]), Schema(FEATURES, TARGETS[0])
    filtered, clipped = (
        Contribution(params(gradients=g), schema).statistics(score, label, ("g",)) for g in ("filter", "clip")
    )
    assert filtered.used is not None and filtered.used.tolist() == [True, False, True]
    gradient = clipped.values["g"]
    assert clipped.used is not None and clipped.used.all() and gradient is not None and gradient.max() == 1.0


@pytest.mark.parametrize(
    "changes",
    [{}, {"leaf": "average"}, {"candidates": "quantiles"}, {"loss": "log", "leaf": "average"}, {"stopping": "noisy"},
     {"sketch_per": "run"}, {"columns": 0.6}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("relation", list(Relation))
def test_it_learns(changes: dict[str, Any], relation: Relation) -> None:
    generator = np.random.default_rng(2)
    x = generator.random((20_000, 3))
    x[generator.random(x.shape) < 0.1] = np.nan
    y = (np.nan_to_num(x[:, 0], nan=0.9) + 0.4 * np.nan_to_num(x[:, 1]) > 0.7).astype(np.float64)
    schema = Schema(tuple(Numeric(n, 0.0, 1.0) for n in "abc"), Classes(("no", "yes")))
    given = dpxgboost.Params(4.0, relation, depth=3, child_minimum=100, **changes)
    data = make_records(schema, x, y)
    model = dpxgboost.train(given, data, Curator(SampleSource(np.random.default_rng(3)), relation))
    assert np.mean((dpxgboost.predict(model, data.x)[:, 0] > 0) == (y > 0.5)) > (0.72 if changes else 0.8)
    assert from_json(model.to_json()).to_json() == model.to_json()


def test_a_stopped_node_sends_every_record_left() -> None:
    """With a minimum above the number of records no node is split: one leaf has them all."""
    data = records(TARGETS[0])
    model = noiseless(data, stopping="noisy", child_minimum=1000, trees=1)
    (tree,) = model.outputs[0].trees
    assert np.all(tree.splits[:, 1] > 1.0) and np.all(tree.splits[:, 0] == 0)
    grid = params().public_grid(data.schema)
    assert np.all(tree.leaf_index(data.x, grid.categorical) == 0)
    assert np.all(coded(data, grid).leaf_index(tree.splits) == 0)


def test_without_any_allowed_split_the_published_minimum_makes_a_leaf() -> None:
    data = records(TARGETS[0])
    model = noiseless(data, constants="published", child_minimum=15, trees=1, depth=3)
    (tree,) = model.outputs[0].trees
    grid = params().public_grid(data.schema)
    leaf = tree.leaf_index(data.x, grid.categorical)
    assert sorted(set(np.bincount(leaf).tolist()) - {0})[0] >= 15 and np.any(tree.splits[:, 1] > 1.0)


# --- Samplers ---------------------------------------------------------------------------------------------------------

UTILITIES = np.array([0.2, 1.5, -0.7, 1.4, 0.0, -np.inf])
RUNS, ERROR_RATE = 100_000, 1e-6


def frequencies(sampler: Any, coefficient: float) -> Any:
    """How often each option is chosen by the source of training runs."""
    table = np.tile(UTILITIES, (RUNS, 1))
    source = SampleSource(np.random.default_rng(17))
    chosen = source.release(Request("release", ("splits",), table, Exponential(coefficient, sampler)))
    return np.bincount(chosen, minlength=len(UTILITIES))


def p_value(counts: Any, coefficient: float) -> float:
    """Of Pearson's statistic against probabilities proportional to exp(coefficient times utility)."""
    weights = np.exp(coefficient * UTILITIES)
    expected = RUNS * weights / weights.sum()
    kept = expected > 0
    statistic = ((counts[kept] - expected[kept]) ** 2 / expected[kept]).sum()
    return float(chi2.sf(statistic, kept.sum() - 1)) if counts[~kept].sum() == 0 else 0.0


@pytest.mark.parametrize("sampler", ["racing", "gumbel"])
def test_both_samplers_have_the_distribution_of_the_ledger(sampler: str) -> None:
    """dpxgboost/racing-sampler. Error rate 1e-6; the mutants have a coefficient 5% off, and no utilities at all."""
    assert p_value(frequencies(sampler, 1.5), 1.5) > ERROR_RATE
    assert p_value(frequencies(sampler, 1.5 * 1.05), 1.5) < ERROR_RATE
    flat = np.bincount(np.random.default_rng(5).integers(0, 5, RUNS), minlength=len(UTILITIES))
    assert p_value(flat, 1.5) < ERROR_RATE


def test_the_race_of_the_formula_is_the_mechanisms() -> None:
    """The smallest of `racing_key` wins, which is what the mechanism chooses from the same draws."""
    generator = np.random.default_rng(6)
    table, uniform = generator.normal(0, 2, (2000, 9)), generator.random((2000, 9))
    winner = np.argmin(racing_key(0.7 * table, uniform), axis=1)
    assert np.array_equal(winner, Exponential(0.7, "racing").apply(table, -np.log(uniform)))
    assert np.array_equal(winner, Exponential(0.7).apply(table, -np.log(-np.log(uniform))))


@pytest.mark.parametrize("sampler", ["racing", "gumbel"])
def test_the_option_reaches_the_mechanism(sampler: Any) -> None:
    plan = dpxgboost.plan(params(sampler=sampler), records(TARGETS[0]).schema)
    used = {r.mechanism.sampler for r in releases(plan.event) if isinstance(r.mechanism, Exponential)}
    assert used == {sampler}


@pytest.mark.parametrize("changes", [{}, {"candidates": "quantiles", "columns": 0.5}], ids=str)
def test_a_tape_of_standard_draws_repeats_the_model(changes: dict[str, Any]) -> None:
    given, data = params(**changes), records(TARGETS[0])
    source = SampleSource(np.random.default_rng(9), record=True)
    model = dpxgboost.train(given, data, Curator(source, given.relation))
    again = dpxgboost.train(given, data, Curator(TapeSource(source.tape), given.relation))
    assert again.to_json() == model.to_json()
    last = source.tape[-1]
    source.tape[-1] = replace(last, values=-last.values)
    other = dpxgboost.train(given, data, Curator(TapeSource(source.tape), given.relation))
    assert other.to_json() != model.to_json()
