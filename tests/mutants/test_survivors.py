"""Places where random mistakes once lived on: what the code does there, and that each of these mistakes is seen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from refdp.data.candidates import Candidates, uniform
from refdp.data.memory import Memory
from refdp.data.population import COUNT, Begin, Bins, Encode, Refresh, Root, Statistics, values
from refdp.data.records import Interval, Numeric, Schema, make_records
from refdp.errors import InvalidParameter
from refdp.ledger import claims
from refdp.noise.mechanisms import Exponential
from refdp.papers import fedgbdt
from refdp.papers.sgbdt import grid_index
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation, Sensitivity
from refdp.privacy.shares import excess
from refdp.privacy.sources import NoiselessSource
from tests.fedgbdt.cases import params
from tests.fedgbdt.test_federation import federation, trained
from tests.mutants.functions import alive
from tests.mutants.harness import applied, edit

# --- More than 256 bins -----------------------------------------------------------------------------------------------

RECORDS = make_records(
    Schema((Numeric("a", 0.0, 1.0), Numeric("b", 0.0, 1.0)), Interval(0.0, 1.0)),
    np.random.default_rng(3).random((600, 2)),
    np.zeros(600),
)


def grid(thresholds: int) -> Candidates:
    return uniform(RECORDS.schema, thresholds)


@dataclass(frozen=True)
class Labels:
    """The label, and 1."""

    def label(self, output: int, y: Any) -> Any:
        return y

    def statistics(self, score: Any, label: Any, of: tuple[str, ...]) -> Statistics:
        return Statistics({"g": label})


def counted(host: Memory, candidates: Candidates) -> bool:
    """Whether every bin holds the records between its thresholds; code 0 is a missing value."""
    for step in (Encode(candidates), Refresh(("g",)), Root((0, 1))):
        host.tell(step)
    table = values(host.ask(Bins(("g", COUNT))))[1, 0]
    for feature, sums in enumerate(candidates.apart(table, (0, 1))):
        edges = [-np.inf, *candidates.thresholds[feature], np.inf]
        expected = np.array([0, *np.histogram(RECORDS.x[:, feature], edges)[0]])
        if not np.array_equal(sums, expected):
            return False
    return True


def recoded() -> bool:
    """Every change between grids on both sides of what fits a byte."""
    for first, second in itertools.permutations((3, 253, 254, 255, 256, 300), 2):
        host = Memory(RECORDS)
        host.tell(Begin(Labels()))
        if not (counted(host, grid(first)) and counted(host, grid(second))):
            return False
    return True


@pytest.mark.parametrize(
    "wrong", ["True", "(int(candidates.bins.max()) <= 257)", "(int(candidates.bins.min()) <= 1000)"]
)
def test_codes_are_right_on_both_sides_of_a_byte(wrong: str) -> None:
    assert recoded()
    with applied({"refdp.data.codes:Dense.again": edit(("(int(candidates.bins.max()) <= 256)", wrong))}):
        assert not recoded()


# --- The best option --------------------------------------------------------------------------------------------------


def best(source: Any, utility: list[list[float]]) -> list[list[float]]:
    curator = Curator(source, Relation.ADD_REMOVE)
    options = np.array([[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]])
    sensitivity = Sensitivity(1.0, "range", "a/claim", Relation.ADD_REMOVE)
    released = curator.release("s", Exponential(1.0), np.array(utility), sensitivity=sensitivity, options=options)
    return [list(row) for row in released]


class ByNode(NoiselessSource):
    """The mutant: the best node of every option."""

    def release(self, request: Any) -> Any:
        return np.argmax(request.value, axis=0)


def test_without_noise_every_node_takes_its_best_option() -> None:
    tables = {
        ((1.0, 3.0, 2.0), (5.0, 4.0, 4.5), (0.0, 0.0, 1.0)): [[1, 11], [0, 10], [2, 12]],
        ((0.0, 7.0, 7.0),): [[1, 11]],  # the first of two alike
        ((1.0, 2.0, 3.0), (1.0, 2.0, 3.0)): [[2, 12], [2, 12]],
    }
    for utility, expected in tables.items():
        rows = [list(row) for row in utility]
        assert best(NoiselessSource(np.random.default_rng(0)), rows) == expected
        assert best(ByNode(np.random.default_rng(0)), rows) != expected


# --- Grid points that are still reachable -----------------------------------------------------------------------------


def reachable(index: Callable[..., Any]) -> bool:
    """By hand: nodes in the order root, its two children, their four. 8 points, then 2, then two features in turn."""
    one, two = np.zeros(7, dtype=np.int64), np.array([0, 1, 1, 0, 0, 0, 0])
    cases = [
        (one, [0.5, 0.5, 0.0, 0.0, 0.99, 0.5, 0.5], 1, 8, [4, 2, 5, 0, 3, 5, 7]),  # node 5: nothing below 5 is left
        (one, [0.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9], 1, 8, [0, 0, 7, 0, 1, 6, 7]),  # left of 0 nothing is left
        (one, [0.999, 0.999, 0.3, 0.999, 0.3, 0.3, 0.3], 1, 8, [7, 6, 7, 5, 7, 7, 7]),
        (one, [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], 1, 2, [1, 0, 1, 0, 1, 1, 1]),
        (two, [0.5, 0.5, 0.25, 0.99, 0.0, 0.99, 0.0], 2, 8, [4, 4, 2, 3, 0, 7, 5]),
        (one[:1], [0.999999], 1, 32, [31]),
        (one[:1], [0.56], 1, 8, [4]),
        (one[:3], [0.25, 0.99, 0.0], 1, 4, [1, 0, 2]),
    ]
    deep = index(np.zeros(15, dtype=np.int64), np.array([0.0] * 10 + [0.9] * 5), 1, 8)  # 0, left, right, right
    return deep[10] == 2 and all(index(f, np.array(w), k, points).tolist() == e for f, w, k, points, e in cases)


def test_grid_points_are_drawn_from_those_that_a_path_has_left() -> None:
    assert reachable(grid_index)
    count, both = "count = max(right - left + 1, 0)", "if 2 * node + 2 < len(feature):"
    equivalent = {  # a draw times 1 or -1 is cut to 0; trees have an odd number of nodes
        f"{count} | 0 -> 1",
        f"{count} | 0 -> -1",
        f"{both} | 2 * node + 2 < len(feature) -> (2 * node + 2 <= len(feature))",
        f"{both} | 2 -> 1",
    }
    assert set(alive(grid_index, reachable)) <= equivalent


# --- The number of features of a tree ---------------------------------------------------------------------------------


def test_a_tree_may_have_all_features_and_not_one_more() -> None:
    schema = Schema(tuple(Numeric(name, 0.0, 1.0) for name in "abc"), Interval(0.0, 1.0))
    for number in (1, 2, 3):
        assert fedgbdt.plan(params(features_per_tree=number), schema).event
    with pytest.raises(InvalidParameter, match="features_per_tree = 4: the data have 3 features"):
        fedgbdt.plan(params(features_per_tree=4), schema)
    with pytest.raises(InvalidParameter, match="features_per_tree = 0"):
        params(features_per_tree=0)


# --- Bytes that a participant gets ------------------------------------------------------------------------------------

NUMBER = 8
"""Bytes of a number on the wire."""


@pytest.mark.parametrize("batch", [1, 3])
def test_what_a_participant_receives_is_trees_and_leaves(batch: int) -> None:
    """12 trees of depth 2 on 4 features; the leaves of the last batch are not needed for training."""
    trees, splits, leaves, features = 12, 3, 4, 4
    model = 2 * splits * trees + leaves * (trees - batch)
    drawn = trained(params(trees=trees, batch=batch, splits="totally-random"), federation()).network.traffic
    assert drawn.received == NUMBER * model
    summed = trained(params(trees=trees, batch=batch, splits="histogram"), federation()).network.traffic
    assert summed.received == NUMBER * (model + trees * (features + 2))  # its features, and the root's split beforehand


def added_up(excess: Callable[..., float]) -> bool:
    """By hand: 3 shares of 1/2 grid step on 9 coordinates, and of 3/2 of a step on 1."""
    q, r = math.exp(-(math.pi**2) / 4), math.exp(-(math.pi**2) / 3)
    wide = 10 * math.exp(-9 * math.pi**2 / 4)
    return math.isclose(excess(0.5, 3, 9), 75 * (q + r)) and math.isclose(excess(1.5, 2, 1), 1.5 * wide)


def test_what_sums_of_discrete_gaussians_cost_more_is_the_papers() -> None:
    assert added_up(excess)
    assert alive(excess, added_up) == []


# --- The ledger's table -----------------------------------------------------------------------------------------------


def printed(thing: Any) -> str:
    console = Console(width=400)
    with console.capture() as captured:
        console.print(thing)
    return " ".join(captured.get().split())


def test_the_tight_constant_of_a_claim_is_printed() -> None:
    tight = next(claim for claim in claims.load("dpboost") if claim.tight)
    loose = next(claim for claim in claims.load("dpboost") if not claim.tight)
    for shown in (claims.table([tight]), claims.show(tight.id)):
        assert " ".join((tight.tight or "").split())[:40] in printed(shown)
    assert "tight:" in printed(claims.table([tight])) and "tight:" not in printed(claims.table([loose]))
