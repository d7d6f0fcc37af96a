"""Quality control and the end of InPrivate Digging's rounds (section VI-B): whether trees lower the error.

On public records, exactly and for nothing; or on each owner's records that no round uses, through noise that is paid
for there: parallel to the rounds, so that the run costs no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from refdp.checks import check_number
from refdp.data.losses import GRID, LARGEST, grid_floor, on_grid
from refdp.data.numbers import Number, absolute, log, rounded_up
from refdp.data.records import Categorical, Floats, Interval, Records
from refdp.noise.calibration import laplace
from refdp.noise.mechanisms import DiscreteLaplace, Laplace
from refdp.papers.inprivate import Params, clip
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation, Release, Sensitivity, records_changed
from refdp.protocols.messages import Turn

ADVANCE = {Relation.ADD_REMOVE: "inprivate/advance-sum", Relation.REPLACE_ONE: "inprivate/advance-sum-replace-one"}
Name = Literal["quality", "advance"]


@dataclass(frozen=True)
class Control:
    """How trees and rounds are measured. All of it is public.

    threshold: p, one more round follows if the mean error falls by more than p in a round (labels in [-1, 1]; for
      classes the share of wrong predictions). tolerance: a tree may raise the mean error by at most so much.
    bound: E, the change of one record's error is cut to [-E, E]. public: public records to measure on; without them
      each owner measures privately, at most one tree and one advance a round, epsilon / (2 rounds) each.
    """

    threshold: float = 0.0
    tolerance: float = 0.0
    bound: float = 1.0
    public: Records | None = None

    def __post_init__(self) -> None:
        check_number("threshold", self.threshold)
        check_number("tolerance", self.tolerance, least=0)
        check_number("bound", self.bound, above=GRID, most=LARGEST)

    @property
    def private(self) -> bool:
        """Whether it is measured on the owners' records."""
        return self.public is None

    def release(self, name: Name, params: Params) -> Release:
        """What one private measurement costs."""
        relation = params.relation
        declared = Sensitivity(rounded_up(advance_sensitivity, self.bound, relation), 1, ADVANCE[relation], relation)
        share = params.epsilon / (2 * params.rounds)
        mechanism, declared = laplace(share, declared, params.noise, touched=records_changed(relation))
        return Release(name, mechanism, declared)

    def measured(self, name: Name, params: Params, total: float, curator: Curator) -> float:
        """One private measurement, with its noise."""
        charge = self.release(name, params)
        noisy = curator.release(name, charge.mechanism, np.array([total]), sensitivity=charge.sensitivity)
        return float(noisy[0])

    def margin(self, params: Params, beta: float) -> float:
        """The guarantee of one private check (inprivate/control-margin).

        A tree that raises the total of the cut errors on the checking owner's records, tolerance taken off, by this
        much passes with probability at most beta; one that lowers it by as much is refused with at most beta.
        """
        mechanism = self.release("quality", params).mechanism
        assert isinstance(mechanism, Laplace | DiscreteLaplace)
        return float(margin(mechanism.scale, beta))


# --- Formulas, generic over numbers -----------------------------------------------------------------------------------


def error_change(before: Number, after: Number, tolerance: Number, bound: Number) -> Number:
    """|y - f_before| - |y - f_after| - p of a record, cut to [-E, E]: by how much its error falls by more than p.

    before, after: y - f(x); for classes 0 or 1, right or wrong. Sums above 0 mean an advance above p on average
    (Zhao et al. 2018, section VI-B), up to the cut, and need no count of the records.
    """
    return clip(absolute(before) - absolute(after) - tolerance, bound)


def advance_sensitivity(bound: Number, relation: Relation) -> Number:
    """E (add-remove), 2 E (replace-one): change of a sum of values in [-E, E], attained."""
    return records_changed(relation) * bound


def margin(scale: Number, beta: Number) -> Number:
    """b log(1 / (2 β)): Laplace noise of scale b exceeds it with probability β, for β <= 1/2."""
    return scale * log(1 / (2 * beta))


# --- Measurements -----------------------------------------------------------------------------------------------------


def scores_by(params: Params, records: Records, turns: Sequence[Turn]) -> Floats:
    """f of Eq. 16 by these turns, shape (outputs, rows); a function of each record alone."""
    categorical = np.array([isinstance(feature, Categorical) for feature in records.schema.features])
    scores = np.zeros((records.schema.scores, records.size))
    for turn in turns:
        for score, tree in zip(scores, turn.trees):
            score += params.shrinkage * tree.predict(records.x, categorical)
    return scores


def errors(records: Records, scores: Floats) -> Floats:
    """y - f of each record for regression (Eq. 17); for classes 1 where the prediction is wrong, else 0.

    Shape (records,).
    """
    if isinstance(records.schema.target, Interval):
        label = records.schema.label(0, records.y)
        return np.asarray(label - scores[0])
    predicted = np.argmax(scores, axis=0) if len(scores) > 1 else scores[0] > 0
    return np.asarray(predicted != records.y, dtype=np.float64)


def falls(params: Params, records: Records, before: Sequence[Turn], after: Sequence[Turn], tolerance: float,
          bound: float) -> Floats:  # fmt: skip
    """By how much each record's error falls beyond the tolerance, cut to [-bound, bound]; multiples of the grid.

    Shape (records,).
    """
    first, then = (errors(records, scores_by(params, records, turns)) for turns in (before, after))
    return on_grid(error_change(first, then, tolerance, grid_floor(bound)))


def on_public(
    params: Params, public: Records, before: Sequence[Turn], after: Sequence[Turn], tolerance: float
) -> float:
    """Total fall of the error beyond the tolerance on public records, uncut."""
    return float(falls(params, public, before, after, tolerance, 1e6).sum())
