"""What every certificate says besides epsilon: what it rests on, all the way down, and what it takes for granted."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from refdp.accounting import account
from refdp.data.records import Classes, Interval, Numeric, Records, Schema
from refdp.faces import registry
from refdp.faces.training import source_for, train
from refdp.ledger import certificate, claims
from refdp.ledger.certificate import ROUNDED, Certificate, assumed
from refdp.ledger.claims import Verdict
from refdp.noise.draws import Draws
from refdp.noise.gridded import DiscreteLaplace
from refdp.noise.mechanisms import Exponential, Laplace
from refdp.papers import dpboost, fedgbdt
from refdp.privacy import sources
from refdp.privacy.events import Plan, Relation, Release, Sensitivity, Sequential

SCHEMA = Schema((Numeric("a", 0.0, 1.0), Numeric("b", 0.0, 1.0)), Classes(("no", "yes")))
FLOATING = {
    ("dpboost", "floating"): "Exponential and Laplace",
    ("dpboost", "discrete"): "",
    ("dpxgboost", "discrete"): "",
    ("inprivate", "floating"): "Exponential and Laplace",
    ("dpxgboost", "floating"): "Exponential and Laplace",
    ("fedgbdt", "floating"): "Gaussian",
    ("fedgbdt", "discrete"): "",
    ("sgbdt", "floating"): "Gaussian and Laplace",
    ("sgbdt", "discrete"): "",
}
"""Mechanisms whose draws are floating-point numbers."""


@pytest.mark.parametrize(("paper", "noise"), FLOATING)
def test_floating_point_noise_is_said_to_be_taken_as_ideal(paper: str, noise: str) -> None:
    chosen = registry.paper(paper)
    given = {"epsilon": 1.0, "relation": "add-remove"} | ({"delta": 1e-5} if paper in ("fedgbdt", "sgbdt") else {})
    given["noise"] = noise
    issued = chosen.certificate(chosen.params(given, as_published=False), SCHEMA)
    names = FLOATING[paper, noise]
    expected = (f"ideal noise: that of {names} is drawn in floating point",) if names else ()
    assert tuple(line for line in issued.assumptions if line.startswith("ideal noise")) == expected
    assert issued.to_dict()["assumptions"] == list(issued.assumptions)


def test_floating_noise_beside_discrete_noise_is_said_too() -> None:
    """Choices beside discrete noise are exact; where other noise is floating there, neither is."""
    norm = Sensitivity(1.0, 1, "composition/sequential", Relation.ADD_REMOVE)
    wide = Sensitivity(1.0, "range", "composition/sequential", Relation.ADD_REMOVE)
    choice = Release("choice", Exponential(1.0), wide, wide)
    floating, discrete = (Release(str(one), one, norm, norm) for one in (Laplace(1.0), DiscreteLaplace(1.0, 2.0**-10)))

    def said(*events: Release) -> list[str]:
        plan = Plan(Relation.ADD_REMOVE, Sequential(events))
        return [line for line in assumed(plan, None, (), ()) if line.startswith("ideal noise")]

    assert said(choice, discrete) == said(discrete) == []
    assert said(choice) == ["ideal noise: that of Exponential is drawn in floating point"]
    both = ["ideal noise: that of Exponential and Laplace is drawn in floating point"]
    assert said(choice, floating) == said(choice, floating, discrete) == both
    assert said(floating, discrete) == ["ideal noise: that of Laplace is drawn in floating point"]


@pytest.mark.parametrize("name", ROUNDED)
def test_what_rounding_adds_is_only_said_to_be_bounded_where_it_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    [said] = (line for line in certified("dpboost", "add-remove").assumptions if "float64" in line)
    assert "composition/rounded-utilities bounds what that adds" in said
    kept = claims.verdict
    monkeypatch.setattr(claims, "verdict", lambda one: "OPEN" if one == name else kept(one))
    [said] = (line for line in certified("dpboost", "add-remove").assumptions if "float64" in line)
    assert f"nothing bounds what that adds ({name} is lost)" in said


PAPERS = sorted(registry.PAPERS)


def certified(paper: str, relation: str, **more: Any) -> Certificate:
    """A repaired run's certificate."""
    chosen = registry.paper(paper)
    given = {"epsilon": 1.0, "relation": relation, **({"delta": 1e-5} if paper in ("fedgbdt", "sgbdt") else {}), **more}
    return chosen.certificate(chosen.params(given, as_published=False), SCHEMA)


@pytest.mark.parametrize("paper", PAPERS)
def test_discrete_noise_too_is_certified_under_assumptions(paper: str) -> None:
    text = "\n".join(certified(paper, "add-remove", **({} if paper == "sgbdt" else {"noise": "discrete"})).assumptions)
    assert "argued in prose, not machine-checked: " in text and f"{paper}/run" in text
    assert "rounded to float64" in text and "composition/rounded-utilities" in text
    assert ("Philox" in text) == (paper != "fedgbdt")
    assert "malformed records, and no records at all," in text and "how long a run takes and how much memory" in text
    assert "the lists of categories of the target are public: no source of them is checked" in text
    assert "the bounds of a, b are public: no source of them is checked" in text


