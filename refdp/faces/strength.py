"""What the noise of leaves leaves to be seen, from public figures alone: plan, parameters, a number of rows.

One leaf of one tree may be mostly noise where the model is not: a record goes through a leaf of every tree, and noise
that is independent averages out, while what there is to be learnt adds up. So all trees of a score are taken together.
With h_t, how many records' largest contributions one deviation of the noise of tree t amounts to (`hidden`), and m_t,
the most that a leaf of average size, rows / 2^depth of the records of its tree, can show (`largest`), both in units of
what one record can change, noise wins where

    sqrt(sum of h_t^2) > SHOWN * sum of m_t,                                                                     (1)

which for T equal trees is h / sqrt(T) > SHOWN m. The records of a leaf do not all pull one way: SHOWN is the part of
the most that labels show which are hard to tell; `docs/defaults.md` says how it was found. No record is read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from refdp.data.records import Classes, Schema
from refdp.errors import UtilityWarning
from refdp.faces.defaults import ROWS, params_for
from refdp.faces.registry import OWN, PAPERS, Paper
from refdp.faces.warned import silence, warn
from refdp.privacy.events import Event, Parallel, Partition, Release, Repeat, Subsample, children

LEAVES = "leaves"
"""How every paper's release of leaves ends."""
SHOWN = 0.2
"""Part of the most that leaves can show which they are expected to show where labels are hard to tell."""
MANY = ROWS // 10
"""Where more records than this are needed, a number of rows that is not stated is warned about."""
TOGETHER = ("grove",)
"""Those that release the leaves of all scores at once; others release those of one score after the other's."""


@dataclass(frozen=True)
class Trees:
    """Equal trees of one score: how many, a release of their leaves, and the share of all records it is about."""

    count: float
    release: Release
    share: float


def warn_of_noise(paper: Paper, params: Any, schema: Schema, rows: int | None) -> None:
    """Warns: UtilityWarning if the noise of a leaf exceeds, averaged over trees, what leaves are expected to show.

    rows: None if it is not stated; then also if more than `MANY` records are needed for that.
    """
    found = trees(paper, params, schema)
    said = excess(paper, params, schema, ROWS if rows is None else rows, found)
    assumed = f"rows is not stated and {ROWS} is assumed: " if rows is None else ""
    if not said and rows is None:
        least = needed(paper, params, schema, found)
        if least > MANY:
            said = (
                f"with fewer than about {least:.2g} records the noise of leaves exceeds, at these settings, what they "
                "show of labels that are hard to tell. State rows=, a public round number"
            )
    if said:
        warn(assumed + said, UtilityWarning)


def excess(paper: Paper, params: Any, schema: Schema, rows: int, found: Sequence[Trees] | None = None) -> str:
    """The words of the warning, or nothing. rows: a public number of records. found: `trees`, if it is known."""
    found = trees(paper, params, schema) if found is None else found
    if not outweighed(paper, params, schema, rows, found):
        return ""
    noise, signal = strengths(paper, params, schema, rows, found) or (0.0, 0.0)
    many = round(sum(one.count for one in found))
    over = f", averaged over {many} trees," if many > 1 else ""
    most = f"a leaf of average size can show at most {signal:.3g}"
    if noise <= signal:
        most += f", of labels that are hard to tell {SHOWN:g} of that: unless they are easy"
    return (
        f"the noise of a leaf{over} amounts to {noise:.3g} records' largest contributions, and {most}"
        f"{':' if noise > signal else ','} predictions will be mostly noise. {advice(paper, params, schema, rows)}"
    )


def outweighed(
    paper: Paper, params: Any, schema: Schema, rows: int, found: Sequence[Trees] | None = None, part: float = SHOWN
) -> bool:
    """Whether (1) holds, with this part in the place of SHOWN: for 1, whatever the labels are."""
    known = strengths(paper, params, schema, rows, found)
    return known is not None and known[0] > part * known[1]


