"""Where each number of an object stands among its leaves, and what is cut: whole lists of leaves, written by hand."""

from __future__ import annotations

import json
import pickle
import types
from copyreg import __newobj__  # type: ignore[attr-defined]
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import structural_state
from refdp.audit.structural_beside import beside, number_parts
from refdp.audit.structural_state import DEEPEST, attributes, leaves, numbers


def test_what_a_function_keeps_stands_under_its_name() -> None:
    def kept(a=3, *, b=4): ...  # type: ignore[no-untyped-def]

    assert leaves([kept]) == {"[0]": "function", "[0].b": 4, "[0].default 0": 3}
    kept.own = kept  # type: ignore[attr-defined]
    assert leaves(kept) == {"": "function", ".own": "function", ".b": 4, ".default 0": 3}
    round_about: list[Any] = []
    round_about.append(lambda held=round_about: held)
    assert leaves(round_about) == {"[0]": "function"}


def test_functions_inside_functions_are_followed_so_far_and_no_farther() -> None:
    one: Any = 7
    for _ in range(DEEPEST + 9):
        one = types.FunctionType((lambda kept: kept).__code__, globals(), argdefs=(one,))
    assert leaves(one) == {".default 0" * depth: "function" for depth in range(DEEPEST + 1)}
    for inside, cut in ((DEEPEST, False), (DEEPEST + 1, True)):
        held: Any = 7
        for _ in range(inside):
            held = [held]
        assert leaves(held) == ({} if cut else {"[0]" * inside: 7})


class Slots:
    """Private names beside others; what Python keeps for itself is no attribute."""

    __slots__ = ("__count", "__weakref__", "_own", "empty")

    def __init__(self) -> None:
        self._own, self.__count = 5, 3


class OneSlot:
    """Slots may be one name."""

    __slots__ = "only"

    def __init__(self) -> None:
        self.only = 2


def test_slots_have_the_names_by_which_they_are_reached() -> None:
    assert leaves(Slots()) == {"._Slots__count": 3, "._own": 5}
    assert leaves(OneSlot()) == {".only": 2}
    assert attributes(SimpleNamespace(a=1)) == {"a": 1}
    assert attributes(SimpleNamespace(tolist=lambda: [1])).keys() == {"tolist"}


class Reduced:
    """Kept in C, as it were: only what it hands to pickle is known."""

    __slots__ = ()
    given: Any = ()

    def __reduce_ex__(self, protocol: Any) -> Any:
        assert protocol == 4
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ((dict, (5, 6)), {"made from": (5, 6)}),
        ((__newobj__, (Reduced, 5, 6)), {"made from": (5, 6)}),
        ((__newobj__, (Reduced,)), {}),
        ((dict, ()), {}),
        ((dict, (5,), {"a": 1}), {"made from": (5,), "state": {"a": 1}}),
        ((dict, (5,), 0), {"made from": (5,), "state": 0}),
        ((dict, (5,), None, iter([7]), iter([("k", 8)])), {"made from": (5,), "items": [7], "pairs": [("k", 8)]}),
        ((dict, (), None, None, iter([("k", 8)])), {"pairs": [("k", 8)]}),
        ((dict, (), None, iter([7])), {"items": [7]}),
        ("a name", {}),
        *((error("no"), {}) for error in (TypeError, AttributeError, pickle.PicklingError, ValueError)),
    ],
)
def test_what_is_kept_in_c_is_what_pickle_is_given(given: Any, found: Any) -> None:
    one = type("One", (Reduced,), {"given": given, "__slots__": ()})()
    assert attributes(one) == found


def pickled(said: str, *places: int) -> dict[str, Any]:
    """What stands beside the numbers of a pickle: its opcodes, their further numbers."""
    opcodes = {"<opcodes>[0]": f"PROTO {said} STOP"}
    return opcodes | {f"<places>[{number}]": place for number, place in enumerate(places)}


