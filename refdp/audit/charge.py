"""What a pair of neighbours was seen to cost, by refdp's own accountant: an enclosure of delta at the claimed epsilon.

The two true values of a release give the pair of output distributions exactly. It is enclosed by two events: `below`
costs at most that pair, `above` at least. Every coordinate of Laplace noise is a release of its own; Gaussian noise is
the whitened length of the change; a choice is, from above, of the range of the change of its utilities, and from below
a question with two answers, the best one, degraded to randomised response and that to Laplace noise. A mechanism of
somebody else costs, from above, what it supplies; from below nothing is known of it.

Changes are those along one recorded run: with adaptive programs the enclosure is of the composition along that path.
`least` keeps what runs of one pair have in common: if no run changes a release by less, the whole costs no less.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from refdp.accounting import account
from refdp.accounting.pairs import NoPair
from refdp.errors import InvalidParameter, RelationMismatch
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import Array, ScopeRef
from refdp.privacy.events import (
    Event,
    Norm,
    Partition,
    Plan,
    Relation,
    Release,
    Sensitivity,
    Sequential,
    Subsample,
    children,
)

DIGITS = 4
"""Changes are rounded to so many digits, down for `below` and up for `above`, so that equal ones are counted."""
LARGEST = 500.0
"""A greater loss of one release counts as this from below."""
PATHS = 5
"""A composition with a delta is accused of what so many runs of one pair, recorded anew, have in common."""
Key = tuple[str, int]
"""A release: its name, and how often that came before."""


@dataclass(frozen=True)
class Item:
    """One release of which the true values differ. scopes: outermost first."""

    mechanism: Any
    value: Array
    other: Array
    scopes: tuple[ScopeRef, ...] = ()


@dataclass(frozen=True)
class Cost:
    """lower <= delta at the claimed epsilon <= upper; of the pair along the recorded path."""

    lower: float
    upper: float


def composed(items: Sequence[Item], relation: Relation, epsilon: float, delta: float) -> Cost:
    """The enclosure of delta(epsilon). delta: the claimed one; the costly methods run where quick ones exceed it."""
    coarse, above = (
        _folded([(item, _event(item, relation, up=True, digits=digits)) for item in items]) for digits in (2, DIGITS)
    )
    upper = 1.0
    for event, quick in ((above, True), (coarse, False), (above, False)):
        upper = min(upper, _delta(event, relation, epsilon, quick=quick)[1])
        if upper <= delta:
            return Cost(0.0, upper)
    lower = _exceeding(items, relation, epsilon, delta)
    return Cost(min(lower, upper), upper)


def numbered(names: Iterable[str]) -> list[Key]:
    """Releases by name and how often that came before: the same ones in runs that ask for others, too."""
    count: Counter[str] = Counter()
    keys = []
    for name in names:
        keys.append((name, count[name]))
        count[name] += 1
    return keys


def least(paths: Sequence[Mapping[Key, Item]]) -> list[Item]:
    """Of every release that changes along all recorded runs of a pair the least change. paths: items by release.

    A release that costs at least a fixed pair of distributions whatever came before can be degraded to that pair (Dong,
    Roth, Su 2022, Theorem 3.2), so that the composition of these pairs costs no more than the adaptive program; that no
    other run changes less is what the runs are a sample of.
    """
    first, *others = paths
    found = []
    for key, item in first.items():
        again = [path[key] for path in others if key in path]
        if len(again) == len(others) and all(
            (one.mechanism, one.scopes) == (item.mechanism, item.scopes) for one in again
        ):
            found.append(_smallest([item, *again]))
    return found


def _smallest(items: Sequence[Item]) -> Item:
    """One release's least change: coordinate by coordinate in order of size, or whole where it is not so charged."""
    one = items[0]
    moved = [np.abs(np.asarray(item.value, dtype=np.float64) - np.asarray(item.other, dtype=np.float64)).ravel()
             for item in items]  # fmt: skip
    if all(np.array_equal(each, moved[0]) for each in moved):
        return one
    if isinstance(one.mechanism, Laplace | DiscreteLaplace):
        length = max(len(each) for each in moved)
        sizes = [np.sort(np.pad(each, (0, length - len(each)))) for each in moved]
        change = np.min(sizes, axis=0)
        return Item(one.mechanism, np.zeros(length), change, one.scopes)
    return min(items, key=lambda item: float(item.mechanism.divergence(item.value, item.other, 2.0)))


def whole_event(items: Sequence[Item], relation: Relation) -> Event:
    """All releases in their scopes, each at the observed change or slightly more: an upper end."""
    return _folded([(item, _event(item, relation, up=True)) for item in items])


def _exceeding(items: Sequence[Item], relation: Relation, epsilon: float, delta: float) -> float:
    """delta(epsilon) from below: of the first releases alone, twice as many each time, until it exceeds `delta`.

    To leave releases out is post-processing: a part of a run costs no more than the run.
    """
    events = [(item, _event(item, relation, up=False)) for item in items]
    count, lower = 1, 0.0
    while True:
        lower = max(lower, _delta(_folded(events[:count]), relation, epsilon, quick=False)[0])
        if lower > delta or count >= len(events):
            return lower
        count *= 2


