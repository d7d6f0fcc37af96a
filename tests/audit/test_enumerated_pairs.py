"""What an exhaustive search keeps: the greatest loss of all pairs and sequences, and where it is."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from refdp.audit import exhaustive
from refdp.data.records import Interval, Numeric, Schema
from refdp.privacy.curator import Transcript
from refdp.privacy.events import Relation

SCHEMA = Schema((Numeric("a", 0, 1), Numeric("b", 0, 9)), Interval(-1, 1))
ROWS = (((0.0, 1.0), -1.0), ((0.5, 2.0), 0.0), ((1.0, 9.0), 1.0))
Data = tuple[int, ...]


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_worst_of_all_is_kept_with_its_records_and_outputs(
    monkeypatch: pytest.MonkeyPatch, relation: Relation, most: int
) -> None:
    """Losses here are numbers drawn for every pair and sequence; the greatest is found by brute force."""
    sequences = [[np.array([0]), np.zeros(2)], [np.array([1]), np.zeros(2)]]
    multisets = [
        data for size in range(1, most + 1) for data in itertools.combinations_with_replacement(range(3), size)
    ]
    drawn = np.random.default_rng(most).normal(size=(2, 20, 20))
    asked: list[Any] = []

    def outputs(train: Any, records: Any, of: Relation) -> list[Any]:
        asked.append((train, records.size, of))
        return sequences

    def transcript(train: Any, records: Any, sequence: Any, of: Relation) -> tuple[int, Data]:
        rows = [(tuple(x), y) for x, y in zip(records.x.tolist(), records.y.tolist(), strict=True)]
        assert train == "train" and of is relation
        return int(sequence[0][0]), tuple(ROWS.index(row) for row in rows)

    def loss(first: Any, second: Any) -> float:
        assert first[0] == second[0]
        return float(drawn[first[0], multisets.index(first[1]), multisets.index(second[1])])

    monkeypatch.setattr(exhaustive, "outputs", outputs)
    monkeypatch.setattr(exhaustive, "_transcript", transcript)
    monkeypatch.setattr(exhaustive, "_loss", loss)
    found = exhaustive.worst_loss("train", SCHEMA, ROWS, most, relation)  # type: ignore[arg-type]
    pairs = list(exhaustive._neighbours(multisets, relation, 3, most))
    every = [(drawn[k, multisets.index(a), multisets.index(b)], k, a, b) for k in (0, 1) for a, b in pairs]
    if not every:
        assert (found.loss, found.pairs, found.first, found.second, found.outputs) == (-np.inf, 0, (), (), ())
        return
    greatest, k, first, second = max(every)
    assert (found.loss, found.pairs, found.sequences) == (greatest, len(pairs), 2) and asked == [("train", 1, relation)]
    assert found.first == tuple(ROWS[i] for i in first) and found.second == tuple(ROWS[i] for i in second)
    assert [one.tolist() for one in found.outputs] == [one.tolist() for one in sequences[k]]


def test_a_run_of_listed_outputs_is_its_transcript(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Transcript(Relation.ADD_REMOVE)
    monkeypatch.setattr(exhaustive, "run", lambda train, records, source, relation: (kept, source.outputs))
    assert exhaustive._transcript(None, None, [np.zeros(1)], Relation.ADD_REMOVE) is kept  # type: ignore[arg-type]
    records = exhaustive._records(SCHEMA, ROWS, (2, 0, 2))
    assert records.x.tolist() == [[1, 9], [0, 1], [1, 9]] and records.y.tolist() == [1, -1, 1]
