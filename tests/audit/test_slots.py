"""Trainers that rearrange their rows before they ask for secret coins: no replay is aligned, and none accuses."""

from __future__ import annotations

import zlib
from itertools import islice
from typing import Any

import numpy as np
import pytest

from refdp.audit.inputs import inputs
from refdp.audit.isolated import CAN_FORK
from refdp.audit.search import Notes, Search
from refdp.audit.trainer_rows import rows
from refdp.audit.verdicts import Verdict
from refdp.faces import registry
from refdp.noise.mechanisms import Laplace
from refdp.privacy.events import Relation
from tests.audit.cheats.zoo import SCHEMA, declared

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="runs have processes of their own by fork")


def halves(order: Any, twice: bool = False) -> Any:
    """Sums of labels of two secret halves of the rows in an order. twice: the first half is in the second sum, too."""

    def train(records: Any, curator: Any) -> Any:
        labels = np.rint(records.y[order(records)] * 2**20) / 2**20
        found = []
        with curator.partition("halves", (0.5, 0.5), len(labels)) as blocks:
            for number in range(2):
                with blocks.block(number) as rows:
                    exact = np.array([labels.sum() if twice and number else labels[rows].sum()])
                    found.append(curator.release(f"half {number}", Laplace(1.0), exact, sensitivity=declared(1.0)))
        return found

    return train


def by_label(records: Any) -> Any:
    return np.argsort(records.y, kind="stable")


def as_given(records: Any) -> Any:
    return np.arange(len(records.y))


def scattered(records: Any) -> Any:
    """By bytes, as ways of training group their rows."""
    return np.argsort([zlib.crc32(label.tobytes()) for label in records.y], kind="stable")


def looked(train: Any, most: int = 5) -> Notes:
    """Pairs are replayed until one is accused or cannot be aligned."""
    search = Search(train, 1.0, 0.0, Relation.ADD_REMOVE, 0)
    for number, pair in enumerate(islice(inputs(SCHEMA, Relation.ADD_REMOVE, 0), most)):
        search.look(pair, number)
        if search.notes.violations or search.notes.rearranged:
            break
    return search.notes


@pytest.mark.parametrize("order", [by_label, scattered])
def test_rearranged_rows_are_not_examined_and_not_accused(order: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = looked(halves(order), 8)
    assert notes.rearranged == 1 and not notes.violations
    told = [row for row in rows(notes, (), 1.0, 0.0, Relation.ADD_REMOVE) if row.what == "secret randomness"]
    assert any(row.verdict is Verdict.NOT_EXAMINED and row.decides and "rearranged" in row.reason for row in told)
    monkeypatch.setattr("refdp.audit.slots.are_rows", lambda *_: True)
    assert looked(halves(order), 8).violations  # as if they were aligned


def test_rows_in_their_order_are_held_to_their_blocks() -> None:
    honest = looked(halves(as_given), 3)
    assert not honest.violations and not honest.rearranged
    cheat = looked(halves(as_given, twice=True))
    assert not cheat.rearranged and "block" in {violation.kind for violation in cheat.violations}


def test_eight_federated_trees_on_the_same_records_are_no_parallel_blocks() -> None:
    """Each keeps the claim, all together do not, whatever the blocks around them say."""
    paper = registry.paper("fedgbdt")
    given = {"epsilon": 1.0, "delta": 1e-5, "trees": 1, "depth": 1, "relation": Relation.ADD_REMOVE}
    params = paper.params(given, as_published=False)

    def train(records: Any, curator: Any) -> Any:
        found = []
        with curator.partition("eight", (0.125,) * 8, len(records.y)) as blocks:
            for number in range(8):
                with blocks.block(number):
                    found.append(paper.train(params, records, curator))
        return found

    notes = looked(train)
    assert not notes.rearranged and {violation.kind for violation in notes.violations} == {"block"}
