"""What a population was told, as data, and shards of records whose answers are a function of records and log alone.

A host elsewhere gets the log with every query, or the part of it that it has not seen. Its state is a cache: a shard
that is asked twice, late, again after a crash or on another machine gives the same integers. `Log` chains a digest over
its entries, so that a host never answers to another log than the one that was meant.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refdp.data.candidates import Candidates
from refdp.data.memory import Memory
from refdp.data.nothing import Nothing
from refdp.data.population import (
    Advance,
    Begin,
    Descend,
    Encode,
    Pay,
    Place,
    Population,
    Query,
    Refresh,
    RefreshAll,
    Reports,
    Root,
    Start,
    Step,
    Sums,
    Turn,
    from_json,
    to_json,
)
from refdp.data.records import Schema
from refdp.data.sparse import AnyRecords
from refdp.documents import parsed
from refdp.errors import InvalidParameter, MessageError
from refdp.privacy.curator import Assigned, Curator
from refdp.privacy.sources import AccountSource, Coins, part_of

START = "0" * 32
"""The digest of an empty log."""


@dataclass(frozen=True, eq=False)
class Select:
    """Secret coins of all record slots, under the number of a scope. Private, unlike steps."""

    scope: int
    assigned: Assigned


@dataclass(frozen=True)
class Enter:
    """From now on only the records in this block of that scope are selected."""

    scope: int
    block: int


@dataclass(frozen=True)
class Leave:
    """The innermost `Enter` ends."""


Entry = Step | Select | Enter | Leave
UNREADABLE = (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError)
"""What reading plain data of another form may raise."""
_STEPS = (Begin, Turn, Start, Encode, Refresh, RefreshAll, Pay, Root, Descend, Place, Advance)


def entry_out(entry: Entry) -> dict[str, Any]:
    """An entry as plain data."""
    match entry:
        case Select(scope, Coins() as coins):
            return {"kind": "select", "scope": scope, "coins": coins.to_json()}
        case Select(scope, members):
            return {"kind": "select", "scope": scope, "members": np.asarray(members).tolist()}
        case Enter(scope, block):
            return {"kind": "enter", "scope": scope, "block": block}
        case Leave():
            return {"kind": "leave"}
    return to_json(entry)


def entry_in(body: Mapping[str, Any]) -> Entry:
    """What `entry_out` wrote. Errors: InvalidParameter for anything else, a query too."""
    try:
        match body:
            case {"kind": "select", "scope": int(scope), "coins": coins}:
                return Select(scope, Coins.from_json(coins))
            case {"kind": "select", "scope": int(scope), "members": members}:
                return Select(scope, np.array(members, dtype=np.int64))
            case {"kind": "enter", "scope": int(scope), "block": int(block)}:
                return Enter(scope, block)
            case {"kind": "leave"}:
                return Leave()
        found = from_json(body)
    except InvalidParameter:
        raise
    except UNREADABLE:
        kind = body.get("kind") if isinstance(body, Mapping) else None
        raise InvalidParameter(f"an entry of kind {kind!r} that cannot be read") from None
    if not isinstance(found, _STEPS):
        raise InvalidParameter(f"{body.get('kind')!r}: steps are told, queries are asked")
    return found


@dataclass
class Log:
    """Entries, and the digest after each of them."""

    entries: list[Entry] = field(default_factory=list)
    digests: list[str] = field(default_factory=lambda: [START])

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, entry: Entry) -> None:
        """One more entry at the end."""
        self.digests.append(chained(self.digests[-1], entry))
        self.entries.append(entry)

    def since(self, first: int, query: Query) -> Asked:
        """The query, with the entries from `first` on."""
        return Asked(first, tuple(self.entries[first:]), self.digests[-1], query)

    def follow(self, asked: Asked) -> Sequence[Entry]:
        """All entries before a query; those that were not known are added.

        Errors: Behind if entries are missing, MessageError if the query is about another log.
        """
        upto, known = asked.first + len(asked.entries), len(self)
        if asked.first > known:
            raise Behind(known)
        digests = [self.digests[min(upto, known)]]
        fresh = asked.entries[known - asked.first :] if upto > known else ()
        for entry in fresh:
            digests.append(chained(digests[-1], entry))
        if digests[-1] != asked.digest:
            raise MessageError(f"a query after {upto} steps of another log than the one that is known here")
        self.entries += fresh
        self.digests += digests[1:]
        return self.entries[:upto]

    def forget(self, known: int) -> None:
        """What was added after so many entries."""
        del self.entries[known:], self.digests[known + 1 :]


@dataclass(frozen=True)
class Asked:
    """A query, with the log's entries from number `first` on, and the digest of the whole log."""

    first: int
    entries: tuple[Entry, ...]
    digest: str
    query: Query

    def to_json(self) -> str:
        """As text."""
        entries = [entry_out(entry) for entry in self.entries]
        body = {"first": self.first, "entries": entries, "digest": self.digest, "query": to_json(self.query)}
        return json.dumps(body)

    @classmethod
    def from_json(cls, text: str) -> Asked:
        """What `to_json` wrote. Errors: InvalidParameter for anything else."""
        try:
            match parsed(text):
                case {"first": int(first), "entries": [*entries], "digest": str(digest), "query": told, **more}:
                    if more or first < 0:
                        raise InvalidParameter("a query with its log, from an entry on, and nothing else is needed")
                    query = from_json(told)
                    if isinstance(query, _STEPS):
                        raise InvalidParameter(f"{told.get('kind')!r}: steps are told, queries are asked")
                    return cls(int(first), tuple(map(entry_in, entries)), digest, query)
        except InvalidParameter:
            raise
        except UNREADABLE:
            pass
        raise InvalidParameter("a query with its log is needed")


