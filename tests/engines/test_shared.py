"""What partitions have in common: which tasks those are, how long they are kept, and when they may be others."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace
from typing import Any

import pytest

if importlib.util.find_spec("distributed") is None:
    pytest.skip("the extra dask is not installed", allow_module_level=True)

import dask
from dask.delayed import Delayed

from refdp.engines.shared import Shared


class Client:
    """Which graphs it was asked for, and the scheduler's account."""

    def __init__(self) -> None:
        self.asked: list[tuple[set[Any], list[Any]]] = []
        self.events: list[tuple[float, dict[str, str]]] = [(1.0, {"action": "add-worker"})]

    def get(self, graph: dict[Any, Any], keys: list[Any], *, sync: bool) -> list[Any]:
        assert not sync
        self.asked.append((set(graph), keys))
        return [SimpleNamespace(key=key, status="finished") for key in keys]

    def get_events(self, topic: str) -> Any:
        assert topic == "all"
        return tuple(self.events)


def task(name: str, *below: Any) -> Any:
    return dask.delayed(lambda *given: given)(*below, dask_key_name=name)


def graph() -> tuple[Client, Shared, list[Any]]:
    """A query, two tables of it, and partitions of the first, of both, of the second, and of nothing else's."""
    query = task("query")
    one, two = task("one", query), task("two", query)
    parts = [task("p0", one), task("p1", task("a1", one), two), task("p2", two), task("p3", task("a3"))]
    client = Client()
    return client, Shared(client, parts), parts


def test_it_is_computed_once_and_kept_as_long_as_a_partition_needs_it() -> None:
    client, shared, _ = graph()
    assert shared.standing == {0, 1, 2}
    shared.wait([0, 1, 2, 3])
    shared.begin([0])
    assert client.asked == [({"query", "one"}, ["one", "query"])]  # the second table is still to be made of the query
    assert set(shared.part(0).__dask_graph__()) == {"p0", "one"} and shared.part(0).__dask_graph__()["one"].key == "one"
    shared.wait([1, 2, 3])
    assert set(shared._held) == {"one", "query"}
    shared.begin([1])
    assert client.asked[1:] == [({"query", "two"}, ["two"])] and set(shared.part(1).__dask_graph__()) == {
        "p1", "a1", "one", "two"}  # fmt: skip
    shared.wait([2, 3])
    assert set(shared._held) == {"two"}
    shared.begin([2, 3])
    assert len(client.asked) == 2 and set(shared.part(3).__dask_graph__()) == {"p3", "a3"}
    shared.wait([])
    assert shared._held == {}


def test_what_is_needed_within_one_step_alone_is_not_kept() -> None:
    client, shared, _ = graph()
    shared.wait([0, 1, 2, 3])
    shared.begin([0, 1, 2, 3])
    ((tasks, wanted),) = client.asked
    assert tasks == {"query", "one", "two"} and sorted(wanted) == ["one", "two"]
    shared.forget()
    shared.begin([2])
    assert client.asked[1] == ({"query", "two"}, ["two", "query"])


def test_a_partition_that_is_there_twice_is_one_task() -> None:
    client = Client()
    part = task("p", task("a"))
    shared = Shared(client, [part, part])
    assert shared.standing == {0, 1}
    shared.wait([0, 1])
    shared.begin([0, 1])
    assert client.asked == [({"p", "a"}, ["p"])] and shared.part(0) is shared.part(1) is shared._held["p"]


def test_what_is_given_is_not_in_common() -> None:
    """A value is the same whenever it is read; and what is no partition of Dask stands on nothing."""
    shared_value = Delayed("value", {"value": dask._task_spec.DataNode("value", 7)})
    client = Client()
    shared = Shared(client, [task("p0", shared_value), task("p1", shared_value)])
    assert shared.standing == set() and set(shared.part(0).__dask_graph__()) == {"p0", "value"}
    assert Shared(client, [1, 2]).standing == set() and Shared(client, [1, 2]).part(1) == 2
    shared.wait([0, 1])
    shared.begin([0, 1])
    client.get_events = None  # type: ignore[method-assign, assignment]
    assert client.asked == [] and not shared.lost() and not shared.failed()


def test_a_worker_that_went_is_seen_whatever_came_in_its_place() -> None:
    client, shared, _ = graph()
    shared.lost()
    assert not shared.lost()
    client.events.append((2.0, {"action": "add-worker"}))
    assert not shared.lost()
    client.events += [(3.0, {"action": "add-worker"}), (4.0, {"action": "remove-worker"}), (5.0, {"action": "other"})]
    assert shared.lost() and not shared.lost()
    client.events[:] = [(6.0, {"action": "add-worker"})]  # of a scheduler that forgets
    assert shared.lost() and not shared.lost()
    client.events.clear()
    assert shared.lost()


def test_what_is_kept_may_fail() -> None:
    _, shared, _ = graph()
    shared.wait([0, 1])
    shared.begin([0])
    for status, failed in [("pending", False), ("finished", False), ("error", True), ("lost", True)]:
        shared._held["one"].status = status
        assert shared.failed() is failed
    shared.forget()
    assert not shared.failed()
