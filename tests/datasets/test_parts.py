"""Parts of a data set: sizes, which records, whatever their order; and what is known of data sets elsewhere."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest

from refdp.data.records import Categorical, Classes, Interval, Numeric
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.io import datasets
from refdp.io.datasets import Dataset, folds, held_out_by_record, train_test, train_test_by_record
from refdp.io.fetching import OPENML


def made(rows: int, columns: int = 2, source: str = "documented") -> Dataset:
    x = np.column_stack([np.arange(rows, dtype=float) + 100 * f for f in range(columns)])
    features = tuple(Numeric(f"f{f}", 0, 1000) for f in range(columns))
    sources = dict.fromkeys([*(f.name for f in features), "y"], source)
    return Dataset("made", x, np.arange(rows) % 2.0, features, "y", Classes(("no", "yes")), sources)  # type: ignore[arg-type]


def test_a_fifth_is_held_out_and_never_all_or_nothing() -> None:
    for rows, share, held_out in ((2, 0.01, 1), (2, 0.99, 1), (3, 0.99, 2), (10, 0.25, 2), (10, 0.34, 3), (10, 0.5, 5)):
        train, test = train_test(made(rows), share)
        assert (len(train.y), len(test.y)) == (rows - held_out, held_out)
        assert sorted([*train.x[:, 0], *test.x[:, 0]]) == list(range(rows))
        for part in (train, test):
            assert (np.diff(part.x[:, 0]) > 0).all() and (part.y == part.x[:, 0] % 2).all()
    order = np.random.default_rng(0).permutation(20)
    train, test = train_test(made(20))
    assert test.x[:, 0].tolist() == sorted(order[:4].tolist()) and train.x[:, 0].tolist() == sorted(order[4:].tolist())
    _, other = train_test(made(20), 0.2, 3)
    assert other.x[:, 0].tolist() == sorted(np.random.default_rng(3).permutation(20)[:4].tolist())
    for rows in (0, 1):
        with pytest.raises(InvalidRecords, match=f"made: {rows} records cannot be split into two parts"):
            train_test(made(rows))
    for share in (0.0, 1.0, -0.1, 1.1):
        for call in (train_test, train_test_by_record):
            with pytest.raises(InvalidParameter, match="a share above 0 and below 1"):
                call(made(4), share)


def fraction(row: list[float]) -> float:
    """SplitMix64 over the bits of a row, in whole numbers."""
    state, most = 0, 2**64 - 1
    for value in row:
        bits = struct.unpack("<Q", struct.pack("<d", np.nan if np.isnan(value) else value + 0.0))[0]
        state = ((state ^ bits) + 0x9E3779B97F4A7C15) & most
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & most
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & most
        state ^= state >> 31
    return (state >> 11) / 2**53


def test_a_records_part_is_its_own() -> None:
    rows = np.random.default_rng(1).normal(size=(50, 3))
    rows[0] = [-0.0, np.nan, 5.0]
    expected = np.array([fraction(row) for row in rows.tolist()])
    np.testing.assert_array_equal(datasets._fractions(rows), expected)
    np.testing.assert_array_equal(datasets._fractions(np.array([[0.0, -np.nan, 5.0]])), expected[:1])
    x, y = rows[:, :2], rows[:, 2]
    for share in (0.2, 0.7, expected[3], np.nextafter(expected[3], 1)):
        np.testing.assert_array_equal(held_out_by_record(x, y, share), expected < share)
    given = replace(made(50), x=x, y=y)
    train, test = train_test_by_record(given)
    assert test.y.tolist() == y[expected < 0.2].tolist() and train.y.tolist() == y[expected >= 0.2].tolist()


def test_folds_are_five_that_cover_all() -> None:
    found = list(folds(made(20)))
    assert len(found) == 5 and all(len(test.y) == 4 and test.y.sum() == 2 for _, test in found)
    assert sorted(value for _, test in found for value in test.x[:, 0]) == list(range(20))
    assert all(sorted([*a.x[:, 0], *b.x[:, 0]]) == list(range(20)) for a, b in found)
    again, other = list(folds(made(20), 5, 0)), list(folds(made(20), 5, 1))
    assert [t.x.tolist() for _, t in again] == [t.x.tolist() for _, t in found] != [t.x.tolist() for _, t in other]
    assert len(list(folds(replace(made(20), target=Interval(0, 1)), 4))) == 4


@pytest.mark.parametrize(("columns", "said"), [(4, "f0, f1, f2, f3, y were"), (5, "f0, f1, f2, f3, f4 and 1 more were"),
                                               (6, "f0, f1, f2, f3, f4 and 2 more were")])  # fmt: skip
def test_at_most_five_columns_are_named(columns: int, said: str) -> None:
    with pytest.raises(InvalidRecords, match=f"made: the bounds or categories of {said} read off the records; give"):
        given = made(3, columns, "observed")
        replace(given, sources={"public": "given", **given.sources}).schema()
    with pytest.raises(InvalidRecords, match=f"categories of {columns + 1} of its {columns + 1} columns were read"):
        made(3, columns, "observed").schema()
    assert made(3, columns).schema().names == tuple(f"f{k}" for k in range(columns))


def test_columns_and_labels_are_decoded() -> None:
    given = Dataset("some", np.array([[1.0, 2.5], [np.nan, np.nan], [0.0, -1.0]]), np.array([1.0, 0.0, 1.0]),
                    (Categorical("c", ("x", "z")), Numeric("a", -2, 3)), "y", Classes(("no", "yes")),
                    {"c": "documented", "a": "documented", "y": "documented"})  # fmt: skip
    columns = given.columns()
    assert list(columns["c"]) == ["z", None, "x"] and columns["a"][[0, 2]].tolist() == [2.5, -1.0]
    assert list(given.labels()) == ["yes", "no", "yes"] and given.task == "binary"
    rest = given.one_against_rest("no")
    assert rest.y.tolist() == [0.0, 1.0, 0.0] and rest.target == Classes(("not no", "no"))
    with pytest.raises(InvalidParameter, match="class 'maybe' of some"):
        given.one_against_rest("maybe")
    with pytest.raises(InvalidParameter, match=r"classes of its target$"):
        replace(given, sources={"y": "observed"}).one_against_rest("maybe")
    number = replace(given, target=Interval(0, 2))
    assert number.task == "regression" and number.labels().tolist() == [1.0, 0.0, 1.0]
    assert replace(given, target=Classes(("a", "b", "c"))).task == "multiclass"


def test_what_is_known_of_data_sets_at_openml() -> None:
    """Numbers of columns as their documentation has them, the target last."""
    known = {name: (one.id, len(one.columns), one.columns[-1], one.classes[:2], one.unknown)
             for name, one in OPENML.items()}  # fmt: skip
    assert known == {
        "adult": (1590, 15, "income", ("<=50K", ">50K"), "?"),
        "abalone": (183, 9, "Rings", (), ""),
        "covtype": (1596, 55, "Cover_Type", ("1", "2"), ""),
        "bank_full": (1461, 17, "y", ("1", "2"), ""),
        "credit_default": (42477, 24, "default payment next month", ("0", "1"), ""),
    }
    credit, cover = OPENML["credit_default"].columns, OPENML["covtype"].columns
    assert credit[11:23] == tuple(f"{kind}_AMT{k}" for kind in ("BILL", "PAY") for k in (1, 2, 3, 4, 5, 6))
    assert cover[10:14] == tuple(f"Wilderness_Area{k}" for k in (1, 2, 3, 4))
    assert (cover[14], cover[53]) == ("Soil_Type1", "Soil_Type40") and len(OPENML["covtype"].classes) == 7
