"""The answer of an accountant."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """One point (epsilon, delta) that a plan satisfies, with what is known about how tight it is.

    Asked for epsilon at a given delta, `epsilon` is the answer and `lower <= true epsilon <= upper = epsilon`; asked
    for delta at a given epsilon, the same holds of delta. "True" is the worst case over everything that the plan
    allows. `methods` maps every method that applies to its own upper bound, `method` names the smallest.
    """

    epsilon: float
    delta: float
    lower: float
    upper: float
    method: str
    methods: dict[str, float]
