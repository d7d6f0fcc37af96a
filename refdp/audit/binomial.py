"""Exact bounds from counts: Clopper and Pearson's, and a bet on pairs of runs. No normal approximation anywhere.

Both bound epsilon in p <= exp(epsilon) q + delta from below, where p and q are the chances of one event under two
neighbours. Whichever is used has to be decided without looking at the counts that it is applied to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special, stats

Floats = NDArray[np.float64]


def at_least(count: ArrayLike, runs: int, error: float) -> Floats:
    """Lower bound of a chance seen `count` times in `runs` independent runs; wrong with probability at most `error`.

    Clopper and Pearson 1934: the `error` quantile of Beta(count, runs - count + 1), 0 for count 0.
    """
    seen = np.asarray(count, dtype=np.float64)
    bound = stats.beta.ppf(error, np.maximum(seen, 1), runs - seen + 1)
    return np.where(seen == 0, 0.0, bound)


def at_most(count: ArrayLike, runs: int, error: float) -> Floats:
    """Upper bound of a chance seen `count` times in `runs` runs; wrong with probability at most `error`."""
    seen = np.asarray(count, dtype=np.float64)
    bound = stats.beta.isf(error, seen + 1, np.maximum(runs - seen, 1))
    return np.where(seen == runs, 1.0, bound)


@dataclass(frozen=True)
class Counts:
    """How often an event happened in pairs of runs, one on each side: on both, the first alone, the second alone."""

    both: int
    first: int
    second: int
    runs: int

    @property
    def on_first(self) -> int:
        """Runs on the first side in which the event happened."""
        return self.both + self.first

    @property
    def on_second(self) -> int:
        """Runs on the second side in which the event happened."""
        return self.both + self.second


def count_pairs(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> Counts:
    """Counts of two masks of equal length."""
    both = int(np.count_nonzero(first & second))
    return Counts(both, int(np.count_nonzero(first)) - both, int(np.count_nonzero(second)) - both, len(first))


def clopper_pearson(counts: Counts, delta: float, error: float) -> float:
    """log((p - delta) / q), p from below and q from above with error/2 each; 0 if that is negative or p <= delta."""
    low = float(at_least(counts.on_first, counts.runs, error / 2)) - delta
    high = float(at_most(counts.on_second, counts.runs, error / 2))
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


@dataclass(frozen=True)
class Block:
    """Pairs of runs that were bet on at one rate, fixed before they were made."""

    counts: Counts
    bet: float


def stake(expected: Counts, delta: float, error: float, claimed: float | None) -> float:
    """The bet in (0, 1) that gains most if runs turn out as expected: against the claim, or else for the best bound.

    Any number in (0, 1) is allowed, as long as it does not come from the runs that are bet on.
    """
    bets = [float(bet) for bet in np.geomspace(1e-6, 0.999, 140)]
    if claimed is not None and math.isfinite(claimed):
        return max(bets, key=lambda bet: wealth([Block(expected, bet)], claimed, delta))
    return max(bets, key=lambda bet: betting([Block(expected, bet)], delta, error))


def betting(blocks: Sequence[Block], delta: float, error: float) -> float:
    """Lower bound of epsilon by bets; all bounds after any number of blocks hold together but with chance `error`.

    If p <= e^epsilon q + delta for every event, then prod(1 + bet (X - e^epsilon Y - delta)) over pairs of runs, X and
    Y telling whether the block's event happened on the first and on the second side, is a non-negative supermartingale
    that starts at 1, so it ever reaches 1/error with probability at most `error` (Ville 1939; Waudby-Smith and Ramdas
    2024). Event, direction and bet of a block may depend on all earlier runs. The wealth decreases in epsilon; the
    bound is where it is 1/error.
    """
    needed = -math.log(error)
    top = math.log((1 - 1e-9) / max(block.bet for block in blocks) - delta) if blocks else 0.0
    if top <= 0 or wealth(blocks, 0.0, delta) < needed:  # beyond top, one pair could cost more than there is
        return 0.0
    if wealth(blocks, top, delta) >= needed:
        return top
    root = optimize.brentq(lambda epsilon: wealth(blocks, epsilon, delta) - needed, 0.0, top, xtol=1e-9)
    return max(0.0, float(root) - 1e-8)


def wealth(blocks: Sequence[Block], epsilon: float, delta: float) -> float:
    """Log of the wealth after all blocks, if the bets are against this epsilon; -inf where a bet is not allowed."""
    price, total = math.exp(epsilon), 0.0
    for block in blocks:
        counts, bet = block.counts, block.bet
        if bet * (price + delta) >= 1:
            return -math.inf
        neither = counts.runs - counts.both - counts.first - counts.second
        gains = ((counts.both, 1 - price), (counts.first, 1.0), (counts.second, -price), (neither, 0.0))
        total += float(sum(special.xlog1py(number, bet * (gain - delta)) for number, gain in gains))
    return total
