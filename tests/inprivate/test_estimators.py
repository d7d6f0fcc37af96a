"""InPrivateClassifier and InPrivateRegressor: scikit-learn's checks, and owners given as groups."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from refdp.errors import InvalidParameter, InvalidRecords
from refdp.estimators import InPrivateClassifier, InPrivateRegressor
from refdp.papers.inprivate_quality import Control


@pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")
@parametrize_with_checks([InPrivateClassifier(depth=3), InPrivateRegressor(depth=3)])
def test_is_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


GENERATOR = np.random.default_rng(0)
X = GENERATOR.random((2000, 3))
Y = np.where(X[:, 0] + 0.2 * GENERATOR.standard_normal(2000) > 0.5, "yes", "no")
GROUPS = np.array(["ann", "bob", "cyd", "dan"])[np.arange(2000) % 4]
PUBLIC = {"relation": "add-remove", "bounds": {f"x{i}": (0, 1) for i in range(3)}, "random_state": 0}


def classifier(**changes: Any) -> InPrivateClassifier:
    return InPrivateClassifier(**{**PUBLIC, "classes": ["no", "yes"], **changes})


@pytest.mark.parametrize("rounds", [1, 2])
def test_owners_given_as_groups_train_in_turn(rounds: int) -> None:
    model = classifier(rounds=rounds).fit(X, Y, groups=GROUPS)
    assert model.score(X, Y) > 0.75
    assert (
        len(model.model_.outputs[0].trees)
        == 4 * rounds
        == sum(entry["name"].endswith("leaves") for owner in model.transcript_ for entry in owner)
    )
    assert 0.8 < model.certificate_.established.epsilon <= 1 + 1e-9
    assert ("inprivate/owners", "PROVED") in model.certificate_.claims
    assert all(json.loads(data)["message"]["run"] for data in model.messages_)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_an_owner_s_trees_do_not_depend_on_the_records_after_it() -> None:
    """The first owner's tree is the same whatever the other owners hold."""
    other = np.where(GROUPS == "ann", X[:, 0], 1 - X[:, 0])
    changed = np.column_stack([other, X[:, 1:]])
    first, second = (classifier().fit(x, Y, groups=GROUPS).model_.outputs[0].trees for x in (X, changed))
    assert np.array_equal(first[0].leaves, second[0].leaves) and not np.array_equal(first[1].leaves, second[1].leaves)


def test_dealt_owners_and_groups_are_both_one_epsilon() -> None:
    dealt = classifier(owners=4).fit(X, Y)
    assert dealt.score(X, Y) > 0.75 and not hasattr(dealt, "messages_")
    assert dealt.certificate_.established.epsilon == pytest.approx(1.0)


def test_owners_check_each_other() -> None:
    """With 2,000 records some trees are refused by chance; what is kept is not worse than nothing."""
    control = Control(threshold=-1.0, tolerance=0.05)
    model = classifier(rounds=2, epsilon=4.0).fit(X, Y, groups=GROUPS, control=control)
    assert model.score(X, Y) > 0.7 and 3.5 < model.certificate_.established.epsilon <= 4 + 1e-9
    assert any(name == "inprivate/advance-sum" for name, _ in model.certificate_.claims)
    with pytest.raises(InvalidParameter, match="control without groups"):
        classifier().fit(X, Y, control=control)


def test_regression_by_groups() -> None:
    model = InPrivateRegressor(**{**PUBLIC, "relation": "replace-one"}, label_bounds=(0, 1), epsilon=4.0)
    assert model.fit(X, X[:, 0], groups=GROUPS).score(X, X[:, 0]) > 0.4
    assert model.certificate_.established.epsilon == pytest.approx(4.0)


def test_published_constants_by_groups_say_what_does_not_hold() -> None:
    model = classifier(as_published=True, depth=3).fit(X, Y, groups=GROUPS)
    assert model.certificate_.established.epsilon == np.inf and model.certificate_.notes


def test_without_noise_more_owners_learn() -> None:
    assert cross_val_score(classifier(scheme="np", owners=4), X, Y, groups=GROUPS, cv=GroupKFold(4)).mean() > 0.8


@pytest.mark.parametrize("groups", [GROUPS[:-1], 3, np.zeros((2000, 2))])
def test_bad_groups_are_refused(groups: Any) -> None:
    with pytest.raises((InvalidRecords, ValueError), match=r"groups|1d array"):
        classifier().fit(X, Y, groups=groups)


def test_bad_parameters_are_refused_before_any_record() -> None:
    with pytest.raises(InvalidParameter, match="depth = 0"):
        classifier(depth=0).fit(X, Y, groups=GROUPS)
