"""Losses of a record that fell into one of several blocks, at weights and losses where a logarithm could lose them."""

from __future__ import annotations

import math

import pytest

from refdp.audit.mixing import _mixture
from refdp.privacy.curator import ScopeRef


def scope(*weights: float) -> ScopeRef:
    return ScopeRef(1, "blocks", "partition", weights, 0)


@pytest.mark.parametrize("loss", [-5.0, -1000.0, 1000.0, 0.0])
def test_where_a_record_is_in_some_block_for_certain_nothing_hides_its_loss(loss: float) -> None:
    """A weight of 0 outside has no part in it: beside e^-1000 it would be all that float64 sees."""
    assert _mixture(scope(1.0), {0: loss}) == loss
    assert _mixture(scope(0.5, 0.5), {0: loss, 1: loss}) == loss
    assert _mixture(scope(0.0, 1.0), {0: 2000.0, 1: loss}) == loss
    assert _mixture(scope(0.0, 1.0), {0: math.inf, 1: loss}) == loss


def test_a_mixture_by_hand() -> None:
    assert _mixture(scope(0.25), {0: math.log(5.0)}) == pytest.approx(math.log(0.75 + 1.25), rel=1e-15)
    assert _mixture(scope(0.25, 0.5), {1: math.log(3.0)}) == pytest.approx(math.log(0.5 + 1.5), rel=1e-15)
    assert _mixture(scope(0.25, 0.75), {0: math.log(2.0), 1: math.log(4.0)}) == pytest.approx(math.log(3.5), rel=1e-15)
    assert _mixture(scope(0.5), {0: 1000.0}) == pytest.approx(1000.0 + math.log(0.5), rel=1e-15)
    assert _mixture(scope(0.5), {0: math.inf}) == math.inf
    assert _mixture(scope(0.5), {0: -math.inf}) == math.log(0.5)
    assert _mixture(scope(1.0), {0: -math.inf}) == -math.inf
