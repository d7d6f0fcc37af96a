"""Epsilon as scale, with its bug."""

import numpy as np

from labs.kit import noised


def train(records, curator):
    """The number of large labels."""
    large = float(np.sum(records.y > 0.5))
    return float(noised(curator, "count", large, sensitivity=1.0, scale=0.5)[0])
