"""The noise that a foreign run's outputs imply, pooled over runs and tested against its law.

Each output is brought to one uniform number, by its distribution function at the recomputed true value; of whole
numbers and choices to a point inside their step, drawn from a fixed stream. If the run is what it says, they are
independent and uniform, whatever the records. Choices are looked at beside it: their steps hide much.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special, stats

from refdp.conform import chosen
from refdp.conform.beside import with_values
from refdp.conform.cancelling import cancelling
from refdp.conform.copied import copied
from refdp.conform.follow import Released, on_grid
from refdp.conform.single import singles
from refdp.errors import InvalidParameter
from refdp.noise.draws import FloatArray, sds_along, to_grid
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace

EDGE = 1e-15
REPEATED = "two releases of equal noise, in any order and with any signs"
NEVER = 1e-15
"""So unlikely that a further test at this chance adds nothing to the error rate."""
REST = 23
"""At most so many tests share the half of the error rate that the scales leave: five each of two kinds of noise and of
choices, presence, two of freshness, sums, single values, true values, public draws, and the one of `evidence`."""
COARSEST = 0.5
"""By how much a scale has to be too small to be found, at most, where noise is said to be examined; of choices, by how
much their distribution function has to be off."""
SPREAD = 30.0
"""Of the correlations that are betted on: a deviation of the root of this over the number of draws."""


@dataclass(frozen=True)
class Finding:
    """chance: at most, that a right program shows as much. seen: what was found. power: the smallest error.

    allowed: the chance below which it is a violation; those of all findings add up to the error rate at most.
    needed: where draws are too few to be examined, how many times as many would do; 0 where they are enough.
    """

    what: str
    chance: float
    seen: str
    power: str
    allowed: float = 0.0
    needed: float = 0.0


def uniforms(one: Released, chance: np.random.Generator) -> FloatArray:
    """One number for each draw of a release.

    Of the output's shape. Errors: InvalidParameter for noise of another law.
    """
    match one.mechanism:
        case Laplace(scale):
            return np.asarray(stats.laplace.cdf((one.output - one.value) / scale)).ravel()
        case Gaussian(sd):
            return np.asarray(special.ndtr((one.output - one.value) / sds_along(sd, one.value.shape))).ravel()
        case DiscreteLaplace(scale, step):
            rate = np.full(one.value.shape, step / scale)
            return _discrete_laplace(_steps(one, step), rate, chance).ravel()
        case DiscreteGaussian(sd, step):
            steps, width = _steps(one, step), np.broadcast_to(sds_along(sd, one.value.shape) / step, one.value.shape)
            return _wide_gaussian(steps, width, chance).ravel()
        case Exponential():
            return _choices(one, chance)
    raise InvalidParameter(f"{one.name}: the law of {type(one.mechanism).__name__} is not known here")


def _steps(one: Released, step: float) -> FloatArray:
    return np.asarray(np.rint(one.output / step) - to_grid("value", one.value, step), dtype=np.float64)


def _discrete_laplace(z: FloatArray, rate: FloatArray, chance: np.random.Generator) -> FloatArray:
    """P(Z <= -k) = e^(-rate k) / (1 + e^-rate) for k >= 0."""
    tail = np.exp(-rate * np.abs(z)) / (1 + np.exp(-rate))  # P(Z <= -|z|)
    mass = np.tanh(rate / 2) * np.exp(-rate * np.abs(z))
    inside = chance.random(z.shape)
    lower = tail - mass * (1 - inside)
    return np.asarray(np.where(z > 0, 1 - lower, lower))


def _wide_gaussian(z: FloatArray, width: FloatArray, chance: np.random.Generator) -> FloatArray:
    """A discrete Gaussian of 100 steps and more, smoothed by a uniform step: within 1e-5 of a continuous one."""
    smooth = z + chance.random(z.shape) - 0.5
    return np.asarray(special.ndtr(smooth / np.sqrt(width**2 + 1 / 12)))


def _choices(one: Released, chance: np.random.Generator, falling: bool = True) -> FloatArray:
    """Options by falling score, equal ones in their own order: a program that is too greedy has small numbers."""
    p = chosen.chances_of(one)
    own = p[np.arange(len(p)), one.output]
    before = np.arange(p.shape[1]) < one.output[:, None]
    if falling:
        before = (p > own[:, None]) | (before & (p == own[:, None]))
    return np.asarray(np.where(before, p, 0.0).sum(axis=1) + own * chance.random(len(p)))


class _At:
    """Stands for a generator: always the same number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self, shape: Any) -> FloatArray:
        return np.full(shape, self.number)


def ends(one: Released) -> tuple[FloatArray, FloatArray]:
    """Of the uniform numbers that give each draw of a release, choices by their options' order. Shape (draws,)."""
    first, last = (_choices(one, at, False) if _family(one) == "choice" else uniforms(one, at) for at in _ENDS)
    return np.minimum(first, last), np.maximum(first, last)


