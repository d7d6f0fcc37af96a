"""Residuals of an exact mean: wrong and right submissions, for the autograder."""

import numpy as np

from labs.cheats import Train
from labs.kit import laplace, total


def build(centre: str = "released", first: float = 0.5, second: float = 0.5, clip: bool = True) -> Train:
    """The sum of distances from a centre of the labels."""

    def train(records, curator):
        labels, size = total(records.y), float(len(records.y))
        match centre:
            case "released":
                sums = laplace(curator, "sums", [labels, size], 2.0, first)
                middle = float(sums[0] / max(sums[1], 1.0))
            case "median":
                middle = float(np.median(records.y)) if size else 0.0
            case "rounded":
                middle = float(np.rint(labels / max(size, 1.0)))
            case "largest":
                middle = float(max(records.y, default=0.0))
            case "least":
                middle = float(min(records.y, default=1.0))
            case _:
                middle = 0.5
        middle = float(np.clip(middle, 0.0, 1.0)) if clip else middle
        return float(laplace(curator, "spread", total(np.abs(records.y - middle)), 1.0, second)[0])

    return train


WRONG: dict[str, Train] = {
    "the least label": build("least", second=1.0),
    "the largest label": build("largest", second=1.0),
    "a released mean that may be anywhere": build(clip=False),
    "both rounds at the whole budget": build("released", 1.0, 1.0),
}
RIGHT: dict[str, Train] = {
    "a public centre": build("public", second=1.0),
    "little for the mean": build(first=0.2, second=0.8),
    "the exact median: no centre has a smaller sum, so a record adds 1 at most": build("median", second=1.0),
    "0 or 1, whichever the mean is nearer to: the smaller of two sums": build("rounded", second=1.0),
}
