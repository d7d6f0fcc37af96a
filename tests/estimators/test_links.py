"""Scores to probabilities, shape functions, and what noise leaves to be seen, at values known in closed form."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.data.records import Categorical, Classes, Ensemble, Interval, Model, Numeric, Schema, Tree
from refdp.errors import InvalidParameter, InvalidRecords, UtilityWarning
from refdp.faces import explain, prediction, strength
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.events import Parallel, Partition, Relation, Release, Repeat, Sensitivity, Sequential, Subsample

FEATURES = (Numeric("x", 0.0, 10.0), Categorical("c", ("u", "v", "w")), Numeric("z", -1.0, 1.0))


def column(*values: float) -> Any:
    return np.array(values)[:, None]


# --- Probabilities ----------------------------------------------------------------------------------------------------


def test_means_of_labels_become_probabilities() -> None:
    """Half of the distance from 1 up to 0.9, beyond 0.05 over one more than ten times what is above."""
    scores = [0.0, 0.5, -0.5, 0.9, -0.9, 1.0, -1.0, 2.9, -2.9]
    true = [0.5, 0.75, 0.25, 0.95, 0.05, 1 - 0.05 / 2, 0.05 / 2, 1 - 0.05 / 21, 0.05 / 21]
    found = prediction.mean_probabilities(column(*scores))
    assert found[:, 1].tolist() == pytest.approx(true) and found.sum(axis=1).tolist() == pytest.approx([1.0] * 9)
    three = prediction.mean_probabilities(np.array([[0.0, 0.5, -0.5], [0.9, -0.9, 0.0]]))
    assert three.tolist() == [
        pytest.approx([0.5 / 1.5, 0.75 / 1.5, 0.25 / 1.5]),
        pytest.approx([0.95 / 1.5, 0.05 / 1.5, 0.5 / 1.5]),
    ]


def test_no_score_however_great_is_certain() -> None:
    for score in (column(1e15, -1e15, 1e300), np.array([[1e15, -1e15, -1e15]])):
        found = prediction.mean_probabilities(score)
        assert ((found > 0) & (found < 1)).all()


def test_log_odds_become_probabilities() -> None:
    found = prediction.odds_probabilities(column(0.0, math.log(3), -math.log(3), 800.0, -800.0, 14.0))
    assert found[:, 1].tolist() == pytest.approx([0.5, 0.75, 0.25, 1 - 1e-6, 1e-6, 1 - 1e-6])
    assert found[:, 0].tolist() == pytest.approx([0.5, 0.25, 0.75, 1e-6, 1 - 1e-6, 1e-6], rel=1e-6)
    three = prediction.odds_probabilities(np.array([[0.0, math.log(3), -math.log(3)]]))
    assert three.tolist() == [pytest.approx([0.5 / 1.5, 0.75 / 1.5, 0.25 / 1.5])]
    assert prediction.LINKS["inprivate"](column(math.log(3) / 2)).tolist() == [pytest.approx([0.25, 0.75])]
    labels = prediction.expected_probabilities(column(0.0, 0.5, -1.0, 1.0, 7.0))
    assert labels[:, 1].tolist() == pytest.approx([0.5, 0.75, 1e-6, 1 - 1e-6, 1 - 1e-6])
    assert prediction.LINKS["dpboost"] is prediction.LINKS["dpxgboost"] is prediction.mean_probabilities
    assert prediction.LINKS["fedgbdt"] is prediction.LINKS["sgbdt"] is prediction.odds_probabilities
    assert prediction.LINKS["grove"] is prediction.cut_probabilities


def test_cut_gradients_rest_where_the_share_of_labels_is_what_the_link_says() -> None:
    """Gradients p - y, cut to 1/2, of a share q of ones add up to nothing at the score that q is read off."""
    for score in (-6.0, -2.0, -0.3, 0.0, 0.1, 1.0, 5.0):
        p = 1 / (1 + math.exp(-score))
        q = prediction.cut_probabilities(column(score))[0, 1]
        assert (1 - q) * min(p, 0.5) - q * min(1 - p, 0.5) == pytest.approx(0.0, abs=1e-12)
    far = prediction.cut_probabilities(column(800.0, -800.0))
    assert far[:, 1].tolist() == pytest.approx([1 - 2e-6, 2e-6], rel=1e-5)
    three = np.array([[0.0, math.log(3), -math.log(3)]])
    assert prediction.cut_probabilities(three).tolist() == prediction.odds_probabilities(three).tolist()


def test_probabilities_follow_the_papers_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction, "scores", lambda model, x: x)
    for paper, params, link in (("dpboost", {}, prediction.mean_probabilities),
            ("sgbdt", {}, prediction.odds_probabilities),
                                ("dpxgboost", {"loss": "log"}, prediction.expected_probabilities)):  # fmt: skip
        model: Any = SimpleNamespace(paper=paper, params=params)
        assert prediction.probabilities(model, column(0.3)).tolist() == link(column(0.3)).tolist()


def test_features_that_a_model_does_not_have_are_refused() -> None:
    model = Model("grove", {}, Schema(FEATURES, Interval(0.0, 1.0)), (Ensemble(0.0, (), ()),))
    for wrong in (np.zeros((2, 2)), np.zeros(3)):
        with pytest.raises(InvalidRecords, match="3 columns"):
            prediction.scores(model, wrong)
    with pytest.raises(InvalidRecords, match="'z' holds an infinite"):
        prediction.scores(model, np.array([[0.0, 0.0, 0.0], [0.0, np.nan, -np.inf]]))


# --- Shape functions --------------------------------------------------------------------------------------------------


def stump(feature: int, value: float, left: float, right: float) -> Tree:
    return Tree(np.array([[feature, value]]), np.array([left, right]))


def test_sums_of_functions_of_single_features() -> None:
    deep = Tree(np.array([[0, 4.0], [0, 2.0], [0, 7.0]]), np.array([1.0, 2.0, 3.0, 4.0]))
    ensemble = Ensemble(0.5, (deep, stump(1, 1.0, -1.0, 5.0), stump(0, 2.0, 10.0, 20.0), stump(0, 0.0, 7.0, 100.0)),
                        (1.0, 2.0, 0.5, 1.0))  # fmt: skip
    found = explain.shape_functions(Model("dpboost", {}, Schema(FEATURES, Interval(0.0, 1.0)), (ensemble,)))
    assert found.titles == ("score",) and len(found.scores) == 1
    x, c, z = found.scores[0]
    assert (x.name, x.steps) == ("x", (0.0, 2.0, 4.0, 7.0))
    assert x.values.tolist() == [106.0, 112.0, 113.0, 114.0] and x.missing == 1 + 5 + 7
    assert (c.name, c.steps, c.values.tolist(), c.missing) == ("c", ("u", "v", "w"), [-2.0, 10.0, -2.0], -2.0)
    assert (z.steps, z.values.tolist(), z.missing) == ((-1.0,), [0.0], 0.0)
    three = Schema(FEATURES, Classes(("p", "q", "r")))
    many = explain.shape_functions(Model("dpboost", {}, three, (ensemble, Ensemble(0.0, (), ()), ensemble)))
    assert many.titles == ("p", "q", "r") and [one[0].missing for one in many.scores] == [13.0, 0.0, 13.0]
    two = explain.shape_functions(Model("dpboost", {}, Schema(FEATURES, Classes(("p", "q"))), (ensemble,)))
    assert two.titles == ("score",)
    mixed = Tree(np.array([[0, 4.0], [1, 1.0], [0, 7.0]]), np.arange(4.0))
    with pytest.raises(InvalidParameter, match="tree 2 splits on 2 features"):
        explain.shape_functions(
            Model("dpboost", {}, Schema(FEATURES, Interval(0, 1)), (Ensemble(0.0, (deep, mixed), (1.0, 1.0)),))
        )


@pytest.mark.parametrize(("columns", "rows"), [(1, 3), (2, 2), (3, 1), (4, 1)])
def test_a_figure_has_a_panel_for_each_feature(columns: int, rows: int) -> None:
    pytest.importorskip("matplotlib")
    ensemble = Ensemble(0.0, (stump(0, 4.0, 1.0, 2.0), stump(1, 1.0, 1.0, 3.0)), (1.0, 1.0))
    shapes = explain.shape_functions(Model("dpboost", {}, Schema(FEATURES, Classes(("p", "q", "r"))),
                                           (Ensemble(0.0, (), ()), ensemble, ensemble)))  # fmt: skip
    figure = shapes.plot(1, columns)
    assert [axis.get_title() for axis in figure.axes] == ["x", "c", "z"]
    assert figure.get_size_inches().tolist() == pytest.approx([3.2 * columns, 2.2 * rows])
    assert figure.axes[0].lines[0].get_drawstyle() == "steps-post" and len(figure.axes[1].patches) == 3
    assert figure.get_suptitle() == "q" and shapes.plot().get_suptitle() == "p"
    places = [axis.get_subplotspec().num1 for axis in figure.axes]
    assert places == [0, 1, 2]


# --- What noise leaves to be seen -------------------------------------------------------------------------------------

RELATION = Relation.ADD_REMOVE
L1, L2 = Sensitivity(1.0, 1, "composition/laplace", RELATION), Sensitivity(2.0, 2, "composition/gaussian", RELATION)


def release(name: str) -> Release:
    return Release(name, Laplace(1.0), L1)


def test_shares_of_records_that_releases_are_about() -> None:
    a, b, c, d, e = map(release, "abcde")
    event = Sequential((a, Partition((0.25, 0.5), (b, Repeat(c, 7))), Subsample(0.1, Parallel((d, e, a)), "poisson")))
    found = [(one.name, share, times) for one, share, times in strength.shares(event, 0.8, 2)]
    assert found == [
        ("a", 0.8, 2), ("b", 0.2, 2), ("c", 0.4, 14), *((n, pytest.approx(0.08 / 3), 2) for n in "dea")
    ]  # fmt: skip


def test_noise_in_largest_contributions() -> None:
    assert strength.hidden(Release("leaves", Gaussian(6.0), L2)) == pytest.approx(3.0)
    one = strength.hidden(Release("leaves", Laplace(1e4), L1))
    assert 1e4 / math.sqrt(2 * math.log(2)) * 0.99 < one < 1e4 * math.sqrt(2)
    free = SimpleNamespace(mechanism=SimpleNamespace(renyi_cost=lambda sensitivity, order: 0.0), sensitivity=L1)
    assert strength.hidden(free) == math.inf  # type: ignore[arg-type]
    orders: list[float] = []
    asked = SimpleNamespace(
        mechanism=SimpleNamespace(renyi_cost=lambda s, order: orders.append(order) or 0.25), sensitivity=L1
    )
    assert strength.hidden(asked) == 2.0 and orders == [2.0]  # type: ignore[arg-type]


def test_the_most_that_a_leaf_can_show() -> None:
    paper: Any = SimpleNamespace(name="sgbdt")
    assert strength.largest(paper, None, release("leaves"), 12.5) == 12.5
    dpboost: Any = SimpleNamespace(name="dpboost")
    params = SimpleNamespace(gradient_bound=2.0, regularisation=3.0)
    leaf = Release("leaves", Laplace(1.0), Sensitivity(0.25, 1, "composition/laplace", RELATION))
    assert strength.largest(dpboost, params, leaf, 5.0) == pytest.approx(min(5.0, 2 * 5 / 8 / 0.25))
    assert strength.largest(dpboost, params, leaf, 50.0) == pytest.approx(2 * 50 / 53 / 0.25)


def test_a_warning_where_noise_exceeds_what_a_leaf_can_show() -> None:
    leaf = Release("tree 1/leaves", Gaussian(6.0), L2)
    event = Sequential((release("tree 1/other"), Subsample(0.5, leaf, "poisson")))
    paper: Any = SimpleNamespace(name="own", plan=lambda params, schema: SimpleNamespace(event=event))
    schema = Schema(FEATURES, Interval(0.0, 1.0))
    plain, own = SimpleNamespace(depth=3), SimpleNamespace(levels=lambda given: 2 if given is schema else 0, depth=9)
    assert strength.strengths(paper, plain, schema, 80) == (pytest.approx(3.0), 5.0)
    assert strength.strengths(paper, own, schema, 80) == (pytest.approx(3.0), 10.0)
    assert strength.excess(paper, plain, schema, 240) == "" and "unless they are easy," in strength.excess(
        paper, plain, schema, 239
    )
    assert strength.needed(paper, plain, schema) == pytest.approx(240, rel=0.02)
    said = strength.excess(paper, plain, schema, 32)
    assert "noise of a leaf amounts to 3 records" in said and "show at most 2:" in said
    with pytest.warns(UtilityWarning, match="mostly noise") as caught:
        strength.warn_of_noise(paper, plain, schema, 32)
    assert "is assumed" not in str(caught[0].message)
    few: Any = SimpleNamespace(
        name="own", plan=lambda params, schema: SimpleNamespace(event=Subsample(1e-9, leaf, "poisson"))
    )
    with pytest.warns(UtilityWarning, match=rf"rows is not stated and {strength.ROWS} is assumed: the noise"):
        strength.warn_of_noise(few, plain, schema, None)
    none: Any = SimpleNamespace(name="own", plan=lambda params, schema: SimpleNamespace(event=release("tree/other")))
    alone: Any = SimpleNamespace(
        name="own", plan=lambda params, schema: SimpleNamespace(event=Release("leaves", Gaussian(6.0), L2))
    )
    assert strength.strengths(alone, plain, schema, 80) == (pytest.approx(3.0), 10.0)
    assert strength.strengths(none, plain, schema, 1) is None and strength.excess(none, plain, schema, 1) == ""
