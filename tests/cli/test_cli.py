"""The command line as scripts rely on it: fields, exit statuses, one line for an error."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from refdp.faces import cli, registry
from refdp.faces.commands.claims import ledgers_like
from refdp.ledger import claims as ledger
from tests.thinned import thinned

QUICK = ["--set", "trees=4", "depth=2", "bins=8"]
TRAIN = ["train", "dpboost", "--epsilon", "2", *QUICK]
Call = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run the command line with --json: status, document, standard error."""

    def run(*arguments: str) -> tuple[int, Any, str]:
        status = cli.run([*arguments, "--json"])
        shown = capsys.readouterr()
        return status, json.loads(shown.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON")), shown.err

    return run


@pytest.fixture
def people(tmp_path: Path) -> dict[str, str]:
    """A CSV file with a category and a missing value, and its public bounds."""
    generator = np.random.default_rng(0)
    lines = ["age,work,rich"]
    for age in generator.integers(18, 90, 60):
        lines.append(f"{age},{'shop' if age % 3 else 'farm'},{'yes' if age > 50 else 'no'}")
    lines[5] = ",shop,no"
    data, bounds = tmp_path / "people.csv", tmp_path / "bounds.json"
    data.write_text("\n".join(lines))
    bounds.write_text(json.dumps({"age": [0, 120], "work": ["shop", "farm"], "rich": ["no", "yes"]}))
    return {"data": str(data), "bounds": str(bounds), "model": str(tmp_path / "model.json"), "dir": str(tmp_path)}


def test_help_shows_the_brackets_of_the_bounds_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Square brackets are markup to the help's printer; unescaped they are lost."""
    monkeypatch.setenv("COLUMNS", "200")
    assert cli.run(["train", "--help"]) == 0
    assert "[low, high]" in capsys.readouterr().out


COMMANDS: dict[str, Any] = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_shows_every_bracket_and_the_command_as_it_is_typed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    assert cli.run([*name.split(), "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"Usage: refdp {name} [OPTIONS]" in shown and "\\" not in shown
    for one in COMMANDS[name].params:
        for text in filter(None, (getattr(one, "help", None), one.metavar)):
            assert " ".join(text.replace("\\[", "[").split()) in shown


@pytest.mark.parametrize("command", ["train", "predict", "audit", "claims", "account"])
def test_help_fits_a_terminal_of_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """No word of it is broken in two, and every option has an explanation."""
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.run([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    options = [line.strip("│* ").split() for line in shown.splitlines() if line.startswith(("│ --", "│ *  --"))]
    assert options and all(len(row) > 2 for row in options)
    assert "add-remove" in shown or command in ("predict", "claims")
    assert "e-one>" not in shown and "[[" not in shown.replace("[[...]]", "")


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == "refdp 0.1.0\n"


# --- train and predict ------------------------------------------------------------------------------------------------


def test_train_on_named_data(call: Call) -> None:
    status, document, progress = call(*TRAIN, "--data", "breast_cancer", "--seed", "1")
    assert status == 0
    assert set(document) == {"paper", "dataset", "task", "metrics", "seconds", "certificate", "not_covered"}
    assert document["not_covered"] == ["metrics", "seconds"]
    assert (document["paper"], document["dataset"], document["task"]) == ("dpboost", "breast_cancer", "binary")
    assert set(document["metrics"]) == {"auc", "error"}
    certificate = document["certificate"]
    assert {"relation", "claimed", "established", "claims", "releases"} <= set(certificate)
    assert certificate["claimed"] == {"epsilon": 2.0, "delta": 0.0}
    assert certificate["established"]["epsilon"] == pytest.approx(2.0)
    assert certificate["relation"] == "add-remove"
    assert {"id", "verdict"} == set(certificate["claims"][0])
    assert "12/12" in progress  # four trees of two levels and a release of leaves


def test_regression_has_its_own_metrics(call: Call) -> None:
    status, document, _ = call(*TRAIN, "--data", "diabetes", "--relation", "replace-one")
    assert status == 0
    assert set(document["metrics"]) == {"rmse", "mae"}
    assert document["certificate"]["relation"] == "replace-one"


def test_a_published_variant_says_what_is_refuted(call: Call) -> None:
    _, document, _ = call(*TRAIN, "--data", "diabetes", "--as-published")
    assert document["certificate"]["established"]["epsilon"] == "inf"
    assert any("dpboost/lemma-1 is REFUTED" in note for note in document["certificate"]["notes"])


def test_the_page_for_people_names_both_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*TRAIN, "--data", "diabetes", "--as-published"]) == 0
    page = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "claimed epsilon 2 established epsilon inf" in page
    assert "! dpboost/lemma-1 is REFUTED" in page


def test_train_then_predict_a_csv_file(call: Call, people: dict[str, str]) -> None:
    status, document, _ = call(
        *TRAIN, "--data", people["data"], "--bounds", people["bounds"], "--target", "rich", "--out", people["model"],
        "--set", "scheme=np", "--test-size", "0",
    )  # fmt: skip
    assert (status, document["metrics"]) == (0, {})
    status, predicted, _ = call("predict", people["model"], "--data", people["data"])
    assert (status, predicted["classes"]) == (0, ["no", "yes"])
    truth = [line.rsplit(",", 1)[1] for line in Path(people["data"]).read_text().splitlines()[1:]]
    assert np.mean(np.array(predicted["predictions"]) == truth) > 0.9
    np.testing.assert_allclose(np.sum(predicted["probabilities"], axis=1), 1)


def test_predict_writes_csv_for_people(call: Call, people: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    call(*TRAIN, "--data", people["data"], "--bounds", people["bounds"], "--out", people["model"])
    assert cli.run(["predict", people["model"], "--data", people["data"]]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "prediction,probability of no,probability of yes"
    assert len(lines) == 1 + 60


def test_predicted_lines_are_not_broken_at_the_width_of_a_terminal(
    call: Call, people: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = [f"an occupation with quite a long name, number {i}" for i in range(4)]
    rows = [f'{age},shop,"{labels[age % 4]}"' for age in range(20, 60)]
    Path(people["data"]).write_text("\n".join(["age,work,rich", *rows]))
    Path(people["bounds"]).write_text(json.dumps({"age": [0, 120], "work": ["shop"], "rich": labels}))
    call(*TRAIN, "--data", people["data"], "--bounds", people["bounds"], "--out", people["model"])
    monkeypatch.setenv("COLUMNS", "40")
    assert cli.run(["predict", people["model"], "--data", people["data"]]) == 0
    read = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert len(read) == 41 and {len(row) for row in read} == {5}
    assert read[0][1:] == [f"probability of {label}" for label in labels]


def test_a_seed_repeats_a_run_and_no_seed_does_not(call: Call, people: dict[str, str]) -> None:
    def model(*seed: str) -> str:
        call(*TRAIN, "--data", people["data"], "--bounds", people["bounds"], "--out", people["model"], *seed)
        return Path(people["model"]).read_text()

    assert model("--seed", "1") == model("--seed", "1") != model("--seed", "2")
    assert model() != model()


def test_a_seed_is_said_to_stay_secret(call: Call) -> None:
    said = "the seed stays secret and is used once"
    for seed in ((), ("--seed", "815")):
        _, document, progress = call(*TRAIN, "--data", "breast_cancer", *seed)
        assert (said in progress) == any(said in line for line in document["certificate"]["assumptions"]) == bool(seed)
        assert "815" not in progress and "815" not in json.dumps(document["certificate"])


# --- audit ------------------------------------------------------------------------------------------------------------

AUDIT = ["audit", "dpboost", "--pairs", "2", "--set", "trees=2", "depth=2"]


@pytest.mark.parametrize("relation", thinned(["add-remove", "replace-one"]))
def test_the_audit_of_the_repaired_algorithm_finds_nothing(call: Call, relation: str) -> None:
    status, document, _ = call(*AUDIT, "--relation", relation)
    assert (status, document["ok"], document["pairs"], document["violations"]) == (0, True, 2, [])
    assert 0 < document["max_loss"] <= document["claimed_epsilon"] == 1.0


def test_the_audit_of_the_published_algorithm_names_the_violations(call: Call) -> None:
    six = ["6" if word == "2" else word for word in AUDIT]
    status, document, _ = call(*six, "--as-published", "--relation", "replace-one")
    assert (status, document["ok"]) == (1, False)
    assert document["max_loss"] > 1.0 and document["without_loss"] > 0
    assert set(document["violations"][0]) == {"kind", "release", "declared", "observed", "loss", "claim", "witness"}
    found = {
        (v["kind"], v["release"].rsplit("/", 1)[-1].rstrip("0123456789 "), v["claim"]) for v in document["violations"]
    }
    assert ("options", "splits of level", "dpboost/lemma-1-replace-one") in found
    assert ("sensitivity", "splits of level", "dpboost/lemma-1-replace-one") in found
    assert ("sensitivity", "leaves", "dpboost/corollary-2-replace-one") in found
    assert {"base_x", "new_x", "new_y", "old_x", "position", "params"} <= set(document["violations"][1]["witness"])


def test_the_audit_takes_real_records(call: Call) -> None:
    status, document, _ = call(*AUDIT, "--data", "diabetes", "--as-published")
    assert status == 1
    assert {"assignment", "options"} <= {violation["kind"] for violation in document["violations"]}
    assert call(*AUDIT, "--data", "diabetes")[0] == 0


def test_the_audit_page_shows_each_violation(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*AUDIT, "--as-published"]) == 1
    page = capsys.readouterr().out
    assert "assignment at score 0/ensemble 0" in page
    assert "declared 1, observed 1.16743" in page and "cannot be replayed: no loss stated" in page


# --- claims and account -----------------------------------------------------------------------------------------------


def test_claims_are_listed_and_shown(call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    _, every, _ = call("claims")
    fields = {"id", "paper", "locus", "statement", "relation", "verdict", "tight", "witness", "checked_by"}
    assert all(fields <= set(claim) for claim in every)
    _, one, _ = call("claims", "--show", "dpboost/lemma-1")
    assert [claim["verdict"] for claim in one] == ["REFUTED"]
    assert {claim["paper"] for claim in call("claims", "--paper", "dpboost")[1]} == {"dpboost"}
    assert cli.run(["claims", "--show", "dpboost/lemma-1"]) == 0
    assert "REFUTED" in capsys.readouterr().out


def test_account(call: Call) -> None:
    status, document, _ = call("account", "--gaussian", "2x1", "--delta", "1e-5")
    assert status == 0
    assert set(document) == {"epsilon", "delta", "lower", "upper", "method", "methods"}
    assert document["lower"] <= document["epsilon"] == document["upper"]
    assert call("account", "--laplace", "2x3", "--delta", "0")[1]["epsilon"] == pytest.approx(1.5)


# --- Errors: one line, the value, what is allowed; status 2 ----------------------------------------------------------

CANCER = ["train", "dpboost", "--data", "breast_cancer"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*CANCER, "--epsilon", "0"], "epsilon = 0.0: a finite number > 0 is allowed"),
        ([*CANCER, "--epsilon", "-1"], "epsilon = -1.0"),
        ([*CANCER, "--epsilon", "nan"], "epsilon = nan"),
        ([*CANCER, "--epsilon", "inf"], "epsilon = inf"),
        ([*CANCER, "--epsilon", "much"], "--epsilon"),
        (CANCER, "--epsilon"),
        (
            ["train", "inprivate", *CANCER[2:], "--epsilon", "1", "--delta", "0.1"],
            "unknown setting 'delta' for inprivate",
        ),
        ([*CANCER, "--epsilon", "1", "--relation", "sideways"], "'sideways' is not one of 'add-remove', 'replace-one'"),
        ([*CANCER, "--epsilon", "1", "--set", "leaves=3"], "unknown setting 'leaves' for dpboost: one of bins"),
        ([*CANCER, "--epsilon", "1", "--set", "leaves"], "--set 'leaves': key=value is needed"),
        ([*CANCER, "--epsilon", "1", "--set", "trees=few"], "trees = 'few': a whole number from 1"),
        ([*CANCER, "--epsilon", "1", "--set", "epsilon=2"], "epsilon is set already, to 1.0"),
        (
            [*CANCER, "--epsilon", "1", "--set", "noise=none"],
            "noise = 'none': one of 'floating', 'discrete' is allowed",
        ),
        ([*CANCER, "--epsilon", "1", "--seed", "-1"], "seed = -1: a whole number >= 0"),
        ([*CANCER, "--epsilon", "1", "--test-size", "1"], "--test-size 1: a share below 1 is allowed"),
        ([*CANCER, "--epsilon", "1", "--out", "/nowhere/m.json"], "there is no directory /nowhere"),
        ([*CANCER, "--epsilon", "1", "--target", "height"], "target 'height' of breast_cancer"),
        (["train", "dpboost", "--data", "nothing", "--epsilon", "1"], "'nothing' is neither a file nor a known name"),
        (["train", "boost", "--data", "diabetes", "--epsilon", "1"], "paper 'boost': one of dpboost, inprivate"),
        ([*CANCER, "--epsilon", "1", "--out", "/proc/refdp.json"], "--out /proc/refdp.json: cannot be written"),
        ([*CANCER, "--epsilon", "1", "--out", "tests"], "--out tests: cannot be written: Is a directory"),
        ([*CANCER, "--epsilon", "1", "--xgboost", "/nowhere/m.json"], "there is no directory /nowhere"),
        ([*CANCER, "--epsilon", "1", "--out", "m.json", "--xgboost", "./m.json"], "two different files are needed"),
        (["audit", "dpboost", "--html", "/nowhere/page.html"], "--html /nowhere/page.html: there is no directory"),
        (
            ["audit", "dpboost", "--jobs", "2", "--no-structural"],
            "--jobs, --structural: about --callable, which is not",
        ),
        (["audit", "--callable", "a:b", "--pairs", "3"], "--pairs: are about papers, and not allowed with --callable"),
        (["claims", "--show", "dpboost/lemma-1", "--paper", "sgbdt"], "a claim of dpboost, and --paper sgbdt is given"),
        (["audit", "dpboost", "--pairs", "0"], "pairs = 0: a whole number from 1"),
        (["audit", "dpboost", "--set", "scheme=np"], "promises no privacy"),
        (["audit", "dpboost", "--target", "x"], "--data, which is not given"),
        (
            ["account", "--plan", "p.toml", "--relation", "replace-one", "--delta", "0"],
            "not allowed with --plan p.toml",
        ),
        (["claims", "--show", "dpboost/nothing"], "no claim 'dpboost/nothing'"),
        (["claims", "--paper", "nobody"], "no claims for paper 'nobody'"),
        (["account", "--gaussian", "two", "--delta", "0.1"], "release 'two'"),
        (["account", "--delta", "0.1"], "no release"),
        (
            ["account", "--gaussian", "1x1", "--delta", "0.1", "--sample-relation", "replace-one"],
            "relation 'replace-one' inside samples: allowed with a sampling rate",
        ),
        (["audit", "dpboost", "--trainer", "a:b"], "PAPER: not allowed with --trainer"),
        (["audit", "--callable", "a:b", "--trainer", "a:b"], "--callable: not allowed with --trainer"),
        (["prophesy"], "prophesy"),
    ],
)
def test_bad_input_is_one_line_and_status_2(call: Call, arguments: list[str], message: str) -> None:
    status, document, shown = call(*arguments)
    assert status == 2
    assert list(document) == ["error"]
    assert message in document["error"]
    assert shown == f"refdp: {document['error']}\n"


def test_bounds_given_twice_for_a_column_are_refused(call: Call, people: dict[str, str], tmp_path: Path) -> None:
    """JSON of Python takes the last of them, and says nothing."""
    twice = tmp_path / "twice.json"
    twice.write_text('{"age": [0, 120], "work": ["shop", "farm"], "rich": ["no", "yes"], "age": [0, 60]}')
    status, document, _ = call(*TRAIN, "--data", people["data"], "--bounds", str(twice))
    assert (status, document) == (2, {"error": f"{twice}: cannot be read as JSON: 'age' occurs more than once"})


def test_a_target_that_the_schema_does_not_have_is_named(call: Call, people: dict[str, str]) -> None:
    status, document, _ = call("audit", "--trainer", "a:b", "--schema", people["bounds"], "--target", "height")
    assert (status, document["error"]) == (
        2,
        f"--schema {people['bounds']}: no column 'height'; it has age, work, rich",
    )


def test_what_is_audited_and_listed_is_what_the_command_line_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What --help and completion offer is taken: every trainer by audit, every part of the ledger by claims."""
    monkeypatch.setenv("COLUMNS", "200")
    assert cli.run(["audit", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"One of {', '.join((*registry.PAPERS, *registry.OWN))}." in shown
    assert "refdp audit package" in shown and "refdp audit one-run" in shown
    offered = ledgers_like("")
    assert set(offered) == {claim.paper for claim in ledger.load()} and ledgers_like("dp") == ["dpboost", "dpxgboost"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("age,rich\n", "a header and at least one record are needed"),
        ("", "a header and at least one record are needed"),
        ("age,rich\n30,yes\ninf,no\n40,no\n", "feature 'age' holds an infinite value"),
        ("age,rich\n30,yes\nmany,no\n", "column 'age' holds text that is no number"),
        ("age,rich\n30,yes\n31,\n", "a value of target 'rich' is missing or not one of no, yes"),
        ("age,rich\n30,yes\n31,NaN\n", "a value of target 'rich' is missing or not one of no, yes"),
        ("age,rich\n30,yes\n31,no,1\n", "record 2 has 3 fields, the header has 2"),
        ("age;rich\n30;yes\n31;no\n", "fields are separated by commas, and the header has one field with ';'"),
        ("age\trich\n30\tyes\n", "the header has one field with '\\t'"),
        ('age,rich\n30,"yes\n31,no\n', "cannot be read as CSV: unexpected end of data"),
        ("age,rich\n30,yes\nNA,no\n", "holds text that is no number; a missing value is empty or NaN"),
        ("years,rich\n30,yes\n31,no\n", "no column 'age'"),
    ],
)
def test_bad_records_in_a_csv_file(call: Call, tmp_path: Path, content: str, message: str) -> None:
    data, bounds = tmp_path / "bad.csv", tmp_path / "bounds.json"
    data.write_text(content)
    bounds.write_text('{"age": [0, 120], "rich": ["no", "yes"]}')
    status, document, shown = call(*TRAIN, "--data", str(data), "--bounds", str(bounds), "--target", "rich")
    assert status == 2
    assert message in document["error"]
    assert shown.count("\n") == 1


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (None, "no public bounds, categories or classes for 3 of its 3 columns; give them in a file with --bounds"),
        ('{"age": [0, 120]}', "no public bounds, categories or classes for work, rich"),
        ('{"age": [120, 0]}', "bounds of 'age': [120.0, 0.0] given, finite low <= high allowed"),
        ('{"age": [0, 1' + "0" * 400 + "]}", "bounds of 'age': [0.0, inf] given"),
        ('{"work": [null, "shop"]}', "categories are texts or numbers, not [None, 'shop']"),
        ('{"age": [17, "90"]}', "[17, '90'] are neither two numbers nor categories of one kind"),
        ('{"age": [0, true]}', "[0, True] are neither two numbers nor categories of one kind"),
        ("[" * 100_000, "cannot be read as JSON"),
        ('{"age": 3}', "bounds of 'age': [low, high] or a list of categories is needed, not 3"),
        ('{"age": [0, 120], "work": ["shop"], "rich": ["yes"]}', "is missing or not one of yes"),
        ('{"size": [0, 1]}', "no column 'size'"),
        ('{"age": [0', "cannot be read as JSON"),
        ("[1, 2]", "is needed, not [1, 2]"),
    ],
)
def test_bad_or_missing_bounds(call: Call, people: dict[str, str], bounds: str | None, message: str) -> None:
    given = []
    if bounds is not None:
        Path(people["bounds"]).write_text(bounds)
        given = ["--bounds", people["bounds"]]
    status, document, _ = call(*TRAIN, "--data", people["data"], *given)
    assert (status, message in document["error"]) == (2, True), document


def test_one_class(call: Call, people: dict[str, str]) -> None:
    Path(people["data"]).write_text("age,rich\n30,yes\n40,yes\n50,yes\n")
    Path(people["bounds"]).write_text('{"age": [0, 120], "rich": ["yes"]}')
    status, document, _ = call(*TRAIN, "--data", people["data"], "--bounds", people["bounds"])
    assert (status, document["error"]) == (2, "classes ('yes',) given, at least two different labels are needed")
    Path(people["bounds"]).write_text('{"age": [0, 120], "rich": ["no", "yes"]}')
    status, document, _ = call(*TRAIN, "--data", people["data"], "--bounds", people["bounds"])
    assert (status, document["metrics"]["auc"]) == (0, None)  # the records may lack a public class


def test_values_outside_their_bounds_are_clamped_without_a_word(call: Call, people: dict[str, str]) -> None:
    path = Path(people["data"])
    path.write_text(path.read_text() + "\n99999,shop,yes\n-99999,farm,no\n")
    status, document, shown = call(*TRAIN, "--data", people["data"], "--bounds", people["bounds"])
    assert (status, "error" in document) == (0, False)
    assert "clamp" not in shown


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[: len(text) // 2], "not a complete model file: it is truncated or was not written by refdp"),
        (lambda text: "", "not a complete model file"),
        (lambda text: re.sub(r'"shrinkage": [.\d]+', '"shrinkage": 0.77', text), "the model file was altered"),
        (lambda text: "[1, 2]", "not a complete model file"),
    ],
)
def test_a_broken_model_file(call: Call, people: dict[str, str], change: Callable[[str], str], message: str) -> None:
    call(*TRAIN, "--data", people["data"], "--bounds", people["bounds"], "--out", people["model"])
    model = Path(people["model"])
    model.write_text(change(model.read_text()))
    status, document, _ = call("predict", people["model"], "--data", people["data"])
    assert (status, message in document["error"]) == (2, True), document
    assert people["model"] in document["error"]


@pytest.mark.parametrize("body", [{}, "model", {"version": 1}, {"version": 1, "paper": "dpboost", "params": {}}])
def test_an_intact_file_that_is_no_model(call: Call, people: dict[str, str], body: Any) -> None:
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    Path(people["model"]).write_text(json.dumps({"model": body, "sha256": digest}))
    status, document, _ = call("predict", people["model"], "--data", people["data"])
    assert (status, "not a model file of this refdp" in document["error"]) == (2, True), document


def test_a_missing_or_binary_model_file(call: Call, people: dict[str, str]) -> None:
    assert call("predict", people["model"], "--data", people["data"])[:1] == (2,)
    Path(people["model"]).write_bytes(b"\xff\xfe\x00")
    assert call("predict", people["model"], "--data", people["data"])[:1] == (2,)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("age\n30\n", "no column 'work'; the first line of a file names its columns"),
        ("age,work\ninf,shop\n", "feature 'age' holds an infinite value"),
    ],
)
def test_wrong_columns_or_values_at_predict(call: Call, people: dict[str, str], content: str, message: str) -> None:
    call(*TRAIN, "--data", people["data"], "--bounds", people["bounds"], "--out", people["model"])
    Path(people["data"]).write_text(content)
    status, document, _ = call("predict", people["model"], "--data", people["data"])
    assert (status, message in document["error"]) == (2, True), document


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace(",", " , "),
        lambda text: "\n".join(",".join(f'"{field}"' for field in line.split(",")) for line in text.splitlines()),
    ],
    ids=["carriage returns", "byte order mark", "blanks", "quotes"],
)
def test_dialects_of_csv_say_the_same(
    call: Call, people: dict[str, str], tmp_path: Path, change: Callable[[str], str]
) -> None:
    call(*TRAIN, "--data", people["data"], "--bounds", people["bounds"], "--out", people["model"])
    expected = call("predict", people["model"], "--data", people["data"])[1]
    other = tmp_path / "other.csv"
    other.write_bytes(change(Path(people["data"]).read_text()).encode())
    assert call("predict", people["model"], "--data", str(other))[1] == expected


def test_a_file_that_exists_is_kept_when_training_fails(call: Call, people: dict[str, str]) -> None:
    Path(people["model"]).write_text("an earlier model")
    assert call(*TRAIN, "--data", people["data"], "--out", people["model"])[0] == 2  # no bounds
    assert Path(people["model"]).read_text() == "an earlier model"


# --- The installed command -------------------------------------------------------------------------------------------


def test_the_installed_command_exits_with_the_status() -> None:
    command = [str(Path(sys.executable).parent / "refdp"), "train", "dpboost", "--data", "diabetes", "--epsilon", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "refdp: epsilon = 0.0: a finite number > 0 is allowed\n"


@pytest.mark.parametrize(
    "ending", ["import os; end = lambda: os._exit(0)", "from os import _exit; end = lambda: _exit(0)",
               "import os, sys; end = lambda: os.execv(sys.executable, [sys.executable, '-c', ''])",
               "import sys; end = sys.exit = lambda *given: 1 / 0", "import posix; end = lambda: posix._exit(0)",
               "import ctypes; end = lambda: ctypes.CDLL(None).exit(0)", "import sys; sys.stderr = None; end = print"],
)  # fmt: skip
def test_what_audited_code_leaves_for_the_end_has_no_say_in_the_status(ending: str, tmp_path: Path) -> None:
    tmp_path.joinpath("ends.py").write_text(
        f"import atexit; {ending}; atexit.register(end)\ndef run(records, seed):\n    return float(len(records))\n"
    )
    tmp_path.joinpath("schema.json").write_text('{"a": [0, 1]}')
    command = [sys.executable, "-m", "refdp", "audit", "--callable", "ends:run", "--schema", "schema.json"]
    done = subprocess.run(
        [*command, "--epsilon", "1", "--samples", "300", "--json"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (json.loads(done.stdout)["verdict"], done.returncode) == ("VIOLATION", 1)


@pytest.mark.parametrize("ending", ["import posix; posix._exit(0)", "import ctypes; ctypes.CDLL(None).exit(0)",
                                    "import ctypes; ctypes.CDLL(None).quick_exit(0)"])  # fmt: skip
def test_a_run_that_ends_the_process_is_no_run_without_findings(ending: str, tmp_path: Path) -> None:
    tmp_path.joinpath("ends.py").write_text(f"def run(records, seed):\n    {ending}\n")
    tmp_path.joinpath("pair.json").write_text('{"first": [[1.0]], "second": []}')
    command = [
        sys.executable,
        "-m",
        "refdp",
        "audit",
        "--callable",
        "ends:run",
        "--pair",
        "pair.json",
        "--epsilon",
        "1",
    ]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 2


@pytest.mark.parametrize("status", [None, 1])
@pytest.mark.parametrize("end", ["os._exit(0)", "posix._exit(3)", "os.execv('/bin/true', ['true'])",
                                 "ctypes.CDLL(None).quick_exit(0)", "ctypes.CDLL(None).exit(0)"])  # fmt: skip
def test_whatever_ends_the_process_ends_it_with_the_status_that_is_decided_or_with_2(
    end: str, status: int | None
) -> None:
    """As from threads that audited code left; children may end as they like."""
    text = (
        "import atexit, ctypes, os, posix; from refdp.audit import ending; ending.keep_status()\n"
        "child = os.fork()\nif not child: os._exit(7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
    )
    text += end if status is None else f"atexit.register(lambda: {end}); ending.leave({status})"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == (2 if status is None else status)
    assert done.stdout == "" and ("before there was a result" in done.stderr) == (status is None and ".exit" not in end)


def test_the_command_line_and_the_demo_need_no_optional_package() -> None:
    optional = [
        "pandas",
        "matplotlib",
        "z3",
        "cvc5",
        "flint",
        "mpmath",
        "sympy",
        "autodp",
        "dp_accounting",
        "hypothesis",
    ]
    code = f"import sys; sys.modules.update(dict.fromkeys({optional})); import refdp.faces.cli, refdp.faces.demo"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_set_takes_several_values() -> None:
    expected = ["--set", "a=1", "--set", "b=2", "--json", "--set", "c=3", "d"]
    assert cli.expanded(["--set", "a=1", "b=2", "--json", "--set", "c=3", "d"]) == expected


def test_an_interrupt_is_one_line_and_status_130(
    call: Call, people: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("refdp.faces.training.train", interrupted)
    status, document, shown = call(*TRAIN, "--data", "diabetes", "--out", people["model"])
    assert (status, document, shown) == (130, {"error": "interrupted"}, "refdp: interrupted\n")
    assert not Path(people["model"]).exists()


def test_least_noise_as_the_help_says(call: Call) -> None:
    status, document, _ = call("account", "--gaussian", "x100", "--epsilon", "1", "--delta", "1e-5")
    noise = f"{document['noise']!r}x100"
    assert status == 0
    assert call("account", "--gaussian", noise, "--delta", "1e-5")[1]["epsilon"] == pytest.approx(1, abs=1e-6)


def test_a_terminal_that_knows_no_greek() -> None:
    command = [sys.executable, "-m", "refdp", "claims"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"dpboost/lemma-1" in done.stdout


@pytest.mark.parametrize(
    "arguments", [["claims"], ["claims", "--json"], ["account", "--laplace", "2x3", "--delta", "0"]]
)
def test_a_pipe_that_nobody_reads_is_no_finding(arguments: list[str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "refdp", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.stderr is not None and running.stderr.read() == b""
    assert running.returncode == 141


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_full_disk_is_one_line(form: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "refdp", "claims", *form]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "No space left on device" in done.stderr
