"""What the noise of a leaf leaves to be seen, from public figures alone: plan, parameters, a stated number of rows.

A change of a released value that is smaller than its noise cannot be seen in it. `hidden` is how many records' largest
contributions one deviation of noise amounts to; an average leaf holds rows / 2^depth of the records that its tree is
trained on, and cannot contribute more than all of them at their bounds. No record is read, so the warning is free.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from refdp.data.records import Schema
from refdp.errors import UtilityWarning
from refdp.faces.defaults import ROWS
from refdp.faces.registry import Paper
from refdp.faces.warned import warn
from refdp.privacy.events import Event, Parallel, Partition, Release, Subsample, children

LEAVES = "leaves"
"""How every paper's release of leaves ends."""


def warn_of_noise(paper: Paper, params: Any, schema: Schema, rows: int | None) -> None:
    """Warns: UtilityWarning if the noise of a leaf exceeds the most that a leaf of average size can show."""
    said = excess(paper, params, schema, ROWS if rows is None else rows)
    if said:
        told = "" if rows is not None else f" (rows={ROWS} is assumed; state rows=)"
        warn(said + told, UtilityWarning)


def excess(paper: Paper, params: Any, schema: Schema, rows: int) -> str:
    """The sentence of the warning, or nothing. rows: a public number of records."""
    found = strengths(paper, params, schema, rows)
    if found is None or found[0] <= found[1]:
        return ""
    noise, signal = found
    return (
        f"the noise of a leaf amounts to {noise:.3g} records' largest contributions, and a leaf of average size can "
        f"show at most {signal:.3g}: predictions will be mostly noise. More epsilon or rows, fewer levels or trees "
        "help; so do the settings that refdp recommends (settings='default', `refdp recommend`)"
    )


def strengths(paper: Paper, params: Any, schema: Schema, rows: int) -> tuple[float, float] | None:
    """Noise and largest signal of a leaf, both in largest contributions of one record; None without noisy leaves."""
    for release, share in shares(paper.plan(params, schema).event, 1.0):
        if release.name.rsplit("/", 1)[-1] == LEAVES:
            depth = params.levels(schema) if hasattr(params, "levels") else params.depth
            size = rows * share / 2**depth
            return hidden(release), largest(paper, params, release, size)
    return None


def shares(event: Event, share: float) -> Iterator[tuple[Release, float]]:
    """Every release with the expected share of the records that it is about, repetitions not unrolled."""
    if isinstance(event, Release):
        yield event, share
    inside = children(event)
    parts: Sequence[float] = [1.0] * len(inside)
    if isinstance(event, Partition):
        parts = event.weights
    elif isinstance(event, Subsample):
        parts = [event.rate]
    elif isinstance(event, Parallel):
        parts = [1 / len(inside)] * len(inside)
    for part, child in zip(parts, inside):
        yield from shares(child, share * float(part))


def hidden(release: Release) -> float:
    """One deviation of the noise over the declared sensitivity; exact for Gaussian noise.

    By the Renyi cost of order 2, which every mechanism knows: it is the square of sensitivity over deviation for a
    Gaussian, and at most 2 ln 2 times that of a Laplace of large scale.
    """
    cost = release.mechanism.renyi_cost(release.sensitivity, 2.0)
    return 1 / math.sqrt(cost) if cost > 0 else math.inf


def largest(paper: Paper, params: Any, release: Release, size: float) -> float:
    """The most that so many records can show in a leaf, in sensitivities.

    A sum moves by one sensitivity with each of them. DPBoost releases leaf values: |V| <= g* n / (n + lambda), and at
    most the clip (Li et al. 2020, Eq. 4).
    """
    if paper.name != "dpboost":
        return size
    value = params.gradient_bound * size / (size + params.regularisation)
    return float(min(size, value / release.sensitivity.bound))
