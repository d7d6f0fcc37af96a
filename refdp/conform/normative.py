"""The functions whose text is the specification: docs/spec shows them, and their digest is in every file of vectors."""

from __future__ import annotations

import hashlib
import importlib
import inspect
from functools import reduce
from typing import Any

SHARED = (
    "refdp.data.losses:on_grid",
    "refdp.data.losses:grid_floor",
    "refdp.noise.draws:snap",
    "refdp.noise.draws:to_grid",
    "refdp.data.portable:share",
    "refdp.noise.calibration:laplace",
    "refdp.noise.calibration:_step",
    "refdp.noise.draws:quotient_at_least",
    "refdp.noise.draws:quotient_at_most",
)
OWN: dict[str, tuple[str, ...]] = {
    "dpboost": ("gain", "child_gain", "leaf_value", "gain_range", "leaf_sensitivity", "leaf_clip", "share",
                "Params.ensembles", "Params.block", "Params.decayed", "Params.tree_epsilon", "Params.split_charge",
                "Params.leaf_charge", "Contribution.statistics", "train_on", "train_ensembles", "train_single_tree"),
    "inprivate": ("residual", "square_residual", "clip", "curvature", "damped_step", "node_score", "gain", "gain_range",
                  "Params.dealt", "Params.split_charge", "Params.leaf_charge", "Params.coefficients",
                  "Contribution.statistics", "train_on", "new_trees", "train_tree"),
    "dpxgboost": ("gain", "child_gain", "padded_leaf_value", "gain_range", "newton_gain_range", "Params.split_charge",
                  "Params.leaf_charge", "Params.averages", "Contribution.statistics", "train_ensemble", "train_tree",
                  "both_ways", "gains", "leaf_values"),
    "fedgbdt": ("leaf_weight", "released_leaf_weight", "averaging_weight", "second_order_objective", "update",
                "Params.query_mu", "Params.sums_charge", "Contribution.statistics", "boost", "grow", "split_scores",
                "decrease", "leaf_sums", "leaf_values"),
    "sgbdt": ("record_cost", "support_additive", "support_max", "leaf_value", "Params.variances", "leaf_charge",
              "Contribution.statistics", "grow", "leaf_values", "initial_score", "draw_splits", "grid_index"),
}  # fmt: skip


def source(name: str) -> str:
    """The text of one of them, "module:qualified name"."""
    module, _, path = name.partition(":")
    found: Any = reduce(getattr, path.split("."), importlib.import_module(module))
    return inspect.getsource(inspect.unwrap(found))


def names(paper: str) -> tuple[str, ...]:
    """Those of a paper, the shared ones first."""
    return (*SHARED, *(f"refdp.papers.{paper}:{name}" for name in OWN[paper]))


def digest(paper: str) -> str:
    """SHA-256 of their text."""
    text = "\n".join(line.strip() for name in names(paper) for line in source(name).splitlines())
    return hashlib.sha256(text.encode()).hexdigest()
