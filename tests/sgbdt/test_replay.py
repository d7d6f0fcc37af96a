"""Replay of whole runs: no record's cost ever exceeds the budget, and every privacy mutant is caught and located."""

from __future__ import annotations

from itertools import islice
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from refdp.accounting.individual import Budget
from refdp.audit.neighbours import pairs
from refdp.audit.replay import Pair, run
from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema
from refdp.errors import ImpossibleReplay
from refdp.papers import sgbdt
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource
from tests.mutants.harness import Caught, Mutant, applied, audit
from tests.mutants.sgbdt import MUTANTS
from tests.sgbdt.oracle import Spent, breaches, expected, replays

FEATURES = (Numeric("a", 0.0, 1.0), Categorical("b", ("x", "y", "z")), Numeric("c", 0.0, 1.0))
REGRESSION, BINARY = Schema(FEATURES, Interval(-1.0, 1.0)), Schema(FEATURES, Classes(("no", "yes")))


def params(module: Any = sgbdt, **settings: Any) -> Any:
    small = {"delta": 1e-3, "trees": 6, "extra_trees": 6, "depth": 2, "subsample": 0.3, "support_weight": 0.2,
             "gradient_bound": 0.5, "initial_share": 0.2, "regularisation": 1.0}  # fmt: skip
    return module.Params(2.0, Relation.ADD_REMOVE, **{**small, **settings})


def spendings(module: ModuleType, chosen: Any, schema: Schema, runs: int) -> list[tuple[Pair, Spent]]:
    found = []
    for seed, pair in enumerate(islice(pairs(schema, Relation.ADD_REMOVE, 7), runs)):
        found.append((pair, Spent.of(*replays(module, chosen, pair, seed))))
    return found


def disagreements(module: ModuleType, chosen: Any, budget: Budget, schema: Schema, runs: int) -> list[Caught]:
    """Runs in which a record's costs, from its transcript, are not those that the paper's filter gives."""
    found: list[Caught] = []
    for seed, (pair, spent) in enumerate(spendings(module, chosen, schema, runs)):
        if breaches(chosen, budget, spent):
            found.append(Caught("budget", "leaves"))
        _, model = run_of(module, chosen, pair, seed)
        initial, trees = model.outputs[0].initial, model.outputs[0].trees
        wanted = expected(chosen, budget, pair, trees, initial)
        if not np.allclose(wanted, spent.rounds, rtol=1e-3, atol=1e-9):
            found.append(Caught("cost of the record", "leaves"))
    return found


def run_of(module: ModuleType, chosen: Any, pair: Pair, seed: int) -> tuple[Any, Any]:
    kept: list[Any] = []

    def train(records: Any, door: Any) -> Any:
        kept.append(module.train(chosen, records, door))
        return kept[-1]

    transcript, _ = run(train, pair.first(), SampleSource(np.random.default_rng(seed)), pair.relation)
    return transcript, kept[-1]


@pytest.mark.parametrize("schema", [REGRESSION, BINARY])
@pytest.mark.parametrize("settings", [{}, {"orders": "joint"}, {"weights": "slides"}, {"subsample": 1.0}])
def test_no_record_exceeds_its_budget(schema: Schema, settings: dict[str, Any]) -> None:
    chosen = params(**settings)
    found = spendings(sgbdt, chosen, schema, 24)
    assert not any(breaches(chosen, chosen.budget(schema), spent) for _, spent in found)
    assert any(np.count_nonzero(spent.rounds) > chosen.trees for _, spent in found)  # some record used extra rounds
    assert any(0 in spent.rounds for _, spent in found)  # and some had to leave


@pytest.mark.statistics
def test_no_record_exceeds_its_budget_in_1000_runs() -> None:
    for schema in (REGRESSION, BINARY):
        chosen = params(trees=10, extra_trees=15)
        assert not any(
            breaches(chosen, chosen.budget(schema), spent) for _, spent in spendings(sgbdt, chosen, schema, 500)
        )


@pytest.mark.parametrize("schema", [REGRESSION, BINARY])
def test_costs_are_those_of_the_paper(schema: Schema) -> None:
    assert disagreements(sgbdt, params(), params().budget(schema), schema, 20) == []


@pytest.mark.parametrize("schema", [REGRESSION, BINARY])
@pytest.mark.parametrize("settings", [{}, {"extra_trees": 0}, {"initial_share": 0.0}, {"orders": "shared"}])
def test_correct_module_is_not_accused(schema: Schema, settings: dict[str, Any]) -> None:
    chosen = params(**settings)
    plan = sgbdt.plan(chosen, schema)
    assert audit(lambda records, door: sgbdt.train(chosen, records, door), plan, schema, np.inf, count=12) == []


def examine(mutant: Mutant) -> list[Caught]:
    """Everything that the audit and the recomputed costs say of one mutant."""
    assert not isinstance(mutant.patches, tuple)
    chosen = params(**mutant.settings)
    plan = sgbdt.plan(chosen, REGRESSION)
    budget = chosen.budget(REGRESSION)
    with applied(mutant.patches):
        caught = audit(lambda records, door: sgbdt.train(chosen, records, door), plan, REGRESSION, np.inf, count=12)
        try:
            return caught + disagreements(sgbdt, chosen, budget, REGRESSION, 12)
        except ImpossibleReplay as error:
            return [*caught, Caught(error.kind, error.release)]


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_mutant_is_caught_and_located(mutant: Mutant) -> None:
    caught = examine(mutant)
    assert caught, "no check caught it"
    assert any(mutant.located in each.where for each in caught), f"caught only at {caught}"
