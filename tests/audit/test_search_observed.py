"""What else than releases differs between runs made by hand, and what differs by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp.audit import search
from refdp.audit.isolated import Outcome
from refdp.audit.observer import view
from refdp.audit.replay import Pair
from refdp.audit.search import Search
from refdp.data.records import Records
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import Transcript
from refdp.privacy.events import Relation
from refdp.privacy.replay import ReplaySource
from tests.audit.by_hand import ADD, REPLACE, entry, kinds, machine, pair, some

# --- What is observed besides releases --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"), [("published", "published object"), ("beside", "side channel"), ("state", "global state")]
)
def test_what_differs_is_told_unless_it_differs_by_itself(
    monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    """Also in the second of two places, where the first is a clock, which differs from run to run."""
    ticks = [0]

    def told(records: Records, seed: int, source: Any, before: Any) -> dict[str, Any]:
        ticks[0] += 1
        return {name: (("clock", str(ticks[0])), ("fixed", "same"), ("length", str(len(records.y))))}

    one, _ = machine(monkeypatch, shown=told)
    one.look(pair(0.25), 0)
    assert kinds(one) == [(kind, "length")]

    def clock(records: Records, seed: int, source: Any, before: Any) -> dict[str, Any]:
        ticks[0] += 1
        return {name: (("clock", str(ticks[0])), ("fixed", "same"))}

    one, _ = machine(monkeypatch, shown=clock)
    found = one.look(pair(0.25), 0)
    assert kinds(one) == [] and f"{kind}: clock" in one.notes.random and found.worst == pytest.approx(0.5)


@pytest.mark.parametrize(("kind", "seeds"), [("published object", [3, 3, 0]), ("side channel", [3, 3, 0]),
                                             ("exception", [3, 3, 0]), ("global state", [3, 3])])  # fmt: skip
def test_own_randomness_is_what_differs_between_runs_on_the_same_records(
    monkeypatch: pytest.MonkeyPatch, kind: str, seeds: list[int]
) -> None:
    """Twice with one seed and, but for the state of global generators, once with another."""
    field_of = {"published object": "published", "side channel": "beside", "exception": "raised",
                "global state": "state"}[kind]  # fmt: skip
    one, made = machine(monkeypatch, shown=lambda records, seed, source, before: {field_of: (("seed", str(seed)),)})
    assert one._own_randomness(pair(0.25, 0.75), 2, kind) == ({"seed"} if len(seeds) > 2 else set())
    assert [call[2] for call in made.calls[1:]] == seeds
    assert all(call[0] == [0.25, 0.75] for call in made.calls)
    ticks = iter("123456789")
    one, _ = machine(monkeypatch, shown=lambda *_: {field_of: (("clock", next(ticks)), ("still", "x"))})
    assert one._own_randomness(pair(0.25), 2, kind) == {"clock"}


def test_a_run_and_its_replay_that_publish_different_things(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same outputs; what is another in a further replay, with another seed or in a further run is no sign."""

    def seen(place: str, told: Callable[[int, bool, int], str]) -> Search:
        count = [0]

        def shown(records: Records, seed: int, source: Any, before: Any) -> dict[str, Any]:
            count[0] += 1
            return {"published": (("steady", "x"), (place, told(seed, isinstance(source, ReplaySource), count[0])))}

        one, _ = machine(monkeypatch, shown=shown)
        recorded = one.recorded(some(0.5, 0.25), 4)
        own = one._run(some(0.5, 0.25), ReplaySource(recorded.transcript), 4)
        one._overheard(pair(0.25), recorded, own, some(0.5, 0.25), 4)
        return one

    one = seen("model", lambda seed, replayed, count: f"float {replayed}")
    assert (
        kinds(one) == [("published object", "model")]
        and "more than outputs" in one.notes.violations[0].witness["detail"]
    )
    assert not one.notes.random
    for told in (lambda seed, replayed, count: f"clock {count}",
                 lambda seed, replayed, count: f"{seed == 0} {count > 1}",
                 lambda seed, replayed, count: f"fresh {count if not replayed else 0}",
                 lambda seed, replayed, count: f"replays {count if replayed else 0}"):  # fmt: skip
        one = seen("model", told)
        assert kinds(one) == [] and one.notes.random == {"published object: model"}
    for shape in ((), (3,)):  # the same numbers, one's own or in another's memory
        own, other = (view(one, "model").lines[0][1] for one in (np.zeros(shape), np.zeros((*shape, 2))[..., 0]))
        other = other.replace("  ", " C ") if shape else other
        for one, two in ((own, other), (other, own)):
            same = seen("model", lambda seed, replayed, count, one=one, two=two: two if replayed else one)
            assert own != other and kinds(same) == [] and not same.notes.random
        changed = own.replace("[0.0", "[1.0")
        apart = seen("model", lambda seed, replayed, count, own=own, two=changed: two if replayed else own)
        assert own != changed and kinds(apart) == [("published object", "model")]


