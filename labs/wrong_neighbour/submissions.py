"""The record that moves: wrong and right submissions, for the autograder."""

import numpy as np

from labs.cheats import Train
from labs.kit import laplace


def build(declared: float = 2.0, epsilon: float = 1.0, bins: int = 4, apart: bool = False) -> Train:
    """Cells in one release, or each in a release of its own."""

    def train(records, curator):
        cells = np.histogram(records.x[:, 0], bins=bins, range=(0.0, 1.0))[0].astype(float)
        if apart:
            return [float(laplace(curator, f"cell {i}", c, declared, epsilon)[0]) for i, c in enumerate(cells)]
        return laplace(curator, "cells", cells, declared, epsilon).tolist()

    return train


WRONG: dict[str, Train] = {
    "each cell apart, whole budget": build(declared=1.0, apart=True),
    "sensitivity 1.5": build(declared=1.5),
    "twice the budget": build(epsilon=2.0),
    "two cells of sensitivity 1": build(declared=1.0, bins=2),
}
RIGHT: dict[str, Train] = {
    "half of the budget": build(epsilon=0.5),
    "eight cells": build(bins=8),
}
