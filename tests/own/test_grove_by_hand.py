"""Grove's formulas and settings against loops over records and bins, and numbers worked out by hand."""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import asdict, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.data import candidates as grids
from refdp.data.kernels import GRID
from refdp.data.records import Categorical, Interval, Numeric, Schema
from refdp.errors import InvalidParameter
from refdp.noise.calibration import total_mu
from refdp.noise.mechanisms import DiscreteGaussian, Gaussian
from refdp.own import grove
from refdp.privacy.events import Charge, Relation
from tests.own.schemas import ADD, REAL, REPLACE, THREE, TWO, WORDS, near

# --- Formulas ---------------------------------------------------------------------------------------------------------


def test_formulas_of_fractions() -> None:
    assert [grove.log_hessian_of(Fraction(n, 4)) for n in (-3, -1, 0, 1, 2)] == [
        Fraction(k, 16) for k in (3, 3, 0, 3, 4)
    ]
    assert grove.squared_joint_norm(Fraction(-2, 3), Fraction(1, 2), Fraction(3)) == Fraction(4, 9) + Fraction(9, 4)
    assert [grove.squared_log_bound(Fraction(n)) for n in (0, 1, 3)] == [
        Fraction(1, 4), Fraction(5, 16), Fraction(13, 16)
    ]  # fmt: skip
    assert [grove.squared_square_bound(Fraction(n)) for n in (0, 1, 3)] == [1, 2, 10]
    assert [grove.clip(Fraction(n), Fraction(2)) for n in (-3, -2, -1, 0, 2, 5)] == [-2, -2, -1, 0, 2, 2]


def test_the_noise_of_all_trees_moves_a_score_by_at_most_x() -> None:
    """T steps of eta s / lambda each, s the deviation of their noise, have x = eta s sqrt(T) / lambda in all."""
    for schema, x in ((TWO, 0.7), (THREE, 0.7), (REAL, 0.25)):
        for given in ({}, {"score_noise": 0.125}, {"shrinkage": 0.25}, {"trees": 30}):
            params = grove.Params(0.5, ADD, **given)  # type: ignore[arg-type]
            s, rounds = params.deviation(schema), params.rounds(schema)
            step = params.shrinkage * s / params.padding(schema)
            assert math.sqrt(rounds) * step == near(given.get("score_noise", x))


def test_leaves_are_steps_against_their_sums() -> None:
    """-G / (H + lambda), no released Hessian below 0, at most 3, in units of the score."""
    for schema in (TWO, REAL):
        params = grove.Params(2.0, ADD, trees=9, rows=700)
        padding = params.padding(schema)
        noisy = np.array([[6.0, 2.0], [-4.0, 4.0], [2.0, -1.0], [1e6 * padding, 0.0], [-1e6 * padding, 5.0]])
        found = grove.leaf_values(noisy, padding, 0.5)
        assert found == near([-3 / (2 + padding), 2 / (4 + padding), -1 / padding, -1.5, 1.5])


def test_bins_are_shrunk_one_by_one() -> None:
    g, h = np.array([6.0, -4.0, 2.0, 8.0]), np.array([2.0, 4.0, -1.0, 0.0])
    found = grove.shrunk(g, h, 0.5, 3.0, 0.25)
    assert found == near([-12 / (4 + 4 / 0.25), 16 / (16 + 5 / 0.25), 0.0, 0.0])
    least = grove.shrunk(np.array([1.0]), np.array([1.0]), 0.0, 3e-12, 0.0)  # a prior of 0 counts as 1e-12
    assert least == near([-1 / 4.0], 1e-9)
    tiny = grove.shrunk(np.array([1.0]), np.array([1e-6]), 0.0, 0.0, 1.0)
    assert tiny == near([-1e-6 / 2e-12])


def test_priors_by_moments() -> None:
    g, h = np.array([3.0, -2.0, 5.0]), np.array([1.0, 2.0, -4.0])
    assert grove.moments(g, h, 0.5, 0.25) == near((8.25 + 2.75 + 24.75) / 5)
    assert grove.moments(g, h, 0.5, 40.0) == 0.0
    assert grove.moments(np.array([1.0]), np.array([-1.0]), 1.0, 0.5) == near(0.5e9)


# --- Settings ---------------------------------------------------------------------------------------------------------


