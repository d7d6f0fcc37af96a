"""The replay audit of a paper: neighbouring pairs, the worst transcripts of small runs, fresh noise, the budget.

Each way in which a run breaks its promise is reported once, with the worst pair that shows it; the coverage table says
what else was looked at, and what was not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from refdp.accounting import account
from refdp.audit import spending
from refdp.audit.adaptive_runs import PROBES
from refdp.audit.crowds import crowds
from refdp.audit.freshness import release_kind
from refdp.audit.inputs import sized
from refdp.audit.neighbours import from_records, pairs
from refdp.audit.reached import own_code
from refdp.audit.replay import SLACK, Finding, Pair, Trainer, Violation, finite_or_name
from refdp.audit.search import Notes, Search
from refdp.audit.steered import Steered, steered
from refdp.audit.trainer_rows import rows, searched
from refdp.audit.verdicts import Row, Verdict, completed, is_ok, summary
from refdp.audit.witnesses import Known, known_rows, of_ledger, replays, without_delta
from refdp.audit.worst import worst_case
from refdp.data.records import Categorical, Classes, Interval, Numeric, Records, Schema
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.faces.registry import Paper
from refdp.faces.training import source_for
from refdp.ledger.certificate import Guarantee
from refdp.privacy.curator import Curator, Source
from refdp.privacy.events import Event, Plan, Relation, expand, releases

Progress = Callable[[int, int], None]

FEATURES = (Numeric("length", 0.0, 1.0), Numeric("balance", -500.0, 500.0), Categorical("colour", ("r", "g", "b")))
SCHEMAS = tuple(
    Schema(FEATURES, target) for target in (Interval(-1.0, 1.0), Classes(("no", "yes")), Classes(("a", "b", "c")))
)
"""Public schemas of the data sets that are audited when none is given."""

SMALL: Mapping[str, Any] = {"trees": 6, "trees_per_ensemble": 3, "depth": 3, "bins": 8}
"""Settings of an audit unless told otherwise: releases of every kind, several ensembles, milliseconds a run."""
SMALL_OWNERS = 3
"""Owners in an audit unless told otherwise, where a paper has them."""
SMALL_MINIMUM = 2
"""Least records of a child in an audit unless told otherwise, where a paper has such a minimum."""

TINY: tuple[Mapping[str, int], ...] = ({"trees": 1, "depth": 1, "owners": 1}, {"trees": 2, "depth": 2, "owners": 2})
"""At most this many trees and levels where the worst transcript is searched release by release."""

REPLAYABLE: Mapping[str, Mapping[str, Any]] = {
    "dpboost": {"candidates": "uniform", "blocks": "independent"},
    "dpxgboost": {"sampling": "matching"},
    "inprivate": {"candidates": "uniform", "halves": "independent"},
}
"""Readings as printed make a replay impossible at once; with these instead, whatever else is wrong shows too."""

WORST_PAIRS = 8
"""How many pairs the worst transcript is searched on, for each of TINY and in both directions."""
SIZES = (0, 15, 50, 100, 1000)
"""Records without the audited one, of one further pair each; of real records as many as there are."""
SPENDING_PAIRS = 9
"""Pairs whose record's spending under a filter is recomputed."""
DRAWS = 400
"""Further draws of each kind of noise, for each pair: the exact samplers take their time."""
MODULES = ("refdp.data.memory", "refdp.accounting.individual", "refdp.noise.samplers")
"""Looked at for state besides the paper's own module."""


