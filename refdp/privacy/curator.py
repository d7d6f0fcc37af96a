"""The door: the only way from private records to anything else.

    noisy = curator.release("leaves", Laplace.calibrated(epsilon, bound), sums, sensitivity=declared)

`release` is the only way out for anything computed from records. `draw` is public randomness and costs nothing.
`partition` and `subsample` attach secret randomness to record slots; it is never released. Scopes say how costs
combine. The same program text is read in four ways by exchanging the source (refdp/privacy/sources.py) and the
population (refdp/data/population.py): sample, tape, replay, and, on no records at all, account, whose events are the
plan.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Never, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from refdp.data.kernels import GRID
from refdp.errors import InvalidParameter, RelationMismatch
from refdp.noise.mechanisms import Mechanism
from refdp.privacy.events import Charge, Event, Partition, Relation, Release, Sensitivity, Sequential, Subsample, expand

if TYPE_CHECKING:
    from refdp.data.population import Population, Query
    from refdp.privacy.sources import Coins

Array = NDArray[Any]
Assigned: TypeAlias = "NDArray[np.int64] | Coins"
"""Secret block of each record slot; -1 is no block. Or keyed coins, from which whoever has records tosses theirs."""
EVERYWHERE = -2
"""Assignment of an audited record that is replayed as present in every block and every subsample."""


@dataclass(frozen=True)
class ScopeRef:
    """One enclosing scope of a release: which scope, of what kind, and which of its blocks."""

    serial: int
    name: str
    kind: Literal["partition", "subsample"]
    weights: tuple[float, ...]
    block: int
    method: Literal["poisson", "without-replacement"] = "poisson"


@dataclass(frozen=True)
class Request:
    """What the program asks of its source at one point. scopes: those around it, outermost first."""

    kind: Literal["release", "draw", "assign"]
    path: tuple[str, ...]
    value: Array | None = None
    mechanism: Mechanism | None = None
    sensitivity: Sensitivity | None = None
    options: Array | None = None
    law: tuple[Any, ...] = ()
    size: int | tuple[int, ...] = 0
    serial: int = 0  # of the scope that an assignment is for
    scopes: tuple[ScopeRef, ...] = ()

    @property
    def name(self) -> str:
        """Readable location, for messages."""
        return "/".join(self.path)


@dataclass(frozen=True)
class Entry:
    """One line of a transcript. output: what was released, drawn or assigned, the entry's own copy of it.

    A curator's transcript has neither `index`, the chosen options of an exponential mechanism, nor `value`, the true
    value, nor any entry of kind "assign"; a recorder's (refdp/privacy/sources.py) has them all, and is private.
    """

    request: Request
    output: Array
    index: Array | None = None
    value: Array | None = None

    @property
    def scopes(self) -> tuple[ScopeRef, ...]:
        """The scopes around the request, outermost first."""
        return self.request.scopes


class Source(Protocol):
    """Where outputs come from. Each method returns the output of one request."""

    def release(self, request: Request) -> Array:
        """Output of a mechanism: values, or option indices for an exponential mechanism.

        Of the value's shape, or (rows,) for a choice.
        """

    def draw(self, request: Request) -> Array:
        """Public randomness. Of the request's shape."""

    def assign(self, request: Request) -> Assigned:
        """Secret block of each record slot, or the coins that say so."""


@dataclass
class Transcript:
    """What happened at the door, in order."""

    relation: Relation
    entries: list[Entry] = field(default_factory=list)

    def public(self) -> list[dict[str, Any]]:
        """Released outputs and public draws only, as plain data."""
        shown = (entry for entry in self.entries if entry.request.kind != "assign")
        return [
            {"name": entry.request.name, "kind": entry.request.kind, "output": entry.output.tolist()} for entry in shown
        ]


def own(values: Array) -> Array:
    """A copy that shares no memory and cannot be written to: what a transcript says stays what happened.

    Of the same shape.
    """
    copied = np.array(values)
    copied.flags.writeable = False
    return copied


def _asking(source: Source) -> Callable[[Request], Any]:
    """Asks a source in the process that made it, or this one. Errors: InvalidParameter in a fork, with its noise."""
    process = getattr(source, "process", os.getpid())

    def ask(request: Request) -> Any:
        if os.getpid() != process:
            raise InvalidParameter(f"{request.name}: a curator goes on in its own process; a fork has the same noise")
        return getattr(source, request.kind)(request)

    return ask


