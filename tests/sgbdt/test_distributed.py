"""Distributed S-GBDT: the central model bit for bit, enough noise whoever drops out, accounts that stay at home."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.data import shards
from refdp.data.kernels import GRID
from refdp.data.memory import Memory
from refdp.data.population import Advance, Pay
from refdp.data.records import Classes, Ensemble, Interval, Model, Records
from refdp.data.shards import Network, Shards, dealt
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.noise.mechanisms import Exponential, Gaussian, Laplace
from refdp.papers import sgbdt
from refdp.privacy import shares
from refdp.privacy.curator import Curator, Request
from refdp.privacy.events import Relation, Sensitivity, expand
from refdp.privacy.shares import Shares, share_deviation
from refdp.privacy.sources import SampleSource
from refdp.privacy.tape import TapeSource
from tests.mutants.harness import Caught, applied, audit, edit
from tests.sgbdt.test_training import small, some_records

SHARES = "refdp.privacy.shares"
TARGETS = [Interval(-1.0, 1.0), Classes(("p", "q", "r"))]
PARTIES = (2, 10, 100)


def sizes(count: int, rows: int) -> list[int]:
    """Unequal parts, at least one record each."""
    weights = np.arange(1, count + 1)
    extra = (rows - count) * weights // weights.sum()
    return [int(1 + more) for more in extra[:-1]] + [int(rows - count + 1 - extra[:-1].sum())]


def ran(params: sgbdt.Params, records: Records, count: int, source: Any, **network: Any) -> Model:
    population = participants(records, sizes(count, records.size), Network(count, **network))
    return sgbdt.train_on(params, records.schema, population, Curator(source, params.relation))


def participants(records: Records, rows: list[int], network: Network | None = None) -> Shards:
    """One host a participant, with so many of the records each."""
    return Shards([Memory(part) for part in dealt(records, rows)], network)


@pytest.mark.parametrize("target", TARGETS, ids=["regression", "three classes"])
@pytest.mark.parametrize("count", PARTIES)
def test_the_same_tape_gives_the_central_model_bit_for_bit(target: Any, count: int) -> None:
    """Stated precision: every sum is a multiple of 2^-24 and exact, so nothing is lost at all."""
    params, records = small(trees=6, extra_trees=6, subsample=0.4), some_records(target, 150)
    source = SampleSource(np.random.default_rng(2), record=True)
    central = sgbdt.train(params, records, Curator(source, params.relation))
    assert ran(params, records, count, TapeSource(source.tape)).to_json() == central.to_json()


def test_a_coarser_wire_would_be_noticed() -> None:
    params, records = small(subsample=0.4), some_records(TARGETS[0], 150)
    source = SampleSource(np.random.default_rng(2), record=True)
    central = sgbdt.train(params, records, Curator(source, params.relation))
    with applied({"refdp.data.shards:secure_sum": lambda add: lambda vectors: add([v // 4 * 4 for v in vectors])}):
        assert ran(params, records, 10, TapeSource(source.tape)).to_json() != central.to_json()


def source_of(network: Network, honest: int, rows: list[int], seed: int = 5) -> Shares:
    public, *own = np.random.default_rng(seed).spawn(network.participants + 1)
    return Shares(network, honest, public, own, rows)


def test_a_run_with_shares_records_the_plan() -> None:
    params, records = small(trees=3, extra_trees=2), some_records(TARGETS[1])
    network, rows = Network(10), sizes(10, records.size)
    curator = Curator(source_of(network, 7, rows), params.relation)
    sgbdt.train_on(params, records.schema, participants(records, rows, network), curator)
    assert curator.event() == expand(sgbdt.plan(params, records.schema).event)
    assert network.traffic.rounds == 3 * (1 + 5)  # for every class: the labels, then one round a tree
    assert network.traffic.sent == 3 * 8 * (2 + 5 * 2 * 4)


# --- Noise ------------------------------------------------------------------------------------------------------------


def enough() -> bool:
    """Exactly: h shares of every deviation have no less variance than the central noise."""
    deviations = [1e-6, 0.3, 1.0, 17.3757, 139.099, 818.269, 1e6]
    return all(
        honest * Fraction(shares.share_deviation(deviation, honest)) ** 2 >= Fraction(deviation) ** 2
        for deviation in deviations for honest in (1, 2, 3, 7, 10, 50, 100)
    )  # fmt: skip


def test_shares_add_up_to_no_less_than_the_central_noise() -> None:
    assert enough()
    assert share_deviation(139.099, 100) == pytest.approx(13.9099, rel=1e-12)


@pytest.mark.parametrize("shared", [lambda sd, h: sd / h, lambda sd, h: sd / math.sqrt(h + 1)])
def test_shares_that_are_too_small_are_rejected(shared: Any) -> None:
    with applied({f"{SHARES}:share_deviation": lambda _: shared}):
        assert not enough()


def request(mechanism: Any, shape: tuple[int, ...]) -> Request:
    declared = Sensitivity(1.0, 1, sgbdt.INITIAL, Relation.ADD_REMOVE)
    return Request("release", ("sums",), np.zeros(shape), mechanism, declared)


def variances(count: int, honest: int, absent: int) -> tuple[float, float, float]:
    """Variance of released noise against the central one: both columns of the leaves, and the labels."""
    network = Network(count)
    network.present[:absent] = False
    source = Shares(network, honest, *_generators(count), [1] * count)
    leaves = source.release(request(Gaussian((4.0, 0.5)), (3000, 2))) / np.array([4.0, 0.5])
    labels = source.release(request(Laplace(3.0), (6000,))) / (3.0 * math.sqrt(2))
    return float(leaves[:, 0].var()), float(leaves[:, 1].var()), float(labels.var())


def _generators(count: int) -> tuple[np.random.Generator, list[np.random.Generator]]:
    public, *own = np.random.default_rng(11).spawn(count + 1)
    return public, own


SPREAD = (6 * math.sqrt(2 / 3000), 6 * math.sqrt(2 / 3000), 6 * math.sqrt(5 / 6000))
"""Six standard errors of a sample variance: fourth moments 3 and 6. Exceeded with probability below 1e-7 a case."""


@pytest.mark.parametrize(("count", "honest", "absent"), [(2, 2, 0), (2, 1, 1), (10, 6, 0), (10, 6, 4)])
def test_released_noise_has_the_variance_of_those_who_answer(count: int, honest: int, absent: int) -> None:
    expected = (count - absent) / honest
    assert expected >= 1
    for found, spread in zip(variances(count, honest, absent), SPREAD, strict=True):
        assert abs(found / expected - 1) < spread


@pytest.mark.parametrize(
    ("method", "old", "new"),
    [
        ("_gaussian", "share_deviation(deviation, self.honest)", "share_deviation(deviation, 2 * self.honest)"),
        ("_laplace", "negative_binomial(1 / self.honest,", "negative_binomial(0.5 / self.honest,"),
    ],
)
def test_noise_that_is_half_missing_is_rejected(method: str, old: str, new: str) -> None:
    with applied({f"{SHARES}:Shares.{method}": edit((old, new))}):
        found = variances(2, 2, 0)
    assert any(value < 1 - spread for value, spread in zip(found, SPREAD, strict=True))


def test_drop_outs_leave_enough_noise_and_too_many_end_the_run() -> None:
    params, records = small(trees=4, extra_trees=0), some_records(TARGETS[0])
    rows = sizes(5, records.size)
    for missing, allowed in ((2, True), (3, False)):
        network = Network(5, attendance=lambda number, m=missing: np.arange(5) >= (m if number == 2 else 0))
        curator = Curator(source_of(network, 3, rows), params.relation)
        population = participants(records, rows, network)
        if allowed:
            sgbdt.train_on(params, records.schema, population, curator)
            continue
        with pytest.raises(InvalidRecords, match="2 of 5 participants answered, 3 are needed"):
            sgbdt.train_on(params, records.schema, population, curator)
        assert network.traffic.rounds == 2  # nothing of the third round was summed


# --- Accounts ---------------------------------------------------------------------------------------------------------


def accounts_after(count: int, attendance: Any = None) -> tuple[np.ndarray, Memory, Records, Ensemble]:
    """What the records have spent, in order, after a run; the first participant, its records; what was released."""
    params, records = small(trees=4, extra_trees=8, subsample=0.4), some_records(TARGETS[0], 80)
    rows = sizes(count, records.size)
    parts = dealt(records, rows)
    hosts = [Memory(part) for part in parts]
    curator = Curator(SampleSource(np.random.default_rng(3)), params.relation)
    model = sgbdt.train_on(params, records.schema, Shards(hosts, Network(count, attendance)), curator)
    spent = np.concatenate([host.accounts()[0].shares() for host in hosts])
    return spent, hosts[0], parts[0], model.outputs[0]


def test_every_participant_keeps_the_accounts_that_the_centre_would_keep() -> None:
    central, *_ = accounts_after(1)
    for count in (2, 10):
        spent, *_ = accounts_after(count)
        assert np.array_equal(spent, central)
    assert central.min() < central.max() <= 1


def test_who_is_absent_pays_nothing_and_follows() -> None:
    spent, first, part, released = accounts_after(2, attendance=lambda number: np.array([number < 3, True]))
    everywhere, *_ = accounts_after(2)
    assert np.all(spent[: part.size] < everywhere[: part.size])
    assert np.allclose(first._score[0], released.score(part.x, np.array([False, True, False])), atol=1e-12)


def test_only_sums_of_public_shapes_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every vector on the wire is one of label sums or leaf sums: whatever a record has spent, nothing more is sent."""
    wire: list[tuple[Any, ...]] = []
    original = shards.secure_sum

    def tapped(vectors: Any) -> Any:
        wire.append(tuple((vector.shape, str(vector.dtype)) for vector in vectors))
        return original(vectors)

    monkeypatch.setattr(shards, "secure_sum", tapped)
    accounts_after(10)
    assert wire == [(((2,), "int64"),) * 10] + [(((1, 2, 4), "int64"),) * 10] * 12


