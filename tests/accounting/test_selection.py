"""The cost of private selection, held against exact enumeration; what `refdp.select` returns and refuses."""

from __future__ import annotations

import json
import math
import threading
import warnings
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.base import clone

import refdp
from refdp.accounting.selection import Repetitions, selected, selection_epsilon
from refdp.audit.dossier import dossier
from refdp.errors import (
    BudgetExceeded,
    InvalidParameter,
    InvalidRecords,
    PrivacyWarning,
    RefdpError,
    RelationMismatch,
    RepeatedFitWarning,
    UtilityWarning,
)
from refdp.faces import select, training
from refdp.faces.estimators import PrivateRegressor
from refdp.ledger import claims
from refdp.ledger.proved import SELECTION
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
    for bound in np.random.default_rng(1).random(50):
        plan = Plan(R, Release("one", Laplace(1.0), Sensitivity(float(bound), 1, "account/declared", R)))
        assert selection_epsilon(Repetitions(1, 0.2), [plan], 0.0) >= 3 * Fraction(bound)
    other = Relation.REPLACE_ONE
    replaced = Plan(other, Release("one", Laplace(2.0), Sensitivity(1.0, 1, "account/declared", other)))
    with pytest.raises(RelationMismatch, match="different neighbours"):
        selection_epsilon(few, [laplace, replaced], 0.0)


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


class Twice(refdp.DPBoostRegressor):
    """Trains again in its own `fit`."""

    def fit(self, X: Any, y: Any) -> Any:
        super().fit(X, y)
        return super().fit(X, y)


class Dearer(refdp.DPBoostRegressor):
    """Trains with another epsilon than it says."""

    def fit(self, X: Any, y: Any) -> Any:
        self.epsilon = 8.0
        return super().fit(X, y)


class Doubled(refdp.DPBoostRegressor):
    """Has twice the epsilon that it is given."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return 2 * found if name == "epsilon" else found


class Ranked(refdp.DPBoostRegressor):
    """Predicts ranks: one record moves the predictions of others."""

    def predict(self, X: Any) -> Any:
        return np.argsort(np.argsort(super().predict(X))) / len(X)


class Shifted:
    """Beside a class of refdp, before it."""

    def _encoded(self, X: Any) -> Any:
        found = super()._encoded(X)  # type: ignore[misc]
        return found - found.mean(axis=0)


class Mixed(Shifted, refdp.DPBoostRegressor):
    """With a method from beside."""


class Late(refdp.DPBoostRegressor):
    """Puts a method into itself when it is made."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.predict = lambda X: np.argsort(X[:, 0]) / len(X)  # type: ignore[method-assign]

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return refdp.DPBoostRegressor._get_param_names()


class Set(refdp.DPBoostRegressor):
    """Other defaults, and what nothing of refdp's calls."""

    trees = 2

    def of_ours(self) -> int:
        return 1


class Registered(refdp.DPBoostRegressor):
    """Trains, and predicts, by a text of somebody else's."""

    _paper = "mine"


class Own(PrivateRegressor):
    """So does this, of no trainer of refdp's."""

    _paper = "mine"


class Watching(refdp.DPBoostRegressor):
    """Is told of every run's model."""

    @property
    def model_(self) -> Any:
        return vars(self)["kept"]

    @model_.setter
    def model_(self, value: Any) -> None:
        vars(self)["kept"] = value


class Renaming(refdp.DPBoostClassifier):
    """Says anew what labels are whenever it is asked."""

    classes_ = property(lambda self: vars(self)["known"], lambda self, value: vars(self).update(known=value))


class Hiding(Late):
    """Does not show what was put into it."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return {}


class Described(refdp.DPBoostRegressor):
    """Chooses anew how many trees there are."""

    trees = property(lambda self: 2, lambda self, value: None)  # type: ignore[assignment]


class Method:
    """Under a name by which nothing of an estimator is called."""

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self


class Asking(refdp.DPBoostRegressor):
    set_fit_request = Method()


class Putting(refdp.DPBoostRegressor):
    """Says which trainer it is when it is made."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._paper = "mine"

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return refdp.DPBoostRegressor._get_param_names()


