"""Findings and pairs made for tests of pages."""

from __future__ import annotations

from typing import Any

import numpy as np

from refdp.audit.replay import Pair, Violation
from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema, make_records


def violation(kind: str = "cost", release: str = "leaves", declared: Any = 1.0, observed: Any = 2.0, loss: Any = 0.5,
              **witness: Any) -> Violation:  # fmt: skip
    return Violation(kind, release, declared, observed, loss, "", witness)


SCHEMA = Schema((Numeric("length", 0.0, 9.0), Categorical("colour", ("red", "green", "blue"))), Classes(("no", "yes")))
NUMBERS = Schema((Numeric("length", 0.0, 9.0), Categorical("colour", ("red", "green", "blue"))), Interval(-1.0, 1.0))


def a_pair(schema: Schema, old: bool = False) -> Pair:
    base = make_records(schema, np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 2.0]]), np.array([0.0, 1.0, 0.0]))
    new = make_records(schema, np.array([[4.5, 2.0]]), np.array([1.0]))
    other = make_records(schema, np.array([[5.0, np.nan]]), np.array([0.0])) if old else None
    return Pair(base, new, other, 1)
