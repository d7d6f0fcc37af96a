"""The table of defaults line by line: every formula just below and at each of its borders, with figures of its page."""

from __future__ import annotations

import math
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest

from refdp.data.records import Classes, Interval, Numeric, Schema
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.faces.defaults import Public, check_settings, params_for, recommended
from refdp.noise.calibration import total_mu
from refdp.privacy.events import Relation

FEATURES = (Numeric("x", 0, 1), Numeric("z", 0, 1))
TWO, THREE = Schema(FEATURES, Classes(("a", "b"))), Schema(FEATURES, Classes(("a", "b", "c")))
REAL = Schema(FEATURES, Interval(0, 1))


def of(paper: str, *, rows: float = 10_000, e: float = 1.0, mu: float = 1.0, features: int = 9,
       scores: int = 1, delta: float = 3e-7, regression: bool = False, **given: Any) -> dict[str, Any]:  # fmt: skip
    public: Any = SimpleNamespace(
        rows=rows, e=e, mu=mu, divided_mu=mu, regression=regression, scores=scores, delta=delta, features=features
    )
    return recommended(paper, public, given)


def test_what_one_score_may_spend() -> None:
    for relation, changed in ((Relation.ADD_REMOVE, 1), (Relation.REPLACE_ONE, 2)):
        public = Public(6.0, 3e-5, False, 3, 700, relation)
        assert public.e == 2.0 / changed
        assert public.mu == total_mu(6.0, 3e-5, "exact") / math.sqrt(3) / changed
        assert public.divided_mu == total_mu(2.0, 1e-5, "exact") / changed
        both = {"mu": public.mu, "divided_mu": public.divided_mu}
        assert 0.4 < public.divided_mu / public.mu < 0.7
        for mu, given in (("mu", {}), ("mu", {"one_vs_rest": "together"}), ("divided_mu", {"one_vs_rest": "divided"})):
            asked = recommended("fedgbdt", public, {"trees": 4, **given})["regularisation"]
            assert asked == pytest.approx(24.0 / both[mu], rel=1e-12)
        assert recommended("sgbdt", public, {"trees": 4})["regularisation"] == 12.0 / public.divided_mu
    plain = Public(1.0, 1e-5, True)
    assert (plain.scores, plain.rows, plain.relation, plain.features) == (1, 10_000, Relation.ADD_REMOVE, 1)
    assert recommended("of somebody else", plain) == {}
    assert of("grove") == {"delta": 3e-7}


def test_dpboost() -> None:
    for rows, e, trees, deep, padding in (
        (699, 1.0, 5, 2, 30.0), (700, 1.0, 1, 2, 30.0), (2999, 1.0, 1, 2, 30.0), (3000, 1.0, 1, 3, 30.0),
        (5999, 1.0, 1, 3, 30.0), (6000, 1.0, 5, 2, 30.0), (19_999, 1.0, 5, 2, 30.0), (20_000, 1.0, 5, 4, 100.0),
        (12_000, 0.5, 5, 2, 60.0), (9e9, 4.0, 5, 4, 25.0), (375, 4.0, 1, 2, 7.5),
    ):  # fmt: skip
        assert of("dpboost", rows=rows, e=e) == {
            "gradients": "clip", "gradient_bound": 1.0, "candidates": "uniform", "bins": 32, "shrinkage": 0.3,
            "trees": trees, "trees_per_ensemble": trees, "depth": deep, "regularisation": padding,
        }  # fmt: skip
    for rows, e, trees, deep, within, bins, part in (
        (100, 1.0, 3, 1, 0.5, 32, 0.5), (999, 1.0, 3, 1, 0.5, 32, 0.5),
        (1000, 1.0, 5, 1, 0.25, 16, 0.3), (2999, 1.0, 5, 1, 0.25, 16, 0.3), (3000, 1.0, 5, 1, 0.25, 16, 0.1),
        (5999, 1.0, 5, 1, 0.25, 16, 0.1), (6000, 1.0, 12, 1, 0.125, 16, 0.1), (24_999, 1.0, 12, 1, 0.125, 16, 0.1),
        (25_000, 1.0, 12, 2, 0.125, 32, 0.1), (12_500, 2.0, 12, 2, 0.125, 32, 0.1),
    ):  # fmt: skip
        assert of("dpboost", rows=rows, e=e, regression=True) == {
            "gradients": "clip", "gradient_bound": within, "candidates": "uniform" if trees * deep == 24 else "log",
            "bins": bins, "shrinkage": 0.95, "trees": trees, "trees_per_ensemble": 1,
            "depth": deep, "regularisation": pytest.approx(part * rows / 2**deep, rel=1e-12),
        }  # fmt: skip
    seven = of("dpboost", trees=7)
    assert (seven["trees"], seven["trees_per_ensemble"]) == (7, 7)
    assert of("dpboost", e=1e6)["regularisation"] == 0.01 and of("dpboost", e=1e-12)["regularisation"] == 1e12
    assert of("dpboost", e=999.0, rows=1)["regularisation"] == 30 / 999.0
    assert of("dpboost", rows=1e14, e=1e-12, regression=True)["regularisation"] == 1e12


