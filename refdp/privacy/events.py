"""What a training run releases, as data: the input of every accountant.

A plan is made from parameters alone, before any record is touched; a transcript records the same events while
training. The two must be equal (after `expand`), and a test says so for every algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

from refdp.errors import InvalidParameter, RelationMismatch

if TYPE_CHECKING:
    from refdp.noise.protocol import Mechanism

Norm = Literal[1, 2, "range", "whitened"]
TOO_DEEP = (
    "events nested too deeply for this interpreter: allowed are some hundreds of levels; "
    "put releases side by side into one Sequential(...), or use Repeat(event, count)"
)


class Relation(StrEnum):
    """When two data sets are neighbours."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


def records_changed(relation: Relation) -> int:
    """1 under add-remove; 2 under replace-one, where one record leaves and another arrives."""
    return 1 if relation is Relation.ADD_REMOVE else 2


@dataclass(frozen=True)
class Sensitivity:
    """The declared supremum of the change of a released value between neighbours.

    bound: in units of the value (for "whitened": in standard deviations).
    norm: 1 (sum of absolute changes), 2 (Euclidean), "range" (sum over the rows of a utility table of largest minus
      smallest change, which is what the exponential mechanism pays for), "whitened" (Euclidean after dividing every
      coordinate by its standard deviation: non-spherical Gaussian noise).
    claim: id of the ledger's claim that justifies the bound.
    relation: the neighbouring relation that the bound is about.
    """

    bound: float
    norm: Norm
    claim: str
    relation: Relation

    def __post_init__(self) -> None:
        bound: object = self.bound
        strange = isinstance(bound, bool)
        if type(bound).__module__ == "numpy":  # whose arithmetic overflows, and which mixes with no fractions
            strange = not isinstance(bound, Real)
            if isinstance(bound, Real):
                object.__setattr__(self, "bound", int(bound) if isinstance(bound, Integral) else float(bound))
        try:
            finite = not strange and 0 <= self.bound < float("inf")
        except TypeError:
            finite = False
        if not finite:
            raise InvalidParameter(f"sensitivity {self.bound!r} of {self.claim}: allowed are finite numbers >= 0")


@dataclass(frozen=True)
class Release:
    """One release: a mechanism applied to a value of declared sensitivity.

    proved: the sensitivity that the ledger proves, where it is not the declared one; it is no part of what happened.
    """

    name: str
    mechanism: Mechanism
    sensitivity: Sensitivity
    proved: Sensitivity | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Charge:
    """A kind of release: its mechanism, the sensitivity that it declares, and the one that the ledger proves."""

    mechanism: Mechanism
    declared: Sensitivity
    proved: Sensitivity

    def release(self, name: str, proved: bool) -> Release:
        """As planned; proved: with the ledger's sensitivity."""
        return Release(name, self.mechanism, self.proved if proved else self.declared)


@dataclass(frozen=True)
class Sequential:
    """Events on the same records, each allowed to depend on the outputs before it."""

    events: tuple[Event, ...]


@dataclass(frozen=True)
class Repeat:
    """The same event, `count` times in sequence."""

    event: Event
    count: int


@dataclass(frozen=True)
class Parallel:
    """Events on disjoint blocks; a record's block follows from that record alone. A replaced record can move."""

    events: tuple[Event, ...]


@dataclass(frozen=True)
class Partition:
    """Every record's slot falls, secretly and independently, into block j with probability weights[j] (sum <= 1).

    The block does not depend on the record's content, so a replaced record stays in its block.
    independent: False where blocks have fixed sizes that follow from the number of records, so that one more record can
      change every block: no partition then under add-remove, and dearer than the events in sequence.
    """

    weights: tuple[float, ...]
    events: tuple[Event, ...]
    independent: bool = field(default=True, compare=False, repr=False)


def balls_and_bins(event: Event, slots: int) -> Partition:
    """An epoch of balls and bins (Chua et al. 2024): every record in one of so many batches, each as likely as another.

    event: the releases of one batch. The batches' sizes are random: a shuffle into batches of fixed sizes is none.
    Errors: InvalidParameter unless slots is a whole number >= 1.
    """
    if isinstance(slots, bool) or not isinstance(slots, int) or slots < 1:
        raise InvalidParameter(f"{slots!r} slots of balls and bins: allowed are whole numbers >= 1")
    return Partition((1 / slots,) * slots, (event,) * slots)


@dataclass(frozen=True)
class Subsample:
    """The event on a secret random subset of the records.

    poisson: every record independently with probability rate.
    without-replacement: a uniformly random subset of a fixed public size, rate = size / n, n the larger of two
      neighbouring numbers of records.
    independent: False where that size follows from the number of records, floor(rate n) as a curator draws it, so that
      one record more can make the subset larger: sampling is then no gain under add-remove.
    Which relation the releases inside may declare: see `misfits`.
    """

    rate: float
    event: Event
    method: Literal["poisson", "without-replacement"] = "poisson"
    independent: bool = field(default=True, compare=False, repr=False)


