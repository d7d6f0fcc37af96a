"""Is the noise what its mechanism says? A test by betting over all draws of an audit, of a stated error rate.

For every smaller scale r of a list the likelihood of the draws at r times the declared scale is divided by that at the
declared one. Each ratio is a martingale under the declared law, their mean too, and by Ville's inequality it exceeds
1 / FALSE_ALARM at any time with probability FALSE_ALARM at most, however many draws are looked at, and when.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from refdp.audit import noise_shape
from refdp.audit.replay import Violation
from refdp.data.records import Floats
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import Array, Entry, Request, Source, Transcript
from refdp.privacy.sources import SampleSource

FALSE_ALARM = 1e-9
SMALLER = (1e-6, 1e-3, 0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99)
"""The scales bet on, relative to the declared one."""
DRAWS = 300_000
"""Further draws of each mechanism: a scale 2% too small costs 2e-4 nats a Laplace draw, and log(12e9) are needed."""
FARTHEST = 1e6
"""Noise is added to values of at most so many of its scales, so that rounding takes nothing of it."""
LAWS = (Laplace, DiscreteLaplace, Gaussian, DiscreteGaussian, Exponential)


def known(mechanism: Any) -> Any:
    """The mechanism itself if its law is known, of exactly one of the classes; None for anything else."""
    return mechanism if type(mechanism) in LAWS else None


def said(mechanism: Any) -> Any:
    """What a subclass of a known mechanism says to be: the known class with its parameters; None where it is none."""
    for law in LAWS:
        if isinstance(mechanism, law):
            try:
                return law(**{one.name: getattr(mechanism, one.name) for one in fields(law)})
            except Exception:
                return None
    return None


def valid(mechanism: Any) -> bool:
    """Whether the parameters are those of a noise: positive finite scales; an object can be made past its checks."""
    if isinstance(mechanism, Exponential):
        return bool(0 <= mechanism.coefficient < math.inf)
    numbers = [np.asarray(getattr(mechanism, one.name), dtype=np.float64) for one in fields(mechanism)]
    return all(bool(np.all(np.isfinite(number) & (number > 0))) for number in numbers)


def smallest(draws: int, tests: int) -> float:
    """The share by which a scale can be too small without being noticed in 95% of cases, of so many draws.

    A draw at (1 - x) times the scale is worth about x^2 / 2 nats; a few more than the threshold are needed.
    """
    needed = math.log(len(SMALLER) * tests / FALSE_ALARM) + 5
    return min(1.0, math.sqrt(2 * needed / max(draws, 1)))


@dataclass
class Bet:
    """Log likelihood ratios of all draws so far, one for each of `SMALLER`."""

    logs: Array = field(default_factory=lambda: np.zeros(len(SMALLER)))
    draws: int = 0

    @property
    def capital(self) -> float:
        """Log of the mean of the ratios."""
        top = float(np.max(self.logs))
        return top + math.log(float(np.mean(np.exp(self.logs - top))))

    @property
    def likeliest(self) -> float:
        """The relative scale that fits best among those bet on."""
        return SMALLER[int(np.argmax(self.logs))]

    def rejects(self, tests: int) -> bool:
        """Whether the declared law is refuted, one of so many tests."""
        return self.capital > math.log(tests / FALSE_ALARM)

    def add(self, mechanism: Any, value: Array, output: Array, index: Array | None) -> None:
        """The draws of one release. Of any shape."""
        if isinstance(mechanism, Exponential):
            assert index is not None
            declared = mechanism.log_density(value, index)
            for place, scale in enumerate(SMALLER):
                sharper = Exponential(mechanism.coefficient / scale)
                self.logs[place] += float(np.sum(sharper.log_density(value, index) - declared))
            self.draws += len(index)
            return
        noise = (np.asarray(output, dtype=np.float64) - value).astype(np.float64)
        for place, scale in enumerate(SMALLER):
            self.logs[place] += _ratio(mechanism, noise, scale)
        self.draws += noise.size


def _ratio(mechanism: Any, noise: Array, r: float) -> float:
    """Log likelihood of the noise at r times its scale less that at its scale."""
    match mechanism:
        case Laplace(scale):
            return -noise.size * math.log(r) + float(np.abs(noise).sum() / scale) * (1 - 1 / r)
        case DiscreteLaplace(scale, step):
            t = step / scale
            normal = math.log(math.tanh(t / r / 2)) - math.log(math.tanh(t / 2))
            return noise.size * normal + float(np.abs(noise).sum() / scale) * (1 - 1 / r)
        case Gaussian(sd):
            z = noise / np.asarray(sd)
            return -noise.size * math.log(r) + float((z * z).sum() / 2) * (1 - 1 / r**2)
        case DiscreteGaussian(sd, step):
            z = noise / np.asarray(sd)
            sds = np.broadcast_to(np.asarray(sd, dtype=np.float64), noise.shape).ravel() / step
            normal = sum(
                count * (_log_sum(s) - _log_sum(s * r)) for s, count in zip(*np.unique(sds, return_counts=True))
            )
            return float(normal) + float((z * z).sum() / 2) * (1 - 1 / r**2)
    raise AssertionError(f"no law is known of {mechanism}")


def _log_sum(sigma: float) -> float:
    """log of the sum over integers of exp(-n^2 / (2 sigma^2)); above 2 its first term after Poisson's summation."""
    if sigma > 2:
        return math.log(sigma * math.sqrt(2 * math.pi))
    n = np.arange(1, 60)
    return math.log(1 + 2 * float(np.exp(-n * n / (2 * sigma * sigma)).sum()))


