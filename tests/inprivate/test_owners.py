"""Runs among owners: failures, coming back, quality control, the end of the rounds, and what colluding owners see."""

from __future__ import annotations

import json
from contextlib import ExitStack
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from refdp.accounting import account
from refdp.audit.mixing import mixed
from refdp.audit.replay import changes
from refdp.data.records import Schema
from refdp.errors import InvalidParameter, MessageError
from refdp.papers import inprivate
from refdp.privacy.curator import Curator, Transcript
from refdp.privacy.events import Plan, Relation, Sequential, expand, releases
from refdp.privacy.replay import RecordSwap, ReplaySource
from refdp.privacy.sources import SampleSource
from refdp.protocols.journal import MemoryJournal
from refdp.protocols.messages import MINER
from refdp.protocols.owners import Owner, certificate, plan, rules_of
from refdp.protocols.quality import Control, falls
from refdp.protocols.rounds import Fault, Outcome, conduct
from tests.inprivate.cases import BINARY, REGRESSION, THREE, made_up, params, parts, run, sampled
from tests.inprivate.test_messages import sealed
from tests.recorded import Recorded
from tests.thinned import thinned

SCHEMAS = pytest.mark.parametrize("schema", [REGRESSION, BINARY, THREE], ids=["regression", "binary", "three"])
ALWAYS_ON = -5.0
"""A threshold that no round misses."""


def controls(schema: Schema) -> list[Control | None]:
    return [None, Control(threshold=ALWAYS_ON), Control(threshold=ALWAYS_ON, public=made_up(schema, 40, 9))]


@SCHEMAS
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("which", [0, 1, 2], ids=["no control", "private", "public"])
def test_every_owner_releases_what_its_plan_says(schema: Schema, relation: Relation, which: int) -> None:
    p, control = params(relation=relation), controls(schema)[which]
    outcome, curators = run(p, parts(schema, 4), control=control)
    assert len(outcome.finished) == 8 and len(outcome.advances) == (2 if control else 0)
    for curator in curators:
        assert curator.event() == expand(plan(p, schema, control).event)
    found = certificate(p, schema, control)
    assert 0.8 < found.established.epsilon <= 1 + 1e-9 and not found.notes
    assert (found.claimed.epsilon, found.claimed.delta, found.established.delta) == (1.0, 0.0, 0.0)
    assert {verdict for _, verdict in found.claims} <= {"PROVED", "ARGUED", "CONDITIONAL"}
    assert "no record is held by two owners" in found.assumptions


@pytest.mark.parametrize(("schema", "which"), thinned(product((REGRESSION, BINARY, THREE), range(3)), 4))
def test_both_schedules_give_the_same_model_whoever_fails(schema: Schema, which: int) -> None:
    absent: dict[tuple[int, int], Fault] = {(0, 1): "silent", (0, 2): "lost", (1, 0): "silent", (2, 3): "lost"}

    def faults(number: int, owner: int) -> Fault:
        return absent.get((number, owner), "")

    p, control = params(rounds=3), controls(schema)[which]
    results = [run(p, parts(schema, 4), control=control, broadcast=b, faults=faults) for b in (False, True)]
    assert results[0][0].model.to_json() == results[1][0].model.to_json()
    assert results[0][0].refused == results[1][0].refused
    for outcome, curators in results:
        assert set(outcome.skipped) == {place for place in absent if place[0] < 1 + max(outcome.finished)[0]}
        for curator in curators:
            spent = Plan(p.relation, expand(curator.event()))
            assert account(spent, delta=0.0).epsilon <= 1 + 1e-9


def test_one_owner_and_one_round_are_plain_training() -> None:
    p, records = params(owners=1, rounds=1), made_up(BINARY, 50, 3)
    outcome, _ = run(p, [records], source=lambda owner: SampleSource(np.random.default_rng(5)))
    alone = inprivate.train(p, records, Curator(SampleSource(np.random.default_rng(5)), p.relation))
    assert outcome.model.to_json() == alone.to_json()


def test_an_owner_never_trains_twice_in_a_round() -> None:
    p = params(owners=2)
    kept: list[Owner] = []

    def wrap(owner: Owner) -> Owner:
        kept.append(owner)
        return owner

    _, curators = run(p, parts(BINARY, 2), wrap=wrap, control=Control(threshold=ALWAYS_ON))
    before = [len(curator.transcript.entries) for curator in curators]
    for again in (lambda: kept[0].answer(0), lambda: kept[0].measure(0)):
        with pytest.raises(MessageError, match="its budget is spent"):
            again()
    assert [len(curator.transcript.entries) for curator in curators] == before


class Crashing(Owner):
    """An owner whose machine stops after the first level of its tree, once."""

    def answer(self, number: int) -> bytes:
        if number == 0 and self.position == 1:
            self.journal.begin(number, "trees")
            return b""
        return super().answer(number)


