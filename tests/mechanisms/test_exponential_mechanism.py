"""The exponential mechanism: its two samplers, its losses at large utilities, excluded options."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import chi2

from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Exponential

UTILITIES = np.array([0.3, -1.0, 2.0, 1.9, -np.inf, 0.0])
ERROR_RATE = 1e-6  # of each chi-square test below: the probability that a correct sampler fails it
SAMPLES = 200_000


def chi_square_p_value(chosen, probabilities):
    """P(a correct sampler deviates as much) by Pearson's statistic over the possible options."""
    possible = probabilities > 0
    counts = np.bincount(chosen, minlength=len(probabilities))
    expected = probabilities[possible] * len(chosen)
    assert counts[~possible].sum() == 0
    return float(chi2.sf(((counts[possible] - expected) ** 2 / expected).sum(), possible.sum() - 1))


def sample(mechanism, seed=7):
    rng = np.random.default_rng(seed)
    table = np.tile(UTILITIES, (SAMPLES, 1))
    racing = mechanism.sampler == "racing"
    return mechanism.apply(table, rng.standard_exponential(table.shape) if racing else rng.gumbel(size=table.shape))


def probabilities(mechanism):
    rows = np.tile(UTILITIES, (len(UTILITIES), 1))
    return np.exp(mechanism.log_density(rows, np.arange(len(UTILITIES))))


@pytest.mark.parametrize("sampler", ["gumbel", "racing"])
def test_sampler_has_the_stated_distribution_and_a_wrong_one_is_rejected(sampler):
    """Error rate 1e-6. The mutants have a coefficient 5% off, and forget the utilities of the race altogether."""
    exact = probabilities(Exponential(1.5, sampler))
    assert exact.sum() == pytest.approx(1.0, abs=1e-15) and exact[4] == 0
    assert chi_square_p_value(sample(Exponential(1.5, sampler)), exact) > ERROR_RATE
    assert chi_square_p_value(sample(Exponential(1.5 * 1.05, sampler)), exact) < ERROR_RATE
    draws = np.random.default_rng(7).standard_exponential((SAMPLES, len(UTILITIES)))
    draws[:, 4] = np.inf
    assert chi_square_p_value(draws.argmin(axis=1), exact) < ERROR_RATE


def test_racing_and_gumbel_are_one_sampler():
    """-log E is a standard Gumbel, so that the same exponentials choose the same option through either."""
    rng = np.random.default_rng(1)
    utilities = rng.normal(size=(5000, 20)) * 10.0 ** rng.integers(-3, 9, (5000, 1))
    exponentials = rng.standard_exponential(utilities.shape)
    raced = Exponential(0.8, "racing").apply(utilities, exponentials)
    assert np.array_equal(raced, Exponential(0.8).apply(utilities, -np.log(exponentials)))
    assert not np.array_equal(raced, Exponential(0.8).apply(utilities, np.log(exponentials)))


def test_the_race_is_won_with_the_stated_probability():
    """∫ w_c e^(-w_c s) Π_{j != c} e^(-w_j s) ds, the integral of the docstring, by quadrature."""
    mechanism = Exponential(1.5, "racing")
    weights = [mp.exp(1.5 * float(u)) for u in UTILITIES if u > -np.inf]
    exact = probabilities(mechanism)
    for weight, probability in zip(weights, exact[exact > 0]):
        others = mp.fsum(weights) - weight
        won = mp.quad(lambda s: weight * mp.exp(-weight * s) * mp.exp(-others * s), [0, 0.01, 0.1, 1, mp.inf])  # noqa: B023
        assert abs(won - probability) < 1e-12


@pytest.mark.parametrize("offset", [0.0, 1e8, -1e8])
@pytest.mark.parametrize("coefficient", [1e-6, 1.0, 1e3])
def test_losses_keep_their_digits(offset, coefficient):
    """Against 60 digits, at changes as small as a few units in the last place of the utilities."""
    rng = np.random.default_rng(4)
    value = np.rint(rng.normal(size=(4, 5)) * 8) / 4 + offset
    other = value + rng.choice([-(2.0**-20), 0.0, 2.0**-26, 0.5, 1.0], size=value.shape)
    mechanism = Exponential(coefficient)
    with mp.workdps(60):
        for option in range(5):
            got = mechanism.loss(value, other, np.full(4, option))
            for row in range(4):
                before, after = (exact_log_mass(t[row], option, coefficient) for t in (value, other))
                assert abs(got[row] - (before - after)) <= 1e-13 * abs(before - after) + 1e-15 * coefficient


def exact_log_mass(row, option, coefficient):
    exponents = [mp.mpf(coefficient) * mp.mpf(float(u)) for u in row]
    return exponents[option] - mp.log(mp.fsum(mp.exp(e) for e in exponents))


