"""The length of the wrong vector, with its bug."""

import math

from labs.kit import laplace, total


def train(records, curator):
    """The number of records and the sum of labels: a record moves the pair by a vector of length sqrt(2) at most."""
    pair = [float(len(records.y)), total(records.y)]
    return laplace(curator, "pair", pair, sensitivity=math.sqrt(2.0), epsilon=1.0).tolist()
