"""Noise: mechanisms, samplers, divergences, calibration."""
