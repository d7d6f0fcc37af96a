"""Assertions for other projects: what is right passes, each mutant is rejected and the message says where."""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict, deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from refdp.audit import epsilon_lower_bound
from refdp.audit.same_records import is_reordered, is_same
from refdp.audit.zoo import specimen
from refdp.errors import InvalidParameter
from refdp.testing import assert_dp, assert_noninterference, assert_sensitivity

ONE = ((0.0,), (1.0,))


def test_privacy() -> None:
    """False alarms: 1e-9."""
    bound = assert_dp(specimen("Laplace count, scale x 1").mechanism, ONE, 1.0)
    assert 0.8 < bound.lower <= 1.0
    with pytest.raises(AssertionError, match=r"not \(1, 0\) private: epsilon >= 1\.\d+ at pair 0\. output 0"):
        assert_dp(specimen("Laplace count, scale x 0.5").mechanism, ONE, 1.0)
    with pytest.raises(AssertionError, match="lowest set bit"):
        assert_dp(lambda r, seed: r[0] + np.random.default_rng(seed).laplace(), ONE, 1.0, samples=4_000)


def test_what_passes_was_looked_at() -> None:
    """Too few runs for the claim, one output throughout, and outputs that show nothing are said; no false alarm."""

    def exact(records: Any, seed: int) -> float:
        return float(len(records))

    with pytest.raises(
        InvalidParameter, match=r"samples = 500: too few runs to show a violation of epsilon 9.* needed"
    ):
        assert_dp(exact, ((0.0, 1.0), (1.0,)), 9.0, samples=500)
    with pytest.raises(InvalidParameter, match="not examined: all runs gave one output"):
        assert_dp(lambda records, seed: 1.0, ONE, 1.0, samples=500)
    with pytest.raises(InvalidParameter, match=r"not examined: \['lock'\]: nothing shows what is in a lock"):
        assert_dp(lambda records, seed: {"n": seed % 7, "lock": threading.Lock()}, ONE, 1.0, samples=500)


@dataclass
class Person:
    """A record of a kind of its own."""

    age: int
    born: date


class Odd:
    """Its own code raises."""

    @property
    def index(self) -> Any:
        raise OSError


@pytest.mark.parametrize(("first", "second", "same", "reordered"), [
    (np.array([[1.0, np.nan], [2.0, -0.0]]), np.array([[1.0, np.nan], [2.0, 0.0]]), True, True),
    (np.array([[1.0], [2.0]]), np.array([[2.0], [1.0]]), False, True),
    (np.array([[1.0], [2.0]]), np.array([[2.0], [2.0]]), False, False),
    (np.array([[1.0], [2.0]]), np.array([[1.0]]), False, False),
    (np.array([2**60]), np.array([2**60 + 1]), False, False),
    ([[1, "a"], [2, "b"]], [[2, "b"], [1, "a"]], False, True),
    ([{"a": 1}, {"a": [2.0]}], [{"a": 1.0}, {"a": [2.0]}], True, True),
    (pd.DataFrame({"a": [1, 2], "b": "x"}), pd.DataFrame({"a": [1, 2], "b": "x"}), True, True),
    (pd.DataFrame({"a": [1, 2], "b": "x"}), pd.DataFrame({"a": [2, 1], "b": "x"}), False, True),
    (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1, 2]}), False, False),
    ({"a": [1, 2]}, {"a": [1, 2]}, True, False), (3, 3, True, False), (3, 4, False, False), ([], [], True, True),
    ([threading.Lock()], [threading.Lock()], False, False), (np.array(3.0), np.array(3.0), True, False),
])  # fmt: skip
def test_which_data_sets_are_the_same(first: Any, second: Any, same: bool, reordered: bool) -> None:
    assert is_same(first, second) is same and is_same(first, first)
    assert is_reordered(first, second) is reordered


