"""Which runs are recorded again where a trainer's runs release different things, and what is said of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from refdp.audit import adaptive_runs
from refdp.audit.adaptive_runs import (
    BASE,
    PAIRS,
    PROBES,
    RUNS,
    described,
    differ,
    is_adaptive,
    missed,
    more_runs,
    probed,
)


class Searching:
    """Stands for a search: what recorded runs released, by number, and what was asked of it."""

    def __init__(self, known: Any, outcomes: Any = ()) -> None:
        self.notes = SimpleNamespace(again=0, alike=0, events=known)
        self.outcomes = list(outcomes)
        self.recordings: list[Any] = []
        self.looks: list[Any] = []

    def recorded(self, base: Any, number: int) -> Any:
        self.recordings.append((base, number))
        return self.outcomes[len(self.recordings) - 1]

    def look(self, pair: Any, number: int) -> None:
        self.looks.append((pair, number))


def ran(event: Any, raised: Any = (), failed: str = "") -> Any:
    return SimpleNamespace(event=event, raised=raised, failed=failed)


FEWEST: Any = SimpleNamespace(base="few records")


def test_released_things_differ_if_one_is_another_than_the_first() -> None:
    assert differ("aab") and differ("ba") and not differ("aaa") and not differ("a") and not differ("")


def test_probes_are_run_only_where_the_known_runs_are_alike() -> None:
    def never() -> Any:
        raise AssertionError
        yield

    assert probed(["a", "b"], never()) == ["a", "b"]
    assert probed(["a", "a"], iter("ac")) == ["a", "a", "a", "c"] and probed([], iter("c")) == ["c"]


def test_runs_that_ended_well_are_what_is_compared() -> None:
    """Runs that raised, failed or released nothing tell no path; how many were alike is noted."""
    outcomes = [ran("a"), ran("b", raised=("x",)), ran("b", failed="late"), ran(None), *[ran("a")] * 4]
    search: Any = Searching(["a", "a"], outcomes)
    assert not is_adaptive(search, FEWEST) and search.notes.alike == 2 + 5
    assert search.recordings == [("few records", BASE - 1 - place) for place in range(PROBES)]
    search = Searching(["a"], [ran("b"), *[ran("a")] * 7])
    assert is_adaptive(search, FEWEST) and search.notes.alike == 0 and len(search.recordings) == PROBES
    search = Searching(["a", "b"])
    assert is_adaptive(search, FEWEST) and search.recordings == []


def test_pairs_of_the_greatest_losses_are_looked_at_again_from_both_sides_in_turn() -> None:
    """Beside the pair of few records; a loss that nobody knows is not among them, and signs do not count."""
    looked: Any = [(name, SimpleNamespace(worst=worst))
                   for name, worst in (("a", 0.5), ("b", None), ("c", -2.0), ("d", 1.0))]  # fmt: skip
    search: Any = Searching(["x", "y"])
    more_runs(search, looked, FEWEST)
    assert (RUNS, PAIRS) == (24, 2) and search.notes.again == len(search.looks) == RUNS * (1 + PAIRS)
    assert [pair for pair, _ in search.looks] == [FEWEST, "c", "d"] * RUNS
    numbers = [number for _, number in search.looks]
    assert numbers == [BASE + 2 * place + place // 3 % 2 for place in range(len(numbers))] and len(set(numbers)) == 72


def test_the_audit_may_end_after_each_look_and_has_none_where_runs_are_alike() -> None:
    search: Any = Searching(["x", "y"])
    more_runs(search, [], FEWEST, lambda: len(search.looks) == 3)
    assert [pair for pair, _ in search.looks] == [FEWEST] * 3 and search.notes.again == 3
    search = Searching(["x"], [ran("x")] * PROBES)
    more_runs(search, [], FEWEST)
    assert search.looks == [] and search.notes.again == 0


def test_what_is_said_of_recorded_runs() -> None:
    assert described(0, 0) == "recorded runs"
    assert "do not release the same each time (5 more were recorded" in described(5, 9)
    assert "all 9 of which release the same (a path that fewer than 28% of runs take" in described(0, 9)
    assert missed(9) == pytest.approx(1 - 0.05 ** (1 / 9)) and adaptive_runs.BASE == 500_000
