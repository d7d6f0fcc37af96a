"""Where a training text could leave private values beside its releases: the model, and whatever outlives the run."""

from __future__ import annotations

import ast
import copy
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from refdp.data.memory import Memory
from refdp.prove.reach import inside
from refdp.prove.symbols import Known, Private, Symbol
from refdp.prove.terms import Leak, Unmodelled
from refdp.prove.texts import is_refdps, tree_of_function

CALL = "return train_on(params, records.schema, Memory(records), curator)"
PLAIN = (str, bytes, bool, int, float, complex, range, type(None))
"""Classes whose objects keep nothing else; one of a class made from them can."""


def plainly(value: Any) -> None:
    """A model is made of released values, numbers, texts and containers of them. Errors: Leak, Unmodelled.

    Anything else (a function, an iterator, an object with a state of its own) could hold what is private.
    """
    if isinstance(value, Private):
        raise Leak(f"{value.what} in the model")
    if type(value) in PLAIN:
        return
    inner: Any = ()
    if isinstance(value, Symbol):  # released, or a public parameter
        inner = (value.example,)  # type: ignore[attr-defined]
    elif isinstance(value, np.ndarray | np.generic):
        if (isinstance(value, np.ndarray) and type(value) is not np.ndarray) or not _bare(value.dtype):
            raise Unmodelled("a model with an array that keeps more than its numbers")
        inner = value.ravel() if value.dtype == object else ()
    elif type(value) is dict:
        inner = (*value.keys(), *value.values())
    elif type(value) in (list, tuple, set, frozenset):
        inner = value
    elif not _lasting(type(value)):
        raise Unmodelled(f"a model with a {type(value).__name__}")
    elif isinstance(value, Enum):
        return
    elif isinstance(value, tuple):
        inner = value
    elif is_dataclass(value) and not isinstance(value, type):
        names = {one.name for one in fields(value)}
        inner = [getattr(value, name) for name in names | getattr(value, "__dict__", {}).keys()]
    else:
        raise Unmodelled(f"a model with a {type(value).__name__}")
    for one in inner:
        plainly(one)


def _bare(kind: Any) -> bool:
    """Whether a kind of numbers has no parts, which have titles, and no notes of its own."""
    return kind.names is None and kind.subdtype is None and kind.metadata is None


def _lasting(kind: type) -> bool:
    """Whether a class is one of its module, so that what it keeps is looked at there; others are made in the run."""
    found: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = vars(found).get(name) if hasattr(found, "__dict__") else None
    return found is kind


def kept_beside(module: Any, params: Any, schema: Any) -> Iterator[Private]:
    """What is private in anything that outlives the run: globals, classes and functions of a text, and parameters."""
    seen: set[int] = set()
    waiting = [*vars(module).values(), params, schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Private):
            yield value
        elif id(value) not in seen and not isinstance(
            value, Known | ModuleType | str | bytes | int | float | np.generic
        ):
            seen.add(id(value))
            waiting += inside(value)


CONTAINERS = (dict, list, set, bytearray, deque, np.ndarray)
State = dict[int, tuple[Any, Any]]


def state(params: Any, schema: Any) -> State:
    """What outlives a run and can change: every container that refdp's modules reach, with what is in it."""
    found: State = {}
    seen: set[int] = set()
    waiting: list[Any] = [params, schema, *(vars(one) for name, one in list(sys.modules.items()) if is_refdps(name))]
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, ModuleType | str | bytes | int | float | np.generic | Known):
            continue
        seen.add(id(value))
        if isinstance(value, CONTAINERS):
            found[id(value)] = value, _content(value)
        waiting += _within(value)
    return found


def changed(before: State, params: Any, schema: Any) -> bool:
    """Whether a container that outlives the run has other entries than it had."""
    after = state(params, schema)
    return any(number in before and before[number][1] != content for number, (_, content) in after.items())


def _content(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tobytes() if value.dtype != object else tuple(map(id, value.ravel()))
    if isinstance(value, dict):
        return frozenset((id(key), id(one)) for key, one in value.items())
    return bytes(value) if isinstance(value, bytearray) else frozenset(enumerate(map(id, value)))


def _within(value: Any) -> list[Any]:
    if isinstance(value, CONTAINERS):
        return inside(value) if not isinstance(value, deque | bytearray) else list(value)
    if isinstance(value, Enum) or (isinstance(value, type) and not is_refdps(str(value.__module__))):
        return []
    return inside(value)


def calls_train_on(module: Any) -> bool:
    """Whether `train` is the call of `train_on` on records in memory, which is what is read, and nothing else.

    It has these three arguments, without defaults and marks, and its names are the module's.
    """
    train = module.train
    if module.Memory is not Memory or not isinstance(train, FunctionType):
        return False
    if any(train.__globals__.get(name) is not getattr(module, name, None) for name in ("Memory", "train_on")):
        return False
    text = tree_of_function(train)
    own = None if text is None else text.body[0]
    if not isinstance(own, ast.FunctionDef) or own.decorator_list or train.__defaults__ or train.__kwdefaults__:
        return False
    body = [one for one in own.body if not _is_text(one)]
    plain = copy.deepcopy(own.args)
    for one in plain.args:
        one.annotation = None  # whatever kind they are said to be
    found = ast.dump(plain), [ast.dump(one) for one in body]
    return found == (ast.dump(_TRAIN.args), [ast.dump(one) for one in _TRAIN.body])


def _parsed(text: str) -> ast.FunctionDef:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    return function


_TRAIN = _parsed(f"def train(params, records, curator):\n    {CALL}\n")


def _is_text(one: ast.stmt) -> bool:
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
