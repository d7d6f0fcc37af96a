"""A package that knows nothing of refdp: a sum whose noise suits another relation, a right one, and a raw count."""

import random

import numpy as np


def laplace(value, sensitivity, epsilon, rng):
    """value + Laplace noise on a grid far coarser than float64's last bits."""
    return float(np.round((value + rng.laplace(0.0, sensitivity / epsilon)) * 2**20) / 2**20)


def unused(value, sensitivity, epsilon):
    """Called by the right function: adds nothing, and is no noise."""
    return value


def scale_of(arguments):
    """For the audit: the scale of a call of `laplace`."""
    return arguments["sensitivity"] / arguments["epsilon"]


def total(values, low, high, epsilon, rng):
    """Sum of clamped values; the noise is scaled to high - low, which is right where a record is replaced only."""
    return laplace(float(np.clip(values, low, high).sum()), high - low, epsilon, rng)


def total_right(values, low, high, epsilon, rng):
    """The same with the scale for a record that is added or removed."""
    unused(0.0, 1.0, epsilon)
    return laplace(float(np.clip(values, low, high).sum()), max(abs(low), abs(high)), epsilon, rng)


def summary(values, epsilon, rng):
    """A noisy sum, and beside it the number of records without noise."""
    return {"sum": total_right(values, 0.0, 1.0, epsilon, rng), "n": len(values)}


def count(values, epsilon):
    """Noise on one side only: never below the true count."""
    drawn = 0
    while random.random() > 0.5:
        drawn += 1
    return len(values) + drawn


def midpoint(values, epsilon, rng):
    """A point drawn from an interval that is chosen between records: the interval alone is no release."""
    ends = np.array([0.0, float(np.clip(values, 0.0, 1.0).mean()), 1.0])
    place = interval(np.diff(ends), epsilon, rng)
    return ends[place] + rng.random_sample() * (ends[place + 1] - ends[place])


def interval(sizes, epsilon, rng):
    """An index with probability in proportion to the size, so that the point is uniform whatever the records are."""
    return int(rng.random_sample() > sizes[0])
