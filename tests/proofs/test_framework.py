"""The checker: what it accepts, what it refuses, and that a mistake in a statement or a formula shows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs.checker import solvers
from proofs.checker.enclosures import ARITHMETICS, Enclosed, enclose, working_precision
from proofs.checker.evidence import (
    Bounded,
    BoundedCounterexample,
    Counterexample,
    Exhibit,
    Finite,
    Follows,
    Identity,
    Outcome,
    Proved,
    SmallScope,
)
from proofs.checker.proposition import Proposition, derive
from proofs.checker.solvers import Polynomial, Reply
from proofs.checker.statements import AtMost, Count, ForAll, Real, both, fails_at, is_inhabited, prove
from proofs.checker.terms import Condition, Term, paths, variables
from proofs.checker.tightness import Tight, is_tight, lowered
from refdp.data.numbers import exp, log, maximum, minimum
from refdp.ledger.claims import Condition as Premise
from refdp.papers.dpboost import leaf_value

HALF = Fraction(1, 2)
RATIONALS = st.fractions(min_value=-5, max_value=5, max_denominator=7)


# --- terms ------------------------------------------------------------------------------------------------------------


def evaluate(term: Term, **values: Fraction) -> Fraction:
    """The value of a term at rational values, from its stored polynomials."""

    def polynomial(element: Any) -> Fraction:
        names = [str(symbol) for symbol in element.ring.symbols]
        total = Fraction(0)
        for powers, coefficient in element.terms():
            product = Fraction(int(coefficient.numerator), int(coefficient.denominator))
            for name, power in zip(names, powers, strict=True):
                product *= values[name] ** power
            total += product
        return total

    bottom = Fraction(1)
    for factor, times in term.factors.items():
        bottom *= polynomial(factor) ** times
    return polynomial(term.numerator) / bottom


@given(x=RATIONALS, y=RATIONALS, c=RATIONALS)
@settings(max_examples=50, deadline=None)
def test_terms_compute_as_fractions_do(x: Fraction, y: Fraction, c: Fraction) -> None:
    def formula(a: Any, b: Any) -> Any:
        return (a * b - c) / (a * a + 1) + (b - 2 * a) ** 3 / (b * b + 2) - 3 / (a * a + 1)

    terms = variables(["x", "y"])
    (_, result), *rest = paths(lambda: formula(terms["x"], terms["y"]))
    assert not rest
    assert evaluate(result, x=x, y=y) == formula(x, y)


@given(x=RATIONALS, y=RATIONALS)
@settings(max_examples=50, deadline=None)
def test_exactly_one_path_holds_at_every_point(x: Fraction, y: Fraction) -> None:
    def code(a: Any, b: Any) -> Any:
        return max(abs(a), b) if a < 2 * b else minimum(maximum(a, -1), 1)

    def holds(condition: Condition) -> bool:
        value = evaluate(condition.term, x=x, y=y)
        return {"<": value < 0, "<=": value <= 0, "==": value == 0, "!=": value != 0}[condition.operator]

    terms = variables(["x", "y"])
    results = [r for path, r in paths(lambda: code(terms["x"], terms["y"])) if all(map(holds, path.conditions))]
    assert len(results) == 1
    assert evaluate(results[0], x=x, y=y) == code(x, y)


def test_a_float_beside_a_term_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"0\.5 beside a symbolic term"):
        variables(["x"])["x"] + 0.5


def test_a_comparison_outside_of_paths_is_an_error() -> None:
    with pytest.raises(TypeError, match="outside of `paths`"):
        bool(variables(["x"])["x"] < 1)


# --- statements -------------------------------------------------------------------------------------------------------


def lemma_2(n: Count | Real) -> AtMost:
    """Lemma 2 of DPBoost, for counts or for real counts."""
    return AtMost(
        (n, Real("G"), Real("g"), Real("lam")),
        quantity=lambda n, G, g, lam: both(leaf_value(G + g, n + 1, lam) - leaf_value(G, n, lam)),
        bound=lambda lam: 1 / (1 + lam),
        given=lambda n, G, g, lam: (lam > 0, n >= 0, g >= -1, g <= 1, G + n >= 0, G - n <= 0),
    )


def test_integers_matter() -> None:
    """Lemma 2 holds for counts and fails for 0 < n < 1: proving over the reals alone would be too weak, or wrong."""
    assert prove(lemma_2(Count("n"))).agreed
    over_reals = prove(lemma_2(Real("n")))
    assert over_reals.witness is not None and 0 < over_reals.witness["n"] < 1


def test_a_model_is_only_believed_after_it_is_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofs.checker.statements.ask", lambda name, asked: Reply("sat", {"x": Fraction(3)}))
    proof = prove(ForAll((Real("x"),), given=lambda x: x >= 0, holds=lambda x: x * x * x >= 0))
    assert proof.witness is None and not proof.holds


def test_one_solver_alone_is_named_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "proofs.checker.statements.ask", lambda name, asked: Reply("unsat" if name == "z3" else "unknown")
    )
    statement = ForAll((Real("x"),), holds=lambda x: x * x >= 0)
    proof = prove(statement)
    assert proof.holds and not proof.agreed
    monkeypatch.setattr("proofs.checker.evidence.is_inhabited", lambda statement: True)
    outcome = Proved(statement).check()
    assert outcome.checked_by == ("z3",) and "single solver" in outcome.note


def test_a_statement_about_nothing_proves_nothing() -> None:
    empty = ForAll((Real("x"),), given=lambda x: (x > 1, x < 0), holds=lambda x: x == 5)
    assert not is_inhabited(empty)
    assert Proved(empty).check().result == "unknown"


def test_a_possible_division_by_zero_is_not_proved() -> None:
    assert not prove(ForAll((Real("x"),), holds=lambda x: x / x == 1)).holds
    assert not prove(ForAll((Real("x"),), holds=lambda x: 0 * x / (x - x) == 0)).holds


def test_a_plainly_false_goal_is_refuted() -> None:
    assert Proved(ForAll((Real("x"),), holds=lambda x: 1 <= 0)).check().result == "fails"


def test_fails_at_respects_the_domain() -> None:
    statement = AtMost((Count("n"),), quantity=lambda n: n, bound=lambda n: n - 1, given=lambda n: n >= 2)
    assert fails_at(statement, {"n": 2})
    assert not fails_at(statement, {"n": 1})
    assert not fails_at(statement, {"n": Fraction(5, 2)})


# --- tightness --------------------------------------------------------------------------------------------------------

AT_EMPTY = Tight(
    "1/(1+lam)",
    "at an empty leaf",
    at=lambda: {"n": 0, "G": 0, "g": 1},
    given=lambda lam: lam > 0,
    near={"n": 0, "G": 0, "g": 1, "lam": 1},
)


def test_a_tight_bound_is_shown_tight_and_a_lower_one_is_refuted() -> None:
    assert is_tight(lemma_2(Count("n")), AT_EMPTY)
    assert Proved(lowered(lemma_2(Count("n")))).check().result == "fails"


@pytest.mark.parametrize(
    "wrong",
    [
        Tight("", "not attained there", at=lambda: {"n": 1, "G": 0, "g": 1}, given=AT_EMPTY.given, near=AT_EMPTY.near),
        Tight("", "outside", at=lambda: {"n": 0, "G": 0, "g": 2}, given=AT_EMPTY.given, near=AT_EMPTY.near),
        Tight("", "no count", at=lambda: {"n": HALF, "G": HALF, "g": -1}, given=AT_EMPTY.given, near=AT_EMPTY.near),
        Tight("", "near is far", at=AT_EMPTY.at, given=AT_EMPTY.given, near={"n": 1, "G": 0, "g": 0, "lam": 1}),
    ],
    ids=lambda tight: tight.where,
)
def test_a_wrong_place_is_not_accepted(wrong: Tight) -> None:
    assert not is_tight(lemma_2(Count("n")), wrong)
    assert Proved(lemma_2(Count("n")), tight=wrong).check().result == "unknown"


def test_a_limit_that_is_attained_or_missed_is_not_accepted() -> None:
    statement = AtMost((Count("n"),), quantity=lambda n: 1 - 1 / (n + 1), bound=lambda: 1)
    near = {"n": 10**5}
    assert is_tight(statement, Tight("1", "as n grows", at=lambda k: {"n": k}, near=near, limit=True))
    assert not is_tight(statement, Tight("1", "stays", at=lambda k: {"n": 3}, near=near, limit=True))
    attained = AtMost((Count("n"),), quantity=lambda n: 0 * n + 1, bound=lambda: 1)
    assert not is_tight(attained, Tight("1", "as n grows", at=lambda k: {"n": k}, near=near, limit=True))


# --- enclosures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@given(x=st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=99))
@settings(max_examples=30, deadline=None)
def test_enclosures_contain_the_value(arithmetic: Any, x: Fraction) -> None:
    with working_precision():
        low, high = (exp(arithmetic.between(x, x)) / 3 + log(arithmetic.between(x, x)) * x).bounds()
    exact = sympy.exp(sympy.Rational(x.numerator, x.denominator)) / 3
    exact += sympy.log(sympy.Rational(x.numerator, x.denominator)) * sympy.Rational(x.numerator, x.denominator)
    value = Fraction(str(sympy.N(exact, 60)))
    slack = Fraction(1, 10**50)
    assert low is not None and high is not None
    assert low - slack <= value <= high + slack
    assert high - low < Fraction(1, 10**25)


def test_an_enclosure_proves_a_true_bound_and_no_false_one() -> None:
    """x e^-x is at most 1/e = 0.3678..."""

    def peak(bound: Fraction) -> Enclosed:
        return Enclosed({"x": (0, 20)}, quantity=lambda x: x * exp(-x), bound=lambda: bound)

    assert set(enclose(peak(Fraction(368, 1000)))) == {"arb", "mpmath iv"}
    assert not enclose(peak(Fraction(367, 1000)))
    assert Bounded(peak(Fraction(367, 1000))).check().result == "unknown"
    assert BoundedCounterexample(peak(Fraction(367, 1000)), {"x": Fraction(1)}).check().result == "fails"
    assert BoundedCounterexample(peak(Fraction(368, 1000)), {"x": Fraction(1)}).check().result == "unknown"
    assert BoundedCounterexample(peak(Fraction(367, 1000)), {"x": Fraction(21)}).check().result == "unknown"


# --- solvers ----------------------------------------------------------------------------------------------------------


def polynomial(code: Any, operator: Any) -> Polynomial:
    """A polynomial condition in x and y."""
    terms = variables(["x", "y"])
    return Polynomial.of(code(terms["x"], terms["y"]).numerator, operator)


@pytest.mark.parametrize("solver", solvers.SOLVERS)
def test_solvers_answer_and_survive_a_lost_process(solver: str) -> None:
    square = polynomial(lambda x, y: x * x + y * y + 1, "<=")
    open_set = polynomial(lambda x, y: x * x - y, "<")
    assert solvers.ask(solver, [square]).answer == "unsat"
    worker = solvers._worker(solver)
    worker.process.kill()
    worker.process.join()
    assert solvers.ask(solver, [square]).answer == "unsat"
    assert solvers.ask(solver, [open_set]).answer == "sat"


def test_a_question_that_takes_too_long_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    def sleepy(conditions: list[Polynomial]) -> Reply:
        time.sleep(60)
        return Reply("unsat")

    monkeypatch.setattr(solvers, "TIME_LIMIT", 1)
    monkeypatch.setattr(solvers, "SOLVERS", {"sleepy": (sleepy,)})
    assert solvers.ask("sleepy", []).answer == "unknown"


# --- verdicts ---------------------------------------------------------------------------------------------------------

HOLDS, FAILS, UNKNOWN = (Outcome(result, ("x",), result) for result in ("holds", "fails", "unknown"))  # type: ignore[arg-type]
SUPPORTS = Outcome("holds", ("replay",), "small scope", decisive=False)


def verdict(outcomes: list[Outcome], premises: dict[str, str] | None = None, **fields: Any) -> str:
    """The derived verdict of a proposition with these outcomes; premises by id and verdict."""
    given_premises = {
        name: derive(
            Proposition(name, "", "", assumes=(SOMETHING,) if value == "CONDITIONAL" else ()),
            {"PROVED": [HOLDS], "CONDITIONAL": [HOLDS], "REFUTED": [FAILS], "OPEN": [UNKNOWN]}[value],
            {},
        )
        for name, value in (premises or {}).items()
    }
    uses = tuple(name for name in given_premises if name != fields.get("restates"))
    return derive(Proposition("a/b", "", "", uses=uses, **fields), outcomes, given_premises).verdict


SOMETHING = Premise("something", "something holds")


@pytest.mark.parametrize(
    ("outcomes", "premises", "fields", "expected"),
    [
        ([HOLDS], {}, {}, "PROVED"),
        ([], {}, {}, "OPEN"),
        ([SUPPORTS], {}, {}, "OPEN"),
        ([HOLDS, SUPPORTS], {}, {}, "PROVED"),
        ([HOLDS, UNKNOWN], {}, {}, "OPEN"),
        ([HOLDS, FAILS], {}, {}, "REFUTED"),
        ([UNKNOWN, FAILS], {}, {}, "REFUTED"),
        ([HOLDS], {}, {"assumes": (SOMETHING,)}, "CONDITIONAL"),
        ([FAILS], {}, {"assumes": (SOMETHING,)}, "REFUTED"),
        ([HOLDS], {"p/q": "PROVED"}, {}, "PROVED"),
        ([HOLDS], {"p/q": "CONDITIONAL"}, {}, "CONDITIONAL"),
        ([HOLDS], {"p/q": "REFUTED"}, {}, "OPEN"),
        ([HOLDS], {"p/q": "OPEN"}, {}, "OPEN"),
        ([], {"p/q": "PROVED"}, {"restates": "p/q"}, "PROVED"),
        ([], {"p/q": "REFUTED"}, {"restates": "p/q"}, "REFUTED"),
        ([], {"p/q": "CONDITIONAL"}, {"restates": "p/q"}, "CONDITIONAL"),
        ([], {"p/q": "OPEN"}, {"restates": "p/q"}, "OPEN"),
    ],
)
def test_verdicts(outcomes: list[Outcome], premises: dict[str, str], fields: dict[str, Any], expected: str) -> None:
    assert verdict(outcomes, premises, **fields) == expected


def test_an_open_claim_names_the_premise_that_fails() -> None:
    refuted = derive(Proposition("p/q", "", ""), [FAILS], {})
    claim = derive(Proposition("a/b", "", "", uses=("p/q",)), [HOLDS], {"p/q": refuted})
    assert claim.reason == "a premise fails: p/q (REFUTED)"


def test_evidence_kinds_on_false_statements() -> None:
    """None of them holds for something false."""
    assert Identity("x", left=lambda x: x * x, right=lambda x: x).check().result == "unknown"
    assert Finite(cases=lambda: range(5), holds=lambda k: k < 4, label="").check().result == "fails"
    assert Exhibit(run=lambda: {"x": 1}, label="").check().result == "fails"
    assert Exhibit(run=lambda: None, label="").check().result == "unknown"
    assert SmallScope(run=lambda: {"x": 1}, scope="").check().result == "fails"
    assert not SmallScope(run=lambda: None, scope="").check().decisive
    true = ForAll((Real("x"),), holds=lambda x: x * x >= 0)
    assert Counterexample(true, {"x": 1}).check().result == "unknown"
    assert Follows("by words").check().checked_by == ()
