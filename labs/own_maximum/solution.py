"""Clipped at the largest label, repaired."""

from labs.kit import laplace, total


def train(records, curator):
    """The sum of labels, which the schema keeps within [0, 1]."""
    return float(laplace(curator, "sum", total(records.y), sensitivity=1.0, epsilon=1.0)[0])
