"""What a run leaves in its process: every setting is told, and what modules hold is compared by the objects."""

from __future__ import annotations

import abc
import asyncio
import codecs
import contextlib
import contextvars
import copyreg
import decimal
import faulthandler
import functools
import gc
import hashlib
import io
import logging
import multiprocessing
import os
import random
import signal
import socket
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import global_state, process_settings
from refdp.audit.observer import View

NAMED: contextvars.ContextVar[int] = contextvars.ContextVar("audited")
FIRST: contextvars.ContextVar[int] = contextvars.ContextVar("a first")


@contextlib.contextmanager
def kept(read: Callable[[], Any], write: Callable[[Any], Any], value: Any) -> Iterator[None]:
    before = read()
    write(value)
    try:
        yield
    finally:
        write(before)


@contextlib.contextmanager
def named() -> Iterator[None]:
    token = NAMED.set(3)
    try:
        yield
    finally:
        NAMED.reset(token)


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    over = threading.Event()
    thread = threading.Thread(target=over.wait, name="left behind")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def filtered() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        yield


def nothing(*given: Any) -> None:
    """What a run may put where others call it."""


HANDLER, POLICY = logging.NullHandler(), asyncio.DefaultEventLoopPolicy()

CHANGES: dict[str, Callable[[], Any]] = {
    "numpy.random": lambda: kept(np.random.get_state, np.random.set_state, np.random.RandomState(9).get_state()),
    "random": lambda: kept(random.getstate, random.setstate, random.Random(9).getstate()),
    "numpy print options": lambda: np.printoptions(precision=3),
    "environment": lambda: kept(lambda: "", lambda to: os.environ.__setitem__("REFDP_LEFT", to), "1"),
    "working directory": lambda: kept(os.getcwd, os.chdir, "/"),
    "warning filters": filtered,
    "decimal context": lambda: decimal.localcontext(decimal.Context(prec=9)),
    "threads": waiting,
    "limits": lambda: kept(sys.getrecursionlimit, sys.setrecursionlimit, sys.getrecursionlimit() + 7),
    "module path": lambda: kept(lambda: list(sys.path), lambda to: sys.path.__setitem__(slice(None), to), [*sys.path,
    "/left"]),
    "mode of new files": lambda: kept(lambda: os.umask(os.umask(0o22)), os.umask, 0o27),
    "hooks": lambda: kept(lambda: sys.displayhook, lambda to: setattr(sys, "displayhook", to), print),
    "patience of sockets": lambda: kept(socket.getdefaulttimeout, socket.setdefaulttimeout, 77.0),
    "pickling": lambda: kept(lambda: None, lambda to: copyreg.dispatch_table.update({SimpleNamespace: repr}) if to else
                             copyreg.dispatch_table.pop(SimpleNamespace, None), True),
    "collector": lambda: kept(gc.get_threshold, lambda to: gc.set_threshold(*to), (701, 11, 12)),
    "logging": lambda: kept(lambda: logging.root.manager.disable, logging.disable, 31),
    "handlers of signals": lambda: kept(lambda: signal.getsignal(signal.SIGUSR1),
    lambda to: signal.signal(signal.SIGUSR1, to), signal.SIG_IGN),
    "context variable": named,
    "warnings given once": lambda: kept(lambda: None, lambda to: warnings.onceregistry.update(left=1) if to  # type: ignore[attr-defined]
                                        else warnings.onceregistry.pop("left", None), True),  # type: ignore[attr-defined]
    "timers": lambda: kept(lambda: (0, 0), lambda to: signal.setitimer(signal.ITIMER_VIRTUAL, *to), (5000, 3)),
    "room of threads": lambda: kept(threading.stack_size, threading.stack_size, 1 << 20),
    "origins of coroutines": lambda: kept(sys.get_coroutine_origin_tracking_depth,
                                          sys.set_coroutine_origin_tracking_depth, 3),
    "loading of libraries": lambda: kept(sys.getdlopenflags, sys.setdlopenflags, sys.getdlopenflags() + 1),
    "arguments of the program": lambda: kept(lambda: list(sys.argv), lambda to: sys.argv.__setitem__(slice(None), to),
                                             [*sys.argv, "left"]),
    "signals that are held back": lambda: kept(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, []),
    lambda to: signal.pthread_sigmask(signal.SIG_SETMASK, to), [signal.SIGUSR2]),
    "hooks of generators": lambda: kept(sys.get_asyncgen_hooks, lambda to: sys.set_asyncgen_hooks(*to), (print, None)),
    "hooks of the collector": lambda: kept(list, lambda to: gc.callbacks.extend(to) if to else gc.callbacks.pop(),
                                           [nothing]),
    "hooks of imports": lambda: kept(list, lambda to: sys.path_hooks.extend(to) if to else sys.path_hooks.pop(),
                                     [nothing]),
    "hooks of tracing": lambda: kept(lambda: None, threading.setprofile, nothing),
    "handlers of the root logger": lambda: kept(lambda: None, lambda to: logging.root.addHandler(HANDLER) if to else
                                                logging.root.removeHandler(HANDLER), True),
    "tracebacks of faults": lambda: kept(faulthandler.is_enabled, lambda to: faulthandler.enable(sys.__stderr__) if to
                                         else faulthandler.disable(), not faulthandler.is_enabled()),
    "hooks of codecs": lambda: kept(lambda: None, lambda to: (codecs.register if to else codecs.unregister)(nothing),
                                    True),
    "start of processes": lambda: kept(lambda: multiprocessing.get_start_method(allow_none=True),
                                       lambda to: multiprocessing.set_start_method(to, force=True), "forkserver"),
    "maker of loops of events": lambda: kept(lambda: None, asyncio.set_event_loop_policy, POLICY),
    "decimal contexts to begin with": lambda: kept(lambda: decimal.DefaultContext.prec,
                                                   lambda to: setattr(decimal.DefaultContext, "prec", to), 31),
    "standard streams": lambda: kept(lambda: sys.stdin, lambda to: setattr(sys, "stdin", to), io.StringIO("left")),
}  # fmt: skip


