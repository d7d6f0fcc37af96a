"""Small public descriptions for Grove's tests, and equality up to rounding."""

from __future__ import annotations

from typing import Any

import pytest

from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema
from refdp.privacy.events import Relation

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
FEATURES = (Numeric("x", 0, 1), Categorical("c", ("a", "b", "d")), Numeric("flat", 2, 2), Numeric("z", -2, 2))
TWO, THREE = Schema(FEATURES, Classes(("no", "yes"))), Schema(FEATURES, Classes((3, 5, 9)))
REAL = Schema(FEATURES, Interval(-3, 5))
WORDS = Schema((FEATURES[1],), Classes(("no", "yes")))


def near(value: Any, relative: float = 1e-12) -> Any:
    return pytest.approx(value, rel=relative, abs=1e-300)
