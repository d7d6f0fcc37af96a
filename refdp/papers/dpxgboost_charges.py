"""What each release of DP-XGBoost is charged: its mechanism, the sensitivity it declares, and the ledger's."""

from __future__ import annotations

from refdp.calibration import laplace_charge
from refdp.events import Charge, Relation, Sensitivity
from refdp.mechanisms import Exponential
from refdp.papers.dpxgboost_formulas import (
    child_count_sensitivity,
    gain_range,
    gain_sensitivity_as_published,
    leaf_sensitivity,
    leaf_sensitivity_as_published,
    median_range,
    newton_gain_range,
    noisy_average_scale,
    noisy_newton_sensitivity,
    noisy_ratio_sensitivity,
    padded_leaf_sensitivity,
    records_changed,
    sketch_scale_as_published,
    sketch_sensitivity,
)
from refdp.papers.dpxgboost_settings import Params, sketch_size
from refdp.portable import rounded_up
from refdp.records import Schema


def suffix(relation: Relation) -> str:
    """How the ledger's ids end under a relation."""
    return "" if relation is Relation.ADD_REMOVE else "-replace-one"


def newton(params: Params) -> bool:
    """Whether gains divide by Hessians that are not all 1."""
    return params.loss == "log" and params.gain == "newton"


def gradient_bound(params: Params) -> float:
    """The bound of |g| of every record that is used: g*, at most 1 for log loss, and B h* for clipped Newton ratios."""
    if params.loss == "square":
        return params.gradient_bound
    bound = min(params.gradient_bound, 1.0)
    return min(bound, params.ratio_bound * hessian_bound(params)) if newton(params) else bound


def hessian_bound(params: Params) -> float:
    """h*: 1 for square loss, 1/4 for log loss (dpxgboost/log-loss-gradient)."""
    return 1.0 if params.loss == "square" else 0.25


def count_weight(params: Params) -> float:
    """w of the released pairs (G, w H): one record changes w H by at most count_weight g*."""
    return params.count_weight * gradient_bound(params) / hessian_bound(params)


def exact_counts(params: Params) -> bool:
    """Whether splits are left out by exact counts, as published."""
    return params.constants == "published" and params.leaf == "minimum"


# --- Sketch -----------------------------------------------------------------------------------------------------------


def sketch_charge(params: Params, schema: Schema, epsilon: float) -> Charge:
    """The noisy histograms of all features of one sketch (section 4.1 and 4.4), as one release."""
    relation, m = params.relation, sketch_size(params, schema)
    claim = "sketch-weights" if relation is Relation.ADD_REMOVE else "sketch-repaired-replace-one"
    proved = rounded_up(lambda bound: m * sketch_sensitivity(bound, relation), hessian_bound(params))
    printed = rounded_up(lambda given: given * sketch_scale_as_published(given, m), epsilon)
    return _additive(params, epsilon, (proved, claim), (printed, f"sketch{suffix(relation)}"), touched=m)


def quantile_charge(params: Params, schema: Schema, epsilon: float) -> Charge:
    """One choice of the medians of all intervals of all features."""
    m, relation = sketch_size(params, schema), params.relation
    bound = rounded_up(lambda bound: m * median_range(bound, relation), hessian_bound(params))
    declared = Sensitivity(bound, "range", f"dpxgboost/median-range{suffix(params.relation)}", params.relation)
    return Charge(Exponential.calibrated(epsilon, declared.bound, params.sampler), declared, declared)


# --- Splits -----------------------------------------------------------------------------------------------------------


