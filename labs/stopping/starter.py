"""Stopping by an exact error, with its bug."""

from labs.kit import laplace, total


def train(records, curator):
    """Noisy sums until one is near enough."""
    rounds = []
    for number in range(4):
        rounds.append(float(laplace(curator, f"round {number}", total(records.y), 1.0, 0.25)[0]))
        if total(records.y) < 1.0:
            break
    return rounds