@dataclass(frozen=True)
class Report:
    """What the audit of one algorithm found.

    pairs: neighbouring pairs replayed. max_loss: greatest privacy loss seen, over all outputs along each replayed run
    (of the recorded outputs if the claim has a delta); None if no run has one. without_loss: how many runs have none.
    coverage: what was looked at, each with its verdict; see `refdp.audit.verdicts`.
    """

    pairs: int
    claimed: Guarantee
    max_loss: float | None
    violations: tuple[Violation, ...]
    without_loss: int = 0
    coverage: tuple[Row, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The weakest verdict of what the claim depends on."""
        return summary(self.coverage)

    @property
    def ok(self) -> bool:
        """Whether there is no violation, and nothing that the claim depends on was left out."""
        return is_ok(self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """As plain data; an infinite figure is the string "inf", one that is not stated None."""
        return {
            "ok": self.ok,
            "verdict": str(self.verdict),
            "pairs": self.pairs,
            "claimed_epsilon": finite_or_name(self.claimed.epsilon),
            "claimed_delta": self.claimed.delta,
            "max_loss": finite_or_name(self.max_loss),
            "without_loss": self.without_loss,
            "violations": [violation.to_dict() for violation in self.violations],
            "coverage": [row.to_dict() for row in self.coverage],
        }


class Aside(Finding):
    """Of a step that is about no single run: it states no loss, and lacks none."""


@dataclass
class _Seen:
    """The findings so far. known: of pairs known beforehand, by source, whether one showed a violation.

    established: whether the certificate's own argument covers what was recorded. source: of recorded runs.
    """

    notes: Notes = field(default_factory=Notes)
    findings: list[Finding] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    known: dict[str, bool] = field(default_factory=dict)
    established: bool = False
    source: Callable[[Any, np.random.Generator], Source] = source_for
    steered: Steered = field(default_factory=Steered)


def audit_paper(
    paper: Paper,
    params: Any,
    count: int,
    seed: int,
    *,
    records: Records | None = None,
    known: Sequence[Known] = (),
    arranged: Callable[[Pair], Pair] = lambda pair: pair,
    source: Callable[[Any, np.random.Generator], Source] = source_for,
    progress: Progress = lambda done, total: None,
) -> Report:
    """Audit one paper with given parameters.

    count: neighbouring pairs to replay. records: real records to take subsets of; else random and directed data sets
    over SCHEMAS. known: pairs to replay before all others, and before the ledger's own witnesses. arranged: the rows
    of a pair as a way of training has them (`refdp.audit.ways`). source: of recorded runs'
    randomness. progress: told how much is done, of how much.
    Errors: InvalidParameter for a baseline without privacy.
    """
    if getattr(params, "scheme", "") == "np":
        raise InvalidParameter("scheme = 'np': this baseline promises no privacy, so there is nothing to audit")
    schema = SCHEMAS[0] if records is None else records.schema
    claimed = paper.certificate(params, schema).claimed
    runs = readings(paper, params)
    known = [*known, *of_ledger(paper.name, params.relation)]
    total = len(runs) * (4 * len(known) + count + len(SIZES) + 2 * len(TINY) * WORST_PAIRS + 3)
    seen = _Seen(source=source)
    findings = (
        one
        for number, chosen in enumerate(runs)
        for one in chain(
            _of_known(paper, chosen, claimed, known, seed, seen.known, arranged),
            _findings(paper, chosen, claimed, count, seed, records, seen, arranged, first=number == 0),
        )
    )
    found = list(_watched(findings, total, progress))
    pure = claimed.delta == 0
    losses = [_loss(finding, pure) for finding in found if not isinstance(finding, Aside)]
    stated = [loss for loss in losses if loss is not None]
    violations = merged(violation for finding in found for violation in finding.violations)
    told = rows(seen.notes, violations, claimed.epsilon, claimed.delta, params.relation, covered=seen.established)
    table = completed([*told, *searched(seen.steered), *seen.rows, *known_rows(seen.known)])
    return Report(count, claimed, max(stated, default=None), violations, len(losses) - len(stated), table)


def _loss(finding: Finding, pure: bool) -> float | None:
    """The loss over all outputs; of the outputs alone where a delta lets single outputs lose without bound."""
    if finding.loss is None or finding.worst is None:
        return None
    return max(abs(finding.loss), finding.worst) if pure else abs(finding.loss)


def readings(paper: Paper, params: Any) -> list[Any]:
    """The parameters themselves, and their replayable variant if that is another one."""
    changes = {name: value for name, value in REPLAYABLE.get(paper.name, {}).items() if hasattr(params, name)}
    variant = replace(params, **changes)
    printed = {name: getattr(params, name) for name in changes}
    return [params] if printed == changes or not _unsound(paper, printed) else [params, variant]


def _unsound(paper: Paper, printed: Mapping[str, Any]) -> bool:
    """Whether one of these readings is the printed one. Other public candidates, say, need no variant."""
    return any(getattr(paper.printed, "AS_PUBLISHED", {}).get(name) == value for name, value in printed.items())


def _findings(
    paper: Paper, params: Any, claimed: Guarantee, count: int, seed: int, records: Records | None, seen: _Seen,
    arranged: Callable[[Pair], Pair], *, first: bool,
) -> Iterator[Finding]:  # fmt: skip
    """One reading's findings; what else was seen goes into `seen`. first: the reading that was asked for."""
    watched = (str(getattr(paper.module, "__name__", "")), *MODULES)
    search = Search(
        trainer(paper, params), claimed.epsilon, claimed.delta, params.relation, seed, seen.notes,
        lambda generator: seen.source(params, generator), watched, DRAWS * count, late=True,
    )  # fmt: skip
    known = len(seen.notes.violations)
    further = _sized(records, params.relation, seed)
    for number, pair in enumerate(chain(islice(neighbours(records, params.relation, seed), count), further)):
        finding = search.look(arranged(pair), number)
        told, known = seen.notes.violations[known:], len(seen.notes.violations)
        yield _told(params, Finding(finding.loss, finding.worst, tuple(map(of_model, told))))
    epsilon = claimed.epsilon if claimed.delta == 0 else math.inf  # with a delta, single losses may exceed epsilon
    for most in TINY:
        tiny = _capped(params, most)
        for pair in islice(neighbours(records, params.relation, seed + 1, size=4), WORST_PAIRS):
            for reverse in (False, True):
                finding = worst_case(trainer(paper, tiny), arranged(pair), epsilon, reverse=reverse)
                yield _told(tiny, without_delta(finding, claimed))
    if first:
        followed = own_code(search.train, *_files())
        seeds = crowds(SCHEMAS[0] if records is None else records.schema, params.relation)
        seen.steered = steered(search, seeds, followed, count, arranged=arranged)
        search.noise()
    yield _told(params, Aside(None, None, tuple(map(of_model, seen.notes.violations[known:]))))
    yield _told(params, _budget(paper, params, records, seed, seen))
    if first and spending.has_filter(params):
        few = map(arranged, islice(neighbours(records, params.relation, seed + 4), min(count, SPENDING_PAIRS)))
        ledger = spending.examined(paper, params, few, seed)
        seen.rows.append(ledger.row())
        yield Aside(None, None, tuple(ledger.found))
    else:
        yield Aside(None, None, ())


def _of_known(
    paper: Paper, params: Any, claimed: Guarantee, known: Sequence[Known], seed: int, seen: dict[str, bool],
    arranged: Callable[[Pair], Pair],
) -> Iterator[Finding]:  # fmt: skip
    """Pairs known beforehand. seen: told of each source whether it showed a violation."""
    for number, one in enumerate(known):
        chosen = one.applied(params)
        try:
            sources = [source_for(chosen, _seed(seed, -5 - 2 * number - side)) for side in (0, 1)]
            findings = list(replays(trainer(paper, chosen), one, arranged, claimed, sources))
        except (InvalidParameter, InvalidRecords):  # these settings allow no run on this pair
            findings = []
        seen[one.source] = seen.get(one.source, False) or any(finding.violations for finding in findings)
        yield from (_told(chosen, finding) for finding in findings)


def _files() -> list[str]:
    """The texts of the papers, whose lines steer the search over contents."""
    return [str(file) for room in ("papers", "own") for file in (Path(__file__).parents[1] / room).rglob("*.py")]


def _sized(records: Records | None, relation: Relation, seed: int) -> Iterator[Pair]:
    """One pair of each of SIZES."""
    if records is None:
        return sized(SCHEMAS[0], relation, seed, SIZES)
    return (next(from_records(records, relation, seed + size, max(size, 1))) for size in SIZES)


def of_model(violation: Violation) -> Violation:
    """A difference of the returned object, named as what it is here."""
    if violation.kind != "published object":
        return violation
    return replace(violation, kind="model", release="published model",
                   witness={"detail": violation.release, **violation.witness})  # fmt: skip


def _told(params: Any, finding: Finding) -> Finding:
    """The finding, each witness with the parameters of its run: those of the variants and of tiny runs differ."""
    told = (replace(v, witness={**v.witness, "params": asdict(params)}) for v in finding.violations)
    return replace(finding, violations=tuple(told))


def trainer(paper: Paper, params: Any) -> Trainer:
    """Training with these parameters, as the audits call it."""
    return lambda records, curator: paper.train(params, records, curator)


def neighbours(records: Records | None, relation: Relation, seed: int, size: int = 12) -> Iterator[Pair]:
    """Pairs of at most `size` common records: of real ones, or over the schemas in turn.

    Errors: InvalidParameter for fewer than 3 real records.
    """
    if records is not None:
        if records.size < 3:
            raise InvalidParameter(f"{records.size} records given, an audit of neighbours needs at least 3")
        yield from from_records(records, relation, seed, size)
    streams = [pairs(schema, relation, seed + turn, size) for turn, schema in enumerate(SCHEMAS)]
    while True:
        yield from (next(stream) for stream in streams)


def _events(paper: Paper, params: Any, pair: Pair, seed: int) -> Iterator[Event]:
    """What runs with other noise recorded: one may keep to a plan that another leaves."""
    for place in range(1 + PROBES):
        curator = Curator(source_for(params, _seed(seed, -3 - 1000 * place)), params.relation)
        paper.train(params, pair.base, curator)
        yield curator.event()


def _budget(paper: Paper, params: Any, records: Records | None, seed: int, seen: _Seen) -> Finding:
    """The recorded events of some runs against their plan, and what they cost against the claim.

    Where the plan costs more, and the certificate establishes the claim by another argument, a filter's, that argument
    is examined elsewhere; it is about the plan, and covers nothing that is not planned.
    """
    pair = next(neighbours(records, params.relation, seed + 3))
    if hasattr(paper.module, "CURATORS"):  # each owner has a curator of its own, and one plan holds for any of them
        told = paper.certificate(params, pair.base.schema)
        seen.established = told.established.epsilon <= told.claimed.epsilon * (1 + SLACK)
        return Aside(None, None, ())
    certificate = paper.certificate(params, pair.base.schema)
    plan, claimed = expand(paper.plan(params, pair.base.schema).event), certificate.claimed
    events = list[Event]()
    for event in _events(paper, params, pair, seed):
        events += [] if event in events else [event]
    departed = next((place for event in events if (place := departure(event, plan))), "")
    planned = not departed
    cost = max(_cost(Plan(params.relation, event), claimed) for event in events)
    seen.established = planned and certificate.established.epsilon <= claimed.epsilon * (1 + SLACK)
    found = []
    if cost > claimed.epsilon * (1 + SLACK) and not (seen.established and spending.has_filter(params)):
        found.append(Violation("budget", "whole run", claimed.epsilon, cost, None, "", pair.witness()))
    if not planned:
        found.append(Violation("plan", departed, None, None, None, "", pair.witness()))
    return Aside(None, None, tuple(found))


def departure(recorded: Event, planned: Event) -> str:
    """The name of the first release that differs from the plan, or "scopes"; "" where nothing does."""
    if recorded == planned:
        return ""
    ours, theirs = list(releases(recorded)), list(releases(planned))
    for own, other in zip(ours, theirs, strict=False):
        if own != other:
            return other.name
    return max(ours, theirs, key=len)[min(len(ours), len(theirs))].name if len(ours) != len(theirs) else "scopes"


def _cost(plan: Plan, claimed: Guarantee) -> float:
    """An upper bound of the plan's epsilon at the claimed delta; the costly methods only where they could clear it."""
    quick: float = account(plan, delta=claimed.delta, quick=True).epsilon
    return (
        quick
        if quick <= claimed.epsilon * (1 + SLACK)
        else account(plan, delta=claimed.delta, both=claimed.delta > 0).epsilon
    )


def _seed(seed: int, number: int) -> np.random.Generator:
    return np.random.default_rng([seed, abs(number), number < 0])


def _capped(params: Any, most: Mapping[str, int]) -> Any:
    known = {field.name for field in fields(params)}
    return replace(params, **{name: min(getattr(params, name), cap) for name, cap in most.items() if name in known})


def _watched(findings: Iterable[Finding], total: int, progress: Progress) -> Iterator[Finding]:
    for done, finding in enumerate(findings, 1):
        progress(done, total)
        yield finding


def merged(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    """The worst violation of each kind at each kind of release, the greatest loss first.

    What cannot be replayed states no loss, and comes after all that do: it is no infinite loss.
    """
    worst: dict[tuple[str, str], Violation] = {}
    for violation in violations:
        key = violation.kind, release_kind(violation.release)
        if key not in worst or _badness(violation) > _badness(worst[key]):
            worst[key] = violation
    return tuple(sorted(worst.values(), key=lambda v: (v.loss is None, -(v.loss or 0.0), v.kind, v.release)))


def _badness(violation: Violation) -> tuple[float, float, int]:
    """How far the declared figure is exceeded, then the loss, then the smaller witness."""
    observed = _or_infinite(violation.observed)
    excess = observed / violation.declared if violation.declared else observed
    return excess, _or_infinite(violation.loss), -len(violation.witness.get("base_y", ()))


def _or_infinite(figure: float | None) -> float:
    return math.inf if figure is None else figure
