"""Random plans against truths in ball arithmetic, kept and counted.

    python -m benchmarks.enclosures run [--plans 5000] [--minutes 60]
    python -m benchmarks.enclosures write

`run` judges the plans that are not in runs.jsonl.gz yet, or were judged there with another accountant (each line has
the fingerprint of the code that it saw), and can be stopped and begun again at any time (5,000 take about a quarter of
an hour of one processor). `write` puts the table of widths, made of the lines of the accountant as it is, and their
number into docs/accounting.md; it ends with 1 if any upper end is below the truth or any lower end above it, and
changes nothing where there is no such line. For both ends of ε, and both of δ at the upper one, the
truth is evaluated there: a ball around δ(ε). Needs the extra `proofs`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import textwrap
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.enclosures.drawn import FAMILIES, Case, drawn
from benchmarks.enclosures.laws import Parts, profile
from proofs.accounting import Rejected
from refdp.accounting import account
from refdp.ledger.fingerprint import fingerprint, name_of

RUNS = Path(__file__).with_name("runs.jsonl.gz")
PAGE = Path(__file__).parents[2] / "docs" / "accounting.md"
TARGET = 1e-5
HEAD = "| family | plans | no ball | upper below | lower above | width: median | 99 % | largest |"
Row = dict[str, Any]


def largest(alternatives: list[Parts], epsilon: float) -> tuple[float, float]:
    """The ends of a ball around the largest δ(ε)."""
    balls = [profile(parts, epsilon) for parts in alternatives]
    return max(float(ball.lower()) for ball in balls), max(float(ball.upper()) for ball in balls)


def judged(case: Case, delta: float) -> Row:
    """Both ends, and whether they hold: None where no ball could be had."""
    bound = account(case.plan, delta=delta, group=case.group)
    back = account(case.plan, epsilon=bound.upper, group=case.group)
    high = case.low if case.high is None else case.high
    row: Row = {"lower": bound.lower, "upper": bound.upper, "exact": case.high is None, "below": None, "above": None}
    try:
        truth, _ = largest(case.low, bound.upper)
        row["below"] = truth > delta * (1 + SLACK) or truth > back.upper * (1 + SLACK)
        if bound.lower == 0 or not high:
            row["above"] = False
        else:
            row["above"] = largest(high, bound.lower)[1] < delta * (1 - SLACK)
            row["above"] |= largest(high, bound.upper)[1] < back.lower * (1 - SLACK)
    except Rejected:
        pass
    return row


SLACK = 1e-13
"""Relative: the ends of balls are read as floats."""


def read() -> list[Row]:
    """The rows that are kept: of each plan the last one, in the order of plans."""
    if not RUNS.exists():
        return []
    with gzip.open(RUNS, "rt", encoding="utf-8") as file:
        last = {row["plan"]: row for row in map(json.loads, file)}
    return [last[number] for number in sorted(last)]


def of_today(rows: list[Row]) -> list[Row]:
    """Those that were judged with the accountant as it is."""
    code = fingerprint(name_of(account))
    return [row for row in rows if row.get("code") == code]


def run(plans: int, minutes: float) -> None:
    """Add what is missing."""
    known, end = {row["plan"] for row in of_today(read())}, time.monotonic() + 60 * minutes
    code = fingerprint(name_of(account))
    for number in range(plans):
        if number in known:
            continue
        if time.monotonic() > end:
            sys.exit("out of time; what was run is kept")
        family, case, delta = drawn(number)
        row = {"plan": number, "family": family, "delta": delta, "code": code, **judged(case, delta)}
        with gzip.open(RUNS, "at", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        if row["below"] or row["above"]:
            print(row, flush=True)


def table(rows: list[Row]) -> list[str]:
    """Counts and widths by family."""
    lines = [HEAD, "|---|---|---|---|---|---|---|---|"]
    for family in FAMILIES:
        own = [row for row in rows if row["family"] == family]
        widths = [width(row) for row in own]
        if own:
            counts = [len(own), sum(row["below"] is None for row in own)]
            counts += [sum(row[end] is True for row in own) for end in ("below", "above")]
            shares = [f"{np.quantile(widths, share):.1e}" for share in (0.5, 0.99, 1.0)]
            lines.append("| " + " | ".join([family, *map(str, counts), *shares]) + " |")
    sums = [
        sum(row[end] is wanted for row in rows) for end, wanted in (("below", None), ("below", True), ("above", True))
    ]
    return [*lines, f"| all | {len(rows):,} | {' | '.join(map(str, sums))} | | | |"]


def write() -> int:
    """The table into the page; the number of ends that do not hold."""
    rows = of_today(read())
    if rows:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    print("\n".join(table(rows)), f"\n{len(rows)} plans")
    return sum((row["below"] is True) + (row["above"] is True) for row in rows)


def written(page: str, rows: list[Row]) -> str:
    """The page with the table and the sentences after it in place of its own."""
    before, _, rest = page.partition(HEAD)
    return f"{before}{chr(10).join(table(rows))}\n\n{told(rows)}\n\n{rest.split(chr(10) * 2, 2)[2]}"


def told(rows: list[Row]) -> str:
    """How many plans, by which code, and how many of each family are wider than the target."""
    wide = {family: [row for row in rows if row["family"] == family and width(row) > TARGET] for family in FAMILIES}
    counted = ", ".join(f"{family} {len(own):,}" for family, own in wide.items() if own)
    some = f"{sum(map(len, wide.values())):,} are wider than {TARGET:g}: {counted}" if counted else "none is wider"
    return textwrap.fill(f"{len(rows):,} plans were judged with the accountant `{rows[0]['code']}`; {some}.", 120)


def width(row: Row) -> float:
    """(upper - lower) / max(upper, 10^-3)."""
    return float((row["upper"] - row["lower"]) / max(row["upper"], 1e-3))


def main() -> None:
    """Run or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "write"])
    parser.add_argument("--plans", type=int, default=5000)
    parser.add_argument("--minutes", type=float, default=1e6)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.command == "run":
        run(options.plans, options.minutes)
    else:
        sys.exit(1 if write() else 0)


if __name__ == "__main__":
    main()
