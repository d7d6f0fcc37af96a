"""What a worker is told is a function of what was released, of coins' keys and of how many records there are in all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from refdp.data.memory import Memory
from refdp.data.population import Query, Start, Sums, values
from refdp.data.records import Records
from refdp.engines.log import Logged, Shard
from refdp.papers import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt
from refdp.privacy.curator import Curator, Request
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource
from tests.identity.running import records

ADD = Relation.ADD_REMOVE
PROGRAMS: dict[str, tuple[Any, Any]] = {
    "dpboost": (dpboost.train_on, dpboost.Params(3.0, ADD, trees=2, trees_per_ensemble=2, depth=2, bins=4)),
    "dpxgboost": (dpxgboost.train_on, dpxgboost.Params(3.0, ADD, trees=2, depth=2, subsample=0.5)),
    "fedgbdt": (fedgbdt.train_on, fedgbdt.Params(3.0, ADD, trees=2, depth=2, bins=4, splits="histogram")),
    "sgbdt": (sgbdt.train_on, sgbdt.Params(3.0, ADD, delta=1e-4, trees=3, extra_trees=2, depth=2)),
    "inprivate": (inprivate.train_on, inprivate.Params(3.0, ADD, owners=1, rounds=2, depth=2)),
}


class Told(Logged):
    """One shard elsewhere; keeps every request as text, as it travels."""

    def __init__(self, own: Records) -> None:
        super().__init__()
        self._own, self._shard = own, Shard(lambda: own, 0)
        self.requests: list[str] = []

    @property
    def size(self) -> int:
        return self._own.size

    def _sums(self, query: Query) -> Sums:
        self.requests.append(self.log.since(0, query).to_json())
        return self._shard.answer(self.log.entries, query)


class Again(SampleSource):
    """Gives the releases of an earlier run, or keeps its own; coins and draws are the same in both."""

    def __init__(self, earlier: list[Any] | None = None) -> None:
        super().__init__(np.random.default_rng(5), exact=True, assignments=bytes(16))
        self._earlier, self.made = iter(earlier or ()), []
        self._replays = earlier is not None

    def assign(self, request: Request) -> Any:
        found: Any = super().assign(request)
        return type(found)(found.key, found.law, 0)  # how many slots there are is told besides, on Dask

    def release(self, request: Request) -> Any:
        self.made.append(next(self._earlier) if self._replays else super().release(request))
        return self.made[-1]


def told(train: Callable[..., Any], params: Any) -> tuple[list[str], list[str]]:
    """All requests of a run, and those of its releases on a neighbour."""
    data = records({"target": "binary", "rows": 60, "numeric": 2, "categories": [], "missing": 0.1, "seed": 4})
    first, source = Told(data), Again()
    train(params, data.schema, first, Curator(source, ADD))
    second = Told(data.take(np.arange(1, data.size)))
    train(params, data.schema, second, Curator(Again(source.made), ADD))
    assert len(source.made) > 1
    return first.requests, second.requests


@pytest.mark.parametrize("paper", PROGRAMS)
def test_a_worker_is_told_what_was_released_and_no_more(paper: str) -> None:
    first, second = told(*PROGRAMS[paper])
    assert first == second and len(first) > 1


def test_a_program_that_tells_an_exact_sum_is_seen() -> None:
    train, params = PROGRAMS["sgbdt"]

    def telling(params: Any, schema: Any, population: Any, curator: Any) -> Any:
        def ask(query: Query) -> Sums:
            found = ask_(query)
            population.tell(Start(float(values(found).ravel()[-1])))
            return found

        ask_, population.ask = population.ask, ask
        return train(params, schema, population, curator)

    first, second = told(telling, params)
    assert first != second


def test_a_run_elsewhere_is_that_of_memory() -> None:
    """The host of these tests is one of those that are meant."""
    train, params = PROGRAMS["fedgbdt"]
    data = records({"target": "binary", "rows": 60, "numeric": 2, "categories": [], "missing": 0.1, "seed": 4})
    models = [train(params, data.schema, host, Curator(Again(), ADD)).to_json() for host in (Told(data), Memory(data))]
    assert models[0] == models[1]
