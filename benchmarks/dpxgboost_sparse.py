"""DP-XGBoost on sparse records like w8a: 50,000 of 300 binary columns, 4% filled.

    python -m benchmarks.dpxgboost_sparse

Dense and sparse, each in a process of its own, on the same seed; models must be equal to the last bit. "2 bins" uses
the public knowledge that columns are binary; with 64 bins a column most time goes into candidates, not into records.
Memory is the peak of what training allocates, the records handed over included, from a second, traced run. Writes
benchmarks/reproduce/kept/dpxgboost_sparse.json, which docs/dpxgboost.md shows.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, random_array

from refdp.data.records import Classes, Floats, Numeric, Schema, make_records
from refdp.data.sparse import make_sparse_records
from refdp.papers import dpxgboost
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource

FILE = Path(__file__).parent / "reproduce" / "kept" / "dpxgboost_sparse.json"
ROWS, COLUMNS, FILLED = 50_000, 300, 0.04
SCHEMA = Schema(tuple(Numeric(f"x{i}", 0.0, 1.0) for i in range(COLUMNS)), Classes(("no", "yes")))
RATES = (1.0, 0.1)
WAYS = ("dense", "sparse")
BINS = (64, 2)


def made(filled: float = FILLED) -> tuple[Any, Floats]:
    """Binary entries; the label depends on ten columns, like the classes of w8a a rare one."""
    generator = np.random.default_rng(0)
    x = csr_matrix(
        random_array((ROWS, COLUMNS), density=filled, rng=generator, data_sampler=lambda size: np.ones(size))
    )
    score = x[:, :10] @ generator.uniform(0.5, 2.0, 10) + generator.normal(0, 0.3, ROWS)
    return x, (score > 1.0).astype(np.float64)


def measure(way: str, bins: int, rate: float, filled: float) -> dict[str, Any]:
    """Train twice; seconds from the matrix to the model, then the peak of memory."""
    x, y = made(filled)
    start, used = time.perf_counter(), time.process_time()
    digest = fitted(way, bins, rate, x, y)
    seconds, cpu = time.perf_counter() - start, time.process_time() - used
    tracemalloc.start()
    fitted(way, bins, rate, x, y)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    return {"way": way, "bins": bins, "rate": rate, "filled": filled, "seconds": seconds, "cpu seconds": cpu,
            "peak MB": peak, "model": digest}  # fmt: skip


def fitted(way: str, bins: int, rate: float, x: Any, y: Floats) -> str:
    """A digest of the model."""
    params = dpxgboost.Params(
        10.0, Relation.ADD_REMOVE, leaf="average", subsample=rate, sketch_bins=bins, bins=bins // 2
    )
    records = make_records(SCHEMA, x.toarray(), y) if way == "dense" else make_sparse_records(SCHEMA, x, y, "zero")
    model = dpxgboost.train(params, records, Curator(SampleSource(np.random.default_rng(0)), params.relation))
    return hashlib.sha256(model.to_json().encode()).hexdigest()


def apart(*given: object) -> dict[str, Any]:
    """`measure` in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.dpxgboost_sparse", *map(str, given)]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def main() -> None:
    """All measurements, or one."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))))
        return
    runs = [apart(way, bins, rate, FILLED) for bins in BINS for rate in RATES for way in WAYS]
    for dense, sparse in zip(runs[::2], runs[1::2], strict=True):
        if dense["model"] != sparse["model"]:
            raise SystemExit(f"{dense['bins']} bins, subsampling {dense['rate']}: sparse and dense models differ")
    runs += [apart("sparse", 2, 1.0, filled) for filled in (FILLED / 4, FILLED / 2, 2 * FILLED, 4 * FILLED)]
    document = {"rows": ROWS, "columns": COLUMNS, "filled": FILLED, "runs": runs}
    FILE.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(FILE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
