"""Every published formula at numbers computed by hand from the paper's equation, and every small mistake in it seen.

Exact where the formula is rational. The functions are looked up by name, wherever in the paper's modules they are.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable
from fractions import Fraction as F
from types import FunctionType
from typing import Any

import pytest

import refdp.papers
from refdp.privacy.events import Relation
from tests.mutants.functions import alive

AR, RO = Relation.ADD_REMOVE, Relation.REPLACE_ONE
E = math.e
HISTOGRAM, PARTIAL, TOTAL = "histogram", "partially-random", "totally-random"
Case = tuple[tuple[Any, ...], Any]


def both(one: Any, *arguments: Any) -> list[Case]:
    """A figure under add-remove, and twice that under replace-one."""
    return [((*arguments, AR), one), ((*arguments, RO), 2 * one)]


VECTORS: dict[str, dict[str, list[Case]]] = {
    "dpboost": {
        "child_gain": [((3, 4, F(1, 2)), 2)],
        "gain": [((3, 4, -2, 1, F(1, 2)), F(14, 3))],
        "leaf_value": [((3, 4, F(1, 2)), F(-2, 3))],
        "gain_sensitivity_as_published": [((2, 3), F(11, 5)), ((1, F(1, 2)), F(14, 15))],
        "gain_change_upper": [((3,), 9)],
        "gain_change_lower": [((3,), -27)],
        "gain_range": both(36, 3),
        "leaf_sensitivity_as_published": [((2, 3, 1), F(1, 2)), ((2, 3, F(1, 8)), F(1, 4))],
        "leaf_sensitivity": [
            *both(F(1, 2), 2, 3, 1),
            *both(F(9, 20), 2, 3, F(1, 4)),
            *both(F(1, 4), 2, 3, F(1, 8)),
        ],
        "records_changed": both(1),
        "leaf_clip": [((2, F(1, 4), 3), F(27, 32)), ((2, F(1, 4), 0), 2)],
        "share": [((F(1, 2), 1, 3), F(2, 7)), ((F(1, 4), 2, 2), F(9, 28))],
    },
    "dpxgboost": {
        "square_loss": [((3, 1), 2), ((1, F(1, 2)), F(1, 8))],
        "square_gradient": [((3, 1), 2)],
        "log_gradient_at": [((F(1, 4), 1), F(-3, 4))],
        "log_hessian_at": [((F(1, 4),), F(3, 16))],
        "quadratic_objective": [((3, 4, 2, 1), 16)],
        "child_gain": [((3, 4, F(1, 2)), 2)],
        "gain": [((3, 4, -2, 1, F(1, 2)), F(14, 3))],
        "leaf_value": [((3, 4, F(1, 2)), F(-2, 3))],
        "clip_ratio": [((5, 2, F(1, 4)), F(1, 2)), ((-5, 2, F(1, 4)), F(-1, 2)), ((F(1, 3), 2, F(1, 4)), F(1, 3))],
        "gain_sensitivity_as_published": [((2,), 12)],
        "gain_sensitivity": [((2, AR), 12), ((2, RO), 16)],
        "gain_range": both(36, 3),
        "newton_gain_range": both(9, 3, F(1, 4)),
        "split_exponent_section_2": [((3, F(1, 2), 5), F(3, 10))],
        "split_exponent": [((3, F(1, 2), 5), F(3, 20))],
        "racing_key": [((0.25, math.exp(-E)), 0.75)],
        "large_enough": [((3, 4, 3), True), ((4, 3, 4), False), ((2, 5, 3), False)],
        "leaf_change_as_published": [((2, 3, 1), F(7, 10)), ((3, 1, F(1, 2)), 2)],
        "leaf_sensitivity": both(F(1, 2), 2, 3),
        "leaf_sensitivity_as_published": [((2, 3, 1), F(4, 5))],
        "padded_leaf_value": [((6, 2, 4, 1), F(-6, 5)), ((6, 7, 4, 1), F(-3, 4))],
        "padded_leaf_sensitivity": both(F(7, 10), 2, 3, 1),
        "noisy_average": [((3, 1, 1, 5, 1), -2), ((3, 1, 1, 1, 1), -1), ((-9, 1, 1, 3, 1), 3), ((3, 5, 2, 9, 2), -2)],
        "noisy_average_log_density": [
            ((0.5, 1.0, 3.0, 1.0, 2.0), -0.5),
            ((0.0, 3.0, 1.0, 1.0, 0.5), math.log(2) - 6),
            ((2.0, 1.0, 1.0, 2.0, 0.25), math.log(6) - 20),
        ],
        "noisy_average_scale": [((3, F(1, 2)), 12)],
        "noisy_average_loss_bound": [
            ((4.0, 1.0), 4.0),
            ((0.25, 1.0), 0.125 + math.log(1.5)),
            ((0.25, 2.0), 0.125 + math.log(4 / 3)),
        ],
        "noisy_ratio_sensitivity": both(5, 2, 3),
        "noisy_newton_sensitivity": both(F(11, 4), 2, F(1, 4), 3),
        "child_count_sensitivity": both(1),
        "sketch_scale_as_published": [((F(1, 2), 3), 6)],
        "sketch_sensitivity": both(F(1, 4), F(1, 4)),
        "median_utility": [((5, 2), F(-3, 2)), ((2, 5), F(-3, 2))],
        "median_range": both(F(1, 4), F(1, 4)),
        "merged_error": [((F(1, 2), 3, F(1, 4), 2), F(2, 5))],
        "pruned_error": [((F(1, 4), 5), F(9, 20))],
        "records_changed": both(1),
    },
    "inprivate": {
        "loss": [
            ((1.0, 0.5), math.log(1 + 1 / E)),
            ((-1.0, 1.0), math.log(1 + E**2)),
            ((0.5, 1.0), math.log(1 + 1 / E)),
        ],
        "residual": [((-1.0, 0.5), -2 / (1 + 1 / E)), ((1.0, 1.0), 2 / (1 + E**2)), ((2.0, 0.25), 4 / (1 + E))],
        "residual_at_odds": [((1, 3), F(1, 2)), ((-3, 3), F(-3, 2))],
        "curvature": [((F(3, 2),), F(3, 4)), ((F(-1, 4),), F(7, 16))],
        "newton_step": [((F(3), 4), F(3, 4))],
        "probability": [((0.5,), E / (1 + E)), ((1.0,), E**2 / (1 + E**2))],
        "probability_at_odds": [((F(3),), F(3, 4))],
        "square_loss": [((3, 1), 2), ((1, F(1, 2)), F(1, 8))],
        "square_residual": [((3, 1), 2)],
        "mean_residual": [((F(3), 4), F(3, 4))],
        "damped_step": [((F(6), 2, 4, 1), 1), ((F(6), 2, 4, 5), F(3, 2)), ((F(-6), 8, 4, 5), F(-3, 4))],
        "clip": [((5, 2), 2), ((-5, 2), -2), ((1, 2), 1)],
        "square_error": [(([F(1), F(2), F(6)],), 14), (([],), 0)],
        "node_score": [((F(3), 0), 9), ((F(3), 4), F(9, 4)), ((F(3), 1), 9)],
        "nonempty_score": [((F(3), 4), F(9, 4))],
        "gain": [((F(3), 2, F(-1), 4), F(49, 12))],
        "gain_sensitivity_as_published": [((), 4)],
        "gain_change": both(36, 3),
        "gain_range": both(36, 3),
        "split_exponent": [((3, F(1, 2), 5), F(3, 20))],
        "down_sample": [(([F(5), F(1), F(3), F(2), F(9)],), [2, 7])],
        "leaf_scale_as_published": [((F(1, 2),), 4)],
        "classification_leaf_sensitivity": both(F(9, 4)),
        "regression_leaf_sensitivity": both(4, 3),
        "records_changed": both(1),
        "queries": [((4,), 5)],
        "level_epsilon": [((F(2), 4), F(2, 3))],
        "halves_by_index": [((7, 3), [range(4), range(4, 6), range(6, 7)]), ((8, 2), [range(4), range(4, 6)])],
        "round_share": [((3,), F(1, 8))],
        "mean_absolute_error": [(([F(1), F(-2), F(6)],), 3)],
        "error_change": [((3, -1, F(1, 2), 5), F(3, 2)), ((3, -1, F(1, 2), 1), 1), ((-1, -3, F(1, 2), 1), -1)],
        "advance_sensitivity": both(3, 3),
        "margin": [((2.0, 0.25), 2 * math.log(2)), ((1.0, 0.1), math.log(5))],
        "error_sensitivity": [((F(3), 5, AR), F(1, 2)), ((F(3), 5, RO), F(3, 5))],
        "baseline_time": [((4, 1, 10), 46), ((3, 2, 7), 27)],
        "broadcast_time": [((4, 1, 10), 43), ((3, 2, 7), 25)],
        "baseline_messages": [((4,), 3)],
        "broadcast_messages": [((4,), 6)],
        "finish_times": [
            ((3, 1, 10, False), [10, 21, 33]),
            ((3, 1, 10, True), [10, 21, 32]),
            ((2, 1, 0, False), [0, 1]),
        ],
    },
    "fedgbdt": {
        "first_order_objective": [((2, 3, F(1)), 8), ((3, 5, F(1, 2)), F(69, 4))],
        "second_order_objective": [((2, 3, 4, F(1)), 16)],
        "leaf_weight": [((3, 4, F(1, 2)), F(-2, 3))],
        "released_leaf_weight": [
            ((F(3), 0, F(1)), 0),
            ((F(0), 0, F(1)), 0),
            ((F(3), -1, F(5)), 0),
            ((F(3), 4, F(1, 2)), F(-2, 3)),
            ((F(3), 1, F(1, 2)), -2),
        ],
        "averaging_weight": [
            ((F(3), 0), F(1, 2)),
            ((F(0), 0), F(1, 2)),
            ((F(0), 4), 0),
            ((F(3), -2), F(1, 2)),
            ((F(3), 4), F(3, 4)),
            ((F(5), 4), 1),
            ((F(-1), 4), 0),
            ((F(1, 2), 1), F(1, 2)),
            ((F(3, 4), 1), F(3, 4)),
        ],
        "leaf_score": [((3, 4, F(1, 2)), 2)],
        "split_score": [((3, 4, -2, 1, F(1, 2), F(1, 3)), F(21, 11))],
        "update_as_published": [
            ((3, 2, F(1, 2)), F(-3, 2)),
            ((0, 0, F(1, 2)), 0),
            ((-3, 2, F(1, 2)), 1),
            ((0, 2, F(1, 2)), 0),
            ((1, 2, F(1, 2)), -1),
            ((F(1, 2), 2, F(1, 2)), -1),
            ((F(-1, 2), 2, F(1, 2)), F(1, 4)),
        ],
        "update": [((3, 2, F(1, 2)), 1), ((-3, 2, F(1, 2)), -1), ((1, 2, F(1, 4)), F(1, 4))],
        "batch_terms_as_published": [((5, 3), range(2, 4))],
        "batch_terms": [((5, 3), range(3, 6))],
        "batched_score_as_published": [((1.0, 0.0, 0.5), 1.25), ((1.0, math.log(3), 0.5), 1.375)],
        "batched_score": [((F(1), [F(1), F(2), F(6)]), 4), ((F(0), [F(1), F(2), F(6)]), 3)],
        "cyclical_feature_as_published": [((7, 3), 1)],
        "cyclical_features": [((3, 4, 2), (1, 2)), ((2, 4, 3), (4, 1, 2))],
        "squared_norm": [((3, 4), 25)],
        "log_hessian_of": [((F(1, 4),), F(3, 16)), ((F(-1, 4),), F(3, 16))],
        "newton_squared_sensitivity_as_published": [((), F(17, 16))],
        "counting_squared_sensitivity_as_published": [((), 2)],
        "newton_squared_sensitivity": [((AR, F(3, 4)), F(153, 256)), ((RO, F(3, 4)), F(9, 4)), ((AR,), 1), ((RO,), 4)],
        "gradient_squared_sensitivity": [((AR, 2), 5), ((RO, 2), 16), ((RO, F(1, 2)), F(5, 2)), ((AR,), 2), ((RO,), 4)],
        "averaging_squared_sensitivity": both(2),
        "hessian_squared_sensitivity": both(F(1, 16)),
        "gradient_bound_after": [((3, 2.0, 0.5), 1 / (1 + E**-3)), ((2, 0.5, 3.0), 1 / (1 + E**-3))],
        "clip_gradient": [((5, 2), 2), ((-5, 2), -2), ((1, 2), 1)],
        "uniform_candidate": [((2, 5, F(1), 3), F(3, 2)), ((4, 4, F(1), 3), 3)],
        "inner_uniform_candidate": [((2, 4, F(1), 3), F(9, 5))],
        "log_candidate": [((1, 1, 2.0, 5.0), 3.0), ((2, 3, 1.0, 16.0), 4.0)],
        "iterative_hessian": [
            (([F(0), F(1), F(2), F(4)], [F(1), F(5), F(2)], 2), [F(3, 2), 2]),
            (([F(0), F(1), F(2), F(4)], [F(1), F(5), F(2)], 4), [F(3, 4), F(3, 2), F(7, 4), 2]),
            (([F(0), F(1), F(2), F(4)], [F(1), F(5), F(2)], 3), [F(3, 4), F(3, 2), 2]),
            (([F(0), F(2), F(4), F(6)], [F(3), F(-9), F(3)], 2), [2, 4]),
            (([F(0), F(2), F(4), F(6)], [F(3), F(0), F(4)], 1), [3]),
            (([F(0), F(2), F(4), F(6)], [F(2), F(2), F(2)], 3), [2, 4, 5]),
            (([F(0), F(2), F(4), F(6)], [F(0), F(0), F(0)], 2), [2, 4]),
            (([F(0), F(2), F(4), F(6)], [F(5), F(6), F(1)], 3), [2, 3, 4]),
            (([F(0), F(2), F(4), F(6)], [F(6), F(5), F(1)], 3), [1, 2, 4]),
            (([F(0), F(2), F(4), F(6), F(8)], [F(5), F(2), F(3), F(2)], 3), [1, 2, 6]),
            (([F(0), F(2), F(4), F(6), F(8)], [F(7), F(1), F(4), F(0)], 2), [1, 2]),
        ],
        "total_renyi": [((2, 3, 5, 6, 7, 4), 53)],
        "split_queries": [
            ((HISTOGRAM, 5, 1, 3), 5),
            ((HISTOGRAM, 5, 2, 3), 30),
            ((PARTIAL, 5, 2, 3), 30),
            ((TOTAL, 5, 2, 3), 0),
            ((TOTAL, 0, 2, 3), 0),
        ],
        "weight_queries": [((TOTAL, 5), 5), ((HISTOGRAM, 5), 0), ((HISTOGRAM, 0), 0)],
        "candidate_queries_as_published": [((TOTAL, 3, 4), 12), ((HISTOGRAM, 3, 4), 0), ((HISTOGRAM, 0, 4), 0)],
        "candidate_queries": [
            ((HISTOGRAM, 3, 4), 0),
            ((HISTOGRAM, 0, 4), 0),
            ((PARTIAL, 3, 4), 12),
            ((TOTAL, 3, 4), 12),
        ],
        "communication_rounds": [((12, 5), 3), ((10, 5), 2)],
    },
    "sgbdt": {
        "clipped": [((5, 1, 3), 3), ((0, 1, 3), 1), ((2, 1, 3), 2)],
        "record_cost": [((F(1), F(1), 2, 3, F(1, 4), 2), F(31, 288))],
        "record_cost_slides": [((F(2), F(3), F(1, 4), 2), F(21, 8))],
        "support_variance": [((3, F(1, 4), 2), 36)],
        "gradient_variance": [((3, F(1, 4), 2), 12)],
        "support_variance_slides": [((F(1, 4), 2), 4)],
        "gradient_variance_slides": [((F(1, 4), 2), F(4, 3))],
        "support_variance_printed": [((F(1, 4), 2), F(4, 3))],
        "gradient_variance_printed": [((F(1, 4), 2), 4)],
        "whitened_squared": [((F(2), 3, 4, F(5)), F(14, 5))],
        "gaussian_divergence": [((3, F(2), 3, 4, F(5)), F(21, 5))],
        "joint_sensitivity_squared": [((F(4),), F(1, 2))],
        "joint_sensitivity_squared_replace_one": [((F(1, 4), F(4)), F(13, 8)), ((F(0), F(4)), 2), ((F(3, 4), F(4)), 1)],
        "joint_sensitivity_squared_replace_one_counts": [
            ((F(1, 4), F(4)), F(3, 2)),
            ((F(0), F(4)), 2),
            ((F(3, 4), F(4)), 1),
        ],
        "optimum_ratio": [((F(-2), 3, 5), F(10, 3)), ((F(2), 3, 5), F(10, 3))],
        "support_additive": [((2, 3), 5)],
        "support_max": [((2, 3), 3), ((4, 3), 4)],
        "leaf_value": [((F(6), 4, 1), -1), ((F(2), 4, 1), F(-1, 2)), ((F(-6), 4, 1), 1)],
        "mean_leaf": [((F(6), 2, 4), F(3, 2)), ((F(6), 8, 4), F(3, 4))],
        "mean_leaf_sensitivity_as_published": [((3,), 3)],
        "mean_leaf_sensitivity": [((3, F(4)), F(6, 5)), ((3, F(1, 2)), 6)],
        "subsampled_moment": [((2, F(1, 2), 3), 3), ((3, F(1, 4), 2), F(77, 32)), ((2, 1, 3), 9)],
        "subsampled_cost": [((3, 0.25, 2.0), math.log(77 / 32) / 2)],
    },
}
SIGN = "signed = clip if weight > 0 else -clip if weight < 0 else 0 * clip"
ERROR = "return added(((r - mean) * (r - mean) for r in residuals))"
NORM, BOUNDED = "gradient_bound, gradient_bound * (1 - gradient_bound)", "-gradient_sum / support, -clip, clip"
EQUIVALENT = {
    f"{SIGN} | weight < 0 -> (weight <= 0)",  # max(0, -clip) is 0
    f"{SIGN} | 0 -> 1",  # weight < 1 after weight > 0
    f"{SIGN} | 0 -> -1",  # -clip at weight 0
    f"{ERROR} | r - mean -> (r + mean)",  # the mean's residuals sum to 0
    f"return squared_norm({NORM}) | squared_norm({NORM}) -> "
    "squared_norm(gradient_bound * (1 - gradient_bound), gradient_bound)",
    "mass = 0 * share | 0 * share -> (0 / share)",  # what exceeds the share is positive, and so is the share
    "for right, bin_mass in zip(edges[1:], masses, strict=True): | True -> False",
    f"return clipped({BOUNDED}) | clipped({BOUNDED}) -> clipped(-clip, -gradient_sum / support, clip)",
}
"""Mistakes that change no value."""


def modules(paper: str) -> list[Any]:
    """The paper's modules, its own first."""
    names = [module.name for module in pkgutil.walk_packages(refdp.papers.__path__, "refdp.papers.")]
    own = [name for name in names if name.startswith((f"refdp.papers.{paper}", f"refdp.papers.published.{paper}"))]
    beside = (
        "refdp.accounting.individual",
        "refdp.data.candidates",
        "refdp.data.losses",
        "refdp.data.sketch",
        "refdp.privacy.events",
        "refdp.protocols.quality",
        "refdp.protocols.schedules",
    )
    return [importlib.import_module(name) for name in (*own, *beside)]


