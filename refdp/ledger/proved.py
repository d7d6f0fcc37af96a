"""Machine-checked proofs about whole training programs, as kept, and how a certificate cites them.

Two kinds: theorems of Coq about a program over the real numbers (the claims `<paper>/kernel`), and results of
`refdp prove` about the text that trains (proved.json, written by `python -m refdp.prove.keep`). A kept result names its
settings and schema, the fingerprint of the text and a digest of the reading; where one of them is another now, it is
cited as stale and covers nothing.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np

from refdp.data.records import Schema
from refdp.ledger import claims
from refdp.ledger.fingerprint import current, tree_digest
from refdp.privacy.events import Relation

FILE = "proved.json"
SUFFIX = {Relation.ADD_REMOVE: "", Relation.REPLACE_ONE: "-replace-one"}
LEFT_OUT = " Not covered: "
"""In the statement of a kernel's claim, before what its theorem leaves out."""
REPLAYED = "that the text that trains is this program: recorded runs are computed anew by Coq (docs/coq.md)"


@dataclass(frozen=True)
class Kept:
    """A result of `refdp prove`, of one target.

    settings: of every parameter. schema: as text. text: fingerprints of the paper's `train` and `train_on`. engine:
    digest of the reading's source. digest: of all of this, so that no field can be another unnoticed.
    """

    paper: str
    relation: str
    settings: Mapping[str, str]
    schema: str
    verdict: str
    statement: str
    covers: tuple[str, ...]
    trusted: tuple[str, ...]
    releases: int
    single: int
    failures: tuple[str, ...]
    text: str
    engine: str
    digest: str = ""

    def digested(self) -> str:
        """The digest that this result has."""
        plain = {name: value for name, value in asdict(self).items() if name != "digest"}
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]

    def stale(self) -> str:
        """Why it covers nothing any more, empty where it does."""
        if self.digest != self.digested():
            return "its digest is another"
        if self.text != text_now(self.paper):
            return "the text that trains has changed since"
        return (
            ""
            if self.engine == engine()
            else "the reading that proved it, or what it takes for given, has changed since"
        )


@dataclass(frozen=True)
class Cited:
    """What a certificate says of one proof. this_run: whether it is about these settings and this schema, as they are.

    differs: settings (and "schema") in which the run is another, with the run's value and the proof's. not_covered:
    what is trusted or left out. stale: why it covers nothing any more.
    """

    name: str
    by: str
    verdict: str
    digest: str
    covers: tuple[str, ...]
    not_covered: tuple[str, ...]
    this_run: bool
    differs: tuple[str, ...] = ()
    stale: str = ""

    def line(self) -> str:
        """For people."""
        if self.stale:
            return f"{self.name} ({self.by}) is stale: {self.stale}"
        about = "exactly this run's settings" if self.this_run else ""
        if self.differs:
            about = f"the same program with other settings: {'; '.join(self.differs)}"
        return f"{self.name}: {self.verdict} by {self.by}{', ' + about if about else ''}"


def text_of(paper: str) -> str:
    """The name of the function that a result is about."""
    return f"refdp.papers.{paper}:train_on"


def text_now(paper: str) -> str | None:
    """The fingerprints of `train`, which calls the function that a result is about, and of it; None if one is gone."""
    found = [current(name) for name in (text_of(paper).removesuffix("_on"), text_of(paper))]
    return None if None in found else " ".join(map(str, found))


@lru_cache(maxsize=1)
def engine() -> str:
    """A digest of the source of the reading and of what it takes for given, without running it, which needs solvers.

    Where the files are, byte for byte, those that the kept digest is of, parsing them would give it again.
    """
    own: dict[str, str] = _file().get("engine", {})
    return own["digest"] if own.get("bytes") == bytes_of() else parsed()


def _sources() -> dict[str, bytes]:
    """The reading's files, and those of what it takes for given: accounts, noise, records in memory, the curator."""
    folders = [resources.files("refdp") / name for name in ("prove", "accounting", "data", "noise", "privacy")]
    return {f"{folder.name}/{one.name}": one.read_bytes() for folder in folders for one in folder.iterdir()
            if one.name.endswith(".py")}  # fmt: skip


