"""DP-XGBoost's reproduction: budgets of the script, noise on parts, and that the page says what the results say."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from benchmarks import dpxgboost_full
from benchmarks.reproduce.page import Cells
from benchmarks.reproduce.page import dpxgboost as page
from benchmarks.reproduce.runs import Outcome, Run
from benchmarks.reproduce.statements.dpxgboost_text import PRINTED, PRINTED_BENCHMARK
from benchmarks.reproduce.study import dpxgboost as study
from benchmarks.reproduce.study.dpxgboost_data import TASKS, made_up
from refdp.noise.calibration import before_sampling
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import Request


def results(loss: Callable[[Run], float]) -> Mapping[Run, Outcome]:
    """Outcomes of all runs with a loss that is a function of the run."""
    return {run: Outcome(run, {"loss": loss(run), "constant": 0.4}, 0.1, "p") for run in study.runs(1)}


def as_printed(run: Run) -> float:
    """The printed figure, or the printed benchmark, in the unit of the results."""
    data, cell = run["dataset"], dict(run.cell)
    if data not in PRINTED:
        return 0.3
    printed = PRINTED[data][study.EPSILONS.index(cell["epsilon"])] if cell.get("epsilon") in study.EPSILONS else None
    return (PRINTED_BENCHMARK[data] if printed is None else printed) / page.factor(data)


def test_the_scripts_budget_gives_every_tree_epsilon_over_trees_times_rate() -> None:
    for epsilon in study.EPSILONS:
        share = study.first_order(epsilon) / study.TREES
        assert math.isclose(before_sampling(share, study.RATE), epsilon / (study.TREES * study.RATE))
        assert study.first_order(epsilon) > epsilon


def test_labels_around_a_half_are_a_bound_of_two_for_classes_alone() -> None:
    assert study.method("script").params("adult", 1.0).gradient_bound == 2.0
    assert study.method("script").params("abalone", 1.0).gradient_bound == 1.0
    assert study.method("published").params("adult", 1.0).gradient_bound == 1.0


def test_every_planned_run_has_parameters_and_a_program() -> None:
    assert len({run.key for run in study.runs(1)}) == len(study.runs(1))
    for run in study.runs(1):
        assert len(study.program(run)) == 12


@pytest.mark.parametrize("noisy", [*study.NOISES, "all but sketch"])
def test_noise_falls_on_the_named_part_alone(noisy: str) -> None:
    source = study.PartlyNoisy(np.random.default_rng(0), noisy)
    touched = set()
    for release in ("sketch", "splits of level 2", "leaves"):
        request = Request("release", ("score 0", "tree 3", release), value=np.zeros(9), mechanism=Laplace(1.0))
        if source.release(request).any():
            touched.add(release.split()[0])
    assert touched == {"none": set(), "all but sketch": {"splits", "leaves"}}.get(noisy, {noisy})


def test_the_page_counts_what_is_near_and_what_is_comparable(tmp_path: Path) -> None:
    exact = Cells.of(results(as_printed))
    assert all(page.comparable(exact, data) for data in PRINTED)
    assert "| as published | 30 of 30 | 30 of 30 |" in page.in_short(exact)
    worse = Cells.of(results(lambda run: as_printed(run) * (1.2 if run["dataset"] == "adult" else 1.14)))
    assert not page.comparable(worse, "adult")
    assert "| as published | 24 of 24 | 24 of 30 |" in page.in_short(worse)
    text = page.write(results(as_printed), tmp_path).read_text(encoding="utf-8")
    assert all(TASKS[data].title in text for data in PRINTED)
    assert (tmp_path / "figures" / "dpxgboost-bins.png").exists()


def test_without_results_the_page_says_so(tmp_path: Path) -> None:
    some = {
        run: outcome
        for run, outcome in results(as_printed).items()
        if dict(run.cell).get("method") in ("xgboost", "none")
    }
    assert "not run" in page.write(some, tmp_path).read_text(encoding="utf-8")


def test_no_set_that_settings_are_chosen_on_is_one_that_is_evaluated() -> None:
    shapes = {train.x.shape[1] for train, _ in made_up().values()}
    assert shapes.isdisjoint({70, 80, 40}) and "adult" not in made_up()


def test_the_full_size_run_in_small() -> None:
    found = dpxgboost_full.run("classes", "chosen", 10.0, 20_000, 8, 4_000)
    assert found["loss"] < 0.2 < found["constant"]
