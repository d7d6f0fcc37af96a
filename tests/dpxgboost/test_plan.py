"""The plan: equal to what a run records, of the claimed cost, and the same model for the same seed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.accounting import account, pure_epsilon
from refdp.accounting.pure import amplified
from refdp.data.records import Categorical, Numeric, Schema
from refdp.errors import InvalidParameter
from refdp.ledger.claims import ESTABLISHED
from refdp.noise.calibration import before_sampling
from refdp.papers import dpxgboost
from refdp.papers.dpxgboost import budget_of
from refdp.papers.published.dpxgboost import AS_PUBLISHED
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation, expand, releases
from refdp.privacy.sources import SampleSource
from tests.dpxgboost.cases import REPAIRED, TARGETS, params, records, target_of

PUBLISHED: list[dict[str, Any]] = [
    {**AS_PUBLISHED, **changes}
    for changes in (
        {}, {"leaf": "average"}, {"leaf": "laplace"}, {"exponent": "whole"}, {"loss": "log"}, {"subsample": 1.0},
        {"noise": "discrete"},
    )
]  # fmt: skip


def named(changes: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in changes.items()) or "defaults"


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("changes", REPAIRED + PUBLISHED, ids=named)
def test_recorded_events_equal_the_plan(changes: dict[str, Any], relation: Relation) -> None:
    for target in (target_of(changes), TARGETS[2]):
        given, data = params(relation, **changes), records(target)
        curator = Curator(SampleSource(np.random.default_rng(0)), relation)
        dpxgboost.train(given, data, curator)
        assert curator.event() == expand(dpxgboost.plan(given, data.schema).event)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("changes", REPAIRED, ids=named)
def test_repaired_runs_cost_just_what_they_claim(changes: dict[str, Any], relation: Relation) -> None:
    schema = records(target_of(changes)).schema
    found = dpxgboost.certificate(params(relation, **changes), schema)
    assert found.established.epsilon == pytest.approx(1.0, rel=1e-9) and found.established.epsilon <= 1 + 1e-9
    assert found.notes == ()
    assert {verdict for _, verdict in found.claims} <= ESTABLISHED


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("changes", PUBLISHED, ids=named)
def test_published_runs_say_what_is_not_established(changes: dict[str, Any], relation: Relation) -> None:
    found = dpxgboost.certificate(params(relation, **changes), records(target_of(changes)).schema)
    sound = changes.get("leaf") == "laplace" and "exponent" not in changes and relation is Relation.ADD_REMOVE
    assert found.established.epsilon > 1.1 or sound
    assert found.notes


def test_thirds_are_the_papers() -> None:
    """Section 4.4: a third each for sketch, levels and leaves; amplified again to epsilon."""
    given = params(subsample=0.1, epsilon=1.5)
    (tree, *_) = budget_of(given, records(TARGETS[0]).schema).trees
    whole = math.log(1 + (math.exp(0.5) - 1) / 0.1)
    assert tree.sketch == pytest.approx(whole / 3) and tree.leaves == pytest.approx(whole / 3)
    assert tree.splits == pytest.approx((whole / 6,) * 2)
    assert amplified(tree.sketch + sum(tree.splits) + tree.leaves, 0.1) == pytest.approx(0.5)
    assert before_sampling(600.0, 0.5) == pytest.approx(600 + math.log(2)) and before_sampling(1.0, 1.0) == 1.0


def test_unequal_budgets_grow_by_what_is_asked() -> None:
    budget = budget_of(params(tree_growth=2.0, level_growth=3.0, subsample=1.0), records(TARGETS[0]).schema)
    totals = [one.sketch + sum(one.splits) + one.leaves for one in budget.trees]
    assert totals == pytest.approx([1 / 7, 2 / 7, 4 / 7])
    assert all(one.splits[1] == pytest.approx(3 * one.splits[0]) for one in budget.trees)


def test_a_part_that_releases_nothing_gets_nothing() -> None:
    schema = Schema((Categorical("a", ("x", "y", "z")),), TARGETS[0])
    budget = budget_of(params(subsample=1.0), schema)
    assert [one.sketch for one in budget.trees] == [0.0] * 3
    assert pure_epsilon(dpxgboost.plan(params(), schema)) == pytest.approx(1.0)
    data = records(TARGETS[0])
    curator = Curator(SampleSource(np.random.default_rng(0)), Relation.ADD_REMOVE)
    only = data.x[:, 1:2]
    dpxgboost.train(params(), type(data)(schema, only, data.y), curator)
    assert not [r for r in releases(curator.event()) if "sketch" in r.name]


@pytest.mark.parametrize("relation", list(Relation))
def test_a_delta_buys_less_noise_at_the_same_epsilon(relation: Relation) -> None:
    schema = records(TARGETS[0]).schema
    given = params(relation, delta=1e-6, trees=50, subsample=0.1)
    total = dpxgboost.total_epsilon(given, schema)
    assert total > 1.2
    plan = dpxgboost.plan(given, schema)
    assert 0.97 < account(plan, delta=1e-6).epsilon <= 1.0
    assert pure_epsilon(plan) == pytest.approx(total)
    assert dpxgboost.certificate(given, schema).established.epsilon <= 1.0


def test_log_loss_is_about_classes() -> None:
    with pytest.raises(InvalidParameter, match="'log': it is about classes"):
        dpxgboost.plan(params(loss="log"), Schema((Numeric("a", 0, 1),), TARGETS[0]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0.0), ("delta", 1.0), ("trees", 0), ("depth", 13), ("bins", 255), ("sketch_bins", 256),
        ("child_minimum", 0), ("subsample", 0.0), ("columns", 1.5), ("leaf", "gauss"), ("sketch_part", 0.0),
        ("ratio_bound", -1.0), ("relation", "both"), ("count_weight", float("nan")), ("regularisation", 0),
    ],
)  # fmt: skip
def test_bad_parameters_are_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidParameter, match=f"{name} = "):
        params(**{name: value})
