"""What an output holds in places, digits or texts that are easily passed over is among what audits compare."""

import pickle
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import opened_replay
from refdp.audit.outputs import one_row
from refdp.audit.structural_state import leaves


class Rows(list):
    """A list with attributes."""


class Hidden:
    """Slots of a private name beside others."""

    __slots__ = ("__count", "shown")

    def __init__(self, count: int) -> None:
        self.shown, self.__count = 1, count


@dataclass
class Fields:
    """A dataclass that keeps more than its fields."""

    shown: int = 1


def rows(count: int) -> Rows:
    """A list that knows a number."""
    found = Rows([1.0])
    found.count_of = count
    return found


def fields(count: int) -> Fields:
    """A dataclass that knows a number."""
    found = Fields()
    vars(found)["count"] = count
    return found


NAN = np.longdouble(np.nan).tobytes()
PLACES = {
    "decimal": Decimal,
    "digits of a decimal": lambda n: Decimal(f"1.0000000000000000000000{n}"),
    "date": lambda n: datetime(2020, 1, n),
    "date of numpy": lambda n: np.datetime64(n, "D"),
    "complex": lambda n: complex(0, n),
    "array of complex": lambda n: np.array([complex(0, n)]),
    "range": range,
    "deque": lambda n: deque([n]),
    "error": lambda n: ValueError(n),
    "empty lists": lambda n: [[] for _ in range(n)],
    "empty array": lambda n: np.zeros((n, 0)),
    "mask": lambda n: np.ma.array([1.0, 1.0], mask=[n == 3, n != 3]),
    "under a mask": lambda n: np.ma.array([float(n)], mask=[True]),
    "closure": lambda n: lambda: n,
    "default": lambda n: eval(f"lambda x={n}: x"),
    "list's attribute": rows,
    "private slot": Hidden,
    "beside fields": fields,
    "class": lambda n: type(f"T{n}", (), {})(),
    "long double": lambda n: np.longdouble(1) + n * np.finfo(np.longdouble).eps,
    "bits of a NaN": lambda n: float(np.uint64(0x7FF8000000000000 + n).view(float)),
    "bits of a long double's NaN": lambda n: np.frombuffer(bytes([n, *NAN[1:]]), np.longdouble),
    "bytes of a truth": lambda n: np.array([n], np.uint8).view(bool),
    "decimals in JSON": lambda n: f"[0.5{'0' * 30}{n}]",
    "text in a pickle": lambda n: pickle.dumps(f"{n} rows"),
    "truths in a pickle": lambda n: pickle.dumps([n == 3, n == 4]),
    "what a pickle names again": lambda n: pickle.dumps([*(words := list("abcdef")), words[n]]),
    "kind of a pickle": lambda n: pickle.dumps([] if n == 3 else ()),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_number_is_seen_wherever_it_is(place: str) -> None:
    make: Any = PLACES[place]
    assert repr(leaves([1.0, make(3)])) == repr(leaves([1.0, make(3)]))  # a NaN is not equal to itself
    assert repr(leaves([1.0, make(3)])) != repr(leaves([1.0, make(4)]))


@pytest.mark.parametrize(
    ("three", "four"),
    [
        (np.array([1, 2**60 + 3]), np.array([1, 2**60 + 4])),
        ({"a": 2**60 + 3}, {"a": 2**60 + 4}),
        (10**400 + 3, 10**400 + 4),
        (float("nan"), -float("nan")),
        (np.longdouble(1), np.longdouble(1) + np.finfo(np.longdouble).eps),
        (rows(3), rows(4)),
        (np.ma.array([1.0, 1.0], mask=[True, False]), np.ma.array([1.0, 1.0], mask=[False, True])),
    ],
)
def test_digits_beyond_a_float_are_numbers_of_their_own(three: Any, four: Any) -> None:
    first, second = one_row(three), one_row(four)
    assert len(first) != len(second) or not np.array_equal(first, second, equal_nan=True)


def test_numbers_of_a_text_are_numbers_whatever_else_it_says() -> None:
    lines = [one_row(f"sum {noise:.3f} of {count} records, f0") for noise, count in ((1.5, 3), (-2.25, 3), (2.0, 4))]
    assert [line[:2].tolist() for line in lines] == [[1.5, 3.0], [-2.25, 3.0], [2.0, 4.0]]
    assert len({line[2] for line in lines}) == 1
    assert one_row([1, 2]).tolist() == [1.0, 2.0] and one_row(SimpleNamespace(a=5))[0] == 5.0


def test_what_floats_leave_over_may_differ_where_numbers_may_by_rounding() -> None:
    """Of finite floats; what stands for a number beyond them may not."""
    differ = opened_replay._differing_results
    one, other, beyond = (leaves(f"[{number}]") for number in ("0.5", f"0.5{'0' * 20}{'9' * 40}", "3e400"))
    assert differ(one, other, 0.0, {}) and not differ(one, other, 1e-9, {})
    assert differ(beyond, leaves("[4e400]"), 1e-9, {}) and differ(one, beyond, 1e-9, {})
