"""Settings and schemas that a seed names: allowed ones, small ones, and the same in every version."""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

import pytest

from refdp.conform.files import TEXTS
from refdp.conform.wider import WIDER, schema, settings
from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema
from refdp.faces import registry

TWO = Schema((Numeric("x", 0, 1), Categorical("c", ("a", "b"))), Classes(("no", "yes")))
TARGETS = (Classes(("no", "yes")), Classes(("p", "q", "r")), Interval(-1.0, 1.0))
DIGESTS = {
    "dpboost": "3dba564ab96b2a9c", "inprivate": "af35da11b1a9ad0f", "dpxgboost": "d572500b82c1685b",
    "fedgbdt": "c726652b54fc99fe", "sgbdt": "8d065dc5c00ad68f", "grove": "c8530a3938aa5866",
}  # fmt: skip


@pytest.mark.parametrize("paper", TEXTS)
def test_drawn_settings_are_allowed_and_each_is_drawn_in_half_of_the_cases(paper: str) -> None:
    """What is given stays; in 200 cases, six standard errors are 43 of them."""
    drawn = [settings(paper, random.Random(seed), {"relation": "add-remove"}) for seed in range(200)]
    text = registry.paper(paper)
    for one in drawn[:60]:
        text.params({"epsilon": 1.0, **one}, as_published=False)
    assert all(one["relation"] == "add-remove" for one in drawn)
    for name in WIDER[paper]:
        values = [one[name] for one in drawn if name in one]
        assert 57 < len(values) < 143 and len(set(values)) > 1, name
    kept = settings(paper, random.Random(3), {"epsilon": 7.0, "other": 1})
    assert kept["other"] == 1 and set(kept) <= {"other", "epsilon", *WIDER[paper]}


@pytest.mark.parametrize("paper", TEXTS)
def test_settings_of_a_seed_are_the_same_in_every_version(paper: str) -> None:
    """A record, no truth: reports name seeds, and whoever reads one makes the same vectors again."""
    found = [settings(paper, random.Random(seed), {}) for seed in range(60)]
    plain = [{name: one.hex() if isinstance(one, float) else one for name, one in each.items()} for each in found]
    assert hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16] == DIGESTS[paper]


def made(seed: int, target: Any = TWO.target, numeric_only: bool = False) -> Schema:
    return schema(random.Random(seed), Schema(TWO.features, target), numeric_only=numeric_only)


def test_schemas_of_a_seed_are_the_same_in_every_version() -> None:
    """A record, no truth."""
    found = [repr(made(seed, target, only)) for seed in range(40) for target in TARGETS for only in (False, True)]
    assert hashlib.sha256("\n".join(found).encode()).hexdigest()[:16] == "2a9356234bb8ca3c"


def test_drawn_schemas_have_all_that_was_given_and_more() -> None:
    """Further features after the given ones; two classes stay two, since some trainers know no others."""
    for target in TARGETS:
        found = [made(seed, target) for seed in range(100)]
        assert all(one.features[:2] == TWO.features for one in found)
        more = [len(one.features) - 2 for one in found]
        assert set(more) == {0, 1, 2, 3, 4} and 20 < more.count(0) < 80
        others = [one.target for one in found if one.target != target]
        assert (not others) if target == TARGETS[0] else 20 < len(others) < 80
        for one in others:
            if isinstance(one, Classes):
                assert isinstance(target, Classes) and 4 <= len(one.values) <= 6
            else:
                assert isinstance(target, Interval) and -50 <= one.low < one.high <= 140
    kinds = [one for seed in range(100) for one in made(seed).features[2:]]
    assert {type(one) for one in kinds} == {Numeric, Categorical}
    assert all(isinstance(one, Numeric) for seed in range(100) for one in made(seed, numeric_only=True).features[2:])
