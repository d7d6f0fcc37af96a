"""Options of the suite: `--quick` leaves out the tests that were slow when `--note-slow` last wrote them down.

A test is slow if its call took a tenth of a second of wall clock on a run of everything; tests/slow.txt names
functions, with all of their parameters. It is for the moment between two edits: `make test` runs everything.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SLOW = Path(__file__).with_name("slow.txt")
LIMIT = 0.1
_slow: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out the tests named in tests/slow.txt")
    parser.addoption("--note-slow", action="store_true", help="write tests/slow.txt anew, after a run of everything")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--quick"):
        return
    slow = set(SLOW.read_text(encoding="utf-8").split("\n"))
    left = [item for item in items if item.nodeid.partition("[")[0] in slow]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item.nodeid.partition("[")[0] not in slow]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.duration > LIMIT:
        _slow.add(report.nodeid.partition("[")[0])


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--note-slow") and not hasattr(session.config, "workerinput"):
        SLOW.write_text("\n".join(sorted(_slow)) + "\n", encoding="utf-8")
