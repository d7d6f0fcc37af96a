"""The page of the audit of a paper: what leads, which finding is drawn, and which runs its figures are of."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import page_replay
from refdp.audit.page import Figure, Page
from refdp.audit.page_replay import drawn_violation, page_of, verdict
from refdp.audit.replay import Finding, Violation
from refdp.audit.verdicts import Row, Verdict
from refdp.errors import InvalidParameter
from refdp.ledger.certificate import Guarantee
from refdp.privacy.events import Relation
from tests.audit.made_pages import SCHEMA, a_pair, violation

# --- The page of a paper ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Params:
    relation: Relation = Relation.ADD_REMOVE
    depth: int = 1
    candidates: str = "data"


def report(violations: tuple[Violation, ...] = (), *, ok: bool = True, delta: float = 0.0, **more: Any) -> Any:
    given = {"claimed": Guarantee(1.5, delta), "ok": ok, "violations": violations, "max_loss": 0.75, "pairs": 7,
             "verdict": Verdict.NOT_FOUND, "coverage": (), "without_loss": 0}  # fmt: skip
    return SimpleNamespace(**{**given, **more})


def test_the_verdict_in_a_line() -> None:
    assert verdict("x", report()) == f"{Verdict.NOT_FOUND}. No violation of (1.5, 0) privacy of x in 7 pairs."
    rows = (Row("a", Verdict.NOT_EXAMINED, "r1", "", False), Row("b", Verdict.NOT_FOUND, "r2", "", True),
            Row("c", Verdict.NOT_EXAMINED, "r3", "", True), Row("d", Verdict.NOT_EXAMINED, "r4", "", True))  # fmt: skip
    open_one = report(ok=False, coverage=rows, verdict=Verdict.NOT_EXAMINED)
    assert verdict("x", open_one).endswith("whether x is (1.5, 0) private is open, since c: r3.")
    for count, words in ((1, "1 violation, first"), (2, "2 violations, first")):
        told = verdict("x", report((violation("loss", "y"), violation())[:count], ok=False, delta=0.25))
        assert f"x is not (1.5, 0.25) private as run: {words} loss at y." in told


def test_chances_lead_only_where_a_loss_is_all_that_is_allowed() -> None:
    def made(given: Any) -> Page:
        return page_of("x", Relation.ADD_REMOVE, given, lambda v: f"line of {v.release}", list, "s 1", "cmd")

    assert "no outcome could be" in made(report()).chances and made(report(delta=0.1)).chances == ""
    one = made(report((violation(declared=1.0, observed=2.0),), ok=False, coverage=(), verdict=Verdict.VIOLATION))
    assert "Some outcome" in one.chances and one.findings[0].source == "line of leaves"
    assert one.facts == [("epsilon", "1.5", "greatest loss 0.75"), ("delta", "0", ""), ("pairs replayed", "", "7")]
    assert one.title == "Audit of x, add-remove neighbours" and one.made.startswith("Settings: s 1. Made by refdp")


def test_runs_without_a_loss_are_counted() -> None:
    def made(count: int) -> Page:
        paper: Any = SimpleNamespace(name="x")
        return page_replay.replay_page(paper, Params(), report(without_loss=count), None, 0, "cmd")

    page_replay_figures = page_replay._figures
    try:
        page_replay._figures = lambda *given: []  # type: ignore[assignment]
        assert len(made(0).facts) == 3
        assert made(2).facts[-1] == ("runs that cannot be replayed", "", "2: no loss stated")
    finally:
        page_replay._figures = page_replay_figures
    assert page_replay.settings(Params()) == "relation add-remove, depth 1, candidates data"


def test_the_violation_that_is_drawn_has_the_greatest_finite_loss_and_a_small_pair() -> None:
    pair = a_pair(SCHEMA)
    shown = pair.witness()

    def one(kind: str, loss: Any, **more: Any) -> Violation:
        return replace(violation(kind, loss=loss), witness={**shown, **more})

    small, great, endless = one("cost", 0.5), one("cost", 0.75), one("cost", math.inf)
    zero, half = one("cost", 0.0), one("loss", -0.5)
    none, below, lower = one("cost", None), one("loss", -1.0), one("cost", -2.0)
    for given, due in (([zero, half], zero), ([half, zero], zero),
                       ([small, great], great), ([great, small], great), ([endless, small], small),
                       ([endless], endless), ([none, endless], none), ([lower, below], below),
                       ([one("assignment", 9.0), small], small)):  # fmt: skip
        found = drawn_violation(given)
        assert found is not None and (found[0].kind, found[0].loss) == (due.kind, due.loss)
        assert found[1].witness() == shown
    bare = violation()
    assert drawn_violation([bare]) is None and drawn_violation([]) is None
    big = one("cost", 1.0, base_y=[0.0] * 201, base_x=[[0.0, 0.0]] * 201)
    assert drawn_violation([big]) is None and drawn_violation([big, small])[0] is small  # type: ignore[index]
    most = one("cost", 1.0, base_y=[0.0] * 200, base_x=[[0.0, 0.0]] * 200)
    none = one("cost", 1.0, base_y=[], base_x=[], position=0)
    assert drawn_violation([most])[0] is most and drawn_violation([none])[0] is none  # type: ignore[index]


def test_figures_compare_what_states_both_figures() -> None:
    asked: list[Any] = []
    real = page_replay.ratio_figure
    try:
        page_replay.ratio_figure = lambda rows: asked.append(rows) or "bars"  # type: ignore[assignment,return-value,func-returns-value]
        both = [violation(), violation("loss", "y", 0.0, 3.0), violation(declared=None), violation(observed=None)]
        assert page_replay.compared(both) == ["bars"] and page_replay.compared(both[2:]) == []  # type: ignore[comparison-overlap]
    finally:
        page_replay.ratio_figure = real
    assert asked == [[("cost, leaves", 1.0, 2.0), ("loss, y", 0.0, 3.0)]]


def test_evidence_has_the_figures_and_the_detail() -> None:
    found = page_replay.shown(violation(detail="why"), "line")
    assert (found.evidence, found.source, found.kind, found.where) == (
        "declared 1, observed 2, loss 0.5; why", "line", "cost", "leaves")  # fmt: skip
    assert page_replay.shown(violation(declared=None), "").evidence == "loss 0.5"
    assert page_replay.shown(violation(observed=None), "").evidence == "loss 0.5" and found.witness is None


# --- Runs of the figures ----------------------------------------------------------------------------------------------


def test_losses_of_runs_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loss that is infinite on the second side is one of outputs that the first cannot have."""
    told: list[tuple[int, int]] = []
    seeds: list[Any] = []
    given = iter([0.5, math.inf, None, 0.25, math.inf, -math.inf])

    def audited(train: Any, pair: Any, source: Any, epsilon: float, *, on_first: bool = True) -> Finding:
        assert train == ("train", paper, Params())
        seeds.append((source, on_first, epsilon))
        return Finding(next(given), 1.0, ())

    monkeypatch.setattr(page_replay, "trainer", lambda *given: ("train", *given))
    monkeypatch.setattr(page_replay, "RUNS", 3)
    monkeypatch.setattr(page_replay, "audit_pair", audited)
    monkeypatch.setattr(page_replay, "source_for", lambda params, generator: int(generator.integers(2**60)))
    paper: Any = SimpleNamespace(train=None)
    first, second = page_replay.losses_on(paper, Params(), a_pair(SCHEMA), 8, lambda *done: told.append(done))
    assert np.array_equal(first, [0.5, math.inf, math.nan], equal_nan=True)
    assert second.tolist() == [0.25, -math.inf, -math.inf]
    assert told == [(n, 6) for n in range(1, 7)]
    due = [int(np.random.default_rng([8, 11, side, run]).integers(2**60)) for side in (0, 1) for run in range(3)]
    assert seeds == [(seed, place < 3, math.inf) for place, seed in enumerate(due)]


