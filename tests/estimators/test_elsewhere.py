"""Estimators on Dask frames, with a stand-in for the cluster: the model, certificate and charges of one table's fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest

import refdp
from refdp.data.memory import Memory
from refdp.data.records import Records
from refdp.engines.shared import PARTITIONS
from refdp.errors import BudgetExceeded, InvalidParameter, InvalidRecords, RepeatedFitWarning
from refdp.faces.estimators import (
    DPBoostClassifier,
    DPBoostRegressor,
    GroveClassifier,
    GroveRegressor,
    InPrivateRegressor,
    SGBDTRegressor,
)
from refdp.faces.estimators.distributed import elsewhere
from refdp.faces.seeds import ReproducibleSeed
from refdp.faces.splits import KFoldByRecord, train_test_split_by_record

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
pytestmark = [
    pytest.mark.filterwarnings("ignore:insecure_seed:refdp.errors.PrivacyWarning"),
    pytest.mark.filterwarnings("ignore::refdp.errors.UtilityWarning"),
]
SMALL: dict[str, Any] = {"epsilon": 2.0, "relation": "add-remove", "trees": 2, "depth": 2, "bins": 4,
                         "bounds": {"a": (0, 1), "b": ["p", "q"]}}  # fmt: skip


@pytest.fixture(autouse=True)
def cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Partitions are loaded here, one after the other, and their records are held in one place."""
    from refdp.engines import dask

    @contextmanager
    def client_for() -> Iterator[None]:
        yield None

    def population(client: None, parts: list[Any], load: Any) -> Memory:
        loaded = [load(part.compute(scheduler="synchronous")) for part in parts]
        x, y = np.concatenate([one.x for one in loaded]), np.concatenate([one.y for one in loaded])
        return Memory(Records(loaded[0].schema, np.asfortranarray(x), y))

    monkeypatch.setattr(dask, "client_for", client_for)
    monkeypatch.setattr(dask, "DaskPopulation", population)
    monkeypatch.setattr("refdp.ledger.certificate.running", lambda *_: "")  # it would tell of these


def table() -> pd.DataFrame:
    chance = np.random.default_rng(4)
    a = chance.random(30)
    kinds = np.where(a > 0.7, "z", np.where(a > 0.3, "y", "x"))
    return pd.DataFrame({"a": a, "t": 2 * a - 1, "b": chance.choice(["p", "q"], 30), "k": kinds})


def estimator(kind: Any, **more: Any) -> Any:
    target = {"label_bounds": (-1, 1)} if kind is DPBoostRegressor else {"classes": ["x", "y", "z"]}
    return kind(**(SMALL | target | {"insecure_seed": ReproducibleSeed(7)} | more))


@pytest.mark.parametrize("kind", [DPBoostRegressor, DPBoostClassifier])
def test_a_fit_on_partitions_is_that_on_the_table(kind: Any) -> None:
    """The target may be a column of the frame; predictions come in the frame's partitions, row by row."""
    whole = table()
    target = "t" if kind is DPBoostRegressor else "k"
    frame = dd.from_pandas(whole, npartitions=3)
    here = estimator(kind).fit(whole[["a", "b"]], whole[target])
    there = estimator(kind).fit(frame[["a", "b", target]], frame[target])
    assert there.model_.to_json() == here.model_.to_json()
    assert there.certificate_ == here.certificate_.assuming(PARTITIONS)
    assert there.transcript_ == here.transcript_ and list(there.feature_names_in_) == ["a", "b"]
    for method in ("predict",) if target == "t" else ("predict", "predict_proba", "decision_function"):
        found = getattr(there, method)(frame)
        assert found.npartitions == 3
        found, expected = found.compute(scheduler="synchronous"), getattr(here, method)(whole[["a", "b"]])
        assert list(found.index) == list(whole.index) and np.array_equal(found.to_numpy(), expected)
        if found.ndim > 1:
            assert list(found.columns) == ["x", "y", "z"]
        else:
            assert found.name == "prediction"


