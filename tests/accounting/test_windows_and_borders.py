"""Small parts of the accountant at both sides of their borders: windows, largest losses, tests' powers, extremes."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from account_plans import ADD_REMOVE

from refdp.accounting import allocation, composition, extremes, grid, individual
from refdp.accounting.allocation import Largest
from refdp.accounting.composition import Composition, _merged
from refdp.accounting.extremes import CEILING, FLOOR, is_tame, lifted
from refdp.accounting.grid import Measure
from refdp.accounting.normal import NOTHING
from refdp.accounting.pairs import NoPair, Rounding, Tails
from refdp.accounting.releases import DiscreteGaussianCost, GaussianCost, PureCost
from refdp.accounting.statistic import Power

# --- A composed loss in its window ------------------------------------------------------------------------------------

STEP, TILT = 0.25, 1.5
LOSSES = np.arange(-8, 13) * STEP
MASSES = [Fraction(1 + (7 * k) % 5, 200) for k in range(len(LOSSES))]


def window(**changed: Any) -> Composition:
    """Of the masses above, tilted; nothing was rounded and nothing lies outside."""
    tilted = np.array([float(mass) * math.exp(TILT * loss) for mass, loss in zip(MASSES, LOSSES, strict=True)])
    plain: dict[str, Any] = {
        "losses": LOSSES, "tilted": tilted, "tilt": TILT, "centre": 0.5, "log_scale": 0.0, "transform_error": 0.0,
        "relative_error": 0.0, "log_top": -math.inf, "infinity": 0.0, "blur": 0.0,
    }  # fmt: skip
    return Composition(**{**plain, **changed})


def true_delta(epsilon: float) -> float:
    return math.fsum(float(m) * -math.expm1(epsilon - x) for m, x in zip(MASSES, LOSSES, strict=True) if x > epsilon)


@pytest.mark.parametrize("epsilon", [-2.0, -1.9, 0.0, 0.25, 0.3, 2.75, 2.9, 3.0])
def test_delta_of_masses_is_their_sum(epsilon: float) -> None:
    """Just above it; what lies above the window or at infinity is added, and losses may be off by the blur."""
    truth = true_delta(epsilon)
    assert truth <= window().delta_above(epsilon) <= truth * (1 + 1e-12) + 1e-290
    beyond = window(infinity=0.01, relative_error=0.5, log_top=math.log(0.125)).delta_above(epsilon)
    assert beyond == pytest.approx(truth * 1.5 + 0.015 + 0.125, rel=1e-12)
    assert window(log_top=1.0).delta_above(epsilon) == 1.0
    assert window(blur=0.05).delta_above(epsilon) == pytest.approx(true_delta(epsilon - 0.05), rel=1e-11, abs=1e-290)


def test_the_least_epsilon_of_a_window() -> None:
    """Where the bound on delta crosses, to 1e-11; the start of the window and infinity at its ends."""
    own = window()
    for delta in (0.01, 0.05, true_delta(0.5)):
        found = own.epsilon_above(delta)
        assert own.delta_above(found) <= delta < own.delta_above(found * (1 - 3e-11))
    assert own.epsilon_above(0.9) == 0.0 and window(infinity=0.5).epsilon_above(0.4) == math.inf
    far = window(losses=LOSSES + 4.0, log_scale=TILT * 4.0)
    assert far.epsilon_above(0.9) == 2.0
    low = window(losses=LOSSES - 3.0, infinity=0.25)
    assert low.epsilon_above(0.25) == 0.0 and low.epsilon_above(0.2499) == math.inf


def test_what_the_transform_can_be_off_by() -> None:
    """Its share in a sum, and the norm by which it counts, above the true one."""
    assert window().uncertain(4.0) == 0.0 and window(transform_error=1e-3).uncertain(4.0) == 1.0
    share = window(transform_error=1e-3).uncertain(0.3)
    _, total, error = window(transform_error=1e-3)._terms(0.3)
    assert share == error / (total + error) and 0 < share < 1
    for tilt in (0.01, 1.5, 40.0):
        own = window(tilt=tilt)
        x = STEP * np.arange(1, len(LOSSES))
        truth = math.sqrt(math.fsum((math.exp(-tilt * one) * -math.expm1(-one)) ** 2 for one in x))
        assert truth <= own._norm <= 1.3 * STEP * math.sqrt(2 / (2 * tilt * STEP) ** 3) + 0.3
    own = window(tilt=0.01)
    assert own._norm == math.sqrt(21) and window(tilt=0.0)._norm == math.sqrt(21)
    y = math.exp(-2 * 1.5 * STEP)
    assert window()._norm == pytest.approx(min(math.sqrt(1 / (1 - y)), STEP * math.sqrt((1 + y) / (1 - y) ** 3)))
    assert window()._exponents == 2.0**-49 * 2.5 * 4.0
    assert window(losses=LOSSES - 6.0)._exponents == 2.0**-49 * 2.5 * 9.0
    assert window().step == STEP


def test_weights_beyond_floats_are_refused() -> None:
    """e^700 is a float, of a loss 350 above the centre at a tilt of 1."""
    far = window(losses=np.arange(0.0, 401.0), tilted=np.full(401, 1e-3), tilt=1.0, centre=0.0, log_scale=-600.0)
    assert far._terms(350.0)[1] > 0
    with pytest.raises(NoPair, match="its weight is no float"):
        far._terms(350.25)
    assert far._terms(400.0) == (-1000.0, 0.0, 0.0)


def test_the_next_tilt() -> None:
    """A Newton step, within a factor of four; the variance is at least that of a step of the grid."""
    own = window()
    weights = own.tilted / own.tilted.sum()
    mean = float(weights @ LOSSES)
    variance = float(weights @ (LOSSES - mean) ** 2)
    assert own.tilt_for(mean) == pytest.approx(TILT)
    assert own.tilt_for(mean + 0.1) == pytest.approx(TILT + 0.1 / variance)
    assert own.tilt_for(mean + 1e3) == 4 * TILT and own.tilt_for(mean - 1e3) == TILT / 4
    narrow = window(tilted=np.where(LOSSES == 1.0, 1.0, 0.0))
    assert narrow.tilt_for(1.05) == pytest.approx(TILT + 0.05 / STEP**2)


def test_tails_of_a_window() -> None:
    """From both sides of the true probability, at every loss."""
    truth = np.cumsum([float(one) for one in MASSES[::-1]])[::-1]
    above, below = (window().upper_tails(one, slice(None)) for one in (True, False))
    assert (truth <= above).all() and np.allclose(above, truth, rtol=1e-12)
    assert (below <= truth).all() and np.allclose(below, truth, rtol=1e-10, atol=1e-12)
    assert np.array_equal(window().upper_tails(True, slice(2, 5)), above[2:5])
    assert (window(log_scale=800.0).upper_tails(True, slice(None)) == 1.0).all()
    worse = window(infinity=0.001, transform_error=1e-6, relative_error=1e-3)
    assert (worse.upper_tails(True, slice(None)) >= above + 0.001).all()
    assert (worse.upper_tails(False, slice(None)) <= below).all()


def test_parts_are_merged_while_they_are_short() -> None:
    """Two parts of 3 and 5 losses beside a window of 32, not of 31; of equal counts alone. The sum is a convolution."""
    sizes = (3, 5)
    rows = [np.arange(1.0, size + 1) / sum(range(size + 1)) for size in sizes]
    parts = [(Measure(start, 0.5, row, 0.0, 0.0), 2) for start, row in zip((4, -1), rows, strict=True)]
    (one,) = _merged(parts, rows, 32)
    assert (one.start, one.count) == (3, 2) and 0 < one.error < 1e-13
    assert np.allclose(one.mass, np.convolve(*rows), rtol=0, atol=one.error) and len(one.mass) == 7
    assert sorted(len(part.mass) for part in _merged(parts, rows, 31)) == [3, 5]
    apart = _merged([parts[0], (parts[1][0], 1)], rows, 10**6)
    assert [(part.start, part.count, len(part.mass)) for part in apart] == [(-1, 1, 5), (4, 2, 3)]
    three = _merged([*parts, parts[0]], [*rows, rows[0]], 10**6)
    assert [(part.start, len(part.mass)) for part in three] == [(7, 9)]
    assert np.allclose(three[0].mass, np.convolve(np.convolve(*rows), rows[0]), atol=1e-15)
    assert list(composition._sums_from(np.array([1.0, 2.0, 4.0]))) == [7.0, 6.0, 4.0, 0.0]


# --- The largest loss of several slots --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Atoms:
    """A pair of a few outcomes, by growing loss. off: what its upper tails are too large by."""

    losses: tuple[float, ...]
    q: tuple[float, ...]
    off: float = 0.0

    rounding = Rounding(2.0**-40, 0.0)

    @property
    def bounds(self) -> tuple[float, float]:
        return -1.0, 1.0

    def tails(self, loss: Any) -> Tails:
        over = np.asarray(self.losses) > np.asarray(loss)[:, None]
        q = np.asarray(self.q)
        p = q * np.exp(self.losses)
        both = [np.where(side, row, 0.0).sum(axis=1) for side in (over, ~over) for row in (p, q)]
        return Tails(both[0] + self.off, both[1] + self.off, both[2], both[3])


def atoms(off: float = 0.0) -> Atoms:
    """Losses -1/2, 0 and 3/4; P adds up to 1."""
    low, high = math.exp(-0.5), math.exp(0.75)
    return Atoms((-0.5, 0.0, 0.75), (0.6 * (high - 1) / (high - low), 0.4, 0.6 * (1 - low) / (high - low)), off)


@pytest.mark.parametrize(("weight", "slots"), [(0.5, 2), (0.25, 4), (0.25, 3), (0.1, 2)])
def test_the_largest_loss_against_every_outcome(weight: float, slots: int) -> None:
    """Its law by enumeration; a ratio just at e^loss is not above it."""
    inner = atoms()
    own = Largest(weight, slots, inner)
    q, p = np.array(inner.q), np.array(inner.q) * np.exp(inner.losses)
    under_q, under_p = np.cumsum(q), np.cumsum(p)
    rest = 1 - weight * slots
    present_under = rest * under_q**slots + weight * slots * under_p * under_q ** (slots - 1)
    for border in range(-1, 3):
        edge = inner.losses[border] if border >= 0 else -1.0
        others = (under_p / under_q)[border] if border >= 0 else 0.0
        ratio = rest + weight * (math.exp(edge) + (slots - 1) * others)
        wanted = (present_under[border], under_q[border] ** slots) if border >= 0 else (0.0, 0.0)
        found = own.tails(np.array([math.log(ratio) + 1e-9 if border >= 0 else own.bounds[0] - 1]))
        assert found.below[0] == pytest.approx(wanted[0], abs=1e-12)
        assert found.below_q[0] == pytest.approx(wanted[1], abs=1e-12)
        assert found.above[0] == pytest.approx(1 - wanted[0], abs=1e-12)
        assert found.above_q[0] == pytest.approx(1 - wanted[1], abs=1e-12)
    assert own.rest == pytest.approx(rest)
    assert own.rounding == Rounding((2.0**-40 + 2.0**-50) * (slots + 4), 0.0)
    least, most = rest + weight * slots * math.exp(-1), rest + weight * (math.exp(1) + slots - 1)
    assert own.bounds == pytest.approx((math.log(least), math.log(most)))


def test_a_loss_that_is_just_reached_is_not_above() -> None:
    found = Largest(1.0, 1, atoms()).tails(np.array([0.0]))
    assert found.above_q[0] == pytest.approx(atoms().q[2], abs=1e-15)


def test_tails_that_rounding_puts_above_1_are_1() -> None:
    found = Largest(0.25, 4, atoms(off=2.0**-40)).tails(np.array([-5.0, 5.0]))
    assert not any(np.isnan(one).any() for one in found)
    assert [one[0] for one in found] == [1.0, 1.0, 0.0, 0.0]


def test_slots_whose_losses_are_all_far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then L >= 0 is all that is used: the exponent is λw; weights are rounded up and stay below 1."""
    pair = SimpleNamespace(rounding=Rounding(0.0, 0.0), bounds=(61.0, 70.0))
    monkeypatch.setattr(allocation, "inner_pair", lambda node, view: pair)
    for weight, used in ((0.25, 0.25 * (1 + 2.0**-40)), (1.0, 1.0)):
        found = allocation._log_laplace(NOTHING, weight)
        assert found.tolist() == (allocation._TILTS * used * (1 + 1e-12)).tolist()


