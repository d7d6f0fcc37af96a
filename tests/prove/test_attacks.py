"""No text that leaks by a route beside the formulas is proved, and none of what the papers do is refused for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.faces import registry
from refdp.faces.registry import paper
from refdp.prove import reading
from refdp.prove.asking import Solvers
from refdp.prove.report import schema_of
from tests.mutants.harness import Mutant, applied
from tests.prove.attacks import ATTACKS, ROUNDED, SMALL, WEIGHED, paper_of
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


@pytest.mark.parametrize("mutant", ROUNDED, ids=lambda mutant: mutant.name)
def test_values_that_the_grid_of_noise_moves_need_room_in_the_bound(solvers: Solvers, mutant: Mutant) -> None:
    test_a_leak_beside_the_formulas_is_not_proved(solvers, mutant)


def weighed(name: str, solvers: Solvers) -> reading.Proof:
    """A proof for two classes, or for a regression of a paper's small settings."""
    given = {"epsilon": 1.0, "relation": "add-remove", **SMALL[name]}
    classes = 0 if given.pop("target", "") == "regression" else 2
    params = paper(name).params(given, as_published=False)
    return reading.prove(name, params, schema_of(classes), solvers=solvers, briefly=True)


SLOW = dict.fromkeys(("grove", "counts of classes, taken for whole"), pytest.mark.statistics)
"""Minutes on a busy machine: Grove's discrete noise, and a histogram of classes."""


def slowly(names: Iterable[str]) -> list[Any]:
    """Parameters of a test, some of them with the marker `statistics`."""
    return [pytest.param(name, marks=[SLOW[name]] if name in SLOW else []) for name in names]


@pytest.mark.parametrize("attack", slowly(one.name for one in WEIGHED))
def test_what_leaks_for_weighed_records_alone_is_not_proved(
    solvers: Solvers, attack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = next(one for one in WEIGHED if one.name == attack)
    name = paper_of(mutant)
    with applied(mutant.patches):  # type: ignore[arg-type]
        assert weighed(name, solvers).verdict == "NOT PROVED"
        monkeypatch.setattr(reading, "WEIGHED", ())
        assert "takes weights of records" in str(weighed(name, solvers).failures[0].reason)
        monkeypatch.setattr(registry.paper(name).module.Contribution, "weighs", False)
        assert weighed(name, solvers).verdict == "PROVED"  # where every record counts as 1


@pytest.mark.parametrize("name", slowly(reading.WEIGHED))
def test_trainers_that_take_weights_are_proved_for_them(solvers: Solvers, name: str) -> None:
    found = weighed(name, solvers)
    assert (found.verdict, found.failures) == ("PROVED", ())
    assert any("weights" in one for one in found.covers)
