"""The zoo: every claim's truth is known, auditors tell them apart, and no correct mechanism is accused.

False alarms: 1e-6 for the whole zoo, see `benchmarks.zoo`; here the audits that are quick, with the same seed.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import zoo as benchmark
from refdp.audit.blackbox import epsilon_lower_bound
from refdp.audit.runs import Vectorised
from refdp.audit.zoo import Specimen, specimens
from refdp.audit.zoo.selection import OPPOSED, chances
from refdp.audit.zoo.sparse_vector import STOPPED, SparseVector

QUICK = [one for one in specimens() if one.broken and one.samples <= 5_000]
SLOW = [one for one in specimens() if one.broken and one.samples > 5_000]
CORRECT = [one for one in specimens() if not one.broken]


def names(zoo: list[Specimen]) -> list[str]:
    return [one.name for one in zoo]


def test_the_zoo_is_consistent() -> None:
    assert len({one.name for one in specimens()}) == len(specimens()) >= 40
    assert all(one.known() and one.reason and one.source for one in specimens())
    assert len(CORRECT) >= 12


@pytest.mark.parametrize("one", QUICK, ids=names(QUICK))
def test_broken_mechanisms_are_refuted(one: Specimen) -> None:
    bound = benchmark.audit(one)
    assert bound.refuted
    assert bound.lower <= one.shown


@pytest.mark.parametrize("one", CORRECT, ids=names(CORRECT))
def test_correct_mechanisms_are_not(one: Specimen) -> None:
    bound = benchmark.audit(replace(one, samples=5_000))
    assert not bound.refuted
    assert bound.lower <= one.shown


def test_an_audit_notices_what_these_tests_could_not_see() -> None:
    """A mutant of each correct mechanism: its first output beside the exact first record."""
    for one in CORRECT:
        if one.pair[0][0] == one.pair[1][0]:
            continue
        leaking = Vectorised(lambda r, n, g, one=one: np.hstack([one.mechanism.batch(r, n, g), np.full((n, 1), r[0])]))  # type: ignore[misc]
        assert epsilon_lower_bound(leaking, one.pair, one.delta, claimed=one.claimed, samples=2_000).lower > 1.0


def test_laplace_at_98_percent_of_its_scale() -> None:
    start = time.process_time()
    bound = benchmark.audit(next(one for one in specimens() if one.name.endswith("x 0.98")))
    assert bound.refuted and bound.samples <= 3_000_000
    assert time.process_time() - start < 5  # of this process, whatever else the machine does


@pytest.mark.statistics
@pytest.mark.parametrize("one", SLOW, ids=names(SLOW))
def test_broken_mechanisms_that_need_many_runs(one: Specimen) -> None:
    bound = benchmark.audit(one)
    assert bound.refuted and bound.lower <= one.shown


def test_figures_of_sparse_vectors_are_those_of_their_runs() -> None:
    """Frequencies of 40,000 runs within 5.5 standard errors of the quadrature: false alarm below 1e-6."""
    answers = (0.0, 1.0, -1.0, 2.0)
    for variant in (SparseVector(2.0, 4.0, most=1), SparseVector(4.0, 4 / 3, most=2), SparseVector(2.0, 2.0)):
        runs = variant(answers, 40_000, np.random.default_rng(3))
        outputs = variant._outputs(len(answers))
        assert sum(variant.chance(answers, o) for o in outputs) == pytest.approx(1, abs=1e-12)
        for output in outputs:
            padded = [*output, *[STOPPED] * (len(answers) - len(output))]
            p = variant.chance(answers, output)
            seen = np.mean(np.all(runs == padded, axis=1))
            assert abs(seen - p) <= 5.5 * math.sqrt(p * (1 - p) / 40_000) + 1e-4


def test_exponential_chances() -> None:
    weights = [1.0, math.e, math.e, math.e, math.e]
    assert chances(1.0, OPPOSED[0]) == pytest.approx(np.array(weights) / sum(weights))


def test_the_page_is_about_this_zoo() -> None:
    """Every mechanism has its line with today's figures, and none is told wrongly."""
    text = benchmark.PAGE.read_text(encoding="utf-8")
    assert "WRONG" not in text and f" 0 of {len(specimens())} findings are wrong" in text
    for one in specimens():
        claim = benchmark.figure(one.claimed) + (f", delta {one.delta:g}" if one.delta else "")
        assert f"| {one.name} | {claim} | {benchmark.figure(one.epsilon)} | {benchmark.figure(one.on_pair)} |" in text
        assert f"| {one.name} | {one.reason} | {one.source} |" in text
