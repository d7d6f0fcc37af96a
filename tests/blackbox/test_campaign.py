"""Campaigns: killed with signal 9 and resumed, they repeat no finished chunk and give what is due."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import campaign as module
from refdp.audit import loaded
from refdp.audit.campaign import Campaign, Job, load
from refdp.audit.outputs import BESIDE
from refdp.audit.runs import InputPair
from refdp.audit.structural import inspect
from refdp.audit.structural_samples import Remembered
from refdp.errors import InvalidParameter
from tests.blackbox.slow import JOB, SAMPLES

ROOT = Path(__file__).parents[2]


def command(path: Path, jobs: int) -> list[str]:
    return [sys.executable, "-m", "tests.blackbox.slow", str(path), str(jobs)]


def environment(log: Path) -> dict[str, str]:
    return {**os.environ, "RUNS_LOG": str(log)}


def finished(path: Path) -> int:
    return max(path.read_text().count("\n") - 1, 0) if path.exists() else 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_and_resumed(tmp_path: Path, jobs: int) -> None:
    path, log = tmp_path / "runs.jsonl", tmp_path / "log"
    child = subprocess.Popen(command(path, jobs), cwd=ROOT, env=environment(log), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while finished(path) < 5 and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    time.sleep(0.5)  # workers end with their parent
    kept = finished(path)
    size = json.loads(path.read_text().splitlines()[0])["size"]
    before = len(log.read_text().splitlines())
    time.sleep(0.3)
    assert len(log.read_text().splitlines()) == before  # nobody works on
    total = -(-SAMPLES // size)
    assert 5 <= kept < total

    with path.open("a", encoding="utf-8") as file:
        file.write('{"chunk": 7, "fir')  # a line that the kill cut short
    resumed = subprocess.run(
        command(path, jobs), cwd=ROOT, env=environment(log), capture_output=True, text=True, check=True
    )
    assert len(log.read_text().splitlines()) - before == (total - kept) * size * 2
    whole = subprocess.run(
        command(tmp_path / "other.jsonl", jobs), cwd=ROOT, env=environment(tmp_path / "log2"), capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert resumed.stdout == whole.stdout != ""


def test_a_finished_campaign_is_read_and_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNS_LOG", str(tmp_path / "log"))
    path = tmp_path / "runs.jsonl"
    first = Campaign(JOB, path, seconds=0.05).upto(30)
    again = Campaign(JOB, path)
    assert [side.tolist() for side in again.upto(30)] == [side.tolist() for side in first]
    assert again.made == 0


def test_more_processes_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNS_LOG", str(tmp_path / "log"))
    one, two = Campaign(JOB, None, 1, seconds=0.05), Campaign(JOB, None, 2, seconds=0.1)
    assert [side.tolist() for side in one.upto(40)] == [side.tolist() for side in two.upto(40)]


def test_outputs_of_all_shapes_survive_the_file() -> None:
    for rows in (
        [np.array([1.0, -0.0, np.nan, np.inf]), np.array([2.0])],
        [np.arange(3.0), np.arange(3.0)],
        [np.zeros((4, 2))],
    ):
        back = module._rows(json.loads(json.dumps(module._text(rows))))
        assert [row.tobytes() for row in back] == [row.tobytes() for row in rows]
        assert [row.shape for row in back] == [row.shape for row in rows]


def test_bad_files_and_names(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text("hello\n")
    with pytest.raises(InvalidParameter, match="not a file that an audit wrote"):
        Campaign(JOB, path)
    path.write_text('{"format": "refdp campaign 2", "job": "a:b", "digest": "x", "size": 5}\n')
    with pytest.raises(InvalidParameter, match="about 'a:b'"):
        Campaign(JOB, path)
    for name, message in (
        ("json", "module:function"),
        ("no_such_module:f", "no_such_module"),
        ("json:no_such", "no_such"),
        ("json:__doc__", "not a function"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            load(name)
    assert (
        Job("json:dumps", InputPair([0.0], [1.0]), 0).digest() != Job("json:dumps", InputPair([0.0], [1.5]), 0).digest()
    )


def test_runs_of_another_text_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    job, path, module_path = (
        Job("edited:f", InputPair([0.0], [1.0]), 0),
        tmp_path / "runs.jsonl",
        tmp_path / "edited.py",
    )
    module_path.write_text("def f(records, seed): return records[0]")
    seen: list[int] = []
    Campaign(job, path, watch=seen.append).upto(10)
    assert seen and seen[-1] >= 10
    Campaign(job, path)
    module_path.write_text("def f(records, seed): return 0.0")
    with pytest.raises(InvalidParameter, match="source text"):
        Campaign(job, path)


def test_modules_that_cannot_be_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for number, text in enumerate(("def f(:", "{}['price']")):
        (tmp_path / f"unreadable{number}.py").write_text(text)
        with pytest.raises(InvalidParameter, match=r"SyntaxError|KeyError"):
            load(f"unreadable{number}:f")


def structural_kinds(campaign: Campaign) -> list[dict[str, object]]:
    """Structural findings about a job's function, its runs kept by the campaign."""

    def run(records: Any, generator: np.random.Generator) -> Any:
        return load(campaign.job.name)(records, int(generator.integers(2**32)))

    pair = campaign.job.pair.first, campaign.job.pair.second
    return [found.to_dict() for found in inspect(Remembered(run, campaign), pair, 5, calls=60)]


