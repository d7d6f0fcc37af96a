"""A loop that is cut, driven round by round without a training text: numbers, lists, groups and what rounds leave."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")

from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import AccountSource
from refdp.prove import loops as module
from refdp.prove.forms import Form
from refdp.prove.loops import Carried, Cut, Loop, Loops, Number, Numbers, alike, settled
from refdp.prove.symbols import Known
from refdp.prove.terms import Unmodelled


class Host:
    """A population that says what it is left with."""

    def __init__(self, states: Iterator[Any] | None = None) -> None:
        self.states = states

    def left(self) -> Any:
        return None if self.states is None else next(self.states)

    def held(self) -> Any:
        return None


def loop_of(items: Any, rounds: list[int], grown: tuple[str, ...] = (), host: Any = None) -> Loop:
    made = Loop(Loops(), "a line", items, Form(frozenset(grown), frozenset()), host or Host())
    made.rounds = rounds
    return made


# --- Numbers of rounds ------------------------------------------------------------------------------------------------


def test_a_number_is_settled_to_the_rounds_that_have_its_value() -> None:
    loop = loop_of(range(6), [2, 3, 4, 5])
    number = Number(loop, [10, 11, 7, 7, 8, 7])
    assert number.example == 7 and loop.rounds == [2, 3, 4, 5] and not loop.tests
    assert number.settled() == 7 and loop.rounds == [2, 3, 5] and loop.tests
    assert type(number.settled()) is int
    assert Number(loop, [0, 0, 5, 6, 0, 7]).example == 5


def test_a_single_round_decides_nothing_by_its_number() -> None:
    loop = loop_of(range(6), [4])
    assert (int(Number(loop, range(6))), loop.rounds, loop.tests) == (4, [4], False)
    loop.rounds = [4, 5]
    assert int(Number(loop, range(6))) == 4 and loop.tests and loop.rounds == [4]
    assert loop.decided(np.arange(6)) == 4 and loop.tests  # stays said


@pytest.mark.parametrize(("each", "asked", "said", "rounds"), [
    ([0, 0, 3, 0], bool, False, [1, 3]), ([0, 2, 3, 2], bool, True, [1, 3]), ([0, 2, 3, 2], range, range(2), [1, 3]),
    ([0.0, 0.5, 0.5, 1.0], float, 0.5, [1, 2]), ([0, 5, 5, 6], repr, "5", [1, 2]), ([0, 5, 5, 6], str, "5", [1, 2]),
    ([0, 5, 5, 6], lambda one: f"{one:03d}", "005", [1, 2]),
])  # fmt: skip
def test_what_shows_a_number_leaves_the_rounds_that_show_the_same(
    each: Any, asked: Any, said: Any, rounds: list[int]
) -> None:
    loop = loop_of(range(4), [1, 2, 3])
    assert asked(Number(loop, each)) == said and loop.rounds == rounds


def test_arithmetic_of_numbers_is_that_of_every_round() -> None:
    loop = loop_of(range(4), [1, 2, 3])
    own, other = Number(loop, [1, 2, 3, 4]), Number(loop, [4, 6, 5, 8])
    expected = [
        (own + 2, [3, 4, 5, 6]), (2 - own, [1, 0, -1, -2]), (own - other, [-3, -4, -2, -4]),
        (other // own, [4, 3, 1, 2]), (other / 2, [2.0, 3.0, 2.5, 4.0]), (own == 3, [0, 0, 1, 0]),
    ]  # fmt: skip
    for found, each in expected:
        assert type(found) is Number and found.each.tolist() == each and found.loop is loop
    assert loop.rounds == [1, 2, 3]
    assert np.add(own, 0.5).each.tolist() == [1.5, 2.5, 3.5, 4.5]
    assert np.isnan((own * float("nan")).each).all()


def test_numbers_that_numpy_wraps_or_of_two_loops_are_not_computed_with() -> None:
    loop = loop_of(range(3), [1, 2])
    with pytest.raises(Carried, match="beyond numpy's"):
        Number(loop, [1, 2, 2**62]) * 2
    assert (Number(loop, [1, 2, 2**61]) * 2).each.tolist() == [2, 4, 2**62]
    with pytest.raises(Carried, match="two loops"):
        Number(loop, [1, 2, 3]) + Number(loop_of(range(3), [1, 2]), [1, 2, 3])


def test_a_range_that_starts_at_a_number() -> None:
    loop = loop_of(range(3), [1, 2])
    own = Numbers(loop, [0, 4, 9], 3)
    assert len(own) == 3 and [one.each.tolist() for one in own] == [[0, 4, 9], [1, 5, 10], [2, 6, 11]]
    assert own[-1].each.tolist() == [2, 6, 11] and own[1].loop is loop
    with pytest.raises(IndexError):
        own[3]


def test_numbers_are_settled_in_lists_and_ranges() -> None:
    loop = loop_of(range(3), [1, 2])
    number = Number(loop, [0, 4, 4])
    assert settled([number, (number, "a")]) == [4, (4, "a")] and settled("a") == "a" and loop.rounds == [1, 2]
    assert settled(Numbers(loop, [0, 4, 9], 2)) == [4, 5] and loop.rounds == [1]


# --- A function of numbers --------------------------------------------------------------------------------------------


def test_a_function_of_numbers_keeps_the_rounds_that_give_the_same() -> None:
    loop = loop_of(range(6), [1, 2, 3, 4, 5])
    base = Number(loop, [9, 1, 0, 2, -3, 1])
    found = alike(lambda one, more, base=0: (one + base) // more, (Number(loop, range(6)), 2), {"base": base})
    assert found == 1 and loop.rounds == [1, 2]  # of 2/2, 2/2, 5/2, 1/2, 6/2
    loop.rounds = [3, 4, 5]
    assert alike(lambda one: one + 1, (Number(loop, range(6)),), {}) == 4 and loop.rounds == [3]


def test_numbers_of_two_loops_or_none_are_settled_for_a_function() -> None:
    one, two = loop_of(range(4), [1, 2]), loop_of(range(4), [2, 3])
    first, second = Number(one, [0, 7, 8, 8]), Number(two, [0, 0, 5, 5])
    assert alike(lambda a, b=0: (type(a), a, b), (first,), {"b": second}) == (int, 7, 5)
    assert (one.rounds, two.rounds) == ([1], [2, 3])
    assert alike(lambda a, b=1: a + b, (3,), {}) == 4
    loop = loop_of(range(3), [1, 2])
    given = (Number(loop, [0, 4, 4]), Numbers(loop, [0, 1, 9], 2))
    assert alike(lambda a, b: (a, b), given, {}) == (4, [1, 2]) and loop.rounds == [1]


# --- Lists ------------------------------------------------------------------------------------------------------------


def test_the_length_of_a_list_that_rounds_append_to_is_a_number() -> None:
    loops, grown, other = Loops(), [0, 0, 0], [1, 2]
    assert loops.length(grown) == 3 and loops.length("ab") == 2
    loop = Loop(loops, "a line", range(5), Form(frozenset({"g"}), frozenset()), Host())
    loop.grown, loop._first, loop._growth, loop._begun = {"o": [], "g": grown}, {"g": 1}, {"g": 2}, {"g": 3}
    loops.active.append(loop)
    assert loops.length(grown) == 3 and type(loops.length(grown)) is int  # the first round
    loop.reading, loop.rounds = 1, [1, 2]
    found = loops.length(grown)
    assert type(found) is Number and found.each.tolist() == [1, 3, 5, 7, 9]
    grown.append(0)
    assert loops.length(grown).each.tolist() == [2, 4, 6, 8, 10]
    assert loops.length(other) == 2 and loops.length((1, 2, 3)) == 3
    inner = Loop(loops, "another", range(5), Form(frozenset({"g"}), frozenset()), Host())
    inner.grown = {"g": grown}
    loops.active.append(inner)
    with pytest.raises(Carried, match="two loops"):
        loops.length(grown)


def test_the_length_of_a_list_that_has_grown_is_released() -> None:
    loops, grown = Loops(), [0, 0]
    loops.ended.append(grown)
    found = loops.length(grown)
    assert isinstance(found, Known) and found.example == 2 and type(loops.length([0, 0])) is int
    assert (found * (0.5,)).example == (0.5, 0.5) and ([1] * found).example == [1, 1]
    with pytest.raises(Unmodelled, match="of a list"):
        found * (None,)
    loop = Loop(loops, "a line", range(5), Form(frozenset({"g"}), frozenset()), Host())
    loop.grown = {"g": grown}
    loops.active.append(loop)
    with pytest.raises(Carried, match="two loops"):
        loops.length(grown)


# --- Which loops are cut ----------------------------------------------------------------------------------------------

TEXT = """
def rounds(population, loops, items):
    seen, number = [], None
    for one in loops.over(items, __import__("sys")._getframe(0), HOST):
        seen.append("a round")
        number = one
    return seen, number


