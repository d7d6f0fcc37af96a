"""Scores of one run that cannot show a violation, and places of a list that know the coins."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.audit.onerun import guessed, guesses_of
from refdp.audit.onerun_rows import blind, blind_alone, check_coins, coverage
from refdp.errors import InvalidParameter

COINS = np.random.default_rng(0).random(200) < 0.5
NOISE = np.random.default_rng(1).normal(size=200)


def composition(*arguments: Any) -> tuple[str, str]:
    row = next(row for row in coverage(*arguments) if row.decides)
    return str(row.verdict), row.reason


def test_a_list_that_is_sorted_by_its_coins_is_not_accused() -> None:
    """Equal scores say nothing, wherever they stand; ties were broken by place."""
    sorted_coins = np.sort(COINS)
    for scores in (np.zeros(200), np.arange(200) % 2.0):
        right, guesses = guessed(sorted_coins, scores, 0.5)
        assert guesses == 100 and 30 <= right <= 70
    assert np.array_equal(guesses_of(np.zeros(200), 0.5), guesses_of(np.ones(200), 0.5))


def test_no_guess_is_no_look() -> None:
    with pytest.raises(InvalidParameter, match="guesses none"):
        guessed(COINS, NOISE, 0.009)
    assert guessed(COINS, NOISE, 0.01)[1] == 2


def test_coins_that_are_not_fair_are_refused() -> None:
    for coins in (np.ones(31, bool), np.zeros(31, bool), np.arange(200) < 150):
        with pytest.raises(InvalidParameter, match="fair coins"):
            check_coins(coins)
    for coins in (np.ones(30, bool), COINS, np.arange(200) < 140):
        check_coins(coins)


def test_a_claim_above_every_possible_bound_was_not_examined() -> None:
    assert composition(0.0, 1.0, 0.95, 6, 1.0)[0] == "NOT EXAMINED"
    assert composition(0.0, 1.0, 0.95, 6, 1.01)[0] == "NOT FOUND"
    assert composition(0.0, None, 0.95, 6, 0.5)[0] == composition(0.0, 1.0, 0.95, 6, None)[0] == "NOT FOUND"
    assert composition(1.1, 1.0, 0.95, 6, 2.0, "why")[0] == "VIOLATION"
    verdict, reason = composition(0.0, 1.0, 0.95, 6, 2.0, "all are equal")
    assert verdict == "NOT EXAMINED" and "all are equal" in reason


def test_scores_that_say_nothing_or_the_opposite() -> None:
    assert "equal" in blind(np.zeros(200), 50, 100)
    assert "higher score" in blind(NOISE, 5, 100) and not blind(NOISE, 25, 100)
    assert not blind_alone(COINS, NOISE) and not blind_alone(COINS, NOISE + COINS)
    assert "higher score" in blind_alone(COINS, NOISE - 2 * COINS)
    assert "without noise" in blind_alone(COINS, COINS * 1.0) and "without noise" in blind_alone(COINS, NOISE * 0)
    assert "fewer than two" in blind_alone(np.arange(200) < 1, NOISE)


@pytest.mark.parametrize(("assume", "scores", "status"), [
    ("nothing", COINS * 1.0, 1), ("nothing", COINS * -1.0, 3), ("nothing", NOISE * 0, 3), ("nothing", NOISE, 0),
    ("isolated", COINS * 1.0, 3), ("isolated", NOISE, 0), ("gaussian", NOISE * 0, 3), ("gaussian", COINS * -1.0, 3),
])  # fmt: skip
def test_the_command_says_so(
    assume: str, scores: Any, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    from refdp.faces import cli

    file = tmp_path / "scores.json"
    file.write_text(json.dumps({"included": COINS.tolist(), "scores": scores.tolist()}))
    run: Callable[[list[str]], int] = cli.run
    assert run(["audit", "one-run", str(file), "--epsilon", "1", "--assume", assume]) == status
    assert ("NOT EXAMINED: " in capsys.readouterr().out) is (status == 3)
