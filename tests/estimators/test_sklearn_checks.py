"""scikit-learn's own checks of what an estimator is. They give no bounds, hence the filtered PrivacyWarning."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from refdp.estimators import DPBoostClassifier, DPBoostRegressor


@pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")
@parametrize_with_checks([DPBoostClassifier(trees=5, depth=3), DPBoostRegressor(trees=5, depth=3)])
def test_is_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)