@pytest.mark.parametrize("kind", [Twice, Dearer, Doubled, Ranked, Mixed, Late, Registered, Own, Watching, Renaming,
                                  Hiding, Described, Asking, Putting])  # fmt: skip
def test_a_class_that_changes_what_is_done_with_records_is_refused(kind: type) -> None:
    x, y = records()
    budget = refdp.PrivacyBudget(50.0)
    target: dict[str, Any] = {"classes": [0, 1]} if kind is Renaming else {"label_bounds": (0, 1)}
    candidate = kind(epsilon=0.5, **target, **PUBLIC)
    with pytest.raises(InvalidParameter, match=f"a candidate of {kind.__name__}, which has a .* of its own"):
        refdp.select([candidate], x, y, score_epsilon=0.25, budget=budget)
    assert not budget.entries


def test_a_method_that_was_put_into_a_candidate_is_refused() -> None:
    x, y = records()
    candidate = refdp.DPBoostRegressor(epsilon=0.5, label_bounds=(0, 1), **PUBLIC)
    candidate.predict = lambda X: np.zeros(len(X))  # type: ignore[method-assign]
    with pytest.raises(InvalidParameter, match="has a predict of its own"):
        refdp.select([candidate], x, y, score_epsilon=0.25)


def test_a_class_with_other_defaults_is_selected_from() -> None:
    x, y = records()
    given = Set(epsilon=0.5, label_bounds=(0, 1), **PUBLIC)
    chosen = refdp.select([given], x, y, score_epsilon=0.25, mean_runs=2)
    assert type(chosen.estimator) is Set and chosen.estimator is not given
    assert chosen.estimator.get_params() == given.get_params() and chosen.estimator.predict(x).shape == y.shape
    assert chosen.certificate.established.epsilon == pytest.approx(1.5)