def accused() -> list[Caught]:
    """What the audit says of a distributed trainer, two participants with every other record each."""
    settings = {"delta": 1e-3, "trees": 5, "extra_trees": 8, "depth": 1, "subsample": 0.5, "regularisation": 1.0}
    params = sgbdt.Params(2.0, Relation.ADD_REMOVE, **settings)  # type: ignore[arg-type]
    schema = some_records(TARGETS[0]).schema

    def train(records: Records, door: Curator) -> Model:
        half = records.size // 2
        parts = [records.take(np.arange(half)), records.take(np.arange(half, records.size))]
        return sgbdt.train_on(params, schema, Shards([Memory(part) for part in parts]), door)

    return audit(train, sgbdt.plan(params, schema), schema, np.inf, count=12)


def test_the_audit_accepts_the_distributed_run() -> None:
    assert accused() == []


def telling_least(tell: Any) -> Any:
    """A participant tells that all of its records are spent: more answers are asked for."""

    def mutant(self: Shards, step: Any) -> None:
        tell(self, step)
        if isinstance(step, Pay):
            self.network.least = 2 if any(host._paid.any() for host in self.hosts) else 3  # type: ignore[attr-defined]

    return mutant


def by_presence(tell: Any) -> Any:
    """Scores that depend on how many records take part."""

    def mutant(self: Memory, step: Any) -> None:
        if isinstance(step, Advance) and self._paid is not None:
            step = Advance(step.values * self._paid.sum(), step.weight)
        tell(self, step)

    return mutant


