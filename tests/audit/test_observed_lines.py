"""The lines that an observer sees of a thing: where each part is, its type, its exact bits, what is shared."""

from __future__ import annotations

import abc
import datetime
import decimal
import functools
import hashlib
import io
import itertools
import math
import random
import re
import sys
import threading
import types
import weakref
from array import array as array_of_numbers
from collections import OrderedDict, deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, IntFlag
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from refdp.audit import observer
from refdp.audit.by_name import has_its_name
from refdp.audit.held import held_by
from refdp.audit.hidden_memory import behind
from refdp.audit.inside import foreign
from refdp.audit.observer import View, view

BITS = {value: np.float64(value).tobytes().hex() for value in (1.5, -0.0)}


class Plain:
    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)


class Slotted:
    __slots__ = ("__hidden", "shown", "unset")

    def __init__(self) -> None:
        self.shown, self.__hidden = 1, 2


class One:
    __slots__ = "alone"

    def __init__(self) -> None:
        self.alone = 3


class Number(float):
    """A subclass with attributes of its own."""


class Choice(Enum):
    FIRST = 1


NAME = f"{__name__}."


def test_plain_values_are_told_by_their_bits() -> None:
    for thing, line in ((None, "NoneType None"), (True, "bool True"), (7, "int 7"), ("a", "str 'a'"), (b"a",
        "bytes b'a'"), (..., "ellipsis Ellipsis"),
                        (1.5, f"float {BITS[1.5]} 1.5"), (-0.0, f"float {BITS[-0.0]} -0.0"),
                        (1 + 2j, f"complex {np.complex128(1 + 2j).tobytes().hex()} (1+2j)")):  # fmt: skip
        assert view(thing, "x").lines == [("x", line)]
    payload = np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0].item()
    assert view(payload).lines != view(math.nan).lines and view(math.nan).lines == view(math.nan).lines


def test_long_contents_are_told_by_their_digest() -> None:
    short, long = View(), View()
    short.add("x", "a" * 200)
    long.add("x", "a" * 201)
    assert short.lines == [("x", "a" * 200)]
    assert long.lines == [("x", f"{'a' * 60!r} ... 201 characters, {hashlib.sha256(b'a' * 201).hexdigest()}")]


def test_containers_are_told_in_order_with_their_room() -> None:
    listed: list[Any] = [1, [2]]
    room, inner = sys.getsizeof(listed), sys.getsizeof(listed[1])
    assert view(listed, "x").lines == [("x", f"builtins.list of 2, {room} bytes"), ("x[0]", "int 1"),
                                       ("x[1]", f"builtins.list of 1, {inner} bytes"), ("x[1][0]",
                                       "int 2")]  # fmt: skip
    assert view((1, "b"), "x").lines == [("x", "builtins.tuple of 2"), ("x[0]", "int 1"), ("x[1]", "str 'b'")]
    assert view({"a": 1, 2: 3, (4,): 5}, "x").lines == [
        ("x", "builtins.dict of 3"), ("x key 0", "str 'a'"), ("x['a']", "int 1"), ("x key 1", "int 2"), ("x[2]",
        "int 3"),
        ("x key 2", "builtins.tuple of 1"), ("x key 2[0]", "int 4"), ("x[key 2]", "int 5")]  # fmt: skip
    assert view({3}, "x").lines == [("x", f"builtins.set of 1, {sys.getsizeof({3})} bytes"), ("x element 0", "int 3")]
    mixed = view(frozenset({(2,), (1,), (3,)}), "x").lines
    assert [line for _, line in mixed] == [
        "builtins.frozenset of 3",
        *(part for k in (1, 2, 3) for part in ("builtins.tuple of 1", f"int {k}")),
    ]
    grown: list[Any] = [1, [2], 3, 4, 5, 6, 7]
    del grown[2:]
    assert view(grown).lines[0] != view(listed).lines[0] or sys.getsizeof(grown) == room
    assert view(bytearray(b"ab"), "x").lines[0] == (
        "x",
        f"builtins.bytearray 6162, {sys.getsizeof(bytearray(b'ab'))} bytes",
    )


