"""DPBoost and DP-XGBoost with a delta: what is established, and what the accountant gave for it."""

from __future__ import annotations

import pytest

from refdp.accounting import account
from refdp.data.records import Interval, Numeric, Schema
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.papers import dpboost
from refdp.papers.published.dpboost import total_epsilon
from refdp.privacy.events import Relation

SCHEMA = Schema((Numeric("x", 0.0, 1.0), Numeric("z", 0.0, 1.0)), Interval(-1.0, 1.0))
GIVEN = {"epsilon": 1.0, "trees": 20, "trees_per_ensemble": 1, "depth": 3}


def params(**given):
    return registry.paper("dpboost").params({**GIVEN, **given}, as_published=False)


@pytest.mark.parametrize("relation", list(Relation))
def test_a_delta_buys_noise_and_the_certificate_accounts_for_it(relation: Relation) -> None:
    approximate, pure = params(delta=1e-6, relation=relation), params(relation=relation)
    assert total_epsilon(approximate, SCHEMA) > 2  # 1 for the pure one
    given = [one.tree_epsilon(SCHEMA) for one in (approximate, pure)]
    assert given[0] > 2 * given[1]
    whole = dpboost.plan(approximate, SCHEMA)
    bound = account(whole, delta=1e-6)
    assert bound.method == "adaptive"
    assert 0.99 < bound.lower <= bound.upper <= 1.0
    assert account(whole, delta=0.0).epsilon > 2
    found = dpboost.certificate(approximate, SCHEMA)
    assert (found.claimed.epsilon, found.claimed.delta, found.established.delta) == (1.0, 1e-6, 1e-6)
    assert found.established.epsilon == pytest.approx(bound.upper)
    assert any("Dong, Durfee, Rogers 2020" in note for note in found.notes)
    assert dpboost.certificate(pure, SCHEMA).claimed.delta == 0


def test_without_a_delta_nothing_changes() -> None:
    assert type(params(relation="add-remove", delta=0.0)) is dpboost.Params
    with pytest.raises(InvalidParameter, match="delta"):
        params(relation="add-remove", delta=1.0)
