"""Algorithm 2 of InPrivate Digging among owners: each has its own records behind its own door, and sends messages.

    rules = rules_of(params, schema)
    with ExitStack() as doors:
        owners = [Owner.behind(doors, rules, params, position, records, Curator(...), journal) for ...]
        outcome = conduct(params, rules, owners)     # rounds.py

A step of an owner is a function of the trees so far, its own records and its curator. Owners that fail are skipped and
may come back; what an owner has begun in a round it never begins again, so that nothing is spent twice. Owners that can
come back in another process keep a `FileJournal` (journal.py).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, field, replace

from refdp.data.memory import Memory
from refdp.data.population import Population
from refdp.data.reading import plan_of
from refdp.data.records import Records, Schema, Tree
from refdp.errors import InvalidParameter
from refdp.ledger.certificate import Certificate, Guarantee, issue
from refdp.papers.inprivate import Params, begin, follow, new_trees, round_share
from refdp.privacy.curator import Blocks, Curator
from refdp.privacy.events import Plan, Relation
from refdp.protocols.journal import Journal
from refdp.protocols.messages import Board, Kind, Message, Rules, Turn
from refdp.protocols.quality import Control, Name, falls, on_public

OWNERS = {Relation.ADD_REMOVE: "inprivate/algorithm-2", Relation.REPLACE_ONE: "inprivate/algorithm-2-replace-one"}


# --- Plan of one owner ------------------------------------------------------------------------------------------------


def shares(params: Params, control: Control | None) -> tuple[float, ...]:
    """Share of an owner's records in each round, and, to measure privately, all that is left after the rounds.

    Errors: InvalidParameter for amplified turns where no record is left unused.
    """
    if control is None or not control.private:
        return params.round_shares()
    if params.turn_budget == "amplified":
        raise InvalidParameter("turn_budget = 'amplified' with private control: it uses the records that no round does")
    halves = [float(round_share(number)) for number in range(1, params.rounds + 1)]
    return (*halves, halves[-1])


def divided(
    params: Params, control: Control | None, population: Population, curator: Curator
) -> AbstractContextManager[Blocks]:
    """An owner's records, secretly divided between the rounds."""
    weights = shares(params, control)
    return curator.partition("round", weights, population, params.sizes(len(weights), population.size))


def plan(params: Params, schema: Schema, control: Control | None = None, *, proved: bool = False) -> Plan:
    """The most that one owner releases in the whole run. A record is at one owner: this is what the run costs it."""
    return plan_of(Whole(control if control is not None and control.private else None), params, schema, proved=proved)


@dataclass(frozen=True)
class Whole:
    """All that an owner can ever be asked for: a turn, a check and an advance a round. control: private, or None."""

    control: Control | None

    def __call__(self, params: Params, schema: Schema, population: Population, curator: Curator) -> None:
        """On a population, nobody else's trees being there."""
        candidates = begin(params, schema, population)
        with divided(params, self.control, population, curator) as blocks:
            for number in range(params.rounds):
                with blocks.block(number):
                    new_trees(params, schema, candidates, population, curator)
            if self.control is not None:
                with blocks.block(params.rounds):
                    for _ in range(params.rounds):
                        self.control.measured("quality", params, 0.0, curator)
                        self.control.measured("advance", params, 0.0, curator)


def certificate(params: Params, schema: Schema, control: Control | None = None) -> Certificate:
    """About neighbours that differ in one record of one owner. Who the owners are is public."""
    claimed = Guarantee(params.epsilon if params.scheme != "np" else math.inf, 0.0)
    declared, proved = plan(params, schema, control), plan(params, schema, control, proved=True)
    issued = issue("inprivate", claimed, declared, proved, params.breaches(schema), schema=schema, params=params,
                   control=control, rests_on=(*params.premises(), OWNERS[params.relation]),
                   grants=("one-owner",))  # fmt: skip
    return replace(issued, proofs=())  # they are about one curator's program


def rules_of(params: Params, schema: Schema, session: str = "") -> Rules:
    """What all owners know beforehand. The run's name is a digest of the public parameters, the schema and the session.

    session: what the miner calls this run; another one for each, lest messages of an earlier run be taken for its own.
    """
    text = repr((sorted(asdict(params).items()), schema, session))
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Rules(name, schema, params.owners, params.rounds, params.depth, params.largest_coefficient())


