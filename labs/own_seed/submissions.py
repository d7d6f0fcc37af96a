"""Noise that can be made again: wrong and right submissions, for the autograder."""

import random
import zlib

import numpy as np

from labs.cheats import Train
from labs.kit import laplace, total


def build(noise: str = "curator", declared: float = 1.0, epsilon: float = 1.0, sums: int = 1) -> Train:
    """The sum of labels, with noise of the curator or from somewhere else."""

    def train(records, curator):
        exact = total(records.y)
        match noise:
            case "records":
                seed = zlib.crc32(np.ascontiguousarray(records.y).tobytes())
                return exact + float(np.random.default_rng(seed).laplace())
            case "size":
                return exact + float(np.random.default_rng(len(records.y)).laplace())
            case "python":
                return exact + random.Random(7).expovariate(1.0) - random.Random(8).expovariate(1.0)
            case "public":
                return exact + float(curator.draw("noise", ("uniform",), 1)[0])
            case "system":
                return exact + float(np.random.default_rng().laplace())
        return [float(laplace(curator, f"sum {n}", exact, declared, epsilon)[0]) for n in range(sums)]

    return train


WRONG: dict[str, Train] = {
    "a seed from the labels": build("records"),
    "a seed from the number of records": build("size"),
    "Python's generator with a seed": build("python"),
    "the curator's public randomness as noise": build("public"),
    "a generator of its own without a seed, which nobody accounts for": build("system"),
    "half of the sensitivity": build(declared=0.5),
}
RIGHT: dict[str, Train] = {
    "two sums for half of the budget each": build(epsilon=0.5, sums=2),
    "half of the budget": build(epsilon=0.5),
    "more noise than needed": build(declared=2.0),
}
