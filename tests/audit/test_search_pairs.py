"""Pairs replayed one by one in this process: what is noted, accused and passed over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp.audit import search
from refdp.audit.isolated import Outcome
from refdp.data.records import Records
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import Transcript
from refdp.privacy.replay import ReplaySource
from tests.audit.by_hand import ADD, QUIET, REPLACE, declared, kinds, machine, pair, some, sums

# --- A pair -----------------------------------------------------------------------------------------------------------


def test_an_honest_sum_has_its_loss_and_all_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    one, made = machine(monkeypatch)
    for number in (0, 3):
        found = one.look(pair(0.25, 0.75, new=0.5), number)
        assert found.violations == () and found.worst == pytest.approx(0.5) and abs(found.loss) <= 0.5 + 1e-12
    notes = one.notes
    assert (notes.pairs, notes.sides, notes.sizes, notes.releases) == (2, {True, False}, {2, 3}, 2)
    assert (notes.floating, notes.discrete, notes.single, notes.raised, notes.scoped) == (2, 0, 0, 0, False)
    assert len(notes.events) == 2 and notes.worst == [pytest.approx(0.5)] * 2 and not notes.violations
    assert not notes.failed and not notes.random and not notes.unknown and not notes.state and notes.rearranged == 0
    assert notes.leaving.left == 0 and notes.costs == []
    first, second = made.calls[:3], made.calls[3:]
    assert [(y, kind) for y, kind, *_ in first] == [([0.25, 0.5, 0.75], "SampleSource"),
                                                    ([0.25, 0.5, 0.75], "ReplaySource"),
                                                    ([0.25, 0.75], "ReplaySource")]  # fmt: skip
    assert [y for y, *_ in second] == [[0.25, 0.75], [0.25, 0.5, 0.75], [0.25, 0.75]]
    assert {call[2] for call in first} == {1} and {call[2] for call in second} == {4}
    assert all(call[4] == ("w",) for call in made.calls)


def test_state_is_looked_at_in_two_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = machine(monkeypatch)
    kept: list[int] = []
    monkeypatch.setattr(one, "_kept_state", lambda given, number: kept.append(number))
    for number in range(6):
        one.look(pair(0.25), number)
    assert kept == [1, 4]
    monkeypatch.setattr(search, "CAN_FORK", False)
    one.look(pair(0.25), 1)
    assert kept == [1, 4]


def test_a_replaced_record_is_replayed_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """The data set without either record is needed only where secrets are mixed."""
    one, made = machine(monkeypatch, relation=REPLACE)
    found = one.look(pair(0.25, 0.75, new=1.0, old=0.5), 1)
    assert [call[0] for call in made.calls[:3]] == [[0.25, 0.5, 0.75], [0.25, 1.0, 0.75], [0.25, 0.5, 0.75]]
    assert found.worst == pytest.approx(0.5) and one.notes.leaving.left == 0

    def halves(records: Records, curator: Any) -> Any:
        with curator.partition("halves", (0.5, 0.5), len(records.y)) as blocks, blocks.block(0) as rows:
            total = np.array([records.y[rows].sum()])
            curator.release("half", Laplace(1.0), total, sensitivity=declared(1.0, REPLACE))

    one, made = machine(monkeypatch, halves, relation=REPLACE)
    one.look(pair(0.25, 0.75, new=1.0, old=0.5), 0)
    assert [call[0] for call in made.calls[1:5]] == [[0.25, 1.0, 0.75], [0.25, 0.75], [0.25, 0.5, 0.75],
                                                     [0.25, 1.0, 0.75]]  # fmt: skip
    assert one.notes.single == 1 and one.notes.scoped and one.notes.violations == []
    assert "ReplaySource" in made.calls[4][1]


def test_a_sum_above_its_claims_is_accused_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = machine(monkeypatch, sums(0.25, 0.25))
    found = one.look(pair(0.25, new=0.5), 0)
    assert kinds(one) == [("sensitivity", "sum"), ("cost", "sum"), ("cost of order 2", "sum"), ("loss", "whole run")]
    assert found.worst == pytest.approx(2.0) and one.notes.worst == [pytest.approx(2.0)]
    assert len(found.violations) == 4


def test_losses_are_not_stated_where_more_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a record changes besides releases has no loss; without a statement losses are no accusation."""
    one, _ = machine(monkeypatch, shown=lambda records, *_: {"published": (("model", f"float {records.y.sum()}"),)})
    found = one.look(pair(0.25), 0)
    assert found.loss is None and found.worst is None and kinds(one) == [("published object", "model")]
    one, _ = machine(monkeypatch, sums(0.25, 1.0))
    sides = [one._run(p, one._source(0), 0).transcript for p in (some(0.5, 0.5), some(0.5))]
    sides[1].entries[0] = replace(sides[1].entries[0], output=sides[0].entries[0].output)
    quiet = one._losses(sides, pair(0.5), True, 0, stated=False)
    assert [v.kind for v in quiet.violations] == ["loss"] and kinds(one) == [] and one.notes.worst == []
    one._losses(sides, pair(0.5), True, 0, stated=True)
    assert kinds(one) == [("loss", "whole run")] and one.notes.worst == [pytest.approx(2.0)]


