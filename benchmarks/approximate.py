"""What a delta buys DPBoost and DP-XGBoost: python -m benchmarks.approximate [--seeds 3] [--minutes 60]

On Adult and Abalone, the same settings at the same epsilon, once pure and once at delta = 1e-6, where selections and
noisy values are composed by the accountant: the total of the pure epsilons that it allows, and accuracy on held-out
records (figures as in the league). Cells are kept in approximate.jsonl and go on where they stopped; the table is
written into docs/accounting.md. All cells take about ten minutes of one processor.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import kept_lines
from benchmarks.league.cells import HELD_OUT, figure, loaded, rounded, trained
from refdp.faces import registry
from refdp.faces.defaults import params_for
from refdp.io import datasets
from refdp.papers import dpxgboost
from refdp.papers.published import dpboost

RUNS, PAGE = Path(__file__).with_suffix(".jsonl"), Path(__file__).parents[1] / "docs" / "accounting.md"
HEAD = "| data | trainer | ε | sum of pure ε at δ = 1e-6 | pure: figure | at δ = 1e-6: figure |"
SETS, EPSILONS, DELTA = ("abalone", "adult"), (0.5, 1.0, 2.0), 1e-6
SINGLE = {"trees_per_ensemble": 1, "depth": 3, "trees": 20}
TRAINERS: dict[str, tuple[str, dict[str, Any]]] = {
    "DPBoost, default settings": ("dpboost", {}),
    "DPBoost, 20 ensembles of one tree": ("dpboost", SINGLE),
    "DP-XGBoost, default settings": ("dpxgboost", {}),
}
Row = dict[str, Any]


def total(paper: str, data: str, epsilon: float, given: dict[str, Any]) -> float:
    """The pure epsilons of all releases, added up."""
    training, _ = datasets.train_test(loaded(data), HELD_OUT, 0)
    schema = training.records(allow_observed=True).schema
    stated = {"epsilon": epsilon, "relation": "add-remove", "delta": DELTA, **given}
    params = params_for(registry.paper(paper), stated, schema, rows=rounded(len(training.y)))
    return float((dpboost if paper == "dpboost" else dpxgboost).total_epsilon(params, schema))


def cell(data: str, name: str, epsilon: float, seed: int) -> Row:
    """Both figures of one cell."""
    paper, given = TRAINERS[name]
    training, held_out = datasets.train_test(loaded(data), HELD_OUT, seed)
    found = {
        key: round(figure(held_out, trained(paper, training, held_out.x, epsilon, seed, delta=delta, **given)), 5)
        for key, delta in (("pure", 0.0), ("approximate", DELTA))
    }
    return {"data": data, "trainer": name, "epsilon": epsilon, "seed": seed, **found,
            "total": round(total(paper, data, epsilon, given), 4)}  # fmt: skip


def read() -> list[Row]:
    """The cells that are kept."""
    return kept_lines.read(RUNS)


def table(rows: list[Row]) -> list[str]:
    """Means over seeds and their standard errors."""
    lines = [HEAD, "|---|---|---|---|---|---|"]
    for data, name, epsilon in itertools.product(SETS, TRAINERS, EPSILONS):
        own = [r for r in rows if (r["data"], r["trainer"], r["epsilon"]) == (data, name, epsilon)]
        if own:
            cells = [shown([row[key] for row in own]) for key in ("pure", "approximate")]
            kind = "AUC" if data == "adult" else "relative error"
            lines.append(f"| {data} ({kind}) | {name} | {epsilon:g} | {own[0]['total']:.3f} | {' | '.join(cells)} |")
    return lines


def shown(figures: list[float]) -> str:
    """The mean and what it is off by."""
    error = np.std(figures, ddof=1) / np.sqrt(len(figures)) if len(figures) > 1 else np.nan
    return f"{np.mean(figures):.4f} ± {error:.4f}"


def main() -> None:
    """Run what is missing, write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=1e6)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    there, end = {(r["data"], r["trainer"], r["epsilon"], r["seed"]) for r in read()}, time.monotonic()
    for seed, data, name, epsilon in itertools.product(range(options.seeds), SETS, TRAINERS, EPSILONS):
        if (data, name, epsilon, seed) in there or time.monotonic() > end + 60 * options.minutes:
            continue
        kept_lines.append(RUNS, cell(data, name, epsilon, seed))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(HEAD)
    lines = table(read())
    PAGE.write_text("\n".join([before + "\n".join(lines), "", rest.partition("\n\n")[2]]), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
