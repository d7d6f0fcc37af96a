"""Warnings that name the line which called the faces, however deep within them they are given.

Python shows a warning once for each line that it names: if that were a line of this package, the second of two fits
would be silent about its own records.

And silence. `muted` asks nothing of other threads: one filter stands before Python's own and fits any warning in the
context that is muted, and none elsewhere. What it fits is neither shown, raised nor remembered as shown. It stays where
it is put, since taking it away could undo what other threads do to filters meanwhile, and fits nothing any more.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

HERE = str(Path(__file__).parent) + os.sep
_silent: ContextVar[bool] = ContextVar("_silent", default=False)
_muted: ContextVar[bool] = ContextVar("_muted", default=False)


class _Here:
    """In the place of a filter's regular expression: it fits any text in a context that is muted."""

    pattern = "(?!)"  # what scikit-learn hands to its workers instead: it fits nothing

    def match(self, _: str) -> bool:
        """Whether the warning is given in a context that is muted."""
        return _muted.get()


_FILTER: Any = ("ignore", _Here(), Warning, None, 0)


@contextmanager
def silence() -> Iterator[None]:
    """Nothing is warned of inside, in this thread, whatever others do to Python's filters."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


@contextmanager
def muted() -> Iterator[None]:
    """Nothing at all is warned of inside, in this thread: as `silence`, and what Python and other packages warn of.

    What another thread, or a package inside, puts before all filters meanwhile comes before this one too, and threads
    that are started inside are none of this.
    """
    token = _muted.set(True)
    if not warnings.filters or warnings.filters[0] is not _FILTER:
        warnings.filters.insert(0, _FILTER)  # type: ignore[attr-defined]  # the list that is in use, at once
    try:
        with silence():
            yield
    finally:
        _muted.reset(token)


def warn(text: str, category: type[Warning]) -> None:
    """Warn of the nearest line outside of the faces."""
    if _silent.get():
        return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
