"""What `make quick` and `make test` leave out: written by a run, by two workers too, and naming tests that exist."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import conftest

TESTS = """
import pytest

@pytest.mark.parametrize("loops", [1, 20_000_000])
def test_slow_once(loops):
    assert sum(range(loops)) >= 0

def test_fast():
    pass

class TestMany:
    def test_slow(self):
        sum(range(20_000_000))
"""


@pytest.mark.parametrize("path", [conftest.SLOW, conftest.LONG], ids=["slow", "long"])
def test_every_name_in_the_list_is_a_test(path: Path) -> None:
    names = conftest.listed(path)
    assert names == sorted(set(names))
    assert [name for name in names if not conftest.exists(name)] == []


def test_a_name_that_is_gone_is_noticed() -> None:
    here = "tests/core/test_slow.py"
    assert conftest.exists(f"{here}::test_a_name_that_is_gone_is_noticed")
    assert not conftest.exists(f"{here}::test_that_was_renamed")
    assert not conftest.exists("tests/core/test_deleted.py::test_any") and not conftest.exists(here)


def test_a_run_of_some_keeps_what_it_did_not_run() -> None:
    here = "tests/core/test_slow.py::"
    not_run, gone = here + "test_every_name_in_the_list_is_a_test", here + "test_gone"
    assert conftest.noted([here + "a", not_run, gone], {here + "b"}, {here + "a", here + "b"}) == [here + "b", not_run]


def test_what_one_command_leaves_out_another_runs() -> None:
    """CI runs `make test` and then `make long`, which take the same files with opposite options."""
    lines = (conftest.ROOT / "Makefile").read_text(encoding="utf-8").split("\n")
    brief, long = ([line.replace(option, "") for line in lines if option in line] for option in ("--brief", "--long"))
    assert len(brief) == 2 and brief == long
    commands = (conftest.ROOT / ".ci" / "run").read_text(encoding="utf-8").split("\n")
    assert "make test" in commands and "make long" in commands


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one process", "two workers"])
def test_it_is_written_and_read(workers: list[str], tmp_path: Path) -> None:
    """A suite of its own: three functions, of which --note-slow names two and --quick leaves one.

    What is long is told by seconds, of which this suite has none to spend: its bound is a tenth of one here.
    """
    folder = tmp_path / "tests"
    folder.mkdir()
    text = Path(conftest.__file__).read_text(encoding="utf-8")
    bound = f"LONGEST = {conftest.LONGEST}"
    assert text.count(bound) == 1
    (folder / "conftest.py").write_text(text.replace(bound, "LONGEST = 0.1"), encoding="utf-8")
    (folder / "test_some.py").write_text(TESTS, encoding="utf-8")
    for name in ("slow.txt", "long.txt"):
        (folder / name).write_text("tests/test_gone.py::test_gone\n", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n", encoding="utf-8")

    def run(*options: str) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "2 functions in slow.txt" in run("--note-slow", *workers)
    names = ["tests/test_some.py::TestMany::test_slow", "tests/test_some.py::test_slow_once"]
    for name in ("slow.txt", "long.txt"):
        assert (folder / name).read_text(encoding="utf-8").split() == names
    assert "1 passed" in run("--quick", *workers)
    (folder / "long.txt").write_text(names[0], encoding="utf-8")
    assert "3 passed" in run("--brief", *workers) and "1 passed" in run("--long", *workers)
    assert "1 passed" in run("--quick", *workers)
