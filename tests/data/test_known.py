"""Statistics are computed in pieces: the same columns, models and releases as at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refdp.data import known
from refdp.data.memory import Memory
from refdp.data.population import Statistics
from tests.engines.test_chaos import chosen, run
from tests.identity.running import records
from tests.identity.settings import PAPERS


@pytest.mark.parametrize("paper", PAPERS)
def test_pieces_change_no_bit(paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Masks, columns that are None, several outputs and accounts among them."""
    for given, params in chosen(paper, 4):
        data = records(given["data"])
        whole = run(paper, given, params, Memory(data), data.schema)
        monkeypatch.setattr(known, "_PIECE", 7)
        assert repr(run(paper, given, params, Memory(data), data.schema)) == repr(whole)
        monkeypatch.undo()


class Halves:
    """Every second record takes part."""

    def label(self, output: int, y: Any) -> Any:
        return y

    def statistics(self, score: Any, label: Any, of: tuple[str, ...]) -> Statistics:
        return Statistics({"g": score - label, "h": None}, label % 2 == 0)


@pytest.mark.parametrize("mutant", [None, "last piece", "mask"])
def test_every_piece_and_the_mask_are_there(mutant: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "_PIECE", 4)
    if mutant == "last piece":
        monkeypatch.setattr(known, "_pieces", lambda rows: (slice(at, at + 4) for at in range(0, rows - 4, 4)))
    rows = np.arange(10.0)
    found = known.statistics(Halves(), rows**2, rows, ("g", "h"))
    if mutant == "mask":
        found = found._replace(used=None)
    score = np.zeros(10)
    known.add_leaves(score, np.array([0.5, -1.0]), (rows % 2).astype(np.uint8))
    expected = Halves().statistics(rows**2, rows, ())
    right = (
        np.array_equal(found.values["g"], rows**2 - rows)
        and found.values["h"] is None
        and np.array_equal(found.used, expected.used)
        and np.array_equal(score, np.where(rows % 2, -1.0, 0.5))
    )
    assert right == (mutant is None)
