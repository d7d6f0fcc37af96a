"""What a message may say at each of its limits, what an error is, and when a last tree is refused."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

from refdp.data.records import Tree
from refdp.errors import InvalidParameter, MessageError
from refdp.privacy.curator import Curator
from refdp.protocols import quality
from refdp.protocols.journal import MemoryJournal
from refdp.protocols.messages import MINER, Board, Message, Rules, Turn
from refdp.protocols.owners import Owner, rules_of
from refdp.protocols.quality import Control
from tests.inprivate.cases import BINARY, REGRESSION, THREE, made_up, params, sampled

RULES = Rules("a run", REGRESSION, 3, 2, 2, 1.5)


def tree(feature: float = 0.0, value: float = 0.5, leaf: float = 1.0) -> Tree:
    return Tree(np.array([[feature, value]]), np.array([leaf, -0.25]))


def message(round: Any = 0, sender: Any = 2, kind: Any = "trees", order: Any = ((0, 0),), turns: Any = ()) -> bytes:
    return Message("a run", round, sender, kind, order, turns).to_bytes()


def test_rounds_and_owners_are_from_none_to_the_last() -> None:
    for round, sender in ((0, MINER), (1, 2), (0, 0), (1, MINER)):
        read = RULES.read(message(round, sender, order=()))
        assert (read.round, read.sender) == (round, sender)
    assert RULES.read(message(1, 2, order=((0, 2), (1, 2)))).order == ((0, 2), (1, 2))
    for bad in ({"round": 2}, {"round": -1}, {"sender": 3}, {"sender": MINER - 1}, {"round": 0.5}, {"round": True},
                {"order": ((2, 0),)}, {"order": ((0, 3),)}, {"order": ((0, -1),)}, {"order": ((-1, 0),)},
                {"order": ((0, 1), (0, 0))}, {"order": ((0, 0), (0, 0))}, {"kind": "call"}):  # fmt: skip
        with pytest.raises(MessageError, match="malformed message"):
            RULES.read(message(**({"round": 1, "sender": 2, "order": ()} | bad)))


def test_no_turn_comes_after_its_message() -> None:
    assert RULES.read(message(1, 1, order=((1, 1),))).place == (1, 1)
    for kind in ("end", "verdict"):
        RULES.read(message(1, MINER if kind == "end" else 0, kind, order=((1, 2),)))
    for order in (((1, 2),), ((0, 0), (1, 2))):
        with pytest.raises(MessageError, match="a turn after the one that sends"):
            RULES.read(message(1, 1, order=order))
    with pytest.raises(MessageError, match="a turn after the one that sends"):
        RULES.read(message(0, 2, "end", order=((1, 0),)))


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        ((0, 0.0), True), ((0, 1.0), True), ((0, 0.3), True), ((0, -0.1), False), ((0, 1.1), False),
        ((1, 0.0), True), ((1, 2.0), True), ((1, 1.0), True), ((1, 0.5), False), ((1, 3.0), False), ((1, -1.0), False),
        ((2, -5.0), True), ((2, 5.0), True), ((2, 2.5), True), ((2, 5.1), False), ((3, 0.0), False), ((-1, 0.0), False),
        ((0.5, 0.0), False), ((0, 0.5, 1.5), True), ((0, 0.5, -1.5), True), ((0, 0.5, 1.6), False),
        ((0, 0.5, -1.6), False),
    ],
    ids=str,
)  # fmt: skip
def test_splits_and_coefficients_are_possible_ones(given: tuple[float, ...], fits: bool) -> None:
    data = message(turns=(Turn(0, 0, (tree(*given),)),))
    if fits:
        (read,) = RULES.read(data).turns
        assert read.trees[0].splits.tolist() == [list(given[:2])] and read.trees[0].leaves.dtype == np.float64
    else:
        with pytest.raises(MessageError, match="malformed message"):
            RULES.read(data)


def test_a_turn_has_a_tree_a_score_or_none() -> None:
    for count in (0, 1):
        assert len(RULES.read(message(turns=(Turn(0, 0, (tree(),) * count),))).turns[0].trees) == count
    three = Rules("a run", THREE, 3, 2, 2, 1.5)
    assert len(three.read(message(turns=(Turn(0, 0, (tree(),) * 3),))).turns[0].trees) == 3
    for rules, count in ((RULES, 2), (three, 1), (three, 2), (three, 4)):
        with pytest.raises(MessageError, match=f"{count} trees in a turn"):
            rules.read(message(turns=(Turn(0, 0, (tree(),) * count),)))
    leaves = Tree(np.empty((0, 2)), np.array([1.0]))
    assert Rules("a run", REGRESSION, 3, 2, 1, 1.5).read(message(turns=(Turn(0, 0, (leaves,)),))).turns
    for bad in (leaves, Tree(np.zeros((1, 3)), np.zeros(2)), Tree(np.zeros((3, 2)), np.zeros(4)),
                Tree(np.zeros((1, 2)), np.array([np.inf, 0.0])), Tree(np.zeros(2), np.zeros(2))):  # fmt: skip
        with pytest.raises(MessageError):
            RULES.read(message(turns=(Turn(0, 0, (bad,)),)))


def test_other_trees_are_told_by_splits_and_by_leaves() -> None:
    for other in (tree(value=0.25), tree(leaf=0.5)):
        board = Board(RULES)
        board.hear(message(0, 1, turns=(Turn(0, 0, (tree(),)),)))
        with pytest.raises(MessageError, match="other trees of owner 0 in round 0"):
            board.hear(message(0, 2, turns=(Turn(0, 0, (other,)),)))
        board.hear(message(0, 2, turns=(Turn(0, 0, (tree(),)),)))
        assert [turn.place for turn in board.turns] == [(0, 0)]


# --- Quality ----------------------------------------------------------------------------------------------------------


def test_an_error_is_a_distance_or_a_wrong_class() -> None:
    numbers = made_up(REGRESSION, 5, 1)
    scores = np.array([[0.5, -0.25, 0.0, 2.0, -1.0]])
    np.testing.assert_array_equal(quality.errors(numbers, scores), numbers.y - scores[0])
    two = made_up(BINARY, 6, 2)
    said = np.array([[0.5, 0.0, -0.5, 1e-9, -1e-9, 0.0]])  # 0 is no yes
    assert quality.errors(two, said).tolist() == [float((s > 0) != y) for s, y in zip(said[0], two.y)]
    three = made_up(THREE, 9, 3)
    table = np.random.default_rng(4).normal(size=(3, 9))
    table[:, 0] = 1.0  # a tie goes to the first
    expected = [float(max(range(3), key=lambda k: table[k, r]) != three.y[r]) for r in range(9)]
    assert quality.errors(three, table).tolist() == expected


def test_scores_are_sums_of_shrunken_trees() -> None:
    p, records = params(shrinkage=0.25), made_up(REGRESSION, 20, 5)
    turns = [Turn(0, 0, (tree(0, 0.5),)), Turn(0, 1, ()), Turn(0, 2, (tree(1, 2.0, 8.0),))]
    found = quality.scores_by(p, records, turns)
    first = np.where(records.x[:, 0] >= 0.5, -0.25, 1.0)
    second = np.where(records.x[:, 1] == 2, -0.25, 8.0)
    np.testing.assert_allclose(found, [0.25 * (first + second)], rtol=1e-15)
    none = quality.falls(p, records, [], [], 0.5, 0.25)
    assert none.tolist() == [-0.25] * 20
    better = quality.falls(p, records, [], turns, 0.0, 10.0)
    true = np.abs(records.y) - np.abs(records.y - found[0])
    np.testing.assert_allclose(better, true, atol=2.0**-24)
    assert quality.on_public(p, records, [], turns, 0.125) == pytest.approx(float((true - 0.125).sum()), abs=1e-5)


def test_a_change_of_the_error_is_cut_on_both_sides() -> None:
    assert [float(quality.error_change(before, after, 1.0, 2.0)) for before, after in
            ((-4.0, 1.0), (1.0, 4.0), (3.0, 1.5), (0.0, 0.0), (9.0, -8.5))] == [2.0, -2.0, 0.5, -1.0, -0.5]  # fmt: skip


class Judging(Owner):
    """An owner whose checks find what they are told."""

    says = 0.0

    def judged(self, number: int, before: list[Turn], after: list[Turn]) -> float:
        self.seen = [turn.place for turn in before], [turn.place for turn in after]
        return self.says


def test_a_last_tree_is_refused_when_errors_rise_at_all() -> None:
    p = params(owners=3)
    rules = rules_of(p, REGRESSION)
    splits = np.column_stack([np.zeros(3), np.full(3, 0.5)])
    turns = [Turn(0, k, (Tree(splits, np.zeros(4)),)) for k in (0, 1)]
    for says, refused in ((-0.5, [(0, 1)]), (0.0, []), (0.5, []), (-1e-9, [(0, 1)])):
        with ExitStack() as doors:
            owner = Judging.behind(doors, rules, p, 2, made_up(REGRESSION, 12, 1), Curator(sampled(2), p.relation),
                                   MemoryJournal(), control=Control(threshold=0.0))  # fmt: skip
            assert isinstance(owner, Judging)
            owner.says = says
            owner.hear(Message(rules.run, 0, 1, "trees", ((0, 0), (0, 1)), tuple(turns)).to_bytes())
            owner._check_last(0)
            assert owner.seen == ([(0, 0)], [(0, 0), (0, 1)])
            assert [turn.place for turn in owner._refused] == refused
            assert [bool(turn.trees) for turn in owner.board.turns] == [True, not refused]
    with ExitStack() as doors:
        free = Owner.behind(doors, rules, p, 2, made_up(REGRESSION, 12, 1), Curator(sampled(2), p.relation),
                            MemoryJournal())  # fmt: skip
        with pytest.raises(InvalidParameter, match="under private control only"):
            free.measure(0)


def test_a_refusal_counts_where_the_own_turn_arrived() -> None:
    """Owner 1 refused owner 0's trees in a message with its own. Whoever lists its turn has heard so."""
    for order, arrived in ((((0, 0),), False), (((0, 0), (0, 1)), True)):
        board = Board(RULES)
        first = Turn(0, 0, (tree(),))
        board.hear(message(0, 0, turns=(first,)))
        board.refuse(first)
        board.add(Turn(0, 1, (tree(leaf=0.5),)))
        board.hear(message(0, 2, order=order))
        assert [turn.place for turn in board.turns] == list(order)
        assert [bool(turn.trees) for turn in board.turns] == ([False, True] if arrived else [True])
        assert board.unsure is None and board.doubted == {}