@pytest.mark.parametrize("stop", [1, 70, 119])
def test_structural_runs_are_kept_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int) -> None:
    """Interrupted after so many runs, an audit makes only the others, and finds the same."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "interrupted.py").write_text(INTERRUPTED)
    job, seen = Job("interrupted:f", InputPair(np.zeros((3, 1)), np.ones((2, 1))), 3), list[int]()
    function = load("interrupted:f")
    whole = structural_kinds(Campaign(job))
    assert [finding["kind"] for finding in whole] == ["exact statistic"]
    total = len(function.calls) - 4  # of which two a side measure the time
    campaign = Campaign(job, tmp_path / "runs.jsonl", watch_calls=seen.append)
    function.calls.clear()
    function.stop = stop
    with pytest.raises(KeyboardInterrupt):
        structural_kinds(campaign)
    assert seen == list(range(1, stop + 1))
    function.stop = None
    function.calls.clear()
    assert structural_kinds(Campaign(job, tmp_path / "runs.jsonl")) == whole
    assert len(function.calls) == total - stop
    function.calls.clear()
    assert structural_kinds(Campaign(job, tmp_path / "runs.jsonl")) == whole
    assert not function.calls


INTERRUPTED = """
import numpy as np

class Function:
    def __init__(self):
        self.calls, self.stop = [], None

    def __call__(self, records, seed):
        if len(self.calls) == self.stop:
            raise KeyboardInterrupt
        self.calls.append(seed)
        noisy = int(np.random.default_rng(seed).integers(1000))
        return {"exact": len(records), "noisy": noisy, "text": "ü", "inf": np.inf}

f = Function()
"""


def test_kept_runs_are_told_apart_by_records_and_seed() -> None:
    campaign = Campaign(Job("operator:mul", InputPair(np.zeros(2), np.ones(2)), 0))
    campaign.keep(np.zeros((2, 1)), 1, {"a": 1.0})
    assert campaign.recall(np.zeros((2, 1)), 1) == {"a": 1.0}
    for records, seed in ((np.zeros((2, 1)), 2), (np.zeros((1, 2)), 1), (np.array([[0.0], [1e-300]]), 1)):
        assert campaign.recall(records, seed) is None


@pytest.mark.parametrize(("seconds", "each", "runs"), [(10.0, 0.25, 40), (1.0, 3.0, 1), (60.0, 0.0, module.MOST)])
def test_a_chunk_has_as_many_runs_as_fit_into_its_seconds(
    seconds: float, each: float, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the time of two runs of each side; a vectorised function has chunks of its own."""
    clock = [0.0]

    def chunk(mechanism: Any, pair: Any, seed: int, start: int, stop: int) -> Any:
        assert (pair, seed) == ("pair", 5)
        clock[0] += each * (stop - start)
        return [[np.zeros(1 + BESIDE)], [np.zeros(1 + BESIDE)]]

    monkeypatch.setattr(module, "chunk", chunk)
    monkeypatch.setattr(module.time, "perf_counter", lambda: clock[0])
    job = SimpleNamespace(function=lambda: len, pair="pair", seed=5)
    own: Any = SimpleNamespace(job=job, seconds=seconds)
    assert Campaign._sized(own) == runs
    job.function = lambda: SimpleNamespace(batch=None)
    assert Campaign._sized(own) == module.CHUNK


