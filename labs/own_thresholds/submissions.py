"""Thresholds from the records: wrong and right submissions, for the autograder."""

import numpy as np

from labs.cheats import Train
from labs.kit import choose


def build(
    steps: int = 8, spread: float = 2.0, epsilon: float = 1.0, around: bool = False, shift: bool = False
) -> Train:
    """A threshold of a grid, the grid moved to the records' own range or mean."""

    def train(records, curator):
        x = records.x[:, 0]
        low, high = (float(x.min()), float(x.max())) if around and len(x) else (0.0, 1.0)
        offset = (float(np.mean(x)) if len(x) else 0.0) / steps if shift else 0.0
        values = [low + (high - low) * step / steps + offset for step in range(1, steps)]
        utilities = [-abs(2 * float(np.sum(x <= value)) - len(x)) for value in values]
        return choose(curator, "cut", utilities, values, spread, epsilon)

    return train


WRONG: dict[str, Train] = {
    "a grid between smallest and largest": build(around=True),
    "a grid moved by the mean": build(shift=True),
    "the range taken as 1": build(spread=1.0),
    "twice the budget": build(epsilon=2.0),
}
RIGHT: dict[str, Train] = {
    "sixteen thresholds": build(steps=16),
    "half of the budget": build(epsilon=0.5),
}
