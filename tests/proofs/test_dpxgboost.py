"""DP-XGBoost's claims: breaking a proof or a formula must show."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.papers import dpxgboost as paper
from refdp.papers.published import dpxgboost as printed
from refdp.privacy.events import Relation
from tests.proofs.harness import repaired, stated, verdict, verdict_with

MINE = stated("dpxgboost")

EXCHANGED: dict[str, Callable[..., Any]] = {
    "eq-5-replace-one": lambda B: printed.gain_sensitivity(B, Relation.REPLACE_ONE),
    "leaf-sensitivity-published-replace-one": lambda lam, B: paper.leaf_sensitivity(B, lam, Relation.REPLACE_ONE),
    "sketch-replace-one": lambda e: paper.sketch_sensitivity(1, Relation.REPLACE_ONE) * e,
    "exponential-section-2": lambda t: t * t,
    "eq-7-replace-one": lambda N, lam: 2 / (N + lam),
}


@pytest.mark.parametrize("name", EXCHANGED)
def test_a_refuted_constant_replaced_by_the_repair_is_proved(name: str) -> None:
    assert verdict(repaired(MINE[name], EXCHANGED[name])) == "PROVED"


MUTANTS: list[tuple[str, str, Callable[..., Any]]] = [
    ("eq-2", "square_gradient", lambda score, label: label - score),
    ("eq-3", "leaf_value", lambda g, h, lam: g / (h + lam)),
    ("eq-4", "leaf_value", lambda g, h, lam: -g / (h + lam + 1)),
    ("eq-5", "child_gain", lambda g, h, lam: 2 * g * g / (h + lam)),
    ("eq-5", "gain_sensitivity_as_published", lambda bound: Fraction(29, 10) * bound * bound),
    ("gain-range", "gain_range", lambda bound, relation: 3 * bound * bound),
    ("split-selection-repaired", "split_exponent", lambda u, e, s: e * u / s),
    ("racing-sampler", "racing_key", lambda log_weight, uniform: -log_weight - uniform),
    ("leaf-sensitivity", "leaf_change_as_published", lambda b, n, lam: 2 * b / (n + 1 + lam)),
    ("leaf-sensitivity-replace-one", "leaf_sensitivity", lambda b, lam, relation: b / (1 + lam)),
    ("noisy-ratio", "noisy_ratio_sensitivity", lambda b, w, relation: b),
    ("sketch", "sketch_scale_as_published", lambda e, m: 1 / e),
    ("budget", "tree_budget", lambda e, parts, levels: paper.TreeBudget(e / 2, (e / 4,), (), e / 3)),
    ("subsampling-poisson", "sampled_excess", lambda x, q: q * q * x),
    ("subsampling-calibration", "unsampled_excess", lambda x, q: x / q / q),
    ("clip-ratio", "clip_ratio", lambda g, h, b: g),
    ("sketch-weights", "sketch_sensitivity", lambda top, relation: top / 2),
    ("median-range", "median_range", lambda top, relation: top / 2),
    ("median-range-replace-one", "median_range", lambda top, relation: top),
    ("noisy-newton-ratio", "noisy_newton_sensitivity", lambda b, top, w, relation: b + top),
    ("noisy-newton-ratio-replace-one", "noisy_newton_sensitivity", lambda b, top, w, relation: b + w * top),
    ("child-counts-replace-one", "child_count_sensitivity", lambda relation: 1),
]


@pytest.mark.parametrize(("name", "function", "mutant"), MUTANTS, ids=[f"{n}:{f}" for n, f, _ in MUTANTS])
def test_a_broken_formula_loses_its_proof(name: str, function: str, mutant: Callable[..., Any]) -> None:
    assert verdict_with(MINE[name], paper, function, mutant) in ("REFUTED", "OPEN")


def test_a_formula_exchanged_for_itself_keeps_its_proof() -> None:
    assert verdict_with(MINE["clip-ratio"], paper, "clip_ratio", paper.clip_ratio) == "PROVED"


def test_formulas_give_on_arrays_what_they_give_on_fractions() -> None:
    sums, counts = np.array([0.0, -3.0, 2.5]), np.array([0.0, 3.0, 40.0])
    gains, leaves = paper.child_gain(sums, counts, 0.125), paper.padded_leaf_value(sums, counts, 10, 0.125)
    for k in range(3):
        total, count, eighth = Fraction(sums[k]), Fraction(counts[k]), Fraction(1, 8)
        assert gains[k] == pytest.approx(float(paper.child_gain(total, count, eighth)), rel=1e-15)
        assert leaves[k] == pytest.approx(float(paper.padded_leaf_value(total, count, 10, eighth)), rel=1e-15)
    assert paper.clip_ratio(np.array([-1.0, 0.1]), np.array([0.25, 0.25]), 2.0).tolist() == [-0.5, 0.1]
