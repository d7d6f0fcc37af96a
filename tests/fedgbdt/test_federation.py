"""Federated runs: the same model as centrally, enough noise whoever drops out, and what communication costs."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from refdp.data.memory import Memory
from refdp.data.shards import Network, Shards, dealt
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.noise.mechanisms import DiscreteGaussian, Gaussian
from refdp.papers import fedgbdt
from refdp.papers.published.fedgbdt import communication_rounds
from refdp.privacy.curator import Curator, Request
from refdp.privacy.events import Relation, Sensitivity, Sequential
from refdp.privacy.shares import LocalSource, excess
from refdp.privacy.shares import Shares as NoiseShares
from refdp.privacy.sources import SampleSource
from refdp.privacy.tape import TapeSource
from tests.fedgbdt.cases import CANDIDATES, SPLITS, TARGETS, UPDATES, params, records
from tests.recorded import Recorded

SIZES = (1, 7, 20, 2, 10)


def of(parts: Any, **more: Any) -> Shards:
    return Shards([Memory(part) for part in parts], Network(len(parts), **more))


def federation(target: Any = TARGETS[1], **more: Any) -> Shards:
    return of(dealt(records(target), SIZES), **more)


@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("target", TARGETS, ids=["regression", "binary", "three classes"])
def test_the_same_tape_gives_the_same_model_as_centrally(target: Any, splits: Any) -> None:
    for number, (update, candidates) in enumerate(itertools.product(UPDATES, CANDIDATES)):
        given = params(splits=splits, update=update, candidates=candidates, batch=1 + number % 3,
                       features_per_tree=(None, 1, 2)[number % 3], interactions="random")  # fmt: skip
        source = SampleSource(np.random.default_rng(2), record=True)
        central = fedgbdt.train(given, records(target), Curator(source, given.relation))
        schema = records(target).schema
        curator = Curator(TapeSource(source.tape), given.relation)
        assert fedgbdt.train_on(given, schema, federation(target), curator).to_json() == central.to_json()


def trained(given: fedgbdt.Params, many: Shards) -> Shards:
    curator = Curator(SampleSource(np.random.default_rng(0)), given.relation)
    fedgbdt.train_on(given, records(TARGETS[1]).schema, many, curator)
    return many


def test_rounds_and_bytes_for_every_batch_size() -> None:
    trees, leaves = 12, 4
    seen = {}
    for batch in range(1, trees + 1):
        traffic = trained(params(trees=trees, batch=batch), federation()).network.traffic
        assert traffic.rounds == communication_rounds(trees, batch)
        assert traffic.sent == 8 * 2 * leaves * trees  # batching changes the number of rounds, not what is sent
        seen[batch] = traffic.rounds
    assert (seen[1], seen[3], seen[5], seen[12]) == (12, 4, 3, 1)
    with_rounds = trained(params(trees=trees, batch=4, candidates="iterative-hessian", rounds=5), federation())
    assert with_rounds.network.traffic.rounds == 5 + 3  # fedgbdt/batched-rounds-ih-repaired
    histograms = trained(params(trees=trees, splits="histogram"), federation())
    assert histograms.network.traffic.rounds == trees * 2  # one a level


def test_a_participant_that_misses_rounds_loses_only_its_contribution() -> None:
    given = params(trees=6)

    def attendance(number: int) -> Any:
        return np.array([number not in (1, 2), True, True, True, True])

    curators = [Recorded(SampleSource(np.random.default_rng(3)), given.relation) for _ in range(3)]
    schema, parts = records(TARGETS[1]).schema, dealt(records(TARGETS[1]), SIZES)
    fedgbdt.train_on(given, schema, of(parts), curators[0])
    fedgbdt.train_on(given, schema, of(parts, attendance=attendance), curators[1])
    fedgbdt.train_on(given, schema, of(parts[1:]), curators[2])
    whole, missing, without = (
        [entry.value for entry in curator.recorded.entries if entry.value is not None] for curator in curators
    )
    np.testing.assert_array_equal(whole[0], missing[0])  # the first round: everybody is there
    assert missing[1][1].sum() < whole[1][1].sum()  # the Hessian of one record is missing
    assert len(missing) == len(whole) == 6
    assert not np.array_equal(missing[5], without[5])  # it is back in the last rounds


def one_request(size: int, sd: float = 64.0) -> Request:
    declared = Sensitivity(1.0, 2, "fedgbdt/newton-sensitivity-joint", Relation.ADD_REMOVE)
    return Request("release", ("sums",), np.zeros(size), DiscreteGaussian(sd, 2.0**-4), declared)


def share_source(honest: int, absent: int = 0) -> NoiseShares:
    many = federation()
    many.network.present[:absent] = False
    generators = np.random.default_rng(5).spawn(len(SIZES) + 1)
    return NoiseShares(many.network, honest, generators[0], generators[1:])


@pytest.mark.parametrize(("honest", "absent"), [(5, 0), (3, 0), (3, 2), (1, 4)])
def test_shares_add_up_to_enough_noise(honest: int, absent: int) -> None:
    """Sample variance of 4000 draws; 5 standard errors are exceeded with probability below 1e-6 a case."""
    draws = share_source(honest, absent).release(one_request(4000))
    expected = 64.0**2 * (5 - absent) / honest
    assert expected >= 64.0**2
    assert abs(draws.var() / expected - 1) < 5 * math.sqrt(2 / 4000)


def test_a_missing_share_would_be_noticed() -> None:
    source = share_source(5)
    source.network.present[0] = False  # an aggregator that goes on with too few shares
    draws = source.release(one_request(4000))
    assert draws.var() / 64.0**2 < 1 - 5 * math.sqrt(2 / 4000)


def test_too_few_answers_end_the_round_before_anything_is_summed() -> None:
    given = params(trees=6, noise="discrete")
    many = federation(attendance=lambda number: np.array([True, True, True, False, False]))
    generators = np.random.default_rng(5).spawn(len(SIZES) + 1)
    source = NoiseShares(many.network, 4, generators[0], generators[1:])
    with pytest.raises(InvalidRecords, match="3 of 5 participants answered, 4 are needed"):
        fedgbdt.train_on(given, records(TARGETS[1]).schema, many, Curator(source, given.relation))
    assert many.network.traffic.sent == 0


def test_a_run_with_shares_records_the_plan_and_needs_discrete_noise() -> None:
    generators = np.random.default_rng(5).spawn(len(SIZES) + 1)
    schema = records(TARGETS[1]).schema
    given = params(noise="discrete", splits="histogram")
    many = federation()
    curator = Curator(NoiseShares(many.network, 3, generators[0], generators[1:]), given.relation)
    fedgbdt.train_on(given, schema, many, curator)
    with pytest.raises(InvalidParameter, match="noise = 'discrete' is needed"):
        floating = params()
        source = NoiseShares(many.network, 3, generators[0], generators[1:])
        fedgbdt.train_on(floating, schema, many, Curator(source, floating.relation))


def test_the_sum_of_fine_shares_is_practically_a_discrete_gaussian() -> None:
    assert excess(10.0, 100, 10_000) < 1e-200
    assert excess(0.3, 10, 1) > 0.1


def test_local_noise_grows_with_the_participants() -> None:
    many = federation()
    source = LocalSource(many.network, *np.random.default_rng(6).spawn(2))
    declared = Sensitivity(2.0, 2, "fedgbdt/ldp-vector", Relation.REPLACE_ONE)
    draws = source.release(Request("release", ("sums",), np.zeros(4000), Gaussian(3.0), declared))
    assert abs(draws.var() / (9.0 * len(SIZES)) - 1) < 5 * math.sqrt(2 / 4000)


def test_several_records_of_a_participant_multiply_the_sensitivity() -> None:
    schema = records(TARGETS[1]).schema
    one, three = (params(records_each=r).sums_charge(schema, 1.0, 0).declared for r in (1, 3))
    assert three.bound == 3 * one.bound
    assert three.claim == "fedgbdt/several-records"


def test_participants_with_too_many_records_are_refused() -> None:
    given = params(records_each=19)
    curator = Curator(SampleSource(np.random.default_rng(0)), given.relation)
    with pytest.raises(InvalidRecords, match="20 records given, records_each = 19 at most"):
        fedgbdt.train_on(given, records(TARGETS[1]).schema, federation(), curator)
    assert curator.event() == Sequential(())


def test_records_in_one_place_have_no_known_participants() -> None:
    """A guarantee about all records of a participant, trained where nobody knows whose records are whose."""
    given = params(records_each=3)
    curator = Curator(SampleSource(np.random.default_rng(0)), given.relation)
    with pytest.raises(InvalidParameter, match="records_each = 3 for records in one place"):
        fedgbdt.train(given, records(TARGETS[1]), curator)
    assert curator.event() == Sequential(())


def test_reports_of_single_records_do_not_travel() -> None:
    given = params(Relation.REPLACE_ONE, noise_by="record")
    with pytest.raises(InvalidParameter, match=r"Reports: .* no sum, and does not travel"):
        trained(given, federation())


def test_participants_need_records() -> None:
    with pytest.raises(InvalidParameter, match="at least one record each"):
        dealt(records(TARGETS[1]), (40, 0))
    with pytest.raises(InvalidRecords, match="0 participants given"):
        of([])
    with pytest.raises(InvalidParameter, match="least = 9"):
        federation(least=9)