def test_after_a_crash_the_round_is_lost_and_the_next_one_is_not() -> None:
    p = params()
    outcome, _ = run(p, parts(BINARY, 4), wrap=as_kind(Crashing))
    assert set(outcome.skipped) == {(0, 1)} and "cut short" in outcome.skipped[0, 1]
    assert (1, 1) in outcome.finished


def as_kind(kind: type[Owner]) -> Any:
    def wrap(owner: Owner) -> Owner:
        return kind(**{name: getattr(owner, name) for name in owner.__dataclass_fields__})

    return wrap


class Damaging(Owner):
    """An owner whose messages arrive damaged."""

    def answer(self, number: int) -> bytes:
        data = super().answer(number)
        return data.replace(b'"leaves":[', b'"leaves":[0', 1) if self.position == 2 else data


def test_a_damaged_message_costs_its_sender_the_turn_only() -> None:
    outcome, _ = run(params(), parts(BINARY, 4), wrap=as_kind(Damaging))
    assert set(outcome.skipped) == {(0, 2), (1, 2)} and len(outcome.finished) == 6


def test_there_is_one_participant_for_each_owner() -> None:
    with pytest.raises(InvalidParameter, match="1 participants given, owners = 2"):
        conduct(params(owners=2), rules_of(params(owners=2), BINARY), [None])  # type: ignore[list-item]


class Exact(Owner):
    """An owner whose measurements have no noise."""

    def _measured(self, name: Any, number: int, before: Any, after: Any, tolerance: float) -> float:
        super()._measured(name, number, before, after, tolerance)
        records = self.population.exposed()
        kept = records.take(np.flatnonzero(np.arange(records.size) % 2))
        return float(falls(self.params, kept, before, after, tolerance, 1.0).sum())


@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("noise", ["floating", "discrete"])
@pytest.mark.parametrize("schema", [REGRESSION, BINARY], ids=["regression", "binary"])
def test_one_record_of_one_owner_changes_no_byte_of_the_whole_run(schema: Schema, noise: str, broadcast: bool) -> None:
    """All owners run; owner 1 with what it released before, the others with their own noise again."""
    p, control = params(noise=noise), Control(threshold=-1.0)
    data = parts(schema, 4)
    outcome, curators = run(p, data, control=control, broadcast=broadcast)
    for kind, same in ((Owner, True), (Exact, False)):
        runs = []
        for place in (3, None):
            mine = data[1] if place is None else data[1].insert(place, made_up(schema, 1, 66))
            source = replaying(curators[1].recorded, RecordSwap(None, place))
            runs.append(run(p, [data[0], mine, *data[2:]], source=source, control=control, broadcast=broadcast,
                            wrap=as_kind(kind))[0])  # fmt: skip
        first, second = runs
        assert (first.advances == second.advances) is same
        if same:
            assert [s.data for s in first.log] == [s.data for s in second.log] == [s.data for s in outcome.log]


def replaying(transcript: Transcript, target: RecordSwap) -> Any:
    def source(owner: int) -> Any:
        return ReplaySource(transcript, target) if owner == 1 else sampled(owner)

    return source


# --- Quality control and the end --------------------------------------------------------------------------------------


class Hostile(Owner):
    """An owner that passes on its tree with every coefficient turned round and as large as the rules allow."""

    def answer(self, number: int) -> bytes:
        data = super().answer(number)
        if self.position != 1:
            return data
        body = json.loads(data)["message"]
        for tree in body["turns"][-1]["trees"]:
            tree["leaves"] = [-1.0 if leaf > 0 else 1.0 for leaf in tree["leaves"]]
        return sealed(body)


@pytest.mark.parametrize("schema", [REGRESSION, BINARY], ids=["regression", "binary"])
@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("public", [False, True])
def test_a_hostile_tree_is_refused(schema: Schema, broadcast: bool, public: bool) -> None:
    """Its harm on the checking owner's some 1,000 records is far beyond the margin at beta = 1e-9."""
    p = params(epsilon=4.0, rounds=1, shrinkage=1.0)
    control = Control(threshold=ALWAYS_ON, public=made_up(schema, 500, 9) if public else None)
    assert control.margin(p, 1e-9) < 25
    outcome, _ = run(p, parts(schema, 4, 2_000), control=control, broadcast=broadcast, wrap=as_kind(Hostile))
    assert (0, 1) in outcome.refused
    assert (0, 0) not in outcome.refused
    unchecked, _ = run(p, parts(schema, 4, 2_000), broadcast=broadcast, wrap=as_kind(Hostile))
    assert unchecked.refused == () and len(unchecked.model.outputs[0].trees) == 4


def test_the_margin_is_the_quantile_of_the_noise() -> None:
    """100,000 draws: the share above the margin is within 5 standard errors of beta (error rate 6e-7 a case)."""
    p, control = params(), Control()
    scale = control.release("quality", p).mechanism
    noise = scale.apply(np.zeros(100_000), np.random.default_rng(1).laplace(size=100_000))  # type: ignore[union-attr]
    for beta in (0.4, 0.1, 0.01):
        share, error = float(np.mean(noise > control.margin(p, beta))), np.sqrt(beta * (1 - beta) / 1e5)
        assert abs(share - beta) < 5 * error
        assert abs(float(np.mean(noise > control.margin(p, 2 * beta * 0.9))) - beta) > 5 * error  # another margin


