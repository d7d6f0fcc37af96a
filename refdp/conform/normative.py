"""The functions whose text is the specification: docs/spec shows them, and their digest is in every file of vectors.

    python -m refdp.conform.normative docs/spec     write their present text into the pages

A page has the name of a function in a comment, then its text, then a comment that ends it.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import io
import re
import sys
import textwrap
import tokenize
from functools import reduce
from pathlib import Path
from typing import Any

from refdp.faces import registry

SHARED = (
    "refdp.data.losses:on_grid",
    "refdp.data.losses:grid_floor",
    "refdp.data.records:Interval.scaled",
    "refdp.noise.draws:snap",
    "refdp.noise.draws:to_grid",
    "refdp.data.numbers:share",
    "refdp.data.numbers:_exp_chunk",
    "refdp.data.numbers:_log_chunk",
    "refdp.data.numbers:expm1",
    "refdp.data.numbers:log1p",
    "refdp.noise.calibration:laplace",
    "refdp.noise.calibration:gaussian",
    "refdp.noise.calibration:_step",
    "refdp.noise.draws:quotient_at_least",
    "refdp.noise.draws:quotient_at_most",
)
OWN: dict[str, tuple[str, ...]] = {
    "dpboost": ("gain", "child_gain", "leaf_value", "gain_change_upper", "gain_change_lower", "gain_range",
                "leaf_sensitivity", "leaf_clip", "share",
                "Params.ensembles", "Params.block", "Params.decayed", "Params.tree_epsilon", "Params.split_charge",
                "Params.leaf_charge", "Contribution.statistics", "train_on", "train_ensembles", "train_single_tree"),
    "inprivate": ("residual", "residual_at_odds", "square_residual", "clip", "curvature", "newton_step", "damped_step",
                  "node_score", "nonempty_score",
                  "gain", "gain_range", "Params.dealt", "Params.turn_epsilon", "Params.split_charge",
                  "Params.leaf_charge",
                  "Params.coefficients", "Contribution.statistics", "train_on", "new_trees", "train_tree"),
    "dpxgboost": ("gain", "child_gain", "padded_leaf_value", "gain_range", "newton_gain_range", "clip_ratio",
                  "log_gradient_at", "log_hessian_at", "noisy_average", "Params.drawn", "Params.split_charge",
                  "Params.leaf_charge", "Params.averages", "budget_of",
                  "tree_budget",
                  "Contribution.statistics", "train_ensemble", "drawn_features", "train_tree", "both_ways", "gains",
                  "leaf_values", "refdp.data.numbers:added",
                  "refdp.noise.calibration:geometric", "refdp.noise.calibration:before_sampling",
                  "refdp.accounting.pure:unsampled_excess",
                  "refdp.data.sketch:quantile_edges", "refdp.data.sketch:parted",
                  "refdp.data.sketch:evenly", "refdp.data.sketch:Summary.exact",
                  "refdp.data.sketch:Summary.pruned", "refdp.data.sketch:Summary.query", "refdp.data.sketch:_medians",
                  "refdp.data.sketch:median_utility", "refdp.data.sketch:inside", "refdp.data.sketch:quantile_levels",
                  "refdp.data.sketch:halved"),
    "fedgbdt": ("leaf_weight", "released_leaf_weight", "averaging_weight", "second_order_objective", "update",
                "log_hessian_of", "squared_norm", "newton_squared_sensitivity", "gradient_squared_sensitivity",
                "Params.query_mu", "Params.sums_charge", "Contribution.statistics", "boost", "grow", "scored_splits",
                "histograms", "random_sides", "split_scores", "decrease", "leaf_sums", "leaf_values",
                "refdp.data.feasible:Feasible.drawn", "refdp.data.feasible:Feasible.drawn_of",
                "refdp.data.feasible:Feasible.split", "refdp.data.feasible:_nth_true",
                "refdp.data.feasible:Options.of_bins", "refdp.data.feasible:Options.of_sides",
                "refdp.data.feasible:Options.best", "refdp.data.feasible:Options.totals",
                "refdp.data.feasible:Options.chosen", "refdp.data.feasible:Feasible.root",
                "refdp.data.feasible:Feasible.columns", "refdp.data.feasible:_all_sides",
                "refdp.data.feasible:sides", "refdp.data.feasible:below", "refdp.data.candidates:iterative_hessian",
                "refdp.data.candidates:inner_uniform_candidate", "refdp.data.numbers:added"),
    "sgbdt": ("record_cost", "record_cost_slides", "gradient_variance", "support_variance", "support_additive",
              "support_max", "leaf_value", "Params.variances", "leaf_charge", "Contribution.statistics", "grow",
              "leaf_values", "initial_score", "draw_splits", "domain", "grid_index", "clipped",
              "refdp.accounting.individual:initialise",
              "refdp.accounting.individual:_least_sigma", "refdp.accounting.individual:_bisected",
              "refdp.accounting.individual:_best_order", "refdp.accounting.individual:_epsilons",
              "refdp.accounting.individual:_around",
              "refdp.accounting.individual:Budget.charges", "refdp.accounting.individual:table",
              "refdp.accounting.individual:tabulated", "refdp.accounting.individual:_log_expm1",
              "refdp.data.numbers:log_whole"),
    "grove": ("log_hessian_of", "squared_joint_norm", "squared_log_bound", "squared_others_bound",
              "squared_square_bound", "shared_by", "others_cut", "others_hessian", "of_score", "clip", "shrunk",
              "moments", "usual_start", "Params.mu", "Params.strength", "Params.rounds", "Params.levels",
              "Params.histogram_bins",
              "Params.early", "Params.looks_again", "Params.labels_share", "Params.label_share",
              "Params.nearby_share", "Params.residual_share", "Params.last_share",
              "Params.noise_of_score", "Params.padding",
              "Params.weight", "Params.first_weight", "Params.shares", "Params.counts_charge", "Params.deviation",
              "Params.joint_norm", "Params.first_part", "Params.first_levels", "Params.first_deviation",
              "Params.joint_charge",
              "Params.leaf_charge", "Params.first_charge", "Params.last_deviation", "Params.last_charge",
              "Contribution.label", "Contribution.statistics",
              "train_on", "random_trees", "narrowed", "narrower", "least_count", "levelled", "mean_left",
              "one_by_one", "released_bins", "trees_of", "shapes_of", "leaves_of",
              "bin_values", "numeric", "splittable", "thresholds", "histograms", "deviation_of_counts", "edges_of",
              "coarse_cells", "evened", "of_width", "missing_values", "parting_missing", "parts_missing",
              "between", "quantiles", "start", "counts_of", "cut_to", "log_odds",
              "bins_of", "centre_and_unit", "nearby", "most_of", "in_one_piece", "centre_and_scale",
              "Learnt", "nothing_learnt", "scatter_of",
              "chances", "random_tree", "value_at", "levels_in_use", "decided_by", "where_records_are", "leaf_values",
              "learnt_from"),
}  # fmt: skip
"""Functions of a paper's own module, or of another by its full name."""


