"""Numbers are compared by keys, labels and names of their rows, where these vary from run to run."""

import datetime
import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refdp.audit import InputPair, epsilon_lower_bound
from refdp.audit.alignment import Row, aligned
from refdp.audit.outputs import parts_of, whole_row, with_score
from refdp.audit.row_names import key_name
from refdp.audit.structural_state import read

Counts = dict[int, float]
TOWN = enum.StrEnum("TOWN", {f"t{key}": f"t{key}" for key in range(40)})


def counts(side: int, run: int) -> Counts:
    """Noisy counts of twelve keys of forty, and one that tells the side."""
    chance = np.random.default_rng([side, run])
    drawn: Counts = {int(key): float(chance.laplace(9, 1)) for key in chance.choice(40, 12, replace=False)}
    return dict(sorted((drawn | {25: 5.0 - side}).items()))


def by(key: Callable[[int], Any]) -> Callable[[Counts], Any]:
    return lambda drawn: {key(one): value for one, value in drawn.items()}


def texts(drawn: Counts) -> list[str]:
    return [f"t{key}" for key in drawn]


FORMS: dict[str, Callable[[Counts], Any]] = {
    "whole numbers": by(int),
    "numpy's whole numbers": by(np.int64),
    "numpy's texts": by(lambda key: np.str_(f"t{key}")),
    "members": by(lambda key: TOWN(f"t{key}")),
    "dates": by(lambda key: datetime.date(2020, 1, 1) + datetime.timedelta(key)),
    "time stamps": by(lambda key: pd.Timestamp(2020, 1, 1) + pd.Timedelta(days=key)),
    "sets": by(lambda key: frozenset([f"t{key}", "b"])),
    "tuples": by(lambda key: (np.str_("a"), np.int64(key))),
    "a column of pandas, texts": lambda drawn: pd.Series(list(drawn.values()), index=texts(drawn)),
    "a column of pandas, numbers": pd.Series,
    "a column of pandas, of its own type": lambda drawn: pd.Series(drawn, dtype="Float64"),
    "a table of pandas": lambda drawn: pd.DataFrame({"n": drawn, "m": 0.0}),
    "a table of pandas with two labels a row": lambda drawn: pd.DataFrame(
        {"n": list(drawn.values())}, index=pd.MultiIndex.from_product([["a"], drawn])
    ),
    "columns of a table": lambda drawn: pd.DataFrame([drawn]),
    "a table with a column of texts": lambda drawn: pd.DataFrame({"k": texts(drawn), "n": drawn.values()}),
    "fields": lambda drawn: np.array([*zip(texts(drawn), drawn.values())], dtype=[("k", "U9"), ("n", "f8")]),
    "pairs, numbers": lambda drawn: list(drawn.items()),
    "pairs, texts": lambda drawn: list(zip(texts(drawn), drawn.values())),
    "three a row": lambda drawn: [("north", text, value) for text, value in zip(texts(drawn), drawn.values())],
    "mappings": lambda drawn: [{"k": f"t{key}", "n": value} for key, value in drawn.items()],
    "two lists": lambda drawn: {"k": texts(drawn), "n": list(drawn.values())},
    "two arrays": lambda drawn: (np.array([*drawn]), np.array([*drawn.values()])),
    "two arrays in a mapping": lambda drawn: {"a": (np.array([*drawn]), np.array([*drawn.values()]))},
    "a matrix": lambda drawn: np.array([*drawn.items()]),
    "a matrix in a mapping": lambda drawn: {"a": np.array([*drawn.items()])},
    "lines": lambda drawn: "\n".join(f"{key},{value}" for key, value in drawn.items()),
    "lines of three": lambda drawn: "\n".join(f"{key},{value:.3f},0.5" for key, value in drawn.items()),
    "one line": lambda drawn: " ".join(f"{key}: {value:.3f}" for key, value in drawn.items()),
    "rows of texts": lambda drawn: [[f"t{key}", f"{value:.3f}"] for key, value in drawn.items()],
}


def rows(form: Callable[[Counts], Any], scored: bool) -> tuple[list[Row], list[Row]]:
    def row(side: int, run: int) -> Row:
        whole = whole_row(form(counts(side, run)))
        return (*parts_of(with_score(whole, [1.5]) if scored else whole)[:2], False)

    first, second = ([row(side, run) for run in range(60)] for side in (0, 1))
    return first, second


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scored", [False, True])
def test_the_number_of_one_key_is_a_column_whatever_holds_it(form: str, scored: bool) -> None:
    first, second = aligned(*rows(FORMS[form], scored), early=30)
    same = (first == 5.0).all(axis=0) & (second == 4.0).all(axis=0)
    assert same.any()


def test_a_count_without_noise_worth_the_name_in_a_table_with_some_left_out_is_refuted() -> None:
    def published(records: Any, seed: int) -> Any:
        chance = np.random.default_rng(seed)
        noisy = pd.Series(chance.laplace(6, 1, 60), index=[f"town {one}" for one in range(60)])
        noisy["town 30"] = 8.0 + len(records) + chance.laplace(0, 1 / 40)
        return noisy[noisy > 5]

    assert epsilon_lower_bound(published, InputPair([[1.0]], []), claimed=1.0, samples=300, confidence=0.999).refuted


def test_rows_that_are_places_and_matrices_of_noise_have_no_names() -> None:
    nothing = (np.ones((3, 2)), np.full((2, 3), 0.5), [(0, 0.5), (1, 0.7)], [0.5, 0.7], [[1.5, 2], [2.5, 3]])
    for output in nothing:
        assert not (parts_of(whole_row(output))[1][3::4] < 0).any()
    for thing in (pd.Series([1.0, 2.0]), [["a", "b"], ["c", "d"]], [(True, 0.5), (False, 0.5)], [[], [1.0]]):
        assert not read(thing).named


def test_keys_that_have_an_address_or_cannot_be_told_have_no_name() -> None:
    class Untold:
        def __repr__(self) -> str:
            raise ValueError

    assert key_name(object()) == key_name(Untold()) == key_name(10**100) == ""
    assert read({Untold(): 1.0}).named == {}
    assert key_name({"b", "a"}) == "{'a', 'b'}" and key_name(np.datetime64("2020-01-01")) == "2020-01-01"
