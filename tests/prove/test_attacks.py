"""No text that leaks by a route beside the formulas is proved, and none of what the papers do is refused for it."""

from __future__ import annotations

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.prove.asking import Solvers
from tests.mutants.harness import Mutant, applied
from tests.prove.attacks import ATTACKS, SMALL, paper_of
from tests.prove.page import read


@pytest.fixture(scope="module")
def solvers() -> Solvers:
    return Solvers()


@pytest.mark.parametrize("name", ["dpboost", "fedgbdt"])
def test_the_texts_that_are_attacked_are_proved(solvers: Solvers, name: str) -> None:
    found = read(name, SMALL[name], solvers)
    assert (found.verdict, found.failures) == ("PROVED", ())


@pytest.mark.parametrize("mutant", ATTACKS, ids=lambda mutant: mutant.name)
def test_a_leak_beside_the_formulas_is_not_proved(solvers: Solvers, mutant: Mutant) -> None:
    name = paper_of(mutant)
    with applied(mutant.patches):  # type: ignore[arg-type]
        found = read(name, {**SMALL[name], **mutant.settings}, solvers, briefly=True)
    assert found.verdict == "NOT PROVED"
    assert all(one.reason for one in found.failures)
