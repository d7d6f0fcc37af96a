"""Entry points into dpcrpy: running sums of a stream of four events; NumPy's global generator draws."""

import dpcrpy
import numpy as np


def released(mechanism, records):
    noise = dpcrpy.noiMech.LapNoiMech(epsilon=1.0)
    noise.setSens(mechanism.getL1Sens())
    mechanism.setNoiMech(noise)
    return [mechanism.dpRelease(value)[0] for value in records[:, 0].tolist()]


def binary(records, seed):
    np.random.seed(seed % 2**32)
    return released(dpcrpy.BinMech(kOrder=2), records)


def simple(records, seed):
    np.random.seed(seed % 2**32)
    return released(dpcrpy.SimpleMech(T=4), records)
