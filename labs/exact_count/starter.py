"""A mean over the exact count, with its bug."""

from labs.kit import laplace, total


def train(records, curator):
    """The mean label."""
    noisy = laplace(curator, "sum", total(records.y), sensitivity=1.0, epsilon=1.0)
    return float(noisy[0]) / max(len(records.y), 1)
