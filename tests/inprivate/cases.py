"""Runs among owners that several tests need: made-up records, one curator an owner, sampled or replayed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from refdp.data.records import Categorical, Classes, Interval, Numeric, Records, Schema, make_records
from refdp.papers import published
from refdp.papers.inprivate import Params
from refdp.privacy.curator import Source
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource
from refdp.protocols.journal import MemoryJournal
from refdp.protocols.owners import Owner, rules_of
from refdp.protocols.quality import Control
from refdp.protocols.rounds import Outcome, conduct
from tests.recorded import Recorded

FEATURES = (Numeric("a", 0.0, 1.0), Categorical("b", ("x", "y", "z")), Numeric("c", -5.0, 5.0))
REGRESSION = Schema(FEATURES, Interval(-1.0, 1.0))
BINARY = Schema(FEATURES, Classes(("no", "yes")))
THREE = Schema(FEATURES, Classes(("p", "q", "r")))


def params(**changes: Any) -> Params:
    """Small trees; add-remove unless told otherwise."""
    given = {"epsilon": 1.0, "relation": Relation.ADD_REMOVE, "owners": 4, "rounds": 2, "depth": 3, "bins": 4,
             "noise": "floating"}  # fmt: skip
    made: Params = published.params("inprivate", **{**given, **changes})
    return made


def made_up(schema: Schema, rows: int, seed: int) -> Records:
    """Features anywhere, labels that depend on the first."""
    generator = np.random.default_rng(seed)
    x = np.column_stack([generator.random(rows), generator.integers(0, 3, rows), generator.uniform(-5, 5, rows)])
    noise = 0.3 * generator.standard_normal(rows)
    signal = 2 * x[:, 0] - 1 + noise
    if isinstance(schema.target, Interval):
        return make_records(schema, x, np.clip(signal, -1, 1))
    count = len(schema.target.values)
    return make_records(schema, x, np.clip(np.floor((signal + 1) / 2 * count), 0, count - 1))


def parts(schema: Schema, owners: int, rows: int = 40) -> list[Records]:
    """Each owner's records."""
    return [made_up(schema, rows, 100 + owner) for owner in range(owners)]


def sampled(owner: int) -> Source:
    """The randomness of one owner."""
    return SampleSource(np.random.default_rng([7, owner]))


def run(
    p: Params,
    records: Sequence[Records],
    *,
    source: Callable[[int], Source] = sampled,
    control: Control | None = None,
    broadcast: bool = False,
    wrap: Callable[[Owner], Any] = lambda owner: owner,
    **others: Any,
) -> tuple[Outcome, list[Recorded]]:
    """A run, and every owner's curator, recorded."""
    rules = rules_of(p, records[0].schema)
    curators = [Recorded(source(owner), p.relation) for owner in range(p.owners)]
    with ExitStack() as doors:
        owners = [
            wrap(Owner.behind(doors, rules, p, position, records[position], curators[position],
                              MemoryJournal(), broadcast=broadcast, control=control))
            for position in range(p.owners)
        ]  # fmt: skip
        outcome = conduct(p, rules, owners, control=control, broadcast=broadcast, **others)
    return outcome, curators