class Behind(Exception):
    """A host knows `known` entries, fewer than a query presumes: it needs the log from there on."""

    def __init__(self, known: int) -> None:
        super().__init__(known)
        self.known = known


def chained(before: str, entry: Entry) -> str:
    """The digest after one more entry."""
    text = json.dumps(entry_out(entry), sort_keys=True)
    return hashlib.sha256(f"{before} {text}".encode()).hexdigest()[: len(START)]


class Shard:
    """Some of the records: slots `start` and on. What it keeps besides is a cache.

    load: gives the records; the same ones every time.
    """

    def __init__(self, load: Callable[[], AnyRecords], start: int) -> None:
        self._load, self._start = load, start
        self._host: Memory | None = None
        self._done = 0

    def answer(self, log: Sequence[Entry], query: Query) -> Sums:
        """The sums of a query after this log, an extension or a part of the one before. Of the query's shape."""
        if self._host is None or len(log) < self._done:
            self._host, self._done = Memory(self._load()), 0
        for entry in log[self._done :]:
            self._follow(self._host, entry)
            self._done += 1
        return self._host.ask(query)

    def _follow(self, host: Memory, entry: Entry) -> None:
        match entry:
            case Select(scope, assigned):
                host.select(scope, lambda count: part_of(assigned, self._start, count))
            case Enter(scope, block):
                host.enter(scope, block)
            case Leave():
                host.leave()
            case _:
                host.tell(entry)


def repeats(step: Step, candidates: Candidates | None) -> bool:
    """Whether a step says what is known: the same candidates object again, whose codes are kept."""
    return isinstance(step, Encode) and step.candidates is candidates


class Logged:
    """A `Population` that writes down what it is told and gives the log along with every query.

    Subclasses say how many record slots there are, `size`, and how the shards are asked, `_sums`.
    """

    def __init__(self) -> None:
        self.log = Log()
        self._candidates: Candidates | None = None

    @property
    def size(self) -> int:
        """Number of record slots. Private under add-remove."""
        raise NotImplementedError

    def tell(self, step: Step) -> None:
        """Write one step into the log: nothing travels until a query needs it."""
        if repeats(step, self._candidates):
            return
        if isinstance(step, Encode):
            self._candidates = step.candidates
        self.log.add(step)

    def ask(self, query: Query) -> Sums:
        """The sums of all shards, exact, in units of GRID; shape: that of the query.

        Errors: InvalidParameter for `Reports`, which are no sums.
        """
        check_sum(query)
        return self._sums(query)

    def select(self, scope: int, draw: Callable[[int], Assigned]) -> None:
        """Attach secret coins: they travel as a key, or as an array if a source has tossed them."""
        self.log.add(Select(scope, draw(self.size)))

    def enter(self, scope: int, block: int) -> None:
        """Write into the log that one block of a scope is selected."""
        self.log.add(Enter(scope, block))

    def leave(self) -> None:
        """Write into the log that the innermost `enter` ends."""
        self.log.add(Leave())

    def _sums(self, query: Query) -> Sums:
        raise NotImplementedError


def check_sum(query: Query) -> None:
    """Errors: InvalidParameter for `Reports`."""
    if isinstance(query, Reports):
        raise InvalidParameter("Reports: what single records report is no sum, and does not travel")


class _Asked(Nothing):
    def ask(self, query: Query) -> Sums:
        check_sum(query)
        return super().ask(query)


def check_travels(train: Callable[[Any, Schema, Population, Curator], Any], params: Any, schema: Schema) -> None:
    """That a program asks for sums alone, which is known before any record is touched.

    Errors: InvalidParameter otherwise.
    """
    with np.errstate(all="ignore"):
        train(params, schema, _Asked(), Curator(AccountSource(), params.relation))


def total(parts: Iterable[Sums]) -> Sums:
    """Their sum, entry by entry, exact."""
    found: Sums = np.sum(list(parts), axis=0, dtype=np.int64)
    return found
