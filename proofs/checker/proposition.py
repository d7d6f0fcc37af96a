"""A proposition: what is stated and what is offered as evidence. Its verdict is derived here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from proofs.checker.evidence import Evidence, Outcome
from proofs.checker.formulas import digest
from proofs.tool.attribution import Attribution, measured
from refdp.ledger.claims import Claim, Condition, Verdict
from refdp.ledger.fingerprint import fingerprint, name_of
from refdp.privacy.events import Relation

NONE = "none"
ADD_REMOVE = Relation.ADD_REMOVE.value
REPLACE_ONE = Relation.REPLACE_ONE.value


@dataclass(frozen=True)
class Proposition:
    """One statement under one neighbouring relation.

    id: `<paper>/<slug>`. locus: the place in the paper. about: the refdp functions that the evidence runs.
    evidence: each must hold for PROVED; one that fails makes REFUTED. uses: claims that the statement rests on.
    assumes: premises that no evidence checks; with any, here or in a premise, the best verdict is CONDITIONAL.
    argument: the step from what is checked to the statement, in words; with one, the best verdict is ARGUED.
    gloss: what the formula's symbols mean, and remarks that the statement does not need.
    repaired_by: the true sibling of a refuted one. restates: the id of a claim that says the same; the verdict is its
    verdict. reason: why an OPEN claim is open.
    attribution: the paper's sentence and how it is read, from proofs/quotes; None for facts of no paper.
    """

    id: str
    locus: str
    statement: str
    relation: str = NONE
    about: tuple[Callable[..., Any], ...] = ()
    evidence: tuple[Evidence, ...] = ()
    uses: tuple[str, ...] = ()
    assumes: tuple[Condition, ...] = ()
    argument: str = ""
    gloss: str = ""
    repaired_by: str | None = None
    restates: str | None = None
    reason: str = ""
    attribution: Attribution | None = None

    @property
    def paper(self) -> str:
        """The part of the id before the slash."""
        return self.id.partition("/")[0]

    @property
    def premises(self) -> tuple[str, ...]:
        """All claims whose verdicts this one's depends on."""
        return (*self.uses, *((self.restates,) if self.restates else ()))


def derive(proposition: Proposition, outcomes: Iterable[Outcome], premises: Mapping[str, Claim]) -> Claim:
    """The claim with the verdict that the outcomes and the premises' verdicts allow."""
    found = tuple(outcomes)
    verdict, reason = _verdict(proposition, found, premises)
    restated = premises[proposition.restates] if proposition.restates else None
    formulas = tuple(o.formula for o in found if o.formula)
    failing = next((o for o in found if o.result == "fails"), None)
    claim = Claim(
        id=proposition.id,
        paper=proposition.paper,
        locus=proposition.locus,
        statement=proposition.statement,
        relation=proposition.relation,
        verdict=verdict,
        tight=next((o.tight for o in found if o.tight), restated.tight if restated else None),
        witness=failing.witness if failing else (restated.witness if restated else None),
        checked_by=_checkers(found, failing) or (restated.checked_by if restated else ()),
        evidence=tuple(o.note for o in found) + ((f"restates {restated.id}",) if restated else ()),
        uses=proposition.premises,
        assumes=_assumptions(proposition, premises),
        about={name_of(f): fingerprint(name_of(f)) for f in proposition.about},
        repaired_by=proposition.repaired_by,
        argument=proposition.argument,
        gloss=proposition.gloss,
        formulas=formulas,
        digest=digest(formulas),
        reason=reason,
    )
    return attributed(claim, proposition.attribution)


def attributed(claim: Claim, attribution: Attribution | None) -> Claim:
    """The claim with the paper's sentence, its place, the reading, the kind of error and the erratum."""
    if attribution is None:
        return claim
    return replace(claim, **{**vars(attribution), "erratum": measured(attribution.erratum, claim.witness)})


def _verdict(
    proposition: Proposition, outcomes: tuple[Outcome, ...], premises: Mapping[str, Claim]
) -> tuple[Verdict, str | None]:
    if any(o.result == "fails" for o in outcomes):
        return "REFUTED", "a counterexample checks"
    if proposition.restates and premises[proposition.restates].verdict == "REFUTED":
        return "REFUTED", f"says the same as {proposition.restates}, which is refuted"
    if any(o.result == "unknown" for o in outcomes):
        return "OPEN", proposition.reason or next(o.note for o in outcomes if o.result == "unknown")
    if not proposition.restates and not any(o.decisive or o.prose for o in outcomes):
        return "OPEN", proposition.reason or "nothing decides it"
    lost = [name for name in proposition.premises if premises[name].verdict in ("REFUTED", "OPEN")]
    if lost:
        failing = ", ".join(f"{name} ({premises[name].verdict})" for name in lost)
        return "OPEN", f"{proposition.reason + '; ' if proposition.reason else ''}a premise fails: {failing}"
    loose = _unexplained(proposition, outcomes)
    if loose:
        return "OPEN", f"nothing ties the formula to the statement: {', '.join(loose)} is not explained"
    assumed = _assumptions(proposition, premises)
    if assumed:
        return "CONDITIONAL", f"only if: {'; '.join(condition.text for condition in assumed)}"
    prose = _prose(proposition, outcomes, premises)
    return ("ARGUED", prose) if prose else ("PROVED", None)


def _unexplained(proposition: Proposition, outcomes: tuple[Outcome, ...]) -> list[str]:
    """Variables of formulas that neither run code that the claim is about nor are named in its words.

    With an argument it is the reader who ties the two, and the claim is ARGUED.
    """
    about = {name_of(function) for function in proposition.about}
    words = " ".join([proposition.locus, proposition.statement, proposition.gloss, *(o.note for o in outcomes)])
    known = set(re.findall(r"\w+", words))
    loose = {name for o in outcomes if not about & set(o.ran) for name in o.variables if name not in known}
    return [] if about or proposition.argument or proposition.restates else sorted(loose)


def _prose(proposition: Proposition, outcomes: tuple[Outcome, ...], premises: Mapping[str, Claim]) -> str | None:
    """Why a machine did not decide the statement, None if it did."""
    if any(o.prose for o in outcomes):
        return "no formula is decided: it follows from its premises in words"
    if proposition.argument:
        return "the step from the formula to the statement is the argument"
    argued = [name for name in proposition.premises if premises[name].verdict == "ARGUED"]
    return f"rests on what is argued: {', '.join(argued)}" if argued else None


def _assumptions(proposition: Proposition, premises: Mapping[str, Claim]) -> tuple[Condition, ...]:
    """Its own conditions and those of all premises, each once."""
    inherited = [a for name in proposition.premises for a in premises[name].assumes]
    return tuple(dict.fromkeys([*proposition.assumes, *inherited]))


def _checkers(outcomes: tuple[Outcome, ...], failing: Outcome | None) -> tuple[str, ...]:
    """Who vouches for the verdict: the refuter, or everybody who checked a part."""
    if failing:
        return failing.checked_by
    return tuple(dict.fromkeys(name for outcome in outcomes for name in outcome.checked_by))
