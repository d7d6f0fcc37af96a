"""The replay audit: repaired it finds nothing, as published it names what is wrong, with a witness."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from refdp.audit.report import Report, audit_paper
from refdp.faces.registry import paper
from refdp.privacy.events import Relation
from tests.thinned import LATER, thinned

PAPER = paper("inprivate")
SMALL = {"epsilon": 1.0, "owners": 2, "depth": 3, "bins": 4}


def report(relation: Relation, pairs: int = 4, published: bool = False, **changes: Any) -> Report:
    params = PAPER.params({**SMALL, "relation": relation, **changes}, as_published=published)
    return audit_paper(PAPER, params, pairs, 0)


CORRECT: list[dict[str, Any]] = [{}, {"rounds": 2}, {"noise": "discrete"}, {"residual_bound": 2.0, "shrinkage": 1.0}]


@pytest.mark.parametrize(("relation", "changes"), thinned(itertools.product(Relation, CORRECT), 5))
def test_repaired_holds(relation: Relation, changes: dict[str, Any]) -> None:
    found = report(relation, **changes)
    assert found.ok, found.violations
    assert 0.2 < found.max_loss <= 1.0


@pytest.mark.parametrize("relation", thinned(Relation))
def test_as_published_is_named_with_witness_and_exact_loss(relation: Relation) -> None:
    found = report(relation, published=True)
    kinds = {
        (violation.kind, violation.release.rsplit("/", 1)[-1].split(" of level")[0]) for violation in found.violations
    }
    assert {("options", "splits"), ("sensitivity", "leaves"), ("cost", "leaves"), ("budget", "whole run")} <= kinds
    options = next(v for v in found.violations if v.kind == "options")
    assert options.loss is None and "new_x" in options.witness
    leaves = next(v for v in found.violations if v.kind == "cost" and v.release.endswith("leaves"))
    assert leaves.claim.startswith("inprivate/eq-1") and leaves.declared < leaves.observed < np.inf


@pytest.mark.parametrize(
    ("changes", "kind"),
    thinned(
        [
            ({"constants": "published"}, "sensitivity"),
            ({"candidates": "triples"}, "options"),
            ({"level_budget": "whole"}, "budget"),
            ({"halves": "sizes", "rounds": 2, "owners": 1}, "assignment"),
        ],
        4,
    ),
)
def test_each_printed_reading_alone_is_named(changes: dict[str, Any], kind: str) -> None:
    found = report(Relation.ADD_REMOVE, pairs=6, shrinkage=1.0, **changes)
    assert kind in {violation.kind for violation in found.violations}


@LATER
def test_halves_of_exact_sizes_hold_when_a_record_is_replaced() -> None:
    assert report(Relation.REPLACE_ONE, halves="sizes", rounds=2, owners=1).ok
