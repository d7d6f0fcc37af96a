"""Entry points into multi-freq-ldpy; compiled clients draw from a generator of their own, seeded once."""

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

VALUES = 4


def grr(records, seed):
    return GRR_Client(int(records[0, 0]), VALUES, 1.0)


def unary(records, seed):
    np.random.seed(seed % 2**32)
    return np.asarray(UE_Client(int(records[0, 0]), VALUES, 1.0))


def unary_symmetric(records, seed):
    np.random.seed(seed % 2**32)
    return np.asarray(UE_Client(int(records[0, 0]), VALUES, 1.0, False))


def subset(records, seed):
    np.random.seed(seed % 2**32)
    chosen = np.asarray(SS_Client(int(records[0, 0]), VALUES, 1.0)).astype(int)
    return np.isin(np.arange(VALUES), chosen).astype(float)


def hashing(records, seed):
    np.random.seed(seed % 2**32)
    return [float(number) % 1024 for number in LH_Client(int(records[0, 0]), VALUES, 1.0)]


def histogram(records, seed):
    np.random.seed(seed % 2**32)
    return np.asarray(HE_Client(int(records[0, 0]), VALUES, 1.0))
