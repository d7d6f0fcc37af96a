"""Seeds of experiments that have to be repeatable, and what they cost.

Whoever knows a seed repeats the noise and subtracts it, and two runs with one seed show what differs between their
records without noise. A number among an estimator's parameters would stand in every pickle, print and search around it.
"""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np

from refdp.errors import InvalidParameter, PrivacyWarning
from refdp.faces.warned import warn

SEED_ASSUMPTION = "the seed stays secret and is used once: whoever knows it can subtract the noise"
"""What a certificate assumes of a run with a seed."""


_FURTHER = 2**32 - 1
"""First part of the keys of all uses but the first: no generator of an earlier use spawns so many others."""


class ReproducibleSeed:
    """A seed that stays in this process: `DPBoostClassifier(insecure_seed=ReproducibleSeed(7))`.

    number: a whole number >= 0.

    Each fit takes the next generator of the seed's sequence, first `numpy.random.default_rng(number)`, so that the same
    script gives the same models and no two fits share their noise: ten refits are ten draws. Copies and clones in this
    process are the seed itself. Pickles, other processes and forks get it without its number; fits there draw fresh
    entropy and warn that they cannot be repeated. Neither printing nor comparing tells the number.
    """

    __slots__ = ("_number", "_process", "_uses")

    def __init__(self, number: int) -> None:
        """Errors: InvalidParameter for anything but a whole number >= 0."""
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
            raise InvalidParameter("ReproducibleSeed: a whole number >= 0 is needed")  # what was given may be secret
        self._number: int | None = int(number)
        self._process = os.getpid()
        self._uses = itertools.count()

    def generator(self) -> np.random.Generator | None:
        """The next generator of the sequence; None where the number is not known, for fresh entropy."""
        if self._number is None or self._process != os.getpid():
            text = "insecure_seed came without its number, which stays in the process that made it: fresh randomness"
            warn(f"{text}, this run cannot be repeated", UserWarning)
            return None
        use = next(self._uses)
        return np.random.default_rng(np.random.SeedSequence(self._number, spawn_key=(_FURTHER, use) if use else ()))

    def __repr__(self) -> str:
        """The same for every seed."""
        return "ReproducibleSeed(...)"

    def __copy__(self) -> ReproducibleSeed:
        """The seed itself, lest two objects hand out one sequence."""
        return self

    def __deepcopy__(self, _: Any) -> ReproducibleSeed:
        """The seed itself, lest two objects hand out one sequence."""
        return self

    def __getstate__(self) -> None:
        """Nothing."""

    def __reduce_ex__(self, _: Any) -> tuple[Any, ...]:
        """For pickle: a seed without its number."""
        return _without_number, ()


def _without_number() -> ReproducibleSeed:
    seed = ReproducibleSeed(0)
    seed._number = None
    return seed


def seeded(generator: np.random.Generator | None) -> tuple[str, ...]:
    """What the certificate of a run assumes: nothing without a seed."""
    return () if generator is None else (SEED_ASSUMPTION,)


def generator_for(seed: Any) -> np.random.Generator | None:
    """The generator of one fit of an estimator; None for fresh entropy. Warns: PrivacyWarning if there is one.

    Errors: InvalidParameter unless it is None or a ReproducibleSeed.
    """
    if seed is None:
        return None
    if not isinstance(seed, ReproducibleSeed):
        text = "None or refdp.ReproducibleSeed(number) is allowed: a plain number or generator would be in every pickle"
        raise InvalidParameter(f"insecure_seed of type {type(seed).__name__}: {text}")
    generator = seed.generator()
    if generator is not None:
        warn(f"insecure_seed: the guarantee holds only if {SEED_ASSUMPTION}", PrivacyWarning)
    return generator
