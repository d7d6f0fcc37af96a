"""The driver's side of a cluster and the desks of workers, in one process: who has what, who is waited for how long."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from refdp.data.memory import Memory
from refdp.engines import dask
from refdp.engines.dask import DaskPopulation, Desk
from refdp.engines.log import Log
from refdp.errors import InvalidParameter, InvalidRecords, MessageError
from tests.engines.cluster import STEPS, WHOLE, Actor, Cluster, Future, part, sums, told


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A clock that only sleeping moves; what was slept."""
    found = SimpleNamespace(now=1000.0, slept=[])

    def sleep(seconds: float) -> None:
        found.slept.append(seconds)
        found.now += seconds

    monkeypatch.setattr(dask, "time", SimpleNamespace(monotonic=lambda: found.now, sleep=sleep))
    return found


def test_neighbouring_partitions_are_at_one_worker_a_few_at_a_time() -> None:
    cluster = Cluster("b", "a")
    population = DaskPopulation(cluster, range(5), part)
    places = [(0, "a"), (1, "a"), (2, "a"), (3, "b"), (4, "b")]
    assert cluster.begun == places and cluster.opened == places
    assert population.size == 10 and population.lost == 0
    assert population._starts == {0: 0, 1: 3, 2: 3, 3: 4, 4: 8, 5: 10}
    order: list[tuple[str, int]] = []
    one = Cluster("a")
    one.failing = lambda number, address: order.append(("opened", len(one.begun)))
    DaskPopulation(one, range(5), part)
    assert [seen for _, seen in order] == [2, 2, 4, 4, 5]  # two a worker are begun before the first is waited for


def test_sums_are_those_of_one_place_and_a_step_travels_once() -> None:
    cluster = Cluster("a", "b")
    population = told(DaskPopulation(cluster, range(5), part))
    expected = sums(told(Memory(WHOLE)))
    first = sums(population)
    assert first.tolist() == expected.tolist()
    traffic = population.traffic
    assert traffic.rounds == 1 and traffic.sent == 2 * expected.nbytes
    before = traffic.received
    assert sums(population).tolist() == expected.tolist()
    assert traffic.rounds == 2 and traffic.sent == 4 * expected.nbytes
    assert 0 < traffic.received - before < before  # without the steps
    assert population._known == {"a": len(STEPS), "b": len(STEPS)}
    population._known["a"] = 10**6  # more than there is: all of it is known
    population._desks["b"].desk = Desk()  # somebody forgot everything: its partitions are not there
    with pytest.raises(KeyError, match="other partitions"):
        population._known["b"] = 0
        sums(population)


def test_who_forgot_the_log_is_told_again() -> None:
    population = told(DaskPopulation(Cluster("a", "b"), range(5), part))
    expected = sums(population).tolist()
    population._desks["a"].desk._log = Log()
    assert sums(population).tolist() == expected and population.traffic.rounds == 2
    assert population._known == {"a": len(STEPS), "b": len(STEPS)}


def test_others_load_what_a_lost_worker_had(clock: Any) -> None:
    cluster = Cluster("a", "b", "c")
    population = told(DaskPopulation(cluster, range(5), part))
    expected = sums(population).tolist()
    assert population._home == {0: "a", 1: "a", 2: "b", 3: "b", 4: "c"}
    cluster.workers.remove("b")
    cluster.opened.clear()
    assert sums(population).tolist() == expected
    assert population.lost == 1 and cluster.opened == [(2, "a"), (3, "c")]
    assert population._home == {0: "a", 1: "a", 2: "a", 3: "c", 4: "c"} and set(population._desks) == {"a", "c"}
    assert set(population._known) == {"a", "c"}
    cluster.workers[:] = ["d"]
    assert sums(population).tolist() == expected and population.lost == 3 and set(population._home.values()) == {"d"}
    assert clock.slept == []  # nobody was waited for who was seen to be gone


