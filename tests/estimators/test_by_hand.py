"""Importances, stages, recommendations and scores of a selection, each against a count by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import refdp
from refdp.data.records import Categorical, Classes, Ensemble, Interval, Model, Numeric, Schema, Tree
from refdp.errors import InvalidParameter
from refdp.faces import recommend as table
from refdp.faces import select as selection
from refdp.faces.explain import Shape, Shapes, shape_functions
from refdp.faces.released import importances, staged
from refdp.faces.seeds import SEED_ASSUMPTION, seeded
from refdp.noise.calibration import laplace_charge
from refdp.privacy.events import Relation, Sensitivity

FEATURES = (Numeric("a", 0.0, 1.0), Categorical("b", ("x", "y")), Numeric("c", 0.0, 1.0))


def tree(depth: int, shift: int) -> Tree:
    """Splits by the features in turn, leaves all different."""
    nodes = 2**depth - 1
    splits = np.column_stack([(np.arange(nodes) + shift) % 3, np.full(nodes, 0.5)])
    return Tree(splits, np.array([float((7 * leaf + shift) % 19) ** 2 for leaf in range(nodes + 1)]))


def model(*ensembles: tuple[tuple[Tree, ...], tuple[float, ...]]) -> Model:
    made = tuple(Ensemble(0.5, trees, weights) for trees, weights in ensembles)
    return Model("fedgbdt", {}, Schema(FEATURES, Classes(("p", "q", "r"))), made)


def worth(
    one: Tree, weight: float, node: int, depth: int, level: int
) -> tuple[Fraction, Iterator[tuple[int, Fraction]]]:
    """Mean leaf value below a node, and what it and the nodes below are worth."""
    if level == depth:
        return Fraction(one.leaves[node - (2**depth - 1)]), iter(())
    (left, under), (right, beside) = (worth(one, weight, 2 * node + side, depth, level + 1) for side in (1, 2))
    mine = int(one.splits[node, 0]), (Fraction(weight) * (left - right)) ** 2 / 2**level
    return (left + right) / 2, iter([mine, *under, *beside])


def test_importances_are_those_of_a_recursion() -> None:
    """Two scores, trees of the depths 0 to 4, weights that differ."""
    trees = [tree(depth, shift) for shift, depth in enumerate((4, 1, 3, 2))]
    weights = (0.5, 2.0, 1.0, 0.25)
    due = [Fraction(0)] * 3
    for one, weight in zip(trees, weights, strict=True):
        for feature, value in worth(one, weight, 0, len(one.leaves).bit_length() - 1, 0)[1]:
            due[feature] += value
    found = importances(model((tuple(trees[:3]), weights[:3]), (tuple(trees[3:]), weights[3:])))
    np.testing.assert_allclose(found, [float(one / sum(due)) for one in due], rtol=1e-13)
    same = Tree(np.array([[0, 0.5]]), np.array([3.0, 3.0]))
    assert importances(model(((same,), (1.0,)))).tolist() == [0.0, 0.0, 0.0]
    small = Tree(np.array([[2, 0.5]]), np.array([0.25, 0.5]))
    assert importances(model(((small,), (1.0,)))).tolist() == [0.0, 0.0, 1.0]
    assert importances(model(((), ()))).tolist() == [0.0, 0.0, 0.0]


def test_stages_end_with_the_score_that_has_most_trees() -> None:
    trees = tuple(tree(1, shift) for shift in range(3))
    stages = list(staged(model((trees, (1.0, 2.0, 3.0)), (trees[:1], (4.0,)))))
    assert [[len(own.trees) for own in one.outputs] for one in stages] == [[1, 1], [2, 1], [3, 1]]
    assert [[own.weights for own in one.outputs] for one in stages] == [
        [(1.0,), (4.0,)], [(1.0, 2.0), (4.0,)], [(1.0, 2.0, 3.0), (4.0,)]]  # fmt: skip


def test_a_forest_is_the_mean_of_its_trees_at_every_stage() -> None:
    """Early stages were divided by the number of all trees, as if the later ones said 0."""
    third = 1 / 3
    whole = replace(model((tuple(tree(1, shift) for shift in range(3)), (third,) * 3)), params={"update": "averaging"})
    stages = [one.outputs[0].weights for one in staged(whole)]
    assert stages == [(1.0,), (0.5, 0.5), whole.outputs[0].weights]
    boosted = replace(whole, params={"update": "gradient"})
    assert [one.outputs[0].weights for one in staged(boosted)] == [(third,), (third,) * 2, (third,) * 3]


# --- Shape functions --------------------------------------------------------------------------------------------------


def test_shape_functions_of_trees_with_one_feature_each() -> None:
    """Thresholds above the lower bound in order, once each; missing values go left."""
    stumps = [Tree(np.array([[f, at]]), np.array([low, high])) for f, at, low, high in (
        (0, 0.75, 1.0, 2.0), (1, 1.0, 10.0, 20.0), (0, 0.25, 4.0, 8.0), (0, 0.75, 0.5, 0.25),
        (0, 0.0, 0.0, 0.125))]  # fmt: skip
    weights = (1.0, 0.5, 2.0, 1.0, 1.0)
    one = Model("fedgbdt", {}, Schema(FEATURES, Interval(0.0, 1.0)), (Ensemble(9.0, tuple(stumps), weights),))
    found = shape_functions(one)
    assert found.titles == ("score",)
    a, b, c = found.scores[0]
    assert (a.name, a.steps, a.values.tolist(), a.missing) == (
        "a", (0.0, 0.25, 0.75), [1 + 8 + 0.5 + 0.125, 1 + 16 + 0.5 + 0.125, 2 + 16 + 0.25 + 0.125],
        1 + 8 + 0.5)  # fmt: skip
    assert (b.steps, b.values.tolist(), b.missing) == (("x", "y"), [5.0, 10.0], 5.0)
    assert (c.steps, c.values.tolist(), c.missing) == ((0.0,), [0.0], 0.0)
    both = Tree(np.array([[0, 0.5], [2, 0.5], [0, 0.25]]), np.zeros(4))
    with pytest.raises(InvalidParameter, match="tree 2 splits on 2 features"):
        shape_functions(model(((stumps[0], both), (1.0, 1.0))))
    assert shape_functions(model((tuple(stumps), weights), ((), ()))).titles == ("p", "q", "r")
    assert shape_functions(model((tuple(stumps), weights))).titles == ("score",)


def test_panels_of_a_figure() -> None:
    """Three a row unless said otherwise; the first score's."""
    pytest.importorskip("matplotlib")
    shapes = [Shape(f"n{k}", (0.0, 0.5), np.array([1.0, k]), 0.0) for k in range(3)]
    shapes += [Shape("kinds", ("x", "y", "z"), np.array([1.0, 2.0, -4.0]), 0.0)]
    found = Shapes(("one", "two"), (tuple(shapes), tuple(shapes[:2])))
    first, other = found.plot(), found.plot(1, columns=1)
    assert [axis.get_title() for axis in first.axes] == ["n0", "n1", "n2", "kinds"]
    assert [axis.get_subplotspec().get_gridspec().get_geometry() for axis in first.axes] == [(2, 3)] * 4
    assert [axis.get_subplotspec().num1 for axis in first.axes] == [0, 1, 2, 3]
    assert [axis.get_subplotspec().get_gridspec().get_geometry() for axis in other.axes] == [(2, 1)] * 2
    assert [one.get_suptitle() for one in (first, other)] == ["one", "two"]
    assert first.get_size_inches().tolist() == pytest.approx([9.6, 4.4])
    assert [bar.get_height() for bar in first.axes[3].patches] == [1.0, 2.0, -4.0]
    assert [bar.get_x() + bar.get_width() / 2 for bar in first.axes[3].patches] == pytest.approx([0, 1, 2])
    (line,) = first.axes[2].lines
    assert line.get_drawstyle() == "steps-post" and line.get_ydata().tolist() == [1.0, 2.0]


