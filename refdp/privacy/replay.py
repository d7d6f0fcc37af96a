"""Runs written down, and run again with the same outputs: the sources of replay audits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.errors import ImpossibleReplay
from refdp.privacy.curator import EVERYWHERE, Array, Assigned, Entry, Request, Source, Transcript, own
from refdp.privacy.events import Relation
from refdp.privacy.sources import asked


class Recorder:
    """A source that writes down what it is asked and answers, for audits: curator = Curator(recorder, relation).

    transcript: with true values, chosen options and secret assignments, hence private. Copies are taken before anything
    is answered, so that what a program writes into its arrays later changes nothing in it.
    """

    def __init__(self, source: Source, relation: Relation) -> None:
        self._source = source
        self._options: Array | None = None
        self.transcript = Transcript(relation)

    def release(self, request: Request) -> Array:
        """The source's output. Of the source's shape."""
        value = None if request.value is None else own(request.value)
        options = None if request.options is None else self._kept(request.options)
        raw = self._source.release(request)
        index, output = (None, own(raw)) if options is None else (own(raw), own(options[raw]))
        self._add(replace(request, value=None, options=options), output, index, value)
        return raw

    def draw(self, request: Request) -> Array:
        """The source's draws. Of the request's shape."""
        return self._add(request, self._source.draw(request))

    def assign(self, request: Request) -> Assigned:
        """The source's assignment."""
        member = self._source.assign(request)
        self._add(request, np.asarray(member))
        return member

    def _kept(self, options: Array) -> Array:
        """A copy, one for all requests in a row with the same options."""
        if self._options is None or not np.array_equal(self._options, options):
            self._options = own(options)
        return self._options

    def _add(self, request: Request, output: Array, index: Array | None = None, value: Array | None = None) -> Array:
        self.transcript.entries.append(Entry(request, own(output), index, value))
        return output


@dataclass(frozen=True)
class RecordSwap:
    """How the replayed data set differs from the recorded one in its rows.

    removed: position of the audited record in the recorded data set, or None if it was not there.
    inserted: position of the audited record in the replayed data set, or None if it is absent.
    neighbour: False for the data set without the record under replace-one, which only serves to mix losses: there the
      sizes of secret blocks may differ.
    blocks: puts the audited record into one random block (or none) of each scope instead of everywhere, to check that
      its presence changes nothing but that block's releases, which the exact mixture assumes.
    late: records arrive in batches, so that the audited one has no slot in the assignments before it arrives.
    """

    removed: int | None
    inserted: int | None
    neighbour: bool = True
    blocks: np.random.Generator | None = None
    late: bool = False

    def block(self, law: tuple[Any, ...]) -> int:
        """The audited record's block in a scope of that law."""
        if self.blocks is None:
            return EVERYWHERE
        count = len(law[1]) if law[0] in ("partition", "shares") else 1
        return int(self.blocks.integers(-1, count))


@dataclass
class ReplaySource:
    """The outputs of an earlier run, from its recorder. A difference in what is asked is named (ImpossibleReplay).

    Once the runs part every further request fails in the same way, and so does `finish`: a program that goes on after
    the error, which may be any program's way with errors, hides nothing.
    """

    transcript: Transcript
    target: RecordSwap = RecordSwap(None, None)
    _entries: Iterator[Entry] = field(init=False)
    parted: ImpossibleReplay | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._entries = iter(self.transcript.entries)

    def release(self, request: Request) -> Array:
        """The recorded output, if the recorded run asked the same. Of the recorded shape. Errors: ImpossibleReplay."""
        with self._following(request) as entry:
            same_request(entry.request, request)
            recorded = entry.output if entry.index is None else entry.index
            _, value = asked(request)
            expected = value.shape if entry.index is None else value.shape[:1]
            _same(request, "shape", recorded.shape, expected)
            return recorded.copy()

    def draw(self, request: Request) -> Array:
        """The recorded public draws. Of the recorded shape. Errors: ImpossibleReplay."""
        with self._following(request) as entry:
            _same(request, "draw", (entry.request.law, entry.request.size), (request.law, request.size))
            return entry.output.copy()

    def assign(self, request: Request) -> NDArray[np.int64]:
        """The recorded secret assignment of all other records; the audited record is present everywhere.

        Shape (slots,). Errors: ImpossibleReplay.
        """
        with self._following(request) as entry:
            if self.target.neighbour:
                _same(request, "assignment", entry.request.law, request.law)
            member = entry.output.copy()
            here, there = self.target.removed, self.target.inserted
            if here is not None and not (self.target.late and here >= len(member)):
                member = np.delete(member, here)
            if there is not None and not (self.target.late and len(member) == request.size):
                member = np.insert(member, there, self.target.block(request.law))
            _same(request, "shape", (len(member),), (request.size,))
            return member

    def finish(self) -> None:
        """Raise what parted the runs, and check that the replayed run asked for everything that was recorded.

        Errors: ImpossibleReplay.
        """
        if self.parted is not None:
            raise self.parted
        rest = next(self._entries, None)
        if rest is not None:
            raise ImpossibleReplay(rest.request.name, "control flow", "the neighbour's run ended before it")

    @contextmanager
    def _following(self, request: Request) -> Iterator[Entry]:
        """The next entry; what is raised meanwhile is kept."""
        if self.parted is not None:
            raise self.parted
        try:
            entry = next(self._entries, None)
            if entry is None:
                raise ImpossibleReplay(
                    request.name, "control flow", "the neighbour's run goes on after the recorded end"
                )
            _same(request, "control flow", (entry.request.kind, entry.request.name), (request.kind, request.name))
            yield entry
        except ImpossibleReplay as error:
            self.parted = error
            raise


def same_request(recorded: Request, replayed: Request) -> None:
    """Raise ImpossibleReplay if two runs ask for different things at the same point, true values apart."""
    _same(replayed, "control flow", (recorded.kind, recorded.name), (replayed.kind, replayed.name))
    _same(replayed, "mechanism", recorded.mechanism, replayed.mechanism)
    _same(replayed, "sensitivity", recorded.sensitivity, replayed.sensitivity)
    _same_options(replayed, recorded.options, replayed.options)
    if recorded.value is not None and replayed.value is not None:
        _same(replayed, "shape", recorded.value.shape, replayed.value.shape)


def _same(request: Request, kind: str, recorded: object, replayed: object) -> None:
    if recorded != replayed:
        raise ImpossibleReplay(request.name, kind, f"{recorded!r} against {replayed!r}")


def _same_options(request: Request, recorded: Array | None, replayed: Array | None) -> None:
    if recorded is replayed:
        return
    if recorded is None or replayed is None or not np.array_equal(recorded, replayed):
        raise ImpossibleReplay(
            request.name, "options", "the candidates are not the same, so one side has impossible outputs"
        )
