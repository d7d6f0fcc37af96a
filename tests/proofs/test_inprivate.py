"""InPrivate Digging's claims: breaking a proof or a formula must show."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import proofs
from proofs.evidence import Counterexample, Proved
from proofs.ledger import check
from proofs.proposition import REPLACE_ONE, Proposition, derive
from proofs.statements import AtMost, ForAll, prove
from proofs.tightness import lowered
from refdp.events import Relation
from refdp.generic import absolute, exp, log
from refdp.papers import inprivate_formulas as paper

MODULES = [m.name for m in pkgutil.iter_modules(proofs.__path__) if m.name.startswith("inprivate")]
MINE: dict[str, Proposition] = {
    p.id.partition("/")[2]: p for name in MODULES for p in importlib.import_module(f"proofs.{name}").PROPOSITIONS
}
PROVED = [
    pytest.param(p, evidence, id=f"{name}#{position}")
    for name, p in MINE.items()
    for position, evidence in enumerate(p.evidence)
    if isinstance(evidence, Proved)
]
TIGHT = [row for row in PROVED if row.values[1].tight is not None]  # type: ignore[union-attr]


def verdict(proposition: Proposition) -> str:
    """The verdict that its own evidence allows, premises taken as proved."""
    alone = replace(proposition, uses=(), restates=None, about=())
    return derive(alone, check(alone), {}).verdict


@pytest.mark.parametrize(("proposition", "evidence"), TIGHT)
def test_a_tight_bound_one_part_in_a_thousand_lower_is_refuted(proposition: Proposition, evidence: Proved) -> None:
    assert isinstance(evidence.statement, AtMost) and evidence.tight is not None
    broken = replace(proposition, evidence=(Counterexample(lowered(evidence.statement), evidence.tight.near),))
    assert verdict(broken) == "REFUTED"


@pytest.mark.parametrize(("proposition", "evidence"), PROVED)
def test_no_statement_is_proved_for_want_of_cases(proposition: Proposition, evidence: Proved) -> None:
    impossible = ForAll(evidence.statement.variables, lambda: False, evidence.statement.given)
    assert prove(impossible).solvers == ()


def test_enough_bounds_are_tight() -> None:
    assert len(TIGHT) >= 18


def test_ids_say_the_relation() -> None:
    for name, proposition in MINE.items():
        assert name.endswith("-replace-one") == (proposition.relation == REPLACE_ONE)


EXCHANGED: dict[str, Callable[..., Any]] = {
    "leaf-sum-sensitivity": lambda: 2,
    "leaf-sum-sensitivity-replace-one": lambda: 2,
    "leaf-hessian-sensitivity-replace-one": lambda: 2,
    "residual-bound-regression": lambda: 2,
    "eq-11": lambda e: paper.classification_leaf_sensitivity(Relation.ADD_REMOVE) / 2 * e,
    "eq-15-replace-one": lambda e: paper.regression_leaf_sensitivity(1, Relation.REPLACE_ONE) * e / 2,
    "definition-6-replace-one": lambda e: 2 * e,
}


@pytest.mark.parametrize("name", EXCHANGED)
def test_a_refuted_constant_replaced_by_the_repair_is_proved(name: str) -> None:
    evidence = MINE[name].evidence[0]
    assert verdict(MINE[name]) == "REFUTED"
    assert isinstance(evidence, Counterexample) and isinstance(evidence.statement, AtMost)
    repaired = Proved(replace(evidence.statement, bound=EXCHANGED[name]))
    assert verdict(replace(MINE[name], evidence=(repaired,))) == "PROVED"


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
def test_a_broken_formula_loses_its_proof(
    name: str, function: str, mutant: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert verdict(MINE[name]) == "PROVED"
    assert function in {f.__name__ for f in MINE[name].about}
    monkeypatch.setattr(paper, function, mutant)
    assert verdict(MINE[name]) != "PROVED"


def test_formulas_give_on_arrays_what_they_give_on_fractions() -> None:
    sums, counts = np.array([[0.0, -3.0, 2.5], [1.0, 3.0, -0.5]]), np.array([[0.0, 3.0, 4.0], [2.0, 3.0, 1.0]])
    on_arrays = paper.gain(sums[0], counts[0], sums[1], counts[1])
    for k in range(3):
        exact = paper.gain(*(Fraction(v[k]) for v in (sums[0], counts[0], sums[1], counts[1])))
        assert on_arrays[k] == pytest.approx(float(exact), rel=1e-15)
    residuals = np.array([-2.0, -1.5, 0.0, 1.0, 3.0])
    assert paper.curvature(paper.clip(residuals, 2.0)).tolist() == [0.0, 0.75, 0.0, 1.0, 0.0]
