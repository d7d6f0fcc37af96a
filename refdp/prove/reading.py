"""A proof that a training program is private, from one reading of its text on unknown records.

    found = prove("dpboost", params, schema)
    found.verdict                                  # "PROVED" or "NOT PROVED"

The text that trains is run once: every branch, length and message on the way follows from parameters and public values
alone, or the reading stops; every release is asked of two solvers; and what all releases cost together is accounted.
"""

from __future__ import annotations

import decimal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from threading import RLock
from traceback import walk_tb
from typing import Any

import numpy as np

from refdp.data.records import Schema
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.ledger.proved import ELSEWHERE, stranger
from refdp.privacy.events import Event, Plan, Relation, expand, releases
from refdp.prove.asking import Solvers
from refdp.prove.exchange import reading
from refdp.prove.keeping import calls_train_on, changed, kept_beside, plainly, state
from refdp.prove.loops import Carried, Loops
from refdp.prove.obligations import Enough, Failure, Obligations, ProofCurator
from refdp.prove.peeking import line_of_text
from refdp.prove.planned import Key, differences, planned
from refdp.prove.ranges import Range, about, checked, ends, given, said, stays, trusted
from refdp.prove.spending import spending
from refdp.prove.syntax import refused
from refdp.prove.tables import Formula
from refdp.prove.terms import Leak, Unmodelled
from refdp.prove.texts import as_text
from refdp.prove.unknown import Unknown

ROUNDING = 1e-12
"""Relative slack of the account, which rounds up by up to 2^-44; bounds of sensitivities have none."""
_alone = RLock()
"""Held while a text is read: what stands in numpy's place, and what is noted of values, is there for one at a time."""


@dataclass(frozen=True)
class Proof:
    """What one reading showed.

    questions: asked now; seconds: of processor time. solvers: of each solver, how many questions it refuted, found
    values for, or left open, of all that were asked so far; single: how many rest on one of the two.
    """

    paper: str
    relation: Relation
    verdict: str
    statement: str
    covers: tuple[str, ...]
    trusted: tuple[str, ...]
    seconds: float
    questions: int
    releases: int
    solvers: dict[str, dict[str, int]]
    single: int
    failures: tuple[Failure, ...]
    anywhere: Mapping[str, Range] = field(default_factory=dict, kw_only=True)
    """Parameters that were open, and for which values of theirs the proof is: least and most."""

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "relation": self.relation.value, "failures": [asdict(one) for one in self.failures]}


def prove(
    paper: str,
    params: Any,
    schema: Schema,
    *,
    solvers: Solvers | None = None,
    progress: Callable[[int], None] | None = None,
    briefly: bool = False,
    anywhere: Mapping[str, Range | None] | None = None,
) -> Proof:
    """Read a paper's training text on unknown records. briefly: up to the first failure.

    anywhere: parameters that may have any value of a range, least and most, None for all (`refdp.prove.ranges`).
    Errors: InvalidParameter for what is no range.

    A text that is not of the small language is not read, nor what runs where the sources make something else, nor
    settings and schemas that compute by a text of their own. Loops are read by induction; where that meets something
    that it cannot follow, the loop is read round by round. Threads wait for one another.
    """
    with _alone, as_text(registry.paper(paper).module):
        return _prove(paper, params, schema, solvers or Solvers(), progress, briefly, checked(params, anywhere or {}))


