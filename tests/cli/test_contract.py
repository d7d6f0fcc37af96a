"""What scripts rely on in every command: the fields that all audits have, and status 2 for all that is no finding."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refdp.conform.follow import claims_less
from refdp.conform.plain import mechanism_out
from refdp.faces import cli
from refdp.noise.mechanisms import Exponential

Call = Callable[..., tuple[int, Any, str]]
MINE = """import numpy as np
def noisy(records, seed):
    return float(np.random.default_rng(seed).laplace() + np.clip(records, 0, 1).sum())
"""


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run the command line with --json in a folder of its own: status, document, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def run(*arguments: str) -> tuple[int, Any, str]:
        status = cli.run([*arguments, "--json"])
        shown = capsys.readouterr()
        return status, json.loads(shown.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON")), shown.err

    return run


def canaries(right: int, of: int) -> str:
    """Coins and scores of which so many of the most telling guesses are right."""
    scores = [float(i) for i in range(of)]
    return json.dumps({"included": [i >= of // 2 or i < of // 2 - right for i in range(of)], "scores": scores})


@pytest.mark.parametrize("assume", ["nothing", "gaussian", "isolated"])
def test_an_audit_of_one_run_has_every_audits_fields(call: Call, tmp_path: Path, assume: str) -> None:
    """ok, verdict, and a row of coverage for whatever an audit may look at."""
    half = json.dumps({"included": [i % 2 == 0 for i in range(200)], "scores": [float(i) for i in range(200)]})
    for claimed, scores, status in (("0.01", canaries(100, 200), 1), ("1", half, 0)):
        (tmp_path / "scores.json").write_text(scores)
        found, document, _ = call("audit", "one-run", "scores.json", "--assume", assume, "--epsilon", claimed)
        assert (found, document["ok"]) == (status, status == 0)
        rows = {row["what"]: row["verdict"] for row in document["coverage"]}
        assert rows.pop("composition") == document["verdict"] == ("VIOLATION" if status else "NOT FOUND")
        assert set(rows.values()) == {"NOT EXAMINED"} and "releases" in rows
        assert all({"what", "verdict", "reason", "power"} <= set(row) for row in document["coverage"])
    power = next(row["power"] for row in document["coverage"] if row["what"] == "composition")
    assert power == "" if assume == "isolated" else power.startswith("bounds up to ")


def test_json_may_stand_before_what_is_audited(call: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scores.json").write_text(canaries(100, 200))
    _, document, _ = call("audit", "one-run", "scores.json")
    assert cli.run(["audit", "--json", "one-run", "scores.json"]) == 0
    assert json.loads(capsys.readouterr().out) == document
    for kind in ("package", "one-run"):
        assert cli.run(["audit", "--json", kind, "nothing.toml"]) == 2
        assert json.loads(capsys.readouterr().out)["error"].startswith("nothing.toml: ")


def test_no_claim_is_nan_or_negative(call: Call, tmp_path: Path) -> None:
    """Nothing is above a claim of NaN: it would be cleared whatever the run did."""
    (tmp_path / "scores.json").write_text(canaries(100, 200))
    for claimed in ("nan", "-1", "inf"):
        status, document, _ = call("audit", "one-run", "scores.json", "--epsilon", claimed)
        assert status == 2 and "--epsilon = " in document["error"]


def test_a_pair_is_held_against_the_relation_that_is_said(call: Call, tmp_path: Path) -> None:
    """Without --relation a pair is neighbours of either kind."""
    (tmp_path / "mine_.py").write_text(MINE)
    (tmp_path / "longer.json").write_text('{"first": [[1], [0], [1]], "second": [[1], [0]]}')
    (tmp_path / "other.json").write_text('{"first": [[1], [0]], "second": [[1], [1]]}')
    command = ["audit", "--callable", "mine_:noisy", "--samples", "200", "--no-structural", "--pair"]
    for pair, kind, wrong in (("longer", "add-remove", "replace-one"), ("other", "replace-one", "add-remove")):
        for given in ([], ["--relation", kind]):
            assert call(*command, f"{pair}.json", *given)[0] == 0
        status, document, _ = call(*command, f"{pair}.json", "--relation", wrong)
        assert status == 2 and f"no neighbours of --relation {wrong}" in document["error"]


def test_a_mistake_of_refdps_is_no_finding(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python ends with status 1 after a traceback, which would pass for a violation."""

    def broken(*_: Any) -> Any:
        raise AttributeError("no such thing")

    monkeypatch.setattr("refdp.ledger.claims.load", broken)
    status, document, shown = call("claims")
    assert (status, document) == (2, {"error": "a mistake in refdp, AttributeError: no such thing"})
    assert "Traceback" in shown


