"""Training texts of a ninth attack that leak and were PROVED; none may be proved.

All words of theirs are known to `refdp.prove.words`; each asks what is otherwise in every process: the order of a set
that no name or method of a set made (views of dictionaries as arguments, a total order that there is none of), the
address in the text of an object, the decimal context of the thread, or an array that nobody filled (`where=`).
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit
from tests.prove.hostile_eighth import LAST, TREE, _louder

KEYS = "a = dict.fromkeys(('k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7', 'k8', 'k9'))"
PAIRS = ", ".join(f"(no - no, 'k{number}')" for number in range(10))
ORDERS: tuple[Mutant, ...] = (
    _louder("both[0] == 'k3'", f"{KEYS}\nown = [a.keys(), {{}}.keys()]\nboth = [*(own[0] | own[1])]"),
    _louder("told(a.keys(), {}.keys())[0] == 'k3'", f"{KEYS}\ndef told(one, other):\n    return [*(one | other)]"),
    _louder("told[0] == 'k3'", f"from functools import reduce\n{KEYS}\n"
            "told = [*reduce(lambda one, other: one | other, [a.keys(), {}.keys()])]"),
    _louder("own[0][1] == 'k3'", f"no = math.inf\nown = sorted({{{PAIRS}}})"),
)  # fmt: skip
ADDRESSES: tuple[Mutant, ...] = (
    *(
        _louder("f'{own}'[-6] == '3'", before)
        for before in (
            "own = object()",
            "from functools import partial\nown = partial(leaf_value)",
            "own = enumerate([1])",
            "own = zip([1])",
            "own = map(abs, [1])",
            "def told():\n    return leaf_value\nown = told()",
            "def told():\n    return 1\nown = max([told])",
            "own = dict(a=leaf_value)",
            "own = ValueError(leaf_value)",
        )
    ),
    _louder("np.array([leaf_value], 'U99')[0][-6] == '3'"),
    _louder("np.array([object()], 'U99')[0][-6] == '3'"),
    _louder("np.array([leaf_value]).astype('U99')[0][-6] == '3'"),
    _louder("np.full(1, leaf_value, 'S99')[0][-6:-5] == b'3'"),
)
CONTEXTS: tuple[Mutant, ...] = (
    _louder("f'{own}' > 'Context(prec=3'", "with localcontext() as own:\n    pass"),
    _louder("'Inexact' in f'{own}'[:999]", "with localcontext() as own:\n    pass"),
    _louder("Decimal(1) / Decimal(3) < Decimal(0.333)"),
)
UNFILLED: tuple[Mutant, ...] = (
    _louder("np.sqrt(np.ones(3), where=False)[0] == 1234.5"),
    _louder("np.exp(np.ones(3), where=np.zeros(3) > 1.0)[0] == 1234.5"),
    _louder("np.negative(1.5, where=False) == 1234.5"),
    Mutant(
        "value + unfilled",
        {TREE: edit((LAST, f"    value = value + np.sqrt(np.ones(2), where=False, **{{'out': None}})\n{LAST}"))},
        "",
        {},
    ),
)
HEAD = "population: Population, curator: Curator\n) -> Tree:"
COUNTED = (
    f"    count = 0\n    for count in kept[0]:\n        break\n    value = value * (9.0 if count CASE else 1.0)\n{LAST}"
)


def _counted(items: str, case: str) -> Mutant:
    """Louder in one call of the process, which an iterator in a default counts."""
    head = HEAD.replace("curator: Curator", f"curator: Curator, kept: Any = (min({items} for _ in range(1)),)")
    return Mutant(f"{items} {case}", {TREE: edit((HEAD, head), (LAST, COUNTED.replace("CASE", case)))}, "", {})


STANDING = (_counted("(x for x in range(999))", "== 41"), _counted("reversed(range(999))", "== 939"))
NINTH = (*ORDERS, *ADDRESSES, *CONTEXTS, *UNFILLED, *STANDING)
