"""What an output is besides its numbers is compared, and what is not looked into leaves an audit without a word."""

from __future__ import annotations

import asyncio
import copyreg
import functools
import io
import itertools
import json
import math
import pickle
import re
import struct
import threading
import types
import warnings
import weakref
from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from functools import partial
from operator import add
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from refdp.audit import outputs, pair_search, structural, structural_state
from refdp.audit.blackbox import bound_from
from refdp.audit.blackbox_rows import Looked, coverage
from refdp.audit.observer import view
from refdp.audit.outputs import BESIDE, changing, first_unread, one_row, row_of_error, unread, whole_row
from refdp.audit.runs import InProcess, InputPair
from refdp.audit.structural_beside import is_closed
from refdp.audit.structural_samples import sample
from refdp.audit.structural_state import leaves, read
from refdp.audit.verdicts import Verdict, summary
from refdp.testing import assert_dp

PAIR = InputPair(np.ones((3, 1)), np.ones((2, 1)))


class Model:
    """An object that is an array to numpy, and more to others."""

    def __init__(self, noisy: float, more: int) -> None:
        self.noisy, self.more = noisy, more

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([self.noisy])


class Text(str):
    """A text that may have attributes."""


class Day(date):
    """A date that may have attributes."""


class Table(np.ndarray):
    """An array that may have attributes."""


def written(thing: Any, yes: bool) -> Any:
    thing.flags.writeable = yes
    return thing


def with_attribute(thing: Any, more: int) -> Any:
    thing.more = more
    return thing


class Slotted(list):  # type: ignore[type-arg]
    """A list with a slot."""

    __slots__ = ("more",)


class Number(float):
    """A number with a slot."""

    __slots__ = ("more",)


class Hidden(dict):  # type: ignore[type-arg]
    """It says that it has no keys."""

    def __iter__(self) -> Any:
        return iter(())


def local_class(z: float, yes: bool) -> Any:
    class Made:
        def predict(self) -> bool:
            return yes

    return {"z": z, "f": Made()}


def caused(z: float, yes: bool) -> Any:
    error = ValueError("failed")
    error.__cause__ = KeyError(int(yes))
    return {"z": z, "f": error}


def doubtful(z: float, yes: bool) -> Any:
    def made() -> None: ...

    made.__doc__ = str(yes)
    return {"z": z, "f": made}


def daily(yes: bool) -> Any:
    return pd.DatetimeIndex(["2020-01-01", "2020-01-02", "2020-01-03"], freq="D" if yes else None)


def attrs(z: float, yes: bool) -> Any:
    made = pd.Series([z, 1.0])
    made.attrs["n"] = int(yes)
    return made


class Bytes(io.BytesIO):
    """It says that it is made of nothing."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Bytes, ()


class Lines(io.StringIO):
    """It says that it is made of nothing."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Lines, ()


class Numbers(array):  # type: ignore[type-arg]
    """It says that it has none."""

    def tolist(self) -> Any:
        return []

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Numbers, ("d",)


def beside_table(z: float, name: str, more: Any) -> Any:
    made = pd.Series([z])
    object.__setattr__(made, name, more)
    return made


def kept_by_index(z: float, more: int) -> Any:
    made = pd.Index(["a"])
    made._cache["more"] = more
    return pd.Series([z], index=made)


def kept_by_table(z: float, more: int, key: str = "more") -> Any:
    made = pd.DataFrame({"z": [z]})
    object.__setattr__(made, "_item_cache", {key: pd.Series([more]) if key == "z" else more})
    return made


def beside_values(z: float, more: int) -> Any:
    made = pd.DataFrame({"z": [z]})
    object.__setattr__(made._mgr, "more", more)
    return made


def truths(*held: int) -> Any:
    return np.array(held, np.uint8).view(np.bool_)


def of_bits(bits: int, kind: Any) -> Any:
    """An array of one number by its lowest bits; those above are of a quiet NaN."""
    made = np.array([np.nan], kind)
    made.view(np.uint8)[0] = bits
    return made


def recoded(**changed: Any) -> Any:
    def made() -> None: ...

    made.__code__ = made.__code__.replace(**changed)
    return made


def masked(z: float, **changed: Any) -> Any:
    made = np.ma.array([z, 1.0], mask=[False, True])
    vars(made).update(changed)
    return made


def in_words(noisy: int, exact: int) -> str:
    """A number whose digits are from another alphabet."""
    return str(noisy).translate({48 + digit: (0x660, 0x6F0)[exact] + digit for digit in range(10)})


def nested(depth: int, inside: Any) -> Any:
    for _ in range(depth):
        inside = [inside]
    return inside