def test_a_new_app_over_a_file_is_one_line(call: Call, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    for place in ("there", "/proc/refdp"):
        status, document, shown = call("federate", "new", place)
        assert status == 2 and f"federate new {place}: cannot be written" in document["error"]
        assert shown == f"refdp: {document['error']}\n"
    assert (tmp_path / "there").read_text() == "mine"


def test_what_is_no_transcript_is_no_finding(call: Call, tmp_path: Path) -> None:
    """Headers of another form, and tapes without outputs."""
    (tmp_path / "d.csv").write_text("a,b\n" + "".join(f"{i},{i % 2}\n" for i in range(8)))
    (tmp_path / "b.json").write_text('{"a": [0, 8], "b": ["0", "1"]}')
    data = ["--data", "d.csv", "--bounds", "b.json"]
    training = [
        "train",
        "dpboost",
        *data,
        "--epsilon",
        "4",
        "--set",
        "trees=1",
        "--out",
        "m.json",
        "--record",
        "t.jsonl",
    ]
    assert call(*training)[0] == 0
    status, document, _ = call("certify", "t.jsonl", *data, "--model", "m.json")
    assert status == 2 and "a tape of draws alone" in document["error"]

    assert call(*training, "--private")[0] == 0
    status, document, _ = call("certify", "t.jsonl", *data, "--model", "m.json")
    rows = {row["what"]: row["verdict"] for row in document["checks"]}
    assert status == 3 and rows["plan"] == "HOLDS" and rows["choice: law"] == "NOT EXAMINED"  # of 31 choices
    head, *rest = Path("t.jsonl").read_text().splitlines()
    header = json.loads(head)
    for params in (None, [], {**header["params"], "relation": "sideways"}, {**header["params"], "relation": []}, {}):
        Path("wrong.jsonl").write_text("\n".join([json.dumps({**header, "params": params}), *rest]) + "\n")
        status, document, shown = call("certify", "wrong.jsonl", *data, "--model", "m.json")
        assert status == 2 and "a transcript's header" in document["error"] and "Traceback" not in shown


@pytest.mark.parametrize("claimed", ["DiscreteLaplace", {"name": "Exponential", "coefficient": None}, "nan", []])
def test_a_claimed_mechanism_that_is_none_is_no_all_clear(claimed: Any) -> None:
    """NaN is neither less nor more than what is due; text and numbers are of another form."""
    due = Exponential(0.5)
    given = {**mechanism_out(due), "coefficient": "nan"} if claimed == "nan" else claimed
    assert "is due" in claims_less(given, due)
    assert claims_less(mechanism_out(due), due) == ""


@pytest.mark.parametrize("pair", ['{"first": 1, "second": [[1]]}', '{"first": [[1]]}', "[]", "3"])
def test_a_pair_of_another_form_is_one_line(call: Call, tmp_path: Path, pair: str) -> None:
    (tmp_path / "mine_.py").write_text(MINE)
    (tmp_path / "pair.json").write_text(pair)
    status, document, shown = call("audit", "--callable", "mine_:noisy", "--pair", "pair.json")
    assert status == 2 and "with numbers is needed" in document["error"]
    assert shown == f"refdp: {document['error']}\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&-"])
@pytest.mark.parametrize(("arguments", "status"), [("claims", 0), ("claims --show nothing", 2)])
def test_a_closed_output_is_no_finding(arguments: str, status: int, closed: str) -> None:
    """Python has None for it, and ended with status 1 when that was written to."""
    command = f"{shlex.quote(sys.executable)} -m refdp {arguments} {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == status and "Traceback" not in done.stderr
