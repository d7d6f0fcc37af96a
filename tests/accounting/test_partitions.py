"""Partitions against a truth of their own: the likelihood ratios of the whole output, enumerated or integrated."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from account_plans import ADD_REMOVE, plan, release
from scipy import special

from refdp.accounting import account, renyi
from refdp.accounting.normal import Mixture, normalise
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteLaplace, Gaussian, Laplace
from refdp.privacy.events import Partition, Plan, Repeat


def answers(each: float, weights: tuple[float, ...]) -> Counter[tuple[float, float]]:
    """(P, Q) masses of one partition whose blocks each answer one randomised response: P has the record, Q has not.

    Discrete Laplace noise on a change of one step is dominated by randomised response, and attains it.
    """
    yes, no = 1 / (1 + math.exp(-each)), 1 / (1 + math.exp(each))
    found: Counter[tuple[float, float]] = Counter()
    for outcome in itertools.product((0, 1), repeat=len(weights)):
        q = math.prod(no if o else yes for o in outcome)
        p = (1 - sum(weights)) * q
        for j, weight in enumerate(weights):
            p += weight * q * (yes / no if outcome[j] else no / yes)
        found[(p, q)] += 1
    return found


def repeated_delta(each: float, weights: tuple[float, ...], count: int, epsilon: float) -> float:
    """δ(ε) of `count` partitions, by the multinomial law of how often each ratio occurs; both directions."""
    kinds: dict[float, list[float]] = {}
    for (p, q), times in answers(each, weights).items():
        row = kinds.setdefault(round(math.log(p / q), 12), [0.0, 0.0])
        row[0], row[1] = row[0] + times * p, row[1] + times * q
    totals = [0.0, 0.0]
    for split in itertools.product(range(count + 1), repeat=len(kinds) - 1):
        last = count - sum(split)
        if last < 0:
            continue
        counts = (*split, last)
        ways = math.factorial(count) / math.prod(math.factorial(c) for c in counts)
        p = ways * math.prod(row[0] ** c for row, c in zip(kinds.values(), counts, strict=True))
        q = ways * math.prod(row[1] ** c for row, c in zip(kinds.values(), counts, strict=True))
        totals[0] += max(0.0, p - math.exp(epsilon) * q)
        totals[1] += max(0.0, q - math.exp(epsilon) * p)
    return max(totals)


@pytest.mark.parametrize("weights", [(0.25, 0.25), (0.5, 0.5), (0.1, 0.6), (0.3,), (1.0,)])
@pytest.mark.parametrize("count", [1, 20])
def test_partitions_of_randomised_responses(weights: tuple[float, ...], count: int) -> None:
    each = 0.6
    one = Partition(weights, tuple(release(DiscreteLaplace(1 / each, 1.0)) for _ in weights))
    whole = plan(Repeat(one, count))
    for epsilon in (0.05, 0.3, 1.0, 2.0):
        truth = repeated_delta(each, weights, count, epsilon)
        bound = account(whole, epsilon=epsilon)
        assert bound.lower <= truth * (1 + 1e-9) + 1e-15
        assert bound.upper >= truth * (1 - 1e-9)
    assert account(whole, delta=1e-6).upper > 0.02 * count  # a rest counted as nothing would be free of charge


@pytest.mark.parametrize("weights", [(0.25, 0.25), (0.7, 0.3)])
def test_partition_of_gaussians_is_an_integral(weights: tuple[float, float]) -> None:
    """P = Σ w_j N(e_j, 1) + (1 - Σ w_j) N(0, 1) against N(0, 1) in the plane, the inner integral in closed form."""
    sd = 1.3
    mu = 1 / sd
    rest = 1 - sum(weights)
    x = np.linspace(-12, 13, 20_001)
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    shift = weights[0] * np.exp(mu * x - mu * mu / 2) + rest
    for epsilon in (0.1, 0.5, 1.5):
        gamma = math.exp(epsilon)
        with np.errstate(divide="ignore", invalid="ignore"):
            border = np.where(shift < gamma, (np.log((gamma - shift) / weights[1]) + mu * mu / 2) / mu, -np.inf)
        inner = (shift - gamma) * special.ndtr(-border) + weights[1] * special.ndtr(mu - border)
        truth = float(np.sum(density * inner) * (x[1] - x[0]))
        bound = account(plan(Partition(weights, (release(Gaussian(sd)), release(Gaussian(sd))))), epsilon=epsilon)
        assert bound.lower - 1e-9 <= truth <= bound.upper + 1e-12


def test_renyi_curve_of_a_partition_is_above_its_sum() -> None:
    each, weights, orders = 0.6, (0.25, 0.25), np.array([1.25, 1.5, 2.0, 3.0, 8.0, 64.0])
    table = answers(each, weights)
    events = tuple(release(DiscreteLaplace(1 / each, 1.0)) for _ in weights)
    curve = renyi(Plan(ADD_REMOVE, Partition(weights, events)), orders)
    for order, found in zip(orders, curve, strict=True):
        moment = sum(times * p**order * q ** (1 - order) for (p, q), times in table.items())
        assert math.log(moment) / (order - 1) <= found


def test_weights_exceed_one_by_rounding_only_and_lower_ends_have_their_shares() -> None:
    """Ten times 0.1 is above 1 by 2^-54. What is more than rounding is no law of a slot."""
    events = (release(Laplace(1.0)), release(Laplace(2.0)))
    with pytest.raises(InvalidParameter, match=r"sum to 1\.0000000005"):
        account(plan(Partition((0.5, 0.5 + 5e-10), events)), delta=1e-6)
    for weights in ((0.1,) * 10, (0.5, 0.5 + 2.0**-53), (1.0, 2.0**-60)):
        slots = tuple(release(Laplace(1.0 + i % 3)) for i in range(len(weights)))
        node = normalise(plan(Partition(weights, slots)))
        assert isinstance(node, Mixture)
        total = sum(map(Fraction, weights))
        assert total > 1
        assert sum(Fraction(weight) * n for _, weight, n in node.apart) <= 1
        assert {w for _, w in node.alone} <= {w for _, w, _ in node.apart}
        assert all(
            Fraction(w) >= sum(Fraction(v) * n for i, v, n in node.apart if i == inner) for inner, w in node.slots
        )
        assert node.rest == 0
