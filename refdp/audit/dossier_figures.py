"""What the lines of a certificate say of its own figures: each release against its charge, all against the whole.

Nothing here proves a figure: noise that costs more than the document says is found, and what could not be held against
anything is named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from refdp.accounting import gaussian

NORMS: Mapping[str, tuple[str, ...]] = {
    "Laplace": ("1",),
    "DiscreteLaplace": ("1",),
    "Gaussian": ("2", "whitened"),
    "DiscreteGaussian": ("2", "whitened"),
    "Exponential": ("range",),
}
"""The mechanisms that are known, and the norms of the sensitivities that their costs are about."""
CHEAPER = ("subsampl", "partition", "filter", "individual")
"""Words of claims by which even one release may cost less than its line says: by the coins of a sample, by secret
blocks, whose shares no line has and of which a record may be in none, or by an account of its own."""
APART = "parallel"
"""The word of claims by which releases on different records cost less than their sum, and no less than the dearest."""
ROUNDED = 1e-6
"""Relative room of figures that were rounded for print."""
DISCRETE, LARGEST = 1e-3, 1e3
"""Relative room of mu: discrete Gaussian noise is a little cheaper than continuous; and the largest that is asked."""


@dataclass(frozen=True)
class Held:
    """wrong: sentences about releases that contradict their own line. unheld: names of those held against nothing.

    total: a sentence where all releases together cost more than is established, or where they may be on different
    records and one alone does; empty where they do not, or where claims on samples, secret blocks or filters let even
    one cost less.
    """

    wrong: tuple[str, ...]
    unheld: tuple[str, ...]
    total: str


@dataclass(frozen=True)
class _Line:
    """A release as its line has it. cost: pure epsilon, or mu of Gaussian noise; None where its sensitivity is none."""

    name: str
    kind: str
    count: int
    cost: float | None
    charge: float | None
    wrong: str


def held(releases: Sequence[Mapping[str, Any]], claims: Collection[str], epsilon: float, delta: float) -> Held:
    """Of a certificate's lines; claims: of everything that it rests on; epsilon, delta: established.

    Errors: ValueError, KeyError, TypeError or OverflowError for lines that no certificate has.
    """
    lines = [_read(one) for one in releases]
    unheld = tuple(one.name for one in lines if not one.kind or one.cost is None or one.charge is None)
    return Held(tuple(one.wrong for one in lines if one.wrong), unheld, _excess(lines, claims, epsilon, delta))


def _read(release: Mapping[str, Any]) -> _Line:
    name, told = str(release["name"]), str(release["mechanism"])
    found = re.fullmatch(r"(\w+)\((.*)\)", told)
    kind = found[1] if found is not None and found[1] in NORMS else ""
    charge = None if release.get("charge") is None else float(release["charge"])
    count = int(release.get("count", 1))
    if found is None or not kind or (charge is None and release.get("sensitivity") is None):
        return _Line(name, kind, count, None, charge, "")
    bound, norm = float(release["sensitivity"]), release.get("norm")
    cost, at = _cost(kind, dict(re.findall(r"(\w+)=(\([^)]*\)|[^,]+)", found[2])), bound, str(norm))
    said = f"{name}: sensitivity {bound:g} at {at}"
    if norm is not None and str(norm) not in NORMS[kind]:
        return _Line(name, kind, count, cost, charge, f"{said} is in norm {norm}, of which {kind} says nothing")
    if not cost >= 0 or count < 1:
        return _Line(name, kind, count, cost, charge, f"{said}, {count} times, is no release")
    if charge is not None and not kind.endswith("Gaussian") and not abs(cost - charge) <= ROUNDED * cost:
        return _Line(name, kind, count, cost, charge, f"{said} is charged {charge:g}")
    return _Line(name, kind, count, cost, charge, "")


def _cost(kind: str, figures: Mapping[str, str], bound: float, norm: str) -> tuple[float, str]:
    """Pure epsilon or mu of one release, nan for what is none, and the noise in words."""
    if kind == "Exponential":
        coefficient = float(figures["coefficient"])
        return (bound * coefficient if bound >= 0 and coefficient >= 0 else math.nan), f"coefficient {coefficient:g}"
    word = "sd" if kind.endswith("Gaussian") else "scale"
    noise = [float(one) for one in figures[word].strip("()").split(",") if one.strip()]
    if not noise or not all(one > 0 for one in noise) or not bound >= 0:
        return math.nan, f"{word} {figures[word]}"
    return bound if norm == "whitened" else bound / max(noise), f"{word} {', '.join(f'{one:g}' for one in noise)}"


def _excess(lines: Sequence[_Line], claims: Collection[str], epsilon: float, delta: float) -> str:
    if any(word in name for name in claims for word in CHEAPER):
        return ""
    if not any(APART in name for name in claims):
        return _total(lines, epsilon, delta)
    alone = ((one.name, _total([replace(one, count=1)], epsilon, delta)) for one in lines)
    return next((f"{name} by itself: {told}" for name, told in alone if told), "")


def _total(lines: Sequence[_Line], epsilon: float, delta: float) -> str:
    """Releases on the same records, one after the other: pure costs add up, and the squares of Gaussian ones do.

    With a delta the Gaussian releases alone are summed, which is less than all cost.
    """
    known = [one for one in lines if one.cost is not None and math.isfinite(one.cost)]
    mu = math.sqrt(math.fsum(one.count * one.cost**2 for one in known if one.cost and one.kind.endswith("Gaussian")))
    if delta == 0:
        pure = math.fsum(one.count * one.cost for one in known if one.cost and not one.kind.endswith("Gaussian"))
        if mu > 0 and math.isfinite(epsilon):
            return "Gaussian noise has no finite epsilon at delta 0"
        return f"the releases add up to epsilon {pure:g}" if pure > epsilon * (1 + ROUNDED) else ""
    least = min(mu, LARGEST) * (1 - DISCRETE)
    if least == 0 or not math.isfinite(epsilon):
        return ""
    found = gaussian.delta(least, epsilon)
    told = f"the Gaussian releases alone have delta {found:.3g} at epsilon {epsilon:g}"
    return told if found > delta * (1 + ROUNDED) else ""
