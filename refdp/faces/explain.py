"""Models whose trees have one feature each, as sums of functions of single features (Maddock et al. 2022, Section 5.1).

Explainable boosting: score(x) = initial + sum over features j of f_j(x_j). Each f_j is a step function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refdp.data.records import Categorical, Classes, Ensemble, Feature, Floats, Model, Tree
from refdp.errors import InvalidParameter


@dataclass(frozen=True)
class Shape:
    """What one feature adds to a score.

    steps: where each value begins, the lower bound first; or the categories. values: what is added there, for
    steps[i] <= x < steps[i + 1]. missing: what a missing value adds.
    """

    name: str
    steps: tuple[float, ...] | tuple[str, ...]
    values: Floats
    missing: float


@dataclass(frozen=True)
class Shapes:
    """The shape functions of a model: for each score (one, or one a class) those of all features."""

    titles: tuple[str, ...]
    scores: tuple[tuple[Shape, ...], ...]

    def plot(self, score: int = 0, columns: int = 3) -> Any:
        """A matplotlib figure with one panel a feature."""
        from matplotlib.figure import Figure

        shapes = self.scores[score]
        rows = -(-len(shapes) // columns)
        figure = Figure(figsize=(3.2 * columns, 2.2 * rows), layout="constrained")
        for place, shape in enumerate(shapes, 1):
            axis = figure.add_subplot(rows, columns, place)
            if isinstance(shape.steps[0], str):
                axis.bar(range(len(shape.steps)), shape.values, tick_label=list(shape.steps))
            else:
                axis.step(shape.steps, shape.values, where="post")
            axis.set_title(shape.name, fontsize=9)
        figure.suptitle(self.titles[score])
        return figure


def shape_functions(model: Model) -> Shapes:
    """The shape functions. Errors: InvalidParameter if a tree has several features."""
    target = model.schema.target
    titles = target.values if isinstance(target, Classes) and len(model.outputs) > 1 else ("score",)
    scores = tuple(_of_ensemble(ensemble, model.schema.features) for ensemble in model.outputs)
    return Shapes(tuple(titles), scores)


def _of_ensemble(ensemble: Ensemble, features: Sequence[Feature]) -> tuple[Shape, ...]:
    owners = [_only_feature(number, tree) for number, tree in enumerate(ensemble.trees, 1)]
    categorical = np.array([isinstance(feature, Categorical) for feature in features])
    shapes = []
    for column, feature in enumerate(features):
        mine = [index for index, owner in enumerate(owners) if owner == column]
        points = _points(feature, [ensemble.trees[index] for index in mine])
        x = np.zeros((len(points) + 1, len(features)))
        x[:, column] = [*points, np.nan]
        values = np.zeros(len(x))
        for index in mine:
            values += ensemble.weights[index] * ensemble.trees[index].predict(x, categorical)
        steps = feature.categories if isinstance(feature, Categorical) else tuple(points)
        shapes.append(Shape(feature.name, steps, values[:-1], float(values[-1])))
    return tuple(shapes)


def _only_feature(number: int, tree: Tree) -> int:
    used = np.unique(tree.splits[:, 0]).astype(int)
    if len(used) > 1:
        raise InvalidParameter(f"tree {number} splits on {len(used)} features: only a model trained with "
                               "features_per_tree=1 is a sum of functions of single features")  # fmt: skip
    return int(used[0])


def _points(feature: Feature, trees: list[Tree]) -> list[float]:
    """The lower bound and every threshold above it; or the category indices."""
    if isinstance(feature, Categorical):
        return [float(index) for index in range(len(feature.categories))]
    thresholds = {float(t) for tree in trees for t in tree.splits[:, 1]}
    return [feature.low, *sorted(t for t in thresholds if t > feature.low)]
