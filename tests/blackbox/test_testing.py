"""Assertions for other projects: what is right passes, each mutant is rejected and the message says where."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit.zoo import specimen
from refdp.errors import InvalidParameter
from refdp.testing import assert_dp, assert_noninterference, assert_sensitivity

ONE = ((0.0,), (1.0,))


def test_privacy() -> None:
    """False alarms: 1e-9."""
    bound = assert_dp(specimen("Laplace count, scale x 1").mechanism, ONE, 1.0)
    assert 0.8 < bound.lower <= 1.0
    with pytest.raises(AssertionError, match=r"not \(1, 0\) private: epsilon >= 1\.\d+ at pair 0\. output 0"):
        assert_dp(specimen("Laplace count, scale x 0.5").mechanism, ONE, 1.0)
    with pytest.raises(AssertionError, match="lowest set bit"):
        assert_dp(lambda r, seed: r[0] + np.random.default_rng(seed).laplace(), ONE, 1.0, samples=4_000)


def test_what_passes_was_looked_at() -> None:
    """Too few runs for the claim, one output throughout, and outputs that show nothing are said; no false alarm."""

    def exact(records: Any, seed: int) -> float:
        return float(len(records))

    with pytest.raises(
        InvalidParameter, match=r"samples = 500: too few runs to show a violation of epsilon 9.* needed"
    ):
        assert_dp(exact, ((0.0, 1.0), (1.0,)), 9.0, samples=500)
    with pytest.raises(InvalidParameter, match="not examined: all runs gave one output"):
        assert_dp(lambda records, seed: 1.0, ONE, 1.0, samples=500)
    with pytest.raises(InvalidParameter, match=r"not examined: \['lock'\]: nothing shows what is in a lock"):
        assert_dp(lambda records, seed: {"n": seed % 7, "lock": threading.Lock()}, ONE, 1.0, samples=500)


def test_the_cost_is_fixed() -> None:
    calls = []

    def counted(records: Any, seed: int) -> float:
        calls.append(seed)
        return round(float(np.random.default_rng(seed).laplace()), 3)

    assert_dp(counted, ONE, 1.0, samples=500)
    assert len(calls) == len(set(calls)) == 1_000


def clipped_sum(numbers: Any) -> float:
    return float(np.clip(numbers, -1, 1).sum())


def test_sensitivity() -> None:
    pairs = [([0.5], [0.5, value]) for value in np.linspace(-3, 3, 13)]
    assert assert_sensitivity(clipped_sum, pairs, 1.0) == 1.0
    with pytest.raises(AssertionError, match=r"sensitivity 3 at pair \d+, above the stated 1"):
        assert_sensitivity(np.sum, pairs, 1.0)  # the mutant that forgets to clip
    with pytest.raises(AssertionError, match="shapes"):
        assert_sensitivity(lambda numbers: numbers, pairs, 1.0)
    with pytest.raises(AssertionError, match="not a number"):
        assert_sensitivity(lambda numbers: np.nan, pairs, 1.0)
    with pytest.raises(InvalidParameter, match="at least one pair"):
        assert_sensitivity(clipped_sum, [], 1.0)


@pytest.mark.parametrize(("norm", "size"), [(1, 7.0), (2, 5.0), ("max", 4.0)])
def test_norms(norm: Any, size: float) -> None:
    assert assert_sensitivity(lambda v: v, [([0.0, 0.0], [3.0, 4.0])], size, norm=norm) == size
    with pytest.raises(AssertionError, match="above the stated"):
        assert_sensitivity(lambda v: v, [([0.0, 0.0], [3.0, 4.0])], size * 0.999, norm=norm)


def model(leaves: Any, **more: Any) -> Any:
    return {"leaves": np.asarray(leaves), "meta": SimpleNamespace(trees=1, **more)}


def test_noninterference() -> None:
    values = [[0.1, 0.2], [0.3, -0.0]]
    assert assert_noninterference(lambda records, leaves: model(leaves), ONE, values) == 2
    with pytest.raises(AssertionError, match=r"\['meta'\]\['count'\] depends on the records"):
        assert_noninterference(lambda records, leaves: model(leaves, count=records[0]), ONE, values)
    with pytest.raises(AssertionError, match=r"\['leaves'\] depends on the records"):
        assert_noninterference(lambda r, leaves: model(np.nextafter(leaves, 9) if r[0] else leaves), ONE, values)
    with pytest.raises(AssertionError, match="changes from call to call"):
        generator = np.random.default_rng(0)
        assert_noninterference(lambda records, leaves: model(generator.normal(size=2)), ONE, values)
    with pytest.raises(InvalidParameter, match="at least one set"):
        assert_noninterference(lambda records, leaves: model(leaves), ONE, [])