def test_shared_things_are_told_by_their_number() -> None:
    inner = [1]
    assert view((inner, inner), "x").lines[-1] == ("x[1]", "the same as object 1")
    assert view(([1], [1]), "x").lines[-1] == ("x[1][0]", "int 1")
    inner.append(inner)  # type: ignore[arg-type]
    assert view(inner, "x").lines[-1] == ("x[1]", "the same as object 0")


def test_attributes_and_slots() -> None:
    assert view(Plain(a=1, b="c"), "x").lines == [("x", NAME + "Plain"), ("x.a", "int 1"), ("x.b", "str 'c'")]
    assert view(Slotted(), "x").lines == [("x", NAME + "Slotted"), ("x._Slotted__hidden", "int 2"), ("x.shown",
        "int 1"),
                                          ("x.unset (unset)", "NoneType None")]  # fmt: skip
    assert view(One(), "x").lines == [("x", NAME + "One"), ("x.alone", "int 3")]
    number = Number(1.5)
    number.more = 2  # type: ignore[attr-defined]
    assert view(number, "x").lines == [("x", f"{NAME}Number  {BITS[1.5]} 1.5".replace("  ", " ")), ("x.more", "int 2")]
    assert view(Choice.FIRST, "x").lines == [("x", NAME + "Choice.FIRST"), ("x._value_", "int 1")]
    assert view(Plain, "x").lines == [("x", NAME + "Plain")] and view(math, "x").lines == [("x", ".math")]
    assert view(len, "x").lines == [("x", "builtins.len")]

    class Made:
        value = 4

        def told(self) -> int:
            return 5

    lines = dict(view(Made, "x").lines)
    assert lines["x"].endswith("Made") and lines["x.value"] == "int 4" and "Made.told" in lines["x.told"]
    assert dict(view(Made(), "x").lines)["x.__class__.value"] == "int 4"


def test_texts_that_a_thing_publishes_itself_as() -> None:
    class Publishes:
        def __init__(self, text: str) -> None:
            self.text = text

        def to_json(self) -> str:
            if not self.text:
                raise OSError("gone")
            return self.text

    assert view(Publishes("a"), "x").lines[-1] == ("x.to_json()", "'a'")
    assert view(Publishes(""), "x").lines[-1] == ("x.to_json()", "raised OSError: gone")
    assert not any(place == "x.to_json()" for place, _ in view(Publishes, "x").lines)


def test_arrays_are_told_by_bytes_layout_and_base() -> None:
    table = np.arange(6.0).reshape(2, 3)
    table = table.copy()
    digest = hashlib.sha256(table.tobytes()).hexdigest()
    assert view(table, "x").lines == [
        ("x", f"numpy.ndarray <f8 [('', '<f8')] (2, 3) C writeable  {digest} [0.0, 1.0, 2.0, 3.0]")
    ]
    different = [
        table.T.copy(),
        table.T,
        np.asfortranarray(table),
        table.astype("<f4"),
        table.astype(">f8"),
        table + 0.5,
        table[:],
    ]
    frozen = table.copy()
    frozen.setflags(write=False)
    seen = {repr(view(one).lines) for one in (table, frozen, *different)}
    assert len(seen) == len(different) + 2
    based = view(table[1:], "x").lines
    assert based[1][0] == "x.base" and based[0][1].split()[-6] != "" and " view " in based[0][1]
    objects = view(np.array([1, "a"], dtype=object), "x").lines
    assert objects[1][0] == "x[...]" and objects[2:] == [("x[...][0]", "int 1"), ("x[...][1]", "str 'a'")]
    masked = view(np.ma.MaskedArray([1.0, 2.0], [True, False]), "x").lines
    assert any(place == "x.mask" and "[True, False]" in line for place, line in masked)
    noted = np.dtype("<f8", metadata={"note": 3})
    assert ("x.dtype.metadata[0]['note']", "int 3") in view(np.zeros(2, noted), "x").lines
    assert view(np.float32(1.5), "x").lines == [("x", f"numpy.float32 <f4 {np.float32(1.5).tobytes().hex()}")]
    assert view(np.dtype("<f4"), "x").lines[0][1].startswith("numpy.dtypes.Float32DType <f4")
    fields = view(np.dtype([("a", "<f8")]), "x").lines[0][1]
    assert "[('a', '<f8')]" in fields and ("x.metadata[0]['note']", "int 3") in view(noted, "x").lines


