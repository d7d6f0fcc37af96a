"""Compositions and secret blocks of runs made by hand, accused from what several runs have in common."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.audit import noise_law, search
from refdp.audit.attained import Led
from refdp.audit.charge import Cost, composed
from refdp.audit.isolated import Outcome
from refdp.audit.replay import Finding, Pair, Violation
from refdp.data.records import Records
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Gaussian
from refdp.privacy.curator import Transcript
from tests.audit.by_hand import ADD, QUIET, REPLACE, kinds, machine, pair, some, split, sums

# --- Compositions -----------------------------------------------------------------------------------------------------


def test_a_cost_is_computed_once_of_each_list_of_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def noted(items: Any, *given: Any) -> Cost:
        asked.append((items, *given))
        return composed(items, *given)

    monkeypatch.setattr(search, "composed", noted)
    one, _ = machine(monkeypatch, sums(1.0, mechanism=Gaussian(1.0)), delta=0.5, epsilon=0.25)
    for number in (0, 2):
        one.look(pair(0.25, new=1.0), number)
    assert len(asked) == 1 and asked[0][1:] == (ADD, 0.25, 0.5) and len(one.notes.costs) == 2
    phi = [0.5 * math.erfc(-x / math.sqrt(2)) for x in (0.5 - 0.25, -0.5 - 0.25)]
    exact = phi[0] - math.exp(0.25) * phi[1]
    assert one.notes.costs[0].upper == pytest.approx(exact, rel=1e-3) and not kinds(one)
    assert one.notes.costs[0].upper >= exact and one.notes.worst == []


@pytest.mark.parametrize("paths", [1, 2, 5])
def test_a_composition_is_accused_of_what_all_paths_have_in_common(monkeypatch: pytest.MonkeyPatch, paths: int) -> None:
    """delta below the truth: five runs under numbers a thousand apart; fewer that agree decide nothing."""
    one, _ = machine(monkeypatch, sums(1.0, mechanism=Gaussian(1.0)), delta=0.01, epsilon=0.25)
    numbers: list[int] = []
    real = one._replays

    def replays(given: Pair, on_first: bool, number: int) -> Any:
        numbers.append(number)
        return real(given, on_first, number) if len(numbers) <= paths else None

    monkeypatch.setattr(one, "_replays", replays)
    one.look(pair(0.25, new=1.0), 2)
    assert numbers == [2 + 1000 * k for k in range(min(paths + 1, 5))]
    if paths == 5:
        assert kinds(one) == [("composition", "whole run")] and not one.notes.undecided
        found = one.notes.violations[0]
        assert found.declared == 0.01 and 0.307 < found.observed < 0.3078 and "epsilon 0.25" in found.witness["detail"]
    else:
        assert kinds(one) == [] and len(one.notes.undecided) == 1


def test_a_delta_at_its_claim_is_no_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the rounding of floats."""
    for lower, accused in ((0.25, False), (0.25 * (1 + 0.9e-9), False), (0.25 * (1 + 1.1e-9), True)):
        one, _ = machine(monkeypatch, sums(1.0, mechanism=Gaussian(1.0)), delta=0.25, epsilon=0.25)
        monkeypatch.setattr(one, "_cost", lambda items, lower=lower: Cost(lower, 0.5))
        one.look(pair(0.25, new=1.0), 0)
        assert bool(kinds(one)) == accused and not one.notes.undecided


def test_a_later_path_at_the_claim_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    for second, accused in ((0.25 * (1 + 0.9e-9), False), (0.25 * (1 + 1.1e-9), True)):
        one, _ = machine(monkeypatch, sums(1.0, mechanism=Gaussian(1.0)), delta=0.25, epsilon=0.25)
        costs = iter([0.4, second, 0.4, 0.4, 0.4])
        monkeypatch.setattr(one, "_cost", lambda items, costs=costs: Cost(next(costs), 0.5))
        one.look(pair(0.25, new=1.0), 0)
        assert bool(kinds(one)) == accused and bool(one.notes.undecided) != accused