def test_a_worker_that_dies_under_every_query_ends_the_run(clock: Any) -> None:
    cluster = Cluster("w0")
    population = told(DaskPopulation(cluster, range(5), part))

    def dies(address: str) -> None:
        cluster.workers[:] = [f"w{int(address[1:]) + 1}"]

    cluster.before = dies
    with pytest.raises(InvalidParameter, match="workers were lost in 5 tries at one query"):
        sums(population)
    assert population.lost == 5 and cluster.workers == ["w5"]
    cluster.before = lambda address: dies(address) if address != "w9" else None
    assert sums(population).tolist() == sums(told(Memory(WHOLE))).tolist() and population.lost == 9


def test_an_error_of_a_worker_that_lives_is_an_error(clock: Any) -> None:
    cluster = Cluster("a")
    population = told(DaskPopulation(cluster, range(5), part))

    def fails(address: str) -> None:
        raise ValueError("a bug")

    cluster.before = fails
    with pytest.raises(ValueError, match="a bug"):
        sums(population)
    assert clock.slept == pytest.approx([0.1] * len(clock.slept)) and 20 <= sum(clock.slept) < 20.2
    assert population.lost == 0
    population._desks["a"] = SimpleNamespace(answer=lambda *given: fails("a"))  # known to be gone before it is asked
    with pytest.raises(OSError):
        sums(population)

    def refuses(address: str) -> None:
        raise MessageError("another log")

    clock.slept.clear()
    population._desks["a"] = Actor(cluster, "a")
    cluster.before = refuses
    with pytest.raises(MessageError, match="another log"):
        sums(population)
    assert clock.slept == []


def test_a_slow_answer_is_waited_for_while_the_worker_is_there() -> None:
    cluster = Cluster("a", "b")
    population = DaskPopulation(cluster, range(5), part)
    slow = Future(lambda: 7, late=3)
    assert population._result("a", slow) == 7 and slow.timeouts == [1, 1, 1, 1]
    gone = Future(lambda: 7, late=3)
    with pytest.raises(TimeoutError):
        population._result("nobody", gone)
    assert gone.timeouts == [1]
    looks = iter([False, True, False, False])
    population._lives = lambda address, settle: next(looks)  # type: ignore[method-assign]
    flickers = Future(lambda: 7, late=3)
    with pytest.raises(TimeoutError):  # twice unseen is gone, once is not
        population._result("a", flickers)
    assert flickers.timeouts == [1, 1]


def test_whether_a_worker_lives(clock: Any) -> None:
    cluster = Cluster("a")
    population = DaskPopulation(cluster, range(5), part)
    assert population._lives("a", settle=0.0) is True and population._lives("b", settle=5.0) is False
    assert clock.slept == []
    assert population._lives("a", settle=0.01) is True and clock.slept == [0.1, 0.1]
    seen = iter([["a"], ["a"], []])
    population._client = SimpleNamespace(scheduler_info=lambda n_workers: {"workers": next(seen)})
    assert population._lives("a", settle=1.0) is False and clock.slept == [0.1] * 4


def test_a_cluster_without_workers_is_waited_for_for_a_minute(clock: Any) -> None:
    population = DaskPopulation(Cluster("a"), range(5), part)
    seen = iter([[], [], ["b", "a"]])
    population._client = SimpleNamespace(scheduler_info=lambda n_workers: {"workers": next(seen)})
    assert population._workers() == ["a", "b"] and clock.slept == [0.2, 0.2]
    clock.slept.clear()
    population._client = Cluster()
    with pytest.raises(InvalidParameter, match="no worker for 60 seconds"):
        population._workers()
    assert 60 <= sum(clock.slept) < 60.3


