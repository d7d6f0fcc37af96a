"""All mechanisms: densities, losses, worst outputs, costs, calibration, bad input."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from refdp.errors import InvalidParameter
from refdp.noise.draws import GRID_BITS, quotient_at_least, snap
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Draws, Exponential, Gaussian, Laplace
from refdp.privacy.events import Relation, Sensitivity

ADDITIVE = [
    Laplace(0.7),
    DiscreteLaplace(0.7, 0.125),
    Gaussian(0.7),
    Gaussian((0.5, 2.0, 3.0)),
    DiscreteGaussian(0.7, 0.125),
]
VALUE, OTHER = np.array([[0.0, 1.0, -2.0], [3.0, 3.0, 4.0]]), np.array([[0.5, 1.0, -2.5], [3.125, -9.0, 4.0]])
SUBNORMAL = 1e-300  # below it, numbers have fewer digits
NORM = {Laplace: 1, DiscreteLaplace: 1, Gaussian: "whitened", DiscreteGaussian: "whitened", Exponential: "range"}


def declared(bound, norm):
    return Sensitivity(bound, norm, "test/claim", Relation.ADD_REMOVE)


def noise(mechanism, shape, seed=1):
    """Standard draws that need not follow the right law: everything tested with them holds for any draws."""
    rng = np.random.default_rng(seed)
    discrete = mechanism.draws(np.zeros(shape)).parameter is not None
    return rng.integers(-40, 41, shape) if discrete else rng.laplace(size=shape) * 2


@pytest.mark.parametrize("mechanism", ADDITIVE)
def test_loss_is_the_difference_of_the_log_densities(mechanism):
    for seed in range(30):
        output = mechanism.apply(VALUE, noise(mechanism, VALUE.shape, seed))
        difference = mechanism.log_density(VALUE, output) - mechanism.log_density(OTHER, output)
        assert np.allclose(mechanism.loss(VALUE, OTHER, output), difference, rtol=1e-12, atol=1e-12)
        assert np.array_equal(mechanism.loss(VALUE, OTHER, output), -mechanism.loss(OTHER, VALUE, output))


@pytest.mark.parametrize("mechanism", ADDITIVE)
def test_worst_loss_dominates_and_is_attained(mechanism):
    worst = mechanism.worst_loss(VALUE, OTHER)
    reached = mechanism.loss(VALUE, OTHER, mechanism.worst_output(VALUE, OTHER))
    for seed in range(30):
        output = mechanism.apply(VALUE, noise(mechanism, VALUE.shape, seed))
        assert (mechanism.loss(VALUE, OTHER, output) <= worst).all()
    if np.isinf(worst).any():
        assert np.array_equal(np.isinf(worst), VALUE != OTHER)
        assert (reached[VALUE != OTHER] > 2).all() and (reached[VALUE == OTHER] == 0).all()
    else:
        assert np.array_equal(reached, worst)


@pytest.mark.parametrize(
    "mechanism", [DiscreteLaplace(0.7, 0.125), DiscreteGaussian(0.7, 0.125), DiscreteGaussian(0.3, 1.0)]
)
def test_masses_add_up_to_one(mechanism):
    grid = 2.0 + mechanism.step * np.arange(-400, 401)
    masses = np.exp(mechanism.log_density(np.full(grid.shape, 2.0), grid))
    assert math.fsum(masses) == pytest.approx(1.0, abs=1e-14)
    assert masses[400] == masses.max()


@pytest.mark.parametrize("mechanism", [Laplace(0.7), Gaussian(0.7)])
def test_densities_integrate_to_one(mechanism):
    total, _ = quad(lambda x: math.exp(mechanism.log_density([2.0], [x])[0]), -40, 44, points=[2.0], limit=200)
    assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("mechanism", ADDITIVE)
def test_apply_moves_the_value_by_scaled_draws(mechanism):
    draws = noise(mechanism, VALUE.shape)
    width = np.asarray(getattr(mechanism, "step", None) or getattr(mechanism, "scale", None) or mechanism.sd)
    output = mechanism.apply(VALUE, draws)
    assert np.allclose(output, VALUE + width * draws, rtol=0, atol=width * 2.0**-32)
    assert np.array_equal(output, mechanism.apply(VALUE, draws))
    assert mechanism.draws(VALUE).shape == VALUE.shape


@pytest.mark.parametrize("mechanism", [Laplace(0.7), Gaussian(0.7)])
def test_last_bits_of_a_logarithm_do_not_matter(mechanism):
    """Outputs are multiples of the grid, and the same for draws that differ by a unit in the last place."""
    draws = noise(mechanism, 5000)
    value = np.zeros(5000)
    output = mechanism.apply(value, draws)
    assert np.array_equal(np.rint(np.ldexp(output, GRID_BITS + 1)), np.ldexp(output, GRID_BITS + 1))
    assert np.array_equal(output, mechanism.apply(value, np.nextafter(draws, np.inf)))
    assert not np.array_equal(0.7 * draws, 0.7 * np.nextafter(draws, np.inf))  # without the grid it would matter


def test_snap_rounds_to_the_stated_grid():
    spacing = 2.0 ** (math.floor(math.log2(5.0)) - 32)
    assert snap(np.array([3.4 * spacing, -3.6 * spacing, 0.0]), 5.0).tolist() == [3 * spacing, -4 * spacing, 0.0]
    huge = np.array([1e300, -1e300, 2.0**60 + 2.0**10])
    assert np.array_equal(snap(huge, 1e-100), huge)


def test_draws_are_named_with_shape_and_exact_parameter():
    assert Laplace(2.0).draws(VALUE) == Draws("laplace", (2, 3))
    assert Gaussian(2.0).draws(1.0) == Draws("normal", ())
    assert DiscreteLaplace(0.5, 0.125).draws([0.0]) == Draws("discrete-laplace", (1,), Fraction(4))
    assert DiscreteGaussian(0.1, 0.25).draws([0.0]).parameter == (Fraction(0.1) / Fraction(1, 4)) ** 2
    assert Exponential(1.0).draws([[0.0, 1.0]]) == Draws("gumbel", (1, 2))
    assert Exponential(1.0, "racing").draws([[0.0, 1.0]]) == Draws("exponential", (1, 2))
    for mechanism in [*ADDITIVE, Exponential(1.0), Exponential(1.0, "racing")]:
        assert mechanism.draws(VALUE).kind == mechanism.STANDARD


@pytest.mark.parametrize("mechanism", [*ADDITIVE, Exponential(1.0)])
def test_empty_tables(mechanism):
    empty = np.empty((0, 3))
    output = mechanism.apply(empty, empty)
    assert len(output) == len(mechanism.worst_output(empty, empty)) == len(mechanism.loss(empty, empty, output)) == 0
    assert mechanism.log_density(empty, output).size == mechanism.worst_loss(empty, empty).size == 0
    assert [mechanism.divergence(empty, empty, order) for order in (0.5, 1.0, 2.0, math.inf)] == [0.0] * 4
    assert mechanism.observed_change(empty, empty, NORM[type(mechanism)]) == 0.0


def test_values_off_the_grid_count_as_their_rounding():
    mechanism = DiscreteLaplace(1.0, 0.5)
    assert mechanism.apply([0.7], [3]).tolist() == [2.0]
    assert mechanism.observed_change([0.74], [0.76], 1) == 0.5
    assert mechanism.worst_loss([0.74], [0.76]).tolist() == [0.5]
    assert mechanism.divergence([0.76], [1.24], 2.0) == 0.0


def test_tiny_changes_do_not_vanish_in_a_norm():
    """A Gaussian release whose value changes at all has an unbounded loss, and so has its declared cost."""
    change = Gaussian(1.0).observed_change([0.0, 0.0], [3e-200, 4e-200], 2)
    assert change == pytest.approx(5e-200, rel=1e-15)
    assert Gaussian(1.0).pure_cost(declared(change, 2)) == math.inf


def test_observed_changes():
    assert Laplace(1.0).observed_change(VALUE, OTHER, 1) == 0.5 + 0.5 + 0.125 + 12.0
    assert Gaussian(1.0).observed_change([0.0, 1.0], [3.0, 5.0], 2) == 5.0
    assert Gaussian((1.0, 2.0)).observed_change([0.0, 1.0], [3.0, 9.0], "whitened") == 5.0
    assert DiscreteGaussian(2.0, 1.0).observed_change([0.0, 0.0], [6.0, 8.0], "whitened") == 5.0
    change = Exponential(1.0).observed_change([[0.0, 1.0], [5.0, 5.0]], [[2.0, 0.0], [6.0, 6.0]], "range")
    assert change == 3.0  # the second row moves as a whole, which the exponential mechanism does not pay for


@given(st.floats(1e-6, 1e3), st.floats(1e-9, 1e9))
def test_calibration_never_overshoots(epsilon, bound):
    """In exact arithmetic, hence also after rounding; and by no more than a few units in the last place below."""
    for mechanism in (Laplace.calibrated(epsilon, bound), DiscreteLaplace.calibrated(epsilon, bound, 1e-3)):
        assert Fraction(bound) <= Fraction(epsilon) * Fraction(mechanism.scale)
        assert epsilon * (1 - 1e-15) <= mechanism.pure_cost(declared(bound, 1)) <= epsilon
    for mechanism in (Gaussian.calibrated(epsilon, bound), DiscreteGaussian.calibrated(epsilon, bound, 1e-3)):
        assert Fraction(bound) <= Fraction(epsilon) * Fraction(mechanism.sd)
        assert mechanism.renyi_cost(declared(bound, 2), 2.0) <= epsilon * epsilon
    choice = Exponential.calibrated(epsilon, bound)
    assert Fraction(choice.coefficient) * Fraction(bound) <= Fraction(epsilon)
    assert epsilon * (1 - 1e-15) <= choice.pure_cost(declared(bound, "range")) <= epsilon


def test_plain_division_would_overshoot():
    """The mutant that `quotient_at_least` exists to avoid: 0.1 / 0.3 rounds down."""
    pairs = [(n / 10, d / 10) for n in range(1, 30) for d in range(1, 30)]
    assert any(Fraction(n / d) * Fraction(d) < Fraction(n) for n, d in pairs)
    assert all(Fraction(quotient_at_least(n, d)) * Fraction(d) >= Fraction(n) for n, d in pairs)


def mechanisms_and_pairs():
    """A mechanism of any scale with two values a moderate number of scales apart, at any offset up to 1e8."""
    numbers = st.floats(-1.0, 1.0)

    @st.composite
    def build(draw):
        epsilon, offset = draw(st.sampled_from([1e-6, 1e-3, 1.0, 1e3])), draw(st.sampled_from([0.0, 1e8]))
        rows, options = draw(st.integers(0, 3)), draw(st.integers(1, 5))
        value = offset * np.array(draw(st.lists(numbers, min_size=rows * options, max_size=rows * options)))
        change = np.array(draw(st.lists(numbers, min_size=rows * options, max_size=rows * options)))
        value, other = value.reshape(rows, options), (value + change).reshape(rows, options)
        mechanism = draw(
            st.sampled_from(
                [
                    Laplace.calibrated(epsilon, 1.0),
                    DiscreteLaplace.calibrated(epsilon, 1.0, 0.125),
                    Gaussian.calibrated(epsilon, 1.0),
                    DiscreteGaussian.calibrated(epsilon, 1.0, 0.125),
                    Exponential.calibrated(epsilon, 1.0),
                    Exponential.calibrated(epsilon, 1.0, "racing"),
                ]
            )
        )
        return mechanism, value, other

    return build()


@given(mechanisms_and_pairs(), st.sampled_from([0.5, 1.0, 1.000001, 2.0, 64.0]), st.integers(0, 9))
def test_stable_and_never_above_the_declared_cost(case, order, seed):
    """No NaN anywhere; a declared sensitivity equal to the observed change is never exceeded by loss or divergence."""
    mechanism, value, other = case
    standard = np.abs(noise(mechanism, value.shape, seed))
    output = mechanism.apply(value, standard)
    loss, worst = mechanism.loss(value, other, output), mechanism.worst_loss(value, other)
    assert not np.isnan(loss).any() and not np.isnan(worst).any()
    assert np.isfinite(mechanism.log_density(value, output)).all()
    norm = NORM[type(mechanism)]
    sensitivity = declared(mechanism.observed_change(value, other, norm), norm)
    pure = mechanism.pure_cost(sensitivity)
    assert (loss <= worst * (1 + 1e-9) + 1e-12).all()
    assert worst.sum() <= pure * (1 + 1e-12) + SUBNORMAL
    divergence = mechanism.divergence(value, other, order)
    assert 0.0 <= divergence <= mechanism.renyi_cost(sensitivity, order) * (1 + 1e-8) + SUBNORMAL


@pytest.mark.parametrize("order", [0.3, 1.0, 2.0, math.inf])
def test_costs_of_known_cases(order):
    finite = order != math.inf
    assert Laplace(2.0).renyi_cost(declared(3.0, 1), order) == Laplace(2.0).divergence([0.0], [3.0], order)
    discrete = DiscreteLaplace(2.0, 0.5)
    assert discrete.renyi_cost(declared(3.0, 1), order) == discrete.divergence([0.0], [3.0], order)
    assert Gaussian(2.0).renyi_cost(declared(3.0, 2), order) == (order * 1.125 if finite else math.inf)
    assert Gaussian((2.0, 5.0)).renyi_cost(declared(3.0, 2), order) == (order * 1.125 if finite else math.inf)
    assert Gaussian((2.0, 5.0)).renyi_cost(declared(3.0, "whitened"), order) == (order * 4.5 if finite else math.inf)
    assert DiscreteGaussian(2.0, 0.5).renyi_cost(declared(3.0, 2), order) == (
        max(order, 1) * 1.125 if finite else math.inf
    )
    for mechanism in [*ADDITIVE, Exponential(1.0)]:
        still = declared(0.0, NORM[type(mechanism)])
        assert mechanism.renyi_cost(still, order) == mechanism.pure_cost(still) == 0.0


BAD = [
    *[lambda x=x: Laplace(x) for x in (0.0, -1.0, math.nan, math.inf, 1e-200, 10**400, "1", True, None)],
    *[lambda x=x: Gaussian(x) for x in (0.0, math.nan, (1.0, 0.0), (), [1.0])],
    *[lambda x=x: DiscreteLaplace(1.0, x) for x in (0.0, math.nan, -0.5)],
    *[lambda x=x: DiscreteGaussian(x, 1.0) for x in (0.0, math.nan, math.inf)],
    *[lambda x=x: Exponential(x) for x in (0.0, -1.0, math.nan, math.inf)],
    lambda: Exponential(1.0, "argmax"),
    *[lambda x=x: Laplace.calibrated(x, 1.0) for x in (0.0, -1.0, math.nan, math.inf)],
    *[lambda x=x: Laplace.calibrated(1.0, x) for x in (0.0, -1.0, math.nan, math.inf)],
    *[lambda x=x: Exponential.calibrated(1.0, x) for x in (0.0, math.nan)],
    lambda: Laplace(1.0).pure_cost(declared(1.0, 2)),
    lambda: DiscreteLaplace(1.0, 1.0).renyi_cost(declared(1.0, 2), 2.0),
    lambda: Gaussian(1.0).renyi_cost(declared(1.0, 1), 2.0),
    lambda: Gaussian(1.0).pure_cost(declared(1.0, "range")),
    lambda: DiscreteGaussian(1.0, 1.0).pure_cost(declared(1.0, 1)),
    lambda: Exponential(1.0).pure_cost(declared(1.0, 1)),
    lambda: Laplace(1.0).observed_change([0.0], [1.0], 2),
    lambda: Exponential(1.0).observed_change([[0.0]], [[1.0]], 1),
    *[lambda x=x: Laplace(1.0).divergence([0.0], [1.0], x) for x in (0.0, -1.0, math.nan)],
    *[lambda x=x: Exponential(1.0).renyi_cost(declared(1.0, "range"), x) for x in (0.0, math.nan)],
    lambda: Laplace(1.0).apply([0.0, 1.0], [0.0]),
    lambda: Laplace(1.0).apply([0.0], [math.nan]),
    lambda: Laplace(1.0).apply([math.nan], [0.0]),
    lambda: Laplace(1.0).loss([0.0], [0.0, 1.0], [0.0]),
    lambda: Gaussian((1.0, 2.0)).apply([0.0], [0.0]),
    lambda: Gaussian((1.0, 2.0)).draws(0.0),
    lambda: DiscreteLaplace(1.0, 1.0).apply([0.0], [0.5]),
    lambda: DiscreteLaplace(1.0, 1.0).log_density([0.0], [0.5]),
    lambda: DiscreteLaplace(1.0, 1.0).apply([math.inf], [0]),
    lambda: DiscreteLaplace(1.0, 1e-20).apply([1.0], [0]),
]


@pytest.mark.parametrize("call", BAD)
def test_bad_input_is_one_clear_error(call):
    with pytest.raises(InvalidParameter, match="allowed"):
        call()
