"""Exact trade-off curves of releases against formulas and enumeration."""

from __future__ import annotations

import math
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import special

from refdp.audit.exact_curve import CELLS, Outcomes, charged, exact_change, outcomes
from refdp.audit.page_exact import corner, exact_figure, least
from refdp.audit.replay import Change
from refdp.audit.report import trainer
from refdp.audit.tradeoff import allowed
from refdp.audit.witnesses import of_ledger
from refdp.faces import registry
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Relation, Sensitivity

X = np.linspace(0.001, 0.999, 99)


def change(mechanism: Any, value: Any, other: Any, bound: float = 1.0, norm: Any = 1) -> Change:
    declared = Sensitivity(bound, norm, "test", Relation.ADD_REMOVE)
    entry: Any = SimpleNamespace(request=SimpleNamespace(name="leaves"), scopes=())
    return Change(entry, mechanism, declared, np.asarray(value, float), np.asarray(other, float), np.zeros(1))


def missed(one: Change) -> Any:
    cells = outcomes(one)
    assert cells is not None
    assert cells.first.sum() == pytest.approx(1) and cells.second.sum() == pytest.approx(1)
    return np.interp(X, *cells.curve())


def laplace_curve(shift: float) -> Any:
    """Dong, Roth, Su 2022, for Lap(0, 1) against Lap(shift, 1)."""
    middle = np.exp(-shift) / (4 * X)
    return np.where(np.exp(-shift) / 2 > X, 1 - np.exp(shift) * X, np.where(X <= 0.5, middle, np.exp(-shift) * (1 - X)))


@pytest.mark.parametrize("mechanism", [Laplace(2.0), DiscreteLaplace(2.0, 2.0**-12)])
@pytest.mark.parametrize("shift", [0.5, 3.0])
def test_one_laplace_has_its_curve(mechanism: Any, shift: float) -> None:
    assert missed(change(mechanism, [shift], [0.0])) == pytest.approx(laplace_curve(shift / 2), abs=1e-3)


def test_discrete_laplace_on_a_coarse_grid_is_enumerated() -> None:
    rate, shift, reach = 0.5, 3, 80
    z = np.arange(-reach, reach + 1)
    p, q = (np.exp(-rate * np.abs(z - at)) * math.tanh(rate / 2) for at in (0, shift))
    expected = np.interp(X, *Outcomes(p, q).curve())
    assert missed(change(DiscreteLaplace(2.0, 1.0), [0.0], [3.0])) == pytest.approx(expected, abs=1e-9)


def test_a_gaussian_vector_has_the_curve_of_its_shift() -> None:
    found = missed(change(Gaussian(2.0), [3.0, 0.0], [0.0, 4.0], norm=2))
    assert found == pytest.approx(special.ndtr(special.ndtri(1 - X) - 2.5), abs=1e-3)


def test_choices_in_two_nodes_are_enumerated() -> None:
    generator = np.random.default_rng(0)
    value, other = generator.normal(size=(2, 2, 9))
    p, q = (np.exp(table) / np.exp(table).sum(axis=1, keepdims=True) for table in (value, other))
    both = [[side[0, i] * side[1, j] for i, j in product(range(9), repeat=2)] for side in (p, q)]
    expected = np.interp(X, *Outcomes(*map(np.array, both)).curve())
    assert missed(change(Exponential(1.0), value, other)) == pytest.approx(expected, abs=1e-12)


def test_two_coordinates_never_show_more_than_there_is_and_hardly_less() -> None:
    """Against a grid of the two losses twice as fine; the curve of cells lies above, by less than a thousandth."""
    found = missed(change(Laplace(1.0), [1.0, 0.7], [0.0, 0.0]))
    finest = np.minimum(laplace_curve(1.7), 1.0)  # one coordinate moved by the whole change is the worst of all
    assert (found >= finest - 1e-6).all()
    rng = np.random.default_rng(1)
    draws = rng.laplace(size=(100_000, 2))
    loss = [
        np.abs(side - [0, 0]).sum(1) - np.abs(side - [1.0, 0.7]).sum(1)
        for side in (draws + np.array([1.0, 0.7]), draws)
    ]
    cells = outcomes(change(Laplace(1.0), [1.0, 0.7], [0.0, 0.0]))
    assert cells is not None
    for cut in np.linspace(-1.6, 1.6, 17):  # the same test on 400,000 draws a side; 0.008 is five standard errors
        alarm, miss = (loss[0] < cut).mean(), (loss[1] >= cut).mean()
        assert np.interp(alarm, *cells.curve()) == pytest.approx(miss, abs=0.008)


def test_an_outcome_of_one_side_only_shows_at_once() -> None:
    value, other = [[0.0, 0.0, 0.0]], [[-np.inf, 0.0, 0.0]]
    found = missed(change(Exponential(1.0), value, other))
    assert found == pytest.approx(np.where(X < 2 / 3, 1 - 1.5 * X, 0.0), abs=1e-9)
    far = Outcomes(np.array([0.5] + [0.5 / 9000] * 9000), np.array([0.0] + [1 / 9000] * 9000)).merged()
    assert len(far.first) <= CELLS + 3 and far.second[np.argmax(far.first)] == 0


def test_noise_without_cells_has_no_exact_curve() -> None:
    assert outcomes(change(DiscreteGaussian(1.0, 2.0**-9), [1.0], [0.0], norm=2)) is None


def test_what_is_charged_is_the_curve_that_may_not_be_undercut() -> None:
    pure = charged(change(Laplace(2.0), [1.0], [0.0]))
    gaussian = charged(change(Gaussian(2.0), [1.0], [0.0], norm=2))
    assert pure == ("epsilon", 0.5) and gaussian is not None and gaussian[0] == "mu"
    assert gaussian[1] == pytest.approx(0.5)
    assert missed(change(Gaussian(2.0), [1.0], [0.0], norm=2)) == pytest.approx(least(gaussian, X), abs=1e-3)
    assert (least(pure, X) == allowed(X, 0.5)).all()


def test_the_release_of_theorem_7_undercuts_what_it_is_charged_in_a_corner() -> None:
    known, paper = of_ledger("dpboost", Relation.ADD_REMOVE)[0], registry.paper("dpboost")
    for constants, over in (("published", True), ("proved", False)):
        given = {"epsilon": 1.0, "relation": Relation.ADD_REMOVE, "constants": constants}
        params = known.applied(paper.params(given, as_published=False))
        found = exact_change(trainer(paper, params), known.pair, "whole run")
        assert found is not None
        cells, cost = outcomes(found), charged(found)
        assert cells is not None and cost is not None and found.entry.request.name.endswith("splits of level 0")
        alarms, misses = cells.curve()
        excess = least(cost, alarms) - misses
        assert (excess.max() > 1e-3) == over
        assert (corner(alarms, excess) is not None) == over
        if over:
            figure = exact_figure(found, cells, "this pair")
            assert "no run is sampled" in figure.caption and "its loss is 1.121 at most" in figure.caption
