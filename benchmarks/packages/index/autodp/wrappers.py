"""Noise of the scales that autodp computes for a budget; NumPy draws it."""

import importlib

import numpy as np

importlib.import_module("autodp.rdp_acct")  # first: the package's modules import each other in a circle
calibrator = importlib.import_module("autodp.privacy_calibrator")
SIGMA = calibrator.gaussian_mech(1.0, 1e-3)["sigma"]
SCALE = calibrator.laplace_mech(1.0, 1e-3)["b"]


def gaussian(records, seed):
    return len(records) + np.random.default_rng(seed).normal(0.0, SIGMA)


def laplace(records, seed):
    return len(records) + np.random.default_rng(seed).laplace(0.0, SCALE)
