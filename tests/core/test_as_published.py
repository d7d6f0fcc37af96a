"""What printed readings change of a paper's settings: charges, candidates, shares, with exact figures."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.data import numbers
from refdp.data.memory import Memory
from refdp.data.nothing import Nothing
from refdp.data.records import Categorical, Classes, Interval, Numeric, Records, Schema, make_records
from refdp.errors import InvalidParameter
from refdp.papers import fedgbdt as repaired_fedgbdt
from refdp.papers.published import dpboost, fedgbdt, inprivate
from refdp.papers.published.exposure import exposed
from refdp.privacy.events import Relation

BOTH = [Relation.ADD_REMOVE, Relation.REPLACE_ONE]
FEATURES = (Numeric("a", 0.0, 8.0), Categorical("b", ("x", "y", "z")), Numeric("c", -5.0, 5.0))
CLASSES = Schema(FEATURES, Classes(("no", "yes")))
VALUES = Schema(FEATURES, Interval(-1.0, 1.0))
NOBODY: Any = object.__new__(Nothing)


def some() -> Records:
    """Five records, one without the third value."""
    x = np.array([[7, 0, -4], [1, 1, 2], [3, 2, np.nan], [5, 0, 3.5], [1, 1, -4]], dtype=float)
    return make_records(CLASSES, x, np.array([0, 1, 1, 0, 1], dtype=float))


def held() -> Any:
    """A population of them."""
    found = object.__new__(Memory)
    found.exposed = some  # type: ignore[method-assign]
    return found


# --- FedGBDT ----------------------------------------------------------------------------------------------------------


def fed(**given: Any) -> fedgbdt.Params:
    return fedgbdt.Params(**{"epsilon": 1.0, "relation": Relation.ADD_REMOVE, "noise": "floating", **given})


def test_printed_candidates_stand_on_the_bounds_as_well() -> None:
    """s_q = a + (q - 1)(b - a)/(Q - 1), one float above it, since a record at a candidate goes left in the paper."""
    plain = fed(bins=5, grid="published").split_candidates(CLASSES, NOBODY)
    for found, (low, high) in ((plain.thresholds[0], (0, 8)), (plain.thresholds[2], (-5, 5))):
        printed = [low + Fraction(q * (high - low), 4) for q in range(5)]
        assert found.tolist() == [math.nextafter(float(one), math.inf) for one in printed]
    logarithmic = fed(bins=5, grid="published", candidates="log").split_candidates(CLASSES, NOBODY)
    for found, (low, high) in ((logarithmic.thresholds[0], (0, 8)), (logarithmic.thresholds[2], (-5, 5))):
        np.testing.assert_allclose(found, low - 1 + (1 + high - low) ** (np.arange(5) / 4), rtol=1e-14, atol=1e-14)
        assert found[0] > low
    inside = fed(bins=3).split_candidates(CLASSES, NOBODY).thresholds[0]
    assert inside.tolist() == [2.0, 4.0, 6.0]
    for bins, fine in ((1, False), (2, True), (60_000, True), (60_001, False)):
        if fine:
            assert fed(bins=bins, grid="published").bins == bins
        else:
            with pytest.raises(InvalidParameter, match=f"bins = {bins}"):
                fed(bins=bins, grid="published")
    assert fed(bins=1).bins == 1


def test_quantiles_of_the_records_are_the_printed_candidates() -> None:
    """Missing values left out; nothing of nobody's."""
    given = fed(bins=4, candidates="quantiles", no_privacy=True)
    found = given.split_candidates(CLASSES, held())
    for column, feature in ((0, [1, 3, 5]), (2, [-4, -1, 2.375])):
        assert found.thresholds[column].tolist() == [math.nextafter(one, math.inf) for one in feature]
    assert not found.public and given.split_candidates(CLASSES, NOBODY).public
    with pytest.raises(InvalidParameter, match="only records in memory"):
        exposed(object())  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="no_privacy=True"):
        fed(candidates="quantiles")


