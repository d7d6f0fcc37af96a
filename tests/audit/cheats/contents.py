"""Cheats that show only where contents are just so: crowds, and branches on what was computed from records."""

from __future__ import annotations

from typing import Any

import numpy as np

from refdp.noise.mechanisms import Exponential
from refdp.papers.published.dpboost import gain_sensitivity_as_published
from refdp.privacy.events import Sensitivity
from tests.audit.cheats.zoo import Entered, count, enter

CONTENTS: dict[str, Entered] = {}
LAMBDA = 0.1


def gains(records: Any, cuts: int) -> np.ndarray:
    """Eq. 3 of DPBoost for each cut of the first feature, shape (1, cuts); gradients are minus the labels."""
    gradients = -np.rint(records.y * 2**20) / 2**20
    left = np.nan_to_num(records.x[:, :1]) < np.linspace(0, 1, cuts + 2)[1:-1]
    sides = [(gradients @ side, side.sum(axis=0)) for side in (left, ~left)]
    return np.sum([total**2 / (size + LAMBDA) for total, size in sides], axis=0)[np.newaxis]


@enter(CONTENTS, "sensitivity")
def split_by_lemma_1(records: Any, curator: Any) -> Any:
    """A split by exponential mechanism, with twice the constant of DPBoost's Lemma 1 for its range."""
    bound = 2 * gain_sensitivity_as_published(1.0, LAMBDA)
    charged = Sensitivity(bound, "range", "dpboost/lemma-1", curator.relation)
    options = np.arange(3.0)[:, np.newaxis]
    return curator.release("split", Exponential(1 / bound), gains(records, 3), sensitivity=charged, options=options)


@enter(CONTENTS, "control flow")
def looks_at_a_full_house(records: Any, curator: Any) -> Any:
    """Tells whether there are at least ten records, and all of them are red and at most 0.2 old."""
    young = len(records.y) >= 10 and bool(np.all(records.x[:, 0] <= 0.2))
    if young:
        red = bool(np.all(records.x[:, 1] == 0))
        if red:
            return count(records, curator), "red"
    return count(records, curator)


@enter(CONTENTS, "not examined")
def never_reached(records: Any, curator: Any) -> Any:
    """A branch that no search of contents can find."""
    if np.sum(records.y) == 0.73211 and np.sum(records.x[:, 0]) == 1.13:
        return float(np.sum(records.y))
    return count(records, curator)
