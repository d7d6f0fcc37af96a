"""What all estimators share: parameters, validation, fitting, and the two kinds of targets."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from numbers import Real
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from refdp.accounting.budget import PrivacyBudget, ScopedBudget
from refdp.checks import check_epsilon, plain
from refdp.data.records import (
    Categorical,
    Classes,
    Feature,
    Floats,
    Interval,
    Model,
    Schema,
    Target,
    as_float,
    make_records,
    weighed,
)
from refdp.data.shards import check_records_each
from refdp.data.sparse import AnyRecords
from refdp.errors import InvalidParameter, InvalidRecords, PrivacyWarning
from refdp.faces import prediction, registry, released
from refdp.faces.budgets import charge
from refdp.faces.defaults import params_for
from refdp.faces.estimators.distributed import elsewhere, fit_elsewhere, predicted
from refdp.faces.estimators.labels import check_kind, observed_classes, public_classes, renumbered
from refdp.faces.estimators.saved import Saved
from refdp.faces.estimators.settings import check_given, constructed, explained, unweighed
from refdp.faces.estimators.types import BaseEstimator, ClassifierMixin, RegressorMixin
from refdp.faces.estimators.weights import sample_weights
from refdp.faces.estimators.whole import or_as_before
from refdp.faces.monotone import Given, check_constraints, constrained, signs
from refdp.faces.registry import Paper
from refdp.faces.repeats import remember, repeated
from refdp.faces.seeds import ReproducibleSeed, generator_for, seeded
from refdp.faces.strength import warn_of_noise
from refdp.faces.training import assuming, source_for, train, without_guarantee
from refdp.faces.warned import warn
from refdp.io import export_xgboost, frames
from refdp.io.cells import places
from refdp.ledger.certificate import Certificate
from refdp.privacy.events import Relation

_SHARED = """

    epsilon: privacy budget. relation: "add-remove" or "replace-one", the neighbours of the guarantee.
    bounds: {column: (low, high) or [category, ...]}; a column is a name, or a position (x0 for the first) in an array.
      Two numbers are a range. Values outside are clamped, unknown categories count as missing.
    classes (classifiers): the public list of labels. Give y with these labels themselves: tools that number the labels
      that occur (VotingClassifier, StackingClassifier, BaggingClassifier, cross_val_predict of probabilities) rename
      all others for one record of a rare class, which no certificate sees (docs/choosing.md).
    label_bounds (regressors): the public range (low, high).
    settings: parameters left at None follow a public table of epsilon, delta, task, classes and rows ("default", see
      refdp/faces/defaults.py), or are what the paper prints ("paper").
    rows: a public round number of records, which that table uses; 10,000 is assumed. It is never counted.
    monotone_constraints: {column: sign}, or one sign a feature: 1 where predictions must not fall as the feature rises,
      -1 where they must not rise, 0 for none. Released leaf values are moved, which costs nothing
      (refdp/faces/monotone.py); numeric features, and regressions or two classes.
    budget: a `refdp.PrivacyBudget`, or `budget.on("name")`, that this and other fits share: a fit is charged before it
      touches a record, and refused if too little is left. Without one, or with another one, a second fit on the same
      records warns, as far as that is seen (refdp/faces/repeats.py).
    as_published: the paper's own constants and algorithms, also where they are refuted; what is left at None follows.
    insecure_seed: None for the operating system's entropy, or a `refdp.ReproducibleSeed` for experiments that have to
      be repeatable: whoever knows it can subtract the noise, so it is secret and for one use. Nothing shows it.

    Fitted: model_ (released values only), certificate_, transcript_ (released outputs in order), n_features_in_,
    feature_names_in_ for data frames, classes_ for classifiers. No record stays in the fitted object.

    Further parameters, those of the paper:

