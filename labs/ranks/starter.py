"""Halves by rank, with its bug."""

import numpy as np

from labs.kit import laplace, total


def train(records, curator):
    """The sums of labels of the records with smaller and with larger x."""
    order = np.argsort(records.x[:, 0], kind="stable")
    middle = len(order) // 2
    halves = [total(records.y[order[:middle]]), total(records.y[order[middle:]])]
    return laplace(curator, "halves", halves, sensitivity=1.0, epsilon=1.0).tolist()
