"""Privacy losses of the basic releases, in the exact forms that solvers and witnesses need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from proofs.checker.evidence import Identity
from refdp.data.numbers import absolute


def laplace_loss(value: Any, other: Any, output: Any, scale: Any) -> Any:
    """(|o - other| - |o - value|) / scale: log density of the output at `value` minus that at `other`."""
    return (absolute(output - other) - absolute(output - value)) / scale


def laplace_losses(values: Sequence[Any], others: Sequence[Any], outputs: Sequence[Any], scale: Any) -> Any:
    """The loss of several independent Laplace releases: the sum of their losses."""
    return sum(laplace_loss(v, w, o, scale) for v, w, o in zip(values, others, outputs, strict=True))


def selection_odds(chosen: Any, rest: Any, chosen_other: Any, rest_other: Any) -> Any:
    """p / p' of the chosen option, from its weight and the total weight of the rest, on a data set and a neighbour."""
    return chosen * (chosen_other + rest_other) / (chosen_other * (chosen + rest))


def exponent_costs(exponent: Callable[[Any, Any, Any], Any], utility_range: Callable[[Any], Any]) -> Identity:
    """The exponent(utility, epsilon, sensitivity) of the whole range, for half of it as sensitivity, is epsilon."""
    return Identity(
        "e B",
        lambda e, B: exponent(utility_range(B), e, utility_range(B) / 2),
        lambda e: e,
        positive=True,
        label="exponent over the range",
    )
