"""The scope of a package audit, read from audit.toml: package, claim, entry points, noise functions, data.

Every fault of the file is one InvalidParameter with the place, what is there, and what is allowed, before anything of
the package is imported.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refdp.errors import InvalidParameter
from refdp.privacy.events import Relation

SAMPLES = 4_000
"""Most black-box runs a side, unless the file says otherwise."""
FEWEST = 100
"""Black-box runs a side below which nothing could be said."""
PACKAGE = ("name", "version", "import", "open", "root")
CLAIM = ("statement", "address", "unit", "relation", "epsilon", "delta")
KINDS = ("callable", "command", "notebook")
ENTRY = ("name", *KINDS, "source", "first", "second", "records", "bounds", "least", "samples", "replay", "low_bits",
         "structural", "order", *CLAIM)  # fmt: skip
NOISE = ("function", "law", "value", "caller", "scale", "sensitivity", "epsilon", "delta", "generator", "options")
TOP = ("package", "claim", "entry", "noise", "seed")


@dataclass(frozen=True)
class Claim:
    """What is promised: the sentence, where it stands, for whom, between which neighbours, and how much."""

    statement: str
    address: str
    unit: str
    relation: Relation
    epsilon: float
    delta: float

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**vars(self), "relation": self.relation.value}


@dataclass(frozen=True)
class Entry:
    """One way into the package, with its data.

    kind, target: a callable "module:function", the words of a command, or the path of a notebook. source: the audited
    "module:function" behind the wrapper, "" to find it by a run. first, second: a pair; or records, from which pairs
    are searched, with bounds of the columns and the least number of records. order: also try outliers and orders.
    place: number in the file.
    """

    name: str
    kind: str
    target: str | tuple[str, ...]
    claim: Claim
    place: int
    first: Any = None
    second: Any = None
    records: Any = None
    bounds: tuple[tuple[float, float], ...] = ()
    least: int = 1
    source: str = ""
    samples: int = SAMPLES
    replay: bool = True
    structural: bool = True
    low_bits: bool = True
    order: bool = False


@dataclass(frozen=True)
class Scope:
    """The whole file. modules: of the package, whose sources are hashed. root: put before paths in SARIF."""

    path: Path
    package: str
    version: str
    modules: tuple[str, ...]
    opened: tuple[str, ...]
    root: str
    claim: Claim
    entries: tuple[Entry, ...]
    noise: tuple[dict[str, Any], ...]
    seed: int

    @property
    def folder(self) -> Path:
        """Where the file stands; its modules and data are found there."""
        return self.path.parent


def read(path: Path) -> Scope:
    """The scope of a file. Errors: InvalidParameter."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidParameter(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError
        raise InvalidParameter(f"{path}: no TOML: {error}") from error
    try:
        return _scope(path.absolute(), data)  # the audit works in another folder
    except InvalidParameter as error:
        raise InvalidParameter(f"{path}: {error}") from error


