"""Model checking on a small scope: every neighbouring pair of tiny data sets, every choice, the worst of all noise.

Repaired, the exact worst loss is within epsilon for every leaf mechanism and sketch, under both relations; as published
it is not, or the model shows more than was released.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest

from refdp.audit.exhaustive import Row, Worst, worst_loss
from refdp.audit.neighbours import pairs
from refdp.audit.replay import Violation, sampled
from refdp.data.records import Classes, Interval, Numeric, Schema
from refdp.papers import dpxgboost
from refdp.papers import published as printed_readings
from refdp.papers.published.dpxgboost import noisy_average_log_density, noisy_average_loss_bound, noisy_average_scale
from refdp.privacy.events import Relation
from tests.dpxgboost.cases import trainer
from tests.thinned import thinned

REGRESSION = Schema((Numeric("a", 0.0, 3.0),), Interval(-1.0, 1.0))
ROWS: list[Row] = [((x,), y) for x in (0.5, 2.5, math.nan) for y in (-1.0, 1.0)]
MORE_ROWS: list[Row] = [((x,), y) for x in (0.5, 1.5, 2.5, math.nan) for y in (-1.0, 0.0, 1.0)]
BINARY = Schema((Numeric("a", 0.0, 3.0),), Classes(("no", "yes")))
BINARY_ROWS: list[Row] = [((x,), y) for x in (0.5, 1.5, 2.5, math.nan) for y in (0.0, 1.0)]
AR, RO = Relation.ADD_REMOVE, Relation.REPLACE_ONE


def params(relation: Relation, **changes: Any) -> dpxgboost.Params:
    given = {"trees": 1, "depth": 1, "bins": 2, "sketch_bins": 3, "subsample": 1.0, "child_minimum": 2, **changes}
    found: dpxgboost.Params = printed_readings.params("dpxgboost", epsilon=1.0, relation=relation, **given)
    return found


def worst(relation: Relation, most: int = 3, more: bool = False, **changes: Any) -> Worst:
    given = params(relation, **changes)
    schema, rows = (BINARY, BINARY_ROWS) if given.loss == "log" else (REGRESSION, MORE_ROWS if more else ROWS)
    return worst_loss(trainer(given), schema, rows, most, relation)


REPAIRED: list[dict[str, Any]] = [
    {},
    {"leaf": "laplace"},
    {"leaf": "average"},
    {"candidates": "uniform"},
    {"candidates": "quantiles", "missing": "left"},
    {"sketch_per": "run"},
    {"stopping": "noisy"},
    {"missing": "left", "noise": "discrete"},
    {"loss": "log"},
    {"loss": "log", "gain": "count"},
    {"loss": "log", "leaf": "average", "ratio_bound": 4.0},
    {"trees": 2, "candidates": "uniform", "missing": "left", "bins": 1},
    {"depth": 2, "candidates": "uniform", "missing": "left", "bins": 1},
]


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("changes", thinned(REPAIRED), ids=str)
def test_worst_loss_of_the_repaired_algorithm_is_within_epsilon(relation: Relation, changes: dict[str, Any]) -> None:
    found = worst(relation, **changes)
    assert 0.25 < found.loss <= 1.0 + 1e-9  # the lower limit shows that the enumeration reaches something
    assert found.pairs > 150


@pytest.mark.statistics
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("changes", REPAIRED, ids=str)
def test_worst_loss_with_more_kinds_of_records(relation: Relation, changes: dict[str, Any]) -> None:
    assert worst(relation, more=True, **changes).loss <= 1.0 + 1e-9


@pytest.mark.parametrize("sensitivity", ["sketch", "leaves"])
@pytest.mark.parametrize("relation", list(Relation))
def test_charges_of_sketch_and_leaves_are_reached(relation: Relation, sensitivity: str) -> None:
    """Nothing is given away: the part of the budget of each is spent in full by some pair."""
    parts = {"sketch_part": 1e-6, "split_part": 1e-6, "leaf_part": 1e-6}
    parts["sketch_part" if sensitivity == "sketch" else "leaf_part"] = 1.0
    found = worst(relation, most=2, leaf="laplace", noise="floating", **parts)
    assert found.loss == pytest.approx(1.0, rel=0.1 if relation is RO else 1e-4)


def published(relation: Relation, **changes: Any) -> dict[str, Any]:
    return {"constants": "published", **changes}


def test_the_published_minimum_has_infinite_loss() -> None:
    for relation in Relation:
        assert worst(relation, leaf="minimum", child_minimum=1, constants="published", most=3).loss == math.inf


@pytest.mark.parametrize("leaf", ["laplace", "average"])
def test_published_constants_break_replace_one(leaf: str) -> None:
    found = worst(RO, leaf=leaf, constants="published")
    assert 1.1 < found.loss < math.inf
    assert len(found.first) == len(found.second) <= 3


def test_published_constants_hold_for_added_records_with_plain_laplace_leaves() -> None:
    """dpxgboost/tree: without a minimum and without Algorithm 1 the published tree is epsilon-DP."""
    assert worst(AR, leaf="laplace", constants="published").loss <= 1.0 + 1e-9


def test_section_2_spends_more_than_it_says() -> None:
    parts = {"sketch_part": 1e-6, "leaf_part": 1e-6}
    whole = worst(AR, leaf="laplace", constants="published", exponent="whole", candidates="uniform", **parts)
    half = worst(AR, leaf="laplace", constants="published", candidates="uniform", **parts)
    assert whole.loss == pytest.approx(2 * half.loss, rel=0.2)


def test_newton_gains_of_published_constants_exceed_their_charge() -> None:
    """dpxgboost/newton-gain-sensitivity: Eq. 5 is about counts; with clipped ratios up to B the range is h* B^2 4."""
    changes: dict[str, Any] = {"loss": "log", "ratio_bound": 64.0, "shrinkage": 0.5, "trees": 3, "leaf_part": 3.0}
    changes["candidates"] = "uniform"
    found = violations(AR, **changes, leaf="laplace", constants="published")
    assert "dpxgboost/newton-gain-sensitivity" in {v.claim for v in found if v.kind == "sensitivity"}
    assert violations(AR, **changes, leaf="laplace") == []


def violations(relation: Relation, count: int = 24, **changes: Any) -> list[Violation]:
    """What replays of random and directed pairs find."""
    given = params(relation, **{"bins": 4, "sketch_bins": 8, "depth": 2, **changes})
    schema = BINARY if given.loss == "log" else REGRESSION
    return [
        violation
        for seed, pair in enumerate(islice(pairs(schema, relation, 5), count))
        for violation in sampled(trainer(given), pair, seed, 1.0).violations
    ]


@pytest.mark.parametrize(
    ("relation", "changes", "named"),
    [
        (AR, {"leaf": "minimum"}, ("sensitivity", "splits of level 0", "dpxgboost/min-child-weight")),
        (AR, {"leaf": "minimum"}, ("sensitivity", "leaves", "dpxgboost/min-child-weight")),
        (AR, {"leaf": "average"}, ("model", "published model", "")),
        (RO, {"leaf": "average"}, ("model", "published model", "")),
        (RO, {"leaf": "minimum"}, ("sensitivity", "leaves", "dpxgboost/min-child-weight-replace-one")),
        (RO, {"leaf": "laplace"}, ("sensitivity", "leaves", "dpxgboost/leaf-sensitivity-published-replace-one")),
        (RO, {"leaf": "laplace"}, ("sensitivity", "sketch", "dpxgboost/sketch-replace-one")),
        (AR, {"sampling": "without-replacement", "subsample": 0.5}, ("assignment", "rows", "")),
    ],
)
def test_each_published_violation_is_named(
    relation: Relation, changes: dict[str, Any], named: tuple[str, str, str]
) -> None:
    found = {
        (v.kind, v.release.rsplit("/", 1)[-1], v.claim) for v in violations(relation, **published(relation, **changes))
    }
    assert named in found
    repaired = {name: value for name, value in changes.items() if name != "sampling"}
    assert violations(relation, **repaired) == []


def test_the_exact_loss_of_algorithm_1() -> None:
    """At epsilon 1, lambda 1/10: gradients -1 against -1 and 1, output 0, and the bound of noisy-average-cost."""
    scale = noisy_average_scale(1.0, 1.0)
    with_record, without = (noisy_average_log_density(0.0, s, n, 0.1, scale) for s, n in ((0.0, 2), (-1.0, 1)))
    assert with_record - without == pytest.approx(0.5 + math.log(2.1 / 1.1))
    assert (
        with_record - without == pytest.approx(float(noisy_average_loss_bound(1.0, 0.1))) and with_record - without > 1
    )
    grid = np.linspace(-1, 1, 2001)
    seen = max(
        np.abs(
            noisy_average_log_density(grid, s + g, n + 1, 0.1, scale)
            - noisy_average_log_density(grid, s, n, 0.1, scale)
        ).max()
        for n in range(1, 8)
        for s in np.linspace(-n, n, 2 * n + 1)
        for g in (-1.0, 0.0, 1.0)
    )
    assert seen == pytest.approx(0.5 + math.log(2.1 / 1.1))
