"""The second verdict of an opened audit: is the noise that comes out, as a floating-point number, what is charged?

Losses are those of ideal noise: of real numbers. A floating-point sampler reaches only some numbers from each true
value, so that the last bits of an output can tell which it was (Mironov 2012), however right scale and sensitivity are.
Each noise function of continuous law is played by itself, on true values as far apart as they were seen to move: on
those of the runs, and from 0, where its outputs have bits to tell most with. A lower bound above what ideal noise loses
between these values refutes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refdp.accounting.gaussian import delta as gaussian_delta
from refdp.audit.blackbox import epsilon_lower_bound, too_few
from refdp.audit.opened_door import Play, Recording
from refdp.audit.opened_laws import NoiseCall
from refdp.audit.opened_opaque import Side, one_run
from refdp.audit.verdicts import Row, Verdict
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Gaussian, Laplace

SAMPLES = 4_000
"""Runs a side of each function."""
CONFIDENCE = 1 - 1e-6


@dataclass(frozen=True)
class Bits:
    """One noise function. ideal: epsilon and delta of ideal noise between the values `at`; lower: shown by runs.

    samples: runs a side; 0 where it could not be played by itself. event: in words, "" if nothing was refuted.
    """

    name: str
    at: tuple[float, float]
    ideal: tuple[float, float]
    lower: float
    samples: int
    event: str = ""


@dataclass
class Floating:
    """The calls of continuous law of which true values differ: of each function the one that moves most."""

    _calls: dict[str, tuple[float, Play, NoiseCall, Play, NoiseCall]] = field(default_factory=dict)

    def add(self, recorded: Recording, replayed: Recording) -> None:
        """The calls of one pair of runs."""
        for place, (call, other) in enumerate(zip(recorded.calls, replayed.calls)):
            if type(call.law) not in (Laplace, Gaussian) or call.read is not None or call.install is not None:
                continue
            if not np.isfinite(call.value).all() or not np.isfinite(other.value).all():
                continue
            moved = float(np.abs(call.value - other.value).sum())
            name = recorded.transcript.entries[place].request.name
            if moved > 0 and moved > self._calls.get(name, (0.0,))[0]:
                self._calls[name] = moved, recorded.plays[place], call, replayed.plays[place], other

    def played(self, seed: int) -> tuple[Bits, ...]:
        """Every function, on its own values and from 0."""
        return tuple(self._judged(name, seed) for name in self._calls)

    def _judged(self, name: str, seed: int) -> Bits:
        _, play, call, other_play, other = self._calls[name]
        ideal = _ideal(call, other)
        tried: list[tuple[Callable[[], Any], NoiseCall, Callable[[], Any], NoiseCall]] = []
        zero, moved = play.at(np.zeros_like(call.value), call), play.at(np.abs(other.value - call.value), call)
        if zero is not None and moved is not None:
            tried.append((*zero, *moved))
        tried.append((play, call, other_play, other))
        told = Bits(name, (0.0, 0.0), ideal, 0.0, 0)
        for first, one, second, two in tried:
            at = (float(np.ravel(one.value)[0]), float(np.ravel(two.value)[0]))
            try:
                bound = epsilon_lower_bound(
                    one_run, (Side(first, one), Side(second, two)), ideal[1], claimed=ideal[0], samples=SAMPLES,
                    seed=seed, confidence=CONFIDENCE,
                )  # fmt: skip
            except (InvalidParameter, TypeError, ValueError):
                continue
            told = Bits(name, at, ideal, bound.lower, bound.samples, bound.words if bound.refuted else "")
            if bound.refuted:
                return told
        return told


def _ideal(call: NoiseCall, other: NoiseCall) -> tuple[float, float]:
    """An (epsilon, delta) that ideal noise keeps between two true values; epsilon is small enough to be exceeded."""
    law: Any = call.law
    worst = float(np.sum(law.worst_loss(call.value, other.value)))
    if isinstance(law, Laplace):
        return (worst, 0.0) if worst <= 1 or call.value.size > 1 else (1.0, -math.expm1((1 - worst) / 2))
    moved = law.observed_change(call.value, other.value, "whitened" if isinstance(law.sd, tuple) else 2)
    mu = moved if isinstance(law.sd, tuple) else moved / law.sd
    return 1.0, gaussian_delta(mu, 1.0) * (1 + 1e-9)


def rows(seen: Iterable[Bits]) -> Iterable[Row]:
    """As lines of the coverage table, none of which decides the verdict about ideal noise."""
    for one in seen:
        if not one.samples:
            yield Row("floating point", Verdict.NOT_EXAMINED, f"{one.name}: not played by itself", decides=False)
        elif not one.event and too_few(one.samples, *one.ideal, CONFIDENCE):
            yield Row("floating point", Verdict.NOT_EXAMINED, f"{one.name}: between {one.at[0]:g} and {one.at[1]:g} "
                      f"{one.samples} runs a side are too few to show more than epsilon {one.ideal[0]:.3g} at "
                      f"delta {one.ideal[1]:.3g}, that of ideal noise", decides=False)  # fmt: skip
        elif one.event:
            yield Row("floating point", Verdict.VIOLATION, f"{one.name}: between the true values {one.at[0]:g} and "
                      f"{one.at[1]:g} ideal noise has epsilon {one.ideal[0]:.3g} at delta {one.ideal[1]:.3g}, its "
                      f"numbers at least {one.lower:.3g}: {one.event}", decides=False)  # fmt: skip
        else:
            yield Row("floating point", Verdict.NOT_FOUND, f"{one.name}: {one.samples} runs a side between "
                      f"{one.at[0]:g} and {one.at[1]:g}", "last bits that tell the two apart in every twentieth run",
                      decides=False)  # fmt: skip
