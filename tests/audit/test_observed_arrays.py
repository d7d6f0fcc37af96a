"""What an observer sees of arrays, and of what hangs on them, by place."""

from __future__ import annotations

from typing import Any

import numpy as np

from refdp.audit.observer import view


class Held(np.ndarray):
    """An array with an attribute."""

    note: Any


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
