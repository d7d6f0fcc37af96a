"""Pure epsilon: every composition rule against the likelihood ratios of explicit mechanisms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from account_plans import ADD_REMOVE, REPLACE_ONE, laplace, plan, release

from refdp.accounting import account, pure_epsilon
from refdp.accounting.normal import Exchanged, normalise, one_sided
from refdp.accounting.pure import amplified, kov_delta, kov_epsilon, node_epsilon
from refdp.accounting.releases import GaussianCost, PureCost
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Parallel, Partition, Plan, Relation, Repeat, Sequential, Subsample

WEIGHTS_AND_EPSILONS = [((0.3, 0.7), (1.0, 2.0)), ((0.2, 0.1), (0.5, 3.0)), ((1.0,), (2.0,))]


def response(epsilon: float) -> np.ndarray:
    """Two outcomes, without and with the record: the extremal mechanism of that epsilon."""
    return np.array([[1.0, math.exp(epsilon)], [math.exp(epsilon), 1.0]]) / (1 + math.exp(epsilon))


def test_sums_are_exact() -> None:
    assert pure_epsilon(laplace(10.0, 10)) == 1.0
    assert pure_epsilon(plan(Repeat(release(Laplace(3.0)), 3))) == 1.0
    mixed = plan(release(Laplace(2.0), 3.0), release(DiscreteLaplace(4.0, 1.0), 2.0), release(Exponential(0.25), 2.0))
    assert pure_epsilon(mixed) == 2.5
    assert pure_epsilon(plan()) == 0.0
    assert pure_epsilon(plan(release(Gaussian(1.0)))) == math.inf
    assert pure_epsilon(plan(release(Gaussian(1.0), 0.0))) == 0.0


@pytest.mark.parametrize(
    ("weights", "epsilons"),
    [((0.5, 0.25), (700.2, 700.2)), ((0.5, 0.25), (1000.0, 3.0)), ((2.0**-200,), (745.0,)), ((1e-305,), (702.0,)),
     ((0.3, 0.7), (1e5, 1e5)), ((5e-324,), (701.0,)), ((0.125, 1e-9), (699.0, 725.0))],
)  # fmt: skip
def test_coins_are_worth_what_they_are_where_no_float_has_the_exponential(
    weights: tuple[float, ...], epsilons: tuple[float, ...]
) -> None:
    """From 700 on nothing was taken off, so that what was calibrated to cost 700 cost more."""
    mp = pytest.importorskip("mpmath").mp
    with mp.workdps(700):
        parts = [mp.mpf(w) * mp.expm1(mp.mpf(e)) for w, e in zip(weights, epsilons, strict=True)]
        exact, alone = mp.log1p(sum(parts)), mp.log1p(parts[0])
        blocks = tuple(release(Laplace(1.0), one) for one in epsilons)
        found = pure_epsilon(plan(Partition(weights, blocks)))
        assert exact <= found <= exact + 1e-12 * max(epsilons) + 1e-12
        assert alone <= amplified(epsilons[0], weights[0]) <= alone + 1e-12 * epsilons[0]
    assert amplified(701.0, 1.0) == 701.0 and amplified(math.inf, 0.5) == math.inf


def test_parallel_under_both_relations() -> None:
    def blocks(relation: Relation) -> Plan:
        scales = (2.0, 4.0, 5.0)
        return Plan(relation, Parallel(tuple(release(Laplace(s), relation=relation) for s in scales)))

    assert pure_epsilon(blocks(ADD_REMOVE)) == 0.5
    assert pure_epsilon(blocks(REPLACE_ONE)) == 0.75  # the record leaves one block and enters another
    same = Parallel(tuple(release(Laplace(2.0), relation=REPLACE_ONE) for _ in range(5)))
    assert pure_epsilon(Plan(REPLACE_ONE, same)) == 1.0


@pytest.mark.parametrize(("weights", "epsilons"), WEIGHTS_AND_EPSILONS)
def test_partition_is_the_worst_likelihood_ratio(weights: tuple[float, ...], epsilons: tuple[float, ...]) -> None:
    """Enumerated: every block answers a randomised response about whether the record is in it."""
    mechanisms = [response(e) for e in epsilons]
    ratios = []
    for outcome in itertools.product((0, 1), repeat=len(weights)):
        without = math.prod(m[0, o] for m, o in zip(mechanisms, outcome, strict=True))
        with_record = (1 - sum(weights)) * without
        for j, weight in enumerate(weights):
            with_record += weight * without / mechanisms[j][0, outcome[j]] * mechanisms[j][1, outcome[j]]
        ratios.append(with_record / without)
    events = tuple(release(Laplace(1 / e)) for e in epsilons)
    worst = max(math.log(max(ratios)), -math.log(min(ratios)))
    assert pure_epsilon(Plan(ADD_REMOVE, Partition(weights, events))) == pytest.approx(worst, rel=1e-12)


def test_partition_under_replacement_costs_the_largest_block() -> None:
    events = tuple(release(Laplace(s), relation=REPLACE_ONE) for s in (2.0, 4.0))
    assert pure_epsilon(Plan(REPLACE_ONE, Partition((0.5, 0.5), events))) == 0.5


def test_partition_of_equal_events_is_one_event() -> None:
    events = (release(Laplace(2.0)),) * 4
    assert pure_epsilon(Plan(ADD_REMOVE, Partition((0.25,) * 4, events))) == 0.5


@pytest.mark.parametrize(("method", "relation"), [("poisson", ADD_REMOVE), ("without-replacement", REPLACE_ONE)])
def test_amplification(method, relation: Relation) -> None:
    sampled = Subsample(0.1, release(Laplace(0.5), relation=relation), method)
    assert pure_epsilon(Plan(relation, sampled)) == pytest.approx(math.log1p(0.1 * math.expm1(2.0)), rel=1e-12)
    assert pure_epsilon(Plan(relation, sampled)) >= math.log1p(0.1 * math.expm1(2.0))


def brute_force_kov(epsilon: float, each: float, count: int) -> float:
    total = 0.0
    for outcome in itertools.product((0, 1), repeat=count):
        p = math.prod(response(each)[0, o] for o in outcome)
        q = math.prod(response(each)[1, o] for o in outcome)
        total += max(0.0, p - math.exp(epsilon) * q)
    return total


@pytest.mark.parametrize(("each", "count"), [(0.3, 1), (0.3, 6), (1.5, 9)])
def test_optimal_composition_is_enumeration(each: float, count: int) -> None:
    for epsilon in np.linspace(0, each * count * 1.1, 9):
        assert kov_delta(epsilon, each, count) == pytest.approx(
            brute_force_kov(epsilon, each, count), rel=1e-9, abs=1e-15
        )
    found = kov_epsilon(1e-3, each, count)
    assert kov_delta(found, each, count) <= 1e-3


def test_optimal_composition_of_unequal_parts_is_enclosed() -> None:
    """Two kinds of randomised response; the truth by enumerating how many of each went against the record."""
    bound = account(plan(Repeat(release(Laplace(4.0)), 10), Repeat(release(Laplace(7.0)), 12)), delta=1e-4)
    truth = _two_kinds(bound.methods["kov"], (0.25, 10), (1 / 7, 12))
    assert truth <= 1e-4
    assert _two_kinds(bound.methods["kov"] - 1e-3, (0.25, 10), (1 / 7, 12)) > 1e-4
    assert bound.methods["pld"] < bound.methods["kov"] < bound.methods["basic"]


def _two_kinds(epsilon: float, one: tuple[float, int], two: tuple[float, int]) -> float:
    total = 0.0
    for i, j in itertools.product(range(one[1] + 1), range(two[1] + 1)):
        loss = (one[1] - 2 * i) * one[0] + (two[1] - 2 * j) * two[0]
        p = 1.0
        for (size, count), against in ((one, i), (two, j)):
            p *= math.comb(count, against) * math.exp((count - against) * size) / (1 + math.exp(size)) ** count
        total += p * max(0.0, -math.expm1(epsilon - loss))
    return total


def test_sequences_flatten() -> None:
    one = release(Laplace(8.0))
    assert pure_epsilon(plan(Sequential((one, Repeat(one, 2))), one)) == 0.5


@pytest.mark.parametrize(("epsilon", "rate", "blocks"), [(3.0, 0.1, 10), (5.0, 0.5, 10), (1.0, 0.3, 6)])
def test_a_replaced_record_in_a_sample_of_blocks_of_fixed_sizes(epsilon: float, rate: float, blocks: int) -> None:
    """As many records as blocks, the block's size the sample's over the number of blocks, rounded down.

    A full sample alone fills them, with one record each, so that a record that is there changes all blocks, and one
    that is replaced a single one. Sums of values in [-1, 1] at the outcome (1, ..., 1), all others' value is 1.
    """
    inside = Partition((1 / blocks,) * blocks, (release(Laplace(1 / epsilon)),) * blocks, independent=False)
    full = rate**blocks
    ratio = ((1 - full) * math.exp(-epsilon * blocks) + full) / (
        (1 - full) * math.exp(-epsilon * blocks) + full * math.exp(-2 * epsilon)
    )
    assert math.log(ratio) <= pure_epsilon(Plan(REPLACE_ONE, Subsample(rate, inside))) <= 2 * epsilon * (1 + 1e-12)


@pytest.mark.parametrize("rate", [None, 0.5])
def test_a_record_that_leaves_a_parallel_block_changes_all_blocks_of_fixed_sizes_in_it(rate: float | None) -> None:
    """Records of one kind in ten blocks of equal sizes, noise of scale 1 on sums of values in [-1, 1].

    Ten such records of value 1, or nine and one of the other kind, which fill no blocks: ten sums change by 1.
    """
    blocks = Partition((0.1,) * 10, (release(Laplace(1.0), 2.0, REPLACE_ONE),) * 10, independent=False)
    other = release(Laplace(1e6), 2.0, REPLACE_ONE)
    true, leaving = 10.0, 22.0  # and one of the records is another, in a block that stays as large
    if rate is not None:
        blocks = Partition((0.1,) * 10, (release(Laplace(1.0)),) * 10, independent=False)
        true, leaving = math.log1p(rate**10 * math.expm1(10.0)), math.log1p(rate * math.expm1(12.0))
    inside = blocks if rate is None else Subsample(rate, blocks)
    for block in (inside, Sequential((inside,)), Parallel((inside,))):
        found = Plan(REPLACE_ONE, Parallel((block, other)))
        assert true <= leaving <= pure_epsilon(found) <= leaving * 1.1
        assert account(found, delta=1e-6, quick=True).epsilon >= true - 0.01
    assert pure_epsilon(Plan(REPLACE_ONE, inside)) <= 2.0  # a record that stays changes one block


def test_lower_ends_of_replaced_records_in_samples_of_blocks_of_fixed_sizes_are_attained() -> None:
    """A replaced record changes one of the blocks, and no more than e^2 of the likelihood is there to be lost."""
    inside = Partition((0.1,) * 10, (release(Laplace(1.0)),) * 10, independent=False)
    for event in (Subsample(0.5, inside), Subsample(1 - 1e-9, Subsample(0.5, Sequential((inside,))))):
        node = normalise(Plan(REPLACE_ONE, event))
        assert node_epsilon(one_sided(node, above=False), REPLACE_ONE) <= 2.0


@pytest.mark.parametrize("size", [1.0, 15.0, 30.0, 350.0])
@pytest.mark.parametrize("rate", [0.3, 0.5, 0.999, 1 - 1e-6, 1 - 2.0**-20])
def test_replaced_records_in_nearly_all_samples_cost_no_less_than_the_closed_form(size: float, rate: float) -> None:
    with mp.workdps(400):
        true = mp.log((1 - mp.mpf(rate) + rate * mp.exp(size)) / (1 - mp.mpf(rate) + rate * mp.exp(-size)))
        found = pure_epsilon(Plan(REPLACE_ONE, Subsample(rate, release(Laplace(1.0), size))))
        assert true <= found <= true * (1 + 1e-12)


@pytest.mark.parametrize("rate", [1e-4, 0.1, 0.7])
def test_a_sample_of_replaced_records_costs_the_most_that_its_two_bounds_allow(rate: float) -> None:
    """Densities s and t over that without either record: s <= e^n, t >= e^-n, s / t <= e^f, on a fine grid."""

    def mixed(x: float) -> float:
        return math.log1p(rate * math.expm1(x))

    for near, far in itertools.product((0.01, 1.0, 5.0, 40.0), (0.005, 0.9, 1.1, 6.0, 60.0)):
        node = Exchanged(rate, PureCost(Fraction(near)), PureCost(Fraction(far)))
        most = min(far, 2 * near)
        best = max(mixed(s) - mixed(s - most) for s in np.linspace(most - near, near, 301))
        assert best * (1 - 1e-9) - 1e-15 <= node_epsilon(node, Relation.REPLACE_ONE) <= best * (1 + 1e-9) + 1e-12
    unbounded = Exchanged(rate, GaussianCost(Fraction(1)), PureCost(Fraction(2)))
    assert node_epsilon(unbounded, Relation.REPLACE_ONE) == 2.0