LEAKS: dict[str, Callable[[float, bool], Any]] = {
    "shape": lambda z, yes: np.full((2, 3) if yes else (3, 2), z),
    "depth of lists": lambda z, yes: [[z]] if yes else [z],
    "whole number": lambda z, yes: 3 if yes else 3.0,
    "type of an array": lambda z, yes: np.zeros(2, np.float32 if yes else np.float64),
    "layout of an array": lambda z, yes: np.asarray(np.full((2, 3), z), order="C" if yes else "F"),
    "tuple": lambda z, yes: (z, 1.0) if yes else [z, 1.0],
    "sign of a zero": lambda z, yes: [z, 0.0 if yes else -0.0],
    "sign of a zero in an object": lambda z, yes: {"z": z, "0": 0.0 if yes else -0.0},
    "order of keys": lambda z, yes: {"a": z, "b": z} if yes else {"b": z, "a": z},
    "spelling": lambda z, yes: {"z": z, "t": "0.50" if yes else "0.5"},
    "spelling in JSON": lambda z, yes: f'{{"z": {z}, "t": {"0.50" if yes else "0.5"}}}',
    "spaces in JSON": lambda z, yes: f'{{"z":{" " * yes}{z}}}',
    "last digit of a text": lambda z, yes: {"z": z, "t": "90071992547409930" if yes else "90071992547409931"},
    "long fraction": lambda z, yes: {"z": z, "t": "0.10000000000000000001" if yes else "0.1"},
    "object that is an array": lambda z, yes: Model(z, yes),
    "array with an attribute": lambda z, yes: with_attribute(np.array([z]).view(Table), yes),
    "text with an attribute": lambda z, yes: {"z": z, "t": with_attribute(Text("t"), yes)},
    "attributes of a column": attrs,
    "index": lambda z, yes: pd.Series([z, 1.0], index=["a", "b"] if yes else ["a", "c"]),
    "numbers of an index": lambda z, yes: pd.Series([z, 1.0], index=[0, 7 if yes else 8]),
    "names of columns": lambda z, yes: pd.DataFrame([[z, 1.0]], columns=["a", "b"] if yes else ["b", "a"]),
    "numbers of columns": lambda z, yes: pd.DataFrame([[z, 1.0]], columns=[0, 7 if yes else 8]),
    "name of a column": lambda z, yes: pd.Series([z], name="a" if yes else "b"),
    "under a mask": lambda z, yes: pd.Series(pd.arrays.IntegerArray(np.array([int(yes), 2]), np.array([True, False]))),
    "categories": lambda z, yes: [z, pd.Categorical(["a"], categories=["a", "b"] if yes else ["a", "c"])],
    "class": lambda z, yes: {"z": z, "f": int if yes else float},
    "class that a run made": lambda z, yes: {"z": z, "f": type("Made", (), {"n": int(yes)})},
    "iterator": lambda z, yes: {"z": z, "f": iter([int(yes)])},
    "bound method": lambda z, yes: {"z": z, "f": str(yes).upper},
    "constant in code": lambda z, yes: {"z": z, "f": eval(f"lambda: {yes}")},
    "items": lambda z, yes: {"z": z, "f": {"a": int(yes)}.items()},
    "keys": lambda z, yes: {"z": z, "f": {int(yes): 1}.keys()},
    "values": lambda z, yes: {"z": z, "f": {"a": int(yes)}.values()},
    "behind its keys": lambda z, yes: {"z": z, "f": {"a": int(yes)}.keys()},
    "class made in a function": local_class,
    "behind a slice": lambda z, yes: np.array([z, float(yes)])[:1],
    "behind a slice in an object": lambda z, yes: {"z": np.array([z, float(yes)])[:1]},
    "behind numbers of bytes": lambda z, yes: np.frombuffer(np.array([z, float(yes)]).tobytes(), count=1),
    "behind strides": lambda z, yes: np.lib.stride_tricks.as_strided(np.array([z, float(yes)]), (1,), (8,)),
    "behind bytes": lambda z, yes: {"z": z, "f": memoryview(bytes([1, yes]))[:1]},
    "to be written": lambda z, yes: written(np.array([z, 1.0]), yes),
    "slot of a list": lambda z, yes: with_attribute(Slotted([z]), int(yes)),
    "slot of a number": lambda z, yes: [z, with_attribute(Number(1.0), int(yes))],
    "list named as an array's data": lambda z, yes: with_attribute(Slotted([z]), [int(yes)]),
    "attribute of a key": lambda z, yes: {with_attribute(Text("k"), int(yes)): z},
    "keys that are not shown": lambda z, yes: {"z": z, "f": Hidden(a=int(yes))},
    "behind a view of keys that are not shown": lambda z, yes: {"z": z, "f": types.MappingProxyType(Hidden(a=yes))},
    "cause of an error": caused,
    "words on a function": doubtful,
    "module of a function": lambda z, yes: {"z": z, "f": types.FunctionType((lambda: 1).__code__, {"n": int(yes)})},
    "factory": lambda z, yes: defaultdict(functools.partial(int, int(yes)), {"z": z}),
    "filling": lambda z, yes: np.ma.array([z, 1.0], mask=[False, True], fill_value=float(yes)),
    "attribute of an array with a mask": lambda z, yes: with_attribute(np.ma.array([z, 1.0]), int(yes)),
    "key that comes twice": lambda z, yes: f'{{"z": {z}, "a": {int(yes)}, "a": 1}}',
    "spelling in bytes": lambda z, yes: f'{{"z": {z}, "t": {"0.50" if yes else "0.5"}}}'.encode(),
    "after a pickle": lambda z, yes: [z, pickle.dumps(1.0) + str(yes).encode()],
    "flags of a table": lambda z, yes: pd.DataFrame({"z": [z]}).set_flags(allows_duplicate_labels=yes),
    "frequency": lambda z, yes: pd.Series([z, z, z], index=daily(yes)),
    "second of two that are one hour": lambda z, yes: [z, datetime(2020, 1, 1, fold=int(yes))],
    "zone of a time": lambda z, yes: [z, datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=int(yes))))],
    "attribute of a date": lambda z, yes: [z, with_attribute(Day(2020, 1, 1), int(yes))],
    "underscores": lambda z, yes: f"{z} {1000:{'_' * yes}}",
    "sign of a zero in a text": lambda z, yes: f"{z} {0.0 if yes else -0.0}",
    "low digits beside a float": lambda z, yes: [z, 2**60 + yes],
    "low digits of an array beside a float": lambda z, yes: [np.array([z]), np.array([2**60 + yes])],
    "low bits": lambda z, yes: {"z": z, "n": (1 << 200) + (3 << 120) + yes},
    "low bits of a large number": lambda z, yes: {"z": z, "n": (1 << 2000) + yes},
    "low digits of a text": lambda z, yes: f"{z} {10**60 + yes}",
    "digits of a decimal": lambda z, yes: {"z": z, "n": Decimal(f"{z}{'1' * 40}{int(yes)}")},
    "decimal beyond floats": lambda z, yes: {"z": z, "n": Decimal(f"1.{int(yes)}e400")},
    "long double beyond floats": lambda z, yes: {"z": z, "n": np.longdouble(10) ** 4000 * (1 + yes)},
    "long doubles near zero": lambda z, yes: np.array([z, np.longdouble(10) ** -4000 * (1 + yes)]),
    "complex long double": lambda z, yes: {"z": z, "n": np.clongdouble(1) + np.longdouble(2) ** -60 * yes},
    "behind some fields": lambda z, yes: np.array([(z, float(yes))], [("z", float), ("n", float)])[["z"]],
    "made into a function of numpy's": lambda z, yes: {"z": z, "f": np.frompyfunc(partial(add, int(yes)), 1, 1)},
    "end of a range of labels": lambda z, yes: pd.Series([z], index=pd.RangeIndex(0, 7 if yes else 8, 1000)),
    "step of rows": lambda z, yes: pd.Series(np.full(7 if yes else 8, z)).iloc[::1000],
    "type of a column": lambda z, yes: pd.Series([z], pd.Index(["x"], dtype="string" if yes else "str")),
    "attribute by pandas' names": lambda z, yes: beside_table(z, "_levels", int(yes)),
    "list of pandas' attributes": lambda z, yes: beside_table(z, "_metadata", [int(yes)]),
    "what an index keeps": lambda z, yes: kept_by_index(z, int(yes)),
    "bytes in memory": lambda z, yes: {"z": z, "f": Bytes(bytes([yes]))},
    "text in memory": lambda z, yes: {"z": z, "f": Lines(str(yes))},
    "what is called at an object's end": lambda z, yes: {"z": z, "f": weakref.finalize(Text, abs, int(yes))},
    "array of Python's": lambda z, yes: {"z": z, "f": Numbers("d", [float(yes)])},
    "letter of a type": lambda z, yes: np.zeros(2, "l" if yes else "q"),
    "bytes of truths": lambda z, yes: [z, truths(1, 2 + yes)],
    "bytes of truths alone": lambda z, yes: truths(1, 2 + yes),
    "bytes of truths in an object": lambda z, yes: {"z": z, "f": truths(1, 2 + yes)},
    "bytes of a truth in an object": lambda z, yes: {"z": z, "f": truths(2 + yes).reshape(())},
    "bytes of a mask": lambda z, yes: masked(z, _mask=truths(0, 2 + yes)),
    "bytes of truths in fields": lambda z, yes: {"z": z, "f": truths(3, 2 + yes).view([("a", "?"), ("b", "?", (1,))])},
    "bytes of truths in a record": lambda z, yes: {"z": z, "f": truths(3, 2 + yes).view("?,?")[0]},
    "bits of a short float": lambda z, yes: [z, of_bits(1 + yes, np.float32)],
    "signal of a short float": lambda z, yes: {"z": z, "f": np.array(0x7FC00001 - 0x400000 * yes, "u4").view("f4")},
    "bits of a long double": lambda z, yes: of_bits(1 + yes, np.longdouble),
    "bits of a long double in an object": lambda z, yes: {"z": z, "f": of_bits(1 + yes, np.longdouble)},
    "sign of what is no decimal": lambda z, yes: [z, Decimal("-NaN" if yes else "NaN")],
    "alphabet of a number": lambda z, yes: f"{z} {in_words(7, yes)}",
    "decimals in JSON": lambda z, yes: f'{{"z": {z}, "n": 0.5{"0" * 25}{1 + yes}}}',
    "truth in a pickle": lambda z, yes: [z, pickle.dumps(yes)],
    "bytes in a pickle": lambda z, yes: [z, pickle.dumps(bytes([yes, 255, 1]))],
    "text in a pickle": lambda z, yes: [z, pickle.dumps(str(int(yes)))],
    "what a pickle names again": lambda z, yes: [z, pickle.dumps([*(both := ["a", "b"]), both[yes]])],
    "full name of code": lambda z, yes: [z, recoded(co_qualname=f"made_{yes}")],
    "room of code": lambda z, yes: [z, recoded(co_stacksize=100 + yes)],
    "lines of code": lambda z, yes: [z, recoded(co_linetable=bytes([128, yes]))],
    "flags of code": lambda z, yes: [z, recoded(co_flags=recoded().__code__.co_flags | 0x100000 * yes)],
    "what a table keeps": lambda z, yes: kept_by_table(z, int(yes)),
    "what a table keeps as its column": lambda z, yes: kept_by_table(z, int(yes), "z"),
    "beside the values of a table": lambda z, yes: beside_values(z, int(yes)),
    "mask that is shared": lambda z, yes: masked(z, _sharedmask=yes),
    "class under a mask": lambda z, yes: masked(z, _baseclass=Table if yes else np.ndarray),
    "behind a mask": lambda z, yes: masked(z, _mask=np.array([False, True, yes])[:2]),
    "type of no bytes": lambda z, yes: [z, memoryview(b"").cast("B" if yes else "b")],
    "ends of lines": lambda z, yes: [z, io.StringIO("a", newline="\r\n" if yes else None)],
    "strides": lambda z, yes: np.lib.stride_tricks.as_strided(np.full(1, z), (1,), (16 if yes else 24,)),
    "shape of a type": lambda z, yes: np.zeros(2, [("a", "f8", (0, 2) if yes else (0, 3)), ("z", "f8")]),
    "words in a pickle": lambda z, yes: {"z": z, "f": b"\x80\x03X\x01\x00\x00\x00" + (b"a" if yes else b"b") + b"."},
}  # fmt: skip


