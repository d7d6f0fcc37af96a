"""No records at all: every sum is zero, of the shape that it would have. A training program on it tells its plan."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from refdp.data.candidates import Candidates
from refdp.data.following import Following
from refdp.data.population import (
    Bins,
    Encode,
    Histogram,
    Labels,
    Leaves,
    Nodes,
    Query,
    Reports,
    Root,
    Sides,
    Step,
    Sums,
)
from refdp.privacy.curator import Assigned

_ZERO = np.int64(0)


class Nothing:
    """A `Population` without records."""

    size = 0

    def __init__(self) -> None:
        self._candidates: Candidates | None = None
        self._features: tuple[int, ...] = ()
        self._following = Following()

    def tell(self, step: Step) -> None:
        """Take in one step; only what decides shapes is kept."""
        self._following.tell(step)
        match step:
            case Encode(candidates):
                self._candidates = candidates
            case Root(features):
                self._features = features

    def ask(self, query: Query) -> Sums:
        """Zeros, read-only. The shape is that of the query."""
        return np.broadcast_to(_ZERO, self._shape(query))

    def select(self, scope: int, draw: Callable[[int], Assigned]) -> None:
        """Nobody to draw for; the request is recorded all the same."""
        draw(0)

    def enter(self, scope: int, block: int) -> None:
        """Nobody is selected."""

    def leave(self) -> None:
        """Nobody is selected any more than before."""

    def _shape(self, query: Query) -> tuple[int, ...]:
        self._following.ask(query)
        match query:
            case Bins(of):
                return len(of), self._following.nodes, self._bins(self._features)
            case Sides(of, splits):
                return (len(splits), len(of), splits.shape[1], 2) if splits.ndim > 2 else (len(of), len(splits), 2)
            case Nodes(of):
                return len(of), self._following.nodes
            case Leaves(of):
                return len(self._following.leaves), len(of), self._following.leaves[0]
            case Histogram(of, features):
                return len(of), self._bins(features)
            case Labels():
                return (2,)
            case Reports(of, tree):
                return 0, len(of), self._following.leaves[tree]

    def _bins(self, features: tuple[int, ...]) -> int:
        assert self._candidates is not None, "Encode comes before sums in bins"
        return int(sum(self._candidates.bins[f] for f in features))
