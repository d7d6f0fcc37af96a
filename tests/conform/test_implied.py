"""The noise that outputs imply: each law's distribution function summed by hand, and each test at its borders."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from refdp.conform import cancelling as cancelling_module
from refdp.conform import chosen, implied, single
from refdp.conform import shared as shared_module
from refdp.conform.beside import with_values
from refdp.conform.cancelling import blocks, cancelling
from refdp.conform.copied import copied
from refdp.conform.drawn import Drawn
from refdp.conform.follow import Released
from refdp.conform.implied import Finding, evidence, noise_tests, smallest_scale_error, uniforms
from refdp.conform.places import places_of
from refdp.conform.shared import shared
from refdp.conform.single import singles
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.sources import sample_law

VALUE = np.array([[0.0, 1.0, -2.0], [4.0, 0.5, 3.0]])


def released(mechanism: Any, value: Any, output: Any, name: str = "leaves") -> Released:
    return Released(name, mechanism, np.asarray(value), np.asarray(output), None, None)


def uniform_of(one: Released, seed: int = 0) -> list[float]:
    return uniforms(one, np.random.default_rng(seed)).tolist()


def test_continuous_noise_by_its_distribution_function() -> None:
    moved = np.array([[0.0, 1.0, -1.0], [3.0, -0.5, 2.0]])
    found = uniform_of(released(Laplace(2.0), VALUE, VALUE + moved))
    assert found == pytest.approx(
        [0.5 * math.exp(z / 2) if z < 0 else 1 - 0.5 * math.exp(-z / 2) for z in moved.ravel()]
    )
    found = uniform_of(released(Gaussian(2.0), VALUE, VALUE + moved))
    assert found == pytest.approx([0.5 * math.erfc(-z / 2 / math.sqrt(2)) for z in moved.ravel()])
    each = uniform_of(released(Gaussian((1.0, 2.0, 4.0)), VALUE, VALUE + moved))
    sds = [1.0, 2.0, 4.0] * 2
    assert each == pytest.approx(
        [0.5 * math.erfc(-z / s / math.sqrt(2)) for z, s in zip(moved.ravel(), sds, strict=True)]
    )


def test_whole_steps_of_laplace_noise_are_summed() -> None:
    """Between the sums of the masses before and at the step, at the place that the stream says."""
    step, scale = 0.5, 1.25
    steps = np.array([-7.0, -1.0, 0.0, 1.0, 2.0, 9.0])
    value = np.array([0.0, 1.0, -2.0, 4.0, 0.5, 3.0])
    found = uniform_of(released(DiscreteLaplace(scale, step), value, value + steps * step), 3)
    inside = np.random.default_rng(3).random(6)
    masses = {k: math.exp(-abs(k) * step / scale) for k in range(-400, 401)}
    whole = sum(masses.values())
    for k, place, part in zip(steps, found, inside, strict=True):
        before = sum(m for j, m in masses.items() if j < k) / whole
        at = masses[int(k)] / whole
        own = before + at * part if k <= 0 else 1 - (1 - before - at + at * part)
        assert place == pytest.approx(own, abs=1e-9)


def test_whole_steps_of_wide_gaussian_noise() -> None:
    step = 2.0**-10
    value = np.array([[0.0, 1.0], [-2.0, 4.0]])
    steps = np.array([[-300.0, 0.0], [150.0, 800.0]])
    found = uniform_of(released(DiscreteGaussian((0.25, 0.5), step), value, value + steps * step), 5)
    inside = np.random.default_rng(5).random((2, 2))
    sd = np.array([0.25, 0.5]) / step
    wanted = special.ndtr((steps + inside - 0.5) / np.sqrt(sd**2 + 1 / 12))
    assert found == pytest.approx(wanted.ravel().tolist())


def test_choices_by_falling_score() -> None:
    value = np.array([[1.0, 0.0, 1.0, -1.0], [0.0, 3.0, 3.0, 3.0]])
    for output in ([0, 0], [1, 2], [3, 1], [2, 0]):
        found = uniform_of(released(Exponential(1.5), value, np.array(output)), 2)
        inside = np.random.default_rng(2).random(2)
        for row, own, place, part in zip(value.tolist(), output, found, inside, strict=True):
            weight = [math.exp(1.5 * one) for one in row]
            better = sum(w for w, v in zip(weight, row, strict=True) if v > row[own])
            better += sum(w for w, v in zip(weight[:own], row, strict=False) if v == row[own])
            assert place == pytest.approx((better + weight[own] * part) / sum(weight))
        first = [sum(math.exp(1.5 * one) for one in row[:own]) for row, own in zip(value.tolist(), output, strict=True)]
        places = implied._choices(
            released(Exponential(1.5), value, np.array(output)), np.random.default_rng(2), falling=False
        )
        whole = np.exp(1.5 * value)
        assert places == pytest.approx((first + whole[[0, 1], output] * inside) / whole.sum(axis=1))


def test_other_laws_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="leaves: the law of object"):
        uniforms(released(object(), VALUE, VALUE), np.random.default_rng(0))


# --- Tests ------------------------------------------------------------------------------------------------------------


def of(findings: list[Finding]) -> dict[str, Finding]:
    return {one.what: one for one in findings}


def correlated(normal: Any) -> tuple[float, str]:
    """The inverse of the mean likelihood ratio over distances and slopes, each by itself; where it is largest."""
    count, won = len(normal), []
    for distance in range(1, count):
        pairs = list(zip(normal[:-distance], normal[distance:], strict=True))
        product, square = sum(a * b for a, b in pairs), sum(a * a for a, _ in pairs)
        spread = 1 + 30 / count * square
        ratio = math.exp(30 / count * product**2 / (2 * spread)) / math.sqrt(spread)
        weight = 0.5 / max(distance * (distance - 1), 1)
        won.append((weight * ratio, f"{product / math.sqrt(square):.2f} deviations at distance {distance}"))
    return min(1.0, 1 / math.fsum(one for one, _ in won)), max(won)[1]


@pytest.mark.parametrize("name", ["Laplace", "Gaussian"])
def test_figures_of_a_family(name: str) -> None:
    """From the draws themselves, by formulas written out here."""
    generator = np.random.default_rng(7)
    noise = generator.laplace(size=(40, 5)) if name == "Laplace" else generator.normal(size=(40, 5))
    value = np.arange(200.0).reshape(40, 5)
    mechanism = Laplace(3.0) if name == "Laplace" else Gaussian(3.0)
    error = 3e-2
    found = of(noise_tests([released(mechanism, value[:20], value[:20] + 3 * noise[:20], "a"),
                            released(mechanism, value[20:], value[20:] + 3 * noise[20:], "b")], error))  # fmt: skip
    rest = error / (2 * implied.REST)
    flat = noise.ravel()
    u = stats.laplace.cdf(flat) if name == "Laplace" else stats.norm.cdf(flat)
    assert set(found) == {f"{name}: law", f"{name}: scale", f"{name}: no other error in it", f"{name}: correlation",
                          f"{name}: correlation of sizes", f"{name}: scale in every place", "noise is there at all",
                          "freshness", "sums of noise", "single values", "noise beside true values"}  # fmt: skip
    assert {one.what: one.allowed for one in found.values()} == {
        what: pytest.approx(error / 2 if what.endswith("scale") else rest) for what in found}  # fmt: skip
    sums = np.abs(noise) if name == "Laplace" else noise**2 / 2
    shape = 1.0 if name == "Laplace" else 0.5
    places = [(sums[:20], 100), (sums[20:], 100), (sums, 200)]  # two releases of one run, and their 100 entries
    places += [(pair, 2) for pair in (sums[:20].ravel() + sums[20:].ravel())]
    chances = [float(stats.gamma.cdf(np.sum(part), shape * count)) for part, count in places]
    least = found[f"{name}: scale in every place"]
    assert least.chance == pytest.approx(min(1.0, 103 * min(chances))) and ", of 103 places: " in least.seen
    usual = smallest_scale_error(name, 100, rest / 103)
    assert least.power.startswith(f"a scale {100 * usual:.2g}% too small in 100 draws of one release")
    law = found[f"{name}: law"]
    assert law.chance == pytest.approx(stats.kstest(u, "uniform").pvalue) and law.seen == "200 draws"
    assert law.power.startswith(f"a distance of {math.sqrt(math.log(2 / rest) / 400):.2g} ")
    normal = special.ndtri(u)
    related = found[f"{name}: correlation"]
    assert (related.chance, related.seen) == (pytest.approx(correlated(normal)[0]), correlated(normal)[1])
    needed = 31 / 30 * (2 * math.log(2 / rest) + math.log(31))
    assert related.power == f"a correlation of {math.sqrt(needed / 200):.2g} between neighbours"
    sizes = special.ndtri(2 * np.minimum(u, 1 - u))
    alike = found[f"{name}: correlation of sizes"]
    assert alike.chance == pytest.approx(correlated(sizes)[0])
    assert alike.seen == f"{correlated(sizes)[1]} without their signs"
    assert alike.power == related.power
    size = sum(abs(flat)) if name == "Laplace" else sum(flat**2) / 2
    degrees = 200 if name == "Laplace" else 100
    scale, wide = found[f"{name}: scale"], found[f"{name}: no other error in it"]
    assert scale.chance == pytest.approx(stats.gamma.cdf(size, degrees))
    assert wide.chance == pytest.approx(stats.gamma.sf(size, degrees))
    ratio = size / 200 if name == "Laplace" else math.sqrt(size / 100)
    assert scale.seen == f"200 draws, {ratio:.4f} of the scale" and wide.seen == f"{ratio:.4f} of the scale"
    assert scale.power.startswith(f"a scale {100 * smallest_scale_error(name, 200, error / 2):.2g}% too small")


@pytest.mark.parametrize("name", ["Laplace", "Gaussian"])
def test_pairs_of_one_size_and_signs_of_their_own(name: str) -> None:
    """Every second draw has the size of the one before; the signs are independent, and so are signed neighbours."""
    generator = np.random.default_rng(11)
    size = generator.exponential(size=200) if name == "Laplace" else np.abs(generator.normal(size=200))
    noise = np.repeat(size, 2) * generator.choice([-1.0, 1.0], 400)
    found = of(
        noise_tests([released(Laplace(1.0) if name == "Laplace" else Gaussian(1.0), np.zeros(400), noise)], 1e-3)
    )
    alike = found[f"{name}: correlation of sizes"]
    assert alike.chance < alike.allowed
    assert found[f"{name}: correlation"].chance > found[f"{name}: correlation"].allowed


def test_the_error_rate_is_shared_by_the_scales() -> None:
    generator = np.random.default_rng(8)
    value = np.zeros(50)
    both = [
        released(Laplace(1.0), value, generator.laplace(size=50)),
        released(Gaussian(1.0), value, generator.normal(size=50)),
    ]
    found = of(noise_tests(both, 1e-2))
    assert found["Laplace: scale"].allowed == found["Gaussian: scale"].allowed == pytest.approx(1e-2 / 4)
    table = np.zeros((30, 3))
    chosen = released(Exponential(1.0), table, generator.integers(0, 3, 30))
    alone = noise_tests([chosen], 1e-2)
    assert [one.what.removeprefix("choice: ") for one in alone] == ["law", "correlation", "order", "freshness",
                                                                    "coefficient"]  # fmt: skip
    assert all(one.allowed == pytest.approx(1e-2 / 2 / implied.REST) for one in alone) and noise_tests([], 1e-2) == []
    for error in (1e-2, 1e-6):
        found_all = noise_tests([*both, chosen], error)
        assert sum(one.allowed for one in found_all) <= error
    one = noise_tests([released(Laplace(1.0), [0.0], [0.5])], 1e-2)
    assert of(one)["Laplace: correlation"].chance == 1.0


MECHANISMS = [Laplace(2.0), Gaussian((1.0, 0.25)), DiscreteLaplace(2.0, 2.0**-9),
              DiscreteGaussian((0.5, 0.75), 2.0**-9), DiscreteLaplace(5.0, 4.0)]  # fmt: skip


def right(mechanism: Any, shape: tuple[int, ...], generator: np.random.Generator) -> Released:
    """Noise of the law, by numpy's samplers; values are on the grid."""
    step = getattr(mechanism, "step", 0.0)
    value = np.rint(generator.normal(0, 20, shape) * 64) / 64
    if isinstance(mechanism, DiscreteLaplace):
        success = -math.expm1(-step / mechanism.scale)
        steps = generator.geometric(success, shape) - generator.geometric(success, shape)
        return released(mechanism, np.rint(value / step) * step, (np.rint(value / step) + steps) * step)
    if isinstance(mechanism, DiscreteGaussian):
        noise = np.rint(generator.normal(size=shape) * np.array(mechanism.sd) / step) * step
        return released(mechanism, value, value + noise)
    draws = generator.laplace(size=shape) if isinstance(mechanism, Laplace) else generator.normal(size=shape)
    return released(mechanism, value, mechanism.apply(value, draws))


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_right_noise_is_rarely_accused_of_few_draws(mechanism: Any, count: int) -> None:
    """Each test at the chance that it is allowed, of 2 and 6 draws; a normal limit is wrong there by orders."""
    generator, accused = np.random.default_rng(count), dict[str, int]()
    for _ in range(100):
        for one in noise_tests([right(mechanism, (count, 2), generator)], 0.9):
            accused[one.what] = accused.get(one.what, 0) + (one.chance < one.allowed)
            assert one.allowed <= 0.45
    allowed = {what: 100 * (0.45 if what.endswith(": scale") else 0.45 / implied.REST) for what in accused}
    assert all(accused[what] <= stats.poisson.ppf(1 - 1e-4, allowed[what]) for what in accused), accused