# --- Recommendations --------------------------------------------------------------------------------------------------


def test_weights_of_measured_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """A normal kernel in factors of ten: of strength over half of one, of features over one; at least e^-100."""
    cases = [
        {"data": "near", "rows": 1000, "features": 10, "classes": 2, "epsilon": 1.0, "figures": {"x": 0.75}},
        {"data": "wide", "rows": 1000, "features": 100, "classes": 2, "epsilon": 1.0, "figures": {"x": 0.5}},
        {"data": "many", "rows": 1000, "features": 10, "classes": 4, "epsilon": 4.0, "figures": {"x": 0.25}},
        {"data": "far", "rows": 10**12, "features": 10, "classes": 3, "epsilon": 1e12, "figures": {"x": 1.0}},
        {"data": "other", "rows": 1000, "features": 10, "classes": 2, "epsilon": 1.0, "figures": {"z": 1.0}},
        {"data": "real", "rows": 10_000, "features": 10, "classes": 0, "epsilon": 1.0, "figures": {"x": 2.0}},
    ]
    monkeypatch.setattr(table, "measured", lambda: cases)

    def near(**given: Any) -> list[tuple[float, float, str]]:
        known: dict[str, Any] = {"epsilon": 1.0, "delta": 0.0, "regression": False, "scores": 1, "rows": 1000,
                                 "relation": Relation.ADD_REMOVE, "features": 10}  # fmt: skip
        return list(table._nearby("x", table.Public(**(known | given))))

    found = near()
    assert [name for _, _, name in found] == ["near", "wide", "many", "far"]
    assert [figure for _, figure, _ in found] == [0.75, 0.5, 0.25, 1.0]
    assert [weight for weight, _, _ in found] == pytest.approx([1, math.exp(-0.5), 1, math.exp(-100)])
    assert [one[0] for one in near(rows=10_000)][:2] == pytest.approx([math.exp(-2), math.exp(-2.5)])
    assert near(scores=10)[0][0] == near(epsilon=0.1)[0][0] == pytest.approx(math.exp(-2))
    assert near(relation=Relation.REPLACE_ONE)[0][0] == pytest.approx(math.exp(-0.5 * (2 * math.log10(2)) ** 2))
    assert near(features=1000)[1][0] == pytest.approx(math.exp(-0.5))
    assert near(regression=True) == [(pytest.approx(math.exp(-2)), 2.0, "real")]


