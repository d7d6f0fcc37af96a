"""A sum in half precision, with its bug."""

import numpy as np

from labs.kit import laplace


def train(records, curator):
    """The sum of labels, at most 999 each."""
    kept = np.float16(0.0)
    for label in records.y:
        kept = np.float16(kept + np.float16(label))
    return float(laplace(curator, "sum", float(kept), sensitivity=999.0, epsilon=1.0)[0])
