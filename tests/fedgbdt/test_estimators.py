"""The federated framework's estimators by preset, and their explanation of single-feature models."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.errors import InvalidParameter, PrivacyWarning
from refdp.faces.estimators import FedGBDTClassifier
from refdp.faces.seeds import ReproducibleSeed
from refdp.papers import fedgbdt

pytestmark = pytest.mark.filterwarnings("ignore:insecure_seed:refdp.errors.PrivacyWarning")


def fitted(**settings: Any) -> tuple[FedGBDTClassifier, Any]:
    generator = np.random.default_rng(0)
    x = generator.random((2000, 3))
    bounds = {f"x{i}": (0, 1) for i in range(3)}
    given = {"relation": "add-remove", "bounds": bounds, "classes": [0, 1], "epsilon": 4.0}
    given |= {"insecure_seed": ReproducibleSeed(0)}
    model = FedGBDTClassifier(**{**given, "trees": 60, **settings})
    return model.fit(x, (x[:, 0] + 0.3 * x[:, 1] > 0.6).astype(int)), x


@pytest.mark.parametrize("name", [name for name in fedgbdt.PRESETS if name not in ("LDP", "FEVERLESS", "DP-GBM")])
def test_presets_fit_by_name_and_promise_epsilon(name: str) -> None:
    model, x = fitted(noise="floating", **fedgbdt.PRESETS[name])
    assert model.certificate_.established.epsilon == pytest.approx(4.0)
    assert model.score(x, (x[:, 0] + 0.3 * x[:, 1] > 0.6).astype(int)) > 0.75
    proba = model.predict_proba(x)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.array_equal(proba[:, 1] > 0.5, model.predict(x) == 1)


def test_explain_shows_the_informative_feature_and_needs_single_feature_trees() -> None:
    model, x = fitted(**fedgbdt.PRESETS["DP-EBM Newton"])
    shapes = model.explain().scores[0]
    spread = [float(np.ptp(shape.values)) for shape in shapes]
    assert spread[0] > 2 * spread[2]
    added = sum(
        shape.values[np.searchsorted(np.array(shape.steps), column, side="right") - 1]
        for shape, column in zip(shapes, x.T, strict=True)
    )
    np.testing.assert_allclose(added, model.decision_function(x), atol=1e-9)
    with pytest.raises(InvalidParameter, match="features_per_tree=1"):
        fitted()[0].explain()


def test_ranges_read_off_the_records_are_named_and_void_the_guarantee() -> None:
    with pytest.warns(PrivacyWarning, match=r"bounds of x0, x1, x2 were taken from the data"):
        model, _ = fitted(bounds=None, as_published=True, trees=3)
    assert model.certificate_.established.epsilon == math.inf
    assert any("taken from the data" in note for note in model.certificate_.notes)
    public, _ = fitted(as_published=True, trees=3)
    assert public.certificate_.established.epsilon <= 4.0