def test_rounds_end_when_the_advance_is_small() -> None:
    p, data = params(rounds=4), parts(BINARY, 4, 200)
    for public in (None, made_up(BINARY, 50, 9)):
        outcome, curators = run(p, data, control=Control(threshold=0.9, public=public))
        assert len(outcome.advances) == 1 and outcome.advances[0] <= 0
        assert {place[0] for place in outcome.finished} == {0}
        planned = set(releases(plan(p, BINARY, Control(public=public)).event))
        assert all(set(releases(curator.event())) <= planned for curator in curators)


def test_bad_controls_are_refused() -> None:
    for changes_ in ({"threshold": np.nan}, {"tolerance": -1.0}, {"bound": 0.0}):
        with pytest.raises(InvalidParameter, match=next(iter(changes_))):
            Control(**changes_)


# --- Collusion --------------------------------------------------------------------------------------------------------


def rounds_seen(outcome: Outcome, subset: tuple[int, ...], victim: int) -> set[int]:
    """Rounds whose tree of the victim is in some message that one of these gets."""
    board = {sent.data for sent in outcome.log if sent.receiver in subset}
    bodies = (json.loads(data)["message"]["turns"] for data in board)
    return {turn["round"] for turns in bodies for turn in turns if turn["owner"] == victim}


def sides_of(victim: int, p: Any, broadcast: bool) -> tuple[Outcome, list[Transcript], list[list[bytes]]]:
    """A run, and the victim's part of it replayed with one record more and without it, for the same messages heard."""
    data = parts(BINARY, p.owners)
    outcome, curators = run(p, data, broadcast=broadcast)
    new, transcripts, messages = made_up(BINARY, 1, 55), [], []
    for mine, target in ((data[victim].insert(3, new), RecordSwap(None, 3)), (data[victim], RecordSwap(None, None))):
        curator = Recorded(ReplaySource(curators[victim].recorded, target), p.relation)
        messages.append(_answers(victim, mine, curator, outcome, p, broadcast))
        transcripts.append(curator.recorded)
    return outcome, transcripts, messages


def _answers(victim: int, mine: Any, curator: Curator, outcome: Outcome, p: Any, broadcast: bool) -> list[bytes]:
    with ExitStack() as doors:
        owner = Owner.behind(doors, rules_of(p, BINARY), p, victim, mine, curator, MemoryJournal(), broadcast=broadcast)
        sent = []
        for number in range(p.rounds):
            before = [s for s in outcome.log if s.receiver == victim and (s.round, s.sender) < (number, victim)]
            for message in before:
                if (message.round, message.sender) >= (number - 1, victim):
                    owner.hear(message.data)
            sent.append(owner.answer(number))
    return sent


@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("victim", [0, 2])
def test_no_set_of_owners_learns_more_than_epsilon_about_another_ones_record(broadcast: bool, victim: int) -> None:
    """Exact: the loss of the victim's releases behind all that the subset sees, its secret round mixed over."""
    p = params(rounds=3)
    outcome, (larger, smaller), messages = sides_of(victim, p, broadcast)
    assert messages[0] == messages[1]  # whatever they see of the victim is these bytes, the same on both sides
    between = changes(larger, smaller)
    others = [owner for owner in (MINER, *range(p.owners)) if owner != victim]
    losses = {}
    for size in range(1, len(others) + 1):
        for subset in combinations(others, size):
            seen = rounds_seen(outcome, subset, victim)
            part = [change for change in between if change.entry.scopes[0].block in seen]
            worst = max(mixed([c.term(c.forward) for c in part]), -mixed([c.term(-c.backward) for c in part]))
            assert abs(mixed([c.term(c.loss()) for c in part])) <= worst <= p.epsilon
            losses[subset] = worst
    everybody = losses[tuple(others)]
    assert everybody == max(losses.values()) > 0.1  # more eyes see no less, and the record did matter


def test_an_answer_follows_from_messages_own_records_and_own_randomness_alone() -> None:
    p, data = params(), parts(BINARY, 4)
    outcome, _ = run(p, data)
    with ExitStack() as doors:
        alone = Owner.behind(
            doors, rules_of(p, BINARY), p, 2, data[2], Curator(sampled(2), p.relation), MemoryJournal()
        )
        for number in range(p.rounds):
            alone.hear(next(s.data for s in outcome.log if (s.round, s.receiver) == (number, 2)))
            assert alone.answer(number) == next(s.data for s in outcome.log if (s.round, s.sender) == (number, 2))


def test_sequential_owners_would_cost_their_number() -> None:
    """A mutant of the plan: one record at all four owners pays four times."""
    event = plan(params(), BINARY).event
    assert account(Plan(Relation.ADD_REMOVE, Sequential((event,) * 4)), delta=0.0).epsilon > 3
