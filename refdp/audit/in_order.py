"""Candidates in one order: a choice returns what was chosen, never its place, so that the order of candidates is free.

A program may list them as they come, best first say. The law of what is chosen is the same in any order; only which
candidates there are may not depend on a record.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from refdp.privacy.curator import Array, Assigned, Request, Source

_NUMBERS = "biuf"


class InOrder:
    """A source before another one, to which candidates and their utilities come in lexicographic order."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def release(self, request: Request) -> Array:
        """What the source answers, as places in the program's own order. Of the source's shape."""
        order = _order(request)
        if order is None or request.options is None or request.value is None:
            return self._source.release(request)
        told = replace(request, options=request.options[order], value=request.value[:, order])
        return np.asarray(order[self._source.release(told)])

    def draw(self, request: Request) -> Array:
        """The source's draws. Of the request's shape."""
        return self._source.draw(request)

    def assign(self, request: Request) -> Assigned:
        """The source's assignment. Of its shape."""
        return self._source.assign(request)


def _order(request: Request) -> NDArray[np.intp] | None:
    """Of the candidates, shape (options,); None where they are in order, or are no table of numbers with utilities."""
    options, value = request.options, request.value
    if options is None or value is None or type(options) is not np.ndarray or type(value) is not np.ndarray:
        return None
    if options.dtype.kind not in _NUMBERS or options.ndim not in (1, 2) or value.ndim != 2 or not options.size:
        return None
    if value.shape[1] != len(options):
        return None
    columns = (options,) if options.ndim == 1 else tuple(options.T[::-1])
    order = np.lexsort(columns)
    return None if np.array_equal(order, np.arange(len(order))) else order
