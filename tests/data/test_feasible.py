"""Which candidates a path has left, draws among them, and choices by sums: against one node and candidate at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.data.candidates import Candidates
from refdp.data.feasible import Feasible, Options, _nth_true, below, sides
from refdp.errors import InvalidParameter

CANDIDATES = Candidates((np.array([1.0, 2.0, 3.0]), np.arange(2.0), np.zeros(0), np.array([5.0, 6.0])),
                        np.array([False, True, False, False]))  # fmt: skip
"""Positions 0 to 2 of an ordered feature, 3 and 4 of a categorical one, none, 5 and 6 of an ordered one."""


def children(open_ones: set[int], chosen: int) -> tuple[set[int], set[int]]:
    """What is left on both sides of a split: of its feature, what it has not settled."""
    feature = CANDIDATES.feature.tolist()
    own = {p for p in open_ones if feature[p] == feature[chosen]}
    rest = open_ones - own
    if CANDIDATES.categorical[feature[chosen]]:
        return rest | (own - {chosen}), rest
    return rest | {p for p in own if p < chosen}, rest | {p for p in own if p > chosen}


def opened(feasible: Feasible) -> list[set[int]]:
    return [set(np.flatnonzero(row).tolist()) for row in feasible.open]


def test_the_root_has_every_candidate_of_its_features() -> None:
    assert opened(Feasible.root(CANDIDATES, (0, 3))) == [{0, 1, 2, 5, 6}]
    assert opened(Feasible.root(CANDIDATES, (1, 2))) == [{3, 4}]
    found = Feasible.root(CANDIDATES, (2,))  # no candidate: the first feature that has some
    assert opened(found) == [{0, 1, 2}] and found.features.tolist() == [0]
    assert Feasible.root(CANDIDATES, (3, 2, 1)).features.tolist() == [3, 1]
    late = Candidates((np.zeros(0), np.array([4.0, 5.0])), np.array([False, False]))
    assert opened(Feasible.root(late, (0,))) == [{0, 1}] and Feasible.root(late, (0,)).features.tolist() == [1]
    assert [found.columns(f) for f in range(4)] == [slice(0, 3), slice(3, 5), slice(5, 5), slice(5, 7)]


@pytest.mark.parametrize("seed", range(8))
def test_splits_leave_what_they_have_not_settled(seed: int) -> None:
    generator = np.random.default_rng(seed)
    feasible, sets = Feasible.root(CANDIDATES, (0, 1, 2, 3)), [set(range(7))]
    for _ in range(4):
        chosen = generator.integers(0, 7, len(sets))
        feasible = feasible.split(chosen)
        sets = [child for one, split in zip(sets, chosen.tolist(), strict=True) for child in children(one, split)]
        assert opened(feasible) == sets


def drawn_by_hand(open_ones: set[int], features: list[int], uniform: tuple[float, float]) -> int:
    feature = CANDIDATES.feature.tolist()
    left = {f: sorted(p for p in open_ones if feature[p] == f) for f in features}
    if not any(left.values()):
        left = {f: [p for p in range(7) if feature[p] == f] for f in features}
    able = [f for f in features if left[f]] if any(open_ones & set(ps) for ps in left.values()) else features
    own = left[able[int(uniform[0] * len(able))]]
    return own[int(uniform[1] * len(own))]


@pytest.mark.parametrize("features", [(0, 1, 3), (0,), (3, 1), (1, 2)])
def test_candidates_are_drawn_evenly_among_the_open_ones(features: tuple[int, ...]) -> None:
    """A feature, then a candidate; among all where nothing is open."""
    generator = np.random.default_rng(len(features))
    feasible = Feasible.root(CANDIDATES, features)
    usable, dead = feasible.features.tolist(), 0
    for _ in range(5):
        nodes = len(feasible.open)
        for uniform in (generator.random((nodes, 2)), np.zeros((nodes, 2)), np.full((nodes, 2), 1 - 2.0**-53)):
            found = feasible.drawn(uniform)
            true = [
                drawn_by_hand(one, usable, tuple(u)) for one, u in zip(opened(feasible), uniform.tolist(), strict=True)
            ]
            assert found.tolist() == true
        dead += sum(not one for one in opened(feasible))
        feasible = feasible.split(feasible.drawn(generator.random((nodes, 2))))
    assert dead


def test_a_random_tree_is_drawn_level_by_level() -> None:
    uniform = np.random.default_rng(3).random((15, 2))
    feasible = Feasible.root(CANDIDATES, (0, 1, 3))
    found, sets, start = feasible.random_tree(uniform), [set(range(7))], 0
    while start < 15:
        chosen = [drawn_by_hand(one, [0, 1, 3], tuple(uniform[start + k])) for k, one in enumerate(sets)]
        assert found[start : 2 * start + 1].tolist() == CANDIDATES.values[chosen].tolist()
        sets = [child for one, split in zip(sets, chosen, strict=True) for child in children(one, split)]
        start = 2 * start + 1
    assert found.shape == (15, 2)
    assert feasible.random_tree(uniform[:1]).tolist() == found[:1].tolist()


def test_one_feature_is_drawn_among_its_open_candidates_or_all() -> None:
    feasible = Feasible.root(CANDIDATES, (0, 1, 3)).split(np.array([1])).split(np.array([0, 2]))
    assert [sorted(one & {0, 1, 2}) for one in opened(feasible)] == [[], [], [], []]
    assert feasible.drawn_of(0, np.array([0.0, 0.4, 0.7, 0.99])).tolist() == [0, 1, 2, 2]
    assert feasible.drawn_of(1, np.array([0.0, 0.49, 0.5, 0.99])).tolist() == [3, 3, 4, 4]
    assert feasible.drawn_of(3, np.array([0.0, 0.49, 0.5, 0.99])).tolist() == [5, 5, 6, 6]
    assert feasible.drawn_of(2, np.array([0.9, 0.9, 0.9, 0.9])).tolist() == [0, 0, 0, 0]
    one = Feasible.root(CANDIDATES, (0,)).split(np.array([1]))  # below: position 0, above: position 2
    assert one.drawn_of(0, np.array([0.9, 0.1])).tolist() == [0, 2]


def test_there_is_one_draw_a_node() -> None:
    """So that what is drawn has one axis, whatever draws there are."""
    nodes = Feasible.root(CANDIDATES, (0, 1))
    for uniform in (np.zeros((1, 1)), np.zeros((1, 2, 2))):
        with pytest.raises((InvalidParameter, ValueError)):
            nodes.drawn_of(0, uniform)
    with pytest.raises(InvalidParameter, match="one a node"):
        nodes.drawn_of(0, np.zeros((1, 1)))


def test_the_nth_entry_of_a_mask() -> None:
    mask = np.array([[True, False, True, True], [False, True, False, False]])
    for uniform, place in ((0.0, 0), (0.32, 0), (0.34, 2), (0.66, 2), (0.67, 3), (0.999, 3)):
        assert _nth_true(mask, np.array([uniform, uniform])).tolist() == [place, 1]


# --- Choices by sums --------------------------------------------------------------------------------------------------


def tables() -> list[Any]:
    """Sums (g, h) in the bins of three features, of two nodes: each feature's add up to the same."""
    generator = np.random.default_rng(6)
    found = []
    for bins in (5, 3, 4):
        table = generator.integers(-8, 9, (2, 2, bins)).astype(float)
        table[..., 0] += np.array([[3.0, -5.0], [20.0, 9.0]]) - table.sum(axis=-1)
        found.append(table)
    return found


