"""The replay audit of anyone's `train(records, curator)`: a search over neighbours, everything observable compared.

A run is recorded on one side of a pair, with fresh noise, and replayed on both: same outputs of every release, each run
in a process of its own. Whatever then differs depends on the record by another way than the releases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from refdp.audit.adaptive_runs import more_runs
from refdp.audit.constants import constants
from refdp.audit.crowds import alone, crowds
from refdp.audit.declared_filter import Filter
from refdp.audit.inputs import COUNTS, beside, combined, inputs, of_count
from refdp.audit.isolated import Trainer
from refdp.audit.own_code import forget
from refdp.audit.reached import own_code
from refdp.audit.replay import Violation, finite_or_name
from refdp.audit.search import Search
from refdp.audit.steered import STEPS, Steered, steered
from refdp.audit.trainer_rows import looked_into, never_run, rows, searched
from refdp.audit.verdicts import Row, Verdict, completed, is_ok, summary
from refdp.audit.witnesses import Known, known_rows
from refdp.checks import check_count, check_number
from refdp.data.records import Schema
from refdp.errors import InvalidParameter
from refdp.ledger.certificate import Guarantee
from refdp.privacy.events import Relation

PAIRS = 96
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TrainerReport:
    """What the audit of a trainer found.

    pairs: neighbouring pairs replayed. max_loss: greatest loss over all outputs along a replayed run, in nats, None if
    none is stated. coverage: what was looked at, each with its verdict; see `refdp.audit.verdicts`.
    """

    epsilon: float
    delta: float
    relation: Relation
    pairs: int
    max_loss: float | None
    violations: tuple[Violation, ...]
    coverage: tuple[Row, ...]

    @property
    def claimed(self) -> Guarantee:
        """The claim."""
        return Guarantee(self.epsilon, self.delta)

    @property
    def verdict(self) -> Verdict:
        """The weakest verdict of what the claim depends on."""
        return summary(self.coverage)

    @property
    def ok(self) -> bool:
        """Whether there is no violation, and nothing that the claim depends on was left out."""
        return is_ok(self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "ok": self.ok,
            "verdict": str(self.verdict),
            "pairs": self.pairs,
            "claimed_epsilon": finite_or_name(self.epsilon),
            "claimed_delta": self.delta,
            "relation": str(self.relation),
            "max_loss": finite_or_name(self.max_loss),
            "violations": [violation.to_dict() for violation in self.violations],
            "coverage": [row.to_dict() for row in self.coverage],
        }


def audit_trainer(
    train: Trainer,
    schema: Schema,
    epsilon: float,
    delta: float = 0.0,
    relation: str | Relation = Relation.ADD_REMOVE,
    *,
    pairs: int = PAIRS,
    seed: int = 0,
    counts: tuple[int, ...] = COUNTS,
    steps: int | None = None,
    filters: tuple[Filter, ...] = (),
    known: Sequence[Known] = (),
    first_only: bool = False,
    progress: Progress = lambda done, total: None,
) -> TrainerReport:
    """Search for a violation of the claim (epsilon, delta) by `train(records, curator)`.

    train: may read records.x, shape (rows, features), and records.y as arrays, releases through the curator, and
    returns what it publishes. schema: public bounds, categories and label range of the records that are made up.
    pairs: neighbouring pairs to replay. counts: numbers of records to try. steps: further pairs, replayed in short, of
    a search over contents that follows what changes releases most (`refdp.audit.steered`), 240 at most, and 3
    for each of `pairs`, unless given; and as many again, 120 at most, of records that consist of numbers in the
    trainer's text. filters: what an individual filter of the trainer's own lets one record spend
    (`refdp.audit.Filter`), under add-remove. known: pairs of this schema that are replayed before all others
    (`refdp.audit.witnesses.read`). first_only: end at the first violation.
    Errors: InvalidParameter for a claim or a search outside the domain.
    """
    if relation not in list(Relation):
        raise InvalidParameter(f"relation = {relation!r}: {' or '.join(Relation)} is allowed")
    if not callable(train):
        raise InvalidParameter(f"train = {train!r}: a function train(records, curator) is needed")
    check_number("epsilon", epsilon, least=0)
    check_number("delta", delta, least=0, below=1)
    check_count("pairs", pairs)
    check_count("seed", seed, least=0)
    steps = min(STEPS, 3 * pairs) if steps is None else steps
    check_count("steps", steps, least=0)
    if filters and relation != Relation.ADD_REMOVE:
        raise InvalidParameter(f"filters: {Relation.ADD_REMOVE.value} is allowed, relation = {relation!r} given")
    if any(one.pair.base.schema != schema or one.pair.relation is not Relation(relation) for one in known):
        raise InvalidParameter("known: a pair of another schema or relation than the audit's is not allowed")
    forget()
    audit = Search(train, float(epsilon), float(delta), Relation(relation), seed, filters=tuple(filters))
    notes, hints, seen = audit.notes, constants(train), Steered()

    def told() -> bool:
        return first_only and bool(notes.violations)

    shown: dict[str, bool] = {}
    for number, one in enumerate(known):
        before = len(notes.violations)
        audit.look(one.pair, number)
        shown[one.source] = shown.get(one.source, False) or len(notes.violations) > before
    found_here = islice(inputs(schema, audit.relation, seed, counts, hints), 0 if told() else pairs)
    looked = []
    for number, pair in enumerate(found_here, len(known)):
        looked.append((pair, audit.look(pair, number)))
        progress(number + 1 - len(known), pairs)
        if told():
            break
    if not told():
        more_runs(audit, looked, of_count(schema, audit.relation, seed, min(counts, default=0)), told)
    if not told():
        spots = [one for way in (beside, combined) for one in way(schema, audit.relation, seed, hints)]
        fewest = [alone(schema, audit.relation)] if 0 in counts else []
        seeds = chain(fewest, crowds(schema, audit.relation))
        seen = steered(audit, seeds, own_code(train), steps, hints, spots=spots, told=told)
    if not told():
        audit.noise()
    found = _once(notes.violations)
    told_rows = rows(notes, found, audit.epsilon, audit.delta, audit.relation)
    steps_rows = [*searched(seen), *never_run(seen, train)]
    table = completed([*known_rows(shown), *told_rows, *looked_into(train), *steps_rows])
    worst = max(notes.worst, default=None)
    return TrainerReport(audit.epsilon, audit.delta, audit.relation, notes.pairs, worst, found, table)


def _once(found: list[Violation]) -> tuple[Violation, ...]:
    """Each kind and place once, with the smallest pair that shows it."""
    from refdp.audit.report import merged

    return merged(found)
