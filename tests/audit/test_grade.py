"""`refdp.grade`: the audit of a trainer in words for students."""

from __future__ import annotations

import functools
import gc
import importlib
import os
import sys
import time
import types
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import refdp
from refdp.audit.grade import _record, lines
from refdp.audit.inputs import inputs
from refdp.audit.isolated import CAN_FORK, observed
from refdp.audit.own_code import spaces_of
from refdp.audit.search import Search
from refdp.audit.trainer import TrainerReport
from refdp.audit.verdicts import Row, Verdict
from refdp.data.records import Interval, Numeric, Schema, make_records
from refdp.noise.mechanisms import Laplace
from refdp.privacy.events import Relation, Sensitivity
from refdp.privacy.sources import SampleSource
from tests.thinned import LATER

SCHEMA = Schema((Numeric("x", 0.0, 1.0),), Interval(0.0, 1.0))
needs_fork = pytest.mark.skipif(not CAN_FORK, reason="runs have processes of their own by fork")


def mean(bound: float, scale: float, peek: bool = False) -> Any:
    """A mean from a noisy sum and a noisy count: correct with bound 1 and scale 2."""

    def train(records: Any, curator: Any) -> float:
        exact = np.array([np.sum(np.rint(records.y * 2**20)) / 2**20])
        total = curator.release("sum", Laplace(scale), exact, sensitivity=Sensitivity(bound, 1, "", curator.relation))
        size = np.array([float(len(records.y))])
        n = curator.release("count", Laplace(2.0), size, sensitivity=Sensitivity(1.0, 1, "", curator.relation))
        return float(total[0] / (len(records.y) if peek else max(n[0], 1.0)))

    return train


@needs_fork
def test_half_the_sensitivity_in_the_words_of_the_task() -> None:
    graded = refdp.grade(mean(0.5, 1.0), SCHEMA, 1.0, "add-remove", pairs=5, steps=0)
    assert not graded.passed
    assert "release 'sum' changes by 1 between neighbours, declared 0.5" in graded.text
    assert "the whole run can reveal 1.5, the task allows 1" in graded.text
    assert graded.report.violations


@LATER
@needs_fork
def test_an_exact_count_in_the_quotient() -> None:
    graded = refdp.grade(mean(1.0, 2.0, peek=True), SCHEMA, 1.0, "add-remove", pairs=6)
    assert not graded.passed and "depends on a record by more than what was released" in graded.text


@needs_fork
def test_a_correct_mean_passes() -> None:
    graded = refdp.grade(mean(1.0, 2.0), SCHEMA, 1.0, "add-remove", pairs=24, counts=(49,), steps=6)
    assert graded.passed and "no violation found: the whole run revealed 1 at most, the task allows 1" in graded.text


@needs_fork
def test_what_a_process_notes_of_its_own_collections_accuses_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test tool kept the time of the last collection in a module; every honest trainer had left something behind."""
    tool: Any = types.ModuleType("a_tool_that_watches")
    monkeypatch.setitem(sys.modules, tool.__name__, tool)

    def noted(phase: str, _: dict[str, int]) -> None:
        tool.latest = time.monotonic_ns()

    gc.callbacks.append(noted)
    try:
        records = make_records(SCHEMA, np.array([[0.5]]), np.array([0.5]))
        source = SampleSource(np.random.default_rng(0))
        left = observed(mean(1.0, 2.0), records, source, Relation.ADD_REMOVE, 1).state
    finally:
        gc.callbacks.remove(noted)
    assert [place for place, _ in left if tool.__name__ in place] == []


@needs_fork
def test_what_a_process_does_until_a_run_begins_accuses_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, at the last moment before the run's own process is made."""
    tool: Any = types.ModuleType("a_tool_that_works")
    tool.latest, fork = 0, os.fork
    monkeypatch.setitem(sys.modules, tool.__name__, tool)

    def later() -> int:
        tool.latest += 1
        return fork()

    monkeypatch.setattr(os, "fork", later)
    records = make_records(SCHEMA, np.array([[0.5]]), np.array([0.5]))
    left = observed(mean(1.0, 2.0), records, SampleSource(np.random.default_rng(0)), Relation.ADD_REMOVE, 1).state
    assert tool.latest and [place for place, _ in left if tool.__name__ in place] == []


def count(records: Any, curator: Any) -> Any:
    """A noisy count, the array that the curator returned."""
    exact = np.array([float(len(records.y))])
    return curator.release("n", Laplace(1.0), exact, sensitivity=Sensitivity(1.0, 1, "", curator.relation))


@functools.lru_cache
def squared(number: float) -> float:
    return number * number


SEEN: dict[float, Any] = {}


def remembering(records: Any, curator: Any) -> float:
    """Keeps what came out, or what comes out of that."""
    noisy = float(count(records, curator)[0])
    SEEN[noisy] = "released"
    return squared(round(noisy))


def remembering_more(records: Any, curator: Any) -> float:
    """Keeps what came out, and the exact count."""
    noisy = float(count(records, curator)[0])
    squared(noisy)
    squared(len(records.y))
    return noisy


@needs_fork
@pytest.mark.parametrize("train", [
    lambda records, curator: np.asarray(count(records, curator), dtype=np.float64), remembering,
    lambda records, curator: np.require(count(records, curator), dtype=float),
])  # fmt: skip
def test_outputs_may_be_returned_as_they_are_and_kept(train: Any) -> None:
    report = refdp.audit_trainer(train, SCHEMA, 1.0, pairs=2, counts=(0, 50), steps=0)
    assert report.violations == () and not any("randomness" in row.reason for row in report.coverage[:-1]
                                               if row.verdict is Verdict.NOT_EXAMINED)  # fmt: skip


