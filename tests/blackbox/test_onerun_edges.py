"""Bounds from one run at their ends: what is given where nothing is said, what is refused, and before what work."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from refdp.accounting import gaussian
from refdp.audit import onerun, onerun_tradeoff
from refdp.audit.onerun_tradeoff import (
    GaussianOneRun,
    approximate_curve,
    gaussian_bound,
    gaussian_curve,
    isolated_bound,
    isolated_gaussian_lower_bound,
    one_run_gaussian_lower_bound,
    p_value,
    possible,
)
from refdp.errors import InvalidParameter


def defaults(function: Any) -> dict[str, Any]:
    return {
        name: one.default
        for name, one in inspect.signature(function).parameters.items()
        if one.default is not inspect.Parameter.empty
    }


def test_what_is_taken_where_nothing_is_said() -> None:
    assert defaults(gaussian_bound) == defaults(isolated_bound) == {"delta": 1e-5, "confidence": 0.95}
    named = {"delta": 1e-5, "confidence": 0.95, "seed": 0}
    assert defaults(isolated_gaussian_lower_bound) == named
    assert defaults(one_run_gaussian_lower_bound) == {**named, "share": 0.1}


def worked(*_: Any) -> Any:
    raise AssertionError("a run was made")


@pytest.mark.parametrize("bound", [one_run_gaussian_lower_bound, isolated_gaussian_lower_bound])
@pytest.mark.parametrize("wrong", [{"delta": 0.0}, {"delta": 1.0}, {"delta": 1.5}, {"delta": -0.5}])
def test_a_wrong_delta_is_refused_before_the_run(bound: Any, wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        bound(worked, worked, worked, 8, **wrong)


@pytest.mark.parametrize("share", [0.0, -0.5, 1.01, 2.0])
def test_a_wrong_share_is_refused_before_the_run(share: float) -> None:
    with pytest.raises(InvalidParameter, match="share"):
        one_run_gaussian_lower_bound(worked, worked, worked, 8, share=share)


@pytest.mark.parametrize("wrong", [0.0, 1.0, 1.5, -0.5])
def test_a_wrong_confidence_is_refused(wrong: float) -> None:
    with pytest.raises(InvalidParameter, match="confidence"):
        isolated_gaussian_lower_bound(worked, worked, worked, 8, confidence=wrong)
    with pytest.raises(InvalidParameter, match="confidence"):
        gaussian_bound(3, 4, 10, confidence=wrong)
    with pytest.raises(InvalidParameter, match="confidence"):
        isolated_bound(np.array([True, False]), np.zeros(2), confidence=wrong)
    with pytest.raises(InvalidParameter, match="delta"):
        isolated_bound(np.array([True, False]), np.zeros(2), delta=wrong)
    with pytest.raises(InvalidParameter, match="delta"):
        gaussian_bound(3, 4, 10, delta=wrong)


def test_four_canaries_are_the_fewest() -> None:
    with pytest.raises(InvalidParameter, match="canaries"):
        isolated_gaussian_lower_bound(worked, worked, worked, 3)
    found = isolated_gaussian_lower_bound(lambda mask, seed: mask, lambda mask: mask, lambda mask: mask * 1.0, 4)
    assert (found.canaries, found.mu, found.epsilon) == (4, 0.0, 0.0)
    whole = one_run_gaussian_lower_bound(lambda m, seed: m, lambda m: m, lambda m: m * 1.0, 20, share=1.0, delta=0.9)
    assert whole.right == whole.guesses == 20 or whole.guesses == 20


def test_curves_inverted_at_both_ends_and_between() -> None:
    for mu in (0.5, 2.0):
        inverse = gaussian_curve(mu)
        for y in (0.1, 0.5, 0.99):
            assert special.ndtr(special.ndtri(inverse(y)) + mu) == pytest.approx(y)
        assert inverse(-0.5) == inverse(0.0) == 0.0 and inverse(1.0) == inverse(1.5) == 1.0
    for epsilon, delta in ((0.5, 0.1), (2.0, 0.0)):
        back = approximate_curve(epsilon, delta)
        for x in (0.01, 0.2, 0.7, 0.95):
            y = min(delta + math.exp(epsilon) * x, 1 - math.exp(-epsilon) * (1 - delta - x))
            assert back(y) == pytest.approx(x)
        assert back(delta / 2) == 0.0


def test_no_right_guess_refutes_nothing() -> None:
    assert p_value(0, 3, 5, gaussian_curve(1.0)) == 1.0 and p_value(0, 3, 5, approximate_curve(0.0, 0.0)) == 1.0
    assert gaussian_bound(0, 3, 5) == GaussianOneRun(0.0, 0.0, 1e-5, 0.95, 5, 3, 0)
    assert p_value(3, 3, 3, approximate_curve(0.0, 0.0)) < 1.0


def test_one_right_guess_of_one() -> None:
    """Confidence below one half: of fair coins one right guess has the chance 1/2, of mu Phi(mu/2)."""
    found = gaussian_bound(1, 1, 1, 0.01, 0.25)
    assert found.mu == pytest.approx(2 * stats.norm.ppf(0.75), rel=1e-6) and found.right == 1
    assert found.epsilon == gaussian.epsilon(found.mu, 0.01)
    assert gaussian_bound(1, 1, 1, 0.01, 0.75).mu == 0.0


@pytest.mark.parametrize(("right", "guesses", "canaries", "confidence"), [
    (12, 12, 12, 0.95), (40, 40, 40, 0.2), (9, 12, 40, 0.5), (300, 300, 300, 0.1), (300, 310, 1000, 0.95)])  # fmt: skip
def test_the_largest_mu_that_is_refuted(right: int, guesses: int, canaries: int, confidence: float) -> None:
    """Here also beyond 1, 2 and 4, where the search doubles its end."""
    found = gaussian_bound(right, guesses, canaries, 1e-3, confidence)
    assert (found.delta, found.confidence, found.canaries, found.guesses, found.right) == (
        1e-3, confidence, canaries, guesses, right)  # fmt: skip
    for mu, due in ((found.mu, False), (found.mu * (1 - 1e-6), False), (found.mu * (1 + 1e-6), True)):
        assert possible(1 - confidence, right, guesses, canaries, gaussian_curve(mu)) is due
    chance = p_value(right, guesses, canaries, gaussian_curve(found.mu))
    assert chance == pytest.approx(1 - confidence, rel=1e-6)


def test_isolated_canaries_are_a_noncentral_t() -> None:
    """The statistic by hand, with groups of unequal sizes and spreads."""
    inside, outside = np.array([3.0, 3.5, 4.0, 5.5, 2.5]), np.array([0.0, 1.0, 0.25])
    spread = math.sqrt((np.sum((inside - inside.mean()) ** 2) + np.sum((outside - outside.mean()) ** 2)) / 6)
    size = math.sqrt(15 / 8)
    statistic = size * (inside.mean() - outside.mean()) / spread
    for confidence in (0.5, 0.9, 0.97):
        found = isolated_bound(np.arange(8) < 5, np.concatenate([inside, outside]), 0.01, confidence)
        assert stats.nct.sf(statistic, 6, found.mu * size) == pytest.approx(1 - confidence, rel=1e-6)
        assert found.epsilon == gaussian.epsilon(found.mu, 0.01) and found.canaries == 8
        assert (found.guesses, found.right, found.assumption) == (0, 0, onerun_tradeoff.ISOLATED)
    assert isolated_bound(np.arange(8) < 5, np.concatenate([inside, outside]), 0.01, 1 - 1e-6).mu == 0.0
    for first, second in ((1, 3), (3, 1)):
        mask = np.arange(4) < first
        assert isolated_bound(mask, np.array([9.0, 8.0, 0.5, 0.0])).mu == 0.0 and second == (~mask).sum()
    two = np.array([9.0, 8.5, 0.5, 0.0])
    assert isolated_bound(np.arange(4) < 2, two).mu > 0.0


def test_what_is_told_as_plain_data() -> None:
    found = gaussian_bound(12, 12, 12)
    told = found.to_dict()
    assert told["mu"] == found.mu and told["assumption"] == found.assumption and told["right"] == 12
    assert defaults(onerun.bound) == {"delta": 0.0, "confidence": 0.95}
    assert defaults(onerun.one_run_lower_bound) == {"delta": 0.0, "confidence": 0.95, "share": 0.5, "seed": 0}
    for share in (0.0, 1.01):
        with pytest.raises(InvalidParameter, match="share"):
            onerun.one_run_lower_bound(worked, worked, worked, 8, share=share)
    for wrong in ({"delta": 1.0}, {"delta": -0.1}, {"confidence": 0.0}, {"confidence": 1.0}):
        with pytest.raises(InvalidParameter):
            onerun.bound(3, 4, 10, **wrong)
