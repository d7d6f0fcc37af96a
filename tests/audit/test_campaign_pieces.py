"""Campaigns of runs on disk: piece by piece."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import campaign
from refdp.audit.campaign import Campaign, Job
from refdp.audit.outputs import whole_row
from refdp.audit.runs import (
    InputPair,
    Vectorised,
    seed_of,
)
from refdp.errors import InvalidParameter

# --- Campaigns --------------------------------------------------------------------------------------------------------


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    made: Any = ModuleType("run_pieces")
    made.__file__ = str(tmp_path / "run_pieces.py")
    Path(made.__file__).write_text("text")
    made.calls = []
    made.f = lambda records, seed: made.calls.append(seed) or [float(np.sum(records)), float(seed % 97)]
    made.g = SimpleNamespace(h=lambda output: output[0] * 2)
    made.many = Vectorised(lambda records, count, generator: np.arange(count))
    made.three = 3
    monkeypatch.setitem(sys.modules, "run_pieces", made)
    return made


PAIR = InputPair(np.array([1.0, 2.0]), np.array([1.0]))


def test_functions_by_name(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert campaign.load("run_pieces:f") is module.f and campaign.load("run_pieces:g.h") is module.g.h
    assert Job("run_pieces:f", PAIR, 1).function() is module.f
    output, scored = module.f(PAIR.first, 4), Job("run_pieces:f", PAIR, 1, "run_pieces:g.h").function()
    assert scored(PAIR.first, 4) == output and scored.score is module.g.h and scored.name == "run_pieces:g.h"
    for name in ("run_pieces", ":f", "run_pieces:", ""):
        with pytest.raises(InvalidParameter, match=f"--callable {name!r}: module:function is needed"):
            campaign.load(name)
    for name, words in [
        ("run_pieces:three", "int is not a function"),
        ("run_pieces:no", "AttributeError"),
        ("no_module_x:f", "ModuleNotFound"),
    ]:
        with pytest.raises(InvalidParameter, match=f"--score {name!r}: {words}"):
            campaign.load(name, "--score")
    for path, inserted in [(["/x"], True), (["", "/x"], False), ([os.getcwd(), "/x"], False)]:
        monkeypatch.setattr(sys, "path", list(path))
        campaign.load("run_pieces:f")
        assert sys.path == ([os.getcwd()] if inserted else []) + path


def test_digests_change_with_all_that_a_job_is(module: Any) -> None:
    one = Job("run_pieces:f", PAIR, 1)
    others = [Job("run_pieces:f", PAIR, 2), Job("run_pieces:g.h", PAIR, 1),
        Job("run_pieces:f", PAIR, 1, "run_pieces:g.h"),
              Job("run_pieces:f", InputPair(PAIR.second, PAIR.first), 1),
                  Job("run_pieces:f", InputPair(PAIR.first, PAIR.first), 1),
              Job("run_pieces:f", InputPair(PAIR.first[None], PAIR.second), 1)]  # fmt: skip
    digests = {job.digest() for job in (one, *others)}
    assert (
        len(digests) == 7
        and one.digest() == Job("run_pieces:f", InputPair([1, 2], [1]), 1).digest()
        and len(one.digest()) == 64
    )
    Path(module.__file__).write_text("other text")
    assert one.digest() not in digests and others[2].digest() not in digests
    module.__file__ = None
    assert campaign._text_of("run_pieces:f") == ""


def test_a_campaign_makes_each_chunk_once_and_reads_it_again(module: Any, tmp_path: Path) -> None:
    path, job = tmp_path / "kept.jsonl", Job("run_pieces:f", PAIR, 3)
    done: list[int] = []
    one = Campaign(job, path, watch=done.append)
    one._size = 4
    lines = path.read_text().splitlines()
    assert (
        json.loads(lines[0]).keys() == {"format", "job", "digest", "size"}
        and json.loads(lines[0])["job"] == "run_pieces:f"
    )
    path.write_text(lines[0].replace(f'"size": {json.loads(lines[0])["size"]}', '"size": 4') + "\n")
    first, second = one.upto(9)
    assert first.shape == second.shape == (9, 2) and done == [4, 8, 12] and one.made == 3
    assert first[:, 1].tolist() == [float(seed_of(3, 2 * run) % 97) for run in range(9)]
    assert second[:, 1].tolist() == [float(seed_of(3, 2 * run + 1) % 97) for run in range(9)] and {*second[:, 0]} == {
        1.0
    }
    one.upto(12)
    one.upto(13)
    assert one.made == 4 and done[3:] == [16]
    calls = len(module.calls)
    again = Campaign(job, path)
    assert np.array_equal(again.upto(16)[0], one.upto(16)[0]) and again.made == 0 and len(module.calls) == calls
    assert again._size == 4 and again.upto(17)[0].shape == (17, 2) and again.made == 1
    assert (Campaign(job).path, Campaign(job).jobs, Campaign(job).seconds) == (None, 1, 10.0)
    for other in (Job("run_pieces:f", PAIR, 4), Job("run_pieces:f", InputPair(PAIR.second, PAIR.second), 3)):
        with pytest.raises(InvalidParameter, match="with another seed, pair or source text"):
            Campaign(other, path)
    path.write_text(f'{{"format": "refdp campaign 1", "digest": "{job.digest()}"}}\n')
    with pytest.raises(InvalidParameter, match="no campaign at all"):
        Campaign(job, path)


def test_chunks_that_a_kill_left_out_are_made(module: Any, tmp_path: Path) -> None:
    path, job = tmp_path / "kept.jsonl", Job("run_pieces:f", PAIR, 3)
    one = Campaign(job, path)
    path.write_text(path.read_text().replace(f'"size": {one._size}', '"size": 3'))
    one._size = 3
    whole = one.upto(9)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1] + lines[3] + lines[2][:40])
    assert len(campaign._lines(path)) == 3 and path.read_bytes() == lines[0] + lines[1] + lines[3]
    again = Campaign(job, path)
    assert np.array_equal(again.upto(9)[0], whole[0]) and np.array_equal(again.upto(9)[1], whole[1]) and again.made == 1
    path.write_bytes(b"cut")
    assert campaign._lines(path) == [] and path.read_bytes() == b"" and campaign._lines(tmp_path / "none") == []
    path.write_bytes(b"{\n")
    with pytest.raises(InvalidParameter, match="not a file that an audit wrote"):
        campaign._lines(path)


@pytest.mark.parametrize(("seconds", "took", "size"), [(10.0, 2.0, 10), (10.0, 0.0, 500), (10.0, 40.0, 1), (3.0, 0.5,
    12), (1.0, 0.004, 500),
                                                       (1.0, 0.0041, 487)])  # fmt: skip
def test_a_chunk_fits_into_its_seconds(
    seconds: float, took: float, size: int, module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By two runs on each side; of a vectorised function there are so many as it makes at a time."""
    ticks = iter([5.0, 5.0 + took])
    asked: list[Any] = []
    monkeypatch.setattr(campaign, "time", SimpleNamespace(perf_counter=lambda: next(ticks)))
    rows = whole_row(1.0)
    monkeypatch.setattr(campaign, "chunk", lambda *given: asked.append(given[2:]) or ([rows], [rows]))
    assert Campaign(Job("run_pieces:f", PAIR, 3), seconds=seconds)._size == size
    assert asked == [(3, 0, 1), (3, 1, 2)]
    assert Campaign(Job("run_pieces:many", PAIR, 3))._size == 50_000 and len(asked) == 2


