"""How a trainer is entered into the zoo: what it claims, and, for a cheat, the kind of cheating.

A trainer is `train(records, curator)`: records.x of shape (rows, 2), a number in [0, 1] and one of three categories;
records.y in [-1, 1].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from refdp.data.records import Categorical, Interval, Numeric, Schema
from refdp.noise.mechanisms import Laplace
from refdp.privacy.events import Relation, Sensitivity

SCHEMA = Schema((Numeric("age", 0.0, 1.0), Categorical("colour", ("red", "green", "blue"))), Interval(-1.0, 1.0))


@dataclass(frozen=True)
class Entered:
    """One trainer. kind: of cheating, "" for an honest one."""

    name: str
    kind: str
    train: Callable[[Any, Any], Any]
    epsilon: float
    delta: float = 0.0


def enter(zoo: dict[str, Entered], kind: str = "", epsilon: float = 1.0, delta: float = 0.0) -> Callable[..., Any]:
    """Decorator: the trainer joins the zoo under its own name."""

    def entered(train: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        zoo[train.__name__] = Entered(train.__name__, kind, train, epsilon, delta)
        return train

    return entered


def declared(bound: float, norm: Any = 1) -> Sensitivity:
    """A sensitivity under add-remove."""
    return Sensitivity(bound, norm, "zoo", Relation.ADD_REMOVE)


def count(records: Any, curator: Any, epsilon: float = 1.0, name: str = "count") -> float:
    """A correct count: its sensitivity is 1."""
    exact = np.array([float(len(records.y))])
    return float(curator.release(name, Laplace(1.0 / epsilon), exact, sensitivity=declared(1.0))[0])
