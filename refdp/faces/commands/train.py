"""`refdp train`: fit a paper's algorithm to a data set, and say what it promises."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refdp.errors import InvalidParameter
from refdp.faces.commands.options import (
    BoundsFile,
    Delta,
    Json,
    PaperName,
    Published,
    RelationOption,
    Settings,
    TargetColumn,
    public_records,
)
from refdp.faces.commands.options import settings as read_settings
from refdp.faces.commands.output import bar, check_outputs, emit, write_text
from refdp.privacy.events import Relation

if TYPE_CHECKING:
    from refdp.faces.training import Run
    from refdp.io.datasets import Dataset

LOCAL = "local"
"""What --dask says for a cluster of this machine that lives as long as the command."""


def train(
    paper: PaperName,
    data: Annotated[str, typer.Option("--data", metavar="NAME_OR_CSV", help="Data set by name, or a CSV file.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="Privacy budget.")],
    target: TargetColumn = None,
    bounds: BoundsFile = None,
    delta: Delta = None,
    relation: RelationOption = Relation.ADD_REMOVE,
    as_published: Published = False,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="Repeats the noise: keep it secret and use it once. Default: fresh entropy."),
    ] = None,
    owners: Annotated[
        int | None, typer.Option("--owners", help="Owners that the records are dealt to, where a paper has them.")
    ] = None,
    set_: Settings = None,
    settings: Annotated[
        str,
        typer.Option("--settings", metavar="paper|default", help="What is not set: the paper's, or a public table's."),
    ] = "default",
    rows: Annotated[
        int | None, typer.Option("--rows", help="Public round number of records, for the table; never counted.")
    ] = None,
    test_size: Annotated[float, typer.Option("--test-size", help="Share held out for the metrics; 0 for none.")] = 0.2,
    out: Annotated[Path | None, typer.Option("--out", help="File for the model.")] = None,
    xgboost: Annotated[
        Path | None,
        typer.Option(
            "--xgboost",
            help="File for the model as the xgboost library reads it (JSON). What that predicts is said beside it: "
            "classes, values or probabilities, by the paper.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option("--record", help="File for the tape of all draws (JSON lines). As private as the records."),
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="With --record: true values and outputs beside the draws.")
    ] = False,
    tape: Annotated[Path | None, typer.Option("--tape", help="Draw nothing: play this tape of the same run.")] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="[ADDRESS]",
            help="Train on a Dask cluster, by default one of this machine; --data is a "
            "pattern of parquet or CSV files, and --bounds and --target are needed.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Train on a data set; print metrics on held-out records and the certificate."""
    from refdp.conform import run as conform_run
    from refdp.faces import prediction, registry
    from refdp.faces.commands.train_run import check_test_size, counted, parts, say_where_noise_wins
    from refdp.faces.defaults import params_for
    from refdp.faces.training import source_for
    from refdp.faces.training import train as train_once
    from refdp.io import datasets

    chosen = registry.paper(paper)
    given = read_settings(set_, epsilon=epsilon, delta=delta, relation=relation, owners=owners)
    how: dict[str, Any] = {"as_published": as_published, "settings": settings, "rows": rows}
    params_for(chosen, given, **how)  # whatever is wrong with them is said before any record is read
    source = source_for(chosen.params(given, as_published=as_published), seed)
    conform_run.check_options(record, tape, private, seed)
    check_test_size(test_size)
    outputs = {"--out": out, "--xgboost": xgboost, "--record": record}
    check_outputs(outputs, data, bounds, tape, *datasets.stored(data))
    if dask is not None and (record is not None or tape is not None):
        raise InvalidParameter("--dask with --record or --tape: a tape lists the coins of single records")
    if dask is not None:
        from refdp.faces.commands.train_dask import distributed

        place = None if dask == LOCAL else dask
        dataset, run, metrics = distributed(
            chosen, given, how, data, target, bounds, source, test_size, relation, place
        )
        finish(paper, dataset, run, metrics, seed, out, xgboost, None, as_json)
        return
    dataset = datasets.load(data, target=target, bounds=bounds, public=True)
    public_records(dataset)  # whatever is wrong with any record is said before anything is trained
    training, held_out = parts(dataset, test_size, relation)
    records = public_records(training)
    params = params_for(chosen, given, records.schema, **how)
    say_where_noise_wins(chosen, params, records.schema, rows)
    with bar("training") as bar_progress:
        progress = counted(bar_progress, chosen.plan(params, records.schema))
        if tape is not None:
            run = conform_run.played(chosen, params, records, tape, progress=progress)
        elif record is not None:
            run, listed = conform_run.recorded(chosen, params, records, seed, private=private, progress=progress)
            write_text("--record", record, listed)
        else:
            run = train_once(chosen, params, records, source, progress=progress)
    metrics = prediction.metrics(run.model, held_out) if held_out is not None else {}
    finish(paper, dataset, run, metrics, seed, out, xgboost, record, as_json)


def finish(
    paper: str,
    dataset: Dataset,
    run: Run,
    metrics: dict[str, float | None],
    seed: int | None,
    out: Path | None,
    xgboost: Path | None,
    record: Path | None,
    as_json: bool,
) -> None:
    """Write the files and print what was trained."""
    from refdp.faces.commands.train_run import document, page
    from refdp.faces.seeds import SEED_ASSUMPTION
    from refdp.faces.training import assuming

    if seed is not None:
        run = replace(run, certificate=assuming(run.certificate, SEED_ASSUMPTION))
        print(f"refdp: --seed: the guarantee holds only if {SEED_ASSUMPTION}", file=sys.stderr)
    if out is not None:
        write_text("--out", out, run.model.to_json())
    predicts = {}
    if xgboost is not None:
        from refdp.io.export_xgboost import meaning, to_xgboost

        write_text("--xgboost", xgboost, to_xgboost(run.model))
        predicts[xgboost] = meaning(run.model)
    written = {path: predicts.get(path, "") for path in (out, xgboost, record) if path is not None}
    told = document(paper, dataset, run, metrics)
    if xgboost is not None:
        told["xgboost_predicts"] = predicts[xgboost]
    emit(told, page(paper, dataset, run, metrics, written), as_json)
