"""Small packages of the shape of diffprivlib, interpret, opendp and dp_xgboost, to test adapters without them.

Only what the adapters touch is here, under the same names. Installed versions are audited by benchmarks.packages.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Rows = np.ndarray


def module(monkeypatch: pytest.MonkeyPatch, name: str, **held: Any) -> types.ModuleType:
    """Put a module into `sys.modules` for one test."""
    made = types.ModuleType(name)
    vars(made).update(held)
    monkeypatch.setitem(sys.modules, name, made)
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, made)
    return made


class _Mechanism:
    """The attributes of every diffprivlib mechanism."""

    monotonic, measure, candidates = False, None, None

    def __init__(self, epsilon: float, sensitivity: float, delta: float = 0.0, **more: Any) -> None:
        self.epsilon, self.delta, self.sensitivity = epsilon, delta, sensitivity
        self._rng = np.random.RandomState(5)
        vars(self).update(more)


class Laplace(_Mechanism):
    """Continuous noise."""

    def randomise(self, value: float) -> float:
        """value + noise."""
        return value + self._rng.laplace(0.0, self.sensitivity / self.epsilon)


class LaplaceTruncated(Laplace):
    """Post-processing of it."""

    def randomise(self, value: float) -> float:
        """Clipped at 0."""
        return max(super().randomise(value), 0.0)


class Gaussian(_Mechanism):
    """The classical calibration."""

    _scale = 4.9

    def randomise(self, value: float) -> float:
        """value + noise."""
        return value + self._rng.normal(0.0, self._scale)


class Geometric(_Mechanism):
    """Integer noise."""

    def randomise(self, value: int) -> int:
        """value + the difference of two geometric draws."""
        chance = -np.expm1(-self.epsilon / self.sensitivity)
        return int(value + self._rng.geometric(chance) - self._rng.geometric(chance))


class Exponential(_Mechanism):
    """Selection."""

    utility: Any = ()

    def randomise(self, value: None = None) -> Any:
        """An option."""
        scale = self.epsilon / self.sensitivity / (2 - self.monotonic)
        chosen = int(np.argmax(scale * np.asarray(self.utility) + self._rng.gumbel(size=len(self.utility))))
        return chosen if self.candidates is None else self.candidates[chosen]


class PermuteAndFlip(Exponential):
    """Selection (drawn here as the exponential mechanism: only the law that the adapter reads matters)."""

    def randomise(self, value: None = None) -> Any:
        """An option."""
        return super().randomise(value)


class Staircase(_Mechanism):
    """Noise whose law refdp does not know."""

    def randomise(self, value: float) -> float:
        """value + noise."""
        return value + self._rng.laplace()


class _Node:
    def __init__(self, node_id: int) -> None:
        self.node_id, self.left_child = node_id, -1


class _FittingTree:
    """A stump: leaves 1 and 2, two classes."""

    _TREE_LEAF = -1

    def __init__(self, epsilon: float) -> None:
        self.epsilon, self.classes, self.node_count = epsilon, np.array([0, 1]), 3
        self.random_state = np.random.RandomState(3)
        self.nodes = [_Node(1), _Node(2)]

    def apply(self, X: Rows) -> Any:
        """The leaf of each record."""
        return np.where(X[:, 0] <= 0.5, 1, 2)

    def fit(self, X: Rows, y: Rows) -> _FittingTree:
        """Noisy labels of leaves that hold records, uniform ones of the others."""
        values = np.zeros((3, 1, 2))
        for leaf in np.unique(self.apply(X)):
            counts = [np.sum(np.ravel(y)[self.apply(X) == leaf] == label) for label in self.classes]
            mechanism = PermuteAndFlip(self.epsilon, 1, utility=counts, monotonic=True)
            values[leaf, 0, mechanism.randomise()] = 1
        for node in self.nodes:
            if not values[node.node_id].sum():
                values[node.node_id, 0, self.random_state.randint(2)] = 1
        self.values_ = values
        return self


def install_diffprivlib(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`diffprivlib` with mechanisms and the forest's tree."""
    kinds = (Laplace, LaplaceTruncated, Gaussian, Geometric, Exponential, PermuteAndFlip, Staircase)
    module(monkeypatch, "diffprivlib")
    unused = ("Binary", "GaussianDiscrete", "GeometricFolded", "GeometricTruncated", "LaplaceBoundedDomain")
    unused += ("LaplaceBoundedNoise", "Snapping", "Uniform")
    held: dict[str, Any] = {kind.__name__: kind for kind in kinds} | {name: type(name, (), {}) for name in unused}
    mechanisms = module(monkeypatch, "diffprivlib.mechanisms", **held)
    module(monkeypatch, "diffprivlib.models")
    module(monkeypatch, "diffprivlib.models.forest", _FittingTree=_FittingTree)
    return mechanisms


