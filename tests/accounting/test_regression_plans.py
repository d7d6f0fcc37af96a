"""The plans that are kept for other projects: a sample is accounted for again, and what is told of others follows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.regression_plans import below, drawn, plan_of
from refdp.accounting import account

ROWS = json.loads(Path(__file__).with_name("regression_plans.json").read_text(encoding="utf-8"))

WIDE = (389, 441)
"""A release of large loss at a rate of 3e-5 or 1e-5 beside thousands: 6 and 5 % wide."""
SECOND = 452
"""The record that is left out costs more: the tests from below are about this direction."""


def test_unsound_answers_are_among_them() -> None:
    """What others can be tested with: answers below a lower end, from a part in 10^9 to a part in 10^3."""
    short = [row["answers"][name] / row["lower"] - 1 for row in ROWS for name in row["too small"]]
    assert len(short) >= 7
    assert min(short) < -0.04


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


def test_tests_from_below_take_the_dearer_direction() -> None:
    bound = account(plan_of(ROWS[SECOND]), delta=ROWS[SECOND]["delta"])
    assert bound.lower <= bound.upper <= bound.lower * (1 + 1e-6)


def test_the_file_says_what_it_says() -> None:
    """Plans as drawn, ends in order and close, and exactly those accountants too small that are below the lower end."""
    assert len(ROWS) >= 500
    for index, (row, fresh) in enumerate(zip(ROWS, drawn(len(ROWS)), strict=True)):
        assert (row["parts"], row["delta"]) == (fresh["parts"], fresh["delta"])
        assert 0 <= row["lower"] <= row["upper"] <= row["lower"] * (1 + 1e-3) or index in WIDE
        small = {name for name, found in row["answers"].items() if below(found, row["lower"])}
        assert set(row["too small"]) == small
