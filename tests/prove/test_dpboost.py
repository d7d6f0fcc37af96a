"""The prove reading of DPBoost: proved as repaired, with bounds that have no room, and mutants that are not proved."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

z3 = pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.faces.cli import run  # noqa: E402
from refdp.faces.registry import paper  # noqa: E402
from refdp.papers import dpboost  # noqa: E402
from refdp.privacy.events import Charge  # noqa: E402
from refdp.prove.asking import Solvers, evaluated, number, real  # noqa: E402
from refdp.prove.reading import Proof, prove  # noqa: E402
from refdp.prove.report import schema_of  # noqa: E402
from tests.mutants.dpboost import MUTANTS  # noqa: E402
from tests.mutants.harness import Mutant, applied  # noqa: E402

SMALL = {"epsilon": 1.0, "relation": "add-remove", "trees": 2, "trees_per_ensemble": 2, "depth": 1, "bins": 4}
HOSTS = ("refdp.data.memory", "refdp.privacy.sources")
IN_SIGHT = [one for one in MUTANTS if not all(path.startswith(HOSTS) for path in one.patches)]
"""Mutants of the text that trains; those of hosts and of sources of noise are for replays and tests."""


@pytest.fixture(scope="module")
def solvers() -> Solvers:
    return Solvers()


def proof(solvers: Solvers, classes: int = 0, **settings: Any) -> Proof:
    params = paper("dpboost").params({**SMALL, **settings}, as_published=False)
    return prove("dpboost", params, schema_of(classes), solvers=solvers)


@pytest.mark.parametrize("settings", [{}, {"relation": "replace-one"}, {"noise": "floating"}, {"gradients": "clip"}])
def test_repaired_training_is_proved_and_both_solvers_agree(solvers: Solvers, settings: dict[str, Any]) -> None:
    found = proof(solvers, **settings)
    assert (found.verdict, found.failures) == ("PROVED", ())
    assert found.releases == 4
    assert solvers.single == 0


def test_three_classes(solvers: Solvers) -> None:
    assert proof(solvers, classes=3).verdict == "PROVED"


@pytest.mark.parametrize(("charge", "release"), [("split_charge", "splits of level 0"), ("leaf_charge", "leaves")])
def test_a_bound_two_percent_smaller_fails_at_its_release(solvers: Solvers, charge: str, release: str) -> None:
    def smaller(own: Any) -> Any:
        def changed(self: Any, *given: Any) -> Charge:
            found = own(self, *given)
            return replace(found, declared=replace(found.declared, bound=found.declared.bound * 0.98))

        return changed

    with applied({f"refdp.papers.dpboost:Params.{charge}": smaller}):
        found = proof(solvers, noise="floating", trees=1, trees_per_ensemble=1)
    assert [one.kind for one in found.failures] == ["sensitivity"]
    assert found.failures[0].release.endswith(release)
    assert found.failures[0].line.startswith("dpboost.py:")


@pytest.mark.parametrize("mutant", IN_SIGHT, ids=lambda mutant: mutant.name)
def test_mutant_of_the_text_is_not_proved(solvers: Solvers, mutant: Mutant) -> None:
    settings = {"noise": "floating", "trees": 4, "trees_per_ensemble": 2, "depth": 2, **mutant.settings}
    with applied(mutant.patches):
        found = proof(solvers, **settings)
    assert found.verdict == "NOT PROVED"
    assert all(one.reason for one in found.failures)


def test_a_mechanism_that_is_not_known_is_not_proved(solvers: Solvers) -> None:
    class Louder(dpboost.Exponential):  # type: ignore[misc]
        """A mechanism of which nothing is known."""

    def other(own: Any) -> Any:
        return lambda self, epsilon: replace(own(self, epsilon), mechanism=Louder(1e-9))

    with applied({"refdp.papers.dpboost:Params.split_charge": other}):
        found = proof(solvers)
    assert {one.kind for one in found.failures} == {"not modelled"}


def test_the_published_constants_fail_with_values_that_hold_exactly(solvers: Solvers) -> None:
    params = paper("dpboost").params({**SMALL, "constants": "published", "noise": "floating"}, as_published=False)
    found = prove("dpboost", params, schema_of(0), solvers=solvers)
    assert found.verdict == "NOT PROVED"
    splits = next(one for one in found.failures if one.release.endswith("splits of level 0"))
    assert splits.kind == "sensitivity"


def test_values_are_put_into_the_conditions_in_rational_arithmetic() -> None:
    a, b = real(), real()
    reply = Solvers().ask([a == 3, b * a == 1, a / b > 8])
    assert reply.values[str(a)] == 3 and reply.values[str(b)] == Fraction(1, 3)
    assert reply.exact
    assert evaluated(z3.If(a > number(2), a, b), {str(a): Fraction(1), str(b): Fraction(7)}) == 7


def test_the_command_says_what_is_proved_and_exits_with_its_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--set", "trees=1", "trees_per_ensemble=1", "depth=1", "--classes", "0", "--json"]
    assert run(["prove", "dpboost", *small]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "PROVED" and found["failures"] == [] and set(found["solvers"]) == {"z3", "cvc5"}
    assert {"paper", "relation", "statement", "covers", "trusted", "seconds", "questions"} <= set(found)
    assert run(["prove", "dpboost", *small, "--set", "scheme=np"]) == 1
    assert json.loads(capsys.readouterr().out)["failures"][0]["kind"] == "budget"