@pytest.mark.parametrize("number", [0, 1])
def test_programs_that_ask_for_other_things_part(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The first thing that differs is told, with the claim of its release."""

    def train(records: Records, curator: Any) -> Any:
        scale = 1.0 if len(records.y) > 1 else 2.0
        curator.release("one", Laplace(1.0), np.array([1.0]), sensitivity=declared(1.0))
        curator.release("two", Laplace(scale), np.array([1.0]), sensitivity=declared(1.0))

    one, _ = machine(monkeypatch, train)
    assert one.look(pair(0.25), number) == QUIET
    assert kinds(one) == [("mechanism", "two")] and one.notes.violations[0].claim == "test/claim"
    assert one.notes.violations[0].witness["position"] == 1 and one.notes.violations[0].witness["detail"]
    assert one.notes.pairs == 0


def test_runs_that_fail_are_noted_and_nothing_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    one, made = machine(monkeypatch, shown=lambda records, seed, source, before: {"failed": "time is up"})
    assert one.look(pair(0.25), 0) == QUIET and one.notes.failed == {"time is up"} and len(made.calls) == 1
    one, made = machine(monkeypatch, shown=lambda records, seed, source, before: (
        {"failed": "gone"} if isinstance(source, ReplaySource) and len(records.y) == 1 else {}))  # fmt: skip
    assert one.look(pair(0.25), 0) == QUIET and one.notes.failed == {"gone"} and one.notes.pairs == 0


def test_noise_that_does_not_exist_is_accused(monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = machine(monkeypatch, shown=lambda records, seed, source, before: {"bad_noise": "sd is 0"})
    one.look(pair(0.25), 0)
    assert kinds(one) == [("noise scale", "whole run")] and one.notes.violations[0].witness["detail"] == "sd is 0"


# --- Runs that raise or cannot be repeated ----------------------------------------------------------------------------


def test_a_run_that_raises_is_noted_without_its_event(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(records: Records, curator: Any) -> Any:
        sums(1.0)(records, curator)
        raise RuntimeError("always")

    one, _ = machine(monkeypatch, train)
    found = one.look(pair(0.25), 0)
    assert one.notes.raised == 1 and one.notes.events == [] and kinds(one) == [] and found.worst == pytest.approx(0.5)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("many", [True, False])
def test_an_error_on_one_side_alone_is_told(monkeypatch: pytest.MonkeyPatch, number: int, many: bool) -> None:
    def train(records: Records, curator: Any) -> Any:
        sums(1.0)(records, curator)
        if (len(records.y) > 1) is many:
            raise RuntimeError("sometimes")

    one, _ = machine(monkeypatch, train)
    found = one.look(pair(0.25), number)
    assert kinds(one) == [("exception", "error")] and found == QUIET
    assert one.notes.raised == ((number == 0) is many)


def test_requests_that_are_random_are_no_accusation(monkeypatch: pytest.MonkeyPatch) -> None:
    count = [0]

    def train(records: Records, curator: Any) -> Any:
        count[0] += 1
        sums(float(count[0]))(records, curator)

    one, _ = machine(monkeypatch, train)
    assert one.look(pair(0.25), 0) == QUIET and one.notes.random == {"requests to the curator"} and not kinds(one)


@pytest.mark.parametrize("number", [0, 1])
def test_runs_that_cannot_follow_themselves(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """With an error on one side an accusation, on both a failure, without any randomness of requests."""
    for raised, due in (((True, True), "failed"), ((True, False), "told"), ((False, True), "told"), ((False,) * 2, "")):
        one, _ = machine(monkeypatch)
        given = pair(0.25)
        first, second = (Outcome(Transcript(ADD, []), raised=(("error", "Odd"),) * on) for on in raised)
        sides = {2: first, 1: second}
        monkeypatch.setattr(one, "recorded", lambda records, n, sides=sides: sides[len(records.y)])
        one._unrepeatable(given, first if number == 0 else second, number == 0, number)
        assert kinds(one) == ([("exception", "raised on one side only")] if due == "told" else [])
        assert one.notes.failed == ({"a run ended with Odd inside a release"} if due == "failed" else set())
        assert one.notes.random == (set() if due else {"requests to the curator"})
