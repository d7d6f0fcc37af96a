"""Whether a function of released values gives the same kind of value for all of them.

It is run on one example. What is made of numbers stands for itself; an object does not: another output could give one
of another class, a member of an enumeration or a None in its place, or one that the function was given. So what the
function gives is looked at in its syntax: numbers, or objects that every `return` makes alike, by the name of their
class or as `replace` of the same parameter.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from refdp.data.candidates import Candidates
from refdp.prove.nones import ENTRIES, GIVING, NUMBERS, assigned
from refdp.prove.texts import is_numpy, is_text, tree_of_function

Form = Any
"""NUMBER, a tuple that says how objects are made, or None for what can be of several kinds."""
NUMBER = "number"
BESIDE = {"axis", "dtype", "kind", "side", "keepdims", "key", "strict", "order", "copy"}
"""Arguments of functions that are no part of what they give."""
DEPTH = 24


def is_number(value: Any, deep: bool = False, depth: int = 0) -> bool:
    """Whether a value is a number, or made of numbers. deep: or an object of a dataclass whose fields are."""
    value = _example(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "biufc"
    if type(value) in (bool, int, float, complex, Fraction, range):
        return True
    inner: Iterable[Any] = ()
    if isinstance(value, list | tuple) and not isinstance(value, Enum):
        if not deep and type(value) not in (list, tuple):
            return False
        inner = value
    elif type(value) is dict:
        inner = value.values()
    elif deep and is_dataclass(value) and not isinstance(value, type | Enum):
        inner = [getattr(value, one.name) for one in fields(value)]
    else:
        return False
    return depth < 12 and all(is_number(one, deep, depth + 1) for one in inner)


def _example(value: Any) -> Any:
    return value.example if _is_symbol(value) else value


def _is_symbol(value: Any) -> bool:
    """Whether it stands for a number that was released, or is open."""
    return isinstance(value, NDArrayOperatorsMixin)


def _is_public(value: Any) -> bool:
    """Whether it is the same in every run: nothing in it was released."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return not _is_symbol(value) and all(map(_is_public, inner))


def form_of(function: Any, given: Sequence[Any] = (), named: Mapping[str, Any] | None = None) -> Form:
    """How what a text's function gives is made, in all cases alike; None where it is not, or where that is not seen.

    given, named: its arguments.
    """
    own = inspect.unwrap(function)
    try:
        bound = inspect.signature(own).bind(*given, **(named or {}))
    except (TypeError, ValueError):
        return None
    bound.apply_defaults()
    return _function(own, dict(bound.arguments), 0)


def replaced_fields(form: Form) -> tuple[str, ...] | None:
    """The fields that a parameter gets anew, where that is all that is done to it."""
    return form[2] if isinstance(form, tuple) and form[0] == "replaced" else None


def _function(function: Any, bound: dict[str, Any], depth: int) -> Form:
    text = tree_of_function(function)
    tree = None if text is None else text.body[0]
    if not isinstance(tree, ast.FunctionDef) or depth > DEPTH:
        return None
    seen = _Reader(tree, bound, function.__globals__, depth)
    if any(seen.form(one) is None for one in _stored(tree)):
        return None
    return seen.alike(one.value and seen.form(one.value) for one in ast.walk(tree) if isinstance(one, ast.Return))


def _stored(tree: ast.FunctionDef) -> Iterable[ast.expr]:
    """What a function puts into a container, by whatever name."""
    for one in ast.walk(tree):
        match one:
            case ast.Call(ast.Attribute(_, "append" | "extend" | "insert" | "fill"), given):
                yield from given
            case ast.AugAssign(_, _, value):
                yield value
            case ast.Assign([*_, ast.Subscript()], value):
                yield value


