"""Composition of loss measures: against exact sums, and every error term against what it is said to bound."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from account_plans import ADD_REMOVE, REPLACE_ONE, laplace, plan, release, sampled_gaussian
from scipy import fft

from refdp.accounting import account
from refdp.accounting.composition import compose, convolve
from refdp.accounting.enclosure import enclose_delta, enclose_epsilon
from refdp.accounting.grid import Measure, pessimistic
from refdp.accounting.normal import normalise
from refdp.accounting.pairs import GaussianPair, LaplacePair, TwoPoint
from refdp.accounting.statistic import Statistic, added
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Parallel, Partition, Plan, Repeat, Sequential, Subsample


def rational_sum(measure: Measure, count: int) -> list[Fraction]:
    """The exact law of `count` independent losses with the measure's own floats as masses."""
    total = [Fraction(1)]
    each = [Fraction(float(m)) for m in measure.mass]
    for _ in range(count):
        longer = [Fraction(0)] * (len(total) + len(each) - 1)
        for i, a in enumerate(total):
            for j, b in enumerate(each):
                longer[i + j] += a * b
        total = longer
    return total


@pytest.mark.parametrize("tilt", [0.5, 3.0, 15.0])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_tilted_transform_encloses_exact_sums(tilt: float, count: int) -> None:
    """δ from above, e^{-x} rounded only at the end, and the tail probabilities on both sides."""
    measure = pessimistic(LaplacePair(0.5), 0.05, -60.0)
    composed = replace(compose([(measure, count)], tilt), blur=0.0)
    law, start = rational_sum(measure, count), measure.start * count
    for index in (0, 3, 10 * count - 2):
        gains = ((i + start - index) * measure.step for i in range(len(law)))
        delta = float(sum(m * Fraction(-math.expm1(-gain)) for m, gain in zip(law, gains, strict=True) if gain > 0))
        epsilon = index * measure.step
        assert delta * (1 - 1e-15) <= composed.delta_above(epsilon)
        if tilt == 3:
            assert composed.delta_above(epsilon) - delta <= 1e-7 * delta + 1e-16
    low, high = (composed.upper_tails(above, slice(None)) for above in (False, True))
    for position, loss in enumerate(composed.losses):
        index = round(loss / measure.step) - start
        if 0 <= index < len(law):
            tail = float(sum(law[index:]))
            assert low[position] <= tail * (1 + 1e-15)
            assert high[position] >= min(1.0, tail * (1 - 1e-15))
            if tilt == 3 and loss >= 0:
                assert high[position] - low[position] <= 1e-7 * tail + 1e-16


def test_many_short_parts_are_summed_before_the_window() -> None:
    """Sixty different scales: within the errors of sixty transforms over the whole window, and far fewer cells."""
    from refdp.accounting import composition

    parts = [(pessimistic(LaplacePair(0.02 + 0.0005 * k), 1e-4, -60.0), 1) for k in range(60)]
    merged = compose(parts, 4.0)
    masses = [composition.tilted_masses(measure, 4.0)[1] for measure, _ in parts]
    found = composition._merged(parts, masses, len(merged.losses))
    assert len(found) < 30
    total, start = np.ones(1), 0
    for measure, _ in parts:
        total, start = np.convolve(total, measure.mass), start + measure.start
    losses = (start + np.arange(len(total))) * 1e-4
    for epsilon in (0.1, 0.5, 1.0):
        truth = float(total @ np.maximum(-np.expm1(np.minimum(epsilon - losses, 0.0)), 0.0))
        assert truth * (1 - 1e-11) <= merged.delta_above(epsilon) <= truth * (1 + 1e-6) + 1e-12
    for one in found:  # each partial sum is as near to the exact one as it says
        assert abs(float(one.mass.sum()) - 1) <= math.sqrt(len(one.mass)) * one.error + 1e-9
        assert one.error < 1e-12


def test_direct_convolution_agrees() -> None:
    measure = pessimistic(GaussianPair(0.3), 0.01, -60.0)
    direct, tilted = convolve([(measure, 4)]), compose([(measure, 4)], 5.0)
    gain = -np.expm1(np.minimum(0.0, 1.0 - direct.losses)) @ direct.mass + direct.infinity
    assert gain <= tilted.delta_above(1.0) * (1 + 1e-9) <= gain * (1 + 1e-6)