def test_functions_are_told_by_code_defaults_and_what_they_enclose() -> None:
    def made(held: int, default: int, text: int) -> Any:
        def inner(a: int = default, *, b: int = text) -> int:
            return a + b + held

        return inner

    base = view(made(1, 2, 3), "x").lines
    told = dict(base)
    assert (
        told["x.closure[0]"] == "int 1"
        and told["x.__defaults__[0]"] == "int 2"
        and told["x.__kwdefaults__['b']"] == "int 3"
    )
    assert told["x.__code__"].startswith(("code ", "'code ", '"code ')) and told["x"].startswith("builtins.function")
    assert base == view(made(1, 2, 3), "x").lines
    assert len({repr(view(made(*given), "x").lines) for given in ((1, 2, 3), (0, 2, 3), (1, 0, 3), (1, 2, 0))}) == 4
    noted = made(1, 2, 3)
    noted.note = 4
    assert ("x.note", "int 4") in view(noted, "x").lines
    part = view(functools.partial(max, 1, key=abs), "x").lines
    assert part[:2] == [("x", "functools.partial"), ("x.func", "builtins.max")] and ("x.args[0]", "int 1") in part
    assert ("x.keywords['key']", "builtins.abs") in part
    method = view(Plain(a=1).__init__, "x").lines  # type: ignore[misc]
    assert method[0] == ("x", "builtins.method Plain.__init__") and method[1:] == [
        ("x.__self__", NAME + "Plain"),
        ("x.__self__.a", "int 1"),
    ]
    wrapped = view(property(None, len), "x").lines
    assert wrapped == [
        ("x", "builtins.property"),
        ("x[0]", "NoneType None"),
        ("x[1]", "builtins.len"),
        ("x[2]", "NoneType None"),
        ("x.__doc__", "NoneType None"),
    ]
    assert view(staticmethod(len), "x").lines[:2] == [("x", "builtins.staticmethod"), ("x[0]", "builtins.len")]
    assert observer._held(types.CellType()) == "empty cell" and observer._held(types.CellType(3)) == 3


def test_what_waits_is_told_with_what_it_holds() -> None:
    def counting(a: int) -> Any:
        yield a
        yield from iter([a])

    one, two = counting(3), counting(4)
    next(one)
    next(two)
    lines = dict(view(one, "x").lines)
    assert lines["x.locals['a']"] == "int 3" and " at " in lines["x"] and lines["x.gi_yieldfrom"] == "NoneType None"
    assert view(two, "x").lines != view(one, "x").lines
    before = view(one, "x").lines[0]
    next(one)
    assert view(one, "x").lines[0] != before
    list(one)
    assert (
        view(one, "x").lines[0][1].endswith("at its end")
        and dict(view(one, "x").lines)["x.locals"] == "builtins.dict of 0"
    )


def test_what_other_languages_hold_is_what_they_would_pickle() -> None:
    assert view(deque([1, 2]), "x").lines != view(deque([1, 3]), "x").lines
    assert ("x.__reduce__[3][1]", "int 2") in view(deque([1, 2]), "x").lines or any(
        "int 2" in line for _, line in view(deque([1, 2])).lines
    )
    assert view(OrderedDict(a=1), "x").lines[0] == ("x", "collections.OrderedDict of 1")
    closed = view(memoryview(b"a"), "x")
    assert closed.opaque == ["x"] and view(Plain(a=1), "x").opaque == []
    generators = [np.random.default_rng(seed) for seed in (1, 1, 2)]
    told = [repr(view(one, "x").lines) for one in generators]
    assert told[0] == told[1] != told[2]
    generators[0].random()
    assert repr(view(generators[0], "x").lines) != told[0]
    assert foreign(deque) and not foreign(Plain) and not foreign(Number) and not foreign(Slotted)


