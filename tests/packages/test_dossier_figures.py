"""A certificate that was edited: each edit is found by what the document itself still says, or nothing is said of it.

What no line can show stays with the accountant: noise of releases in samples, blocks or under a filter, counts that are
too small, a claim of the same paper about another release, names.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from refdp.audit.dossier import Word, dossier
from refdp.audit.dossier_figures import held
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.faces.defaults import params_for
from refdp.privacy.events import Relation
from tests.estimators.test_defaults import SCHEMAS
from tests.packages.test_dossier import CERTIFICATE, contradicted, report

Edit = Callable[[dict[str, Any]], object]
TRAINERS = (*registry.PAPERS, *registry.OWN)


@cache
def issued(paper: str, relation: Relation) -> dict[str, Any]:
    chosen = registry.paper(paper)
    given = {"epsilon": 1.0, "relation": relation}
    return chosen.certificate(params_for(chosen, given, SCHEMAS[0]), SCHEMAS[0]).to_dict()


def edited(paper: str, edit: Edit, relation: Relation = Relation.ADD_REMOVE) -> dict[str, Any]:
    document = copy.deepcopy(issued(paper, relation))
    edit(document)
    return document


@pytest.mark.parametrize("paper", TRAINERS)
def test_what_refdp_issues_is_not_contradicted_and_every_release_is_held(paper: str) -> None:
    for relation in Relation:
        if paper == "sgbdt" and relation is Relation.REPLACE_ONE:
            continue
        document = issued(paper, relation)
        assert contradicted(document) == []
        own = {one["id"] for one in document["rests_on"]}
        found = held(document["releases"], own, **document["established"])
        assert found.wrong == found.unheld == () and not found.total


@pytest.mark.parametrize("paper", TRAINERS)
def test_another_relation_contradicts_what_is_declared(paper: str) -> None:
    """Inside samples, whose claims S-GBDT and DP-XGBoost name, it may be another: then it is assumed."""
    flipped = edited(paper, lambda one: one.update(relation="replace-one"))
    inside = paper in ("sgbdt", "dpxgboost")
    assert contradicted(flipped) == ([] if inside else ["sensitivity"])
    told = next(one for one in dossier(flipped).answers if one.topic == "sensitivity")
    assert "about other neighbours" in told.text and (told.word in (Word.ASSUMED, Word.NOT_EXAMINED) or not inside)
    if not inside:
        back = edited(paper, lambda one: one.update(relation="add-remove"), Relation.REPLACE_ONE)
        assert contradicted(back) == ["sensitivity"]


@pytest.mark.parametrize("paper", TRAINERS)
def test_a_release_declares_by_a_claim_of_its_own_paper(paper: str) -> None:
    for claim in ("composition/laplace", "composition/events", "dpboost/eq-3", "made/up", ""):
        if claim.startswith(f"{paper}/"):
            continue
        with pytest.raises(InvalidParameter, match="with claims of another paper"):
            dossier(edited(paper, lambda one, claim=claim: one["releases"][-1].update(claim=claim)))  # type: ignore[misc]


@pytest.mark.parametrize("paper", TRAINERS)
@pytest.mark.parametrize("norm", ["1", "2", "range", "whitened", "infinity", ""])
def test_a_norm_that_the_noise_says_nothing_about_contradicts(paper: str, norm: str) -> None:
    for k, line in enumerate(issued(paper, Relation.ADD_REMOVE)["releases"]):
        kind = line["mechanism"].partition("(")[0]
        fits = norm in {"Exponential": ("range",)}.get(kind, ("2", "whitened") if "Gaussian" in kind else ("1",))
        found = contradicted(edited(paper, lambda one, k=k: one["releases"][k].update(norm=norm)))  # type: ignore[misc]
        assert ("mechanism" in found) is not fits, (line, found)


@pytest.mark.parametrize("paper", ["fedgbdt", "grove"])
def test_gaussian_noise_that_is_too_little_for_the_whole_contradicts(paper: str) -> None:
    """As far as claims on samples, blocks and filters are not named."""

    def quieter(one: dict[str, Any], factor: float) -> None:
        for line in one["releases"]:
            line["sensitivity"] *= factor

    for factor, wanted in ((1.0, []), (0.9, []), (1.2, ["composition"]), (1e6, ["composition"])):
        assert contradicted(edited(paper, lambda one, factor=factor: quieter(one, factor))) == wanted  # type: ignore[misc]
    assert contradicted(edited(paper, lambda one: one["established"].update(epsilon=0.7))) == ["composition"]
    assert "composition" in contradicted(edited(paper, lambda one: one["established"].update(delta=0.0)))
    more = edited(paper, lambda one: one["releases"][-1].update(count=2 * one["releases"][-1]["count"]))
    assert contradicted(more) == ["composition"]


def test_pure_costs_add_up_unless_something_makes_them_cheaper() -> None:
    twice = {**CERTIFICATE["releases"][0], "count": 2}
    assert contradicted(CERTIFICATE | {"releases": [twice]}) == ["composition"]
    assert contradicted(CERTIFICATE | {"releases": CERTIFICATE["releases"] * 2}) == ["composition"]
    blocks = [*CERTIFICATE["rests_on"], {"id": "composition/parallel-add-remove", "verdict": "ARGUED"}]
    assert contradicted(CERTIFICATE | {"releases": [twice], "rests_on": blocks}) == []
    for name, wanted in (
        ("composition/parallel-add-remove", ["composition"]),  # no block is cheaper than its dearest release
        ("composition/partition-add-remove", []),  # a record may be in no block
        ("dpxgboost/subsampling-poisson", []),
    ):
        cheaper = [*CERTIFICATE["rests_on"], {"id": name, "verdict": "ARGUED"}]
        both = {key: {"epsilon": 0.5, "delta": 0.0} for key in ("claimed", "established")}
        assert contradicted(CERTIFICATE | both | {"rests_on": cheaper}) == wanted


@pytest.mark.parametrize("paper", TRAINERS)
def test_a_smaller_epsilon_is_found_where_the_page_says_so(paper: str) -> None:
    def smaller(one: dict[str, Any]) -> None:
        one["claimed"]["epsilon"] = one["established"]["epsilon"] = 0.1

    assert contradicted(edited(paper, smaller)) == (["composition"] if paper in ("fedgbdt", "grove") else [])


@pytest.mark.parametrize("mechanism", ["laplace(scale=1.0)", "Laplace (scale=1.0)", "Laplace", "Laplacian(scale=1.0)",
                                       " Laplace(scale=1.0)", "Staircase(scale=1.0)", ""])  # fmt: skip
def test_noise_of_an_unknown_name_is_held_against_nothing(mechanism: str) -> None:
    release = {**CERTIFICATE["releases"][0], "mechanism": mechanism}
    told = next(one for one in dossier(CERTIFICATE | {"releases": [release]}).answers if one.topic == "mechanism")
    assert told.word is Word.NOT_EXAMINED and "held against no charge: leaves" in told.text


@pytest.mark.parametrize("changed", [{"count": 0}, {"count": -1}, {"sensitivity": -1.0}, {"sensitivity": "nan"},
                                     {"mechanism": "Laplace(scale=-1.0)"}, {"mechanism": "Laplace(scale=nan)"},
                                     {"mechanism": "Exponential(coefficient=-1)", "norm": "range"},
                                     {"mechanism": "Gaussian(sd=())", "norm": "2"},
                                     {"mechanism": "Gaussian(sd=(1.0, 0.0))", "norm": "2"}])  # fmt: skip
def test_what_is_no_release_contradicts(changed: dict[str, Any]) -> None:
    assert "mechanism" in contradicted(CERTIFICATE | {"releases": [CERTIFICATE["releases"][0] | changed]})


def test_two_documents_in_one_and_those_about_different_runs_are_refused() -> None:
    """Of a certificate beside a report of a violation the certificate alone was read."""
    with pytest.raises(InvalidParameter, match="each needs a dossier of its own"):
        dossier({"certificate": CERTIFICATE, **report("VIOLATION", releases="VIOLATION")})
    with pytest.raises(InvalidParameter, match="each needs a dossier of its own"):
        dossier(CERTIFICATE | report("NOT FOUND"))
    with pytest.raises(InvalidParameter, match="certificate of 'dpboost' in a document about 'fedgbdt'"):
        dossier({"paper": "fedgbdt", "certificate": CERTIFICATE | {"paper": "dpboost"}})
    assert dossier({"paper": "dpboost", "certificate": CERTIFICATE | {"paper": "dpboost"}}).holds


def test_a_report_that_contradicts_itself() -> None:
    fine = report("NOT FOUND")
    assert dossier(fine | {"ok": True}).holds
    for wrong in ({"ok": False}, {"ok": None}, {"ok": 1}, {"verdict": "NOT EXAMINED", "ok": True}):
        with pytest.raises(InvalidParameter, match="an audit report that says"):
            dossier(fine | wrong)
    lost = {"claimed_epsilon": 1.0, "claimed_delta": 0.0}
    assert dossier(fine | lost | {"max_loss": 1.0}).holds and dossier(fine | lost | {"max_loss": None}).holds
    assert dossier(fine | lost | {"max_loss": 5.0, "claimed_delta": 1e-5}).holds  # a delta allows for some
    for loss in (1.1, "inf", "nan"):
        assert not dossier(fine | lost | {"max_loss": loss}).holds
    with pytest.raises(InvalidParameter, match="coverage"):
        dossier(fine | lost | {"max_loss": "much"})
