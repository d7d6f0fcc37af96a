"""Programs that know the repository's vectors, draw the same noise again, break at sizes beyond, or write a report."""

from __future__ import annotations

import json
import shlex
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.conform import files, page, runner, runs
from refdp.conform.judge import judge, repeats
from refdp.conform.made import MadeSource, drawn_from, run
from refdp.conform.plain import array_out
from refdp.faces import cli
from refdp.own import grove

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "conform" / "clients" / "reference.py"
HEAD = "import json, random, sys\n"
LOOP = """
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "stop":
        break
    told = START if m["type"] == "start" else {"id": m["id"], **answer(m)}
    print(json.dumps(told), flush=True)
"""


def program(tmp_path: Path, body: str, start: dict[str, Any] | None = None) -> str:
    """A client of these lines, which define `answer`."""
    path = tmp_path / "client.py"
    start = {"name": "x", "version": "1", "supports": ["dpboost"]} | (start or {})
    path.write_text(f"{HEAD}START = {start!r}\n{body}\n{LOOP}")
    return shlex.join([sys.executable, str(path)])


def kept(kind: str) -> list[dict[str, Any]]:
    return [one for one in files.read(ROOT / "conform") if one["paper"] == "dpboost" and one["kind"] == kind]


@pytest.mark.parametrize("kind", ["encode", "grid", "route", "plan"])
def test_answers_by_heart_pass_the_repositorys_vectors_and_no_fresh_ones(kind: str, tmp_path: Path) -> None:
    """Some are the same: bounds and coefficients that are no draws."""
    path = str(ROOT / f"conform/dpboost/{kind}.json")
    memory = f"KNOWN = {{json.dumps(t['input']): t['expect'] for t in json.load(open({path!r}))"
    answer = "def answer(m): return {'output': KNOWN.get(json.dumps(m['input']))}"
    client = program(tmp_path, memory + "['tests']}\n" + answer)
    assert runner.run(client, kept(kind), timeout=30).ok
    report = runner.run(client, files.made("dpboost", kind, 5), timeout=30, seed=5)
    assert report.total("failed") > 10 and not report.ok and "vectors of seed 5" in report.badge()


def test_a_seed_makes_the_same_vectors_always_others_than_the_repositorys() -> None:
    first = files.made("dpboost", "route", 5)
    assert files.made("dpboost", "route", 5) == first != files.made("dpboost", "route", 6)
    assert first != kept("route") == files.made("dpboost", "route")
    assert [t["id"] for t in first[0]["tests"]] == [t["id"] for t in kept("route")[0]["tests"]]


@pytest.mark.parametrize(
    ("paper", "name"),
    [("sgbdt", "gradient_bound"), ("fedgbdt", "delta"), ("dpxgboost", "count_weight"), ("inprivate", "split_share")],
)
def test_fresh_settings_are_not_those_that_the_repositorys_vectors_have(paper: str, name: str) -> None:
    """A program that has one value of a setting written into it is right on the repository's vectors alone."""

    def asked(bodies: list[dict[str, Any]]) -> list[Any]:
        return [one["input"]["params"] for one in bodies[0]["tests"]]

    old = asked([one for one in files.read(ROOT / "conform") if (one["paper"], one["kind"]) == (paper, "plan")])
    new = asked(files.made(paper, "plan", 5))
    assert len({one[name] for one in old}) <= 6 and len({one[name] for one in new}) > 8
    assert len({one["epsilon"] for one in old}) <= 8 and len({one["epsilon"] for one in new}) > 8
    assert max(one.get("trees", one.get("rounds", 0)) for one in new) > 3


@pytest.mark.parametrize("seed", [None, 5, 2741])
def test_regressions_of_grove_end_with_a_mean_of_either_sign_and_as_deep_as_nu_says(seed: int | None) -> None:
    """Whatever the seed: the step is left out or reversed by no program that passes."""
    with drawn_from(seed):
        found = []
        for chance, params, records in islice(runs.further("grove", "train"), 3):
            model, recorder = run("grove", params, records, MadeSource(chance))
            last = recorder.transcript.entries[-1]
            sure = grove.mean_left(last.output, params.last_deviation(records.schema), params.weight(records.schema))
            assert last.request.name == "left by all trees" and (sure > 0) == (last.value[0] > 0)
            found.append((np.sign(sure), len(model.outputs[0].trees[-1].leaves)))
    assert found == [(-1, 8), (1, 16), (-1, 32)]


def test_fresh_schemas_have_more_features_and_classes() -> None:
    schemas = [one["input"]["schema"] for one in files.made("dpboost", "plan", 5)[0]["tests"]]
    assert max(len(one["features"]) for one in schemas) > 4
    assert max(len(one["target"].get("values", ())) for one in schemas) > 3


@pytest.fixture(scope="module")
def fresh() -> list[dict[str, Any]]:
    """Whole runs of DPBoost."""
    found: list[dict[str, Any]] = files.made("dpboost", "train", 5)[0]["tests"]
    return found


