"""What an audit found, as two bars of chances: how much likelier an output may be, and how much likelier it is."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import NamedTuple

from refdp.audit.page_words import release_in_words
from refdp.audit.replay import Violation

WIDTH = 100.0
"""Of the longer bar, in percent."""
STATED = ("loss", "cost")
"""Kinds of violation whose two figures are privacy losses in nats: of the whole run, or of one release."""


class Chances(NamedTuple):
    """Two losses in nats to compare: what is allowed, what was seen; and of what."""

    allowed: float
    seen: float
    what: str
    by: str


def chances(violations: Sequence[Violation], claimed: float, max_loss: float | None) -> Chances | None:
    """The comparison to lead with: of the whole run before a single release, the greatest excess first.

    claimed: epsilon. max_loss: greatest loss of a whole run, in nats, None where none is stated; it leads where there
    is no violation. None where no two losses stand against each other: the findings are of another kind.
    """
    stated = [v for v in violations if v.kind in STATED and v.declared is not None and v.observed is not None]
    if stated:
        worst = max(stated, key=lambda v: (v.kind == "loss", (v.observed or 0.0) - (v.declared or 0.0)))
        what, by = ("everything that is released", "the claim")
        if worst.kind == "cost":
            what, by = release_in_words(worst.release), "what this release is charged"
        return Chances(float(worst.declared or 0.0), float(worst.observed or 0.0), what, by)
    if violations or max_loss is None or not math.isfinite(claimed):
        return None
    return Chances(claimed, max_loss, "everything that is released", "the claim")


def sentence(found: Chances) -> str:
    """For somebody who has never heard of epsilon."""
    allowed = f"{found.by} allows {times(found.allowed)}"
    if math.isinf(found.seen):
        return (
            f"One data set can give what another, which differs in one record, never gives ({found.what}); {allowed}."
        )
    beside = "as likely with one data set as with another that differs in one record"
    if found.seen > found.allowed:
        return f"Some outcome is {times(found.seen)} {beside} ({found.what}); {allowed}."
    return f"In the runs that were replayed, no outcome could be more than {times(found.seen)} {beside}; {allowed}."


def times(loss: float) -> str:
    """e^loss in words."""
    return f"{math.exp(loss):,.3g} times" if loss < 12 else f"e^{loss:.4g} times"


def bars(found: Chances) -> str:
    """The sentence and both bars, as a figure that needs no script and no drawing library."""
    longest = max(found.allowed, found.seen if math.isfinite(found.seen) else found.allowed)
    rows = []
    for name, loss in (("allowed", found.allowed), ("found", found.seen)):
        share = 1.0 if math.isinf(loss) else math.exp(loss - longest)
        told = "without bound" if math.isinf(loss) else times(loss)
        rows.append(
            f'<div class="bar {name}"><span>{name}</span><i style="width:{max(WIDTH * share, 0.5):.4g}%"></i>'
            f"<b>{html.escape(told)}</b></div>"
        )
    over = ' class="over"' if found.seen > found.allowed else ""
    return f'<figure id="chances"{over}><p>{html.escape(sentence(found))}</p>{"".join(rows)}</figure>'
