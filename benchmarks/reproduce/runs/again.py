"""Do a random sample of finished runs again: does the present program give the same figures, digit for digit?

A digest of the code says that something changed; this says whether it matters.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.reproduce.runs import Outcome, Run
from benchmarks.reproduce.runs.execution import outcomes


@dataclass(frozen=True)
class Comparison:
    """How many runs were done again, and those whose figures are others now."""

    runs: int
    differing: tuple[Run, ...]

    def lines(self) -> list[str]:
        """For the console."""
        same = self.runs - len(self.differing)
        first = f"{same} of {self.runs} runs done again give the same figures, digit for digit"
        return [first, *(f"others now: {run.key}" for run in self.differing)]


def sample(done: Sequence[Run], count: int, seed: int) -> list[Run]:
    """So many of the finished runs, each as likely as any other."""
    return random.Random(seed).sample(list(done), min(count, len(done)))


def compare(runs: Sequence[Run], done: Mapping[Run, Outcome], jobs: int) -> Comparison:
    """Do these runs again. Nothing is kept."""
    again = list(outcomes(runs, jobs))
    return Comparison(len(again), tuple(one.run for one in again if one.metrics != done[one.run].metrics))
