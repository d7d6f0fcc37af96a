"""Noise that can be made again, with its bug."""

import numpy as np

from labs.kit import total


def train(records, curator):
    """The sum of labels with Laplace noise of scale 1, the same whenever it is run."""
    return total(records.y) + float(np.random.default_rng(2024).laplace(0.0, 1.0))
