"""The apps' own code, with a stand-in for Flower: what is sent, who answers, and the bytes of a run without it."""

from __future__ import annotations

import importlib.util
import json
import os
import py_compile
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from refdp.engines import flower, owners
from refdp.engines.flower import QUIET, GridHost, HereGrid, Run, client_app, digest, nodes_of, protection, server_app
from refdp.engines.journal import ReleaseJournal
from refdp.engines.new_app import made_up, not_examined
from refdp.errors import InvalidParameter, InvalidRecords, MessageError
from refdp.faces.cli import run
from refdp.faces.registry import Paper
from refdp.ledger.certificate import Guarantee
from tests.engines.stand_in import App, Message, Simulated, installed
from tests.engines.test_flower import GROVE, INPRIVATE, app

TAG = sys.implementation.cache_tag
FEDGBDT: dict[str, Any] = {
    "settings": {"epsilon": 4.0, "relation": "add-remove", "trees": 2, "depth": 2, "batch": 1},
}


@pytest.fixture(autouse=True)
def flwr(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The stand-in, and no Ray."""
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "ray" else found(name, *more))
    return installed(monkeypatch)


@pytest.mark.parametrize("other", [FEDGBDT, INPRIVATE], ids=["fedgbdt", "inprivate"])
def test_a_checked_app_gives_the_bytes_of_participants_without_it(
    tmp_path: Path, capsys: Any, other: dict[str, Any]
) -> None:
    app(tmp_path, **other)
    capsys.readouterr()
    assert run(["federate", "check", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is True and found["participants"] == 3
    assert found["engine"].startswith("Flower's messages and apps in this process: Ray is not installed")
    assert {name: os.environ[name] for name in QUIET} == QUIET


def test_with_ray_flowers_own_engine_is_asked(tmp_path: Path, flwr: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    vars(sys.modules["flwr.simulation"])["run_simulation"] = lambda *given: asked.append(given)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    assert flower.simulate(app(tmp_path, participants=5, honest=1), tmp_path) == "Flower's simulation engine"
    ((server, client, number),) = asked
    assert number == 5 and isinstance(server, App) and isinstance(client, App)
    assert [one.does.__name__ for one in (server, client)] == ["main", "answer"]


def test_protection_is_said_of_the_version_that_is_there(flwr: Any) -> None:
    assert protection().endswith("that of Flower 9.8 derives masks from seeds of 32 bits")
    del sys.modules["flwr.common.secure_aggregation.secaggplus_utils"].pseudo_rand_gen
    assert protection().endswith("that of Flower 9.8 derives masks from what is not known here")


# --- Nodes ------------------------------------------------------------------------------------------------------------


class Slow:
    """A grid where nodes 5, 3 and 9 are there, the last of them after some looks."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def get_node_ids(self) -> list[int]:
        self.looks -= 1
        return [5, 3] if self.looks >= 0 else [5, 3, 9]


def test_nodes_are_waited_for_for_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last look is the first that begins after more than 60 seconds: 121 of them half a second apart are not."""
    now, slept = [100.0], []

    def sleep(seconds: float) -> None:
        now[0] += seconds
        slept.append(seconds)

    monkeypatch.setattr(flower, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    assert nodes_of(Slow(0), 3) == [3, 5, 9] and slept == []
    assert nodes_of(Slow(2), 3) == [3, 5, 9] and slept == [0.5, 0.5]
    slept.clear()
    assert nodes_of(Slow(121), 3) == [3, 5, 9] and slept == [0.5] * 121
    with pytest.raises(InvalidParameter, match="2 nodes are there, the run is planned for 3"):
        nodes_of(Slow(122), 3)
    with pytest.raises(InvalidParameter, match="3 nodes are there, the run is planned for 2"):
        nodes_of(Slow(0), 2)


def test_a_host_sends_each_its_text_and_passes_over_who_fails() -> None:
    def client(message: Any, context: Any) -> Any:
        text = message.content["ask"]["text"]
        about = {"about": {"digest": digest(text), "journal": str(context.node_config["more"])}}
        return Message(about | {"behind": {"known": len(text) + context.node_config["more"]}}, reply_to=message)

    grid = Simulated(client, {7: {"more": 10}, 4: {"more": 20}, 9: {"more": 30}}, failing=[7])  # type: ignore[dict-item]
    host = GridHost(grid, 3)
    assert host.nodes() == [4, 7, 9]
    assert host.send({4: "a", 7: "bb", 9: "ccc"}) == {4: 21, 9: 33}
    assert host.send({}) == {}
    assert GridHost(grid, 3, 2.5).send({9: "c"}) == {9: 31}
    assert grid.timeouts == [300.0, 300.0, 2.5]


def test_a_grid_in_this_process_has_a_context_for_each_node(flwr: Any, capsys: Any) -> None:
    seen = []

    def client(message: Any, context: Any) -> Any:
        seen.append(context)
        if context.node_id == 3:
            raise ValueError("nothing here")
        return message.content

    grid = HereGrid(client, {2: {"partition-id": "0"}, 3: {"partition-id": "1"}, 8: {"partition-id": "6"}})
    assert list(grid.get_node_ids()) == [2, 3, 8]
    sent = [Message({"to": node}, dst_node_id=node) for node in (8, 3, 2)]
    assert list(grid.send_and_receive(sent)) == [{"to": 8}, {"to": 2}]
    assert capsys.readouterr().err == "ValueError: nothing here\n"
    assert [(one.run_id, one.node_id, one.node_config["partition-id"]) for one in seen] == [
        (1, 8, "6"), (1, 3, "1"), (1, 2, "0")]  # fmt: skip
    task = sys.modules["flwr.supercore.task_identity"].TaskIdentity
    assert (task.task_id, task.run_id, task.node_id) == (1, 1, 1)


def test_a_simulation_has_nodes_from_two_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flower keeps 0 and 1 for itself."""
    seen: list[Any] = []
    server = SimpleNamespace(at=lambda grid, context: seen.append((grid, context)))
    monkeypatch.setattr(flower, "server_app", lambda path, folder: server.at)
    flower.simulate(app(tmp_path, participants=4, honest=1), tmp_path)
    ((grid, context),) = seen
    assert list(grid.get_node_ids()) == [2, 3, 4, 5] and (context.run_id, context.node_id) == (1, 0)
    assert [grid._contexts[k].node_config for k in (2, 5)] == [{"partition-id": "0"}, {"partition-id": "3"}]


# --- Apps with configurations of their own ----------------------------------------------------------------------------


def placed(tmp_path: Path, place: Path, ends: str) -> dict[int, dict[str, str]]:
    """Data and secrets of three nodes, whose places are in their configurations; node 40 + k has the k-th's."""
    said = Run.read(place)
    nodes = {}
    for k in range(3):
        data, journal = tmp_path / f"records of {k}", tmp_path / f"kept by {k}"
        data.write_text(made_up(said.schema, 50, k))
        name = f"owner {k} of {said.name}" if ends else said.name
        ReleaseJournal(journal.with_name(journal.name + ends), name, secret=bytes([k]) * 32).close()
        nodes[40 + k] = {"data": str(data), "journal": str(journal), "owner": str(k)}
    ReleaseJournal(tmp_path / "server", said.name, secret=b"s" * 32).close() if not ends else None
    return nodes


@pytest.mark.parametrize(("other", "ends"), [(GROVE, ""), (INPRIVATE, ".secret")], ids=["grove", "inprivate"])
def test_files_are_those_of_the_configurations(tmp_path: Path, other: dict[str, Any], ends: str) -> None:
    place, made = app(tmp_path / "app", **other), []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        nodes = placed(folder, place, ends)
        if name == "two":  # the same through a folder, by number
            for k in range(3):
                (folder / f"records of {k}").rename(folder / f"{k}.csv")
                (folder / f"kept by {k}{ends}").rename(folder / f"{k}.journal{ends}")
            if not ends:
                (folder / "server").rename(folder / "server.journal")
            nodes = {k + 2: {"partition-id": str(k)} for k in range(3)}
            grid = Simulated(client_app(place, folder), nodes)
            server_app(place, folder)(grid, SimpleNamespace(run_config={}))
        else:
            grid = Simulated(client_app(place), nodes)
            config = {"out": str(folder / "model.json"), "journal": str(folder / "server")}
            server_app(place)(grid, SimpleNamespace(run_config=config))
        assert set(grid.timeouts) == {300.0}
        made.append((folder / "model.json").read_bytes())
    assert made[0] == made[1] and json.loads(made[0])["model"]["outputs"][0]["trees"]


# --- Owners -----------------------------------------------------------------------------------------------------------


def owner_of(message: Any, context: Any) -> Any:
    ask, own = message.content["ask"], context.node_config
    content = {"position": int(own["owner"])}
    if ask["what"] == "answer":
        content["message"] = b"%s %d %s" % (ask["heard"], ask["round"], str(own["owner"]).encode())
    return Message({"own": content}, reply_to=message)


def test_owners_are_found_by_position_and_each_is_asked_alone(flwr: Any) -> None:
    grid = Simulated(owner_of, {5: {"owner": "2"}, 6: {"owner": "0"}, 7: {"owner": "1"}})
    found = owners.afar(grid, flwr, [5, 6, 7])
    grid.failing = {7}
    for one in found:
        one.hear(b"heard")
    assert [one.answer(4) for one in found] == [b"heard 4 0", b"", b"heard 4 2"]
    assert [one.size for one in found] == [[5, 9, 1], [5, 0, 1], [5, 9, 1]]
    assert set(grid.timeouts) == {300.0} and len(grid.timeouts) == 6
    owners.afar(Simulated(owner_of, {1: {"owner": "0"}}), flwr, [1], 4.0)


def test_every_position_is_needed_once(flwr: Any) -> None:
    for given, failing, message in (
        (("0", "0", "1"), [], r"owners \[0, 1\] are there at 3 nodes; each of 0 to 2 is needed once"),
        (("0", "1", "3"), [], r"owners \[0, 1, 3\] are there at 3 nodes"),
        (("0", "1", "2"), [1], r"owners \[0, 2\] are there at 3 nodes"),
        (("1", "2", "3"), [], r"owners \[1, 2, 3\] are there at 3 nodes"),
    ):
        grid = Simulated(owner_of, {k: {"owner": own} for k, own in enumerate(given)}, failing)
        with pytest.raises(InvalidParameter, match=message):
            owners.afar(grid, flwr, [0, 1, 2])


@pytest.mark.parametrize("about", [{}, {"journal": [1, 2]}, {"journal": b"1"}, {"journal": 1}], ids=str)
def test_an_answer_names_its_journal(about: dict[str, Any]) -> None:
    """Without it one participant at two nodes is in a sum twice, with one share of noise."""

    def client(message: Any, context: Any) -> Any:
        told = about if context.node_config else {"journal": "own"}
        said = {"digest": digest(message.content["ask"]["text"]), **told}
        return Message({"about": said, "behind": {"known": 0}}, reply_to=message)

    host = GridHost(Simulated(client, {3: {}, 4: {"odd": "1"}}), 2)
    with pytest.raises(MessageError, match="participant 4: an answer that does not name the journal that it is from"):
        host.send({3: "a", 4: "a"})


@pytest.mark.parametrize("own", [{}, {"position": 1}, {"position": 1, "message": "x"}, {"message": [1, 2]},
                                 {"message": 10**12}, None], ids=str)  # fmt: skip
def test_an_owners_answer_of_another_form_is_refused_by_its_position(flwr: Any, own: dict[str, Any] | None) -> None:
    def client(message: Any, context: Any) -> Any:
        if message.content["ask"]["what"] == "who" or context.node_config["owner"] != "1":
            return owner_of(message, context)
        return Message({} if own is None else {"own": own}, reply_to=message)

    found = owners.afar(Simulated(client, {5: {"owner": "1"}, 6: {"owner": "0"}}), flwr, [5, 6])
    assert found[0].answer(0)
    with pytest.raises(MessageError, match=r"^owner 1: an answer that cannot be read$"):
        found[1].answer(0)


@pytest.mark.parametrize("own", [{}, {"position": "1"}, {"position": 1.9}, {"position": True}], ids=str)
def test_an_owner_without_a_position_is_refused_by_its_node(flwr: Any, own: dict[str, Any]) -> None:
    grid = Simulated(lambda message, context: Message({"own": own}, reply_to=message), {5: {}})
    with pytest.raises(MessageError, match=r"^the owner at node 5: an answer that cannot be read$"):
        owners.afar(grid, flwr, [5])


def test_owners_elsewhere_judge_and_measure_nothing() -> None:
    afar = owners.Afar(lambda heard, number: None)
    assert afar.size == [0, 0, 0] and afar.answer(1) == b""
    for call, message in ((afar.judge, "round 3: owners elsewhere check no trees"),
                          (afar.measure, "round 3: owners elsewhere measure nothing")):  # fmt: skip
        with pytest.raises(owners.MessageError, match=message):
            call(3)


@pytest.mark.parametrize(("noise", "exact"), [("discrete", True), ("floating", False)])
def test_owners_draw_exactly_where_noise_is_discrete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noise: str, exact: bool
) -> None:
    class Stopped(Exception):
        pass

    def source(generator: Any, **given: Any) -> Any:
        assert given == {"exact": exact, "assignments": True}
        raise Stopped

    place = app(tmp_path / "app", **{**INPRIVATE, "settings": {**INPRIVATE["settings"], "noise": noise}})
    said = Run.read(place)
    monkeypatch.setattr(owners, "SampleSource", source)
    (tmp_path / "data").write_text(made_up(said.schema, 20, 0))
    with pytest.raises(Stopped):
        owners.answered(said, 0, lambda: flower.records_of(tmp_path / "data", said.schema), tmp_path / "own", b"", 0)


