"""One run in a process of its own: what is heard, told and left."""

from __future__ import annotations

import csv
import hashlib
import importlib
import logging
import mmap
import os
import pickle
import random
import signal
import sqlite3
import sys
import tempfile
import threading
import time
import uuid
import warnings
import weakref
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import isolated
from refdp.audit.isolated import Outcome
from refdp.data.records import Interval, Numeric, Records, Schema
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import Transcript
from refdp.privacy.events import Relation, Sensitivity
from refdp.privacy.replay import RecordSwap, ReplaySource
from refdp.privacy.sources import SampleSource

SCHEMA = Schema((Numeric("a", 0.0, 1.0),), Interval(0.0, 1.0))


def test_which_runs_look_at_all_modules() -> None:
    """The first two, and one of six."""
    assert [seed for seed in range(20) if isolated._thorough(seed)] == [0, 1, 2, 6, 12, 18]


# --- What is heard ----------------------------------------------------------------------------------------------------


def heard(*events: tuple[str, tuple[Any, ...]], on: bool = True) -> Any:
    seen: list[Any] = []
    written: list[str] = []
    hidden: set[str] = set()
    for event, arguments in events:
        isolated._heard(event, arguments, [on], seen, written, hidden)
    return seen, written, hidden


def test_files_opened_for_writing_are_heard() -> None:
    for mode, flags, found in [("r", 0, False), ("w", 0, True), ("a", 0, True), ("x", 0, True), ("r+", 0, True),
        ("rb", None, False), (None, 0, False),
                               (None, os.O_WRONLY, True), (None, os.O_RDWR, True), (None, os.O_CREAT, True),
                                   ("r", os.O_RDWR, True), (None, None, False),
                               (None, os.O_NONBLOCK, False)]:  # fmt: skip
        seen, written, hidden = heard(("open", ("x/y", mode, flags)))
        assert (
            (seen == [("opened for writing", "x/y")]) is found
            and (written == [os.path.abspath("x/y")]) is found
            and not hidden
        )
        assert found or seen == written == []
    assert heard(("open", (b"x", "w", 0)))[0] == [("opened for writing", "x")]
    for path in ("a.pyc", os.devnull, 5):
        assert heard(("open", (path, "w", 0))) == ([], [], set())
    assert heard(("open", ("x", "w", 0)), on=False) == ([], [], set())


def test_databases_are_read_after_the_run(tmp_path: Path) -> None:
    """SQLite opens its files in C: Python says where alone."""

    def kept(rows: int, name: str) -> list[tuple[str, str]]:
        with isolated._watched() as (seen, _):
            base = sqlite3.connect(name, uri=name.startswith("file:"))
            base.execute("drop table if exists t")
            base.execute("create table t (n)")
            base.execute("insert into t values (?)", (rows,))
            base.commit()
            base.close()
        return seen

    for name in (str(tmp_path / "a.db"), f"file:{tmp_path / 'b.db'}?mode=rwc"):
        first, other = (isolated.in_child(partial(kept, rows, name))[0] for rows in (5, 6))
        assert [one for one in first if "sqlite" in one[0]] == [one for one in other if "sqlite" in one[0]]
        assert first != other


def test_calls_to_the_outside_are_heard() -> None:
    for event in isolated.WRITING:
        seen, written, hidden = heard((event, ("x" * 300, 1)))
        assert seen == [(event, repr(("x" * 300, 1))[:200])]
        own = os.path.abspath("x" * 300)
        assert written == ([own, f"{own}-wal"] if "sqlite" in event else [])
        assert hidden == ({isolated.HIDDEN[event]} if event in isolated.HIDDEN else set())
    assert heard(("gc.get_objects", ())) == ([], [], {"what is found in memory"}) and heard(("import", ("x",))) == (
        [],
        [],
        set(),
    )
    assert heard(("gc.get_objects", ()), on=False) == ([], [], set())


