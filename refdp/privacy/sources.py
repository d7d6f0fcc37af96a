"""Where a curator's outputs come from: a generator (sample), a file of standard draws (tape), an earlier run (replay).

Public and secret randomness come from two children of the one Generator that enters, or from two Generators. Children
share a seed, and numpy's way from seed to state can be inverted: whoever finds the state behind published draws (PCG64:
Bouillaguet, Martinez, Sauvage 2020) has the noise. Hence runs without a seed have two (refdp/faces/training.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.errors import ImpossibleReplay, InvalidParameter
from refdp.noise.mechanisms import Exponential
from refdp.noise.samplers import Bits, GeneratorBits, sample_exponential, standard_draws
from refdp.privacy.coins import Coins, key_of, sample_assignment
from refdp.privacy.curator import EVERYWHERE, Array, Assigned, Entry, Request, Source, Transcript, own
from refdp.privacy.events import Relation
from refdp.privacy.tape import INDEX, NONE, Listed, asked, law_of, true_output

_SECRET = 16
"""Bytes of a secret for assignments."""


class SampleSource:
    """Fresh randomness. Lists what every request drew on `tape` if asked, so that a run can be repeated elsewhere.

    exact: choose options by rational arithmetic (discrete.sample_exponential); with discrete noise no floating-point
      number decides anything. bits: where exact samplers get their bits, the generator unless given (the operating
      system's entropy, say). public: where published draws come from, a child of the generator unless given.
    assignments: a secret for the coins of records and nothing else. They are then a function of it, the scope and the
      record's slot, so that hosts elsewhere toss those of their own records. True: a third child of the generator gives
      the secret. Without one the coins come from where the noise does.
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
        self.tape: list[Listed] = []

    def release(self, request: Request) -> Array:
        """Noise from the generator."""
        mechanism, value = asked(request)
        if self._exact and isinstance(mechanism, Exponential):
            return self._listed(request, INDEX, sample_exponential(value, mechanism.coefficient, self._bits))
        draws = mechanism.draws(value)
        standard = self._listed(request, law_of(draws), standard_draws(draws, self._secret, self._bits))
        return mechanism.apply(value, standard)

    def draw(self, request: Request) -> Array:
        """Public randomness from the public child."""
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
        """The true value, or the first option of greatest utility."""
        self._listed(request, NONE, np.zeros(0))
        return true_output(request)


class AccountSource:
    """No randomness and no records: zeros, first options, lower ends. A program run on it tells its plan."""

    def release(self, request: Request) -> Array:
        """Zeros, or the first option of every row."""
        mechanism, value = asked(request)
        return np.zeros(value.shape[:1], dtype=np.intp) if isinstance(mechanism, Exponential) else np.zeros(value.shape)

    def draw(self, request: Request) -> Array:
        """Zeros."""
        return np.zeros(request.size, dtype=np.float64 if request.law[0] == "uniform" else np.int64)

    def assign(self, request: Request) -> NDArray[np.int64]:
        """Nobody is assigned."""
        return np.zeros(request.size, dtype=np.int64)


def sample_law(generator: np.random.Generator, law: tuple[Any, ...], size: int | tuple[int, ...]) -> Array:
    """Public draws: ("uniform",) on [0, 1), ("integers", high) on 0..high-1, ("choice", weights) indices."""
    match law:
        case ("uniform",):
            return generator.random(size)
        case ("integers", high):
            return generator.integers(0, high, size)
        case ("choice", weights):
            return generator.choice(len(weights), size=size, p=np.asarray(weights) / np.sum(weights))
    raise InvalidParameter(f"unknown law {law!r} for a public draw")


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
        """The source's output."""
        value = None if request.value is None else own(request.value)
        options = None if request.options is None else self._kept(request.options)
        raw = self._source.release(request)
        index, output = (None, own(raw)) if options is None else (own(raw), own(options[raw]))
        self._add(replace(request, value=None, options=options), output, index, value)
        return raw

    def draw(self, request: Request) -> Array:
        """The source's draws."""
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
class Target:
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
    target: Target = Target(None, None)
    _entries: Iterator[Entry] = field(init=False)
    parted: ImpossibleReplay | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._entries = iter(self.transcript.entries)

    def release(self, request: Request) -> Array:
        """The recorded output, if the recorded run asked the same."""
        with self._following(request) as entry:
            same_request(entry.request, request)
            recorded = entry.output if entry.index is None else entry.index
            _, value = asked(request)
            expected = value.shape if entry.index is None else value.shape[:1]
            _same(request, "shape", recorded.shape, expected)
            return recorded.copy()

    def draw(self, request: Request) -> Array:
        """The recorded public draws."""
        with self._following(request) as entry:
            _same(request, "draw", (entry.request.law, entry.request.size), (request.law, request.size))
            return entry.output.copy()

    def assign(self, request: Request) -> NDArray[np.int64]:
        """The recorded secret assignment of all other records; the audited record is present everywhere."""
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
        """Raise what parted the runs, and check that the replayed run asked for everything that was recorded."""
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
