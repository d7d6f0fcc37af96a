"""Small things that scikit-learn's users do: grids made by numpy, data frames whose columns are numbers or dates."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV

from refdp.accounting.budget import PrivacyBudget
from refdp.data.records import Interval, Numeric, Schema
from refdp.engines.frames import labels as partition_labels
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.faces.estimators import DPBoostClassifier, DPBoostRegressor, FedGBDTRegressor
from refdp.faces.seeds import ReproducibleSeed
from refdp.ledger import proved

pytestmark = pytest.mark.filterwarnings("ignore:insecure_seed:refdp.errors.PrivacyWarning")

GENERATOR = np.random.default_rng(0)
X = GENERATOR.random((60, 2))
Y = X[:, 0]


def regressor(**settings: object) -> DPBoostRegressor:
    """Everything public is given, so that no warning is due."""
    given = {"epsilon": 5.0, "relation": "add-remove", "bounds": {0: (0, 1), 1: (0, 1)}, "label_bounds": (0, 1)}
    return DPBoostRegressor(**(given | {"trees": 2, "depth": 2, "insecure_seed": ReproducibleSeed(0)} | settings))


def test_a_grid_of_numpy_numbers() -> None:
    grid = {"trees": np.arange(2, 5), "epsilon": np.array([1.0, 2.0])}
    assert GridSearchCV(regressor(), grid, cv=2).fit(X, Y).best_params_.keys() == grid.keys()
    plain = regressor(trees=3).fit(X, Y).predict(X)
    np.testing.assert_array_equal(regressor(trees=np.int64(3)).fit(X, Y).predict(X), plain)


@pytest.mark.parametrize("bounds", [(Decimal(-100), Decimal(100)), (Fraction(-100), 100), (np.float16(-100), 100.0)])
def test_two_numbers_of_any_kind_are_a_range(bounds: Any) -> None:
    """They were two categories, and all other numbers missing values."""
    x = np.linspace(-200, 200, 60)[:, None]
    model = DPBoostRegressor(bounds={"x0": bounds}, label_bounds=(0, 1), relation="add-remove", trees=1, depth=1)
    assert model.fit(x, np.linspace(0, 1, 60)).model_.schema.features == (Numeric("x0", -100.0, 100.0),)


@pytest.mark.parametrize("bounds", [(-100, 10**5000), (-100 + 0j, 100 + 0j), (Fraction(0), Fraction(10**400))])
def test_two_numbers_that_are_no_range_are_refused(bounds: Any) -> None:
    given: dict[str, Any] = {"relation": "add-remove", "trees": 1, "depth": 1}
    for feature, label in ((bounds, (0, 1)), ((0, 1), bounds)):
        with pytest.raises(InvalidParameter, match=r"bounds|label"):
            DPBoostRegressor(bounds={"x0": feature}, label_bounds=label, **given).fit(np.zeros((9, 1)), np.zeros(9))


class Cheap(float):
    """Equals its number, and calculates in its own way."""

    def __mul__(self, other: Any) -> float:
        return float(self) * other / 1000

    __rmul__ = __mul__


def test_a_fit_with_a_number_of_another_class_leaves_nothing_behind() -> None:
    """Another trainer's fit with the number that it equals found what had been calculated with it."""
    given: dict[str, Any] = {"bounds": {"x0": (0, 1)}, "label_bounds": (0, 1), "relation": "add-remove", "trees": 1}
    x, y = np.linspace(0, 1, 60)[:, None], np.linspace(0, 1, 60)
    found = [FedGBDTRegressor(epsilon=one, **given).fit(x, y).certificate_ for one in (Cheap(0.875), 0.875)]
    assert found[0] == found[1] and found[1].established.epsilon == pytest.approx(0.875, rel=1e-3)
    assert proved.running("fedgbdt") == ""


def test_columns_that_are_numbers_are_called_by_them() -> None:
    plain = regressor().fit(X, Y).predict(X)
    np.testing.assert_array_equal(regressor().fit(pd.DataFrame(X), Y).predict(pd.DataFrame(X)), plain)
    years = pd.DataFrame(X, columns=[2020, 2021])
    model = regressor(bounds={2020: (0, 1), 2021: (0, 1)}).fit(years, Y)
    assert model.model_.schema.names == ("2020", "2021")


