"""The first vectors of every kind are those of the repository: the quick part of what writes them anew.

Programs are held against these numbers, so that a change of any of them is a change of the specification.
A function for each kind, since slow functions are left out whole where only quick tests run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from refdp.conform import nodes, parts, runs
from refdp.conform.files import ABSENT, TEXTS
from refdp.conform.plain import hexed
from refdp.conform.vector import Vector
from refdp.own import grove
from refdp.papers import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt

LOADED = (dpboost, inprivate, dpxgboost, fedgbdt, sgbdt, grove)
"""Here and not by the first vector that needs them, which would take as long as all others."""
VECTORS = Path(__file__).parents[2] / "conform"
PAIRS = [(paper, kind) for paper in TEXTS for kind in ("route", "grid", "statistics", "encode", "sampler")]


def check(paper: str, kind: str, made: Callable[[str], Iterator[Vector]], first: int = 1000) -> None:
    """So many vectors are lines of their file; all of its lines where there are fewer."""
    text = (VECTORS / paper / f"{kind}.json").read_text(encoding="utf-8")
    lines = [line.rstrip(",") for line in text.splitlines()[1:-1]]
    found = [one.to_json(f"{paper}/{kind}/{number:03d}") for number, one in enumerate(islice(made(paper), first), 1)]
    assert [json.dumps(one, sort_keys=True, separators=(",", ":")) for one in found] == lines[:first]


@pytest.mark.parametrize("paper", TEXTS)
def test_sums_scores_and_leaves_are_those_of_the_repository(paper: str) -> None:
    check(paper, "node", nodes.node, 30 if paper == "grove" else 1000)


@pytest.mark.parametrize("paper", TEXTS)
def test_outputs_of_mechanisms_are_those_of_the_repository(paper: str) -> None:
    check(paper, "mechanism", nodes.mechanism)


@pytest.mark.parametrize(("paper", "kind"), [pair for pair in PAIRS if pair not in ABSENT])
def test_small_parts_are_those_of_the_repository(paper: str, kind: str) -> None:
    check(paper, kind, parts.PARTS[kind])


@pytest.mark.parametrize("paper", TEXTS)
def test_predictions_are_those_of_the_repository(paper: str) -> None:
    check(paper, "predict", parts.predict, 6)


@pytest.mark.parametrize("paper", TEXTS)
def test_plans_are_those_of_the_repository(paper: str) -> None:
    check(paper, "plan", runs.plan, 5 if paper == "grove" else 12)


@pytest.mark.parametrize("paper", TEXTS)
def test_runs_are_those_of_the_repository(paper: str) -> None:
    check(paper, "train", runs.train, 5)


@pytest.mark.parametrize("paper", TEXTS)
def test_refusals_are_those_of_the_repository(paper: str) -> None:
    check(paper, "negative", runs.negative)


@pytest.mark.parametrize("paper", TEXTS)
def test_both_sides_of_neighbours_are_those_of_the_repository(paper: str) -> None:
    check(paper, "neighbour", runs.neighbour, 3)


@pytest.mark.parametrize("paper", TEXTS)
def test_laws_of_fresh_draws_are_those_of_the_repository(paper: str) -> None:
    check(paper, "statistical", runs.statistical)


@pytest.mark.parametrize("paper", ["fedgbdt", "sgbdt", "grove"])
def test_costs_of_plans_are_those_of_the_repository(paper: str) -> None:
    check(paper, "account", runs.account)


@pytest.mark.parametrize("paper", TEXTS)
def test_whole_runs_are_those_of_the_repository(paper: str) -> None:
    check(paper, "train", runs.train, 5)


@pytest.mark.parametrize("paper", TEXTS)
def test_runs_on_neighbours_are_those_of_the_repository(paper: str) -> None:
    check(paper, "neighbour", runs.neighbour, 3)


@pytest.mark.parametrize("paper", TEXTS)
def test_what_is_to_be_refused_is_that_of_the_repository(paper: str) -> None:
    check(paper, "negative", runs.negative, 20)


@pytest.mark.parametrize("paper", TEXTS)
def test_draws_that_are_asked_are_those_of_the_repository(paper: str) -> None:
    check(paper, "statistical", runs.statistical)


@pytest.mark.parametrize("paper", TEXTS)
def test_plans_to_account_are_those_of_the_repository(paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The accountant is given what the vector says; a lower bound is a pure epsilon itself, moved down by 2^-31 of it,
    an upper one is moved up to a step."""
    less, more = 1 - 1.5 * 2.0**-30, 1 + 1.5 * 2.0**-30
    asked: list[tuple[str, str, str]] = []

    def account_of(plan: Any, *, delta: float, quick: bool) -> Any:
        gaussian = paper in ("fedgbdt", "sgbdt", "grove")
        assert quick is (gaussian or len(asked) >= 20) and (delta > 0) is gaussian
        asked.append((plan.relation.value, hexed(delta), json.dumps(runs.event_json(plan.event))))
        return SimpleNamespace(lower=0.75 * more, epsilon=1.5 * less)

    monkeypatch.setattr(runs, "account_of", account_of)
    found = [one.to_json("x") for one in runs.account(paper)]
    kept = json.loads((VECTORS / paper / "account.json").read_text(encoding="utf-8"))["tests"]
    assert asked == [
        (one["input"]["relation"], one["input"]["delta"], json.dumps(one["input"]["event"])) for one in found
    ]
    for mine, due in zip(found, kept, strict=True):
        assert mine == {**due, "id": "x", "expect": mine["expect"]}
        low = 0.75 * more if "Gaussian" in json.dumps(due) else 1.5 * less
        lower, upper = (float.fromhex(mine["expect"][side]) for side in ("lower", "upper"))
        assert upper == 1.5 and low * (1 - 2.0**-30) < lower < low * (1 - 2.0**-33)
