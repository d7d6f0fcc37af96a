"""A filter after the sample, repaired."""

import math

from labs.kit import laplace, total

EACH = math.log(1 + 2 * math.expm1(0.5))  # on half of the records it costs 0.5


def train(records, curator):
    """Two noisy sums of labels; every record runs the risk of both samples and is charged for both."""
    seen = []
    for number in range(2):
        with curator.subsample(f"half {number}", 0.5, len(records.y)) as half:
            seen.append(float(laplace(curator, f"sum {number}", total(records.y[half]), 1.0, EACH)[0]))
    return seen
