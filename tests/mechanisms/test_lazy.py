"""Decisions against lazily drawn uniform numbers are those of real arithmetic: checked where they turn."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import chi2

from refdp.noise import rational, samplers
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential
from refdp.noise.samplers import GeneratorBits, SystemBits, discrete_gaussian, discrete_laplace, sample_exponential


class Listed:
    """Words that are given, then those of a generator; `asked` counts the latter."""

    def __init__(self, given: list[int]) -> None:
        self.given, self.asked, self.rest = given, 0, np.random.default_rng(0)

    def words(self, count: int) -> np.ndarray:
        listed, self.given = self.given[:count], self.given[count:]
        self.asked += count - len(listed)
        more = self.rest.integers(0, 2**64, count - len(listed), dtype=np.uint64)
        return np.concatenate([np.array(listed, dtype=np.uint64), more])


def turning(x: Fraction) -> int:
    """The 53 digits of e^-x: a uniform number with fewer is below it, one with more is not."""
    with mpmath.workprec(300):
        return int(mpmath.floor(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) * 2**53))


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(22), Fraction(10**9 + 1, 10**9)])
def test_the_answer_turns_at_the_exact_digits(x: Fraction) -> None:
    """On both sides of e^-x by one digit, far within the margin, where only enclosures decide."""
    digits = [turning(x) + off for off in (-3, -2, -1, 1, 2, 3)]
    bits = Listed([d << 11 for d in digits])
    found = samplers.bernoulli_exps(np.full(6, float(x)), lambda place: x, bits)
    assert found.tolist() == [True, True, True, False, False, False] and bits.asked == 0
    with mpmath.workprec(300):
        rest = int(mpmath.floor(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) * mpmath.mpf(2) ** 117)) % 2**64
    for off, answer in ((-1, True), (1, False)):  # the digits agree: 64 more decide
        bits = Listed([turning(x) << 11, rest + off])
        assert samplers.bernoulli_exps(np.array([float(x)]), lambda place: x, bits).tolist() == [answer]


def test_a_wrong_bound_is_seen_at_the_turning_digits() -> None:
    """The mutant: decisions from floats alone, without enclosures, at a bound an ulp off."""
    x = Fraction(1, 3)
    digits = np.arange(turning(x) - 3, turning(x) + 4)
    wrong = digits * 2.0**-53 < np.nextafter(np.exp(-float(x)), 1) + 2.0**-52
    right = samplers.bernoulli_exps(np.full(7, float(x)), lambda place: x, Listed([int(d) << 11 for d in digits]))
    assert (wrong != right).any()


def test_counts_of_passed_powers_are_exact() -> None:
    for passed in (1, 2, 5, 30):
        low = turning(Fraction(passed))
        words = [(low + off) << 11 for off in (-1, 1)]
        assert samplers.geometrics(2, Listed(words)).tolist() == [passed, passed - 1]
    assert samplers.geometrics(1, Listed([0, 1 << 63])).tolist()[0] >= 36  # 53 zeros, then a one


def test_options_turn_at_the_exact_sums() -> None:
    """Weights 1 and e^-1 and e^-3: the borders of U are known to 300 bits."""
    table = np.array([[5.0, 4.0, -np.inf, 2.0]])
    with mpmath.workprec(300):
        weights = [mpmath.mpf(1), mpmath.exp(-1), mpmath.mpf(0), mpmath.exp(-3)]
        sums = [sum(weights[: k + 1]) / sum(weights) for k in range(4)]
        borders = [int(mpmath.floor(s * 2**53)) for s in sums]
    for border, before, after in ((borders[0], 0, 1), (borders[1], 1, 3)):
        words = [(border + off) << 11 for off in (-2, -1, 1, 2)]
        found = samplers.options(np.repeat(table, 4, axis=0), Fraction(1), Listed(words))
        assert found.tolist() == [before, before, after, after]
    assert samplers.options(table, Fraction(1), Listed([2**64 - 1])).tolist() == [3]
    assert samplers.options(table, Fraction(1), Listed([0])).tolist() == [0]


def test_bounds_enclose() -> None:
    for x in (Fraction(0), Fraction(1, 7), Fraction(123456789, 1000), Fraction(2) ** 70):
        low, high = rational.exp_bounds(x, 60)
        with mpmath.workprec(400):
            true = mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)
            assert mpmath.mpf(low.numerator) / low.denominator <= true <= mpmath.mpf(high.numerator) / high.denominator


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 2**40 + 7, 2**55 - 1])
def test_integers_below(n: int) -> None:
    found = samplers.uniform_below(n, 2000, GeneratorBits(np.random.default_rng(3)))
    assert found.min() >= 0 and found.max() < n and (n == 1 or found.max() >= n // 2)


ERROR_RATE = 1e-6


def p_value(samples: np.ndarray, mechanism: DiscreteGaussian | DiscreteLaplace, cells: int) -> float:
    """Pearson's chi-square over cells of neighbouring outcomes that are expected 20 times at least."""
    reach = int(samples.max(initial=0) - samples.min(initial=0)) + 10
    grid = np.arange(-reach, reach + 1)
    masses = np.exp(mechanism.log_density(np.zeros(grid.shape), mechanism.step * grid)) * len(samples)
    cell = np.floor(np.cumsum(masses) / masses.sum() * cells).astype(int).clip(0, cells - 1)
    expected = np.bincount(cell, masses, cells)
    observed = np.bincount(cell[samples + reach], minlength=cells)
    kept = expected >= 20
    return float(chi2.sf(((observed - expected)[kept] ** 2 / expected[kept]).sum(), kept.sum() - 1))


