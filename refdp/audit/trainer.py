"""The replay audit of anyone's `train(records, curator)`: a search over neighbours, everything observable compared.

A run is recorded on one side of a pair, with fresh noise, and replayed on both: same outputs of every release, each run
in a process of its own. Whatever then differs depends on the record by another way than the releases.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from refdp.audit import noise_law
from refdp.audit.charge import Cost, Item, composed
from refdp.audit.freshness import stale
from refdp.audit.inputs import COUNTS, inputs
from refdp.audit.isolated import CAN_FORK, Lines, Outcome, Trainer, observed
from refdp.audit.replay import SLACK, Pair, Violation, changes, compare, finite_or_name, has_secrets
from refdp.audit.trainer_rows import rows
from refdp.audit.verdicts import Row, Verdict, completed, is_ok, summary
from refdp.checks import check_count, check_number
from refdp.data.records import Records, Schema
from refdp.errors import InvalidParameter
from refdp.privacy.curator import Entry, Transcript
from refdp.privacy.events import Event, Relation
from refdp.privacy.sources import ReplaySource, SampleSource, Target

PAIRS = 96
PATHS = 3
"""A composition is accused if it exceeds the claim along so many recorded runs of one pair."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TrainerReport:
    """What the audit of a trainer found.

    pairs: neighbouring pairs replayed. max_loss: greatest loss over all outputs along a replayed run, in nats, None if
    none is stated. coverage: what was looked at, each with its verdict; see `refdp.audit.verdicts`.
    """

    epsilon: float
    delta: float
    relation: Relation
    pairs: int
    max_loss: float | None
    violations: tuple[Violation, ...]
    coverage: tuple[Row, ...]

    @property
    def verdict(self) -> Verdict:
        """The weakest verdict of what the claim depends on."""
        return summary(self.coverage)

    @property
    def ok(self) -> bool:
        """Whether there is no violation, and nothing that the claim depends on was left out."""
        return is_ok(self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "ok": self.ok,
            "verdict": str(self.verdict),
            "pairs": self.pairs,
            "claimed_epsilon": finite_or_name(self.epsilon),
            "claimed_delta": self.delta,
            "relation": str(self.relation),
            "max_loss": finite_or_name(self.max_loss),
            "violations": [violation.to_dict() for violation in self.violations],
            "coverage": [row.to_dict() for row in self.coverage],
        }


@dataclass
class Notes:
    """What an audit saw on its way, for its coverage table."""

    pairs: int = 0
    sides: set[bool] = field(default_factory=set)
    sizes: set[int] = field(default_factory=set)
    releases: int = 0
    events: list[Event] = field(default_factory=list)
    scoped: bool = False
    raised: int = 0
    opaque: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    random: set[str] = field(default_factory=set)
    undecided: set[str] = field(default_factory=set)
    costs: list[Cost] = field(default_factory=list)
    worst: list[float] = field(default_factory=list)
    state: bool = False
    bet: noise_law.Bet | None = None
    violations: list[Violation] = field(default_factory=list)


