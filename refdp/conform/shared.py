"""Secret draws that the public ones give: two generators of one seed, of which one is published.

Each draw, secret or public, is an interval of [0, 1): of the uniform numbers that give it by the inverse of its
distribution function. A bet that a secret draw has a public draw's number wins the part of the public interval that is
in the secret one, over the secret one's chance: of mean 1 at most, whichever of the two comes first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from refdp.conform.copied import LEAST, WIDTH
from refdp.conform.drawn import Drawn, chances
from refdp.conform.follow import Released
from refdp.conform.implied import ends, exactly
from refdp.conform.places import mixed, staked
from refdp.noise.draws import FloatArray
from refdp.noise.mechanisms import Exponential

Run = tuple[Sequence[Released], Sequence[Drawn]]
Bet = tuple[FloatArray, FloatArray]
"""What part of the public numbers is in each secret interval, and the interval's chance. Shape (draws,)."""
NOISE, CHOICES, SAMPLES = "values of noise", "choices", "coins of samples"


@dataclass(frozen=True)
class Stream:
    """Draws in the order of their entries. low, high: of their intervals, shape (draws,), equal for a number itself.

    chance: of the interval, at least.
    """

    low: FloatArray
    high: FloatArray
    chance: FloatArray

    def parts(self, other: Stream, turned: bool) -> FloatArray:
        """What part of each interval of another stream is in this one's, draw by draw; turned: as 1 less its number.

        Shape (draws,), of the shorter one.
        """
        low, high = (1 - other.high, 1 - other.low) if turned else (other.low, other.high)
        own, width = slice(min(len(self.low), len(low))), np.maximum(high - low, LEAST)
        low, high, width = low[own], high[own], width[own]
        both = np.minimum(self.high[own], high) - np.maximum(self.low[own], low)
        inside = (self.low[own] <= low) & (low < self.high[own])
        return np.where(low == high, inside, np.maximum(both, 0.0) / width)

    def share(self, numbers: FloatArray, turned: bool) -> FloatArray:
        """The share of numbers, sorted, in each interval. Shape (draws,)."""
        low, high = (1 - self.high, 1 - self.low) if turned else (self.low, self.high)
        return (np.searchsorted(numbers, high) - np.searchsorted(numbers, low)) / len(numbers)


def shared(runs: Sequence[Run]) -> tuple[float, str] | None:
    """log of what is won by betting on public numbers, and what was seen; None for runs without them, or secrets."""
    bets: dict[str, list[Bet]] = defaultdict(list)
    for released, drawn in runs:
        for name, bet in _bets(released, drawn):
            bets[name].append(bet)
    whole = {name: [np.concatenate(part) for part in zip(*found, strict=True)] for name, found in bets.items()}
    won = {name: staked(same, np.ones(len(same)), chance) for name, (same, chance) in whole.items() if len(same)}
    if not won:
        return None
    best = max(won, key=lambda name: won[name])
    same, _ = whole[best]
    seen = f"{int((same > 0).sum())} of {len(same)} {best}, e^{won[best]:.3g} times as likely if one seed gave both"
    return mixed([*won.values()]), seen


def _bets(released: Sequence[Released], drawn: Sequence[Drawn]) -> Iterator[tuple[str, Bet]]:
    """Of one run, by rule."""
    draws = sorted((one for one in drawn if one.kind == "draw"), key=lambda one: one.at)
    public = {"public draw": _stream([_drawn(one) for one in draws])}
    public["public number"] = _stream([_drawn(one) for one in draws if one.law[0] == "uniform"])
    numbers = np.sort(public["public number"].low)
    for folded in (False, True):
        parts = [(one.at, *_released(one, folded)) for one in released if not (folded and _chosen(one))]
        parts += [(one.at, SAMPLES, _drawn(one)) for one in drawn if not folded and _tossed(one)]
        parts.sort(key=lambda part: part[0])
        for kind in (NOISE,) if folded else ("secret draws", NOISE, CHOICES, SAMPLES):
            secret = _stream([stream for _, of, stream in parts if of == kind or kind == "secret draws"])
            for turned in (False, True):
                how = f"{'turned over ' * turned}{'by size ' * folded}"
                for what, stream in public.items():
                    same = secret.parts(stream, turned)
                    yield f"{kind} have {how}the {what} of their place", (same, secret.chance[: len(same)])
                if kind == NOISE and len(numbers):
                    yield f"{kind} have {how}any public number", (secret.share(numbers, turned), secret.chance)


def _stream(parts: Sequence[Stream]) -> Stream:
    empty = np.zeros(0)
    low, high, chance = ([getattr(one, name) for one in parts] for name in ("low", "high", "chance"))
    return Stream(*(np.concatenate([empty, *columns]) for columns in (low, high, chance)))


def _chosen(one: Released) -> bool:
    return isinstance(one.mechanism, Exponential)


def _released(one: Released, folded: bool) -> tuple[str, Stream]:
    """Noise in bins of `WIDTH` where it is no whole number of steps; folded: by P(|Z| >= |z|)."""
    low, high = ends(one)
    if folded:
        low, high = 2 * np.minimum(low, 1 - high), np.minimum(2 * np.minimum(high, 1 - low), 1.0)
    if _chosen(one):
        return CHOICES, Stream(low, high, np.maximum(high - low, LEAST))
    if getattr(one.mechanism, "step", 0.0):
        return NOISE, Stream(low, high, np.maximum(high - low, LEAST))
    middle = np.rint(low / WIDTH) * WIDTH
    chance = np.minimum(WIDTH + 4 * exactly(one).ravel(), 1.0)
    return NOISE, Stream(middle - WIDTH / 2, middle + WIDTH / 2, chance)


def _tossed(one: Drawn) -> bool:
    """Whether it is a coin for each record; others are dealt, or leave no choice."""
    return one.law[0] in ("poisson", "partition") and chances(one.law, one.values.size).max() < 1


def _drawn(one: Drawn) -> Stream:
    """Of a number, itself. Outcomes in order, no block last."""
    values = one.values.ravel()
    if one.law[0] == "uniform":
        return Stream(values, values, np.zeros(len(values)))
    if one.law[0] == "integers":
        low, high = values / one.law[1], (values + 1) / one.law[1]
    else:
        p = np.roll(chances(one.law, len(values)), -1 if one.kind == "assign" else 0)
        edges = np.concatenate([[0.0], np.minimum(np.cumsum(p), 1.0)])
        low, high = edges[values % len(p)], edges[values % len(p) + 1]
    return Stream(low, high, np.maximum(high - low, LEAST))
