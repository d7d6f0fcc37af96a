"""A formula outside its range: wrong and right submissions, for the autograder."""

import math

from labs.cheats import Train
from labs.kit import gaussian, laplace, total


def build(sigma: float = 0.4, declared: float = 1.0, sums: int = 1) -> Train:
    """The sum of labels, released with Gaussian noise, once or more often."""

    def train(records, curator):
        exact = total(records.y)
        return [float(gaussian(curator, f"sum {n}", exact, declared, sigma)[0]) for n in range(sums)]

    return train


def pure(records, curator):
    """Laplace noise: no delta is needed."""
    return float(laplace(curator, "sum", total(records.y), 1.0, 10.0)[0])


WRONG: dict[str, Train] = {
    "without the factor 1.25": build(math.sqrt(2 * math.log(1 / 0.01)) / 10.0),
    "sigma 1 / epsilon": build(0.1),
    "four sums for the price of one": build(sums=4),
    "half of the sensitivity": build(0.4, declared=0.5),
}
RIGHT: dict[str, Train] = {
    "sigma 0.4": build(),
    "four sums with twice the noise": build(0.8, sums=4),
    "Laplace noise, without delta": pure,
}
