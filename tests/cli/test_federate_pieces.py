"""What `federate` writes, compares and says: with a run of the app that stands for Flower's."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.engines import flower, owners
from refdp.engines.federated import LocalHost, Participant
from refdp.engines.flower import ENDED, Run, records_of
from refdp.engines.journal import ReleaseJournal
from refdp.engines.new_app import made_up
from refdp.errors import InvalidParameter
from refdp.faces.commands import federate

SMALL = {"settings": {"epsilon": 4.0, "relation": "add-remove", "trees": 1, "depth": 1, "batch": 1}, "honest": 1}
OWNED = {"paper": "inprivate", "settings": {"epsilon": 4.0, "relation": "add-remove", "owners": 3, "rounds": 1,
                                            "depth": 1}}  # fmt: skip


def app(folder: Path, **other: Any) -> Path:
    """An app's directory, with other contents of its run."""
    federate.new(folder)
    place = folder / "refdp_app" / "run.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | other))
    return folder


def flowing(monkeypatch: pytest.MonkeyPatch, simulate: Any) -> None:
    """Flower is there, and runs apps so; the clock goes on by 2.06 seconds at every look."""
    now = iter(2.06 * k for k in range(100))
    monkeypatch.setattr(flower, "flower", lambda: None)
    monkeypatch.setattr(flower, "protection", lambda: "protected")
    monkeypatch.setattr(flower, "simulate", simulate)
    monkeypatch.setattr(federate, "time", SimpleNamespace(perf_counter=lambda: next(now)))


@pytest.mark.parametrize("damaged", [False, True])
def test_a_check_compares_the_app_with_participants_of_the_same_data_and_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bool
) -> None:
    """Whoever runs them on the files that are there for the app gets the model that is compared, byte for byte."""
    seen: dict[str, Any] = {}

    def simulate(path: Path, folder: Path) -> str:
        run = Run.read(path)
        everybody = []
        for k in range(run.participants):
            data = folder / f"{k}.csv"
            rows = list(csv.reader(data.read_text().splitlines()))
            assert rows[0] == [*run.schema.names, "target"] and len(rows) == 1 + 200
            seen.setdefault("data", set()).add(data.read_text())
            journal = ReleaseJournal(folder / f"{k}.journal", run.name)
            seen.setdefault("secrets", set()).add(journal._secret)
            everybody.append(
                Participant(run.asks, journal, lambda data=data: records_of(data, run.schema), run.participants,
                            run.honest)  # type: ignore[misc]
            )  # fmt: skip
        with ReleaseJournal(folder / "server.journal", run.name) as journal:
            seen["secrets"].add(journal._secret)
            model, population = run.model(LocalHost(everybody), journal=journal)
        text = model.to_json()
        (folder / "model.json").write_text(text.replace('"trees"', '"tree"', 1) if damaged else text)
        seen["traffic"] = population.traffic
        return "an engine"

    flowing(monkeypatch, simulate)
    found = federate.check(app(tmp_path, **SMALL))
    traffic = seen["traffic"]
    assert found["same"] is not damaged and found["not_examined"] == []
    assert found["claimed"] == {"epsilon": 4.0, "delta": 1e-5} and 3.9 < found["established"]["epsilon"] <= 4.0
    beside = ("same", "not_examined", "claimed", "established", "notes", "assumptions")
    assert {name: value for name, value in found.items() if name not in beside} == {
        "ok": not damaged, "paper": "fedgbdt", "engine": "an engine", "participants": 3, "honest": 1,
        "rounds": traffic.rounds, "bytes_to_participants": traffic.received, "bytes_back": traffic.sent,
        "seconds": 2.1, "protection": "protected",
    }  # fmt: skip
    assert len({traffic.rounds, traffic.received, traffic.sent}) == 3
    assert len(seen["data"]) == 3 and len(seen["secrets"]) == 4
    assert {len(one) for one in seen["secrets"]} == {32}


@pytest.mark.parametrize("damaged", [False, True])
def test_a_check_of_owners_compares_the_app_with_the_same_owners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bool
) -> None:
    sizes: list[list[int]] = []

    def simulate(path: Path, folder: Path) -> str:
        run = Run.read(path)
        everybody = []
        for k in range(run.participants):
            data, place = folder / f"{k}.csv", folder / f"{k}.journal"
            assert len(data.read_text().splitlines()) == 1 + 200

            def call(heard: bytes, number: int, k: int = k, data: Path = data, place: Path = place) -> bytes:
                return owners.answered(run, k, lambda: records_of(data, run.schema), place, heard, number)

            everybody.append(owners.Afar(call))
        text = owners.mine(run, everybody).model.to_json()
        (folder / "model.json").write_text(text.replace('"trees"', '"tree"', 1) if damaged else text)
        sizes.extend(one.size for one in everybody)
        return "an engine"

    flowing(monkeypatch, simulate)
    found = federate.check(app(tmp_path, **OWNED))
    there, back, calls = (sum(column) for column in zip(*sizes, strict=True))
    told = {"rounds": calls, "bytes_to_participants": there, "bytes_back": back}
    assert {key: found[key] for key in told} == told and len({there, back, calls}) == 3
    assert found["ok"] is not damaged and found["seconds"] == 2.1 and found["participants"] == 3
    assert found["paper"] == "inprivate" and found["engine"] == "an engine"


def assumed(folder: Path, **other: Any) -> dict[str, Any]:
    place = app(folder, **other)
    return federate.said(place, Run.read(place / "refdp_app" / "run.json"), {"same": True})


