"""One noise for two numbers: wrong and right submissions, for the autograder."""

import numpy as np

from labs.cheats import Train
from labs.kit import laplace


def build(first: float = 0.5, second: float = 0.5, together: float = 0.0, difference: bool = False) -> Train:
    """Both numbers, in two releases or in one of a declared sensitivity, or the difference beside them."""

    def train(records, curator):
        both = [float(np.sum(records.y > 0.5)), float(np.sum(records.x[:, 0] > 0.5))]
        if together:
            return tuple(laplace(curator, "both", both, together, 1.0).tolist())
        shown = (
            laplace(curator, "first", both[0], 1.0, first)[0],
            laplace(curator, "second", both[1], 1.0, second)[0],
        )
        return tuple(map(float, shown)) + ((both[0] - both[1],) if difference else ())

    return train


WRONG: dict[str, Train] = {
    "each at the whole budget": build(1.0, 1.0),
    "one release of sensitivity 1": build(together=1.0),
    "0.5 and 0.6": build(0.5, 0.6),
    "the exact difference beside": build(difference=True),
}
RIGHT: dict[str, Train] = {
    "two halves": build(),
    "unequal shares": build(0.9, 0.1),
}