def test_runs_are_of_refdps_own_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a class derived from it does when it is made is done before, and never by a run."""
    x, y = records()
    fitted: list[type] = []
    score = select._score
    monkeypatch.setattr(select, "_score", lambda one, *rest: (fitted.append(type(one)), score(one, *rest))[1])
    refdp.select([Set(epsilon=0.5, label_bounds=(0, 1), **PUBLIC)], x, y, score_epsilon=0.25, mean_runs=5)
    assert set(fitted) == {refdp.DPBoostRegressor}


def test_no_proof_of_one_run_is_about_a_selection() -> None:
    x, y = records()
    kind = refdp.DPBoostRegressor(epsilon=0.5, label_bounds=(0, 1), trees=3, depth=2, **PUBLIC)
    whole = clone(kind).fit(x, y).certificate_.proofs
    chosen = refdp.select([kind], x, y, score_epsilon=0.25, mean_runs=3)
    assert [one.name for one in chosen.certificate.proofs] == [one.name for one in whole] and whole[0].covers
    for one in chosen.certificate.proofs:
        assert (one.covers, one.this_run, one.differs[0], one.not_covered[0]) == ((), False, SELECTION, SELECTION)
        assert "but this is the best of several runs" in one.line() or one.stale


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
    monkeypatch.setattr(training, "_trained", lambda *_: pytest.fail("a run began"))
    monkeypatch.setattr("refdp.ledger.certificate.running", lambda *_: "")  # it would tell of that
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
    wrong: list[Any] = [
        [],
        [object()],
        [refdp.DPBoostClassifier],
        good,
        5,
        [good, refdp.DPBoostRegressor(label_bounds=(0, 1), **PUBLIC)],
        [refdp.DPBoostClassifier(**PUBLIC)],
        [refdp.DPBoostClassifier(classes=[0, 1], budget=refdp.PrivacyBudget(9.0), **PUBLIC)],
        [refdp.DPBoostClassifier(classes=[0, 1], scheme="np", **PUBLIC)],
        [refdp.DPBoostClassifier(classes=[0, 1], as_published=True, **PUBLIC)],
    ]
    for candidates in wrong:
        with pytest.raises(InvalidParameter, match="candidate"):
            refdp.select(candidates, x, y, score_epsilon=0.1)
    with pytest.raises(InvalidParameter, match="relation = 'both'"):
        refdp.select([clone(good).set_params(relation="both")], x, y, score_epsilon=0.1)
    for settings in ({"score_epsilon": 0.0}, {"mean_runs": 1.0}, {"eta": 2}, {"delta": 1.0}, {"budget": 3.0}):
        with pytest.raises(InvalidParameter):
            refdp.select([good], x, y, **{"score_epsilon": 0.1} | settings)


def test_a_run_costs_what_the_dearest_candidate_costs_under_its_own_schema() -> None:
    x, y = records()
    given: dict[str, Any] = {"relation": "add-remove", "classes": [0, 1], "trees": 2}
    cheap = refdp.FedGBDTClassifier(epsilon=0.5, bounds={0: ["a", "b"], 1: (0, 1)}, **given)
    dear = refdp.DPBoostClassifier(epsilon=1.0, bounds={0: (0, 1), 1: (0, 1)}, **given)
    alone, mixed, turned = (
        refdp.select(candidates, x, y, score_epsilon=0.1, mean_runs=2, delta=1e-5).epsilon
        for candidates in ([dear], [cheap, dear], [dear, cheap])
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
    monkeypatch.setattr("refdp.ledger.certificate.running", lambda *_: "")  # it would tell of that
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


# --- What tells how many runs there were ------------------------------------------------------------------------------


def loud(seed: refdp.ReproducibleSeed) -> list[Any]:
    """Candidates whose fits warn of noise, of a seed and of a relation that was not given."""
    given: dict[str, Any] = {"bounds": PUBLIC["bounds"], "classes": [0, 1], "rows": 100, "insecure_seed": seed}
    return [refdp.GroveClassifier(epsilon=0.05, trees=1, depth=depth, **given) for depth in (4, 5)]


def observed(runs: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    """What a caller of a selection of so many runs sees besides its result."""
    x, y = (part[:60].copy() for part in records())
    seed = refdp.ReproducibleSeed(1)
    monkeypatch.setattr(Repetitions, "draw", lambda *_: runs)
    shown: list[Any] = []
    with warnings.catch_warnings(), np.errstate(all="call", call=lambda *said: shown.append(said)):
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", lambda text, kind, *_: shown.append((kind, str(text))))
        refdp.select(loud(seed), x, y[:, None], score_epsilon=0.1)
    state = np.random.get_state()  # noqa: NPY002
    return shown, repr(seed._uses), str(state)


def told_of_rows(monkeypatch: pytest.MonkeyPatch) -> int:
    """How often two candidates with an exact number of rows, whose fits warn of noise too, warn of it."""
    x, y = (part[:60].copy() for part in records())
    given: dict[str, Any] = {"bounds": PUBLIC["bounds"], "classes": [0, 1], "rows": 123, "relation": "add-remove"}
    monkeypatch.setattr(Repetitions, "draw", lambda *_: 5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        two = [refdp.GroveClassifier(epsilon=0.05, trees=1, depth=depth, **given) for depth in (4, 5)]
        refdp.select(two, x, y, score_epsilon=0.1)
    return sum("rows = 123" in str(one.message) for one in caught)


def test_runs_are_silent_whatever_another_thread_does_to_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = (part[:60].copy() for part in records())
    monkeypatch.setattr(Repetitions, "draw", lambda *_: 3)
    said: list[str] = []
    monkeypatch.setattr(warnings, "showwarning", lambda text, *_: said.append(str(text)))
    best = select._best

    def freed(*given: Any) -> Any:
        monkeypatch.setattr(warnings, "simplefilter", lambda *_: warnings.resetwarnings())  # as if nothing was ignored
        said.clear()
        return best(*given)

    monkeypatch.setattr(select, "_best", freed)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        refdp.select(loud(refdp.ReproducibleSeed(1)), x, y, score_epsilon=0.1)
    assert said == []


def test_nothing_that_a_caller_sees_tells_how_many_runs_there_were(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Each candidate says its warnings once; runs that warn, by whatever way, are not heard."""
    predict = refdp.GroveClassifier.predict

    def warning(self: Any, X: Any) -> Any:
        warnings.warn("a run", stacklevel=1)
        np.log(np.zeros(1))
        return predict(self, X)

    monkeypatch.setattr(refdp.GroveClassifier, "predict", warning)
    monkeypatch.setattr("refdp.ledger.certificate.running", lambda *_: "")  # it would tell of that
    one, few, many = (observed(runs, monkeypatch) for runs in (1, 2, 7))
    assert one == few == many
    assert told_of_rows(monkeypatch) == 2
    kinds = [kind for kind, _ in one[0]]
    assert kinds.count(UtilityWarning) == 2 and kinds.count(PrivacyWarning) == 4
    assert one[1] == "count(2)" and not any("a run" in str(text) for _, text in one[0])
    assert capfd.readouterr() == ("", "") and not caplog.records


