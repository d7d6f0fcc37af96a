"""A composed loss whose masses are written down by hand: its profile, tails and tilts are sums of a few terms."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from refdp.accounting import composition
from refdp.accounting.composition import Composition
from refdp.accounting.grid import Measure
from refdp.accounting.pairs import NoPair

LOSSES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
MASSES = np.array([0.1, 0.2, 0.3, 0.25, 0.1])
"""With 0.05 at infinity."""


def composed(tilt: float, log_scale: float, centre: float, losses: np.ndarray = LOSSES) -> Composition:
    """The masses at these losses without any error, as a composition keeps them."""
    tilted = MASSES[: len(losses)] * np.exp(tilt * losses - log_scale)
    return Composition(losses, tilted, tilt, centre, log_scale, 0.0, 0.0, -math.inf, 0.05, 0.0)


def delta(epsilon: float) -> float:
    """Of the masses: the sum of m (1 - e^{ε - l}) over the losses above ε, and what is at infinity."""
    return 0.05 + sum(
        m * (1 - math.exp(epsilon - x)) for x, m in zip(LOSSES.tolist(), MASSES.tolist(), strict=True) if x > epsilon
    )


@pytest.mark.parametrize("tilt", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("log_scale", [0.0, -0.7, 2.0])
@pytest.mark.parametrize("centre", [0.0, 0.5])
def test_the_profile_is_the_sum_over_losses_above(tilt: float, log_scale: float, centre: float) -> None:
    """Below, at and between losses, and above the last of them."""
    one = composed(tilt, log_scale, centre)
    for epsilon in (-1.0, -0.75, -0.5, 0.0, 0.2, 0.5, 0.9, 1.0, 1.5):
        assert delta(epsilon) <= one.delta_above(epsilon) <= delta(epsilon) * (1 + 1e-12)
    late = replace(one, blur=0.3)  # losses may be larger by 0.3
    for epsilon in (-0.6, 0.0, 0.2, 0.9, 1.2, 1.3):
        assert late.delta_above(epsilon) == pytest.approx(delta(epsilon - 0.3), rel=1e-12)


def test_errors_come_on_top_of_the_profile() -> None:
    one, at = composed(1.0, 0.0, 0.0), 0.2
    inside = delta(at) - 0.05
    assert replace(one, relative_error=0.5).delta_above(at) == pytest.approx(1.5 * delta(at), rel=1e-12)
    assert replace(one, log_top=math.log(0.03)).delta_above(at) == pytest.approx(delta(at) + 0.03, rel=1e-12)
    assert replace(one, log_top=3.0).outside == 1.05  # a probability is 1 at most
    assert replace(one, infinity=0.9, log_top=-1.0).delta_above(-1.0) == 1.0
    blurred = replace(one, transform_error=0.01)
    # at the loss ε + x, x = h, 2h, …: an error of the 2-norm 0.01 against e^{-ε} e^{-x} (1 - e^{-x})
    lifted = blurred.delta_above(at) - delta(at)
    assert lifted == pytest.approx(0.01 * math.exp(-at) * blurred._norm, rel=1e-9)
    share = lifted / (inside + lifted)
    assert blurred.uncertain(at) == pytest.approx(share, rel=1e-9)
    assert blurred.uncertain(1.0) == 1.0 and one.uncertain(1.0) == 0.0
    assert 0 <= one.uncertain(at) < 1e-12
    assert replace(blurred, blur=0.1).uncertain(at + 0.1) == pytest.approx(share, rel=1e-9)


@pytest.mark.parametrize(
    ("count", "tilt", "step"), [(4, 1e-9, 0.5), (50, 3.0, 2.0), (1000, 0.05, 0.01), (60, 2.0, 0.1)]
)
def test_the_norm_of_a_weight_is_the_least_of_three_sums(count: int, tilt: float, step: float) -> None:
    """e^{-λx}(1 - e^{-x}) is at most 1, e^{-λx} and x e^{-λ(x - h)} at x = h, 2h, …"""
    losses = np.arange(count) * step
    one = Composition(losses, np.ones(count), tilt, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    k = np.arange(400_000)
    falling = math.fsum(np.exp(-2 * tilt * step * k))
    rising = step**2 * math.fsum((k + 1.0) ** 2 * np.exp(-2 * tilt * step * k))
    known = [float(count), falling, rising] if tilt > 1e-6 else [float(count)]
    assert one._norm == pytest.approx(math.sqrt(min(known)), rel=1e-9)
    x = losses + step
    assert one._norm >= math.sqrt(math.fsum((np.exp(-tilt * x) * -np.expm1(-x)) ** 2))


def test_no_tilt_leaves_the_number_of_losses_as_the_norm() -> None:
    assert Composition(np.arange(9.0), np.ones(9), 1e-20, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)._norm == 3.0


@pytest.mark.parametrize("tilt", [0.5, 3.0])
@pytest.mark.parametrize("log_scale", [0.0, -0.7])
def test_tails_are_sums_of_masses_between_two_ends(tilt: float, log_scale: float) -> None:
    one = composed(tilt, log_scale, 0.5)
    sums = np.array([0.95, 0.85, 0.65, 0.35, 0.1])
    above, below = (one.upper_tails(up, slice(None)) for up in (True, False))
    assert np.all(sums + 0.05 <= above) and np.allclose(above, sums + 0.05, rtol=1e-12, atol=0)
    assert np.all(below <= sums) and np.allclose(below, sums, rtol=1e-11, atol=0)
    assert one.upper_tails(True, slice(1, 3)).tolist() == above[1:3].tolist()
    assert one.upper_tails(False, slice(3, None)).tolist() == below[3:].tolist()
    wide = replace(one, relative_error=0.25)
    assert np.allclose(wide.upper_tails(True, slice(None)), np.minimum(1.25 * (sums + 0.05), 1.0), rtol=1e-12)
    assert np.allclose(wide.upper_tails(False, slice(None)), 0.75 * sums, rtol=1e-11)
    # an error of the 2-norm e in the masses against e^{-λx} at x = 0, h, 2h, …: five losses, or a geometric series
    error, weight = 1e-3, math.sqrt(min(5.0, math.fsum(math.exp(-tilt * k) for k in range(500))))
    off = error * weight * np.exp(log_scale - tilt * LOSSES)
    rough = replace(one, transform_error=error)
    assert np.allclose(rough.upper_tails(True, slice(None)), np.minimum(above + off, 1.0), rtol=1e-9)
    assert np.allclose(rough.upper_tails(False, slice(None)), np.maximum(sums - off, 0.0), rtol=1e-9)
    assert replace(one, transform_error=10.0).upper_tails(False, slice(None)).tolist() == [0.0] * 5


def test_a_weight_that_is_no_float_is_refused() -> None:
    losses = np.array([0.0, 400.0])
    one = Composition(losses, np.array([0.5, 0.5]), 1.0, 0.0, 0.0, 0.0, 0.0, -math.inf, 0.0, 0.0)
    assert 0 <= one.delta_above(350.0) < 1e-100  # (λ + 1) ε = 700
    with pytest.raises(NoPair, match=r"^a loss of 350\.5 at the tilt 1: its weight is no float$"):
        one.delta_above(350.5)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.75, 0.9])
def test_epsilon_is_the_least_with_that_delta(epsilon: float) -> None:
    one = composed(1.0, -0.3, 0.0)
    found = one.epsilon_above(delta(epsilon))
    assert epsilon * (1 - 1e-12) <= found <= epsilon + 1e-9


def test_no_epsilon_of_the_window_has_less_than_what_lies_outside() -> None:
    one = replace(composed(1.0, 0.0, 0.0), infinity=0.25)
    assert one.epsilon_above(0.24) == math.inf
    assert one.epsilon_above(0.26) < 1.0
    assert one.epsilon_above(0.99) == 0.0
    later = replace(composed(1.0, 0.0, 1.5), losses=LOSSES + 1.5, infinity=0.0)
    assert later.epsilon_above(0.99) == pytest.approx(0.5)  # nothing is known below the window
    never = replace(composed(1.0, 0.0, -2.0), losses=LOSSES - 2.0, infinity=0.25)
    assert never.epsilon_above(0.25) == 0.0
    assert never.epsilon_above(0.2499) == math.inf
    assert replace(never, losses=LOSSES - 1.0).epsilon_above(0.25) == 0.0


def test_the_next_tilt_moves_the_mean_to_epsilon() -> None:
    """Mean 0 and variance 4 at the tilt 2: one Newton step, a factor of 4 at most."""
    masses = np.array([1.5, 0.0, 0.0, 0.0, 1.5])
    one = Composition(2 * LOSSES, masses, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert [one.tilt_for(e) for e in (0.0, 1.0, -1.0, -6.0, -8.0, 24.0, 40.0)] == [2.0, 2.25, 1.75, 0.5, 0.5, 8.0, 8.0]
    shifted = replace(one, losses=2 * LOSSES + 3)
    assert [shifted.tilt_for(e) for e in (3.0, 4.0)] == [2.0, 2.25]
    narrow = replace(one, tilted=np.array([0.0, 0.0, 5.0, 0.0, 0.0]), losses=4 * LOSSES)  # a step of 2 is the least
    assert [narrow.tilt_for(e) for e in (0.0, 1.0)] == [2.0, 2.25]


def test_sums_of_two_losses_are_counted_one_by_one() -> None:
    one = Measure(-1, 0.5, np.array([0.5, 0.25]), 0.25, 0.001)
    other = Measure(3, 0.5, np.array([0.5, 0.125, 0.25]), 0.125, 0.002)
    both = composition._convolved(one, other)
    exact = np.array([0.25, 0.1875, 0.15625, 0.0625])
    assert (both.start, both.step, both.blur) == (2, 0.5, 0.003)
    assert np.all(both.mass >= exact) and np.allclose(both.mass, exact, rtol=1e-14, atol=0)
    assert 0.375 <= both.infinity <= 0.375 * (1 + 1e-14)


def test_a_sum_too_small_for_floats_counts_as_an_infinite_loss() -> None:
    one = Measure(0, 1.0, np.array([1e-200, 1.0, 1e-200]), 0.0, 0.0)
    both = composition._convolved(one, one)
    assert (both.start, len(both.mass)) == (1, 3)  # 1e-400 is at either end
    assert both.mass == pytest.approx([2e-200, 1.0, 2e-200])
    assert 2e-250 <= both.infinity <= 1e-249


def test_blocks_have_the_mass_and_the_ends_of_their_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composition, "_BLOCKS", 2)
    five = Measure(-2, 0.5, np.array([1.0, 2.0, 4.0, 8.0, 16.0]), 0.0, 0.0)
    mass, (first, last) = composition._blocks(five, five.mass)
    assert (mass.tolist(), first.tolist(), last.tolist()) == ([7.0, 24.0], [-1.0, 0.5], [0.0, 1.0])
    four = Measure(0, 1.0, np.array([1.0, 2.0, 4.0, 8.0]), 0.0, 0.0)
    mass, (first, last) = composition._blocks(four, four.mass)
    assert (mass.tolist(), first.tolist(), last.tolist()) == ([3.0, 12.0], [0.0, 2.0], [1.0, 3.0])


def test_moments_are_logarithms_of_sums() -> None:
    mass, losses, factors = np.array([0.25, 0.0, 0.75]), np.array([-1.0, 9.0, 2.0]), np.array([-1.0, 0.0, 0.5])
    due = [math.log(0.25 * math.exp(-f) + 0.75 * math.exp(2 * f)) for f in factors]
    assert composition._log_means(mass, factors, losses) == pytest.approx(due, rel=1e-14)
    assert composition._log_means(mass, np.array([1000.0]), losses) == pytest.approx([2000 + math.log(0.75)])


def test_the_spread_is_that_of_independent_losses() -> None:
    """Variances 1/4 and 4 of the counts 3 and 2; one step where nothing spreads."""
    coin = Measure(0, 1.0, np.array([0.5, 0.5]), 0.0, 0.0)
    far = Measure(-2, 1.0, np.array([0.5, 0.0, 0.0, 0.0, 0.5]), 0.0, 0.0)
    assert composition._spread([(coin, 3), (far, 2)], [coin.mass, far.mass]) == pytest.approx(math.sqrt(0.75 + 8))
    point = Measure(7, 0.25, np.array([1.0]), 0.0, 0.0)
    assert composition._spread([(point, 9)], [point.mass]) == 0.25


def test_transforms_of_a_composed_loss_give_the_masses_of_enumeration() -> None:
    """Three draws of one loss and two of another, whose exact masses are polynomials by hand."""
    one = Measure(0, 0.5, np.array([0.5, 0.25]), 0.25, 0.001)
    other = Measure(-1, 0.5, np.array([0.5, 0.5]), 0.0, 0.002)
    found = composition.compose([(one, 3), (other, 2)], 1.0)
    exact = {-2: 1.0}
    for first, mass in ((0, (0.5, 0.25)),) * 3 + ((0, (0.5, 0.5)),) * 2:
        exact = {
            k: sum(exact.get(k - first - i, 0.0) * m for i, m in enumerate(mass)) for k in range(-2, max(exact) + 2)
        }
    for loss, tilted in zip(found.losses.tolist(), found.tilted.tolist(), strict=True):
        due = exact.get(round(loss / 0.5), 0.0)
        assert tilted * math.exp(found.log_scale - loss) == pytest.approx(due, rel=1e-9, abs=1e-12)
    assert (found.infinity, found.tilt) == (0.75, 1.0)
    assert found.blur == pytest.approx(0.007, rel=1e-9) and found.blur >= 0.007
    assert found.step == 0.5 and found.centre in found.losses
    assert 5 * 2.0**-53 < found.relative_error < 1e-12 and 0 < found.transform_error < 1e-12


@pytest.mark.parametrize("shift", [-400.0, 400.0])
def test_weights_are_rounded_as_the_loss_farthest_from_zero_is(shift: float) -> None:
    """e^{-λx} of a float product λx is off by 2^-53 λ|x| at least, on either side of 0."""
    one = replace(composed(2.0, 0.0, 0.0), losses=LOSSES + shift)
    assert 2.0**-53 * 2.0 * 401 <= one._exponents <= 1e-11


def test_tails_without_a_tilt_are_off_by_every_loss() -> None:
    """An error e of the 2-norm is at most e times the root of the number of losses in a plain sum."""
    one = replace(composed(1e-20, 0.0, 0.0), transform_error=1e-3)
    assert one.upper_tails(True, slice(4, 5))[0] == pytest.approx(0.15 + 1e-3 * math.sqrt(5), rel=1e-9)
    assert one.upper_tails(False, slice(4, 5))[0] == pytest.approx(0.1 - 1e-3 * math.sqrt(5), rel=1e-9)