@pytest.mark.parametrize("count", [2, 3, 8, 40])
def test_bets_on_correlations_have_mean_one(count: int) -> None:
    generator = np.random.default_rng(count)
    chances = np.array([implied._related("", generator.normal(size=count), "", 1e-3).chance for _ in range(2000)])
    for limit in (0.3, 0.05, 0.01):
        assert np.mean(chances < limit) <= limit


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
@pytest.mark.parametrize("releases", [1, 12])
def test_bets_on_values_have_mean_one_at_most(mechanism: Any, releases: int) -> None:
    generator, won = np.random.default_rng(releases), []
    for _ in range(80):
        runs = [right(mechanism, (4, 2), generator) for _ in range(releases)]
        own = [(one, np.clip(uniforms(one, generator), 1e-15, 1 - 1e-15)) for one in runs]
        won.append((copied(runs)[0], cancelling(own)[0], with_values(own)[0], singles(own)[0]))
    assert (np.exp(np.minimum(won, 3.0)).mean(axis=0)[:3] < 1.3).all()  # the last is the inverse of a chance
    assert (np.mean(np.array(won) > math.log(20), axis=0) <= 0.05).all()


@pytest.mark.parametrize("mechanism", [Laplace(2.0), DiscreteLaplace(2.0, 2.0**-9), DiscreteLaplace(5.0, 4.0),
                                       DiscreteGaussian((0.5, 0.75), 2.0**-9), Exponential(1.0)], ids=str)  # fmt: skip
