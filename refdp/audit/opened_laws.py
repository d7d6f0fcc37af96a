"""Output distributions of foreign noise that refdp's own mechanisms lack, and what an opened call says about itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from refdp.errors import InvalidParameter
from refdp.noise.divergences import table_divergence
from refdp.noise.draws import FloatArray, IntArray, check_order, check_positive
from refdp.noise.exponential import Exponential, utilities
from refdp.privacy.curator import Array
from refdp.privacy.events import Norm, Sensitivity


class Law(Protocol):
    """The part of a mechanism that a replay needs: see `refdp.noise.mechanisms`."""

    def loss(self, value: ArrayLike, other: ArrayLike, output: ArrayLike) -> FloatArray:
        """Privacy loss of the output. Shape: that of the output, or (rows,) for selections."""

    def worst_loss(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """Largest loss over all outputs. Shape as of `loss`."""

    def divergence(self, value: ArrayLike, other: ArrayLike, order: float) -> float:
        """Renyi divergence. A number, over all entries."""

    def observed_change(self, value: ArrayLike, other: ArrayLike, norm: Norm) -> float:
        """Change of the true value. A number, in the norm that is asked for."""

    def pure_cost(self, sensitivity: Sensitivity) -> float:
        """Cost of a declared sensitivity."""


@dataclass(frozen=True)
class PermuteAndFlip:
    """Options in random order, each taken with probability q_c = exp(coefficient (u_c - max u)), until one is taken.

    P(c) = q_c ∫₀¹ Π_{j != c} (1 - t q_j) dt: arrival times are uniform, and c is chosen if nobody before was
    (McKenna and Sheldon 2020). The integrand is a polynomial, so Gauss-Legendre quadrature is exact up to rounding.
    value: utilities of shape (rows, options); output: chosen options, shape (rows,).
    """

    coefficient: float

    def __post_init__(self) -> None:
        check_positive("coefficient of permute-and-flip", self.coefficient)

    def log_probabilities(self, value: ArrayLike) -> FloatArray:
        """Log probabilities of all options, shape (rows, options)."""
        table = utilities(value)
        log_taken = self.coefficient * (table - table.max(axis=1, keepdims=True))
        taken = np.exp(log_taken)
        nodes, weights = np.polynomial.legendre.leggauss((table.shape[1] + 1) // 2)
        times = (nodes + 1.0) / 2.0
        passed = 1.0 - times[:, np.newaxis, np.newaxis] * taken  # (times, rows, options)
        others = np.prod(passed, axis=2, keepdims=True) / passed
        return np.asarray(log_taken + np.log(np.tensordot(weights / 2.0, others, axes=1)))

    def loss(self, value: ArrayLike, other: ArrayLike, output: ArrayLike) -> FloatArray:
        """log P(output) - log P'(output), shape (rows,)."""
        losses = self.log_probabilities(value) - self.log_probabilities(other)
        return np.asarray(np.take_along_axis(losses, np.asarray(output, dtype=np.int64)[:, np.newaxis], axis=1)[:, 0])

    def worst_loss(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """The largest loss over the options, shape (rows,)."""
        return np.asarray((self.log_probabilities(value) - self.log_probabilities(other)).max(axis=1))

    def worst_output(self, value: ArrayLike, other: ArrayLike) -> IntArray:
        """An option of largest loss in every row. Array of shape (rows,)."""
        losses = self.log_probabilities(value) - self.log_probabilities(other)
        return np.asarray(np.argmax(losses, axis=1), dtype=np.int64)

    def divergence(self, value: ArrayLike, other: ArrayLike, order: float) -> float:
        """Σ_rows D_α."""
        check_order(order)
        log_p, log_q = self.log_probabilities(value), self.log_probabilities(other)
        return float(table_divergence(log_p, log_q, log_p - log_q, order).sum())

    def observed_change(self, value: ArrayLike, other: ArrayLike, norm: Norm) -> float:
        """As for the exponential mechanism. A number."""
        return Exponential(self.coefficient).observed_change(value, other, norm)

    def pure_cost(self, sensitivity: Sensitivity) -> float:
        """At most that of the exponential mechanism with the same coefficient (McKenna and Sheldon 2020, Theorem 3)."""
        return Exponential(self.coefficient).pure_cost(sensitivity)


@dataclass(frozen=True)
class Unknown:
    """Noise whose distribution refdp does not know: a name and its parameters. Only true values are compared.

    absent: there is no noise, since its scale is 0 or no number: any change of the true value shows as it is.
    """

    name: str
    parameters: tuple[float, ...] = ()
    absent: bool = False

    def __str__(self) -> str:
        """For people."""
        scale = ", ".join(f"{one:g}" for one in self.parameters)
        return f"{self.name}: no noise" if self.absent else f"{self.name}({scale}), of unknown law"

    def loss(self, value: ArrayLike, other: ArrayLike, output: ArrayLike) -> FloatArray:
        """Not known: NaN, shape (); infinite without noise."""
        return np.asarray(math.inf if self.absent else math.nan)

    def worst_loss(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """Not known: NaN, shape (); infinite without noise."""
        return np.asarray(math.inf if self.absent else math.nan)

    def divergence(self, value: ArrayLike, other: ArrayLike, order: float) -> float:
        """Not known: NaN."""
        return math.nan

    def observed_change(self, value: ArrayLike, other: ArrayLike, norm: Norm) -> float:
        """Σ |v - v'|, or the Euclidean norm. A number."""
        difference = np.asarray(value, dtype=np.float64) - np.asarray(other, dtype=np.float64)
        return float(np.linalg.norm(difference)) if norm == 2 else float(np.abs(difference).sum())

    def pure_cost(self, sensitivity: Sensitivity) -> float:
        """Not known."""
        return math.nan


@dataclass(frozen=True)
class NoiseCall:
    """What one call of a noise function says about itself.

    law: the noise that it adds. value: the true value, an array. bound: declared sensitivity in `norm`, None if there
    is none. epsilon, delta: declared cost of the call, None if it declares none. generators: generators it draws from.
    options: what a selection returns one of, None if it returns an index. apart: the function returns the noise alone
    and its caller adds it; a replay gives the noise that leads to the recorded output, up to the rounding of a sum.
    read: the output in what was returned, where that is neither. install: puts a recorded output where the function
    would have left it, for functions that change an object; in a replay its result is returned.
    """

    law: Law
    value: Array
    bound: float | None
    norm: Norm
    epsilon: float | None = None
    delta: float = 0.0
    generators: tuple[Any, ...] = ()
    options: tuple[Any, ...] | None = None
    apart: bool = False
    read: Callable[[Any], Array] | None = None
    install: Callable[[Array], Any] | None = None

    def answer(self, returned: Any) -> Array:
        """The output in what the function returned: an array like the value, or chosen indices for a selection.

        Shape: the value's, or (rows,).
        Errors: InvalidParameter for nothing, or an option that was not offered.
        """
        if self.read is not None:
            return self.read(returned)
        if returned is None:
            raise InvalidParameter("it returned None: a noise function has to return what it released")
        if self.norm != "range":
            output = np.atleast_1d(np.asarray(returned, dtype=np.float64))
            return self.value + output if self.apart else output
        if self.options is None:
            return np.atleast_1d(np.asarray(returned, dtype=np.int64))
        if returned not in self.options:
            raise InvalidParameter(f"{returned!r} was chosen, which is none of the {len(self.options)} options")
        return np.array([self.options.index(returned)])

    def giving(self, output: Array, like: Any) -> Any:
        """What the function would have returned with this output, in the shape and type of what it returned before.

        Errors: InvalidParameter where an output cannot be put into what is returned.
        """
        if self.install is not None:
            return self.install(output)
        if self.read is not None:
            raise InvalidParameter("what the function returns cannot be made of an output")
        if self.norm == "range":
            return int(output[0]) if self.options is None else self.options[int(output[0])]
        shown = output - self.value if self.apart else output
        if np.ndim(like):
            return np.asarray(shown, dtype=np.asarray(like).dtype).reshape(np.shape(like))
        return type(like)(shown[0])
