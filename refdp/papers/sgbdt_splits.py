"""Random trees: splits that come from public randomness alone, and the leaf that each record falls into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from refdp.curator import Curator
from refdp.records import Categorical, Floats, Numeric, Schema

Features = Literal["uniform", "cyclic"]
Values = Literal["uniform", "grid"]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Domain:
    """Public bounds and category counts of the features; all arrays have shape (features,).

    categories: number of categories, 0 for a numeric feature.
    """

    low: Floats
    span: Floats
    categories: NDArray[np.int64]

    @classmethod
    def of(cls, schema: Schema) -> Domain:
        """The domain of a schema."""
        numeric = [feature if isinstance(feature, Numeric) else None for feature in schema.features]
        listed = [len(f.categories) if isinstance(f, Categorical) else 0 for f in schema.features]
        return cls(
            np.array([f.low if f else 0.0 for f in numeric]),
            np.array([f.high - f.low if f else 0.0 for f in numeric]),
            np.array(listed, dtype=np.int64),
        )

    @property
    def categorical(self) -> Flags:
        """Which features are categorical."""
        return self.categories > 0


def draw_splits(
    curator: Curator, domain: Domain, depth: int, tree: int, features: Features, values: Values, points: int
) -> Floats:
    """The splits of one full tree, shape (2^depth - 1, 2) in level order: feature, threshold or category index.

    features: drawn for every node, or tree number modulo the number of features for all of them ("cyclic").
    values: uniform on the public bounds, or on `points` grid values low + i (high - low) / points, i = 0 .. points - 1,
      that the path has not ruled out; categories uniform over the public list.
    """
    nodes, width = 2**depth - 1, len(domain.low)
    if features == "uniform":
        feature = curator.draw("features", ("integers", width), nodes)
    else:
        feature = np.full(nodes, tree % width)
    where = curator.draw("values", ("uniform",), nodes)
    share = where if values == "uniform" else grid_index(feature, where, width, points) / points
    ordered = domain.low[feature] + share * domain.span[feature]
    category = np.floor(where * domain.categories[feature])
    return np.column_stack([feature, np.where(domain.categorical[feature], category, ordered)]).astype(np.float64)


def grid_index(feature: NDArray[np.int64], where: Floats, width: int, points: int) -> Floats:
    """For every node a grid index uniform among those still reachable: below the path's right turns, above its lefts.

    where: uniform draws in [0, 1). Where a path has used up a feature, the last bound again: all records go one way.
    """
    first = np.zeros((len(feature), width), dtype=np.int64)
    last = np.full((len(feature), width), points - 1)
    index = np.zeros(len(feature))
    for node, f in enumerate(feature):
        left = first[node, f]
        count = max(last[node, f] - left + 1, 0)
        index[node] = chosen = min(left + int(where[node] * count), points - 1)
        for child in (2 * node + 1, 2 * node + 2):
            if child < len(feature):
                first[child], last[child] = first[node], last[node]
        if 2 * node + 2 < len(feature):  # right means x >= threshold
            last[2 * node + 1, f] = min(last[node, f], chosen - 1)
            first[2 * node + 2, f] = max(left, chosen + 1)
    return index


def leaf_of(x: Floats, splits: Floats, categorical: Flags) -> NDArray[np.uint8]:
    """The leaf of every row of x, shape (rows, features), as `trees.Tree.leaf_index` has it.

    All nodes are compared for all rows, and the answers that are on a row's path selected: no gathering of values.
    """
    right = [_goes_right(x[:, int(f)], value, bool(categorical[int(f)])) for f, value in splits]
    leaf = np.zeros(len(x), dtype=np.uint8)
    turns: list[Flags] = []
    start = 0
    while start < len(right):
        here = right[start : 2 * start + 1]
        for turn in reversed(turns):  # pairs of siblings first: their parent's turn decides between them
            here = [_either(turn_of, a, b) for turn_of, a, b in zip([turn] * len(here), here[::2], here[1::2])]
        turns.append(here[0])
        leaf += leaf + here[0]
        start = 2 * start + 1
    return leaf


def _goes_right(column: Floats, value: float, categorical: bool) -> Flags:
    return column == value if categorical else column >= value  # a missing value (NaN) goes left


def _either(turn: Flags, left: Flags, right: Flags) -> Flags:
    return left ^ (turn & (left ^ right))