def test_log_records_are_heard_as_they_are_made() -> None:
    seen: list[Any] = []
    before = logging.getLogRecordFactory()
    with isolated._logged(seen):
        logging.getLogger("isolated.pieces").error("%d of %s", 3, "x")
        record = logging.makeLogRecord({})
        assert record.levelname
    with pytest.raises(KeyError), isolated._logged(seen):
        raise KeyError
    assert ("log", "isolated.pieces ERROR: 3 of x") in seen and logging.getLogRecordFactory() is before


# --- What is told -----------------------------------------------------------------------------------------------------


def test_an_error_is_told_with_its_chain() -> None:
    """Causes and contexts once each, with what they hold, and the lines that they came through."""
    try:
        try:
            raise ValueError(1)
        except ValueError as inner:
            inner.note = "n"  # type: ignore[attr-defined]
            raise KeyError(2) from inner
    except KeyError as error:
        told = isolated._told(error)
    kinds = [
        (place, text)
        for place, text in told
        if place.startswith("error") and "." not in text and place.count(".") <= 1 and text.endswith("Error")
    ]
    assert kinds == [("error", "KeyError"), ("error.__context__", "ValueError")]
    assert any(place.endswith("args[0]") and text == "int 2" for place, text in told) and any(
        text == "int 1" for _, text in told
    )
    assert any(place.endswith("__dict__['note']") and text == "str 'n'" for place, text in told)
    places = [text for place, text in told if place == "at"]
    assert len(places) == 2 and all("test_isolated_pieces.py:" in text for text in places)
    loop = ValueError()
    loop.__cause__ = loop
    assert len([one for one in isolated._told(loop) if one == ("error", "ValueError")]) == 1
    cause, context = TypeError(), OSError()
    both = ValueError()
    both.__cause__, both.__context__ = cause, context
    assert [text for place, text in isolated._told(both) if text.endswith("Error")] == [
        "ValueError",
        "OSError",
        "TypeError",
    ]
    first = last = ValueError(0)
    for number in range(250):
        last.__cause__ = ValueError(number)
        last = last.__cause__
    assert len([1 for _, text in isolated._told(first) if text == "ValueError"]) == 200


def test_noise_that_does_not_exist() -> None:
    def error_of(function: Any) -> BaseException:
        try:
            function()
        except Exception as error:
            return error
        raise AssertionError

    def other() -> None:
        raise InvalidParameter("x")

    class Made:
        def __post_init__(self) -> None:
            raise InvalidParameter("y")

    refused = error_of(lambda: Laplace(-1.0))
    assert isolated._bad_noise(refused) == str(refused) != ""
    for quiet in (error_of(other), error_of(lambda: Made().__post_init__()), ValueError("z"), None):
        assert isolated._bad_noise(quiet) == ""


def test_what_leaves_a_process_is_packed_or_said_not_to() -> None:
    assert pickle.loads(isolated._packed(([1], "")))[0] == [1]
    nothing, why = pickle.loads(isolated._packed((lambda: 0, "")))
    assert nothing is None and why.startswith("what was released cannot leave its process: ") and len(why) <= 500

    class Long:
        def __reduce__(self) -> Any:
            raise ValueError("x" * 900)

    assert len(pickle.loads(isolated._packed((Long(), "")))[1]) == 500


def test_a_pipe_is_read_until_it_is_closed_or_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (0, 1, 40_000):
        reading, writing = os.pipe()
        os.write(writing, b"x" * size)
        os.close(writing)
        assert isolated._read(reading) == (b"x" * size, True)
    monkeypatch.setattr(isolated, "SECONDS", 0.01)
    reading, writing = os.pipe()
    os.write(writing, b"x")
    assert isolated._read(reading) == (b"", False)
    os.close(writing)


@pytest.mark.skipif(not isolated.CAN_FORK, reason="runs have processes of their own by fork")
def test_results_and_errors_come_from_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.getpid()
    pid, why = isolated.in_child(os.getpid)
    assert pid != own and why == "" and isolated._CHILD == []
    assert isolated.in_child(lambda: bool(isolated._CHILD)) == (True, "")

    def wrong() -> None:
        raise KeyError("x" * 900)

    nothing, why = isolated.in_child(wrong)
    assert nothing is None and why.startswith("KeyError: 'xxx") and len(why) == 500
    assert isolated.in_child(lambda: os._exit(0)) == (None, "the process ended without a result")
    monkeypatch.setattr(isolated, "SECONDS", 0.05)
    start = time.monotonic()
    assert isolated.in_child(lambda: time.sleep(30)) == (None, "it did not end within 0.05 seconds")
    assert time.monotonic() - start < 15  # it was ended
    monkeypatch.setattr(isolated, "CAN_FORK", False)
    assert isolated.in_child(os.getpid) == (own, "")


