"""A lower bound of epsilon from one training run with many canaries (Steinke, Nasr, Jagielski 2023).

Each of m canaries is put into the data or left out by a fair coin of its own. Whoever sees the model guesses the coins,
and may abstain. Many right guesses refute a small epsilon: m coins in one run stand in for m runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from refdp.checks import check_count, check_number
from refdp.data.numbers import greatest
from refdp.errors import InvalidParameter

Floats = NDArray[np.float64]
ASSUMPTION = "canaries' coins are fair and independent; the guarantee is for adding or removing one canary"
TIES = 2023
"""Seed of the shuffle that breaks ties of scores."""


@dataclass(frozen=True)
class OneRun:
    """A lower bound of epsilon at delta: P(lower > true epsilon) <= 1 - confidence, if `assumption` holds.

    right: of `guesses` guesses about `canaries` canaries, those that were right.
    """

    lower: float
    confidence: float
    delta: float
    canaries: int
    guesses: int
    right: int
    assumption: str = ASSUMPTION

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return dict(vars(self))


def p_value(right: int, guesses: int, canaries: int, epsilon: float, delta: float) -> float:
    """Bound of the chance of at least `right` right guesses if the trainer is (epsilon, delta) private.

    Theorem 5.2 of Steinke, Nasr, Jagielski 2023 for r guesses of m coins: with W ~ Binomial(r, e^eps/(e^eps + 1)),
        P(right >= v) <= beta + alpha m delta,  beta = P(W >= v),  alpha = max_{1 <= i <= m} 2/i P(v > W >= v - i).
    Right for every number of guesses that is fixed in advance or follows from the outputs.
    """
    chance = float(special.expit(epsilon))
    beta = float(scipy.stats.binom.sf(right - 1, guesses, chance))
    if delta == 0:
        return min(1.0, beta)
    lengths = np.arange(1, canaries + 1)
    within = scipy.stats.binom.sf(right - lengths - 1, guesses, chance) - beta
    alpha = float(np.max(2 / lengths * np.maximum(within, 0.0)))
    return min(1.0, beta + alpha * canaries * delta)


def bound(right: int, guesses: int, canaries: int, delta: float = 0.0, confidence: float = 0.95) -> OneRun:
    """The largest epsilon refuted by so many right guesses: the p-value stays at most 1 - confidence below it.

    For delta = 0 this is Clopper and Pearson's lower bound p of the chance of a right guess: epsilon = log(p/(1 - p)).
    Error: P(lower > true epsilon) <= 1 - confidence. Errors: InvalidParameter for counts that do not fit.
    """
    check_counts(right, guesses, canaries)
    check_number("delta", delta, least=0, below=1)
    check_number("confidence", confidence, above=0, below=1)
    lower = _refuted(right, guesses, canaries, delta, 1 - confidence)
    return OneRun(lower, confidence, delta, canaries, guesses, right)


def check_counts(right: int, guesses: int, canaries: int) -> None:
    """Errors: InvalidParameter unless 0 <= right <= guesses <= canaries and there is a canary."""
    check_count("canaries", canaries)
    check_count("guesses", guesses, least=0, most=canaries)
    check_count("right", right, least=0, most=guesses)


def _refuted(right: int, guesses: int, canaries: int, delta: float, error: float) -> float:
    """Down from which all epsilons have a p-value of at most `error`, by steps that stop at the first that does not."""

    def refuted(epsilon: float) -> bool:
        return p_value(right, guesses, canaries, epsilon, delta) <= error

    if not guesses or not refuted(0.0):
        return 0.0
    low = 0.0
    while refuted(low + 0.25):
        low += 0.25
    return greatest(refuted, low, low + 0.25)


def guesses_of(scores: ArrayLike, share: float) -> NDArray[np.int8]:
    """Guesses from scores: in (1) for the highest ones, out (-1) for the lowest, none (0) between.

    share: of all canaries that are guessed, half of them on each end. Ties are broken by a shuffle that is always the
    same: by position they would tell the coins of a list that is sorted by them.

    Shape: (canaries,).
    """
    values = np.asarray(scores, dtype=np.float64)
    each = int(len(values) * share / 2)
    mixed = np.random.default_rng(TIES).permutation(len(values))
    order = mixed[np.argsort(values[mixed], kind="stable")]
    guesses = np.zeros(len(values), dtype=np.int8)
    guesses[order[:each]], guesses[order[len(values) - each :]] = -1, 1
    return guesses


def one_run_lower_bound(
    train: Callable[[Any, int], Any],
    records: Callable[[NDArray[np.bool_]], Any],
    score: Callable[[Any], ArrayLike],
    canaries: int,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
    share: float = 0.5,
    seed: int = 0,
) -> OneRun:
    """Train once with about half of the canaries, guess which half from the model, and bound epsilon.

    train(records, seed) gives a model; records(included) gives the data with the canaries of that mask; score(model)
    gives a number for every canary, the higher the likelier that it is in. share: of canaries that are guessed, to be
    fixed before looking. Error: as of `bound`. The bound is about add-remove neighbours, each canary being one record.
    Errors: InvalidParameter for a score of another length, or a share outside (0, 1].

    records takes a mask, and score gives numbers, of shape (canaries,).
    """
    check_number("share", share, above=0, most=1)
    right, guesses = guessed(*coins_and_scores(train, records, score, canaries, seed), share)
    return bound(right, guesses, canaries, delta, confidence)


def coins_and_scores(
    train: Callable[[Any, int], Any],
    records: Callable[[NDArray[np.bool_]], Any],
    score: Callable[[Any], ArrayLike],
    canaries: int,
    seed: int,
) -> tuple[NDArray[np.bool_], Floats]:
    """Which canaries were in, and their scores. Errors: InvalidParameter for scores of another length.

    Both of shape (canaries,).
    """
    check_count("canaries", canaries, least=2)
    coins, training = np.random.SeedSequence(seed).spawn(2)
    included = np.random.default_rng(coins).random(canaries) < 0.5
    model = train(records(included), int(training.generate_state(1)[0]))
    scores = np.asarray(score(model))
    numbers = scores.dtype.kind in "fiub"
    if scores.shape != (canaries,) or not numbers or bool(np.isnan(scores).any()):
        shown = f"{int(np.isnan(scores).sum())} of them NaN" if numbers else f"of type {scores.dtype}"
        raise InvalidParameter(f"scores of shape {scores.shape}, {shown}: {canaries} numbers are needed, one a canary")
    return included, scores.astype(np.float64)


def guessed(included: NDArray[np.bool_], scores: Floats, share: float) -> tuple[int, int]:
    """How many guesses were right, of how many. Errors: InvalidParameter for a share outside (0, 1], or of no canary.

    Both arrays have shape (canaries,).
    """
    check_number("share", share, above=0, most=1)
    guesses = guesses_of(scores, share)
    if not guesses.any():
        raise InvalidParameter(
            f"a share of {share:g} of {len(scores)} canaries guesses none: nothing would be looked at"
        )
    right = int(np.count_nonzero((guesses == 1) & included) + np.count_nonzero((guesses == -1) & ~included))
    return right, int(np.count_nonzero(guesses))


def randomised_response_epsilon(keep: float) -> float:
    """log(keep / (1 - keep)): the mechanism for which the bound is tight."""
    return math.log(keep / (1 - keep))
