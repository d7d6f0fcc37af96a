"""Secret coins of record slots: which block of a scope each of them is in.

`Coins` are those of one scope as data: a key and a law. Whoever has some of the records tosses the coins of their slots
alone, in any order and as often as needed, and gets what everybody gets who tosses them all: a counter-based generator
(Philox 4x64, Salmon et al. 2011) is read at the slot's position. The key follows from a secret for assignments only, so
that a host that tosses coins learns nothing about any noise.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.errors import InvalidParameter
from refdp.privacy.curator import Assigned, Request

_BLOCK = 4
"""Draws of a Philox for each step of its counter."""


def sample_assignment(generator: np.random.Generator, request: Request) -> NDArray[np.int64]:
    """Secret block of each of `size` record slots; -1 is no block."""
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
