"""`refdp train` holds records out for its metrics: neighbours must stay neighbours on the way."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from refdp.faces.commands.train_run import parts
from refdp.io import datasets
from refdp.io.datasets import Dataset
from refdp.privacy.events import Relation


def trained_on(dataset: Dataset, relation: Relation) -> Counter[bytes]:
    training, _ = parts(dataset, 0.2, relation)
    return Counter(row.tobytes() for row in np.column_stack([training.x, training.y]))


def moved(one: Counter[bytes], other: Counter[bytes]) -> tuple[int, int]:
    return (one - other).total(), (other - one).total()


def test_without_a_record_no_other_record_changes_sides() -> None:
    dataset = datasets.load("diabetes")
    whole = trained_on(dataset, Relation.ADD_REMOVE)
    rows = np.arange(len(dataset.y))
    for gone in range(0, len(rows), 7):
        lost, gained = moved(whole, trained_on(dataset.take(np.delete(rows, gone)), Relation.ADD_REMOVE))
        assert gained == 0
        assert lost <= 1


def test_with_another_record_in_its_place_neither() -> None:
    dataset = datasets.load("diabetes")
    whole = trained_on(dataset, Relation.REPLACE_ONE)
    rows = np.arange(len(dataset.y))
    for place in range(0, len(rows), 7):
        replaced = np.where(rows == place, (place + 1) % len(rows), rows)
        assert moved(whole, trained_on(dataset.take(replaced), Relation.REPLACE_ONE)) in ((0, 0), (1, 1))


def test_the_order_of_all_records_would_move_many() -> None:
    """What the command did under add-remove: one record less, and a third of the others change sides."""
    dataset = datasets.load("diabetes")
    whole = trained_on(dataset, Relation.REPLACE_ONE)
    fewer = trained_on(dataset.take(np.arange(1, len(dataset.y))), Relation.REPLACE_ONE)
    assert min(moved(whole, fewer)) > 0.1 * len(dataset.y)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.7])
def test_parts_have_about_the_sizes_that_were_asked_for(share: float) -> None:
    """Binomial: six standard deviations, exceeded with probability 2e-9 by an independent choice."""
    generator = np.random.default_rng(0)
    small = datasets.load("diabetes")
    x = generator.integers(0, 50, (20_000, small.x.shape[1])).astype(np.float64)
    dataset = small.take(np.zeros(20_000, dtype=np.intp))
    dataset.x[:] = x
    training, held_out = datasets.train_test_by_record(dataset, share)
    assert len(training.y) + len(held_out.y) == 20_000
    assert abs(len(held_out.y) - share * 20_000) < 6 * np.sqrt(20_000 * share * (1 - share))
    assert (held_out.x[:, 0] >= 25).mean() == pytest.approx(0.5, abs=0.12)
    for value in (np.nan, -0.0):
        dataset.x[:, 0] = value
        again = datasets.train_test_by_record(dataset, share)
        dataset.x[:, 0] = -value
        np.testing.assert_array_equal(again[1].x[:, 1:], datasets.train_test_by_record(dataset, share)[1].x[:, 1:])
