"""Who sends what to whom, message by message, with owners that only answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp.data.records import Tree
from refdp.protocols.messages import MINER, Message, Turn
from refdp.protocols.owners import rules_of
from refdp.protocols.quality import Control
from refdp.protocols.rounds import Fault, Outcome, conduct
from tests.inprivate.cases import REGRESSION, made_up, params

SPLITS = np.column_stack([np.zeros(3), np.full(3, 0.5)])
NAMES = {MINER: "m"}


class Told:
    """An owner that hears and answers with one tree of its own. advance: what it says to have measured."""

    def __init__(self, position: int, rules: Any, broadcast: bool, advance: float = 1.0) -> None:
        self.position, self.rules, self.broadcast, self.advance = position, rules, broadcast, advance
        self.heard: list[tuple[int, int, str]] = []
        self.known: dict[tuple[int, int], Turn] = {}
        self.own: tuple[int, int] | None = None

    def hear(self, data: bytes) -> None:
        message = self.rules.read(data)
        self.heard.append((message.round, message.sender, message.kind))
        self.known = {place: turn for place, turn in self.known.items() if place in message.order}
        self.known |= {turn.place: turn for turn in message.turns}

    def answer(self, number: int) -> bytes:
        tree = Tree(SPLITS, np.full(4, (1 + self.position) / 100 + number / 1000))
        own = Turn(number, self.position, (tree,))
        self.known[own.place] = own
        return self._message(number, "trees", [own])

    def judge(self, number: int) -> bytes:
        return self._message(number, "verdict", [])

    def measure(self, number: int) -> float:
        return self.advance + self.position + 10 * number

    def _message(self, number: int, kind: Any, new: list[Turn]) -> bytes:
        turns = new if self.broadcast else [self.known[place] for place in sorted(self.known)]
        return Message(self.rules.run, number, self.position, kind, tuple(sorted(self.known)), tuple(turns)).to_bytes()


def conducted(
    owners: int = 3, rounds: int = 2, broadcast: bool = False, control: Control | None = None, absent: Any = (),
    advance: float = 1.0,
) -> tuple[Outcome, list[Told]]:  # fmt: skip
    p = params(owners=owners, rounds=rounds, depth=3)
    rules = rules_of(p, REGRESSION)
    there = [Told(k, rules, broadcast, advance) for k in range(owners)]
    fault: dict[tuple[int, int], Fault] = dict(absent)
    outcome = conduct(p, rules, there, control=control, broadcast=broadcast,
                      faults=lambda number, owner: fault.get((number, owner), ""))  # fmt: skip
    return outcome, there


def routes(outcome: Outcome) -> str:
    """round:sender>receiver(kind), one after the other; m is the miner."""
    said = []
    for sent in outcome.log:
        kind = json.loads(sent.data)["message"]["kind"]
        said.append(f"{sent.round}:{NAMES.get(sent.sender, sent.sender)}>{NAMES.get(sent.receiver, sent.receiver)}"
                    f"({kind[0]})")  # fmt: skip
    return " ".join(said)


@pytest.mark.parametrize(
    ("number", "sender", "kind"), [(0, 2, "trees"), (1, 1, "trees"), (0, 1, "verdict"), (0, 0, "end")]
)
def test_a_message_in_anothers_name_is_nobodys(number: int, sender: int, kind: Any) -> None:
    """Whoever it was sent for is asked in its turn, and its own is no repetition."""
    p = params(owners=3, rounds=2, depth=3)
    rules = rules_of(p, REGRESSION)
    there = [Told(k, rules, False) for k in range(3)]
    honest = there[1].answer

    def answer(asked: int) -> bytes:
        if asked:
            return honest(asked)
        there[1].known = {(number, sender): Turn(number, sender, (Tree(SPLITS, np.full(4, 0.5)),))}
        turns = tuple(there[1].known.values())
        return Message(rules.run, number, sender, kind, ((number, sender),), turns).to_bytes()

    there[1].answer = answer  # type: ignore[method-assign]
    outcome = conduct(p, rules, there)
    assert outcome.finished == ((0, 0), (0, 2), (1, 0), (1, 1), (1, 2))
    assert outcome.skipped == {(0, 1): f"{kind} of owner {sender} in round {number}: trees of owner 1 in round 0 was "
                                       "asked for"}  # fmt: skip


def test_along_the_order_each_message_goes_to_the_next_owner() -> None:
    outcome, there = conducted()
    assert routes(outcome) == "0:m>0(r) 0:0>1(t) 0:1>2(t) 0:2>m(t) 1:m>0(r) 1:0>1(t) 1:1>2(t) 1:2>m(t)"
    assert outcome.finished == ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)) and not outcome.skipped
    assert there[1].heard == [(0, 0, "trees"), (1, 0, "trees")]
    leaves = [tree.leaves[0] for tree in outcome.model.outputs[0].trees]
    assert leaves == pytest.approx([0.01, 0.02, 0.03, 0.011, 0.021, 0.031])


def test_who_is_silent_is_sent_nothing_and_whose_answer_is_lost_is_passed_over() -> None:
    outcome, _ = conducted(absent={(0, 0): "silent", (0, 1): "lost", (1, 2): "silent"}.items())
    assert routes(outcome) == "0:m>1(r) 0:m>2(r) 0:2>m(t) 1:m>0(r) 1:0>1(t) 1:1>m(t)"
    assert outcome.skipped == {(0, 0): "no answer", (0, 1): "no answer", (1, 2): "no answer"}
    assert outcome.finished == ((0, 2), (1, 0), (1, 1))
    nobody, _ = conducted(rounds=1, absent=[((0, k), "silent") for k in range(3)])
    assert nobody.log == () and nobody.finished == () and len(nobody.skipped) == 3


def test_where_everybody_gets_all_it_goes_to_whom_something_follows() -> None:
    """In the last round only to later owners; before it to all others. The miner's call goes to everybody."""
    outcome, there = conducted(broadcast=True)
    assert routes(outcome) == (
        "0:m>0(r) 0:m>1(r) 0:m>2(r) 0:0>1(t) 0:0>2(t) 0:1>0(t) 0:1>2(t) 0:2>0(t) 0:2>1(t) 0:2>m(t) "
        "1:m>0(r) 1:m>1(r) 1:m>2(r) 1:0>1(t) 1:0>2(t) 1:1>2(t) 1:2>m(t)"
    )
    assert there[0].heard == [(0, -1, "request"), (0, 1, "trees"), (0, 2, "trees"), (1, -1, "request")]
    assert there[2].heard == [(0, -1, "request"), (0, 0, "trees"), (0, 1, "trees"), (1, -1, "request"),
                              (1, 0, "trees"), (1, 1, "trees")]  # fmt: skip


