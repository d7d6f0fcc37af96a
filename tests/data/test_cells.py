"""What a cell means: the same beside whatever other record, with whatever type a reader gave the column."""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refdp.data.records import Categorical, Feature, Numeric
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.io.cells import alike, codes, is_absent, meaning, number_of, numbers, shortest, text_of
from refdp.io.datasets import load
from refdp.io.frames import check_same_columns, checked, column_names, describe, encode

WHOLE = [1, 2, 3]
ODD = ("x", "", "NA", "1.5", "2.0", "01", "True", "FALSE", "1e0", "inf", "-0", "99999999999999999999999", " 1", "1_0")
COLUMNS: dict[str, tuple[list[Any], list[str]]] = {
    "whole": (WHOLE, ["1", "2", "3", "7"]),
    "floats": (WHOLE, ["1.0", "2.00", "3.", "7.0"]),
    "leading zeros": (["01", "02", "10"], ["01", "02", "10", "1"]),
    "fractions": (["0.1", "2.5", "1e-3"], ["0.1", "2.50", "0.001", ".25"]),
    "truth values": ([False, True], ["True", "FALSE", "true", "False"]),
    "truth as text": (["yes", "TRUE", "x"], ["True", "TRUE", "true", "False"]),
    "large": (["9007199254740991", f"{10**15}", "12345678901234567890"],
              [f"{2**53 - 1}", f"{10**15}", "12345678901234567890"]),
    "texts": (["a", "b", "x"], ["a", "b", " a", "c"]),
}  # fmt: skip


def read(cells: list[str], **options: Any) -> pd.DataFrame:
    return pd.read_csv(io.StringIO("c,d\n" + "\n".join(f'"{cell}",0' for cell in cells)), **options)


def meant(frame: Any, categories: list[Any]) -> list[float]:
    bounds = {"c": categories, "d": (0, 1)}
    features, _ = describe(checked(frame, bounds), bounds)
    return encode(frame, features)[:, 0].tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", COLUMNS)
def test_an_odd_record_changes_no_other_ones_category(name: str) -> None:
    """Types that pandas' reader may give are all there: of these columns alone, and beside each odd record."""
    categories, cells = COLUMNS[name]
    alone = meant(read(cells), categories)
    assert not np.isnan(alone).all()
    frames = [read([*cells, odd]) for odd in ODD]
    frames += [read(cells, dtype=kind) for kind in (str, object, "category")]
    frames += [read([*cells, odd], dtype_backend="numpy_nullable") for odd in ODD]
    for frame in frames:
        np.testing.assert_array_equal(meant(frame, categories)[: len(cells)], alone)


def test_all_types_of_the_reader_are_among_them() -> None:
    kinds = {str(read([*cells, odd])["c"].dtype) for _, cells in COLUMNS.values() for odd in ODD}
    kinds |= {str(read(cells)["c"].dtype) for _, cells in COLUMNS.values()}
    assert {"int64", "float64", "bool", "object"} <= kinds and len(kinds) >= 5  # texts are str or object, by version


@pytest.mark.parametrize("name", COLUMNS)
def test_the_command_line_reads_the_same(name: str, tmp_path: Path) -> None:
    categories, cells = COLUMNS[name]
    path = tmp_path / "t.csv"
    path.write_text("c,d\n" + "\n".join(f'"{cell}",0' for cell in [*cells, *ODD]))
    bounds = {"c": [text_of(one) for one in categories], "d": [0, 1]}
    np.testing.assert_array_equal(load(path, bounds=bounds).x[:, 0], meant(read([*cells, *ODD]), categories))


SAME: list[Any] = [
    1,
    1.0,
    np.int8(1),
    np.float32(1),
    "1",
    "01",
    " 1.0",
    "1e0",
    True,
    np.bool_(True),
    "TRUE",
    Decimal(1),
    b"1",
]


@pytest.mark.parametrize("cell", SAME, ids=repr)
def test_one_category_whatever_the_type(cell: Any) -> None:
    assert codes([cell], ["0", "1"]).tolist() == [1.0]
    assert codes([cell], ["0", "1.0"]).tolist() == [1.0]
    assert codes(np.array([cell, "x"], dtype=object), ["0", "x"])[1] == 1.0