def _releases(transcripts: Iterable[Transcript]) -> Iterator[Entry]:
    for transcript in transcripts:
        for entry in transcript.entries:
            if entry.request.kind == "release" and entry.value is not None and np.isfinite(entry.output).all():
                yield entry


def recorded(transcripts: Iterable[Transcript], seed: int) -> tuple[Bet, Floats, str]:
    """The draws of recorded runs: by mechanisms whose law is known; ranks under the law that each says to have.

    And the first release among them. Ranks: `refdp.audit.noise_shape.ranks`.
    """
    bet, name, coins = Bet(), "", np.random.default_rng([seed, 3])
    shape = [np.empty(0)]
    for entry in _releases(transcripts):
        mechanism, law = entry.request.mechanism, said(entry.request.mechanism)
        if law is None or not valid(law) or not np.isfinite(entry.value).all():  # type: ignore[arg-type]
            continue
        assert entry.value is not None
        name = name or entry.request.name
        if known(mechanism) is not None:
            bet.add(mechanism, entry.value, entry.output, entry.index)
        if states_no_law(mechanism):
            shape.append(noise_shape.ranks(law, entry.value, entry.output, entry.index, coins).ravel())
    return bet, np.concatenate(shape), name


@dataclass(frozen=True)
class Sampled:
    """Further draws of one mechanism. groups: what they were drawn at, and their ranks there."""

    bet: Bet
    groups: tuple[tuple[str, Floats], ...]


def sampled(
    mechanism: Any, seed: int, draws: int = DRAWS, source: Callable[[np.random.Generator], Source] = SampleSource,
    values: Sequence[float] = (),
) -> Sampled | None:  # fmt: skip
    """Further draws as a run would draw them, of a mechanism that says to be one of `LAWS`; None where it cannot be.

    values: what noise is added to besides 0, in turn: it may not depend on them.
    """
    law = said(mechanism)
    if law is None or not valid(law):
        return None
    shape: tuple[int, ...] = (draws, 2) if isinstance(law, Exponential) else (draws,)
    sd = getattr(law, "sd", None)
    if isinstance(sd, tuple):
        shape = (draws // len(sd), len(sd))
    at = np.array([0.0])
    if not isinstance(law, Exponential):
        width = float(np.min(np.asarray(getattr(law, "sd", getattr(law, "scale", None)))))
        at = np.unique([0.0, *(value for value in values if abs(value) <= FARTHEST * width)])
    turn = np.arange(shape[0]) % len(at)
    value = np.broadcast_to(at[turn].reshape(-1, *(1 for _ in shape[1:])), shape).copy()
    if isinstance(law, Exponential):
        value[:, 0] = min(1.0 / law.coefficient, 1e6)
    middle = len(value) // 2  # two calls: an object may keep something from one to the other
    try:
        asked = source(np.random.default_rng(seed))
        output = np.concatenate([asked.release(Request("release", ("sampler",), part, mechanism))
                                 for part in (value[:middle], value[middle:])])  # fmt: skip
    except Exception:
        return None
    index = output if isinstance(law, Exponential) else None
    bet = Bet()
    bet.add(law, value, output, index)
    if not states_no_law(mechanism):
        return Sampled(bet, ())
    coins = np.random.default_rng([seed, 4])
    groups = []
    for number, one in enumerate(at):
        own = turn == number
        uniform = noise_shape.ranks(law, value[own], output[own], None if index is None else index[own], coins)
        groups.append((f"at the value {one:g}", uniform.ravel()))
    calls = [noise_shape.ranks(law, value[part], output[part], None if index is None else index[part], coins).ravel()
             for part in (slice(0, middle), slice(middle, 2 * middle))]  # fmt: skip
    if len(calls[0]) == len(calls[1]):  # in turn, so that each is held against the one of the other call
        groups.append(("from call to call", np.stack(calls, axis=1).ravel()))
    return Sampled(bet, tuple(groups))


def states_no_law(mechanism: Any) -> bool:
    """Whether the densities are those of the class in `LAWS` that it says to be: then its noise has to be, too."""
    law = next((one for one in LAWS if isinstance(mechanism, one)), None)
    return law is not None and all(
        getattr(type(mechanism), name) is getattr(law, name) for name in ("log_density", "divergence", "loss")
    )


def refuted(bet: Bet, name: str, law: str) -> Violation:
    """The violation of a law that the draws refute."""
    witness = {"detail": f"{law}: {bet.draws} draws", "releases": [name], "log ratio": bet.capital}
    return Violation("noise law", name, 1.0, bet.likeliest, None, "", witness)
