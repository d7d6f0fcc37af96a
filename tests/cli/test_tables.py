"""Defaults of commands, and the tables that they show to people."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from refdp.audit import dossier as answers
from refdp.audit import structural
from refdp.data.records import Numeric
from refdp.errors import InvalidParameter
from refdp.faces.commands import blackbox, certificates, dossier, federate, output, train_run
from refdp.ledger.certificate import Certificate, Guarantee, ReleaseLine
from refdp.ledger.proved import Cited
from refdp.privacy.events import Relation
from tests.printed import printed

AR = Relation.ADD_REMOVE
DEFAULTS: dict[str, dict[str, Any]] = {
    "account": {"group": 1, "relation": AR},
    "audit": {"epsilon": 1.0, "jobs": 1, "low_bits": True, "pairs": 36, "relation": AR, "seed": 0, "structural": True},
    "audit_one_run": {"assume": "nothing", "confidence": 0.95, "delta": 1e-5, "share": 0.2},
    "certify": {"test_size": 0.2},
    "conform": {"timeout": 60.0},
    "dossier": {},
    "federate": {"directory": Path(".")},
    "predict": {},
    "prove": {"epsilon": 1.0, "relation": AR},
    "recommend": {"classes": 2, "relation": AR},
    "train": {"relation": AR, "settings": "default", "test_size": 0.2},
}
"""Of every command, besides those that are None or False: a record of what scripts rely on, from no other source."""


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_of_commands(name: str) -> None:
    command = getattr(importlib.import_module(f"refdp.faces.commands.{name}"), name)
    given = {key: one.default for key, one in inspect.signature(command).parameters.items()}
    shown = {key: value for key, value in given.items() if value is not inspect.Parameter.empty}
    assert {key: value for key, value in shown.items() if value is not None and value is not False} == DEFAULTS[name]


def test_figures_of_black_boxes_and_of_the_example_app() -> None:
    """Records as well: what docs and apps say."""
    assert (structural.CALLS, structural.MOST_CALLS) == (300, 5000)
    assert (blackbox.GAUSSIAN_RUNS, blackbox.ALARM) == (20_000, 1e-9)
    example = federate.EXAMPLE
    assert (example["participants"], example["honest"], example["paper"]) == (3, 2, "fedgbdt")
    assert example["settings"] == {"epsilon": 4.0, "relation": "add-remove", "trees": 20, "depth": 3, "batch": 5}
    assert example["schema"]["features"][0] == {"name": "age", "low": 0.0, "high": 120.0}


def test_the_table_of_a_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_run, "certificate_page", lambda certificate: certificate)
    data: Any = SimpleNamespace(name="people", y=[0] * 5, features=(Numeric("a", 0, 1),) * 2, task="binary",
                                sources={"a": "given", "b": "given", "y": "known"})  # fmt: skip
    run: Any = SimpleNamespace(seconds=1.256, certificate="THE CERTIFICATE")
    lines = printed(train_run.page("dpboost", data, run, {"auc": 0.75}, {Path("m.json"): ""}))
    assert [line.split(None, 1)[0] for line in lines[:3]] == ["paper", "data", "public"]
    assert lines[0].split() == ["paper", "dpboost"]
    assert lines[1].endswith("people, 5 records, 2 features, binary") and lines[2].endswith("2 given, 1 known")
    assert lines[3].split() == ["auc", "0.75"] and lines[4].split() == ["seconds", "1.26"]
    assert lines[5:] == ["THE CERTIFICATE", "Metrics, number of records and seconds are exact, without noise: for the "
                         "owner's eyes.", "written to m.json"]  # fmt: skip
    assert printed(train_run.page("dpboost", data, run, {}, {}))[-1].startswith("Number of records and seconds")


def test_pieces_of_a_certificates_page() -> None:
    """Lines of one kind and claim together; a guarantee that does not hold is red."""
    named = (("leaves", "x"), ("leaves", "x"), ("leaves", "y"), ("splits", "x"))
    lines = [SimpleNamespace(name=name, claim=claim) for name, claim in named]
    kinds = certificates._kinds(SimpleNamespace(releases=lines))  # type: ignore[arg-type]
    assert kinds == [lines[:2], lines[2:3], lines[3:]]
    assert [certificates._norm(name) for name in ("1", "2", "range")] == ["norm 1", "norm 2", "range"]
    assert certificates._span([2.0, 2.00001]) == "2" and certificates._span([3.0, 1.5, 2.0]) == "1.5 to\n3"
    assert [certificates._border(holds) for holds in (True, False)] == ["green", "red"]
    one: Any = SimpleNamespace(
        claimed=SimpleNamespace(epsilon=1.0, delta=1e-5), established=SimpleNamespace(epsilon=2.0)
    )
    for holds, style in ((True, "bold green"), (False, "bold red")):
        text = certificates._promise(one, holds)
        assert str(text) == "claimed      epsilon 1, delta 1e-05\nestablished  epsilon 2, delta 1e-05"
        assert str(text.spans[0].style) == style
    one.claimed.delta = 0.0
    assert "delta" not in str(certificates._promise(one, True))


@pytest.mark.parametrize(("holds", "status"), [(True, 0), (False, 1)])
@pytest.mark.parametrize("page", ["none", "fine", "failed"])
def test_a_dossiers_table_and_status(
    holds: bool,
    status: int,
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A page that cannot be written is 2 where all else holds."""
    told = [SimpleNamespace(topic="one", word="proved", holds=True, text="first"),
            SimpleNamespace(topic="two", word="tested", holds=holds, text="second")]  # fmt: skip
    found = SimpleNamespace(answers=told, sentence="All of it.", holds=holds, to_dict=lambda: {"a": 1})
    monkeypatch.setattr(answers, "dossier", lambda document: found if document == {"x": 1} else None)
    monkeypatch.setattr(answers, "page", lambda found, command: command)
    monkeypatch.setattr(output, "write_page", lambda option, path, text: (path.write_text(text), page == "fine")[1])
    file, html = tmp_path / "d.json", tmp_path / "d.html"
    file.write_text('{"x": 1}')
    found_status = dossier.dossier(file, None if page == "none" else html)
    assert found_status == (2 if page == "failed" and holds else status)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["All", "of", "it."] and lines[1][:2] == ["about", "answer"]
    word = ["tested"] if holds else ["tested,", "contradicted"]
    assert lines[2:] == [["one", "proved", "first"], ["two", *word, "second"]]
    if page != "none":
        assert html.read_text() == f"refdp dossier {file}"
    dossier.dossier(file, None, True)
    assert json.loads(capsys.readouterr().out) == {"a": 1}
    file.write_text("{")
    with pytest.raises(InvalidParameter, match="a JSON document is needed"):
        dossier.dossier(file)


