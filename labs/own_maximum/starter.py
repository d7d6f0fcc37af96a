"""Clipped at the largest label, with its bug."""

from labs.kit import laplace, total


def train(records, curator):
    """The sum of labels."""
    largest = float(max(records.y, default=1.0)) or 1.0
    return float(laplace(curator, "sum", total(records.y), sensitivity=largest, epsilon=1.0)[0])
