"""One JSON document or a page for people on standard output; progress and errors on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from rich.box import SIMPLE
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from refdp.audit.freshness import release_kind
from refdp.certificate import Certificate, ReleaseLine
from refdp.claims import STYLES
from refdp.errors import InvalidParameter


def emit(document: Any, page: RenderableType | str, as_json: bool) -> None:
    """Write the document as JSON, or show the page; text as it is, whatever the width of the terminal."""
    if as_json:
        print(json.dumps(plain(document), allow_nan=False))
    elif isinstance(page, str):
        sys.stdout.write(page)
    else:
        Console().print(page)


def check_writable(option: str, path: Path | None) -> None:
    """Before work starts whose result goes into this file: InvalidParameter if it could not be written at the end.

    The file is opened, since no look at permissions tells of read-only disks. What is in it stays.
    """
    if path is None or (path.exists() and not path.is_file() and not path.is_dir()):
        return  # a pipe may be opened once only
    if not path.parent.is_dir():
        raise InvalidParameter(f"{option} {path}: there is no directory {path.parent}")
    existed = path.exists()
    try:
        path.open("ab").close()
    except OSError as error:
        raise InvalidParameter(f"{option} {path}: cannot be written: {error.strerror}") from error
    if not existed:
        path.unlink()


def write_text(option: str, path: Path, text: str) -> None:
    """Write a file. Errors: InvalidParameter."""
    try:
        path.write_text(text, encoding="utf-8")
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


@contextmanager
def bar(what: str) -> Iterator[Bar]:
    """A progress bar on standard error, which shows from the first call on."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shown = Progress(*columns, console=Console(stderr=True))
    task = shown.add_task(what, total=None)

    def progress(done: int, total: int | None, what: str | None = None) -> None:
        shown.start()
        shown.update(task, completed=done, total=total, description=what)

    try:
        yield progress
    finally:
        if shown.live.is_started:
            shown.stop()


def certificate_page(certificate: Certificate) -> RenderableType:
    """Claimed and established epsilon, what is released and on which claims that rests, and what does not hold."""
    verdicts = dict(certificate.claims)
    table = Table("released", "times", "bound", "epsilon", box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("rests on", no_wrap=True)
    for lines in _kinds(certificate):
        verdict = verdicts[lines[0].claim]
        table.add_row(
            release_kind(lines[0].name),
            str(sum(line.count for line in lines)),
            f"{_span([line.sensitivity for line in lines])}\n{_norm(lines[0].norm)}",
            _span([line.charge for line in lines]),
            Text(f"{lines[0].claim}\n").append(verdict, style=STYLES[verdict]),
        )
    holds = certificate.established.epsilon <= certificate.claimed.epsilon * (1 + 1e-9)
    notes = [Text(f"! {note}", style="bold red") for note in certificate.notes]
    assumed = [Text(f"assuming {line}", style="dim") for line in certificate.assumptions]
    body = Group(_promise(certificate, holds), table, *notes, *assumed)
    return Panel(body, title=f"certificate, {certificate.relation.value} neighbours", border_style=_border(holds))


def _kinds(certificate: Certificate) -> list[list[ReleaseLine]]:
    grouped: dict[tuple[str, str], list[ReleaseLine]] = {}
    for line in certificate.releases:
        grouped.setdefault((release_kind(line.name), line.claim), []).append(line)
    return list(grouped.values())


def _promise(certificate: Certificate, holds: bool) -> Text:
    claimed, established = certificate.claimed, certificate.established
    delta = f", delta {claimed.delta:g}" if claimed.delta else ""
    text = Text(f"claimed      epsilon {figure(claimed.epsilon)}{delta}\nestablished  ")
    return text.append(f"epsilon {figure(established.epsilon)}{delta}", style="bold green" if holds else "bold red")


def _border(holds: bool) -> str:
    return "green" if holds else "red"


def _norm(name: str) -> str:
    return f"norm {name}" if name in ("1", "2") else name


def _span(values: list[float]) -> str:
    low, high = f"{min(values):.4g}", f"{max(values):.4g}"
    return low if low == high else f"{low} to\n{high}"
