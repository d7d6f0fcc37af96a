"""docs/prove-matrix.md: which privacy mutants of the papers `refdp prove` and the audit name, one by one.

`make prove-matrix` reads all mutants that have no kept line of this text and this reading: a quarter of an hour of one
core for all, and what was stopped goes on where it was. A number of seconds ends it then. `--kept` writes the page of
what is kept.
"""

from __future__ import annotations

import math
import re
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import kept_lines
from refdp.faces.registry import PAPERS
from refdp.ledger.fingerprint import fingerprint
from refdp.ledger.proved import engine, text_of
from refdp.prove.asking import Solvers
from tests.mutants.harness import Mutant
from tests.prove.further import FURTHER
from tests.prove.mutants import NEW
from tests.prove.page import OWN, hasty, in_sight, verdict

ROOT = Path(__file__).parents[2]
PAGE, KEPT = ROOT / "docs" / "prove-matrix.md", Path(__file__).with_name("matrix.jsonl")
AUDITED = ROOT / "docs" / "audit-mutants.md"
LIMIT = 1500
"""Milliseconds a question."""


def mutants(name: str) -> Iterator[tuple[str, Mutant]]:
    """A paper's mutants, those that audits are held against first."""
    for group, found in (("audited", OWN[name]), ("further", NEW[name]), ("further", FURTHER[name])):
        for mutant in found:
            yield group, mutant


def rows() -> dict[tuple[str, str], dict[str, Any]]:
    """The kept lines, by paper and mutant, the last of each. fresh: whether of today's text and reading."""
    marks, today = {name: fingerprint(text_of(name)) for name in PAPERS}, engine()
    found = {}
    for one in kept_lines.read(KEPT):
        fresh = (one["text"], one["reading"]) == (marks[one["paper"]], today)
        found[one["paper"], one["mutant"]] = {**one, "fresh": fresh}
    return found


def examined(seconds: float) -> None:
    """Ask about every mutant without a line, in turn of the papers, and keep each line as it comes."""
    until, kept, solvers = time.monotonic() + seconds, rows(), {name: Solvers() for name in PAPERS}
    left = {
        name: [one for one in mutants(name) if not kept.get((name, one[1].name), {}).get("fresh")] for name in PAPERS
    }
    while any(left.values()):
        for name in PAPERS:
            if not left[name]:
                continue
            if time.monotonic() > until:
                return
            group, mutant = left[name].pop(0)
            began = time.process_time()
            with hasty(LIMIT):
                kind, why = verdict(name, mutant, solvers[name])
            line = {"paper": name, "mutant": mutant.name, "group": group, "kind": kind, "why": why,
                    "text": fingerprint(text_of(name)), "reading": engine(),
                    "seconds": round(time.process_time() - began, 2)}  # fmt: skip
            kept_lines.append(KEPT, line)
            print(name, mutant.name, kind, file=sys.stderr, flush=True)


def audited() -> dict[str, tuple[int, int, int]]:
    """Of each paper, by the audit's page: mutants run, all, and those that it named."""
    titles = {"DPBoost": "dpboost", "DP-XGBoost": "dpxgboost", "the federated framework": "fedgbdt",
              "InPrivate Digging": "inprivate", "S-GBDT": "sgbdt"}  # fmt: skip
    found = {}
    for title, run, of, named in re.findall(r"\| ([^|]+) \| (\d+) of (\d+) \| (\d+) \|", AUDITED.read_text("utf-8")):
        found[titles[title]] = int(run), int(of), int(named)
    return found


def not_named() -> str:
    """What the audit's page says of mutants that it does not name."""
    return next((line for line in AUDITED.read_text("utf-8").splitlines() if line.startswith("Not named")), "")


