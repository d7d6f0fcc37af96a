"""The exact replay audit of code that knows nothing of refdp: record a run, replay it on the neighbour, compare.

Recording a run and replaying it on a neighbour is Re:cord-play (Cebere, Erb, Desfontaines, Bellet, Fitzsimons 2026).
Here the replay also gives the exact privacy loss of every release and of the run, and a comparison of the whole result.

What is checked, each named with its place in the source:
  sensitivity      the true value changed by more than the call declares
  noise            the call's own parameters: scale too small for its declared sensitivity and cost
  sampler          the noise that came out is smaller than its scale says (exact gamma and chi-square tests)
  NaN              a true value that is not a number on one side
  control flow, mechanism, sensitivity differs, shape, options, declared cost   the two runs part: infinite loss
  budget           the releases of the run together lose more than the claim allows, at outputs that attain it
  result           something in the result differs although every output was the same: it was never released
What hangs on dice that are not opened accuses nobody: `refdp.audit.opened_evidence`.
What is not: whether noise is fresh in every call. `refdp.audit.structural` looks for noise that comes twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import scipy

from refdp.accounting.gaussian import delta as gaussian_delta
from refdp.audit.adaptive_runs import BASE, PAIRS, PROBES, RUNS, differ, probed
from refdp.audit.charge import Cost, Item, composed, least
from refdp.audit.noise_law import LAWS
from refdp.audit.opened_door import Patch, Recording
from refdp.audit.opened_evidence import KINDS, RETURNED, Run, attained, items_of, without_dice
from refdp.audit.opened_floating import Floating
from refdp.audit.opened_laws import NoiseCall, Unknown
from refdp.audit.opened_opaque import Opaques
from refdp.audit.opened_report import OpenedReport, Seen, largest, once
from refdp.audit.opened_runs import Claimed, Seeded
from refdp.audit.reading import Leaf
from refdp.audit.replay import SLACK, Violation, finite_or_name
from refdp.audit.runs import RAISED, raise_if_ending
from refdp.audit.structural_samples import Data
from refdp.checks import check_number
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.events import Relation, Sensitivity

SAMPLER_ALARM = 1e-9
"""Probability that one audit accuses a sampler that has the scale it says."""
ULPS = 16
"""Last places of a number that a sum in another order may change, where its noise is added by a caller."""


class NothingOpened(InvalidParameter):
    """None of the opened noise functions was called, and nothing else was found: nothing was examined."""


def audit_opened(
    train: Callable[[Data], Any],
    pairs: Iterable[tuple[Data, Data]],
    *doors: str | Sequence[Patch],
    epsilon: float,
    delta: float = 0.0,
    relation: Relation = Relation.ADD_REMOVE,
    seed: int = 0,
    published: Callable[[Any], Any] = lambda result: result,
    rounding: float = 0.0,
    last_bits: bool = True,
) -> OpenedReport:
    """Record `train` on each side of each pair, replay on the other, and compare.

    train: from a data set to whatever it publishes; public randomness has to be the same in every call (global
    generators are seeded). doors: packages, or lists of patches, that are opened. published: the part of the result
    that is meant to be public. rounding: how far numbers of results may differ, relative to 1 or their size, and are
    no violation, where noise is added apart from the noise function; what differs by more than `ULPS` of its last
    places is told as not examined. last_bits: play noise functions by themselves, for the verdict about
    floating point.
    Errors: InvalidParameter if there is no pair, or a noise function is called in another thread; NothingOpened, one of
    them, if none is called and nothing else is found; an error of `train` itself if it raises on both sides of a pair.
    """
    check_number("epsilon", epsilon, least=0)
    check_number("delta", delta, least=0, below=1)
    looks = _Looks(Claimed(train, doors, relation, published), epsilon, delta, rounding)
    given = list(pairs)
    for place, pair in enumerate(given):
        for way in (0, 1):
            looks.look(pair, place, way, seed + 2 * place + way)
    again, alike = looks.further(given, seed)
    found, seen, totals, recordings = looks.found, looks.seen, looks.totals, looks.recordings
    found += _samplers(recordings)
    found += looks.opaque.sampled(seed)
    if not totals and not found and not looks.dice:
        raise InvalidParameter("pairs = []: at least one pair of neighbours is needed")
    loss, largest_sum, seen_delta = (
        max(figures, default=0.0)
        for figures in ([t[0] for t in totals], [t[1] for t in totals], [t[2].upper for t in totals])
    )
    calls = sum(len(recording.calls) for recording in recordings)
    if recordings and not calls and not found:
        raise NothingOpened(f"{doors}: no noise function was called; one that draws noise has to be opened")
    return OpenedReport(
        epsilon,
        delta,
        len(totals),
        calls,
        loss,
        largest_sum,
        seen_delta,
        tuple(largest(seen)),
        tuple(once(found)),
        looks.opaque.told(),
        relation,
        max((t[1] for t in totals), default=0.0),
        looks.floating.played(seed) if last_bits else (),
        tuple(sorted(looks.dice)),
        again,
        alike,
        tuple(f"{path or RETURNED}: {why}" for path, why in looks.left.items()),
        tuple(looks.near),
        rounding,
    )


@dataclass
class _Looks:
    """Pairs as they are looked at, and everything that is noted of them. totals: of each look that was replayed."""

    claimed: Claimed
    epsilon: float
    delta: float
    rounding: float
    found: list[Violation] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    totals: list[tuple[float, float, Cost]] = field(default_factory=list)
    recordings: list[Recording] = field(default_factory=list)
    looked: list[tuple[int, int]] = field(default_factory=list)
    dice: set[str] = field(default_factory=set)
    left: dict[str, str] = field(default_factory=dict)
    near: dict[str, None] = field(default_factory=dict)
    floating: Floating = field(default_factory=Floating)

    def __post_init__(self) -> None:
        self.opaque = Opaques(self.epsilon, self.delta)

    def look(self, pair: tuple[Data, Data], place: int, way: int, seed: int) -> None:
        """Record on one side, replay on the other, compare. way: 1 to record on the second side."""
        first, second = pair[::-1] if way else pair
        relation = self.claimed.relation
        train = Seeded(self.claimed, seed)
        outcome = train.both(first, second)
        witness = {"pair": place, "recorded on": ("first", "second")[way]}
        if isinstance(outcome, Violation):
            self.found.append(outcome)
            return
        recorded, replayed = outcome
        if not isinstance(replayed, Run):
            self._told([replayed], recorded, train, first)
            return
        self.recordings.append(recorded.recording)
        self.looked.append((place, way))
        releases = list(_changes(recorded.recording, replayed.recording))
        self.seen += [release for release, _ in releases]
        broken = list(_broken(recorded.recording, replayed.recording, witness))
        broken += _differing_results(recorded.result, replayed.result, self.rounding, witness)
        room = _missed(recorded.recording, replayed.recording)
        self.near |= dict.fromkeys(_nearly_equal(recorded.result, replayed.result, self.rounding, room))
        self.left |= recorded.left | replayed.left
        self.opaque.add(recorded.recording, replayed.recording)
        self.floating.add(recorded.recording, replayed.recording)
        self.totals.append(_total(releases, self.epsilon, self.delta, relation))
        paths = train.paths(first, second, recorded, replayed)
        broken += _over_budget(self.totals[-1], self.epsilon, self.delta, witness, relation, paths)
        self._told(broken, recorded, train, first)

    def _told(self, broken: list[Violation], recorded: Run, train: Seeded, first: Data) -> None:
        kept, words = without_dice(broken, recorded, train.with_other_dice(first, recorded))
        self.found += kept
        self.dice |= words

    def further(self, pairs: Sequence[tuple[Data, Data]], seed: int) -> tuple[int, int]:
        """Looks along other paths where runs do not all call the same; how many, and how many runs were alike if none.

        Again are looked at, RUNS times with other noise and on either side in turn, the first pair and those that lose
        most: what one recorded run of an adaptive program does not show.
        """
        if self.found or not self.recordings:
            return 0, 0
        probes = (Seeded(self.claimed, seed + BASE + place).run(pairs[0][0]) for place in range(PROBES))
        called = probed(
            [calls(one) for one in self.recordings], (calls(one.recording) for one in probes if isinstance(one, Run))
        )
        if not differ(called):
            return 0, len(called)
        by_loss = sorted(zip(self.totals, self.looked, strict=True), key=lambda one: -one[0][1])
        chosen = dict.fromkeys([0, *(place for _, (place, _) in by_loss)])
        before, number = len(self.looked), seed + BASE + PROBES
        for run, place in product(range(RUNS), list(chosen)[: 1 + PAIRS]):
            number += 1
            try:
                self.look(pairs[place], place, run % 2, number)
            except RAISED as error:  # on both sides alike
                raise_if_ending(error)
            if self.found:
                break
        return len(self.looked) - before, 0


def calls(recording: Recording) -> list[tuple[str, str]]:
    """What a run called: the place and the law of every call, in order."""
    return [(entry.request.name, str(call.law)) for entry, call in zip(recording.transcript.entries, recording.calls)]


def _changes(recorded: Recording, replayed: Recording) -> Iterator[tuple[Seen, tuple[Any, ...]]]:
    """Every release whose finite true value differs, and its law with both values for the sum over the run."""
    entries = zip(recorded.transcript.entries, replayed.transcript.entries, recorded.calls, strict=True)
    for entry, other_entry, call in entries:
        value, other = entry.value, other_entry.value
        if value is None or other is None or not _finite(value, other) or np.array_equal(value, other):
            continue
        law = call.law
        yield (
            Seen(
                entry.request.name,
                str(law),
                math.nan if call.bound is None else call.bound,
                law.observed_change(value, other, call.norm),
                float(np.sum(law.loss(value, other, entry.output if entry.index is None else entry.index))),
                float(np.sum(law.worst_loss(value, other))),
                law.divergence(value, other, 2.0),
            ),
            (law, value, other),
        )


def _finite(value: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.isfinite(value).all() and np.isfinite(other).all())


def _broken(recorded: Recording, replayed: Recording, witness: dict[str, Any]) -> Iterator[Violation]:
    """What is wrong with single releases."""
    for release, (law, _, _) in _changes(recorded, replayed):
        if release.observed > release.declared * (1 + SLACK) + SLACK:
            yield Violation(
                "sensitivity", release.name, release.declared, release.observed, release.worst, str(law), witness
            )
    for entry, other, call in zip(recorded.transcript.entries, replayed.transcript.entries, recorded.calls):
        assert entry.value is not None and other.value is not None
        name = entry.request.name
        if not _finite(entry.value, other.value) and not np.array_equal(entry.value, other.value, equal_nan=True):
            yield Violation("NaN", name, 0.0, math.inf, math.inf, str(call.law), witness)
        if isinstance(call.law, Unknown) and call.law.absent and not np.array_equal(entry.value, other.value):
            yield Violation("noise", name, call.epsilon, math.inf, math.inf, str(call.law), witness)
        cost = own_cost(call)
        if cost is not None and cost[1] > cost[0] * (1 + SLACK) + SLACK:
            yield Violation("noise", name, cost[0], cost[1], cost[1], str(call.law), witness)


def own_cost(call: NoiseCall) -> tuple[float, float] | None:
    """Declared cost and the cost of the declared sensitivity under the noise used: ε, or δ at the declared ε."""
    if call.epsilon is None or call.bound is None or isinstance(call.law, Unknown):
        return None
    if isinstance(call.law, Gaussian):
        sd = float(np.min(call.law.sd))
        return call.delta, gaussian_delta(call.bound / sd, call.epsilon)
    allowed = call.epsilon if call.delta == 0 else call.epsilon - math.log1p(-call.delta)
    return allowed, call.law.pure_cost(Sensitivity(call.bound, call.norm, "", Relation.ADD_REMOVE))


def _total(
    releases: list[tuple[Seen, tuple[Any, ...]]], epsilon: float, delta: float, relation: Relation
) -> tuple[float, float, Cost]:
    """Loss of the recorded outputs, sum of largest losses, and δ at ε of everything that changed, enclosed."""
    known = [(seen, what) for seen, what in releases if not isinstance(what[0], Unknown)]
    loss = abs(sum(seen.loss for seen, _ in known))
    worst = float(sum(seen.worst for seen, _ in known))
    if delta == 0 and math.isfinite(worst):
        return loss, worst, Cost(0.0, 0.0)
    items = [Item(law, a, b) for _, (law, a, b) in known if isinstance(law, LAWS)]
    others = sum(seen.worst for seen, (law, _, _) in known if not isinstance(law, LAWS))
    rest = epsilon - others  # selections that no accountant knows cost at most that much of ε
    lower = composed(items, relation, epsilon, delta).lower
    return loss, worst, Cost(lower, composed(items, relation, rest, delta).upper if rest >= 0 else 1.0)


def _over_budget(
    total: tuple[float, float, Cost],
    epsilon: float,
    delta: float,
    witness: dict[str, Any],
    relation: Relation,
    paths: Iterator[tuple[Run, Run]],
) -> list[Violation]:
    """The whole run against the claim, by what it loses at least.

    Pure: outputs whose loss exceeds it. With a δ: what the releases have in common along several runs. The sums along
    one recorded run are upper ends: an adaptive program asks other things after other outputs.
    """
    loss, worst, cost = total
    allowed = epsilon * (1 + SLACK) + SLACK
    if delta == 0 and (worst > allowed or cost.lower > 0):
        for recorded, replayed in paths:
            if loss > allowed:
                break
            loss = max(loss, attained(recorded.recording, replayed.recording))
        return [] if loss <= allowed else [Violation("budget", "whole run", epsilon, loss, loss, "epsilon", witness)]
    if delta == 0 or cost.lower <= delta * (1 + SLACK):
        return []
    lower = composed(least([items_of(a.recording, b.recording) for a, b in paths]), relation, epsilon, delta).lower
    if lower <= delta * (1 + SLACK):
        return []
    return [Violation("budget", "whole run", delta, lower, loss, f"delta at epsilon {epsilon:g}", witness)]


def _differing_results(
    result: dict[str, Leaf], other: dict[str, Leaf], rounding: float, witness: dict[str, Any]
) -> list[Violation]:
    """Places of the result that differ although every output was the same; the first twenty."""
    places = [p for p in dict.fromkeys([*result, *other]) if not _equal(result.get(p), other.get(p), rounding)]
    if rounding > 0:
        places = [place for place in places if not _is_left(place, result, other)]
    places = [place for place in places if place != KINDS] or places  # where numbers or names differ, they say it
    return [
        Violation(
            "result",
            path or RETURNED,
            0.0,
            math.inf,
            math.inf,
            "",
            {**witness, "first": _shown(result.get(path)), "second": _shown(other.get(path)), "places": len(places)},
        )
        for path in places[:20]
    ]


def _nearly_equal(result: dict[str, Leaf], other: dict[str, Leaf], rounding: float, room: float) -> Iterator[str]:
    """Places of the result that differ by too little for a violation, and by more than sums do in their last places.

    room: how far outputs differ themselves, relative to their size.
    """
    for place in dict.fromkeys([*result, *other]) if rounding > 0 else ():
        a, b = result.get(place), other.get(place)
        if _is_left(place, result, other):
            if not _equal(a, b, 0.0):
                yield place
        elif isinstance(a, float) and isinstance(b, float) and _equal(a, b, rounding) and not _equal(a, b, 0.0):
            size = max(abs(a), abs(b))
            if abs(a - b) > ULPS * max(float(np.spacing(size)), room * size):
                yield place or RETURNED


MOST_ROOM = 1e-11
"""Relative; of an output that nothing leads to, as of 0 behind a sum whose last place lies above it."""


def _missed(recorded: Recording, replayed: Recording) -> float:
    """How far an output of a replay is from the recorded one, where no noise that its caller adds leads to that.

    Relative to its size, `MOST_ROOM` at most.
    """
    missed = 0.0
    for entry, other, call in zip(recorded.transcript.entries, replayed.transcript.entries, recorded.calls):
        if call.apart:
            apart, size = np.abs(entry.output - other.output), np.abs(entry.output)
            there = (apart > 0) & np.isfinite(apart)
            missed = max([missed, *(apart[there] / np.maximum(size[there], np.finfo(float).tiny)).tolist()])
    return min(missed, MOST_ROOM)


def _is_left(place: str, result: dict[str, Leaf], other: dict[str, Leaf]) -> bool:
    """Whether it is what a finite float leaves over of a longer number, which is less than may differ."""
    of, left, _ = place.rpartition(".left")
    held = [one.get(of, one.get(f"{of}.float")) for one in (result, other)]
    return bool(left) and all(isinstance(one, float) and math.isfinite(one) for one in held)


def _equal(a: Leaf | None, b: Leaf | None, rounding: float) -> bool:
    if isinstance(a, float) and isinstance(b, float) and rounding > 0:
        return abs(a - b) <= rounding * max(1.0, abs(a), abs(b)) or (a != a and b != b) or a == b
    return a == b or (a != a and b != b)


def _shown(leaf: Leaf | None) -> Any:
    return finite_or_name(leaf) if isinstance(leaf, float) else leaf[:80] if isinstance(leaf, str) else leaf


def _samplers(recordings: list[Recording]) -> Iterator[Violation]:
    """Noise functions whose noise is smaller than their scale, exact tests over all recorded runs.

    Σ|z| of n standard Laplace draws is gamma distributed with shape n, Σz² of n normal draws chi-square.
    """
    groups: dict[str, list[np.ndarray]] = {}
    laws: dict[str, Any] = {}
    for recording in recordings:
        for entry, call in zip(recording.transcript.entries, recording.calls):
            if isinstance(call.law, (Laplace, Gaussian)) and entry.value is not None and np.isfinite(entry.value).all():
                scale = call.law.scale if isinstance(call.law, Laplace) else np.asarray(call.law.sd)
                name = f"{entry.request.name.split(' at ')[0]} ({type(call.law).__name__})"
                groups.setdefault(name, []).append(np.ravel((entry.output - entry.value) / scale))
                laws[name] = call.law
    for name, drawn in groups.items():
        z = np.concatenate(drawn)
        if isinstance(laws[name], Laplace):
            size, chance = float(np.abs(z).mean()), float(scipy.stats.gamma.cdf(np.abs(z).sum(), len(z)))
        else:
            size, chance = float(np.sqrt(np.mean(z**2))), float(scipy.stats.chi2.cdf((z**2).sum(), len(z)))
        if chance * len(groups) < SAMPLER_ALARM:
            witness = {"draws": len(z), "p-value": chance}
            yield Violation("sampler", name, 1.0, size, math.nan, "scales of noise", witness)
