"""Participants behind a secure sum: records stay where they are, only sums of fixed-precision integers travel.

    federation = Federation.of(parts)                       # one `Records` a participant
    curator = Curator(source, params.relation)
    model = fedgbdt.train_on(params, schema, federation, curator)

A secure sum adds int64 vectors in units of the public grid, so that the federated sums equal the central ones bit by
bit. Where the noise comes from is the source's affair, as everywhere in refdp:

    SampleSource or TapeSource    a trusted aggregator adds it to the sum
    ShareSource                   every participant adds a share before summing; nobody sees a sum with less noise
    LocalSource                   every participant adds all of it: the local model (LDP), trusting nobody

In this module the participants live in one process. Rounds and bytes are counted as if each had its own machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.candidates import Candidates
from refdp.curator import Array, Request
from refdp.discrete import GeneratorBits, standard_draws
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.kernels import GRID
from refdp.mechanisms import DiscreteGaussian, Gaussian
from refdp.population import Holding, Leaves, Statistics
from refdp.reach import Positions
from refdp.records import Floats, Records
from refdp.sources import asked, sample_law

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


@dataclass
class Federation:
    """A population whose records are spread over participants; see `refdp.population.Population`.

    attendance: who answers; all, always, by default. Whoever misses a round is left out of its sums and follows the
    later ones from what was published meanwhile. least: how many must answer, or the round is not summed.
    """

    participants: Sequence[Holding]
    attendance: Attendance | None = None
    least: int = 1
    traffic: Communication = field(default_factory=Communication)
    present: NDArray[np.bool_] = field(init=False)
    _candidates: Candidates | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if not self.participants:
            raise InvalidRecords("0 participants given, at least 1 is needed")
        if not 1 <= self.least <= len(self.participants):
            raise InvalidParameter(f"least = {self.least}: 1 to {len(self.participants)}, the participants, is allowed")
        self.present = np.ones(len(self.participants), dtype=bool)

    @classmethod
    def of(cls, parts: Sequence[Records], *, attendance: Attendance | None = None, least: int = 1) -> Federation:
        """One participant for each of these records."""
        return cls([Holding(part) for part in parts], attendance, least)

    def check_records_each(self, most: int) -> None:
        """Errors: InvalidRecords if a participant has more records, where neighbours differ in all of one's."""
        largest = max(participant.records.size for participant in self.participants)
        if most > 1 and largest > most:
            raise InvalidRecords(
                f"a participant with {largest} records given, records_each = {most} at most are allowed"
            )

    def begin(self, label: Callable[[Floats], Floats], statistics: Statistics, hessian: Statistics) -> None:
        """As `Population.begin`: part of the program, nothing travels."""
        for participant in self.participants:
            participant.begin(label, statistics, hessian)

    def encode(self, candidates: Candidates) -> None:
        """As `Population.encode`. The first thresholds are public; later ones are broadcast where they changed."""
        before, self._candidates = self._candidates, candidates
        for participant in self.participants:
            participant.encode(candidates)
        known = candidates.thresholds if before is None else before.thresholds
        changed = (new for old, new in zip(known, candidates.thresholds, strict=True) if old is not new)
        self.traffic.received += INTEGER * sum(map(len, changed))

    def refresh(self) -> None:
        """As `Population.refresh`; nothing travels."""
        for participant in self.participants:
            participant.refresh()

    def root(self, features: Sequence[int]) -> None:
        """As `Population.root`."""
        for participant in self.participants:
            participant.root(features)
        self.traffic.received += INTEGER * len(features)

    def descend(self, chosen: Positions) -> None:
        """As `Population.descend`; the chosen candidates are broadcast."""
        for participant in self.participants:
            participant.descend(chosen)
        self.traffic.received += 2 * INTEGER * len(chosen)

    def place(self, levels: Sequence[Positions]) -> None:
        """As `Population.place`; the tree is broadcast."""
        for participant in self.participants:
            participant.place(levels)
        self.traffic.received += 2 * INTEGER * sum(map(len, levels))

    def bin_sums(self, nodes: int) -> list[Floats]:
        """As `Population.bin_sums`: one round for all features of a level."""
        return self._summed([participant.bin_sums(nodes) for participant in self.participants])

    def side_sums(self, chosen: Sequence[Positions]) -> list[Floats]:
        """As `Population.side_sums`: one round for all features of a level."""
        return self._summed([participant.side_sums(chosen) for participant in self.participants])

    def hessian_sums(self, features: Sequence[int]) -> list[Floats]:
        """As `Population.hessian_sums`: one round for all features of a tree."""
        return self._summed([participant.hessian_sums(features) for participant in self.participants])

    def leaf_sums(self, leaves: int) -> Floats:
        """As `Population.leaf_sums`: one round for all trees of a batch."""
        return self._summed([[participant.leaf_sums(leaves)] for participant in self.participants])[0]

    def leaf_vectors(self, tree: int, leaves: int) -> Floats:
        """As `Population.leaf_vectors`; refused: a federation has sums only. `LocalSource` is its local model."""
        raise InvalidParameter("noise_by = 'record' with participants: train with a LocalSource instead")

    def leaf_of(self, tree: int) -> Leaves:
        """As `Population.leaf_of`; refused, as it is no sum."""
        raise InvalidParameter("local = 'index' with participants: their leaves are not to travel")

    def advance(self, values: Floats, weight: float) -> None:
        """As `Population.advance`; the released leaf values are broadcast."""
        for participant in self.participants:
            participant.advance(values, weight)
        self.traffic.received += INTEGER * values.size

    def _summed(self, messages: list[list[Floats]]) -> list[Floats]:
        """One round: the sums of what the present participants send, as integers in units of the grid."""
        if self.attendance is not None:
            self.present = np.asarray(self.attendance(self.traffic.rounds), dtype=bool)
        if int(self.present.sum()) < self.least:
            raise InvalidRecords(
                f"round {self.traffic.rounds}: {int(self.present.sum())} of {len(self.participants)} participants "
                f"answered, {self.least} are needed for enough noise"
            )
        self.traffic.rounds += 1
        self.traffic.sent += INTEGER * sum(part.size for part in messages[0])
        answered = [message for message, here in zip(messages, self.present, strict=True) if here]
        totals = (secure_sum([fixed_point(part) for part in parts]) for parts in zip(*answered, strict=True))
        return [np.asarray(total * GRID, dtype=np.float64) for total in totals]


