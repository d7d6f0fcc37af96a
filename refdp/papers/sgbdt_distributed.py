"""S-GBDT with participants who keep their records (slide "Extension for distributed learning").

    network = Network(len(parts))
    source = Shares(network, honest, public, generators, [part.size for part in parts])
    model = train_distributed(params, parts, network, Curator(source, params.relation))

Hyperparameters and splits are public and agreed on. Every participant draws which of its records are sampled, keeps
their accounts, and sends its label sums once and the sums of its leaves for every tree: integers in units of the public
grid 2^-24 into a secure sum. The sums equal the central ones bit by bit, and so does the model on the same tape.
What a record has spent never travels: the filter only decides which records are in the sums.

Noise is added in shares before summing, so that nobody sees a sum with less of it (`Shares`); with another source a
trusted aggregator adds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from refdp.curator import Array, Curator, Request
from refdp.discrete import GeneratorBits, standard_draws
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.federation import INTEGER, Attendance, Communication, excess, fixed_point, secure_sum
from refdp.kernels import GRID
from refdp.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from refdp.papers.sgbdt import Params, Training, rules_of
from refdp.papers.sgbdt_holder import Flags, Holder
from refdp.records import Floats, Records
from refdp.sources import asked, sample_assignment, sample_law
from refdp.trees import Ensemble, Model


@dataclass
class Network:
    """Who takes part, and who answers in each round: public.

    attendance: who answers, all by default. Whoever misses a round is left out of its sum, pays nothing for it, and
    follows from what was published. least: how many must answer, or the round is not summed.
    """

    participants: int
    attendance: Attendance | None = None
    least: int = 1
    traffic: Communication = field(default_factory=Communication)
    present: Flags = field(init=False)

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.participants:
            raise InvalidParameter(f"least = {self.least}: 1 to {self.participants}, the participants, is allowed")
        self.present = np.ones(self.participants, dtype=bool)

    def begin_round(self) -> None:
        """Who answers in the round that begins. Errors: InvalidRecords if fewer than `least`; attendance is public."""
        number = self.traffic.rounds
        if self.attendance is not None:
            self.present = np.asarray(self.attendance(number), dtype=bool)
        if int(self.present.sum()) < self.least:
            raise InvalidRecords(
                f"round {number}: {int(self.present.sum())} of {self.participants} participants answered, "
                f"{self.least} are needed for enough noise"
            )
        self.traffic.rounds += 1

    def summed(self, messages: Sequence[Floats]) -> Floats:
        """The secure sum of what those sent who are present; it is sent to everybody, with its noise."""
        self.traffic.sent += INTEGER * messages[0].size
        self.traffic.received += INTEGER * messages[0].size
        return np.asarray(secure_sum([fixed_point(message) for message in messages]) * GRID)


@dataclass
class Participants:
    """The records of one score's training at their participants; see `sgbdt_holder.Held`."""

    network: Network
    holders: Sequence[Holder]

    @property
    def size(self) -> int:
        """As `Held.size`: slots for the secret sample, which every participant draws for its own records."""
        return sum(holder.size for holder in self.holders)

    def label_sums(self, low: float, high: float) -> tuple[float, float]:
        """As `Held.label_sums`, in one round."""
        self.network.begin_round()
        count, total = self.network.summed([np.array(h.label_sums(low, high)) for h, _ in self._answering()])
        return float(count), float(total)

    def begin(self, initial: float) -> None:
        """As `Held.begin`: the initial score is public."""
        for holder in self.holders:
            holder.begin(initial)

    def place(self, splits: Floats) -> None:
        """As `Held.place`: the splits are public. A new round begins."""
        self.network.begin_round()
        for holder in self.holders:
            holder.place(splits)

    def charge(self) -> None:
        """As `Held.charge`, at every participant that answers: accounts stay there."""
        for holder, _ in self._answering():
            holder.charge()

    def sums(self, sampled: Flags) -> Floats:
        """As `Held.sums`: the sum of the participants' own sums."""
        return self.network.summed([holder.sums(sampled[slots]) for holder, slots in self._answering()])

    def advance(self, values: Floats) -> None:
        """As `Held.advance`: leaf values are public."""
        for holder in self.holders:
            holder.advance(values)

    def _answering(self) -> list[tuple[Holder, slice]]:
        """The participants that answer in this round, and where their records are among all."""
        edges = np.cumsum([0, *(holder.size for holder in self.holders)])
        slots = [slice(low, high) for low, high in pairwise(edges)]
        return [pair for pair, here in zip(zip(self.holders, slots, strict=True), self.network.present) if here]


