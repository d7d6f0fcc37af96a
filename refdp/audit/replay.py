"""The replay audit: the outputs of a run, replayed on a neighbour, give the exact privacy loss of the whole run.

Re:cord-play (Cebere, Erb, Desfontaines, Bellet, Fitzsimons 2026) introduced replaying recorded noise on a neighbour to
check sensitivities and control flow. Here the replay also gives exact divergences, whole-run losses with secret
per-record randomness mixed exactly, and a byte comparison of the published model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from refdp.audit.in_order import InOrder
from refdp.audit.mixing import Term, largest, mixed, stronger
from refdp.data.records import Records
from refdp.errors import ImpossibleReplay
from refdp.io.domains import columns_of
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Laplace, Mechanism
from refdp.privacy.curator import Array, Curator, Entry, Source, Transcript
from refdp.privacy.events import Relation, Sensitivity
from refdp.privacy.replay import Recorder, RecordSwap, ReplaySource
from refdp.privacy.sources import SampleSource

Mask = NDArray[np.bool_]

SLACK = 1e-9
"""Relative tolerance for float64 rounding in the comparison of an observed with a declared figure."""


PARTING = ("options", "assignment", "control flow", "shape", "mechanism", "sensitivity")
"""Kinds of differences in what two runs ask for (`refdp.privacy.replay`): no replay is possible, and no loss stated."""


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
        """The pair as plain data, with its public schema: `refdp.audit.witnesses.pair_of` gives it back."""
        shown: dict[str, Any] = {"schema": columns_of(self.base.schema)}
        shown |= {"base_x": self.base.x.tolist(), "base_y": self.base.y.tolist(), "position": self.position}
        shown |= {"new_x": self.new.x[0].tolist(), "new_y": float(self.new.y[0])}
        if self.base.weight is not None or self.new.weight is not None:
            shown |= {"base_weight": self.base.weights().tolist(), "new_weight": float(self.new.weights()[0])}
        if self.old is not None:
            shown |= {"old_x": self.old.x[0].tolist(), "old_y": float(self.old.y[0])}
        return shown


@dataclass(frozen=True)
class Violation:
    """One way in which a run breaks its promise, located at a release.

    kind: "sensitivity", "cost", "loss", "model", "options", "assignment", "control flow", "shape", "mechanism", ...
    declared, observed: the figures compared, None where it is not figures that differ. loss: of this release, over all
    outputs; None where none is stated.
    """

    kind: str
    release: str
    declared: float | None
    observed: float | None
    loss: float | None
    claim: str
    witness: dict[str, Any]

    def loss_in_words(self) -> str:
        """The loss for people; where the neighbour's run could not follow the recorded one, that."""
        parted = self.declared is None and self.loss is None and self.kind in PARTING
        return "cannot be replayed: no loss stated" if parted else loss_in_words(self.loss)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, infinite figures as the string "inf", and None where nothing is stated."""
        numbers = {name: finite_or_name(getattr(self, name)) for name in ("declared", "observed", "loss")}
        return {"kind": self.kind, "release": self.release, **numbers, "claim": self.claim, "witness": self.witness}


@dataclass(frozen=True)
class Finding:
    """What the replay of one run on one pair gave.

    loss: log p(first) - log p(second) of the recorded outputs, exact.
    worst: upper bound of |loss| over all outputs of every release along the recorded path, in closed form.
    Both are None where no loss is stated: the replay was impossible, or the model depends on more than the releases, or
    a record changed releases outside its blocks, which the mixture over its blocks does not know of.
    """

    loss: float | None
    worst: float | None
    violations: tuple[Violation, ...]


def finite_or_name(number: float | None) -> float | str | None:
    """A finite number as it is, others as "inf", "-inf" or "nan": JSON has no such numbers. None stays None."""
    return number if number is None or np.isfinite(number) else str(float(number))


def loss_in_words(loss: float | None) -> str:
    """A loss, for people."""
    return "no loss stated" if loss is None else f"loss {loss:.6g}"


def run(train: Trainer, records: Records, source: Source, relation: Relation) -> tuple[Transcript, str]:
    """Train once before a recorder: the transcript with true values, and the model's text.

    Errors: ImpossibleReplay where a replay parts from its transcript, whatever the trainer makes of the error.
    """
    recorder = Recorder(source, relation)
    try:
        with np.errstate(all="ignore"):  # as in training.train: a trainer sees no other state of numpy
            text = train(records, Curator(InOrder(recorder), relation)).to_json()
    except BaseException:
        if isinstance(source, ReplaySource) and source.parted is not None:
            raise source.parted from None
        raise
    if isinstance(source, ReplaySource):
        source.finish()
    return recorder.transcript, text


def audit_pair(
    train: Trainer,
    pair: Pair,
    source: Source,
    epsilon: float,
    *,
    on_first: bool = True,
    blocks: np.random.Generator | None = None,
) -> Finding:
    """Record a run on one side of the pair, replay it on all sides, and compare.

    source: randomness of the recorded run. epsilon: the claimed pure privacy loss.
    on_first: record on the side with the new record. blocks: if given, also replay with the record in single random
    blocks, and check that nothing else changes.
    """
    side = pair.first() if on_first else pair.second()
    removed = pair.position if on_first or pair.old is not None else None
    transcript, model = run(train, side, source, pair.relation)
    asked = _sides(pair, transcript, removed)
    try:
        replays = [run(train, *arguments, pair.relation) for arguments in asked]
    except ImpossibleReplay as error:
        return impossible(error, pair, claim_at(error.release, transcript))
    models = _differing_models(model, [text for _, text in replays], pair)
    everywhere, absent = replays[0][0], replays[1][0]
    leaking: list[Violation] = []
    if blocks is not None:
        target = RecordSwap(removed, pair.position, blocks=blocks)
        try:
            one_block = run(train, pair.first(), ReplaySource(transcript, target), pair.relation)[0]
        except ImpossibleReplay as error:
            return impossible(error, pair, claim_at(error.release, transcript))
        leaking = leaks(one_block, everywhere, absent, pair)
    from refdp.audit.attained import attained  # which compares, too

    seen, places = [replayed for replayed, _ in replays], [(records, source.target) for records, source in asked]

    def led(records: Records, source: Source) -> Transcript:
        return run(train, records, source, pair.relation)[0]

    finding = compare(
        seen, pair, epsilon, models + leaking, lambda enough: attained(led, places, transcript, seen, pair, enough)
    )
    if not models and not leaking:
        return finding
    return Finding(None, None, tuple(v for v in finding.violations if v.kind != "loss" or not leaking))


def _sides(pair: Pair, transcript: Transcript, removed: int | None) -> list[tuple[Records, ReplaySource]]:
    present = RecordSwap(removed, pair.position)
    absent = RecordSwap(removed, None, neighbour=pair.old is None)
    sides = [(pair.first(), ReplaySource(transcript, present))]
    if pair.old is None or has_secrets(transcript):
        sides.append((pair.base, ReplaySource(transcript, absent)))
    if pair.old is not None:
        sides.append((pair.second(), ReplaySource(transcript, present)))
    return sides


def has_secrets(transcript: Transcript) -> bool:
    """Whether losses have to be mixed over secret assignments of records.

    If not, replacing a record needs no replay without it, whose number of records, which is public then, is another.
    """
    return any(entry.request.kind == "assign" for entry in transcript.entries)


def compare(
    sides: list[Transcript],
    pair: Pair,
    epsilon: float,
    found: list[Violation],
    attain: Callable[[float], float] | None = None,
) -> Finding:
    """Losses and violations from replayed transcripts: first side, without the record, and second side if replaced.

    Two sides are enough where nothing is mixed, see `has_secrets`. The whole run is accused of a loss that outputs
    attain: the recorded ones, or those that `attain` chooses where the upper end `worst` exceeds the claim, given the
    loss that is enough.
    """
    first, without, second = sides[0], sides[1], sides[-1]
    between = changes(first, second)
    for change in between:
        found += change.violations(pair)
    joined = changes(first, without)
    loss = mixed([change.term(change.loss()) for change in joined])
    if len(sides) > 2:
        replaced = changes(second, without)
        loss -= mixed([change.term(change.loss()) for change in replaced])
        if np.isnan(loss):  # impossible without either record: then only the two samples with one of them matter
            loss = sum(change.loss() for change in between)
        worst = max(_worst_of_replaced(between, joined, replaced))
    else:
        worst = max(_worst(between, pair.old is None))
    allowed = epsilon * (1 + SLACK) + SLACK
    lost = abs(loss)
    if attain is not None and worst > allowed and not lost > allowed:
        lost = max(0.0 if np.isnan(lost) else lost, attain(allowed))
    if lost > allowed:
        found.append(Violation("loss", "whole run", epsilon, lost, lost, "", pair.witness()))
    return Finding(loss, worst, tuple(found))


def _worst(between: list[Change], one_record: bool) -> tuple[float, float]:
    """Largest loss over all outputs in both directions, along the recorded path."""
    forward = [change.term(change.forward) for change in between]
    if not one_record:
        return largest(forward), largest([change.term(change.backward) for change in between])
    return mixed(forward), -mixed([change.term(-change.backward) for change in between])


def _worst_of_replaced(between: list[Change], joined: list[Change], replaced: list[Change]) -> tuple[float, float]:
    """The same where secrets are mixed, from the changes between both records and of either against neither."""
    forward = [change.term(change.forward) for change in between]
    backward = [change.term(change.backward) for change in between]
    first, second = ([change.term(change.forward) for change in side] for side in (joined, replaced))
    return largest(stronger(forward, first)), largest(stronger(backward, second))


@dataclass(frozen=True)
class Change:
    """One release whose true values differ between two replays, cut down to the rows or coordinates that differ."""

    entry: Entry
    mechanism: Mechanism
    declared: Sensitivity
    value: Array
    other: Array
    output: Array

    def term(self, loss: float) -> Term:
        """A loss of this release, with the scopes around it."""
        return Term(self.entry.scopes, loss)

    def loss(self) -> float:
        """log p(value) - log p(other) of the recorded output; 0 where neither can give it, but a third data set can."""
        if not isinstance(self.mechanism, Exponential):
            return float(np.sum(self.mechanism.loss(self.value, self.other, self.output)))
        chosen = np.arange(len(self.output)), self.output
        rows = np.maximum(self.value, self.other)[chosen] > -np.inf
        return float(np.sum(self.mechanism.loss(self.value[rows], self.other[rows], self.output[rows])))

    @cached_property
    def forward(self) -> float:
        """Largest loss over all outputs: the Renyi divergence of infinite order."""
        return float(np.sum(self.mechanism.worst_loss(self.value, self.other)))

    @cached_property
    def backward(self) -> float:
        """The same with the two data sets exchanged."""
        return float(np.sum(self.mechanism.worst_loss(self.other, self.value)))

    def violations(self, pair: Pair) -> list[Violation]:
        """Observed against declared change; exact divergences of orders infinity and 2 against declared costs."""
        mechanism, declared = self.mechanism, self.declared
        divergence = max(
            mechanism.divergence(self.value, self.other, 2.0), mechanism.divergence(self.other, self.value, 2.0)
        )
        figures = (
            ("sensitivity", declared.bound, mechanism.observed_change(self.value, self.other, declared.norm)),
            ("cost", mechanism.pure_cost(declared), max(self.forward, self.backward)),
            ("cost of order 2", mechanism.renyi_cost(declared, 2.0), divergence),
        )
        worst, name = max(self.forward, self.backward), self.entry.request.name
        return [
            Violation(kind, name, allowed, seen, worst, declared.claim, pair.witness())
            for kind, allowed, seen in figures
            if seen > allowed * (1 + SLACK) + SLACK
        ]


def changes(first: Transcript, second: Transcript) -> list[Change]:
    """The releases whose true values differ."""
    found = []
    for a, b in zip(first.entries, second.entries, strict=True):
        mechanism, declared = a.request.mechanism, a.request.sensitivity
        if mechanism is None or declared is None or a.value is None or b.value is None:
            continue  # a draw or an assignment
        rows = _differing(mechanism, a.value, b.value)
        if rows.any():
            output = a.output if a.index is None else a.index
            found.append(Change(a, mechanism, declared, a.value[rows], b.value[rows], output[rows]))
    return found


def _differing(mechanism: Mechanism, value: Array, other: Array) -> Mask:
    """Mask of the coordinates (Laplace), rows (tables) or everything (a vector of unequal noise) that differ."""
    different: Mask = np.asarray(value != other)
    if isinstance(mechanism, (Laplace, DiscreteLaplace)):
        return different
    if different.ndim > 1:
        return np.asarray(different.reshape(len(different), -1).any(axis=1))
    return np.full(different.shape, different.any())


def _differing_models(model: str, replayed: list[str], pair: Pair) -> list[Violation]:
    if all(text == model for text in replayed):
        return []
    return [Violation("model", "published model", None, None, None, "", pair.witness())]


def leaks(one_block: Transcript, everywhere: Transcript, absent: Transcript, pair: Pair) -> list[Violation]:
    """Releases that change although the record is not in their block, or change differently when it is."""
    place = pair.position
    block_of = {
        e.request.serial: int(e.output[place]) if place < len(e.output) else -1
        for e in one_block.entries
        if e.request.kind == "assign"
    }
    found = []
    for entry, inside, outside in zip(one_block.entries, everywhere.entries, absent.entries, strict=True):
        if entry.value is None or not entry.scopes:
            continue
        member = all(block_of[scope.serial] == scope.block for scope in entry.scopes)
        expected = (inside if member else outside).value
        if expected is None or not np.array_equal(entry.value, expected):
            found.append(Violation("block", entry.request.name, None, None, None, "", pair.witness()))
    return found[:1]


def impossible(error: ImpossibleReplay, pair: Pair, claim: str) -> Finding:
    """The finding of two runs that part. No loss is stated: what parts them may be secret or have other causes."""
    witness = {"detail": error.detail[:500], **pair.witness()}
    return Finding(None, None, (Violation(error.kind, error.release, None, None, None, claim, witness),))


def claim_at(name: str, transcript: Transcript) -> str:
    """The claim that the release of that name declares, if there is such a release."""
    declared = (e.request.sensitivity for e in transcript.entries if e.request.name == name)
    return next((sensitivity.claim for sensitivity in declared if sensitivity is not None), "")


def sampled(train: Trainer, pair: Pair, seed: int, epsilon: float) -> Finding:
    """`audit_pair` with a run recorded under fresh randomness, on the first side for even seeds."""
    generator, blocks = np.random.default_rng(seed).spawn(2)
    single = blocks if seed % 4 < 2 else None
    return audit_pair(train, pair, SampleSource(generator), epsilon, on_first=seed % 2 == 0, blocks=single)