def test_other_runs_are_kept_by_records_and_seed(module: Any, tmp_path: Path) -> None:
    path, job, counts = tmp_path / "kept.jsonl", Job("run_pieces:f", PAIR, 3), list[int]()
    one = Campaign(job, path, watch_calls=counts.append)
    one.keep([1.0, 2.0], 4, {"a": 5.0})
    one.keep([1.0], 4, {"a": 6.0})
    assert counts == [1, 2]
    for given in (one, Campaign(job, path)):
        assert given.recall(np.array([1, 2]), 4) == {"a": 5.0} and given.recall([1.0], 4) == {"a": 6.0}
        assert given.recall([1.0], 5) is None and given.recall([[1.0]], 4) is None and given.recall([2.0], 4) is None
    assert len(campaign._call([1.0], 4)) == 32
    loose = Campaign(job)
    loose.keep([1.0], 4, {"a": 7.0})
    assert loose.recall([1.0], 4) == {"a": 7.0}


def test_vectors_as_text_and_back() -> None:
    for rows in ([np.array([1.0, -0.0])], [np.array([0.1]), np.array([math.nan])],
        [np.array([1.0]), np.array([]), np.array([2.0, 3.0])],
                 [np.arange(6.0).reshape(2, 3), np.ones((2, 3))], [np.ones((1, 2)), np.zeros((3, 2))],
                     [np.array([])] * 3):  # fmt: skip
        text = json.loads(json.dumps(campaign._text(rows)))
        again = campaign._rows(text)
        assert [(row.shape, row.tobytes()) for row in again] == [(row.shape, row.tobytes()) for row in rows]
        assert len(text[0]) == (2 if len({row.shape for row in rows}) == 1 else len(rows))
        for row in again:
            row += 0  # writable


