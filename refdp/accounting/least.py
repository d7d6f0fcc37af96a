"""What a plan costs at least, as far as that is known within milliseconds: figures below are of something else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from refdp.accounting.accountant import account
from refdp.accounting.pure import pure_epsilon
from refdp.privacy.events import Event, Parallel, Partition, Plan, Release, Repeat, Sequential, Subsample, whole

_SEEN = 1e-12
"""Where a lower end for delta 0 is taken: epsilon does not fall with delta, and some methods are silent at 0."""

_MOST = 4  # releases that are looked at, the dearest first


def least_epsilon(plan: Plan, delta: float) -> float:
    """A lower bound of the plan's epsilon at delta, its own or that of one of its releases; 0 where none is known."""
    return _least(plan, delta, whole(plan.event))


@lru_cache(maxsize=1024)
def _least(plan: Plan, delta: float, _: tuple[object, ...]) -> float:
    """Equal plans may differ in whether blocks are independent, which the last argument tells apart."""
    alone = sorted({Plan(plan.relation, one) for one in _singles(plan.event)}, key=pure_epsilon, reverse=True)
    found = [account(one, delta=max(delta, _SEEN), quick=True).lower for one in alone[:_MOST]]
    return max(account(plan, delta=delta, quick=True).lower, *found, 0.0)


def _singles(event: Event) -> Iterator[Event]:
    """Every release by itself, in the sample that it is made on; a block of a partition is a sample of its weight."""
    match event:
        case Release():
            yield event
        case Repeat(inner, count) if count > 0:
            yield from _singles(inner)
        case Sequential(events) | Parallel(events):
            for one in events:
                yield from _singles(one)
        case Subsample(_, inner):
            yield from (replace(event, event=one) for one in _singles(inner))
        case Partition(weights, events, True):
            for weight, inner in zip(weights, events, strict=True):
                yield from (Subsample(weight, one, "poisson") for one in _singles(inner))
