"""Three looks for the price of one, repaired."""

import numpy as np

from labs.kit import laplace, total


def train(records, curator):
    """The median of three noisy sums of a third of the budget each."""
    looks = [laplace(curator, f"look {i}", total(records.y), sensitivity=1.0, epsilon=1 / 3)[0] for i in range(3)]
    return float(np.median(looks))