def page() -> str:
    """The page, of the kept lines."""
    kept, audit, missing = rows(), audited(), not_named()
    table, lines = [], []
    total = dict.fromkeys(("all", "asked", "seen", "refused", "alive"), 0)
    alive: list[str] = []
    for name in PAPERS:
        every = list(mutants(name))
        asked = [(group, mutant, kept[name, mutant.name]) for group, mutant in every if (name, mutant.name) in kept]
        seen = [one for one in asked if one[2]["kind"] != "beyond its sight"]
        living = [one for one in seen if one[2]["kind"] == "ALIVE"]
        alive += [f"{name}: {mutant.name}" for _, mutant, _ in living]
        for key, count in zip(total, (len(every), len(asked), len(seen), len(seen) - len(living), len(living)),
                              strict=True):  # fmt: skip
            total[key] += count
        run, of, named = audit[name]
        table.append(f"| {name} | {len(every)} | {len(asked)} | {len(asked) - len(seen)} | {len(seen) - len(living)} | "
                     f"{len(living)} | {named} of {run} run, of {of} |")  # fmt: skip
        for group, mutant in every:
            row = kept.get((name, mutant.name))
            said = "not run" if row is None else row["kind"] + (f": {row['why']}" if row["why"] else "")
            said += "" if row is None or row["fresh"] else " (the text changed since)"
            by = "not run" if group == "further" else "not named" if mutant.name in missing else "VIOLATION"
            lines.append(f"| {name} | {mutant.name} | {said} | {by} |")
    in_reach = sum(in_sight(mutant) for name in PAPERS for _, mutant in mutants(name))
    opening = (
        f"Of {total['all']} privacy mutants of five papers {in_reach} change a text that trains, charges or plans; "
        f"{total['seen']} of those were asked of `refdp prove` and {total['refused']} are NOT PROVED, "
        + (f"{total['alive']} are alive: {'; '.join(alive)}." if alive else "none is alive.")
        + f" {in_reach - total['seen']} were not asked. {sum(one['fresh'] for one in kept.values())} of {len(kept)} "
        "lines are of today's texts and reading, others of earlier ones."
    )
    survive = math.inf if not total["seen"] else total["alive"] / total["seen"]
    opening = "\n".join(textwrap.wrap(f"**{opening}**", 118))
    return TEXT.format(
        opening=opening, share=f"{100 * survive:.1f}%", table="\n".join(table), lines="\n".join(lines),
        blind=total["asked"] - total["seen"],
    )  # fmt: skip


def main(arguments: list[str]) -> None:
    """Ask what is not kept, and write the page."""
    seconds = [float(one) for one in arguments if one.replace(".", "").isdigit()]
    if "--kept" not in arguments:
        examined(*(seconds[:1] or [math.inf]))
    PAGE.write_text(page(), encoding="utf-8")


TEXT = """# Which mutants the proof names

{opening}

| question | answer |
|---|---|
| with all tests but prove switched off, how many that it was asked about stay alive | {share}, aim at most 10% |
| what a mutant is | one mistake in a paper's module or what it stands on, `tests/mutants`, `tests/prove` |
| what the audit names | [audit-mutants.md](audit-mutants.md), whose figures are taken over here |
| which texts leak beside the formulas | `tests/prove/attacks.py`, `tests/prove/hostile.py`: all refused |
| what the words of a refusal mean | [prove.md](prove.md) |

Written by `make prove-matrix`; no figure is typed by hand. Each mutant is read up to the first failure, with 1.5
seconds a question: what the solvers leave open in that time is NOT PROVED too, which kills the mutant and is no proof
that it leaks. "Not modelled" is such a refusal: the reading does not follow the text, and would refuse it were it
private. "exact sums in the model file", "default direction chosen without noise" and "quantiles although uniform
candidates were asked for" ask in a function of the tests whether the population is `Memory`; a text that asks so is
refused (`tests/prove/further.py`), these functions are no text. "delta not divided between the classes" stays within
the claim by the reading's account of the whole plan, which is tighter than the division. {blind} mutants that were
asked change hosts, samplers or accountants alone, which are trusted: beyond the reading's sight, they are for the audit
and the statistics of samplers.

The cells of the layer "replay audit" of the first mutants are those of docs/audit-mutants.md; of the others ("not
run") no audit was made for this page. The layers "statistics of samplers" and "tests" were not run mutant by mutant:
these cells do not exist, and nothing is claimed of them.

| paper | mutants | asked | beyond its sight | NOT PROVED | alive | named by the audit |
|---|---:|---:|---:|---:|---:|---|
{table}

## One by one

| paper | mutant | prove | replay audit |
|---|---|---|---|
{lines}
"""

if __name__ == "__main__":
    main(sys.argv[1:])