@pytest.mark.parametrize("often", [10, 2, 1])
def test_a_function_that_refuses_now_and_then_is_audited(often: int) -> None:
    """Whatever its first runs do; one that always raises is called in the wrong way."""
    calls: list[int] = []

    def refusing(records: Any, seed: int) -> float:
        calls.append(seed)
        if often == 1 or len(calls) <= 4 or len(calls) % often:
            raise ValueError("too few")
        return 1.0

    own: Any = SimpleNamespace(
        job=SimpleNamespace(function=lambda: refusing, pair=InputPair(1, 2), seed=0), seconds=1.0
    )
    if often > 1:
        assert Campaign._sized(own) == module.MOST
        return
    with pytest.raises(InvalidParameter, match="all of the first 50 runs raised ValueError: too few"):
        Campaign._sized(own)


def test_runs_with_another_helper_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise is in another module than the function: whoever mended or broke it would see the old verdict."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "noisy_helper.py").write_text("def noise(): return 1.0\n")
    (tmp_path / "late_helper.py").write_text("NOISE = 1.0\n")
    (tmp_path / "helped.py").write_text(
        "from noisy_helper import noise\n"
        "def f(records, seed):\n    from late_helper import NOISE\n    return records[0] + noise() + NOISE\n"
    )
    job, path = Job("helped:f", InputPair([0.0], [1.0]), 0), tmp_path / "runs.jsonl"
    first = Campaign(job, path).upto(10)
    again = Campaign(job, path)
    assert again.upto(10)[0].tolist() == first[0].tolist() and again.made == 0
    for name in ("noisy_helper", "late_helper"):
        helper = tmp_path / f"{name}.py"
        text = helper.read_text()
        helper.write_text(text + "# otherwise\n")
        with pytest.raises(InvalidParameter, match=f"another text or version of .*{name}"):
            Campaign(job, path)
        helper.unlink()
        with pytest.raises(InvalidParameter, match=f"another text or version of .*{name}"):
            Campaign(job, path)
        helper.write_text(text)
    assert Campaign(job, path).upto(10)[0].tolist() == first[0].tolist()


