"""The length of the wrong vector: wrong and right submissions, for the autograder."""

import numpy as np

from labs.cheats import Train
from labs.kit import laplace, total


def build(declared: float = 2.0, epsilon: float = 1.0, parts: str = "pair") -> Train:
    """Several sums as one release of a declared L1 sensitivity."""

    def train(records, curator):
        size, labels = float(len(records.y)), total(records.y)
        sums = {
            "pair": [size, labels],
            "shifted": [size, labels - size / 2],
            "squares": [size, labels, total(np.square(records.y))],
            "around": [total(records.y - 0.5), total(np.abs(records.y - 0.5))],
            "split": [size - labels, labels],
        }
        return laplace(curator, "sums", sums[parts], declared, epsilon).tolist()

    return train


WRONG: dict[str, Train] = {
    "the larger of both changes": build(1.0),
    "the mean of both norms": build(1.7),
    "a third sum for the price of two": build(2.0, parts="squares"),
    "twice the budget": build(epsilon=2.0),
    "labels shifted, the shift forgotten": build(1.25, parts="shifted"),
}
RIGHT: dict[str, Train] = {
    "shifted labels change by one half": build(1.5, parts="shifted"),
    "labels and their complements change by 1 together": build(1.0, parts="split"),
    "distances from one half": build(1.0, parts="around"),
}
