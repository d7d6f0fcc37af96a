"""Chances of draws, noise at its ends, and owners' bytes, against sums and formulas written down here."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from refdp.conform import implied, judge
from refdp.engines.owners import Afar
from refdp.errors import MessageError


def test_the_chance_of_draws_is_the_least_of_nine_tests() -> None:
    """Nine times that of shape, scale, evenness, neighbours, distances and mirrors, with and without signs.

    Of 60 draws there is none of evenness. Nothing where values repeat.
    """
    decided = set()
    for seed, factor in ((0, 1.0), (1, 1.0), (2, 1.0), (3, 1.1), (4, 0.9), (5, 1.0), (6, 1.0), (7, 1.0)):
        draws = np.random.default_rng(seed).exponential(size=60) * factor
        if seed in (5, 6):
            draws = np.sort(draws)[:: 1 if seed == 5 else -1]  # neighbours go together
        if seed == 7:  # far and near in turn: each goes against the next
            draws = np.sort(draws)[np.argsort([k // 2 if k % 2 else 59 - k // 2 for k in range(60)])]
        uniform = 1 - np.exp(-draws)
        shape = stats.kstest(uniform, "uniform").pvalue
        tails = [2 * min(u, 1 - u) for u in uniform.tolist()]
        size = -math.fsum(map(math.log, tails))  # of 60 exponential variables: a gamma variable of shape 60
        below = stats.gamma.cdf(size, 60)
        scale = 2 * min(below, 1 - below)
        signs, sizes = (math.erfc(abs(z(values)) / math.sqrt(2)) for values in (uniform.tolist(), tails))
        both = uniform.tolist(), tails
        chances = [shape, scale, signs, sizes, *map(far, both), *map(mirrored, both)]
        due = min(1.0, *(9 * one for one in chances))
        assert judge.drawn_so(["exponential"], draws) == pytest.approx(due, rel=1e-6)
        decided.add(int(np.argmin(chances)))
    assert len(decided) > 2
    twice = np.repeat(np.random.default_rng(9).exponential(size=600), 2)[np.random.default_rng(1).permutation(1200)]
    assert judge.drawn_so(["exponential"], twice) == 0.0


def z(values: list[float]) -> float:
    """Products of neighbours about the middle, 1/144 each in variance."""
    products = [(a - 0.5) * (b - 0.5) for a, b in itertools.pairwise(values)]
    return 12 * math.fsum(products) / math.sqrt(len(products))


def far(values: list[float]) -> float:
    """The worst of all distances up to three quarters of the numbers, times how many there are."""
    most = 3 * len(values) // 4
    sums = [math.fsum((a - 0.5) * (b - 0.5) for a, b in zip(values, values[by:], strict=False))
            / math.sqrt(len(values) - by) for by in range(1, most + 1)]  # fmt: skip
    return most * math.erfc(12 * max(map(abs, sums)) / math.sqrt(2))


def mirrored(values: list[float]) -> float:
    """The worst of all middles with as many pairs about them as an eighth of the numbers, times how many there are."""
    found = []
    for both in range(2 * len(values) - 1):
        pairs = [(i, both - i) for i in range(len(values)) if i < both - i < len(values)]
        if len(pairs) >= len(values) // 8:
            found.append(math.fsum((values[i] - 0.5) * (values[j] - 0.5) for i, j in pairs) / math.sqrt(len(pairs)))
    return len(found) * math.erfc(12 * max(map(abs, found)) / math.sqrt(2))


def test_uneven_and_even_numbers_are_no_chance() -> None:
    """By chi-square in equal parts of 50 numbers and more, a thousand parts at most; of few numbers nothing is told."""
    spread = np.arange(0.5, 5000) / 5000
    assert judge._even(spread) < 1e-60 and judge._even(spread[:99]) == 1.0 and judge._mirrored([0.3]) == 1.0
    right = np.random.default_rng(0).random(5000)
    counts, _ = np.histogram(right, 100, (0.0, 1.0))
    due = stats.chisquare(counts).pvalue
    assert judge._even(right) == pytest.approx(2 * min(due, 1 - due)) and 0.01 < due < 0.99
    assert judge._even(np.repeat(right[:2500], 2)) < 1e-7 and judge._even(np.ones(5000)) == 0.0


def test_how_alike_neighbours_are_of_few_numbers() -> None:
    assert judge._related([0.3]) == 1.0 and judge._related([]) == 1.0
    assert judge._related([0.75, 1.0]) == pytest.approx(math.erfc(12 * 0.125 / math.sqrt(2)))
    assert judge._related([0.25, 0.75, 0.25]) == pytest.approx(math.erfc(12 * 0.125 / 2))


@pytest.mark.parametrize("name", ["discrete-laplace", "discrete-gaussian"])
def test_whole_numbers_beyond_all_chance_are_at_the_ends(name: str) -> None:
    """The distribution function begins at 0 and ends at 1; 60 scales and 60 steps are summed on either side."""
    scale = 2.0 if name == "discrete-laplace" else math.sqrt(2.0)
    far = int(60 * scale) + 60
    places = judge._between(name, Fraction(2), np.array([-1e6, -far - 1.0, -far, far, far + 1.0, 1e6]))
    assert np.all(places[:3] >= 0) and np.all(places[:3] < 1e-20) and places[3:].tolist() == pytest.approx([1.0] * 3)
    inside = np.random.default_rng(0).random(1)
    weight = {
        k: math.exp(-abs(k) / 2) if name == "discrete-laplace" else math.exp(-k * k / 4) for k in range(-300, 301)
    }
    due = (sum(w for k, w in weight.items() if k < -1) + inside[0] * weight[-1]) / sum(weight.values())
    assert judge._between(name, Fraction(2), np.array([-1.0])) == pytest.approx([due])


def test_sizes_of_noise_at_both_ends_are_finite() -> None:
    """-log of twice the smaller tail, half the square of a normal number; the ends are moved to 1e-15 from them."""
    for name in ("Laplace", "Gaussian"):
        found = implied._sizes(name, np.array([0.0, 1e-15, 0.2, 0.5, 0.8, 1.0]))
        assert np.isfinite(found).all() and found[0] == found[1] == pytest.approx(found[-1], rel=1e-2)
        assert found[2] == pytest.approx(found[4]) and found[3] == 0.0
    assert implied._sizes("Laplace", np.array([0.2]))[0] == pytest.approx(-math.log(0.4))
    assert implied._sizes("Gaussian", np.array([0.2]))[0] == pytest.approx(0.8416212335729143**2 / 2)
    assert [implied._degrees(name, 7) for name in ("Laplace", "Gaussian")] == [7, 3.5]


def test_how_alike_draws_of_noise_are_at_each_distance() -> None:
    """Distance, weight, sum of products, sum of squares of the earlier ones; a correlation is normal, of variance 1."""
    normal = np.tile([3.0, -2.5, 2.0], 10)
    found: Any = implied._related("what", normal, ", where", 0.01)
    ratios = []
    for distance in range(1, 30):
        product, square = float(normal[:-distance] @ normal[distance:]), float(normal[:-distance] @ normal[:-distance])
        weight = 0.5 if distance == 1 else 0.5 / (distance * (distance - 1))
        ratios.append(weight * math.exp(product**2 / (2 * (1 + square))) / math.sqrt(1 + square))
    assert found.chance == pytest.approx(1 / math.fsum(ratios)) and max(ratios) == ratios[2]
    product, square = 9 * 19.25, 9 * 19.25
    assert (found.what, found.seen) == ("what", f"{product / math.sqrt(square):.2f} deviations at distance 3, where")
    needed = 31 / 30 * (2 * math.log(200) + math.log(31))
    assert found.power == f"a correlation of {math.sqrt(needed / 30):.2g} between neighbours" and found.allowed == 0.0


def test_an_owners_bytes_are_counted_from_none() -> None:
    """There, back, and calls; an owner that does not answer costs what it was sent."""
    answers = {1: b"four", 2: None, 3: b""}
    heard: list[Any] = []
    owner = Afar(lambda data, number: heard.append((data, number)) or answers[number])
    assert owner.size == [0, 0, 0] and owner.size is not Afar(owner.call).size
    assert owner.answer(3) == b"" and owner.size == [0, 0, 1]
    owner.hear(b"abc")
    assert owner.answer(1) == b"four" and owner.size == [3, 4, 2]
    assert owner.answer(2) == b"" and owner.size == [6, 4, 3]
    assert heard == [(b"", 3), (b"abc", 1), (b"abc", 2)]
    for refused in (owner.judge, owner.measure):
        with pytest.raises(MessageError, match="round 4: owners elsewhere"):
            refused(4)


@pytest.mark.parametrize("count", [2, 3, 5, 8, 9])
def test_draws_that_come_again_at_any_distance(count: int) -> None:
    """The largest of the correlations at distances up to three quarters, each summed by itself, in both directions."""
    uniform = np.random.default_rng(count).random(count)
    centred = uniform - 0.5
    lags = range(1, 3 * count // 4 + 1)
    sums = [abs(sum(12 * centred[i] * centred[i + k] for i in range(count - k))) / (count - k) ** 0.5 for k in lags]
    assert judge._far(uniform) == pytest.approx(len(lags) * math.erfc(max(sums) / math.sqrt(2)))


def test_one_draw_comes_again_at_no_distance() -> None:
    assert judge._far([0.25]) == judge._far([0.75]) == 1.0
