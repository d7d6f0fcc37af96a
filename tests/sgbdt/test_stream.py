"""Estimators of S-GBDT: streams with an account for every id, reports, scikit-learn's own checks."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from refdp.errors import InvalidParameter, InvalidRecords
from refdp.estimators import SGBDTClassifier, SGBDTRegressor
from refdp.papers import sgbdt

SMALL = {"epsilon": 2.0, "relation": "add-remove", "delta": 1e-3, "trees": 6, "extra_trees": 4, "depth": 2,
         "subsample": 0.3, "random_state": 3, "bounds": {"x0": (0, 1), "x1": (0, 1)}}  # fmt: skip


def data(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    x = generator.random((rows, 2))
    return x, 2 * x[:, 0] - 1


def regressor(**changes: Any) -> SGBDTRegressor:
    return SGBDTRegressor(**{**SMALL, "label_bounds": (-1, 1), **changes})


def test_budgets_are_carried_over_by_id() -> None:
    x, y = data(40, 0)
    model = regressor().partial_fit(x, y, ids=range(40))
    before = model.private_budget_report()
    assert len(model.model_.outputs[0].trees) == 6
    model.partial_fit(x[:10], -y[:10], ids=range(30, 40))  # ten ids come again with other records
    after = model.private_budget_report()
    assert len(model.model_.outputs[0].trees) == 10
    assert after.keys() == before.keys()
    assert all(before[name] <= after[name] <= 1 for name in before)
    assert any(before[name] < after[name] for name in range(30, 40))
    model.partial_fit(x, y, ids=range(100, 140))
    fresh = model.private_budget_report()
    assert len(fresh) == 80
    for _ in range(12):
        model.partial_fit(x[:1], y[:1], ids=[0])
    spent = model.private_budget_report()
    assert max(spent.values()) <= 1
    assert spent[0] > 1 - 1 / 6  # the id that came 13 times is refused once it could not pay another round


def test_an_account_that_forgets_is_noticed() -> None:
    """The check above can fail: with a new id each time, the same record pays from a fresh account."""
    x, y = data(40, 0)
    model = regressor().partial_fit(x, y, ids=range(40))
    model.partial_fit(x[:1], y[:1], ids=["again"])
    assert model.private_budget_report()["again"] < model.private_budget_report()[0]


def test_reports_and_pickles_hold_nothing_private() -> None:
    x, y = data(40, 0)
    reports = []
    for rows in (40, 15):
        model = regressor().partial_fit(x[:rows], y[:rows], ids=[f"person {i}" for i in range(rows)])
        reports.append(model.budget_report())
        text = pickle.dumps(model)
        assert b"person" not in text
        assert not hasattr(pickle.loads(text), "private_stream_")
        assert "person" not in repr(model.private_stream_)
    assert reports[0] == reports[1]
    assert reports[0] == regressor().fit(x, y).budget_report()


def test_bad_input_is_refused_with_one_clear_error() -> None:
    x, y = data(20, 0)
    with pytest.raises(InvalidParameter, match="extra_trees >= 1"):
        regressor(extra_trees=0).partial_fit(x, y).partial_fit(x, y)
    with pytest.raises(InvalidRecords, match="each at most once"):
        regressor().partial_fit(x, y, ids=[0] * 20)
    with pytest.raises(InvalidParameter, match="add-remove is allowed"):
        regressor(relation="replace-one").fit(x, y)


def test_a_certificate_is_never_that_of_another_run() -> None:
    """A stream's models stay under the budget of its first batch, whatever the parameters say meanwhile."""
    x, y = data(40, 0)
    model = regressor(epsilon=10.0).partial_fit(x, y)
    promised = model.certificate_
    model.set_params(epsilon=0.5).partial_fit(x, y)
    assert model.certificate_ == promised
    assert model.model_.params["epsilon"] == promised.claimed.epsilon == 10.0
    model.fit(x, y)
    assert model.model_.params["epsilon"] == model.certificate_.claimed.epsilon == 0.5


def test_a_stream_never_goes_on_with_fresh_accounts() -> None:
    """In a copy nobody knows what an id has spent: it must not be able to spend all of it again."""
    x, y = data(40, 0)
    stream = regressor().partial_fit(x, y, ids=range(40))
    for fitted in (pickle.loads(pickle.dumps(stream)), copy.deepcopy(copy.deepcopy(stream))):
        with pytest.raises(InvalidParameter, match="what each id has spent is not known here"):
            fitted.partial_fit(x, y, ids=range(40))
    assert clone(stream).partial_fit(x, y).model_ is not None
    assert len(stream.fit(x, y).partial_fit(x, y).private_budget_report()) == 40


def test_an_interrupted_first_batch_does_not_release_the_initial_score_again() -> None:
    x, y = data(40, 0)
    model = regressor()
    with pytest.raises(InvalidRecords):
        model.partial_fit(x, y, ids=[0] * 40)
    stream = model.private_stream_
    with pytest.raises(KeyboardInterrupt), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sgbdt.Training, "grow", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        model.partial_fit(x, y, ids=range(40))
    model.partial_fit(x, y, ids=range(40))
    assert [line["name"].split("/")[-1] for line in stream.transcript()].count("count") == 1


def test_classes_on_a_stream() -> None:
    x, y = data(60, 1)
    labels = np.where(y > 0.3, "c", np.where(y > -0.3, "b", "a"))
    model = SGBDTClassifier(**SMALL, classes=["a", "b", "c"]).partial_fit(x, labels, ids=range(60))
    model.partial_fit(x[:5], labels[:5], ids=range(60, 65))
    assert model.predict_proba(x).shape == (60, 3)
    assert np.allclose(model.predict_proba(x).sum(axis=1), 1)


@pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")
@parametrize_with_checks([SGBDTClassifier(trees=5, depth=2), SGBDTRegressor(trees=5, depth=2)])
def test_is_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)