def test_who_is_not_overheard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that ended with an error, failed or parted; of several places the first that stays is told."""
    one, made = machine(monkeypatch)
    recorded = Outcome(Transcript(ADD, []), published=(("a", "1"), ("b", "1")))
    own = replace(recorded, published=(("a", "2"), ("b", "2")))
    for left, right in ((replace(recorded, raised=(("error", "x"),)), own), (recorded, replace(own, failed="x")),
                        (recorded, replace(own, parted=("x", "y", "z"))), (recorded, recorded)):  # fmt: skip
        one._overheard(pair(0.25), left, right, some(0.5), 0)
    assert made.calls == [] and kinds(one) == []
    answers = iter([own, own, recorded])
    monkeypatch.setattr(one, "_run", lambda *_: next(answers))
    one._overheard(pair(0.25), recorded, own, some(0.5), 0)
    assert kinds(one) == [("published object", "a")]
    third = replace(own, published=(("a", "3"), ("b", "2")))
    fresh = replace(recorded, published=third.published[:1] + recorded.published[1:])
    for restless in ((third, third, recorded), (own, third, recorded), (own, own, fresh)):
        answers = iter(restless)
        one.notes.violations.clear()
        one._overheard(pair(0.25), recorded, own, some(0.5), 0)
        assert kinds(one) == [("published object", "b")]


# --- State between calls ----------------------------------------------------------------------------------------------


def test_what_an_earlier_run_leaves_behind_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose records the earlier run had shows; a clock does not matter, nor that anything ran before."""

    def kept(told: Callable[[Records | None, int], Any], given: Pair, relation: Relation = ADD) -> tuple[Search, Any]:
        count = [0]

        def shown(records: Records, seed: int, source: Any, before: Records | None) -> dict[str, Any]:
            count[0] += 1
            return {"state": (("still", "x"), *told(before, count[0]))}

        one, made = machine(monkeypatch, shown=shown, relation=relation)
        one._kept_state(given, 4)
        return one, made

    def length(before: Records | None) -> str:
        return "" if before is None else str(before.y.tolist())

    one, made = kept(lambda before, count: [("memory", length(before))], pair(0.25, 0.75))
    assert kinds(one) == [("state between calls", "memory")] and one.notes.state and not one.notes.random
    befores = [call[3].y.tolist() for call in made.calls[1:4]]
    assert befores == [[0.25, 0.5, 0.75], [0.25, 0.75], [0.5]] and made.calls[1][2] == 4
    assert len(made.calls) == 1 + 3 + 2 * search.AGAIN + 2 + 2 + 2 * search.AGAIN and search.AGAIN == 2
    _, made = kept(lambda before, count: [], pair(0.25, old=0.125, new=0.5), REPLACE)
    assert [call[3].y.tolist() for call in made.calls[1:]] == [[0.25, 0.5], [0.25], [0.25, 0.125]]
    one, _ = kept(lambda before, count: [("clock", str(count))], pair(0.25))
    assert kinds(one) == [] and one.notes.random == {"state between calls: clock"}
    one, _ = kept(lambda before, count: [("clock", str(count)), ("memory", length(before))], pair(0.25))
    assert kinds(one) == [("state between calls", "memory")]
    for size in (1, 2, 3):  # only after the earlier run with this side's records
        one, _ = kept(lambda before, count, size=size: [("m", str(before is not None and len(before.y) == size))],
                      pair(0.25, 0.5))  # fmt: skip
        assert kinds(one) == [("state between calls", "m")]


def test_state_of_runs_that_fail_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    one, made = machine(monkeypatch, shown=lambda *_: {"failed": "gone"})
    one._kept_state(pair(0.25), 1)
    assert len(made.calls) == 1 and not one.notes.state
    one, made = machine(monkeypatch, shown=lambda *_: {"raised": (("error", "x"),)})
    one._kept_state(pair(0.25), 1)
    assert len(made.calls) == 1 and not one.notes.state
    one, made = machine(monkeypatch, shown=lambda records, seed, source, before: {
        "failed": "gone" if before is not None and len(before.y) == 2 else "",
        "state": (("m", str(before is None)),)})  # fmt: skip
    one._kept_state(pair(0.25), 1)
    assert len(made.calls) == 5 and one.notes.state and kinds(one) == []
    assert one.notes.later == {"what is asked of the curator"}