# --- Who takes part follows from no record ----------------------------------------------------------------------------


def ran(tmp_path: Path, other: dict[str, Any], rows: int, change: Callable[[bytes], bytes] | None = None) -> Any:
    """A run in which participant 1 has so many records, the last of them changed: the model's file, and the nodes."""
    folder = tmp_path / f"{rows} {len(list(tmp_path.iterdir()))}"
    place = app(folder / "app", **other, honest=1)
    nodes = placed(folder, place, ".secret" if other["paper"] == "inprivate" else "")
    data = Path(nodes[41]["data"])
    lines = data.read_bytes().splitlines(keepends=True)[: 1 + rows]
    data.write_bytes(b"".join([*lines[:-1], change(lines[-1])] if change else lines))
    config = {"out": str(folder / "model.json"), "journal": str(folder / "server")}
    server_app(place)(Simulated(client_app(place), nodes), SimpleNamespace(run_config=config))
    return folder, nodes


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("other", [GROVE, FEDGBDT | {"paper": "fedgbdt"}, INPRIVATE], ids=lambda other: other["paper"])
def test_a_participant_without_records_takes_part(tmp_path: Path, other: dict[str, Any], relation: str) -> None:
    """It answers as often as with one record, and what it answers is in the model."""
    other = {**other, "settings": {**other["settings"], "relation": relation}}
    shown = []
    for rows in (0, 1):
        folder, nodes = ran(tmp_path, other, rows)
        model = json.loads((folder / "model.json").read_text())["model"]["outputs"]
        lines = [len(Path(node["journal"]).read_text().splitlines()) for node in nodes.values()]
        assert len(set(lines)) == 1 and lines[0] > 2
        shown.append((lines, [len(one["trees"]) for one in model]))
    assert shown[0] == shown[1]
    if other["paper"] == "inprivate":
        assert shown[0][1] == [6]


