"""All vectors through a foreign program, and the report."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from refdp.conform import margins
from refdp.conform.client import Client
from refdp.conform.compare import Difference
from refdp.conform.files import ABSENT, LEVELS
from refdp.conform.judge import PASSED, Judgement, judge, repeats
from refdp.errors import InvalidParameter

Drawn = dict[str, list[dict[str, Any]]]
"""Answers with fresh draws, by law."""
SALT = secrets.token_bytes(16)


@dataclass
class Report:
    """What a program answered. name, version: as it calls itself. counts: by (paper, kind, outcome).

    seed: what the vectors were drawn from, None for the repository's.
    """

    name: str
    version: str
    seed: int | None = None
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    crashes: int = 0

    def total(self, outcome: str) -> int:
        """How many vectors ended so."""
        return sum(count for (_, _, one), count in self.counts.items() if one == outcome)

    @property
    def ok(self) -> bool:
        """Whether something was examined and nothing failed."""
        return self.total("failed") == 0 and self.total("passed") + self.total("acceptable") > 0

    def level(self, paper: str) -> str:
        """The highest level whose vectors, and those of the levels before it, were all run without failures, or "none".

        A level of which some kind was left out or skipped is not reached.
        """
        reached = "none"
        for level, kinds in LEVELS.items():
            found = {(kind, one) for (name, kind, one) in self.counts if name == paper}
            needed = {kind for kind in kinds if (paper, kind) not in ABSENT}
            missing = needed - {kind for kind, _ in found}
            if missing or any(kind in needed and one in ("failed", "skipped") for kind, one in found):
                break
            reached = level
        return reached

    @property
    def levels(self) -> dict[str, str]:
        """Of every paper that was run."""
        return {paper: self.level(paper) for paper in dict.fromkeys(name for name, _, _ in self.counts)}

    def badge(self) -> str:
        """A line for a README."""
        told = ", ".join(f"{paper} {level}" for paper, level in self.levels.items() if level != "none") or "no level"
        drawn = "" if self.seed is None else f", vectors of seed {self.seed}"
        return (
            f"refdp conformance of {self.name} {self.version}{drawn}: {told} "
            f"({self.total('passed')} passed, {self.total('acceptable')} acceptable, {self.total('failed')} failed, "
            f"{self.total('skipped')} skipped)"
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        outcomes = {outcome: self.total(outcome) for outcome in ("passed", "failed", "acceptable", "skipped")}
        return {
            "name": self.name,
            "version": self.version,
            "seed": self.seed,
            **outcomes,
            "crashes": self.crashes,
            "levels": self.levels,
            "skips": dict(self.reasons),
            "failures": self.failures,
            "badge": self.badge(),
        }


def run(
    command: str,
    envelopes: Iterable[dict[str, Any]],
    *,
    timeout: float = 60.0,
    seed: int | None = None,
    progress: Callable[[], None] = lambda: None,
) -> Report:
    """Every vector of these files through one program. seed: what they were drawn from, None for the repository's.

    Errors: InvalidParameter if it does not start.
    """
    client = Client(command, timeout)
    said = client.start()
    report = Report(called(said.get("name")), called(said.get("version")), seed)
    supports = {str(one) for one in said["supports"]}
    drawn: Drawn = {}
    listed = [(body, test) for body in envelopes for test in body["tests"]]
    places = {test["id"]: place for place, (_, test) in enumerate(listed)}
    try:
        for body, test in mixed(listed):
            count(report, body, test, examined(client, body, test, supports, drawn))
            progress()
    finally:
        client.stop()
    report.failures.sort(key=lambda one: places[one["id"]])
    report.crashes = client.crashes
    return report


def mixed(listed: list[tuple[dict[str, Any], dict[str, Any]]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Files and their vectors in the order of asking: plans and runs of a paper with those to be refused, in any order.

    Drawn anew by each call, so that the place of a question does not tell what is expected.
    """
    found: list[tuple[dict[str, Any], dict[str, Any]]] = []
    refusable = ("plan", "train", "negative")
    for (_, asked_so), group in groupby(listed, lambda one: (one[0]["paper"], one[0]["kind"] in refusable)):
        some = list(group)
        if asked_so:
            secrets.SystemRandom().shuffle(some)
        found += some
    return found


