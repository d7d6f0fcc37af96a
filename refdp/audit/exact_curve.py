"""The exact trade-off curve of one release between two neighbours: what its best test can achieve, without sampling.

A choice has finitely many outcomes, whose chances are known on both sides. Laplace and Gaussian noise is cut into
cells by the privacy loss, with the exact chance of each cell on both sides: to tell cells apart is a test as well, so
that the curve of the cells never shows more than the release reveals, and misses less than a cell's width of loss.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from refdp.accounting.pairs import DiscreteLaplacePair, DominatingPair, GaussianPair, LaplacePair
from refdp.audit.replay import Change, Pair, Trainer, changes, run
from refdp.audit.worst import Chosen, worst_transcript
from refdp.errors import ImpossibleReplay
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace

Floats = NDArray[np.float64]

CELLS = 2000
"""Most outcomes kept, but for a few; a cell is 1/2000 of the range of the loss wide."""


class Outcomes(NamedTuple):
    """Chance of each outcome on the first and on the second side."""

    first: Floats
    second: Floats

    def merged(self) -> Outcomes:
        """With outcomes of nearly equal loss as one, at most about CELLS of them."""
        if len(self.first) <= CELLS:
            return self
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.log(self.first) - np.log(self.second)
        finite = np.isfinite(loss)
        low, span = (float(loss[finite].min()), float(np.ptp(loss[finite]))) if finite.any() else (0.0, 0.0)
        cell = np.where(self.first > 0, CELLS + 2, 0)  # what one side alone can have, at either end
        cell[finite] = 1 + np.round((loss[finite] - low) * (CELLS / span if span else 0.0)).astype(np.int64)
        masses = (np.asarray(np.bincount(cell, mass, CELLS + 3), np.float64) for mass in self)
        first, second = masses
        kept = (first > 0) | (second > 0)
        return Outcomes(first[kept], second[kept])

    def times(self, other: Outcomes) -> Outcomes:
        """Both outcomes together, from independent noise."""
        both = (np.outer(a, b).ravel() for a, b in zip(self, other, strict=True))
        return Outcomes(*both).merged()

    def curve(self) -> tuple[Floats, Floats]:
        """False alarms (first called second) and misses of the best tests: corners of the convex curve from (0, 1).

        Shape (corners,) each.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(np.log(self.first) - np.log(self.second), kind="stable")
        alarms, hits = (np.minimum(np.cumsum(np.append(0.0, mass[order])), 1.0) for mass in self)
        return alarms, 1 - hits


def outcomes(change: Change) -> Outcomes | None:
    """The outcomes of a release whose true values differ; None for noise whose law is not cut into cells here."""
    mechanism, found = change.mechanism, Outcomes(np.ones(1), np.ones(1))
    if isinstance(mechanism, Exponential):
        for row, other in zip(change.value, change.other, strict=True):
            tables = (np.tile(one, (len(one), 1)) for one in (row, other))
            with np.errstate(all="ignore"):
                found = found.times(
                    Outcomes(*(np.exp(mechanism.log_density(table, np.arange(len(row)))) for table in tables))
                )
        return found
    if isinstance(mechanism, Gaussian):
        mu = math.sqrt(mechanism.divergence(change.value, change.other, 2.0))  # of order 2 it is mu^2
        return _cells(GaussianPair(mu))
    if not isinstance(mechanism, (Laplace, DiscreteLaplace)):
        return None
    for loss in np.ravel(mechanism.worst_loss(change.value, change.other)):
        if loss > 0:
            found = found.times(_cells(_pair(mechanism, float(loss))))
    return found


def _pair(mechanism: Laplace | DiscreteLaplace, loss: float) -> DominatingPair:
    if isinstance(mechanism, Laplace):
        return LaplacePair(loss)
    rate = mechanism.step / mechanism.scale
    return DiscreteLaplacePair(rate, round(loss / rate))


def _cells(pair: DominatingPair) -> Outcomes:
    """The chances between thresholds of the loss, both atoms at the ends by themselves."""
    low, high = pair.bounds
    cuts = np.unique(np.append(np.linspace(low, high, CELLS // 2), np.nextafter(high, low)))
    tails = pair.tails(cuts)
    masses = (np.diff(below, prepend=0.0) for below in (tails.below, tails.below_q))
    first, second = (np.append(np.maximum(mass, 0.0), max(0.0, 1 - mass.sum())) for mass in masses)
    return Outcomes(first, second)


def exact_change(train: Trainer, pair: Pair, release: str) -> Change | None:
    """The release of this name along a worst transcript of the pair; without one, that of the greatest loss.

    None where none differs, or where the two runs cannot be replayed on each other.
    """
    found: list[tuple[bool, float, Change]] = []
    for reverse in (False, True):
        try:
            outputs = worst_transcript(train, pair, reverse=reverse)
        except ImpossibleReplay:
            continue
        sides = [run(train, one, Chosen(outputs), pair.relation)[0] for one in (pair.first(), pair.second())]
        for change in changes(*sides):
            worst = max(change.forward, change.backward)
            found.append((change.entry.request.name == release, worst, change))
    return max(found, key=lambda one: one[:2])[2] if found else None


def charged(change: Change) -> tuple[str, Any] | None:
    """What is declared, as ("epsilon", cost) or ("mu", cost) of the curve that may not be undercut; None if neither."""
    mechanism = change.mechanism
    cost = mechanism.pure_cost(change.declared)
    if math.isfinite(cost):
        return "epsilon", cost
    if isinstance(mechanism, Gaussian):
        return "mu", math.sqrt(mechanism.renyi_cost(change.declared, 2.0))
    return None
