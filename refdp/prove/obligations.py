"""A curator whose releases are obligations: each is asked about, and an example of its output goes on.

Whatever a training text does at its curator is read here: names, scopes, draws and releases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from refdp.noise.mechanisms import Exponential
from refdp.privacy.curator import Array, Curator, Request
from refdp.privacy.events import Relation
from refdp.prove.loops import Number
from refdp.prove.open import closed, opened
from refdp.prove.peeking import CURATOR, frames, guarded, line_of_text
from refdp.prove.planned import Key, key_of
from refdp.prove.reach import Host
from refdp.prove.releases import Unproved, check
from refdp.prove.symbols import Known, Private, Symbol, privates, public, varies
from refdp.prove.tables import Table
from refdp.prove.terms import Leak, Unmodelled
from refdp.prove.unknown import Unknown


@dataclass(frozen=True)
class Failure:
    """What is not proved. release: its name, or where else. line: module and line of the paper's text.

    kind: "sensitivity", "leak", "not modelled", "budget". counterexample: values of the unknowns where it fails; exact:
    whether they do in rational arithmetic. times: how many releases of this line fail so.
    """

    release: str
    line: str
    kind: str
    reason: str
    counterexample: dict[str, str] = field(default_factory=dict)
    exact: bool = False
    times: int = 1


class Enough(BaseException):
    """The first failure was found, and no other is asked for."""


class Obligations:
    """A curator's source to which every release is an obligation."""

    def __init__(self, host: Unknown, progress: Callable[[int], None] | None, briefly: bool = False) -> None:
        self._host, self._progress, self._briefly = host, progress, briefly
        self.releases = 0
        self.asked: dict[Key, bool] = {}
        """The kinds of releases that were asked about, and whether records pay for all of a kind."""
        self.failures: dict[tuple[str, str, str], Failure] = {}
        self._failed: dict[Any, tuple[str, str]] = {}

    def release(self, request: Request) -> Array:
        """An example of an output, after the obligations were asked. Of the request's shape."""
        self.releases += 1
        if self._progress is not None:
            self._progress(self.releases)
        value: Any = request.value
        key, paid = key_of(request), len(self._host.spent)
        self.asked[key] = self.asked.get(key, True)
        if isinstance(value, Private):
            same = line_of_text(frames()), key.mechanism, key.sensitivity
            if same in self._failed:
                kind, reason = self._failed[same]
                self.note(request.name, kind, reason)
                return _example(request, value, self.releases)
            try:
                check(self._host, request)
            except Unproved as problem:
                opens = self._host.opens
                values = self._host.described(problem.values) | (opens.described(problem.values) if opens else {})
                self.note(request.name, "sensitivity", str(problem), counterexample=values, exact=problem.exact)
                self._failed[same] = "sensitivity", str(problem)
            except Unmodelled as problem:
                self.note(request.name, "not modelled", str(problem))
                self._failed[same] = "not modelled", str(problem)
        else:
            self.note(request.name, "not modelled", "what is released is no sum over records")
        self.asked[key] &= len(self._host.spent) > paid
        return _example(request, value, self.releases)

    def draw(self, request: Request) -> Array:
        """An example of a public draw. Of the request's shape."""
        if request.law[0] == "uniform":
            return np.full(request.size, 0.5)
        return np.zeros(request.size, dtype=np.int64)

    def assign(self, request: Request) -> Array:
        """Nobody is known to be anywhere. Shape (records,). Errors: Unmodelled for blocks of fixed sizes."""
        if request.law[0] not in ("partition", "poisson", "without-replacement"):
            raise Unmodelled(f"{request.name}: blocks of fixed sizes, which follow from the number of records")
        if request.law[0] == "without-replacement" and self._host.relation is Relation.ADD_REMOVE:
            raise Unmodelled(f"{request.name}: a sample of a size that follows from the number of records")
        return np.zeros(0, dtype=np.int64)

    def note(self, release: str, kind: str, reason: str, *, line: str | None = None, **more: Any) -> None:
        """Keep a failure, those of one line and kind together. Errors: Enough, when one failure is enough."""
        line = line_of_text(frames()) if line is None else line
        first = self.failures.get((line, kind, reason), Failure(release, line, kind, reason, **more, times=0))
        self.failures[line, kind, reason] = replace(first, times=first.times + 1)
        loops = self._host._loops
        if kind == "not modelled" and loops.active:
            loops.stuck = loops.stuck or loops.active[-1].line
        if self._briefly:
            raise Enough


def _example(request: Request, value: Any, number: int) -> Array:
    """An output of the right shape, another one for each release, so that what follows from them is told apart."""
    shape = value.shape if isinstance(value, Table | Known) else np.shape(value)
    generator = np.random.default_rng(number)
    if isinstance(request.mechanism, Exponential):
        return generator.integers(0, shape[1], shape[0])
    return generator.normal(size=shape)


