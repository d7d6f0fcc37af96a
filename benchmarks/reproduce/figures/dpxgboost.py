"""The plots of the DP-XGBoost page: loss against epsilon (Figures 5 and 6), bins (Figure 1), minimum (Figure 2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.reproduce.page import COLOURS, STYLE, Cells, Sample, pyplot, save, table
from benchmarks.reproduce.statements.dpxgboost_text import PRINTED, PRINTED_BENCHMARK
from benchmarks.reproduce.study import dpxgboost as study
from benchmarks.reproduce.study.dpxgboost_data import TASKS

LINES = {
    "published": COLOURS[1],
    "published-500": COLOURS[5],
    "script": COLOURS[3],
    "average": COLOURS[0],
    "chosen": COLOURS[2],
}


def _unit(data: str) -> float:
    return 1.0 if data in ("abalone", "synthetic-reg") else 100.0


def _line(axis: Any, points: dict[float, Sample], unit: float, **style: Any) -> None:
    done = {at: one for at, one in points.items() if len(one.values) > 1}
    heights, bars = [unit * one.mean for one in done.values()], [unit * one.deviation for one in done.values()]
    axis.errorbar(list(done), heights, bars, marker="o", markersize=3, linewidth=1.2, elinewidth=0.6,
                  capsize=2, **style)  # fmt: skip


def budget_figure(cells: Cells, data: str, docs: Path) -> Path:
    """Loss against epsilon: printed, as published, repaired."""
    unit = _unit(data)
    with pyplot.rc_context(STYLE):
        figure, axis = pyplot.subplots(figsize=(6, 3.2))
        axis.plot(study.EPSILONS, PRINTED[data], "k--", label="printed")
        axis.axhline(PRINTED_BENCHMARK[data], color="0.6", linestyle=":", label="printed, no privacy")
        for name, colour in LINES.items():
            points = {e: cells.sample("loss", "table", dataset=data, method=name, epsilon=e) for e in study.EPSILONS}
            _line(axis, points, unit, color=colour, label=study.METHODS[name].title)
        axis.set(title=TASKS[data].title, xlabel="epsilon", ylabel="RMSE" if unit == 1 else "test error, %",
                 ylim=(0, None))  # fmt: skip
        axis.legend(fontsize=7, bbox_to_anchor=(1.02, 1), loc="upper left")
        return save(figure, docs / "figures" / f"dpxgboost-{data}.png")


def bins_figure(cells: Cells, docs: Path) -> str:
    """Figure 1, at epsilon 1 as published: the private sketch against the same histogram without noise."""
    rows = []
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(1, len(study.FIGURE_1), figsize=(8, 3))
        for axis, data in zip(axes, study.FIGURE_1):
            for noise, colour in (("all", COLOURS[1]), ("all but sketch", COLOURS[0])):
                points = {float(bins): cells.sample("loss", "bins", dataset=data, bins=bins, noise=noise)
                          for bins in study.BINS}  # fmt: skip
                label = "private sketch" if noise == "all" else "sketch without noise"
                _line(axis, points, 100, color=colour, label=label)
                rows.append([f"{TASKS[data].title}, {label}", *(one.text(100) for one in points.values())])
            axis.set(title=f"{TASKS[data].title}, epsilon 1", xlabel="bins", xscale="log", ylabel="test error, %")
            axis.legend(fontsize=7)
        save(figure, docs / "figures" / "dpxgboost-bins.png")
    return "![bins](figures/dpxgboost-bins.png)\n\n" + table(["", *(f"{bins} bins" for bins in study.BINS)], rows)


def minimum_figure(cells: Cells, docs: Path) -> str:
    """Figure 2, on covtype as published. 32 and 96 are the 16% of the paper's 200 and 600."""
    rows = []
    with pyplot.rc_context(STYLE):
        figure, axis = pyplot.subplots(figsize=(6, 3.2))
        for number, leaf in enumerate(study.MINIMA):
            points = {e: cells.sample("loss", "minima", dataset="covtype", epsilon=e, leaf=leaf, constants="published")
                      for e in study.SOME}  # fmt: skip
            _line(axis, points, 100, color=COLOURS[number], label=leaf)
            rows.append([leaf, *(one.text(100) for one in points.values())])
        axis.set(title="covtype (16% sample), as published", xlabel="epsilon", ylabel="test error, %")
        axis.legend(fontsize=7, bbox_to_anchor=(1.02, 1), loc="upper left")
        save(figure, docs / "figures" / "dpxgboost-minimum.png")
    note = "Minima of 32 and 96 are 16%, the share of the records at hand, of the paper's 200 and 600.\n"
    return (
        f"![minimum](figures/dpxgboost-minimum.png)\n\n{table(['', *(f'ε = {e:g}' for e in study.SOME)], rows)}\n{note}"
    )
