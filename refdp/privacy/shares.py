"""Noise of several participants: in shares that add up to what the plan charges, or all of it from each of them.

    network = Network(len(parts))
    source = Shares(network, honest, public, generators, sizes)
    model = sgbdt.train_on(params, schema, Shards(hosts, network), Curator(source, params.relation))

Sources for a `data.shards.Shards` population (refdp/privacy/sources.py has those for one place). With `Shares` every
participant that answers adds its share before summing, so that nobody sees a sum with less noise; with `LocalSource`
each adds all of it and trusts nobody. In this module the participants live in one process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from refdp.data.kernels import GRID
from refdp.data.numbers import added
from refdp.data.shards import Network, secure_sum
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from refdp.noise.samplers import GeneratorBits, standard_draws
from refdp.privacy.curator import Array, Request, own
from refdp.privacy.sources import STEPS, Listed, asked, law_of, sample_assignment, sample_law
from refdp.privacy.tape import together


def share_deviation(deviation: float, honest: int) -> float:
    """sigma / sqrt(h), rounded up: h independent shares of it have variance sigma^2 at least."""
    return math.nextafter(deviation / math.sqrt(honest), math.inf)


@dataclass
class Shares:
    """Every participant that answers adds its share of the noise before summing: nobody sees a sum with less noise.

    honest: h, so many participants are honest and answer in every round; theirs alone is all the noise that the plan
      has, and what the others add cannot take any of it away (fedgbdt/distributed-noise-honest).
    generators: one for each participant: its own randomness, for its shares and its sample. public: of the server.
    sizes: how many records each participant has, where secret samples are drawn.

    Gaussian noise: shares are discrete Gaussians, of variance sigma^2 / h, on the mechanism's grid, or on that of the
    sums for a continuous Gaussian with a deviation for each column, whose plan is accounted in Renyi terms. Another
    continuous Gaussian may be accounted by its exact profile, which discrete shares do not keep: refused. A discrete
    one of variance sigma^2 costs at most what the plan's Gaussian does at every whole order (Canonne, Kamath, Steinke
    2020, Proposition 5), hence also sampled: the tabulated cost is a sum over whole orders, and discrete Gaussians have
    the symmetry that makes the other direction cheaper (Mironov, Talwar, Zhang 2019, Theorem 5). A sum of discrete
    Gaussians is none (fedgbdt/discrete-shares, refuted); `excess` bounds by how much its cost can be above that of one.
    Laplace noise: shares are differences of negative binomials with 1 / h successes; h of them add up to exactly a
    discrete Laplace variable (it is infinitely divisible). They are drawn in floating point.
    """

    network: Network
    honest: int
    public: np.random.Generator
    generators: Sequence[np.random.Generator]
    sizes: Sequence[int] = ()
    tape: list[Listed] | None = field(default=None, repr=False)
    """Takes what was drawn, and added in all (refdp/privacy/tape.py)."""

    def __post_init__(self) -> None:
        count = self.network.participants
        if not 1 <= self.honest <= count:
            raise InvalidParameter(f"honest = {self.honest}: 1 to {count}, the number of participants, is allowed")
        if len(self.generators) != count or len(self.sizes) not in (0, count):
            raise InvalidParameter(
                f"{len(self.generators)} generators and {len(self.sizes)} sizes for {count} participants: one each "
                "is needed"
            )
        self.network.least = max(self.network.least, self.honest)

    def release(self, request: Request) -> Array:
        """The sum with the shares of those who answer in this round.

        Of the value's shape. Errors: InvalidParameter for a mechanism that has no shares.
        """
        mechanism, value = asked(request)
        here = [g for g, present in zip(self.generators, self.network.present, strict=True) if present]
        match mechanism:
            case DiscreteGaussian(float() as sd, step):
                shares = [self._gaussian(request.name, sd, step, value.shape, generator) for generator in here]
            case DiscreteGaussian() | Gaussian(tuple()):
                shares = [self._columns(request.name, mechanism, value.shape, generator) for generator in here]
            case DiscreteLaplace() | Laplace():
                shares = [self._laplace(mechanism, value.shape, generator) for generator in here]
            case _:
                raise InvalidParameter(
                    f"{request.name}: {mechanism!r}: allowed are Laplace and Gaussian noise; where Gaussian noise has "
                    "one deviation, noise = 'discrete' is needed"
                )
        total = _listed(self.tape, request, STEPS, secure_sum(shares))
        if isinstance(mechanism, DiscreteGaussian | DiscreteLaplace):
            return mechanism.apply(value, total)
        return np.asarray(value + GRID * total)

    def draw(self, request: Request) -> Array:
        """Public randomness of the server. Of the request's shape."""
        return _listed(self.tape, request, law_of(request), sample_law(self.public, request.law, request.size))

    def assign(self, request: Request) -> NDArray[np.int64]:
        """Every participant draws for its own records. Errors: InvalidParameter where no sizes were given.

        Shape (slots,). Errors: InvalidParameter without sizes.
        """
        if not self.sizes:
            raise InvalidParameter(f"{request.name}: secret coins of participants' records need their sizes")
        coins = [
            sample_assignment(generator, replace(request, size=size))
            for generator, size in zip(self.generators, self.sizes, strict=True)
        ]
        return _listed(self.tape, request, law_of(request), np.concatenate(coins))

    def _columns(
        self, name: str, mechanism: Gaussian | DiscreteGaussian, shape: tuple[int, ...], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """One participant's share for every entry: a column for each deviation."""
        deviations = mechanism.sd if isinstance(mechanism.sd, tuple) else (mechanism.sd,) * shape[-1]
        step = mechanism.step if isinstance(mechanism, DiscreteGaussian) else GRID
        columns = [self._gaussian(name, sd, step, shape, generator, shape[:-1]) for sd in deviations]
        return np.stack(columns, axis=-1).astype(np.int64)

    def _gaussian(
        self,
        name: str,
        deviation: float,
        step: float,
        shape: tuple[int, ...],
        generator: np.random.Generator,
        part: tuple[int, ...] | None = None,
    ) -> NDArray[np.int64]:
        """Draws in steps for `part` of the shape (all of it if not given), refused where the steps are too coarse."""
        sd = share_deviation(deviation, self.honest)
        share = DiscreteGaussian(sd, step)
        if excess(sd / step, self.network.participants, math.prod(shape)) > 1e-12:
            raise InvalidParameter(f"{name}: shares of {sd / step:.3g} grid steps are too coarse")
        draws = share.draws(np.zeros(shape if part is None else part))
        return standard_draws(draws, generator, GeneratorBits(generator)).astype(np.int64, copy=False)

    def _laplace(
        self, mechanism: Laplace | DiscreteLaplace, shape: tuple[int, ...], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """One participant's share for every entry, in steps."""
        step = mechanism.step if isinstance(mechanism, DiscreteLaplace) else GRID
        chance = -math.expm1(-step / mechanism.scale)
        plus, minus = generator.negative_binomial(1 / self.honest, chance, (2, *shape))
        return np.asarray(plus - minus, dtype=np.int64)


def _listed(tape: list[Listed] | None, request: Request, law: tuple[object, ...], values: Array) -> Array:
    if tape is not None:
        tape.append(Listed(request.path, request.kind, law, own(values)))
    return values


def excess(sd: float, shares: int, coordinates: int) -> float:
    """tau d / 2 + tau sqrt(d), tau = 10 sum_k exp(-2 pi^2 sd^2 k / (k + 1)), k = 1..shares - 1: by how much the sum of
    discrete Gaussians of sd grid steps each can cost more than one (Kairouz, Liu, Steinke 2021, Theorem 1)."""
    tau: float = 10 * added(math.exp(-2 * math.pi**2 * sd * sd * k / (k + 1)) for k in range(1, shares))
    return tau * coordinates / 2 + tau * math.sqrt(coordinates)


@dataclass
class LocalSource:
    """The local model: each present participant adds the whole noise to its own vector (fedgbdt/ldp-vector).

    The server would see every noisy vector; only their sum matters to the model, so that noise of their number times
    the variance is drawn at once. The guarantee is that of each participant's own release.
    """

    network: Network
    public: np.random.Generator
    secret: np.random.Generator
    tape: list[Listed] | None = field(default=None, repr=False)

    def release(self, request: Request) -> Array:
        """The sum of the participants' noisy vectors.

        Of the value's shape. Errors: InvalidParameter unless it is Gaussian noise of one deviation.
        """
        mechanism, value = asked(request)
        if not isinstance(mechanism, Gaussian) or isinstance(mechanism.sd, tuple):
            raise InvalidParameter(f"{request.name}: Gaussian noise of one deviation is needed in the local model")
        present = int(self.network.present.sum())
        draws = _listed(self.tape, request, ("normal", present), self.secret.standard_normal(value.shape))
        return together(mechanism, present).apply(value, draws)

    def draw(self, request: Request) -> Array:
        """Public randomness of the server. Of the request's shape."""
        return _listed(self.tape, request, law_of(request), sample_law(self.public, request.law, request.size))

    def assign(self, request: Request) -> NDArray[np.int64]:
        """Refused: secret per-record randomness is the participants' own.

        Shape (slots,) elsewhere; here refused. Errors: InvalidParameter.
        """
        raise InvalidParameter(f"{request.name}: a federation has no secret assignment of records")
