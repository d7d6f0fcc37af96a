"""What a foreign run drew beside its noise: public draws, and the secret samples of records.

What a law cannot give is no run of the text (`impossible`). The rest is held against its law by bets: a rule that says
the next draw from those before it, by the share of each outcome in a group of them, wins where the group does not
follow the law. Groups are, for one, all draws of one record, of one label, at one place of all runs. All rules are
betted on at once, so that what they win has mean 1 at most if the law is kept, whatever the records: it reaches a
number with the chance 1/number at most. Draws that a code makes of records are by none of the rules, and look right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from refdp.data.records import Records
from refdp.noise.draws import FloatArray
from refdp.privacy.curator import Array

Ints = NDArray[np.int64]
BINS = 16
"""Uniform numbers are betted on by their sixteenth."""
WIDEST = 64
"""Outcomes of whole numbers at most; of more of them, neighbours are one."""
MASSES = (1.0, 20.0, 400.0)
"""How many draws of the law a rule takes each group to have shown before the first."""
BITS = 24
"""Of uniform numbers: a program may draw them in float32."""
NEVER = 1e-15
ONE_ENTRY, ONE_PLACE = "one entry alone", "one place or record alone"
"""Rules by groups of which one may be wrong: draws of one place are independent."""


@dataclass(frozen=True)
class Drawn:
    """One public draw, or the secret block of every record slot. law: as `law_of`. values: of the request's shape.

    at: number of its entry in the run.
    """

    name: str
    kind: Literal["draw", "assign"]
    law: tuple[Any, ...]
    values: Array
    at: int = 0


@dataclass(frozen=True)
class Looked:
    """What was found of one law. chance: at most, that a right program shows as much. allowed: as in `Finding`.

    enough: whether a program would have been found that always draws the same.
    """

    chance: float
    allowed: float
    seen: str
    power: str
    enough: bool

    @property
    def wrong(self) -> bool:
        """Whether it is a violation."""
        return self.chance < self.allowed


# --- What a law gives -------------------------------------------------------------------------------------------------


def impossible(law: tuple[Any, ...], values: Array) -> str:
    """Why a law cannot give these values; "" if it can. Of any shape, finite, whole where the law's are."""
    match law:
        case ("uniform",):
            return "" if ((values >= 0) & (values < 1)).all() else "a number outside of [0, 1)"
        case ("integers", high):
            return "" if ((values >= 0) & (values < high)).all() else f"a number outside of 0 to {high - 1}"
    least = 0 if law[0] == "choice" else -1
    due = _sizes(law, values.size) if law[0] in ("shares", "without-replacement") else chances(law, values.size)
    if not ((values >= least) & (values < len(due) + least)).all():
        return f"a number outside of {least} to {len(due) + least - 1}"
    found = np.bincount((values - least).ravel(), minlength=len(due))
    if law[0] in ("shares", "without-replacement"):
        wrong = (found != due).any() if due.sum() == values.size else (found > due).any()
        return "blocks of other sizes than the law's" if wrong else ""
    return "an outcome of weight 0" if (found[due == 0] > 0).any() else ""


