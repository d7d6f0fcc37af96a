"""Break the proofs of all papers, and formulas of the first ones: the verdict has to change.

Formulas of the other papers are broken in their own tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from proofs.checker.evidence import Counterexample, Proved, Reached
from proofs.checker.proposition import REPLACE_ONE, Proposition, derive
from proofs.checker.statements import AtMost, ForAll, call, prove
from proofs.checker.tightness import Tight, lowered
from proofs.tool.ledger import propositions
from refdp.data import losses
from refdp.ledger import claims
from refdp.ledger.fingerprint import fingerprint
from refdp.papers import dpboost
from refdp.papers import sgbdt as sgbdt_formulas
from refdp.privacy.events import Relation
from tests.proofs.harness import stated

ALL = propositions()
MINE = {name: p for name, p in ALL.items() if p.paper in ("dpboost", "sgbdt", "composition")}
TIGHT = [
    (f"{name}#{number}", evidence.statement, evidence.tight)
    for name, p in ALL.items()
    for number, evidence in enumerate(p.evidence)
    if isinstance(evidence, Proved | Reached) and evidence.tight is not None
]
PROVED = [
    (f"{name}#{number}", evidence.statement)
    for name, p in ALL.items()
    for number, evidence in enumerate(p.evidence)
    if isinstance(evidence, Proved)
]
REFUTED = [
    (name, evidence)
    for name, p in MINE.items()
    for evidence in p.evidence
    if isinstance(evidence, Counterexample) and isinstance(evidence.statement, AtMost)
]


def test_there_is_something_to_break() -> None:
    tight = Counter(name.partition("/")[0] for name, _, _ in TIGHT)
    assert {paper for paper, number in tight.items() if number >= 18} >= {"dpxgboost", "inprivate", "fedgbdt"}
    assert sum(tight[paper] for paper in ("dpboost", "sgbdt", "composition")) >= 28 and len(REFUTED) >= 8


@pytest.mark.parametrize(("statement", "tight"), [row[1:] for row in TIGHT], ids=[row[0] for row in TIGHT])
def test_a_tight_bound_one_part_in_a_thousand_lower_is_refuted(statement: AtMost, tight: Tight) -> None:
    outcome = Counterexample(lowered(statement), tight.near).check()
    assert outcome.result == "fails"
    assert derive(Proposition("a/b", "", ""), [outcome], {}).verdict == "REFUTED"


@pytest.mark.parametrize("statement", [row[1] for row in PROVED], ids=[row[0] for row in PROVED])
def test_no_statement_is_proved_for_want_of_cases(statement: AtMost | ForAll) -> None:
    impossible = ForAll(statement.variables, lambda: False, statement.given)
    assert prove(impossible).solvers == ()


@pytest.mark.parametrize("paper", ["dpboost", "dpxgboost", "inprivate"])
def test_ids_say_the_relation(paper: str) -> None:
    for name, proposition in stated(paper).items():
        assert name.endswith("-replace-one") == (proposition.relation == REPLACE_ONE)


@pytest.mark.parametrize(("name", "evidence"), REFUTED, ids=[row[0] for row in REFUTED])
def test_a_refuted_constant_replaced_by_its_repair_is_not_refuted_there(name: str, evidence: Counterexample) -> None:
    """The repair's bound, in the same inequality, at the same witness; and the repair stands in the ledger."""
    repair = MINE[name].repaired_by
    assert repair is not None
    assert claims.verdict(repair) in ("PROVED", "ARGUED", "CONDITIONAL")
    for bound in repaired_bounds(name, evidence):
        assert Counterexample(replace(evidence.statement, bound=bound), evidence.at).check().result == "unknown"


