"""Importances and stages come from released values alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refdp import ReproducibleSeed
from tests.core.test_constructors import ALL

pytestmark = pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")


def fitted(kind: Any) -> tuple[Any, np.ndarray]:
    x = np.random.default_rng(0).random((400, 3))
    target: dict[str, Any] = {"label_bounds": (0, 1)} if kind._regression else {"classes": [0, 1]}
    y = x[:, 1] if kind._regression else (x[:, 1] > 0.5).astype(int)
    public = {"relation": "add-remove", "bounds": dict.fromkeys(range(3), (0, 1)), "settings": "default", "rows": 400}
    small = {"trees": 12, "depth": 2} if "trees" in kind._get_param_names() else {}
    model = kind(epsilon=50.0, insecure_seed=ReproducibleSeed(0), **public, **target, **small)
    return model.fit(x, y), x


@pytest.mark.parametrize("kind", ALL)
def test_the_feature_that_decides_is_the_most_important(kind: Any) -> None:
    model, _ = fitted(kind)
    found = model.feature_importances_
    assert found.shape == (3,)
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0).all()
    assert np.argmax(found) == 1


@pytest.mark.parametrize("kind", ALL)
def test_the_last_stage_is_the_prediction(kind: Any) -> None:
    model, x = fitted(kind)
    stages = list(model.staged_predict(x))
    assert len(stages) == max(len(own.trees) for own in model.model_.outputs)
    np.testing.assert_array_equal(stages[-1], model.predict(x))
