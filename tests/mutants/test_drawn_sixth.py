"""What a sixth draw of random mutants let live, and what reading around them found: docs/mutants-drawn.md."""

from __future__ import annotations

import ast
import math
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.accounting import selection
from refdp.audit import isolated, lockstep
from refdp.audit.in_floats import digits_left, in_floats
from refdp.audit.structural_beside import number_parts
from refdp.audit.surroundings import names_around, told_apart
from refdp.conform import run, tape_file
from refdp.data.records import Interval, Numeric, Records, Schema
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.noise import divergences
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import EVERYWHERE, Request
from refdp.privacy.events import Relation, Sensitivity

SCHEMA = Schema((Numeric("x", 0.0, 1.0),), Interval(0.0, 1.0))
RECORDS = Records(SCHEMA, np.linspace(0, 1, 12)[:, None], np.arange(12) % 2.0)
UNIT = Sensitivity(1.0, 1, "", Relation.ADD_REMOVE)
needs_fork = pytest.mark.skipif(not isolated.CAN_FORK, reason="runs have processes of their own by fork")


# --- One run in a process of its own ----------------------------------------------------------------------------------


def test_a_pipe_is_waited_for_as_long_as_a_run_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each wait is what is left of that time, and none is below 0."""
    now, waits = iter([100.0, 103.0, 170.0]), list[float]()
    monkeypatch.setattr(isolated, "time", SimpleNamespace(monotonic=lambda: next(now)))

    def ready(reading: list[Any], writing: Any, failing: Any, seconds: float) -> Any:
        waits.append(seconds)
        return reading, writing, failing

    monkeypatch.setattr(isolated, "select", SimpleNamespace(select=ready))
    reading, writing = os.pipe()
    os.write(writing, b"x")
    os.close(writing)
    assert isolated._read(reading) == (b"x", True) and waits == [57.0, 0.0] and isolated.SECONDS == 60.0


@needs_fork
def test_streams_and_files_of_a_run_are_told_down_to_the_descriptors(tmp_path: Path) -> None:
    """Files that were there before are not; what is written elsewhere is told by its whole path."""
    far = tmp_path / "far"

    def work() -> Any:
        before = os.getcwd()
        with isolated._watched() as (seen, hidden):
            print("out")
            print("err", file=sys.stderr)
            sys.stdout.flush()
            os.write(1, b"raw\n")
            os.system("echo shell >&2")
            Path("left").write_text("here")
            Path("sub").mkdir()
            with far.open("w") as file:
                file.write("there")
            places = os.getcwd(), sys.dont_write_bytecode
        return before == os.getcwd(), places, seen, hidden

    for _ in range(2):  # what the first run left is not seen by the second
        (back, (place, no_bytecode), seen, hidden), why = isolated.in_child(work)
        assert (back, no_bytecode, why, hidden) == (True, True, "", set())
        assert Path(place) == isolated.place_of_runs().resolve() / "work"
        told = dict(seen)
        assert told["standard output"] == "out\nraw\n" and sorted(told["standard error"].split()) == ["err", "shell"]
        assert {"file 1", "file 2"} <= told.keys() and len(told["file 1"]) == 64 and told["file 1"] != told["file 2"]
        assert [text for name, text in seen if name == "opened for writing"] == ["left", str(far)]
        assert [told[f"name of file {number}"] for number in (1, 2, 3)] == ["left", str(far), "sub"]
        assert sorted(name for name in told if name.startswith("file ")) == ["file 1", "file 2", "file 3"]
        assert told["file 3"] == "directory"


# --- Two runs side by side --------------------------------------------------------------------------------------------


def test_what_no_output_decides() -> None:
    """Whole numbers where the law is one of whole numbers; every record in every block."""
    open_run = lockstep.Open()
    for law, kind in ((("uniform",), np.float64), (("integers", 3), np.int64), (("choice", (0.5, 0.5)), np.int64)):
        found = open_run.draw(Request("draw", ("a",), law=law, size=(2, 3)))
        assert found.dtype == kind and found.shape == (2, 3) and not found.any()
    found = open_run.assign(Request("assign", ("a",), law=("poisson", 0.5), size=4))
    assert found.tolist() == [EVERYWHERE] * 4 and found.dtype == np.int64


def test_a_run_waits_for_each_output_and_ends_when_nobody_chooses_any_more() -> None:
    """What it is given is a copy; it is told once that nobody chooses, and then without asking."""
    seen: list[Any] = []

    def train(records: Any, curator: Any) -> None:
        seen.append(np.geterr()["divide"])
        for name in ("a", "b", "c"):
            try:
                seen.append(curator.release(name, Laplace(1.0), np.array([1.0]), sensitivity=UNIT))
            except lockstep.Stopped as stopped:
                seen.append(str(stopped))

    waiting = lockstep.Waiting(train, RECORDS, Relation.ADD_REMOVE)
    assert waiting._thread.daemon
    first = waiting.asks()
    assert first is not None and first.name == "a" and first.value.tolist() == [1.0]  # type: ignore[union-attr]
    chosen = np.array([5.0])
    second = waiting.asks(chosen)
    chosen[0] = 6.0
    assert second is not None and second.name == "b"
    ending = threading.Thread(target=waiting.stop, daemon=True)
    ending.start()
    ending.join(20)
    assert not ending.is_alive()
    assert seen[0] == "ignore" and seen[1].tolist() == [5.0] and seen[2:] == ["b", "c"]
    assert not waiting._thread.is_alive()
    lockstep.Waiting(train, RECORDS, Relation.ADD_REMOVE).stop()  # one that never began has nothing to wait for


# --- Names and expressions by which a trainer can tell where it runs --------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("HERE: int = 3", False), ("HERE = 0\nHERE += 1", False), ("HERE: str = os.name", True),
        ("try:\n    import flask\n    one = 1\nexcept ImportError:\n    HERE = 1", True),
        ("try:\n    one = 1\n    import flask\nexcept ImportError:\n    HERE = 1", True),
        ("import os.path as HERE", True), ("import numpy.random as HERE", True), ("import numpy.linalg as HERE", False),
        ("from . import HERE", False), ("from os.path import join as HERE", True), ("from numpy import random as HERE",
        True), ("if os.name:\n    pass\nelse:\n    HERE = 1", True), ("if one:\n    HERE = os.name", True),
        ("try:\n    one = 1\nfinally:\n    HERE = os.name", True), ("HERE = numpy.random.random()", True),
        ("class HERE:\n    one = 1", False), ("a = HERE = os.name", True), ("def HERE():\n    return lambda: os", True),
    ],
)  # fmt: skip
def test_a_name_is_of_the_surroundings_if_it_comes_from_them(text: str, found: bool) -> None:
    assert ("HERE" in names_around(ast.parse(text))) is found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("a = 1 if b else c", False), ("a = 1 if sys.x else c", True), ("a = b if c else sys.x", False),
        ("a = 1 if random.random() else c", True), ("a = b and c", False), ("a = [b for _ in c if b]", False),
        ("a = b.get(c, sys.x)", False), ("a = b.pop(sys.x)", False), ("a = len(sys.x)", False),
        ("while b: a = c", False), ("a = -sys.x", False), ("a[sys.x] = b", False), ("exec(b)", True),
        ("a = {b for _ in c if sys.x}", True), ("a = {b: 1 for _ in c if sys.x}", True),
        ("a = any(b for _ in c if sys.x)", True), ("a = [sys.x for _ in c if b]", False),
    ],
)  # fmt: skip
def test_an_expression_is_told_if_it_chooses_by_the_surroundings(line: str, found: bool) -> None:
    (function,) = ast.parse(f"def train(records, curator):\n    {line}\n").body
    assert isinstance(function, ast.FunctionDef)
    assert set(told_apart(function, {2}, {"sys", "random"})) == ({2} if found else set())
    assert set(told_apart(function, {1}, {"sys", "random"})) == set()


# --- Numbers that are no floats ---------------------------------------------------------------------------------------


def test_large_numbers_are_a_float_and_what_it_leaves_over() -> None:
    assert list(in_floats(2**53)) == [2.0**53] and list(in_floats(2**53 + 1)) == [2.0**53, 1.0]
    assert list(in_floats(-(2**53) - 1)) == [-(2.0**53), -1.0] and list(in_floats(1.5)) == [1.5]
    huge, less = list(in_floats(10**400)), list(in_floats(-(10**400)))
    assert huge[0] == math.inf and less[0] == -math.inf and huge[1:] == less[1:]
    assert sum(int(one) << 48 * place for place, one in enumerate(huge[1:])) == 10**400
    assert list(in_floats("1 -2.5 .5 3e2 x4 5y 6. 7y8")) == [1.0, -2.5, 0.5, 300.0, 5.0, 6.0]
    assert list(in_floats("none")) == []


def test_what_arrays_leave_over() -> None:
    def left(values: Any, dtype: Any) -> list[float]:
        array = np.array(values, dtype=dtype)
        return digits_left(array, array.astype(np.float64)).tolist()

    assert left([2**53, 2**53 + 1, -(2**53) - 1, 5], np.int64) == [1.0, -1.0] and left([2**53], np.int64) == []
    assert left([2**31 - 1], np.int32) == [] and left([2**64 - 1], np.uint64) == [-1.0] and left([1.5], float) == []
    assert left([math.nan, 1.0], float) == [] and len(left([-math.nan], float)) == 1
    if np.finfo(np.longdouble).eps < np.finfo(float).eps:
        eps = np.finfo(np.longdouble).eps
        assert left([np.longdouble(1) + eps, np.longdouble(2)], np.longdouble) == [float(eps), 0.0]


def test_parts_of_dates_and_complex_numbers() -> None:
    assert dict(number_parts(complex(1, -2))) == {".real": 1.0, ".imag": -2.0}
    assert dict(number_parts(np.datetime64(5, "D"))) == {".ticks": 5, ".unit": "datetime64[D]"}


# --- Recorded runs ----------------------------------------------------------------------------------------------------


def small(**changed: Any) -> Any:
    given = {
        "epsilon": 1.0,
        "relation": Relation.ADD_REMOVE,
        "trees": 1,
        "trees_per_ensemble": 1,
        "depth": 1,
        "bins": 2,
    }
    return registry.paper("dpboost").module.Params(**given | changed)


@pytest.mark.parametrize("private", [False, True])
def test_a_run_is_recorded_and_played(private: bool, tmp_path: Path) -> None:
    """With true values where that is asked for; what it assumes, and that there is no privacy in the play, is told."""
    steps: list[int] = []
    paper = registry.paper("dpboost")
    done, text = run.recorded(paper, small(), RECORDS, 7, private=private, progress=lambda: steps.append(1))
    assert steps and run.RECORDED in done.certificate.assumptions
    path = tmp_path / "tape"
    path.write_text(text)
    tape = tape_file.read(path)
    releases = [entry for entry in tape.entries if entry["kind"] == "release"]
    assert tape.header["private"] is private and releases and all(("value" in one) is private for one in releases)
    count = len(steps)
    again = run.played(paper, small(), RECORDS, path, progress=lambda: steps.append(1))
    assert again.model.to_json() == done.model.to_json() and len(steps) == 2 * count
    assert run.PLAYED in str(again.certificate.to_dict())
    with pytest.raises(InvalidParameter, match="tape of"):
        run.played(paper, small(bins=3), RECORDS, path)
    lines = text.splitlines()
    head = lines[0].replace(f'"entries": {len(lines) - 1}', f'"entries": {len(lines)}')
    path.write_text("\n".join([head, *lines[1:], lines[-1]]) + "\n")
    with pytest.raises(InvalidParameter, match="after the run"):
        run.played(paper, small(), RECORDS, path)


def test_options_of_recording_that_contradict_each_other_are_refused() -> None:
    one, other = Path("one"), Path("other")
    for allowed in (
        (None, None, False, None),
        (one, None, False, 3),
        (one, None, True, None),
        (None, other, False, None),
    ):
        run.check_options(*allowed)
    for wrong, said in (((one, other, False, None), "--tape other with --record"),
                        ((None, other, False, 0), "--tape other with --seed"),
                        ((None, None, True, None), "--private: it says what --record")):  # fmt: skip
        with pytest.raises(InvalidParameter, match=said):
            run.check_options(*wrong)


# --- Accounting -------------------------------------------------------------------------------------------------------


def test_orders_of_private_selection_reach_from_close_to_1_to_a_million() -> None:
    """By doubling from 1 + 1/64 to 2, whole from 3 to 63, by roots of 2 from 64 on. None twice."""
    orders = selection.ORDERS
    assert orders[:7].tolist() == [1 + 1 / 64, 1 + 1 / 32, 1.0625, 1.125, 1.25, 1.5, 2.0]
    assert orders[7:68].tolist() == [float(order) for order in range(3, 64)]
    assert np.allclose(np.diff(np.log2(orders[68:])), 0.5) and (orders[68], orders[70]) == (64.0, 128.0)
    assert orders[-1] == pytest.approx(2**20.5) and len(orders) == 98 and np.all(np.diff(orders) > 0)


@pytest.mark.parametrize("eta", [0, 1])
@pytest.mark.parametrize("mean", [1.5, 20.0, 1000.0, 1e9])
def test_the_law_of_a_mean_has_it_or_slightly_less(eta: int, mean: float) -> None:
    law = selection.Repetitions.of_mean(mean, eta)
    assert mean * (1 - 1e-9) <= law.mean <= mean and law.eta == eta
    assert law.generating(0.0) == 0.0 and law.generating(1.0) == pytest.approx(1.0)
    if mean < 1e9:  # E K is the slope of E x^K at 1
        assert (1 - law.generating(1 - 1e-3 / mean**2)) * mean**2 / 1e-3 == pytest.approx(law.mean, rel=0.02)
    for wrong in (1.0, 2e9):
        with pytest.raises(InvalidParameter):
            selection.Repetitions.of_mean(wrong, eta)


def test_series_have_as_many_terms_as_their_errors_need_and_no_more() -> None:
    """The first term left out of 2 phi(x) / x^2 at 1/4, and theta's eight terms."""
    terms = divergences._SERIES
    assert 0.25**terms / math.factorial(terms + 2) < 1e-21 < 0.25 ** (terms - 1) / math.factorial(terms + 1)
    assert divergences._THETA.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]


@pytest.mark.parametrize("loss", [1.0, 0.999, 1.001, -1.0, 5.0])
def test_kullback_leibler_of_two_points(loss: float) -> None:
    """p = q e^L at the first of two outcomes, also where the other mass is 0."""
    q = 0.1 * math.exp(-max(loss, 0))
    p = q * math.exp(loss)
    rows = np.log(np.array([[p, 1 - p], [q, 1 - q]]))
    truth = p * loss + (1 - p) * math.log((1 - p) / (1 - q))
    found = divergences._kullback_leibler(rows[:1], rows[1:], rows[:1] - rows[1:])
    assert found.tolist() == [pytest.approx(truth, rel=1e-12)]
    one_sided = divergences._kullback_leibler(np.array([[0.0, -np.inf]]), np.log([[0.5, 0.5]]),
                                              np.array([[math.log(2), -np.inf]]))  # fmt: skip
    assert one_sided.tolist() == [pytest.approx(math.log(2))]