def bytes_of() -> str:
    """A digest of the reading's files as they are."""
    found = [f"{name} {hashlib.sha256(text).hexdigest()}" for name, text in sorted(_sources().items())]
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


def parsed() -> str:
    """The digest of the reading's source, its comments and layout left out."""
    parts = [f"{name} {tree_digest(ast.parse(text))}" for name, text in sorted(_sources().items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def plain(value: Any) -> str:
    """A setting's value as text, its exact value where it is a number."""
    if isinstance(value, Enum):
        return str(value.value)
    if is_dataclass(value) and not isinstance(value, type):
        inner = ", ".join(f"{one.name}={_within(getattr(value, one.name))}" for one in fields(value))
        return f"{type(value).__name__}({inner})"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_within, value))})"
    other = isinstance(value, np.generic) and not isinstance(value, float)
    return f"{type(value).__name__}({value})" if other else str(value)


def _within(value: Any) -> str:
    """A value among others: a text in quotation marks, so that no name of a category is taken for two."""
    return repr(value) if type(value) is str else plain(value)


def settings_of(params: Any) -> dict[str, str]:
    """Every parameter but the relation, as text."""
    return {one.name: plain(getattr(params, one.name)) for one in fields(params) if one.name != "relation"}


@lru_cache(maxsize=1)
def kept() -> tuple[Kept, ...]:
    """Every result that is kept."""
    return tuple(_from(row) for row in _file()["proved"])


def _file() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(resources.files("refdp.ledger").joinpath(FILE).read_text(encoding="utf-8"))
    return found


def _from(row: Mapping[str, Any]) -> Kept:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return Kept(**values)


def cited(paper: str, params: Any, schema: Schema, further: tuple[Kept, ...] = ()) -> tuple[Cited, ...]:
    """The proofs about a paper's program under the run's relation; none for readings as printed.

    Of the results that are kept, and of `further` ones, that which differs from the run in the least.
    """
    if not type(params).__module__.startswith("refdp.papers.") or ".published." in type(params).__module__:
        return ()
    found = list(_theorems(paper, params))
    results = [one for one in (*further, *kept()) if (one.paper, one.relation) == (paper, params.relation.value)]
    about = sorted(
        (_about(one, params, schema) for one in results), key=lambda one: (bool(one.stale), len(one.differs))
    )
    return (*found, *about[:1])


def _theorems(paper: str, params: Any) -> Iterator[Cited]:
    """Of discrete noise the theorem that rounds to its grid, where the paper has one apart."""
    names = [f"{paper}/kernel{part}{SUFFIX[params.relation]}" for part in ("-grid", "")]
    known = [name for name in names if name in claims.everything()]
    if not known:
        return
    name = known[0] if getattr(params, "noise", "") == "discrete" else known[-1]
    claim = claims.get(name)
    says, _, left_out = claim.statement.partition(LEFT_OUT)
    proved = claim.verdict == "PROVED"
    yield Cited(
        name, "Coq's kernel", claim.verdict, claim.digest, (says,) if proved else (),
        (REPLAYED, left_out.rstrip(".")), False, stale="" if proved else claim.reason or claim.verdict,
    )  # fmt: skip


def _about(result: Kept, params: Any, schema: Schema) -> Cited:
    own = settings_of(params)
    differs = [f"{name} = {value}, proved for {result.settings.get(name, 'none')}"
               for name, value in own.items() if result.settings.get(name) != value]  # fmt: skip
    differs += [f"no {name}, proved for {value}" for name, value in result.settings.items() if name not in own]
    differs += ["other features or another target"] if result.schema != plain(schema) else []
    stale = result.stale()
    proved = result.verdict == "PROVED" and not stale
    return Cited(
        f"refdp prove {result.paper} --relation {result.relation}", "z3 and cvc5", result.verdict, result.digest,
        (result.statement, *result.covers) if proved else (), result.trusted, proved and not differs, tuple(differs),
        stale,
    )  # fmt: skip
