"""A function that answers always the same shows nothing, and the bound says so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.audit import epsilon_lower_bound

PAIR = (np.zeros((3, 1)), np.zeros((2, 1)))
OTHER = (np.zeros((9, 1)), np.zeros((8, 1)))


def _first_only(records: Any, seed: int) -> float:
    return float(seed % 97 == 0 and len(records) == 3)


@pytest.mark.parametrize(
    ("function", "still"),
    [
        pytest.param(lambda records, seed: 1.0, True, id="one number"),
        pytest.param(lambda records, seed: math.nan, True, id="no number"),
        pytest.param(lambda records, seed: [1.0, 2.0], True, id="two numbers"),
        pytest.param(lambda records, seed: float(len(records) > 5), True, id="one number a pair"),
        pytest.param(lambda records, seed: float(seed % 2), False, id="noise"),
        pytest.param(lambda records, seed: float(len(records) % 2), False, id="the two sides differ"),
        pytest.param(_first_only, False, id="seldom another"),
        pytest.param(lambda records, seed: [1.0, float(seed % 2)], False, id="noise in the second number"),
        pytest.param(lambda records, seed: math.nan if seed % 2 else 1.0, False, id="sometimes no number"),
    ],
)
def test_whether_all_runs_of_each_pair_gave_one_output(function: Any, still: bool) -> None:
    found = epsilon_lower_bound(function, [PAIR, OTHER], claimed=8.0, samples=400)
    assert found.still is still
    assert found.to_dict()["still"] is still
