"""Halves by rank, repaired."""

from labs.kit import laplace, total


def train(records, curator):
    """The sums of labels of the records with x up to 0.5 and of all others: a record is in one of them."""
    low = records.x[:, 0] <= 0.5
    return laplace(curator, "halves", [total(records.y[low]), total(records.y[~low])], 1.0, epsilon=1.0).tolist()
