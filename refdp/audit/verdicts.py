"""What an audit may say, everywhere in the same four words, and what it says about each thing that it looked at.

VIOLATION: with evidence that anyone can re-run. HOLDS: a proof for the inputs that are named. NOT FOUND: looked at,
with the power stated. NOT EXAMINED: with the reason. A summary is never better than its weakest part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """The four words, from the weakest to the strongest."""

    VIOLATION = "VIOLATION"
    NOT_EXAMINED = "NOT EXAMINED"
    NOT_FOUND = "NOT FOUND"
    HOLDS = "HOLDS"


SUBJECTS = (
    "releases",
    "scopes",
    "secret randomness",
    "noise law and scale",
    "sampler",
    "control flow",
    "published object",
    "side channels",
    "state between calls",
    "record counts",
    "both directions",
    "composition",
    "floating point",
    "time",
)
"""What every coverage table has a row for."""


@dataclass(frozen=True)
class Row:
    """One line of a coverage table.

    reason: what was done, or why nothing was. power: the smallest violation that would have shown, "" if none is
    stated. decides: whether the claim depends on it; what the claim leaves out is told all the same. left: of a
    violation, why something that decides was not examined beside it, "" for nothing: what is not known once the
    violation is accepted.
    """

    what: str
    verdict: Verdict
    reason: str
    power: str = ""
    decides: bool = True
    left: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain data; `left` where there is something."""
        own: dict[str, Any] = {"left": self.left} if self.left else {}
        return {
            "what": self.what,
            "verdict": str(self.verdict),
            "reason": self.reason,
            "power": self.power,
            "decides": self.decides,
        } | own


def completed(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows in the order of `SUBJECTS`, with NOT EXAMINED for every subject that nobody wrote a row for.

    Several rows about one subject become one, of the weakest verdict among them, whose reasons are all told.
    """
    given: dict[str, list[Row]] = {}
    for row in rows:
        given.setdefault(row.what, []).append(row)
    names = [*SUBJECTS, *(name for name in given if name not in SUBJECTS)]
    return tuple(_joined(name, given.get(name, [])) for name in names)


def summary(rows: Sequence[Row]) -> Verdict:
    """The weakest verdict of what decides; NOT EXAMINED if nothing does."""
    order = list(Verdict)
    deciding = [row.verdict for row in rows if row.decides or row.verdict is Verdict.VIOLATION]
    return min(deciding, key=order.index, default=Verdict.NOT_EXAMINED)


def is_ok(verdict: Verdict) -> bool:
    """Whether a script may go on."""
    return verdict in (Verdict.HOLDS, Verdict.NOT_FOUND)


def exit_status(verdict: Verdict) -> int:
    """0 ok, 1 violation, 3 inconclusive."""
    return 1 if verdict is Verdict.VIOLATION else 3 if verdict is Verdict.NOT_EXAMINED else 0


def _joined(name: str, rows: Sequence[Row]) -> Row:
    if not rows:
        return Row(name, Verdict.NOT_EXAMINED, "nothing looked at it")
    weakest = min((row.verdict for row in rows), key=list(Verdict).index)
    decisive = [row for row in rows if row.decides] or list(rows)
    if weakest is not Verdict.VIOLATION:
        weakest = min((row.verdict for row in decisive), key=list(Verdict).index)
    reasons, powers = (dict.fromkeys(texts) for texts in ([r.reason for r in rows], [r.power for r in rows if r.power]))
    left = left_beside([row for row in rows if row.decides]) if weakest is Verdict.VIOLATION else ""
    return Row(name, weakest, "; ".join(reasons), "; ".join(powers), any(row.decides for row in rows), left)


def left_beside(rows: Sequence[Row]) -> str:
    """Why something of these was not examined, where others of them are violations."""
    found = [row.reason if row.verdict is Verdict.NOT_EXAMINED else row.left for row in rows]
    return "; ".join(dict.fromkeys(filter(None, found)))