"""


def _unwrapped(value: Any) -> Any:
    """A number of numpy as the one of Python: np.arange is what grids are made of. So are those of other classes."""
    return plain(value.item() if isinstance(value, np.generic) else value)


def _range(bounds: Any) -> Interval:
    """The public label range. Errors: InvalidParameter unless it is two numbers."""
    try:
        low, high = (as_float(bound) if isinstance(bound, Real) else float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise InvalidParameter(f"label_bounds = {bounds!r}: two numbers (low, high) are allowed") from None
    return Interval(low, high)


def _fitted_bounds(model: Model) -> frames.Bounds:
    """What a model was fitted with, whatever the parameter is now."""
    return {f.name: f.categories if isinstance(f, Categorical) else (f.low, f.high) for f in model.schema.features}


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
        warn("; ".join(found), PrivacyWarning)
    return found


@constructed
class PrivateEstimator(Saved, BaseEstimator):
    """Parameters, validation and fitting, for any paper of the registry."""

    _paper: ClassVar[str]
    _target_parameter: ClassVar[str]
    _regression: ClassVar[bool]

    epsilon: float = 1.0
    relation: Relation | Literal["add-remove", "replace-one"] | None = None
    bounds: Mapping[Any, Sequence[Any]] | None = None
    as_published: bool = False
    settings: Literal["default", "paper"] = "default"
    rows: int | None = None
    monotone_constraints: Given = None
    budget: PrivacyBudget | ScopedBudget | None = None
    insecure_seed: ReproducibleSeed | None = None

    def __init_subclass__(cls, *, paper: str | None = None, **keywords: Any) -> None:
        """paper: the registry's name; the class takes the fields of that paper's Params as keyword parameters."""
        super().__init_subclass__(**keywords)
        if paper is not None:
            cls._paper = paper
            kinds = dict.fromkeys([registry.paper(paper).module.Params, registry.paper(paper).printed.Params])
            settings = "\n\n".join(inspect.getdoc(kind) or "" for kind in kinds)
            cls.__doc__ = f"{cls.__doc__}{_SHARED}{indent(settings, '    ')}"

    if not TYPE_CHECKING:  # types come from the fields

        def __new__(cls, *positional: Any, **settings: Any) -> Self:
            """Errors: TypeError for a name that is no parameter; it says which one is."""
            known = cls._get_param_names()
            for name in settings:
                if name not in known:
                    raise TypeError(explained(name, cls.__name__, known))
            return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """As scikit-learn has it. Errors: InvalidParameter for another library's name of a parameter."""
        check_given(type(self).__name__, params, self._get_param_names())
        super().set_params(**params)
        return self

    @unweighed
    def fit(self, X: Any, y: Any) -> Self:
        """Train on records. X: array or data frame, NaN and None are missing values; y: one label a record.

        Dask frames are trained on where they are, with every bound and the classes given; predictions are Dask frames.
        Errors: InvalidParameter before any record is touched; InvalidRecords for records that fit no public schema; the
        estimator is then what it was before.
        Warns: PrivacyWarning about everything that was not given.
        """
        return self._fit(X, y, None)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        with or_as_before(self):
            if elsewhere(X):
                fitted: Self = fit_elsewhere(self, X, y)
                return fitted
            return self._fit_here(X, y, sample_weight)

    def _fit_here(self, X: Any, y: Any, sample_weight: Any) -> Self:
        paper = registry.paper(self._paper)
        params = self._params(paper)
        check_constraints(self.monotone_constraints)
        generator = generator_for(self.insecure_seed)
        if y is None:
            raise InvalidRecords("fit requires y to be passed, but the target y is None")
        frames.check_here(X, y, sample_weight)
        frame = self._validated(X, reset=True)
        features, observed = self._described(frame)
        target, label, unknown = self._target(frames.labels(y))
        signs(self.monotone_constraints, Schema(features, target), params)
        breaches = _breaches(observed, unknown, self._target_parameter)
        records = self._records(frame, Schema(features, target), label)
        weight = self._weights(sample_weight, label)
        if weight is not None:
            records = weighed(records, weight)
        params = self._params(paper, records.schema)
        repeated(self.budget, X, y, by=self)
        warn_of_noise(paper, params, records.schema, _unwrapped(self.rows))

        def charged(certificate: Certificate) -> None:
            charge(self.budget, paper, params, without_guarantee(certificate, breaches), records.schema)
            remember(self.budget, X, y, by=self)

        run = train(paper, params, records, source_for(params, generator), charged=charged)
        certificate = without_guarantee(assuming(run.certificate, *seeded(generator)), breaches)
        self.model_, self.certificate_ = constrained(run.model, certificate, self.monotone_constraints)
        self.transcript_ = run.transcript
        return self

    def to_xgboost(self, path: str | Path, *, absent: export_xgboost.Absent = "missing", names: bool = False) -> None:
        """Write a model file that the xgboost library loads and predicts with.

        What it predicts is not always `predict_proba`: of Grove and of more than two classes the index of the class, of
        DPBoost and DP-XGBoost with square loss the expected label. refdp/io/export_xgboost.py has the way from its
        margins to `predict_proba`. Post-processing of released values.
        Errors: InvalidParameter if the file cannot be written.
        """
        check_is_fitted(self)
        export_xgboost.write(self.model_, Path(path), absent=absent, names=names)

    @property
    def feature_importances_(self) -> Floats:
        """Shape (features,), sum 1: how much released leaf values differ across each feature's splits."""
        check_is_fitted(self)
        return released.importances(self.model_)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """`predict` after each of the trees, from released values. X: dense."""
        x = self._encoded(X)
        for stage in released.staged(self.model_):
            if self._regression:
                yield prediction.scores(stage, x)
            else:
                yield getattr(self, "classes_")[prediction.classes(stage, x)]  # noqa: B009

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        tags.non_deterministic = True
        return tags

    def _params(self, paper: Paper, schema: Schema | None = None) -> Any:
        """The parameters of a run. schema: None before any record is touched, to check what is given, which warns."""
        if schema is None:
            frames.check_bounds(self.bounds)
            self._check_target()
        params = params_for(
            paper, self._settings(paper, warned=schema is not None), schema, regression=self._regression,
            as_published=self.as_published, settings=self.settings, rows=_unwrapped(self.rows),
        )  # fmt: skip
        if (most := getattr(params, "records_each", 1)) > 1:
            check_records_each(None, most)
        return params

    def _settings(self, paper: Paper, *, warned: bool = False) -> dict[str, Any]:
        named = {field.name: getattr(self, field.name) for field in fields(paper.printed.Params)}
        named.pop("rows", None)  # every estimator's own
        given = {name: _unwrapped(value) for name, value in named.items() if value is not None}
        if "epsilon" not in given:
            check_epsilon(None)
        if "relation" not in given and not warned:
            text = "relation not given: the guarantee is about add-remove neighbours; say so with relation='add-remove'"
            warn(text, PrivacyWarning)
        return {"relation": Relation.ADD_REMOVE} | given

    def _validated(self, X: Any, *, reset: bool) -> Any:
        fitted = not reset and hasattr(self, "model_")
        frame = frames.checked(X, _fitted_bounds(self.model_) if fitted else frames.check_bounds(self.bounds))
        validate_data(self, X=frame, reset=reset, skip_check_array=True)
        if fitted:
            frames.check_same_columns(frame, self.model_.schema.names)
        return frame

    def _described(self, frame: Any) -> tuple[tuple[Feature, ...], list[str]]:
        return frames.describe(frame, frames.check_bounds(self.bounds))

    def _records(self, frame: Any, schema: Schema, label: Floats) -> AnyRecords:
        return make_records(schema, frames.encode(frame, schema.features), label)

    def _weights(self, given: Any, label: Floats) -> Floats | None:
        """What every record's part in sums is multiplied by. label: as numbers."""
        return sample_weights(given, len(label))

    def _encoded(self, X: Any) -> Floats:
        check_is_fitted(self)
        return frames.encode(self._validated(X, reset=False), self.model_.schema.features)

    _breaches = staticmethod(_breaches)

    def _check_target(self) -> None:
        """Errors: InvalidParameter for public classes or a public range that are none."""
        raise NotImplementedError

    def _target(self, y: Any, public: Any = None) -> tuple[Target, Floats, bool]:
        """Public target, labels as numbers, and whether the target was read off the labels. public: as the parameter,
        where that is not given."""
        raise NotImplementedError


