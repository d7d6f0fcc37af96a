"""The factor two of the exponential mechanism: wrong and right submissions, for the autograder."""

import numpy as np

from labs.cheats import Train
from labs.kit import choose


def build(
    spread: float = 2.0, epsilon: float = 1.0, wrong: float = -1.0, own: bool = False, best: bool = False
) -> Train:
    """A threshold chosen by rights and `wrong` for wrongs, from public thresholds or from the records' own values."""

    def train(records, curator):
        cuts = [*sorted(set(records.x[:, 0].tolist())), 0.5] if own else [0.25, 0.5, 0.75]
        sides = [(records.x[:, 0] > cut) == (records.y > 0.5) for cut in cuts]
        utilities = [float(np.sum(np.where(right, 1.0, wrong))) for right in sides]
        chosen = choose(curator, "cut", utilities, cuts, spread, epsilon)
        return cuts[int(np.argmax(utilities))] if best else chosen

    return train


WRONG: dict[str, Train] = {
    "twice the budget": build(epsilon=2.0),
    "spread 1.5": build(spread=1.5),
    "thresholds of the records": build(own=True),
    "the best one instead of the chosen one": build(best=True),
}
RIGHT: dict[str, Train] = {
    "rights alone have a range of 1": build(spread=1.0, wrong=0.0),
    "half of the budget": build(epsilon=0.5),
}
