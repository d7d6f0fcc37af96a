"""Random settings of every paper, in their repaired readings, replayed on random neighbours.

For each: whatever refuses the settings does so before a record is touched; no warning; certificate, plan and recorded
events agree; no loss beyond what is established; the model follows from the released outputs.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from refdp.accounting import account
from refdp.audit.neighbours import SHAPES, _pair
from refdp.audit.replay import Pair, audit_pair
from refdp.audit.worst import worst_case
from refdp.data.records import Categorical, Classes, Feature, Interval, Numeric, Records, Schema, Target, make_records
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.faces.training import source_for
from refdp.papers import dpboost, fedgbdt, sgbdt
from refdp.papers.dpboost import leaf_sensitivity
from refdp.privacy.curator import Curator
from refdp.privacy.events import Plan, Relation, expand
from tests.mutants.harness import forget
from tests.participants import trainer
from tests.thinned import thinned

SEEDS = 24
"""Of each paper: some seconds. A longer search takes more of the same."""
OMITTED = ("no_privacy", "scheme", "exponent")
NOT_PRIVATE = ("data", "triples", "quantiles")
NUMBERS: dict[str, Sequence[Any]] = {
    "epsilon": (1e-6, 1e-3, 0.1, 1.0, 8.0, 50.0),
    "delta": (0.0, 1e-12, 1e-5, 0.1),
    "trees": (1, 2, 5), "depth": (1, 2, 3), "bins": (1, 2, 5, 40), "sketch_bins": (2, 3, 10, 255),
    "trees_per_ensemble": (1, 2, 50), "regularisation": (2.0**-24, 0.1, 1.0, 1e6, 1e100),
    "shrinkage": (1e-6, 0.1, 0.5, 1.0, 30.0, 1e100), "gradient_bound": (2.0**-23, 0.3, 1.0, 7.0, 1024.0),
    "ratio_bound": (1e-6, 0.5, 2.0, 1e6), "child_minimum": (1, 2, 50, 10**9), "count_weight": (1e-6, 0.5, 1e3),
    "subsample": (1e-6, 0.01, 0.3, 0.999, 1.0), "columns": (1e-6, 0.5, 1.0), "level_growth": (0.1, 1.0, 3.0),
    "tree_growth": (0.1, 1.0, 3.0), "owners": (1, 2, 5), "rounds": (1, 2, 4), "split_share": (1e-6, 0.5, 0.999),
    "residual_bound": (2.0**-23, 0.3, 1.0, 2.0, 1024.0), "leaf_bound": (1e-6, 1.0, 1e100), "damping": (0.0, 4.0),
    "leaf_clip": (1e-6, 1.0, 1e4, 1e100), "split_penalty": (0.0, 10.0), "features_per_tree": (None, 1, 2, 3),
    "batch": (1, 2, 7), "batch_share": (None, 1e-3, 0.5, 1.0), "records_each": (1, 3), "extra_trees": (0, 1, 6),
    "hessian_bound": (2.0**-23, 0.1, 1.0), "support_weight": (1e-4, 0.3, 0.999), "count_share": (1e-4, 0.5, 0.99),
    "initial_share": (0.0, 1e-6, 0.1, 0.99), "label_bound": (2.0**-23, 0.4, 1.0), "grid_points": (1, 2, 32),
    "sketch_part": (1e-3, 1.0, 100.0), "split_part": (1e-3, 1.0, 100.0), "leaf_part": (1e-3, 1.0, 100.0),
    "count_part": (1e-3, 1.0),
}  # fmt: skip
ALWAYS = ("epsilon", "relation", "trees", "depth", "rounds")
FEATURES: tuple[Feature, ...] = (
    Numeric("length", 0.0, 1.0),
    Numeric("balance", -500.0, 500.0),
    Categorical("colour", ("r", "g", "b")),
    Numeric("constant", 3.0, 3.0),
    Numeric("small", 0.0, 1e-301),
    Numeric("wide", -1e300, 1e300),
    Categorical("single", ("x",)),
    Numeric("far", 1e15, 1e15 + 1000),
)
TARGETS: tuple[Target, ...] = (Interval(-1.0, 1.0), Interval(0.0, 1e-300), Interval(-1e301, 1e301),
                               Classes(("no", "yes")), Classes(("a", "b", "c")))  # fmt: skip


def settings(paper: registry.Paper, dice: random.Random) -> dict[str, Any]:
    """Some fields at random values, the others at their defaults."""
    found: dict[str, Any] = {}
    for name, hint in get_type_hints(paper.printed.Params).items():
        if name in (*OMITTED, *paper.printed.AS_PUBLISHED) or (name not in ALWAYS and dice.random() < 0.45):
            continue
        if get_origin(hint) is Literal:
            found[name] = dice.choice([value for value in get_args(hint) if value not in NOT_PRIVATE])
        elif hint in (bool, Relation):
            found[name] = dice.choice([False, True] if hint is bool else list(Relation))
        elif name in NUMBERS:
            found[name] = dice.choice(NUMBERS[name])
    return found


def schema(dice: random.Random) -> Schema:
    """Up to four features, one of them with a split, and a target."""
    chosen = dice.sample(FEATURES, dice.randint(1, 4))
    if all(isinstance(feature, Numeric) and feature.low == feature.high for feature in chosen):
        chosen.append(FEATURES[0])
    return Schema(tuple(chosen), dice.choice(TARGETS))


def neighbours(of: Schema, relation: Relation, dice: random.Random, generator: np.random.Generator) -> Pair:
    """Few records and many, or none beside the one in question."""
    size = dice.choice([1, 2, 3, 5, 12, 60])
    pair = _pair(make_records(of, *dice.choice(SHAPES)(of, generator, size + 2)), relation, generator)
    return Pair(pair.base.take([]), pair.new, pair.old, 0) if dice.random() < 0.1 else pair


def agreed(paper: registry.Paper, dice: random.Random) -> tuple[Any, Schema, Plan]:
    """Settings that the paper accepts. What it refuses, it refuses from parameters and schema alone."""
    while True:
        of = schema(dice)
        try:
            params = paper.params(settings(paper, dice), as_published=False)
            return params, of, paper.plan(params, of)
        except InvalidParameter:
            continue


@pytest.mark.parametrize("seed", thinned(range(SEEDS), 2))
@pytest.mark.parametrize("name", registry.PAPERS)
def test_random_settings_keep_their_promise(name: str, seed: int) -> None:
    dice, generator, paper = random.Random(f"{name} {seed}"), np.random.default_rng(seed), registry.paper(name)
    params, of, plan = agreed(paper, dice)
    pure = getattr(params, "delta", 0.0) == 0
    epsilon = account(paper.module.plan(params, of, proved=True), delta=0.0).epsilon if pure else math.inf
    assert not pure or epsilon <= params.epsilon * (1 + 1e-9)
    for on_first in (False, True):
        pair = neighbours(of, params.relation, dice, generator)
        source = source_for(params, generator)
        finding = audit_pair(trainer(paper.module, params), pair, source, epsilon, on_first=on_first, blocks=generator)
        assert finding.violations == ()
    curator = Curator(source_for(params, generator), params.relation)
    trainer(paper.module, params)(pair.second(), curator)
    assert curator.event() == expand(plan.event)


@pytest.mark.parametrize("seed", thinned(range(SEEDS // 2), 2))
@pytest.mark.parametrize("name", ["dpboost", "dpxgboost", "inprivate"])
def test_worst_outputs_of_random_settings_keep_it_too(name: str, seed: int) -> None:
    dice, generator, paper = random.Random(f"worst {name} {seed}"), np.random.default_rng(seed), registry.paper(name)
    params, of, _ = agreed(paper, dice)
    small = {"trees": 1, "depth": 2, "rounds": 1, "owners": 1, "delta": 0.0}
    own = {field.name for field in fields(params)}
    params = replace(params, **{name: value for name, value in small.items() if name in own})
    pair = neighbours(of, params.relation, dice, generator)
    assert worst_case(trainer(paper.module, params), pair, params.epsilon, reverse=bool(seed % 2)).violations == ()


# --- What such searches have found -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "changes", "message"),
    [
        ("dpboost", {"gradient_bound": 1e12}, "gradient_bound = .* <= 1024"),
        ("dpboost", {"shrinkage": 1e-17}, "shrinkage = 1e-17: a finite number >= 0.001"),
        ("dpboost", {"regularisation": 1e-300}, "regularisation = 1e-300: a finite number >= 5.96"),
        ("dpxgboost", {"gradient_bound": 1e12}, "<= 1024"),
        ("dpxgboost", {"regularisation": 1e-300}, ">= 5.96"),
        ("dpxgboost", {"shrinkage": 1e305}, r"<= 1e\+100"),
        ("fedgbdt", {"gradient_bound": 1e12}, "<= 1024"),
        ("fedgbdt", {"leaf_clip": 1e307}, r"<= 1e\+100"),
        ("inprivate", {"residual_bound": 1e12}, "<= 1024"),
        ("inprivate", {"leaf_bound": 1e307}, r"<= 1e\+100"),
        ("sgbdt", {"leaf_clip": 1e307}, r"<= 1e\+100"),
    ],
)
def test_settings_whose_sums_or_scores_could_lose_their_meaning_are_refused(
    module: str, changes: dict[str, Any], message: str
) -> None:
    given = {"epsilon": 1.0, "relation": Relation.ADD_REMOVE, **changes}
    with pytest.raises(InvalidParameter, match=message):
        registry.paper(module).params(given, as_published=False)


def exploding(records: Records, train: Any, params: Any) -> None:
    train(params, records, Curator(source_for(params, 0), params.relation))


@pytest.mark.parametrize("train", ["sgbdt", "fedgbdt"])
def test_scores_far_out_bring_no_warning(train: str) -> None:
    """exp(-s) overflows where a record has a large negative score. pytest turns a warning into an error."""
    of = Schema((Numeric("x", 0.0, 1.0),), Classes(("no", "yes")))
    records = make_records(of, np.random.default_rng(1).random((60, 1)), np.zeros(60))
    common = {"epsilon": 0.5, "relation": Relation.ADD_REMOVE, "trees": 30, "depth": 2, "leaf_clip": 1e6}
    if train == "sgbdt":
        exploding(records, sgbdt.train, sgbdt.Params(**common, shrinkage=1.0, regularisation=1e-3, support="max"))
    else:
        exploding(records, fedgbdt.train, fedgbdt.Params(**common, shrinkage=1e3, regularisation=1e-9))


@pytest.mark.parametrize("bounds", [(-1e308, 1e308), (0.0, 1e308), (np.float64(-1e308), np.float64(1e308))])
def test_ranges_whose_width_is_no_number_are_refused(bounds: tuple[float, float]) -> None:
    """Labels beyond half of it became NaN, the others did not."""
    with pytest.raises(InvalidParameter, match="a width up to"):
        Interval(*bounds)
    if not np.isfinite(float(bounds[1]) - float(bounds[0])):
        with pytest.raises(InvalidParameter, match="distance is too large"):
            Schema((Numeric("x", *bounds),), Interval(0, 1))


def test_the_search_finds_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """With half of the leaves' sensitivity, some of the same seeds fail."""
    monkeypatch.setattr(dpboost, "leaf_sensitivity", lambda *given: leaf_sensitivity(*given) / 2)
    caught = 0
    for seed in range(SEEDS):
        try:
            test_random_settings_keep_their_promise("dpboost", seed)
        except AssertionError:
            caught += 1
    forget()  # plans of what is wrong here
    assert caught > SEEDS // 6