def everything() -> dict[str, str]:
    found = View()
    global_state.in_context(found)
    return {**dict(global_state.left_behind(False)), "context variable": repr(found.lines)}


def test_what_a_context_variable_hides_is_named() -> None:
    def inside() -> View:
        NAMED.set(threading.Lock())  # type: ignore[arg-type]
        found = View()
        global_state.in_context(found)
        return found

    assert contextvars.copy_context().run(inside).opaque == ["context variable audited"]


def test_what_a_notebook_keeps_in_its_context_is_no_run_s() -> None:
    def inside() -> tuple[View, View]:
        NAMED.set(threading.Lock())  # type: ignore[arg-type]
        before, same, other = global_state.context(), View(), View()
        global_state.in_context(same, before)
        NAMED.set(threading.Lock())  # type: ignore[arg-type]
        global_state.in_context(other, before)
        return same, other

    same, other = contextvars.copy_context().run(inside)
    assert (same.opaque, other.opaque) == ([], ["context variable audited"])
    assert any(place.startswith("context variable audited") for place, _ in same.lines)


def test_levels_of_loggers_and_what_handlers_of_signals_keep_are_told() -> None:
    def answers(to: int) -> Any:
        return lambda *_: to

    changes = {
        "logging": lambda to: logging.getLogger("left").setLevel(to),
        "handlers of signals": lambda to: signal.signal(signal.SIGUSR1, answers(to) if to else signal.SIG_DFL),
    }
    for name, change in changes.items():
        found = []
        for to in (5, 6, 0):
            change(to)
            found.append(everything())
        assert [key for key in found[0] if found[0][key] != found[1][key]] == [name]


@pytest.mark.parametrize("name", CHANGES)
def test_one_changed_setting_is_told_under_its_name_alone(name: str) -> None:
    before = everything()
    with CHANGES[name]():
        after = everything()
    changed = {key for key in before | after if before.get(key) != after.get(key)}
    assert {name} <= changed <= {name, *(["context variable"] if name.startswith("numpy print") else [])}  # numpy's own
    if name != "environment":
        assert everything() == before
    os.environ.pop("REFDP_LEFT", None)


