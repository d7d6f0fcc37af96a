"""What is written to a program and read from it, over two pipes and no program at all."""

from __future__ import annotations

import os
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from refdp.conform import client
from refdp.conform.client import Client
from refdp.errors import InvalidParameter


class Pipes:
    """A client whose program is this test: what it asked, and what it is told."""

    def __init__(self) -> None:
        asked, self.into = os.pipe()
        out, self.told = os.pipe()
        self.asked = os.fdopen(asked, "rb", 0)
        self.client = Client("program", 20.0)
        process: Any = SimpleNamespace(
            stdin=os.fdopen(self.into, "wb", 0), stdout=os.fdopen(out, "rb", 0), wait=lambda timeout: 7, poll=lambda: 7
        )
        self.client._process = self.process = process

    def tell(self, text: bytes) -> None:
        os.write(self.told, text)

    def close(self) -> None:
        self.asked.close()
        self.process.stdin.close()
        self.process.stdout.close()
        if self.told >= 0:
            os.close(self.told)


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    made = Pipes()
    yield made
    made.close()


def test_lines_are_read_one_by_one_and_the_rest_is_kept(pipes: Pipes) -> None:
    pipes.tell(b"one\ntwo\n\nfo")
    found = [pipes.client._exchanged(text, 5.0) for text in (b"a\n", b"", b"b\n")]
    assert found == [b"one", b"two", b" "]  # an empty line is an answer, if no good one
    assert pipes.client._rest == b"fo" and pipes.asked.read(9) == b"a\nb\n"
    pipes.tell(b"ur\nfive")
    assert pipes.client._exchanged(b"", 5.0) == b"four" and pipes.client._rest == b"five"


def test_nothing_in_time_is_none_and_the_end_is_empty(pipes: Pipes) -> None:
    """Also where a part of a line came, and where there is no time at all."""
    pipes.tell(b"part")
    start = time.monotonic()
    assert pipes.client._exchanged(b"a\n", 0.02) is None and 0.015 < time.monotonic() - start < 2
    pipes.tell(b"line\n")
    assert pipes.client._exchanged(b"", 0.0) is None and pipes.client._exchanged(b"", -1.0) is None
    os.close(pipes.told)
    pipes.told = -1
    assert pipes.client._exchanged(b"", 5.0) == b"line" and pipes.client._exchanged(b"", 5.0) == b""


def test_what_is_longer_than_any_answer_is_not_read_to_its_end(pipes: Pipes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "LONGEST", 10)
    pipes.tell(b"0123456789")
    assert pipes.client._exchanged(b"", 0.01) is None  # ten bytes are allowed, and the line has no end
    pipes.tell(b"0123456789a")
    assert pipes.client._exchanged(b"", 5.0) == b"0123456789a"
    for line, due in ((b'{"a": 111}\n', {"a": 111}), (b'{"a": 1111}\n', None)):
        monkeypatch.setattr(client, "LONGEST", 11 if due else 10)
        pipes.tell(line)
        found = pipes.client._ask({})
        assert found == (due or {"error": "an answer of more than 10 bytes"})


def test_what_is_no_answer_is_named(pipes: Pipes) -> None:
    """Its first 80 bytes; an object of JSON is one, whatever it says."""
    for line, due in ((b'{"x": 1}', {"x": 1}), (b"[1]", {"error": "no JSON object: b'[1]'"}),
                      (b"x" * 90, {"error": f"no JSON object: {b'x' * 80!r}"}),
                      (b"[" * 100_00, {"error": f"no JSON object: {b'[' * 80!r}"}),
                      (b"", {"error": "no JSON object: b' '"})):  # fmt: skip
        pipes.tell(line + b"\n")
        assert pipes.client._ask({"a": [1]}) == due and pipes.asked.readline() == b'{"a": [1]}\n'
    pipes.client._timeout = 0.05
    assert pipes.client._ask({}) == {"error": "no answer within 0.05 seconds"}
    pipes.client._timeout = 20.0
    os.close(pipes.told)
    pipes.told = -1
    assert pipes.client._ask({}) == {"error": "crashed with status 7"}

    def never(timeout: float) -> int:
        raise subprocess.TimeoutExpired("program", timeout)

    pipes.process.wait = never
    assert pipes.client._ask({}) == {"error": "it closed its output"}


