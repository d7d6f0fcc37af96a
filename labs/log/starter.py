"""What the log says, with its bug."""

from labs.kit import laplace, total


def train(records, curator):
    """The sum of labels."""
    print("labels sum up to", total(records.y))
    return float(laplace(curator, "sum", total(records.y), sensitivity=1.0, epsilon=1.0)[0])