def _prove(
    paper: str,
    params: Any,
    schema: Schema,
    solvers: Solvers,
    progress: Callable[[int], None] | None,
    briefly: bool,
    ranges: Mapping[str, Range],
) -> Proof:
    began, module = time.process_time(), registry.paper(paper).module
    unread = tuple(refused(module, paper))
    if not unread and (place := stranger(params, schema, module)):
        unread = (Failure("", "", "not modelled", f"{ELSEWHERE}: {place}"),)
    if unread:
        statement = said(ranges) + _statement(paper, params, _claimed(params), None)
        return Proof(
            paper, params.relation, "NOT PROVED", statement, (), TRUSTED, time.process_time() - began, 0, 0,
            solvers.counts, solvers.single, unread, anywhere=ranges,
        )  # fmt: skip
    asked, uncut = solvers.questions, set[str]()
    for attempt in range(ATTEMPTS + 1):
        loops = Loops(attempt < ATTEMPTS, frozenset(uncut))
        found = _read(paper, params, schema, solvers, loops, progress, briefly, ranges)
        if not loops.cut or not any(one.kind == "not modelled" for one in found.failures):
            break
        if not loops.stuck:  # it is no loop in which something cannot be followed
            loops = Loops(False)
            found = _read(paper, params, schema, solvers, loops, progress, briefly, ranges)
            break
        uncut.add(loops.stuck)
    if found.verdict == "PROVED" and type(params) is not module.Params:
        unseen = Failure("", "", "not modelled", "printed readings, parameters whose text is not read")
        found = replace(found, verdict="NOT PROVED", failures=(unseen,))
    for end, own in ends(params, ranges) if ranges else ():
        if found.verdict == "PROVED":
            one = prove(paper, own, schema, solvers=solvers, progress=progress, briefly=True)
            failed = tuple(replace(each, reason=f"{end}: {each.reason}") for each in one.failures)
            found = replace(found, verdict=one.verdict, failures=failed)
    return replace(found, seconds=time.process_time() - began, questions=solvers.questions - asked)


NO_DECIMALS = decimal.Context(1, traps=[one for one in decimal.Context().flags if one is not decimal.FloatOperation])
"""Decimal numbers follow the settings of their thread: here all that could stops. `numbers.digits` has its own."""
NUMPYS: dict[str, Any] = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
"""What numpy warns of where nobody says otherwise: a text is read so, whatever the reading's own process ignores."""
ATTEMPTS = 3
"""So often loops are cut, those that cannot be followed less; then none is."""


def _read(
    paper: str,
    params: Any,
    schema: Schema,
    solvers: Solvers,
    loops: Loops,
    progress: Callable[[int], None] | None,
    briefly: bool,
    ranges: Mapping[str, Range],
) -> Proof:
    module: Any = registry.paper(paper).module
    host = Unknown(params.relation, schema, solvers, loops, weighed=paper in WEIGHED)
    opens = host.open_up(ranges) if ranges else None
    if opens is not None:
        opens.pure = _claimed(params)[1] == 0
    source = Obligations(host, progress, briefly)
    curator = ProofCurator(source, params.relation)
    event, own = None, params
    Leak.raised.clear()
    Unmodelled.raised.clear()
    Formula.made.clear()
    before = state(params, schema)
    try:
        with reading(module, loops, host), decimal.localcontext(NO_DECIMALS), np.errstate(**NUMPYS):
            own = given(params, opens) if opens else params
            host.begin_with(own, schema)
            model = module.train_on(own, schema, host, curator)
            plainly(model)
            for one in kept_beside(module, own, schema):  # here, as functions are exchanged for the reading's own
                raise Leak(f"{one.what} is kept beside the model")
            if opens:
                stays("the budget", _claimed(params), _claimed(own))
                stays("whether a guarantee holds", _breaches(paper, params, schema), _breaches(paper, own, schema))
        if changed(before, params, schema):
            raise Unmodelled("a container that outlives the run is changed: later rounds or runs could ask for it")
        event = planned(module.train_on, params, schema)
    except Enough:
        pass
    except InvalidParameter as problem:  # settings that do not allow this target
        if not source.releases:
            raise
        _noted(source, "", problem)
    except Exception as problem:  # whatever a text does that cannot be followed is not proved
        _noted(source, "/".join(curator._path("")), problem)
    else:
        loops.active.clear()
    failures = list(source.failures.values())
    if not failures:
        failures += [Failure("", "", "leak", str(one)) for one in Leak.raised[:1]]  # one that the text handled
        failures += [Failure("", "", "not modelled", str(one)) for one in Unmodelled.raised[:1] if not failures]
    if not failures:
        failures += [_unasked(one) for one in Formula.made if not one.released][:1]
    if not calls_train_on(module):
        failures.append(Failure("", "", "not modelled", "`train` does other things than to call `train_on`"))
    claimed = _claimed(params)
    failures += [Failure("", "", "budget", reason) for reason in _breaches(paper, params, schema)]
    if event is not None and not failures:
        kind = "not modelled" if loops.cut else "budget"
        whole = None if loops.cut else curator.event()
        failures += [Failure(name, "", kind, reason) for name, reason in differences(event, source.asked, whole)]
    if event is not None and not failures:
        failures += _overspent(Plan(params.relation, event), host, claimed, source.asked)
    return Proof(
        paper, params.relation, "NOT PROVED" if failures else "PROVED",
        said(ranges) + _statement(paper, params, claimed, event), covers(loops, paper in WEIGHED) + about(ranges),
        TRUSTED + trusted(ranges), 0.0, 0, source.releases, solvers.counts, solvers.single, tuple(failures),
        anywhere=ranges,
    )  # fmt: skip


