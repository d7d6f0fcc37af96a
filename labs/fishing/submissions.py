"""Fishing for settings: wrong and right submissions, for the autograder."""

import numpy as np

from labs.cheats import Train
from labs.kit import choose, laplace, total


def build(pick: float = 0.5, sums: float = 0.5, spread: float = 0.8, fixed: bool = False, peek: bool = False) -> Train:
    """A constant, chosen or fixed, and the noisy sum."""

    def train(records, curator):
        constants = [0.2, 0.4, 0.6, 0.8]
        utilities = [-total(np.abs(records.y - constant)) for constant in constants]
        best = 0.4 if fixed else choose(curator, "constant", utilities, constants, spread, pick)
        shown = constants[int(np.argmax(utilities))] if peek else best
        return shown, float(laplace(curator, "sum", total(records.y), 1.0, sums)[0])

    return train


WRONG: dict[str, Train] = {
    "a choice that is not used": build(peek=True),
    "both at the whole budget": build(1.0, 1.0),
    "the range taken as 0.2": build(spread=0.2),
    "the sum at 0.8": build(sums=0.8),
}
RIGHT: dict[str, Train] = {
    "a constant fixed beforehand": build(fixed=True, sums=1.0),
    "little for the choice": build(0.2, 0.8),
}
