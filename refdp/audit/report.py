"""The replay audit of a paper: neighbouring pairs, the worst transcripts of small runs, fresh noise, the budget.

Each way in which a run breaks its promise is reported once, with the worst pair that shows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import chain, islice
from typing import Any

import numpy as np

from refdp.accounting import account
from refdp.audit.freshness import release_kind, stale
from refdp.audit.neighbours import from_records, pairs
from refdp.audit.replay import SLACK, Finding, Pair, Trainer, Violation, audit_pair, finite_or_name, run
from refdp.audit.worst import worst_case
from refdp.data.records import Categorical, Classes, Interval, Numeric, Records, Schema
from refdp.errors import InvalidParameter
from refdp.faces.registry import Paper
from refdp.faces.training import source_for
from refdp.ledger.certificate import Guarantee
from refdp.privacy.curator import Curator
from refdp.privacy.events import Plan, Relation, expand

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


@dataclass(frozen=True)
class Report:
    """What the audit of one algorithm found.

    pairs: neighbouring pairs replayed. max_loss: greatest privacy loss seen, over all outputs along each replayed run
    (of the recorded outputs if the claim has a delta); None if no run has one. without_loss: how many runs have none.
    """

    pairs: int
    claimed: Guarantee
    max_loss: float | None
    violations: tuple[Violation, ...]
    without_loss: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing was violated."""
        return not self.violations

    def to_dict(self) -> dict[str, Any]:
        """As plain data; an infinite figure is the string "inf", one that is not stated None."""
        return {
            "ok": self.ok,
            "pairs": self.pairs,
            "claimed_epsilon": finite_or_name(self.claimed.epsilon),
            "max_loss": finite_or_name(self.max_loss),
            "without_loss": self.without_loss,
            "violations": [violation.to_dict() for violation in self.violations],
        }


def audit_paper(
    paper: Paper,
    params: Any,
    count: int,
    seed: int,
    *,
    records: Records | None = None,
    progress: Progress = lambda done, total: None,
) -> Report:
    """Audit one paper with given parameters.

    count: neighbouring pairs to replay. records: real records to take subsets of; else random and directed data sets
    over SCHEMAS. progress: told how much is done, of how much.
    Errors: InvalidParameter for a baseline without privacy.
    """
    if getattr(params, "scheme", "") == "np":
        raise InvalidParameter("scheme = 'np': this baseline promises no privacy, so there is nothing to audit")
    schema = SCHEMAS[0] if records is None else records.schema
    claimed = paper.certificate(params, schema).claimed
    epsilon = claimed.epsilon if claimed.delta == 0 else float("inf")  # with a delta, single losses may exceed epsilon
    runs = readings(paper, params)
    total = len(runs) * (count + 2 * len(TINY) * WORST_PAIRS + 2)
    findings = chain.from_iterable(_findings(paper, p, epsilon, count, seed, records) for p in runs)
    found = list(_watched(findings, total, progress))
    seen = [_seen(finding, epsilon) for finding in found]
    stated = [loss for loss in seen if loss is not None]
    violations = merged(violation for finding in found for violation in finding.violations)
    return Report(count, claimed, max(stated, default=None), violations, len(seen) - len(stated))


def _seen(finding: Finding, epsilon: float) -> float | None:
    """The loss over all outputs; of the outputs alone where a delta lets single outputs lose without bound."""
    if finding.loss is None or finding.worst is None:
        return None
    return abs(finding.loss) if np.isinf(epsilon) else max(abs(finding.loss), finding.worst)


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
    paper: Paper, params: Any, epsilon: float, count: int, seed: int, records: Records | None
) -> Iterator[Finding]:
    train = trainer(paper, params)
    for number, pair in enumerate(islice(neighbours(records, params.relation, seed), count)):
        source = source_for(params, _seed(seed, number))
        blocks = np.random.default_rng(_seed(seed, number + count))
        yield _told(params, audit_pair(train, pair, source, epsilon, on_first=number % 2 == 0, blocks=blocks))
    for most in TINY:
        tiny = _capped(params, most)
        for pair in islice(neighbours(records, params.relation, seed + 1, size=4), WORST_PAIRS):
            for reverse in (False, True):
                finding = worst_case(trainer(paper, tiny), pair, epsilon, reverse=reverse)
                if np.isinf(epsilon) and finding.loss is not None and np.isfinite(finding.loss):
                    finding = replace(finding, loss=0.0)  # of outputs that a delta leaves out of account
                yield _told(tiny, finding)
    yield _told(params, _freshness(paper, params, records, seed))
    yield _told(params, _budget(paper, params, records, seed))


