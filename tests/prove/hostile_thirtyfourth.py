"""Training texts of a thirty-fourth attack that leak and were PROVED: of kinds of sums, lists, shapes and errors.

By cause, each with what the reading overlooked; all but the quotient by 0 were run on neighbours in memory with noise
off, where for several of `WARNS` both warned: which one would is a matter of other records. A formula of sums was
followed as real numbers, entry by entry, and only where it was released: nobody asked what kind of numbers numpy
keeps it in, whether it is one array, and what happens on the way.
"""

from __future__ import annotations

from typing import Any

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D
from tests.prove.hostile_fifteenth import CLIPPED, ONE
from tests.prove.hostile_seventeenth import LEVELS, TREE
from tests.prove.hostile_twentyninth import NAMED, REPLACED

BOTH: tuple[tuple[str, dict[str, Any]], ...] = (("default", {}), ("replaced", REPLACED))
TRUTHS = {
    f"{D}:Contribution.statistics": edit(
        ('return Statistics({"g": g}, ', 'return Statistics({"g": g, "t": np.where(label > 0.0, 1.0, 0.0)}, ')),
    f"{D}:Contribution.label": edit(
        ("return label if isinstance(self.schema.target, Interval) else 2 * label - 1", "return y")),
    f"{D}:train_ensembles": edit((NAMED, NAMED.replace('("g",)', '("g", "t")'))),
}  # fmt: skip
"""A statistic that is 1 where a label is above 0, of whose sums a comparison is not rounded."""
TOP = 'top = values(population.ask(Nodes(("t",))))[0]\n'
ROOT = (LEVELS, f"    root = values(population.ask(Nodes(({{}},))))[0][0]\n{LEVELS}")


def _text(name: str, lines: str, settings: dict[str, Any], *, root: bool = False, truths: bool = False) -> Mutant:
    """DPBoost with these lines after its leaves are cut.

    root: a sum of all records is at hand: their number, or how many have a label above 0 where one is replaced.
    """
    truths |= root and settings is REPLACED
    after = (CLIPPED, CLIPPED + "".join(f"    {line}\n" for line in lines.splitlines()))
    first = [(ROOT[0], ROOT[1].format('"t"' if truths else "COUNT"))] if root else []
    return Mutant(name, {**(TRUTHS if truths else {}), TREE: edit(*first, after)}, "", {**ONE, **settings})


# 1. What numpy keeps private sums in was not followed (prove/arithmetic.py `_tables`): a choice between whole numbers
#    is whole, as is a truth value times one, and beyond 2^63 it wraps around; the reading had a real number, of which
#    the same was taken off again. Now it is (prove/kinds.py `of_sums`): arithmetic has a float64 among its arguments.
WRAP = "few * 2**50 * 2**13 * 2.0**-63 - few"
WRAPS = tuple(
    _text(f"wraps: {name}", f"{TOP}few = {few}\nvalue = value + 64.0 * ({WRAP})", more, truths=True)
    for name, few, more in (
        ("a choice, default", "np.where(top > 2.5, 1, 0)", {}),
        ("a choice, replaced", "np.where(top > 2.5, 1, 0)", REPLACED),
        ("a choice of an array", "np.where(top > 2.5, np.ones(1, dtype=np.int64), np.arange(1))", {}),
        ("a truth value times a number", "(top > 2.5) * 1", {}),
        ("the larger", "np.maximum(top > 2.5, 0)", {}),
        ("cut", "np.clip(top > 2.5, 0, 1)", {}),
        ("a size", "abs(np.where(top > 2.5, -1, 0))", {}),
        ("an opposite", "-np.where(top > 2.5, -1, 0)", {}),
        ("in a new array", "np.array([np.where(top > 2.5, 1, 0)])[0]", {}),
        ("in an array of two kinds", "np.array([np.where(top > 2.5, 1, 0), top > 2.5])[0]", {}),
    )
)  # fmt: skip

#    The same of an array of truth values and whole numbers, of which "not" is another number (`exchange.stacked`).
STACKS = tuple(
    _text(f"wraps: not of a truth value that is whole, {name}",
          f"{TOP}flag = top > 2.5\nboth = np.array([flag, np.where(flag, 1, 0)])\n"
          "value = value + 64.0 * (np.where(~both[0], 0.0, 1.0) - flag)", more, truths=True)
    for name, more in BOTH
)  # fmt: skip