def test_numbers_that_give_draws_are_apart_and_leave_none_out(mechanism: Any) -> None:
    """By whole steps the intervals follow each other, and each is as long as its step is likely."""
    if isinstance(mechanism, Exponential):
        table, picks = np.tile([1.0, 0.0, 2.0, 1.0], (4, 1)), np.arange(4)
        low, high = implied.ends(released(mechanism, table, picks))
        assert high == pytest.approx(np.cumsum(np.exp(table[0])) / np.exp(table[0]).sum())
    else:
        step = getattr(mechanism, "step", 0.5)
        steps = np.repeat(np.arange(-40.0, 41.0), 2).reshape(-1, 2)
        low, high = (end.reshape(-1, 2)[:, 0] for end in
                     implied.ends(released(mechanism, np.zeros(steps.shape), steps * step)))  # fmt: skip
        if isinstance(mechanism, Laplace):
            assert (low == high).all() and low == pytest.approx(stats.laplace.cdf(steps[:, 0] * step / 2))
            return
        if isinstance(mechanism, DiscreteLaplace):
            mass = np.exp(-np.abs(steps[:, 0]) * step / mechanism.scale) * math.tanh(step / mechanism.scale / 2)
            assert high - low == pytest.approx(mass, rel=1e-6)
    assert low[1:] == pytest.approx(high[:-1], abs=1e-14) and (low < high).all()


