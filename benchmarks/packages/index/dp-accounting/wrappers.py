"""Noise of the standard deviations that dp-accounting computes for a budget; NumPy draws it."""

import numpy as np
from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss, LaplacePrivacyLoss

SD = GaussianPrivacyLoss.from_privacy_guarantee(DifferentialPrivacyParameters(1.0, 1e-3)).standard_deviation
SCALE = LaplacePrivacyLoss.from_privacy_guarantee(DifferentialPrivacyParameters(1.0, 0.0)).parameter


def gaussian(records, seed):
    return len(records) + np.random.default_rng(seed).normal(0.0, SD)


def laplace(records, seed):
    return len(records) + np.random.default_rng(seed).laplace(0.0, SCALE)