_ENDS: Any = (_At(0.0), _At(1.0))


def noise_tests(releases: Sequence[Released], error: float) -> list[Finding]:
    """Law, scale, correlation, freshness, sums and presence of the noise, each family of mechanisms pooled."""
    chance = np.random.default_rng(0)
    rest = error / 2 / REST
    families: dict[str, list[FloatArray]] = {"Laplace": [], "Gaussian": [], "choice": []}
    names: dict[str, list[str]] = {name: [] for name in families}
    noisy: list[tuple[Released, FloatArray]] = []
    for one in releases:
        family, u = _family(one), uniforms(one, chance)
        families[family].append(u)
        names[family].append(one.name)
        if family != "choice" and u.size:
            noisy.append((one, np.clip(u, EDGE, 1 - EDGE)))
    scaled = error / 2 / max(sum(bool(parts) for name, parts in families.items() if name != "choice"), 1)
    tests = [one for name, parts in families.items() if parts for one in _family_tests(name, parts, scaled, rest)]
    tests += [_least(name, parts, names[name], rest) for name, parts in families.items() if parts and name != "choice"]
    tests += [*_absent(releases), *_repeated(releases), *_won(noisy)]
    tests += _of_choices([one for one in releases if _family(one) == "choice" and one.output.size], rest)
    return [replace(one, allowed=one.allowed or rest) for one in tests]


def _won(noisy: Sequence[tuple[Released, FloatArray]]) -> list[Finding]:
    """What is won by betting that noise is used twice, lacks in sums or single values, or goes with true values."""
    if not noisy:
        return []
    again, seen = copied([one for one, _ in noisy])
    sums, where = cancelling(noisy)
    few, which = singles(noisy)
    along, how = with_values(noisy)
    return [
        Finding("freshness", chance_of(again), seen, "each value of noise used twice, in any order and with any sign"),
        Finding("sums of noise", chance_of(sums), where, "sums within releases, of two values to all, without noise"),
        Finding("single values", chance_of(few), which, "values with hardly any noise, tails that are cut off"),
        Finding(
            "noise beside true values", chance_of(along), how, "noise by their order, sign or size; no code of them"
        ),
    ]


def _of_choices(releases: Sequence[Released], rest: float) -> list[Finding]:
    """Choices in their options' order, what is won by bets that they come again, and that another law made them."""
    if not releases:
        return []
    chance = np.random.default_rng(1)
    u = np.concatenate([_choices(one, chance, falling=False) for one in releases])
    again, seen = chosen.repeated(releases)
    other, how = chosen.other_laws(releases)
    least = chosen.least_factor(releases, math.log(1 / rest) + chosen.PRICE)
    power = (
        "none of these, as all options are as likely" if math.isnan(least) else f"choices as by {chosen.named(least)}"
    )
    return [
        Finding("choice: order", float(stats.kstest(u, "uniform").pvalue), f"{len(u)} choices by their options' order",
                f"a distance of {math.sqrt(math.log(2 / rest) / (2 * len(u))):.2g} between distribution functions"),
        Finding("choice: freshness", chance_of(again), seen, "choices by randomness of earlier ones"),
        Finding("choice: coefficient", chance_of(other), how, power),
    ]  # fmt: skip


def chance_of(won: float) -> float:
    """At most how likely it is to win as much, given as a logarithm, by bets of mean 1."""
    return math.exp(-min(max(won, 0.0), 600.0))


def _family(one: Released) -> str:
    kind = type(one.mechanism).__name__.removeprefix("Discrete")
    return "choice" if kind == "Exponential" else kind


def _family_tests(name: str, parts: Sequence[FloatArray], scaled: float, rest: float) -> list[Finding]:
    u = np.clip(np.concatenate(parts), EDGE, 1 - EDGE)
    count = len(u)
    normal = np.asarray(special.ndtri(u))
    distance = math.sqrt(math.log(2 / rest) / (2 * count))
    shape = Finding(
        f"{name}: law", float(stats.kstest(u, "uniform").pvalue), f"{count} draws",
        f"a distance of {distance:.2g} between distribution functions",
    )  # fmt: skip
    related = _related(f"{name}: correlation", normal, "", rest)
    if name == "choice":
        few = float(stats.kstwo.sf(COARSEST, count)) >= rest
        return [replace(shape, needed=(distance / COARSEST) ** 2 if few else 0.0), related]
    degrees, size = _degrees(name, count), float(_sizes(name, u).sum())
    ratio = size / degrees if name == "Laplace" else math.sqrt(size / degrees)
    smallest = smallest_scale_error(name, count, scaled)
    scale = Finding(
        f"{name}: scale", float(stats.gamma.cdf(size, degrees)), f"{count} draws, {ratio:.4f} of the scale",
        f"a scale {100 * smallest:.2g}% too small, found in 9 of 10 cases", scaled,
        _enough(name, scaled) / count if smallest > COARSEST else 0.0,
    )  # fmt: skip
    wide = Finding(
        f"{name}: no other error in it", float(stats.gamma.sf(size, degrees)), f"{ratio:.4f} of the scale",
        "true values that differ, as from scores that moved otherwise",
    )  # fmt: skip
    sizes = np.asarray(special.ndtri(np.clip(2 * np.minimum(u, 1 - u), EDGE, 1 - EDGE)))
    alike = _related(f"{name}: correlation of sizes", sizes, " without their signs", rest)
    return [shape, scale, wide, related, alike]


