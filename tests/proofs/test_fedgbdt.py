"""The federated framework's claims: breaking a proof or a formula must show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from proofs.checker.evidence import Proved
from proofs.checker.proposition import derive
from proofs.checker.statements import AtMost, prove, reals
from proofs.checker.tightness import lowered
from proofs.fedgbdt.counted import counted_moved_labels, labels
from proofs.fedgbdt.definitions import QUARTERS, hockey_stick, tail
from proofs.fedgbdt.queries import walk
from proofs.tool.ledger import check, propositions
from refdp.data import candidates, losses
from refdp.data.candidates import iterative_hessian
from refdp.data.numbers import minimum
from refdp.ledger.claims import Claim
from refdp.ledger.fingerprint import current, fingerprint, name_of
from refdp.papers import fedgbdt as paper
from refdp.papers.fedgbdt import Splits
from refdp.papers.published import fedgbdt as printed
from refdp.privacy.events import Relation
from tests.proofs.harness import repaired, stated, verdict, verdict_with

MINE = stated("fedgbdt")


@pytest.mark.parametrize(
    "name",
    [
        "newton-sensitivity-joint",
        "newton-sensitivity-by-round",
        "averaging-sensitivity",
        "gradient-sensitivity",
        "hessian-histogram-sensitivity",
        "weight-clip-repaired",
    ],
)
def test_the_prover_itself_refuses_the_lower_bound(name: str) -> None:
    evidence = MINE[name].evidence[0]
    assert isinstance(evidence, Proved) and isinstance(evidence.statement, AtMost)
    assert prove(evidence.statement).solvers == ("z3", "cvc5")
    assert prove(lowered(evidence.statement)).solvers == ()


def refuted_statements() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Refuted claims whose constant can be exchanged for that of the repair."""
    yield (
        "averaging-sensitivity-replace-one",
        lambda: Fraction(paper.averaging_squared_sensitivity(Relation.REPLACE_ONE)),
    )
    yield "weight-clip", lambda w, b, e: e * (w if w > b else b)


@pytest.mark.parametrize(("name", "bound"), list(refuted_statements()), ids=[n for n, _ in refuted_statements()])
def test_a_refuted_constant_replaced_by_a_valid_one_is_proved(name: str, bound: Callable[..., Any]) -> None:
    assert verdict(repaired(MINE[name], bound)) == "PROVED"


def test_every_refuted_claim_names_a_repair_that_is_not_itself_refuted() -> None:
    refuted = [p for p in MINE.values() if p.repaired_by]
    assert len(refuted) >= 15
    for proposition in refuted:
        assert not propositions()[str(proposition.repaired_by)].repaired_by


def test_the_published_sensitivity_is_valid_under_add_remove_only() -> None:
    assert verdict(MINE["newton-sensitivity"]) == "PROVED"
    assert verdict(MINE["newton-sensitivity-replace-one"]) == "REFUTED"
    moved = AtMost(reals("y z"), counted_moved_labels, lambda: Fraction(2), labels)
    assert prove(moved).witness is not None


AR, RO = Relation.ADD_REMOVE, Relation.REPLACE_ONE
MUTANTS: dict[str, tuple[str, Callable[..., Any]]] = {
    "leaf weight with the wrong sign": ("leaf_weight eq-4", lambda g, h, r: g / (h + r)),
    "lambda forgotten": ("leaf_weight eq-3-unit-hessian", lambda g, h, r: -g / h),
    "split score without its half": (
        "split_score eq-5",
        lambda g, h, m, k, r, c: (
            printed.leaf_score(g, h, r) + printed.leaf_score(m, k, r) - printed.leaf_score(g + m, h + k, r) - c
        ),
    ),
    "update clipped from one side": (
        "update weight-clip-repaired",
        lambda w, b, e: e * minimum(w, b),
    ),
    "negative Hessian sum used": ("released_leaf_weight eq-4-released", lambda g, h, r: -g / (h + r)),
    "replace-one forgotten": (
        "newton_squared_sensitivity newton-sensitivity-joint-replace-one",
        lambda relation, b=1: b * b,
    ),
    "Hessian forgotten": ("newton_squared_sensitivity newton-sensitivity-by-round", lambda relation, b=1: b * b),
    "count forgotten": ("gradient_squared_sensitivity gradient-sensitivity-clipped", lambda relation, b=1: b * b),
    "averaging of one leaf": (
        "averaging_squared_sensitivity averaging-sensitivity-vector-replace-one",
        lambda relation: 2,
    ),
    "Hessian noise halved": (
        "hessian_squared_sensitivity hessian-histogram-sensitivity",
        lambda relation: Fraction(1, 64),
    ),
    "batch summed, not averaged": (
        "batched_score batched-update-repaired",
        lambda score, updates: score + 2 * sum(updates, 0 * score),
    ),
    "candidates on the bounds": (
        "inner_uniform_candidate uniform-candidates-inner",
        lambda q, count, low, high: low + q * (high - low) / count,
    ),
    "levels not counted": (
        "split_queries table-1-hist",
        lambda splits, trees, chosen, depth: trees * chosen,
    ),
    "leaf sums free": ("weight_queries table-1-totally-random", lambda splits, trees: 0 * trees),
    "Hessian histograms free": (
        "candidate_queries table-1-ih",
        lambda splits, rounds, chosen: 0 * rounds,
    ),
    "candidate queries not charged": (
        "total_renyi theorem-4-1",
        lambda s, w, c, st, wt, ct: s * st + w * wt,
    ),
}


