"""Noise that can be made again, repaired."""

from labs.kit import laplace, total


def train(records, curator):
    """The sum of labels, released by the curator, whose noise nobody can make again."""
    return float(laplace(curator, "sum", total(records.y), sensitivity=1.0, epsilon=1.0)[0])
