"""Run the reproductions and write their pages.

    RUNS=3 python -m benchmarks.reproduce [dpboost ...] [--jobs 2] [--only dataset=abalone ...] [--page] [--fresh]
    python -m benchmarks.reproduce [dpboost ...] --check 50

A finished run is never done again: results/<paper>.jsonl keeps it, and a killed command goes on where it was. RUNS is
the number of repeats of every cell and fold that are to be there, 3 if it is not set. A page is written from as many
repeats as are complete, and its results are kept beside the studies (benchmarks/reproduce/kept) in the same step;
without a complete one it is only written into another directory, --docs DIR. The data sets are looked up as
refdp/io/datasets.py says.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.reproduce.runs import Outcome, Results, Run, pending
from benchmarks.reproduce.runs.again import compare, sample
from benchmarks.reproduce.runs.execution import MOST_JOBS, perform
from benchmarks.reproduce.runs.kept import KEPT, at_hand, keep, kept_file
from benchmarks.reproduce.runs.selection import Refused, select
from benchmarks.reproduce.study import SECONDS, STUDIES, Study, study
from refdp.errors import RefdpError

ROOT = Path(__file__).parents[2]
DEFAULT_RUNS = 3
MOST_REPEATS = 1_000


def repeats() -> int | None:
    """The environment variable RUNS, a whole number from 1; None if it is not set."""
    text = os.environ.get("RUNS")
    if text is None:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= MOST_REPEATS:
        raise Refused(f"RUNS={text!r}: a whole number from 1 to {MOST_REPEATS} is allowed")
    return int(text)


def finished(current: Study, done: Mapping[Run, Outcome], most: int) -> int:
    """The greatest number of repeats, at most so many, of which every run is there; 0 if not even one is complete."""
    complete = 0
    while complete < most and all(run in done for run in current.runs(complete + 1)):
        complete += 1
    return complete


def ready(paper: str, runs: Sequence[Run], options: argparse.Namespace) -> None:
    """Whatever the work needs is looked for before it: libraries, data sets, and places to write. Errors: Refused."""
    try:
        importlib.import_module(f"benchmarks.reproduce.page.{paper}")
        if any("xgboost" in run.key or run.experiment == "benchmark" for run in runs):
            importlib.import_module("xgboost")
    except ImportError as error:
        raise Refused(f"{paper}: {error}; pip install -e '.[plots,bench]' brings it") from error
    for directory in (options.results, options.docs):
        try:
            directory.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=directory).close()
        except OSError as error:
            raise Refused(f"{directory}: cannot be written to: {error.strerror}") from error
    for name in sorted({run["dataset"] for run in runs}):
        study(paper).look(name)


def duration(seconds: float) -> str:
    """A time for people."""
    return f"{seconds / 3600:.1f} hours" if seconds > 5400 else f"{max(1, round(seconds / 60))} minutes"


def reproduce(paper: str, runs: Sequence[Run], options: argparse.Namespace, console: Console) -> None:
    """One paper: the missing runs, then the page if every run that it needs is there."""
    current, results = study(paper), Results(options.results / f"{paper}.jsonl")
    if not options.page:
        missing = pending(runs, at_hand(paper, results, options.kept), current.program if options.fresh else None)
        about = duration(SECONDS[paper] * len(missing))
        console.print(f"{paper}: {len(missing)} of {len(runs)} runs to do, about {about} of processor time")
        ready(paper, missing, options)
        perform(missing, results, options.jobs, console)
    written(paper, at_hand(paper, results, options.kept), options, console)


def written(paper: str, done: Mapping[Run, Outcome], options: argparse.Namespace, console: Console) -> None:
    """The page from as many repeats as are complete, and its results. Errors: Refused if it was asked for alone."""
    current = study(paper)
    complete = finished(current, done, MOST_REPEATS)
    elsewhere = options.docs.resolve() != (ROOT / "docs").resolve()
    if not complete and not elsewhere:
        needed = current.runs(1)
        there = sum(run in done for run in needed)
        line = f"{paper}: {there} of the {len(needed)} runs that the page needs are there, so it stays as it is"
        if options.page:
            raise Refused(line)
        console.print(line)
        return
    most = complete or 1 + max((run.repeat for run in done), default=0)
    chosen = {run: done[run] for run in current.runs(most) if run in done}
    if not chosen:
        raise Refused(f"{paper}: no results, so there is nothing to write a page from")
    stale = sum(outcome.program != current.program(run) for run, outcome in chosen.items())
    if stale:
        console.print(f"{paper}: {stale} of {len(chosen)} results are of an earlier program; --fresh does them again")
    options.docs.mkdir(parents=True, exist_ok=True)
    console.print(f"{paper}: wrote {current.write(chosen, options.docs)}")
    if not elsewhere:
        keep(chosen.values(), kept_file(paper, options.kept))
        console.print(f"{paper}: keeps {len(chosen)} results in {kept_file(paper, options.kept)}")


def check(paper: str, options: argparse.Namespace, console: Console) -> bool:
    """Whether a sample of the results is what the present program gives. A check of nothing fails."""
    done = at_hand(paper, Results(options.results / f"{paper}.jsonl"), options.kept)
    if not done:
        console.print(f"{paper}: no results are kept, so nothing was checked; RUNS=1 make reproduce makes them")
        return False
    known = set(study(paper).runs(1 + max(run.repeat for run in done)))
    runs = select([run for run in done if run in known], options.only) if known & set(done) else []
    if not runs:
        console.print(f"{paper}: none of the {len(done)} results belongs to a run of this study: nothing was checked")
        return False
    found = compare(sample(runs, options.check, random.randrange(2**32)), done, options.jobs)
    for line in found.lines():
        console.print(f"{paper}: {line}", soft_wrap=True)
    return not found.differing


def selections(papers: Sequence[str], options: argparse.Namespace) -> dict[str, list[Run]]:
    """The selected runs of each paper. Without named papers, those that have none of them are left out."""
    found, refused = {}, []
    for paper in papers or STUDIES:
        try:
            found[paper] = select(study(paper).runs(repeats() or DEFAULT_RUNS), options.only)
        except Refused as error:
            refused.append(f"{paper}: {error}")
    if refused and (papers or not found):
        raise Refused(refused[0])
    return found


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=f"of {', '.join(STUDIES)}; all by default")
    parser.add_argument("--jobs", type=int, default=MOST_JOBS, help=f"worker processes, at most {MOST_JOBS}")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME=VALUE", help="only these runs; the page waits")
    parser.add_argument("--page", action="store_true", help="write the page from the results at hand, run nothing")
    parser.add_argument("--fresh", action="store_true", help="do again what another version of the program did")
    parser.add_argument("--check", type=int, metavar="K", help="only do K of the results again; others now, or none "
                        "to do again, fail")  # fmt: skip
    parser.add_argument("--results", type=Path, default=ROOT / "results", help="where new results go")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where the results behind the pages are")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="where the page goes")
    return parser


def main(given: Sequence[str] | None = None) -> int:
    """Go through the papers; the exit status: 1 for a failed check, 2 for what cannot be done."""
    options, console = arguments().parse_args(given), Console(stderr=True)
    try:
        if unknown := [paper for paper in options.papers if paper not in STUDIES]:
            raise Refused(f"{unknown[0]}: no such paper; papers are {', '.join(STUDIES)}")
        if options.check is not None:
            if options.check < 1:
                raise Refused(f"--check {options.check}: a number of runs from 1 is needed")
            failed = [paper for paper in options.papers or STUDIES if not check(paper, options, console)]
            return int(bool(failed))
        for paper, runs in selections(options.papers, options).items():
            reproduce(paper, runs, options, console)
    except (Refused, RefdpError) as error:
        print(f"reproduce: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("reproduce: interrupted; the same command goes on where it was", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
