"""numpy's functions write to an argument that is given as `out`, in its place or by its name: nothing of it is proved.

The reading knows what was released by one example. An array that a text makes and then writes a function of a released
value to would be known at that example alone: here it is 1 there, and a billion where a released value is above a
million, which makes the second release of the same values that large.
"""

from __future__ import annotations

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.prove.asking import Solvers
from tests.mutants.harness import Mutant, added, applied, edit
from tests.prove.attacks import SMALL
from tests.prove.hostile_eighth import LAST, TREE, D
from tests.prove.page import read

RARELY = "np.where(first[:1] > 1e6, 1e9, 1.0)"
WRITES = (
    f"np.multiply(scale, {RARELY}, scale)", f"np.multiply(scale, {RARELY}, out=scale)",
    f"np.multiply(*[scale, {RARELY}, scale])", f"np.multiply(scale, {RARELY}, **{{'out': scale}})",
    "np.clip(first[:1], 1.0, 1.5, scale)", "first[:1].clip(1.0, 1.5, scale)", "np.sum(first[:1][None], 0, None, scale)",
    "np.take(first, [0], None, scale)", f"{RARELY}.cumsum(0, None, scale)",
    "np.concatenate([first[:1]], 0, scale)", "np.round(first[:1], 0, scale)", f"np.copyto(scale, {RARELY})",
)  # fmt: skip

REASONS = (
    "whose result goes to one of its arguments",
    "out, which is written to",
    "** gives a function",
    "numpy's copyto",
)


def twice(line: str, patches: dict[str, object]) -> Mutant:
    again = (
        '    first = curator.release("leaves", for_leaves, value)\n    scale = np.ones(1)\n'
        f'    {line}\n    again = curator.release("leaves", for_leaves, value * scale[0])\n'
        "    return Tree(np.concatenate(chosen), again)"
    )
    half = "params.leaf_charge(epsilon, clip)", "params.leaf_charge(epsilon / 2, clip)"
    return Mutant(line, {TREE: edit(half, (LAST, again)), **patches}, "", {})  # type: ignore[dict-item]


def own(line: str) -> Mutant:
    note = f"def note(first, scale):\n    {line}\n    return first\n"
    return twice("first = note(first, scale)", {f"{D}:+note": added(note)})


@pytest.mark.parametrize("line", WRITES)
@pytest.mark.parametrize(
    "kind", [pytest.param("in the text", marks=pytest.mark.statistics), "in a function of released values"]
)  # 2 seconds each
def test_a_text_that_writes_to_an_argument_is_not_proved(line: str, kind: str) -> None:
    mutant = twice(line, {}) if kind == "in the text" else own(line)
    with applied(mutant.patches):  # type: ignore[arg-type]
        found = read("dpboost", SMALL["dpboost"], Solvers(), briefly=True)
    assert found.verdict == "NOT PROVED", found.verdict
    assert found.questions == 0 and any(why in one.reason for one in found.failures for why in REASONS)


@pytest.mark.parametrize("kind", ["in the text", "in a function of released values"])
def test_the_same_text_that_writes_nothing_is(kind: str) -> None:
    mutant = twice("scale = scale + 0", {}) if kind == "in the text" else own("scale = scale + 0")
    with applied(mutant.patches):  # type: ignore[arg-type]
        assert read("dpboost", SMALL["dpboost"], Solvers(), briefly=True).verdict == "PROVED"
