"""docs/prove-matrix.md: which layer names which privacy mutant of the papers: proof, replay audit, tests, samplers.

`make prove-matrix` asks about all mutants that have no kept line of this text: half an hour of one core for all, and
what was stopped goes on where it was. A number of seconds ends it then. `--kept` writes the page of what is kept.
"""

from __future__ import annotations

import math
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import kept_lines
from refdp.errors import InvalidParameter
from refdp.faces.registry import PAPERS
from refdp.ledger.fingerprint import fingerprint
from refdp.ledger.proved import engine, text_of
from refdp.prove.asking import Solvers
from tests.mutants.harness import Mutant
from tests.prove.further import FURTHER
from tests.prove.layers import LAYERS, NOTHING, tested
from tests.prove.mutants import NEW
from tests.prove.page import OWN, hasty, in_sight, verdict

ROOT = Path(__file__).parents[2]
PAGE, KEPT = ROOT / "docs" / "prove-matrix.md", Path(__file__).with_name("matrix.jsonl")
OTHERS = Path(__file__).with_name("layers.jsonl")
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
                try:
                    kind, why = verdict(name, mutant, solvers[name])
                except InvalidParameter as problem:  # settings for which the text asks for other hosts
                    kind, why = "not modelled", str(problem).replace("|", "or")[:100]
            line = {"paper": name, "mutant": mutant.name, "group": group, "kind": kind, "why": why,
                    "text": fingerprint(text_of(name)), "reading": engine(),
                    "seconds": round(time.process_time() - began, 2)}  # fmt: skip
            kept_lines.append(KEPT, line)
            print(name, mutant.name, kind, file=sys.stderr, flush=True)


def others() -> dict[tuple[str, str, str], dict[str, Any]]:
    """The kept lines of the other layers, by paper, mutant and layer. fresh: whether of today's text."""
    marks, found = {name: fingerprint(text_of(name)) for name in PAPERS}, {}
    for one in kept_lines.read(OTHERS):
        found[one["paper"], one["mutant"], one["layer"]] = {**one, "fresh": one["text"] == marks[one["paper"]]}
    return found


def layered(seconds: float) -> None:
    """Ask the other layers about every mutant without a line, a layer after the other."""
    until, kept = time.monotonic() + seconds, others()
    for layer, asked in LAYERS.items():
        for name in PAPERS:
            left = [one for _, one in mutants(name) if not kept.get((name, one.name, layer), {}).get("fresh")]
            if left and asked is tested and asked(name, NOTHING)[0] != "alive":
                raise RuntimeError(f"{name}: tests fail without a mutant")
            for mutant in left:
                if time.monotonic() > until:
                    return
                kind, why = asked(name, mutant)
                kept_lines.append(OTHERS, {"paper": name, "mutant": mutant.name, "layer": layer, "kind": kind,
                                           "why": why, "text": fingerprint(text_of(name))})  # fmt: skip
                print(name, mutant.name, layer, kind, why, file=sys.stderr, flush=True)


NAMED = ("VIOLATION", "killed")


def page() -> str:
    """The page, of the kept lines."""
    kept, beside = rows(), others()
    table, lines = [], []
    total = dict.fromkeys(("all", "asked", "seen", "refused", "alive"), 0)
    alive, through, untold = list[str](), list[str](), list[str]()
    for name in PAPERS:
        every = list(mutants(name))
        asked = [(group, mutant, kept[name, mutant.name]) for group, mutant in every if (name, mutant.name) in kept]
        seen = [one for one in asked if one[2]["kind"] != "beyond its sight"]
        living = [one for one in seen if one[2]["kind"] == "ALIVE"]
        alive += [f"{name}: {mutant.name}" for _, mutant, _ in living]
        for key, count in zip(total, (len(every), len(asked), len(seen), len(seen) - len(living), len(living)),
                              strict=True):  # fmt: skip
            total[key] += count
        counted = [_counted(name, layer, beside) for layer in LAYERS]
        table.append(f"| {name} | {len(every)} | {len(asked)} | {len(asked) - len(seen)} | {len(seen) - len(living)} | "
                     f"{len(living)} | {' | '.join(counted)} |")  # fmt: skip
        for _, mutant in every:
            row = kept.get((name, mutant.name))
            cells = [_said(beside.get((name, mutant.name, layer))) for layer in LAYERS]
            lines.append(f"| {name} | {mutant.name} | {_said(row)} | {' | '.join(cells)} |")
            refused = row is not None and row["kind"] not in ("beyond its sight", "ALIVE")
            if row is not None and not refused and not any(cell.startswith(NAMED) for cell in cells):
                unasked = any((name, mutant.name, layer) not in beside for layer in LAYERS)
                (untold if unasked else through).append(f"{name}: {mutant.name}")
    in_reach = sum(in_sight(mutant) for name in PAPERS for _, mutant in mutants(name))
    by_layer = {layer: [one for key, one in beside.items() if key[2] == layer] for layer in LAYERS}
    opening = (
        f"Of {total['all']} privacy mutants of five papers {in_reach} change a text that trains, charges or plans; "
        f"{total['seen']} of those were asked of `refdp prove` and {total['refused']} are NOT PROVED, "
        + (f"{total['alive']} are alive: {'; '.join(alive)}." if alive else "none is alive.")
        + f" {in_reach - total['seen']} were not asked. "
        + " ".join(f"The layer \"{layer}\" names {sum(one['kind'] in NAMED for one in found)} of the "
                   f"{sum(one['kind'] in (*NAMED, 'alive') for one in found)} that it was asked about."
                   for layer, found in by_layer.items())
        + (f" No layer names {len(through)}: {'; '.join(through)}." if through else " None that all layers were asked "
           "about is named by none.")
        + f" {len(untold)} that the proof does not name were not asked of all others yet."
        + f" {sum(one['fresh'] for one in kept.values())} of {len(kept)} answers of the proof and "
        f"{sum(one['fresh'] for one in beside.values())} of {len(beside)} of the other layers are of today's texts."
    )  # fmt: skip
    survive = math.inf if not total["seen"] else total["alive"] / total["seen"]
    opening = "\n".join(textwrap.wrap(f"**{opening}**", 118))
    return TEXT.format(
        opening=opening, share=f"{100 * survive:.1f}%", table="\n".join(table), lines="\n".join(lines),
        blind=total["asked"] - total["seen"], layers=" | ".join(LAYERS), through=len(through),
    )  # fmt: skip


