"""A filter after the sample, with its bug."""

import math

import numpy as np

from labs.kit import laplace, total

EACH = math.log(1 + 2 * math.expm1(1.0))  # on half of the records it costs 1


def train(records, curator):
    """Two noisy sums of labels, each record in one of them at most."""
    size, seen = len(records.y), []
    waiting = np.ones(size, dtype=bool)
    for number in range(2):
        with curator.subsample(f"half {number}", 0.5, size) as half:
            taken = half & waiting
            seen.append(float(laplace(curator, f"sum {number}", total(records.y[taken]), 1.0, EACH)[0]))
        waiting &= ~half
    return seen
