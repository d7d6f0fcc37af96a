"""Exact curves in single steps, trade-off curves from runs, and what an exhaustive search goes through."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import special

from refdp.accounting import gaussian
from refdp.accounting.pairs import DiscreteLaplacePair, GaussianPair, LaplacePair
from refdp.audit import exact_curve, exhaustive, onerun, onerun_tradeoff, page_exact, tradeoff
from refdp.audit.binomial import at_least, at_most
from refdp.audit.exact_curve import CELLS, Outcomes
from refdp.audit.replay import Change
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Relation, Sensitivity
from tests.audit.pinned import digest

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE

# --- Outcomes ---------------------------------------------------------------------------------------------------------


def test_few_outcomes_are_kept_as_they_are_and_many_are_joined_by_their_loss() -> None:
    few = Outcomes(np.full(CELLS, 1 / CELLS), np.full(CELLS, 1 / CELLS))
    assert few.merged() is few and CELLS == 2000
    generator = np.random.default_rng(0)
    first, second = generator.dirichlet(np.ones(5000), 2)
    first[7], second[9] = 0.0, 0.0
    found = Outcomes(first, second).merged()
    assert len(found.first) <= CELLS + 3 and found.first.sum() == pytest.approx(first.sum())
    assert found.second.sum() == pytest.approx(second.sum())
    assert (
        found.second[0] == second[7] and found.first[0] == 0 and found.first[-1] == first[9] and found.second[-1] == 0
    )
    loss, joined = np.log(found.first[1:-1]), np.log(found.second[1:-1])
    finite = (first > 0) & (second > 0)
    losses = np.log(first[finite]) - np.log(second[finite])
    width = np.ptp(losses) / CELLS
    cells = np.round((losses - losses.min()) / width).astype(int)
    assert len(found.first) == len(set(cells.tolist())) + 2 and (np.diff(loss - joined) > 0).all()
    assert found.first[1:-1] == pytest.approx(np.bincount(cells, first[finite])[np.unique(cells)])
    equal = Outcomes(np.full(3000, 1 / 3000), np.full(3000, 1 / 3000)).merged()
    assert equal.first.tolist() == pytest.approx([1.0]) and equal.second.tolist() == pytest.approx([1.0])
    apart = Outcomes(np.repeat([1 / 1500, 0.0], 1500), np.repeat([0.0, 1 / 1500], 1500)).merged()
    assert apart.first.tolist() == pytest.approx([0, 1]) and apart.second.tolist() == pytest.approx([1, 0])


def test_products_and_curves_of_outcomes() -> None:
    one, two = (
        Outcomes(np.array([0.75, 0.25]), np.array([0.5, 0.5])),
        Outcomes(np.array([0.5, 0.5]), np.array([0.25, 0.75])),
    )
    both = one.times(two)
    assert both.first.tolist() == [0.375, 0.375, 0.125, 0.125] and both.second.tolist() == [0.125, 0.375, 0.125, 0.375]
    alarms, misses = both.curve()
    assert alarms.tolist() == [0, 0.125, 0.5, 0.625, 1.0] and misses.tolist() == [1, 0.625, 0.25, 0.125, 0.0]


def test_cells_of_a_pair_hold_its_tails() -> None:
    for pair in (LaplacePair(1.5), GaussianPair(0.7)):
        found = exact_curve._cells(pair)
        low, high = pair.bounds
        cuts = np.unique(np.append(np.linspace(low, high, 1000), np.nextafter(high, low)))
        tails = pair.tails(cuts)
        assert np.cumsum(found.first)[:-1] == pytest.approx(tails.below) and len(found.first) == len(cuts) + 1
        assert np.cumsum(found.second)[:-1] == pytest.approx(tails.below_q)
        assert found.first.sum() == pytest.approx(1) == found.second.sum() and found.first.min() >= 0
    assert exact_curve._pair(Laplace(3.0), 0.25) == LaplacePair(0.25)
    assert exact_curve._pair(DiscreteLaplace(2.0, 0.5), 0.75) == DiscreteLaplacePair(0.25, 3)


def change(mechanism: Any, value: Any, other: Any, bound: float = 1.0, norm: Any = 1, name: str = "r") -> Change:
    declared = Sensitivity(bound, norm, "test", ADD)
    entry: Any = SimpleNamespace(request=SimpleNamespace(name=name), scopes=())
    return Change(entry, mechanism, declared, np.asarray(value, float), np.asarray(other, float), np.zeros(1))


def test_the_release_of_the_name_is_taken_or_that_of_the_greatest_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = [change(Laplace(1.0), [1.0], [0.0], name="a"), change(Exponential(1.0), [[0.0, 3.0]], [[0.0, 0.0]],
        name="b"),
               change(Laplace(1.0), [0.25], [0.0], name="a")]  # fmt: skip
    asked: list[bool] = []

    def worst(train: Any, pair: Any, *, reverse: bool) -> Any:
        asked.append(reverse)
        return []

    monkeypatch.setattr(exact_curve, "worst_transcript", worst)
    monkeypatch.setattr(exact_curve, "run", lambda *given: (given[1], ""))
    monkeypatch.setattr(
        exact_curve, "changes", lambda first, second: changed if (first, second) == ("one", "two") else []
    )
    pair: Any = SimpleNamespace(first=lambda: "one", second=lambda: "two", relation=ADD)
    assert exact_curve.exact_change(None, pair, "a") is changed[0] and asked == [False, True]  # type: ignore[arg-type]
    assert exact_curve.exact_change(None, pair, "c") is changed[1]  # type: ignore[arg-type]
    changed.clear()
    assert exact_curve.exact_change(None, pair, "a") is None  # type: ignore[arg-type]


def test_corners_of_curves_are_magnified_where_they_exceed() -> None:
    x = np.array([0.0, 0.05, 0.5, 0.9, 0.95, 1.0])
    for place, window in ((1, (0.0, 0.15)), (4, (0.85, 1.0)), (3, (0.7, 1.0)), (2, None), (0, None), (5, None)):
        excess = np.zeros(6)
        excess[place] = 2e-9
        found = page_exact.corner(x, excess)
        assert found == (None if window is None else pytest.approx(window))
        excess[place] = 1e-9
        assert page_exact.corner(x, excess) is None
    wide = np.array([0.0, 0.4 / 3 - 1e-9, 0.4 / 3 + 1e-9, 1.0])
    assert (
        page_exact.corner(wide, np.array([0, 1.0, 0, 0])) is not None
        and page_exact.corner(wide, np.array([0, 0, 1.0, 0])) is None
    )
    grid = np.linspace(0.01, 0.99, 9)
    assert page_exact.least(("mu", 0.5), grid) == pytest.approx(special.ndtr(special.ndtri(1 - grid) - 0.5))
    assert page_exact.least(("epsilon", 0.5), grid) == pytest.approx(tradeoff.allowed(grid, 0.5))
    assert page_exact.least(("epsilon", 1e9), grid) == pytest.approx(tradeoff.allowed(grid, 700.0))


# --- Curves from runs -------------------------------------------------------------------------------------------------


def test_allowed_misses_are_the_larger_of_three_lines() -> None:
    for epsilon, delta in ((0.5, 0.0), (1.0, 0.1)):
        for x in (0.0, 0.2, 0.5, 0.8, 0.95, 1.0):
            expected = max(0.0, 1 - delta - math.exp(epsilon) * x, math.exp(-epsilon) * (1 - delta - x))
            assert tradeoff.allowed(np.array([x]), epsilon, delta)[0] == pytest.approx(expected)
    assert tradeoff.allowed(np.array([0.5]), 0.0)[0] == 0.5


def test_a_curve_counts_errors_on_both_sides() -> None:
    first, second, cuts = np.array([3.0, 1.0, 2.0, 5.0]), np.array([0.0, 2.0, 1.0, 1.0]), np.array([1.0, 2.0, 4.0])
    found = tradeoff.curve_of(first, second, cuts, 0.88, "number")
    assert (found.statistic, found.confidence, found.tested) == ("number", 0.88, 4)
    assert found.scores[0] is first and found.scores[1] is second
    assert found.false_alarm.tolist() == [0, 0.25, 0.75] and found.missed.tolist() == [0.75, 0.25, 0.0]
    for share, low, high in (
        (found.false_alarm, found.lower_alarm, found.upper_alarm),
        (found.missed, found.lower_missed, found.upper_missed),
    ):
        assert low == pytest.approx(at_least(share * 4, 4, 0.01)) and high == pytest.approx(at_most(share * 4, 4, 0.01))


def test_the_statistic_of_a_curve_is_larger_on_the_first_side() -> None:
    """Whichever side is moved; thresholds are quantiles of the first half, errors are of the second half alone."""
    for moved in (1.5, -1.5):
        generator = np.random.default_rng(2)
        first, second = generator.normal(size=(2, 600, 1)) + np.array([[[moved]], [[0.0]]])
        found = tradeoff.curve_from(first, second, 0.9, low_bits=False)
        assert found.tested == 300 and len(found.false_alarm) <= 41 and found.scores[0].mean() > found.scores[1].mean()
        assert (np.diff(found.false_alarm) >= 0).all() and found.false_alarm.mean() + found.missed.mean() < 0.8
        assert digest([found.false_alarm, found.missed, found.statistic]) == RECORDED[moved]


RECORDED = {1.5: "a28ecc1a67c5", -1.5: "86277d80fb9d"}
"""No truth: what this search finds with these seeds."""


def test_a_gaussian_bound_is_the_best_of_all_thresholds() -> None:
    def mechanism(records: Any, seed: int) -> Any:
        return np.random.default_rng(seed).normal(records)

    found = tradeoff.gaussian_lower_bound(mechanism, (2.0, 0.0), 1e-5, confidence=0.9, samples=400, seed=3)
    curve = tradeoff.trade_off(mechanism, (2.0, 0.0), confidence=0.9, samples=400, seed=3, low_bits=False)
    mus = [-special.ndtri(a) - special.ndtri(b) for a, b in zip(curve.upper_alarm, curve.upper_missed, strict=True)]
    assert found.mu == pytest.approx(max(mus)) and 0.5 < found.mu <= 2
    assert found.epsilon == pytest.approx(gaussian.epsilon(found.mu, 1e-5)) and found.samples == 400
    assert found.to_dict()["assumption"] == tradeoff.GAUSSIAN and found.to_dict()["delta"] == 1e-5
    same = tradeoff.gaussian_lower_bound(mechanism, (0.0, 0.0), 0.5, samples=100)
    assert (same.mu, same.epsilon, same.confidence) == (0.0, 0.0, 0.99)
    for change in ({"samples": 99}, {"confidence": 1.0}, {"confidence": 0.0}):
        with pytest.raises(InvalidParameter, match=next(iter(change))):
            tradeoff.trade_off(mechanism, (2.0, 0.0), **change)  # type: ignore[arg-type]
    for delta in (0.0, 1.0):
        with pytest.raises(InvalidParameter, match="delta"):
            tradeoff.gaussian_lower_bound(mechanism, (2.0, 0.0), delta)


# --- One run ----------------------------------------------------------------------------------------------------------


def test_guesses_are_of_both_ends_and_ties_by_position() -> None:
    scores = [3.0, 1.0, 2.0, 1.0, 5.0, 4.0, 2.0]
    for share, each in ((1.0, 3), (0.6, 2), (0.57, 1), (0.2, 0)):
        found = onerun.guesses_of(scores, share)
        order = sorted(range(7), key=lambda place: (scores[place], place))
        assert [k for k in range(7) if found[k] == -1] == sorted(order[:each]) and found.dtype == np.int8
        assert [k for k in range(7) if found[k] == 1] == sorted(order[7 - each :])
    included = np.array([True, False, True, True, True, False, False])
    assert onerun.guessed(included, np.array(scores), 1.0) == (3, 6)  # out: 1, 3, 2; in: 0, 5, 4
    assert onerun.guessed(included, np.array(scores), 0.6) == (2, 4)


def tail(count: int, runs: int, chance: float) -> float:
    return sum(math.comb(runs, k) * chance**k * (1 - chance) ** (runs - k) for k in range(max(count, 0), runs + 1))


@pytest.mark.parametrize(("right", "guesses", "canaries"), [(9, 10, 12), (6, 10, 10), (3, 3, 7), (0, 5, 9)])
def test_the_p_value_of_guesses_is_the_theorems(right: int, guesses: int, canaries: int) -> None:
    for epsilon, delta in ((0.0, 0.0), (0.7, 0.0), (0.7, 0.001), (0.1, 0.05)):
        chance = math.exp(epsilon) / (1 + math.exp(epsilon))
        beta = tail(right, guesses, chance)
        alpha = max(2 / i * (tail(right - i, guesses, chance) - beta) for i in range(1, canaries + 1))
        found = onerun.p_value(right, guesses, canaries, epsilon, delta)
        assert found == pytest.approx(min(1.0, beta + alpha * canaries * delta))


def test_the_bound_is_where_the_p_value_is_the_error() -> None:
    for right, guesses, delta in ((19, 20, 0.0), (38, 40, 1e-4), (80, 80, 0.0)):
        found = onerun.bound(right, guesses, 100, delta, 0.9)
        assert onerun.p_value(right, guesses, 100, found.lower, delta) <= 0.1 + 1e-9
        assert onerun.p_value(right, guesses, 100, found.lower + 1e-6, delta) > 0.1
        assert (found.confidence, found.delta, found.canaries, found.guesses, found.right) == (
            0.9,
            delta,
            100,
            guesses,
            right,
        )
    assert (
        onerun.bound(10, 20, 20).lower == 0.0 == onerun.bound(0, 0, 5).lower
        and onerun.bound(3, 3, 3).confidence == 0.95
    )
    assert onerun.randomised_response_epsilon(0.8) == pytest.approx(math.log(4))
    for right, guesses, canaries in ((3, 2, 5), (1, 6, 5), (-1, 2, 5), (0, 0, 0)):
        with pytest.raises(InvalidParameter):
            onerun.check_counts(right, guesses, canaries)
    onerun.check_counts(5, 5, 5)
    onerun.check_counts(0, 0, 1)


def test_coins_and_training_have_seeds_of_their_own() -> None:
    seen: list[int] = []

    def train(records: Any, seed: int) -> Any:
        seen.append(seed)
        return records

    included, scores = onerun.coins_and_scores(train, lambda mask: mask, lambda model: model.astype(int) * 2, 200, 7)
    assert (
        scores.tolist() == [2.0 * one for one in included] and 70 < included.sum() < 130 and scores.dtype == np.float64
    )
    again = onerun.coins_and_scores(train, lambda mask: mask, lambda model: model, 200, 7)[0]
    assert (again == included).all() and seen[0] == seen[1]
    coins, training = np.random.SeedSequence(7).spawn(2)
    assert (included == (np.random.default_rng(coins).random(200) < 0.5)).all() and seen[0] == training.generate_state(
        1
    )[0]
    assert len(onerun.coins_and_scores(train, lambda mask: mask, lambda model: model, 2, 7)[0]) == 2
    for bad in ([1.0] * 199, ["a"] * 200, [math.nan] * 200, np.zeros((200, 1))):
        with pytest.raises(InvalidParameter, match="200 numbers are needed"):
            onerun.coins_and_scores(train, lambda mask: mask, lambda model, bad=bad: bad, 200, 7)  # type: ignore[misc]
    with pytest.raises(InvalidParameter, match="canaries"):
        onerun.coins_and_scores(train, lambda mask: mask, lambda model: model, 1, 7)


def test_bounds_of_canaries_apart() -> None:
    included = np.array([True, False] * 4)
    scores = np.where(included, 5.0, 0.0) + np.tile([0.1, 0.2, -0.1, -0.2], 2)
    found = onerun_tradeoff.isolated_bound(included, scores, 1e-3, 0.9)
    assert found.mu > 3 and found.epsilon == pytest.approx(gaussian.epsilon(found.mu, 1e-3)) and found.canaries == 8
    assert (found.guesses, found.right, found.assumption) == (0, 0, onerun_tradeoff.ISOLATED)
    assert (
        onerun_tradeoff.isolated_bound(included, -scores).mu
        == 0.0
        == onerun_tradeoff.isolated_bound(included, 1.0 * included).mu
    )
    for few in (np.array([True] + [False] * 7), np.array([False] + [True] * 7)):
        assert onerun_tradeoff.isolated_bound(few, scores).mu == 0.0
    two = np.array([True] * 2 + [False] * 2)
    assert onerun_tradeoff.isolated_bound(two, np.array([90.0, 91.0, 0.0, 1.0]), 1e-3, 0.6).mu > 0


# --- Everything -------------------------------------------------------------------------------------------------------


def test_neighbouring_multisets_are_each_pair_once() -> None:
    multisets = [data for size in (1, 2, 3) for data in itertools.combinations_with_replacement(range(3), size)]
    added = list(exhaustive._neighbours(multisets, ADD, 3, 3))
    expected = {(a, b) for a in multisets for b in multisets if len(b) == len(a) + 1
                and any(tuple(sorted((*a, kind))) == b for kind in range(3))}  # fmt: skip
    assert set(added) == expected and len(added) == len(expected)
    replaced = {frozenset(pair) for pair in exhaustive._neighbours(multisets, REPLACE, 3, 3)}
    close = {frozenset((a, b)) for a in multisets for b in multisets if len(a) == len(b) and a != b
             and any(tuple(sorted((*a[:k], *a[k + 1 :], kind))) == b for k in range(len(a))
                 for kind in range(3))}  # fmt: skip
    assert replaced == close


def test_the_worst_of_choices_and_noise_in_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.array([[0.0, 1.0]])
    choice = change(Exponential(1.0), table, table[:, ::-1])
    noise = change(Laplace(2.0), [1.0], [0.0])
    for chosen, forward in ((0, -1.0), (1, 1.0)):
        one = Change(choice.entry, choice.mechanism, choice.declared, choice.value, choice.other, np.array([chosen]))
        for listed, expected in (([one], 1.0), ([noise], 0.5), ([one, noise, noise], 2.0), ([], 0.0)):
            monkeypatch.setattr(exhaustive, "changes", lambda first, second, listed=listed: listed)
            assert exhaustive._loss(None, None) == pytest.approx(expected), forward  # type: ignore[arg-type]


def test_every_sequence_of_choices_is_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """A choice of two nodes among three, noise of two numbers, and a choice of one among two: 18 sequences."""
    asks = [SimpleNamespace(mechanism=Exponential(1.0), value=np.zeros((2, 3))),
        SimpleNamespace(mechanism=Gaussian(1.0), value=np.zeros(2)),
            SimpleNamespace(mechanism=Exponential(1.0), value=np.zeros((1, 2)))]  # fmt: skip
    monkeypatch.setattr(
        exhaustive,
        "next_request",
        lambda train, records, chosen, relation: asks[len(chosen)] if len(chosen) < 3 else None,
    )
    found = list(exhaustive.outputs(None, None, ADD))  # type: ignore[arg-type]
    shown = {tuple(tuple(one.tolist()) for one in sequence) for sequence in found}
    assert len(found) == 18 and shown == {((a, b), (0, 0), (c,)) for a in range(3) for b in range(3) for c in range(2)}
