"""A model of any of the papers as a model file of the xgboost library (JSON, versions 2 and 3).

    refdp.io.export_xgboost.write(model, Path("model.json"))          xgboost.Booster(model_file="model.json")

What is the same. xgboost compares and adds in float32.
- Every record whose numeric values are float32 numbers, inside the public bounds or not, falls into the same leaf of
  every tree; a threshold is written as the least float32 that is not below it. A value that is no float32 is rounded to
  one by xgboost itself, so that it falls where refdp puts the rounded value.
- Missing values (NaN) go in the same direction. A category is given as its index in the public list, in a column of
  type "c"; an unknown one must be given as NaN, which is what refdp takes it for.
- The margin is the float32 sum, in the order of the trees, of leaf values that are rounded once to float32. It differs
  from refdp's float64 score by at most `rounding_bound`, and equals it where no rounding happens.

What the output is. Regression: the value in the target's unit, before it is cut to the public label range; refdp cuts.
More than two classes: the index of the class of greatest score. Two classes, m being the margin:
- InPrivate Digging, S-GBDT, the federated framework, DP-XGBoost with log loss: the probability of the second class.
- DPBoost, DP-XGBoost with square loss: m, the expected label, which noise carries below 0 and above 1. It is
  `predict_proba` of the second class from 0.05 to 0.95; above, that is 1 - 1 / (400 m - 360), below, 1 / (40 - 400 m).
- Grove: the index of the class. With p = 1 / (1 + exp(-m)), q = 1 - p, `predict_proba` of the second class is
  p / (p + 1/2) for p < 1/2, else 1 - q / (q + 1/2). No objective of xgboost has this link, and a sigmoid would pass for
  the probability while it is half of it where a class is rare.
`output_margin=True` gives m, of more than two classes one each. Their `predict_proba` is 1 / (1 + exp(-m)), or of
DPBoost and DP-XGBoost with square loss as above, or m of an averaged forest, divided by the sum over classes. refdp
keeps probabilities 1e-6 off 0 and 1 where the loss does not.

Sparse input: xgboost takes absent entries for missing, and so does this file unless `absent="zero"`.

The file holds released values and public parameters only: xgboost's fields for gains and Hessian sums are zero.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

import numpy as np

from refdp.data.records import Categorical, Floats, Interval, Model, Schema, Tree
from refdp.errors import InvalidParameter

VERSION = [2, 0, 0]
"""The oldest version whose format this is; later ones read it."""
ROOT_PARENT = 2**31 - 1
Absent = Literal["missing", "zero"]


@dataclass(frozen=True)
class Output:
    """margin = shift + scale * score, and the objective that makes xgboost's prediction of it."""

    objective: str
    scale: float
    shift: float

    @property
    def base_score(self) -> str:
        """xgboost's start value, such that the margin starts at 0; the shift is a tree of its own, to be exact."""
        return "5E-1" if self.objective == "binary:logistic" else "0E0"


def output_of(model: Model) -> Output:
    """How the model's scores become predictions."""
    target = model.schema.target
    if isinstance(target, Interval):
        half = (target.high - target.low) / 2
        return Output("reg:squarederror", half, target.low + half)
    fits_signs = model.paper == "dpboost" or (model.paper == "dpxgboost" and model.params["loss"] == "square")
    forest = model.paper == "fedgbdt" and model.params["update"] == "averaging"
    scale, shift = (0.5, 0.5) if fits_signs else (2.0 if model.paper == "inprivate" else 1.0, 0.0)
    if len(model.outputs) > 1:
        return Output("multi:softmax", scale, shift)
    if model.paper == "grove":  # its link is none of xgboost's: classes, and log odds as the margin
        return Output("binary:hinge", scale, shift)
    return Output("reg:squarederror" if fits_signs or forest else "binary:logistic", scale, shift)


