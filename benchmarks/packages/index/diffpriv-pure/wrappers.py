"""Entry points into diffpriv-pure."""

import random

import diffpriv_pure


def count(records, seed):
    random.seed(seed)
    return diffpriv_pure.private_count(len(records), 1.0)


def total(records, seed):
    random.seed(seed)
    return diffpriv_pure.private_sum(records[:, 0].tolist(), (2.0, 3.0), 1.0)


def total_unit(records, seed):
    random.seed(seed)
    return diffpriv_pure.private_sum(records[:, 0].tolist(), (0.0, 1.0), 1.0)


def mean(records, seed):
    random.seed(seed)
    return diffpriv_pure.private_mean(records[:, 0].tolist(), (0.0, 1.0), 1.0)
