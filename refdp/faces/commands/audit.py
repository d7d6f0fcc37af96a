"""`refdp audit`: replay a paper's algorithm on neighbouring data sets, or run anyone's function on a pair of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from refdp.audit import CONFIDENCE
from refdp.checks import check_count
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.faces.commands.options import (
    BoundsFile,
    Delta,
    Json,
    Published,
    RelationOption,
    Settings,
    TargetColumn,
    papers_like,
    written,
)
from refdp.faces.commands.options import settings as read_settings
from refdp.faces.commands.output import bar, check_writable, emit, write_page
from refdp.privacy.events import Relation

PAIRS = 36
SAMPLES = 100_000

NAMES = (*registry.PAPERS, *registry.OWN)

AuditedPaper = Annotated[
    str | None,
    typer.Argument(metavar="PAPER", help=f"One of {', '.join(NAMES)}.", autocompletion=papers_like),
]
Callable = Annotated[
    str | None,
    typer.Option(
        "--callable",
        metavar="MODULE:FUNCTION",
        help="Audit this instead, for an event that one data set of --pair makes likelier than the budget allows.",
    ),
]
Trainer = Annotated[
    str | None,
    typer.Option("--trainer", metavar="MODULE:FUNCTION", help="Replay this train(records, curator) instead."),
]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="ORDER:BUDGET[:RELEASES]",
        help="What a filter of --trainer lets one record spend at a Rényi order, on releases so named. Repeatable.",
    ),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        help="JSON file of --trainer or --callable: {column: \\[low, high] or \\[category, ...]}, the target last.",
    ),
]
PairFile = Annotated[
    Path | None, typer.Option("--pair", help='JSON file: {"first": [[...]], "second": [[...]]}, neighbours.')
]
Example = Annotated[
    Path | None,
    typer.Option("--example", help="JSON file of --callable: records like those it takes, to search for a pair."),
]
Score = Annotated[
    str | None,
    typer.Option("--score", metavar="MODULE:FUNCTION", help="Look at this number of each output of --callable, too."),
]
AsGaussian = Annotated[
    bool, typer.Option("--gaussian", help="Also a bound that holds if outputs are as far apart as two Gaussians.")
]
Confidence = Annotated[
    float | None, typer.Option("--confidence", help=f"Of the bound of --callable, {CONFIDENCE} if not given.")
]
Samples = Annotated[int | None, typer.Option("--samples", help=f"Most runs a side, {SAMPLES} if not given.")]
Jobs = Annotated[int, typer.Option("--jobs", help="Processes that run the function.")]
Resume = Annotated[Path | None, typer.Option("--resume", help="Keep finished runs in this file, and go on from it.")]
Structural = Annotated[
    bool, typer.Option("--structural/--no-structural", help="Also look for reused noise and the like.")
]
Outliers = Annotated[
    bool, typer.Option("--outliers", help="Records may hold any number: also try enormous ones, and other orders.")
]
LowBits = Annotated[
    bool, typer.Option("--low-bits/--no-low-bits", help="Look at the last bits of floating-point outputs too.")
]
WitnessFile = Annotated[
    Path | None,
    typer.Option("--witness", help="JSON file: a witness, or what --json printed. Its pairs are replayed first."),
]
Html = Annotated[Path | None, typer.Option("--html", help="Write the report as one page.")]


ABOUT_PAPERS = (
    "paper",
    "data",
    "target",
    "bounds",
    "as_published",
    "pairs",
    "set_",
    "stream",
    "participants",
    "owners",
    "witness",
)
ABOUT_CALLABLES = (
    "pair",
    "example",
    "score",
    "gaussian",
    "confidence",
    "samples",
    "jobs",
    "resume",
    "structural",
    "outliers",
    "low_bits",
)


def audit(
    context: typer.Context,
    paper: AuditedPaper = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="NAME_OR_CSV", help="Take the records from here, not at random. Witnesses show them."
        ),
    ] = None,
    target: TargetColumn = None,
    bounds: BoundsFile = None,
    epsilon: Annotated[float, typer.Option("--epsilon", help="Claimed privacy budget.")] = 1.0,
    delta: Delta = None,
    relation: RelationOption = Relation.ADD_REMOVE,
    as_published: Published = False,
    pairs: Annotated[int, typer.Option("--pairs", help="Neighbouring pairs to replay.")] = PAIRS,
    seed: Annotated[int, typer.Option("--seed", help="Of the pairs and of the recorded noise.")] = 0,
    set_: Settings = None,
    stream: Annotated[int | None, typer.Option("--stream", help="Train on so many batches, one after another.")] = None,
    participants: Annotated[int | None, typer.Option("--participants", help="Train on so many hosts' records.")] = None,
    owners: Annotated[int | None, typer.Option("--owners", help="Train among so many owners, by messages.")] = None,
    witness: WitnessFile = None,
    name: Callable = None,
    trainer: Trainer = None,
    filter_: Filters = None,
    schema: SchemaFile = None,
    pair: PairFile = None,
    example: Example = None,
    score: Score = None,
    gaussian: AsGaussian = False,
    confidence: Confidence = None,
    samples: Samples = None,
    jobs: Jobs = 1,
    resume: Resume = None,
    structural: Structural = True,
    outliers: Outliers = False,
    low_bits: LowBits = True,
    html: Html = None,
    as_json: Json = False,
) -> int:
    """Look for privacy violations by exact replay of a PAPER or a --trainer, or by runs of --callable.

    Exit status 1 for a violation, 3 where something was not examined that the claim depends on.

    A function(records, seed) returns whatever holds numbers; it is run with many seeds on both data sets
    of --pair, or of the pair that a search over the records of --schema or --example finds most telling.

    `refdp audit package` audits an installed package, `refdp audit one-run` the scores of one run's canaries.
    """
    if trainer is not None:
        _check_trainer(context)
        from refdp.audit.trainer import PAIRS as TRAINER_PAIRS
        from refdp.faces.commands.audit_trainer import Asked, audit_one

        count = pairs if written(context, ("pairs",)) else TRAINER_PAIRS
        asked = Asked(trainer, schema, target, epsilon, delta or 0.0, relation, count, seed, html, as_json,
                      tuple(filter_ or ()), witness)  # fmt: skip
        return audit_one(asked)
    if filter_:
        raise InvalidParameter("--filter: about --trainer, which is not given")
    if schema is not None and name is None:
        raise InvalidParameter("--schema: about --trainer or --callable, which are not given")
    _check_mode(context, name is not None)
    read = (data, bounds, witness, name, score, schema, pair, example)
    check_writable("--html", html, *read, resume)
    if html is not None:
        from refdp.audit.page import check_drawing

        check_drawing()
    if name is not None:
        if (pair is not None) + (schema is not None) + (example is not None) != 1:
            raise InvalidParameter("--callable: one of --pair FILE, --schema FILE and --example FILE is needed")
        check_writable("--resume", resume, *read)
        from refdp.audit.loaded import listen
        from refdp.faces.commands.blackbox import Given, audit_callable

        if resume is not None:
            listen()
        said = relation if pair is None or written(context, ["relation"]) else None
        options = Given(
            name, pair, schema, example, said, score or "", gaussian, epsilon, delta or 0.0,
            CONFIDENCE if confidence is None else confidence,
            SAMPLES if samples is None else samples, seed, jobs, resume, structural, outliers, low_bits,
            html, as_json,
        )  # fmt: skip
        return audit_callable(options)
    if paper is None:
        raise InvalidParameter(f"PAPER, --trainer or --callable is needed; papers are {', '.join(NAMES)}")
    from refdp.audit.report import audit_paper
    from refdp.audit.verdicts import exit_status
    from refdp.audit.witnesses import read as read_witnesses
    from refdp.faces.commands.audit_run import audit_page, command_of, records_of, small, way_of

    chosen = registry.paper(paper)
    given = read_settings(set_, epsilon=epsilon, delta=delta, relation=relation)
    params = chosen.params(small(chosen) | given, as_published=as_published)
    check_count("pairs", pairs)
    check_count("seed", seed, least=0)
    records = records_of(data, target, bounds)
    known = [] if witness is None else read_witnesses(witness, relation)
    way = way_of(chosen, stream, participants, owners)
    if way is not None and html is not None:
        raise InvalidParameter("--html: not allowed with --stream, --participants or --owners")
    if stream is not None and not getattr(params, "extra_trees", 1):
        raise InvalidParameter("--stream: batches after the first bring no trees without --set extra_trees=N")
    with bar("replaying") as progress:
        report = (
            audit_paper(chosen, params, pairs, seed, records=records, known=known, progress=progress)
            if way is None
            else audit_paper(
                way.paper,
                params,
                pairs,
                seed,
                records=records,
                known=known,
                arranged=way.arranged,
                source=way.source,
                progress=progress,
            )
        )
    emit(report.to_dict(), audit_page(f"{paper}, {relation.value} neighbours", report), as_json)
    wrote = True
    if html is not None:
        from refdp.audit.page_replay import replay_page

        shown = {"data": data, "target": target, "bounds": bounds, "delta": delta, "witness": witness}
        command = command_of(paper, as_published, set_, shown | {"epsilon": epsilon, "pairs": pairs, "seed": seed})
        with bar("replaying for the figures") as progress:
            page = replay_page(
                chosen, params, report, records, seed, f"{command} --relation {relation.value}", progress
            )
        wrote = write_page("--html", html, page.html())
    status = exit_status(report.verdict)
    return status if status or wrote else 2


def _check_trainer(context: typer.Context) -> None:
    """What --trainer would ignore is refused."""
    ways = ("stream", "participants", "owners")
    about = ("paper", "data", "bounds", "as_published", "set_", "name", *ways, *ABOUT_CALLABLES)
    ignored = written(context, about)
    if ignored:
        raise InvalidParameter(f"{', '.join(map(_flag, ignored))}: not allowed with --trainer")


def _check_mode(context: typer.Context, has_callable: bool) -> None:
    """What is given on the command line and would be ignored is refused."""
    ignored = written(context, ABOUT_PAPERS if has_callable else ABOUT_CALLABLES)
    if ignored:
        named = ", ".join(map(_flag, ignored))
        why = (
            "are about papers, and not allowed with --callable"
            if has_callable
            else "about --callable, which is not given"
        )
        raise InvalidParameter(f"{named}: {why}")


def _flag(name: str) -> str:
    if name == "paper":
        return "PAPER"
    return "--" + {"name": "callable"}.get(name, name).rstrip("_").replace("_", "-")
