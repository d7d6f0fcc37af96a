"""The runner: what it says of right and of wrong programs, of crashes, time-outs and skips."""

from __future__ import annotations

import io
import itertools
import json
import shlex
import shutil
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from refdp.conform import archive, files, judge, runner
from refdp.conform.client import Client
from refdp.conform.compare import differences
from refdp.conform.files import TEXTS
from refdp.faces import cli

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "conform" / "clients" / "reference.py"
EXACT = tuple(kind for kind in files.KINDS if kind != "statistical")


def command(*words: object) -> str:
    return shlex.join(map(str, words))


def some(paper: str, kinds: tuple[str, ...], each: int) -> list[dict[str, Any]]:
    found = [body for body in files.read(ROOT / "conform") if body["paper"] == paper and body["kind"] in kinds]
    return [{**body, "tests": body["tests"][:each]} for body in found]


def wrong(tmp_path: Path, old: str, new: str) -> str:
    """A client that differs in one place."""
    text = REFERENCE.read_text()
    assert text.count(old) == 1
    path = tmp_path / "client.py"
    path.write_text(text.replace(old, new))
    return command(sys.executable, path)


@pytest.mark.parametrize("paper", ["dpboost", "inprivate", "dpxgboost", "fedgbdt", "sgbdt", "grove"])
def test_the_python_client_passes(paper: str) -> None:
    report = runner.run(command(sys.executable, REFERENCE), some(paper, EXACT, 6), timeout=30)
    assert report.total("failed") == 0 and report.total("passed") > 40, report.failures[:1]
    assert report.total("skipped") == 0 and report.level(paper) == "train"


