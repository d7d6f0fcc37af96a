"""Whole runs are accused of losses that outputs attain: sums of an adaptive program's releases are an upper end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refdp.audit.charge import Item, composed, least
from refdp.audit.replay import Pair
from refdp.audit.search import Search
from refdp.audit.trainer_rows import rows
from refdp.audit.verdicts import Verdict
from refdp.data.records import make_records
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from tests.audit.cheats.zoo import SCHEMA, declared

PAIR = Pair(
    make_records(SCHEMA, np.zeros((1, 2)), np.zeros(1)),
    make_records(SCHEMA, np.array([[0.5, 1.0]]), np.array([0.5])),
    None,
    0,
)


def _counts(records: Any, curator: Curator, near: float, second: float) -> float:
    exact = np.array([float(min(max(len(records.y), 1), 2))])
    first = float(curator.release("first", Laplace(1.0), exact, sensitivity=declared(1.0))[0])
    if abs(first - 1.5) < near:
        curator.release("second", Laplace(1 / second), exact, sensitivity=declared(1.0))
    return first


def adaptive(records: Any, curator: Curator) -> float:
    """At most 1 in all: the second count is asked for only where the first told next to nothing."""
    return _counts(records, curator, 0.3, 0.4)


def always(records: Any, curator: Curator) -> float:
    """1.4 in all."""
    return _counts(records, curator, np.inf, 0.4)


def searched(train: Any, delta: float, numbers: tuple[int, ...]) -> Search:
    search = Search(train, 1.0, delta, Relation.ADD_REMOVE, 0)
    for number in numbers:
        search.look(PAIR, number)
    return search


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_an_adaptive_program_that_keeps_its_claim_is_not_accused(delta: float) -> None:
    search = searched(adaptive, delta, (2, 3))
    assert search.notes.violations == [] and len({len(one.entries) for one in search._transcripts}) == 2
    if delta == 0:
        assert max(search.notes.worst) == pytest.approx(1.4)
        told = [row for row in rows(search.notes, (), 1.0, 0.0, Relation.ADD_REMOVE) if "an upper end" in row.reason]
        assert told and told[0].verdict is Verdict.NOT_EXAMINED
    else:
        assert any("an upper end" in reason for reason in search.notes.undecided)


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_the_same_without_its_condition_is_accused(delta: float) -> None:
    found = searched(always, delta, (0,)).notes.violations
    assert [one.kind for one in found] == ["composition" if delta else "loss"]
    if not delta:
        assert found[0].observed == pytest.approx(1.4)


def test_what_runs_have_in_common_costs_no_more_than_each() -> None:
    wide = {("a", 0): Item(Laplace(1.0), np.zeros(2), np.array([1.0, -0.5])),
            ("b", 0): Item(Gaussian(1.0), np.zeros(1), np.ones(1))}  # fmt: skip
    narrow = {("a", 0): Item(Laplace(1.0), np.zeros(1), np.array([0.75]))}
    (kept,) = least([wide, narrow])
    assert np.sort(kept.other).tolist() == [0.0, 0.75]
    for path in (wide, narrow):
        whole = composed(list(path.values()), Relation.ADD_REMOVE, 0.5, 0.0)
        assert composed([kept], Relation.ADD_REMOVE, 0.5, 0.0).lower <= whole.upper
    assert least([wide, {("a", 0): Item(Laplace(2.0), np.zeros(1), np.ones(1))}]) == []