class ProofCurator(Host, Curator):
    """A curator whose outputs are public unknowns."""

    def __init__(self, source: Obligations, relation: Relation) -> None:
        super().__init__(source, relation)
        self._host = source._host

    def __getattribute__(self, name: str) -> Any:
        return guarded(self, name, CURATOR, Leak)

    def _path(self, name: str) -> tuple[str, ...]:
        path = super()._path(name)
        for part in path:
            _named(part)
        return path

    def step(self, name: str) -> Any:
        """Name a part of the run. Errors: Leak, Unmodelled for a name that is no text."""
        _named(name)
        return super().step(name)

    def release(self, *given: Any, **named: Any) -> Any:
        """Release a private value; how much noise and for which bound may not follow from released values.

        Errors: Unmodelled if it does; Leak for a private value beside what is released.
        """
        beside = (*given[:2], *given[3:], {key: one for key, one in named.items() if key != "value"})
        for one in privates(beside):
            raise Leak(f"{one.what} beside what is released, in its name, charge or options:")
        if any(isinstance(one, Known) for one in (*given[:2], *map(named.get, ("name", "mechanism", "sensitivity")))):
            raise Unmodelled("a charge that follows from released values")
        _usual((*given[1:2], *given[3:], named))
        charge = ("mechanism", "sensitivity", "value")
        _plain((*given[:1], *given[3:], {key: one for key, one in named.items() if key not in charge}))
        options = named.get("options")
        wider = varies(options)
        if isinstance(options, Known):
            named["options"] = options.example
        value: Any = named.get("value", given[2] if len(given) > 2 else None)
        axes = value.axes if isinstance(value, Table) else ()
        longer = any(axis.loose for axis in axes if axis.kind != "option")
        found = Known(super().release(*given, **named), longer or wider, listed=wider and not longer)
        found.axes = value.ndim if isinstance(value, Table) else None  # of options, which are rows, too
        filed = self._filing()
        filed[-1] = closed(filed[-1])
        return found

    @contextmanager
    def subsample(self, *given: Any, **named: Any) -> Iterator[Any]:
        """A secret sample of the records, at a rate that is a number."""
        _plain((given, named))
        _usual((given, named))
        self._of_records(given, named)
        with super().subsample(*given, **named) as mask:
            yield mask

    @contextmanager
    def partition(self, *given: Any, **named: Any) -> Iterator[Any]:
        """Put every record into a secret block; one block stands for all that the rounds of a loop enter."""
        _plain((given, named))
        _usual((given, named))
        self._of_records(given, named)
        with super().partition(*given, **named) as blocks:
            yield _Blocks(blocks)

    def _of_records(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Secret coins are of the records that are read. Errors: Unmodelled for others, which a text would be given."""
        if (named["size"] if "size" in named else given[2]) is not self._host:
            raise Unmodelled("secret coins of something else than the records")

    def draw(self, *given: Any, **named: Any) -> Any:
        """Public randomness: any value of the law. Errors: Leak if a private value decides it."""
        if any(True for _ in privates((given, named))):
            raise Leak("a private value decides a public draw:")
        _plain((given, named))
        size = named["size"] if "size" in named else given[2]
        if any(type(one) is not int for one in (size if type(size) is tuple else (size,))):
            raise Unmodelled("as many draws as released values say, or as something else than a number")
        return Known(super().draw(*public(given), **public(named)))


def _plain(value: Any) -> None:
    """What a scope, a draw or a release has beside its charge is no parameter that is open. Errors: Unmodelled."""
    for one in opened(value):
        raise Unmodelled(f"{one.opens.said} in a selection of records, a draw, or what is beside a release")


USUAL = (int, float, bool, str, Fraction, np.float64, type(None))


def _usual(value: Any) -> None:
    """What a release costs is in numbers of Python: of another kind they are rounded, or wrap around, elsewhere.

    Errors: Unmodelled for others, and for mechanisms and bounds of classes that are not refdp's own.
    """
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list | tuple):
            waiting += one
        elif type(one) is dict:
            waiting += one.values()
        elif is_dataclass(one) and not isinstance(one, type | Symbol | Host):
            if not type(one).__module__.startswith(("refdp.noise.", "refdp.privacy.")):
                raise Unmodelled(f"{type(one).__name__}, a mechanism or a bound that is not refdp's own")
            waiting += [getattr(one, each.name) for each in fields(one)]
        elif isinstance(one, int | float | np.generic) and type(one) not in USUAL and not isinstance(one, Enum):
            raise Unmodelled(f"a charge in numbers of the kind {type(one).__name__}")


def _named(name: Any) -> None:
    """A name is a plain text, which the transcript shows."""
    if isinstance(name, Private):
        raise Leak(f"{name.what} as a name:")
    if type(name) is not str:
        raise Unmodelled("a name that is no text")


def _alike(number: Any, other: Any) -> bool:
    """Whether two numbers of blocks are the same in all rounds that are read."""
    if not (isinstance(number, Number) and isinstance(other, Number)):
        return type(number) is type(other)
    return number.loop is other.loop and all(number.each[one] == other.each[one] for one in number.loop.rounds)


class _Blocks(Host):
    """Blocks of a partition: which of them is entered decides nothing."""

    def __init__(self, blocks: Any) -> None:
        self._blocks = blocks
        self._entered: dict[int, list[Any]] = {}

    def block(self, number: Any) -> Any:
        """Enter one block. Where another rule has led to a block of this number, rounds are read in which it is one."""
        place = number.example if isinstance(number, Number) else number
        before = self._entered.setdefault(place, [])
        for one in (one for other in before if not _alike(number, other) for one in (number, other)):
            if isinstance(one, Number) and one.loop.rounds:
                one.settled()
        before.append(number)
        return self._blocks.block(place)
