"""Clipped at the largest label: wrong and right submissions, for the autograder."""

import numpy as np

from labs.cheats import Train
from labs.kit import laplace, total


def build(clip: float = 1.0, declared: float = 1.0, epsilon: float = 1.0, mean: bool = False) -> Train:
    """The sum of labels clipped at a constant."""

    def train(records, curator):
        declared_here = max(float(np.mean(records.y)) if len(records.y) else 1.0, 0.1) if mean else declared
        return float(laplace(curator, "sum", total(np.minimum(records.y, clip)), declared_here, epsilon)[0])

    return train


WRONG: dict[str, Train] = {
    "the mean label as the bound": build(mean=True),
    "clip 1, declared 0.5": build(declared=0.5),
    "clip 0.5, declared 0.25": build(0.5, 0.25),
    "twice the budget": build(epsilon=2.0),
}
RIGHT: dict[str, Train] = {
    "clipped at a constant one half": build(0.5, 0.5),
    "half of the budget": build(epsilon=0.5),
}
