"""Records that take no part any more: what an individual filter does, seen from outside a trainer.

Where everything that a trainer declares costs more than its claim, a filter may keep the claim by letting each record
take part only while its own budget lasts (Feldman and Zrnic 2021). What a record spent is recomputed from its own
contributions to the releases, as that of any pair; here is what it would have spent if it had gone on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from refdp.audit.charge import Item, composed
from refdp.audit.freshness import release_kind
from refdp.privacy.curator import Transcript
from refdp.privacy.events import Relation

KEPT = 4
"""Records that left, those with most to spend."""


@dataclass
class Leaving:
    """left: records that took no part in the last releases of a kind; returned: those that took part again later.

    going_on: for some of the first, the changes of a run in which they had stayed, and their cost at order 2.
    """

    left: int = 0
    returned: int = 0
    going_on: list[tuple[float, list[Item]]] = field(default_factory=list)

    def add(self, present: Transcript, absent: Transcript) -> None:
        """Two replays of one run, with the audited record and without it."""
        items, stayed, left, kinds = list[Item](), False, False, dict[str, list[tuple[Item, bool]]]()
        for entry, other in zip(present.entries, absent.entries, strict=True):
            if entry.value is None or other.value is None or entry.request.mechanism is None:
                continue
            item = Item(entry.request.mechanism, entry.value, other.value, entry.scopes)
            kinds.setdefault(release_kind(entry.request.name), []).append(
                (item, not np.array_equal(entry.value, other.value))
            )
        for releases in kinds.values():
            took = [moved for _, moved in releases]
            first, last = (took.index(True), len(took) - took[::-1].index(True)) if any(took) else (0, len(took))
            stayed = stayed or not all(took[first:last])
            left = left or last < len(took)
            items += [item for item, moved in releases if moved]
            same = [
                item for item, _ in releases[last:] if np.shape(item.value) == np.shape(releases[last - 1][0].value)
            ]
            before = releases[last - 1][0]
            items += [Item(before.mechanism, before.value, before.other, item.scopes) for item in same]
        self.returned += stayed
        if left:
            self.left += 1
            score = sum(float(item.mechanism.divergence(item.value, item.other, 2.0)) for item in items)
            self.going_on = sorted([*self.going_on, (score, items)], key=lambda one: -one[0])[:KEPT]

    def refused(self, relation: Relation, epsilon: float, delta: float) -> int:
        """How many of those looked at would have exceeded the claim if they had gone on; 0 if any record returned."""
        return 0 if self.returned else sum(_exceeds(items, relation, epsilon, delta) for _, items in self.going_on)


def _exceeds(items: Sequence[Item], relation: Relation, epsilon: float, delta: float) -> bool:
    if delta > 0:
        return composed(items, relation, epsilon, delta).lower > delta
    return math.fsum(float(np.sum(item.mechanism.worst_loss(item.value, item.other))) for item in items) > epsilon
