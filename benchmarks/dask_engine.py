"""Dask against memory and against other libraries: processor time by ratio in one run, bytes a round, driver's memory.

    python -m benchmarks.dask_engine [--rows 1000000] [--features 20] [--trees 100] [--partitions 16] [--workers 2]
                                     [--only NAME] [--alone] [--others] [--write PAGE]

10 to 20 minutes of two cores with 100 trees; 10^7 rows of one paper (--only random --alone) about as long.

A process of its own writes the rows as parquet. On Dask: partitions loaded by processes, then trained on; their time is
added to the driver's, loading is shown apart. In memory (not with --alone): records made from the whole table,
then trained on; models are compared byte for byte. --others: xgboost and lightgbm on the same cluster, not private, on
persisted frames, 100 trees of the same depth; their making of bins counts, as refdp's does. --write adds to a page.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from refdp.data.memory import Memory
from refdp.data.records import Classes, Numeric, Schema, make_records
from refdp.data.shards import Communication
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


def peak(reset: bool = False) -> float:
    """Most memory that this process had at once since the last reset, in MB."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    line = next(one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def spent() -> float:
    """Processor seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


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


@dataclass
class Row:
    """What was measured of one program. Seconds of processor time, but for `wall`; memory in MB."""

    name: str
    loading: float
    driver: float
    workers: float
    wall: float
    peak: float
    model: str = ""
    traffic: Communication = field(default_factory=Communication)
    memory: float | None = None
    same: bool | None = None

    def line(self) -> str:
        """Of the page's table."""
        rounds = max(self.traffic.rounds, 1)
        alone = f"{self.memory:.1f} | {(self.driver + self.workers) / self.memory:.2f}" if self.memory else "- | -"
        same = "-" if self.same is None else "equal" if self.same else "DIFFERENT"
        bytes_ = (
            f"{self.traffic.received // rounds} | {self.traffic.sent // rounds}" if self.traffic.rounds else "- | -"
        )
        cells = [self.name, *(f"{one:.1f}" for one in (self.loading, self.driver, self.workers)), alone,
                 f"{self.wall:.0f}", self.traffic.rounds or "-", bytes_, f"{self.peak:.0f}", same]  # fmt: skip
        return f"| {' | '.join(map(str, cells))} |"


COLUMNS = ("program", "loading, s", "driver, s", "workers, s", "memory, s", "ratio", "wall, s", "rounds", "bytes sent",
           "bytes back", "driver's peak, MB", "model")  # fmt: skip
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"


def measured(client: Any, name: str, work: Callable[[], Row]) -> Row:
    """Processor time of driver and workers while `work` runs, and the driver's peak."""
    peak(reset=True)
    start, there, wall = spent(), sum(client.run(spent).values()), time.perf_counter()
    row = work()
    row.wall, row.driver = time.perf_counter() - wall, spent() - start
    row.workers, row.peak, row.name = sum(client.run(spent).values()) - there, peak(), name
    return row


def ours(client: Any, folder: Path, schema: Schema, program: Any, params: Any, name: str) -> Row:
    """One paper on Dask."""
    from dask import dataframe as dd

    start, there = spent(), sum(client.run(spent).values())
    parts = dd.read_parquet(sorted(map(str, folder.glob("*.parquet")))).to_delayed()
    peak(reset=True)
    population = DaskPopulation(client, parts, Loader(schema))
    loading, most = spent() - start + sum(client.run(spent).values()) - there, peak()

    def work() -> Row:
        model = program.train_on(params, schema, population, Curator(source(), params.relation))
        return Row(name, loading, 0, 0, 0, 0, model.to_json(), population.traffic)

    row = measured(client, name, work)
    row.peak = max(row.peak, most)
    return row


def others(client: Any, folder: Path, trees: int) -> list[Row]:
    """xgboost and lightgbm, each where it is installed."""
    import lightgbm
    import xgboost.dask
    from dask import dataframe as dd
    from distributed import wait

    frame = dd.read_parquet(sorted(map(str, folder.glob("*.parquet")))).persist()
    x, y = frame.drop(columns=[LABEL]).persist(), (frame[LABEL] == "yes").astype("int64").persist()
    wait([x, y])
    del frame

    def boosted() -> Row:
        data = xgboost.dask.DaskQuantileDMatrix(client, x, y, max_bin=32)
        given = {"tree_method": "hist", "max_depth": 4, "objective": "binary:logistic", "max_bin": 32, "nthread": 1}
        xgboost.dask.train(client, given, data, num_boost_round=trees)
        return Row("", 0, 0, 0, 0, 0)

    def lighter() -> Row:
        lightgbm.DaskLGBMClassifier(client=client, n_estimators=trees, max_depth=4, num_leaves=16, max_bin=32,
                                    num_threads=1, verbose=-1).fit(x, y)  # fmt: skip
        return Row("", 0, 0, 0, 0, 0)

    return [measured(client, f"{name}, not private", work) for name, work in
            (("xgboost.dask", boosted), ("lightgbm.dask", lighter))]  # fmt: skip


def main() -> None:
    """Print a line a program, and add them to a page."""
    parser = argparse.ArgumentParser()
    for name, value in (("rows", 10**6), ("features", 20), ("trees", 100), ("partitions", 16), ("workers", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--only", default="")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    import dask
    from distributed import Client, LocalCluster

    schema = Schema(tuple(Numeric(f"f{i}", 0.0, 1.0) for i in range(given.features)), Classes(("no", "yes")))
    chosen = {name: one for name, one in programs(given.trees).items() if given.only in name}
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        writer = multiprocessing.get_context("spawn").Process(
            target=write, args=(folder, given.rows, given.features, given.partitions)
        )
        writer.start()
        writer.join()
        dask.config.set(CLUSTER)
        with (
            LocalCluster(n_workers=given.workers, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            for paper, (program, params) in chosen.items():
                rows.append(ours(client, folder, schema, program, params, paper))
                print(rows[-1].line(), flush=True)
            if given.others:
                rows += others(client, folder, given.trees)
                print("\n".join(row.line() for row in rows[-2:]), flush=True)
        if not given.alone:
            import pandas as pd

            table = pd.read_parquet(folder)
            x = table[list(schema.names)].to_numpy(np.float64)
            records = make_records(schema, x, (table[LABEL] == "yes").to_numpy(np.float64))
            for row, (program, params) in zip(rows, chosen.values(), strict=False):
                start = spent()
                model = program.train_on(params, schema, Memory(records), Curator(source(), params.relation))
                row.memory, row.same = spent() - start, row.model == model.to_json()
                print(row.line(), flush=True)
    where = f"{given.partitions} partitions, {given.workers} workers of one thread"
    load = f"{os.cpu_count()} cores, on which {os.getloadavg()[0]:.0f} processes ran or waited when it ended"
    about = f"{given.rows} rows of {given.features} features in {where}, {given.trees} trees of depth 4; {load}."
    text = "\n".join([about, "", HEAD, *(row.line() for row in rows), ""])
    print(text)
    if given.write:
        with given.write.open("a", encoding="utf-8") as page:
            page.write("\n" + text)


def source() -> SampleSource:
    """The same noise for both."""
    return SampleSource(np.random.default_rng(5), exact=True, assignments=True)


if __name__ == "__main__":
    main()
