"""What an observer sees of arrays, and of what hangs on them, by place."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

from refdp.audit.observer import view
from refdp.audit.padding import shown, without_padding


class Held(np.ndarray):
    """An array with an attribute."""

    note: Any


class Kept(list[Any]):
    """A list that can be referred to weakly."""


def places(thing: Any) -> dict[str, str]:
    return dict(view(thing, "a").lines)


def test_attributes_of_arrays_are_seen() -> None:
    own = np.arange(3.0).view(Held)
    own.note = 7
    found = places(own)
    assert found["a.note"] == "int 7" and "a.base" in found and "Held" in found["a"]
    own.note = 8
    assert places(own) != found and {**places(own), "a.note": "int 7"} == found


def test_what_an_array_is() -> None:
    """Layout, whether it may be written, whether it is a view, its mask and its objects."""
    plain = np.arange(6.0).reshape(2, 3).copy()
    said = places(plain)["a"]
    assert "<f8" in said and "(2, 3) C" in said and "writeable" in said and "view" not in said
    assert "(3, 2) F" in places(plain.T)["a"] and "view" in places(plain.T)["a"] and "a.base" in places(plain.T)
    plain.flags.writeable = False
    assert "writeable" not in places(plain)["a"] and "a.base" not in places(plain)
    other = np.arange(6.0).reshape(2, 3).copy()
    other[1, 2] = 9
    assert places(other)["a"] != said
    masked = places(np.ma.array([1.0, 2.0], mask=[True, False]))
    assert "a.mask" in masked and masked != places(np.ma.array([1.0, 2.0], mask=[False, True]))
    held = places(np.array(["x", 3], dtype=object))
    assert held["a[...][0]"] == "str 'x'" and held["a[...][1]"] == "int 3"
    noted = np.zeros(1, dtype=np.dtype("f8", metadata={"why": 5}))
    assert any(place.startswith("a.dtype.metadata") and "5" in content for place, content in places(noted).items())
    assert not any("metadata" in place for place in places(np.zeros(1)))


def test_how_a_type_is_built_is_told() -> None:
    """The shape of its elements and of those of its fields, and whether fields were to lie as in C."""
    kinds: list[Any] = [("f8", (2, 3)), ("f8", (3, 2)), ("i8", (3, 2)), [("a", "f8")], [("a", [("b", "f8")])]]
    types = [*map(np.dtype, kinds), np.dtype([("a", "f8")], align=True)]
    types.append(np.dtype([("a", np.dtype([("b", "f8")], align=True))]))
    assert len({repr(view(one).lines) for one in types}) == len(types) == 7
    assert len({repr(view(np.zeros(0, one)).lines) for one in types[3:]}) == 4


ALIGNED = np.dtype([("flag", "i1"), ("value", "f8")], align=True)


def with_garbage(dtype: Any, byte: int) -> Any:
    """One element of ones, and all bytes that say nothing those given."""
    made = np.ones(1, dtype)
    made.view(np.uint8)[~shown(made.dtype, numbers=True)] = byte
    return made


@pytest.mark.parametrize("dtype", [ALIGNED, np.dtype([("a", ALIGNED, (2,))]), np.longdouble, np.clongdouble])
def test_memory_between_numbers_is_named_and_not_compared(dtype: Any) -> None:
    """It is another one from run to run, whatever the numbers are."""
    clean, one, other = (with_garbage(dtype, byte) for byte in (0, 3, 5))
    if without_padding(one)[0] == one.tobytes():  # where extended floats have no other bytes
        return
    assert view(clean, "a").lines == view(one, "a").lines == view(other, "a").lines and view(clean, "a").opaque == []
    assert view(one, "a").opaque == ["a: memory between its numbers"]
    assert view(one[:], "a").opaque == ["a.base: memory between its numbers"]


def test_bytes_that_say_something_are_all_compared() -> None:
    for kind in ("f8", "U3", "c16", "M8[s]", "i1", "V3"):
        made = np.zeros(4, kind)
        assert without_padding(made) == (made.tobytes(), False) == without_padding(made[::-1])
    swapped = np.ones(2, np.dtype(np.longdouble).newbyteorder())
    assert without_padding(swapped)[0] != without_padding(swapped * 2)[0]


def test_kinds_of_one_name_and_alignment_are_told() -> None:
    same = [kind for kind in "lq" if np.dtype(kind).itemsize == 8]
    told = {repr(view(np.zeros(2, kind)).lines) for kind in same}
    assert len(told) == len(same) == len({repr(view(np.dtype(kind)).lines) for kind in same})
    apart = np.frombuffer(bytearray(17), np.uint8)[1:].view("f8")
    assert "unaligned" in places(apart)["a"] and "unaligned" not in places(np.zeros(2))["a"]


def test_memory_that_tables_share_is_followed() -> None:
    pandas = pytest.importorskip("pandas")
    for table in (pandas.Series([1.0]), pandas.DataFrame({"a": [1.0], "b": ["x"]}), pandas.Series([1.0, 2.0])[1:]):
        assert view(table, "a").opaque == []


def test_what_weak_references_lead_to_is_seen() -> None:
    one, other = Kept([1]), Kept([2])
    assert view(weakref.ref(one)).lines != view(weakref.ref(other)).lines
    assert ("a[1]()", "the same as object 1") in view([one, weakref.ref(one)], "a").lines
    gone = weakref.ref(Kept([3]))
    assert dict(view(gone, "a").lines)["a()"] == "NoneType None"
