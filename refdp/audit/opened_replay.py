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

import copy
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from refdp.accounting.gaussian import delta as gaussian_delta
from refdp.audit.attained import ROUNDS
from refdp.audit.charge import PATHS, Cost, Item, composed, least
from refdp.audit.noise_law import LAWS
from refdp.audit.opened_door import Led, Patch, Recording, opened
from refdp.audit.opened_evidence import Again, Run, attained, items_of, lossy, same_values, without_dice
from refdp.audit.opened_floating import Floating
from refdp.audit.opened_laws import NoiseCall, Unknown
from refdp.audit.opened_opaque import Opaques
from refdp.audit.opened_report import OpenedReport, Seen, largest, once
from refdp.audit.replay import SLACK, Violation, finite_or_name
from refdp.audit.runs import RAISED
from refdp.audit.structural_samples import Data
from refdp.audit.structural_state import Leaf, leaves
from refdp.checks import check_number
from refdp.errors import ImpossibleReplay, InvalidParameter
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.events import Relation, Sensitivity

SAMPLER_ALARM = 1e-9
"""Probability that one audit accuses a sampler that has the scale it says."""


class NothingOpened(InvalidParameter):
    """None of the opened noise functions was called, and nothing else was found: nothing was examined."""


Doors = tuple[str | Sequence[Patch], ...]


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
    that is meant to be public. rounding: how far numbers of results may differ, relative to 1 or their size, where
    noise is added apart from the noise function. last_bits: play noise functions by themselves, for the verdict about
    floating point.
    Errors: InvalidParameter if there is no pair, or a noise function is called in another thread; NothingOpened, one of
    them, if none is called and nothing else is found; an error of `train` itself if it raises on both sides of a pair.
    """
    check_number("epsilon", epsilon, least=0)
    check_number("delta", delta, least=0, below=1)
    found: list[Violation] = []
    seen: list[Seen] = []
    totals: list[tuple[float, float, Cost]] = []
    recordings: list[Recording] = []
    opaque, floating, dice = Opaques(epsilon, delta), Floating(), set[str]()
    for place, pair in enumerate(pairs):
        for way, (first, second) in enumerate((pair, pair[::-1])):
            train_as = _Trainer(train, doors, relation, seed + 2 * place + way, published)
            outcome = _both(train_as, first, second)
            witness = {"pair": place, "recorded on": ("first", "second")[way]}
            if isinstance(outcome, tuple) and not isinstance(outcome[1], Run):
                kept, words = without_dice([outcome[1]], outcome[0], train_as.with_other_dice(first, outcome[0]))
                found += kept
                dice |= words
                continue
            if isinstance(outcome, Violation):
                found.append(outcome)
                continue
            recorded, replayed = outcome
            assert isinstance(replayed, Run)
            recordings.append(recorded.recording)
            releases = list(_changes(recorded.recording, replayed.recording))
            seen += [release for release, _ in releases]
            broken = list(_broken(recorded.recording, replayed.recording, witness))
            broken += _differing_results(recorded.result, replayed.result, rounding, witness)
            opaque.add(recorded.recording, replayed.recording)
            floating.add(recorded.recording, replayed.recording)
            totals.append(_total(releases, epsilon, delta, relation))
            broken += _over_budget(totals[-1], epsilon, delta, witness, relation,
                                   _paths(train_as, first, second, recorded, replayed))  # fmt: skip
            kept, words = without_dice(broken, recorded, train_as.with_other_dice(first, recorded))
            found += kept
            dice |= words
    found += _samplers(recordings)
    found += opaque.sampled(seed)
    if not totals and not found and not dice:
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
        opaque.told(),
        relation,
        max((t[1] for t in totals), default=0.0),
        floating.played(seed) if last_bits else (),
        tuple(sorted(dice)),
    )


@dataclass(frozen=True)
class _Trainer:
    """What is run, with the public seed of one pair's runs."""

    train: Callable[[Data], Any]
    doors: Doors
    relation: Relation
    seed: int
    published: Callable[[Any], Any]

    def run(self, data: Data, replay: Recording | None = None, *, seed: int | None = None, coins: bool = True,
            led: Led = ()) -> Run | Exception:  # fmt: skip
        """A run, or the error that it ended with."""
        chosen = self.seed if seed is None else seed
        np.random.seed(chosen)  # noqa: NPY002
        random.seed(chosen)
        try:
            with opened(*self.doors, replay=replay, relation=self.relation, coins=coins, led=led) as curator:
                result = self.train(copy.deepcopy(data))
            return Run(curator.recording(), leaves(self.published(result)))
        except RAISED as error:
            return error

    def with_other_dice(self, data: Data, recorded: Run) -> Again:
        """Runs with the recorded outputs: dice are others after releases, and from the start."""
        return lambda: [self.run(data, recorded.recording, seed=seed, coins=False)
                        for seed in (self.seed, self.seed + OTHER)]  # fmt: skip


OTHER = 1_000_003
"""Added to a seed where other dice are wanted."""


def _both(train: _Trainer, first: Data, second: Data) -> tuple[Run, Run | Violation] | Violation:
    """A run on the first records and its replay on the second, or how the replay parted from it."""
    recorded = train.run(first)
    if not isinstance(recorded, Run):
        if isinstance(train.run(second), Exception):
            raise recorded
        return _raised(recorded)
    outcome = train.run(second, recorded.recording)
    if isinstance(outcome, ImpossibleReplay):
        witness = {"detail": outcome.detail[:300]}
        return recorded, Violation(outcome.kind, outcome.release, None, None, None, "", witness)
    return recorded, outcome if isinstance(outcome, Run) else _raised(outcome)


def _paths(train: _Trainer, first: Data, second: Data, recorded: Run, replayed: Run) -> Iterator[tuple[Run, Run]]:
    """Recorded runs with their replays: this one, led to outputs of great loss, both ways, then with other dice."""
    yield recorded, replayed
    for reverse in (False, True):
        one, other = recorded, replayed
        for _ in range(ROUNDS):
            led = lossy(one.recording, other.recording, reverse)
            again = train.run(first, led=led)
            twin = train.run(second, again.recording) if isinstance(again, Run) else again
            if not isinstance(again, Run) or not isinstance(twin, Run):
                break
            yield again, twin
            if same_values(one.recording, again.recording) and same_values(other.recording, twin.recording):
                break
            one, other = again, twin
    for number in range(1, PATHS):
        again = train.run(first, seed=train.seed + number * OTHER)
        twin = train.run(second, again.recording, seed=train.seed + number * OTHER) if isinstance(again, Run) else again
        if isinstance(again, Run) and isinstance(twin, Run):
            yield again, twin


def _raised(error: Exception) -> Violation:
    witness = {"detail": f"{type(error).__name__}: {error}"[:300]}
    return Violation("error", "on one side only", None, None, None, "", witness)


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
    return [
        Violation(
            "result",
            path or "returned value",
            0.0,
            math.inf,
            math.inf,
            "",
            {**witness, "first": _shown(result.get(path)), "second": _shown(other.get(path)), "places": len(places)},
        )
        for path in places[:20]
    ]


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
            size, chance = float(np.abs(z).mean()), float(stats.gamma.cdf(np.abs(z).sum(), len(z)))
        else:
            size, chance = float(np.sqrt(np.mean(z**2))), float(stats.chi2.cdf((z**2).sum(), len(z)))
        if chance * len(groups) < SAMPLER_ALARM:
            witness = {"draws": len(z), "p-value": chance}
            yield Violation("sampler", name, 1.0, size, math.nan, "scales of noise", witness)
