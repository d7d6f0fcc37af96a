"""Monotone leaves against enumeration: which leaves are put in order, and what value each of them takes."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from refdp.data.records import Categorical, Classes, Ensemble, Interval, Model, Numeric, Schema, Tree
from refdp.errors import InvalidParameter
from refdp.faces import monotone
from refdp.ledger.certificate import Certificate, Guarantee
from refdp.privacy.events import Relation

SCHEMA = Schema((Numeric("a", 0, 2), Numeric("b", -1, 1), Categorical("c", ("u", "v", "w"))), Interval(0, 1))
VALUES = ((0.0, 0.5, 1.0, 1.5, 2.0, math.nan), (-1.0, -0.5, 0.0, 0.5, 1.0, math.nan), (0.0, 1.0, 2.0, math.nan))


def leaf_of(tree: Tree, row: tuple[float, ...]) -> int:
    node = 0
    while node < len(tree.splits):
        f, value = int(tree.splits[node, 0]), tree.splits[node, 1]
        right = row[f] == value if f == 2 else row[f] >= value
        if math.isnan(row[f]):
            right = tree.splits.shape[1] > 2 and tree.splits[node, 2] > 0
        node = 2 * node + 1 + int(right)
    return node - len(tree.splits)


def random_tree(rng: np.random.Generator, depth: int, default: bool) -> Tree:
    nodes = 2**depth - 1
    feature = rng.integers(3, size=nodes)
    grid = ((0.0, 0.5, 1.0, 2.0, 2.5), (-1.5, -0.5, 0.0, 1.0), (0.0, 1.0, 2.0))
    columns = [feature, [rng.choice(grid[int(f)]) for f in feature], rng.integers(2, size=nodes)]
    return Tree(np.column_stack(columns[: 3 if default else 2]).astype(float), rng.normal(size=nodes + 1))


def pairs_by_hand(tree: Tree, wanted: tuple[int, ...]) -> set[tuple[int, int]]:
    """Leaves of two rows that differ in one constrained feature alone, by a step of a grid that has all thresholds."""
    found = set()
    for f, sign in enumerate(wanted):
        if not sign:
            continue
        for rest in itertools.product(*(VALUES[g] for g in range(3) if g != f)):
            rows = [(*rest[:f], value, *rest[f:]) for value in VALUES[f][:-1]]
            for one, other in itertools.pairwise([leaf_of(tree, row) for row in rows]):
                if one != other:
                    found.add((one, other) if sign > 0 else (other, one))
    return found


@pytest.mark.parametrize("default", [False, True])
def test_leaves_that_touch_along_a_feature_are_in_order(default: bool) -> None:
    rng, seen = np.random.default_rng(3), 0
    for number in range(48):
        tree, wanted = (
            random_tree(rng, 1 + number % 4, default),
            ((1, -1, 0), (0, 1, 0), (-1, 0, 0), (1, 1, 0))[number % 4],
        )
        found = monotone.ordered(tree, SCHEMA, np.array(wanted))
        assert found.shape == (len(found), 2) and {(int(a), int(b)) for a, b in found} == pairs_by_hand(tree, wanted)
        assert len({tuple(one) for one in found.tolist()}) == len(found)
        seen += len(found)
    assert seen > 60
    assert monotone.ordered(tree, SCHEMA, np.zeros(3, dtype=int)).shape == (0, 2)


def test_values_between_all_below_and_all_above() -> None:
    """The mean of the greatest at or below and the least at or above, along any chain of pairs."""
    rng = np.random.default_rng(4)
    for size in (2, 3, 7, 12):
        for _ in range(6):
            order = rng.permutation(size)
            several = [(order[i], order[j]) for i in range(size) for j in range(i + 1, size) if rng.random() < 0.3]
            pairs = np.array(several or [(order[0], order[1])])
            values = rng.integers(-9, 9, size).astype(float)
            reach = {(i, i) for i in range(size)} | {(int(a), int(b)) for a, b in pairs}
            for k, i, j in itertools.product(range(size), repeat=3):  # the middle one outermost
                if (i, k) in reach and (k, j) in reach:
                    reach.add((i, j))
            expected = [
                (max(values[i] for i in range(size) if (i, k) in reach)
                 + min(values[j] for j in range(size) if (k, j) in reach)) / 2 for k in range(size)
            ]  # fmt: skip
            assert monotone.between(values, pairs).tolist() == expected


def test_the_nearest_values_of_small_trees() -> None:
    assert monotone.nearest(np.array([3.0, 1.0, 5.0]), np.array([[0, 1]])).tolist() == [2.0, 2.0, 5.0]
    chain = np.array([[0, 1], [1, 2], [2, 3]])
    assert monotone.nearest(np.array([4.0, 1.0, 1.0, 9.0]), chain).tolist() == [2.0, 2.0, 2.0, 9.0]
    assert monotone.nearest(np.array([1.0, -2.0, 4.0, 3.0]), chain).tolist() == [-0.5, -0.5, 3.5, 3.5]
    small = np.array([3.0, 1.0]) * 2.0**-40
    assert monotone.nearest(small, chain[:1]).tolist() == [2.0**-39] * 2
    fine = monotone.nearest(np.array([3.0, 0.0, 1 / 3]), np.array([[0, 1]]))[2]  # multiples of 4 times 2^-32
    assert fine == round(2.0**30 / 3) / 2.0**30 and monotone.FINE == 2.0**-32


def test_trees_of_more_than_64_leaves_take_the_means_of_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for leaves, searched in ((64, True), (65, False)):
        values = np.zeros(leaves)
        values[:2] = 3.0, 1.0
        assert monotone.nearest(values, np.array([[0, 1]])).tolist()[:2] == ([2.0, 2.0] if searched else [3.0, 1.0])

    def fails(*_: Any) -> Any:
        raise RuntimeError("too many iterations")

    monkeypatch.setattr(monotone, "nnls", fails)
    assert monotone.nearest(np.array([3.0, 1.0]), np.array([[0, 1]])).tolist() == [3.0, 1.0]


def test_signs_by_name_by_number_and_one_each() -> None:
    plain = Schema((Numeric("x0", 0, 1), Numeric("x1", 0, 1), Categorical("2", ("u", "v"))), Classes((0, 1)))
    for given, expected in (
        (None, [0, 0, 0]), ({"x1": 1}, [0, 1, 0]), ({1: -1}, [0, -1, 0]),
        ({np.int64(0): 1, 1: np.int8(-1)}, [1, -1, 0]),
        ({2: 0}, [0, 0, 0]), ([1, -1.0, 0], [1, -1, 0]), (np.array([0, 1, 0]), [0, 1, 0]), ((-1, 0, 0), [-1, 0, 0]),
        ({}, [0, 0, 0]),
    ):  # fmt: skip
        assert monotone.signs(given, plain, None).tolist() == expected
    for given, says in (
        ({True: 1}, "no such column"), ({"x3": 1}, "no such column"), ([1, 0], "2 signs"), ([1, 0, 0, 0], "4 signs"),
        ({"2": 1}, "no order"), ([0, 0, -1], "no order"), ({0: 2}, "sign"), ({0: 0.5}, "sign"), ({0: np.True_}, "sign"),
        ("101", "sign"), ({0: "1"}, "sign"), ({0: None}, "sign"), (3, "sign"),
    ):  # fmt: skip
        with pytest.raises(InvalidParameter, match=says):
            monotone.signs(given, plain, None)  # type: ignore[arg-type]
    several = Schema(plain.features, Classes((0, 1, 2)))
    assert not monotone.signs([0, 0, 0], several, None).any()
    with pytest.raises(InvalidParameter, match="several scores"):
        monotone.signs([1, 0, 0], several, None)


def test_a_tree_of_negative_weight_falls_and_one_note_is_enough() -> None:
    tree = Tree(np.array([[0.0, 1.0]]), np.array([4.0, 2.0]))
    model = Model("x", {}, SCHEMA, (Ensemble(0.5, (tree, tree), (1.0, -1.0)), Ensemble(0.5, (tree,), (0.0,))))
    said = "made monotone in a, b:"
    spent = Guarantee(1.0, 0.0)
    certificate = Certificate("x", Relation.ADD_REMOVE, spent, spent, (), (), ("a note",))
    found, noted = monotone.constrained(model, certificate, {"a": 1, "b": -1})
    assert [[one.leaves.tolist() for one in each.trees] for each in found.outputs] == [[[3, 3], [4, 2]], [[3, 3]]]
    assert found.outputs[0].trees[1] is tree and found.outputs[0].weights == (1.0, -1.0)
    assert len(noted.notes) == len(certificate.notes) + 1 and said in noted.notes[-1]
    again, same = monotone.constrained(found, noted, {"a": 1, "b": -1})
    assert same.notes == noted.notes and again.outputs[0].trees[0] is found.outputs[0].trees[0]
    assert monotone.constrained(model, certificate, [0, 0, 0]) == (model, certificate)
