"""A filter after the sample: wrong and right submissions, for the autograder."""

import math

import numpy as np

from labs.cheats import Train
from labs.kit import laplace, total


def build(
    rounds: int = 2, cost: float = 0.5, rate: float = 0.5, counted: float = 0.5, filtered: str = "", size: bool = False
) -> Train:
    """Noisy sums of samples that cost `cost` each if the rate is `counted`; filtered: who leaves after a sample."""
    each = math.log(1 + math.expm1(cost) / counted)

    def train(records, curator):
        seen, inside = [], np.ones(len(records.y), dtype=bool)
        for number in range(rounds):
            with curator.subsample(f"sample {number}", rate, len(records.y)) as sample:
                taken = sample & inside
                seen.append(float(laplace(curator, f"sum {number}", total(records.y[taken]), 1.0, each)[0]))
            leaving = {
                "": np.zeros_like(sample),
                "sampled": sample,
                "others": ~sample,
                "large": sample & (records.y > 0.5),
            }
            inside = inside & ~leaving[filtered]
            if size:
                seen.append(float(np.sum(sample)))
        return seen

    return train


def places(records, curator):
    """Every second record by its place, charged as if a sample had been drawn."""
    return float(laplace(curator, "sum", total(records.y[::2]), 1.0, math.log(1 + 2 * math.expm1(1.0)))[0])


WRONG: dict[str, Train] = {
    "who was not sampled leaves": build(2, 0.9, filtered="others"),
    "only sampled records with large labels leave": build(2, 0.9, filtered="large"),
    "every second record instead of a sample": places,
    "the size of the sample beside it": build(size=True),
    "three rounds charged as two": build(3),
    "nine tenths sampled, charged as a half": build(rate=0.9),
}
RIGHT: dict[str, Train] = {
    "one round at the whole budget": build(1, 1.0),
    "four rounds at a quarter": build(4, 0.25),
    "a tenth sampled": build(rate=0.1, counted=0.1),
}