def test_public_draws_of_the_same_numbers() -> None:
    """A bet wins one over the chance where a number gives the draw, and a half where half of an interval does."""

    def draw(law: tuple[Any, ...], *values: float, at: int = 0, kind: Any = "draw") -> Drawn:
        return Drawn("d", kind, law, np.array(values), at)

    choice = replace(released(Exponential(1.0), np.zeros((3, 4)), np.array([0, 1, 3])), at=3)
    found = dict(shared_module._bets([choice], [draw(("uniform",), 0.1, 0.3, at=2), draw(("integers", 2), 1, at=1)]))
    same, chance = found["choices have the public draw of their place"]
    assert same.tolist() == [0.0, 0.0, 0.0] and chance.tolist() == [0.25] * 3  # the whole number comes first
    assert found["choices have the public number of their place"][0].tolist() == [1.0, 1.0]
    assert found["choices have turned over the public draw of their place"][0].tolist() == [0.5, 0.0, 1 - 1.0]
    coins = draw(("poisson", 0.25), 0, -1, -1, kind="assign")
    same, chance = dict(shared_module._bets([], [coins, draw(("uniform",), 0.1, 0.3, 0.2)]))[
        "coins of samples have the public draw of their place"]  # fmt: skip
    assert same.tolist() == [1.0, 1.0, 0.0] and chance.tolist() == [0.25, 0.75, 0.75]
    blocks = draw(("partition", (0.25, 0.5)), 1, -1, 0, kind="assign")
    same, chance = dict(shared_module._bets([], [blocks, draw(("choice", (1.0, 1.0, 2.0)), 1, 2, 2)]))[
        "coins of samples have the public draw of their place"]  # fmt: skip
    assert same.tolist() == [1.0, 0.5, 0.0] and chance.tolist() == [0.5, 0.25, 0.25]
    noise = replace(released(Laplace(1.0), np.zeros(2), stats.laplace.ppf([0.3, 0.9])), at=1)
    bets = dict(shared_module._bets([noise], [draw(("uniform",), 0.8, 0.9, 0.3, 0.2)]))
    assert bets["values of noise have any public number"][0].tolist() == [0.25, 0.25]
    assert bets["values of noise have turned over any public number"][0].tolist() == [0.0, 0.0]
    assert bets["values of noise have by size any public number"][0].tolist() == [0.0, 0.25]
    assert bets["values of noise have turned over by size any public number"][0].tolist() == [0.0, 0.25]
    won, seen = shared([([noise], [draw(("uniform",), 0.3, 0.9)])]) or (0.0, "")
    assert won > 25 and seen.startswith("2 of 2 secret draws have the public draw of their place, e^")
    assert shared([([noise], [])]) is None and shared([([], [draw(("uniform",), 0.3)])]) is None and shared([]) is None
    dealt = draw(("without-replacement", 0.5), 0, -1, kind="assign"), draw(("partition", (1.0,)), 0, kind="assign")
    assert shared([([], [*dealt, draw(("uniform",), 0.3)])]) is None


