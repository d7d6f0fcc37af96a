"""Scaled by the range that occurs, repaired."""

import numpy as np

from labs.kit import laplace


def train(records, curator):
    """Edges and cells of a histogram over the schema's range."""
    cells, edges = np.histogram(records.x[:, 0], bins=4, range=(0.0, 1.0))
    return edges.tolist(), laplace(curator, "cells", cells.astype(float), sensitivity=1.0, epsilon=1.0).tolist()
