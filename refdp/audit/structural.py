"""Structural checks of a function that refdp did not write: what no private function does, and statistics miss.

    findings = inspect(function, (data, neighbour), seed=1, epsilon=1.0)

`function(data, generator)` is run on both data sets with independent randomness. Every check names an event that was
seen in many runs on one side and in none on the other; under ε-DP each of its m occurrences falls on that side with
probability at most e^ε/(1+e^ε), so that m of m has probability at most (e^ε/(1+e^ε))^m (a claimed δ adds the number of
runs in which it may fail). `alarm` bounds the probability that a function that is (ε, δ)-DP is accused, over all events
together. Findings that are no violations by themselves say so, and no bound is about them. Nothing is estimated.
Where ε asks for more runs than are made, what is exact in all of them can be told with the chance that it is private.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from refdp.audit.structural_order import positional
from refdp.audit.structural_order import ranges as data_ranges
from refdp.audit.structural_samples import (
    Data,
    Function,
    Samples,
    StructuralFinding,
    by_chance,
    needed,
    one_nan,
    sampled,
    statistics,
    unbounded,
)
from refdp.data.records import Floats
from refdp.errors import InvalidParameter

CALLS, MOST_CALLS = 300, 5_000
"""Runs a side; more where epsilon asks for it, up to `MOST_CALLS`, and no more beyond."""
EXACTLY = "the same in every run, another on the neighbour"
EXACT = 1e-9
"""Relative rounding within which a derived number, a sum or a difference, counts as the same."""

__all__ = ["StructuralFinding", "inspect", "inspect_samples"]


def calls_for(epsilon: float, alarm: float) -> tuple[int, bool]:
    """Runs a side for the checks, and whether epsilon asks for more than are made to show a violation."""
    wanted = max(CALLS, needed(epsilon, alarm * 1e-6))
    return (CALLS, True) if wanted > MOST_CALLS else (wanted, False)


def inspect(
    function: Function,
    pair: tuple[Data, Data],
    seed: int,
    *,
    epsilon: float = 1.0,
    delta: float = 0.0,
    calls: int = 500,
    alarm: float = 1e-9,
    order: bool = True,
    few: bool = False,
) -> list[StructuralFinding]:
    """All structural checks of `function` on a pair of neighbouring data sets.

    epsilon, delta: the claim. calls: runs on each side. order: also replace a record by an outlier and reorder them,
    which takes further runs, for the case that records may hold any number and come in any order. few: see
    `inspect_samples`.
    Errors: InvalidParameter if so few calls cannot show anything at that epsilon.
    """
    first, second = pair
    seeds = [int(number) for number in np.random.SeedSequence(seed).generate_state(2 * calls, np.uint64)]
    samples = Samples(*sampled(function, [(first, seeds[:calls]), (second, seeds[calls:])]))
    found = inspect_samples(samples, pair, epsilon=epsilon, delta=delta, alarm=alarm, few=few)
    if order:
        found += data_ranges(function, first, seeds, epsilon=epsilon, delta=delta, alarm=alarm)
        found += positional(function, first, seeds, alarm)
    return _merged(found)


def inspect_samples(
    samples: Samples, pair: tuple[Data, Data], *, epsilon: float = 1.0, delta: float = 0.0, alarm: float = 1e-9,
    few: bool = False,
) -> list[StructuralFinding]:  # fmt: skip
    """The checks that need no further runs, of runs at hand: of a program that refdp cannot call, say.

    few: where the runs are too few to show anything, tell what is exact in all of them all the same, as no violation
    by itself. Errors: InvalidParameter for too few runs to show anything otherwise.
    """
    first, second = pair
    calls = min(len(samples.first), len(samples.second))
    share = alarm / (64 * (len(samples.paths) + 1) ** 2 * max(1.0, calls / 1000))  # values of a path: below calls
    least = needed(epsilon, share / 2) + unbounded(delta, calls, share / 2)
    short = 2 * calls < least
    if short and not few:
        raise InvalidParameter(f"calls = {calls}: at epsilon {epsilon:g} at least {(least + 1) // 2} show something")
    chance = by_chance(epsilon, delta, calls)

    def exact(found: Iterator[StructuralFinding]) -> list[StructuralFinding]:
        return [_unsure(one, chance, epsilon) if short or chance > 2 * share else one for one in found]

    found = exact(_constants(samples, first, second))
    if [finding.kind for finding in found] != ["identical outputs"]:
        with np.errstate(over="ignore", invalid="ignore"):  # of infinite outputs
            found += exact(_sums(samples)) + exact(_reused(samples))
            found += [*_one_sided(samples, least), *_precision(samples, least)]
        if not any(finding.kind != "support" or finding.evidence.get("value") is None for finding in found):
            found += _repeated(samples, least)  # what is exact repeats, and is no repeated draw
    return _merged(found)


def constant(first: Floats, second: Floats, *, epsilon: float, delta: float, alarm: float) -> StructuralFinding | None:
    """A number that is the same in all runs of one side, and another one in all of the other, of as many as there are.

    A violation where an (ε, δ)-DP function has one with chance `alarm` at most; the chance is said in either case.

    Shape (runs, columns) each.
    """
    here, there = first[0], second[0]
    fixed = _same(first, here).all(axis=0) & _same(second, there).all(axis=0) & ~_same(here, there)
    if not fixed.any():
        return None
    place, chance = int(np.argmax(fixed)), min(1.0, len(here) * by_chance(epsilon, delta, len(first)))
    evidence = {"first": float(here[place]), "second": float(there[place]), "runs a side": len(first)}
    found = StructuralFinding("exact statistic", f"number {place} of what is compared", evidence, EXACTLY)
    if chance > alarm:
        return _unsure(found, chance, epsilon)
    told = f"{EXACTLY}; a private function of epsilon {epsilon:g} does so with chance {chance:.1e} at most"
    return replace(found, meaning=told)


def _same(one: Floats, other: Floats) -> Any:
    """Where numbers are the same; not-a-number is one value."""
    return (one == other) | (np.isnan(one) & np.isnan(other))


def _unsure(found: StructuralFinding, chance: float, epsilon: float) -> StructuralFinding:
    """The same as no violation by itself, with the chance that its runs give it to what keeps the claim."""
    told = f"in so few runs a private function of epsilon {epsilon:g} does so with chance up to {chance:.2g}"
    return replace(found, meaning=f"{found.meaning}; {told}, so no violation by itself", violation=False)


def _merged(found: list[StructuralFinding]) -> list[StructuralFinding]:
    """The first finding of each kind and place."""
    kept: dict[tuple[str, str], StructuralFinding] = {}
    for finding in found:
        kept.setdefault((finding.kind, finding.where), finding)
    return list(kept.values())


def _constants(samples: Samples, first: Data, second: Data) -> Iterator[StructuralFinding]:
    """Places that hold one value in every run on one side and another one in every run on the other."""
    sides = {path: samples.side(path) for path in samples.paths}
    fixed = {path: (next(iter(a)), next(iter(b))) for path, (a, b) in sides.items() if len(a) == len(b) == 1}
    moved = {path: values for path, values in fixed.items() if values[0] is not values[1] and values[0] != values[1]}
    runs = {"runs a side": len(samples.first)}
    if moved and len(fixed) == len(sides):
        path, values = next(iter(moved.items()))
        evidence = {"first": values[0], "second": values[1], **runs}
        yield StructuralFinding("identical outputs", path, evidence, "every call gives the same output: no fresh noise")
        return
    for path, (here, there) in moved.items():
        evidence = {"first": here, "second": there, **runs}
        if isinstance(here, (int, float)) and isinstance(there, (int, float)):
            evidence |= {"change": there - here} | _named(float(here), float(there), first, second)
            yield StructuralFinding("exact statistic", path, evidence, EXACTLY)
        else:
            yield StructuralFinding("support", path, evidence, "possible on one side only")


def _named(here: float, there: float, first: Data, second: Data) -> dict[str, Any]:
    """Which exact statistic of the records a pair of values is, on both sides."""
    of_second = statistics(second)
    for name, value in statistics(first).items():
        other = of_second.get(name, np.nan)
        if math.isclose(value, here, rel_tol=EXACT) and math.isclose(other, there, rel_tol=EXACT):
            return {"equals": name}
    return {}


def _repeated(samples: Samples, least: int) -> Iterator[StructuralFinding]:
    """Whole outputs that come again and again on one side, and never on the other: draws that repeat between runs.

    The outputs are those of the first half of the runs; how often they come again is counted on the other half.
    """
    first, second = (
        [frozenset((path, one_nan(leaf)) for path, leaf in run.items()) for run in side]
        for side in (samples.first, samples.second)
    )
    for own, other, name in ((first, second, "first"), (second, first, "second")):
        known = set(own[: len(own) // 2])
        times = sum(output in known for output in own[len(own) // 2 :])
        if times >= least and known.isdisjoint(other):
            evidence = {"seen on": name, "runs": len(own), "different outputs": len(set(own)), "came again": times}
            meaning = "the same whole outputs again and again, and never on the neighbour"
            yield StructuralFinding("identical outputs", "whole output", evidence, meaning)


def _sums(samples: Samples) -> Iterator[StructuralFinding]:
    """Arrays whose members vary with the noise but whose sum is exact."""
    groups: dict[str, list[int]] = {}
    for place, path in enumerate(samples.everywhere):
        groups.setdefault(path.rpartition("[")[0], []).append(place)
    first, second = samples.tables
    for prefix, places in groups.items():
        sums = first[:, places].sum(axis=1), second[:, places].sum(axis=1)
        if (
            len(places) > 1
            and np.ptp(first[:, places], axis=0).any()
            and _parted(*sums, np.abs(first[:, places]).max())
        ):
            evidence = {"first": float(sums[0][0]), "second": float(sums[1][0]), "runs a side": len(first)}
            yield StructuralFinding("exact statistic", f"sum of {prefix}[...]", evidence, "a sum without noise")


def _parted(first: Floats, second: Floats, size: float) -> bool:
    """One value in every run on each side, up to rounding, and not the same one."""
    room = EXACT * size
    return bool(np.ptp(first) <= room and np.ptp(second) <= room and abs(first[0] - second[0]) > 8 * room)


def _reused(samples: Samples) -> Iterator[StructuralFinding]:
    """Pairs of places whose noise is one draw: some combination o_i - r o_j is without noise on both sides, and moved.

    r is read off two runs; deviations from the first run that are proportional have the same direction.
    """
    first, second = samples.tables
    spread = first - first[0]
    moving = np.flatnonzero(np.any(spread != 0, axis=0) & np.all(np.isfinite(spread), axis=0))
    groups: dict[tuple[float, ...], list[int]] = {}
    for place in moving.tolist():
        column = spread[:, place] / spread[np.argmax(np.abs(spread[:, place])), place]
        groups.setdefault(tuple(np.round(column, 6).tolist()), []).append(place)  # -0.0 is 0.0, not as bytes
    for base, *others in groups.values():
        for place in others:
            row = int(np.argmax(np.abs(spread[:, base])))
            ratio = spread[row, place] / spread[row, base]
            mixes = [table[:, place] - ratio * table[:, base] for table in (first, second)]
            if _parted(mixes[0], mixes[1], np.abs(first[:, [base, place]]).max() * max(1.0, abs(ratio))):
                evidence = {
                    "places": [samples.everywhere[base], samples.everywhere[place]],
                    "ratio": float(ratio),
                    "difference without noise": [float(mix[0]) for mix in mixes],
                }
                yield StructuralFinding(
                    "reused noise", samples.everywhere[place], evidence, "two releases share one draw, which cancels"
                )
                break


def _one_sided(samples: Samples, least: int) -> Iterator[StructuralFinding]:
    """Values, places or errors that were seen often enough on one side, and never on the other."""
    for path in samples.paths:
        sides = samples.side(path)
        for own, other, name in ((*sides, "first"), (*sides[::-1], "second")):
            if len(own) + len(other) == 2:
                continue  # constant on both sides
            alone = [value for value, count in own.items() if count >= least and value not in other]
            if alone:
                evidence = {"value": alone[0], "seen on": name, "times": own[alone[0]], "times on the other side": 0}
                yield StructuralFinding("support", path, evidence, "possible on one side only")


def _precision(samples: Samples, least: int) -> Iterator[StructuralFinding]:
    """Noisy numbers whose last bits tell the true value: outputs finer than any that the neighbour can give.

    A float64 sum has no bits below the last bit of its greater part, so a noisy 0 can be finer than a noisy 1
    (Mironov 2012; Haney, Desfontaines, Hartman, Shrestha, Hay 2022).
    """
    for place, path in enumerate(samples.everywhere):
        if min(len(np.unique(table[:, place])) for table in samples.tables) < least / 2:
            continue  # not noisy, or on a coarse grid
        grains = [lowest_bit(table[:, place]) for table in samples.tables]
        for own, other, name in ((grains[0], grains[1], "first"), (grains[1], grains[0], "second")):
            finer = int(np.count_nonzero(own < other.min()))
            if finer >= least:
                evidence = {"seen on": name, "outputs finer": finer, "runs": len(own), "grid 2^": int(other.min())}
                yield StructuralFinding(
                    "precision", path, evidence, "outputs off a grid on which all of the neighbour's outputs lie"
                )


def lowest_bit(numbers: Floats) -> np.ndarray:
    """Exponent of the lowest set bit of each number; 1100, coarser than all, for 0 and what is not finite.

    Of the shape of numbers.
    """
    finite = np.isfinite(numbers) & (numbers != 0)
    mantissa, exponent = np.frexp(np.where(finite, numbers, 1.0))
    whole = (mantissa * 2.0**53).astype(np.int64)
    low = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return np.where(finite, exponent - 53 + low, 1100)
