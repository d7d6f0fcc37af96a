"""Tapes: recorded and played, in memory and through a file, for all papers; others are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.conform import run, tape_file
from refdp.data.memory import Memory
from refdp.data.shards import Network, Shards, dealt
from refdp.errors import InvalidParameter
from refdp.faces import cli, registry
from refdp.faces.registry import PAPERS
from refdp.papers import fedgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.shares import LocalSource
from refdp.privacy.shares import Shares as NoiseShares
from refdp.privacy.sources import Listed, NoiselessSource, SampleSource
from refdp.privacy.tape import TapeSource
from tests.identity.running import params_of, records, sparsely
from tests.identity.settings import settings

SETTINGS = 12


def case(paper: str, number: int) -> tuple[Any, Any, Any]:
    """Parameters, records and a recording source of one random setting."""
    given = settings(paper, number)
    if given["form"] not in ("central", "sparse zero", "sparse missing"):
        given["params"] |= {"records_each": 1, "noise_by": "aggregator"} if paper == "fedgbdt" else {}
    params = params_of(paper, {**given["params"], "relation": Relation(given["params"]["relation"])})
    data: Any = records(given["data"])
    if given["form"].startswith("sparse"):
        data = sparsely(data, given["form"].split()[1])
    kind = NoiselessSource if given["params"].get("scheme") == "np" else SampleSource
    return params, data, kind(np.random.default_rng(given["seed"]), exact=given["exact"], record=True)


def trained(paper: str, params: Any, data: Any, source: Any) -> str:
    text: str = registry.paper(paper).module.train(params, data, Curator(source, params.relation)).to_json()
    return text


@pytest.mark.parametrize("paper", PAPERS)
def test_a_tape_that_went_through_a_file_gives_the_same_bytes(paper: str, tmp_path: Path) -> None:
    laws = set()
    for number in range(SETTINGS):
        params, data, source = case(paper, number)
        model = trained(paper, params, data, source)
        path = tmp_path / f"{number}.jsonl"
        header = tape_file.header_of(paper, params, data)
        path.write_text(tape_file.tape_text(header, source.tape))
        tape = tape_file.read(path)
        tape.check(header)
        player = TapeSource(tape.listed())
        assert trained(paper, params, data, player) == model, number
        player.finish()
        laws |= {entry["law"][0] for entry in tape.entries}
    assert len(laws) > 2, laws


Change = Callable[[list[Listed]], list[Listed]]
WRONG: dict[str, tuple[Change, str]] = {
    "surplus": (lambda tape: [*tape, tape[-1]], "leaves. after the run"),
    "missing": (lambda tape: tape[:-1], "ends before .*leaves"),
    "left out": (lambda tape: tape[:1] + tape[2:], "path .* is listed, the run asks for"),
    "path": (lambda tape: [replace(tape[0], path=("other",)), *tape[1:]], "path"),
    "kind": (lambda tape: [replace(tape[0], kind="draw"), *tape[1:]], "kind 'draw' is listed"),
    "law": (lambda tape: [*tape[:-1], replace(tape[-1], law=("discrete-laplace", "7"))], "law"),
    "other law": (lambda tape: [*tape[:-1], replace(tape[-1], law=("laplace",))], "law"),
    "dtype": (lambda tape: [*tape[:-1], replace(tape[-1], values=tape[-1].values + 0.5)], "dtype"),
    "shape": (lambda tape: [*tape[:-1], replace(tape[-1], values=tape[-1].values[:-1])], "shape"),
    "range": (lambda tape: [replace(tape[0], values=tape[0].values + 5), *tape[1:]], "a value outside -1 to 0"),
    "choice": (lambda tape: [tape[0], replace(tape[1], values=tape[1].values + 999), *tape[2:]], "a value outside 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_of_the_run_is_refused_by_name(name: str) -> None:
    params = registry.paper("dpboost").module.Params(
        epsilon=2.0, relation=Relation.ADD_REMOVE, trees=2, trees_per_ensemble=1, depth=2, bins=5
    )
    data = records(settings("dpboost", 1)["data"])
    source = SampleSource(np.random.default_rng(0), exact=True, record=True)
    trained("dpboost", params, data, source)
    change, message = WRONG[name]
    player = TapeSource(change(source.tape))
    with pytest.raises(InvalidParameter, match=message):
        trained("dpboost", params, data, player)
        player.finish()


def test_floats_are_checked() -> None:
    params, data, source = case("fedgbdt", 3)
    params = replace(params, splits="totally-random", noise="floating", noise_by="aggregator", records_each=1)
    source = SampleSource(np.random.default_rng(0), record=True)
    trained("fedgbdt", params, data, source)
    place = next(i for i, one in enumerate(source.tape) if one.law == ("uniform",))
    for bad, message in ((np.nan, "a NaN"), (1.0, "outside 0")):
        tape = list(source.tape)
        tape[place] = replace(tape[place], values=np.full(tape[place].values.shape, bad))
        with pytest.raises(InvalidParameter, match=message):
            trained("fedgbdt", params, data, TapeSource(tape))


@pytest.mark.parametrize("kind", ["shares", "local"])
def test_noise_of_several_participants_is_listed_too(kind: str) -> None:
    local = {"noise_by": "record", "noise": "floating"} if kind == "local" else {"noise": "discrete"}
    params = fedgbdt.Params(epsilon=4.0, relation=Relation.REPLACE_ONE, trees=2, depth=2, **local)  # type: ignore[arg-type]
    data = records({**settings("fedgbdt", 1)["data"], "rows": 60, "target": "binary"})
    many = Shards([Memory(part) for part in dealt(data, [20, 40])], network := Network(2))
    own = [np.random.default_rng([5, i]) for i in range(4)]
    tape: list[Listed] = []
    source: Any = (
        NoiseShares(network, 1, own[0], own[1:3], tape=tape)
        if kind == "shares"
        else LocalSource(network, own[0], own[1], tape=tape)
    )
    if kind == "local":
        params = replace(params, noise_by="aggregator")
    model = fedgbdt.train_on(params, data.schema, many, Curator(source, params.relation)).to_json()
    player = TapeSource(tape)
    assert fedgbdt.train(params, data, Curator(player, params.relation)).to_json() == model
    player.finish()


TRAIN = ["train", "dpboost", "--data", "breast_cancer", "--epsilon", "2", "--set", "trees=3", "depth=2", "bins=4"]


def test_the_command_line_records_and_plays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tape, first, second = tmp_path / "tape.jsonl", tmp_path / "first.json", tmp_path / "second.json"
    assert cli.run([*TRAIN, "--record", str(tape), "--private", "--out", str(first), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert run.RECORDED in json.dumps(said["certificate"])
    assert cli.run([*TRAIN, "--tape", str(tape), "--out", str(second), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["certificate"]["established"]["epsilon"] == "inf"
    assert first.read_bytes() == second.read_bytes()
    header, *entries = map(json.loads, tape.read_text().splitlines())
    assert header["private"] and header["paper"] == "dpboost" and header["entries"] == len(entries)
    released = [entry for entry in entries if entry["kind"] == "release"]
    assert all({"value", "output", "mechanism"} <= set(entry) for entry in released)
    assert all({"path", "kind", "law", "shape", "dtype", "values"} <= set(entry) for entry in entries)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--set", "trees=3", "depth=2", "bins=5"], "its parameter bins is 4, not 5"),
        (["--epsilon", "3"], "its parameter epsilon is 2, not 3"),
        (["--test-size", "0.5"], "its records"),
        (["--data", "diabetes"], "schema"),
        (["--seed", "3"], "a tape has all draws already"),
        (["--private"], "--record FILE"),
    ],
)
def test_a_tape_of_another_run_is_refused(
    change: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tape = tmp_path / "tape.jsonl"
    assert cli.run([*TRAIN, "--record", str(tape), "--json"]) == 0
    plain = [*TRAIN[:6], *TRAIN[6:]]
    if change[0] in plain:
        place = plain.index(change[0])
        plain[place : place + len(change)] = change
        change = []
    assert cli.run([*plain, *change, "--tape", str(tape)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[: len(text) // 2], "cut off"),
        (lambda text: "\n".join(text.splitlines()[:-1]), "cut off"),
        (lambda text: text.replace('"version": 1', '"version": 9'), "version 9"),
        (lambda text: text.replace("refdp-tape", "other"), "no header"),
        (lambda text: text.replace('"paper": "dpboost"', '"paper": "sgbdt"'), "its paper is 'sgbdt'"),
        (lambda text: text.replace('"int64"', '"int8"'), "dtype"),
    ],
)
def test_a_damaged_file_is_refused(
    damage: Callable[[str], str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tape = tmp_path / "tape.jsonl"
    assert cli.run([*TRAIN, "--record", str(tape), "--json"]) == 0
    tape.write_text(damage(tape.read_text()))
    assert cli.run([*TRAIN, "--tape", str(tape)]) == 2
    assert message in capsys.readouterr().err
