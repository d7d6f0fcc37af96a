"""Machine-checked proofs about whole training programs, as kept, and how a certificate cites them.

Two kinds: theorems of Coq about a program over the real numbers (the claims `<paper>/kernel`), and results of
`refdp prove` about the text that trains (proved.json, written by `python -m refdp.prove.keep`). A kept result names its
settings and schema, the fingerprint of the text and a digest of the reading; where one of them is another now, it is
cited as stale and covers nothing. So it is where something else runs than the sources say (`refdp.ledger.written`).

Digests tell of mistakes: of code that moved on, of rows that were mixed. They are no seal: nothing here is secret, and
whoever can write to refdp's files, or to this module while it runs, can have anything cited.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain
from typing import Any

from refdp.data.reading import PLAIN
from refdp.data.records import Records, Schema
from refdp.ledger import claims
from refdp.ledger.fingerprint import current, module_digest, modules_of, tree_digest
from refdp.ledger.parts import differences, is_refdps
from refdp.ledger.written import otherwise
from refdp.privacy.events import Relation

FILE = "proved.json"
SUFFIX = {Relation.ADD_REMOVE: "", Relation.REPLACE_ONE: "-replace-one"}
LEFT_OUT = " Not covered: "
"""In the statement of a kernel's claim, before what its theorem leaves out."""
STREAM = "a stream of batches (`partial_fit`, `train_stream`), which no proof has read"
"""What a proof says of a stream's certificate."""
SELECTION = "the best of several runs by scores (`refdp.select`), which no proof has read"
"""Of a selection's."""
BREACH = "a run without the guarantee of its settings, as its certificate notes"
"""Of one whose description of the records was not public, or whose noise was not drawn."""
OTHERS = (STREAM, SELECTION, BREACH)
GRANTED = (
    "streams of batches, whose text is not read, and that what calls `train` hands it the records, settings and "
    "curator of this certificate",
    "that Python, numpy and other libraries are what they say, and that nobody wrote to refdp's files, to the kept "
    "results, or to what compares both with what runs",
    "that nothing was put into refdp's modules while it trained and taken away before they were compared, as a "
    "certificate is made: of that only results are seen that caches of functions in them still keep",
)
"""What citing a result of `refdp prove` takes for granted, beside what the result does."""
ELSEWHERE = "something else runs than the sources say"
REPLAYED = "that the text that trains is this program: recorded runs are computed anew by Coq (docs/coq.md)"


@dataclass(frozen=True)
class Kept:
    """A result of `refdp prove`, of one target.

    settings: of every parameter. schema: as text. text: `text_now` of the paper. engine: `engine_now`, of the reading.
    digest: of all of this, so that no field is another by mistake.
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

    def stale(self, place: str | None = None) -> str:
        """Why it covers nothing any more, empty where it does. place: what `running` says, where it was asked."""
        if self.digest != self.digested():
            return "its digest is another"
        if self.text != text_now(self.paper):
            return "the text that trains has changed since"
        if not is_engine(self.engine):
            return "the reading that proved it, or what it takes for given, has changed since"
        place = running(self.paper) if place is None else place
        return f"{ELSEWHERE}: {place}" if place else ""


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
        if other := [one for one in self.differs if one in OTHERS]:
            about = f"but this is {other[0]}"
        return f"{self.name}: {self.verdict} by {self.by}{', ' + about if about else ''}"


ROOMS = {"grove": "own"}
"""Where the texts are that are not among `papers`."""


def text_of(paper: str) -> str:
    """The name of the function that a result is about."""
    return f"refdp.{ROOMS.get(paper, 'papers')}.{paper}:train_on"


def text_now(paper: str) -> str | None:
    """The fingerprints of `train`, which calls the function that a result is about, and of it; None if one is gone.

    And a digest of all that stands in the modules that they reach, outside of the reading's `FOLDERS`, which `engine`
    has whole: what is executed at an import can change what is defined elsewhere.
    """
    found = [current(name) for name in (text_of(paper).removesuffix("_on"), text_of(paper))]
    return None if None in found else " ".join([*map(str, found), _beside(paper)])


@lru_cache
def _beside(paper: str) -> str:
    own = [name for name in reached(paper) if name.split(".")[1] not in FOLDERS]
    parts = [f"{name} {module_digest(name)}" for name in own]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@lru_cache
def reached(paper: str) -> tuple[str, ...]:
    """Names of the modules of refdp that a paper's `train` and `train_on` reach."""
    names = {text_of(paper).removesuffix("_on"), text_of(paper)}
    return tuple(sorted({module for name in names for module in modules_of(name)}))


