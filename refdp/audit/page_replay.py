"""The page of a replay audit: every finding with its witness, and exact losses of runs on the pair that shows one."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import refdp
from refdp.audit.exact_curve import exact_change, outcomes
from refdp.audit.page import Figure, Page, Shown, Witness, curve_figure, drawn, loss_figure, ratio_figure
from refdp.audit.page_chances import bars, chances
from refdp.audit.page_exact import exact_figure
from refdp.audit.page_sources import release_line
from refdp.audit.page_words import claim_in_words, finding_in_words
from refdp.audit.replay import Pair, Violation, audit_pair, loss_in_words
from refdp.audit.report import Progress, Report, neighbours, readings, trainer
from refdp.audit.tradeoff import Curve, curve_of
from refdp.audit.trainer import TrainerReport
from refdp.audit.verdicts import Verdict
from refdp.audit.witnesses import pair_of
from refdp.data.records import Categorical, Classes, Records, Schema
from refdp.errors import InvalidParameter
from refdp.faces.registry import Paper
from refdp.faces.training import source_for
from refdp.io.domains import schema_from
from refdp.privacy.events import Relation

Floats = NDArray[np.float64]

PAIRS = 6
"""Pairs among which the one for the figures is looked for."""
DRAWN_RECORDS = 200
"""Most records of a pair that figures are drawn of: each takes hundreds of runs."""
RUNS = 150
"""Runs on each side whose exact losses the figures show."""
METHOD = (
    "Replay: the outputs of each run were fed back on its neighbour, so that privacy losses are exact, not estimated "
    "(after Re:cord-play, Cebere et al. 2026). Pairs that are known to break claims were replayed first. The exact "
    "curve is computed from a release's law on both sides; figures of whole runs are from runs with fresh noise."
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
    page = page_of(
        paper.name, params.relation, report, lambda violation: line_of(paper, violation),
        lambda: _figures(paper, params, report, records, seed, progress), settings(params), reproduce,
    )  # fmt: skip
    if not report.without_loss:
        return page
    unstated = ("runs that cannot be replayed", "", f"{report.without_loss}: no loss stated")
    return replace(page, facts=[*page.facts, unstated])


def page_of(
    name: str, relation: Relation, report: Report | TrainerReport, source: Callable[[Violation], str],
    figures: Callable[[], Sequence[Figure]], settings: str, reproduce: str,
    method: str = METHOD, limits: Sequence[str] = LIMITS,
) -> Page:  # fmt: skip
    """The page of any audit by replay. source: where a violation's release stands. settings: public, in words."""
    claimed = report.claimed
    stated = report.max_loss if report.ok and not claimed.delta else None  # with a delta, more may be allowed
    lead = chances(report.violations, claimed.epsilon, stated)
    drawings, undrawn = drawn(figures)
    return Page(
        title=f"Audit of {name}, {relation.value} neighbours",
        word=report.verdict,
        verdict=verdict(name, report),
        facts=[
            ("epsilon", f"{claimed.epsilon:g}", f"greatest {loss_in_words(report.max_loss)}"),
            ("delta", f"{claimed.delta:g}", ""),
            ("pairs replayed", "", str(report.pairs)),
        ],
        findings=[shown(violation, source(violation)) for violation in report.violations],
        figures=drawings,
        method=method,
        limits=limits,
        reproduce=reproduce,
        undrawn=undrawn,
        coverage=report.coverage,
        chances=bars(lead) if lead else "",
        made=f"Settings: {settings}. {made()}",
    )


def compared(violations: Sequence[Violation]) -> list[Figure]:
    """Observed against declared, one figure if any violation states both."""
    both = [
        (f"{v.kind}, {v.release}", v.declared, v.observed)
        for v in violations
        if v.declared is not None and v.observed is not None
    ]
    return [ratio_figure(both)] if both else []


def settings(params: Any) -> str:
    """The parameters of the audited algorithm, public all of them."""
    return ", ".join(f"{one.name} {getattr(params, one.name)}" for one in fields(params))


def made() -> str:
    """Versions and date."""
    versions = f"refdp {refdp.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    return f"Made by {versions} on {datetime.now(UTC):%Y-%m-%d}."


def drawn_violation(violations: Sequence[Violation]) -> tuple[Violation, Pair] | None:
    """The violation whose pair the curves are of, the greatest finite loss first, and its pair.

    Not one about secret assignments: that a replay cannot follow them states no loss. None without a pair of at most
    DRAWN_RECORDS records.
    """
    found = [
        v for v in violations if v.kind != "assignment" and 0 <= len(v.witness.get("base_y", ())) <= DRAWN_RECORDS
        and "base_y" in v.witness
    ]  # fmt: skip
    finite = [v for v in found if v.loss is not None and np.isfinite(v.loss)]
    chosen = max(finite, key=lambda v: v.loss or 0.0, default=found[0] if found else None)
    return None if chosen is None else (chosen, pair_of(chosen.witness))


