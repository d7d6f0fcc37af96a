"""The exact trade-off curve of the release that shows a finding, as a figure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from refdp.audit.exact_curve import Outcomes, charged
from refdp.audit.page import Figure, axes_of
from refdp.audit.page_words import release_in_words
from refdp.audit.replay import Change
from refdp.audit.tradeoff import allowed

Floats = NDArray[np.float64]

SEEN = 1e-9
"""Least excess of tests over what is allowed, in probability, that is no rounding."""
CORNER = 0.4
"""Widest part of the curve that is magnified."""


def least(cost: tuple[str, float], alarms: Floats) -> Floats:
    """Fewest misses at these false alarms that a cost allows: ("epsilon", pure) or ("mu", Gaussian).

    Of the shape of the false alarms.
    """
    kind, size = cost
    if kind == "epsilon":
        return allowed(alarms, min(size, 700.0))
    return np.asarray(special.ndtr(special.ndtri(1 - alarms) - size))


def corner(alarms: Floats, excess: Floats) -> tuple[float, float] | None:
    """The false alarms to magnify: where the excess over what is allowed sits in one corner of the curve.

    Shape (corners,) each.
    """
    place = int(np.argmax(excess))
    if excess[place] <= SEEN:
        return None
    reach = 3 * min(float(alarms[place]), 1 - float(alarms[place]))
    if not 0 < reach < CORNER:
        return None
    return (0.0, reach) if alarms[place] < 0.5 else (1 - reach, 1.0)


def _magnified(axes: Any, window: tuple[float, float], cost: tuple[str, float], alarms: Floats, misses: Floats) -> None:
    inner = axes.inset_axes((0.56, 0.46, 0.42, 0.32))
    x = np.linspace(*window, 200)
    inner.plot(x, least(cost, x), color="#b3261e")
    inner.plot(alarms, misses, color="#0b3d91")
    low, high = np.interp(window[::-1], alarms, misses)
    inner.set(xlim=window, ylim=(min(low, float(least(cost, x).min())), high))
    inner.tick_params(labelsize=7)
    inner.set_title("the corner, magnified", fontsize=8)


def exact_figure(change: Change, cells: Outcomes, which: str) -> Figure:
    """Errors of the best tests of this release, and the fewest misses that its declared cost allows."""
    axes, finish = axes_of("exact trade-off")
    x = np.linspace(0, 1, 400)
    cost, (alarms, misses) = charged(change), cells.curve()
    axes.plot(alarms, misses, color="#0b3d91", label="best tests, exact")
    if cost is not None:
        axes.plot(x, least(cost, x), color="#b3261e", label=f"fewest misses that {cost[0]} {cost[1]:.4g} allows")
        window = corner(alarms, least(cost, alarms) - misses)
        if window is not None:
            _magnified(axes, window, cost, alarms, misses)
    axes.plot(x, 1 - x, color="#888", lw=0.7, ls=":", label="guessing")
    axes.set(xlabel="false alarms: first side called second", ylabel="misses: second side called first",
             xlim=(0, 1), ylim=(0, 1))  # fmt: skip
    axes.legend(fontsize=8)
    name = change.entry.request.name
    worst = max(change.forward, change.backward)
    told = "some outputs are possible on one side only" if math.isinf(worst) else f"its loss is {worst:.4g} at most"
    caption = (
        f"What this release ({release_in_words(name)}) reveals on {which}, computed from its law on both sides, given "
        f"the outputs before it that tell most; no run is sampled. Here {told}. Where the blue line lies below the red "
        "one, more is revealed than is charged."
    )
    return Figure(f"Exact trade-off curve of {name}", finish(), caption)
