"""Empty cells without noise, repaired."""

import numpy as np

from labs.kit import laplace


def train(records, curator):
    """Four cells; a record is in one of them."""
    cells = np.histogram(records.x[:, 0], bins=4, range=(0.0, 1.0))[0].astype(float)
    return np.maximum(laplace(curator, "cells", cells, sensitivity=1.0, epsilon=1.0), 0.0).tolist()
