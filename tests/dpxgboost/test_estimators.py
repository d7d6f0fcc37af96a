"""DP-XGBoost's estimators: what they learn, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from refdp.errors import InvalidParameter
from refdp.faces.estimators import DPXGBoostClassifier, DPXGBoostRegressor
from refdp.faces.seeds import ReproducibleSeed

pytestmark = pytest.mark.filterwarnings("ignore:insecure_seed:refdp.errors.PrivacyWarning")


@pytest.mark.parametrize("loss", ["square", "log"])
def test_probabilities_follow_the_loss(loss: str) -> None:
    generator = np.random.default_rng(0)
    x = generator.random((8000, 3))
    y = (x[:, 0] + 0.3 * x[:, 1] > 0.6).astype(int)
    public = {"relation": "add-remove", "bounds": {f"x{i}": (0, 1) for i in range(3)}, "classes": [0, 1]}
    settings = {
        "epsilon": 8.0,
        "insecure_seed": ReproducibleSeed(0),
        "loss": loss,
        "leaf": "average",
        "depth": 3,
        "delta": 0.0,
    }
    model = DPXGBoostClassifier(**public, **settings).fit(x, y)
    proba = model.predict_proba(x)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.array_equal(proba[:, 1] > 0.5, model.predict(x) == 1)
    assert model.score(x, y) > 0.85
    assert model.certificate_.established.epsilon == pytest.approx(8.0)
    if loss == "log":
        raw = model.model_.scores(x)[:, 0]
        np.testing.assert_allclose(proba[:, 1], np.clip(1 / (1 + np.exp(-raw)), 1e-6, 1 - 1e-6))


def test_a_regression_has_no_log_loss() -> None:
    with pytest.raises(InvalidParameter, match="a regression needs 'square'"):
        DPXGBoostRegressor(loss="log", relation="add-remove", bounds={"x0": (0, 1)}, label_bounds=(0, 1)).fit(
            np.random.default_rng(0).random((20, 1)), np.linspace(0, 1, 20)
        )