@pytest.mark.parametrize(("loss", "weight"), [(1.0, 0.1), (0.3, 0.5), (3.0, 0.02)])
def test_transforms_of_randomised_responses(loss: float, weight: float) -> None:
    """log E exp(-λ w (L - 1)) of two outcomes, from above, within the cells of its grid."""
    found = allocation._log_laplace(PureCost(Fraction(loss)), weight)
    yes = 1 / (1 + math.exp(loss))
    for tilt, got in zip(allocation._TILTS, found, strict=True):
        terms = [(yes, math.expm1(loss)), (1 - yes, math.expm1(-loss))]
        peak = max(-tilt * weight * up for _, up in terms)
        truth = peak + math.log(sum(share * math.exp(-tilt * weight * up - peak) for share, up in terms))
        known = np.logaddexp(truth, tilt * weight + math.log(1e-290))  # no float is smaller
        assert truth <= got <= known + tilt * weight * math.exp(loss) * 3 * loss / 2**9 + 1e-10


# --- Powers of tests --------------------------------------------------------------------------------------------------


def test_the_power_of_one_test() -> None:
    """P - e^ε Q, at an ε that is rounded up, less what P may be off by; never below the test that says nothing."""
    own = Power(0, np.array([0.5]), np.array([0.25]))
    assert abs(own.delta(0.0) - (0.25 - 0.75 * 2.0**-48)) < 2.0**-52
    assert own.delta(0.5) == pytest.approx(0.5 - 0.25 * math.exp(0.5), rel=1e-13)
    assert own.delta(math.log(2)) == 0.0 == own.delta(5.0)
    assert own.delta(-3.0) == pytest.approx(1 - math.exp(-3.0))
    sure = Power(0, np.array([0.3, 1.0]), np.array([0.0, 0.0]))
    assert sure.delta(699.0) == 1 - 2.0**-48 and sure.delta(700.0) == 0.0
    assert own.epsilon(0.1) == pytest.approx(math.log(1.6), rel=1e-13) and own.epsilon(0.1) < math.log(1.6)
    assert own.epsilon(0.25) == 0.0 == own.epsilon(0.5) == own.epsilon(0.75)
    assert Power(0, np.array([0.5, 0.9]), np.array([0.25, 0.3])).epsilon(0.1) == pytest.approx(math.log(0.8 / 0.3))