def test_defaults_are_those_that_are_documented() -> None:
    assert asdict(grove.Params(1.0, ADD)) == {
        "epsilon": 1.0, "relation": ADD, "delta": 1e-5, "rows": 10_000, "trees": None, "depth": None,
        "shrinkage": 0.5, "bins": 32, "hessian_weight": None, "threshold_share": 0.1, "start_share": None,
        "feature_share": None, "explore": 0.5, "residual": None, "score_noise": None, "noise": "discrete",
    }  # fmt: skip
    assert (grove.COARSE, grove.FINE, grove.LABEL_BINS, grove.LARGEST_LEAF) == (15, 63, 64, 3.0)
    assert (grove.FIRST_STEP, grove.CUT) == (0.7, 0.5)
    assert dict(grove.SCATTER) == {"log": 1.0, "square": 0.15}
    assert [grove.scatter_of(schema) for schema in (TWO, THREE, REAL)] == [1.0, 1.0, 0.15]
    assert len(grove.BINS) == 64 and grove.BINS[0] == "b0" and grove.BINS[63] == "b63"


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("epsilon", (1e-9, 1, 50), (0, -1)),
        ("delta", (1e-30, 0.999), (0.0, 1.0, 2.0)),
        ("rows", (1, 10**12), (0, 10**12 + 1)),
        ("bins", (1, 63), (0, 64)),
        ("trees", (None, 1, 10_000), (0, 10_001)),
        ("depth", (None, 1, 10), (0, 11)),
        ("shrinkage", (2.0**-22, 1.0), (0.0, 2.0**-23, 1.01)),
        ("score_noise", (None, 0.001, 1000), (0.0, 0.0009, 1001.0)),
        ("residual", (None, 2.0**-22, 1.0), (0.0, 2.0**-23, 1.01)),
        ("hessian_weight", (None, 1e-6, 3.3), (0.0, 3.31)),
        ("threshold_share", (1e-6, 0.5), (0.0, 0.51)),
        ("start_share", (None, 1e-6, 0.4), (0.0, 0.41)),
        ("feature_share", (None, 0, 0.0, 0.9), (-0.01, 0.91)),
        ("explore", (1e-6, 1.0), (0.0, 1.01)),
    ],
)
def test_a_setting_is_refused_just_outside_its_range(name: str, good: tuple[Any, ...], bad: tuple[Any, ...]) -> None:
    rest: dict[str, Any] = {"epsilon": 1.0, "relation": ADD}
    for value in good:
        assert getattr(grove.Params(**{**rest, name: value}), name) == value
    for value in bad:
        with pytest.raises(InvalidParameter, match=name):
            grove.Params(**{**rest, name: value})


