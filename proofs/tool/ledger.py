"""Re-deriving all claims: each proposition in its own process with a time limit, verdicts in order of dependence."""

from __future__ import annotations

import importlib
import json
import multiprocessing
import pkgutil
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import Any

import proofs
from proofs.checker.evidence import Evidence, Outcome
from proofs.checker.proposition import Proposition, derive
from proofs.tool.attribution import attributions
from refdp.ledger.claims import Claim

LEDGER = Path(__file__).parents[2] / "refdp" / "ledger" / "ledger.json"
TIME_LIMIT = 240
"""Seconds of wall clock for one proposition; one that needs more is undecided."""

Outcomes = tuple[Outcome, ...]


@lru_cache(maxsize=1)
def propositions() -> dict[str, Proposition]:
    """Every proposition by id, from the PROPOSITIONS of all modules of this package.

    Errors: ValueError for an id used twice, one that uses an unknown id, or a quote for an unknown id.
    """
    found: dict[str, Proposition] = {}
    for module in sorted(
        m.name for m in pkgutil.walk_packages(proofs.__path__, "proofs.") if m.name != "proofs.__main__"
    ):
        for proposition in getattr(importlib.import_module(module), "PROPOSITIONS", ()):
            if proposition.id in found:
                raise ValueError(f"two propositions with the id {proposition.id}")
            found[proposition.id] = replace(proposition, attribution=attributions().get(proposition.id))
    for name in attributions():
        if name not in found:
            raise ValueError(f"proofs/quotes has {name}, which no module states")
    for proposition in found.values():
        named = (*proposition.premises, *((proposition.repaired_by,) if proposition.repaired_by else ()))
        unknown = [name for name in named if name not in found]
        if unknown:
            raise ValueError(f"{proposition.id} names {unknown[0]}, which no module states")
    return found


def check(proposition: Proposition) -> Outcomes:
    """The outcomes of all evidence, in this process."""
    return tuple(described(evidence, evidence.check()) for evidence in proposition.evidence)


def described(evidence: Evidence, outcome: Outcome) -> Outcome:
    """The outcome with the formula that was checked, the names in it, and the functions of refdp that it runs."""
    ran: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.partition(".")[0] == "refdp":
            ran.add(f"{module}:{frame.f_code.co_qualname}")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        formula = evidence.formula()
    finally:
        sys.setprofile(before)
    names = tuple(sorted(set(re.findall(r"\((\w+) (?:Real|Int|real|> 0|>= 0)", formula))))
    return replace(outcome, formula=formula, variables=names, ran=tuple(sorted(ran)))


def verdicts(outcomes: dict[str, Outcomes]) -> dict[str, Claim]:
    """All claims, premises before what rests on them. Errors: ValueError if propositions use each other in a circle."""
    claims: dict[str, Claim] = {}
    waiting = [propositions()[name] for name in outcomes]
    while waiting:
        ready = [p for p in waiting if all(name in claims for name in p.premises)]
        if not ready:
            raise ValueError(f"propositions that rest on each other or on unchecked ones: {[p.id for p in waiting]}")
        claims |= {p.id: derive(p, outcomes[p.id], claims) for p in ready}
        waiting = [p for p in waiting if p.id not in claims]
    return claims


def with_premises(names: list[str]) -> list[str]:
    """The names together with everything that they rest on."""
    found: dict[str, None] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            waiting += propositions()[name].premises
    return [name for name in propositions() if name in found]


@dataclass
class _Running:
    """A proposition that a child process is checking."""

    name: str
    process: Any
    connection: Connection
    started: float


def check_all(
    names: list[str], workers: int = 2, done: Callable[[str, float], None] = lambda name, seconds: None
) -> dict[str, Outcomes]:
    """Outcomes of the named propositions; `done` is told of each one with the seconds that it took."""
    results: dict[str, Outcomes] = {}
    waiting, running = list(names), list[_Running]()
    while waiting or running:
        while waiting and len(running) < workers:
            running.append(_start(waiting.pop(0)))
        wait([job.connection for job in running], timeout=1)
        for job in list(running):
            outcomes = _finished(job)
            if outcomes is not None:
                running.remove(job)
                results[job.name] = outcomes
                done(job.name, time.monotonic() - job.started)
    return {name: results[name] for name in names}


def _start(name: str) -> _Running:
    parent, child = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_child, args=(name, child))
    process.start()
    child.close()
    return _Running(name, process, parent, time.monotonic())


def _child(name: str, connection: Connection) -> None:
    connection.send(check(propositions()[name]))


def _finished(job: _Running) -> Outcomes | None:
    """The outcomes if the child is done, has died or is out of time, else None."""
    if job.connection.poll():
        try:
            outcomes: Outcomes = job.connection.recv()
        except EOFError:
            outcomes = (Outcome("unknown", (), "the check itself failed with an error"),)
        job.process.join()
        return outcomes
    if time.monotonic() - job.started < TIME_LIMIT:
        return None
    job.process.kill()
    job.process.join()
    return (Outcome("unknown", (), f"not decided within {TIME_LIMIT} seconds"),)


def to_json(claims: dict[str, Claim]) -> str:
    """The ledger as committed: one row a claim, by id; witnesses in the order of their statement, as on the page."""
    rows = [dict(sorted(claims[name].to_dict().items())) for name in sorted(claims)]
    return json.dumps({"claims": rows}, indent=1, ensure_ascii=False) + "\n"


def differences(claims: dict[str, Claim], committed: str) -> Iterator[str]:
    """One line for each claim that differs from the committed ledger."""
    old = {row["id"]: row for row in json.loads(committed)["claims"]}
    new = {row["id"]: row for row in json.loads(to_json(claims))["claims"]}
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if before is None or after is None:
            yield f"{name}: {'only derived now' if before is None else 'only in the committed ledger'}"
        elif before != after:
            changed = [field for field in after if before.get(field) != after[field]]
            yield f"{name}: {', '.join(f'{f}: {before.get(f)!r} -> {after[f]!r}' for f in changed)}"
