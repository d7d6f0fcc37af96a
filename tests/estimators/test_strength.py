"""A warning, from public figures alone, where noise exceeds the most that a leaf can show."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest

from refdp import DPBoostClassifier, ReproducibleSeed, UtilityWarning
from refdp.data.records import Classes, Interval, Numeric, Schema
from refdp.faces import cli, registry
from refdp.faces.defaults import params_for
from refdp.faces.strength import excess, hidden, shares, strengths
from refdp.noise.mechanisms import Gaussian
from refdp.privacy.events import Parallel, Partition, Relation, Release, Repeat, Sensitivity, Sequential, Subsample

FEATURES = (Numeric("x", 0, 1), Numeric("z", 0, 1))
TASKS = (Schema(FEATURES, Classes(("a", "b"))), Schema(FEATURES, Interval(0, 1)))
AR = Relation.ADD_REMOVE


def named(name: str) -> Release:
    return Release(name, Gaussian(6.0), Sensitivity(2.0, 2, "none", AR))


def params(paper: str, schema: Schema, epsilon: float, rows: int, settings: str = "default") -> Any:
    given = {"epsilon": epsilon, "relation": "add-remove"}
    return params_for(registry.paper(paper), given, schema, rows=rows, settings=settings)


def test_gaussian_noise_hides_deviation_over_sensitivity_records() -> None:
    assert hidden(named("leaves")) == pytest.approx(3.0, rel=1e-12)


def test_shares_of_scopes() -> None:
    inside = Sequential((named("a"), Repeat(Subsample(0.1, named("b")), 3)))
    event = Partition((0.5, 0.25), (inside, Parallel((named("c"), named("d")))))
    assert {release.name: share for release, share, _ in shares(event, 1.0)} == pytest.approx(
        {"a": 0.5, "b": 0.05, "c": 0.125, "d": 0.125}
    )


@pytest.mark.parametrize("schema", TASKS)
@pytest.mark.parametrize("paper", sorted(registry.PAPERS))
def test_defaults_at_ten_thousand_rows_are_not_warned_about(paper: str, schema: Schema) -> None:
    for epsilon in (0.1, 1.0, 4.0):
        assert excess(registry.paper(paper), params(paper, schema, epsilon, 10_000), schema, 10_000) == ""


@pytest.mark.parametrize(
    ("paper", "epsilon", "rows", "warned"),
    [("dpboost", 1.0, 10_000, True), ("dpboost", 4.0, 10_000, False), ("dpxgboost", 1.0, 1000, True),
     ("dpxgboost", 1.0, 10_000, False), ("fedgbdt", 0.1, 1000, True), ("sgbdt", 0.1, 1000, True)],
)  # fmt: skip
def test_settings_of_the_papers(paper: str, epsilon: float, rows: int, warned: bool) -> None:
    chosen = params(paper, TASKS[0], epsilon, rows, "paper")
    assert bool(excess(registry.paper(paper), chosen, TASKS[0], rows)) is warned


def test_a_leaf_value_of_dpboost_is_within_its_bounds() -> None:
    """lambda = .1, g* = 1, 15.7 records: at most 15.7 / 15.8, of a sensitivity of 1 / 1.1 (scale a grid point up)."""
    found = strengths(registry.paper("dpboost"), params("dpboost", TASKS[0], 1.0, 10_000, "paper"), TASKS[0], 10_000)
    assert found is not None and found[1] == pytest.approx(1.1 * 15.7 / 15.8, rel=0.02)


def test_an_estimator_warns_whatever_the_records_are() -> None:
    said = []
    for size in (30, 3000):
        x = np.random.default_rng(size).random((size, 2))
        model = DPBoostClassifier(
            bounds={0: (0, 1), 1: (0, 1)}, classes=[0, 1], relation="add-remove", settings="paper",
            insecure_seed=ReproducibleSeed(1),
        )  # fmt: skip
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(x, (x[:, 0] > 0.5).astype(int))
        said.append([str(one.message) for one in caught if one.category is UtilityWarning])
    assert said[0] == said[1] and len(said[0]) == 1
    assert "rows=10000 is assumed" in said[0][0] and "can show at most 1.09" in said[0][0]


def test_the_command_line_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["train", "dpboost", "--data", "diabetes", "--epsilon", "0.5", "--settings", "paper", "--json"]
    assert cli.run([*arguments, "--set", "trees=2"]) == 0
    shown = capsys.readouterr()
    assert "predictions will be mostly noise" in shown.err
    assert json.loads(shown.out)["paper"] == "dpboost"