def test_what_is_told_apart() -> None:
    for first, second in (("1", "2"), ("a", "A"), ("1", "1.1"), ("1_0", "10"), ("", "0"), ("nan", "0"), ("x1", "1")):
        assert meaning(first) != meaning(second)
    whole = ("1234567890123456", "1234567890123457", "9007199254740991")
    assert [meaning(one) for one in whole] == list(whole) and alike(whole) is None
    assert meaning("-0") == meaning("0.0") == meaning("false") == "0"
    assert [number_of(text) for text in ("+1.", ".5", " 1e 3 ", "1e400")] == [1.0, 0.5, 1000.0, np.inf]
    assert not any(
        number_of(text) is not None for text in ("", "nan", "1_0", "\u0661", "1e", "0x1", "1 0", "--1", "True")
    )
    assert codes(["a", " a", "b ", "a "], ["a", "a ", "b"]).tolist() == [0.0, 0.0, 2.0, 1.0]
    assert codes([np.float32(0.1), 0.1, "0.10", 10**5000], ["0.1", "x"])[:3].tolist() == [0.0] * 3


@pytest.mark.parametrize("kind", [np.float32, np.float64, object, str])
def test_numbers_of_float32_are_the_categories_that_they_are_written_as(kind: Any) -> None:
    """Also where the column has become float64 or objects because of another record."""
    written = [0.1, 0.2, 0.3, 1e-7, 16777217.5, 2.5]
    column = pd.Series(written, dtype=np.float32).astype(kind)
    listed = [text_of(one) for one in (0.1, 0.2, 0.3, 1e-7, 16777218, 2.5)]
    for cells in (column, column.to_numpy(), list(column), column.astype(object).to_numpy()):
        assert codes(cells, listed).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    frame = pd.DataFrame({"c": column, "d": 0.0})
    assert meant(frame, listed) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_what_float32_does_not_hold_is_as_it_is() -> None:
    for one in (1e300, -1e300, 1e-300, 0.1, 2.0**60, 123456792.0, np.inf, 0.25):
        assert shortest(np.array([one])) == one and float(meaning(repr(one))) == pytest.approx(one, rel=1e-14)
    assert shortest(np.array([float(np.float32(0.7)), np.nan])).tolist() == pytest.approx([0.7, np.nan], nan_ok=True)
    assert meaning(repr(float(np.float32(0.7)))) == "0.7" and meaning("123456792") == "123456792"
    assert alike(["0.1", "0.10000000149011612"]) == ("0.1", "0.10000000149011612")


def test_missing_cells() -> None:
    absent = [None, np.nan, pd.NA, pd.NaT, np.float32("nan"), np.datetime64("NaT"), Decimal("NaN"), Decimal("sNaN")]
    assert all(map(is_absent, absent)) and not any(map(is_absent, (0, "", "nan", [np.nan], np.array([np.nan]))))
    assert np.isnan(codes([*absent, "", " ", "nan"], ["0", "1"])).all()
    written = np.array([[1.5, "a"], [np.nan, "b"]])  # numpy makes texts of both columns
    found = encode(written, (Numeric("n", 0, 2), Categorical("c", ("a", "b"))))
    assert found[:, 1].tolist() == [0.0, 1.0] and found[0, 0] == 1.5 and np.isnan(found[1, 0])
    found = numbers([1, "2.5", True, b"3", *absent])
    assert found[:4].tolist() == [1, 2.5, True, 3.0] and np.isnan(found[4:].astype(float)).all()


def test_two_categories_that_are_one_number_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"c": ["1"], "d": [0.0]})
    for pair in (["1", "01"], ["a", "1.0", "1"], ["True", "1", "x"], ["0.1", "0.10", "3"]):
        with pytest.raises(
            InvalidRecords, match=r"^categories of 'c': .* are compared as numbers, and are one category; a letter"
        ):
            meant(frame, pair)
    assert alike(["a", "a ", "1", "2"]) is None
    path = tmp_path / "t.csv"
    path.write_text("c,d\n1,0\n1.0,0\nx,1\n")
    assert load(path).features == (Categorical("c", ("1", "x")),), "read off the records, each is there once"


