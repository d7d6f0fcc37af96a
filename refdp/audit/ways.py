"""Streams, participants and owners: a paper's other ways of training, as papers that the same audit replays.

Which batch, participant or owner has a record follows from the record alone, so that neighbours differ in one record of
one of them. What is published is the model together with everything that passes: every step that is told, how many
rounds and bytes there were, every message of the owners.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from refdp.audit.replay import Pair
from refdp.checks import check_count
from refdp.data.memory import Memory
from refdp.data.population import Query, Step, Sums, to_json
from refdp.data.records import Records, Schema
from refdp.data.shards import Network, Shards
from refdp.errors import InvalidParameter
from refdp.faces.registry import Paper, PaperText
from refdp.faces.training import source_for
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from refdp.papers import sgbdt
from refdp.privacy.curator import Curator, Request, Source
from refdp.privacy.events import Plan
from refdp.privacy.shares import Shares as Shared
from refdp.protocols import owners as protocol
from refdp.protocols.journal import MemoryJournal
from refdp.protocols.rounds import conduct

STREAMS, PARTICIPANTS, OWNERS = ("sgbdt",), ("sgbdt", "fedgbdt"), ("inprivate",)
MOST = 100


@dataclass(frozen=True)
class Way:
    """paper: to be audited in the place of the paper. arranged: the rows of a pair, group after group.

    source: of a recorded run's randomness, from its parameters and a generator.
    """

    paper: Paper
    arranged: Callable[[Pair], Pair]
    source: Callable[[Any, np.random.Generator], Source] = source_for


def group_of(records: Records, groups: int) -> NDArray[np.int64]:
    """The group of each record, from its own bytes. Shape (records,)."""
    rows = (np.ascontiguousarray(row).tobytes() + label.tobytes() for row, label in zip(records.x, records.y))
    return np.array([zlib.crc32(row) % groups for row in rows], dtype=np.int64)


def parted(records: Records, groups: int) -> list[Records]:
    """The records of each group."""
    group = group_of(records, groups)
    return [records.take(np.flatnonzero(group == number)) for number in range(groups)]


def arranged(groups: int) -> Callable[[Pair], Pair]:
    """Pairs whose rows stand group after group, as the hosts and batches hold them."""

    def pair_of(pair: Pair) -> Pair:
        group = group_of(pair.base, groups)
        own = int(group_of(pair.new, groups)[0])
        base = pair.base.take(np.argsort(group, kind="stable"))
        return replace(pair, base=base, position=int(np.count_nonzero(group < own)))

    return pair_of


def stream(paper: Paper, batches: int) -> Way:
    """`sgbdt.train_stream` on so many batches. Errors: InvalidParameter for another paper or fewer than 2."""
    _check("--stream", paper, STREAMS, batches)

    def train(params: Any, records: Records, curator: Curator) -> Any:
        return sgbdt.train_stream(params, parted(records, batches), curator)

    def plan(params: Any, schema: Schema, *, proved: bool = False) -> Plan:
        sgbdt.check_stream(params)
        return sgbdt.plan(params, schema, proved=proved, batches=batches)

    return Way(_with(paper, train=train, plan=plan), arranged(batches))


def participants(paper: Paper, count: int) -> Way:
    """Training on so many participants' populations behind secure sums, each of whom adds its share of the noise."""
    _check("--participants", paper, PARTICIPANTS, count)

    def train(params: Any, records: Records, curator: Curator) -> Any:
        population = Overheard([Memory(part) for part in parted(records, count)], Network(count))
        model = cast("Any", paper.module).train_on(params, records.schema, population, curator)
        return Published(model, population.network.traffic.to_dict(), population.heard)

    def source(params: Any, generator: np.random.Generator) -> Source:
        *own, rest = generator.spawn(count + 1)
        return cast("Source", InShares(Shared(Network(count), count, rest, own), source_for(params, generator)))

    return Way(_with(paper, train=train), arranged(count), source)


