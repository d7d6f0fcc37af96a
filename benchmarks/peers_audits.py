"""`python -m benchmarks.peers_audits`: refdp's black box beside DP-Sniper, on mechanisms of the zoo, at equal runs.

Needs a copy of DP-Sniper (github.com/eth-sri/dp-sniper) on PYTHONPATH, with PyTorch and tensorboard; nothing of it is
part of refdp. Writes docs/audit-peers.md from results/peers_audits.jsonl; a cell that is there is not run again. About
two minutes of processor time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import kept_lines
from refdp.audit import epsilon_lower_bound
from refdp.audit.zoo import Specimen, specimen

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "peers_audits.jsonl"
PAGE = ROOT / "docs" / "audit-peers.md"
CONFIDENCE = 1 - 1e-9
SIZES = (1_000, 4_000, 16_000, 64_000)
"""Runs a side."""
SHARES = (0.01, 0.1, 0.3)
"""Probabilities of the event that DP-Sniper looks for, its c."""
NAMES = (
    "Laplace count, scale x 0.5",
    "Laplace count, scale x 0.9",
    "three counts for the price of one",
    "one noise for two counts",
    "noisy max, half the noise",
    "noisy max, value released, Laplace",
    "exponential mechanism without its factor 2",
    "sparse vector 3",
    "sparse vector 4",
    "sparse vector 5",
    "sparse vector 6",
)
HEAD = """# Beside another black-box auditor

**At equal runs refdp's black box is ahead of DP-Sniper or level with it in {ahead} of {cells} cells.**

