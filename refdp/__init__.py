"""refdp: a reference for differentially private gradient boosted trees.

    from refdp import DPBoostClassifier

What is named here is imported when it is asked for: `import refdp` alone loads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "DPBoostClassifier",
    "DPBoostRegressor",
    "DPXGBoostClassifier",
    "DPXGBoostRegressor",
    "FedGBDTClassifier",
    "FedGBDTRegressor",
    "InPrivateClassifier",
    "InPrivateRegressor",
    "PrivacyWarning",
    "ReproducibleSeed",
    "SGBDTClassifier",
    "SGBDTRegressor",
    "audit_trainer",
]

if TYPE_CHECKING:
    from refdp.audit.trainer import audit_trainer
    from refdp.errors import PrivacyWarning
    from refdp.faces.estimators import (
        DPBoostClassifier,
        DPBoostRegressor,
        DPXGBoostClassifier,
        DPXGBoostRegressor,
        FedGBDTClassifier,
        FedGBDTRegressor,
        InPrivateClassifier,
        InPrivateRegressor,
        SGBDTClassifier,
        SGBDTRegressor,
    )
    from refdp.faces.seeds import ReproducibleSeed
else:

    def __getattr__(name: str) -> object:
        """PEP 562. Errors: AttributeError for a name that is not in `__all__`."""
        if name not in __all__:
            raise AttributeError(f"module 'refdp' has no attribute {name!r}")
        from importlib import import_module

        homes = {"PrivacyWarning": "errors", "ReproducibleSeed": "faces.seeds", "audit_trainer": "audit.trainer"}
        return getattr(import_module(f"refdp.{homes.get(name, 'faces.estimators')}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