@pytest.mark.parametrize("mechanism", [*MECHANISMS, DiscreteLaplace(1.0, 2.0), Exponential(1.0), None], ids=str)
@pytest.mark.parametrize("law", [("uniform",), ("integers", 3), ("choice", (1.0, 3.0))], ids=str)
def test_bets_on_public_numbers_have_mean_one_at_most(mechanism: Any, law: Any) -> None:
    """Of coins for None."""
    generator, won = np.random.default_rng(len(str(mechanism))), []
    for _ in range(150):
        one: list[Any] = [right(mechanism, (4, 2), generator)] if mechanism and mechanism != Exponential(1.0) else []
        if mechanism == Exponential(1.0):
            table = generator.normal(size=(8, 3))
            picks = (table + generator.gumbel(size=table.shape)).argmax(axis=1)
            one = [released(mechanism, table, picks)]
        coins = [] if mechanism else [Drawn("c", "assign", ("partition", (0.5, 0.2)),
                                            generator.choice([0, 1, -1], 8, p=[0.5, 0.2, 0.3]))]  # fmt: skip
        won.append((shared([(one, [*coins, Drawn("d", "draw", law, sample_law(generator, law, 8))])]) or (0.0, ""))[0])
    assert np.exp(np.minimum(won, 3.0)).mean() < 1.2 and np.mean(np.array(won) > math.log(20)) <= 0.05


