"""Lower bounds of epsilon by bets on pairs of runs, one on each side: exact, and valid at all looks together.

A bet is that an event happens more often on one side than epsilon allows. Mostly another event is rarer there by as
much (noise leans to one side, and away from the other): then both are bet on at once, each pair of runs tells about
both, and fewer runs are needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

WAYS = 2
"""Most directions that one bet is on: an event likelier on the first side, and one likelier on the second."""
_GAINED, _PAID = np.indices((WAYS + 1, WAYS + 1))
BETS = np.geomspace(1e-6, 0.999, 140)
"""Bets that are tried. Any number in (0, 1) is allowed that does not come from the runs that are bet on."""
LARGEST = 700.0
"""Greatest epsilon of which the exponential is a float; no bet is allowed against it, nor against a greater one."""


@dataclass(frozen=True)
class Block:
    """Pairs of runs that were bet on alike, in a way fixed before they were made.

    table: shape (WAYS + 1, WAYS + 1); at [a, b] the number of pairs in which a events happened where they are likelier,
        and b happened where they are not.
    ways: how many events, one or two.
    """

    table: Floats
    bet: float
    ways: int = 1


def tally(gained: Sequence[Mask], paid: Sequence[Mask]) -> Floats:
    """A block's table from a mask of pairs for each event: whether it happened where it is likelier, and where not.

    Masks of shape (pairs,), one for each event; table of shape (WAYS + 1, WAYS + 1), counts of pairs by both.
    """
    cells = np.sum(gained, axis=0) * (WAYS + 1) + np.sum(paid, axis=0)
    return np.bincount(cells, minlength=(WAYS + 1) ** 2).reshape(_PAID.shape).astype(np.float64)


@dataclass(frozen=True)
class Chances:
    """Chances on one side: of the event that is likelier there, of the one that is not, and of both."""

    gain: float
    pay: float
    both: float = 0.0

    @property
    def joint(self) -> Floats:
        """Shape (2, 2), indexed by gained and paid."""
        both = min(max(self.both, self.gain + self.pay - 1), self.gain, self.pay)
        return np.array([[1 - self.gain - self.pay + both, self.pay - both], [self.gain - both, both]])


def expected(first: Chances, second: Chances, pairs: int) -> Floats:
    """The table that pairs of runs would give if these were the chances. The table has the shape of `tally`."""
    table = np.zeros(_PAID.shape)
    for gained, paid in np.ndindex(2, 2):
        table[gained : gained + 2, paid : paid + 2] += first.joint[gained, paid] * second.joint
    return pairs * table


def stake(table: Floats, ways: int, delta: float, error: float, claimed: float | None) -> Block:
    """The bet that gains most if the pairs turn out like this table: against the claim, or else for the best bound.

    table: shape as of `tally`.
    """
    blocks = [Block(table, float(bet), ways) for bet in BETS / ways]
    return max(blocks, key=lambda block: promise(block, delta, error, claimed))


def promise(block: Block, delta: float, error: float, claimed: float | None) -> float:
    """What a block gains: the log of its wealth against the claim, or the bound where there is no claim."""
    if claimed is not None and math.isfinite(claimed):
        return wealth([block], claimed, delta)
    return bound([block], delta, error)


def bound(blocks: Sequence[Block], delta: float, error: float) -> float:
    """Lower bound of epsilon by bets; all bounds after any number of blocks hold together but with chance `error`.

    If p <= e^epsilon q + delta for every event and both directions, then prod(1 + bet (X - e^epsilon Y - ways delta))
    over pairs of runs, X counting the block's events on the sides where they are likelier and Y on the others, is a
    non-negative supermartingale that starts at 1, so it ever reaches 1/error with probability at most `error` (Ville
    1939; Waudby-Smith and Ramdas 2024). Events, directions and bet of a block may depend on all earlier runs. The
    wealth decreases in epsilon; the bound is where it is 1/error.
    """
    needed = -math.log(error)
    top = math.log((1 - 1e-9) / max(block.bet * block.ways for block in blocks) - delta) if blocks else 0.0
    if top <= 0 or wealth(blocks, 0.0, delta) < needed:  # beyond top, one pair could cost more than there is
        return 0.0
    if wealth(blocks, top, delta) >= needed:
        return top
    root = optimize.brentq(lambda epsilon: wealth(blocks, epsilon, delta) - needed, 0.0, top, xtol=1e-9)
    return max(0.0, float(root) - 1e-8)


def wealth(blocks: Sequence[Block], epsilon: float, delta: float) -> float:
    """Log of the wealth after all blocks, if the bets are against this epsilon; -inf where a bet is not allowed."""
    price, total = math.exp(min(epsilon, LARGEST)), 0.0
    for block in blocks:
        if block.bet * block.ways * (price + delta) >= 1:
            return -math.inf
        played = block.table > 0
        gains = (_GAINED - price * _PAID - block.ways * delta)[played]
        total += float(special.xlog1py(block.table[played], block.bet * gains).sum())
    return total