def train_distributed(params: Params, parts: Sequence[Records], network: Network, curator: Curator) -> Model:
    """As `sgbdt.train`, on records that stay with their participants, parts[i] with participant i.

    Errors: InvalidRecords for another number of parts than participants; too few answers, see `Network`.
    """
    if len(parts) != network.participants:
        raise InvalidRecords(f"{len(parts)} parts for {network.participants} participants: one each is needed")
    schema, outputs = parts[0].schema, []
    for output in range(schema.scores):
        with curator.step(f"score {output}"):
            holders = [Holder(rules_of(params, schema)) for _ in parts]
            for holder, part in zip(holders, parts, strict=True):
                holder.admit(part.x, schema.label(output, part.y), Ensemble(0.0, (), ()))
            training = Training(params, schema, Participants(network, holders))
            training.start(curator)
            training.grow(params.trees + params.extra_trees, curator)
            outputs.append(training.ensemble())
    return Model("sgbdt", asdict(params), schema, tuple(outputs))


# --- Noise in shares --------------------------------------------------------------------------------------------------


def share_deviation(deviation: float, honest: int) -> float:
    """sigma / sqrt(h), rounded up: h independent shares of it have variance sigma^2 at least."""
    return math.nextafter(deviation / math.sqrt(honest), math.inf)


@dataclass
class Shares:
    """Every participant that answers adds its share of the noise before summing: nobody sees a sum with less noise.

    honest: h, so many participants are honest and answer in every round; theirs alone is all the noise that the plan
      has, and what the others add cannot take any of it away.
    generators: one for each participant: its own randomness, for its shares and its sample. public: of the server.
    sizes: how many records each participant has.

    Gaussian noise of either kind: shares are discrete Gaussians on the grid, of variance sigma^2 / h. One of variance
    sigma^2 costs at whole orders at most what the plan charges, sampled or not (sgbdt/discrete-subsampled). The sum of
    shares is one but for `excess`.
    Laplace noise of either kind: shares are differences of negative binomials with 1 / h successes; h of them add up
    to exactly a discrete Laplace variable (it is infinitely divisible). They are drawn in floating point.
    """

    network: Network
    honest: int
    public: np.random.Generator
    generators: Sequence[np.random.Generator]
    sizes: Sequence[int]

    def __post_init__(self) -> None:
        count = self.network.participants
        if not 1 <= self.honest <= count:
            raise InvalidParameter(f"honest = {self.honest}: 1 to {count}, the number of participants, is allowed")
        if len(self.generators) != count or len(self.sizes) != count:
            raise InvalidParameter(
                f"{len(self.generators)} generators and {len(self.sizes)} sizes for {count} participants: one each "
                "is needed"
            )
        self.network.least = max(self.network.least, self.honest)

    def release(self, request: Request) -> Array:
        """The sum with the shares of those who answer in this round."""
        mechanism, value = asked(request)
        here = [g for g, present in zip(self.generators, self.network.present, strict=True) if present]
        if isinstance(mechanism, Laplace | DiscreteLaplace):
            shares = [self._laplace(mechanism, value.shape, generator) for generator in here]
        elif isinstance(mechanism, Gaussian | DiscreteGaussian):
            shares = [self._gaussian(request.name, mechanism, value.shape, generator) for generator in here]
        else:
            raise InvalidParameter(f"{request.name}: {mechanism!r}: allowed are Laplace and Gaussian noise")
        total = secure_sum(shares)
        if isinstance(mechanism, DiscreteLaplace | DiscreteGaussian):
            return mechanism.apply(value, total)
        return np.asarray(value + GRID * total)

    def draw(self, request: Request) -> Array:
        """Public randomness of the server."""
        return sample_law(self.public, request.law, request.size)

    def assign(self, request: Request) -> NDArray[np.int64]:
        """Every participant draws for its own records."""
        return np.concatenate([
            sample_assignment(generator, replace(request, size=size))
            for generator, size in zip(self.generators, self.sizes, strict=True)
        ])  # fmt: skip

    def _gaussian(
        self, name: str, mechanism: Gaussian | DiscreteGaussian, shape: tuple[int, ...], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """One participant's share for every entry: a column for each deviation."""
        deviations = mechanism.sd if isinstance(mechanism.sd, tuple) else (mechanism.sd,) * shape[-1]
        columns = []
        for deviation in deviations:
            sd = share_deviation(deviation, self.honest)
            share = DiscreteGaussian(sd, GRID)
            if excess(sd / GRID, self.network.participants, math.prod(shape)) > 1e-12:
                raise InvalidParameter(f"{name}: shares of {sd / GRID:.3g} grid steps are too coarse")
            columns.append(standard_draws(share.draws(np.zeros(shape[:-1])), generator, GeneratorBits(generator)))
        return np.stack(columns, axis=-1).astype(np.int64)

    def _laplace(
        self, mechanism: Laplace | DiscreteLaplace, shape: tuple[int, ...], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """One participant's share for every entry, in steps of the mechanism's grid."""
        step = mechanism.step if isinstance(mechanism, DiscreteLaplace) else GRID
        chance = -math.expm1(-step / mechanism.scale)
        plus, minus = generator.negative_binomial(1 / self.honest, chance, (2, *shape))
        return np.asarray(plus - minus, dtype=np.int64)
