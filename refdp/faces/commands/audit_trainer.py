"""`refdp audit --trainer`: the replay audit of anyone's `train(records, curator)`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from refdp.audit.campaign import to_run
from refdp.audit.declared_filter import read
from refdp.audit.trainer import TrainerReport, audit_trainer
from refdp.audit.verdicts import exit_status
from refdp.audit.witnesses import Known
from refdp.audit.witnesses import read as read_witnesses
from refdp.data.records import Categorical, Classes, Interval, Schema
from refdp.errors import InvalidParameter
from refdp.faces.commands.audit_run import coverage_table, described, verdict_text
from refdp.faces.commands.output import apart, bar, check_writable, emit, write_page
from refdp.io.domains import given_domains
from refdp.privacy.events import Relation


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
    html: Path | None
    as_json: bool
    filters: tuple[str, ...] = ()
    witness: Path | None = None


def audit_one(asked: Asked) -> int:
    """Audit, print, and give the exit status. Errors: InvalidParameter without a schema."""
    if asked.schema is None:
        raise InvalidParameter("--trainer: a file with the public schema is needed, --schema FILE")
    schema = schema_of(asked.schema, asked.target)
    check_writable("--html", asked.html, asked.name, asked.schema, asked.witness, *asked.filters)
    if asked.html is not None:
        from refdp.audit.page import check_drawing

        check_drawing()
    train, known = to_run(asked.name, "--trainer"), _known(asked, schema)
    with apart(), bar("replaying") as progress:
        report = audit_trainer(
            train,
            schema,
            asked.epsilon,
            asked.delta,
            asked.relation,
            seed=asked.seed,
            progress=progress,
            pairs=asked.pairs,
            filters=tuple(map(read, asked.filters)),
            known=known,
        )
    emit(report.to_dict(), _page(asked, report), asked.as_json)
    wrote = True
    if asked.html is not None:
        from refdp.audit.page_trainer import trainer_page

        wrote = write_page("--html", asked.html, trainer_page(asked.name, train, report, _command(asked)).html())
    status = exit_status(report.verdict)
    return status if status or wrote else 2


def _known(asked: Asked, schema: Schema) -> list[Known]:
    if asked.witness is None:
        return []
    found = read_witnesses(asked.witness, asked.relation)
    if any(one.pair.base.schema != schema for one in found):
        raise InvalidParameter(f"--witness {asked.witness}: its columns and bounds are not those of --schema")
    return found


def _command(asked: Asked) -> str:
    """The command that gives the same finding."""
    options = {"trainer": asked.name, "schema": asked.schema, "target": asked.target, "epsilon": asked.epsilon,
               "delta": asked.delta, "witness": asked.witness, "relation": asked.relation.value, "pairs": asked.pairs,
               "seed": asked.seed}  # fmt: skip
    words = [word for one in asked.filters for word in ("--filter", one)]
    words += [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]
    return shlex.join(["refdp", "audit", *words])


def schema_of(file: Path, target: str | None) -> Schema:
    """A schema from {column: [low, high] or [category, ...]}. Errors: InvalidParameter, InvalidRecords."""
    domains = {name: feature for name, (feature, _) in given_domains(file).items()}
    name = target or next(reversed(domains), None)
    if target is not None and target not in domains:
        raise InvalidParameter(f"--schema {file}: no column {target!r}; it has {', '.join(domains)}")
    if name not in domains or len(domains) < 2:
        raise InvalidParameter(f"--schema {file}: columns {list(domains)} given, a target and a feature are needed")
    learnt = domains.pop(name)
    aim = Classes(learnt.categories) if isinstance(learnt, Categorical) else Interval(learnt.low, learnt.high)
    return Schema(tuple(domains.values()), aim)


def _page(asked: Asked, report: TrainerReport) -> RenderableType:
    claim = f"epsilon {asked.epsilon:g}" + (f", delta {asked.delta:g}" if asked.delta else "")
    head = Text(f"audit  {asked.name}, {asked.relation.value} neighbours, {claim}: ")
    head.append_text(verdict_text(report.verdict, len(report.violations)))
    head.append(f", {report.pairs} pairs replayed")
    return Group(head, coverage_table(report.coverage), *map(described, report.violations))
