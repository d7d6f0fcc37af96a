"""Pairs replayed one by one in this process: what is noted, accused and passed over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp.audit import search
from refdp.audit.isolated import Outcome
from refdp.audit.replay import Pair
from refdp.data.records import Records
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import Transcript
from refdp.privacy.replay import ReplaySource
from tests.audit.by_hand import ADD, QUIET, REPLACE, declared, kinds, machine, pair, some, split, sums

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


@pytest.mark.parametrize("given", [pair(0.25, 0.75, new=1.0), pair(0.25, 0.75, new=1.0, old=0.5)])
def test_honest_halves_are_never_accused_whichever_half_has_the_record(
    monkeypatch: pytest.MonkeyPatch, given: Pair
) -> None:
    """Nor is the number of records, which a replaced one does not change and one that is left out does."""
    one, _ = machine(monkeypatch, split(), lambda records, *_: {"published": (("records", str(len(records.y))),)}
                     if given.old is not None else {}, relation=given.relation)  # fmt: skip
    for number in range(6, 14):
        one.look(given, number)
    assert one.notes.violations == [] and one.notes.random == set() and one.notes.single == one.notes.pairs == 8


def test_secret_blocks_may_depend_on_how_many_records_there_are_where_that_is_public(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One record more or less must not change the law of the blocks; a replaced record cannot."""

    def sized(records: Records, curator: Any) -> Any:
        share = 0.5 ** len(records.y)
        with curator.partition("parts", (share, 1 - share), len(records.y)) as blocks, blocks.block(0) as rows:
            total = np.array([records.y[rows].sum()])
            curator.release("part", Laplace(1.0), total, sensitivity=declared(1.0, curator.relation))

    for number in (6, 7):
        one, _ = machine(monkeypatch, sized, relation=REPLACE)
        one.look(pair(0.25, 0.75, new=1.0, old=0.5), number)
        assert one.notes.violations == [] and one.notes.pairs == 1
        one, _ = machine(monkeypatch, sized)
        one.look(pair(0.25, 0.75, new=1.0), number)
        assert kinds(one) == [("assignment", "parts")] and one.notes.pairs == 0


def test_what_shows_one_of_both_replaced_records_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although the records without either show the same as those with the other one."""
    for shows in (0.5, 1.0):
        one, _ = machine(
            monkeypatch,
            split(),
            lambda records, *_, shows=shows: {"published": (("has it", str(shows in records.y)),)},
            relation=REPLACE,
        )
        one.look(pair(0.25, 0.75, new=1.0, old=0.5), 6)
        assert kinds(one)[0] == ("published object", "has it")


def test_coins_of_single_blocks_are_none_of_those_of_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A half that followed the stream of the noise would be chosen by it; each number has streams of its own."""
    one, _ = machine(monkeypatch, split())
    coins: list[str] = []
    real = one._run

    def run(records: Records, source: Any, number: int) -> Outcome:
        if isinstance(source, ReplaySource) and source.target.blocks is not None:
            coins.append(str(source.target.blocks.bit_generator.state))
        return real(records, source, number)  # type: ignore[no-any-return]

    monkeypatch.setattr(one, "_run", run)
    for number in range(6, 9):
        one.look(pair(0.25, 0.75, new=1.0), number)
    noise = {str(np.random.default_rng([3, number]).bit_generator.state) for number in range(6, 9)}
    assert len(set(coins)) == 3 and not noise & set(coins)


@pytest.mark.parametrize("number", [0, 1, 4])
def test_a_replay_under_another_seed_shows_what_seeds_change(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Whichever the seed of the run itself is: it is another one, and one that every generator takes."""
    told = lambda records, seed, source, _: {"published": (("model", f"{isinstance(source, ReplaySource)} {seed}"),)}  # noqa: E731
    one, made = machine(monkeypatch, shown=told)
    monkeypatch.setattr(one, "_kept_state", lambda *_: None)
    one.look(pair(0.25), number)
    assert ("published object", "model") not in kinds(one) and "published object: model" in one.notes.random
    seeds = {call[2] for call in made.calls}
    assert len(seeds) == 2 and min(seeds) >= 0


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("number", [6, 7])
@pytest.mark.parametrize("old", [None, 0.5])
def test_coins_of_all_other_records_are_those_of_the_recorded_run(
    monkeypatch: pytest.MonkeyPatch, late: bool, number: int, old: float | None
) -> None:
    """On every side of a pair, whichever was recorded; the audited record itself is in all blocks."""
    given = pair(0.25, 0.75, 0.125, 0.625, new=1.0, old=old)
    one, _ = machine(monkeypatch, split(), relation=given.relation, late=late)
    recorded, replays = one._replays(given, number == 6, number)
    own = recorded.transcript.entries[0].output
    others = own if old is None and number == 7 else np.delete(own, 1)
    assert len(own) - len(others) == (old is not None or number == 6) and len(others) == 4
    seen = [one.transcript.entries[0].output for one in replays]
    assert [len(coins) for coins in seen] == ([5, 4] if old is None else [5, 4, 5])
    for coins in seen:
        assert np.array_equal(coins if len(coins) == 4 else np.delete(coins, 1), others)
        assert len(coins) == 4 or coins[1] not in (0, 1, -1)
