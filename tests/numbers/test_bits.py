"""The bits of the portable functions: written down once, the same on every machine; and the table of roots, exactly."""

from __future__ import annotations

import hashlib
from fractions import Fraction

import numpy as np
import pytest

from refdp.data import numbers


def test_powers_of_two_are_the_nearest_floats() -> None:
    """f is nearest to 2^(j/256) where (f - half an ulp)^256 <= 2^j <= (f + half an ulp)^256, in whole numbers."""
    found = numbers._roots_of_two()
    assert found.shape == (256,) and found[0] == 1 and found.tolist() == numbers._POWERS.tolist()
    for j, power in enumerate(found.tolist()):
        whole = int(power * 2**52)
        assert (2 * whole - 1) ** 256 <= 2 ** (j + 53 * 256) <= (2 * whole + 1) ** 256, j


BITS = {
    "exp": "c119382c25f02950",
    "log": "298f8ca578d59202",
    "expm1": "96c1925389e4c047",
    "log1p": "34dbe63d89522b73",
}


@pytest.mark.parametrize("name", BITS)
def test_bits_are_what_they_were_everywhere(name: str) -> None:
    """A record, not a truth: how near they are to the true values is asked in test_portable.py."""
    generator = np.random.default_rng(7)
    wide = np.ldexp(generator.uniform(-1, 1, 3000), generator.integers(-40, 10, 3000))
    near = generator.uniform(-0.9, 3, 3000)
    x = np.concatenate([wide, near, [0.0, 0.5, 1.0, 2.0, -708.0, 709.78, 5e-324]])
    x = np.abs(x) if name == "log" else x[x > -1] if name == "log1p" else x
    found = np.asarray(getattr(numbers, name)(x))
    assert hashlib.sha256(found.tobytes()).hexdigest()[:16] == BITS[name]


def test_logarithms_of_whole_numbers_bit_by_bit() -> None:
    """Up to 64 bits the number itself, rounded; above, its first 64 bits and the number of others times log 2."""
    for number in (1, 3, 2**63 + 5, 2**64 - 1):
        assert numbers.log_whole(number) == numbers.log(float(number))
    for bits in (65, 66, 70, 128, 1000, 5000):
        number = 3 ** (bits * 12 // 19)
        shift = number.bit_length() - 64
        high = numbers.log(float(number >> shift))
        assert numbers.log_whole(number) == float(high + shift * numbers._LN2_LOW + shift * numbers._LN2_HIGH)
        assert numbers.log_whole(number) == pytest.approx(bits * 12 // 19 * np.log(3), rel=1e-15)


def test_a_function_joined_for_fractions_gets_fractions() -> None:
    seen = []
    kept = numbers._exact(lambda *given: seen.append(given))
    kept(Fraction(1, 3), 0.5, 2)
    assert seen == [(Fraction(1, 3), Fraction(1, 2), Fraction(2))] and all(type(one) is Fraction for one in seen[0])