def test_a_run_that_does_otherwise_because_one_ran_before_was_not_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trainer that counts its calls behaves in the first one of a process; counters that it keeps are its own."""

    def later(told: Callable[[bool, int], Any]) -> tuple[set[str], int]:
        count = [0]

        def shown(records: Records, seed: int, source: Any, before: Records | None) -> dict[str, Any]:
            count[0] += 1
            return told(before is not None, count[0])

        one, made = machine(monkeypatch, shown=shown)
        one._kept_state(pair(0.25), 1)
        assert kinds(one) == []
        return one.notes.later, len(made.calls)

    assert later(lambda second, count: {"published": (("result", str(second)),)}) == ({"result"}, 5)
    assert later(lambda second, count: {"raised": (("error", "x"),) if second else ()}) == ({"error"}, 5)
    assert later(lambda second, count: {"state": (("calls", str(second)),)}) == (set(), 4)
    assert later(lambda second, count: {"failed": "gone" if count > 1 else ""}) == (set(), 5)


def test_what_earlier_records_leave_behind_is_no_habit_of_a_second_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run is asked after the same records; what only runs after others show is accused and nothing else."""
    given = pair(0.25, 0.75, new=0.5)
    one, _ = machine(monkeypatch, shown=lambda records, seed, source, before: {
        "published": (("plain", str(before is not None and 0.5 not in before.y)),)})  # fmt: skip
    one._kept_state(given, 4)
    assert kinds(one) == [("state between calls", "plain")] and one.notes.later == {"plain"}
    for again in (False, True):

        def shown(records: Records, seed: int, source: Any, before: Records | None, again: bool = again) -> Any:
            memory = before is not None and 0.5 in before.y
            return {"published": (("kept", str(memory)), ("second", str(again and before is not None)))}

        one, _ = machine(monkeypatch, shown=shown)
        one._kept_state(given, 4)
        assert kinds(one) == [("state between calls", "kept")]
        assert one.notes.later == ({"second"} if again else set())


# --- Lines ------------------------------------------------------------------------------------------------------------


def test_places_differ_by_content_and_how_often_they_come() -> None:
    one = (("a", "1"), ("b", "2"), ("a", "3"))
    assert search._differing(one, one) == [] and search._differing((), ()) == []
    assert search._differing(one, (("a", "1"), ("b", "2"))) == ["a"] == search._differing(one[:2], one)
    assert search._differing(one, (("a", "3"), ("b", "2"), ("a", "1"))) == ["a"]
    assert search._differing(one, (("b", "0"), ("a", "1"), ("a", "3"), ("c", "x"))) == ["b", "c"]
    alike = (*one, ("c", "4"))
    assert search._differing(alike, alike[::-1][:2] + one[:2]) == ["a"]
    assert search._differing(alike[1:], alike[:0:-1]) == ["b"]  # in another order alone
    assert search._differing((), one[1:]) == ["b", "a"]


def test_lines_of_memory_are_no_numbers() -> None:
    hashed = "a" * 64
    given = (("x", f"array C writeable view {hashed} [3]"), ("y", f"array C   {hashed} [3]"), ("o", "array CF  view"),
             ("u", f"array C writeable unaligned  {hashed} [3]"), ("z", "the same as object 3"), ("x.base", "1"),
             ("text", "str 'writeable view 3'"))  # fmt: skip
    assert search._numbers(Outcome(Transcript(ADD, []), published=given)) == (
        ("x", f"array C {hashed} [3]"),
        ("y", f"array C {hashed} [3]"),
        ("o", "array CF"),
        ("u", f"array C unaligned {hashed} [3]"),
        ("text", "str 'writeable view 3'"),
    )
    lines = {"raised": (("r", "1"),), "published": (("p", "2"),), "beside": (("b", "3"),), "state": (("s", "4"),)}
    found: Any = search._all(Outcome(Transcript(ADD, []), **lines))  # type: ignore[arg-type]
    assert found == (("r", "1"), ("p", "2"), ("b", "3"), ("s", "4"))


def test_changed_releases_are_named_with_how_often_they_came() -> None:
    values = [(1.0, 1.0), (2.0, 3.0), (4.0, 4.5)]
    names = ("first", "same", "same")
    sides = [
        Transcript(ADD, [entry([v[side]], Laplace(1.0), name=name) for v, name in zip(values, names, strict=True)])
        for side in (0, 1)
    ]
    items = search._items([sides[0], sides[0], sides[1]])
    assert {key: (one.value.tolist(), one.other.tolist()) for key, one in items.items()} == {
        ("same", 0): ([2.0], [3.0]), ("same", 1): ([4.0], [4.5])}  # fmt: skip