def test_the_pair_of_the_greatest_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    worst = {"a": 1.0, "b": None, "c": 3.0, "d": 2.0, "e": 0.5}
    seeds: list[int] = []

    def audited(train: Any, pair: Any, source: Any, epsilon: float) -> Finding:
        seeds.append(source)
        assert epsilon == math.inf
        return Finding(0.0, worst[pair], ())

    monkeypatch.setattr(page_replay, "audit_pair", audited)
    monkeypatch.setattr(page_replay, "source_for", lambda params, generator: int(generator.integers(2**60)))
    paper: Any = SimpleNamespace(train=None)
    assert page_replay.worst_pair(paper, Params(), ["a", "b", "c", "d"], 8) == "c"  # type: ignore[list-item,comparison-overlap]
    assert page_replay.worst_pair(paper, Params(), ["b"], 8) == "b"  # type: ignore[list-item,comparison-overlap]
    assert page_replay.worst_pair(paper, Params(), ["b", "e"], 8) == "e"  # type: ignore[list-item,comparison-overlap]
    assert set(seeds) == {int(np.random.default_rng([8, 7]).integers(2**60))}


def test_a_curve_of_losses_has_thresholds_about_the_claim() -> None:
    first, second = np.array([-1.0, 0.5, 2.0]), np.array([-2.0, -0.5])
    for epsilon, reach in ((1.5, 3.0), (math.inf, 10.0)):
        found = page_replay.loss_curve(first, second, epsilon)
        thresholds = np.linspace(-reach, reach, 41)
        assert found.false_alarm == pytest.approx([(first < t).mean() for t in thresholds])
        assert found.confidence == 0.99 and found.statistic == "the exact privacy loss"
        assert len(found.missed) == 41