HOMES = ("refdp.data.records", "refdp.privacy.events")
"""Modules of whose classes schemas and settings are made, which are compared whatever a text reaches."""
REGISTRY = "refdp.faces.registry"
MEASURING = "refdp.protocols.quality"
"""Of whose class is what measures trees among owners."""
CALLERS = ("refdp.ledger.certificate", "refdp.faces.training", "refdp.faces.estimators", "refdp.protocols.owners",
           MEASURING)  # fmt: skip
"""What issues certificates, makes a run's curator, hands records over and plans for owners, compared where loaded."""


def running(paper: str, also: str = "") -> str:
    """The first name that stands for something else than the text that a result is about, empty where none does.

    What accounts for a run is compared as well, and samplers, which no text reaches: a curator's source has them.
    paper: one of somebody else has no text here, and the rest is compared. also: a further module, of printed readings.
    """
    home = text_of(paper).partition(":")[0]
    here = home in sys.modules
    if here and paper in getattr(sys.modules.get(REGISTRY), "_registered", ()):
        return f"{REGISTRY}._registered"
    callers = (name for name in CALLERS if name in sys.modules)
    return otherwise({*HOMES, *callers, *(reached(paper) if here else ()), *_accounting(home if here else "", also)})


@lru_cache
def _accounting(home: str, also: str) -> frozenset[str]:
    """Modules of refdp from which a certificate's figures follow, and of samplers; not those that compare."""
    starts = ["refdp.privacy.sources:SampleSource", "refdp.data.reading:plan_of", "refdp.ledger.certificate:issue"]
    starts += [f"{home}:plan", f"{home}:certificate"] if home else []
    starts += [f"{also}:Params"] if also else []
    found = {module for name in starts for module in modules_of(name)}
    return frozenset(name for name in found if not name.startswith("refdp.ledger."))


