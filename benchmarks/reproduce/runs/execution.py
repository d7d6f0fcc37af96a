"""Do the runs that are missing, in at most two worker processes of one thread each."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks.reproduce.runs import Outcome, Results, Run
from benchmarks.reproduce.study import study

MOST_JOBS = 2
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def outcome_of(run: Run) -> Outcome:
    """Do one run."""
    paper = study(run.paper)
    start = time.perf_counter()
    metrics = paper.execute(run)
    return Outcome(run, metrics, time.perf_counter() - start, paper.program(run))


def perform(runs: Sequence[Run], results: Results, jobs: int, console: Console) -> None:
    """Do the runs and append each result as soon as it is there. An error of a run ends everything, results stay."""
    with _progress(console) as progress:
        task = progress.add_task(results.path.stem, total=len(runs), cell="")
        for outcome in outcomes(runs, jobs):
            results.append(outcome)
            progress.update(task, advance=1, cell=_label(outcome.run))


def outcomes(runs: Sequence[Run], jobs: int) -> Iterator[Outcome]:
    """Do the runs in so many worker processes, at most MOST_JOBS, and give each outcome as soon as it is there."""
    jobs = min(jobs, MOST_JOBS)
    if jobs < 2:
        yield from map(outcome_of, runs)
        return
    os.environ.update(dict.fromkeys(THREADS, "1"))  # workers are spawned, so numpy reads this when they import it
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        waiting, rest = set[Future[Outcome]](), iter(runs)
        while True:
            waiting |= {pool.submit(outcome_of, run) for run in islice(rest, 2 * jobs - len(waiting))}
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)


def _label(run: Run) -> str:
    return " ".join(str(value) for _, value in run.cell)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[cell]}", style="dim"), console=console,
    )  # fmt: skip
