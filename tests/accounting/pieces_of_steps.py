# ruff: noqa: B023 (what closes over a loop is called inside it)
"""What searches for noise, for a tilt and for windows try, one after the other, where the costly parts are made up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
from pieces_of_pairs import GAUSS, LAPLACE, NODES, M, view
from pieces_of_sums import FALLING, PARTS, TILTED, recursion, units
from recorded import Cases

from refdp.accounting import (
    adaptive,
    calibration,
    composition,
    distributions,
    enclosure,
    gaussian,
    grid,
    mixtures,
    statistic,
)
from refdp.accounting.composition import WindowTooWide
from refdp.accounting.grid import Measure
from refdp.accounting.normal import compose as sequence
from refdp.accounting.pairs import NoPair
from refdp.accounting.releases import RangeCost, SuppliedCost
from refdp.errors import InvalidParameter
from refdp.privacy.events import Relation


def refused(call: Callable[[], Any]) -> Any:
    """What it gives, or the kind of its error and the first word of what it says."""
    try:
        return call()
    except (InvalidParameter, NoPair, WindowTooWide, ArithmeticError) as error:
        return f"{type(error).__name__}: {str(error).split()[0]}"


def searched(
    call: Callable[[Callable[[float], Any]], float], cost: Callable[[float], float], loose: float = 1.0
) -> list[Any]:
    """The answer, and every plan whose ε was asked for, those of the quick methods negative. loose: their factor."""
    asked: list[float] = []

    def account(plan: Any, *, delta: float, quick: bool, both: bool) -> Any:
        assert delta == 1e-6 and not both
        asked.append(-plan if quick else plan)
        return SimpleNamespace(epsilon=cost(plan) * (loose if quick else 1.0))

    with patch.object(calibration, "account", account):
        return [refused(lambda: call(lambda x: x)), *asked]


def noisy(**given: Any) -> list[Any]:
    wanted = {"low": 1e-2, "high": 1e3} | {
        k: v for k, v in given.items() if k in ("low", "high", "increasing", "relative")
    }
    return searched(
        lambda plan_of: calibration.calibrate(plan_of, given.get("epsilon", 1.0), 1e-6, **wanted),
        given["cost"],
        given.get("loose", 1.0),
    )


def excesses() -> list[float]:
    found = []
    for epsilon in (0.0, 0.5, 1.0, 1.0 + 1e-15, 2.0, 1e30, math.inf):
        with patch.object(calibration, "account", lambda *_, epsilon=epsilon, **__: SimpleNamespace(epsilon=epsilon)):
            found += [calibration._excess(None, 1.0, 1e-6, True), calibration._both(None, 1.0, 1e-6)]  # type: ignore[arg-type]
    return found


class Made(enclosure._Search):
    """A search whose windows are too wide above a tilt, and whose answers are told."""

    widest = 1e9
    falls = True

    def _grid(self, tilt: float) -> Any:
        def composed(direction: Any) -> Any:
            TRIED.append(tilt)
            if tilt > self.widest:
                raise WindowTooWide(600 + 100 * tilt if self.falls else 5000.0)
            share = abs(math.log(tilt / 3)) * 1e-5
            return SimpleNamespace(tilt=tilt, uncertain=lambda at: share, tilt_for=lambda at: math.sqrt(tilt * 3))

        return SimpleNamespace(composition=composed, power=lambda direction: (tilt, direction))


TRIED: list[float] = []


def tilts(
    start: float, goal: float, widest: float = 1e9, falls: bool = True, node: Any = NODES["Laplace"]
) -> list[Any]:
    """The tilts tried on the way to one within a tenth of the goal."""
    TRIED.clear()

    def turn(one: Any) -> int:
        return 0 if abs(one.tilt / goal - 1) < 0.1 else 1 if one.tilt < goal else -1

    search = Made(node, Relation.ADD_REMOVE, 1.0, -30.0, turn, lambda one: 1.0)
    object.__setattr__(search, "widest", widest)
    object.__setattr__(search, "falls", falls)
    found = search.tilted("first", start)
    return [None if found is None else found.tilt, *TRIED]


def tests_below(first: float, second: float) -> list[Any]:
    search = Made(NODES["sampled"], Relation.ADD_REMOVE, 1.0, -30.0, lambda _: 0, lambda _: 1.0)
    found: Any = {"first": SimpleNamespace(tilt=1.0), "second": SimpleNamespace(tilt=2.0)}
    return search.below(found, {"first": first, "second": second})


def retried(narrow: float, tilt: float) -> list[Any]:
    tried: list[float] = []

    def answer(at: float) -> tuple[float, float] | None:
        tried.append(at)
        if at > narrow:
            raise WindowTooWide(1.0)
        return at, 1.0

    return [adaptive._retried(answer, tilt), *tried]


def cells_of_windows() -> list[Any]:
    """On both sides of the largest number of cells, and of the widest window."""
    found: list[Any] = []
    low, high, _ = composition._window(PARTS, [composition.tilted_masses(m, 1.0)[1] for m, _ in PARTS], 1.0, sum(
        n * composition.tilted_masses(m, 1.0)[0] for m, n in PARTS))  # fmt: skip
    cells = math.ceil(high / 0.25) - math.floor(low / 0.25) + 1
    for off in (0, -1):
        with patch.object(composition, "MOST_CELLS", cells + off):
            found.append(refused(lambda: len(composition.compose(PARTS, 1.0).losses)))
    for factor in (1 + 1e-9, 1 - 1e-9):
        with patch.object(composition, "_RANGE", 2 * (high - low + 0.25) * factor):
            found.append(refused(lambda: len(composition.compose(PARTS, 1.0).losses)))
    return [cells, *found]


def coarse(module: Any, name: str, value: float, call: Callable[[], Any]) -> Any:
    with patch.object(module, name, value):
        return call()


def measured(total: float, infinity: float, above: bool) -> Any:
    return refused(lambda: Measure(0, 1.0, np.array([total / 2, total / 2]), infinity, 0.0, above).infinity)


def stepped(x: float) -> float:
    return math.exp(-x) if x < 2 else 0.125


CASES: Cases = {
    "noise that is searched": lambda: [noisy(cost=lambda x: 3 / x, loose=loose) for loose in (1.0, 1.4)],
    "noise, coarsely": lambda: noisy(cost=lambda x: 3 / x**2, relative=1e-2, loose=1.1),
    "rates": lambda: [noisy(cost=lambda x: x * math.sqrt(x), increasing=True, loose=loose) for loose in (1.0, 2.5)],
    "noise in steps": lambda: noisy(cost=stepped, epsilon=0.5, loose=1.01),
    "noise out of reach": lambda: [
        noisy(cost=lambda x: 1e9),
        noisy(cost=lambda x: 1 / x, epsilon=1e-3, loose=1.5),
        noisy(cost=lambda x: 0.0),
        noisy(cost=lambda x: x, increasing=True, epsilon=1e3),
    ],
    "wrong searches": lambda: (
        [
            noisy(cost=lambda x: 1 / x, **wrong)
            for wrong in (
                {"epsilon": 0.0},
                {"epsilon": math.inf},
                {"low": 0.0},
                {"low": 2.0, "high": 2.0},
                {"high": math.inf},
            )
        ]
        + [refused(lambda: calibration.calibrate(lambda x: x, 1.0, d)) for d in (1.0, -0.1)]
    ),  # type: ignore[arg-type, return-value]
    "totals": lambda: [
        searched(lambda p: calibration.calibrate_total(p, 1.0, 1e-6, most=9.0), lambda x: cost * x**0.7)
        for cost in (0.5, 1.1, 0.1)
    ],
    "counts": lambda: [
        searched(lambda p: calibration.calibrate_count(p, 1.0, 1e-6, high=high), lambda n: n / most, loose=loose)
        for most, high, loose in ((37.5, 100, 1.0), (37, 100, 1.5), (0.5, 10, 1.0), (1e6, 50, 1.2), (3e6, 2**40, 1.001))
    ],
    "excesses of plans": excesses,
    "tilts that are tried": lambda: [
        tilts(start, goal, **more)
        for start, goal in ((1.0, 1.0), (1.0, 40.0), (40.0, 0.3), (3.0, 3.5))
        for more in ({}, {"widest": 10.0}, {"widest": 2.0, "falls": False})
    ],
    "few tilts in deep parts": lambda: tilts(
        1.0,
        1e9,
        node=sequence(
            [(NODES["composed"], 1), (NODES["sampled sequence"], 3), (NODES["slots"], 2), (NODES["blocks"], 1)]
        ),
    ),
    "tests of dear directions": lambda: [
        tests_below(*uppers)
        for uppers in ((1.0, 1.0), (1.0, 0.9995), (0.9995, 1.0), (0.9, 1.0), (1.0, 0.9), (1.0 - 1e-7, 1.0))
    ],
    "tilts that are halved": lambda: [
        retried(narrow, tilt) for narrow, tilt in ((0.3, 1.0), (1e9, 1e-3), (1e9, 1e5), (1e-9, 5.0))
    ],
    "cells of windows": cells_of_windows,
    "sums on coarser grids": lambda: [
        coarse(module, name, 64, lambda node=node: call(node, view(above, step=0.01)))
        for module, name, call, above in (
            (statistic, "_INNER_CELLS", statistic.statistic_of, False),
            (distributions, "_CONVOLVED_CELLS", distributions.measure_of, True),
            (distributions, "_INNER_CELLS", distributions.measure_of, True),
        )
        for node in (NODES["composed"], NODES["sampled sequence"], NODES["slots"])
    ],
    "sides of the last cells": lambda: coarse(
        statistic, "_MOST_CELLS", 20, lambda: statistic.statistic_of(NODES["sampled sequence"], view(False, "second"))
    ),
    "transform thresholds": lambda: [
        coarse(
            statistic,
            "_THRESHOLDS",
            most,
            lambda every=every: statistic.power(NODES["composed"], replace(view(False), tilt=1.0), *every),
        )
        for most in (10, 1000)
        for every in ((), (True,), (False,))
    ],
    "measures that are bounds": lambda: (
        [
            measured(total, infinity, above)
            for above in (True, False)
            for total, infinity in (
                (1.0, 0.0),
                (0.5, 0.5),
                (1 - 2.0**-39, 0.0),
                (1 - 2.0**-41, 0.0),
                (1 + 2.0**-39, 0.0),
                (1 + 2.0**-41, 0.0),
                (1.0, math.inf),
                (1.0, math.nan),
            )
        ]
        + [refused(lambda: Measure(0, 1.0, np.array([1.5, -0.5]), 0.0, 0.0))]
    ),
    "cells of crossing tails": lambda: grid._differences(
        np.array([1.0, 0.6, 0.7, 0.1, 0.0]), np.array([0.0, 0.4, 0.3, 0.9, 1.0]), 1e-3
    ),
    "rounding of envelopes": lambda: [
        units(one.infinity, 0.125)
        for one in (grid.envelope([M, Measure(-2, 0.25, np.array([0.25, 0.375, 0.25]), 0.125, 0.0)]),)
    ],
    "roundings of exchanged pairs": lambda: [
        mixtures.Exchanged(0.3, one, other).rounding
        for rough in (mixtures.MeasuredPair(replace(M, blur=1e-3)),)
        for one, other in ((rough, GAUSS), (GAUSS, rough), (LAPLACE, GAUSS))
    ],
    "supplied ranges": lambda: [
        distributions.loss_range(SuppliedCost(SimpleNamespace(pair=lambda direction, pair=pair: pair)))  # type: ignore[arg-type]
        for pair in (None, LAPLACE)
    ],
    "gaussians below": lambda: (
        [
            units(gaussian.delta_below(mu, e), gaussian.delta(mu, e)) < 0
            and gaussian.epsilon_below(mu, d, gaussian.epsilon(mu, d)) < gaussian.epsilon(mu, d)
            for mu in (0.1, 2.0)
            for e in (0.0, 1.5)
            for d in (1e-9, 0.01)
        ]
        + [
            gaussian.epsilon_below(mu, d, hint)
            for mu, d, hint in ((1.0, 0.01, math.inf), (1.0, 0.01, 1e-9), (1.0, 0.3, 5.0), (0.01, 0.5, 1e-300))
        ]
    ),
    "averages where cells are lost": lambda: [
        recursion()._averaged(np.exp(-1.5 * np.arange(42) / 8), replace(one, blur=blur), i)
        for one in (
            replace(TILTED, losses=np.arange(-2.0, 4.0) / 8),
            replace(FALLING, losses=np.arange(30.0, 36.0) / 8, log_scale=20.0),
        )
        for blur in (0.0, 0.1, 0.125, 0.2)
        for i in (0, 3, 20, 41)
    ],
    "transform adaptive answers with noise": lambda: [
        adaptive.enclose_delta(
            sequence([(RangeCost(Fraction(1, 4)), 1), (NODES["Laplace"], 1)]), Relation.ADD_REMOVE, 0.3
        )
    ],
    "rounding of added statistics": lambda: [
        units(
            statistic.added([statistic.Statistic(0, 1.0, np.full((4, n), 1 / n)) for n in lengths]).masses[:, 0],
            math.prod(1 / n for n in lengths),
        )
        for lengths in ((2, 8), (8, 2), (4, 4, 2))
    ],
    "rounding of what is told": lambda: [
        units(statistic._told(statistic.Statistic(start, 0.5, np.full((4, 2), 0.5)), 0.25).masses, exact)
        for start, exact in ((1, [0.75, 0.125, 0.125]), (-2, [0.125, 0.125, 0.75]))
    ],
    "stated errors": lambda: [
        (one.relative_error, one.blur, one.infinity, one.log_scale, one.tilt, one.centre)
        for one in (composition.compose(PARTS, 0.5), composition.compose([(M, 1), (M, 2)], 3.0))
    ],
}