def test_a_page_that_cannot_be_written_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert output.write_page("--html", tmp_path / "a", "text") is True and (tmp_path / "a").read_text() == "text"
    assert output.write_page("--html", tmp_path / "no" / "a", "text") is False
    assert capsys.readouterr().err.startswith("refdp: --html") and not (tmp_path / "no").exists()


def test_a_certificates_table_and_proofs() -> None:
    """Columns are named; a proof that covers nothing any more is marked."""
    line = ReleaseLine("leaves", "Laplace", 2, 1.0, "1", "x/y", 0.25)
    proofs = (
        Cited("good", "z3", "PROVED", "d", (), (), True),
        Cited("old", "z3", "PROVED", "d", (), (), True, (), "changed"),
    )
    one = Certificate(
        "dpboost", AR, Guarantee(2.0, 0.0), Guarantee(2.0, 0.0), (("x/y", "verified"),), (line,), proofs=proofs
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certificates, "STYLES", {"verified": "green"})
        shown: Any = certificates.certificate_page(one)
    _, table, *cited = shown.renderable.renderables
    assert [str(column.header) for column in table.columns] == ["released", "times", "bound", "epsilon", "rests on"]
    assert [str(text) for text in cited] == [
        "program good: PROVED by z3, exactly this run's settings", "program old (z3) is stale: changed"]  # fmt: skip
    assert [str(text.style) for text in cited] == ["", "yellow"]
