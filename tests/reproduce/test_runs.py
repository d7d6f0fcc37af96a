"""Reproduction runs: identity, seeds, the results file after a kill, and what is left to do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.reproduce.runs import Outcome, Results, Run, execution, pending
from benchmarks.reproduce.runs.again import compare, sample
from benchmarks.reproduce.runs.execution import perform
from benchmarks.reproduce.runs.program import digest

RUN = Run.of("dpboost", "budget", 0, 0, dataset="adult", method="dpboost", epsilon=1.0)


def outcome(run: Run, loss: float = 0.25, program: str = "p") -> Outcome:
    return Outcome(run, {"loss": loss}, 1.5, program)


def test_the_seed_of_a_run_is_the_same_on_every_machine_and_other_runs_have_others() -> None:
    assert RUN.seed == 297879314178835192605513713584181539564
    others = [
        Run.of("dpboost", "budget", fold, repeat, dataset=data)
        for fold in range(5)
        for repeat in range(3)
        for data in "ab"
    ]
    assert len({run.seed for run in [RUN, *others]}) == len(others) + 1


def test_the_order_of_settings_does_not_matter() -> None:
    assert Run.of("dpboost", "budget", 0, 0, epsilon=1.0, method="dpboost", dataset="adult").seed == RUN.seed


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    results = Results(tmp_path / "deep" / "dpboost.jsonl")
    results.append(outcome(RUN))
    assert results.read() == {RUN: outcome(RUN)}
    assert next(iter(results.read())).seed == RUN.seed


@pytest.mark.parametrize("kept", range(1, 40, 7))
def test_a_line_cut_short_by_a_kill_is_done_again_and_spoils_no_other(tmp_path: Path, kept: int) -> None:
    results = Results(tmp_path / "dpboost.jsonl")
    second = Run.of("dpboost", "budget", 1, 0, dataset="adult")
    third = Run.of("dpboost", "budget", 2, 0, dataset="adult")
    results.append(outcome(RUN))
    with results.path.open("a") as file:
        file.write(outcome(second).line()[:kept])
    assert pending([RUN, second, third], results.read()) == [second, third]
    results.append(outcome(third))
    assert set(results.read()) == {RUN, third}


def test_the_later_of_two_results_counts_and_other_programs_are_stale_only_when_asked(tmp_path: Path) -> None:
    results = Results(tmp_path / "dpboost.jsonl")
    results.append(outcome(RUN, 0.5, "old"))
    assert pending([RUN], results.read()) == []
    assert pending([RUN], results.read(), lambda run: "new") == [RUN]
    results.append(outcome(RUN, 0.25, "new"))
    assert pending([RUN], results.read(), lambda run: "new") == []
    assert results.read()[RUN].metrics == {"loss": 0.25}


def test_the_program_digest_sees_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = ("benchmarks.reproduce.runs",)
    assert digest(modules, "a") == digest(modules, "a") != digest(modules, "b")
    assert digest(("benchmarks.reproduce.page",), "a") != digest(modules, "a")


KILLED = """
import sys, time
from pathlib import Path
from benchmarks.reproduce.runs import Outcome, Results, Run
results = Results(Path(sys.argv[1]))
for fold in range(10_000):
    results.append(Outcome(Run.of("dpboost", "budget", fold, 0), {"loss": 0.1}, 0.0, "p"))
    print(fold, flush=True)
"""


def test_a_killed_process_leaves_every_result_that_it_reported(tmp_path: Path) -> None:
    path = tmp_path / "dpboost.jsonl"
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": str(root)}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        reported = [int(process.stdout.readline()) for _ in range(50)]
        process.send_signal(signal.SIGKILL)
    folds = [run.fold for run in Results(path).read()]
    assert folds[: len(reported)] == reported
    assert all(json.loads(line) for line in path.read_text().splitlines()[: len(reported)])


class Counting:
    """A study that counts how often each run is executed."""

    def __init__(self, failing: Run | None = None) -> None:
        self.executed: list[Run] = []
        self._failing = failing

    def execute(self, run: Run) -> dict[str, float]:
        self.executed.append(run)
        if run == self._failing:
            raise RuntimeError("stopped in the middle")
        return {"loss": float(run.fold)}

    def program(self, run: Run) -> str:
        return "p"


def test_an_interrupted_command_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = Results(tmp_path / "dpboost.jsonl")
    runs = [Run.of("dpboost", "budget", fold, 0, dataset="adult") for fold in range(5)]
    first, second = Counting(failing=runs[2]), Counting()
    monkeypatch.setattr(execution, "study", lambda paper: first)
    with pytest.raises(RuntimeError, match="stopped in the middle"):
        perform(pending(runs, results.read()), results, 1, Console(quiet=True))
    monkeypatch.setattr(execution, "study", lambda paper: second)
    perform(pending(runs, results.read()), results, 1, Console(quiet=True))
    assert first.executed == runs[:3]
    assert second.executed == runs[2:]
    assert {run: o.metrics["loss"] for run, o in results.read().items()} == {run: float(run.fold) for run in runs}


def test_a_sample_is_done_again_and_other_figures_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [Run.of("dpboost", "budget", fold, 0, dataset="adult") for fold in range(9)]
    done = {run: outcome(run, run.fold / 3) for run in runs}
    chosen = sample(runs, 5, 0)
    assert len(set(chosen)) == 5 and set(chosen) <= set(runs) and sample(runs, 20, 0) != runs
    assert {run for seed in range(50) for run in sample(runs, 5, seed)} == set(runs)
    monkeypatch.setattr(execution, "outcome_of", lambda run: outcome(run, run.fold / 3, "new"))
    assert compare(chosen, done, 1).lines() == ["5 of 5 runs done again give the same figures, digit for digit"]
    monkeypatch.setattr(execution, "outcome_of", lambda run: outcome(run, run.fold / 3 + (run == chosen[3])))
    assert compare(chosen, done, 1).lines()[1:] == [f"others now: {chosen[3].key}"]
