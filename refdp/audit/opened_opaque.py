"""Noise functions of unknown law: their declared costs are summed, and each is played by itself for a lower bound.

A bound from runs of one function cannot show that its declared cost is right, only that it is wrong; with what power is
said. One that declares no cost leaves the claim unexamined.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refdp.audit.blackbox import epsilon_lower_bound
from refdp.audit.events_statistics import about_digits
from refdp.audit.opened_door import Play, Recording
from refdp.audit.opened_laws import NoiseCall, Unknown
from refdp.audit.replay import Violation
from refdp.audit.structural_state import leaves
from refdp.errors import InvalidParameter

DICE = (np.random.RandomState, np.random.Generator, random.Random)
SAMPLES = 4_000
"""Runs a side of each function."""


@dataclass(frozen=True)
class Opaque:
    """One function. declared: epsilon and delta of one call, None if it declares none. lower: bound from its runs.

    samples: runs a side; 0 where it could not be played by itself.
    """

    name: str
    declared: tuple[float, float] | None
    lower: float
    samples: int


@dataclass
class _Played:
    call: NoiseCall
    first: Callable[[], Any]
    second: Callable[[], Any]
    other: NoiseCall
    change: float
    bare: bool


@dataclass
class Opaques:
    """What one audit saw of such functions. summed: greatest declared cost of a run's calls, None if one has none."""

    epsilon: float
    delta: float
    summed: tuple[float, float] | None = (0.0, 0.0)
    _played: dict[str, _Played] = field(default_factory=dict)
    _seen: list[Opaque] = field(default_factory=list)
    _hidden: dict[str, Opaque] = field(default_factory=dict)

    def add(self, recorded: Recording, replayed: Recording) -> None:
        """The calls of one pair of runs whose true values differ."""
        total: tuple[float, float] | None = (0.0, 0.0)
        for place, (call, other) in enumerate(zip(recorded.calls, replayed.calls)):
            if not isinstance(call.law, Unknown) or call.law.absent:
                continue
            if np.array_equal(call.value, other.value) and inputs(recorded.plays[place]) == inputs(
                replayed.plays[place]
            ):
                continue
            if total is not None:
                total = None if call.epsilon is None else (total[0] + call.epsilon, total[1] + call.delta)
            entry = recorded.transcript.entries[place]
            if np.array_equal(call.value, other.value):  # by itself its outcome need not be a release
                cost = None if call.epsilon is None else (call.epsilon, call.delta)
                self._hidden[entry.request.name] = Opaque(entry.request.name, cost, 0.0, 0)
                continue
            name, bare = entry.request.name, np.array_equal(entry.output, call.value)
            change = float(np.abs(call.value - other.value).sum())
            if name not in self._played or change > self._played[name].change:
                self._played[name] = _Played(call, recorded.plays[place], replayed.plays[place], other, change, bare)
        if total is None or self.summed is None:
            self.summed = None
        else:
            self.summed = max(self.summed, total)

    def sampled(self, seed: int) -> Iterator[Violation]:
        """Play each function with the arguments of either side.

        One that cannot be played is accused if what came out was the true value; discrete noise can be 0 in one call.
        """
        for name, played in self._played.items():
            cost = played.call.epsilon, played.call.delta
            declared = None if cost[0] is None else (cost[0], cost[1])
            allowed = (self.epsilon, self.delta) if declared is None else declared
            try:
                bound = epsilon_lower_bound(
                    one_run, (Side(played.first, played.call), Side(played.second, played.other)), allowed[1],
                    claimed=allowed[0], samples=SAMPLES, seed=seed,
                )  # fmt: skip
            except (InvalidParameter, TypeError, ValueError):
                self._seen.append(Opaque(name, declared, 0.0, 0))
                if played.bare:
                    told = {"detail": "no noise"}
                    yield Violation("sampler", name, None, 0.0, math.inf, str(played.call.law), told)
                continue
            self._seen.append(Opaque(name, declared, bound.lower, bound.samples))
            if bound.refuted and not about_digits(bound.event):
                witness = {"event": bound.words, "confidence": bound.confidence, "samples": bound.samples}
                yield Violation("sampler", name, allowed[0], bound.lower, bound.lower, str(played.call.law), witness)

    def told(self) -> tuple[tuple[Opaque, ...], tuple[float, float] | None]:
        """The functions, and their declared costs together."""
        seen = (*self._seen, *self._hidden.values())
        return seen, self.summed if seen else (0.0, 0.0)


def inputs(play: Play) -> dict[str, Any]:
    """What a call was given, generators apart: a choice may hang on more than the value that is read of it."""
    given: dict[str, Any] = {}
    for name, one in play.bound.arguments.items():
        parts = vars(one) if hasattr(one, "__dict__") and not callable(one) else {"": one}
        given |= {f"{name}.{key}": part for key, part in parts.items() if not isinstance(part, DICE)}
    return {place: repr(leaf) for place, leaf in leaves(given).items()}


@dataclass(frozen=True)
class Side:
    """One call, to be made again: what a run is given as its records."""

    play: Callable[[], Any]
    call: NoiseCall

    def __deepcopy__(self, memo: dict[int, Any]) -> Side:
        return Side(self.play, copy.copy(self.call))


def one_run(side: Side, seed: int) -> Any:
    """One run of the function; its randomness is its own, or of the global generators."""
    np.random.seed(seed % 2**32)  # noqa: NPY002
    output = side.call.answer(side.play())
    return output if np.isfinite(output).all() else np.nan_to_num(output, posinf=math.inf)
