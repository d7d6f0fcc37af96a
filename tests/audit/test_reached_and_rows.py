"""Which code of a trainer is followed, whether its coins belong to rows, and exact curves that stay in the square."""

from __future__ import annotations

import functools
import importlib
import json
import py_compile
import sys
import sysconfig
import zipfile
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.audit import reached, slots
from refdp.audit.exact_curve import Outcomes
from refdp.audit.isolated import Outcome
from refdp.audit.unreached import unreached
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import Entry, Request, Transcript
from tests.audit.by_hand import ADD, some

OUTSIDE = 3


def trainer(records: Any, curator: Any) -> int:
    first = 1
    return first + OUTSIDE


class Callable:
    """A trainer as an instance."""

    def __call__(self, records: Any, curator: Any) -> int:
        return 2

    def method(self, records: Any, curator: Any) -> int:
        return 3


# --- Code -------------------------------------------------------------------------------------------------------------


def test_a_trainers_own_files_are_followed_and_no_package(tmp_path: Path) -> None:
    beside = tmp_path / "beside.py"
    beside.write_text("")
    follow = reached.own_code(trainer, json.__file__)
    assert follow(__file__) and follow(str(beside)) and follow(json.__file__)
    other = reached.own_code(trainer)
    assert not other(json.__file__) and not other(np.__file__) and not other(slots.__file__)
    assert not other("<frozen importlib>") and not other(str(tmp_path / "absent.py")) and not other("<string>")
    assert other("<ipython-input-1>") and other("/tmp/ipykernel_1/2.py")
    assert reached.own_code(functools.partial(trainer))(__file__)
    assert reached.own_code(json.dumps)(json.__file__) and not reached.own_code(len)(json.__file__)


def test_where_a_trainers_text_begins() -> None:
    line = trainer.__code__.co_firstlineno
    assert reached.beginning(trainer) == (__file__, line) == reached.beginning(functools.partial(trainer, curator=1))
    assert reached.beginning(functools.partial(functools.partial(trainer))) == (__file__, line)
    called, method = Callable.__call__.__code__, Callable.method.__code__
    assert reached.beginning(Callable()) == (__file__, called.co_firstlineno)
    assert reached.beginning(Callable().method) == (__file__, method.co_firstlineno)

    @functools.wraps(trainer)
    def around(*given: Any) -> Any:
        return trainer(*given)

    assert reached.beginning(around) == (__file__, line) and reached.beginning(len) is None


def test_variables_of_the_function_around_a_trainer() -> None:
    def made(scale: float, depth: int) -> Any:
        def train(records: Any, curator: Any) -> Any:
            return scale, depth, later

        if depth:
            later = 5
        return train

    assert reached.fixed(made(0.5, 2)) == {"depth": 2, "scale": 0.5, "later": 5}
    assert reached.fixed(functools.partial(made(0.5, 2))) == reached.fixed(made(0.5, 2))
    assert reached.fixed(made(0.5, 0)) == {"depth": 0, "scale": 0.5}  # not yet assigned
    assert reached.fixed(trainer) == {} == reached.fixed(len) == reached.fixed(Callable())


def test_lines_are_followed_and_then_the_tracer_is_as_before() -> None:
    lines: set[Any] = set()
    before = sys.gettrace()
    with reached.followed(lambda file: file == __file__, lines):
        trainer(None, None)
    after = sys.gettrace()
    sys.settrace(before)  # whatever follows this test
    assert after is before
    first = trainer.__code__.co_firstlineno
    assert {(__file__, first + 1), (__file__, first + 2)} <= lines and all(file == __file__ for file, _ in lines)
    none: set[Any] = set()
    with reached.followed(lambda file: False, none):
        trainer(None, None)
    with reached.followed(None, none):
        trainer(None, None)
    assert none == set()


BRANCH = "def big_or(n, value):\n    if n > 5000:\n        return n\n    return value\n"


