"""The privacy mutants of five papers through the audit's verdicts: `python -m tests.audit.mutants [SECONDS]`.

About 10 minutes of a core; results are kept line by line, and the same command goes on where it was ended. Each mutant
is examined by the checks of `tests.mutants`, and by the search of `refdp audit` in short: on the same pairs, both until
a violation is named at the release at fault. Writes docs/audit-mutants.md.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from refdp.audit import isolated
from refdp.audit.declared_filter import Filter
from refdp.audit.isolated import THOROUGH, Outcome, in_child
from refdp.audit.neighbours import pairs
from refdp.audit.report import departure, of_model
from refdp.audit.steered import Short
from refdp.audit.worst import worst_case
from refdp.papers import sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Plan, Relation, expand
from refdp.privacy.sources import SampleSource
from tests.audit.figures import kept
from tests.mutants.dpboost import SOURCES
from tests.mutants.harness import Mutant, applied, mutated
from tests.mutants.matrix import SUBJECTS, Subject, examine
from tests.mutants.sgbdt import MUTANTS
from tests.participants import trainer

KEPT, PAIRS, DRAWS = "mutants", 36, 2000
HARMLESS = {"sgbdt: unclipped gradients charged, beyond the table of costs": "records pay more than they contribute"}
"""Mistakes that break no promise of privacy, and why."""
PATIENCE = 600.0
"""Seconds that one mutant may take by the clock: the machine may be shared."""
LATER = 2
"""Pairs after which drawn noise is looked at, too: freshness needs two runs."""
PAGE = Path(__file__).parents[2] / "docs" / "audit-mutants.md"
SMALL = {"delta": 1e-3, "trees": 6, "extra_trees": 6, "depth": 2, "subsample": 0.3, "support_weight": 0.2,
         "gradient_bound": 0.5, "initial_share": 0.2, "regularisation": 1.0, "epsilon": 2.0}  # fmt: skip
PAPERS = SUBJECTS | {"sgbdt": Subject("S-GBDT", sgbdt, MUTANTS, SMALL, "regression", pure=False)}


class Quick(Short):
    """In short, and without the look at every module's state that some of the runs of an audit have."""

    def _run(self, records: Any, source: Any, number: int) -> Outcome:
        return super()._run(records, source, THOROUGH * (number + 1))


@dataclass(frozen=True)
class Claimed:
    """What is audited, and what it claims. plan: of the true module."""

    train: Any
    plan: Plan
    schema: Any
    epsilon: float
    delta: float
    source: Any
    filters: tuple[Filter, ...]


@contextmanager
def made(mutant: Mutant, subject: Subject) -> Iterator[Claimed]:
    """The mutant as a trainer, while its patches are in place."""
    schema, true = subject.schema(mutant.settings), subject.params(subject.module, mutant.settings)
    plan, delta = subject.module.plan(true, schema), getattr(true, "delta", 0.0) if not subject.pure else 0.0
    filters: tuple[Filter, ...] = ()
    if getattr(true, "extra_trees", 0):
        budget = true.budget(schema)
        both = zip(budget.orders, budget.spendable, strict=True)
        filters = tuple(Filter(float(order), float(most), "leaves") for order, most in both)
    if isinstance(mutant.patches, tuple):
        module = mutated(mutant.patches, subject.module.__name__)
        changed = {name for name, _, _ in mutant.patches}
        source = mutated(mutant.patches, SOURCES).SampleSource if SOURCES in changed else SampleSource
        params = subject.params(module, mutant.settings)
        yield Claimed(trainer(module, params), plan, schema, true.epsilon, delta, source, filters)
        return
    with applied(mutant.patches):
        yield Claimed(trainer(subject.module, true), plan, schema, true.epsilon, delta, SampleSource, filters)


def named(mutant: Mutant, subject: Subject) -> tuple[list[list[str]], int]:
    """What the audit named, each kind and release once, and how many pairs it took."""
    isolated.SECONDS = PATIENCE
    with made(mutant, subject) as claimed:
        found, why = in_child(lambda: _searched(claimed, mutant))
    return found if found is not None else ([["failed", why]], 0)


def _searched(claimed: Claimed, mutant: Mutant) -> tuple[list[list[str]], int]:
    relation = claimed.plan.relation
    search = Quick(claimed.train, claimed.epsilon, claimed.delta, relation, 0, source=claimed.source, draws=DRAWS,
                   late=True, filters=claimed.filters if relation is Relation.ADD_REMOVE else ())  # fmt: skip
    stream, told, number = pairs(claimed.schema, relation, 7), list[list[str]](), 0
    for number, pair in enumerate(islice(stream, PAIRS), 1):
        if number == 1:
            curator = Curator(claimed.source(np.random.default_rng(3)), relation)
            claimed.train(pair.first(), curator)
            place = departure(curator.event(), expand(claimed.plan.event))
            told += [["plan", place]] if place else []
        search.look(pair, number - 1)
        if number == LATER:
            search.noise()
        told += [[one.kind, one.release] for one in map(of_model, search.notes.violations)]
        search.notes.violations.clear()
        if not any(at_fault(mutant, where) for _, where in told):
            limit = claimed.epsilon if claimed.delta == 0 else math.inf
            worst = [worst_case(claimed.train, pair, limit, reverse=reverse) for reverse in (False, True)]
            told += [[one.kind, one.release] for finding in worst for one in finding.violations]
        if any(at_fault(mutant, where) for _, where in told):
            break
    return [list(one) for one in dict.fromkeys(map(tuple, told))], number


