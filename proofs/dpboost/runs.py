"""DPBoost's training under the curator: counterexamples as data sets, and exhaustive checks on a small scope.

The loss of the chosen split is enclosed rigorously from refdp's own gain; the replay of the whole run on the same data
sets must agree with it, else there is no counterexample.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from proofs.checker.enclosures import ARITHMETICS, Enclosure, working_precision
from refdp.audit.exhaustive import Row, worst_loss
from refdp.audit.replay import Pair
from refdp.audit.worst import worst_case
from refdp.data.memory import Memory
from refdp.data.records import Floats, Interval, Model, Numeric, Records, Schema, make_records
from refdp.papers import dpboost
from refdp.papers.dpboost import gain
from refdp.papers.published import dpboost as printed
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation

ALIKE = 30
"""Features that split the records by their label."""
CROWD = 40
"""Records of either label."""
SCHEMA = Schema((*(Numeric(f"a{k}", 0, 1) for k in range(ALIKE)), Numeric("b", 0, 1)), Interval(-1, 1))
LAMBDA = 1
TOLERANCE = 1e-9


def records(rows: list[tuple[int, int, int]]) -> Records:
    """One record for each (gradient of the first tree, value of all features a, value of feature b)."""
    x = np.array([[a] * ALIKE + [b] for _, a, b in rows], dtype=float)
    return make_records(SCHEMA, x, np.array([-gradient for gradient, _, _ in rows], dtype=float))


def crowds(relation: Relation) -> Pair:
    """A crowd of g* at a = 0, b = 1, one of -g* at a = 1, b = 0; a record of g* joins the first by a, the second by b.

    Under replace-one it takes the place of a record of g* that is with the others by a, with its like by b.
    """
    base = records([(1, 0, 1)] * CROWD + [(-1, 1, 0)] * CROWD)
    old = records([(1, 1, 1)]) if relation is Relation.REPLACE_ONE else None
    return Pair(base, records([(1, 0, 0)]), old, 0)


def gains(relation: Relation) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Eq. 3 of the splits by a and by b, with the new record and on the neighbour, exactly."""

    def crowd(like: int, unlike: int) -> Fraction:
        """The split into a crowd of g* with `like` more records of g*, and one of -g* with `unlike` more of g*."""
        return Fraction(gain(CROWD + like, CROWD + like, unlike - CROWD, CROWD + unlike, Fraction(LAMBDA)))

    if relation is Relation.ADD_REMOVE:
        return crowd(1, 0), crowd(0, 1), crowd(0, 0), crowd(0, 0)
    return crowd(1, 0), crowd(0, 1), crowd(0, 1), crowd(1, 0)


def split_loss(relation: Relation, arithmetic: type[Enclosure]) -> Fraction:
    """A lower bound of the loss of choosing b: log of its probability on the neighbour over that with the record.

    Algorithm 1 of depth 1 with epsilon_t = 1: exponent epsilon_nleaf G / (2 Delta G), epsilon_nleaf = 1/2, Lemma 1.
    """
    slope = Fraction(1, 2) / (2 * printed.gain_sensitivity_as_published(1, Fraction(LAMBDA)))
    a, b, other_a, other_b = (slope * value for value in gains(relation))
    with working_precision():
        others = [arithmetic.between(x, x).apply("exp") for x in (a - b, other_a - other_b)]
        odds = (others[0] * ALIKE + 1) / (others[1] * ALIKE + 1)
        low, _ = odds.apply("log").bounds()
    return Fraction(-1) if low is None else low


def published(relation: Relation, **settings: Any) -> printed.Params:
    """One tree of depth 1 with the printed constants, epsilon = 1, one public threshold a feature."""
    fixed: dict[str, Any] = {"trees": 1, "trees_per_ensemble": 1, "depth": 1, "bins": 1, "regularisation": LAMBDA}
    return printed.Params(1.0, relation, constants="published", **fixed, **settings)


def crowds_lose_more(relation: Relation) -> Mapping[str, Any] | None:
    """The loss of Algorithm 1 as printed on the crowds, if it exceeds epsilon_t = 1 rigorously and replay agrees."""
    split = min(split_loss(relation, arithmetic) for arithmetic in ARITHMETICS)
    params = published(relation)

    def train(data: Records, curator: Curator) -> Model:
        return dpboost.train(params, data, curator)

    replayed = abs(worst_case(train, crowds(relation), 1.0, reverse=True).loss or 0.0)
    if split <= 1 or replayed < float(split) - TOLERANCE:
        return None
    return {
        "data": f"{CROWD} records of gradient g* with a = 0, b = 1 and {CROWD} of -g* with a = 1, b = 0; a is {ALIKE} "
        "features",
        "changed record": "gradient g*, a = 0, b = 0" + (", was a = b = 1" if relation is Relation.REPLACE_ONE else ""),
        "parameters": "epsilon_t = 1, Depth_max = 1, lambda = 1, public thresholds",
        "output": "the split by b, leaves at their worst",
        "loss of the split": f"above {float(split):.6f}",
        "loss of the run, replayed": f"{replayed:.6f}",
    }


def candidates_tell() -> Mapping[str, Any] | None:
    """A threshold that is a candidate on one data set and not on its neighbour."""
    schema = Schema((Numeric("x", 0, 1),), Interval(-1, 1))
    params = published(Relation.ADD_REMOVE, candidates="data")

    def values(x: list[float]) -> Floats:
        column = np.array([x]).T
        records = make_records(schema, column, np.zeros(len(x)))
        return params.split_candidates(schema, Memory(records)).values[:, -1]

    one, both = values([0.25, 0.5]), values([0.25, 0.5, 0.75])
    extra = sorted(set(both) - set(one))
    if not extra:
        return None
    return {"data": "x = 1/4, 1/2", "new record": "x = 3/4", "output": f"split at {extra[-1]}", "loss": "infinite"}


ROWS: tuple[Row, ...] = tuple(((x,), y) for x in (0.0, 1.0) for y in (-1.0, 0.0, 1.0))


def small_scope(relation: Relation) -> Mapping[str, Any] | None:
    """The worst loss of the repaired algorithm over all neighbours of up to 3 of six records, if above epsilon."""
    schema = Schema((Numeric("x", 0, 1),), Interval(-1, 1))
    fixed: dict[str, Any] = {"trees": 2, "trees_per_ensemble": 1, "depth": 1, "bins": 1}
    params = dpboost.Params(1.0, relation, **fixed)
    worst = worst_loss(lambda data, curator: dpboost.train(params, data, curator), schema, ROWS, 3, relation)
    if worst.loss <= 1 + TOLERANCE:
        return None
    return {"first": worst.first, "second": worst.second, "outputs": worst.outputs, "loss": worst.loss}