def test_an_outcome_or_why_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Outcome(Transcript(Relation.ADD_REMOVE), bad_noise="b")
    for found, why in [(whole, ""), (None, "late"), ("other", "")]:
        monkeypatch.setattr(isolated, "in_child", lambda work: (found, why))  # noqa: B023
        outcome = isolated._forked(lambda: whole, Relation.REPLACE_ONE)
        assert outcome is whole if found is whole else outcome == Outcome(Transcript(Relation.REPLACE_ONE), failed=why)


def test_a_run_watches_the_trainers_own_module_besides(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(isolated, "_forked", lambda work, relation: (work(), relation))
    monkeypatch.setattr(isolated, "run_here", lambda *given: asked.append(given) or "ran")
    train: Any = lambda records, curator: None  # noqa: E731
    records: Any = "records"
    assert isolated.observed(train, records, "source", Relation.REPLACE_ONE, 5, "before", watched=("w",)) == (
        "ran",
        Relation.REPLACE_ONE,
    )  # type: ignore[arg-type, comparison-overlap]
    assert asked == [(train, "records", "source", Relation.REPLACE_ONE, 5, "before", ("w", __name__), None, None)]
    isolated.observed(SimpleNamespace(), records, "s", Relation.ADD_REMOVE, 1)  # type: ignore[arg-type]
    assert asked[1][5:] == (None, (), None, None)
    isolated.observed(SimpleNamespace(), records, "s", Relation.ADD_REMOVE, 1, "before", earlier="other")  # type: ignore[arg-type]
    assert asked[2][5:] == ("before", (), None, "other")


# --- A whole run ------------------------------------------------------------------------------------------------------

RECORDS = Records(SCHEMA, np.array([[0.25], [0.5]]), np.array([0.0, 1.0]))
BOUND = Sensitivity(1.0, 1, "test", Relation.ADD_REMOVE)


def noisy(records: Any, curator: Any) -> Any:
    """Everything that can be seen beside what is returned."""
    print("out", records.size)
    print("err", file=sys.stderr)
    warnings.warn("careful", stacklevel=1)
    logging.getLogger("noisy").warning("logged")
    Path("made").mkdir()
    Path("made/file").write_text("content")
    np.seterr(over="raise")
    return {"n": curator.release("n", Laplace(1.0), np.array([2.0]), sensitivity=BOUND)[0], "at": Path.cwd().name}


def failing(records: Any, curator: Any) -> Any:
    raise KeyError("wrong")


def leaving(records: Any, curator: Any) -> Any:
    raise SystemExit(3)


def keeping(records: Any, curator: Any) -> Any:
    curator.release("n", Laplace(1.0), np.array([2.0]), sensitivity=BOUND)
    KEPT.append(records.size)
    return (list(KEPT), random.random(), np.random.random())  # noqa: NPY002


KEPT: list[int] = []
needs_fork = pytest.mark.skipif(not isolated.CAN_FORK, reason="runs have processes of their own by fork")


def ran(train: Any, seed: int = 7, **given: Any) -> Outcome:
    return isolated.observed(train, RECORDS, SampleSource(np.random.default_rng(3)), Relation.ADD_REMOVE, seed, **given)


@needs_fork
def test_what_a_run_leaves_beside_its_result() -> None:
    found = ran(noisy)
    assert (
        found.failed == ""
        and found.parted is None
        and found.raised == ()
        and found.bad_noise == ""
        and found.opaque == ()
        and not found.lines
    )
    assert [entry.request.name for entry in found.transcript.entries] == ["n"] and found.event is not None
    noise = found.transcript.entries[0].output[0].tobytes().hex()
    assert any(noise in text for _, text in found.published) and any(
        text == "str 'work'" for _, text in found.published
    )
    beside = list(found.beside)
    assert ("standard output", "out 2\n") in beside and ("standard error", "err\n") in beside
    assert ("log", "noisy WARNING: logged") in beside and ("opened for writing", "made/file") in beside
    assert {("file 1", hashlib.sha256(b"content").hexdigest()), ("name of file 1", "made/file")} <= {*beside}
    assert {("file 2", "directory"), ("name of file 2", "made")} <= {*beside}
    assert any(place == "warning" and text.startswith("UserWarning: careful at ") for place, text in beside)
    assert any(place == "os.mkdir" for place, _ in beside)
    state = dict(found.state)
    assert (
        "'over': 'raise'" in state["numpy error state"]
        and state["open descriptors"] == "0"
        and state["children"] == "ended with []"
    )
    quiet = dict(ran(keeping).beside)
    assert quiet.get("standard output") == "" == quiet.get("standard error") and not any(
        "made" in place for place in quiet
    )


@needs_fork
@pytest.mark.parametrize(("train", "kind"), [(failing, "KeyError"), (leaving, "SystemExit")])
def test_what_a_run_that_fails_leaves(train: Any, kind: str) -> None:
    found = ran(train)
    assert (
        found.published == ()
        and ("error", kind) in found.raised
        and found.failed == ""
        and found.transcript.entries == []
    )
    assert any(place == "at" and "test_isolated_pieces.py" in text for place, text in found.raised)


@needs_fork
def test_nothing_reaches_the_next_run_but_in_the_same_process() -> None:
    """Global generators begin at the seed; records before are trained on with noise of their own."""
    first, again = ran(keeping), ran(keeping)
    assert first.published == again.published and KEPT == []
    drawn = random.Random(7).random()
    texts = [text for _, text in first.published]
    assert any(repr(drawn) in text for text in texts)
    assert any(repr(float(np.random.RandomState(7).random())) in text for text in texts)
    after = ran(keeping, before=RECORDS.take(np.array([1])))
    assert [text for _, text in after.published if text.startswith("int ")] == ["int 1", "int 2"]
    assert [text for _, text in after.published if text.startswith("float ")] == [
        text for text in texts if text.startswith("float ")
    ]
    assert len(after.transcript.entries) == 1
    held = [line for line in ran(keeping, watched=("tests.thinned",)).state if line[0].startswith(f"{__name__}.KEPT")]
    assert held and held == [line for line in first.state if line[0].startswith(f"{__name__}.KEPT")]
    failed = ran(keeping, before="no records")
    assert failed.failed == "" and len(failed.published) == len(first.published)


@needs_fork
def test_a_replay_that_parts_tells_where() -> None:
    recorded = ran(keeping).transcript
    swap = RecordSwap(0, 0)
    for train, parted in [(keeping, None), (failing, "control flow")]:
        source = ReplaySource(recorded, swap)
        found = isolated.observed(train, RECORDS, source, Relation.ADD_REMOVE, 7)
        assert (found.parted is None) is (parted is None)
        if parted:
            assert found.parted is not None and found.parted[:2] == (parted, "n") and found.parted[2]


def waiting(records: Any, curator: Any) -> Any:
    threading.Timer(1000.0, print, ("at last",)).start()
    curator.mark = records.size
    return str(Path.cwd())


@needs_fork
def test_what_a_run_leaves_for_later_and_on_its_curator_is_seen() -> None:
    """Every run finds itself in the same place, which is the parent's."""
    found, again = ran(waiting), ran(waiting)
    assert dict(found.beside)["standard output"] == "at last\n"
    assert "int 2" in dict(found.state)["curator.mark"]
    place = isolated.place_of_runs().resolve() / "work"
    assert found.published == again.published and any(text == f"str {str(place)!r}" for _, text in found.published)


def importing(records: Any, curator: Any) -> Any:
    Path("made_here.py").write_text("held = 3")
    sys.path.insert(0, str(Path.cwd()))
    return importlib.import_module("made_here").held


@needs_fork
def test_modules_that_a_run_imports_leave_no_bytecode() -> None:
    """Else the first run would leave what later ones do not."""
    found = ran(importing)
    assert any(text == "int 3" for _, text in found.published)
    assert [place for place, _ in found.beside if place.startswith("file ")] == ["file 1"]
    assert not {"os.mkdir", "os.rename"} & {place for place, _ in found.beside}


def printing(records: Any, curator: Any) -> Any:
    print("out", records.size)
    print("err", file=sys.stderr)


def test_streams_are_heard_where_there_is_no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "CAN_FORK", False)
    outside, streams = Path.cwd(), (sys.stdout, sys.stderr)
    found = dict(ran(printing).beside)
    assert found["standard output"] == "out 2\n" and found["standard error"] == "err\n"
    assert Path.cwd() == outside and (sys.stdout, sys.stderr) == streams


