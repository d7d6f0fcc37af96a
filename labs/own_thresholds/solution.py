"""Thresholds from the records, repaired."""

import numpy as np

from labs.kit import choose


def train(records, curator):
    """A threshold of a public grid; a record changes the balance of each threshold by 1 up or down."""
    values = [0.125 * step for step in range(1, 8)]
    below = [float(np.sum(records.x[:, 0] <= value)) for value in values]
    utilities = [-abs(2 * count - len(records.y)) for count in below]
    return choose(curator, "cut", utilities, values, spread=2.0, epsilon=1.0)