def test_only_frames_of_dask_are_elsewhere() -> None:
    """Other objects of Dask's are no tables, and other tables with such a method are here."""

    class Other(pd.DataFrame):
        map_partitions = None

    frame = dd.from_pandas(table(), npartitions=2)
    assert elsewhere(frame) and elsewhere(frame["a"])
    for here in (table(), Other(table()), type("Graph", (), {"__module__": "dask.base"})(), None, [1.0]):
        assert not elsewhere(here)


def test_scores_of_two_classes_are_one_column() -> None:
    whole = table()
    whole["k"] = np.where(whole["a"] > 0.5, "y", "x")
    frame = dd.from_pandas(whole, npartitions=2)
    there = estimator(DPBoostClassifier, classes=["y", "x"]).fit(frame[["a", "b"]], frame["k"])
    here = estimator(DPBoostClassifier, classes=["y", "x"]).fit(whole[["a", "b"]], whole["k"])
    found = there.decision_function(frame).compute(scheduler="synchronous")
    assert isinstance(found, pd.Series) and np.array_equal(found, here.decision_function(whole[["a", "b"]]))
    found = there.predict_proba(frame).compute(scheduler="synchronous")
    assert np.array_equal(found, here.predict_proba(whole[["a", "b"]])) and list(found.columns) == ["x", "y"]
    with pytest.raises(InvalidRecords, match="no column 'b'; the model has a, b"):
        there.predict(frame[["a", "k"]])


def test_fits_on_partitions_are_charged_as_others() -> None:
    """Before any record is loaded; one that is too dear leaves nothing, and names of a budget are told apart."""
    whole = table()
    frame = dd.from_pandas(whole, npartitions=2)
    x, y = frame[["a", "b"]], frame["t"]
    budget = refdp.PrivacyBudget(3.0)
    model = estimator(DPBoostRegressor, budget=budget).fit(x, y)
    assert budget.spent() == pytest.approx(2.0)
    with pytest.raises(BudgetExceeded):
        estimator(DPBoostRegressor, budget=budget).fit(x, y)
    assert model.model_ is not None
    named = refdp.PrivacyBudget(9.0)
    estimator(DPBoostRegressor, budget=named.on("one")).fit(x, y)
    with pytest.warns(RepeatedFitWarning, match="under the name 'one'"):
        estimator(DPBoostRegressor, budget=named.on("two")).fit(x, y)


def test_a_second_fit_on_one_frame_without_a_budget_is_warned_about() -> None:
    frame = dd.from_pandas(table(), npartitions=2)
    x, y = frame[["a", "b"]], frame["t"]
    estimator(DPBoostRegressor).fit(x, y)
    with pytest.warns(RepeatedFitWarning, match="fitted before"):
        estimator(DPBoostRegressor).fit(x, y)


def test_what_cannot_be_trained_on_partitions_is_refused() -> None:
    whole = table()
    frame = dd.from_pandas(whole, npartitions=2)
    x, y = frame[["a", "b"]], frame["t"]
    for wrong in ((x, whole["t"]), (x, whole["t"].to_numpy()), (x, None), (x, frame[["t"]])):
        with pytest.raises(InvalidRecords, match="a Dask frame X and a Dask series y"):
            estimator(DPBoostRegressor).fit(*wrong)
    with pytest.raises(InvalidParameter, match="owners train among themselves"):
        InPrivateRegressor(epsilon=1.0, relation="add-remove", bounds=SMALL["bounds"], label_bounds=(-1, 1)).fit(x, y)
    with pytest.raises(InvalidParameter, match="weights of records in Dask frames"):
        GroveClassifier(epsilon=1.0, relation="add-remove", classes=["x", "y", "z"]).fit(x, frame["k"], np.ones(30))
    with pytest.raises(InvalidParameter, match="monotone"):
        estimator(DPBoostRegressor, monotone_constraints={"b": 1}).fit(x, y)
    up = estimator(DPBoostRegressor, monotone_constraints={"a": 1}).fit(x, y)
    steps = up.predict(pd.DataFrame({"a": np.linspace(0, 1, 20), "b": ["p"] * 20}))
    assert (np.diff(steps) >= 0).all()


