"""The door: the only way from private records to anything else.

    noisy = curator.release("leaves", Laplace.calibrated(epsilon, bound), sums, sensitivity=declared)

`release` is the only way out for anything computed from records. `draw` is public randomness and costs nothing.
`partition` and `subsample` attach secret randomness to record slots; it is never released. Scopes say how costs
combine. The same program text is read in four ways by exchanging the source (refdp/sources.py): sample, tape, replay;
the fourth reading, account, is the plan, which must equal the events recorded here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from refdp.errors import InvalidParameter, RelationMismatch
from refdp.events import Event, Parallel, Partition, Relation, Release, Sensitivity, Sequential, Subsample, expand
from refdp.mechanisms import Mechanism

Array = NDArray[Any]
EVERYWHERE = -2
"""Assignment of an audited record that is replayed as present in every block and every subsample."""


@dataclass(frozen=True)
class ScopeRef:
    """One enclosing scope of a release: which scope, of what kind, and which of its blocks."""

    serial: int
    name: str
    kind: Literal["partition", "subsample", "parallel"]
    weights: tuple[float, ...]
    block: int
    method: Literal["poisson", "without-replacement"] = "poisson"


@dataclass(frozen=True)
class Request:
    """What the program asks of its source at one point."""

    kind: Literal["release", "draw", "assign"]
    path: tuple[str, ...]
    value: Array | None = None
    mechanism: Mechanism | None = None
    sensitivity: Sensitivity | None = None
    options: Array | None = None
    law: tuple[Any, ...] = ()
    size: int | tuple[int, ...] = 0
    serial: int = 0  # of the scope that an assignment is for

    @property
    def name(self) -> str:
        """Readable location, for messages."""
        return "/".join(self.path)


@dataclass(frozen=True)
class Entry:
    """One line of a transcript. `index` is the chosen option of an exponential mechanism, `output` the released value.

    `value` is the true value; it and the secret output of an `assign` entry are kept only when auditing.
    """

    request: Request
    output: Array
    index: Array | None
    scopes: tuple[ScopeRef, ...]
    value: Array | None = None


class Source(Protocol):
    """Where outputs come from. Each method returns the output of one request."""

    def release(self, request: Request) -> Array:
        """Output of a mechanism: values, or option indices for an exponential mechanism."""

    def draw(self, request: Request) -> Array:
        """Public randomness."""

    def assign(self, request: Request) -> NDArray[np.int64]:
        """Secret block of each record slot."""


@dataclass
class Transcript:
    """Everything that happened at the door, in order."""

    relation: Relation
    entries: list[Entry] = field(default_factory=list)

    def public(self) -> list[dict[str, Any]]:
        """Released outputs and public draws only, as plain data."""
        shown = (entry for entry in self.entries if entry.request.kind != "assign")
        return [
            {"name": entry.request.name, "kind": entry.request.kind, "output": entry.output.tolist()} for entry in shown
        ]


class Curator:
    """Holds the door for one training run.

    source: where outputs come from. relation: the neighbouring relation that every declared sensitivity must be about.
    audit: keep true values in the transcript (for replay audits; such a transcript is private).
    """

    def __init__(self, source: Source, relation: Relation, *, audit: bool = False) -> None:
        self.relation = relation
        self.transcript = Transcript(relation)
        self._source = source
        self._audit = audit
        self._path: list[str] = []
        self._scopes: list[ScopeRef] = []
        self._events: list[list[Event]] = [[]]
        self._serial = 0

    def release(
        self,
        name: str,
        mechanism: Mechanism,
        value: Array,
        *,
        sensitivity: Sensitivity,
        options: Array | None = None,
    ) -> Array:
        """Release `value` through `mechanism`.

        value: any float array; for an exponential mechanism utilities of shape (rows, options).
        options: what may be chosen, shape (options, k); the chosen rows, never their positions, are returned.
        Errors: RelationMismatch if the sensitivity is about another neighbouring relation.
        """
        if sensitivity.relation is not self.relation:
            raise RelationMismatch(
                f"{name}: sensitivity for {sensitivity.relation.value}, run for {self.relation.value} neighbours"
            )
        path = (*self._path, name)
        request = Request("release", path, value, mechanism, sensitivity, options)
        raw = self._source.release(request)
        output = raw if options is None else options[raw]
        self._keep(request, output, None if options is None else raw)
        self._events[-1].append(Release(name, mechanism, sensitivity))
        return output

    def draw(self, name: str, law: tuple[Any, ...], size: int | tuple[int, ...]) -> Array:
        """Public randomness. law: ("uniform",), ("integers", high) or ("choice", weights)."""
        request = Request("draw", (*self._path, name), law=law, size=size)
        output = self._source.draw(request)
        self._keep(request, output, None)
        return output

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Name a part of the run; it prefixes the path of every release inside."""
        self._path.append(name)
        yield
        self._path.pop()

    @contextmanager
    def partition(
        self, name: str, weights: Sequence[float], size: int, sizes: Sequence[int] | None = None
    ) -> Iterator[Blocks]:
        """Secretly put every record slot into block j with probability weights[j], independently (-1: no block).

        sizes: draw blocks of exactly these sizes without replacement instead, as DPBoost prints it. Slots are then not
        independent, and sizes that follow from the number of records differ between add-remove neighbours.
        """
        law = tuple(float(weight) for weight in weights)
        if not min(law) >= 0 or not max(law) <= 1 or sum(map(Fraction, law)) > 1:
            raise InvalidParameter(
                f"{name}: block weights {law} given, numbers >= 0 are allowed whose exact rational sum is at most 1"
            )
        member = self._assign(name, ("partition", law) if sizes is None else ("shares", tuple(sizes)), size)
        with self._scope(name, "partition", law, member) as blocks:
            yield blocks
        self._close(Partition(law, blocks.events))

    @contextmanager
    def subsample(
        self, name: str, rate: float, size: int, method: Literal["poisson", "without-replacement"] = "poisson"
    ) -> Iterator[NDArray[np.bool_]]:
        """A secret random subset of the record slots, as a mask of shape (size,)."""
        if not 0 <= rate <= 1:
            raise InvalidParameter(f"{name}: sampling rate {rate} given, a number in [0, 1] is allowed")
        member = self._assign(name, (method, rate), size)
        with self._scope(name, "subsample", (rate,), member, method) as blocks, blocks.block(0) as mask:
            yield mask
        self._close(Subsample(rate, blocks.events[0], method))

    @contextmanager
    def parallel(self, name: str, member: NDArray[np.int64], blocks: int) -> Iterator[Blocks]:
        """Disjoint blocks; member[i] is a function of record i alone (a region of the feature space, an owner)."""
        with self._scope(name, "parallel", (1.0,) * blocks, member) as scope:
            yield scope
        self._close(Parallel(scope.events))

    def event(self) -> Event:
        """Everything released so far, as one event for the accountants."""
        return expand(Sequential(tuple(self._events[0])))

    def _assign(self, name: str, law: tuple[Any, ...], size: int) -> NDArray[np.int64]:
        request = Request("assign", (*self._path, name), law=law, size=size, serial=self._serial + 1)
        member = self._source.assign(request)
        self._keep(request, member, None)
        return member

    @contextmanager
    def _scope(
        self,
        name: str,
        kind: Literal["partition", "subsample", "parallel"],
        weights: tuple[float, ...],
        member: NDArray[np.int64],
        method: Literal["poisson", "without-replacement"] = "poisson",
    ) -> Iterator[Blocks]:
        self._serial += 1
        yield Blocks(self, ScopeRef(self._serial, name, kind, weights, -1, method), member)

    def _close(self, event: Event) -> None:
        self._events[-1].append(event)

    def _keep(self, request: Request, output: Array, index: Array | None) -> None:
        value = request.value if self._audit else None
        if request.kind == "assign" and not self._audit:
            output = output[:0]  # secret and as long as the data: only replays need it
        kept = replace(request, value=None)
        self.transcript.entries.append(Entry(kept, output, index, tuple(self._scopes), value))


class Blocks:
    """The blocks of one scope. `with blocks.block(j) as rows:` gives the mask of records in block j."""

    def __init__(self, curator: Curator, scope: ScopeRef, member: NDArray[np.int64]) -> None:
        self._curator, self._scope, self._member = curator, scope, member
        self._events: list[list[Event]] = [[] for _ in scope.weights]

    @contextmanager
    def block(self, number: int) -> Iterator[NDArray[np.bool_]]:
        """Everything released inside sees only the records of this block."""
        scope, curator = self._scope, self._curator
        inside = ScopeRef(scope.serial, scope.name, scope.kind, scope.weights, number, scope.method)
        curator._scopes.append(inside)
        curator._path.append(f"{scope.name} {number}" if len(scope.weights) > 1 else scope.name)
        curator._events.append(self._events[number])
        yield (self._member == number) | (self._member == EVERYWHERE)
        curator._events.pop()
        curator._path.pop()
        curator._scopes.pop()

    @property
    def events(self) -> tuple[Event, ...]:
        """What each block released, in block order."""
        return tuple(expand(Sequential(tuple(events))) for events in self._events)
