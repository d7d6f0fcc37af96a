"""Trainers that release more where other outputs came out: what one recorded run of a pair does not show."""

from __future__ import annotations

from typing import Any

import pytest

import refdp
from refdp.audit.adaptive_runs import missed
from refdp.audit.verdicts import Verdict
from tests.audit.cheats.eighth import EIGHTH, count
from tests.audit.cheats.zoo import SCHEMA
from tests.audit.test_steered import needs_fork, row

pytestmark = needs_fork
FEW: dict[str, Any] = {"pairs": 4, "steps": 0, "counts": (0,)}


def tries(epsilon: float) -> Any:
    """As many counts as it takes until one is positive, six at most."""

    def train(records: Any, curator: Any) -> Any:
        for _ in range(6):
            noisy = count(records, curator, epsilon)
            if noisy > 0:
                break
        return noisy

    return train


@pytest.mark.parametrize("seed", [1, 4])
def test_tries_until_one_fits_are_found_along_other_paths(seed: int) -> None:
    """Most runs try once, at half of the claim; whether a run tries three times hangs on its noise."""
    cheat = EIGHTH["until_it_fits"]
    report = refdp.audit_trainer(cheat.train, SCHEMA, 1.0, seed=seed, first_only=True, **FEW)
    assert report.verdict is Verdict.VIOLATION and {one.kind for one in report.violations} == {"loss"}
    assert report.max_loss is not None and report.max_loss >= 1.5


def test_tries_within_the_claim_are_not_accused_and_the_runs_are_told() -> None:
    report = refdp.audit_trainer(tries(1.0 / 6.0), SCHEMA, 1.0, **FEW)
    assert not report.violations
    assert "do not release the same each time" in row(report, "composition").reason
    assert report.max_loss is not None and report.max_loss <= 1.0 + 1e-9


def test_a_trainer_that_always_releases_the_same_has_no_further_runs() -> None:
    report = refdp.audit_trainer(lambda records, curator: count(records, curator, 1.0), SCHEMA, 1.0, **FEW)
    assert (report.pairs, not report.violations) == (FEW["pairs"], True)
    reason = row(report, "composition").reason
    assert "do not release the same" not in reason
    assert "all 12 of which release the same (a path that fewer than 22% of runs take may have been missed" in reason


def test_a_path_of_missed_share_shows_in_none_of_the_runs_once_in_twenty() -> None:
    for alike in (1, 12, 300):
        assert (1 - missed(alike)) ** alike == pytest.approx(0.05)
