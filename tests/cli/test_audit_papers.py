"""`audit PAPER` with its replays replaced: what they are given, what is shown, and with which status it ends."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from refdp.audit import CONFIDENCE, page_replay, report, trainer, witnesses
from refdp.audit import page as pages
from refdp.audit.verdicts import Verdict
from refdp.errors import InvalidParameter
from refdp.faces import cli
from refdp.faces.commands import audit_run, audit_trainer, blackbox
from refdp.privacy.events import Relation


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Notes of what is asked. verdict: what is found."""
    notes: dict[str, Any] = {"verdict": Verdict.HOLDS, "asked": [], "pages": []}

    def audit_paper(*given: Any, **named: Any) -> Any:
        notes["asked"].append((given, named))
        return SimpleNamespace(verdict=notes["verdict"], to_dict=lambda: {"verdict": str(notes["verdict"])})

    def replay_page(*given: Any) -> Any:
        notes["pages"].append(given)
        return SimpleNamespace(html=lambda: "PAGE")

    monkeypatch.setattr(report, "audit_paper", audit_paper)
    monkeypatch.setattr(witnesses, "read", lambda path, relation: [path.name, relation])
    monkeypatch.setattr(page_replay, "replay_page", replay_page)
    monkeypatch.setattr(pages, "check_drawing", lambda: None)
    monkeypatch.setattr(audit_run, "audit_page", lambda title, found: f"{title}: {found.verdict}")
    return notes


def test_a_paper_is_audited_as_it_is_asked(replays: dict[str, Any], capsys: Any, tmp_path: Path) -> None:
    given = ["audit", "dpboost", "--epsilon", "2", "--relation", "replace-one", "--pairs", "9", "--seed", "4"]
    (tmp_path / "w.json").write_text("{}")
    assert cli.run([*given, "--witness", str(tmp_path / "w.json"), "--set", "trees=3"]) == 0
    assert capsys.readouterr().out == "dpboost, replace-one neighbours: HOLDS"
    ((paper, params, pairs, seed), named) = replays["asked"].pop()
    assert (paper.name, params.epsilon, params.relation, params.trees) == ("dpboost", 2.0, Relation.REPLACE_ONE, 3)
    assert (pairs, seed, named["records"]) == (9, 4, None)
    assert named["known"] == ["w.json", Relation.REPLACE_ONE] and "arranged" not in named
    assert cli.run([*given, "--as-published", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"verdict": "HOLDS"}
    ((_, published, *_), named) = replays["asked"].pop()
    assert named["known"] == [] and type(published) is not type(params)


@pytest.mark.parametrize(
    ("verdict", "status"),
    [(Verdict.HOLDS, 0), (Verdict.NOT_FOUND, 0), (Verdict.VIOLATION, 1), (Verdict.NOT_EXAMINED, 3)],
)
def test_the_status_is_that_of_the_verdict_and_a_page_that_fails_is_2(
    replays: dict[str, Any], capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: Verdict, status: int
) -> None:
    from refdp.faces.commands import audit

    replays["verdict"] = verdict
    file = tmp_path / "page.html"
    given = ["audit", "dpboost", "--html", str(file), "--seed", "4"]
    assert cli.run(given) == status and file.read_text() == "PAGE"
    ((paper, _, found, records, seed, command, _),) = replays["pages"]
    assert (paper.name, found.verdict, records, seed) == ("dpboost", verdict, None, 4)
    assert command.startswith("refdp audit dpboost") and command.endswith(" --relation add-remove")
    assert "--seed 4" in command and "--epsilon 1.0" in command and "--pairs 36" in command
    monkeypatch.setattr(audit, "write_page", lambda *page: False)
    assert cli.run(given) == (status or 2)


def test_ways_of_a_paper_are_audited_apart(replays: dict[str, Any], capsys: Any, tmp_path: Path) -> None:
    """Streams, participants and owners have no figures, and a stream needs further trees."""
    for paper, option, more in (("sgbdt", "--stream", ["--set", "extra_trees=1"]), ("fedgbdt", "--participants", []),
                                ("inprivate", "--owners", [])):  # fmt: skip
        assert cli.run(["audit", paper, option, "2", *more, "--pairs", "5"]) == 0
        ((way, _, pairs, seed), named) = replays["asked"].pop()
        assert (way.name, pairs, seed) == (paper, 5, 0) and {"arranged", "source", "records", "known"} < set(named)
        capsys.readouterr()
        assert cli.run(["audit", paper, option, "2", *more, "--html", str(tmp_path / "a.html")]) == 2
        assert "--html: not allowed with --stream, --participants or --owners" in capsys.readouterr().err
    assert cli.run(["audit", "sgbdt", "--stream", "2", "--set", "extra_trees=0"]) == 2
    assert "batches after the first bring no trees" in capsys.readouterr().err
    assert replays["asked"] == [] and not (tmp_path / "a.html").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "PAPER, --trainer or --callable is needed; papers are dpboost"),
        (["dpboost", "--filter", "m:f"], "--filter: about --trainer, which is not given"),
        (["dpboost", "--schema", "s.json"], "--schema: about --trainer or --callable, which are not given"),
        (["dpboost", "--pairs", "0"], "pairs = 0"),
        (["dpboost", "--seed", "-1"], "seed = -1"),
        (["dpboost", "--samples", "200"], "--samples: about --callable, which is not given"),
        (["--callable", "m:f", "--stream", "2"], "--stream: are about papers, and not allowed with --callable"),
        (["--callable", "m:f"], "one of --pair FILE, --schema FILE and --example FILE is needed"),
        (["--callable", "m:f", "--pair", "p", "--schema", "s"], "one of --pair FILE, --schema FILE and --example"),
        (["--callable", "m:f", "--example", "e", "--schema", "s"], "one of --pair FILE, --schema FILE and --example"),
        (["dpboost", "--trainer", "m:t"], "PAPER: not allowed with --trainer"),
        (["--trainer", "m:t", "--samples", "200"], "--samples: not allowed with --trainer"),
    ],
)
def test_what_would_be_ignored_is_refused(
    replays: dict[str, Any], capsys: Any, arguments: list[str], told: str
) -> None:
    assert cli.run(["audit", *arguments]) == 2
    assert told in capsys.readouterr().err and replays["asked"] == []