@constructed
class PrivateClassifier(ClassifierMixin, PrivateEstimator):
    """Classes, given as `classes`, and their scores."""

    _target_parameter = "classes"
    _regression = False
    classes: Sequence[Any] | NDArray[Any] | None = None

    def predict(self, X: Any) -> Any:
        """The class of the greatest score."""
        if elsewhere(X):
            return predicted(self, "predict", X)
        x = self._encoded(X)
        return self.classes_[prediction.classes(self.model_, x)]

    def predict_proba(self, X: Any) -> Floats:
        """Shape (rows, classes), none 0 or 1: what the scores say by the loss that they were learnt with. Noise is not
        taken out of them (refdp/faces/prediction.py)."""
        if elsewhere(X):
            return predicted(self, "predict_proba", X)  # type: ignore[no-any-return]
        x = self._encoded(X)
        return prediction.probabilities(self.model_, x)

    def decision_function(self, X: Any) -> Floats:
        """Raw scores: shape (rows,) for two classes, positive for the second; else (rows, classes)."""
        if elsewhere(X):
            return predicted(self, "decision_function", X)  # type: ignore[no-any-return]
        x = self._encoded(X)
        raw = prediction.scores(self.model_, x)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # the noise of epsilon 1 drowns the few dozen records of a check
        return tags

    def _check_target(self) -> None:
        if self.classes is not None:
            public_classes(self.classes)

    def _target(self, y: Any, public: Any = None) -> tuple[Target, Floats, bool]:
        given = public if self.classes is None else self.classes
        if given is None:
            known = observed_classes(y)
            check_classification_targets(y)
        else:
            known = public_classes(given)
            check_kind(y, known)
        if len(known) < 2:
            raise InvalidRecords(
                f"y holds {len(known)} class; at least two are needed, and classes=[...] can name them publicly"
            )
        names = Classes(tuple(frames.text_of(label) for label in known))
        label = places(y, names.values)
        if np.isnan(label).any():
            raise InvalidRecords(
                f"a label is missing or not in the public classes {known.tolist()}; every record needs one of them"
                f"{renumbered(known)}"
            )
        self.classes_ = known
        return names, label, given is None