def owners(paper: Paper, count: int) -> Way:
    """Algorithm 2 of InPrivate Digging among so many owners, by messages."""
    _check("--owners", paper, OWNERS, count)

    def train(params: Any, records: Records, curator: Curator) -> Any:
        chosen = replace(params, owners=count)
        rules = protocol.rules_of(chosen, records.schema)
        parts = parted(records, count)
        edges = np.cumsum([0, *(part.size for part in parts)])
        with ExitStack() as doors:
            sides = []
            for position, part in enumerate(parts):
                source = _Through(curator, position, int(edges[position]), int(edges[position + 1]), records.size)
                own = Curator(cast("Source", source), chosen.relation)
                sides.append(protocol.Owner.behind(doors, rules, chosen, position, part, own, MemoryJournal()))
            outcome = conduct(chosen, rules, sides)
        messages = [(sent.sender, sent.data) for sent in outcome.log]
        return Published(outcome.model, {"finished": outcome.finished, "skipped": outcome.skipped}, messages)

    functions = {"train": train, "plan": protocol.plan, "certificate": protocol.certificate, "CURATORS": count}
    return Way(_with(paper, **functions), arranged(count))


@dataclass
class InShares:
    """Noise in shares, one of each participant; all other randomness, and noise that has no shares, from one place.

    A continuous Gaussian of one deviation has none (`refdp.privacy.shares.Shares`), nor has a choice.
    """

    shares: Shared
    rest: Source

    def release(self, request: Request) -> Any:
        """The output, of the value's shape."""
        law = request.mechanism
        in_one = isinstance(law, Gaussian) and not isinstance(law.sd, tuple)
        has_shares = isinstance(law, Gaussian | DiscreteGaussian | Laplace | DiscreteLaplace) and not in_one
        return (self.shares if has_shares else self.rest).release(request)

    def draw(self, request: Request) -> Any:
        """Public draws."""
        return self.rest.draw(request)

    def assign(self, request: Request) -> Any:
        """Secret coins of all rows."""
        return self.rest.assign(request)


@dataclass
class Published:
    """What everybody can see: the model, how much passed, and what."""

    model: Any
    traffic: Any
    messages: Any

    def to_json(self) -> str:
        """All of it."""
        return f"{self.model.to_json()}\n{self.traffic!r}\n{self.messages!r}"


@dataclass
class Overheard(Shards):
    """Shards that write down what every participant hears: steps and questions, which are public."""

    heard: list[Any] = field(default_factory=list)

    def __init__(self, hosts: Any, network: Network) -> None:
        super().__init__(hosts, network)
        self.heard = []

    def tell(self, step: Step) -> None:
        """Tell every host the step."""
        self.heard.append(to_json(step))
        super().tell(step)

    def ask(self, query: Query) -> Sums:
        """The sums of all hosts, exact, in units of GRID; shape: that of the query."""
        self.heard.append(to_json(query))
        return super().ask(query)


@dataclass
class _Through:
    """One owner's requests, through the audited curator's source, under scope numbers of their own.

    low, high: the owner's rows among all `total`. Coins are asked for all rows and taken for its own, so that a replay
    finds the audited record where it stands among all.
    """

    curator: Curator
    position: int
    low: int
    high: int
    total: int

    def release(self, request: Request) -> Any:
        """The source's output."""
        return self.curator._ask(self._own(request))

    def draw(self, request: Request) -> Any:
        """The source's draws."""
        return self.curator._ask(self._own(request))

    def assign(self, request: Request) -> Any:
        """The owner's part of an assignment of all rows."""
        coins: Any = self.curator._ask(replace(self._own(request), size=self.total))
        return np.asarray(coins)[self.low : self.high]  # keyed coins are an array only when they are asked for one

    def _own(self, request: Request) -> Request:
        shift = 1000 * (self.position + 1)
        scopes = tuple(replace(scope, serial=scope.serial + shift) for scope in request.scopes)
        path = (f"owner {self.position}", *request.path)
        return replace(request, path=path, serial=request.serial + shift, scopes=scopes)


def _with(paper: Paper, **functions: Any) -> Paper:
    names = {name: getattr(paper.module, name) for name in dir(paper.module) if not name.startswith("__")}
    text = SimpleNamespace(**{**names, **functions}, __name__=getattr(paper.module, "__name__", ""))
    return Paper(paper.name, cast("PaperText", text))


def _check(option: str, paper: Paper, allowed: tuple[str, ...], count: int) -> None:
    if paper.name not in allowed:
        raise InvalidParameter(f"{option} for {paper.name}: {' and '.join(allowed)} train in this way")
    check_count(option, count, least=2, most=MOST)
