"""Monotone constraints as post-processing: the leaf values of every tree, moved as little as the constraints ask.

A tree is a function of boxes of features. It rises with a feature if and only if of two boxes that touch along that
feature, and share a point in all others, the upper one has no smaller value. These pairs are a partial order of the
leaves; the values nearest to the released ones in it (least squares) are the projection onto a convex cone, found by
its dual, a least squares problem with multipliers >= 0. Since such a search ends within rounding, every leaf then takes
the mean of the greatest value at or below it and the least one at or above it, which is monotone exactly and leaves
monotone values as they are. A sum of monotone trees is monotone, and so is everything that follows the score.

Only released values and the public schema go in: this costs no privacy. Constraints are about values that are there;
a missing one goes where the tree sends it, as in scikit-learn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from refdp.data.records import Categorical, Classes, Ensemble, Floats, Model, Schema, Tree
from refdp.errors import InvalidParameter
from refdp.ledger.certificate import Certificate

DEEPEST = 12
"""Levels of trees up to which which leaves touch is looked at, in matrices of leaves by leaves."""
LARGEST = 64
"""Leaves up to which the nearest values are searched; a larger tree has the means of bounds alone."""
FINE = 2.0**-32
NOTE = (
    "leaf values of the model were made monotone in {names}: post-processing of what is in the transcript, which costs "
    "nothing"
)
Given = Mapping[Any, int] | Sequence[int] | NDArray[Any] | None


def check_constraints(given: object) -> None:
    """Errors: InvalidParameter for what is neither a mapping of columns nor one number a feature, of -1, 0 and 1."""
    if given is None:
        return
    listed: Any = given.values() if isinstance(given, Mapping) else given
    if not isinstance(given, Mapping | Sequence | np.ndarray) or isinstance(given, str) or not all(map(_sign, listed)):
        raise InvalidParameter(
            f"monotone_constraints = {given!r}: {{column: sign}} or one sign a feature is allowed, 1 where predictions "
            "must not fall as the feature rises, -1 where they must not rise, 0 for none"
        )


def signs(given: Given, schema: Schema, params: Any) -> NDArray[np.int64]:
    """1, -1 or 0 for every feature, shape (features,). given: see `check_constraints`. params: of the run;
    None where its depth was looked at.

    Errors: InvalidParameter for a column that is not there, another number of signs, a categorical feature with a
    sign, more than two classes, or trees of more than `DEEPEST` levels.
    """
    check_constraints(given)
    found = np.zeros(len(schema.features), dtype=np.int64)
    if isinstance(given, Mapping):
        for key, wanted in given.items():
            found[_place(key, schema.names)] = wanted
    elif given is not None:
        if len(given) != len(found):
            raise InvalidParameter(f"monotone_constraints of {len(given)} signs: there are {len(found)} features")
        found[:] = given
    for feature, sign in zip(schema.features, found, strict=True):
        if sign and isinstance(feature, Categorical):
            raise InvalidParameter(f"monotone_constraints of {feature.name!r}: a categorical feature has no order")
    if found.any() and isinstance(schema.target, Classes) and schema.scores > 1:
        raise InvalidParameter(
            "monotone_constraints: two classes or a regression are allowed; more classes have several scores"
        )
    depth = getattr(params, "depth", None) or 0
    if found.any() and depth > DEEPEST:
        raise InvalidParameter(f"monotone_constraints with depth = {depth}: at most {DEEPEST} is allowed with them")
    return found


def _sign(one: object) -> bool:
    plain = one.item() if isinstance(one, np.generic) else one
    return isinstance(plain, int | float) and not isinstance(plain, bool) and plain in (-1, 0, 1)


def _place(key: Any, names: Sequence[str]) -> int:
    whole = isinstance(key, int | np.integer) and not isinstance(key, bool)
    for name in (str(key), f"x{key}" if whole else ""):
        if name in names:
            return list(names).index(name)
    raise InvalidParameter(f"monotone_constraints of {key!r}: there is no such column; there are {', '.join(names)}")


def constrained(model: Model, certificate: Certificate, given: Given) -> tuple[Model, Certificate]:
    """The model whose predictions rise (1) or fall (-1) with the features named, and the certificate that says so."""
    wanted = signs(given, model.schema, None)
    if not wanted.any():
        return model, certificate
    names = ", ".join(name for name, sign in zip(model.schema.names, wanted, strict=True) if sign)
    outputs = tuple(_of_ensemble(one, model.schema, wanted) for one in model.outputs)
    note = NOTE.format(names=names)
    notes = certificate.notes if note in certificate.notes else (*certificate.notes, note)
    return replace(model, outputs=outputs), replace(certificate, notes=notes)


def _of_ensemble(ensemble: Ensemble, schema: Schema, wanted: NDArray[np.int64]) -> Ensemble:
    trees = tuple(
        of_tree(tree, schema, wanted if weight >= 0 else -wanted)
        for tree, weight in zip(ensemble.trees, ensemble.weights, strict=True)
    )
    return replace(ensemble, trees=trees)


def of_tree(tree: Tree, schema: Schema, wanted: NDArray[np.int64]) -> Tree:
    """The tree with leaf values that rise or fall as wanted, shape (features,), says."""
    pairs = ordered(tree, schema, wanted)
    if not len(pairs) or (tree.leaves[pairs[:, 0]] <= tree.leaves[pairs[:, 1]]).all():
        return tree
    return replace(tree, leaves=between(nearest(tree.leaves, pairs), pairs))


def nearest(values: Floats, pairs: NDArray[np.int64]) -> Floats:
    """The least squares projection onto value of pair[0] <= value of pair[1], up to rounding. Shape (leaves,).

    Rounded to 2^-32 of the largest value, so that sums in another order, on another machine, give the same model.
    """
    if len(values) > LARGEST:
        return values
    outward = np.zeros((len(values), len(pairs)))
    outward[pairs[:, 0], np.arange(len(pairs))] = 1.0
    outward[pairs[:, 1], np.arange(len(pairs))] = -1.0
    size = math.ldexp(1.0, math.frexp(float(np.abs(values).max()))[1])
    try:
        multipliers, _ = nnls(outward, values / size)
    except RuntimeError:  # too many iterations
        return values
    return np.asarray(size * np.round((values / size - outward @ multipliers) / FINE) * FINE)


def between(values: Floats, pairs: NDArray[np.int64]) -> Floats:
    """The mean of the greatest value at or below and the least at or above, exactly monotone. Shape (leaves,)."""
    below = np.eye(len(values), dtype=bool)
    below[pairs[:, 0], pairs[:, 1]] = True
    while True:  # transitive closure, by squaring
        closed = (below.astype(np.float32) @ below.astype(np.float32)) > 0
        if (closed == below).all():
            break
        below = closed
    greatest = np.where(below, values[:, None], -np.inf).max(axis=0)
    least = np.where(below, values[None, :], np.inf).min(axis=1)
    return np.asarray(greatest / 2 + least / 2)


def ordered(tree: Tree, schema: Schema, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs of leaves (smaller, greater) that touch along a constrained feature. Shape (pairs, 2)."""
    used = np.unique(tree.splits[:, 0]).astype(np.int64)
    along = [feature for feature in used if wanted[feature]]
    if not along:
        return np.zeros((0, 2), dtype=np.int64)
    reach = {int(feature): _reach(tree, schema, int(feature)) for feature in used}
    share = {feature: _shared(own) for feature, own in reach.items()}
    there = np.logical_and.reduce([own.diagonal() for own in share.values()])
    blocked = np.sum([~own for own in share.values()], axis=0)
    found = []
    for feature in along:
        elsewhere = (blocked - ~share[int(feature)]) == 0
        low, high = reach[int(feature)][0][:, 0], reach[int(feature)][1][:, 0]
        touch = (high[:, None] == low[None, :]) & (low < high)[:, None] & (low < high)[None, :]
        lower, upper = np.nonzero(touch & elsewhere & there[:, None] & there[None, :])
        found.append(np.column_stack([lower, upper] if wanted[feature] > 0 else [upper, lower]))
    return np.unique(np.concatenate(found), axis=0)


