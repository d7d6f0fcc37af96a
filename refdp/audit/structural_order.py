"""Structural checks that change the data: an outlier that moves what should be public, an order that matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import mannwhitneyu

from refdp.audit.structural_samples import Data, Function, State, StructuralFinding, columns, sample, size, take
from refdp.audit.structural_state import numbers

ORDERED_RUNS = 60
"""Runs on each order of the records."""
FAR = (1e6, 1e9)
"""How far outliers lie, in multiples of the largest value."""
GROWTH = 100.0
"""An output that grows at least so much when the outlier moves 1000 times as far follows it."""


def ranges(function: Function, data: Data, seeds: Sequence[int]) -> Iterator[StructuralFinding]:
    """Outputs that follow one record as far as it goes. What is clamped to public bounds does not.

    A function that refuses outliers is not asked.
    """
    for name, near, far in _outliers(data):
        runs = [sample(function, records, seeds) for records in (near, far)]
        if any("raises" in run for side in runs for run in side):
            continue
        moved = _followers(*runs)
        if moved:
            path, here, there = moved[0]
            evidence = {"outlier in": name, "outputs that follow": len(moved), "at 1e6": here, "at 1e9": there}
            meaning = "one record moves this output as far as it likes: a range or a sum taken from the data"
            yield StructuralFinding("data-dependent range", path, evidence, meaning)


def _outliers(data: Data) -> Iterator[tuple[str, Data, Data]]:
    """The data with one value of one record far away, and a thousand times as far."""
    parts = data if isinstance(data, tuple) else (data,)
    for place, part in enumerate(parts):
        table = np.asarray(part)
        if not np.issubdtype(table.dtype, np.floating):
            continue
        for column in range(table.reshape(len(table), -1).shape[1]):
            moved = [_with_outlier(table, column, far) for far in FAR]
            whole = [(*parts[:place], one, *parts[place + 1 :]) if isinstance(data, tuple) else one for one in moved]
            yield f"column {column} of part {place}", whole[0], whole[1]


def _with_outlier(table: np.ndarray, column: int, far: float) -> np.ndarray:
    changed = table.copy()
    changed.reshape(len(changed), -1)[0, column] = far * max(float(np.abs(table).max()), 1.0)
    return changed


def _followers(near: list[State], far: list[State]) -> list[tuple[str, float, float]]:
    sides = [[numbers(run) for run in side] for side in (near, far)]
    common = [path for path in sides[0][0] if all(path in run for side in sides for run in side)]
    found = []
    for path in common:
        here, there = (float(np.median([abs(run[path]) for run in side])) for side in sides)
        if np.isfinite(there) and here > 0 and there > GROWTH * here and there > FAR[0]:
            found.append((path, here, there))
    return found


def positional(function: Function, data: Data, seeds: Sequence[int], alarm: float) -> Iterator[StructuralFinding]:
    """Outputs whose distribution changes when the same records come in another order (Mann-Whitney, at `alarm`).

    Random partitions pass: their distribution does not depend on the order. Partitions by position do not.
    """
    half = min(len(seeds) // 2, ORDERED_RUNS)
    orders = {f"sorted by {name}": np.argsort(column, kind="stable") for name, column in columns(data)}
    plain = sample(function, data, seeds[:half])
    for name, rows in orders.items():
        if np.array_equal(rows, np.arange(size(data))):
            continue
        moved = sample(function, take(data, rows), seeds[half : 2 * half])
        worst = _most_different(plain, moved)
        if worst is not None and worst[1] * worst[2] * len(orders) <= alarm:
            evidence = {"order": name, "p-value": worst[1], "places compared": worst[2], "runs an order": half}
            meaning = "the outcome depends on the order of the records: with a partition by position, adding one record"
            yield StructuralFinding("positional partition", worst[0], evidence, f"{meaning} moves others")


def _most_different(plain: list[State], moved: list[State]) -> tuple[str, float, int] | None:
    runs = [[numbers(run) for run in side] for side in (plain, moved)]
    common = [path for path in runs[0][0] if all(path in run for side in runs for run in side)]
    tables = [np.array([[run[path] for path in common] for run in side]) for side in runs]
    if not common or not len(tables[0]):
        return None
    varying = [place for place in range(len(common)) if np.ptp(tables[0][:, place]) > 0]
    values = [float(mannwhitneyu(tables[0][:, j], tables[1][:, j], method="asymptotic").pvalue) for j in varying]
    if not values:
        return None
    best = int(np.argmin(values))
    return common[varying[best]], values[best], len(values)
