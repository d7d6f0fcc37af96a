"""The widths that docs/accounting.md states."""

from __future__ import annotations

import pytest
from account_plans import gaussian, laplace, plan, release, sampled_gaussian

from refdp.accounting.enclosure import enclose_epsilon
from refdp.accounting.normal import normalise
from refdp.noise.mechanisms import DiscreteLaplace, Gaussian, Laplace
from refdp.privacy.events import Plan, Repeat, Sequential, Subsample

PLAIN = {
    "laplace": laplace(20.0, 500),
    "gaussian": gaussian(30.0, 1000),
    "steps": plan(Repeat(release(DiscreteLaplace(20.0, 1.0), 2.0), 300)),
    "mixed": plan(Repeat(release(Laplace(20.0)), 100), Repeat(release(Gaussian(20.0)), 100)),
}
SAMPLED = {
    "laplace": plan(Repeat(Subsample(0.01, release(Laplace(1.0))), 1000)),
    "few": plan(Repeat(Subsample(0.1, release(Laplace(2.0))), 30)),
    "gaussian": sampled_gaussian(0.02, 1.0, 1000),
    "scales": plan(*(release(Laplace(20.0 + 0.1 * i)) for i in range(100))),
    "sequences": plan(Repeat(Subsample(0.2, Sequential((release(Gaussian(4.0)), release(Laplace(9.0))))), 20)),
}


def width(whole: Plan, delta: float) -> float:
    found = enclose_epsilon(normalise(whole), whole.relation, delta)
    return (found.upper - found.lower) / found.upper


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize("name", PLAIN)
def test_plain_releases(name: str, delta: float) -> None:
    assert width(PLAIN[name], delta) <= 1e-6


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize("name", SAMPLED)
def test_sampled_and_heterogeneous_releases(name: str, delta: float) -> None:
    assert width(SAMPLED[name], delta) <= 2e-5
