"""The prove reading of the other papers, with few trees; `make prove` has all settings and all mutants."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.prove.asking import Solvers, number, real
from refdp.prove.unknown import Unknown
from tests.mutants.harness import Mutant, applied
from tests.prove.mutants import NEW
from tests.prove.page import OWN, in_sight, read, verdict

ONE = {"depth": 1}
PROVED: list[tuple[str, dict[str, Any]]] = [
    ("fedgbdt", {"target": "regression", "trees": 2}),
    ("fedgbdt", {"splits": "histogram", "target": "regression", "trees": 2}),
    ("fedgbdt", {"splits": "partially-random", "target": "regression", "trees": 2, "relation": "replace-one"}),
    ("inprivate", {"target": "regression", "rounds": 1}),
    ("dpxgboost", {"trees": 1}),
    ("dpxgboost", {"trees": 1, "candidates": "quantiles", "bins": 7}),
    ("sgbdt", {"target": "regression", "extra_trees": 1, "trees": 1}),
]


@pytest.fixture(scope="module")
def solvers() -> Solvers:
    return Solvers()


@pytest.mark.parametrize(("name", "settings"), PROVED, ids=[f"{name} {said}" for name, said in PROVED])
def test_repaired_training_is_proved(solvers: Solvers, name: str, settings: dict[str, Any]) -> None:
    found = read(name, settings, solvers)
    assert (found.verdict, found.failures) == ("PROVED", ())


@pytest.mark.parametrize("mutant", NEW["sgbdt"], ids=lambda mutant: mutant.name)
def test_mutant_of_budgets_and_samples_is_not_proved(solvers: Solvers, mutant: Mutant) -> None:
    with applied(mutant.patches):  # type: ignore[arg-type]
        found = read("sgbdt", {"target": "regression", "trees": 2, "depth": 1, **mutant.settings}, solvers)
    assert found.verdict == "NOT PROVED"


def test_a_mutant_of_what_is_trusted_is_said_to_be_beyond_sight(solvers: Solvers) -> None:
    hosts = [mutant for mutant in OWN["fedgbdt"] if not in_sight(mutant)]
    assert hosts
    assert {verdict("fedgbdt", mutant, solvers)[0] for mutant in hosts} == {"beyond its sight"}


@pytest.mark.parametrize(
    ("name", "settings"),
    [("dpxgboost", {"columns": 0.5}), ("fedgbdt", {"noise_by": "record", "relation": "replace-one"})],
)
def test_what_the_reading_does_not_know_is_not_proved(solvers: Solvers, name: str, settings: dict[str, Any]) -> None:
    found = read(name, settings, solvers)
    assert found.verdict == "NOT PROVED"
    assert {one.kind for one in found.failures} == {"not modelled"}
    assert all(one.line and one.reason for one in found.failures)


def test_facts_that_exclude_each_other_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = Unknown.facts

    def contradictory(self: Unknown, terms: list[Any]) -> list[Any]:
        nothing = real()
        return [*facts(self, terms), nothing > 0, nothing < number(0)]

    monkeypatch.setattr(Unknown, "facts", contradictory)
    found = read("fedgbdt", {"target": "regression", "trees": 1}, Solvers())
    assert found.verdict == "NOT PROVED"
    assert "exclude each other" in found.failures[0].reason
