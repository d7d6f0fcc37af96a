"""Counts, sums, histograms and means with noise, right and wrong. Records are vectors of true answers unless said.

Answers are neighbours if one record changes one of them, or each of them, by at most 1, as each docstring says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from refdp.accounting import gaussian as gaussian_privacy
from refdp.audit.runs import Vectorised
from refdp.audit.zoo.entry import Specimen
from refdp.audit.zoo.noise import Floats, gaussian, laplace, on_grid, textbook_laplace

ONE = ((0.0,), (1.0,))
Generator = np.random.Generator
SUITES = "StatDP, DP-Sniper, dp_auditorium"


def noisy(scale: float) -> Vectorised:
    """Every answer with Laplace noise of its own."""
    return Vectorised(lambda answers, count, g: np.asarray(answers) + laplace(g, scale, count, len(answers)))


def repeated(times: int, scale: float) -> Vectorised:
    """The first answer several times, each with fresh noise."""
    return Vectorised(lambda answers, count, g: answers[0] + laplace(g, scale, count, times))


def counts() -> Iterator[Specimen]:
    """A count with Laplace noise at 1, .98, .9 and .5 of the scale that the claim needs."""
    for factor, samples in ((1.0, 100_000), (0.98, 3_000_000), (0.9, 30_000), (0.5, 1_000)):
        reason = "Laplace noise of scale b on a change of 1 costs exactly 1/b"
        epsilon = 1 / factor
        yield Specimen(
            f"Laplace count, scale x {factor:g}", noisy(factor), ONE, 1.0, epsilon, reason, SUITES,
            on_pair=epsilon, samples=samples,
        )  # fmt: skip
    yield Specimen(
        "geometric count", Vectorised(_geometric), ONE, 1.0, 1.0, "two-sided geometric noise of ratio 1/e",
        "Ghosh et al. 2012; DP-Sniper", on_pair=1.0,
    )  # fmt: skip
    yield Specimen(
        "truncated geometric count", Vectorised(_truncated), ((2.0,), (3.0,)), 1.0, 1.0,
        "the same, clipped to 0..5 after the noise", "Ghosh et al. 2012; DP-Sniper", on_pair=1.0,
    )  # fmt: skip
    yield Specimen(
        "truncated geometric count, range from the data", Vectorised(_truncated_at_value), ((2.0,), (3.0,)), 1.0,
        math.inf, "no output lies above the true count plus 1", "mutant", on_pair=math.inf, samples=2_000,
    )  # fmt: skip


def _geometric(answers: Any, count: int, g: Generator) -> Floats:
    p = 1 - math.exp(-1.0)
    noise = g.geometric(p, (count, 1)) - g.geometric(p, (count, 1))
    return np.asarray(answers[0] + noise, dtype=np.float64)


def _truncated(answers: Any, count: int, g: Generator) -> Floats:
    return np.asarray(np.clip(_geometric(answers, count, g), 0, 5))


def _truncated_at_value(answers: Any, count: int, g: Generator) -> Floats:
    return np.asarray(np.minimum(_geometric(answers, count, g), answers[0] + 1))


def histograms() -> Iterator[Specimen]:
    """Five cells, of which one record changes one by 1."""
    pair = ((2.0, 0.0, 1.0, 3.0, 0.0), (2.0, 0.0, 2.0, 3.0, 0.0))
    yield Specimen(
        "noisy histogram", noisy(2.0), pair, 0.5, 0.5, "one cell changes by 1, scale 1/epsilon", SUITES, on_pair=0.5
    )
    yield Specimen(
        "noisy histogram, epsilon as scale", noisy(0.5), pair, 0.5, 2.0, "scale epsilon instead of 1/epsilon: 1/0.5",
        "StatDP (histogram), DP-Sniper (NoisyHist2)", on_pair=2.0, samples=1_000,
    )  # fmt: skip
    yield Specimen(
        "noisy histogram, empty cells exact", Vectorised(_empty_cells_exact), ((1.0, 0.0), (1.0, 1.0)), 0.5, math.inf,
        "a cell without records is released without noise", "mutant", on_pair=math.inf, samples=1_000,
    )  # fmt: skip
    yield Specimen(
        "prefix sums", Vectorised(lambda a, n, g: np.cumsum(np.asarray(a) + laplace(g, 1.0, n, len(a)), axis=1)),
        pair, 1.0, 1.0, "sums of a noisy histogram of which one cell changes by 1", "StatDP, CheckDP, DP-Sniper",
        on_pair=1.0,
    )  # fmt: skip
    yield Specimen(
        "prefix sums, one noise too few", Vectorised(_partial_sums), ((1.0, 0.0), (1.0, 1.0)), 1.0, math.inf,
        "the last increment has no noise, so the last cell is exact", "mutant of the smart sum (CheckDP)",
        on_pair=math.inf, samples=1_000,
    )  # fmt: skip


def _empty_cells_exact(answers: Any, count: int, g: Generator) -> Floats:
    true = np.asarray(answers)
    return np.where(true == 0, 0.0, true + laplace(g, 2.0, count, len(true)))


def _partial_sums(answers: Any, count: int, g: Generator) -> Floats:
    noise = laplace(g, 1.0, count, len(answers))
    noise[:, -1] = 0.0
    return np.asarray(np.cumsum(np.asarray(answers) + noise, axis=1), dtype=np.float64)


def compositions() -> Iterator[Specimen]:
    """Budgets that are spent more often than they are counted."""
    yield Specimen(
        "twenty counts for the price of twenty", repeated(20, 20.0), ONE, 1.0, 1.0,
        "20 releases of 1/20 each; attained where all outputs are at most 0", "DP-Sniper (LaplaceParallel)",
        on_pair=1.0,
    )  # fmt: skip
    yield Specimen(
        "twenty counts for the price of five", repeated(20, 5.0), ONE, 1.0, 4.0, "20 releases of 1/5 each", "mutant",
        on_pair=4.0, samples=30_000,
    )  # fmt: skip
    yield Specimen(
        "three counts for the price of one", repeated(3, 1.0), ONE, 1.0, 3.0, "3 releases of 1 each", "mutant",
        on_pair=3.0, samples=5_000,
    )  # fmt: skip
    yield Specimen(
        "one noise for two counts", Vectorised(_one_noise), ((0.0, 0.0), (1.0, 0.0)), 2.0, math.inf,
        "the difference of the two is exact", "mutant", on_pair=math.inf, samples=1_000,
    )  # fmt: skip
    yield Specimen(
        "noise skipped once in fifty runs", Vectorised(_sometimes_none), ONE, 1.0, math.inf,
        "the exact value comes out with chance 1/50", "mutant", on_pair=math.inf, samples=30_000,
    )  # fmt: skip
    yield Specimen(
        "noise from a fixed seed", Vectorised(lambda a, n, g: np.full((n, 1), a[0] + 0.625)), ONE, 1.0, math.inf,
        "the same noise in every run", "mutant", on_pair=math.inf, samples=1_000,
    )  # fmt: skip


def _one_noise(answers: Any, count: int, g: Generator) -> Floats:
    return np.asarray(answers) + laplace(g, 1.0, count, 1)


def _sometimes_none(answers: Any, count: int, g: Generator) -> Floats:
    keep = g.random((count, 1)) >= 0.02
    return np.asarray(answers[0] + keep * laplace(g, 1.0, count, 1))


def exact_numbers() -> Iterator[Specimen]:
    """Statistics that slip out. Records are vectors of numbers in [0, 1], of different lengths if neighbours."""
    yield Specimen(
        "noisy sum beside the exact count", Vectorised(_sum_and_count), ((0.0,), (0.0, 1.0)), 1.0, math.inf,
        "the number of records is released", "dp_auditorium, Google's stochastic tester", on_pair=math.inf,
        samples=1_000,
    )  # fmt: skip
    yield Specimen(
        "noisy sum over the exact count", Vectorised(_mean), ((0.0,), (0.0, 1.0)), 1.0, math.inf,
        "the scale of the noise tells the number of records: the ratio of densities grows without bound in the tails",
        "dp_auditorium", on_pair=math.inf, samples=10_000,
    )  # fmt: skip
    yield Specimen(
        "exact count", Vectorised(lambda x, n, g: np.full((n, 1), float(len(x)))), ((0.0,), (0.0, 1.0)), 1.0, math.inf,
        "no noise", "StatDP, dp_auditorium", on_pair=math.inf, samples=1_000,
    )  # fmt: skip
    yield Specimen(
        "sum clipped at the data's own maximum", Vectorised(_own_maximum), ((0.25,), (0.25, 1.0)), 1.0, math.inf,
        "the scale of the noise is the largest record", "dp_auditorium; Re:cord-play", on_pair=math.inf,
        samples=10_000,
    )  # fmt: skip


def _sum_and_count(numbers: Any, count: int, g: Generator) -> Floats:
    total = np.sum(numbers) + laplace(g, 1.0, count)
    return np.stack([total, np.full(count, float(len(numbers)))], axis=1)


def _mean(numbers: Any, count: int, g: Generator) -> Floats:
    return on_grid((np.sum(numbers) + laplace(g, 1.0, count, 1)) / len(numbers))


def _own_maximum(numbers: Any, count: int, g: Generator) -> Floats:
    return np.asarray(np.sum(numbers) + laplace(g, float(np.max(numbers)), count, 1))


def floating_point() -> Iterator[Specimen]:
    """Noise whose low-order bits depend on what it is added to."""
    for name, draw in (("by inversion", textbook_laplace), ("of numpy", _numpy_laplace)):
        yield Specimen(
            f"floating-point Laplace {name}", _first_with(draw), ONE,
            1.0, math.inf, "some floating-point numbers can only be reached from one of the two values",
            "Mironov 2012; DP-Sniper", on_pair=math.inf, samples=2_000,
        )  # fmt: skip


def _first_with(draw: Any) -> Vectorised:
    return Vectorised(lambda answers, count, g: answers[0] + draw(g, 1.0, count, 1))


def _numpy_laplace(g: Generator, scale: float, *shape: int) -> Floats:
    return g.laplace(scale=scale, size=shape)


def gaussians() -> Iterator[Specimen]:
    """Normal noise on a change of 1, claimed (epsilon, delta) or pure."""
    delta = 1e-3
    right = gaussian_privacy.calibrate(1.0, delta)
    for factor, samples in ((1.0, 100_000), (0.5, 30_000)):
        epsilon = gaussian_privacy.epsilon(1 / (right * factor), delta) if factor != 1 else 1.0
        yield Specimen(
            f"Gaussian count, scale x {factor:g}", normal(right * factor), ONE, 1.0, epsilon,
            "the exact profile of the Gaussian mechanism (Balle, Wang 2018)", "dp_auditorium", delta,
            on_pair=epsilon, samples=samples,
        )  # fmt: skip
    sd = math.sqrt(2 * math.log(1.25 / 0.2)) / 8
    yield Specimen(
        "Gaussian count, classical formula at epsilon 8", normal(sd), ONE, 8.0,
        gaussian_privacy.epsilon(1 / sd, 0.2), "sqrt(2 log(1.25/delta))/epsilon is proved for epsilon < 1 only",
        "Balle, Wang 2018; Zhao et al. 2019", 0.2, on_pair=gaussian_privacy.epsilon(1 / sd, 0.2), samples=1_000_000,
    )  # fmt: skip
    yield Specimen(
        "Gaussian count, claimed pure", normal(1.5), ONE, 1.0, math.inf,
        "the ratio of normal densities is unbounded", "mutant", on_pair=math.inf, samples=100_000,
    )  # fmt: skip


def normal(sd: float) -> Vectorised:
    """The first answer with normal noise."""
    return Vectorised(lambda answers, count, g: answers[0] + gaussian(g, sd, count, 1))