def at_fault(mutant: Mutant, where: str) -> bool:
    """Whether the place is that of the mistake."""
    return mutant.located in where.rsplit("/", 1)[-1]


def before(paper: str, mutant: Mutant) -> bool:
    """Whether the checks of `tests.mutants` name it at the release at fault."""
    if paper == "sgbdt":
        from tests.sgbdt.test_replay import examine as examine_sgbdt

        return any(mutant.located in one.where for one in examine_sgbdt(mutant))
    return examine(mutant, SUBJECTS[paper], whole=False).located


def run(most: float = math.inf) -> None:
    """Mutants without a result, of all papers in turn, for so many seconds of processor time."""
    done, start = kept.load(KEPT), kept.processor_seconds()
    turns = max(len(subject.mutants) for subject in PAPERS.values())
    for turn in range(turns):
        for paper, subject in PAPERS.items():
            if turn >= len(subject.mutants) or kept.processor_seconds() - start > most:
                continue
            mutant = subject.mutants[turn]
            key = f"{paper}: {mutant.name}"
            if key in done:
                continue
            begun = kept.processor_seconds()
            old = before(paper, mutant)
            between = kept.processor_seconds()
            found, number = named(mutant, subject)
            ended = kept.processor_seconds()
            hits = [one for one in found if at_fault(mutant, one[1])]
            kept.keep(KEPT, key, paper=paper, located=bool(hits), found=(hits or found)[:3], pairs=number, before=old,
                      seconds=round(ended - between, 3), seconds_before=round(between - begun, 3))  # fmt: skip


def write() -> bool:
    """The page, of what is kept; whether every mutant that was run is named at its release."""
    done = kept.load(KEPT)
    every = sum(len(subject.mutants) for subject in PAPERS.values())
    harmless = [key for key in HARMLESS if key in done]
    missed = [key for key, row in done.items() if not row["located"] and key not in harmless]
    timed = [row for key, row in done.items() if key not in harmless]
    new, old = (sum(row[name] for row in timed) for name in ("seconds", "seconds_before"))
    one_in = sum(row["seconds"] <= 1.5 * row["seconds_before"] for row in timed)
    text = f"""# Privacy mutants through the verdicts

**{len(done) - len(missed) - len(harmless)} of {len(done) - len(harmless)} privacy mutants that were run are a VIOLATION at the release at fault, in {new / max(old, 1e-9):.2f}
times the processor time of the checks that tests use.**

| question | answer |
|---|---|
| what a mutant is | one mistake in a paper's module, `tests/mutants` |
| which were named, and by what | the table below, by paper |
| what the words mean | [verdicts](verdicts.md) |

Written by `python -m tests.audit.mutants`; no figure is typed by hand. {len(done)} of all {every} mutants of five
papers were run: each one mistake in a paper's module or in what it stands on. The search is that of `refdp audit` in
short (`refdp.audit.steered.Short`, without what modules hold besides), on up to {PAIRS} pairs, until a violation is
named at the release at fault; noise is looked at after {LATER} pairs, the worst transcripts of every pair that
did not name it by itself: they go where releases part, and cost less than another pair. S-GBDT's
budget is declared as a filter. *Before*: the checks of `python -m tests.mutants`. Seconds are processor time.
{one_in} of {len(timed)} took at most half as long again as before, all together {new / max(old, 1e-9):.2f} times as long: everything that
a run shows is compared, which those checks do not do.

| paper | mutants run | named at the release at fault | by | pairs, most | seconds | before |
|---|---|---|---|---|---|---|
"""  # noqa: E501
    for paper, subject in PAPERS.items():
        own = [row for row in done.values() if row["paper"] == paper]
        if own:
            kinds = sorted({kind for row in own if row["located"] for kind, _ in row["found"]})
            text += (f"| {subject.title} | {len(own)} of {len(subject.mutants)} | {sum(row['located'] for row in own)} "
                     f"| {', '.join(kinds)} | {max(row['pairs'] for row in own)} "
                     f"| {sum(row['seconds'] for row in own):.1f} "
                     f"| {sum(row['seconds_before'] for row in own):.1f} |\n")  # fmt: skip
    for key in harmless:
        text += (f"\nNot named, and no violation: {key}; {HARMLESS[key]}. It takes all pairs, "
                 f"{done[key]['seconds']:.1f} seconds, which count in the table alone.\n")  # fmt: skip
    if missed:
        text += "\n| not named at its release | what was named |\n|---|---|\n"
        for key in missed:
            told = "; ".join(f"{kind} at {where}" for kind, where in done[key]["found"]) or "nothing"
            text += f"| {key} | {told} |\n"
    PAGE.write_text(text, encoding="utf-8")
    return not missed


if __name__ == "__main__":
    run(float(sys.argv[1]) if len(sys.argv) > 1 else math.inf)
    sys.exit(int(not write()))
