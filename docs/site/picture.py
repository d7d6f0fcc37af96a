"""docs/figures/front.png: what Lemma 1 of DPBoost allows and what one record does; what the errata hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from proofs.tool.errata import PAPERS, PRINTED, kind_words, paper_of
from refdp.ledger.claims import committed
from refdp.papers.dpboost import gain

TARGET = Path(__file__).parents[1] / "figures" / "front.png"
COLOURS = ("#b3261e", "#d9822b", "#3b6fb5", "#9aa3ad", "#d5d9de")


def change(gradient: float, count: int = 10, each: float = -1.0, regularisation: float = 0.1) -> float:
    """How the gain of a child changes when a record joins `count` records of gradient `each`; units of g*^2."""
    before = gain(count * each, count, 0.0, 0, regularisation)
    return float(gain(count * each + gradient, count + 1, 0.0, 0, regularisation) - before)


def counted() -> dict[str, list[int]]:
    """For every paper the number of errata of what it prints, of each kind, the incomplete statements last."""
    own = {paper: [kind_words(claim) for claim in committed() if paper_of(claim) == paper] for paper in PAPERS}
    return {paper: [words.count(kind) for kind in PRINTED] for paper, words in own.items()}


def draw(target: Path = TARGET) -> None:
    """Both halves of the picture."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    gradients, allowed = np.linspace(-1, 1, 201), float(2.3 / (1.1 * 2.1))
    left.axhspan(-allowed, allowed, color="#e3f1e6", label=f"Lemma 1 allows {allowed:.3f}")
    left.plot(gradients, [change(g) for g in gradients], color="#0b3d91", label="the gain changes by")
    left.plot([1], [change(1.0)], "o", color=COLOURS[0])
    left.annotate(f"{change(1.0):.2f}", (1, change(1.0)), (-48, -1), textcoords="offset points", color=COLOURS[0])
    left.set(xlabel="gradient of a record that joins ten of gradient -1", ylabel="change of the gain, in g*²")
    left.set_title("A false lemma, and the record that shows it", fontsize=11)
    left.legend(loc="lower left", frameon=False, fontsize=9)
    numbers, start = counted(), np.zeros(len(PAPERS))
    for index, kind in enumerate(PRINTED):
        widths = np.array([row[index] for row in numbers.values()])
        right.barh(list(numbers), widths, left=start, color=COLOURS[index], label=kind)
        start += widths
    right.set_xlim(0, 36)
    right.invert_yaxis()
    right.set_title(f"{int(start.sum())} corrections of printed statements", fontsize=11)
    right.legend(frameon=False, fontsize=9, loc="lower right")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    draw()
