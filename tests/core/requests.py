"""Requests of each kind, as a curator makes them of a source."""

from __future__ import annotations

from typing import Any

import numpy as np

from refdp.privacy.curator import Request

VALUE = np.array([[0.0, 1.0, 2.5], [3.0, -1.0, 0.5]])


def release(mechanism: Any, value: Any = VALUE) -> Request:
    return Request("release", ("a", "b"), mechanism=mechanism, value=value)


def draw(*law: Any, size: Any = 5) -> Request:
    return Request("draw", ("a", "c"), law=law, size=size)


def assign(*law: Any, size: Any = 12) -> Request:
    return Request("assign", ("a", "d"), law=law, size=size)
