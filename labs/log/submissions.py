"""What the log says: wrong and right submissions, for the autograder."""

import logging
import sys
import warnings

import numpy as np

from labs.cheats import Train
from labs.kit import laplace, total


def build(told: str = "", epsilon: float = 1.0) -> Train:
    """The sum of labels, something told on the way."""

    def train(records, curator):
        match told:
            case "log":
                logging.getLogger("train").warning("%d records", len(records.y))
            case "warning":
                if np.any(records.y > 0.9):
                    warnings.warn("large labels", stacklevel=2)
            case "errors":
                sys.stderr.write(f"largest label {max(records.y, default=0.0)}\n")
            case "progress":
                for _ in records.y:
                    print(".", end="")
            case "state":
                np.random.seed(int(total(records.y)))  # noqa: NPY002 - what it does is the point
            case "start":
                print("training begins")
        noisy = float(laplace(curator, "sum", total(records.y), 1.0, epsilon)[0])
        if told == "large" and noisy > 3.0:
            print("many large labels")
        return noisy

    return train


WRONG: dict[str, Train] = {
    "the number of records in a log": build("log"),
    "a warning of large labels": build("warning"),
    "the largest label on standard error": build("errors"),
    "a dot for every record": build("progress"),
    "the sum left in numpy's generator": build("state"),
    "twice the budget": build(epsilon=2.0),
}
RIGHT: dict[str, Train] = {
    "a message that is always the same": build("start"),
    "a message that follows from the released sum": build("large"),
    "nothing at all": build(),
}
