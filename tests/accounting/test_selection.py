"""The cost of private selection, held against exact enumeration; what `refdp.select` returns and refuses."""

from __future__ import annotations

import math
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

import refdp
from refdp.accounting.selection import Repetitions, selected, selection_epsilon
from refdp.errors import BudgetExceeded, InvalidParameter, RepeatedFitWarning
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.curator import Curator
from refdp.privacy.events import Plan, Relation, Release, Repeat, Sensitivity

R = Relation.ADD_REMOVE
LAWS = [Repetitions(eta, gamma) for eta in (0, 1) for gamma in (0.5, 0.1, 0.01)]


def best(law: Repetitions, p: np.ndarray) -> np.ndarray:
    """Exact law of the best of K runs, outcomes in increasing order: E F(y)^K - E F(y-)^K."""
    below = np.concatenate([[0.0], np.minimum(np.cumsum(p), 1.0)])
    return np.diff([law.generating(x) for x in below])


def divergence(p: np.ndarray, q: np.ndarray, order: float) -> float:
    return float(logsumexp(order * np.log(p) + (1 - order) * np.log(q)) / (order - 1))


def pairs() -> list[tuple[np.ndarray, np.ndarray]]:
    """Neighbours' laws of one run: randomised responses, and a discrete Gaussian in cells."""
    found = []
    for epsilon in (0.1, 1.0, 2.0):
        a = math.exp(epsilon) / (1 + math.exp(epsilon))
        found += [(np.array([a, 1 - a]), np.array([1 - a, a]))]
        rare = 1e-3
        found.append((np.array([1 - rare * math.exp(epsilon), rare * math.exp(epsilon)]), np.array([1 - rare, rare])))
    grid = np.arange(-30, 31)
    normal = [np.exp(-((grid - shift) ** 2) / 50) for shift in (0, 1)]
    found.append((normal[0] / normal[0].sum(), normal[1] / normal[1].sum()))
    return found + [(q, p) for p, q in found]


