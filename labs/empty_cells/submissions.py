"""Empty cells without noise: wrong and right submissions, for the autograder."""

import numpy as np

from labs.cheats import Train
from labs.kit import laplace


def build(epsilon: float = 1.0, declared: float = 1.0, hide: int = -1, bins: int = 4, cumulate: bool = False) -> Train:
    """Cells, those with up to `hide` records as zero; or their running sums."""

    def train(records, curator):
        cells = np.histogram(records.x[:, 0], bins=bins, range=(0.0, 1.0))[0].astype(float)
        noisy = laplace(curator, "cells", np.cumsum(cells) if cumulate else cells, declared, epsilon)
        return np.where(cells <= hide, 0.0, noisy).tolist()

    return train


WRONG: dict[str, Train] = {
    "cells of one record hidden too": build(hide=1),
    "running sums as released values": build(cumulate=True),
    "twice the budget": build(epsilon=2.0),
    "half of the sensitivity": build(declared=0.5),
}
RIGHT: dict[str, Train] = {
    "eight cells": build(bins=8),
    "half of the budget": build(epsilon=0.5),
}