def test_whether_a_run_states_a_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    paper: Any = SimpleNamespace(train=None)
    seeds: list[int] = []
    monkeypatch.setattr(page_replay, "source_for", lambda params, g: seeds.append(int(g.integers(2**60))))
    for loss, due in ((0.0, True), (0.5, True), (None, False)):
        asked: list[Any] = []
        monkeypatch.setattr(page_replay, "trainer", lambda *given: ("train", *given))
        monkeypatch.setattr(
            page_replay,
            "audit_pair",
            lambda *given, loss=loss, asked=asked: asked.append(given) or Finding(loss, 1.0, ()),
        )
        assert page_replay._can_follow(paper, Params(), a_pair(SCHEMA), 3) is due
        assert asked[0][0] == ("train", paper, Params()) and asked[0][3] == math.inf

    def refused(*_: Any) -> Any:
        raise InvalidParameter("no")

    monkeypatch.setattr(page_replay, "audit_pair", refused)
    assert page_replay._can_follow(paper, Params(), a_pair(SCHEMA), 3) is False
    assert set(seeds) == {int(np.random.default_rng([3, 13]).integers(2**60))}


def figures_of(monkeypatch: pytest.MonkeyPatch, given: Any, *, able: Any = None, change: Any = "change",
               losses: Any = ((0.5, -0.25), (0.75, -1.0)), cells: Any = "cells") -> tuple[Any, list[Any]]:  # fmt: skip
    """The figures of a paper's page, and what was asked for them."""
    asked: list[Any] = []

    def noted(name: str, answer: Any) -> Any:
        def called(*more: Any) -> Any:
            asked.append((name, *more))
            return answer

        return called

    for name, answer in (("exact_change", change), ("outcomes", cells), ("exact_figure", Figure("exact", "", "")),
                         ("worst_pair", "the worst"), ("ratio_figure", Figure("ratio", "", "")),
                         ("losses_on", tuple(map(np.array, losses))), ("loss_figure", Figure("losses", "", "")),
                         ("curve_figure", Figure("curve", "", "The band.")), ("loss_curve", "curve")):  # fmt: skip
        monkeypatch.setattr(page_replay, name, noted(name, answer))

    def neighbours(records: Any, relation: Relation, seed: int) -> Any:
        assert records is None and relation is Relation.ADD_REMOVE
        return iter(range(seed, seed + 100))

    monkeypatch.setattr(page_replay, "neighbours", neighbours)
    monkeypatch.setattr(page_replay, "trainer", lambda paper, params: ("train", params))
    monkeypatch.setattr(page_replay, "readings", lambda paper, params: [params, replace(params, candidates="uniform")])
    monkeypatch.setattr(
        page_replay, "_can_follow", lambda paper, one, pair, seed: able is None or one.candidates == able
    )
    paper: Any = "paper"
    return page_replay._figures(paper, Params(), given, None, 40, lambda done, total: None), asked


