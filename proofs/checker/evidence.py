"""The kinds of evidence. Each has `check`, which never trusts a verdict but derives an outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Protocol

from proofs.checker.enclosures import ARITHMETICS, Enclosed, enclose
from proofs.checker.formulas import code_text, enclosed_text, expression_text, statement_text, tight_text
from proofs.checker.statements import AtMost, ForAll, Rational, call, fails_at, is_inhabited, prove
from proofs.checker.symbols import symbols, vanishes
from proofs.checker.tightness import Tight, is_reached, is_tight
from proofs.kernel import KernelError, axioms_of, committed

Result = Literal["holds", "fails", "unknown"]
EXACT = "exact arithmetic"
POLYNOMIALS = "polynomial arithmetic"


@dataclass(frozen=True)
class Outcome:
    """What a piece of evidence shows.

    decisive: False for evidence that can refute but never prove (small scopes, prose). witness: for "fails".
    prose: True for a step in words. formula: what was checked, normalised. variables: the names in it, if it has any.
    ran: the functions of refdp that were run on them.
    """

    result: Result
    checked_by: tuple[str, ...]
    note: str
    witness: Mapping[str, str] | None = None
    tight: str | None = None
    decisive: bool = True
    prose: bool = False
    formula: str = ""
    variables: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()


class Evidence(Protocol):
    """Anything with a check."""

    def check(self) -> Outcome:
        """Derive the outcome."""

    def formula(self) -> str:
        """What is checked, normalised: another statement, domain or computation is another text. Empty for prose."""


@dataclass(frozen=True)
class Proved:
    """Both solvers refute the negation, for all values; with `tight`, the bound is also shown to be the supremum."""

    statement: AtMost | ForAll
    tight: Tight | None = None
    label: str = ""

    def check(self) -> Outcome:
        proof, label = prove(self.statement), self.label or "inequality"
        if proof.witness is not None:
            return Outcome("fails", (EXACT,), f"{label}: fails", _shown(self.statement, proof.witness))
        if not proof.holds:
            return Outcome("unknown", (), f"{label}: no solver decided it")
        if not is_inhabited(self.statement):
            return Outcome("unknown", (), f"{label}: no values found that satisfy its conditions")
        if not proof.questions:
            return self._with_tightness(
                Outcome("holds", (POLYNOMIALS,), f"{label}: both sides are the same polynomials")
            )
        alone = "" if proof.agreed else ", a single solver's word"
        note = f"{label}: {proof.questions} questions, {' and '.join(proof.solvers)}: unsat{alone}"
        return self._with_tightness(Outcome("holds", proof.solvers, note))

    def formula(self) -> str:
        text = statement_text(self.statement)
        if self.tight is not None and isinstance(self.statement, AtMost):
            return f"{text} {tight_text(self.statement, self.tight)}"
        return text

    def _with_tightness(self, outcome: Outcome) -> Outcome:
        if self.tight is None or not isinstance(self.statement, AtMost):
            return outcome
        if not is_tight(self.statement, self.tight):
            return replace(outcome, result="unknown", note=f"{outcome.note}; not shown to be tight: {self.tight.where}")
        return replace(outcome, tight=self.tight.words())


@dataclass(frozen=True)
class Reached:
    """No lower bound holds: the place or family of `tight` checks. That the bound itself holds is other evidence."""

    statement: AtMost
    tight: Tight

    def check(self) -> Outcome:
        if not is_reached(self.statement, self.tight):
            return Outcome("unknown", (), f"not shown to be reached: {self.tight.where}")
        note = f"reached {self.tight.where}: place and limit checked, a bound lower by 1/1000 fails"
        return Outcome("holds", (EXACT, "sympy") if self.tight.limit else (EXACT,), note, tight=self.tight.words())

    def formula(self) -> str:
        return f"{statement_text(self.statement)} {tight_text(self.statement, self.tight)}"


@dataclass(frozen=True)
class Counterexample:
    """The statement is false at these rational values, re-executed in exact arithmetic."""

    statement: AtMost | ForAll
    at: Mapping[str, Rational]

    def check(self) -> Outcome:
        if not fails_at(self.statement, self.at):
            return Outcome("unknown", (), "the proposed counterexample does not refute the statement")
        return Outcome("fails", (EXACT,), "exact counterexample, re-executed", _shown(self.statement, self.at))

    def formula(self) -> str:
        return statement_text(self.statement)


@dataclass(frozen=True)
class Identity:
    """left = right, as expressions in symbols (all real, or positive)."""

    names: str
    left: Callable[..., Any]
    right: Callable[..., Any]
    positive: bool = False
    integer: str = ""
    label: str = "identity"

    def _values(self) -> dict[str, Any]:
        values = symbols(self.names, positive=True) if self.positive else symbols(self.names)
        return values | (symbols(self.integer, integer=True, nonnegative=True) if self.integer else {})

    def formula(self) -> str:
        return expression_text(self._values(), self.left, self.right)

    def check(self) -> Outcome:
        values = self._values()
        if vanishes(call(self.left, values) - call(self.right, values)):
            return Outcome("holds", ("sympy",), f"{self.label}: left - right simplifies to 0")
        return Outcome("unknown", (), f"{self.label}: left - right does not simplify to 0")


@dataclass(frozen=True)
class Bounded:
    """quantity < bound on a box, by ball arithmetic with a second opinion by intervals."""

    statement: Enclosed
    label: str = "enclosure"

    def check(self) -> Outcome:
        boxes = enclose(self.statement)
        domain = ", ".join(f"{name} in [{low}, {high}]" for name, (low, high) in self.statement.box.items())
        if len(boxes) < len(ARITHMETICS):
            return Outcome("unknown", tuple(boxes), f"{self.label}: not enclosed on {domain}")
        counted = ", ".join(f"{library} {count} boxes" for library, count in boxes.items())
        return Outcome("holds", tuple(boxes), f"{self.label}: on {domain}: {counted}")

    def formula(self) -> str:
        return enclosed_text(self.statement.box, self.statement.quantity, self.statement.bound)


@dataclass(frozen=True)
class BoundedCounterexample:
    """quantity > bound at a rational point, shown by both enclosures."""

    statement: Enclosed
    at: Mapping[str, Rational]

    def check(self) -> Outcome:
        if not self.statement.fails_at(self.at):
            return Outcome("unknown", (), "the proposed counterexample does not refute the statement")
        libraries = tuple(a.library for a in ARITHMETICS)
        return Outcome("fails", libraries, "counterexample in rigorous enclosures", _text(self.at))

    def formula(self) -> str:
        return enclosed_text(self.statement.box, self.statement.quantity, self.statement.bound)


@dataclass(frozen=True)
class Finite:
    """A statement about finitely many cases, each checked in exact arithmetic.

    supports: True if the claim is about more cases than these; then this can refute it but not prove it.
    """

    cases: Callable[[], Any]
    holds: Callable[[Any], bool]
    label: str
    supports: bool = False

    def check(self) -> Outcome:
        count = 0
        for case in self.cases():
            count += 1
            if not self.holds(case):
                return Outcome("fails", (EXACT,), f"{self.label}: fails", {"case": str(case)})
        if not count:
            return Outcome("unknown", (), f"{self.label}: no case")
        return Outcome("holds", (EXACT,), f"{self.label}: all {count} cases", decisive=not self.supports)

    def formula(self) -> str:
        return code_text(self.cases, self.holds)


@dataclass(frozen=True)
class Exhibit:
    """A computation that returns a counterexample as a readable mapping, or None if there is none after all.

    It must compute exactly or with enclosures. `checked_by` names the arithmetic.
    """

    run: Callable[[], Mapping[str, Any] | None]
    label: str
    checked_by: tuple[str, ...] = (EXACT,)

    def check(self) -> Outcome:
        found = self.run()
        if found is None:
            return Outcome("unknown", (), f"{self.label}: no counterexample")
        return Outcome("fails", self.checked_by, self.label, _text(found))

    def formula(self) -> str:
        return code_text(self.run)


@dataclass(frozen=True)
class SmallScope:
    """Exhaustive search through a finite part of an infinite scope: can refute, never proves.

    run returns None if nothing was found, else the counterexample. scope says in words what was searched.
    """

    run: Callable[[], Mapping[str, Any] | None]
    scope: str
    checked_by: tuple[str, ...] = ("replay",)

    def check(self) -> Outcome:
        found = self.run()
        if found is None:
            return Outcome("holds", self.checked_by, f"no counterexample among {self.scope}", decisive=False)
        return Outcome("fails", self.checked_by, f"counterexample among {self.scope}", _text(found))

    def formula(self) -> str:
        return code_text(self.run)


@dataclass(frozen=True)
class KernelChecked:
    """A theorem of proofs/coq that rests on these axioms and no others; proofs/kernel.py asks Coq.

    Without Coq the committed record counts, as long as the sources are those that it was made from; that is said.
    """

    theorem: str
    axioms: tuple[str, ...]

    def check(self) -> Outcome:
        try:
            found = axioms_of(self.theorem)
        except KernelError as error:
            return Outcome("unknown", (), f"{self.theorem}: {error}")
        if set(found) != set(self.axioms):
            return Outcome("unknown", (), f"{self.theorem} rests on other axioms: {', '.join(found) or 'none'}")
        return Outcome("holds", ("Coq",), f"{self.theorem}: the kernel's theorem, {len(found)} axioms of its library")

    def formula(self) -> str:
        return str(committed()["theorems"].get(self.theorem, {}).get("statement", ""))


@dataclass(frozen=True)
class Follows:
    """The statement follows from the claims that it uses, by the argument in words: ARGUED at best."""

    argument: str

    def check(self) -> Outcome:
        return Outcome("holds", (), f"argued: {self.argument}", decisive=False, prose=True)

    def formula(self) -> str:
        return ""


def _shown(statement: AtMost | ForAll, values: Mapping[str, Rational]) -> dict[str, str]:
    """The witness as text, with what happens there."""
    shown = _text({v.name: Fraction(values[v.name]) for v in statement.variables})
    if isinstance(statement, AtMost):
        quantities, bound = statement.sides({name: Fraction(value) for name, value in values.items()})
        quantity = max(quantities)
        shown["shows"] = f"{quantity} (about {float(quantity):.6g}) exceeds {bound} (about {float(bound):.6g})"
    return shown


def _text(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}
