"""Released values as a training text meets them, and what can be reached from a value that is handed over."""

from __future__ import annotations

import operator
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")

from refdp.data.records import Interval, Numeric, Schema
from refdp.papers import sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import AccountSource
from refdp.prove.asking import real
from refdp.prove.open import Open, opened
from refdp.prove.reach import Host, inside
from refdp.prove.symbols import Each, Fixed, Known, Settings, _arrays, checked, holds, privates, varies
from refdp.prove.terms import Leak, Unmodelled

EACH = Each(real(), None)
OWN, FREE = Known(np.array([[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])), Known(np.arange(3), True)
CURATOR = Curator(AccountSource(), Relation.ADD_REMOVE)


def same(found: Any, example: Any, varying: bool, kind: type = Known) -> bool:
    return type(found) is kind and np.array_equal(found.example, example) and found._varying == varying


def test_a_released_value_has_no_private_part() -> None:
    for value in (EACH, [1, EACH], {"a": EACH}):
        with pytest.raises(Leak, match="in place of a released one"):
            Known(value)


def test_no_released_value_is_an_entry_of_another_or_taken_out_of_one() -> None:
    @dataclass
    class Tree:
        leaves: Any

    for value in (OWN, (OWN, 0.0), [1, [FREE]], {"a": Fixed(2.0)}):
        for kind in (Known, Fixed, Settings):
            with pytest.raises(Unmodelled, match="within a released one"):
                kind(value)
    held = Known(Tree(OWN))  # what a model is made of, and nobody asks for
    with pytest.raises(Unmodelled, match="within a released one"):
        held.leaves  # noqa: B018


def test_shapes_are_known_where_they_do_not_follow_from_released_values() -> None:
    assert (OWN.shape, OWN.ndim, OWN.size, len(OWN)) == ((2, 3), 2, 6, 2)
    for asked in (lambda: FREE.shape, lambda: FREE.size, lambda: FREE.ndim, lambda: len(FREE), lambda: list(FREE)):
        with pytest.raises(Unmodelled, match="a length that follows"):
            asked()
    a, _, c = FREE  # another length would be an error, so that it is none
    assert same(a, 0, True) and same(c, 2, True)
    first, second = OWN
    assert same(first, [4.0, 5.0, 6.0], False) and [one.example for one in second] == [7.0, 8.0, 9.0]


def test_what_would_tell_more_is_refused() -> None:
    for asked in (lambda: OWN.dtype, lambda: OWN.base, lambda: bool(OWN), lambda: float(OWN), lambda: repr(OWN),
                  lambda: f"{OWN}", lambda: np.array(OWN)):  # fmt: skip
        with pytest.raises(Unmodelled):
            asked()
    with pytest.raises(AttributeError):
        OWN.__no_such__  # noqa: B018
    with pytest.raises(AttributeError):
        OWN.loop  # noqa: B018
    assert OWN.least is None and Known(1.0, least=2.0).least == 2.0


def test_entries_and_parts_of_a_released_value() -> None:
    assert same(OWN[1], [7.0, 8.0, 9.0], False) and same(OWN[:, 1], [5.0, 8.0], False)
    assert same(OWN[Known(1)], [7.0, 8.0, 9.0], False) and same(OWN[0, Known(2)], 6.0, False)
    assert same(OWN[Known(np.array([True, False]))], [[4.0, 5.0, 6.0]], True)  # another number of entries
    assert same(OWN[:, Known(np.array([True, False, True]))], [[4.0, 6.0], [7.0, 9.0]], True)
    assert same(OWN[FREE[:2]], OWN.example[:2], True) and same(FREE[0], 0, True)
    assert same(OWN[[1, 0]], OWN.example[::-1], False)
    for key in (EACH, (0, EACH)):
        with pytest.raises(Leak, match="private choice"):
            OWN[key]
    public = Fixed(np.arange(4))
    assert same(public[1], 1, False, Fixed) and same(public[Known(3)], 3, False)  # picked by what is released
    assert same(public.T, np.arange(4), False, Fixed) and same(OWN.T, OWN.example.T, False)


def test_methods_are_run_on_the_example() -> None:
    assert same(OWN.sum(axis=1), [15.0, 24.0], False) and same(
        OWN.clip(5.0, Known(8.0)).max(axis=0), [7.0, 8.0, 8.0], False
    )
    assert same(FREE.cumsum(), [0, 1, 3], True) and same(OWN.nonzero(), OWN.example.nonzero(), True)
    assert same(OWN.repeat(2, axis=0), OWN.example.repeat(2, axis=0), False)
    assert same(OWN.repeat(Known(2), axis=0), OWN.example.repeat(2, axis=0), True)
    assert same(OWN.ravel().searchsorted(FREE), [0, 0, 0], True)
    assert varies([OWN, {"a": FREE, "b": 1}]) and not varies({"a": OWN})
    with pytest.raises((Leak, Unmodelled, TypeError)):
        OWN.dot(EACH)

    @dataclass
    class Own:
        number: Any = 1.0

    assert same(Known(Own()).number, 1.0, False)
    assert same(Known([np.arange(2), np.arange(3)])[Known(0)], [0, 1], True), "entries of a list differ in length"
    for other in (None, "text", float, Relation.ADD_REMOVE, len, np.array([None]), np.array(["a"]), [1.0, None],
                  {"a": "b"}, Own(None), Own((1.0, Relation.ADD_REMOVE))):  # fmt: skip
        with pytest.raises(Unmodelled, match="not made of numbers"):
            Known(other)
    with pytest.raises(Unmodelled, match="another entry"):
        Known({1: 1.0}).get(2)


def test_numpys_functions_of_symbols_take_axes_of_reductions_alone() -> None:
    assert same(np.add.reduce(OWN), [11.0, 13.0, 15.0], False)  # numpy's axis is the first where none is named
    assert same(np.add.reduce(OWN, axis=1, keepdims=True), [[15.0], [24.0]], False)
    for call in (lambda: np.add.accumulate(OWN), lambda: np.add(OWN, 1.0, where=np.array([True])),
                 lambda: np.add(OWN, 1.0, dtype=int), lambda: np.add.outer(OWN, OWN),
                 lambda: np.add.reduce(OWN, initial=3.0)):  # fmt: skip
        with pytest.raises(Unmodelled, match="with"):
            call()


def test_own_methods_that_give_none_or_change_their_arguments_are_not_run() -> None:
    checked(np.ndarray.sum)
    checked(len)
    checked(test_a_released_value_has_no_private_part)  # no training text
    checked(sgbdt.Params.__init__)


# --- What can be reached ----------------------------------------------------------------------------------------------


class Population(Host):
    pass


def closing(value: Any) -> Any:
    return lambda: value


def test_records_curators_and_private_values_are_found_behind_functions() -> None:
    host = object.__new__(Population)
    for value in (EACH, host, CURATOR, iter([1]), (one for one in ()), [].append, {}.update, set().add, deque().append,
                  np.zeros(2).fill):  # fmt: skip
        boxed = np.empty(2, dtype=object)
        boxed[1] = value
        for around in (value, [1, value], {"a": (value,)}, {1: value}, closing(value), partial(min, value), boxed,
                       partial(min, x=value)):  # fmt: skip
            assert holds(around), (value, around)


def test_however_deep_a_value_is_what_is_in_it_is_found() -> None:
    """Nothing was found beyond twelve levels once, and nothing said so."""
    of_parameter, array = Open(real(), 0.5, None), np.zeros(2)
    value: Any = [EACH, of_parameter, array]
    for _ in range(2000):
        value = (value,)
    assert list(privates(value)) == [EACH] and [one is of_parameter for one in opened(value)] == [True]
    assert [one is array for one in _arrays(value)] == [True]


def test_plain_values_and_functions_of_them_hold_nothing() -> None:
    around: list[Any] = [1]
    around.append(around)
    schema = Schema((Numeric("x", 0.0, 1.0),), Interval(-1.0, 1.0))
    plain = [1, "a", None, OWN, np.zeros(2), np, int, range(3), [1, ("a", {2: 3.0})], around, closing(1), "a".join]
    for value in (*plain, np.array([1, None], dtype=object), schema, partial(min, 1), operator.add, min):
        assert not holds(value), value


def test_what_containers_and_functions_keep() -> None:
    def own(one: int = 7, *, other: str = "d") -> Any:
        return EACH, one, other, late

    if False:
        late = 1
    own.mark = "m"  # type: ignore[attr-defined]
    assert inside(own) == ["m", (7,), {"other": "d"}]  # a name without a value yet is none
    assert inside({1: 2, "a": 3}) == [1, "a", 2, 3] and inside((1, 2)) == [1, 2] and inside("ab") == []
    assert inside(partial(min, 1, key=2)) == [min, 1, 2] and inside(np.zeros(2)) == []
    assert inside(np.array([[1], ["a"]], dtype=object)) == [1, "a"]
    assert inside(CURATOR.step) == [CURATOR, Curator.step]
    assert inside(Interval(-1.0, 2.0)) == [-1.0, 2.0] and inside(EACH) == []


def test_values_that_go_round_in_circles_end() -> None:
    around: list[Any] = [EACH]
    around.append({"a": around})
    assert {id(one) for one in privates(around)} == {id(EACH)}
    held = np.empty(2, dtype=object)
    held[0], held[1] = EACH, [EACH]
    assert list(privates(held)) == [EACH, EACH]
    arrays: list[Any] = [np.zeros(2)]
    arrays.append(arrays)
    assert {len(one) for one in _arrays(arrays)} == {2}
    box = Interval(0.0, 1.0)
    assert not list(_arrays([box, Interval, "a"])) and not list(privates([box, Interval, "a"]))
