"""OpenDP measurements: a transformation chained with `make_laplace` or `make_gaussian`.

Read with opendp 0.16.0. While a package is open, chains remember their parts, so that an invocation reports the
aggregate that the transformation computes, its stability map at one record as the declared sensitivity, and the
measurement's privacy map as its declared cost. The chain has to be built inside the `with` block (in the audited
function). Other measurements are refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from refdp.audit.opened_door import Patch
from refdp.audit.opened_laws import NoiseCall
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace

Maker = Callable[..., Any]
LAWS: dict[str, tuple[Maker, Maker]] = {
    "make_laplace": (Laplace, functools.partial(DiscreteLaplace, step=1.0)),
    "make_gaussian": (Gaussian, functools.partial(DiscreteGaussian, step=1.0)),
}


def patches() -> list[Patch]:
    """Constructors that remember, and the one function that releases."""
    from opendp import combinators, core, measurements

    return [
        *(Patch(measurements, name, wrap=functools.partial(_remembering, name)) for name in LAWS),
        Patch(combinators, "make_chain_mt", wrap=_chaining),
        Patch(core, "measurement_invoke", _invoked, inside="site-packages/opendp"),
    ]


def _remembering(name: str, make: Maker) -> Maker:
    """A constructor of a measurement that notes its kind and scale on the measurement."""

    @functools.wraps(make)
    def wrapper(input_domain: Any, input_metric: Any, scale: float, *args: Any, **kwargs: Any) -> Any:
        measurement = make(input_domain, input_metric, scale, *args, **kwargs)
        measurement.noise = (name, float(scale))
        return measurement

    return wrapper


def _chaining(make: Maker) -> Maker:
    """The combinator, noting both parts on the chain."""

    @functools.wraps(make)
    def wrapper(measurement1: Any, transformation0: Any) -> Any:
        chain = make(measurement1, transformation0)
        chain.noise = getattr(measurement1, "noise", None)
        chain.before = transformation0
        return chain

    return wrapper


def _invoked(arguments: dict[str, Any]) -> NoiseCall:
    measurement, data = arguments["this"], arguments["arg"]
    noise, before = getattr(measurement, "noise", None), getattr(measurement, "before", None)
    if noise is None or before is None:
        raise InvalidParameter(f"{measurement}: allowed are transformations chained with {sorted(LAWS)} in the audit")
    name, scale = noise
    value = np.atleast_1d(np.asarray(before(data)))
    law = LAWS[name][bool(np.issubdtype(value.dtype, np.integer))](scale)
    pure = name == "make_laplace"
    return NoiseCall(
        law,
        value.astype(np.float64),
        float(before.map(1)),
        1 if pure else 2,
        float(measurement.map(1)) if pure else None,
    )
