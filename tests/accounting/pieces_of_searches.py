# ruff: noqa: B023 (what closes over a loop is called inside it)
"""Searches: which points are asked for, and the grids and slots that are chosen."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from pieces_of_pairs import LOSSES, NODES, PAIRS
from recorded import Cases

from refdp.accounting import allocation, calibration, enclosure, monte_carlo
from refdp.accounting.allocation import Largest
from refdp.accounting.bound import Bound
from refdp.accounting.normal import Blocks, Composed, Mixture, Sampled
from refdp.accounting.normal import compose as sequence
from refdp.accounting.releases import GaussianCost, LaplaceCost, PureCost
from refdp.privacy.events import Relation

GAUSS = GaussianCost(Fraction(1, 4))
SLOTS = {
    "Laplace": Mixture(
        ((NODES["Laplace"], 1.0),), ((NODES["Laplace"], 0.125),), False, ((NODES["Laplace"], 0.125, 8),)
    ),
    "Gaussian": Mixture(((GAUSS, 1.0),), ((GAUSS, 0.0625),), False, ((GAUSS, 0.0625, 16),)),
    "of two kinds": Mixture(
        ((GAUSS, 0.5), (NODES["pure"], 0.5)),
        ((GAUSS, 0.0625), (NODES["pure"], 0.125)),
        False,
        ((GAUSS, 0.0625, 8), (NODES["pure"], 0.125, 4)),
    ),
}
TWICE = sequence([(SLOTS["Gaussian"], 2), (NODES["Laplace"], 3)])
DEEP = Composed(((Sampled(0.1, Composed(((Blocks(((NODES["slots"], 2),), 1), 3),)), "poisson"), 2),))


def asked(search: Callable[[Callable[..., float]], Any], excess: Callable[[float], float]) -> list[float]:
    """The answer of a search, and every point that it asks for."""
    points: list[float] = []

    def see(x: float, quick: bool = False) -> float:
        points.append(-x if quick else x)
        return excess(x)

    return [float(search(see)), *points]


def curved(x: float) -> float:
    return math.log(x / 3.7) * 0.8


def answer(node: Any, value: float) -> Bound:
    """Of fixed bounds, lower for less weight: a node's own figures play no part."""
    size = sum(times for _, times in enclosure.parts(node)) / 100
    return Bound(value, size, 0.5 * size, size, "made", {})


def choice(node: Any, tilt: float, epsilon: float) -> Any:
    grid = enclosure.Grid.choose(node, Relation.ADD_REMOVE, tilt, epsilon, -30.0)
    return (grid.step, grid.tilt, grid.log_cut)


