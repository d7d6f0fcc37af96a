"""`conform`, `certify` and `predict` with their work replaced: what is chosen, shown and with which status it ends."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit.verdicts import Row, Verdict
from refdp.conform import certify, files, page, runner, tape_file
from refdp.data.records import Classes, Interval, Numeric, Schema
from refdp.faces import cli, prediction
from refdp.faces.commands import predict
from refdp.io import datasets
from refdp.io.datasets import Dataset, train_test, train_test_by_record

BODIES = [{"paper": paper, "kind": kind, "tests": [0] * count} for paper, kind, count in (
    ("dpboost", "grid", 3), ("dpboost", "neighbour", 4), ("sgbdt", "grid", 1), ("sgbdt", "route", 2))]  # fmt: skip


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Notes of what is asked. ok: of the report."""
    notes: dict[str, Any] = {"ok": True, "runs": [], "made": [], "read": []}

    def run(command: str, chosen: Any, *, timeout: float, seed: int | None, progress: Any) -> Any:
        for _ in range(sum(len(one["tests"]) for one in chosen)):
            progress()
        notes["runs"].append((command, [(one["paper"], one["kind"]) for one in chosen], timeout, seed))
        return SimpleNamespace(ok=notes["ok"], to_dict=lambda: {"ok": notes["ok"]})

    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr(page, "text", lambda report: "TEXT")
    monkeypatch.setattr(page, "page", lambda report: "PAGE")
    monkeypatch.setattr(files, "made", lambda *asked: notes["made"].append(asked) or BODIES)
    monkeypatch.setattr(files, "read", lambda place: notes["read"].append(place) or BODIES)
    monkeypatch.setattr(files, "kept", lambda: Path("kept"))
    monkeypatch.setattr(files, "write", lambda place: {"a": 3, "b": 4})
    return notes


