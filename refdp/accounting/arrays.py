"""The one array type of this package: float64 of any shape."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]


def per_order(log_moment: Array, orders: Array) -> Array:
    """ρ(α) = log E[R^α] / (α - 1)."""
    rho: Array = log_moment / (orders - 1)
    return rho
