"""What a mechanism is: all that curator, accountant, certificate and audits ask of a noise.

A class with these methods is a mechanism wherever one is named; nothing is registered. `value` is the true value on the
records, `other` the one on a neighbour; both have the shape that the value fixes.

    draws, apply                  its sampler: which standard draws it consumes, and the output as a function of them
    log_density, loss             its density, or mass, and the privacy loss of an output
    worst_loss, worst_output      the largest loss over all outputs
    divergence, renyi_cost        its moments: Rényi divergence of a pair of values, and of a declared sensitivity
    observed_change, pure_cost    the change of a value, to hold against a sensitivity; the pure ε of a sensitivity
    dominated                     its dominating pair, for accountants (`Supplying`); refdp's own are in
                                  refdp/accounting/releases.py

What is released is an event as it stands: `privacy.events.Release(name, mechanism, sensitivity)`.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from numpy.typing import ArrayLike, NDArray

from refdp.noise.draws import Draws, FloatArray
from refdp.privacy.events import Norm, Sensitivity


class Mechanism(Protocol):
    """A noise. Immutable and hashable: equal mechanisms are one in plans, transcripts and caches.

    Errors: all methods raise InvalidParameter for parameters, shapes, norms and orders outside their domain, and never
    for what depends on a record.
    """

    @property
    def STANDARD(self) -> str:
        """The kind of its standard draws (`draws.Draws.kind`); "discrete-..." for exact ones on a grid."""

    def draws(self, value: ArrayLike) -> Draws:
        """The standard draws that one application to `value` consumes.

        Of the value's shape for noise, (rows, options) for a choice.
        """

    def apply(self, value: ArrayLike, standard: ArrayLike) -> NDArray[Any]:
        """The output: a function of the value and of draws of the shape that `draws` tells, and of nothing else."""

    def log_density(self, value: ArrayLike, output: ArrayLike) -> FloatArray:
        """Log density, or log mass on a grid, per coordinate or row. Of noise it is greatest where output = value."""

    def loss(self, value: ArrayLike, other: ArrayLike, output: ArrayLike) -> FloatArray:
        """log p_value(output) - log p_other(output), per coordinate or row."""

    def worst_loss(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """The largest `loss` over all outputs, per coordinate or row; inf where there is none."""

    def worst_output(self, value: ArrayLike, other: ArrayLike) -> NDArray[Any]:
        """An output that attains the worst loss, or comes close where none does. Of the output's shape."""

    def divergence(self, value: ArrayLike, other: ArrayLike, order: float) -> float:
        """Rényi divergence of the joint output at one order > 0, in nats. Arrays of one shape in, one number out."""

    def observed_change(self, value: ArrayLike, other: ArrayLike, norm: Norm) -> float:
        """The change between the two values in this norm, to be held against a declared sensitivity.

        Arrays of one shape in, one number out.
        """

    def pure_cost(self, sensitivity: Sensitivity) -> float:
        """The pure ε of a declared sensitivity; inf if there is none."""

    def renyi_cost(self, sensitivity: Sensitivity, order: float) -> float:
        """The Rényi divergence at one order > 0 that a declared sensitivity allows, or a bound above it."""


@runtime_checkable
class Supplying(Mechanism, Protocol):
    """A mechanism that is not one of refdp's own: it says what it costs and which claim stands for that."""

    @property
    def claim(self) -> str:
        """Id of the ledger's claim about its cost; without one that stands a certificate establishes nothing."""

    def dominated(self, sensitivity: Sensitivity) -> object:
        """Its cost for accountants: a `Dominated` or one of the costs of refdp/accounting/releases.py."""
