"""A sum in half precision: wrong and right submissions, for the autograder."""

import math

import numpy as np

from labs.cheats import Train
from labs.kit import laplace, total


def halves(labels) -> float:
    """A running sum in half precision."""
    kept = np.float16(0.0)
    for label in labels:
        kept = np.float16(kept + np.float16(label))
    return float(kept)


SUMS = {
    "sorted": lambda y: halves(sorted(y.tolist())),
    "tens first": lambda y: total(10 * np.rint(y / 10)),
    "tens last": lambda y: float(10 * np.rint(total(y) / 10)),
    "whole": lambda y: total(np.rint(y)),
    "fsum": lambda y: math.fsum(np.floor(y).tolist()),
    "grid": total,
}


def build(way: str = "grid", declared: float = 999.0, epsilon: float = 1.0) -> Train:
    """The sum of labels, added up in one of several ways."""
    return lambda records, curator: float(laplace(curator, "sum", SUMS[way](records.y), declared, epsilon)[0])


WRONG: dict[str, Train] = {
    "half precision, in order of size": build("sorted"),
    "each label rounded to tens": build("tens first"),
    "the sum rounded to tens before the noise": build("tens last"),
    "half of the sensitivity": build(declared=499.5),
    "twice the budget": build(epsilon=2.0),
}
RIGHT: dict[str, Train] = {
    "each label rounded to a whole number": build("whole"),
    "rounded down, summed without error": build("fsum"),
    "half of the budget": build(epsilon=0.5),
}
