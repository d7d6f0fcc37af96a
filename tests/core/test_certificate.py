"""What every certificate says besides epsilon: that floating-point noise is taken as ideal, and where."""

from __future__ import annotations

import pytest

from refdp import registry
from refdp.records import Classes, Numeric, Schema

SCHEMA = Schema((Numeric("a", 0.0, 1.0), Numeric("b", 0.0, 1.0)), Classes(("no", "yes")))
FLOATING = {
    ("dpboost", "floating"): "Exponential and Laplace",
    ("dpboost", "discrete"): "Exponential",
    ("inprivate", "floating"): "Exponential and Laplace",
    ("dpxgboost", "floating"): "Exponential and Laplace",
    ("fedgbdt", "floating"): "Gaussian",
    ("fedgbdt", "discrete"): "",
    ("sgbdt", "floating"): "Gaussian and Laplace",
}
"""Mechanisms whose draws are floating-point numbers: the exponential mechanism's always are."""


@pytest.mark.parametrize(("paper", "noise"), FLOATING)
def test_floating_point_noise_is_said_to_be_taken_as_ideal(paper: str, noise: str) -> None:
    chosen = registry.paper(paper)
    given = {"epsilon": 1.0, "relation": "add-remove"} | ({"delta": 1e-5} if paper in ("fedgbdt", "sgbdt") else {})
    if noise != "floating":
        given["noise"] = noise
    certificate = chosen.certificate(chosen.params(given, as_published=False), SCHEMA)
    names = FLOATING[paper, noise]
    expected = (f"ideal noise: that of {names} is drawn in floating point",) if names else ()
    assert certificate.assumptions == expected
    assert certificate.to_dict()["assumptions"] == list(expected)