@needs_fork
def test_no_child_is_left_to_be_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = [isolated.in_child(os.getpid)[0]]
    fork = os.fork
    monkeypatch.setattr(os, "fork", lambda: (lambda child: gone.append(child) or child)(fork()))  # type: ignore[func-returns-value]
    isolated.in_child(lambda: None)
    monkeypatch.setattr(isolated, "SECONDS", 0.02)
    isolated.in_child(lambda: time.sleep(30))
    assert len(gone) == 3 and os.getpid() not in gone
    for child in gone:
        with pytest.raises(ChildProcessError):
            os.waitpid(child, os.WNOHANG)


def leaving_files(records: Any, curator: Any) -> None:
    """Names that the system makes up, and the same in them."""
    Path(f"{uuid.uuid4()}.txt").write_text(f"{records.size}")
    with tempfile.NamedTemporaryFile(prefix="mine") as one:
        one.write(b"x")
    tempfile.mkdtemp()


@needs_fork
def test_files_are_known_by_their_order_and_by_what_is_in_them() -> None:
    one, other = (dict(ran(leaving_files).beside) for _ in range(2))
    assert one["file 1"] == other["file 1"] == hashlib.sha256(b"2").hexdigest()
    assert one["name of file 1"] != other["name of file 1"]
    assert {key: text for key, text in one.items() if key not in ("opened for writing", "name of file 1")} == {
        key: text for key, text in other.items() if key not in ("opened for writing", "name of file 1")}  # fmt: skip
    assert any(place.startswith("name of") and "tmp0" in text for place, text in one.items())


