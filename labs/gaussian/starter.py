"""A formula outside its range, with its bug."""

import math

from labs.kit import gaussian, total


def train(records, curator):
    """The sum of labels."""
    sigma = math.sqrt(2 * math.log(1.25 / 0.01)) / 10.0
    return float(gaussian(curator, "sum", total(records.y), sensitivity=1.0, sigma=sigma)[0])
