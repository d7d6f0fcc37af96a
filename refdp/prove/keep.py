"""`python -m refdp.prove.keep [PAPER ...]`: prove the default parameters of all trainers, and keep the results.

They are written to refdp/ledger/proved.json, which certificates and the ledger's claims about runs cite. What is fresh
there is not proved again, unless `--again` is given. About six minutes of one core, most of them Grove's.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from refdp.data.records import Schema
from refdp.errors import InvalidParameter
from refdp.faces.registry import OWN, PAPERS, paper
from refdp.ledger.proved import ELSEWHERE, FILE, Kept, engine_now, kept, plain, running, settings_of, text_now
from refdp.privacy.events import Relation
from refdp.prove.asking import Solvers
from refdp.prove.reading import Proof, prove
from refdp.prove.report import schema_of

PLACE = Path(__file__).parents[1] / "ledger" / FILE
TARGETS = (0, 2)
TRAINERS = (*PAPERS, *OWN)


def result(params: Any, schema: Schema, found: Proof) -> Kept:
    """A proof as it is kept: of no text where something else runs than the sources say, so that nothing cites it."""
    text = "" if running(found.paper) else str(text_now(found.paper))
    made = Kept(
        found.paper, found.relation.value, settings_of(params), plain(schema), found.verdict, found.statement,
        found.covers, found.trusted, found.releases, found.single, tuple(one.reason for one in found.failures),
        text, engine_now(),
    )  # fmt: skip
    return replace(made, digest=made.digested())


def proved_now(name: str, relation: Relation, classes: int, solvers: Solvers | None = None) -> Kept:
    """The default parameters of a paper, proved now. Errors: InvalidParameter where the paper has no such relation."""
    params, schema = paper(name).params({"epsilon": 1.0, "relation": relation}, as_published=False), schema_of(classes)
    return result(params, schema, prove(name, params, schema, solvers=solvers))


def cases(names: tuple[str, ...] = TRAINERS) -> Iterator[tuple[str, Relation, int]]:
    """Every trainer, relation and target of which a result is kept."""
    for name in names:
        for relation in Relation:
            try:
                paper(name).params({"epsilon": 1.0, "relation": relation}, as_published=False)
            except InvalidParameter:  # S-GBDT is about add-remove alone
                continue
            for classes in TARGETS:
                yield name, relation, classes


def found(name: str, relation: Relation, classes: int) -> Kept | None:
    """The kept result of the default parameters, None where there is none."""
    params, schema = paper(name).params({"epsilon": 1.0, "relation": relation}, as_published=False), schema_of(classes)
    key = name, relation.value, settings_of(params), plain(schema)
    return next((one for one in kept() if (one.paper, one.relation, one.settings, one.schema) == key), None)


def main(arguments: list[str]) -> int:
    """1 where something is not proved."""
    names, again = [one for one in arguments if one in TRAINERS] or list(TRAINERS), "--again" in arguments
    rows, solvers = [], Solvers()
    for name, relation, classes in cases():
        old = found(name, relation, classes) if PLACE.exists() else None
        if old is None or (name in names and (again or old.stale())):
            old = proved_now(name, relation, classes, solvers)
            print(name, relation.value, f"{classes} classes" if classes else "a regression", old.verdict, flush=True)
        if not old.stale() and old.engine != engine_now():  # comments of the reading are others
            old = replace(old, engine=engine_now())
            old = replace(old, digest=old.digested())
        rows.append(old)
    PLACE.write_text(written(rows), encoding="utf-8")
    for name in [one for one in names if running(one)]:
        print(f"{name} is not kept: {ELSEWHERE}, {running(name)}")
    return int(any(one.verdict != "PROVED" or one.stale() for one in rows))


def written(rows: Iterable[Kept]) -> str:
    """The file of results."""
    return json.dumps({"proved": [asdict(one) for one in rows]}, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