def test_memory_that_is_shared_by_a_name_is_a_file(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w+b") as file:
        if not Path("/proc/self/fd").exists():
            return
        here, number = str((tmp_path / "a").resolve()), file.fileno()
        assert heard(("mmap.__new__", (number, 8, 0, 0)))[:2] == ([("opened for writing", here)], [here])
        for access in (mmap.ACCESS_READ, mmap.ACCESS_COPY):
            assert heard(("mmap.__new__", (number, 8, access, 0)))[0] == []
        assert heard(("mmap.__new__", (-1, 8, 0, 0)), ("mmap.__new__", (9999, 8, 0, 0)))[0] == []


@needs_fork
def test_what_is_written_to_files_that_were_open_before(tmp_path: Path) -> None:
    if not Path("/proc/self/fd").exists():
        return
    before = tmp_path / "before", tmp_path / "shared"
    before[1].write_bytes(b"abc")
    with before[0].open("a") as alone, before[1].open("r+") as shared:
        alone.write("pending")

        def writing(records: Any, curator: Any) -> None:
            alone.write(f"{records.size} rows")
            csv.writer(alone).writerow([1.5])
            shared.seek(0, os.SEEK_END)
            shared.write("def")

        def reading(records: Any, curator: Any) -> None:
            os.lseek(shared.fileno(), records.size - os.lseek(shared.fileno(), 0, os.SEEK_CUR), os.SEEK_CUR)

        def over(records: Any, curator: Any) -> None:
            os.pwrite(shared.fileno(), b"x", 0)

        names = [f"file {one.resolve()}, open before" for one in before]
        found = dict(ran(writing).beside)
        assert found[names[0]] == "2 rows1.5\r\n" and found[names[1]].endswith("3 bytes longer, 6 further, b'def'")
        assert before[0].read_text() == "pending"
        assert dict(ran(reading).beside)[names[1]] == "0 bytes longer, -4 further, b''"
        assert not set(names) & dict(ran(failing).beside).keys()
        os.utime(before[1], ns=(0, 0))
        assert f"what is written over in {before[1].resolve()}" in ran(over).opaque


@needs_fork
def test_places_flags_and_times_of_files_that_were_open_before(tmp_path: Path) -> None:
    if not Path("/proc/self/fd").exists():
        return
    for name in "rwb":
        (tmp_path / name).write_bytes(b"abcdef")
    with (tmp_path / "r").open("rb") as read, (tmp_path / "w").open("w") as alone, (tmp_path / "b").open("r+b") as both:
        name = {one: f"file {Path(one.name).resolve()}, open before" for one in (read, alone, both)}

        def moved(records: Any, curator: Any) -> None:
            os.lseek(read.fileno(), records.size, 0)

        def before_its_end(records: Any, curator: Any) -> None:
            os.lseek(alone.fileno(), records.size, 0)

        def inherited(records: Any, curator: Any) -> None:
            os.set_inheritable(read.fileno(), True)

        def put_back(records: Any, curator: Any) -> None:
            held = os.fstat(both.fileno())
            os.pwrite(both.fileno(), b"x", 0)
            os.utime(both.fileno(), ns=(held.st_atime_ns, held.st_mtime_ns))

        assert dict(ran(moved).beside)[name[read]] == "read to 2" and os.lseek(read.fileno(), 0, 1) == 0
        assert dict(ran(before_its_end).beside)[name[alone]] == "left at 2"
        assert dict(ran(inherited).beside)[name[read]].startswith("flags ")
        assert not {*name.values()} & dict(ran(failing).beside).keys()
        assert f"what is written over in {Path(both.name).resolve()}" in ran(put_back).opaque


@needs_fork
def test_how_a_run_ends_its_own_children_is_no_message() -> None:
    if not Path("/proc/self/stat").exists():
        return

    def child(records: Any, curator: Any) -> None:
        made = os.fork()
        if not made:
            time.sleep(30)
            os._exit(0)
        os.kill(made, signal.SIGTERM)
        os.waitpid(made, 0)

    def others(records: Any, curator: Any) -> None:
        os.kill(os.getppid(), 0)

    def signalled(records: Any, curator: Any) -> None:
        os.kill(os.getpid(), signal.SIGCONT)

    assert "os.kill" not in dict(ran(child).beside)
    assert "os.kill" in dict(ran(others).beside) and "os.kill" in dict(ran(signalled).beside)


@needs_fork
def test_what_a_run_imports_is_there_for_the_next(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "own_of_a_user.py").write_text("")
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "lazily_imported.py").write_text("import os\nNAME = str(os.urandom(8))\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site-packages"), str(tmp_path), *sys.path])

    def lazily(records: Any, curator: Any) -> None:
        for name in ("lazily_imported", "own_of_a_user"):
            importlib.import_module(name)

    try:
        assert ran(lazily, 6).loaded == ("lazily_imported",)
        assert "lazily_imported" in sys.modules and "own_of_a_user" not in sys.modules
        assert ran(lazily, 6).loaded == () and ran(lazily, 6).state == ran(lazily, 6).state
    finally:
        sys.modules.pop("lazily_imported", None)


@needs_fork
def test_what_a_file_that_is_left_open_holds_back_is_written() -> None:
    def holding(records: Any, curator: Any) -> None:
        KEPT.append(open("held", "w"))  # type: ignore[arg-type] # noqa: SIM115
        KEPT[-1].write(f"{records.size}")  # type: ignore[attr-defined]

    assert dict(ran(holding).beside)["file 1"] == hashlib.sha256(b"2").hexdigest()


@needs_fork
def test_what_is_to_be_called_at_the_end_is_told() -> None:
    def ending(records: Any, curator: Any) -> Any:
        return [weakref.finalize(Path, len, [7] * records.size)]

    assert ("finalizers[0][1][0][1]", "int 7") in ran(ending).state
