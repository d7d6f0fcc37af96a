"""Noisy maxima and the exponential mechanism. Records are vectors of answers, each of which may change by up to 1."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from refdp.audit.runs import Vectorised
from refdp.audit.zoo.entry import Specimen
from refdp.audit.zoo.noise import Floats, exponential, laplace

Generator = np.random.Generator
OPPOSED = ((0.0, 1.0, 1.0, 1.0, 1.0), (1.0, 0.0, 0.0, 0.0, 0.0))
"""One answer rises, the four others fall."""
SHIFTED = ((0.0,) * 5, (1.0,) * 5)
"""All answers rise."""
SUITES = "StatDP, DP-Sniper, CheckDP"


def noisy_max(draw: Any, scale: float, *, value: bool = False, gap: bool = False) -> Vectorised:
    """Index of the largest noisy answer, or its noisy value, or index and distance to the next."""

    def run(answers: Any, count: int, generator: Generator) -> Floats:
        table = np.asarray(answers) + draw(generator, scale, count, len(answers))
        if value:
            return np.asarray(table.max(axis=1, keepdims=True))
        best = table.argmax(axis=1).astype(np.float64)
        if not gap:
            return np.asarray(best[:, None])
        ordered = np.sort(table, axis=1)
        return np.stack([best, ordered[:, -1] - ordered[:, -2]], axis=1)

    return Vectorised(run)


def noisy_maxima() -> Iterator[Specimen]:
    """Report Noisy Max and what goes wrong with it (Dwork, Roth 2014, Claim 3.9; Ding et al. 2018)."""
    limit = "exp(2/scale), approached where the answer that rises lies far below the others"
    yield Specimen(
        "noisy max, Laplace", noisy_max(laplace, 2.0), OPPOSED, 1.0, 1.0, limit, f"{SUITES} (1)",
    )  # fmt: skip
    yield Specimen(
        "noisy max, exponential noise", noisy_max(exponential, 2.0), OPPOSED, 1.0, 1.0,
        "permute and flip in other words (Ding et al. 2021)", f"{SUITES} (2)",
    )  # fmt: skip
    yield Specimen(
        "noisy max with gap", noisy_max(laplace, 2.0, gap=True), OPPOSED, 1.0, 1.0,
        "the gap is free (Ding et al. 2019)", "CheckDP",
    )  # fmt: skip
    yield Specimen(
        "noisy max, half the noise", noisy_max(laplace, 1.0), OPPOSED, 1.0, 2.0, limit,
        "mutant: one answer assumed to change", samples=30_000,
    )  # fmt: skip
    yield Specimen(
        "noisy max, value released, Laplace", noisy_max(laplace, 2.0, value=True), SHIFTED, 1.0, 2.5,
        "epsilon/2 for each of 5 answers; attained where the maximum is at most 0", f"{SUITES} (3)", on_pair=2.5,
        samples=10_000,
    )  # fmt: skip
    yield Specimen(
        "noisy max, value released, exponential noise", noisy_max(exponential, 2.0, value=True), SHIFTED, 1.0,
        math.inf, "no value lies below the largest answer", f"{SUITES} (4)", on_pair=math.inf, samples=30_000,
    )  # fmt: skip


def exponential_mechanism(coefficient: float) -> Vectorised:
    """An index with probability proportional to exp(coefficient x answer), by the Gumbel trick."""

    def run(answers: Any, count: int, generator: Generator) -> Floats:
        table = coefficient * np.asarray(answers) + generator.gumbel(size=(count, len(answers)))
        return np.asarray(table.argmax(axis=1)[:, None], dtype=np.float64)

    return Vectorised(run)


def chances(coefficient: float, answers: Any) -> Floats:
    """Exact probabilities of the exponential mechanism. Shape (options,)."""
    weights = np.exp(coefficient * np.asarray(answers))
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def exponential_mechanisms() -> Iterator[Specimen]:
    """McSherry and Talwar 2007: exp(epsilon u / 2) for scores that change by at most 1 in either direction."""
    for coefficient, name, samples in ((0.5, "exponential mechanism", 100_000),
                                       (1.0, "exponential mechanism without its factor 2", 5_000)):  # fmt: skip
        losses = np.log(chances(coefficient, OPPOSED[0])) - np.log(chances(coefficient, OPPOSED[1]))
        yield Specimen(
            name, exponential_mechanism(coefficient), OPPOSED, 1.0, 2 * coefficient,
            "exp(2 coefficient), approached where the score that rises lies far below many others",
            "dp_auditorium, StatDP", on_pair=float(np.abs(losses).max()), samples=samples,
        )  # fmt: skip


def randomised_response(keep: float, bits: int = 1) -> Vectorised:
    """Bits of the first record, each kept with probability `keep`, else flipped."""

    def run(records: Any, count: int, generator: Generator) -> Floats:
        flipped = generator.random((count, bits)) >= keep
        return np.asarray(np.asarray(records[:bits]) != flipped, dtype=np.float64)

    return Vectorised(run)


def responses() -> Iterator[Specimen]:
    """Warner 1965; Erlingsson et al. 2014 (RAPPOR)."""
    keep = math.e / (1 + math.e)
    yield Specimen(
        "randomised response", randomised_response(keep), ((0.0,), (1.0,)), 1.0, 1.0, "log(keep / (1 - keep))",
        "DP-Sniper", on_pair=1.0,
    )  # fmt: skip
    epsilon = math.log(0.8 / 0.2)
    yield Specimen(
        "randomised response, 4 in 5 kept", randomised_response(0.8), ((0.0,), (1.0,)), 1.0, epsilon,
        "log(keep / (1 - keep))", "mutant", on_pair=epsilon, samples=3_000,
    )  # fmt: skip
    epsilon = 4 * math.log(0.75 / 0.25)
    yield Specimen(
        "one-time RAPPOR, 2 hashes, f = 1/2", randomised_response(0.75, 20), _bloom(2, 20), epsilon, epsilon,
        "2 h log((1 - f/2)/(f/2)): 4 of 20 bits differ", "DP-Sniper (OneTimeRAPPOR)", on_pair=epsilon,
    )  # fmt: skip
    yield Specimen(
        "one-time RAPPOR, hashes counted once", randomised_response(0.75, 20), _bloom(2, 20), epsilon / 2, epsilon,
        "a changed value clears h bits and sets h others", "mutant", on_pair=epsilon, samples=30_000,
    )  # fmt: skip


def _bloom(hashes: int, bits: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Two values whose Bloom filters share no bit."""
    first = [float(bit < hashes) for bit in range(bits)]
    second = [float(hashes <= bit < 2 * hashes) for bit in range(bits)]
    return tuple(first), tuple(second)