def test_printed_budgets_sensitivities_and_breaches() -> None:
    schema = Schema(FEATURES, Classes(("p", "q", "r", "s")))
    assert fed(delta=1e-4).score_delta(schema) == 0.25e-4
    assert fed(delta=1e-4, one_vs_rest="published").score_delta(schema) == 1e-4
    squares = {
        "averaging": Fraction(2),
        "gradient": Fraction(2),
        "newton": Fraction(17, 16),
        "hessian": Fraction(1, 16),
    }
    for relation, (kind, square) in itertools.product(BOTH, squares.items()):
        printed = fed(relation=relation, sensitivities="published").declared(kind, 1.0)
        assert printed.bound == numbers.root(square) and printed.claim == fedgbdt.SENSITIVITIES[kind, relation]
        plain = fed(relation=relation).declared(kind, 1.0)
        assert plain == repaired_fedgbdt.Params.declared(fed(relation=relation), kind, 1.0)
    assert fed(sensitivities="published").declared("gradient", 3.0).bound == numbers.root(Fraction(10))
    assert fed(sensitivities="published").declared("newton", 3.0).bound == numbers.root(Fraction(17, 16))
    local: dict[str, Any] = {"relation": Relation.REPLACE_ONE, "noise_by": "record", "splits": "totally-random"}
    assert fed(**local).declared("newton", 1.0).claim == repaired_fedgbdt.VECTOR
    assert fed(**local, local="index").declared("newton", 1.0).claim == "fedgbdt/ldp-leaf-index"
    told = [fed(**one).breaches() for one in (
        {}, local, {**local, "local": "index"}, {"local": "index"},
        {"candidates": "quantiles", "no_privacy": True})]  # fmt: skip
    assert [len(one) for one in told] == [0, 0, 1, 0, 1]
    assert "index of their leaf" in told[2][0] and "values of the records" in told[4][0]


