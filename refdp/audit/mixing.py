"""From privacy losses of single releases to the loss of a whole run, secret per-record randomness mixed exactly.

The audited record was replayed as present in every block. With the other records' randomness held fixed, the output's
probability is a mixture over the blocks that the record could have fallen into:
per subsample scope log(1 - q + q exp(l)), per partition log(1 - sum w + sum_j w_j exp(l_j)); anything else adds up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np

from refdp.privacy.curator import ScopeRef


@dataclass(frozen=True)
class Term:
    """Privacy loss (nats) of one release and the scopes around it, outermost first."""

    scopes: tuple[ScopeRef, ...]
    loss: float


def mixed(terms: Sequence[Term], level: int = 0) -> float:
    """Loss of the run between the data set with the audited record and the one without it."""
    return _fold(terms, level, _mixture)


def largest(terms: Sequence[Term], level: int = 0) -> float:
    """Upper bound of the loss when a record is replaced in its slot: it stays in its block, so the worst block.

    For a sample log(1 + q (exp(l) - 1)) (Balle, Barthe, Gaboardi 2018), where l bounds the loss between samples with
    the one record and with the other, and between samples with and without one of them: see `stronger`.
    """
    return _fold(terms, level, _largest)


def stronger(terms: Sequence[Term], others: Sequence[Term]) -> list[Term]:
    """The first list, but for every outermost sample that one of the two whose losses add up to more."""
    kept = [term for term in terms if not _sample(term)]
    for serial in sorted({_sample(term) for term in (*terms, *others)} - {0}):
        sides = [[term for term in side if _sample(term) == serial] for side in (terms, others)]
        kept += max(sides, key=lambda side: sum(term.loss for term in side))
    return kept


def _sample(term: Term) -> int:
    """Serial number of the outermost scope if that is a sample, else 0."""
    return term.scopes[0].serial if term.scopes and term.scopes[0].kind == "subsample" else 0


def _largest(scope: ScopeRef, losses: dict[int, float]) -> float:
    worst = max([*losses.values(), 0.0 if _may_be_out(scope) else -np.inf])
    return _mixture(scope, dict.fromkeys(losses, worst)) if scope.kind == "subsample" else worst


def _fold(terms: Sequence[Term], level: int, combine: object) -> float:
    assert callable(combine)
    total = 0.0
    for scope, group in groupby(terms, key=lambda term: _scope_at(term, level)):
        inside = list(group)
        if scope is None:
            total += sum(term.loss for term in inside)
            continue
        blocks: dict[int, list[Term]] = {}
        for term in inside:
            blocks.setdefault(term.scopes[level].block, []).append(term)
        losses = {block: _fold(members, level + 1, combine) for block, members in blocks.items()}
        total += combine(inside[0].scopes[level], losses)
    return total


def _scope_at(term: Term, level: int) -> tuple[Literal["scope"], int] | None:
    return ("scope", term.scopes[level].serial) if len(term.scopes) > level else None


def _may_be_out(scope: ScopeRef) -> bool:
    return sum(scope.weights) < 1 - 1e-12


def _mixture(scope: ScopeRef, losses: dict[int, float]) -> float:
    outside = 1.0 - sum(scope.weights[block] for block in losses)
    weights = np.array([max(outside, 0.0), *(scope.weights[block] for block in losses)])
    exponents = np.array([0.0, *losses.values()])
    kept = weights > 0
    top = float(np.max(exponents[kept]))
    if np.isinf(top):
        return top
    return top + float(np.log(np.sum(weights[kept] * np.exp(exponents[kept] - top))))
