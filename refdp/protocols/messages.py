"""What owners of InPrivate Digging pass to each other: trees made of released values, as checked JSON bytes.

A digest shows damage, it does not show who wrote a message: channels are authenticated elsewhere (section IV-B).
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from refdp.data.records import Categorical, Feature, Floats, Schema, Tree
from refdp.documents import parsed
from refdp.errors import MessageError

MINER = -1
"""Position of the data miner, who asks for each round and gets the trees at the end."""


@dataclass(frozen=True)
class Turn:
    """What one owner added in one round: one tree a score, or none where a check refused it."""

    round: int
    owner: int
    trees: tuple[Tree, ...]

    @property
    def place(self) -> tuple[int, int]:
        """(round, owner): the place in the order of training."""
        return self.round, self.owner


FIELDS = ("run", "round", "sender", "kind", "order", "turns")
Kind = Literal["request", "trees", "verdict", "end"]
"""The miner's call for a round, an owner's new trees, its word on the round's last tree, the miner's end of a round."""


@dataclass(frozen=True)
class Message:
    """run: public name of the run. round, sender: when and by whom it was sent.

    order: (round, owner) of every turn so far, in training order. turns: those that the message brings along.
    """

    run: str
    round: int
    sender: int
    kind: Kind
    order: tuple[tuple[int, int], ...]
    turns: tuple[Turn, ...]

    @property
    def place(self) -> tuple[int, float]:
        """Where it comes in the order of training."""
        return self.round, math.inf if self.kind in ("verdict", "end") else self.sender

    def to_bytes(self) -> bytes:
        """Canonical bytes: sorted keys, shortest round-trip numbers, a digest. Equal messages give equal bytes."""
        turns = [{"round": t.round, "owner": t.owner, "trees": [_tree_out(tree) for tree in t.trees]}
                 for t in self.turns]  # fmt: skip
        body = {"run": self.run, "round": self.round, "sender": self.sender, "kind": self.kind,
                "order": [list(place) for place in self.order], "turns": turns}  # fmt: skip
        text = json.dumps({"message": body, "sha256": _digest(body)}, sort_keys=True, separators=(",", ":"))
        return text.encode("ascii")


@dataclass(frozen=True)
class Rules:
    """What every owner knows of a run beforehand. leaf_bound: the largest coefficient (infinite: not cut).

    depth: levels of a tree, that of the leaves counted.
    """

    run: str
    schema: Schema
    owners: int
    rounds: int
    depth: int
    leaf_bound: float

    def read(self, data: bytes) -> Message:
        """The message in these bytes. Errors: MessageError for anything that the protocol cannot have written."""
        try:
            document = parsed(data.decode("ascii"))
            body, sound = document["message"], document["sha256"] == _digest(document["message"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise MessageError("not a message: it is cut short, or was not written by refdp") from None
        if not sound:
            raise MessageError("the message is damaged: its digest does not match its content")
        try:
            message = self._message(body)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise MessageError(f"malformed message: {error}") from None
        return message

    def _message(self, body: Any) -> Message:
        _need(set(body) == set(FIELDS), f"fields {sorted(body)}")
        _need(body["run"] == self.run, f"run {body['run']!r}, this is run {self.run!r}")
        _need(body["kind"] in get_args(Kind), f"kind {body['kind']!r}")
        round, sender = _whole(body["round"], 0, self.rounds - 1), _whole(body["sender"], MINER, self.owners - 1)
        turns = tuple(self._turn(turn) for turn in body["turns"])
        order = tuple(self._place(*place) for place in body["order"])
        message = Message(self.run, round, sender, body["kind"], order, turns)
        _need(list(order) == sorted(set(order)), "turns that are not in the order of training")
        _need(not order or order[-1] <= message.place, "a turn after the one that sends")
        places = [turn.place for turn in turns]
        _need(places == sorted(set(places)) and set(places) <= set(order), "trees that are not among the turns")
        return message

    def _place(self, round: Any, owner: Any) -> tuple[int, int]:
        return _whole(round, 0, self.rounds - 1), _whole(owner, 0, self.owners - 1)

    def _turn(self, body: Any) -> Turn:
        trees = tuple(self._tree(tree) for tree in body["trees"])
        _need(len(trees) in (0, self.schema.scores), f"{len(trees)} trees in a turn, {self.schema.scores} needed")
        return Turn(*self._place(body["round"], body["owner"]), trees)

    def _tree(self, body: Any) -> Tree:
        leaves = 2 ** (self.depth - 1)
        values = _numbers(body["leaves"], (leaves,), "leaves")
        _need(float(np.abs(values).max()) <= self.leaf_bound, f"a coefficient beyond {self.leaf_bound}")
        splits = _numbers(body["splits"], (leaves - 1, 2), "splits")
        feature, value = splits.T
        _need(bool(np.isin(feature, np.arange(len(self.schema.features))).all()), "a split by no feature")
        low, high, categorical = np.array([_span(f) for f in self.schema.features])[feature.astype(np.intp)].T
        possible = (low <= value) & (value <= high) & ((categorical == 0) | (value == np.floor(value)))
        _need(bool(possible.all()), "a split at an impossible value")
        return Tree(splits, values)


@dataclass
class Board:
    """The trees that an owner or the miner knows of, put together from messages.

    complete: whether it hears every message, as the miner does, so that it can tell who refused what. known: turns by
    place. heard: round, sender and kind of every message taken in. unsure: an own turn of which
    nobody has said yet that it arrived, with the turns that it refused as they were before (doubted).
    """

    rules: Rules
    complete: bool = False
    known: dict[tuple[int, int], Turn] = field(default_factory=dict)
    heard: set[tuple[int, int, str]] = field(default_factory=set)
    unsure: tuple[int, int] | None = None
    doubted: dict[tuple[int, int], Turn] = field(default_factory=dict)

    def hear(self, data: bytes) -> None:
        """Take in a message. A turn that was refused stays so; an own turn that never arrived is forgotten.

        Errors: MessageError, with nothing taken in, if it is damaged, malformed or repeated, says of an earlier turn
        something else than was heard before, or leaves one out.
        """
        message = self.rules.read(data)
        name = message.round, message.sender, message.kind
        if name in self.heard:
            raise MessageError(f"repeated message: {name[2]} of owner {name[1]} in round {name[0]} came before")
        known = self._merged(message)
        self.heard.add(name)
        self.known, self.unsure, self.doubted = known, None, {}

    def add(self, turn: Turn) -> None:
        """An own turn, about to be sent."""
        self.known[turn.place], self.unsure = turn, turn.place

    def refuse(self, turn: Turn) -> Turn:
        """Take the trees out of a turn; what is left of it."""
        self.doubted[turn.place] = turn
        self.known[turn.place] = Turn(*turn.place, ())
        return self.known[turn.place]

    def _merged(self, message: Message) -> dict[tuple[int, int], Turn]:
        earlier = self.known
        if self.unsure is not None and self.unsure not in message.order:
            earlier = {**earlier, **self.doubted}  # what was said in a message that never arrived does not count
        for turn in message.turns:
            before = earlier.get(turn.place, turn)
            if turn.trees and before.trees and not _same(turn, before):
                raise MessageError(f"other trees of owner {turn.owner} in round {turn.round} than came before")
        if self.complete:
            self._check_refusals(message, earlier)
        merged = {**earlier, **{turn.place: turn for turn in message.turns}}
        merged |= {place: turn for place, turn in earlier.items() if not turn.trees}  # a refused turn stays so
        wrong = {place for place in merged if place not in message.order and place != self.unsure}
        wrong |= {place for place in message.order if place not in merged}
        if wrong:
            raise MessageError(f"turns {sorted(wrong)} (round, owner) are missing, in the message or before it")
        return {place: merged[place] for place in message.order}

    def _check_refusals(self, message: Message, earlier: dict[tuple[int, int], Turn]) -> None:
        """An owner may refuse the last trees before its own, no others; the miner passes on what was refused."""
        full = [place for place, turn in earlier.items() if turn.trees and place < message.place]
        refused = {turn.place for turn in message.turns if not turn.trees} & set(full)
        if message.sender != MINER and refused - {max(full, default=None)}:
            raise MessageError(
                f"owner {message.sender} refuses trees of turns {sorted(refused)} (round, owner): it may check the "
                "last ones before its own only"
            )

    @property
    def turns(self) -> list[Turn]:
        """What is known, in training order."""
        return [self.known[place] for place in sorted(self.known)]


def _same(one: Turn, other: Turn) -> bool:
    return all(
        np.array_equal(a.splits, b.splits) and np.array_equal(a.leaves, b.leaves)
        for a, b in zip(one.trees, other.trees, strict=True)
    )


def _span(feature: Feature) -> tuple[float, float, bool]:
    """Smallest and largest value that a split can have, and whether it is a category."""
    if isinstance(feature, Categorical):
        return 0.0, len(feature.categories) - 1.0, True
    return feature.low, feature.high, False


def _whole(value: Any, low: int, high: int) -> int:
    _need(type(value) in (int, float) and value == math.floor(value) and low <= value <= high,
          f"{value!r}, a whole number from {low} to {high} is needed")  # fmt: skip
    return int(value)


def _numbers(values: Any, shape: tuple[int, ...], what: str) -> Floats:
    found = np.array(values).reshape(shape if 0 in shape else np.shape(values))
    _need(found.shape == shape and found.dtype.kind in "fiu" and bool(np.isfinite(found).all()),
          f"{what}: finite numbers of shape {shape} are needed")  # fmt: skip
    return found.astype(np.float64)


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _tree_out(tree: Tree) -> dict[str, Any]:
    return {"splits": tree.splits.tolist(), "leaves": tree.leaves.tolist()}


def _digest(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
