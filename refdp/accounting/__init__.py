"""From a plan of releases to epsilon: tight, never too small, down to delta = 1e-30.

Everything is loaded on first use, so that importing this package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from refdp.accounting import budgets, conversion, filters, gaussian, monte_carlo, plots, report
    from refdp.accounting.accountant import account
    from refdp.accounting.bound import Bound
    from refdp.accounting.calibration import calibrate, calibrate_count
    from refdp.accounting.divergence import renyi, renyi_epsilon
    from refdp.accounting.filters import IndividualFilter, IndividualOdometer
    from refdp.accounting.pure import pure_epsilon

_HOME = {
    "Bound": "bound",
    "IndividualFilter": "filters",
    "IndividualOdometer": "filters",
    "account": "accountant",
    "calibrate": "calibration",
    "calibrate_count": "calibration",
    "pure_epsilon": "pure",
    "renyi": "divergence",
    "renyi_epsilon": "divergence",
}
_MODULES = ("budgets", "conversion", "filters", "gaussian", "monte_carlo", "plots", "report")

__all__ = [
    "Bound",
    "IndividualFilter",
    "IndividualOdometer",
    "account",
    "budgets",
    "calibrate",
    "calibrate_count",
    "conversion",
    "filters",
    "gaussian",
    "monte_carlo",
    "plots",
    "pure_epsilon",
    "renyi",
    "renyi_epsilon",
    "report",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
