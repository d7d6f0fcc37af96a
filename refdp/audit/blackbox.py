"""A lower bound of epsilon from runs of code that nothing is known about.

An event is chosen on some runs and tested on others by exact bounds, so that a bound above the true epsilon is as rare
as stated, whatever the code does. Ding et al. 2018 (StatDP) and Bichsel et al. 2021 (DP-Sniper) audit in this way.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.audit import CONFIDENCE, betting
from refdp.audit.binomial import Counts, clopper_pearson
from refdp.audit.events_choice import Choice, choose
from refdp.audit.runs import InProcess, Runs, as_pairs
from refdp.checks import check_count, check_number
from refdp.errors import InvalidParameter

FIRST = 1_000
"""The first bound is computed after at least this many runs a side, and fewer than twice as many."""
"""One audit in a million may give a bound above the true epsilon."""

Floats = NDArray[np.float64]
Progress = Callable[[int, int, float], None]


def ignored(done: int, total: int, lower: float) -> None:
    """Progress that nobody watches: runs a side done, of how many, and the bound so far."""


@dataclass(frozen=True)
class Bound:
    """A lower bound of epsilon, valid with the stated confidence: P(lower > true epsilon) <= 1 - confidence.

    event: the set of outputs, in words. likelier: "first" or "second", the side with more of it. also: a set that the
    other side has more of, if it was bet on at the same time (see `refdp.audit.betting`), else "".
    counts: how often it happened, of `tested` runs a side: on the likelier side, and on the other. The test by betting
    also uses what earlier looks bet on.
    samples: all runs a side, those that chose the event included. pair: number of the pair that gave the bound.
    assumption: what the confidence rests on.
    last: runs a side that the last look tested. pairs: how many pairs share the error.
    still: whether each pair's runs all gave one output, on both sides, so that nothing was compared.
    unread: what of an output was not looked into, and why: no bound is about it.
    columns: how many numbers of a run were compared, those that stand for its names and kinds too.
    """

    lower: float
    confidence: float
    delta: float
    claimed: float | None
    event: str
    also: str
    likelier: str
    test: str
    counts: tuple[int, int]
    tested: int
    samples: int
    pair: int
    seconds: float
    assumption: str = "runs with different seeds are independent"
    still: bool = False
    unread: tuple[str, ...] = ()
    last: int = 0
    pairs: int = 1
    columns: int = 0

    @property
    def refuted(self) -> bool:
        """Whether the bound lies above the claimed epsilon."""
        return self.claimed is not None and self.lower > self.claimed

    @property
    def needed(self) -> float:
        """Runs a side that would be needed to show any violation of the claim; 0 where these are enough."""
        if self.claimed is None or self.claimed == math.inf:
            return 0
        return too_few(self.samples, self.claimed, self.delta, self.confidence, self.pairs)

    @property
    def words(self) -> str:
        """What was bet on or tested, in words."""
        also = f"; together with {self.also} on the other side" if self.also else ""
        return f"{self.event}, {self.likelier} side likelier{also}"

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return dict(vars(self)) | {
            "counts": list(self.counts),
            "unread": list(self.unread),
            "refuted": self.refuted,
        }


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
    choices: tuple[Choice, ...]
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
    without: Collection[str] = ()
    blocks: list[betting.Block] = field(default_factory=list)

    def look(self, look: Look, total: int) -> Found:
        """Choose events on earlier runs, test them on later ones by both tests."""
        first, second = self.runs.upto(look.samples)
        earlier, tested = (first[: look.chosen], second[: look.chosen]), (first[look.chosen :], second[look.chosen :])
        choices = choose(*earlier, len(tested[0]), self.delta, look.error, low_bits=self.low_bits, without=self.without)
        stake = self._stake(choices, *earlier, total - look.chosen)
        bet_on = [choice.sides(*tested) for choice in choices[: stake.ways]]
        table = betting.tally([likelier for likelier, _ in bet_on], [other for _, other in bet_on])
        self.blocks.append(replace(stake, table=table))
        likelier, other = bet_on[0]
        counts = Counts(int(likelier.sum()), int(other.sum()), len(likelier))
        bounds = {
            "Clopper-Pearson": clopper_pearson(counts, self.delta, look.error),
            "betting": betting.bound(self.blocks, self.delta, self.error),
        }
        test = max(bounds, key=lambda name: bounds[name])
        return Found(bounds[test], test, choices[: stake.ways if test == "betting" else 1], counts, self.number)

    def _stake(self, choices: tuple[Choice, Choice], first: Floats, second: Floats, pairs: int) -> betting.Block:
        """The bet on the better event or on both, whichever promises more from this many pairs of runs."""
        best, reverse = choices
        happens = [[choice.event.happens(side) for choice in choices] for side in (first, second)]
        both = [float(np.mean(one & other)) for one, other in happens[:: -1 if best.swapped else 1]]
        alone = betting.expected(betting.Chances(best.likelier, 0.0), betting.Chances(0.0, best.rarer), pairs)
        together = betting.expected(
            betting.Chances(best.likelier, reverse.rarer, both[0]),
            betting.Chances(reverse.likelier, best.rarer, both[1]),
            pairs,
        )
        stakes = [
            betting.stake(table, ways, self.delta, self.error, self.claimed)
            for ways, table in enumerate((alone, together), 1)
        ]
        return max(stakes, key=lambda stake: betting.promise(stake, self.delta, self.error, self.claimed))


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
    pair: neighbouring data sets as a tuple (first, second), or a list of such tuples.
    claimed: stop as soon as the bound exceeds it.
    samples: the most runs a side, for each pair. The event is chosen on the first half of the runs made so far and
        tested on the second half, after every doubling.
    low_bits: also look for floating-point noise whose lowest bits give the true value away (Mironov 2012), as nearly
        all noise does that is not rounded to a public grid.
    Error: P(lower > true epsilon) <= 1 - confidence over all pairs, directions, events and looks together, if runs with
    different seeds are independent. Every pair spends an equal share: half of it on Clopper and Pearson's test (divided
    among the looks), half on bets, which hold at all looks together (see `refdp.audit.betting`). What a look tests,
    events and their directions, is chosen on runs that it is not tested on. Nothing else is assumed; no bound is no
    proof.
    Errors: InvalidParameter for a confidence outside (0, 1), delta outside [0, 1), fewer than 100 samples, outputs that
    are not numbers, and the same data set twice.
    """
    pairs = as_pairs(pair)
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
    without: Collection[str] = (),
    progress: Progress = ignored,
) -> Bound:
    """`epsilon_lower_bound` for runs that come from elsewhere, one source a pair.

    without: last bits and digits that are left out, in words of `refdp.audit.events_statistics.digits_of`.
    Errors: InvalidParameter for no pair.
    """
    _check(delta, claimed, confidence, samples)
    if not sources:
        raise InvalidParameter("pair = []: at least one pair of neighbours is needed")
    start, error = time.perf_counter(), (1 - confidence) / 2 / len(sources)
    sides = [Side(runs, number, delta, error, claimed, low_bits, without) for number, runs in enumerate(sources)]
    best: Found | None = None
    for look in looks(samples, error):
        for side in sides:
            found = side.look(look, samples)
            best = found if best is None or found.lower > best.lower else best
            progress(look.samples, samples, best.lower)
        if claimed is not None and best is not None and best.lower > claimed:
            break
    assert best is not None
    tables = [runs.upto(look.samples) for runs in sources]
    still = all(_one_output(*sides) for sides in tables)
    columns = max(first.shape[1] for first, _ in tables)
    unread = next((told for runs in sources if (told := getattr(runs, "unread", ()))), ())
    made = _bound(best, delta, claimed, confidence, look.samples, start)
    last = look.samples - look.chosen
    return replace(made, still=still, unread=unread, last=last, pairs=len(sources), columns=columns)