def curve(p: np.ndarray, q: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Both directions; beyond order 200 the largest loss."""
    pure = np.abs(np.log(p / q)).max()
    return np.array([max(divergence(p, q, a), divergence(q, p, a)) if a < 200 else pure for a in orders])


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_no_exact_selection_loses_more_than_is_said(law: Repetitions) -> None:
    for p, q in pairs():
        chosen = best(law, p), best(law, q)
        assert chosen[0].sum() == pytest.approx(1.0)
        orders = np.array([2.0, 5.0, 20.0])
        claimed = selected(law, partial(curve, p, q), orders)
        exact = [divergence(*chosen, a) for a in orders]
        assert (np.array(exact) <= claimed + 1e-9).all()
        losses = np.abs(np.log(chosen[0] / chosen[1]))
        assert losses.max() <= (2 + law.eta) * np.abs(np.log(p / q)).max() + 1e-9


def test_the_cost_of_one_run_would_be_too_little() -> None:
    """The mutant that charges a selection like one run is rejected by enumeration; the pure factor is nearly met."""
    law = Repetitions(1, 0.001)
    rare, epsilon = 1e-5, 0.1
    p = np.array([1 - rare * math.exp(epsilon), rare * math.exp(epsilon)])
    q = np.array([1 - rare, rare])
    one = np.abs(np.log(p / q)).max()
    exact = np.abs(np.log(best(law, p) / best(law, q))).max()
    assert exact <= 3 * one
    a, b = math.exp(epsilon) / (1 + math.exp(epsilon)), 1 / (1 + math.exp(epsilon))
    low, high = best(law, np.array([a, b])), best(law, np.array([b, a]))
    assert np.abs(np.log(low / high)).max() > 1.9 * epsilon


@pytest.mark.parametrize("eta", [0, 1])
@pytest.mark.parametrize("mean", [1.5, 4.0, 100.0])
def test_laws_have_their_means_and_are_drawn_so(eta: int, mean: float) -> None:
    """Standard error of 50,000 draws; five of them: error below 1e-6."""
    law = Repetitions.of_mean(mean, eta)
    assert mean * (1 - 1e-6) < law.mean <= mean
    generator = np.random.default_rng(0)
    draws = np.array([law.draw(generator) for _ in range(50_000)])
    assert draws.min() == 1
    assert abs(draws.mean() - mean) < 5 * draws.std() / math.sqrt(len(draws))
    x = 0.7
    assert abs((x**draws).mean() - law.generating(x)) < 5 * (x**draws).std() / math.sqrt(len(draws))


def test_pure_and_renyi_figures() -> None:
    laplace = Plan(R, Release("one", Laplace(2.0), Sensitivity(1.0, 1, "account/declared", R)))
    gauss = Plan(R, Release("one", Gaussian(10.0), Sensitivity(1.0, 2, "account/declared", R)))
    few, many = Repetitions.of_mean(5.0, 0), Repetitions.of_mean(50.0, 0)
    assert selection_epsilon(few, [laplace], 0.0) == pytest.approx(1.0)
    assert selection_epsilon(Repetitions(1, 0.2), [laplace], 0.0) == pytest.approx(1.5)
    one = refdp.account(gauss, delta=1e-5).epsilon
    assert one < selection_epsilon(few, [gauss], 1e-5) < selection_epsilon(many, [gauss], 1e-5) < 4 * one
    assert selection_epsilon(few, [gauss, laplace], 1e-5) >= selection_epsilon(few, [gauss], 1e-5)


PUBLIC: dict[str, Any] = {"relation": "add-remove", "bounds": {0: (0, 1), 1: (0, 1)}}
pytestmark = pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")


def records() -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).random((3000, 2))
    return x, (x[:, 0] > 0.5).astype(int)


def test_the_better_setting_is_selected_and_all_of_it_is_certified() -> None:
    """Depth 4 on one threshold against a tree that can say nothing, since its leaves are clipped to nothing."""
    x, y = records()
    seed = refdp.ReproducibleSeed(1)
    given: dict[str, Any] = {**PUBLIC, "classes": [0, 1], "insecure_seed": seed, "trees": 3}
    weak = refdp.FedGBDTClassifier(epsilon=0.5, leaf_clip=1e-6, features_per_tree=1, depth=1, **given)
    good = refdp.FedGBDTClassifier(epsilon=0.5, **given)
    chosen = refdp.select([weak, good], x, y, score_epsilon=0.1, mean_runs=20, insecure_seed=refdp.ReproducibleSeed(3))
    assert chosen.index == 1
    assert chosen.estimator.score(x, y) > 0.7
    established = chosen.estimator.certificate_.established
    assert (established.epsilon, established.delta) == (chosen.epsilon, chosen.delta) == (chosen.epsilon, 1e-5)
    assert 0.5 < chosen.epsilon < 3.0
    assert any("Papernot and Steinke" in said for said in chosen.certificate.assumptions)
    assert dict(chosen.certificate.rests_on)["composition/selection-renyi"] == "ARGUED"


def test_pure_candidates_cost_twice_a_run() -> None:
    x, y = records()
    seed = refdp.ReproducibleSeed(1)
    kind = refdp.DPBoostRegressor(epsilon=0.5, label_bounds=(0, 1), insecure_seed=seed, **PUBLIC)
    chosen = refdp.select([kind], x, y, score_epsilon=0.25, mean_runs=3, insecure_seed=seed)
    assert chosen.epsilon == pytest.approx(1.5)


def test_a_selection_is_charged_before_its_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """1.5 for the selection; a fit of .5 after it, by figures and, beside Gaussian plans, by what they compose to."""
    x, y = records()
    seed = refdp.ReproducibleSeed(1)
    kind = refdp.DPBoostRegressor(epsilon=0.5, label_bounds=(0, 1), insecure_seed=seed, **PUBLIC)
    given: dict[str, Any] = {"score_epsilon": 0.25, "mean_runs": 3, "insecure_seed": seed}
    budget = refdp.PrivacyBudget(2.0)
    refdp.select([kind], x, y, budget=budget.on("these"), **given)
    assert budget.spent() == budget.spent("these") == pytest.approx(1.5) and budget.spent("others") == 0.0
    kind.set_params(budget=budget).fit(x, y)
    assert budget.spent() == pytest.approx(2.0)
    kind.set_params(budget=None)
    monkeypatch.setattr(refdp.DPBoostRegressor, "fit", lambda *_: pytest.fail("a run began"))
    with pytest.raises(BudgetExceeded, match="selection would bring"):
        refdp.select([kind], x, y, budget=budget, **given)
    broken = refdp.DPBoostRegressor(label_bounds=(0, 1), as_published=True, **PUBLIC)
    with pytest.raises(InvalidParameter, match="nothing is established"):
        refdp.select([broken], x, y, **given)


def test_figures_leave_the_rest_of_delta_to_plans(tmp_path: Path) -> None:
    gauss = Plan(R, Repeat(Release("sum", Gaussian(8.0), Sensitivity(1.0, 2, "none", R)), 16))
    budget = refdp.PrivacyBudget(9.0, 1e-5, file=tmp_path / "budget.json")
    alone = refdp.account(gauss, delta=1e-5).epsilon
    budget.charge(gauss, established=(alone, 1e-5))
    assert budget.spent() == pytest.approx(alone, rel=1e-6)
    budget.charge_known(1.0, 4e-6)
    assert budget.spent() == pytest.approx(1 + refdp.account(gauss, delta=6e-6).epsilon, rel=1e-6)
    assert refdp.PrivacyBudget(9.0, 1e-5, file=tmp_path / "budget.json").spent() == budget.spent()
    with pytest.raises(BudgetExceeded):
        budget.charge_known(0.1, 1e-5)


def test_candidates_that_do_not_go_together_are_refused() -> None:
    x, y = records()
    good = refdp.DPBoostClassifier(classes=[0, 1], **PUBLIC)
    wrong: list[list[Any]] = [
        [],
        [object()],
        [good, refdp.DPBoostRegressor(label_bounds=(0, 1), **PUBLIC)],
        [refdp.DPBoostClassifier(**PUBLIC)],
        [refdp.DPBoostClassifier(classes=[0, 1], budget=refdp.PrivacyBudget(9.0), **PUBLIC)],
        [refdp.DPBoostClassifier(classes=[0, 1], scheme="np", **PUBLIC)],
        [refdp.DPBoostClassifier(classes=[0, 1], as_published=True, **PUBLIC)],
    ]
    for candidates in wrong:
        with pytest.raises(InvalidParameter, match="candidate"):
            refdp.select(candidates, x, y, score_epsilon=0.1)
    for settings in ({"score_epsilon": 0.0}, {"mean_runs": 1.0}, {"eta": 2}, {"delta": 1.0}):
        with pytest.raises(InvalidParameter):
            refdp.select([good], x, y, **{"score_epsilon": 0.1} | settings)


def test_every_candidate_costs_what_its_own_schema_says() -> None:
    """Two classes cost more at these settings than six: a selection that may run both costs no less, in any order."""
    x, y = records()
    two = refdp.FedGBDTClassifier(epsilon=1.0, classes=[0, 1], **PUBLIC)
    six = refdp.FedGBDTClassifier(epsilon=1.0, classes=list(range(6)), **PUBLIC)
    alone, mixed, turned = (
        refdp.select(candidates, x, y, score_epsilon=0.1, mean_runs=2).epsilon
        for candidates in ([two], [six, two], [two, six])
    )
    assert mixed == turned >= alone > 1.0


@pytest.mark.parametrize("place", [0, 1])
def test_a_candidate_with_bounds_of_some_columns_is_refused(place: int) -> None:
    x, y = records()
    good, some = (refdp.FedGBDTClassifier(classes=[0, 1], **PUBLIC) for _ in range(2))
    some.set_params(bounds={0: (0, 1)})
    candidates = [some, good] if place == 0 else [good, some]
    with pytest.raises(InvalidParameter, match="candidate without bounds"):
        refdp.select(candidates, x, y, score_epsilon=0.1)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_one_record_moves_a_score_by_one_at_most(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels in one column of a table would be held against all predictions, and one record changed all sums."""
    x, y = (part[:40] for part in records())
    public = {"label_bounds": (0, 1)} if kind == "numbers" else {"classes": [0, 1]}
    estimator = refdp.GroveRegressor if kind == "numbers" else refdp.GroveClassifier
    model = estimator(trees=1, epsilon=1.0, **public, **PUBLIC)
    scored: list[Any] = []
    found = []
    release = Curator.release

    def watched(self: Curator, name: str, charge: Any, value: Any, *rest: Any, **named: Any) -> Any:
        if name == "score":
            scored.append(float(value[0]))
        return release(self, name, charge, value, *rest, **named)

    monkeypatch.setattr(Curator, "release", watched)
    monkeypatch.setattr(estimator, "predict", lambda self, X: np.full(len(X), 0.5 if kind == "numbers" else 0))
    for given in (y, list(y), y[:, None], pd.DataFrame({"y": y}), pd.Series(y, index=range(7, 7 + len(y))),
                  y.astype(float), y.astype(float)[:, None]):  # fmt: skip
        scored.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            refdp.select([model], x, given, score_epsilon=0.1, mean_runs=2, insecure_seed=refdp.ReproducibleSeed(1))
        found.append(scored[0])
    wrong = np.round((0.5 - y) ** 2 * 1024).sum() / 1024 if kind == "numbers" else float(y.sum())
    assert found == [pytest.approx(-wrong, abs=len(y) / 1024)] * len(found)


def test_a_selection_is_about_the_budgets_neighbours() -> None:
    x, y = records()
    kind = refdp.DPBoostRegressor(epsilon=0.5, label_bounds=(0, 1), **PUBLIC)
    budget = refdp.PrivacyBudget(9.0, relation="replace-one")
    for one in (budget, budget.on("a")):
        with pytest.raises(InvalidParameter, match="about add-remove neighbours: the budget is about replace-one"):
            refdp.select([kind], x, y, score_epsilon=0.1, mean_runs=2, budget=one)
    assert budget.spent() == 0.0


def test_a_second_selection_on_the_same_records_warns() -> None:
    x, y = records()
    kind = refdp.DPBoostRegressor(epsilon=0.5, trees=1, label_bounds=(0, 1), **PUBLIC)
    given: dict[str, Any] = {"score_epsilon": 0.1, "mean_runs": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedFitWarning)
        refdp.select([kind], x, y, **given)
    with pytest.warns(RepeatedFitWarning, match="these records were fitted before"):
        refdp.select([kind], x, y, **given)
