"""`refdp audit --trainer`: the replay audit of anyone's `train(records, curator)`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from refdp.audit.campaign import load
from refdp.audit.trainer import TrainerReport, audit_trainer
from refdp.audit.verdicts import Row, Verdict, exit_status
from refdp.data.records import Categorical, Classes, Interval, Schema
from refdp.errors import InvalidParameter
from refdp.faces.commands.audit_run import described
from refdp.faces.commands.output import bar, emit
from refdp.io.domains import given_domains
from refdp.privacy.events import Relation

STYLES = {Verdict.VIOLATION: "bold red", Verdict.NOT_EXAMINED: "yellow"}


@dataclass(frozen=True)
class Asked:
    """What the command line asks for. target: column of the schema that is learnt, the last one unless given."""

    name: str
    schema: Path | None
    target: str | None
    epsilon: float
    delta: float
    relation: Relation
    pairs: int
    seed: int
    as_json: bool


def audit_one(asked: Asked) -> int:
    """Audit, print, and give the exit status."""
    if asked.schema is None:
        raise InvalidParameter("--trainer: a file with the public schema is needed, --schema FILE")
    schema = schema_of(asked.schema, asked.target)
    train = load(asked.name, "--trainer")
    with bar("replaying") as progress:
        report = audit_trainer(
            train,
            schema,
            asked.epsilon,
            asked.delta,
            asked.relation,
            seed=asked.seed,
            progress=progress,
            pairs=asked.pairs,
        )
    emit(report.to_dict(), _page(asked, report), asked.as_json)
    return exit_status(report.verdict)


def schema_of(file: Path, target: str | None) -> Schema:
    """A schema from {column: [low, high] or [category, ...]}. Errors: InvalidParameter, InvalidRecords."""
    domains = {name: feature for name, (feature, _) in given_domains(file).items()}
    name = target or next(reversed(domains), None)
    if name not in domains or len(domains) < 2:
        raise InvalidParameter(f"--schema {file}: columns {list(domains)} given, a target and a feature are needed")
    learnt = domains.pop(name)
    aim = Classes(learnt.categories) if isinstance(learnt, Categorical) else Interval(learnt.low, learnt.high)
    return Schema(tuple(domains.values()), aim)


def _page(asked: Asked, report: TrainerReport) -> RenderableType:
    claim = f"epsilon {asked.epsilon:g}" + (f", delta {asked.delta:g}" if asked.delta else "")
    head = Text.assemble(
        f"audit  {asked.name}, {asked.relation.value} neighbours, {claim}: ",
        (str(report.verdict), STYLES.get(report.verdict, "bold green")),
        f", {report.pairs} pairs replayed",
    )
    return Group(head, coverage_table(report.coverage), *map(described, report.violations))


def coverage_table(rows: tuple[Row, ...]) -> Table:
    """What was looked at, with its verdict, reason and power."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("what", "verdict", "reason", "would have shown"):
        table.add_column(title, overflow="fold")
    for row in rows:
        verdict = Text(str(row.verdict), STYLES.get(row.verdict, ""))
        table.add_row(row.what, verdict, row.reason, row.power)
    return table