def fixed_point(values: Floats) -> NDArray[np.int64]:
    """A participant's sums in units of the grid; they are multiples of it."""
    return np.rint(values / GRID).astype(np.int64)


def secure_sum(vectors: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """What secure aggregation reveals: the sum, and nothing else (Bonawitz et al. 2017). Here: the ideal function."""
    return np.asarray(np.sum(vectors, axis=0))


@dataclass
class ShareSource:
    """Noise in shares: each present participant adds a discrete Gaussian of variance sd^2 / h before summing.

    honest: h, so many participants are honest and answer in every round. Whatever the others know or leave out, h
    shares remain: variance sd^2 at least (fedgbdt/distributed-noise-honest). A sum of discrete Gaussians is none
    (fedgbdt/discrete-shares, refuted); `excess` bounds by how much its cost can be above that of one.
    generators: one for each participant, its own randomness. public: draws of public randomness.
    """

    federation: Federation
    honest: int
    public: np.random.Generator
    generators: Sequence[np.random.Generator]

    def __post_init__(self) -> None:
        count = len(self.federation.participants)
        if not 1 <= self.honest <= count:
            raise InvalidParameter(f"honest = {self.honest}: 1 to {count}, the number of participants, is allowed")
        if len(self.generators) != count:
            raise InvalidParameter(f"{len(self.generators)} generators for {count} participants: one each is needed")
        self.federation.least = max(self.federation.least, self.honest)

    def release(self, request: Request) -> Array:
        """The sum with the shares of those who answered in the last round."""
        mechanism, value = asked(request)
        if not isinstance(mechanism, DiscreteGaussian) or isinstance(mechanism.sd, tuple):
            raise InvalidParameter(f"{request.name}: shares are discrete Gaussian; noise = 'discrete' is needed")
        sd = math.nextafter(mechanism.sd / math.sqrt(self.honest), math.inf)
        share = replace(mechanism, sd=sd)
        if excess(sd / share.step, len(self.generators), value.size) > 1e-12:
            raise InvalidParameter(f"{request.name}: shares of {sd / share.step:.3g} grid steps are too coarse")
        here = (g for g, present in zip(self.generators, self.federation.present, strict=True) if present)
        total = sum(standard_draws(share.draws(value), g, GeneratorBits(g)) for g in here)
        return mechanism.apply(value, total)

    def draw(self, request: Request) -> Array:
        """Public randomness of the server."""
        return sample_law(self.public, request.law, request.size)

    def assign(self, request: Request) -> NDArray[np.int64]:
        """Refused: secret per-record randomness is the participants' own."""
        raise InvalidParameter(f"{request.name}: a federation has no secret assignment of records")


def excess(sd: float, shares: int, coordinates: int) -> float:
    """tau d / 2 + tau sqrt(d), tau = 10 sum_k exp(-2 pi^2 sd^2 k / (k + 1)), k = 1..shares - 1: by how much the sum of
    discrete Gaussians of sd grid steps each can cost more than one (Kairouz, Liu, Steinke 2021, Theorem 1)."""
    tau = 10 * sum(math.exp(-2 * math.pi**2 * sd * sd * k / (k + 1)) for k in range(1, shares))
    return tau * coordinates / 2 + tau * math.sqrt(coordinates)


@dataclass
class LocalSource:
    """The local model: each present participant adds the whole noise to its own vector (fedgbdt/ldp-vector).

    The server would see every noisy vector; only their sum matters to the model, so that noise of their number times
    the variance is drawn at once. The guarantee is that of each participant's own release.
    """

    federation: Federation
    public: np.random.Generator
    secret: np.random.Generator

    def release(self, request: Request) -> Array:
        """The sum of the participants' noisy vectors."""
        mechanism, value = asked(request)
        if not isinstance(mechanism, Gaussian) or isinstance(mechanism.sd, tuple):
            raise InvalidParameter(f"{request.name}: Gaussian noise of one deviation is needed in the local model")
        together = Gaussian(mechanism.sd * math.sqrt(int(self.federation.present.sum())))
        return together.apply(value, self.secret.standard_normal(value.shape))

    def draw(self, request: Request) -> Array:
        """Public randomness of the server."""
        return sample_law(self.public, request.law, request.size)

    def assign(self, request: Request) -> NDArray[np.int64]:
        """Refused, as by `ShareSource`."""
        raise InvalidParameter(f"{request.name}: a federation has no secret assignment of records")


def dealt(records: Records, sizes: Sequence[int]) -> list[Records]:
    """Records dealt out in order, sizes[i] of them to participant i.

    Errors: InvalidParameter unless the sizes are positive and add up to the number of records.
    """
    if min(sizes, default=0) < 1 or sum(sizes) != records.size:
        raise InvalidParameter(f"{len(sizes)} participants with {sum(sizes)} records for {records.size}: at least one "
                               "record each, and all of them, is needed")  # fmt: skip
    edges = np.cumsum([0, *sizes])
    return [records.take(np.arange(low, high)) for low, high in pairwise(edges)]


def cost(traffic: Communication) -> dict[str, Any]:
    """Rounds and bytes as plain data."""
    return {"rounds": traffic.rounds, "bytes_sent": traffic.sent, "bytes_received": traffic.received}
