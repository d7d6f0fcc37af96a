"""Python in a copy of the repository, without the seconds that other people's packages take to import.

A run is a fork of this process, which has imported those packages and forgets what it knows of the repository. Linux
and macOS; the process that forks must have started no threads of its own.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import runpy
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import IO

OTHERS = (
    "hypothesis", "mpmath", "numpy", "pandas", "pytest", "rich.console", "scipy.optimize", "scipy.stats",
    "sklearn.ensemble", "sklearn.model_selection", "sklearn.utils.estimator_checks",
)  # fmt: skip
OURS = ("refdp", "tests", "proofs", "benchmarks")
PATIENCE = 8.0
"""A run may take so many times its processor time by the clock, since others work on the machine too."""


def warm() -> None:
    """Import what a run needs and no change concerns; what is not installed is left out."""
    for name in OTHERS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def execute(arguments: list[str], folder: Path, seconds: float) -> tuple[int | None, str]:
    """Exit status and output of `python arguments`, which begin with -m or -c, in the folder; our packages are its own.

    Bytecode is kept in the folder: a file that changes needs another time of change, whatever its size. seconds: of the
    processor; the status is None when they are spent, or when the clock has gone PATIENCE times as far.
    """
    with tempfile.TemporaryFile("w+b") as output:
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process == 0:
            _inside(arguments, folder, output, seconds)
        status = _ended(process, time.monotonic() + PATIENCE * max(seconds, 1.0))
        with contextlib.suppress(ProcessLookupError):  # what it started ends with it
            os.killpg(process, signal.SIGKILL)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    return (None if status in (None, -signal.SIGXCPU, -signal.SIGKILL) else status), text


def _ended(process: int, until: float) -> int | None:
    pause = 0.01
    while time.monotonic() < until:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(2 * pause, 0.5)
    os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def _inside(arguments: list[str], folder: Path, output: IO[bytes], seconds: float) -> None:
    """The child: a session of its own, its output in the file, everything of ours forgotten. Never returns."""
    status = 1
    try:
        os.setsid()
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        os.chdir(folder)
        most = int(max(seconds, 1.0))
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]  # kept: what a run starts may have a limit of its own
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))
        os.environ["PYTHONPATH"] = str(folder)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.dont_write_bytecode = False
        for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
            del sys.modules[name]
        sys.path[:] = [str(folder), *(path for path in sys.path if path not in ("", str(folder)) and not _ours(path))]
        sys.path_importer_cache.clear()
        importlib.invalidate_caches()
        status = _run(arguments)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _run(arguments: list[str]) -> int:
    option, what, *rest = arguments
    if what == "pytest":
        import pytest

        return int(pytest.main([*rest, "-W", "ignore::pytest.PytestAssertRewriteWarning"]))
    sys.argv = [what, *rest]
    try:
        if option == "-c":
            exec(compile(what, "<text>", "exec"), {"__name__": "__main__"})
        else:
            runpy.run_module(what, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def _ours(path: str) -> bool:
    return (Path(path or ".") / "refdp" / "__init__.py").is_file()
