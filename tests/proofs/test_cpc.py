"""Proofs of solvers, followed step by step: what is right is accepted, and nothing that proves what is false."""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
import z3

from proofs.cpc import __main__ as program
from proofs.cpc import steps
from proofs.cpc.asking import proof_of
from proofs.cpc.consequence import follows
from proofs.cpc.page import PAGE, page
from proofs.cpc.products import Case, Multiples, cases, refutes
from proofs.cpc.questions import Recording, of_claims
from proofs.cpc.search import found, multiples_of
from proofs.cpc.steps import checked
from proofs.cpc.values import (
    Combined,
    Formula,
    Meaning,
    Polynomial,
    Sign,
    Truth,
    assertions,
    combined,
    compared,
    number,
)
from tests.prove.attacks import SMALL
from tests.prove.page import read

SQUARES = """
(declare-fun x () Real) (declare-fun y () Real)
(assert (and (<= (- 1.0) x) (<= x 1.0)))
(assert (or (= y 0.0) (>= y 2.0)))
(assert (> (* x x) (+ 1.0 (* y y))))
"""
LEAF = """
(declare-fun g () Real) (declare-fun n () Real) (declare-fun d () Real) (declare-fun q () Real) (declare-fun r () Real)
(assert (>= n 0.0)) (assert (<= (- n) g)) (assert (<= g n)) (assert (<= (- 1.0) d)) (assert (<= d 1.0))
(assert (= (* q (+ n (/ 1.0 2.0))) g))
(assert (= (* r (+ n (/ 3.0 2.0))) (+ g d)))
(assert (> (ite (<= q r) (- r q) (- q r)) (/ 3.0 2.0)))
"""
GAIN = """
(declare-fun S () Real) (declare-fun s () Real) (declare-fun n () Real) (declare-fun a () Real) (declare-fun b () Real)
(assert (= (* a (+ (/ 11.0 10.0) n)) (* (+ S s) (+ S s)))) (assert (= (* b (+ (/ 1.0 10.0) n)) (* S S)))
(assert (or (= n 0.0) (>= n 1.0)))
(assert (<= (* (- 1.0) n) S)) (assert (<= S n)) (assert (<= (- 1.0) s)) (assert (>= 1.0 s))
(assert (not (<= (- a b) 1.0)))
"""
X = Polynomial.of({("x",): Fraction(1)})
Y = Polynomial.of({("y",): Fraction(1)})


@pytest.fixture(scope="module", autouse=True)
def deep() -> Iterator[None]:
    """Terms are read by recursion."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    yield
    sys.setrecursionlimit(before)


@pytest.fixture(scope="module")
def questions() -> list[str]:
    """What the reading asks of DPBoost with small settings, and two questions that are written here."""
    asked = Recording()
    assert read("dpboost", dict(SMALL["dpboost"]), asked).verdict == "PROVED"
    return [SQUARES, LEAF, *asked.refuted]


@pytest.fixture(scope="module")
def proved(questions: list[str]) -> list[tuple[str, str]]:
    """Questions with cvc5's proofs."""
    pairs = [(question, proof_of(question)) for question in questions]
    return [(question, proof) for question, proof in pairs if proof is not None]


def satisfiable(question: str) -> bool:
    """Whether z3 finds values."""
    solver = z3.SolverFor("QF_NRA")
    solver.set("timeout", 2000)
    solver.from_string(question)
    return bool(solver.check() == z3.sat)


# --- Proofs in steps ---


def test_every_question_of_the_reading_is_followed_in_steps_or_by_products(
    questions: list[str], proved: list[tuple[str, str]]
) -> None:
    assert len(proved) > len(questions) - 2
    for question, proof in proved:
        result = checked(question, proof)
        assert result.accepted, (question, result.refused)
    for question in {*questions} - {question for question, _ in proved}:
        assert multiples_of(question)