def test_dates_are_refused_as_what_is_no_number() -> None:
    dates = pd.DataFrame({"a": X[:, 0], "b": pd.Timestamp("2020-01-01")})
    model = DPBoostClassifier(relation="add-remove", bounds={"a": (0, 1), "b": (0, 1)}, classes=[False, True])
    for frame in (dates, dates[["b"]], dates[["b"]].astype("M8[ns]")):
        budget = PrivacyBudget(5.0)
        model.set_params(budget=budget, bounds=dict.fromkeys(frame, (0, 1)))
        with pytest.raises(InvalidRecords):
            model.fit(frame, Y > 0.5)
        assert budget.spent() == 0.0
    model.set_params(budget=None).fit(pd.DataFrame({"b": X[:, 1]}), Y > 0.5)
    with pytest.raises(InvalidRecords, match="an array of dates"):
        model.predict(dates[["b"]])


def test_labels_in_a_column_are_taken_with_scikit_learns_warning() -> None:
    plain = regressor().fit(X, Y).predict(X)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        np.testing.assert_array_equal(regressor().fit(X, Y[:, None]).predict(X), plain)


# --- What is refused before anything is charged -----------------------------------------------------------------------


def classifier(**settings: Any) -> DPBoostClassifier:
    given: dict[str, Any] = {"relation": "add-remove", "bounds": {0: (0, 1), 1: (0, 1)}, "classes": [0, 1]}
    return DPBoostClassifier(**(given | {"trees": 2, "depth": 2} | settings))


ZEROS_AND_ONES = (Y > 0.5).astype(int)
KINDS: dict[str, tuple[Any, Any, str]] = {
    "texts listed": (["0", "1"], ZEROS_AND_ONES, "y holds numbers, classes lists texts"),
    "numbers listed": ([0, 1], ZEROS_AND_ONES.astype(str), "y holds texts, classes lists numbers"),
    "objects": ([0, 1], pd.Series(["0", 1.0] * 30, dtype=object), "y holds texts, classes lists numbers"),
    "truth values": ([0, 1], Y > 0.5, "y holds truth values, classes lists numbers"),
    "bytes": (["0", "1"], ZEROS_AND_ONES.astype("S"), "y holds bytes, classes lists texts"),
    "dates": ([0, 1], ZEROS_AND_ONES.astype("M8[D]"), "y holds datetime64, classes lists numbers"),
    "masked": ([0, 1], np.ma.masked_equal(ZEROS_AND_ONES, 1), "a label is missing"),
}


@pytest.mark.parametrize(("classes", "y", "message"), KINDS.values(), ids=KINDS.keys())
def test_labels_of_another_kind_than_the_classes_are_refused(classes: Any, y: Any, message: str) -> None:
    """No prediction would equal its label."""
    budget = PrivacyBudget(5.0)
    with pytest.raises(InvalidRecords, match=message):
        classifier(classes=classes, budget=budget).fit(X, y)
    assert budget.spent() == 0.0


@pytest.mark.parametrize("kind", [np.int8, np.float32, object, "Int64", "category"])
def test_labels_of_the_same_kind_are_predicted_as_they_are(kind: Any) -> None:
    y = pd.Series(ZEROS_AND_ONES).astype(kind)
    model = classifier(epsilon=1e4, trees=20, insecure_seed=ReproducibleSeed(0)).fit(X, y)
    assert (model.predict(X) == ZEROS_AND_ONES).mean() > 0.9
    assert model.classes_.tolist() == [0, 1]


DAYS = pd.to_datetime(["2020-01-01", "2021-01-01"])
CLASSES: tuple[tuple[Any, str], ...] = (
    ([None, 0, 1], "a missing value or an empty text is no class"),
    ([0, 1, float("nan")], "a missing value or an empty text is no class"),
    (["", "a"], "a missing value or an empty text is no class"),
    ([0, "a"], "numbers and texts given, texts or numbers are needed"),
    ([b"a", b"b"], "bytes given, texts or numbers are needed"),
    ([], "at least two different labels are needed"),
    ([1, 1.0], "at least two different labels are needed"),
    ("ab", "a list of labels is needed"),
    (5, "a list of labels is needed"),
    ({0: 1, 1: 2}, "a list of labels is needed"),
    ([[0], [1]], "a list of labels is needed"),
    (np.eye(2), "a list of labels is needed"),
    (DAYS, "dates or times are no classes; give them as texts, or as numbers"),
    (DAYS.to_period("M"), "dates or times are no classes; give them as texts, or as numbers"),
    (list(DAYS), "dates or times are no classes; give them as texts, or as numbers"),
)


