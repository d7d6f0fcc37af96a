"""Do the slots of secret coins stand for the records in the order that they were given in?

A replay gives every other record the coin that it had. It cannot where a trainer rearranges its rows first: then coins
go to other records, and what changes need not be the audited record's doing. Shown by a run on the records in another
order, each with its own coin: true values that sums over slots can have stay the same if a slot is a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from refdp.audit.isolated import Outcome
from refdp.data.records import Records
from refdp.privacy.curator import Transcript
from refdp.privacy.replay import ReplaySource

CLOSE = 1e-9
"""Relative: the order of additions may show in the last bits."""
REASON = "rows are rearranged before secret coins are asked for: other records get other coins, so no replay is aligned"


def are_rows(recorded: Transcript, records: Records, run: Callable[[Records, Any], Outcome]) -> bool:
    """Whether the recorded run's coins belong to the records in their order.

    run: the trainer on records, with a source. False also where the run in another order asks for something else.
    """
    same = run(records, ReplaySource(recorded))
    for order in (np.arange(records.size)[::-1], np.roll(np.arange(records.size), 1)):
        moved = []
        for entry in recorded.entries:
            secret = entry.request.kind == "assign"
            if secret and len(entry.output) != records.size:
                return False
            moved.append(replace(entry, output=entry.output[order]) if secret else entry)
        other = run(records.take(order), ReplaySource(Transcript(recorded.relation, moved)))
        if same.failed or other.failed or other.parted is not None or not _equal(same.transcript, other.transcript):
            return False
    return True


def _equal(one: Transcript, other: Transcript) -> bool:
    return len(one.entries) == len(other.entries) and all(
        (a.value is None) == (b.value is None)
        and (a.value is None or b.value is None or _close(np.asarray(a.value), np.asarray(b.value)))
        for a, b in zip(one.entries, other.entries)
    )


def _close(a: Any, b: Any) -> bool:
    return bool(a.shape == b.shape and np.allclose(a, b, rtol=CLOSE, atol=CLOSE, equal_nan=True))
