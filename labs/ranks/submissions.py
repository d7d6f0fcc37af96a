"""Halves by rank: wrong and right submissions, for the autograder."""

import numpy as np

from labs.cheats import Train
from labs.kit import laplace, total


def build(way: str = "threshold", declared: float = 1.0, epsilon: float = 1.0) -> Train:
    """Sums of labels by parts; the ways to part records are below."""

    def train(records, curator):
        x, size = records.x[:, 0], len(records.y)
        rank = np.argsort(np.argsort(x, kind="stable"), kind="stable")
        part = {
            "threshold": np.where(x <= 0.5, 0, 1),
            "quarters": np.digitize(np.nan_to_num(x), [0.25, 0.5, 0.75]),
            "thirds by rank": 3 * rank // max(size, 1),
            "places": np.arange(size) % 2,
            "first half": (np.arange(size) >= size // 2).astype(int),
            "median": np.where(x <= (np.median(x) if size else 0.0), 0, 1),
            "ranks": (rank >= size // 2).astype(int),
        }[way]
        sums = [total(records.y[part == number]) for number in range(4)]
        return laplace(curator, "sums", sums, declared, epsilon).tolist()

    return train


WRONG: dict[str, Train] = {
    "thirds by rank": build("thirds by rank"),
    "every other record": build("places"),
    "the first half and the second": build("first half"),
    "at the exact median of x": build("median"),
    "twice the budget": build(epsilon=2.0),
}
RIGHT: dict[str, Train] = {
    "quarters of the range": build("quarters"),
    "half of the budget": build(epsilon=0.5),
    "halves by rank, a record that changes sides declared": build("ranks", declared=2.0),
}
