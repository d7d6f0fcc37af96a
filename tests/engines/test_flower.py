"""`refdp federate`: an app is written, and Flower's own objects carry it to the bytes of a run without Flower."""

from __future__ import annotations

import importlib.util
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.engines import owners
from refdp.engines.flower import APART, QUIET, Run, digest, read_answer, records_of, sentence
from refdp.engines.journal import ReleaseJournal
from refdp.engines.new_app import made_up
from refdp.engines.owners import Afar, MinerJournal
from refdp.errors import InvalidParameter, InvalidRecords, JournalError, MessageError, RefdpError
from refdp.faces.cli import run
from refdp.faces.commands.federate import EXAMPLE
from refdp.protocols.messages import MINER, Message

INSTALLED = importlib.util.find_spec("flwr") is not None
SGBDT: dict[str, Any] = {
    "paper": "sgbdt",
    "settings": {"epsilon": 4.0, "delta": 1e-4, "relation": "add-remove", "trees": 3, "extra_trees": 2, "depth": 2},
}
GROVE: dict[str, Any] = {
    "paper": "grove",
    "settings": {"epsilon": 4.0, "relation": "add-remove", "trees": 3, "depth": 2},
}
REGRESSION: dict[str, Any] = GROVE | {
    "schema": {"features": [{"name": "age", "low": 0.0, "high": 120.0}], "target": {"low": -3.0, "high": 5.0}},
}
INPRIVATE: dict[str, Any] = {
    "paper": "inprivate",
    "settings": {"epsilon": 4.0, "relation": "add-remove", "owners": 3, "rounds": 2, "depth": 3},
}


def app(folder: Path, **other: Any) -> Path:
    assert run(["federate", "new", str(folder), "--json"]) == 0
    place = folder / "refdp_app" / "run.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | other))
    return place


def test_a_new_app_has_its_files_and_a_run_of_its_own(tmp_path: Path, capsys: Any) -> None:
    first, second = app(tmp_path / "a"), app(tmp_path / "b")
    capsys.readouterr()
    assert json.loads(first.read_text())["run"] != json.loads(second.read_text())["run"]
    assert Run.read(first).params.trees == EXAMPLE["settings"]["trees"]
    names = {str(path.relative_to(tmp_path / "a")) for path in (tmp_path / "a").rglob("*") if path.is_file()}
    assert names == {"pyproject.toml", "README.md", *(f"refdp_app/{name}" for name in
                                         ("__init__.py", "client_app.py", "server_app.py", "run.json"))}  # fmt: skip
    assert run(["federate", "new", str(tmp_path / "a"), "--json"]) == 2
    assert "it is there already" in json.loads(capsys.readouterr().out)["error"]
    assert run(["federate", "old", str(tmp_path / "a")]) == 2


@pytest.mark.parametrize("paper", [{}, INPRIVATE])
def test_that_a_record_is_at_one_participant_is_assumed_and_said(tmp_path: Path, paper: dict[str, Any]) -> None:
    """Two nodes that read one file are not told from others."""
    found = Run.read(app(tmp_path, **paper)).certificate()
    assert APART in found.assumptions and math.isfinite(found.established.epsilon)
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "Each record has to be at one participant" in readme
    guide = " ".join((Path(__file__).parents[2] / "docs" / "engines.md").read_text(encoding="utf-8").split())
    assert "That each record is at one participant is assumed" in guide


def test_more_participants_than_a_sum_of_64_bits_holds_are_refused(tmp_path: Path) -> None:
    assert Run.read(app(tmp_path / "a", participants=2048)).participants == 2048
    with pytest.raises(InvalidParameter, match="2049 participants: up to 2048 are allowed"):
        Run.read(app(tmp_path / "b", participants=2049))


def test_a_paper_that_needs_exact_sums_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidParameter, match=r"'dpboost': fedgbdt, sgbdt, grove, whose releases are sums.*inprivate.* allowed"
    ):
        Run.read(app(tmp_path, paper="dpboost"))
    with pytest.raises(InvalidParameter, match="4 participants, owners = 3: as many are needed"):
        Run.read(app(tmp_path / "owners", **INPRIVATE, participants=4))