TWICE: dict[str, Callable[[Any], Any]] = {
    "series": lambda v: pd.Series([1.0, v]),
    "frame with dates": lambda v: pd.DataFrame({"t": pd.to_datetime(["2020-01-01", f"202{v}-01-01"]), "x": 1.0}),
    "frame with missing ones": lambda v: pd.DataFrame({"t": pd.array([None, v], dtype="Int64"), "x": [pd.NA, "a"]}),
    "index of dates": lambda v: pd.DataFrame({"x": [1]}, index=pd.to_datetime([f"202{v}-01-01"])),
    "dates": lambda v: np.array(["NaT", f"202{v}-01-01"], "M8[D]"),
    "spans": lambda v: np.array([1, v], "m8[s]"),
    "masked": lambda v: np.ma.array([1.0, 2.0, v], mask=[0, 1, 0]),
    "mask": lambda v: np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, v == 2]),
    "fields": lambda v: np.array([(1, v)], dtype=[("a", int), ("b", float)]),
    "complex": lambda v: np.array([1j, v]),
    "long": lambda v: np.array([1, v], np.longdouble),
    "texts": lambda v: np.array(["a", str(v)]),
    "rows": lambda v: [(date(2020, 1, v), timedelta(v), Decimal(v), Fraction(v, 7), UUID(int=v))],
    "objects": lambda v: [Person(v, date(2020, 1, 1))],
    "set": lambda v: {1, v},
    "counter": lambda v: Counter([1, v]),
    "sparse": lambda v: scipy.sparse.csr_matrix(np.eye(2) * v),
    "range": range,
}


@pytest.mark.parametrize("kind", list(TWICE))
def test_a_data_set_of_any_kind_is_the_same_as_its_copy(kind: str) -> None:
    one = TWICE[kind]
    assert is_same(one(3), one(3)) and not is_same(one(3), one(2))
    assert is_reordered(one(3), one(2)) is False
    assert is_same((one(3), [1]), (one(3), [1])) and not is_same((one(3), [1]), (one(2), [1]))
    with pytest.raises(InvalidParameter, match="the same data set"):
        assert_dp(lambda records, seed: seed % 3, (one(3), one(3)), 1.0, samples=500)


def test_what_raises_is_not_known_to_be_the_same() -> None:
    assert not is_same(Odd(), Odd()) and not is_reordered([Odd()], [Odd()])


def test_a_matrix_and_its_labels_may_be_in_another_order() -> None:
    """Rows that may be records are not taken for columns."""
    x, y, order = np.arange(6.0).reshape(3, 2), np.array([0.0, 1.0, 1.0]), [2, 0, 1]
    dates = pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"]))
    assert is_reordered((x, y), (x[order], y[order])) and is_reordered([x, y][:0], [])
    assert is_reordered({"x": pd.DataFrame(x), "t": dates}, {"x": pd.DataFrame(x[order]), "t": dates[order]})
    assert not is_reordered({"x": x, "y": y}, {"x": x[order], "z": y[order]})
    assert not is_reordered((x, y), (x[order], y)) and not is_reordered((x, y), (x[order], y[order][:2]))
    assert not is_reordered(([5, 5], [3, 4]), ([5, 5], [4, 3])) and not is_reordered((x, 1), (x[order], 1))


def test_pairs_of_the_same_records_pass_nothing() -> None:
    """One that differs among several is enough; what an order tells is told all the same."""
    data, turned = np.array([[1.0], [2.0]]), np.array([[2.0], [1.0]])

    def total(records: Any, seed: int) -> float:
        return float(records.sum()) + seed % 2

    for several in ((data, data.copy()), [(data, turned), (data, data)], (data, data)):
        with pytest.raises(InvalidParameter, match=r"pair \d: both are the same data set"):
            assert_dp(total, several, 1.0, samples=500)
    with pytest.raises(InvalidParameter, match="same records in another order on both sides"):
        assert_dp(total, (data, turned), 1.0, samples=500)
    assert not epsilon_lower_bound(total, (data, turned), claimed=1.0, samples=500).refuted
    with pytest.raises(AssertionError, match="not"):
        assert_dp(lambda records, seed: float(records[0, 0]) + seed % 2, (data, turned), 1.0, samples=500)
    assert_dp(lambda records, seed: float(seed % 5), [(data, turned), (data, data[:1])], 1.0, samples=500)