def square(x: int) -> int:
    return x * x


def code_of(number: int) -> Any:
    function = lambda: 0  # noqa: E731
    function.__code__ = function.__code__.replace(co_consts=(None, number))
    return function


def module_of(number: int) -> Any:
    made = types.ModuleType("made")
    made.rows = number  # type: ignore[attr-defined]
    return made


def member_of(number: int) -> Any:
    member = Enum("Made", {"ROWS": 1})["ROWS"]  # type: ignore[misc]
    member.rows = number  # type: ignore[attr-defined]
    return member


def hidden_slot(number: int) -> Any:
    kind = type("Kind", (), {"__slots__": ("rows",)})
    kind.__slots__ = ()  # type: ignore[attr-defined]
    thing = kind()
    thing.rows = number
    return thing


def cached_times(number: int) -> Any:
    cached = functools.lru_cache(maxsize=None)(square)
    for one in range(number):
        cached(one)
    return cached


class Bits(np.float64):
    """A number that may have attributes."""


def noted_number(number: int) -> Any:
    thing = Bits(1.5)
    thing.rows = number  # type: ignore[attr-defined]
    return thing


PLACES: dict[str, Any] = {
    "code": code_of,
    "code in code": lambda number: eval(f"lambda: (lambda: {number})"),
    "class": lambda number: type("Model", (), {"rows": number}),
    "its base": lambda number: type("Model", (type("Base", (), {"rows": number}),), {}),
    "object of a class": lambda number: type("Model", (), {"rows": number})(),
    "object in a class": lambda number: type("Model", (), {"rows": Plain(n=number)}),
    "documentation": lambda number: type("Model", (), {"__doc__": str(number)}),
    "module": module_of,
    "bound method": lambda number: str(number).upper,
    "function bound to an object": lambda number: types.MethodType(code_of(number), 1),
    "member of an enumeration": lambda number: Enum("Made", {"ROWS": number})["ROWS"],  # type: ignore[misc]
    "attribute of a member": member_of,
    "enumeration": lambda number: Enum("Made", {"ROWS": number}),
    "globals of a function": lambda number: types.FunctionType(code_of(1).__code__, {"rows": number}),
    "slot that the list of slots leaves out": hidden_slot,
    "mapping that nobody may change": lambda number: types.MappingProxyType({"rows": number}),
    "use of a cache": cached_times,
    "attribute of a number": noted_number,
    "generator of Python": random.Random,
    "object under another's name": lambda number: type("Named", (), {"__reduce__": lambda self: "view", "n": number})(),
}


@pytest.mark.parametrize("place", list(PLACES))
def test_whatever_a_run_made_is_looked_into(place: str) -> None:
    """Each holds an exact count, and differs with it; the same count twice gives the same lines."""
    three, again, four = (view(PLACES[place](number), "x") for number in (3, 3, 4))
    assert three.lines == again.lines != four.lines
    assert three.opaque == (["x"] if place == "use of a cache" else [])


def test_what_cannot_be_looked_into_is_told() -> None:
    """A name that an object gives itself says nothing, unless a module has the object under it."""

    class Named(deque):  # type: ignore[type-arg]
        def __reduce__(self) -> str:
            return "view"

    class Refusing(deque):  # type: ignore[type-arg]
        def __reduce_ex__(self, protocol: Any) -> Any:
            raise NotImplementedError

    for kind in (Named, Refusing):  # the part that is not of Python answers
        assert view(kind([1]), "x").opaque == [] and view(kind([1])).lines != view(kind([2])).lines
    assert view(threading.Lock(), "x").opaque == ["x"] and view(itertools.tee([1])[0], "x").opaque == []
    assert view(np.frompyfunc(square, 1, 1), "x").opaque == ["x"]
    assert view(cached_times(0), "x").opaque == []
    try:
        raise ValueError
    except ValueError as error:
        assert view(error, "x").opaque == ["x.__traceback__"]
    for known in (math, len, Plain, Plain.__init__, view, Choice.FIRST, np.add, type(None), math.sin, dict.fromkeys):
        assert view(known, "x").opaque == [], known