def test_loading_is_tried_on_others_and_not_for_ever() -> None:
    cluster = Cluster("a", "b")
    tries: list[int] = []

    def fails(number: int, address: str) -> None:
        if number == 2 and len(tries) < 4:
            tries.append(number)
            raise RuntimeError("of Dask")

    cluster.failing = fails
    assert DaskPopulation(cluster, range(5), part).size == 10 and len(tries) == 4
    tries.clear()

    def always(number: int, address: str) -> None:
        tries.append(number)
        raise ValueError(f"invalid literal: 'Alice' {len(tries)}")

    cluster.failing = always
    with pytest.raises(InvalidRecords, match=r"^a partition could not be computed") as caught:
        DaskPopulation(cluster, range(1), part)
    assert len(tries) == 5 and "Alice" not in str(caught.value) and caught.value.__context__ is None
    for gone in (TimeoutError, type("KilledWorker", (Exception,), {"__module__": "distributed.scheduler"})):
        cluster.failing = lambda number, address, gone=gone: (_ for _ in ()).throw(gone("Alice"))
        with pytest.raises(InvalidParameter, match=r"^workers were lost in 5 tries at one partition") as lost:
            DaskPopulation(cluster, range(1), part)
        assert lost.value.__context__ is None

    def refused(number: int, address: str) -> None:
        raise InvalidRecords("no such label")

    cluster.failing = refused
    with pytest.raises(InvalidRecords, match="no such label"):
        DaskPopulation(cluster, range(5), part)
    cluster.opened.clear()
    cluster.failing = lambda number, address: refused(number, address) if number == 0 else None
    with pytest.raises(InvalidRecords, match="no such label"):
        DaskPopulation(cluster, range(5), part)
    assert [number for number, _ in cluster.opened] == [1, 2, 3]  # who is at a desk is waited for
    cluster.failing = lambda number, address: None
    with pytest.raises(InvalidRecords, match="0 records given, at least 1 is needed"):
        DaskPopulation(cluster, [1, 1], part)
    assert DaskPopulation(cluster, [2], lambda number: part(2)).size == 1


def test_what_a_partition_is_refused_for_is_told_and_what_else_goes_wrong_is_not() -> None:
    """By the worker as a value: of what is raised there Dask writes more than one line."""

    def load(kind: str) -> Any:
        try:
            return {"Alice": 1}[kind]
        except KeyError as error:
            if kind == "refused":
                raise InvalidRecords("no such label") from error
            raise MemoryError if kind == "memory" else TypeError("Alice") from None

    for kind, said in (("refused", "^no such label$"), ("foreign", "^a partition could not be computed")):
        with pytest.raises(InvalidRecords, match=said) as caught:
            DaskPopulation(Cluster("a"), [0], lambda number, kind=kind: load(kind))
        assert caught.value.__context__ is None and caught.value.__cause__ is None
        found = dask.loaded(load, kind)
        assert isinstance(found, InvalidRecords) and found.__traceback__ is None
    with pytest.raises(MemoryError):
        dask.loaded(load, "memory")


def test_partitions_are_gathered_in_order_or_refused() -> None:
    client: Any = SimpleNamespace(compute=lambda number: number, gather=list)
    client.submit = lambda function, *given, pure: function(*given) if not pure else pytest.fail("pure")
    assert [one.size for one in dask.gathered(client, range(5), part)] == [3, 0, 1, 4, 2]
    with pytest.raises(InvalidRecords, match=r"^a partition could not be computed") as caught:
        dask.gathered(client, ["Alice"], part)
    assert caught.value.__context__ is None

    def broken(jobs: Any) -> Any:
        raise OSError("Alice")

    client.gather = broken
    with pytest.raises(InvalidRecords, match=r"^a partition could not be computed") as caught:
        dask.gathered(client, range(5), part)
    assert caught.value.__context__ is None


def test_a_worker_that_dies_while_it_loads_is_left_by_what_it_had() -> None:
    """With the fifth of six partitions goes what the worker had of the first batch."""
    cluster = Cluster("a", "b")

    def dies(number: int, address: str) -> None:
        if len(cluster.opened) == 4 and "a" in cluster.workers:
            cluster.workers[:] = ["b", "c"]
            raise OSError("its connection is closed")

    cluster.failing = dies
    population = told(DaskPopulation(cluster, [0, 1, 2, 3, 4, 0], part))
    assert population.lost == 1 and set(population._desks) <= {"b", "c"}
    assert sorted(population._home) == list(range(6)) and set(population._home.values()) == {"b", "c"}
    assert population.size == 13