Event = Release | Sequential | Repeat | Parallel | Partition | Subsample


@dataclass(frozen=True)
class Plan:
    """An event together with the neighbouring relation under which it is to be accounted."""

    relation: Relation
    event: Event

    def __post_init__(self) -> None:
        if not isinstance(self.relation, Relation):
            raise InvalidParameter(f"relation {self.relation!r} of a plan: allowed are the members of {Relation!r}")
        try:
            wrong = next(misfits(self.event, self.relation), None)
        except RecursionError:
            raise InvalidParameter(TOO_DEEP) from None
        if wrong is not None:
            raise RelationMismatch(
                f"release {wrong.name!r} declares its sensitivity for {wrong.sensitivity.relation.value} "
                f"neighbours, the plan is about {self.relation.value}"
            )


def misfits(event: Event, relation: Relation) -> Iterator[Release]:
    """The releases whose declared sensitivity says nothing about such neighbours.

    Outside of samples the relations must be equal. Samples of a fixed size are coupled by replacing one record,
    whatever the relation of the data, which costs twice as much as adding one: both are allowed inside. So they are in
    Poisson samples under replace-one, where what one record adds makes a better bound. In Poisson samples under
    add-remove, and in samples whose size follows from the number of records, a record is there or not, of which
    replace-one says nothing.
    """
    match event:
        case Release():
            if event.sensitivity.relation is not relation:
                yield event
        case Subsample(_, inner, method, independent):
            if (method == "poisson" or not independent) and relation is Relation.ADD_REMOVE:
                yield from misfits(inner, relation)
        case _:
            for child in children(event):
                yield from misfits(child, relation)


def proved(event: Event, relation: Relation) -> Event:
    """The event with the ledger's sensitivities instead of the declared ones."""
    match event:
        case Release(name, mechanism, sensitivity, better):
            return Release(name, mechanism, better or sensitivity)
        case Sequential(events) | Parallel(events) | Partition(_, events, _):
            return replace(event, events=tuple(proved(e, relation) for e in events))
        case Subsample(_, inner, "without-replacement", True):  # as many records whatever the relation
            return replace(event, event=proved(inner, Relation.REPLACE_ONE))
        case Repeat(inner, _) | Subsample(_, inner, _):
            return replace(event, event=proved(inner, relation))


def folded(event: Event) -> Event:
    """The event with runs of equal neighbours as `Repeat`s: the inverse of `expand`, for accountants and readers."""
    match event:
        case Sequential(events):
            runs = [list(same) for _, same in groupby((folded(e) for e in events), whole)]
            parts = tuple(same[0] if len(same) == 1 else Repeat(same[0], len(same)) for same in runs)
            return parts[0] if len(parts) == 1 else Sequential(parts)
        case Parallel(events) | Partition(_, events, _):
            return replace(event, events=tuple(folded(e) for e in events))
        case Repeat(inner, _) | Subsample(_, inner, _):
            return replace(event, event=folded(inner))
    return event


def whole(event: Event) -> tuple[object, ...]:
    """An event with what equality leaves out: what is proved of its releases, and whether it is independent."""
    inner = tuple(whole(child) for child in children(event))
    return event, getattr(event, "proved", None), getattr(event, "independent", None), inner


def children(event: Event) -> tuple[Event, ...]:
    """The events directly inside a container, none for a release. Errors: InvalidParameter for what is no event."""
    match event:
        case Release():
            return ()
        case Repeat(inner, _) | Subsample(_, inner, _):
            return (inner,)
        case Sequential(events) | Parallel(events) | Partition(_, events, _):
            return events
        case _:
            raise InvalidParameter(
                f"event {event!r}: allowed are the events of refdp.privacy.events, such as Sequential(...)"
            )


def releases(event: Event) -> Iterator[Release]:
    """Every distinct release description in the event, in order, repetitions not unrolled."""
    if isinstance(event, Release):
        yield event
    for child in children(event):
        yield from releases(child)


def expand(event: Event) -> Event:
    """The event with every `Repeat` unrolled and nested `Sequential`s flattened: the form that a transcript records."""
    match event:
        case Release():
            return event
        case Repeat(inner, count):
            return _sequence([expand(inner)] * count)
        case Sequential(events):
            return _sequence([expand(e) for e in events])
        case Parallel(events) | Partition(_, events, _):
            return replace(event, events=tuple(expand(e) for e in events))
        case Subsample(_, inner, _):
            return replace(event, event=expand(inner))


def _sequence(events: list[Event]) -> Event:
    flat: list[Event] = []
    for event in events:
        flat.extend(event.events if isinstance(event, Sequential) else (event,))
    return flat[0] if len(flat) == 1 else Sequential(tuple(flat))
