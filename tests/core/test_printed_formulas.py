"""What printed readings change of S-GBDT's and DP-XGBoost's settings, and the formulas that papers print, exactly."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.papers.published import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt
from refdp.privacy.events import Relation
from tests.core.test_as_published import BOTH, CLASSES, VALUES

F = Fraction


def test_printed_weights_of_sgbdt_are_exchanged() -> None:
    """v_g = sigma^2 / (2 r1), v_h = sigma^2 / (2 r2); the declared bound is that of weights in their places."""
    given: dict[str, Any] = {"epsilon": 1.0, "relation": Relation.ADD_REMOVE, "support_weight": 0.25, "trees": 3}
    printed, plain = sgbdt.Params(weights="printed", **given), sgbdt.Params(**given)
    squared = printed.sigma_squared(CLASSES)
    assert printed.variances(CLASSES) == (2 * squared, squared / 1.5)
    assert plain.variances(CLASSES) == sgbdt.sgbdt.Params.variances(plain, CLASSES)
    charge = printed.leaf_charge(CLASSES)
    assert charge.declared.bound == pytest.approx(math.sqrt(2) / printed.budget(CLASSES).sigma, rel=1e-12)
    assert (charge.declared.norm, charge.declared.claim) == ("whitened", "sgbdt/nonspherical")
    assert plain.leaf_charge(CLASSES).declared.claim != "sgbdt/nonspherical"


def test_the_slides_leaf_formulas() -> None:
    third = F(1, 3)
    assert sgbdt.support_variance_printed(third, F(5)) == F(15, 4)
    assert sgbdt.gradient_variance_printed(third, F(5)) == F(15, 2)
    assert sgbdt.gaussian_divergence(6, F(2), F(3), F(5), F(7)) == 3 * (
        F(4, 5) + F(9, 7))  # fmt: skip
    for r1, one, counts in ((F(1, 3), 3, F(8, 3)), (F(3, 4), 2, 2)):
        assert sgbdt.joint_sensitivity_squared_replace_one(r1, F(5)) == one * F(2, 5)
        assert sgbdt.joint_sensitivity_squared_replace_one_counts(r1, F(5)) == counts * F(2, 5)
    assert sgbdt.optimum_ratio(F(-2), F(3), F(5)) == F(10, 3)
    assert sgbdt.mean_leaf(F(6), F(3), F(2)) == 2
    assert sgbdt.mean_leaf(F(6), F(1), F(2)) == 3
    assert [sgbdt.mean_leaf_sensitivity(F(3), F(k)) for k in (1, 2)] == [3, 2]
    assert sgbdt.mean_leaf_sensitivity_as_published(F(3)) == 3


def xgboost(**given: Any) -> dpxgboost.Params:
    return dpxgboost.Params(**{"epsilon": 1.0, "relation": Relation.ADD_REMOVE, **given})


def test_what_printed_settings_of_dpxgboost_mean() -> None:
    printed = {"constants": "published"}
    for given, exact in (({}, False), (printed, True), ({**printed, "leaf": "laplace"}, False)):
        made = xgboost(**{"leaf": "minimum", **given})
        assert made.exact_counts is exact
        assert (made.padding == 0) is bool(given) and any("exact counts of" in one for one in made.breaches()) is exact
    for relation, sampling, share in itertools.product(BOTH, ("matching", "without-replacement"), (0.5, 1.0)):
        made = xgboost(relation=relation, sampling=sampling, subsample=share)
        due = relation is Relation.ADD_REMOVE and sampling == "without-replacement" and share < 1
        assert made.mismatched is due and any("without replacement" in one for one in made.breaches()) is due


@pytest.mark.parametrize("relation", BOTH)
def test_printed_constants_of_dpxgboost(relation: Relation) -> None:
    """Eq. 5 to 7 and Algorithm 1 at square loss with g* = 1/2, lambda = 2 and N_min = 4; sections 4.4 and 4.2."""
    given: dict[str, Any] = {"relation": relation, "constants": "published", "loss": "square", "gradient_bound": 0.5,
                             "regularisation": 2.0, "child_minimum": 4}  # fmt: skip
    end = "" if relation is Relation.ADD_REMOVE else "-replace-one"
    made = xgboost(**given, leaf="minimum")
    proved: Any = "proved"

    def bound(one: dpxgboost.Params, released: str) -> tuple[float, str]:
        found = one.declared(released, VALUES, 0.5, proved)
        return found.bound, str(found.norm) + " " + found.claim.removeprefix("dpxgboost/")

    assert made.declared("counts", VALUES, 0.5, proved) == "proved" == xgboost().declared("leaves", VALUES, 0.5, proved)
    m = made.sketch_size(VALUES)
    assert bound(made, "sketch") == (pytest.approx(m), f"1 sketch{end}") and m == 2
    split = "split-selection-replace-one" if end else "min-child-weight"
    assert bound(made, "splits") == (pytest.approx(1.5), f"range {split}")
    assert bound(xgboost(**given, leaf="minimum", exponent="whole"), "splits") == (
        pytest.approx(0.75), "range exponential-section-2")  # fmt: skip
    assert bound(xgboost(**given, leaf="laplace"), "splits") == (
        pytest.approx(1.5), f"range split-selection{end}")  # fmt: skip
    assert bound(made, "leaves") == (pytest.approx(1 / 7), f"1 min-child-weight{end}")
    assert bound(xgboost(**given, leaf="average"), "leaves") == (pytest.approx(1.0), f"1 noisy-average{end}")
    assert bound(xgboost(**given, leaf="laplace"), "leaves")[1] == (
        "1 leaf-sensitivity-published-replace-one" if end else "1 leaf-sensitivity")  # fmt: skip
    assert made.padding == 0 and xgboost(leaf="minimum", child_minimum=4).padding == 4


def test_splits_that_exact_counts_leave_out() -> None:
    """A node without any that is large enough on both sides gets no split at all, which is the last option."""
    made = xgboost(constants="published", leaf="minimum", child_minimum=4)
    options = np.array([[0.0, 0.5], [0.0, 0.75], [2.0, 1.0]])
    utility = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    left = np.array([[[0.0] * 3] * 2, [[4.0, 3.0, 9.0], [1.0, 2.0, 3.0]]])
    right = np.array([[[0.0] * 3] * 2, [[9.0, 4.0, 4.0], [9.0, 9.0, 9.0]]])
    found, offered = made.offered(CLASSES, options, utility, [(left, right)])
    none = -math.inf
    assert found.tolist() == [[1.0, none, 3.0, none], [none, none, none, 0.0]]
    assert offered[:3].tolist() == options.tolist() and offered.shape == (4, 2)
    assert offered[3].tolist() == dpxgboost.grids.no_split(CLASSES, 2).tolist()
    assert xgboost().offered(CLASSES, options, utility, [(left, right)]) == (utility, options)


# --- Formulas ---------------------------------------------------------------------------------------------------------


def test_formulas_of_fedgbdt() -> None:
    assert fedgbdt.first_order_objective(F(3), F(5), F(7)) == 15 + F(63, 2)
    assert fedgbdt.leaf_score(F(3), F(5), F(2)) == F(9, 7)
    assert fedgbdt.split_score(F(3), F(5), F(-4), F(1), F(2), F(1, 8)) == (F(9, 7) + F(16, 3) - F(1, 8)) / 2 - F(1, 8)
    for weight, due in ((F(3), -6), (F(1, 2), -4), (F(-3), 4), (F(-1, 2), 1), (F(0), 0)):
        assert fedgbdt.update_as_published(weight, F(2), 2) == due
    assert fedgbdt.batch_terms_as_published(7, 3) == range(4, 4) and fedgbdt.batch_terms_as_published(3, 3) == range(4)
    assert fedgbdt.batch_terms(7, 3) == range(5, 8) and len(fedgbdt.batch_terms(9, 4)) == 4
    assert fedgbdt.batched_score_as_published(1.0, 2.0, 0.5) == pytest.approx(1 + 0.5 / (1 + math.exp(-2)))
    assert fedgbdt.batched_score(F(1), [F(2), F(3), F(-1)]) == F(7, 3)
    assert [fedgbdt.cyclical_feature_as_published(t, 3) for t in (1, 2, 3, 4)] == [1, 2, 0, 1]
    assert fedgbdt.newton_squared_sensitivity_as_published() == F(17, 16)
    assert fedgbdt.counting_squared_sensitivity_as_published() == 2
    assert [fedgbdt.uniform_candidate(F(q), F(5), F(1), F(9)) for q in (1, 2, 5)] == [1, 3, 9]
    assert fedgbdt.total_renyi(2, 3, 5, 7, 11, 13) == 14 + 33 + 65
    assert fedgbdt.candidate_queries_as_published(fedgbdt.Splits.TOTALLY_RANDOM, 5, 7) == 35
    assert fedgbdt.candidate_queries_as_published(fedgbdt.Splits.HISTOGRAM, 5, 7) == 0
    assert [fedgbdt.communication_rounds(trees, 4) for trees in (1, 4, 5, 8, 9)] == [1, 1, 2, 2, 3]


def test_formulas_of_inprivate() -> None:
    for label, score in itertools.product((-1, 1, 3), (-0.75, 0.5)):
        assert inprivate.loss(label, score) == pytest.approx(math.log(1 + math.exp(-2 * label * score)))
    assert inprivate.probability(0.75) == pytest.approx(1 / (1 + math.exp(-1.5)))
    assert inprivate.probability_at_odds(F(3)) == F(3, 4)
    assert inprivate.square_loss(F(3), F(7)) == 8 and inprivate.mean_residual(F(7), 2) == F(7, 2)
    assert inprivate.square_error([F(1), F(2), F(6)]) == 14 and inprivate.square_error([]) == 0
    assert inprivate.gain_sensitivity_as_published() == 4
    assert [inprivate.gain_change(F(3), relation) for relation in BOTH] == [36, 72]
    assert inprivate.split_exponent(F(6), F(5), F(4)) == F(15, 4)
    assert inprivate.leaf_scale_as_published(F(3)) == F(2, 3)
    assert [inprivate.queries(depth) for depth in (1, 5)] == [2, 6]
    assert inprivate.mean_absolute_error([F(-1), F(2), F(6)]) == 3
    assert [inprivate.error_sensitivity(F(6), 3, relation) for relation in BOTH] == [F(3, 2), 2]


def test_formulas_of_dpboost_and_dpxgboost() -> None:
    assert dpboost.gain_sensitivity_as_published(F(3), F(1, 2)) == F(7, 2) / F(15, 4) * 9
    assert [dpboost.leaf_sensitivity_as_published(F(3), F(1), F(c, 8)) for c in (5, 6, 7)] == [
        F(5, 4),
        F(3, 2),
        F(3, 2),
    ]
    assert dpxgboost.square_loss(F(3), F(7)) == 8
    assert dpxgboost.quadratic_objective(F(3), F(5), F(2), F(7)) == 6 + 24
    assert dpxgboost.gain_sensitivity_as_published(F(3)) == 27
    assert [dpxgboost.gain_sensitivity(F(3), relation) for relation in BOTH] == [27, 36]
    assert dpxgboost.leaf_sensitivity_as_published(F(3), 4, F(2)) == F(6, 7)
    assert dpxgboost.noisy_average_scale(F(3), F(2)) == 3 and dpxgboost.sketch_scale_as_published(F(2), 5) == F(5, 2)
    found = dpxgboost.noisy_average_log_density(0.5, 3.0, 4, 2.0, 0.25)
    assert found == pytest.approx(math.log(6 / 0.5) - 0)
    assert dpxgboost.noisy_average_log_density(1.0, 2.0, 4, 2.0, 0.5) == pytest.approx(math.log(6) - 8)
    for epsilon in (0.1, 2.0):
        due = max(epsilon, epsilon / 2 + math.log(2.5 / 1.5))
        assert dpxgboost.noisy_average_loss_bound(epsilon, 0.5) == pytest.approx(due)
