"""scikit-learn's own checks of what an estimator is. They give no bounds, hence the filtered PrivacyWarning.

They make fits repeatable by setting `random_state`, which no estimator here has; so the source is given a generator
from outside, and every fit of a check draws the same noise.
"""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_fit_idempotent,
    check_methods_sample_order_invariance,
    check_methods_subset_invariance,
    parametrize_with_checks,
)
from sklearn.utils.validation import has_fit_parameter

from refdp.faces import estimators
from refdp.faces.estimators import base as estimators_base
from refdp.faces.training import source_for

ALL = [
    *(kind(trees=5, depth=3) for kind in (estimators.DPBoostClassifier, estimators.DPBoostRegressor)),
    *(kind(depth=3) for kind in (estimators.InPrivateClassifier, estimators.InPrivateRegressor)),
    *(kind(trees=5, depth=3) for kind in (estimators.DPXGBoostClassifier, estimators.DPXGBoostRegressor)),
    *(kind(trees=5, depth=3) for kind in (estimators.FedGBDTClassifier, estimators.FedGBDTRegressor)),
    *(kind(trees=5, depth=2) for kind in (estimators.SGBDTClassifier, estimators.SGBDTRegressor)),
    *(kind(trees=3, depth=2) for kind in (estimators.GroveClassifier, estimators.GroveRegressor)),
]
pytestmark = pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")


@pytest.fixture
def repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimators_base, "source_for", lambda params, _: source_for(params, 0))


def refused(estimator: Any) -> dict[str, str]:
    """Checks of weights that a private estimator cannot pass, and why."""
    if not has_fit_parameter(estimator, "sample_weight"):
        return {}
    larger = "weights above 1 are refused: the sensitivity is that of weight 1"
    return {
        "check_sample_weights_list": larger,
        "check_sample_weights_not_overwritten": larger,
        "check_sample_weight_equivalence_on_dense_data": larger,
        "check_all_zero_sample_weights_error": "weights are private: an error would tell that all are 0",
    }


@pytest.mark.usefixtures("repeated")
@parametrize_with_checks(ALL, expected_failed_checks=refused)
def test_is_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.usefixtures("repeated")
@pytest.mark.parametrize("estimator", ALL, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("check", [check_methods_sample_order_invariance, check_methods_subset_invariance])
def test_answers_do_not_depend_on_the_other_rows(estimator: Any, check: Any) -> None:
    """scikit-learn leaves these out where the tag says that fits differ."""
    assert get_tags(estimator).non_deterministic
    check(type(estimator).__name__, clone(estimator))


def test_two_fits_differ_as_the_tag_says() -> None:
    with pytest.raises(AssertionError, match="Idempotency"):
        check_fit_idempotent("DPBoostRegressor", ALL[1])
    assert "random_state" not in ALL[1].get_params()
