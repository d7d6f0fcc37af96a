"""Is the noise fresh? What fresh noise practically never does, read off auditing transcripts.

Every release gives a pattern: its noise in units of its own scale, the options that it chose, or the secret blocks that
it assigned. A pattern is held against those of the same kind in the same run (reused draws) and against the same place
in a run with another seed (seeded draws). How likely fresh randomness repeats a given pattern is bounded by its
min-entropy; a repetition is a violation if the bound for the whole audit is below FALSE_ALARM.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.audit.replay import Violation
from refdp.data.records import Floats
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, Mechanism
from refdp.privacy.curator import Array, Entry, Transcript

FALSE_ALARM = 1e-9
"""Bound on the probability that one call of `stale` accuses a run whose randomness is fresh."""
CLOSE = 2.0**-30
"""Two noises that differ by less than this many scales are taken to be equal; outputs are rounded to 2^-32 scales."""


@dataclass(frozen=True)
class Pattern:
    """What randomness left behind at one place of a run.

    values: shape (coordinates,). chances: log of the greatest probability of any value of each coordinate.
    noise: whether the coordinates are independent noises, which cannot all be equal either.
    """

    name: str
    claim: str
    values: Floats
    chances: Floats
    noise: bool

    @property
    def kind(self) -> tuple[str, int]:
        """Patterns of one kind can be compared."""
        return release_kind(self.name), len(self.values)

    @property
    def chance(self) -> float:
        """Log of a bound on the probability that fresh randomness gives just these values."""
        return float(self.chances.sum())

    def repeats(self, other: Pattern) -> bool:
        """Whether two patterns of one length are equal up to rounding."""
        return bool(np.all(np.abs(self.values - other.values) <= CLOSE))


Pairs = list[tuple[Pattern, Pattern]]


def release_kind(name: str) -> str:
    """`score 0/ensemble 1 2/splits of level 3` is of the kind `splits of level #`."""
    return re.sub(r"\d+", "#", name.rsplit("/", 1)[-1])


def stale(first: Transcript, second: Transcript) -> list[Violation]:
    """Draws that are not fresh, in two auditing transcripts of the same data under different seeds.

    Kinds: "reused noise" inside a run, "seeded noise" between the runs.
    """
    runs = [[pattern for pattern in patterns(run) if len(pattern.values)] for run in (first, second)]
    kinds = sorted({pattern.kind for run in runs for pattern in run})
    comparisons = 1 + len(kinds) * 4 + sum(len(run) * (len(run) + 1) for run in runs)
    least = math.log(FALSE_ALARM / comparisons)
    found = []
    for kind in kinds:
        a, b = ([pattern for pattern in run if pattern.kind == kind] for run in runs)
        found += [_violation("reused noise", p, p) for p in a + b if _one_draw(p, least)]
        for run in (a, b):
            found += _repeated("reused noise", list(combinations(run, 2)), [(run[0], p) for p in run[1:]], least)
        same_place = [(p, q) for p, q in zip(a, b, strict=False) if p.name == q.name]
        found += _repeated("seeded noise", same_place, same_place, least)
    return found


def patterns(transcript: Transcript) -> Iterator[Pattern]:
    """One pattern for every release and every independent secret assignment of an auditing transcript."""
    for entry in transcript.entries:
        request, claim = entry.request, entry.request.sensitivity.claim if entry.request.sensitivity else ""
        if request.kind == "release":
            values, chances = _drawn(entry)
            yield Pattern(request.name, claim, values, chances, noise=entry.index is None)
        elif request.kind == "assign" and request.law[0] in ("partition", "poisson"):
            weights = np.atleast_1d(np.asarray(request.law[1], dtype=np.float64))
            likeliest = max(float(weights.max()), 1 - float(weights.sum()))
            values = entry.output.astype(np.float64)
            yield Pattern(request.name, claim, values, _chances(values, likeliest), noise=False)


def _drawn(entry: Entry) -> tuple[Floats, Floats]:
    mechanism, value = entry.request.mechanism, entry.value
    assert mechanism is not None and value is not None
    if isinstance(mechanism, Exponential):
        assert entry.index is not None
        options = np.arange(value.shape[1])
        table = np.stack([mechanism.log_density(value, np.full(len(value), option)) for option in options], axis=1)
        return entry.index.astype(np.float64), table.max(axis=1)
    return standardised(mechanism, value, entry.output)


def standardised(mechanism: Mechanism, value: Array, output: Array) -> tuple[Floats, Floats]:
    """Noise in units of its scale (in steps for discrete noise), and the log of each coordinate's greatest chance.

    Shape (coordinates,) each.
    """
    noise = (output - value).astype(np.float64)
    match mechanism:
        case Laplace(scale):
            return (noise / scale).ravel(), _chances(noise, CLOSE)  # density at most 1/2 on a width of 2 CLOSE
        case Gaussian(sd):
            return (noise / np.asarray(sd)).ravel(), _chances(noise, CLOSE)  # density at most 0.4
        case DiscreteLaplace(scale, step):
            return np.rint(noise / step).ravel(), _chances(noise, math.tanh(step / scale / 2))
        case DiscreteGaussian(sd, step):
            return np.rint(noise / step).ravel(), _chances(
                noise, min(1.0, step / float(np.min(sd)))
            )  # the greatest mass is 0.4 step / sd
    densest = mechanism.log_density(value, value).ravel()  # of a mechanism of somebody else, in units of the value
    return noise.ravel(), np.minimum(0.0, densest + math.log(2 * CLOSE))


def _chances(values: NDArray[Any], chance: float) -> Floats:
    return np.full(np.size(values), math.log(chance))


def _one_draw(pattern: Pattern, least: float) -> bool:
    """One noise for all coordinates of a vector."""
    return pattern.noise and float(np.ptp(pattern.values)) <= CLOSE and float(pattern.chances[1:].sum()) < least


def _repeated(kind: str, pairs: Pairs, joint: Pairs, least: float) -> list[Violation]:
    """The first repetition too unlikely by itself; else the repetition of all of `joint`, if that is too unlikely."""
    for a, b in pairs:
        if b.chance < least and a.repeats(b):
            return [_violation(kind, a, b)]
    if sum(b.chance for _, b in joint) < least and all(a.repeats(b) for a, b in joint):
        return [_violation(kind, *joint[0])]
    return []


def _violation(kind: str, a: Pattern, b: Pattern) -> Violation:
    witness = {"releases": [a.name, b.name], "noise": b.values[:8].tolist()}
    return Violation(kind, b.name, 0.0, float(len(b.values)), None, b.claim, witness)