# --- Extremes, grids, searches ----------------------------------------------------------------------------------------


def test_losses_below_the_floor_are_lifted_or_left_out() -> None:
    """At the floor itself they stay; the least Gaussian or pure cost from above, nothing from below."""
    less = Fraction(2**60 - 1, 2**60)
    stays, small = GaussianCost(FLOOR**2), GaussianCost(FLOOR**2 * less)
    for above, instead in ((True, GaussianCost(FLOOR**2)), (False, NOTHING)):
        assert lifted(stays, ADD_REMOVE, above) is stays and lifted(small, ADD_REMOVE, above) == instead
        at, below = DiscreteGaussianCost(2.0**190, 2.0**-10, 0), DiscreteGaussianCost(2.0**190, 2.0**-11, 0)
        assert lifted(at, ADD_REMOVE, above) is at and lifted(below, ADD_REMOVE, above) == instead
    tiny = PureCost(FLOOR / 2)
    assert lifted(tiny, ADD_REMOVE, True) == PureCost(FLOOR) and lifted(tiny, ADD_REMOVE, False) == NOTHING
    assert lifted(PureCost(FLOOR), ADD_REMOVE, False) == PureCost(FLOOR)
    assert Fraction(1, 2**200) == extremes.FLOOR and extremes.CEILING == 2**40
    more = 2 - less
    for square in (FLOOR**2, CEILING**2, Fraction(1)):
        assert is_tame(GaussianCost(square))
    assert not is_tame(GaussianCost(FLOOR**2 * less)) and not is_tame(GaussianCost(CEILING**2 * more))


