"""One noise for two numbers, repaired."""

import numpy as np

from labs.kit import laplace


def train(records, curator):
    """Both numbers as one release: a record changes each by at most 1, together by 2."""
    both = [float(np.sum(records.y > 0.5)), float(np.sum(records.x[:, 0] > 0.5))]
    return tuple(laplace(curator, "both", both, sensitivity=2.0, epsilon=1.0).tolist())