def audit_trainer(
    train: Trainer,
    schema: Schema,
    epsilon: float,
    delta: float = 0.0,
    relation: str | Relation = Relation.ADD_REMOVE,
    *,
    pairs: int = PAIRS,
    seed: int = 0,
    counts: tuple[int, ...] = COUNTS,
    first_only: bool = False,
    progress: Progress = lambda done, total: None,
) -> TrainerReport:
    """Search for a violation of the claim (epsilon, delta) by `train(records, curator)`.

    train: may read records.x, shape (rows, features), and records.y as arrays, releases through the curator, and
    returns what it publishes. schema: public bounds, categories and label range of the records that are made up.
    pairs: neighbouring pairs to replay. counts: numbers of records to try. first_only: end at the first violation.
    Errors: InvalidParameter for a claim or a search outside the domain.
    """
    if relation not in list(Relation):
        raise InvalidParameter(f"relation = {relation!r}: {' or '.join(Relation)} is allowed")
    if not callable(train):
        raise InvalidParameter(f"train = {train!r}: a function train(records, curator) is needed")
    check_number("epsilon", epsilon, least=0)
    check_number("delta", delta, least=0, below=1)
    check_count("pairs", pairs)
    check_count("seed", seed, least=0)
    audit = _Audit(train, float(epsilon), float(delta), Relation(relation), seed)
    for number, pair in enumerate(islice(inputs(schema, audit.relation, seed, counts), pairs)):
        audit.look(pair, number)
        progress(number + 1, pairs)
        if first_only and audit.notes.violations:
            break
    if not (first_only and audit.notes.violations):
        audit.noise()
    notes = audit.notes
    found = _once(notes.violations)
    table = completed(rows(notes, found, audit.epsilon, audit.delta, audit.relation))
    worst = max(notes.worst, default=None)
    return TrainerReport(audit.epsilon, audit.delta, audit.relation, notes.pairs, worst, found, table)


