"""The audit of a function, with its search, runs and checks replaced: what each is given, and what becomes of it."""

from __future__ import annotations

import errno
import io
import json
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import typer

from refdp.audit.blackbox import Bound
from refdp.audit.runs import InputPair
from refdp.audit.verdicts import Row, Verdict
from refdp.errors import InvalidParameter
from refdp.faces import cli, registry
from refdp.faces.commands import blackbox
from refdp.privacy.events import Relation

PAIR = InputPair(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 2.0]]))
BOUND = Bound(0.5, 0.95, 1e-6, 1.0, "the event", "", "first", "counts", (7, 3), 40, 100, 0, 2.5)


def given(**more: Any) -> blackbox.Given:
    plain: dict[str, Any] = {
        "name": "m:f", "pair": None, "schema": None, "example": None, "relation": None, "score": "m:s",
        "gaussian": False, "epsilon": 2.0, "delta": 1e-6, "confidence": 0.95, "samples": 1000, "seed": 3, "jobs": 2,
        "resume": None, "structural": True, "outliers": True, "low_bits": True, "html": None, "as_json": True,
    }  # fmt: skip
    return blackbox.Given(**(plain | more))


@contextmanager
def quiet(*names: str) -> Any:
    yield lambda *progress: None


class Work:
    """Stands for a Job: its function is itself."""

    def __init__(self, name: str, pair: InputPair, seed: int, score: str = "") -> None:
        self.given = (name, pair, seed, score)

    def function(self) -> Any:
        return ("function", *self.given)


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Everything that takes time is a note of how it was called."""
    notes: list[Any] = []

    def chosen(*asked: Any) -> Any:
        notes.append(asked)
        return SimpleNamespace(pair=PAIR, tried=9, words=lambda: "9 tried")

    monkeypatch.setattr(blackbox, "load", lambda *asked: None)
    monkeypatch.setattr(blackbox, "prints_on_standard_error", quiet)
    monkeypatch.setattr(blackbox, "Job", Work)
    monkeypatch.setattr(blackbox, "chosen", chosen)
    monkeypatch.setattr(blackbox, "ranges_of_schema", lambda path: ("schema", path))
    monkeypatch.setattr(blackbox, "ranges_of_example", lambda path: ("example", path))
    monkeypatch.setattr(blackbox, "audited", lambda given, pair: notes.append(pair) or (BOUND, [], 300, None))
    return notes


def test_a_pair_is_searched_where_none_is_given(
    replaced: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From a schema or an example; of the relation that is given, else add-remove; the report names it."""
    for option in ("schema", "example"):
        for relation in (None, Relation.REPLACE_ONE):
            replaced.clear()
            asked = given(**{option: Path("x")}, relation=relation)
            assert blackbox.audit_callable(asked) == 0
            first, second = replaced
            function, columns, *rest = first
            assert function[0] == "function" and function[1] == "m:f" and function[3:] == (0, "m:s")
            assert columns == (option, Path("x")) and second is PAIR
            assert rest == [relation or Relation.ADD_REMOVE, 2.0, 1e-6, 3]
            told = json.loads(capsys.readouterr().out)
            assert told["pair"] == {"first": [[1.0, 2.0], [3.0, 4.0]], "second": [[1.0, 2.0]]}
            assert told["pairs_tried"] == 9 and "gaussian" not in told
            reasons = {row["what"]: row["reason"] for row in told["coverage"]}
            assert reasons["record counts"] == "data sets of 1 and 2 records; no others; 9 tried"
            assert sum("9 tried" in reason for reason in reasons.values()) == 1


