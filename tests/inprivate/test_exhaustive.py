"""Model checking on a small scope: the exact worst loss of Algorithm 2 with two owners."""

from __future__ import annotations

from typing import Any

import pytest

from refdp.audit.exhaustive import Row, Worst, worst_loss
from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema
from refdp.papers import inprivate, published
from refdp.papers.published.inprivate import AS_PUBLISHED
from refdp.privacy.events import Relation

NUMERIC = (Numeric("a", 0.0, 3.0),)
FLAG = (Categorical("a", ("0", "1")),)
CLASSES, RANGE = Classes(("no", "yes")), Interval(-1.0, 1.0)
PUBLISHED = {**AS_PUBLISHED, "candidates": "uniform", "halves": "independent", "level_budget": "share"}


def worst(schema: Schema, relation: Relation, most: int, **settings: Any) -> Worst:
    """One tree; every neighbouring pair of at most `most` records over three values (two flags) and all labels."""
    params = published.params("inprivate", epsilon=1.0, relation=relation, bins=2, **settings)
    values = (0.0, 1.0) if schema.features == FLAG else (0.5, 1.5, 2.5)
    labels = (0.0, 1.0) if schema.target == CLASSES else (-1.0, 0.0, 1.0)
    rows: list[Row] = [((x,), y) for x in values for y in labels]
    return worst_loss(lambda records, door: inprivate.train(params, records, door), schema, rows, most, relation)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("target", [CLASSES, RANGE], ids=["classes", "regression"])
@pytest.mark.parametrize(("features", "depth", "most"), [(NUMERIC, 2, 4), (FLAG, 3, 4)])
def test_worst_loss_of_the_repaired_algorithm_is_within_epsilon(
    relation: Relation, target: Any, features: Any, depth: int, most: int
) -> None:
    found = worst(Schema(features, target), relation, most if target == CLASSES else 3, depth=depth)
    assert 0.4 < found.loss <= 1.0  # the lower limit shows that the enumeration reaches something
    assert found.pairs > 50


@pytest.mark.parametrize("target", [CLASSES, RANGE], ids=["classes", "regression"])
def test_published_constants_break_replace_one_at_the_first_tree(target: Any) -> None:
    found = worst(Schema(NUMERIC, target), Relation.REPLACE_ONE, 3, depth=2, split_share=0.1, **PUBLISHED)
    assert found.loss > 1.8


def test_published_constants_hold_for_the_first_tree_of_log_loss_under_add_remove() -> None:
    assert worst(Schema(NUMERIC, CLASSES), Relation.ADD_REMOVE, 4, depth=2, **PUBLISHED).loss <= 1.0