def test_the_cost_is_fixed() -> None:
    calls = []

    def counted(records: Any, seed: int) -> float:
        calls.append(seed)
        return round(float(np.random.default_rng(seed).laplace()), 3)

    assert_dp(counted, ONE, 1.0, samples=500)
    assert len(calls) == len(set(calls)) == 1_000


def clipped_sum(numbers: Any) -> float:
    return float(np.clip(numbers, -1, 1).sum())


def test_sensitivity() -> None:
    pairs = [([0.5], [0.5, value]) for value in np.linspace(-3, 3, 13)]
    assert assert_sensitivity(clipped_sum, pairs, 1.0) == 1.0
    with pytest.raises(AssertionError, match=r"sensitivity 3 at pair \d+, above the stated 1"):
        assert_sensitivity(np.sum, pairs, 1.0)  # the mutant that forgets to clip
    with pytest.raises(AssertionError, match="shapes"):
        assert_sensitivity(lambda numbers: numbers, pairs, 1.0)
    with pytest.raises(AssertionError, match="not a number"):
        assert_sensitivity(lambda numbers: np.nan, pairs, 1.0)
    with pytest.raises(InvalidParameter, match="at least one pair"):
        assert_sensitivity(clipped_sum, [], 1.0)


@pytest.mark.parametrize(("norm", "size"), [(1, 7.0), (2, 5.0), ("max", 4.0)])
def test_norms(norm: Any, size: float) -> None:
    assert assert_sensitivity(lambda v: v, [([0.0, 0.0], [3.0, 4.0])], size, norm=norm) == size
    with pytest.raises(AssertionError, match="above the stated"):
        assert_sensitivity(lambda v: v, [([0.0, 0.0], [3.0, 4.0])], size * 0.999, norm=norm)


def model(leaves: Any, **more: Any) -> Any:
    return {"leaves": np.asarray(leaves), "meta": SimpleNamespace(trees=1, **more)}


def test_noninterference() -> None:
    values = [[0.1, 0.2], [0.3, -0.0]]
    assert assert_noninterference(lambda records, leaves: model(leaves), ONE, values) == 2
    with pytest.raises(AssertionError, match=r"\['meta'\]\['count'\] depends on the records"):
        assert_noninterference(lambda records, leaves: model(leaves, count=records[0]), ONE, values)
    with pytest.raises(AssertionError, match=r"\['leaves'\] depends on the records"):
        assert_noninterference(lambda r, leaves: model(np.nextafter(leaves, 9) if r[0] else leaves), ONE, values)
    with pytest.raises(AssertionError, match="changes from call to call"):
        generator = np.random.default_rng(0)
        assert_noninterference(lambda records, leaves: model(generator.normal(size=2)), ONE, values)
    with pytest.raises(InvalidParameter, match="at least one set"):
        assert_noninterference(lambda records, leaves: model(leaves), ONE, [])


@pytest.mark.parametrize(
    "of", [lambda n: np.int64(2**60) + 50 * n, lambda n: 2**60 + 50 * n, lambda n: np.uint64(2**63) + np.uint64(50 * n),
           lambda n: np.longdouble(2) ** 60 + 50 * n, lambda n: [2**62, 2**60 + 50 * n],
           lambda n: [2**60 + 50 * n, 0.5], lambda n: (np.int64(2**60) + 50 * n, np.float64(0.25)),
           lambda n: [2**63 + 50 * n, -1], lambda n: [np.uint64(2**63 + 50 * n), np.int64(-1)],
           lambda n: 2**70 + 50 * n,
           lambda n: np.array([2**63 + 50 * n, np.int64(-1), 0.5], dtype=object), lambda n: Decimal(10**30 + 50 * n),
           lambda n: [[2**60 + 50 * n, 0.5], [1.0, np.longdouble(0.1)]], lambda n: Fraction(10**30 + 50 * n, 1),
           lambda n: pd.DataFrame({"n": [2**60 + 50 * n, 1], "mean": 0.5}), lambda n: deque([2**60 + 50 * n, 0.5]),
           lambda n: 2**60 + 50 if n == 2 else 2.0**60, lambda n: pd.DataFrame({"n": [2**60 + 50 * n], "b": [True]})],
)  # fmt: skip
def test_changes_of_numbers_beyond_2_to_the_53_are_exact(of: Any) -> None:
    with pytest.raises(AssertionError, match="sensitivity 50 at pair 0"):
        assert_sensitivity(lambda records: of(len(records)), [ONE_MORE], 1)
    assert assert_sensitivity(lambda records: of(len(records)), [ONE_MORE], 50) == 50


