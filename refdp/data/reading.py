"""The account reading: what a training program releases, from its own text run on no records at all.

    plan = plan_of(train, params, schema)                 # as declared
    plan = plan_of(train, params, schema, proved=True)    # with the ledger's sensitivities

Nothing can be left out or charged differently than in training, since it is the same text; control flow depends on
parameters and released values only, and what is released does not depend on which values those are (the recorded events
of every trained run are held against the plan by the tests).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from refdp.data.nothing import Nothing
from refdp.data.population import Population
from refdp.data.records import Schema
from refdp.privacy import events
from refdp.privacy.curator import Curator
from refdp.privacy.events import Event, Plan
from refdp.privacy.sources import AccountSource

Train = Callable[[Any, Schema, Population, Curator], Any]
"""train(params, schema, population, curator)."""


def plan_of(train: Train, params: Any, schema: Schema, *, proved: bool = False) -> Plan:
    """Everything that `train` will release. proved: with the ledger's sensitivities instead of the declared ones."""
    asked = _Asked(train, params, schema)
    event = recorded(asked) if asked.text is not None else recorded.__wrapped__(asked)
    return Plan(params.relation, events.folded(events.proved(event, params.relation)) if proved else event)


class _Asked:
    """What a run is made of. text: all of it, by which it is known; None where a part is no plain value of refdp's."""

    __slots__ = ("params", "schema", "text", "train")

    def __init__(self, train: Train, params: Any, schema: Schema) -> None:
        self.train, self.params, self.schema = train, params, schema
        self.text = _exact((train, params, schema))

    def __eq__(self, other: object) -> bool:
        return type(other) is _Asked and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@lru_cache(maxsize=64)  # what is kept the next certificate computes anew
def recorded(asked: _Asked) -> Event:
    """The events of one run on nothing, repetitions folded."""
    curator = Curator(AccountSource(), asked.params.relation)
    with np.errstate(all="ignore"):
        asked.train(asked.params, asked.schema, Nothing(), curator)
    return events.folded(curator.event())


PLAIN = (bool, int, float, str, type(None), np.float64)


def _exact(value: Any) -> str | None:
    """Kinds and values of all that something is made of, which nothing in it has a say in; None where that is not told.

    Classes, functions and members of enumerations by where they are in memory: whoever keeps the text keeps them too.
    """
    kind = type(value)
    if kind in PLAIN:
        return f"{kind.__name__} {value!r}"
    if kind in (tuple, list):
        parts = [_exact(part) for part in value]
        return None if None in parts else f"{kind.__name__} ({', '.join(map(str, parts))})"
    if not str((value if kind is FunctionType else kind).__module__).startswith("refdp."):
        return None
    if kind is FunctionType or issubclass(kind, Enum):
        return f"{id(value)}"
    if not is_dataclass(kind) or getattr(value, "__dict__", {}).keys() - {one.name for one in fields(kind)}:
        return None
    inner = [_exact(getattr(value, one.name)) for one in fields(kind)]
    return None if None in inner else f"{id(kind)} ({', '.join(map(str, inner))})"
