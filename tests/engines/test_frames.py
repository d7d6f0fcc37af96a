"""Partitions of data frames as records: columns by name, labels by class or number, neighbours in order."""

from __future__ import annotations

import numpy as np
import pytest

from refdp.data.records import Categorical, Classes, Interval, Numeric, Records, Schema
from refdp.engines.frames import LABEL, Loader, joined, labels, runs
from refdp.errors import InvalidRecords

pd = pytest.importorskip("pandas")
CLASSES = Schema((Numeric("a", 0, 1), Numeric("b", -3, 3), Categorical("c", ("x", "y", "z"))), Classes(("no", "yes")))
NUMBER = Schema((Numeric("a", 0, 1), Numeric("b", -3, 3)), Interval(-2, 5))


def test_a_frame_is_read_by_its_names() -> None:
    frame = pd.DataFrame({LABEL: ["yes", "no", "yes"], "c": ["z", "x", None], "other": 9, "b": [-1.0, 7.0, np.nan],
                          "a": [0.25, 0.5, 0.75]})  # fmt: skip
    found = Loader(CLASSES)(frame)
    np.testing.assert_array_equal(found.x, [[0.25, -1.0, 2.0], [0.5, 3.0, 0.0], [0.75, np.nan, np.nan]])
    assert found.y.tolist() == [1.0, 0.0, 1.0] and found.clamped == 1 and found.schema == CLASSES


def test_a_frame_without_rows_has_no_records_and_is_no_error() -> None:
    found = Loader(CLASSES)(pd.DataFrame({"any": []}))
    assert found.x.shape == (0, 3) and found.y.shape == (0,) and found.x.flags.f_contiguous
    one = Loader(NUMBER)(pd.DataFrame({"a": [0.5], "b": [1.0], LABEL: [2.0]}))
    assert one.size == 1 and one.y.tolist() == [2.0]


def test_labels_are_positions_of_classes_or_numbers() -> None:
    assert labels(["yes", "no", "no"], CLASSES).tolist() == [1.0, 0.0, 0.0]
    numbers = Schema(NUMBER.features, Classes(("0", "1", "2")))
    assert labels(pd.Series([2, 0, 1]), numbers).tolist() == [2.0, 0.0, 1.0]
    assert labels([1, "2.5"], NUMBER).tolist() == [1.0, 2.5]
    for cells, classes in (
        (pd.Series([True, False]), ("true", "false")),
        (pd.Series([0.0, 1.0]), ("0.0", "1.0")),
        (pd.Series([1, 2]), ("01", "02")),
        ([" yes", "no"], ("yes", "no")),
    ):
        meant = Schema(NUMBER.features, Classes(classes))
        assert labels(cells, meant).tolist() == [0.0, 1.0]  # as a file's are read in memory
        with pytest.raises(InvalidRecords, match="not in the public classes"):  # as estimators have them in memory
            labels(cells, meant, exact=True)
    for column, schema, message in (
        (["yes", "maybe"], CLASSES, "^a label is missing or not in the public classes no, yes; every record needs one"),
        ([None, "no"], CLASSES, "^a label is missing or not in the public classes"),
        (["much"], NUMBER, "^a label is no number; every record needs a finite label"),
        ([[1.0], [1.0, 2.0]], NUMBER, "^a label is no number"),
        (pd.Series(pd.to_datetime(["2020-01-01"])), NUMBER, "^a label is no number"),
        (pd.Series([1.0 + 2.0j]), NUMBER, "^a label is no number"),
    ):
        with pytest.raises(InvalidRecords, match=message):
            labels(column, schema)


def test_neighbours_are_those_whose_slots_follow() -> None:
    assert runs({}) == [] and runs({4: (7, 0)}) == [(4,)]
    assert runs({0: (0, 2), 1: (2, 3), 2: (5, 1)}) == [(0, 1, 2)]
    assert runs({0: (0, 2), 2: (5, 1), 3: (6, 4)}) == [(0,), (2, 3)]
    assert runs({1: (1, 2)}) == [(1,)] and runs({5: (0, 3), 2: (4, 1)}) == [(5,), (2,)]


def test_parts_are_joined_in_order() -> None:
    def part(start: int, rows: int) -> Records:
        numbers = np.arange(start, start + rows, dtype=float)
        return Records(NUMBER, np.asfortranarray(np.column_stack([numbers, -numbers])), 10 * numbers, clamped=start)

    whole = joined([part(0, 2), part(2, 3), part(5, 1)])
    assert whole.x[:, 0].tolist() == [0, 1, 2, 3, 4, 5] and whole.x[:, 1].tolist() == [0, -1, -2, -3, -4, -5]
    assert whole.y.tolist() == [0, 10, 20, 30, 40, 50] and whole.clamped == 7 and whole.x.flags.f_contiguous
    alone = part(3, 2)
    given = [alone]
    assert joined(given) is alone and given == []
