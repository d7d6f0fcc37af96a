"""Random plans with their truths: what they cost at least (`low`) and at most (`high`), as laws of losses.

Where the two are one, the truth is a ball; elsewhere the true worst case lies between: `low` is something the plan
allows, `high` something that dominates it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from benchmarks.enclosures import laws
from benchmarks.enclosures.laws import Parts
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, Mechanism
from refdp.privacy.events import (
    Event,
    Norm,
    Parallel,
    Partition,
    Plan,
    Relation,
    Release,
    Repeat,
    Sensitivity,
    Sequential,
    Subsample,
    balls_and_bins,
)

SEED = 1919
_NORMS: dict[type, Norm] = {Laplace: 1, DiscreteLaplace: 1, Gaussian: 2, DiscreteGaussian: 2, Exponential: "range"}
_Random = np.random.Generator


@dataclass
class Case:
    """A plan and its truths: the largest of `low`, the largest of `high` (the same unless given); group: of records."""

    event: Event
    low: list[Parts]
    high: list[Parts] | None = None
    relation: Relation = Relation.ADD_REMOVE
    group: int = 1

    @property
    def plan(self) -> Plan:
        """The plan."""
        return Plan(self.relation, self.event)


def drawn(number: int) -> tuple[str, Case, float]:
    """Family, case and δ of plan number `number`."""
    generator = np.random.default_rng([SEED, number])
    family = ORDER[number % len(ORDER)]
    return family, FAMILIES[family](generator), float(f"{10 ** generator.uniform(-15, -2):.4g}")


def _release(mechanism: Mechanism, bound: float, relation: Relation = Relation.ADD_REMOVE) -> Release:
    return Release("one", mechanism, Sensitivity(bound, _NORMS[type(mechanism)], "benchmark/declared", relation))


def _noise(generator: _Random, count: float) -> float:
    """A loss of one of `count` releases such that together they are of order 0.05 to 20."""
    return float(f"{10 ** generator.uniform(-1.3, 0.8) / math.sqrt(count):.5g}")


def _count(generator: _Random, most: float) -> int:
    return int(10 ** generator.uniform(0, math.log10(most) + 0.01))


def _inverse(size: float) -> tuple[float, Fraction]:
    """Noise of scale 1 / size, and the exact largest loss of it."""
    scale = 1 / size
    return scale, 1 / Fraction(scale)


def laplace(generator: _Random) -> Case:
    """1 to 300 Laplace releases: a finite sum of residues stands behind few, the contour behind many."""
    count = _count(generator, 300)
    scale, exact = _inverse(_noise(generator, count))
    return Case(Repeat(_release(Laplace(scale), 1.0), count), [[(laws.laplace(exact), count)]])


def steps(generator: _Random) -> Case:
    """Discrete Laplace noise or randomised response, 1 to 3000."""
    shift = int(generator.integers(1, 5))
    count = _count(generator, 3000 / shift)
    scale, exact = _inverse(_noise(generator, count) / shift)
    event = Repeat(_release(DiscreteLaplace(scale, 1.0), float(shift)), count)
    return Case(event, [[(laws.stepped(exact, shift), count)]])


def gaussian(generator: _Random) -> Case:
    """1 to 10^6 Gaussian releases of two kinds."""
    count = _count(generator, 10**6)
    sd = 1 / _noise(generator, count)
    other = 1 / _noise(generator, 3)
    square = count / Fraction(sd) ** 2 + 3 / Fraction(other) ** 2
    event = Sequential((Repeat(_release(Gaussian(sd), 1.0), count), Repeat(_release(Gaussian(other), 1.0), 3)))
    return Case(event, [[(laws.gaussian(square), 1)]])


def integer_gaussian(generator: _Random) -> Case:
    """Discrete Gaussian noise on one number, 1 to 60."""
    count = _count(generator, 60)
    sigma = float(f"{generator.uniform(0.6, 6):.4g}")
    event = Repeat(_release(DiscreteGaussian(sigma, 1.0), 1.0), count)
    return Case(event, [[(laws.integer_noise(Fraction(sigma) ** 2), count)]])


def mixed(generator: _Random) -> Case:
    """Gaussian noise with Laplace, discrete Laplace or discrete Gaussian noise."""
    count = _count(generator, 1000)
    sd, (scale, exact) = 1 / _noise(generator, 1), _inverse(_noise(generator, count))
    parts, events = [(laws.gaussian(1 / Fraction(sd) ** 2), 1)], [_release(Gaussian(sd), 1.0)]
    match int(generator.integers(3)):
        case 0:
            law, one = laws.laplace(exact), _release(Laplace(scale), 1.0)
        case 1:
            law, one = laws.stepped(exact), _release(DiscreteLaplace(scale, 1.0), 1.0)
        case _:
            sigma = float(f"{generator.uniform(1, 6):.4g}")
            count = min(count, 60)
            law, one = laws.integer_noise(Fraction(sigma) ** 2), _release(DiscreteGaussian(sigma, 1.0), 1.0)
    return Case(Sequential((*events, Repeat(one, count))), [[*parts, (law, count)]])


def _rate(generator: _Random) -> float:
    """From 10^-4 to 1 - 10^-4, many near either end."""
    small = 10 ** generator.uniform(-4, -0.3)
    return float(f"{small if generator.random() < 0.6 else 1 - small:.5g}")


def sampled_steps(generator: _Random) -> Case:
    """Poisson sampled discrete Laplace noise and randomised response."""
    shift, rate = int(generator.integers(1, 3)), _rate(generator)
    count = _count(generator, 3000 if shift == 1 else 60)
    size = _noise(generator, 1 + count * rate**2) / shift
    scale, exact = _inverse(min(size, 12.0))
    masses = laws.answers(exact, shift)
    event = Repeat(Subsample(rate, _release(DiscreteLaplace(scale, 1.0), float(shift))), count)
    return Case(event, [[(laws.sampled(masses, rate, first), count)] for first in (True, False)])


def sampled_integers(generator: _Random) -> Case:
    """One Poisson sampled discrete Gaussian release, or two."""
    sigma, rate, count = float(f"{generator.uniform(0.6, 3):.4g}"), _rate(generator), int(generator.integers(1, 3))
    masses = laws.integers(Fraction(sigma) ** 2, 1)
    event = Repeat(Subsample(rate, _release(DiscreteGaussian(sigma, 1.0), 1.0)), count)
    return Case(event, [[(laws.sampled(masses, rate, first, 1e-35), count)] for first in (True, False)])


def sampled_mixed(generator: _Random) -> Case:
    """A Gaussian release and Poisson sampled randomised response."""
    rate, count = _rate(generator), _count(generator, 1000)
    sd = 1 / _noise(generator, 1)
    scale, exact = _inverse(min(_noise(generator, 1 + count * rate**2), 10.0))
    one = _release(DiscreteLaplace(scale, 1.0), 1.0)
    event = Sequential((_release(Gaussian(sd), 1.0), Repeat(Subsample(rate, one), count)))
    masses, other = laws.answers(exact), (laws.gaussian(1 / Fraction(sd) ** 2), 1)
    return Case(event, [[other, (laws.sampled(masses, rate, first), count)] for first in (True, False)])


def fixed_size(generator: _Random) -> Case:
    """Samples of a fixed size under replace-one: at least the first mixture, at most the pair that dominates both."""
    shift, rate = int(generator.integers(1, 3)), _rate(generator)
    count = _count(generator, 80 if shift == 1 else 20)
    scale, exact = _inverse(min(_noise(generator, 1 + count * rate**2) / shift, 8.0))
    masses = laws.answers(exact, shift)
    one = _release(DiscreteLaplace(scale, 1.0), float(shift), Relation.REPLACE_ONE)
    event = Repeat(Subsample(rate, one, "without-replacement"), count)
    low = [[(laws.sampled(masses, rate, first), count)] for first in (True, False)]
    return Case(event, low, [[(laws.fixed_size(masses, rate), count)]], Relation.REPLACE_ONE)


def exchanged(generator: _Random) -> Case:
    """Poisson samples under replace-one, of what one record adds: two records that pull apart."""
    rate, count = min(_rate(generator), 0.7), _count(generator, 40)
    scale, exact = _inverse(min(_noise(generator, 1 + count * rate**2), 1.5))
    q, r = laws.ball(rate), laws.ball(exact)
    tail, middle = 1 / (1 + (-r).exp()), (1 - (-r).exp()) / (1 + (-r).exp()) * (-r).exp()
    # outcomes <= -1, 0, >= 1 of noise around 0, 1 and -1; to the left of -1 and right of 1 all ratios are constant
    zero = (tail * (-r).exp(), (1 - (-r).exp()) / (1 + (-r).exp()), tail * (-r).exp())
    up = (tail * (-2 * r).exp(), middle, tail)
    first = [q * a + (1 - q) * b for a, b in zip(up, zero, strict=True)]
    masses = list(zip(first, first[::-1], strict=True))
    event = Repeat(Subsample(rate, _release(DiscreteLaplace(scale, 1.0), 1.0)), count)
    return Case(event, [[(laws.outcomes(masses), count)]], [], Relation.REPLACE_ONE)


def blocks(generator: _Random) -> Case:
    """Repeated parallel blocks of two kinds, some nested: a record may be in either block every time."""
    count = _count(generator, 40)
    sd, (scale, exact) = 1 / _noise(generator, count), _inverse(_noise(generator, count))
    one, other = _release(Gaussian(sd), 1.0), _release(Laplace(scale), 1.0)
    parallel: Event = Parallel((one, other))
    if generator.random() < 0.5:
        parallel = Parallel((Parallel((one, _release(Gaussian(1.5 * sd), 1.0))), Sequential((other,))))
    square, law = 1 / Fraction(sd) ** 2, laws.laplace(exact)
    low: list[Parts] = [
        [(laws.gaussian(square * k), 1), (law, count - k)] for k in {1, count // 2, count - 1} if 0 < k < count
    ]
    low += [[(laws.gaussian(square * count), 1)], [(law, count)]]
    return Case(Repeat(parallel, count), low, [])


def slots(generator: _Random) -> Case:
    """Repeated secret partitions: at least one slot of them, at most the average over the slots (joint convexity)."""
    count, weight = _count(generator, 40), float(f"{generator.uniform(0.05, 0.9):.4g}")
    scale, exact = _inverse(min(_noise(generator, 1 + count * weight**2), 6.0))
    wide, less = _inverse(0.5 / scale)
    one, other = (_release(DiscreteLaplace(s, 1.0), 1.0) for s in (scale, wide))
    rest = float(Fraction(math.floor((1 - weight) * 2**40), 2**41))
    event = Repeat(Partition((weight, rest), (one, other)), count)
    masses = laws.answers(exact)
    low = [[(laws.sampled(masses, weight, first), count)] for first in (True, False)]
    told = [(p * laws.ball(w), q * laws.ball(w)) for w, table in ((weight, masses), (rest, laws.answers(less)))
            for p, q in table]  # fmt: skip
    silent = 1 - laws.ball(weight) - laws.ball(rest)
    return Case(event, low, [[(laws.outcomes([*told, (silent, silent)]), count)]])


def bins(generator: _Random) -> Case:
    """1 to 3 epochs of balls and bins: the record's slot is one of 10 to 200, each answers by randomised response."""
    count = int(generator.integers(1, 4))
    slots = int(10 ** generator.uniform(1, math.log10({1: 200, 2: 100, 3: 30}[count])))
    scale, exact = _inverse(float(f"{10 ** generator.uniform(-1.3, 0.2):.5g}"))
    event = Repeat(balls_and_bins(_release(DiscreteLaplace(scale, 1.0), 1.0), slots), count)
    (p, q), _ = laws.answers(exact)
    masses = []
    for k in range(slots + 1):
        without = math.comb(slots, k) * q**k * p ** (slots - k)
        masses.append((without * (k * p / q + (slots - k) * q / p) / slots, without))
    return Case(event, [[(laws.outcomes(side), count)] for side in (masses, [(b, a) for a, b in masses])])


