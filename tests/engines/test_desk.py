"""The desk of one worker, and what its environment is warned about."""

from __future__ import annotations

import pytest

from refdp.data.population import Labels
from refdp.engines import dask
from refdp.engines.dask import MALLOC, Desk, warn_about_trimming
from refdp.engines.log import Enter, Log
from tests.engines.cluster import STEPS, Actor, Cluster, Trimmed, part


def test_a_desk_keeps_what_it_was_given_once() -> None:
    desk = Desk()
    assert [desk.open(n, part(n)) for n in (3, 0, 4)] == [4, 3, 2]
    assert set(desk._waiting) == {0, 3, 4} and desk._waiting[4].size == 2
    desk.join({0: 0, 3: 4, 1: 3})
    assert set(desk._waiting) == {4} and set(desk._shards) == {(0,), (3,)}
    assert [desk._shards[k]._start for k in ((0,), (3,))] == [0, 4]
    desk.join({4: 8})
    assert not desk._waiting and set(desk._shards) == {(0,), (3,), (4,)}
    assert desk.open(3, part(3)) == 4 and not desk._waiting  # here already
    assert desk.open(2, part(2)) == 1 and set(desk._waiting) == {2}


def test_a_desk_says_how_much_of_the_log_it_knows() -> None:
    import pickle

    desk, log = Desk(), Log()
    desk.open(0, part(0))
    for entry in (*STEPS, Enter(0, 0)):
        log.add(entry)
    late = pickle.dumps(log.since(1, Labels(-1.0, 1.0)))
    assert desk.answer(late, {0: 0}) == 0


def test_sizes_may_come_as_futures() -> None:
    assert dask._opened(Desk(), "a", 3, 3, part) == ("a", 4, dask.digest(part(3)))
    assert dask._opened(Actor(Cluster("a"), "a"), "b", 0, 0, part) == ("b", 3, dask.digest(part(0)))  # type: ignore[arg-type]


def test_trimming_is_warned_about_where_it_alone_is_set() -> None:
    for given, message in (
        ([("65536", None)], "=65536, Dask's default, makes"),
        ([("7", None), ("65536", "1"), (None, None)], "=7 without MALLOC_MMAP_THRESHOLD_ makes"),
        ([("8", None), ("7", None)], "=7 without"),
    ):
        with pytest.warns(RuntimeWarning, match=f"MALLOC_TRIM_THRESHOLD_{message}"):
            warn_about_trimming(Trimmed(*given))
    warn_about_trimming(Trimmed(("65536", "1"), (None, None), (None, "4")))
    assert MALLOC == {"MALLOC_TRIM_THRESHOLD_": "1073741824", "MALLOC_MMAP_THRESHOLD_": "33554432"}
