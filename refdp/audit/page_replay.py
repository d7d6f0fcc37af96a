"""The page of a replay audit: every finding with its witness, and exact losses of runs on the pair that shows one."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import refdp
from refdp.audit.page import Figure, Page, Shown, Witness, curve_figure, drawn, loss_figure, ratio_figure
from refdp.audit.page_chances import bars, chances
from refdp.audit.page_sources import release_line
from refdp.audit.page_words import claim_in_words, finding_in_words
from refdp.audit.replay import Pair, Violation, audit_pair, loss_in_words
from refdp.audit.report import WORST_PAIRS, Progress, Report, neighbours, trainer
from refdp.audit.tradeoff import Curve, curve_of
from refdp.audit.verdicts import Verdict
from refdp.data.records import Categorical, Classes, Records
from refdp.faces.registry import Paper
from refdp.faces.training import source_for

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
    pairs = replayed_pairs(params, report.pairs, records, seed)
    stated = report.max_loss if report.ok and not claimed.delta else None  # with a delta, more may be allowed
    lead = chances(report.violations, claimed.epsilon, stated)
    figures, undrawn = drawn(lambda: _figures(paper, params, report, pairs, seed, progress))
    return Page(
        title=f"Audit of {paper.name}, {params.relation.value} neighbours",
        word=report.verdict,
        verdict=verdict(paper.name, report),
        facts=[
            ("epsilon", f"{claimed.epsilon:g}", f"greatest {loss_in_words(report.max_loss)}"),
            ("delta", f"{claimed.delta:g}", ""),
            ("pairs replayed", "", str(report.pairs)),
        ],
        findings=[shown(paper, violation, pairs) for violation in report.violations],
        figures=figures,
        method=METHOD,
        limits=LIMITS,
        reproduce=reproduce,
        undrawn=undrawn,
        coverage=report.coverage,
        chances=bars(lead) if lead else "",
        made=f"Settings: {settings(params)}. {made()}",
    )


def settings(params: Any) -> str:
    """The parameters of the audited algorithm, public all of them."""
    return ", ".join(f"{one.name} {getattr(params, one.name)}" for one in fields(params))


def made() -> str:
    """Versions and date."""
    versions = f"refdp {refdp.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    return f"Made by {versions} on {datetime.now(UTC):%Y-%m-%d}."


Pairs = Mapping[str, Pair]


def replayed_pairs(params: Any, count: int, records: Records | None, seed: int) -> Pairs:
    """The pairs that the audit replays, as `audit_paper` makes them, by their witness."""

    def some(number: int, most: int, **size: int) -> Iterator[Pair]:
        return islice(neighbours(records, params.relation, seed + number, **size), most)

    streams = (some(0, max(count, PAIRS)), some(1, WORST_PAIRS, size=4), some(2, 1), some(3, 1))
    return {_key(pair.witness()): pair for pair in chain.from_iterable(streams)}


def _key(witness: Mapping[str, Any]) -> str:
    return repr([witness.get(name) for name in ("base_x", "base_y", "position", "new_x", "new_y", "old_x", "old_y")])


def drawn_violation(violations: Sequence[Violation], pairs: Pairs) -> Violation | None:
    """The violation whose pair the curves are of: the greatest finite loss, else the first one that has a pair.

    Not one about secret assignments: that a replay cannot follow them states no loss.
    """
    found = [v for v in violations if _key(v.witness) in pairs and v.kind != "assignment"]
    finite = [(v.loss, -place, v) for place, v in enumerate(found) if v.loss is not None and np.isfinite(v.loss)]
    return max(finite)[2] if finite else found[0] if found else None


def _figures(
    paper: Paper, params: Any, report: Report, pairs: Pairs, seed: int, progress: Progress
) -> Sequence[Figure]:
    """Observed against declared; then curve and losses of the pair that shows a violation, or of the worst pair."""
    violation, claimed = drawn_violation(report.violations, pairs), report.claimed
    compared = [
        (f"{v.kind}, {v.release}", v.declared, v.observed)
        for v in report.violations
        if v.declared is not None and v.observed is not None
    ]
    bars = [ratio_figure(compared)] if compared else []
    if violation is not None:
        pair = pairs[_key(violation.witness)]
        params = replace(params, **violation.witness.get("params", {}))
        which = f'the pair of the finding "{violation.kind} at {violation.release}"'
    elif report.violations:
        return bars
    else:
        pair, which = worst_pair(paper, params, list(pairs.values())[:PAIRS], seed), "the pair of the greatest loss"
    first, second = losses_on(paper, params, pair, seed, progress)
    if np.isnan([first, second]).any():  # a curve without some of the runs would show another law
        return bars
    greatest = float(np.abs(np.concatenate([first, second])).max())
    note = f"Runs on {which}. Whole runs with ordinary noise lost {greatest:.4g} at most."
    if violation is not None and greatest <= claimed.epsilon:
        note += " That is below the claim: the finding is about one release and its worst output, not about these runs."
    curve = curve_figure(loss_curve(first, second, claimed.epsilon), claimed.epsilon, claimed.delta)
    caption = f"Exact privacy loss of {len(first)} whole runs on the first side, from replay, on {which}."
    return [
        *bars,
        replace(curve, caption=f"{note} {curve.caption}"),
        loss_figure(first, None, claimed.epsilon, caption),
    ]


def witness_of(witness: Mapping[str, Any], pairs: Pairs) -> Witness | None:
    """The two data sets of a finding; None where a finding is about runs, not about records."""
    if "base_y" not in witness:
        return None
    pair = pairs.get(_key(witness))
    names = pair.base.schema.names if pair else [f"feature {i}" for i in range(len(witness["new_x"]))]

    def values(x: Sequence[float], y: float) -> list[str]:
        return [_value(pair, i, value) for i, value in enumerate([*x, y])]

    rows = [("both", values(x, y), False) for x, y in zip(witness["base_x"], witness["base_y"], strict=True)]
    place = witness["position"]
    other = "second only" if "old_x" in witness else ""
    rows[place:place] = [("first only", values(witness["new_x"], witness["new_y"]), True)]
    if other:
        rows[place + 1 : place + 1] = [(other, values(witness["old_x"], witness["old_y"]), True)]
    differ = "one record replaced" if other else "one record added"
    settings = ", ".join(f"{name} {value}" for name, value in witness.get("params", {}).items())
    return Witness(
        f"Witness: two data sets, {differ}. {settings and f'Settings: {settings}.'}", [*names, "label"], rows
    )


def _value(pair: Pair | None, column: int, value: float) -> str:
    """A value for people: the category or class where the schema is known."""
    if np.isnan(value):
        return "missing"
    if pair is not None:
        schema = pair.base.schema
        if column == len(schema.features):
            return str(schema.target.values[int(value)]) if isinstance(schema.target, Classes) else f"{value:.17g}"
        feature = schema.features[column]
        if isinstance(feature, Categorical):
            return str(feature.categories[int(value)])
    return f"{value:.17g}"


def verdict(name: str, report: Report) -> str:
    """One line."""
    claim = f"({report.claimed.epsilon:g}, {report.claimed.delta:g})"
    if report.ok:
        return f"{report.verdict}. No violation of {claim} privacy of {name} in {report.pairs} pairs."
    if not report.violations:
        left = next(row for row in report.coverage if row.decides and row.verdict is Verdict.NOT_EXAMINED)
        return f"{report.verdict}: whether {name} is {claim} private is open, since {left.what}: {left.reason}."
    count, worst = len(report.violations), report.violations[0]
    counted = f"{count} violation{'s' * (count > 1)}"
    return f"{report.verdict}: {name} is not {claim} private as run: {counted}, first {worst.kind} at {worst.release}."


def shown(paper: Paper, violation: Violation, pairs: Pairs) -> Shown:
    """A violation in words, with its claim, the line of its release, and the data that show it."""
    evidence = loss_in_words(violation.loss)
    if violation.declared is not None and violation.observed is not None:
        evidence = f"declared {violation.declared:.6g}, observed {violation.observed:.6g}, {evidence}"
    detail = str(violation.witness.get("detail", ""))
    source = release_line(Path(str(refdp.__file__)).parent, paper.name, violation.release)
    return Shown(
        violation.kind, violation.release, source, f"{evidence}; {detail}" if detail else evidence,
        finding_in_words(violation.kind, violation.release), claim_in_words(violation.claim),
        witness_of(violation.witness, pairs),
    )  # fmt: skip


def worst_pair(paper: Paper, params: Any, pairs: Sequence[Pair], seed: int) -> Pair:
    """Of these pairs, the one with the greatest loss over all outputs of one run."""
    train = trainer(paper, params)

    def worst(pair: Pair) -> float:
        return audit_pair(train, pair, source_for(params, np.random.default_rng([seed, 7])), np.inf).worst or 0.0

    return max(pairs, key=worst)


def losses_on(
    paper: Paper, params: Any, pair: Pair, seed: int, progress: Progress = lambda done, total: None
) -> tuple[Floats, Floats]:
    """Exact losses of runs with fresh noise, on the first side and on the second: log p(first) - log p(second).

    NaN where none is stated.

    Shape (runs,) each.
    """
    train = trainer(paper, params)

    def one(side: int, run: int) -> float:
        source = source_for(params, np.random.default_rng([seed, 11, side, run]))
        loss = audit_pair(train, pair, source, np.inf, on_first=side == 0).loss
        progress(side * RUNS + run + 1, 2 * RUNS)
        if loss is None:
            return np.nan
        seen_here_only = side == 1 and loss == np.inf  # outputs of the second side that the first cannot have
        return -loss if seen_here_only else loss

    first, second = (np.array([one(side, run) for run in range(RUNS)]) for side in (0, 1))
    return first, second


def loss_curve(first: Floats, second: Floats, epsilon: float) -> Curve:
    """The trade-off curve of the test by the loss itself, which no other test beats. Shape (runs,) each."""
    reach = 2 * epsilon if np.isfinite(epsilon) else 10.0
    return curve_of(first, second, np.linspace(-reach, reach, 41), 0.99, "the exact privacy loss")
