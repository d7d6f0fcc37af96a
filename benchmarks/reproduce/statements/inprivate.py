"""The statements of section VII about trends, each decided by the results of every data set and variant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.reproduce.study import inprivate as study

Curves = Callable[..., Any]
SLIGHT = 0.02
"""A loss of at most so much of the accuracy, or of the MAE of labels in [-1, 1], is called slight here."""


@dataclass(frozen=True)
class Statement:
    """A statement of the paper on one data set and variant. verdict: holds, does not hold, or not run."""

    text: str
    where: str
    data: str
    variant: str
    figures: str
    verdict: str


def fell(before: Any, after: Any) -> bool:
    """Whether the mean fall exceeds twice its standard error. before, after: one value a run, in pairs."""
    change = before - after
    return bool(change.mean() > 2 * change.std(ddof=1) / np.sqrt(len(change)))


def _trend(
    text: str, where: str, data: str, variant: str, names: tuple[str, str], before: Any, after: Any
) -> Statement:
    if len(before) < 2 or len(before) != len(after):
        return Statement(text, where, data, variant, "", "not run")
    figures = f"{names[0]}: {before.mean():.4f}, {names[1]}: {after.mean():.4f}"
    return Statement(text, where, data, variant, figures, "holds" if fell(before, after) else "does not hold")


def _slight(curves: Curves, data: str, variant: str) -> Statement:
    text = f"Privacy has only a slight impact (at most {SLIGHT:g} here), epsilon = 1, 20 owners"
    reference = "no privacy" if variant == "repaired" else f"{variant}, no privacy"
    noisy, plain = (curves("participants", data, name) for name in (variant, reference))
    if not noisy.size or not plain.size:
        return Statement(text, "VII-B1", data, variant, "", "not run")
    loss = float(noisy[:, -1].mean() - plain[:, -1].mean())
    return Statement(text, "VII-B1", data, variant, f"{loss:+.4f}", "holds" if loss <= SLIGHT else "does not hold")


def _column(found: Any, position: int) -> Any:
    return found[:, position] if found.size else np.empty(0)


def statements(curves: Curves) -> Iterator[Statement]:
    """Every statement, on every data set and variant that it is about."""
    for data in study.DATA:
        for variant in study.VARIANTS:
            by_owner = curves("participants", data, variant)
            yield _trend("More participants, better result", "VII-B1", data, variant, ("1 owner", "20 owners"),
                         _column(by_owner, 0), _column(by_owner, -1))  # fmt: skip
    for data in study.DATA:
        for variant in ("repaired", "printed"):
            yield _slight(curves, data, variant)
    for data in study.DATA:
        for variant in study.VARIANTS:
            few, many = (_column(curves("size", data, variant, each), -1) for each in (study.SIZES[0], study.SIZES[-1]))
            yield _trend("More records of each participant, better result", "VII-B2", data, variant,
                         (f"{study.SIZES[0]}", f"{study.SIZES[-1]:,}"), few, many)  # fmt: skip
    for data in study.DATA:
        for variant in study.VARIANTS:
            rounds = curves("rounds", data, variant, 2_000)
            yield _trend("More rounds, better result", "VII-B3", data, variant, ("1 round", f"{study.ROUNDS} rounds"),
                         _column(rounds, 0), _column(rounds, -1))  # fmt: skip
    for data in study.DATA:
        for variant in ("repaired", "printed"):
            low, high = (_column(curves("budget", data, variant, study.EACH, epsilon), -1)
                         for epsilon in (study.EPSILONS[0], study.EPSILONS[-1]))  # fmt: skip
            yield _trend("Smaller budget, worse result", "VII-B4", data, variant,
                         (f"epsilon {study.EPSILONS[0]:g}", f"{study.EPSILONS[-1]:g}"), low, high)  # fmt: skip
