"""The theorem of private selection: its exact enumeration refutes bounds that are too small."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from proofs.checker.evidence import Finite
from proofs.composition import selection
from refdp.ledger import claims


def enumerated(name: str) -> Finite:
    """The evidence that enumerates."""
    stated = next(one for one in selection.PROPOSITIONS if one.id == name)
    return next(one for one in stated.evidence if isinstance(one, Finite))


@pytest.mark.parametrize("name", ["composition/selection-pure", "composition/selection-renyi"])
def test_no_enumerated_selection_costs_more_than_the_theorem_says(name: str) -> None:
    assert enumerated(name).check().result == "holds"
    assert claims.verdict(name) == "ARGUED"


def one_run(gamma: Fraction, one: Fraction, both: Fraction, a: int, b: int) -> Fraction:
    return one**b


def without_the_second_order(gamma: Fraction, one: Fraction, both: Fraction, a: int, b: int) -> Fraction:
    return one**b / gamma**b


@pytest.mark.parametrize(
    ("name", "function", "mutant"),
    [
        ("composition/selection-renyi", "renyi_bound", one_run),
        ("composition/selection-renyi", "renyi_bound", without_the_second_order),
        ("composition/selection-pure", "pure_power", lambda eta: 1 + eta),
    ],
)
def test_enumeration_rejects_bounds_that_are_too_small(
    monkeypatch: pytest.MonkeyPatch, name: str, function: str, mutant: Any
) -> None:
    """The cost of one run, the cost without the second order, and 1 + eta runs in place of 2 + eta."""
    monkeypatch.setattr(selection, function, mutant)
    assert enumerated(name).check().result == "fails"


def test_a_law_that_is_not_independent_of_the_records_is_rejected() -> None:
    """K of mean 2 beside one neighbour and of mean 10 beside the other loses more than the theorem allows."""
    evidence = enumerated("composition/selection-pure")

    def holds(case: Any) -> bool:
        p, q, _ = case
        worst = max(max(x / y, y / x) for x, y in zip(p, q, strict=True))
        other = selection.best(Fraction(1, 2), q)
        return all(x <= worst**3 * y for x, y in zip(selection.best(Fraction(1, 10), p), other, strict=True))

    assert replace(evidence, holds=holds).check().result == "fails"
