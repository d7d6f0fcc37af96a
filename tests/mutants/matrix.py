"""Run the audit on every mutant and tell what caught it and where."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema, Target
from refdp.papers import dpboost as dpboost_module
from refdp.papers import dpxgboost as dpxgboost_module
from refdp.papers import fedgbdt as fedgbdt_module
from refdp.papers import inprivate as inprivate_module
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource
from tests.mutants import dpboost, dpxgboost, fedgbdt, inprivate
from tests.mutants.dpboost import SOURCES
from tests.mutants.harness import Caught, Mutant, Replacement, applied, audit, mutated
from tests.participants import trainer

Enough = Callable[[Iterable[Caught]], bool]
FEATURES = (Numeric("a", 0.0, 1.0), Categorical("b", ("x", "y", "z")), Numeric("c", 0.0, 1.0))
TARGETS: Mapping[str, Target] = {
    "regression": Interval(-1.0, 1.0),
    "binary": Classes(("no", "yes")),
    "three": Classes(("p", "q", "r")),
}


@dataclass(frozen=True)
class Subject:
    """A paper whose mutants are examined. pure: whether a run has a largest privacy loss, epsilon.

    A mutant's settings may name one of TARGETS as "target", and override `defaults`.
    """

    title: str
    module: ModuleType
    mutants: tuple[Mutant, ...]
    defaults: Mapping[str, Any]
    target: str
    pure: bool

    def params(self, module: Any, settings: Mapping[str, Any]) -> Any:
        """Parameters of the (mutated) module."""
        given = {**self.defaults, **settings, "relation": Relation(settings.get("relation", "add-remove"))}
        given.pop("target", None)
        return module.Params(**given)

    def schema(self, settings: Mapping[str, Any]) -> Schema:
        """The public schema of the data sets."""
        return Schema(FEATURES, TARGETS[settings.get("target", self.target)])


SUBJECTS = {
    "dpboost": Subject(
        "DPBoost",
        dpboost_module,
        dpboost.MUTANTS,
        {"epsilon": 1.0, "trees": 6, "trees_per_ensemble": 3, "depth": 2, "bins": 4},
        "regression",
        pure=True,
    ),
    "dpxgboost": Subject(
        "DP-XGBoost",
        dpxgboost_module,
        dpxgboost.MUTANTS,
        {"epsilon": 1.0, "trees": 3, "depth": 2, "bins": 4, "sketch_bins": 8, "subsample": 0.5, "child_minimum": 2},
        "regression",
        pure=True,
    ),
    "fedgbdt": Subject(
        "the federated framework",
        fedgbdt_module,
        fedgbdt.MUTANTS,
        {"epsilon": 20.0, "delta": 1e-3, "trees": 6, "depth": 2, "bins": 4, "rounds": 2, "shrinkage": 1.0,
         "leaf_clip": 4.0},
        "binary",
        pure=False,
    ),
    "inprivate": Subject(
        "InPrivate Digging",
        inprivate_module,
        inprivate.MUTANTS,
        {"epsilon": 1.0, "owners": 2, "rounds": 2, "depth": 3, "bins": 4, "damping": 0.0},
        "binary",
        pure=True,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What the audit said of one mutant."""

    mutant: Mutant
    caught: list[Caught]

    @property
    def located(self) -> bool:
        """Whether some detection names the release at fault."""
        return located(self.mutant, self.caught)


def located(mutant: Mutant, caught: Iterable[Caught]) -> bool:
    """Whether one of them names the release at fault."""
    return any(mutant.located in one.where for one in caught)


def examine(mutant: Mutant, subject: Subject = SUBJECTS["dpboost"], *, whole: bool = True, count: int = 36) -> Row:
    """The audit of one mutant, against the plan of the true module.

    whole: also after the fault is located. count: how many pairs of neighbours are replayed.
    """
    enough = partial(_never if whole else located, mutant)
    if isinstance(mutant.patches, Mapping):
        return _patched(mutant, mutant.patches, subject, enough, count)
    module = mutated(mutant.patches, subject.module.__name__)
    changed = {name for name, _, _ in mutant.patches}
    source = mutated(mutant.patches, SOURCES).SampleSource if SOURCES in changed else SampleSource
    params, schema = subject.params(module, mutant.settings), subject.schema(mutant.settings)
    plan = subject.module.plan(subject.params(subject.module, mutant.settings), schema)
    epsilon = params.epsilon if subject.pure else math.inf
    caught = audit(trainer(module, params), plan, schema, epsilon, source=source, enough=enough, count=count)
    return Row(mutant, caught)


def _never(_: Mutant, caught: Iterable[Caught]) -> bool:
    return False


def _patched(mutant: Mutant, patches: Mapping[str, Replacement], subject: Subject, enough: Enough, count: int) -> Row:
    """As `examine`, with functions replaced while the mutant trains."""
    params, schema = subject.params(subject.module, mutant.settings), subject.schema(mutant.settings)
    plan = subject.module.plan(params, schema)
    epsilon = params.epsilon if subject.pure else math.inf
    with applied(patches):
        return Row(mutant, audit(trainer(subject.module, params), plan, schema, epsilon, enough=enough, count=count))


def rows(subject: Subject) -> list[Row]:
    """The whole kill matrix of a paper."""
    return [examine(mutant, subject) for mutant in subject.mutants]
