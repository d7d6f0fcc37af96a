"""Training on a cluster's partitions, with a stand-in for the cluster: the run that one table would have had."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refdp.data.memory import Memory
from refdp.data.records import Interval, Numeric, Records, Schema, make_records
from refdp.faces import prediction, registry
from refdp.faces.commands import train_dask
from refdp.faces.training import releases_planned, source_for, train
from refdp.io.datasets import Dataset, train_test_by_record
from refdp.privacy.events import Relation

pytest.importorskip("dask")
AR = Relation.ADD_REMOVE
FEATURES = (Numeric("a", 0.0, 1.0), Numeric("b", 0.0, 1.0))
SCHEMA = Schema(FEATURES, Interval(0.0, 1.0))
PAPER = registry.paper("dpboost")
GIVEN = {"epsilon": 50.0, "relation": AR, "trees": 2, "trees_per_ensemble": 2, "depth": 2, "bins": 4}
HOW = {"settings": "paper", "rows": None}


def table(rows: int = 90) -> pd.DataFrame:
    chance = np.random.default_rng(3)
    return pd.DataFrame({name: chance.random(rows) for name in ("a", "t", "b")})


def partitions(pattern: str) -> tuple[list[str], list[pd.DataFrame]]:
    """Three of the table."""
    assert pattern == "p*.csv"
    whole = table()
    return list(whole.columns), [whole[low : low + 30] for low in range(0, len(whole), 30)]


class Client:
    def submit(self, function: Any, *given: Any, pure: bool) -> Any:
        assert not pure  # two partitions of the same content are two
        return function(*given)

    def compute(self, part: Any) -> Any:
        return part

    def gather(self, found: list[Any]) -> list[Any]:
        return found


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    from refdp.engines import dask

    asked: dict[str, Any] = {"bars": []}

    @contextmanager
    def client_for(address: str | None, *, processes: bool) -> Iterator[Client]:
        asked["client"] = (address, processes)
        yield Client()

    def population(client: Any, parts: list[Any], load: Any) -> Memory:
        loaded = [load(part) for part in parts]
        x, y = np.concatenate([one.x for one in loaded]), np.concatenate([one.y for one in loaded])
        asked["trained"] = Records(SCHEMA, np.asfortranarray(x), y)
        return Memory(asked["trained"])

    @contextmanager
    def bar(what: str) -> Iterator[Any]:
        yield lambda done, total: asked["bars"].append((what, done, total))

    monkeypatch.setattr(dask, "needed", lambda: None)
    monkeypatch.setattr(dask, "client_for", client_for)
    monkeypatch.setattr(dask, "DaskPopulation", population)
    monkeypatch.setattr(train_dask, "bar", bar)
    monkeypatch.setattr(train_dask, "_partitions", partitions)
    monkeypatch.setattr(train_dask, "say_where_noise_wins", lambda *given: asked.update(said=given))
    return asked


@pytest.mark.parametrize("test_size", [0.0, 0.3])
def test_a_run_on_partitions_is_that_of_one_table(cluster: dict[str, Any], tmp_path: Path, test_size: float) -> None:
    """The same model and metrics as of one table's training part; the page counts all records and shows none."""
    bounds = tmp_path / "bounds.json"
    bounds.write_text(json.dumps({"a": [0, 1], "b": [0, 1], "t": [0, 1]}))
    params = PAPER.params(GIVEN, as_published=False)
    source = source_for(params, 5)
    place = "tcp://somewhere:1"
    dataset, run, metrics = train_dask.distributed(
        PAPER, GIVEN, HOW, "p*.csv", "t", bounds, source, test_size, AR, place
    )
    assert cluster["client"] == (place, True) and cluster["said"][2:] == (SCHEMA, None)

    frame = table()
    x, y = frame[["a", "b"]].to_numpy(), frame["t"].to_numpy()
    whole = Dataset("p*.csv", x, y, FEATURES, "t", SCHEMA.target, dict.fromkeys("atb", "given"))  # type: ignore[arg-type]
    mine, rest = train_test_by_record(whole, test_size) if test_size else (whole, None)
    expected = train(PAPER, params, make_records(SCHEMA, mine.x, mine.y), source_for(params, 5))
    np.testing.assert_array_equal(cluster["trained"].x, mine.x)
    assert run.model.to_json() == expected.model.to_json()
    assert metrics == ({} if rest is None else prediction.metrics(expected.model, rest))
    assert (dataset.name, dataset.target_name, dataset.target, dataset.features) == (
        "p*.csv", "t", SCHEMA.target, FEATURES)  # fmt: skip
    assert dataset.x.shape == (90, 2) and dataset.y.shape == (90,) and not dataset.x.any() and not dataset.y.any()
    assert dict(dataset.sources) == dict.fromkeys(("a", "t", "b"), "given")
    total = releases_planned(PAPER.plan(params, SCHEMA))
    assert cluster["bars"] == [("training", done, total) for done in range(1, total + 1)]