def repaired_bounds(name: str, evidence: Counterexample) -> Iterator[Callable[..., Any]]:
    """Bounds of the repairing claim that are functions of the refuted statement's variables."""
    for sibling in MINE[MINE[name].repaired_by or ""].evidence:
        if isinstance(sibling, Proved | Reached) and isinstance(sibling.statement, AtMost):
            try:
                call(sibling.statement.bound, {key: Fraction(value) for key, value in evidence.at.items()})
            except KeyError:
                continue
            yield sibling.statement.bound


PUBLISHED = {
    "dpboost/lemma-1": lambda lam: -dpboost.gain_change_lower(1) + 0 * lam,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_refuted_inequality_with_its_repaired_constant_is_proved(name: str) -> None:
    evidence = next(e for e in MINE[name].evidence if isinstance(e, Counterexample))
    assert isinstance(evidence.statement, AtMost)
    assert evidence.check().result == "fails"
    assert prove(replace(evidence.statement, bound=PUBLISHED[name])).agreed


# --- break the code ---------------------------------------------------------------------------------------------------


@pytest.fixture
def fresh() -> Iterator[None]:
    """Verdicts and fingerprints computed anew, before and after."""
    clear()
    yield
    clear()


def clear() -> None:
    claims.everything.cache_clear()
    fingerprint.cache_clear()


def wrong_child_gain(gradient_sum: Any, count: Any, regularisation: Any) -> Any:
    return gradient_sum * gradient_sum / (count + 2 * regularisation)


def wrong_record_cost(
    gradient: Any, hessian: Any, gradient_bound: Any, hessian_bound: Any, r1: Any, sigma_squared: Any
) -> Any:
    return (r1 * hessian * hessian + (1 - r1) * gradient * gradient) / sigma_squared


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("module", "name", "mutant", "reopened"),
    [
        (
            *(dpboost, "child_gain", wrong_child_gain),
            ["dpboost/lemma-1", "dpboost/gain-range-add-remove", "dpboost/theorem-7-repaired-add-remove"],
        ),
        (*(sgbdt_formulas, "record_cost", wrong_record_cost), ["sgbdt/individual", "sgbdt/guarantee"]),
    ],
    ids=["child_gain", "record_cost"],
)
def test_a_changed_formula_reopens_its_claims(
    module: Any, name: str, mutant: Callable[..., Any], reopened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {one: claims.verdict(one) for one in reopened}
    assert set(before.values()) <= {"PROVED", "ARGUED", "REFUTED"}
    monkeypatch.setattr(module, name, mutant)
    clear()
    assert [claims.verdict(one) for one in reopened] == ["OPEN"] * len(reopened)
    assert claims.verdict("dpboost/theorem-6") == "REFUTED"
    assert "changed since it was checked" in (claims.get(reopened[0]).reason or "")


@pytest.mark.usefixtures("fresh")
def test_a_changed_loss_reopens_through_its_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    """log_gradient calls sigmoid: the callee counts."""

    def sigmoid(score: Any) -> Any:
        return 1 / (1 + losses.exp(-2 * score))

    assert claims.verdict("dpboost/gradient-bound-log-loss") == "PROVED"
    monkeypatch.setattr(losses, "sigmoid", sigmoid)
    clear()
    assert claims.verdict("dpboost/gradient-bound-log-loss") == "OPEN"


def test_a_wrong_formula_is_refuted_when_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not only is the claim reopened: the checker refutes the wrong formula."""
    monkeypatch.setattr(dpboost, "gain_change_lower", lambda bound: -2 * bound * bound)
    outcome = MINE["dpboost/gain-change-lower"].evidence[0].check()
    assert outcome.result == "fails"


def test_a_wrong_sensitivity_in_the_code_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def halved(bound: Any, regularisation: Any, clip: Any, relation: Relation) -> Any:
        return bound / (1 + regularisation) / 2 + 0 * clip

    monkeypatch.setattr(dpboost, "leaf_sensitivity", halved)
    evidence = MINE["dpboost/leaf-clipped-add-remove"].evidence[0]
    assert isinstance(evidence, Proved) and evidence.check().result == "fails"
