"""Where a text could leave what is private: each kind of place beside one that holds nothing."""

from __future__ import annotations

import copy
import inspect
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")

from refdp.data.memory import Memory
from refdp.privacy.events import Relation
from refdp.prove.asking import real
from refdp.prove.keeping import _lasting, _within, calls_train_on, changed, kept_beside, plainly, state
from refdp.prove.symbols import Each, Known
from refdp.prove.terms import Leak, Unmodelled
from refdp.prove.texts import own_classes, tree_of_function

EACH = Each(real(), None)


@dataclass
class Box:
    one: Any
    other: Any = 0


class Pair(NamedTuple):
    one: Any
    other: Any = 0


class Colour(Enum):
    RED = 1


class Text(str):
    pass


class Plain:
    class Inner:
        pass


class Array(np.ndarray):
    pass


def boxed(value: Any) -> Any:
    found = np.empty(2, dtype=object)
    found[1] = value
    return found


def noted() -> Box:
    found = Box(1)
    found.more = EACH  # type: ignore[attr-defined]
    return found


AROUND: list[Callable[[Any], Any]] = [
    lambda one: one, lambda one: [1, one], lambda one: (1, one), lambda one: {"a": 1, "b": one}, boxed,
    lambda one: Box(one), lambda one: Box(1, one), lambda one: Pair(one), lambda one: Pair(1, one),
    lambda one: [[Box((one,))]],
]  # fmt: skip


@pytest.mark.parametrize("around", AROUND)
def test_a_model_is_made_of_numbers_texts_and_containers(around: Callable[[Any], Any]) -> None:
    class Local:
        pass

    structured = np.zeros(2, dtype=[("a", "f8")])
    for value in (None, 1, True, 1.5, "a", b"a", 1j, range(2), Colour.RED, np.zeros(3), np.float64(1.0), Known(1.0),
                  Known([1.0, np.zeros(2)]), {1: 2}, {3}, frozenset({3}), Box(1), Pair(1)):  # fmt: skip
        plainly(around(value))
    with pytest.raises(Leak, match="in the model"):
        plainly(around(EACH))
    for value in (len, lambda: 1, iter([1]), Local(), Plain(), Plain.Inner(), Text("a"), bytearray(1), deque([1]),
                  np.zeros(2).view(Array), structured, structured[0], np.zeros(1, np.dtype("f8", metadata={"a": 1})),
                  Plain, Box, Relation, {len: 1}, {len}):  # fmt: skip
        with pytest.raises(Unmodelled, match="a model with a"):
            plainly(around(value))


def test_what_is_noted_on_an_object_belongs_to_the_model() -> None:
    with pytest.raises(Leak):
        plainly(noted())


def test_classes_that_last() -> None:
    class Local:
        pass

    class Named:
        pass

    Named.__qualname__ = "Box"
    assert _lasting(Box) and _lasting(Plain.Inner) and _lasting(Colour) and _lasting(int)
    assert not _lasting(Local) and not _lasting(Named)
    Named.__module__, Local.__qualname__ = "no.such.module", "Box.one.two"
    assert not _lasting(Named) and not _lasting(Local)


def test_what_is_private_in_anything_that_outlives_a_run() -> None:
    def own(one: Any = EACH) -> Any:
        return one

    around: list[Any] = [1, Known(1.0), "a"]
    around.append(around)
    empty = SimpleNamespace(a=around, b=np, c=Known(1.0), d=1)
    assert list(kept_beside(empty, None, None)) == []
    for held in ([EACH], {"a": [EACH]}, own, EACH):
        for given in ((SimpleNamespace(a=1, b=held), None, None), (empty, held, None), (empty, None, held)):
            assert [id(one) for one in kept_beside(*given)] == [id(EACH)]


CHANGES: list[tuple[Any, Callable[[Any], Any]]] = [
    ([1, 2], lambda one: one.append(3)), ([1, 2], lambda one: one.reverse()), ([1, 2], lambda one: one.pop()),
    ({"a": 1}, lambda one: one.update(a=2)), ({"a": 1}, lambda one: one.update(b=1)), ({1}, lambda one: one.add(2)),
    (bytearray(b"ab"), lambda one: one.append(1)), (bytearray(b"ab"), lambda one: one.reverse()),
    (deque([1, 2]), lambda one: one.append(1)), (np.zeros(2), lambda one: one.fill(1.0)),
    (boxed(1), lambda one: one.fill(2)), (np.array([1.0, 2.0]), lambda one: one.sort() or one.put(0, 5.0)),
]  # fmt: skip


