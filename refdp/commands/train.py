"""`refdp train`: fit a paper's algorithm to a data set, and say what it promises."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from refdp import datasets, prediction, registry
from refdp.commands.options import (
    BoundsFile,
    Delta,
    Json,
    PaperName,
    Published,
    RelationOption,
    Settings,
    Target,
    public_records,
)
from refdp.commands.options import settings as read_settings
from refdp.commands.output import bar, certificate_page, check_writable, emit, figure, write_text
from refdp.datasets import Dataset
from refdp.errors import InvalidParameter
from refdp.events import Relation
from refdp.export_xgboost import to_xgboost
from refdp.training import Run, releases_planned, source_for
from refdp.training import train as train_once

SPLIT_SEED = 0
"""The held-out records are the same in every run, so that runs can be compared. How many there are is public where it
is used, under replace-one."""


def train(
    paper: PaperName,
    data: Annotated[str, typer.Option("--data", metavar="NAME_OR_CSV", help="Data set by name, or a CSV file.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="Privacy budget.")],
    target: Target = None,
    bounds: BoundsFile = None,
    delta: Delta = None,
    relation: RelationOption = Relation.ADD_REMOVE,
    as_published: Published = False,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Repeats the noise: keep it secret. Default: fresh entropy.")
    ] = None,
    owners: Annotated[
        int | None, typer.Option("--owners", help="Owners that the records are dealt to, where a paper has them.")
    ] = None,
    set_: Settings = None,
    test_size: Annotated[float, typer.Option("--test-size", help="Share held out for the metrics; 0 for none.")] = 0.2,
    out: Annotated[Path | None, typer.Option("--out", help="File for the model.")] = None,
    xgboost: Annotated[
        Path | None, typer.Option("--xgboost", help="File for the model as the xgboost library reads it (JSON).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Train on a data set; print metrics on held-out records and the certificate."""
    chosen = registry.paper(paper)
    given = read_settings(set_, epsilon=epsilon, delta=delta, relation=relation, owners=owners)
    params = chosen.params(given, as_published=as_published)
    source = source_for(params, seed)
    for option, path in (("--out", out), ("--xgboost", xgboost)):
        check_writable(option, path)
    if out is not None and xgboost is not None and out.resolve() == xgboost.resolve():
        raise InvalidParameter(f"--out {out} and --xgboost {xgboost}: two different files are needed")
    dataset = datasets.load(data, target=target, bounds=bounds)
    public_records(dataset)  # whatever is wrong with any record is said before anything is trained
    training, held_out = parts(dataset, test_size, relation)
    records = public_records(training)
    with bar("training") as progress:
        run = train_once(
            chosen, params, records, source, progress=_counted(progress, chosen.plan(params, records.schema))
        )
    metrics = prediction.metrics(run.model, held_out) if held_out is not None else {}
    if out is not None:
        write_text("--out", out, run.model.to_json())
    if xgboost is not None:
        write_text("--xgboost", xgboost, to_xgboost(run.model))
    written = [path for path in (out, xgboost) if path is not None]
    emit(_document(paper, dataset, run, metrics), _page(paper, dataset, run, metrics, written), as_json)


def parts(dataset: Dataset, test_size: float, relation: Relation) -> tuple[Dataset, Dataset | None]:
    """Training and held-out records, such that neighbours' training records are neighbours too."""
    if test_size == 0:
        return dataset, None
    if relation is Relation.ADD_REMOVE:
        return datasets.train_test_by_record(dataset, test_size)
    return datasets.train_test(dataset, test_size, SPLIT_SEED)


def _counted(progress: Any, plan: Any) -> Any:
    total = releases_planned(plan)
    counted = iter(range(1, total + 1))
    return lambda: progress(next(counted), total)


def _document(paper: str, dataset: Dataset, run: Run, metrics: dict[str, float | None]) -> dict[str, Any]:
    """not_covered: what is exact, without noise; the guarantee says nothing about it, and it is the owner's."""
    return {
        "paper": paper,
        "dataset": dataset.name,
        "task": dataset.task,
        "metrics": metrics,
        "seconds": run.seconds,
        "certificate": run.certificate.to_dict(),
        "not_covered": ["metrics", "seconds"],
    }


def _page(
    paper: str, dataset: Dataset, run: Run, metrics: dict[str, float | None], written: list[Path]
) -> RenderableType:
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
    return Group(*parts, *(Text(f"model written to {path}") for path in written))
