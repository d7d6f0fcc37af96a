"""Stopping by an exact error: wrong and right submissions, for the autograder."""

import numpy as np

from labs.cheats import Train
from labs.kit import laplace, total


def build(rounds: int = 4, each: float = 0.25, rule: str = "never") -> Train:
    """Noisy sums, ended by a rule."""

    def train(records, curator):
        seen = []
        for number in range(rounds):
            seen.append(float(laplace(curator, f"round {number}", total(records.y), 1.0, each)[0]))
            exact = {"count": len(records.y) <= number, "largest": bool(np.any(records.y > 0.9))}
            if rule != "never" and exact.get(rule, seen[-1] > 3.0):
                break
        return seen

    return train


WRONG: dict[str, Train] = {
    "by the number of records": build(rule="count"),
    "by the largest label": build(rule="largest"),
    "five rounds": build(rounds=5),
    "rounds at 0.5": build(each=0.5),
}
RIGHT: dict[str, Train] = {
    "four rounds always": build(),
    "by a released sum above 3": build(rule="released"),
}
