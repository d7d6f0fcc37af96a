"""diffprivlib (IBM): mechanisms, the random forest, and the tools and models that are built on scalar mechanisms.

Read with diffprivlib 0.6.6. Truncated and folded Laplace noise is Laplace noise with post-processing. Mechanisms whose
distribution refdp does not know are opened as `Unknown`: their true values and control flow are compared.

A tree of the forest applies permute-and-flip to the leaves that hold records, and a uniform choice to the others. A
uniform choice is permute-and-flip with equal utilities, so that the whole of `_FittingTree.fit` is opened as one
selection over all leaves; that a leaf is empty is then no difference of control flow.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from refdp.audit.opened_door import Patch
from refdp.audit.opened_laws import NoiseCall, PermuteAndFlip, Unknown
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace

INSIDE = "diffprivlib/mechanisms"
UNKNOWN = (
    "Binary",
    "GaussianDiscrete",
    "GeometricFolded",
    "GeometricTruncated",
    "LaplaceBoundedDomain",
    "LaplaceBoundedNoise",
    "Snapping",
    "Staircase",
    "Uniform",
)


def patches() -> list[Patch]:
    """Every mechanism class that defines its own `randomise`, and the leaves of the forest's trees."""
    from diffprivlib import mechanisms
    from diffprivlib.models.forest import _FittingTree

    readings = {
        "Laplace": _laplace,
        "Gaussian": _gaussian,
        "Geometric": _geometric,
        "Exponential": _selection,
        "PermuteAndFlip": _selection,
    }
    readings |= dict.fromkeys(UNKNOWN, _unknown)
    found = [
        Patch(getattr(mechanisms, name), "randomise", reading, INSIDE)
        for name, reading in readings.items()
        if "randomise" in vars(getattr(mechanisms, name))
    ]
    return [*found, Patch(_FittingTree, "fit", _leaves)]


def _common(mechanism: Any) -> dict[str, Any]:
    return {"epsilon": mechanism.epsilon, "delta": mechanism.delta, "generators": _generators(mechanism._rng)}


def _generators(rng: Any) -> tuple[Any, ...]:
    """A RandomState goes on in a replay as it did; the operating system's generator has no state to put back."""
    return (rng,) if isinstance(rng, np.random.RandomState) else ()


def _value(arguments: dict[str, Any]) -> np.ndarray:
    return np.atleast_1d(np.asarray(arguments["value"], dtype=np.float64))


def _laplace(arguments: dict[str, Any]) -> NoiseCall:
    mechanism = arguments["self"]
    if mechanism.sensitivity == 0:  # no noise at all, which is right for a value that no record moves
        return NoiseCall(Unknown("Laplace of scale 0", absent=True), _value(arguments), 0.0, 1, **_common(mechanism))
    scale = mechanism.sensitivity / (mechanism.epsilon - math.log1p(-mechanism.delta))
    return NoiseCall(Laplace(scale), _value(arguments), mechanism.sensitivity, 1, **_common(mechanism))


def _gaussian(arguments: dict[str, Any]) -> NoiseCall:
    mechanism = arguments["self"]
    law = Gaussian(float(mechanism._scale))
    return NoiseCall(law, _value(arguments), mechanism.sensitivity, 2, **_common(mechanism))


def _geometric(arguments: dict[str, Any]) -> NoiseCall:
    mechanism = arguments["self"]
    law = DiscreteLaplace(mechanism.sensitivity / mechanism.epsilon, 1.0)
    return NoiseCall(law, _value(arguments), mechanism.sensitivity, 1, **_common(mechanism))


def _selection(arguments: dict[str, Any]) -> NoiseCall:
    """Exponential or permute-and-flip.

    With a measure (tools.quantile) it chooses an interval between records, of which a point is then drawn: the interval
    is no release, only the point has a law, so that nothing is known of the choice by itself.
    """
    mechanism = arguments["self"]
    if mechanism.measure:
        law = Unknown("Exponential over intervals", (mechanism.epsilon, mechanism.delta, mechanism.sensitivity))
        return NoiseCall(law, np.zeros(1), mechanism.sensitivity, 1, **_common(mechanism))
    coefficient = mechanism.epsilon / mechanism.sensitivity / (2 - mechanism.monotonic)
    utilities = np.asarray(mechanism.utility, dtype=np.float64)
    selection = PermuteAndFlip if type(mechanism).__name__ == "PermuteAndFlip" else Exponential
    options = None if mechanism.candidates is None else tuple(mechanism.candidates)
    bound = mechanism.sensitivity * (2 - mechanism.monotonic)
    return NoiseCall(
        selection(coefficient), utilities[np.newaxis, :], bound, "range", options=options, **_common(mechanism)
    )


def _unknown(arguments: dict[str, Any]) -> NoiseCall:
    mechanism = arguments["self"]
    parameters = (mechanism.epsilon, mechanism.delta, float(getattr(mechanism, "sensitivity", math.nan) or 0.0))
    value = arguments["value"]
    numeric = np.array([float(value)]) if isinstance(value, (int, float)) else np.zeros(1)
    bound = getattr(mechanism, "sensitivity", None)
    law = Unknown(type(mechanism).__name__, parameters)
    return NoiseCall(law, numeric, None if bound is None else float(bound), 1, **_common(mechanism))


def _leaves(arguments: dict[str, Any]) -> NoiseCall:
    """All leaves of one tree: `PermuteAndFlip(epsilon, sensitivity=1, monotonic=True, utility=counts)` for each."""
    tree, x, y = arguments["self"], arguments["X"], np.ravel(arguments["y"])
    nodes = [node.node_id for node in tree.nodes if node.left_child == tree._TREE_LEAF]
    at = tree.apply(np.asarray(x))
    counts = np.array([[np.sum(y[at == leaf] == label) for label in tree.classes] for leaf in nodes], dtype=np.float64)

    def install(chosen: np.ndarray) -> Any:
        values = np.zeros((tree.node_count, 1, len(tree.classes)))
        values[nodes, 0, chosen] = 1
        tree.values_ = values
        return tree

    return NoiseCall(
        PermuteAndFlip(float(tree.epsilon)),
        counts,
        1.0,
        "range",
        float(tree.epsilon),
        generators=_generators(tree.random_state),
        read=lambda fitted: np.argmax(fitted.values_[nodes, 0], axis=1),
        install=install,
    )


def leaf_labels_from_seeds(model: Any, x: np.ndarray, y: np.ndarray) -> int:
    """How many trees of a fitted forest follow bit for bit from the records and the seeds that the model holds.

    Every tree holds its seed as `random_state`, as scikit-learn's ensembles do; here it is also that of the noise.

    x: shape (records, features); y: (records,).
    """
    from diffprivlib.models import DecisionTreeClassifier

    count = len(model.estimators_)
    labels = np.ascontiguousarray(np.searchsorted(model.classes_, y), dtype=np.float64)
    block = (np.arange(len(x)) // (len(x) / count)).astype(int)
    same = 0
    for place, published in enumerate(model.estimators_):
        again = DecisionTreeClassifier(
            max_depth=model.max_depth,
            epsilon=model.epsilon,
            bounds=published.bounds,
            classes=published.classes,
            random_state=published.random_state,
        )
        mine = np.clip(x[block == place], *published.bounds).astype(np.float32)
        again.fit(mine, labels[block == place].reshape(-1, 1), check_input=False)
        same += bool(np.array_equal(again.tree_.value, published.tree_.value))
    return same
