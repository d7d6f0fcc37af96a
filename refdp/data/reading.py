"""The account reading: what a training program releases, from its own text run on no records at all.

    plan = plan_of(train, params, schema)                 # as declared
    plan = plan_of(train, params, schema, proved=True)    # with the ledger's sensitivities

Nothing can be left out or charged differently than in training, since it is the same text; control flow depends on
parameters and released values only, and what is released does not depend on which values those are (the recorded events
of every trained run are held against the plan by the tests).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
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
    event = recorded(train, params, schema)
    return Plan(params.relation, events.folded(events.proved(event, params.relation)) if proved else event)


@lru_cache(maxsize=64)
def recorded(train: Train, params: Any, schema: Schema) -> Event:
    """The events of one run on nothing, repetitions folded."""
    curator = Curator(AccountSource(), params.relation)
    with np.errstate(all="ignore"):
        train(params, schema, Nothing(), curator)
    return events.folded(curator.event())