def test_what_is_expected_of_cells_nearby() -> None:
    """Those of more than a tenth of the greatest weight; a constant has 1 of a regression and an AUC of 1/2."""
    cells = [(1.0, 0.75, "b"), (0.5, 0.6, "a"), (0.11, 0.9, "a"), (0.1, 0.1, "c")]
    value = (0.75 + 0.3 + 0.099) / 1.61
    assert table._mean(cells[:3]) == pytest.approx(value)
    found = table._expected(cells, False)
    assert found == {"metric": "auc", "value": round(value, 4), "low": 0.6, "high": 0.9, "constant": 0.5,
                     "useless": False, "sets": ["a", "b"]}  # fmt: skip
    for figure, regression, useless in ((0.51, False, True), (0.5101, False, False), (0.4, False, True),
                                        (1.0, True, True), (0.9999, True, False), (1.5, True, True)):  # fmt: skip
        told = table._expected([(1.0, figure, "a")], regression)
        assert told["useless"] is useless and told["constant"] == (1.0 if regression else 0.5)
        assert told["metric"].startswith("rmse") is regression


def test_which_estimators_are_asked_and_with_which_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def nearby(name: str, public: Any) -> list[tuple[float, float, str]]:
        asked.append((name, public))
        return [(1.0, {"dpboost": 0.6, "fedgbdt": 0.9, "sgbdt": 0.8, "inprivate": 0.7}[name], "s")] if name in (
            "dpboost", "fedgbdt", "sgbdt", "inprivate") else []  # fmt: skip

    monkeypatch.setattr(table, "_nearby", nearby)

    def scores(**given: Any) -> tuple[str, list[str], int]:
        asked.clear()
        found = table.recommend(**({"epsilon": 1.0, "rows": 30_000} | given))
        return found.estimator, [name for name, _ in asked], asked[0][1].scores

    every = list(table.ESTIMATORS)
    assert scores() == ("FedGBDTClassifier", every, 1)
    assert scores(task="regression") == ("DPBoostRegressor", every, 1)
    assert scores(delta=0.0) == ("InPrivateClassifier", ["dpboost", "inprivate"], 1)
    assert scores(relation="replace-one") == ("FedGBDTClassifier", [one for one in every if one != "sgbdt"], 1)
    assert scores(task="multiclass")[2] == 3 == scores(classes=3)[2]
    assert scores(task="multiclass", classes=5)[2] == 5 == scores(classes=5)[2]
    assert [table.recommend(1.0, rows=rows).settings["delta"] for rows in (500, 10_000, 10**6)] == [1e-5, 1e-5, 1e-7]
    assert "delta" not in table.recommend(1.0, 0.0, rows=500).settings
    told = table.recommend(1.0, 1e-7, 30_000, 3, relation="replace-one").settings
    assert (told["epsilon"], told["relation"], told["delta"], told["rows"]) == (1.0, "replace-one", 1e-7, 30_000)
    public = asked[-1][1]
    known = (public.epsilon, public.delta, public.regression, public.rows, public.features)
    assert known == (1.0, 1e-7, False, 30_000, 3)
    limits = {"epsilon": ((1e-9,), (0.0,)), "rows": ((1, 10**12), (0, 10**12 + 1)), "delta": ((0.0,), (-1e-9, 1.0)),
              "features": ((1, 10**7), (0, 10**7 + 1)), "classes": ((2, 10**6), (1, 10**6 + 1)),
              "task": (("classification", "binary"), ("ranking",)), "relation": ((), ("both",))}  # fmt: skip
    for name, (fine, wrong) in limits.items():
        for value in fine:
            scores(**{name: value})
        for value in wrong:
            with pytest.raises(InvalidParameter, match=name):
                scores(**{name: value})
    assert inspect_defaults() == (None, 10_000, 10, "classification", 2, Relation.ADD_REMOVE)