def test_limits_of_the_audit_of_one_run(tmp_path: Path, capsys: Any) -> None:
    """Shares and chances of 1 or none are refused before the file is read."""
    for option, wrong in (("confidence", ("0", "1", "1.5")), ("delta", ("0", "1", "1.5")), ("share", ("0", "1.01")),
                          ("epsilon", ("-0.1",))):  # fmt: skip
        for value in wrong:
            assert cli.run(["audit", "one-run", str(tmp_path / "no"), f"--{option}", value]) == 2
            assert f"--{option} = " in capsys.readouterr().err
    assert cli.run(["audit", "one-run", str(tmp_path / "no"), "--share", "1", "--epsilon", "0"]) == 2
    assert "--share" not in capsys.readouterr().err


@pytest.mark.parametrize("file", ["pair", "schema", "example"])
def test_a_function_is_audited_as_it_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str) -> None:
    """What is not said has its default; a pair says by itself which neighbours it is, unless they are named."""
    asked: list[blackbox.Given] = []
    monkeypatch.setattr(blackbox, "audit_callable", lambda given: asked.append(given) or 3)
    plain = ["audit", "--callable", "m:f", f"--{file}", "data.json"]
    assert cli.run(plain) == 3
    found = asked.pop()
    assert {name: getattr(found, name) for name in ("pair", "schema", "example") if getattr(found, name)} == {
        file: Path("data.json")}  # fmt: skip
    assert (found.name, found.score, found.epsilon, found.delta, found.confidence) == ("m:f", "", 1.0, 0.0, CONFIDENCE)
    assert (found.samples, found.seed, found.jobs, found.resume, found.html) == (100_000, 0, 1, None, None)
    assert (found.gaussian, found.structural, found.outliers, found.low_bits, found.as_json) == (
        False, True, False, True, False)  # fmt: skip
    assert found.relation == (None if file == "pair" else Relation.ADD_REMOVE)
    more = ["--score", "m:s", "--epsilon", "2", "--delta", "0.25", "--confidence", "0.5", "--samples", "200", "--seed",
            "7", "--jobs", "3", "--gaussian", "--no-structural", "--outliers", "--no-low-bits", "--json"]  # fmt: skip
    resume = str(tmp_path / "kept")
    assert cli.run([*plain, *more, "--relation", "add-remove", "--resume", resume]) == 3
    found = asked.pop()
    assert (found.score, found.epsilon, found.delta, found.confidence) == ("m:s", 2.0, 0.25, 0.5)
    assert (found.samples, found.seed, found.jobs, found.resume) == (200, 7, 3, Path(resume))
    assert (found.gaussian, found.structural, found.outliers, found.low_bits, found.as_json) == (
        True, False, True, False, True)  # fmt: skip
    assert found.relation is Relation.ADD_REMOVE
    assert cli.run([*plain, "--resume", str(tmp_path / "none" / "kept")]) == 2 and asked == []


def test_a_trainer_is_audited_as_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[audit_trainer.Asked] = []
    monkeypatch.setattr(audit_trainer, "audit_one", lambda given: asked.append(given) or 1)
    assert cli.run(["audit", "--trainer", "m:t"]) == 1
    found = asked.pop()
    assert (found.name, found.schema, found.target, found.epsilon, found.delta) == ("m:t", None, None, 1.0, 0.0)
    assert (found.relation, found.pairs, found.seed, found.html, found.as_json) == (
        Relation.ADD_REMOVE, trainer.PAIRS, 0, None, False)  # fmt: skip
    assert found.filters == () and found.witness is None
    given = ["--schema", "s", "--target", "t", "--epsilon", "2", "--delta", "0.25", "--relation", "replace-one"]
    more = ["--pairs", "36", "--seed", "7", "--filter", "a", "--filter", "b", "--witness", "w", "--html", "h", "--json"]
    assert cli.run(["audit", "--trainer", "m:t", *given, *more]) == 1
    found = asked.pop()
    assert (found.schema, found.target, found.epsilon, found.delta) == (Path("s"), "t", 2.0, 0.25)
    assert (found.relation, found.pairs, found.seed, found.html, found.as_json) == (
        Relation.REPLACE_ONE, 36, 7, Path("h"), True)  # fmt: skip
    assert found.filters == ("a", "b") and found.witness == Path("w")


def test_drawing_is_looked_for_before_the_work_where_a_page_is_asked(
    replays: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    def missing() -> None:
        raise InvalidParameter("nothing draws")

    monkeypatch.setattr(pages, "check_drawing", missing)
    assert cli.run(["audit", "dpboost", "--html", str(tmp_path / "a.html")]) == 2
    assert "nothing draws" in capsys.readouterr().err and replays["asked"] == []
    assert cli.run(["audit", "dpboost"]) == 0


def test_records_of_an_audit_are_those_that_are_named(replays: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(audit_run, "records_of", lambda *given: seen.append(given) or "RECORDS")
    assert cli.run(["audit", "dpboost", "--data", "d", "--target", "t", "--bounds", "b"]) == 0
    assert seen == [("d", "t", Path("b"))] and replays["asked"][0][1]["records"] == "RECORDS"