@pytest.mark.parametrize("leak", list(LEAKS))
def test_whatever_differs_between_two_outputs_differs_in_their_rows(leak: str) -> None:
    """With the same numbers; and outputs that are the same have the same rows, whole."""
    one, again, other = (whole_row(LEAKS[leak](1.5, yes)) for yes in (True, True, False))
    assert np.array_equal(one, again, equal_nan=True) and not np.array_equal(one, other, equal_nan=True)
    assert one[-1] == other[-1] == 0 and unread(LEAKS[leak](1.5, True)) == ()


def leaking(leak: str) -> Callable[[Any, int], Any]:
    """Noise of its own, and a coin that tells the sides apart 19 to 1."""

    def function(records: Any, seed: int) -> Any:
        generator = np.random.default_rng(seed)
        yes = generator.random() < (0.95 if len(records) == 3 else 0.05)
        return LEAKS[leak](float(np.round(generator.laplace(), 3)), yes)

    return function


def failing(records: Any, seed: int) -> Any:
    """Says which side it is by its error."""
    generator = np.random.default_rng(seed)
    if generator.random() < 0.5:
        return [float(np.round(generator.laplace(), 3))]
    raise ValueError("a" if len(records) == 3 else "b")


def drowned(make: Callable[[int, int], Any]) -> Callable[[Any, int], Any]:
    """A count without noise, beside numbers with noise in the same text, pickle or array."""

    def function(records: Any, seed: int) -> Any:
        return make(int(np.random.default_rng(seed).integers(10**9, 2 * 10**9)), len(records))

    return function


def packed(noisy: int, exact: int) -> bytes:
    first, last = np.random.default_rng(noisy).normal(size=2)
    return struct.pack("<dBd", first, 2 * exact + 1, last)


DROWNED: dict[str, Callable[[int, int], Any]] = {
    "decimals": lambda noisy, exact: f"[{noisy}.0{noisy}{noisy}, 0.5{'0' * 25}{exact}]",
    "pickle": lambda noisy, exact: pickle.dumps([1.5, f"x{noisy:x}x", f"count {exact}"]),
    "alphabet": lambda noisy, exact: [noisy, f"n {in_words(noisy, exact - 2)}", f"x{noisy:x}x"],
    "truths": lambda noisy, exact: [truths(2 + noisy % 200, exact)],
    "year": lambda noisy, exact: datetime(2000 + exact, 1, 1) + timedelta(microseconds=15_000 * noisy),
    "year somewhere": lambda noisy, exact: [datetime(2000 + exact, 1 + noisy % 12, 1, noisy % 24, tzinfo=UTC)],
    "year of a date": lambda noisy, exact: {"t": date(2000 + exact, 1 + noisy % 12, 1 + noisy % 28)},
    "hour": lambda noisy, exact: time(2 * exact + 1, noisy % 60, noisy % 59, noisy % 10**6),
    "hour in a table": lambda noisy, exact: pd.DataFrame(
        {"t": pd.Series([time(2 * exact + 1, noisy % 60, noisy % 59, noisy % 10**6)], dtype=object)}
    ),
    "pickle of a date": lambda noisy, exact: pickle.dumps([datetime(2000 + exact, 1 + noisy % 12, 1, noisy % 24), 1.5]),
    "byte": lambda noisy, exact: packed(noisy, exact),
    "byte in a void": lambda noisy, exact: np.void(packed(noisy, exact)),
    "first byte last": lambda noisy, exact: struct.pack("!d", 50 * exact + noisy / 10**9),
    "first byte last in many": lambda noisy, exact: struct.pack("!20d", 50 * exact + noisy / 10**9, *[noisy / 3] * 19),
    "decimals behind a letter": lambda noisy, exact: f"run 1: mu{50 * exact + noisy / 10**9:.4f}_x{noisy:x}",
    "exponent behind a letter": lambda noisy, exact: [1.0, f"x{noisy:x}x_lr{exact}e-07"],
    "thousands": lambda noisy, exact: {"n": f"{50_000 * exact + noisy // 10**5:_}", "one": 1.0},
    "last digits": lambda noisy, exact: 1000 * noisy + 2 * exact + 1,
    "last bits among others": lambda noisy, exact: [float(4096 * noisy + (noisy >> 25) % 2 + 32 * exact + 1)],
}


