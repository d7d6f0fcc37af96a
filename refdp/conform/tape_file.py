"""A tape as a file of JSON lines, and a transcript: a tape with true values and outputs beside the draws.

The first line is the header {format, version, paper, params, schema, records, entries, private}, then comes a line for
each entry {path, kind, law, shape, dtype, values}. A transcript's entries have further {mechanism, sensitivity, value,
output}, for a choice {index}. Both are as private as the records: a tape tells the noise, a transcript everything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refdp.conform.plain import array_in, array_out, hexed, mechanism_out, params_out, schema_digest, sensitivity_out
from refdp.data.sparse import AnyRecords, SparseRecords
from refdp.documents import parsed
from refdp.errors import InvalidParameter
from refdp.privacy.curator import Array, Entry, Transcript
from refdp.privacy.sources import Listed

FORMAT, VERSION = "refdp-tape", 1


@dataclass(frozen=True)
class Tape:
    """What a file holds. header: without the number of entries. entries: plain data of each, with its values."""

    header: dict[str, Any]
    entries: tuple[dict[str, Any], ...]

    def listed(self) -> list[Listed]:
        """What a `TapeSource` plays. Errors: InvalidParameter."""
        return [_listed(number, body) for number, body in enumerate(self.entries, 1)]

    def check(self, header: dict[str, Any]) -> None:
        """Errors: InvalidParameter, naming what differs, unless the tape is of the run with this header."""
        for name in ("paper", "schema", "params", "records"):
            if self.header.get(name) != header[name]:
                raise InvalidParameter(f"tape of {_differing(name, self.header.get(name), header[name])}")


def header_of(paper: str, params: Any, records: AnyRecords, *, private: bool = False) -> dict[str, Any]:
    """What names a run: paper, all parameters, and digests of schema and records."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "paper": paper,
        "params": params_out(params),
        "schema": schema_digest(records.schema),
        "records": records_digest(records),
        "private": private,
    }


def records_digest(records: AnyRecords) -> str:
    """SHA-256 of the records' bytes, row by row."""
    if isinstance(records, SparseRecords):
        parts: list[Array] = [records.x.starts, records.x.row, records.x.value, records.x.absent, records.y]
    else:
        parts = [np.ascontiguousarray(records.x) + 0.0, records.y + 0.0]
    found = hashlib.sha256()
    for part in parts:
        found.update(repr(part.shape).encode())
        found.update(np.ascontiguousarray(part).astype(f"<{part.dtype.kind}8").tobytes())
    return found.hexdigest()


def tape_text(header: dict[str, Any], listed: Sequence[Listed], transcript: Transcript | None = None) -> str:
    """A tape, or a transcript where one is given. Errors: InvalidParameter if it does not belong to the entries."""
    if transcript is not None and len(transcript.entries) != len(listed):
        raise InvalidParameter(f"{len(listed)} entries were listed and {len(transcript.entries)} transcribed")
    lines = [{**header, "entries": len(listed)}]
    for number, one in enumerate(listed):
        body = {"path": list(one.path), "kind": one.kind, "law": law_out(one.law), **array_out(one.values)}
        lines.append(body if transcript is None else {**body, **true_values(transcript.entries[number])})
    return "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines)


def true_values(entry: Entry) -> dict[str, Any]:
    """What a transcript adds to an entry."""
    request = entry.request
    if request.mechanism is None or request.sensitivity is None or entry.value is None:
        return {}
    found = {
        "mechanism": mechanism_out(request.mechanism),
        "sensitivity": sensitivity_out(request.sensitivity),
        "value": array_out(entry.value),
        "output": array_out(entry.output),
    }
    return found if entry.index is None else {**found, "index": array_out(entry.index)}


def read(path: Path) -> Tape:
    """A tape from a file. Errors: InvalidParameter for what is none, is cut off, or is of another version."""
    try:
        lines = [parsed(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise InvalidParameter(f"tape {path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidParameter(f"tape {path}: not JSON lines, or cut off") from error
    if not lines or not all(isinstance(line, dict) for line in lines) or lines[0].get("format") != FORMAT:
        raise InvalidParameter(f"tape {path}: no header of format {FORMAT!r}")
    header, *entries = lines
    if header.get("version") != VERSION:
        raise InvalidParameter(f"tape {path}: version {header.get('version')!r}, this refdp reads {VERSION}")
    if header.get("entries") != len(entries):
        raise InvalidParameter(f"tape {path}: {len(entries)} entries of {header.get('entries')!r}: it is cut off")
    return Tape({key: value for key, value in header.items() if key != "entries"}, tuple(entries))


def _listed(number: int, body: dict[str, Any]) -> Listed:
    path, kind, law = body.get("path"), body.get("kind"), body.get("law")
    if not (isinstance(path, list) and isinstance(kind, str) and isinstance(law, list) and law):
        raise InvalidParameter(f"tape, entry {number}: path, kind and law are needed, beside dtype, shape and values")
    return Listed(tuple(map(str, path)), kind, law_in(law), array_in(body))


def law_out(law: tuple[Any, ...]) -> list[Any]:
    """A law as plain data, floats hexadecimal."""
    return [[_law_part(one) for one in part] if isinstance(part, list) else _law_part(part) for part in law]


def _law_part(part: Any) -> Any:
    return hexed(part) if isinstance(part, float) else part


def law_in(law: list[Any]) -> tuple[Any, ...]:
    """Reads `law_out`."""
    return tuple([_law_read(one) for one in part] if isinstance(part, list) else _law_read(part) for part in law)


def _law_read(part: Any) -> Any:
    """Floats are the strings that begin like a hexadecimal number; names and fractions are themselves."""
    return float.fromhex(part) if isinstance(part, str) and part.startswith(("0x", "-0x")) else part


def _differing(name: str, listed: Any, asked: Any) -> str:
    if name != "params" or not isinstance(listed, dict):
        return f"another run: its {name} is {listed!r}, that of this run {asked!r}"
    differing = [key for key in {**asked, **listed} if listed.get(key) != asked.get(key)]
    return f"another run: its parameter {differing[0]} is {listed.get(differing[0])!r}, not {asked.get(differing[0])!r}"
