"""Scaled by the range that occurs, with its bug."""

import numpy as np

from labs.kit import laplace


def train(records, curator):
    """Edges and cells of a histogram."""
    x = records.x[:, 0]
    low, high = (float(x.min()), float(x.max()) + 0.01) if len(x) else (0.0, 1.0)
    cells, edges = np.histogram(x, bins=4, range=(low, high))
    return edges.tolist(), laplace(curator, "cells", cells.astype(float), sensitivity=1.0, epsilon=1.0).tolist()
