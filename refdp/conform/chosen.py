"""Choices: bets that they are drawn with a randomness used before, and by another law than the one that is owed.

Each is a stake on options by a rule, over their chances: of mean 1 at most for right choices, at any number of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import special

from refdp.conform.follow import Released
from refdp.conform.places import Ints, among, best, earlier, mixed, places_of, staked
from refdp.noise.draws import FloatArray
from refdp.noise.mechanisms import Exponential

LEAST = 1e-250
FACTORS = (0.0, 0.5, 0.8, 1.25, 1.5, 2.0, 3.0, 6.0, math.inf)
"""Of the coefficient: 0 for any option as likely as another, infinity for the first of the best."""
SHARES = (1.0, 0.3, 0.1, 0.03)
"""Of choices that are made by another rule."""
PRICE = math.log(2 * len(SHARES) * (len(FACTORS) + 2))
"""log of how many bets there are for each that wins, twice as many as those on all choices."""


def chances_of(one: Released, factor: float = 1.0) -> FloatArray:
    """How likely each option is by a factor of the coefficient that is due. Shape (rows, options)."""
    assert isinstance(one.mechanism, Exponential)
    if factor == math.inf:
        return np.asarray(np.eye(one.value.shape[1])[one.value.argmax(axis=1)])
    weights = one.mechanism.coefficient * (one.value - one.value.max(axis=1, keepdims=True))
    found = np.where(np.isfinite(weights), np.exp(factor * np.where(np.isfinite(weights), weights, 0.0)), 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def repeated(releases: Sequence[Released]) -> tuple[float, str]:
    """log of what is won by betting that options are chosen again, and what was seen. Releases of choices."""
    own, keys, tables = places_of(releases), _options(releases), dict[int, int]()
    chances = np.maximum(np.concatenate([_own(one, chances_of(one)) for one in releases]), LEAST)
    alike = [tables.setdefault(hash(row.tobytes()), len(tables)) for one in releases for row in one.value + 0.0]
    rules = earlier(own, keys) | {"where utilities were the same": among(np.array(alike), keys)}
    won = {rule: staked(same, of, chances) for rule, (same, of) in rules.items()}
    top = max(won, key=lambda rule: won[rule])
    same, of = rules[top]
    seen = f"{float((same / np.maximum(of, 1)).sum()):.0f} of {len(keys)} choices are, by their share, those {top}"
    return mixed([*won.values()]), f"{seen}, e^{won[top]:.3g} times as likely if randomness is used twice"


def other_laws(releases: Sequence[Released]) -> tuple[float, str]:
    """log of what is won by betting on other coefficients and on first options, and where most."""
    return best(_laws(releases), places_of(releases))


def least_factor(releases: Sequence[Released], needed: float) -> float:
    """The least factor of the coefficient above 1 whose choices win so much, as a logarithm, on average.

    Infinity if none does but the first of the best options; NaN if that does not.
    """
    due = [np.maximum(chances_of(one), LEAST) for one in releases]
    for factor in (one for one in FACTORS if one > 1):
        each = zip(releases, due, strict=True)
        if sum(float(special.rel_entr(chances_of(one, factor), p).sum()) for one, p in each) >= needed:
            return factor
    return math.nan


def _laws(releases: Sequence[Released]) -> Iterator[tuple[str, FloatArray]]:
    due = np.maximum(np.concatenate([_own(one, chances_of(one)) for one in releases]), LEAST)
    first = np.concatenate([one.output.ravel() == 0 for one in releases]).astype(np.float64)
    last = np.concatenate([one.output.ravel() == one.value.shape[1] - 1 for one in releases]).astype(np.float64)
    rules = {named(factor): np.concatenate([_own(one, chances_of(one, factor)) for one in releases])
             for factor in FACTORS}  # fmt: skip
    rules |= {"the first of all options": first, "the last of all options": last}
    for name, chances in rules.items():
        for share in SHARES:
            with np.errstate(divide="ignore"):
                yield f"{share:.0%} of choices as by {name}", np.log(1 - share + share * chances / due)


def named(factor: float) -> str:
    return "the best of all options" if factor == math.inf else f"a coefficient {factor:g} times what is due"


def _own(one: Released, chances: FloatArray) -> FloatArray:
    return np.asarray(chances[np.arange(len(chances)), one.output.ravel()])


def _options(releases: Sequence[Released]) -> Ints:
    return np.concatenate([one.output.ravel() for one in releases]).astype(np.int64)
