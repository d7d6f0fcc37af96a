"""Fishing for settings, with its bug."""

import numpy as np

from labs.kit import laplace, total


def train(records, curator):
    """The best of four constants, and the noisy sum of what is above it."""
    constants = [0.2, 0.4, 0.6, 0.8]
    errors = [total(np.abs(records.y - constant)) for constant in constants]
    best = constants[int(np.argmin(errors))]
    return best, float(laplace(curator, "sum", total(records.y), sensitivity=1.0, epsilon=1.0)[0])
