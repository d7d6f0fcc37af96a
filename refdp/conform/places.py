"""Where draws are in the releases of all runs, and bets on all of them, and on those of one run, release or entry.

A bet is what each draw multiplies a stake by, of mean 1 at most given all draws before it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from refdp.conform.follow import Released
from refdp.noise.draws import FloatArray

Ints = NDArray[np.int64]
STAKES = (0.5, 0.1, 0.01, 0.001)


@dataclass(frozen=True)
class Places:
    """Of draws in order, shape (draws,): numbers of release, of the place in it, its name, its output's shape, the run.

    names: of the numbers of names.
    """

    release: Ints
    place: Ints
    name: Ints
    shape: Ints
    run: Ints
    names: tuple[str, ...]

    def groups(self) -> dict[str, Ints]:
        """Of all draws, and of each run, release of the plan, and place: numbers of shape (draws,)."""
        return {"": np.zeros_like(self.run), "run": self.run, "release": self.name, "entry": self.place}

    def told(self, kind: str, number: int) -> str:
        """Where a group is; "" for all draws."""
        place = self.names[number] if kind == "release" else f"{kind} {number + (kind == 'run')}"
        return f" in {place}" if kind else ""


def places_of(releases: Sequence[Released]) -> Places:
    """Of one draw for each number of the outputs."""
    names: dict[str, int] = {}
    shapes: dict[tuple[int, ...], int] = {}
    runs = Counter[int]()
    columns = []
    for number, one in enumerate(releases):
        named, shaped = names.setdefault(one.name, len(names)), shapes.setdefault(one.output.shape, len(shapes))
        place = np.arange(one.output.size)
        columns.append([np.full(len(place), k) for k in (number, named, shaped, runs[named])] + [place])
        runs[named] += 1
    release, name, shape_, run, place = (
        np.concatenate(column).astype(np.int64) for column in zip(*columns, strict=True)
    )
    return Places(release, place, name, shape_, run, tuple(names))


def mixed(logs: Sequence[float] | FloatArray) -> float:
    """log of what bets win together that have the same stake each. logs: of what each wins, shape (bets,)."""
    return float(special.logsumexp(logs)) - math.log(len(logs))


def before(groups: Ints) -> Ints:
    """How many earlier draws are of the same group. Shape (draws,)."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=groups[order[0]] - 1))
    found = np.empty(len(groups), dtype=np.int64)
    found[order] = np.arange(len(groups)) - np.repeat(starts, np.diff([*starts, len(groups)]))
    return found


def _previous(own: Places) -> Ints:
    """The last release before of the same shape; -1: none. Shape (draws,)."""
    _, first = np.unique(own.release, return_index=True)
    last: dict[int, int] = {}
    found = []
    for number, shape in enumerate(own.shape[first].tolist()):
        found.append(last.get(shape, -1))
        last[shape] = number
    return np.array(found)[own.release]


def among(groups: Ints, keys: Ints) -> tuple[Ints, Ints]:
    """Of each draw, how many earlier ones of its group have its key, of how many."""
    return before(groups * (int(keys.max()) + 1) + keys), before(groups)


def earlier(own: Places, keys: Ints) -> dict[str, tuple[Ints, Ints]]:
    """Of each draw, by rule: how many earlier ones have its key, of how many that the rule looks at."""
    wide = int(keys.max()) + 1
    sizes, places = np.bincount(own.release), int(own.place.max()) + 1
    previous = _previous(own)
    told = np.where(previous >= 0, previous, 0)
    pairs, times = np.unique(own.release * wide + keys, return_counts=True)
    at = np.minimum(np.searchsorted(pairs, told * wide + keys), len(pairs) - 1)
    held = np.where((previous >= 0) & (pairs[at] == told * wide + keys), times[at], 0)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    there = np.where(previous >= 0, keys[starts[told] + own.place] == keys, False).astype(np.int64)
    return {
        "from any draw before": among(np.zeros_like(keys), keys),
        "from the same release": among(own.release, keys),
        "from the same place of releases before": among(own.shape * places + own.place, keys),
        "from the same place of that release of other runs": among(own.name * places + own.place, keys),
        "from the release before": (held, np.where(previous >= 0, sizes[told], 0)),
        "from the same place of the release before": (there, (previous >= 0).astype(np.int64)),
    }


def staked(same: Ints | FloatArray, of: Ints | FloatArray, chances: FloatArray) -> float:
    """log of what is won by stakes on each key by its share among those that a rule looks at. All of shape (draws,)."""
    ratio = (same / np.maximum(of, 1) / chances)[of > 0]
    logs = [float(np.log1p(stake * (ratio - 1)).sum()) for stake in STAKES]
    return mixed(logs)


def best(bets: Iterable[tuple[str, FloatArray]], own: Places) -> tuple[float, str]:
    """log of what bets win together, and the best of them. Logarithms of shape (draws,), and a name, of each bet.

    Half of all is on all draws, a sixth on single runs, releases of the plan, and places each.
    """
    groups = own.groups()
    won: list[float] = []
    told: list[tuple[str, str, int]] = []
    count = 0
    for name, logs in bets:
        count += 1
        for kind, group in groups.items():
            sums = np.bincount(group, weights=logs).astype(np.float64)
            top = int(np.argmax(sums))
            won.append(mixed(sums) - math.log(6 if kind else 2))
            told.append((name, kind, top))
    name, kind, top = told[int(np.argmax(won))]
    total = float(special.logsumexp(won)) - math.log(count)
    return total, f"{name}{own.told(kind, top)}, e^{max(won):.3g} times as likely"
