"""The plots of the DPBoost page: Figure 2 and Figure 3 of Li et al. (2020), run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import pyplot

from benchmarks.reproduce.page import COLOURS, STYLE, Cells, save
from benchmarks.reproduce.study.dpboost import CURVE_TASKS, CURVES, EPSILONS, METHODS, STEPS, TASKS, unit

PANELS = {
    "as published": ("np", "seq-published", "para-published", "para-code", "dpboost-printed", "dpboost-text"),
    "repaired": ("np", "seq", "para", "dpboost", "dpboost-replace-one"),
}
COLOUR = {
    "np": COLOURS[7], "seq-published": COLOURS[3], "seq": COLOURS[3], "para-published": COLOURS[2],
    "para": COLOURS[2], "para-code": COLOURS[6], "dpboost-printed": COLOURS[1], "dpboost-text": COLOURS[0],
    "dpboost": COLOURS[0], "dpboost-replace-one": COLOURS[5],
}  # fmt: skip


def budget_figure(cells: Cells, name: str, docs: Path) -> Path:
    """Loss against epsilon, published and repaired side by side; bars are one standard deviation."""
    factor, label, _ = unit(name)
    with pyplot.rc_context(STYLE):
        figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.4), sharey=True)
        for axes, (title, methods) in zip(panels, PANELS.items()):
            for method in methods:
                _budget_line(axes, cells, name, method, factor)
            constant = factor * cells.sample("constant", "budget", dataset=name, method="np").mean
            axes.axhline(constant, color="0.5", linestyle=":", label="best constant (not private)")
            axes.set(title=f"{TASKS[name].title}, {title}", xlabel="epsilon", xticks=EPSILONS)
            axes.legend(fontsize=6.5, ncol=2, columnspacing=1, loc="upper center", bbox_to_anchor=(0.5, -0.16))
        panels[0].set(ylabel=label, ylim=(0, None))
        return save(figure, docs / "figures" / f"dpboost-{name}.png")


def _budget_line(axes: Any, cells: Cells, name: str, method: str, factor: float) -> None:
    if method == "np":
        mean = factor * cells.sample("loss", "budget", dataset=name, method="np").mean
        axes.axhline(mean, color=COLOUR["np"], label="NP")
        return
    found = {e: cells.sample("loss", "budget", dataset=name, method=method, epsilon=e) for e in EPSILONS}
    done = {e: cell for e, cell in found.items() if len(cell.values) > 1}
    heights, bars = [factor * cell.mean for cell in done.values()], [factor * cell.deviation for cell in done.values()]
    axes.errorbar(list(done), heights, bars, color=COLOUR[method], label=METHODS[method].title, marker="o",
                  markersize=3, linewidth=1.2, elinewidth=0.6, capsize=2)  # fmt: skip


def curve_figure(cells: Cells, docs: Path) -> Path:
    """Test error against the number of trees, mean and range over the folds."""
    with pyplot.rc_context(STYLE):
        figure, panels = pyplot.subplots(1, len(CURVE_TASKS), figsize=(9, 3.6))
        for axes, name in zip(panels, CURVE_TASKS):
            for method in CURVES:
                values = 100 * cells.curves("loss", "curves", dataset=name, method=method)
                if len(values):
                    dashed = METHODS[method].group == "repaired"
                    axes.plot(STEPS, values.mean(axis=0), "--" if dashed else "-", color=COLOUR[method], linewidth=1.2,
                              label=METHODS[method].title)  # fmt: skip
                    low, high = values.min(axis=0), values.max(axis=0)
                    axes.fill_between(STEPS, low, high, color=COLOUR[method], alpha=0.12, linewidth=0)
            axes.set(title=TASKS[name].title, xlabel="trees", ylabel="test error, %", ylim=(0, None))
        if panels[-1].get_lines():
            panels[-1].legend(fontsize=7, bbox_to_anchor=(1.02, 1), loc="upper left")
        return save(figure, docs / "figures" / "dpboost-trees.png")
