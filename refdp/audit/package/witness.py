"""Witnesses: at most ten lines that show a finding again, without refdp where that is possible, and were run once here.

Candidates are tried in turn, in a process where refdp cannot be imported; the first that shows the finding is kept.
"""

from __future__ import annotations

import ast
import contextlib
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from refdp.audit.package.entries import Neighbours
from refdp.audit.package.findings import Witness
from refdp.audit.package.scope import Entry, Scope

SECONDS = 60.0
"""A witness that runs longer is told to be not re-run."""
WITHOUT = "import sys; sys.modules['refdp'] = None; exec(compile(open(sys.argv[1]).read(), sys.argv[1], 'exec'))"
Shows = Callable[[str], bool]


def imported(entry: Entry) -> str:
    """The line that imports the entry point as `f`."""
    assert isinstance(entry.target, str)
    module, _, function = entry.target.partition(":")
    return f"from {module} import {function} as f"


def counting(entry: Entry, pair: Neighbours, event: str, runs: int) -> str:
    """How often an event of the output `v` happens on both sides."""
    return "\n".join(
        [
            "import numpy as np",
            imported(entry),
            *pair.code,
            f"event = lambda v: {event}",
            f"counts = [sum(bool(event(f(rows.copy(), s))) for s in range({runs})) for rows in (first, second)]",
            f'print(counts, "of {runs} runs a side")',
        ]
    )


def raising(entry: Entry, pair: Neighbours, runs: int) -> str:
    """How often each side raises an error."""
    return "\n".join(
        [
            "import numpy as np",
            imported(entry),
            *pair.code,
            "def fails(rows, seed):",
            "    try: f(rows.copy(), seed)",
            "    except Exception: return True",
            f"counts = [sum(bool(fails(rows, s)) for s in range({runs})) for rows in (first, second)]",
            f'print(counts, "of {runs} runs a side")',
        ]
    )


def watching(entry: Entry, pair: Neighbours, function: str, value: str, seed: int) -> str:
    """The true values that a noise function "module:owner.name" is given, on both sides."""
    module, _, path = function.partition(":")
    return "\n".join(
        [
            f"import inspect, sys, numpy as np, {module} as m",
            imported(entry),
            *pair.code,
            f"noise, seen = m.{path}, []",
            "def watch(*a, **k):",
            f"    seen.append(np.ravel({value}).tolist())",
            "    return noise(*a, **k)",
            f"m.{path} = watch",
            f"for rows in (first, second): seen.clear(); f(rows.copy(), {seed}); print(seen)",
        ]
    )


def again(scope: Scope, entry: Entry, stage: str) -> str:
    """The examination itself, by refdp."""
    return "\n".join(
        [
            "from pathlib import Path",
            "from refdp.audit.package import audit_package",
            f"report = audit_package(Path({scope.path.name!r}), only={entry.name!r}, stages=({stage!r},))",
            'print(*(f"{one.kind} at {one.where}: {dict(one.figures)}" for one in report.findings), sep="\\n")',
        ]
    )


def chosen(scope: Scope, entry: Entry, stage: str, candidates: Iterator[tuple[str, Shows]]) -> Witness:
    """The first candidate that shows the finding, without refdp if it can; else the examination itself, not re-run."""
    for code, shows in candidates:
        if len(code.splitlines()) > 10:
            continue
        for standalone in (True, False):
            if shows(_output(code, scope.folder, standalone)):
                return Witness(code, standalone, True)
    return Witness(again(scope, entry, stage), False, False)


def _output(code: str, folder: Path, standalone: bool) -> str:
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "witness.py")
        file.write_text(code, encoding="utf-8")
        head = WITHOUT if standalone else WITHOUT.replace("sys.modules['refdp'] = None; ", "")
        words = [sys.executable, "-W", "ignore", "-c", f"import sys; sys.path.insert(0, ''); {head}", str(file)]
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS)
            return done.stdout if done.returncode == 0 else ""
    return ""


def _counts(output: str) -> tuple[int, int, int] | None:
    found = re.search(r"\[(\d+), (\d+)\] of (\d+)", output)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def one_sided(output: str) -> bool:
    """Whether one side alone had it, at least three times."""
    counts = _counts(output)
    return counts is not None and min(counts[:2]) == 0 and max(counts[:2]) >= 3


def likelier(epsilon: float, delta: float) -> Shows:
    """Whether the counts' ratio is above what the claim allows."""

    def shows(output: str) -> bool:
        counts = _counts(output)
        if counts is None:
            return False
        more, less = max(counts[:2]) - delta * counts[2], min(counts[:2])
        return more >= 3 and (less == 0 or math.log(more / less) > epsilon)

    return shows


def moved(declared: float, norm: int) -> Shows:
    """Whether some true value differs between the two printed lists by more than is declared."""

    def shows(output: str) -> bool:
        lines = output.strip().splitlines()[-2:]
        try:
            first, second = (ast.literal_eval(line) for line in lines)
            changes = [
                sum(abs(a - b) ** norm for a, b in zip(x, y, strict=True)) ** (1 / norm) for x, y in zip(first, second)
            ]
        except (ValueError, SyntaxError, TypeError):
            return False
        return max(changes, default=0.0) > declared * (1 + 1e-9)

    return shows


def structural_event(kind: str, where: str, evidence: Mapping[str, Any]) -> str:
    """What a structural finding counts, as an expression in the output `v`; "" where none can be written."""
    if kind in ("exact statistic", "identical outputs") and "first" in evidence:
        if where.startswith("sum of "):
            inner = where.removeprefix("sum of ").removesuffix("[...]")
            return f"abs(np.sum(v{inner}) - {evidence['first']!r}) < 1e-9 * max(1, abs({evidence['first']!r}))"
        return f"v{where} == {evidence['first']!r}"
    if kind == "support" and "value" in evidence:
        return f"v{where} == {evidence['value']!r}"
    if kind == "support" and "first" in evidence:
        return f"v{where} == {evidence['first']!r}"
    if kind == "precision":
        return f"v{where} % 2.0**{evidence['grid 2^']} != 0"
    if kind == "reused noise":
        (one, other), ratio, exact = evidence["places"], evidence["ratio"], evidence["difference without noise"]
        return f"abs(v{other} - {ratio!r} * v{one} - {exact[0]!r}) < 1e-6 * max(1, abs({exact[0]!r}))"
    return ""


def blackbox_event(words: str) -> str:
    """A threshold event in words as an expression in the output `v`; "" for learnt events."""
    number = r"(-?[\d.e+-]+)"
    if found := re.match(rf"output (\d+) (>=|<=|==) {number}", words):
        return f"np.ravel(v)[{found[1]}] {found[2]} {found[3]}"
    if found := re.match(rf"output (\d+) - output (\d+) (>=|<=|==) {number}", words):
        return f"np.ravel(v)[{found[1]}] - np.ravel(v)[{found[2]}] {found[3]} {found[4]}"
    if found := re.match(r"output (\d+) is infinite", words):
        return f"not np.isfinite(np.ravel(v)[{found[1]}])"
    if found := re.match(rf"log2 of the lowest set bit of output (\d+) (>=|<=|==) {number}", words):
        turned = {">=": "<=", "<=": ">=", "==": "=="}[found[2]]
        return f"float(np.ravel(v)[{found[1]}]).as_integer_ratio()[1] {turned} 2.0**{-float(found[3]):g}"
    return ""
