"""Every privacy mutant is caught and located; the unmutated module is not accused."""

from __future__ import annotations

from typing import Any

import pytest

from refdp.events import Relation
from refdp.papers import dpboost
from tests.mutants.dpboost import MUTANTS
from tests.mutants.harness import Mutant, audit
from tests.mutants.matrix import SCHEMA, examine


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_mutant_is_caught_and_located(mutant: Mutant) -> None:
    row = examine(mutant)
    assert row.caught, "no check caught it"
    assert row.located, f"caught only at {row.caught}"


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("changes", [{}, {"noise": "discrete"}, {"gradients": "clip"}])
def test_correct_module_is_not_accused(relation: Relation, changes: dict[str, Any]) -> None:
    params = dpboost.Params(1.0, relation, trees=6, trees_per_ensemble=3, depth=2, bins=4, **changes)
    plan = dpboost.plan(params, SCHEMA)
    assert audit(lambda records, door: dpboost.train(params, records, door), plan, SCHEMA, 1.0) == []
