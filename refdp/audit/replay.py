"""The replay audit: the outputs of a run, replayed on a neighbour, give the exact privacy loss of the whole run.

Re:cord-play (Cebere, Erb, Desfontaines, Bellet, Fitzsimons 2026) introduced replaying recorded noise on a neighbour to
check sensitivities and control flow. Here the replay also gives exact divergences, whole-run losses with secret
per-record randomness mixed exactly, and a byte comparison of the published model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from refdp.audit.mixing import Term, largest, mixed
from refdp.curator import Curator, Entry, Source, Transcript
from refdp.errors import ImpossibleReplay
from refdp.events import Relation
from refdp.records import Records
from refdp.sources import ReplaySource, SampleSource, Target

SLACK = 1e-9
"""Relative tolerance for float64 rounding in the comparison of an observed with a declared figure."""


class HasJson(Protocol):
    """Anything that publishes itself as text."""

    def to_json(self) -> str:
        """Canonical text."""


Trainer = Callable[[Records, Curator], HasJson]


@dataclass(frozen=True)
class Pair:
    """Two neighbouring data sets: `base` with `new` inserted, against `base` alone or with `old` in the same place.

    position: row before which the audited record is inserted.
    """

    base: Records
    new: Records
    old: Records | None
    position: int

    @property
    def relation(self) -> Relation:
        """add-remove without `old`, replace-one with it."""
        return Relation.ADD_REMOVE if self.old is None else Relation.REPLACE_ONE

    def first(self) -> Records:
        """The data set with the new record."""
        return self.base.insert(self.position, self.new)

    def second(self) -> Records:
        """The neighbour: without the record, or with the old one."""
        return self.base if self.old is None else self.base.insert(self.position, self.old)

    def witness(self) -> dict[str, Any]:
        """The pair as plain data."""
        shown = {"base_x": self.base.x.tolist(), "base_y": self.base.y.tolist(), "position": self.position}
        shown |= {"new_x": self.new.x[0].tolist(), "new_y": float(self.new.y[0])}
        if self.old is not None:
            shown |= {"old_x": self.old.x[0].tolist(), "old_y": float(self.old.y[0])}
        return shown


@dataclass(frozen=True)
class Violation:
    """One way in which a run breaks its promise, located at a release.

    kind: "sensitivity", "cost", "loss", "model", "options", "assignment", "control flow", "shape", "mechanism", ...
    """

    kind: str
    release: str
    declared: float
    observed: float
    loss: float
    claim: str
    witness: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """As plain data, infinite figures as the string "inf"."""
        numbers = {name: finite_or_name(getattr(self, name)) for name in ("declared", "observed", "loss")}
        return {"kind": self.kind, "release": self.release, **numbers, "claim": self.claim, "witness": self.witness}


@dataclass(frozen=True)
class Finding:
    """What the replay of one run on one pair gave.

    loss: log p(first) - log p(second) of the recorded outputs, exact.
    worst: upper bound of |loss| over all outputs of every release along the recorded path, in closed form.
    """

    loss: float
    worst: float
    violations: tuple[Violation, ...]


def finite_or_name(number: float) -> float | str:
    """A finite number as it is, others as "inf", "-inf" or "nan": JSON has no such numbers."""
    return number if np.isfinite(number) else str(float(number))


def run(train: Trainer, records: Records, source: Source, relation: Relation) -> tuple[Transcript, str]:
    """Train once with an auditing curator: the transcript with true values, and the model's text."""
    curator = Curator(source, relation, audit=True)
    model = train(records, curator)
    if isinstance(source, ReplaySource):
        source.finish()
    return curator.transcript, model.to_json()


def audit_pair(train: Trainer, pair: Pair, source: Source, epsilon: float, *, on_first: bool = True) -> Finding:
    """Record a run on one side of the pair, replay it on all sides, and compare.

    source: randomness of the recorded run. epsilon: the claimed pure privacy loss.
    on_first: record on the side with the new record.
    """
    side = pair.first() if on_first else pair.second()
    removed = pair.position if on_first or pair.old is not None else None
    transcript, model = run(train, side, source, pair.relation)
    try:
        replays = [run(train, *arguments, pair.relation) for arguments in _sides(pair, transcript, removed)]
    except ImpossibleReplay as error:
        return Finding(np.inf, np.inf, (_impossible(error, pair, transcript),))
    found = _differing_models(model, [text for _, text in replays], pair)
    return compare([replayed for replayed, _ in replays], pair, epsilon, found)


