"""Settings and records that the tests of the federated framework share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from refdp.audit.replay import Trainer
from refdp.data.records import Categorical, Classes, Interval, Numeric, Records, Schema, Target, make_records
from refdp.papers import fedgbdt, published
from refdp.privacy.events import Event, Relation, Release, children

FEATURES = (Numeric("a", 0.0, 1.0), Categorical("b", ("x", "y", "z")), Numeric("c", -5.0, 5.0), Numeric("d", 2.0, 2.0))
TARGETS: tuple[Target, ...] = (Interval(-1.0, 1.0), Classes(("no", "yes")), Classes(("p", "q", "r")))
BINARY = Schema(FEATURES[:3], TARGETS[1])

SPLITS = ("histogram", "partially-random", "totally-random")
UPDATES = ("averaging", "gradient", "newton")
CANDIDATES = ("uniform", "log", "iterative-hessian")
SMALL: dict[str, Any] = {"trees": 4, "depth": 2, "bins": 4, "rounds": 3}


def components() -> Iterator[dict[str, Any]]:
    """Every combination of C1, C2, C3, A1 and A2."""
    names = ("splits", "update", "candidates", "features_per_tree", "interactions", "batch")
    for values in itertools.product(SPLITS, UPDATES, CANDIDATES, (None, 1, 2), ("cyclic", "random"), (1, 3)):
        yield dict(zip(names, values, strict=True))


def params(relation: Relation = Relation.ADD_REMOVE, **changes: Any) -> fedgbdt.Params:
    """Small settings."""
    given = {"epsilon": 1.0, "relation": relation, "noise": "floating", **SMALL, **changes}
    made: fedgbdt.Params = published.params("fedgbdt", **given)
    return made


def records(target: Target, size: int = 40) -> Records:
    """Records with a missing value in seven, and one feature that is constant."""
    generator = np.random.default_rng(4)
    x = np.column_stack([generator.random(size), generator.integers(0, 3, size), generator.normal(0, 3, size)])
    x[::7, 2] = np.nan
    many = len(target.values) if isinstance(target, Classes) else 0
    y = generator.integers(0, many, size) if many else generator.uniform(-2, 2, size)
    return make_records(Schema(FEATURES, target), np.column_stack([x, np.full(size, 2.0)]), y.astype(np.float64))


def trainer(given: fedgbdt.Params) -> Trainer:
    """Training as the audits call it."""
    return lambda data, curator: fedgbdt.train(given, data, curator)


def releases(event: Event) -> list[Release]:
    """Every release, repetitions counted."""
    return [event] if isinstance(event, Release) else [r for child in children(event) for r in releases(child)]