class Raising:
    """A thing whose own code raises whatever it is asked."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getattr__(self, name: str) -> Any:
        raise KeyError(name)

    def __repr__(self) -> str:
        raise RuntimeError


class NoDictionary:
    """It says that it has no attributes."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return {}


class Empty(list):  # type: ignore[type-arg]
    """It says that it has no elements."""

    def __iter__(self) -> Any:
        return iter(())


def denying(value: Any) -> NoDictionary:
    made = NoDictionary()
    object.__setattr__(made, "value", value)
    return made


def caused(value: Any) -> ValueError:
    error = ValueError("failed")
    error.__cause__ = KeyError(value)
    return error


def renamed(value: Any) -> Any:
    def made() -> None: ...

    made.__name__ = f"{value}"
    return made


def bytes_behind(value: Any) -> Any:
    return np.frombuffer(np.array([1, value]).tobytes(), count=1)


def strides_behind(value: Any) -> Any:
    return np.lib.stride_tricks.as_strided(np.array([1, value]), (1,), (8,))


def of_metaclass(value: Any) -> Any:
    return type("Meta", (type,), {"value": value})("Made", (), {})


@pytest.mark.parametrize("make", [caused, renamed, bytes_behind, strides_behind, of_metaclass])
def test_what_stands_behind_a_thing_is_looked_into(make: Any) -> None:
    one, again, other = (view(make(n), "x") for n in (1, 1, 2))
    assert one.lines == again.lines != other.lines and one.opaque == []


def test_memory_that_is_shown_whole_is_told_once() -> None:
    shown = np.frombuffer(b"12345678")
    assert behind(shown) is None and behind(shown[:0]) is not None and behind(np.ones((2, 3)).T) is None
    assert behind(np.frombuffer(bytearray(b"12345678"))) is None
    assert behind(np.frombuffer(memoryview(bytearray(16))[8:])) is not None


@pytest.mark.parametrize(
    "make", [Raising, denying, lambda n: Empty([n]), lambda n: 10**5000 + n, lambda n: re.compile(f"{n}")]
)
def test_what_a_thing_says_of_itself_is_not_asked(make: Any) -> None:
    one, again, other = (view(make(n), "x") for n in (1, 1, 2))
    assert one.lines == again.lines != other.lines and one.opaque == []


MADE: list[tuple[type, Callable[[Any], Any]]] = [
    (np.ndarray, lambda kind: np.zeros(1).view(kind)), (np.float64, lambda kind: kind(1)), (property, lambda k: k()),
    (functools.partial, lambda kind: kind(int)), (weakref.ref, lambda k: k(Plain)), (bytes, lambda k: k(b"a")),
    (types.ModuleType, lambda kind: kind("made")), (bytearray, lambda kind: np.frombuffer(kind(8))),
    (bytearray, lambda kind: np.frombuffer(memoryview(kind(8)))),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(MADE)))
def test_the_class_that_a_run_made_is_told_whatever_it_is_a_class_of(number: int) -> None:
    base, make = MADE[number]
    one, again, other = (view(make(type("K", (base,), {"rows": n})), "x") for n in (1, 1, 2))
    assert one.lines == again.lines != other.lines and one.opaque == again.opaque


def test_memory_of_what_is_only_called_as_if_it_had_none() -> None:
    """Names are anybody's; so are attributes of what has as many bytes as the array shows."""
    for name in ("PyCapsule", "DummyArray"):
        shown = {"__array_interface__": np.zeros(1).__array_interface__, "base": None}
        array = np.asarray(type(name, (), shown)())
        assert behind(array) is array.base is not None
    kept = type("Kept", (bytearray,), {})(8)
    assert behind(np.frombuffer(kept)) is kept is behind(np.frombuffer(memoryview(kept)))
    assert behind(np.lib.stride_tricks.as_strided(np.zeros(1), (1,), (8,))) is None
    assert behind(np.frombuffer(array_of_numbers("d", [1.0]))) is None


