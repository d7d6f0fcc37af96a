"""The record that moves, repaired."""

import numpy as np

from labs.kit import laplace


def train(records, curator):
    """Four cells, two of which change where a record is replaced."""
    cells = np.histogram(records.x[:, 0], bins=4, range=(0.0, 1.0))[0].astype(float)
    return laplace(curator, "cells", cells, sensitivity=2.0, epsilon=1.0).tolist()
