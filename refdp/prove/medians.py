"""How the prove reading follows choices of medians by halving intervals (Kaplan et al. 2022), `refdp.data.sketch`.

A feature's intervals lie between edges that were released, and a record is in one bin of a feature, so in one interval
of each. What an interval's edge is worth is -|L - R| / 2, of the sums on its two sides within the interval: that
`median_utilities` computes just this is shown term by term, on unknown weights of all bins, for the edges at hand.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import z3

from refdp.data import sketch
from refdp.prove.arithmetic import combined
from refdp.prove.symbols import Known, is_released, knowns, privates, public, varies
from refdp.prove.tables import Axis, Choices, Table, Within, total_of
from refdp.prove.terms import Unmodelled

_asked = itertools.count()


def median_utilities(histograms: Any, edges: Any) -> Any:
    """`sketch.median_utilities`, of private weights too. Errors: Leak for private edges, Unmodelled for weights that
    are not sums over the bins of a feature each."""
    if not any(True for _ in privates(histograms)):
        return Known(sketch.median_utilities(public(histograms), public(edges)), True)
    chosen = [np.asarray(one) for one in public(edges)]
    features = [_feature(one) for one in histograms]
    if len(set(features)) < len(features) or len(chosen) != len(features):
        raise Unmodelled("medians of weights of which two are of one feature")
    sizes = [one.size for one in histograms]
    chosen = [sketch.inside(one, size) for one, size in zip(chosen, sizes, strict=True)]
    intervals = {len(one) + 1 for one in chosen}
    if len(intervals) > 1:
        raise Unmodelled("medians of features with different numbers of intervals")
    _shown(sizes, chosen)
    rows, (each,) = len(features) * max(intervals), intervals
    drawn = _name_of(edges, chosen)

    def side(which: str) -> Table:
        def cell(index: tuple[Any, ...], world: Any) -> Any:
            group, seat, (_, tag) = index
            part = "interval", features[group], drawn
            bins = Within(part, seat, frozenset(which), f"{tag} of {features[group]}")
            return total_of(histograms[group].cell((bins,), world))

        return Table(axes, cell)

    wider = any(one.axes[0].loose for one in histograms)
    options = Axis("option", max(sizes) - 1, of=("medians", drawn), loose=wider)
    part = Axis("part", each, of=("intervals", drawn), loose=varies(edges))
    axes = Axis("each", len(features)), part, options
    away = combined("absolute", (combined("subtract", (side("a"), side("r"))),))
    worth = combined("divide", (combined("negative", (away,)), 2))
    return Choices(worth.axes, worth.cell, (rows, options.size))


def _name_of(edges: Any, chosen: Sequence[Any]) -> Any:
    """Which edges these are: released ones by themselves, since others could coincide with any."""
    if not any(map(is_released, knowns(edges))):
        return tuple(one.tobytes() for one in chosen)
    return "released", next(_asked)


def halved(edges: Any, middles: Any) -> Any:
    """`sketch.halved` of released medians: how many edges a feature has follows from how many it had."""
    longer = varies((edges, middles))
    return [Known(one, longer) for one in sketch.halved(public(edges), public(middles))]


def _feature(weights: Any) -> int:
    """The feature whose bins' sums these are, all of them or some."""
    if isinstance(weights, Table) and weights.ndim == len(weights.axes) == 1 and weights.axes[0].kind == "part":
        kind, *more = weights.axes[0].of
        if kind == "some":
            kind, *more = more[0]
        if kind == "bins":
            return int(more[0])
    raise Unmodelled("medians of anything but sums in the bins of one feature")


@dataclass(frozen=True)
class _Row:
    """An interval of a feature: bins from low up to high."""

    feature: int
    low: int
    high: int


def _rows(sizes: Sequence[int], chosen: Sequence[Any]) -> list[_Row]:
    ends = [[0, *map(int, one), size] for one, size in zip(chosen, sizes, strict=True)]
    return [_Row(f, low, high) for f, one in enumerate(ends) for low, high in itertools.pairwise(one)]


def _shown(sizes: Sequence[int], chosen: Sequence[Any]) -> None:
    """Every utility is that of its interval, for all weights. Errors: Unmodelled if it is not."""
    weights = [np.array([z3.Real(f"w{f}_{b}") for b in range(size)], dtype=object) for f, size in enumerate(sizes)]
    found, rows = sketch.median_utilities(weights, list(chosen)), _rows(sizes, chosen)
    if found.shape != (len(rows), max(sizes) - 1):
        raise Unmodelled("utilities of medians of another shape")
    for row, utilities in zip(rows, found, strict=True):
        for edge, utility in enumerate(utilities, 1):
            if not row.low <= edge <= row.high or edge >= sizes[row.feature]:
                if not (isinstance(utility, float) and utility == -np.inf):
                    raise Unmodelled("a median outside its interval that is offered")
                continue
            own = weights[row.feature]
            left, right = z3.Sum([*own[row.low : edge], z3.RealVal(0)]), z3.Sum([*own[edge : row.high], z3.RealVal(0)])
            solver = z3.Solver()
            solver.add(utility != -z3.If(left >= right, left - right, right - left) / 2)
            if solver.check() != z3.unsat:
                raise Unmodelled("a utility of a median that is not half the difference of its interval's sides")