def test_transform_error_is_within_its_bound() -> None:
    """Forward and backward, against a transform in extended precision: a tenth of η is not exceeded."""
    generator = np.random.default_rng(3)
    for length in (1000, 4096, 30_000):
        mass = generator.exponential(size=length) ** 4
        mass /= mass.sum()
        truth = fft.irfft(fft.rfft(mass.astype(np.longdouble)), length)
        assert truth.dtype == np.longdouble
        forward = np.linalg.norm((fft.rfft(mass) - fft.rfft(mass.astype(np.longdouble))).astype(complex))
        eta = 8 * 2.0**-53 * math.log2(length)
        assert forward <= 0.1 * eta * np.linalg.norm(mass) * math.sqrt(length)


@pytest.mark.parametrize("window", [1.0, 2.0, 4.0])
def test_a_window_that_is_too_narrow_still_encloses(window: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tilted mass of e^-window and more wraps around; both ends must have allowed for it."""
    from refdp.accounting import composition

    monkeypatch.setattr(composition, "WINDOW", window)
    high = 1 / (1 + math.exp(-0.2))
    for tilt in (1.0, 4.0, 7.0):
        composed = compose([(pessimistic(TwoPoint(0.2, 0.4), 0.1, -60.0), 30)], tilt)
        low, high_tails = (composed.upper_tails(above, slice(None)) for above in (False, True))
        for position in np.flatnonzero(composed.losses > 0):
            epsilon = composed.losses[position] - 0.05
            terms = [(math.comb(30, k) * high**k * (1 - high) ** (30 - k), (2 * k - 30) * 0.2) for k in range(31)]
            truth = sum(mass * max(0.0, -math.expm1(epsilon - loss)) for mass, loss in terms)
            tail = sum(mass for mass, loss in terms if loss > epsilon)
            assert truth <= composed.delta_above(epsilon)
            assert low[position] <= tail <= high_tails[position] * (1 + 1e-14)


def test_dropping_the_infinite_mass_is_rejected() -> None:
    """The mutant: a top cut at probability 1e-4 that is not counted would fall below the exact δ."""
    from refdp.accounting import gaussian

    exact = gaussian.delta(1.0, 4.0)
    measure = pessimistic(GaussianPair(1.0), 0.01, math.log(1e-4))
    assert compose([(measure, 1)], 4.0).delta_above(4.0) >= exact
    with pytest.raises(ArithmeticError, match="at least 1"):
        replace(measure, infinity=0.0)
    assert compose([(replace(measure, infinity=0.0, above=False), 1)], 4.0).delta_above(4.0) < exact


def test_infinite_losses_add_up() -> None:
    measure = Measure(0, 0.1, np.array([0.5, 0.4]), 0.1, 0.0)
    composed = compose([(measure, 3)], 1.0)
    assert composed.delta_above(10.0) >= 1 - 0.9**3
    assert composed.epsilon_above(0.2) == math.inf


def test_two_point_sums_are_binomial() -> None:
    pair, step = TwoPoint(0.2, 0.4), 0.1
    composed = compose([(pessimistic(pair, step, -60.0), 30)], 6.0)
    high = 1 / (1 + math.exp(-0.2))
    truth = sum(
        math.comb(30, k) * high**k * (1 - high) ** (30 - k) * -math.expm1(1.0 - (2 * k - 30) * 0.2)
        for k in range(31)
        if (2 * k - 30) * 0.2 > 1.0
    )
    assert truth <= composed.delta_above(1.0) <= truth * (1 + 1e-6)


@pytest.mark.parametrize("rate", [0.05, 0.6])
def test_sampled_randomised_response_is_binomial(rate: float) -> None:
    """Discrete Laplace noise of one step is randomised response; both directions enumerated, the larger enclosed."""
    count, each = 25, 0.4
    high, low = 1 / (1 + math.exp(-each)), 1 / (1 + math.exp(each))
    mixed = (1 - rate) * low + rate * high, (1 - rate) * high + rate * low

    def truth(p: tuple[float, float], q: tuple[float, float], epsilon: float) -> float:
        total = 0.0
        for k in range(count + 1):
            ratio = (p[0] / q[0]) ** k * (p[1] / q[1]) ** (count - k)
            mass = math.comb(count, k) * p[0] ** k * p[1] ** (count - k)
            total += mass * max(0.0, 1 - math.exp(epsilon) / ratio)
        return total

    whole = plan(Repeat(Subsample(rate, release(DiscreteLaplace(1 / each, 1.0))), count))
    for epsilon in (0.3, 1.0, 2.0):
        exact = max(truth(mixed, (low, high), epsilon), truth((low, high), mixed, epsilon))
        found = enclose_delta(normalise(whole), whole.relation, epsilon)
        assert found.lower <= exact <= found.upper <= exact * (1 + 1e-3) + 1e-100


PLANS = {
    "laplace": laplace(20.0, 500),
    "sampled": sampled_gaussian(0.02, 1.1, 300),
    "mixed": plan(Repeat(release(Laplace(9.0)), 20), Repeat(Subsample(0.1, release(Gaussian(2.0))), 20)),
    "tree": plan(Repeat(Subsample(0.2, Sequential((release(Gaussian(4.0)), release(Laplace(9.0))))), 20)),
    "blocks": plan(Repeat(Parallel((release(Gaussian(4.0)), release(Laplace(9.0)))), 20)),
    "slots": plan(Repeat(Partition((0.3, 0.5), (release(Gaussian(4.0)), release(Laplace(9.0)))), 20)),
    "selection": plan(Repeat(Sequential((release(Exponential(0.1)), release(Laplace(30.0)))), 40)),
    "moves": Plan(
        REPLACE_ONE,
        Repeat(Parallel(tuple(release(m, relation=REPLACE_ONE) for m in (Laplace(9.0), Gaussian(6.0)))), 10),
    ),
    "batches": Plan(
        REPLACE_ONE,
        Repeat(Subsample(0.1, release(Gaussian(2.0), relation=REPLACE_ONE), "without-replacement"), 50),
    ),
    "discrete": plan(Repeat(release(DiscreteGaussian(4.0, 1.0), 2.0), 10)),
}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("delta", [1e-3, 1e-10, 1e-30])
def test_enclosures_are_consistent(name: str, delta: float) -> None:
    """lower <= upper; asking back for δ at the ends gives δ on the right side."""
    whole = PLANS[name]
    node = normalise(whole)
    found = enclose_epsilon(node, whole.relation, delta)
    assert 0 < found.lower <= found.upper < math.inf
    assert enclose_delta(node, whole.relation, found.upper * (1 + 1e-6)).lower <= delta
    assert enclose_delta(node, whole.relation, found.lower * (1 - 1e-6)).upper >= delta


def test_sampled_sequence_of_gaussians_is_one_sampled_gaussian() -> None:
    two = plan(Subsample(0.1, Sequential((release(Gaussian(3.0)), release(Gaussian(4.0))))))
    one = sampled_gaussian(0.1, 1 / math.hypot(1 / 3, 1 / 4))
    assert account(two, delta=1e-6).upper == pytest.approx(account(one, delta=1e-6).upper, rel=1e-12)


def test_sampled_sequence_is_cheaper_than_its_parts_sampled_apart_is_dearer() -> None:
    """Sampling once for two releases correlates them: it costs more than sampling anew for each."""
    parts = (release(Laplace(2.0)), release(Gaussian(2.0)))
    once = account(Plan(ADD_REMOVE, Subsample(0.1, Sequential(parts))), delta=1e-6)
    anew = account(plan(*(Subsample(0.1, part) for part in parts)), delta=1e-6)
    assert once.lower > anew.upper


def test_blocks_cost_as_much_as_the_worst_block_and_less_than_all() -> None:
    worst = account(plan(Repeat(release(Gaussian(4.0)), 20)), delta=1e-6)
    all_of_them = account(plan(Repeat(Sequential((release(Gaussian(4.0)), release(Laplace(9.0)))), 20)), delta=1e-6)
    blocks = account(PLANS["blocks"], delta=1e-6)
    assert worst.upper <= blocks.upper <= all_of_them.lower


def test_direct_convolution_is_rounded_outwards() -> None:
    """Against the exact product of the same floats: every entry on its side, and close."""
    generator = np.random.default_rng(11)
    one, other = (generator.dirichlet(np.full(n, 0.3)) + 1e-9 for n in (40, 64))
    exact = [Fraction(0)] * 103
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            exact[i + j] += Fraction(float(a)) * Fraction(float(b))
    measures = [(Measure(0, 0.1, mass, 0.0, 0.0), 1) for mass in (one, other)]
    bounds = [Statistic(0, 0.1, np.stack((mass, mass, mass, mass))) for mass in (one, other)]
    above, below = convolve(measures).mass, added(bounds).masses
    for value, low, high, low_q, high_q, truth in zip(above, *below, exact, strict=True):
        assert Fraction(float(value)) >= truth
        assert max(Fraction(float(low)), Fraction(float(low_q))) <= truth
        assert min(Fraction(float(high)), Fraction(float(high_q))) >= truth
        assert float(value) == pytest.approx(float(low), rel=1e-12)