@pytest.mark.parametrize(
    ("thing", "found"),
    [
        (np.array(np.datetime64("1970-01-03", "D")), {".ticks": 2, ".unit": "datetime64[D]"}),
        (np.array(np.timedelta64(9, "s")), {".ticks": 9, ".unit": "timedelta64[s]"}),
        (np.timedelta64(9, "D"), {".ticks": 9, ".unit": "timedelta64[D]"}),
        (np.array(1.5), {"": 1.5}),
        (np.array([[1, 2]]), {"[0][0]": 1, "[0][1]": 2}),
        (np.array([(1, 2.5)], dtype=[("a", int), ("b", float)]), {"['a'][0]": 1, "['b'][0]": 2.5}),
        (np.ma.array([1.0, 2.0], mask=[True, False]),
         {".data[0]": 1.0, ".data[1]": 2.0, ".mask[0]": 1, ".mask[1]": 0}),
        (np.zeros((0, 2)), {"": "ndarray(0, 2)"}),
        (complex(1, 2), {".real": 1.0, ".imag": 2.0}),
        (Decimal("0.5"), {".float": 0.5, ".exponent": "-1"}),
        (Decimal("1e400"), {".float": float("inf"), ".left": 1.0, ".left[1]": 400.0, ".exponent": "400"}),
        ({"b": 1, 2: True}, {"['b']": 1, "[2]": 1}),
        ({3, 1}, {"{0}": 1, "{1}": 3}),
        ((None, int, np.random.default_rng(1)), {"[0]": "NoneType", "[1]": "type", "[2]": "Generator"}),
        ([[], {}], {"[0]": "list", "[1]": "dict"}),
        (ValueError(4), {".args[0]": 4, ".state": "dict", ".__suppress_context__": 0}),
        ('{"a": [1, "x"]}', {"['a'][0]": 1, "['a'][1]": "x"}),
        ("[1, 2", {"": "[1, 2"}), ("", {"": ""}), ("7", {"": "7"}),
        (b"[3]", {"[0]": 3}), (b"", {"": ""}), (bytearray(b"a"), {"": "a"}),
        (b"\xff\x00", {"<bytes>[0]": 255, "<u1>[0]": 255, "<u1>[1]": 0, "<length>": 2}),
        (b"\x80\xff", {"<bytes>[0]": 65408, "<u1>[0]": 128, "<u1>[1]": 255, "<length>": 2}),
        (pickle.dumps([1, 2.5, 300], protocol=2),
         {"<pickle>[0]": 1, "<pickle>[1]": 2.5, "<pickle>[2]": 300, "<places>[0]": 2, "<places>[1]": 0,
          "<opcodes>[0]": "PROTO EMPTY_LIST BINPUT MARK int float int APPENDS STOP"}),
        (pickle.dumps(np.array([0.5, -2.0]).tobytes(), protocol=3),
         {"<pickle>[0][0]": 0.5, "<pickle>[0][1]": -2.0, **pickled("bytes BINPUT", 3, 0)}),
        (pickle.dumps(b"seven..", protocol=3),
         {"<pickle>": "list", "<bytes>[0]": "seven..", **pickled("bytes BINPUT", 3, 0)}),
        (pickle.dumps(b"", protocol=3), {"<pickle>": "list", "<bytes>[0]": "", **pickled("bytes BINPUT", 3, 0)}),
        (pickle.dumps("n 3", protocol=2), {"<pickle>": "list", "<texts>[0]": "n 3", **pickled("str BINPUT", 2, 0)}),
        (pickle.dumps([True, False], protocol=2)[:2] + b"\x88.",
         {"<pickle>": "list", "<truths>[0]": 1, **pickled("NEWTRUE", 2)}),
    ],
)  # fmt: skip
def test_every_leaf_of_an_object_by_its_path(thing: Any, found: Any) -> None:
    assert leaves(thing) == found
    assert leaves([thing]) == {f"[0]{path}": leaf for path, leaf in found.items()}


def test_what_a_float_leaves_over_is_a_leaf_of_its_own() -> None:
    long = np.longdouble(1) + np.finfo(np.longdouble).eps
    if np.finfo(np.longdouble).eps < np.finfo(np.float64).eps:
        assert leaves(long) == {"": 1.0, ".left": float(np.finfo(np.longdouble).eps)}
    assert leaves(np.longdouble(1)) == {"": 1.0}
    found = leaves(Decimal("0.1") + Decimal("1e-25"))
    assert found == {".float": 0.1, ".left": 1e-25, ".exponent": "-25"}
    assert dict(number_parts(Decimal("NaN"))) == pytest.approx({".float": float("nan"), ".exponent": "n"}, nan_ok=True)


def test_what_stands_beside_items_and_fields() -> None:
    class Items(list[Any]):
        """A list that may have attributes."""

    items = Items([1])
    vars(items).update(a=2, _mask=3)
    found = leaves(items)
    assert {path: leaf for path, leaf in found.items() if ".__class__" not in path} == {"[0]": 1, ".a": 2, "._mask": 3}
    assert found[".__class__"] == "type" and found[".__class__.__doc__"] == "A list that may have attributes."
    error = ValueError(1)
    error.note = "n"  # type: ignore[attr-defined]
    assert list(beside(error)) == [(".args", (1,)), (".__suppress_context__", False)]
    assert list(beside(SimpleNamespace(a=1))) == []
    masked = np.ma.array([1.0])
    masked.more = 1
    assert list(beside(masked)) == [(".more", 1)]


def test_an_object_is_read_in_part_where_it_has_more_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(leaves(list(range(50)))) == 50 and structural_state.MOST_LEAVES == 100_000
    monkeypatch.setattr(structural_state, "MOST_LEAVES", 3)
    assert leaves([5, 6, 7, 8, 9]) == {"[0]": 5, "[1]": 6, "[2]": 7}


def test_texts_in_texts_count_as_deeper() -> None:
    """Each text takes two steps, itself and the list that it holds."""

    def text(times: int) -> str:
        inner = "7"
        for _ in range(times):
            inner = json.dumps([inner])
        return inner

    assert leaves(text(DEEPEST // 2)) == {"[0]" * (DEEPEST // 2): "7"}
    assert leaves(text(DEEPEST // 2 + 1)) == {}
    packed = pickle.dumps(1.5, protocol=2)
    for place, found in ((DEEPEST - 2, 3), (DEEPEST - 1, 0)):
        held: Any = packed
        for _ in range(place):
            held = [held]
        assert len(leaves(held)) == found


def test_numbers_are_the_leaves_that_are_no_texts() -> None:
    assert numbers({"a": 1, "b": "2", "c": 2.5}) == {"a": 1.0, "c": 2.5}