MALFORMED: dict[str, Callable[[bytes], bytes]] = {
    "no label": lambda line: line[: line.rindex(b",") + 1] + b"\n",
    "a label that is not listed": lambda line: line[: line.rindex(b",") + 1] + b"perhaps\n",
    "a text for a number": lambda line: b"fiftyseven" + line[line.index(b",") :],
    "an infinite number": lambda line: b"inf" + line[line.index(b",") :],
    "a field too many": lambda line: b"57," + line,
    "another encoding": lambda line: b"57,\xff,no\n",
    "quotes without an end": lambda line: b'57,"' + line,
}


@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.parametrize("other", [GROVE, INPRIVATE], ids=["grove", "inprivate"])
def test_a_malformed_record_ends_the_run_by_name(tmp_path: Path, capsys: Any, other: dict[str, Any], name: str) -> None:
    """As in memory and on Dask, and tells nothing of it: without its participant the run would be another one."""
    who = "owner 1" if other is INPRIVATE else "participant 41"
    with pytest.raises(InvalidRecords, match=f"^{who}: its records cannot be read, or do not .*; its own") as told:
        ran(tmp_path, other, 5, MALFORMED[name])
    assert not list(tmp_path.rglob("model.json")) and "57" not in str(told.value)
    log = capsys.readouterr().err
    assert log.startswith("InvalidRecords: ") and "fiftyseven" not in log and "perhaps" not in log
    if other is INPRIVATE:  # nobody has begun anything
        assert not [one for one in tmp_path.rglob("kept by *") if one.suffix != ".secret"]


