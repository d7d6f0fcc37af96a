"""Grove's random trees and what they teach, against loops over nodes and leaves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp.data.candidates import Candidates
from refdp.data.records import Categorical, Ensemble, Model, Schema, Tree
from refdp.own import grove
from tests.own.schemas import ADD, REAL, THREE, TWO, near
from tests.own.test_grove_whole_runs import leaf_of

# --- One feature at a time --------------------------------------------------------------------------------------------


def test_trees_of_one_feature_have_its_bins_as_leaves() -> None:
    """A full tree whose thresholds lie at even places of the quantiles, in order; a split for each category."""
    own = tuple(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]) for _ in range(4))
    for levels, rows, places in ((2, 10, (2, 4, 6)), (3, 10_000, (1, 2, 3, 4, 5, 6, 7))):
        params = grove.Params(1.0, ADD, rows=rows)
        assert params.first_levels(TWO) == levels
        (tree,) = grove.shapes_of(params, TWO, Candidates(own, np.zeros(4, dtype=bool)), 3)
        assert tree.shape == (2**levels - 1, 2) and set(tree[:, 0]) == {3.0}
        x = np.zeros((10, 4))
        x[:, 3] = [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95]
        found = Tree(tree, np.arange(2.0**levels)).predict(x, np.zeros(4, dtype=bool))
        assert found.tolist() == [sum(one >= own[3][k] for k in places) for one in x[:, 3]]
    few = Candidates((np.array([0.5]),) * 4, np.zeros(4, dtype=bool))
    assert grove.shapes_of(params, TWO, few, 0)[0][:, 1].tolist() == [0.5] * 7
    word = next(i for i, f in enumerate(TWO.features) if isinstance(f, Categorical))
    count = len(TWO.features[word].categories)  # type: ignore[union-attr]
    assert [grove.trees_of(TWO, f) for f in (0, word)] == [1, count]
    splits = grove.shapes_of(params, TWO, few, word)
    assert [one.tolist() for one in splits] == [[[word, value]] for value in range(count)]
    values = np.arange(1.0, count + 2)
    assert grove.leaves_of(TWO, word, values).tolist() == [[0.0, one] for one in values[1:]]
    assert grove.leaves_of(TWO, 0, np.arange(8.0)).tolist() == [list(range(8))]


def test_bins_of_a_feature_are_shrunk_by_its_own_prior_and_that_of_those_before() -> None:
    rng, acted, bounded = np.random.default_rng(3), 0, 0
    for schema, output, feature in ((TWO, 0, 1), (THREE, 2, 0), (REAL, 0, 3)):
        params = grove.Params(3.0, ADD, trees=5, rows=1000, feature_share=0.5)
        s, a, v = params.first_deviation(schema), params.first_weight(schema), grove.scatter_of(schema)
        least = 3 * s / a + 1
        noisy = np.column_stack([rng.normal(0, 20 * s, 6), rng.uniform(-1, 5, 6) * least])
        for before in (math.nan, 0.5):
            known = replace(grove.nothing_learnt(schema), priors=np.full(schema.scores, before))
            learnt, values = grove.bin_values(params, schema, known, output, feature, noisy, 0.5)
            tau = grove.moments(noisy[:, 0], noisy[:, 1], v, s * s)
            kept = tau if math.isnan(before) else 0.7 * before + 0.3 * tau
            assert learnt.priors[output] == near(kept)
            wanted = []
            for g, h in noisy.tolist():
                h = max(h, 0.0)
                own = -g * h / (h * h + (h * v + s * s) / max((tau + kept) / 2, 1e-12) + 1e-12)
                most = abs(g) / (h + s * math.sqrt(len(grove.splittable(schema))))
                bounded += abs(own) > most
                own = min(max(own, -most), most)
                wanted.append(min(max(own, -3.0), 3.0) / 2)
            assert values == near(wanted, 1e-9)
            credit = sum((g * g - s * s) / max(h, least) - v for g, h in noisy.tolist())
            assert learnt.credit[feature] == near(credit, 1e-9) and learnt.seen[feature] == near(1.0, 1e-8)
            assert learnt.doubt[feature] == near(sum(2 * s**4 / max(h, least) ** 2 for h in noisy[:, 1].tolist()), 1e-9)
            others = [k for k in range(4) if k != feature]
            assert learnt.credit[others].tolist() == [0.0] * 3 and learnt.seen[others].tolist() == [1e-9] * 3
            acted += credit > 0
    assert acted == 6 and bounded > 3


# --- Trees ------------------------------------------------------------------------------------------------------------


def test_nothing_is_learnt_before_a_release() -> None:
    found = grove.nothing_learnt(THREE)
    assert found.credit.tolist() == found.doubt.tolist() == [0.0] * 4 and found.seen.tolist() == [1e-9] * 4
    assert np.isnan(found.priors).tolist() == [True] * 3


def test_chances_of_features() -> None:
    """Even at first; then the root of sure credit by times seen, trusted more with every tree, beside an even part."""
    params = grove.Params(1.0, ADD, explore=0.25, depth=2)
    for schema, credit in ((TWO, [8.0, 5.0, -5.0, 0.5]), (THREE, [8.0, 5.0, -5.0, 0.5]), (REAL, [12.0, 5.0, 3.0, 1.5])):
        doubt, seen = np.array([4.0, 0.0, 16.0, 0.25]), np.array([2.0, 1.0, 1.0, 0.5])
        learnt = grove.Learnt(np.array(credit), doubt, seen, np.array([0.0]))
        for number in (0, 1, 6):
            trust = number / (number + 3 / 2)
            expected = [0.75 * (trust * m / 3 + (1 - trust) / 3) + 0.25 / 3 for m in (2.0, 0.0, 1.0)]
            assert grove.chances(params, schema, learnt, [0, 2, 3], number) == near(expected)
        assert grove.chances(params, schema, grove.nothing_learnt(schema), [1, 3], 9).tolist() == [0.5, 0.5]


def test_random_trees_take_features_and_values_where_their_draws_lie() -> None:
    own = Candidates((np.array([0.25, 0.5, 0.75]), np.arange(3.0), np.zeros(0), np.array([1.0])),
                     np.array([False, True, False, False]))  # fmt: skip
    params, learnt = grove.Params(1.0, ADD, depth=3), grove.nothing_learnt(TWO)
    which = np.array([0.0, 0.33, 0.34, 0.66, 0.67, 0.9999999, 0.1])
    where = np.array([0.0, 0.34, 0.34, 0.99, 0.5, 0.2, 0.67])
    found = grove.random_tree(params, TWO, own, learnt, 0, which, where)
    assert found.tolist() == [[0, 0.25], [0, 0.5], [1, 1], [1, 2], [3, 1], [3, 1], [0, 0.75]]
    assert found.dtype == np.float64
    halves = replace(own, thresholds=(own.thresholds[0], np.zeros(0), np.zeros(0), own.thresholds[3]))
    params = replace(params, depth=2)
    edge = np.array([0.5, np.nextafter(0.5, 0), 0.0])
    at = grove.random_tree(params, TWO, halves, learnt, 0, edge, np.zeros(3))
    assert at.tolist() == [[3, 1], [0, 0.25], [0, 0.25]]
    learnt = grove.Learnt(np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(4), np.ones(4), np.array([0.0]))
    more = grove.random_tree(params, TWO, halves, learnt, 2, np.array([0.66, 0.67, 0.9]), np.full(3, 0.5))
    assert more[:, 0].tolist() == [0, 3, 3]  # half of 2/3 * 1 + 1/3 * 1/2, and half of 1/2
    nothing = replace(own, thresholds=(np.zeros(0),) * 4)
    assert grove.random_tree(params, TWO, nothing, learnt, 0, which[:3], where[:3]).tolist() == [[0, 0]] * 3


def learnt_by_hand(
    params: grove.Params, schema: Schema, learnt: grove.Learnt, splits: Any, noisy: Any
) -> tuple[list[float], list[float], list[float]]:
    """Credit, its variance and times seen, node by node, from the leaves below each."""
    s, a, v = params.deviation(schema), params.weight(schema), grove.scatter_of(schema)
    credit, doubt, seen = learnt.credit.tolist(), learnt.doubt.tolist(), learnt.seen.tolist()
    leaves, node = len(noisy), 0
    for level in range((leaves - 1).bit_length()):
        wide = leaves >> level
        for first in range(0, leaves, wide):
            f, halves = int(splits[node, 0]), (range(first, first + wide // 2), range(first + wide // 2, first + wide))
            node += 1
            seen[f] += 1
            least = 3 * s * math.sqrt(wide / 2) / a + 1
            (g, h), (other_g, other_h) = [
                (sum(noisy[i, 0] for i in half), sum(max(noisy[i, 1], 0.0) for i in half)) for half in halves
            ]
            if schema is not REAL and not (h > least and other_h > least):
                continue
            h, other_h = max(h, least), max(other_h, least)
            noise = wide / 2 * s * s * (1 / h**2 + 1 / other_h**2)
            gain = (g / h - other_g / other_h) ** 2 - noise - v * (1 / h + 1 / other_h)
            credit[f] += gain * h * other_h / (h + other_h)
            doubt[f] += 2 * (noise * h * other_h / (h + other_h)) ** 2
    return credit, doubt, seen


def test_what_splits_separated_is_credited_to_their_features() -> None:
    rng = np.random.default_rng(8)
    acted = 0
    for schema, depth in ((TWO, 1), (THREE, 2), (REAL, 3), (TWO, 3), (THREE, 4)):
        params = grove.Params(3.0, ADD, trees=5, depth=depth, rows=1000, feature_share=0.0)
        least = 3 * params.deviation(schema) / params.weight(schema)
        splits = np.column_stack([rng.integers(0, 4, 2**depth - 1), rng.random(2**depth - 1)])
        noisy = np.column_stack([rng.normal(0, 60, 2**depth), rng.uniform(-0.2, 3, 2**depth) * least + 1])
        before = grove.Learnt(rng.random(4), rng.random(4), rng.random(4), np.arange(1.0, schema.scores + 1))
        found = grove.learnt_from(params, schema, before, splits, noisy, params.deviation(schema))
        credit, doubt, seen = learnt_by_hand(params, schema, before, splits, noisy)
        assert found.credit == near(credit, 1e-9) and found.doubt == near(doubt, 1e-9) and found.seen == near(seen)
        assert found.priors.tolist() == before.priors.tolist()
        acted += int((found.credit != before.credit).sum())
    assert acted > 8


def test_a_split_of_classes_is_credited_from_just_above_the_least_sum() -> None:
    for schema in (TWO, REAL):
        params = grove.Params(3.0, ADD, trees=5, depth=1, rows=1000, feature_share=0.0)
        least = 3 * params.deviation(schema) / params.weight(schema) + 1
        for sums, credited in (((least, 2 * least), False), ((2 * least, least), False), ((1.001 * least,) * 2, True)):
            noisy = np.column_stack([np.array([900.0, -900.0]), sums])
            nothing, s = grove.nothing_learnt(schema), params.deviation(schema)
            found = grove.learnt_from(params, schema, nothing, np.array([[1.0, 0.0]]), noisy, s)
            assert (found.credit[1] > 0) == (found.doubt[1] > 0) == (credited or schema is REAL)
            assert found.seen[1] == near(1.0, 1e-8)


def test_noise_credits_nothing_in_the_mean_and_its_variance_is_known() -> None:
    """Of a thousand trees of noise the mean credit is 0 within four of its standard errors (6 in 100,000 of chance)."""
    params, rng = grove.Params(3.0, ADD, trees=5, depth=2, rows=1000, feature_share=0.0), np.random.default_rng(6)
    s, found = params.deviation(REAL), grove.nothing_learnt(REAL)
    splits = np.column_stack([[0.0, 1.0, 1.0], np.zeros(3)])
    for _ in range(1000):
        noisy = np.column_stack([rng.normal(0, s, 4), np.zeros(4)])
        found = grove.learnt_from(params, REAL, found, splits, noisy, s)
    scatter = 1000 * grove.scatter_of(REAL) * np.array([1, 2, 0, 0])  # taken off each node, and nobody is there
    assert (np.abs(found.credit + scatter)[:2] < 4 * np.sqrt(found.doubt[:2])).all()
    assert (found.credit[:2] + scatter[:2] != 0).all() and (found.doubt[2:] == 0).all()


def deep_and_usual(monkeypatch: pytest.MonkeyPatch) -> tuple[grove.Params, grove.Learnt, grove.Learnt]:
    """Settings with 7 levels, and what makes trees of all of them and of 5."""
    monkeypatch.setattr(grove.Params, "strength", lambda self, schema: 5000.0)
    params = grove.Params(1.0, ADD)
    seen = replace(grove.nothing_learnt(TWO), looked=40.0)
    return params, replace(seen, parted=40.0), replace(seen, parted=39.9)


def test_all_levels_are_used_where_the_first_forty_trees_parted_twice_their_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    params, deep, usual = deep_and_usual(monkeypatch)
    assert params.levels(TWO) == 7
    for schema in (TWO, THREE):
        looks = 40.0 * schema.scores
        for parted, looked, used in ((1e9, looks - 1, 5), (looks, looks, 7), (np.nextafter(looks, 0), looks, 5)):
            learnt = replace(grove.nothing_learnt(schema), parted=parted, looked=looked)
            assert grove.levels_in_use(params, schema, learnt) == used
    assert grove.levels_in_use(params, REAL, deep) == 5 == params.levels(REAL)
    assert [grove.levels_in_use(replace(params, depth=depth), TWO, usual) for depth in (2, 6, 7)] == [2, 6, 7]


def test_what_the_last_level_in_use_parts_is_counted_for_forty_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    params, _, _ = deep_and_usual(monkeypatch)
    rng, s = np.random.default_rng(4), params.deviation(TWO)
    splits = np.zeros((127, 2))
    learnt = grove.nothing_learnt(TWO)
    for number in range(42):
        raw = rng.normal(0, 3 * s, (128, 2))
        noisy = grove.where_records_are(params, TWO, learnt, raw)
        found = grove.learnt_from(params, TWO, learnt, splits, noisy, params.deviation(TWO))
        pairs = [(raw[8 * k, 0] - raw[8 * k + 7, 0]) ** 2 for k in range(16)]  # of 4 leaves of a side one is reached
        wanted = sum(pairs) / 16 / (2 * s * s) - 1 if number < 40 else 0.0
        assert found.parted - learnt.parted == near(wanted, 1e-9)
        assert found.looked - learnt.looked == (number < 40)
        learnt = replace(found, parted=min(found.parted, 30.0))


def test_levels_that_are_not_in_use_part_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree of 5 levels in the form of one of 7: the same splits, leaves and credit as by itself."""
    params, deep, usual = deep_and_usual(monkeypatch)
    rng = np.random.default_rng(5)
    own = Candidates((np.linspace(0.1, 0.9, 9), np.arange(3.0), np.zeros(0), np.array([1.0])),
                     np.array([False, True, False, False]))  # fmt: skip
    which, where = rng.random(127), rng.random(127)
    tall = grove.random_tree(params, TWO, own, deep, 50, which, where)
    short = grove.random_tree(params, TWO, own, usual, 50, which, where)
    assert np.array_equal(short[:31], tall[:31]) and not np.array_equal(short, tall)
    rows = [[x, c, 0.0, z] for x in (math.nan, *rng.random(40)) for c in (math.nan, 0.0, 1.0, 2.0) for z in (0.0, 1.0)]
    noisy = rng.normal(0, 9 * params.deviation(TWO), (128, 2)) + np.array([0.0, 1e5])
    there = grove.where_records_are(params, TWO, usual, noisy)
    assert np.array_equal(grove.where_records_are(params, TWO, deep, noisy), noisy)
    reached = set()
    for row in rows:
        leaf, above = leaf_of(row, short.tolist(), TWO), leaf_of(row, short[:31].tolist(), TWO)
        reached.add(above)
        assert leaf >> 2 == above and there[leaf].tolist() == noisy[leaf].tolist()
        assert there[4 * above : 4 * above + 4].tolist() == [noisy[leaf].tolist()] * 4
    assert len(reached) > 5
    found = grove.learnt_from(params, TWO, usual, short, there, params.deviation(TWO))
    monkeypatch.setattr(grove.Params, "levels", lambda self, schema: 5)
    alone = grove.learnt_from(params, TWO, usual, short[:31], there[::4], params.deviation(TWO))
    assert found.credit.tolist() == alone.credit.tolist() != [0.0] * 4 and found.seen.tolist() == alone.seen.tolist()


def test_predictions_are_in_the_targets_unit() -> None:
    for schema, expected in ((REAL, [1 + 4 * 0.25] * 2), (TWO, [[0.25], [0.25]])):
        model = Model("grove", {}, schema, (Ensemble(0.25, (), ()),))
        assert np.asarray(grove.predict(model, np.zeros((2, 4)))).tolist() == expected
