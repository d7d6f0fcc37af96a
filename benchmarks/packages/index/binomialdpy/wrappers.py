"""Entry point into binomialdpy: the noisy count that its tests are computed from."""

import numpy as np
from binomialdpy import tulap


def noisy(records, seed):
    np.random.seed(seed % 2**32)
    return tulap.random(1, m=float(records[:, 0].sum()), b=np.exp(-1.0), q=-1)
