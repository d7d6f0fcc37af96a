"""InPrivateClassifier and InPrivateRegressor: owners given as groups."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, cross_val_score

from refdp.errors import InvalidParameter, InvalidRecords, PrivacyWarning, UtilityWarning
from refdp.faces.estimators import InPrivateClassifier, InPrivateRegressor
from refdp.faces.monotone import NOTE
from refdp.faces.seeds import ReproducibleSeed
from refdp.protocols.quality import Control

pytestmark = pytest.mark.filterwarnings("ignore:insecure_seed:refdp.errors.PrivacyWarning")

GENERATOR = np.random.default_rng(0)
X = GENERATOR.random((2000, 3))
Y = np.where(X[:, 0] + 0.2 * GENERATOR.standard_normal(2000) > 0.5, "yes", "no")
OWNERS = ["ann", "bob", "cyd", "dan"]
GROUPS_AS_NUMBERS = np.arange(2000) % 4
GROUPS = np.array(OWNERS)[GROUPS_AS_NUMBERS]
PUBLIC = {"relation": "add-remove", "bounds": {f"x{i}": (0, 1) for i in range(3)}}


def classifier(**changes: Any) -> InPrivateClassifier:
    given = {**PUBLIC, "insecure_seed": ReproducibleSeed(0), "classes": ["no", "yes"], **changes}
    return InPrivateClassifier(**given)


@pytest.mark.parametrize("rounds", [1, 2])
def test_owners_given_as_groups_train_in_turn(rounds: int) -> None:
    model = classifier(rounds=rounds, owners=OWNERS).fit(X, Y, groups=GROUPS)
    assert model.score(X, Y) > 0.75
    assert (
        len(model.model_.outputs[0].trees)
        == 4 * rounds
        == sum(entry["name"].endswith("leaves") for owner in model.transcript_ for entry in owner)
    )
    assert 0.8 < model.certificate_.established.epsilon <= 1 + 1e-9
    assert ("inprivate/algorithm-2", "CONDITIONAL") in model.certificate_.claims
    assert all(json.loads(data)["message"]["run"] for data in model.messages_)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_an_owner_s_trees_do_not_depend_on_the_records_after_it() -> None:
    """The first owner's tree is the same whatever the other owners hold."""
    other = np.where(GROUPS == "ann", X[:, 0], 1 - X[:, 0])
    changed = np.column_stack([other, X[:, 1:]])
    first, second = (classifier(owners=OWNERS).fit(x, Y, groups=GROUPS).model_.outputs[0].trees for x in (X, changed))
    assert np.array_equal(first[0].leaves, second[0].leaves) and not np.array_equal(first[1].leaves, second[1].leaves)


def test_dealt_owners_and_groups_are_both_one_epsilon() -> None:
    dealt = classifier(owners=4).fit(X, Y)
    assert dealt.score(X, Y) > 0.75 and not hasattr(dealt, "messages_")
    assert dealt.certificate_.established.epsilon == pytest.approx(1.0)


def test_owners_check_each_other() -> None:
    """With 2,000 records some trees are refused by chance; what is kept is not worse than nothing."""
    control = Control(threshold=-1.0, tolerance=0.05)
    model = classifier(rounds=2, epsilon=4.0, owners=OWNERS).fit(X, Y, groups=GROUPS, control=control)
    assert model.score(X, Y) > 0.7 and 3.5 < model.certificate_.established.epsilon <= 4 + 1e-9
    assert any(name == "inprivate/advance-sum" for name, _ in model.certificate_.claims)
    with pytest.raises(InvalidParameter, match="control without groups"):
        classifier().fit(X, Y, control=control)


def test_private_control_uses_the_records_that_no_round_does() -> None:
    """Defaults amplify turns, as some records are in none; private control is measured on just these."""
    fitted = [
        classifier(rounds=2, epsilon=4.0, owners=OWNERS).fit(X, Y, groups=GROUPS, control=control)
        for control in (None, Control(threshold=-1.0))
    ]
    told = [(model.model_.params["turn_budget"], model.certificate_.established.epsilon) for model in fitted]
    assert [one for one, _ in told] == ["amplified", "whole"] and all(3.9 < cost <= 4 + 1e-8 for _, cost in told)
    with pytest.raises(InvalidParameter, match="turn_budget = 'amplified' with private control"):
        classifier(rounds=2, owners=OWNERS, turn_budget="amplified").fit(None, None, groups=GROUPS, control=Control())


