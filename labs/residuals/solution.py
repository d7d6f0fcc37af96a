"""Residuals of an exact mean, repaired."""

import numpy as np

from labs.kit import laplace, total


def train(records, curator):
    """The sum of the distances from a mean label that was released; then each record adds its own and no other's."""
    sums = laplace(curator, "sums", [total(records.y), float(len(records.y))], sensitivity=2.0, epsilon=0.5)
    mean = float(np.clip(sums[0] / max(sums[1], 1.0), 0.0, 1.0))
    return float(laplace(curator, "spread", total(np.abs(records.y - mean)), sensitivity=1.0, epsilon=0.5)[0])
