"""What is known of one mechanism of the zoo."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from refdp.audit.runs import Vectorised


@dataclass(frozen=True)
class Specimen:
    """A mechanism with what it claims and what is true.

    pair: neighbours that show the most, as far as they are known. claimed, delta: the guarantee that it states.
    epsilon: the least epsilon at which (epsilon, delta) privacy holds for all neighbours, or inf, and `reason` why.
    on_pair: the least epsilon for this pair alone, where it is known exactly; never above `epsilon`.
    samples: runs a side within which an audit at a family-wise error of 1e-6 over the zoo refutes a wrong claim.
    source: publications and test suites that the mechanism is found in.
    """

    name: str
    mechanism: Vectorised
    pair: tuple[Any, Any]
    claimed: float
    epsilon: float
    reason: str
    source: str
    delta: float = 0.0
    on_pair: float | None = None
    samples: int = 100_000

    @property
    def broken(self) -> bool:
        """Whether the claim is false."""
        return self.epsilon > self.claimed * (1 + 1e-9)

    @property
    def shown(self) -> float:
        """The most that any audit of this pair can honestly show."""
        return self.epsilon if self.on_pair is None else min(self.on_pair, self.epsilon)

    def known(self) -> bool:
        """Whether the figures fit together."""
        return self.on_pair is None or self.on_pair <= self.epsilon + 1e-9 or math.isinf(self.epsilon)
