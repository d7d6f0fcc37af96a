"""Checks a proof in cvc5's CPC format against its question, step by step.

A step is accepted if its conclusion follows from its premises by what stands here, whatever its rule is called: by
signs and cases (consequence.py), by equal parts (congruence), by adding comparisons, or by multiplying them; the name
only says which is tried. What is not accepted is listed, so a rule that is not known, or that cvc5 trusts, is no
proof. Nothing of cvc5 is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from proofs.cpc.consequence import follows
from proofs.cpc.expressions import Raw, read
from proofs.cpc.values import (
    ZERO,
    Formula,
    Meaning,
    Polynomial,
    Value,
    assertions,
    combined,
    compared,
    negated,
    number,
    same,
)


@dataclass
class Checked:
    """What was found. steps: how many were looked at; refused: the number and rule of those that were not accepted.

    closed: the question's own assertions alone were found to exclude each other by accepted steps.
    """

    steps: int = 0
    refused: list[str] = field(default_factory=list)
    closed: bool = False

    @property
    def accepted(self) -> bool:
        """Whether the question is refuted, by steps that were all accepted."""
        return self.closed and not self.refused


@dataclass(frozen=True)
class Fact:
    """What a step shows, and under which hypotheses that were opened for it."""

    raw: Raw
    formula: Formula
    hypotheses: frozenset[int] = frozenset()


Otherwise = Callable[[list[Formula], Formula], bool]
"""Another way to see that a conclusion follows from premises."""


def never(premises: list[Formula], conclusion: Formula) -> bool:
    """No other way."""
    return False


def checked(question: str, proof: str, otherwise: Otherwise = never) -> Checked:
    """The proof of a question in SMT-LIB. otherwise: asked about the steps that cvc5 says are to be trusted.

    Errors: ValueError where question or proof cannot be read.
    """
    meaning = Meaning()
    try:
        asserted = assertions(meaning, question)
        return _Run(meaning, dict.fromkeys(asserted), otherwise).run(_commands(proof))
    except (ArithmeticError, LookupError, TypeError) as problem:  # parts that are not there, of another form
        raise ValueError(f"not a question in SMT-LIB with a proof in CPC: {problem!r}") from problem


def _commands(proof: str) -> list[Raw]:
    """cvc5 puts its proof between two more parentheses."""
    found = read(proof)
    return (
        list(found[0]) if len(found) == 1 and isinstance(found[0], tuple) and isinstance(found[0][0], tuple) else found
    )


class _Run:
    """One proof."""

    def __init__(self, meaning: Meaning, asserted: dict[Formula, None], otherwise: Otherwise) -> None:
        self.meaning, self.asserted, self.otherwise, self.found = meaning, asserted, otherwise, Checked()
        self.facts: dict[str, Fact] = {}
        self.opened: list[tuple[int, Raw]] = []

    def run(self, commands: list[Raw]) -> Checked:
        for command in commands:
            head = command[0]
            if head == "declare-const":
                self.meaning.declare(str(command[1]), command[2])
            elif head == "define" and command[2] == ():
                self.meaning.define(str(command[1]), command[3])
            elif head == "assume":
                self._assume(str(command[1]), command[2])
            elif head == "assume-push":
                self.opened.append((self.found.steps, command[2]))
                self.found.steps += 1
                only = frozenset({self.opened[-1][0]})
                self.facts[str(command[1])] = Fact(command[2], self.meaning.formula(command[2]), only)
            elif head in ("step", "step-pop"):
                self._step(command)
            else:
                raise ValueError(f"unknown command {head}")
        return self.found

    def _assume(self, name: str, raw: Raw) -> None:
        formula = self.meaning.formula(raw)
        self.facts[name] = Fact(raw, formula)
        self.found.steps += 1
        if formula not in self.asserted and not follows(self.asserted, formula):
            self.found.refused.append(f"{name}: assume")

    def _step(self, command: Raw) -> None:
        name, rest = str(command[1]), list(command[2:])
        conclusion = rest.pop(0) if rest[0] != ":rule" else None
        given = dict(zip(rest[::2], rest[1::2], strict=True))
        rule = str(given[":rule"])
        premises = [self.facts[str(one)] for one in given.get(":premises", ())]
        hypotheses = frozenset[int]().union(*(one.hypotheses for one in premises))
        self.found.steps += 1
        if command[0] == "step-pop":  # of the hypothesis that was opened last
            number_, hypothesis = self.opened.pop()
            last = premises[-1]
            made = combined("or", [negated(self.meaning.formula(hypothesis)), last.formula])
            self.facts[name] = Fact(("=>", hypothesis, last.raw), made, hypotheses - {number_})
            return
        if conclusion is None:
            raise ValueError(f"{name} does not say what it concludes")
        fact = Fact(conclusion, self.meaning.formula(conclusion), hypotheses)
        if not self._accepted(rule, premises, fact):
            self.found.refused.append(f"{name}: {rule}")
        self.facts[name] = fact
        self.found.closed |= fact.formula is False and not hypotheses

    def _accepted(self, rule: str, premises: list[Fact], fact: Fact) -> bool:
        if fact.formula is True:
            return True
        if rule in ("cong", "nary_cong", "trans", "symm") and self._congruent(premises, fact.raw):
            return True
        if rule == "arith_sum_ub":
            return self._added(premises, fact.raw)
        if rule in ("arith_mult_pos", "arith_mult_neg", "arith_mult_sign"):
            return self._multiplied(fact.raw)
        if rule == "arith_mult_abs_comparison":
            return self._absolutes(premises, fact.raw)
        if rule == "arith_mult_tangent":
            return self._tangent(fact.raw)
        if rule == "arith-abs-eq":
            return self._absolute_equation(fact.raw)
        given = [one.formula for one in premises]
        return follows(given, fact.formula) or (rule == "trust" and self.otherwise(given, fact.formula))

    # --- Equal parts --------------------------------------------------------------------------------------------------

    def _equation(self, raw: Raw) -> tuple[Raw, Raw] | None:
        raw = self.meaning.expanded(raw)
        return (raw[1], raw[2]) if isinstance(raw, tuple) and len(raw) == 3 and raw[0] == "=" else None

    def _congruent(self, premises: list[Fact], conclusion: Raw) -> bool:
        """Both sides of an equation are joined by equations of the premises, or they are made of parts that are."""
        sides = self._equation(conclusion)
        if sides is None:
            return False
        classes = _Classes()
        for premise in premises:
            if (pair := self._equation(premise.raw)) is not None:
                classes.join(*map(self.meaning.value, pair))
        return self._equal(classes, *sides) or self._parts_equal(classes, *sides)

    def _equal(self, classes: _Classes, one: Raw, two: Raw) -> bool:
        return classes.root(self.meaning.value(one)) == classes.root(self.meaning.value(two))

    def _parts_equal(self, classes: _Classes, one: Raw, two: Raw) -> bool:
        one, two = self.meaning.expanded(one), self.meaning.expanded(two)
        if isinstance(one, str) or isinstance(two, str) or len(one) != len(two) or one[0] != two[0]:
            return False
        return all(self._equal(classes, a, b) for a, b in zip(one[1:], two[1:], strict=True))

    # --- Sums and products --------------------------------------------------------------------------------------------

    def _comparison(self, raw: Raw) -> tuple[Polynomial, str]:
        """p and "<", "<=" or "=", where the comparison says `p is less than (at most, equal to) 0`."""
        raw = self.meaning.expanded(raw)
        if not isinstance(raw, tuple) or raw[0] not in ("<", "<=", ">", ">=", "=") or len(raw) != 3:
            raise _Unlike
        left, right = self.meaning.value(raw[1]), self.meaning.value(raw[2])
        if not isinstance(left, Polynomial) or not isinstance(right, Polynomial):
            raise _Unlike
        less = left.plus(right, Fraction(-1))
        return (less.scaled(Fraction(-1)), raw[0].replace(">", "<")) if ">" in raw[0] else (less, str(raw[0]))

    def _added(self, premises: list[Fact], conclusion: Raw) -> bool:
        """Comparisons with 0 are added."""
        try:
            total, strict, equal = ZERO, False, True
            for premise in premises:
                polynomial, relation = self._comparison(premise.raw)
                total, strict, equal = total.plus(polynomial), strict or relation == "<", equal and relation == "="
            polynomial, relation = self._comparison(conclusion)
        except _Unlike:
            return False
        return polynomial == total and (relation == "<=" or (relation == "<" and strict) or (relation == "=" and equal))

    def _implication(self, raw: Raw) -> tuple[list[Raw], Raw]:
        raw = self.meaning.expanded(raw)
        if not isinstance(raw, tuple) or raw[0] != "=>" or len(raw) != 3:
            raise _Unlike
        given = self.meaning.expanded(raw[1])
        return (list(given[1:]) if isinstance(given, tuple) and given[0] == "and" else [given]), raw[2]

    def _multiplied(self, conclusion: Raw) -> bool:
        """p and q of known signs give the sign of p q; likewise a monomial from the signs of its unknowns."""
        try:
            given, then = self._implication(conclusion)
            factors, (product, wanted) = [self._sided(one) for one in given], self._sided(then)
        except _Unlike:
            return False
        powers = _powers(product, [one for one, _ in factors])
        if powers is None:
            return False
        made, signs = number(Fraction(1)), "+"
        for (factor, its), power in zip(factors, powers, strict=True):
            for _ in range(power):
                made = made.times(factor)
            signs = _times(signs, _power(its, power))
        return follows([compared(made, signs)], compared(product, wanted))

    def _sided(self, raw: Raw) -> tuple[Polynomial, str]:
        """A comparison, or that two numbers differ, as a polynomial and its signs."""
        whole = self.meaning.expanded(raw)
        if isinstance(whole, tuple) and whole[0] == "not":
            polynomial, relation = self._comparison(whole[1])
            return polynomial, "".join(s for s in "-0+" if s not in _SIDES[relation])
        polynomial, relation = self._comparison(whole)
        return polynomial, _SIDES[relation]

    def _absolutes(self, premises: list[Fact], conclusion: Raw) -> bool:
        """|a| > |b| and |c| > |d|, or |c| = |d| that is not 0, give |a c| > |b d|; equations give an equation."""
        left = right = number(Fraction(1))
        relations: set[str] = set()
        try:
            for premise in premises:
                raw = self.meaning.expanded(premise.raw)
                first, *more = raw[1:] if isinstance(raw, tuple) and raw[0] == "and" else [raw]
                one, two, relation = self._sizes(first)
                if relation == "=" and more:  # and that it is not 0
                    if len(more) > 1 or self._sided(more[0]) not in ((one, "-+"), (two, "-+")):
                        return False
                    relation = "= and not 0"
                left, right = left.times(one), right.times(two)
                relations.add(relation)
            one, two, wanted = self._sizes(conclusion)
        except _Unlike:
            return False
        allowed = relations <= {"=", "= and not 0"} if wanted == "=" else ">" in relations and "=" not in relations
        return allowed and _same_size(one, left) and _same_size(two, right)

    def _sizes(self, raw: Raw) -> tuple[Polynomial, Polynomial, str]:
        """a, b and ">" or "=", of a comparison of |a| with |b|."""
        raw = self.meaning.expanded(raw)
        if not isinstance(raw, tuple) or raw[0] not in (">", "=") or len(raw) != 3:
            raise _Unlike
        sides = []
        for one in raw[1:]:
            one = self.meaning.expanded(one)
            if not isinstance(one, tuple) or one[0] != "abs":
                raise _Unlike
            sides.append(self.meaning.value(one[1]))
        return sides[0], sides[1], str(raw[0])

    def _absolute_equation(self, conclusion: Raw) -> bool:
        """|a| = |b| exactly if a = b or a = -b."""
        try:
            one, two, relation = self._sizes((self._equation(conclusion) or ("", ""))[0])
        except _Unlike:
            return False
        either = combined("or", [compared(one.plus(two, Fraction(sign)), "0") for sign in (-1, 1)])
        sides = self._equation(conclusion)
        return relation == "=" and sides is not None and self.meaning.formula(sides[1]) == either

    def _tangent(self, conclusion: Raw) -> bool:
        """(x - a) (y - b) has a sign exactly if the signs of its factors make it."""
        sides = self._equation(conclusion)
        cases = self.meaning.expanded(sides[1]) if sides else ""
        if not isinstance(cases, tuple) or cases[0] != "or" or sides is None:
            return False
        case = self.meaning.expanded(cases[1])
        if not isinstance(case, tuple) or case[0] != "and" or len(case) != 3:
            return False
        try:
            (one, _), (two, _) = self._sided(case[1]), self._sided(case[2])
        except _Unlike:
            return False
        known = (
            same(compared(one.times(two), product), combined("or", [
                combined("and", [compared(one, "-0"), compared(two, second)]),
                combined("and", [compared(one, "0+"), compared(two, first)]),
            ]))
            for product, first, second in (("-0", "-0", "0+"), ("0+", "0+", "-0"))
        )  # fmt: skip
        return any(follows([fact], self.meaning.formula(conclusion)) for fact in known)


class _Unlike(Exception):
    """An expression that has another form than a rule's."""


