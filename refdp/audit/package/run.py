"""One run of a package audit: every entry point by replay, structural checks and black box, kept as it goes."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from refdp.audit.blackbox import Bound
from refdp.audit.loaded import Loaded, listen
from refdp.audit.package.causes import BY_NAME
from refdp.audit.package.checked import check
from refdp.audit.package.entries import Neighbours, inside, neighbours
from refdp.audit.package.findings import Finding, Witness, once
from refdp.audit.package.provenance import digest, installed, named, provenance, versions
from refdp.audit.package.report import Examined, PackageReport, accepted, ended_early, merged, read_baseline
from refdp.audit.package.scope import Entry, Scope, read
from refdp.audit.package.sources import Location, Tree, entered, function_at, tree
from refdp.audit.package.stages import (
    STAGES,
    Fails,
    Subject,
    black_box,
    outside_rows,
    ranked,
    replay,
    structure,
)
from refdp.audit.replay import finite_or_name
from refdp.audit.runs import NothingToCompare
from refdp.audit.verdicts import SUBJECTS, Row, Verdict
from refdp.documents import parsed
from refdp.errors import InvalidParameter

FORMAT = "refdp package audit resumed 1"
Progress = Callable[[int, int, str], None]


def ignored(done: int, total: int, what: str) -> None:
    """Progress that nobody watches."""


def audit_package(
    path: Path,
    *,
    baseline: Path | None = None,
    resume: Path | None = None,
    only: str | None = None,
    stages: Sequence[str] = STAGES,
    curves: bool = False,
    command: str = "",
    progress: Progress = ignored,
) -> PackageReport:
    """Audit what audit.toml names.

    baseline: accepted findings. resume: a file that finished entry points are kept in. only: one entry point's name.
    stages: of "replay", "structural", "black box". curves: also draw trade-off curves. command: for the provenance.
    Errors: InvalidParameter for a wrong file, before any run.
    """
    start = time.perf_counter()
    scope = read(path)
    known = read_baseline(baseline) if baseline is not None else {}
    chosen = [entry for entry in scope.entries if only in (None, entry.name)]
    if not chosen:
        raise InvalidParameter(f"{path}: no [[entry]] {only!r}; there are {[one.name for one in scope.entries]}")
    unknown = [stage for stage in stages if stage not in STAGES]
    if unknown:
        raise InvalidParameter(f"stage {unknown[0]!r}: allowed are {', '.join(STAGES)}")
    kept = resume.absolute() if resume is not None else None
    if kept is not None:
        listen()
    with inside(scope.folder):
        try:
            package = tree(scope.modules)
            functions = check(scope, chosen, package)
            data = {entry.name: neighbours(scope, entry) for entry in chosen}
        except InvalidParameter as error:
            raise InvalidParameter(f"{path}: {error}") from error
        memory = _Memory(kept, scope, package, stages)
        examined = []
        for place, entry in enumerate(chosen):
            progress(place, len(chosen), entry.name)
            found = memory.recall(entry, curves)
            if found is None or ended_early(found, known):
                found = _examined(scope, entry, functions[entry.name], data[entry.name], package, stages, curves, known)
                memory.keep(found)
            examined.append(found)
        progress(len(chosen), len(chosen), "written")
        told = provenance(scope, package, data, command, time.perf_counter() - start)
    left_out = tuple(entry.name for entry in scope.entries if entry not in chosen)
    version = installed(scope.package) or scope.version
    return accepted(PackageReport(scope, version, tuple(examined), told, left_out=left_out), known)


def _examined(
    scope: Scope, entry: Entry, function: Any, pairs: list[Neighbours], package: Tree, stages: Sequence[str],
    curves: bool, known: Collection[str],
) -> Examined:  # fmt: skip
    """One entry point. known: names of findings that are accepted."""
    start = time.perf_counter()
    location = _location(scope, entry, function, pairs, package)
    subject = Subject(scope, entry, function, list(pairs), package, location, known=known)
    tried = tuple(pair.words for pair in pairs)
    try:
        ranked(subject)
    except (Fails, SystemExit) as error:
        nothing = tuple(_left(what, _words(error)) for what in SUBJECTS)
        return Examined(entry, location, tried, nothing, {"error": _words(error)}, ())
    tried = tuple(pair.words for pair in pairs if any(pair is one for one in subject.pairs))
    figures: dict[str, Any] = {}
    replayed: list[Row] = []
    found: list[dict[str, Any]] = []
    calls, bound, ended = 0, None, ""
    try:
        if "replay" in stages:
            replayed, figures["replay"] = replay(subject)
        if "structural" in stages:
            found, calls = structure(subject)
            figures["structural"] = {"findings": len(found), "calls": calls}
        if "black box" in stages:
            bound = black_box(subject, curves)
            figures["black box"] = _figures(bound)
    except (NothingToCompare, SystemExit) as error:
        ended = _words(error)
        figures["error"] = ended
    rows = merged(("replay", replayed), ("black box", outside_rows(subject, bound, found, calls, replayed)))
    if ended:
        rows = tuple(row if row.verdict is Verdict.VIOLATION else _left(row.what, ended) for row in rows)
    if names := sorted(one.id for one in once(subject.findings) if one.id in known):
        figures["accepted"] = names
    figures["seconds"] = round(time.perf_counter() - start, 2)
    return Examined(entry, location, tried, rows, figures, tuple(once(subject.findings)), subject.svg)


def _words(error: BaseException) -> str:
    """Why an entry point could not be examined to the end."""
    return f"it ended the program with status {error.code}" if isinstance(error, SystemExit) else str(error)


def _left(what: str, why: str) -> Row:
    return Row(what, Verdict.NOT_EXAMINED, why)


def _figures(bound: Bound | None) -> dict[str, Any]:
    if bound is None:
        return {}
    return {"epsilon at least": finite_or_name(bound.lower), "confidence": bound.confidence, "runs": bound.samples,
            "event": bound.words, "counts": list(bound.counts)}  # fmt: skip


def _location(scope: Scope, entry: Entry, function: Any, pairs: list[Neighbours], package: Tree) -> Location:
    """The audited line behind the entry: as the file says, else where a run enters the package, else the file."""
    if entry.source:
        return function_at(entry.source, package, f"[[entry]] {entry.name!r} source")
    if entry.kind != "command":
        found = entered(function, pairs[0].first.copy(), scope.seed, package)
        if found is not None:
            return found
    lines = scope.path.read_text(encoding="utf-8").splitlines() if scope.path.is_file() else []
    at = next((number for number, line in enumerate(lines, 1) if entry.name in line and "name" in line), 1)
    return Location(scope.path.name, at, "", lines[at - 1].strip() if lines else "")


class _Memory:
    """Finished entry points in a file of JSON lines, each written and synchronised before the next.

    With each is what had been loaded for it; where that is another now, nothing of the file is taken. It is not signed.
    """

    def __init__(self, path: Path | None, scope: Scope, package: Tree, stages: Sequence[str]) -> None:
        self.path = path
        self.scope = scope
        shown = [FORMAT, list(stages), digest(package.files), digest([scope.path, *named(scope)]), versions(scope)]
        self.digest = hashlib.sha256(json.dumps(shown).encode()).hexdigest()
        self.known: dict[str, dict[str, Any]] = {}
        self.loaded = Loaded()
        if path is not None:
            self._read(path)

    def _read(self, path: Path) -> None:
        first = {"format": FORMAT, "digest": self.digest}
        data = path.read_bytes() if path.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]  # a kill may have cut the last line short
        if not whole and json.dumps(first).encode().startswith(data):
            path.unlink(missing_ok=True)
            self._write(first)
            return
        try:
            head, *lines = [parsed(line) for line in whole.splitlines()] or [{}]
        except (ValueError, RecursionError) as error:
            raise InvalidParameter(f"--resume {path}: not a file that an audit wrote ({error})") from error
        if not isinstance(head, dict) or head.get("format") != FORMAT or head.get("digest") != self.digest:
            raise InvalidParameter(
                f"--resume {path}: of another audit.toml, other sources, data, versions or stages, or no audit; "
                "give another file"
            )
        try:
            for line in lines:
                self.loaded.read(line["loaded"])
                self.known[line["entry"]] = line
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidParameter(f"--resume {path}: not a file that an audit wrote ({error!r})") from error
        if other := self.loaded.changed():
            raise InvalidParameter(
                f"--resume {path}: of another text or version of {other} than the present one; give another file"
            )
        if len(whole) < len(data):
            path.write_bytes(whole)

    def recall(self, entry: Entry, curves: bool) -> Examined | None:
        """A finished entry point; None if there is none, or if its curve is wanted and was not drawn."""
        line = self.known.get(entry.name)
        if line is None:
            return None
        try:
            found = self._recalled(entry, line)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidParameter(f"--resume {self.path}: not a file that an audit wrote ({error!r})") from error
        return None if curves and not found.svg and found.figures.get("black box") else found

    def _recalled(self, entry: Entry, line: dict[str, Any]) -> Examined:
        return Examined(
            entry,
            Location(**line["location"]),
            tuple(line["pairs"]),
            tuple(Row(**{**row, "verdict": Verdict(row["verdict"])}) for row in line["coverage"]),
            line["figures"],
            tuple(_finding(one, entry, self.scope) for one in line["findings"]),
            line["svg"],
        )

    def keep(self, found: Examined) -> None:
        """Write one down."""
        line = found.to_dict() | {"entry": found.entry.name, "svg": found.svg}
        self._write(line | {"findings": [one.to_dict() for one in found.findings], "loaded": self.loaded.new()})

    def _write(self, line: dict[str, Any]) -> None:
        if self.path is None:
            return
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InvalidParameter(f"--resume {self.path}: cannot be written: {error.strerror}") from error


def _finding(line: dict[str, Any], entry: Entry, scope: Scope) -> Finding:
    return Finding(
        entry.name, line["stage"], BY_NAME[line["cause"]], line["kind"], line["where"], Location(**line["location"]),
        entry.claim, line["evidence"], line["figures"], line["pair"], Witness(**line["witness"]), line["violation"],
        tuple(line["places"]), package=scope.package, records=line["records"],
    )  # fmt: skip