def test_sides_of_every_bin() -> None:
    table = tables()[0]
    for categorical in (False, True):
        left, right = sides(table, categorical)
        for s in range(2):
            for node in range(2):
                row = table[s, node].tolist()
                own = row[1:] if categorical else [sum(row[k + 2 :]) for k in range(len(row) - 2)]
                assert right[s, node].tolist() == own
                assert left[s, node].tolist() == [sum(row) - one for one in own]


@pytest.mark.parametrize("features", [(0, 1, 3), (1, 0), (3,), (0, 2)])
def test_options_from_bins_are_those_of_each_feature(features: tuple[int, ...]) -> None:
    own = {0: tables()[0], 1: tables()[1], 2: tables()[1][..., :2], 3: tables()[2]}
    found = Options.of_bins(CANDIDATES, features, [own[f] for f in features], 2)
    parts = [(f, sides(own[f], bool(CANDIDATES.categorical[f]))) for f in features]
    positions = [p for f in features for p in range(7) if CANDIDATES.feature[p] == f]
    assert found.positions.tolist() == [positions, positions]
    assert found.left.tolist() == np.concatenate([left for _, (left, _) in parts], axis=-1).tolist()
    assert found.right.tolist() == np.concatenate([right for _, (_, right) in parts], axis=-1).tolist()