class Curator:
    """Holds the door for one training run.

    source: where outputs come from. relation: the neighbouring relation that every declared sensitivity must be about.

    Interruptions. A release is charged before its source is asked, in the scope that is open, and stays charged
    whatever is raised: `event` can hold a charge without an output, never miss the charge of an output. Scopes are part
    of `event` from when they open, and are left with whatever was raised inside.

    Audits. A run is audited by its source, behind the door: attributes, transcript and behaviour of a curator are of
    the same kind in an audited run and in any other, and the transcript never holds true values. What is not hidden is
    what Python shows to whoever inspects the interpreter itself (closures, frames, the garbage collector, the clock),
    nor the records: few made-up ones are in an audit. A replay moreover puts the audited record into every block, which
    masks of two blocks show; replays with the record in one block are held against those.
    """

    def __init__(self, source: Source, relation: Relation) -> None:
        self.relation = relation
        self.transcript = Transcript(relation)
        self._ask = _asking(source)
        self._open: list[_Place] = []
        self._filed: list[Event | Blocks] = []
        self._serial = 0

    def release(
        self,
        name: str,
        mechanism: Mechanism | Charge,
        value: Array,
        *,
        sensitivity: Sensitivity | None = None,
        options: Array | None = None,
    ) -> Array:
        """Release `value` through `mechanism`, or through that of a charge, which brings its sensitivity along.

        value: any float array; for an exponential mechanism utilities of shape (rows, options).
        options: what may be chosen, shape (options, k); the chosen rows, never their positions, are returned.
        Errors: RelationMismatch if the sensitivity is about another relation, InvalidParameter without one, or for
        options of another shape.
        """
        if options is not None and np.ndim(options) != 2:
            raise InvalidParameter(f"{name}: options of shape {np.shape(options)}, one row for each is meant")
        proved: Sensitivity | None = None
        if isinstance(mechanism, Charge):
            charge = mechanism
            mechanism, sensitivity, proved = charge.mechanism, charge.declared, charge.proved
        if sensitivity is None:
            raise InvalidParameter(f"{name}: a release declares its sensitivity")
        if sensitivity.relation is not self.relation:
            raise RelationMismatch(
                f"{name}: sensitivity for {sensitivity.relation.value}, run for {self.relation.value} neighbours"
            )
        path, scopes = self._path(name), self._scopes()
        self._filing().append(Release(name, mechanism, sensitivity, proved))
        raw: Array = self._ask(Request("release", path, value, mechanism, sensitivity, options, scopes=scopes))
        output = raw if options is None else options[raw]
        self._keep(Request("release", path, None, mechanism, sensitivity, scopes=scopes), output)
        return output

    def release_sum(
        self,
        name: str,
        charge: Charge,
        population: Population,
        query: Query,
        shape: Callable[[Array], Array] | None = None,
    ) -> Array:
        """Release the sums that answer a query, in their own unit: sum and release as one request.

        Nobody but the curator sees the exact sum, so that engines can add noise in shares before summing.
        shape: rearranges what comes back, before noise is added: a view, no arithmetic.
        """
        exact: Array = population.ask(query) * GRID
        return self.release(name, charge, exact if shape is None else shape(exact))

    def draw(self, name: str, law: tuple[Any, ...], size: int | tuple[int, ...]) -> Array:
        """Public randomness. law: ("uniform",), ("integers", high) or ("choice", weights). Array of shape `size`."""
        request = Request("draw", self._path(name), law=law, size=size, scopes=self._scopes())
        output: Array = self._ask(request)
        self._keep(request, output)
        return output

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Name a part of the run; it prefixes the path of every release inside."""
        with self._inside(_Place(name, None, self._filing())):
            yield

    @contextmanager
    def partition(
        self, name: str, weights: Sequence[float], size: int | Population, sizes: Sequence[int] | bool | None = None
    ) -> Iterator[Blocks]:
        """Secretly put every record slot into block j with probability weights[j], independently (-1: no block).

        size: how many slots, or the population that has them; then blocks give no mask, but what is asked of the
        population inside a block is about its records. sizes: draw blocks of exactly these sizes without replacement
        instead, True for weight times the number of slots, as DPBoost prints it. Slots are then not independent, and
        sizes that follow from the number of records differ between add-remove neighbours.
        Errors: InvalidParameter for weights that are negative or whose exact sum is above 1.
        """
        law = tuple(float(weight) for weight in weights)
        if not law or not all(0 <= weight <= 1 for weight in law) or sum(map(Fraction, law)) > 1:
            raise InvalidParameter(
                f"{name}: block weights {law} given, numbers >= 0 are allowed whose exact rational sum is at most 1"
            )
        asked: tuple[Any, ...] = ("partition", law)
        if sizes:
            slots = size if isinstance(size, int) else size.size
            asked = ("shares", tuple(int(share * slots) for share in law) if sizes is True else tuple(sizes))
        with self._scope(name, "partition", law, asked, size) as blocks:
            yield blocks

    @contextmanager
    def subsample(
        self,
        name: str,
        rate: float,
        size: int | Population,
        method: Literal["poisson", "without-replacement"] = "poisson",
    ) -> Iterator[NDArray[np.bool_]]:
        """A secret random subset of the record slots, as a mask of shape (size,); of a population: see `partition`.

        without-replacement: floor(rate size) of them, for replace-one; under add-remove it costs more than no sample.
        Errors: InvalidParameter for a rate outside of [0, 1].
        """
        if not 0 <= rate <= 1:
            raise InvalidParameter(f"{name}: sampling rate {rate} given, a number in [0, 1] is allowed")
        with (
            self._scope(name, "subsample", (rate,), (method, rate), size, method) as blocks,
            blocks.block(0) as mask,
        ):
            yield mask

    def event(self) -> Event:
        """Everything released so far, as one event for the accountants."""
        return expand(_sequence(self._filed))

    def __reduce_ex__(self, protocol: object) -> Never:
        """Refused: what a copy releases would be charged to nobody, and a file of it would hold the noise to come."""
        raise TypeError("a curator cannot be copied or pickled: it guards one run")

    @contextmanager
    def _scope(
        self,
        name: str,
        kind: Literal["partition", "subsample"],
        weights: tuple[float, ...],
        law: tuple[Any, ...],
        size: int | Population,
        method: Literal["poisson", "without-replacement"] = "poisson",
    ) -> Iterator[Blocks]:
        self._serial += 1
        scope = ScopeRef(self._serial, name, kind, weights, -1, method)
        path, around = self._path(name), self._scopes()

        def drawn(slots: int) -> Assigned:
            request = Request("assign", path, law=law, size=slots, serial=scope.serial, scopes=around)
            member: Assigned = self._ask(request)
            return member

        independent = law[0] != "shares"
        if isinstance(size, int):
            blocks = Blocks(self, scope, np.asarray(drawn(size)), None, independent)
        else:
            size.select(scope.serial, drawn)
            blocks = Blocks(self, scope, None, size, independent)
        self._filing().append(blocks)
        try:
            yield blocks
        finally:
            blocks._open = False
            self._leave(lambda place: place.scope is not None and place.scope.serial == scope.serial)

    @contextmanager
    def _inside(self, place: _Place) -> Iterator[None]:
        try:
            self._open.append(place)
            yield
        finally:
            self._leave(lambda other: other is place)

    def _leave(self, ends: Callable[[_Place], bool]) -> None:
        """Leave a place and, where somebody kept one open, those inside it."""
        self._open = self._open[: next((n for n, place in enumerate(self._open) if ends(place)), None)]

    def _path(self, name: str) -> tuple[str, ...]:
        return (*(place.part for place in self._open), name)

    def _scopes(self) -> tuple[ScopeRef, ...]:
        return tuple(place.scope for place in self._open if place.scope is not None)

    def _filing(self) -> list[Event | Blocks]:
        """Where events are recorded now."""
        return self._open[-1].filed if self._open else self._filed

    def _keep(self, request: Request, output: Array) -> None:
        self.transcript.entries.append(Entry(request, own(output)))


class Blocks:
    """The blocks of one scope. `with blocks.block(j) as rows:` gives the mask of records in block j."""

    def __init__(
        self,
        curator: Curator,
        scope: ScopeRef,
        member: NDArray[np.int64] | None,
        population: Population | None,
        independent: bool,
    ) -> None:
        self._curator, self._scope, self._member, self._population = curator, scope, member, population
        self._independent = independent
        self._around = curator._scopes()
        self._filed: list[list[Event | Blocks]] = [[] for _ in scope.weights]
        self._open = True

    @contextmanager
    def block(self, number: int) -> Iterator[NDArray[np.bool_]]:
        """Everything released inside sees only the records of this block.

        Errors: InvalidParameter if there is no such block, and unless the scope is the innermost one that is open: what
        is released in one of its blocks would not be charged where it happens. The mask has shape (slots,).
        """
        scope, curator = self._scope, self._curator
        if not 0 <= number < len(self._filed):
            raise InvalidParameter(f"{scope.name}: block {number} given, 0 to {len(self._filed) - 1} are allowed")
        if not self._open or curator._scopes() != self._around:
            raise InvalidParameter(
                f"{scope.name}: block {number} is entered after the scope was left, or inside a block opened since"
            )
        inside = ScopeRef(scope.serial, scope.name, scope.kind, scope.weights, number, scope.method)
        part = f"{scope.name} {number}" if len(scope.weights) > 1 else scope.name
        with curator._inside(_Place(part, inside, self._filed[number])):
            if self._population is None:
                assert self._member is not None
                yield (self._member == number) | (self._member == EVERYWHERE)
                return
            self._population.enter(scope.serial, number)
            try:
                yield np.empty(0, dtype=np.bool_)
            finally:
                self._population.leave()

    def event(self) -> Event:
        """What the scope's blocks released so far."""
        scope, events = self._scope, tuple(expand(_sequence(filed)) for filed in self._filed)
        if scope.kind == "subsample":
            return Subsample(scope.weights[0], events[0], scope.method, scope.method == "poisson")
        return Partition(scope.weights, events, self._independent)


@dataclass(frozen=True, eq=False)
class _Place:
    """A step or block that is open: its part of the path, its scope, and where events inside it are recorded."""

    part: str
    scope: ScopeRef | None
    filed: list[Event | Blocks]


def _sequence(filed: list[Event | Blocks]) -> Event:
    return Sequential(tuple(each.event() if isinstance(each, Blocks) else each for each in filed))
