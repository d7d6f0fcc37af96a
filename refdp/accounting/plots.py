"""The privacy profile and the trade-off curve of a plan, methods side by side (extra: plots)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from refdp.accounting.accountant import account
from refdp.accounting.arrays import Array

if TYPE_CHECKING:
    from refdp.privacy.events import Plan


def profile(plan: Plan, epsilons: Array) -> dict[str, Array]:
    """δ at every ε, one array a method, and "lower" for the lower end of the enclosure.

    epsilons, each result: shape (epsilons,).
    """
    bounds = [account(plan, epsilon=float(epsilon)) for epsilon in epsilons]
    names = list(dict.fromkeys(name for bound in bounds for name in bound.methods))
    curves = {name: np.array([bound.methods.get(name, np.nan) for bound in bounds]) for name in names}
    return curves | {"lower": np.array([bound.lower for bound in bounds])}


def trade_off(epsilons: Array, deltas: Array, alphas: Array) -> Array:
    """β(α) = max over ε of max(0, 1 - δ - e^ε α, e^{-ε} (1 - δ - α))   (Dong, Roth, Su 2022, Proposition 2.12).

    The least type II error at type I error α of any test of the record's presence, from the given points of the
    profile. epsilons, deltas: shape (points,); alphas, result: shape (alphas,).
    """
    eps, delta, alpha = np.asarray(epsilons)[:, None], np.asarray(deltas)[:, None], np.asarray(alphas)[None, :]
    steep, flat = 1 - delta - np.exp(eps) * alpha, np.exp(-eps) * (1 - delta - alpha)
    beta: Array = np.maximum(0.0, np.maximum(steep, flat)).max(axis=0)
    return beta


def plot(plan: Plan, epsilons: Array) -> Any:
    """A matplotlib figure: the profile (log δ against ε) on the left, the trade-off curve on the right.

    epsilons: shape (points,).
    """
    from matplotlib.figure import Figure

    curves = profile(plan, epsilons)
    alphas = np.linspace(0.0, 1.0, 201)
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, deltas in curves.items():
        style = "--" if name == "lower" else "-"
        left.plot(epsilons, np.where(deltas > 0, deltas, np.nan), style, label=name)
        if name != "lower":
            right.plot(alphas, trade_off(epsilons, np.nan_to_num(deltas, nan=1.0), alphas), label=name)
    left.set(yscale="log", xlabel="epsilon", ylabel="delta", title="privacy profile")
    right.plot(alphas, 1 - alphas, ":", color="grey", label="perfect privacy")
    right.set(xlabel="type I error", ylabel="type II error", title="trade-off curve")
    left.legend()
    right.legend()
    return figure
