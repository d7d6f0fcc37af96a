"""Methods that change what a caller has, by another name or given to a function: texts that must not be proved.

A function of released values is run on one example of them. What it appends to a list of its caller is that example's;
what follows is releases that nobody pays, where what was released is above 1000.
"""

from __future__ import annotations

import ast

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.prove.asking import Solvers
from refdp.prove.plain import beyond
from tests.mutants.harness import Mutant, applied, edit
from tests.prove.attacks import SMALL
from tests.prove.hostile_sixth import GIVEN, GROW, LEAVES, SIGNED, TREES, VALUES
from tests.prove.page import read

UNPAID = (
    "            for _ in range(50):\n"
    '                with curator.subsample("sample", params.subsample, population):\n'
    f'                    curator.release_sum("leaves", charge, population, {LEAVES}\n'
)
BY_ANOTHER_NAME = {
    "a name": "put = kept.append\n    put(noisy[0, 0])",
    "a function that is given it": "list(map(kept.append, noisy[0]))",
    "a key": "min([noisy[0, 0]], key=kept.append)",
    "a dictionary": "table = {'put': kept.append}\n    table['put'](noisy[0, 0])",
    "what a function gives": "(lambda: kept.append)()(noisy[0, 0])",
}


def text(line: str) -> Mutant:
    called = (
        "        kept = []\n        found = leaf_values(params, noisy, kept)\n        if kept and kept[0] > 1000:\n"
    )
    signed = SIGNED.replace("noisy: Floats", "noisy: Floats, kept: list")
    return Mutant("a method by another name", {
        VALUES: edit((SIGNED, signed), (GIVEN, f"    {line}\n{GIVEN}")),
        GROW: edit((TREES, f"{called}{UNPAID}{TREES.replace('leaf_values(params, noisy)', 'found')}")),
    }, "", {})  # fmt: skip


@pytest.mark.parametrize("line", BY_ANOTHER_NAME.values(), ids=list(BY_ANOTHER_NAME))
def test_a_method_by_another_name_is_refused(line: str) -> None:
    found = beyond(ast.parse(f"def leaf_values(params, noisy, kept):\n    {line}\n    return noisy\n"))
    assert "append by another name" in [why for _, why in found]


@pytest.mark.parametrize("line", [BY_ANOTHER_NAME["a name"], BY_ANOTHER_NAME["a function that is given it"]])
def test_a_text_that_appends_by_another_name_is_not_proved(line: str) -> None:
    with applied(text(line).patches):  # type: ignore[arg-type]
        found = read("sgbdt", SMALL["sgbdt"], Solvers(), briefly=True)
    assert found.verdict == "NOT PROVED"


def test_a_text_that_appends_by_the_methods_own_name_is_not_proved() -> None:
    with applied(text("kept.append(noisy[0, 0])").patches):  # type: ignore[arg-type]
        found = read("sgbdt", SMALL["sgbdt"], Solvers(), briefly=True)
    assert [one.reason for one in found.failures] == ["kept, which the function has not made itself, is changed"]


def test_a_function_of_numpy_that_writes_into_its_argument_is_refused_by_its_name() -> None:
    """The small language looks at methods alone; what refuses such a text is the list of numpy's functions."""
    mutant = text("np.copyto(kept, noisy[0, 0])")
    array = edit(("kept = []", "kept = np.zeros(1)"), ("if kept and kept", "if kept"))
    with applied({**mutant.patches, GROW: lambda source: array(mutant.patches[GROW](source))}):  # type: ignore
        found = read("sgbdt", SMALL["sgbdt"], Solvers(), briefly=True)
    assert found.verdict == "NOT PROVED"
    refused = [one.reason for one in found.failures if one.kind == "leak"]
    assert refused == ["numpy's copyto is no function of its arguments alone that is known here"]
