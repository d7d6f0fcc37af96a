"""The factor two of the exponential mechanism, with its bug."""

import numpy as np

from labs.kit import choose

THRESHOLDS = [0.25, 0.5, 0.75]


def train(records, curator):
    """The threshold on x that separates large labels best."""
    sides = [(records.x[:, 0] > cut) == (records.y > 0.5) for cut in THRESHOLDS]
    utilities = [float(np.sum(np.where(right, 1.0, -1.0))) for right in sides]
    return choose(curator, "cut", utilities, THRESHOLDS, spread=1.0, epsilon=1.0)