def test_the_naive_difference_loses_its_digits():
    """The mutant of the loss: a difference of log masses with normalisers of 1e8 each."""
    value = np.array([[1e8, 1e8 - 1.0]])
    other = value + np.array([[2.0**-20, 0.0]])
    naive = (value - np.log(np.exp(value - 1e8).sum()) - 1e8 - (other - np.log(np.exp(other - 1e8).sum()) - 1e8))[0, 0]
    with mp.workdps(60):
        exact = exact_log_mass(value[0], 0, 1.0) - exact_log_mass(other[0], 0, 1.0)
    assert abs(naive - exact) > 1e-9
    assert abs(Exponential(1.0).loss(value, other, [0])[0] - exact) < 1e-15


def test_worst_output_attains_the_worst_loss():
    rng = np.random.default_rng(6)
    value, change = rng.normal(size=(50, 7)), rng.normal(size=(50, 7))
    mechanism = Exponential(2.0)
    every = np.stack([mechanism.loss(value, value + change, np.full(50, c)) for c in range(7)], axis=1)
    assert np.array_equal(every.max(axis=1), mechanism.worst_loss(value, value + change))
    assert np.array_equal(every.argmax(axis=1), mechanism.worst_output(value, value + change))
    assert np.array_equal(change.argmin(axis=1), mechanism.worst_output(value, value + change))


def test_range_not_twice_the_largest_change_is_what_it_pays_for():
    """Moving all utilities together costs nothing; the classical 2Δ is the case of changes in both directions."""
    utilities = np.array([[0.0, 3.0, 1.0]])
    mechanism = Exponential.calibrated(0.5, range_bound=2.0)
    assert mechanism.worst_loss(utilities, utilities + 1.0).tolist() == [0.0]
    opposed = np.array([[-200.0, 0.0]]), np.array([[-201.0, 1.0]])
    assert mechanism.worst_loss(*opposed)[0] == pytest.approx(0.5, rel=1e-12)
    one_sided = np.array([[0.0, -200.0]]), np.array([[0.0, -201.0]])
    assert mechanism.worst_loss(*one_sided)[0] == pytest.approx(0.25, rel=1e-12)


def test_options_excluded_on_one_side_only():
    mechanism, out = Exponential(1.0), -np.inf
    value, other = np.array([[0.0, 0.0, out], [0.0, 0.0, 0.0]]), np.array([[0.0, out, out], [0.0, 0.0, 0.0]])
    assert mechanism.loss(value, other, [1, 0]).tolist() == [math.inf, 0.0]
    assert mechanism.loss(other, value, [1, 0]).tolist() == [-math.inf, 0.0]
    assert mechanism.loss(value, other, [0, 0])[0] == pytest.approx(-math.log(2))
    assert mechanism.worst_loss(value, other).tolist() == [math.inf, 0.0]
    assert mechanism.worst_loss(other, value)[0] == pytest.approx(math.log(2))
    assert mechanism.worst_output(value, other).tolist()[0] == 1
    assert mechanism.log_density(value, [2, 0])[0] == -math.inf
    assert mechanism.observed_change(value, other, "range") == math.inf
    assert mechanism.divergence(value, other, 1.0) == mechanism.divergence(value, other, math.inf) == math.inf
    assert mechanism.divergence(value, other, 0.5) == pytest.approx(math.log(2))
    assert mechanism.divergence(other, value, 7.0) == pytest.approx(math.log(2))
    with pytest.raises(InvalidParameter, match="both values exclude"):
        mechanism.loss(value, other, [2, 0])


def test_excluded_options_never_win():
    utilities = np.array([[-np.inf, -1e8, -np.inf]])
    for sampler, draws in (("gumbel", [[50.0, -50.0, 50.0]]), ("racing", [[0.0, 1e9, 0.0]])):
        assert Exponential(1e3, sampler).apply(utilities, draws).tolist() == [1]


@pytest.mark.parametrize(
    "utilities",
    [[[0.0, math.nan]], [[0.0, math.inf]], [[-math.inf, -math.inf]], [0.0, 1.0], np.empty((2, 0)), np.empty((0, 0))],
)
def test_bad_utilities(utilities):
    with pytest.raises(InvalidParameter, match=r"allowed|at least one"):
        Exponential(1.0).draws(utilities)


@pytest.mark.parametrize("output", [[3], [-1], [0.5], [0, 0], [[0]]])
def test_bad_outputs(output):
    with pytest.raises(InvalidParameter, match="allowed"):
        Exponential(1.0).log_density([[0.0, 1.0, 2.0]], output)


def test_negative_draws_of_a_race():
    with pytest.raises(InvalidParameter, match="allowed"):
        Exponential(1.0, "racing").apply([[0.0, 1.0]], [[1.0, -1.0]])
