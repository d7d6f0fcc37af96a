"""Formulas of DPBoost, InPrivate Digging and DP-XGBoost, and what they are in the texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from proofs.replay.formula import (
    CLASSES,
    REGRESSION,
    Formula,
    both,
    call,
    charged,
    column,
    contributed,
    labels,
    module,
    of,
    plain,
    schema,
    sides,
)
from proofs.replay.printed import Asking
from refdp.noise.mechanisms import Laplace
from refdp.privacy.events import Relation

# --- Li et al. 2020 ---------------------------------------------------------------------------------------------------

SIDES = "let at_right r := inside ls k r && right q r in let at_left r := inside ls k r && negb (right q r) in"


def of_dpboost() -> Iterator[Formula]:
    """DPBoost."""
    yield plain("dpboost:child_gain", "G n l", "child_gain G n l", "child_gain")
    yield plain("dpboost:gain", "G n G' n' l", "gain G n G' n' l", "gain child_gain")
    yield plain("dpboost:leaf_value", "G n l", "leaf_value G n l", "leaf_value")
    yield from both("dpboost:gain_range", "b", "(gain_range b)", "gain_range")
    yield from both("dpboost:leaf_sensitivity", "b l c", "(leaf_sensitivity b l c)", "leaf_sensitivity")
    for name, part in (("share", "fst"), ("leaf_clip", "snd")):
        given = "e t:nat n:nat" if name == "share" else "b e t:nat"
        applied = "(eta P) t n" if name == "share" else "(bound P) (eta P) t"
        yield Formula(
            f"dpboost_{name}", f"dpboost:{name}", given, call(f"dpboost:{name}"),
            f"forall P n t, (t < n)%nat -> {{it}} {applied} = {part} (nth t (published_blocks P n) (zero, zero))",
            "published_blocks share", "rewrite nth_block by assumption; formula",
        )  # fmt: skip
    yield Formula(
        "dpboost_tree_epsilon", "dpboost:Params.tree_epsilon", "e k",
        lambda e, k: of("dpboost", Relation.ADD_REMOVE, epsilon=e, trees=5, trees_per_ensemble=2).tree_epsilon(
            schema(REGRESSION, k)
        ),
        "forall P, length (runs P) = 3%nat -> {it} (eps P) (INR (length (classes P))) = tree_eps P", "tree_eps",
    )  # fmt: skip
    yield from charged(
        "dpboost_split_charge", "dpboost:Params.split_charge", "e b d:nat",
        lambda relation, e, b, d: of("dpboost", relation, gradient_bound=b, depth=d).split_charge(e),
        "forall P, changed P = {changed} -> {it} (tree_eps P) (bound P) (depth P) = slope P", "slope gain_range",
    )  # fmt: skip
    yield from charged(
        "dpboost_leaf_charge", "dpboost:Params.leaf_charge", "e b l c",
        lambda relation, e, b, lam, c: of(
            "dpboost", relation, gradient_bound=b, regularisation=lam, noise="floating"
        ).leaf_charge(e, c),
        "forall P c, changed P = {changed} -> {it} (tree_eps P) (bound P) (lam P) c = scale P c",
        "scale leaf_sensitivity",
    )  # fmt: skip
    for rule, clips in (("filter", "false"), ("clip", "true")):

        def contribution(b: Any, s: Any, y: Any, rule: str = rule) -> Any:
            return contributed(
                "dpboost", of("dpboost", Relation.ADD_REMOVE, gradients=rule, gradient_bound=b), REGRESSION, s, y
            )

        where = f"forall P y ts r, clipping P = {clips} -> {{it}} (bound P) (score P ts r) (y r)"
        yield Formula(
            f"dpboost_gradient_{rule}", "dpboost:Contribution.statistics", "b s y",
            lambda *given, c=contribution: c(*given).values["g"], f"{where} = gradient P y ts r", "gradient",
        )  # fmt: skip
        yield Formula(
            f"dpboost_used_{rule}", "dpboost:Contribution.statistics", "b s y",
            lambda *given, c=contribution: c(*given).used, f"{where} = used P y ts r", "used gradient", truth=True,
        )  # fmt: skip

    yield from labels("dpboost")

    def utility(G: Any, n: Any, other: Any, m: Any, lam: Any) -> Any:
        asking = Asking("splits", ((G, n), (other, m)))
        params = of("dpboost", Relation.ADD_REMOVE, regularisation=lam)
        return asking.value(lambda: module("dpboost").splits_of_most_gain(params, 0, None, sides(), asking, asking))

    yield Formula(
        "dpboost_utility", "dpboost:splits_of_most_gain", "G n G' n' l", utility,
        f"forall P g X ls k q, {SIDES} {{it}} (gsum g X at_left) (count X at_left) (gsum g X at_right) "
        "(count X at_right) (lam P) = utility P g X ls k q", "utility gain child_gain", "cbv zeta; formula",
    )  # fmt: skip

    def leaf(G: Any, n: Any, lam: Any, c: Any) -> Any:
        asking = Asking("leaves", (G, n), np.zeros((1, 2)))
        params = of("dpboost", Relation.ADD_REMOVE, depth=1, regularisation=lam)
        object.__setattr__(params, "split_rule", lambda: lambda *_: np.zeros((1, 2)))
        return asking.value(lambda: module("dpboost").train_single_tree(params, sides(), 1.0, c, asking, asking))

    yield Formula(
        "dpboost_leaf", "dpboost:train_single_tree", "G n l c", leaf,
        "forall P g X c ls k, {it} (gsum g X (inside ls k)) (count X (inside ls k)) (lam P) c = leaf P g X c ls k",
        "leaf leaf_value",
    )  # fmt: skip


# --- Zhao et al. 2018 -------------------------------------------------------------------------------------------------


def of_inprivate() -> Iterator[Formula]:
    """InPrivate Digging."""
    yield plain("inprivate:residual", "y f", "2 * y / (1 + exp (2 * y * f))", "")
    yield plain("inprivate:curvature", "r", "InPrivate.curvature r", "InPrivate.curvature")
    yield plain("inprivate:node_score", "G n", "InPrivate.node_score G n", "InPrivate.node_score")
    yield plain(
        "inprivate:gain", "G n G' n'", "InPrivate.error_gain G n G' n'", "InPrivate.error_gain InPrivate.node_score"
    )
    yield from both("inprivate:gain_range", "b", "(InPrivate.split_range b)", "InPrivate.split_range")
    yield from charged(
        "inprivate_split_charge", "inprivate:Params.split_charge", "e p b d:nat k",
        lambda relation, e, p, b, d, k: of(
            "inprivate", relation, epsilon=e, split_share=p, residual_bound=b, depth=d
        ).split_charge(schema(REGRESSION, k)),
        "forall P, InPrivate.neighbours P = {changed} -> {it} (InPrivate.epsilon P) (InPrivate.part_splits P) "
        "(InPrivate.cut P) (S (InPrivate.splits P)) (INR (length (InPrivate.outputs P))) = InPrivate.split_slope P",
        "InPrivate.split_slope InPrivate.tree_budget InPrivate.split_range", "rewrite S_minus_1; formula",
    )  # fmt: skip
    for target, counts in ((REGRESSION, "true"), (CLASSES, "false")):
        ending = "" if counts == "true" else "_classes"
        yield from charged(
            f"inprivate_leaf_charge{ending}", "inprivate:Params.leaf_charge", "e p b k",
            lambda relation, e, p, b, k, target=target: of(
                "inprivate", relation, epsilon=e, split_share=p, residual_bound=b, noise="floating"
            ).leaf_charge(schema(target, k)),
            f"forall P, InPrivate.counted P = {counts} -> InPrivate.neighbours P = {{changed}} -> "
            "{it} (InPrivate.epsilon P) (InPrivate.part_splits P) (InPrivate.cut P) "
            "(INR (length (InPrivate.outputs P))) "
            "= InPrivate.leaf_scale P", "InPrivate.leaf_scale InPrivate.leaf_range InPrivate.tree_budget",
        )  # fmt: skip
        loss = "sub y s" if counts == "true" else "2 * y / (1 + exp (2 * y * s))"
        yield Formula(
            f"inprivate_error{ending}", "inprivate:Contribution.statistics", "b s y",
            lambda b, s, y, target=target: contributed(
                "inprivate", of("inprivate", Relation.ADD_REMOVE, residual_bound=b), target, s, y
            ).values["r"],
            f"forall P y ts r, (forall y s, InPrivate.loss P y s = {loss}) -> 0 <= grid_down (InPrivate.cut P) -> "
            "{it} (InPrivate.cut P) (InPrivate.score_of P ts r) (y r) = InPrivate.error P y ts r",
            "InPrivate.error", "formula",
        )  # fmt: skip

    yield Formula(
        "inprivate_curvature_on_grid", "inprivate:Contribution.statistics", "b s y",
        lambda b, s, y: contributed(
            "inprivate", of("inprivate", Relation.ADD_REMOVE, residual_bound=b), CLASSES, s, y
        ).values["c"],
        "forall P y ts r, InPrivate.counted P = false -> "
        "(forall y s, InPrivate.loss P y s = 2 * y / (1 + exp (2 * y * s))) -> 0 <= grid_down (InPrivate.cut P) -> "
        "{it} (InPrivate.cut P) (InPrivate.score_of P ts r) (y r) "
        "= InPrivate.second P (InPrivate.error P y ts) r", "InPrivate.second InPrivate.curvature InPrivate.error",
    )  # fmt: skip
    yield from labels("inprivate")

    def coefficient(b: Any, d: Any, scale: Any, G: Any, n: Any) -> Any:
        mechanism = object.__new__(Laplace)
        object.__setattr__(mechanism, "scale", scale)
        params = of("inprivate", Relation.ADD_REMOVE, leaf_bound=b, damping=d)
        return params.coefficients(mechanism, column(G, n)).item()

    yield Formula(
        "inprivate_coefficient", "inprivate:Params.coefficients", "b d s G n", coefficient,
        "forall P G n, 0 <= InPrivate.coefficient_bound P -> {it} (InPrivate.coefficient_bound P) "
        "(InPrivate.damping P) (InPrivate.leaf_scale P) G n = InPrivate.coefficient P G n", "InPrivate.coefficient",
    )  # fmt: skip

    def utility(G: Any, n: Any, other: Any, m: Any) -> Any:
        asking = Asking("splits", ((G, n), (other, m)))
        params = of("inprivate", Relation.ADD_REMOVE)
        return asking.value(lambda: module("inprivate").train_tree(params, schema(REGRESSION), sides(), asking, asking))

    yield Formula(
        "inprivate_utility", "inprivate:train_tree", "G n G' n'", utility,
        f"forall e X ls k q, {SIDES} {{it}} (gsum e X at_left) (count X at_left) (gsum e X at_right) "
        "(count X at_right) = InPrivate.split_utility e X ls k q",
        "InPrivate.split_utility InPrivate.error_gain InPrivate.node_score", "cbv zeta; formula",
    )  # fmt: skip


# --- Grislain and Gonzalvez 2021 --------------------------------------------------------------------------------------


def of_dpxgboost() -> Iterator[Formula]:
    """DP-XGBoost."""
    yield plain("dpxgboost:child_gain", "G n l", "child_gain G n l", "child_gain")
    yield plain("dpxgboost:gain", "G n G' n' l", "gain G n G' n' l", "gain child_gain")
    yield plain("dpxgboost:leaf_value", "G n l", "leaf_value G n l", "leaf_value")
    yield plain("dpxgboost:sigmoid", "s", "/ (1 + exp (- s))", "")
    yield plain("dpxgboost:log_gradient_at", "p y", "p - y", "")
    yield plain("dpxgboost:log_hessian_at", "p", "p * (1 - p)", "")
    yield Formula(
        "dpxgboost_clip_ratio", "dpxgboost:clip_ratio", "g h B", call("dpxgboost:clip_ratio"),
        "forall g h B, 0 <= B * h -> {it} g h B = Rmin (Rmax g (- (B * h))) (B * h)", "",
        "rewrite Ropp_mult_distr_l_reverse; formula",
    )  # fmt: skip
    yield from both("dpxgboost:leaf_sensitivity", "b l", "(b / (1 + l))", "")
    for loss, bound, given in (
        ("square", "gradient_bound", "DPXGBoost.newton P = false"),
        ("log", "ratio_bound", "DPXGBoost.newton P = true -> DPXGBoost.most_hessian P = 1 / 4"),
    ):
        yield from charged(
            f"dpxgboost_split_charge_{loss}", "dpxgboost:Params.split_charge", "e b",
            lambda relation, e, b, loss=loss, bound=bound: of(
                "dpxgboost", relation, loss=loss, **{bound: b}
            ).split_charge(schema(REGRESSION), e),
            f"forall P e, DPXGBoost.touched P = {{changed}} -> {given} -> {{it}} e (DPXGBoost.ratio P) "
            "= DPXGBoost.level_slope P e",
            "DPXGBoost.level_slope DPXGBoost.gains_range DPXGBoost.most_weight",
        )  # fmt: skip
    yield from charged(
        "dpxgboost_leaf_charge", "dpxgboost:Params.leaf_charge", "e b m l",
        lambda relation, e, b, m, lam: of(
            "dpxgboost", relation, gradient_bound=b, child_minimum=m, regularisation=lam, noise="floating"
        ).leaf_charge(schema(REGRESSION), e),
        "forall P e, DPXGBoost.touched P = {changed} -> {it} e (DPXGBoost.most_gradient P) (DPXGBoost.least P) "
        "(DPXGBoost.lambda P) = DPXGBoost.leaves_scale P e", "DPXGBoost.leaves_scale DPXGBoost.leaf_change",
    )  # fmt: skip
    yield from charged(
        "dpxgboost_leaf_charge_plain", "dpxgboost:Params.leaf_charge", "e b l",
        lambda relation, e, b, lam: of(
            "dpxgboost", relation, gradient_bound=b, leaf="laplace", regularisation=lam, noise="floating"
        ).leaf_charge(schema(REGRESSION), e),
        "forall P e, e <> 0 -> DPXGBoost.least P = 1 -> 0 < DPXGBoost.lambda P -> DPXGBoost.touched P = {changed} -> "
        "{it} e (DPXGBoost.most_gradient P) (DPXGBoost.lambda P) = DPXGBoost.leaves_scale P e",
        "DPXGBoost.leaves_scale DPXGBoost.leaf_change", "fraction",
    )  # fmt: skip

    def sketched(relation: Relation, e: Any, m: Any) -> Any:
        params = of("dpxgboost", relation, noise="floating")
        object.__setattr__(params, "sketch_size", lambda _: m)
        return params.sketch_charge(schema(REGRESSION), e)

    yield from charged(
        "dpxgboost_sketch_charge", "dpxgboost:Params.sketch_charge", "e m:nat", sketched,
        "forall P e, DPXGBoost.most_hessian P = 1 -> DPXGBoost.touched P = {changed} -> "
        "{it} e (length (DPXGBoost.sketched P)) = DPXGBoost.histogram_scale P e", "DPXGBoost.histogram_scale",
    )  # fmt: skip
    yield Formula(
        "dpxgboost_kept", "dpxgboost:Contribution.statistics", "b s y",
        lambda b, s, y: contributed(
            "dpxgboost", of("dpxgboost", Relation.ADD_REMOVE, gradient_bound=b), REGRESSION, s, y
        ).used,
        "forall P y ts r, (forall s y, DPXGBoost.contribution P s y = (grid (sub s y), one)) -> "
        "{it} (DPXGBoost.most_gradient P) (DPXGBoost.raw_score P ts r) (y r) = DPXGBoost.kept P y ts r",
        "DPXGBoost.kept DPXGBoost.both", truth=True,
    )  # fmt: skip

    yield from labels("dpxgboost")

    def gained(G: Any, n: Any, other: Any, m: Any, lam: Any) -> Any:
        params = of("dpxgboost", Relation.ADD_REMOVE, regularisation=lam, missing="left")
        sums = [(column(G), column(n)), (column(other), column(m))]
        return module("dpxgboost").gains(params, sides(), sums, None)[0].item()

    yield Formula(
        "dpxgboost_split_gain", "dpxgboost:gains", "G n G' n' l", gained,
        f"forall P gh X ls k q, {SIDES} {{it}} (where_ X at_left (fun r => fst (gh r))) "
        "(where_ X at_left (DPXGBoost.divisor P gh)) (where_ X at_right (fun r => fst (gh r))) "
        "(where_ X at_right (DPXGBoost.divisor P gh)) (DPXGBoost.lambda P) = DPXGBoost.split_gain P gh X ls k q",
        "DPXGBoost.split_gain DPXGBoost.side child_gain", "cbv zeta; formula",
    )  # fmt: skip

    def leaf(G: Any, n: Any, m: Any, lam: Any) -> Any:
        asking = Asking("leaves", (G, n))
        params = of("dpxgboost", Relation.ADD_REMOVE, child_minimum=m, regularisation=lam)
        return asking.value(lambda: module("dpxgboost").leaf_values(params, None, asking, asking))

    yield Formula(
        "dpxgboost_padded_leaf", "dpxgboost:leaf_values", "G n m l", leaf,
        "forall P gh X ls k, {it} (where_ X (inside ls k) (fun r => fst (gh r))) (count X (inside ls k)) "
        "(DPXGBoost.least P) (DPXGBoost.lambda P) = DPXGBoost.padded_leaf P gh X ls k",
        "DPXGBoost.padded_leaf leaf_value",
    )  # fmt: skip
