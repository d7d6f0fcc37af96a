"""What the log says, repaired."""

from labs.kit import laplace, total


def train(records, curator):
    """The sum of labels; what is printed has been released."""
    noisy = float(laplace(curator, "sum", total(records.y), sensitivity=1.0, epsilon=1.0)[0])
    print("labels sum up to about", noisy)
    return noisy