GRIDS = [("dpboost", "grid"), ("sgbdt", "grid")]
EVERY = [(one["paper"], one["kind"]) for one in BODIES]


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ([], EVERY), (["--paper", "sgbdt"], EVERY[2:]), (["--kind", "grid"], GRIDS),
        (["--paper", "dpboost", "--kind", "grid"], GRIDS[:1]), (["--neighbours"], EVERY[1:2]),
        (["--neighbours", "--kind", "neighbour", "--paper", "dpboost"], EVERY[1:2]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("fresh", [None, 0, 7])
def test_vectors_are_chosen_by_paper_and_kind(
    work: dict[str, Any], capsys: Any, options: list[str], chosen: Any, fresh: int | None, tmp_path: Path
) -> None:
    seed = [] if fresh is None else ["--fresh", str(fresh)]
    assert cli.run(["conform", "--exec", "me", *options, *seed, "--timeout", "2.5"]) == 0
    assert work["runs"] == [("me", chosen, 2.5, fresh)] and capsys.readouterr().out == "TEXT"
    kind = "neighbour" if "--neighbours" in options else "grid" if "--kind" in options else None
    paper = options[options.index("--paper") + 1] if "--paper" in options else None
    assert work["made"] == ([] if fresh is None else [(paper, kind, fresh)])
    assert work["read"] == ([Path("kept")] if fresh is None else [])


def test_a_report_that_is_not_ok_has_status_1(work: dict[str, Any], capsys: Any, tmp_path: Path) -> None:
    html = tmp_path / "page.html"
    for ok in (True, False):
        work["ok"] = ok
        assert cli.run(["conform", "--exec", "me", "--html", str(html), "--json"]) == 1 - ok
        assert json.loads(capsys.readouterr().out) == {"ok": ok} and html.read_text() == "PAGE"
    assert cli.run(["conform", "--exec", "me", "--vectors", str(tmp_path), "--timeout", "0.5"]) == 1
    assert work["read"][-1] == tmp_path


def test_vectors_are_written_where_nothing_is_run(work: dict[str, Any], capsys: Any, tmp_path: Path) -> None:
    assert cli.run(["conform", "--vectors", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"7 vectors written to {tmp_path}\n"
    assert cli.run(["conform", "--vectors", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"vectors": 7, "files": {"a": 3, "b": 4}}
    for more in (["--paper", "sgbdt"], ["--kind", "grid"], ["--neighbours"], ["--fresh", "0"], ["--html", "x"], None):
        assert cli.run(["conform", *(["--vectors", str(tmp_path), *more] if more else [])]) == 2
        assert "--exec COMMAND is needed" in capsys.readouterr().err
    assert work["runs"] == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--paper", "other"], "--paper other: one of dpboost"), (["--kind", "other"], "--kind other: one of "),
        (["--neighbours", "--kind", "grid"], "--kind grid: one of neighbour is allowed"),
        (["--timeout", "0"], "seconds above 0"), (["--timeout", "nan"], "seconds above 0"),
        (["--fresh", "0", "--vectors", "."], "vectors are drawn anew or read, one of them"),
        (["--paper", "sgbdt", "--kind", "plan"], "no vectors of paper sgbdt and kind plan"),
        (["--paper", "grove"], "no vectors of paper grove and kind any"),
        (["--kind", "plan"], "no vectors of paper any and kind plan"),
    ],
)  # fmt: skip
def test_what_no_vectors_are_there_for_is_refused(
    work: dict[str, Any], capsys: Any, options: list[str], told: str
) -> None:
    assert cli.run(["conform", "--exec", "me", *options]) == 2
    assert told in capsys.readouterr().err and work["runs"] == []


# --- certify ----------------------------------------------------------------------------------------------------------

SCHEMA = Schema((Numeric("a", 0, 1),), Interval(0, 1))
X = np.random.default_rng(5).random((30, 1))
DATA = Dataset("people", X, X[:, 0], SCHEMA.features, "t", SCHEMA.target, {"a": "given", "t": "given"})


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("size", ["0.2", "0.5", "0"])
@pytest.mark.parametrize("part", ["training", "whole", "unsaid"])
def test_transcripts_are_certified_on_the_records_that_they_name(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path, part: str, size: str, relation: str
) -> None:
    """On the training part as `train` makes it, or on all of them; the models are handed on in order."""
    split = train_test_by_record(DATA, 0.2)[0] if relation == "add-remove" else train_test(DATA, 0.2, 0)[0]
    from refdp.faces.commands.options import public_records

    named = {"training": public_records(split), "whole": public_records(DATA), "unsaid": None}[part]
    header = {"params": {"relation": relation}}
    if named is not None:
        header["records"] = tape_file.records_digest(named)
    asked: list[Any] = []
    rows = (Row("one", Verdict.HOLDS, "r1"), Row("two", Verdict.NOT_FOUND, "r2", "a tenth"))

    def found(*given: Any) -> Any:
        asked.append(given)
        return certify.Certified(rows)

    monkeypatch.setattr(datasets, "load", lambda name, **more: DATA if (name, more["target"]) == ("people", "t") else 1)
    monkeypatch.setattr(tape_file, "read", lambda path: tape_file.Tape({**header, "path": path.name}, ()))
    monkeypatch.setattr(certify, "certify", found)
    models = [tmp_path / name for name in ("m1", "m2")]
    for one in models:
        one.write_text(one.name)
    given = ["certify", "t1", "t2", "--data", "people", "--target", "t", "--test-size", size]
    assert cli.run([*given, "--model", str(models[0]), "--model", str(models[1])]) == 0
    ((tapes, records, texts),) = asked
    assert [one.header["path"] for one in tapes] == ["t1", "t2"] and texts == ["m1", "m2"]
    expected = split if part == "training" and size == "0.2" else DATA
    np.testing.assert_array_equal(records.x, expected.x)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["HOLDS         one: r1", "NOT FOUND     two: r2 (smallest error seen: a tenth)",
                     f"NOT FOUND. About {certify.ABOUT}."]  # fmt: skip
    if size == "0.2" and part == "whole":
        rows = (Row("one", Verdict.VIOLATION, "r1"),)
        assert cli.run(given) == 1 and asked[-1][2] == []
        rows = (Row("one", Verdict.NOT_EXAMINED, "r1"),)
        assert cli.run([*given, "--json"]) == 3
        assert cli.run([*given, "--model", str(tmp_path / "none")]) == 2


# --- predict ----------------------------------------------------------------------------------------------------------


def test_predictions_as_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line a record: the class, and the chance of each; a number alone for a regression."""
    monkeypatch.setattr(prediction, "scores", lambda model, x: np.array([0.5, -1.0]))
    monkeypatch.setattr(prediction, "classes", lambda model, x: np.array([1, 0]))
    monkeypatch.setattr(prediction, "probabilities", lambda model, x: np.array([[0.25, 0.75], [1.0, 0.0]]))
    numbers: Any = SimpleNamespace(paper="dpboost", schema=SCHEMA)
    found = predict._document(numbers, None)
    assert found == {"paper": "dpboost", "predictions": [0.5, -1.0]}
    assert predict._csv(found) == "prediction\n0.5\n-1.0\n"
    kinds: Any = SimpleNamespace(paper="sgbdt", schema=Schema(SCHEMA.features, Classes(("no", "yes, or so"))))
    found = predict._document(kinds, None)
    assert found == {"paper": "sgbdt", "classes": ["no", "yes, or so"], "predictions": ["yes, or so", "no"],
                     "probabilities": [[0.25, 0.75], [1.0, 0.0]]}  # fmt: skip
    assert predict._csv(found).splitlines() == [
        'prediction,probability of no,"probability of yes, or so"', '"yes, or so",0.25,0.75', "no,1.0,0.0"]  # fmt: skip