def _related(what: str, normal: FloatArray, which: str, rest: float) -> Finding:
    """Whether draws at any distance go together, or against each other. normal: of one normal law, shape (draws,).

    With S the sum of products of draws and later ones, and V that of the squares of the former, exp(s S - s^2 V / 2)
    has mean 1 for each s, and so has its mean over normal s, and over distances: half for neighbours, the rest for
    others.
    """
    count = len(normal)
    needed = (1 + 1 / SPREAD) * (2 * math.log(2 / rest) + math.log1p(SPREAD))
    power = f"a correlation of {math.sqrt(needed / count):.2g} between neighbours"
    if count < 2:
        return Finding(what, 1.0, "one draw", power)
    length = 1 << (2 * count - 1).bit_length()
    products = np.fft.irfft(np.abs(np.fft.rfft(normal, length)) ** 2, length)[1:count]
    squares = np.cumsum(normal**2)[-2::-1]
    distances, variance = np.arange(1, count), SPREAD / count
    spread = 1 + variance * squares
    won = variance * products**2 / (2 * spread) - np.log(spread) / 2
    won = won - np.log(2 * np.maximum(distances * (distances - 1), 1))
    best = int(np.argmax(won))
    seen = f"{products[best] / math.sqrt(max(squares[best], 1e-300)):.2f} deviations at distance {best + 1}{which}"
    return Finding(what, chance_of(float(special.logsumexp(won))), seen, power)


def _sizes(name: str, u: FloatArray) -> FloatArray:
    """What draws add up to, by their uniform numbers: a gamma variable of shape `_degrees`."""
    u = np.clip(u, EDGE, 1 - EDGE)
    return np.asarray(-np.log(2 * np.minimum(u, 1 - u)) if name == "Laplace" else special.ndtri(u) ** 2 / 2)


def _degrees(name: str, count: float) -> float:
    return count if name == "Laplace" else count / 2


def _least(name: str, parts: Sequence[FloatArray], names: Sequence[str], rest: float) -> Finding:
    """The scale of each part of the runs by itself: of a release of the plan in all runs, a run, an entry of releases.

    A scale that is too small in the last tree alone is hardly seen in all draws together.
    """
    size, count, runs = Counter[str](), Counter[str](), Counter[str]()
    for part, release in zip(parts, names, strict=True):
        runs[release] += 1
        sizes = _sizes(name, part)
        places = [(release, sizes), (f"run {runs[release]}", sizes)]
        places += [(f"entry {entry} of releases", own) for entry, own in enumerate(sizes)] if len(sizes) > 1 else []
        for place, own in places:
            size[place] += float(np.sum(own))  # type: ignore[assignment]
            count[place] += np.size(own)
    chances = {place: float(stats.gamma.cdf(size[place], _degrees(name, count[place]))) for place in count}
    worst = min(chances, key=lambda place: chances[place])
    usual = int(np.median([count[release] for release in runs]))
    smallest = smallest_scale_error(name, usual, rest / len(count))
    return Finding(
        f"{name}: scale in every place", min(1.0, chances[worst] * len(count)),
        f"least in {worst}, of {len(count)} places: {count[worst]} draws",
        f"a scale {100 * smallest:.2g}% too small in {usual} draws of one release, found in 9 of 10 cases",
    )  # fmt: skip


def smallest_scale_error(name: str, count: int, error: float, power: float = 0.9) -> float:
    """By how much a scale has to be too small to be found with this chance."""
    degrees = count if name == "Laplace" else count / 2
    ratio = stats.gamma.ppf(error, degrees) / stats.gamma.ppf(power, degrees)
    return 1 - float(ratio if name == "Laplace" else math.sqrt(ratio))


@lru_cache
def _enough(name: str, error: float) -> int:
    """How many draws find a scale that is half too small."""
    counts = range(1, 10_000)
    return counts[bisect.bisect_left(counts, True, key=lambda n: smallest_scale_error(name, n, error) <= COARSEST)]