@pytest.mark.parametrize("kind", list(DROWNED))
def test_noise_beside_a_count_does_not_hide_it(kind: str) -> None:
    assert bound_of(drowned(DROWNED[kind]), 300).refuted


def bound_of(function: Any, samples: int = 800, low_bits: bool = True) -> Any:
    source = InProcess(function, PAIR, 3)
    return bound_from([source], 0.0, claimed=1.0, confidence=1 - 1e-6, samples=samples, low_bits=low_bits)


@pytest.mark.parametrize("function", [*map(leaking, ("shape", "whole number", "attributes of a column")), failing])
def test_a_claim_is_refuted_by_what_is_no_number(function: Any) -> None:
    bound = bound_of(function)
    assert bound.refuted and bound.unread == ()


class Raising:
    """Its own code raises whatever it is asked."""

    def __init__(self, noisy: float) -> None:
        self.noisy = noisy

    def __getattr__(self, name: str) -> Any:
        raise KeyError(name)

    def __repr__(self) -> str:
        raise RuntimeError

    def __array__(self) -> Any:
        raise RuntimeError


class Queue(deque):  # type: ignore[type-arg]
    """Not to be pickled."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise NotImplementedError


@dataclass
class Unset:
    """A field that no run sets."""

    noisy: float
    later: float = field(init=False, repr=False)


def sparse(z: float) -> Any:
    made = scipy.sparse.dok_array((2, 2))
    made[0, 0] = z
    return made


ODD: dict[str, Callable[[float], Any]] = {
    "attribute that raises": Raising,
    "array that raises": lambda z: [Raising(z), z],
    "key that has no text": lambda z: {Raising(z): z},
    "set of what has no text": lambda z: {Raising(z), z},
    "not to be pickled": lambda z: Queue([z]),
    "pattern": lambda z: {"z": z, "words": re.compile("a")},
    "unset field": Unset,
    "sparse": sparse,
    "matrix": lambda z: {"z": np.array([[z, 1.0]]).view(np.matrix)},
    "long number": lambda z: {"z": z, "n": 10**5000, 10**5000: 1},
    "text of a memory": lambda z: [memoryview(b"abc"), z],
    "empty cache": lambda z: [functools.lru_cache(abs), z],
}  # fmt: skip


@pytest.mark.parametrize("kind", list(ODD))
def test_odd_objects_are_read_as_others_are(kind: str) -> None:
    """And they are told by their numbers."""
    one, again, other = (whole_row(ODD[kind](z)) for z in (1.5, 1.5, 2.5))
    assert np.array_equal(one, again) and not np.array_equal(one, other)
    assert unread(ODD[kind](1.5)) == ()


def test_what_raises_while_it_is_read_is_told() -> None:
    class Lines(Mapping):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return 1

        def __iter__(self) -> Any:
            raise RuntimeError

        def __getitem__(self, key: Any) -> Any:
            raise RuntimeError

    assert unread([1.0, {"a": Lines()}]) == ("[1]['a']: reading it raised RuntimeError",)


def test_objects_that_refer_to_each_other_are_read_up_to_a_number_of_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structural_state, "MOST_PARTS", 5_000)
    many: list[Any] = [[] for _ in range(12)]
    for one in many:
        one += many
    reading = read([1.0, many])
    assert reading.visited == 5_001 and list(reading.left.values()) == ["it comes after 5,000 parts"]


def honest_table(records: Any, seed: int) -> Any:
    noisy = len(records) + float(np.round(np.random.default_rng(seed).laplace(), 3))
    return pd.DataFrame({"noisy count": [noisy], "deviation": [np.nan], "kind": ["count"]}, index=["all"])


def honest_long_double(records: Any, seed: int) -> Any:
    noisy = len(records) + np.round(np.longdouble(np.random.default_rng(seed).laplace()), 3)
    return {"noisy": noisy, "plane": np.ones(2, np.clongdouble) * noisy, "fields": np.zeros(1, "i1,f8")}


def honest_error(records: Any, seed: int) -> Any:
    generator = np.random.default_rng(seed)
    if generator.random() < 0.3:
        raise ValueError(f"no number from {object()!r}")
    return [len(records) + float(np.round(generator.laplace(), 3))]


def honest_rounding(records: Any, seed: int) -> Any:
    """Zeros of both signs, whole numbers and others, as the noise has it."""
    noise = float(np.round(np.random.default_rng(seed).laplace()))
    return noise if noise > 1 else int(noise) if noise > 0 else -0.0


def honest_texts(records: Any, seed: int) -> Any:
    """Noisy numbers in JSON and pickles, with as many digits as they have or more."""
    noisy = len(records) + float(np.random.default_rng(seed).laplace())
    packed = pickle.dumps({"noisy": noisy, "text": f"{round(noisy, 3)} rows", "array": np.full(3, round(noisy))})
    return [round(noisy, 3), json.dumps({"noisy": round(noisy, 3), "more": [0.1, -0.0]}), f"[{noisy:.25f}]", packed]


def honest_truths(records: Any, seed: int) -> Any:
    noisy = len(records) + np.random.default_rng(seed).laplace(size=2)
    return {"above": noisy > 2, "below": ~(noisy > 2), "nan": np.sqrt(np.minimum(np.round(noisy), 0)), "no": -np.nan}


def honest_used_table(records: Any, seed: int) -> Any:
    """A table and its columns were used before."""
    noisy = len(records) + float(np.round(np.random.default_rng(seed).laplace(), 3))
    made = pd.DataFrame({"noisy": [noisy, noisy], "kind": ["a", "b"], "flag": [True, False]})
    object.__setattr__(made, "_item_cache", {"noisy": made["noisy"]})  # as it was kept before version 3
    used = made["noisy"]
    made.T, made.describe(), made.set_index("kind").loc["a"]
    return [made, used, used.values, made.groupby("kind")["noisy"].sum()]


def honest_times(records: Any, seed: int) -> Any:
    """Noisy numbers as times, bytes and names."""
    noisy = len(records) + int(np.round(np.random.default_rng(seed).laplace(scale=1.1)))
    when = datetime(2020, 1, 1) + timedelta(days=noisy)
    both = struct.pack("<dBh", noisy, noisy % 256, noisy), struct.pack("!d", noisy)
    return {"when": [when, when.date(), when.time(), timedelta(hours=noisy)], "packed": both, "id": 7_000 * noisy,
            "name": f"run{noisy / 8:.3f}_{1000 * noisy:_}"}  # fmt: skip


@pytest.mark.parametrize(
    "function",
    [honest_table, honest_error, honest_rounding, honest_long_double, honest_texts, honest_truths, honest_used_table,
     honest_times],
)  # fmt: skip
def test_what_follows_noise_alone_is_no_violation(function: Any) -> None:
    bound = bound_of(function, {honest_used_table: 100, honest_texts: 300, honest_times: 300}.get(function, 800))
    rows = coverage(bound, [], Looked((3, 2), 0, True))
    assert not bound.refuted and bound.unread == () and summary(rows) is Verdict.NOT_FOUND


def closed(records: Any, seed: int) -> Any:
    return {"z": float(np.round(np.random.default_rng(seed).laplace(), 3)), "lock": threading.Lock()}


def filled(dtype: Any) -> Any:
    made = np.zeros(2, dtype)
    np.frombuffer(made, np.uint8)[:] = 1
    return made


def used() -> Any:
    cached = functools.lru_cache(lambda one: one)
    cached(1)
    return cached


def raised() -> Exception:
    try:
        raise ValueError("a")
    except ValueError as error:
        return error


UNREAD = {
    "deep": (lambda: [1.0, nested(40, 1)], "24 levels"),
    "generator": (lambda: [1.0, np.random.default_rng(1)], "the state of a Generator"),
    "many": (lambda: [*[0.0] * 1_000, [7], "x"], "it comes after 1,000"),
    "closed": (lambda: [1.0, threading.Lock()], "nothing shows"),
    "cache": (lambda: [1.0, used()], "nothing shows"),
    "where an error was raised": (lambda: [1.0, raised()], "nothing shows what is in a traceback"),
    "between fields": (lambda: [1.0, filled(np.dtype("i1,f8", align=True))], "bytes between its fields"),
    "between the fields of one record": (lambda: [1.0, filled(np.dtype("i1,f8", align=True))[0]], "bytes between"),
    "waiting": (lambda: [1.0, (one for one in [1])], "nothing shows"),
}


@pytest.mark.parametrize("kind", list(UNREAD))
def test_what_is_not_looked_into_is_told(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structural_state, "MOST_LEAVES", 1_000)
    make, words = UNREAD[kind]
    made = make()  # type: ignore[no-untyped-call]
    assert whole_row(made)[-1] == 1 and words in unread(made)[0]
    assert leaves([1.0, {"a": ()}]) and read([1.0, {"a": ()}, None, object(), math, len, int, 1j]).left == {}


def test_a_way_to_pickle_that_a_package_registers_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Dask's do for tracebacks, without what their frames hold; and as a program could for what it hides in."""
    monkeypatch.setitem(copyreg.dispatch_table, types.TracebackType, lambda _: (str, ("nothing",)))
    monkeypatch.setitem(copyreg.dispatch_table, type(threading.Lock()), lambda _: (str, ("nothing",)))
    for thing in (raised(), threading.Lock()):
        assert whole_row([1.0, thing])[-1] == 1 and "nothing shows" in unread([1.0, thing])[0]
        assert view(thing).opaque
    assert unread([1.0, re.compile("a")]) == () and not view(re.compile("a")).opaque