_SIDES = {"<": "-", "<=": "-0", "=": "0"}


def _times(one: str, two: str) -> str:
    """The signs of a product."""
    made = {"0" if "0" in (a, b) else "+" if a == b else "-" for a in one for b in two}
    return "".join(s for s in "-0+" if s in made)


def _power(signs: str, power: int) -> str:
    """The signs of a power: of the same number each time, so that a square is never negative."""
    made = {s if power % 2 or s == "0" else "+" for s in signs} if power else {"+"}
    return "".join(s for s in "-0+" if s in made)


def _powers(product: Polynomial, factors: list[Polynomial]) -> list[int] | None:
    """How often each factor is in a product: once, or as often as an unknown is in a monomial."""
    if len(factors) == 2:
        both = factors[0].times(factors[1])
        if compared(both, "0") == compared(product, "0"):
            return [1, 1]
    atoms = [one.terms[0][0] if len(one.terms) == 1 else () for one in factors]
    if len(product.terms) != 1 or any(len(atom) != 1 for atom in atoms):
        return None
    return [product.terms[0][0].count(atom[0]) for atom in atoms]


def _same_size(one: Polynomial, two: Polynomial) -> bool:
    return one in (two, two.scaled(Fraction(-1)))


class _Classes:
    """Values that equations join."""

    def __init__(self) -> None:
        self.above: dict[Value, Value] = {}

    def root(self, value: Value) -> Value:
        while value in self.above:
            value = self.above[value]
        return value

    def join(self, one: Value, two: Value) -> None:
        if (a := self.root(one)) != (b := self.root(two)):
            self.above[a] = b