@pytest.mark.parametrize(("rows", "options"), [(1, 2), (6, 5)])
@pytest.mark.parametrize("spread", [0.0, 0.5, 5.0])
def test_bets_on_choices_have_mean_one_at_most(rows: int, options: int, spread: float) -> None:
    """Utilities that are equal, alike and far apart, some in other rows again; an option may be excluded."""
    generator, won = np.random.default_rng(rows), []
    for _ in range(80):
        made = []
        for k in range(12):
            table = np.round(generator.normal(0, spread, (rows, options)), 1)
            table[generator.random(table.shape) < 0.1] = -np.inf
            table[:, 0] = 0.0
            p = np.exp(1.5 * table) / np.exp(1.5 * table).sum(axis=1, keepdims=True)
            drawn = (np.cumsum(p, axis=1) < generator.random((rows, 1))).sum(axis=1)
            made.append(released(Exponential(1.5), table, np.minimum(drawn, options - 1), f"level {k % 4}"))
        assert np.allclose(np.concatenate([chosen.chances_of(one).sum(axis=1) for one in made]), 1)
        won.append((chosen.repeated(made)[0], chosen.other_laws(made)[0]))
    assert (np.exp(np.minimum(won, 3.0)).mean(axis=0) < 1.3).all()
    assert (np.mean(np.array(won) > math.log(20), axis=0) <= 0.05).all()


def test_a_coefficient_that_would_be_found() -> None:
    """The gain of a factor is its divergence from what is due, in every row."""
    table = np.tile([0.0, 1.0, 2.0], (40, 1))
    one = released(Exponential(0.5), table, np.zeros(40, dtype=np.int64))
    due, twice = (np.exp(c * table[0]) / np.exp(c * table[0]).sum() for c in (0.5, 1.0))
    gain = 40 * float((twice * np.log(twice / due)).sum())
    assert chosen.least_factor([one], gain - 1e-9) == 2.0 and chosen.least_factor([one], gain + 1e-9) == 3.0
    assert chosen.least_factor([one], 40 * math.log(1 / due[2]) - 1e-9) == math.inf
    assert math.isnan(chosen.least_factor([one], 1e3))


def test_tails_that_no_draw_reaches() -> None:
    """The chance of it, exactly: of all draws, of one side, of one run, release or entry; a half each, and a third."""
    u = np.array([0.3, 0.4, 0.6, 0.55])
    pair = [
        (released(Laplace(1.0), np.zeros(2), np.zeros(2), name), part) for name, part in (("a", u[:2]), ("b", u[2:]))
    ]
    own = places_of([one for one, _ in pair])
    total, seen = single._tails(u, np.zeros(4), own)
    assert total == pytest.approx(-4 * math.log(0.4) - math.log(6))
    assert seen == "4 draws without the tails of chance 0.6"
    flat = np.concatenate([np.linspace(0.001, 0.999, 500), np.full(500, 0.5)])
    both = [(released(Laplace(1.0), np.zeros(500), np.zeros(500), name), np.array([])) for name in "ab"]
    total, seen = single._tails(flat, np.full(1000, 1e-3), places_of([one for one, _ in both]))
    assert total == pytest.approx(-500 * math.log(1e-3) - math.log(3 * 2 * 6))
    assert seen == "500 draws without the tails of chance 1 in b"


def test_sizes_of_other_scales_and_shapes_are_compared() -> None:
    """In the outputs' units and in those of the scale; across shapes by any place; noise that is not there is none."""
    generator = np.random.default_rng(3)
    z = generator.normal(size=(6, 4))
    wide = [released(Gaussian(2.0**k), np.ones(4), Gaussian(2.0**k).apply(np.ones(4), z[k])) for k in range(6)]
    assert copied(wide)[0] < 1
    for k in (0, 1, 2):
        again = [released(Gaussian(s), np.ones(4), Gaussian(s).apply(np.ones(4), z[k] * f)) for s, f in
                 ((16.0, 1.0), (16.0, 2.0**k / 16))]  # fmt: skip
        assert all(copied([*wide, one])[0] > 20 for one in again)
    pair = [released(Laplace(1.0), np.zeros(6), z.ravel()[:6]), released(Laplace(1.0), np.zeros((2, 3)), -z.ravel()[:6].reshape(2, 3)[::-1])]  # fmt: skip # noqa: E501
    total, seen = copied(pair)
    assert total > 50 and seen.startswith("6 of 12 values of noise have a size from any draw before")
    bare = [released(Laplace(1.0), np.ones(6), np.ones(6))] * 3
    assert copied(bare)[0] <= 0