def test_regression_by_groups() -> None:
    model = InPrivateRegressor(**{**PUBLIC, "relation": "replace-one"}, label_bounds=(0, 1), epsilon=4.0, owners=OWNERS)
    assert model.fit(X, X[:, 0], groups=GROUPS).score(X, X[:, 0]) > 0.4
    assert model.certificate_.established.epsilon == pytest.approx(4.0)


@pytest.mark.parametrize("given", [{"x0": 1}, [1, 0, 0]])
def test_constraints_hold_by_groups_too(given: Any) -> None:
    """Labels fall in x0, predictions may not; who gives the owners is told of a column that is not there as well."""

    def fitted(**other: Any) -> InPrivateRegressor:
        own = {**PUBLIC, "label_bounds": (0, 1), "epsilon": 20.0, "owners": OWNERS, "rounds": 2, **other}
        return InPrivateRegressor(**own, insecure_seed=ReproducibleSeed(1)).fit(X, 1 - X[:, 0], groups=GROUPS)

    line = np.column_stack([np.linspace(0, 1, 50), np.full((50, 2), 0.5)])
    free, held = fitted(), fitted(monotone_constraints=given)
    assert np.diff(free.predict(line)).min() < -0.1 and np.diff(held.predict(line)).min() >= 0
    assert held.certificate_.notes == (NOTE.format(names="x0"),) and not free.certificate_.notes
    assert held.messages_ == free.messages_ and held.certificate_.established == free.certificate_.established


@pytest.mark.parametrize(
    ("given", "message"),
    [({"x9": 1}, "there is no such column"), ([1], "of 1 signs: there are 3"), ({"x0": 2}, "sign")],
)
def test_constraints_that_are_none_are_refused_by_groups_too(given: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=f"monotone_constraints.*{message}"):
        classifier(owners=OWNERS, monotone_constraints=given).fit(X, Y, groups=GROUPS)


def test_deep_trees_with_constraints_are_refused_by_groups_too() -> None:
    """Before an owner is asked: afterwards which leaves touch would be looked at in matrices of leaves by leaves."""
    deep = classifier(owners=OWNERS, depth=13, rounds=1, monotone_constraints={0: 1})
    with pytest.raises(InvalidParameter, match="depth = 13: at most 12"):
        deep.fit(X, Y, groups=GROUPS)
    assert not hasattr(deep, "transcript_")


def test_where_noise_wins_is_said_by_groups_too() -> None:
    """More owners than records can serve: as for records that are dealt, by the stated number of rows."""
    for rows, fits in ((10**9, True), (np.int64(40), False)):
        model = classifier(owners=OWNERS, rows=rows, epsilon=0.1)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", UtilityWarning)
            model.fit(X, Y, groups=GROUPS)
        assert any(issubclass(one.category, UtilityWarning) for one in said) is not fits


def test_published_constants_by_groups_say_what_does_not_hold() -> None:
    model = classifier(as_published=True, depth=3, owners=OWNERS).fit(X, Y, groups=GROUPS)
    assert model.certificate_.established.epsilon == np.inf and model.certificate_.notes


def test_without_noise_more_owners_learn() -> None:
    assert cross_val_score(classifier(scheme="np", owners=4), X, Y, groups=GROUPS, cv=GroupKFold(4)).mean() > 0.8


@pytest.mark.parametrize("groups", [GROUPS[:-1], 3, np.zeros((2000, 2))])
def test_bad_groups_are_refused(groups: Any) -> None:
    with pytest.raises((InvalidRecords, ValueError), match=r"groups|1d array"):
        classifier(owners=OWNERS).fit(X, Y, groups=groups)


def test_bad_parameters_are_refused_before_any_record() -> None:
    with pytest.raises(InvalidParameter, match="depth = 0"):
        classifier(depth=0, owners=OWNERS).fit(X, Y, groups=GROUPS)


# --- Who the owners are is said, not read off the records -------------------------------------------------------------


