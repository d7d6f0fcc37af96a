"""Every method that applies to a plan, side by side; the best valid upper bound wins."""

from __future__ import annotations

import math

from refdp.accounting import gaussian, pure
from refdp.accounting.bound import Bound
from refdp.accounting.normal import NOTHING, Node, normalise
from refdp.accounting.releases import GaussianCost
from refdp.errors import InvalidParameter
from refdp.events import Plan, Relation


def account(plan: Plan, *, delta: float | None = None, epsilon: float | None = None) -> Bound:
    """The plan's ε at the given δ, or its δ at the given ε, by every method that applies.

    Methods: "basic" (pure, with parallel composition and amplification), "kov" (optimal composition of equal pure
    parts), "gaussian" (exact), "renyi", "pld" (privacy loss distributions, also the source of `lower`).
    Errors: InvalidParameter unless exactly one of 0 <= delta <= 1 and epsilon >= 0 is given.
    """
    if (delta is None) == (epsilon is None):
        raise InvalidParameter(f"delta {delta!r} and epsilon {epsilon!r}: exactly one of the two is to be given")
    node = normalise(plan)
    if delta is not None:
        return _at_delta(node, plan.relation, _within("delta", delta, 1.0))
    assert epsilon is not None
    return _at_epsilon(node, plan.relation, _within("epsilon", epsilon, math.inf))


def _within(name: str, value: float, top: float) -> float:
    if not 0 <= value <= top:
        raise InvalidParameter(f"{name} {value!r}: allowed are numbers in [0, {top:g}]")
    return float(value)


def _at_delta(node: Node, relation: Relation, delta: float) -> Bound:
    methods = {"basic": pure.node_epsilon(node, relation)}
    lower = 0.0
    if delta == 0:
        lower = math.inf if methods["basic"] == math.inf else 0.0
    elif node != NOTHING:
        from refdp.accounting import divergence

        if (alike := pure.uniform_pure(node, relation)) is not None:
            methods["kov"] = pure.kov_epsilon(delta, *alike)
        if isinstance(node, GaussianCost):
            methods["gaussian"] = gaussian.epsilon(node.mu, delta)
        methods["renyi"] = divergence.node_renyi_epsilon(node, relation, delta)[0]
    winner = min(methods, key=lambda name: methods[name])
    return Bound(methods[winner], delta, lower, methods[winner], winner, methods)


def _at_epsilon(node: Node, relation: Relation, epsilon: float) -> Bound:
    basic = pure.node_epsilon(node, relation)
    methods = {"basic": 0.0 if basic <= epsilon else 1.0}
    lower = 0.0
    if node != NOTHING and epsilon < math.inf:
        from refdp.accounting import divergence

        if (alike := pure.uniform_pure(node, relation)) is not None:
            methods["kov"] = pure.kov_delta(epsilon, *alike)
        if isinstance(node, GaussianCost):
            methods["gaussian"] = gaussian.delta(node.mu, epsilon)
        methods["renyi"] = divergence.node_renyi_delta(node, relation, epsilon)[0]
    winner = min(methods, key=lambda name: methods[name])
    return Bound(epsilon, methods[winner], lower, methods[winner], winner, methods)