@pytest.mark.parametrize(("share", "asked"), [(0.75, 1), (1.5, 5), (3.0, 5), (2.0**19, 5), (2.0**20, 5)])
def test_a_border_on_a_line_is_found_in_four_steps(share: float, asked: int) -> None:
    """To 2^-20 of the line, in one question where it is within that of the end. share: its place, in those units."""
    border, questions = 3.0 - 8 * share * 2.0**-20, []

    def holds(points: Any) -> Any:
        questions.append(len(points))
        return points >= border

    found = grid._least(holds, -5.0, 3.0)
    assert border <= found <= border + 8 * 2.0**-20 and questions == [1, 31, 31, 31, 31][:asked]


def test_sigma_is_bisected_to_its_accuracy() -> None:
    asked: list[float] = []

    def meets(x: float) -> bool:
        asked.append(x)
        return x >= 3.0

    found = individual._bisected(1.0, 16.0, 1e-3, meets)
    assert 3.0 <= found <= 3.0 * 1.001 and asked[:2] == [4.0, 2.0]
    asked.clear()
    assert individual._bisected(1.0, 1.5, 0.5, meets) == 1.5 and not asked
    assert individual._bisected(1.0, 1.5, 0.25, meets) == 1.5 and asked == [math.sqrt(1.5)]


