"""What `refdp train --dask` does: files as partitions on a cluster, described by the bounds file alone."""

from __future__ import annotations

import glob
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refdp.data.records import Classes, Floats, Interval, Numeric, Records, Schema
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.faces import prediction
from refdp.faces.commands.output import bar
from refdp.faces.commands.train_run import counted, say_where_noise_wins
from refdp.faces.defaults import params_for
from refdp.faces.registry import Paper
from refdp.faces.training import Run, train_on
from refdp.io.datasets import Dataset, held_out_by_record
from refdp.io.domains import given_domains
from refdp.privacy.curator import Source
from refdp.privacy.events import Relation


def distributed(
    paper: Paper,
    given: Mapping[str, Any],
    how: Mapping[str, Any],
    pattern: str,
    target: str | None,
    bounds: Path | None,
    source: Source,
    test_size: float,
    relation: Relation,
    address: str | None,
) -> tuple[Dataset, Run, dict[str, float | None]]:
    """A description of the data, the run, and metrics of the held-out records, whose part each record decides itself.

    address: of the scheduler; None for a cluster of this machine.
    Errors: InvalidParameter for what is not given; InvalidRecords for files that do not fit it.
    """
    from refdp.engines.dask import DaskPopulation, client_for, needed

    if target is None or bounds is None:
        raise InvalidParameter("--dask: --target and --bounds are needed, since nothing is read off the records")
    if test_size and relation is Relation.REPLACE_ONE:
        raise InvalidParameter(
            f"--dask: --test-size {test_size} with replace-one neighbours: a record that is replaced may move to the "
            "other part; --test-size 0 is allowed"
        )
    needed()
    frame = _frame(pattern)
    schema, sources = _described(pattern, list(frame.columns), target, bounds)
    params = params_for(paper, given, schema, **how)
    say_where_noise_wins(paper, params, schema, how["rows"])
    with client_for(address, processes=True) as client:
        parts = frame[[*schema.names, target]].to_delayed()
        population = DaskPopulation(client, parts, Part(schema, target, test_size, training=True))
        with bar("training") as progress:
            plan = paper.plan(params, schema)
            run = train_on(paper, params, schema, lambda: population, source, progress=counted(progress, plan))
        rows = population.size
        x, y = np.empty((0, len(schema.features))), np.empty(0)
        if test_size:
            load = Part(schema, target, test_size, training=False)
            rest = client.gather([client.submit(load, client.compute(part), pure=False) for part in parts])
            x, y = np.concatenate([one.x for one in rest]), np.concatenate([one.y for one in rest])
    dataset = Dataset(pattern, x, y, schema.features, target, schema.target, sources)
    metrics = prediction.metrics(run.model, dataset) if test_size else {}
    size = rows + len(y)
    shown = np.broadcast_to(0.0, (size, len(schema.features)))  # a page says how many records there are
    return Dataset(pattern, shown, shown[:, 0], schema.features, target, schema.target, sources), run, metrics


@dataclass(frozen=True)
class Part:
    """Loads the training or the held-out records of a partition. test_size: as in `held_out_by_record`, 0 for none."""

    schema: Schema
    target: str
    test_size: float
    training: bool

    def __call__(self, part: Any) -> Records:
        """Errors: InvalidRecords as in memory; a partition without rows is no error."""
        from refdp.engines.frames import LABEL, Loader
        from refdp.io import frames

        records = Loader(self.schema)(part.rename(columns={self.target: LABEL}))
        if not self.test_size or records.size == 0:
            return records
        raw: Floats = frames.encode(part[list(self.schema.names)], self.schema.features)
        mask = held_out_by_record(raw, records.y, self.test_size)
        return records.take(np.flatnonzero(mask != self.training))


def _frame(pattern: str) -> Any:
    """The files as a Dask frame. Errors: InvalidRecords if there are none, or of another kind."""
    import dask.dataframe as frames

    files = sorted(glob.glob(pattern))
    if not files:
        raise InvalidRecords(f"{pattern}: no such file")
    try:
        if all(Path(file).suffix in (".parquet", ".pq") or Path(file).is_dir() for file in files):
            return frames.read_parquet(files)
        if all(Path(file).suffix in (".csv", ".gz") for file in files):
            return frames.read_csv(files, blocksize=None if any(file.endswith(".gz") for file in files) else "64MB")
    except (OSError, ValueError) as error:
        raise InvalidRecords(f"{pattern}: cannot be read: {error}") from error
    raise InvalidRecords(f"{pattern}: files whose names end in .parquet, or all in .csv or .csv.gz, are allowed")


def _described(pattern: str, columns: list[str], target: str, bounds: Path) -> tuple[Schema, dict[str, Any]]:
    domains = given_domains(bounds)
    for name in (target, *domains):
        if name not in columns:
            raise InvalidRecords(f"{pattern}: no column {name!r}; it has {', '.join(map(str, columns))}")
    unknown = [name for name in columns if name not in domains]
    if unknown:
        names = ", ".join(unknown[:5]) + f" and {len(unknown) - 5} more" * (len(unknown) > 5)
        raise InvalidRecords(f"{pattern}: no public bounds, categories or classes for {names}; give them in the file "
                             "of --bounds")  # fmt: skip
    label = domains[target][0]
    kind = Interval(label.low, label.high) if isinstance(label, Numeric) else Classes(label.categories)
    features = tuple(domains[name][0] for name in columns if name != target)
    return Schema(features, kind), {name: domains[name][1] for name in columns}
