"""Sums of losses: tilted, windowed, transformed, bounded; and selections composed adaptively."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from pieces_of_pairs import COARSE, HIGHER, NODES, M, view
from recorded import Cases

from refdp.accounting import adaptive, composition, statistic
from refdp.accounting.adaptive import Recursion, Selections
from refdp.accounting.composition import Composition
from refdp.accounting.grid import Measure
from refdp.accounting.normal import compose as sequence
from refdp.accounting.releases import GaussianCost, LaplaceCost, RangeCost
from refdp.accounting.statistic import Power
from refdp.privacy.events import Relation

MASS = np.array([0.0, 0.125, 0.5, 0.25, 0.0625, 0.0625])
PLAIN = Composition(
    losses=np.arange(-2.0, 4.0) * 0.5, tilted=MASS, tilt=0.0, centre=0.5, log_scale=0.0, transform_error=0.0,
    relative_error=0.0, log_top=-math.inf, infinity=0.0, blur=0.0,
)  # fmt: skip
"""Every number in it and every exponential is exact, so that what is added for rounding can be told."""
TILTED = replace(
    PLAIN, tilt=1.5, log_scale=0.3, transform_error=1e-3, relative_error=1e-2, log_top=-7.0, infinity=0.01, blur=0.02
)
FALLING = replace(TILTED, tilt=3.0, log_scale=900.0, log_top=2.0)
SPREAD = Measure(
    -30, 0.25, np.exp(-((np.arange(61) - 30) ** 2) / 60) / np.exp(-((np.arange(61) - 30) ** 2) / 60).sum(), 1e-9, 1e-9
)
PARTS = [(M, 2), (HIGHER, 1), (SPREAD, 3)]
SELECTED, WITH_NOISE = (
    (sequence([(RangeCost(Fraction(1, 2)), 3), *rest])) for rest in ([], [(LaplaceCost(Fraction(1, 4)), 2)])
)
WITH_GAUSS = sequence([(RangeCost(Fraction(1, 2)), 2), (GaussianCost(Fraction(1, 9)), 1)])


def units(found: Any, exact: Any) -> np.ndarray:
    """The relative difference, in units of 2^-53."""
    return (np.asarray(found) / np.asarray(exact) - 1) * 2.0**53


def recursion(rest: Any = (), cells: int = 8, count: int = 2) -> Recursion:
    return Recursion(Selections(Fraction(1), count, rest), 0.0, cells, -20, 21, 1.0, -40.0)


def followed(measure: Measure) -> np.ndarray:
    one = recursion()
    return one._followed(np.exp(-1.5 * (one.x - one.x[0])), replace(measure, step=one.step))


def averaged(parts: Any, tilt: float) -> list[float]:
    one = replace(recursion(), tilt=tilt)
    composed = composition.compose([(replace(m, step=one.step), n) for m, n in parts], tilt)
    return [one._averaged(np.exp(-1.5 * (one.x - one.x[0])), composed, i) for i in (0, 7, 20, 33, 41)]


def crossings(one: Recursion) -> list[Any]:
    above = one.above("first")
    return [adaptive._crossing(one, above, delta)[0] for delta in (0.9, 0.5, 0.05, 1e-3, 1e-320)]


def extended(one: Recursion) -> list[float]:
    above, below = one.above("first"), one.below()
    return [adaptive._extended(one, above, below, delta) for delta in (0.99, 0.5, 0.05, 1e-3)]


def chosen(node: Any, **changed: Any) -> Any:
    given = {"width": 2.0, "origin": 0.1, "tilt": 3.0, "log_cut": -30.0, "answer": 1.5} | changed
    picked = adaptive.selections(node)
    assert picked is not None
    return Recursion.choose(picked, **given)


POWER = Power(-3, np.array([1.0, 0.9, 0.7, 0.4, 0.15, 0.01]), np.array([1.0, 0.7, 0.3, 0.1, 0.02, 0.0005]))

CASES: Cases = {
    "tilted masses": lambda: [composition.tilted_masses(one, tilt) for one in (M, HIGHER) for tilt in (0.5, 3.0)],
    "sums directly": lambda: [composition.convolve(parts) for parts in ([(M, 1)], [(M, 3)], [(M, 1), (HIGHER, 2)])],
    "rounding of sums": lambda: [
        units(composition._convolved(a, b).mass, np.convolve(a.mass, b.mass))
        for a, b in ((HIGHER, HIGHER), (HIGHER, COARSE))
    ],
    "infinite sums": lambda: composition._convolved(
        Measure(0, 1.0, np.array([1e-200, 1.0, 1e-200]), 0.0, 0.0), Measure(0, 1.0, np.array([1e-60, 1.0]), 0.0, 0.0)
    ),
    "sums from": lambda: composition._sums_from(MASS),
    "plain bounds": lambda: [PLAIN.delta_above(e) for e in (-1.0, 0.0, 0.25, 0.5, 1.4, 1.5, 2.0)],
    "plain rounding": lambda: units(
        PLAIN.upper_tails(True, slice(None)) - 1e-300, [1.0, 1.0, 0.875, 0.375, 0.125, 0.0625]
    ),
    "plain rounding below": lambda: (
        units(PLAIN.upper_tails(False, slice(1, 6)) + 2 * math.exp(-34), [1.0, 0.875, 0.375, 0.125, 0.0625]) / 2**20
    ),
    "plain exponents": lambda: [
        PLAIN._exponents,
        TILTED._exponents,
        FALLING._exponents,
        PLAIN._norm,
        TILTED._norm,
        FALLING._norm,
    ],
    "plain pieces": lambda: [
        (c.step, c.outside, c._untilting, c._tails, c._steeper_tails) for c in (PLAIN, TILTED, FALLING)
    ],
    "terms": lambda: [c._terms(e) for c in (PLAIN, TILTED, FALLING) for e in (-1.0, 0.0, 0.3, 1.49, 1.5, 9.0)],
    "tilted bounds": lambda: [
        c.delta_above(e) for c in (TILTED, FALLING) for e in (-1.0, 0.0, 0.3, 1.0, 1.5, 290.0, 300.0)
    ],
    "tilted tails": lambda: [
        c.upper_tails(above, slice(0, None, 2)) for c in (TILTED, FALLING) for above in (True, False)
    ],
    "epsilons": lambda: [c.epsilon_above(d) for c in (PLAIN, TILTED) for d in (0.9, 0.3, 0.1, 0.013, 0.001)],
    "epsilons of a window below 0": lambda: [
        replace(c, losses=c.losses - 9).epsilon_above(d) for c in (PLAIN, TILTED) for d in (0.5, 1e-3)
    ],
    "uncertain": lambda: [c.uncertain(e) for c in (PLAIN, TILTED) for e in (0.0, 1.0, 1.5)],
    "next tilts": lambda: [c.tilt_for(e) for c in (TILTED, FALLING) for e in (-30.0, 0.0, 0.6, 1.2, 30.0)],
    "rounding of transforms": lambda: [
        composition._transform_error(*args)
        for args in (
            (3, 1024, 0.7, 0.0, 0.2),
            (3, 1024, 0.7, 1e-3, 0.2),
            (10**6, 2**20, 900.0, 0.0, 1e-3),
            (1, 2, 0.0, 0.0, 0.0),
        )
    ],
    "etas": lambda: [composition._eta(n) for n in (2, 1000)],
    "windows": lambda: [
        composition._window(parts, [composition.tilted_masses(m, tilt)[1] for m, _ in parts], tilt, 0.7)
        for parts in (PARTS, [(SPREAD, 400)], [(M, 1)])
        for tilt in (0.5, 4.0)
    ],
    "blocks of masses": lambda: composition._blocks(
        Measure(3, 0.5, np.arange(1.0, 5001) / 1e6, 1.0, 0.0), np.arange(1.0, 5001)
    ),
    "log means": lambda: composition._log_means(MASS, np.array([0.5, -2.0]), PLAIN.losses),
    "spread": lambda: [
        composition._spread(p, [composition.tilted_masses(m, 1.0)[1] for m, _ in p])
        for p in (PARTS, [(Measure(0, 2.0, np.ones(1), 0.0, 0.0), 5)])
    ],
    "means": lambda: (composition._mean(MASS, PLAIN.losses), composition._norm(MASS)),
    "folded": lambda: [composition._folded(MASS, middle, length) for middle in (0, 2, 5) for length in (3, 4, 6, 9)],
    "transform merged": lambda: [
        (one.start, one.count, one.mass, one.error * 1e9)
        for parts in (PARTS, [(M, 2), (HIGHER, 2), (M, 2)], [(M, 1), (HIGHER, 1), (SPREAD, 1), (M, 2)])
        for one in composition._merged(parts, [composition.tilted_masses(m, 1.0)[1] for m, _ in parts], 500)
    ],
    "transform composed": lambda: [
        composition.compose(parts, tilt) for parts in (PARTS, [(SPREAD, 40)], [(M, 1), (M, 2)]) for tilt in (0.5, 2.0)
    ],
    "transform bounds": lambda: [composition.compose(PARTS, 1.0).delta_above(e) for e in (0.0, 1.0, 5.0)],
    # tests
    "power's deltas": lambda: [POWER.delta(e) for e in (0.0, 0.5, 1.0, 2.0, 5.0, 700.0, 701.0)],
    "power's epsilons": lambda: [POWER.epsilon(d) for d in (0.0, 1e-3, 0.05, 0.2, 0.95, 1.0)],
    "power's rounding": lambda: [
        units(Power(0, np.array([1.0]), np.array([0.0])).delta(0.0), 1.0),
        Power(0, np.array([0.5]), np.array([0.5])).epsilon(0.0) * 2.0**48,
    ],
    "transform powers": lambda: [
        statistic.power(
            sequence([(NODES["Laplace"], 3), (NODES["Gaussian"], 1)]), replace(view(False), tilt=1.5), every
        )
        for every in (True, False)
    ],
    "sides": lambda: [
        statistic._side(
            statistic.Statistic(
                -2, 0.5, np.array([[0, 0.5, 0.5, 0], [0, 0.5, 0.25, 0.25], [0.9, 0, 0, 0], [0.0, 0, 0, 1]])
            ),
            row,
        )
        for row in range(4)
    ],
    # selections
    "chosen grids": lambda: [
        chosen(node, **changed)
        for node in (SELECTED, WITH_NOISE, WITH_GAUSS)
        for changed in (
            {},
            {"width": 0.1},
            {"answer": 0.0},
            {"answer": 0.01},
            {"origin": -3.0, "answer": 30.0},
            {"width": 50.0, "answer": 50.0},
        )
    ],
    "no grid": lambda: [chosen(sequence([(RangeCost(Fraction(1, 2)), 10**6)]), width=1e-6) is None],
    "widths": lambda: [adaptive._width(NODES[name]) for name in ("Gaussian", "discrete Gaussian", "Laplace", "range")],
    "selections": lambda: [adaptive.selections(node) for node in (SELECTED, WITH_GAUSS)],
    "values above": lambda: [
        recursion(count=count).above("first")(i) for count in (0, 1, 3) for i in (-20, -3, 0, 1, 8, 20)
    ],
    "values below": lambda: [recursion(count=count).below() for count in (0, 1, 3)],
    "values of the next selection": lambda: recursion()._worst(np.linspace(1, 0, 42) ** 2),
    "values above with noise": lambda: [
        recursion(((NODES["Laplace"], 2),)).above("first")(i) for i in (-20, -3, 0, 1, 8, 20)
    ],
    "transform values below with noise": lambda: recursion(((NODES["Laplace"], 2),)).below(),
    "values followed": lambda: [
        followed(one) for one in (M, HIGHER, replace(M, start=-40), replace(M, start=30), replace(M, blur=0.2))
    ],
    "transform averages": lambda: [
        averaged(parts, tilt)
        for parts in ([(M, 2)], [(HIGHER, 3), (M, 1)], [(replace(M, blur=0.2), 1)])
        for tilt in (0.5, 3.0)
    ],
    "values tested": lambda: [
        recursion()._tested(Power(start, POWER.above, POWER.above_q)) for start in (-25, -3, 0, 19)
    ],
    "crossings": lambda: [crossings(recursion(count=count)) for count in (1, 3)],
    "crossings of another origin": lambda: crossings(replace(recursion(), origin=-0.3)),
    "extensions": lambda: [extended(recursion(count=count)) for count in (1, 3)],
    "chances": lambda: adaptive._chances(1.5, 5),
    "transform adaptive epsilons": lambda: [
        adaptive.enclose_epsilon(sequence([(RangeCost(Fraction(1, 2)), 2), *rest]), Relation.REPLACE_ONE, 0.01, both)
        for rest in ([],)
        for both in (True, False)
    ],
    "transform adaptive deltas": lambda: [
        adaptive.enclose_delta(sequence([(RangeCost(Fraction(1, 2)), 2)]), Relation.REPLACE_ONE, e) for e in (0.0, 0.4)
    ],
}
