"""Rényi curves and their conversions, at small and large orders and losses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from pieces_of_pairs import NODES
from recorded import Cases

from refdp.accounting import binomial, conversion, curves, divergence, gaussian, individual, pure, sampling
from refdp.privacy.events import Relation

ORDERS = np.array([1.001, 1.25, 1.5, 2.0, 2.5, 3.0, 7.3, 20.0, 255.5, 256.0, 257.0, 5000.0])
WHOLE = np.arange(257.0)


def inside(orders: np.ndarray) -> np.ndarray:
    return np.asarray(0.05 * orders + 0.001 * orders**2)


CASES: Cases = {
    **{
        f"curve {curve} of {size}": lambda curve=curve, size=size: getattr(curves, curve)(size, ORDERS)
        for curve in (
            "gaussian",
            "laplace",
            "randomised_response",
            "bounded_range",
            "bounded_range_pair",
            "bounded_range_tilt",
        )
        for size in (1e-4, 0.03, 0.7, 1.0, 6.0)
    },
    **{
        f"curve discrete_laplace of {rate} and {shift}": lambda rate=rate, shift=shift: curves.discrete_laplace(
            rate, shift, ORDERS
        )
        for rate, shift in ((1e-5, 3), (0.02, 2), (0.4, 1), (0.4, 5), (3.0, 2))
    },
    "excesses": lambda: curves.expm1_excess(np.array([-1.0, -0.6, -0.01, 0.0, 1e-5, 0.3, 1.0])),
    "power excesses": lambda: curves.power_excess(np.array([1.5, 2.0, 4.0, 0.5]), np.array([0.3, -0.5, 0.25, -0.9])),
    "log sinhc": lambda: curves._log_sinhc(np.array([0.0, 1e-6, 0.1, 0.9, 0.999, 1.0, 1.001, 3.0, 50.0])),
    **{
        f"poisson gaussian {rate} {sigma}": lambda rate=rate, sigma=sigma: sampling.poisson_gaussian(
            rate, sigma, ORDERS[:-1]
        )
        for rate, sigma in ((0.01, 0.2), (0.01, 1.0), (0.5, 3.0), (0.9, 0.6))
    },
    "poisson gaussian's steps": lambda: [sampling._step(sigma) for sigma in (0.05, 0.1, 0.15, 0.2, 0.3, 1.0, 7.0)],
    "integrand": lambda: sampling._log_integrand(
        np.array([-9.0, 0.0, 0.5, 0.6, 4.0]), np.array([2.0, 3.0, 1.5, 9.0, 4.0]), 0.2, 0.4
    ),
    "poisson": lambda: [sampling.poisson(0.1, inside, symmetric=s)[[0, 1, 2, 3, 4, 90, 256]] for s in (True, False)],
    "without replacement": lambda: [
        sampling.without_replacement(0.1, curve, top)[[0, 1, 2, 3, 4, 90, 256]]
        for curve, top in (
            (inside, np.inf),
            (inside, 0.3),
            (lambda a: 1e-3 * a, 0.05),
            (lambda a: 0 * a, 0.0),
            (inside, 60.0),
        )
    ],
    "moments inside": lambda: sampling._inner_moments(inside),
    "binomial coefficients": lambda: (
        np.nan_to_num(sampling._log_choose(), neginf=-5.0),
        np.nan_to_num(sampling._log_binomial(0.3), neginf=-5.0),
    ),
    "row sums": lambda: sampling._log_row_sums(np.tile(np.array([-np.inf, np.log(0.25), np.log(0.5)]), (5, 1))),
    "rounding of row sums of 1": lambda: sampling._log_row_sums(np.array([[0.0, -np.inf]] * 130)) + 0.0,
    "a sum of nothing": lambda: sampling._log_row_sums(np.full((4, 2), -np.inf)),
    "chords": lambda: sampling.chords(ORDERS, WHOLE**1.5 / 50, lambda a: 0.5 * a),
    "chords below what is inside": lambda: sampling.chords(ORDERS, WHOLE**1.5 / 50, lambda a: 0.01 * a),
    "binomial masses": lambda: [
        binomial.log_masses_above(np.arange(n + 1.0), n, odds) for n, odds in ((1, 0.0), (7, 0.5), (40, 2.0), (3, 30.0))
    ],
    "stirling": lambda: binomial._stirling(np.array([0.0, 1.0, 2.0, 14.0, 15.0, 16.0, 17.0, 40.0, 1e6])),
    "deviance": lambda: [
        binomial._deviance(np.array([0.0, 1.0, 9.0, 10.0, 10.5, 13.0, 40.0]), mean) for mean in (1.0, 10.0)
    ],
    "a binomial of one kind": lambda: np.array(binomial.log_masses_above(np.array([0.0]), 0, 1.0)),
    **{
        f"conversion {name}": lambda name=name: [
            getattr(conversion, name)(ORDERS, 0.3 * ORDERS, delta) for delta in (1e-9, 0.1)
        ]
        for name in ("mironov", "canonne", "asoodeh", "epsilons")
    },
    "conversion to delta": lambda: [
        conversion.log_deltas(ORDERS, 0.3 * ORDERS, epsilon) for epsilon in (0.0, 1.0, 30.0)
    ],
    **{
        f"node's curve {name}": lambda node=node: [
            divergence.node_curve(node, r, ORDERS[:9]) for r in (Relation.ADD_REMOVE, Relation.REPLACE_ONE)
        ]
        for name, node in NODES.items()
    },
    **{
        f"node's order {name}": lambda node=node: [
            divergence.node_renyi_epsilon(node, Relation.ADD_REMOVE, 1e-6),
            divergence.node_renyi_delta(node, Relation.ADD_REMOVE, 1.0),
            divergence.node_renyi_epsilon(node, Relation.ADD_REMOVE, 0.0),
        ]
        for name, node in NODES.items()
    },
    **{
        f"pure {name}": lambda node=node: [
            *(pure.node_epsilon(node, r) for r in (Relation.ADD_REMOVE, Relation.REPLACE_ONE)),
            pure.as_pure(node, Relation.ADD_REMOVE),
            divergence.is_symmetric(node),
            divergence.has_sampling(node),
        ]
        for name, node in NODES.items()
    },
    "amplified": lambda: [pure.amplified(e, q) for e in (0.0, 0.3, 5.0, 700.0, 700.5) for q in (0.01, 0.5, 1.0)],
    "excess there and back": lambda: (pure.sampled_excess(3.0, 0.25), pure.unsampled_excess(3.0, 0.25)),
    "pure mixtures": lambda: [
        pure._mixture(slots, r)
        for slots in ([(Fraction(1), 0.25), (Fraction(3), 0.5)], [(Fraction(701), 0.5)], [(Fraction(1, 9), 1.0)])
        for r in (Relation.ADD_REMOVE, Relation.REPLACE_ONE)
    ],
    "optimal composition": lambda: [
        pure.kov_delta(e, each, n)
        for n, each in ((1, 0.5), (2, 0.5), (30, 0.1), (2000, 0.01))
        for e in (0.0, 0.2, 0.5, 0.9, 3.0)
    ],
    "optimal composition's epsilon": lambda: [
        pure.kov_epsilon(d, each, n) for n, each in ((1, 0.5), (30, 0.1)) for d in (1e-9, 0.01)
    ],
    "responses": lambda: [(r.first, r.gap, r.mass) for r in (pure._Responses(0.3, 3), pure._Responses(2.0, 4000))],
    "gaussian": lambda: [gaussian.delta(mu, e) for mu in (0.0, 0.1, 1.0, 6.0) for e in (0.0, 0.5, 4.0)],
    "gaussian below": lambda: [
        gaussian.delta_below(mu, e) / gaussian.delta(mu, e) for mu in (0.1, 2.0) for e in (0.0, 1.5)
    ],
    "gaussian's epsilon": lambda: [
        gaussian.epsilon(mu, d) for mu in (0.0, 0.1, 2.0, 1e4, 1.1e4) for d in (0.0, 1e-9, 0.3, 1.0)
    ],
    "gaussian's mu": lambda: [gaussian.mu_for(e, d) for e in (0.0, 0.5, 8.0) for d in (1e-300, 1e-9, 0.3)],
    "gaussian in floats": lambda: [
        gaussian._float_delta(mu, e) for mu in (-1.0, 0.0, 0.2, 3.0, 16.0, 17.0, 30.0) for e in (0.0, 1.0)
    ],
    "noise": lambda: [gaussian.calibrate(0.5, 1e-6, s) for s in (0.0, 1.0, 2.5)],
    "subsampled": lambda: (
        [individual.subsampled_moment(a, 0.25, 1.5) for a in (2, 3, 6)] + [individual.subsampled_cost(3, 0.25, 1.5)]
    ),
    "tabulated": lambda: [
        individual.tabulated(a, q, np.array([0.0, 1e-9, 0.01, 0.7, 30.0])) for a in (2, 3, 40) for q in (0.01, 0.6, 1.0)
    ],
    "log expm1": lambda: individual._log_expm1(np.array([1e-9, 0.5, 39.0, 40.0, 41.0, 900.0])),
    "around": lambda: [individual._around(order) for order in (2.0, 10.0, 2000.0)],
    "budget": lambda: [
        (b, b.charges(np.array([0.0, 0.3, 0.99, 1.0]) * b.worst), b.epsilon(1e-6), b.epsilon(1e-6, 3))
        if hasattr(b, "worst")
        else (b, b.charges(np.array([0.0, 0.3, 0.99, 1.0]) * b.knots[-1]), b.epsilon(1e-6), b.epsilon(1e-6, 3))
        for b in (individual.initialise(3.0, 1e-6, 5, 1.0), individual.initialise(3.0, 1e-6, 5, 1.0, 2, True))
    ],
    "bisected": lambda: [individual._bisected(1.0, 9.0, accuracy, lambda x: x >= 4.4) for accuracy in (1e-1, 1e-3)],
    "optimal composition of very many": lambda: [pure.kov_delta(e, 1e-3, 10**6) for e in (0.0, 0.5, 3.0)],
}