| question | answer |
|---|---|
| bounds at equal runs, and runs until a claim falls | [the table](#bounds) |
| what is not compared, and why | [the end](#not-compared) |

Written by `python -m benchmarks.peers_audits`. Mechanisms and neighbours are those of refdp's [zoo](audit-zoo.md), the
pair is given to both, and both draw from the same vectorised function. Bounds hold at confidence 1 - 1e-9. refdp spends
the runs as it always does, all looks paid for. DP-Sniper (Bichsel, Steffen, Bogunovic, Vechev 2021; commit ee087b2, its
logistic regression) gets a third of them to train, a third for its threshold and a third for the bound, and for
nothing the best of two directions and of c = 0.01, 0.1 and 0.3, each with runs of its own. It is made for millions of
runs; these are few, as trainers are slow. *truth*: the least ε for this pair, where it is known. One seed: differences
below a tenth mean nothing. {behind}

## Bounds

"""
TAIL = """
## Not compared

| auditor | why it has no line |
|---|---|
| StatDP (Ding et al. 2018; commit d1f1e8f) | p-values of events over a grid of ε, without a confidence \
for what it chose among: no bound of it can stand beside these; one run a call. \
`pip install statdp`: "No matching distribution found" |
| dp_auditorium (Google) | its testers are TensorFlow's. `pip install dp-auditorium`: "No matching distribution found" |
| dp-recorder (Re:cord-play) | it opens noise functions, as refdp's replay does, and bounds no ε from outputs. \
`pip install dp-recorder`: "No matching distribution found" |
"""


def by_refdp(one: Specimen, size: int, seed: int) -> float:
    """The bound."""
    bound = epsilon_lower_bound(one.mechanism, one.pair, one.delta, confidence=CONFIDENCE, samples=size, seed=seed)
    return float(bound.lower)


def by_sniper(one: Specimen, size: int, seed: int) -> float:
    """The best bound of the two directions and SHARES."""
    import torch
    from dpsniper.attack.dpsniper import DPSniper  # type: ignore[import-not-found]
    from dpsniper.classifiers.classifier_factory import LogisticRegressionFactory  # type: ignore[import-not-found]
    from dpsniper.classifiers.torch_optimizer_factory import SGDOptimizerFactory  # type: ignore[import-not-found]
    from dpsniper.probability.estimators import EpsEstimator, PrEstimator  # type: ignore[import-not-found]
    from dpsniper.search.ddconfig import DDConfig  # type: ignore[import-not-found]
    from dpsniper.utils.initialization import initialize_dpsniper  # type: ignore[import-not-found]

    generator = np.random.default_rng(seed)
    torch.manual_seed(seed)

    class Mechanism:
        def m(self, records: Any, n_samples: int = 1) -> Any:
            return one.mechanism.batch(records, n_samples, generator)

    third = size // 3
    check = third if third < 10_000 else third // 1_000 * 1_000  # what it allows
    settings = {"n_train": third, "n": third, "n_check": check, "training_batch_size": third}
    width = one.mechanism.batch(one.pair[0], 1, generator).shape[1]
    factory = LogisticRegressionFactory(in_dimensions=width, optimizer_factory=SGDOptimizerFactory())
    mechanism, bounds = Mechanism(), [0.0]
    configs = [DDConfig(c=share, n_processes=1, confidence=CONFIDENCE, **settings) for share in SHARES]
    with tempfile.TemporaryDirectory() as folder, initialize_dpsniper(configs[0], out_dir=folder, torch_threads=1):
        for config, (first, second) in product(configs, (one.pair, one.pair[::-1])):
            attack = DPSniper(mechanism, factory, config).best_attack(first, second)
            estimate = EpsEstimator(PrEstimator(mechanism, config.n_check, config))
            bounds.append(float(estimate.compute_eps_estimate(first, second, attack)[1]))
    return max(bound for bound in bounds if np.isfinite(bound))


AUDITORS = {"refdp": by_refdp, "DP-Sniper": by_sniper}


def page(rows: list[dict[str, Any]]) -> str:
    """The page."""
    found = {(row["name"], row["auditor"], row["size"]): row["bound"] for row in rows}
    names = [name for name in NAMES if all((name, who, n) in found for who in AUDITORS for n in SIZES)]
    cells = [(name, size) for name in names for size in SIZES]
    behind = [(n, s) for n, s in cells if found[n, "refdp", s] < found[n, "DP-Sniper", s] - 1e-9]
    told = "; ".join(f"{n} at {s:,} runs" for n, s in behind)
    shares = {who: _share(found, names, who) for who in AUDITORS}
    note = f"refdp is behind in: {told}: linear scores suit these, and its direction is a gift." if behind else ""
    head = HEAD.format(ahead=len(cells) - len(behind), cells=len(cells), behind=note).replace(". \n", ".\n")
    lines = ["| mechanism | claim | truth | auditor | " + " | ".join(f"{size:,}" for size in SIZES)]
    lines.append(" | claim falls at |\n" + "|---" * (5 + len(SIZES)) + "|\n")
    for name in names:
        one = specimen(name)
        for who in AUDITORS:
            bounds = [found[name, who, size] for size in SIZES]
            falls = next((f"{size:,}" for size, bound in zip(SIZES, bounds) if bound > one.claimed), "-")
            truth = "" if one.on_pair is None else f"{one.on_pair:.3g}"
            told = " | ".join(f"{bound:.2f}" for bound in bounds)
            lines.append(f"| {name} | {one.claimed:g} | {truth} | {who} | {told} | {falls} |\n")
    told = ", ".join(f"{share:.0%} by {who}" for who, share in shares.items())
    return (
        head + "".join(lines) + f"\nShare of the truth that is shown at {SIZES[1]:,} runs, on average: {told}.\n" + TAIL
    )


def _share(found: dict[tuple[str, str, int], float], names: list[str], who: str) -> float:
    """Average of bound over truth at 4,000 runs, where the truth is known and finite."""
    truths = {name: specimen(name).on_pair for name in names}
    shown = [min(found[n, who, SIZES[1]] / t, 1.0) for n, t in truths.items() if t is not None and t < float("inf")]
    return float(np.mean(shown))


def main() -> None:
    """Run what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    RESULTS.parent.mkdir(exist_ok=True)
    rows = kept_lines.read(RESULTS)
    done = {(row["name"], row["auditor"], row["size"]) for row in rows}
    todo = [(n, who, s) for s in SIZES for n in NAMES for who in AUDITORS if (n, who, s) not in done]
    for name, who, size in [] if options.page else todo:
        start = time.process_time()
        bound = AUDITORS[who](specimen(name), size, 1)
        row = {"name": name, "auditor": who, "size": size, "bound": bound, "seconds": time.process_time() - start}
        print(row, flush=True)
        rows.append(row)
        kept_lines.append(RESULTS, row)
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