@constructed
class PrivateRegressor(RegressorMixin, PrivateEstimator):
    """Values in the public range `label_bounds`."""

    _target_parameter = "label_bounds"
    _regression = True
    label_bounds: Sequence[float] | NDArray[Any] | None = None

    def predict(self, X: Any) -> Floats:
        """Values in the target's unit, inside the public range. Shape (rows,)."""
        if elsewhere(X):
            return predicted(self, "predict", X)  # type: ignore[no-any-return]
        x = self._encoded(X)
        return prediction.scores(self.model_, x)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # the noise of epsilon 1 drowns the few dozen records of a check
        return tags

    def _check_target(self) -> None:
        if self.label_bounds is not None:
            _range(self.label_bounds)

    def _target(self, y: Any, public: Any = None) -> tuple[Target, Floats, bool]:
        given = public if self.label_bounds is None else self.label_bounds
        label = frames.real_numbers(y)
        if label is None:
            raise InvalidRecords("a label is no number; every record needs a finite label")
        if not np.isfinite(label).all():
            raise InvalidRecords("a label is NaN or infinite; every record needs a finite label")
        if given is not None:
            return _range(given), label, False
        if len(label) == 0 or label.min() == label.max():
            count = f"{len(label)} sample" + "s" * (len(label) != 1)
            raise InvalidRecords(f"no label range can be read off {count} of one value; give label_bounds=(low, high)")
        low, high = float(label.min()), float(label.max())
        if not math.isfinite(high - low):
            raise InvalidRecords("no label range can be read off labels that are so far apart; give label_bounds")
        return Interval(low, high), label, True
