"""Poisson samples under replace-one and samples of a fixed size under add-remove, against enumerated truths."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from account_plans import ADD_REMOVE, REPLACE_ONE, release

from refdp.accounting import account, pure_epsilon, renyi
from refdp.accounting.arrays import Array
from refdp.accounting.dp_events import to_dp_event
from refdp.errors import InvalidParameter, RelationMismatch
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import Curator
from refdp.privacy.events import (
    Parallel,
    Partition,
    Plan,
    Relation,
    Release,
    Repeat,
    Sensitivity,
    Sequential,
    Subsample,
)
from refdp.privacy.sources import SampleSource

DECAY = 0.7  # of discrete Laplace noise, an integer
Z = np.arange(-40, 91)
NOISE = DiscreteLaplace(1 / DECAY, 1.0)
EPSILONS = (0.0, 0.05, 0.2, 0.5, 1.0, 1.3)


def law(value: int) -> np.ndarray:
    """Discrete Laplace noise around an integer, on Z."""
    return np.exp(-DECAY * np.abs(Z - value)) * math.tanh(DECAY / 2)


def composed(mass: np.ndarray, other: np.ndarray, count: int, epsilon: float) -> float:
    """sum (p - e^ε q)_+ over `count` independent outcomes, exact up to the truncation of Z: merged by ratio."""
    ratio = np.log(mass) - np.log(other)
    keys, index = np.unique(np.round(ratio, 9), return_inverse=True)
    each = np.bincount(index, weights=mass)
    total: dict[float, float] = {0.0: 1.0}
    for _ in range(count):
        longer: dict[float, float] = {}
        for (loss, m), (one, p) in itertools.product(total.items(), zip(keys, each, strict=True)):
            at = round(loss + one, 8)
            longer[at] = longer.get(at, 0.0) + m * p
        total = longer
    return sum(m * -math.expm1(epsilon - loss) for loss, m in total.items() if loss > epsilon)


def sampled(rate: float, outside: int, inside: int) -> np.ndarray:
    """The law of a release on a Poisson sample: of one value without the record, of another with it."""
    return (1 - rate) * law(outside) + rate * law(inside)


def plan(rate: float, count: int, relation: Relation, declared: Relation, method: str = "poisson") -> Plan:
    one = release(NOISE, relation=declared)
    return Plan(relation, Repeat(Subsample(rate, one, method), count))  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "rate"), [(1, 0.1), (1, 0.6), (2, 0.1), (3, 0.6)])
def test_poisson_where_only_replacing_is_bounded(rate: float, count: int) -> None:
    """Whatever the sample without either record is: next to the two, or so far away that it can be told apart."""
    whole = plan(rate, count, REPLACE_ONE, REPLACE_ONE)
    for epsilon in EPSILONS:
        truths = [
            composed(sampled(rate, r, 1), sampled(rate, r, 0), count, epsilon)
            for r in ((-1, 0, 1, 2, 10, 50) if count == 1 else (0, 50))
        ]
        bound = account(whole, epsilon=epsilon)
        assert bound.upper >= max(truths) * (1 - 1e-7) - 1e-9
        assert bound.upper <= max(truths) * (1 + 1e-4) + 1e-7  # attained in the limit
        assert bound.lower <= max(truths) * (1 + 1e-4) + 1e-7
        assert bound.lower >= max(truths) * (1 - 1e-3) - 1e-7
    assert pure_epsilon(whole) == pytest.approx(count * DECAY)
    poisson = account(plan(rate, count, ADD_REMOVE, ADD_REMOVE), epsilon=0.3)
    assert account(whole, epsilon=0.3).lower > poisson.upper  # the mutant that amplifies ε all the same


@pytest.mark.parametrize(("count", "rate"), [(1, 0.1), (1, 0.6), (2, 0.1), (4, 0.6)])
def test_poisson_where_presence_is_bounded(rate: float, count: int) -> None:
    """Every pair of records that change the value by at most 1 each: the two that pull apart attain it."""
    whole = plan(rate, count, REPLACE_ONE, ADD_REMOVE)
    for epsilon in EPSILONS:
        truth = max(
            composed(sampled(rate, 0, p), sampled(rate, 0, q), count, epsilon)
            for p, q in itertools.permutations((-1, 0, 1), 2)
        )
        bound = account(whole, epsilon=epsilon)
        assert bound.lower <= truth * (1 + 1e-7) + 1e-9
        assert truth * (1 - 1e-7) - 1e-9 <= bound.upper <= truth * (1 + 1e-3) + 1e-7
    worst = math.log((1 - rate + rate * math.exp(DECAY)) / (1 - rate + rate * math.exp(-DECAY)))
    assert pure_epsilon(whole) == pytest.approx(count * worst, rel=1e-9)


@pytest.mark.parametrize(("sd", "rate", "count"), [(1.0, 0.1, 1), (2.0, 0.05, 8), (0.7, 0.3, 3)])
def test_gaussian_records_that_pull_apart(sd: float, rate: float, count: int) -> None:
    """Two opposed records: the lower end is their δ, and so is the upper one."""
    whole = Plan(REPLACE_ONE, Repeat(Subsample(rate, release(Gaussian(sd))), count))
    x = np.linspace(-12, 12, 20_001) * sd
    p, q = (
        ((1 - rate) * np.exp(-x * x / 2 / sd**2) + rate * np.exp(-((x - c) ** 2) / 2 / sd**2))
        / math.sqrt(2 * math.pi)
        / sd
        * (x[1] - x[0])
        for c in (1, -1)
    )
    step = 2e-4
    loss = np.round((np.log(p) - np.log(q)) / step).astype(int)
    table = np.bincount(loss - loss.min(), weights=p)
    total, start = np.ones(1), 0
    for _ in range(count):
        size = len(total) + len(table) - 1
        total = np.fft.irfft(np.fft.rfft(total, size) * np.fft.rfft(table, size), size)
        start += int(loss.min())
    for epsilon in (0.1, 0.5):
        losses = (start + np.arange(len(total))) * step
        truth = float(np.sum(np.maximum(total, 0) * np.maximum(-np.expm1(np.minimum(epsilon - losses, 0)), 0)))
        bound = account(whole, epsilon=epsilon)
        assert bound.lower == pytest.approx(truth, rel=2e-3, abs=1e-9)
        assert truth * (1 - 2e-3) <= bound.upper <= truth * (1 + 2e-3) + 1e-9


def subsets(records: tuple[int, ...], size: int) -> np.ndarray:
    """The law of the noised sum of a uniformly random subset."""
    chosen = list(itertools.combinations(records, size))
    return np.mean([law(sum(one)) for one in chosen], axis=0)


@pytest.mark.parametrize(
    ("values", "declared"), [((0, 1), REPLACE_ONE), ((-1, 0, 1), ADD_REMOVE)], ids=["replaced", "doubled"]
)
@pytest.mark.parametrize(("records", "size"), [(4, 1), (4, 2), (3, 3)])
def test_fixed_size_under_add_remove(values: tuple[int, ...], declared: Relation, records: int, size: int) -> None:
    """All data sets of so many records and one more, all subsets of the fixed size, both directions."""
    whole = plan(size / (records + 1), 1, ADD_REMOVE, declared, "without-replacement")
    twice = plan(size / (records + 1), 2, ADD_REMOVE, declared, "without-replacement")
    truths = np.zeros((2, len(EPSILONS)))
    for small in itertools.combinations_with_replacement(values, records):
        without = subsets(small, size)
        for record in values:
            with_it = subsets((*small, record), size)
            for k, epsilon in enumerate(EPSILONS):
                for p, q in ((with_it, without), (without, with_it)):
                    truths[0, k] = max(truths[0, k], float(np.maximum(p - math.exp(epsilon) * q, 0).sum()))
            if len(set(small)) == 1:  # the worst of them, twice
                for k, epsilon in enumerate(EPSILONS):
                    for p, q in ((with_it, without), (without, with_it)):
                        truths[1, k] = max(truths[1, k], composed(p, q, 2, epsilon))
    for k, epsilon in enumerate(EPSILONS):
        for row, question in ((0, whole), (1, twice)):
            bound = account(question, epsilon=epsilon)
            assert bound.upper >= truths[row, k] * (1 - 1e-7) - 1e-9
            assert bound.lower <= truths[row, k] * (1 + 1e-6) + 1e-9
    assert account(whole, epsilon=0.2).upper == pytest.approx(truths[0, 2], rel=1e-6)  # attained
    if declared is ADD_REMOVE:  # the mutant: what one record adds instead of what one replaces
        mutant = plan(size / (records + 1), 1, ADD_REMOVE, ADD_REMOVE)
        assert account(mutant, epsilon=0.2).upper < truths[0, 2]


@pytest.mark.parametrize("rate", [0.25, 0.5, 0.75, 1.0])
def test_a_size_that_follows_from_the_number_of_records(rate: float) -> None:
    """floor(rate n) of n records and of one more: the size grows or stays."""
    event = Subsample(rate, release(NOISE), "without-replacement", independent=False)
    question, truths = Plan(ADD_REMOVE, event), np.zeros(len(EPSILONS))
    for records in range(6):
        sizes = math.floor(rate * records), math.floor(rate * (records + 1))
        for small in itertools.combinations_with_replacement((-1, 0, 1), records):
            without = subsets(small, sizes[0])
            for record in (-1, 1):
                with_it = subsets((*small, record), sizes[1])
                for p, q in ((with_it, without), (without, with_it)):
                    for k, epsilon in enumerate(EPSILONS):
                        truths[k] = max(truths[k], float(np.maximum(p - math.exp(epsilon) * q, 0).sum()))
    for epsilon, truth in zip(EPSILONS, truths, strict=True):
        bound = account(question, epsilon=epsilon)
        assert bound.upper >= truth * (1 - 1e-7) - 1e-9 and bound.lower <= truth * (1 + 1e-6) + 1e-9
    more = 0.0 if rate == 1 else math.log1p(rate * math.expm1(2 * DECAY))
    assert pure_epsilon(question) == pytest.approx(DECAY + more, rel=1e-9)
    fixed = Plan(ADD_REMOVE, Subsample(rate, event.event, "without-replacement"))
    assert rate > 0.25 or account(fixed, epsilon=0.5).upper < truths[3]  # the mutant: a fixed size
    with pytest.raises(RelationMismatch):
        Plan(ADD_REMOVE, Subsample(rate, release(NOISE, relation=REPLACE_ONE), "without-replacement", False))


def dealt(records: tuple[int, ...], sizes: tuple[int, int]) -> np.ndarray:
    """The law of the noised sums of two blocks of these sizes, over all ways to deal the records."""
    found, many = np.zeros((len(Z), len(Z))), 0
    for first in itertools.combinations(range(len(records)), sizes[0]):
        left = [place for place in range(len(records)) if place not in first]
        for second in itertools.combinations(left, sizes[1]):
            sums = (sum(records[place] for place in block) for block in (first, second))
            found += np.outer(*(law(one) for one in sums))
            many += 1
    return found / many


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.25, 0.75), (0.5, 0.25)])
def test_blocks_of_fixed_shares_of_the_records(shares: tuple[float, float]) -> None:
    """One record more may make each block larger, or be in the place of another in one that stays as large."""
    blocks = Partition(shares, (release(NOISE),) * 2, independent=False)
    question, truths = Plan(ADD_REMOVE, blocks), np.zeros(len(EPSILONS))
    for records in range(5):
        few, many = (tuple(math.floor(share * count) for share in shares) for count in (records, records + 1))
        for small in itertools.combinations_with_replacement((-1, 1), records):
            without, with_it = dealt(small, few), dealt((*small, 1), many)
            for p, q in ((with_it, without), (without, with_it)):
                for k, epsilon in enumerate(EPSILONS):
                    truths[k] = max(truths[k], float(np.maximum(p - math.exp(epsilon) * q, 0).sum()))
    for epsilon, truth in zip(EPSILONS, truths, strict=True):
        bound = account(question, epsilon=epsilon)
        assert bound.upper >= truth * (1 - 1e-7) - 1e-9
    assert pure_epsilon(question) == pytest.approx(
        2 * DECAY + math.log1p(sum(shares) * math.expm1(2 * DECAY)), rel=1e-9
    )


@pytest.mark.parametrize("share", [0.5, 0.75])
def test_a_block_that_stays_as_large_has_another_record(share: float) -> None:
    """The mutant: one record more in each block, which is all that it cost."""
    records, epsilon = 4, 0.72
    size = math.floor(share * records)
    assert size == math.floor(share * (records + 1))
    truth = float(
        np.maximum(subsets((*(-1,) * records, 1), size) - math.exp(epsilon) * subsets((-1,) * records, size), 0).sum()
    )
    question = Plan(ADD_REMOVE, Partition((share,), (release(NOISE),), independent=False))
    assert account(question, epsilon=epsilon).upper >= truth > 1e-3
    assert account(Plan(ADD_REMOVE, release(NOISE)), epsilon=epsilon).upper < truth


def in_a_sample(of_so_many: bool) -> Plan:
    """The size of the inner sample follows from that of the Poisson sample, which is released at no cost."""
    sizes = release(Laplace(1e-9), 0.0, REPLACE_ONE)
    both = Sequential((sizes, release(Laplace(1.0), 2.0, REPLACE_ONE)))
    return Plan(REPLACE_ONE, Subsample(0.1, Subsample(0.5, both, "without-replacement", not of_so_many), "poisson"))


def test_a_size_that_follows_from_a_poisson_sample() -> None:
    """Of two records 1 and -1, the first replaced by -1, one is in the inner sample if both are in the outer one."""
    grid = np.linspace(-40, 40, 400_001)
    density = {at: np.exp(-np.abs(grid - at)) / 2 for at in (-1, 1)}
    with_it, without = 0.5 * density[1] + 0.5 * density[-1], density[-1]
    for epsilon in (0.3, 0.8):
        worse = np.maximum(with_it - math.exp(epsilon) * without, 0)
        truth = 0.01 * float(worse.sum() * (grid[1] - grid[0]))
        assert (
            account(in_a_sample(True), epsilon=epsilon).upper
            >= truth
            > account(in_a_sample(False), epsilon=epsilon).upper
        )
    assert pure_epsilon(in_a_sample(True)) == pytest.approx(math.log1p(0.5 * math.expm1(2.0)), rel=1e-9)


@pytest.mark.parametrize("relation", Relation)
def test_a_curator_files_what_it_draws(relation: Relation) -> None:
    curator = Curator(SampleSource(np.random.default_rng(1)), relation)
    for method in ("poisson", "without-replacement"):
        with curator.subsample(method, 0.1, 10, method) as mask:
            assert method == "poisson" or mask.sum() == 1
            curator.release("sum", Laplace(1.0), np.array([1.0]), sensitivity=Sensitivity(1.0, 1, "a record", relation))
    assert [one.independent for one in curator.event().events] == [True, False]  # type: ignore[union-attr]
    found = pure_epsilon(Plan(relation, curator.event().events[1]))  # type: ignore[union-attr]
    alone = math.log1p(0.1 * math.expm1(2.0 if relation is ADD_REMOVE else 1.0))
    assert found == pytest.approx(alone + (relation is ADD_REMOVE), rel=1e-9)


@pytest.mark.parametrize("method", ["poisson", "without-replacement"])
@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE_ONE])
def test_every_method_orders_its_ends_under_every_relation(relation: Relation, method: str) -> None:
    one, two, three = (release(mechanism) for mechanism in (Gaussian(2.0), Laplace(1.5), Exponential(0.4)))
    for event in (one, two, three, Sequential((two, Parallel((one, two)), Partition((0.5, 0.2), (one, two))))):
        whole = Plan(relation, Repeat(Subsample(0.2, event, method), 3))  # type: ignore[arg-type]
        bound = account(whole, delta=1e-6)
        assert 0 <= bound.lower <= bound.upper < math.inf
        assert np.all(renyi(whole, np.array([2.0, 8.0])) >= 0)
        assert account(whole, epsilon=bound.upper * (1 + 1e-9)).lower <= 1e-6


@pytest.mark.parametrize("rate", [0.0, 1e-9, 1 - 1e-12, 1.0])
def test_rates_at_their_ends(rate: float) -> None:
    certain = account(Plan(REPLACE_ONE, release(Laplace(2.0), 2.0, REPLACE_ONE)), delta=1e-6)
    whole = account(Plan(REPLACE_ONE, Subsample(rate, release(Laplace(2.0)))), delta=1e-6)
    assert whole.upper <= certain.upper * (1 + 1e-9)
    assert whole.lower <= whole.upper
    assert whole.upper == 0 or rate > 0


def test_a_replaced_record_says_nothing_of_one_that_is_there_or_not() -> None:
    with pytest.raises(RelationMismatch):
        Plan(ADD_REMOVE, Subsample(0.1, release(Laplace(1.0), relation=REPLACE_ONE)))
    with pytest.raises(RelationMismatch):
        Plan(ADD_REMOVE, release(Laplace(1.0), relation=REPLACE_ONE))
    with pytest.raises(InvalidParameter, match="relation"):
        to_dp_event(plan(0.1, 1, REPLACE_ONE, REPLACE_ONE))
    with pytest.raises(InvalidParameter, match="relation"):
        to_dp_event(plan(0.125, 1, ADD_REMOVE, ADD_REMOVE, "without-replacement"))


@pytest.mark.parametrize("noise", [Gaussian(1.0), Laplace(1.0), NOISE], ids=lambda noise: type(noise).__name__)
def test_opposed_records_attain_the_upper_end(noise: Gaussian | Laplace | DiscreteLaplace) -> None:
    for rate, count, delta in ((0.1, 1, 1e-5), (0.3, 3, 1e-3), (0.02, 100, 1e-8)):
        bound = account(Plan(REPLACE_ONE, Repeat(Subsample(rate, release(noise)), count)), delta=delta)
        assert 0 < bound.lower <= bound.upper <= bound.lower * (1 + 4e-5)


@pytest.mark.parametrize("epsilon", [0.1, 0.4, 1.0])
@pytest.mark.parametrize("rates", [(0.3, 0.6), (0.9, 0.05), (0.3, 0.3)])
def test_a_record_that_moves_between_samples_is_exchanged_in_neither(
    rates: tuple[float, float], epsilon: float
) -> None:
    """Every move enumerated. Composed as if it were exchanged in both, the lower end was above the truth (.41, .36)."""
    values, scales = np.arange(-40, 41), (1.0, 0.7)

    def law(block: int, shift: int | None) -> Array:
        inner = [
            np.exp(-abs(values - at) / scales[block]) * math.tanh(1 / (2 * scales[block])) for at in (0, shift or 0)
        ]
        return np.asarray((1 - rates[block]) * inner[0] + rates[block] * inner[1])

    events = [
        Subsample(rate, Release("r", DiscreteLaplace(scale, 1.0), Sensitivity(1.0, 1, "t", Relation.ADD_REMOVE)))
        for rate, scale in zip(rates, scales, strict=True)
    ]
    bound = account(Plan(Relation.REPLACE_ONE, Parallel(tuple(events))), epsilon=epsilon)
    pairs = [
        (np.multiply.outer(law(a, u), law(b, None)), np.multiply.outer(law(a, None), law(b, v)))
        for a, b in ((0, 1), (1, 0))
        for u, v in itertools.product((-1, 1), repeat=2)
    ]
    pairs += [(law(block, u), law(block, -u)) for block in (0, 1) for u in (-1, 1)]
    truth = max(float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) for p, q in pairs)
    assert bound.lower <= truth * (1 + 1e-9) + 1e-15
    assert truth <= bound.upper
