"""Run the reproductions and write their pages.

    RUNS=3 python -m benchmarks.reproduce [dpboost ...] [--jobs 2] [--only dataset=adult ...] [--page] [--fresh]
    python -m benchmarks.reproduce [dpboost ...] --check 50

A finished run is never done again: results/<paper>.jsonl keeps it, and a killed command goes on where it was.
RUNS is the number of repeats of every cell and fold. The data sets are looked up as refdp/datasets.py says.
"""

from __future__ import annotations

import argparse
import os
import random
from pathlib import Path

from rich.console import Console

from benchmarks.reproduce.again import compare, sample
from benchmarks.reproduce.execution import MOST_JOBS, perform
from benchmarks.reproduce.runs import Results, Run, pending
from benchmarks.reproduce.study import STUDIES, study

ROOT = Path(__file__).parents[2]
DEFAULT_RUNS = 3


def repeats() -> int:
    """The environment variable RUNS, a whole number from 1."""
    text = os.environ.get("RUNS", str(DEFAULT_RUNS))
    if not text.isdecimal() or int(text) < 1:
        raise SystemExit(f"RUNS={text!r}: a whole number from 1 is allowed")
    return int(text)


def selected(run: Run, only: list[str]) -> bool:
    """Whether a run has all the settings name=value; `experiment` is a name too."""
    settings = {"experiment": run.experiment} | {name: str(value) for name, value in run.cell}
    return all(settings.get(name) == value for name, _, value in (text.partition("=") for text in only))


def reproduce(paper: str, options: argparse.Namespace, console: Console) -> None:
    """One paper: the missing runs, then the page."""
    current = study(paper)
    results = Results(options.results / f"{paper}.jsonl")
    runs = [run for run in current.runs(repeats()) if selected(run, options.only)]
    if not options.page:
        perform(pending(runs, results, current.program if options.fresh else None), results, options.jobs, console)
    done = results.read()
    chosen = {run: done[run] for run in current.runs(repeats()) if run in done}
    stale = sum(outcome.program != current.program(run) for run, outcome in chosen.items())
    if stale:
        console.print(f"{paper}: {stale} of {len(chosen)} results are of an earlier program; --fresh does them again")
    console.print(f"{paper}: wrote {current.write(chosen, options.docs)}")


def check(paper: str, options: argparse.Namespace, console: Console) -> bool:
    """Whether a sample of the kept results is what the present program gives."""
    done = Results(options.results / f"{paper}.jsonl").read()
    planned = [run for run in study(paper).runs(repeats()) if run in done and selected(run, options.only)]
    found = compare(sample(planned, options.check, random.randrange(2**32)), done, options.jobs)
    for line in found.lines():
        console.print(f"{paper}: {line}", soft_wrap=True)
    return not found.differing


def main() -> None:
    """Parse the command line and go through the papers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", choices=[*STUDIES, []], help="all papers by default")
    parser.add_argument("--jobs", type=int, default=MOST_JOBS, help=f"worker processes, at most {MOST_JOBS}")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME=VALUE", help="only these runs")
    parser.add_argument("--page", action="store_true", help="write the page from the results at hand, run nothing")
    parser.add_argument("--fresh", action="store_true", help="do again what another version of the program did")
    parser.add_argument("--check", type=int, metavar="K", help="only do K kept runs again and compare; writes nothing")
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    options = parser.parse_args()
    console = Console(stderr=True)
    if options.check:
        failed = [paper for paper in options.papers or STUDIES if not check(paper, options, console)]
        raise SystemExit(1 if failed else 0)
    for paper in options.papers or STUDIES:
        reproduce(paper, options, console)


if __name__ == "__main__":
    main()
