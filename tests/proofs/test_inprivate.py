"""InPrivate Digging's claims: breaking a proof or a formula must show."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.data.numbers import absolute, exp, log
from refdp.papers import inprivate as paper
from refdp.papers.published import inprivate as printed
from refdp.privacy.events import Relation
from refdp.protocols import quality, schedules
from tests.proofs.harness import repaired, stated, verdict, verdict_with

MINE = stated("inprivate")
WRITTEN = (paper, printed, quality, schedules)
"""Where the formulas stand."""

EXCHANGED: dict[str, Callable[..., Any]] = {
    "leaf-sum-sensitivity": lambda: 2,
    "leaf-sum-sensitivity-replace-one": lambda: 2,
    "leaf-hessian-sensitivity-replace-one": lambda: 2,
    "residual-bound-regression": lambda: 2,
    "eq-11": lambda e: paper.classification_leaf_sensitivity(Relation.ADD_REMOVE) / 2 * e,
    "eq-15-replace-one": lambda e: paper.regression_leaf_sensitivity(1, Relation.REPLACE_ONE) * e / 2,
}


@pytest.mark.parametrize("name", EXCHANGED)
def test_a_refuted_constant_replaced_by_the_repair_is_proved(name: str) -> None:
    assert verdict(repaired(MINE[name], EXCHANGED[name])) == "PROVED"


MUTANTS: list[tuple[str, str, Callable[..., Any]]] = [
    ("eq-6", "residual", lambda label, score: 2 * label / (1 + exp(label * score))),
    ("eq-8", "curvature", lambda r: r * (2 - r)),
    ("eq-9", "probability", lambda score: 1 / (1 + exp(-score))),
    ("eq-13", "square_residual", lambda label, score: score - label),
    ("eq-14", "mean_residual", lambda total, n: total / (n + 1)),
    ("residual-bound-repaired", "residual_at_odds", lambda label, odds: 3 * label / (1 + odds)),
    ("residual-bound-clipped", "clip", lambda r, bound: r),
    ("gain", "nonempty_score", lambda total, n: total * total / (n + 1)),
    ("gain-range", "gain_range", lambda bound, relation: 3 * bound * bound),
    ("eq-10-repaired", "split_exponent", lambda g, e, s: e * g / s),
    ("leaf-hessian-sensitivity", "curvature", lambda r: 2 * absolute(r) - r),
    ("leaf-joint-sensitivity", "classification_leaf_sensitivity", lambda relation: 2),
    ("leaf-regression-sensitivity", "regression_leaf_sensitivity", lambda bound, relation: bound),
    ("eq-11-first-tree", "leaf_scale_as_published", lambda e: 1 / e),
    ("budget", "level_epsilon", lambda e, d: e),
    ("mean-absolute-error", "error_sensitivity", lambda bound, n, relation: bound / (n + 2)),
    ("advance-sum", "advance_sensitivity", lambda bound, relation: bound / 2),
    ("advance-sum", "error_change", lambda before, after, tolerance, bound: before - after - tolerance),
    ("control-margin", "margin", lambda scale, beta: scale * log(1 / beta)),
    ("eq-18", "baseline_time", lambda n, c1, c2: n * c1 + n * c2),
    ("eq-19", "broadcast_time", lambda n, c1, c2: n * c1 + n * c2),
]


@pytest.mark.parametrize(("name", "function", "mutant"), MUTANTS, ids=[f"{n}:{f}" for n, f, _ in MUTANTS])
def test_a_broken_formula_loses_its_proof(name: str, function: str, mutant: Callable[..., Any]) -> None:
    [place] = [module for module in WRITTEN if getattr(vars(module).get(function), "__module__", "") == module.__name__]
    assert verdict_with(MINE[name], place, function, mutant) in ("REFUTED", "OPEN")


def test_formulas_give_on_arrays_what_they_give_on_fractions() -> None:
    sums, counts = np.array([[0.0, -3.0, 2.5], [1.0, 3.0, -0.5]]), np.array([[0.0, 3.0, 4.0], [2.0, 3.0, 1.0]])
    on_arrays = paper.gain(sums[0], counts[0], sums[1], counts[1])
    for k in range(3):
        exact = paper.gain(*(Fraction(v[k]) for v in (sums[0], counts[0], sums[1], counts[1])))
        assert on_arrays[k] == pytest.approx(float(exact), rel=1e-15)
    residuals = np.array([-2.0, -1.5, 0.0, 1.0, 3.0])
    assert paper.curvature(paper.clip(residuals, 2.0)).tolist() == [0.0, 0.75, 0.0, 1.0, 0.0]
