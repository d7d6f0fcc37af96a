"""Recorders and replays: what is kept of a run, and what must be asked alike in the next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp.errors import ImpossibleReplay
from refdp.noise.mechanisms import Exponential, Laplace
from refdp.privacy.curator import EVERYWHERE, Request
from refdp.privacy.events import Relation
from refdp.privacy.replay import Recorder, RecordSwap, ReplaySource, same_request
from refdp.privacy.sources import SampleSource
from tests.core.requests import VALUE, assign, draw, release

TABLE = np.array([[0.0, 1.0, -np.inf], [5.0, 4.5, 4.0]])


def recorded(*asked: Request) -> Any:
    recorder = Recorder(SampleSource(np.random.default_rng(6)), Relation.ADD_REMOVE)
    answers = [np.asarray(getattr(recorder, one.kind)(one)) for one in asked]
    return recorder.transcript, answers


def test_a_recorder_keeps_what_was_asked_and_answered() -> None:
    options = np.array([10.0, 20.0, 30.0])
    chosen = replace(release(Exponential(1.0), TABLE), options=options)
    transcript, answers = recorded(release(Laplace(1.0)), chosen, chosen, draw("uniform"), assign("poisson", 0.5))
    first, second, third, *rest = transcript.entries
    assert np.array_equal(first.value, VALUE) and first.index is None and np.array_equal(first.output, answers[0])
    assert first.request.value is None and np.array_equal(second.output, options[answers[1]])
    assert np.array_equal(second.index, answers[1]) and second.request.options is third.request.options
    assert [np.array_equal(one.output, a) for one, a in zip(rest, answers[3:], strict=True)] == [True, True]
    again = ReplaySource(transcript)
    for one, answer in zip((release(Laplace(1.0)), chosen, chosen, draw("uniform")), answers, strict=False):
        assert np.array_equal(getattr(again, one.kind)(one), answer)


@pytest.mark.parametrize(
    ("swap", "size", "expected"),
    [
        (RecordSwap(None, None), 12, lambda m: m),
        (RecordSwap(3, None), 11, lambda m: np.delete(m, 3)),
        (RecordSwap(None, 5), 13, lambda m: np.insert(m, 5, -2)),
        (RecordSwap(3, 0), 12, lambda m: np.insert(np.delete(m, 3), 0, -2)),
        (RecordSwap(12, None, late=True), 12, lambda m: m),
        (RecordSwap(11, None, late=True), 11, lambda m: m[:-1]),
        (RecordSwap(None, 12, late=True), 12, lambda m: m),
        (RecordSwap(None, 12, late=True), 13, lambda m: np.insert(m, 12, -2)),
    ],
)
def test_assignments_are_replayed_without_or_with_the_record(swap: Any, size: int, expected: Any) -> None:
    transcript, (member,) = recorded(assign("poisson", 0.5))
    found = ReplaySource(transcript, swap).assign(assign("poisson", 0.5, size=size))
    right = expected(member)
    assert np.array_equal(found, np.where(right == -2, EVERYWHERE, right))
    with pytest.raises(ImpossibleReplay):
        ReplaySource(transcript, swap).assign(assign("poisson", 0.5, size=size + 2))


def test_blocks_of_a_record_are_drawn_among_all_and_none() -> None:
    one = RecordSwap(None, 0, blocks=np.random.default_rng(1))
    assert {one.block(("partition", (0.5, 0.2))) for _ in range(60)} == {-1, 0, 1}
    assert {one.block(("shares", (1, 1, 1))) for _ in range(90)} == {-1, 0, 1, 2}
    assert {one.block(("poisson", 0.5)) for _ in range(40)} == {-1, 0}


def test_whatever_is_asked_otherwise_parts_the_runs() -> None:
    """And everything that is asked afterwards fails in the same way."""
    plain, drawn, coins = release(Laplace(1.0)), draw("uniform"), assign("poisson", 0.5)
    transcript, _ = recorded(plain, drawn, coins)
    for wrong in (release(Laplace(2.0)), release(Laplace(1.0), VALUE[:1]), replace(plain, path=("a", "x")), drawn,
                  replace(plain, options=np.ones(2))):  # fmt: skip
        source = ReplaySource(transcript)
        with pytest.raises(ImpossibleReplay) as first:
            getattr(source, wrong.kind)(wrong)
        for call in (lambda source=source: source.release(plain), source.finish):
            with pytest.raises(ImpossibleReplay) as later:
                call()
            assert later.value is first.value
    for wrong in (draw("integers", 2), draw("uniform", size=6)):
        source = ReplaySource(transcript)
        source.release(plain)
        with pytest.raises(ImpossibleReplay):
            source.draw(wrong)
    source = ReplaySource(transcript, RecordSwap(None, None, neighbour=False))
    source.release(plain)
    with pytest.raises(ImpossibleReplay, match="ended before"):
        source.finish()
    source = ReplaySource(transcript, RecordSwap(None, None, neighbour=False))
    source.release(plain)
    source.draw(drawn)
    assert len(source.assign(assign("poisson", 0.75))) == 12
    source.finish()
    with pytest.raises(ImpossibleReplay, match="goes on"):
        source.draw(drawn)
    same_request(plain, release(Laplace(1.0), None))
    with pytest.raises(ImpossibleReplay):
        same_request(plain, release(Laplace(1.0), VALUE[:1]))
