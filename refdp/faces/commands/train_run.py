"""What `refdp train` does with records, and how it shows the result."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from refdp.data.records import Schema
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.faces.commands.certificates import certificate_page
from refdp.faces.commands.output import figure
from refdp.faces.defaults import ROWS
from refdp.faces.registry import Paper
from refdp.faces.stated import doubts
from refdp.faces.strength import excess
from refdp.faces.training import Run, releases_planned
from refdp.io import datasets
from refdp.io.datasets import Dataset
from refdp.privacy.events import Relation

SPLIT_SEED = 0
"""The held-out records are the same in every run, so that runs can be compared. How many there are is public where it
is used, under replace-one."""


def parts(dataset: Dataset, test_size: float, relation: Relation) -> tuple[Dataset, Dataset | None]:
    """Training and held-out records, such that neighbours' training records are neighbours too.

    Errors: InvalidParameter as `check_test_size`; InvalidRecords where all records are held out.
    """
    check_test_size(test_size)
    if test_size == 0:
        return dataset, None
    if relation is Relation.REPLACE_ONE:
        return datasets.train_test(dataset, test_size, SPLIT_SEED)
    training, held_out = datasets.train_test_by_record(dataset, test_size)
    if len(held_out.y) and not len(training.y):
        raise InvalidRecords(
            f"{dataset.name}: --test-size {test_size:g} held out every record, and none is left to train on; "
            "--test-size 0 holds out none"
        )
    return training, held_out


def check_test_size(test_size: float) -> None:
    """Errors: InvalidParameter for what is no share of records that leaves some to train on."""
    if not 0 <= test_size < 1:
        raise InvalidParameter(f"--test-size {test_size:g}: a share below 1 is allowed, 0 to hold out none")


def say_where_noise_wins(paper: Paper, params: Any, schema: Schema, rows: int | None) -> None:
    """On standard error, by public figures alone, and what is wrong with those. rows: stated, or None."""
    for doubt in () if rows is None else doubts(params, rows):
        print(f"refdp: {doubt}", file=sys.stderr)
    if said := excess(paper, params, schema, ROWS if rows is None else rows):
        print(f"refdp: {said}", file=sys.stderr)


def counted(progress: Any, plan: Any) -> Any:
    """A bar's progress, called once a release."""
    total = releases_planned(plan)
    counted = iter(range(1, total + 1))
    return lambda: progress(next(counted), total)


def document(paper: str, dataset: Dataset, run: Run, metrics: dict[str, float | None]) -> dict[str, Any]:
    """What --json prints.

    not_covered: what is exact, without noise; the guarantee says nothing about it, and it is the owner's.
    """
    return {
        "paper": paper,
        "dataset": dataset.name,
        "task": dataset.task,
        "metrics": metrics,
        "seconds": run.seconds,
        "certificate": run.certificate.to_dict(),
        "not_covered": ["metrics", "seconds"],
    }


def page(
    paper: str, dataset: Dataset, run: Run, metrics: dict[str, float | None], written: Mapping[Path, str]
) -> RenderableType:
    """Data, metrics and certificate for people. written: files, and what xgboost predicts by them, or ""."""
    table = Table.grid(padding=(0, 2))
    sources = Counter(dataset.sources.values())
    table.add_row("paper", paper)
    table.add_row("data", f"{dataset.name}, {len(dataset.y)} records, {len(dataset.features)} features, {dataset.task}")
    table.add_row("public bounds", ", ".join(f"{count} {source}" for source, count in sources.items()))
    for name, value in metrics.items():
        table.add_row(name, figure(value))
    table.add_row("seconds", f"{run.seconds:.2f}")
    exact = "Metrics, number of records and" if metrics else "Number of records and"
    private = Text(f"{exact} seconds are exact, without noise: for the owner's eyes.", style="dim")
    parts: list[RenderableType] = [table, certificate_page(run.certificate), private]
    files = (f"written to {path}" + f"; xgboost predicts {what}" * bool(what) for path, what in written.items())
    return Group(*parts, *map(Text, files))
