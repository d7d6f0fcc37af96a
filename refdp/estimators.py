"""Private gradient boosted trees with scikit-learn's face.

    model = DPBoostClassifier(epsilon=2.0, relation="add-remove", bounds={"age": (0, 120), "work": ["a", "b"]},
                              classes=["no", "yes"]).fit(frame, labels)
    model.certificate_          what is promised, and on which machine-checked claims the promise rests

Bounds, categories, label range, classes and the neighbouring relation are part of the promise. Whatever is not given is
taken from the data (or assumed), and a `PrivacyWarning` says so.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from textwrap import indent
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from refdp import export_xgboost, frames, prediction, registry
from refdp.errors import InvalidParameter, InvalidRecords, PrivacyWarning
from refdp.estimators_owners import Owned
from refdp.estimators_sparse import SparseInput, SparseScores
from refdp.estimators_stream import Streaming
from refdp.events import Relation
from refdp.records import Classes, Feature, Floats, Interval, Schema, Target, make_records
from refdp.registry import Paper
from refdp.shapes import Shapes, shape_functions
from refdp.sparse import AnyRecords
from refdp.training import source_for, train, without_guarantee
from refdp.trees import Model

_SHARED = """

    epsilon: privacy budget. relation: "add-remove" or "replace-one", the neighbours of the guarantee.
    bounds: {column: (low, high) or [category, ...]}; a column is a name, or a position (x0 for the first) in an array.
      Two numbers are a range. Values outside are clamped, unknown categories count as missing.
    classes (classifiers): the public list of labels. label_bounds (regressors): the public range (low, high).
    as_published: the paper's own constants and algorithms, also where they are refuted; readings left at None follow.
    random_state: None for the operating system's entropy. Whoever knows or guesses a seed can subtract the noise, and
      two fits with one seed show what differs between their records without noise: keep it secret, use it once.
      Pickles of a fitted estimator leave it out.

    Fitted: model_ (released values only), certificate_, transcript_ (released outputs in order), n_features_in_,
    feature_names_in_ for data frames, classes_ for classifiers. No record stays in the fitted object.

    Further parameters, those of the paper:

"""


def _initialiser(module: Any, target_parameter: str, further: Mapping[str, Any]) -> Callable[..., None]:
    """`__init__` with the shared parameters and the fields of a paper's Params; readings default to None."""
    defaults: dict[str, Any] = {"epsilon": 1.0, "relation": None, "bounds": None, target_parameter: None, **further}
    for field in fields(module.Params):
        if field.name not in defaults:
            default = None if field.default is MISSING or field.name in module.AS_PUBLISHED else field.default
            defaults[field.name] = default
    defaults |= {"as_published": False, "random_state": None}
    keyword = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        + [inspect.Parameter(name, keyword, default=value) for name, value in defaults.items()]
    )

    def __init__(self: Any, **settings: Any) -> None:
        signature.bind(self, **settings)
        for name, value in (defaults | settings).items():
            setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def _unwrapped(value: Any) -> Any:
    """A number of numpy as the one of Python: np.arange is what grids are made of."""
    return value.item() if isinstance(value, np.generic) else value


def _range(bounds: Any) -> Interval:
    """The public label range. Errors: InvalidParameter unless it is two numbers."""
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise InvalidParameter(f"label_bounds = {bounds!r}: two numbers (low, high) are allowed") from None
    return Interval(low, high)


def _breaches(observed: list[str], target_unknown: bool, target_parameter: str) -> list[str]:
    """What was read off the records, as sentences; warns about them."""
    found = []
    if observed:
        names = ", ".join(observed[:5]) + f" and {len(observed) - 5} more" * (len(observed) > 5)
        found.append(f"the bounds of {names} were taken from the data (give bounds): no privacy guarantee holds")
    if target_unknown:
        what = "classes were" if target_parameter == "classes" else "label range was"
        found.append(f"the {what} taken from the data (give {target_parameter}): no privacy guarantee holds")
    if found:
        warnings.warn("; ".join(found), PrivacyWarning, stacklevel=3)
    return found


