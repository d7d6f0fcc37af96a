"""What a training text releases with given settings, and whether a reading asked about all of it.

The plan is read from the text on no records, every loop to its end; so it says how many releases there are, and the
reading on unknown records says that each kind of them is within what it declares. A text that tells the two apart
shows other releases in one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from refdp.data.nothing import Nothing
from refdp.noise.mechanisms import Mechanism
from refdp.privacy.curator import Curator, Request
from refdp.privacy.events import Event, Partition, Release, Sensitivity, Subsample, children, expand, folded
from refdp.privacy.sources import AccountSource
from refdp.prove.open import closed

_NUMBERS = re.compile(r"\d+|#")


class Key(NamedTuple):
    """A kind of release: its name without numbers, what it pays, and the secret selections around it."""

    name: str
    mechanism: Mechanism
    sensitivity: Sensitivity
    scopes: tuple[Any, ...]


def planned(train_on: Callable[..., Any], params: Any, schema: Any) -> Event:
    """All releases, from the text on no records, with nothing that an earlier reading remembers."""
    curator = Curator(AccountSource(), params.relation)
    with np.errstate(all="ignore"):
        train_on(params, schema, Nothing(), curator)
    return folded(curator.event())


def key_of(request: Request) -> Key:
    """The kind of a release that is asked for, at the example of parameters that are open."""
    assert request.mechanism is not None and request.sensitivity is not None
    scopes = ((one.kind, one.weights, one.method if one.kind == "subsample" else "") for one in request.scopes)
    mechanism, sensitivity = closed((request.mechanism, request.sensitivity))
    return Key(_NUMBERS.sub("#", request.path[-1]), mechanism, sensitivity, tuple(scopes))


def keys(event: Event, scopes: tuple[Any, ...] = ()) -> Iterator[Key]:
    """The kinds of all releases of an event."""
    match event:
        case Release(name, mechanism, sensitivity):
            yield Key(_NUMBERS.sub("#", name), mechanism, sensitivity, scopes)
            return
        case Partition(weights):
            scopes = (*scopes, ("partition", weights, ""))
        case Subsample(rate, _, method):
            scopes = (*scopes, ("subsample", (rate,), method))
    for child in children(event):
        yield from keys(child, scopes)


def differences(event: Event, asked: Mapping[Key, bool], met: Event | None) -> Iterator[tuple[str, str]]:
    """Releases that the plan has and the reading has not, or the other way round, by name. met: what the reading met,
    if it went through every loop to its end."""
    found = set(keys(event))
    for key in sorted(found - asked.keys(), key=str):
        yield key.name, "the plan has such a release, the reading on unknown records has none"
    for key in sorted(asked.keys() - found, key=str):
        yield key.name, "the reading on unknown records meets such a release, the plan has none"
    if met is not None and found == asked.keys() and expand(met) != expand(event):
        yield "", "the plan and the reading on unknown records meet the same releases, but not as many"
