"""A lower bound of epsilon from runs of code that nothing is known about.

An event is chosen on some runs and tested on others by exact bounds, so that a bound above the true epsilon is as rare
as stated, whatever the code does. Ding et al. 2018 (StatDP) and Bichsel et al. 2021 (DP-Sniper) audit in this way.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from refdp.audit.binomial import Block, Counts, betting, clopper_pearson, count_pairs, stake
from refdp.audit.events_choice import Choice, choose
from refdp.audit.runs import InProcess, Runs, as_pair
from refdp.checks import check_count, check_number
from refdp.errors import InvalidParameter

FIRST = 1_000
"""The first bound is computed after at least this many runs a side, and fewer than twice as many."""
CONFIDENCE = 0.999999
"""One audit in a million may give a bound above the true epsilon."""

Progress = Callable[[int, int, float], None]


def ignored(done: int, total: int, lower: float) -> None:
    """Progress that nobody watches: runs a side done, of how many, and the bound so far."""


@dataclass(frozen=True)
class Bound:
    """A lower bound of epsilon, valid with the stated confidence: P(lower > true epsilon) <= 1 - confidence.

    event: the set of outputs, in words. likelier: "first" or "second", the side with more of it.
    counts: how often it happened, of `tested` runs a side: on the likelier side, and on the other. The test by betting
    also uses what earlier looks bet on.
    samples: all runs a side, those that chose the event included. pair: number of the pair that gave the bound.
    assumption: what the confidence rests on.
    """

    lower: float
    confidence: float
    delta: float
    claimed: float | None
    event: str
    likelier: str
    test: str
    counts: tuple[int, int]
    tested: int
    samples: int
    pair: int
    seconds: float
    assumption: str = "runs with different seeds are independent"

    @property
    def refuted(self) -> bool:
        """Whether the bound lies above the claimed epsilon."""
        return self.claimed is not None and self.lower > self.claimed

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return dict(vars(self)) | {"counts": list(self.counts), "refuted": self.refuted}


@dataclass(frozen=True)
class Look:
    """One look at the data: runs before `chosen` choose an event, those from there to `samples` test it.

    error: what Clopper and Pearson's test may spend here.
    """

    chosen: int
    samples: int
    error: float


@dataclass(frozen=True)
class Found:
    """The best bound so far, and what it came from."""

    lower: float
    test: str
    choice: Choice
    counts: Counts
    pair: int


@dataclass
class Side:
    """The audit of one pair under way: its runs, and what was bet on them."""

    runs: Runs
    number: int
    delta: float
    error: float
    claimed: float | None
    low_bits: bool
    blocks: list[Block] = field(default_factory=list)

    def look(self, look: Look, total: int) -> Found:
        """Choose an event on earlier runs, test it on later ones by both tests."""
        first, second = self.runs.upto(look.samples)
        earlier, tested = first[: look.chosen], look.samples - look.chosen
        choice = choose(earlier, second[: look.chosen], tested, self.delta, look.error, low_bits=self.low_bits)
        bet = stake(choice.expected(total - look.chosen), self.delta, self.error, self.claimed)
        here, there = (choice.event.happens(side[look.chosen :]) for side in (first, second))
        counts = count_pairs(there, here) if choice.swapped else count_pairs(here, there)
        self.blocks.append(Block(counts, bet))
        bounds = {
            "Clopper-Pearson": clopper_pearson(counts, self.delta, look.error),
            "betting": betting(self.blocks, self.delta, self.error),
        }
        test = max(bounds, key=lambda name: bounds[name])
        return Found(bounds[test], test, choice, counts, self.number)


def epsilon_lower_bound(
    mechanism: Any,
    pair: Any,
    delta: float = 0.0,
    *,
    claimed: float | None = None,
    confidence: float = CONFIDENCE,
    samples: int = 100_000,
    seed: int = 0,
    low_bits: bool = True,
    progress: Progress = ignored,
) -> Bound:
    """Largest epsilon that runs of the mechanism on neighbours refute: P(S) <= e^epsilon Q(S) + delta fails below it.

    mechanism: a function of (records, seed) that returns numbers, or an object with a method
        batch(records, count, generator) that returns the outputs of many runs (see `Vectorised`).
    pair: neighbouring data sets (first, second), or a list of such pairs.
    claimed: stop as soon as the bound exceeds it.
    samples: the most runs a side, for each pair. The event is chosen on the first half of the runs made so far and
        tested on the second half, after every doubling.
    low_bits: also look for floating-point noise whose lowest bits give the true value away (Mironov 2012), as nearly
        all noise does that is not rounded to a public grid.
    Error: P(lower > true epsilon) <= 1 - confidence over all pairs, directions, events and looks together, if runs with
    different seeds are independent. Every pair spends an equal share: half of it on Clopper and Pearson's test (divided
    among the looks), half on bets, which hold at all looks together (see `refdp.audit.binomial`). Each look tests one
    event, chosen with its direction on runs that it is not tested on. Nothing else is assumed; no bound is no proof.
    Errors: InvalidParameter for a confidence outside (0, 1), delta outside [0, 1), fewer than 100 samples, outputs that
    are not numbers.
    """
    pairs = [as_pair(one) for one in (pair if isinstance(pair, list) else [pair])]
    check_count("seed", seed, least=0, most=2**63)
    sources = [InProcess(mechanism, one, seed + number) for number, one in enumerate(pairs)]
    return bound_from(
        sources,
        delta,
        claimed=claimed,
        confidence=confidence,
        samples=samples,
        low_bits=low_bits,
        progress=progress,
    )


def bound_from(
    sources: Sequence[Runs],
    delta: float,
    *,
    claimed: float | None,
    confidence: float,
    samples: int,
    low_bits: bool = True,
    progress: Progress = ignored,
) -> Bound:
    """`epsilon_lower_bound` for runs that come from elsewhere, one source a pair."""
    _check(delta, claimed, confidence, samples)
    if not sources:
        raise InvalidParameter("pair = []: at least one pair of neighbours is needed")
    start, error = time.perf_counter(), (1 - confidence) / 2 / len(sources)
    sides = [Side(runs, number, delta, error, claimed, low_bits) for number, runs in enumerate(sources)]
    best: Found | None = None
    for look in looks(samples, error):
        for side in sides:
            found = side.look(look, samples)
            best = found if best is None or found.lower > best.lower else best
            progress(look.samples, samples, best.lower)
        if claimed is not None and best is not None and best.lower > claimed:
            break
    assert best is not None
    return _bound(best, delta, claimed, confidence, look.samples, start)


def looks(samples: int, error: float) -> list[Look]:
    """Looks after all samples, half of them, a quarter, ..., down to FIRST; the last spends half of the error.

    The errors sum to `error`, so stopping after any look is valid by the union bound.
    """
    sizes = [samples]
    while sizes[0] // 2 >= FIRST:
        sizes.insert(0, sizes[0] // 2)
    before = [sizes[0] // 4, *sizes[:-1]]
    early = error / 2 / max(len(sizes) - 1, 1)
    errors = [early] * (len(sizes) - 1) + [error / 2 if len(sizes) > 1 else error]
    return [Look(*look) for look in zip(before, sizes, errors, strict=True)]


def _bound(best: Found, delta: float, claimed: float | None, confidence: float, samples: int, start: float) -> Bound:
    return Bound(
        lower=best.lower,
        confidence=confidence,
        delta=delta,
        claimed=claimed,
        event=best.choice.event.words,
        likelier="second" if best.choice.swapped else "first",
        test=best.test,
        counts=(best.counts.on_first, best.counts.on_second),
        tested=best.counts.runs,
        samples=samples,
        pair=best.pair,
        seconds=time.perf_counter() - start,
    )


def _check(delta: float, claimed: float | None, confidence: float, samples: int) -> None:
    check_number("delta", delta, least=0, below=1)
    check_number("confidence", confidence, above=0, below=1)
    if claimed is not None and claimed != math.inf:
        check_number("claimed", claimed, least=0)
    check_count("samples", samples, least=100, most=2**31)
