"""The estimators: what they keep, what they say aloud, what they accept, and how they refuse."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import cross_val_score

from refdp.errors import InvalidParameter, InvalidRecords, PrivacyWarning
from refdp.faces.estimators import DPBoostClassifier, DPBoostRegressor
from refdp.faces.estimators.labels import check_kind, public_classes
from refdp.faces.prediction import cut_probabilities, mean_probabilities, odds_probabilities
from refdp.faces.seeds import ReproducibleSeed
from refdp.io import datasets
from refdp.io.cells import text_of

pytestmark = pytest.mark.filterwarnings("ignore:insecure_seed:refdp.errors.PrivacyWarning")

SMALL: dict[str, Any] = {"trees": 4, "depth": 2, "bins": 8, "relation": "add-remove"}
BOUNDS = {0: (0.0, 1.0), 1: (0.0, 1.0)}


def classifier(**changes: Any) -> DPBoostClassifier:
    given = {**SMALL, "bounds": BOUNDS, "classes": ["no", "yes"], "insecure_seed": ReproducibleSeed(0)}
    return DPBoostClassifier(**{**given, **changes})


def regressor(**changes: Any) -> DPBoostRegressor:
    return DPBoostRegressor(
        **SMALL | {"bounds": BOUNDS, "label_bounds": (0.0, 10.0), "insecure_seed": ReproducibleSeed(0)} | changes
    )


def records(rows: int = 40) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(1).random((rows, 2))
    return x, np.where(x[:, 0] > 0.5, "yes", "no")


def frame() -> tuple[pd.DataFrame, np.ndarray]:
    people = pd.DataFrame(
        {
            "age": [20.0, 30.0, np.nan, 60.0, 25.0, 71.0],
            "work": pd.Categorical(["shop", "farm", None, "farm", "shop", "ship"]),
            "town": ["a", "b", "a", None, "b", "a"],
            "floor": pd.array([1, 2, None, 2, 1, 2], dtype="Int64"),
        }
    )
    return people, np.array([1, 0, 1, 0, 1, 0])


TABLE_BOUNDS = {"age": (0, 120), "work": ["shop", "farm"], "town": ["a", "b"], "floor": [1, 2, 3]}


# --- Nothing private stays -------------------------------------------------------------------------------------------


def leaked(estimator: Any, x: np.ndarray, y: np.ndarray) -> int:
    """How many private numbers occur in the pickled estimator, as eight bytes or as text."""
    state, text = pickle.dumps(estimator), repr(vars(estimator)) + estimator.model_.to_json()
    numbers = np.concatenate([x.ravel(), y.ravel()])
    big_endian = [float(number).hex() for number in numbers]  # distinct values, so a hit is no accident
    assert len(set(big_endian)) == len(numbers)
    return sum(
        np.float64(v).tobytes() in state or np.float64(v).tobytes()[::-1] in state or repr(float(v)) in text
        for v in numbers
    )


def test_no_record_stays_in_the_fitted_object() -> None:
    x, _ = records()
    y = np.random.default_rng(2).random(40) * 10
    assert leaked(regressor().fit(x, y), x, y) == 0


def test_the_search_for_records_finds_those_of_a_published_run() -> None:
    """Split candidates taken from the data put values of records into the model."""
    x, _ = records()
    y = np.random.default_rng(2).random(40) * 10
    assert leaked(regressor(as_published=True).fit(x, y), x, y) > 0


def test_the_transcript_shows_outputs_only() -> None:
    fitted = classifier().fit(*records())
    assert {key for line in fitted.transcript_ for key in line} == {"name", "kind", "output"}
    assert [line["name"] for line in fitted.transcript_ if line["name"].endswith("leaves")]
    assert not [line for line in fitted.transcript_ if line["kind"] == "assign"]


# --- What is not given is said aloud ---------------------------------------------------------------------------------


def test_nothing_is_warned_about_when_everything_is_given() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = classifier(insecure_seed=None).fit(*records())
    assert fitted.certificate_.established.epsilon == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"relation": None}, "relation not given"),
        ({"bounds": None}, "bounds of x0, x1 were taken from the data"),
        ({"bounds": {0: (0, 1)}}, "bounds of x1 were taken from the data"),
        ({"classes": None}, "classes were taken from the data"),
    ],
)
def test_what_is_not_given_brings_a_privacy_warning(changes: dict[str, Any], said: str) -> None:
    with pytest.warns(PrivacyWarning, match=said):
        fitted = classifier(**changes).fit(*records())
    taken_from_data = "relation" not in changes
    assert np.isinf(fitted.certificate_.established.epsilon) == taken_from_data
    assert any("taken from the data" in note for note in fitted.certificate_.notes) == taken_from_data


def test_a_label_range_from_the_data_brings_a_privacy_warning() -> None:
    x, _ = records()
    with pytest.warns(PrivacyWarning, match="label range was taken from the data"):
        fitted = regressor(label_bounds=None).fit(x, np.arange(40.0))
    assert np.isinf(fitted.certificate_.established.epsilon)


# --- Tables -----------------------------------------------------------------------------------------------------------


def test_data_frames_with_categories_and_missing_values() -> None:
    people, label = frame()
    fitted = classifier(bounds=TABLE_BOUNDS, classes=[0, 1], epsilon=1e6, bins=4).fit(people, label)
    assert list(fitted.feature_names_in_) == ["age", "work", "town", "floor"]
    assert [getattr(f, "categories", None) for f in fitted.model_.schema.features] == [
        None,
        ("shop", "farm"),
        ("a", "b"),
        ("1", "2", "3"),
    ]
    assert set(fitted.predict(people)) <= {0, 1}
    assert fitted.classes_.tolist() == [0, 1]


def test_an_unknown_category_counts_as_missing() -> None:
    people, label = frame()
    fitted = classifier(bounds=TABLE_BOUNDS, classes=[0, 1], epsilon=1e6, bins=4).fit(people, label)
    unknown, missing = people.assign(work="moon"), people.assign(work=None)
    np.testing.assert_array_equal(fitted.decision_function(unknown), fitted.decision_function(missing))


def test_plain_arrays_of_objects_with_categories() -> None:
    people, label = frame()
    plain = people.astype(object).where(people.notna(), None).to_numpy()
    by_position = dict(enumerate(TABLE_BOUNDS.values()))
    fitted = classifier(bounds=by_position, classes=[0, 1]).fit(plain, label)
    table = classifier(bounds=TABLE_BOUNDS, classes=[0, 1]).fit(people, label)
    np.testing.assert_array_equal(fitted.decision_function(plain), table.decision_function(people))


def test_categories_are_found_in_a_data_frame_without_bounds() -> None:
    people, label = frame()
    with pytest.warns(PrivacyWarning, match="bounds of age, work, town, floor"):
        fitted = classifier(bounds=None, classes=[0, 1]).fit(people, label)
    assert fitted.model_.schema.features[1].categories == ("farm", "ship", "shop")


def test_values_outside_their_bounds_are_clamped_silently() -> None:
    x, y = records()
    outside = x.copy()
    outside[:5] += 1e6
    clamped = np.clip(outside, 0, 1)
    assert classifier().fit(outside, y).model_.to_json() == classifier().fit(clamped, y).model_.to_json()
    fitted = classifier().fit(x, y)
    np.testing.assert_array_equal(fitted.decision_function(outside), fitted.decision_function(clamped))


def test_labels_outside_their_range_are_clamped_silently() -> None:
    x, _ = records()
    y = np.linspace(-5, 15, 40)
    assert regressor().fit(x, y).model_.to_json() == regressor().fit(x, np.clip(y, 0, 10)).model_.to_json()


# --- Randomness and readings -----------------------------------------------------------------------------------------


def test_a_seed_repeats_a_run_and_no_seed_does_not() -> None:
    def model(number: int | None) -> str:
        seed = None if number is None else ReproducibleSeed(number)
        return str(classifier(insecure_seed=seed).fit(*records()).model_.to_json())

    assert model(3) == model(3)
    assert model(3) != model(4)
    assert model(None) != model(None)


def test_as_published_changes_the_readings_that_were_not_given() -> None:
    published = classifier(as_published=True, candidates="uniform", blocks="independent").fit(*records())
    assert published.model_.params["constants"] == "published"
    assert published.model_.params["candidates"] == "uniform"
    assert published.certificate_.established.epsilon > 1.0
    assert "constants" not in classifier().fit(*records()).model_.params


def test_discrete_noise_trains() -> None:
    fitted = classifier(noise="discrete", insecure_seed=None).fit(*records())
    assert fitted.certificate_.releases[-1].mechanism.startswith("DiscreteLaplace")


@pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")
def test_without_privacy_it_learns() -> None:
    """A bound that noise or a broken label would miss: the majority class has an error of about 0.37."""
    data = datasets.load("breast_cancer")
    bare = DPBoostClassifier(scheme="np", depth=3, insecure_seed=ReproducibleSeed(0))
    assert cross_val_score(bare, data.x, data.labels().astype(str), cv=3).mean() > 0.9
    sugar = datasets.load("diabetes")
    bare_regressor = DPBoostRegressor(scheme="np", depth=3, settings="paper", insecure_seed=ReproducibleSeed(0))
    assert cross_val_score(bare_regressor, sugar.x, sugar.y, cv=3).mean() > 0.3


def test_several_classes() -> None:
    x, _ = records(90)
    y = np.digitize(x[:, 1], [1 / 3, 2 / 3]) * 10
    fitted = classifier(classes=[20, 0, 10], scheme="np", trees=20).fit(x, y)
    assert fitted.classes_.tolist() == [0, 10, 20]
    assert (fitted.predict(x) == y).mean() > 0.8
    np.testing.assert_allclose(fitted.predict_proba(x).sum(axis=1), 1)


def test_clone_keeps_every_parameter() -> None:
    seed = ReproducibleSeed(0)
    original = classifier(epsilon=3.5, insecure_seed=seed)
    assert clone(original).get_params() == original.get_params()


# --- Probabilities ---------------------------------------------------------------------------------------------------

scores = arrays(np.float64, (3, 4), elements=st.floats(-1e3, 1e3, allow_subnormal=False))


@pytest.mark.parametrize("link", [mean_probabilities, odds_probabilities, cut_probabilities])
@given(scores)
def test_no_class_is_certain_and_the_greatest_score_is_likeliest(link: Any, score: np.ndarray) -> None:
    found = link(score)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-9)
    assert ((found > 0) & (found < 1)).all()
    best = np.take_along_axis(found, score.argmax(axis=1)[:, None], axis=1)[:, 0]
    assert (best == found.max(axis=1)).all()


@given(arrays(np.float64, (5, 1), elements=st.floats(-1e3, 1e3)))
def test_two_classes_have_the_probability_that_a_mean_of_labels_says(score: np.ndarray) -> None:
    """(s + 1) / 2 up to .9, never 0 or 1, the same from both sides, and greater for greater scores."""
    p = mean_probabilities(score)[:, 1]
    inside = np.abs(score[:, 0]) <= 0.9
    np.testing.assert_allclose(p[inside], (score[inside, 0] + 1) / 2, atol=1e-12)
    assert ((p > 0) & (p < 1)).all()
    assert (np.diff(p[np.argsort(score[:, 0])]) >= 0).all()
    np.testing.assert_allclose(mean_probabilities(-score)[:, 1], 1 - p, atol=1e-12)
    assert mean_probabilities(np.array([[2.0]]))[0, 1] < mean_probabilities(np.array([[3.0]]))[0, 1]


def test_noisy_scores_are_not_taken_for_certainty() -> None:
    """Scores with noise of deviation .5: the log loss stays near that of the best link, where clipping has none."""
    generator = np.random.default_rng(0)
    p = generator.random(20_000)
    y = generator.random(20_000) < p
    score = (2 * p - 1 + generator.normal(0, 0.5, 20_000))[:, None]
    clipped = np.clip((score[:, 0] + 1) / 2, 0, 1)
    assert (y[(clipped == 0) | (clipped == 1)] != (clipped[(clipped == 0) | (clipped == 1)] == 1)).any()
    own = mean_probabilities(score)[np.arange(20_000), y.astype(int)]
    assert -np.log(own).mean() < 0.9


# --- Bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0, -1.0, float("nan"), float("inf"), "much", True])
def test_a_bad_epsilon_is_refused_before_any_record_is_touched(epsilon: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"epsilon = .*: a finite number > 0 is allowed"):
        classifier(epsilon=epsilon).fit("no records at all", None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"relation": "sideways"}, "relation = 'sideways': add-remove or replace-one is allowed"),
        ({"bounds": {0: (1.0, 0.0), 1: (0, 1)}}, r"bounds of 'x0': \[1.0, 0.0\] given, finite low <= high allowed"),
        ({"bounds": {0: (0.0, np.inf), 1: (0, 1)}}, "finite low <= high allowed"),
        ({"bounds": {"height": (0, 1)}}, "bounds of 'height': there is no such column; there are x0, x1"),
        ({"bounds": {0: 3, 1: (0, 1)}}, "bounds of 'x0': 3 given"),
        ({"bounds": {0: "ab", 1: (0, 1)}}, "bounds of 'x0': 'ab' given"),
        ({"depth": 0}, "depth = 0: a whole number from 1 to 16 is allowed"),
        ({"trees": 2.5}, "trees = 2.5: a whole number"),
        ({"insecure_seed": 71}, r"insecure_seed of type int: None or refdp.ReproducibleSeed\(number\) is allowed"),
        ({"insecure_seed": np.random.RandomState(3)}, "insecure_seed of type RandomState"),
    ],
)
def test_bad_parameters_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        classifier(**changes).fit(*records())


@pytest.mark.parametrize("bounds", [(1.0, 1.0), (2.0, 1.0), (0.0, np.nan), 3, ("a", "b"), (1, 2, 3)])
def test_bad_label_bounds_are_refused(bounds: Any) -> None:
    x, _ = records()
    with pytest.raises(InvalidParameter, match="label"):
        regressor(label_bounds=bounds).fit(x, np.arange(40.0))


def changed(position: tuple[int, int], value: float) -> np.ndarray:
    x, _ = records()
    x[position] = value
    return x


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (changed((3, 1), np.inf), records()[1], "feature 'x1' holds an infinite value"),
        (changed((3, 1), -np.inf), records()[1], "feature 'x1' holds an infinite value"),
        (
            records()[0],
            np.array([None, *records()[1][1:]], dtype=object),
            "a label is missing or not in the public classes",
        ),
        (records()[0], np.full(40, np.nan), "y holds numbers, classes lists texts: give both as the same kind"),
        (
            records()[0],
            np.array(["maybe", *records()[1][1:]]),
            r"a label is .* not in the public classes \['no', 'yes'\]; every",
        ),
        (records()[0][:0], records()[1][:0], "0 records given, at least 1 is needed"),
        (records()[0], records()[1][:7], r"features of shape \(40, 2\) and labels of shape \(7,\)"),
        (records()[0], None, "requires y to be passed"),
    ],
)
def test_bad_records_are_refused(x: np.ndarray, y: Any, message: str) -> None:
    with pytest.raises(InvalidRecords, match=message):
        classifier().fit(x, y)


@pytest.mark.parametrize("classes", [[-1, 2**63, 2**63 + 1], [-1, 2**63 + 1], [2**53, 2**53 + 1, 0.5]])
def test_whole_numbers_that_an_array_would_round_are_no_classes(classes: list[Any]) -> None:
    with pytest.raises(InvalidParameter, match="whole numbers that floats round"):
        public_classes(classes)


def test_whole_numbers_that_an_array_keeps_are_classes() -> None:
    for kept in (
        [2**63, 2**63 + 1],
        [7, 2**63 + 5],
        [-1, 2**62 + 1],
        [2**64 + 1, 1],
        [0.5, 2**52],
        [False, True],
        [1, 2.0, np.int8(3)],
    ):
        assert [*map(text_of, public_classes(kept))] == [*map(text_of, sorted(kept))]


@pytest.mark.parametrize(
    ("classes", "kind"),
    [([2**53, 2**53 + 1, 1], np.float64), ([2**24, 2**24 + 1], np.float32), ([10**400, 10**400 + 1], np.float64)],
)
def test_floats_in_which_two_classes_are_one_number_are_no_labels(classes: list[Any], kind: Any) -> None:
    """Records of one class trained another, without a word."""
    known, y = public_classes(classes), np.ones(3, dtype=kind)
    with pytest.raises(InvalidRecords, match="rounds different public classes"):
        check_kind(y, known)
    check_kind(np.array(classes, dtype=known.dtype), known)
    check_kind(y, public_classes([0, 1, 2**53 + 1]))
    x, _ = records()
    with pytest.raises(InvalidRecords, match="a list with one float in it is one of floats"):
        classifier(classes=[2**53, 2**53 + 1]).fit(x, [2**53, 2**53 + 1, *[1.0] * (len(x) - 2)])


@pytest.mark.parametrize("classes", [["no", "yes"], [1, 2]])
def test_labels_that_scikit_learn_numbered_are_refused_with_what_to_do(classes: list[Any]) -> None:
    x, y = records()
    named = VotingClassifier([("one", classifier(classes=classes))])
    with pytest.raises(
        InvalidRecords, match=r"numbers too, .* renames all others: fit .* on the labels themselves"
    ) as one:
        named.fit(x, np.where(y == "yes", classes[1], classes[0]))
    assert "range" not in str(one.value)  # which is renumbered as well, without a word
    with pytest.raises(InvalidRecords) as other:
        classifier(classes=range(2)).fit(x, (y == "yes") + 1)
    assert "VotingClassifier" not in str(other.value)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_label_that_is_no_number_is_refused(value: float) -> None:
    x, _ = records()
    with pytest.raises(InvalidRecords, match="a label is NaN or infinite; every record needs a finite label"):
        regressor().fit(x, np.array([value, *range(39)]))


def test_one_class_is_refused_only_where_classes_come_from_the_data() -> None:
    """Whether the records hold every public class is private, so it must not decide anything."""
    x, _ = records()
    with pytest.raises(InvalidRecords, match="y holds 1 class; at least two are needed"):
        classifier(classes=None).fit(x, ["yes"] * 40)
    with pytest.raises(InvalidParameter, match="at least two different labels are needed"):
        classifier(classes=["yes"]).fit(x, ["yes"] * 40)
    assert set(classifier().fit(x, ["yes"] * 40).predict(x)) <= {"no", "yes"}


def test_one_row_trains_with_public_bounds() -> None:
    x, y = records()
    assert len(classifier().fit(x[:1], y[:1]).predict(x)) == 40
    with pytest.raises(InvalidRecords, match="no label range can be read off 1 sample of one value"):
        regressor(label_bounds=None).fit(x[:1], [3.0])
    with pytest.raises(InvalidRecords, match=r"^no label range can be read off labels that are so far apart; give"):
        regressor(label_bounds=None).fit(x[:2], [-1.5e308, 1.25e308])


def test_wrong_columns_at_predict_are_refused() -> None:
    fitted = classifier().fit(*records())
    with pytest.raises(ValueError, match="X has 3 features, but DPBoostClassifier is expecting 2 features"):
        fitted.predict(np.zeros((2, 3)))
    with pytest.raises(InvalidRecords, match="feature 'x0' holds an infinite value"):
        fitted.predict(np.full((2, 2), np.inf))
    people, label = frame()
    table = classifier(bounds=TABLE_BOUNDS, classes=[0, 1]).fit(people, label)
    with pytest.raises(ValueError, match="feature names should match"):
        table.predict(people.rename(columns={"age": "years"}))


def test_a_column_named_twice_is_refused() -> None:
    people, label = frame()
    with pytest.raises(InvalidRecords, match="column 'age' occurs more than once"):
        classifier(bounds=None).fit(pd.concat([people, people[["age"]]], axis=1), label)
