"""Lower bounds of epsilon: coverage, stopping, pairs, outputs of all kinds, bad input."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from benchmarks.zoo import coverage
from refdp.audit import Vectorised, epsilon_lower_bound
from refdp.audit.binomial import Counts, clopper_pearson
from refdp.audit.blackbox import looks, too_few
from refdp.audit.events_choice import choose
from refdp.audit.events_statistics import LowestBit, learn
from refdp.audit.runs import InProcess, InputPair, seed_of
from refdp.audit.zoo import specimen
from refdp.errors import InvalidParameter

ONE = ((0.0,), (1.0,))


def laplace(records: Any, seed: int) -> float:
    """Laplace noise rounded to a grid."""
    return float(records[0] + np.rint(np.random.default_rng(seed).laplace() * 2**20) / 2**20)


def test_bounds_cover_the_truth() -> None:
    """60 audits at confidence .99: at most 8 wrong ones, but with chance 1e-7 (binomial tail)."""
    found = coverage(60, 0.99, 400, 10_000)
    assert found.above <= 8 and found.share > 0.2


@pytest.mark.statistics
def test_a_thousand_audits() -> None:
    """1000 audits at 1 - 1e-9 each: any false alarm has chance 1e-6. At .9: more than 155 wrong has chance < 1e-7."""
    assert coverage(1_000, 1 - 1e-9, 4_000, 20_000).above == 0
    assert coverage(1_000, 0.9, 2_000, 40_000).above <= 155


@pytest.mark.parametrize(("claimed", "delta"), [(0.0, 0.0), (1.0, 0.0), (3.0, 0.5), (6.0, 0.0), (1.0, 0.999)])
@pytest.mark.parametrize("pairs", [1, 3])
def test_how_many_runs_could_show_anything(claimed: float, delta: float, pairs: int) -> None:
    """As many as Clopper and Pearson's test at the last look needs of an event that tells all runs apart."""
    wanted = too_few(100, claimed, delta, 0.999, pairs)
    for samples in (100, 400, 1_999, 2_000, 5_000, int(wanted) - 2, int(wanted), 200_000):
        last = looks(max(samples, 100), 0.001 / 2 / pairs)[-1]
        tested = last.samples - last.chosen
        shown = clopper_pearson(Counts(tested, 0, tested), delta, last.error)
        told = too_few(max(samples, 100), claimed, delta, 0.999, pairs)
        assert (told == 0) is (shown > claimed) and told in (0, wanted)
    assert wanted == 0 or too_few(int(wanted), claimed, delta, 0.999, pairs) == 0


def test_claims_beyond_all_runs() -> None:
    """What has no exponential among floats is no mistake: no bet is allowed against it, and no run shows more."""
    exact = Vectorised(lambda records, count, generator: np.full((count, 1), records[0]))
    for claimed in (60.0, 705.0, 800.0):
        bound = epsilon_lower_bound(exact, ONE, claimed=claimed, samples=2_000)
        assert not bound.refuted and bound.lower > 3 and bound.needed > 1e12
    assert too_few(10**9, 800.0, 0.0, 0.999) == math.inf


@pytest.mark.parametrize("outputs", [30, 80])
def test_noise_alone_shows_nothing(outputs: int) -> None:
    """Equal sides, many outputs among which some event looks good: of 30 audits at confidence .9 at most 14 are wrong.

    More have chance below 1e-7 (binomial tail); an audit that tests where it chose is wrong nearly always.
    """
    noise = Vectorised(lambda r, n, g: np.rint(g.normal(size=(n, outputs)) * 2**20) / 2**20)
    bounds = [epsilon_lower_bound(noise, (0, 1), confidence=0.9, samples=400, seed=s) for s in range(30)]
    assert sum(bound.lower > 0 for bound in bounds) <= 14


def test_a_bound_without_a_test_would_not_cover() -> None:
    """The mutant that tests an event on the runs that chose it is wrong far more often than 1 in 100."""
    one, wrong = specimen("randomised response"), 0
    for seed in range(40):
        first, second = InProcess(one.mechanism, InputPair(*one.pair), seed).upto(200)
        choice, _ = choose(first, second, 200, 0.0, 0.01)
        a, b = (float(choice.event.happens(side).mean()) for side in (first, second))
        ratio = b / a if choice.swapped else a / b
        wrong += math.log(ratio) > one.epsilon
    assert wrong >= 10


def test_what_a_bound_says() -> None:
    bound = epsilon_lower_bound(laplace, ONE, confidence=0.999, samples=2_000, seed=4)
    assert 0.4 < bound.lower < 1.0
    assert bound.claimed is None and not bound.refuted
    assert bound.samples == 2_000 and bound.tested == 1_000
    assert bound.event.startswith("output 0")
    assert bound.counts[0] > bound.counts[1]
    assert bound.to_dict()["counts"] == list(bound.counts)
    assert "independent" in bound.assumption


