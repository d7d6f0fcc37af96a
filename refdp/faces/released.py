"""What can be read off a model without touching a record: importances of features, and scores tree by tree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from refdp.data.records import Ensemble, Floats, Model


def importances(model: Model) -> Floats:
    """How much released leaf values differ between the two sides of splits by each feature, shape (features,), sum 1.

    A split's worth is the squared difference of its sides' mean leaf values times the tree's weight squared, its node
    counted as 2^-level of the records, which nothing released says better. All zero for a model without any difference.
    """
    found = np.zeros(len(model.schema.features))
    for ensemble in model.outputs:
        for tree, weight in zip(ensemble.trees, ensemble.weights, strict=True):
            below = np.asarray(tree.leaves, dtype=np.float64)
            for level in reversed(range((len(tree.splits) + 1).bit_length() - 1)):
                left, right = below[0::2], below[1::2]
                feature = tree.splits[2**level - 1 : 2 ** (level + 1) - 1, 0].astype(np.intp)
                np.add.at(found, feature, (weight * (left - right)) ** 2 / 2**level)
                below = (left + right) / 2
    total = float(found.sum())
    return found / total if total > 0 else found


def staged(model: Model) -> Iterator[Model]:
    """The model after each of its trees, of every score alike; of a forest the mean of the trees so far."""
    forest = model.params.get("update") == "averaging"
    for trees in range(1, max(len(own.trees) for own in model.outputs) + 1):
        yield replace(model, outputs=tuple(_cut(one, trees, forest) for one in model.outputs))


def _cut(one: Ensemble, trees: int, forest: bool) -> Ensemble:
    """Its first trees. forest: weights are shares of all trees, and become shares of these."""
    weights = one.weights[:trees]
    if forest and trees < len(one.trees):
        total = math.fsum(weights)
        weights = tuple(weight / total for weight in weights)
    return replace(one, trees=one.trees[:trees], weights=weights)