# --- What is not as it was written ------------------------------------------------------------------------------------


def checked(folder: Path, capsys: Any) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = run(["federate", "check", str(folder), "--json"])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("name", "text"), [
    ("refdp_app/client_app.py", "app = None\n"), ("refdp_app/server_app.py", None),
    ("refdp_app/__init__.py", "x = 1\n"),
    ("pyproject.toml", '[tool.flwr.app.components]\nclientapp = "refdp_app.other:app"\n'), ("pyproject.toml", None),
    ("refdp/__init__.py", ""), ("flwr.py", ""), ("refdp_app/json.py", ""), ("pyproject.toml", "["),
])  # fmt: skip
def test_a_changed_app_is_not_examined(tmp_path: Path, capsys: Any, name: str, text: str | None) -> None:
    """The check runs run.json by refdp's own apps: what the folder's files do, nobody saw."""
    app(tmp_path, **GROVE)
    path = tmp_path / name
    path.unlink(missing_ok=True)
    if text is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    status, found = checked(tmp_path, capsys)
    assert (status, found["ok"], found["same"], found["not_examined"]) == (3, False, True, [name])


IN_PLACE = (
    "refdp.pyc", "refdp/__init__.pyc", f"refdp{EXTENSION_SUFFIXES[0]}", "numpy.cpython-399-elsewhere.so", "json.pyd",
    "refdp_app/client_app.pyc", f"refdp_app/client_app{EXTENSION_SUFFIXES[0]}", "refdp_app/client_app/__init__.pyc",
    "Refdp.PY", f"refdp_app{EXTENSION_SUFFIXES[-1]}", f"refdp_app/__pycache__/client_app.{TAG}.pyc",
)  # fmt: skip
"""What Python imports in place of refdp or of an app's own modules, in the forms that are no source."""


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_module_beside_an_app_is_named_in_whatever_form_it_is(tmp_path: Path, name: str) -> None:
    app(tmp_path, **GROVE)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(b"")
    assert not_examined(tmp_path) == [name]