def numbers(population, loops, items):
    seen = []
    for one in loops.over(items, __import__("sys")._getframe(0), HOST):
        seen.append(one)
    return seen


def listed(population, loops, items):
    return [one for one in loops.over(items, __import__("sys")._getframe(0), HOST)]


def beside(population, loops, items, get):
    seen = []
    for _ in (1,): seen = [population and a for b in (1,) for a in loops.over(items, get(0), HOST)]
    for _ in [a for b in (1,) for a in loops.over(items, get(0), population)]: seen = seen + []
    for _ in (1,): seen = seen + [*(population and a for b in (1,) for a in loops.over(items, get(0), HOST))]
    for _ in (1,): seen = seen + [*{population and a: a for b in (1,) for a in loops.over(items, get(0), HOST)}]
    for _ in (1,): seen = seen + [*{population and a for b in (1,) for a in loops.over(items, get(0), HOST)}]
    for _ in (population and loops.over(items, get(0), HOST)): seen = seen + []
    return seen
"""


@pytest.fixture(name="text")
def _text(tmp_path: Path) -> dict[str, Any]:
    file = tmp_path / "text.py"
    file.write_text(TEXT, encoding="utf-8")
    made: dict[str, Any] = {"HOST": Host()}
    exec(compile(TEXT, str(file), "exec"), made)
    return made


def test_a_loop_of_more_than_two_rounds_beside_the_population_is_cut(text: dict[str, Any]) -> None:
    host = text["HOST"]
    for items, cut in ((range(2), False), (range(3), True), (range(9), True)):
        loops = Loops()
        seen, number = text["rounds"](host, loops, items)
        line = f"{text['rounds'].__code__.co_filename}:4"
        assert (loops.cut.keys(), loops.whole) == (({line}, set()) if cut else (set(), {line}))
        assert seen == ["a round"] * len(items)  # after the loop, as in training
        if cut:
            assert loops.cut[line] == Cut(len(items), 2, False) and number.settled() == items[-1]
            assert number.each.tolist() == list(items) and loops.active == [] and loops.stuck == ""
            assert loops.ended == [seen]  # which rounds have appended to
            with pytest.raises(Carried, match="another state"):
                text["numbers"](host, Loops(), items)


def test_other_loops_are_read_as_they_are(text: dict[str, Any]) -> None:
    host, line = text["HOST"], f"{text['rounds'].__code__.co_filename}:4"
    for loops in (Loops(allowed=False), Loops(refused=frozenset({line}))):
        assert text["rounds"](host, loops, range(4))[1] == 3 and loops.whole == {line} and not loops.cut
    loops = Loops()
    assert text["numbers"]("no population", loops, range(4)) == [0, 1, 2, 3] and not loops.whole
    assert text["listed"](host, loops, range(4)) == [0, 1, 2, 3] and not loops.whole and not loops.cut


def test_a_comprehension_in_a_loops_line_is_no_loop(text: dict[str, Any]) -> None:
    """Its second `for` looks like one in the code: in its own, or in the function's since Python 3.12."""
    loops = Loops()
    found = text["beside"](text["HOST"], loops, range(5), sys._getframe)
    assert found == list(range(5)) * 4 and not loops.cut and not loops.whole