def test_bad_values_of_a_release_are_accused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> Any:
        raise InvalidParameter("too large")

    monkeypatch.setattr(search, "compare", refused)
    one, _ = machine(monkeypatch)
    assert one.look(pair(0.25), 0) == QUIET and kinds(one) == [("value", "a release")]
    assert one.notes.violations[0].witness["detail"] == "too large"


@pytest.mark.parametrize(("delta", "worst", "loss", "noted"), [
    (0.0, 0.5, -0.75, [0.75]), (0.0, 0.5, 0.25, [0.5]), (0.0, None, 0.25, []), (0.0, math.inf, 0.0, [math.inf]),
    (0.1, math.inf, 0.0, []), (0.1, 2.0, None, [2.0]), (0.0, 0.25, None, [0.25]),
])  # fmt: skip
def test_the_greatest_known_loss_is_noted(
    monkeypatch: pytest.MonkeyPatch, delta: float, worst: float | None, loss: float | None, noted: list[float]
) -> None:
    asked: list[float] = []

    def compared(sides: Any, given: Pair, epsilon: float, found: Any, attain: Any) -> Finding:
        asked.append(epsilon)
        return Finding(loss, worst, ())

    monkeypatch.setattr(search, "compare", compared)
    one, _ = machine(monkeypatch, delta=delta, epsilon=3.0)
    one.look(pair(0.25), 0)
    assert one.notes.worst == noted and asked == [3.0 if delta == 0 else math.inf]


def test_outputs_that_are_led_are_judged_with_the_recorded_run_of_that_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """A led run that fails or raises gives nothing."""
    seen: list[Any] = []

    def attained(led: Any, wanted: Any, recorded: Transcript, sides: Any, given: Pair, enough: float) -> float:
        values = [np.array([7.0])]
        runs = [led(records, Led(values, recorded, target)) for records, target in wanted]
        seen.append((runs, len(wanted), recorded, enough))
        return 0.125

    monkeypatch.setattr(search, "attained", attained)
    for number, total in ((0, 0.75), (1, 0.25)):
        one, _ = machine(monkeypatch)
        assert one._attained([], pair(0.25), number == 0, number, 2.0) == 0.125
        runs, count, recorded, enough = seen[-1]
        assert count == 2 and enough == 2.0 and recorded.entries[0].value.tolist() == [total]
        assert [run.entries[0].value.tolist() for run in runs] == [[0.75], [0.25]]
        assert all(run.entries[0].output.tolist() == [7.0] for run in runs)
    for shown in ({"failed": "x"}, {"raised": (("error", "x"),)}):
        one, _ = machine(monkeypatch, shown=lambda *_, shown=shown: shown)
        one._attained([], pair(0.25), True, 0, 2.0)
        assert seen[-1][0] == [None, None]


def values_of(sides: Any) -> list[list[float]]:
    """Of the first release of each."""
    return [side.entries[0].value.tolist() for side in sides]


def test_what_leaves_and_what_is_spent_is_noted_of_added_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the record, then without it; what a filter says is accused."""

    class Budget:
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def add(self, present: Transcript, absent: Transcript, given: Pair) -> list[Violation]:
            self.seen.append((*(side.entries[0].value.tolist() for side in (present, absent)), given))
            return [Violation("filter", "sum", None, None, None, "", {})]

    for number in (0, 1):
        one, _ = machine(monkeypatch)
        left: list[Any] = []
        monkeypatch.setattr(one.notes.leaving, "add", lambda *sides, left=left: left.append(values_of(sides)))
        one.notes.filters = [Budget(), Budget()]  # type: ignore[list-item]
        given = pair(0.25, new=0.5)
        one.look(given, number)
        assert left == [[[0.75], [0.25]]] and kinds(one) == [("filter", "sum")] * 2
        assert all(budget.seen == [([0.75], [0.25], given)] for budget in one.notes.filters)  # type: ignore[attr-defined]
    one, _ = machine(monkeypatch, relation=REPLACE)
    one.notes.filters = [Budget()]  # type: ignore[list-item]
    one.look(pair(0.25, new=0.5, old=0.75), 0)
    assert kinds(one) == [] and one.notes.filters[0].seen == []  # type: ignore[attr-defined]


def test_a_search_begins_with_nothing_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for its filters, which notes that have some keep."""
    notes = search.Notes()
    found = {name: getattr(notes, name) for name in notes.__dataclass_fields__}
    leaving = found.pop("leaving")
    assert {name for name, value in found.items() if value} == set() and (leaving.left, leaving.going_on) == (0, [])
    counts = ("pairs", "releases", "single", "discrete", "floating", "raised", "shaped", "rearranged", "again", "alike")
    assert all(found[name] == 0 for name in counts)
    given: Any = "a budget"
    monkeypatch.setattr(search, "Spent", lambda one: ("spent", one))
    first, _ = machine(monkeypatch, filters=(given,))
    assert first.notes.filters == [("spent", given)] and first.draws == noise_law.DRAWS and not first.late
    kept: Any = ["kept"]
    second, _ = machine(monkeypatch, filters=(given,), notes=search.Notes(filters=kept))
    assert second.notes.filters == ["kept"]


