"""Mixtures of small laws, noise pulled apart, and sums of losses: against everything enumerated."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import laplace as laplace_law
from scipy.stats import norm

from refdp.accounting import composition, grid, mixtures
from refdp.accounting.arrays import Array
from refdp.accounting.composition import compose
from refdp.accounting.grid import Measure
from refdp.accounting.pairs import DiscreteLaplacePair, GaussianPair, LaplacePair, Outcomes

LAW = ((0.125, 0.25), (0.25, 0.375), (0.125, 0.0625), (0.375, 0.25), (0.125, 0.0625))
"""(P, Q) of every outcome, exact floats; losses from -0.69 to 0.69, one of them twice."""
PAIR = Outcomes(LAW)


def tails_of(law: Any, loss: float) -> list[float]:
    """P(L > ε), Q(L > ε), P(L <= ε), Q(L <= ε)."""
    above = [(p, q) for p, q in law if math.log(p / q) > loss]
    below = [(p, q) for p, q in law if not math.log(p / q) > loss]
    return [math.fsum(p for p, _ in above), math.fsum(q for _, q in above), math.fsum(p for p, _ in below),
            math.fsum(q for _, q in below)]  # fmt: skip


# --- Sampled pairs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
def test_sampled_pairs_have_the_tails_of_their_mixtures(rate: float) -> None:
    """At losses between the atoms and beyond."""
    first = [(rate * p + (1 - rate) * q, q) for p, q in LAW]
    second = [(p, rate * q + (1 - rate) * p) for p, q in LAW]
    losses = np.array([-9.0, -0.6931, -0.45, -0.2, -0.001, 0.0, 0.001, 0.2, 0.41, 0.6931, 2.0])
    atoms = [math.log(p / q) for p, q in (*first, *second)]
    losses = np.array([x for x in losses if min(abs(x - atom) for atom in atoms) > 1e-6])
    for pair, law in ((mixtures.MixtureFirst(rate, PAIR), first), (mixtures.MixtureSecond(rate, PAIR), second)):
        for loss, *found in zip(losses, *pair.tails(losses), strict=True):
            assert found == pytest.approx(tails_of(law, loss), abs=1e-14)
        ends = [math.log(p / q) for p, q in law]
        assert pair.bounds == pytest.approx((min(ends), max(ends)), abs=1e-14)
    both = mixtures.FixedSize(rate, PAIR)
    for loss, *found in zip(losses, *both.tails(losses), strict=True):
        assert found == pytest.approx(tails_of(first if loss >= 0 else second, loss), abs=1e-14)
    assert both.bounds == (mixtures.MixtureSecond(rate, PAIR).bounds[0], mixtures.MixtureFirst(rate, PAIR).bounds[1])
    for pair in (mixtures.MixtureFirst(rate, PAIR), mixtures.MixtureSecond(rate, PAIR), both):
        assert pair.rounding.slack > PAIR.rounding.slack
        least = 4 * 2.0**-53 / (1 - rate)  # what the change of variable is said to lose
        assert PAIR.rounding.blur + least <= pair.rounding.blur <= PAIR.rounding.blur + 16 * least


@pytest.mark.parametrize("rate", [0.02, 0.5, 0.97])
def test_the_change_of_variable_has_the_precision_of_floats(rate: float) -> None:
    with localcontext() as context:
        context.prec = 60
        share = Decimal(rate)
        for loss in (-40.0, -3.0, -1e-9, 1e-300, 1e-9, 0.5, 0.999, 1.001, 3.0, 50.0, 600.0):
            truth = (1 - share + share * Decimal(loss).exp()).ln()
            assert mixtures.mixed_loss(loss, rate) == pytest.approx(float(truth), rel=1e-13, abs=1e-17)
            inside = 1 + (Decimal(loss).exp() - 1) / share
            found = float(mixtures.unmixed_loss(np.array([loss]), rate)[0])
            if inside <= 0:
                assert found == -math.inf
            else:
                assert found == pytest.approx(float(inside.ln()), rel=1e-13, abs=1e-15 / (1 - rate))


def opposed_truth(near: Any, rate: float, loss: float) -> tuple[float, float]:
    """P(L > ε) and Q(L > ε) of (1-q) M(0) + q M(s) against (1-q) M(0) + q M(-s)."""
    if isinstance(near, DiscreteLaplacePair):
        z = np.arange(-300, 301)

        def mass(shift: int) -> Array:
            return np.asarray(np.exp(-near.rate * np.abs(z - shift)) * math.tanh(near.rate / 2))

        p, q = ((1 - rate) * mass(0) + rate * mass(side * near.shift) for side in (1, -1))
        ratio = np.log(p) - np.log(q)
        return float(p[ratio > loss].sum()), float(q[ratio > loss].sum())
    shift, law = (near.mu, norm) if isinstance(near, GaussianPair) else (near.epsilon, laplace_law)

    def at(x: float) -> float:
        one, other = ((1 - rate) * law.pdf(x) + rate * law.pdf(x - side * shift) for side in (1, -1))
        return float(math.log(one) - math.log(other))

    low, high = 0.0, shift + 20.0 if law is norm else shift
    if at(high) <= loss:
        return 0.0, 0.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) <= loss else (low, middle)
    found = [(1 - rate) * law.sf(high) + rate * law.sf(high - side * shift) for side in (1, -1)]
    return float(found[0]), float(found[1])


OPPOSED: list[Callable[[], Any]] = [
    lambda: GaussianPair(0.8), lambda: LaplacePair(1.3), lambda: DiscreteLaplacePair(0.37, 3),
    lambda: DiscreteLaplacePair(0.9, 1),
]  # fmt: skip


@pytest.mark.parametrize("near", OPPOSED)
@pytest.mark.parametrize("rate", [0.1, 0.8])
def test_two_records_that_pull_apart_against_the_two_laws(near: Callable[[], Any], rate: float) -> None:
    pair = mixtures.Opposed(rate, near())
    low, bound = pair.bounds
    end = pair.near.bounds[1]
    top = math.log(1 - rate + rate * math.exp(end)) - math.log(1 - rate + rate * math.exp(-end))
    losses = np.array([0.0123, 0.0917, 0.2213, 0.3571, 0.6429]) * min(top, 5.0)
    for loss, right, left in zip(
        losses, zip(*pair.tails(losses), strict=True), zip(*pair.tails(-losses), strict=True), strict=True
    ):
        p, q = opposed_truth(pair.near, rate, float(loss))
        assert right == pytest.approx((p, q, 1 - p, 1 - q), abs=1e-9)
        assert left == pytest.approx((1 - q, 1 - p, q, p), abs=1e-9)  # no atom lies at these losses
    assert low == -bound and bound >= top * (1 - 1e-12)
    if not isinstance(pair.near, GaussianPair):
        assert pair.tails(np.array([top * 1.0001])).above[0] == 0.0 < pair.tails(np.array([top * 0.999])).above[0]


def test_a_measure_seen_as_a_pair_is_a_step_function() -> None:
    measure = Measure(-1, 0.5, np.array([0.125, 0.25, 0.25, 0.125]), 0.25, 1e-9)
    pair = mixtures.MeasuredPair(measure)
    assert pair.bounds == (-0.5, 1.0)
    mass_q = measure.mass * np.exp(-measure.losses)
    for loss in (-1.0, -0.5, -0.2, 0.0, 0.3, 0.5, 1.0, 2.0):
        beyond = measure.losses > loss
        p, q = float(measure.mass[beyond].sum()) + 0.25, float(mass_q[beyond].sum())
        found = [float(tail[0]) for tail in pair.tails(np.array([loss]))]
        below_q = float(mass_q[~beyond].sum()) + max(0.0, 1 - float(mass_q.sum()))
        assert found == pytest.approx([p, q, 1 - p, below_q], abs=1e-15)
    assert pair.rounding.blur == 1e-9 and 4 * 2.0**-53 < pair.rounding.slack < 1e-12


# --- Sums of losses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tilt", [0.75, 4.0])
def test_what_a_sum_says_of_itself(tilt: float) -> None:
    """Scale, masses, infinity, blur and the stated bounds on rounding, against sums of rational masses."""
    one = Measure(-1, 0.5, np.array([0.25, 0.5, 0.125]), 0.125, 1e-9)
    other = Measure(0, 0.5, np.array([0.5, 0.5]), 0.0, 2e-9)
    parts = [(one, 3), (other, 2)]
    found = compose(parts, tilt)
    law = {0: Fraction(1)}
    for measure, count in parts:
        for _ in range(count):
            longer: dict[int, Fraction] = {}
            for place, mass in law.items():
                for i, m in enumerate(measure.mass):
                    longer[place + measure.start + i] = longer.get(
                        place + measure.start + i, Fraction(0)
                    ) + mass * Fraction(m)
            law = longer
    weights = {place: float(mass) * math.exp(tilt * place * 0.5) for place, mass in law.items()}
    whole = math.fsum(weights.values())
    assert found.log_scale == pytest.approx(math.log(whole), rel=1e-13)
    off = 0.0
    for loss, mass in zip(found.losses, found.tilted, strict=True):
        off += (mass - weights.get(round(loss / 0.5), 0.0) / whole) ** 2
    assert math.sqrt(off) <= found.transform_error < 1e-12
    assert found.infinity == 3 * 0.125 and 7e-9 <= found.blur < 7e-9 + 1e-12
    assert found.losses[0] <= found.centre <= found.losses[-1] and found.centre in found.losses
    stated = 5 * 2.0**-49 * (4 + tilt * 0.5) + abs(found.log_scale) * 2.0**-53
    assert stated <= found.relative_error <= stated + abs(found.log_scale) * 2.0**-46
    assert found.step == 0.5 and found.tilt == tilt


@pytest.mark.parametrize("epsilon", [0.2, 0.9, 3.0])
def test_the_next_tilt_is_a_newton_step_that_is_held(epsilon: float) -> None:
    """Mean and variance of the tilted law; at most four times larger or smaller."""
    measure, tilt = grid.pessimistic(LaplacePair(0.5), 0.05, -60.0), 2.0
    found = compose([(measure, 3)], tilt)
    weights = measure.mass * np.exp(tilt * measure.losses)
    weights /= weights.sum()
    mean = float(weights @ measure.losses)
    variance = float(weights @ (measure.losses - mean) ** 2)
    wanted = tilt + (epsilon - 3 * mean) / (3 * variance)
    assert found.tilt_for(epsilon) == pytest.approx(min(max(wanted, tilt / 4), tilt * 4), rel=1e-9)
    held = {0.2: tilt / 4, 3.0: 4 * tilt}
    assert epsilon not in held or found.tilt_for(epsilon) == held[epsilon]
    still = compose([(Measure(3, 0.5, np.array([1.0, 0.0]), 0.0, 0.0), 2)], 1.0)
    assert still.tilt_for(3.2) == pytest.approx(1 + 0.2 / 0.25, rel=1e-9)


def test_what_the_transform_can_be_off_by_is_a_share() -> None:
    found = compose([(grid.pessimistic(LaplacePair(0.5), 0.05, -60.0), 3)], 2.0)
    shares = [found.uncertain(epsilon) for epsilon in (0.1, 0.5, 1.2, 1.49, 1.7)]
    assert 0 < shares[0] < 1e-11 and shares == sorted(shares) and shares[-1] == 1.0
    _, total, error = found._terms(1.2 - found.blur)
    assert shares[2] == pytest.approx(error / (total + error))


@pytest.mark.parametrize("tilt", [0.5, 6.0])
def test_a_window_leaves_out_what_it_says(tilt: float) -> None:
    """Tilted mass outside at most e^-WINDOW, and above it at most what is stated, of sums of 40."""
    measure = grid.pessimistic(LaplacePair(0.4), 0.1, -60.0)
    log_scale, mass = composition.tilted_masses(measure, tilt)
    assert log_scale == pytest.approx(math.log(float(measure.mass @ np.exp(tilt * measure.losses))), abs=1e-12)
    low, high, log_top = composition._window([(measure, 40)], [mass], tilt, 40 * log_scale)
    law, plain = np.ones(1), np.ones(1)
    for _ in range(40):
        law, plain = np.convolve(law, mass), np.convolve(plain, measure.mass)
    losses = (40 * measure.start + np.arange(len(law))) * 0.1
    out = math.exp(-composition.WINDOW)
    assert float(law[losses < low - 1e-9].sum()) <= out and float(law[losses > high + 1e-9].sum()) <= out
    assert float(plain[losses > high + 1e-9].sum()) <= math.exp(log_top)
    spread = math.sqrt(float(law @ losses**2) - float(law @ losses) ** 2)
    assert high - low < 24 * spread
    assert math.exp(log_top) < 1e-11


def test_masses_fold_around_the_circle() -> None:
    mass = np.arange(1.0, 12.0)
    for middle in (0, 4, 9):
        truth = np.zeros(4)
        for i, m in enumerate(mass):
            truth[(i - middle) % 4] += m
        assert composition._folded(mass, middle, 4).tolist() == truth.tolist()


def test_moments_by_blocks_are_from_above(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composition, "_BLOCKS", 5)
    measure = grid.pessimistic(GaussianPair(0.5), 0.05, -30.0)
    mass, (firsts, lasts) = composition._blocks(measure, measure.mass)
    assert len(mass) <= 5 and float(mass.sum()) == pytest.approx(float(measure.mass.sum()))
    assert firsts[0] == measure.losses[0] and lasts[-1] == measure.losses[-1]
    assert np.allclose(firsts[1:] - lasts[:-1], 0.05)
    for first, last, m in zip(firsts, lasts, mass, strict=True):
        inside = (measure.losses >= first) & (measure.losses <= last)
        assert m == pytest.approx(float(measure.mass[inside].sum()), rel=1e-12)
    factors = np.array([0.5, 3.0])
    truth = [math.log(float(mass @ np.exp(f * lasts))) for f in factors]
    assert composition._log_means(mass, factors, lasts).tolist() == pytest.approx(truth, rel=1e-12)
    assert composition._log_means(np.array([0.0, 1.0]), factors, np.array([9.0, 2.0])).tolist() == [1.0, 6.0]
