"""A foreign program behind JSON lines: started, asked with a time limit, and started again after a crash."""

from __future__ import annotations

import json
import os
import selectors
import shlex
import subprocess
import time
from contextlib import suppress
from typing import Any

from refdp.errors import InvalidParameter

LONGEST = 1 << 26
"""No answer is longer, in bytes."""


class Client:
    """One program. Its standard error goes to this process's.

    command: as a shell would split it. timeout: seconds for each answer.
    """

    def __init__(self, command: str, timeout: float) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise InvalidParameter(f"--exec {command!r}: {error}") from error
        if not self._words:
            raise InvalidParameter("--exec: a command is needed")
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self.crashes = 0

    def start(self) -> dict[str, Any]:
        """Start the program; {name, version, supports}. Errors: InvalidParameter if it says nothing."""
        try:
            self._process = subprocess.Popen(self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise InvalidParameter(f"--exec {self._words[0]}: {error.strerror}") from error
        self._rest = b""
        answer = self._ask({"type": "start", "protocol": 1})
        if "error" in answer or not isinstance(answer.get("supports"), list):
            reason = answer.get("error", "no {name, version, supports}")
            self.stop()
            raise InvalidParameter(f"--exec {self._words[0]}: no answer to start: {reason}")
        return answer

    def run(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to one test; {"error": reason} for a crash, a time-out, or what is no answer."""
        if self._process is None:
            self.start()
        answer = self._ask({"type": "run", **message})
        if "error" not in answer and answer.get("id") != message["id"]:
            answer = {"error": f"an answer to {answer.get('id')!r}"}
        if "error" in answer and "id" not in answer:
            self.crashes += 1
            self._end()
        return answer

    def stop(self) -> None:
        """Ask the program to end, then end it."""
        if self._process is not None and self._process.poll() is None:
            try:
                self._write({"type": "stop"})
                self._process.wait(timeout=2)
            except (OSError, subprocess.TimeoutExpired):
                pass
        self._end()

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            self._write(message)
            line = self._line()
        except OSError as error:
            return {"error": f"crashed: {error.strerror}"}
        if line is None:
            return {"error": f"no answer within {self._timeout:g} seconds"}
        if not line:
            assert self._process is not None
            return {"error": f"crashed with status {self._process.wait()}"}
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        return answer if isinstance(answer, dict) else {"error": f"no JSON object: {line[:80]!r}"}

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _line(self) -> bytes | None:
        """One line; empty at the end of the output, None when time is up."""
        assert self._process is not None and self._process.stdout is not None
        end = time.monotonic() + self._timeout
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not waiting.select(max(end - time.monotonic(), 0)):
                    return None
                found = os.read(self._process.stdout.fileno(), 1 << 16)
                self._rest += found
                if not found or len(self._rest) > LONGEST:
                    return b""
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
