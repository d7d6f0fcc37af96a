"""Names of people and owners: which are one, which are two, and which are refused, at the borders of floats."""

from __future__ import annotations

import uuid
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refdp.errors import InvalidRecords
from refdp.io.identities import canonical


def test_one_person_whatever_the_type() -> None:
    one = uuid.UUID(int=7)
    given = [1, 1.0, np.int8(1), np.float32(1), "1", " 1\t", -0.0, 0, -3.0, "01", "1.0", "A", "a", one, np.str_("b ")]
    due = ["1", "1", "1", "1", "1", "1", "0", "0", "-3", "01", "1.0", "A", "a", str(one), "b"]
    assert canonical(given, "ids") == due
    assert canonical(np.array([2.0, 3.0]), "ids") == canonical((2, 3), "ids") == ["2", "3"]
    assert canonical([], "ids") == []


def test_floats_are_names_as_long_as_no_two_whole_numbers_are_one() -> None:
    """2^53 and 2^53 + 1 are one float; 2^53 - 1 is none but itself. Whole numbers have no end."""
    for sign in (1, -1):
        assert canonical([sign * (2.0**53 - 1)], "ids") == [str(sign * (2**53 - 1))]
        assert canonical([sign * (2**53 + 1), sign * 10**30], "ids") == [str(sign * (2**53 + 1)), str(sign * 10**30)]
        for far in (2.0**53, 2.0**53 + 2, 1e300, float("inf")):
            with pytest.raises(InvalidRecords, match="ids: a name is missing"):
                canonical([sign * far], "ids")


NOBODY = (None, "", "  ", True, np.bool_(False), 0.5, np.nan, b"a", Decimal(1), Fraction(1), (1,), [1], {}, object())


@pytest.mark.parametrize("value", NOBODY, ids=lambda value: type(value).__name__)
def test_what_names_nobody_is_refused_and_not_quoted(value: Any) -> None:
    with pytest.raises(
        InvalidRecords, match=r"^owners: a name is missing, empty, or of a kind whose text does not tell"
    ):
        canonical(["secret", value], "owners")


COLUMN = pd.DataFrame({"a": [2, 3]})


@pytest.mark.parametrize("names", [COLUMN, COLUMN.to_numpy(), COLUMN.a.astype("category"), np.ma.array([2, 3])])
def test_a_table_of_one_column_lists_the_names_in_it(names: Any) -> None:
    """Not the name of the column."""
    assert canonical(names, "groups") == ["2", "3"]


def test_columns_of_arrow() -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"a": [2, 2**60 + 1]})
    for names in (table, table["a"], table["a"].combine_chunks()):
        assert canonical(names, "groups") == ["2", str(2**60 + 1)]
    with pytest.raises(InvalidRecords, match="a name is missing"):
        canonical(arrow.array([1, None]), "groups")


@pytest.mark.parametrize("kind", [int, float, str, object])
def test_a_masked_name_is_missing(kind: Any) -> None:
    with pytest.raises(InvalidRecords, match="groups: a name is missing"):
        canonical(np.ma.masked_array(np.array([2, 3]).astype(kind), mask=[False, True]), "groups")


def test_two_columns_are_no_list() -> None:
    with pytest.raises(InvalidRecords, match=r"^groups: a table of one column is needed, or a list of names$"):
        canonical(COLUMN.assign(b=1), "groups")


@pytest.mark.parametrize("names", ["abc", b"abc", None, 5, 1.5, {1: 2}, {1, 2}, np.ones((2, 2)), np.array(1)], ids=repr)
def test_a_list_is_needed(names: Any) -> None:
    with pytest.raises(InvalidRecords, match=r"^ids: a list of names is needed$"):
        canonical(names, "ids")
