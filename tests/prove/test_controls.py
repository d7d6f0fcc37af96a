"""Controls of the prove reading: bounds have no room, and texts that could tell it from training are refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.prove import asking, obligations
from refdp.prove.asking import Solvers
from refdp.prove.peeking import peeks
from refdp.prove.releases import Unproved, check
from refdp.prove.terms import Leak
from refdp.prove.unknown import Unknown
from tests.mutants.harness import applied, edit
from tests.prove.further import OTHERS
from tests.prove.page import read

ONE: list[tuple[str, dict[str, Any]]] = [
    ("dpboost", {"trees": 1, "trees_per_ensemble": 1, "depth": 1, "noise": "floating"}),
    ("dpboost", {"trees": 1, "trees_per_ensemble": 1, "depth": 1, "noise": "floating", "relation": "replace-one"}),
    ("inprivate", {"target": "regression", "rounds": 1, "owners": 1, "depth": 2, "noise": "floating"}),
    ("inprivate", {"rounds": 1, "owners": 1, "depth": 2, "residual_bound": 2.0}),  # 9/4 has no room without a grid
    ("dpxgboost", {"trees": 1, "depth": 1, "noise": "floating"}),
    ("dpxgboost", {"trees": 1, "depth": 1, "noise": "floating", "leaf": "average", "relation": "replace-one"}),
    ("fedgbdt", {"trees": 1, "target": "regression", "noise": "floating"}),
    ("fedgbdt", {"trees": 1, "noise": "floating"}),
    ("fedgbdt", {"trees": 1, "splits": "histogram", "target": "regression", "noise": "floating"}),
    ("sgbdt", {"trees": 1, "target": "regression", "noise": "floating"}),
    ("sgbdt", {"trees": 1, "noise": "floating"}),
]


@pytest.fixture(scope="module")
def solvers() -> Solvers:
    return Solvers()


@pytest.mark.statistics  # minutes: solvers find values of polynomials
@pytest.mark.parametrize(("name", "settings"), ONE, ids=[f"{name} {sorted(said.items())}" for name, said in ONE])
def test_every_bound_declared_two_percent_smaller_fails_at_its_release(
    solvers: Solvers, name: str, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[str] = []

    def smaller(host: Unknown, request: Any) -> None:
        bound = float(Fraction(request.sensitivity.bound) * 98 / 100)
        try:
            check(host, replace(request, sensitivity=replace(request.sensitivity, bound=bound)))
        except Unproved:
            raise
        else:
            passed.append(request.name)

    assert read(name, settings, solvers).verdict == "PROVED"
    monkeypatch.setattr(asking, "Z3_LIMIT", 1500)  # what is not decided is not proved either
    monkeypatch.setattr(asking, "CVC5_LIMIT", 1500)
    monkeypatch.setattr(obligations, "check", smaller)
    found = read(name, settings, solvers)
    assert passed == []
    assert found.failures and {one.kind for one in found.failures} == {"sensitivity"}
    assert all(one.line.startswith(f"{name}.py:") for one in found.failures)


def test_a_replaced_record_may_move_to_another_part(solvers: Solvers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts stay where both records are in one part, and change by one in two parts where they are not."""
    told: list[str] = []

    def smaller(host: Unknown, request: Any) -> None:
        if not request.name.endswith("sketch"):
            return check(host, request)
        bound = float(Fraction(request.sensitivity.bound) * 55 / 100)
        with pytest.raises(Unproved) as error:
            check(host, replace(request, sensitivity=replace(request.sensitivity, bound=bound)))
        return told.append(str(error.value))

    monkeypatch.setattr(obligations, "check", smaller)
    settings = {"trees": 1, "depth": 1, "noise": "floating", "relation": "replace-one"}
    assert read("dpxgboost", settings, solvers).verdict == "PROVED"
    assert len(told) == 1 and "the change exceeds 2.2" in told[0]


PEEKING = (
    "an error that hides a leak",
    "another path where the records are unknown",
    "the curator's transcript decides",
)


@pytest.mark.parametrize("what", PEEKING)
def test_a_text_that_could_tell_the_reading_from_training_leaks(solvers: Solvers, what: str) -> None:
    mutant = next(one for one in OTHERS["dpboost"] if one.name == what)
    with applied(mutant.patches):  # type: ignore[arg-type]
        found = read("dpboost", {"trees": 1, "trees_per_ensemble": 1, "depth": 1, "noise": "floating"}, solvers)
    assert found.verdict == "NOT PROVED"
    assert "leak" in {one.kind for one in found.failures}


def test_what_a_text_can_ask_of_the_population_is_the_protocol(solvers: Solvers) -> None:
    asked: dict[str, Any] = {"Memory": int}
    population = Unknown.__new__(Unknown)
    for question in ("isinstance(p, Memory)", "p.solvers", "hasattr(p, 'known')", "p._memo"):
        code = compile(question, "<mutant that asks>", "eval")
        with pytest.raises(Leak, match="which the text does not need"):
            eval(code, {**asked, "p": population})


def test_lines_that_can_tell_who_answers() -> None:
    assert peeks("import numpy as np\nfrom refdp.data.records import Interval\nx = isinstance(y, Interval)\n") == []
    for line in ("import os", "from sys import modules", "type(p)", "p.__class__", "isinstance(p, Memory)",
                 "hasattr(p, 'x')", "try:\n    x\nexcept Exception:\n    y",
                 "from refdp.prove import unknown"):  # fmt: skip
        assert peeks(line + "\n"), line


WHOLE = {
    "refdp.papers.dpboost:train_ensembles": edit(
        ("        with curator.partition(", '        population.tell(Refresh(("g",)))\n'
         "        population.tell(Root(candidates.features))\n"
         '        whole = [one[0] for one in values(population.ask(Nodes(("g", COUNT))))]\n'
         "        with curator.partition("),
        ("epsilon, block.clip, population, curator)", "epsilon, block.clip, population, curator, whole)"),
    ),
    "refdp.papers.dpboost:train_single_tree": edit(
        ("population: Population, curator: Curator\n", "population: Population, curator: Curator, whole: Any\n"),
        ('gradient_sum, count = values(population.ask(Nodes(("g", COUNT))))', "gradient_sum, count = whole"),
        ('release("leaves", for_leaves, value))', 'release("leaves", for_leaves, value) + np.zeros(2))'),
    ),
}  # fmt: skip


def test_sums_over_all_records_in_every_block_of_a_partition_leak(solvers: Solvers) -> None:
    """Numbers without an axis of nodes, taken before the blocks and released in each of them at the price of one."""
    with applied(WHOLE):
        found = read("dpboost", {"trees": 2, "trees_per_ensemble": 2, "depth": 1, "noise": "floating"}, solvers)
    assert found.verdict == "NOT PROVED" and "outside the secret selection" in found.failures[0].reason