@pytest.mark.parametrize("scale", [1500.37, 40000.25])
def test_wide_noise_by_chi_square(scale: float) -> None:
    """Error rate 1e-6 each; a scale 5% off is rejected."""
    bits = GeneratorBits(np.random.default_rng(5))
    laplace = discrete_laplace(Fraction(scale), 100_000, bits)
    gauss = discrete_gaussian(Fraction(scale) ** 2, 100_000, bits)
    assert p_value(laplace, DiscreteLaplace(scale, 1.0), 100) > ERROR_RATE
    assert p_value(laplace, DiscreteLaplace(scale * 1.05, 1.0), 100) < ERROR_RATE
    assert p_value(gauss, DiscreteGaussian(scale, 1.0), 100) > ERROR_RATE
    assert p_value(gauss, DiscreteGaussian(scale * 1.05, 1.0), 100) < ERROR_RATE


def test_wide_tables_by_chi_square() -> None:
    """Error rate 1e-6; a coefficient 5% off is rejected."""
    row = np.random.default_rng(6).normal(size=200) * 3
    chosen = sample_exponential(np.tile(row, (100_000, 1)), 1.0, GeneratorBits(np.random.default_rng(7)))
    observed = np.bincount(chosen, minlength=200)
    for coefficient, right in ((1.0, True), (1.05, False)):
        masses = np.exp(Exponential(coefficient).log_density(np.tile(row, (200, 1)), np.arange(200))) * 1e5
        kept = masses >= 20
        statistic = ((observed - masses)[kept] ** 2 / masses[kept]).sum()
        assert bool(chi2.sf(statistic, kept.sum() - 1) > ERROR_RATE) is right


def test_the_system_gives_words_too() -> None:
    assert SystemBits().words(5).dtype == np.uint64 and len(set(SystemBits().words(5).tolist())) == 5
    assert discrete_gaussian(Fraction(10**12), 3, SystemBits()).shape == (3,)


@pytest.mark.parametrize("sigma2", [Fraction(1, 2), Fraction(9, 4), Fraction(1500.37) ** 2])
def test_listed_sums_turn_at_the_exact_digits(sigma2: Fraction) -> None:
    """Where U passes the sum of the masses of |Z| <= m, to 80 digits; a variance 1% off turns elsewhere."""
    sd = float(sigma2) ** 0.5
    with mpmath.workprec(300):
        tau = mpmath.mpf(sigma2.denominator) / sigma2.numerator
        masses = [(1 + (k > 0)) * mpmath.exp(-k * k * tau / 2) for k in range(int(20 * sd) + 30)]
        total = mpmath.fsum(masses)
        for last in (0, int(sd), int(3 * sd)):
            border = int(mpmath.floor(mpmath.fsum(masses[: last + 1]) / total * 2**53))
            words = [(border + off) << 11 for off in (-2, -1, 1, 2)]
            assert samplers.gaussians(sigma2, 1, 4, Listed(words)).tolist() == [last, last, last + 1, last + 1]
            if last:
                assert samplers.gaussians(sigma2 * Fraction(101, 100), 1, 1, Listed([words[1]])).tolist() != [last]
    ends = samplers.gaussians(sigma2, 1, 3, Listed([2**64 - 1, 2**64 - 2, 1])).tolist()
    assert ends[0] < -7 * sd and ends[1] > 7 * sd and ends[2] == 0


def test_a_few_wide_draws_and_many_have_one_law() -> None:
    """Error rate 1e-6; a deviation 8% off is rejected. The loop over numbers is used for few draws."""
    bits, sd = GeneratorBits(np.random.default_rng(9)), 9e6
    few = np.concatenate([discrete_gaussian(Fraction(sd) ** 2, 50, bits) for _ in range(400)]) // 10**5
    many = discrete_gaussian(Fraction(sd) ** 2, 20_000, bits) // 10**5
    for drawn in (few, many):
        assert p_value(drawn, DiscreteGaussian(sd / 1e5, 1.0), 50) > ERROR_RATE
        assert p_value(drawn, DiscreteGaussian(1.08 * sd / 1e5, 1.0), 50) < ERROR_RATE
