"""Three looks for the price of one: wrong and right submissions, for the autograder."""

from labs.cheats import Train
from labs.kit import laplace, total


def build(looks: int = 3, each: float = 0.3, declared: float = 1.0, until: float | None = None) -> Train:
    """Several noisy sums, all published; or as many as it takes until the exact sum is within `until` of one."""

    def train(records, curator):
        exact, seen = total(records.y), []
        for number in range(looks):
            seen.append(float(laplace(curator, f"look {number}", exact, declared, each)[0]))
            if until is not None and abs(seen[-1] - exact) < until:
                break
        return seen

    return train


WRONG: dict[str, Train] = {
    "two at 0.6": build(2, 0.6),
    "ten at 0.2": build(10, 0.2),
    "stops when it is near the truth": build(3, 0.3, until=2.0),
    "three at a third of the sensitivity": build(3, 1 / 3, declared=1 / 3),
}
RIGHT: dict[str, Train] = {
    "three at 0.3": build(),
    "two halves": build(2, 0.5),
}