def advice(paper: Paper, params: Any, schema: Schema, rows: int) -> str:
    """What would help and is not done already."""
    helps = ["more epsilon", "more rows", *(["fewer levels"] if levels(params, schema) > 1 else [])]
    said = f"{', '.join(helps[:-1])} or {helps[-1]} would help".capitalize()
    if paper.name not in (*PAPERS, *OWN):
        return said
    from refdp.faces.recommend import recommend

    given: dict[str, Any] = {"epsilon": params.epsilon, "relation": params.relation}
    delta: dict[str, Any] = {"delta": params.delta} if getattr(params, "delta", 0.0) > 0 else {}
    with silence():  # rows were doubted where these params were made
        usual = replace(params_for(paper, given | delta, schema, rows=rows), noise=params.noise)
    if usual != params:
        said += "; settings='default' follows epsilon and rows"
    classes = len(schema.target.values) if isinstance(schema.target, Classes) else 2
    other = recommend(
        params.epsilon, delta.get("delta"), rows, max(len(schema.features), 1),
        "classification" if isinstance(schema.target, Classes) else "regression",
        classes=max(classes, 2), relation=params.relation,
    )  # fmt: skip
    if other.paper != paper.name and not other.expected["useless"]:
        said += f"; `refdp recommend` names {other.estimator}"
        said += "" if delta or "delta" not in other.settings else f", with delta={other.settings['delta']:g}"
    return said


def strengths(
    paper: Paper, params: Any, schema: Schema, rows: int, found: Sequence[Trees] | None = None
) -> tuple[float, float] | None:
    """Noise and largest signal of a leaf, the mean over all trees of a score, in largest contributions of one record.

    None without noisy leaves.
    """
    found = trees(paper, params, schema) if found is None else found
    if not found:
        return None
    noise = signal = unit = 0.0
    for one in found:
        change, size = one.release.sensitivity.bound, rows * one.share / 2 ** levels(params, schema)
        noise += one.count * (hidden(one.release) * change) ** 2
        signal += one.count * largest(paper, params, one.release, size) * change
        unit += one.count * change
    return math.sqrt(noise) / unit, signal / unit


def needed(paper: Paper, params: Any, schema: Schema, found: Sequence[Trees] | None = None) -> float:
    """From how many records on (1) does not hold, to a factor of 1.02; infinite if that is more than 10^12."""
    found = trees(paper, params, schema) if found is None else found
    low, high = 1.0, 1e12
    if not outweighed(paper, params, schema, 1, found):
        return low
    if outweighed(paper, params, schema, int(high), found):
        return math.inf
    while high / low > 1.02:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if outweighed(paper, params, schema, int(middle), found) else (low, middle)
    return high


def trees(paper: Paper, params: Any, schema: Schema) -> list[Trees]:
    """All trees of one score, equal ones together, from the plan."""
    many: Counter[tuple[Release, float]] = Counter()
    for release, share, times in shares(paper.plan(params, schema).event, 1.0):
        if release.name.rsplit("/", 1)[-1] == LEAVES:
            many[release, share] += times
    scores = 1 if paper.name in TOGETHER else schema.scores
    return [Trees(times / scores, release, share) for (release, share), times in many.items()]


def levels(params: Any, schema: Schema) -> int:
    """Levels of splits of a tree."""
    return int(params.levels(schema) if hasattr(params, "levels") else params.depth)


def shares(event: Event, share: float, times: int = 1) -> Iterator[tuple[Release, float, int]]:
    """Every release with the expected share of the records that it is about, and how often it is repeated."""
    if isinstance(event, Release):
        yield event, share, times
    inside = children(event)
    parts: Sequence[float] = [1.0] * len(inside)
    if isinstance(event, Partition):
        parts = event.weights
    elif isinstance(event, Subsample):
        parts = [event.rate]
    elif isinstance(event, Parallel):
        parts = [1 / len(inside)] * len(inside)
    elif isinstance(event, Repeat):
        times *= event.count
    for part, child in zip(parts, inside):
        yield from shares(child, share * float(part), times)


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
