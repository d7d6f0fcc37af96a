"""Run the audit on every mutant and tell what caught it and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from refdp.events import Relation
from refdp.papers import dpboost
from refdp.records import Categorical, Interval, Numeric, Schema
from refdp.sources import SampleSource
from tests.mutants.dpboost import MUTANTS, PAPER, SOURCES
from tests.mutants.harness import Caught, Mutant, audit, mutated

SCHEMA = Schema(
    (Numeric("a", 0.0, 1.0), Categorical("b", ("x", "y", "z")), Numeric("c", 0.0, 1.0)), Interval(-1.0, 1.0)
)


@dataclass(frozen=True)
class Row:
    """What the audit said of one mutant."""

    mutant: Mutant
    caught: list[Caught]

    @property
    def located(self) -> bool:
        """Whether some detection names the release at fault."""
        return any(self.mutant.located in caught.where for caught in self.caught)


def examine(mutant: Mutant) -> Row:
    """The audit of one mutant, against the plan of the true module."""
    module = mutated(mutant.patches, PAPER)
    changed = {name for name, _, _ in mutant.patches}
    source = mutated(mutant.patches, SOURCES).SampleSource if SOURCES in changed else SampleSource
    params = _params(module, mutant.settings)
    plan = dpboost.plan(_params(dpboost, mutant.settings), SCHEMA)
    caught = audit(
        lambda records, door: module.train(params, records, door), plan, SCHEMA, params.epsilon, source=source
    )
    return Row(mutant, caught)


def _params(module: Any, settings: dict[str, Any]) -> Any:
    defaults = {"epsilon": 1.0, "trees": 6, "trees_per_ensemble": 3, "depth": 2, "bins": 4}
    relation = Relation(settings.get("relation", "add-remove"))
    return module.Params(**{**defaults, **settings, "relation": relation})


def rows() -> list[Row]:
    """The whole kill matrix."""
    return [examine(mutant) for mutant in MUTANTS]
