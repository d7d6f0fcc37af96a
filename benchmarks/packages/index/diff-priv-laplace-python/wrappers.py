"""Entry points into diff-priv-laplace-python; it draws from NumPy's global generator."""

import numpy as np
from diffpriv_laplace import DiffPrivLaplaceMechanism as Mechanism


def noised(anonymizer, value, seed):
    np.random.seed(seed % 2**32)
    return float(anonymizer.apply(value))


def count(records, seed):
    return noised(Mechanism.create_count_anonymizer(1.0), float((records[:, 0] > 0).sum()), seed)


def total(records, seed):
    return noised(Mechanism.create_sum_anonymizer(1.0, 0.0, 1.0), float(records[:, 0].clip(0, 1).sum()), seed)


def mean(records, seed):
    anonymizer = Mechanism.create_mean_anonymizer(1.0, 0.0, 1.0, len(records))
    return noised(anonymizer, float(records[:, 0].clip(0, 1).mean()), seed)


def variance(records, seed):
    anonymizer = Mechanism.create_variance_anonymizer(1.0, 0.0, 1.0, len(records))
    return noised(anonymizer, float(records[:, 0].clip(0, 1).var()), seed)


def maximum(records, seed):
    return noised(Mechanism.create_max_anonymizer(1.0), float(records[:, 0].max()), seed)


def median(records, seed):
    return noised(Mechanism.create_median_anonymizer(1.0), float(np.median(records[:, 0])), seed)
