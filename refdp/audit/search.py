"""The replay of one trainer on one pair after the other: what differs between neighbours, and what was looked at.

A run is recorded on one side of a pair, with fresh noise, and replayed on all: same outputs of every release, each run
in a process of its own. Whatever then differs depends on the record by another way than the releases.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from refdp.audit import noise_law, noise_shape, slots
from refdp.audit.attained import Led, Side, attained
from refdp.audit.charge import PATHS, Cost, Item, Key, composed, least, numbered
from refdp.audit.declared_filter import Filter, Spent
from refdp.audit.freshness import stale
from refdp.audit.isolated import CAN_FORK, Lines, Outcome, Trainer, observed
from refdp.audit.leaving import Leaving
from refdp.audit.replay import SLACK, Finding, Pair, Violation, changes, claim_at, compare, has_secrets, leaks
from refdp.data.records import Records
from refdp.errors import InvalidParameter
from refdp.privacy.curator import Entry, Source, Transcript
from refdp.privacy.events import Event, Relation
from refdp.privacy.replay import RecordSwap, ReplaySource
from refdp.privacy.sources import SampleSource

FRESH = (900_001, 900_002)
"""Two runs on the same records, under seeds of their own, whose draws are compared."""
VALUES = 5
"""Observed true values that noise of each kind is drawn at, too."""
AGAIN = 2
"""What differs after other records counts if it does not in so many repetitions after the same."""


@dataclass
class Notes:
    """What an audit saw on its way, for its coverage table.

    single: replays with the record in one block alone. discrete, floating: releases with noise of these kinds.
    off_grid: those of the first kind whose output is not on the mechanism's grid. shaped: draws at each value whose
    shape was looked at. rearranged: pairs whose replay cannot be aligned, see `refdp.audit.slots`.
    leaving: records that took no part any more. filters: what records spent of declared budgets. again: further runs,
    of trainers that do not always release the same. alike: runs that released the same, where all did.
    later: where a second run in a process has another result than a first one.
    """

    pairs: int = 0
    sides: set[bool] = field(default_factory=set)
    sizes: set[int] = field(default_factory=set)
    releases: int = 0
    events: list[Event] = field(default_factory=list)
    scoped: bool = False
    single: int = 0
    discrete: int = 0
    floating: int = 0
    off_grid: set[str] = field(default_factory=set)
    raised: int = 0
    opaque: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    random: set[str] = field(default_factory=set)
    undecided: set[str] = field(default_factory=set)
    costs: list[Cost] = field(default_factory=list)
    worst: list[float] = field(default_factory=list)
    state: bool = False
    later: set[str] = field(default_factory=set)
    bet: noise_law.Bet | None = None
    shaped: int = 0
    rearranged: int = 0
    leaving: Leaving = field(default_factory=Leaving)
    filters: list[Spent] = field(default_factory=list)
    again: int = 0
    alike: int = 0
    violations: list[Violation] = field(default_factory=list)


@dataclass
class Search:
    """One trainer's replays. source: of a recorded run. watched: modules whose own state is compared, too.

    draws: further draws of each kind of noise. late: see `Target`. filters: what the trainer says to enforce.
    """

    train: Trainer
    epsilon: float
    delta: float
    relation: Relation
    seed: int
    notes: Notes = field(default_factory=Notes)
    source: Callable[[np.random.Generator], Source] = SampleSource
    watched: tuple[str, ...] = ()
    draws: int = noise_law.DRAWS
    late: bool = False
    filters: tuple[Filter, ...] = ()
    _transcripts: list[Transcript] = field(default_factory=list)
    _first: Records | None = None
    _mechanisms: dict[str, tuple[Any, str]] = field(default_factory=dict)
    _values: dict[str, list[float]] = field(default_factory=dict)
    _bare: dict[str, set[bytes]] = field(default_factory=dict)
    _charged: dict[Any, Cost] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.notes.filters = self.notes.filters or [Spent(one) for one in self.filters]

    def look(self, pair: Pair, number: int) -> Finding:
        """Record on one side, replay on all, compare. The finding has no loss where none can be stated."""
        known = len(self.notes.violations)
        finding = self._looked(pair, number)
        if len(self.notes.violations) > known and not self._in_order(pair, number):
            del self.notes.violations[known:]
            self.notes.rearranged += 1
            return Finding(None, None, ())
        return finding

    def _in_order(self, pair: Pair, number: int) -> bool:
        """Whether a replay of this pair says anything: coins, if there are any, belong to rows in their order."""
        if self.late:  # pairs were arranged as the trainer has them
            return True
        for side in (pair.first(), pair.base, *(() if pair.old is None else (pair.second(),))):
            recorded = self.recorded(side, number)
            if recorded.failed or recorded.raised or not has_secrets(recorded.transcript):
                continue
            if not slots.are_rows(recorded.transcript, side, lambda rows, source: self._run(rows, source, number)):
                return False
        return True

    def _looked(self, pair: Pair, number: int) -> Finding:
        notes = self.notes
        on_first = number % 2 == 0
        sides = self._replays(pair, on_first, number)
        if sides is None:
            return Finding(None, None, ())
        recorded, replays = sides
        notes.pairs += 1
        notes.sides.add(on_first)
        notes.sizes |= {pair.base.size, pair.base.size + 1}
        self._noted(recorded)
        first, last = replays[0], replays[-1]
        told = self._observed(pair, first, last, on_first, number)
        transcripts = [self._sane(one.transcript, pair) for one in replays]
        finding = Finding(None, None, ())
        if all(one is not None for one in transcripts):
            known = [one for one in transcripts if one is not None]
            leaking = self._single(pair, recorded, known, on_first, number)
            finding = self._losses(known, pair, on_first, number, stated=not leaking)
            if leaking or told:
                finding = Finding(None, None, finding.violations)
        if number in (1, 4) and CAN_FORK:
            self._kept_state(pair, number)
        return finding

    def _noted(self, recorded: Outcome) -> None:
        """What one recorded run adds to the notes."""
        notes, entries = self.notes, recorded.transcript.entries
        releases = [entry for entry in entries if entry.request.kind == "release"]
        notes.releases += len(releases)
        notes.scoped = notes.scoped or has_secrets(recorded.transcript)
        notes.raised += bool(recorded.raised)
        notes.opaque |= set(recorded.opaque)
        if recorded.event is not None and not recorded.raised:
            notes.events.append(recorded.event)
        for entry in releases:
            step = getattr(entry.request.mechanism, "step", None)
            if isinstance(step, float) and entry.index is None:
                notes.discrete += 1
                if not np.array_equal(entry.output / step, np.rint(entry.output / step)):
                    notes.off_grid.add(entry.request.name)
            else:
                notes.floating += entry.index is None

    def _single(
        self, pair: Pair, recorded: Outcome, sides: list[Transcript], on_first: bool, number: int
    ) -> list[Violation]:
        """Replays with the record in one random block of every scope: nothing but that block may know of it."""
        if len(sides) < 2 or not has_secrets(recorded.transcript):
            return []
        removed = pair.position if on_first or pair.old is not None else None
        coins = np.random.default_rng([self.seed, number, 1])
        source = ReplaySource(recorded.transcript, RecordSwap(removed, pair.position, blocks=coins, late=self.late))
        one = self._run(pair.first(), source, number)
        self.notes.single += 1
        if one.failed:
            self.notes.failed.add(one.failed)
            return []
        if one.parted is not None:
            kind, release, detail = one.parted
            claim = claim_at(release, recorded.transcript)
            found = [Violation(kind, release, None, None, None, claim, {"detail": detail, **pair.witness()})]
        else:
            inside = self._sane(one.transcript, pair)
            found = [] if inside is None else leaks(inside, sides[0], sides[1], pair)
        for violation in found:
            self._accuse(violation)
        return found

    def _replays(self, pair: Pair, on_first: bool, number: int) -> tuple[Outcome, list[Outcome]] | None:
        side = pair.first() if on_first else pair.second()
        self._first = side if self._first is None else self._first
        recorded = self.recorded(side, number)
        if recorded.failed:
            self.notes.failed.add(recorded.failed)
            return None
        if recorded.bad_noise:
            self._accuse(Violation("noise scale", "whole run", None, None, None, "",
                                   {"detail": recorded.bad_noise, **pair.witness()}))  # fmt: skip
        if number < 1000:
            self._collect(recorded)
        wanted = self._wanted(pair, recorded.transcript, on_first)
        replays = [self._run(one, ReplaySource(recorded.transcript, target), number) for one, target in wanted]
        lost = [one.failed for one in replays if one.failed]
        if lost:
            self.notes.failed |= set(lost)
            return None
        own = replays[0] if on_first else replays[-1]
        self._overheard(pair, recorded, own, side, number)
        apart = [one.parted for one in replays if one.parted is not None]
        if apart and own.parted is not None:
            self._unrepeatable(pair, recorded, on_first, number)
            return None
        if apart:
            kind, release, detail = apart[0]
            claim = claim_at(release, recorded.transcript)
            self._accuse(Violation(kind, release, None, None, None, claim, {"detail": detail, **pair.witness()}))
            return None
        return recorded, replays

    def _overheard(self, pair: Pair, recorded: Outcome, own: Outcome, side: Records, number: int) -> None:
        """Whether a run and its own replay, with the same outputs, publish the same: noise may come out otherwise.

        Numbers are compared, not how they lie in memory: a replay gives outputs as copies.
        """
        places = [place for place in _differing(_numbers(recorded), _numbers(own)) if own.parted is None]
        if not places or recorded.raised or own.failed:
            return
        target = RecordSwap(None, None)
        again = [self._run(side, one, seed) for one, seed in (
            (ReplaySource(recorded.transcript, target), number), (ReplaySource(recorded.transcript, target), -1),
            (self._source(number), number))]  # fmt: skip
        restless = {*_differing(_numbers(again[0]), _numbers(own)), *_differing(_numbers(again[0]), _numbers(again[1])),
                    *_differing(_numbers(again[2]), _numbers(recorded))}  # fmt: skip
        left = [place for place in places if place not in restless]
        if left:
            detail = "a run and its replay with the same outputs publish different things: more than outputs came out"
            self._accuse(self._differs("published object", left[0], pair, detail))
        else:
            self.notes.random.add(f"published object: {places[0]}")

    def _wanted(self, pair: Pair, recorded: Transcript, on_first: bool) -> list[Side]:
        """The data sets that a run recorded on one side is replayed on, and what differs in their rows."""
        removed = pair.position if on_first or pair.old is not None else None
        present = RecordSwap(removed, pair.position, late=self.late)
        absent = RecordSwap(removed, None, neighbour=pair.old is None, late=self.late)
        wanted = [(pair.first(), present)]
        if pair.old is None or has_secrets(recorded):
            wanted.append((pair.base, absent))
        if pair.old is not None:
            wanted.append((pair.second(), present))
        return wanted

    def _unrepeatable(self, pair: Pair, recorded: Outcome, on_first: bool, number: int) -> None:
        """A run that its own replay cannot follow: it raised inside a release, or has randomness of its own."""
        other = self.recorded(pair.second() if on_first else pair.first(), number)
        if bool(other.raised) != bool(recorded.raised):
            self._accuse(self._differs("exception", "raised on one side only", pair))
        elif recorded.raised:
            self.notes.failed.add(f"a run ended with {dict(recorded.raised).get('error', 'an error')} inside a release")
        else:
            self.notes.random.add("requests to the curator")

    def _observed(self, pair: Pair, first: Outcome, last: Outcome, on_first: bool, number: int) -> bool:
        """Everything observable of two replays with the same outputs; whether anything differs."""
        found = False
        for kind, a, b in (
            ("exception", first.raised, last.raised),
            ("published object", first.published, last.published),
            ("side channel", first.beside, last.beside),
            ("global state", first.state, last.state),
        ):
            places = _differing(a, b)
            if not places:
                continue
            own = self._own_randomness(pair, number, kind)
            told = [place for place in places if place not in own]
            found = found or bool(told)
            if told:
                self._accuse(self._differs(kind, told[0], pair))
            else:
                self.notes.random.add(f"{kind}: {places[0]}")
        return found

    def _own_randomness(self, pair: Pair, number: int, kind: str) -> set[str]:
        """Places that differ between runs on the same records with the same outputs: not the record's doing."""
        recorded = self.recorded(pair.base, number)
        field_of = {"exception": "raised", "published object": "published", "side channel": "beside",
                    "global state": "state"}[kind]  # fmt: skip
        target = RecordSwap(None, None)
        seeds = (number, number) if kind == "global state" else (number, number, -1)
        runs = [self._run(pair.base, ReplaySource(recorded.transcript, target), seed) for seed in seeds]
        seen = [getattr(one, field_of) for one in runs]
        return {place for other in seen for place in _differing(seen[0], other)}

    def _sane(self, transcript: Transcript, pair: Pair | None) -> Transcript | None:
        """The transcript with known mechanisms alone; None where a value or a scale is no number."""
        entries = []
        for entry in transcript.entries:
            mechanism = entry.request.mechanism
            if entry.request.kind != "release":
                entries.append(entry)
                continue
            law = noise_law.said(mechanism)
            if law is None:
                if isinstance(mechanism, noise_law.LAWS):
                    self._accuse(self._differs("noise scale", entry.request.name, pair, repr(mechanism)))
                    return None
                self.notes.unknown.add(f"{type(mechanism).__qualname__} at {entry.request.name}")
                continue
            if entry.value is not None and np.isnan(entry.value).any():
                self.notes.undecided.add(f"the true value of {entry.request.name} is not a number")
                return None
            entries.append(replace(entry, request=replace(entry.request, mechanism=law)))
        return Transcript(transcript.relation, entries)

    def _losses(self, sides: list[Transcript], pair: Pair, on_first: bool, number: int, *, stated: bool) -> Finding:
        """Releases against what they declare; the whole run against the claim where a loss can be stated."""
        pure = self.delta == 0
        try:
            finding = compare(sides, pair, self.epsilon if pure else math.inf, [],
                              lambda enough: self._attained(sides, pair, on_first, number, enough))  # fmt: skip
        except InvalidParameter as error:
            self._accuse(self._differs("value", "a release", pair, str(error)))
            return Finding(None, None, ())
        for violation in finding.violations:
            if stated or violation.kind != "loss":
                self._accuse(violation)
        if not stated:
            return finding
        if finding.worst is not None and (pure or math.isfinite(finding.worst)):
            self.notes.worst.append(max(abs(finding.loss or 0.0), finding.worst))
        if not pure:
            self._composed(sides, pair, on_first, number)
        if pair.old is None and len(sides) > 1:
            self.notes.leaving.add(sides[0], sides[-1])
            self._spent(sides[0], sides[-1], pair)
        return finding

    def _attained(self, sides: list[Transcript], pair: Pair, on_first: bool, number: int, enough: float) -> float:
        """The greatest loss of outputs that were chosen to be lossy, with the recorded coins."""
        recorded = self.recorded(pair.first() if on_first else pair.second(), number).transcript

        def led(records: Records, source: Led) -> Transcript | None:
            found = self._run(records, source, number)
            return None if found.failed or found.raised else self._sane(found.transcript, pair)

        return attained(led, self._wanted(pair, recorded, on_first), recorded, sides, pair, enough)

    def _spent(self, present: Transcript, absent: Transcript, pair: Pair) -> None:
        """Every declared budget against what the record of this pair spent."""
        for one in self.notes.filters:
            for violation in one.add(present, absent, pair):
                self._accuse(violation)

    def _composed(self, sides: list[Transcript], pair: Pair, on_first: bool, number: int) -> None:
        """delta at the claimed epsilon: accused from below, of what several recorded runs have in common."""
        paths = [_items(sides)]
        cost = self._cost(list(paths[0].values()))
        self.notes.costs.append(cost)
        if cost.lower <= self.delta * (1 + SLACK):
            return
        for path in range(1, PATHS):
            again = self._replays(pair, on_first, number + path * 1000)
            clean = [self._sane(one.transcript, pair) for one in again[1]] if again else [None]
            paths += [_items([one for one in clean if one is not None])] if None not in clean else [{}]
            cost = self._cost(least(paths))
            if cost.lower <= self.delta * (1 + SLACK):
                self.notes.undecided.add("the composition exceeds the claim along one recorded run, an upper end: not "
                                         "with what several runs have in common")  # fmt: skip
                return
        self._accuse(Violation("composition", "whole run", self.delta, cost.lower, None, "",
                               {"detail": f"delta at epsilon {self.epsilon:g}", **pair.witness()}))  # fmt: skip

    def _cost(self, items: list[Item]) -> Cost:
        key = tuple((repr(i.mechanism), i.value.tobytes(), i.other.tobytes(), i.scopes) for i in items)
        if key not in self._charged:
            self._charged[key] = composed(items, self.relation, self.epsilon, self.delta)
        return self._charged[key]

    def _kept_state(self, pair: Pair, number: int) -> None:
        """The same run after a run on either side, in one process: nothing of the earlier records may show."""
        recorded = self.recorded(pair.base, number)
        if recorded.failed or recorded.raised:
            return
        befores = (pair.first(), pair.base, pair.second() if pair.old is not None else pair.new)

        def after(before: Records | None, earlier: Source | None = None) -> Outcome:
            source = ReplaySource(recorded.transcript, RecordSwap(None, None))
            return observed(self.train, pair.base, source, self.relation, number, before, watched=self.watched,
                            earlier=earlier)  # fmt: skip

        def after_same(before: Records, earlier: Callable[[], Source]) -> Outcome:
            return after(before, earlier())

        runs = [after(before) for before in befores]
        self.notes.state = True
        if any(one.failed for one in runs):
            self.notes.later |= set() if after(None).failed else {"what is asked of the curator"}
            return
        if _shown(runs[1]) != _shown(recorded):
            fresh = after(None)
            anyway = _differing(_shown(fresh), _shown(recorded))
            self.notes.later |= set(_differing(_shown(runs[1]), _shown(fresh))) - set(anyway)
        for before, one in zip(befores[1:], runs[1:], strict=True):
            places = _parting(runs[0], one)
            if not places:
                continue
            left = self._lasting((runs[0], one), [partial(after, own) for own in (befores[0], before)])
            if left and (sources := self._same_outputs(pair, before, number)) is not None:
                earlier = [partial(after_same, own, made) for own, made in sources]
                left = self._lasting((earlier[0](), earlier[1]()), earlier)
                if not left:  # outputs of the earlier run are kept, which were paid for
                    continue
            if left:
                self._accuse(self._differs("state between calls", left[0], pair))
                return
            self.notes.random.add(f"state between calls: {places[0]}")

    def _lasting(self, runs: tuple[Outcome, Outcome], again: Sequence[Callable[[], Outcome]]) -> list[str]:
        """The places where two runs part, but those, such as a clock's, where repetitions of one of them do as well."""
        places = _parting(*runs)
        same = [*zip(runs, again, strict=True)] * AGAIN if places else []
        restless = {place for run, repeated in same for place in _parting(run, repeated())}
        return [place for place in places if place not in restless]

    def _same_outputs(
        self, pair: Pair, before: Records, number: int
    ) -> list[tuple[Records, Callable[[], Source]]] | None:
        """Two earlier runs with the same outputs: on the first side, and on these records or as many of them.

        None where the second cannot follow the first.
        """
        first = pair.first()
        recorded = self.recorded(first, number)
        if recorded.failed or recorded.raised:
            return None
        swaps = {id(pair.base): RecordSwap(pair.position, None, neighbour=pair.old is None, late=self.late)}
        others = [(before, swaps.get(id(before), RecordSwap(None, None, late=self.late)))]
        if before is pair.new:  # secret coins are of as many rows as there were
            others.append((before.take([0] * first.size), RecordSwap(None, None, late=self.late)))
        for rows, swap in others:
            followed = self._run(rows, ReplaySource(recorded.transcript, swap), number)
            if not followed.failed and followed.parted is None:
                both = (first, RecordSwap(None, None)), (rows, swap)
                return [(one, partial(ReplaySource, recorded.transcript, how)) for one, how in both]
        return None

    def noise(self) -> None:
        """The drawn noise against its declared law, pooled over all recorded runs and further draws; its freshness."""
        bet, uniform, name = noise_law.recorded(self._transcripts, self.seed)
        tests = 1 + len(self._mechanisms)
        departed = noise_shape.departures([("recorded draws", uniform)], 8 * tests)
        if bet.draws and bet.rejects(tests):
            self._accuse(noise_law.refuted(bet, name, "all recorded draws"))
        elif departed is not None:
            self._accuse(noise_shape.refuted(departed, name, "the declared law"))
        self.notes.bet = bet
        for text, (mechanism, where) in self._mechanisms.items():
            more = noise_law.sampled(mechanism, self.seed, self.draws, self.source, self._values.get(text, ()))
            own = noise_law.known(mechanism) is not None
            strange = None if more is None else noise_shape.departures(more.groups, 8 * tests)
            if more is not None and more.bet.rejects(tests):
                self._accuse(noise_law.refuted(more.bet, where, text))
            elif strange is not None:
                self._accuse(noise_shape.refuted(strange, where, text))
            if more is None or not own:
                self.notes.unknown.add(f"{type(mechanism).__qualname__} at {where}")
            else:
                bet.draws += more.bet.draws
                self.notes.shaped = max(self.notes.shaped, min((len(one) for _, one in more.groups), default=0))
        if self._first is not None:
            runs = [self.recorded(self._first, number) for number in FRESH]
            one, other = (self._sane(run.transcript, None) for run in runs)
            if one is not None and other is not None:
                self.notes.violations += stale(one, other)

    def _collect(self, recorded: Outcome) -> None:
        if len(self._transcripts) < 40:
            self._transcripts.append(recorded.transcript)
        for entry in recorded.transcript.entries:
            mechanism: Any = entry.request.mechanism
            if (
                mechanism is not None
                and noise_law.said(mechanism) is None
                and not isinstance(mechanism, noise_law.LAWS)
            ):
                self._unknown(entry, type(mechanism).__qualname__)
            elif mechanism is not None and len(self._mechanisms) < 8:
                kind = f"{type(mechanism).__qualname__}"
                self._mechanisms.setdefault(kind, (mechanism, entry.request.name))
                if entry.value is not None and entry.index is None:
                    seen = self._values.setdefault(kind, [])
                    fresh = [float(one) for one in entry.value.ravel()[:VALUES] if np.isfinite(one) and one not in seen]
                    seen += fresh[: VALUES - len(seen)]

    def _unknown(self, entry: Entry, kind: str) -> None:
        """Noise of a law that nobody knows; only that there is none can be seen, where several values come out."""
        name = entry.request.name
        self.notes.unknown.add(f"{kind} at {name}")
        bare = self._bare.setdefault(name, set())
        if entry.value is None or not np.array_equal(entry.value, entry.output):
            bare.clear()
            return
        bare.add(entry.value.tobytes())
        if len(bare) > 1:
            self._accuse(self._differs("noise law", name, None, f"{kind}: the true values came out, without any noise"))

    def _source(self, number: int) -> Source:
        return self.source(np.random.default_rng([self.seed, number]))

    def recorded(self, records: Records, number: int) -> Outcome:
        """One run with noise of its own, which nothing is replayed of."""
        return self._run(records, self._source(number), number)

    def _run(self, records: Records, source: Any, number: int) -> Outcome:
        return observed(self.train, records, source, self.relation, number + 1, watched=self.watched)

    def _accuse(self, violation: Violation) -> None:
        self.notes.violations.append(violation)

    def _differs(self, kind: str, place: str, pair: Pair | None, detail: str = "") -> Violation:
        shown = {"releases": [place]} if pair is None else pair.witness()
        witness = {**({"detail": detail} if detail else {}), **shown}
        return Violation(kind, place, None, None, None, "", witness)


