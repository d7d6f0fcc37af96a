"""Bets, by exact enumeration of all tables of a few pairs of runs; mutants whose bounds are wrong too often."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from refdp.audit import betting
from refdp.audit.betting import Block, Chances, expected, tally, wealth

EPSILON = 1.0


def edge(p: float, delta: float, ways: int) -> tuple[Chances, Chances]:
    """Chances at which the claim just holds: one event at its limit, or two that exclude each other."""
    q = (p - delta) / math.exp(EPSILON)
    return (Chances(p, 0.0), Chances(0.0, q)) if ways == 1 else (Chances(p, q), Chances(p, q))


def tables(pairs: int, cells: int) -> list[tuple[int, ...]]:
    """All ways to spread so many pairs over so many cells."""
    return [
        tuple(b - a - 1 for a, b in itertools.pairwise((-1, *bars, pairs + cells - 1)))
        for bars in itertools.combinations(range(pairs + cells - 1), cells - 1)
    ]


def wrong(pairs: int, p: float, delta: float, ways: int, bet: float, error: float) -> float:
    """Exact chance that the bound exceeds the true epsilon."""
    chances = expected(*edge(p, delta, ways), 1)
    at = np.nonzero(chances)
    total = 0.0
    for numbers in tables(pairs, len(at[0])):
        table = np.zeros(chances.shape)
        table[at] = numbers
        log_chance = special.gammaln(pairs + 1) - special.gammaln(table + 1).sum() + special.xlogy(table, chances).sum()
        total += math.exp(log_chance) * (betting.bound([Block(table, bet, ways)], delta, error) > EPSILON)
    return total


@pytest.mark.parametrize(("p", "delta"), [(0.5, 0.0), (0.6, 0.0), (0.3, 0.1)])
@pytest.mark.parametrize(("ways", "pairs"), [(1, 12), (2, 7)])
def test_bounds_are_wrong_less_often_than_stated(p: float, delta: float, ways: int, pairs: int) -> None:
    for bet, error in itertools.product((0.05, 0.15, 0.3), (0.2, 0.5)):
        assert wrong(pairs, p, delta, ways, bet / ways, error) <= error
    assert wrong(pairs, p, delta, ways, 0.3 / ways, 0.5) > 0.01


Mutant = Callable[[Block], Block]
MUTANTS: dict[str, Mutant] = {
    "two events on the wrong sides are paid for as one": lambda block: replace(
        block, table=np.column_stack([block.table[:, 0], block.table[:, 1] + block.table[:, 2], np.zeros(3)])
    ),
    "pairs that pay more than they gain are left out": lambda block: replace(block, table=np.tril(block.table)),
    "delta of one event alone": lambda block: replace(block, ways=1),
}


def fortune(p: float, delta: float, ways: int, mutant: Mutant = lambda block: block) -> float:
    """Exact mean of the wealth after one pair of runs, at the limit of what the claim allows."""
    chances = expected(*edge(p, delta, ways), 1)
    assert chances.sum() == pytest.approx(1)
    mean = 0.0
    for cell in zip(*np.nonzero(chances), strict=True):
        pair = np.zeros(chances.shape)
        pair[cell] = 1
        mean += chances[cell] * math.exp(wealth([mutant(Block(pair, 0.2 / ways, ways))], EPSILON, delta))
    return mean


@pytest.mark.parametrize("ways", [1, 2])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_a_pair_is_a_fair_game_at_the_limit(ways: int, delta: float) -> None:
    for p in (0.1, 0.3, 0.6):
        assert fortune(p, delta, ways) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", MUTANTS)
def test_an_unfair_game_shows(name: str) -> None:
    assert fortune(0.6, 0.05, 2, MUTANTS[name]) > 1 + 1e-4


def test_wealth_falls_with_epsilon() -> None:
    blocks = [Block(90 * expected(*edge(0.6, 0.0, 2), 1), 0.1, 2), Block(np.diag([41.0, 9, 0]), 0.01)]
    values = [wealth(blocks, e, 0.05) for e in np.linspace(0, 3, 50)]
    assert values == sorted(values, reverse=True)
    assert values[-1] == -math.inf  # a pair could then cost more than there is


def test_a_bet_that_one_pair_could_lose_is_not_allowed() -> None:
    worst = np.zeros((3, 3))
    worst[0, 2] = 1.0
    for bet in (0.1, 0.18):
        assert wealth([Block(worst, bet, 2)], 1.0, 0.0) == pytest.approx(math.log(1 - 2 * bet * math.e))
    assert wealth([Block(worst, 0.2, 2)], 1.0, 0.0) == -math.inf


def test_bounds_grow_with_evidence_and_are_zero_without() -> None:
    none, some = np.array([[85.0, 5, 0], [5, 5, 0], [0, 0, 0]]), np.array([[9.0, 1, 0], [90, 0, 0], [0, 0, 0]])
    assert betting.bound([Block(none, 0.2)], 0.0, 1e-6) == 0.0
    assert 0 < betting.bound([Block(some, 0.2)], 0.0, 1e-6) < betting.bound([Block(9 * some, 0.2)], 0.0, 1e-6)
    assert betting.bound([], 0.0, 1e-6) == 0.0


def test_a_tally_counts_events_on_both_sides() -> None:
    generator = np.random.default_rng(0)
    masks = generator.random((4, 50)) < 0.4
    one, two = tally([masks[0]], [masks[1]]), tally(list(masks[:2]), list(masks[2:]))
    for pair in range(50):
        one[int(masks[0, pair]), int(masks[1, pair])] -= 1
        two[int(masks[0, pair]) + int(masks[1, pair]), int(masks[2, pair]) + int(masks[3, pair])] -= 1
    assert not one.any()
    assert not two.any()


def test_events_of_both_directions_tell_more_of_laplace_noise() -> None:
    """Scale .9 of 1/epsilon: an upper tail on one side, a lower tail on the other, each e^(1/.9) times rarer there."""
    rarer = 0.5 * math.exp(-1 / 0.9)
    alone = expected(Chances(0.5, 0.0), Chances(0.0, rarer), 10_000)
    together = expected(Chances(0.5, rarer), Chances(0.5, rarer), 10_000)
    gains = [
        betting.promise(betting.stake(table, ways, 0.0, 1e-6, 1.0), 0.0, 1e-6, 1.0)
        for table, ways in ((alone, 1), (together, 2))
    ]
    assert gains[1] > 1.4 * gains[0] > 0


def test_expected_tables_are_products_of_both_sides_chances() -> None:
    first, second = Chances(0.5, 0.25, 0.125), Chances(0.375, 0.5, 0.25)
    for one in (first, second):
        both = one.both
        assert one.joint.tolist() == [[1 - one.gain - one.pay + both, one.pay - both], [one.gain - both, both]]
    table = np.zeros((3, 3))
    for a, b, c, d in np.ndindex(2, 2, 2, 2):
        table[a + c, b + d] += first.joint[a, b] * second.joint[c, d]
    assert np.allclose(expected(first, second, 80), 80 * table)
    assert Chances(0.75, 0.5).joint.tolist() == [[0, 0.25], [0.5, 0.25]]  # not less than they must have
    assert Chances(0.5, 0.25, 0.75).joint.tolist() == [[0.5, 0], [0.25, 0.25]]  # nor more than either
    assert Chances(0.25, 0.5, 0.75).joint.tolist() == [[0.5, 0.25], [0, 0.25]]


def test_the_bet_that_promises_most_is_taken() -> None:
    both = expected(Chances(0.5, 0.125), Chances(0.125, 0.25), 400)
    alone = expected(Chances(0.5, 0.0), Chances(0.0, 0.25), 400)
    assert (len(betting.BETS), float(betting.BETS[0]), float(betting.BETS[-1])) == (140, pytest.approx(1e-6), 0.999)
    for ways, claimed, delta in ((1, None, 0.0), (2, 0.2, 0.01), (1, math.inf, 0.0), (2, None, 0.0)):
        table = both if ways == 2 else alone
        found = betting.stake(table, ways, delta, 0.01, claimed)
        assert found.ways == ways and found.bet * ways in betting.BETS
        blocks = [Block(table, float(bet) / ways, ways) for bet in betting.BETS]
        finite = claimed is not None and math.isfinite(claimed)
        promises = [wealth([b], claimed, delta) if finite else betting.bound([b], delta, 0.01)  # type: ignore[arg-type]
                    for b in blocks]  # fmt: skip
        assert betting.promise(found, delta, 0.01, claimed) == max(promises)
        assert 0 < promises.index(max(promises)) < 139


def test_wealth_is_the_product_over_pairs() -> None:
    table = np.array([[5.0, 2.0, 0.0], [3.0, 0.0, 1.0], [4.0, 0.0, 0.0]])
    for ways, epsilon, delta in ((1, 0.0, 0.0), (2, 0.3, 0.1), (2, 0.0, 0.05)):
        blocks = [Block(table, 0.2, ways), Block(2 * table, 0.1, ways)]
        product = 0.0
        for block in blocks:
            for (gained, paid), pairs in np.ndenumerate(block.table):
                each = 1 + block.bet * (gained - math.exp(epsilon) * paid - ways * delta)
                product += float(pairs) * math.log(each) if pairs else 0.0
        assert wealth(blocks, epsilon, delta) == pytest.approx(product)
    assert wealth([], 0.0, 0.0) == 0.0 and betting.bound([], 0.0, 0.1) == 0.0


def test_the_bound_is_where_the_wealth_is_what_the_error_needs() -> None:
    table = expected(Chances(0.5, 0.125), Chances(0.125, 0.25), 400)
    for bet, delta in ((0.2, 0.0), (0.1, 0.02)):
        block = Block(table, bet, 2)
        found = betting.bound([block], delta, 0.01)
        assert wealth([block], found, delta) >= -math.log(0.01) > wealth([block], found + 3e-8, delta)
        tight = math.exp(-wealth([block], 0.0, delta))
        assert (
            betting.bound([block], delta, tight * (1 - 1e-9)) == 0.0 and betting.bound([block], delta, tight * 1.01) > 0
        )
    alone = Block(np.array([[0.0, 0, 0], [90, 0, 0], [0, 0, 0]]), 0.25, 1)
    assert betting.bound([alone], 0.0, 0.01) == math.log(
        (1 - 1e-9) / 0.25
    )  # nothing speaks against: the highest allowed
    assert betting.bound([alone], 0.5, 0.01) == math.log((1 - 1e-9) / 0.25 - 0.5)
    assert betting.bound([Block(alone.table, 0.9, 1), alone], 0.2, 0.01) == 0.0  # no price above 1 is allowed
