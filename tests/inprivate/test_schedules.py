"""Simulated schedules against Eq. 18 and 19, and against what a run really sends."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdp.errors import InvalidParameter
from refdp.protocols import schedules
from refdp.protocols.messages import MINER
from refdp.protocols.rounds import Fault, Outcome
from refdp.protocols.schedules import Times, simulate, turns_of
from tests.inprivate.cases import BINARY, params, parts, run


def first_round(owners: int) -> list[tuple[tuple[int, int], bool]]:
    return [((0, owner), True) for owner in range(owners)]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 25), st.integers(0, 50), st.integers(1, 50))
def test_one_round_takes_what_the_equations_say(owners: int, c1: int, c2: int) -> None:
    for broadcast, closed in ((False, schedules.baseline_time), (True, schedules.broadcast_time)):
        found = simulate(first_round(owners), Times(c1, c2), broadcast=broadcast)
        assert found.total == closed(Fraction(owners), c1, c2)
        assert list(found.finished.values()) == schedules.finish_times(owners, c1, c2, broadcast=broadcast)
        if owners > 1:
            assert found.called[0, owners - 1] == closed(Fraction(owners - 1), c1, c2)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 8), st.integers(1, 4), st.sets(st.tuples(st.integers(0, 3), st.integers(0, 7))))
def test_the_speed_up_never_takes_longer_whoever_fails(owners: int, rounds: int, absent: set[tuple[int, int]]) -> None:
    turns = [((t, o), (t, o) not in absent) for t in range(rounds) for o in range(owners)]
    slow, fast = (simulate(turns, Times(3, 7, 0.5, 11), broadcast=broadcast) for broadcast in (False, True))
    assert fast.total <= slow.total
    assert set(fast.finished) == set(slow.finished) == {place for place, answers in turns if answers}


def between_owners(outcome: Outcome) -> list[int]:
    """Bytes of each message from one owner to another."""
    return [len(sent.data) for sent in outcome.log if MINER not in (sent.sender, sent.receiver)]


def test_messages_and_bytes_are_counted_as_the_paper_counts_them() -> None:
    owners, p = 7, params(owners=7, rounds=1)
    slow, fast = (run(p, parts(BINARY, owners), broadcast=broadcast)[0] for broadcast in (False, True))
    assert len(between_owners(slow)) == schedules.baseline_messages(owners)
    assert len(between_owners(fast)) == schedules.broadcast_messages(Fraction(owners))
    assert slow.model.to_json() == fast.model.to_json()  # a schedule changes when things happen, not what
    a_tree = len(fast.log[-1].data)
    assert sum(between_owners(slow)) == pytest.approx(sum(between_owners(fast)), rel=0.5)  # as many trees in all
    assert max(between_owners(fast)) < 1.5 * a_tree < max(between_owners(slow))


def test_twenty_owners_three_rounds_one_failing() -> None:
    def faults(number: int, owner: int) -> Fault:
        return "lost" if (number, owner) == (1, 7) else ""

    p = params(owners=20, rounds=3)
    outcome, curators = run(p, parts(BINARY, 20), faults=faults)
    assert set(outcome.skipped) == {(1, 7)}
    assert len(outcome.model.outputs[0].trees) == 59
    for owner, curator in enumerate(curators):
        blocks = [
            entry.scopes[0].block for entry in curator.transcript.entries if entry.request.name.endswith("leaves")
        ]
        assert blocks == [0, 1, 2], owner  # each part of the records paid for once, also the lost one
    slow, fast = (simulate(turns_of(outcome), Times(3.0, 7.0, 0.1, 20.0), broadcast=b) for b in (False, True))
    assert fast.total < slow.total / 4


def test_times_are_checked() -> None:
    with pytest.raises(InvalidParameter, match="timeout"):
        Times(1.0, 1.0, timeout=-1.0)