@pytest.mark.parametrize("broadcast", [False, True])
def test_at_the_end_of_a_round_owners_measure_privately(broadcast: bool) -> None:
    outcome, _ = conducted(broadcast=broadcast, control=Control(threshold=0.0))
    end = "{t}:m>0(e) {t}:0>m(v) {t}:m>1(e) {t}:m>2(e)"
    if broadcast:
        start = ("{t}:m>0(r) {t}:m>1(r) {t}:m>2(r) {t}:0>1(t) {t}:0>2(t) {t}:1>0(t) {t}:1>2(t) {t}:2>0(t) {t}:2>1(t) "
                 "{t}:2>m(t) ")  # fmt: skip
    else:
        start = "{t}:m>0(r) {t}:0>1(t) {t}:1>2(t) {t}:2>m(t) "
    assert routes(outcome) == " ".join((start + end).format(t=t) for t in (0, 1))
    assert outcome.advances == (1 + 2 + 3, 11 + 12 + 13)


def test_rounds_go_on_while_the_advance_is_above_nothing() -> None:
    for advance, rounds in ((-1.0, 1), (-0.999, 2)):  # three owners: the total is 0, or 0.003
        outcome, _ = conducted(control=Control(threshold=0.0), advance=advance)
        assert len(outcome.advances) == rounds and outcome.advances[0] == pytest.approx(3 * advance + 3)


def test_one_present_owner_checks_nobody() -> None:
    outcome, _ = conducted(rounds=1, control=Control(threshold=0.0), absent=[((0, 0), "silent"), ((0, 2), "lost")])
    assert routes(outcome) == "0:m>1(r) 0:1>2(t) 0:1>m(t) 0:m>1(e)"
    assert outcome.advances == (2.0,)


def test_the_miner_measures_on_public_records() -> None:
    """The fall of |y - f| beyond the threshold, summed, and a last tree that raises it by more is refused."""
    public = made_up(REGRESSION, 30, 9)
    outcome, _ = conducted(rounds=1, owners=1, control=Control(threshold=0.001, tolerance=10.0, public=public))
    p = params(owners=1, rounds=1, depth=3)
    score = p.shrinkage * 0.01
    true = np.abs(public.y) - np.abs(public.y - score) - 0.001
    assert outcome.advances[0] == pytest.approx(true.sum(), abs=1e-4) and outcome.refused == ()
    low = replace(public, y=np.full(30, -1.0))  # every tree raises the error, so that each round's last is refused
    for tolerance, refused in ((0.0, ((0, 2), (1, 2))), (0.5, ())):
        refusing, _ = conducted(control=Control(threshold=-1.0, tolerance=tolerance, public=low))
        assert refusing.refused == refused and len(refusing.model.outputs[0].trees) == 6 - len(refused)