@pytest.mark.parametrize(("classes", "message"), CLASSES, ids=lambda one: str(one)[:20])
def test_classes_that_are_none(classes: Any, message: str) -> None:
    """Said before the records are looked at: there is no label at all here."""
    with pytest.raises(InvalidParameter, match=f"^classes = .*{message}$"):
        classifier(classes=classes).fit([["no", "table"]], [object()])


def test_other_parameters_that_are_none() -> None:
    for settings, message in (
        ({"epsilon": None}, "^epsilon = None: a finite number > 0 is allowed$"),
        ({"bounds": pd.DataFrame(X)}, r"^bounds = a DataFrame: \{column: \(low, high\)"),
        ({"bounds": [(0, 1)]}, r"^bounds = \[\(0, 1\)\]: \{column: \(low, high\)"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            classifier(**settings).fit(X, ZEROS_AND_ONES)
    with pytest.raises(InvalidParameter, match="label_bounds"):
        regressor(label_bounds=(0, 1, 2)).fit([["no", "table"]], [0])
    with pytest.raises(InvalidRecords, match="a label is no number"):
        regressor().fit(X, ZEROS_AND_ONES.astype("M8[D]"))


@pytest.mark.filterwarnings("ignore:the classes were taken from the data")
@pytest.mark.parametrize("y", [["patient-4711"] * 60, ["patient-4711", np.inf] * 30, [b"patient-4711", b"a"] * 30])
def test_no_message_quotes_a_label(y: Any) -> None:
    with pytest.raises(InvalidRecords) as caught:
        classifier(classes=None).fit(X, np.array(y, dtype=object))
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize("odd", ["patient-4711", b"no 4711", 4711j, 10**400, [4711], pd.Timestamp("2020")], ids=repr)
def test_no_error_of_a_regression_leads_to_a_label(odd: Any) -> None:
    """What Python says of it is not even beside the error."""
    y = np.empty(60, dtype=object)
    y[:] = [*Y[:-1], odd]
    with pytest.raises(InvalidRecords, match=r"^a label is no number; every record needs a finite label$") as caught:
        regressor().fit(X, y)
    assert caught.value.__context__ is None
    with pytest.raises(InvalidRecords, match=r"^a label is no number; every record needs a finite label$") as caught:
        partition_labels(y, Schema((Numeric("a", 0, 1),), Interval(0, 1)))
    assert caught.value.__context__ is None


@pytest.mark.filterwarnings("ignore:the classes were taken from the data")
@pytest.mark.parametrize("y", [DAYS, DAYS.astype(object), DAYS.to_period("M"), DAYS.tz_localize("UTC"), DAYS - DAYS[0]])
def test_dates_are_no_labels(y: Any) -> None:
    with pytest.raises(InvalidRecords, match=r"^y holds dates or times; give labels as texts, or as numbers$"):
        classifier(classes=None).fit(X, y.repeat(30))


def test_columns_called_by_numbers_are_held_to_their_names() -> None:
    """scikit-learn compares texts alone; positions would be read for names."""
    frame = pd.DataFrame(X)
    for model in (regressor().fit(frame, Y), regressor().fit(X, Y)):
        np.testing.assert_array_equal(model.predict(frame), model.predict(X))
        with pytest.raises(InvalidRecords, match="the columns of X are not those that the model was fitted on"):
            model.predict(frame[[1, 0]])
        with pytest.raises(ValueError, match=r"features|columns"):
            model.predict(frame[[0]])
    model.fit(frame.set_axis([1, 0], axis=1), Y)
    assert model.model_.schema.names == ("1", "0")
    with pytest.raises(InvalidRecords, match="names of one kind are needed"):
        regressor(bounds={"a": (0, 1), 1: (0, 1)}).fit(frame.set_axis(["a", 1], axis=1), Y)


def test_what_is_missing_among_objects_is_missing() -> None:
    holes = pd.DataFrame(np.where(X > 0.9, np.nan, X))
    plain = regressor().fit(holes, Y).predict(holes)
    for other in (holes.astype(object).where(holes.notna(), pd.NA), holes.astype("Float64"), holes.astype(str).where(
        holes.notna(), None)):  # fmt: skip
        np.testing.assert_array_equal(regressor().fit(other, Y).predict(other), plain)