def called(told: Any) -> str:
    """A name or version that a program gives itself, without what could pass for a part of the report."""
    return re.sub(r"[^\w.+ -]", "?", str(told))[:40]


def examined(client: Client, body: dict[str, Any], test: dict[str, Any], supports: set[str], drawn: Drawn) -> Judgement:
    """The verdict on one vector; a choice within its margin is settled by further questions.

    drawn: earlier answers with fresh draws, by law; added to.
    """
    if body["paper"] not in supports:
        return Judgement("skipped", f"{body['paper']} is not supported")
    asked = message(body, test)
    answer = client.run(asked)
    found = judge(test, body["kind"], answer)
    if body["kind"] == "statistical" and found.outcome == "passed":
        return freshly(client, test, asked, answer, drawn)
    if found.outcome != "failed" or "output" not in answer or "choices" not in test.get("tolerance", {}):
        return found
    try:
        return settled(client, body, test, asked, answer) or found
    except (InvalidParameter, AttributeError, IndexError, KeyError, TypeError, ValueError):
        return found  # what is of another form has no margin: it has failed already


def freshly(
    client: Client, test: dict[str, Any], asked: dict[str, Any], answer: dict[str, Any], drawn: Drawn
) -> Judgement:
    """Whether draws are new ones: other than those of earlier answers, and than those after a new start."""
    before = drawn.setdefault(str(test["expect"]["law"]), [])
    fresh = [answer]
    if not before:
        client.stop()  # the next question starts it again
        fresh.append(client.run(asked))
        if (found := judge(test, "statistical", fresh[1])).outcome != "passed":
            return found
    for one in fresh:
        if any(repeats(one, other) for other in before):
            reason = "the same draws as before: a fixed seed, or a list"
            return Judgement("failed", reason, Difference("values", "fresh draws", "draws that were given before"))
        before.append(one)
    return PASSED


def settled(
    client: Client, body: dict[str, Any], test: dict[str, Any], asked: dict[str, Any], answer: dict[str, Any]
) -> Judgement | None:
    """Whether an answer differs by choices within their margin only; None if not. Errors: InvalidParameter."""
    single = {"apply": margins.applied, "utilities": margins.near}.get(test["operations"][0])
    if single is not None:
        return margins.ACCEPTABLE if single(test, answer["output"]) else None
    return margins.settle(body["paper"], test, answer, lambda given: client.run({**asked, "input": given}))


def told_as(name: str) -> str:
    """The id that a program is told for a vector's: another one in each process."""
    return hashlib.sha256(SALT + name.encode()).hexdigest()[:16]


def message(body: dict[str, Any], test: dict[str, Any]) -> dict[str, Any]:
    """What a program is told of a vector: not what is expected, nor by its id or kind whether it is to be refused."""
    operation = test["operations"][0]
    return {
        "id": told_as(test["id"]),
        "paper": body["paper"],
        "kind": operation if body["kind"] == "negative" else body["kind"],
        "operation": operation,
        "input": test["input"],
    }


def count(report: Report, body: dict[str, Any], test: dict[str, Any], found: Judgement) -> None:
    """Enter one judgement."""
    report.counts[body["paper"], body["kind"], found.outcome] += 1
    if found.outcome == "skipped":
        report.reasons[found.reason] += 1
    if found.outcome != "failed":
        return
    where = found.difference
    report.failures.append({
        "id": test["id"],
        "asked": told_as(test["id"]),
        "kind": body["kind"],
        "path": where.path if where else "",
        "flags": test["flags"],
        "expected": where.expected if where else None,
        "got": where.got if where else None,
        "reason": found.reason,
    })  # fmt: skip
