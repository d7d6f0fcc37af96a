"""What a run leaves to be done by threads, timers, the process's end and its children."""

from __future__ import annotations

import _thread
import atexit
import gc
import multiprocessing.util
import os
import threading
import time
from typing import Any

import pytest

from refdp.audit import afterwards
from refdp.audit.isolated import CAN_FORK


class Stuck(threading.Thread):
    """A thread that somebody has to end."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.over = threading.Event()

    def run(self) -> None:
        self.over.wait(5)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No exit functions of the tests' own process are run, and other threads of it are not looked at."""
    called: list[str] = []
    monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: called.append("exit"))
    before = set(threading.enumerate()) - {threading.current_thread()}
    every = threading.enumerate
    monkeypatch.setattr(threading, "enumerate", lambda: [one for one in every() if one not in before])
    count, others = _thread._count, afterwards.threads()
    monkeypatch.setattr(_thread, "_count", lambda: count() - others)
    return called


def test_nothing_to_do_takes_no_time(alone: list[str]) -> None:
    start = time.monotonic()
    assert afterwards.last_words() == [] and alone == ["exit"]
    assert time.monotonic() - start < 5


def test_a_timer_is_done_now_and_once() -> None:
    done: list[Any] = []
    timer = threading.Timer(3600.0, lambda *words, **named: done.append((words, named)), (1, 2), {"a": 3})
    over = threading.Timer(0.0, lambda: done.append("over"))
    raising = threading.Timer(3600.0, lambda: 1 / 0)
    for one in (timer, over, raising):
        one.start()
    over.join()
    assert afterwards.last_words() == [] and done == ["over", ((1, 2), {"a": 3})]
    assert not timer.is_alive() and not raising.is_alive()


def test_threads_are_waited_for_a_fifth_of_a_second_in_all() -> None:
    assert afterwards.PATIENCE == 0.2
    short = threading.Thread(target=lambda: time.sleep(0.05))
    stuck = [Stuck(), Stuck(), Stuck()]
    short.start()
    for one in stuck:
        one.start()
    start = time.monotonic()
    assert afterwards.last_words() == ["what thread Stuck does later"] * 3
    assert time.monotonic() - start > 0.15
    for one in stuck:
        one.over.set()


def test_a_limit_of_patience_is_for_all_threads_together(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(Stuck, "join", lambda self, timeout: waited.append(timeout))
    clock = iter([100.0, 100.05, 100.15, 100.4])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    stuck = [Stuck(), Stuck(), Stuck()]
    for one in stuck:
        one.start()
    afterwards.last_words()
    assert waited == pytest.approx([0.15, 0.05, 0.0])
    for one in stuck:
        one.over.set()


def test_what_only_the_collector_ends_is_ended() -> None:
    ended: list[int] = []

    class Late:
        def __del__(self) -> None:
            ended.append(1)

    one = Late()
    one.self = one  # type: ignore[attr-defined]
    gc.disable()
    try:
        del one
        afterwards.last_words()
    finally:
        gc.enable()
    assert ended == [1]


def test_an_exit_function_that_fails_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: 1 / 0)
    assert afterwards.last_words() == []


@pytest.mark.skipif(not CAN_FORK, reason="needs fork")
def test_children_that_ended_are_told_in_order_and_whether_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = iter([(7, 512), (0, 0), (8, 256), (0, 0), (0, 0)])
    clock = iter([10.0, 10.1, 10.2, 10.25])
    slept: list[float] = []
    asked: list[Any] = []
    monkeypatch.setattr(os, "waitpid", lambda *of: asked.append(of) or next(waiting))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(time, "sleep", slept.append)
    assert afterwards.children() == "ended with [256, 512], others run"
    assert set(asked) == {(-1, os.WNOHANG)} and len(asked) == 5 and slept == [0.005, 0.005]


def test_children_are_waited_for_until_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def waitpid(which: int, how: int) -> tuple[int, int]:
        if not ends:
            raise ChildProcessError
        return ends.pop()

    ends = [(0, 0), (5, 256), (4, 0)]
    monkeypatch.setattr(os, "waitpid", waitpid)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    assert afterwards.children() == "ended with [0, 256]"
    ends = []
    assert afterwards.children() == "ended with []"


def test_a_thread_that_no_module_knows_is_named() -> None:
    over, before = threading.Event(), afterwards.threads()
    _thread.start_new_thread(over.wait, (5,))
    assert afterwards.last_words(before) == ["what a thread does later that `threading` does not know"]
    over.set()
    assert afterwards.last_words(before) == []


def test_what_threading_and_multiprocessing_do_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    before = afterwards.at_exit()
    monkeypatch.setattr(threading, "_threading_atexits", [*threading._threading_atexits, len])  # type: ignore[attr-defined]
    late = multiprocessing.util.Finalize(None, abs, exitpriority=1)
    held = Stuck()
    multiprocessing.util.register_after_fork(held, repr)
    try:
        left = [one for one in afterwards.at_exit() if not any(one is other for other in before)]
        assert left == [len, abs, repr]
    finally:
        late.cancel()
    del held
    gc.collect()
    assert repr not in afterwards.at_exit()
