"""Private gradient boosted trees with scikit-learn's face.

    model = DPBoostClassifier(epsilon=2.0, relation="add-remove", bounds={"age": (0, 120), "work": ["a", "b"]},
                              classes=["no", "yes"]).fit(frame, labels)
    model.certificate_          what is promised, and on which machine-checked claims the promise rests

Bounds, categories, label range, classes and the neighbouring relation are part of the promise. Whatever is not given is
taken from the data (or assumed), and a `PrivacyWarning` says so.
"""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from refdp.data.records import Model
from refdp.faces.estimators.base import PrivateClassifier, PrivateRegressor
from refdp.faces.estimators.owners import Owned
from refdp.faces.estimators.settings import (
    DPBoostSettings,
    DPXGBoostSettings,
    FedGBDTSettings,
    GroveSettings,
    InPrivateSettings,
    SGBDTSettings,
    constructed,
)
from refdp.faces.estimators.sparse import SparseInput, SparseScores
from refdp.faces.estimators.stream import Streaming
from refdp.faces.estimators.weights import Weighing, WeighingClasses
from refdp.faces.explain import Shapes, shape_functions


@constructed
class DPBoostClassifier(DPBoostSettings, PrivateClassifier, paper="dpboost"):
    """DPBoost (Li, Wu, Wen, He: AAAI 2020) for classes: regression on labels -1 and +1, one against the rest."""


@constructed
class DPBoostRegressor(DPBoostSettings, PrivateRegressor, paper="dpboost"):
    """DPBoost (Li, Wu, Wen, He: AAAI 2020) for regression: square loss on labels scaled to [-1, 1]."""


@constructed
class InPrivateClassifier(InPrivateSettings, Owned, PrivateClassifier, paper="inprivate"):
    """InPrivate Digging (Zhao et al., INFOCOM 2018) for classes: log loss in the 2yf form, one against the rest."""


@constructed
class InPrivateRegressor(InPrivateSettings, Owned, PrivateRegressor, paper="inprivate"):
    """InPrivate Digging (Zhao et al., INFOCOM 2018) for regression: square loss with cut residuals, on labels scaled to
    [-1, 1]."""


class _Explained:
    model_: Model

    def explain(self) -> Shapes:
        """What each feature adds to the score, of a model whose trees have one feature each (features_per_tree=1).

        Post-processing of released values. Errors: InvalidParameter if a tree has several features.
        """
        check_is_fitted(self)
        return shape_functions(self.model_)


@constructed
class DPXGBoostClassifier(DPXGBoostSettings, SparseScores, PrivateClassifier, paper="dpxgboost"):
    """DP-XGBoost (Grislain and Gonzalvez 2021) for classes: regression on labels -1 and +1, or log loss; one against
    the rest.

    absent: what the entries mean that a scipy sparse X does not hold, "zero" as scipy has it, or "missing" as xgboost.
    """


@constructed
class DPXGBoostRegressor(DPXGBoostSettings, SparseInput, PrivateRegressor, paper="dpxgboost"):
    """DP-XGBoost (Grislain and Gonzalvez 2021) for regression: square loss on labels scaled to [-1, 1].

    absent: what the entries mean that a scipy sparse X does not hold, "zero" as scipy has it, or "missing" as xgboost.
    """


@constructed
class FedGBDTClassifier(FedGBDTSettings, _Explained, PrivateClassifier, paper="fedgbdt"):
    """The federated framework (Maddock et al., CCS 2022) for classes: log loss, one against the rest.

    Its methods by name: FedGBDTClassifier(**refdp.papers.fedgbdt.PRESETS["DP-EBM Newton"]).
    """


@constructed
class FedGBDTRegressor(FedGBDTSettings, _Explained, PrivateRegressor, paper="fedgbdt"):
    """The federated framework (Maddock et al., CCS 2022) for regression: square loss with clipped gradients, on labels
    scaled to [-1, 1]."""


@constructed
class SGBDTClassifier(SGBDTSettings, Streaming, WeighingClasses, PrivateClassifier, paper="sgbdt"):
    """S-GBDT (Kirschte, Peinemann et al. 2023) for classes: log loss, one against the rest; learns on streams."""


@constructed
class SGBDTRegressor(SGBDTSettings, Streaming, Weighing, PrivateRegressor, paper="sgbdt"):
    """S-GBDT (Kirschte, Peinemann et al. 2023) for regression: square loss on labels in [-1, 1]; learns on streams."""


@constructed
class GroveClassifier(GroveSettings, WeighingClasses, PrivateClassifier, paper="grove"):
    """Grove, refdp's own trainer (refdp/own/grove.py), for classes: log loss, one common tree for all classes."""


@constructed
class GroveRegressor(GroveSettings, Weighing, PrivateRegressor, paper="grove"):
    """Grove, refdp's own trainer (refdp/own/grove.py), for regression: square loss, residuals cut at a private
    quantile."""
