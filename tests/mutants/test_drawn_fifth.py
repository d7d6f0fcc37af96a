"""What a fifth draw of random mutants let live: docs/mutants-drawn.md."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from refdp.accounting import normal, sampling
from refdp.noise.mechanisms import Laplace
from refdp.papers import fedgbdt
from refdp.privacy.events import Parallel, Relation, Release, Sensitivity, Subsample
from refdp.prove.symbols import Fixed, Known


def test_a_node_without_hessian_lowers_nothing() -> None:
    """A noisy sum on a grid can be exactly 0."""
    params = fedgbdt.Params(epsilon=1.0, delta=1e-5, relation=Relation.ADD_REMOVE, regularisation=0.5)
    found = fedgbdt.decrease(params, np.array([[1.0, 1.0, 1.0], [0.0, -1.0, 2.0]]))
    assert found[:2].tolist() == [0.0, 0.0] and found[2] > 0


@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.0])
def test_the_step_at_the_border_of_the_strip_leaves_its_error(sigma: float) -> None:
    """a^2 / (2 sigma^2) - 2 pi a / h = -45 at a = .999 pi sigma^2."""
    edge = 0.999 * math.pi * sigma**2
    step = sampling._step(sigma)
    assert edge**2 / (2 * sigma**2) - 2 * math.pi * edge / step == pytest.approx(-sampling._EXPONENT)


def test_a_sampled_record_that_is_replaced_moves_between_blocks_in_one_part_alone() -> None:
    """Where both samples hold a record of the two; where one does, that record is in one block or in none."""
    bound = Sensitivity(1.0, 1, "x", Relation.ADD_REMOVE)
    blocks = Parallel((Release("a", Laplace(1.0), bound), Release("b", Laplace(2.0), bound)))
    node: Any = normal._node(Subsample(0.25, blocks, "poisson"), Relation.REPLACE_ONE, False)
    _, near, *_ = (getattr(node, one.name) for one in fields(node))
    still, moving = (normal._node(blocks, Relation.ADD_REMOVE, moves) for moves in (False, True))
    assert isinstance(node, normal.Exchanged) and near == still != moving


def test_an_entry_of_a_public_grid_at_a_released_place_is_released() -> None:
    grid = Fixed(np.arange(5.0))
    assert type(grid[2]) is Fixed and type(grid[Known(2)]) is Known and type(grid[1:3]) is Fixed