def test_a_program_that_takes_no_question_has_crashed(pipes: Pipes) -> None:
    pipes.asked.close()
    assert pipes.client._ask({}) == {"error": "crashed: Broken pipe"}


def test_a_question_longer_than_a_pipe_is_written_while_answers_come(pipes: Pipes) -> None:
    """What is told before the question is read to its end blocks neither side."""
    pipes.tell(b"early\n")
    os.set_blocking(pipes.asked.fileno(), False)
    assert pipes.client._exchanged(b"a" * 300_000, 0.05) is None  # nobody reads on
    read = 0
    while part := pipes.asked.read(1 << 20):
        read += len(part)
    assert read == 1 << 16  # as much as a pipe holds


def test_answers_are_for_their_question_and_crashes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that crashed is started again; what does not start again is a crash each time."""
    made = Client("program", 1.0)
    answers: list[dict[str, Any]] = [
        {"id": "1", "x": 2},
        {"id": "other"},
        {"error": "crashed"},
        {"id": "4", "error": "e"},
    ]
    ended: list[int] = []
    process: Any = object()
    monkeypatch.setattr(made, "_ask", lambda message: answers.pop(0))
    monkeypatch.setattr(made, "_end", lambda: ended.append(made.crashes) or setattr(made, "_process", None))

    def started() -> dict[str, Any]:
        made._process = process
        return {}

    monkeypatch.setattr(made, "start", started)
    assert made.run({"id": "1"}) == {"id": "1", "x": 2} and (made.crashes, ended) == (0, [])
    assert made.run({"id": "2"}) == {"error": "an answer to 'other'"} and (made.crashes, ended) == (1, [1])
    assert made.run({"id": "3"}) == {"error": "crashed"} and (made.crashes, ended) == (2, [1, 2])
    assert made.run({"id": "4"}) == {"id": "4", "error": "e"} and (made.crashes, ended) == (2, [1, 2])
    made._process = None

    def broken() -> dict[str, Any]:
        raise InvalidParameter("gone")

    monkeypatch.setattr(made, "start", broken)
    for due in (3, 4):
        assert made.run({"id": "5"}) == {"error": "it does not start again: gone"} and made.crashes == due
    assert answers == []


def test_commands_that_are_none() -> None:
    for command, told in (("", "a command is needed"), ("  ", "a command is needed"), ("a 'b", "No closing quotation")):
        with pytest.raises(InvalidParameter, match=told):
            Client(command, 1.0)
    assert Client("a 'b c' d", 1.0)._words == ["a", "b c", "d"] and Client("a", 1.0).crashes == 0


def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    """A process of its own that outlives its parent is ended too: it could hold a port or a file of the next start."""
    path, held = tmp_path / "starts_another.py", tmp_path / "held"
    os.mkfifo(held)
    path.write_text(
        "import json, subprocess, sys\n"
        "waits = 'import sys, time; held = open(sys.argv[1], \"w\"); time.sleep(60)'\n"
        f"words = [sys.executable, '-c', waits, {str(held)!r}]\n"
        "child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)\n"
        "print(json.dumps({'name': 'n', 'version': '1', 'supports': []}), flush=True)\n"
        "sys.stdin.readline(), sys.stdin.readline()\n"
    )
    made = Client(f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}", 30.0)
    assert made.start()["name"] == "n"
    with open(held, "rb", buffering=0) as reading:  # once the child holds it
        assert select.select([reading], [], [], 0)[0] == []
        made.stop()
        assert select.select([reading], [], [], 20)[0] == [reading] and reading.read() == b""  # nobody does any more
