"""Entry points into PRESTO's mechanisms, which draw from NumPy's, Python's and torch's global generators."""

import random

import numpy as np
import torch
from ornl_presto import privacy_mechanisms as presto


def seeded(seed):
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def laplace(records, seed):
    seeded(seed)
    return presto.applyDPLaplace(records[:, 0].tolist(), sensitivity=1, epsilon=1.0)


def gaussian(records, seed):
    seeded(seed)
    return presto.applyDPGaussian(records[:, 0].tolist(), sensitivity=1, delta=1e-5, epsilon=1.0)


def gaussian_wide(records, seed):
    seeded(seed)
    return presto.applyDPGaussian(records[:, 0].tolist(), sensitivity=10, delta=1e-5, epsilon=1.0)


def above(records, seed):
    seeded(seed)
    return presto.applySVTAboveThreshold_full(records[:, 0].tolist(), epsilon=1.0)


def response(records, seed):
    seeded(seed)
    return presto.hadamard_response(torch.tensor(records[:, 0]), epsilon=1.0).numpy()


def rappor(records, seed):
    seeded(seed)
    return presto.rappor(torch.tensor(records[:, 0]), epsilon=1.0).numpy()
