"""One noise for two numbers, with its bug."""

import numpy as np

from labs.kit import laplace


def train(records, curator):
    """The numbers of large labels and of large x."""
    first, second = float(np.sum(records.y > 0.5)), float(np.sum(records.x[:, 0] > 0.5))
    noisy = float(laplace(curator, "first", first, sensitivity=1.0, epsilon=1.0)[0])
    return noisy, second + (noisy - first)
