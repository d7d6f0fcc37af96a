"""Timelines of several rounds with owners that fail, latency and timeouts, against one clock an owner."""

from __future__ import annotations

from itertools import product

import pytest

from refdp.errors import InvalidParameter
from refdp.protocols import schedules
from refdp.protocols.rounds import Outcome
from refdp.protocols.schedules import Times, simulate, turns_of

Turns = list[tuple[tuple[int, int], bool]]


def by_clocks(turns: Turns, times: Times, broadcast: bool) -> tuple[dict, dict, float]:  # type: ignore[type-arg]
    """Turn by turn: what has reached an owner by its call, in order, c1 each; then its tree, c2.

    A tree reaches the others `latency` after it is there, with the call or without; its own owner at once.
    """
    owners = {owner for (_, owner), _ in turns}
    arrived: dict[int, list[tuple[float, tuple[int, int]]]] = {owner: [] for owner in owners}
    worked: dict[int, int] = dict.fromkeys(owners, 0)
    free: dict[int, float] = dict.fromkeys(owners, 0.0)
    called, finished, now, end = {}, {}, 0.0, 0.0
    for place, answers in turns:
        owner = place[1]
        called[place] = now
        if not broadcast:
            known = {tree for _, tree in arrived[owner]}
            arrived[owner] += [(now, tree) for tree in sorted(finished) if tree not in known]
        if not answers:
            now = end = now + times.timeout
            continue
        for at, _ in arrived[owner][worked[owner] :]:
            free[owner] = max(free[owner], at) + times.residual
        worked[owner] = len(arrived[owner])
        done = max(free[owner], now) + times.tree
        finished[place] = end = done
        free[owner] = done
        arrived[owner].append((done, place))
        if broadcast:
            for other in owners - {owner}:
                arrived[other].append((done + times.latency, place))
        now = done + times.latency
    return called, finished, end


@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("times", [Times(3, 7), Times(5, 2, 0.25, 16), Times(0, 4, 1, 0), Times(8, 1, 2, 64)], ids=str)
def test_timelines_are_those_of_one_clock_an_owner(times: Times, broadcast: bool) -> None:
    for absent in ([], [(0, 1)], [(0, 0)], [(1, 0), (1, 1)], [(0, 2), (2, 0), (2, 2)], [(2, 2)],
                   list(product(range(3), range(3)))):  # fmt: skip
        turns = [((t, o), (t, o) not in absent) for t in range(3) for o in range(3)]
        called, finished, end = by_clocks(turns, times, broadcast)
        found = simulate(turns, times, broadcast=broadcast)
        assert (found.called, found.finished, found.total) == (called, finished, end), absent


def test_a_timeline_by_hand() -> None:
    """Two owners, two rounds, c1 = 3, c2 = 7, latency 1, timeout 20; owner 1 does not answer in round 0.

    Owner 0 trains from 0 to 7; owner 1 is called at 8 and passed over at 28; owner 0 has evaluated its own tree by 10
    and trains from 28 to 35; owner 1, called at 36, has the first tree since its first call, evaluates the second, to
    39, and trains to 46. Either way: trees come with the call that their owner does not answer, too.
    """
    turns = [((0, 0), True), ((0, 1), False), ((1, 0), True), ((1, 1), True)]
    slow, fast = (simulate(turns, Times(3, 7, 1, 20), broadcast=broadcast) for broadcast in (False, True))
    assert slow.called == fast.called == {(0, 0): 0, (0, 1): 8, (1, 0): 28, (1, 1): 36}
    assert slow.finished == {(0, 0): 7, (1, 0): 35, (1, 1): 46} and slow.total == 46
    assert fast.finished == {(0, 0): 7, (1, 0): 35, (1, 1): 46} and fast.total == 46


def test_turns_are_in_order_whoever_answered() -> None:
    outcome = Outcome(None, ((0, 2), (1, 0)), {(0, 1): "no answer", (1, 2): ""}, (), (), ())  # type: ignore[arg-type]
    assert turns_of(outcome) == [((0, 1), False), ((0, 2), True), ((1, 0), True), ((1, 2), False)]


def test_formulas_by_hand() -> None:
    """Four owners, c1 = 3, c2 = 7."""
    assert schedules.baseline_time(4, 3, 7) == 6 * 3 + 4 * 7 and schedules.broadcast_time(4, 3, 7) == 3 * 3 + 4 * 7
    assert schedules.baseline_messages(4) == 3 and schedules.broadcast_messages(4) == 6
    assert schedules.finish_times(4, 3, 7, broadcast=False) == [7, 17, 30, 46]
    assert schedules.finish_times(4, 3, 7, broadcast=True) == [7, 17, 27, 37]
    assert schedules.finish_times(0, 3, 7, broadcast=True) == []


def test_nothing_takes_less_than_no_time() -> None:
    assert Times(0, 0) == Times(0, 0, 0, 0)
    for given in ({"residual": -1}, {"tree": -1}, {"latency": -0.5}, {"timeout": -0.5}):
        with pytest.raises(InvalidParameter, match=next(iter(given))):
            Times(**({"residual": 1, "tree": 1} | given))
