"""Events from replayed losses, piece by piece, with chosen losses, outputs and events."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from refdp.audit import synthesis
from refdp.audit.binomial import Counts, clopper_pearson
from refdp.audit.replay import Finding
from refdp.audit.runs import seed_of
from refdp.audit.synthesis import Candidate, Columns, Synthesised, Told, best_of, confirm, forecast, synthesise, told
from tests.audit.by_hand import pair


@dataclass(frozen=True)
class Text:
    text: str

    def to_json(self) -> str:
        return self.text


def candidate(train: Any = None, **more: Any) -> Candidate:
    given: dict[str, Any] = {"train": train, "pair": pair(0.25, new=1.0), "source": lambda seed: seed, "epsilon": 0.5,
                             "delta": 0.125}  # fmt: skip
    return Candidate(**{**given, **more})


def test_runs_on_both_sides_have_seeds_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "Curator", lambda source, relation: source)
    one = candidate(lambda records, seed: Text(f'{{"n": {records.size}, "seed": {seed % 2**40}}}'))
    first, second = one.sides(5, 3)
    assert [tuple(run.values()) for run in first] == [(2, seed_of(5, k) % 2**40) for k in (0, 2, 4)]
    assert [tuple(run.values()) for run in second] == [(1, seed_of(5, k) % 2**40) for k in (1, 3, 5)]


def test_chances_of_replayed_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """By side and run; none where no loss is stated. Their seeds are those of the published runs."""
    losses = iter([0.5, None, -1.0, 0.0, math.inf, -math.inf])
    asked: list[Any] = []

    def audited(train: Any, given: Any, source: Any, epsilon: float, *, on_first: bool) -> Finding:
        asked.append((source, on_first, epsilon))
        return Finding(next(losses), 1.0, ())

    monkeypatch.setattr(synthesis, "audit_pair", audited)
    found = told(candidate(), 7, 3)
    assert np.array_equal(found.chances, [[expit(0.5), math.nan, expit(-1.0)], [0.5, 1.0, 0.0]], equal_nan=True)
    assert asked == [(seed_of(7, 2 * run + side), side == 0, math.inf) for side in (0, 1) for run in range(3)]
    assert found.stated == pytest.approx(5 / 6)
    assert np.array_equal(found.targets(), [[expit(0.5), 1.0, expit(-1.0)], [0.5, 1.0, 0.0]])
    assert Told(np.array([[0.5], [math.nan]])).targets().tolist() == [[0.5], [0.0]]


@pytest.mark.parametrize("swap", [True, False])
def test_the_excess_is_that_of_the_worse_direction(swap: bool) -> None:
    chances = np.array([[0.9, 0.8], [0.5, 0.25]])
    given = 1 - chances if swap else chances
    due = sum(max(p - math.exp(0.5) * (1 - p), 0) for p in chances.ravel()) * 2 / 4 - 0.125
    assert Told(given).excess(0.5, 0.125) == pytest.approx(due)
    assert Told(np.array([[0.5, math.nan], [0.5, 0.5]])).excess(0.5, 0.125) == synthesis.UNSTATED == 0.15
    assert (synthesis.RANKING, synthesis.LEARNING) == (4, 160)


def test_candidates_by_their_excess(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    shares = {0.5: 0.7, 0.25: 0.95, 0.75: 0.95, 1.0: 0.8}

    def noted(one: Candidate, seed: int, runs: int) -> Told:
        asked.append((seed, runs))
        return Told(np.full((2, 2), shares[one.epsilon]))

    monkeypatch.setattr(synthesis, "told", noted)
    all_of = [candidate(epsilon=epsilon, delta=0.0) for epsilon in shares]
    excess = [2 * (p - math.exp(e) * (1 - p)) for e, p in shares.items()]
    order = sorted(range(4), key=lambda k: -excess[k])
    for keep in (1, 2, 9):
        assert best_of(all_of, 3, keep) == [all_of[k] for k in order][:keep]
    assert set(asked) == {(3, 4)}
    same = [candidate(epsilon=0.5, pair=pair(0.25)), candidate(epsilon=0.5)]
    assert best_of(same, 3, 2) == same


def test_numbers_by_their_paths_and_how_many_there_are() -> None:
    rows = Columns(("b", "a")).rows([{"a": 1.0, "b": 2.0, "c": 9.0}, {"a": 3.0}])
    assert np.array_equal(rows, [[2.0, 1.0, 3.0], [math.nan, 3.0, 1.0]], equal_nan=True)


class Regression:
    """What is learnt from, and by what."""

    made: list[dict[str, Any]] = []

    def __init__(self, **named: Any) -> None:
        Regression.made.append(named)

    def fit(self, rows: Any, chances: Any) -> Regression:
        Regression.made.append({"rows": rows.tolist(), "chances": chances.tolist()})
        return self

    def predict(self, rows: Any) -> Any:
        return [int(row[0]) for row in rows]


def test_a_regression_of_the_chances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sklearn.ensemble.HistGradientBoostingRegressor", Regression)
    limits: list[int] = []
    import threadpoolctl

    real = threadpoolctl.threadpool_limits
    monkeypatch.setattr(threadpoolctl, "threadpool_limits", lambda count: limits.append(count) or real(count))
    Regression.made.clear()
    rows = np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]])
    learnt = synthesis.regression(rows, np.array([[0.1, 0.2], [0.3, 0.4]]))
    options, given = Regression.made
    assert options == {"max_iter": 80, "max_leaf_nodes": 15, "learning_rate": 0.1, "random_state": 0}
    assert given == {"rows": [[1], [2], [3], [4]], "chances": [0.1, 0.2, 0.3, 0.4]} and limits == [1]
    found = learnt(np.array([[5.0], [6.0]]))
    assert found.tolist() == [5.0, 6.0] and found.dtype == np.float64 and learnt.learnt


def choice(likelier: float, rarer: float, index: int | None = None, swapped: bool = False) -> Any:
    statistic = SimpleNamespace(index=index) if index is not None else SimpleNamespace()
    event = SimpleNamespace(words="the event", statistic=statistic)
    return SimpleNamespace(likelier=likelier, rarer=rarer, event=event, swapped=swapped)


@pytest.mark.parametrize("replayed", [True, False])
@pytest.mark.parametrize("best", [0, 1])
def test_the_event_that_promises_most_is_fixed(monkeypatch: pytest.MonkeyPatch, replayed: bool, best: int) -> None:
    """Learnt from the first half of the runs; chosen on all of them."""
    asked: dict[str, Any] = {}
    both = [choice(0.9, 0.1), choice(0.5, 0.25)][:: 1 if best == 0 else -1]

    def choose(*given: Any, **named: Any) -> Any:
        asked["choose"] = given, named
        return tuple(both)

    def regression(rows: Any, chances: Any) -> Any:
        asked["regression"] = [side.tolist() for side in rows], chances.tolist()
        return "learnt"

    chances = np.array([[0.6, 0.7, 0.8], [0.3, 0.2, 0.1]])
    monkeypatch.setattr(
        synthesis, "told", lambda one, seed, runs: asked.setdefault("told", (seed, runs)) and Told(chances)
    )
    monkeypatch.setattr(synthesis, "regression", regression)
    monkeypatch.setattr(synthesis, "choose", choose)
    first, second = [{"a": 1.0}, {"a": 2.0}, {"a": 3.0}], [{"a": 4.0}, {"b": 5.0}, {"a": 6.0}]
    monkeypatch.setattr(Candidate, "sides", lambda self, seed, runs: (first, second))
    found = synthesise(candidate(), 9, 3, 400, 1e-3, replayed=replayed, low_bits=True)
    assert found.columns.paths == ("a", "b") and found.choice is both[best] and found.instrumented == 6
    assert found.promised == clopper_pearson(Counts(360, 40, 400), 0.125, 1e-3)
    assert found.stated == (1.0 if replayed else 0.0) and asked.get("told") == ((9, 3) if replayed else None)
    rows, targets = asked["regression"]
    assert [[row[0] for row in side] for side in rows] == [[1.0], [4.0]] and targets == (
        [[0.6], [0.3]] if replayed else [[1.0], [0.0]]
    )
    (one, other, tested, delta, error), named = asked["choose"]
    assert len(one) == len(other) == 3 and (tested, delta, error) == (400, 0.125, 1e-3)
    assert named == {"low_bits": True, "further": ("learnt",)}


def test_forecasts_are_bounds_of_expected_counts() -> None:
    assert forecast(choice(0.7504, 0.2496), 0.1, 1000, 0.01) == clopper_pearson(Counts(750, 250, 1000), 0.1, 0.01)


@pytest.mark.parametrize(("index", "name"), [(None, ""), (0, ", output 0: x"), (1, ", output 1: y"), (2, "")])
def test_an_event_is_told_by_the_path_of_its_output(index: int | None, name: str) -> None:
    for swapped, side in ((False, "first"), (True, "second")):
        one = Synthesised(Columns(("x", "y")), choice(0.5, 0.25, index, swapped), 1.0, 2, 1.0)
        assert one.words == f"the event{name}, {side} side likelier"


def test_fresh_runs_test_the_one_event(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def sides(self: Candidate, seed: int, runs: int) -> Any:
        asked.append((seed, runs))
        return [{"a": 1.0}] * 5 + [{"a": 0.0}], [{"a": 0.0}] * 4 + [{"a": 1.0}] * 2

    monkeypatch.setattr(Candidate, "sides", sides)
    event: Any = SimpleNamespace(sides=lambda first, second: (first[:, 0] > 0.5, second[:, 0] > 0.5))
    found = confirm(candidate(), Synthesised(Columns(("a",)), event, 1.0, 2, 1.0), 4, 6, 0.25)
    assert asked == [(4, 6)] and found.counts == Counts(5, 2, 6)
    assert found.lower == clopper_pearson(Counts(5, 2, 6), 0.125, 0.25)
