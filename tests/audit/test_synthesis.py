"""Events from replayed losses: half the noise is seen, the right noise is not accused, and no loss is no loss.

Fixed seeds. A bound is above the true epsilon with probability 1e-6 at most: the correct twin is accused so rarely.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from benchmarks import event_reach, event_synthesis
from refdp.audit.binomial import Counts, clopper_pearson
from refdp.audit.replay import Pair
from refdp.audit.synthesis import Candidate, Columns, Told, best_of, confirm, synthesise, told
from refdp.data.records import Interval, Numeric, Records, Schema, make_records
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge, Relation, Sensitivity
from refdp.privacy.sources import SampleSource

SCHEMA = Schema((Numeric("a", 0.0, 1.0),), Interval(0.0, 1.0))
ERROR = 1e-6


@dataclass(frozen=True)
class Published:
    text: str

    def to_json(self) -> str:
        return self.text


@dataclass(frozen=True)
class Sum:
    """Labels' noisy sum, published as its distance from 1. least: of fewer records, a draw more."""

    scale: float
    least: int = 0

    def __call__(self, records: Records, curator: Curator) -> Published:
        declared = Sensitivity(1.0, 1, "", Relation.ADD_REMOVE)
        if records.size < self.least:
            curator.draw("empty", ("integers", 2), 2)
        noisy = curator.release("sum", Charge(Laplace(self.scale), declared, declared), np.array([records.y.sum()]))
        return Published(f'{{"folded": {abs(float(noisy[0]) - 1.0)!r}}}')


def pair(label: float) -> Pair:
    both = make_records(SCHEMA, np.zeros((2, 1)), np.array([0.0, label]))
    return Pair(both.take([0]), both.take([1]), None, 1)


def candidate(scale: float, label: float = 1.0, least: int = 0) -> Candidate:
    return Candidate(Sum(scale, least), pair(label), lambda seed: SampleSource(np.random.default_rng(seed)), 1.0, 0.0)


def bound(one: Candidate) -> Any:
    event = synthesise(one, 1, 60, 600, ERROR)
    return event, confirm(one, event, 2, 600, ERROR)


def test_half_of_the_noise_is_seen_and_the_right_noise_is_not() -> None:
    event, found = bound(candidate(0.3))
    assert 1.0 < found.lower <= 1 / 0.3
    assert found.counts.runs == 600
    assert "side likelier" in event.words
    assert bound(candidate(1.0))[1].lower <= 1.0


def test_the_pair_and_the_setting_of_largest_excess_come_first() -> None:
    same, weak, strong, right = candidate(0.4, 0.0), candidate(0.8), candidate(0.4), candidate(1.0)
    assert best_of([same, weak, right, strong], 3, keep=2) == [strong, weak]
    assert told(right, 3, 8).excess(1.0, 0.0) == pytest.approx(0.0, abs=1e-12)  # no loss above epsilon, so exactly none


def test_the_excess_estimates_the_divergence_of_the_pair() -> None:
    """Laplace noise of scale 0.5 on a change of 1, at epsilon 1: 1 - e^-((2 - 1) / 2). Five standard errors."""
    chances = told(candidate(0.5), 4, 250)
    assert chances.excess(1.0, 0.0) == pytest.approx(1 - np.exp(-0.5), abs=0.12)
    assert chances.excess(1.0, 0.1) == pytest.approx(chances.excess(1.0, 0.0) - 0.1)


def test_sides_that_part_have_no_loss_and_their_side_is_learnt() -> None:
    parted = told(candidate(1.0, least=2), 5, 4)
    assert parted.stated == 0
    assert parted.targets().tolist() == [[1.0] * 4, [0.0] * 4]
    half = Told(np.array([[0.5, np.nan], [0.5, np.nan]]))
    assert half.stated == 0.5
    assert half.excess(1.0, 0.3) > 0  # a run without a loss is worth a look whatever delta


