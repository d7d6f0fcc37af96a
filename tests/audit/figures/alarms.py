"""Audits of what is correct: trainers by replay, opened functions, mechanisms by runs. None may be accused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import refdp
from refdp.accounting.gaussian import mu_for
from refdp.audit import epsilon_lower_bound
from refdp.audit.opened_door import noise
from refdp.audit.opened_replay import audit_opened
from refdp.audit.zoo import specimens
from tests.audit.cheats.drawn import DRAWN
from tests.audit.cheats.honest import HONEST
from tests.audit.cheats.zoo import SCHEMA
from tests.audit.figures.kept import keep, load, processor_seconds

COUNT = 1000
FIRST, PAIRS, STEPS = 104, 3, 3
"""So many audits came first: every second a replay, of so many pairs and pairs in short."""
FEWER = 2
"""Pairs of the replays after these, and none in short."""
WAYS = ("replay", "runs", "opened", "runs")
RUNS, CONFIDENCE = 20_000, 1 - 1e-6
KINDS = {"replay": "correct trainers by replay", "opened": "correct functions opened and replayed",
         "runs": "correct mechanisms by runs"}  # fmt: skip
Found = tuple[str, str, list[str]]
"""What an audit was of, its verdict, what it accused of."""


def way_of(number: int) -> tuple[str, int]:
    """How an audit is made, and the how manyth of its kind it is."""
    if number < FIRST:
        return ("runs" if number % 2 else "replay"), number // 2
    turn, place = divmod(number - FIRST, len(WAYS))
    way = WAYS[place]
    before = FIRST // 2 if way != "opened" else 0
    return way, before + turn * WAYS.count(way) + WAYS[:place].count(way)


def audit(number: int) -> Found:
    """One of the 1,000."""
    way, turn = way_of(number)
    return {"replay": _replayed, "opened": _opened, "runs": _by_runs}[way](turn)


def _replayed(turn: int) -> Found:
    trainers = HONEST | DRAWN
    name = list(trainers)[turn % len(trainers)]
    honest, few = trainers[name], turn >= FIRST // 2
    report = refdp.audit_trainer(honest.train, SCHEMA, honest.epsilon, honest.delta, pairs=FEWER if few else PAIRS,
                                 steps=0 if few else STEPS, seed=1000 + turn)  # fmt: skip
    return name, str(report.verdict), [f"{one.kind} at {one.release}" for one in report.violations]


def _by_runs(turn: int) -> Found:
    correct = [one for one in specimens() if not one.broken]
    one = correct[turn % len(correct)]
    bound = epsilon_lower_bound(one.mechanism, one.pair, claimed=one.claimed, delta=one.delta, samples=RUNS,
                                confidence=CONFIDENCE, seed=1000 + turn)  # fmt: skip
    return one.name, "VIOLATION" if bound.refuted else "NOT FOUND", [bound.event] if bound.refuted else []


def _opened(turn: int) -> Found:
    """Counts and sums of numpy's noise, as many, as wide and of such a scale as chance has it; the claim is exact."""
    chance = np.random.default_rng([1000, turn])
    name = ["laplace", "gaussian"][turn % 2]
    many, width = int(chance.integers(1, 6)), float(chance.choice([1.0, 0.5, 3.0]))
    epsilon, delta = float(chance.choice([0.3, 1.0, 4.0])), 1e-5 if name == "gaussian" else 0.0
    scale = many * width / epsilon
    if delta:
        scale = many**0.5 * width / mu_for(epsilon, delta)
    release = noise(name, value="total", scale="scale", sensitivity="sensitivity")(_adding(name))

    def train(rows: Any) -> list[float]:
        total = float(np.sum(np.clip(rows[:, 0], 0.0, width)))
        return [release(total, scale, width) for _ in range(many)]

    rows = chance.uniform(-1.0, 4.0, (int(chance.integers(1, 40)), 1))
    pairs = [(rows, np.vstack([rows, [[extra]]])) for extra in (width, 0.0, 9.0)]
    report = audit_opened(train, pairs, epsilon=epsilon, delta=delta, seed=turn)
    return f"{name} of numpy", str(report.verdict), [f"{one.kind} at {one.release}" for one in report.violations]


def _adding(name: str) -> Callable[..., float]:
    drawn: Callable[[float, float], float] = getattr(np.random, "normal" if name == "gaussian" else name)

    def add(total: float, scale: float, sensitivity: float) -> float:
        return total + drawn(0.0, scale)

    return add


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
        keep("alarms", str(number), way=way_of(number)[0], name=name, verdict=verdict, accused=accused,
             seconds=round(processor_seconds() - before, 2))  # fmt: skip
