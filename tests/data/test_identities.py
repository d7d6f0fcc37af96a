"""Names of people and owners: which are one, which are two, and which are refused, at the borders of floats."""

from __future__ import annotations

import uuid
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
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


@pytest.mark.parametrize("names", ["abc", b"abc", None, 5, 1.5])
def test_a_list_is_needed(names: Any) -> None:
    with pytest.raises(InvalidRecords, match=r"^ids: a list of names is needed$"):
        canonical(names, "ids")
