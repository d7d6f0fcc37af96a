"""200 random plans with a delta: the audit's enclosure against the accountant, for honest noise and for too little."""

from __future__ import annotations

from typing import Any

import numpy as np

from refdp.audit.inputs import inputs
from refdp.audit.search import Search
from refdp.privacy.events import Relation, Sensitivity
from tests.audit.cheats.zoo import SCHEMA
from tests.audit.figures.kept import keep, load
from tests.audit.test_plans import DELTA, Drawn, accounted, charged, drawn, mechanism

COUNT = 200


def trainer(releases: Drawn, smaller: float) -> Any:
    """One that changes every release by its sensitivity where a record is added; what it declares is so."""

    def train(records: Any, curator: Any) -> Any:
        for kind, scale, bound in releases:
            norm = 2 if kind == "gaussian" else 1
            declared = Sensitivity(bound, norm, "drawn", Relation.ADD_REMOVE)
            exact = np.array([bound * len(records.y)])
            curator.release("sum", mechanism(kind, scale / smaller), exact, sensitivity=declared)

    return train


def replayed(releases: Drawn, epsilon: float, smaller: float) -> list[str]:
    """Kinds of violations that the replay of one pair shows."""
    search = Search(trainer(releases, smaller), epsilon, DELTA, Relation.ADD_REMOVE, 0)
    search.look(next(inputs(SCHEMA, Relation.ADD_REMOVE, 0, (3,), ())), 0)
    assert not search.notes.failed, search.notes.failed
    return sorted({violation.kind for violation in search.notes.violations})


def run(most: float) -> None:
    """Every plan that has no result yet. most: seconds of processor time."""
    done = load("plans")
    for number in range(COUNT):
        if str(number) in done:
            continue
        releases = drawn(number)
        epsilon = accounted(releases)
        cost = charged(releases, epsilon)
        keep("plans", str(number), releases=len(releases), epsilon=epsilon, lower=cost.lower, upper=cost.upper,
             less=charged(releases, epsilon, 1.01).lower, honest=replayed(releases, epsilon, 1.0),
             cheat=replayed(releases, epsilon, 1.01))  # fmt: skip
