"""A sum in half precision, repaired."""

from labs.kit import laplace, total


def train(records, curator):
    """The sum of labels, at most 999 each, on a grid on which sums are exact."""
    return float(laplace(curator, "sum", total(records.y), sensitivity=999.0, epsilon=1.0)[0])