def test_what_depends_on_the_strength(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees and levels by task, from a strength of 500, of 3,000 and of 5,000 on."""
    params = grove.Params(1.0, ADD)
    for strength, trees, many, deep, real in (
        (1.0, 200, 200, 4, 3), (499.9, 200, 200, 4, 3), (500.0, 400, 400, 5, 4), (2999.9, 400, 400, 5, 4),
        (3000.0, 400, 400, 5, 5), (4999.9, 400, 400, 5, 5), (5000.0, 400, 800, 7, 5), (1e6, 400, 800, 7, 5),
    ):  # fmt: skip
        monkeypatch.setattr(grove.Params, "strength", lambda self, schema, nu=strength: nu)
        assert [params.rounds(schema) for schema in (TWO, THREE, REAL)] == [many, many, trees]
        assert [params.levels(schema) for schema in (TWO, THREE, REAL)] == [deep, deep, real]
        own = replace(params, trees=7, depth=2)
        assert [(own.rounds(schema), own.levels(schema)) for schema in (TWO, REAL)] == [(7, 2)] * 2


def test_the_label_has_fewer_bins_where_a_bin_would_drown(monkeypatch: pytest.MonkeyPatch) -> None:
    """An even share of the records is at least two deviations of a bin's noise, but in 8 bins."""
    params = grove.Params(1.0, ADD, start_share=0.25)  # a signal of half the strength
    for strength, bins in (
        (1.0, 8), (63.9, 8), (64.0, 16), (127.9, 16), (128.0, 32), (255.9, 32), (256.0, 64), (1e6, 64),
    ):  # fmt: skip
        monkeypatch.setattr(grove.Params, "strength", lambda self, schema, nu=strength: nu)
        assert params.histogram_bins(REAL, 0.25) == bins
        assert grove.bins_of(replace(params, residual=0.5), REAL) == tuple(f"b{k}" for k in range(bins))
        assert bins == 8 or strength / 2 / bins >= 2


def test_when_c_follows_the_residuals_and_what_all_histograms_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the trees of a regression of nu = 150 and more; three fifths of what start has are the labels'."""
    params = grove.Params(1.0, ADD, start_share=0.1)
    for strength, early in ((149.9, 0), (150.0, 20), (500.0, 40), (1e6, 40)):
        monkeypatch.setattr(grove.Params, "strength", lambda self, schema, nu=strength: nu)
        assert [params.early(schema) for schema in (TWO, THREE, REAL)] == [0, 0, early]
        assert replace(params, trees=9).early(REAL) == replace(params, residual=0.5).early(REAL) == 0
        assert replace(params, trees=19).early(REAL) == (1 if early else 0)
        assert params.labels_share(REAL) == near(0.06 if early else 0.1)
        assert params.labels_share(REAL) + params.residual_share(REAL) == near(0.1)
        assert replace(params, start_share=0.2).residual_share(REAL) == near(0.08 if early else 0.0)
        assert params.looks_again(REAL) and not params.looks_again(TWO)
        assert params.label_share(REAL) == near(0.036 if early else 0.06)
        assert params.label_share(REAL) + params.nearby_share(REAL) == near(params.labels_share(REAL))
        given = replace(params, residual=0.5)
        assert (given.looks_again(REAL), given.label_share(REAL)) == (False, near(0.1))
        assert (params.label_share(TWO), params.nearby_share(TWO), params.residual_share(TWO)) == (0.1, 0.0, 0.0)


def test_what_start_and_the_noise_of_a_score_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """More for a regression of few records."""
    params = grove.Params(1.0, ADD)
    for strength, start, noise in ((1.0, 0.3, 0.35), (19.9, 0.3, 0.35), (20.0, 0.15, 0.35), (149.9, 0.15, 0.35),
                                   (150.0, 0.1, 0.25), (1e6, 0.1, 0.25)):  # fmt: skip
        monkeypatch.setattr(grove.Params, "strength", lambda self, schema, nu=strength: nu)
        for schema, part, most in ((REAL, start, noise), (TWO, 0.02, 0.7), (THREE, 0.02, 0.7)):
            assert (params.shares(schema)[1], params.noise_of_score(schema)) == (part, most)
            spread = params.deviation(schema) * math.sqrt(params.rounds(schema))
            assert params.padding(schema) == near(params.shrinkage * spread / most)
            assert replace(params, score_noise=0.1).padding(schema) == near(params.shrinkage * spread / 0.1)
        assert replace(params, start_share=0.2).shares(REAL)[1] == 0.2


def test_c_becomes_what_most_residuals_are_within() -> None:
    """Where that is a quarter less than before; on the grid."""
    for inner in (3, 1):
        counts = np.zeros(16)
        counts[8 - inner : 8 + inner] = 50.0
        assert grove.narrower(0.3, counts, 2.0, 90) == math.floor(0.3 * inner / 8 / GRID) * GRID
    assert grove.narrower(0.3, np.full(16, 50.0), 2.0, 800) == 0.3
    assert grove.least_count(grove.Params(1.0, ADD), 0.25) == near(3.0 / grove.Params(1.0, ADD).mu())


def test_when_features_are_asked_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the leaves' share below a strength of 500, three tenths from there on; nothing where signals are low."""
    params, features = grove.Params(1.0, ADD), len(grove.splittable(TWO))
    least = 25 / math.sqrt(0.5 / features)
    for strength, part, levels in (
        (least * 0.999, 0.0, 2), (least * 1.001, 0.5, 2), (499.9, 0.5, 2), (500.0, 0.3, 3), (1e6, 0.3, 3),
    ):  # fmt: skip
        monkeypatch.setattr(grove.Params, "strength", lambda self, schema, nu=strength: nu)
        assert (params.first_part(TWO), params.first_levels(TWO)) == (part, levels)
        assert [replace(params, feature_share=q).first_part(TWO) for q in (0, 0.25)] == [0, 0.25]
    wide = Schema(tuple(Numeric(f"x{k}", 0, 1) for k in range(2000)), TWO.target)
    for strength, part in ((2041.2, 0.0), (2041.3, 0.3)):  # 25 sqrt(2000 / .3)
        monkeypatch.setattr(grove.Params, "strength", lambda self, schema, nu=strength: nu)
        assert params.first_part(wide) == part
    nothing = Schema((Numeric("x", 1, 1),), TWO.target)
    assert grove.splittable(nothing) == () and params.first_part(nothing) == 0.0
    assert replace(params, feature_share=0.5).first_part(nothing) == 0.0


def test_budgets_and_their_shares() -> None:
    for noise, accounting in (("floating", "exact"), ("discrete", "fine")):
        params = grove.Params(0.7, REPLACE, 1e-6, rows=500, noise=noise)  # type: ignore[arg-type]
        mu = total_mu(0.7, 1e-6, accounting)  # type: ignore[arg-type]
        assert params.mu() == mu
        assert params.strength(THREE) == near(500 * mu / math.sqrt(1.64) / 2)
        assert replace(params, relation=ADD).strength(TWO) == near(500 * mu)
    assert (params.cut, replace(params, residual=0.25).cut) == (1.0, 0.25)
    assert [params.weight(schema) for schema in (TWO, THREE, REAL)] == [0.4, 0.4, 0.3]
    assert [params.first_weight(schema) for schema in (TWO, THREE, REAL)] == [1.0, 1.0, 0.3]
    given = replace(params, hessian_weight=2.0)
    assert given.weight(REAL) == given.first_weight(TWO) == 2.0
    assert params.shares(TWO) == near((0.1, 0.02, 0.88))
    assert replace(params, rows=2000).shares(REAL) == near((0.1, 0.1, 0.78))
    assert replace(params, rows=2000, residual=0.5).shares(REAL) == near((0.1, 0.1, 0.8))
    assert [params.last_share(schema) for schema in (TWO, THREE, REAL)] == [0.0, 0.0, 0.02]
    assert params.last_deviation(REAL) == near(params.joint_norm(REAL, 0.3) / (params.mu() * math.sqrt(0.02)))
    assert params.shares(WORDS) == near((0.0, 0.02, 0.98))
    assert replace(params, start_share=0.25, threshold_share=0.5).shares(REAL) == near((0.5, 0.25, 0.23))


def test_both_passes_share_what_is_left_for_leaves() -> None:
    """What M features and T trees cost in mu^2 adds up to the leaves' share, whatever the first pass has of it."""
    for schema in (TWO, THREE, REAL):
        for q in (0.25, 0.9):
            params = grove.Params(1.0, ADD, trees=7, feature_share=q)
            a, features = params.first_weight(schema), len(grove.splittable(schema))
            norm, in_bins = params.joint_norm(schema, params.weight(schema)), params.joint_norm(schema, a)
            first = features * (in_bins / params.first_deviation(schema)) ** 2
            rest = 7 * (norm / params.deviation(schema)) ** 2
            assert first / (first + rest) == near(q)
            assert first + rest == near(params.mu() ** 2 * params.shares(schema)[2])
            charge, s = params.first_charge(schema), params.first_deviation(schema)
            assert isinstance(charge.mechanism, DiscreteGaussian) and charge.mechanism.sd == near(
                (s, s / a) * schema.scores
            )
            assert charge.declared.claim == params.leaf_charge(schema).declared.claim
            assert Fraction(in_bins) / Fraction(s) < Fraction(charge.declared.bound)


def test_features_and_scores() -> None:
    assert grove.numeric(REAL) == (0, 3) and grove.numeric(WORDS) == ()
    assert [grove.outputs_of(schema) for schema in (TWO, THREE, REAL)] == [(0,), (0, 1, 2), (0,)]
    assert [grove.classes_of(schema) for schema in (TWO, THREE, REAL)] == [("b0", "b1"), ("b0", "b1", "b2"), ()]


@pytest.mark.parametrize(("relation", "changed", "suffix"), [(ADD, 1, ""), (REPLACE, 2, "-replace-one")])
def test_charges(relation: Relation, changed: int, suffix: str) -> None:
    """Counts move by the root of the cells that change; sums by the joint norm, in units of their noise."""
    params = grove.Params(1.5, relation, rows=3000, noise="floating", hessian_weight=0.5, trees=9, feature_share=0.0)
    charge = params.counts_charge(0.25, 3)
    assert charge.declared == charge.proved and charge.declared.claim == "composition/grove-counts" + suffix
    assert charge.declared.norm == 2 and charge.declared.relation is relation
    assert math.sqrt(3 * changed) <= charge.declared.bound <= math.sqrt(3 * changed) * (1 + 1e-15)
    assert isinstance(charge.mechanism, Gaussian)
    assert charge.mechanism.sd == near(math.sqrt(3 * changed) / (params.mu() / 2), 1e-9)
    discrete = replace(params, noise="discrete").counts_charge(0.25, 3)
    assert isinstance(discrete.mechanism, DiscreteGaussian)
    step = discrete.mechanism.step
    assert discrete.declared.bound == near(math.sqrt(3 * changed) * (1 + step))
    b = math.floor(0.4 / math.sqrt(2) / GRID) * GRID
    d = math.floor(b * (1 - b) / GRID) * GRID
    assert (grove.others_cut(THREE), grove.others_hessian(THREE)) == (b, d)
    assert (grove.others_cut(TWO), grove.others_hessian(REAL)) == (0.0, 0.0)
    for schema, norm, claim in (
        (TWO, math.sqrt(17) / 8, "log-loss"),
        (THREE, math.sqrt(17 / 64 + 2 * (b * b + d * d / 4)), "several-classes"),
        (REAL, math.sqrt(1.25), "square-loss"),
    ):
        norm = (norm + 2.0**-22) * changed
        assert params.joint_norm(schema, 0.5) == near(norm)
        s = norm / (params.mu() * math.sqrt(params.shares(schema)[2] / 9))
        assert params.deviation(schema) == near(s)
        leaves: Charge = params.leaf_charge(schema)
        assert leaves.declared == leaves.proved
        assert leaves.declared.claim == f"composition/grove-{claim}{suffix}"
        assert (leaves.declared.norm, leaves.declared.relation) == ("whitened", relation)
        exact = Fraction(params.joint_norm(schema, 0.5)) / Fraction(params.deviation(schema))
        assert exact * (1 + Fraction(1, 2**41)) < Fraction(leaves.declared.bound) < exact * (1 + Fraction(1, 2**39))
        assert isinstance(leaves.mechanism, Gaussian) and leaves.mechanism.sd == near((s, 2 * s) * schema.scores)
        drawn = replace(params, noise="discrete")
        other = drawn.leaf_charge(schema).mechanism
        assert isinstance(other, DiscreteGaussian) and other.step == GRID
        assert other.sd == near((drawn.deviation(schema), 2 * drawn.deviation(schema)) * schema.scores)


@pytest.mark.parametrize(("noise", "quick"), [("floating", False), ("discrete", True)])
def test_the_certificate_names_its_claims(noise: Any, quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    params, asked = grove.Params(1.0, REPLACE, 1e-7, trees=2, depth=1, noise=noise), []

    def account(plan: Any, **options: Any) -> Any:
        asked.append((plan, options))
        return SimpleNamespace(epsilon=0.75)

    monkeypatch.setattr(grove, "account", account)
    monkeypatch.setattr("refdp.ledger.certificate.running", lambda *given: "")  # this is another account
    found = grove.certificate(params, TWO)
    assert asked == [(grove.plan(params, TWO, proved=True), {"delta": 1e-7, "quick": quick})]
    assert (found.claimed.epsilon, found.claimed.delta, found.established.epsilon) == (1.0, 1e-7, 0.75)
    assert "composition/grove-run-replace-one" in dict(found.rests_on)


# --- Contributions ----------------------------------------------------------------------------------------------------


def test_labels_and_counts_of_labels() -> None:
    three = grove.Contribution(grove.Params(1.0, ADD), THREE)
    y = np.array([0.0, 2.0, 1.0, 2.0])
    assert [three.label(k, y).tolist() for k in range(3)] == [[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1]]
    assert three.label(3, y).tolist() == y.tolist()
    found = three.statistics(y, y, ("b0", "b1", "b2")).values
    assert {name: own.tolist() for name, own in found.items() if own is not None} == {
        "b0": [1, 0, 0, 0], "b1": [0, 0, 1, 0], "b2": [0, 1, 0, 1]
    }  # fmt: skip
    real = grove.Contribution(grove.Params(1.0, ADD), REAL)
    assert real.label(0, np.array([-3.0, 1.0, 5.0])).tolist() == [-1, 0, 1]
    label = np.array([-1.0, -0.97, -0.96875, -0.5, -1e-9, 0.0, 0.96874, 0.97, 1.0])
    for rows, expected in (
        (10_000, [0, 0, 1, 16, 31, 32, 62, 63, 63]), (2000, [0, 0, 0, 8, 15, 16, 31, 31, 31]),
        (10, [0, 0, 0, 2, 3, 4, 7, 7, 7]),
    ):  # fmt: skip
        own = grove.Contribution(grove.Params(1.0, ADD, rows=rows), REAL)
        bins = own.statistics(np.zeros(9), label, grove.bins_of(own.params, REAL)).values
        assert list(bins) == [f"b{k}" for k in range(expected[-1] + 1)]
        assert [[k for k, one in enumerate(bins.values()) if one is not None and one[row]] for row in range(9)] == [
            [place] for place in expected
        ]


def test_counts_of_residuals_are_in_units_of_c() -> None:
    own = grove.Contribution(grove.Params(1.0, ADD, residual=0.25), REAL)
    score, label = np.array([0.5, 0.5, 0.5, -0.5, 0.5]), np.array([0.5, 0.625, 0.4375, 0.5, -1.0])
    bins = own.statistics(score, label, tuple(f"b{k}" for k in range(8))).values
    found = [[k for k, one in enumerate(bins.values()) if one is not None and one[row]] for row in range(5)]
    assert found == [[4], [6], [3], [7], [0]]  # 0, 1/2, -1/4, beyond 1, beyond -1 of c


def test_gradients_and_hessians_of_both_losses() -> None:
    score, label = np.array([-1.5, 0.0, 0.25, 2.0, 1000.0]), np.array([1.0, 0.0, 1.0, 0.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = grove.Contribution(grove.Params(1.0, ADD), TWO).statistics(-score, label, ("g", "h")).values
    for row, (s, y) in enumerate(zip(-score, label, strict=True)):
        p = 1 / (1 + math.exp(-s)) if s > -700 else 0.0
        t = abs(p - y)
        assert found["g"][row] == round(min(max(p - y, -0.5), 0.5) / GRID) * GRID  # type: ignore[index]
        assert found["h"][row] == round(t * (1 - t) / GRID) * GRID  # type: ignore[index]
    for cut, unit in ((None, 1.0), (0.25, 0.25)):
        params = grove.Params(1.0, ADD, residual=cut)
        own = grove.Contribution(params, REAL).statistics(score, label, ("g", "h")).values
        expected = [min(max((s - y) / unit, -1), 1) for s, y in zip(score, label, strict=True)]
        assert own["h"] is None and own["g"].tolist() == expected  # type: ignore[union-attr]


# --- What is read off counts ------------------------------------------------------------------------------------------


def shares_by_hand(edges: list[float], counts: Any, deviation: float) -> list[float]:
    """Of all counts but that of missing values how many there are up to each bin, the least first, none below 0; nine
    tenths are these, one is even between the bounds; the noise's are even in the bins."""
    bins = len(counts) - 1
    sums = sorted(max(float(sum(counts[1 : i + 1])), 0.0) for i in range(1, bins + 1))
    wide = edges[-1] - edges[0]
    return [one + max(sums) / 9 * (edges[i + 1] - edges[0]) / wide + deviation * math.sqrt(bins) * (i + 1) / bins
            for i, one in enumerate(sums)]  # fmt: skip


def test_edges_are_bounds_and_thresholds() -> None:
    fine = grids.uniform(REAL, 3)
    kind = REAL.features[3]
    assert isinstance(kind, Numeric)
    own = grove.edges_of(REAL, fine, 3).tolist()
    assert own == [kind.low, *fine.thresholds[3].tolist(), kind.high] and len(own) == 5


@pytest.mark.parametrize("relation", Relation)
def test_the_noise_of_counts_is_what_they_are_charged_for(relation: Relation) -> None:
    params = grove.Params(1.0, relation, noise="floating")
    mechanism = params.counts_charge(params.threshold_share / 2, len(grove.numeric(REAL))).mechanism
    assert isinstance(mechanism, Gaussian) and mechanism.sd == near(grove.deviation_of_counts(params, REAL), 1e-9)


def test_fine_thresholds_have_even_shares_of_what_lies_evenly_in_coarse_bins() -> None:
    coarse, features = grids.uniform(REAL, 7), (0, 3)
    rng = np.random.default_rng(5)
    for size, deviation in ((0.0, 1.0), (3.0, 3.0), (400.0, 20.0)):
        noisy = np.rint(rng.normal(size / 2, size, int(coarse.bins[0] + coarse.bins[3])))
        found = grove.between(REAL, coarse, features, noisy, deviation)
        for f, counts in zip(features, (noisy[: coarse.bins[0]], noisy[coarse.bins[0] :]), strict=True):
            kind, own = REAL.features[f], found.thresholds[f]
            assert isinstance(kind, Numeric) and len(own) == grove.FINE
            edges = [kind.low, *coarse.thresholds[f].tolist(), kind.high]
            below = [0.0, *shares_by_hand(edges, counts, deviation)]
            share = np.interp(own, edges, below) / below[-1]
            assert share.tolist() == pytest.approx([k / (grove.FINE + 1) for k in range(1, grove.FINE + 1)])
            assert kind.low < own[0] and own[-1] < kind.high and (np.diff(own) > 0).all()
        assert found.thresholds[1] is coarse.thresholds[1]


def test_noise_alone_moves_no_quantile_far() -> None:
    """Of records in one of 64 bins and noise in all of them: what is cut at 0 would count for 24 times as much."""
    edges = np.linspace(-1.0, 3.0, grove.FINE + 2)
    noisy = np.random.default_rng(6).normal(0, 100, grove.FINE + 2)
    noisy[20] += 1000.0
    cut = np.maximum(noisy[1:], 0.0).sum()
    assert cut > 3 * 1000.0
    even = np.arange(1, grove.FINE + 2) / (grove.FINE + 1)
    assert grove.of_width(edges) == near(even)
    sums = grove.evened(noisy, 100.0, even, even)
    assert sums[-1] < 10 / 9 * 2.5 * 1000.0 + 800.0 and (np.diff(sums) > 0).all() and sums[0] > 0


def test_quantiles_are_the_first_places_that_reach_their_shares() -> None:
    coarse, features = grids.uniform(REAL, 7), (0, 3)
    rng = np.random.default_rng(4)
    squares = [one[:1] + (one - one[:1]) ** 2 / (one[-1:] - one[:1]) for one in coarse.thresholds]
    uneven = replace(coarse, thresholds=(squares[0], *coarse.thresholds[1:3], squares[3], *coarse.thresholds[4:]))
    for fine, bins in itertools.product((coarse, uneven), (1, 3, 5)):
        params = grove.Params(1.0, ADD, bins=bins)
        noisy = np.rint(rng.normal(3, 5, int(fine.bins[0] + fine.bins[3])))
        noisy[-2:] = 40.0  # beyond the last threshold, where no more thresholds are
        found = grove.quantiles(params, REAL, fine, features, noisy, 0.5)
        for f, counts in zip(features, (noisy[: fine.bins[0]], noisy[fine.bins[0] :]), strict=True):
            own = fine.thresholds[f].tolist()
            sums = shares_by_hand(grove.edges_of(REAL, fine, f).tolist(), counts, 0.5)
            chosen = set()
            for k in range(1, bins + 1):
                reached = [i for i in range(len(sums)) if sums[i] >= sums[-1] * k / (bins + 1)]
                chosen.add(own[min(reached[0], len(own) - 1)])
            assert found.thresholds[f].tolist() == sorted(chosen)
        assert found.thresholds[1] is fine.thresholds[1]
    none = -np.ones(int(coarse.bins[[0, 3]].sum()))
    nothing = grove.quantiles(grove.Params(1.0, ADD, bins=3), REAL, coarse, features, none, 0.5)
    assert [nothing.thresholds[f].tolist() for f in features] == [
        coarse.thresholds[f][[1, 3, 5]].tolist() for f in features
    ]
    one = grove.quantiles(grove.Params(1.0, ADD, bins=1), REAL, coarse, (3,), np.full(int(coarse.bins[3]), 0.25), 0.5)
    assert one.thresholds[3].tolist() == [coarse.thresholds[3][3]] and one.thresholds[0] is coarse.thresholds[0]


def test_log_odds_are_kept_between_half_a_percent_and_98() -> None:
    def logit(p: float) -> float:
        return math.log(p / (1 - p))

    assert grove.log_odds(1, np.array([30.0, 10.0])) == near((logit(0.25),))
    assert grove.log_odds(3, np.array([30.0, -5.0, 10.0])) == near((logit(0.75), logit(0.005), logit(0.25)))
    assert grove.log_odds(1, np.array([0.0, 9.0])) == near((logit(0.98),))
    assert grove.log_odds(3, np.array([0.25, 0.5, 0.0])) == near((logit(0.25), logit(0.5), logit(0.005)))


def test_centre_and_scale_of_a_histogram() -> None:
    """The mean, and the distance from it that 85% of the counts are within, nearest bins first, plus half a bin."""
    rng = np.random.default_rng(2)
    for counts in (rng.integers(0, 9, 64), np.eye(64)[5] * 3, np.eye(64)[20] + np.eye(64)[40], np.arange(64) > 61,
                   rng.integers(0, 9, 8), np.eye(8)[5] * 3, rng.integers(0, 9, 16), np.arange(32) > 29):  # fmt: skip
        own, bins = [float(one) for one in counts], len(counts)
        middle = [-1 + (2 * k + 1) / bins for k in range(bins)]
        centre = sum(c * m for c, m in zip(own, middle, strict=True)) / sum(own)
        ranked = sorted(range(bins), key=lambda k: abs(middle[k] - centre))
        reached = next(i for i in range(bins) if sum(own[k] for k in ranked[: i + 1]) >= 0.85 * sum(own))
        variance = sum(c * (m - centre) ** 2 for c, m in zip(own, middle, strict=True)) / sum(own)
        c = max(abs(middle[ranked[reached]] - centre) + 1 / bins, 1.44 * math.sqrt(variance))
        assert grove.centre_and_scale(np.array(own)) == near((centre, min(max(c, 2 / bins), 1.0)), 1e-9)
    ends = np.zeros(64)
    ends[[0, 63]] = 1.0
    assert grove.centre_and_scale(ends) == (0.0, 1.0)
    assert grove.centre_and_scale(np.zeros(64)) == (0.0, 1.0)
    assert grove.centre_and_scale(np.eye(64)[0] * 1e-3) == near((-63 / 64, 1 / 32))


def test_labels_are_in_the_run_of_bins_that_is_most_above_its_noise() -> None:
    rng = np.random.default_rng(6)
    for bins in (8, 16, 64):
        for _ in range(20):
            noisy = rng.integers(-4, 9, bins).astype(float)
            runs = [(low, top) for low in range(bins) for top in range(low, bins)]
            low, top = max(runs, key=lambda run: sum(noisy[run[0] : run[1] + 1] - 2.0))
            kept = [max(one, 0.0) if low <= k <= top else 0.0 for k, one in enumerate(noisy.tolist())]
            assert grove.in_one_piece(noisy, 2.0).tolist() == kept
    assert grove.in_one_piece(np.array([1.0, -3.0, 1.5, 1.0]), 2.0).tolist() == [0, 0, 1.5, 0]  # none is above
    assert grove.in_one_piece(np.array([5.0, 1.0, 4.0, -9.0, 4.0]), 2.0).tolist() == [5, 1, 4, 0, 0]


def test_a_run_of_bins_has_most_of_the_records() -> None:
    """By the strictest of three rules by which it has; by none if it never has."""
    noisy = np.array([1.0, 4.0, 9.0, 1.0, 3.0])
    runs = {1.0: [0, 4, 9, 0, 0], 0.5: [0, 4, 9, 1, 3], 0.0: [1, 4, 9, 1, 3]}
    for part, kept in runs.items():
        assert grove.in_one_piece(noisy, 2.5 * part).tolist() == kept
    for rows, part in ((15, 1.0), (16, 0.5), (20, 0.5), (21, 0.0), (34, 0.0)):
        assert grove.most_of(noisy, 2.5, rows).tolist() == runs[part]
    for rows in (35, 1000):  # 18 and twice 2.5 sqrt(5) are below 85% of these: nobody counted them
        assert grove.most_of(noisy, 2.5, rows).tolist() == runs[0.5]
    assert grove.most_of(noisy, 7.5, 15, 1 / 3).tolist() == runs[1.0]


def test_missing_values_are_parted_where_they_are_seen() -> None:
    """Above one deviation and sqrt(2 log M): by the low bound, which a fifth of the splits ask, and the first pass."""
    coarse, features, params = grids.uniform(REAL, 7), (0, 3), grove.Params(1.0, ADD)
    noisy = np.arange(float(coarse.bins[0] + coarse.bins[3]))
    assert grove.missing_values(coarse, features, noisy).tolist() == [0.0, float(coarse.bins[0])]
    sure = 2.0 * (1 + math.sqrt(2 * math.log(2)))
    found = grove.parting_missing(REAL, coarse, features, np.array([sure * 0.999, sure * 1.001]), 2.0)
    kind, own = REAL.features[3], coarse.thresholds[3].tolist()
    assert isinstance(kind, Numeric) and found.thresholds[3].tolist() == [kind.low, *own]
    assert all(found.thresholds[f] is one for f, one in enumerate(coarse.thresholds) if f != 3)
    parted = [grove.parts_missing(REAL, found, f) for f in range(len(REAL.features))]
    assert parted == [f == 3 for f in range(len(REAL.features))]
    asked = [grove.value_at(REAL, found, 3, k / 1000) for k in range(1000)]
    assert asked.count(kind.low) == 200 and [asked.count(one) for one in own] == pytest.approx(
        [800 / len(own)] * 7, abs=1
    )
    assert grove.value_at(REAL, found, 3, 1 - 2.0**-53) == own[-1]
    assert grove.value_at(REAL, coarse, 3, 0.0) == own[0]
    for rows, levels in ((100, 2), (10_000, 3)):
        few = replace(params, rows=rows)
        assert few.first_levels(REAL) == levels
        (tree,), (before,) = (grove.shapes_of(few, REAL, one, 3) for one in (found, coarse))
        leftmost = 2 ** (levels - 1) - 1
        changed = [k for k in range(len(tree)) if tree[k].tolist() != before[k].tolist()]
        assert changed == [leftmost] and tree[leftmost].tolist() == [3, kind.low]
    single = grove.parting_missing(
        REAL,
        replace(coarse, thresholds=(*coarse.thresholds[:3], np.array([]), *coarse.thresholds[4:])),
        (3,),
        np.full(1, 99.0),
        1.0,
    )
    assert single.thresholds[3].tolist() == [kind.low] and not grove.parts_missing(REAL, single, 3)


@pytest.mark.parametrize(("low", "high", "more"), [
    (0, 64, [2.0, 2.0**-4, 2.0**-9, 2.0**-14]),
    (-32, 32, [-2.0, -(2.0**-4), -(2.0**-9), -(2.0**-14), 2.0**-14, 2.0**-9, 2.0**-4, 2.0]),
    (10, 74, [12.0, 10 + 2.0**-4, 10 + 2.0**-9, 10 + 2.0**-14]),
    (-64, 0, [-2.0, -(2.0**-4), -(2.0**-9), -(2.0**-14)]),
    (2**26, 2**26 + 32, []),
    (-2, 62, [-2.0**-4, -2.0**-9, -2.0**-14, 2.0**-14, 2.0**-9, 2.0**-4]),
])  # fmt: skip
def test_coarse_bins_come_closer_to_0(low: float, high: float, more: list[float]) -> None:
    """Or to the bound next to it; never so near to another that the next histogram's bins would be one."""
    schema = Schema((Numeric("x", low, high), Categorical("c", ("a", "b"))), Interval(0, 1))
    even, found = grids.uniform(schema, 15), grove.coarse_cells(schema, (0,), closer=True)
    assert grove.coarse_cells(schema, (0,), closer=False).thresholds[0].tolist() == even.thresholds[0].tolist()
    own = found.thresholds[0].tolist()
    assert own == sorted(own) and set(even.thresholds[0].tolist()) <= set(own)
    beside = sorted(set(own) - set(even.thresholds[0].tolist()))
    assert [one for one in beside if one != 0] == sorted(more)
    assert found.thresholds[1].tolist() == even.thresholds[1].tolist()
    counts = np.zeros(int(found.bins[0]))
    for place in range(1, len(counts)):
        counts[place] = 1e6
        fine = grove.between(schema, found, (0,), counts, 1e-3).thresholds[0]
        assert len(fine) == 63 and (np.diff(fine) > 0).all()
        counts[place] = 0.0


def test_what_all_trees_leave_is_added_where_it_is_sure() -> None:
    assert grove.mean_left(np.array([6.01, 100.0]), 2.0, 0.5) == near(0.0601)
    assert grove.mean_left(np.array([-6.01, -100.0]), 2.0, 0.5) == near(-6.01 / 13)
    assert grove.mean_left(np.array([5.99, 100.0]), 2.0, 0.5) == 0.0


def test_labels_nearby_move_the_centre_and_narrow_c() -> None:
    """In units of the c before; where records are known to be a third of what bins have to be above."""
    counts = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 30.0, 30.0, 1.0])
    found = grove.nearby(0.25, 0.5, counts, 6.0, 60)
    assert found == (near(0.25 + 0.5 * 0.5), math.floor(0.5 * 0.25 / GRID) * GRID)
    wide = grove.nearby(0.25, 0.5, counts, 6.0, 72)  # the two beside are needed: less than 85% without
    assert wide[0] == near(0.25 + 0.5 * (0.125 + 30 * 0.375 + 30 * 0.625 + 0.875) / 62)


def test_centre_and_unit_are_those_of_counts_that_stand_out() -> None:
    """One and a half deviations of their noise, which are least times 1 / (mu root of the share)."""
    params = grove.Params(1.0, ADD, start_share=0.25, rows=20)
    least = 1.5 / (params.mu() * math.sqrt(0.15))  # three fifths are the first look's
    noisy = np.zeros(64)
    noisy[[3, 10, 12, 50]] = 2 * least, 5 * least, 2.5 * least, 3.5 * least  # 12: worth the bin between
    kept = np.where(np.isin(np.arange(64), (10, 12)), noisy, 0.0)
    centre, c = grove.centre_and_scale(kept)
    assert grove.centre_and_unit(params, REAL, noisy) == (centre, math.floor(c / GRID) * GRID)
    given, noisy = replace(params, residual=0.3), noisy * math.sqrt(0.15) / 0.5  # all of them: there is one look
    assert grove.centre_and_unit(given, REAL, noisy) == (near(centre), math.floor(0.3 / GRID) * GRID)
    assert grove.cut_to(params, 0.125) == replace(params, residual=0.125)