@pytest.mark.parametrize("way", ["file", "archive", "sourceless", "exec", "thread", "pool"])
def test_what_helpers_have_of_code_that_never_ran(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever their text comes from, and on other threads; where none is there, that is told."""
    name = f"helper_{way}"
    (tmp_path / f"{name}.py").write_text(BRANCH)
    if way == "archive":
        with zipfile.ZipFile(tmp_path / "held.zip", "w") as held:
            held.write(tmp_path / f"{name}.py", f"{name}.py")
        (tmp_path / f"{name}.py").unlink()
    if way == "sourceless":
        py_compile.compile(str(tmp_path / f"{name}.py"), str(tmp_path / f"{name}.pyc"))
        (tmp_path / f"{name}.py").unlink()
    monkeypatch.syspath_prepend(tmp_path / "held.zip" if way == "archive" else tmp_path)
    space: dict[str, Any] = {}
    exec(BRANCH, space)
    helper = space["big_or"] if way == "exec" else importlib.import_module(name).big_or

    def train(records: Any, curator: Any) -> Any:
        if way in ("thread", "pool"):
            with ThreadPoolExecutor(1) if way == "pool" else ThreadPool(1) as threads:
                return threads.submit(helper, 3, 1).result() if way == "pool" else threads.apply(helper, (3, 1))
        return helper(3, 1)

    lines: set[Any] = set()
    with reached.followed(reached.own_code(train), lines):
        assert train(None, None) == 1
    sys.modules.pop(name, None) if way != "archive" else None
    found = [one for one in unreached(lines, reached.beginning(train)) if not one[0].startswith("test_")]
    assert found == {"sourceless": [(f"{name}.py", "unread")], "exec": [("<string>", "unread")]}.get(
        way, [(f"{name}.py:3", "records")])  # fmt: skip
    sys.modules.pop(name, None)


def test_code_of_no_file_that_nobody_wrote_or_that_is_a_librarys_is_not_followed() -> None:
    """Methods that are written for classes, names of tuples, what may go one way only, what a library makes."""

    @dataclass(order=True)
    class Held:
        number: int
        more: list[int] = field(default_factory=list)

    space: dict[str, Any] = {"__name__": "json"}
    exec(BRANCH, space)
    exec("def same(value):\n    return value\n", plain := {})
    lines: set[Any] = set()
    with reached.followed(reached.own_code(trainer), lines):
        assert Held(1) < Held(2) and namedtuple("Pair", "a b")(1, 2).a == 1
        assert space["big_or"](3, 1) == 1 == plain["same"](1)
    assert {file for file, _ in lines} <= {__file__}


def test_files_beside_a_trainer_below_the_folder_of_an_environment_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is installed there is not."""
    paths = {**sysconfig.get_paths(), "data": str(tmp_path)}
    monkeypatch.setattr(sysconfig, "get_paths", lambda: paths)
    reread = importlib.reload(reached)
    for place, own in [("src/proj/helper.py", True), ("lib/python3/site-packages/helper.py", False)]:
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text("")
        assert reread.own_code(trainer)(str(tmp_path / place)) is own


# --- Rows -------------------------------------------------------------------------------------------------------------


def transcript(coins: Any, value: Any) -> Transcript:
    shown = None if value is None else np.asarray(value, float)
    release = Entry(Request("release", ("sum",), None, Laplace(1.0)), np.zeros(1), None, shown)
    return Transcript(ADD, [Entry(Request("assign", ("rows",)), np.asarray(coins)), release])


def program(weights: Any = None, **changes: Any) -> Any:
    """The sum of labels in the first block; by place where weights are given. changes: of runs in another order."""

    def run(records: Any, source: Any) -> Outcome:
        coins = source.transcript.entries[0].output
        moved = records.y.tolist() != sorted(records.y.tolist())
        factors = np.ones(records.size) if weights is None else np.asarray(weights)
        value = (records.y * factors)[coins == 0].sum()
        found = Outcome(transcript(coins, [value]))
        return replace(found, **changes) if moved else found

    return run


ROWS = some(0.1, 0.2, 0.4, 0.8)
COINS = [0, 1, 0, 1]


def test_coins_that_belong_to_rows_give_the_same_in_any_order() -> None:
    recorded = transcript(COINS, [0.5])
    assert slots.are_rows(recorded, ROWS, program())
    assert not slots.are_rows(recorded, ROWS, program([1.0, 2.0, 3.0, 4.0]))
    assert slots.are_rows(recorded, ROWS, program([1.0 + 1e-12, 1.0, 1.0, 1.0]))  # the order of additions
    assert not slots.are_rows(recorded, ROWS, program([1.0, 1.0, 1.0, 1.0 + 1e-6]))
    assert not slots.are_rows(transcript(COINS[:3], [0.5]), ROWS, lambda *_: Outcome(transcript(COINS, [0.5])))
    for changes in ({"failed": "gone"}, {"parted": ("x", "y", "z")}):
        assert not slots.are_rows(recorded, ROWS, program(**changes))
    assert not slots.are_rows(recorded, ROWS, lambda *_: Outcome(transcript(COINS, [0.5]), failed="gone"))


def test_both_other_orders_are_tried() -> None:
    """The reverse one, and one place further; a program may know its way in one of them."""
    seen: list[Any] = []

    def run(records: Any, source: Any) -> Outcome:
        seen.append((records.y.tolist(), source.transcript.entries[0].output.tolist()))
        return Outcome(transcript(COINS, [0.5]))

    assert slots.are_rows(transcript([0, 1, 2, 3], [0.5]), ROWS, run)
    assert seen == [([0.1, 0.2, 0.4, 0.8], [0, 1, 2, 3]), ([0.8, 0.4, 0.2, 0.1], [3, 2, 1, 0]),
                    ([0.8, 0.1, 0.2, 0.4], [3, 0, 1, 2])]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "equal"), [
    ([1.0], [1.0], True), ([1.0], [1.0 + 1e-10], True), ([1.0], [1.0 + 1e-8], False), ([0.0], [0.9e-9], True),
    ([0.0], [1.1e-9], False), ([1e6], [1e6 + 0.9e-3], True), ([1.0], [[1.0]], False), (None, None, True),
    (None, [1.0], False), ([1.0], None, False), ([np.nan], [np.nan], True),
    ([1.0, 2.0], [1.0, 3.0], False)])  # fmt: skip