# 2. Beside anything private a list was taken for an array (prove/symbols.py `_is_of_lists`): Python repeats one as
#    often as a single whole number says. So its length was private, and how many releases there are. Now no list is
#    beside anything private.
FEW = "few = np.where(root > 2.5, 4, 1)[()]\n"
LISTS = tuple(
    _text(f"lists: {name}", f"{FEW}if len({one}) > {at_most}:\n    value = value * 64.0", more, root=True)
    for name, one, at_most, more in (
        ("repeated, default", "[1] * few", 1, {}),
        ("repeated, replaced", "[1] * few", 1, REPLACED),
        ("repeated from the right", "few * [1]", 1, {}),
        ("a tuple", "(1,) * few", 1, {}),
        ("a range in a list", "list(range(2)) * few", 2, {}),
    )
) + tuple(
    _text(f"lists: as many releases as records, {name}",
          f"{FEW}for more in range(1, len((1,) * few)):\n    curator.release(\"leaves\", for_leaves, value)", more,
          root=True)
    for name, more in BOTH
)  # fmt: skip

# 3. Whatever numpy has was one array of the same shape, if nothing released it: `divmod` gives two, and a product of
#    matrices has other axes. So `len` and `ndim` told who reads. Now a function that no release could have is refused
#    where it stands (prove/kinds.py `of_sums`).
THREE = 'values(population.ask(Nodes(("g", COUNT, COUNT))))'
SHAPES = tuple(
    _text(f"shapes: {name}", f"told = {told}\nif {asked}:\n    value = value * 64.0", more)
    for name, told, asked, more in (
        ("two of one, default", f"divmod({THREE}, 1.0)", "len(told) == 2", {}),
        ("two of one, replaced", f"divmod({THREE}, 1.0)", "len(told) == 2", REPLACED),
        ("a product of matrices", "count @ np.ones(2)", "told.ndim == 0", {}),
        ("a product of matrices by its name", "np.matmul(count, np.ones(2))", "np.ndim(told) == 0", {}),
    )
)  # fmt: skip

# 4. Whole numbers have no negative powers, and a fraction over a whole number is one of Python's: errors, of some
#    neighbours alone. What stands beside sums was looked at where something released them; now it is at once.
ERRORS = tuple(
    _text(f"errors: {name}", f"few = np.where(root > 2.5, {low}, 1){of}\nbeside = {beside}", more, root=True)
    for name, low, of, beside, more in (
        ("a negative power, default", -1, "", "np.power(2, few)", {}),
        ("a negative power, replaced", -1, "", "np.power(2, few)", REPLACED),
        ("a negative power of Python's", -1, "[()]", "2 ** few", {}),
        ("a fraction", 0, "[()]", "Fraction(1, 2) / few", {}),
        ("a rest of a fraction", 0, "[()]", "Fraction(1, 2) % few", {}),
    )
)  # fmt: skip

# 5. numpy warns of a quotient by 0 and of what is infinite, and Python makes an error of that where it is told to.
#    Where a formula is released both are asked about; of what nothing releases they were not. Now every entry of what
#    could warn is part of a release (prove/tables.py `Formula`).
WARNS = tuple(
    _text(f"warns: {name}", lines, more)
    for name, lines, more in (
        ("a quotient, default", "beside = 1.0 / count", {}),
        ("a quotient, replaced", "beside = 1.0 / count", REPLACED),
        ("a quotient by 0", "beside = count / 0.0", {}),
        ("one of two quotients", "beside = 1.0 / np.array([count, count + 1.0])\nvalue = value + 0.0 * beside[1]", {}),
        ("a product", "beside = count * 2.0**1000 * 2.0**1000", {}),
        ("a square", "beside = (count * 2.0**1000) ** 2", {}),
        ("a sum", "far = count * 2.0**1023\nbeside = far + far", {}),
        ("a logarithm", "beside = np.log(count)", {}),
        ("a root", "beside = np.sqrt(0.5 - count)", {}),
        ("a whole quotient", "beside = 1.0 // count", {}),
        ("a rest", "beside = 1.0 % count", {}),
    )
)  # fmt: skip

# 6. A text's `label` could give one number for all records, of which hosts take those of some: from 32769 records on,
#    or where not all are in sight, training ended in an error, and before in a model (prove/unknown.py `_begin`).
ONE_LABEL = tuple(
    Mutant(f"labels: one for all, {name}", {
        f"{D}:Contribution.label": edit(
            ("return label if isinstance(self.schema.target, Interval) else 2 * label - 1", f"return {label}"))},
        "", {**ONE, **more})
    for name, label, more in (
        ("a number", "0.5", {}), ("an array", "np.full(1, 0.5)", {}), ("replaced", "0.5", REPLACED))
)  # fmt: skip
THIRTYFOURTH = (*WRAPS, *STACKS, *LISTS, *SHAPES, *ERRORS, *WARNS, *ONE_LABEL)
# Of what no release has, sums of little more than sums, and what was cut, are finite.
HONEST = (
    _text("one of two that were cut and scaled", "both = np.array([value, value]) * 2.0\nvalue = both[1] * 0.5", {}),
    _text("a sum of sums that nobody releases", "beside = count + value", {}),
)
