"""What a finding says in words, kind by kind; what lacks its figures says nothing."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from refdp.audit.package.scope import Claim
from refdp.audit.package.told import _number, allowed, plain
from refdp.privacy.events import Relation

PURE = Claim("s", "a", "u", Relation.ADD_REMOVE, math.log(3), 0.0)
APART = Claim("s", "a", "u", Relation.REPLACE_ONE, 0.0, 1e-5)


def said(kind: str, stage: str = "replay", violation: bool = False, **figures: Any) -> str:
    named = {name.replace("_", " "): value for name, value in figures.items()}
    one: Any = SimpleNamespace(stage=stage, kind=kind, figures=named, claim=PURE, violation=violation)
    return plain(one)


def test_what_is_allowed() -> None:
    assert allowed(PURE) == "no result may be more than 3 times as likely with one more or one less"
    assert allowed(APART) == (
        "no result may be more than 1 times as likely with one exchanged for another, but for results of total "
        "chance 1e-05"
    )


@pytest.mark.parametrize(("kind", "figures", "words"), [
    ("result", {"first": 1, "second": 2}, "this part of the result is 1 on the first data set and 2 on the second."),
    ("exact statistic", {"first": 1, "second": 2},
     "It is 1 in every run on the first data set, 2 on the second."),
    ("support", {"value": 7, "seen_on": "first", "times": 3, "times_on_the_other_side": 1},
     "The result 7 came up in 3 runs on the first data set, in 1 on the other."),
    ("support", {"value": 7, "seen_on": "first", "times": 3},
     "The result 7 came up in 3 runs on the first data set, in 0 on the other."),
    ("cost", {"declared": 1.0, "observed": "inf"},
     "This release loses more than any number on these data sets; 1 is what it is declared to cost."),
])  # fmt: skip
def test_each_kind_with_its_figures(kind: str, figures: Any, words: str) -> None:
    assert said(kind, **figures).endswith(words)
    assert said(kind, violation=True, **figures) == f"{said(kind, **figures)} Claimed is that {allowed(PURE)}."
    optional = "times_on_the_other_side"
    for left in figures:
        if left != optional:
            assert said(kind, **{name: value for name, value in figures.items() if name != left}) == ""
    assert said("other", **figures) == "" == said("other", violation=True, **figures)


def test_counts_on_both_sides() -> None:
    for event, words in [
        ("x, second side likelier", "“x” came up 9 times on the second and 1 times on the first one."),
        ("x, first side likelier", "“x” came up 9 times on the first and 1 times on the second one."),
        ("x, y", "“x, y” came up 9 times on the likelier and 1 times on the other one."),
    ]:
        found = said("any", "black box", event=event, counts=(9, 1), runs_a_side=40)
        assert found == f"In 40 runs on each data set, {words}"
    assert [_number(one) for one in ("nan", math.inf, 1.23456, "2")] == [
        "an amount that has no bound", "more than any number", "1.235", "2"
    ]  # fmt: skip