@pytest.mark.parametrize(
    ("rule", "again"),
    [
        ("any draw before", lambda noise, k, r: noise[k - 1 - r.integers(k - 1, size=3), r.integers(4, size=3)]),
        ("the same release", lambda noise, k, r: noise[k, :4][::-1][:3]),
        ("the same place of releases before", lambda noise, k, r: noise[r.integers(k, size=3), [4, 5, 6]]),
        ("the same place of that release of other runs", lambda noise, k, r: noise[k - 30, 4:7] if k >= 30 else None),
        ("the release before", lambda noise, k, r: noise[k - 1, r.permutation(7)[:3]]),
        ("the same place of the release before", lambda noise, k, r: noise[k - 1, 4:7] if k % 2 else None),
    ],
)
def test_each_rule_of_copies_tells_best_what_it_is_about(rule: str, again: Any) -> None:
    """60 releases of eight values of coarse noise, 30 a run; three of each are earlier ones."""
    generator = np.random.default_rng(9)
    noise = generator.laplace(size=(60, 8))
    for k in range(2, 60):
        found = again(noise, k, generator)
        if found is not None:
            noise[k, 4:7] = found * generator.choice([-1, 1], 3)
    step = 2.0 ** (-30 if rule == "any draw before" else -10)
    runs = [released(DiscreteLaplace(1.0, step), np.zeros(8), np.rint(one / step) * step, f"tree {k % 30}")
            for k, one in enumerate(noise)]  # fmt: skip
    total, seen = copied(runs)
    assert total > 20 and f" have a size from {rule}, e^" in seen


def test_sums_of_blocks() -> None:
    found = {name: values.sum(axis=1).tolist() for name, values in blocks(np.arange(10.0).reshape(2, 5))}
    assert found == {
        "all values": [45.0], "lines": [10.0, 35.0],
        "2 neighbours": [1.0, 5.0, 11.0, 15.0], "4 neighbours": [6.0, 26.0],
        "lines along axis 0": [5.0, 7.0, 9.0, 11.0, 13.0],
    }  # fmt: skip
    assert [name for name, _ in blocks(np.ones(4))] == ["all values", "2 neighbours"]
    assert [name for name, _ in blocks(np.ones(2))] == ["all values"] and not list(blocks(np.ones(1)))
    assert cancelling([(released(Laplace(1.0), [0.0], [1.0]), np.array([0.5]))]) == (0.0, "no release of two values")


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_the_density_of_a_sum_of_laplace_draws_is_highest_at_zero(count: int) -> None:
    """A sum is a difference of two gamma variables: the integral of the square of their density."""
    x = np.linspace(1e-9, 60, 400_001)
    area = float((stats.gamma.pdf(x, count) ** 2).sum() * (x[1] - x[0]))
    assert cancelling_module._peak(count) == pytest.approx(area * math.sqrt(count), rel=1e-3)


@pytest.mark.parametrize(("name", "shape"), [("Laplace", 1.0), ("Gaussian", 0.5)])
def test_a_scale_error_of_the_stated_power(name: str, shape: float) -> None:
    """With that factor a test of this error rate finds it in 9 of 10 cases, by the gamma distribution."""
    for count in (10, 500):
        smallest = smallest_scale_error(name, count, 1e-4)
        factor = (1 - smallest) if name == "Laplace" else (1 - smallest) ** 2
        bound = stats.gamma.ppf(1e-4, shape * count)
        assert stats.gamma.cdf(bound / factor, shape * count) == pytest.approx(0.9)
        assert smallest_scale_error(name, count, 1e-4, 0.5) < smallest < 1