@pytest.fixture(scope="module")
def false(proved: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Questions with values, and the proofs with the same numbers changed, so that what is assumed fits."""
    return list(_falsified(proved))


def test_no_proof_of_a_question_with_values_is_accepted(false: list[tuple[str, str]]) -> None:
    """The steps must give it away."""
    assert len(false) >= 25
    assert not any(checked(question, proof).accepted for question, proof in false)


def test_the_checker_could_err(false: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: steps taken on trust accept proofs of what is false."""
    monkeypatch.setattr(steps._Run, "_accepted", lambda *arguments: True)
    accepted = [checked(question, proof).accepted for question, proof in false]
    assert sum(accepted) > len(accepted) / 2


def _falsified(proved: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Satisfiable questions, and proofs of what they were before with the same change."""
    for question, proof in proved:
        for name in sorted(set(re.findall(r"(?<![\w./])\d+\.0(?![\w./])", question))):
            for other in ("4.0", "1024.0"):
                changed = question.replace(f" {name}", f" {other}")
                whole, new = name.removesuffix(".0"), other.removesuffix(".0")
                edited = re.sub(rf"(?<![\w./@-]){whole}/1(?![\w./])", f"{new}/1", proof)
                if changed != question and satisfiable(changed):
                    yield changed, edited


SHORT = "(declare-fun x () Real) (declare-fun b () Bool) (assert (< x 1.0)) (assert (=> b (> x 2.0)))"
FINE = """
(assume @p1 (< x 1/1))
(assume @p2 (=> b (> x 2/1)))
(assume-push @p3 b)
(step @p4 (> x 2/1) :rule modus_ponens :premises (@p3 @p2))
(step @p5 (< (+ x 2/1) (+ 1/1 x)) :rule arith_sum_ub :premises (@p1 @p4))
(step @p6 false :rule evaluate :premises (@p5))
(step-pop @p7 :rule scope :premises (@p6))
(step @p8 (not b) :rule process_scope :premises (@p7))
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(assume @p1 (< x 1/1))", "(assume @p1 (< x 0/1))"),
        (":premises (@p1 @p4)", ":premises (@p1)"),
        (":premises (@p3 @p2)", ":premises (@p2)"),
        ("(< (+ x 2/1) (+ 1/1 x))", "(< (+ x 3/1) (+ 1/1 x))"),
        ("arith_sum_ub", "trust"),
        ("(not b)", "b"),
    ],
)
def test_a_changed_step_is_refused(old: str, new: str) -> None:
    assert checked(SHORT, FINE).refused == [] and not checked(SHORT, FINE).closed
    assert old in FINE
    assert checked(SHORT, FINE.replace(old, new)).refused


def test_what_follows_from_a_hypothesis_alone_refutes_nothing() -> None:
    """A contradiction under a hypothesis, during and after it, and a hypothesis that is never closed."""
    assert checked(SHORT, FINE).accepted is False
    after = FINE + "(step @p9 false :rule resolution :premises (@p8 @p3))"
    assert checked(SHORT, after).refused == [] and not checked(SHORT, after).closed
    assert not checked(SHORT, FINE.partition("(step-pop")[0]).closed
    shown = SHORT + "(assert b)"
    whole = FINE + "(assume @p9 b)(step @p10 false :rule resolution :premises (@p8 @p9))"
    assert checked(shown, whole).accepted
    assert not checked(SHORT, whole).accepted


def test_a_hypothesis_around_one_that_is_closed_stays() -> None:
    """x < 1 and b are possible, whatever follows from x > 2."""
    question = "(declare-fun x () Real) (declare-fun b () Bool) (assert (< x 1.0)) (assert b)"
    proof = """(assume @p1 (< x 1/1)) (assume @p2 b) (assume-push @p3 (> x 2/1)) (assume-push @p4 b)
    (step @p5 (< (+ x 2/1) (+ 1/1 x)) :rule arith_sum_ub :premises (@p1 @p3))
    (step @p6 false :rule evaluate :premises (@p5)) (step-pop @p7 :rule scope :premises (@p6))
    (step @p8 false :rule resolution :premises (@p7 @p2))"""
    found = checked(question, proof)
    assert found.refused == [] and not found.closed


@pytest.mark.parametrize(
    "proof",
    [
        "(define @t () @t)(step @p @t :rule refl)",
        "(define x () true)(step @p false :rule refl)",
        "(declare-const x Bool)",
        "(step @p false)",
        "(step @p false :rule refl",
        "(run)",
        "(step @p (f x) :rule refl)",
        "(step @p false :rule refl :premises (@q))",
        "(assume-push @p b)(step-pop @q :rule scope :premises ())",
        "(step @p (= x (/ 1/1 0/1)) :rule refl)",
        "(step @p (= x 1/0) :rule refl)",
        "(step)",
    ],
)
def test_what_is_no_proof_is_an_error(proof: str) -> None:
    with pytest.raises(ValueError):
        checked(SHORT, proof)


