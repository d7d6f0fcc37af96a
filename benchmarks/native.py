"""The C++ client's processor time beside refdp's and xgboost's: whole trainings, one thread, ratios in one run.

    python -m benchmarks.native [--rows 1000000] [--trees 10] [--repeats 3]

The client computes without noise (draws of 0, made-up public draws), refdp with floating noise of its own, xgboost by
its histograms; binning is in all three. DPBoost trains sequentially at a large epsilon: both see the same rows. The
C++ model of DPBoost is compared with refdp's on the same draws of 0.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.kernels import binned_by_xgboost, boost_by_xgboost, made_up
from refdp.conform.made import MadeSource, chance_of
from refdp.conform.vector import ensemble_json, params_json, schema_json
from refdp.data.records import Interval, Numeric, Records, Schema, make_records
from refdp.faces import registry
from refdp.noise.draws import Draws
from refdp.privacy.curator import Array, Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource

FEATURES, DEPTH, EPSILON = 20, 4, 1e4
SOURCE = Path(__file__).parents[1] / "conform" / "clients" / "boosted.cpp"
OPTIONS = ["-O2", "-std=c++17", "-ffp-contract=off"]


class Zeros(MadeSource):
    """Draws of 0, and every record in the first block."""

    def standard(self, draws: Draws) -> Array:
        """Nothing is added."""
        return np.zeros(draws.shape)


def settings(trees: int) -> dict[str, dict[str, Any]]:
    """Of each paper."""
    return {
        "dpboost": {"trees": trees, "depth": DEPTH, "scheme": "seq", "noise": "floating"},
        "fedgbdt": {"trees": trees, "depth": DEPTH, "noise": "floating"},
        "sgbdt": {"trees": trees, "depth": DEPTH, "noise": "floating", "features": "cyclic", "subsample": 1.0},
    }


def params_of(paper: str, trees: int) -> Any:
    """Parameters of a paper."""
    epsilon = EPSILON if paper == "dpboost" else 100.0
    return registry.paper(paper).module.Params(epsilon, Relation.ADD_REMOVE, **settings(trees)[paper])


def records(rows: int) -> Records:
    """Those of the kernels' benchmark, with public bounds."""
    x, y = made_up(rows, FEATURES)
    bounds = tuple(Numeric(f"x{i}", 0.0, 1.0) for i in range(FEATURES))
    return make_records(Schema(bounds, Interval(-0.6, 1.1)), x, y)


class Native:
    """The compiled client with its data in files."""

    def __init__(self, folder: Path, data: Records) -> None:
        self._program, self._data, self._input = folder / "boosted", folder / "data", folder / "input.json"
        self._schema = schema_json(data.schema)
        self._rows = data.size
        subprocess.run(["g++", *OPTIONS, "-o", self._program, SOURCE], check=True)
        self._data.write_bytes(np.asfortranarray(data.x).tobytes(order="F") + data.y.tobytes())

    def run(self, paper: str, params: Any) -> tuple[float, dict[str, Any]]:
        """Seconds, and releases and model."""
        body = {"paper": paper, "params": params_json(params), "schema": self._schema, "rows": self._rows}
        self._input.write_text(json.dumps(body) + "\n")
        done = subprocess.run([self._program, "--time", self._input, self._data], capture_output=True, check=True)
        model, seconds = map(json.loads, done.stdout.splitlines())
        return float(seconds["seconds"]), model


def seconds(work: Callable[[], object]) -> float:
    """Processor time."""
    start = process_time()
    work()
    return process_time() - start


def trained(paper: str, params: Any, data: Records) -> Any:
    """By refdp, with noise."""
    curator = Curator(SampleSource(np.random.default_rng(0)), params.relation)
    return registry.paper(paper).module.train(params, data, curator)


def by_xgboost(data: Records, trees: int) -> object:
    """By xgboost, binning included."""
    return boost_by_xgboost(binned_by_xgboost(np.ascontiguousarray(data.x), data.y), trees)


def same(native: Native, params: Any, data: Records) -> bool:
    """Whether both make the same DPBoost of draws of 0."""
    curator = Curator(Zeros(chance_of("native")), params.relation)
    ours = registry.paper("dpboost").module.train(params, data, curator)
    told = native.run("dpboost", params)[1]["model"]
    return bool(leaves(told) == leaves([ensemble_json(one) for one in ours.outputs]))


def leaves(model: list[dict[str, Any]]) -> list[list[float]]:
    """Every split and leaf of each tree as numbers."""
    return [
        [float.fromhex(v) for part in ("splits", "leaves") for v in tree[part]["values"]]
        for one in model
        for tree in one["trees"]
    ]


def measured(native: Native, data: Records, trees: int, repeats: int) -> dict[tuple[str, str], float]:
    """Best seconds by paper and program; they take turns."""
    found: dict[tuple[str, str], float] = {}
    for _ in range(repeats):
        for paper in settings(trees):
            params = params_of(paper, trees)
            work = {"refdp": seconds(partial(trained, paper, params, data)), "C++": native.run(paper, params)[0]}
            if paper == "dpboost":
                work["xgboost"] = seconds(partial(by_xgboost, data, trees))
            for program, spent in work.items():
                found[paper, program] = min(spent, found.get((paper, program), np.inf))
    return found


def main() -> None:
    """One table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    data = records(options.rows)
    with tempfile.TemporaryDirectory() as folder:
        native = Native(Path(folder), data)
        found = measured(native, data, options.trees, options.repeats)
        equal = same(native, params_of("dpboost", options.trees), data)
    table = Table("paper", "refdp s", "C++ s", "xgboost s", "refdp / C++", title=f"{options.rows:,} x {FEATURES}")
    for paper in settings(options.trees):
        ours, theirs, boosted = (found.get((paper, one)) for one in ("refdp", "C++", "xgboost"))
        cells = [f"{one:.2f}" if one else "" for one in (ours, theirs, boosted)]
        table.add_row(paper, *cells, f"{ours / theirs:.2f}" if ours and theirs else "")
    console = Console(width=100)
    console.print(table)
    console.print(f"{options.trees} trees of depth {DEPTH}; DPBoost of draws of 0 the same in both: {equal}")


if __name__ == "__main__":
    main()
