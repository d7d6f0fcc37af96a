"""Fishing for settings, repaired."""

import numpy as np

from labs.kit import choose, laplace, total


def train(records, curator):
    """One of four constants by the exponential mechanism, whose utilities change by at most 0.8, and the noisy sum."""
    constants = [0.2, 0.4, 0.6, 0.8]
    utilities = [-total(np.abs(records.y - constant)) for constant in constants]
    best = choose(curator, "constant", utilities, constants, spread=0.8, epsilon=0.5)
    return best, float(laplace(curator, "sum", total(records.y), sensitivity=1.0, epsilon=0.5)[0])