@dataclass
class _Audit:
    train: Trainer
    epsilon: float
    delta: float
    relation: Relation
    seed: int
    notes: Notes = field(default_factory=Notes)
    _transcripts: list[Transcript] = field(default_factory=list)
    _mechanisms: dict[str, tuple[Any, str]] = field(default_factory=dict)
    _bare: dict[str, set[bytes]] = field(default_factory=dict)
    _charged: dict[Any, Cost] = field(default_factory=dict)

    def look(self, pair: Pair, number: int) -> None:
        """Record on one side, replay on all, compare."""
        notes = self.notes
        on_first = number % 2 == 0
        sides = self._replays(pair, on_first, number)
        if sides is None:
            return
        recorded, replays = sides
        notes.pairs += 1
        notes.sides.add(on_first)
        notes.sizes |= {pair.base.size, pair.base.size + 1}
        notes.releases += sum(entry.request.kind == "release" for entry in recorded.transcript.entries)
        notes.scoped = notes.scoped or has_secrets(recorded.transcript)
        notes.raised += bool(recorded.raised)
        notes.opaque |= set(recorded.opaque)
        if recorded.event is not None and not recorded.raised:
            notes.events.append(recorded.event)
        first, last = replays[0], replays[-1]
        self._observed(pair, first, last, on_first, number)
        transcripts = [self._sane(one.transcript, pair) for one in replays]
        if all(one is not None for one in transcripts):
            self._losses([one for one in transcripts if one is not None], pair, on_first, number)
        if number in (1, 4) and CAN_FORK:
            self._kept_state(pair, number)

    def _replays(self, pair: Pair, on_first: bool, number: int) -> tuple[Outcome, list[Outcome]] | None:
        side = pair.first() if on_first else pair.second()
        removed = pair.position if on_first or pair.old is not None else None
        recorded = self._run(side, self._source(number), number)
        if recorded.failed:
            self.notes.failed.add(recorded.failed)
            return None
        if recorded.bad_noise:
            self._accuse(Violation("noise scale", "whole run", None, None, None, "",
                                   {"detail": recorded.bad_noise, **pair.witness()}))  # fmt: skip
        if number < 1000:
            self._collect(recorded)
        present, absent = Target(removed, pair.position), Target(removed, None, neighbour=pair.old is None)
        wanted = [(pair.first(), present)]
        if pair.old is None or has_secrets(recorded.transcript):
            wanted.append((pair.base, absent))
        if pair.old is not None:
            wanted.append((pair.second(), present))
        replays = [self._run(one, ReplaySource(recorded.transcript, target), number) for one, target in wanted]
        lost = [one.failed for one in replays if one.failed]
        if lost:
            self.notes.failed |= set(lost)
            return None
        own = replays[0] if on_first else replays[-1]
        apart = [one.parted for one in replays if one.parted is not None]
        if apart and own.parted is not None:
            self._unrepeatable(pair, recorded, on_first, number)
            return None
        if apart:
            kind, release, detail = apart[0]
            self._accuse(Violation(kind, release, None, None, None, "", {"detail": detail, **pair.witness()}))
            return None
        return recorded, replays

    def _unrepeatable(self, pair: Pair, recorded: Outcome, on_first: bool, number: int) -> None:
        """A run that its own replay cannot follow: it raised inside a release, or has randomness of its own."""
        other = self._run(pair.second() if on_first else pair.first(), self._source(number), number)
        if bool(other.raised) != bool(recorded.raised):
            self._accuse(self._differs("exception", "raised on one side only", pair))
        elif recorded.raised:
            self.notes.failed.add(f"a run ended with {dict(recorded.raised).get('error', 'an error')} inside a release")
        else:
            self.notes.random.add("requests to the curator")

    def _observed(self, pair: Pair, first: Outcome, last: Outcome, on_first: bool, number: int) -> None:
        """Everything observable of two replays with the same outputs."""
        for kind, a, b in (
            ("exception", first.raised, last.raised),
            ("published object", first.published, last.published),
            ("side channel", first.beside, last.beside),
            ("global state", first.state, last.state),
        ):
            places = _differing(a, b)
            if not places:
                continue
            own = self._own_randomness(pair, number, kind) if kind != "global state" else set()
            told = [place for place in places if place not in own]
            if told:
                self._accuse(self._differs(kind, told[0], pair))
            else:
                self.notes.random.add(f"{kind}: {places[0]}")

    def _own_randomness(self, pair: Pair, number: int, kind: str) -> set[str]:
        """Places that differ between runs on the same records with the same outputs: not the record's doing."""
        recorded = self._run(pair.base, self._source(number), number)
        field_of = {"exception": "raised", "published object": "published", "side channel": "beside"}[kind]
        target = Target(None, None)
        runs = [self._run(pair.base, ReplaySource(recorded.transcript, target), seed) for seed in (number, number, -1)]
        seen = [getattr(one, field_of) for one in runs]
        return {place for other in seen[1:] for place in _differing(seen[0], other)}

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

    def _losses(self, sides: list[Transcript], pair: Pair, on_first: bool, number: int) -> None:
        pure = self.delta == 0
        try:
            finding = compare(sides, pair, self.epsilon if pure else math.inf, [])
        except InvalidParameter as error:
            self._accuse(self._differs("value", "a release", pair, str(error)))
            return
        for violation in finding.violations:
            self._accuse(violation)
        if finding.worst is not None and (pure or math.isfinite(finding.worst)):
            self.notes.worst.append(max(abs(finding.loss or 0.0), finding.worst))
        if not pure:
            self._composed(sides, pair, on_first, number)

    def _composed(self, sides: list[Transcript], pair: Pair, on_first: bool, number: int) -> None:
        """delta at the claimed epsilon: accused from below, along several recorded runs."""
        cost = self._cost(sides)
        self.notes.costs.append(cost)
        if cost.lower <= self.delta * (1 + SLACK):
            return
        for path in range(1, PATHS):
            again = self._replays(pair, on_first, number + path * 1000)
            clean = [self._sane(one.transcript, pair) for one in again[1]] if again else [None]
            other = self._cost([one for one in clean if one is not None]) if None not in clean else None
            if other is None or other.lower <= self.delta * (1 + SLACK):
                self.notes.undecided.add("the composition exceeds the claim along one recorded run, not along others")
                return
            cost = cost if cost.lower < other.lower else other
        self._accuse(Violation("composition", "whole run", self.delta, cost.lower, None, "",
                               {"detail": f"delta at epsilon {self.epsilon:g}", **pair.witness()}))  # fmt: skip

    def _cost(self, sides: list[Transcript]) -> Cost:
        moved = changes(sides[0], sides[-1])
        items = [Item(one.mechanism, one.value, one.other, one.entry.scopes) for one in moved]
        key = tuple((repr(i.mechanism), i.value.tobytes(), i.other.tobytes(), i.scopes) for i in items)
        if key not in self._charged:
            self._charged[key] = composed(items, self.relation, self.epsilon, self.delta)
        return self._charged[key]

    def _kept_state(self, pair: Pair, number: int) -> None:
        """The same run after a run on either side, in one process: nothing of the earlier records may show."""
        recorded = self._run(pair.base, self._source(number), number)
        if recorded.failed or recorded.raised:
            return
        target = Target(None, None)
        after = [
            observed(self.train, pair.base, ReplaySource(recorded.transcript, target), self.relation, number, before)
            for before in (pair.first(), pair.base, pair.second() if pair.old is not None else pair.new)
        ]
        self.notes.state = True
        if any(one.failed for one in after):
            return
        for one in after[1:]:
            seen, other = (_all(outcome) for outcome in (after[0], one))
            values, others = (
                [e.value.tobytes() if e.value is not None else b"" for e in o.transcript.entries]
                for o in (after[0], one)
            )
            if seen != other or values != others or after[0].parted != one.parted:
                places = _differing(seen, other)
                self._accuse(self._differs("state between calls", places[0] if places else "true values", pair))
                return

    def noise(self) -> None:
        """The drawn noise against its declared law, pooled over all recorded runs and further draws; its freshness."""
        bet, name = noise_law.recorded(self._transcripts)
        tests = 1 + len(self._mechanisms)
        if bet.draws and bet.rejects(tests):
            self._accuse(noise_law.refuted(bet, name, "all recorded draws"))
        self.notes.bet = bet
        for text, (mechanism, where) in self._mechanisms.items():
            more = noise_law.sampled(mechanism, self.seed)
            own = noise_law.known(mechanism) is not None
            if more is not None and more.rejects(tests):
                self._accuse(noise_law.refuted(more, where, text))
            elif more is None or not own:
                self.notes.unknown.add(f"{type(mechanism).__qualname__} at {where}")
            else:
                bet.draws += more.draws
        if len(self._transcripts) > 1:
            fresh = [self._sane(one, None) for one in self._transcripts[:2]]
            first, second = fresh
            if first is not None and second is not None:
                self.notes.violations += stale(first, second)

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

    def _source(self, number: int) -> SampleSource:
        return SampleSource(np.random.default_rng([self.seed, number]))

    def _run(self, records: Records, source: Any, number: int) -> Outcome:
        return observed(self.train, records, source, self.relation, number + 1)

    def _accuse(self, violation: Violation) -> None:
        self.notes.violations.append(violation)

    def _differs(self, kind: str, place: str, pair: Pair | None, detail: str = "") -> Violation:
        shown = {"releases": [place]} if pair is None else pair.witness()
        witness = {**({"detail": detail} if detail else {}), **shown}
        return Violation(kind, place, None, None, None, "", witness)


def _all(outcome: Outcome) -> Lines:
    return (*outcome.raised, *outcome.published, *outcome.beside, *outcome.state)


def _differing(a: Lines, b: Lines) -> list[str]:
    """The places of lines that are not in the same place of the other with the same content."""
    if a == b:
        return []
    one, other = ({}, {})  # type: dict[tuple[str, int], str], dict[tuple[str, int], str]
    for lines, table in ((a, one), (b, other)):
        count: dict[str, int] = {}
        for place, content in lines:
            count[place] = count.get(place, 0) + 1
            table[place, count[place]] = content
    places = [place for place in dict.fromkeys([*one, *other]) if one.get(place) != other.get(place)]
    return list(dict.fromkeys(place for place, _ in places)) or [a[0][0] if a else b[0][0]]


def _once(found: list[Violation]) -> tuple[Violation, ...]:
    """Each kind and place once, with the smallest pair that shows it."""
    from refdp.audit.report import merged

    return merged(found)
