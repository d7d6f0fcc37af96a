"""Scaled by the range that occurs: wrong and right submissions, for the autograder."""

import numpy as np

from labs.cheats import Train
from labs.kit import laplace


def build(low: str = "", epsilon: float = 1.0, declared: float = 1.0, bins: int = 4) -> Train:
    """A histogram whose lowest edge is 0, or the mean, the median or the least of the records."""

    def train(records, curator):
        x = records.x[:, 0]
        start = float(getattr(np, low)(x)) if low and len(x) else 0.0
        cells, edges = np.histogram(x, bins=bins, range=(start, 1.01))
        return edges.tolist(), laplace(curator, "cells", cells.astype(float), declared, epsilon).tolist()

    return train


WRONG: dict[str, Train] = {
    "from the least value": build("min"),
    "from the median": build("median"),
    "half of the sensitivity": build(declared=0.5),
    "twice the budget": build(epsilon=2.0),
}
RIGHT: dict[str, Train] = {
    "eight bins": build(bins=8),
    "half of the budget": build(epsilon=0.5),
}
