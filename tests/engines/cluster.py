"""A cluster in this process, as a client of distributed shows it: workers that hold records, and may be killed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from refdp.data.population import Begin, Labels, Start
from refdp.data.records import Interval, Numeric, Records, Schema, make_records
from refdp.engines import dask
from refdp.engines.dask import Desk
from refdp.own import grove
from refdp.privacy.events import Relation

SCHEMA = Schema((Numeric("a", 0, 1),), Interval(-100, 100))
SIZES = [3, 0, 1, 4, 2]


def part(number: int) -> Records:
    """So many records, with labels 10 n, 10 n + 1, ..."""
    rows = SIZES[number]
    return Records(SCHEMA, np.full((rows, 1), 0.5, order="F"), 10.0 * number + np.arange(rows))


WHOLE = make_records(SCHEMA, np.full((10, 1), 0.5), np.concatenate([part(n).y for n in range(5)]))


class Future:
    """Of a value; `late` times it is not there yet."""

    def __init__(self, value: Callable[[], Any], late: int = 0) -> None:
        self.value, self.late, self.timeouts = value, late, []

    def result(self, timeout: float | None = None) -> Any:
        self.timeouts.append(timeout)
        self.late -= 1
        if self.late >= 0:
            raise TimeoutError
        return self.value()


class Cluster:
    """As a client of distributed: workers by address, each of which may be killed."""

    def __init__(self, *addresses: str) -> None:
        self.workers, self.said, self.late = list(addresses), [], 0
        self.begun: list[tuple[int, str]] = []
        self.opened: list[tuple[int, str]] = []
        self.failing: Any = lambda number, address: None
        self.before: Any = lambda address: None

    def run(self, function: Any) -> dict[str, Any]:
        return {}

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        assert n_workers == -1
        return {"workers": dict.fromkeys(self.workers, "there")}

    def compute(self, number: int, *, workers: list[str], allow_other_workers: bool) -> int:
        assert allow_other_workers is True
        self.begun.append((number, workers[0]))
        return number

    def submit(self, function: Any, *given: Any, workers: list[str], pure: bool, **more: Any) -> Future:
        assert pure is False
        if function is Desk:
            assert more == {"actor": True}
            return Future(lambda: Actor(self, workers[0]))
        assert more == {"allow_other_workers": True}
        return Future(lambda: self._open(function, given))

    def _open(self, function: Any, given: Any) -> Any:
        _, address, number, *_ = given
        self.failing(number, address)
        if address not in self.workers:
            raise OSError("gone")
        self.opened.append((number, address))
        return function(*given)


class Actor:
    """A desk behind futures."""

    def __init__(self, cluster: Cluster, address: str) -> None:
        self.desk, self.cluster, self.address = Desk(), cluster, address

    def open(self, number: int, records: Records) -> Future:
        return Future(lambda: self.desk.open(number, records))

    def answer(self, told: bytes, starts: Any) -> Future:
        def found() -> Any:
            self.cluster.before(self.address)
            if self.address not in self.cluster.workers:
                raise OSError("gone")
            return self.desk.answer(told, starts)

        return Future(found, self.cluster.late)


class Trimmed(Cluster):
    """Whose workers have such an environment."""

    def __init__(self, *environments: tuple[str | None, str | None]) -> None:
        super().__init__("a")
        self.environments = environments

    def run(self, function: Any) -> dict[str, Any]:
        assert function is dask._malloc
        return {str(k): one for k, one in enumerate(self.environments)}


def sums(population: Any) -> Any:
    return population.ask(Labels(-100.0, 100.0))


def told(population: Any) -> Any:
    """With what labels need before they are asked."""
    for step in STEPS:
        population.tell(step)
    return population


STEPS: list[Any] = [Begin(grove.Contribution(grove.Params(1.0, Relation.ADD_REMOVE), SCHEMA)), Start(0.5)]
