"""What `refdp train --dask` does: files as partitions on a cluster, described by the bounds file alone."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from refdp.data.records import Categorical, Classes, Floats, Interval, Numeric, Records, Schema, make_records
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.faces import prediction
from refdp.faces.commands.output import bar
from refdp.faces.commands.train_run import counted, say_where_noise_wins
from refdp.faces.defaults import params_for
from refdp.faces.registry import Paper
from refdp.faces.training import Run, assuming, train_on
from refdp.io.datasets import Dataset, check_public, held_out_by_record, numbers_of
from refdp.io.domains import given_domains
from refdp.io.tables import Block, absent, blocks
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
    from refdp.engines.dask import DaskPopulation, client_for, gathered, needed
    from refdp.engines.log import check_travels
    from refdp.engines.shared import PARTITIONS

    if target is None or bounds is None:
        raise InvalidParameter("--dask: --target and --bounds are needed, since nothing is read off the records")
    if test_size and relation is Relation.REPLACE_ONE:
        raise InvalidParameter(
            f"--dask: --test-size {test_size} with replace-one neighbours: a record that is replaced may move to the "
            "other part; --test-size 0 is allowed"
        )
    needed()
    columns, parts = _partitions(pattern)
    schema, sources = _described(pattern, columns, target, bounds)
    params = params_for(paper, given, schema, **how)
    check_travels(paper.module.train_on, params, schema)
    say_where_noise_wins(paper, params, schema, how["rows"])
    with client_for(address, processes=True) as client:
        population = DaskPopulation(client, parts, Part(schema, target, test_size, training=True))
        with bar("training") as progress:
            plan = paper.plan(params, schema)
            run = train_on(paper, params, schema, lambda: population, source, progress=counted(progress, plan))
        run = replace(run, certificate=assuming(run.certificate, PARTITIONS))
        rows = population.size
        x, y = np.empty((0, len(schema.features))), np.empty(0)
        if test_size:
            rest = gathered(client, parts, Part(schema, target, test_size, training=False))
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
        """part: a `Block` of texts, or a pandas frame. Errors: InvalidRecords as in memory; no rows are no error."""
        x, y = self._read(part)
        if len(y) == 0:
            return Records(self.schema, np.empty((0, len(self.schema.features)), order="F"), y)
        records = make_records(self.schema, x, y)
        if not self.test_size:
            return records
        return records.take(np.flatnonzero(held_out_by_record(x, y, self.test_size) != self.training))

    def _read(self, part: Any) -> tuple[Floats, Floats]:
        """Features, shape (rows, features), and labels, shape (rows,), before they are clamped."""
        from refdp.engines.frames import labels
        from refdp.io import frames

        kind = self.schema.target
        if isinstance(part, Block):
            aim = Numeric(self.target, kind.low, kind.high) if isinstance(kind, Interval) else Categorical(
                self.target, kind.values)  # fmt: skip
            return numbers_of(part.table(), self.schema.features, aim)
        if len(part) == 0:
            return np.empty((0, len(self.schema.features))), np.empty(0)
        return frames.encode(part[list(self.schema.names)], self.schema.features), labels(
            part[self.target], self.schema
        )


def _partitions(pattern: str) -> tuple[list[str], list[Any]]:
    """Names of columns, and delayed partitions: pandas frames of parquet, blocks of texts of CSV, read as in memory.

    Errors: InvalidRecords if there are no files, or of another kind, or of other columns than the first, or one twice.
    """
    import dask
    import dask.dataframe as frames

    files = sorted(glob.glob(pattern))
    if not files:
        raise InvalidRecords(f"{pattern}: no such file")
    _check_once(files)
    if all(Path(file).suffix in (".parquet", ".pq") or Path(file).is_dir() for file in files):
        try:
            frame = frames.read_parquet(files)
            return list(frame.columns), frame.to_delayed()
        except (OSError, ValueError):  # whose text may show what is in them
            pass
        raise InvalidRecords(f"{pattern}: cannot be read as parquet")
    if not all(Path(file).suffix in (".csv", ".gz") for file in files):
        raise InvalidRecords(f"{pattern}: files whose names end in .parquet, or all in .csv or .csv.gz, are allowed")
    found = [block for file in files for block in blocks(Path(file).absolute())]
    columns = list(found[0].names)
    for block in found:
        if sorted(block.names) != sorted(columns):
            raise InvalidRecords(f"{block.path}: other columns than {found[0].path}")
    return columns, [dask.delayed(block, traverse=False) for block in found]


def _check_once(files: list[str]) -> None:
    """Errors: InvalidRecords for a file that is there under two names, a link say: its records would count twice."""
    known: dict[tuple[int, int], str] = {}
    for file in (inner for one in files for inner in _all_of(one)):
        try:
            found = os.stat(file)
        except OSError:  # whoever reads it says so
            continue
        own = found.st_dev, found.st_ino
        if own in known:
            raise InvalidRecords(f"{file}: the same file as {known[own]}, and each record counts once")
        known[own] = file


def _all_of(file: str) -> Iterator[str]:
    """The file, or all files in a directory and those that it leads to."""
    if not os.path.isdir(file):
        yield file
    for folder, _, names in os.walk(file, followlinks=True):
        yield from (os.path.join(folder, name) for name in sorted(names))


def _described(pattern: str, columns: list[str], target: str, bounds: Path) -> tuple[Schema, dict[str, Any]]:
    domains = given_domains(bounds)
    for name in (target, *domains):
        if name not in columns:
            raise absent(pattern, name)
    check_public(pattern, {name: domains[name][1] if name in domains else "observed" for name in columns})
    label = domains[target][0]
    kind = Interval(label.low, label.high) if isinstance(label, Numeric) else Classes(label.categories)
    features = tuple(domains[name][0] for name in columns if name != target)
    return Schema(features, kind), {name: domains[name][1] for name in columns}
