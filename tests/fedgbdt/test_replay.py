"""Replay audits of every split method, update and candidate method: sensitivities, divergences, the published model.

Gaussian noise has no largest loss, so that a single release is held against its declared sensitivity and Renyi cost,
and a whole run against its budget in Gaussian privacy: the root of the sum of squared changes, in standard deviations.
"""

from __future__ import annotations

import itertools
import math
from itertools import islice
from typing import Any

import numpy as np
import pytest

from refdp.audit.neighbours import pairs
from refdp.audit.replay import Pair, Violation, changes, run, sampled
from refdp.audit.worst import worst_case
from refdp.data.records import Schema
from refdp.noise.calibration import total_mu
from refdp.papers import fedgbdt
from refdp.papers.published.fedgbdt import AS_PUBLISHED
from refdp.privacy.events import Relation
from refdp.privacy.replay import ReplaySource
from refdp.privacy.sources import SampleSource
from tests.fedgbdt.cases import BINARY, CANDIDATES, FEATURES, SPLITS, TARGETS, UPDATES, params, trainer

INFINITE = math.inf


def violations(given: fedgbdt.Params, schema: Schema, count: int, seed: int = 1) -> list[Violation]:
    stream = pairs(schema, given.relation, seed)
    found = [sampled(trainer(given), pair, n, INFINITE) for n, pair in enumerate(islice(stream, count))]
    return [violation for finding in found for violation in finding.violations]


def whole_run(given: fedgbdt.Params, pair: Pair, seed: int) -> float:
    """The root of the sum over releases of squared changes, in standard deviations, along one recorded run."""
    transcript, _ = run(trainer(given), pair.first(), SampleSource(np.random.default_rng(seed)), given.relation)
    sides = [run(trainer(given), side, ReplaySource(transcript), given.relation)[0]
             for side in (pair.first(), pair.second())]  # fmt: skip
    between = changes(*sides)
    return math.hypot(*(c.mechanism.observed_change(c.value, c.other, "whitened") for c in between))


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("splits", SPLITS)
def test_repaired_runs_keep_every_promise(splits: Any, relation: Relation) -> None:
    for update, candidates in itertools.product(UPDATES, CANDIDATES):
        for number, features in enumerate((None, 1, 2)):
            given = params(
                relation,
                splits=splits,
                update=update,
                candidates=candidates,
                features_per_tree=features,
                interactions=("cyclic", "random")[number % 2],
                batch=1 + number,
                sensitivities=("joint", "by-round")[number % 2],
                epsilon=4.0,
            )
            schema = Schema(FEATURES, TARGETS[number])
            assert violations(given, schema, 2, seed=number) == [], given


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("noise", ["floating", "discrete"])
@pytest.mark.parametrize("splits", SPLITS)
def test_whole_runs_stay_within_the_budget(splits: Any, noise: Any, relation: Relation) -> None:
    given = params(relation, splits=splits, noise=noise, candidates="iterative-hessian", epsilon=50.0, trees=6)
    budget = total_mu(50.0, given.delta, "exact")
    spent = [whole_run(given, pair, seed) for seed, pair in enumerate(islice(pairs(BINARY, relation, 5), 24))]
    assert 0.3 * budget < max(spent) <= budget * (1 + 1e-9)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("splits", SPLITS)
def test_worst_transcripts_keep_every_promise(splits: Any, relation: Relation) -> None:
    given = params(relation, splits=splits, candidates="iterative-hessian", rounds=1, trees=2, depth=2)
    for pair in islice(pairs(BINARY, relation, 3, 4), 4):
        for reverse in (False, True):
            assert worst_case(trainer(given), pair, INFINITE, reverse=reverse).violations == ()


@pytest.mark.parametrize(
    ("update", "claim"),
    [
        ("newton", "fedgbdt/newton-sensitivity-replace-one"),
        ("gradient", "fedgbdt/gradient-sensitivity-replace-one"),
        ("averaging", "fedgbdt/averaging-sensitivity-replace-one"),
    ],
)
def test_published_sensitivities_are_violated_by_replacing_a_record(update: Any, claim: str) -> None:
    published: Any = {**AS_PUBLISHED, "trees": 12, "epsilon": 1.0}
    given = params(Relation.REPLACE_ONE, update=update, **published)
    named = {(v.kind, v.release.rsplit("/", 1)[-1], v.claim) for v in violations(given, BINARY, 40)}
    assert ("sensitivity", "leaves", claim) in named
    repaired = params(Relation.REPLACE_ONE, update=update, trees=12)
    assert violations(repaired, BINARY, 40) == []


def test_published_histogram_of_hessians_is_violated_by_moving_a_record() -> None:
    given = params(Relation.REPLACE_ONE, sensitivities="published", candidates="iterative-hessian", update="newton")
    named = {(v.kind, v.claim) for v in violations(given, BINARY, 24) if "Hessian" in v.release}
    assert ("sensitivity", "fedgbdt/fact-2-2-replace-one") in named


def test_published_sensitivities_hold_when_a_record_is_added() -> None:
    published: Any = AS_PUBLISHED
    for splits in SPLITS:
        assert violations(params(splits=splits, candidates="iterative-hessian", **published), BINARY, 18) == []


def test_quantiles_are_impossible_to_replay() -> None:
    given = params(candidates="quantiles", no_privacy=True, splits="histogram", features_per_tree=1)
    kinds = {(violation.kind, violation.release.rsplit("/", 1)[-1]) for violation in violations(given, BINARY, 12)}
    assert ("model", "published model") in kinds or any(kind == "shape" for kind, _ in kinds)


def test_the_local_model_keeps_its_promise_and_as_printed_gives_the_leaf_away() -> None:
    local = params(Relation.REPLACE_ONE, noise_by="record", trees=6)
    assert violations(local, BINARY, 24) == []
    printed = params(Relation.REPLACE_ONE, noise_by="record", local="index", trees=6, sensitivities="published")
    named = {(violation.kind, violation.claim) for violation in violations(printed, BINARY, 24)}
    assert ("model", "") in named
    assert ("sensitivity", "fedgbdt/ldp-leaf-index") in named


@pytest.mark.statistics
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("update", UPDATES)
def test_repaired_runs_at_scale(splits: Any, update: Any, relation: Relation) -> None:
    given = params(relation, splits=splits, update=update, candidates="iterative-hessian", trees=25, depth=4, bins=16)
    stream = pairs(BINARY, relation, 11, most_records=60)
    for number, pair in enumerate(islice(stream, 300)):
        assert sampled(trainer(given), pair, number, INFINITE).violations == ()