@pytest.mark.parametrize(
    "other",
    [
        {"schema": []},
        {"schema": {"features": [{"name": "age"}], "target": {"values": ["a", "b"]}}},
        {"schema": {"features": [{"name": "age", "low": "x", "high": 1}], "target": {"values": ["a", "b"]}}},
        {"schema": {"features": [{"name": "age", "categories": [[]]}], "target": {"values": ["a", "b"]}}},
        {"participants": "3"},
        {"honest": 0},
        {"settings": []},
        {"settings": {}},
        {"settings": {"epsilon": 10**400, "relation": "add-remove"}},
        {"schema": {"features": [{"name": "age", "low": 0, "high": 10**400}], "target": {"values": ["a", "b"]}}},
        {"run": 5},
        {"paper": []},
    ],
    ids=lambda other: str(other)[:40],
)
def test_a_run_of_another_form_is_one_error(tmp_path: Path, other: dict[str, Any]) -> None:
    """People edit run.json: what is wrong in it is said by name."""
    with pytest.raises(RefdpError, match=r"run\.json"):
        Run.read(app(tmp_path, **other))


@pytest.mark.skipif(INSTALLED, reason="Flower is installed")
def test_without_flower_one_line_says_what_to_install(tmp_path: Path, capsys: Any) -> None:
    app(tmp_path)
    capsys.readouterr()
    assert run(["federate", "check", str(tmp_path)]) == 2
    assert "pip install 'refdp[flower]'" in capsys.readouterr().err