@pytest.mark.parametrize(("paper", "relation"), [("dpboost", one) for one in Relation])
def test_what_is_done_to_records_before_is_assumed_to_follow_from_each_alone(paper: str, relation: Relation) -> None:
    """A split by position moves others if a record is added or removed, and none if one is replaced."""
    [alone] = (line for line in certified(paper, relation).assumptions if "public figures alone" in line)
    assert ("shuffled" in alone) == (relation is Relation.ADD_REMOVE) and "stratified" in alone
    assert all(word in alone for word in ("values", "weight", "scaling", "encoding", "column type"))
    assert any("no setting and no column was chosen" in line for line in certified(paper, relation).assumptions)


@pytest.mark.parametrize(
    ("features", "target", "said"),
    [
        (7, Interval(0, 1), ["the bounds of f0, f1, f2, f3, f4, 2 more, the target are public"]),
        (5, Classes(("a", "b")), ["the lists of categories of the target are public",
                                  "the bounds of f0, f1, f2, f3, f4 are public"]),
    ],
)  # fmt: skip
def test_bounds_and_label_range_are_assumed_to_be_public(features: int, target: Any, said: list[str]) -> None:
    schema = Schema(tuple(Numeric(f"f{i}", 0.0, 1.0) for i in range(features)), target)
    chosen = registry.paper("dpboost")
    params = chosen.params({"epsilon": 1.0, "relation": "add-remove"}, as_published=False)
    found = [line for line in chosen.certificate(params, schema).assumptions if "are public" in line]
    assert found == [f"{one}: no source of them is checked" for one in said]


RUNS = [(paper, relation) for paper in PAPERS for relation in Relation if (paper, relation) != ("sgbdt", "replace-one")]


@pytest.mark.parametrize(("paper", "relation"), RUNS)
@pytest.mark.parametrize("verdict", ["OPEN", "REFUTED"])
def test_every_claim_that_a_certificate_rests_on_can_take_its_figure_away(
    paper: str, relation: Relation, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One claim after the other in the whole closure, composition and whole runs included."""
    accounts = lru_cache(maxsize=None)(account)
    for module in (certificate, fedgbdt):
        monkeypatch.setattr(module, "account", accounts)
    monkeypatch.setattr(certificate, "running", lambda *_: "")  # it would tell of that
    before = certified(paper, relation)
    names = [name for name, _ in before.rests_on]
    assert before.established.epsilon <= 1 + 1e-9 and len(names) >= 15
    assert {f"{paper}/run", f"{paper}/run-replace-one"} & set(names)
    assert {"composition/sequential", "composition/post-processing", "composition/events"} <= set(names)
    ledger = dict(claims.everything())
    for name in names:
        changed = {**ledger, name: replace(ledger[name], verdict=verdict)}
        monkeypatch.setattr(claims, "everything", lambda changed=changed: changed)
        after = certified(paper, relation)
        assert after.established.epsilon == np.inf, name
        assert any(f"{name} is {verdict}, and the guarantee rests on it" in note for note in after.notes)


def test_a_condition_that_nobody_grants_takes_the_figure_away(monkeypatch: pytest.MonkeyPatch) -> None:
    dry = claims.Condition("dry", "it does not rain")
    ledger = dict(claims.everything())
    name = "composition/sequential"
    changed = {**ledger, name: replace(ledger[name], verdict="CONDITIONAL", assumes=(dry,))}
    monkeypatch.setattr(claims, "everything", lambda: changed)
    after = certified("dpboost", "add-remove")
    assert after.established.epsilon == np.inf
    assert f"{name} holds only if it does not rain, and the guarantee rests on it" in after.notes
    params = registry.paper("dpboost").params({"epsilon": 1.0, "relation": "add-remove"}, as_published=False)
    plan = dpboost.plan(params, SCHEMA)
    granted = certificate.issue("dpboost", after.claimed, plan, plan, params=params, grants=("dry",))
    assert granted.established.epsilon <= 1 + 1e-9 and "it does not rain" in granted.assumptions


def kinds_drawn(noise: str) -> list[str]:
    """The kinds of standard draws of one run of DPBoost."""
    chosen, kinds, drawn = registry.paper("dpboost"), list[str](), sources.standard_draws
    given = {"epsilon": 1.0, "relation": "add-remove", "trees": 1, "depth": 1, "noise": noise}
    params = chosen.params(given, as_published=False)

    def recorded(asked: Draws, *rest: Any) -> Any:
        kinds.append(asked.kind)
        return drawn(asked, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "standard_draws", recorded)
        train(chosen, params, Records(SCHEMA, np.full((4, 2), 0.5), np.zeros(4)), source_for(params, 0))
    return kinds


def test_a_run_with_discrete_noise_decides_nothing_by_floating_point_numbers() -> None:
    """So its certificate need not assume that noise is ideal."""
    assert set(kinds_drawn("discrete")) == {"discrete-laplace"}
    assert set(kinds_drawn("floating")) == {"gumbel", "laplace"}
