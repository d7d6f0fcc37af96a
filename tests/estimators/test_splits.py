"""Splits by record: one that is added, removed or of another type moves no other from part to part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score

import refdp
from refdp import KFoldByRecord, train_test_split_by_record
from refdp.errors import InvalidParameter, InvalidRecords

KEY = b"a key of the tests"


def made(rows: int = 300) -> tuple[Any, Any]:
    """Distinct records; the first column is their name."""
    g = np.random.default_rng(5)
    return np.column_stack([np.arange(rows), g.normal(size=(rows, 2))]), (g.random(rows) < 0.4).astype(int)


def moved(cv: Any, x: Any, y: Any, gone: int) -> int:
    """How many others are in one training set of a fold and not in the other, one record removed."""
    kept = np.delete(np.arange(len(y)), gone)
    sets = zip(cv.split(x, y), cv.split(x[kept], y[kept]), strict=True)
    return sum(len((set(a) ^ set(kept[b])) - {gone}) for (a, _), (b, _) in sets)


def test_a_record_that_is_removed_moves_no_other() -> None:
    x, y = made()
    assert [moved(KFoldByRecord(5), x, y, gone) for gone in (0, 3, 299)] == [0, 0, 0]
    usual = KFold(5), KFold(5, shuffle=True, random_state=0), StratifiedKFold(5)
    assert [moved(cv, x, y, 3) > least for cv, least in zip(usual, (4, 300, 4), strict=True)] == [True] * 3
    kept = np.delete(np.arange(300), 3)
    a, b = (train_test_split_by_record(x[rows], y[rows], key=KEY) for rows in (np.arange(300), kept))
    for part in (0, 1):
        assert set(a[part][:, 0]) ^ set(b[part][:, 0]) <= {3.0}
    assert {3.0} in [set(a[part][:, 0]) ^ set(b[part][:, 0]) for part in (0, 1)]


@pytest.mark.parametrize(
    "other",
    [lambda n: "none", lambda n: np.nan, lambda n: None, lambda n: pd.NA, lambda n: 0.5, lambda n: 10**30],
    ids=["text", "nan", "none", "na", "half", "large"],
)
def test_a_records_fold_is_its_own_whatever_type_another_gives_its_column(other: Callable[[int], Any]) -> None:
    """pandas makes a column of whole numbers one of floats, objects or texts because of one value."""
    numbers = list(range(40))
    plain = pd.DataFrame({"a": numbers, "b": [f"k{n % 7}" for n in numbers]})
    y = pd.Series([n % 2 for n in numbers])
    before = folds(plain, y)
    mixed = pd.DataFrame({"a": [*numbers, other(40)], "b": [*plain.b, "k1"]})
    assert folds(mixed, pd.Series([*y, 1]))[:40] == before
    texts = pd.DataFrame({"a": [f"{n}.0" for n in numbers], "b": plain.b})
    assert folds(texts, y.astype(float)) == before
    assert folds(plain.to_numpy(dtype=object), list(y)) == folds(plain.to_numpy().tolist(), y.to_numpy()) == before


@pytest.mark.parametrize(
    ("plain", "mixed"),
    [([True, False] * 20, "maybe"), (["00001", "2.0"] * 20, "x7"), ([np.nan, 0.5] * 20, "x")],
    ids=["truth", "leading zeros", "missing"],
)
def test_a_records_fold_is_its_own_also_where_readers_give_other_types(plain: list[Any], mixed: str) -> None:
    """As pandas reads a file with one text more: numbers and truth values become texts."""
    as_read = pd.DataFrame({"a": pd.to_numeric(pd.Series(plain)), "b": range(40)})
    as_texts = pd.DataFrame({"a": [*map(str, plain), mixed], "b": [*range(40), 41]})
    y = np.zeros(40)
    assert folds(as_texts, np.zeros(41))[:40] == folds(as_read, y)
    if not isinstance(plain[0], bool | float):
        names = folds(as_texts.b, np.zeros(41), groups=as_texts.a)[:40]
        assert names == folds(as_read.b, y, groups=as_read.a.astype(int))


DAYS = pd.to_datetime(["2020-01-01"])
REFUSED: dict[str, Any] = {
    "dates": pd.DataFrame({"a": DAYS}),
    "dates of a zone": pd.DataFrame({"a": DAYS.tz_localize("UTC")}),
    "months": pd.DataFrame({"a": DAYS.to_period("M")}),
    "an array of dates": np.zeros((1, 1), dtype="M8[ns]"),
    "an array of spans": np.zeros((1, 1), dtype="m8[ns]"),
    "rows of dates": [np.zeros(1, dtype="M8[ns]")],
    "none that is there": pd.DataFrame({"a": pd.to_datetime([None])}),
    "complex": np.ones((1, 1), dtype=complex),
    "complex and sparse": csr_array(np.ones((1, 1), dtype=complex)),
    "fields": np.zeros(1, dtype=[("a", float)]),
    "no columns": pd.DataFrame(index=[0]),
    "no columns in a row": [[]],
    "three dimensions": np.zeros((1, 2, 2)),
}


@pytest.mark.parametrize("table", REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_split(table: Any) -> None:
    with pytest.raises(InvalidRecords, match=r"^a split: "):
        folds(table, np.zeros(1))


@pytest.mark.parametrize("odd", [[0.5], [0.5, 0.5, 0.5], [], None, "ab", np.zeros((2, 2))], ids=repr)
def test_a_row_of_another_length_moves_no_other_but_is_refused(odd: Any) -> None:
    """numpy would make one cell of each row, and a hash of its text."""
    rows = [[0.25 * n, float(n)] for n in range(30)]
    for table in ([*rows, odd], [odd, *rows], [*map(np.array, rows), odd]):
        with pytest.raises(InvalidRecords, match="as many columns in each or one value a row"):
            folds(table, np.zeros(31))
    with pytest.raises(InvalidRecords, match="as many columns in each or one value a row"):
        folds(rows, [*range(29), [1]])


def test_what_is_under_a_mask_is_in_no_part() -> None:
    x, y = made(40)
    mask = x > 0.5
    first, second = (np.ma.masked_array(np.where(mask, junk, x), mask=mask) for junk in (7.0, 8.0))
    missing = np.where(mask, np.nan, x)
    assert folds(first, y) == folds(second, y) == folds(missing, y) == folds(list(first), y)
    assert folds(x, np.ma.masked_array(y, mask=y == 1)) == folds(x, np.where(y == 1, np.nan, y))


@pytest.mark.parametrize("extra", ["x", np.float64(0.3), 0.1], ids=["text", "double", "number"])
def test_numbers_of_float32_are_those_of_their_texts(extra: Any) -> None:
    """Beside them the same column has another type."""
    x = np.random.default_rng(1).random(40).astype(np.float32)
    plain = folds(pd.DataFrame({"a": x}), None)
    assert folds(pd.DataFrame({"a": [*x, extra]}), None)[:40] == plain
    assert folds(np.append(x, extra), None)[:40] == folds(x.astype(str), None) == plain


class Frame:
    """A data frame without positions, as polars has it."""

    def __init__(self, table: pd.DataFrame) -> None:
        self._table = table
        self.columns, self.dtypes, self.shape = list(table.columns), list(table.dtypes), table.shape

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, name: str) -> Any:
        return self._table[name].to_numpy()


def test_frames_without_positions() -> None:
    frame = pd.DataFrame({"a": np.arange(30) / 7, "b": ["u", "v"] * 15})
    y = pd.DataFrame({"y": [0, 1] * 15})
    assert folds(Frame(frame), Frame(y)) == folds(frame, y)
    assert folds(frame, y, groups=Frame(y)) == folds(frame, y, groups=y.y)
    query = type("LazyFrame", (), {"collect": lambda _: frame})()
    with pytest.raises(InvalidRecords, match=r"a LazyFrame holds no records yet; give what its collect\(\) returns"):
        folds(query, y)


def folds(x: Any, y: Any, groups: Any = None, key: bytes = KEY) -> list[int]:
    found = {int(row): number for number, (_, held) in enumerate(KFoldByRecord(4, key=key).split(x, y, groups))
             for row in held}  # fmt: skip
    return [found[row] for row in sorted(found)]


def test_every_record_is_held_out_once_and_shares_are_about_even() -> None:
    x, y = made(4000)
    parts = list(KFoldByRecord(4).split(x, y))
    assert len(parts) == 4 == KFoldByRecord(4).get_n_splits(x, y)
    assert sorted(row for _, held in parts for row in held) == list(range(4000))
    for train, held in parts:
        assert len(train) + len(held) == 4000 and not set(train) & set(held)
        assert 800 < len(held) < 1200  # seven deviations of a binomial law
    train, test, labels, rest = train_test_split_by_record(x, y, test_size=0.2)
    assert len(train) == len(labels) and len(test) == len(rest) and 620 < len(test) < 980
    np.testing.assert_array_equal(labels, y[train[:, 0].astype(int)])


def test_equal_records_stay_together_and_labels_are_part_of_a_record() -> None:
    x, y = made(50)
    assert folds(np.vstack([x, x]), np.concatenate([y, y])) == folds(x, y) * 2
    assert folds(x, y) != folds(x, 1 - y) and folds(x, None) != folds(x, y)
    assert folds(-0.0 * x, y) == folds(0.0 * x, y)


def test_a_key_decides_and_nothing_shows_it() -> None:
    x, y = made(60)
    one = KFoldByRecord(3)
    again = [[held.tolist() for _, held in one.split(x, y)] for _ in range(2)]
    assert again[0] == again[1] != [held.tolist() for _, held in KFoldByRecord(3).split(x, y)]
    assert folds(x, y) != folds(x, y, key=b"another") and repr(one) == "KFoldByRecord(n_splits=3)"
    for key in ("text", b"", 3):
        with pytest.raises(InvalidParameter, match="key: bytes"):
            KFoldByRecord(3, key=key)  # type: ignore[arg-type]
    for share in (0, 1, 1.5, "a"):
        with pytest.raises(InvalidParameter, match="test_size"):
            train_test_split_by_record(x, y, test_size=share)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="n_splits"):
        KFoldByRecord(1)
    with pytest.raises(InvalidParameter, match="at least one table"):
        train_test_split_by_record()


def test_what_is_held_out_says_nothing_about_folds_of_the_rest() -> None:
    """With one key too, else a fold would be empty."""
    x, y = made(1000)
    train, _, labels, _ = train_test_split_by_record(x, y, key=KEY)
    sizes = [len(held) for _, held in KFoldByRecord(4, key=KEY).split(train, labels)]
    assert min(sizes) > 120 and max(sizes) < 260


def test_people_stay_together() -> None:
    x, y = made(60)
    groups = [n % 9 for n in range(60)]
    found = folds(x, y, groups)
    assert all(found[n] == found[n % 9] for n in range(60)) and len(set(found)) > 1
    assert folds(x, y, [str(one) for one in groups]) == folds(x, y, np.array(groups, dtype=float)) == found
    _, test, _, held = train_test_split_by_record(x, groups, test_size=0.5, key=KEY, groups=groups)
    assert 0 < len(test) < 60 and set(held) == {one for one in groups if one in held}
    column = pd.DataFrame({"person": groups})
    assert folds(x, y, column) == folds(x, y, column.to_numpy()) == found
    for wrong in ([1, 2], [None] * 60, column.assign(b=1), pd.DataFrame({"a": [1], "b": [2]}), dict.fromkeys(range(60)),
                  set(range(60)), np.ma.masked_array(groups, mask=np.arange(60) == 3)):  # fmt: skip
        with pytest.raises(InvalidRecords):
            folds(x, y, wrong)


def test_sparse_records() -> None:
    x, y = made(80)
    x[x < 0.5] = 0
    matrix = csr_array(x)
    found = folds(matrix, y)
    kept = np.delete(np.arange(80), 7)
    assert [found[row] for row in kept] == folds(matrix[kept], y[kept]) and len(set(found)) == 4
    stored = matrix.copy()
    stored.data[0] = 0.0
    dropped = stored.copy()
    dropped.eliminate_zeros()
    assert folds(stored, y) == folds(dropped, y)
    train, test, _, _ = train_test_split_by_record(matrix, y)
    assert train.shape[0] + test.shape[0] == 80


@pytest.mark.filterwarnings("ignore::refdp.errors.UtilityWarning")
def test_scikit_learn_takes_it_for_a_cross_validator() -> None:
    """As docs/choosing.md prints it, and in a search."""
    x, y = made(120)
    public = {"relation": "add-remove", "bounds": {0: (0, 120), 1: (-3, 3), 2: (-3, 3)}, "classes": [0, 1], "trees": 1}
    model = refdp.DPBoostClassifier(epsilon=4.0, **public)
    page = (Path(__file__).parents[2] / "docs/choosing.md").read_text(encoding="utf-8")
    names = {"refdp": refdp, "cross_val_score": cross_val_score, "X": x, "y": y, "model": model}
    exec(page.partition("```python\n")[2].partition("```")[0], names)
    assert names["scores"].shape == (5,) and np.isfinite(names["scores"]).all()
    search = GridSearchCV(model, {"depth": [1, 2]}, cv=KFoldByRecord(3), refit=False)
    assert len(search.fit(x, y, groups=np.arange(120)).cv_results_["params"]) == 2


def test_groups_are_routed_as_to_scikit_learns_splits_by_group() -> None:
    x, y = made(60)
    groups = np.arange(60) // 3
    seen: list[list[int]] = []

    class Watched(DummyClassifier):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            seen.append(X[:, 0].astype(int).tolist())
            return super().fit(X, y)

    with sklearn.config_context(enable_metadata_routing=True):
        cross_val_score(Watched(), x, y, cv=KFoldByRecord(3), params={"groups": groups})
    for train in seen:
        assert {row // 3 for row in train}.isdisjoint({row // 3 for row in set(range(60)) - set(train)})
