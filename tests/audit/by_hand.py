"""Runs of small programs in this process, for tests of the replay of one trainer pair by pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from refdp.audit import search
from refdp.audit.in_order import InOrder
from refdp.audit.isolated import Outcome
from refdp.audit.replay import Finding, Pair
from refdp.audit.search import Search
from refdp.data.records import Interval, Numeric, Records, Schema
from refdp.errors import ImpossibleReplay
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.curator import Curator, Entry, Request
from refdp.privacy.events import Relation, Sensitivity
from refdp.privacy.replay import Recorder, ReplaySource

SCHEMA = Schema((Numeric("a", 0.0, 1.0),), Interval(0.0, 1.0))
ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
QUIET = Finding(None, None, ())


def some(*values: float) -> Records:
    return Records(SCHEMA, np.array(values, dtype=float)[:, None], np.array(values, dtype=float))


def pair(*values: float, new: float = 0.5, old: float | None = None) -> Pair:
    return Pair(some(*values), some(new), None if old is None else some(old), 1)


@dataclass
class Machine:
    """Runs of a program in this process. shown: what a run leaves behind besides its releases, by records and seed."""

    program: Callable[[Records, Any], Any]
    shown: Callable[[Records, int, Any, Records | None], dict[str, Any]] = lambda *_: {}
    calls: list[tuple[Any, ...]] = field(default_factory=list)

    def observed(self, train: Any, records: Records, source: Any, relation: Relation, seed: int,
                 before: Records | None = None, *, watched: tuple[str, ...] = (),
                 earlier: Any = None) -> Outcome:  # fmt: skip
        self.calls.append((records.y.tolist(), type(source).__name__, seed, before, watched))
        recorder, parted, raised = Recorder(source, relation), None, ()
        curator = Curator(InOrder(recorder), relation)
        try:
            self.program(records, curator)
        except ImpossibleReplay:
            pass
        except RuntimeError as error:
            raised = (("error", str(error)),)
        if isinstance(source, ReplaySource):
            try:
                source.finish()
            except ImpossibleReplay as error:
                parted = error.kind, error.release, error.detail
        given = Outcome(recorder.transcript, curator.event(), parted, raised=raised)
        return replace(given, **self.shown(records, seed, source, before))


def machine(monkeypatch: pytest.MonkeyPatch, program: Any = None, shown: Any = None, **options: Any) -> tuple[Any, Any]:
    made = Machine(program or sums(1.0), *([shown] if shown else []))
    monkeypatch.setattr(search, "observed", made.observed)
    given: dict[str, Any] = {"epsilon": 1.0, "delta": 0.0, "relation": ADD, "seed": 3, "watched": ("w",)}
    return Search(made.program, **{**given, **options}), made


def declared(bound: float, relation: Relation = ADD, norm: Any = 1) -> Sensitivity:
    return Sensitivity(bound, norm, "test/claim", relation)


def sums(scale: float, bound: float = 1.0, mechanism: Any = None, name: str = "sum") -> Any:
    def train(records: Records, curator: Any) -> Any:
        law = mechanism or Laplace(scale)
        norm = 2 if isinstance(law, Gaussian) else 1
        total = np.array([float(records.y.sum())])
        return curator.release(name, law, total, sensitivity=declared(bound, curator.relation, norm))

    return train


def kinds(one: Search) -> list[tuple[str, str]]:
    return [(v.kind, v.release) for v in one.notes.violations]


def entry(value: Any, mechanism: Any, *, output: Any = None, name: str = "sum", kind: Any = "release") -> Entry:
    shape = np.zeros(1) if value is None else np.asarray(value, dtype=float)
    made = Request(kind, (name,), None, mechanism, sensitivity=declared(1.0))
    return Entry(made, shape + 0.5 if output is None else np.asarray(output), None, None if value is None else shape)


def split(leak: bool = False) -> Any:
    def train(records: Records, curator: Any) -> Any:
        with curator.partition("halves", (0.5, 0.5), len(records.y)) as blocks:
            for number in range(2):
                with blocks.block(number) as rows:
                    total = np.array([records.y.sum() if leak else records.y[rows].sum()])
                    curator.release(f"half {number}", Laplace(1.0), total, sensitivity=declared(1.0, curator.relation))

    return train
