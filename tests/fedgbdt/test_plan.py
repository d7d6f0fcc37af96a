"""Recorded events equal the plan, and their number the formulas of Table 1, over the whole product of components."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from refdp.accounting import account
from refdp.data.records import Classes, Schema, Target
from refdp.papers import fedgbdt
from refdp.papers import fedgbdt as formulas
from refdp.papers.fedgbdt import Splits
from refdp.papers.published.fedgbdt import AS_PUBLISHED, candidate_queries_as_published
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation, expand
from refdp.privacy.sources import SampleSource
from refdp.privacy.tape import TapeSource
from tests.fedgbdt.cases import FEATURES, SPLITS, TARGETS, components, params, records, releases

EVERY = list(components())


def recorded(given: fedgbdt.Params, target: Target) -> Any:
    curator = Curator(SampleSource(np.random.default_rng(0)), given.relation)
    fedgbdt.train(given, records(target), curator)
    return curator.event()


@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("target", TARGETS, ids=["regression", "binary", "three classes"])
def test_recorded_events_equal_the_plan_for_every_combination(target: Target, splits: str) -> None:
    schema = Schema(FEATURES, target)
    for number, changes in enumerate(case for case in EVERY if case["splits"] == splits):
        relation = list(Relation)[number % 2]
        given = params(relation, **changes, sensitivities=("joint", "by-round", "published")[number % 3])
        assert recorded(given, target) == expand(fedgbdt.plan(given, schema).event), changes


def printed_counts(given: fedgbdt.Params, features: int) -> Counter[str]:
    """kappa_s, kappa_w and kappa_c from the formulas of Table 1; where the ledger corrects it, the correction."""
    splits, chosen = Splits(given.splits), given.features_per_tree or features
    rounds = min(given.rounds, given.trees) if given.candidates == "iterative-hessian" else 0
    split = formulas.split_queries(splits, given.trees, chosen, given.depth)
    weight = formulas.weight_queries(splits, given.trees)
    if splits is Splits.PARTIALLY_RANDOM and chosen == 1:  # fedgbdt/table-1-k-1-partially-random-leaves
        split, weight = 0, split
    if splits is Splits.PARTIALLY_RANDOM:  # fedgbdt/table-1-ih-partially-random-repaired
        return Counter(split=split, weight=weight, candidate=rounds * chosen)
    if chosen == features:
        return Counter(
            split=split,
            weight=weight,
            candidate=candidate_queries_as_published(splits, rounds, features),
        )
    return Counter(split=split, weight=weight, candidate=formulas.candidate_queries(splits, rounds, chosen))


def kind(name: str) -> str:
    return "candidate" if name.startswith("Hessian") else "weight" if name == "leaves" else "split"


def test_query_counts_are_those_of_table_1() -> None:
    schema = Schema(FEATURES, TARGETS[1])
    for changes in EVERY:
        given = params(**changes)
        counted = Counter(kind(release.name) for release in releases(expand(fedgbdt.plan(given, schema).event)))
        assert counted == +printed_counts(given, len(FEATURES)), changes
        assert counted.total() == given.queries(schema)


TABLE_2 = {
    "FEVERLESS": lambda T, m, d, s: T * m * d,
    "DP-GBM": lambda T, m, d, s: T * m * d,
    "DP-EBM": lambda T, m, d, s: T * m,
    "DP-EBM Newton": lambda T, m, d, s: T,
    "DP-RF": lambda T, m, d, s: T,
    "DP-TR Newton": lambda T, m, d, s: T,
    "DP-TR Newton IH": lambda T, m, d, s: T + s * m,
    "DP-TR Newton IH EBM": lambda T, m, d, s: T + s,
    "DP-TR Batch Newton IH EBM (p=0.25)": lambda T, m, d, s: T + s,
    "DP-TR Batch Newton IH EBM (p=1)": lambda T, m, d, s: T + s,
    "LDP": lambda T, m, d, s: T,
}


@pytest.mark.parametrize("name", fedgbdt.PRESETS)
def test_presets_ask_as_many_queries_as_the_paper_says(name: str) -> None:
    relation = Relation.REPLACE_ONE if name == "LDP" else Relation.ADD_REMOVE
    given = fedgbdt.Params(1.0, relation, **fedgbdt.PRESETS[name])
    schema = Schema(FEATURES[:3], TARGETS[1])
    assert given.queries(schema) == TABLE_2[name](100, 3, 4, 5)
    assert len(releases(expand(fedgbdt.plan(given, schema).event))) == TABLE_2[name](100, 3, 4, 5)


def test_presets_are_the_methods_of_tables_2_and_7() -> None:
    assert set(TABLE_2) == set(fedgbdt.PRESETS)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("sensitivities", ["joint", "by-round"])
def test_an_exactly_accounted_plan_costs_epsilon(relation: Relation, splits: Any, sensitivities: Any) -> None:
    given = params(relation, splits=splits, sensitivities=sensitivities, candidates="iterative-hessian")
    schema = Schema(FEATURES, TARGETS[1])
    for proved in (False, True):
        found = account(fedgbdt.plan(given, schema, proved=proved), delta=given.delta)
        assert found.epsilon == pytest.approx(1.0, rel=1e-9)
    renyi = params(relation, splits=splits, accounting="renyi")
    found = account(fedgbdt.plan(renyi, schema), delta=renyi.delta)
    assert 0.8 < found.epsilon < found.methods["renyi"] <= 1.0 + 1e-9


def test_the_budget_of_several_classes_is_divided_delta_too() -> None:
    schema = Schema(FEATURES, TARGETS[2])
    whole = params(epsilon=1.0, delta=1e-6)
    third = params(epsilon=1 / 3, delta=1e-6 / 3)
    one, all_three = fedgbdt.plan(third, Schema(FEATURES, TARGETS[1])), fedgbdt.plan(whole, schema)
    assert releases(expand(all_three.event)) == 3 * releases(expand(one.event))
    published = params(epsilon=1.0, delta=1e-6, one_vs_rest="published").query_mu(schema)
    assert published > whole.query_mu(schema)


@pytest.mark.parametrize("accounting", ["exact", "renyi"])
@pytest.mark.parametrize("relation", list(Relation))
def test_one_budget_for_all_classes_costs_epsilon(relation: Relation, accounting: Any) -> None:
    schema, two = Schema(FEATURES, TARGETS[2]), Schema(FEATURES, TARGETS[1])
    given = params(relation, one_vs_rest="together", accounting=accounting)
    found = account(fedgbdt.plan(given, schema, proved=True), delta=given.delta)
    assert found.methods[accounting] == pytest.approx(1.0, rel=1e-4) and found.methods[accounting] <= 1 + 1e-9
    divided = params(relation, accounting=accounting)
    assert given.query_mu(schema) > 1.5 * divided.query_mu(schema)
    assert given.query_mu(schema) == pytest.approx(given.query_mu(two) / math.sqrt(3), rel=1e-15)
    assert given.query_mu(two) == divided.query_mu(two)
    rests = "fedgbdt/one-vs-rest-together"
    assert rests in formulas.rests_on(given, schema) and rests in dict(fedgbdt.certificate(given, schema).rests_on)
    assert rests not in {*formulas.rests_on(given, two), *formulas.rests_on(divided, schema)}


def test_joint_sensitivities_are_the_ledgers() -> None:
    schema = Schema(FEATURES, TARGETS[1])
    bounds = {
        (update, relation): params(relation, update=update).sums_charge(schema, 1.0, 0).declared.bound
        for update in ("averaging", "gradient", "newton")
        for relation in Relation
    }
    add, swap = Relation.ADD_REMOVE, Relation.REPLACE_ONE
    assert bounds["newton", add] == 1.0 and bounds["newton", swap] == 2.0
    for update in ("averaging", "gradient"):
        assert bounds[update, add] == pytest.approx(math.sqrt(2)) and bounds[update, swap] == 2.0
    first = params(sensitivities="by-round").sums_charge(schema, 1.0, 0).declared
    assert first.bound == pytest.approx(math.sqrt(5) / 4, abs=1e-6)
    assert first.claim == "fedgbdt/newton-sensitivity-by-round"
    published = params(sensitivities="published").sums_charge(schema, 1.0, 0)
    assert published.declared.bound == pytest.approx(math.sqrt(17) / 4) and published.proved.bound == 1.0


@pytest.mark.parametrize("noise", ["floating", "discrete"])
@pytest.mark.parametrize("splits", SPLITS)
def test_a_tape_gives_the_same_bytes(noise: Any, splits: Any) -> None:
    given = params(noise=noise, splits=splits, candidates="iterative-hessian", interactions="random")
    source = SampleSource(np.random.default_rng(1), record=True)
    first = fedgbdt.train(given, records(TARGETS[1]), Curator(source, given.relation))
    again = fedgbdt.train(given, records(TARGETS[1]), Curator(TapeSource(source.tape), given.relation))
    assert first.to_json() == again.to_json()


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("changes", [{}, {"epsilon": 8.0, "trees": 2, "depth": 1}, {"epsilon": 0.001, "delta": 0.1}])
@pytest.mark.parametrize("target", TARGETS)
def test_discrete_noise_keeps_its_promise_too(relation: Relation, changes: dict[str, Any], target: Any) -> None:
    """A discrete Gaussian is not exactly mu-GDP: calibrated as if it were, it costs more than is claimed."""
    schema = Schema(FEATURES[:2], target)
    given = params(relation, **{"noise": "discrete", **changes})
    certificate = fedgbdt.certificate(given, schema)
    assert certificate.established.epsilon <= certificate.claimed.epsilon * (1 + 1e-9)
    assert not any("does not hold" in note for note in certificate.notes)
    charge = given.sums_charge(schema, given.query_mu(schema), 0)
    assert charge.mechanism.renyi_cost(charge.declared, 8.0) <= 4 * given.query_mu(schema) ** 2 * (1 + 1e-12)


def test_certificates_show_both_accountings_and_name_what_does_not_hold() -> None:
    schema = Schema(FEATURES[:3], TARGETS[1])
    sound = fedgbdt.certificate(params(Relation.REPLACE_ONE), schema)
    assert any("exact Gaussian composition gives epsilon 1" in note and "Renyi" in note for note in sound.notes)
    printed = fedgbdt.certificate(params(Relation.REPLACE_ONE, **AS_PUBLISHED), schema)
    assert printed.established.epsilon > 1.7 * printed.claimed.epsilon
    assert any("newton-sensitivity-replace-one is REFUTED" in note for note in printed.notes)
    assert isinstance(schema.target, Classes)
    for breach in ({"candidates": "quantiles", "no_privacy": True}, {"noise_by": "record", "local": "index"}):
        broken = fedgbdt.certificate(params(Relation.REPLACE_ONE, **breach), schema)  # type: ignore[arg-type]
        assert broken.established.epsilon == math.inf
