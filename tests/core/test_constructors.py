"""Constructors of the estimators have the parameters of their papers: estimators_settings.py follows each Params."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from refdp.faces import estimators, registry
from refdp.faces.defaults import CHOSEN

ALL = [
    getattr(estimators, f"{paper}{kind}")
    for paper in ("DPBoost", "InPrivate", "DPXGBoost", "FedGBDT", "SGBDT")
    for kind in ("Classifier", "Regressor")
]


@pytest.mark.parametrize("kind", ALL)
def test_constructors_and_papers_agree(kind: Any) -> None:
    """Names, defaults and types are those of the paper's Params; readings and what the table of settings decides are
    open."""
    module = registry.paper(kind._paper).printed
    ours, theirs = get_type_hints(kind), get_type_hints(module.Params)
    own = {
        "bounds",
        "as_published",
        "settings",
        "rows",
        "budget",
        "monotone_constraints",
        "insecure_seed",
        "classes",
        "label_bounds",
        "absent",
    }
    own |= {"class_weight"}
    assert {one.name for one in fields(kind)} - own == {one.name for one in fields(module.Params)}
    for one in fields(module.Params):
        if one.name in ("epsilon", "relation", "owners"):
            continue
        reading = one.name in module.AS_PUBLISHED or one.name in CHOSEN[kind._paper]
        assert getattr(kind(), one.name) == (None if reading else one.default), one.name
        assert members(ours[one.name]) - {type(None)} == members(theirs[one.name]) - {type(None)}, one.name
        assert not reading or type(None) in members(ours[one.name])


def members(hint: Any) -> set[Any]:
    """What a union of types and literals is made of."""
    if get_origin(hint) is Literal or not get_args(hint):
        return set(get_args(hint)) or {hint}
    return set().union(*(members(one) for one in get_args(hint)))