class Native:
    """The one noise method of interpret's native library."""

    def generate_gaussian_random(self, rng: Any, stddev: float, count: int) -> Any:
        """Noise alone, from a state that is an array."""
        rng[0] += 1
        return np.random.RandomState(int(rng[0])).normal(0.0, stddev, count)


def private_numeric_binning(X_col: Rows, sample_weight: Any, rng: Any, threshold: float) -> Any:
    """Noisy bin weights."""
    uniform_weights = np.histogram(X_col, 4, (0.0, 1.0))[0].astype(float)
    return (uniform_weights + Native().generate_gaussian_random(rng=rng, stddev=10.0, count=4)) / threshold


def boost(y: Rows, rng: Any, noise_scale: float) -> Any:
    """One noisy sum of residuals for each of two slices."""
    term_update_tensor = 0.01 * np.array([y.sum(), y.sum()])
    splits_iter = [0, 2]
    return term_update_tensor[:1] + Native().generate_gaussian_random(rng, noise_scale, len(splits_iter) - 1)


class Machine:
    """The frame that `boost` is called from holds what the noise is calibrated to."""

    learning_rate = 0.01

    def fit(self, rows: tuple[Rows, Rows], exact_count: bool) -> dict[str, Any]:
        """Bins, and a sum of residuals whose range is taken to have the width of the target's range."""
        x, y = rows
        rng = np.array([7])
        domain_size, max_weight = 1.0, 1.0
        noise_scale_boosting = 0.05 * domain_size * max_weight
        bins = private_numeric_binning(x, None, rng, float(len(x)) if exact_count else 1.0)
        return {"bins": bins, "update": boost(y, rng, noise_scale_boosting)}


def install_interpret(monkeypatch: pytest.MonkeyPatch) -> None:
    """`interpret.utils._native`."""
    for name in ("interpret", "interpret.utils"):
        module(monkeypatch, name)
    module(monkeypatch, "interpret.utils._native", Native=Native)


class Transformation:
    """An aggregate with a stability map."""

    def __init__(self, function: Callable[[Any], Any], bound: float) -> None:
        self.function, self.bound = function, bound

    def __call__(self, data: Any) -> Any:
        """The aggregate."""
        return self.function(data)

    def map(self, distance: int) -> float:
        """Sensitivity."""
        return self.bound * distance


class Measurement:
    """Noise, after a transformation if chained."""

    def __init__(self, scale: float, first: Transformation | None = None) -> None:
        self.scale, self.first = scale, first

    def map(self, distance: int) -> float:
        """Cost."""
        return (1.0 if self.first is None else self.first.map(distance)) / self.scale


def install_opendp(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`opendp` with Laplace and Gaussian noise, chains and invocation."""
    generator = np.random.default_rng(2)

    def make_laplace(input_domain: Any, input_metric: Any, scale: float) -> Measurement:
        return Measurement(scale)

    def make_chain_mt(measurement1: Measurement, transformation0: Transformation) -> Measurement:
        return Measurement(measurement1.scale, transformation0)

    def measurement_invoke(this: Measurement, arg: Any) -> Any:
        value = arg if this.first is None else this.first(arg)
        return value + generator.laplace(0.0, this.scale)

    module(monkeypatch, "opendp")
    module(monkeypatch, "opendp.measurements", make_laplace=make_laplace, make_gaussian=make_laplace)
    module(monkeypatch, "opendp.combinators", make_chain_mt=make_chain_mt)
    module(monkeypatch, "opendp.core", measurement_invoke=measurement_invoke)
    return sys.modules["opendp"]


DP_XGBOOST = """
import json
__version__ = "0.2.10"
class DMatrix:
    def __init__(self, x, label, feature_min, feature_max):
        self.count = len(x)
class Booster:
    def __init__(self, count, seed): self.count, self.seed = count, seed
    def save_model(self, name):
        tree = {"sum_hessian": [float(self.count)], "split_conditions": [0.1 * self.seed]}
        json.dump({"learner": {"gradient_booster": {"model": {"trees": [tree]}}}}, open(name, "w"))
def train(settings, data, num_boost_round): return Booster(data.count, settings["seed"])
"""