@pytest.mark.parametrize(
    "patches", [{"refdp.data.shards:Shards.tell": telling_least}, {"refdp.data.memory:Memory.tell": by_presence}]
)
def test_accounts_that_travel_are_caught(patches: Any) -> None:
    try:
        with applied(patches):
            caught = accused()
    except InvalidRecords as told:
        caught = [Caught("error", str(told))]
    assert caught


def test_bad_parameters_are_refused() -> None:
    records = some_records(TARGETS[0])
    with pytest.raises(InvalidParameter, match="2 hosts for 3 participants"):
        Shards([Memory(part) for part in dealt(records, [30, 30])], Network(3))
    with pytest.raises(InvalidParameter, match="least = 4: 1 to 3"):
        Network(3, least=4)
    with pytest.raises(InvalidParameter, match="honest = 0: 1 to 3"):
        source_of(Network(3), 0, [1, 1, 1])
    with pytest.raises(InvalidParameter, match="3 generators and 2 sizes for 3 participants"):
        source_of(Network(3), 1, [1, 1])
    with pytest.raises(InvalidParameter, match="Laplace and Gaussian noise"):
        source_of(Network(3), 1, [1] * 3).release(request(Exponential(1.0), (2, 2)))
    with pytest.raises(InvalidParameter, match="too coarse"):
        source_of(Network(3), 1, [1] * 3).release(request(Gaussian((GRID / 4, 1.0)), (2, 2)))
