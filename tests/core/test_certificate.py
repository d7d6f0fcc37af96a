"""What every certificate says besides epsilon: that floating-point noise is taken as ideal, and where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refdp import registry, sources
from refdp.draws import Draws
from refdp.records import Classes, Numeric, Records, Schema
from refdp.training import source_for, train

SCHEMA = Schema((Numeric("a", 0.0, 1.0), Numeric("b", 0.0, 1.0)), Classes(("no", "yes")))
FLOATING = {
    ("dpboost", "floating"): "Exponential and Laplace",
    ("dpboost", "discrete"): "",
    ("dpxgboost", "discrete"): "",
    ("inprivate", "floating"): "Exponential and Laplace",
    ("dpxgboost", "floating"): "Exponential and Laplace",
    ("fedgbdt", "floating"): "Gaussian",
    ("fedgbdt", "discrete"): "",
    ("sgbdt", "floating"): "Gaussian and Laplace",
}
"""Mechanisms whose draws are floating-point numbers."""


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


def kinds_drawn(noise: str) -> list[str]:
    """The kinds of standard draws of one run of DPBoost."""
    chosen, kinds, drawn = registry.paper("dpboost"), list[str](), sources.standard_draws
    given = {"epsilon": 1.0, "relation": "add-remove", "trees": 1, "depth": 1, "noise": noise}
    params = chosen.params(given, as_published=False)

    def recorded(asked: Draws, *rest: Any) -> Any:
        kinds.append(asked.kind)
        return drawn(asked, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "standard_draws", recorded)
        train(chosen, params, Records(SCHEMA, np.full((4, 2), 0.5), np.zeros(4)), source_for(params, 0))
    return kinds


def test_a_run_with_discrete_noise_decides_nothing_by_floating_point_numbers() -> None:
    """So its certificate need not assume anything."""
    assert set(kinds_drawn("discrete")) == {"discrete-laplace"}
    assert set(kinds_drawn("floating")) == {"gumbel", "laplace"}
