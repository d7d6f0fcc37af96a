"""Pure epsilon of a plan: basic and parallel composition, partitions, amplification by sampling; optimal composition.

Facts used, with e the epsilon inside:
- sequential: sum; parallel: the largest block under add-remove, the sum of the two largest under replace-one;
- partition with weights w_j, add-remove: the likelihood ratio with the record is sum_j w_j r_j + (1 - sum_j w_j) with
  r_j in [exp(-e_j), exp(e_j)], so ε = log(1 + sum_j w_j (exp(e_j) - 1)), and the inverse ratio is smaller by convexity;
- partition, replace-one: the slot's block does not depend on content, both mixtures have the same weights: max_j e_j;
- sampling at rate q: log(1 + q (exp(e) - 1)) (Balle, Barthe, Gaboardi 2018, Theorems 8 and 9);
- Poisson sampling under replace-one: what a record costs and what a replaced one does both count, see `_exchanged`.

Beyond 700, where exp(e) is no float, both logarithms are taken as m + log(sum_j w_j exp(e_j - m) + (1 - sum_j w_j)
exp(-m)), m the largest e_j.
"""

from __future__ import annotations

import math
from fractions import Fraction

from refdp.accounting.normal import (
    REPLACING,
    Blocks,
    Composed,
    Exchanged,
    Mixture,
    Node,
    Sampled,
    compose,
    normalise,
    one_sided,
    parts,
)
from refdp.accounting.releases import (
    DiscreteGaussianCost,
    DiscreteLaplaceCost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RangeCost,
    SuppliedCost,
)
from refdp.accounting.rounding import SLACK, TINY, ceiling, downwards, upwards
from refdp.data.numbers import Number
from refdp.privacy.events import Plan, Relation

_LARGEST = 700.0
"""Up to it the exponential is a float, with room."""


def pure_epsilon(plan: Plan) -> float:
    """The ε of pure differential privacy that the plan satisfies, rounded upwards; inf if a Gaussian is inside."""
    return node_epsilon(one_sided(normalise(plan), above=True), plan.relation)


def node_epsilon(node: Node, relation: Relation) -> float:
    """`pure_epsilon` of a node in normal form."""
    exact = _exact(node, relation)
    return math.inf if exact is None else ceiling(exact)


def _exact(node: Node, relation: Relation) -> Fraction | None:
    """ε, exact where it is rational, else rounded upwards; None for infinity."""
    match node:
        case PureCost() | LaplaceCost() | RangeCost() | DiscreteLaplaceCost():
            return node.exact
        case GaussianCost() | DiscreteGaussianCost():
            return None
        case SuppliedCost(dominated):
            return dominated.pure
        case Composed(items):
            return _total([(_exact(inner, relation), count) for inner, count in items])
        case Blocks(blocks, at_once):
            repeated = [_exact(inner, relation) for inner, count in blocks for _ in range(count)]
            if None in repeated:
                return None
            return _total([(one, 1) for one in sorted(one for one in repeated if one is not None)[-at_once:]])
        case Mixture(slots, _):
            return _mixture([(_exact(inner, relation), weight) for inner, weight in slots], relation)
        case Sampled(rate, inner, method):
            exact = _exact(inner, Relation.REPLACE_ONE if method == REPLACING else relation)
            return None if exact is None else _amplified(exact, rate)
        case Exchanged():
            return _exchanged(node)


def _exchanged(node: Exchanged) -> Fraction | None:
    """The largest log((1 - q + q s) / (1 - q + q t)) where s <= e^n, t >= e^-n and s / t <= e^f.

    s and t are the densities with one record and with the other over that with neither, n what a record costs that is
    there or not, f a replaced one. The quotient is largest where s is: t is then e^(n - f), and no less than e^-n. For
    f <= n this is no more than log(1 + q (e^n - 1)), which e^f alone does not bound: the theorem takes the larger of
    the two (Balle, Barthe, Gaboardi 2018, Theorem 2).
    """
    near, far = _exact(node.near, Relation.ADD_REMOVE), _exact(node.far, Relation.REPLACE_ONE)
    if near is None or ceiling(near) == math.inf:
        return far
    far = 2 * near if far is None else min(far, 2 * near)
    largest, smallest = amplified(ceiling(near), node.rate), -ceiling(far - near)
    if smallest > _LARGEST:
        return far
    gain = node.rate * math.expm1(smallest)
    low = math.log1p(gain) if gain > -0.5 else math.log((1 - node.rate) + node.rate * math.exp(smallest))
    return min(far, Fraction(upwards(largest - downwards(low))))


def _amplified(exact: Fraction, rate: float) -> Fraction:
    """`amplified`, of a size that no float may have."""
    size = ceiling(exact)
    return exact if size == math.inf else min(exact, Fraction(amplified(size, rate)))