@pytest.mark.parametrize("norm", [1, 2, "max"])
def test_changes_beyond_floats_and_below_are_told(norm: Any) -> None:
    far = {2: 1.5e308, 3: -1.5e308}
    for of in (lambda n: [far[n]], lambda n: [far[n], 7], lambda n: 10 ** (400 + n)):
        for bound in (1e308, 1.7976931348623157e308):
            with pytest.raises(AssertionError, match="sensitivity inf at pair 0"):
                assert_sensitivity(lambda records: of(len(records)), [ONE_MORE], bound, norm=norm)  # noqa: B023
    with pytest.raises(AssertionError, match=r"sensitivity 4\.94065646e-324 at pair 0"):
        assert_sensitivity(lambda records: Fraction(len(records), 10**400), [ONE_MORE], 0, norm=norm)
    for of in (lambda n: [2**70, np.nan], lambda n: Decimal("nan"), lambda n: [2**70, np.longdouble("inf")]):
        with pytest.raises(AssertionError, match="a value is infinite or not a number"):
            assert_sensitivity(lambda records: of(len(records)), [ONE_MORE], 1, norm=norm)  # noqa: B023
    for result in ([1, "a"], [1, None], np.array([1, None], dtype=object), [[1, 2], [3]], [1, [2]], {"a": 1}, [1, 1j]):
        with pytest.raises(InvalidParameter, match="a number or an array of numbers"):
            assert_sensitivity(lambda records: result, [ONE_MORE], 1, norm=norm)  # noqa: B023


def test_what_says_nothing_of_a_sensitivity() -> None:
    with pytest.raises(AssertionError, match=r"sensitivity 1e-170 .* \(2\)"):
        assert_sensitivity(lambda records: 1e-170 * len(records), [ONE_MORE], 1e-200, norm=2)
    for pair in (([1.0], [1.0]), ([1.0, 2.0], [2.0, 1.0])):
        with pytest.raises(InvalidParameter, match="no record differs"):
            assert_sensitivity(lambda records: 5.0 * sum(records), [pair], 1)
        with pytest.raises(InvalidParameter, match="no record differs"):
            assert_noninterference(lambda records, values: len(records), pair, [1])
    draw = np.random.default_rng(0)
    with pytest.raises(AssertionError, match="changes from call to call"):
        assert_sensitivity(lambda records: draw.random(), [ONE_MORE], 1)


KEYS = (["x", "x", "b"], ["x", "x", "c"])


@pytest.mark.parametrize(
    "function", [lambda r: pd.Series(r).value_counts(), lambda r: pd.DataFrame({"k": r, "v": 1.0}).groupby("k").sum(),
                 lambda r: pd.get_dummies(pd.Series(r)).sum(),
                 lambda r: [(pd.DataFrame([[1.0]], columns=[r[2]]),)], lambda r: pd.Series(1.0, name=r[2]),
                 lambda r: pd.Series(1.0, index=pd.MultiIndex.from_tuples([(1, r[2])])),
                 lambda r: pd.Series(1.0, index=pd.Index([1], name=r[2])), lambda r: namedtuple("N", [r[2]])(1.0),
                 lambda r: pd.Series(pd.Categorical([1], categories=[1, ord(r[2])])),
                 lambda r: pd.Series(1.0, index=pd.CategoricalIndex(["x"], categories=["x", r[2]])),
                 lambda r: np.ma.masked_array(np.zeros(3), mask=[one == "c" for one in r])],
)  # fmt: skip
def test_what_numbers_are_of_is_compared_as_their_shape_is(function: Callable[[Any], Any]) -> None:
    with pytest.raises(AssertionError, match="labels, names or masks differ, which gives a side away"):
        assert_sensitivity(function, [KEYS], 9)