@pytest.mark.parametrize(("jobs", "numbers", "processes"), [(1, 5, 0), (3, 1, 0), (3, 2, 2), (2, 5, 2), (3, 0, 0)])
def test_chunks_are_made_in_processes_where_there_are_several(
    jobs: int, numbers: int, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []

    class Done:
        def __init__(self, value: Any) -> None:
            self.value = value

        def result(self) -> Any:
            return self.value

    class Pool:
        def __init__(self, jobs: int, context: Any, initializer: Any) -> None:
            opened.append((jobs, context.get_start_method(), initializer))

        def submit(self, function: Any, *given: Any) -> Any:
            return Done(function(*given))

        def shutdown(self, cancel_futures: bool) -> None:
            opened.append(cancel_futures)

    monkeypatch.setattr(campaign, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(campaign, "as_completed", lambda waiting: reversed(list(waiting)))
    monkeypatch.setattr(campaign, "one_chunk", lambda job, number, size: (job, number, size))
    found = list(campaign._made("job", list(range(3, 3 + numbers)), 7, jobs))  # type: ignore[arg-type]
    assert sorted(found) == [(n, ("job", n, 7)) for n in range(3, 3 + numbers)]
    assert opened == ([(processes, "spawn", campaign._end_with_parent), True] if processes else [])


def test_runs_of_one_chunk(module: Any) -> None:
    first, second = campaign.one_chunk(Job("run_pieces:f", PAIR, 3), 2, 5)
    assert [row[1] for row in first] == [float(seed_of(3, 2 * run) % 97) for run in range(10, 15)] and len(second) == 5


def test_a_worker_ends_with_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[Any] = []
    monkeypatch.setattr(campaign.os, "_exit", ended.append)
    monkeypatch.setattr(campaign.signal, "signal", lambda number, handler: ended.append(number) or handler())
    monkeypatch.setattr(
        campaign.multiprocessing, "parent_process", lambda: SimpleNamespace(join=lambda: ended.append("joined"))
    )
    monkeypatch.setattr(
        campaign.threading,
        "Thread",
        lambda target, daemon: SimpleNamespace(start=lambda: ended.append(daemon) or target()),
    )
    campaign._end_with_parent()
    assert ended == [signal.SIGINT, 1, True, "joined", 1]
    ended.clear()
    monkeypatch.setattr(campaign.multiprocessing, "parent_process", lambda: None)
    campaign._end_with_parent()
    assert ended == [signal.SIGINT, 1, True]