def test_records_that_tell_their_leaf_are_summed_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three records in four leaves; each sends its own (g, h) with noise."""
    reports = np.zeros((3, 3, 4))
    for record, (leaf, g, h) in enumerate([(2, 0.5, 0.25), (0, -1.0, 0.125), (2, 0.75, 0.5)]):
        reports[record, :, leaf] = g, h, 1
    asked, released = [], []

    class Them:
        def ask(self, query: Any) -> Any:
            asked.append(query)
            return reports

        def release(self, name: str, charged: Any, value: np.ndarray) -> np.ndarray:
            released.append((name, charged, value.tolist()))
            return value + 1

    monkeypatch.setattr(fedgbdt, "values", lambda sums: sums)
    them: Any = Them()
    charged: Any = "charge"
    local: dict[str, Any] = {"relation": Relation.REPLACE_ONE, "noise_by": "record", "splits": "totally-random"}
    found = fed(**local, local="index").local_sums(them, them, 7, charged)
    assert asked[0].names == ("g", "h", "count") if hasattr(asked[0], "names") else asked
    assert released == [("leaves", "charge", [[0.5, 0.25], [-1.0, 0.125], [0.75, 0.5]])]
    assert found.tolist() == [[0.0, 0, 3.25, 0], [1.125, 0, 2.75, 0]]


SQUARED = {"averaging": (2, 4), "gradient": (2, 4), "newton": (1, 4), "hessian": (Fraction(1, 16), Fraction(1, 8))}
"""Squared sensitivities of one record, under add-remove and under replace-one."""


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("kind", SQUARED)
@pytest.mark.parametrize("each", [1, 3])
def test_what_a_query_is_charged_grows_by_rounding_to_the_grid(relation: Relation, kind: str, each: int) -> None:
    """By sqrt(touched) steps of the grid: g and h of a leaf, or h alone, of one leaf or two, for each of r records."""
    root = Fraction(numbers.root(SQUARED[kind][BOTH.index(relation)]))
    floating = repaired_fedgbdt.charge(fed(relation=relation, records_each=each), 0.5, kind)
    assert floating.declared == floating.proved
    assert Fraction(floating.declared.bound) == Fraction(numbers.at_least(each * root))
    discrete = repaired_fedgbdt.charge(fed(relation=relation, records_each=each, noise="discrete"), 0.5, kind)
    touched = (1 if kind == "hessian" else 2) * (1 if relation is Relation.ADD_REMOVE else 2) * each
    step = Fraction(discrete.mechanism.step)  # type: ignore[union-attr]
    due = Fraction(numbers.at_least(each * root)) + step * Fraction(numbers.root(touched))
    assert discrete.declared == discrete.proved
    assert Fraction(discrete.declared.bound) == Fraction(numbers.at_least(due)) > Fraction(floating.declared.bound)
    printed = repaired_fedgbdt.charge(
        fed(relation=relation, records_each=each, noise="discrete", sensitivities="published"), 0.5, kind
    )
    step = Fraction(printed.mechanism.step)  # type: ignore[union-attr]
    added = Fraction(printed.declared.bound) - Fraction(
        fed(relation=relation, sensitivities="published").declared(kind, 1.0).bound) * each  # fmt: skip
    assert abs(added / (step * Fraction(numbers.root(touched))) - 1) < 1e-6
    grown = Fraction(printed.proved.bound) - Fraction(floating.proved.bound)
    assert abs(grown / added - 1) < 1e-6


# --- DPBoost ----------------------------------------------------------------------------------------------------------


def boost(**given: Any) -> dpboost.Params:
    return dpboost.Params(**{"epsilon": 1.0, "relation": Relation.ADD_REMOVE, **given})


def test_printed_blocks_and_leaf_budgets() -> None:
    """t_e = t mod T_e counts from 1, so that the last tree has the share 0; the exponent t - 1 goes on."""
    plain, size = boost(), 5
    for position in range(size):
        inner = plain.decayed(position, position, size)
        assert boost().block(10, position, size) == inner
        assert boost(blocks="sizes").block(10, position, size) == plain.decayed((position + 1) % size, position, size)
        assert boost(clip_position="global").block(10, position, size) == plain.decayed(position, 10 + position, size)
    assert boost(scheme="para", blocks="sizes", clip_position="global").block(10, 1, size).share == 0.25
    assert [boost(leaf_budget=one, depth=6).leaf_epsilon(3.0) for one in ("half", "level")] == [1.5, 0.25]
    assert [boost(blocks=one).by_size for one in ("independent", "sizes")] == [False, True]


@pytest.mark.parametrize("relation", BOTH)
def test_printed_constants_of_splits_and_leaves(relation: Relation) -> None:
    """Lemma 1 and Corollary 2 at g* = 2, lambda = 1/2, whose smaller term depends on the clip."""
    given: dict[str, Any] = {
        "noise": "floating",
        "relation": relation,
        "gradient_bound": 2.0,
        "regularisation": 0.5,
        "depth": 3,
    }
    printed, proved = boost(constants="published", **given), boost(**given)
    gain = Fraction(7, 2) / (Fraction(3, 2) * Fraction(5, 2)) * 4
    split = printed.split_charge(1.5)
    assert 2 * gain <= Fraction(split.declared.bound) < 2 * gain * (1 + Fraction(1, 2**50))
    assert (split.declared.norm, split.declared.claim) == ("range", dpboost.LEMMA_1[relation])
    assert split.proved == proved.split_charge(1.5).proved == proved.split_charge(1.5).declared
    cost = split.mechanism.coefficient * split.declared.bound  # type: ignore[union-attr]
    assert cost == pytest.approx(proved.split_charge(1.5).mechanism.coefficient * split.proved.bound)  # type: ignore[union-attr]
    for clip, due in ((0.5, Fraction(1)), (10.0, Fraction(4, 3))):
        leaf = printed.leaf_charge(1.5, clip)
        assert due <= Fraction(leaf.declared.bound) < due * (1 + Fraction(1, 2**20))
        assert leaf.declared.claim == dpboost.COROLLARY_2[relation] and leaf.declared.norm == 1
        assert leaf.proved == proved.leaf_charge(1.5, clip).proved


def test_printed_candidates_of_dpboost_are_the_values() -> None:
    given = boost(candidates="data", bins=3)
    assert not given.split_candidates(CLASSES, held()).public
    assert given.split_candidates(CLASSES, held()).thresholds[0].tolist() == [3.0, 5.0, 7.0]
    assert given.split_candidates(CLASSES, NOBODY).thresholds[0].tolist() == [2.0, 4.0, 6.0]
    assert [len(one.breaches()) for one in (boost(), given)] == [0, 1]


def test_a_delta_is_told_only_where_there_is_one() -> None:
    for delta in (-0.1, 1.0):
        with pytest.raises(InvalidParameter, match="delta"):
            boost(delta=delta)
    assert "delta" not in boost().stated() and boost().remarks() == ()
    assert boost(delta=1e-6).stated()["delta"] == 1e-6 and boost(delta=1e-6).remarks() == (dpboost.COMPOSED,)
    assert boost(trees=4).tree_epsilon(CLASSES) == dpboost.dpboost.Params.tree_epsilon(boost(trees=4), CLASSES)
    more = boost(trees=4, trees_per_ensemble=1, delta=1e-6)
    assert more.tree_epsilon(CLASSES) == dpboost.total_epsilon(more, CLASSES) / 4 >= 0.25


# --- InPrivate --------------------------------------------------------------------------------------------------------


def private(**given: Any) -> inprivate.Params:
    return inprivate.Params(**{"epsilon": 1.0, "relation": Relation.ADD_REMOVE, **given})


def test_halves_of_exact_sizes_and_whole_levels() -> None:
    """Half of what remains, rounded up."""
    assert [list(map(len, inprivate.halves_by_index(n, 3))) for n in (0, 1, 2, 7, 8)] == [
        [0, 0, 0], [1, 0, 0], [1, 1, 0], [4, 2, 1], [4, 2, 1]]  # fmt: skip
    assert inprivate.halves_by_index(7, 2) == [range(4), range(4, 6)]
    assert private(halves="sizes").sizes(3, 7) == [4, 2, 1]
    assert private(halves="sizes").sizes(1, 7) is None is private().sizes(3, 7)
    assert [private(halves=one, rounds=r).by_size for one in ("sizes", "independent") for r in (1, 2)] == [
        False, True, False, False]  # fmt: skip
    share = private(depth=4, split_share=0.75)
    assert share.split_epsilon(CLASSES) == pytest.approx(0.25)
    assert private(depth=4, split_share=0.75, level_budget="whole").split_epsilon(CLASSES) == 0.75


@pytest.mark.parametrize("relation", BOTH)
def test_printed_constants_of_inprivate(relation: Relation) -> None:
    """Gain sensitivity 4, twice in the exponent; 2 for both leaf queries; nothing is cut."""
    given: dict[str, Any] = {"noise": "floating", "relation": relation, "depth": 3, "residual_bound": 1.5}
    printed, proved = private(constants="published", **given), private(**given)
    for schema, equation, bound in ((CLASSES, "eq-11", 2.0), (VALUES, "eq-15", 1.5)):
        split, leaf = printed.split_charge(schema), printed.leaf_charge(schema)
        assert (split.declared.bound, split.declared.norm) == (8.0, "range")
        suffix = inprivate.SUFFIX[relation]
        assert (split.declared.claim, split.proved.claim) == (
            f"inprivate/eq-10{suffix}",
            f"inprivate/gain-range{suffix}",
        )
        assert split.proved.bound == inprivate.rounded_up(inprivate.gain_range, bound, relation)
        assert split.mechanism.coefficient == pytest.approx(printed.split_epsilon(schema) / 8)  # type: ignore[union-attr]
        assert leaf.declared.claim == f"inprivate/{equation}{suffix}"
        assert (leaf.declared.bound, leaf.declared.norm) == (2.0, 1)
        assert leaf.proved == proved.leaf_charge(schema).proved
        assert proved.split_charge(schema) == inprivate.inprivate.Params.split_charge(proved, schema)
        assert proved.leaf_charge(schema) == inprivate.inprivate.Params.leaf_charge(proved, schema)
    assert (printed.cut(), proved.cut()) == (2.0**20, 1.5)
    assert (printed.largest_coefficient(), proved.largest_coefficient()) == (math.inf, proved.leaf_bound)
    free: Any = None
    noisy = np.array([[3.0, 5.0, -4.0], [2.0, 0.0, -8.0]])
    assert printed.coefficients(free, noisy).tolist() == [1.5, 0.0, 0.5]
    assert [len(one.breaches(schema)) for one in (proved, printed) for schema in (CLASSES, VALUES)] == [0, 0, 0, 1]
    assert printed.premises() == proved.premises()[:1] and len(proved.premises()) == 4
    nothing = private(constants="published", scheme="np")
    assert nothing.largest_coefficient() == nothing.leaf_bound
    assert nothing.coefficients(free, np.array([[3.0], [2.0]])).tolist() == [min(1.5, nothing.leaf_bound)]


def test_means_of_triples() -> None:
    """Of distinct values, sorted; a last group of one or two has its mean; missing values are none."""
    assert inprivate.down_sample([5, 1, 3, 9, 7, 20, 11]) == [3, 9, 20]
    assert inprivate.down_sample([4, 8]) == [6] and inprivate.down_sample([]) == []
    given = private(candidates="triples", bins=3)
    found = given.split_candidates(CLASSES, held())
    assert (found.thresholds[0].tolist(), found.thresholds[2].tolist()) == ([3.0, 7.0], [0.5])
    assert not found.public and found.categorical.tolist() == [False, True, False]
    assert grids_of(given).thresholds[0].tolist() == [2.0, 4.0, 6.0]
    assert [len(one.breaches(CLASSES)) for one in (private(), given)] == [0, 1]


def grids_of(given: inprivate.Params) -> Any:
    return given.split_candidates(CLASSES, NOBODY)