def test_byte_code_runs_in_place_of_a_source_that_is_as_it_was_written(tmp_path: Path) -> None:
    """Why it is named: unchecked, it wins."""
    app(tmp_path, **GROVE)
    other, place = tmp_path / "other.txt", tmp_path / "refdp_app" / "__pycache__" / f"__init__.{TAG}.pyc"
    other.write_text("print('other code')")
    assert not_examined(tmp_path) == []
    py_compile.compile(str(other), str(place), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    command = [sys.executable, "-c", "import refdp_app"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout == "other code\n"
    assert not_examined(tmp_path) == [place.relative_to(tmp_path).as_posix()]


@pytest.mark.parametrize("name", ["README.md", "refdp_app/data.csv", "data/more.csv", "tools/plot.py", ".venv/lib/a.py",
                                  "notes.python", "__pycache__/old.pyc"])  # fmt: skip
def test_what_an_app_does_not_import_may_lie_beside_it(tmp_path: Path, name: str) -> None:
    app(tmp_path, **GROVE)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(b"")
    assert not_examined(tmp_path) == []


def test_a_check_says_the_guarantee_and_that_all_files_are_as_written(tmp_path: Path, capsys: Any) -> None:
    app(tmp_path, **GROVE)
    toml = tmp_path / "pyproject.toml"
    toml.write_text(toml.read_text().replace("0.1.0", "0.2.0").replace('out = "model.json"', 'out = "m.json"'))
    status, found = checked(tmp_path, capsys)
    assert (status, found["ok"], found["same"], found["not_examined"]) == (0, True, True, [])
    assert found["claimed"] == {"epsilon": 4.0, "delta": found["established"]["delta"]}
    assert 0 < found["established"]["epsilon"] <= 4.0 * (1 + 1e-9)


def test_what_is_not_established_is_not_ok(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    place = app(tmp_path, **GROVE)
    said = Run.read(place)
    issued = Paper.certificate

    def lost(self: Paper, params: Any, schema: Any) -> Any:
        found = issued(self, params, schema)
        return replace(found, established=Guarantee(float("inf"), found.claimed.delta))

    monkeypatch.setattr(Paper, "certificate", lost)
    status, found = checked(tmp_path, capsys)
    assert said.paper == "grove" and (status, found["ok"], found["same"]) == (1, False, True)
    assert found["established"]["epsilon"] == "inf"


# --- Nodes that are not who they were ---------------------------------------------------------------------------------


def test_one_journal_at_two_nodes_ends_the_run(tmp_path: Path) -> None:
    place = app(tmp_path / "app", **GROVE)
    nodes = placed(tmp_path, place, "")
    nodes[41] = nodes[40]
    config = {"out": str(tmp_path / "model.json"), "journal": str(tmp_path / "server")}
    with pytest.raises(MessageError, match="participant 41: it answers from the journal of participant 40"):
        server_app(place)(Simulated(client_app(place), nodes), SimpleNamespace(run_config=config))
    assert not (tmp_path / "model.json").exists()


def test_a_node_that_lost_its_journal_ends_the_run(tmp_path: Path) -> None:
    """It would draw its noise anew for what it answered already."""
    place = app(tmp_path / "app", **GROVE)
    nodes, client = placed(tmp_path, place, ""), client_app(place)
    calls: list[int] = []

    def losing(message: Any, context: Any) -> Any:
        calls.append(message.metadata.dst_node_id)
        if calls.count(41) == 2 and calls[-1] == 41:
            Path(nodes[41]["journal"]).unlink()
        return client(message, context)

    config = {"out": str(tmp_path / "model.json"), "journal": str(tmp_path / "server")}
    with pytest.raises(MessageError, match="participant 41: another journal than before"):
        server_app(place)(Simulated(losing, nodes), SimpleNamespace(run_config=config))


def test_who_was_not_asked_has_no_answer() -> None:
    with pytest.raises(MessageError, match="participant 9: an answer, and it was not asked"):
        flower.read_answer(9, {"about": {"digest": digest("a")}, "behind": {"known": 0}}, {7: "a"})
