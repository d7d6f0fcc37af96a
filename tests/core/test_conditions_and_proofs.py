"""Conditions that a caller grants, what a claim without standing takes away, and which proof is about a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from refdp.data.records import Classes, Numeric, Schema
from refdp.faces import registry
from refdp.ledger import certificate, claims, proved
from refdp.ledger.certificate import Guarantee, issue
from refdp.noise.mechanisms import Laplace
from refdp.privacy.events import Plan, Relation, Release, Sensitivity, Sequential

NAME = "dpboost/gradient-bound"
SCHEMA = Schema((Numeric("a", 0.0, 1.0),), Classes(("no", "yes")))


def certified(grants: tuple[str, ...], epsilon: float = 1.0, scale: float = 1.0, name: str = NAME) -> Any:
    norm = Sensitivity(1.0, 1, name, Relation.ADD_REMOVE)
    plan = Plan(Relation.ADD_REMOVE, Sequential((Release("one", Laplace(scale), norm, norm),)))
    return issue("some", Guarantee(epsilon, 0.0), plan, plan, params=None, grants=grants)


def test_a_condition_is_granted_by_its_key_and_then_an_assumption() -> None:
    assert claims.verdict(NAME) == "CONDITIONAL"
    conditions = claims.get(NAME).assumes
    keys = tuple(one.key for one in conditions)
    granted, refused = certified((*keys, "some other key")), certified(())
    assert granted.established.epsilon == pytest.approx(1.0) and refused.established.epsilon == float("inf")
    for one in conditions:
        assert one.text in granted.assumptions and one.text not in refused.assumptions
        assert any(one.text in note and "the guarantee rests on it" in note for note in refused.notes)
    assert not any("rests on it" in note for note in granted.notes)


def test_a_claim_of_less_than_is_established_does_not_hold() -> None:
    keys = tuple(one.key for one in claims.get(NAME).assumes)

    def said(epsilon: float) -> bool:
        return any("does not hold; established is epsilon 1" in note for note in certified(keys, epsilon).notes)

    assert [said(e) for e in (0.9, 1 - 1e-8, 1.0, 1 - 1e-10, 1.1)] == [True, True, False, False, False]


def test_an_unknown_claim_takes_the_guarantee_away() -> None:
    found = certified((), name="nobody/knows")
    assert found.established.epsilon == float("inf")
    assert any("nobody/knows is" in note and "the ledger does not have it" in note for note in found.notes)


def test_breaches_take_the_guarantee_away_and_remarks_do_not() -> None:
    norm = Sensitivity(1.0, 1, "composition/sequential", Relation.ADD_REMOVE)
    plan = Plan(Relation.ADD_REMOVE, Sequential((Release("one", Laplace(2.0), norm, norm),)))
    for breaches, remarks, epsilon in (((), ("a remark",), 0.5), (("a breach",), (), float("inf"))):
        found = issue("some", Guarantee(1.0, 0.0), plan, plan, breaches, params=None, remarks=remarks)
        assert found.established.epsilon == pytest.approx(epsilon) and {*breaches, *remarks} <= set(found.notes)
    other = issue("some", Guarantee(1.0, 0.0), plan, plan, params=None, established=0.25)
    assert other.established == Guarantee(0.25, 0.0)
    assert [certificate.number(value) for value in (0.5, float("inf"))] == [0.5, "inf"]


def test_a_proof_of_the_same_settings_is_about_this_run() -> None:
    kept = next(one for one in proved.kept() if not one.stale() and one.verdict == "PROVED")
    params = registry.paper(kept.paper).params({"epsilon": 1.0, "relation": kept.relation} | (
        {"delta": 1e-5} if kept.paper in ("fedgbdt", "sgbdt") else {}), as_published=False)  # fmt: skip
    own = proved.settings_of(params)
    same = replace(kept, settings=own, schema=proved.plain(SCHEMA), digest="")
    same = replace(same, digest=same.digested())
    found = proved._about(same, params, SCHEMA)
    assert found.this_run is True and found.differs == () and found.stale == ""
    assert "exactly this run's settings" in found.line() and found.covers[0] == kept.statement
    wider = Schema((Numeric("a", 0.0, 2.0), Numeric("b", 0.0, 2.0)), SCHEMA.target)
    other = proved._about(same, params, wider)
    assert other.this_run is False and other.differs == ("other features or another target",)
    name = next(iter(own))
    changed = replace(same, settings={**own, name: "something else"})
    changed = replace(changed, digest=changed.digested())
    differs = proved._about(changed, params, SCHEMA)
    assert differs.differs == (f"{name} = {own[name]}, proved for something else",) and not differs.this_run
    none = replace(same, settings={k: v for k, v in own.items() if k != name})
    assert proved._about(none, params, SCHEMA).differs == (f"{name} = {own[name]}, proved for none",)
    assert proved._about(none, params, SCHEMA).stale == "its digest is another"
    assert proved._about(none, params, SCHEMA).covers == () and not proved._about(none, params, SCHEMA).this_run
    more = replace(same, settings={**own, "depths": "3"})  # a parameter that is one of the text's no longer
    assert proved._about(more, params, SCHEMA).differs == ("no depths, proved for 3",)
    failed = replace(same, verdict="REFUTED", digest="")
    failed = replace(failed, digest=failed.digested())
    assert proved._about(failed, params, SCHEMA).covers == () and not proved._about(failed, params, SCHEMA).this_run


def test_details_are_those_that_there_are() -> None:
    for name in list(claims.everything())[::9]:
        claim = claims.get(name)
        shown = dict(claims._details(claim))
        assert all(shown.values()) and shown["statement"] == claim.statement
        assert shown["where"] == f"{claim.paper}, {claim.locus}"
        for label, value in (("kind", claim.kind), ("constant", claim.tight), ("why", claim.reason),
                             ("repaired by", claim.repaired_by), ("our reading", claim.reading)):  # fmt: skip
            assert shown.get(label, "") == (value or ""), (name, label)
