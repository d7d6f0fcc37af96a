"""Training with the records of participants, a few of them each, where a paper's guarantee is about participants."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from refdp.audit.replay import Trainer
from refdp.data.memory import Memory
from refdp.data.records import Records
from refdp.data.shards import Shards


def trainer(module: ModuleType, params: Any) -> Trainer:
    """The paper's training, with `records_each` records a participant, in order, where that is more than 1."""
    if getattr(params, "records_each", 1) == 1:
        return lambda records, curator: module.train(params, records, curator)
    return lambda records, curator: module.train_on(params, records.schema, shared_out(records, params), curator)


def shared_out(records: Records, params: Any) -> Shards:
    """One host a participant; at least one, which may have no records."""
    each = params.records_each
    rows = np.arange(records.size)
    return Shards([Memory(records.take(rows[i : i + each])) for i in range(0, max(records.size, 1), each)])
