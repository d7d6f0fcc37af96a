"""What Python gives otherwise in every process, whatever a text's parameters are.

The text of an object has its class or its address in it, the order of a set follows from a key drawn at the start, and
an array that nobody filled holds what was in memory before, such as sums of records. A text that asks for one of them
behaves otherwise in training than in the reading. So texts are made of numbers and texts, each with a format that
Python refuses for all else, as in `f"{number:d}"`, but for those of errors and releases, which no program reads; a set
is only asked what is in it, and an array without values has no entries. That views of a dictionary, of which two are a
set where they meet, are gone over where they are made, `refdp.prove.plain` sees; that no array has texts in it, the
reading itself (`refdp.prove.exchange`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from refdp.prove.texts import NAMING, notes_of

TEXTS = {"str", "ascii", "format", "print"}
SETS = {"set", "frozenset"}


def by_chance(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines of a text that ask for what is otherwise in every process, and for what."""
    parents = {id(inner): one for one in ast.walk(tree) for inner in ast.iter_child_nodes(one)}
    ignored = {id(each) for one in _notes(tree) for each in ast.walk(one)} | _free(tree)
    for one in ast.walk(tree):
        if id(one) in ignored:
            continue
        if isinstance(one, ast.Name) and one.id in TEXTS:
            yield one.lineno, f"{one.id} makes a text that could be another one in every process"
        elif isinstance(one, ast.Attribute) and one.attr in ("format", "format_map"):
            yield one.lineno, "format makes a text that could be another one in every process"
        elif isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod) and _is_text(one.left):
            yield one.lineno, "% makes a text that could be another one in every process"
        elif isinstance(one, ast.FormattedValue) and not _is_plain(one):
            yield one.lineno, "a text without a format, such as :d or :s, could be another one in every process"
        elif _is_set(one) and not _is_asked(one, parents):
            yield getattr(one, "lineno", 0), "the order of a set is another one in every process"
        elif isinstance(one, ast.Call) and not _is_filled(one):
            yield one.lineno, "an array that nobody filled holds what was in memory before"


def _notes(tree: ast.Module) -> Iterator[ast.expr]:
    """What is said of kinds: it is never run, or makes no text."""
    yield from notes_of(tree)
    for one in ast.walk(tree):
        if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name) and one.value.id[:1].isupper():
            yield one  # Mapping[str, Any]


def _free(tree: ast.Module) -> set[int]:
    """Texts that nobody in the program reads: of errors, which are not handled, and names that the curator gets.

    No class of a text has a method of these names (`refdp.prove.plain`), but for `subsample`, a field; texts have a
    `partition`, of which no `with` is.
    """
    found = [one for one in ast.walk(tree) if isinstance(one, ast.Raise)]
    opened = {id(one.context_expr) for one in ast.walk(tree) if isinstance(one, ast.withitem)}
    named = [one.args[0] for one in ast.walk(tree) if isinstance(one, ast.Call) and one.args
             and isinstance(one.func, ast.Attribute) and one.func.attr in NAMING - {"subsample"}
             and isinstance(one.func.value, ast.Name) and one.func.value.id == "curator"
             and (one.func.attr != "partition" or id(one) in opened)]  # fmt: skip
    return {id(each) for one in (*found, *named) for each in ast.walk(one)
            if isinstance(each, ast.FormattedValue)}  # fmt: skip


def _is_text(one: ast.expr) -> bool:
    return isinstance(one, ast.JoinedStr) or (isinstance(one, ast.Constant) and isinstance(one.value, str | bytes))


def _is_plain(one: ast.FormattedValue) -> bool:
    """Whether Python makes a text of it only if it is a number or a text: any other object has no format but none."""
    written = one.format_spec.values if isinstance(one.format_spec, ast.JoinedStr) else []
    return one.conversion == -1 and any(isinstance(part, ast.Constant) and part.value for part in written)


def _is_set(one: ast.AST) -> bool:
    return isinstance(one, ast.Set | ast.SetComp) or (isinstance(one, ast.Name) and one.id in SETS)


def _is_asked(one: ast.AST, parents: dict[int, ast.AST]) -> bool:
    """Whether a set is asked for nothing but whether something is in it."""
    above = parents.get(id(one))
    if isinstance(one, ast.Name):  # set(...)
        if not (isinstance(above, ast.Call) and above.func is one):
            return False
        one, above = above, parents.get(id(above))
    if not isinstance(above, ast.Compare):
        return False
    return one is not above.left and all(isinstance(how, ast.In | ast.NotIn) for how in above.ops)


def _is_filled(one: ast.Call) -> bool:
    """Whether what a call makes has all its values, or no entries."""
    if not (isinstance(one.func, ast.Attribute) and isinstance(one.func.value, ast.Name) and one.func.value.id == "np"):
        return True
    if one.func.attr in ("ndarray", "empty_like"):
        return False
    if one.func.attr != "empty":
        return True
    shape = one.args[0] if one.args else ast.Constant(1)
    sizes = shape.elts if isinstance(shape, ast.Tuple) else [shape]
    return any(isinstance(size, ast.Constant) and size.value == 0 for size in sizes)
