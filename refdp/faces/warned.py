"""Warnings that name the line which called the faces, however deep within them they are given.

Python shows a warning once for each line that it names: if that were a line of this package, the second of two fits
would be silent about its own records.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

HERE = str(Path(__file__).parent) + os.sep
_silent: ContextVar[bool] = ContextVar("_silent", default=False)


@contextmanager
def silence() -> Iterator[None]:
    """Nothing is warned of inside, in this thread, whatever others do to Python's filters."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def warn(text: str, category: type[Warning]) -> None:
    """Warn of the nearest line outside of the faces."""
    if _silent.get():
        return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
