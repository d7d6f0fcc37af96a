"""A share of a test's cases for `make test`; the others are marked `statistics` and run with `make statistics`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

LATER = pytest.mark.statistics


def thinned(cases: Iterable[Any], every: int = 3) -> list[Any]:
    """Cases number 0, `every`, 2 `every`, ... as they are, the others marked. A tuple is one case of several values."""
    return [
        case if index % every == 0 else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=LATER)
        for index, case in enumerate(cases)
    ]