def test_inprivate() -> None:
    for rows, e, deep, share in ((1499, 1.0, 1, 0.2), (1500, 1.0, 2, 0.2), (5999, 1.0, 2, 0.2), (6000, 1.0, 3, 0.7),
                                 (3000, 2.0, 3, 0.7), (2999, 3.0, 2, 0.2), (500, 3.0, 2, 0.2),
                                 (10**6, 1e-3, 1, 0.2)):  # fmt: skip
        assert of("inprivate", rows=rows, e=e, regression=True) == {
            "rounds": 2, "depth": deep, "split_share": share, "residual_bound": 0.5, "leaf_bound": 0.5, "damping": 4.0,
            "shrinkage": 1.0, "bins": 8, "turn_budget": "amplified",
        }  # fmt: skip
    bounds = {"turn_budget": "amplified", "residual_bound": 0.5, "leaf_bound": 1.0}
    for rows, e in ((9_999, 1.0), (10, 1.0), (10**6, 1e-3), (4_000, 2.0)):
        assert of("inprivate", rows=rows, e=e) == {
            **bounds, "rounds": 1, "depth": 4, "split_share": 0.9, "damping": 8.0, "shrinkage": 1.0, "bins": 16
        }  # fmt: skip
    for rows, e, rounds, deep in ((10_000, 1.0, 1, 5), (49_999, 1.0, 1, 5), (50_000, 1.0, 3, 6), (25_000, 2.0, 3, 6),
                                  (60_000, 0.5, 1, 5), (20_000, 0.5, 1, 5)):  # fmt: skip
        assert of("inprivate", rows=rows, e=e) == {
            **bounds, "rounds": rounds, "depth": deep, "split_share": 0.8, "damping": 4.0, "shrinkage": 0.5, "bins": 32
        }  # fmt: skip


def test_dpxgboost() -> None:
    same = {"delta": 3e-7, "regularisation": 0.1, "gain": "count", "gradients": "clip", "candidates": "uniform",
            "leaf": "average"}  # fmt: skip
    for rows, e, least in ((1249, 1.0, 500), (10**6, 0.3, 1666), (10, 10.0, 50), (10, 11.0, 50), (10, 1e-9, 10**9)):
        assert of("dpxgboost", rows=rows, e=e, regression=True) == {
            **same, "trees": 80, "depth": 2, "shrinkage": 0.6, "gradient_bound": 0.0625, "bins": 16, "subsample": 1.0,
            "child_minimum": least,
        }  # fmt: skip
    for rows, e, least in ((4999, 1.0, 1000), (2500, 3.0, 333), (10, 20.0, 50), (10, 21.0, 50), (10, 1e-7, 10**9)):
        assert of("dpxgboost", rows=rows, e=e) == {
            **same, "trees": 160, "depth": 2, "shrinkage": 0.8, "gradient_bound": 1.0, "bins": 32, "subsample": 0.3,
            "child_minimum": least,
        }  # fmt: skip
    for rows, e, deep, least in ((4999, 1.0, 1, 200), (5000, 1.0, 2, 200), (2500, 2.0, 2, 100), (10, 5.0, 1, 50)):
        pure = of("dpxgboost", rows=rows, e=e, delta=0.0)
        assert (pure["trees"], pure["depth"], pure["shrinkage"], pure["subsample"]) == (20, 1, 1.0, 1.0)
        assert of("dpxgboost", rows=rows, e=e, scores=3) == {
            **same, "trees": 40, "depth": deep, "shrinkage": 0.3, "gradient_bound": 1.0, "bins": 32, "subsample": 1.0,
            "child_minimum": least,
        }  # fmt: skip


def test_fedgbdt() -> None:
    same = {"delta": 3e-7, "rounds": 1, "one_vs_rest": "together"}
    for rows, mu, trees, deep, within, padding in ((999, 1.0, 200, 1, 0.5, 100.0), (1000, 1.0, 400, 2, 0.25, 60.0),
                                                   (500, 2.0, 400, 2, 0.25, 60.0)):  # fmt: skip
        assert of("fedgbdt", rows=rows, mu=mu, regression=True) == {
            **same, "trees": trees, "depth": deep, "shrinkage": 0.4, "candidates": "iterative-hessian",
            "features_per_tree": 1, "regularisation": padding * math.sqrt(trees) / mu, "leaf_clip": 0.5,
            "gradient_bound": within,
        }  # fmt: skip
    for rows, mu, trees, deep, features, padding in ((1499, 1.0, 200, 4, 2, 12.0), (2999, 0.5, 200, 4, 2, 12.0),
                                                     (1500, 1.0, 400, 5, None, 16.0),
                                                     (750, 2.0, 400, 5, None, 16.0)):  # fmt: skip
        assert of("fedgbdt", rows=rows, mu=mu) == {
            **same, "trees": trees, "depth": deep, "shrinkage": 0.6, "candidates": "iterative-hessian",
            "features_per_tree": features, "regularisation": padding * math.sqrt(trees) / mu, "leaf_clip": 1.0,
            "gradient_bound": 0.5,
        }  # fmt: skip
    for features, due in ((1, 1), (2, 2), (3, 2)):
        assert of("fedgbdt", rows=9, features=features)["features_per_tree"] == due
    assert of("fedgbdt", noise_by="record")["candidates"] == "uniform"
    assert of("fedgbdt", noise_by="owner")["candidates"] == "iterative-hessian"
    assert of("fedgbdt", noise_by="record", regression=True)["candidates"] == "log"
    assert of("fedgbdt", trees=4)["regularisation"] == 32.0
    assert of("fedgbdt", trees=4, rows=9)["regularisation"] == 24.0
    assert of("fedgbdt", trees=4, regression=True)["regularisation"] == 120.0


