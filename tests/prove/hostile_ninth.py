"""Training texts of a ninth attack that leak and were not refused; none may be proved.

All words of theirs are known to `refdp.prove.words`; each asks what is otherwise in every process: the order of a set
that no name or method of a set made (views of dictionaries as arguments, an order of entries that have none), the
address in the text of an object, the decimal context of the thread, the clock, or an array that nobody filled
(`where=`). Of addresses, which end in 0, one in 2^24 is asked for, so that a reading hardly ever meets it. 24 of the
texts were PROVED at first.
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
        _louder("f'{own}'[-8:] == '2345670>'", before)
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
    _louder("np.array([leaf_value], 'U99')[0][-8:] == '2345670>'"),
    _louder("np.array([object()], 'U99')[0][-8:] == '2345670>'"),
    _louder("np.array([leaf_value]).astype('U99')[0][-8:] == '2345670>'"),
    _louder("np.full(1, leaf_value, 'S99')[0][-6:-5] == b'3'"),
    _louder("own[0][-8:] == '2345670>'", "own = np.array(['a' * 99])\nown[0] = leaf_value"),
    _louder("own[0][-8:] == '2345670>'", "own = np.asarray([params.scheme * 99])\nown.fill(leaf_value)"),
    _louder("own[0][-8:] == '2345670>'", "own = np.repeat('a' * 99, 3)\nown[0] = leaf_value"),
    _louder("own[0][0][-8:] == '2345670>'", "own = np.split(np.ravel(['a' * 99, 'b']), 2)\nown[0][0] = leaf_value"),
    _louder("own[0][0][-8:] == '2345670>'", "own = np.unique(['a' * 99], return_index=True)\nown[0][0] = leaf_value"),
    _louder("own[0]['a'][-8:] == '2345670>'", "own = np.zeros(1, [('a', 'U99')])\nown[0]['a'] = leaf_value"),
    _louder("getattr(np.array([leaf_value]), 'astype')('U99')[0][-8:] == '2345670>'"),
    _louder("own('U99')[0][-8:] == '2345670>'", "own = np.array([leaf_value]).astype"),
    _louder("bytes(np.array([leaf_value]))[0] == 3"),
    _louder("f'{own!s}'[-8:] == '2345670>'", "own = leaf_value"),
    _louder("f'{own!r:s}'[-8:] == '2345670>'", "own = leaf_value"),
    _louder("f'{own:}'[-8:] == '2345670>'", "own = leaf_value"),
    _louder("f'{own:{params.scheme[:0]}}'[-8:] == '2345670>'", "own = leaf_value"),
)
CLOCKS: tuple[Mutant, ...] = (
    _louder("np.array('now', 'M8[s]').astype(np.int64) % 2"),
    _louder("np.arange(0, 'today', dtype='M8[D]').size % 2"),
    _louder("np.zeros(1, 'M8[s]')[0] < own[0]", "own = np.zeros(1, 'M8[s]')\nown[0] = 'now'"),
    _louder("np.less(np.array(['2026'], 'O'), ['now'], dtype='M8[s]', casting='unsafe')[0]"),
)
CONTEXTS: tuple[Mutant, ...] = (
    _louder("f'{own}' > 'Context(prec=3'", "with localcontext() as own:\n    pass"),
    _louder("'Inexact' in f'{own}'[:999]", "with localcontext() as own:\n    pass"),
    _louder("Decimal(1) / Decimal(3) < Decimal(0.333)", "from decimal import Decimal"),
    _louder("own[0] / 3 < 0.1", "own = []\nnumbers.digits(lambda one: own.append(one) or one, 0.333)"),
    _louder("own[0] * own[0] < 0.1", "own = []\nnumbers.digits(lambda one: own.append(one) or one, 0.333)"),
    _louder("f'{own[0]:.3g}' == '0.333'", "own = []\nnumbers.digits(lambda one: own.append(one) or one, 0.3333)"),
    _louder("own[0] + own[0] < 0.1", "own = []\nnumbers.digits(lambda one: own.append(one / 2) or one, 0.333)"),
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


SPREAD = "**{'where': False}"
STANDING = (
    _counted("(x for x in (reversed(range(999)),))", "== 939"),
    _counted("(x for x in range(999)) for _ in range(1) if (x for x in range(9))", "== 41"),
    _counted("(x for x in range(999))", "== 41"),
    _counted("reversed(range(999))", "== 939"),
)
FILLED: tuple[Mutant, ...] = (
    _louder(f"np.sqrt(np.ones(3), {SPREAD})[0] == 1234.5"),
    _louder(f"own(np.ones(3), {SPREAD})[0] == 1234.5", "own = np.sqrt"),
    _louder("own(np.ones(3), where=False)[0] == 1234.5", "own = np.sqrt"),
    _louder("own(np.ones(3))[0] == 1234.5", "from functools import partial\nown = partial(np.sqrt, where=False)"),
)
NINTH = (*ORDERS, *ADDRESSES, *CLOCKS, *CONTEXTS, *UNFILLED, *STANDING, *FILLED)
HONEST: tuple[Mutant, ...] = (
    _louder("[*zip((1, 2), own.items())][0][1][1] < 0", "own = {'a': 1, 'b': 2}"),
    _louder("sum(one for _, one in own.items()) < 0", "own = {'a': 1, 'b': 2}"),
    _louder("np.zeros(3, dtype=np.intp).astype(np.float64)[0] > 0"),
    _louder("np.unique([3.0, 1.0])[0] > 2"),
    _louder("numbers.digits(share, 0.3, 1, 2) < 0"),
    _louder("f'{params.trees + 1:d} {params.epsilon:.3g}' < '0'"),
    _louder("len([*np.array([0.5, 1.5])]) > 3"),
)
"""Of like kinds, and private."""