def inspect_defaults() -> tuple[Any, ...]:
    given = table.recommend.__defaults__, table.recommend.__kwdefaults__
    return (*given[0], *given[1].values())  # type: ignore[misc]


# --- Selection --------------------------------------------------------------------------------------------------------

AR = Relation.ADD_REMOVE


def free() -> Any:
    """The charge of a score whose noise is nothing: epsilon is a million million."""
    declared = Sensitivity(1.0, 1, selection.SCORE_CLAIM, AR)
    return laplace_charge(1e12, declared, declared, "discrete", touched=1)


def test_scores_of_a_selection() -> None:
    """Squared errors in units of the label range, labels and predictions cut to it; or the number of errors."""
    generator = np.random.default_rng(0)

    def scored(found: Any, y: Any, **known: Any) -> float:
        one = SimpleNamespace(predict=lambda x: np.asarray(found), **known)
        return selection._score(one, None, y, free(), AR, generator)

    found, y = [1.0, 4.0, -7.0, 2.0, 9.0], [2.0, 4.0, 3.0, -9.0, 99.0]
    cut = Fraction(1, 16) + 0 + 1 + Fraction(1, 4) + 1
    assert scored(found, y, _regression=True, label_bounds=(0, 4)) == pytest.approx(-float(cut), abs=1e-9)
    assert scored([1.0], [2.0], _regression=True, label_bounds=(0, 64)) == pytest.approx(
        0.0, abs=1e-9
    )  # 1/4096 of 4/4096
    assert scored([3.0], [0.0], _regression=True, label_bounds=(0, 64)) == pytest.approx(-(2.0**-9), abs=1e-9)  # 9/4096
    classes = np.array(["p", "q", "r"])  # of which places are compared, and no text
    assert scored([0, 1, 1, 2], [0, 0, 1, 1], _regression=False, classes_=classes) == pytest.approx(-2.0, abs=1e-9)
    assert scored([1, 0], [1, 1], _regression=False, classes_=classes) == pytest.approx(-1.0, abs=1e-9)


def test_the_best_run_is_kept_and_the_first_of_equals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of K runs with scores that are given; every score is asked once, and the certificate is the whole selection's."""
    x, y = np.random.default_rng(0).random((30, 1)), [0, 1] * 15
    given: dict[str, Any] = {"relation": "add-remove", "bounds": {0: (0, 1)}, "classes": [0, 1], "epsilon": 0.5}
    seed = refdp.ReproducibleSeed(1)
    kinds = [refdp.DPBoostClassifier(trees=n, depth=1, insecure_seed=seed, **given) for n in (1, 2)]
    fitted: list[Any] = []
    for scores, best, delta in (([3.0, 5.0, 5.0, 4.0], 1, None), ([7.0, 1.0], 0, 0.0), ([-2.0], 0, 1e-9)):
        fitted.clear()
        monkeypatch.setattr(selection.Repetitions, "draw", lambda law, chance: len(scores))  # noqa: B023
        left = iter(scores)
        monkeypatch.setattr(selection, "_score", lambda one, *_: (fitted.append(one), next(left))[1])  # noqa: B023
        with pytest.warns(refdp.errors.PrivacyWarning):
            found = refdp.select(kinds, x, y, score_epsilon=0.25, delta=delta,
                                 insecure_seed=refdp.ReproducibleSeed(2))  # fmt: skip
        assert len(fitted) == len(scores) and next(left, None) is None
        assert found.estimator is fitted[best] and found.score == scores[best]
        assert found.estimator.trees == kinds[found.index].trees
        assert (found.epsilon, found.delta) == (pytest.approx(1.3718283 if delta else 1.5), delta or 0.0)
        claimed, established = found.certificate.claimed, found.certificate.established
        assert claimed == established and (claimed.epsilon, claimed.delta) == (found.epsilon, found.delta)
        (note,) = (one for one in found.certificate.notes if "secret number" in one)
        assert "mean 4" in note and "eta = 0" in note and "among 2 candidates" in note and "has epsilon 0.5" in note
        assert found.certificate.assumptions.count(SEED_ASSUMPTION) == 1
        assert found.estimator.certificate_ == found.certificate
    assert seeded(None) == () and seeded(np.random.default_rng(0)) == (SEED_ASSUMPTION,)
    for delta, wrong in ((0.0, False), (0.5, False), (-0.1, True), (1.0, True)):
        if wrong:
            with pytest.raises(InvalidParameter, match="delta"):
                refdp.select(kinds, x, y, score_epsilon=0.25, delta=delta)
    assert selection.GRID == 2.0**-10
