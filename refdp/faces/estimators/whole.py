"""A fit succeeds, or leaves the estimator as it was: no attribute of one set of records beside the model of another.

What the caller would have of floating point (`numpy.seterr`) does not reach it: whether it warns or raises must not
follow from private values.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


@contextmanager
def or_as_before(estimator: Any, *kept: str) -> Iterator[None]:
    """What is fitted inside is taken back if it fails, or is interrupted. kept: attributes that stay as they are then.

    A budget's charge is not taken back: outputs may have been released.
    """
    before = dict(vars(estimator))
    try:
        with np.errstate(all="ignore"):
            yield
    except BaseException:
        now = vars(estimator)
        stay = before | {name: now[name] for name in kept if name in now}
        for name in now.keys() - stay.keys():
            del now[name]
        now.update(stay)
        raise