def _unasked(one: Formula) -> Failure:
    reason = f"numpy's {one.name} of private sums, of which nothing releases every entry: a warning would tell of one"
    return Failure("", one.line, "not modelled", reason)


def _claimed(params: Any) -> tuple[float, float]:
    return params.epsilon, getattr(params, "delta", 0.0)


def _breaches(paper: str, params: Any, schema: Schema) -> list[str]:
    return list(params.breaches(schema) if paper == "inprivate" else getattr(params, "breaches", list)())


def _noted(source: Obligations, place: str, problem: Exception) -> None:
    at = line_of_text(reversed(list(walk_tb(problem.__traceback__))))
    with suppress(Enough):
        source.note(place, _kind(problem), _reason(problem), line=at)


def _overspent(plan: Plan, host: Unknown, claimed: tuple[float, float], asked: Mapping[Key, bool]) -> Iterator[Failure]:
    try:
        spent = spending(plan, host, claimed[1], asked)
    except Unmodelled as problem:
        yield Failure("", "", "not modelled", str(problem))
        return
    if not spent <= claimed[0] * (1 + ROUNDING):
        reason = f"all releases together cost epsilon {spent:.9g}, claimed is {claimed[0]:.9g}"
        yield Failure("", "", "budget", reason)


def _statement(paper: str, params: Any, claimed: tuple[float, float], event: Event | None) -> str:
    many = "" if event is None else f" ({sum(1 for _ in releases(expand(event)))} with these settings)"
    return (
        f"for every two {params.relation.value} neighbours of the schema and all outputs, every release of {paper}"
        f"{many} changes by no more than it declares, nothing else of the records reaches a branch, a length, a "
        f"message or the model, and all together cost at most epsilon {claimed[0]:g} at delta {claimed[1]:g}"
    )


WEIGHED = ("sgbdt", "grove")
"""Trainers whose estimators take weights of records."""


def covers(loops: Loops, weighed: bool = False) -> tuple[str, ...]:
    """What a reading with these loops is about. weighed: whether records had any weights in [0, 1]."""
    found = ["all data sets of the schema, of any number of records, and all released values and public draws"]
    if weighed:
        found.append("any weights of records in [0, 1], of which 1 for all is one case")
    for line, cut in loops.cut.items():
        which = "any number of rounds" + ("" if cut.read == 2 else f" of the {cut.read - 1} kinds that occur")
        how = f"; which kind one is follows from its number, up to {cut.rounds}" if cut.tests else ""
        found.append(f"{line.rpartition('/')[2]}: {which} by induction, the first and any later one{how}")
    found += [
        f"{line.rpartition('/')[2]}: the rounds of these settings, one by one"
        for line in sorted(loops.whole - loops.cut.keys())
    ]
    found.append("all nodes and candidates of these settings: one of each stands for all")
    found.append("the cost of all releases together: with these settings")
    return tuple(found)


TRUSTED = (
    "the solvers, the rules of this reading, and numpy's shapes of released values",
    "that the hosts of records answer queries as the protocol of the population says",
    "that float64 arithmetic on exact sums stands for real arithmetic",
    "the mechanisms' samplers, the laws of secret selections, and the accountant",
)


def _kind(problem: Exception) -> str:
    return "leak" if isinstance(problem, Leak) else "not modelled"


def _reason(problem: Exception) -> str:
    plain = isinstance(problem, Leak | Unmodelled | Carried)
    return str(problem) if plain else f"{type(problem).__name__}: {problem}"