def test_the_event_is_fixed_before_the_runs_that_test_it() -> None:
    """No run that tests is one that chose, and a number that no choosing run had is not looked at."""
    one = candidate(1.0)
    chose, test = (one.sides(seed, 50) for seed in (1, 2))
    seen = {value for side in chose for run in side for value in run.values()}
    assert not seen & {value for side in test for run in side for value in run.values()}
    rows = Columns(("a",)).rows([{"a": 1.0}, {"b": 2.0, "a": 3.0}, {}])
    assert rows.tolist()[:2] == [[1.0, 1.0], [3.0, 2.0]]
    assert np.isnan(rows[2, 0])


def test_a_test_on_the_runs_that_chose_would_be_seen() -> None:
    """The mutant that tests with the seed of its choice has the very outputs of that choice."""
    one = candidate(1.0)
    assert one.sides(1, 20) == one.sides(1, 20)
    assert replace(one, epsilon=2.0).sides(1, 20) != one.sides(2, 20)


def test_reach_is_the_bound_of_the_best_event_on_the_exact_losses() -> None:
    """Randomised response: no less than its one event gives, no more than its epsilon; other losses, another figure."""
    epsilon, runs = 1.5, 200
    chance = float(expit(epsilon))
    likely = round(chance * runs)
    chances = np.concatenate([np.full(likely, chance), np.full(runs - likely, 1 - chance)])
    found = event_reach.reach(Told(np.stack([chances, chances[::-1]])), 0.0, 2_000, 1e-6)
    known = clopper_pearson(Counts(round(chance * 2_000), round((1 - chance) * 2_000), 2_000), 0.0, 1e-6)
    assert found is not None and known - 0.02 < found < epsilon
    weaker = event_reach.reach(Told(np.stack([chances, chances[::-1]]) / 2 + 0.25), 0.0, 2_000, 1e-6)
    assert weaker is not None and weaker < known
    assert event_reach.reach(Told(np.full((2, 10), 0.5)), 0.0, 2_000, 1e-6) == 0.0
    assert event_reach.reach(Told(np.array([[0.5, math.nan]] * 2)), 0.0, 2_000, 1e-6) is None


@dataclass(frozen=True)
class Mean:
    """A noisy sum on a coarse grid, divided by the exact number of records."""

    def __call__(self, records: Records, curator: Curator) -> Published:
        declared = Sensitivity(1.0, 1, "", Relation.ADD_REMOVE)
        noisy = curator.release("sum", Charge(Laplace(1.0), declared, declared), np.array([records.y.sum()]))
        return Published(f'{{"mean": {float(np.rint(noisy[0] * 64)) / 64 / records.size!r}}}')


def test_last_bits_are_among_the_events_of_a_second_try() -> None:
    """Another exact count leaves other last bits, whatever the noise; without them nothing is seen."""
    records = make_records(SCHEMA, np.zeros((4, 1)), np.zeros(4))
    one = replace(candidate(1.0), train=Mean(), pair=Pair(records.take(range(3)), records.take([3]), None, 3))
    seen, unseen = (synthesise(one, 3, 60, 500, ERROR, replayed=False, low_bits=bits) for bits in (True, False))
    assert "lowest set bit" in seen.words and seen.promised > 1 > unseen.promised
    assert confirm(one, seen, 4, 300, ERROR).lower > 1


def test_the_page_follows_from_the_kept_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says another number where a line is another."""
    kept = event_synthesis.PAGE.read_text(encoding="utf-8")
    monkeypatch.setattr(event_synthesis, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(sys, "argv", ["event_synthesis", "--page"])
    event_synthesis.main()
    assert event_synthesis.PAGE.read_text(encoding="utf-8") == kept
    lines = event_synthesis.RESULTS.read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "lines.jsonl").write_text("".join(lines[1:]), encoding="utf-8")
    monkeypatch.setattr(event_synthesis, "RESULTS", tmp_path / "lines.jsonl")
    event_synthesis.main()
    assert event_synthesis.PAGE.read_text(encoding="utf-8") != kept
