"""The page of a replay audit: exact losses of runs on the pair that showed the most."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import refdp
from refdp.audit.page import Page, Shown, curve_figure, loss_figure
from refdp.audit.page_sources import release_line
from refdp.audit.replay import Pair, Violation, audit_pair
from refdp.audit.report import Progress, Report, neighbours, trainer
from refdp.audit.tradeoff import Curve, curve_of
from refdp.records import Records
from refdp.registry import Paper
from refdp.training import source_for

Floats = NDArray[np.float64]

PAIRS = 6
"""Pairs among which the one for the figures is looked for."""
RUNS = 150
"""Runs on each side whose exact losses the figures show."""
METHOD = (
    "Replay: the outputs of each run were fed back on its neighbour, so that privacy losses are exact, not estimated "
    "(after Re:cord-play, Cebere et al. 2026). The figures are from runs with fresh noise on one pair."
)
LIMITS = (
    "An audit covers the pairs and runs that it replayed. That it finds nothing is no proof; see the claims' verdicts.",
    "The privacy of floating-point arithmetic is not audited here.",
)


def replay_page(
    paper: Paper,
    params: Any,
    report: Report,
    records: Records | None,
    seed: int,
    reproduce: str,
    progress: Progress = lambda done, total: None,
) -> Page:
    """The page of an audit of a paper's algorithm. progress: of the runs for the figures."""
    claimed = report.claimed
    losses = losses_on(paper, params, worst_pair(paper, params, records, seed), seed, progress)
    curve = loss_curve(*losses, claimed.epsilon)
    caption = f"Exact privacy loss of {len(losses[0])} whole runs on the first side, from replay."
    return Page(
        title=f"Audit of {paper.name}, {params.relation.value} neighbours",
        ok=report.ok,
        verdict=verdict(paper.name, report),
        facts=[
            ("epsilon", f"{claimed.epsilon:g}", f"greatest loss {report.max_loss:.6g}"),
            ("delta", f"{claimed.delta:g}", ""),
            ("pairs replayed", "", str(report.pairs)),
        ],
        findings=[shown(paper, violation) for violation in report.violations],
        figures=[
            curve_figure(curve, claimed.epsilon, claimed.delta),
            loss_figure(losses[0], None, claimed.epsilon, caption),
        ],
        method=METHOD,
        limits=LIMITS,
        reproduce=reproduce,
    )  # fmt: skip


def verdict(name: str, report: Report) -> str:
    """One line."""
    claim = f"({report.claimed.epsilon:g}, {report.claimed.delta:g})"
    if report.ok:
        return f"No violation of {claim} privacy of {name} found in {report.pairs} pairs."
    count, worst = len(report.violations), report.violations[0]
    counted = f"{count} violation{'s' * (count > 1)}"
    return f"{name} is not {claim} private as run: {counted}, first {worst.kind} at {worst.release}."


def shown(paper: Paper, violation: Violation) -> Shown:
    """A violation with the line of its release."""
    evidence = f"declared {violation.declared:.6g}, observed {violation.observed:.6g}, loss {violation.loss:.6g}"
    claim = f"; {violation.claim}" if violation.claim else ""
    source = release_line(Path(str(refdp.__file__)).parent, paper.name, violation.release)
    return Shown(violation.kind, violation.release, source, evidence + claim)


def worst_pair(paper: Paper, params: Any, records: Records | None, seed: int) -> Pair:
    """Of a few pairs, the one with the greatest loss over all outputs of one run."""
    pairs = list(islice(neighbours(records, params.relation, seed), PAIRS))
    train = trainer(paper, params)

    def worst(pair: Pair) -> float:
        return audit_pair(train, pair, source_for(params, np.random.default_rng([seed, 7])), np.inf).worst

    return max(pairs, key=worst)


def losses_on(
    paper: Paper, params: Any, pair: Pair, seed: int, progress: Progress = lambda done, total: None
) -> tuple[Floats, Floats]:
    """Exact losses of runs with fresh noise, on the first side and on the second: log p(first) - log p(second)."""
    train = trainer(paper, params)

    def one(side: int, run: int) -> float:
        source = source_for(params, np.random.default_rng([seed, 11, side, run]))
        loss = audit_pair(train, pair, source, np.inf, on_first=side == 0).loss
        progress(side * RUNS + run + 1, 2 * RUNS)
        seen_here_only = side == 1 and loss == np.inf  # outputs of the second side that the first cannot have
        return -loss if seen_here_only else loss

    first, second = (np.array([one(side, run) for run in range(RUNS)]) for side in (0, 1))
    return first, second


def loss_curve(first: Floats, second: Floats, epsilon: float) -> Curve:
    """The trade-off curve of the test by the loss itself, which no other test beats."""
    reach = 2 * epsilon if np.isfinite(epsilon) else 10.0
    return curve_of(first, second, np.linspace(-reach, reach, 41), 0.99, "the exact privacy loss")