def meaning(model: Model) -> str:
    """What xgboost's prediction of the file is, in one sentence."""
    objective = output_of(model).objective
    margin = "output_margin=True gives the scores, and refdp/io/export_xgboost.py the way from them to probabilities"
    if isinstance(model.schema.target, Interval):
        return "the value in the target's unit, before it is cut to the label range"
    if objective in ("multi:softmax", "binary:hinge"):
        return f"the index of the class, no probability; {margin}"
    if objective == "binary:logistic" or model.paper == "fedgbdt":
        return "the probability of the second class"
    return (
        "the expected label, above 0.5 for the second class; its probability from 0.05 to 0.95 alone, and "
        "refdp/io/export_xgboost.py has what that is elsewhere"
    )


def to_xgboost(model: Model, *, absent: Absent = "missing", names: bool = False) -> str:
    """The text of a model file.

    absent: "zero" sends missing values where 0 goes, so that xgboost's sparse input means what scipy's does; then NaN
    is taken for 0 too. names: write the columns' names, which xgboost then wants to see in its input.
    Errors: InvalidParameter for absent="zero" where a categorical column could be absent.
    """
    if absent == "zero" and any(isinstance(feature, Categorical) for feature in model.schema.features):
        raise InvalidParameter("absent = 'zero': a categorical column has no zero; only numeric columns are allowed")
    output = output_of(model)
    trees = [(number, _tree(tree, scale, model.schema, absent)) for number, tree, scale in rounds(model, output)]
    for place, (_, tree) in enumerate(trees):
        tree["id"] = place
    classes = len(model.outputs) if len(model.outputs) > 1 else 0
    return json.dumps({"learner": _learner(model, output, trees, classes, names), "version": VERSION}) + "\n"


def write(model: Model, path: Path, *, absent: Absent = "missing", names: bool = False) -> None:
    """Write the model file. Errors: InvalidParameter if that is impossible."""
    try:
        path.write_text(to_xgboost(model, absent=absent, names=names), encoding="utf-8")
    except OSError as error:
        raise InvalidParameter(f"{path}: cannot be written: {error}") from error


def rounds(model: Model, output: Output) -> Iterator[tuple[int, Tree, float]]:
    """All trees as xgboost orders them, with the number of their score and what their leaves are multiplied by.

    The first round holds what a score starts at, if that is not 0; scores of fewer trees are filled up.
    """
    starts = [output.shift + output.scale * ensemble.initial for ensemble in model.outputs]
    if any(starts):
        yield from ((number, _constant(start), 1.0) for number, start in enumerate(starts))
    lists = [zip(ensemble.trees, ensemble.weights, strict=True) for ensemble in model.outputs]
    for together in zip_longest(*lists, fillvalue=(_constant(0.0), 1.0)):
        yield from ((number, tree, output.scale * weight) for number, (tree, weight) in enumerate(together))


def rounding_bound(model: Model) -> Floats:
    """By how much a margin of each score can differ from shift + scale * score, shape (scores,).

    T additions of leaf values that are rounded once, with unit roundoff 2^-24 (Higham 2002, section 4.2), and the
    float64 errors of refdp's own sum, which are 2^-29 of that: (T + 2) u / (1 - (T + 2) u) times the largest sum.
    """
    total, count = np.zeros(len(model.outputs)), np.zeros(len(model.outputs))
    for number, tree, scale in rounds(model, output_of(model)):
        total[number] += np.abs(scale * tree.leaves).max()
        count[number] += 1
    unit = (count + 2) * 2.0**-24
    return np.asarray(unit / (1 - unit) * total + (count + 1) * 2.0**-149)


def _constant(value: float) -> Tree:
    return Tree(np.empty((0, 2)), np.array([value]))