@pytest.mark.parametrize(("where", "mutant"), list(MUTANTS.values()), ids=list(MUTANTS))
def test_a_changed_formula_is_not_proved(where: str, mutant: Callable[..., Any]) -> None:
    function, name = where.split()
    home = next(module for module in (paper, printed, candidates) if is_of(function, module))
    assert verdict_with(MINE[name], home, function, mutant) in ("REFUTED", "OPEN")


def is_of(function: str, module: ModuleType) -> bool:
    """Whether a function of that name is written in the module."""
    return getattr(getattr(module, function, None), "__module__", "") == module.__name__


@pytest.mark.parametrize(
    ("function", "mutant", "name"),
    [
        ("log_gradient", lambda score, label: losses.sigmoid(score) + label, "gradient-bound"),
        ("log_hessian", lambda score, label: losses.sigmoid(score), "hessian-bound"),
        ("log_gradient", lambda score, label: losses.sigmoid(-score) - label, "loss-derivatives"),
    ],
    ids=["label added", "Hessian without 1 - p", "wrong sign of the score"],
)
def test_a_changed_loss_is_not_proved(
    function: str, mutant: Callable[..., Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(losses, function, mutant)
    proposition = MINE[name]
    if name == "loss-derivatives":
        left = proposition.evidence[0]
        broken = replace(left, right=lambda r, y: mutant(r, y))  # type: ignore[type-var]
        proposition = replace(proposition, evidence=(broken,))
    assert verdict(proposition) in ("REFUTED", "OPEN")


def halved_update(weight: Any, clip: Any, shrinkage: Any) -> Any:
    """A changed formula."""
    return shrinkage * weight / 2


def test_a_changed_formula_reopens_its_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    proposition = MINE["weight-clip-repaired"]
    claim: Claim = derive(replace(proposition, uses=()), check(proposition), {})
    name = name_of(paper.update)
    assert current(name) == claim.about[name]
    monkeypatch.setattr(paper, "update", halved_update)
    fingerprint.cache_clear()
    try:
        assert current(name) != claim.about[name]
    finally:
        monkeypatch.undo()
        fingerprint.cache_clear()
    assert current(name) == claim.about[name]


def test_post_processing_check_sees_a_refinement_that_looks_at_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def peeking(edges: Any, hessians: Any, count: int) -> Any:
        return sorted(MINE)[:count]

    monkeypatch.setattr(candidates, "iterative_hessian", peeking)
    assert verdict(MINE["iterative-hessian"]) == "REFUTED"


def test_sensitivities_bound_float_gradients_of_the_training_loss() -> None:
    scores, labels_ = np.linspace(-40, 40, 20001), np.array([[0.0], [1.0]])
    g, h = losses.log_gradient(scores, labels_), losses.log_hessian(scores, labels_)
    norms = paper.squared_norm(g, h)
    assert 0.999 < norms.max() <= 1.0 == paper.newton_squared_sensitivity(AR)
    saturated = np.log(2.0**24 * np.linspace(0.1, 40, 20001))
    rounded = [losses.on_grid(f(saturated, 0.0)) for f in (losses.log_gradient, losses.log_hessian)]
    assert paper.squared_norm(*rounded).max() == 1.0  # fedgbdt/rounding
    early = np.abs(scores) <= 3 * 0.3 * 2
    bound = paper.gradient_bound_after(3, 2.0, 0.3)
    assert norms[:, early].max() <= paper.newton_squared_sensitivity(AR, bound) < 1
    assert paper.newton_squared_sensitivity(RO) == 4 == paper.gradient_squared_sensitivity(RO)


def test_formulas_run_on_arrays() -> None:
    weights = np.array([-9.0, -1.0, 0.5, 7.0])
    assert paper.update(weights, 2.0, 0.5).tolist() == [-1.0, -0.5, 0.25, 1.0]
    assert printed.batched_score(np.zeros(4), [weights, -weights]).tolist() == [0.0] * 4
    assert paper.clip_gradient(weights, 1.0).tolist() == [-1.0, -1.0, 0.5, 1.0]


def test_iterative_hessian_merges_empty_bins_and_halves_heavy_ones() -> None:
    edges = [Fraction(v) for v in range(9)]
    found = iterative_hessian(edges, [Fraction(v) for v in (80, 20, 0, 0, 0, 0, 0, 0)], 4)
    assert found == [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), 1]  # one half, one kept edge, both gaps below cut
    nothing = iterative_hessian(edges, [Fraction(-1)] * 8, 3)
    assert nothing == [2, 4, 6]


def test_counts_equal_the_loops_of_algorithm_1() -> None:
    for splits in (Splits.HISTOGRAM, Splits.TOTALLY_RANDOM):
        assert (paper.split_queries(splits, 7, 3, 4), paper.weight_queries(splits, 7)) == walk(splits, 7, 3, 4)
    assert paper.split_queries(Splits.HISTOGRAM, 25, 14, 4) == 25 * 14 * 4
    assert paper.split_queries(Splits.HISTOGRAM, 25, 1, 4) == 25


def test_probabilistic_and_approximate_privacy_differ_where_the_ledger_says() -> None:
    assert hockey_stick(*QUARTERS, Fraction(2)) == Fraction(1, 4)
    assert tail(*QUARTERS, Fraction(2)) == Fraction(3, 4)