def test_runs_mute_no_other_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = (part[:60].copy() for part in records())
    predict = refdp.GroveClassifier.predict

    def beside(self: Any, X: Any) -> Any:
        other = threading.Thread(target=lambda: warnings.warn("another thread", stacklevel=1))
        other.start()
        other.join()
        return predict(self, X)

    monkeypatch.setattr(refdp.GroveClassifier, "predict", beside)
    monkeypatch.setattr("refdp.ledger.certificate.running", lambda *_: "")  # it would tell of that
    monkeypatch.setattr(Repetitions, "draw", lambda *_: 2)
    kind = refdp.GroveClassifier(trees=1, depth=1, classes=[0, 1], **PUBLIC)
    with pytest.warns(UserWarning, match="another thread") as caught:
        refdp.select([kind], x, y, score_epsilon=0.1)
    assert sum(str(one.message) == "another thread" for one in caught) == 2


def test_what_the_caller_would_have_of_underflow_stops_no_selection() -> None:
    x, y = (part[:60].copy() for part in records())
    kind = refdp.FedGBDTClassifier(trees=2, depth=1, classes=[0, 1], **PUBLIC)
    with np.errstate(all="raise"):
        assert refdp.select([kind], x, y, score_epsilon=0.1, mean_runs=2).epsilon > 1


def test_numbers_of_numpy_are_numbers() -> None:
    x, y = (part[:60].copy() for part in records())
    kind = refdp.DPBoostClassifier(trees=1, depth=1, classes=[0, 1], **PUBLIC)
    given = {"score_epsilon": np.float32(0.125), "mean_runs": np.int64(3), "eta": np.int8(1), "delta": np.float32(0)}
    plain = {"score_epsilon": 0.125, "mean_runs": 3.0, "eta": 1, "delta": 0.0}
    found = [refdp.select([kind], x, y, **one).epsilon for one in (given, plain)]  # type: ignore[arg-type]
    assert found[0] == found[1]
    for wrong in (np.bool_(True), np.array(0.125), np.float32("nan")):
        with pytest.raises(InvalidParameter, match="score_epsilon"):
            refdp.select([kind], x, y, score_epsilon=wrong)


