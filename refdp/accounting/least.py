"""What a plan costs at least, as far as that is known within milliseconds: figures below are of something else."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from refdp.accounting.accountant import account
from refdp.accounting.pure import pure_epsilon
from refdp.privacy.events import Event, Parallel, Plan, Release, Repeat, Sequential

_SEEN = 1e-12
"""Where a lower end for delta 0 is taken: epsilon does not fall with delta, and some methods are silent at 0."""


@lru_cache(maxsize=1024)
def least_epsilon(plan: Plan, delta: float) -> float:
    """A lower bound of the plan's epsilon at delta: its own, or that of its dearest release. 0 where none is known.

    Releases inside samples and partitions cost less there than alone, and are left to the accountant.
    """
    found = account(plan, delta=delta, quick=True).lower
    alone = [Plan(plan.relation, one) for one in set(_bare(plan.event))]
    if not alone:
        return found
    return max(found, account(max(alone, key=pure_epsilon), delta=max(delta, _SEEN), quick=True).lower)


def _bare(event: Event) -> Iterator[Release]:
    match event:
        case Release():
            yield event
        case Repeat(inner, count) if count > 0:
            yield from _bare(inner)
        case Sequential(events) | Parallel(events):
            for one in events:
                yield from _bare(one)
