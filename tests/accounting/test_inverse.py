"""ε(δ) and δ(ε) are inverse to each other within their widths, for every family and δ from 1e-2 to 1e-15."""

from __future__ import annotations

import dataclasses

import pytest
from account_plans import REPLACE_ONE, plan, release

from refdp.accounting import account
from refdp.accounting.bound import Bound
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Plan, Repeat, Sequential, Subsample

FAMILIES = {
    "Laplace": plan(Repeat(release(Laplace(2.0)), 30)),
    "discrete Laplace": plan(Repeat(release(DiscreteLaplace(15.0, 1.0)), 300)),
    "Gaussian": plan(Repeat(release(Gaussian(5.0)), 30)),
    "discrete Gaussian": plan(Repeat(release(DiscreteGaussian(3.0, 1.0)), 5)),
    "mixed": plan(Repeat(release(Laplace(4.0)), 20), Repeat(release(Gaussian(9.0)), 20)),
    "sampled Gaussian": plan(Repeat(Subsample(0.05, release(Gaussian(1.0))), 50)),
    "sampled Laplace": plan(Repeat(Subsample(0.05, release(Laplace(0.5))), 50)),
    "sampled sequence": plan(Repeat(Subsample(0.1, Sequential((release(Gaussian(2.0)), release(Laplace(2.0))))), 20)),
    "fixed size": Plan(
        REPLACE_ONE,
        Repeat(Subsample(0.05, release(Gaussian(1.0), relation=REPLACE_ONE), "without-replacement"), 50),
    ),
    "selections": plan(Repeat(release(Exponential(0.1)), 50)),
}
DELTAS = (1e-2, 1e-6, 1e-12, 1e-15)
CASES = [(name, DELTAS[(2 * index + half) % 4]) for index, name in enumerate(FAMILIES) for half in range(2)]


def inverse(one: Bound, back: Bound, delta: float) -> bool:
    """`back` is about δ at the upper end of `one`: it must not prove more than δ there, nor be far below it.

    Where the enclosure of ε is of width w, δ falls by at most e^{λw}, λ the slope of -log δ: a few hundred at most.
    """
    return back.lower <= delta * (1 + 1e-9) and back.upper >= delta * (1 - 1e3 * max(one.upper - one.lower, 1e-9))


@pytest.mark.parametrize(("name", "delta"), CASES)
def test_epsilon_and_delta_are_inverse(name: str, delta: float) -> None:
    one = account(FAMILIES[name], delta=delta)
    assert one.lower <= one.upper
    back = account(FAMILIES[name], epsilon=one.upper)
    assert inverse(one, back, delta)
    assert back.upper <= delta * (1 + 1e-3), "what ε promises, δ confirms"
    if one.lower > 0:
        assert account(FAMILIES[name], epsilon=one.lower).upper >= delta * (1 - 1e-9)


def test_a_delta_that_is_off_by_a_part_in_ten_is_seen() -> None:
    one = account(FAMILIES["Laplace"], delta=1e-6)
    back = account(FAMILIES["Laplace"], epsilon=one.upper)
    for factor in (0.9, 1.1):
        assert not inverse(one, dataclasses.replace(back, lower=back.lower * factor, upper=back.upper * factor), 1e-6)
