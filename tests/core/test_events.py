"""What a kind of release is charged: planned with the declared sensitivity, established with the ledger's."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from refdp.data.records import Interval, Numeric, Schema
from refdp.noise.calibration import laplace_charge
from refdp.noise.mechanisms import DiscreteLaplace, Laplace
from refdp.papers import dpboost
from refdp.papers.published import dpboost as printed
from refdp.privacy.events import (
    Charge,
    Relation,
    Release,
    Repeat,
    Sensitivity,
    Sequential,
    children,
    expand,
    folded,
    proved,
)

DECLARED, PROVED = (Sensitivity(bound, 1, f"paper/{bound}", Relation.ADD_REMOVE) for bound in (1.0, 2.0))


class DeclaredAlone(Charge):
    """The mutant: a certificate would establish whatever is claimed."""

    def release(self, name: str, proved: bool) -> Release:
        return super().release(name, False)


def plans_both(charge: Charge) -> bool:
    """Whether the declared sensitivity is planned, and the proved one where the ledger's is asked for."""
    planned, established = charge.release("leaves", False), charge.release("leaves", True)
    return (planned, established) == (
        Release("leaves", charge.mechanism, charge.declared),
        Release("leaves", charge.mechanism, charge.proved),
    )


def test_a_charge_plans_the_declared_and_establishes_the_proved_sensitivity() -> None:
    assert plans_both(Charge(Laplace(1.0), DECLARED, PROVED))
    assert not plans_both(DeclaredAlone(Laplace(1.0), DECLARED, PROVED))


def test_on_a_grid_both_sensitivities_cover_what_rounding_adds() -> None:
    charge = laplace_charge(1.0, DECLARED, PROVED, "discrete", touched=2)
    assert isinstance(charge.mechanism, DiscreteLaplace) and charge.proved.claim == PROVED.claim
    value = np.array([0.4, 0.4]) * charge.mechanism.step
    for declared, plain in ((charge.declared, DECLARED), (charge.proved, PROVED)):
        change = plain.bound / 2 + np.array([0.3, -0.3]) * charge.mechanism.step
        assert np.abs(change).sum() == plain.bound
        assert plain.bound < charge.mechanism.observed_change(value, value + change, 1) <= declared.bound


@pytest.mark.parametrize("relation", list(Relation))
def test_discrete_noise_with_published_constants_establishes_what_the_ledger_proves(relation: Relation) -> None:
    """Not what the paper prints, which is refuted for one relation and larger than needed for the other."""

    def established(noise: Literal["floating", "discrete"]) -> float:
        params = printed.Params(1.0, relation, noise=noise, constants="published")
        return dpboost.certificate(params, Schema((Numeric("a", 0.0, 1.0),), Interval(-1.0, 1.0))).established.epsilon

    assert established("discrete") == pytest.approx(established("floating"), rel=1e-3)


def test_folding_keeps_apart_what_is_proved_differently() -> None:
    """Noise of one printed bound for all trees, while what is proved falls with the clip."""
    releases = [Release("leaves", Laplace(1.0), DECLARED, better) for better in (PROVED, PROVED, DECLARED)]
    assert folded(Sequential(tuple(releases))) == Sequential((Repeat(releases[0], 2), releases[2]))
    kept = expand(proved(folded(Sequential(tuple(releases))), Relation.ADD_REMOVE))
    spent = [release.sensitivity for release in children(kept) if isinstance(release, Release)]
    assert spent == [PROVED, PROVED, DECLARED]