def source(name: str) -> str:
    """The text of one of them, "module:qualified name"."""
    module, _, path = name.partition(":")
    found: Any = reduce(getattr, path.split("."), importlib.import_module(module))
    return inspect.getsource(inspect.unwrap(found))


def names(paper: str) -> tuple[str, ...]:
    """Those of a paper, the shared ones first."""
    room = "own" if paper in registry.OWN else "papers"
    return (*SHARED, *(name if ":" in name else f"refdp.{room}.{paper}:{name}" for name in OWN[paper]))


def bare(text: str) -> str:
    """What a function does: its text without docstrings, comments and spaces."""
    body = textwrap.dedent(text)
    tree, lines = ast.parse(body), body.splitlines(keepends=True)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            first = node.body[0]
            for line in range(first.lineno - 1, first.end_lineno or first.lineno):
                lines[line] = "\n"
    tokens = tokenize.generate_tokens(io.StringIO("".join(lines)).readline)
    return "".join("".join(one.string for one in tokens if one.type != tokenize.COMMENT).split())


SHOWN = re.compile(r"<!-- code: (\S+) -->\n.*?<!-- end -->", re.DOTALL)


def page(text: str) -> str:
    """A page with the present text of every function that it shows."""
    return SHOWN.sub(lambda found: shown(found[1]), text)


def shown(name: str) -> str:
    """One function as a page has it."""
    return f"<!-- code: {name} -->\n```python\n{textwrap.dedent(source(name)).rstrip()}\n```\n<!-- end -->"


def digest(paper: str) -> str:
    """SHA-256 of what they do; words about them may change."""
    return hashlib.sha256("\n".join(bare(source(name)) for name in names(paper)).encode()).hexdigest()


def main(directory: Path) -> None:
    """Renew the pages of a directory."""
    for path in sorted(directory.glob("*.md")):
        path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
