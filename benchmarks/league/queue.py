"""Cells that have fewer than five seeds, the most valuable first, and what processor time they take."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.league.cells import EPSILONS, LARGEST, SETS, Cell
from benchmarks.league.methods import NOT_PRIVATE, UNABLE
from refdp.faces.registry import PAPERS

SEEDS = 5
EXPECTED = Path(__file__).parents[2] / "refdp" / "faces" / "expected.json"
MAIN = (0.1, 1.0, 4.0)
"""Those of the targets."""
GROUPS = (
    "grove at .1, 1, 4",
    "grove at .05, .2, .5, 2",
    "refdp's others at .1, 1, 4",
    "other packages and no privacy, at .1, 1, 4",
    "refdp's others at .05, .2, .5, 2",
    "the rest: papers' settings, other packages at .05, .2, .5, 2",
)


def group(method: str, epsilon: float) -> int:
    """Its place among `GROUPS`: smaller is more valuable."""
    main = epsilon in MAIN or epsilon == 0.0
    if method == "grove":
        return 0 if main else 1
    if method in PAPERS:
        return 2 if main else 4
    return 3 if main and "settings" not in method else 5


def queue(there: Sequence[Mapping[str, Any]], known: Collection[str]) -> list[Cell]:
    """Cells of known methods that were not run: by group, then by seed, so that every cell has a figure first."""
    done = {(one["data"], one["method"], one["epsilon"], one["seed"]) for one in there}
    every = dict.fromkeys(
        (data, method, 0.0 if method in NOT_PRIVATE else epsilon, seed)
        for seed, data, method, epsilon in itertools.product(range(SEEDS), SETS, known, EPSILONS)
        if data not in UNABLE.get(method, ())
    )
    left = [Cell(*key) for key in every if key not in done]
    return sorted(left, key=lambda one: (group(one.method, one.epsilon), one.seed))


@cache
def rows_of(data: str) -> int:
    """Training records of a set, as `refdp recommend` knows them; the largest number for a set that was never run."""
    known = {one["data"]: one["rows"] for one in json.loads(EXPECTED.read_text(encoding="utf-8"))}
    return int(known.get(data, LARGEST))


def seconds(there: Sequence[Mapping[str, Any]], cell: Cell) -> float | None:
    """Processor seconds of a cell: the mean of this method on this set, else its median a record times the records."""
    own = [one for one in there if one["method"] == cell.method and "seconds" in one]
    here = [one["seconds"] for one in own if one["data"] == cell.data]
    if here:
        return mean(here)
    each = [one["seconds"] / rows_of(one["data"]) for one in own]
    return median(each) * rows_of(cell.data) if each else None


def table(there: Sequence[Mapping[str, Any]], known: Collection[str]) -> Iterator[str]:
    """What is missing and what it takes."""
    cells = queue(there, known)
    once = dict.fromkeys((one.data, one.method) for one in cells)
    took = {key: seconds(there, Cell(*key, 0.0, 0)) for key in once}
    yield "## Seeds that are missing"
    yield ""
    yield "One command adds them, the most valuable first, and can be stopped and begun again at any time:"
    yield ""
    yield "    nice -n 15 python -m benchmarks.league run --by-value --minutes 600 && python -m benchmarks.league write"
    yield ""
    yield "Times are processor seconds: the mean of the method on that set, else, which is rough, its median a record"
    yield "times the records. What a package takes in a process of its own (dp-xgboost, MST) is not in them."
    yield ""
    yield "| what, in this order | cells | hours | cells of methods without a time | seconds a cell, from to |"
    yield "|---|---|---|---|---|"
    for place, name in enumerate(GROUPS):
        own = [one for one in cells if group(one.method, one.epsilon) == place]
        if own:
            times = [took[one.data, one.method] for one in own]
            timed = [one for one in times if one is not None]
            spread = f"{min(timed):.1f} to {max(timed):.0f}" if timed else ""
            yield f"| {name} | {len(own)} | {sum(timed) / 3600:.1f} | {len(own) - len(timed)} | {spread} |"
    yield ""
