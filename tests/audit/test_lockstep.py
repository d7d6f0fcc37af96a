"""Two runs side by side choose what a run from the beginning for every release would, and leave nothing behind."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import worst
from refdp.audit.replay import Pair
from refdp.audit.worst import worst_case, worst_transcript
from refdp.data.records import Interval, Numeric, Schema, make_records
from refdp.noise.mechanisms import Exponential, Laplace
from refdp.privacy.events import Relation, Sensitivity

SCHEMA = Schema((Numeric("x", 0.0, 1.0),), Interval(0.0, 1.0))
BASE = make_records(SCHEMA, np.array([[0.2], [0.7], [0.9]]), np.array([0.0, 1.0, 0.25]))
PAIR = Pair(BASE, make_records(SCHEMA, np.array([[0.5]]), np.array([1.0])), None, 1)


RANGE = Sensitivity(1.0, "range", "", Relation.ADD_REMOVE)


def adaptive(records: Any, curator: Any) -> Any:
    """What the second release asks depends on what came out of the first, and how many follow on the second."""
    unit = Sensitivity(1.0, 1, "", Relation.ADD_REMOVE)
    counts = np.array([[float(len(records.y)), float(np.sum(records.y)), 1.0]])
    best = curator.release("best", Exponential(0.5), counts, options=np.arange(3)[:, np.newaxis], sensitivity=RANGE)
    kept = np.sum(records.y[records.x[:, 0] < 0.3 * (1 + best[0])])
    noisy = curator.release("sum", Laplace(1.0), np.array([kept]), sensitivity=unit)
    for step in range(1 + int(noisy[0] > 0.5)):
        curator.release(f"step {step}", Laplace(2.0), np.array([kept + step]), sensitivity=unit)
    return SimpleNamespace(to_json=lambda: str(best))


@pytest.mark.parametrize("reverse", [False, True])
def test_the_outputs_are_those_of_runs_from_the_beginning(reverse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    together, found = (
        worst_transcript(adaptive, PAIR, reverse=reverse),
        worst_case(adaptive, PAIR, 0.1, reverse=reverse),
    )
    monkeypatch.setattr(worst, "HAS_THREADS", False)
    alone = worst_transcript(adaptive, PAIR, reverse=reverse)
    assert [one.tobytes() for one in together] == [one.tobytes() for one in alone] and len(alone) in (3, 4)
    again = worst_case(adaptive, PAIR, 0.1, reverse=reverse)
    assert (found.loss, found.worst) == (again.loss, again.worst)
    assert [one.to_dict() for one in found.violations] == [one.to_dict() for one in again.violations]


def test_an_error_of_one_run_ends_both() -> None:
    def stumbles(records: Any, curator: Any) -> Any:
        adaptive(records, curator)
        if len(records.y) == 3:
            raise ZeroDivisionError("here")

    before = threading.active_count()
    with pytest.raises(ZeroDivisionError, match="here"):
        worst_transcript(stumbles, PAIR)
    assert threading.active_count() == before


def test_a_run_that_goes_on_after_it_was_stopped_ends() -> None:
    """One side has a release more; the other is told to stop, swallows that, and asks again."""

    def stubborn(records: Any, curator: Any) -> Any:
        unit = Sensitivity(1.0, 1, "", Relation.ADD_REMOVE)
        for _ in range(len(records.y)):
            try:
                curator.release("count", Laplace(1.0), np.array([1.0]), sensitivity=unit)
            except Exception:
                continue

    before = threading.active_count()
    (violation,) = worst_case(stubborn, PAIR, 1.0).violations
    assert violation.kind == "control flow" and threading.active_count() == before