class _PrivateEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Parameters, validation and fitting, for any paper of the registry."""

    _paper: ClassVar[str]
    _target_parameter: ClassVar[str]

    def __init_subclass__(
        cls, *, paper: str | None = None, further: Mapping[str, Any] | None = None, **keywords: Any
    ) -> None:
        """paper: the registry's name; the class takes the fields of that paper's Params as keyword parameters.

        further: names and defaults of parameters of the estimator alone.
        """
        super().__init_subclass__(**keywords)
        if paper is not None:
            cls._paper = paper
            module = registry.paper(paper).module
            cls.__init__ = _initialiser(module, cls._target_parameter, further or {})  # type: ignore[method-assign]
            cls.__doc__ = f"{cls.__doc__}{_SHARED}{indent(inspect.getdoc(module.Params) or '', '    ')}"

    def fit(self, X: Any, y: Any) -> Self:
        """Train on records. X: array or data frame, NaN and None are missing values; y: one label a record.

        Errors: InvalidParameter before any record is touched; InvalidRecords for records that fit no public schema.
        Warns: PrivacyWarning about everything that was not given.
        """
        paper = registry.paper(self._paper)
        params = paper.params(self._settings(paper), as_published=self.as_published)
        source = source_for(params, self.random_state)
        if y is None:
            raise InvalidRecords("fit requires y to be passed, but the target y is None")
        frame = self._validated(X, reset=True)
        features, observed = self._described(frame)
        target, label, unknown = self._target(frames.labels(y))
        breaches = _breaches(observed, unknown, self._target_parameter)
        records = self._records(frame, Schema(features, target), label)
        run = train(paper, params, records, source)
        self.model_, self.transcript_ = run.model, run.transcript
        self.certificate_ = without_guarantee(run.certificate, breaches)
        return self

    def to_xgboost(self, path: str | Path, *, absent: export_xgboost.Absent = "missing", names: bool = False) -> None:
        """Write a model file that the xgboost library loads and predicts with; refdp/export_xgboost.py says what of.

        Post-processing of released values. Errors: InvalidParameter if the file cannot be written.
        """
        check_is_fitted(self)
        export_xgboost.write(self.model_, Path(path), absent=absent, names=names)

    def __getstate__(self) -> dict[str, Any]:
        """Once fitted without the seed: with it, whoever is given the pickle could subtract the noise."""
        state: dict[str, Any] = super().__getstate__()
        return state | {"random_state": None} if "model_" in state else state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags

    def _settings(self, paper: Paper) -> dict[str, Any]:
        named = {field.name: getattr(self, field.name) for field in fields(paper.module.Params)}
        given = {name: _unwrapped(value) for name, value in named.items() if value is not None}
        if "relation" not in given:
            text = "relation not given: the guarantee is about add-remove neighbours; say so with relation='add-remove'"
            warnings.warn(text, PrivacyWarning, stacklevel=3)
        return {"relation": Relation.ADD_REMOVE} | given

    def _validated(self, X: Any, *, reset: bool) -> Any:
        frame = frames.checked(X, self.bounds or {})
        validate_data(self, X=frame, reset=reset, skip_check_array=True)
        return frame

    def _described(self, frame: Any) -> tuple[tuple[Feature, ...], list[str]]:
        return frames.describe(frame, self.bounds or {})

    def _records(self, frame: Any, schema: Schema, label: Floats) -> AnyRecords:
        return make_records(schema, frames.encode(frame, schema.features), label)

    def _encoded(self, X: Any) -> Floats:
        check_is_fitted(self)
        return frames.encode(self._validated(X, reset=False), self.model_.schema.features)

    _breaches = staticmethod(_breaches)

    def _target(self, y: Any) -> tuple[Target, Floats, bool]:
        """Public target, labels as numbers, and whether the target was read off the labels."""
        raise NotImplementedError


class _PrivateClassifier(ClassifierMixin, _PrivateEstimator):  # type: ignore[misc]
    _target_parameter = "classes"

    def predict(self, X: Any) -> Any:
        """The class of the greatest score."""
        x = self._encoded(X)
        return self.classes_[prediction.classes(self.model_, x)]

    def predict_proba(self, X: Any) -> Floats:
        """Shape (rows, classes). Not calibrated: the probabilities nearest to the scores."""
        x = self._encoded(X)
        return prediction.probabilities(self.model_, x)

    def decision_function(self, X: Any) -> Floats:
        """Raw scores: shape (rows,) for two classes, positive for the second; else (rows, classes)."""
        x = self._encoded(X)
        raw = prediction.scores(self.model_, x)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # the noise of epsilon 1 drowns the few dozen records of a check
        return tags

    def _target(self, y: Any) -> tuple[Target, Floats, bool]:
        if self.classes is None and any(frames.text_of(label) in ("", "inf", "-inf") for label in y):
            raise InvalidRecords("a label is missing or infinite; every record needs a label")
        if self.classes is None:
            check_classification_targets(y)
        known = np.unique(y if self.classes is None else np.asarray(self.classes))
        if len(known) < 2:
            holds = f"{len(known)} class: {known.tolist()}"
            whence = f"y holds {holds}" if self.classes is None else f"classes holds {holds}"
            raise InvalidRecords(f"{whence}; at least two are needed, and classes=[...] can name them publicly")
        names = Classes(tuple(frames.text_of(label) for label in known))
        place = {name: float(index) for index, name in enumerate(names.values)}
        label = np.array([place.get(frames.text_of(one), np.nan) for one in y])
        if np.isnan(label).any():
            raise InvalidRecords(
                f"a label is missing or not in the public classes {known.tolist()}; every record needs one of them"
            )
        self.classes_ = known
        return names, label, self.classes is None


class _PrivateRegressor(RegressorMixin, _PrivateEstimator):  # type: ignore[misc]
    _target_parameter = "label_bounds"

    def predict(self, X: Any) -> Floats:
        """Values in the target's unit, inside the public range."""
        x = self._encoded(X)
        return prediction.scores(self.model_, x)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # the noise of epsilon 1 drowns the few dozen records of a check
        return tags

    def _target(self, y: Any) -> tuple[Target, Floats, bool]:
        try:
            label = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InvalidRecords("a label is no number; every record needs a finite label") from None
        if not np.isfinite(label).all():
            raise InvalidRecords("a label is NaN or infinite; every record needs a finite label")
        if self.label_bounds is not None:
            return _range(self.label_bounds), label, False
        if len(label) == 0 or label.min() == label.max():
            count = f"{len(label)} sample" + "s" * (len(label) != 1)
            raise InvalidRecords(f"no label range can be read off {count} of one value; give label_bounds=(low, high)")
        return Interval(float(label.min()), float(label.max())), label, True


