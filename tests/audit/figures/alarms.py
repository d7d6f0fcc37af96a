"""Audits of what is correct: trainers by replay, mechanisms by runs. None may be accused."""

from __future__ import annotations

import refdp
from refdp.audit import epsilon_lower_bound
from refdp.audit.zoo import specimens
from tests.audit.cheats.drawn import DRAWN
from tests.audit.cheats.honest import HONEST
from tests.audit.cheats.zoo import SCHEMA
from tests.audit.figures.kept import keep, load, processor_seconds

COUNT = 1000
PAIRS, STEPS, RUNS, CONFIDENCE = 3, 3, 20_000, 1 - 1e-6


def audit(number: int) -> tuple[str, str, list[str]]:
    """One of the 1,000: what it was of, its verdict, what it accused of. Even ones replay, odd ones are by runs."""
    turn = number // 2
    if number % 2:
        correct = [one for one in specimens() if not one.broken]
        one = correct[turn % len(correct)]
        bound = epsilon_lower_bound(one.mechanism, one.pair, claimed=one.claimed, delta=one.delta, samples=RUNS,
                                    confidence=CONFIDENCE, seed=1000 + turn)  # fmt: skip
        return one.name, "VIOLATION" if bound.refuted else "NOT FOUND", [bound.event] if bound.refuted else []
    trainers = HONEST | DRAWN
    name = list(trainers)[turn % len(trainers)]
    honest = trainers[name]
    report = refdp.audit_trainer(honest.train, SCHEMA, honest.epsilon, honest.delta, pairs=PAIRS, steps=STEPS,
                                 seed=1000 + turn)  # fmt: skip
    return name, str(report.verdict), [f"{one.kind} at {one.release}" for one in report.violations]


def run(most: float) -> None:
    """Audits that have no result yet, for so many seconds of processor time."""
    done, start = load("alarms"), processor_seconds()
    for number in range(COUNT):
        if processor_seconds() - start > most:
            return
        if str(number) in done:
            continue
        before = processor_seconds()
        name, verdict, accused = audit(number)
        keep("alarms", str(number), name=name, verdict=verdict, accused=accused,
             seconds=round(processor_seconds() - before, 2))  # fmt: skip