def test_features_of_equal_bins_are_summed_at_once_alike() -> None:
    """The options of a feature stand together, in its order."""
    grid = Candidates((np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])), np.array([False, False]))
    one, other = np.arange(20.0).reshape(2, 2, 5), np.arange(20.0)[::-1].reshape(2, 2, 5).copy()
    found = Options.of_bins(grid, (1, 0), [one, other], 2)
    assert found.positions.tolist() == [[3, 4, 5, 0, 1, 2]] * 2
    for part, table in ((slice(0, 3), one), (slice(3, 6), other)):
        left, right = sides(table, False)
        assert found.left[..., part].tolist() == left.tolist() and found.right[..., part].tolist() == right.tolist()


def test_without_candidates_everything_is_left_of_the_first() -> None:
    table = np.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 9.0]]])
    found = Options.of_bins(CANDIDATES, (2,), [table], 2)
    assert found.positions.tolist() == [[0], [0]] and not found.right.any()
    assert found.left[..., 0].tolist() == [[3.0, 7.0], [11.0, 16.0]]
    two = Options.of_bins(CANDIDATES, (2, 2), [table, 3 * table], 2)
    assert two.left[..., 0].tolist() == [[6.0, 14.0], [22.0, 32.0]] and two.right.shape == two.left.shape


def test_the_best_open_option_is_chosen() -> None:
    positions = np.array([[0, 1, 5], [2, 6, 4]])
    left, right = np.arange(12.0).reshape(2, 2, 3), np.arange(12.0)[::-1].reshape(2, 2, 3)
    scores = np.array([[3.0, 9.0, 5.0], [7.0, 1.0, 2.0]])
    options = Options(positions, left, right)
    open_ones = np.zeros((2, 7), dtype=bool)
    feasible = Feasible(CANDIDATES, np.array([0]), open_ones)

    def score(a: Any, b: Any) -> Any:
        assert a is left and b is right
        return scores

    chosen, best = options.best(score, feasible)
    assert best.tolist() == [-math.inf, -math.inf]
    open_ones[0, [0, 5]] = open_ones[1, [6, 4]] = True
    chosen, best = options.best(score, feasible)
    assert chosen.tolist() == [2, 2] and best.tolist() == [5.0, 2.0]
    place, both = options.chosen(np.array([2, 0]))
    assert place.tolist() == [5, 2]
    assert both.tolist() == [[[2.0, 9.0], [3.0, 8.0]], [[8.0, 3.0], [9.0, 2.0]]]
    uneven = Options(positions, left, right + np.array([0.0, 3.0, 6.0]))
    assert uneven.totals().tolist() == [[14.0, 14.0], [14.0, 14.0]]


def test_options_of_one_candidate_a_feature() -> None:
    sums = [np.arange(8.0).reshape(2, 2, 2), 10 + np.arange(8.0).reshape(2, 2, 2), np.zeros((2, 2, 2))]
    found = Options.of_sides([np.array([0, 1]), np.array([5, 6]), np.array([3, 4])], sums)
    assert found.positions.tolist() == [[0, 5, 3], [1, 6, 4]]
    assert found.left.tolist() == [[[0, 10, 0], [2, 12, 0]], [[4, 14, 0], [6, 16, 0]]]
    assert found.right.tolist() == [[[1, 11, 0], [3, 13, 0]], [[5, 15, 0], [7, 17, 0]]]


@pytest.mark.parametrize(("chosen", "right"), [((0, 2), ([2, 3, 4], [4])), ((1, 1), ([3, 4], [3, 4]))])
def test_bins_go_to_one_side_as_a_whole(chosen: tuple[int, int], right: Any) -> None:
    table = np.arange(1.0, 21.0).reshape(2, 2, 5)
    found = below(table, CANDIDATES, np.array(chosen))
    assert found.shape == (2, 4, 5)
    for s in range(2):
        for node in range(2):
            for place in range(5):
                there = int(place in right[node])
                assert found[s, 2 * node + there, place] == table[s, node, place]
                assert found[s, 2 * node + 1 - there, place] == 0
    one = below(np.array([[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]), CANDIDATES, np.array([4]))
    assert one.tolist() == [[[1, 2, 0], [0, 0, 3]], [[4, 5, 0], [0, 0, 6]]]
