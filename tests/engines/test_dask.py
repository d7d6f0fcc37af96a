"""Dask: the model of one place, byte for byte, whatever happens to workers."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

import refdp
from refdp.data.memory import Memory
from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema, make_records
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.faces.cli import expanded, run
from refdp.papers import dpboost, dpxgboost, sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation, expand
from refdp.privacy.sources import SampleSource

if importlib.util.find_spec("distributed") is None:
    pytest.skip("the extra dask is not installed", allow_module_level=True)

import dask
import pandas as pd
from dask import dataframe as dd
from distributed import Client, LocalCluster

from refdp.engines.dask import CLUSTER, MALLOC, DaskPopulation, warn_about_trimming
from refdp.engines.frames import LABEL, Loader, joined, runs
from refdp.engines.journal import ReleaseJournal
from refdp.engines.shared import PARTITIONS

pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning"),
]
BOUNDS: dict[str, Any] = {"a": (0, 1), "b": (-3, 3), "c": ["x", "y", "z"]}
ROWS = 400


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(ROWS), "b": rng.normal(size=ROWS), "c": rng.choice(list("xyzw"), ROWS)})
    frame.loc[::9, "b"] = np.nan
    frame["y"] = np.where(frame.a + rng.random(ROWS) > 1, "yes", "no")
    return frame


def partitions(frame: pd.DataFrame) -> Any:
    """Some of them empty."""
    edges = [0, 0, 150, 151, 151, 300, len(frame)]
    return dd.concat([dd.from_pandas(frame.iloc[low:high], npartitions=1) for low, high in pairwise(edges)])


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two processes, each replaced when it is killed."""
    with (
        dask.config.set(CLUSTER | {"distributed.worker.daemon": True}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client


SETTINGS: list[tuple[Any, dict[str, Any]]] = [
    (refdp.DPBoostClassifier, {"trees": 4, "trees_per_ensemble": 2, "depth": 2}),
    (refdp.DPXGBoostClassifier, {"trees": 2, "depth": 2, "subsample": 0.5}),
    (refdp.FedGBDTClassifier, {"trees": 4, "depth": 2, "splits": "histogram"}),
    (refdp.GroveClassifier, {"trees": 4, "depth": 2}),
    (refdp.SGBDTClassifier, {"trees": 4, "extra_trees": 2, "depth": 2, "subsample": 0.3}),
]


@pytest.mark.parametrize(("estimator", "settings"), SETTINGS, ids=lambda one: getattr(one, "__name__", ""))
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_the_model_is_that_of_memory_byte_for_byte(client: Any, estimator: Any, settings: Any, relation: str) -> None:
    if estimator is refdp.SGBDTClassifier and relation == "replace-one":
        pytest.skip("S-GBDT's guarantee is about add-remove neighbours")
    frame = table()

    def made() -> Any:
        return estimator(epsilon=3.0, rows=1, relation=relation, bounds=BOUNDS, classes=["no", "yes"], **settings,
                         insecure_seed=refdp.ReproducibleSeed(3))  # fmt: skip

    lazy, said = partitions(frame), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mine = made().fit(frame[["a", "b", "c"]], frame["y"])
        said.append([str(one.message) for one in caught if one.category is refdp.UtilityWarning])
        theirs = made().fit(lazy, lazy["y"])
        said.append([str(one.message) for one in caught if one.category is refdp.UtilityWarning])
    assert said[1] == 2 * said[0] and len(said[0]) == (estimator is not refdp.FedGBDTClassifier)  # four trees show more
    assert theirs.model_.to_json() == mine.model_.to_json()
    assert theirs.transcript_ == mine.transcript_
    assert theirs.certificate_ == mine.certificate_.assuming(PARTITIONS)
    if relation == "add-remove":
        predicted = theirs.predict(lazy)
        assert isinstance(predicted, dd.Series)
        assert (predicted.compute().to_numpy() == mine.predict(frame[["a", "b", "c"]])).all()


def test_predictions_are_frames(client: Any) -> None:
    frame = table()
    lazy = partitions(frame)
    model = refdp.FedGBDTClassifier(relation="add-remove", bounds=BOUNDS, classes=["no", "yes"], trees=2)
    model.fit(lazy, lazy["y"])
    proba = model.predict_proba(lazy)
    assert isinstance(proba, dd.DataFrame) and list(proba.columns) == ["no", "yes"]
    assert np.array_equal(proba.compute().to_numpy(), model.predict_proba(frame[["a", "b", "c"]]))
    scores = model.decision_function(lazy).compute().to_numpy()
    assert np.array_equal(scores, model.decision_function(frame[["a", "b", "c"]]))
    number = refdp.FedGBDTRegressor(relation="add-remove", bounds={"a": (0, 1)}, label_bounds=(-3, 3), trees=2)
    number.fit(lazy[["a"]], lazy["b"].fillna(0.0))
    assert np.array_equal(number.predict(lazy[["a"]]).compute(), number.predict(frame[["a"]]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bounds": {"a": (0, 1)}}, "no bounds for b, c"),
        ({"bounds": None}, "no bounds for a, b, c"),
        ({"classes": None}, "classes is needed"),
    ],
)
def test_nothing_is_read_off_the_records(given: dict[str, Any], message: str) -> None:
    lazy = partitions(table())
    settings = {"relation": "add-remove", "bounds": BOUNDS, "classes": ["no", "yes"]} | given
    with pytest.raises(InvalidParameter, match=message):
        refdp.DPBoostClassifier(**settings).fit(lazy, lazy["y"])


def test_records_that_fit_no_schema_are_refused_by_one_line_before_training(client: Any) -> None:
    frame = table()
    bad = partitions(frame.assign(y=frame["y"].where(frame.index != 200, "maybe")))
    model = refdp.DPBoostClassifier(relation="add-remove", bounds=BOUNDS, classes=["no", "yes"])
    with pytest.raises(InvalidRecords, match=r"^a label is missing or not in the public classes no, yes; every record"):
        model.fit(bad, bad["y"])
    texts = partitions(frame.assign(y=(frame["y"] == "yes").map({True: "1", False: "0"})))
    with pytest.raises(InvalidRecords, match="y holds texts, classes lists numbers"):
        refdp.DPBoostClassifier(relation="add-remove", bounds=BOUNDS, classes=[0, 1]).fit(texts, texts["y"])

    def quoting(part: pd.DataFrame) -> pd.DataFrame:
        if len(part) > 1:
            raise ValueError("invalid literal: 'Alice'")
        return part

    torn = dd.from_pandas(frame, npartitions=2).map_partitions(quoting, meta=frame.iloc[:0])
    with pytest.raises(InvalidRecords, match=r"^a partition could not be computed") as caught:
        model.fit(torn, torn["y"])
    assert "Alice" not in str(caught.value) and caught.value.__context__ is None
    none = bad[bad["a"] > 2]
    with pytest.raises(InvalidRecords, match="0 records given"):
        model.fit(none, none["y"])
    with pytest.raises(InvalidParameter, match="owners train among themselves"):
        refdp.InPrivateClassifier(relation="add-remove", bounds=BOUNDS, classes=["no", "yes"]).fit(bad, bad["y"])


def once(rows: int, index: Any = None, parts: int = 2) -> tuple[pd.DataFrame, Any]:
    """A feature, and labels that are its values under another index."""
    a = np.arange(rows) / rows
    y = dd.from_pandas(pd.Series(a, index=index, name="t"), npartitions=parts, sort=False)
    return pd.DataFrame({"a": a}), y


def numbers(X: Any, y: Any) -> str:
    settings: Any = {"relation": "add-remove", "bounds": {"a": (0, 1)}, "label_bounds": (0, 1), "trees": 2, "depth": 2}
    model = refdp.GroveRegressor(epsilon=50.0, insecure_seed=refdp.ReproducibleSeed(1), **settings)
    return str(model.fit(X, y).model_.to_json())


def test_labels_of_another_index_are_refused(client: Any) -> None:
    """By the index one label was that of many records, and others were nobody's."""
    x, y = once(40)
    for index in ([0] * 20 + [*range(1, 21)], [*range(20), *range(20)], [*range(39, -1, -1)]):
        lazy = dd.from_pandas(x.set_index(pd.Index(index)), npartitions=2, sort=False)
        with pytest.raises(InvalidRecords, match="X and y have other indexes, or another number of records: take both"):
            numbers(lazy, y)
        assert numbers(lazy.reset_index(drop=True), y.reset_index(drop=True)) == numbers(x, x["a"])
    lazy = dd.from_pandas(x, npartitions=2)
    for other in (once(38)[1], once(40, parts=1)[1], dd.concat([once(20, parts=1)[1], once(21, parts=1)[1]])):
        with pytest.raises(InvalidRecords, match=r"of the same partitions|another number of records"):
            numbers(lazy, other)
    for given in (y.to_frame(), x["a"], y.index):
        with pytest.raises(InvalidRecords):
            numbers(lazy, given)


def test_labels_are_their_records_in_the_order_of_both(client: Any, tmp_path: Path) -> None:
    """An index that tells no records apart is the same in both, as that of files which each begin at 0."""
    x, _ = once(40)
    same = dd.from_pandas(x.assign(t=x["a"], i=0).set_index("i"), npartitions=1)
    assert numbers(same[["a"]], same["t"]) == numbers(same, same["t"]) == numbers(x, x["a"])
    for number in range(4):
        x.assign(t=x["a"]).iloc[10 * number : 10 * number + 10].to_csv(tmp_path / f"{number}.csv", index=False)
    files = dd.read_csv(str(tmp_path / "*.csv")).repartition(npartitions=2)
    assert numbers(files[["a"]], files["t"]) == numbers(x, x["a"])


def test_what_is_no_sum_is_refused_before_a_charge(client: Any) -> None:
    budget = refdp.PrivacyBudget(2.0, 1e-5, relation="replace-one")
    lazy = dd.from_pandas(once(40)[0], npartitions=2)
    model = refdp.FedGBDTRegressor(noise_by="record", splits="totally-random", relation="replace-one", trees=2,
                                   bounds={"a": (0, 1)}, label_bounds=(0, 1), budget=budget)  # fmt: skip
    with pytest.raises(InvalidParameter, match="what single records report is no sum"):
        model.fit(lazy, lazy["a"])
    assert budget.spent() == 0


def test_a_file_under_two_names_is_refused(tmp_path: Path, capsys: Any) -> None:
    x, _ = once(40)
    x.assign(t=x["a"]).to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "bounds.json").write_text(json.dumps({"a": [0, 1], "t": [0, 1]}))
    for name, link in (("b.csv", os.symlink), ("c.csv", os.link)):
        link(tmp_path / "a.csv", tmp_path / name)
        assert run(["train", "dpboost", "--data", str(tmp_path / "*.csv"), "--target", "t", "--dask", "--epsilon", "1",
                    "--bounds", str(tmp_path / "bounds.json"), "--test-size", "0"]) == 2  # fmt: skip
        assert f"{name}: the same file as {tmp_path / 'a.csv'}, and each record" in capsys.readouterr().err
        (tmp_path / name).unlink()


@pytest.mark.parametrize("pattern", ["parts", "part*"])
def test_a_file_twice_in_a_directory_is_refused(tmp_path: Path, capsys: Any, pattern: str) -> None:
    """Its records would be in every sum as often: parts are read of all that is in a directory, links too."""
    pytest.importorskip("pyarrow")
    x, _ = once(40)
    (tmp_path / "parts").mkdir()
    x.assign(t=x["a"]).to_parquet(tmp_path / "parts" / "0.parquet")
    (tmp_path / "bounds.json").write_text(json.dumps({"a": [0, 1], "t": [0, 1]}))
    for link in (os.symlink, os.link):
        link(tmp_path / "parts" / "0.parquet", tmp_path / "parts" / "1.parquet")
        assert run(["train", "dpboost", "--data", str(tmp_path / pattern), "--target", "t", "--dask", "--epsilon", "1",
                    "--bounds", str(tmp_path / "bounds.json"), "--test-size", "0"]) == 2  # fmt: skip
        assert "1.parquet: the same file as " in capsys.readouterr().err
        (tmp_path / "parts" / "1.parquet").unlink()


def test_a_fit_is_charged_to_its_budget_before_a_record_is_touched(client: Any) -> None:
    budget = refdp.PrivacyBudget(epsilon=1.5, relation="add-remove")
    lazy = partitions(table())
    model = refdp.DPBoostClassifier(epsilon=1.0, relation="add-remove", bounds=BOUNDS, classes=["no", "yes"],
                                    trees=1, budget=budget)  # fmt: skip
    model.fit(lazy, lazy["y"])
    unread = lazy.map_partitions(lambda part: 1 / 0, meta=lazy._meta)
    with pytest.raises(refdp.errors.BudgetExceeded):
        model.fit(unread, unread["y"])


def test_records_that_are_refused_cost_nothing(client: Any) -> None:
    budget = refdp.PrivacyBudget(epsilon=1.5, relation="add-remove")
    frame = table()
    bad, good = partitions(frame.assign(y=frame["y"].where(frame.index != 200, "maybe"))), partitions(frame)
    model = refdp.DPBoostClassifier(epsilon=1.0, relation="add-remove", bounds=BOUNDS, classes=["no", "yes"],
                                    trees=1, budget=budget)  # fmt: skip
    with pytest.raises(InvalidRecords, match="a label is missing or not in"):
        model.fit(bad, bad["y"])
    assert budget.spent() == 0.0
    model.fit(good, good["y"])
    assert budget.spent() == pytest.approx(1.0)


# --- Workers that are killed ------------------------------------------------------------------------------------------

SCHEMA = Schema((Numeric("a", 0, 1), Numeric("b", -3, 3), Categorical("c", ("x", "y", "z"))), Classes(("no", "yes")))
PROGRAMS: dict[str, Any] = {
    "dpboost": (dpboost, dpboost.Params(3.0, Relation.REPLACE_ONE, trees=2, trees_per_ensemble=2, depth=2)),
    "dpxgboost": (dpxgboost, dpxgboost.Params(3.0, Relation.ADD_REMOVE, trees=2, depth=2, subsample=0.5)),
    "sgbdt": (sgbdt, sgbdt.Params(3.0, Relation.ADD_REMOVE, trees=3, extra_trees=2, depth=2)),
}


def put(name: str, value: str) -> None:
    os.environ[name] = value


def unset(name: str) -> None:
    os.environ.pop(name, None)


class Killing(SampleSource):
    """Kills a process when it is asked for one of these releases."""

    def __init__(self, when: tuple[int, ...], client: Any) -> None:
        super().__init__(np.random.default_rng(5), exact=True, assignments=True)
        self._when, self._client, self.asked = when, client, 0

    def release(self, request: Any) -> Any:
        if self.asked in self._when:
            os.kill(next(iter(self._client.run(os.getpid).values())), signal.SIGKILL)
        self.asked += 1
        return super().release(request)


class Fragile(Loader):
    """Every load takes a file out of a folder; the process that takes the last one dies."""

    def __call__(self, part: Any) -> Any:
        left = sorted(Path(os.environ["REFDP_FRAGILE"]).iterdir()) if "REFDP_FRAGILE" in os.environ else []
        for file in left[:1]:
            file.unlink(missing_ok=True)
            if len(left) == 1:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(part)


def trained(client: Any, paper: str, when: tuple[int, ...], load: Any = Loader) -> tuple[str, int, Any, int]:
    program, params = PROGRAMS[paper]
    parts = partitions(table()).rename(columns={"y": LABEL}).to_delayed()
    population, source = DaskPopulation(client, parts, load(SCHEMA)), Killing(when, client)
    curator = Curator(source, params.relation)
    model = program.train_on(params, SCHEMA, population, curator)
    assert curator.event() == expand(program.plan(params, SCHEMA).event)
    return model.to_json(), source.asked, curator.transcript.public(), population.lost


# --- What partitions have in common ---


def count(folder: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The same rows; each is noted in a folder."""
    (Path(folder) / uuid4().hex).write_text(json.dumps(rows["a"].tolist()))
    return rows


def noted(folder: Path) -> list[float]:
    return sorted(value for file in folder.iterdir() for value in json.loads(file.read_text()))


def drawn(rows: pd.DataFrame, steady: bool = False) -> pd.DataFrame:
    """In another order whenever it is computed, as a query without one."""
    return rows if steady else rows.sample(frac=1.0, random_state=int.from_bytes(os.urandom(4), "little"))


def sliced(rows: pd.DataFrame, number: Any) -> pd.DataFrame:
    number = number if isinstance(number, int) else int(number["k"].iloc[0])
    return rows.iloc[5 * number : 5 * number + 5]


def slices(whole: pd.DataFrame, steady: bool = False) -> list[Any]:
    rows = dask.delayed(drawn, pure=False)(whole, steady)
    return [dask.delayed(sliced)(rows, number) for number in range(12)]


def in_the_graph(frame: pd.DataFrame, kind: str) -> Any:
    """Twelve partitions of one table that is drawn; as a frame that is computed each record is there once."""
    meta = frame.iloc[:0]
    if kind == "slices":
        return dd.from_delayed(slices(frame), meta=meta, verify_meta=False)
    one = dd.from_pandas(frame, npartitions=1).map_partitions(drawn, meta=meta)
    if kind == "fused":
        numbers = dd.from_pandas(pd.DataFrame({"k": range(12)}), npartitions=12)
        return numbers.map_partitions(lambda n, rows: sliced(rows, n), one, meta=meta, align_dataframes=False)
    parted = one.clear_divisions().repartition(npartitions=12)
    return parted if kind == "parted" else parted.shuffle("a", npartitions=12)


@pytest.mark.parametrize("kind", ["slices", "fused", "parted", "shuffled"])
def test_what_partitions_have_in_common_is_computed_once(client: Any, tmp_path: Path, kind: str) -> None:
    """A table that is drawn has each record once, though its partitions are loaded four at a time."""
    frame = table().iloc[:60]
    lazy = in_the_graph(frame, kind).map_partitions(partial(count, str(tmp_path)), meta=frame.iloc[:0])
    for file in tmp_path.iterdir():  # of what Dask asked to know its columns
        file.unlink()
    model = refdp.DPBoostRegressor(relation="add-remove", bounds={"a": (0, 1)}, label_bounds=(0, 1), trees=1, depth=1)
    model.fit(lazy[["a"]], lazy["a"].rename("y"))
    assert noted(tmp_path) == sorted(frame["a"])
    assert PARTITIONS in model.certificate_.assumptions


@pytest.mark.parametrize("steady", [True, False])
def test_what_is_in_common_and_lost_is_compared(client: Any, tmp_path: Path, steady: bool) -> None:
    """The fifth load kills its worker: partitions of before are loaded again, and may not be of another table."""
    schema = Schema((Numeric("a", 0, 1),), Interval(0, 1))
    whole = table().iloc[:60].assign(**{LABEL: 0.5})
    calm = DaskPopulation(client, slices(whole, steady=True), Loader(schema))
    for number in range(5):
        (tmp_path / str(number)).touch()
    client.run(put, "REFDP_FRAGILE", str(tmp_path))
    if steady:
        hit = DaskPopulation(client, slices(whole, steady), Fragile(schema))
        assert hit._digests == calm._digests and hit.size == 60
    else:
        with pytest.raises(InvalidRecords, match="was computed again, and has other records than before"):
            DaskPopulation(client, slices(whole, steady), Fragile(schema))
    client.run(unset, "REFDP_FRAGILE")


MORE: list[tuple[str, tuple[int, ...]]] = [("sgbdt", (3,)), ("dpxgboost", (0, 4)), ("dpboost", (2, 3, 4))]
"""Long runs, outside make test."""


@pytest.mark.parametrize(
    ("paper", "when"),
    [("dpboost", (1,)), *(pytest.param(*one, marks=pytest.mark.statistics) for one in MORE)],
)
def test_a_killed_worker_changes_nothing(client: Any, paper: str, when: tuple[int, ...]) -> None:
    calm, hit = trained(client, paper, ()), trained(client, paper, when)
    assert hit[:3] == calm[:3]
    assert calm[3] == 0 < hit[3]


@pytest.mark.parametrize("load", [1, 5], ids=["the first", "the fifth"])
def test_a_worker_that_is_killed_while_it_loads_changes_nothing(client: Any, tmp_path: Path, load: int) -> None:
    """Four partitions are loaded at a time: with the fifth those go that the worker had before."""
    for number in range(load):
        (tmp_path / str(number)).touch()
    client.run(put, "REFDP_FRAGILE", str(tmp_path))
    assert trained(client, "sgbdt", (), Fragile)[:3] == trained(client, "sgbdt", ())[:3]
    assert not list(tmp_path.iterdir())


def test_a_killed_driver_goes_on_from_its_journal(client: Any, tmp_path: Path) -> None:
    """The same model as in memory, every release seen once or again the same, and none beside those of one run."""
    from tests.engines import driver

    frame = table()
    for number, (low, high) in enumerate([(0, 150), (150, 400)]):
        frame.iloc[low:high].rename(columns={"y": LABEL}).to_parquet(tmp_path / f"{number}.parquet")
    whole = tmp_path / "whole"
    whole.mkdir()
    released = driver.life(Memory(Loader(SCHEMA)(frame.rename(columns={"y": LABEL}))), whole, 10**9)
    command = [sys.executable, "-m", "tests.engines.driver", client.scheduler.address, str(tmp_path)]
    assert subprocess.run([*command, "3"], timeout=300).returncode == -signal.SIGKILL
    assert subprocess.run([*command, "1000000000"], timeout=300).returncode == 0
    assert (tmp_path / "model").read_bytes() == (whole / "model").read_bytes()
    seen, expected = [(one / "outside").read_text().splitlines() for one in (tmp_path, whole)]
    assert sorted(set(seen)) == sorted(expected) and len(seen) == len(expected) + 3
    with ReleaseJournal(tmp_path / "journal", "driver", secret=driver.SECRET) as journal:
        assert journal.released == released


@pytest.mark.parametrize(
    ("trim", "message"),
    [("65536", "=65536, Dask's default"), ("1073741824", "=1073741824 without MALLOC_MMAP_THRESHOLD_")],
)
def test_workers_that_fetch_every_array_anew_are_warned_about(client: Any, trim: str, message: str) -> None:
    client.run(unset, "MALLOC_MMAP_THRESHOLD_")
    client.run(put, "MALLOC_TRIM_THRESHOLD_", trim)
    try:
        with pytest.warns(RuntimeWarning, match=f"MALLOC_TRIM_THRESHOLD_{message}.*pre-spawn-environ.*MALLOC_MMAP"):
            trained(client, "sgbdt", ())
    finally:
        for name, value in MALLOC.items():
            client.run(put, name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warn_about_trimming(client)


def test_neighbouring_partitions_are_one_shard() -> None:
    assert runs({0: (0, 0), 1: (0, 5), 2: (5, 0), 3: (5, 2), 5: (9, 4), 6: (13, 1)}) == [(0, 1, 2, 3), (5, 6)]
    schema = Schema((Numeric("a", 0, 1), Numeric("b", -3, 3)), Classes(("no", "yes")))
    rng = np.random.default_rng(1)
    parts = [make_records(schema, rng.normal(size=(rows, 2)), rng.integers(0, 2, rows)) for rows in (3, 1, 4)]
    x, y = np.concatenate([part.x for part in parts]), np.concatenate([part.y for part in parts])
    moved = sum(part.clamped for part in parts)
    whole = joined(parts)
    assert np.array_equal(whole.x, x) and np.array_equal(whole.y, y) and whole.clamped == moved > 0 and not parts


# --- The command line -------------------------------------------------------------------------------------------------


def test_the_command_gives_the_model_of_memory(client: Any, tmp_path: Path, capsys: Any) -> None:
    frame = table()
    for number in range(3):
        frame.iloc[number * 100 : number * 100 + 100 + 100 * (number == 2)].to_parquet(tmp_path / f"{number}.parquet")
    frame.to_csv(tmp_path / "all.csv", index=False)
    bounds = {**{name: list(values) for name, values in BOUNDS.items()}, "y": ["no", "yes"]}
    (tmp_path / "bounds.json").write_text(json.dumps(bounds))
    common = ["--target", "y", "--bounds", str(tmp_path / "bounds.json"), "--epsilon", "2", "--seed", "1", "--json",
              "--rows", "4", "--set", "trees=2", "depth=2"]  # fmt: skip
    address = client.scheduler.address
    pattern = str(tmp_path / "*.parquet")
    assert run(["train", "dpboost", "--data", pattern, "--dask", address, "--out", str(tmp_path / "d"), *common]) == 0
    shown = capsys.readouterr()
    theirs = json.loads(shown.out)
    assert "mostly noise" in shown.err
    assert run(["train", "dpboost", "--data", str(tmp_path / "all.csv"), "--out", str(tmp_path / "m"), *common]) == 0
    mine = json.loads(capsys.readouterr().out)
    assert (tmp_path / "d").read_bytes() == (tmp_path / "m").read_bytes()
    assert theirs["metrics"] == mine["metrics"]
    theirs["certificate"]["assumptions"].remove(PARTITIONS)
    assert theirs["certificate"] == mine["certificate"]
    pattern, out = str(tmp_path / "a*.csv"), str(tmp_path / "c")
    assert run(["train", "dpboost", "--data", pattern, "--dask", address, "--out", out, *common]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"] == mine["metrics"]
    assert (tmp_path / "c").read_bytes() == (tmp_path / "m").read_bytes()
    (tmp_path / "all.csv").write_text((tmp_path / "all.csv").read_text() + "Alice,0,x,yes\n")
    assert run(["train", "dpboost", "--data", pattern, "--dask", address, *common]) == 2
    shown = capsys.readouterr()
    assert "column 'a' holds text that is no number" in shown.out and "Alice" not in shown.out + shown.err
    assert run(["train", "dpboost", "--data", pattern, "--dask", "--epsilon", "2", "--json"]) == 2
    assert "--target and --bounds are needed" in capsys.readouterr().err
    assert expanded(["--dask", "--json"]) == ["--dask=local", "--json"]
    assert expanded(["--dask", "tcp://a:1"]) == ["--dask", "tcp://a:1"]


def test_a_regression_with_a_public_range() -> None:
    assert Loader(Schema((Numeric("a", 0, 1),), Interval(0, 2)))(pd.DataFrame({"a": [0.5], LABEL: [9.0]})).y == [2.0]