# --- Secret blocks ----------------------------------------------------------------------------------------------------


def test_a_record_in_one_block_changes_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    one, made = machine(monkeypatch, split())
    assert one.look(pair(0.25, 0.75, new=1.0), 0).worst == pytest.approx(1.0)
    assert one.notes.single == 1 and kinds(one) == [] and [call[0] for call in made.calls][3] == [0.25, 1.0, 0.75]
    cheat, _ = machine(monkeypatch, split(True))
    for number in range(4):
        found = cheat.look(pair(0.25, 0.75, new=1.0), number)
        if kinds(cheat):
            break
    assert kinds(cheat)[0][0] == "block" and kinds(cheat)[0][1] in ("halves 0/half 0", "halves 1/half 1")
    assert found.loss is None and found.worst is None


@pytest.mark.parametrize("number", [0, 1])
def test_one_block_is_replayed_with_coins_of_the_number(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    for given, removed in ((pair(0.25, new=1.0), None if number else 1), (pair(0.25, new=1.0, old=0.5), 1)):
        one, _ = machine(monkeypatch, split(), relation=given.relation)
        sources: list[Any] = []
        real = one._run

        def run(records: Records, source: Any, n: int, real: Any = real, sources: Any = sources) -> Outcome:
            sources.append((source, n))
            return real(records, source, n)

        monkeypatch.setattr(one, "_run", run)
        recorded = one.recorded(given.first() if number == 0 else given.second(), number)
        sides = [recorded.transcript] * 3
        sources.clear()
        one._single(given, recorded, sides[:1], number == 0, number)
        one._single(given, Outcome(Transcript(given.relation, [])), sides, number == 0, number)
        assert sources == [] and one.notes.single == 0
        one._single(given, recorded, sides, number == 0, number)
        ((source, n),) = sources
        target = source.target
        assert (target.removed, target.inserted, target.neighbour, target.late, n) == (removed, 1, True, False, number)
        again = np.random.default_rng([3, number, 1])
        target.blocks.bit_generator.state = np.random.default_rng([3, number, 1]).bit_generator.state
        assert target.block(("partition", (0.5, 0.5))) == int(again.integers(-1, 2)) and one.notes.single == 1


def test_single_blocks_that_fail_or_part(monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = machine(monkeypatch, split())
    recorded = one.recorded(some(0.25, 1.0), 0)
    sides = [recorded.transcript] * 2
    monkeypatch.setattr(one, "_run", lambda *_: Outcome(Transcript(ADD, []), failed="gone"))
    assert one._single(pair(0.25), recorded, sides, True, 0) == [] and one.notes.failed == {"gone"}
    monkeypatch.setattr(
        one, "_run", lambda *_: Outcome(Transcript(ADD, []), parted=("shape", "halves 1/half 1", "why"))
    )
    (found,) = one._single(pair(0.25), recorded, sides, True, 0)
    assert (found.kind, found.release, found.claim, found.witness["detail"]) == (
        "shape",
        "halves 1/half 1",
        "test/claim",
        "why",
    )
    assert kinds(one) == [("shape", "halves 1/half 1")] and one.notes.single == 2
    monkeypatch.setattr(one, "_run", lambda *_: recorded)
    monkeypatch.setattr(one, "_sane", lambda *_: None)
    assert one._single(pair(0.25), recorded, sides, True, 0) == []