def selections(generator: _Random) -> Case:
    """Exponential mechanisms, 1 to 40, half of them with a Laplace release: one choice repeated, and all dominated."""
    count = _count(generator, 40)
    size = min(_noise(generator, count), 4.0)
    exact = Fraction(size)
    tops = [laws.ball(exact) * laws.ball(k / 8) for k in (4, 5, 6)]
    events: list[Event] = [Repeat(_release(Exponential(size), 1.0), count)]
    other: Parts = []
    if generator.random() < 0.5:
        scale, loss = _inverse(_noise(generator, 1))
        events.append(_release(Laplace(scale), 1.0))
        other = [(laws.laplace(loss), 1)]
    high = [[(laws.selections(exact), count), *other]] if count + len(other) > 2 else []
    return Case(Sequential(tuple(events)), [[(laws.selection(exact, top), count), *other] for top in tops], high)


def groups(generator: _Random) -> Case:
    """Several records that change together, as one change of so many times the sensitivity."""
    size = int(generator.integers(2, 5))
    count = _count(generator, 1000 / size)
    scale, exact = _inverse(_noise(generator, count) / size)
    event = Repeat(_release(DiscreteLaplace(scale, 1.0), 1.0), count)
    return Case(event, [[(laws.stepped(exact, size), count)]], group=size)


FAMILIES: dict[str, Callable[[_Random], Case]] = {
    "Laplace": laplace,
    "discrete Laplace, randomised response": steps,
    "Gaussian": gaussian,
    "discrete Gaussian": integer_gaussian,
    "Gaussian with another": mixed,
    "sampled discrete Laplace": sampled_steps,
    "sampled discrete Gaussian": sampled_integers,
    "Gaussian with sampled responses": sampled_mixed,
    "samples of a fixed size": fixed_size,
    "sampled, replace-one": exchanged,
    "blocks": blocks,
    "partitions": slots,
    "balls and bins": bins,
    "selections": selections,
    "groups": groups,
}
DEAR = {"sampled, replace-one": 2, "balls and bins": 10, "selections": 12, "partitions": 15}
"""Plans in five hundred of the families that take long, by their truths or by the plans themselves."""
_CHEAP = tuple(family for family in FAMILIES if family not in DEAR)
ORDER = [_CHEAP[k % len(_CHEAP)] for k in range(500 - sum(DEAR.values()))]
for _family, _many in DEAR.items():
    for _k in range(_many):
        ORDER.insert((2 * _k + 1) * len(ORDER) // (2 * _many), _family)
"""The families of five hundred plans, the dear ones spread evenly."""