def amplified(epsilon: float, rate: float) -> float:
    """log(1 + q (exp(ε) - 1)), rounded upwards (Balle, Barthe, Gaboardi 2018); never above ε."""
    if epsilon > _LARGEST:
        return min(epsilon, _log_sum([(epsilon, rate), (0.0, 1 - rate)]))
    return min(epsilon, upwards(math.log1p(sampled_excess(math.expm1(epsilon), rate))))


def _log_sum(terms: list[tuple[float, float]]) -> float:
    """log(sum w exp(s)) for terms (s, w) with s >= 0, w >= 0 of sum 1, from above; no exp(s) is computed."""
    top = max(size for size, _ in terms)
    if top == math.inf:
        return top
    lost = 2 * len(terms) * math.ulp(0.0)  # by underflow
    part = math.log(math.fsum(weight * math.exp(size - top) for size, weight in terms) + lost)
    return max(0.0, top + part + SLACK * (top - part))


def sampled_excess(excess: Number, rate: Number) -> Number:
    """q x: the excess x = e^ε - 1 of the largest likelihood ratio over 1, once a record is there at the rate q."""
    return rate * excess


def unsampled_excess(excess: Number, rate: Number) -> Number:
    """x / q: the inverse of `sampled_excess`, which calibrates what runs on a sample."""
    return excess / rate


def _total(items: list[tuple[Fraction | None, int]]) -> Fraction | None:
    total = Fraction(0)
    for exact, count in items:
        if exact is None:
            return None
        total += exact * count
    return total


def _mixture(slots: list[tuple[Fraction | None, float]], relation: Relation) -> Fraction | None:
    epsilons = [exact for exact, _ in slots if exact is not None]
    if len(epsilons) < len(slots):
        return None
    if relation is Relation.REPLACE_ONE:
        return max(epsilons)
    if max(epsilons) > _LARGEST:
        weights = [weight for _, weight in slots]
        rest = max(0.0, ceiling(1 - sum(map(Fraction, weights), Fraction(0))))
        logarithm = _log_sum([(0.0, rest), *zip(map(ceiling, epsilons), weights, strict=True)])
        return max(epsilons) if logarithm == math.inf else min(max(epsilons), Fraction(logarithm))
    gain = math.fsum(weight * math.expm1(ceiling(one)) for one, (_, weight) in zip(epsilons, slots, strict=True))
    return min(max(epsilons), Fraction(upwards(math.log1p(gain))))


def kov_delta(epsilon: float, each: float, count: int) -> float:
    """δ(ε) of `count` adaptive mechanisms of pure epsilon `each`, the best possible, rounded upwards.

    δ = sum_i C(k, i) max(0, exp((k - i) e) - exp(ε + i e)) / (1 + exp(e))^k, i the number of unfavourable outcomes
    (Kairouz, Oh, Viswanathan 2015, Theorem 3.3, for every ε instead of a lattice). Terms farther than sqrt(360 k) from
    the mean are left out: by Hoeffding's inequality they add up to at most e^-720, which is below TINY. So time and
    memory grow with the root of the count.
    """
    return _Responses(each, count).delta(epsilon)


class _Responses:
    """`count` randomised responses: the masses of their unfavourable outcomes, and δ(ε) from these."""

    def __init__(self, each: float, count: int) -> None:
        import numpy as np

        from refdp.accounting.binomial import log_masses_above

        mean, reach = count * math.exp(-each) / (1 + math.exp(-each)), math.sqrt(360 * count) + 2
        self.each, self.count, self.first = each, count, max(0, math.floor(mean - reach))
        index = np.arange(self.first, min(count, math.ceil(mean + reach)) + 1, dtype=float)
        self.gap = (count - 2 * index) * each
        self.mass = np.exp(log_masses_above(count - index, count, each))

    def delta(self, epsilon: float) -> float:
        """From above."""
        import numpy as np

        end = max(0, math.ceil((self.count - epsilon / self.each) / 2) + 1) + 1 - self.first
        if end <= 0:
            return TINY
        gap = self.gap[:end]
        gain = np.maximum(0.0, -np.expm1(np.minimum(0.0, epsilon - gap - 2.0**-51 * (np.abs(gap) + epsilon))))
        total = float(self.mass[:end] @ gain)
        return min(1.0, upwards(total) * (1 + 2.0**-52 * self.count) + TINY)


def kov_epsilon(delta: float, each: float, count: int) -> float:
    """The least ε with kov_delta(ε) <= δ, from above: min(count * each, the solution)."""
    from refdp.data.numbers import least

    responses, top = _Responses(each, count), ceiling(Fraction(each) * count)
    return least(lambda epsilon: responses.delta(epsilon) <= delta, 0.0, top)


def as_pure(node: Node, relation: Relation) -> Node | None:
    """The composition of "any mechanism" of the same pure epsilon as each part; None if one of them has none."""
    items = [(_exact(inner, relation), count) for inner, count in parts(node)]
    if any(exact is None for exact, _ in items):
        return None
    return compose([(PureCost(exact), count) for exact, count in items if exact is not None])