def test_accounts_of_single_records() -> None:
    """Two orders, three records: whoever has room at both pays at both; shares are the larger ones of the two."""
    knots = np.linspace(0.0, 1.0, individual.KNOTS)
    costs = np.stack([knots, 3 * knots**2])
    budget = individual.Budget(1.0, 0.5, 2, np.array([2.0, 8.0]), np.array([2.0, 4.0]), knots, costs)
    charges = budget.charges(np.array([0.0, 0.5, 1.0]))
    assert np.allclose(charges, [[0, 0.5, 1.0], [0, 0.75, 3.0]], rtol=1e-5) and charges.shape == (2, 3)
    between = budget.charges(np.array([0.5 * (knots[3] + knots[4])]))
    assert between[1, 0] == pytest.approx(1.5 * (knots[3] ** 2 + knots[4] ** 2), rel=1e-12)
    accounts = individual.Accounts(budget)
    assert accounts.shares().shape == (0,)
    accounts.open(3)
    assert accounts.charge(np.array([0.0, 0.5, 1.0])).tolist() == [True, True, True]
    assert accounts.shares() == pytest.approx([0.0, 0.25, 0.75])
    assert accounts.charge(np.array([1.0, 0.5, 1.0])).tolist() == [True, True, False]
    assert accounts.shares() == pytest.approx([0.75, 0.5, 0.75])
    accounts.open(1)
    assert accounts.shares() == pytest.approx([0.75, 0.5, 0.75, 0.0])