# --- An owner ---------------------------------------------------------------------------------------------------------


@dataclass
class Owner:
    """One owner's side of a run. Private: nothing but what `Participant` lists may leave.

    journal: the rounds and measurements whose budget is spent, finished or not.
    """

    params: Params
    position: int
    population: Memory
    curator: Curator
    blocks: Blocks
    board: Board
    journal: Journal
    broadcast: bool = False
    control: Control | None = None
    _refused: list[Turn] = field(default_factory=list)

    @classmethod
    def behind(cls, doors: ExitStack, rules: Rules, params: Params, position: int, records: Records, curator: Curator,
               journal: Journal, *, broadcast: bool = False, control: Control | None = None) -> Owner:  # fmt: skip
        """An owner whose records are divided, secretly, between the rounds. doors: closed when the run is over.

        Errors: JournalError if the journal is of another run or owner, or the curator's source is not guarded by it.
        """
        population = Memory(records)
        blocks = doors.enter_context(divided(params, control, population, curator))
        journal.check(rules.run, position)
        return cls(params, position, population, curator, blocks, Board(rules), journal, broadcast, control)

    def hear(self, data: bytes) -> None:
        """Take in a message of another owner. Errors: MessageError, with nothing taken in."""
        self.board.hear(data)

    def answer(self, number: int) -> bytes:
        """Alg. 2, l. 5 to 10. Errors: MessageError if this round was begun before, even if it was never finished."""
        self.journal.begin(number, "trees")
        self._check_last(number)
        with self.blocks.block(number):
            trees = step(self.params, self.board.rules.schema, self.population, self.board.turns, self.curator)
        own = Turn(number, self.position, trees)
        self.board.add(own)
        return self._message(number, "trees", [own])

    def judge(self, number: int) -> bytes:
        """Check the round's last tree, which no owner after it can."""
        self._check_last(number)
        return self._message(number, "verdict", [])

    def measure(self, number: int) -> float:
        """The advance of a round, on records that no round uses. Errors: InvalidParameter without private control."""
        if self.control is None or not self.control.private:
            raise InvalidParameter("an owner measures advances under private control only")
        before = [turn for turn in self.board.turns if turn.round < number]
        return self._measured("advance", number, before, self.board.turns, self.control.threshold)

    def _check_last(self, number: int) -> None:
        """Refuse the last tree that another owner added in this round, if it makes things worse."""
        turns = self.board.turns
        others = [turn for turn in turns if turn.round == number and turn.owner != self.position and turn.trees]
        if self.control is None or not others:
            return
        last = others[-1]
        before = [turn for turn in turns if turn.place < last.place]
        if self.judged(number, before, [*before, last]) < 0:
            self._refused.append(self.board.refuse(last))

    def judged(self, number: int, before: list[Turn], after: list[Turn]) -> float:
        """Total fall of the error with the tolerance added, exact on public records, else with noise."""
        control = self.control
        assert control is not None
        if control.public is not None:
            return on_public(self.params, control.public, before, after, -control.tolerance)
        return self._measured("quality", number, before, after, -control.tolerance)

    def _measured(self, name: Name, number: int, before: list[Turn], after: list[Turn], tolerance: float) -> float:
        assert self.control is not None
        self.journal.begin(number, name)
        with self.blocks.block(self.params.rounds):
            part = self.population.selected()
            total = falls(self.params, part, before, after, tolerance, self.control.bound).sum()
            return self.control.measured(name, self.params, float(total), self.curator)

    def _message(self, number: int, kind: Kind, own: list[Turn]) -> bytes:
        """All trees known, or only what is new where everybody gets every message (section VI-C)."""
        turns = sorted([*self._refused, *own], key=lambda turn: turn.place) if self.broadcast else self.board.turns
        self._refused = []
        order = tuple(sorted(self.board.known))
        return Message(self.board.rules.run, number, self.position, kind, order, tuple(turns)).to_bytes()


def step(
    params: Params, schema: Schema, population: Population, turns: Sequence[Turn], curator: Curator
) -> tuple[Tree, ...]:
    """Alg. 2, l. 8 and 9: residuals by the trees so far, new trees from this round's records."""
    candidates = begin(params, schema, population)
    for turn in turns:
        follow(params, population, turn.trees)
    return new_trees(params, schema, candidates, population, curator)
