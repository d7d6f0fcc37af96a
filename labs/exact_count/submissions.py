"""A mean over the exact count: wrong and right submissions, for the autograder."""

from labs.cheats import Train
from labs.kit import laplace, total


def build(sums: float = 0.5, counts: float = 0.5, bound: float = 1.0, floor: float = 1.0, peek: bool = False) -> Train:
    """A mean from a noisy sum and a noisy count."""

    def train(records, curator):
        noisy = laplace(curator, "sum", total(records.y), bound, sums)
        count = laplace(curator, "count", float(len(records.y)), 1.0, counts)
        divisor = len(records.y) if peek else count[0]
        return float(noisy[0] / max(divisor, floor))

    return train


WRONG: dict[str, Train] = {
    "both at the whole budget": build(1.0, 1.0),
    "sum at 0.7": build(0.7, 0.5),
    "half of the sensitivity declared": build(bound=0.5),
    "a noisy count that is not used": build(peek=True),
}
RIGHT: dict[str, Train] = {
    "little for the count": build(0.8, 0.2),
    "another floor": build(floor=10.0),
}