def test_an_audit_that_left_something_out_says_so_and_is_not_ok() -> None:
    bound = bound_of(closed)
    assert bound.unread == ("['lock']: nothing shows what is in a lock",) == tuple(bound.to_dict()["unread"])
    rows = coverage(bound, [], Looked((3, 2), 0, True))
    row = next(row for row in rows if row.what == "published object")
    assert row.verdict is Verdict.NOT_EXAMINED and row.decides and "['lock']" in row.reason
    assert summary(rows) is Verdict.NOT_EXAMINED
    calls = itertools.count()

    def another(records: Any, seed: int) -> Any:
        return closed(records, seed) if next(calls) == 5 else [1.0]

    source = InProcess(another, PAIR, 3)
    source.upto(10)
    assert source.unread == ("an output of a run, which is another one when it is run again",)


def test_columns_that_never_change_are_left_out() -> None:
    """As the first quarter of the runs has it, on which nothing is tested."""
    rest = [0.0] * (BESIDE - 4)
    rows = [np.array([5.0, 0.0, 7.0, *rest, 0.0]) for _ in range(8)]
    assert [side.shape for side in changing(rows, rows)] == [(8, 0), (8, 0)]
    rows[1] = np.array([5.0, 0.0, 8.0, *rest, 0.0])
    assert [side.shape for side in changing(rows, rows[2:])] == [(8, 1), (6, 1)]
    rows[1], rows[2] = rows[0], rows[1]
    assert changing(rows, rows)[0].shape == (8, 0)
    assert first_unread([rows, rows]) is None
    rows[4] = np.array([0.0, 0.0, 1.0])
    assert first_unread([rows[:4], rows]) == (1, 4) and first_unread([[np.ones((2, 2))]]) is None
    source = InProcess(lambda records, seed: float(seed % 7), PAIR, 1)
    assert source.upto(12)[0].shape == (12, 1) and source.unread == ()


def test_which_error_it_was_stands_beside_its_numbers() -> None:
    def row(error: Exception) -> Any:
        return row_of_error(error).tolist()

    assert len(row(ValueError("a"))) == BESIDE and row(ValueError("a")) == row(ValueError("a"))
    others = [ValueError("b"), KeyError("a"), ValueError("a 1")]
    noted, caused = ValueError("a"), ValueError("a")
    noted.add_note("n")
    caused.__cause__ = KeyError(1)
    attached, long = ValueError("a"), [ValueError(np.arange(2000) + n * (np.arange(2000) == 900)) for n in (0, 1)]
    attached.more = 1  # type: ignore[attr-defined]
    many = [*others, noted, caused, attached, *long, *(ExceptionGroup("a", [ValueError(n)]) for n in (1, 2))]
    assert str(long[0]) == str(long[1]) and len({tuple(row(one)) for one in (ValueError("a"), *many)}) == 11
    attached.more = threading.Lock()  # type: ignore[attr-defined]
    assert row(attached)[-1] == 1 and outputs.unread_of_error(attached) == (
        "the error: [0]['.more']: nothing shows what is in a lock",
    )
    assert row(ValueError("a 1"))[-3] == row(ValueError("a 2"))[-3] and row(ValueError("a 1")) != row(ValueError("a 2"))
    assert row(ValueError(f"{object()!r}")) == row(ValueError(f"{[object()][0]!r}"))


