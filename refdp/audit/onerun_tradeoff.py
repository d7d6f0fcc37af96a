"""One-run audits against a whole trade-off curve (Mahloujifar, Melis, Chaudhuri 2024): more from the same guesses.

Each of m canaries is in or out by a fair coin, and k of the coins are guessed. Let the run have the trade-off curve f
for each coin, all others fixed: an event of probability x where one coin is turned has at most F(x) = 1 - f(x). Let N
be the number of right guesses. "Guess i is right and N >= c" has the same outputs as "guess i is wrong and N >= c - 1"
has with coin i turned. Averaged over coins and places, by F being concave,

    E[N; N >= c] / m  <=  F(E[k - N; N >= c - 1] / m)        for every c.                                          (1)

How likely N >= c can be at most under (1) follows from below: mass is put as late and as low as (1) allows.
`tests/blackbox/test_onerun_tradeoff.py` holds this against linear programs and against brute force.
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

from refdp.accounting import gaussian
from refdp.audit.onerun import check_counts, coins_and_scores, guessed
from refdp.checks import check_count, check_number
from refdp.data.numbers import greatest, least

ASSUMPTION = (
    "canaries' coins are fair and independent; with all other coins fixed, putting one canary in or leaving it out is "
    "Gaussian private for one mu; the number of guesses is fixed in advance"
)
ISOLATED = (
    "canaries' coins are fair and independent; each canary's score is computed from releases that no other "
    "canary reaches (a leaf of its own, a coordinate of its own) and whose noise is independent and normal, so that "
    "scores are independent, of one variance, and shifted by mu standard deviations where the canary is in"
)
Inverse = Callable[[float], float]
"""y -> the least x with F(x) >= y, for a concave F from [0, 1] to [0, 1]."""


@dataclass(frozen=True)
class GaussianOneRun:
    """A lower bound of mu, and of epsilon at delta: P(mu > true mu) <= 1 - confidence, if `assumption` holds.

    right: of `guesses` guesses about `canaries` canaries, those that were right.
    """

    mu: float
    epsilon: float
    delta: float
    confidence: float
    canaries: int
    guesses: int
    right: int
    assumption: str = ASSUMPTION

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return dict(vars(self))


def gaussian_curve(mu: float) -> Inverse:
    """F(x) = Phi(Phi^-1(x) + mu) of N(0, 1) against N(mu, 1), inverted."""
    return lambda y: float(special.ndtr(special.ndtri(min(max(y, 0.0), 1.0)) - mu))


def approximate_curve(epsilon: float, delta: float) -> Inverse:
    """F(x) = min(delta + e^epsilon x, 1 - e^-epsilon (1 - delta - x)) of (epsilon, delta) privacy, inverted."""
    return lambda y: max(0.0, math.exp(-epsilon) * (y - delta), 1 - delta - math.exp(epsilon) * (1 - y))


def possible(chance: float, right: int, guesses: int, canaries: int, inverse: Inverse) -> bool:
    """Whether at least `right` of `guesses` right guesses can have this chance under (1).

    chance in (0, 1]. All of it is put at `right`; below, the least mass p_i that (1) asks for at i + 1 is put at i.
    More than 1 in all cannot be. O(right).
    """
    above, wrong, mass = chance * right / canaries, chance * (guesses - right) / canaries, chance
    for i in range(right - 1, -1, -1):
        needed = inverse(above)  # of E[k - N; N >= i] / m
        if needed > wrong:
            more = (needed - wrong) * canaries / (guesses - i)
            mass += more
            if mass > 1.0:
                return False
            wrong = needed
            above += more * i / canaries
    return True


def p_value(right: int, guesses: int, canaries: int, inverse: Inverse) -> float:
    """The largest chance of at least `right` right guesses that (1) allows, from above, to a relative 1e-9."""
    if right == 0 or possible(1.0, right, guesses, canaries, inverse):
        return 1.0
    log_chance = least(lambda x: not possible(math.exp(x), right, guesses, canaries, inverse), -700.0, 0.0)
    return math.exp(log_chance)


def gaussian_bound(
    right: int, guesses: int, canaries: int, delta: float = 1e-5, confidence: float = 0.95
) -> GaussianOneRun:
    """The largest mu that so many right guesses refute, and its epsilon at delta.

    Errors: InvalidParameter for counts that do not fit, delta outside (0, 1) or a confidence outside (0, 1).
    """
    check_counts(right, guesses, canaries)
    check_number("delta", delta, above=0, below=1)
    check_number("confidence", confidence, above=0, below=1)

    def refuted(mu: float) -> bool:
        return right > 0 and not possible(1 - confidence, right, guesses, canaries, gaussian_curve(mu))

    low, high = 0.0, 1.0
    if not refuted(0.0):
        return GaussianOneRun(0.0, 0.0, delta, confidence, canaries, guesses, right)
    while refuted(high) and high < 64:
        low, high = high, 2 * high
    mu = greatest(refuted, low, high)
    return GaussianOneRun(mu, gaussian.epsilon(mu, delta), delta, confidence, canaries, guesses, right)


def one_run_gaussian_lower_bound(
    train: Callable[[Any, int], Any],
    records: Callable[[NDArray[np.bool_]], Any],
    score: Callable[[Any], ArrayLike],
    canaries: int,
    *,
    delta: float = 1e-5,
    confidence: float = 0.95,
    share: float = 0.1,
    seed: int = 0,
) -> GaussianOneRun:
    """mu, and epsilon at delta, from below by one run, if the run is Gaussian private (see ASSUMPTION); else nothing.

    train, records, score, share, seed: as of `one_run_lower_bound`. Few guesses, of the surest canaries, give most.
    Errors: InvalidParameter as there, and for delta outside (0, 1).

    records takes a mask, and score gives numbers, of shape (canaries,).
    """
    check_number("delta", delta, above=0, below=1)
    check_number("share", share, above=0, most=1)
    right, guesses = guessed(*coins_and_scores(train, records, score, canaries, seed), share)
    return gaussian_bound(right, guesses, canaries, delta, confidence)


def isolated_gaussian_lower_bound(
    train: Callable[[Any, int], Any],
    records: Callable[[NDArray[np.bool_]], Any],
    score: Callable[[Any], ArrayLike],
    canaries: int,
    *,
    delta: float = 1e-5,
    confidence: float = 0.95,
    seed: int = 0,
) -> GaussianOneRun:
    """mu, and epsilon at delta, from below by one run with canaries that do not meet (see ISOLATED); else nothing.

    The difference of the mean scores over their deviation is noncentral t: no guesses, and no loss by them.
    Errors: InvalidParameter as of `one_run_lower_bound`, and for delta outside (0, 1).

    records takes a mask, and score gives numbers, of shape (canaries,).
    """
    check_count("canaries", canaries, least=4)
    check_number("delta", delta, above=0, below=1)
    check_number("confidence", confidence, above=0, below=1)
    return isolated_bound(*coins_and_scores(train, records, score, canaries, seed), delta, confidence)


def isolated_bound(
    included: NDArray[np.bool_], scores: NDArray[np.float64], delta: float = 1e-5, confidence: float = 0.95
) -> GaussianOneRun:
    """The lower bound from coins and scores at hand, both of shape (canaries,).

    Errors: InvalidParameter for delta or confidence outside (0, 1).
    """
    check_number("delta", delta, above=0, below=1)
    check_number("confidence", confidence, above=0, below=1)
    scaled = within_floats(scores)
    inside, outside = scaled[included], scaled[~included]
    mu = 0.0
    if len(inside) > 1 and len(outside) > 1:
        mu = _shift(inside, outside, confidence)
    epsilon = gaussian.epsilon(mu, delta) if mu else 0.0
    return GaussianOneRun(mu, epsilon, delta, confidence, len(scores), 0, 0, ISOLATED)


def within_floats(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores by a power of two, the largest between 1/2 and 1: what their deviation tells is the same.

    The squares of others are infinite or 0, which would pass for noise that hides everything, or for none.
    Of shape (canaries,), as are the scores.
    """
    _, exponent = np.frexp(np.abs(scores).max())
    return np.asarray(np.ldexp(scores, -exponent))


def _shift(inside: NDArray[np.float64], outside: NDArray[np.float64], confidence: float) -> float:
    """The largest mu at which a t statistic as large as this one has a chance of at most 1 - confidence."""
    freedom = len(inside) + len(outside) - 2
    size = math.sqrt(len(inside) * len(outside) / (len(inside) + len(outside)))
    squares = float(np.sum((inside - inside.mean()) ** 2) + np.sum((outside - outside.mean()) ** 2))
    apart = float(inside.mean() - outside.mean())
    if squares == 0.0:
        return 0.0  # scores without noise are not what is assumed
    statistic = size * apart / math.sqrt(squares / freedom)

    def refuted(mu: float) -> bool:
        return float(scipy.stats.nct.sf(statistic, freedom, mu * size)) <= 1 - confidence

    if not float(scipy.stats.t.sf(statistic, freedom)) <= 1 - confidence:
        return 0.0
    return greatest(refuted, 0.0, max(1.0, 2 * statistic / size))