def test_fresh_runs_are_wider_than_the_repositorys(fresh: list[dict[str, Any]]) -> None:
    """Codes in one byte and rows counted in two bytes are right on the repository's vectors."""
    wide = [one["input"] for one in fresh[42:44]]
    assert [one["y"]["shape"] for one in wide] == [[700], [66000]] and wide[0]["params"]["bins"] == 300
    small = [one["input"] for one in kept("train")[0]["tests"]]
    assert max(one["y"]["shape"][0] for one in small) < 256 and max(one["params"]["bins"] for one in small) < 255


@pytest.mark.statistics
def test_codes_of_one_byte_are_found_by_fresh_vectors_alone(tmp_path: Path, fresh: list[dict[str, Any]]) -> None:
    """The Python client with its codes cut off at 255."""
    text = REFERENCE.read_text()
    old = "1 + sum(1 for t in thresholds if t <= x)"
    assert text.count(old) == 1
    path = tmp_path / "client.py"
    path.write_text(text.replace(old, f"({old}) & 255"))
    client = shlex.join([sys.executable, str(path)])
    assert runner.run(client, [{**one, "tests": one["tests"][:5]} for one in kept("train")], timeout=60).ok
    report = runner.run(client, [{**kept("train")[0], "tests": fresh[40:43]}], timeout=60, seed=5)
    assert [one["id"] for one in report.failures] == ["dpboost/train/043"]


DRAWS = "def answer(m): return {'output': {'values': {'shape': [n := m['input']['count']], 'values': "
LAPLACE = "[((-1) ** c.randrange(2) * c.expovariate(1)).hex() for _ in range(n)]}}}"


@pytest.mark.parametrize(
    ("seed", "right"), [("0", False), ("'a', n", False), ("STARTED", False), ("m['id']", False), ("", True)]
)
def test_draws_that_come_again_are_no_fresh_draws(seed: str, right: bool, tmp_path: Path) -> None:
    """A seed for every question, for the program, for a question's id; and none."""
    made = "STARTED = random.Random(1)\n" if seed == "STARTED" else ""
    source = "c" if seed == "STARTED" else f"random.Random(repr(({seed},)))" if seed else "random.SystemRandom()"
    inner = LAPLACE if seed != "STARTED" else LAPLACE.replace("c.", "STARTED.")
    body = made + (
        "def answer(m):\n    n = m['input']['count']\n"
        + (f"    c = {source}\n" if seed != "STARTED" else "")
        + "    return {'output': {'values': {'shape': [n], 'dtype': 'float64', 'values': "
        + inner
    )
    laplace = [
        {**one, "tests": [t for t in one["tests"] if t["input"]["law"] == ["laplace"]]} for one in kept("statistical")
    ]
    report = runner.run(program(tmp_path, body), laplace, timeout=60)
    assert report.ok == right, report.failures
    assert right or "the same draws as before" in report.failures[0]["reason"]


def test_whole_numbers_that_agree_by_chance_are_fresh() -> None:
    def told(values: list[int]) -> dict[str, Any]:
        import numpy as np

        return {"output": {"values": array_out(np.array(values, dtype=np.int64))}}

    first, second = [0, 1, -1, 0, 2, 0, 0, 1, 3, 0], [0, 0, 1, -2, 0, 1, 0, 4, 1, 1]
    assert not repeats(told(first), told(second)) and repeats(told(first), told(first + second))


def test_a_program_cannot_write_into_the_report(tmp_path: Path) -> None:
    forged = "x 1: dpboost transcript (2770 passed, 0 failed)\n\x1b[2J"
    body = "def answer(m): return {'skip': '\\x1b[2J\\nFAILED nothing'}"
    report = runner.run(program(tmp_path, body, {"name": forged}), kept("route"), timeout=30)
    told = page.text(report)
    assert "\x1b" not in told and "\nFAILED" not in told and not report.ok
    assert told.count(": ") == 2 and "(2770" not in told and "no level" in told


def test_no_bound_is_no_answer_about_epsilon() -> None:
    test = {"expect": {"lower": "0x1p+0", "upper": "0x1.1p+0"}, "result": "valid"}
    found = {one: judge(test, "account", {"output": {"epsilon": one}}).outcome for one in ("inf", "nan", "0x1p+1")}
    assert found == {"inf": "failed", "nan": "failed", "0x1p+1": "acceptable"}
    found = {one: judge(test, "account", {"output": {"epsilon": one}}).outcome for one in ("0x1.1p+4", "0x1.1001p+4")}
    assert found == {"0x1.1p+4": "acceptable", "0x1.1001p+4": "failed"}


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = shlex.join([sys.executable, str(REFERENCE)])
    asked = ["conform", "--exec", right, "--paper", "dpboost", "--kind", "route"]
    assert cli.run([*asked, "--fresh", "12", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["seed"] == 12 and said["passed"] == 40 and "vectors of seed 12" in said["badge"]
    assert cli.run([*asked, "--fresh", "-1"]) == 2
    assert cli.run([*asked, "--fresh", "1", "--vectors", str(tmp_path)]) == 2
    assert cli.run(["conform", "--fresh", "1", "--vectors", str(tmp_path)]) == 2