def test_values_without_noise_are_counted() -> None:
    value = np.arange(12.0)
    noisy = value + np.where(np.arange(12) < 2, 0.0, 0.3)
    found = of(
        noise_tests([released(Laplace(1.0), value, noisy, "a"), released(Laplace(1.0), value, value, "b")], 1e-3)
    )
    there = found["noise is there at all"]
    expected = 24 * 2.0**-32
    assert there.seen == f"14 values without noise, {expected:.3g} expected; without any noise: b"
    assert there.chance == pytest.approx(stats.poisson.sf(13, expected * 1.01))
    assert there.power == "2 values without noise"
    full = implied._absent([released(Laplace(1.0), value, value + 0.3)])[0]
    assert full.chance == 1.0 and full.seen.startswith("0 values")
    step = 0.5
    grid = implied._absent(
        [
            released(DiscreteLaplace(4.0, step), value, value + step * (np.arange(12) % 3)),
            released(DiscreteGaussian((1.0, 2.0), step), np.zeros((3, 2)), np.ones((3, 2))),
        ]
    )[0]
    expected = 12 * step / 8 + 3 * step / 2 + 3 * step / 4
    assert grid.seen == f"4 values without noise, {expected:.3g} expected"
    assert grid.chance == pytest.approx(stats.poisson.sf(3, expected * 1.01))
    assert grid.power == f"{math.ceil(expected + 6 * math.sqrt(expected) + 1)} values without noise"
    assert implied._absent([released(Exponential(1.0), np.zeros((2, 2)), np.array([0, 1]))]) == []


def test_equal_noise_in_two_releases_is_told() -> None:
    noise = np.array([0.3, -1.2, 0.8, 2.0, -0.1, 0.55, 1.5, -2.5])
    a, b = np.arange(8.0), 10 - np.arange(8.0)
    twice = [released(Laplace(1.0), a, a + noise, "a"), released(Laplace(2.0), b, b + 2 * noise, "b")]
    found = implied._repeated(twice)[0]
    assert (found.chance, found.seen) == (0.0, "b (release 2) has the noise of a (release 1)")
    for again in (noise[::-1], -noise, 3 * noise, np.sort(noise)):
        assert implied._repeated([twice[0], released(Laplace(2.0), b, b + again, "b")])[0].chance == 0.0
    fresh = implied._repeated([twice[0], released(Laplace(2.0), b, b + np.abs(noise) + 0.1, "b")])[0]
    assert (fresh.chance, fresh.seen) == (1.0, "2 releases of 8 values and more compared")
    assert implied._repeated([released(Laplace(1.0), a[:7], (a + noise)[:7])] * 2) == []
    assert implied._repeated([released(Laplace(1.0), a, a)] * 2)[0].chance == 1.0  # no noise at all is told elsewhere
    assert implied._repeated([released(Exponential(1.0), np.zeros((8, 2)), np.zeros(8, dtype=int))] * 2) == []
    long = np.concatenate([noise, [5.0]]), np.concatenate([noise, [7.0]])
    nine = np.arange(9.0)
    assert implied._repeated([released(Gaussian(1.0), nine, nine + one) for one in long])[0].chance == 0.0
    steps = np.array([1.0, -2.0, 3.0, 0.0, 5.0, 1.0, -4.0, 2.0]) / 4
    grid = [released(DiscreteLaplace(1.0, 0.25), a + move, a + steps, "a") for move in (0.0, 0.1)]
    assert implied._repeated(grid)[0].chance == 0.0
    wide = [released(DiscreteGaussian((s, 2 * s), 0.25), np.zeros((4, 2)), s * steps.reshape(4, 2)) for s in (1.0, 2.0)]
    assert implied._repeated(wide)[0].chance == 0.0


def test_evidence_is_a_ratio_of_densities() -> None:
    first = [released(Laplace(2.0), VALUE, VALUE + 0.5), released(Gaussian(1.0), VALUE, VALUE - 0.25)]
    other = [released(Laplace(2.0), VALUE + 1.0, VALUE + 0.5), released(Gaussian(1.0), VALUE - 1.0, VALUE - 0.25)]
    laplace = 6 * (0.5 - 0.5) / 2
    gauss = 6 * (0.25**2 - 0.75**2) / 2
    assert evidence(first, other) == pytest.approx(laplace + gauss)
    assert evidence(first, first) == 0.0
    split, fewer = np.array([[0.0, 1.0, 3.0]]), np.array([[3.0, 0.0]])  # its options have other numbers
    choices = [released(Exponential(1.0), table, np.array([k])) for table, k in ((split, 2), (fewer, 0))]
    of_three, of_two = (math.exp(3) / sum(math.exp(one) for one in table[0]) for table in (split, fewer))
    assert evidence(choices[:1], choices[1:]) == pytest.approx(math.log(of_two / of_three))
