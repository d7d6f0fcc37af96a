"""Options of the suite: what the functions that took long when `--note-slow` last wrote them down are left out of.

Times are of the processor, with those of child processes, so that other people's work on the machine does not count.
Two lists name functions, with all of their parameters. Those of tests/slow.txt are not run in the moment between two
edits (`--quick`); those of tests/long.txt, the longest, not by `make test` (`--brief`) but by `make long` (`--long`).
CI runs both.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import os
import sys
from collections import Counter
from collections.abc import Collection, Generator
from pathlib import Path
from typing import Any

import pytest

from refdp.audit import isolated
from refdp.faces.registry import PAPERS
from refdp.ledger.proved import running

EVERY, SELDOM = isolated.THOROUGH, 1 << 30
SLOW, LONG = (Path(__file__).with_name(name) for name in ("slow.txt", "long.txt"))
ROOT = SLOW.parents[1]
CASE, WHOLE = 0.1, 2.0
"""A function is slow if one of its cases takes CASE seconds of processor time, or all of them together WHOLE."""
LONGEST = 6.0
"""A function is long if its cases together take so many seconds: the others are run in twenty minutes of two cores."""

KEPT = 1 << 30
"""Bytes of freed memory that a process of tests keeps: large arrays are made again where the last ones were.

Otherwise each is mapped, filled with zeros by the system page by page, and unmapped: a third of the suite's time.
"""

_worst: Counter[str] = Counter()
_total: Counter[str] = Counter()
_since = 0.0
_file: Path | None = None
_left = ""


def library() -> Any:
    """The C library if it is GNU's, whose allocator can be told what to keep; None elsewhere."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        held = ctypes.CDLL(None)
        if held.mallopt and held.malloc_trim:
            return held
    return None


def keep(kept: int) -> bool:
    """Have this process keep that many bytes, and use them for arrays of up to that size. Whether it was taken."""
    trim, mapped = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of malloc.h
    return LIBRARY is not None and all(LIBRARY.mallopt(one, kept) for one in (trim, mapped))


LIBRARY = library()
keep(KEPT)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out the tests named in tests/slow.txt or long.txt")
    parser.addoption("--brief", action="store_true", help="leave out the tests named in tests/long.txt")
    parser.addoption("--long", action="store_true", help="run the tests named in tests/long.txt alone")
    parser.addoption(
        "--note-slow", action="store_true", help="write into tests/slow.txt and long.txt which of the tests run belong"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    quick, only = config.getoption("--quick"), config.getoption("--long")
    if not (quick or only or config.getoption("--brief")):
        return
    named = {*listed(LONG), *(listed(SLOW) if quick else ())}
    left = [item for item in items if (function_of(item.nodeid) in named) is not only]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if (function_of(item.nodeid) in named) is only]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What all modules hold is looked at in the first pairs of an audit, and later only in tests of audits.

    A look takes as long as several runs of such sizes. Before each file what is kept is given back: what a process
    holds is mapped anew in every forked run.
    """
    global _file
    if LIBRARY is not None and item.path != _file:
        LIBRARY.malloc_trim(0)
    _file = item.path
    isolated.THOROUGH = EVERY if "tests/audit/" in item.nodeid else SELDOM


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """After each file the papers' modules are what their sources say: what a test left in them the others would see."""
    global _left
    if nextitem is None or nextitem.path != item.path:
        before, here = _left, [paper for paper in PAPERS if f"refdp.papers.{paper}" in sys.modules]
        _left = _told(here) and _told(here)  # what a cache kept of a patched module is told once, and is gone then
        assert _left in ("", before), f"a test of this file left something else than its source says at {_left}"


def _told(papers: list[str]) -> str:
    """The first thing that is not what the sources of these papers say."""
    return next(filter(None, map(running, papers)), "")


def pytest_runtest_logstart() -> None:
    global _since
    _since = processor()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where a test runs, in a worker too: its report carries the time of its phase to where the reports are read."""
    global _since
    report = yield
    before, _since = _since, processor()
    report.processor = _since - before
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    spent = float(getattr(report, "processor", 0.0))
    name = function_of(report.nodeid)
    _total[name] += spent  # type: ignore[assignment]
    _worst[name] = max(_worst[name], spent)  # type: ignore[assignment]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--note-slow") and not hasattr(session.config, "workerinput"):
        slow = {name for name in _total if _worst[name] > CASE or _total[name] > WHOLE}
        for path, found in ((SLOW, slow), (LONG, {name for name in _total if _total[name] > LONGEST})):
            path.write_text("".join(f"{name}\n" for name in noted(listed(path), found, _total)), encoding="utf-8")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("--note-slow"):
        for option, path in (("--quick", SLOW), ("--brief", LONG)):
            named = set(listed(path))
            left = sum(seconds for name, seconds in _total.items() if name not in named)
            terminalreporter.write_line(
                f"{len(named)} functions in {path.name}; {option} would have left {left:.0f} of {_total.total():.0f} s"
            )


def function_of(nodeid: str) -> str:
    """The test function of a case: what stands before its parameters."""
    return nodeid.partition("[")[0]


def processor() -> float:
    """Seconds of processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def listed(path: Path) -> list[str]:
    """The functions that a list names."""
    return path.read_text(encoding="utf-8").split()


def noted(before: list[str], found: Collection[str], run: Collection[str]) -> list[str]:
    """Functions of this run that were found to belong, and those of `before` that were not run but still exist."""
    return sorted({name for name in before if name not in run and exists(name)}.union(found))


def exists(name: str) -> bool:
    """Whether a file of tests still defines `path::function` or `path::Class::function`."""
    path, *inside = name.split("::")
    if not (ROOT / path).is_file():
        return False
    body: list[ast.stmt] = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    for part in inside:
        found = [n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == part]
        if not found:
            return False
        body = found[0].body
    return bool(inside)