def test_a_check_says_what_the_guarantee_takes_for_granted(tmp_path: Path) -> None:
    """That of owners, who hold each record once, and what shares and secrets in files add to it."""
    secrets = "noise follows from a secret in a file of each participant, by a generator of numpy"
    found = assumed(tmp_path / "owners", **{**OWNED, "settings": {**OWNED["settings"], "noise": "floating"}})
    lines = found["assumptions"]
    assert "no record is held by two owners" in lines and lines[-1].startswith(secrets)
    assert any(line.startswith("ideal noise: that of Laplace is drawn in floating point") for line in lines)
    assert any("how long a run takes" in line for line in lines) and found["ok"] and found["notes"] == []
    shares = "at least 2 of those of the 3 participants who answer a round add their share of the noise"
    laplace = "shares of discrete Laplace noise are negative binomials, drawn in floating point"
    settings = {"epsilon": 4.0, "delta": 1e-4, "relation": "add-remove", "trees": 1, "depth": 1}
    sgbdt = {"paper": "sgbdt", "settings": settings}
    for number, (other, drawn) in enumerate(((SMALL | {"honest": 2}, False), (sgbdt, True))):
        lines = assumed(tmp_path / str(number), **other)["assumptions"]
        assert shares in lines and lines[-1].startswith(secrets) and (laplace in lines) is drawn
        server = "the server is trusted: each participant's sums come to it with 1 / 2 of the noise's variance"
        assert any(line.startswith(server) and "about 1.4 times as large" in line for line in lines)
    alone = assumed(tmp_path / "alone", **SMALL | {"honest": 1})["assumptions"]
    assert not any("the server is trusted" in line for line in alone)
    for lines in (alone, found["assumptions"]):
        assert ENDED in lines and not any("no records at all" in line for line in lines)


def test_a_check_without_json_has_a_line_for_each_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    found = {"ok": True, "notes": ["one", "two"], "assumptions": ["three"], "not_examined": []}
    monkeypatch.setattr(federate, "check", lambda place: found)
    assert federate.federate("check", tmp_path) == 0
    lines = ["ok: True", "note: one", "note: two", "assuming: three", "not_examined: []"]
    assert capsys.readouterr().out == "\n".join(lines)


def test_an_app_is_written_once(tmp_path: Path) -> None:
    """All of its files, or none where one of them is there; each app is a run of its own."""
    found = federate.new(tmp_path / "a")
    written = sorted(str(one.relative_to(tmp_path / "a")) for one in (tmp_path / "a").rglob("*") if one.is_file())
    assert found["files"] == written and len(written) == 6 and found["directory"] == str(tmp_path / "a")
    place = tmp_path / "a" / "refdp_app" / "run.json"
    assert found["next"] == f"edit {place}, then refdp federate check {tmp_path / 'a'}"
    federate.new(tmp_path / "b")
    names = {json.loads((tmp_path / one / "refdp_app" / "run.json").read_text())["run"] for one in ("a", "b")}
    assert len(names) == 2 and all(name.startswith("run ") and len(name) == len("run ") + 16 for name in names)
    (tmp_path / "c" / "refdp_app").mkdir(parents=True)
    (tmp_path / "c" / "refdp_app" / "server_app.py").write_text("own")
    with pytest.raises(InvalidParameter, match=r"server_app\.py: it is there already; a new directory is needed"):
        federate.new(tmp_path / "c")
    assert [one.name for one in (tmp_path / "c").rglob("*") if one.is_file()] == ["server_app.py"]


@pytest.mark.parametrize(("ok", "status"), [(True, 0), (False, 1), (None, 0)])
def test_a_check_that_differs_has_status_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, ok: bool | None, status: int
) -> None:
    other = {"rounds": 3} if ok is None else {"ok": ok, "rounds": 3}
    asked: list[tuple[str, Path]] = []
    for name in ("new", "check"):
        monkeypatch.setattr(federate, name, lambda place, name=name: asked.append((name, place)) or other)
    for name in ("new", "check"):
        assert federate.federate(name, tmp_path) == status
        assert capsys.readouterr().out == "\n".join(f"{key}: {value}" for key, value in other.items())
        assert federate.federate(name, tmp_path, True) == status
        assert json.loads(capsys.readouterr().out) == other
    assert asked == [("new", tmp_path)] * 2 + [("check", tmp_path)] * 2
    with pytest.raises(InvalidParameter, match="federate old: new or check is allowed"):
        federate.federate("old", tmp_path)


NAMES = ["age, years", 'in "quotes"', "two\nlines"]


def test_records_that_a_check_makes_up_have_the_schemas_names(tmp_path: Path) -> None:
    numeric = [{"name": name, "low": 0, "high": 1} for name in NAMES]
    schema = {"features": [*numeric, {"name": "w", "categories": NAMES}], "target": {"values": NAMES}}
    run = Run.read(app(tmp_path / "app", schema=schema) / "refdp_app" / "run.json")
    (tmp_path / "0.csv").write_text(made_up(run.schema, 50, 0), encoding="utf-8", newline="")
    records = records_of(tmp_path / "0.csv", run.schema)
    assert records.size == 50 and not np.isnan(records.x).any() and set(records.y) == {0, 1, 2}


def test_no_feature_is_called_as_the_column_of_labels(tmp_path: Path) -> None:
    schema = {"features": [{"name": "target", "categories": ["a", "b"]}], "target": {"values": ["a", "b"]}}
    folder = app(tmp_path / "app", schema=schema)
    with pytest.raises(InvalidParameter, match="a feature 'target'"):
        Run.read(folder / "refdp_app" / "run.json")
