"""What replays of foreign code are evidence of: dice that belong to a choice, sums that no outputs attain, no noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from refdp.audit.opened_door import noise
from refdp.audit.opened_replay import NothingOpened, audit_opened
from refdp.audit.verdicts import Verdict

PAIR = (np.ones(10), np.ones(11))
CLIPPED = (np.array([0.5]), np.array([0.5, 0.5]))
"""Numbers of records between 1 and 2 are counted as they are."""


def _interval(sizes: Any, generator: Any) -> int:
    return int(generator.random_sample() > sizes[0])


interval = noise("intervals", value=0.0, scale=1.0, epsilon=1.0, generator="generator")(_interval)


@noise("laplace", scale="scale", sensitivity=1.0)
def laplace(value: Any, scale: float) -> Any:
    """Global generator."""
    return value + np.random.laplace(0.0, scale)  # noqa: NPY002


def midpoint(rows: Any) -> float:
    """Uniform on [0, 1] whatever the records are: an interval with probability by length, then a point in it."""
    generator = np.random.RandomState(3)
    ends = np.array([0.0, 0.1 if len(rows) % 2 else 0.9, 1.0])
    place = interval(np.diff(ends), generator)
    return float(ends[place] + generator.random_sample() * (ends[place + 1] - ends[place]))


def clipped_at_midpoint(rows: Any) -> float:
    """What follows from the point moves with it."""
    return float(laplace(np.clip(rows, 0, midpoint(rows)).sum(), 5.0))


def beside_the_sum(rows: Any) -> tuple[float, float]:
    """The exact sum beside it hangs on no dice."""
    return midpoint(rows), float(rows.sum())


@pytest.mark.parametrize("honest", [midpoint, clipped_at_midpoint])
def test_a_point_from_a_chosen_interval_accuses_nobody(honest: Callable[..., Any]) -> None:
    report = audit_opened(honest, [PAIR], epsilon=2.0)
    assert report.violations == () and report.verdict is Verdict.NOT_EXAMINED
    assert any("draws of functions that were not opened" in row.reason for row in report.coverage)


def test_a_choice_whose_value_does_not_show_is_counted_at_its_declared_cost() -> None:
    """Its interval lengths differ, what it is said to release does not."""
    composition = [row for row in audit_opened(midpoint, [PAIR], epsilon=0.5).coverage if row.what == "composition"]
    assert composition[0].verdict is Verdict.NOT_EXAMINED and "add up to 1" in composition[0].reason


def test_what_hangs_on_no_dice_is_accused_beside_them() -> None:
    report = audit_opened(beside_the_sum, [PAIR], epsilon=2.0)
    assert [(one.kind, one.release) for one in report.violations] == [("result", "[1]")]


def test_noise_that_was_not_opened_is_no_leak() -> None:
    with pytest.raises(NothingOpened):
        audit_opened(lambda rows: len(rows) + np.random.laplace(), [PAIR], epsilon=1.0)  # noqa: NPY002


def count(rows: Any) -> float:
    return float(min(max(len(rows), 1), 2))


def adaptive(rows: Any) -> list[float]:
    """At most 1 in all: the second count is asked for only where the first told next to nothing."""
    first = laplace(count(rows), 1.0)
    return [first, laplace(count(rows), 1 / 0.9)] if abs(first - 1.5) < 0.05 else [first]


def asks_again(rows: Any) -> list[float]:
    """The second count is asked for where the first told all that it could."""
    first = laplace(count(rows), 1.0)
    return [first, laplace(count(rows), 1 / 0.9)] if first > 2.5 else [first]


def seeded(function: Callable[..., Any], wanted: Callable[[list[float]], bool]) -> int:
    """A seed whose run asks twice."""
    for seed in range(10_000):
        np.random.seed(seed)  # noqa: NPY002
        if wanted(function(CLIPPED[0])):
            return seed
    raise AssertionError


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_losses_that_no_outputs_attain_together_accuse_nobody(delta: float) -> None:
    seed = seeded(adaptive, lambda found: len(found) == 2)
    report = audit_opened(adaptive, [CLIPPED], epsilon=1.0, delta=delta, seed=seed)
    assert report.worst == pytest.approx(1.9) and report.violations == ()
    assert report.verdict is Verdict.NOT_EXAMINED


def test_losses_that_outputs_attain_are_accused_at_what_they_attain() -> None:
    report = audit_opened(asks_again, [CLIPPED], epsilon=1.0, seed=seeded(asks_again, lambda found: len(found) == 1))
    seed = seeded(asks_again, lambda found: len(found) == 2)
    report = audit_opened(asks_again, [CLIPPED], epsilon=1.0, seed=seed)
    (budget,) = report.violations
    assert budget.kind == "budget" and budget.observed == pytest.approx(1.9)


@pytest.mark.parametrize("scale", [0.0, float("nan")])
def test_a_scale_of_none_is_noise_that_is_missing(scale: float) -> None:
    report = audit_opened(lambda rows: laplace(float(len(rows)), scale), [PAIR], epsilon=1.0)
    (missing,) = report.violations
    assert (missing.kind, missing.loss) == ("noise", np.inf) and "no noise" in missing.claim
    assert audit_opened(lambda rows: laplace(7.0, scale), [PAIR], epsilon=1.0).violations == ()