def test_without_a_finding_figures_are_of_the_worst_of_some_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    found, asked = figures_of(monkeypatch, report())
    assert [one.title for one in found] == ["exact", "Trade-off curve of whole runs", "losses"]
    calls = {name: more for name, *more in asked}
    assert calls["worst_pair"] == ["paper", Params(), list(range(40, 46)), 40]
    assert calls["exact_change"] == [("train", Params()), "the worst", ""] and calls["outcomes"] == ["change"]
    assert calls["exact_figure"] == ["change", "cells", "the pair of the greatest loss"]
    assert calls["losses_on"][:4] == ["paper", Params(), "the worst", 40]
    one, other, epsilon = calls["loss_curve"]
    assert (one.tolist(), other.tolist(), epsilon) == ([0.5, -0.25], [0.75, -1.0], 1.5)
    assert calls["curve_figure"] == ["curve", 1.5, 0.0]
    losses, weights, epsilon, caption = calls["loss_figure"]
    assert losses.tolist() == [0.5, -0.25] and weights is None and epsilon == 1.5 and "of 2 whole runs" in caption
    assert found[1].caption == ("Runs on the pair of the greatest loss. Whole runs with ordinary noise lost 1 at most. "
                                "The band.")  # fmt: skip


def test_figures_of_a_finding_are_of_its_pair_and_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    told = replace(violation(loss=0.5), witness=a_pair(SCHEMA).witness() | {"params": {"depth": 5}})
    found, asked = figures_of(monkeypatch, report((told,), ok=False), able="uniform")
    assert [one.title for one in found] == ["ratio", "exact", "Trade-off curve of whole runs", "losses"]
    calls = {name: more for name, *more in asked}
    assert calls["exact_change"][0] == ("train", Params(depth=5)) and calls["exact_change"][2] == "leaves"
    assert calls["exact_figure"][2] == 'the pair of the finding "cost at leaves"' and "worst_pair" not in calls
    assert calls["losses_on"][1] == Params(depth=5, candidates="uniform")
    assert "with candidates uniform instead, since the printed reading cannot be replayed" in found[2].caption
    assert "That is below the claim" in found[2].caption
    over, _ = figures_of(monkeypatch, report((told,), ok=False), losses=((1.5, 1.75), (0.0, 0.0)))
    assert "below the claim" not in over[2].caption and "instead" not in over[2].caption
    at, _ = figures_of(monkeypatch, report((told,), ok=False), losses=((1.5, 0.0), (0.0, 0.0)))
    assert "below the claim" in at[2].caption


def test_figures_that_cannot_be_drawn_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert figures_of(monkeypatch, report((violation(),), ok=False))[0] == [Figure("ratio", "", "")]
    exact = [Figure("exact", "", "")]
    assert figures_of(monkeypatch, report(), able="none")[0] == exact
    for losses in (((0.5, math.nan), (0.0, 0.0)), ((0.5, 0.0), (math.nan, 0.0))):
        assert figures_of(monkeypatch, report(), losses=losses)[0] == exact
    for lacking in ({"change": None}, {"cells": None}):
        assert len(figures_of(monkeypatch, report(), **lacking)[0]) == 2
