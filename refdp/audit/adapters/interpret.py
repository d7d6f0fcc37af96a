"""InterpretML's differentially private explainable boosting machines, `interpret.privacy` (package interpret-core).

Read with interpret-core 0.7.8. All noise comes from one method, `Native.generate_gaussian_random(rng, stddev, count)`,
which returns noise that its callers add: to bin weights in `private_numeric_binning` and `private_categorical_binning`,
to sums of residuals in `boost`. The true values are read from the callers' local variables, and so is the sensitivity
that the noise of boosting is calibrated to. Train with a fixed `random_state` and `n_jobs=1`: split points are drawn by
the same generator, and have to be the same in the replay.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import numpy as np

from refdp.audit.opened_door import Patch
from refdp.audit.opened_laws import NoiseCall
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Gaussian

ROUNDING = 1e-7
"""Numbers of two results that differ by less differ by the rounding of sums alone (thousands of boosting steps)."""


def patches() -> list[Patch]:
    """The one noise function."""
    from interpret.utils._native import Native

    return [Patch(Native, "generate_gaussian_random", _gaussian)]


def _gaussian(arguments: dict[str, Any]) -> NoiseCall:
    frame = _caller(("private_numeric_binning", "private_categorical_binning", "boost"))
    held = frame.f_locals
    if frame.f_code.co_name == "boost":
        sums = held["term_update_tensor"]
        value = np.array([sums[start] for start in held["splits_iter"][:-1]], dtype=np.float64)
        fit = _caller(("fit",), "noise_scale_boosting").f_locals
        bound = float(fit["domain_size"] * fit["self"].learning_rate * fit["max_weight"])
    else:
        name = "uniform_weights" if frame.f_code.co_name == "private_numeric_binning" else "weights"
        value = np.asarray(held[name], dtype=np.float64)
        sample_weight = held["sample_weight"]
        bound = 1.0 if sample_weight is None else float(np.max(sample_weight))
    rng = arguments["rng"]
    generators = () if rng is None else (rng,)
    return NoiseCall(Gaussian(float(arguments["stddev"])), value, bound, 2, generators=generators, apart=True)


def _caller(names: tuple[str, ...], local: str = "") -> FrameType:
    """The nearest calling function of one of these names (that has a local variable of that name)."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in names and (not local or local in frame.f_locals):
            return frame
        frame = frame.f_back
    raise InvalidParameter(
        f"noise is drawn outside {names}: this version of interpret-core is not the one that was read"
    )