def formula(paper: str, name: str) -> Callable[..., Any]:
    """The function of that name, in whichever module it is written: the paper's, or else one beside it."""
    written = [
        (module.__name__.startswith("refdp.papers."), found)
        for module in modules(paper)
        if isinstance(found := getattr(module, name, None), FunctionType) and found.__module__ == module.__name__
    ]
    first = [found for own, found in written if own == max(own for own, _ in written)]
    assert len(first) == 1, f"{paper}: {len(first)} functions are called {name}"
    return first[0]


def agrees(paper: str, name: str) -> Callable[[Callable[..., Any]], bool]:
    def holds(function: Callable[..., Any]) -> bool:
        return all(same(called(name, function, given), expected) for given, expected in VECTORS[paper][name])

    return holds


def called(name: str, function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    if name == "finish_times":
        return function(*given[:3], broadcast=given[3])
    if isinstance(given[:1], tuple) and given and given[0] in (HISTOGRAM, PARTIAL, TOTAL):
        return function(formula_type("fedgbdt", "Splits")(given[0]), *given[1:])
    return function(*given)


def formula_type(paper: str, name: str) -> Any:
    return next(getattr(module, name) for module in modules(paper) if hasattr(module, name))


def same(found: Any, expected: Any) -> bool:
    """Equal; a float to 1e-12."""
    if isinstance(expected, list | tuple) and not isinstance(found, range):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, float) or isinstance(found, float):
        return math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12)
    return bool(found == expected)


EVERY = [(paper, name) for paper, table in VECTORS.items() for name in table]


@pytest.mark.parametrize(("paper", "name"), EVERY, ids=[f"{paper} {name}" for paper, name in EVERY])
def test_a_formula_is_the_papers_and_no_mistake_in_it_is(paper: str, name: str) -> None:
    function = formula(paper, name)
    assert agrees(paper, name)(function)
    assert [mistake for mistake in alive(function, agrees(paper, name)) if mistake not in EQUIVALENT] == []


@pytest.mark.parametrize("paper", VECTORS)
def test_every_formula_has_a_vector(paper: str) -> None:
    written = [
        name
        for module in modules(paper)
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__ and not name.startswith("_")
        if module.__name__.startswith("refdp.papers.")
        if value.__annotations__.get("return") == "Number"
    ]
    assert [name for name in written if name not in VECTORS[paper]] == []