def test_sgbdt() -> None:
    same = {"delta": 3e-7, "subsample": 1.0, "orders": "shared"}
    for rows, mu, trees, deep, first in ((499, 1.0, 200, 4, 0.1), (500, 1.0, 400, 5, 0.05), (250, 2.0, 400, 5, 0.05)):
        assert of("sgbdt", rows=rows, mu=mu, regression=True) == {
            **same, "trees": trees, "depth": deep, "shrinkage": 0.5, "initial_share": first, "support_weight": 0.3,
            "gradient_bound": 0.125, "regularisation": 20.0 * math.sqrt(trees) / mu,
        }  # fmt: skip
    for rows, mu, trees, deep in ((100, 1.0, 200, 4), (499, 1.0, 200, 4), (999, 0.5, 200, 4), (500, 1.0, 400, 5),
                                  (250, 2.0, 400, 5), (10**6, 2.0, 400, 5)):  # fmt: skip
        assert of("sgbdt", rows=rows, mu=mu) == {
            **same, "trees": trees, "depth": deep, "shrinkage": 0.7, "initial_share": 0.05, "support_weight": 0.02,
            "gradient_bound": 0.5, "regularisation": 6.0 * math.sqrt(trees) / mu,
        }  # fmt: skip
    assert of("sgbdt", trees=16, regression=True)["regularisation"] == 80.0
    assert of("sgbdt", trees=16, rows=10)["regularisation"] == 24.0


@pytest.mark.parametrize("name", (*registry.PAPERS, "grove"))
def test_the_table_is_asked_with_what_is_public(name: str) -> None:
    """Scores, task, rows and relation; delta is at most a tenth of 1 / rows unless it is given."""
    paper, relation = registry.paper(name), Relation.ADD_REMOVE
    has_delta = "delta" in {one.name for one in fields(paper.module.Params)} and name not in ("dpboost", "inprivate")
    for schema, regression, scores in ((TWO, False, 1), (THREE, False, 3), (REAL, True, 1)):
        for rows, stated, delta in ((None, 10_000, 1e-5), (2_000, 2_000, 1e-5), (10**6, 10**6, 1e-7)):
            given: dict[str, Any] = {"epsilon": 2.0, "relation": relation}
            found = params_for(paper, given, schema, rows=rows)
            table = recommended(name, Public(2.0, delta, regression, scores, stated, relation, 2))
            assert {one: getattr(found, one) for one in table} == table
            if has_delta:
                own = params_for(paper, {**given, "delta": 1e-9}, schema, rows=rows)
                table = recommended(name, Public(2.0, 1e-9, regression, scores, stated, relation, 2))
                assert {one: getattr(own, one) for one in table} == table
    first = params_for(paper, {"epsilon": 2.0, "relation": relation}, regression=True)
    table = recommended(name, Public(2.0, 1e-5, True, 1, 10_000, relation, 1))
    assert {one: getattr(first, one) for one in table} == table
    printed = paper.params({"epsilon": 2.0, "relation": relation}, as_published=False)
    assert params_for(paper, {"epsilon": 2.0, "relation": relation}, TWO, settings="paper") == printed
    if name == "grove":
        assert params_for(paper, {"epsilon": 2.0, "relation": relation}, TWO, rows=780).rows == 780
        assert params_for(paper, {"epsilon": 2.0, "relation": relation, "rows": 5}, TWO, rows=780).rows == 5


def test_published_settings_leave_the_table_out() -> None:
    paper = registry.paper("dpboost")
    given = {"epsilon": 2.0, "relation": Relation.ADD_REMOVE}
    assert params_for(paper, given, TWO, as_published=True) == paper.params(given, as_published=True)


def test_rows_and_settings_are_checked() -> None:
    for settings in ("default", "paper"):
        for rows in (None, 1, 10**12):
            check_settings(settings, rows)
    for settings, wrong in (("default", 0), ("default", 10**12 + 1), ("published", 5), (None, None)):
        with pytest.raises(InvalidParameter):
            check_settings(settings, wrong)
