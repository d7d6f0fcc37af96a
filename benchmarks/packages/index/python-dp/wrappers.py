"""Entry points into python-dp. Its noise comes from the system's generator and takes no seed."""

from pydp.algorithms.laplacian import BoundedMean, BoundedSum, Count, Max


def total(records, seed):
    return BoundedSum(epsilon=1.0, lower_bound=1, upper_bound=10, dtype="int").quick_result(values(records))


def count(records, seed):
    return Count(epsilon=1.0, dtype="int").quick_result(values(records))


def mean(records, seed):
    return BoundedMean(epsilon=1.0, lower_bound=1, upper_bound=10, dtype="float").quick_result(records[:, 0].tolist())


def mean_of_integers(records, seed):
    return BoundedMean(epsilon=1.0, lower_bound=1, upper_bound=10, dtype="int").quick_result(values(records))


def maximum(records, seed):
    return Max(epsilon=1.0, lower_bound=1, upper_bound=10, dtype="int").quick_result(values(records))


def values(records):
    return [int(value) for value in records[:, 0]]