def _said(row: dict[str, Any] | None) -> str:
    if row is None:
        return "not run"
    why = f": {row['why']}" if row["why"] else ""
    return f"{row['kind']}{why}{'' if row['fresh'] else ' (an earlier text)'}"


def _counted(name: str, layer: str, beside: dict[tuple[str, str, str], dict[str, Any]]) -> str:
    found = [one for (paper, _, of), one in beside.items() if (paper, of) == (name, layer)]
    return (f"{sum(one['kind'] in NAMED for one in found)} of "
            f"{sum(one['kind'] in (*NAMED, 'alive') for one in found)}")  # fmt: skip


def main(arguments: list[str]) -> None:
    """Ask what is not kept, and write the page."""
    seconds = [float(one) for one in arguments if one.replace(".", "").isdigit()]
    if "--kept" not in arguments:
        examined(*(seconds[:1] or [math.inf]))
        layered(*(seconds[1:2] or seconds[:1] or [math.inf]))
    PAGE.write_text(page(), encoding="utf-8")


TEXT = """# Which mutants the proof names

{opening}

| question | answer |
|---|---|
| with all tests but prove switched off, how many that it was asked about stay alive | {share}, aim at most 10% |
| which no layer names | {through} |
| what a mutant is | one mistake in a paper's module or what it stands on, `tests/mutants`, `tests/prove` |
| which texts leak beside the formulas | `tests/prove/attacks.py`, `tests/prove/hostile.py`: all refused |
| what the words of a refusal mean; what the audit names | [prove.md](prove.md); [audit-mutants.md](audit-mutants.md) |

Written by `make prove-matrix`; no figure is typed by hand. Each mutant is read up to the first failure, with 1.5
seconds a question: what the solvers leave open in that time is NOT PROVED too, which kills the mutant and is no proof
that it leaks. "Not modelled" is such a refusal: the reading does not follow the text, and would refuse it were it
private. "exact sums in the model file", "default direction chosen without noise" and "quantiles although uniform
candidates were asked for" ask in a function of the tests whether the population is `Memory`; a text that asks so is
refused (`tests/prove/further.py`), these functions are no text. "delta not divided between the classes" stays within
the claim by the reading's account of the whole plan, which is tighter than the division. "gains of counts instead of
sums" chooses splits that are of no use, of utilities within the declared range: a count is a sum of ones. {blind}
mutants that were asked change hosts, samplers or accountants alone, which are trusted: beyond the reading's sight,
they are for the audit and the statistics of samplers.

The layer "replay audit" is that of [audit-mutants.md](audit-mutants.md), at any release where a mutant has no place of
its own. "tests" are, one mutant alone and up to the first failure: the vectors and models whose bytes are kept, bounds
against exact suprema, and the quick tests of the paper's room; tests of mutants, replays and audits are left out, and
without a mutant they all pass. "samplers" are the statistics and exact tests of `tests/mechanisms`: what they do not
touch they were not asked about. An answer is of today's text where nothing else is said.

| paper | mutants | asked | beyond its sight | NOT PROVED | alive | {layers} |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
{table}

## One by one

| paper | mutant | prove | {layers} |
|---|---|---|---|---|---|
{lines}
"""

if __name__ == "__main__":
    main(sys.argv[1:])
