"""A warning, from public figures alone, where noise exceeds the most that a leaf can show."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp import DPBoostClassifier, ReproducibleSeed, UtilityWarning
from refdp.data.records import Classes, Interval, Numeric, Schema
from refdp.faces import cli, registry
from refdp.faces.defaults import params_for
from refdp.faces.strength import advice, excess, hidden, largest, needed, shares, strengths, trees, warn_of_noise
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
    [("dpboost", 1.0, 10_000, True), ("dpboost", 4.0, 40_000, False), ("fedgbdt", 0.1, 1000, True),
     ("fedgbdt", 1.0, 1000, False), ("sgbdt", 0.1, 1000, True), ("inprivate", 0.05, 1000, True)],
)  # fmt: skip
def test_settings_of_the_papers(paper: str, epsilon: float, rows: int, warned: bool) -> None:
    chosen = params(paper, TASKS[0], epsilon, rows, "paper")
    assert bool(excess(registry.paper(paper), chosen, TASKS[0], rows)) is warned


@pytest.mark.parametrize(("epsilon", "rows"), [(1.0, 1000), (0.5, 2000), (0.2, 5000)])
def test_one_noisy_leaf_of_many_trees_is_not_warned_about(epsilon: float, rows: int) -> None:
    """Where one leaf of Grove is mostly noise and its hundreds of trees are not."""
    text, chosen = registry.paper("grove"), params("grove", TASKS[0], epsilon, rows)
    one = trees(text, chosen, TASKS[0])
    assert hidden(one[-1].release) > 0.9 * rows / 2 ** chosen.levels(TASKS[0])
    assert excess(text, chosen, TASKS[0], rows, one) == ""


def test_more_trees_with_the_same_budget_do_not_raise_the_alarm() -> None:
    noise = []
    for many in (100, 400):
        chosen = replace(params("grove", TASKS[0], 0.5, 2000), trees=many)
        found = strengths(registry.paper("grove"), chosen, TASKS[0], 2000)
        assert found is not None
        noise.append(found[0])
    assert noise == pytest.approx([noise[0]] * 2, rel=1e-3)


def test_scores_are_counted_once() -> None:
    """Three classes: three times as many releases of S-GBDT, as many of Grove; trees of a score are the same."""
    three = Schema(FEATURES, Classes(("a", "b", "c")))
    for name in ("sgbdt", "grove"):
        counts = [
            sum(one.count for one in trees(registry.paper(name), params(name, each, 1.0, 1000), each))
            for each in (TASKS[0], three)
        ]
        assert counts[0] == counts[1]


def test_only_what_is_not_done_already_is_advised() -> None:
    text = registry.paper("grove")
    said = advice(text, params("grove", TASKS[0], 0.05, 1000), TASKS[0], 1000)
    assert "settings='default'" not in said and "refdp recommend" not in said and "fewer levels" in said
    printed = advice(registry.paper("dpboost"), params("dpboost", TASKS[0], 1.0, 10_000, "paper"), TASKS[0], 10_000)
    assert "settings='default'" in printed and "names GroveClassifier, with delta=1e-05" in printed
    usual = advice(registry.paper("dpboost"), params("dpboost", TASKS[0], 0.1, 1000), TASKS[0], 1000)
    assert "settings='default'" not in usual


def test_rows_that_are_not_stated() -> None:
    """Said where more than a tenth of what is assumed are needed, by public figures alone."""
    text = registry.paper("grove")
    for epsilon, said in ((0.5, True), (1.0, False)):
        chosen = params("grove", TASKS[0], epsilon, 10_000)
        assert (needed(text, chosen, TASKS[0]) > 1000) is said
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warn_of_noise(text, chosen, TASKS[0], None)
            warn_of_noise(text, chosen, TASKS[0], 10_000)
        assert len(caught) == said
        if said:
            assert "rows is not stated and 10000 is assumed: with fewer than about" in str(caught[0].message)


def test_a_leaf_value_of_dpboost_is_within_its_bounds() -> None:
    """lambda = .1, g* = 1, 15.7 records: at most 15.7 / 15.8, of a sensitivity of 1 / 1.1 (scale a grid point up)."""
    text, chosen = registry.paper("dpboost"), params("dpboost", TASKS[0], 1.0, 10_000, "paper")
    first = trees(text, chosen, TASKS[0])[0]
    assert largest(text, chosen, first.release, 15.7) == pytest.approx(1.1 * 15.7 / 15.8, rel=0.02)


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
    assert "rows is not stated and 10000 is assumed" in said[0][0] and "averaged over 50 trees" in said[0][0]


def test_the_command_line_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["train", "dpboost", "--data", "diabetes", "--epsilon", "0.5", "--settings", "paper", "--json"]
    assert cli.run([*arguments, "--set", "trees=2"]) == 0
    shown = capsys.readouterr()
    assert "predictions will be mostly noise" in shown.err
    assert json.loads(shown.out)["paper"] == "dpboost"
