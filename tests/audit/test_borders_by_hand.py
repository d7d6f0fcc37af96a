"""Borders where a claim is just kept, where a code just fits, and words for one and for many, each by hand."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import leaving, opened_replay
from refdp.audit.charge import Item
from refdp.audit.verdicts import Verdict
from refdp.data import kernels
from refdp.errors import InvalidRecords
from refdp.faces.commands import audit_run, train_dask
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.events import Relation


@pytest.mark.parametrize(("moves", "over"), [((1.0,), 0), ((0.5, 0.5), 0), ((0.5, 0.75), 1), ((2.0,), 1)])
def test_a_record_that_spends_just_the_claim_would_have_kept_it(moves: tuple[float, ...], over: int) -> None:
    """Laplace noise of scale 1 under a move of t costs t; the claim is 1, which is no violation."""
    items = [Item(Laplace(1.0), np.array([0.0]), np.array([move]), ()) for move in moves]
    found = leaving.Leaving(left=1, going_on=[(0.0, items)])
    assert found.refused(Relation.ADD_REMOVE, 1.0, 0.0) == over
    assert leaving.Leaving(1, 1, [(0.0, items)]).refused(Relation.ADD_REMOVE, 1.0, 0.0) == 0


@pytest.mark.parametrize("deviations", [(2.0,), (2.0, 5.0)], ids=["one", "several"])
def test_a_gaussian_release_costs_what_its_smallest_noise_does(deviations: tuple[float, ...]) -> None:
    """Phi(d/2s - e s/d) - exp(e) Phi(-d/2s - e s/d) (Balle and Wang 2018, Theorem 8), Phi by erfc."""

    def normal(x: float) -> float:
        return math.erfc(-x / math.sqrt(2.0)) / 2.0

    bound, epsilon = 3.0, 0.5
    ratio = bound / min(deviations)
    truth = normal(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * normal(-ratio / 2 - epsilon / ratio)
    call: Any = SimpleNamespace(epsilon=epsilon, delta=1e-3, bound=bound, norm=2, law=Gaussian(deviations))
    found = opened_replay.own_cost(call)
    assert found is not None and found[0] == 1e-3 and found[1] == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("bins", [2, 255, 256, 257, 65536])
def test_codes_have_the_smallest_type_that_holds_them(bins: int) -> None:
    """Codes are 0 to bins - 1."""
    assert np.dtype(kernels._code_type(bins)) == np.min_scalar_type(bins - 1)


@pytest.mark.parametrize(("number", "end"), [(0, ""), (1, ", 1 violation"), (2, ", 2 violations")])
def test_one_violation_is_one_and_two_are_many(number: int, end: str) -> None:
    verdict = Verdict.VIOLATION if number else Verdict.NOT_FOUND
    assert audit_run.verdict_text(verdict, number).plain == str(verdict) + end


@pytest.mark.parametrize(("number", "end"), [(1, "a"), (5, "e"), (6, "e and 1 more"), (8, "e and 3 more")])
def test_five_columns_without_bounds_are_named(number: int, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_dask, "given_domains", lambda bounds: {"y": (None, None)})
    with pytest.raises(InvalidRecords) as raised:
        train_dask._described("p", [*"abcdefgh"[:number], "y"], "y", Path("b"))
    names = "abcde"[:number]
    assert f" for {', '.join(names)[:-1]}{end}; give" in str(raised.value)