def split_charge(params: Params, schema: Schema, epsilon: float) -> Charge:
    """The choice of all splits of one level (section 4.2)."""
    relation = params.relation
    end, bound = suffix(relation), gradient_bound(params)
    proved = Sensitivity(rounded_up(gain_range, bound, relation), "range", f"dpxgboost/gain-range{end}", relation)
    if newton(params):
        ranged = rounded_up(newton_gain_range, params.ratio_bound, hessian_bound(params), relation)
        proved = Sensitivity(ranged, "range", f"dpxgboost/newton-gain-range{end}", relation)
    declared = proved
    if params.constants == "published":
        eq_5 = rounded_up(gain_sensitivity_as_published, min(params.gradient_bound, 1.0) if newton(params) else bound)
        whole = params.exponent == "whole"  # section 2: e^(eps u / Delta u); section 4.2: e^(eps u / (2 Delta u))
        claim = "dpxgboost/exponential-section-2" if whole else f"dpxgboost/split-selection{end}"
        if not whole and relation is Relation.ADD_REMOVE and exact_counts(params):
            claim = "dpxgboost/min-child-weight"  # Eq. 5 holds, but splits that exact counts leave out have no bound
        elif not whole and relation is Relation.ADD_REMOVE and newton(params):
            claim = "dpxgboost/newton-gain-sensitivity"
        declared = Sensitivity(eq_5 if whole else 2 * eq_5, "range", claim, relation)
    return Charge(Exponential.calibrated(epsilon, declared.bound, params.sampler), declared, proved)


def count_charge(params: Params, epsilon: float) -> Charge:
    """The noisy counts of all children of one level."""
    bound = rounded_up(child_count_sensitivity, params.relation)
    return _additive(params, epsilon, (bound, f"child-counts{suffix(params.relation)}"), None, touched=1)


# --- Leaves -----------------------------------------------------------------------------------------------------------


def leaf_charge(params: Params, schema: Schema, epsilon: float) -> Charge:
    """The release of all leaf values, or of what they are computed from, of one tree (section 4.3)."""
    if params.leaf == "average":
        return _average_charge(params, epsilon)
    bound, relation = gradient_bound(params), params.relation
    end, shrunk = suffix(relation), params.regularisation
    plain = rounded_up(leaf_sensitivity, bound, shrunk, relation), f"leaf-sensitivity{end}"
    if params.leaf == "laplace":
        claim = "leaf-sensitivity" if not end else "leaf-sensitivity-published-replace-one"
        printed = rounded_up(leaf_sensitivity, bound, shrunk, Relation.ADD_REMOVE), claim
        return _additive(params, epsilon, plain, printed, touched=1)
    padded = rounded_up(padded_leaf_sensitivity, bound, params.child_minimum, shrunk, relation), f"padded-leaf{end}"
    eq_7 = rounded_up(leaf_sensitivity_as_published, bound, params.child_minimum, shrunk), f"min-child-weight{end}"
    return _additive(params, epsilon, plain if params.constants == "published" else padded, eq_7, touched=1)


def _average_charge(params: Params, epsilon: float) -> Charge:
    bound, relation = gradient_bound(params), params.relation
    end, weight = suffix(relation), count_weight(params)
    printed = rounded_up(lambda *given: given[1] * noisy_average_scale(*given), bound, epsilon)
    if params.loss == "square":
        changed, claim = rounded_up(noisy_ratio_sensitivity, bound, weight, relation), f"noisy-ratio{end}"
    else:
        changed = rounded_up(noisy_newton_sensitivity, bound, hessian_bound(params), weight, relation)
        claim = f"noisy-newton-ratio{end}"
    return _additive(params, epsilon, (changed, claim), (printed, f"noisy-average{end}"), touched=2)


def _additive(
    params: Params, epsilon: float, proved: tuple[float, str], printed: tuple[float, str] | None, *, touched: int
) -> Charge:
    """Laplace noise for an L1 sensitivity. proved, printed: bound and claim; touched: coordinates a record is in."""
    relation = params.relation
    established = Sensitivity(proved[0], 1, f"dpxgboost/{proved[1]}", relation)
    declared = established
    if printed is not None and params.constants == "published":
        declared = Sensitivity(printed[0], 1, f"dpxgboost/{printed[1]}", relation)
    cells = touched * records_changed(relation)
    return laplace_charge(epsilon, declared, established, params.noise, touched=cells)
