"""refdp: a reference for differentially private gradient boosted trees.

    from refdp import DPBoostClassifier

What is named here is imported when it is asked for: `import refdp` alone loads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "Categorical",
    "Classes",
    "Curator",
    "DPBoostClassifier",
    "DPBoostRegressor",
    "DPXGBoostClassifier",
    "DPXGBoostRegressor",
    "FedGBDTClassifier",
    "FedGBDTRegressor",
    "GroveClassifier",
    "GroveRegressor",
    "InPrivateClassifier",
    "InPrivateRegressor",
    "Interval",
    "KFoldByRecord",
    "Numeric",
    "PrivacyBudget",
    "PrivacyWarning",
    "Relation",
    "ReproducibleSeed",
    "SGBDTClassifier",
    "SGBDTRegressor",
    "SampleSource",
    "Schema",
    "UtilityWarning",
    "account",
    "audit_trainer",
    "grade",
    "make_records",
    "recommend",
    "select",
    "train_test_split_by_record",
]

if TYPE_CHECKING:
    from refdp.accounting import account
    from refdp.accounting.budget import PrivacyBudget
    from refdp.audit.grade import grade
    from refdp.audit.trainer import audit_trainer
    from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema, make_records
    from refdp.errors import PrivacyWarning, UtilityWarning
    from refdp.faces.estimators import (
        DPBoostClassifier,
        DPBoostRegressor,
        DPXGBoostClassifier,
        DPXGBoostRegressor,
        FedGBDTClassifier,
        FedGBDTRegressor,
        GroveClassifier,
        GroveRegressor,
        InPrivateClassifier,
        InPrivateRegressor,
        SGBDTClassifier,
        SGBDTRegressor,
    )
    from refdp.faces.recommend import recommend
    from refdp.faces.seeds import ReproducibleSeed
    from refdp.faces.select import select
    from refdp.faces.splits import KFoldByRecord, train_test_split_by_record
    from refdp.privacy.curator import Curator
    from refdp.privacy.events import Relation
    from refdp.privacy.sources import SampleSource
else:
    _HOME = {
        "account": "accounting",
        "audit_trainer": "audit.trainer",
        "grade": "audit.grade",
        "PrivacyBudget": "accounting.budget",
        "recommend": "faces.recommend",
        "select": "faces.select",
        "Curator": "privacy.curator",
        **dict.fromkeys(("KFoldByRecord", "train_test_split_by_record"), "faces.splits"),
        "PrivacyWarning": "errors",
        "UtilityWarning": "errors",
        "Relation": "privacy.events",
        "ReproducibleSeed": "faces.seeds",
        "SampleSource": "privacy.sources",
        **dict.fromkeys(("Categorical", "Classes", "Interval", "Numeric", "Schema", "make_records"), "data.records"),
    }

    def __getattr__(name: str) -> object:
        """PEP 562. Errors: AttributeError for a name that is not in `__all__`."""
        if name not in __all__:
            raise AttributeError(f"module 'refdp' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"refdp.{_HOME.get(name, 'faces.estimators')}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