@pytest.mark.parametrize(
    ("rule", "premises", "conclusion", "right"),
    [
        ("arith_mult_pos", "", "(=> (and (> y 0/1) (< x 1/1)) (< (* y x) (* y 1/1)))", True),
        ("arith_mult_pos", "", "(=> (and (>= y 0/1) (< x 1/1)) (< (* y x) (* y 1/1)))", False),
        ("arith_mult_pos", "", "(=> (and (> y 0/1) (< x 1/1)) (> (* y x) (* y 1/1)))", False),
        ("arith_mult_neg", "", "(=> (and (< y 0/1) (< x 1/1)) (> (* y x) (* y 1/1)))", True),
        ("arith_mult_neg", "", "(=> (and (< y 0/1) (< x 1/1)) (< (* y x) (* y 1/1)))", False),
        ("arith_mult_sign", "", "(=> (and (> x 0/1) (< y 0/1)) (< (* x y) 0/1))", True),
        ("arith_mult_sign", "", "(=> (and (> x 0/1) (< y 0/1)) (> (* x y y) 0/1))", True),
        ("arith_mult_sign", "", "(=> (and (> x 0/1) (<= y 0/1)) (> (* x y y) 0/1))", False),
        ("arith_mult_sign", "", "(=> (not (= y 0/1)) (> (* y y) 0/1))", True),
        ("arith_mult_sign", "", "(=> (not (= y 0/1)) (> (* y y y) 0/1))", False),
        ("arith_mult_sign", "", "(=> (> x 0/1) (> (* x y) 0/1))", False),
        ("arith_mult_tangent", "", "(= (<= (* x y) (+ (* 2/1 x) (* 3/1 y) -6/1)) "
         "(or (and (<= x 3/1) (>= y 2/1)) (and (>= x 3/1) (<= y 2/1))))", True),
        ("arith_mult_tangent", "", "(= (<= (* x y) (+ (* 2/1 x) (* 3/1 y) -5/1)) "
         "(or (and (<= x 3/1) (>= y 2/1)) (and (>= x 3/1) (<= y 2/1))))", False),
        ("arith_mult_tangent", "", "(= (<= (* x y) (+ (* 2/1 x) (* 3/1 y) -6/1)) "
         "(or (and (<= x 3/1) (<= y 2/1)) (and (>= x 3/1) (>= y 2/1))))", False),
        ("arith-abs-eq", "", "(= (= (abs x) (abs y)) (or (= x y) (= x (* -1/1 y))))", True),
        ("arith-abs-eq", "", "(= (= (abs x) (abs y)) (= x y))", False),
        ("arith_mult_abs_comparison", "(> (abs x) (abs y)) (and (= (abs y) (abs 2/1)) (not (= y 0/1)))",
         "(> (abs (* x y)) (abs (* y 2/1)))", True),
        ("arith_mult_abs_comparison", "(> (abs x) (abs y)) (= (abs y) (abs 2/1))",
         "(> (abs (* x y)) (abs (* y 2/1)))", False),
        ("arith_mult_abs_comparison", "(= (abs x) (abs y)) (= (abs y) (abs 2/1))",
         "(= (abs (* x y)) (abs (* y 2/1)))", True),
        ("arith_mult_abs_comparison", "(= (abs x) (abs y)) (> (abs y) (abs 2/1))",
         "(= (abs (* x y)) (abs (* y 2/1)))", False),
        ("arith_sum_ub", "(< x 1/1) (<= y 2/1)", "(< (+ x y) 3/1)", True),
        ("arith_sum_ub", "(<= x 1/1) (<= y 2/1)", "(< (+ x y) 3/1)", False),
        ("arith_sum_ub", "(<= x 1/1) (= y 2/1)", "(= (+ x y) 3/1)", False),
        ("cong", "(= x y)", "(= (* x x) (* y x))", True),
        ("cong", "(= x y)", "(= (* x x) (+ y x))", False),
        ("cong", "(= x 1/1)", "(= (* x x) (* y x))", False),
        ("ite_eq", "", "(ite (> x 0/1) (= (ite (> x 0/1) y 2/1) y) (= (ite (> x 0/1) y 2/1) 2/1))", True),
        ("ite_eq", "", "(ite (> x 0/1) (= (ite (> x 0/1) y 2/1) 2/1) (= (ite (> x 0/1) y 2/1) y))", False),
        ("resolution", "(or (> x 0/1) (= y 1/1)) (<= x 0/1)", "(= y 1/1)", True),
        ("resolution", "(or (> x 0/1) (= y 1/1)) (< x 0/1) ", "(= x 1/1)", False),
    ],
)  # fmt: skip
def test_each_kind_of_step(rule: str, premises: str, conclusion: str, right: bool) -> None:
    head = "(declare-fun x () Real) (declare-fun y () Real)"
    every = _parts(premises)
    question = head + "".join(f"(assert {one.replace('/1', '.0')})" for one in every)
    names = [f"@p{place}" for place in range(len(every))]
    assumed = "".join(f"(assume {name} {one})" for name, one in zip(names, every, strict=True))
    given = f":premises ({' '.join(names)})" if names else ""
    result = checked(question, f"{assumed}(step @q {conclusion} :rule {rule} {given})")
    assert result.refused == ([] if right else [f"@q: {rule}"])


