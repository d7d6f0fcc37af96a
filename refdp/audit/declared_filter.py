"""An individual filter of somebody's own trainer, declared, and held against what audited records really spent.

Where everything that a trainer releases costs more than its claim, a filter may keep the claim: each record takes part
while its own spending stays within a budget (Feldman and Zrnic 2021, Theorem 4.5). That budget is in the trainer's code
and nowhere in its releases, so it has to be told: an order, a budget, and which releases it is about. Spending is then
recomputed from the record's own contributions, by replays with it and without it; nothing of the trainer's accounts is
believed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from refdp.accounting import account, conversion
from refdp.accounting.divergence import renyi
from refdp.accounting.individual import tabulated
from refdp.accounting.sampling import poisson_gaussian
from refdp.audit.charge import Item, whole_event
from refdp.audit.replay import SLACK, Pair, Violation
from refdp.audit.verdicts import Row, Verdict
from refdp.checks import check_number
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteGaussian, Gaussian
from refdp.privacy.curator import Transcript
from refdp.privacy.events import (
    Event,
    Parallel,
    Partition,
    Plan,
    Relation,
    Release,
    Repeat,
    Sequential,
    Subsample,
    children,
    releases,
)

TOLERANCE = 1e-6
"""Relative: books are rounded up, what is observed is rounded."""
FINE = 2
"""A discrete Gaussian costs what the Gaussian does where its deviation is so many steps at least, but for 1e-30."""
HINT = "filters=(Filter(order, budget, releases),), on the command line --filter ORDER:BUDGET[:RELEASES]"


@dataclass(frozen=True)
class Filter:
    """What a trainer's filter lets one record spend, whatever it holds.

    order: of the Rényi divergence, above 1; infinity for losses that add up. budget: at that order, in nats, of all
    releases together whose name contains `releases`, every one by default. Samples count as amplified. Filters that
    need room at several orders are declared once for each.
    Errors: InvalidParameter outside of these domains.
    """

    order: float
    budget: float
    releases: str = ""

    def __post_init__(self) -> None:
        if self.order != math.inf:
            check_number("filter: order", self.order, above=1)
        check_number("filter: budget", self.budget, least=0)
        if not isinstance(self.releases, str):
            raise InvalidParameter(f"filter: releases = {self.releases!r}: a part of their names is needed")

    def __str__(self) -> str:
        about = f" on {self.releases!r}" if self.releases else ""
        return f"{self.budget:.6g} of order {self.order:g}{about}"

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        order = self.order if math.isfinite(self.order) else "inf"
        return {"order": order, "budget": self.budget, "releases": self.releases}


def read(text: str) -> Filter:
    """ORDER:BUDGET or ORDER:BUDGET:RELEASES. Errors: InvalidParameter."""
    order, _, rest = text.partition(":")
    budget, _, releases = rest.partition(":")
    try:
        return Filter(float(order), float(budget), releases)
    except ValueError:
        raise InvalidParameter(f"--filter {text!r}: ORDER:BUDGET[:RELEASES] is allowed, as 12:0.05:leaves") from None


@dataclass
class Spent:
    """What the audited records spent of one filter's budget.

    runs: audited records with any such release. most: the largest share that one spent. refused: of each that took no
    part in the last releases, by how much its costs would have to be understated to let it into one more.
    unclear: of whom only an upper bound is known, and that is above the budget.
    """

    declared: Filter
    runs: int = 0
    most: float = 0.0
    refused: list[float] = field(default_factory=list)
    unclear: int = 0

    def add(self, present: Transcript, absent: Transcript, pair: Pair) -> list[Violation]:
        """Two replays of one run, with the audited record and without it; the violation, if there is one."""
        rounds = _rounds(self.declared.releases, present, absent)
        if not rounds:
            return []
        self.runs += 1
        costs = [_cost(moved, self.declared.order, pair.relation) for _, moved in rounds]
        lower, upper = (math.fsum(cost[end] for cost in costs) for end in (0, 1))
        budget = self.declared.budget
        self.most = max(self.most, lower / budget if budget else (math.inf if lower else 0.0))
        if lower > budget * (1 + TOLERANCE) + SLACK**2:
            witness = {"detail": f"spent of {self.declared}", "costs": [cost for cost, _ in costs], **pair.witness()}
            return [Violation("filter", rounds[_first_above(costs, budget)][0], budget, lower, None, "", witness)]
        self.unclear += upper > budget * (1 + TOLERANCE) + SLACK**2
        took = [place for place, (_, moved) in enumerate(rounds) if moved]
        if took and took[-1] + 1 < len(rounds):
            going_on = upper + costs[took[-1]][1]
            self.refused.append(max(0.0, 1 - budget / going_on) if going_on else 0.0)
        return []

    def row(self) -> Row:
        """As a line about the composition, which the filter has to keep."""
        if self.unclear:
            return Row("composition", Verdict.NOT_EXAMINED, f"filter {self.declared}: of {self.unclear} records "
                       "only an upper bound of their spending is known, which is above it; exact are Gaussian noise, "
                       "sampled too, and all noise outside samples")  # fmt: skip
        if not self.refused:
            return Row("composition", Verdict.NOT_EXAMINED, f"filter {self.declared}: none of {self.runs} audited "
                       f"records spent it ({100 * self.most:.3g}% at most), so that it refused nobody; more rounds, or "
                       "dearer ones, would show it at work")  # fmt: skip
        return Row(
            "composition", Verdict.NOT_FOUND,
            f"filter {self.declared}: of {self.runs} audited records the spending was recomputed from their own "
            f"contributions: {self.most:.6g} of it at most, {len(self.refused)} had to leave",
            f"a cost understated by {max(100 * min(self.refused), 1e-4):.2g}%",
        )  # fmt: skip


def shares(filters: Iterable[Filter], present: Transcript, absent: Transcript, pair: Pair) -> dict[str, float]:
    """The share of each budget that the audited record spent: what a search over contents makes larger."""
    found = {}
    for one in filters:
        spent = Spent(one)
        spent.add(present, absent, pair)
        found[f"filter {one}"] = spent.most
    return found


def established(filters: Sequence[Filter], event: Event, relation: Relation, delta: float) -> float:
    """The epsilon at delta that the budgets and the declared costs of all other releases give together.

    Infinite where releases that share secret coins, of one sample or one partition, are not under one filter: what they
    cost apart does not add up to what they cost together.
    """
    if not _apart(event, {one.releases for one in filters}):
        return math.inf
    plan = Plan(relation, _others(event, tuple(one.releases for one in filters)))
    about = {one.releases for one in filters}
    pure: float = account(plan, delta=0.0, both=False).epsilon
    best = math.inf
    for order in {one.order for one in filters}:
        own = {one.releases: one.budget for one in filters if one.order == order}
        if own.keys() != about:
            continue
        budget = math.fsum(own.values())
        if order == math.inf:
            best = min(best, budget + account(plan, delta=delta).epsilon)
        elif delta > 0:
            orders = np.array([order])
            joint = conversion.epsilons(orders, budget + renyi(plan, orders), delta)
            alone = conversion.epsilons(orders, np.array([budget]), delta)
            best = min(best, float(joint[0]), pure + float(alone[0]))
    return best


def _rounds(releases: str, present: Transcript, absent: Transcript) -> list[tuple[str, list[Item]]]:
    """The covered releases, those of one outermost scope together: name of the first, and what the record moved.

    They share that scope's secret coins wherever they come in the run, so that their costs do not add up. In order of
    the last release of each.
    """
    found: dict[tuple[str, int], tuple[str, list[Item]]] = {}
    for place, (entry, other) in enumerate(zip(present.entries, absent.entries, strict=True)):
        request = entry.request
        covered = request.mechanism is not None and releases in request.name
        if not covered or entry.value is None or other.value is None:
            continue
        key = ("scope", entry.scopes[0].serial) if entry.scopes else ("alone", place)
        found[key] = found.pop(key, (request.name, list[Item]()))
        moved = found[key][1]
        if not np.array_equal(entry.value, other.value):
            moved.append(Item(request.mechanism, entry.value, other.value, entry.scopes))
    return list(found.values())


def _cost(items: Sequence[Item], order: float, relation: Relation) -> tuple[float, float]:
    """Lower and upper bound of the divergence at that order, of releases in one outermost scope; equal where exact.

    The lower one is of the Gaussian noise in one sample and no further scope: a part costs no more than the whole.
    """
    if not items:
        return 0.0, 0.0
    if not items[0].scopes:
        exact = math.fsum(max(_alone(one, order), _alone(_turned(one), order)) for one in items)
        return exact, exact
    part = [one for one in items if _sampled(one)] if order != math.inf else []
    lower = _of_sample(part, order) if part else 0.0
    if len(part) == len(items):
        return lower, lower
    plan = Plan(relation, whole_event(items, relation))
    upper = (
        account(plan, delta=0.0, both=False).epsilon if order == math.inf else float(renyi(plan, np.array([order]))[0])
    )
    return lower, max(lower, upper)


def _sampled(item: Item) -> bool:
    """Whether it is Gaussian noise in a Poisson sample and in no other scope."""
    scopes = item.scopes
    alone = len(scopes) == 1 and scopes[0].kind == "subsample" and scopes[0].method == "poisson"
    return alone and _as_gaussian(item)


def _of_sample(items: Sequence[Item], order: float) -> float:
    """The divergence of Gaussian releases in one Poisson sample together."""
    t = math.fsum(float(one.mechanism.observed_change(one.value, one.other, "whitened")) ** 2 for one in items) / 2
    rate = float(items[0].scopes[0].weights[0])
    if order == int(order):
        return float(tabulated(int(order), rate, np.array([t]))[0])
    return float(poisson_gaussian(rate, 1 / math.sqrt(2 * t), np.array([order]))[0])


def _alone(item: Item, order: float) -> float:
    if order == math.inf:
        return float(np.sum(item.mechanism.worst_loss(item.value, item.other)))
    return float(item.mechanism.divergence(item.value, item.other, order))


def _turned(item: Item) -> Item:
    return replace(item, value=item.other, other=item.value)


def _as_gaussian(item: Item) -> bool:
    law = item.mechanism
    if isinstance(law, DiscreteGaussian):
        return bool(np.min(np.asarray(law.sd, dtype=np.float64)) >= FINE * law.step)
    return isinstance(law, Gaussian)


def _first_above(costs: Sequence[tuple[float, float]], budget: float) -> int:
    """The round with which the budget was exceeded."""
    so_far = np.cumsum([lower for lower, _ in costs])
    place = int(np.searchsorted(so_far, budget * (1 + TOLERANCE), side="right"))
    return min(place, len(costs) - 1)


def _apart(event: Event, about: Iterable[str]) -> bool:
    """Whether of each outermost scope of secret coins a filter is about all releases, or none about any."""
    if not isinstance(event, Subsample | Partition):
        return all(_apart(child, about) for child in children(event))
    names = [one.name for one in releases(event)]
    return not any(part in name for part in about for name in names) or any(
        all(part in name for name in names) for part in about
    )


def _others(event: Event, covered: tuple[str, ...]) -> Event:
    """The event without the releases that a filter is about."""
    match event:
        case Release():
            return Sequential(()) if any(part in event.name for part in covered) else event
        case Sequential(events) | Parallel(events):
            return type(event)(tuple(_others(one, covered) for one in events))
        case Partition(_, events):
            return replace(event, events=tuple(_others(one, covered) for one in events))
        case Repeat(inner) | Subsample(_, inner):
            return replace(event, event=_others(inner, covered))
