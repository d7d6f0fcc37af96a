"""Estimators on Dask frames: the same model as from the same records in memory, byte for byte with the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from refdp.data.records import Classes, Feature, Model, Records, Schema, Target
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.faces import prediction, registry
from refdp.faces.budgets import charge
from refdp.faces.estimators.labels import check_kind, public_classes
from refdp.faces.monotone import constrained, signs
from refdp.faces.repeats import remember, repeated
from refdp.faces.seeds import generator_for, seeded
from refdp.faces.strength import warn_of_noise
from refdp.faces.training import assuming, source_for, train_on
from refdp.io import frames
from refdp.ledger.certificate import Certificate


def elsewhere(table: Any) -> bool:
    """Whether a table is a Dask frame."""
    return frames.is_dasks(table) and hasattr(table, "map_partitions")


def fit_elsewhere(estimator: Any, X: Any, y: Any) -> Any:
    """Train on a Dask frame X and a Dask series y of the same partitions, in the order of the records in each.

    The index has to be the same in both: one that differs is refused, as who has which label is then not known.
    Bounds of every feature and the classes (or the label range) are mandatory: nothing is read off the records. A
    column of the name of y that has no bounds is the target, not a feature. The client is the present one, or that of a
    cluster in this process for as long as it takes.
    Errors: InvalidParameter before any record is touched; InvalidRecords for records that fit no public schema.
    """
    from refdp.engines.dask import DaskPopulation, client_for, needed
    from refdp.engines.frames import labelled
    from refdp.engines.log import check_travels
    from refdp.engines.shared import PARTITIONS

    paper = registry.paper(estimator._paper)
    estimator._params(paper)
    if paper.name == "inprivate":
        raise InvalidParameter("Dask: owners train among themselves, each on its own records; they are no partitions")
    if not (elsewhere(X) and elsewhere(y) and _is_series(y) and X.npartitions == y.npartitions):
        raise InvalidRecords("Dask: a Dask frame X and a Dask series y of the same partitions are needed")
    needed()
    frame = _featured(X, y.name, estimator.bounds or {})
    features = _features(estimator, frame)
    schema = Schema(features, _target(estimator))
    generator = generator_for(estimator.insecure_seed)
    params = estimator._params(paper, schema)
    signs(estimator.monotone_constraints, schema, params)
    check_travels(paper.module.train_on, params, schema)
    source = source_for(params, generator)
    repeated(estimator.budget, X, by=estimator)
    warn_of_noise(paper, params, schema, estimator.rows)
    named = frame.rename(columns=dict(zip(frame.columns, schema.names, strict=True)))
    meta = labelled(named._meta, y._meta)
    both = named.map_partitions(labelled, y, meta=meta, align_dataframes=False, enforce_metadata=False)
    with client_for() as client:

        def loaded() -> DaskPopulation:
            whole = both.optimize(fuse=False)  # fused, what partitions have in common is computed within each
            parts = whole.to_delayed(optimize_graph=False)
            return DaskPopulation(client, parts, Partition(schema, getattr(estimator, "classes_", None)))

        def asked(certificate: Certificate) -> None:
            charge(estimator.budget, paper, params, certificate, schema, kept=False)

        def charged(certificate: Certificate) -> None:
            charge(estimator.budget, paper, params, certificate, schema)
            remember(estimator.budget, X, by=estimator)

        run = train_on(paper, params, schema, loaded, source, asked=asked, charged=charged)
    certificate = assuming(run.certificate, *seeded(generator), PARTITIONS)
    estimator.model_, estimator.certificate_ = constrained(run.model, certificate, estimator.monotone_constraints)
    estimator.transcript_ = run.transcript
    return estimator


def _is_series(y: Any) -> bool:
    return y._meta.ndim == 1 and hasattr(y._meta, "index")  # an index has none


def _featured(X: Any, target: Any, bounds: Any) -> Any:
    """The columns that are features."""
    if target in X.columns and str(target) not in {str(name) for name in bounds}:
        return X[[name for name in X.columns if name != target]]
    return X


def _features(estimator: Any, frame: Any) -> tuple[Feature, ...]:
    """The public description of the features; nothing of it from the records."""
    bounds = estimator.bounds or {}
    unknown = [str(name) for name in frame.columns if str(name) not in {str(key) for key in bounds}]
    if unknown:
        names = ", ".join(unknown[:5]) + f" and {len(unknown) - 5} more" * (len(unknown) > 5)
        raise InvalidParameter(f"Dask: no bounds for {names}; bounds={{column: (low, high) or [category, ...]}} are "
                               "needed for every feature, since nothing is read off the records")  # fmt: skip
    features, _ = frames.describe(estimator._validated(frame._meta, reset=True), bounds)
    return features


def _target(estimator: Any) -> Target:
    given = getattr(estimator, estimator._target_parameter)
    if given is None:
        raise InvalidParameter(f"Dask: {estimator._target_parameter} is needed, since nothing is read off the records")
    if estimator._target_parameter == "classes":
        estimator.classes_ = public_classes(given)
        return Classes(tuple(frames.text_of(label) for label in estimator.classes_))
    from refdp.faces.estimators.base import _range

    return _range(given)


@dataclass(frozen=True)
class Partition:
    """Loads the records of one partition, whose labels are of the kind of the public classes."""

    schema: Schema
    classes: NDArray[Any] | None

    def __call__(self, part: Any) -> Records:
        """Errors: InvalidRecords as in memory."""
        from refdp.engines.frames import LABEL, Loader

        if LABEL not in part.columns:
            raise InvalidRecords(
                "Dask: in a partition X and y have other indexes, or another number of records: take both from one "
                "frame, or give both an index anew, X.reset_index(drop=True) and y.reset_index(drop=True), where their "
                "partitions have the same records in the same order"
            )
        if self.classes is not None and len(part):
            check_kind(frames.labels(part[LABEL]), self.classes)
        return Loader(self.schema, exact=True)(part)


# --- Predictions ------------------------------------------------------------------------------------------------------


def predicted(estimator: Any, method: str, X: Any) -> Any:
    """Predictions of a Dask frame as a Dask series, or as a Dask frame with a column for each class.

    Errors: InvalidRecords for a missing column.
    """
    import pandas as pd

    names = list(estimator.feature_names_in_)
    absent = [str(name) for name in names if name not in X.columns]
    if absent:
        raise InvalidRecords(f"Dask: no column {absent[0]!r}; the model has {', '.join(map(str, names))}")
    classes = getattr(estimator, "classes_", None)
    work = Predictor(estimator.model_, method, classes)
    empty = work(X._meta[names])
    assert isinstance(empty, pd.Series | pd.DataFrame)
    return X[names].map_partitions(work, meta=empty)


@dataclass(frozen=True)
class Predictor:
    """One partition's predictions; it travels with released values alone."""

    model: Model
    method: str
    classes: NDArray[Any] | None

    def __call__(self, part: Any) -> Any:
        """A pandas series, or a frame with a column for each class."""
        import pandas as pd

        x = frames.encode(part, self.model.schema.features)
        if self.method == "predict_proba":
            return pd.DataFrame(prediction.probabilities(self.model, x), index=part.index, columns=self._columns(2))
        if self.method == "predict" and self.classes is not None:
            return pd.Series(self.classes[prediction.classes(self.model, x)], index=part.index, name="prediction")
        found = prediction.scores(self.model, x)
        if self.classes is not None and found.shape[1] > 1:
            return pd.DataFrame(found, index=part.index, columns=self._columns(found.shape[1]))
        return pd.Series(found.reshape(len(part)), index=part.index, name="prediction")

    def _columns(self, count: int) -> Sequence[str]:
        assert self.classes is not None
        return [frames.text_of(name) for name in self.classes]