def _parts(text: str) -> list[str]:
    """Expressions one after the other."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == ")" and depth == 0:
            parts.append(text[start : place + 1].strip())
            start = place + 1
    return parts


# --- Consequences, against values ---


def test_what_follows_holds_for_all_values_that_were_tried() -> None:
    """Random premises and conclusions over small polynomials: no values make the premises true and the other false."""
    draw = random.Random(7)
    points = [(Fraction(a, 2), Fraction(b, 2), c) for a in range(-4, 5) for b in range(-4, 5) for c in (True, False)]
    followed = 0
    for _ in range(500):
        premises, conclusion = [_formula(draw, 2) for _ in range(draw.randint(1, 3))], _formula(draw, 2)
        if follows(premises, conclusion):
            followed += 1
            assert not any(
                all(_holds(one, *point) for one in premises) and not _holds(conclusion, *point) for point in points
            )
    assert 50 < followed < 450


def _formula(draw: random.Random, depth: int) -> Formula:
    if depth and draw.random() < 0.7:
        parts = [_formula(draw, depth - 1) for _ in range(2)]
        return combined(draw.choice(["and", "or"]), parts) if draw.random() < 0.8 else _iff(*parts)
    if draw.random() < 0.2:
        return Truth("b", draw.random() < 0.5)
    return compared(_polynomial(draw, 1), draw.choice(["-", "0", "+", "-0", "0+", "-+"]))


def _iff(one: Formula, two: Formula) -> Formula:
    from proofs.cpc.values import same

    return same(one, two)


def _polynomial(draw: random.Random, depth: int) -> Polynomial:
    from proofs.cpc.values import _if

    base = draw.choice([X, Y, X.plus(Y), X.times(Y), X.plus(number(Fraction(1)))])
    if depth and draw.random() < 0.4:
        chosen: Polynomial = _if(_formula(draw, 0), base, _polynomial(draw, 0))
        return chosen
    return base.scaled(Fraction(draw.choice([-2, -1, 1, 3])))


def _holds(formula: Formula, x: Fraction, y: Fraction, b: bool) -> bool:
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, Truth):
        return b is formula.holds
    if isinstance(formula, Sign):
        value = _at(formula.polynomial, x, y, b)
        return ("-" if value < 0 else "+" if value else "0") in formula.signs
    assert isinstance(formula, Combined)
    parts = [_holds(part, x, y, b) for part in formula.parts]
    return {"and": all(parts), "or": any(parts), "iff": parts[0] == parts[-1]}[formula.operator]


def _at(polynomial: Polynomial, x: Fraction, y: Fraction, b: bool) -> Fraction:
    total = Fraction(0)
    for monomial, coefficient in polynomial.terms:
        for atom in monomial:
            if isinstance(atom, str):
                coefficient *= {"x": x, "y": y}[atom]
            else:
                coefficient *= _at(atom.then if _holds(atom.condition, x, y, b) else atom.other, x, y, b)
        total += coefficient
    return total


# --- Products ---


def test_a_gain_is_refuted_by_products() -> None:
    assert multiples_of(GAIN)
    false = GAIN.replace("1.0)))", "(/ 9.0 10.0))))")
    assert multiples_of(false) == 0
    assert satisfiable(false)


def test_multiples_are_checked_in_rational_numbers() -> None:
    every = cases(assertions(Meaning(), GAIN))
    for case in every:
        multiples = found(case)
        assert multiples is not None and refutes(multiples, case)
        for place, (places, multiple) in enumerate(multiples.products):
            for other in (-multiple, multiple + Fraction(1, 10**30), Fraction(0)):
                changed = [*multiples.products]
                changed[place] = places, other
                assert not refutes(Multiples(tuple(changed), multiples.equations), case)


def test_a_sum_without_a_positive_product_refutes_nothing() -> None:
    """x >= 0 and -x >= 0 add up to 0, and x = 0 is possible."""
    case = Case((), ((X, False), (X.scaled(Fraction(-1)), False)))
    both = Multiples((((0,), Fraction(1)), ((1,), Fraction(1))), ())
    assert not refutes(both, case)
    assert refutes(both, Case((), ((X, True), (X.scaled(Fraction(-1)), False))))
    assert found(case) is None


def test_a_multiple_is_never_negative() -> None:
    """1 - (x + 1) + x is 0, and x >= 0 is possible; so is 1 >= 0."""
    more = ((X.plus(number(Fraction(1))), False), (X, False))
    taken = Multiples((((), Fraction(1)), ((0,), Fraction(-1)), ((1,), Fraction(1))), ())
    assert not refutes(taken, Case((), more))
    assert refutes(Multiples(taken.products[:1], ((0, number(Fraction(-1))),)), Case((number(Fraction(1)),), ()))


def test_cases_cover_what_is_asserted() -> None:
    """Each of many points that satisfy a question satisfies one of its cases."""
    draw = random.Random(3)
    points = [(Fraction(a, 2), Fraction(b, 2), c) for a in range(-4, 5) for b in range(-4, 5) for c in (True, False)]
    seen = 0
    for _ in range(100):
        asserted = [_formula(draw, 2) for _ in range(2)]
        every = cases(asserted)
        for point in points:
            if all(_holds(one, *point) for one in asserted):
                seen += 1
                assert any(_in(case, point) for case in every)
    assert seen > 500


def _in(case: Case, point: tuple[Fraction, Fraction, bool]) -> bool:
    zero = all(_at(one, *point) == 0 for one in case.equations)
    return zero and all(_at(one, *point) > 0 if strict else _at(one, *point) >= 0 for one, strict in case.inequalities)


# --- The record and the page ---


def test_the_page_is_what_its_program_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(json.loads(program.RECORD.read_text(encoding="utf-8")))


@pytest.mark.parametrize("prefix", ["dpxgboost/leaf-", pytest.param("dpboost/leaf-", marks=pytest.mark.statistics)])
def test_kept_rows_are_what_claims_ask_now(prefix: str) -> None:
    kept = {one.pop("source"): one for one in json.loads(program.RECORD.read_text(encoding="utf-8"))["claims"]}
    for name, texts in of_claims(prefix):
        now = program.row(texts)  # another cvc5 has proofs of other lengths
        assert all(kept[name][key] == now[key] for key in ("digest", "questions", "without"))
        assert now["by steps"] + now["by products"] == now["questions"] > 0


def test_files_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    question, proof, wrong = (tmp_path / name for name in ("q.smt2", "p.cpc", "wrong.cpc"))
    made = proof_of(SQUARES)
    assert made is not None
    question.write_text(SQUARES)
    proof.write_text(made)
    wrong.write_text(FINE)
    assert program.main([str(question), str(proof)]) == 0
    assert capsys.readouterr().out.startswith("accepted: ")
    question.write_text(SHORT)
    assert program.main([str(question), str(wrong)]) == 1
    assert capsys.readouterr().out == "not accepted: nothing is refuted\n"
    assert program.main([str(question), str(tmp_path / "none")]) == 2
