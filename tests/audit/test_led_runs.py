"""Outputs that are chosen to be lossy and led through runs of small programs, and the requests they part at."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp.audit import attained as module
from refdp.audit import worst
from refdp.audit.attained import Led, attained
from refdp.audit.in_order import InOrder
from refdp.audit.worst import worst_case, worst_transcript
from refdp.data.records import Records
from refdp.errors import ImpossibleReplay, InvalidParameter
from refdp.noise.mechanisms import Exponential, Laplace
from refdp.privacy.curator import Curator, Entry, Request, Transcript
from refdp.privacy.events import Sensitivity
from refdp.privacy.replay import Recorder, RecordSwap
from tests.audit.by_hand import ADD, REPLACE, declared, pair, split, sums

UNIT = Sensitivity(1.0, 1, "test/claim", ADD)
GIVEN = pair(new=1.0)
GIVEN = replace(GIVEN, position=0)
SIDES = [(GIVEN.first(), RecordSwap(None, 0)), (GIVEN.base, RecordSwap(None, None))]


def adaptive(records: Records, curator: Any) -> Any:
    """The sum, and once more where it came out below one half."""
    total = np.array([float(records.y.sum())])
    first = curator.release("a", Laplace(1.0), total, sensitivity=UNIT)
    curator.release("b", Laplace(1.0), total if first[0] < 0.5 else np.zeros(1), sensitivity=UNIT)


def transcript(program: Callable[[Records, Any], Any], records: Records, source: Any) -> Transcript:
    recorder = Recorder(source, ADD)
    program(records, Curator(InOrder(recorder), ADD))
    return recorder.transcript


def replayed(
    program: Callable[[Records, Any], Any] = adaptive, outputs: tuple[float, ...] = (0.75, 0.5)
) -> list[Transcript]:
    nothing = Transcript(ADD, [])
    return [transcript(program, records, Led([np.array([one]) for one in outputs], nothing, target))
            for records, target in SIDES]  # fmt: skip


def led(log: list[Any], program: Any = adaptive) -> Any:
    def run(records: Records, source: Led) -> Transcript | None:
        found = transcript(program, records, source)
        log.append([entry.output.tolist() for entry in found.entries])
        return found

    return run


@pytest.mark.parametrize(("enough", "loss", "runs"), [(0.5, 1.0, 2), (1.0, 2.0, 6), (1.5, 2.0, 6), (math.inf, 2.0, 6)])
def test_outputs_are_chosen_anew_until_nothing_changes_or_it_is_enough(enough: float, loss: float, runs: int) -> None:
    """The recorded sum loses 1 at most; where it comes out low, which the other direction tries, it is told twice."""
    log: list[Any] = []
    seen = replayed()
    assert attained(led(log), SIDES, seen[0], seen, GIVEN, enough) == pytest.approx(loss)
    assert len(log) == runs and log[0] == log[1] and (runs == 2 or log[4] == log[5] != log[2])


def test_four_rounds_in_each_direction_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    count = [0]

    def restless(records: Records, curator: Any) -> Any:
        count[0] += 1
        curator.release("a", Laplace(1.0), np.array([count[0] + float(records.y.sum())]), sensitivity=UNIT)

    seen = replayed(restless)
    log: list[Any] = []
    attained(led(log, restless), SIDES, seen[0], seen, GIVEN, math.inf)
    assert len(log) == 2 * 2 * module.ROUNDS and module.ROUNDS == 4
    log.clear()
    monkeypatch.setattr(module, "compare", lambda *_: (_ for _ in ()).throw(InvalidParameter("no")))
    assert attained(led(log), SIDES, seen[0], replayed(), GIVEN, math.inf) == 0.0 and len(log) == 4


def test_runs_that_end_or_ask_for_other_things_attain_nothing() -> None:
    seen = replayed()
    calls: list[int] = []

    def lost(records: Records, source: Led) -> Transcript | None:
        calls.append(records.size)
        return None if records.size == 0 else transcript(adaptive, records, source)

    assert attained(lost, SIDES, seen[0], seen, GIVEN, 0.5) == 0.0 and calls == [1, 0] * 2

    def other(records: Records, curator: Any) -> Any:
        curator.release(
            "a" if records.size else "c", Laplace(1.0), np.array([float(records.y.sum())]), sensitivity=UNIT
        )
        curator.release("b", Laplace(1.0), np.zeros(1), sensitivity=UNIT)

    log: list[Any] = []
    assert attained(led(log, other), SIDES, seen[0], seen, GIVEN, 0.5) == 0.0 and len(log) == 4
    assert attained(lost, SIDES[1:], seen[0], seen, GIVEN, 0.5) == 0.0


def test_what_no_output_tells_apart_attains_nothing() -> None:
    def constant(records: Records, curator: Any) -> Any:
        curator.release("a", Laplace(1.0), np.ones(1), sensitivity=UNIT)

    seen = replayed(constant)
    log: list[Any] = []
    assert attained(led(log, constant), SIDES, seen[0], seen, GIVEN, 0.5) == 0.0 and len(log) == 4


def test_outputs_are_chosen_between_the_first_and_the_last_side() -> None:
    """Of three: both records against each other, not against neither."""
    given = pair(new=1.0, old=3.0)
    given = replace(given, position=0)
    places = [
        (given.first(), RecordSwap(None, 0)),
        (given.base, RecordSwap(None, None)),
        (given.second(), RecordSwap(None, 0)),
    ]
    nothing = Transcript(ADD, [])
    seen = [transcript(adaptive, records, Led([np.array([2.0]), np.zeros(1)], nothing, one)) for records, one in places]
    log: list[Any] = []
    attained(led(log), places, seen[0], seen, given, 0.5)
    assert log[0][0] == Laplace(1.0).worst_output(np.array([1.0]), np.array([3.0])).tolist() == log[1][0]


def test_an_option_that_is_there_is_taken() -> None:
    rows = Request(
        "release", ("x",), np.array([[0.0, 1.0, 0.5]]), Exponential(1.0), options=np.array([[5.0], [7.0], [9.0]])
    )
    for chosen, due in ((0, 0), (1, 1), (2, 2), (3, 1)):
        assert Led([np.array([chosen])], Transcript(ADD, []), RecordSwap(None, None)).release(rows).tolist() == [due]


def test_later_sides_are_led_by_what_the_first_gave() -> None:
    given: list[list[Any]] = []
    entries = [
        Entry(Request("release", ("a",)), np.array([7.0]), None, np.zeros(1)),
        Entry(Request("draw", ("u",)), np.array([0.5])),
        Entry(Request("release", ("c",)), np.array([9.0]), np.array([1]), np.zeros((1, 2))),
    ]

    def run(records: Any, source: Led) -> Transcript | None:
        given.append([one.tolist() for one in source._outputs])
        return Transcript(ADD, entries)

    sides: Any = [("one", RecordSwap(None, None)), ("two", RecordSwap(None, None)), ("three", RecordSwap(None, None))]
    assert len(module._led(run, sides, [np.array([3.0])], Transcript(ADD, []))) == 3
    assert given == [[[3.0]], [[7.0], [1]], [[7.0], [1]]]


def entry(value: Any, output: float = 0.25, mechanism: Any = Laplace(1.0), name: str = "a") -> Entry:  # noqa: B008
    return Entry(Request("release", (name,), None, mechanism), np.array([output]), None, value)


def test_the_output_that_was_given_stays_where_none_loses_more() -> None:
    one, zero = np.array([1.0]), np.array([0.0])
    law = Laplace(1.0)
    for output in (1.5, 1.0):  # beyond both, Laplace noise loses all that it can
        first, last = (Transcript(ADD, [entry(value, output)]) for value in (one, zero))
        assert module._chosen(first, last, False)[0].tolist() == [output]
        assert module._chosen(first, last, True)[0].tolist() == law.worst_output(zero, one).tolist()
    first, last = (Transcript(ADD, [entry(value, 0.5)]) for value in (one, zero))
    assert module._chosen(first, last, False)[0].tolist() == law.worst_output(one, zero).tolist()
    near = 1.0 - 0.4e-9
    first, last = (Transcript(ADD, [entry(value, near)]) for value in (one, zero))
    assert module._chosen(first, last, False)[0].tolist() == [near]
    two = [Transcript(ADD, [entry(np.array([1.0, value]), 0.0)]) for value in (1.0, 0.0)]
    assert module._chosen(*two, False)[0].shape == (2,)  # an output of another shape is not taken
    choice = replace(entry(np.array([[0.0, 1.0]]), mechanism=Exponential(1.0)), index=np.array([0]))
    other = replace(choice, value=np.array([[1.0, 0.0]]))
    assert module._chosen(Transcript(ADD, [choice]), Transcript(ADD, [other]), False)[0].tolist() == [1]


def test_only_releases_with_values_on_both_sides_are_chosen() -> None:
    one, zero = np.array([1.0]), np.array([0.0])
    rows = [(entry(one), entry(zero)), (entry(None), entry(zero)), (entry(one), entry(None)),
            (entry(one, mechanism=None), entry(zero, mechanism=None))]  # fmt: skip
    first, last = (Transcript(ADD, [row[side] for row in rows]) for side in (0, 1))
    assert len(module._chosen(first, last, False)) == 1


def test_sides_are_alike_where_all_ask_for_the_same() -> None:
    same = entry(np.zeros(1))
    for other, alike in ((entry(np.ones(1), 9.0), True), (entry(np.zeros(1), name="b"), False),
                         (entry(np.zeros(1), mechanism=Laplace(2.0)), False),
                         (replace(same, output=np.zeros(2)), False),
                         (replace(same, request=replace(same.request, kind="draw")), False)):  # fmt: skip
        assert module._alike([Transcript(ADD, [same]), Transcript(ADD, [same]), Transcript(ADD, [other])]) is alike
    assert not module._alike([Transcript(ADD, [same]), Transcript(ADD, [same, same])])
    found = Transcript(ADD, [entry(None), entry(np.array([2.0]))])
    assert module._values(found) == [b"", np.array([2.0]).tobytes()]


# --- Worst transcripts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [True, False])
def test_each_release_is_at_its_worst_given_those_before(monkeypatch: pytest.MonkeyPatch, threads: bool) -> None:
    monkeypatch.setattr(worst, "HAS_THREADS", threads and worst.HAS_THREADS)
    law = Laplace(1.0)
    one, zero = np.array([1.0]), np.array([0.0])
    forward = [found.tolist() for found in worst_transcript(silent(adaptive), GIVEN)]
    assert forward == [law.worst_output(one, zero).tolist(), law.worst_output(zero, zero).tolist()]
    backward = [found.tolist() for found in worst_transcript(silent(adaptive), GIVEN, reverse=True)]
    assert backward == [law.worst_output(zero, one).tolist()] * 2
    for epsilon, over in ((1.0, False), (0.99, True)):
        assert bool(worst_case(silent(adaptive), GIVEN, epsilon).violations) is over
    found = worst_case(silent(adaptive), GIVEN, 2.0, reverse=True)
    assert found.loss == pytest.approx(-2.0) and found.violations == ()


class Silent:
    def to_json(self) -> str:
        return ""


def silent(program: Any) -> Any:
    def train(records: Records, curator: Curator) -> Silent:
        program(records, curator)
        return Silent()

    return train


def test_runs_that_part_have_no_worst_transcript() -> None:
    def shorter(records: Records, curator: Any) -> Any:
        if records.size:
            adaptive(records, curator)

    def other(records: Records, curator: Any) -> Any:
        curator.release("a", Laplace(1.0 + records.size), np.zeros(1), sensitivity=UNIT)

    for program, kind in ((shorter, "control flow"), (other, "mechanism")):
        with pytest.raises(ImpossibleReplay):
            worst_transcript(program, GIVEN)
        found = worst_case(silent(program), GIVEN, 1.0)
        assert [v.kind for v in found.violations] == [kind] and found.loss is None


def test_secrets_of_a_replaced_record_are_mixed_with_neither() -> None:
    """Half of the records in each block; replacing 1 by 0 loses less than the block alone."""
    given = pair(0.25, new=1.0, old=0.0)
    found = worst_case(silent(split()), given, 9.0)
    assert found.loss is not None and 0 < found.loss <= 1.0 and found.violations == ()
    alone = worst_case(silent(split()), pair(0.25, new=1.0), 9.0)
    assert alone.loss == pytest.approx(1.0)  # in either block the same
    assert declared(1.0, REPLACE).relation is REPLACE


@pytest.mark.parametrize(
    ("old", "secret", "count"), [(None, False, 2), (None, True, 2), (0.0, False, 2), (0.0, True, 3)]
)
def test_neither_record_is_a_side_where_secrets_of_a_replaced_one_are_mixed(
    monkeypatch: pytest.MonkeyPatch, old: float | None, secret: bool, count: int
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(worst, "compare", lambda transcripts, *_: seen.append(transcripts))
    worst_case(silent(split() if secret else sums(1.0)), pair(0.25, new=1.0, old=old), 9.0)
    assert len(seen[0]) == count
    if count == 3:
        values = [one.entries[1].value for one in seen[0]]
        assert [value.tolist() for value in values if value is not None] == [[1.25], [0.25], [0.25]]
        assert [len(one.entries[0].output) for one in seen[0]] == [2, 1, 2]


def test_errors_of_a_program_are_its_own() -> None:
    def failing(records: Records, curator: Any) -> Any:
        raise KeyError("own")

    def swallowing(records: Records, curator: Any) -> Any:
        try:
            adaptive(records, curator)
        except Exception:
            raise KeyError("another") from None

    with pytest.raises(KeyError, match="own"):
        worst.next_request(failing, GIVEN.base, [], ADD)
    found = worst.next_request(swallowing, GIVEN.first(), [np.array([0.75])], ADD)
    assert found is not None and found.name == "b" and found.value is not None and found.value.tolist() == [0.0]
    assert worst.next_request(adaptive, GIVEN.first(), [np.zeros(1)] * 2, ADD) is None
    first = worst.next_request(adaptive, GIVEN.first(), [], ADD)
    assert first is not None and first.name == "a"