def _scope(path: Path, data: Mapping[str, Any]) -> Scope:
    _known("the file", data, TOP)
    package, claimed = _table(data, "package"), _table(data, "claim")
    _known("[package]", package, PACKAGE)
    _known("[claim]", claimed, CLAIM)
    claim = _claim("[claim]", claimed)
    entries = tuple(_entry(number, one, claimed) for number, one in enumerate(_tables(data, "entry")))
    if not entries:
        raise InvalidParameter("[[entry]]: none given, at least one way into the package is needed")
    names = [entry.name for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise InvalidParameter(f"[[entry]] name {name!r}: given twice, names have to differ")
    noise = tuple(_noise(number, one) for number, one in enumerate(_tables(data, "noise")))
    name = _text("[package]", package, "name")
    return Scope(
        path,
        name,
        _text("[package]", package, "version"),
        _texts("[package]", package, "import") or (name.replace("-", "_"),),
        _texts("[package]", package, "open"),
        _text("[package]", package, "root", ""),
        claim,
        entries,
        noise,
        _count("the file", data, "seed", 0, least=0),
    )


def _claim(where: str, table: Mapping[str, Any]) -> Claim:
    relation = _text(where, table, "relation", Relation.ADD_REMOVE.value)
    if relation not in [one.value for one in Relation]:
        raise InvalidParameter(f"{where} relation {relation!r}: allowed are {', '.join(one.value for one in Relation)}")
    epsilon, delta = _number(where, table, "epsilon", None), _number(where, table, "delta", 0.0)
    if not 0 < epsilon < 50:
        raise InvalidParameter(f"{where} epsilon {epsilon:g}: allowed are numbers above 0 and below 50")
    if not 0 <= delta < 1:
        raise InvalidParameter(f"{where} delta {delta:g}: allowed are numbers from 0 on, below 1")
    return Claim(
        _text(where, table, "statement"),
        _text(where, table, "address"),
        _text(where, table, "unit", "one record"),
        Relation(relation),
        epsilon,
        delta,
    )


def _entry(number: int, table: Mapping[str, Any], claimed: Mapping[str, Any]) -> Entry:
    where = f"[[entry]] {number + 1}"
    _known(where, table, ENTRY)
    name = _text(where, table, "name")
    where = f"[[entry]] {name!r}"
    kinds = [kind for kind in KINDS if kind in table]
    if len(kinds) != 1:
        raise InvalidParameter(f"{where}: {kinds or 'none'} given, exactly one of {', '.join(KINDS)} is needed")
    kind = kinds[0]
    target: str | tuple[str, ...] = _texts(where, table, kind) if kind == "command" else _text(where, table, kind)
    if not target:
        raise InvalidParameter(f"{where} {kind}: nothing given, the words of a command are needed")
    if kind == "callable" and ":" not in target:
        raise InvalidParameter(f"{where} callable {target!r}: module:function is needed")
    if ("first" in table) != ("second" in table) or ("first" in table) == ("records" in table):
        raise InvalidParameter(f"{where}: either first and second, or records with bounds, are needed")
    bounds = _bounds(where, table.get("bounds", []))
    if "records" in table and not bounds:
        raise InvalidParameter(f"{where}: records without bounds = [[low, high], ...], from which neighbours are made")
    samples = _count(where, table, "samples", SAMPLES, least=0)
    if 0 < samples < FEWEST:
        raise InvalidParameter(
            f"{where} samples: {samples}, allowed are 0 (no black box) and whole numbers from {FEWEST} on"
        )
    return Entry(
        name,
        kind,
        target,
        _claim(where, {**claimed, **{key: table[key] for key in CLAIM if key in table}}),
        number,
        table.get("first"),
        table.get("second"),
        table.get("records"),
        bounds,
        _count(where, table, "least", 1, least=0),
        _text(where, table, "source", ""),
        samples,
        _flag(where, table, "replay", True),
        _flag(where, table, "structural", True),
        _flag(where, table, "low_bits", True),
        _flag(where, table, "order", False),
    )


def _noise(number: int, table: Mapping[str, Any]) -> dict[str, Any]:
    where = f"[[noise]] {number + 1}"
    _known(where, table, NOISE)
    if ("value" in table) == ("caller" in table):
        raise InvalidParameter(f"{where}: exactly one of value and caller is needed")
    for key in ("function", "law", "scale"):
        if key not in table:
            raise InvalidParameter(f"{where}: {key} is missing; {', '.join(NOISE)} are known")
    if ":" not in _text(where, table, "function"):
        raise InvalidParameter(f"{where} function {table['function']!r}: module:function is needed")
    _text(where, table, "law")
    if "caller" in table and not _texts(where, table, "caller"):
        raise InvalidParameter(f"{where} caller: nothing given, names of local variables of its callers are needed")
    return dict(table)


def _known(where: str, table: Mapping[str, Any], allowed: Sequence[str]) -> None:
    for key in table:
        if key not in allowed:
            meant = difflib.get_close_matches(key, allowed, 1)
            raise InvalidParameter(
                f"{where}: {key!r} is not known{f' ({meant[0]!r} is meant?)' if meant else ''}; "
                f"allowed are {', '.join(allowed)}"
            )


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = data.get(name)
    if not isinstance(found, dict):
        shown = "missing" if found is None else f"{type(found).__name__} given"
        raise InvalidParameter(f"[{name}]: {shown}, one table [{name}] is needed")
    return found


def _tables(data: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    found = data.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise InvalidParameter(f"{name}: {type(found).__name__} given, tables [[{name}]] are needed")
    return found


def _text(where: str, table: Mapping[str, Any], key: str, default: str | None = None) -> str:
    found = table.get(key, default)
    if not isinstance(found, str) or (default is None and not found.strip()):
        shown = "missing" if found is None else repr(found)
        raise InvalidParameter(f"{where} {key}: {shown}, a text is needed")
    return found


def _texts(where: str, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = table.get(key, [])
    listed = [found] if isinstance(found, str) else found
    if not isinstance(listed, list) or not all(isinstance(one, str) and one for one in listed):
        raise InvalidParameter(f"{where} {key}: {found!r}, a text or a list of texts is needed")
    return tuple(listed)


def _number(where: str, table: Mapping[str, Any], key: str, default: float | None) -> float:
    found = table.get(key, default)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise InvalidParameter(f"{where} {key}: {'missing' if found is None else repr(found)}, a number is needed")
    return float(found)


def _count(where: str, table: Mapping[str, Any], key: str, default: int, *, least: int) -> int:
    found = table.get(key, default)
    if isinstance(found, bool) or not isinstance(found, int) or found < least:
        raise InvalidParameter(f"{where} {key}: {found!r}, a whole number from {least} on is needed")
    return found


def _flag(where: str, table: Mapping[str, Any], key: str, default: bool) -> bool:
    found = table.get(key, default)
    if not isinstance(found, bool):
        raise InvalidParameter(f"{where} {key}: {found!r}, true or false is needed")
    return found


def _bounds(where: str, given: Any) -> tuple[tuple[float, float], ...]:
    if not isinstance(given, list):
        raise InvalidParameter(f"{where} bounds: {given!r}, [[low, high], ...] with a pair for every column is needed")
    return tuple(_interval(where, one) for one in given)


def _interval(where: str, pair: Any) -> tuple[float, float]:
    ends = pair if isinstance(pair, list) and len(pair) == 2 else []
    numbers = all(isinstance(end, int | float) and not isinstance(end, bool) and math.isfinite(end) for end in ends)
    if not ends or not numbers or ends[0] >= ends[1]:
        raise InvalidParameter(f"{where} bounds {pair!r}: pairs [low, high] with low < high are needed")
    return float(ends[0]), float(ends[1])
