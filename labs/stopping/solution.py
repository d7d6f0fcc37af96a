"""Stopping by an exact error, repaired."""

from labs.kit import laplace, total


def train(records, curator):
    """Noisy sums until one is small, four at most; what is decided on has been released."""
    rounds = []
    for number in range(4):
        rounds.append(float(laplace(curator, f"round {number}", total(records.y), 1.0, 0.25)[0]))
        if rounds[-1] < 1.0:
            break
    return rounds