@pytest.mark.parametrize("helper", ["own_helper", "own_parts.noise", "profile"])
@pytest.mark.parametrize("late", [False, True])
def test_runs_of_another_folder_are_taken_only_with_the_same_helpers(
    helper: str, late: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two work trees: the function's own module is the same in both. A helper may be called as one of Python's is."""
    path, job = tmp_path / "runs.jsonl", Job("with_helper:f", InputPair([0.0], [1.0]), 0)
    line = f"    from {helper} import NOISE\n" if late else ""
    text = f"def f(records, seed):\n{line}    return records[0] + NOISE\n"
    text = text if late else f"from {helper} import NOISE\n{text}"
    made = []
    for number, noise in enumerate((1, 1, 2)):
        folder = tmp_path / str(number)
        file = folder / (helper.replace(".", "/") + ".py")
        file.parent.mkdir(parents=True)
        (folder / "own_parts").mkdir(exist_ok=True)
        (folder / "own_parts" / "__init__.py").touch()
        file.write_text(f"NOISE = {noise}\n")
        (folder / "with_helper.py").write_text(text)
        with monkeypatch.context() as patched:
            patched.syspath_prepend(folder)
            for name in ("with_helper", "own_parts", helper):
                patched.delitem(sys.modules, name, raising=False)
            if number == 2:
                with pytest.raises(InvalidParameter, match=f"another text or version of {helper}"):
                    Campaign(job, path)
            else:
                campaign = Campaign(job, path)
                campaign.upto(10)
                made.append(campaign.made)
            for name in ("with_helper", "own_parts", helper):
                sys.modules.pop(name, None)
    assert made == [1, 0]


def test_a_helper_that_is_another_only_once_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is found by a path that the function sets, a campaign ends before what it gives is written."""
    path, job = tmp_path / "runs.jsonl", Job("with_path:f", InputPair([0.0], [1.0]), 0)
    (tmp_path / "with_path.py").write_text(
        "import os, sys\n"
        "def f(records, seed):\n"
        "    sys.path.insert(0, os.environ['WHERE'])\n"
        "    from placed_helper import NOISE\n"
        "    del sys.path[0]\n"
        "    return records[0] + NOISE\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for noise in ("1", "2"):
        (tmp_path / noise).mkdir()
        (tmp_path / noise / "placed_helper.py").write_text(f"NOISE = {noise}\n")
    monkeypatch.setenv("WHERE", str(tmp_path / "1"))
    Campaign(job, path, seconds=1e-9).upto(1)
    sys.modules.pop("placed_helper")
    monkeypatch.setenv("WHERE", str(tmp_path / "2"))
    again, before = Campaign(job, path), path.read_text()
    with pytest.raises(InvalidParameter, match="another text or version of placed_helper"):
        again.upto(5)
    assert path.read_text() == before
    sys.modules.pop("placed_helper")


def test_runs_of_a_vectorised_function_are_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "at_once.py").write_text(
        "from refdp.audit import Vectorised\n"
        "f = Vectorised(lambda records, count, generator: records[0] + generator.normal(size=(count, 2)))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(module, "CHUNK", 20)
    job, path = Job("at_once:f", InputPair([0.0], [1.0]), 0), tmp_path / "runs.jsonl"
    first = Campaign(job, path).upto(40)
    again = Campaign(job, path)
    assert again.upto(40)[1].tolist() == first[1].tolist() and again.made == 0


def test_runs_with_another_version_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "runs.jsonl"
    monkeypatch.setenv("RUNS_LOG", str(tmp_path / "log"))
    Campaign(JOB, path, seconds=0.05).upto(5)
    with monkeypatch.context() as patched:
        patched.setattr(loaded.metadata, "version", lambda name: "1.0" if name == "numpy" else version(name))
        with pytest.raises(InvalidParameter, match="another text or version of numpy"):
            Campaign(JOB, path)
    with monkeypatch.context() as patched:
        patched.setattr("platform.python_version", lambda: "3.0")
        with pytest.raises(InvalidParameter, match="another text or version of python"):
            Campaign(JOB, path)
    Campaign(JOB, path)


def test_a_damaged_campaign_has_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNS_LOG", str(tmp_path / "log"))
    path = tmp_path / "runs.jsonl"
    Campaign(JOB, path, seconds=0.05).upto(5)
    whole = path.read_text()
    head, line = (json.loads(one) for one in whole.splitlines()[:2])
    short = {**line, "first": [[[1], 1], line["first"][1][:12]]}
    damaged = [
        [3], [head, 3], [{**head, "size": 0}, line], [{**head, "size": "5"}, line], [{**head, "size": None}],
        [head, {**line, "chunk": -1}], [head, {**line, "chunk": "0"}], [head, line, line], [head, {**line, "first": 3}],
        [head, {**line, "second": None}], [head, {}], [head, short], [head, {**line, "loaded": {}}],
        [head, {**line, "loaded": [1]}], [head, {**line, "loaded": {"python": 3}}],
        [head, line, {"call": "x", "state": {}, "loaded": {"python": "0"}}], [head, {"call": []}],
    ]  # fmt: skip
    for lines in damaged:
        path.write_text("".join(json.dumps(one) + "\n" for one in lines))
        with pytest.raises(InvalidParameter, match="--resume"):
            Campaign(JOB, path)
    for text in (whole.replace('"chunk": 0', '"chunk": 0, "chunk": 1'), json.dumps(head) + "\n" + "[" * 100_000 + "\n"):
        path.write_text(text)
        with pytest.raises(InvalidParameter, match="not a file that an audit wrote"):
            Campaign(JOB, path)
    path.write_text(whole)
    assert Campaign(JOB, path).upto(5)[0].shape == (5, 1)


WAYS = {
    "spec": "spec = importlib.util.spec_from_file_location('aside', HERE / 'aside.py')\n"
            "aside = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(aside)\nNOISE = aside.NOISE\n",
    "runpy": "NOISE = runpy.run_path(str(HERE / 'aside.py'))['NOISE']\n",
    "exec": "exec(compile((HERE / 'aside.py').read_text(), HERE / 'aside.py', 'exec'))\n",
    "zip": "sys.path.insert(0, str(HERE / 'lib.zip'))\nfrom zipped_aside import NOISE\nsys.path.pop(0)\n",
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("late", [False, True])
def test_code_that_is_no_module_counts(way: str, late: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its file, or by the archive that it is in; what has not changed goes on."""
    name, path = f"with_{way}_{late}".lower(), tmp_path / "runs.jsonl"
    text = textwrap.indent(WAYS[way], "    " * late)
    head = "import importlib.util, pathlib, runpy, sys\nHERE = pathlib.Path(__file__).parent\n"
    body = f"def f(records, seed):\n{text}    return records[0] + NOISE\n" if late else (
        f"{text}def f(records, seed): return records[0] + NOISE\n")  # fmt: skip
    body = body.replace("exec(compile", "NOISE = {}; exec(compile").replace(
        "'exec'))", "'exec'), NOISE); NOISE = NOISE['NOISE']"
    )
    (tmp_path / f"{name}.py").write_text(head + body)
    monkeypatch.syspath_prepend(tmp_path)

    def written(noise: int) -> None:
        for gone in (name, "zipped_aside"):
            sys.modules.pop(gone, None)
        importlib.invalidate_caches()
        (tmp_path / "aside.py").write_text(f"NOISE = {noise}\n")
        with zipfile.ZipFile(tmp_path / "lib.zip", "w") as archive:
            archive.writestr(zipfile.ZipInfo("zipped_aside.py"), f"NOISE = {noise}\n")

    job = Job(f"{name}:f", InputPair([0.0], [1.0]), 0)
    written(1)
    Campaign(job, path, seconds=1e-9).upto(2)
    written(1)
    again = Campaign(job, path, seconds=1e-9)
    again.upto(2)
    assert again.made == 0
    written(20)
    with pytest.raises(InvalidParameter, match=r"another text or version of .*aside"):
        Campaign(job, path)
    for gone in (name, "zipped_aside"):
        sys.modules.pop(gone, None)


def test_what_is_no_code_of_a_file_is_not_told(tmp_path: Path) -> None:
    """Text without the name of a file, Python's own, installed ones, files that are gone; and modules but once."""
    told = loaded.Loaded()
    told.new()
    gone = tmp_path / "gone.py"
    for name in ("<string>", str(gone), loaded.__file__, json.__file__, np.__file__):
        loaded._heard("exec", (compile("1", name, "eval"),))
    loaded._heard("ctypes.dlopen", (None,))
    loaded._heard("ctypes.dlopen", ("libm.so.6",))
    loaded._heard("open", (str(tmp_path / "x"), "r", 0))
    assert told.new() == {}
    (library := tmp_path / "own.so").write_bytes(b"code")
    loaded._heard("ctypes.dlopen", (str(library),))
    assert [*told.new()] == [str(library)] and told.changed() == ""
    library.write_bytes(b"other")
    assert told.changed() == str(library)
