"""The part of docs/prove.md about parameters that have any value of a range, and its kept lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import kept_lines
from refdp.data.records import Schema
from refdp.faces.registry import PAPERS, paper
from refdp.ledger.fingerprint import fingerprint
from refdp.ledger.proved import engine, text_of
from refdp.prove.asking import Solvers
from refdp.prove.reading import prove
from tests.mutants.matrix import FEATURES, TARGETS
from tests.prove.hostile_open import COMPUTES, LOOKS

KEPT = Path(__file__).with_name("ranges.jsonl")
LAMBDA = {"regularisation": (0.01, 100.0)}
RO = {"relation": "replace-one"}
Case = tuple[Mapping[str, Any], Mapping[str, Any]]
RANGES: Mapping[str, tuple[Case, ...]] = {
    "dpboost": (
        ({}, LAMBDA), (RO, LAMBDA), ({"noise": "floating"}, LAMBDA), ({"gradients": "clip"}, LAMBDA),
        ({"target": "binary"}, LAMBDA), ({**RO, "target": "three"}, LAMBDA), ({}, {"regularisation": None}),
        ({}, {"shrinkage": (0.01, 0.5)}), ({}, {"gradient_bound": (0.5, 2.0)}),
    ),
    "dpxgboost": (
        ({}, LAMBDA), (RO, LAMBDA), ({"leaf": "laplace"}, LAMBDA), ({"leaf": "average"}, LAMBDA),
        ({"candidates": "uniform"}, LAMBDA), ({}, {"shrinkage": (0.01, 1.0)}), ({}, {"gradient_bound": (0.5, 2.0)}),
        ({}, {"subsample": (0.05, 0.5)}),
    ),
    "inprivate": (
        ({}, {"shrinkage": (0.01, 1.0)}), ({}, {"leaf_bound": (0.01, 100.0)}),
        ({"damping": 4.0}, {"damping": (0.1, 10.0)}),
        ({}, {"split_share": (0.1, 0.9)}),
    ),
    "fedgbdt": (
        ({}, {"regularisation": (0.01, 100.0)}), (RO, {"regularisation": (0.01, 100.0)}),
        ({}, {"shrinkage": (0.01, 1.0)}), ({}, {"leaf_clip": (0.01, 10.0)}),
    ),
    "sgbdt": (({}, LAMBDA), ({}, {"shrinkage": (0.01, 1.0)})),
}  # fmt: skip
"""Settings, and what has any value of a range."""


def _named(settings: Mapping[str, Any], anywhere: Mapping[str, Any]) -> tuple[str, str, str]:
    said = ", ".join(f"{key} = {value}" for key, value in settings.items() if key != "relation") or "default"
    each = (f"{name}: {'all that is allowed' if ends is None else f'{ends[0]:g} to {ends[1]:g}'}"
            for name, ends in anywhere.items())  # fmt: skip
    return settings.get("relation", "add-remove"), said, ", ".join(each)


def rows() -> dict[tuple[str, ...], dict[str, Any]]:
    """The kept lines, the last of each. fresh: whether of today's text and reading."""
    marks, today = {name: fingerprint(text_of(name)) for name in PAPERS}, engine()
    found = {}
    for one in kept_lines.read(KEPT) if KEPT.exists() else ():
        fresh = (one["text"], one["reading"]) == (marks[one["paper"]], today)
        found[one["paper"], one["relation"], one["setting"], one["range"]] = {**one, "fresh": fresh}
    return found


def settled(name: str, small: Mapping[str, Any], target: str, solvers: Solvers, until: float) -> None:
    """Prove a paper's cases that have no fresh line, and keep each as it comes."""
    before = rows()
    for settings, anywhere in RANGES.get(name, ()):
        key = name, *_named(settings, anywhere)
        if (key in before and before[key]["fresh"]) or time.monotonic() > until:
            continue
        given = {**small, "relation": "add-remove", **settings}
        schema = Schema(FEATURES, TARGETS[given.pop("target", target)])
        params = paper(name).params(given, as_published=False)
        found = prove(name, params, schema, solvers=solvers, briefly=True, anywhere=anywhere)
        why = "" if found.verdict == "PROVED" else f"{found.failures[0].kind}, {found.failures[0].reason[:110]}"
        line = {"paper": name, "relation": key[1], "setting": key[2], "range": key[3], "verdict": found.verdict,
                "why": why, "seconds": round(found.seconds, 1), "questions": found.questions,
                "text": fingerprint(text_of(name)), "reading": engine()}  # fmt: skip
        kept_lines.append(KEPT, line)
        print(*key, found.verdict, why, file=sys.stderr, flush=True)


def section() -> str:
    """The table and what it says."""
    found, lines = rows(), []
    for name, cases in RANGES.items():
        for settings, anywhere in cases:
            key = name, *_named(settings, anywhere)
            one = found.get(key, {"verdict": "not run", "why": "", "seconds": "", "questions": ""})
            of = "today's" if one.get("fresh") else "an earlier" if "fresh" in one else "none"
            lines.append(f"| {' | '.join(key)} | {one['verdict']} | {of} | {one['seconds']} | {one['questions']} | "
                         f"{one['why']} |")  # fmt: skip
    proved = sum(one["verdict"] == "PROVED" for one in found.values())
    return TEXT.format(rows="\n".join(lines), proved=proved, all=len(lines), texts=len(LOOKS) + len(COMPUTES))


TEXT = """## Any value of a parameter

`refdp prove dpboost --any regularisation=0.01..100` proves the text for every regularisation in the range at once, as a
real number: {proved} of {all} such questions below are PROVED. The parameter is an unknown of every question, with its
range as what is known of it. The text computes with it and never sees it: a text of it, a conversion, a look-up, a
length, or a comparison that the range does not decide ends the reading; the declared bound is the formula's term, which
`rounded_up` never falls below; and no bound may be larger beside its noise than at the settings' own value, at which
the plan is accounted. Where all that is proved, the text is read once more with numbers at both ends, as a check of the
reading. {texts} texts that behave otherwise for another value (`tests/prove/hostile_open.py`) are refused, each without
those two readings; they were written by the author of these rules, so not blindly.
What float64 rounds is followed in pieces of the range, and held against the least noise and bound in each: a text may
be right at both ends, and not in between (`tests/prove/hostile_thirtyninth.py`, `tests/prove/hostile_fortieth.py`).

Whole numbers, choices, shares of records and the budget stay numbers: how many releases there are, and what they
cost, is accounted in numbers. A bound of a statistic (`gradient_bound`, `residual_bound`) is not followed either:
what is known of sums, n times the bounds of a statistic, is looked for among numbers, so that what fails there is
what is known and no release; for `residual_bound` the solvers took minutes without an answer, and it has no row.
DPBoost computes clips of leaves in decimals of 100 digits, which the reading does not know of `shrinkage`.

| paper | relation | setting | parameter and range | verdict | reading | seconds | questions | what is not followed |
|---|---|---|---|---|---|---|---|---|
{rows}
"""
