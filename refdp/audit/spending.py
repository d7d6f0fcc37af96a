"""What one record spends under an individual filter, from its own contributions, against its budget and the claim.

A run is recorded and replayed with the audited record in every sample, and without it. The change of the released sums
is what the record contributed in each round, in the noise that was added; its Rényi cost follows by the formula, and
nothing of the training code's accounts is believed. Costs and budgets: S-GBDT, slides "Individual Rényi DP" and
"Subsampling"; the filter: Feldman and Zrnic 2021.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from refdp.accounting import conversion
from refdp.accounting.individual import Budget, tabulated
from refdp.audit.replay import Pair, Violation, impossible, run
from refdp.audit.verdicts import Row, Verdict
from refdp.data.records import Floats
from refdp.errors import ImpossibleReplay, InvalidParameter
from refdp.faces.registry import Paper
from refdp.faces.training import source_for
from refdp.privacy.curator import Transcript
from refdp.privacy.replay import RecordSwap, ReplaySource

TOLERANCE = 1e-6
"""Relative: what is tabulated is rounded up, what is observed is rounded."""
ROUNDS = 16
"""Regular rounds, and three times as many extra ones, of the runs that are looked at: each spends little, so that a
filter that lets a record pass by a few percent is seen."""


@dataclass
class Ledger:
    """What the audited records spent. refused: least relative excess that would have shown, of each that had to leave.

    most: the largest share of its budget that a record spent.
    """

    runs: int = 0
    most: float = 0.0
    refused: list[float] = field(default_factory=list)
    found: list[Violation] = field(default_factory=list)

    def row(self) -> Row:
        """As a line of the coverage table: about the composition, which the filter has to keep."""
        if self.found:
            return Row("composition", Verdict.VIOLATION, "a record spent more than its budget")
        if not self.refused:
            return Row("composition", Verdict.NOT_EXAMINED, f"none of {self.runs} audited records spent its budget, so "
                       "that the filter refused nobody")  # fmt: skip
        return Row(
            "composition",
            Verdict.NOT_FOUND,
            f"all rounds together would cost more than the claim; of {self.runs} audited records the spending was "
            f"recomputed from their own contributions: {self.most:.6g} of the budget at most, {len(self.refused)} had "
            "to leave. That such a budget keeps the claim rests on the ledger's claims about filters",
            f"a cost understated by {max(100 * min(self.refused), 1e-4):.2g}%",
        )


def has_filter(params: Any) -> bool:
    """Whether the paper's records leave when their budgets are spent."""
    return bool(getattr(params, "extra_trees", 0)) and hasattr(params, "budget")


def examined(paper: Paper, params: Any, pairs: Iterable[Pair], seed: int) -> Ledger:
    """Recompute the spending of the audited record of each pair. pairs: under add-remove."""
    ledger = Ledger()
    for number, pair in enumerate(pairs):
        chosen = _fine(params, pair)
        try:
            present, absent = _replays(paper, chosen, pair, np.random.default_rng([seed, number, 2]))
        except ImpossibleReplay as error:
            ledger.found += _with_params(impossible(error, pair, "").violations, chosen)
            continue
        ledger.runs += 1
        ledger.found += _with_params(_compared(chosen, pair, spent(present, absent), ledger), chosen)
    return ledger


def _fine(params: Any, pair: Pair) -> Any:
    """The parameters with many cheap rounds, where the claim can be reached with them."""
    chosen = replace(params, trees=ROUNDS, extra_trees=3 * ROUNDS, depth=min(params.depth, 2))
    try:
        chosen.budget(pair.base.schema)
    except InvalidParameter:
        return params
    return chosen


def _replays(paper: Paper, params: Any, pair: Pair, seed: np.random.Generator) -> tuple[Transcript, Transcript]:
    def train(records: Any, curator: Any) -> Any:
        return paper.train(params, records, curator)

    transcript, _ = run(train, pair.first(), source_for(params, seed), pair.relation)
    present = ReplaySource(transcript, RecordSwap(pair.position, pair.position, late=True))
    absent = ReplaySource(transcript, RecordSwap(pair.position, None, late=True))
    return run(train, pair.first(), present, pair.relation)[0], run(train, pair.base, absent, pair.relation)[0]


def spent(present: Transcript, absent: Transcript) -> dict[str, list[float]]:
    """t of each round, of each score by its name: half the squared change in standard deviations of the noise."""
    rounds: dict[str, list[float]] = {}
    for entry, other in zip(present.entries, absent.entries, strict=True):
        mechanism = entry.request.mechanism
        if entry.request.path[-1] != "leaves" or mechanism is None or entry.value is None or other.value is None:
            continue
        change = mechanism.observed_change(entry.value, other.value, "whitened")
        rounds.setdefault(entry.request.path[0], []).append(change * change / 2)
    return rounds


def _compared(params: Any, pair: Pair, rounds: dict[str, list[float]], ledger: Ledger) -> list[Violation]:
    """At every order: against the budget of each score; and all scores together, as an epsilon, against the claim."""
    schema = pair.base.schema
    budget, total = params.budget(schema), None
    found = []
    for score, costs in rounds.items():
        by_round = _costs(budget, params.subsample, np.array(costs))
        own = np.array([math.fsum(row) for row in by_round])
        total = own if total is None else total + own
        shares = own / budget.spendable
        worst = int(np.argmax(shares))
        ledger.most = max(ledger.most, float(shares[worst]))
        if shares[worst] > 1 + TOLERANCE:
            witness = {"order": float(budget.orders[worst]), "costs": list(costs), **pair.witness()}
            found.append(Violation("filter", f"{score}/leaves", float(budget.spendable[worst]), float(own[worst]),
                                   None, "sgbdt/filter", witness))  # fmt: skip
        took = np.flatnonzero(costs)
        if len(took) and took[-1] + 1 < len(costs):
            after = (own + by_round[:, took[-1]]) / budget.spendable
            ledger.refused.append(float(max(0.0, 1 - 1 / max(1.0, float(after.max())))))
    if total is None:
        return found
    shared = getattr(params, "orders", "one") == "shared"
    claimed = params.epsilon if shared else params.epsilon * (1 - params.initial_share)
    for charge in params.initial_charges(schema) if shared and params.initial_share else ():
        cost = [charge.mechanism.renyi_cost(charge.declared, order) for order in budget.orders]
        total = total + schema.scores * np.array(cost)
    epsilon = float(conversion.epsilons(budget.orders, total, params.delta).min())
    if epsilon > claimed * (1 + TOLERANCE):
        found.append(Violation("filter", "whole run", claimed, epsilon, None, "sgbdt/filter", pair.witness()))
    return found


def _costs(budget: Budget, rate: float, t: Floats) -> Floats:
    """a(alpha, gamma, t), shape (orders, rounds)."""
    return np.array([tabulated(int(order), rate, t) for order in budget.orders])


def _with_params(found: Iterable[Violation], params: Any) -> list[Violation]:
    return [replace(one, witness={**one.witness, "params": asdict(params)}) for one in found]