def _items(sides: list[Transcript]) -> dict[Key, Item]:
    """The releases whose true values differ, by name and how often it came before."""
    entries = sides[0].entries
    keys = dict(zip(map(id, entries), numbered(entry.request.name for entry in entries), strict=True))
    moved = changes(sides[0], sides[-1])
    return {keys[id(one.entry)]: Item(one.mechanism, one.value, one.other, one.entry.scopes) for one in moved}


_IN_MEMORY = re.compile(r" (?:writeable)?((?: unaligned)?) (?:view)?(?=$| [0-9a-f]{64} )")
"""Of the line of an array, what tells whether it can be written to, and is its own."""


def _numbers(outcome: Outcome) -> Lines:
    """What is published, without memory layouts and sharing of objects."""
    return tuple((place, _IN_MEMORY.sub(r"\1", content)) for place, content in outcome.published
                 if not content.startswith("the same as object") and ".base" not in place)  # fmt: skip


def _shown(outcome: Outcome) -> Lines:
    """What is published, and errors: not what is kept, which a second run may find as it likes."""
    return (*outcome.raised, *_numbers(outcome))


def _all(outcome: Outcome) -> Lines:
    return (*outcome.raised, *outcome.published, *outcome.beside, *outcome.state)


def _parting(a: Outcome, b: Outcome) -> list[str]:
    """The places where two runs differ that were to be equal."""
    values, others = ([e.value.tobytes() if e.value is not None else b"" for e in o.transcript.entries] for o in (a, b))
    unequal = values != others or a.parted != b.parted
    return _differing(_all(a), _all(b)) + (["true values"] if unequal else [])


def _differing(a: Lines, b: Lines) -> list[str]:
    """The places of lines that are not in the same place of the other with the same content."""
    if a == b:
        return []
    one, other = (dict(zip(numbered(place for place, _ in lines), (content for _, content in lines), strict=True))
                  for lines in (a, b))  # fmt: skip
    places = [place for place in dict.fromkeys([*one, *other]) if one.get(place) != other.get(place)]
    return list(dict.fromkeys(place for place, _ in places)) or [a[0][0]]
