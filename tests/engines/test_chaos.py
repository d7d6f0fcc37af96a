"""The seam: answers are functions of records and log, so that nothing that happens to shards changes a model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from refdp.data.memory import Memory
from refdp.data.population import COUNT, Begin, Bins, Nodes, Population, Root, from_json, to_json
from refdp.data.records import Records
from refdp.engines.chaos import FAULTS, Chaos
from refdp.engines.log import Asked, Behind, Log, Shard, entry_in, entry_out
from refdp.errors import InvalidParameter, MessageError
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation, expand
from refdp.privacy.sources import Coins, SampleSource
from tests.data.test_population import SCRIPT, some, told
from tests.identity.running import params_of, public, records, sparsely
from tests.identity.settings import PAPERS, settings
from tests.mutants.harness import applied

CUTS = (0, 7, 7, 31)
"""Where the records are cut; one of the shards has none."""


def parts_of(data: Records) -> list[Records]:
    edges = [*CUTS, data.size]
    return [data.take(np.arange(low, high)) for low, high in pairwise(edges)]


def run(paper: str, given: dict[str, Any], params: Any, population: Population, schema: Any) -> tuple[str, Any, Any]:
    """Model, everything published, and events."""
    source = SampleSource(np.random.default_rng(given["seed"]), exact=given["exact"], assignments=True)
    curator = Curator(source, params.relation)
    model = public(paper, "train_on")(params, schema, population, curator)
    return model.to_json(), curator.transcript.public(), curator.event()


def chosen(paper: str, count: int) -> list[tuple[dict[str, Any], Any]]:
    """Settings of either relation whose steps are sums."""
    found = []
    for number in range(210):
        given = settings(paper, number)
        setting = {**given["params"], "relation": Relation(given["params"]["relation"])}
        if (
            given["params"].get("candidates") in ("data", "triples")
            or "noise_by" in given["params"]
            or "no_privacy" in setting
        ):
            continue
        if given["params"].get("records_each") or given["params"].get("scheme") == "np":
            continue
        found.append((given, params_of(paper, setting)))
        if len(found) == count:
            break
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_faults_change_neither_a_model_nor_a_release(paper: str) -> None:
    """Printed readings, samples and partitions included; every kind of fault happens to every paper."""
    faults: Counter[str] = Counter()
    relations, kinds = set(), set()
    for number, (given, params) in enumerate(chosen(paper, 6)):
        data = records(given["data"])
        expected = run(paper, given, params, Memory(data), data.schema)
        chaos = Chaos(parts_of(data), seed=number, rate=0.6 if paper == "fedgbdt" else 0.2)
        assert run(paper, given, params, chaos, data.schema) == expected
        faults += chaos.faults
        relations.add(params.relation)
        kinds |= {entry_out(entry)["kind"] for entry in chaos.log.entries}
    assert set(faults) == set(FAULTS) and min(faults.values()) > 2
    assert len(relations) == (1 if paper == "sgbdt" else 2)
    assert ("select" in kinds) == (paper != "fedgbdt")


@pytest.mark.parametrize("paper", PAPERS)
def test_the_events_of_a_run_in_shards_are_the_plan(paper: str) -> None:
    for given, params in chosen(paper, 2):
        data = records(given["data"])
        *_, event = run(paper, given, params, Chaos(parts_of(data), seed=1), data.schema)
        assert event == expand(public(paper, "plan")(params, data.schema).event)


def test_sparse_records_are_shards_too() -> None:
    given, params = next(one for one in chosen("dpxgboost", 200) if one[0]["form"] == "sparse zero")
    data = records(given["data"])
    expected = run("dpxgboost", given, params, Memory(sparsely(data, "zero")), data.schema)
    chaos = Chaos([sparsely(data, "zero")], seed=5)
    assert run("dpxgboost", given, params, chaos, data.schema) == expected


@pytest.mark.parametrize("paper", PAPERS)
def test_every_step_and_query_of_a_run_reads_back_from_json(paper: str) -> None:
    class Watching(Memory):
        def ask(self, query: Any) -> Any:
            texts.append((query, json.dumps(to_json(query))))
            return super().ask(query)

        def tell(self, step: Any) -> None:
            texts.append((step, json.dumps(to_json(step))))
            super().tell(step)

    kinds = set()
    for given, params in chosen(paper, 6):
        texts: list[tuple[Any, str]] = []
        data = records(given["data"])
        run(paper, given, params, Watching(data), data.schema)
        for message, text in texts:
            again = from_json(json.loads(text))
            assert type(again) is type(message)
            assert json.dumps(to_json(again)) == text
            if isinstance(message, Begin):
                assert again == message
        kinds |= {type(message).__name__ for message, _ in texts}
    assert {"Begin", "Refresh", "Advance"} <= kinds


# --- What shards and logs refuse, and that the checks above can fail --------------------------------------------------


class Twice(Shard):
    """Follows the last entry that it knows once more."""

    def answer(self, log: Any, query: Any) -> Any:
        self._done = max(0, self._done - 1)
        return super().answer(log, query)


BROKEN: dict[str, Callable[[Any], Any]] = {
    "refdp.engines.log:part_of": lambda part: lambda assigned, start, count: part(assigned, 0, count),
    "refdp.engines.chaos:Shard": lambda _: Twice,
    "refdp.engines.chaos:total": lambda add: lambda parts: add([*parts][1:]),
}


def small() -> tuple[dict[str, Any], Any]:
    """A short run of DPBoost with a partition."""
    given = next(one for one, _ in chosen("dpboost", 20) if one["data"]["rows"] > 100)
    given["params"] = {"epsilon": 4.0, "relation": "add-remove", "trees": 4, "depth": 2, "trees_per_ensemble": 4}
    return given, params_of("dpboost", {**given["params"], "relation": Relation.ADD_REMOVE})


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_shards_are_seen(broken: str) -> None:
    given, params = small()
    data = records(given["data"])
    expected = run("dpboost", given, params, Memory(data), data.schema)
    with applied({broken: BROKEN[broken]}):
        try:
            found: Any = run("dpboost", given, params, Chaos(parts_of(data), seed=2), data.schema)
        except (AttributeError, KeyError, AssertionError, IndexError, ValueError) as error:
            found = error
    assert found != expected


def test_an_answer_is_about_the_log_that_was_meant() -> None:
    mine, other, script = Log(), Log(), SCRIPT[1:]
    for step in script:
        mine.add(step)
    for step in (*script[:-2], Root((0,)), script[-1]):
        other.add(step)
    there = Log()
    with pytest.raises(Behind) as behind:
        there.follow(mine.since(3, Nodes((COUNT,))))
    assert behind.value.known == 0
    assert len(there.follow(mine.since(0, Nodes((COUNT,))))) == len(script)
    with pytest.raises(MessageError, match="another log"):
        there.follow(other.since(0, Nodes((COUNT,))))
    with pytest.raises(MessageError, match="another log"):
        there.follow(other.since(len(script), Nodes((COUNT,))))
    assert len(there) == len(script)


def test_a_shard_answers_as_of_any_log() -> None:
    data, query = some(), Bins(("g", COUNT))
    shard = Shard(lambda: data, 0)
    for length in (len(SCRIPT), len(SCRIPT) - 1, len(SCRIPT), len(SCRIPT) - 1):
        assert np.array_equal(shard.answer(SCRIPT[:length], query), told(Memory(data), *SCRIPT[:length]).ask(query))


def test_other_requests_are_refused() -> None:
    log = Log()
    good = json.loads(log.since(0, Nodes((COUNT,))).to_json())
    for broken, message in (
        ({**good, "query": {"kind": "start", "initial": 0.0}}, "steps are told"),
        ({**good, "entries": [to_json(Nodes((COUNT,)))]}, "queries are asked"),
        ({**good, "entries": [{"kind": "select", "scope": 1, "coins": 3}]}, "cannot be read"),
        ({**good, "more": 1}, "a query with its log"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            Asked.from_json(json.dumps(broken))


# --- Coins ------------------------------------------------------------------------------------------------------------

LAWS = (("partition", (0.25, 0.5)), ("partition", (1.0,)), ("poisson", 0.3), ("without-replacement", 0.3),
        ("shares", (3, 40)))  # fmt: skip


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_coins_of_parts_are_those_of_the_whole(law: Any) -> None:
    coins = Coins(bytes(range(16)), law, 1000)
    edges = [0, 1, 7, 8, 8, 501, 1000]
    pieces = [np.asarray(coins.part(low, high - low)) for low, high in pairwise(edges)]
    assert np.array_equal(np.concatenate(pieces), np.asarray(coins))
    assert np.array_equal(np.asarray(coins.part(7, 494).part(1, 100)), np.asarray(coins)[8:108])
    again = entry_in(
        json.loads(json.dumps(entry_out(entry_in({"kind": "select", "scope": 1, "coins": coins.to_json()}))))
    )
    assert again.assigned == coins  # type: ignore[union-attr]


def test_scopes_and_secrets_have_coins_of_their_own() -> None:
    def masks(seed: int) -> list[Any]:
        curator = Curator(SampleSource(np.random.default_rng(seed), assignments=True), Relation.ADD_REMOVE)
        found = []
        for name in ("a", "a", "b"):
            with curator.subsample(name, 0.5, 2000) as mask:
                found.append(mask)
        return found

    every = [*masks(1), *masks(2)]
    for i, first in enumerate(every):
        for second in every[:i]:
            assert 850 < int((first == second).sum()) < 1150  # six standard errors of fair coins
    assert all(np.array_equal(a, b) for a, b in zip(masks(1), every, strict=False))


def test_a_secret_of_assignments_leaves_the_noise_as_it_is() -> None:
    plain, keyed = (SampleSource(np.random.default_rng(3), assignments=chosen) for chosen in (False, True))
    assert plain._secret.bytes(8) == keyed._secret.bytes(8)
