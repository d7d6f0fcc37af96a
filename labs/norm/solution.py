"""The length of the wrong vector, repaired."""

from labs.kit import laplace, total


def train(records, curator):
    """The number of records and the sum of labels: a record changes each by at most 1, together by 2."""
    pair = [float(len(records.y)), total(records.y)]
    return laplace(curator, "pair", pair, sensitivity=2.0, epsilon=1.0).tolist()