def test_the_report_names_the_first_release_that_differs(tmp_path: Path) -> None:
    client = wrong(tmp_path, "scores.index(max(scores))", "len(scores) - 1 - scores[::-1].index(max(scores))")
    report = runner.run(client, some("dpboost", ("train",), 20), timeout=30)
    failure = report.failures[0]
    assert "splits of level" in failure["path"] and "output" in failure["path"] and "TieBroken" in failure["flags"]
    assert failure["expected"] != failure["got"] and not report.ok and report.level("dpboost") == "none"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise SystemExit(3)", "crashed with status 3"),
        ("time.sleep(60)", "no answer within"),
        ("print('hello', flush=True)", "no JSON object"),
        ("print('[' * 100_000, flush=True)", "no JSON object"),
        ("__import__('os').close(1); time.sleep(60)", "it closed its output"),
        ("\n        while True: print(end='x' * 65536, flush=True)", "answer"),
        ("print(json.dumps({'id': 'other', 'output': {}}), flush=True)", "an answer to 'other'"),
        ("print(json.dumps({'id': m['id'], 'output': {}}), flush=True)", "another value"),
        ("print(json.dumps({'id': m['id'], 'refused': 'no'}), flush=True)", "refused a valid input"),
    ],
)
def test_crashes_time_outs_and_nonsense_are_failures(body: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "client.py"
    path.write_text(
        "import json, sys, time\n"
        "for line in sys.stdin:\n    m = json.loads(line)\n    if m['type'] == 'stop': break\n"
        "    if m['type'] == 'start':\n"
        "        print(json.dumps({'name': 'x', 'version': '1', 'supports': ['dpboost']}), flush=True)\n"
        f"    else:\n        {body}\n"
    )
    seconds = 0.7 if reason == "no answer within" else 20.0  # of a busy machine the latter
    report = runner.run(command(sys.executable, path), some("dpboost", ("grid",), 2), timeout=seconds)
    assert report.total("failed") == 2 and reason in report.failures[0]["reason"], report.failures


def test_a_program_that_does_not_read_is_given_up(tmp_path: Path) -> None:
    """A question that no pipe holds, and an answer before it was read."""
    path = tmp_path / "deaf.py"
    path.write_text("import sys, time\nsys.stdin.readline()\nprint('{\"supports\": []}', flush=True)\ntime.sleep(60)\n")
    deaf = Client(command(sys.executable, path), 0.7)
    deaf.start()
    try:
        assert "no answer within" in deaf.run({"id": "x", "input": "x" * 2**21})["error"]
    finally:
        deaf.stop()


def test_an_answer_of_any_form_is_judged(tmp_path: Path) -> None:
    """Where choices have a margin, what is no table has none."""
    for output in ("[1]", "{'utility': 3}", "{'releases': 5}", "None", "{'index': {'values': 'abc'}}"):
        path = tmp_path / "client.py"
        path.write_text(
            "import json, sys\n"
            "for line in sys.stdin:\n    m = json.loads(line)\n    if m['type'] == 'stop': break\n"
            "    if m['type'] == 'start': print(json.dumps({'supports': ['dpboost']}), flush=True)\n"
            f"    else: print(json.dumps({{'id': m['id'], 'output': {output}}}), flush=True)\n"
        )
        report = runner.run(
            command(sys.executable, path), some("dpboost", ("node", "mechanism", "train"), 8), timeout=30
        )
        assert report.total("failed") == 24 and report.crashes == 0


def test_the_archive_is_the_same_every_time() -> None:
    """Its members are the kept files, in order and without times."""
    text = archive.packed()
    with tarfile.open(fileobj=io.BytesIO(text)) as inside:
        members = inside.getmembers()
        assert {(one.mtime, one.uid, one.mode) for one in members} == {(0, 0, 0o644)}
        assert [one.name for one in members] == sorted(one.name for one in members)
        schema = inside.extractfile(f"{archive.NAME}/conform/schema.json")
        assert schema is not None and schema.read() == (ROOT / "conform" / "schema.json").read_bytes()
    assert sum("/conform/" in one.name for one in members) == 1 + len(list((ROOT / "conform").glob("*/*.json")))
    assert text == archive.packed()


def test_skips_are_counted_and_reach_no_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    client = wrong(tmp_path, '"supports": sorted(PAPERS)', '"supports": ["dpboost"]')
    report = runner.run(client, some("sgbdt", ("encode",), 5), timeout=30)
    assert report.total("skipped") == 5 and not report.ok and report.levels == {"sgbdt": "none"}
    assert cli.run(["conform", "--exec", client, "--paper", "sgbdt", "--kind", "encode", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["skipped"] == 51


def test_a_program_is_not_told_what_is_to_be_refused(tmp_path: Path) -> None:
    """One without any check, which refuses what is called negative, knows every right answer and accepts the rest."""
    path = tmp_path / "client.py"
    path.write_text(
        "import json, sys\nfrom pathlib import Path\n"
        f"files = Path({str(ROOT / 'conform' / 'dpboost')!r}).glob('*.json')\n"
        "bodies = [json.loads(one.read_text()) for one in files]\n"
        "known = {json.dumps(t['input']): t['expect'] for b in bodies for t in b['tests'] if t['result'] == 'valid'}\n"
        "for line in sys.stdin:\n    m = json.loads(line)\n    if m['type'] == 'stop': break\n"
        "    if m['type'] == 'start':\n        print(json.dumps({'supports': ['dpboost']}), flush=True)\n"
        "        continue\n"
        "    said = {'refused': 'so'} if 'negative' in (m['kind'], *m['id'].split('/')) else {\n"
        "        'output': known.get(json.dumps(m['input']), {})}\n"
        "    print(json.dumps({'id': m['id'], **said}), flush=True)\n"
    )
    bodies = some("dpboost", ("plan", "train", "negative"), 999)
    refused = [t["id"] for b in bodies for t in b["tests"] if t["result"] == "invalid"]
    report = runner.run(command(sys.executable, path), bodies, timeout=30)
    assert [one["id"] for one in report.failures] == refused and len(refused) > 60
    assert report.level("dpboost") == "none"


def test_refusals_are_asked_among_plans_and_runs_in_an_order_of_their_own() -> None:
    """Other kinds, and papers, keep theirs; the same vector has one id in a process, whatever the kind."""
    kinds = ("grid", "plan", "train", "negative", "neighbour", "plan")
    listed = [({"paper": paper, "kind": kind}, {"id": f"{paper}/{kind}/{number}"})
              for paper in ("a", "b") for kind in kinds for number in range(9)]  # fmt: skip
    found = runner.mixed(listed)
    names = [test["id"] for _, test in found]
    assert sorted(names) == sorted(test["id"] for _, test in listed)
    for start in (0, 54):
        first, last = names[start : start + 9], names[start + 36 : start + 45]
        assert first + last == [test["id"] for _, test in listed[start : start + 9] + listed[start + 36 : start + 45]]
        middle = [name.split("/")[1] for name in names[start + 9 : start + 36]]
        assert sum(one != other for one, other in itertools.pairwise(middle)) > 4
    asked = runner.message({"paper": "a", "kind": "negative"}, {"id": "x", "operations": ["plan"], "input": {}})
    assert asked["kind"] == asked["operation"] == "plan" and asked["id"] == runner.told_as("x") != runner.told_as("y")


def test_what_is_to_be_refused_has_twins_that_are_not() -> None:
    """Who refuses all of a kind fails."""
    for paper in TEXTS:
        found = [test["result"] for body in some(paper, ("negative",), 999) for test in body["tests"]]
        assert found.count("valid") >= 14 and found.count("invalid") >= 50


def test_one_kind_alone_reaches_no_level() -> None:
    report = runner.run(command(sys.executable, REFERENCE), some("dpboost", ("grid",), 99), timeout=30)
    assert report.ok and report.level("dpboost") == "none"


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right, page = command(sys.executable, REFERENCE), tmp_path / "report.html"
    assert (
        cli.run(["conform", "--exec", right, "--paper", "dpboost", "--neighbours", "--json", "--html", str(page)]) == 0
    )
    said = json.loads(capsys.readouterr().out)
    assert {"name", "version", "passed", "failed", "acceptable", "skipped", "failures"} <= set(said)
    assert said["passed"] == 14 and "14 passed" in page.read_text()
    assert cli.run(["conform", "--exec", right, "--paper", "other"]) == 2
    assert cli.run(["conform", "--exec", "/no/such/program"]) == 2
    assert cli.run(["conform"]) == 2
    client = wrong(tmp_path, "2 * node + 1 + int(goes_right", "2 * node + 2 - int(goes_right")
    assert cli.run(["conform", "--exec", client, "--paper", "dpboost", "--kind", "route", "--json"]) == 1
    failure = json.loads(capsys.readouterr().out)["failures"][0]
    assert {"id", "kind", "path", "flags", "expected", "got"} <= set(failure)


def test_bits_decide_and_less_noise_is_never_acceptable() -> None:
    assert [one.path for one in differences({"a": ["0x0.0p+0"]}, {"a": ["-0x0.0p+0"]})] == ["a[0]"]
    assert all(one.acceptable for one in differences({"a": "0x1.8p+0"}, {"a": "0x3p-1"}))
    more, less = (1 + 2.0**-52).hex(), (1 - 2.0**-53).hex()
    for field, above, below in (("scale", True, False), ("coefficient", False, True), ("other", True, True)):
        for got, fine in ((more, above), (less, below)):
            found = list(differences({field: "0x1.0000000000000p+0"}, {field: got}, ulps=4))
            assert [one.acceptable for one in found] == [fine]
    assert not next(iter(differences({"scale": "0x1p+0"}, {"scale": "0x1.1p+0"}, ulps=4))).acceptable


@pytest.mark.parametrize("law", [["laplace"], ["normal"], ["gumbel"], ["exponential"], ["discrete-laplace", "1030/3"]])
def test_draws_of_another_scale_or_law_are_found(law: list[str]) -> None:
    """At 100 000 draws; the error rate is 1e-9."""
    import numpy as np

    chance = np.random.default_rng(1)
    scale = 1030 / 3
    draws = {
        "laplace": lambda n: chance.laplace(size=n),
        "normal": lambda n: chance.standard_normal(n),
        "gumbel": lambda n: chance.gumbel(size=n),
        "exponential": lambda n: chance.standard_exponential(n),
        "discrete-laplace": lambda n: np.floor(chance.exponential(scale, n)) - np.floor(chance.exponential(scale, n)),
    }[law[0]]
    right = draws(100_000)
    assert judge.drawn_so(law, right) > 1e-9
    assert judge.drawn_so(law, right * 0.95) < 1e-9
    assert judge.drawn_so(law, np.abs(right) if law[0] != "exponential" else -right) < 1e-9
    if len(law) == 1:
        assert judge.drawn_so(law, np.tile(right[:1000], 100)) < 1e-9


@pytest.mark.parametrize("law", [["laplace"], ["normal"], ["discrete-laplace", "1030/3"]])
def test_draws_that_follow_from_those_before_are_found(law: list[str]) -> None:
    """Of the right law, each by itself: every draw for two leaves, one leaf against the other, in order."""
    import numpy as np

    chance = np.random.default_rng(1)
    scale = 1030 / 3
    right = {
        "laplace": chance.laplace(size=20_000),
        "normal": chance.standard_normal(20_000),
        "discrete-laplace": np.floor(chance.exponential(scale, 20_000)) - np.floor(chance.exponential(scale, 20_000)),
    }[law[0]]
    signs = np.where(chance.random(20_000) < 0.5, -1.0, 1.0)
    twice = np.repeat(right[::2], 2)
    assert judge.drawn_so(law, right) > 1e-9
    for wrong in (twice * (1 + 1e-9 * (law[0] != "discrete-laplace") * np.arange(20_000)), twice * signs,
                  twice * np.tile([1.0, -1.0], 10_000), np.sort(right)):  # fmt: skip
        assert judge.drawn_so(law, wrong) < 1e-9


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_javascript_client_reaches_the_level_predict() -> None:
    kinds = files.LEVELS["predict"]
    client = command("node", ROOT / "conform" / "clients" / "predict.js")
    envelopes = [body for paper in TEXTS for body in some(paper, kinds, 1000)]
    report = runner.run(client, envelopes, timeout=30)
    assert report.levels == dict.fromkeys(TEXTS, "predict"), report.failures[:1]
    skipped = runner.run(client, some("dpboost", ("node",), 3), timeout=30)
    assert skipped.total("skipped") == 3 and not skipped.ok
