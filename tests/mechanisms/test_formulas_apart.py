"""Mechanisms and their divergences against their formulas written apart, entry by entry, on unlike coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from refdp.errors import InvalidParameter
from refdp.noise import divergences
from refdp.noise.draws import TAIL
from refdp.noise.exponential import Exponential
from refdp.noise.gridded import DiscreteGaussian, DiscreteLaplace
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.events import Relation
from refdp.privacy.events import Sensitivity as Declared

VALUE = np.array([[0.0, 1.5, -3.0], [2.0, 0.5, 7.0]])
OTHER = np.array([[0.0, 1.0, -1.0], [2.5, 0.5, 4.0]])
OUTPUT = np.array([[0.5, 1.25, -2.0], [9.0, -4.0, 5.0]])
SDS = (0.5, 2.0, 4.0)


def declared_in(norm: Any, bound: float) -> Declared:
    """Of a made claim."""
    return Declared(bound, norm, "made", Relation.ADD_REMOVE)


def entries(call: Callable[[float, float, float, int], float]) -> np.ndarray:
    """call(v, v', o, column) for every entry."""
    return np.array([[call(VALUE[i, j], OTHER[i, j], OUTPUT[i, j], j) for j in range(3)] for i in range(2)])


def grid_mass(z: float, width: Callable[[float], float]) -> float:
    """log of the mass of z steps, by summing all masses. width: the exponent at k steps."""
    return -width(z) - math.log(math.fsum(math.exp(-width(float(k))) for k in range(-4000, 4001)))


def renyi(order: float, logs: Callable[[int], tuple[float, float]]) -> float:
    """D_α by summing over whole numbers k. logs: log masses of both laws."""
    pairs = [logs(k) for k in range(-500, 501)]
    if order == 1:
        return math.fsum(math.exp(p) * (p - q) for p, q in pairs)
    return math.log(math.fsum(math.exp(p + (order - 1) * (p - q)) for p, q in pairs)) / (order - 1)


def test_laplace_noise() -> None:
    noise = Laplace(2.0)
    assert np.allclose(noise.log_density(VALUE, OUTPUT), entries(lambda v, w, o, j: -abs(o - v) / 2 - math.log(4)))
    assert np.allclose(noise.loss(VALUE, OTHER, OUTPUT), entries(lambda v, w, o, j: (abs(o - w) - abs(o - v)) / 2))
    assert np.allclose(noise.worst_loss(VALUE, OTHER), entries(lambda v, w, o, j: abs(v - w) / 2))
    assert np.allclose(noise.worst_output(VALUE, OTHER), entries(lambda v, w, o, j: v + 2 * np.sign(v - w)))
    assert np.allclose(noise.apply(VALUE, OUTPUT), VALUE + 2 * OUTPUT)
    assert noise.observed_change(VALUE, OTHER, 1) == pytest.approx(6.0)
    assert noise.divergence(VALUE, OTHER, 2.0) == pytest.approx(
        sum(math.log(2 / 3 * math.exp(t) + 1 / 3 * math.exp(-2 * t)) for t in (0.25, 1.0, 0.25, 1.5))
    )
    assert noise.pure_cost(declared_in(1, 3.0)) == 1.5
    assert noise.renyi_cost(declared_in(1, 3.0), 2.0) == pytest.approx(
        math.log(2 / 3 * math.exp(1.5) + 1 / 3 * math.exp(-3))
    )


def test_gaussian_noise() -> None:
    noise = Gaussian(SDS)
    density = entries(
        lambda v, w, o, j: -((o - v) ** 2) / (2 * SDS[j] ** 2) - math.log(SDS[j] * math.sqrt(2 * math.pi))
    )
    loss = entries(lambda v, w, o, j: ((o - w) ** 2 - (o - v) ** 2) / (2 * SDS[j] ** 2))
    assert np.allclose(noise.log_density(VALUE, OUTPUT), density) and np.allclose(
        noise.loss(VALUE, OTHER, OUTPUT), loss
    )
    assert np.array_equal(noise.worst_loss(VALUE, OTHER), np.where(VALUE == OTHER, 0.0, np.inf))
    assert np.allclose(noise.worst_output(VALUE, OTHER), VALUE + TAIL * np.array(SDS) * np.sign(VALUE - OTHER))
    assert np.allclose(noise.apply(VALUE, OUTPUT), VALUE + np.array(SDS) * OUTPUT)
    whitened = entries(lambda v, w, o, j: ((v - w) / SDS[j]) ** 2).sum()
    assert noise.observed_change(VALUE, OTHER, "whitened") == pytest.approx(math.sqrt(whitened))
    assert noise.observed_change(VALUE, OTHER, 2) == pytest.approx(math.sqrt(((VALUE - OTHER) ** 2).sum()))
    assert noise.divergence(VALUE, OTHER, 3.0) == pytest.approx(1.5 * whitened)
    assert noise.renyi_cost(declared_in(2, 3.0), 4.0) == pytest.approx(2 * 36)
    assert noise.renyi_cost(declared_in("whitened", 3.0), 4.0) == pytest.approx(2 * 9)
    assert noise.pure_cost(declared_in(2, 3.0)) == math.inf
    with pytest.raises(InvalidParameter, match="no standard deviations"):
        Gaussian(())


def test_discrete_laplace_noise() -> None:
    """Values off the grid are rounded to it first; steps of a half, a scale of 2."""
    noise, near = DiscreteLaplace(2.0, 0.5), VALUE + 0.1
    output = np.round(OUTPUT * 2) / 2
    steps = lambda z: abs(z) / 4  # noqa: E731
    found = noise.log_density(near, output)
    assert np.allclose(found, [[grid_mass((o - v) * 2, steps) for v, o in zip(*r)] for r in zip(VALUE, output)])
    assert np.allclose(noise.loss(near, OTHER, output), (abs(output - OTHER) - abs(output - VALUE)) / 2)
    assert np.allclose(noise.worst_loss(near, OTHER), abs(VALUE - OTHER) / 2)
    assert np.allclose(noise.worst_output(near, OTHER), VALUE - 0.5 * np.sign(OTHER - VALUE))
    assert noise.observed_change(near, OTHER, 1) == 6.0 and noise.draws(VALUE).parameter == 4
    assert np.array_equal(noise.apply(near, np.arange(6).reshape(2, 3)), VALUE + np.arange(6).reshape(2, 3) / 2)
    assert np.array_equal(noise.apply(near, np.arange(6.0).reshape(2, 3)), VALUE + np.arange(6).reshape(2, 3) / 2)
    for order in (1.0, 1.5, 4.0):
        truth = sum(
            renyi(order, lambda k, t=t: (grid_mass_quick(k), grid_mass_quick(k - t)))  # type: ignore[misc]
            for t in (1, 4, 1, 6)
        )
        assert noise.divergence(near, OTHER, order) == pytest.approx(truth, rel=1e-9)
    with pytest.raises(InvalidParameter, match="fraction"):
        noise.apply(VALUE, np.full((2, 3), 0.5))


def grid_mass_quick(k: float) -> float:
    """log of the mass of k quarters of a scale."""
    return -abs(k) / 4 + math.log(math.tanh(1 / 8))


def test_discrete_gaussian_noise() -> None:
    noise = DiscreteGaussian(SDS, 0.5)
    output = np.round(OUTPUT * 2) / 2
    widths = [lambda z, s=s: z * z / (8 * s * s) for s in SDS]
    density = [[grid_mass((output[i, j] - VALUE[i, j]) * 2, widths[j]) for j in range(3)] for i in range(2)]
    assert np.allclose(noise.log_density(VALUE, output), density)
    sds = np.array(SDS)
    assert np.allclose(noise.loss(VALUE, OTHER, output), ((output - OTHER) ** 2 - (output - VALUE) ** 2) / (2 * sds**2))
    assert np.array_equal(noise.worst_loss(VALUE, OTHER), np.where(VALUE == OTHER, 0.0, np.inf))
    assert np.allclose(
        noise.worst_output(VALUE, OTHER), VALUE - np.ceil(TAIL * sds / 0.5) * 0.5 * np.sign(OTHER - VALUE)
    )
    assert noise.observed_change(VALUE, OTHER, 2) == pytest.approx(math.sqrt(((VALUE - OTHER) ** 2).sum()))
    whitened = (((VALUE - OTHER) / sds) ** 2).sum()
    assert noise.observed_change(VALUE, OTHER, "whitened") == pytest.approx(math.sqrt(whitened))
    assert noise.draws(VALUE).parameter == (1, 16, 64) and DiscreteGaussian(3.0, 0.5).draws(VALUE).parameter == 36
    assert noise.renyi_cost(declared_in(2, 3.0), 4.0) == pytest.approx(2 * 36)
    assert noise.renyi_cost(declared_in("whitened", 3.0), 0.25) == pytest.approx(4.5)
    plain = DiscreteGaussian(0.5, 0.5)
    norm = math.log(math.fsum(math.exp(-k * k / 2) for k in range(-60, 61)))

    def logs(k: int, t: int) -> tuple[float, float]:
        return (-k * k / 2 - norm, -((k - t) ** 2) / 2 - norm) if abs(k) < 40 else (-900.0, -900.0)

    for order in (1.0, 1.5, 4.0):
        exact = sum(renyi(order, partial(logs, t=t)) for t in (1, 4, 1, 6))
        assert plain.divergence(VALUE, OTHER, order) == pytest.approx(exact, rel=1e-9)


def test_an_exponential_choice() -> None:
    table = np.array([[1.0, 3.0, -np.inf, 2.0], [0.0, -1.0, 4.0, 0.5]])
    other = np.array([[1.5, 2.0, -np.inf, 2.0], [0.0, 0.0, 3.0, 0.5]])
    choice = Exponential(0.7)
    weights, after = (np.exp(0.7 * one) for one in (table, other))
    p, q = (one / one.sum(axis=1, keepdims=True) for one in (weights, after))
    assert np.allclose(choice.log_density(table, [1, 2]), np.log([p[0, 1], p[1, 2]]))
    assert np.allclose(choice.loss(table, other, [3, 1]), np.log([p[0, 3] / q[0, 3], p[1, 1] / q[1, 1]]))
    with np.errstate(invalid="ignore", divide="ignore"):
        losses = np.where(p > 0, np.log(p / q), -np.inf)
    assert np.allclose(choice.worst_loss(table, other), losses.max(axis=1))
    assert choice.worst_output(table, other).tolist() == losses.argmax(axis=1).tolist()
    assert choice.observed_change(table, other, "range") == pytest.approx(1.5 + 2.0)
    for order in (0.5, 2.0, 5.0):
        exact = np.log(np.where(p > 0, p**order * np.where(q > 0, q, 1.0) ** (1 - order), 0.0).sum(axis=1)) / (
            order - 1
        )
        assert choice.divergence(table, other, order) == pytest.approx(exact.sum(), rel=1e-9)
    assert choice.pure_cost(declared_in("range", 2.0)) == pytest.approx(1.4)
    for sampler, draws in (("gumbel", np.array([[0.1, 0.2, 9.0, 1.9], [3.0, 4.5, 0.1, 0.0]])),
                           ("racing", np.array([[0.9, 0.5, 0.1, 0.09], [0.05, 0.02, 2.0, 0.9]]))):  # fmt: skip
        score = (
            np.log(np.maximum(weights, 1e-300)) + draws
            if sampler == "gumbel"
            else -np.log(draws / np.maximum(weights, 1e-300))
        )
        assert Exponential(0.7, sampler).apply(table, draws).tolist() == score.argmax(axis=1).tolist()  # type: ignore[arg-type]


# --- Divergences ------------------------------------------------------------------------------------------------------

ORDERS = [0.05, 0.3, 0.5, 0.501, 0.54, 0.56, 0.9, 0.999, 1.0, 1.001, 1.4, 2.0, 7.5, 60.0]
"""On both sides of 1/2, of 1 and of where the formulas change."""


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("unit", [0.05, 0.7, 4.0])
def test_discrete_laplace_divergence_by_its_sum(order: float, unit: float) -> None:
    """Over the whole numbers; one, two and eleven steps apart."""
    steps = np.array([0, 1, 2, 11])
    norm = math.log(math.tanh(unit / 2))
    reach = range(-int(45 / unit) - 12, int(45 / unit) + 24)

    def exact(n: int) -> float:
        logs = [(norm - unit * abs(k), norm - unit * abs(k - n)) for k in reach]
        if order == 1:
            return math.fsum(math.exp(p) * (p - q) for p, q in logs)
        top = max(p + (order - 1) * (p - q) for p, q in logs)
        return (top + math.log(math.fsum(math.exp(p + (order - 1) * (p - q) - top) for p, q in logs))) / (order - 1)

    found = divergences.laplace_divergence(order, steps * unit, unit)
    assert found[0] == 0 and np.allclose(
        found[1:], [exact(n) for n in (1, 2, 11)], rtol=1e-9 if abs(order - 1) > 0.01 or order == 1 else 1e-6
    )


@pytest.mark.parametrize("order", ORDERS)
def test_laplace_divergence_by_its_formula(order: float) -> None:
    """Distances on both sides of where the formula without cancellation takes over; at order infinity the distance."""
    t = np.array([0.0, 0.02, 0.4, 0.9, 1.1, 2.5, 10.0])
    if order == 1:
        exact = t + np.exp(-t) - 1
    elif order == 0.5:
        exact = t - 2 * np.log1p(t / 2)
    else:
        a = order
        exact = np.log((a * np.exp((a - 1) * t) + (a - 1) * np.exp(-a * t)) / (2 * a - 1)) / (a - 1)
    rtol = 1e-4 if (0.99 < order < 1.01 and order != 1) or 0.49 < order < 0.51 else 1e-9
    assert np.allclose(divergences.laplace_divergence(order, t), exact, rtol=rtol, atol=1e-12)
    assert np.array_equal(divergences.laplace_divergence(math.inf, t), t)


@pytest.mark.parametrize("tau", [0.01, 0.3, 3.0, 6.28, 6.29, 9.0, 40.0])
def test_theta_series_by_their_sums(tau: float) -> None:
    """On both sides of 2π, where the direct series takes over from Poisson's."""
    whole = np.arange(-2000.0, 2001)
    offsets = np.array([0.0, 0.1, -0.25, 0.5, -0.5])
    sums = [math.fsum(np.exp(-0.5 * tau * (whole - s) ** 2)) for s in offsets]
    assert divergences.log_theta(tau) == pytest.approx(math.log(sums[0]), rel=1e-12)
    assert np.allclose(
        divergences._log_theta_ratio(offsets, tau), np.log(np.array(sums) / sums[0]), rtol=1e-9, atol=1e-14
    )


@pytest.mark.parametrize("order", [0.3, 1.0, 1.7, 3.0, 20.0])
@pytest.mark.parametrize("unit", [0.5, 2.0, 3.5])
def test_discrete_gaussian_divergence_by_its_sum(order: float, unit: float) -> None:
    whole = np.arange(-400, 401)
    shifts = np.array([0.0, 1.0, 2.0, 5.0])
    exact = []
    for shift in (1, 2, 5):
        p, q = -0.5 * (unit * whole) ** 2, -0.5 * (unit * (whole - shift)) ** 2
        norm = math.log(math.fsum(np.exp(p)))
        terms = p - norm + (order - 1) * (p - q)
        moment = terms.max() + math.log(math.fsum(np.exp(terms - terms.max())))
        exact.append(math.fsum(np.exp(p - norm) * (p - q)) if order == 1 else moment / (order - 1))
    assert np.allclose(
        divergences.discrete_gaussian_divergence(order, shifts, unit), [0.0, *exact], rtol=1e-9, atol=1e-13
    )
    infinite = divergences.discrete_gaussian_divergence(math.inf, shifts, unit)
    assert infinite.tolist() == [0, math.inf, math.inf, math.inf]


@pytest.mark.parametrize("order", [0.5, 1.0, 1.001, 2.0, 9.0, math.inf])
def test_divergence_of_tables_by_sums(order: float) -> None:
    """Rows of small and of large losses together; options that one side or both exclude."""
    p = np.array([[0.5, 0.25, 0.25, 0.0], [0.2, 0.3, 0.1, 0.4], [0.0, 0.999, 0.001, 0.0], [0.25, 0.25, 0.25, 0.25]])
    q = np.array(
        [[0.25, 0.25, 0.5, 0.0], [0.21, 0.29, 0.11, 0.39], [0.0, 0.001, 0.998, 0.001], [0.25, 0.25, 0.25, 0.25]]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p, log_q, loss = np.log(p), np.log(q), np.where(p > 0, np.log(p) - np.log(q), 0.0)
        if order == 1:
            exact = np.where(p > 0, p * loss, 0.0).sum(axis=1)
        elif order == math.inf:
            exact = np.where(p > 0, loss, -np.inf).max(axis=1)
        else:
            exact = np.log(np.where(p > 0, p * np.exp((order - 1) * loss), 0.0).sum(axis=1)) / (order - 1)
        found = divergences.table_divergence(log_p, log_q, log_p - log_q, order)
    assert np.allclose(found, exact, rtol=1e-7, atol=1e-12)


def test_small_pieces_of_divergences() -> None:
    x = np.array([-3.0, -0.25, -0.249, -1e-3, 0.0, 1e-7, 0.2, 0.25, 0.3, 2.0])
    series = [math.fsum(v**k / math.factorial(k) for k in range(2, 60)) for v in x]
    assert np.allclose(divergences.phi(x), series, rtol=1e-12, atol=0)
    log_w, tall = (
        np.log([[0.25, 0.75], [0.5, 0.5], [0.125, 0.875]]),
        np.array([[1e-9, 3e-9], [2.0, 499.0], [600.0, 1.0]]),
    )
    found = divergences.log_mean_exp(log_w, tall)
    assert np.allclose(found, [2.5e-9, 499 + math.log(0.5), 600 + math.log(0.125)], rtol=1e-8)
    assert [divergences._signed_gap(a, 0.7) for a in (-0.3, 0.0, 1e-9, 2.0)] == pytest.approx(
        [math.exp(-0.7) - math.exp(-0.7 * (2 * a + 1)) for a in (-0.3, 0.0)]
        + [math.exp(-0.7) * 1.4e-9, math.exp(-0.7) - math.exp(-3.5)],
        rel=1e-8,
    )
    assert [divergences._log_exprel(v) for v in (-50.0, -0.3, 0.0, 0.3, 800.0)] == pytest.approx(
        [math.log(1 / 50), math.log(-math.expm1(-0.3) / 0.3), 0.0, math.log(math.expm1(0.3) / 0.3), 800 - math.log(800)]
    )


@pytest.mark.parametrize("order", [0.2, 1.0, 1.3, 2.0, 30.0])
@pytest.mark.parametrize("e", [0.02, 0.5, 3.0])
def test_range_divergence_by_a_search(order: float, e: float) -> None:
    """The best of 20,001 pairs of two points; the maximiser itself within their distance."""
    t = np.linspace(e / 4000, e * (1 - 1 / 4000), 20_001)
    q = (np.exp(-t) - math.exp(-e)) / -math.expm1(-e)
    if order == 1:
        found = q * np.exp(t) * t + (1 - q) * np.exp(t - e) * (t - e)
    else:
        found = np.log(q * np.exp(order * t) + (1 - q) * np.exp(order * (t - e))) / (order - 1)
    assert divergences.bounded_range_divergence(order, e) == pytest.approx(found.max(), rel=1e-6)
    assert divergences._worst_top(order, e) == pytest.approx(t[found.argmax()], abs=e / 300)
    assert (
        divergences.bounded_range_divergence(math.inf, e) == e and divergences.bounded_range_divergence(order, 0.0) == 0
    )