@pytest.mark.skipif(not INSTALLED, reason="the extra flower is not installed")
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "other", [{}, SGBDT, GROVE, REGRESSION, INPRIVATE],
    ids=["fedgbdt", "sgbdt", "grove", "grove for a regression", "inprivate"],
)  # fmt: skip
def test_a_run_on_flower_gives_the_bytes_of_participants_without_it(
    tmp_path: Path, capsys: Any, other: dict[str, Any]
) -> None:
    app(tmp_path, **other)
    capsys.readouterr()
    assert run(["federate", "check", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is True and found["rounds"] > 2
    said = "released values only" if other is INPRIVATE else "nothing protects a single participant's message"
    assert said in found["protection"]
    assert ("simulation engine" in found["engine"]) is (importlib.util.find_spec("ray") is not None)
    assert {name: os.environ[name] for name in QUIET} == QUIET


# --- What is read, and what is said -----------------------------------------------------------------------------------


class Sums:
    """As Flower's record of arrays."""

    def to_numpy_ndarrays(self) -> list[Any]:
        return [np.arange(3)]


def test_an_answer_to_another_request_is_refused_by_name() -> None:
    texts = {7: "round 3", 8: "round 3"}
    about = {"digest": digest("round 3")}
    assert read_answer(7, {"about": about, "behind": {"known": 2}}, texts) == 2
    assert read_answer(7, {"about": about, "sums": Sums()}, texts).tolist() == [0, 1, 2]
    for content, message in (
        ({"about": {"digest": digest("round 2")}, "sums": Sums()}, "an answer to another request than the one of this"),
        ({"sums": Sums()}, "an answer that cannot be read"),
        ({"about": about, "behind": {"known": "many"}}, "an answer that cannot be read"),
        ({"about": about}, "an answer that cannot be read"),
        (None, "an answer that cannot be read"),
    ):
        with pytest.raises(MessageError, match=f"participant 8: {message}"):
            read_answer(8, content, texts)
    with pytest.raises(InvalidRecords, match="participant 8: its records cannot be read"):
        read_answer(8, {"about": about, "refused": {"records": 1}}, texts)
    with pytest.raises(MessageError, match="an answer to another request"):
        read_answer(8, {"about": {"digest": digest("round 2")}, "refused": {"records": 1}}, texts)


def test_the_version_decides_what_is_said_of_seeds() -> None:
    """The text of 1.41, one without 32 bits in it, and none."""
    assert sentence("1.41.0", "gen = np.random.RandomState(seed32)").endswith(
        "1.41.0 derives masks from seeds of 32 bits"
    )
    assert sentence("2.0", "AES.new(seed, AES.MODE_CTR)").endswith("2.0 derives masks from seeds of more than 32 bits")
    assert sentence("2.1", "").endswith("2.1 derives masks from what is not known here")


def test_sums_of_limbs_show_more_than_the_sum() -> None:
    """Why SecAgg+ is not used: it adds entries below 2^32, so that 60 bits are three limbs, and shows each limb's sum.

    They give the sum, and carries besides: two runs with the same sum are told apart.
    """

    def shown(values: list[int]) -> list[int]:
        return [sum(value >> (20 * limb) & (2**20 - 1) for value in values) for limb in range(3)]

    def whole(limbs: list[int]) -> int:
        found = sum(limb << (20 * place) for place, limb in enumerate(limbs)) % 2**60
        return found - 2**60 * (found >= 2**59)

    assert whole(shown([1, -1])) == whole(shown([0, 0])) == 0 and whole(shown([2**52, -(2**50)])) == 3 * 2**50
    assert shown([1, -1]) != shown([0, 0])


# --- Owners that train one after the other ----------------------------------------------------------------------------


class Dead(BaseException):
    """The miner's process, at a given place."""


def called(
    place: Path, folder: Path, lost: Any = lambda position, number: False, dies: tuple[int, int, str] | None = None,
    journal: MinerJournal | None = None,
) -> tuple[Any, list[Afar]]:  # fmt: skip
    """The miner's outcome with owners whose every call is a life of its own. lost: whose answers never arrive.

    dies: (owner, round) of the call before or after which the miner dies.
    """
    run_ = Run.read(place)
    everybody = []
    for k in range(3):
        data = folder / f"{k}.csv"
        data.write_text(made_up(run_.schema, 60, k))
        own = folder / f"{k}.journal"
        if not own.exists():
            secret = folder / f"{k}.journal.secret"
            ReleaseJournal(secret, f"owner {k} of {run_.name}", secret=bytes([k]) * 32).close()

        def call(heard: bytes, number: int, k: int = k, data: Path = data, own: Path = own) -> bytes | None:
            if dies == (k, number, "before"):
                raise Dead
            try:
                found = owners.answered(run_, k, lambda: records_of(data, run_.schema), own, heard, number)
            except MessageError as error:
                assert "begun before: its budget is spent" in str(error)
                return None
            if dies == (k, number, "after"):
                raise Dead
            return None if lost(k, number) else found

        everybody.append(Afar(call))
    return owners.mine(run_, everybody, journal), everybody


def test_owners_live_for_one_call_and_release_no_round_twice(tmp_path: Path) -> None:
    place = app(tmp_path / "app", **INPRIVATE)
    calm, everybody = called(place, tmp_path)
    assert len(calm.finished) == 6 and len(calm.model.to_json()) > 100
    assert [one.size[2] for one in everybody] == [2, 2, 2]
    again, _ = called(place, tmp_path)  # a miner that starts anew: every round is spent
    assert not again.finished and set(again.skipped) == set(calm.finished)
    (tmp_path / "lossy").mkdir()
    lossy, _ = called(place, tmp_path / "lossy", lambda position, number: (position, number) == (1, 0))
    assert set(lossy.skipped) == {(0, 1)} and len(lossy.finished) == 5
    (tmp_path / "same").mkdir()
    assert called(place, tmp_path / "same")[0].model.to_json() == calm.model.to_json()


def one_owner(folder: Path, **settings: Any) -> tuple[Run, Path]:
    """A run of one owner, and its records."""
    other = {"owners": 1, "rounds": 2, "depth": 2, **settings}
    place = app(folder / f"app {len(list(folder.iterdir()))}", run="one", participants=1, honest=1,
                **{**INPRIVATE, "settings": {**INPRIVATE["settings"], **other}})  # fmt: skip
    run_, data = Run.read(place), folder / "own.csv"
    data.write_text(made_up(run_.schema, 60, 0))
    return run_, data


def asked_for(run_: Run, number: int) -> bytes:
    return Message(owners.rules(run_).run, number, MINER, "request", (), ()).to_bytes()


def test_the_noise_of_an_owner_is_drawn_once_whatever_happens_to_its_journal(tmp_path: Path) -> None:
    """The journal alone was named, and deleted: the secret beside it gave other records the same noise."""
    run_, data = one_owner(tmp_path)
    place = tmp_path / "own"

    def answer(number: int, run_: Run = run_) -> bytes:
        return owners.answered(run_, 0, lambda: records_of(data, run_.schema), place, asked_for(run_, number), number)

    first, whole = answer(0), data.read_text()
    kept = place.read_bytes()
    with pytest.raises(MessageError, match="round 0 was begun before"):
        answer(0)
    data.write_text("".join(whole.splitlines(keepends=True)[:-1]))
    for _ in range(2):
        with pytest.raises(JournalError, match=r"own\.secret: its noise was drawn for another records"):
            answer(1)
        place.unlink(missing_ok=True)
    data.write_text(whole)
    other, _ = one_owner(tmp_path, epsilon=3.0)
    with pytest.raises(JournalError, match=r"own\.secret: its noise was drawn for another run, and"):
        answer(1, other)
    for _ in range(2):
        with pytest.raises(JournalError, match=r"own: it is new, and own\.secret beside it has rounds.*is lost"):
            answer(1)
    division = next(line for line in kept.splitlines(keepends=True) if b'"division"' in line)
    place.write_bytes(kept[: kept.index(division) + len(division)])  # of a time before the round
    with pytest.raises(MessageError, match="round 0 was begun before: its budget is spent"):
        answer(0)
    assert answer(1) != first
    for name in ("own", "own.secret"):
        (tmp_path / name).unlink()
    assert answer(0) != first  # nobody can know: other noise


def test_a_message_that_is_none_loses_no_round(tmp_path: Path) -> None:
    run_, data = one_owner(tmp_path)

    def answer(heard: bytes) -> bytes:
        return owners.answered(run_, 0, lambda: records_of(data, run_.schema), tmp_path / "own", heard, 0)

    for heard in (b"", b"{}"):
        with pytest.raises(MessageError, match="not a message"):
            answer(heard)
    assert answer(asked_for(run_, 0))


def test_a_miner_that_dies_goes_on_and_nobody_releases_twice(tmp_path: Path) -> None:
    """Before a call nothing is lost; after it, the answer on its way is, with its budget, and no other."""
    place = app(tmp_path / "app", **INPRIVATE)
    name = Run.read(place).name
    (tmp_path / "calm").mkdir()
    calm, _ = called(place, tmp_path / "calm")
    for when, skipped in (("before", set()), ("after", {(1, 0)})):
        folder = tmp_path / when
        folder.mkdir()
        with MinerJournal(folder / "miner", name) as journal, pytest.raises(Dead):
            called(place, folder, dies=(0, 1, when), journal=journal)
        with MinerJournal(folder / "miner", name) as journal:
            found, _ = called(place, folder, journal=journal)
        assert set(found.skipped) == skipped and len(found.finished) == 6 - len(skipped)
        with MinerJournal(folder / "miner", name) as journal:
            again, _ = called(place, folder, journal=journal)  # all on file: no owner is asked
        assert again.model.to_json() == found.model.to_json()
        if not skipped:
            assert found.model.to_json() == calm.model.to_json()
    with MinerJournal(folder / "other", name) as journal:
        asked = journal.kept(0, lambda heard, number: b"an answer")
        assert asked(b"a message", 0) == asked(b"a message", 0) == b"an answer"
        with pytest.raises(JournalError, match="owner 0 was asked after other messages in round 0"):
            asked(b"another", 0)
    with pytest.raises(JournalError):
        MinerJournal(folder / "other", "another run")


def test_owners_elsewhere_need_a_private_scheme(tmp_path: Path) -> None:
    settings = {**INPRIVATE["settings"], "scheme": "np"}
    with pytest.raises(InvalidParameter, match="scheme 'np' adds no noise"):
        owners.rules(Run.read(app(tmp_path, **{**INPRIVATE, "settings": settings})))