def test_a_way_to_pickle_that_python_warns_of_is_believed() -> None:
    """Python is to lose that of iterators; where warnings are errors, they are read as elsewhere."""

    class Counting:
        __slots__ = ()
        __module__ = "itertools"

        def __reduce_ex__(self, protocol: Any) -> Any:
            warnings.warn("is to be removed", DeprecationWarning, stacklevel=2)
            return Counting, (3,)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert structural_state.attributes(Counting()) == {"made from": (3,)}
        assert not is_closed(Counting()) and unread([1.0, itertools.count(3)]) == ()


def test_numbers_and_spelling_of_texts() -> None:
    assert one_row("1 2.5").tolist()[:2] == [1.0, 2.5] and outputs._is_simple([1, (2.0, np.float32(1))])
    assert one_row("9007199254740993 x")[:2].tolist() == [9007199254740992.0, 1.0]
    for text, more in (("1e999999999", 2), ("1e-999999999", 2), ("9" * 5000, 334), ("0." + "1" * 5000, 334)):
        assert len(one_row(text)) == 2 + more
    for text, numbers in (("2.5s 3px", [2.5, 3]), ("0.25f -3e-7kg 12ms", [0.25, -3e-7, 12]), ("2.5x3", [2.5]),
                          ("12ab3 x4 1_000 0x1f 4.", [1000, 4]), ("3² 10_rows .5e", [3, 10, 0.5]),
                          ("1.2.3 7.Then 2.5e10px 1e5", [1.2, 7, 2.5e10, 1e5]),
                          ("mu0.50_sd-1.25.npz lr1e-05_2", [0.5, -1.25, 1e-5]),
                          ("1_234.5 -1_000,000 5_12 12_34.5 1_2345 x1_000", [1234.5, -1000, 0, 34.5]),
                          ("1.5-2.5 a.12 f1e-4a", [1.5, 2.5, 4])):  # fmt: skip
        assert one_row(text).tolist()[:-1] == numbers
    assert read(["1_000", "01_000", "1000"]).spelled == ["[0] _", "[0] _ 5 wide"]
    usual = read(["1 -2 2.5 1e-07 0.0 x3"])
    assert usual.spelled == [] and usual.wholes == [True, True, False, False, False]


@pytest.mark.parametrize(("text", "odd", "whole"), [
    ("01", "2 wide", True), ("-0012", "5 wide", True), ("2.50", "2 decimals", False), ("+1", "+", True),
    ("1E5", "E no sign to 1 exponent", False), ("-0", "-0", True), ("-0.0", "-0", False), ("12.0", "", False),
    ("12", "", True), (".5", "0 wide", False), ("5.", "0 decimals", False), ("1.5e+06", "exponent", False),
    ("1.50e+006", "2 decimals to 3 exponent", False), ("12.3e+04", "moved exponent", False), ("1e-05", "", False),
    ("0.00001", "no exponent", False), ("1.0e+22", "1 decimals", False), ("1e+22", "", False), ("0", "", True),
    ("٣.٥٠", "of another alphabet 2 decimals", False), ("9" * 5000, "", True), ("1_000", "_", True),
])  # fmt: skip
def test_how_a_number_is_written_is_told_without_its_digits(text: str, odd: str, whole: bool) -> None:
    reading = read(text)
    assert reading.odd == [odd] * (odd != "") and reading.wholes == [whole]


def test_floats_and_whole_numbers_as_python_writes_them_are_usual() -> None:
    drawn = np.random.default_rng(3)
    for number in drawn.normal(0, 1, 3_000) * 10.0 ** drawn.uniform(-20, 25, 3_000):
        assert read(f"{number} {int(number)}").odd == []


def geometric(seed: int, scale: float) -> int:
    drawn = np.random.default_rng(seed)
    return int(drawn.geometric(1 / scale) - drawn.geometric(1 / scale))


def refused(one: Any) -> Any:
    raise ValueError(one)


WRITTEN: dict[str, Callable[[int, bool], Any]] = {
    "whole": lambda n, yes: f"count {n if yes else float(n)}",
    "key": lambda n, yes: {n if yes else float(n): 1},
    "lines": lambda n, yes: pd.DataFrame({"a": [n, 0] if yes else [n, None]}).to_csv(index=False, na_rep="0.0"),
    "which of two": lambda n, yes: f"{n} {n + 1.0}" if yes else f"{float(n)} {n + 1}",
    "width": lambda n, yes: f"count {n:0{10 + yes}d}",
    "zeros behind": lambda n, yes: f"count {n:.{2 + yes}f}",
    "plus": lambda n, yes: f"count {abs(n):+d}" if yes else f"count {abs(n):09d}",
    "letter": lambda n, yes: f"count {n:.3e}" if yes else f"count {n:.3E}",
    "among many": lambda n, yes: " ".join(f"{n + place / 8:.{2 + yes}f}" for place in range(8)),
    "exponent": lambda n, yes: f"count {n:.1e}" if yes else f"count {n * 10:.1e}".replace("+0", "+"),
    "argument of an error": lambda n, yes: refused(n if yes else str(n)) if n % 2 else 0,
    "text of an error": lambda n, yes: refused(f"count {n if yes else float(n)}") if n % 2 else 0,
    "padded in an error": lambda n, yes: refused(f"count {n:0{10 + yes}d}") if n % 2 else 0,
}


@pytest.mark.parametrize("way", list(WRITTEN))
@pytest.mark.parametrize("scale", [2.0, 1e6])
def test_how_a_noisy_number_is_written_is_found_whatever_its_digits(way: str, scale: float) -> None:
    bound = bound_of(lambda records, seed: WRITTEN[way](geometric(seed, scale), len(records) == 3))
    assert bound.refuted and bound.lower > 1.5


def test_ways_to_write_are_found_among_many_numbers() -> None:
    """At which of them zeros stand behind varies with the noise; that they do, with three decimals, does not."""

    def function(records: Any, seed: int) -> str:
        numbers = np.random.default_rng(seed).laplace(0, 1e3, 40)
        return " ".join(f"{one:.{len(records)}f}" for one in numbers)

    assert bound_of(function, low_bits=False).lower > 1.5


