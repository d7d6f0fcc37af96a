"""Runs of foreign code with its noise functions opened: recorded, replayed on a neighbour, and led to other outputs."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refdp.audit.attained import ROUNDS
from refdp.audit.charge import PATHS
from refdp.audit.opened_door import Led, Patch, Recording, opened
from refdp.audit.opened_evidence import KINDS, Again, Run, lossy, same_values
from refdp.audit.replay import Violation
from refdp.audit.runs import RAISED, raise_if_ending
from refdp.audit.structural_samples import Data
from refdp.audit.structural_state import read
from refdp.errors import ImpossibleReplay
from refdp.privacy.events import Relation

Doors = tuple[str | Sequence[Patch], ...]
"""Packages or lists of patches that are opened."""
OTHER = 1_000_003
"""Added to a seed where other dice are wanted."""


@dataclass(frozen=True)
class Claimed:
    """What is run: a function of a data set, doors to its noise, and the part of its result that is public."""

    train: Callable[[Data], Any]
    doors: Doors
    relation: Relation
    published: Callable[[Any], Any]


@dataclass(frozen=True)
class Seeded:
    """With the public seed of one pair's runs."""

    claimed: Claimed
    seed: int

    def run(self, data: Data, replay: Recording | None = None, *, seed: int | None = None, coins: bool = True,
            led: Led = ()) -> Run | BaseException:  # fmt: skip
        """A run, or the error that it ended with."""
        chosen, what = self.seed if seed is None else seed, self.claimed
        np.random.seed(chosen)  # noqa: NPY002
        random.seed(chosen)
        try:
            with opened(*what.doors, replay=replay, relation=what.relation, coins=coins, led=led) as curator:
                result = what.train(copy.deepcopy(data))
            reading = read(what.published(result))
            return Run(curator.recording(), reading.leaves | {KINDS: " ".join(reading.form)}, reading.left)
        except RAISED as error:
            raise_if_ending(error)
            return error

    def with_other_dice(self, data: Data, recorded: Run) -> Again:
        """Runs with the recorded outputs: dice are others after releases, and from the start."""
        return lambda: [self.run(data, recorded.recording, seed=seed, coins=False)
                        for seed in (self.seed, self.seed + OTHER)]  # fmt: skip

    def both(self, first: Data, second: Data) -> tuple[Run, Run | Violation] | Violation:
        """A run on the first records and its replay on the second, or how the replay parted from it.

        Errors: that of the trainer, if it raises on both.
        """
        recorded = self.run(first)
        if not isinstance(recorded, Run):
            if isinstance(self.run(second), BaseException):
                raise recorded
            return _raised(recorded)
        outcome = self.run(second, recorded.recording)
        if isinstance(outcome, ImpossibleReplay):
            witness = {"detail": outcome.detail[:300]}
            return recorded, Violation(outcome.kind, outcome.release, None, None, None, "", witness)
        return recorded, outcome if isinstance(outcome, Run) else _raised(outcome)

    def paths(self, first: Data, second: Data, recorded: Run, replayed: Run) -> Iterator[tuple[Run, Run]]:
        """Recorded runs with their replays: this one, led to outputs of great loss, both ways, then with other dice."""
        yield recorded, replayed
        for reverse in (False, True):
            one, other = recorded, replayed
            for _ in range(ROUNDS):
                led = lossy(one.recording, other.recording, reverse)
                again = self.run(first, led=led)
                twin = self.run(second, again.recording) if isinstance(again, Run) else again
                if not isinstance(again, Run) or not isinstance(twin, Run):
                    break
                yield again, twin
                if same_values(one.recording, again.recording) and same_values(other.recording, twin.recording):
                    break
                one, other = again, twin
        for number in range(1, PATHS):
            seed = self.seed + number * OTHER
            again = self.run(first, seed=seed)
            twin = self.run(second, again.recording, seed=seed) if isinstance(again, Run) else again
            if isinstance(again, Run) and isinstance(twin, Run):
                yield again, twin


def _raised(error: BaseException) -> Violation:
    witness = {"detail": f"{type(error).__name__}: {error}"[:300]}
    return Violation("error", "on one side only", None, None, None, "", witness)
