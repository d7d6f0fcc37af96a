"""Small programs recorded on one side of a pair and replayed on all: exact losses, and every way to break a promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from refdp.audit import replay
from refdp.audit.replay import (
    Finding,
    audit_pair,
    has_secrets,
)
from refdp.data.records import Records
from refdp.errors import ImpossibleReplay
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import Curator, Entry, Request, Transcript
from refdp.privacy.events import Sensitivity
from refdp.privacy.replay import RecordSwap, ReplaySource
from refdp.privacy.sources import SampleSource
from tests.audit.by_hand import ADD, pair, split, sums


@dataclass
class Text:
    """A model that publishes a text."""

    text: str

    def to_json(self) -> str:
        return self.text


def trained(program: Callable[[Records, Any], Any], text: Callable[[Records], str] = lambda records: "") -> Any:
    def train(records: Records, curator: Curator) -> Text:
        program(records, curator)
        return Text(text(records))

    return train


def source(seed: int = 0) -> SampleSource:
    return SampleSource(np.random.default_rng(seed))


def kinds(finding: Finding) -> list[tuple[str, str]]:
    return [(v.kind, v.release) for v in finding.violations]


# --- Whole runs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("on_first", [True, False])
@pytest.mark.parametrize("old", [None, 0.125])
def test_the_loss_of_a_sum_is_that_of_its_output(on_first: bool, old: float | None) -> None:
    """log p(first) - log p(second) at the recorded output, from the density of Laplace noise."""
    given = pair(0.25, 0.5, new=1.0, old=old)
    outputs: list[float] = []

    def train(records: Records, curator: Any) -> Any:
        outputs.append(float(sums(2.0)(records, curator)[0]))

    found = audit_pair(trained(train), given, source(), 1.0, on_first=on_first)
    assert len(set(outputs)) == 1 and len(outputs) == 3
    one, other = 1.75, 0.75 + (old or 0.0)
    assert found.loss == pytest.approx((abs(outputs[0] - other) - abs(outputs[0] - one)) / 2)
    assert found.worst == pytest.approx((one - other) / 2) and found.violations == ()


@pytest.mark.parametrize("on_first", [True, False])
def test_a_secret_half_is_mixed_and_checked_in_single_blocks(on_first: bool) -> None:
    for given in (pair(0.25, 0.75, new=1.0), pair(0.25, 0.75, new=1.0, old=0.5)):
        for blocks in (None, np.random.default_rng(4)):
            found = audit_pair(trained(split()), given, source(), 1.0, on_first=on_first, blocks=blocks)
            assert found.violations == () and found.worst is not None and 0 < found.worst <= 1.0
            assert found.loss is not None and abs(found.loss) <= found.worst + 1e-12
        cheats = [audit_pair(trained(split(leak=True)), given, source(seed), 9.0, on_first=on_first,
                             blocks=np.random.default_rng(seed)) for seed in range(5)]  # fmt: skip
        told = [
            one
            for one in cheats
            if ("block", "halves 0/half 0") in kinds(one) or ("block", "halves 1/half 1") in kinds(one)
        ]
        assert told and all(one.loss is None and one.worst is None for one in told)
        assert all("loss" not in {kind for kind, _ in kinds(one)} for one in told)


def test_models_that_differ_are_told_and_state_no_loss() -> None:
    found = audit_pair(trained(sums(0.25), lambda records: str(records.size)), pair(0.25, new=1.0), source(), 1.0)
    assert kinds(found) == [("model", "published model"), ("loss", "whole run")]
    assert found.loss is None and found.worst is None
    assert found.violations[0].witness["position"] == 1 and found.violations[0].declared is None


def test_programs_that_part_state_no_loss_and_name_the_claim() -> None:
    def train(records: Records, curator: Any) -> Any:
        sums(float(records.size))(records, curator)

    found = audit_pair(trained(train), pair(0.25, new=1.0), source(), 1.0)
    assert kinds(found) == [("mechanism", "sum")] and found.violations[0].claim == "test/claim"
    assert found.loss is None and found.worst is None and found.violations[0].witness["detail"]
    error = ImpossibleReplay("sum", "shape", "x" * 900)
    assert len(replay.impossible(error, pair(0.25), "c").violations[0].witness["detail"]) == 500


def test_errors_of_programs_are_their_own_unless_a_replay_parted() -> None:
    def failing(records: Records, curator: Any) -> Any:
        sums(1.0)(records, curator)
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        replay.run(trained(failing), pair(0.25).first(), source(), ADD)
    recorded, text = replay.run(trained(sums(1.0), lambda records: "told"), pair(0.25).first(), source(), ADD)
    assert text == "told" and len(recorded.entries) == 1
    with pytest.raises(KeyError, match="own"):
        replay.run(trained(failing), pair(0.25).first(), ReplaySource(recorded), ADD)

    def hiding(records: Records, curator: Any) -> Any:
        try:
            sums(2.0)(records, curator)
        except ImpossibleReplay:
            raise KeyError("hidden") from None

    with pytest.raises(ImpossibleReplay):
        replay.run(trained(hiding), pair(0.25).first(), ReplaySource(recorded), ADD)
    with pytest.raises(ImpossibleReplay, match="ended before"):
        replay.run(trained(lambda records, curator: None), pair(0.25).first(), ReplaySource(recorded), ADD)


def test_seeds_choose_the_side_and_the_single_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(replay, "audit_pair", lambda *given, **named: asked.append((given, named)))
    train, given = trained(sums(1.0)), pair(0.25)
    for seed in range(6):
        replay.sampled(train, given, seed, 2.5)
        (called, named), (generator, blocks) = asked[-1], np.random.default_rng(seed).spawn(2)
        assert called[:2] == (train, given) and called[3] == 2.5 and named["on_first"] == (seed in (0, 2, 4))
        assert (named["blocks"] is None) == (seed in (2, 3))
        if named["blocks"] is not None:
            assert named["blocks"].integers(2**60) == blocks.integers(2**60)
        ask = Request("draw", ("x",), law=("uniform",), size=(1,))
        assert called[2].draw(ask) == SampleSource(generator).draw(ask)


@pytest.mark.parametrize("old", [None, 0.125])
@pytest.mark.parametrize("removed", [None, 1])
@pytest.mark.parametrize("secret", [True, False])
def test_data_sets_that_a_run_is_replayed_on(old: float | None, removed: int | None, secret: bool) -> None:
    given = pair(0.25, 0.5, new=1.0, old=old)
    recorded = Transcript(ADD, [Entry(Request("assign" if secret else "draw", ("x",)), np.zeros(2))])
    assert has_secrets(recorded) is secret
    found = replay._sides(given, recorded, removed)
    first, base, second = [0.25, 1.0, 0.5], [0.25, 0.5], [0.25, 0.125, 0.5]
    present, absent = RecordSwap(removed, 1), RecordSwap(removed, None, neighbour=old is None)
    due = [
        (first, present),
        *([(base, absent)] if old is None or secret else []),
        *([(second, present)] if old else []),
    ]
    assert [(rows.y.tolist(), one.target) for rows, one in found] == due
    assert all(one.transcript is recorded for _, one in found)


def test_a_program_that_parts_in_a_single_block_alone() -> None:
    """Where it asks for less noise when the first block is empty."""

    def train(records: Records, curator: Any) -> Any:
        with curator.partition("halves", (0.5, 0.5), len(records.y)) as blocks:
            for number in range(2):
                with blocks.block(number) as rows:
                    size = len(np.atleast_1d(records.y[rows]))
                    scale = 1.0 if size or records.size < 2 else 2.0
                    curator.release(f"half {number}", Laplace(scale), np.array([records.y[rows].sum()]),
                                    sensitivity=Sensitivity(1.0, 1, "test/claim", ADD))  # fmt: skip

    told = [audit_pair(trained(train), pair(0.0, new=1.0), source(seed), 9.0, blocks=np.random.default_rng(seed))
            for seed in range(12)]  # fmt: skip
    found = [one for one in told if one.violations]
    assert found and {v.kind for one in found for v in one.violations} == {"mechanism"}
    assert {v.claim for one in found for v in one.violations} == {"test/claim"} and found[0].loss is None
