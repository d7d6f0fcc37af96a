"""What Grove's start is worth for a regression, beside the rule before it: no trees, labels of six distributions.

    python -m benchmarks.grove_start        # all of it anew, to benchmarks/grove_start.jsonl
    python -m benchmarks.grove write        # the table, on docs/grove.md

A draw of `ROWS` labels of each, noise as of all that start has at a strength nu, `DRAWS` times. The old rule kept
every one of 64 bins whose noisy count is at least 1.5 deviations of its noise. Abalone is not among the distributions:
it judges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import kept_lines
from benchmarks.league.cells import loaded
from refdp.data.records import Interval, Numeric, Schema
from refdp.own import grove
from refdp.privacy.events import Relation

KEPT = Path(__file__).with_suffix(".jsonl")
ROWS, DRAWS, SHARE = 5000, 200, 0.1
STRENGTHS = (15, 60, 120, 250, 500, 2000)
REAL = ("king_county_house_sales", "year_prediction_msd_timbre12", "year_prediction_msd")
SCHEMA = Schema((Numeric("x", 0, 1),), Interval(-1, 1))
Rule = Callable[[Any, float], Any]


def labels() -> Mapping[str, Any]:
    """Labels in [-1, 1], shape (ROWS,): of three sets, and made up: skewed, narrow and even."""
    rng, found = np.random.default_rng(1), {}
    for name in REAL:
        whole = loaded(name)
        assert isinstance(whole.target, Interval)
        found[name] = rng.choice(np.clip(whole.target.scaled(whole.y), -1, 1), ROWS)
    found["skewed"] = np.clip(-1 + 0.1 * rng.exponential(1, ROWS), -1, 1)
    found["narrow"] = np.clip(0.3 + 0.05 * rng.normal(size=ROWS), -1, 1)
    found["even"] = rng.uniform(-1, 1, ROWS)
    return found


def every_bin(noisy: Any, least: float) -> Any:
    """The rule that was replaced."""
    return np.where(noisy >= least, noisy, 0.0)


def worth(y: Any, nu: float, bins: int, rule: Rule, rng: np.random.Generator) -> tuple[float, float]:
    """RMSE of the constant at the centre, and c, each over the deviation of the labels; means of `DRAWS`."""
    sd = len(y) / (nu * math.sqrt(SHARE))
    counts = np.histogram(y, np.linspace(-1, 1, bins + 1))[0]
    found = []
    for _ in range(DRAWS):
        centre, c = grove.centre_and_scale(rule(counts + rng.normal(0, sd, bins), 1.5 * sd))
        found.append((math.sqrt(float(np.mean((y - centre) ** 2))), c))
    error, scale = np.mean(found, 0) / np.std(y)
    return float(error), float(scale)


def bins_at(nu: float) -> int:
    """Bins of a run of this strength."""
    rows = 1_000_000
    params = grove.Params(1.0, Relation.ADD_REMOVE, rows=rows, start_share=SHARE)
    return grove.Params(1.0, Relation.ADD_REMOVE, rows=round(nu * rows / params.strength(SCHEMA)),
                        start_share=SHARE).histogram_bins(SCHEMA, SHARE)  # fmt: skip


def run() -> None:
    """Means over the six distributions, by both rules."""
    known = labels()
    KEPT.write_text("", encoding="utf-8")
    for nu in STRENGTHS:
        bins = bins_at(nu)
        for rule, of in ((grove.in_one_piece, bins), (every_bin, grove.LABEL_BINS)):
            rng = np.random.default_rng(2)
            error, c = np.mean([worth(y, nu, of, rule, rng) for y in known.values()], 0)
            found = {"nu": nu, "rule": rule.__name__, "bins": of, "error": round(error, 4), "c": round(c, 4)}
            kept_lines.append(KEPT, found)


def rows() -> Iterator[str]:
    """The table."""
    yield "| nu | bins | error, now | every bin above its noise | c, now | every bin above its noise |"
    yield "|---" * 6 + "|"
    found = kept_lines.read(KEPT)
    for now, before in zip(found[::2], found[1::2], strict=True):
        yield (f"| {now['nu']} | {now['bins']} | {now['error']:.2f} | {before['error']:.2f} | {now['c']:.1f} "
               f"| {before['c']:.1f} |")  # fmt: skip


if __name__ == "__main__":
    run()
