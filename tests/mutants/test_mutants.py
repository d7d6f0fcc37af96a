"""Every privacy mutant is caught and located; the unmutated module is not accused."""

from __future__ import annotations

import math
from typing import Any

import pytest

from refdp.events import Relation
from refdp.papers import dpboost
from tests.mutants.harness import Mutant, audit
from tests.mutants.matrix import SCHEMA, SUBJECTS, examine

EVERY = [(paper, mutant) for paper, subject in SUBJECTS.items() for mutant in subject.mutants]


@pytest.mark.parametrize(("paper", "mutant"), EVERY, ids=[f"{paper}: {mutant.name}" for paper, mutant in EVERY])
def test_mutant_is_caught_and_located(paper: str, mutant: Mutant) -> None:
    row = examine(mutant, SUBJECTS[paper])
    assert row.caught, "no check caught it"
    assert row.located, f"caught only at {row.caught}"


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("changes", [{}, {"noise": "discrete"}, {"gradients": "clip"}])
def test_correct_module_is_not_accused(relation: Relation, changes: dict[str, Any]) -> None:
    params = dpboost.Params(1.0, relation, trees=6, trees_per_ensemble=3, depth=2, bins=4, **changes)
    plan = dpboost.plan(params, SCHEMA)
    assert audit(lambda records, door: dpboost.train(params, records, door), plan, SCHEMA, 1.0) == []


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(
    "changes",
    [
        {"splits": "histogram"},
        {"splits": "histogram", "features_per_tree": 1},
        {"splits": "partially-random"},
        {"candidates": "iterative-hessian", "sensitivities": "by-round"},
        {"batch": 3, "noise": "discrete"},
        {"target": "three"},
        {"target": "regression", "gradient_bound": 0.5},
        {"records_each": 3},
    ],
)
def test_correct_federated_framework_is_not_accused(relation: Relation, changes: dict[str, Any]) -> None:
    subject = SUBJECTS["fedgbdt"]
    settings = {**changes, "relation": relation}
    params, schema = subject.params(subject.module, settings), subject.schema(settings)
    plan = subject.module.plan(params, schema)
    assert audit(lambda records, door: subject.module.train(params, records, door), plan, schema, math.inf) == []


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(
    "changes", [{}, {"target": "regression"}, {"target": "three", "owners": 1}, {"noise": "discrete"}]
)
def test_correct_inprivate_digging_is_not_accused(relation: Relation, changes: dict[str, Any]) -> None:
    subject = SUBJECTS["inprivate"]
    settings = {**changes, "relation": relation}
    params, schema = subject.params(subject.module, settings), subject.schema(settings)
    plan = subject.module.plan(params, schema)
    assert audit(lambda records, door: subject.module.train(params, records, door), plan, schema, params.epsilon) == []


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"leaf": "average", "stopping": "noisy"},
        {"candidates": "quantiles", "sketch_per": "run"},
        {"loss": "log", "ratio_bound": 16.0, "target": "binary", "noise": "discrete"},
        {"columns": 0.5, "subsample": 1.0, "gradients": "clip"},
    ],
)
def test_correct_dp_xgboost_is_not_accused(relation: Relation, changes: dict[str, Any]) -> None:
    subject = SUBJECTS["dpxgboost"]
    settings = {**changes, "relation": relation}
    params, schema = subject.params(subject.module, settings), subject.schema(settings)
    plan = subject.module.plan(params, schema)
    assert audit(lambda records, door: subject.module.train(params, records, door), plan, schema, 1.0) == []