def test_a_given_pair_is_taken_as_it_is(
    replaced: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reads: list[Any] = []
    monkeypatch.setattr(blackbox, "read_pair", lambda path, relation: reads.append((path, relation)) or PAIR)
    assert blackbox.audit_callable(given(pair=Path("p"), relation=Relation.ADD_REMOVE)) == 0
    assert reads == [(Path("p"), Relation.ADD_REMOVE)] and replaced == [PAIR]
    told = json.loads(capsys.readouterr().out)
    assert "pair" not in told and "pairs_tried" not in told
    assert told["ok"] and told["verdict"] == "NOT FOUND" and told["lower_bound"] == 0.5
    assert told["claimed_epsilon"] == 1.0 and told["delta"] == 1e-6 and told["counts"] == [7, 3]
    assert told["tested"] == 40 and told["seconds"] == 2.5 and told["structural_calls"] == 300
    assert told["structural"] == []


def test_the_status_of_findings_and_of_pages_that_cannot_be_written(
    replaced: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A violation is 1 with or without its page; a page that fails is 2; who ends the program gets no verdict."""
    monkeypatch.setattr(blackbox, "read_pair", lambda path, relation: PAIR)
    rows: list[Any] = []
    page = lambda given_rows: rows.append(given_rows) or SimpleNamespace(html=lambda: "PAGE")  # noqa: E731
    for bound, there, due in ((BOUND, True, 0), (BOUND, False, 2), (replace(BOUND, lower=1.5), True, 1),
                              (replace(BOUND, lower=1.5), False, 1)):  # fmt: skip
        monkeypatch.setattr(blackbox, "audited", lambda given, pair: (bound, [], 300, page))  # noqa: B023
        file = tmp_path / ("page.html" if there else "none/page.html")
        assert blackbox.audit_callable(given(pair=Path("p"), html=file)) == due
        assert not there or file.read_text() == "PAGE"
        assert isinstance(rows[-1][0], Row)
        assert blackbox.audit_callable(given(pair=Path("p"))) == (due if bound.lower > 1 else 0)
    capsys.readouterr()

    def ends(given: Any, pair: Any) -> Any:
        raise SystemExit(5)

    monkeypatch.setattr(blackbox, "audited", ends)
    with pytest.raises(InvalidParameter, match="'m:f': it ended the program with status 5"):
        blackbox.audit_callable(given(pair=Path("p")))


def test_a_bound_for_gaussian_outputs_is_told_beside(
    replaced: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From as many runs as were allowed, GAUSSIAN_RUNS at most."""
    monkeypatch.setattr(blackbox, "read_pair", lambda path, relation: PAIR)
    asked: list[Any] = []

    def bounded(function: Any, pair: Any, delta: float, **more: Any) -> Any:
        asked.append((function, pair, delta, more))
        return SimpleNamespace(mu=0.25, epsilon=1.5, assumption="IT IS", to_dict=lambda: {"mu": 0.25})

    monkeypatch.setattr(blackbox, "gaussian_lower_bound", bounded)
    for samples, due in ((1000, 1000), (20_001, 20_000)):
        blackbox.audit_callable(given(pair=Path("p"), gaussian=True, samples=samples))
        function, pair, delta, more = asked[-1]
        assert function == ("function", "m:f", PAIR, 3, "m:s") and pair is PAIR and delta == 1e-6
        assert more == {"confidence": 0.95, "samples": due, "seed": 3}
        assert json.loads(capsys.readouterr().out)["gaussian"] == {"mu": 0.25}
    blackbox.audit_callable(given(pair=Path("p"), gaussian=True, as_json=False))
    assert "as Gaussian: mu >= 0.25, epsilon >= 1.5, only if IT IS" in capsys.readouterr().out
    assert blackbox._as_gaussian(given(), PAIR) is None and len(asked) == 3


# --- Runs and checks --------------------------------------------------------------------------------------------------


class Runs:
    """Stands for a Campaign."""

    def __init__(self, job: Any, resume: Any, jobs: int, watch: Any) -> None:
        self.given, self.watch, self.watch_calls = (job.given, resume, jobs), watch, None

    def upto(self, samples: int) -> Any:
        return ("runs", samples)


def test_what_an_audit_of_a_pair_is_made_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The progress of runs never says more than were asked; no checks where there is no room for them."""
    asked: list[Any] = []
    shown: list[Any] = []

    def bound_from(campaigns: Any, delta: float, **more: Any) -> Bound:
        asked.append((campaigns[0].given, delta, more))
        campaigns[0].watch(999)
        campaigns[0].watch(1001)
        more["progress"](5, 7, 0.25)
        return BOUND

    @contextmanager
    def bar(title: str) -> Any:
        yield lambda *progress: shown.append((title, *progress))

    def findings(function: Any, pair: InputPair, given: Any, calls: int) -> Any:
        function.runs.watch_calls(4)
        asked.append((pair, calls))
        return ["found"]

    monkeypatch.setattr(blackbox, "Job", Work)
    monkeypatch.setattr(blackbox, "Campaign", Runs)
    monkeypatch.setattr(blackbox, "bound_from", bound_from)
    monkeypatch.setattr(blackbox, "bar", bar)
    monkeypatch.setattr(blackbox, "structural_findings", findings)
    monkeypatch.setattr(blackbox, "without_noise", lambda given, bound, runs: [runs])
    monkeypatch.setattr(blackbox, "structural_calls", lambda given: 12 if given.structural else 0)
    monkeypatch.setattr(blackbox, "Remembered", lambda function, runs: SimpleNamespace(function=function, runs=runs))
    found = blackbox.audited(given(resume=tmp_path / "r"), PAIR)
    assert found == (BOUND, ["found", ("runs", 100)], 12, None)
    (job, resume, jobs), delta, more = asked[0]
    assert (job, resume, jobs, delta) == (("m:f", PAIR, 3, "m:s"), tmp_path / "r", 2, 1e-6)
    assert more.pop("progress") and more == {"claimed": 2.0, "confidence": 0.95, "samples": 1000, "low_bits": True}
    assert asked[1] == (PAIR, 12)
    assert shown == [("epsilon >= 0", 999, 1000, None), ("epsilon >= 0", 1000, 1000, None),
                     ("epsilon >= 0", 5, 7, "epsilon >= 0.25"), ("structural checks, runs", 4, None)]  # fmt: skip
    pages: list[Any] = []
    monkeypatch.setattr(blackbox, "blackbox_page", lambda *given, **more: pages.append((given, more)))
    *_, calls, page = blackbox.audited(given(structural=False, html=Path("h"), low_bits=False), PAIR)
    assert calls == 0 and page is not None and asked[-1][0][1] is None
    page(())
    (name, function, bound, structure, runs, command, rows), more = pages[0]
    assert name == "m:f and the score m:s of its output"
    assert (function, bound, structure) == (("function", "m:f", PAIR, 3, "m:s"), BOUND, [])
    assert runs == ("runs", 100) and command.startswith("refdp audit --callable m:f") and rows == ()
    assert more == {"stops": len(blackbox.looks(1000, 1.0)), "low_bits": False}


def test_checks_of_structure_are_given_the_claim_and_may_leave_out_last_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    kinds = [SimpleNamespace(kind=kind, to_dict=lambda kind=kind: {"kind": kind}) for kind in ("precision", "reused")]

    def inspect(*given: Any, **more: Any) -> Any:
        asked.append((given, more))
        return kinds

    monkeypatch.setattr(blackbox.structural, "inspect", inspect)
    runs: Any = object()
    assert blackbox.structural_findings(runs, PAIR, given(), 12) == [{"kind": "precision"}, {"kind": "reused"}]
    assert blackbox.structural_findings(runs, PAIR, given(low_bits=False, outliers=False), 12) == [{"kind": "reused"}]
    for (function, pair, seed), more in asked:
        assert function is runs and pair[0] is PAIR.first and pair[1] is PAIR.second and seed == 3
        assert more.pop("order") is (more is asked[0][1])
        assert more == {"epsilon": 2.0, "delta": 1e-6, "calls": 12, "alarm": 1e-9, "few": False}


def test_a_function_of_seeds_is_one_of_generators() -> None:
    """Whole numbers of 32 bits, drawn anew for each run."""
    called = blackbox._by_seed(lambda records, seed: (records, seed))
    generator, same = np.random.default_rng(5), np.random.default_rng(5)
    for records in "abc":
        assert called(records, generator) == (records, int(same.integers(2**32)))


def test_the_page_of_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    """Every figure in its place; findings red where they refute and yellow else."""
    finding = {"kind": "reused noise", "where": "", "meaning": "it was seen", "violation": True, "probability": 1e-9,
               "evidence": {}, "example": None}  # fmt: skip
    rows = (Row("sampler", Verdict.VIOLATION, "r"),)
    from rich.console import Console

    other = finding | {"violation": False, "where": "[0]"}
    shown = blackbox.shown("m:f", BOUND, [], 0, rows)
    Console(width=200).print(shown)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0].strip() for line in lines[:8]] == [
        "verdict", "finding", "claimed epsilon", "lower bound", "event", "counts", "assuming", "structure"]  # fmt: skip
    assert lines[0].split() == ["verdict", "VIOLATION"] and lines[2].rstrip().endswith(" 1")
    assert lines[3].rstrip().endswith("0.5 at confidence 0.95") and lines[4].rstrip().endswith("first side likelier")
    assert lines[5].rstrip().endswith("7 : 3 of 40 runs a side (counts)")
    assert lines[7].rstrip().endswith("not checked")
    assert [blackbox._style(one) for one in (finding, other)] == ["red", "yellow"]
    found: Any = [next(iter(shown.renderables[0].columns[1].cells)), list(shown.renderables[0].columns[1].cells)[1]]
    assert str(found[0]) == "VIOLATION" and str(found[1]) == blackbox.verdict("m:f", BOUND, [])
    assert str(found[1].style) == blackbox.STYLES[Verdict.VIOLATION]
    fine: Any = blackbox.shown("m:f", BOUND, [], 0, (Row("sampler", Verdict.HOLDS, "r"),))
    assert str(list(fine.renderables[0].columns[1].cells)[1].style) == blackbox.STYLES.get(Verdict.HOLDS, "bold green")


@pytest.mark.parametrize("status", ["", "0", "1", "3", "None", "'text'"])
def test_a_module_that_ends_the_program_gives_no_result(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: str
) -> None:
    """A script without a guard: its status would pass for the audit's."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    name = f"ends_with_{len(status)}_{status[-1:].strip(chr(39))}"
    Path(f"{name}.py").write_text(f"import sys\nsys.exit({status})\n", encoding="utf-8")
    Path("schema.json").write_text('{"a": [0, 1], "y": [0, 1]}', encoding="utf-8")
    Path("pair.json").write_text('{"first": [[0.0]], "second": [[0.0], [1.0]]}', encoding="utf-8")
    for given in (["--trainer", f"{name}:f", "--schema", "schema.json"],
                  ["--callable", f"{name}:f", "--pair", "pair.json"],
                  ["--callable", "math:fsum", "--pair", "pair.json", "--score", f"{name}:f"]):  # fmt: skip
        assert cli.run(["audit", *given, "--json"]) == 2
        shown = capsys.readouterr()
        assert "it ended the program with status" in json.loads(shown.out)["error"] and shown.err.count("\n") == 1


@pytest.mark.parametrize("code", [0, 1, None, "text"])
def test_a_command_whose_foreign_code_ends_the_program_has_no_status_of_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, code: Any
) -> None:
    def ends(*given: Any, **more: Any) -> Any:
        raise SystemExit(code)

    monkeypatch.setattr(registry, "paper", ends)
    assert cli.run(["train", "dpboost", "--data", "a", "--epsilon", "1"]) == 2
    assert f"ended the program with status {code}" in capsys.readouterr().err


class Tells(Exception):
    """What is said of it is made wherever it is told."""

    def __str__(self) -> str:
        raise typer.Exit(0)


@pytest.mark.parametrize(
    "error", [typer.Exit(0), typer.Abort(), EOFError(), Tells()], ids=lambda one: type(one).__name__
)
def test_foreign_code_ends_no_command_as_commands_are_ended(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def ends(*given: Any, **more: Any) -> Any:
        try:
            raise error
        except Tells as told:
            raise InvalidParameter(str(told)) from told

    monkeypatch.setattr(registry, "paper", ends)
    assert cli.run(["train", "dpboost", "--data", "a", "--epsilon", "1", "--json"]) == 2
    kind = "Exit" if isinstance(error, Tells) else type(error).__name__
    assert f"code that was run raised {kind}" in json.loads(capsys.readouterr().out)["error"]


def test_a_stream_of_foreign_code_has_no_status(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    class Stream(io.StringIO):
        def write(self, text: str) -> int:
            raise SystemExit(0)

    shown = cli._failed
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Stream())
        patch.setattr(cli, "_failed", lambda error, as_json, status=2: shown(error, False, status))
        assert cli.run(["claims", "--json"]) == 2
    assert "ended the program with status 0" in capsys.readouterr().err


@pytest.mark.parametrize("number", [errno.ETIMEDOUT, errno.EPIPE])
def test_an_error_of_a_connection_is_told_as_every_other(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """And none of standard output, of which there may be no more to be read."""

    def ends(*given: Any, **more: Any) -> Any:
        raise OSError(number, "no scheduler")

    monkeypatch.setattr(registry, "paper", ends)
    assert cli.run(["train", "dpboost", "--data", "a", "--epsilon", "1", "--json"]) == 2
    shown = capsys.readouterr()
    assert "no scheduler" in json.loads(shown.out)["error"] and "no scheduler" in shown.err
    monkeypatch.setattr("builtins.print", ends)
    with nullcontext() if number == errno.EPIPE else pytest.raises(TimeoutError):
        assert cli.run(["claims", "--json"]) == cli.UNREAD
