"""What the tests of the papers' claims share: claims by name, verdicts of their own evidence, ways to change them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from proofs.checker.evidence import Counterexample, Proved
from proofs.checker.proposition import Proposition, derive
from proofs.checker.statements import AtMost
from proofs.tool.ledger import check, propositions


def stated(paper: str) -> dict[str, Proposition]:
    """The paper's propositions, by the part of the id after the slash."""
    return {name.partition("/")[2]: p for name, p in propositions().items() if p.paper == paper}


def verdict(proposition: Proposition) -> str:
    """The verdict that its own evidence allows, premises and the step to the statement taken as proved."""
    alone = replace(proposition, uses=(), restates=None, about=(), argument="", gloss=words_of(proposition))
    return derive(alone, check(alone), {}).verdict


def words_of(proposition: Proposition) -> str:
    """Every variable's name, so that only the evidence decides."""
    names = {name for outcome in check(proposition) for name in outcome.variables}
    return " ".join([proposition.argument, proposition.gloss, *names])


def repaired(proposition: Proposition, bound: Callable[..., Any]) -> Proposition:
    """A refuted inequality with another bound, offered as proved. It has to be refuted as it stands."""
    evidence = proposition.evidence[0]
    assert verdict(proposition) == "REFUTED"
    assert isinstance(evidence, Counterexample) and isinstance(evidence.statement, AtMost)
    return replace(proposition, evidence=(Proved(replace(evidence.statement, bound=bound)),))


def verdict_with(proposition: Proposition, paper: ModuleType, function: str, mutant: Callable[..., Any]) -> str:
    """The verdict of an established claim once a formula that it is about is exchanged."""
    assert verdict(proposition) in ("PROVED", "ARGUED", "CONDITIONAL")
    originals = {formula for formula in proposition.about if formula.__name__ == function}
    assert originals
    with pytest.MonkeyPatch.context() as patch:
        for module in (paper, *_holders(function, originals)):
            patch.setattr(module, function, mutant, raising=False)
        return verdict(proposition)


def _holders(function: str, originals: set[Any]) -> list[ModuleType]:
    """Modules that know the formula by its name: a paper's may stand beside it and be imported."""
    ours = [m for name, m in sys.modules.items() if name.startswith(("refdp.", "proofs.")) and m is not None]
    return [module for module in ours if any(vars(module).get(function) is one for one in originals)]
