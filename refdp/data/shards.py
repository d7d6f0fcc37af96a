"""Several populations behind one: shards of a table, or participants whose records stay where they are.

    network = Network(len(parts), least=3)
    population = Shards([Memory(part) for part in parts], network)

Only sums travel, as int64 in units of the public grid, so that they equal those of one host bit by bit. `Network` says
who answers in each round and counts rounds and bytes; without one everybody answers always. Whoever misses a round is
left out of its sums, pays nothing for it, and follows the later ones from what was published meanwhile. What a record
has spent never travels.

Where the noise comes from is the source's affair (sources.py, shares.py): a trusted aggregator's generator, or a share
of each participant, so that nobody sees a sum with less noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.data.candidates import Candidates
from refdp.data.nothing import Nothing
from refdp.data.population import (
    Advance,
    Descend,
    Encode,
    Pay,
    Place,
    Population,
    Query,
    Reports,
    Root,
    Step,
    Sums,
)
from refdp.data.records import Records
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.privacy.curator import Assigned
from refdp.privacy.sources import part_of

INTEGER = 8
"""Bytes of an integer on the wire; so is every released number that is sent back."""

Attendance = Callable[[int], NDArray[np.bool_]]
"""Who answers in a round, counted from 0: a mask over the participants. It is public."""


@dataclass
class Communication:
    """Rounds of secure summation, and bytes of one participant: sent up, and received from the server."""

    rounds: int = 0
    sent: int = 0
    received: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"rounds": self.rounds, "bytes_sent": self.sent, "bytes_received": self.received}


@dataclass
class Network:
    """Who takes part, and who answers in each round: public.

    attendance: who answers, all by default. least: how many must answer, or the round is not summed.
    """

    participants: int
    attendance: Attendance | None = None
    least: int = 1
    traffic: Communication = field(default_factory=Communication)
    present: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        if self.participants < 1:
            raise InvalidRecords("0 participants given, at least 1 is needed")
        if not 1 <= self.least <= self.participants:
            raise InvalidParameter(f"least = {self.least}: 1 to {self.participants}, the participants, is allowed")
        self.present = np.ones(self.participants, dtype=np.bool_)

    def begin_round(self) -> None:
        """Who answers in the round that begins. Errors: InvalidRecords if fewer than `least`; attendance is public."""
        number = self.traffic.rounds
        if self.attendance is not None:
            self.present = np.asarray(self.attendance(number), dtype=np.bool_)
        if int(self.present.sum()) < self.least:
            raise InvalidRecords(
                f"round {number}: {int(self.present.sum())} of {self.participants} participants answered, "
                f"{self.least} are needed for enough noise"
            )
        self.traffic.rounds += 1


class Shards:
    """A `Population` made of populations. Errors: InvalidParameter unless there is one for each participant."""

    def __init__(self, hosts: Sequence[Population], network: Network | None = None) -> None:
        self.hosts = tuple(hosts)
        self.network = Network(len(hosts)) if network is None else network
        if self.network.participants != len(self.hosts):
            raise InvalidParameter(
                f"{len(self.hosts)} hosts for {self.network.participants} participants: one each is needed"
            )
        self._candidates: Candidates | None = None
        self._charged = False

    @property
    def size(self) -> int:
        """Number of record slots for secret coins, host after host. Private under add-remove."""
        return sum(host.size for host in self.hosts)

    def tell(self, step: Step) -> None:
        """Every host follows what is published; only those that answer charge their records."""
        if isinstance(step, Pay):
            self.network.begin_round()
            self._charged = True
            for host in self._answering():
                host.tell(step)
            return
        self.network.traffic.received += INTEGER * self._published(step)
        for host in self.hosts:
            host.tell(step)

    def ask(self, query: Query) -> Sums:
        """One round: what a secure sum (Bonawitz et al. 2017) tells of the answers, their sum and nothing else.

        Errors: InvalidParameter for `Reports`, which are no sums. Shape: that of the query.
        """
        if isinstance(query, Reports):
            raise InvalidParameter("Reports: what single records report is no sum, and does not travel; participants "
                                   "that add all the noise themselves train with a LocalSource")  # fmt: skip
        if not self._charged:
            self.network.begin_round()
        self._charged = False
        sums = secure_sum([host.ask(query) for host in self._answering()])
        self.network.traffic.sent += INTEGER * sums.size
        return sums

    def select(self, scope: int, draw: Callable[[int], Assigned]) -> None:
        """Attach secret coins to the records; every host gets those of its own."""
        assigned = draw(self.size)
        edges = np.cumsum([0, *(host.size for host in self.hosts)])
        for host, (low, high) in zip(self.hosts, pairwise(edges), strict=True):
            own = part_of(assigned, int(low), int(high - low))
            host.select(scope, lambda count, own=own: own)  # type: ignore[misc]

    def enter(self, scope: int, block: int) -> None:
        """Every host selects its records in this block."""
        for host in self.hosts:
            host.enter(scope, block)

    def leave(self) -> None:
        """The innermost `enter` ends at every host."""
        for host in self.hosts:
            host.leave()

    def _answering(self) -> list[Population]:
        """Who answers in this round."""
        return [host for host, here in zip(self.hosts, self.network.present, strict=True) if here]

    def _published(self, step: Step) -> int:
        """How many numbers a step brings to each participant. The first thresholds follow from public bounds."""
        match step:
            case Encode(candidates):
                before, self._candidates = self._candidates or candidates, candidates
                pairs = zip(before.thresholds, candidates.thresholds, strict=True)
                return sum(len(new) for old, new in pairs if not np.array_equal(old, new))
            case Root(features):
                return len(features)
            case Descend(splits) | Place(splits):
                return 2 * len(splits)
            case Advance(values, _):
                return int(values.size)
        return 0


def check_records_each(population: Population | None, most: int) -> None:
    """Neighbours that differ in all of the up to `most` records of a participant need to know whose records are whose.

    population: None for records in one place that are not there yet.
    Errors: InvalidRecords if a participant has more; InvalidParameter if the records' participants are not known.
    """
    if most == 1 or isinstance(population, Nothing):
        return
    if not isinstance(population, Shards):
        raise InvalidParameter(
            f"records_each = {most} for records in one place: which of them are one participant's is not known; give "
            "the records of each participant as a host of its own (refdp.data.shards.Shards)"
        )
    largest = max(host.size for host in population.hosts)
    if largest > most:
        raise InvalidRecords(f"a participant with {largest} records given, records_each = {most} at most are allowed")


def secure_sum(vectors: Sequence[Sums]) -> Sums:
    """What secure aggregation reveals: the sum, and nothing else. Here: the ideal function.

    All of one shape, which is the result's.
    """
    return np.asarray(np.sum(vectors, axis=0), dtype=np.int64)


def dealt(records: Records, sizes: Sequence[int]) -> list[Records]:
    """Records dealt out in order, sizes[i] of them to participant i.

    Errors: InvalidParameter unless the sizes are positive and add up to the number of records.
    """
    if min(sizes, default=0) < 1 or sum(sizes) != records.size:
        raise InvalidParameter(f"{len(sizes)} participants with {sum(sizes)} records for {records.size}: at least one "
                               "record each, and all of them, is needed")  # fmt: skip
    edges = np.cumsum([0, *sizes])
    return [records.take(np.arange(low, high)) for low, high in pairwise(edges)]
