"""Distributed S-GBDT: the central model bit for bit, enough noise whoever drops out, accounts that stay at home."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.curator import Curator, Request
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.events import Relation, Sensitivity, expand
from refdp.federation import dealt
from refdp.kernels import GRID
from refdp.mechanisms import Exponential, Gaussian, Laplace
from refdp.papers import sgbdt, sgbdt_distributed
from refdp.papers.sgbdt_distributed import Network, Participants, Shares, share_deviation, train_distributed
from refdp.papers.sgbdt_holder import Holder
from refdp.records import Classes, Interval, Records
from refdp.sources import SampleSource, TapeSource
from refdp.trees import Ensemble, Model
from tests.mutants.harness import Caught, audit, mutated
from tests.sgbdt.test_training import small, some_records

DISTRIBUTED = "refdp.papers.sgbdt_distributed"
TARGETS = [Interval(-1.0, 1.0), Classes(("p", "q", "r"))]
PARTIES = (2, 10, 100)


def sizes(count: int, rows: int) -> list[int]:
    """Unequal parts, at least one record each."""
    weights = np.arange(1, count + 1)
    extra = (rows - count) * weights // weights.sum()
    return [int(1 + more) for more in extra[:-1]] + [int(rows - count + 1 - extra[:-1].sum())]


def ran(params: sgbdt.Params, records: Records, count: int, source: Any, **network: Any) -> Model:
    parts = dealt(records, sizes(count, records.size))
    return train_distributed(params, parts, Network(count, **network), Curator(source, params.relation))


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
    module = mutated(((DISTRIBUTED, "fixed_point(message) for", "fixed_point(message) // 4 * 4 for"),), DISTRIBUTED)
    parts = dealt(records, sizes(10, 150))
    model = module.train_distributed(
        params, parts, module.Network(10), Curator(TapeSource(source.tape), params.relation)
    )
    assert model.to_json() != central.to_json()


def source_of(network: Network, honest: int, rows: list[int], seed: int = 5) -> Shares:
    public, *own = np.random.default_rng(seed).spawn(network.participants + 1)
    return Shares(network, honest, public, own, rows)


def test_a_run_with_shares_records_the_plan() -> None:
    params, records = small(trees=3, extra_trees=2), some_records(TARGETS[1])
    network, parts = Network(10), dealt(records, sizes(10, records.size))
    curator = Curator(source_of(network, 7, sizes(10, records.size)), params.relation)
    train_distributed(params, parts, network, curator)
    assert curator.event() == expand(sgbdt.plan(params, records.schema).event)
    assert network.traffic.rounds == 3 * (1 + 5)  # for every class: the labels, then one round a tree
    assert network.traffic.sent == 3 * 8 * (2 + 5 * 2 * 4)


# --- Noise ------------------------------------------------------------------------------------------------------------


def enough(module: Any) -> bool:
    """Exactly: h shares of every deviation have no less variance than the central noise."""
    deviations = [1e-6, 0.3, 1.0, 17.3757, 139.099, 818.269, 1e6]
    return all(
        honest * Fraction(module.share_deviation(deviation, honest)) ** 2 >= Fraction(deviation) ** 2
        for deviation in deviations for honest in (1, 2, 3, 7, 10, 50, 100)
    )  # fmt: skip


def test_shares_add_up_to_no_less_than_the_central_noise() -> None:
    assert enough(sgbdt_distributed)
    assert share_deviation(139.099, 100) == pytest.approx(13.9099, rel=1e-12)


@pytest.mark.parametrize("change", ["deviation / honest", "deviation / math.sqrt(honest + 1)"])
def test_shares_that_are_too_small_are_rejected(change: str) -> None:
    old = "math.nextafter(deviation / math.sqrt(honest), math.inf)"
    assert not enough(mutated(((DISTRIBUTED, old, change),), DISTRIBUTED))


def request(mechanism: Any, shape: tuple[int, ...]) -> Request:
    declared = Sensitivity(1.0, 1, sgbdt.INITIAL, Relation.ADD_REMOVE)
    return Request("release", ("sums",), np.zeros(shape), mechanism, declared)


def variances(count: int, honest: int, absent: int, module: Any = sgbdt_distributed) -> tuple[float, float, float]:
    """Variance of released noise against the central one: both columns of the leaves, and the labels."""
    network = module.Network(count)
    network.present[:absent] = False
    source = module.Shares(network, honest, *_generators(count), [1] * count)
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
    ("old", "new"),
    [
        ("share_deviation(deviation, self.honest)", "share_deviation(deviation, 2 * self.honest)"),
        ("negative_binomial(1 / self.honest,", "negative_binomial(0.5 / self.honest,"),
    ],
)
def test_noise_that_is_half_missing_is_rejected(old: str, new: str) -> None:
    module = mutated(((DISTRIBUTED, old, new),), DISTRIBUTED)
    found = variances(2, 2, 0, module)
    assert any(value < 1 - spread for value, spread in zip(found, SPREAD, strict=True))


def test_drop_outs_leave_enough_noise_and_too_many_end_the_run() -> None:
    params, records = small(trees=4, extra_trees=0), some_records(TARGETS[0])
    rows = sizes(5, records.size)
    for missing, allowed in ((2, True), (3, False)):
        network = Network(5, attendance=lambda number, m=missing: np.arange(5) >= (m if number == 2 else 0))
        curator = Curator(source_of(network, 3, rows), params.relation)
        if allowed:
            train_distributed(params, dealt(records, rows), network, curator)
            continue
        with pytest.raises(InvalidRecords, match="2 of 5 participants answered, 3 are needed"):
            train_distributed(params, dealt(records, rows), network, curator)
        assert network.traffic.rounds == 2  # nothing of the third round was summed


# --- Accounts ---------------------------------------------------------------------------------------------------------


def accounts_after(count: int, attendance: Any = None) -> tuple[np.ndarray, Holder, Ensemble]:
    """Shares that the records have spent, in order, after a run; the first participant; what was released."""
    params, records = small(trees=4, extra_trees=8, subsample=0.4), some_records(TARGETS[0], 80)
    rows = sizes(count, records.size)
    holders = [Holder(sgbdt.rules_of(params, records.schema)) for _ in rows]
    for holder, part in zip(holders, dealt(records, rows), strict=True):
        holder.admit(part.x, records.schema.label(0, part.y), Ensemble(0.0, (), ()))
    held = Participants(Network(count, attendance), holders)
    training = sgbdt.Training(params, records.schema, held)
    curator = Curator(SampleSource(np.random.default_rng(3)), params.relation)
    training.start(curator)
    training.grow(12, curator)
    return np.concatenate([holder.accounts.shares() for holder in holders]), holders[0], training.ensemble()


def test_every_participant_keeps_the_accounts_that_the_centre_would_keep() -> None:
    central, *_ = accounts_after(1)
    for count in (2, 10):
        spent, *_ = accounts_after(count)
        assert np.array_equal(spent, central)
    assert central.min() < central.max() <= 1


def test_who_is_absent_pays_nothing_and_follows() -> None:
    spent, first, released = accounts_after(2, attendance=lambda number: np.array([number < 3, True]))
    everywhere, *_ = accounts_after(2)
    assert np.all(spent[: first.size] < everywhere[: first.size])
    assert np.allclose(first.score, released.score(first.x, first.rules.domain.categorical), atol=1e-12)


def test_only_sums_of_public_shapes_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every vector on the wire is one of label sums or leaf sums: whatever a record has spent, nothing more is sent."""
    wire: list[tuple[Any, ...]] = []
    original = sgbdt_distributed.secure_sum

    def tapped(vectors: Any) -> Any:
        wire.append(tuple((vector.shape, str(vector.dtype)) for vector in vectors))
        return original(vectors)

    monkeypatch.setattr(sgbdt_distributed, "secure_sum", tapped)
    accounts_after(10)
    assert wire == [(((2,), "int64"),) * 10] + [(((4, 2), "int64"),) * 10] * 12