def test_options_of_libraries_are_told_where_these_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"display": {"rows": 60_007}}  # as no other library has it
    monkeypatch.setitem(sys.modules, "matplotlib", SimpleNamespace(rcParams=options))
    before = dict(global_state.left_behind(False))["options of libraries"]
    options["display"]["rows"] = 61_007
    after = dict(global_state.left_behind(False))["options of libraries"]
    assert after == before.replace("int 60007", "int 61007") != before


def test_seeds_are_of_both_generators() -> None:
    states = np.random.get_state(), random.getstate()  # noqa: NPY002
    global_state.seeded(5)
    assert random.random() == random.Random(5).random()
    assert np.random.random() == np.random.RandomState(5).random()  # noqa: NPY002
    np.random.set_state(states[0])  # noqa: NPY002
    random.setstate(states[1])


def test_modes_and_registered_classes() -> None:
    before = os.umask(0o31)
    try:
        assert global_state._umask() == 0o31 == global_state._umask()
    finally:
        os.umask(before)
    told = dict(global_state.left_behind(False))

    class Left:
        pass

    class Registry(abc.ABC):  # noqa: B024
        pass

    Registry.register(Left)
    assert dict(global_state.left_behind(False))["registered classes"] != told["registered classes"]
    assert told["working directory"] == os.getcwd() and told["mode of new files"] == oct(before)
    assert (
        [len(one) for one in global_state._HANDLERS]
        and process_settings.named(print) == "print"
        and process_settings.named(3) == "3"
    )


def test_modules_are_looked_at_where_an_object_of_theirs_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("refdp.left")

    class Own:
        kept = "a"

    Own.__module__, Own.__qualname__ = "refdp.left", "Own"
    module.__dict__.update(
        {"number": 3, "text": "t" * 2000, "table": {1: 2}, "__hidden__": 4, "Own": Own, "Foreign": SimpleNamespace}
    )
    other = types.ModuleType("elsewhere.left")
    other.__dict__.update({"number": 5, "Own": Own})
    monkeypatch.setattr(
        sys, "modules", {"refdp.left": module, "elsewhere.left": other, "__main__": types.ModuleType("m"), "odd": 3}
    )
    assert [name for name, _ in global_state._modules()] == ["refdp.left", "elsewhere.left"]
    global_state.remember()
    try:
        assert list(global_state._thorough()) == []
        module.number = 4  # type: ignore[attr-defined]
        digest = hashlib.sha256(repr("t" * 2000).encode()).hexdigest()
        found = dict(global_state._thorough())
        assert found == {"refdp.left.number": "4", "refdp.left.text": f"{repr('t' * 2000)[:1000]} {digest}",
                         "refdp.left.__hidden__": "4", "refdp.left.__name__": "'refdp.left'"}  # fmt: skip
        global_state.remember()
        Own.kept = "b"
        found = dict(global_state._thorough())
        assert found["refdp.left.Own.kept"] == "'b'" and "refdp.left.number" not in found
        global_state.remember()
        other.more = 1.5  # type: ignore[attr-defined]
        assert dict(global_state._thorough()) == {
            "elsewhere.left.number": "5", "elsewhere.left.more": "1.5", "elsewhere.left.__name__": "'elsewhere.left'"
        }  # fmt: skip
        sys.modules["refdp.new"] = module
        assert dict(global_state._thorough())["refdp.new.number"] == "4"
    finally:
        monkeypatch.undo()
        global_state._BEFORE.clear()
        global_state._CLASSES.clear()


def test_objects_are_the_same_by_identity() -> None:
    one, two = [1], [1]
    assert global_state._same((one, 3), {"a": one, "b": 3}) and not global_state._same((one,), {"a": two})
    assert (
        not global_state._same(None, {})
        and global_state._same((), {})
        and not global_state._same((one,), {"a": one, "b": 3})
    )


def test_what_is_left_on_arguments() -> None:
    curator = SimpleNamespace(own=1, left=2)
    found = View()
    global_state.on_arguments(found, curator, "schema", {"own": frozenset()})
    assert found.lines == [("curator.left", "int 2"), ("schema", "str 'schema'")]


def test_descriptors_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = global_state.descriptors()
    with (tmp_path / "a").open("w"), (tmp_path / "b").open("w"):
        assert global_state.descriptors() == before + 2 if before else True

    def nothing(place: str) -> list[str]:
        raise OSError

    monkeypatch.setattr(os, "listdir", nothing)
    assert global_state.descriptors() == 0


