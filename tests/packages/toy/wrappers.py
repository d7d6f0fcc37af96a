"""Entry points of the audit: function(records, seed)."""

import random

import numpy as np
import toydp


def total(records, seed):
    return toydp.total(records[:, 0], 2.0, 3.0, 1.0, np.random.default_rng(seed))


def total_right(records, seed):
    return toydp.total_right(records[:, 0], 2.0, 3.0, 1.0, np.random.default_rng(seed))


def summary(records, seed):
    return toydp.summary(records[:, 0], 1.0, np.random.default_rng(seed))


def count(records, seed):
    random.seed(seed)
    return toydp.count(records, 1.0)


def midpoint(records, seed):
    return toydp.midpoint(records[:, 0], 1.0, np.random.RandomState(seed))