def test_methods_of_modules_that_a_run_made_and_false_caches_are_looked_into() -> None:
    class Count(itertools.count):  # type: ignore[type-arg]
        cache_info = staticmethod(lambda: SimpleNamespace(currsize=0))
        cache_parameters = staticmethod(dict)

    def method(rows: int) -> Any:
        made = types.ModuleType("made")
        made.rows = rows  # type: ignore[attr-defined]
        return made.__dir__

    for make in (Count, method):
        one, again, other = (view(make(n), "x") for n in (1, 1, 2))
        assert one.lines == again.lines != other.lines and one.opaque == []
    assert all(has_its_name(one) for one in (open, decimal.getcontext, math.sin, np.array))


def test_a_thing_that_raises_while_it_is_looked_at_is_told() -> None:
    class Meta(type):
        @property
        def __module__(cls) -> Any:  # type: ignore[override]
            raise RuntimeError

    assert view([Meta("K", (), {})()], "x").opaque == ["x[0]"]


def test_a_thing_has_its_name_where_a_module_has_the_very_same() -> None:
    for known in (math, len, Plain, view, square, int, types.FunctionType, Slotted.__init__, np.sum):
        assert has_its_name(known), known
    made = (code_of(1), type("Plain", (), {"__module__": __name__}), module_of(1), "a".upper, code_of(1).__code__, 3)
    assert not any(map(has_its_name, made)) and not has_its_name(types.ModuleType("math"))
    assert has_its_name(np.add, "add") and not has_its_name(Plain(), "view") and not has_its_name(np.add, "subtract")


def test_classes_that_a_run_made_are_the_same_from_run_to_run() -> None:
    """Of every make: nothing in them is an address, and nothing is closed."""

    def made() -> list[Any]:
        class Abstract(abc.ABC):
            @abc.abstractmethod
            def told(self) -> int: ...

        class Own(Abstract):
            known: ClassVar[list[int]] = [1]

            def told(self) -> int:
                return super().told()  # type: ignore[safe-super]

            @property
            def twice(self) -> int:
                return 2

            @classmethod
            def thrice(cls) -> int:
                return 3

        @dataclass
        class Fields:
            a: int = 3
            b: list[int] = field(default_factory=list)

        class Flags(IntFlag):
            A = 1
            B = 2

        pair = namedtuple("pair", "a b")
        return [Abstract, Own(), Own().told, Fields(), Flags.A | Flags.B, pair(1, 2), lambda: pair]

    one, other = view(made(), "x"), view(made(), "x")
    assert one.lines == other.lines and one.opaque == []


def test_what_is_registered_with_a_class_is_told() -> None:
    def made(*kinds: type) -> Any:
        kind = abc.ABCMeta("Made", (), {})
        for one in kinds:
            kind.register(one)
        return kind

    assert view(made(int), "x").lines == view(made(int), "x").lines != view(made(str), "x").lines


def test_what_a_module_keeps_from_run_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("kept_module")

    class Own:
        table = {1: 2}
        __secret__ = 5

        def method(self) -> None: ...

    Own.__module__, Own.__qualname__ = "kept_module", "Own"

    def counted() -> None: ...

    counted.__module__ = "kept_module"
    counted.calls = 3  # type: ignore[attr-defined]
    cached = functools.lru_cache(counted)
    cached.__module__ = "kept_module"
    cached()
    weak: Any = weakref.WeakKeyDictionary()
    key = Plain(a=1)
    weak[key] = 7
    held = Own()
    module.__dict__.update({"number": 4, "Own": Own, "counted": counted, "cached": cached, "weak": weak,
        "imported": Plain(b=1), "math": math,
                            "__warningregistry__": {"w": 1}, "__other__": 6, "held": held, "Foreign": Plain,
                            "foreign": view})  # fmt: skip
    monkeypatch.setitem(sys.modules, "kept_module", module)
    found = dict(held_by("kept_module").lines)
    assert found["kept_module.number"] == "int 4" and found["kept_module.Own.table[1]"] == "int 2"
    assert found["kept_module.counted.calls"] == "int 3" and "kept_module.cached cached[0]" in found
    assert str(cached.cache_info()) in found["kept_module.cached.cache_info()"]
    assert found["kept_module.weak[0][1]"] == "int 7" and found["kept_module.__warningregistry__['w']"] == "int 1"
    assert found["kept_module.Own.__secret__"] == "int 5" and found["kept_module.__other__"] == "int 6"
    assert "kept_module.held" in found and "kept_module.imported.b" in found
    assert not any("math" in place or "Foreign" in place or "foreign" in place for place in found)
    assert held_by("no_such_module").lines == []


