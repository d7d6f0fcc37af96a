"""Epsilon as scale, repaired."""

import numpy as np

from labs.kit import noised


def train(records, curator):
    """The number of large labels: one record changes it by at most 1, so the scale is 1 / 0.5."""
    large = float(np.sum(records.y > 0.5))
    return float(noised(curator, "count", large, sensitivity=1.0, scale=1 / 0.5)[0])
