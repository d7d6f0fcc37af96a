"""Dask against memory: processor time by ratio in one run, bytes a round, and the driver's memory.

    python -m benchmarks.dask_engine [--rows 1000000] [--features 20] [--trees 100] [--partitions 16] [--workers 2]

The rows are written as parquet once. In memory: records made from the whole table, then trained on. On Dask: partitions
loaded by processes, then trained on; their processor time is added to the driver's. Loading is shown apart. Models are
compared byte for byte.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from refdp.data.memory import Memory
from refdp.data.records import Classes, Numeric, Schema, make_records
from refdp.engines.dask import CLUSTER, DaskPopulation
from refdp.engines.frames import LABEL, Loader
from refdp.papers import dpboost, dpxgboost, fedgbdt, sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource


def programs(trees: int) -> dict[str, Any]:
    """Papers and settings by name."""
    add = Relation.ADD_REMOVE
    return {
        "fedgbdt, totally random": (fedgbdt, fedgbdt.Params(1.0, add, trees=trees, depth=4)),
        "fedgbdt, histograms": (fedgbdt, fedgbdt.Params(1.0, add, trees=trees, depth=4, splits="histogram")),
        "S-GBDT": (sgbdt, sgbdt.Params(1.0, add, trees=trees, depth=4)),
        "DPBoost": (dpboost, dpboost.Params(1.0, add, trees=trees, trees_per_ensemble=trees, depth=4)),
        "DP-XGBoost": (dpxgboost, dpxgboost.Params(1.0, add, trees=max(1, trees // 5), depth=4)),
    }


def spent() -> float:
    """Processor seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident() -> float:
    """Memory of this process now, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def write(folder: Path, rows: int, features: int, partitions: int) -> None:
    """Rows of uniform features and labels that follow from some of them, one file a partition."""
    import pandas as pd

    for number in range(partitions):
        rng = np.random.default_rng(number)
        count = rows // partitions
        x = rng.random((count, features))
        y = np.where(x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(0, 0.3, count) > 0.75, "yes", "no")
        frame = pd.DataFrame(x, columns=[f"f{i}" for i in range(features)]).assign(**{LABEL: y})
        frame.to_parquet(folder / f"{number:04}.parquet")


def main() -> None:
    """Print a line a paper."""
    parser = argparse.ArgumentParser()
    for name, value in (("rows", 10**6), ("features", 20), ("trees", 100), ("partitions", 16), ("workers", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    import dask
    import pandas as pd
    from dask import dataframe as dd
    from distributed import Client, LocalCluster

    schema = Schema(tuple(Numeric(f"f{i}", 0.0, 1.0) for i in range(given.features)), Classes(("no", "yes")))
    chosen = {name: one for name, one in programs(given.trees).items() if given.only in name}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, given.rows, given.features, given.partitions)
        dask.config.set(CLUSTER)
        found: dict[str, Any] = {}
        with (
            LocalCluster(n_workers=given.workers, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            for paper, (program, params) in chosen.items():
                start, there = spent(), sum(client.run(spent).values())
                parts = dd.read_parquet(sorted(map(str, folder.glob("*.parquet")))).to_delayed()
                population = DaskPopulation(client, parts, Loader(schema))
                loading = spent() - start + sum(client.run(spent).values()) - there
                start, there, wall = spent(), sum(client.run(spent).values()), time.perf_counter()
                curator = Curator(source(), params.relation)
                model = program.train_on(params, schema, population, curator)
                driver = spent() - start
                workers = sum(client.run(spent).values()) - there
                found[paper] = (
                    model.to_json(),
                    loading,
                    driver,
                    workers,
                    time.perf_counter() - wall,
                    population.traffic,
                )
                print(f"{paper}: driver {resident():.0f} MB", flush=True)
                del population
        table = pd.read_parquet(folder)
        start = spent()
        x = table[[f"f{i}" for i in range(given.features)]].to_numpy(np.float64)
        y = (table[LABEL] == "yes").to_numpy(np.float64)
        records = make_records(schema, x, y)
        print(f"in memory: loading {spent() - start:.1f} s")
        for paper, (program, params) in chosen.items():
            start = spent()
            model = program.train_on(params, schema, Memory(records), Curator(source(), params.relation))
            memory = spent() - start
            theirs, loading, driver, workers, wall, traffic = found[paper]
            rounds = max(traffic.rounds, 1)
            same = theirs == model.to_json()
            ratio = (driver + workers) / memory
            print(f"{paper}: same bytes {same}; processor seconds: memory {memory:.1f}, driver {driver:.1f}, "
                  f"workers {workers:.1f}, ratio {ratio:.2f}; wall {wall:.1f} s, loading {loading:.1f} s")  # fmt: skip
            print(f"  {rounds} rounds, {wall / rounds * 1e3:.1f} ms each; bytes a round of all workers: "
                  f"{traffic.received // rounds} sent, {traffic.sent // rounds} back", flush=True)  # fmt: skip


def source() -> SampleSource:
    """The same noise for both."""
    return SampleSource(np.random.default_rng(5), exact=True, assignments=True)


if __name__ == "__main__":
    main()