HONEST: dict[str, Callable[[float], Any]] = {
    "as it is": lambda z: f"total {z}",
    "%g": lambda z: f"{z:g} {10 * z:g} {1e-5 * z:g}",
    "padded": lambda z: f"{z:+08.1f} {z:.2e} {z:.0f} {1e16 * z}",
    "decimal": lambda z: str(Decimal(f"{z:.3f}").normalize()),
    "not a number": lambda z: f"{z if z > 0 else math.nan}",
    "keys": lambda z: {round(z, 1): 1, round(z): 2},
    "error": lambda z: refused(f"{z:g}") if z > 2 else 0,
}


@pytest.mark.parametrize("way", list(HONEST))
def test_a_private_number_may_be_written_in_any_way(way: str) -> None:
    """Its digits, exponents, zeros and signs vary with the noise; as ideal noise, whose last bits are left out."""
    assert not bound_of(
        lambda records, seed: HONEST[way](len(records) + float(np.random.default_rng(seed).laplace())), low_bits=False
    ).refuted


@pytest.mark.parametrize("nan", [np.nan, "new"])
def test_not_a_number_is_the_same_on_both_sides(nan: Any) -> None:
    """One that stands everywhere is no exact statistic; one that stands on one side alone is."""

    def function(records: Any, generator: np.random.Generator) -> Any:
        deviation = float("nan") if nan == "new" else nan
        return {"noisy": len(records) + round(float(generator.laplace()), 3), "deviation": deviation}

    def told(records: Any, generator: np.random.Generator) -> Any:
        return function(records, generator) | ({"deviation": 1.0} if len(records) == 3 else {})

    pair = np.ones((3, 1)), np.ones((2, 1))
    assert structural.inspect(function, pair, 1, calls=300, order=False) == []
    assert [one.where for one in structural.inspect(told, pair, 1, calls=300, order=False)] == ["['deviation']"]


# --- Beside noise in the same place -----------------------------------------------------------------------------------


class Money(Decimal):
    pass


class Short(np.float32):
    pass


class Plane(complex):
    pass


class Held(bytearray):
    pass


class Described(property):
    pass


@dataclass
class Answering:
    value: float
    other: float


Answering.other = property(  # type: ignore[assignment, method-assign]
    lambda one: 0.0, lambda one, value: vars(one).update(other=value)
)


class Silent:
    def __init__(self, rows: int) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        return "Silent"


def with_rows(thing: Any, rows: int) -> Any:
    thing.rows = rows
    return thing


def on_bytes(noise: float, rows: int) -> Any:
    array = np.frombuffer(with_rows(Held(8), rows), dtype=float)
    array[0] = noise
    return array


def of_capsule(noise: float, rows: int, name: str) -> Any:
    whole = np.array([noise])
    return np.asarray(type(name, (), {"__array_interface__": whole.__array_interface__, "base": None, "whole": whole,
                                      "rows": rows})())  # fmt: skip


def numpys(noise: float, rows: int) -> Any:
    return with_rows(type("float64", (np.float64,), {"__module__": "numpy"})(noise), rows)


def complaint(noise: float, rows: int) -> Any:
    if noise > 0:
        raise ValueError(f"row {noise:.3f} of {rows}")
    return noise


BESIDE_NOISE: dict[str, Callable[[float, int], Any]] = {
    "decimal": lambda noise, rows: {"a": with_rows(Money(noise), rows)},
    "float32": lambda noise, rows: [with_rows(Short(noise), rows)],
    "complex": lambda noise, rows: {"a": with_rows(Plane(noise), rows)},
    "numpy by name": numpys,
    "bytes behind": on_bytes,
    "no capsule": lambda noise, rows: of_capsule(noise, rows, "PyCapsule"),
    "not by hand": lambda noise, rows: of_capsule(noise, rows, "DummyArray"),
    "metadata": lambda noise, rows: np.array([noise], np.dtype("f8", metadata={"a": Silent(rows)})),
    "property": lambda noise, rows: [noise, Described(None, None, None, f"n{rows}")],
    "field": lambda noise, rows: Answering(noise, rows),
    "key": lambda noise, rows: {(noise, float(rows)): 1},
    "pickled float32": lambda noise, rows: pickle.dumps(np.array([noise, rows], dtype="f4")),
    "bytes": lambda noise, rows: struct.pack("dd", noise, rows),
    "bytes of float32": lambda noise, rows: [noise, np.array([noise, rows], dtype="f4").tobytes()],
    "error": complaint,
    "nothing": lambda noise, rows: None if rows == 2 else noise,
    "words": lambda noise, rows: "too few" if rows == 2 else {"a": noise},
    "quotient": lambda noise, rows: [math.exp(20 * noise), math.exp(20 * noise) * rows],
    "decimals": lambda noise, rows: round(noise, 6 + rows % 2),
    "digits": lambda noise, rows: float(f"{noise:.{8 + rows}g}"),
    "units": lambda noise, rows: f"{noise}s {rows}px",
    "units of whole numbers": lambda noise, rows: f"{round(1e6 * noise)}rows {rows}x",
    "by a product": lambda noise, rows: f"{noise}x{rows}",
    "complex now and then": lambda noise, rows: [noise] if noise > 0 else np.array([noise + 1j * rows]),
    "complex alone": lambda noise, rows: complex(noise, rows),
    "grid": lambda noise, rows: round(noise * 1000 * (rows + 5)) / (1000 * (rows + 5)),
}


@pytest.mark.parametrize("leak", list(BESIDE_NOISE))
def test_an_exact_count_beside_noise_is_found(leak: str) -> None:
    """Noise that hides the count, and the count in a place that is easily passed over."""

    def function(records: Any, seed: int) -> Any:
        return BESIDE_NOISE[leak](float(np.random.default_rng(seed).laplace(0, 10)), len(records))

    bound = bound_of(function)
    assert bound.refuted and bound.lower > 1.5


@pytest.mark.parametrize("digits", [lambda z: z, lambda z: round(z, 6), lambda z: float(f"{z:.8g}"),
                                    lambda z: np.float32(z), lambda z: round(z * 3000) / 3000])  # fmt: skip
def test_public_rounding_is_not_accused(digits: Callable[[float], Any]) -> None:
    def function(records: Any, seed: int) -> Any:
        return digits(len(records) + float(np.random.default_rng(seed).laplace(0, 1)))

    assert not bound_of(function).refuted


def test_whole_numbers_beyond_floats_are_read_in_parts() -> None:
    """By structural checks and by files of runs as well."""
    found = leaves({"a": 10**5000, "b": -(2**1023)})
    assert all(type(one) is float for one in found.values()) and len(found) > 20
    assert leaves([2**1023 - 1]) == {"[0]": 2**1023 - 1}
    assert leaves([10**5000]) != leaves([10**5000 + 1]) and one_row([10**5000, 1.0])[0] == np.inf