def test_values_are_equal_up_to_the_order_of_additions(one: Any, other: Any, equal: bool) -> None:
    assert slots._equal(transcript(COINS, one), transcript(COINS, other)) is equal
    longer = Transcript(ADD, [*transcript(COINS, one).entries, transcript(COINS, one).entries[0]])
    assert not slots._equal(transcript(COINS, one), longer)


# --- Curves -----------------------------------------------------------------------------------------------------------


def test_a_curve_ends_at_no_miss_and_no_more_than_all_alarms() -> None:
    """Also where the masses add up to more than 1 in floats."""
    over = 0
    for seed in range(40):
        masses = np.random.default_rng(seed).dirichlet(np.ones(30), 2)
        alarms, misses = Outcomes(*masses).curve()
        over += bool((np.cumsum(masses, axis=1)[:, -1] > 1).any())
        assert alarms[0] == 0.0 and misses[0] == 1.0 and alarms.max() <= 1.0 and misses.min() >= 0.0
        assert np.all(np.diff(alarms) >= 0) and np.all(np.diff(misses) <= 0) and len(alarms) == 31
    assert over > 0
    more = Outcomes(np.array([0.7, 0.1, 0.2 + 1e-12]), np.array([0.2, 0.1, 0.7 + 1e-12])).curve()
    assert more[0][-1] == 1.0 and more[1][-1] == 0.0
