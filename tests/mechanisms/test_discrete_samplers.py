"""The exact samplers: enumeration of their decision trees first, then chi-square tests with mutants."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from refdp.errors import InvalidParameter
from refdp.noise.draws import Draws
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential
from refdp.noise.rational import bernoulli_exp
from refdp.noise.samplers import (
    GeneratorBits,
    SystemBits,
    discrete_gaussian,
    discrete_laplace,
    sample_exponential,
    standard_draws,
)

ERROR_RATE = 1e-6  # of each chi-square test below: the probability that a correct sampler fails it
SAMPLES = 40_000


class Undecided(Exception):
    """The script has ended before the sampler returned: the probabilities of the possible answers to its question."""


class Restarted(Exception):
    """The sampler has rejected its first try."""


class Script:
    """Bits that give listed answers, and keep the exact probability of giving them."""

    def __init__(self, answers):
        self.answers, self.asked, self.weight = list(answers), 0, Fraction(1)

    def randbelow(self, n):
        return self.choose([Fraction(1, n)] * n)

    def restart(self):
        raise Restarted

    def choose(self, probabilities):
        if len(probabilities) == 1:
            return 0
        if self.asked == len(self.answers):
            raise Undecided(probabilities)
        answer = self.answers[self.asked]
        self.asked += 1
        self.weight *= probabilities[answer]
        return answer


def enumerate_outcomes(sampler, floor):
    """The probability of every outcome over the decision paths that weigh at least `floor`, and of the undecided."""
    outcomes, undecided, stack = {}, 0, [()]
    while stack:
        path = stack.pop()
        script = Script(path)
        try:
            outcome = sampler(script)
            outcomes[outcome] = outcomes.get(outcome, 0) + script.weight
        except Restarted:
            outcomes[None] = outcomes.get(None, 0) + script.weight
        except Undecided as question:
            if script.weight < floor:
                undecided += script.weight
            else:
                stack.extend((*path, answer) for answer in range(len(question.args[0])))
    assert sum(outcomes.values()) + undecided == pytest.approx(1, abs=1e-12)
    return outcomes, undecided


def encloses(low, slack, exact):
    """low <= exact <= low + slack, up to the rounding of the exact value."""
    return float(low) - 1e-13 <= exact <= float(low + slack) + 1e-13


@pytest.mark.parametrize(
    "x", [Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(1), Fraction(4, 3), Fraction(5, 2)]
)
def test_bernoulli_exp_by_enumeration(x):
    """All integers it asks for, in exact rationals: e^-x is enclosed to 1e-4, e^(-1.01 x) is not."""
    outcomes, undecided = enumerate_outcomes(lambda bits: bernoulli_exp(x, bits), Fraction(1, 2_000_000))
    low = outcomes.get(True, 0)
    assert undecided < 1e-4 and encloses(low, undecided, math.exp(-x))
    assert x == 0 or not encloses(low, undecided, math.exp(-x * 1.01))


@pytest.fixture
def exact_bernoulli(monkeypatch):
    """Bernoulli(e^-x), x <= 1, as one decision of known weight: it is enumerated by itself above."""

    def decide(numerator, denominator, script):
        p = math.exp(-numerator / denominator)
        return script.choose([1.0 - p, p]) == 1 if numerator else True

    monkeypatch.setattr("refdp.noise.rational._small_bernoulli_exp", decide)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(3, 2)])
@pytest.mark.usefixtures("exact_bernoulli")
def test_discrete_laplace_by_enumeration(scale):
    """The masses of 0, ±1, ±2 are enclosed; those of a scale 5% off are not."""
    found = enumerate_outcomes(lambda bits: int(discrete_laplace(scale, 1, bits)[0]), 1e-6)
    assert_masses(found, DiscreteLaplace(float(scale), 1.0), DiscreteLaplace(float(scale) * 1.05, 1.0))


@pytest.fixture
def exact_proposal(monkeypatch):
    """The discrete Laplace proposal as one decision of known weight; asking again, after a rejection, ends the path."""
    reach = 60

    def propose(scale, script):
        if script.asked:
            return script.restart()
        grid = np.arange(-reach, reach + 1.0)
        masses = np.exp(DiscreteLaplace(float(scale), 1.0).log_density(np.zeros(grid.shape), grid))
        masses[0] += 1.0 - masses.sum()  # about 1e-13 beyond the reach at scale 2
        return script.choose(masses.tolist()) - reach

    monkeypatch.setattr("refdp.noise.rational.one_laplace", propose)


@pytest.mark.parametrize("sigma2", [Fraction(1, 2), Fraction(1), Fraction(3)])
@pytest.mark.usefixtures("exact_bernoulli", "exact_proposal")
def test_discrete_gaussian_by_enumeration(sigma2):
    """Tries are independent, so that the law of the output is that of one try given that it is accepted."""
    outcomes, undecided = enumerate_outcomes(lambda bits: int(discrete_gaussian(sigma2, 1, bits)[0]), 1e-13)
    accepted = sum(weight for z, weight in outcomes.items() if z is not None)
    sd = math.sqrt(sigma2)
    for z in range(-3, 4):
        assert outcomes[z] / accepted == pytest.approx(exact_mass(DiscreteGaussian(sd, 1.0), z), rel=1e-9)
        assert outcomes[z] / accepted != pytest.approx(exact_mass(DiscreteGaussian(sd * 1.05, 1.0), z), rel=1e-3)
    assert undecided < 1e-9 < outcomes[None]


def assert_masses(found, right, wrong):
    outcomes, undecided = found
    right_masses, wrong_masses = ([exact_mass(m, z) for z in range(-2, 3)] for m in (right, wrong))
    lows = [outcomes[z] for z in range(-2, 3)]
    assert all(encloses(low, undecided, mass) for low, mass in zip(lows, right_masses))
    assert not all(encloses(low, undecided, mass) for low, mass in zip(lows, wrong_masses))


@pytest.mark.usefixtures("exact_bernoulli")
def test_exponential_by_enumeration():
    """The option probabilities are enclosed; those of a coefficient 5% off are not."""
    utilities = np.array([[0.5, 1.5, -np.inf, 0.0]])
    outcomes, undecided = enumerate_outcomes(lambda bits: int(sample_exponential(utilities, 1.0, bits)[0]), 1e-6)
    assert set(outcomes) == {0, 1, 3}
    for coefficient, right in ((1.0, True), (1.05, False)):
        masses = {c: math.exp(Exponential(coefficient).log_density(utilities, [c])[0]) for c in outcomes}
        assert all(encloses(outcomes[c], undecided, masses[c]) for c in outcomes) is right


def exact_mass(mechanism, z):
    return math.exp(mechanism.log_density([0.0], [float(z)])[0])


def p_value(samples, mechanism):
    """Pearson's chi-square of integer samples against the mechanism's masses, rare outcomes pooled."""
    grid = np.arange(-2000, 2001)
    masses = np.exp(mechanism.log_density(np.zeros(grid.shape), mechanism.step * grid))
    counts = np.bincount(samples + 2000, minlength=4001)
    common = masses * len(samples) >= 20
    observed = np.append(counts[common], counts[~common].sum())
    expected = np.append(masses[common], masses[~common].sum()) * len(samples)
    observed, expected = observed[expected > 0], expected[expected > 0]
    return float(chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1))


def bits(seed=11):
    return GeneratorBits(np.random.default_rng(seed))


@pytest.mark.parametrize("scale", [0.4, 1.0, 2.5, 7.3])
def test_discrete_laplace_by_chi_square(scale):
    """Error rate 1e-6; a scale 5% too small is rejected."""
    mechanism = DiscreteLaplace(scale, 1.0)
    assert p_value(discrete_laplace(Fraction(scale), SAMPLES, bits()), mechanism) > ERROR_RATE
    assert p_value(discrete_laplace(Fraction(scale) * Fraction(95, 100), SAMPLES, bits()), mechanism) < ERROR_RATE


@pytest.mark.parametrize("sd", [0.6, 1.0, 3.2, 20.0])
def test_discrete_gaussian_by_chi_square(sd):
    """Error rate 1e-6; a deviation 5% too small is rejected, and so is rounded continuous noise where it differs."""
    mechanism = DiscreteGaussian(sd, 1.0)
    assert p_value(discrete_gaussian(Fraction(sd) ** 2, SAMPLES, bits()), mechanism) > ERROR_RATE
    narrow = (Fraction(sd) * Fraction(95, 100)) ** 2
    assert p_value(discrete_gaussian(narrow, SAMPLES, bits()), mechanism) < ERROR_RATE
    if sd <= 1:
        rounded = np.rint(np.random.default_rng(1).normal(0, sd, SAMPLES)).astype(np.int64)
        assert p_value(rounded, mechanism) < ERROR_RATE


def test_exponential_by_chi_square():
    """Error rate 1e-6, at utilities of 1e8; a coefficient 8% too large is rejected."""
    row = 1e8 + np.array([0.0, 1.0, -2.0, 0.5])
    table = np.tile(row, (SAMPLES, 1))
    masses = np.exp(Exponential(1.0).log_density(np.tile(row, (4, 1)), np.arange(4)))
    outcomes = []
    for coefficient in (1.0, 1.08):
        counts = np.bincount(sample_exponential(table, coefficient, bits()), minlength=4)
        outcomes.append(chi2.sf(((counts - SAMPLES * masses) ** 2 / (SAMPLES * masses)).sum(), 3))
    assert outcomes[0] > ERROR_RATE > outcomes[1]


class Pool:
    """A generator whose bytes hold given numbers of `width` bits, one after the other."""

    def __init__(self, numbers, width):
        self.stream = sum(n << (width * i) for i, n in enumerate(numbers))

    def bytes(self, count):
        taken = self.stream & ((1 << (8 * count)) - 1)
        self.stream >>= 8 * count
        return taken.to_bytes(count, "little")


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 100])
def test_integers_are_unbiased(n):
    """Every pattern of the bits that n-1 needs, once each, gives each of 0..n-1 exactly once: no modulo bias."""
    width = (n - 1).bit_length()
    source = GeneratorBits(Pool(range(2**width), width))
    assert sorted(source.randbelow(n) for _ in range(n)) == list(range(n))


def test_integers_of_any_size():
    source = bits()
    drawn = [source.randbelow(10**200) for _ in range(50)]
    assert all(0 <= x < 10**200 for x in drawn) and max(drawn) > 10**199
    assert all(0 <= SystemBits().randbelow(3) < 3 for _ in range(50))


def test_reproducible_by_seed_and_shaped():
    first, again = (discrete_gaussian(Fraction(7, 2), (3, 4), bits(5)) for _ in range(2))
    assert np.array_equal(first, again) and first.shape == (3, 4) and first.dtype == np.int64
    assert not np.array_equal(first, discrete_gaussian(Fraction(7, 2), (3, 4), bits(6)))
    assert discrete_laplace(Fraction(1), (0, 2), bits()).shape == (0, 2)
    assert discrete_laplace(Fraction(1), (), bits()).shape == ()
    assert sample_exponential(np.empty((0, 3)), 1.0, bits()).shape == (0,)
    assert discrete_laplace(Fraction(5), 4, SystemBits()).shape == (4,)


def test_extreme_utilities_do_not_take_for_ever():
    """Unlikely options are turned down by their first factors e^-1, not after 1e11 of them."""
    utilities = np.array([[1e8, -1e8, 0.0, -np.inf]] * 50)
    assert sample_exponential(utilities, 1e3, bits()).tolist() == [0] * 50


@pytest.mark.parametrize(
    "mechanism",
    [
        DiscreteLaplace(2.0, 0.5),
        DiscreteGaussian(2.0, 0.5),
        Exponential(1.0),
        Exponential(1.0, "racing"),
    ],
)
def test_standard_draws_fit_the_mechanism(mechanism):
    value = np.zeros((3, 2))
    draws = standard_draws(mechanism.draws(value), np.random.default_rng(0), bits())
    assert draws.shape == (3, 2) and len(mechanism.apply(value, draws)) == 3


def test_standard_laplace_and_normal_draws_have_unit_scale():
    """Error rate below 1e-9: means of 1e5 absolute values within 6 standard errors. A scale 5% off is rejected."""
    rng = np.random.default_rng(0)
    for kind, mean, deviation in (("laplace", 1.0, 1.0), ("normal", math.sqrt(2 / math.pi), 0.603)):
        found = np.abs(standard_draws(Draws(kind, (100_000,)), rng, bits())).mean()
        tolerance = 6 * deviation / math.sqrt(100_000)
        assert abs(found - mean) < tolerance < abs(found * 1.05 - mean)


def test_bad_parameters():
    for call in (
        lambda: discrete_laplace(Fraction(0), 1, bits()),
        lambda: discrete_gaussian(Fraction(-1), 1, bits()),
        lambda: sample_exponential([[0.0, 1.0]], 0.0, bits()),
        lambda: standard_draws(Draws("cauchy", (1,)), np.random.default_rng(0), bits()),
        lambda: standard_draws(Draws("discrete-laplace", (1,)), np.random.default_rng(0), bits()),
        lambda: DiscreteLaplace(2.0**58, 1.0).draws([0.0]),
        lambda: DiscreteLaplace(1.5, 2.0**-500).draws([0.0]),
        lambda: DiscreteGaussian((1.0, 2.0**70), 1.0).draws([0.0, 0.0]),
    ):
        with pytest.raises(InvalidParameter, match="allowed"):
            call()
