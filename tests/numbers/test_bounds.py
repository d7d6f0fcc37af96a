"""Declared bounds are never below the exact supremum, and shares never sum to more than 1: against Fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from refdp.data import numbers
from refdp.errors import InvalidParameter
from refdp.papers import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Partition, Relation, children, releases
from refdp.privacy.sources import SampleSource
from tests.numbers.models import CLASSES, REGRESSION

LAMBDAS = [k / 100 for k in range(1, 200)]
BOUNDS = [0.1, 0.3, 1.0, 1.7]
EPSILONS = [0.1, 0.7, 1.0, 3.3]


def declared(plan: Any, name: str) -> list[float]:
    return [one.sensitivity.bound for one in releases(plan.event) if one.name.startswith(name)]


def smallest_not_below(bounds: list[float], exact: Fraction) -> bool:
    """Each is the smallest float that is not below the supremum."""
    return all(Fraction(bound) >= exact > Fraction(np.nextafter(bound, 0)) for bound in bounds)


@pytest.mark.parametrize("relation", list(Relation))
def test_dpboost(relation: Relation) -> None:
    below = 0
    for shrunk, bound in product(LAMBDAS, BOUNDS):
        params = dpboost.Params(epsilon=1.0, relation=relation, trees=2, depth=1, regularisation=shrunk,
                                gradient_bound=bound, noise="floating")  # fmt: skip
        g, exact = Fraction(bound), Fraction(shrunk)
        plan = dpboost.plan(params, REGRESSION)
        assert smallest_not_below(declared(plan, "splits"), dpboost.gain_range(g, relation))
        for block, found in zip(params.ensembles()[0], declared(plan, "leaves"), strict=True):
            supremum = dpboost.leaf_sensitivity(g, exact, Fraction(block.clip), relation)
            assert smallest_not_below([found], supremum)
            below += Fraction(float(dpboost.leaf_sensitivity(bound, shrunk, block.clip, relation))) < supremum
    assert below > 100  # rounding to nearest, as a declared bound must not


@pytest.mark.parametrize("relation", list(Relation))
def test_dpxgboost(relation: Relation) -> None:
    formulas, other = dpxgboost, 0
    for shrunk, bound, leaf in product(LAMBDAS[::4], BOUNDS, ("laplace", "minimum", "average")):
        params = dpxgboost.Params(epsilon=1.0, relation=relation, trees=1, depth=1, regularisation=shrunk,
                                  gradient_bound=bound, leaf=leaf, count_weight=0.3, noise="floating")  # fmt: skip
        g, exact = Fraction(bound), Fraction(shrunk)
        supremum = {
            "laplace": formulas.leaf_sensitivity(g, exact, relation),
            "minimum": formulas.padded_leaf_sensitivity(g, params.child_minimum, exact, relation),
            "average": formulas.noisy_ratio_sensitivity(g, Fraction(0.3 * bound), relation),
        }[leaf]
        plan = dpxgboost.plan(params, REGRESSION)
        assert smallest_not_below(declared(plan, "leaves"), supremum)
        assert smallest_not_below(declared(plan, "splits"), formulas.gain_range(g, relation))
        other += 1
    assert other


@pytest.mark.parametrize("relation", list(Relation))
def test_inprivate(relation: Relation) -> None:
    for bound in [k / 50 for k in range(1, 150)]:
        params = inprivate.Params(epsilon=1.0, relation=relation, residual_bound=bound, noise="floating")
        plan, exact = inprivate.plan(params, REGRESSION), Fraction(bound)
        assert smallest_not_below(declared(plan, "splits"), inprivate.gain_range(exact, relation))
        assert smallest_not_below(declared(plan, "leaves"), inprivate.regression_leaf_sensitivity(exact, relation))


@pytest.mark.parametrize("relation", list(Relation))
def test_fedgbdt(relation: Relation) -> None:
    """Squares of declared bounds are not below the squared suprema, and at most two ulps above."""
    for bound, each in product([k / 50 for k in range(1, 150)], (1, 3)):
        params = fedgbdt.Params(epsilon=1.0, relation=relation, trees=2, gradient_bound=bound, records_each=each,
                                noise="floating")  # fmt: skip
        change = 4 * Fraction(bound) ** 2 if relation is Relation.REPLACE_ONE else Fraction(0)
        one = Fraction(bound) ** 2 + 1
        exact = each**2 * max(change, 2 * one if relation is Relation.REPLACE_ONE else one)
        for found in declared(fedgbdt.plan(params, REGRESSION), "leaves"):
            assert exact <= Fraction(found) ** 2 <= exact * (1 + Fraction(1, 2**50))


def test_sgbdt() -> None:
    """Whitened by the deviations that the noise really has."""
    for epsilon, share in product(EPSILONS, (0.1, 0.3, 0.5, 0.77)):
        params = sgbdt.Params(epsilon=epsilon, relation=Relation.ADD_REMOVE, trees=5, support_weight=share)
        noise = params.leaf_charge(CLASSES)
        sd_g, sd_h = (Fraction(sd) for sd in noise.mechanism.sd)
        g, h = (Fraction(bound) for bound in params.bounds(CLASSES))
        exact = (g / sd_g) ** 2 + (h / sd_h) ** 2
        assert exact <= Fraction(noise.proved.bound) ** 2 <= exact * (1 + Fraction(1, 2**50))


SHARES = [
    dpboost.Params(epsilon=1.0, relation=Relation.ADD_REMOVE, trees=trees, trees_per_ensemble=each, shrinkage=eta,
                   scheme=scheme)
    for trees, each, eta, scheme in product((1, 7, 60), (1, 3, 50), (0.001, 0.1, 0.3, 0.37, 0.9), ("dpboost", "para"))
]  # fmt: skip


def test_shares_sum_to_at_most_one() -> None:
    rounded = 0
    for params in SHARES:
        for blocks in params.ensembles():
            exact = [block.share for block in blocks]
            assert sum(map(Fraction, exact)) <= 1 and all(
                Fraction(s) % Fraction(numbers.SHARE_GRID) == 0 for s in exact
            )
            eta, size = Fraction(params.shrinkage), len(blocks)
            if params.scheme == "dpboost":
                true = [dpboost.share(eta, t, size) for t in range(size)]
                assert all(
                    0 <= t - Fraction(s) < Fraction(numbers.SHARE_GRID) for s, t in zip(exact, true, strict=True)
                )
                rounded += sum(Fraction(float(t)) for t in true) > 1
    assert rounded > 3  # sums of shares rounded to nearest exceed 1
    for owners, rounds in product((1, 3, 7, 49, 1000), (1, 2, 5, 60)):
        params = inprivate.Params(epsilon=1.0, relation=Relation.ADD_REMOVE, owners=owners, rounds=rounds)
        assert sum(map(Fraction, params.dealt())) <= 1


def test_a_partition_of_more_than_one_is_refused() -> None:
    curator = Curator(SampleSource(np.random.default_rng(0)), Relation.ADD_REMOVE)
    with curator.partition("halves", [0.5, 0.5], 3):
        pass
    for weights in ([0.5, 0.5 + 2.0**-53], [0.1] * 10, [np.nan, 0.5], [-0.1, 0.5], [2.0**-60, 1.0]):
        with pytest.raises(InvalidParameter, match="block weights"), curator.partition("more", weights, 3):
            pass


def test_plans_charge_the_shares_that_are_drawn() -> None:
    """A slot falls into a block with exactly the declared probability: sums of shares are exact floats."""
    for params in SHARES:
        event = dpboost.plan(params, REGRESSION).event
        for part in (one for one in children(children(event)[0]) if isinstance(one, Partition)):
            edges = np.cumsum(part.weights)
            exact = [sum(map(Fraction, part.weights[: k + 1])) for k in range(len(edges))]
            assert [Fraction(float(edge)) for edge in edges] == exact


def test_rounding_up_is_exact() -> None:
    third = Fraction(1, 3)
    assert numbers.at_least(third) > third > Fraction(numbers.at_most(third))
    assert numbers.at_least(0.3) == numbers.at_most(0.3) == 0.3 and numbers.at_least(2) == 2.0
    assert numbers.rounded_up(lambda a, b: a / b, 1.0, 3) == numbers.at_least(third)
    assert Fraction(numbers.root(2)) ** 2 >= 2 and isinstance(numbers.root(Fraction(1, 16)), float)
