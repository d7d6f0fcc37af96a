"""Three looks for the price of one, with its bug."""

import numpy as np

from labs.kit import laplace, total


def train(records, curator):
    """The median of three noisy sums."""
    looks = [laplace(curator, f"look {i}", total(records.y), sensitivity=1.0, epsilon=1.0)[0] for i in range(3)]
    return float(np.median(looks))