def accused(module: Any) -> list[Caught]:
    """What the audit says of a distributed trainer, two participants with every other record each."""
    settings = {"delta": 1e-3, "trees": 5, "extra_trees": 8, "depth": 1, "subsample": 0.5, "regularisation": 1.0}
    params = sgbdt.Params(2.0, Relation.ADD_REMOVE, **settings)  # type: ignore[arg-type]
    schema = some_records(TARGETS[0]).schema

    def train(records: Records, door: Curator) -> Model:
        half = records.size // 2
        parts = [records.take(np.arange(half)), records.take(np.arange(half, records.size))]
        model: Model = module.train_distributed(params, parts, module.Network(2), door)
        return model

    return audit(train, sgbdt.plan(params, schema), schema, np.inf, count=12)


def test_the_audit_accepts_the_distributed_run() -> None:
    assert accused(sgbdt_distributed) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "            holder.charge()\n",
            "            holder.charge()\n            self.network.least = 2 if holder._active.any() else 3\n",
        ),
        (
            "            holder.advance(values)\n",
            "            holder.advance(values * (holder._active is None or holder._active.sum()))\n",
        ),
    ],
    ids=["a participant tells that its records are spent", "scores that depend on how many take part"],
)
def test_accounts_that_travel_are_caught(old: str, new: str) -> None:
    try:
        caught = accused(mutated(((DISTRIBUTED, old, new),), DISTRIBUTED))
    except InvalidRecords as told:
        caught = [Caught("error", str(told))]
    assert caught


def test_bad_parameters_are_refused() -> None:
    params, records = small(), some_records(TARGETS[0])
    with pytest.raises(InvalidRecords, match="2 parts for 3 participants"):
        train_distributed(
            params,
            dealt(records, [30, 30]),
            Network(3),
            Curator(SampleSource(np.random.default_rng(0)), params.relation),
        )
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