CASES: Cases = {
    "log Laplace transforms": lambda: [
        allocation._log_laplace(node, w) for node in (NODES["Laplace"], GAUSS, NODES["pure"]) for w in (0.01, 0.5)
    ],
    "log Laplace transforms of far losses": lambda: allocation._log_laplace(LaplaceCost(Fraction(200)), 0.1),
    "heaviest": lambda: [allocation.Above(node).heaviest for node in (*SLOTS.values(), TWICE)],
    "failures": lambda: [
        allocation.Above(node).failure(c) for node in (*SLOTS.values(), TWICE) for c in (1.0, 1.5, 4.0, 15.0)
    ],
    "samples": lambda: [
        (
            None
            if found is None
            else [(n.rate if isinstance(n, Sampled) else 0.0, k) for n, k in enclosure.parts(found[0])],
            None if found is None else found[1],
        )
        for node in (*SLOTS.values(), TWICE)
        for beta in (1e-9, 1e-3, 0.5)
        for found in [allocation.Above(node).sampled(beta)]
    ],
    "tightened": lambda: [
        allocation.tightened(
            Bound(0.5, 0.01, 0.0, upper, "before", {"before": upper}), node, Relation.ADD_REMOVE, at, answer, both
        )
        for node in (SLOTS["Gaussian"], TWICE)
        for at in (("delta", 0.01), ("epsilon", 0.5))
        for upper in (0.9, 0.01)
        for both in (False,)
    ],
    "most": lambda: [allocation._most(node) for node in (*SLOTS.values(), GAUSS)],
    "summed": lambda: [allocation._summed(node) for node in (*SLOTS.values(), TWICE)],
    "largest below": lambda: [
        allocation._largest_below(node, Relation.ADD_REMOVE, at)
        for node in (SLOTS["Gaussian"], GAUSS)
        for at in (("delta", 0.001), ("delta", 0.0), ("epsilon", 0.1))
    ],
    "bounds of the largest": lambda: [allocation._bounds((node, 0.125, 8)) for node in (NODES["Laplace"], GAUSS)],
    **{
        f"largest of {slots} {name}": lambda slots=slots, name=name: [
            (one.tails(LOSSES), one.bounds, one.rounding, one.rest) for one in [Largest(0.1, slots, PAIRS[name])]
        ]
        for slots in (2, 7, 10)
        for name in ("Gaussian", "Laplace", "two points")
    },
    **{
        f"grid {name}": lambda node=node: [
            choice(node, tilt, e) for tilt in (0.5, 30.0) for e in (0.0, 0.01, 3.0, math.inf)
        ]
        for name, node in NODES.items()
    },
    "grid of a tiny loss": lambda: [
        choice(PureCost(Fraction(1, 10**9)), 30.0, 1e-9),
        choice(sequence([(GAUSS, 1000)]), 5.0, 30.0),
    ],
    "aligned": lambda: [enclosure._aligned(node, 0.3) for node in (GAUSS, NODES["Laplace"], TWICE, NODES["composed"])],
    "attempts": lambda: [
        (enclosure._attempts(node), enclosure._grids(node))
        for node in (*NODES.values(), *SLOTS.values(), DEEP, sequence([(DEEP, 1), (NODES["composed"], 1)]))
    ],
    "directions": lambda: [enclosure.directions(node) for node in (*NODES.values(), *SLOTS.values(), DEEP)],
    "tilts": lambda: [enclosure._tilt(order) for order in (0.5, 1.02, 3.0, 1e7)],
    "transform enclosed": lambda: [
        (
            enclosure.enclose_epsilon(node, Relation.ADD_REMOVE, 1e-3, both).upper,
            enclosure.enclose_delta(node, Relation.ADD_REMOVE, 0.2).upper,
        )
        for node in (sequence([(NODES["Laplace"], 2)]),)
        for both in (False,)
    ],
    "quickly": lambda: [
        asked(lambda see: calibration._quickly(see, good, bad), lambda x: curved(x) if bad > good else -curved(x))
        for good, bad in ((1e-3, 50.0), (50.0, 1e-3), (1.0, 2.0), (-1.0, 9.0))
        if good > 0
    ],
    "false position": lambda: [
        asked(
            lambda see: calibration._falsi(see, good, bad, under, over, relative),
            lambda x: curved(x) if bad > good else -curved(x),
        )
        for good, bad, under, over in (
            (1.0, 9.0, curved(1.0), curved(9.0)),
            (9.0, 1.0, -curved(9.0), -curved(1.0)),
            (1.0, 9.0, 0.0, 1.0),
            (1.0, 9.0, -1e9, 1e-9),
        )
        for relative in (1e-2, 1e-6)
    ],
    "largest counts": lambda: [
        asked(
            lambda see: calibration._largest(see, low, high, stride), lambda n: (n - most) / 7 if n != most else -1e-9
        )
        for low, high, stride, most in (
            (0, 50, 1, 37),
            (0, 37, 1, 60),
            (5, 900, 2, 6),
            (0, 10, 3, 0),
            (10, 2000, 50, 1111),
            (2**20 + 5, 2**23, 2**16, 5 * 10**6),
        )
    ],
    "estimates": lambda: [
        monte_carlo.estimate_delta(np.array(losses), epsilon, confidence)
        for losses in ([0.5], [0.1, 2.0, -1.0, 0.7], [-1.0] * 9, [math.inf] * 5, np.linspace(-1, 2, 300))
        for epsilon, confidence in ((0.0, 0.99), (0.6, 0.9))
    ],
    "divergences of two chances": lambda: [
        monte_carlo._divergence(p, q) for p in (0.0, 0.3, 1.0) for q in (-0.1, 0.0, 0.2, 1.0, 1.1)
    ],
}
