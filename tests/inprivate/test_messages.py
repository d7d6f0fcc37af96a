"""Messages: what is refused, and that nothing but released values is in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdp.audit.replay import compare
from refdp.data.records import Records, Schema
from refdp.errors import MessageError
from refdp.privacy.curator import Transcript
from refdp.privacy.replay import RecordSwap, ReplaySource
from refdp.privacy.sources import SampleSource
from refdp.protocols.journal import MemoryJournal
from refdp.protocols.messages import Board
from refdp.protocols.owners import Owner, rules_of
from tests.inprivate.cases import BINARY, REGRESSION, THREE, made_up, params, parts, run
from tests.recorded import Recorded

P = params(owners=3, rounds=2)
RULES = rules_of(P, BINARY)
LOG = run(P, parts(BINARY, 3))[0].log
FULL = LOG[2].data  # from owner 1 to owner 2 in the first round: two turns


def sealed(body: Any) -> bytes:
    """Bytes with a digest that fits, whatever is in them."""
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    return json.dumps({"message": body, "sha256": digest}).encode()


def changed(change: Callable[[Any], Any]) -> bytes:
    """The full message with one thing changed, and a digest that fits."""
    body = json.loads(FULL)["message"]
    change(body)
    return sealed(body)


def put(path: list[Any], value: Any) -> Callable[[Any], None]:
    def change(body: Any) -> None:
        for step in path[:-1]:
            body = body[step]
        body[path[-1]] = value

    return change


TREE = ["turns", 0, "trees", 0]
MALFORMED: dict[str, Callable[[Any], Any]] = {
    "another run": put(["run"], "abc"),
    "round too late": put(["round"], 2),
    "round not whole": put(["round"], 0.5),
    "round a truth value": put(["round"], True),
    "sender unknown": put(["sender"], 3),
    "unknown kind": put(["kind"], "gossip"),
    "a field too many": put(["count"], 17),
    "a field missing": lambda body: body.pop("order"),
    "order of nothing": put(["order"], 5),
    "order turned round": lambda body: body["order"].reverse(),
    "trees out of order": lambda body: body["turns"].reverse(),
    "trees not listed": lambda body: body["order"].pop(0),
    "later than its sender": put(["sender"], 0),
    "leaves missing": lambda body: body["turns"][0]["trees"][0]["leaves"].pop(),
    "a leaf not finite": put([*TREE, "leaves", 0], float("nan")),
    "a leaf beyond the bound": put([*TREE, "leaves", 0], 1.5),
    "a leaf as text": put([*TREE, "leaves", 0], "0.1"),
    "a leaf as a truth value": put([*TREE, "leaves"], [True] * 4),
    "a split missing": lambda body: body["turns"][0]["trees"][0]["splits"].pop(),
    "a feature unknown": put([*TREE, "splits", 0], [3, 0.5]),
    "a feature not whole": put([*TREE, "splits", 0], [0.5, 0.5]),
    "a threshold outside": put([*TREE, "splits", 0], [0, 1.5]),
    "a category unknown": put([*TREE, "splits", 0], [1, 3]),
    "a split of three": put([*TREE, "splits", 0], [0, 0.5, 1]),
    "trees for two scores": lambda body: body["turns"][0]["trees"].append(body["turns"][0]["trees"][0]),
    "no object": lambda body: body.update(turns=["x"]),
    "huge numbers": put([*TREE, "splits", 0], [10**400, 0.5]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_messages_get_one_clear_error(name: str) -> None:
    board = Board(RULES)
    with pytest.raises(MessageError, match="malformed message: "):
        board.hear(changed(MALFORMED[name]))
    assert not board.known and not board.heard


def test_the_message_they_were_made_from_is_taken_in() -> None:
    board = Board(RULES)
    board.hear(changed(lambda body: None))
    assert list(board.known) == [(0, 0), (0, 1)]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(FULL) - 1), st.integers(0, 255))
def test_a_changed_byte_is_refused_or_changes_nothing(position: int, byte: int) -> None:
    spoiled = FULL[:position] + bytes([byte]) + FULL[position + 1 :]
    try:
        found = RULES.read(spoiled)
    except MessageError:
        return
    assert found.to_bytes() == FULL


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(FULL) - 1))
def test_a_message_cut_short_is_refused(length: int) -> None:
    with pytest.raises(MessageError, match="cut short"):
        RULES.read(FULL[:length])


def test_a_repeated_message_is_refused() -> None:
    board = Board(RULES)
    board.hear(FULL)
    with pytest.raises(MessageError, match="repeated message: trees of owner 1 in round 0"):
        board.hear(FULL)


def test_other_trees_than_before_are_refused() -> None:
    board = Board(RULES)
    board.hear(LOG[1].data)  # from owner 0: its own trees
    with pytest.raises(MessageError, match="other trees of owner 0 in round 0"):
        board.hear(changed(put([*TREE, "leaves", 0], 0.123)))


def test_leaving_out_a_turn_is_refused() -> None:
    board = Board(RULES)
    board.hear(FULL)

    def without_first(body: Any) -> None:
        body |= {"round": 1, "sender": -1, "kind": "request"}
        body["order"].pop(0)
        body["turns"].pop(0)

    with pytest.raises(MessageError, match=r"turns \[\(0, 0\)\]"):
        board.hear(changed(without_first))


@pytest.mark.parametrize(("turn", "allowed"), [(1, True), (0, False)])
def test_an_owner_may_refuse_the_last_trees_before_its_own_only(turn: int, allowed: bool) -> None:
    board = Board(RULES, complete=True)
    board.hear(LOG[1].data)
    board.hear(FULL)

    def refusing(body: Any) -> None:
        body["sender"] = 2
        body["turns"][turn]["trees"] = []

    if allowed:
        board.hear(changed(refusing))
        assert [turn.place for turn in board.turns if not turn.trees] == [(0, 1)]
    else:
        with pytest.raises(MessageError, match="check the last ones before its own only"):
            board.hear(changed(refusing))


def test_a_message_survives_reading() -> None:
    for schema in (REGRESSION, BINARY, THREE):
        p = params()
        for sent in run(p, parts(schema, 4))[0].log:
            assert rules_of(p, schema).read(sent.data).to_bytes() == sent.data


# --- Noninterference: the bytes depend on an owner's records through what was released alone --------------------------


def replayed(schema: Schema, mine: Records, target: RecordSwap, transcript: Transcript, heard: list[bytes], p: Any,
             kind: type[Owner] = Owner) -> tuple[list[bytes], Transcript]:  # fmt: skip
    """Owner 1's messages in both rounds, from these records, these messages and an earlier run's outputs."""
    curator = Recorded(ReplaySource(transcript, target), p.relation)
    with ExitStack() as doors:
        owner = kind.behind(doors, rules_of(p, schema), p, 1, mine, curator, MemoryJournal())
        sent = []
        for number, data in enumerate(heard):
            owner.hear(data)
            sent.append(owner.answer(number))
    return sent, curator.recorded


def both_sides(schema: Schema, p: Any, kind: type[Owner] = Owner) -> tuple[list[list[bytes]], list[Transcript]]:
    """Owner 1's messages with one record more and without it, given all that it released with the record."""
    data = parts(schema, p.owners)
    outcome, curators = run(p, data, source=lambda owner: SampleSource(np.random.default_rng(owner)))
    heard = [sent.data for sent in outcome.log if sent.receiver == 1]
    new = made_up(schema, 1, 77)
    smaller, larger = data[1], data[1].insert(5, new)
    messages, transcripts = [], []
    for mine, target in ((larger, RecordSwap(None, 5)), (smaller, RecordSwap(None, None))):
        sent, transcript = replayed(schema, mine, target, curators[1].recorded, heard, p, kind)
        messages.append(sent)
        transcripts.append(transcript)
    return messages, transcripts


@pytest.mark.parametrize("schema", [REGRESSION, BINARY, THREE], ids=["regression", "binary", "three"])
def test_a_neighbouring_record_leaves_every_byte_as_it_is(schema: Schema) -> None:
    messages, transcripts = both_sides(schema, params(owners=3))
    assert messages[0] == messages[1]
    assert compare(transcripts, _pair(schema), 1.0, []).violations == ()
    assert any(
        not np.array_equal(a.value, b.value)
        for a, b in zip(transcripts[0].entries, transcripts[1].entries)
        if a.value is not None
    )  # the record did matter behind the door


class Careless(Owner):
    """An owner that adds its number of records to a coefficient."""

    def answer(self, number: int) -> bytes:
        body = json.loads(super().answer(number))["message"]
        body["turns"][-1]["trees"][0]["leaves"][0] += 1e-9 * self.population.size
        return sealed(body)


def test_a_count_hidden_in_a_message_is_found() -> None:
    messages, _ = both_sides(BINARY, params(owners=3), Careless)
    assert messages[0] != messages[1]


def _pair(schema: Schema) -> Any:
    from refdp.audit.replay import Pair

    return Pair(parts(schema, 3)[1], made_up(schema, 1, 77), None, 5)
