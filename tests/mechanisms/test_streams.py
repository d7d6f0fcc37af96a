"""What the exact samplers make of given words: the same numbers, and as many words, on every machine."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.errors import InvalidParameter
from refdp.noise import rational, samplers
from refdp.noise.draws import Draws
from refdp.noise.samplers import GeneratorBits


class Whole:
    """Uniform integers only, from numpy: what is no source of words."""

    def __init__(self, seed: int) -> None:
        self.bits = GeneratorBits(np.random.default_rng(seed))

    def randbelow(self, n: int) -> int:
        return self.bits.randbelow(n)


class Listed:
    """Words that are given; `asked` counts those beyond them, which are 7."""

    def __init__(self, given: list[int]) -> None:
        self.given, self.asked = given, 0

    def words(self, count: int) -> np.ndarray:
        listed, self.given = self.given[:count], self.given[count:]
        self.asked += count - len(listed)
        return np.array(listed + [7] * (count - len(listed)), dtype=np.uint64)


def table(rows: int, count: int) -> np.ndarray:
    found = np.random.default_rng(count).normal(size=(rows, count)) * 3
    found[::3, 1] = -np.inf
    return found


WORDS: dict[str, Callable[[GeneratorBits], Any]] = {
    "laplace of a third": lambda bits: samplers.discrete_laplace(Fraction(1, 3), 50, bits),
    "laplace, two axes": lambda bits: samplers.discrete_laplace(Fraction(7, 2), (4, 5), bits),
    "laplace of many digits": lambda bits: samplers.discrete_laplace(Fraction(1234.56789), 40, bits),
    "laplace, tiny": lambda bits: samplers.discrete_laplace(Fraction(5, 2**62), 9, bits),
    "laplace, tinier": lambda bits: samplers.discrete_laplace(Fraction(3, 2**63 + 1), 9, bits),
    "laplace, large": lambda bits: samplers.discrete_laplace(Fraction(2**56 - 1, 2**20), 300, bits),
    "laplace, too large for words": lambda bits: samplers.discrete_laplace(Fraction(2**56, 3), 5, bits),
    "gaussian of a half": lambda bits: samplers.discrete_gaussian(Fraction(1, 2), 300, bits),
    "gaussian, listed": lambda bits: samplers.discrete_gaussian(Fraction(99.5), (2, 3, 50), bits),
    "gaussian, the widest that is listed": lambda bits: samplers.discrete_gaussian(Fraction(4096**2 - 1), 300, bits),
    "gaussian, the narrowest that is not": lambda bits: samplers.discrete_gaussian(Fraction(4096**2), 20, bits),
    "gaussian, few": lambda bits: samplers.discrete_gaussian(Fraction(5001**2, 3) * 7, 64, bits),
    "gaussian, more than few": lambda bits: samplers.discrete_gaussian(Fraction(5001**2, 3) * 7, 65, bits),
    "gaussian, too wide for words": lambda bits: samplers.discrete_gaussian(Fraction(2**92), 3, bits),
    "options": lambda bits: samplers.sample_exponential(table(40, 7), 0.75, bits),
    "one option": lambda bits: samplers.sample_exponential([[2.0], [3.0]], 1.0, bits),
    "below 1, 2, 3, 5, 2^40 + 1": lambda bits: [
        samplers.uniform_below(n, 30, bits) for n in (1, 2, 3, 5, 2**40 + 1)
    ],
    "geometric": lambda bits: samplers.geometrics(400, bits),
    "decisions": lambda bits: samplers.bernoulli_exps(
        np.arange(200) / 40, lambda place: Fraction(place, 40), bits
    ),
    "integers one by one": lambda bits: [bits.randbelow(n) for n in (2, 3, 1, 2**70, 10**9, 2**511, 2**600, 6, 2)],
}  # fmt: skip
WHOLE: dict[str, Callable[[Whole], Any]] = {
    "laplace": lambda bits: samplers.discrete_laplace(Fraction(7, 2), (4, 5), bits),
    "gaussian": lambda bits: samplers.discrete_gaussian(Fraction(99, 2), (3, 7), bits),
    "options": lambda bits: samplers.sample_exponential(table(9, 5), Fraction(3, 4), bits),
    "decisions": lambda bits: [rational.bernoulli_exp(Fraction(k, 7), bits) for k in range(60)],
}  # fmt: skip


def digest(found: Any) -> int:
    """Of the numbers, and for arrays of their shape."""
    if isinstance(found, np.ndarray):
        return zlib.crc32(repr(found.shape).encode() + np.ascontiguousarray(found.astype("<i8")).tobytes())
    return zlib.crc32(repr([one.tolist() if isinstance(one, np.ndarray) else one for one in found]).encode())


@pytest.mark.parametrize("name", WORDS)
def test_words_become_these_numbers(name: str) -> None:
    """A record of a seeded run, not a truth: what seeds, tapes and recorded runs rest on. With the word after it."""
    bits = GeneratorBits(np.random.default_rng(71))
    assert (digest(WORDS[name](bits)), int(bits.words(1)[0]) % 10**6) == KEPT[name]


@pytest.mark.parametrize("name", WHOLE)
def test_integers_become_these_numbers(name: str) -> None:
    """A record as before, of sources that give integers one by one."""
    bits = Whole(72)
    assert (digest(WHOLE[name](bits)), bits.randbelow(10**6)) == KEPT_WHOLE[name]


KEPT: dict[str, tuple[int, int]] = {
    "laplace of a third": (3937926881, 477327),
    "laplace, two axes": (2259902739, 757108),
    "laplace of many digits": (1862434542, 828948),
    "laplace, tiny": (1117580100, 140134),
    "laplace, tinier": (1117580100, 410948),
    "laplace, large": (2727000300, 239230),
    "laplace, too large for words": (122767038, 491112),
    "gaussian of a half": (524896876, 598220),
    "gaussian, listed": (458674203, 598220),
    "gaussian, the widest that is listed": (3044402805, 598220),
    "gaussian, the narrowest that is not": (80064940, 816837),
    "gaussian, few": (920857093, 485667),
    "gaussian, more than few": (2626553540, 710197),
    "gaussian, too wide for words": (3933828983, 145874),
    "options": (3466905304, 716176),
    "one option": (3341427142, 255702),
    "below 1, 2, 3, 5, 2^40 + 1": (862602660, 290395),
    "geometric": (2955070901, 257188),
    "decisions": (404947202, 361829),
    "integers one by one": (725151891, 491112),
}
KEPT_WHOLE: dict[str, tuple[int, int]] = {
    "laplace": (3734519014, 563930),
    "gaussian": (3924078363, 617886),
    "options": (1398811619, 657153),
    "decisions": (1241673122, 128222),
}


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.Philox, np.random.MT19937])
def test_words_are_the_generators_bytes(kind: Any) -> None:
    """Also after a draw of 32 bits, of which a half is left over."""
    for half in (False, True):
        one, other = np.random.Generator(kind(5)), np.random.Generator(kind(5))
        for generator in (one, other) if half else ():
            generator.integers(0, 2**32, dtype=np.uint32)
        found = GeneratorBits(one).words(5)
        assert found.dtype == np.uint64 and found.tobytes() == other.bytes(40)


def test_a_pool_of_bits_is_used_up_from_its_low_end() -> None:
    """64 bytes at a time, whole numbers below 2^k from k bits."""
    pool = int.from_bytes(np.random.default_rng(3).bytes(192), "little")
    bits = GeneratorBits(np.random.default_rng(3))
    at = 0
    for size in (1, 500, 11, 3, 700, 64):
        assert bits.randbelow(2**size) == pool >> at & (2**size - 1)
        at += size
    assert bits.randbelow(1) == 0 and bits.randbelow(2) == pool >> at & 1


# --- Numbers whose digits are drawn as needed -------------------------------------------------------------------------


def test_digits_are_drawn_64_at_a_time() -> None:
    uniform = rational.Uniform(5, Listed([9, 2**64 - 1]))
    assert uniform.bounds() == (Fraction(5, 2**53), Fraction(6, 2**53))
    assert uniform.refine() == 117 // 3 + 20
    assert uniform.bounds() == (Fraction(5 * 2**64 + 9, 2**117), Fraction(5 * 2**64 + 10, 2**117))
    assert uniform.refine() == 181 // 3 + 20
    assert uniform.bounds()[1] == Fraction(5 * 2**64 + 10, 2**117)


@pytest.mark.parametrize("decimals", [9, 40, 75])
@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(22, 7), Fraction(901), Fraction(2**14)])
def test_bounds_of_an_exponential_are_close(x: Fraction, decimals: int) -> None:
    """Around e^-x by Decimal of 120 digits; within two units of the last place of the exponential and of x."""
    low, high = rational.exp_bounds(x, decimals)
    with localcontext() as context:
        context.prec, context.Emin = 120, -(10**9)
        true = Fraction((-Decimal(x.numerator) / Decimal(x.denominator)).exp())
    assert 0 < low < true < high or (x == 0 and low < 1 < high)
    assert high - low <= (3 + x) * 10 * true / 10**decimals


def test_far_out_an_exponential_is_below_all_digits() -> None:
    assert rational.exp_bounds(Fraction(2**14) + Fraction(1, 10**9), 40) == (0, Fraction(1, 2 ** (2**14)))
    assert rational.exp_bounds(Fraction(2**14), 40)[0] > 0


def borders(masses: list[Decimal]) -> list[Decimal]:
    """The sums of masses, as shares of the whole."""
    return [one / sum(masses) for one in itertools.accumulate(masses)]


def turns(border: Decimal, answer: Callable[[rational.Uniform], int]) -> list[int]:
    """The answers for uniform numbers just below and above a border: by 53 digits, and by 64 more. None ask in vain."""
    digits, rest = divmod(int(border * 2**117), 2**64)
    found = []
    for first, more in ((digits - 1, None), (digits, rest - 1), (digits, rest + 1), (digits + 1, None)):
        bits = Listed([] if more is None else [more])
        found.append(answer(rational.Uniform(first, bits)))
        assert bits.asked == 0 and not bits.given
    return found


@pytest.mark.parametrize("sigma2", [Fraction(1, 3), Fraction(1), Fraction(9, 4), Fraction(50)])
def test_sizes_turn_at_the_exact_sums(sigma2: Fraction) -> None:
    """|Z| of a discrete Gaussian, its masses with 80 digits: 0 counts once, all else twice."""
    with localcontext() as context:
        context.prec = 80
        twice = Decimal(2 * sigma2.numerator) / sigma2.denominator
        masses = [(2 if k else 1) * (-Decimal(k * k) / twice).exp() for k in range(200)]
        for k, border in enumerate(borders(masses)[:5]):
            if border * 2**53 < 2**53 - 2:
                assert turns(border, lambda u: rational.magnitude(sigma2, u)) == [k, k, k + 1, k + 1]
    assert rational.magnitude(sigma2, rational.Uniform(0, Listed([]))) == 0


def test_the_farthest_sizes_are_found_after_more_digits() -> None:
    """Nines and more nines: the last size that so many digits can tell."""
    found = [rational.magnitude(Fraction(1), rational.Uniform(2**53 - 1, Listed([2**64 - 1] * n))) for n in (1, 2, 3)]
    assert 8 < found[0] < found[1] < found[2] < 30


@pytest.mark.parametrize("coefficient", [Fraction(1, 2), Fraction(7, 3)])
def test_options_of_one_row_turn_at_the_exact_sums(coefficient: Fraction) -> None:
    row = np.array([0.25, -np.inf, 1.5, -2.0, 1.0, -np.inf])
    with localcontext() as context:
        context.prec = 80
        factor = Decimal(coefficient.numerator) / coefficient.denominator
        kept = [place for place in range(6) if np.isfinite(row[place])]
        sums = borders([(factor * Decimal(float(row[place]))).exp() for place in kept])
        for (one, after), border in zip(itertools.pairwise(kept), sums, strict=False):
            found = turns(border, lambda u: rational.option_of(row, coefficient, u))
            assert found == [one, one, after, after]
    ends = [rational.option_of(row, coefficient, rational.Uniform(d, Listed([]))) for d in (0, 2**53 - 1)]
    assert ends == [0, 4] and rational.option_of(row[:1], coefficient, rational.Uniform(77, Listed([]))) == 0


# --- Tables of sums ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sigma2", [Fraction(1, 2), Fraction(30)])
def test_a_table_has_the_sums_of_masses(sigma2: Fraction) -> None:
    """A bucket means a value if both of its ends do, by sums with 40 digits; no other bucket is sure."""
    sums, above, under, sure = samplers._listing(sigma2)
    with localcontext() as context:
        context.prec = 40
        twice = Decimal(2 * sigma2.numerator) / sigma2.denominator
        exact = borders([(2 if k else 1) * (-Decimal(k * k) / twice).exp() for k in range(len(sums))])
    assert len(sums) == 9 * math.isqrt(math.ceil(sigma2)) + 40 and np.allclose(
        sums, [float(s) for s in exact], atol=1e-13
    )
    room = (8 * len(sums) + 2**12) / 2.0**48 / float(sum(np.diff(sums, prepend=0.0) / sums[0]))
    assert np.allclose(above[1:] - sums, room, rtol=1e-2) and above[0] == -1
    assert np.allclose(sums[:-1] - under[:-2], room + 2.0**-53, rtol=1e-2) and under[-2:].tolist() == [-1, -1]
    edges = np.arange(2**17 + 1) / 2.0**17
    one, other = (np.searchsorted(sums, end, side="right") for end in (edges[:-1], edges[1:]))
    close = np.minimum(np.abs(sums[:, None] - edges[None, ::512]).min(axis=0), 1)
    assert np.array_equal(sure, np.where(one == other, one, 2**16 - 1)) and close.max() > 0


def test_a_listed_number_is_where_its_digits_fall() -> None:
    """|Z| by the 53 digits of the word, and a sign from its last bit."""
    sigma2 = Fraction(30)
    words = np.random.default_rng(4).integers(0, 2**64, 3000, dtype=np.uint64)
    size = np.searchsorted(samplers._listing(sigma2).sums, (words >> np.uint64(11)) * 2.0**-53, side="right")
    bits = Listed(words.tolist())
    assert np.array_equal(samplers._listed(sigma2, 3000, bits), np.where(words & np.uint64(1), -size, size))
    assert bits.asked == 0


def test_widths_are_the_next_whole_deviation() -> None:
    found = [samplers._width(Fraction(one)) for one in (Fraction(1, 9), 1, Fraction(399, 100), 4, Fraction(401, 100))]
    assert found == [1, 2, 2, 3, 3]


# --- What a mechanism asks for ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["laplace", "normal", "gumbel", "exponential"])
def test_floating_draws_are_the_generators(kind: str) -> None:
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    found = samplers.standard_draws(Draws(kind, (2, 3)), one, GeneratorBits(one))
    name = {"normal": "standard_normal", "exponential": "standard_exponential"}.get(kind, kind)
    assert np.array_equal(found, getattr(other, name)(size=(2, 3)))


def test_discrete_draws_have_a_variance_for_each_entry_of_the_last_axis() -> None:
    generator = np.random.default_rng(2)
    draws = Draws("discrete-gaussian", (50, 2, 3), (Fraction(1, 100), Fraction(10**6), Fraction(4)))
    found = samplers.standard_draws(draws, generator, GeneratorBits(generator))
    spread = np.abs(found).mean(axis=(0, 1))
    assert found.shape == (50, 2, 3) and spread[0] == 0 and 400 < spread[1] < 1200 and 0.8 < spread[2] < 2.6
    plain = samplers.standard_draws(Draws("discrete-laplace", (2, 5), Fraction(3)), generator, GeneratorBits(generator))
    assert plain.shape == (2, 5) and plain.dtype == np.int64
    with pytest.raises(InvalidParameter, match="allowed are the kinds"):
        samplers.standard_draws(Draws("discrete-laplace", (2,)), generator, GeneratorBits(generator))


@pytest.mark.parametrize("wrong", [Fraction(0), Fraction(-1, 3)])
def test_parameters_are_above_zero(wrong: Fraction) -> None:
    bits = Whole(1)
    for call in (lambda: samplers.discrete_laplace(wrong, 1, bits), lambda: samplers.discrete_gaussian(wrong, 1, bits),
                 lambda: samplers.sample_exponential([[1.0, 2.0]], wrong, bits)):  # fmt: skip
        with pytest.raises(InvalidParameter, match="allowed are fractions > 0"):
            call()
