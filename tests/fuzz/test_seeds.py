"""What the state behind published draws tells about the noise: everything, if both come from one seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from refdp.faces.training import source_for
from refdp.noise.mechanisms import Laplace
from refdp.papers import sgbdt
from refdp.privacy.curator import Request
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource

WORD = 2**32
INIT_A, MULT_A, INIT_B, MULT_B = 0x43B0D7E5, 0x931E8875, 0x8B51F9DD, 0x58F38DED
MIX_L, MIX_R, POOL = 0xCA01F9DD, 0x4973F715, 4
"""The constants of numpy.random.SeedSequence."""


def unshifted(value: int) -> int:
    """The x of value = x ^ (x >> 16)."""
    return value ^ (value >> 16)


def inverse(factor: int) -> int:
    return pow(factor, -1, WORD)


def pool_of(words: list[int]) -> list[int]:
    """The pool that a SeedSequence made these words of: each comes from one word of the pool, and back."""
    found, constant = [], INIT_B
    for word in words[:POOL]:
        following = constant * MULT_B % WORD
        found.append(unshifted(word) * inverse(following) % WORD ^ constant)
        constant = following
    return found


def words_of(pool: list[int], count: int) -> list[int]:
    found, constant = [], INIT_B
    for place in range(count):
        word = pool[place % POOL] ^ constant
        constant = constant * MULT_B % WORD
        word = word * constant % WORD
        found.append(word ^ (word >> 16))
    return found


def hashed_keys(key: int) -> list[int]:
    """What a spawn key adds to each word of the pool: public, as 16 hashes of an entropy of 128 bits come before."""
    constant, found = INIT_A * pow(MULT_A, POOL * POOL, WORD) % WORD, []
    for _ in range(POOL):
        value = key ^ constant
        constant = constant * MULT_A % WORD
        value = value * constant % WORD
        found.append(value ^ (value >> 16))
    return found


def sibling(words: list[int], own: int, other: int, count: int) -> list[int]:
    """The words of another child of the same parent."""
    parent = [(unshifted(word) + MIX_R * key) * inverse(MIX_L) % WORD
              for word, key in zip(pool_of(words), hashed_keys(own), strict=True)]  # fmt: skip
    mixed = [(MIX_L * word - MIX_R * key) % WORD for word, key in zip(parent, hashed_keys(other), strict=True)]
    return words_of([word ^ (word >> 16) for word in mixed], count)


class Words(ISeedSequence):  # type: ignore[misc]
    """Words in place of a seed."""

    def __init__(self, words: list[int]) -> None:
        self.words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return np.array(self.words, dtype=np.uint32).view(dtype)[:n_words]


def guessed_noise(source: Any) -> np.ndarray:
    """The noise that follows from the state of the public generator, if both are children of one."""
    public = source._public.bit_generator.seed_seq.generate_state(8, np.uint32)
    secret = np.random.Generator(np.random.PCG64(Words(sibling([int(word) for word in public], 0, 1, 8))))
    return secret.laplace(size=5)


def released(source: Any) -> np.ndarray:
    return source.release(Request("release", ("noise",), np.zeros(5), Laplace(1.0)))


def test_one_seed_gives_the_noise_away() -> None:
    """Even one of 128 bits from the operating system: its child's state leads back to it."""
    source = SampleSource(np.random.default_rng())
    np.testing.assert_allclose(guessed_noise(source), released(source), atol=1e-9)


def test_without_a_seed_published_draws_and_noise_have_nothing_in_common() -> None:
    params = sgbdt.Params(epsilon=1.0, relation=Relation.ADD_REMOVE)
    source: Any = source_for(params, None)
    assert np.abs(guessed_noise(source) - released(source)).max() > 1e-6
    assert source._public.bit_generator.seed_seq.entropy != source._secret.bit_generator.seed_seq.entropy
    assert isinstance(source._secret.bit_generator, np.random.Philox)


def test_with_a_seed_both_follow_from_it() -> None:
    params = sgbdt.Params(epsilon=1.0, relation=Relation.ADD_REMOVE)
    one: Any = source_for(params, 3)
    other = SampleSource(np.random.default_rng(3))
    np.testing.assert_array_equal(released(one), released(other))
    np.testing.assert_array_equal(one._public.random(4), other._public.random(4))
