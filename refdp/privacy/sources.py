"""Where a curator's outputs come from in one place: a generator, nothing (accounting), no noise at all.

Sources of other files: listed draws (tape.py), the outputs of an earlier run (replay.py), several participants
(shares.py). Public and secret randomness come from two children of the one Generator that enters, or from two
Generators. Children share a seed, and numpy's way from seed to state can be inverted: whoever finds the state behind
published draws (PCG64: Bouillaguet, Martinez, Sauvage 2020) has the noise. Hence runs without a seed have two
(refdp/faces/training.py).

Coins put record slots into the blocks of a scope. `Coins` are those of one scope as data: a key and a law. Whoever has
some of the records tosses the coins of their slots alone, in any order and as often as needed, and gets what everybody
gets who tosses them all: a counter-based generator (Philox 4x64, Salmon et al. 2011) is read at the slot's position.
The key follows from a secret for assignments only, so that a host that tosses coins learns nothing about any noise.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Draws, Exponential, Mechanism
from refdp.noise.rational import Bits
from refdp.noise.samplers import GeneratorBits, sample_exponential, standard_draws
from refdp.privacy.curator import Array, Assigned, Request, own

_SECRET = 16
"""Bytes of a secret for assignments."""


# --- What is listed of a run ------------------------------------------------------------------------------------------

INDEX, NONE, STEPS = ("index",), ("none",), ("steps",)
"""Laws of what is no standard draw: the options that an exact sampler chose; nothing drawn, the true value released;
what several participants added together, in steps of the noise's grid, or of the sums' where the noise has none."""


@dataclass(frozen=True)
class Listed:
    """What one request drew.

    path, kind: of the request. law: see `law_of`, `INDEX`, `NONE`. values: float64, or int64 for whole numbers.
    """

    path: tuple[str, ...]
    kind: str
    law: tuple[Any, ...]
    values: Array

    @property
    def name(self) -> str:
        """Readable location, for messages."""
        return "/".join(self.path)


def asked(request: Request) -> tuple[Mechanism, Array]:
    """Mechanism and true value of a release. The value of any shape. Errors: InvalidParameter if either is missing."""
    if request.mechanism is None or request.value is None:
        raise InvalidParameter(f"{request.name}: a release needs a mechanism and a value")
    return request.mechanism, request.value


def true_output(request: Request) -> Array:
    """The true value of a release, or the first option of greatest utility.

    Of the value's shape, or (rows,) for a choice.
    """
    mechanism, value = asked(request)
    return np.argmax(value, axis=1) if isinstance(mechanism, Exponential) else value


def law_of(drawn: Draws | Request) -> tuple[Any, ...]:
    """The law of standard draws or of a draw: its name, then its parameters, exact and as plain data.

    ("laplace",), ("normal",), ("gumbel",), ("exponential",), ("discrete-laplace", "p/q"), ("discrete-gaussian", "p/q"
    or a list of them); ("uniform",), ("integers", high), ("choice", weights); ("partition", weights), ("poisson",
    rate), ("without-replacement", rate), ("shares", sizes).
    """
    if isinstance(drawn, Request):
        return tuple(_plain(part) for part in drawn.law)
    return (drawn.kind,) if drawn.parameter is None else (drawn.kind, _plain(drawn.parameter))


def _plain(part: Any) -> Any:
    if isinstance(part, Fraction):
        return str(part)
    return [_plain(one) for one in part] if isinstance(part, tuple | list | np.ndarray) else part


class SampleSource:
    """Fresh randomness. Lists what every request drew on `tape` if asked, so that a run can be repeated elsewhere.

    exact: choose options by rational arithmetic (discrete.sample_exponential); with discrete noise no floating-point
      number decides anything. bits: where exact samplers get their bits, the generator unless given (the operating
      system's entropy, say). public: where published draws come from, a child of the generator unless given.
    assignments: a secret for the coins of records and nothing else. They are then a function of it, the scope and the
      record's slot, so that hosts elsewhere toss those of their own records. True: a third child of the generator gives
      the secret. Without one the coins come from where the noise does.
    process: where it was made; curators ask it there alone, since a copy elsewhere has the same noise to come.
    """

    def __init__(
        self,
        generator: np.random.Generator,
        *,
        exact: bool = False,
        bits: Bits | None = None,
        record: bool = False,
        public: np.random.Generator | None = None,
        assignments: bytes | bool = False,
    ) -> None:
        child, self._secret = generator.spawn(2)
        self._assignments = generator.spawn(1)[0].bytes(_SECRET) if assignments is True else assignments
        self._public = child if public is None else public
        self._bits = bits or GeneratorBits(self._secret)
        self._exact = exact
        self._record = record
        self.process = os.getpid()
        self.tape: list[Listed] = []

    def release(self, request: Request) -> Array:
        """Noise from the generator. Of the value's shape, or (rows,) for a choice."""
        mechanism, value = asked(request)
        if self._exact and isinstance(mechanism, Exponential):
            return self._listed(request, INDEX, sample_exponential(value, mechanism.coefficient, self._bits))
        draws = mechanism.draws(value)
        standard = self._listed(request, law_of(draws), standard_draws(draws, self._secret, self._bits))
        return mechanism.apply(value, standard)

    def draw(self, request: Request) -> Array:
        """Public randomness from the public child. Of the request's shape."""
        return self._listed(request, law_of(request), sample_law(self._public, request.law, request.size))

    def assign(self, request: Request) -> Assigned:
        """Secret randomness from the secret child, or keyed coins that nobody has tossed yet."""
        if not self._assignments:
            return self._listed(request, law_of(request), sample_assignment(self._secret, request))
        coins = Coins(key_of(self._assignments, request), request.law, int(np.prod(request.size)))
        return self._listed(request, law_of(request), np.asarray(coins)) if self._record else coins

    def _listed(self, request: Request, law: tuple[Any, ...], values: Array) -> Array:
        if self._record:
            self.tape.append(Listed(request.path, request.kind, law, own(values)))
        return values


class NoiselessSource(SampleSource):
    """No privacy at all: true values, and the best option. Baselines without privacy run the same text with it."""

    def release(self, request: Request) -> Array:
        """The true value, or the first option of greatest utility. Of the value's shape, or (rows,) for a choice."""
        self._listed(request, NONE, np.zeros(0))
        return true_output(request)


class AccountSource:
    """No randomness and no records: zeros, first options, lower ends. A program run on it tells its plan."""

    def release(self, request: Request) -> Array:
        """Zeros, or the first option of every row. Of the value's shape, or (rows,) for a choice.

        Errors: those of the mechanism's draws, which a run would otherwise have after it was charged.
        """
        mechanism, value = asked(request)
        mechanism.draws(value)
        return np.zeros(value.shape[:1], dtype=np.intp) if isinstance(mechanism, Exponential) else np.zeros(value.shape)

    def draw(self, request: Request) -> Array:
        """Zeros. Of the request's shape."""
        return np.zeros(request.size, dtype=np.float64 if request.law[0] == "uniform" else np.int64)

    def assign(self, request: Request) -> NDArray[np.int64]:
        """Nobody is assigned. Shape (slots,)."""
        return np.zeros(request.size, dtype=np.int64)


def sample_law(generator: np.random.Generator, law: tuple[Any, ...], size: int | tuple[int, ...]) -> Array:
    """Public draws: ("uniform",) on [0, 1), ("integers", high) on 0..high-1, ("choice", weights) indices.

    Array of shape `size`. Errors: InvalidParameter for another law.
    """
    match law:
        case ("uniform",):
            return generator.random(size)
        case ("integers", high):
            return generator.integers(0, high, size)
        case ("choice", weights):
            return generator.choice(len(weights), size=size, p=np.asarray(weights) / np.sum(weights))
    raise InvalidParameter(f"unknown law {law!r} for a public draw")


# --- Coins of record slots --------------------------------------------------------------------------------------------

_BLOCK = 4
"""Draws of a Philox for each step of its counter."""


def sample_assignment(generator: np.random.Generator, request: Request) -> NDArray[np.int64]:
    """Secret block of each of `size` record slots; -1 is no block.

    Array of shape (slots,). Errors: InvalidParameter for an unknown law.
    """
    size = int(np.prod(request.size))
    match request.law:
        case ("partition", (1.0,)):  # one block holds every record: nothing to draw, and no memory for it
            return np.broadcast_to(np.int64(0), size)
        case ("partition", weights):
            edges = np.cumsum(weights)
            block = np.searchsorted(edges, generator.random(size), side="right")
            return np.where(block < len(weights), block, -1).astype(np.int64)
        case ("poisson", rate):
            return np.where(generator.random(size) < rate, 0, -1).astype(np.int64)
        case ("without-replacement", rate):
            chosen = generator.permutation(size) < math.floor(rate * size)  # never more than the rate that is charged
            return np.where(chosen, 0, -1).astype(np.int64)
        case ("shares", sizes):
            labels = np.repeat(np.arange(len(sizes)), sizes)
            padded = np.concatenate([labels, np.full(max(size - len(labels), 0), -1)])
            return generator.permutation(padded)[:size].astype(np.int64)
    raise InvalidParameter(f"unknown law {request.law!r} for a secret assignment")


def key_of(secret: bytes, request: Request) -> bytes:
    """The key of one scope, 16 bytes: of its number and place in the run. Another scope's key says nothing about it."""
    scope = json.dumps([request.serial, request.path]).encode()
    return hashlib.blake2b(scope, key=secret, digest_size=16).digest()


@dataclass(frozen=True)
class Coins:
    """The secret coins of slots start to start + count, of `size` in all. PRIVATE: whoever has the key has all of them.

    As an array, np.asarray(coins), they are the blocks of these slots, shape (count,); -1 is no block.
    """

    key: bytes
    law: tuple[Any, ...]
    size: int
    start: int = 0
    count: int = -1

    def __post_init__(self) -> None:
        if self.count < 0:
            object.__setattr__(self, "count", self.size - self.start)

    def part(self, start: int, count: int) -> Coins:
        """Those of so many slots from this one on, counted from the first of these."""
        return replace(self, start=self.start + start, count=count)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self._members(), dtype=dtype)

    def _members(self) -> NDArray[np.int64]:
        bits = np.random.Philox(key=np.frombuffer(self.key, dtype="<u8"))
        request = Request("assign", ("coins",), law=self.law, size=self.size)
        if self.law[0] not in ("partition", "poisson"):  # slots that depend on each other are drawn together
            return sample_assignment(np.random.Generator(bits), request)[self.start : self.start + self.count]
        bits.advance(self.start // _BLOCK)
        generator = np.random.Generator(bits)
        generator.random(self.start % _BLOCK)
        return sample_assignment(generator, replace(request, size=self.count))

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"key": self.key.hex(), "law": self.law, "size": self.size, "start": self.start, "count": self.count}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Coins:
        """What `to_json` wrote."""
        law = tuple(tuple(part) if isinstance(part, list) else part for part in body["law"])
        return cls(bytes.fromhex(body["key"]), law, body["size"], body["start"], body["count"])


def part_of(assigned: Assigned, start: int, count: int) -> Assigned:
    """The blocks of slots start to start + count."""
    return assigned.part(start, count) if isinstance(assigned, Coins) else assigned[start : start + count]
