"""The plans that are kept for other projects: a sample is accounted for again, and what is told of others follows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.regression_plans import drawn, plan_of
from refdp.accounting import account

ROWS = json.loads(Path(__file__).with_name("regression_plans.json").read_text(encoding="utf-8"))

WIDE = ROWS[389]
"""A release of large loss and a rate of 3e-5 beside thousands of others: 6 % wide."""


def test_unsound_answers_are_among_them() -> None:
    """What others can be tested with: answers below a lower end, from a part in 10^9 to a part in 10^3."""
    below = [row["answers"][name] / row["lower"] - 1 for row in ROWS for name in row["too small"]]
    assert len(below) >= 5
    assert min(below) < -1e-3


@pytest.mark.parametrize("index", range(0, len(ROWS), max(1, len(ROWS) // 12)))
def test_a_sample_again(index: int) -> None:
    row = ROWS[index]
    bound = account(plan_of(row), delta=row["delta"])
    assert bound.lower <= row["upper"]
    assert bound.upper >= row["lower"]
    assert bound.upper <= row["upper"] * (1 + 1e-6)
    assert bound.lower >= row["lower"] * (1 - 1e-6)
    if row["lower"] == 0:
        return
    fewer = {**row, "parts": [{**part, "noise": 1.01 * part["noise"]} for part in row["parts"]]}
    assert account(plan_of(fewer), delta=row["delta"]).upper < row["lower"]  # the mutant: a hundredth more noise


def test_the_file_says_what_it_says() -> None:
    """Plans as drawn, ends in order and close, and exactly those accountants too small that are below the lower end."""
    for row, fresh in zip(ROWS, drawn(len(ROWS)), strict=True):
        assert (row["parts"], row["delta"]) == (fresh["parts"], fresh["delta"])
        assert 0 <= row["lower"] <= row["upper"] <= row["lower"] * (1 + 1e-3) or row == WIDE
        small = {name for name, found in row["answers"].items() if isinstance(found, float) and found < row["lower"]}
        assert set(row["too small"]) == small
