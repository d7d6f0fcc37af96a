"""What section 4.1 of Li et al. (2020) says about Figure 2, measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.reproduce.page import Cells, Sample
from benchmarks.reproduce.study.dpboost import EPSILONS, TASKS

CLASSES = tuple(name for name in TASKS if name != "abalone")


@dataclass(frozen=True)
class Variant:
    """DPBoost and the two baselines that it is compared with, by method name."""

    title: str
    ours: str
    seq: str
    para: str


VARIANTS = (
    Variant("as printed", "dpboost-printed", "seq-published", "para-published"),
    Variant("half for the leaves", "dpboost-text", "seq-published", "para-published"),
    Variant("same, PARA with the code's noise", "dpboost-text", "seq-published", "para-code"),
    Variant("repaired, add-remove", "dpboost", "seq", "para"),
    Variant("repaired, replace-one", "dpboost-replace-one", "seq", "para"),
)


@dataclass(frozen=True)
class Finding:
    """Whether a statement holds for a variant, and the figures that say so."""

    holds: bool
    figures: str

    def __str__(self) -> str:
        return f"**{'holds' if self.holds else 'does not hold'}**: {self.figures}"


class Statements:
    """The statements of section 4.1, each as a method from a variant to a finding. Errors in percent, RMSE in rings."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    def seq_is_near_half(self, variant: Variant) -> Finding:
        """Mean test error of SEQ over the budgets, per data set: all between 40% and 60%."""
        means = [np.mean([self._loss(name, variant.seq, e).mean for e in EPSILONS]) * 100 for name in CLASSES]
        return Finding(bool(min(means) >= 40 and max(means) <= 60), f"{min(means):.0f}% to {max(means):.0f}%")

    def beats_seq(self, variant: Variant) -> Finding:
        """Lower mean loss than SEQ on every data set at every budget."""
        return self._beats(variant.ours, variant.seq)

    def beats_para(self, variant: Variant) -> Finding:
        """Lower mean loss than PARA on every data set at every budget."""
        return self._beats(variant.ours, variant.para)

    def ten_points_at_one(self, variant: Variant) -> Finding:
        """At epsilon 1 at least 10 points below PARA, on average over the classification tasks."""
        lower = np.mean([self._lower(name, variant, 1.0) for name in CLASSES]) * 100
        return Finding(bool(lower >= 10), f"{lower:+.1f} points")

    def rmse_at_one(self, variant: Variant) -> Finding:
        """At epsilon 1 a lower RMSE than PARA on Abalone, by more than two standard errors."""
        ours, theirs = self._loss("abalone", variant.ours, 1.0), self._loss("abalone", variant.para, 1.0)
        return Finding(_below(ours, theirs), f"{ours.mean:.1f} against {theirs.mean:.1f} rings")

    def hardly_varies(self, variant: Variant) -> Finding:
        """Standard deviation over folds and repeats, mean over classification tasks and budgets: at most 1 point."""
        ours, seq, para = (self._deviation(method) for method in (variant.ours, variant.seq, variant.para))
        return Finding(ours <= 1, f"{ours:.1f} points (SEQ {seq:.1f}, PARA {para:.1f})")

    def close_to_np(self, variant: Variant) -> Finding:
        """At most 2 points above NP in at least half of the cells of the classification tasks."""
        excess = [
            100
            * (
                self._loss(name, variant.ours, e).mean
                - self._cells.sample("loss", "budget", dataset=name, method="np").mean
            )
            for name in CLASSES
            for e in EPSILONS
        ]
        near = sum(points <= 2 for points in excess)
        last = np.mean(excess[len(EPSILONS) - 1 :: len(EPSILONS)])
        first = np.mean(excess[:: len(EPSILONS)])
        figures = f"{near} of {len(excess)} cells; {first:+.0f} points at epsilon 1, {last:+.1f} at 10"
        return Finding(near >= len(excess) / 2, figures)

    def _loss(self, name: str, method: str, epsilon: float) -> Sample:
        return self._cells.sample("loss", "budget", dataset=name, method=method, epsilon=epsilon)

    def _lower(self, name: str, variant: Variant, epsilon: float) -> float:
        return self._loss(name, variant.para, epsilon).mean - self._loss(name, variant.ours, epsilon).mean

    def _deviation(self, method: str) -> float:
        return float(100 * np.mean([self._loss(name, method, e).deviation for name in CLASSES for e in EPSILONS]))

    def _beats(self, ours: str, theirs: str) -> Finding:
        pairs = [(self._loss(name, ours, e), self._loss(name, theirs, e)) for name in TASKS for e in EPSILONS]
        lower = sum(mine.mean < other.mean for mine, other in pairs)
        clearly = sum(_below(mine, other) for mine, other in pairs)
        opposite = sum(_below(other, mine) for mine, other in pairs)
        figures = f"lower in {lower} of {len(pairs)} cells, clearly lower in {clearly}, clearly higher in {opposite}"
        return Finding(lower == len(pairs), figures)


STATEMENTS = {
    'SEQ: "test errors are around 50% in the classification task"': Statements.seq_is_near_half,
    '"DPBoost can always outperform" SEQ': Statements.beats_seq,
    '"DPBoost can always outperform PARA"': Statements.beats_para,
    '"When the privacy budget is one, DPBoost can achieve 10% lower test errors"': Statements.ten_points_at_one,
    '"significant reduction on RMSE" (epsilon 1)': Statements.rmse_at_one,
    '"the variance of DPBoost is usually close to zero"': Statements.hardly_varies,
    '"The results of DPBoost and NP are quite close in many cases"': Statements.close_to_np,
}


def _below(mine: Sample, other: Sample) -> bool:
    """Lower by more than two standard errors of the difference."""
    return other.mean - mine.mean > 2 * float(np.hypot(mine.error, other.error))
