"""Tests of recorded noise: bets on smaller scales, and ranks under the declared law."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy

from refdp.audit import noise_law, noise_shape
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import Entry, Request, Transcript
from refdp.privacy.events import Relation
from tests.audit.pinned import digest

NOISY = [Laplace(2.0), DiscreteLaplace(2.0, 0.5), Gaussian(1.5), Gaussian((1.5, 3.0)), DiscreteGaussian(0.75, 0.5),
         DiscreteGaussian((0.75, 40.0), 0.5)]  # fmt: skip
VALUE = np.array([[0.0, 1.0], [0.5, -2.0], [3.0, 2.5]])
NOISE = np.array([[0.5, -1.5], [0.0, 2.0], [-3.0, 1.0]])


def smaller(mechanism: Any, r: float) -> Any:
    match mechanism:
        case Laplace(scale):
            return Laplace(scale * r)
        case DiscreteLaplace(scale, step):
            return DiscreteLaplace(scale * r, step)
        case Gaussian(sd):
            return Gaussian(tuple(r * one for one in sd) if isinstance(sd, tuple) else sd * r)
        case DiscreteGaussian(sd, step):
            return DiscreteGaussian(tuple(r * one for one in sd) if isinstance(sd, tuple) else sd * r, step)
    return Exponential(mechanism.coefficient / r)


def masses(mechanism: Any, value: float, output: float, sd: float) -> float:
    """Log of the density, or of the chance of a number of steps, summed up."""
    match mechanism:
        case Laplace(scale):
            return float(scipy.stats.laplace.logpdf(output, value, scale))
        case Gaussian():
            return float(scipy.stats.norm.logpdf(output, value, sd))
        case DiscreteLaplace(scale, step):
            weights = np.exp(-np.abs(np.arange(-4000, 4001)) * step / scale)
            return -abs(output - value) / scale - math.log(weights.sum())
    steps = np.arange(-4000, 4001) * mechanism.step
    return -((output - value) ** 2) / (2 * sd * sd) - math.log(np.exp(-(steps**2) / (2 * sd * sd)).sum())


@pytest.mark.parametrize("mechanism", NOISY, ids=str)
def test_ratios_are_those_of_both_laws(mechanism: Any) -> None:
    for r in (0.1, 0.5, 0.99):
        other = smaller(mechanism, r)
        sds = [np.broadcast_to(np.asarray(getattr(one, "sd", 0.0)), VALUE.shape) for one in (mechanism, other)]
        expected = sum(masses(other, v, v + n, s) - masses(mechanism, v, v + n, d)
                       for v, n, d, s in zip(VALUE.flat, NOISE.flat, *(sd.flat for sd in sds),
                           strict=True))  # fmt: skip
        assert noise_law._ratio(mechanism, NOISE, r) == pytest.approx(expected, rel=1e-6)


def test_sums_over_whole_numbers() -> None:
    for sigma in (0.01, 0.3, 1.0, 1.999, 2.0, 2.001, 7.0):
        assert noise_law._log_sum(sigma) == pytest.approx(
            math.log(np.exp(-(np.arange(-400, 401) ** 2) / (2 * sigma * sigma)).sum()), abs=1e-12
        )


@pytest.mark.parametrize("mechanism", [*NOISY, Exponential(0.5)], ids=str)
def test_a_bet_adds_up_releases_of_any_shape(mechanism: Any) -> None:
    bet = noise_law.Bet()
    assert bet.draws == 0 and bet.capital == 0.0 and not bet.rejects(1)
    choice = isinstance(mechanism, Exponential)
    index = np.array([1, 0, 1]) if choice else None
    bet.add(mechanism, VALUE, index if choice else VALUE + NOISE, index)  # type: ignore[arg-type]
    bet.add(mechanism, VALUE[:2], index[:2] if choice else VALUE[:2] + NOISE[:2], None if index is None else index[:2])  # type: ignore[arg-type]
    assert bet.draws == (5 if choice else 10)
    for scale, found in zip(noise_law.SMALLER, bet.logs, strict=True):
        if choice:
            sharper = smaller(mechanism, scale)
            each = [sharper.log_density(VALUE, index) - mechanism.log_density(VALUE, index)]
            expected = float(each[0].sum() + each[0][:2].sum())
        else:
            expected = noise_law._ratio(mechanism, NOISE, scale) + noise_law._ratio(mechanism, NOISE[:2], scale)
        assert found == pytest.approx(expected)
    assert bet.capital == pytest.approx(math.log(np.exp(bet.logs - bet.logs.max()).mean()) + bet.logs.max())
    assert bet.likeliest == noise_law.SMALLER[int(np.argmax(bet.logs))]


def test_a_law_is_refuted_beyond_the_error_of_all_tests() -> None:
    logs = np.full(12, math.log(2e9))
    assert (
        noise_law.Bet(logs).rejects(1) and noise_law.Bet(logs + 1e-6).rejects(2) and not noise_law.Bet(logs).rejects(3)
    )
    told = noise_law.refuted(noise_law.Bet(logs, 7), "a/b", "Laplace")
    assert (told.kind, told.release, told.declared, told.observed, told.loss) == ("noise law", "a/b", 1.0, 1e-6, None)
    assert told.witness == {
        "detail": "Laplace: 7 draws",
        "releases": ["a/b"],
        "log ratio": pytest.approx(math.log(2e9)),
    }
    assert noise_law.FALSE_ALARM == noise_shape.FALSE_ALARM == 1e-9 and noise_law.DRAWS == 300_000
    assert noise_law.SMALLER == (1e-6, 1e-3, 0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99)


def test_the_smallest_share_that_shows() -> None:
    for draws, tests in ((100_000, 1), (4000, 7)):
        assert noise_law.smallest(draws, tests) == pytest.approx(
            math.sqrt(2 * (math.log(12 * tests * 1e9) + 5) / draws)
        )
    assert noise_law.smallest(0, 1) == noise_law.smallest(1, 1) == 1.0


class Named(Laplace):
    """A subclass that says to be Laplace noise."""


class Dense(Laplace):
    """One with a density of its own."""

    def log_density(self, value: Any, output: Any) -> Any:
        return super().log_density(value, output)


class Costly(Gaussian):
    def divergence(self, value: Any, other: Any, order: float) -> float:
        return 2 * super().divergence(value, other, order)


class Broken(Laplace):
    @property
    def scale(self) -> float:  # type: ignore[override]
        raise OSError


def test_what_a_mechanism_says_to_be() -> None:
    for mechanism in (*NOISY, Exponential(0.5)):
        assert noise_law.known(mechanism) is mechanism and noise_law.said(mechanism) == mechanism
        assert noise_law.valid(mechanism) and noise_law.states_no_law(mechanism)
    assert noise_law.known(Named(2.0)) is None and noise_law.said(Named(2.0)) == Laplace(2.0)
    assert noise_law.states_no_law(Named(2.0)) and not noise_law.states_no_law(Dense(2.0))
    assert not noise_law.states_no_law(Costly(1.0)) and not noise_law.states_no_law(3)
    assert noise_law.said(3) is None and noise_law.said(object.__new__(Broken)) is None
    for law, given, fine in ((Laplace, {"scale": 0.0}, False), (Laplace, {"scale": math.inf}, False), (Laplace,
        {"scale": 1e-9}, True),
                             (Gaussian, {"sd": (1.0, 0.0)}, False), (Gaussian, {"sd": (1.0, 2.0)}, True),
                             (DiscreteLaplace, {"scale": 1.0, "step": -1.0}, False), (Exponential,
                             {"coefficient": 0.0}, True),
                             (Exponential, {"coefficient": -1.0}, False), (Exponential, {"coefficient": math.inf},
                             False)):  # fmt: skip
        made: Any = object.__new__(law)
        for name, value in given.items():
            object.__setattr__(made, name, value)
        assert noise_law.valid(made) is fine


def entry(name: str, mechanism: Any, value: Any, output: Any, index: Any = None, kind: Any = "release") -> Entry:
    return Entry(Request(kind, (name,), value, mechanism), output, index, value)


def test_recorded_draws_of_known_laws_are_bet_on_and_ranked() -> None:
    odd = np.full_like(VALUE, math.inf)
    entries = [
        entry("draw", None, None, NOISE, kind="draw"), entry("unknown", 3, VALUE, VALUE), entry("dense", Dense(2.0),
            VALUE, VALUE + NOISE),
        entry("named", Named(2.0), VALUE, VALUE + NOISE), entry("plain", Laplace(2.0), VALUE, VALUE + NOISE),
        entry("odd", Laplace(2.0), odd, NOISE), entry("odd", Laplace(2.0), VALUE, odd), entry("none", Laplace(2.0),
            None, NOISE),
        entry("choice", Exponential(0.5), VALUE, np.array([1, 0, 1]), np.array([1, 0, 1])),
    ]  # fmt: skip
    runs = [Transcript(Relation.ADD_REMOVE, entries[:5]), Transcript(Relation.ADD_REMOVE, entries[5:])]
    bet, ranks, name = noise_law.recorded(runs, 9)
    assert (bet.draws, len(ranks), name) == (9, 15, "dense")
    expected = noise_law.Bet()
    expected.add(Laplace(2.0), VALUE, VALUE + NOISE, None)
    expected.add(Exponential(0.5), VALUE, np.array([1, 0, 1]), np.array([1, 0, 1]))
    assert bet.logs == pytest.approx(expected.logs)
    assert (
        ranks[:6] == pytest.approx(scipy.stats.laplace.cdf(NOISE.ravel(), scale=2)) and (ranks[6:12] == ranks[:6]).all()
    )
    assert digest(ranks[12:]) == "c1481dcb0505"  # a record of coins
    bet, ranks, name = noise_law.recorded([], 9)
    assert (bet.draws, len(ranks), name) == (0, 0, "")


@pytest.mark.parametrize("mechanism", NOISY, ids=str)
def test_ranks_are_places_under_the_law(mechanism: Any) -> None:
    """Between the chances of less and of no more, by summing masses or in closed form."""
    found = noise_shape.ranks(mechanism, VALUE, VALUE + NOISE, None, np.random.default_rng(0)).reshape(VALUE.shape)
    coins = np.random.default_rng(0).random(6).reshape(VALUE.shape)
    sds = np.broadcast_to(np.asarray(getattr(mechanism, "sd", 0.0)), VALUE.shape)
    for place, noise in np.ndenumerate(NOISE):
        match mechanism:
            case Laplace(scale):
                expected = scipy.stats.laplace.cdf(noise, scale=scale)
            case Gaussian():
                expected = scipy.stats.norm.cdf(noise, scale=sds[place])
            case _:
                k = np.arange(-6000, 6001)
                size = np.abs(k) * mechanism.step / getattr(mechanism, "scale", 1.0)
                weights = np.exp(
                    -size if isinstance(mechanism, DiscreteLaplace) else -((k * mechanism.step / sds[place]) ** 2) / 2
                )
                at = round(noise / mechanism.step) + 6000
                expected = (weights[:at].sum() + coins[place] * weights[at]) / weights.sum()
        assert found[place] == pytest.approx(expected, abs=1e-9)


def test_ranks_of_choices_and_of_values_that_eat_their_noise() -> None:
    index = np.array([1, 0, 1])
    found = noise_shape.ranks(Exponential(0.5), VALUE, index, index, np.random.default_rng(0))
    coins = np.random.default_rng(0).random(3)
    for (a, b), chosen, coin, one in zip(VALUE, index, coins, found, strict=True):
        p = math.exp(a / 2) / (math.exp(a / 2) + math.exp(b / 2))
        assert one == pytest.approx(coin * p if chosen == 0 else p + coin * (1 - p))
    far = np.array([1e-5 * 2.0**52 * 0.99, -1e-5 * 2.0**52 * 1.01, 0.0, 0.0, -1e12, 0.0])
    output = np.append(far[:4] + np.array([0.0, 0.0, 1e12, 1.0]), [0.0, -1e12])
    assert len(noise_shape.ranks(Laplace(1.0), far, output, None, np.random.default_rng(0))) == 2
    rounded = noise_shape.ranks(
        DiscreteLaplace(1.0, 0.5), np.array([0.7]), np.array([0.5]), None, np.random.default_rng(0)
    )
    assert 0.3 < rounded[0] < 0.7  # the value is rounded to the grid first


def test_distribution_functions_of_steps() -> None:
    for t in (0.01, 1.0, 5.0):
        k = np.arange(-5000, 5001)
        weights = np.exp(-t * np.abs(k))
        for steps in (-3, -1, 0, 1, 4):
            expected = weights[: steps + 5001].sum() / weights.sum()
            assert noise_shape._two_sided(np.array([float(steps)]), np.array([t]))[0] == pytest.approx(expected)
    for sigma in (0.4, 3.0, 999.0, 1000.0, 1001.0):
        k = np.arange(-13000, 13001)
        weights = np.exp(-(k**2) / (2 * sigma * sigma))
        for steps in (-2000, -3, 0, 2, 40_000, -40_000):
            expected = weights[: max(0, steps + 13001)].sum() / weights.sum()
            assert noise_shape._normal(np.array([float(steps)]), sigma)[0] == pytest.approx(expected, abs=1e-7)


def test_departures_show_at_powers_of_two_alone() -> None:
    assert list(noise_shape.LENGTHS) == list(range(6, 31))
    for length, tests in ((64, 1), (4096, 6)):
        reach = math.sqrt(math.log(50 * tests * 1e9) / (2 * length))
        assert noise_shape._allowed(length, tests) == pytest.approx(reach)
        for draws in (length, 2 * length - 1):
            assert noise_shape.smallest(draws, tests) == pytest.approx(
                min(1.0, reach + math.sqrt(math.log(40) / 2 / length))
            )
    assert noise_shape.smallest(63, 1) == 1.0 == noise_shape.smallest(0, 1)
    even = (np.arange(1024) * 389 % 1024 + 0.5) / 1024
    assert noise_shape.departure(even, "even", 1) is None and noise_shape.departure(np.zeros(63), "few", 1) is None
    for numbers, distance in (
        (np.zeros(64), 1.0),
        (np.ones(127), 1.0),
        (np.full(64, 0.75), 0.75),
        (np.full(64, 0.25), 0.75),
    ):
        assert noise_shape.departure(numbers, "so", 1) == noise_shape.Departure(distance, 64, "so")
    late = np.append(even[:256], np.zeros(256))
    found = noise_shape.departure(late, "late", 1)
    assert found is not None and found.draws == 512 and found.distance == pytest.approx(0.5, abs=0.01)
    limit = noise_shape._allowed(64, 1)
    for more in (1e-9, -1e-9):
        grid = np.clip((np.arange(64) + 0.5) / 64, 0, 1 - limit - more)  # the last numbers are missing
        assert (noise_shape.departure(grid, "end", 1) is None) == (more < 0)


def test_dependence_on_the_draw_before_shows() -> None:
    generator = np.random.default_rng(5)
    fair = generator.random(4096)
    pairs = np.repeat(generator.random(2048), 2)
    turned = np.where(np.arange(4096) % 2, 1 - pairs, pairs)
    assert noise_shape.departures([("a", fair)], 1) is None and noise_shape.departures([], 1) is None
    for numbers in (pairs, turned):
        found = noise_shape.departures([("a", fair), ("b", numbers)], 1)
        assert found is not None and found.what == "b: draws depend on the ones before"
    found = noise_shape.departures([("a", fair), ("b", fair**2), ("c", pairs)], 1)
    assert found is not None and found.what == "b: another shape than declared"
    told = noise_shape.refuted(found, "a/b", "law")
    assert (told.kind, told.release, told.declared, told.observed, told.loss) == (
        "noise law",
        "a/b",
        0.0,
        found.distance,
        None,
    )
    assert told.witness == {
        "detail": f"law: {found.what}",
        "releases": ["a/b"],
        "draws": found.draws,
        "distance": found.distance,
    }


@pytest.mark.parametrize("mechanism", [*NOISY, Exponential(0.5), Exponential(1e-9)], ids=str)
def test_further_draws_are_of_the_law_and_as_recorded(mechanism: Any) -> None:
    """Their number, the values that they are drawn at, no false alarm, and a record of the seeded ranks."""
    found = noise_law.sampled(mechanism, 3, 240, values=(5.0, -7.0, 1e9))
    assert found is not None and not found.bet.rejects(1) and noise_shape.departures(found.groups, 1) is None
    choice = isinstance(mechanism, Exponential)
    assert found.bet.draws == 240
    names = [name for name, _ in found.groups]
    assert names == (["at the value 0"] if choice else [f"at the value {one}" for one in (-7, 0, 5)]) + [
        "from call to call"
    ]
    assert sum(len(ranks) for _, ranks in found.groups[:-1]) == len(found.groups[-1][1]) == 240
    recorded = dict(zip(map(str, [*NOISY, Exponential(0.5), Exponential(1e-9)]), RECORDED, strict=True))
    assert digest([found.bet.logs[2:], found.groups]) == recorded[str(mechanism)]


RECORDED = ("4e4feb7d7adc", "4eac7799b0e7", "2e9753c8f073", "47cd9b5cfe50", "516420daeced", "bd2149d134b6",
    "a3710dd9a0a4", "a9cb4c98f358")  # fmt: skip


def test_what_cannot_be_drawn_from_is_not() -> None:
    assert noise_law.sampled(3, 0, 10) is None and noise_law.sampled(object.__new__(Broken), 0, 10) is None
    found = noise_law.sampled(Dense(2.0), 0, 11)
    assert found is not None and found.bet.draws == 11 and found.groups == ()
    odd = noise_law.sampled(Laplace(2.0), 0, 11, values=(2e6, 2e6 + 1))
    assert odd is not None and [name for name, _ in odd.groups] == [
        "at the value 0",
        "at the value 2e+06",
        "from call to call",
    ]
    assert [len(ranks) for _, ranks in odd.groups] == [6, 5, 10]

    def failing(generator: Any) -> Any:
        raise OSError

    assert noise_law.sampled(Laplace(2.0), 0, 11, failing) is None
