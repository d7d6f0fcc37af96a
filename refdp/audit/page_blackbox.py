"""The page of a black-box audit: the bound, the measured trade-off curve, and what structural checks found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.audit.blackbox import Bound
from refdp.audit.blackbox_rows import by_last_bits, short
from refdp.audit.events_statistics import LOWEST_BITS, digits_of
from refdp.audit.page import Figure, Page, Shown, curve_figure, drawn, loss_figure
from refdp.audit.page_sources import function_line
from refdp.audit.tradeoff import Curve, curve_from
from refdp.audit.verdicts import Row, summary

Floats = NDArray[np.float64]

METHOD = (
    "Black box: an event was chosen on earlier runs and tested on later ones, by Clopper and Pearson's exact bounds "
    "and by bets on pairs of runs, at the stated confidence over all looks and events together. The curve comes from "
    "the same runs: its statistic from the first half, its counts from the second; the band errs with chance 0.01 at "
    "most, after whichever look the audit stopped."
)
BINS = 41
BAND_ERROR = 0.01
"""Chance that the band around the curve misses the curve somewhere, whenever the audit stops."""


def blackbox_page(
    name: str,
    function: Any,
    bound: Bound,
    structural: Sequence[Mapping[str, Any]],
    runs: tuple[Floats, Floats],
    reproduce: str,
    rows: Sequence[Row],
    *,
    stops: int = 1,
    low_bits: bool = True,
) -> Page:
    """The page of `refdp audit --callable`. rows: its coverage table.

    stops: how many looks could have been the last one; each gets its share of the band's error. low_bits: whether the
    audit looked at them, for the curve does the same.

    runs: both sides, shape (runs, columns).
    """
    claimed = _claimed(bound)

    def figures() -> list[Figure]:
        curve = curve_from(*runs, 1 - BAND_ERROR / stops, low_bits=low_bits)
        losses, shares = estimated_losses(curve)
        caption = "Log ratio of the counts of the curve's statistic in bins, weighted by the first side: an estimate."
        return [curve_figure(curve, claimed, bound.delta), loss_figure(losses, shares, claimed, caption)]

    found, undrawn = drawn(figures)
    source = function_line(function)
    return Page(
        title=f"Black-box audit of {name}",
        word=summary(rows),
        verdict=verdict(name, bound, structural),
        facts=[
            ("epsilon", f"{claimed:g}", f"at least {bound.lower:.6g}, confidence {bound.confidence:.9g}"),
            ("delta", f"{bound.delta:g}", ""),
            ("runs a side", "", f"{bound.samples:,}"),
            ("event", "", bound.words),
            ("counts", "", f"{bound.counts[0]:,} : {bound.counts[1]:,} of {bound.tested:,} ({bound.test})"),
        ],
        findings=[*_lower_bound(bound, source), *(_structural(one, source) for one in structural)],
        figures=found,
        method=METHOD,
        limits=[
            "A bound below the claim proves nothing: other pairs, events or more runs could show more.",
            f"The confidence assumes that {bound.assumption}.",
        ],
        reproduce=reproduce,
        undrawn=undrawn,
        coverage=rows,
    )


def verdict(name: str, bound: Bound, structural: Sequence[Mapping[str, Any]]) -> str:
    """One line."""
    claim = f"({_claimed(bound):g}, {bound.delta:g})"
    if bound.refuted:
        return f"{name} is not {claim} private: epsilon is at least {bound.lower:.4g}."
    broken = violations(structural)
    if broken:
        return f"{name} is not {claim} private: {broken[0]['kind']} ({broken[0]['meaning']})."
    if bound.needed:
        return f"Nothing is known of {claim} privacy of {name}: {short(bound)}."
    return f"No violation of {claim} privacy of {name} found in {bound.samples:,} runs a side."


def _claimed(bound: Bound) -> float:
    """Epsilon; without a claim it is infinite."""
    return float("inf") if bound.claimed is None else bound.claimed


def violations(structural: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Structural findings that refute the claim; the others are places to look at."""
    return [finding for finding in structural if finding["violation"]]


def about_bits(bound: Bound) -> list[str]:
    """What a refutation by last bits alone does not say."""
    if not by_last_bits(bound):
        return []
    if digits_of(bound.event) != LOWEST_BITS:
        return [
            "the event is about how finely a number was rounded, which data decide: round to one public grid; with "
            "--no-low-bits digits are not looked at"
        ]
    return [
        "the event is about the last bits of floating-point noise, which give the true value away (Mironov 2012); with "
        "--no-low-bits the mechanism is audited as if its noise were exact"
    ]


def estimated_losses(curve: Curve) -> tuple[Floats, Floats]:
    """Log ratios of bin counts with half a run added to each, and each bin's share on the first side.

    Shape (bins,) each.
    """
    first, second = (np.clip(np.nan_to_num(side, posinf=1e300, neginf=-1e300), -1e300, 1e300) for side in curve.scores)
    edges = np.unique(np.quantile(np.concatenate([first, second]), np.arange(1, BINS) / BINS))
    a, b = (np.bincount(np.searchsorted(edges, side, "right"), minlength=len(edges) + 1) for side in (first, second))
    return np.log((a + 0.5) / (b + 0.5)), a / len(first)


def _lower_bound(bound: Bound, source: str) -> list[Shown]:
    if not bound.refuted:
        return []
    evidence = f"{bound.counts[0]} of {bound.tested} runs on the {bound.likelier} side, {bound.counts[1]} on the other"
    evidence = "; ".join([evidence, *about_bits(bound)])
    return [Shown(f"epsilon >= {bound.lower:.4g}", bound.event, source, evidence)]


def _structural(finding: Mapping[str, Any], source: str) -> Shown:
    return Shown(str(finding["kind"]), str(finding["where"]), source, f"{finding['meaning']}; {evidence_of(finding)}")


def evidence_of(finding: Mapping[str, Any]) -> str:
    """The figures of a structural finding in one line."""
    return ", ".join(f"{key} {value}" for key, value in finding["evidence"].items())[:300]
