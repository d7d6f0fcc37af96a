"""DP-XGBoost's claims: breaking a proof or a formula must show."""

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
from refdp.papers import dpxgboost_formulas as paper

MODULES = [m.name for m in pkgutil.iter_modules(proofs.__path__) if m.name.startswith("dpxgboost")]
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
    "eq-5-replace-one": lambda B: paper.gain_sensitivity(B, Relation.REPLACE_ONE),
    "leaf-sensitivity-published-replace-one": lambda lam, B: paper.leaf_sensitivity(B, lam, Relation.REPLACE_ONE),
    "sketch-replace-one": lambda e: paper.sketch_sensitivity(1, Relation.REPLACE_ONE) * e,
    "exponential-section-2": lambda t: t * t,
    "gradient-bound-later": lambda: 2,
    "eq-7-replace-one": lambda N, lam: 2 / (N + lam),
}


@pytest.mark.parametrize("name", EXCHANGED)
def test_a_refuted_constant_replaced_by_the_repair_is_proved(name: str) -> None:
    evidence = MINE[name].evidence[0]
    assert verdict(MINE[name]) == "REFUTED"
    assert isinstance(evidence, Counterexample) and isinstance(evidence.statement, AtMost)
    repaired = Proved(replace(evidence.statement, bound=EXCHANGED[name]))
    assert verdict(replace(MINE[name], evidence=(repaired,))) == "PROVED"


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
    ("budget", "level_epsilon", lambda e, h: e / 3),
    ("subsampling-poisson", "amplified_odds", lambda t, q: 1 + q * q * (t - 1)),
    ("clip-ratio", "clip_ratio", lambda g, h, b: g),
    ("sketch-weights", "sketch_sensitivity", lambda top, relation: top / 2),
    ("median-range", "median_range", lambda top, relation: top / 2),
    ("median-range-replace-one", "median_range", lambda top, relation: top),
    ("noisy-newton-ratio", "noisy_newton_sensitivity", lambda b, top, w, relation: b + top),
    ("noisy-newton-ratio-replace-one", "noisy_newton_sensitivity", lambda b, top, w, relation: b + w * top),
    ("child-counts-replace-one", "child_count_sensitivity", lambda relation: 1),
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
    sums, counts = np.array([0.0, -3.0, 2.5]), np.array([0.0, 3.0, 40.0])
    gains, leaves = paper.child_gain(sums, counts, 0.125), paper.padded_leaf_value(sums, counts, 10, 0.125)
    for k in range(3):
        total, count, eighth = Fraction(sums[k]), Fraction(counts[k]), Fraction(1, 8)
        assert gains[k] == pytest.approx(float(paper.child_gain(total, count, eighth)), rel=1e-15)
        assert leaves[k] == pytest.approx(float(paper.padded_leaf_value(total, count, 10, eighth)), rel=1e-15)
    assert paper.clip_ratio(np.array([-1.0, 0.1]), np.array([0.25, 0.25]), 2.0).tolist() == [-0.5, 0.1]