def test_a_loop_that_the_code_has_no_place_of_is_not_cut(text: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = text["rounds"]
    bare = rounds.__code__.replace(co_linetable=_lines_alone(rounds.__code__))
    assert {one[2] for one in bare.co_positions()} == {None}
    assert {one for *_, one in bare.co_lines()} == {one for *_, one in rounds.__code__.co_lines()}
    loops = Loops()
    assert FunctionType(bare, text)(text["HOST"], loops, range(5))[1] == 4 and not loops.cut
    loops = Loops()
    monkeypatch.setattr(module.form_of.__globals__["linecache"], "getlines", lambda _: [])
    assert rounds(text["HOST"], loops, range(5))[1] == 4 and not loops.cut


def _lines_alone(code: Any) -> bytes:
    """A code's table of lines without columns."""
    found, last = bytearray(), code.co_firstlineno
    for begin, end, line in code.co_lines():
        step, last, units = (line or last) - last, line or last, (end - begin) // 2
        for _ in range(units):
            found.append(0x80 | 13 << 3)
            value, step = (-step << 1 | 1) if step < 0 else step << 1, 0
            while value > 63:
                found.append(0x40 | value & 63)
                value >>= 6
            found.append(value)
    return bytes(found)


def test_rounds_are_told_by_how_long_what_is_within_a_released_value_is() -> None:
    @dataclass
    class Tree:
        leaves: Any

    few, many = (Known(Tree(Known(np.zeros(size)))) for size in (3, 9))
    assert module.abstract(few) == module.abstract(Known(Tree(Known(np.ones(3))))) != module.abstract(many)
    one, two = Known(np.zeros(3), True), Known(np.zeros(3), True)
    two.axes = 1
    assert module.abstract(one) != module.abstract(two)


def test_which_objects_are_one_is_seen_at_all_depths_or_refused() -> None:
    def within(one: Any, depth: int) -> Any:
        return one if depth == 0 else (within(one, depth - 1),)

    kept = [1]
    assert module._shared((within(kept, 8), within(kept, 8))) == [0, 0]
    assert module._shared((within(kept, 8), within([1], 8))) == [0, 1]
    assert module._shared(within(3, 13)) == [] and module._shared(within(Known(3), 13)) == [0]
    for deep in (within(within(kept, 3), 13), within(within(3, 1), 13), within([3], 13)):
        with pytest.raises(Carried, match="too deep"):
            module._shared(deep)


# --- Rounds one after the other ---------------------------------------------------------------------------------------


def read(loop: Loop, decide: int | None = None, grow: Any = lambda number: 1) -> list[list[int]]:
    """Go over a loop as a text would; the rounds of each reading. decide: which number the text looks for."""
    kept, found = [0, 0, 0], list[list[int]]()
    for one in loop:
        found.append(list(loop.rounds))
        if decide is not None:
            bool(one == decide)
        kept.extend([0] * grow(len(found) - 1))
    return found


def test_rounds_that_decide_alike_are_read_together() -> None:
    loop = loop_of(range(6), [0], ("kept",))
    assert read(loop) == [[0], [1, 2, 3, 4, 5]] and loop._loops.cut == {"a line": Cut(6, 2, False)}
    loop = loop_of(range(6), [0], ("kept",))
    assert read(loop, decide=3) == [[0], [1, 2, 3, 4, 5], [3], [5]]  # what comes after the loop sees the last round
    assert loop._loops.cut == {"a line": Cut(6, 3, True)}
    later = Loop(loop._loops, "a line", range(4), loop._form, Host())
    assert read(later) == [[0], [1, 2, 3]] and loop._loops.cut == {"a line": Cut(6, 3, True)}  # the most of both
    longer = Loop(loop._loops, "a line", range(9), loop._form, Host())
    assert len(read(longer)) == 2 and loop._loops.cut == {"a line": Cut(9, 3, True)}
    assert len(loop._loops.ended) == 3 and not loop._loops.active


@pytest.mark.parametrize(("grow", "decide", "carried"), [
    (lambda number: 2, None, False), (lambda number: 1 + (number == 1), None, True),
    (lambda number: 1 - (number == 1), None, True), (lambda number: number != 2, 5, False),  # the last one is free
    (lambda number: number != 2, 4, True),
])  # fmt: skip
def test_rounds_but_the_last_append_as_many(grow: Any, decide: int | None, carried: bool) -> None:
    loop = loop_of(range(6), [0], ("kept",))
    if not carried:
        read(loop, decide, grow)
        return
    with pytest.raises(Carried, match="different numbers"):
        read(loop, decide, grow)
    assert loop._loops.stuck == "a line" and not loop._loops.active


def test_rounds_leave_the_state_that_they_found() -> None:
    loop = loop_of(range(6), [0], host=Host(iter("aa")))
    assert len(read(loop)) == 2
    loop = loop_of(range(6), [0], host=Host(iter("ab")))
    loop._loops.stuck = "an inner line"
    with pytest.raises(Carried, match="another state"):
        read(loop)
    assert loop._loops.stuck == "an inner line"


def test_names_that_rounds_use_are_left_as_they_are_found() -> None:
    form = Form(frozenset(), frozenset({"count"}))
    count_rounds(Loop(Loops(), "a line", range(6), form, Host()), 4)
    with pytest.raises(Carried, match="another state"):
        count_rounds(Loop(Loops(), "a line", range(6), form, Host()), 9)


def count_rounds(loop: Loop, most: int) -> None:
    count = 3
    for _ in loop:
        count = min(count + 1, most)


def test_what_rounds_append_to_is_one_list() -> None:
    loop = loop_of(range(6), [0], ("kept", "no_such"))
    with pytest.raises(Carried, match="no list"):
        read(loop)
    loop = loop_of(range(6), [0], ("kept",))
    with pytest.raises(Carried, match="no list"):
        for _ in loop:
            kept = [0]  # noqa: F841


def test_a_round_that_is_read_alone_has_its_own_item() -> None:
    every = list(enumerate([range(2, 5), range(5, 8), range(1, 4), "a"], 7))
    loop = loop_of(every, [0])
    assert loop._item([3]) == (10, "a") and loop._item([1]) == (8, range(5, 8))


def test_items_with_ranges_or_other_things_beside_a_number() -> None:
    loop = loop_of(list(enumerate([range(2, 5), range(5, 8), range(1, 4)], 7)), [0])
    number, own = loop._item([1, 2])
    assert number.each.tolist() == [7, 8, 9] and len(own) == 3 and own[2].each.tolist() == [4, 7, 3]
    loop = loop_of(list(enumerate("bba", 2)), [0])
    number, kind = loop._item([1, 2])
    assert number.each.tolist() == [2, 3, 4] and kind == "b"
    plain = loop_of([3, 5, 9], [0])._item([1, 2])
    assert plain.each.tolist() == [3, 5, 9]


def test_rounds_after_the_first_are_grouped_by_what_they_go_over() -> None:
    assert module._kinds(range(5)) == [0] * 5
    over = [range(2), range(3, 5), range(3), range(1, 3), "a", "b", "a", range(0, 4, 2), range(0, 4, 2)]
    assert module._kinds(list(enumerate(over))) == [0, 0, 1, 0, 2, 3, 2, 4, 4]


# --- Names ----------------------------------------------------------------------------------------------------------

NAMED = """
def asked(curator, number):
    return curator.step(f"round {number}")


def told(curator, number):
    return len(f"round {number:02d}")
"""


class Listening(Curator):
    def step(self, name: Any) -> Any:
        return name


def test_a_number_in_a_name_that_the_curator_gets_decides_nothing(tmp_path: Path) -> None:
    file, made = tmp_path / "text.py", dict[str, Any]()
    file.write_text(NAMED, encoding="utf-8")
    exec(compile(NAMED, str(file), "exec"), made)
    loop, curator = loop_of(range(3), [1, 2]), Listening(AccountSource(), Relation.ADD_REMOVE)
    number = Number(loop, range(3))
    assert made["asked"](curator, number) == "round #" and loop.rounds == [1, 2] and not loop.tests
    assert made["told"](curator, number) == len("round 01") and loop.rounds == [1]
