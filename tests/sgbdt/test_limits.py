"""Adult with the authors' settings: their noise, public bounds of thresholds, and a page that says what is so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.reproduce.page import sgbdt as sgbdt_page
from benchmarks.reproduce.page.sgbdt_limits import understated
from benchmarks.reproduce.runs import Outcome, Run
from benchmarks.reproduce.study import sgbdt as study
from benchmarks.reproduce.study import sgbdt_limits as limits
from benchmarks.reproduce.study.sgbdt_surrogates import adult_like
from benchmarks.reproduce.study.sgbdt_variants import params_of
from refdp.data.records import Categorical, Classes, Numeric, Schema, make_records
from refdp.papers import sgbdt
from refdp.papers.sgbdt import whitened_squared
from refdp.privacy.curator import Curator
from refdp.privacy.sources import NoiselessSource

SIGMA = {
    ("authors", 0.01): 41.3514, ("authors", 0.02): 30.352, ("authors", 0.03): 40.9884, ("authors", 0.1): 1296.38,
    ("authors", 0.5): 197.492, ("authors, gamma 1", 0.01): 2892.33, ("authors, gamma 1", 0.02): 2122.62,
    ("authors, gamma 1", 0.03): 1443.91, ("authors, gamma 1", 0.1): 648.191,
}  # fmt: skip
"""Column sigma of the authors' table; their bisection stops up to half a percent above the least sigma."""

SCHEMA = Schema((Numeric("gain", 0.0, 99_999.0), Categorical("c", ("a", "b"))), Classes(("0", "1")))


@pytest.mark.parametrize(("row", "epsilon"), list(SIGMA))
def test_the_accountant_finds_the_sigma_of_the_authors_table(row: str, epsilon: float) -> None:
    sigma = limits.params_for(row, epsilon).budget(SCHEMA).sigma
    assert sigma <= SIGMA[row, epsilon] * (1 + 1e-5)
    assert sigma >= SIGMA[row, epsilon] * (1 - 5e-3)


def test_other_settings_have_another_sigma() -> None:
    params = params_of(0.03, {"trees": 400, "subsample": 0.02, "initial_share": 0.0})
    assert abs(params.budget(SCHEMA).sigma / SIGMA["authors", 0.03] - 1) > 0.1


def test_bounds_of_thresholds_are_one_public_range_and_decide_no_split_of_it_differently() -> None:
    x = np.array([[0.0, 1.0], [50.0, 0.0], [99_999.0, 1.0]])
    records = limits.in_bounds(make_records(SCHEMA, x, np.array([0.0, 1.0, 1.0])))
    assert (records.schema.features[0].low, records.schema.features[0].high) == limits.BOUNDS  # type: ignore[union-attr]
    assert records.schema.features[1] == SCHEMA.features[1]
    for threshold in np.linspace(*limits.BOUNDS, 33):
        assert np.array_equal(records.x[:, 0] >= threshold, x[:, 0] >= threshold)
    assert np.array_equal(records.x[:, 1], x[:, 1])


def test_half_the_noise_on_the_support_costs_what_the_page_says() -> None:
    """The whitened sensitivity, squared, over that with all of the noise: 4 r1 + r2."""
    for row, r1 in ((limits.METHOD_ROW, 0.04), (limits.BASELINE_ROW, 0.5)):
        params = limits.params_for(row, 0.03)
        noise = params.leaf_charge(SCHEMA)
        gradient, support = np.broadcast_to(noise.mechanism.sd, 2) ** 2
        bounds = params.bounds(SCHEMA)
        ratio = whitened_squared(*bounds, gradient, support / 4) / whitened_squared(*bounds, gradient, support)
        assert ratio == pytest.approx(understated(r1), rel=1e-6)


def test_the_row_of_half_the_noise_trains_as_the_method_does_but_for_the_noise() -> None:
    records, _ = adult_like(0)
    params = limits.params_for(limits.HALVED, 0.01)
    trained = [
        train(Curator(NoiselessSource(np.random.default_rng(1)), params.relation))
        for train in (
            lambda curator: sgbdt.train(params, records, curator).outputs[0],
            lambda curator: limits.trained_with_half(params, records, curator),
        )
    ]
    for ours, theirs in zip(trained[0].trees, trained[1].trees, strict=True):
        assert np.array_equal(ours.leaves, theirs.leaves)


def results(auc: Callable[[Run], float]) -> dict[Run, Outcome]:
    return {run: Outcome(run, {"auc": auc(run) + 1e-4 * run.fold, "rmse": 2.0 + 1e-3 * run.fold}, 0.1, "p")
            for run in study.runs(2)}  # fmt: skip


def test_the_page_names_what_costs_most_and_judges_by_the_published_figure(tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()

    def auc(run: Run) -> float:
        if run.experiment == study.LIMITS and run["variant"] == "depth 2":
            return 0.7
        return 0.9

    page = sgbdt_page.write(results(auc), tmp_path).read_text(encoding="utf-8")
    assert "Adult 2 times" in page
    assert page.count("- epsilon 0.01: depth 2 (-0.200)\n") == 1
    low = sgbdt_page.write(results(lambda run: 0.5), tmp_path).read_text(encoding="utf-8")
    assert "- epsilon 0.01: none\n" in low
    row = "| the authors' settings, support bounded below | 0.01 | 0.787 |"
    assert "(met)" in next(line for line in page.splitlines() if line.startswith(row))
    assert "(not met)" in next(line for line in low.splitlines() if line.startswith(row))


def test_the_page_can_be_written_without_these_runs(tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    known = {run: outcome for run, outcome in results(lambda run: 0.9).items() if run.experiment != study.LIMITS}
    assert "- epsilon 0.5: not run\n" in sgbdt_page.write(known, tmp_path).read_text(encoding="utf-8")