def draws(seed: int) -> tuple[list[float], list[float], float]:
    """Two lists of noise, each of a length by chance, and noise of scale 1."""
    chance = np.random.default_rng(seed)
    few, more = (chance.laplace(0, 100.0, int(chance.integers(1, 40))).tolist() for _ in range(2))
    return few, more, float(chance.laplace())


def words_of(noise: list[float]) -> dict[str, float]:
    """A histogram without what lies below its threshold."""
    return {f"word {chr(97 + place)}": one for place, one in enumerate(noise) if one > 0}


def text_of(noise: list[float]) -> str:
    return " ".join(f"{one:.3f}" for one in noise)


BEHIND: dict[str, Callable[[list[float], list[float], float], Any]] = {
    "last of a list": lambda few, more, total: [*few, total],
    "last of an array": lambda few, more, total: np.array([*few, total]),
    "last row": lambda few, more, total: np.array([[one, -one] for one in few] + [[few[0], total]]),
    "last of a column": lambda few, more, total: pd.DataFrame({"synthetic": [*few, total]}),
    "by name": lambda few, more, total: {"draws": few, "total": total},
    "between": lambda few, more, total: {"draws": few, "total": total, "more": more},
    "between arrays": lambda few, more, total: (np.array(few), total, np.array(more)),
    "in JSON": lambda few, more, total: json.dumps({"draws": few, "total": total, "more": more}),
    "last of a list in a list": lambda few, more, total: [[*few, total], more, [1.0]],
    "last of all lists but one": lambda few, more, total: [more, *([one] for one in few), [*more, total], [1.0]],
    "among objects": lambda few, more, total: [*({"x": x} for x in few), {"total": total}, *({"x": x} for x in more)],
    "behind words": lambda few, more, total: {"words": words_of(few), "total": total},
    "last of a text": lambda few, more, total: f"{text_of(few)} {total}",
    "in a text": lambda few, more, total: f"{text_of(few)} total {total} and {text_of(more)}",
    "in errors": lambda few, more, total: raising(f"{text_of(few)} total {total} and {text_of(more)}"),
    "behind whole numbers": lambda few, more, total: {"draws": [round(one) for one in few], "total": total},
    "beside large numbers": lambda few, more, total: {"draws": [2**70 + round(one) for one in few], "total": total},
}


def raising(text: str) -> float:
    if text[0] == "-":
        raise ValueError(text)
    return 0.0


def behind(kind: str, scale: float) -> Any:
    """A total with noise of this scale behind noise of varying length."""

    def run(records: Any, seed: int) -> Any:
        few, more, noise = draws(seed)
        return BEHIND[kind](few, more, 2.25 * len(records) + scale * noise)

    return run


@pytest.mark.parametrize("kind", list(BEHIND))
def test_what_stands_behind_a_part_of_varying_length_is_compared(kind: str) -> None:
    """So it is by the search for pairs."""
    assert bound_of(behind(kind, 0.0), 400).lower > 1.2 and pair_search._apart(behind(kind, 0.0), PAIR, 1) > 20


@pytest.mark.parametrize("kind", ["by name", "last of an array", "behind words"])
def test_noise_behind_a_part_of_varying_length_is_judged(kind: str) -> None:
    """A fifth of what is claimed is found, twice as much is not accused, and takes no pair far apart."""
    assert bound_of(behind(kind, 0.2 * 2.25)).refuted
    assert not bound_of(behind(kind, 2 * 2.25), low_bits=False).refuted
    assert pair_search._apart(behind(kind, 2 * 2.25), PAIR, 1) < 10


def test_a_part_that_one_side_alone_has_is_seen_among_parts_that_come_by_chance() -> None:
    def function(records: Any, seed: int) -> Any:
        few, _, noise = draws(seed)
        return words_of(few) | ({"z": noise} if len(records) > 2 else {})

    assert bound_of(function).refuted and pair_search._apart(function, PAIR, 1) == np.inf


def test_lengths_that_are_noisy_counts_are_honest() -> None:
    """A length is a number like any other: with noise of its own it is not accused, without it is."""

    def function(epsilon: float) -> Any:
        def run(records: Any, seed: int) -> Any:
            chance = np.random.default_rng(seed)
            steps = chance.geometric(1 - math.exp(-epsilon), 2)
            return {"rows": chance.normal(size=max(20 + len(records) + int(steps[0] - steps[1]), 0)), "end": [1.0]}

        return run

    assert not bound_of(function(0.8), samples=4_000).refuted
    assert bound_of(function(6.0)).refuted


class Own(BaseException):
    """No Exception."""


@pytest.mark.parametrize(
    "error", [asyncio.CancelledError, GeneratorExit, Own, pytest.skip.Exception, pytest.fail.Exception]
)
def test_whatever_a_function_raises_is_an_output(error: Any) -> None:
    """On one side alone it is found; a run that raises now and then on both is not accused."""

    def alone(records: Any, seed: int) -> float:
        if len(records) == 2:
            raise error("no")
        return float(np.random.default_rng(seed).normal())

    def often(records: Any, seed: int) -> float:
        noise = float(np.random.default_rng(seed).normal())
        if noise > 0:
            raise error(f"try {noise:.2f}")
        return noise

    assert bound_of(alone).refuted and not bound_of(often, low_bits=False).refuted
    with pytest.raises(AssertionError, match="number of outputs"):
        assert_dp(alone, (PAIR.first, PAIR.second), 1.0, samples=2_000)
    runs = sample(lambda data, generator: alone(data, 1), PAIR.second, [1, 2])
    assert runs[0] == runs[1] and f"{error.__name__}: no" in str(runs[0].values())


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_process_ends_an_audit(error: Any) -> None:
    def ending(records: Any, seed: int) -> float:
        raise error

    with pytest.raises(error):
        bound_of(ending)
    with pytest.raises(error):
        sample(ending, PAIR.first, [1])


def test_whatever_reading_an_output_raises_is_told() -> None:
    """By numpy, and by what an object has to say of itself."""

    class Lazy:
        def __init__(self, error: Any) -> None:
            self.error = error

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            raise self.error

        def __reduce_ex__(self, protocol: Any) -> Any:
            raise self.error

        def __iter__(self) -> Any:
            raise self.error

    for error in (ValueError, Own, asyncio.CancelledError, GeneratorExit):
        assert whole_row([Lazy(error), 1.0]).size > BESIDE and unread({"a": Asked(error)})[0].endswith(error.__name__)


class Asked(Mapping[str, float]):
    """A mapping that does not answer."""

    def __init__(self, error: Any) -> None:
        self._error = error

    def __getitem__(self, key: str) -> float:
        raise self._error

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Any:
        return iter("a")