def _absent(releases: Sequence[Released]) -> list[Finding]:
    """Outputs that are the true values, to the grid of the noise."""
    expected, bare, named = 0.0, 0, Counter[str]()
    for one in releases:
        match one.mechanism:
            case Exponential():
                continue
            case DiscreteLaplace(scale, step) | DiscreteGaussian(scale, step):
                same = _steps(one, step) == 0
                expected += float(np.sum(step / (2 * np.broadcast_to(sds_along(scale, same.shape), same.shape))))
            case _:
                same = on_grid(one.mechanism, one.output) == on_grid(one.mechanism, one.value)
                expected += float(exactly(one).sum())
        bare += int(same.sum())
        if same.all() and same.size:
            named[one.name] += 1
    if not expected:
        return []
    chance = float(stats.poisson.sf(bare - 1, expected * 1.01)) if bare else 1.0
    where = f"; without any noise: {', '.join(list(named)[:5])}" if named else ""
    return [Finding("noise is there at all", chance, f"{bare} values without noise, {expected:.3g} expected{where}",
                    f"{math.ceil(expected + 6 * math.sqrt(expected) + 1)} values without noise")]  # fmt: skip


def exactly(one: Released) -> FloatArray:
    """At most how likely one output of floating noise is. Of the output's shape."""
    unit: Any = getattr(one.mechanism, "scale", None) or getattr(one.mechanism, "sd", 1.0)
    lost = np.spacing(np.maximum(np.abs(one.value), np.abs(one.output))) / sds_along(unit, one.value.shape)
    return np.minimum(1.0, np.maximum(2.0**-32, lost))


def _repeated(releases: Sequence[Released]) -> list[Finding]:
    """The same noise in two releases of eight values or more: their first eight in order, or all of them in any order.

    Without signs, and by any factor: compared are parts of the largest, to 0.0001, of the noise itself and in units of
    its scale.
    """
    seen: dict[bytes, str] = {}
    compared = 0
    for number, one in enumerate(releases):
        if isinstance(one.mechanism, Exponential) or one.value.size < 8:
            continue
        moved, shape = one.output - one.value, one.value.shape
        if isinstance(one.mechanism, DiscreteLaplace | DiscreteGaussian):
            moved = _steps(one, one.mechanism.step) * one.mechanism.step
        units: Any = getattr(one.mechanism, "scale", None) or getattr(one.mechanism, "sd", 1.0)
        keys: set[bytes] = set()
        for size in (np.abs(moved).ravel(), np.abs(moved / sds_along(units, shape)).ravel()):
            parts = (b"first", size[:8]), (b"all", np.sort(size))
            keys |= {of + np.round(part / part.max(), 4).tobytes() for of, part in parts if size[:8].any()}
        compared, name = compared + 1, f"{one.name} (release {number + 1})"
        if again := [seen[key] for key in keys if key in seen]:
            return [Finding("freshness", 0.0, f"{name} has the noise of {again[0]}", REPEATED)]
        seen |= dict.fromkeys(keys, name)
    if not compared:
        return []
    return [Finding("freshness", 1.0, f"{compared} releases of 8 values and more compared", REPEATED)]


def again(runs: Sequence[Sequence[Released]]) -> Finding | None:
    """A run all of whose outputs are those of an earlier one; None if there is none, or if chance could bring it about.

    That is one run given twice, whose draws would be counted twice, or a fixed seed.
    """
    seen: dict[tuple[bytes, ...], int] = {}
    for number, released in enumerate(runs, 1):
        key = tuple(np.asarray(one.output, dtype=np.float64).tobytes() for one in released)
        if (earlier := seen.setdefault(key, number)) < number and (chance := _alike(released)) < NEVER:
            return Finding("freshness", chance, f"run {number} has every output of run {earlier}", REPEATED, NEVER)
    return None


def _alike(released: Sequence[Released]) -> float:
    """At most how likely it is that two runs have the same noise in all of their values."""
    chance = 0.0
    for one in released:
        match one.mechanism:
            case Exponential():
                continue
            case DiscreteLaplace(size, step) | DiscreteGaussian(size, step):
                each = np.minimum(1.0, step / (2 * np.broadcast_to(sds_along(size, one.value.shape), one.value.shape)))
            case _:
                each = exactly(one)
        chance += float(np.log(each).sum())
    return math.exp(max(chance, -700.0))


def evidence(first: Sequence[Released], other: Sequence[Released]) -> float:
    """log of how much likelier the outputs are under other true values: an e-value, of mean 1 if the first are true.

    An option has another number where others are offered, as from another sketch.
    """
    total = 0.0
    for one, changed in zip(first, other, strict=True):
        mechanism: Any = one.mechanism
        told = mechanism.log_density(changed.value, changed.output) - mechanism.log_density(one.value, one.output)
        total += float(told.sum())
    return total
