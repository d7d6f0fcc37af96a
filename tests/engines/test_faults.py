"""Each fault of the chaos does to the shard that was asked what its name says, and the answer stays exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refdp.data.memory import Memory
from refdp.data.population import Begin, Labels, Start
from refdp.data.records import Interval, Numeric, Records, Schema
from refdp.data.shards import Network
from refdp.engines.chaos import FAULTS, Chaos
from refdp.engines.federated import _Tagged
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.noise.gridded import DiscreteLaplace
from refdp.own import grove
from refdp.privacy.events import Relation

SCHEMA = Schema((Numeric("a", 0, 1),), Interval(-100, 100))
WHOLE = Records(SCHEMA, np.full((9, 1), 0.5, order="F"), np.arange(9.0) ** 2)
STEPS: list[Any] = [Begin(grove.Contribution(grove.Params(1.0, Relation.ADD_REMOVE), SCHEMA)), *map(Start, range(6))]
ASKED = Labels(-100.0, 100.0)


def chaos(seed: int = 0, rate: float = 0.0) -> Chaos:
    """Three shards of 2, 3 and 4 records."""
    made = Chaos([WHOLE.take(np.arange(low, high)) for low, high in ((0, 2), (2, 5), (5, 9))], seed, rate)
    for step in STEPS:
        made.tell(step)
    return made


def told(memory: Memory) -> Memory:
    for step in STEPS:
        memory.tell(step)
    return memory


EXACT = told(Memory(WHOLE)).ask(ASKED).tolist()


def text(population: Chaos, first: int = 0) -> str:
    return population.log.since(first, ASKED).to_json()


def test_without_faults_everybody_is_asked_once() -> None:
    population = chaos()
    assert population.size == 9 and [place.shard._start for place in population._places] == [0, 2, 5]
    assert population.ask(ASKED).tolist() == EXACT
    assert population._known == [len(STEPS)] * 3 and not population.faults and not population._late
    assert [len(place.log) for place in population._places] == [len(STEPS)] * 3


def test_faults_happen_to_a_share_of_requests_of_every_kind() -> None:
    """A fifth unless told otherwise: 3 x 400 requests, and again what was lost. The seed decides which."""
    population = Chaos([WHOLE], 1)
    assert population._rate == 0.2
    found = chaos(3, 0.5)
    for _ in range(100):
        assert found.ask(ASKED).tolist() == EXACT
        assert len(found._late) <= 3
    assert set(found.faults) == set(FAULTS)
    again = chaos(3, 0.5)
    for _ in range(100):
        again.ask(ASKED)
    assert again.faults == found.faults
    requests = 300 + sum(found.faults[kind] for kind in ("request lost", "answer lost", "short", "forgotten"))
    assert 0.4 < sum(found.faults.values()) / requests < 0.6


def only(population: Chaos, fault: str) -> list[int]:
    """The next request has this fault, the others none; which shards were delivered something, in order."""
    seen: list[int] = []
    deliver = population._deliver

    class Chance:
        left = 1

        def permutation(self, count: int) -> Any:
            return np.array([1, 0, 2])

        def random(self) -> float:
            Chance.left -= 1
            return -1.0 if Chance.left == 0 else 1.0

        def choice(self, kinds: Any) -> str:
            return fault

    def watched(number: int, text: str) -> Any:
        seen.append(number)
        return deliver(number, text)

    population._chance, population._rate = Chance(), 0.5  # type: ignore[assignment]
    population._deliver = watched  # type: ignore[method-assign]
    assert population.ask(ASKED).tolist() == EXACT and population.faults == {fault: 1}
    return seen


@pytest.mark.parametrize(
    ("fault", "delivered"),
    [
        ("request lost", [1, 0, 2]), ("answer lost", [1, 1, 0, 2]), ("repeated", [1, 1, 0, 2]),
        ("late", [1, 0, 2, 1]), ("killed", [1, 1, 0, 2]), ("reloaded", [1, 0, 2]), ("short", [1, 0, 2]),
        ("forgotten", [1, 0, 2]),
    ],
)  # fmt: skip
def test_one_fault_is_about_one_shard(fault: str, delivered: list[int]) -> None:
    """Who was killed says first that it knows nothing; a late request comes once more at the end."""
    population = chaos()
    population.ask(ASKED)
    places = list(population._places)
    shards = [place.shard for place in places]
    assert only(population, fault) == delivered
    assert [one is was for one, was in zip(population._places, places)] == [True, fault != "killed", True]
    same = [one.shard is was for one, was in zip(population._places, shards)]
    assert same == [True, fault not in ("killed", "reloaded"), True]


def test_half_of_a_log_is_told_and_nothing_answered() -> None:
    for first, known in ((0, 3), (4, 5)):
        population = chaos()
        place = population._places[2]
        if first:
            place.log.follow(population.log.since(0, ASKED))
            del place.log.entries[first:], place.log.digests[first + 1 :]
        population._short(2, text(population, first))
        assert len(place.log) == known and place.log.digests == population.log.digests[: known + 1]
        assert [len(one.log) for one in population._places[:2]] == [0, 0]
    one = Chaos([WHOLE], 0)
    one.tell(STEPS[0])
    one._short(0, text(one))
    assert len(one._places[0].log) == 1  # at least one step


# --- Limits -----------------------------------------------------------------------------------------------------------


def test_participants_and_the_least_that_answer() -> None:
    assert Network(1).present.tolist() == [True] and Network(3, least=3).least == 3
    for given, error in (((0,), InvalidRecords), ((3, 4), InvalidParameter), ((3, 0), InvalidParameter)):
        with pytest.raises(error):
            Network(given[0], **({"least": given[1]} if len(given) > 1 else {}))


def test_a_release_is_of_the_sums_asked_last() -> None:
    """Tags are 1, 2 for the first query and 3, 4 for the second; a release takes the latter, both or one."""
    from refdp.data.kernels import GRID
    from refdp.privacy.curator import Request

    for tags, fits in (((3, 4), True), ((3,), True), ((4,), True), ((2, 3), False), ((4, 5), False), ((2,), False),
                       ((5,), False), ((3.5,), False)):  # fmt: skip
        population = _Tagged()
        population.tell(STEPS[0])
        for expected in ([1, 2], [3, 4]):
            if expected[0] == 3:
                population.released(request((1, 2)))
            assert population.ask(ASKED).tolist() == expected
        given = request(tags)
        assert isinstance(given, Request) and given.value is not None and given.value[0] == tags[0] * GRID
        if fits:
            population.released(given)
        else:
            with pytest.raises(InvalidParameter, match="a function of exact sums is released"):
                population.released(given)


def request(tags: tuple[float, ...]) -> Any:
    from refdp.data.kernels import GRID
    from refdp.privacy.curator import Request

    return Request("release", ("some",), np.array(tags) * GRID, DiscreteLaplace(3.0, 1.0))
