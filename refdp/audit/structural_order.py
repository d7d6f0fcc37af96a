"""Structural checks that change the data: an outlier that moves what should be public, an order that matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from refdp.audit.structural_samples import (
    Data,
    Function,
    State,
    StructuralFinding,
    columns,
    needed,
    sample,
    sampled,
    size,
    table_of,
    take,
    unbounded,
)
from refdp.audit.structural_state import numbers

ORDERED_RUNS = 60
"""Runs on each order of the records."""
FAR = (1e6, 1e9)
"""How far outliers lie, in multiples of the largest value."""
ORDERED = (
    "the outcome depends on the order of the records: with a partition by position, adding one record moves others; "
    "no violation by itself"
)
SCREEN = 5
"""Runs on each outlier that look for outputs which follow it."""
CONFIRM = 2_000
"""At most so many runs on each outlier confirm that an output follows it."""
MOST_EPSILON = 50.0
"""The largest ε of which `needed` knows how many runs show something."""
GROWTH = 100.0
"""An output that grows at least so much when the outlier moves 1000 times as far follows it."""


def ranges(
    function: Function, data: Data, seeds: Sequence[int], *, epsilon: float, delta: float, alarm: float
) -> Iterator[StructuralFinding]:
    """Outputs that follow one record as far as it goes. What is clamped to public bounds does not.

    What a few runs show is confirmed by as many fresh ones as a verdict at this ε needs; if that is more than CONFIRM,
    it is said to be no violation by itself. A function that refuses outliers gives nothing that could follow them.
    """
    outliers = list(_outliers(data))
    for number, (name, near, far) in enumerate(outliers):
        runs = [sample(function, records, seeds[:SCREEN]) for records in (near, far)]
        moved = _followers(*runs)
        if moved:
            path, here, there = moved[0]
            fresh = [int(one) for one in np.random.SeedSequence([*seeds[:SCREEN], number]).generate_state(2 * CONFIRM)]
            certain = _confirmed(function, (near, far), path, fresh, epsilon, delta, alarm / len(outliers))
            if certain is None or certain:
                evidence = {"outlier in": name, "outputs that follow": len(moved), "at 1e6": here, "at 1e9": there}
                yield StructuralFinding("data-dependent range", path, evidence, _meaning(certain), bool(certain))


def _confirmed(
    function: Function,
    sides: tuple[Data, Data],
    path: str,
    seeds: list[int],
    epsilon: float,
    delta: float,
    alarm: float,
) -> bool | None:
    """Whether the output lies beyond all of the nearer outlier's too often; None if too many runs would be needed.

    Both data sets differ in one value of a record, which is two steps where neighbours have a record more or less.
    """
    if 2 * epsilon >= MOST_EPSILON:
        return None
    doubled = min(1.0, delta * (1 + np.exp(epsilon)))
    least = needed(2 * epsilon, alarm / 2) + unbounded(doubled, CONFIRM, alarm / 2)
    runs = least + least // 4
    if runs > CONFIRM:
        return None
    both = sampled(function, [(sides[0], seeds[:runs]), (sides[1], seeds[CONFIRM : CONFIRM + runs])])
    near, far = (np.array([abs(float(run.get(path, np.nan))) for run in side]) for side in both)
    return int(np.count_nonzero(far > near.max())) >= least  # never beyond infinity or what is absent


def _meaning(certain: bool | None) -> str:
    shown = "one record moves this output as far as it likes: a range or a sum taken from the data"
    return shown if certain else f"{shown}; seen in {SCREEN} runs, too few for a verdict, so no violation by itself"


def _outliers(data: Data) -> Iterator[tuple[str, Data, Data]]:
    """The data with one value of one record far away, and a thousand times as far."""
    parts = data if isinstance(data, tuple) else (data,)
    for place, part in enumerate(parts):
        table = table_of(part)
        if not table.size or not np.issubdtype(table.dtype, np.floating):
            continue
        for column in range(table.size // len(table)):
            moved = [_with_outlier(table, column, far) for far in FAR]
            whole = [(*parts[:place], one, *parts[place + 1 :]) if isinstance(data, tuple) else one for one in moved]
            yield f"column {column} of part {place}", whole[0], whole[1]


def _with_outlier(table: np.ndarray, column: int, far: float) -> np.ndarray:
    changed = table.copy()
    changed.flat[column] = far * max(float(np.abs(table).max()), 1.0)
    return changed


def _followers(near: list[State], far: list[State]) -> list[tuple[str, float, float]]:
    sides = [[numbers(run) for run in side] for side in (near, far)]
    found = []
    for path in _common(sides):
        here, there = (float(np.median([abs(run[path]) for run in side])) for side in sides)
        if np.isfinite(there) and here > 0 and there > GROWTH * here and there > FAR[0]:
            found.append((path, here, there))
    return found


def _common(sides: list[list[dict[str, float]]]) -> list[str]:
    """Paths that hold a number in every run."""
    first, *others = (run for side in sides for run in side)
    return [path for path in first if all(path in run for run in others)]


def positional(function: Function, data: Data, seeds: Sequence[int], alarm: float) -> Iterator[StructuralFinding]:
    """Outputs whose distribution changes when the same records come in another order (Mann-Whitney, at `alarm`).

    Random partitions pass: their distribution does not depend on the order. Partitions by position do not, and neither
    do functions that answer for each record by itself, which may be private.
    """
    half = min(len(seeds) // 2, ORDERED_RUNS)
    orders = {f"sorted by {name}": np.argsort(column, kind="stable") for name, column in columns(data)}
    for name, rows in orders.items():
        if np.array_equal(rows, np.arange(size(data))):
            continue
        other = take(data, rows)
        worst = _most_different(*sampled(function, [(data, seeds[:half]), (other, seeds[half : 2 * half])]))
        if worst is not None and worst[1] * worst[2] * len(orders) <= alarm:
            evidence = {"order": name, "p-value": worst[1], "places compared": worst[2], "runs an order": half}
            yield StructuralFinding("positional partition", worst[0], evidence, ORDERED, violation=False)


def _most_different(plain: list[State], moved: list[State]) -> tuple[str, float, int] | None:
    from scipy.stats import mannwhitneyu  # loaded on first use, as in `unbounded`

    runs = [[numbers(run) for run in side] for side in (plain, moved)]
    common = _common(runs)
    tables = [np.array([[run[path] for path in common] for run in side]) for side in runs]
    varying = [place for place in range(len(common)) if np.ptp(tables[0][:, place]) > 0]
    values = [float(mannwhitneyu(tables[0][:, j], tables[1][:, j], method="asymptotic").pvalue) for j in varying]
    if not values:
        return None
    best = int(np.argmin(values))
    return common[varying[best]], values[best], len(values)
