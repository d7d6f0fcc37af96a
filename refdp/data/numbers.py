"""The few functions that arithmetic alone does not give, generic over kinds of numbers.

A formula in refdp/papers runs on float64 arrays when training, and on Fractions, solver terms and balls when it is
proved. `+ - * /` are generic by themselves; these are not. Each dispatches on the kind of its arguments, so that other
kinds of numbers join by `minimum.register(TheirType, function)` (the proofs do) and refdp needs no solver.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from refdp.data import portable

Number = Any


class Generic:
    """A function of numbers with one implementation for each kind of number."""

    def __init__(self, name: str, default: Callable[..., Number]) -> None:
        self.name = name
        self._default = default
        self._kinds: dict[type, Callable[..., Number]] = {}

    def register(self, kind: type, function: Callable[..., Number]) -> None:
        """Use `function` whenever an argument is an instance of `kind`."""
        self._kinds[kind] = function

    def __call__(self, *numbers: Number) -> Number:
        for number in numbers:
            for kind, function in self._kinds.items():
                if isinstance(number, kind):
                    return function(*numbers)
        return self._default(*numbers)


minimum = Generic("minimum", np.minimum)
maximum = Generic("maximum", np.maximum)
absolute = Generic("absolute", np.abs)
exp = Generic("exp", portable.exp)
log = Generic("log", portable.log)
sqrt = Generic("sqrt", np.sqrt)


def _exact(function: Callable[..., Number]) -> Callable[..., Number]:
    """The exact counterpart for Fractions; floats that stand beside a Fraction are taken at their exact value."""

    def on_fractions(*numbers: Number) -> Number:
        return function(*(Fraction(number) for number in numbers))

    return on_fractions


minimum.register(Fraction, _exact(min))
maximum.register(Fraction, _exact(max))
absolute.register(Fraction, _exact(abs))
exp.register(Fraction, lambda number: portable.exp(float(number)))
log.register(Fraction, lambda number: portable.log(float(number)))
sqrt.register(Fraction, lambda number: np.sqrt(float(number)))