@needs_fork
def test_what_is_kept_beside_outputs_is_accused() -> None:
    search = Search(remembering_more, 1.0, 0.0, Relation.ADD_REMOVE, 0)
    search._kept_state(next(inputs(SCHEMA, Relation.ADD_REMOVE, 0)), 1)
    assert [one.kind for one in search.notes.violations] == ["state between calls"]


LIMIT = 1500


@needs_fork
def test_numbers_that_the_text_names_are_tried() -> None:
    def train(records: Any, curator: Any) -> Any:
        noisy = float(count(records, curator)[0])
        return len(records.y) if len(records.y) >= LIMIT else noisy

    graded = refdp.grade(train, SCHEMA, 1.0, pairs=4, counts=(0, 50), steps=8)
    assert not graded.passed and any(f"beside {number} others" in graded.text for number in (1499, 1500))


@needs_fork
def test_a_branch_inside_that_no_run_reached_does_not_pass() -> None:
    def train(records: Any, curator: Any) -> Any:
        noisy = float(count(records, curator)[0])

        def shown() -> float:
            if len(records.y) > 5 * 1000:
                return float(len(records.y))
            return noisy

        return shown()

    graded = refdp.grade(train, SCHEMA, 1.0, pairs=4, counts=(0, 50), steps=8)
    assert not graded.passed and "never run, behind a condition on records" in graded.text


@needs_fork
def test_code_without_a_text_does_not_pass() -> None:
    made: dict[str, Any] = {"count": count}
    exec("def train(records, curator):\n    return float(count(records, curator)[0])\n", made)
    graded = refdp.grade(made["train"], SCHEMA, 1.0, pairs=4, counts=(0, 50), steps=4)
    assert not graded.passed and "what never ran is not known" in graded.text and "<string>" in graded.text


def test_every_audit_looks_anew_at_what_a_trainer_holds() -> None:
    """An attribute that was set since the last one may lead to another module."""
    train: Any = lambda records, curator: 0.0  # noqa: E731
    before = spaces_of(train)
    train.hook = types.FunctionType(count.__code__, {"__name__": "tests.thinned"})
    assert spaces_of(train) == before
    refdp.audit_trainer(train, SCHEMA, 1.0, pairs=1, counts=(0,), steps=0)
    assert spaces_of(train) == (*before, "tests.thinned")


@needs_fork
def test_what_cannot_be_examined_does_not_pass() -> None:
    graded = refdp.grade(lambda records, curator: np.random.laplace(), SCHEMA, 1.0, "add-remove", pairs=2, steps=0)  # noqa: NPY002
    assert not graded.passed and "this cannot be graded" in graded.text


def test_with_a_delta_no_largest_loss_is_stated() -> None:
    """Losses above epsilon may be allowed then; of Gaussian noise none is the largest, and 0 was said of nothing."""
    seen = Row("all", Verdict.NOT_FOUND, "looked at")
    pure = TrainerReport(1.0, 0.0, Relation.ADD_REMOVE, 4, 0.5, (), (seen,))
    assert lines(pure) == ["no violation found: the whole run revealed 0.5 at most, the task allows 1; " + TRIED]
    with_delta = replace(pure, delta=0.01, max_loss=0.0)
    assert lines(with_delta) == ["no violation found: the task allows 1 with delta 0.01; " + TRIED]


TRIED = "4 neighbouring pairs tried"


def test_a_witness_is_told_as_the_record_that_came_or_took_anothers_place() -> None:
    came: dict[str, Any] = {"new_x": [0.25], "new_y": 1.0, "base_y": [0.0, 0.0]}
    assert _record(came) == " [record (0.25) -> 1, beside 2 others]"
    assert _record(came | {"old_x": [0.5], "old_y": 0.0}) == " [record (0.25) -> 1 for (0.5) -> 0, beside 2 others]"
    assert _record({}) == ""


KEEPER = "SEEN = []\ndef add(n):\n    SEEN.append(n)\n"


class Hooked:
    """A noisy count that hands the exact one to a hook, if it has any."""

    hook: Any = None

    def __call__(self, records: Any, curator: Any) -> float:
        if self.hook is not None:
            self.hook(len(records.y))
        size = np.array([float(len(records.y))])
        unit = Sensitivity(1.0, 1, "", curator.relation)
        return float(curator.release("count", Laplace(1.0), size, sensitivity=unit)[0])


@needs_fork
def test_a_second_audit_looks_where_the_trainer_leads_now(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "keeper_of_counts.py").write_text(KEEPER)
    monkeypatch.syspath_prepend(tmp_path)
    keeper = importlib.import_module("keeper_of_counts")
    train, few = Hooked(), {"pairs": 2, "counts": (0, 1), "steps": 0}
    try:
        assert not refdp.audit_trainer(train, SCHEMA, 1.0, **few).violations
        train.hook = keeper.add
        again = refdp.audit_trainer(train, SCHEMA, 1.0, **few)
        assert any("keeper_of_counts.SEEN" in str(one.to_dict()) for one in again.violations)
    finally:
        sys.modules.pop("keeper_of_counts")
