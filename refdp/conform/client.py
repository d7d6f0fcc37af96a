"""A foreign program behind JSON lines: started, asked with a time limit, and started again after a crash."""

from __future__ import annotations

import json
import os
import selectors
import shlex
import signal
import subprocess
import time
from contextlib import suppress
from typing import Any

from refdp.documents import Twice, parsed
from refdp.errors import InvalidParameter

LONGEST = 1 << 26
"""No answer is longer, in bytes."""
_GRACE = 2.0
"""Seconds to end in."""


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
            self._process = subprocess.Popen(
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
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
            try:
                self.start()
            except InvalidParameter as error:
                self.crashes += 1
                return {"error": f"it does not start again: {error}"}
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
            with suppress(OSError, subprocess.TimeoutExpired):
                self._exchanged(b'{"type": "stop"}\n', _GRACE)
                self._process.wait(timeout=_GRACE)
        self._end()

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """What it answers; {"error": reason} where it does not within the time."""
        try:
            line = self._exchanged(json.dumps(message).encode() + b"\n", self._timeout)
        except OSError as error:
            return {"error": f"crashed: {error.strerror}"}
        if line is None:
            return {"error": f"no answer within {self._timeout:g} seconds"}
        if not line:
            return {"error": self._ended()}
        if len(line) > LONGEST:
            return {"error": f"an answer of more than {LONGEST} bytes"}
        try:
            answer = parsed(line)
        except Twice as error:
            return {"error": f"{error}: {line[:80]!r}"}
        except (ValueError, RecursionError):
            answer = None
        return answer if isinstance(answer, dict) else {"error": f"no JSON object: {line[:80]!r}"}

    def _ended(self) -> str:
        assert self._process is not None
        try:
            return f"crashed with status {self._process.wait(timeout=_GRACE)}"
        except subprocess.TimeoutExpired:
            return "it closed its output"

    def _exchanged(self, text: bytes, seconds: float) -> bytes | None:
        """Write, and read one line meanwhile: a program that does not read, or answers before it has, blocks nothing.

        Empty at the end of the output, None when time is up, longer than LONGEST without an end of line.
        """
        assert self._process is not None and self._process.stdin is not None and self._process.stdout is not None
        into, out, end = self._process.stdin.fileno(), self._process.stdout.fileno(), time.monotonic() + seconds
        os.set_blocking(into, False)
        read = bytearray(self._rest)
        with selectors.DefaultSelector() as waiting:
            waiting.register(out, selectors.EVENT_READ)
            waiting.register(into, selectors.EVENT_WRITE)
            mark = read.find(b"\n")
            while text or mark < 0:
                left = end - time.monotonic()
                ready = waiting.select(left) if left > 0 else []
                if not ready:
                    return None
                for key, _ in ready:
                    if key.fd == into:
                        text = text[os.write(into, text[: 1 << 16]) :]
                        if not text:
                            waiting.unregister(into)
                        continue
                    found = os.read(out, 1 << 16)
                    if not found:
                        return b""
                    if mark < 0 and (place := found.find(b"\n")) >= 0:
                        mark = len(read) + place
                    read += found
                    if len(read) > LONGEST:
                        return bytes(read)
        self._rest = bytes(read[mark + 1 :])
        return bytes(read[:mark]) or b" "

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # and what it started
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
