"""Processor time of exact discrete noise over that of floating noise, whole trainings of all five papers in one run.

`python -m benchmarks.discrete`: about a minute. Each figure is the least of alternating runs.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np

from refdp.data.records import Classes, Numeric, Records, Schema, make_records
from refdp.papers import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource

ROWS, FEATURES, REPEATS, LARGEST = 20_000, 20, 9, 1.3
RUNS: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    ("DPBoost", dpboost, {"trees": 20}),
    ("DP-XGBoost", dpxgboost, {"trees": 10}),
    ("DP-XGBoost, quantiles", dpxgboost, {"trees": 10, "candidates": "quantiles"}),
    ("fedgbdt, histograms", fedgbdt, {"trees": 10, "splits": "histogram", "accounting": "renyi"}),
    ("fedgbdt, totally random", fedgbdt, {"trees": 50, "accounting": "renyi"}),
    ("InPrivate", inprivate, {"owners": 4, "rounds": 2}),
    ("S-GBDT", sgbdt, {"trees": 50}),
)


def records() -> Records:
    """Made-up records of two classes."""
    generator = np.random.default_rng(0)
    x = generator.random((ROWS, FEATURES))
    schema = Schema(tuple(Numeric(f"x{i}", 0.0, 1.0) for i in range(FEATURES)), Classes(("no", "yes")))
    return make_records(schema, x, (x[:, 0] + x[:, 1] ** 2 + generator.random(ROWS) > 1.3).astype(np.float64))


def seconds(module: Any, given: dict[str, Any], noise: str, data: Records, seed: int) -> float:
    """Of one training."""
    params = module.Params(epsilon=1.0, relation=Relation.ADD_REMOVE, noise=noise, **given)
    curator = Curator(SampleSource(np.random.default_rng(seed), exact=noise == "discrete"), params.relation)
    start = process_time()
    module.train(params, data, curator)
    return process_time() - start


def main() -> None:
    """One line a run."""
    data = records()
    for name, module, given in RUNS:
        pairs = [
            [seconds(module, given, noise, data, seed) for noise in ("floating", "discrete")]
            for seed in range(REPEATS + 1)
        ]
        least = [min(column) for column in zip(*pairs[1:])]
        ratio = least[1] / least[0]
        print(f"{name:26s} floating {least[0]:.3f} s, discrete {least[1]:.3f} s: {ratio:.2f} times"
              f"{'' if ratio <= LARGEST else f', more than {LARGEST}'}")  # fmt: skip


if __name__ == "__main__":
    main()
