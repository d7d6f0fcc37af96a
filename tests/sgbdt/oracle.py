"""What one record costs, computed anew from a transcript and a public model, with none of the training code's state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import mpmath
import numpy as np

from refdp.accounting import individual
from refdp.accounting.individual import Budget
from refdp.audit.replay import Pair, Violation, run
from refdp.data.records import Records
from refdp.papers import sgbdt
from refdp.papers import sgbdt as formulas
from refdp.privacy.curator import Curator, Transcript
from refdp.privacy.replay import RecordSwap, ReplaySource
from refdp.privacy.sources import SampleSource


def cost(order: float, rate: float, t: float) -> float:
    """a(alpha, gamma, t) by the formula, with 30 digits."""
    if t == 0:
        return 0.0
    with mpmath.workdps(30):
        moment = individual.subsampled_moment(int(order), mpmath.mpf(rate), mpmath.exp(mpmath.mpf(t)))
        return float(mpmath.log(moment) / (int(order) - 1))


def replays(module: ModuleType, params: Any, pair: Pair, seed: int) -> tuple[Transcript, Transcript]:
    """A run on the first side, replayed with the record in every sample, and without it."""

    def train(records: Records, door: Curator) -> Any:
        return module.train(params, records, door)

    source = SampleSource(np.random.default_rng(seed))
    transcript, _ = run(train, pair.first(), source, pair.relation)
    present = ReplaySource(transcript, RecordSwap(pair.position, pair.position))
    absent = ReplaySource(transcript, RecordSwap(pair.position, None))
    return run(train, pair.first(), present, pair.relation)[0], run(train, pair.base, absent, pair.relation)[0]


@dataclass(frozen=True)
class Spent:
    """t of each round from the change of the released sums, in the noise that was added; 0 where the record was out."""

    rounds: tuple[float, ...]

    @classmethod
    def of(cls, present: Transcript, absent: Transcript) -> Spent:
        """From two replays."""
        changes = [
            a.request.mechanism.observed_change(a.value, b.value, "whitened")  # type: ignore[union-attr]
            for a, b in zip(present.entries, absent.entries, strict=True)
            if a.request.path[-1] == "leaves" and a.value is not None and b.value is not None
        ]
        return cls(tuple(change * change / 2 for change in changes))

    def total(self, order: float, rate: float) -> float:
        """The record's Rényi cost of the whole run at that order."""
        return math.fsum(cost(order, rate, t) for t in self.rounds)


def breaches(params: sgbdt.Params, budget: Budget, spent: Spent) -> list[Violation]:
    """The orders at which the record spent more than the budget of the unmutated module."""
    found = []
    for order, allowed in zip(budget.orders, budget.spendable, strict=True):
        total = spent.total(order, params.subsample)
        if total > allowed * (1 + 1e-9):
            found.append(Violation("budget", "leaves", float(allowed), total, total, sgbdt.FILTER, {"order": order}))
    return found


def expected(
    params: sgbdt.Params, budget: Budget, pair: Pair, splits_and_leaves: Sequence[Any], initial: float
) -> list[float]:
    """t of each round as the paper has it: from the record and the released model alone, filter included."""
    schema = pair.new.schema
    g_bound, h_bound = params.bounds(schema)
    label, score = pair.new.schema.label(0, pair.new.y)[0], initial
    spent, found = np.zeros(len(budget.orders)), []
    categorical = np.array([hasattr(feature, "categories") for feature in schema.features])
    for tree in splits_and_leaves:
        if h_bound == 1.0:
            gradient, hessian = score - label, 1.0
        else:
            p = 1 / (1 + math.exp(-score))
            gradient, hessian = p - label, min(p * (1 - p), h_bound)
        gradient = min(max(gradient, -g_bound), g_bound)
        t = formulas.record_cost(gradient, hessian, g_bound, h_bound, params.support_weight, budget.sigma**2)
        after = spent + [cost(order, params.subsample, t) for order in budget.orders]
        active = bool(np.all(after <= budget.spendable))
        spent = after if active else spent
        found.append(t if active else 0.0)
        score += params.shrinkage * float(tree.predict(pair.new.x, categorical)[0])
    return found