def seen(model: InPrivateClassifier) -> tuple[int, int, list[int]]:
    """What the control flow shows: trees, messages, releases of each owner."""
    return len(model.model_.outputs[0].trees), len(model.messages_), [len(entries) for entries in model.transcript_]


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("control", [None, Control(threshold=-0.5)])
def test_an_owner_takes_part_whether_or_not_it_has_records(rounds: int, control: Control | None) -> None:
    """One more record, of an owner that had none, changes neither the trees' nor the messages' number."""
    without = classifier(rounds=rounds, owners=[*OWNERS, "eve"]).fit(X, Y, groups=GROUPS, control=control)
    groups = np.append(GROUPS, "eve")
    one_more = classifier(rounds=rounds, owners=[*OWNERS, "eve"])
    one_more.fit(np.vstack([X, X[:1]]), np.append(Y, "no"), groups=groups, control=control)
    assert seen(without)[1:] == seen(one_more)[1:] and len(without.transcript_) == 5
    if control is None:
        assert seen(without) == seen(one_more) and seen(without)[0] == 5 * rounds
    assert np.isfinite(without.certificate_.established.epsilon)


def test_owners_that_are_not_stated_end_the_guarantee() -> None:
    text = "the owners were taken from groups"
    with pytest.warns(PrivacyWarning, match=text):
        model = classifier().fit(X, Y, groups=GROUPS)
    assert np.isinf(model.certificate_.established.epsilon)
    assert any(text in note for note in model.certificate_.notes)


def test_a_record_of_nobody_that_was_stated_is_refused_before_training() -> None:
    with pytest.raises(InvalidRecords, match="not among the stated owners") as caught:
        classifier(owners=OWNERS).fit(X, Y, groups=np.where(GROUPS == "ann", "secret-4711", GROUPS))
    assert "4711" not in str(caught.value)


def test_the_stated_order_is_the_order_of_turns() -> None:
    one, other = (classifier(owners=names).fit(X, Y, groups=GROUPS) for names in (OWNERS, OWNERS[::-1]))
    assert one.model_.to_json() != other.model_.to_json()


@pytest.mark.parametrize("groups", [GROUPS_AS_NUMBERS, GROUPS_AS_NUMBERS.astype(float), GROUPS_AS_NUMBERS.astype(str)])
def test_owners_are_compared_by_their_text(groups: Any) -> None:
    plain = classifier(owners=[0, 1, 2, 3]).fit(X, Y, groups=GROUPS_AS_NUMBERS)
    assert classifier(owners=["0", 1.0, np.int64(2), 3]).fit(X, Y, groups=groups).messages_ == plain.messages_


@pytest.mark.parametrize("owners", [[], ["ann", "ann"], [1, "1"], [None, "ann"], ["", "ann"], [np.nan]])
def test_bad_lists_of_owners_are_refused(owners: Any) -> None:
    with pytest.raises(InvalidParameter, match="owners"):
        classifier(owners=owners).fit(X, Y, groups=GROUPS)


def test_names_of_owners_need_groups() -> None:
    with pytest.raises(InvalidParameter, match="names in owners without groups"):
        classifier(owners=OWNERS).fit(X, Y)


@pytest.mark.parametrize("missing", [None, np.nan, "", " "])
def test_a_record_without_an_owner_is_refused(missing: Any) -> None:
    groups = GROUPS.astype(object)
    groups[3] = missing
    with pytest.raises(InvalidRecords, match="groups: a name is missing"):
        classifier(owners=OWNERS).fit(X, Y, groups=groups)
    with pytest.raises(InvalidRecords, match="groups: a name is missing"):
        classifier(owners=OWNERS).fit(X, Y, groups=np.ma.masked_array(GROUPS, mask=np.arange(len(Y)) == 3))


def test_owners_in_a_table_of_one_column() -> None:
    plain, column = (classifier(owners=OWNERS).fit(X, Y, groups=one) for one in (GROUPS, pd.DataFrame({"o": GROUPS})))
    assert plain.messages_ == column.messages_


def test_groups_of_another_length_than_the_records_are_told_first() -> None:
    with pytest.raises(InvalidRecords, match=rf"one owner a record is needed: .*samples: \[3, {len(Y)}\]"):
        classifier(owners=OWNERS).fit(X, Y, groups=GROUPS[:3])