def chances(law: tuple[Any, ...], slots: int) -> FloatArray:
    """How likely each outcome is, of an assignment no block first. slots: those of an assignment. Shape (outcomes,)."""
    match law:
        case ("uniform",):
            return np.full(BINS, 1 / BINS)
        case ("integers", high):
            bins = min(high, WIDEST)
            edges = [-(-bin_ * high // bins) for bin_ in range(bins + 1)]  # those with value * bins // high == bin_
            return np.asarray(np.diff(np.array(edges, dtype=np.float64)) / high)
        case ("choice", weights):
            return np.array(weights, dtype=np.float64) / math.fsum(weights)
        case ("partition", weights):
            return np.array([float(max(1 - sum(map(Fraction, weights)), Fraction(0))), *weights])
        case ("poisson", rate):
            return np.array([1 - rate, rate])
    sizes = _sizes(law, slots)
    return np.asarray(sizes / max(sizes.sum(), 1))


def _sizes(law: tuple[Any, ...], slots: int) -> Ints:
    """How many slots of each outcome are dealt, no block first; more than there are where a law's are."""
    blocks = [math.floor(law[1] * slots)] if law[0] == "without-replacement" else [int(one) for one in law[1]]
    return np.array([max(slots - sum(blocks), 0), *blocks], dtype=np.int64)


def _outcomes(one: Drawn) -> Ints:
    """Numbers of the outcomes of `chances`. Shape (draws,)."""
    values = one.values.ravel()
    if one.law[0] == "uniform":
        return np.asarray(values * BINS, dtype=np.int64)
    whole = values.astype(np.int64)
    if one.law[0] == "integers":
        return np.asarray(whole * min(one.law[1], WIDEST) // one.law[1])
    return np.asarray(whole + 1 if one.kind == "assign" else whole)


def _dealt(one: Drawn) -> bool:
    """Whether slots depend on each other, as their numbers are fixed."""
    return one.law[0] in ("shares", "without-replacement")


def _log_chance(one: Drawn) -> float:
    """log of the chance of all outcomes of one entry."""
    outcomes, slots = _outcomes(one), one.values.size
    if not _dealt(one):
        return float(np.log(chances(one.law, slots)[outcomes]).sum())
    sizes = _sizes(one.law, slots)
    found, all_ = np.bincount(outcomes, minlength=len(sizes)), int(sizes.sum())
    ways = special.gammaln(sizes + 1) - special.gammaln(sizes - found + 1)
    return float(ways.sum() - special.gammaln(all_ + 1) + special.gammaln(all_ - slots + 1))


def _log_again(one: Drawn) -> float:
    """log of the chance, at most, that a second entry is the same."""
    if one.law[0] == "uniform":
        return -BITS * math.log(2) * one.values.size
    if one.law[0] == "integers":
        return -math.log(one.law[1]) * one.values.size
    if _dealt(one):
        return _log_chance(one)
    return one.values.size * math.log(float(np.square(chances(one.law, one.values.size)).sum()))


# --- Bets -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cells:
    """All draws of one law in order. outcome, run, entry, place: shape (draws,); place: of the draw in its entry.

    name: number of the entry's name, which is the same in every run. p: chance of each outcome. null: log of the chance
    of each entry.
    """

    outcome: Ints
    run: Ints
    entry: Ints
    place: Ints
    name: Ints
    p: FloatArray
    null: FloatArray


def cells_of(drawn: Sequence[tuple[int, Drawn]]) -> Cells:
    """Draws of one law, with the numbers of their runs."""
    sizes = [one.values.size for _, one in drawn]
    names = {name: number for number, name in enumerate(dict.fromkeys(one.name for _, one in drawn))}

    def spread(numbers: Sequence[int]) -> Ints:
        return np.repeat(np.array(numbers, dtype=np.int64), sizes)

    return Cells(
        np.concatenate([_outcomes(one) for _, one in drawn]),
        spread([run for run, _ in drawn]),
        spread(range(len(drawn))),
        np.concatenate([np.arange(size) for size in sizes]),
        spread([names[one.name] for _, one in drawn]),
        chances(drawn[0][1].law, sizes[0]),
        np.array([_log_chance(one) for _, one in drawn]),
    )  # fmt: skip


def _staked(p: FloatArray, outcome: Ints, group: Ints, times: Ints | None = None) -> FloatArray:
    """log of what a rule stakes on the outcomes of each group. times: how often they came. Shape (mass, group)."""
    seen, counts = _counted(group * len(p) + outcome, times)
    sizes = np.bincount(group, weights=times)
    found = []
    for mass in MASSES:
        prior = mass * p[seen % len(p)]
        parts = special.gammaln(prior + counts) - special.gammaln(prior)
        whole = special.gammaln(mass) - special.gammaln(mass + sizes)
        found.append(np.bincount(seen // len(p), weights=parts, minlength=len(sizes)) + whole)
    return np.array(found)


def _counted(keys: Ints, times: Ints | None = None) -> tuple[Ints, Ints]:
    """The keys that there are, and how often."""
    if times is None and int(keys.max()) > max(4 * len(keys), 10**6):
        seen, counts = np.unique(keys, return_counts=True)
        return seen, counts
    found = np.bincount(keys, weights=times)
    seen = np.flatnonzero(found)
    return seen, found[seen]


def _mean(logs: Sequence[float] | FloatArray, axis: int | None = None) -> Any:
    return special.logsumexp(logs, axis=axis) - math.log(np.shape(logs)[axis or 0])


def wins(cells: Cells, rules: Rules) -> dict[str, float]:
    """log of what each rule wins, by its name."""
    p, whole = cells.p, cells.null.sum()
    found = {name: float(_mean(_staked(p, cells.outcome, own).sum(axis=1) - whole)) for name, own in rules.groups}
    keys, times = _counted(cells.place * len(p) + cells.outcome)
    place, outcome = keys // len(p), keys % len(p)
    for name, own in rules.places:
        found[name] = float(_mean(_staked(p, outcome, own[place], times).sum(axis=1) - whole))
    null = np.bincount(place, weights=times * np.log(p[outcome]))
    found[ONE_PLACE] = float(_mean(_mean(_staked(p, outcome, place, times) - null, axis=1)))
    found[ONE_ENTRY] = float(_mean(_mean(_staked(p, cells.outcome, cells.entry) - cells.null, axis=1)))
    return found


def _follows(cells: Cells, other: Ints) -> Ints:
    """Groups by the outcome of the draw at this position of all, -1: none."""
    return np.where(other >= 0, cells.outcome[other], len(cells.p))


def _earlier(keys: Ints) -> Ints:
    """Position of the last draw before that has the same key; -1: none. Shape (draws,)."""
    order = np.argsort(keys, kind="stable")
    found = np.full(len(keys), -1)
    same = keys[order][1:] == keys[order][:-1]
    found[order[1:][same]] = order[:-1][same]
    return found


def _kinds(column: FloatArray) -> Ints:
    """A column in at most eight kinds: its values, or its quarters; 0 for missing ones. Shape (records,)."""
    missing = np.isnan(column)
    known = column[~missing]
    if len(distinct := np.unique(known)) > 8:
        distinct = np.unique(np.quantile(known, (0.25, 0.5, 0.75)))
    return np.where(missing, 0, 1 + np.searchsorted(distinct, np.where(missing, 0.0, column), side="right"))


@dataclass(frozen=True)
class Rules:
    """Numbers of the groups that are betted on. groups: of each draw, by what earlier draws, entries and records
    are, not itself. places: of each place in an entry.
    """

    groups: list[tuple[str, Ints]]
    places: list[tuple[str, Ints]]


def rules_of(cells: Cells, records: Records | None, secret: bool) -> Rules:
    """All rules; records: None without those by labels and features."""
    width = int(cells.place.max()) + 1
    at, places = np.arange(len(cells.place)), np.arange(width)
    found = Rules(
        [
            ("all together", np.zeros_like(cells.run)),
            ("each entry", cells.entry),
            ("the one before", _follows(cells, np.where(cells.place > 0, at - 1, -1))),
            ("the entry before", _follows(cells, _earlier(cells.place))),
        ],
        [("each record" if secret else "each place", places)],
    )
    if cells.run[0] != cells.run[-1]:
        found.groups.append(("each run", cells.run))
        found.groups.append(("each entry of all runs", cells.name))
        found.groups.append(("each place of all runs", cells.name * width + cells.place))
    if secret:
        found.groups.extend(_turns(cells))
    if records is None or (secret and width != len(records.y)):
        return found
    labels, within = _kinds(np.asarray(records.y, dtype=np.float64)), places % len(records.y)
    found.groups.append(("labels in each entry", cells.entry * 10 + labels[within][cells.place]))
    found.places.append(("labels", labels[within]))
    for number, column in enumerate(np.asarray(records.x, dtype=np.float64).T, 1):
        found.places.append((f"feature {number}", _kinds(column)[within]))
    if not secret:
        found.groups.append(("labels through the run", labels[_positions(cells) % len(labels)]))
        found.places.append(("labels, each for two", labels[places // 2 % len(labels)]))
    return found


def _turns(cells: Cells) -> list[tuple[str, Ints]]:
    """Groups by when and how often a record had the rarest outcome before, in this run: as where all have their turn.

    An epoch is as many entries as that outcome needs to come once on average.
    """
    p = cells.p
    rarest = int(np.argmin(np.where(p > 0, p, 2.0)))
    epoch, entries = max(round(1 / p[rarest]), 1), int(cells.entry[-1]) + 1
    rare = (cells.outcome == rarest).reshape(entries, -1)
    runs = cells.run.reshape(entries, -1)[:, 0]
    since, recent, within = (np.zeros(rare.shape, dtype=np.int64) for _ in range(3))
    for run in np.unique(runs):
        own = np.flatnonzero(runs == run)
        drawn, number = rare[own], np.arange(len(own))[:, None]
        before = np.concatenate([np.zeros((1, rare.shape[1]), dtype=np.int64), np.cumsum(drawn, axis=0)])[:-1]
        at = np.where(drawn, number, -1)
        last = np.concatenate([np.full((1, rare.shape[1]), -1), np.maximum.accumulate(at, axis=0)[:-1]])
        since[own] = np.where(last < 0, 63, np.minimum(number - last, 62))
        recent[own] = np.minimum(before - before[np.maximum(number[:, 0] - epoch + 1, 0)], 3)
        place = number % epoch
        within[own] = np.minimum(before - before[(number - place)[:, 0]], 3) + 4 * (place * 8 // epoch)
    return [
        ("how long ago the last was", since.ravel()),
        ("how many there were of late", recent.ravel()),
        ("how many there were in this epoch", within.ravel()),
    ]


def _positions(cells: Cells) -> Ints:
    """Number of each draw in its run. Shape (draws,)."""
    starts = np.flatnonzero(np.diff(cells.run, prepend=cells.run[0] - 1))
    return np.arange(len(cells.run)) - np.repeat(starts, np.diff([*starts, len(cells.run)]))


def _too_exact(drawn: Sequence[tuple[int, Drawn]]) -> float:
    """log of what is won by betting that samples have the size that is expected, to the whole number."""
    slots = drawn[0][1].values.size
    p = chances(drawn[0][1].law, slots)
    sizes = np.array([np.bincount(_outcomes(one), minlength=len(p)) for _, one in drawn])
    low, high = np.floor(slots * p), np.ceil(slots * p)
    usual = np.clip(
        stats.binom.pmf(low, slots, p) + np.where(high > low, stats.binom.pmf(high, slots, p), 0), 1e-300, 1
    )
    hit = (sizes == low) | (sizes == high)
    return float(_mean(np.log(0.5 + 0.5 * hit / usual).sum(axis=0)))


def _stratified(drawn: Sequence[tuple[int, Drawn]], records: Records) -> float:
    """log of what is won by betting that each sample has the share of a label or feature that all records have.

    To the whole number; given the sample's size, the chance is hypergeometric, whatever the law.
    """
    x, y = np.asarray(records.x, dtype=np.float64), np.asarray(records.y, dtype=np.float64)
    outcomes = np.array([_outcomes(one) for _, one in drawn])
    won = []
    for column in (y, *x.T):
        kinds = _kinds(column)
        own = [kinds == kind for kind in np.unique(kinds)]
        for outcome in range(1, int(outcomes.max()) + 1):
            taken = outcomes == outcome
            size = taken.sum(axis=1)
            for members in own if len(own) > 1 else []:
                found, many = taken[:, members].sum(axis=1), int(members.sum())
                low, high = size * many // len(y), -(-size * many // len(y))
                law = stats.hypergeom(len(y), many, size)
                usual = np.clip(law.pmf(low) + np.where(high > low, law.pmf(high), 0), 1e-300, 1)
                won.append(float(np.log(0.5 + 0.5 * ((found == low) | (found == high)) / usual).sum()))
    return float(_mean(won)) if won else 0.0


# --- Findings ---------------------------------------------------------------------------------------------------------


def looked_at(runs: Sequence[Sequence[Drawn]], records: Records, kind: str, error: float) -> list[Looked]:
    """What is found of the draws of a kind, law by law; laws of one outcome are left out. error: of all together."""
    laws: dict[Any, list[tuple[int, Drawn]]] = {}
    for run, drawn in enumerate(runs):
        for one in drawn:
            slots = one.values.size
            if one.kind == kind and slots and (chances(one.law, slots) > 0).sum() > 1:
                laws.setdefault((_key(one.law), slots if kind == "assign" else 0), []).append((run, one))
    return [_looked(drawn, records, error / len(laws)) for drawn in laws.values()]


def _key(law: Any) -> Any:
    return tuple(_key(part) for part in law) if isinstance(law, list | tuple) else law


def _looked(drawn: Sequence[tuple[int, Drawn]], records: Records, error: float) -> Looked:
    first, won = drawn[0][1], _won(drawn, records)
    found = [_bets(won, error / 2), *_exact(drawn, error / 4)]
    always = [(run, _same(one, first)) for run, one in drawn]
    least = {"": max(_won(always, None).values()) - math.log(len(won))}
    enough = any(chance < allowed for chance, allowed, _ in (_bets(least, error / 2), *_exact(always, error / 4)))
    chance, allowed, seen = min(found, key=lambda one: one[0] / one[1])
    return Looked(chance, allowed, f"{_told(drawn)}, {seen}", _power(drawn, error), enough)


def _same(one: Drawn, first: Drawn) -> Drawn:
    """What a program draws that always takes the first one, or the first records."""
    values = first.values if one.kind == "assign" else np.full(one.values.shape, first.values.flat[0])
    return Drawn(one.name, one.kind, one.law, values)


def _told(drawn: Sequence[tuple[int, Drawn]]) -> str:
    kind, law = drawn[0][1].kind, drawn[0][1].law
    count = len(drawn) if kind == "assign" else sum(one.values.size for _, one in drawn)
    return f"{law[0]}: {count} {'samples' if kind == 'assign' else 'draws'}"


def _power(drawn: Sequence[tuple[int, Drawn]], error: float) -> str:
    """The bets' part is that of all draws together, by the law of the iterated logarithm's first term."""
    first, count = drawn[0][1], sum(one.values.size for _, one in drawn)
    if _dealt(first):
        return "the same every time"
    if first.law[0] == "uniform":
        distance = math.sqrt(math.log(8 / error) / (2 * count))
        return f"the same every time, or a distance of {distance:.2g} between distribution functions"
    p = chances(first.law, first.values.size)[first.kind == "assign" :]
    off = (math.sqrt(2 * math.log(100 / error)) + 1.3) * math.sqrt((1 - p.max()) / (p.max() * count))
    return f"the same every time, or a share of {p.max():.2g} that is {100 * off:.2g}% off throughout"


# --- Tests: chance, what is allowed, what was seen --------------------------------------------------------------------

Test = tuple[float, float, str]


def _won(drawn: Sequence[tuple[int, Drawn]], records: Records | None) -> dict[str, float]:
    cells, first = cells_of(drawn), drawn[0][1]
    secret = first.kind == "assign"
    won = wins(cells, rules_of(cells, records, secret))
    if secret and not _dealt(first):
        won |= {"sizes that are too exact": _too_exact(drawn)}
    if secret and records is not None and first.values.size == len(records.y):
        won |= {"shares of labels or features that are too exact": _stratified(drawn, records)}
    return won


def _bets(won: dict[str, float], allowed: float) -> Test:
    best, total, needed = max(won, key=lambda name: won[name]), float(_mean(list(won.values()))), -math.log(allowed)
    seen = (
        f"e^{won[best]:.3g} times as likely by {best} as by the law; by all rules e^{total:.3g}, e^{needed:.3g} needed"
    )
    return math.exp(-min(max(total, 0.0), 600.0)), allowed, seen


def _exact(drawn: Sequence[tuple[int, Drawn]], allowed: float) -> list[Test]:
    """Uniform numbers by their distribution function and their last bits; entries by whether they come again."""
    found = list[Test]()
    if drawn[0][1].law[0] == "uniform":
        values = np.concatenate([one.values.ravel() for _, one in drawn])
        law, limit = float(stats.kstest(values, "uniform").pvalue), f"tested at {allowed:.2g}"
        again, expected = len(values) - len(np.unique(values)), math.comb(len(values), 2) * 2.0**-BITS
        often = float(stats.poisson.sf(again - 1, expected)) if again else 1.0
        found = [
            (law, allowed, f"as far from uniform with probability {law:.3g}, {limit}"),
            (often, allowed, f"{again} numbers come again, with probability {often:.3g}, {limit}"),
        ]
    return [*found, *_again(drawn)]


def _again(drawn: Sequence[tuple[int, Drawn]]) -> list[Test]:
    """The first entry that is the same as an earlier one, where chance does not bring that about."""
    seen: dict[tuple[Any, ...], str] = {}
    pairs = math.log(max(math.comb(len(drawn), 2), 1))
    for run, one in drawn:
        key, name = (one.values.shape, one.values.tobytes()), f"run {run + 1}, {one.name}"
        if (earlier := seen.setdefault(key, name)) != name and pairs + _log_again(one) < math.log(NEVER):
            return [(math.exp(max(pairs + _log_again(one), -600.0)), NEVER, f"{name}: that of {earlier} again")]
    return []