def _figures(
    paper: Paper, params: Any, report: Report, records: Records | None, seed: int, progress: Progress
) -> Sequence[Figure]:
    """Observed against declared; then the exact curve of the release, curve and losses of whole runs on that pair."""
    violation, claimed = drawn_violation(report.violations), report.claimed
    bars = compared(report.violations)
    if violation is not None:
        told, pair = violation
        params, release = replace(params, **told.witness.get("params", {})), told.release
        which = f'the pair of the finding "{told.kind} at {told.release}"'
    elif report.violations:
        return bars
    else:
        some = list(islice(neighbours(records, params.relation, seed), PAIRS))
        pair, which, release = worst_pair(paper, params, some, seed), "the pair of the greatest loss", ""
    change = exact_change(trainer(paper, params), pair, release)
    cells = None if change is None else outcomes(change)
    if change is not None and cells is not None:
        bars.append(exact_figure(change, cells, which))
    able = next((one for one in readings(paper, params) if _can_follow(paper, one, pair, seed)), None)
    if able is None:
        return bars
    first, second = losses_on(paper, able, pair, seed, progress)
    if np.isnan([first, second]).any():  # a curve without some of the runs would show another law
        return bars
    changed = [
        f"{one.name} {getattr(able, one.name)}" for one in fields(able)
        if getattr(able, one.name) != getattr(params, one.name)
    ]  # fmt: skip
    which += f", with {' and '.join(changed)} instead, since the printed reading cannot be replayed" * bool(changed)
    greatest = float(np.abs(np.concatenate([first, second])).max())
    note = f"Runs on {which}. Whole runs with ordinary noise lost {greatest:.4g} at most."
    if violation is not None and greatest <= claimed.epsilon:
        note += " That is below the claim: the finding is about one release and its worst output, not about these runs."
    curve = curve_figure(loss_curve(first, second, claimed.epsilon), claimed.epsilon, claimed.delta)
    caption = f"Exact privacy loss of {len(first)} whole runs on the first side, from replay, on {which}."
    return [
        *bars,
        replace(curve, title="Trade-off curve of whole runs", caption=f"{note} {curve.caption}"),
        loss_figure(first, None, claimed.epsilon, caption),
    ]


def _can_follow(paper: Paper, params: Any, pair: Pair, seed: int) -> bool:
    """Whether a run states a loss on this pair."""
    source = source_for(params, np.random.default_rng([seed, 13]))
    try:
        return audit_pair(trainer(paper, params), pair, source, np.inf).loss is not None
    except InvalidParameter:  # these settings allow no run on this pair
        return False


def witness_of(witness: Mapping[str, Any]) -> Witness | None:
    """The two data sets of a finding; None where a finding is about runs, not about records."""
    if "base_y" not in witness:
        return None
    schema = schema_from(witness["schema"])
    names = schema.names

    def values(x: Sequence[float], y: float) -> list[str]:
        return [_value(schema, i, value) for i, value in enumerate([*x, y])]

    rows = [("both", values(x, y), False) for x, y in zip(witness["base_x"], witness["base_y"], strict=True)]
    place = witness["position"]
    other = "second only" if "old_x" in witness else ""
    rows[place:place] = [("first only", values(witness["new_x"], witness["new_y"]), True)]
    if other:
        rows[place + 1 : place + 1] = [(other, values(witness["old_x"], witness["old_y"]), True)]
    differ = "one record replaced" if other else "one record added"
    settings = ", ".join(f"{name} {value}" for name, value in witness.get("params", {}).items())
    source = f"Witness of {witness['source']}" if "source" in witness else "Witness"
    heads, shown_rows = _shortened([*names, "label"], rows)
    return Witness(f"{source}: two data sets, {differ}. {settings and f'Settings: {settings}.'}", heads, shown_rows)


Rows = list[tuple[str, list[str], bool]]


def _shortened(names: Sequence[str], rows: Rows) -> tuple[list[str], Rows]:
    """Equal records that follow each other as one row that says how many, equal columns side by side as one."""
    columns = [tuple(values[place] for _, values, _ in rows) for place in range(len(names))]
    kept: list[tuple[str, int]] = []
    for _, group in groupby(range(len(names)), key=lambda place: (columns[place], place == len(names) - 1)):
        places = list(group)
        first, last = names[places[0]], names[places[-1]]
        kept.append((first if len(places) == 1 else f"{first} to {last}, {len(places)} columns", places[0]))
    short: Rows = []
    for (which, values, differs), alike in groupby(rows):
        count = len(list(alike))
        short.append((f"{which}, {count} times" if count > 1 else which, [values[p] for _, p in kept], differs))
    return [name for name, _ in kept], short


def _value(schema: Schema, column: int, value: float) -> str:
    """A value for people: a category or class by its name."""
    if np.isnan(value):
        return "missing"
    if column == len(schema.features):
        return str(schema.target.values[int(value)]) if isinstance(schema.target, Classes) else f"{value:.17g}"
    feature = schema.features[column]
    return str(feature.categories[int(value)]) if isinstance(feature, Categorical) else f"{value:.17g}"


def verdict(name: str, report: Report | TrainerReport) -> str:
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


def line_of(paper: Paper, violation: Violation) -> str:
    """Where the release of a violation stands in a paper's text."""
    return release_line(Path(str(refdp.__file__)).parent, paper.name, violation.release)


def shown(violation: Violation, source: str) -> Shown:
    """A violation in words, with its claim, the line of its release, and the data that show it."""
    evidence = violation.loss_in_words()
    if violation.declared is not None and violation.observed is not None:
        evidence = f"declared {violation.declared:.6g}, observed {violation.observed:.6g}, {evidence}"
    detail = str(violation.witness.get("detail", ""))
    return Shown(
        violation.kind, violation.release, source, f"{evidence}; {detail}" if detail else evidence,
        finding_in_words(violation.kind, violation.release), claim_in_words(violation.claim),
        witness_of(violation.witness),
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