def test_collections_of_dask_are_refused_where_records_are_to_be_in_memory() -> None:
    """Each would be computed by itself, and so would every column: one record of a table that is drawn anew would be in
    several rows, beside an established epsilon for one."""
    whole = table()
    frame = dd.from_delayed([dask.delayed(never)()], meta=whole)
    x, y, name = frame[["a", "b"]], frame["t"], frame["b"]
    here, label, names = whole[["a", "b"]], whole["t"], ["p", "q"] * 15
    about: dict[str, Any] = {"relation": "add-remove", "bounds": SMALL["bounds"], "label_bounds": (-1, 1)}
    owners, grove = InPrivateRegressor(**about, owners=["p", "q"]), GroveRegressor(**about)
    stream = SGBDTRegressor(**about, extra_trees=1)
    budget = refdp.PrivacyBudget(9.0)
    selected = estimator(DPBoostRegressor)
    for work in (
        *(
            lambda given=given: stream.partial_fit(*given)
            for given in ((x, y), (x, label), (here, y), (here, label, y))
        ),
        *(lambda given=given: owners.fit(*given) for given in ((x, y, names), (here, y, names), (here, label, name))),
        lambda: grove.fit(here, y),
        lambda: grove.fit(here, label, y),
        lambda: grove.fit(x.to_dask_array(), label),
        lambda: grove.fit(Query(whole[["a", "b"]]), label),
        lambda: refdp.select([selected], here, y.to_dask_array(), score_epsilon=0.1, budget=budget),
        lambda: refdp.select([selected], here, Query(whole[["t"]])["t"], score_epsilon=0.1, budget=budget),
        lambda: refdp.select([selected], Derived(x.expr), label, score_epsilon=0.1, budget=budget),
        lambda: grove.fit(Derived(x.expr), label),
        lambda: grove.fit(here, Labels(y.expr)),
        lambda: grove.fit(Traced(), label),
        lambda: train_test_split_by_record(x, y),
        lambda: train_test_split_by_record(here, groups=name),
        lambda: next(KFoldByRecord(2).split(here, y)),
    ):
        with pytest.raises((InvalidRecords, InvalidParameter), match=r"(where what is in memory)|(on Dask frames or)"):
            work()
    assert budget.spent() == 0 and not hasattr(stream, "private_stream_")


class Query(pd.DataFrame):
    """As pandas' on Spark: a query for every column that is read."""

    __module__ = "pyspark.pandas.frame"

    @property
    def _constructor_sliced(self) -> Any:
        return Values


class Values(pd.Series):
    __module__ = "pyspark.pandas.series"


class Derived(dd.DataFrame):
    """As dask_geopandas has frames."""

    __module__ = "dask_geopandas.core"


class Labels(dd.Series):
    __module__ = "dask_geopandas.core"


class Traced:
    """As xarray has arrays over Dask's: what it follows from is asked for by Dask's own protocol."""

    def __dask_graph__(self) -> dict[str, Any]:
        return {"x": never}


class Lazy:
    """As ray.data has tables: what it gives is computed anew each time."""

    asked = 0

    def to_pandas(self) -> pd.DataFrame:
        self.asked += 1
        return table()[["a", "b"]]


def test_selection_reads_a_table_once() -> None:
    """How often would tell how many runs there were; and each read may be of other records."""
    lazy = Lazy()
    refdp.select([estimator(DPBoostRegressor)], lazy, table()["t"], score_epsilon=0.1, mean_runs=9)
    assert lazy.asked == 1


def never() -> pd.DataFrame:
    raise AssertionError("computed")
