"""Where accountants go wrong quietly: many releases, tiny figures, nested blocks, rates close to 1, bad input."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from account_plans import ADD_REMOVE, REPLACE_ONE, gaussian, laplace, plan, release, sampled_gaussian
from flint import arb, ctx

from refdp.accounting import IndividualFilter, IndividualOdometer, account, calibrate_count, composition
from refdp.accounting import gaussian as exact
from refdp.accounting.arrays import Array
from refdp.accounting.binomial import log_masses_above
from refdp.accounting.normal import normalise
from refdp.accounting.precise import gaussian_delta
from refdp.accounting.pure import kov_delta
from refdp.accounting.selection import Repetitions, selection_epsilon
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import (
    Event,
    Parallel,
    Partition,
    Plan,
    Relation,
    Release,
    Repeat,
    Sensitivity,
    Sequential,
    Subsample,
)


@pytest.fixture(autouse=True)
def digits() -> object:
    """Two hundred bits in balls, for the length of a test."""
    before, ctx.prec = ctx.prec, 200
    yield
    ctx.prec = before


def optimal_composition(epsilon: float, each: float, count: int) -> arb:
    """Theorem 3.3 of Kairouz, Oh, Viswanathan 2015 in ball arithmetic, term after term."""
    size = arb(each)
    mass, total = (1 / (1 + (-size).exp())) ** count, arb(0)
    shrink = (-size).exp()
    for against in range(count + 1):
        if (count - 2 * against) * each <= epsilon:
            break
        total += mass * (1 - (arb(epsilon) - (count - 2 * against) * size).exp())
        mass = mass * shrink * (count - against) / (against + 1)
    return total


@pytest.mark.parametrize(
    ("count", "each", "epsilon"),
    [(100_000, 0.003, 3.0), (200_000, 0.001, 1.0), (10, 0.3, 1.0), (500, 0.05, 2.0), (3, 1.5, 0.0), (1, 0.2, 0.1)],
)
def test_optimal_composition_is_never_below_the_truth(count: int, each: float, epsilon: float) -> None:
    truth, found = optimal_composition(epsilon, each, count), kov_delta(epsilon, each, count)
    assert arb(found) > truth
    assert arb(found) < truth * (1 + 1e-9)


@pytest.mark.parametrize(("trials", "odds"), [(7, 0.4), (40, 3.0), (5000, 0.01), (100_000, 0.003)])
def test_binomial_masses_are_above_and_close(trials: int, odds: float) -> None:
    successes = np.unique(np.linspace(0, trials, 41).round())
    for x, found in zip(successes, log_masses_above(successes, trials, odds), strict=True):
        x = int(x)
        ways = arb(trials + 1).lgamma() - arb(x + 1).lgamma() - arb(trials - x + 1).lgamma()
        truth = ways - (trials - x) * arb(odds) - trials * (1 + (-arb(odds)).exp()).log()
        assert arb(float(found)) > truth
        assert arb(float(found)) < truth + 1e-13 * (1 + abs(truth) + abs(x - trials / (1 + math.exp(-odds))))


@pytest.mark.parametrize(
    ("whole", "epsilon"),
    [
        (gaussian(1.0), 39.0),
        (sampled_gaussian(0.01, 1.0), 200.0),
        (sampled_gaussian(0.01, 1.0, 3), 250.0),
        (gaussian(1.0, 2), 1e4),
        (laplace(0.001, 2), 1999.999),
        (plan(Repeat(release(Laplace(0.5)), 600), Subsample(0.5, release(Laplace(1.0)))), 1199.5),
    ],
)
def test_nothing_rounds_to_a_pure_guarantee(whole: Plan, epsilon: float) -> None:
    bound = account(whole, epsilon=epsilon)
    assert bound.upper > 0
    assert all(value > 0 for value in bound.methods.values())


@pytest.mark.parametrize("delta", [5e-324, 1e-310, 1e-301])
def test_deltas_at_the_end_of_floats(delta: float) -> None:
    """Subnormal numbers have no relative accuracy: whatever is returned must hold at 1e-300 all the more."""
    for whole in (gaussian(1.0), sampled_gaussian(0.1, 1.0), laplace(2.0, 5)):
        assert account(whole, delta=delta).upper >= account(whole, delta=1e-290).lower


def blocks(*events: Event) -> Parallel:
    return Parallel(events)


def moved(scale: float) -> Release:
    return release(Laplace(scale), relation=REPLACE_ONE)


def test_blocks_of_blocks_are_blocks() -> None:
    a, b, c, d = (moved(scale) for scale in (2.0, 3.0, 4.0, 5.0))
    flat = Plan(REPLACE_ONE, blocks(a, b, c, d))
    for nested in (
        blocks(blocks(a, b), blocks(c, d)),
        blocks(Sequential((blocks(a, b),)), c, d),
        blocks(Repeat(blocks(a, b, c), 1), blocks(blocks(d))),
    ):
        assert normalise(Plan(REPLACE_ONE, nested)) == normalise(flat)
    assert account(flat, delta=0.0).upper == pytest.approx(1 / 2 + 1 / 3, rel=1e-15)


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_two_blocks_beside_a_third_are_composed_on_few_cells(monkeypatch: pytest.MonkeyPatch, epsilon: float) -> None:
    """Every move of a record enumerated; on the grid of the whole plan the direct convolution took many minutes."""
    scales, cells = (1.0, 2.0, 0.7), []

    def counted(one: Array, other: Array) -> Array:
        cells.append(max(len(one), len(other)))
        return np.convolve(one, other)

    monkeypatch.setattr(composition, "np", SimpleNamespace(**{**vars(np), "convolve": counted}))
    a, b, c = (release(DiscreteLaplace(scale, 1.0), relation=REPLACE_ONE) for scale in scales)
    bound = account(Plan(REPLACE_ONE, blocks(blocks(a, b), c)), epsilon=epsilon)
    values = np.arange(-60, 61)
    law = {
        (scale, shift): np.exp(-abs(values - shift) / scale) * math.tanh(1 / (2 * scale))
        for scale in scales
        for shift in (-1, 0, 1)
    }
    truth = 0.0
    for left, entered in itertools.permutations(scales, 2):
        for shift in (-1, 1):
            first = np.multiply.outer(law[left, 1], law[entered, 0])
            second = np.multiply.outer(law[left, 0], law[entered, shift])
            truth = max(truth, float(np.maximum(first - math.exp(epsilon) * second, 0).sum()))
    assert bound.lower <= truth * (1 + 1e-9)
    assert truth <= bound.upper <= truth * 1.15  # the envelope of all moves is above each of them
    assert cells
    assert max(cells) < 40_000


def test_a_block_left_for_good_is_left_from_one_inner_block() -> None:
    """Enumerated: block 1 holds (a | b) then e, block 2 holds d. Every move of one record, with what it pays."""
    a, b, d, e = 0.5, 0.25, 0.3, 0.1
    inner = Sequential((blocks(moved(1 / a), moved(1 / b)), moved(1 / e)))
    places = {"a": {"a": a, "e": e}, "b": {"b": b, "e": e}, "d": {"d": d}}
    worst = max(
        sum(max(places[x].get(key, 0), places[y].get(key, 0)) for key in places[x].keys() | places[y].keys())
        for x, y in itertools.product(places, repeat=2)
    )
    bound = account(Plan(REPLACE_ONE, blocks(inner, moved(1 / d))), delta=0.0)
    assert worst == pytest.approx(0.9)
    assert bound.upper == pytest.approx(worst, rel=1e-14)
    assert account(Plan(REPLACE_ONE, blocks(inner, moved(1 / d))), delta=1e-5).lower <= worst


def test_certain_sampling_costs_most() -> None:
    for mechanism in (Laplace(2.0), Gaussian(3.0), Exponential(0.3)):
        for count in (1, 20):
            certain = account(plan(Repeat(release(mechanism), count)), delta=1e-6)
            nearly = account(plan(Repeat(Subsample(1 - 1e-12, release(mechanism)), count)), delta=1e-6)
            assert nearly.upper <= certain.upper
            assert certain.lower * (1 - 4e-2) <= nearly.lower <= certain.upper


def test_optimal_composition_of_millions_takes_few_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    from refdp.accounting import binomial

    seen = []
    plain = binomial.log_masses_above

    def counted(successes: np.ndarray, trials: int, odds: float) -> np.ndarray:
        seen.append(len(successes))
        return plain(successes, trials, odds)

    monkeypatch.setattr(binomial, "log_masses_above", counted)
    found = kov_delta(1.0, 1e-3, 2**22)
    assert max(seen) < 2**17
    assert found == pytest.approx(exact.delta(2.048, 1.0), rel=1e-6)  # μ = e sqrt(k)
    assert kov_delta(4000.0, 1e-3, 2**22) > 0
    assert kov_delta(1.0, 1e4, 3) == 1


def test_heavy_counts_are_answered() -> None:
    heavy = laplace(1e6, 10**11)
    quick = account(heavy, delta=1e-6, quick=True)
    assert quick.upper == pytest.approx(1.4716, rel=1e-3)
    few = calibrate_count(lambda n: laplace(300.0, n), epsilon=1.0, delta=1e-6)
    assert account(laplace(300.0, few), delta=1e-6).upper <= 1 < account(laplace(300.0, few + 1), delta=1e-6).upper


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: account(gaussian(1.0), delta="1e-6"), "delta '1e-6'"),  # type: ignore[arg-type]
        (lambda: account(gaussian(1.0), epsilon=[1.0]), r"epsilon \[1.0\]"),  # type: ignore[arg-type]
        (lambda: account(gaussian(1.0), delta=True), "delta True"),
        (lambda: account(gaussian(1.0), delta=math.nan), "delta nan"),
        (lambda: account(plan(Subsample(".1", release(Gaussian(1.0)))), delta=1e-6), "rate '.1'"),  # type: ignore
        (lambda: account(Plan(ADD_REMOVE, [release(Gaussian(1.0))]), delta=1e-6), "event"),  # type: ignore[arg-type]
        (lambda: account(plan(Repeat(release(Gaussian(1.0)), math.nan)), delta=1e-6), "count nan"),  # type: ignore
        (lambda: account(plan(Repeat(release(Gaussian(1.0)), math.inf)), delta=1e-6), "count inf"),  # type: ignore
        (lambda: account(plan(Repeat(release(Gaussian(1.0)), "2")), delta=1e-6), "count '2'"),  # type: ignore
        (lambda: Plan("add-remove", release(Gaussian(1.0))), "relation 'add-remove'"),  # type: ignore[arg-type]
        (lambda: Sensitivity("1", 1, "", Relation.ADD_REMOVE), "sensitivity '1'"),  # type: ignore[arg-type]
        (lambda: account(None, delta=1e-6), "plan None"),  # type: ignore[arg-type]
        (lambda: account(release(Gaussian(1.0)), delta=1e-6), r"plan Release\("),  # type: ignore[arg-type]
        (lambda: account(plan(Partition((".5",), (release(Gaussian(1.0)),))), delta=1e-6), "weight '.5'"),  # type: ignore
        (lambda: account(plan(Partition(0.5, (release(Gaussian(1.0)),))), delta=1e-6), "weights 0.5"),  # type: ignore
    ],
)
def test_bad_input_gives_one_clear_error(make, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()


def test_a_part_of_hardly_any_epsilon_beside_one_that_reaches_far() -> None:
    """The first was enclosed on one grid with SMALL = 0, which took minutes where the Laplace scale is 1e6."""
    both = plan(release(Laplace(140_000.0)), release(Gaussian(0.6)))
    bound = account(both, delta=1e-5)
    assert bound.lower <= 8.003691043 and bound.upper >= 8.003691066 and bound.upper - bound.lower < 1e-5
    found = account(both, epsilon=6.0)
    assert found.lower <= 0.00095997915 and found.upper >= 0.00095997922 and found.upper < found.lower * 1.0001
    wide = account(plan(release(Laplace(1e6)), release(Gaussian(0.3))), delta=1e-5)
    assert 19.13 < wide.lower <= wide.upper < wide.lower * (1 + 1e-6)


def test_what_is_looked_at_apart_is_not_forgotten() -> None:
    """Losses of 10 and of 1 / 140,000 are both at their top in a quarter of all outputs, so that they add up."""
    bound = account(plan(release(Laplace(0.1)), release(Laplace(140_000.0))), delta=1e-7)
    assert bound.upper > 10 + 0.9 / 140_000 and bound.lower <= 10 + 1 / 140_000


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_blocks_whose_sizes_follow_from_the_records_are_no_partition_when_a_record_is_added(delta: float) -> None:
    def cost(independent: bool, relation: Relation) -> float:
        one = Release("sum", Laplace(1.0), Sensitivity(1.0, 1, "", relation))
        return account(Plan(relation, Partition((0.5, 0.5), (one, one), independent)), delta=delta).epsilon

    assert cost(True, Relation.ADD_REMOVE) <= 1 < 1.99 < cost(False, Relation.ADD_REMOVE) <= 4
    assert cost(True, Relation.REPLACE_ONE) == cost(False, Relation.REPLACE_ONE) <= 1


@pytest.mark.parametrize(
    ("event", "exact"),
    [
        (Repeat(release(Laplace(1.0)), 3), 3.0),
        (Repeat(release(Exponential(1.0)), 3), 3.0),
        (Sequential((Repeat(release(Laplace(2.0)), 2), release(Laplace(0.5)))), 3.0),
    ],
)
def test_at_delta_0_there_is_a_lower_end_and_it_is_near_the_sum_of_the_largest_losses(
    event: Event, exact: float
) -> None:
    """At delta 0 a pure cost is attained: the lower end was 0, as if nothing were known."""
    found = account(Plan(ADD_REMOVE, event), delta=0.0)
    assert 0.98 * exact < found.lower <= exact <= found.upper < exact * (1 + 1e-9)
    assert account(Plan(ADD_REMOVE, event), delta=0.0, both=False).lower == 0.0


def test_the_lower_end_at_delta_0_is_below_epsilon_where_the_largest_loss_is_rare() -> None:
    """Its mass is below 1e-30: what is found without it stays a lower end."""
    found = account(laplace(10.0, 200), delta=0.0)
    assert 0.0 < found.lower < found.upper == pytest.approx(20.0)


def test_what_a_record_spends_is_never_below_the_sum_of_its_costs() -> None:
    """A cost below half a unit in the last place is lost whole where sums are rounded to the nearest."""
    cost, count = 0.98 * 2.0**-53, 1000
    filters, odometer = IndividualFilter(1, np.array([2.0]), np.array([2.0])), IndividualOdometer(1, 2.0)
    for one in (filters, odometer):
        one.charge(np.array([[1.0]]) if one is filters else np.array([1.0]))
        for _ in range(count):
            one.charge(np.array([[cost]]) if one is filters else np.array([cost]))
    truth = 1 + Fraction(cost) * count
    assert Fraction(filters.spent[0, 0]) >= truth
    assert Fraction(odometer.losses(0.5)[0] - math.log(2)) >= truth


@pytest.mark.parametrize("delta", [0.0, -1e-6, 1.0, 2.0, math.nan])
def test_a_filter_has_no_guarantee_at_a_delta_outside_of_its_domain(delta: float) -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        IndividualFilter(1, np.array([2.0]), np.array([2.0])).guarantee(delta)


@pytest.mark.parametrize("delta", [-1e-6, 2.0, math.nan])
def test_a_selection_costs_nothing_at_a_delta_outside_of_its_domain(delta: float) -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        selection_epsilon(Repetitions(1.0, 0.1), [laplace(1.0, 1)], delta)


@pytest.mark.parametrize("epsilon", [1e17, 2.5e18, 1e300])
def test_gaussians_have_a_delta_where_the_exponential_of_epsilon_is_beyond_decimals(epsilon: float) -> None:
    assert 0 < exact.delta(1.0, epsilon) <= 1e-300
    assert 0 < account(gaussian(1.0, 1), epsilon=epsilon).upper <= 1e-300


def test_both_forms_of_a_gaussians_delta_meet() -> None:
    below, above = (gaussian_delta(4.4e8, 10**17 + side) for side in (0, 1))
    fall = math.exp(-(1e17 / 4.4e8 - 2.2e8) / 4.4e8)  # of the tail, whose logarithm is -x^2 / 2, by one of epsilon
    assert 0 < above < below and float(above / below) == pytest.approx(fall, rel=1e-6)


def test_a_group_beyond_all_floats_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="group a whole number of 1329 bits"):
        account(laplace(1.0, 1), delta=1e-5, group=10**400)
