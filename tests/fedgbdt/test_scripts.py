"""The two steps of the authors' scripts that the reproduction of Table 7 puts in place of refdp's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from benchmarks.reproduce.study.fedgbdt_scripts import ScriptFeasible, as_in_scripts
from refdp.data.feasible import Feasible
from refdp.data.nothing import Nothing
from refdp.noise.calibration import total_mu
from refdp.papers import fedgbdt
from refdp.privacy.events import Relation
from tests.fedgbdt.cases import BINARY, params, records
from tests.recorded import Recorded


def candidates() -> Any:
    return params(bins=8).split_candidates(BINARY, Nothing())


def test_the_left_child_loses_the_candidate_next_to_the_split() -> None:
    start = ScriptFeasible.root(candidates(), [0])
    left, right = start.split(np.array([5])).open[:, :8]
    assert left.tolist() == [True] * 4 + [False] * 4
    assert right.tolist() == [False] * 6 + [True] * 2
    exact = Feasible.root(candidates(), [0]).split(np.array([5])).open[:, :8]
    assert exact[0].tolist() == [True] * 5 + [False] * 3


@pytest.mark.parametrize("uniform", [0.0, 0.4, 0.99])
def test_a_path_without_candidates_stays_whole(uniform: float) -> None:
    below = ScriptFeasible.root(candidates(), [0]).split(np.array([1]))  # candidate 0 is left, and taken away
    assert not below.open[0].any()
    chosen = below.drawn(np.full((2, 2), uniform))
    assert not below.separating.open[0, chosen[0]]
    assert below.open[1, chosen[1]]


def test_noise_apart_has_the_deviations_of_single_queries_and_everything_is_put_back() -> None:
    given = params(candidates="iterative-hessian", features_per_tree=1, trees=30, rounds=3, epsilon=2.0)
    with as_in_scripts(given, BINARY, np.random.default_rng(0)) as source:
        door = Recorded(source, Relation.ADD_REMOVE)
        fedgbdt.train(given, records(BINARY.target), door)
        assert fedgbdt.Feasible is ScriptFeasible
    assert fedgbdt.Feasible is Feasible
    noise = [np.asarray(e.output - e.value) for e in door.recorded.entries if e.request.path[-1] == "leaves"]
    spread = np.std(noise, axis=(0, 2))
    mu = total_mu(2.0, given.delta, given.accounting) / math.sqrt(2 * 30 + 3)
    np.testing.assert_allclose(spread * mu, [1.0, 0.25], rtol=0.35)
