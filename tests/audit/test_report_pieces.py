"""Pieces of the audit of a paper by themselves: what is asked of each, in which order, and what is told of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import report
from refdp.audit.replay import SLACK, Finding, Pair
from refdp.audit.report import Aside, Report, departure, merged, neighbours
from refdp.audit.verdicts import Row, Verdict
from refdp.data.records import make_records
from refdp.ledger.certificate import Guarantee
from refdp.noise.mechanisms import Laplace
from refdp.privacy.events import Plan, Relation, Sequential, expand
from refdp.privacy.sources import SampleSource
from tests.audit.made_papers import ADD, Params, a_paper, release, violation

# --- What is told -----------------------------------------------------------------------------------------------------


def test_a_report_as_plain_data() -> None:
    rows = (Row("a", Verdict.NOT_FOUND, "why", "much", True), Row("b", Verdict.NOT_EXAMINED, "why", "", False))
    one = Report(7, Guarantee(math.inf, 0.25), math.inf, (violation(),), 3, rows)
    told = one.to_dict()
    assert told["coverage"] == [row.to_dict() for row in rows] and told["violations"] == [violation().to_dict()]
    assert (told["pairs"], told["claimed_epsilon"], told["claimed_delta"], told["max_loss"]) == (7, "inf", 0.25, "inf")
    assert told["without_loss"] == 3 and told["ok"] is one.ok and told["verdict"] == str(one.verdict)
    assert Report(1, Guarantee(1.0, 0.0), None, ()).without_loss == 0


def test_losses_of_a_run_with_and_without_a_delta() -> None:
    assert report._loss(Finding(-2.0, 1.5, ()), True) == 2.0 and report._loss(Finding(1.0, 1.5, ()), True) == 1.5
    assert report._loss(Finding(-1.0, 1.5, ()), False) == 1.0
    for loss, worst in ((None, 1.0), (1.0, None), (None, None)):
        assert report._loss(Finding(loss, worst, ()), True) is None


def test_the_worst_violation_of_each_kind_stays() -> None:
    """By the share above what is declared, then the loss, then the smaller pair; sorted by loss, kind and release."""
    small, large = {"base_y": [1.0]}, {"base_y": [1.0, 2.0, 3.0]}
    ratio = [violation(declared=4.0, observed=8.0), violation(declared=1.0, observed=3.0)]
    loss = [violation(loss=0.5), violation(loss=None), violation(loss=0.75)]
    size = [violation(**large), violation(**small), violation(**large)]
    assert merged(ratio) == (ratio[1],) and merged(ratio[::-1]) == (ratio[1],)
    assert merged(loss) == (loss[1],) and merged([loss[0], loss[2]]) == (loss[2],) and merged(size) == (size[1],)
    zero, bare = violation(declared=0.0, observed=1.0), violation(declared=None, observed=None)
    assert merged([ratio[1], zero]) == (ratio[1],) and merged([ratio[1], bare]) == (bare,)
    assert merged([violation(declared=0.5, observed=2.0), zero])[0].declared == 0.5
    first = violation()
    assert merged([first, violation()])[0] is first
    order = [violation("b", "y", loss=2.0), violation("a", "z", loss=0.5), violation("c", "x", loss=0.5),
             violation("c", "y", loss=0.5), violation("a", "w", loss=None), violation("b", "v", loss=None)]  # fmt: skip
    assert merged(order[::-1]) == tuple(order)
    assert merged([violation(loss=-1.0), violation("other", loss=0.0)])[0].kind == "other"


def test_published_objects_are_models_here() -> None:
    same = violation("loss")
    assert report.of_model(same) is same
    given = violation("published object", "result.trees", detail="z", seen=1)
    told = report.of_model(given)
    assert (told.kind, told.release) == ("model", "published model")
    assert told.witness == {"detail": "z", "seen": 1}
    assert report.of_model(violation("published object", "result.trees")).witness == {"detail": "result.trees"}


def test_witnesses_carry_the_parameters_of_their_run() -> None:
    given = Finding(1.0, 2.0, (violation(seen=1), violation("loss")))
    told = report._told(Params(depth=4), given)
    params = {"relation": ADD, "trees": 6, "depth": 4, "candidates": "uniform"}
    assert [v.witness for v in told.violations] == [{"seen": 1, "params": params}, {"params": params}]
    assert (told.loss, told.worst) == (1.0, 2.0) and isinstance(report._told(Params(), Aside(None, None, ())), Aside)


def test_the_first_release_that_differs_from_the_plan() -> None:
    a, b, c = release("a"), release("b"), release("c")
    plan = Sequential((a, b, c))
    assert departure(plan, plan) == ""
    assert departure(Sequential((a, release("b", 2.0), release("c", 2.0))), plan) == "b"
    assert departure(Sequential((a, release("d"), c)), plan) == "b"
    assert departure(Sequential((a, b)), plan) == "c" == departure(plan, Sequential((a, b)))
    assert departure(Sequential((a,)), plan) == "b" and departure(Sequential(()), plan) == "a"
    assert departure(plan, Sequential(())) == "a" and departure(Sequential((a, Sequential((b, c)))), plan) == "scopes"


def test_settings_are_capped_where_there_are_such() -> None:
    assert report._capped(Params(), {"trees": 2, "depth": 2, "owners": 1}) == Params(trees=2, depth=1)
    assert report._capped(Params(), {}) == Params() and report._capped(Params(), {"depth": 0}).depth == 0


def test_seeds_of_runs_differ_by_sign_too() -> None:
    numbers = [report._seed(5, number).integers(2**60) for number in (0, 1, -1, 2, -2)]
    assert len(set(numbers)) == 5 and numbers[2] == np.random.default_rng([5, 1, True]).integers(2**60)
    assert numbers[1] == np.random.default_rng([5, 1, False]).integers(2**60)
    assert numbers[0] == np.random.default_rng([5, 0, False]).integers(2**60) and not report._Seen().established


def test_progress_counts_from_one() -> None:
    told: list[tuple[int, int]] = []
    findings = [Finding(None, None, ()) for _ in range(3)]
    assert list(report._watched(findings, 9, lambda done, total: told.append((done, total)))) == findings
    assert told == [(1, 9), (2, 9), (3, 9)]


# --- Pairs ------------------------------------------------------------------------------------------------------------


def test_pairs_come_from_the_schemas_in_turn_or_from_real_records(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def pairs(schema: Any, relation: Relation, seed: int, size: int) -> Any:
        asked.append((schema, relation, seed, size))
        for number in range(9):
            yield seed, number

    monkeypatch.setattr(report, "pairs", pairs)
    stream = neighbours(None, ADD, 5, 4)
    assert [next(stream) for _ in range(7)] == [(5, 0), (6, 0), (7, 0), (5, 1), (6, 1), (7, 1), (5, 2)]
    assert asked == [(schema, ADD, 5 + turn, 4) for turn, schema in enumerate(report.SCHEMAS)]
    asked.clear()
    next(neighbours(None, ADD, 5))
    assert asked[0][3] == 12
    real = make_records(report.SCHEMAS[0], np.zeros((3, 3)), np.zeros(3))
    monkeypatch.setattr(report, "from_records", lambda *given: iter([given, "second"]))
    stream = neighbours(real, ADD, 8, 2)
    assert next(stream) == (real, ADD, 8, 2) and next(stream) == "second"
    monkeypatch.setattr(report, "sized", lambda *given: given)
    assert report._sized(None, ADD, 9) == (report.SCHEMAS[0], ADD, 9, report.SIZES)
    found = list(report._sized(real, ADD, 9))
    assert found == [(real, ADD, 9 + size, max(size, 1)) for size in report.SIZES]


def test_constants_of_an_audit() -> None:
    assert report.SIZES == (0, 15, 50, 100, 1000) and report.WORST_PAIRS == 8 and report.SPENDING_PAIRS == 9
    assert report.SMALL == {"trees": 6, "trees_per_ensemble": 3, "depth": 3, "bins": 8} and report.DRAWS == 400
    assert report.TINY == ({"trees": 1, "depth": 1, "owners": 1}, {"trees": 2, "depth": 2, "owners": 2})
    assert (report.SMALL_OWNERS, report.SMALL_MINIMUM) == (3, 2)
    bounds = [(one.low, one.high) for one in report.FEATURES[:2]]  # type: ignore[union-attr]
    assert bounds == [(0.0, 1.0), (-500.0, 500.0)]
    first: Any = report.SCHEMAS[0].target
    assert (first.low, first.high) == (-1.0, 1.0)


# --- The budget -------------------------------------------------------------------------------------------------------


def budgeted(monkeypatch: pytest.MonkeyPatch, costs: list[float], *, claimed: float = 1.0, established: float = 1.0,
             planned: Any = None, events: Any = None, filtered: bool = False,
             **more: Any) -> tuple[Any, Any, Any]:  # fmt: skip
    plan = Sequential((release("a"),)) if planned is None else planned
    asked: list[Any] = []
    pair = SimpleNamespace(base=SimpleNamespace(schema="schema"), witness=lambda: {"seen": 1})

    def stream(records: Any, relation: Relation, seed: int) -> Any:
        asked.append(seed)
        yield pair

    left = iter(costs)
    monkeypatch.setattr(report, "neighbours", stream)
    monkeypatch.setattr(report, "_events", lambda *given: iter(map(expand, [plan] if events is None else events)))
    monkeypatch.setattr(report, "_cost", lambda plan, claimed: asked.append(plan) or next(left))
    monkeypatch.setattr(report.spending, "has_filter", lambda params: filtered)
    seen = report._Seen()
    paper = a_paper(Guarantee(claimed, 0.0), established=Guarantee(established, 0.0), module=more,
                    plan=lambda params, schema: Plan(ADD, plan))  # fmt: skip
    found = report._budget(paper, Params(), None, 30, seen)
    assert isinstance(found, Aside) and asked[0] == 33
    return found, seen, asked[1:]


def test_what_runs_cost_is_held_against_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    for cost, over in ((0.5, False), (1.0, False), (1 + 0.9 * SLACK, False), (1 + 1.1 * SLACK, True), (3.0, True)):
        found, seen, asked = budgeted(monkeypatch, [cost])
        assert [v.kind for v in found.violations] == ["budget"] * over and seen.established and len(asked) == 1
        if over:
            (one,) = found.violations
            assert (one.release, one.declared, one.observed, one.witness) == ("whole run", 1.0, cost, {"seen": 1})


def test_every_different_event_is_charged_and_the_greatest_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Sequential((release("a"),))
    more = Sequential((release("a"), release("b")))
    found, seen, asked = budgeted(monkeypatch, [0.5, 2.0], events=[plan, plan, more, plan, more])
    assert [one.event for one in asked] == [expand(plan), expand(more)] and not seen.established
    assert [(v.kind, v.release, v.observed) for v in found.violations] == [("budget", "whole run", 2.0),
                                                                            ("plan", "b", None)]  # fmt: skip
    found, _, _ = budgeted(monkeypatch, [0.5, 0.5], events=[more, plan])
    assert [(v.kind, v.release, v.witness) for v in found.violations] == [("plan", "b", {"seen": 1})]


def test_a_filter_covers_what_is_planned_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seen, _ = budgeted(monkeypatch, [3.0], filtered=True)
    assert found.violations == () and seen.established
    for established in (1 + 0.9 * SLACK, 1 + 1.1 * SLACK):
        found, seen, _ = budgeted(monkeypatch, [3.0], filtered=True, established=established)
        assert seen.established == (established < 1 + SLACK) == (found.violations == ())
    odd = Sequential((release("b"),))
    found, seen, _ = budgeted(monkeypatch, [3.0], filtered=True, events=[odd])
    assert [v.kind for v in found.violations] == ["budget", "plan"] and not seen.established


@pytest.mark.parametrize(("established", "due"), [(0.5, True), (1 + 0.9 * SLACK, True), (1 + 1.1 * SLACK, False)])
def test_owners_with_curators_of_their_own_have_no_budget_here(
    monkeypatch: pytest.MonkeyPatch, established: float, due: bool
) -> None:
    found, seen, asked = budgeted(monkeypatch, [], established=established, CURATORS=True)
    assert found.violations == () and seen.established is due and asked == []


def test_events_of_runs_with_other_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    draws: list[int] = []

    def source_for(params: Any, generator: np.random.Generator) -> Any:
        draws.append(int(generator.integers(2**60)))
        return SampleSource(generator)

    def train(params: Any, records: Any, curator: Any) -> Any:
        assert records == "base"
        curator.release("a", Laplace(1.0), np.zeros(1), sensitivity=release("a").sensitivity)

    monkeypatch.setattr(report, "source_for", source_for)
    pair: Any = SimpleNamespace(base="base")
    paper: Any = SimpleNamespace(train=train)
    events = list(report._events(paper, Params(), pair, 6))
    assert len(events) == 1 + report.PROBES == len(draws)
    assert draws == [int(report._seed(6, -3 - 1000 * place).integers(2**60)) for place in range(len(draws))]
    assert all(event == events[0] for event in events) and events[0] != Sequential(())


@pytest.mark.parametrize(("quick", "due"), [(1.0, [True]), (1 + 0.9 * SLACK, [True]), (1 + 1.1 * SLACK, [True, False])])
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_costly_methods_are_asked_only_where_quick_ones_do_not_clear(
    monkeypatch: pytest.MonkeyPatch, quick: float, due: list[bool], delta: float
) -> None:
    asked: list[Any] = []

    def account(plan: Any, *, delta: float, quick: bool = False, both: bool | None = None) -> Any:
        asked.append((quick, delta, both))
        return SimpleNamespace(epsilon=given if quick else 0.5)

    given = quick
    monkeypatch.setattr(report, "account", account)
    plan: Any = "plan"
    assert report._cost(plan, Guarantee(1.0, delta)) == (quick if len(due) == 1 else 0.5)
    assert asked == [(True, delta, None), (False, delta, delta > 0)][: len(due)]


def test_training_is_called_with_its_parameters() -> None:
    called: Callable[..., Any] = lambda *given: given  # noqa: E731
    paper: Any = SimpleNamespace(train=called)
    records: Any = "records"
    curator: Any = "curator"
    assert report.trainer(paper, "params")(records, curator) == ("params", "records", "curator")  # type: ignore[comparison-overlap]
    assert replace(Params(), depth=2).depth == 2 and isinstance(Pair, type)