def test_one_of_many_outputs_whose_digits_follow_the_records() -> None:
    def rounded(records: Any, count: int, generator: np.random.Generator) -> Any:
        bins = generator.normal(0, 10, (count, 200)).round(6)
        bins[:, 100] = bins[:, 100].round(3 + len(records))
        return bins

    bound = epsilon_lower_bound(Vectorised(rounded), ([0.0], []), claimed=1.0, samples=1_000)
    assert bound.refuted and bound.event == "decimals of output 100 >= 4" and bound.columns == 200


def test_low_order_bits_can_be_left_out() -> None:
    textbook = specimen("floating-point Laplace by inversion")
    assert epsilon_lower_bound(textbook.mechanism, ONE, samples=4_000).lower > 2.0
    assert epsilon_lower_bound(textbook.mechanism, ONE, samples=4_000, low_bits=False).lower < 1.0


def test_it_stops_as_soon_as_the_claim_is_refuted() -> None:
    seen: list[tuple[int, int, float]] = []
    exact = specimen("exact count")
    bound = epsilon_lower_bound(
        exact.mechanism, exact.pair, claimed=1.0, samples=64_000, progress=lambda *s: seen.append(s)
    )
    assert bound.refuted and bound.samples == 1_000
    assert seen == [(1_000, 64_000, bound.lower)]


def test_errors_of_all_looks_sum_to_the_error() -> None:
    for samples in (100, 1_999, 2_000, 30_000, 3_000_000):
        plan = looks(samples, 1e-6)
        assert sum(look.error for look in plan) == pytest.approx(1e-6)
        assert all(0 < look.chosen < look.samples for look in plan)
        assert all(a.samples == b.chosen for a, b in pairwise(plan))
        assert plan[-1].samples == samples


def test_the_worst_of_several_pairs_is_found() -> None:
    pairs = [((0.0,), (0.125,)), ((0.0,), (3.0,))]
    bound = epsilon_lower_bound(laplace, pairs, claimed=1.0, samples=2_000)
    assert bound.pair == 1 and bound.refuted


def test_delta_is_taken_off() -> None:
    """A mechanism that gives itself away with chance .1 is (0, .1) private, and not (0, .05) private."""
    noticed = Vectorised(lambda r, n, g: np.where(g.random((n, 1)) < 0.1, r[0], -1.0))
    assert epsilon_lower_bound(noticed, ONE, 0.1, samples=20_000).lower == 0.0
    assert epsilon_lower_bound(noticed, ONE, 0.05, samples=20_000).lower > 2.0


def test_outputs_of_different_lengths_and_not_a_number() -> None:
    def lengths(records: Any, seed: int) -> list[float]:
        return [0.5] * (1 + int(np.random.default_rng(seed).integers(0, 2) + records[0]))

    def missing(records: Any, seed: int) -> list[float]:
        return [float("nan") if np.random.default_rng(seed).random() < 0.2 + 0.6 * records[0] else 1.0]

    assert epsilon_lower_bound(lengths, ONE, samples=1_000).lower > 1.0
    assert epsilon_lower_bound(missing, ONE, samples=1_000).lower > 0.3


def test_lowest_bits() -> None:
    numbers = np.array([[1.0], [0.75], [-6.0], [2.0**-53], [0.0], [np.inf], [np.nan]])
    assert LowestBit(0)(numbers).tolist() == [0.0, -2.0, 1.0, -53.0, 2000.0, 2000.0, 2000.0]


def test_every_statistic_gives_one_number_a_row() -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(3_000, 40))
    rows[:, 3] = np.rint(rows[:, 3])
    statistics = learn(rows, rows + 0.3)
    assert len({type(statistic).__name__ for statistic in statistics}) >= 4
    for statistic in statistics:
        values = statistic(rows)
        assert values.shape == (3_000,) and not np.isnan(values).any() and statistic.words


def test_seeds_differ() -> None:
    assert len({seed_of(7, run) for run in range(20_000)}) == 20_000
    assert all(0 <= seed_of(7, run) < 2**32 for run in (0, 1, 2**32 - 1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 1.0}, "delta = 1.0"),
        ({"confidence": 1.0}, "confidence = 1.0"),
        ({"samples": 10}, "samples = 10"),
        ({"claimed": -1.0}, "claimed = -1.0"),
        ({"pair": []}, "at least one pair"),
        ({"pair": 3}, "two neighbouring data sets"),
        ({"mechanism": lambda records, seed: "text"}, "real numbers"),
    ],
)
def test_bad_input(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        epsilon_lower_bound(**({"mechanism": laplace, "pair": ONE, "samples": 100} | arguments))
