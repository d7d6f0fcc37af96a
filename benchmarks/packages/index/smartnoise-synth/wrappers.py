"""Entry point into smartnoise-synth: its multiplicative weights synthesizer on a two by two table."""

import warnings

import numpy as np
from snsynth.mwem import MWEMSynthesizer

warnings.simplefilter("ignore")


def mwem(records, seed):
    np.random.seed(seed % 2**32)
    model = MWEMSynthesizer(epsilon=1.0, q_count=10, iterations=2, split_factor=2)
    model.fit(records.astype(int), categorical_columns=[0, 1], preprocessor_eps=0.0)
    drawn = np.asarray(model.sample(100)).astype(int)
    return np.bincount(drawn[:, 0] * 2 + drawn[:, 1], minlength=4).astype(float)