def test_context_variables_are_in_order_of_their_names() -> None:
    numpys: contextvars.ContextVar[int] = contextvars.ContextVar("numpy's")

    def inside() -> list[str]:
        for one in (NAMED, FIRST, numpys):
            one.set(1)
        decimal.getcontext()
        return [held.name for held, _ in global_state._context()]

    found = contextvars.copy_context().run(inside)
    assert [name for name in found if name in ("a first", "audited", "numpy's", "decimal_context")] == [
        "a first",
        "audited",
    ]
    assert found == sorted(found)


def test_a_thorough_look_is_the_default_and_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(global_state, "_thorough", lambda: iter([("a module", "3")]))
    assert ("a module", "3") in global_state.left_behind() and ("a module", "3") not in global_state.left_behind(False)


def test_all_filters_of_warnings_priority_and_processors_are_told() -> None:
    with warnings.catch_warnings():
        for number in range(12):
            warnings.filterwarnings("ignore", message=f"left {number}")
        told = dict(global_state.left_behind(False))
    assert [f"left {number}'" in told["warning filters"] for number in range(12)] == [True] * 12
    processors = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    priority = os.getpriority(os.PRIO_PROCESS, 0) if hasattr(os, "getpriority") else None
    assert told["priority and processors"] == repr((priority, processors))


def test_a_function_that_a_run_put_there_is_looked_into() -> None:
    process_settings.remember_hooks()
    told = []
    try:
        for number in (1, 2):
            with kept(
                lambda: sys.excepthook, lambda to: setattr(sys, "excepthook", to), functools.partial(print, number)
            ):
                told.append(dict(process_settings.settings())["hooks"])
        assert told[0] != told[1] and told[0].replace("int 1", "int 2") != told[0]
        assert "int 1" not in (now := dict(process_settings.settings())["hooks"]) and "int 2" not in now
    finally:
        process_settings._HOOKS.clear()


def test_what_is_plain_of_handlers_and_makers_of_loops_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    handler, policy = logging.NullHandler(), asyncio.DefaultEventLoopPolicy()
    monkeypatch.setattr(logging.root, "handlers", [*logging.root.handlers, handler])
    monkeypatch.setattr(asyncio.events, "_event_loop_policy", policy)
    for name, thing in (("handlers of the root logger", handler), ("maker of loops of events", policy)):
        told = []
        for rows in (1, 2, 1):
            thing.rows = rows  # type: ignore[attr-defined]
            thing.times = [object()]  # type: ignore[attr-defined]
            told.append(dict(process_settings.settings())[name])
        assert told[0] == told[2] != told[1] and "0x" not in told[0]


def test_numpy_takes_errors_as_it_is_told() -> None:
    with np.errstate(all="ignore"):
        before = process_settings.numerics()
        np.setbufsize(16 * 100)
        assert process_settings.numerics() != before
        np.setbufsize(8192)
        np.seterrcall(nothing)  # type: ignore[arg-type]
        assert process_settings.numerics() != before


def test_numbers_of_numpy_texts_about_a_module_and_new_names_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("elsewhere.left")
    monkeypatch.setattr(sys, "modules", {"elsewhere.left": module})
    global_state.remember()
    try:
        module.number, module.__doc__ = np.float64(5), "left"  # type: ignore[attr-defined]
        sys.modules["new"], sys.modules["odd"] = None, SimpleNamespace(n=7)  # type: ignore[assignment]
        told = dict(global_state._thorough())
    finally:
        monkeypatch.undo()
        global_state._BEFORE.clear()
        global_state._NAMES.clear()
    assert told["elsewhere.left.number"] == repr(np.float64(5)) and told["elsewhere.left.__doc__"] == "'left'"
    assert told["module new"] == "NoneType" and "int 7" in told["module odd holds"]


def test_what_is_left_on_a_curators_own_objects() -> None:
    curator = SimpleNamespace(own=SimpleNamespace(kept=1))
    before = global_state.of_curator(curator)
    curator.own.left = 2
    found = View()
    global_state.on_arguments(found, curator, None, before)
    assert found.lines == [("curator.own.left", "int 2"), ("schema", "NoneType None")]
