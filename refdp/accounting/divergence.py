"""Rényi curves of whole plans, vectorised over orders, and the ε that they give.

Sequential composition adds (Mironov 2017, Proposition 1, adaptive). Parallel: the largest block at every order under
add-remove, the largest two under replace-one. Partition, both relations: e^{(α-1)D} is jointly convex, and the outputs
outside the record's own block are shared, so ρ = log(w_0 + sum_j w_j e^{(α-1)ρ_j}) / (α-1) with w_0 = 1 - sum_j w_j.
The same holds of Poisson samples under replace-one, with the rate as the weight.
Every node is also capped by the curve of randomised response at its pure ε.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from refdp.accounting import conversion, curves, sampling
from refdp.accounting.arrays import Array
from refdp.accounting.conversion import per_order
from refdp.accounting.normal import REPLACING, Blocks, Composed, Exchanged, Mixture, Node, Sampled, normalise, one_sided
from refdp.accounting.pure import node_epsilon
from refdp.accounting.releases import (
    DiscreteGaussianCost,
    DiscreteLaplaceCost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RangeCost,
    SuppliedCost,
)
from refdp.accounting.rounding import upwards
from refdp.errors import InvalidParameter
from refdp.privacy.events import Plan, Relation

if TYPE_CHECKING:
    from collections.abc import Callable

_SHARPEST = 25.0  # above this mu the trapezoidal rule of `sampling` needs too many points
_AT_ONCE = 1000  # Laplace scales, bounds the memory
COARSE = 1 + np.geomspace(1e-2, 1e10, 145)
COARSE_SAMPLED = 1 + np.geomspace(2e-2, 1023, 41)
_TWENTIETHS = np.arange(21) / 20


def renyi(plan: Plan, orders: Array) -> Array:
    """An upper bound on the plan's Rényi divergence at every order, both directions.

    Errors: InvalidParameter unless all orders are finite numbers above 1. orders, result: shape (orders,).
    """
    return node_curve(one_sided(normalise(plan), above=True), plan.relation, _checked(orders))


def renyi_epsilon(plan: Plan, delta: float) -> float:
    """The least ε at δ that any order (infinity included) and any of the three conversions gives, rounded upwards.

    Errors: InvalidParameter for delta outside of [0, 1].
    """
    if not 0 <= delta <= 1:
        raise InvalidParameter(f"delta {delta!r}: allowed are numbers in [0, 1]")
    node = one_sided(normalise(plan), above=True)
    return min(node_renyi_epsilon(node, plan.relation, delta)[0], node_epsilon(node, plan.relation))


def node_renyi_epsilon(node: Node, relation: Relation, delta: float) -> tuple[float, float]:
    """(ε, the order that gave it) for a node in normal form."""
    if delta == 0:
        return math.inf, math.inf
    return _minimise(node, relation, lambda orders, rho: conversion.epsilons(orders, rho, delta))


def node_renyi_delta(node: Node, relation: Relation, epsilon: float) -> tuple[float, float]:
    """(δ, the order that gave it) at ε for a node in normal form; never 0, whatever underflows."""
    log_delta, order = _minimise(node, relation, lambda orders, rho: conversion.log_deltas(orders, rho, epsilon))
    return min(1.0, upwards(math.exp(log_delta)) + 5e-324), order


def _minimise(node: Node, relation: Relation, value: Callable[[Array, Array], Array]) -> tuple[float, float]:
    """The least of `value` over a coarse grid of orders, then over three finer ones around the best."""
    sampled = has_sampling(node)
    orders = COARSE_SAMPLED if sampled else COARSE
    best, at = _best(node, relation, orders, value)
    for _ in range(3):
        index = int(np.searchsorted(orders, at))
        low, high = (math.log(orders[i] - 1) for i in (max(index - 1, 0), min(index + 1, len(orders) - 1)))
        orders = 1 + np.exp(low + (high - low) * _TWENTIETHS)
        if sampled:  # chords have their corners at whole orders
            orders = np.unique(np.concatenate((orders, np.clip(np.round(orders), 2, None))))
        finer, finer_at = _best(node, relation, orders, value)
        if finer < best:
            best, at = finer, finer_at
    return best, at


def _best(node: Node, relation: Relation, orders: Array, value: Callable[[Array, Array], Array]) -> tuple[float, float]:
    rho = node_curve(node, relation, orders)
    values = value(orders, rho)
    index = int(np.argmin(values))
    return upwards(float(values[index])), float(orders[index])


def node_curve(node: Node, relation: Relation, orders: Array) -> Array:
    """`renyi` of a node in normal form, with directed slack. orders, result: shape (orders,)."""
    with np.errstate(over="ignore"):
        return _curve(node, relation, orders, pair=False) * (1 + 2.0**-44)


def _curve(node: Node, relation: Relation, orders: Array, pair: bool) -> Array:
    """The curve; with `pair`, that of the symmetric dominating pair (used inside sampling)."""
    match node:
        case GaussianCost():
            return curves.gaussian(node.mu, orders)
        case DiscreteGaussianCost():
            return curves.gaussian(node.mu, orders)  # Canonne, Kamath, Steinke 2020, Theorem 14
        case PureCost():
            return curves.randomised_response(node.epsilon, orders)
        case LaplaceCost():
            return curves.laplace(node.epsilon, orders)
        case DiscreteLaplaceCost():
            return curves.discrete_laplace(node.rate, node.shift, orders)
        case SuppliedCost(dominated):
            return np.minimum(dominated.curve(orders), curves.randomised_response(node_epsilon(node, relation), orders))
        case RangeCost():
            return (curves.bounded_range_pair if pair else curves.bounded_range)(node.epsilon, orders)
        case Composed(items):
            laplace = [(inner.epsilon, count) for inner, count in items if isinstance(inner, LaplaceCost)]
            others = [(inner, count) for inner, count in items if not isinstance(inner, LaplaceCost)]
            total: Array = np.zeros_like(orders)
            for first in range(0, len(laplace), _AT_ONCE):
                sizes, counts = np.array(laplace[first : first + _AT_ONCE]).T
                total += counts @ curves.laplace(sizes[:, None], orders)
            return sum((count * _curve(inner, relation, orders, pair) for inner, count in others), total)
        case Blocks(blocks, at_once):
            rows = [_curve(inner, relation, orders, pair) for inner, count in blocks for _ in range(count)]
            worst: Array = np.sort(np.stack(rows), axis=0)[-at_once:].sum(axis=0)
            return worst
        case Mixture():
            return _capped(node, relation, orders, _mixture(node, relation, orders))
        case Sampled(_, _, method):
            inside = Relation.REPLACE_ONE if method == REPLACING else relation
            return _capped(node, relation, orders, _sampled(node, inside, orders))
        case Exchanged(rate, _, far):
            return _capped(node, relation, orders, _mixture(Mixture(((far, rate),), ()), relation, orders))


def _capped(node: Node, relation: Relation, orders: Array, rho: Array) -> Array:
    return np.minimum(rho, curves.randomised_response(node_epsilon(node, relation), orders))


def _mixture(node: Mixture, relation: Relation, orders: Array) -> Array:
    log_rest = math.log(node.rest) if node.rest > 0 else -math.inf
    total = np.full_like(orders, log_rest)
    for inner, weight in node.slots:
        total = np.logaddexp(total, math.log(weight) + (orders - 1) * _curve(inner, relation, orders, pair=False))
    return per_order(np.maximum(total + 2.0**-44, 0.0), orders)


def _sampled(node: Sampled, relation: Relation, orders: Array) -> Array:
    rate, inner = node.rate, node.node
    if node.method != "without-replacement" and isinstance(inner, GaussianCost) and inner.mu < _SHARPEST:
        return _poisson_gaussian(rate, 1 / inner.mu, orders.tobytes())
    whole = _at_whole_orders(node, relation)
    return sampling.chords(orders, whole, lambda at: _curve(inner, relation, at, pair=False))


@lru_cache(maxsize=256)
def _at_whole_orders(node: Sampled, relation: Relation) -> Array:
    """(α-1)ρ(α) at the whole orders of `sampling`, which every search for the best order asks for many times."""
    rate, inner = node.rate, node.node

    def inside(at: Array, pair: bool = False) -> Array:
        return _curve(inner, relation, at, pair)

    if node.method == "without-replacement":
        return sampling.without_replacement(rate, inside, node_epsilon(inner, relation))
    general = sampling.poisson(rate, inside, symmetric=False)
    if not is_symmetric(inner) and not isinstance(inner, DiscreteGaussianCost):
        return general  # a discrete Gaussian and its shift mirror each other, with a Gaussian's moments at most
    return np.minimum(general, sampling.poisson(rate, lambda at: inside(at, True), symmetric=True))


@lru_cache(maxsize=2048)
def _poisson_gaussian(rate: float, sigma: float, orders: bytes) -> Array:
    rho = sampling.poisson_gaussian(rate, sigma, np.frombuffer(orders))
    rho.flags.writeable = False
    return rho


def is_symmetric(node: Node) -> bool:
    """Whether the node is dominated by symmetric pairs whose moments `_curve(pair=True)` gives."""
    match node:
        case Composed(items) | Blocks(items, _):
            return all(is_symmetric(inner) for inner, _ in items)
        case Mixture() | Sampled() | Exchanged() | DiscreteGaussianCost() | SuppliedCost():
            return False
        case _:
            return True


def has_sampling(node: Node) -> bool:
    """Whether a sampled node is inside, whose curve is costly at large orders."""
    match node:
        case Composed(items) | Blocks(items, _) | Mixture(items, _):
            return any(has_sampling(inner) for inner, _ in items)
        case Sampled():
            return True
        case Exchanged(_, _, far):
            return has_sampling(far)
        case _:
            return False


def _checked(orders: Array) -> Array:
    array = np.asarray(orders, dtype=float)
    if array.ndim != 1 or not np.all((array > 1) & np.isfinite(array)):
        raise InvalidParameter(f"orders {orders!r}: allowed is a one-dimensional array of finite numbers > 1")
    return array