def _delta(event: Event, relation: Relation, epsilon: float, quick: bool) -> tuple[float, float]:
    if _crossed(event, relation):
        return 0.0, 1.0
    try:
        bound = account(Plan(relation, event), epsilon=epsilon, quick=quick)
    except (NoPair, RelationMismatch, InvalidParameter):
        return 0.0, 1.0
    return bound.lower, bound.upper


def _crossed(event: Event, relation: Relation) -> bool:
    """Whether a sample is inside whose worst case is about outputs that a run between two data sets does not show."""
    amplified = "poisson" if relation is Relation.ADD_REMOVE else "without-replacement"
    if isinstance(event, Subsample) and event.method != amplified:
        return True
    return any(_crossed(child, relation) for child in children(event))


def _event(item: Item, relation: Relation, up: bool, digits: int = DIGITS) -> Event:
    """One release's change as an event of known sensitivity."""

    def release(mechanism: Any, change: float, norm: Any) -> Release:
        bound = _rounded(min(change, LARGEST * 1e6) if not up else change, up, digits)
        return Release("", mechanism, Sensitivity(bound, norm, "observed", relation))

    mechanism, value, other = item.mechanism, item.value, item.other
    moved = np.abs(np.asarray(value, dtype=np.float64) - np.asarray(other, dtype=np.float64))
    match mechanism:
        case Laplace() | DiscreteLaplace():
            return Sequential(tuple(release(mechanism, float(one), 1) for one in moved.ravel() if one > 0))
        case Gaussian():
            norm: Norm = "whitened" if isinstance(mechanism.sd, tuple) else 2
            return release(mechanism, mechanism.observed_change(value, other, norm), norm)
        case DiscreteGaussian(sd, step):
            sds = np.broadcast_to(np.asarray(sd, dtype=np.float64), moved.shape)
            alone = [(float(one), float(s)) for one, s in zip(moved.ravel(), sds.ravel(), strict=True) if one > 0]
            return Sequential(tuple(release(DiscreteGaussian(s, step), one, 1) for one, s in alone))
        case Exponential():
            if up:
                return release(mechanism, mechanism.observed_change(value, other, "range"), "range")
            return Sequential(tuple(release(Laplace(1.0), one, 1) for one in _questions(mechanism, value, other)))
    if not up:  # what a mechanism of somebody else supplies is an upper bound
        return Sequential(())
    norms: tuple[Norm, ...] = (1, 2, "range", "whitened")
    for norm in norms:
        with suppress(InvalidParameter):
            return release(mechanism, mechanism.observed_change(value, other, norm), norm)
    raise InvalidParameter(f"{mechanism!r}: it knows no norm of a change")


def _questions(mechanism: Exponential, value: Array, other: Array) -> list[float]:
    """Per row the epsilon of the randomised response that the likeliest difference can be degraded to."""
    options = range(np.shape(value)[1])
    p, q = (
        np.exp(np.stack([mechanism.log_density(side, np.full(len(side), option)) for option in options], axis=1))
        for side in (value, other)
    )
    likelier = p > q
    yes, as_yes = (np.where(likelier, side, 0.0).sum(axis=1) for side in (p, q))
    no, as_no = (np.where(likelier, 0.0, side).sum(axis=1) for side in (p, q))
    with np.errstate(divide="ignore", invalid="ignore"):  # of equal rows nothing is likelier
        false = np.where(yes + as_yes <= 1, no / (no + as_no), as_yes / (yes + as_yes))  # the ROC meets y = 1 - x
        found = np.log1p(-false) - np.log(false)
    return [float(min(one, LARGEST)) * (1 - 1e-9) for one in found if one > 1e-12]


def _rounded(number: float, up: bool, digits: int) -> float:
    if number == 0 or not math.isfinite(number):
        return number
    scale = 10.0 ** (digits - 1 - math.floor(math.log10(number)))
    found = (math.ceil if up else math.floor)(number * scale * (1 - 1e-12 if up else 1 + 1e-12)) / scale
    return float(found) if abs(found - number) > 1e-9 * number else number


def _folded(items: Iterable[tuple[Item, Event]], level: int = 0) -> Event:
    """The events inside their scopes."""
    parts: list[Event] = []
    scopes: dict[int, list[tuple[Item, Event]]] = {}
    for item, event in items:
        if len(item.scopes) <= level:
            parts.append(event)
        else:
            scopes.setdefault(item.scopes[level].serial, []).append((item, event))
    for inside in scopes.values():
        scope = inside[0][0].scopes[level]
        blocks = [
            _folded([(item, event) for item, event in inside if item.scopes[level].block == block], level + 1)
            for block in range(len(scope.weights))
        ]
        parts.append(
            Subsample(scope.weights[0], blocks[0], scope.method)
            if scope.kind == "subsample"
            else Partition(scope.weights, tuple(blocks))
        )
    return Sequential(tuple(parts))