def test_values_are_as_they_were_released() -> None:
    for build in (lambda r, values: values.append(len(r)), lambda r, values: values[0].__setitem__(0, len(r))):
        values = [np.zeros(2)]
        with pytest.raises(AssertionError, match=r"released values 0: \S+ were changed, depending on the records"):
            assert_noninterference(build, ONE_MORE, [values])
        assert len(values) == 1 and not values[0].any()
    for one in ([1.0], (n for n in range(1)), np.random.default_rng(0), np.zeros(10**6)):
        assert assert_noninterference(lambda r, values: 1.0, ONE_MORE, [one]) == 1
    draw = np.random.default_rng(0)
    assert assert_noninterference(lambda r, values: values.random(), ONE_MORE, [draw]) == 1
    with pytest.raises(AssertionError, match="depends on the records"):
        assert_noninterference(lambda r, _: [a := deque(), a if len(r) > 2 else deque()], ONE_MORE, [1])


def test_equal_labels_are_no_change() -> None:
    index = pd.Index(["x", "b", "c", np.nan], name="k")
    counts = partial(pd.Series.reindex, index=index, fill_value=0)
    assert assert_sensitivity(lambda r: counts(pd.Series(r).value_counts()), [KEYS], 2) == 2
    assert assert_sensitivity(lambda r: counts(pd.Series(r).value_counts()).to_frame(), [KEYS], 2) == 2
    assert assert_sensitivity(lambda r: np.ma.masked_less([1.0, len(r)], 2), [ONE_MORE], 1) == 1
    table = partial(pd.DataFrame, columns=["name", "mask", "names"])
    assert assert_sensitivity(lambda r: table([[len(r), 1.0, 2.0]]), [ONE_MORE], 1) == 1
    many = pd.Series(1.0, index=[f"{place}" for place in range(200_000)])
    assert assert_sensitivity(lambda r: many * (r[-1] < 3), [ONE_MORE], 2e5) == 2e5


ROW = [1.0]
ONE_MORE = ([1.0, 2.0], [1.0, 2.0, 3.0])


class Holding:
    """A model whose method is handed out."""

    def __init__(self, kept: int) -> None:
        self.kept = kept

    def predict(self) -> int:
        return self.kept


class Numbers(list):  # type: ignore[type-arg]
    """A list that can have attributes."""


def with_attribute(kept: int) -> Numbers:
    made = Numbers([1])
    made.kept = kept  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize(
    "build", [lambda n: Holding(n).predict, lambda n: ValueError(n), with_attribute,
              lambda n: defaultdict(partial(int, n)), lambda n: deque([1], maxlen=n), lambda n: {n == 2 or 1.0: 0},
              lambda n: np.ma.array([float(n)], mask=[True]), lambda n: re.compile("a" * 300 + str(n)),
              lambda n: np.zeros((3, 3), order="C" if n == 2 else "F"), lambda n: set([8, 16] if n == 2 else [16, 8]),
              lambda n: [ROW, ROW if n == 2 else list(ROW)], lambda n: [list(ROW), ROW if n == 2 else list(ROW), ROW]],
)  # fmt: skip
def test_what_a_result_holds_beside_its_values(build: Any) -> None:
    def built(records: Any, values: Any) -> Any:
        return build(len(records))

    with pytest.raises(AssertionError, match="depends on the records"):
        assert_noninterference(built, ONE_MORE, [1])


def test_what_is_read_is_compared_and_no_more_is_claimed() -> None:
    point = namedtuple("point", "x")
    for made in (lambda: pd.DataFrame({"a": ["x", "y"]}), lambda: pd.RangeIndex(3), lambda: point(1),
                 lambda: np.random.default_rng(), lambda: {float("nan"): 1, "a": [ROW, ROW, list(ROW)]},
                 lambda: {(1, "a"), object}, lambda: [ROW, {"a": ROW}, np.ones(2)]):  # fmt: skip
        assert assert_noninterference(lambda records, values: made(), ONE_MORE, [1]) == 1  # noqa: B023
    with pytest.raises(InvalidParameter, match="not examined: the result: nothing shows what is in a generator"):
        assert_noninterference(lambda records, values: (one for one in records), ONE_MORE, [1])
