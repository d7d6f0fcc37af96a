"""Model checking on a small scope: the exact worst loss of DPBoost is within epsilon repaired, beyond as published."""

from __future__ import annotations

from typing import Any

import pytest

from refdp.audit.exhaustive import Row, Worst, worst_loss
from refdp.data.records import Categorical, Interval, Numeric, Schema
from refdp.papers import dpboost, published
from refdp.privacy.events import Relation
from tests.thinned import thinned

THREE_BINS = Schema((Numeric("a", 0.0, 3.0),), Interval(-1.0, 1.0))
THREE_BINS_ROWS: list[Row] = [((x,), y) for x in (0.5, 1.5, 2.5) for y in (-1.0, 0.0, 1.0)]
TWO_FLAGS = Schema((Categorical("a", ("0", "1")), Categorical("b", ("0", "1"))), Interval(-1.0, 1.0))
TWO_FLAGS_ROWS: list[Row] = [((float(a), float(b)), y) for a in (0, 1) for b in (0, 1) for y in (-1.0, 1.0)]


def worst(relation: Relation, depth: int, flags: bool, most: int, **settings: Any) -> Worst:
    fixed: dict[str, Any] = {"trees": 1, "trees_per_ensemble": 1, "depth": depth, "bins": 2}
    params = published.params("dpboost", epsilon=1.0, relation=relation, **fixed, **settings)
    schema, rows = (TWO_FLAGS, TWO_FLAGS_ROWS) if flags else (THREE_BINS, THREE_BINS_ROWS)
    return worst_loss(lambda records, door: dpboost.train(params, records, door), schema, rows, most, relation)


PUBLISHED = {**published.module("dpboost").AS_PUBLISHED, "candidates": "uniform", "blocks": "independent"}


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(("depth", "flags"), thinned([(1, False), (1, True), (2, False)]))
def test_worst_loss_of_the_repaired_algorithm_is_within_epsilon(relation: Relation, depth: int, flags: bool) -> None:
    found = worst(relation, depth, flags, 3 if depth == 2 else 4)
    assert 0.5 < found.loss <= 1.0  # the lower limit shows that the enumeration reaches something
    assert found.pairs > 400


def test_published_constants_break_replace_one_with_three_records() -> None:
    found = worst(Relation.REPLACE_ONE, 1, False, 3, **PUBLISHED)
    assert found.loss > 1.4
    assert len(found.first) == len(found.second) == 3


@pytest.mark.statistics
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("flags", [False, True])
def test_worst_loss_at_depth_two_with_four_records(relation: Relation, flags: bool) -> None:
    assert worst(relation, 2, flags, 4 if not flags else 3).loss <= 1.0
