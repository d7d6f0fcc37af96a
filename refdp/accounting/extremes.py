"""Costs beyond what floating point computes with: the least are moved to a floor, the largest have pure bounds alone.

Losses below FLOOR would underflow once squared, sampled or put on a grid. From above they are FLOOR, whose cost is
larger and no figure that anybody reads; from below they are nothing. Of losses above CEILING no method but sums of pure
epsilons says anything that could protect a record.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from refdp.accounting.normal import NOTHING, REPLACING, Blocks, Composed, Exchanged, Mixture, Node, Sampled, compose
from refdp.accounting.pure import node_epsilon
from refdp.accounting.releases import (
    DiscreteGaussianCost,
    DiscreteLaplaceCost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RangeCost,
)
from refdp.privacy.events import Relation

FLOOR = Fraction(1, 2**200)
"""The least loss (and mu of a Gaussian) that is computed with: 6e-61."""
CEILING = Fraction(2**40)
"""The largest."""


def lifted(node: Node, relation: Relation, above: bool) -> Node:
    """A node that costs at least as much (above) or at most as much (below), without losses below FLOOR."""
    match node:
        case GaussianCost(square):
            return node if square >= FLOOR**2 else _least_gaussian(above)
        case DiscreteGaussianCost(sigma, length, _):
            return node if Fraction(length) >= FLOOR * Fraction(sigma) else _least_gaussian(above)
        case Composed(items):
            return compose((lifted(inner, relation, above), count) for inner, count in items)
        case Sampled(_, inner, method):
            inside = Relation.REPLACE_ONE if method == REPLACING else relation
            node = replace(node, node=lifted(inner, inside, above))
        case Blocks(blocks, _):
            node = replace(node, blocks=tuple((lifted(inner, relation, above), count) for inner, count in blocks))
        case Mixture(slots, alone):
            each, single = (
                tuple((lifted(inner, relation, above), weight) for inner, weight in table) for table in (slots, alone)
            )
            node = replace(node, slots=each, alone=single)
        case Exchanged(_, near, far):
            near, far = lifted(near, Relation.ADD_REMOVE, above), lifted(far, Relation.REPLACE_ONE, above)
            node = replace(node, near=near, far=far)
        case _:
            pass
    if node_epsilon(node, relation) >= FLOOR:
        return node
    return PureCost(FLOOR) if above else NOTHING


def _least_gaussian(above: bool) -> Node:
    return GaussianCost(FLOOR**2) if above else NOTHING


def is_tame(node: Node) -> bool:
    """Whether every loss inside, before sampling, is from FLOOR to CEILING."""
    match node:
        case GaussianCost(square):
            return FLOOR**2 <= square <= CEILING**2
        case DiscreteGaussianCost(sigma, length, _):
            return FLOOR <= Fraction(length) / Fraction(sigma) <= CEILING
        case PureCost() | LaplaceCost() | RangeCost() | DiscreteLaplaceCost():
            return FLOOR <= node.exact <= CEILING
        case Composed(items) | Blocks(items, _) | Mixture(items, _):
            return all(is_tame(inner) for inner, _ in items)
        case Sampled(_, inner, _):
            return is_tame(inner)
        case Exchanged(_, near, far):
            return is_tame(near) and is_tame(far)
        case _:
            return True