def test_a_run_that_fails_is_told_without_which_or_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is the same at whatever run, has no other one behind it, and no local value of a run in its trace."""
    x, y = records()
    kinds = [refdp.DPBoostRegressor(epsilon=0.5, trees=t, depth=1, label_bounds=(0, 1), **PUBLIC) for t in (1, 2)]
    monkeypatch.setattr(Repetitions, "draw", lambda *_: 3)
    told = []
    for fails in (0, 2):
        left = iter(range(3))

        def score(*_: Any, left: Any = left, fails: int = fails) -> float:
            return 1.0 / (next(left) - fails)

        monkeypatch.setattr(select, "_score", score)
        budget = refdp.PrivacyBudget(9.0)
        with pytest.raises(RefdpError) as caught:
            refdp.select(kinds, x, y, score_epsilon=0.25, budget=budget)
        assert caught.value.__context__ is None and caught.value.__cause__ is None
        assert budget.spent() == pytest.approx(1.5)
        told.append((type(caught.value), str(caught.value), [one.name for one in caught.traceback][1:]))
    assert told[0] == told[1] and told[0][2] == ["select"] and "a run of the selection failed" in told[0][1]


def test_seeded_selections_repeat_and_every_run_has_noise_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = records()
    monkeypatch.setattr(Repetitions, "draw", lambda *_: 3)
    score, found = select._score, []
    monkeypatch.setattr(select, "_score", lambda one, *rest: (found.append(one), score(one, *rest))[1])
    for _ in range(2):
        seed = refdp.ReproducibleSeed(5)
        kind = refdp.DPBoostRegressor(epsilon=0.5, trees=1, depth=1, label_bounds=(0, 1), insecure_seed=seed, **PUBLIC)
        chosen = refdp.select([kind], x, y, score_epsilon=0.1, insecure_seed=refdp.ReproducibleSeed(6))
        assert chosen.estimator.insecure_seed is seed
        chosen.estimator.fit(x, y)
        found.append(chosen.estimator)
    texts = [one.model_.to_json() for one in found]
    assert texts[:4] == texts[4:]
    assert len({str(one.transcript_) for one in found[:3]}) == 3


# --- Refusals ---------------------------------------------------------------------------------------------------------


def refusals() -> dict[str, tuple[dict[str, Any], Any]]:
    """Changes of candidates, or of records, that a fit refuses."""
    return {
        "monotone_constraints of 3 signs": ({"monotone_constraints": [1, 0, 0]}, None),
        "class_weight: 5 is not among": ({"class_weight": {5: 1}}, None),
        "insecure_seed of type int": ({"insecure_seed": 3}, None),
        "holds an infinite value": ({}, lambda x, y: (np.where(x == x[0, 0], np.inf, x), y)),
        "0 records given": ({}, lambda x, y: (x[:0], y[:0])),
        "labels of shape": ({}, lambda x, y: (x, y[:-1])),
        "not in the public classes": ({}, lambda x, y: (x, np.where(y == 1, 7, y))),
        "1d array": ({}, lambda x, y: (x, None)),
        "is no number": ({}, lambda x, y: (np.where(x == x[0, 0], "a", x.astype(object)), y)),
    }


@pytest.mark.parametrize("said", refusals())
def test_what_a_fit_refuses_is_refused_before_a_selection_is_charged(said: str) -> None:
    changed, of_records = refusals()[said]
    x, y = (part[:60] for part in records())
    good = refdp.GroveClassifier(trees=1, depth=1, epsilon=1.0, classes=[0, 1], **PUBLIC)
    x, y = (x, y) if of_records is None else of_records(x, y)
    budget = refdp.PrivacyBudget(50.0, 1e-3)
    with pytest.raises((InvalidParameter, InvalidRecords), match=said):
        refdp.select([good, clone(good).set_params(**changed)], x, y, score_epsilon=0.1, budget=budget)
    assert budget.spent() == 0.0


def test_refusals_of_an_estimators_own_fit_are_not_charged_either() -> None:
    x, y = (part[:60] for part in records())
    budget = refdp.PrivacyBudget(50.0, 1e-3)
    given: dict[str, Any] = {"classes": [0, 1], **PUBLIC}

    for kind, said in (
        (refdp.InPrivateClassifier(owners=["a", "b"], rounds=1, depth=1, **given), "without groups"),
        (refdp.DPXGBoostClassifier(absent="none", trees=1, depth=1, delta=0.0, **given), "absent"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            refdp.select([kind], x, y, score_epsilon=0.1, budget=budget)
    assert budget.spent() == 0.0


@pytest.mark.parametrize("kind", [UtilityWarning, PrivacyWarning, RepeatedFitWarning])
def test_a_warning_that_is_an_error_is_raised_before_a_selection_is_charged(
    kind: type[Warning], monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = (part[:60].copy() for part in records())
    scope, other = (refdp.PrivacyBudget(50.0, 1e-3) for _ in range(2))
    candidates = [one.set_params(insecure_seed=None) for one in loud(refdp.ReproducibleSeed(1))]
    refdp.select(candidates, x, y, score_epsilon=0.1, budget=scope.on("these"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", kind)
        for budget in (scope.on("others"), other):
            if kind is not RepeatedFitWarning or budget is not other:
                with pytest.raises(kind):
                    refdp.select(candidates, x, y, score_epsilon=0.1, budget=budget)
    assert len(scope.entries) == 1 and not other.entries


def test_candidates_of_several_targets_are_refused() -> None:
    """Errors in units of a range a thousand times as wide would always be the least."""
    x, y = records()
    budget = refdp.PrivacyBudget(50.0, 1e-3)
    given: dict[str, Any] = {"score_epsilon": 0.1, "budget": budget}
    narrow, wide = (refdp.GroveRegressor(label_bounds=bounds, **PUBLIC) for bounds in ((0, 1), (-1000, 1000)))
    two, three = (refdp.GroveClassifier(classes=classes, **PUBLIC) for classes in ([0, 1], [0, 1, 2]))
    for candidates in ([narrow, wide], [two, three]):
        with pytest.raises(InvalidParameter, match="scores have different units"):
            refdp.select(candidates, x, y, **given)
    assert budget.spent() == 0.0
    same = [refdp.GroveClassifier(trees=1, depth=1, classes=names, **PUBLIC) for names in ([0, 1], (1.0, 0.0))]
    assert refdp.select(same, x[:60], y[:60], **given).epsilon == budget.spent()


def test_no_pure_guarantee_of_gaussian_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = (part[:60] for part in records())
    monkeypatch.setattr(training, "_trained", lambda *_: pytest.fail("a run began"))
    monkeypatch.setattr("refdp.ledger.certificate.running", lambda *_: "")  # it would tell of that
    kind = refdp.GroveClassifier(trees=1, depth=1, classes=[0, 1], **PUBLIC)
    for budget in (None, refdp.PrivacyBudget(50.0, 1e-3)):
        with pytest.raises(InvalidParameter, match="delta = 0: the epsilon of the selection is infinite"):
            refdp.select([kind], x, y, score_epsilon=0.1, delta=0, budget=budget)


def test_dask_frames_are_refused() -> None:
    """A scheduler and its logs show how often workers were asked."""
    x, y = records()
    frame = type("DataFrame", (), {"__module__": "dask.dataframe", "map_partitions": None})()
    kind = refdp.GroveClassifier(classes=[0, 1], **PUBLIC)
    for given in ((frame, frame), (frame, y), (x, frame)):
        with pytest.raises(InvalidParameter, match="a cluster shows how many runs there are"):
            refdp.select([kind], *given, score_epsilon=0.1)


# --- Certificate ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("winner", [0, 1])
def test_the_certificate_rests_on_all_candidates_and_on_scores(winner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of any candidate may have been made: with its claims, its floating-point noise and its seed."""
    x, y = (part[:60] for part in records())
    given: dict[str, Any] = {"classes": [0, 1], "trees": 1, "depth": 1, **PUBLIC}
    seed = refdp.ReproducibleSeed(2)
    kinds = [refdp.GroveClassifier(noise="discrete", **given),
             refdp.DPBoostClassifier(noise="floating", insecure_seed=seed, **given)]  # fmt: skip
    monkeypatch.setattr(Repetitions, "draw", lambda *_: 40)
    monkeypatch.setattr(select, "_score", lambda one, *_: float((one._paper == "dpboost") == bool(winner)))
    found = refdp.select(kinds, x, y, score_epsilon=0.125, mean_runs=8, eta=1, insecure_seed=seed)
    assert found.index == winner
    certificate = found.estimator.certificate_
    names = dict(certificate.rests_on)
    for one in kinds:
        alone = clone(one).fit(x, y).certificate_
        assert set(alone.rests_on) <= set(certificate.rests_on)
        assert set(alone.assumptions) <= set(certificate.assumptions)
    scored = {"composition/discrete-laplace", "composition/sequential", select.SCORE_CLAIM}
    assert {*scored, *claims.OF_SELECTIONS} <= set(names)
    assert any("drawn in floating point" in said and "Laplace" in said for said in certificate.assumptions)
    (note,) = (said for said in certificate.notes if "secret number" in said)
    for part in ("law eta = 1", "mean 8", "among 2 candidates", "scores of epsilon 0.125 each"):
        assert part in note
    assert certificate.established == certificate.claimed == found.certificate.claimed
    assert certificate.established.epsilon == found.epsilon
    *trained, score = certificate.releases
    assert (score.name, score.count, score.charge) == ("score", 1, 0.125)
    assert tuple(trained) == clone(kinds[winner]).fit(x, y).certificate_.releases
    told = {one.topic: one for one in dossier(json.loads(json.dumps(certificate.to_dict()))).answers}
    assert all(one.holds for one in told.values())
    assert "(score)" in told["mechanism"].text and "Theorem 2 of Papernot and Steinke" in told["composition"].text
    assert any(line.startswith(claims.OF_SELECTIONS[0]) for line in told["composition"].evidence)
