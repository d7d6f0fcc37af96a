"""Files of a cluster, witnesses of a trainer, certificates as pages, and what a selection scores by."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit.verdicts import Row, Verdict
from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.faces import select
from refdp.faces.commands import audit_run, audit_trainer, certificates, train_dask
from refdp.io.datasets import held_out_by_record, load, train_test_by_record
from refdp.io.domains import columns_of
from refdp.io.tables import Block, blocks, read_table
from refdp.ledger.certificate import Certificate, Guarantee, ReleaseLine
from refdp.noise.mechanisms import DiscreteLaplace
from refdp.privacy.events import Charge, Relation, Sensitivity
from tests.printed import printed

AR = Relation.ADD_REMOVE


# --- Partitions of a cluster ------------------------------------------------------------------------------------------


def test_a_schema_of_files_is_that_of_the_bounds_alone(tmp_path: Path) -> None:
    """In the order of the columns, the target apart; every column is described, and every one described is there."""
    bounds = tmp_path / "bounds.json"

    def described(domains: dict[str, Any], columns: list[str], target: str) -> Any:
        bounds.write_text(json.dumps(domains))
        return train_dask._described("p*.csv", columns, target, bounds)

    domains = {"b": [0, 1], "t": [-2, 3], "a": ["x", "y"]}
    schema, sources = described(domains, ["a", "t", "b"], "t")
    assert [one.name for one in schema.features] == ["a", "b"] and schema.target == Interval(-2, 3)
    assert list(sources) == ["a", "t", "b"] and schema.features[1] == Numeric("b", 0, 1)
    schema, _ = described(domains, ["a", "t", "b"], "a")
    assert [one.name for one in schema.features] == ["t", "b"] and schema.target == Classes(("x", "y"))
    for columns, target, missing in ((["a", "t"], "t", "b"), (["b", "t"], "t", "a"), (["a", "b", "t"], "q", "q")):
        with pytest.raises(InvalidRecords, match=f"no column '{missing}'; the first line of a file"):
            described(domains, columns, target)
    for extra, told in ((["u1"], "for u1;"), ([f"u{k}" for k in range(5)], "for u0, u1, u2, u3, u4;"),
                        ([f"u{k}" for k in range(7)], "for u0, u1, u2, u3, u4 and 2 more;")):  # fmt: skip
        with pytest.raises(InvalidRecords, match=told):
            described(domains, ["a", "t", "b", *extra], "t")


@pytest.mark.parametrize("size", [0.0, 0.4])
def test_parts_of_a_partition_are_all_of_it_once(size: float) -> None:
    """Each record decides by itself, wherever it is; nothing is held out where nothing is asked for."""
    pandas = pytest.importorskip("pandas")
    schema = Schema((Numeric("a", 0, 1), Numeric("b", 0, 1)), Interval(0.0, 1.0))
    generator = np.random.default_rng(3)
    frame = pandas.DataFrame({"a": generator.random(60), "b": generator.random(60), "t": generator.random(60)})
    parts = {training: train_dask.Part(schema, "t", size, training=training) for training in (True, False)}
    training, rest = parts[True](frame), parts[False](frame)
    if not size:
        assert training.size == rest.size == 60
        np.testing.assert_array_equal(training.x, frame[["a", "b"]])
        return
    assert training.size + rest.size == 60 and 12 < rest.size < 36
    both = np.concatenate([training.x, rest.x])
    assert {tuple(row) for row in both.tolist()} == {tuple(row) for row in frame[["a", "b"]].to_numpy().tolist()}
    halves = [parts[False](frame[:25]), parts[False](frame[25:])]
    np.testing.assert_array_equal(np.concatenate([one.x for one in halves]), rest.x)
    np.testing.assert_array_equal(np.concatenate([one.y for one in halves]), rest.y)
    assert parts[True](frame[:0]).size == 0 and parts[False](frame[:0]).size == 0


def test_files_of_one_kind_are_read(tmp_path: Path) -> None:
    frames = pytest.importorskip("dask.dataframe")
    asked: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        parquet = SimpleNamespace(columns=("a", "b"), to_delayed=lambda: ["parts"])
        patch.setattr(frames, "read_parquet", lambda files: asked.append(files) or parquet)

        def found(*names: str, second: str = "b,a") -> Any:
            for old in tmp_path.iterdir():
                old.unlink()
            for name in names:
                text = f"{second if name[0] == 'b' else 'a,b'}\n1,2\n".encode()
                (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
            return train_dask._partitions(str(tmp_path / "*"))

        columns, parts = found("b.csv", "a.csv")
        assert columns == ["a", "b"]
        assert [part.compute(scheduler="synchronous") for part in parts] == [
            Block(tmp_path / "a.csv", ("a", "b"), 0, 8), Block(tmp_path / "b.csv", ("b", "a"), 0, 8)]  # fmt: skip
        _, parts = found("a.csv", "b.csv.gz")
        assert parts[1].compute(scheduler="synchronous") == Block(tmp_path / "b.csv.gz", ("b", "a"))
        with pytest.raises(InvalidRecords, match=r"b.csv: other columns than .*a.csv$"):
            found("a.csv", "b.csv", second="a,Alice")
        assert found("a.parquet", "b.pq") == (["a", "b"], ["parts"]) and len(asked.pop()) == 2
        for names in (("a.csv", "b.parquet"), ("a.txt",), ("a.csv", "b.txt")):
            with pytest.raises(InvalidRecords, match=r"all in .csv or .csv.gz"):
                found(*names)
        with pytest.raises(InvalidRecords, match="no such file"):
            found()

        def broken(files: list[str]) -> Any:
            raise ValueError("Alice")

        patch.setattr(frames, "read_parquet", broken)
        with pytest.raises(InvalidRecords, match=r"cannot be read as parquet$") as caught:
            found("a.pq")
        assert caught.value.__context__ is None


BOUNDS = Schema((Numeric("a", 0, 1), Categorical("c", ("NA", "None", "x"))), Classes(("01", "2")))
CELLS = ["0.5", "", " ", "nan", "1e-3", "7", "0.25"]


def test_blocks_of_a_file_are_read_as_memory_reads_it(tmp_path: Path) -> None:
    """Cells that pandas takes for missing, blanks, quotes, classes that are numbers: cut anywhere, the same records."""
    chance = np.random.default_rng(6)
    kinds, classes = ["NA", "None", " x", "null", "ü"], ["1", "2.0"]
    rows = [f'{chance.choice(CELLS)}, "{chance.choice(kinds)}",{chance.choice(classes)}' for _ in range(50)]
    path = tmp_path / "some.csv"
    path.write_bytes("\r\n".join(["\ufeffa,c,t", *rows[:20], "", *rows[20:]]).encode())
    whole = load(path, target="t", bounds=columns_of(BOUNDS, "t"))
    for size in (7, 40, 200, 10**6):
        parts = blocks(path, size)
        assert len(parts) == -(-path.stat().st_size // size) and parts[0].names == ("a", "c", "t")
        for held, mine in zip((True, False), train_test_by_record(whole, 0.4), strict=True):
            found = [train_dask.Part(BOUNDS, "t", 0.4, training=held)(part) for part in parts]
            expected = mine.records()
            np.testing.assert_array_equal(np.concatenate([one.x for one in found]), expected.x)
            np.testing.assert_array_equal(np.concatenate([one.y for one in found]), expected.y)
    (tmp_path / "some.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    (one,) = blocks(tmp_path / "some.csv.gz", 7)
    assert {name: list(column) for name, column in one.table().columns.items()} == {
        name: list(column) for name, column in read_table(path).columns.items()}  # fmt: skip


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("Alice,x,2", "column 'a' holds text that is no number"),
        ("0,x,Alice", "a value of target 't' is missing or not one of 01, 2"),
        ("0,x,2,Alice", "a record has not the 3 fields that the header has"),
        ('0,"Alice,2', "cannot be read as CSV: unexpected end of data"),
        ('0,"Alice\nand Bob",2', "cannot be read as CSV"),  # a cut goes through the quotes
        ("0,Andr\xe9,2", "cannot be read as CSV: it is not in UTF-8"),
    ],
)
def test_a_bad_record_of_a_block_is_refused_in_fixed_words(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "some.csv"
    path.write_bytes(("a,c,t\n" + "0,x,2\n" * 9 + row + "\n0,x,2\n").encode("latin1"))
    refused = []
    for place in range(2):
        try:
            train_dask.Part(BOUNDS, "t", 0.0, training=True)(blocks(path, 66)[place])
        except InvalidRecords as error:
            refused.append(error)
    assert refused and message in str(refused[0])
    assert all("Alice" not in str(error) and error.__context__ is None for error in refused)


def test_a_file_without_a_header_or_records_is_no_block(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("a,c,t\n")
    (block,) = blocks(path)
    assert train_dask.Part(BOUNDS, "t", 0.4, training=True)(block).x.shape == (0, 2)
    for text, message in (
        ("", "0 lines, a header is needed"),
        ("a;c\n", "separated by commas"),
        ("a,a\n", "than once"),
    ):
        path.write_text(text)
        with pytest.raises(InvalidRecords, match=message):
            blocks(path)


def test_a_record_is_held_out_by_its_label_as_it_was_read() -> None:
    """Labels outside the range are clamped for training alone."""
    pandas = pytest.importorskip("pandas")
    chance = np.random.default_rng(8)
    frame = pandas.DataFrame({"a": chance.random(80), "t": chance.normal(size=80)})
    schema = Schema((Numeric("a", 0, 1),), Interval(-0.5, 0.5))
    held = held_out_by_record(frame[["a"]].to_numpy(), frame["t"].to_numpy(), 0.5)
    training, rest = (train_dask.Part(schema, "t", 0.5, training=which)(frame) for which in (True, False))
    np.testing.assert_array_equal(training.x[:, 0], frame["a"][~held])
    np.testing.assert_array_equal(rest.y, frame["t"][held].clip(-0.5, 0.5))


def test_what_a_cluster_needs_is_asked_for_first() -> None:
    pytest.importorskip("dask")
    given: Any = ("paper", {}, {}, "p*", "t", Path("b"), "source", 0.25, Relation.REPLACE_ONE, None)
    with pytest.raises(InvalidParameter, match=r"--test-size 0\.25 with replace-one"):
        train_dask.distributed(*given)
    for place in (4, 5):
        missing = [*given[:place], None, *given[place + 1 :]]
        with pytest.raises(InvalidParameter, match="--target and --bounds are needed"):
            train_dask.distributed(*missing)


# --- Findings ---------------------------------------------------------------------------------------------------------


def test_witnesses_of_a_trainer_are_of_its_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    known = [SimpleNamespace(pair=SimpleNamespace(base=SimpleNamespace(schema=name))) for name in "ss"]
    monkeypatch.setattr(audit_trainer, "read_witnesses", lambda path, relation: known if relation is AR else [])
    asked: Any = SimpleNamespace(witness=Path("w"), relation=AR)
    schema: Any = "s"
    assert audit_trainer._known(asked, schema) is known
    known[1].pair.base.schema = "t"
    with pytest.raises(InvalidParameter, match="--witness w: its columns and bounds are not those"):
        audit_trainer._known(asked, schema)
    assert audit_trainer._known(SimpleNamespace(witness=None), schema) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", [None, 2.5])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_pages_of_findings(loss: float | None, delta: float) -> None:
    """Title, verdict with the number of violations, pairs, claim and greatest loss; then what was covered."""
    violation = SimpleNamespace(kind="sensitivity", release="leaves", claim="x/y", declared=1.0, observed=None,
                                witness={"releases": ["a"]}, loss_in_words=lambda: "loss 2")  # fmt: skip
    row = Row("sampler", Verdict.HOLDS, "r", "p")
    plain: dict[str, Any] = {"pairs": 36, "claimed": Guarantee(1.5, 0.0), "max_loss": loss, "coverage": (row,)}
    report: Any = SimpleNamespace(**plain, verdict=Verdict.VIOLATION, violations=[violation] * 2)
    lines = printed(audit_run.audit_page("TITLE", report))
    assert [line.split() for line in lines[:5]] == [
        ["audit", "TITLE"], ["verdict", "VIOLATION,", "2", "violations"], ["pairs", "replayed", "36"],
        ["claimed", "epsilon", "1.5"], ["greatest", "loss", *(["none", "stated"] if loss is None else ["2.5"])],
    ]  # fmt: skip
    assert lines[5] == "" and lines[6].split()[0] == "what" and lines[7].split() == ["sampler", "HOLDS", "r", "p"]
    assert sum(line.startswith("sensitivity at leaves") for line in lines) == 2
    asked: Any = SimpleNamespace(name="m:t", relation=AR, epsilon=1.5, delta=delta)
    head = printed(audit_trainer._page(asked, report))[0]
    claim = "epsilon 1.5" + (", delta 1e-06" if delta else "")
    assert head == f"audit  m:t, add-remove neighbours, {claim}: VIOLATION, 2 violations, 36 pairs replayed"


def test_a_certificate_as_a_page() -> None:
    """Lines of one kind together, how many and from where to where; a guarantee missed by half a billionth holds."""
    lines = (ReleaseLine("s 0/leaves of tree 1", "Laplace", 2, 1.0, "1", "x/y", 0.25),
             ReleaseLine("s 0/leaves of tree 2", "Laplace", 3, 1.5, "1", "x/y", 0.5),
             ReleaseLine("count", "Laplace", 1, 1.0, "range", "x/z", 0.125))  # fmt: skip
    for factor, holds in ((1 + 5e-10, True), (1 + 2e-9, False), (0.5, True)):
        one = Certificate("dpboost", AR, Guarantee(2.0, 0.0), Guarantee(2.0 * factor, 0.0),
                          (("x/y", "verified"), ("x/z", "verified")),
                          lines, ("A NOTE",), ("AN ASSUMPTION",))  # fmt: skip
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(certificates, "STYLES", {"verified": "green"})
            page: Any = certificates.certificate_page(one)
            assert page.border_style == ("green" if holds else "red")
            shown = [line.strip("│ ").split() for line in printed(page)]
        first = next(k for k, words in enumerate(shown) if words[:1] == ["leaves"])
        assert shown[first] == ["leaves", "of", "tree", "#", "5", "1", "to", "0.25", "to", "x/y"]
        assert shown[first + 1] == ["1.5", "0.5", "verified"] and shown[first + 2] == ["norm", "1"]
        assert shown[first + 3] == ["count", "1", "1", "0.125", "x/z"]
        assert shown[first + 4] == ["range", "verified"]
        assert ["!", "A", "NOTE"] in shown and ["assuming", "AN", "ASSUMPTION"] in shown


# --- Scores of a selection --------------------------------------------------------------------------------------------


def test_a_selection_scores_by_errors_of_at_most_one_a_record() -> None:
    """Squares of differences in units of the label's range, or wrong classes; the fewer the better."""
    charge = Charge(DiscreteLaplace(2.0**-20, 2.0**-24), Sensitivity(1.0, 1, "x/y", AR), Sensitivity(1.0, 1, "x/y", AR))
    y = [1.0, 2.0, 9.0, 5.0]
    model = SimpleNamespace(
        _regression=True, label_bounds=(1.0, 5.0), predict=lambda X: np.array([1.0, 4.0, 5.0, -99.0])
    )

    def score(model: Any, y: Any) -> float:
        return select._score(model, None, y, charge, AR, np.random.default_rng(0))

    assert score(model, y) == pytest.approx(-(0 + 0.25 + 0 + 1), abs=1e-4)
    kinds = SimpleNamespace(_regression=False, classes_=np.array(["a", "b", "c"]))
    kinds.predict = lambda X: kinds.classes_[[0, 2, 1]]
    assert score(kinds, np.array([0.0, 1.0, 2.0])) == pytest.approx(-2, abs=1e-4)
    assert score(kinds, np.array([0.0, 2.0, 1.0])) == pytest.approx(0, abs=1e-4)
    assert kinds.classes_.tolist() == ["a", "b", "c"]
