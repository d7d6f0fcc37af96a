"""What S-GBDT's training asks of the records, and records in one place: the private half of the algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from refdp.losses import SQUARE, Loss, on_grid
from refdp.papers.sgbdt_budget import Accounts, Budget
from refdp.papers.sgbdt_formulas import clipped
from refdp.papers.sgbdt_splits import Domain, leaf_of
from refdp.records import Floats
from refdp.trees import Ensemble

Flags = NDArray[np.bool_]


class Held(Protocol):
    """The records of one score's training, wherever they are. Sums are multiples of the public grid, exact."""

    @property
    def size(self) -> int:
        """How many records there are: slots for the secret sample. PRIVATE."""

    def label_sums(self, low: float, high: float) -> tuple[float, float]:
        """Number of records and sum of their labels clamped to [low, high]."""

    def begin(self, initial: float) -> None:
        """Add the released initial score to every record's score."""

    def place(self, splits: Floats) -> None:
        """Every record in its leaf of a new tree."""

    def charge(self) -> None:
        """Every record that can pay its own cost of this round now has, sampled or not; the others sit it out."""

    def sums(self, sampled: Flags) -> Floats:
        """Sums of clipped gradients and Hessians over the sampled records of every leaf, empty ones too: (leaf, 2)."""

    def advance(self, values: Floats) -> None:
        """Add the leaf values of the new tree to the scores."""


@dataclass(frozen=True)
class Rules:
    """How a record's statistics and its cost follow from its score and label: public.

    leaves: of every tree. cost: the t of every record from its gradient and Hessian. budget: of every account.
    """

    domain: Domain
    leaves: int
    loss: Loss
    gradient_bound: float
    hessian_bound: float
    cost: Callable[[Floats, Floats | float], Floats]
    budget: Budget

    def derivatives(self, score: Floats, label: Floats) -> tuple[Floats, Floats | float]:
        """Clipped gradients and Hessians on the public grid; for square loss every Hessian is 1."""
        with np.errstate(over="ignore"):  # exp(-s) = inf gives the limit, and a warning would tell of a record's score
            gradient = clipped(on_grid(self.loss.gradient(score, label)), -self.gradient_bound, self.gradient_bound)
            if self.loss is SQUARE:
                return gradient, 1.0
            return gradient, clipped(on_grid(self.loss.hessian(score, label)), 0.0, self.hessian_bound)


@dataclass(repr=False)
class Holder:
    """Records in one place: their labels, scores and accounts. Never part of a model, and never printed."""

    rules: Rules
    x: Floats = field(init=False)
    label: Floats = field(init=False)
    score: Floats = field(init=False)
    accounts: Accounts = field(init=False)
    _leaf: NDArray[np.uint8] = field(init=False)
    _active: Flags | None = field(init=False, default=None)
    _derivatives: tuple[Floats, Floats | float] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.x = np.empty((0, len(self.rules.domain.low)))
        self.label, self.score = np.empty(0), np.empty(0)
        self.accounts = Accounts(self.rules.budget)

    def admit(self, x: Floats, label: Floats, released: Ensemble) -> None:
        """New records, each with a fresh budget. Their scores are those of the trees so far."""
        score = released.score(x, self.rules.domain.categorical)
        self.x = x if not len(self.x) else np.asfortranarray(np.concatenate([self.x, x]))
        self.label, self.score = np.concatenate([self.label, label]), np.concatenate([self.score, score])
        self.accounts.open(len(label))

    def replace(self, rows: NDArray[np.intp], x: Floats, label: Floats, released: Ensemble) -> None:
        """New content for the records at these positions: same accounts, scores of the trees so far."""
        self.x = np.array(self.x, order="F")
        self.x[rows], self.label[rows] = x, label
        self.score[rows] = released.score(x, self.rules.domain.categorical)

    @property
    def size(self) -> int:
        """As `Held.size`."""
        return len(self.label)

    def label_sums(self, low: float, high: float) -> tuple[float, float]:
        """As `Held.label_sums`."""
        return float(self.size), float(on_grid(clipped(self.label, low, high)).sum())

    def begin(self, initial: float) -> None:
        """As `Held.begin`."""
        self.score += initial

    def place(self, splits: Floats) -> None:
        """As `Held.place`."""
        self._leaf = leaf_of(self.x, splits, self.rules.domain.categorical)
        self._active = self._derivatives = None

    def charge(self) -> None:
        """As `Held.charge`."""
        self._derivatives = gradient, hessian = self.rules.derivatives(self.score, self.label)
        self._active = self.accounts.charge(self.rules.cost(gradient, hessian))

    def sums(self, sampled: Flags) -> Floats:
        """As `Held.sums`."""
        rows = np.flatnonzero(sampled if self._active is None else sampled & self._active)
        gradient, hessian = self._taken(rows)
        leaf, leaves = self._leaf[rows], self.rules.leaves
        support = np.bincount(leaf, None if isinstance(hessian, float) else hessian, leaves)
        return np.column_stack([np.bincount(leaf, gradient, leaves), support])

    def _taken(self, rows: NDArray[np.intp]) -> tuple[Floats, Floats | float]:
        """The derivatives of these rows, from `charge` if all are at hand."""
        if self._derivatives is None:
            return self.rules.derivatives(self.score[rows], self.label[rows])
        gradient, hessian = self._derivatives
        return gradient[rows], hessian if isinstance(hessian, float) else hessian[rows]

    def advance(self, values: Floats) -> None:
        """As `Held.advance`."""
        self.score += values[self._leaf]