class _Reader:
    """Forms of the expressions of one function. bound: its arguments; known: the names of its module."""

    def __init__(self, tree: ast.FunctionDef, bound: dict[str, Any], known: dict[str, Any], depth: int) -> None:
        self._tree, self._bound, self._known, self._depth = tree, bound, known, depth
        self._names: dict[str, Form] = {}

    def alike(self, forms: Iterable[Form]) -> Form:
        """The form that all of these have."""
        found = list(forms)
        return found[0] if found and all(one == found[0] for one in found) else None

    def form(self, one: ast.expr) -> Form:
        """Of an expression."""
        match one:
            case ast.Constant(value):
                return NUMBER if isinstance(value, int | float | complex) else None
            case ast.Tuple(elements) | ast.List(elements) | ast.Set(elements):
                return self._row([self.form(each) for each in elements])
            case ast.Dict(_, elements):
                return self._entry(self._row([self.form(each) for each in elements]))
            case ast.ListComp(value) | ast.GeneratorExp(value) | ast.SetComp(value):
                return self.form(value) if self.form(value) == NUMBER else None
            case ast.IfExp(_, body, orelse):
                return self.alike([self.form(body), self.form(orelse)])
            case ast.BoolOp(how, values):
                asked = [each for each in values if not (isinstance(how, ast.Or) and self._is_missing(each))]
                return self.alike(map(self.form, asked))
            case ast.NamedExpr(_, value) | ast.Starred(value) | ast.UnaryOp(_, value):
                return self.form(value)
            case ast.Subscript(value):
                return self._entry(self.form(value))
            case ast.BinOp(left, _, right):
                return NUMBER if self.form(left) == self.form(right) == NUMBER else None
            case ast.Compare():
                return NUMBER
            case ast.Name(name):
                if name not in self._names:
                    self._names[name] = NUMBER  # within what it is made of itself
                    self._names[name] = self._name(name)
                return self._names[name]
            case ast.Attribute():
                return self._attribute(one)
            case ast.Call(function, given, more):
                beside = [*given, *(each.value for each in more if each.arg not in BESIDE)]
                own = [self.form(each) for each in beside if not self._is_kind(each)]
                return self._call(one, function, own)
        return None

    def _row(self, forms: list[Form]) -> Form:
        if None in forms:
            return None
        return NUMBER if all(one == NUMBER for one in forms) else ("row", *forms)

    def _entry(self, form: Form) -> Form:
        """Of any entry of a row."""
        return (
            self.alike(form[1:]) if isinstance(form, tuple) and form[0] == "row" else NUMBER if form == NUMBER else None
        )

    def _name(self, name: str) -> Form:
        found: list[Form] = []
        for value in assigned(name, self._tree):
            plain = any(isinstance(one, ast.Assign | ast.AnnAssign | ast.NamedExpr) and one.value is value
                        and any(isinstance(each, ast.Name) and each.id == name for each in _targets(one))
                        for one in ast.walk(self._tree))  # fmt: skip
            found.append(self._one_of(name, value) if not plain else self.form(value))
        if name in self._bound:
            found.append(NUMBER if is_number(self._bound[name]) else ("given", name))
        elif not found:
            found.append(NUMBER if is_number(self._known.get(name, None)) else None)
        return self.alike(found)

    def _one_of(self, name: str, value: ast.expr) -> Form:
        """Of what is taken apart: the entry in the name's place, where that is written, or any of them."""
        for one in ast.walk(self._tree):
            if isinstance(one, ast.Assign) and one.value is value and isinstance(value, ast.Tuple):
                for target in one.targets:
                    if isinstance(target, ast.Tuple) and len(target.elts) == len(value.elts):
                        own = [v for t, v in zip(target.elts, value.elts, strict=True)
                               if name in [each.id for each in ast.walk(t) if isinstance(each, ast.Name)]]  # fmt: skip
                        return self.alike(self._entry(self.form(v)) for v in own)
        return self._entry(self.form(value))

    def _actual(self, one: ast.expr) -> Any:
        """What a parameter, or a field of one, is in this call; None where that is not known."""
        found = self._ones(one, 0)
        return found[0] if found and len(found) == 1 and not isinstance(one, ast.Subscript) else None

    def _ones(self, one: ast.expr, depth: int) -> list[Any] | None:
        """What an expression of parameters, their fields and entries can be in this call; None if that is not known."""
        given = list(assigned(one.id, self._tree)) if isinstance(one, ast.Name) else []
        if isinstance(one, ast.Name) and self._is_given(one):
            return [self._bound[one.id]]
        inner = (
            given
            if isinstance(one, ast.Name)
            else [one.value]
            if isinstance(one, ast.Attribute | ast.Subscript)
            else []
        )
        found = [self._ones(each, depth + 1) for each in inner] if depth < DEPTH else [None]
        if (
            not found
            or None in found
            or (isinstance(one, ast.Name) and not all(isinstance(g, ast.Subscript | ast.Attribute) for g in given))
        ):
            return None
        values = [_example(each) for several in found for each in several or ()]
        if isinstance(one, ast.Subscript):
            return [e for each in values for e in (each if isinstance(each, list | tuple) else [each])]
        if isinstance(one, ast.Attribute):
            kinds = [inspect.getattr_static(type(each), one.attr, None) for each in values]
            if any(
                isinstance(k, property | cached_property) and not _is_refdps(type(v))
                for k, v in zip(kinds, values, strict=True)
            ):
                return None
            return [getattr(each, one.attr) for each in values if hasattr(each, one.attr)]
        return values

    def _attribute(self, one: ast.Attribute) -> Form:
        if isinstance(one.value, ast.Name) and one.value.id in ("np", "math", "numbers"):
            return NUMBER if is_number(getattr(self._known.get(one.value.id), one.attr, None)) else None
        holder = _example(self._actual(one.value))
        kind = inspect.getattr_static(type(holder), one.attr, None)
        if isinstance(kind, property) and not _is_refdps(type(holder)):
            return _function(kind.fget, {"self": holder}, self._depth + 1)
        if found := self._ones(one, 0):
            return NUMBER if all(map(is_number, found)) else None
        return NUMBER if self.form(one.value) == NUMBER and one.attr != "base" else None

    def _call(self, one: ast.Call, function: ast.expr, own: list[Form]) -> Form:
        if isinstance(function, ast.Attribute):
            return self._method(one, function, own)
        if not isinstance(function, ast.Name):
            return None
        name = function.id
        if local := list(assigned(name, self._tree)):  # a function by a name of this one's own
            chosen = [each for value in local for each in _chosen(value)]
            return self.alike(self._call(one, each, own) for each in chosen) if name not in map(_id, chosen) else None
        called = self._known.get(name)
        if called is replace:
            numbers = all(each.arg and self.form(each.value) == NUMBER for each in one.keywords)
            if len(one.args) != 1 or not self._is_given(one.args[0]) or not numbers:
                return None
            return "replaced", ast.unparse(one.args[0]), tuple(each.arg for each in one.keywords)
        if name in (ENTRIES | GIVING | {"sum"}):
            kept = name in ("tuple", "list") and len(own) == 1 and own[0] is not None
            return NUMBER if all(each == NUMBER for each in own) else ("entries", own[0]) if kept else None
        if name in NUMBERS:
            return NUMBER
        wrapped = inspect.unwrap(called) if callable(called) else None
        if isinstance(wrapped, FunctionType) and is_text(wrapped.__code__.co_filename):
            return self._within(wrapped, one)
        if None in own:
            return None
        if isinstance(called, type):
            return ("made", called)
        home = str((wrapped if isinstance(wrapped, FunctionType) else type(wrapped)).__module__)
        if home.startswith(("refdp.data.numbers", "refdp.data.losses", "refdp.data.kernels")):
            return NUMBER
        return ("made", wrapped) if home.startswith("refdp.") and not home.startswith("refdp.prove") else None

    def _within(self, function: FunctionType, one: ast.Call, *before: Any) -> Form:
        """Of what another function of the text gives: of arguments that are no parameters, whether they are numbers."""
        beside = [*one.args, *(each.value for each in one.keywords)]
        if all(map(_is_public, before)) and all(self._same(each) for each in beside):
            try:
                made = function(*map(_example, before), *map(self._value, one.args),
                                **{str(each.arg): self._value(each.value) for each in one.keywords})  # fmt: skip
            except Exception:  # as it will be in training
                return None
            return NUMBER if is_number(made) else ("same", ast.unparse(one))

        def value(each: ast.expr) -> Any:
            actual = self._actual(each)
            return actual if actual is not None else 0.0 if self.form(each) == NUMBER else object()

        try:
            bound = inspect.signature(function).bind(
                *before, *map(value, one.args), **{str(each.arg): value(each.value) for each in one.keywords}
            )
        except TypeError:
            return None
        bound.apply_defaults()
        found = _function(function, dict(bound.arguments), self._depth + 1)
        if found in (NUMBER, None):
            return found
        return None if None in map(self.form, beside) else ("of", ast.unparse(one), found)

    def _value(self, one: ast.expr) -> Any:
        return one.value if isinstance(one, ast.Constant) else self._actual(one)

    def _same(self, one: ast.expr) -> bool:
        """Whether an expression is a constant, or a parameter or a field of one, that is the same in every run."""
        root = one
        while isinstance(root, ast.Attribute):
            root = root.value
        fixed = self._is_given(root) and _is_public(self._actual(root))
        return isinstance(one, ast.Constant) or (fixed and self._actual(one) is not None)

    def _is_missing(self, one: ast.expr) -> bool:
        """Whether it is a field of a parameter that is None in every run."""
        root = one.value if isinstance(one, ast.Attribute) else one
        return self._is_given(root) and _is_public(self._actual(root)) and self._ones(one, 0) == [None]

    def _is_given(self, one: ast.expr) -> bool:
        """Whether it is a parameter that stays what it was given as."""
        given = isinstance(one, ast.Name) and one.id in self._bound
        return given and not any(True for _ in assigned(ast.unparse(one), self._tree))

    def _is_kind(self, one: ast.expr) -> bool:
        """Whether it is one of numpy's kinds of numbers, by its name."""
        of_numpy = isinstance(one, ast.Attribute) and is_numpy(one.value)
        return of_numpy and isinstance(getattr(np, str(getattr(one, "attr", "")), None), type)

    def _method(self, one: ast.Call, function: ast.Attribute, own: list[Form]) -> Form:
        if isinstance(function.value, ast.Name) and function.value.id in ("np", "math", "numbers"):
            texts = [each for each in one.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            return NUMBER if own.count(None) == len(texts) else None
        holder = _example(self._actual(function.value))
        if holder is not None and not is_number(holder):
            found = inspect.getattr_static(type(holder), function.attr, None)
            if isinstance(found, FunctionType) and is_text(found.__code__.co_filename):
                return self._within(found, one, self._actual(function.value))
            return NUMBER if type(holder) is Candidates else None
        given = None not in own and self.form(function.value) == NUMBER
        return NUMBER if given and function.attr not in ("get", "pop") else None


def _chosen(one: ast.expr) -> list[ast.expr]:
    return [*_chosen(one.body), *_chosen(one.orelse)] if isinstance(one, ast.IfExp) else [one]


def _id(one: ast.expr) -> str:
    return one.id if isinstance(one, ast.Name) else ""


def _targets(one: Any) -> list[ast.expr]:
    return one.targets if isinstance(one, ast.Assign) else [one.target]


def _is_refdps(kind: type) -> bool:
    return kind.__module__.startswith("refdp.data.")
