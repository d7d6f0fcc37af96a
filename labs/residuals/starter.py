"""Residuals of an exact mean, with its bug."""

import numpy as np

from labs.kit import laplace, total


def train(records, curator):
    """The sum of the distances from the mean label; each is at most 1."""
    mean = total(records.y) / max(len(records.y), 1)
    return float(laplace(curator, "spread", total(np.abs(records.y - mean)), sensitivity=1.0, epsilon=1.0)[0])
