"""A formula outside its range, repaired."""

from labs.kit import gaussian, total
from refdp.accounting.gaussian import calibrate

SIGMA = calibrate(10.0, 0.01)  # the least whose exact delta at epsilon 10 is 0.01


def train(records, curator):
    """The sum of labels."""
    return float(gaussian(curator, "sum", total(records.y), sensitivity=1.0, sigma=SIGMA)[0])