def _sides(pair: Pair, transcript: Transcript, removed: int | None) -> list[tuple[Records, ReplaySource]]:
    present = Target(removed, pair.position)
    absent = Target(removed, None, neighbour=pair.old is None)
    sides = [(pair.first(), ReplaySource(transcript, present)), (pair.base, ReplaySource(transcript, absent))]
    if pair.old is not None:
        sides.append((pair.second(), ReplaySource(transcript, present)))
    return sides


def compare(sides: list[Transcript], pair: Pair, epsilon: float, found: list[Violation]) -> Finding:
    """Losses and violations from replayed transcripts: first side, without the record, and second side if replaced."""
    first, without, second = sides[0], sides[1], sides[-1]
    pairs = [(a, b) for a, b in zip(first.entries, second.entries, strict=True) if a.request.kind == "release"]
    for a, b in pairs:
        found += _check_release(a, b, pair)
    loss = mixed(_losses(first, without))
    if pair.old is not None:
        loss -= mixed(_losses(second, without))
    worst = max(_worst(pairs, pair.old is None))
    allowed = epsilon * (1 + SLACK) + SLACK
    if max(abs(loss), worst) > allowed:
        found.append(Violation("loss", "whole run", epsilon, max(abs(loss), worst), worst, "", pair.witness()))
    return Finding(loss, worst, tuple(found))


def _losses(first: Transcript, second: Transcript) -> list[Term]:
    """Per release the loss of its recorded output, log p(first) - log p(second)."""
    terms = []
    for a, b in zip(first.entries, second.entries, strict=True):
        if a.request.kind == "release":
            mechanism, output = a.request.mechanism, a.output if a.index is None else a.index
            assert mechanism is not None and a.value is not None and b.value is not None
            terms.append(Term(a.scopes, float(np.sum(mechanism.loss(a.value, b.value, output)))))
    return terms


def _worst(pairs: list[tuple[Entry, Entry]], one_record: bool) -> tuple[float, float]:
    """Largest loss over all outputs in both directions, along the recorded path."""
    forward = [Term(a.scopes, _worst_loss(a, b)) for a, b in pairs]
    backward = [Term(a.scopes, _worst_loss(b, a)) for a, b in pairs]
    if not one_record:
        return largest(forward), largest(backward)
    return mixed(forward), -mixed([Term(term.scopes, -term.loss) for term in backward])


def _worst_loss(a: Entry, b: Entry) -> float:
    assert a.request.mechanism is not None and a.value is not None and b.value is not None
    return float(np.sum(a.request.mechanism.worst_loss(a.value, b.value)))


def _check_release(a: Entry, b: Entry, pair: Pair) -> list[Violation]:
    """Observed against declared change, and exact divergences against the declared cost."""
    mechanism, declared = a.request.mechanism, a.request.sensitivity
    assert mechanism is not None and declared is not None and a.value is not None and b.value is not None
    change = mechanism.observed_change(a.value, b.value, declared.norm)
    worst = max(_worst_loss(a, b), _worst_loss(b, a))
    found = []
    if change > declared.bound * (1 + SLACK) + SLACK:
        found.append(Violation("sensitivity", a.request.name, declared.bound, change, worst, declared.claim, {}))
    for order in (2.0, np.inf):
        cost = mechanism.pure_cost(declared) if np.isinf(order) else mechanism.renyi_cost(declared, order)
        divergence = max(mechanism.divergence(a.value, b.value, order), mechanism.divergence(b.value, a.value, order))
        if divergence > cost * (1 + SLACK) + SLACK:
            found.append(Violation("cost", a.request.name, cost, divergence, worst, declared.claim, {}))
    return [Violation(**{**vars(v), "witness": pair.witness()}) for v in found]


def _differing_models(model: str, replayed: list[str], pair: Pair) -> list[Violation]:
    if all(text == model for text in replayed):
        return []
    return [Violation("model", "published model", 0.0, np.inf, np.inf, "", pair.witness())]


def _impossible(error: ImpossibleReplay, pair: Pair, transcript: Transcript) -> Violation:
    claim = next(
        (
            e.request.sensitivity.claim
            for e in transcript.entries
            if e.request.name == error.release and e.request.sensitivity
        ),
        "",
    )
    witness = {"detail": error.detail[:500], **pair.witness()}
    return Violation(error.kind, error.release, 0.0, np.inf, np.inf, claim, witness)


def sampled(train: Trainer, pair: Pair, seed: int, epsilon: float) -> Finding:
    """`audit_pair` with a run recorded under fresh randomness, on the first side for even seeds."""
    return audit_pair(train, pair, SampleSource(np.random.default_rng(seed)), epsilon, on_first=seed % 2 == 0)
