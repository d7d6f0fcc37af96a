"""Fixtures of the tests of the prove reading."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def on_grid(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Unknowns that nobody describes are on the grid, as the sums of a reading are."""
    magnitudes = pytest.importorskip("refdp.prove.magnitudes", reason="the extra proofs is not installed")
    monkeypatch.setattr(magnitudes, "UNKNOWN", magnitudes.PLAIN)