Reach = tuple[Floats, Floats, NDArray[np.bool_]]
"""Of every leaf: from where, up to below where, and whether a missing value arrives; a category has a place each, from
0 up to below 1 where it arrives. Shapes (leaves, 1 or categories), the same, (leaves,)."""


def _reach(tree: Tree, schema: Schema, feature: int) -> Reach:
    """What values of one feature arrive at every leaf, whatever the others are."""
    known = schema.features[feature]
    if isinstance(known, Categorical):
        low, high = np.zeros((1, len(known.categories))), np.ones((1, len(known.categories)))
    else:
        low, high = np.array([[known.low]]), np.array([[np.nextafter(known.high, np.inf)]])
    missing, level = np.array([True]), 0
    while 2**level < len(tree.leaves):
        at = tree.splits[2**level - 1 : 2 ** (level + 1) - 1]
        here, value = at[:, 0] == feature, at[:, 1]
        right = at[:, 2] > 0 if at.shape[1] > 2 else np.zeros(len(at), dtype=bool)
        if isinstance(known, Categorical):
            named = np.arange(len(known.categories)) == value[:, None]
            left_high = np.where(here[:, None] & named, 0.0, high)
            right_high = np.where(here[:, None] & ~named, 0.0, high)
            left_low = right_low = low
        else:
            left_low, right_high = low, high
            left_high = np.where(here[:, None], np.minimum(high, value[:, None]), high)
            right_low = np.where(here[:, None], np.maximum(low, value[:, None]), low)
        low, high = _interleaved(left_low, right_low), _interleaved(left_high, right_high)
        missing = _interleaved(missing & ~(here & right), missing & ~(here & ~right))
        level += 1
    return low, high, missing


def _interleaved(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    return np.stack([left, right], axis=1).reshape(2 * len(left), *left.shape[1:])


def _shared(reach: Reach) -> NDArray[np.bool_]:
    """Whether some value of the feature, or a missing one, arrives at both of two leaves. Shape (leaves, leaves)."""
    low, high, missing = reach
    found: NDArray[np.bool_] = missing[:, None] & missing[None, :]
    for column in range(low.shape[1]):
        own_low, own_high = low[:, column], high[:, column]
        found |= np.maximum(own_low[:, None], own_low) < np.minimum(own_high[:, None], own_high)
    return found
