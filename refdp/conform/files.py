"""The vectors as files: conform/<paper>/<kind>.json, one test a line, and the schema of such files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from refdp.conform import normative, runs
from refdp.conform.made import drawn_from
from refdp.conform.parts import PARTS
from refdp.conform.vector import defaults_json
from refdp.documents import parsed
from refdp.errors import InvalidParameter
from refdp.faces.registry import OWN, PAPERS, paper

FORMAT, VERSION = "refdp-vectors", 1
KINDS = {**PARTS, **runs.KINDS}
LEVELS = {
    "predict": ("grid", "encode", "route", "predict"),
    "node": ("statistics", "node", "mechanism"),
    "train": ("plan", "train", "negative", "neighbour"),
    "sampler": ("sampler", "statistical"),
    "transcript": ("account",),
}
"""What a program offers, the easiest first; each level includes those before it."""
TEXTS = (*PAPERS, *OWN)
"""What there are vectors of."""
ABSENT = {("sgbdt", "grid")}
"""Kinds that a paper has no vectors of."""


def vectors(only: str | None = None, kinds: tuple[str, ...] = tuple(KINDS)) -> Iterator[tuple[str, str, str]]:
    """Paper, kind and text of every file, made anew. only: of this paper."""
    for name in TEXTS:
        for kind in kinds:
            if only not in (None, name):
                continue
            tests = [one.to_json(f"{name}/{kind}/{number:03d}") for number, one in enumerate(KINDS[kind](name), 1)]
            if tests:
                yield name, kind, file_text(name, kind, tests)


def kept() -> Path | None:
    """The vectors of the repository that this package is in, if it is in one."""
    directory = Path(__file__).parents[2] / "conform"
    return directory if (directory / "schema.json").is_file() else None


def made(only: str | None = None, kind: str | None = None, seed: int | None = None) -> list[dict[str, Any]]:
    """The envelopes, made anew; from a seed they are others than the repository's, with wider runs among them."""
    order = [one for level in LEVELS.values() for one in level]
    with drawn_from(seed):
        return [json.loads(text) for _, _, text in vectors(only, (kind,) if kind else tuple(order))]


def file_text(name: str, kind: str, tests: list[dict[str, Any]]) -> str:
    """One file."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "paper": name,
        "kind": kind,
        "specification": normative.digest(name),
        "defaults": defaults_json(paper(name).module.Params),
    }
    lines = ",\n".join(json.dumps(test, sort_keys=True, separators=(",", ":")) for test in tests)
    return json.dumps(head, sort_keys=True)[:-1] + ', "tests": [\n' + lines + "\n]}\n"


def write(directory: Path) -> dict[str, int]:
    """Write all vectors; how many tests each file has. Errors: InvalidParameter where nothing can be written."""
    counts = {}
    try:
        for name, kind, text in vectors():
            path = directory / name / f"{kind}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            counts[f"{name}/{kind}"] = text.count('{"claims"')
        (directory / "schema.json").write_text(json.dumps(SCHEMA, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidParameter(f"--vectors {directory}: cannot be written: {error.strerror}") from error
    return counts


def read(directory: Path) -> list[dict[str, Any]]:
    """The envelopes of a directory, those of easier kinds first. Errors: InvalidParameter."""
    order = [kind for kinds in LEVELS.values() for kind in kinds]
    found = []
    try:
        for path in sorted(directory.glob("*/*.json")):
            if (body := parsed(path.read_text(encoding="utf-8"))).get("format") == FORMAT:
                found.append(body)
    except (OSError, ValueError, AttributeError) as error:
        raise InvalidParameter(f"vectors in {directory}: cannot be read: {error}") from error
    if not found:
        raise InvalidParameter(f"no vectors in {directory}: `refdp conform --vectors {directory}` writes them")
    if any(body.get("version") != VERSION for body in found):
        raise InvalidParameter(f"vectors in {directory}: of another version than {VERSION}")
    for body in found:
        if wrong := _wrong(body):
            raise InvalidParameter(f"vectors in {directory}: {wrong}")
    return sorted(found, key=lambda body: (TEXTS.index(body["paper"]), order.index(body["kind"])))


def _wrong(body: dict[str, Any]) -> str:
    """What keeps an envelope from being run, or would run none of its tests; empty if nothing does."""
    for name, known in (("paper", TEXTS), ("kind", tuple(KINDS))):
        if body.get(name) not in known:
            return f"{name} {body.get(name)!r}, none of {', '.join(known)}"
    tests, needed = body.get("tests"), SCHEMA["properties"]["tests"]["items"]["required"]
    if not isinstance(tests, list) or not tests:
        return f"no list of tests of {body['paper']}/{body['kind']}"
    if not all(isinstance(test, dict) and all(name in test for name in needed) for test in tests):
        return f"a test of {body['paper']}/{body['kind']} lacks one of {', '.join(needed)}"
    results = SCHEMA["properties"]["tests"]["items"]["properties"]["result"]["enum"]
    if not all(test["result"] in results for test in tests):
        return f"a test of {body['paper']}/{body['kind']} with another result than {', '.join(results)}"
    return ""


_TEXT: dict[str, Any] = {"type": "string"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Conformance vectors",
    "type": "object",
    "required": ["format", "version", "paper", "kind", "specification", "defaults", "tests"],
    "additionalProperties": False,
    "properties": {
        "format": {"const": FORMAT}, "version": {"const": VERSION}, "paper": {"enum": list(TEXTS)},
        "kind": {"enum": list(KINDS)}, "specification": _TEXT, "defaults": {"type": "object"},
        "tests": {"type": "array", "items": {
            "type": "object",
            "required": ["id", "comment", "flags", "claims", "input", "operations", "expect", "result"],
            "additionalProperties": False,
            "properties": {
                "id": _TEXT, "comment": _TEXT, "flags": _TEXTS, "claims": _TEXTS, "input": {"type": "object"},
                "operations": _TEXTS, "expect": {"type": "object"},
                "result": {"enum": ["valid", "invalid", "acceptable"]}, "tolerance": {"type": "object"},
            },
        }},
    },
}  # fmt: skip
