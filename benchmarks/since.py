"""Processor time of this tree beside that of an earlier commit: the same work in turns, one thread.

python -m benchmarks.since d4e6823 [--repeats 2] [--rows 1000000]
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

ROOT, FEATURES = Path(__file__).parents[1], 20
MOVED = {"data.records": "records", "privacy.events": "events", "privacy.curator": "curator",
         "privacy.sources": "sources", "data.candidates": "candidates"}  # fmt: skip
"""Where modules were before they had rooms."""


def named(module: str, name: str) -> Any:
    """Something of refdp, of the tree that is imported."""
    folder = Path(importlib.import_module("refdp").__path__[0])
    there = module if (folder / (module.replace(".", "/") + ".py")).exists() else MOVED[module]
    return getattr(importlib.import_module(f"refdp.{there}"), name)


def seconds(work: Callable[[], object]) -> float:
    """Processor time."""
    start = process_time()
    work()
    return process_time() - start


def measured(rows: int) -> dict[str, float]:
    """What is timed, in this process's tree."""
    generator = np.random.default_rng(0)
    x = generator.random((rows, FEATURES))
    y = 0.3 * np.sin(6 * x[:, 0]) * x[:, 1] + 0.1 * x[:, 2]
    bounds = tuple(named("data.records", "Numeric")(f"x{i}", 0.0, 1.0) for i in range(FEATURES))
    schema = named("data.records", "Schema")(bounds, named("data.records", "Interval")(-0.6, 1.1))
    data = named("data.records", "make_records")(schema, x, y)
    relation = named("privacy.events", "Relation").ADD_REMOVE

    few = named("data.records", "make_records")(schema, x[:100], y[:100])

    def trained(paper: str, **given: Any) -> float:
        module = importlib.import_module(f"refdp.papers.{paper}")
        params = module.Params(epsilon=100.0, relation=relation, noise="floating", **given)

        def run(records: Any) -> None:
            source = named("privacy.sources", "SampleSource")(np.random.default_rng(0))
            module.train(params, records, named("privacy.curator", "Curator")(source, relation))

        run(few)  # libraries are imported, and noise is calibrated, outside the time
        return seconds(lambda: run(data))

    uniform = named("data.candidates", "uniform")
    return {
        "encoding, 32 thresholds": seconds(lambda: uniform(schema, 32).encode(data.x)),
        "encoding, 254 thresholds": seconds(lambda: uniform(schema, 254).encode(data.x)),
        "federated, totally random, 10 trees": trained("fedgbdt", trees=10, splits="totally-random"),
        "federated, histograms, 5 trees": trained("fedgbdt", trees=5, splits="histogram"),
        "DPBoost, sequential, 10 trees of depth 6": trained("dpboost", trees=10, scheme="seq", gradients="clip"),
    }


def run(tree: Path, rows: int) -> dict[str, float]:
    """The same in another tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    words = [sys.executable, __file__, "--work", "--rows", str(rows)]
    done = subprocess.run(words, cwd=tree, env=environment, capture_output=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """A table for a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?", default="d4e6823")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        print(json.dumps(measured(options.rows)))
        return
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "archive", options.commit], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        pairs = [(run(Path(folder), options.rows), run(ROOT, options.rows)) for _ in range(options.repeats)]
    print(f"| {options.rows:,} x {FEATURES} | {options.commit} s | now s | times |\n|---|---:|---:|---:|")
    for name in pairs[0][0]:
        before, now = (min(pair[place][name] for pair in pairs) for place in (0, 1))
        print(f"| {name} | {before:.2f} | {now:.2f} | {before / now:.1f} |")


if __name__ == "__main__":
    main()