def _tree(tree: Tree, scale: float, schema: Schema, absent: Absent) -> dict[str, Any]:
    """One tree: its nodes in level order, so that leaf j of depth d has number 2^d - 1 + j."""
    inner, count = len(tree.splits), len(tree.splits) + len(tree.leaves)
    kinds = [schema.features[int(f)] for f in tree.splits[:, 0]]
    value, missing_left = _conditions(tree, kinds, absent)
    equal = [node for node, kind in enumerate(kinds) if isinstance(kind, Categorical)]
    leaves = [_short(leaf) for leaf in scale * tree.leaves]
    zeros = [0.0] * count
    return {
        "base_weights": zeros,
        "categories": [int(tree.splits[node, 1]) for node in equal],
        "categories_nodes": equal,
        "categories_segments": list(range(len(equal))),
        "categories_sizes": [1] * len(equal),
        "default_left": [int(left) for left in missing_left] + [0] * len(leaves),
        "left_children": [2 * node + 1 for node in range(inner)] + [-1] * len(leaves),
        "loss_changes": zeros,
        "parents": [ROOT_PARENT, *((node - 1) // 2 for node in range(1, count))],
        "right_children": [2 * node + 2 for node in range(inner)] + [-1] * len(leaves),
        "split_conditions": value + leaves,
        "split_indices": [int(f) for f in tree.splits[:, 0]] + [0] * len(leaves),
        "split_type": [int(isinstance(kind, Categorical)) for kind in kinds] + [0] * len(leaves),
        "sum_hessian": zeros,
        "tree_param": {"num_deleted": "0", "num_feature": str(len(schema.features)), "num_nodes": str(count),
                       "size_leaf_vector": "1"},
    }  # fmt: skip


def _conditions(tree: Tree, kinds: list[Any], absent: Absent) -> tuple[list[float], list[bool]]:
    """Of every inner node: what xgboost compares with, x >= value goes right; and whether missing values go left."""
    values, left = [], []
    directions = tree.splits[:, 2] if tree.splits.shape[1] > 2 else np.zeros(len(tree.splits))
    for kind, threshold, right in zip(kinds, tree.splits[:, 1], directions, strict=True):
        if isinstance(kind, Categorical):
            values.append(0.0)
            left.append(not right > 0)
            continue
        if threshold <= kind.low:  # every clamped value goes right
            values.append(-np.inf)
        else:  # a threshold above the bound is above every clamped value
            values.append(_short(np.inf if threshold > kind.high else _not_below(threshold)))
        zero_right = min(max(0.0, kind.low), kind.high) >= threshold
        left.append(not (zero_right if absent == "zero" else right > 0))
    return values, left


def _not_below(threshold: float) -> np.float32:
    """The least float32 that is >= the threshold: it is on the same side of every float32."""
    with np.errstate(over="ignore"):
        nearest = np.float32(threshold)
    return nearest if nearest >= threshold else np.nextafter(nearest, np.float32(np.inf))


def _short(value: float | np.floating[Any]) -> float:
    """The number with the fewest digits that float32 reads as this value: xgboost's parser takes few digits."""
    with np.errstate(over="ignore"):
        return float(str(np.float32(value)))


def _learner(
    model: Model, output: Output, trees: list[tuple[int, dict[str, Any]]], classes: int, names: bool
) -> dict[str, Any]:
    features = model.schema.features
    together = len(model.outputs)
    parameters: dict[str, Any] = {"multi:softmax": {"softmax_multiclass_param": {"num_class": str(classes)}},
                                  "binary:hinge": {}}  # fmt: skip
    parameter = parameters.get(output.objective, {"reg_loss_param": {"scale_pos_weight": "1"}})
    booster = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
        "iteration_indptr": list(range(0, len(trees) + 1, together)),
        "tree_info": [number for number, _ in trees],
        "trees": [tree for _, tree in trees],
    }
    typed = any(isinstance(feature, Categorical) for feature in features)
    return {
        "attributes": {"refdp_paper": model.paper},
        "feature_names": list(model.schema.names) if names else [],
        "feature_types": ["c" if isinstance(f, Categorical) else "q" for f in features] if typed else [],
        "gradient_booster": {"model": booster, "name": "gbtree"},
        "learner_model_param": {"base_score": output.base_score, "boost_from_average": "0",
                                "num_class": str(classes), "num_feature": str(len(features)), "num_target": "1"},
        "objective": {"name": output.objective, **parameter},
    }  # fmt: skip
