"""One JSON document or a page for people on standard output; progress and errors on standard error."""

from __future__ import annotations

import io
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from glob import iglob
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from refdp.errors import InvalidParameter

if TYPE_CHECKING:
    from rich.console import RenderableType

KEPT = (".ipynb", ".parquet", ".pq", ".py", ".pyi", ".toml")
"""Endings of files of programs, of scopes of audits and of records, which no output of a command has."""


def emit(document: Any, page: RenderableType | str, as_json: bool) -> None:
    """Write the document as JSON, or show the page; text as it is, whatever the width of the terminal."""
    if as_json:
        print(json.dumps(plain(document), allow_nan=False), flush=True)
    elif isinstance(page, str):
        sys.stdout.write(page)
    else:
        from rich.console import Console

        Console().print(page, crop=False)  # code to be copied has lines of its own length


@contextmanager
def apart() -> Iterator[None]:
    """What foreign code prints meanwhile goes where errors go, whichever stream it holds."""
    try:
        own, other = sys.stdout.fileno(), sys.stderr.fileno()
    except io.UnsupportedOperation:  # a caller's own stream
        yield
        return
    before, kept = sys.stdout, os.dup(own)
    before.flush()
    os.dup2(other, own)
    try:
        yield
    finally:
        before.flush()
        os.dup2(kept, own)
        os.close(kept)


def check_writable(option: str, path: Path | None, *read: str | Path | None) -> None:
    """Before work starts whose result goes into this file: InvalidParameter if it could not be written at the end.

    The file is opened, since no look at permissions tells of read-only disks. What is in it stays. read: files,
    patterns of files and MODULE:FUNCTION that the command reads, none of which may be written over.
    """
    if path is None or (path.exists() and not path.is_file() and not path.is_dir()):
        return  # a pipe may be opened once only
    if path.is_file() and any(one.is_file() and one.samefile(path) for given in read if given for one in _files(given)):
        raise InvalidParameter(f"{option} {path}: a file that is read; it would be written over")
    if path.is_file() and path.suffix in KEPT:
        raise InvalidParameter(f"{option} {path}: a {path.suffix} file is there, which is no earlier output")
    if path.is_file() and _is_report(path):
        raise InvalidParameter(f"{option} {path}: standard output, where the report goes")
    try:
        place = path.resolve() if path.is_symlink() else path  # what a link leads to: it stays a link
    except (OSError, RuntimeError) as error:
        raise InvalidParameter(f"{option} {path}: a link that leads nowhere") from error
    if not place.parent.is_dir():
        raise InvalidParameter(f"{option} {path}: there is no directory {place.parent}")
    existed = place.exists()
    try:
        place.open("ab").close()
    except OSError as error:
        raise InvalidParameter(f"{option} {path}: cannot be written: {error.strerror}") from error
    if not existed:
        place.unlink()


def check_outputs(outputs: Mapping[str, Path | None], *read: str | Path | None) -> None:
    """`check_writable` of all outputs of a command, by option, each of which is a file of its own."""
    files = [(option, path) for option, path in outputs.items() if path is not None]
    for option, path in files:
        check_writable(option, path, *read)
    for (option, path), (other, same) in combinations(files, 2):
        if path.resolve() == same.resolve() or (path.is_file() and same.is_file() and path.samefile(same)):
            raise InvalidParameter(f"{option} {path} and {other} {same}: two different files are needed")


def _is_report(path: Path) -> bool:
    """Whether a file is where standard output goes: the report would be written over it, or it over the report."""
    try:
        return os.path.samestat(os.fstat(sys.stdout.fileno()), path.stat())
    except (OSError, ValueError):  # streams of a caller
        return False


def _files(given: str | Path) -> Iterator[Path]:
    """What a file's name, a pattern or MODULE:FUNCTION may stand for."""
    yield Path(given)
    if isinstance(given, str):
        yield from map(Path, iglob(given, recursive=True))
        module = given.partition(":")[0].replace(".", "/")
        yield from (Path(f"{module}.py"), Path(module, "__init__.py"))


def write_page(option: str, path: Path, text: str) -> bool:
    """Write a page whose findings are shown already: a failure is a line on standard error, and False."""
    try:
        write_text(option, path, text)
    except InvalidParameter as error:
        print(f"refdp: {error}", file=sys.stderr)
        return False
    return True


def write_text(option: str, path: Path, text: str) -> None:
    """Write a file, the same bytes on every platform, what UTF-8 has no bytes for escaped. Errors: InvalidParameter."""
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise InvalidParameter(f"{option} {path}: cannot be written: {error.strerror}") from error


def plain(value: Any) -> Any:
    """Numbers that JSON does not have as the strings "inf", "-inf" and "nan"."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def figure(value: float | None) -> str:
    """A number for people."""
    return "-" if value is None else f"{value:.6g}"


class Bar(Protocol):
    """Called with how much is done, of how much if that is known, and with another text if there is one."""

    def __call__(self, done: int, total: int | None, what: str | None = None) -> None:
        """Show it."""


BETWEEN = 0.1
"""Seconds between two drawings of a progress bar."""


@contextmanager
def bar(what: str) -> Iterator[Bar]:
    """A progress bar on standard error, which shows from the first call on.

    It has no thread of its own, which could collect garbage while a solver works in this one: z3 does not survive that.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shown = Progress(*columns, console=Console(stderr=True), auto_refresh=False)
    task, drawn = shown.add_task(what, total=None), -math.inf

    def progress(done: int, total: int | None, what: str | None = None) -> None:
        nonlocal drawn
        shown.start()
        shown.update(task, completed=done, total=total, description=what)
        if (now := time.monotonic()) - drawn >= BETWEEN:
            shown.refresh()
            drawn = now

    try:
        yield progress
    finally:
        if shown.live.is_started:
            shown.stop()
