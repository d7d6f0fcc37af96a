"""Correct functions that structural checks could take for broken ones, and what those checks say instead."""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
import pytest

from refdp.audit.structural import inspect

Rows = np.ndarray
ROWS = np.column_stack([np.linspace(0.05, 0.95, 40), (np.arange(40) % 3 == 0).astype(float)])
PAIR = (ROWS, ROWS[:-1])
REPLACED = (ROWS, np.vstack([[0.9, 0.0], ROWS[1:]]))


def geometric(generator: np.random.Generator, epsilon: float = 1.0) -> int:
    kept = 1 - np.exp(-epsilon)
    return int(generator.geometric(kept) - generator.geometric(kept))


def local(rows: Rows, generator: np.random.Generator) -> Any:
    """Randomised response by each record for itself: private at log 19 where records are replaced."""
    answers = rows[:, 0] > 0.5
    return np.where(generator.random(len(rows)) < 0.95, answers, ~answers)


def dated(rows: Rows, generator: np.random.Generator) -> Any:
    """A noisy count, and when it was made, to a tenth of a second."""
    time.sleep(0.0003)
    return {"count": len(rows) + geometric(generator), "at": int(time.time() * 10)}


CALLS = itertools.count()


def numbered(rows: Rows, generator: np.random.Generator) -> Any:
    return {"count": len(rows) + geometric(generator), "model number": next(CALLS)}


def scale_by_exponential_mechanism(rows: Rows, generator: np.random.Generator) -> Any:
    """A public grid of scales, and a noisy choice of one, utility -(records above): follows an outlier often enough."""
    grid = np.array([1.0, 1e6, 1e9, 1e12])
    above = np.array([(rows[:, 0] > scale).sum() for scale in grid], dtype=float)
    gap = np.array([(rows[:, 0] > scale / 1e4).sum() for scale in grid]) - above
    return float(grid[np.argmax(gap + generator.gumbel(size=len(grid)))])


def three(rows: Rows, generator: np.random.Generator) -> Any:
    """Three outcomes by the exponential mechanism: the same ones again and again, as it should be."""
    utilities = np.array([len(rows), 39.0, 38.0])
    return int(np.argmax(utilities + generator.gumbel(size=3)))


@pytest.mark.parametrize("function", [dated, numbered, three])
def test_correct_functions_are_not_accused(function: Any) -> None:
    assert [finding.to_dict() for finding in inspect(function, PAIR, seed=1, epsilon=1.0, calls=300)] == []


def test_an_outcome_that_depends_on_the_order_is_no_violation_by_itself() -> None:
    (finding,) = inspect(local, REPLACED, seed=1, epsilon=3.0)
    assert finding.kind == "positional partition" and not finding.violation
    assert "no violation by itself" in finding.meaning


def test_a_private_choice_of_a_range_is_not_accused() -> None:
    """One record alone: at epsilon 2 its scale is chosen with chance .47, and often enough in all of a few runs."""
    alone = np.array([[0.5, 0.0]])
    for seed in range(20):
        found = inspect(scale_by_exponential_mechanism, (alone, alone + 0.1), seed=seed, epsilon=2.0, calls=200)
        assert not [finding.kind for finding in found if finding.violation]


def test_an_exact_number_is_not_also_called_a_repeated_output() -> None:
    """A coarse noisy count repeats by nature; only what is exact beside it gives the side away."""

    def exact(rows: Rows, generator: np.random.Generator) -> Any:
        return {"count": len(rows) + geometric(generator), "n": len(rows)}

    assert [finding.kind for finding in inspect(exact, PAIR, seed=1)] == ["exact statistic"]


def test_ranges_are_certain_or_said_not_to_be() -> None:
    def cuts(rows: Rows, generator: np.random.Generator) -> Any:
        return {"cut": float(rows[:, 0].max() / 2) + geometric(generator)}

    for epsilon, certain in ((1.0, True), (4.0, False)):
        (found,) = [f for f in inspect(cuts, (ROWS, ROWS), seed=1, epsilon=epsilon, calls=3_000) if "range" in f.kind]
        assert found.violation is certain
        assert found.to_dict()["violation"] is certain


@pytest.mark.parametrize(
    "output",
    [
        lambda generator: [float("inf") if generator.random() < 0.5 else -1.0, 1.0],
        lambda generator: [1e308 * generator.normal(), 1e308 * generator.normal()],
        lambda generator: [float("nan"), round(generator.normal(), 3)],
    ],
)
def test_outputs_beyond_all_numbers(output: Any) -> None:
    assert inspect(lambda rows, generator: output(generator), PAIR, seed=1) == []


@pytest.mark.parametrize("pair", [([[1.0], [1.0, 2.0]], [[1.0]]), (np.zeros((0, 2)), np.zeros((1, 2))), (["a"], [])])
def test_records_of_any_kind(pair: Any) -> None:
    def exact(rows: Any, generator: np.random.Generator) -> Any:
        return {"count": len(rows) + geometric(generator), "n": len(rows)}

    assert [finding.kind for finding in inspect(exact, pair, seed=1)] == ["exact statistic"]