@pytest.mark.parametrize(("value", "change"), CHANGES)
def test_containers_that_change(value: Any, change: Callable[[Any], Any]) -> None:
    for number, wrap in enumerate((lambda one: one, lambda one: [one], lambda one: {1: one},
                                   lambda one: deque([one]), boxed)):  # fmt: skip
        own = copy.deepcopy(value)
        place = (wrap(own), None) if number else (None, wrap(own))
        before = state(*place)
        assert not changed(before, *place)
        change(own)
        assert changed(before, *place), (value, number)


def test_containers_that_are_new_are_no_change() -> None:
    assert not changed(state([1], None), [2], None)


# --- `train` is the call of `train_on` --------------------------------------------------------------------------------


def train_on(*_: Any) -> None: ...


def good(params: Any, records: Any, curator: Any) -> Any:
    """Train."""
    return train_on(params, records.schema, Memory(records), curator)


def bare(params: Any, records: Any, curator: Any) -> Any:
    return train_on(params, records.schema, Memory(records), curator)


def longer(params: Any, records: Any, curator: Any) -> Any:
    records.looked_at()
    return train_on(params, records.schema, Memory(records), curator)


def turned(params: Any, records: Any, curator: Any) -> Any:
    return train_on(params, records.schema, curator, Memory(records))


def after(params: Any, records: Any, curator: Any) -> Any:
    """Nothing."""


def shadowed(params: Any, records: Any, curator: Any, train_on: Any = after) -> Any:
    return train_on(params, records.schema, Memory(records), curator)


def by_name(params: Any, records: Any, *, curator: Any) -> Any:
    return train_on(params, records.schema, Memory(records), curator)


def more(params: Any, records: Any, curator: Any, *train_on: Any) -> Any:
    return train_on(params, records.schema, Memory(records), curator)  # type: ignore[operator]


def given(params: Any, records: Any, curator: Any = None) -> Any:
    return train_on(params, records.schema, Memory(records), curator)


@lru_cache
def marked(params: Any, records: Any, curator: Any) -> Any:
    return train_on(params, records.schema, Memory(records), curator)


def test_train_is_one_call() -> None:
    own = {"Memory": Memory, "train_on": train_on}
    for train in (good, bare):
        assert calls_train_on(SimpleNamespace(**own, train=train))
    for train in (longer, turned, after, len, shadowed, by_name, more, given, marked):
        assert not calls_train_on(SimpleNamespace(**own, train=train))
    assert not calls_train_on(SimpleNamespace(**own | {"Memory": dict}, train=good))
    assert not calls_train_on(SimpleNamespace(**own | {"train_on": after}, train=good))


def test_syntax_of_functions_and_classes_of_a_module() -> None:
    tree = tree_of_function(good)
    assert tree is not None and tree.body[-1].name == "good"  # type: ignore[attr-defined]
    assert tree_of_function(len) is None and tree_of_function(3) is None
    assert tree_of_function(eval("lambda: 1")) is None  # no text is kept of it
    found = own_classes({"__name__": __name__, "Box": Box, "int": int, "one": Box(1), "Pair": Pair})
    assert found == [Box, Pair] and own_classes({"Box": Box}) == [] and inspect.isclass(found[0])


def test_members_of_enumerations_and_classes_of_others_hold_nothing_that_a_text_keeps() -> None:
    """A class of refdp's own does: what a text stores on it stays."""
    assert _within(Relation.ADD_REMOVE) == [] and _within(int) == [] and _within(deque) == []
    kept = [1]
    made: Any = type("Held", (), {"kept": kept, "__module__": "refdp.papers.made"})
    assert any(one is kept for one in _within(made))
    other: Any = type("Held", (), {"kept": kept, "__module__": "elsewhere"})
    assert _within(other) == []
