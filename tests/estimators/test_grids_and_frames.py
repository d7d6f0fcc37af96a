"""Small things that scikit-learn's users do: grids made by numpy, data frames whose columns are numbers or dates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV

from refdp.errors import InvalidRecords
from refdp.faces.estimators import DPBoostClassifier, DPBoostRegressor
from refdp.faces.seeds import ReproducibleSeed

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


def test_columns_that_are_numbers_are_called_by_them() -> None:
    plain = regressor().fit(X, Y).predict(X)
    np.testing.assert_array_equal(regressor().fit(pd.DataFrame(X), Y).predict(pd.DataFrame(X)), plain)
    years = pd.DataFrame(X, columns=[2020, 2021])
    model = regressor(bounds={2020: (0, 1), 2021: (0, 1)}).fit(years, Y)
    assert model.model_.schema.names == ("2020", "2021")


def test_dates_are_refused_as_what_is_no_number() -> None:
    dates = pd.DataFrame({"a": X[:, 0], "b": pd.Timestamp("2020-01-01")})
    model = DPBoostClassifier(relation="add-remove", bounds={"a": (0, 1), "b": (0, 1)}, classes=[False, True])
    with pytest.raises(InvalidRecords):
        model.fit(dates, Y > 0.5)


def test_labels_in_a_column_are_taken_with_scikit_learns_warning() -> None:
    plain = regressor().fit(X, Y).predict(X)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        np.testing.assert_array_equal(regressor().fit(X, Y[:, None]).predict(X), plain)
