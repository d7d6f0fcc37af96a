"""Warnings about a stated number of records: an exact one gives it away, and delta is held against it."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest

import refdp
from refdp.data.records import Classes, Interval, Numeric, Schema
from refdp.errors import PrivacyWarning
from refdp.faces import cli, registry
from refdp.faces.defaults import params_for
from refdp.faces.stated import doubts
from refdp.privacy.events import Relation

FEATURES = (Numeric("x", 0, 1), Numeric("z", 0, 1))


def said(rows: int, relation: Relation = Relation.ADD_REMOVE, delta: float = 0.0) -> list[str]:
    given = {"epsilon": 1.0, "relation": relation, "delta": delta}
    return list(doubts(registry.paper("dpxgboost").params(given, as_published=False), rows))


@pytest.mark.parametrize(("rows", "round_one"), [(101, 100), (442, 440), (1210, 1200), (999_999, 990_000)])
def test_more_than_two_digits_are_doubted_where_the_number_is_private(rows: int, round_one: int) -> None:
    [doubt] = said(rows)
    assert f"rows = {rows} is more exact" in doubt and f"a round public one, {round_one} say" in doubt
    assert said(rows, Relation.REPLACE_ONE) == []


@pytest.mark.parametrize("rows", [1, 9, 10, 99, 100, 440, 1200, 10_000, 990_000, 10**12])
def test_two_digits_are_round(rows: int) -> None:
    assert said(rows) == []


@pytest.mark.parametrize("relation", Relation)
def test_a_delta_of_one_over_rows_is_doubted(relation: Relation) -> None:
    assert said(1000, relation, 9e-4) == [] == said(1000, relation, 1e-9)
    assert len(said(1000, relation, 1e-3)) == 1
    [doubt] = said(1000, relation, 0.01)
    assert doubt.startswith("delta = 0.01 is no less than 1 / rows = 0.001:")


@pytest.mark.filterwarnings("error::refdp.errors.PrivacyWarning")
@pytest.mark.parametrize("rows", [None, 1, 49, 980, 10_000, 320_000, 10**6, 10**12])
@pytest.mark.parametrize("paper", [*registry.PAPERS, "grove"])
def test_no_default_is_doubted(paper: str, rows: int | None) -> None:
    given = {"epsilon": 1.0, "relation": "add-remove"}
    for target in (Classes(("a", "b")), Interval(0, 1)):
        params_for(registry.paper(paper), given, Schema(FEATURES, target), rows=rows)


def test_an_estimator_warns_once_of_public_figures() -> None:
    told = []
    for size in (30, 61):
        x = np.random.default_rng(size).random((size, 2))
        model = refdp.DPBoostClassifier(bounds={0: (0, 1), 1: (0, 1)}, classes=[0, 1], relation="add-remove", trees=1,
                                        rows=np.int64(612))  # type: ignore[arg-type]  # fmt: skip
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(x, (x[:, 0] > 0.5).astype(int))
        told.append([str(one.message)[:15] for one in caught if one.category is PrivacyWarning])
    assert told[0] == told[1] == ["rows = 612 is m"]


def test_the_command_line_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    arguments: list[Any] = ["train", "dpxgboost", "--data", "diabetes", "--epsilon", "1", "--json", "--set", "trees=1"]
    assert cli.run([*arguments, "--rows", "442", "--delta", "0.1"]) == 0
    shown = capsys.readouterr()
    assert "refdp: rows = 442 is more exact than two digits" in shown.err and "delta = 0.1 is no less" in shown.err
    assumed = json.loads(shown.out)["certificate"]["assumptions"]
    assert any("public figures alone" in line for line in assumed)
