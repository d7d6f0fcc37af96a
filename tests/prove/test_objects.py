"""Which functions give numbers, or objects that are made alike for whatever was released, by their syntax."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")

from refdp.privacy.events import Relation
from refdp.prove.objects import NUMBER, form_of, is_number, replaced_fields


@dataclass(frozen=True)
class Own:
    by: Any
    relation: Relation | None = None


@dataclass(frozen=True)
class Other:
    by: Any


PLAIN = Own(1.0, Relation.ADD_REMOVE)


def numbers_alone(coin: Any, own: Own) -> Any:
    if coin > 0.5:
        return np.clip(coin, 0.0, own.by), [coin, 2]
    found = []
    found.append(coin * own.by)
    return tuple(found), max(coin, 1.0)


def made(coin: Any) -> Any:
    one = coin + 1
    return Own(one) if coin > 0.5 else Own(2.0)


def anew(coin: Any, own: Own) -> Any:
    return replace(own, by=coin)


def one_of_two(coin: Any, own: Own, other: Own) -> Any:
    return own if coin > 0.5 else other


def one_anew(coin: Any, own: Own, other: Own) -> Any:
    return replace(own, by=coin) if coin > 0.5 else replace(other, by=coin)


def other_class(coin: Any) -> Any:
    return Own(coin) if coin > 0.5 else Other(coin)


def in_a_field(coin: Any, own: Own, other: Own) -> Any:
    return Other(own if coin > 0.5 else other)


def assigned_anew(coin: Any, own: Own, other: Own) -> Any:
    own = other if coin > 0.5 else own
    return replace(own, by=coin)


def of_an_enumeration(coin: Any, own: Own) -> Any:
    return own.relation if coin > 0.5 else 1.0


def appended(coin: Any) -> Any:
    found: list[Any] = []
    other = found
    other.append(None if coin > 0.5 else 1.0)
    return found[0]


def added(coin: Any) -> Any:
    found = [1.0]
    found += [None] if coin > 0.5 else [2.0]
    return found[-1]


def repeated(coin: Any) -> Any:
    return ([None] * int(coin > 0.5) + [1.0])[0]


def in_an_array(coin: Any) -> Any:
    return np.array([None if coin > 0.5 else 1.0])


def by_another(coin: Any, own: Own, other: Own) -> Any:
    return anew(coin, own) if coin > 0.5 else anew(coin, other)


def test_numbers_and_objects_that_are_made_alike() -> None:
    assert form_of(made, (0.5,)) == ("made", Own)
    assert form_of(anew, (0.5, PLAIN)) == ("replaced", "own", ("by",))
    assert replaced_fields(form_of(anew, (0.5, PLAIN))) == ("by",) and replaced_fields(NUMBER) is None
    assert form_of(numbers_alone, (0.5, PLAIN)) == NUMBER


@pytest.mark.parametrize(
    ("function", "given"),
    [(one_of_two, (PLAIN, PLAIN)), (one_anew, (PLAIN, PLAIN)), (other_class, ()), (in_a_field, (PLAIN, PLAIN)),
     (assigned_anew, (PLAIN, PLAIN)), (of_an_enumeration, (PLAIN,)), (appended, ()), (added, ()), (repeated, ()),
     (in_an_array, ()), (by_another, (PLAIN, PLAIN)), (anew, ())],
)  # fmt: skip
def test_what_can_be_of_several_kinds_has_no_form(function: Any, given: tuple[Any, ...]) -> None:
    assert form_of(function, (0.5, *given)) is None


def test_what_is_made_of_numbers() -> None:
    for fits in (1, True, 2.5, np.float64(1.0), np.arange(3), [1, (2.0, {"a": 3})], range(2)):
        assert is_number(fits) and is_number(fits, deep=True)
    assert is_number([Other(1.0)], deep=True) and not is_number([Other(1.0)])
    for other in (None, "a", Relation.ADD_REMOVE, float, len, np.array([None]), PLAIN, [1.0, None]):
        assert not is_number(other) and not is_number(other, deep=True)