class Float(float):
    def __float__(self) -> float:
        return 0.0


class Integer(int):
    def __int__(self) -> int:
        return 0

    __index__ = __int__


class Text(str):
    def __str__(self) -> str:
        return ""


class Bytes(bytes):
    def __bytes__(self) -> bytes:
        return b""


class Array(bytearray):
    def __bytes__(self) -> bytes:
        return b""


class Complex(complex):
    def __complex__(self) -> complex:
        return 0j


class Reduced(io.BytesIO):
    def __reduce_ex__(self, protocol: Any) -> Any:
        return Reduced, ()


class Stated(io.BytesIO):
    def __getstate__(self) -> Any:
        return ()


def silent(number: int) -> ValueError:
    error = ValueError("no")
    error.__suppress_context__ = number > 1
    return error


def wrapped(number: int) -> Any:
    made: Any = staticmethod(len)
    made.note = number
    return made


@pytest.mark.parametrize("made", [
    Float, Integer, Text, lambda n: Bytes([n]), lambda n: Array([n]), Complex, lambda n: Reduced(bytes([n])),
    lambda n: Stated(bytes([n])), silent, wrapped, lambda n: property(len, doc=str(n)),
    lambda n: weakref.finalize(Plain, len, [0] * n), lambda n: datetime.datetime(2020, 1, 1, fold=n - 1),
    lambda n: datetime.time(1, fold=n - 1),
])  # fmt: skip
def test_what_a_class_says_of_itself_hides_nothing(made: Callable[[int], Any]) -> None:
    one, again, other = (view(made(number), "x") for number in (1, 1, 2))
    assert one.lines == again.lines != other.lines and one.opaque == []


def test_times_of_pandas_are_told_to_the_nanosecond_with_unit_and_fold() -> None:
    pandas = pytest.importorskip("pandas")
    start = pandas.Timestamp("2019-10-27 01:30")
    for one, other in ((start, start + pandas.Timedelta(1)), (start, start.as_unit("ms")),
                       (start, start.replace(fold=1)), (pandas.Timedelta(1), pandas.Timedelta(2))):  # fmt: skip
        assert view(one).lines != view(other).lines and view(one).opaque == []


@pytest.mark.parametrize("other", [False, True])
def test_what_an_index_of_pandas_computed_is_read_by_its_own_labels(
    other: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """other: where a package that was loaded before has its own module of Cython's memory under the same name."""
    pandas = pytest.importorskip("pandas")
    if other:
        monkeypatch.setitem(sys.modules, "_cyutility", types.ModuleType("_cyutility"))
    made = (pandas.date_range("2020", periods=3), pandas.Index(["a", "b", "a"]), pandas.Index([1.5, np.nan]),
            pandas.MultiIndex.from_product([[1], [2, 3]]))  # fmt: skip
    for index in made:
        index.get_loc(index[1])
        assert view(index).opaque == []
    numbers = [pandas.Index([5, 3, 3, 4]) for _ in range(3)]
    for index in numbers:
        index.get_loc(3)
    numbers[1]._engine.mapping.set_item(3, 17)
    numbers[2]._engine.mapping.set_item(77, 1)
    seen = [view(index) for index in numbers]
    assert seen[0].opaque == seen[1].opaque == [] and seen[0].lines != seen[1].lines and len(seen[2].opaque) == 1
