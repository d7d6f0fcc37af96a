"""Loops by induction: one reading for any number of rounds, and texts whose rounds differ in what it cannot forget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.prove.asking import Solvers
from refdp.prove.forms import Form, form_of
from refdp.prove.loops import Carried, Loop, Loops
from refdp.prove.reading import Proof
from refdp.prove.unknown import Unknown
from tests.mutants.harness import Replacement, applied, edit
from tests.prove.page import read

S, F, D = "refdp.papers.sgbdt", "refdp.papers.fedgbdt", "refdp.papers.dpboost"
ONE: dict[str, dict[str, Any]] = {
    "sgbdt": {"target": "regression", "trees": 30, "depth": 1},
    "fedgbdt": {"target": "regression", "trees": 30, "depth": 1},
    "dpboost": {"target": "regression", "trees": 3, "trees_per_ensemble": 3, "depth": 5},
}


@pytest.fixture(scope="module")
def solvers() -> Solvers:
    return Solvers()


def mutated(solvers: Solvers, name: str, patches: Mapping[str, Replacement], **settings: Any) -> Proof:
    with applied(patches):
        return read(name, {**ONE[name], **settings}, solvers)


@pytest.mark.parametrize(("name", "read_releases"), [("sgbdt", 4), ("fedgbdt", 3), ("dpboost", 18)])
def test_many_rounds_are_read_as_few(solvers: Solvers, name: str, read_releases: int) -> None:
    found = read(name, ONE[name], solvers)
    assert (found.verdict, found.failures, found.releases) == ("PROVED", (), read_releases)
    assert any("by induction" in sentence for sentence in found.covers)


def test_further_rounds_ask_nothing_new(solvers: Solvers) -> None:
    few = read("sgbdt", ONE["sgbdt"], solvers)
    asked = solvers.questions
    more = read("sgbdt", {**ONE["sgbdt"], "trees": 31}, solvers)
    assert (few.verdict, more.verdict, few.releases) == ("PROVED", "PROVED", more.releases)
    assert solvers.questions - asked <= few.releases  # another scale of noise, and no more questions than its releases


HEAD = "    for number in range(first, first + rounds):"
LATE: list[tuple[str, str, Replacement, dict[str, Any]]] = [
    (
        "one late round without noise",
        f"{F}:boost",
        edit(
            (
                "sums = leaf_sums(params, batch, charged, population, curator)",
                "sums = (leaf_sums(params, batch, charged, population, curator) if number != 17\n"
                "                    else list(values(population.ask(Leaves(SUMS)))))",
            )
        ),
        {},
    ),
    (
        "one late round twice as loud",
        f"{S}:grow",
        edit(
            (
                'charge, population, Leaves(("g", "h")), lambda sums: sums[0].T)',
                'charge, population, Leaves(("g", "h")), lambda sums: sums[0].T * (2.0 if len(trees) == 17 else 1.0))',
            )
        ),
        {},
    ),
    (
        "louder with every round",
        f"{S}:grow",
        edit(
            (
                'charge, population, Leaves(("g", "h")), lambda sums: sums[0].T)',
                'charge, population, Leaves(("g", "h")), lambda sums: sums[0].T * (1.0 + len(trees)))',
            )
        ),
        {},
    ),
    (
        "late rounds that are released once more",
        f"{F}:boost",
        edit(
            (
                "        leaves = np.array(",
                "        if number >= 17:\n"
                "            leaf_sums(params, batch, charged, population, curator)\n"
                "        leaves = np.array(",
            )
        ),
        {},
    ),
    (
        "a count of rounds beside the loop",
        f"{S}:grow",
        edit(
            (HEAD, f"    seen = 0\n{HEAD}\n        seen = seen + 1"),
            ("lambda sums: sums[0].T)", "lambda sums: sums[0].T * (2.0 if seen == 17 else 1.0))"),
        ),
        {},
    ),
    (
        "a count of rounds in a list",
        f"{S}:grow",
        edit(
            (HEAD, f"    seen = [0]\n{HEAD}\n        seen[0] += 1"),
            ("lambda sums: sums[0].T)", "lambda sums: sums[0].T * (2.0 if seen[0] == 17 else 1.0))"),
        ),
        {},
    ),
    (
        "a count of rounds in an iterator",
        f"{S}:grow",
        edit(
            (HEAD, f"    seen = iter(range(99))\n{HEAD}"),
            ("lambda sums: sums[0].T)", "lambda sums: sums[0].T * (2.0 if next(seen) == 17 else 1.0))"),
        ),
        {},
    ),
    (
        "sums of the round before",
        f"{S}:grow",
        edit(
            (HEAD, f"    kept = []\n{HEAD}"),
            (
                "            noisy =",
                '            kept.append(values(population.ask(Leaves(("g", "h"))))[0].T)\n'
                "            if len(kept) > 1:\n"
                '                curator.release("leaves", charge, kept[-2])\n'
                "            noisy =",
            ),
        ),
        {},
    ),
    (
        "sums of all rounds in one release",
        f"{S}:grow",
        edit(
            (HEAD, f"    kept = []\n{HEAD}"),
            (
                "            noisy =",
                '            kept.append(values(population.ask(Leaves(("g", "h"))))[0].T)\n            noisy =',
            ),
            (
                "        population.tell(Advance(trees[-1].leaves[None], params.shrinkage))",
                "        population.tell(Advance(trees[-1].leaves[None], params.shrinkage))\n"
                '    curator.release("leaves", charge, np.array(kept))',
            ),
        ),
        {},
    ),
    (
        "records advance by the third level's sums",
        f"{D}:train_single_tree",
        edit(
            (
                "        population.tell(Descend(chosen[-1]))",
                '        population.tell(Descend(chosen[-1] if level != 2 else population.ask(Nodes(("g", COUNT)))))',
            )
        ),
        {},
    ),
]


@pytest.mark.parametrize(("what", "path", "replacement", "settings"), LATE, ids=[what for what, *_ in LATE])
def test_a_later_round_that_differs_is_not_proved(
    solvers: Solvers, what: str, path: str, replacement: Replacement, settings: dict[str, Any]
) -> None:
    found = mutated(solvers, path.partition(":")[0].rpartition(".")[2], {path: replacement}, **settings)
    assert found.verdict == "NOT PROVED", what
    assert all(one.reason for one in found.failures)


def test_a_loop_whose_rounds_leave_another_state_is_read_round_by_round(
    solvers: Solvers, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {**ONE["fedgbdt"], "trees": 4}
    assert any("by induction" in sentence for sentence in read("fedgbdt", given, solvers).covers)
    monkeypatch.setattr(Unknown, "left", lambda _: object())
    found = read("fedgbdt", given, solvers)
    assert not any("by induction" in sentence for sentence in found.covers)
    assert found.releases == given["trees"]


def test_a_private_sum_of_another_round_is_not_used() -> None:
    loops = Loops()
    open_loop = Loop(loops, "a line", range(9), Form(frozenset(), frozenset()), None)
    loops.active.append(open_loop)
    born = loops.now()
    loops.alive(born)
    open_loop.reading += 1
    with pytest.raises(Carried, match="another round"):
        loops.alive(born)
    loops.active.clear()
    with pytest.raises(Carried, match="another round"):
        loops.alive(born)


def test_a_loop_without_a_text_has_no_form() -> None:
    assert form_of("no such file", 2) is None
