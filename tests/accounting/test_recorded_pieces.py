"""Small pieces of the accountant give what they gave when it was recorded."""

from __future__ import annotations

import json

import numpy as np
import pytest
import recorded

CASES = recorded.cases()
KEPT = json.loads(recorded.FILE.read_text(encoding="utf-8")) if recorded.FILE.exists() else {}
LOOSE = {"transform": (1e-7, 1e-13), "above": (1e-11, 1e-15), "tested": (1e-11, 1e-15), "statistic": (1e-11, 1e-15)}
"""Of cases by the first word of their name, relative and absolute: what transforms and differences may differ by."""


@pytest.mark.parametrize("name", CASES)
def test_a_piece_is_as_it_was_recorded(name: str) -> None:
    """A record, not a truth; to 11 digits, so that libraries and processors may round as they like."""
    with np.errstate(all="ignore"):
        found = list(recorded.flat(CASES[name]()))
    loose = LOOSE.get(name.split()[0], (1e-11, 0.0))
    assert len(found) == len(KEPT[name])
    wrong = [
        (i, f, k) for i, (f, k) in enumerate(zip(found, KEPT[name], strict=True)) if not recorded.same(f, k, *loose)
    ]
    assert not wrong


def test_nothing_is_kept_that_is_not_looked_at() -> None:
    assert set(KEPT) == set(CASES)