def test_dates_have_no_meaning_that_every_reader_gives() -> None:
    """With parse_dates, one odd record leaves a column of texts."""
    day = pd.Timestamp("2020-01-01")
    with pytest.raises(InvalidRecords, match="holds dates or times; give them as texts"):
        meant(pd.DataFrame({"c": [day], "d": [0]}), ["2020-01-01", "x"])
    with pytest.raises(InvalidParameter, match="categories are texts, numbers or truth values"):
        meant(pd.DataFrame({"c": ["a"], "d": [0]}), [day, "x"])
    with pytest.raises(InvalidRecords, match="holds dates or times; give them as texts"):
        meant(pd.DataFrame({"c": [day.to_period("M")], "d": [0]}), ["2020-01", "x"])
    with pytest.raises(InvalidRecords, match="an array of dates"):
        encode(np.array([["2020-01-01"]], dtype="M8[D]"), [Numeric("c", 0, 1)])


DAYS = pd.to_datetime(["2020-01-01", "2020-01-02"])
MOMENTS: dict[str, tuple[Any, str]] = {
    "days": (DAYS, "an array of dates"),
    "nanoseconds": (DAYS.as_unit("ns"), "an array of dates"),
    "a zone": (DAYS.tz_localize("UTC"), "an array of dates"),
    "spans": (pd.to_timedelta([1, 2], unit="D"), "an array of dates"),
    "missing": (pd.to_datetime([None, None]), "an array of dates"),
    "months": (DAYS.to_period("M"), "no number"),
    "objects": (DAYS.astype(object), "no number"),
}


@pytest.mark.parametrize(("column", "message"), MOMENTS.values(), ids=MOMENTS.keys())
def test_dates_are_no_numbers_also_where_every_column_is_one(column: Any, message: str) -> None:
    """Their unit follows from all of a column: one record with nanoseconds makes each number a thousandfold."""
    for frame in (pd.DataFrame({"c": column}), pd.DataFrame({"c": column, "d": column})):
        with pytest.raises(InvalidRecords, match=message):
            encode(checked(frame, {}), NUMBERS[: frame.shape[1]])


@pytest.mark.parametrize("kind", ["M8[ns]", "m8[s]"])
def test_rows_of_dates_are_no_numbers(kind: str) -> None:
    with pytest.raises(InvalidRecords, match="an array of dates"):
        checked([np.array([1, 2], dtype=kind)], {})


def test_what_is_masked_in_a_list_of_rows_is_missing() -> None:
    rows = [np.ma.masked_array([junk, 2.0], mask=[True, False]) for junk in (1.0, 7.0)]
    np.testing.assert_array_equal(encode(checked(rows, {}), NUMBERS), [[np.nan, 2.0]] * 2)


@pytest.mark.parametrize("fill", [np.nan, 0.0])
def test_a_sparse_data_frame_is_a_data_frame(fill: float) -> None:
    plain = pd.DataFrame({"c": [1.5, fill, 2.0], "d": [fill, fill, 1.0]})
    found = encode(checked(plain.astype(pd.SparseDtype(float, fill)), {}), NUMBERS)
    np.testing.assert_array_equal(found, plain.to_numpy())


def test_a_query_is_no_table() -> None:
    query = type("LazyFrame", (), {"collect": lambda _: None})()
    with pytest.raises(InvalidRecords, match=r"a LazyFrame holds no records yet; give what its collect\(\) returns"):
        checked(query, {})


NUMBERS: list[Feature] = [Numeric("c", 0, 9), Numeric("d", 0, 9)]


