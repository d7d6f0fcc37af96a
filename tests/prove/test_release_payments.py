"""Records that pay for what they change: at what rate, for one release, and at least its cost."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.data.population import COUNT
from refdp.noise.mechanisms import DiscreteGaussian, Gaussian, Laplace
from refdp.privacy.curator import ScopeRef
from refdp.prove.asking import name_of
from refdp.prove.releases import Unproved
from refdp.prove.tables import ALL, Axis, Sum, Table
from refdp.prove.terms import Unmodelled
from refdp.prove.unknown import Unknown
from tests.prove.test_release_bounds import NODES, PART, asked, between, counts, host


def paying(low: Any = 0, high: Any = 1, *, rate: float = 0.5) -> tuple[Unknown, Table]:
    """A host in whose state 0 records paid, and a count of those records; what they paid is between two numbers."""
    own = host()
    own.paid[0] = SimpleNamespace(rate=rate)  # type: ignore[assignment]
    own._memo["statistics", 0] = {COUNT: None, "cost": between(own, low, high)}, None
    cost = own._memo["own", 0, "cost", "z"] = between(own, low, high)
    own.record += own.known[name_of(cost)]
    return own, counts(PART, seats=NODES)


SAMPLE = ScopeRef(0, "s", "subsample", (0.5, 0.5), 0)


def test_a_record_has_paid_at_least_for_its_own_change() -> None:
    """(1 / sd)^2 up to (2 + a margin) times what was paid."""
    for paid, fine in ((Fraction(1, 2), True), (Fraction(1, 2) - Fraction(1, 2**20), False)):
        for sd, factor in ((1.0, 1), (0.5, 4)):
            own, _ = paying(paid * factor, 4)
            scoped = counts(PART, seats=NODES, scopes=((0, 0),))
            if fine:
                asked(own, scoped, Gaussian(sd), 9.0, 2, (SAMPLE,))
            else:
                with pytest.raises(Unproved, match="more than it pays"):
                    asked(own, scoped, Gaussian(sd), 9.0, 2, (SAMPLE,))


def test_a_charge_is_about_one_release_at_its_own_rate() -> None:
    own, value = paying(1, 4, rate=1.0)
    asked(own, value, Gaussian(1.0), 9.0, 2)
    with pytest.raises(Unproved, match="pay once"):
        asked(own, value, Gaussian(1.0), 9.0, 2)
    own, value = paying(1, 4)
    with pytest.raises(Unproved, match="rate 0"):
        asked(own, value, Gaussian(1.0), 9.0, 2)
    scoped = counts(PART, seats=NODES, scopes=((0, 0),))
    for wrong in (replace(SAMPLE, kind="partition"), replace(SAMPLE, method="without-replacement"),
                  replace(SAMPLE, weights=(0.25, 0.75))):  # fmt: skip
        own, _ = paying(1, 4)
        with pytest.raises(Unproved, match="about"):
            asked(own, scoped, Gaussian(1.0), 9.0, 2, (wrong,))
    own, _ = paying(1, 4, rate=1.0)
    with pytest.raises(Unproved, match="about"):
        asked(own, scoped, Gaussian(1.0), 9.0, 2, (SAMPLE,))
    own, value = paying(1, 4, rate=1.0)
    with pytest.raises(Unmodelled, match="budgets"):
        asked(own, value, Laplace(1.0), 9.0, 1)
    own, value = paying(1, 4, rate=1.0)
    with pytest.raises(Unmodelled, match="off the grid"):
        asked(own, value, DiscreteGaussian(1.0, 0.375), 9.0, 2)
    own, value = paying(1, 4, rate=1.0)
    mixed = Table((Axis("each", 2),), lambda index, world: Sum(index[0], COUNT, (), (), ALL, None))
    with pytest.raises(Unproved, match="pay once"):
        asked(own, mixed, Gaussian(1.0), 9.0, 2)


def test_a_record_pays_the_square_of_its_change() -> None:
    """What a record pays, c, is what it changes here: c^2 is at most 2 c up to 2."""
    value = Table((PART,), lambda index, world: Sum(0, "cost", (), NODES(index), ALL, None))
    own, _ = paying(Fraction(1, 2), 2, rate=1.0)
    asked(own, value, Gaussian(1.0), 9.0, 2)
    own, _ = paying(2, 2 + Fraction(1, 2**10), rate=1.0)
    with pytest.raises(Unproved, match="more than it pays"):
        asked(own, value, Gaussian(1.0), 9.0, 2)


def test_the_rate_of_a_sample_is_its_first_weight() -> None:
    scoped = counts(PART, seats=NODES, scopes=((0, 0),))
    for weights, fine in (((0.25, 0.75), True), ((0.75, 0.25), False)):
        own, _ = paying(1, 4, rate=0.25)
        if fine:
            asked(own, scoped, Gaussian(1.0), 9.0, 2, (replace(SAMPLE, weights=weights),))
        else:
            with pytest.raises(Unproved, match=r"rate 0\.25"):
                asked(own, scoped, Gaussian(1.0), 9.0, 2, (replace(SAMPLE, weights=weights),))