class DPBoostClassifier(_PrivateClassifier, paper="dpboost"):
    """DPBoost (Li, Wu, Wen, He: AAAI 2020) for classes: regression on labels -1 and +1, one against the rest."""


class DPBoostRegressor(_PrivateRegressor, paper="dpboost"):
    """DPBoost (Li, Wu, Wen, He: AAAI 2020) for regression: square loss on labels scaled to [-1, 1]."""


class InPrivateClassifier(Owned, _PrivateClassifier, paper="inprivate"):
    """InPrivate Digging (Zhao et al., INFOCOM 2018) for classes: log loss in the 2yf form, one against the rest."""


class InPrivateRegressor(Owned, _PrivateRegressor, paper="inprivate"):
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


_ABSENT = {"absent": "zero"}


class DPXGBoostClassifier(SparseScores, _PrivateClassifier, paper="dpxgboost", further=_ABSENT):
    """DP-XGBoost (Grislain and Gonzalvez 2021) for classes: regression on labels -1 and +1, or log loss; one against
    the rest.

    absent: what the entries mean that a scipy sparse X does not hold, "zero" as scipy has it, or "missing" as xgboost.
    """


class DPXGBoostRegressor(SparseInput, _PrivateRegressor, paper="dpxgboost", further=_ABSENT):
    """DP-XGBoost (Grislain and Gonzalvez 2021) for regression: square loss on labels scaled to [-1, 1].

    absent: what the entries mean that a scipy sparse X does not hold, "zero" as scipy has it, or "missing" as xgboost.
    """


class FedGBDTClassifier(_Explained, _PrivateClassifier, paper="fedgbdt"):
    """The federated framework (Maddock et al., CCS 2022) for classes: log loss, one against the rest.

    Its methods by name: FedGBDTClassifier(**refdp.papers.fedgbdt.PRESETS["DP-EBM Newton"]).
    """


class FedGBDTRegressor(_Explained, _PrivateRegressor, paper="fedgbdt"):
    """The federated framework (Maddock et al., CCS 2022) for regression: square loss with clipped gradients, on labels
    scaled to [-1, 1]."""


class SGBDTClassifier(Streaming, _PrivateClassifier, paper="sgbdt"):
    """S-GBDT (Kirschte, Peinemann et al. 2023) for classes: log loss, one against the rest; learns on streams."""


class SGBDTRegressor(Streaming, _PrivateRegressor, paper="sgbdt"):
    """S-GBDT (Kirschte, Peinemann et al. 2023) for regression: square loss on labels in [-1, 1]; learns on streams."""