def _told(params: Any, finding: Finding) -> Finding:
    """The finding, each witness with the parameters of its run: those of the variants and of tiny runs differ."""
    told = (replace(v, witness={**v.witness, "params": asdict(params)}) for v in finding.violations)
    return replace(finding, violations=tuple(told))


def trainer(paper: Paper, params: Any) -> Trainer:
    """Training with these parameters, as the audits call it."""
    return lambda records, curator: paper.train(params, records, curator)


def neighbours(records: Records | None, relation: Relation, seed: int, size: int = 12) -> Iterator[Pair]:
    """Pairs of at most `size` common records: of real ones, or over the schemas in turn."""
    if records is not None:
        if records.size < 3:
            raise InvalidParameter(f"{records.size} records given, an audit of neighbours needs at least 3")
        yield from from_records(records, relation, seed, size)
    streams = [pairs(schema, relation, seed + turn, size) for turn, schema in enumerate(SCHEMAS)]
    while True:
        yield from (next(stream) for stream in streams)


def _freshness(paper: Paper, params: Any, records: Records | None, seed: int) -> Finding:
    """Two runs under different seeds; at a tiny epsilon where options are chosen, so that choices are mostly noise.

    Papers with a delta choose no options, and may have no noise that reaches a tiny epsilon.
    """
    faint = params if getattr(params, "delta", 0) else replace(params, epsilon=min(params.epsilon, 1e-3))
    pair = next(neighbours(records, params.relation, seed + 2))
    train = trainer(paper, faint)
    first, second = (
        run(train, pair.second(), source_for(faint, _seed(seed, number)), params.relation)[0] for number in (-1, -2)
    )
    return Finding(0.0, 0.0, tuple(stale(first, second)))


def _budget(paper: Paper, params: Any, records: Records | None, seed: int) -> Finding:
    """One run's recorded events against its plan, and what they cost against the claim."""
    pair = next(neighbours(records, params.relation, seed + 3))
    curator = Curator(source_for(params, _seed(seed, -3)), params.relation)
    paper.train(params, pair.base, curator)
    event, schema = curator.event(), pair.base.schema
    claimed = paper.certificate(params, schema).claimed
    cost = account(Plan(params.relation, event), delta=claimed.delta).epsilon
    found = []
    if cost > claimed.epsilon * (1 + SLACK):
        found.append(Violation("budget", "whole run", claimed.epsilon, cost, None, "", pair.witness()))
    if event != expand(paper.plan(params, schema).event):
        found.append(Violation("plan", "whole run", None, None, None, "", pair.witness()))
    return Finding(0.0, 0.0, tuple(found))


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
    """The worst violation of each kind at each kind of release, those that no figure tells first."""
    worst: dict[tuple[str, str], Violation] = {}
    for violation in violations:
        key = violation.kind, release_kind(violation.release)
        if key not in worst or _badness(violation) > _badness(worst[key]):
            worst[key] = violation
    return tuple(sorted(worst.values(), key=lambda v: (-_or_infinite(v.loss), v.kind, v.release)))


def _badness(violation: Violation) -> tuple[float, float, int]:
    """How far the declared figure is exceeded, then the loss, then the smaller witness."""
    observed = _or_infinite(violation.observed)
    excess = observed / violation.declared if violation.declared else observed
    return excess, _or_infinite(violation.loss), -len(violation.witness.get("base_y", ()))


def _or_infinite(figure: float | None) -> float:
    return math.inf if figure is None else figure