@pytest.mark.parametrize("other", ["label", "order", "feature", "one more", "one less"])
def test_a_partition_that_comes_back_with_other_records_ends_the_run(other: str) -> None:
    """Half of the releases would be about one table and half about another; one more record takes another's coin."""
    again = False

    def load(number: int) -> Any:
        found = part(number)
        if number != 3 or not again:
            return found
        x, y = found.x.copy(), found.y.copy()
        if other == "label":
            y[0] += 1
        if other == "order":
            y = y[::-1].copy()
        if other == "feature":
            x[0, 0] = 0.25
        if other.startswith("one"):
            places = [0, *range(len(y))] if other == "one more" else range(1, len(y))
            x, y = x[places], y[places]
        return replace(found, x=x, y=y)

    cluster = Cluster("a", "b", "c")
    population = told(DaskPopulation(cluster, range(5), load))
    expected = sums(population).tolist()
    cluster.workers.remove("b")
    assert sums(population).tolist() == expected
    cluster.workers.remove("c")
    again = True
    with pytest.raises(InvalidRecords, match="partition 3 was computed again, and has other records than before"):
        sums(population)


class Common:
    """In place of what partitions have in common: these of them stand on it, and it is lost or fails at such steps."""

    def __init__(self, standing: set[int], losses: set[int], failures: set[int]) -> None:
        self.standing, self._losses, self._failures = standing, losses, failures
        self.step, self.kept, self.waits = -1, list[list[int]](), list[list[int]]()

    def lost(self) -> bool:
        self.step += 1
        return self.step in self._losses

    def failed(self) -> bool:
        return self.step in self._failures

    def wait(self, numbers: Any) -> None:
        self.waits.append(list(numbers))

    def begin(self, numbers: Any) -> None:
        self.kept.append(list(numbers))

    def forget(self) -> None:
        self.kept.append([])

    def part(self, number: int) -> int:
        return number


@pytest.mark.parametrize("how", ["lost", "failed"])
def test_all_that_have_something_in_common_are_loaded_again_and_compared(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one draw before and another after, partitions that were not loaded before cannot tell."""
    common = Common({0, 2, 3}, {2} if how == "lost" else set(), {2} if how == "failed" else set())
    monkeypatch.setattr(dask, "Shared", lambda client, parts: common)
    cluster = Cluster("a")
    population = told(DaskPopulation(cluster, range(5), part))
    assert [number for number, _ in cluster.opened] == [0, 1, 2, 3, 4, 0, 2, 3]
    assert common.kept == [[0, 1], [2, 3], [], [4, 0], [2, 3]]
    assert common.waits == [[0, 1, 2, 3, 4], [2, 3, 4], [4, 0, 2, 3], [2, 3], []]
    assert sums(population).tolist() == sums(told(Memory(WHOLE))).tolist() and population.lost == 0

    def load(number: int) -> Any:
        found = part(number)
        return replace(found, y=found.y + (number == 2 and len(common.kept) > 6))

    common = Common({0, 2, 3}, {2}, set())
    with pytest.raises(InvalidRecords, match="partition 2 was computed again, and has other records than before"):
        common.kept = [[1], [1], [1]]
        DaskPopulation(Cluster("a"), range(5), load)


def test_what_is_lost_again_and_again_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "Shared", lambda client, parts: Common({0, 1, 2, 3, 4}, set(range(1, 9)), set()))
    with pytest.raises(InvalidParameter, match="workers were lost in 5 tries at one partition") as caught:
        DaskPopulation(Cluster("a"), range(5), part)
    assert caught.value.__context__ is None


def test_what_is_in_common_and_cannot_be_begun_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    common = Common({0, 1}, set(), set())
    begin, tries = common.begin, list[int]()

    def fails(numbers: Any) -> None:
        tries.append(1)
        if len(tries) < 3:
            raise TypeError("Alice")
        begin(numbers)

    common.begin = fails  # type: ignore[method-assign]
    monkeypatch.setattr(dask, "Shared", lambda client, parts: common)
    assert DaskPopulation(Cluster("a"), range(5), part).size == 10
    common.begin = lambda numbers: 1 / 0  # type: ignore[method-assign, assignment]
    with pytest.raises(InvalidRecords, match=r"^a partition could not be computed") as caught:
        DaskPopulation(Cluster("a"), range(5), part)
    assert caught.value.__context__ is None