@lru_cache(maxsize=1)
def engine() -> str:
    """A digest of the source of the reading and of what it takes for given, without running it, which needs solvers.

    Its comments and layout left out.
    """
    parts = [f"{name} {tree_digest(ast.parse(text))}" for name, text in sorted(_sources().items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def engine_now() -> str:
    """The digest of the reading, and of its files byte for byte, as it stands in a result."""
    return f"{engine()} {bytes_of()}"


@lru_cache
def is_engine(kept: str) -> bool:
    """Whether the reading is that of a result: its files are, or else, as parsing takes seconds, what is in them."""
    digest, _, files = kept.partition(" ")
    return files == bytes_of() or digest == engine()


FOLDERS = ("prove", "accounting", "data", "noise", "privacy")
"""The reading's files, and those of what it takes for given: accounts, noise, records in memory, the curator."""


def _sources() -> dict[str, bytes]:
    return {name: text for one in FOLDERS for name, text in _below(resources.files("refdp") / one, one)}


def _below(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    """Sources in a folder and in the folders in it, in archives too, by their path."""
    for one in folder.iterdir():
        if one.is_dir():
            yield from _below(one, f"{name}/{one.name}")
        elif one.name.endswith(".py"):
            yield f"{name}/{one.name}", one.read_bytes()


def bytes_of() -> str:
    """A digest of the reading's files as they are."""
    found = [f"{name} {hashlib.sha256(text).hexdigest()}" for name, text in sorted(_sources().items())]
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


def plain(value: Any) -> str:
    """A setting's value as text, its exact value where it is a number; with what it was given beside its fields."""
    if isinstance(value, Enum) and _is_refdps(type(value)) and _is_member(value):
        return str(value.value)
    if is_dataclass(value) and not isinstance(value, type):
        inner = ", ".join(f"{name}={_within(getattr(value, name))}" for name in _names(value))
        return f"{type(value).__name__ if _is_refdps(type(value)) else _named(type(value))}({inner})"
    if type(value) in (list, tuple):
        return f"({', '.join(map(_within, value))})"
    return str(value) if type(value) in PLAIN else f"{_named(type(value))}({value})"


def _is_refdps(kind: type) -> bool:
    """Whether a class is that of its name in a module that is compared: another's members compute as they want.

    What is put into a module that is compared with its source is told; into any other whatever name is easily put.
    """
    return kind.__module__ in (*HOMES, MEASURING) and is_refdps(kind)


def _is_member(value: Enum) -> bool:
    """Whether it is one of its class, and not only made of it."""
    return any(value is one for one in type(value))


def _names(value: Any) -> list[str]:
    """A dataclass's fields, and what an object of it was given of its own."""
    names = [one.name for one in fields(type(value))]
    return [*names, *(name for name in getattr(value, "__dict__", {}) if name not in names)]


def stranger(params: Any, schema: Any, text: Any = None, **besides: Any) -> str:
    """The first thing in settings or a schema that computes by a text of nobody's in refdp, empty where there is none.

    A class that is derived from one of refdp's, or what an object was given beside its fields, has bounds of its own,
    of which no claim of refdp's says anything; nor does one of values that their class refuses, which copies and
    pickles do not ask it about. Either may be None. text: a module whose parameters are known as well.
    besides: by name, what else a plan is made of.
    """
    kind = type(params)
    known = params is None or any(kind is getattr(one, "Params", None) for one in (text, sys.modules.get(home(kind))))
    others = (_strangers(one, name) for name, one in (("schema", schema), *besides.items()))
    return next(chain(_strangers(params, "params", known), *others), "")


def home(kind: type) -> str:
    """The module of refdp in which the class of a paper's parameters is, empty where it is in none."""
    name = str(kind.__module__)
    return name if name.startswith("refdp.") and hasattr(sys.modules.get(name), "Params") else ""


def _strangers(value: Any, place: str, known: bool = False) -> Iterator[str]:
    """Places in a value. known: whether its class is one that is compared elsewhere."""
    kind = type(value)
    inside: list[tuple[str, Any]] | None = None
    if isinstance(value, Enum):
        inside = [] if _is_refdps(kind) and _is_member(value) else None
    elif is_dataclass(value) and (known or _is_refdps(kind)):
        own = [one.name for one in fields(kind)]
        yield from (f"{place}.{name}" for name in _names(value) if name not in own)
        inside = [(f"{place}.{name}", getattr(value, name)) for name in own if kind is not Records]
    elif kind in (list, tuple):
        inside = [(f"{place}[{number}]", one) for number, one in enumerate(value)]
    else:
        inside = [] if kind in PLAIN else None
    if inside is None:
        yield f"{place}, a {_named(kind)}"
    for name, one in inside or ():
        yield from _strangers(one, name)
    if is_dataclass(value) and kind is not Records and inside is not None:
        yield from _unmade(value, place)


def _unmade(value: Any, place: str) -> Iterator[str]:
    """Where a dataclass makes something else of a value's fields than the value has, or nothing."""
    given = {one.name: getattr(value, one.name) for one in fields(value)}
    try:
        made = type(value)(**given)
    except Exception as problem:
        yield f"{place}, which its class refuses ({problem})"
        return
    for name, one in given.items():
        yield from differences(one, getattr(made, name), f"{place}.{name}", {}, [])


def _named(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _within(value: Any) -> str:
    """A value among others: a text in quotation marks, so that no name of a category is taken for two."""
    return repr(value) if type(value) is str else plain(value)


def settings_of(params: Any) -> dict[str, str]:
    """Every parameter but the relation, as text; and what else an object of parameters was given of its own."""
    return {name: plain(getattr(params, name)) for name in _names(params) if name != "relation"}


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


def cited(
    paper: str, params: Any, schema: Schema, further: tuple[Kept, ...] = (), place: str | None = None
) -> tuple[Cited, ...]:
    """The proofs about a paper's program under the run's relation; none for readings as printed and other parameters.

    Of the results that are kept, and of `further` ones, that which differs from the run in the least. place: what
    `running` says, where it was asked.
    """
    if type(params) is not getattr(sys.modules.get(text_of(paper).partition(":")[0]), "Params", None):
        return ()
    if not (type(params.relation) is Relation and _is_member(params.relation)):
        return ()
    found = list(_theorems(paper, params))
    results = [one for one in (*further, *kept()) if (one.paper, one.relation) == (paper, params.relation.value)]
    about = sorted(
        (_about(one, params, schema, place) for one in results), key=lambda one: (bool(one.stale), len(one.differs))
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


def _about(result: Kept, params: Any, schema: Schema, place: str | None = None) -> Cited:
    own = settings_of(params)
    differs = [f"{name} = {value}, proved for {result.settings.get(name, 'none')}"
               for name, value in own.items() if result.settings.get(name) != value]  # fmt: skip
    differs += [f"no {name}, proved for {value}" for name, value in result.settings.items() if name not in own]
    differs += ["other features or another target"] if result.schema != plain(schema) else []
    stale = result.stale(place)
    proved = result.verdict == "PROVED" and not stale
    return Cited(
        f"refdp prove {result.paper} --relation {result.relation}", "z3 and cvc5", result.verdict, result.digest,
        (result.statement, *result.covers) if proved else (), (*result.trusted, *GRANTED), proved and not differs,
        tuple(differs), stale,
    )  # fmt: skip


def of_another(proofs: tuple[Cited, ...], what: str) -> tuple[Cited, ...]:
    """What a certificate of something else says of the proofs about one run: none is about it. what: of `OTHERS`."""
    return tuple(
        replace(one, covers=(), this_run=False, differs=(what, *one.differs), not_covered=(what, *one.not_covered))
        for one in proofs
    )
