"""Epsilon as scale: wrong and right submissions, for the autograder."""

import numpy as np

from labs.cheats import Train
from labs.kit import noised


def build(scale: float = 2.0, declared: float = 1.0, weight: float = 1.0) -> Train:
    """A count, weighted, with noise of a scale."""

    def train(records, curator):
        large = weight * float(np.sum(records.y > 0.5))
        return float(noised(curator, "count", large, declared, scale)[0])

    return train


WRONG: dict[str, Train] = {
    "scale 1": build(scale=1.0),
    "scale 1.9": build(scale=1.9),
    "half of the sensitivity declared": build(scale=1.0, declared=0.5),
    "counts twice": build(weight=2.0),
    "counts twice, declared once, scale 2": build(weight=2.0, scale=2.0, declared=1.0),
}
RIGHT: dict[str, Train] = {
    "more noise than needed": build(scale=4.0, declared=1.0),
    "counts twice with twice the noise": build(weight=2.0, scale=4.0, declared=2.0),
}
