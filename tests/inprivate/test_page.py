"""The reproduction: what a run does, and that the page says what the results say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.reproduce.page import inprivate as inprivate_page
from benchmarks.reproduce.page.inprivate import complete, curves_of
from benchmarks.reproduce.runs import Outcome, Run
from benchmarks.reproduce.statements.inprivate import statements
from benchmarks.reproduce.study import inprivate as study
from refdp.io import datasets


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """scikit-learn's breast cancer records in place of the paper's data."""
    study.parts.cache_clear()
    loaded = datasets.load("breast_cancer")
    monkeypatch.setattr(study.datasets, "load", lambda name: loaded)
    yield
    study.parts.cache_clear()


def made_up(error: Callable[[Run, int], float], repeats: int = 2) -> dict[Run, Outcome]:
    """Outcomes of all runs, with errors that are a function of the run and of the point of its curve."""
    found = {}
    for run in study.runs(repeats):
        points = study.ROUNDS if run.experiment == "rounds" else run["owners"]
        jitter = 1e-4 * (run.fold + run.repeat)
        curve = [error(run, point) + jitter for point in range(1, points + 1)]
        found[run] = Outcome(run, {"curve": curve, "each": 1}, 0.1, "p")
    return found


def as_stated(run: Run, point: int) -> float:
    """Errors under which every statement of section VII holds."""
    noise = 0.01 if "no privacy" in run["variant"] else 0.015 / run["epsilon"] ** 0.1
    return 0.1 + noise + 0.01 / point + 1 / (1_000 + run["each"])


def the_other_way(run: Run, point: int) -> float:
    return 0.5 - as_stated(run, point) + (0 if "no privacy" in run["variant"] else 0.2)


def test_statements_follow_from_the_results() -> None:
    for error, verdict in ((as_stated, "holds"), (the_other_way, "does not hold")):
        found = list(statements(curves_of(made_up(error))))
        assert len(found) == 32
        assert {statement.verdict for statement in found} == {verdict}


def test_without_results_nothing_is_said_to_hold() -> None:
    assert {statement.verdict for statement in statements(curves_of({}))} == {"not run"}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A file of measured schedules, made up, in place of the one that the benchmark leaves."""
    row = {"owners": 2, "equation": 2.0, "simulated": 2.0, "waits": 1.0, "messages": 1, "bytes": 100}
    rows = [{**row, "schedule": "baseline"}, {**row, "schedule": "speed-up", "simulated": 1.5, "bytes": 110}]
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps([{"depth": depth, "c1": 0.5, "c2": 1.0, "rows": rows} for depth in (4, 10)]))
    monkeypatch.setattr(inprivate_page, "SCHEDULE", path)
    return path


def test_the_page_says_what_the_schedules_took(tmp_path: Path, measured: Path) -> None:
    text = inprivate_page.write(made_up(as_stated), tmp_path).read_text(encoding="utf-8")
    assert "| baseline | 2 | 2.0000 |" in text and "10.0 % more bytes" in text
    measured.unlink()
    assert "Not run." in inprivate_page.write(made_up(as_stated), tmp_path).read_text(encoding="utf-8")


def test_the_page_counts_complete_repetitions_only(tmp_path: Path, measured: Path) -> None:
    outcomes = made_up(as_stated)
    del outcomes[max(outcomes, key=lambda run: run.repeat)]
    assert {run.repeat for run in complete(outcomes)} == {0}
    text = inprivate_page.write(outcomes, tmp_path).read_text(encoding="utf-8")
    assert f"5 folds, once ({len(study.runs(1))} runs)" in text
    assert text.count("| holds |") == 32 and "does not hold" not in text and "not run" not in text
    assert len(list((tmp_path / "figures").glob("inprivate_*.png"))) == 5
    cell = ("participants", "adult", "repaired")
    ours = [o for run, o in complete(outcomes).items() if (run.experiment, run["dataset"], run["variant"]) == cell]
    mean = np.mean([outcome.metrics["curve"][-1] for outcome in ours])
    assert f"20 owners: {mean:.4f}" in text


@pytest.mark.usefixtures("bundled")
@pytest.mark.parametrize("variant", list(study.VARIANTS))
def test_a_run_gives_the_same_curve_again(variant: str) -> None:
    run = Run.of("inprivate", "participants", 1, 0, dataset="adult", variant=variant, owners=4, each=100, epsilon=1.0)
    metrics = study.execute(run)
    assert metrics == study.execute(run) and metrics["each"] == 100
    assert len(metrics["curve"]) == 4 and all(0 <= error <= 1 for error in metrics["curve"])
    if variant == "no privacy":
        assert metrics["curve"][-1] < 0.12


@pytest.mark.usefixtures("bundled")
def test_rounds_give_one_point_each_and_owners_share_no_record() -> None:
    run = Run.of(
        "inprivate", "rounds", 0, 0, dataset="adult", variant="repaired", owners=4, each=100, epsilon=1.0, rounds=3
    )
    assert len(study.execute(run)["curve"]) == 3
    records, test = study.dealt(run)
    rows = np.concatenate([part.x for part in (*records, test)])
    assert len(np.unique(rows, axis=0)) == len(rows)