@pytest.mark.parametrize(
    "kind", ["object", "str", "Float64", "category", "float64[pyarrow]", "array", "texts", "list", "masked"]
)
def test_numbers_are_numbers_in_every_container(kind: str) -> None:
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    plain = np.array([[1.5, 2.0], [np.nan, 0.1], [3.0, 4.0]])
    cells: list[list[Any]] = [[1.5, "2.0"], [pd.NA, "0.1"], [None if kind == "array" else 3.0, 4]]
    plain[2, 0] = np.nan if kind == "array" else 3.0
    table: Any = {
        "array": lambda: np.array(cells, dtype=object),
        "texts": lambda: np.array([["1.5", "2"], ["nan", "1e-1"], ["3", "4.0"]], dtype=object),
        "list": lambda: cells,
        "masked": lambda: np.ma.masked_where(np.isnan(plain), np.where(np.isnan(plain), 7.0, plain)),
        "object": lambda: pd.DataFrame(cells, columns=["c", "d"], dtype=object),
    }.get(kind, lambda: pd.DataFrame(plain, columns=["c", "d"]).astype(kind))()
    if kind in ("str", "texts"):
        table = table if kind == "texts" else table.where(~np.isnan(plain))
        if kind == "texts":
            table[1, 0] = None
    np.testing.assert_array_equal(encode(checked(table, {}), NUMBERS), plain)


@pytest.mark.parametrize("cell", ["x", "1_0", "True", "secret"])
def test_what_is_no_number_is_refused_and_not_quoted(cell: str) -> None:
    for table in ([[cell, 1]], np.array([[cell, "1"]]), pd.DataFrame([[cell, 1]], columns=["c", "d"])):
        with pytest.raises(InvalidRecords, match=r"^a numeric column holds what is no number; bounds list categories$"):
            encode(checked(table, {}), NUMBERS)


@pytest.mark.parametrize("table", ["abc", b"a", {"c": [1]}, {1, 2}, iter([[1]])], ids=lambda one: type(one).__name__)
def test_what_is_no_table(table: Any) -> None:
    with pytest.raises(InvalidRecords, match="is no table; an array or a data frame is needed"):
        checked(table, {})


def test_columns_of_arrow_have_their_names() -> None:
    arrow = pytest.importorskip("pyarrow")
    assert column_names(checked(arrow.table({"c": [1.0], "d": [2.0]}), {})) == ["c", "d"]


WRONG_BOUNDS: dict[str, tuple[Any, str]] = {
    "a set": ({"c": {1, 2}}, r"\(low, high\) or a list of categories"),
    "a mapping": ({"c": {0: 1, 1: 2}}, r"\(low, high\) or a list of categories"),
    "rows": ({"c": np.array([[0, 1], [2, 3]])}, "categories are texts, numbers or truth values"),
    "a number and a text": ({"c": [17, "90"]}, "neither two numbers nor categories of one kind"),
    "a truth value and a number": ({"c": [np.True_, 2]}, "neither two numbers nor categories of one kind"),
    "twice": ({"c": (0, 1), np.str_("c"): (0, 1), 0: (0, 1), "0": (0, 2)}, "bounds of '0' are given twice"),
}


@pytest.mark.parametrize(("bounds", "message"), WRONG_BOUNDS.values(), ids=WRONG_BOUNDS.keys())
def test_bounds_that_are_none(bounds: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        describe(pd.DataFrame([[1, 2, 3]], columns=["c", "d", 0]), bounds)


def test_columns_of_a_fitted_model() -> None:
    frame = pd.DataFrame(np.zeros((1, 3)))
    check_same_columns(frame, ["0", "1", "2"])
    check_same_columns(frame, ["x0", "x1", "x2"])
    check_same_columns(frame.set_axis(list("abc"), axis=1), ["x0", "x1", "x2"])
    check_same_columns(np.zeros((1, 3)), ["a", "b", "c"])
    for columns, names in (([2, 1, 0], ["0", "1", "2"]), ([2, 1, 0], ["x0", "x1", "x2"]), ([5, 6, 7], ["5", "7", "6"]),
                           ([0, 1], ["0", "1", "2"])):  # fmt: skip
        with pytest.raises(InvalidRecords, match=r"^the columns of X are not those that the model was fitted on"):
            check_same_columns(frame[columns] if max(columns) < 3 else frame.set_axis(columns, axis=1), names)
