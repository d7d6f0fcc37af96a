"""What replays of foreign code are evidence of: where code has dice of its own, and what losses outputs attain.

A replay gives opened noise functions their outputs again. What else a function draws goes on as it did, so that it is
taken for public. It need not be: the point that a quantile draws from the interval that it chose is secret with it, and
moves with the interval. Hence what differs between neighbours accuses only where it is the same in runs on one side
with the same outputs and other dice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from refdp.audit.charge import Item, Key, numbered
from refdp.audit.noise_law import LAWS
from refdp.audit.opened_door import Led, Recording
from refdp.audit.opened_laws import NoiseCall, Unknown
from refdp.audit.reading import Leaf
from refdp.audit.replay import Violation
from refdp.privacy.curator import Array

KINDS = "types and layouts"
"""Where a result says of what kinds its parts are, in order."""


@dataclass(frozen=True)
class Run:
    """A recorded or replayed run with the flat state of its result. left: what of it was not looked into, by place."""

    recording: Recording
    result: dict[str, Leaf]
    left: dict[str, str] = field(default_factory=dict)


Again = Callable[[], Sequence[Run | BaseException]]
"""Runs on the records of the recording, with its outputs and other dice."""


def without_dice(found: list[Violation], recorded: Run, again: Again) -> tuple[list[Violation], set[str]]:
    """The violations that do not hang on dice, and words for the others.

    Places of results are compared one by one. Requests and true values of releases may follow public dice, a sample of
    features, say: they are left out only where a function of unknown law was called, whose choice dice may belong to.
    """
    unknown = any(isinstance(call.law, Unknown) for call in recorded.recording.calls)
    if not any(one.kind == "result" or (unknown and one.kind not in OWN) for one in found):
        return found, set()
    kept, told, runs = list[Violation](), set[str](), again()
    for one in found:
        if one.kind == "result":
            place = "" if one.release == RETURNED else one.release
            restless = any(not isinstance(run, Run) or not _same(recorded, run, place) for run in runs)
        else:
            restless = unknown and one.kind not in OWN and any(_moved(recorded, run, one.release) for run in runs)
        if restless:
            told.add(f"{one.kind} at {one.release} also differs between runs on the same records with the same outputs")
        else:
            kept.append(one)
    return kept, told


OWN = ("noise", "sampler")
"""Kinds of violations that are of one run alone."""
RETURNED = "returned value"


def _same(recorded: Run, run: Run, place: str) -> bool:
    a, b = recorded.result.get(place), run.result.get(place)
    return a == b or (a != a and b != b)


def _moved(recorded: Run, run: Run | BaseException, release: str) -> bool:
    """Whether the true value of a release, of any for the whole run, is another with other dice."""
    if not isinstance(run, Run):
        return True
    entries = zip(recorded.recording.transcript.entries, run.recording.transcript.entries)
    return any(
        not np.array_equal(a.value, b.value, equal_nan=True)
        for a, b in entries
        if a.value is not None and b.value is not None and release in (a.request.name, "whole run")
    )


def items_of(recorded: Recording, replayed: Recording) -> dict[Key, Item]:
    """Releases of laws that the accountant knows, whose finite true values differ, by name and number of the call."""
    found: dict[Key, Item] = {}
    entries = recorded.transcript.entries
    keys = numbered(entry.request.name for entry in entries)
    for key, entry, other, call in zip(keys, entries, replayed.transcript.entries, recorded.calls):
        if not isinstance(call.law, LAWS) or entry.value is None or other.value is None:
            continue
        finite = np.isfinite(entry.value).all() and np.isfinite(other.value).all()
        if finite and not np.array_equal(entry.value, other.value):
            found[key] = Item(call.law, entry.value, other.value)
    return found


def attained(recorded: Recording, replayed: Recording) -> float:
    """|log p - log q| of the recorded outputs, over releases of known laws; 0.0 where it is not finite."""
    total = 0.0
    for entry, other, call in zip(recorded.transcript.entries, replayed.transcript.entries, recorded.calls):
        if isinstance(call.law, Unknown) or entry.value is None or other.value is None:
            continue
        if not np.array_equal(entry.value, other.value):
            output = entry.output if entry.index is None else entry.index
            total += float(np.sum(call.law.loss(entry.value, other.value, output)))
    return abs(total) if math.isfinite(total) else 0.0


def lossy(recorded: Recording, replayed: Recording, reverse: bool) -> Led:
    """The outputs of greatest loss between the two true values of each call; None where none can be chosen."""
    calls = zip(recorded.transcript.entries, replayed.transcript.entries, recorded.calls, recorded.returned)
    return tuple(
        (one.request.name, _worst(call, one.value, other.value, reverse), returned)
        for one, other, call, returned in calls
    )


def _worst(call: NoiseCall, value: Array | None, other: Array | None, reverse: bool) -> Array | None:
    choose = getattr(call.law, "worst_output", None)
    if choose is None or value is None or other is None or np.array_equal(value, other):
        return None
    if not (np.isfinite(value).all() and np.isfinite(other).all()):
        return None
    return np.asarray(choose(other, value) if reverse else choose(value, other))


def same_values(one: Recording, other: Recording) -> bool:
    """Whether two runs had the same true values throughout."""
    pairs = zip(one.transcript.entries, other.transcript.entries)
    return len(one.calls) == len(other.calls) and all(
        a.value is not None and b.value is not None and np.array_equal(a.value, b.value) for a, b in pairs
    )