def _one_output(first: Floats, second: Floats) -> bool:
    """Whether all rows of both arrays are the same; NaN is one value."""
    rows = np.concatenate([first, second])
    return bool(np.all((rows == rows[0]) | (np.isnan(rows) & np.isnan(rows[0]))))


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


def too_few(samples: int, claimed: float, delta: float, confidence: float, pairs: int = 1) -> float:
    """0 if so many runs a side are sure to refute a claim by the best of events, else how many would be.

    The best event is that of all runs of one side, and of none of the other; the test is Clopper and Pearson's at the
    last look. Bets may need fewer runs. Infinity where no number of runs would do.
    """
    error = (1 - confidence) / 2 / pairs
    odds = math.exp(-claimed)
    gain = math.log1p((1 - delta) * odds / (1 + delta * odds))
    last = looks(samples, error)[-1]
    if (last.samples - last.chosen) * gain > -math.log(last.error / 2):
        return 0
    tested = -math.log(error / 4) / gain if gain else math.inf
    return max(2 * math.floor(tested) + 1, 2 * FIRST) if math.isfinite(tested) else math.inf


def _bound(best: Found, delta: float, claimed: float | None, confidence: float, samples: int, start: float) -> Bound:
    return Bound(
        lower=best.lower,
        confidence=confidence,
        delta=delta,
        claimed=claimed,
        event=best.choices[0].event.words,
        also="".join(choice.event.words for choice in best.choices[1:]),
        likelier="second" if best.choices[0].swapped else "first",
        test=best.test,
        counts=(best.counts.likelier, best.counts.other),
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
