"""One-run audits: the theorem against brute force, randomised response, and a trainer; mutants are refuted."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from refdp.audit.onerun import bound, guesses_of, one_run_lower_bound, p_value
from refdp.errors import InvalidParameter


def chance_of_right(keep: float, canaries: int, right: int, delta: float) -> float:
    """Brute force over all coins and outputs: randomised response, each bit given away with probability delta.

    A bit that is not given away is kept with probability `keep`; guessing the output (or the bit given away) is best.
    """
    total = 0.0
    for outcome in itertools.product((True, False), repeat=canaries):
        hit = delta + (1 - delta) * keep
        chance = math.prod(hit if good else 1 - hit for good in outcome)
        total += chance * (sum(outcome) >= right)
    return total


@pytest.mark.parametrize("canaries", [1, 4, 9])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_the_bound_is_attained_by_randomised_response(canaries: int, epsilon: float) -> None:
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    for right in range(canaries + 1):
        exact = chance_of_right(keep, canaries, right, 0.0)
        assert p_value(right, canaries, canaries, epsilon, 0.0) == pytest.approx(exact)


@pytest.mark.parametrize("delta", [1e-3, 0.01, 0.1])
def test_with_delta_the_bound_covers_bits_that_are_given_away(delta: float) -> None:
    keep = math.e / (1 + math.e)
    for canaries in (1, 3, 8):
        for right in range(canaries + 1):
            exact = chance_of_right(keep, canaries, right, delta)
            assert exact <= p_value(right, canaries, canaries, 1.0, delta) + 1e-12
    without = p_value(8, 8, 8, 1.0, 0.0)  # the mutant that forgets delta does not cover
    assert chance_of_right(keep, 8, 8, delta) > without


def test_lower_bounds_have_the_stated_error_exactly() -> None:
    """Over all counts of randomised response: bounds above its epsilon have chance at most 5 %, and nearly that."""
    canaries, keep = 200, math.e / (1 + math.e)
    counts = np.arange(canaries + 1)
    above = [bound(int(right), canaries, canaries, confidence=0.95).lower > 1.0 for right in counts]
    chance = float(stats.binom.pmf(counts, canaries, keep)[above].sum())
    assert 0.02 < chance <= 0.05


def test_without_delta_it_is_clopper_and_pearson() -> None:
    p = float(stats.beta.ppf(0.05, 80, 21))
    assert bound(80, 100, 300).lower == pytest.approx(math.log(p / (1 - p)), abs=1e-9)
    assert bound(50, 100, 100).lower == bound(0, 0, 10).lower == 0.0
    assert bound(80, 100, 300, delta=1e-3).lower < bound(80, 100, 300).lower


def noisy_bits(scale: float) -> Any:
    """A trainer that adds Laplace noise to every canary's indicator: 1/scale private for one canary."""
    return lambda bits, seed: bits + np.random.default_rng(seed).laplace(scale=scale, size=len(bits))


def as_numbers(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    return mask.astype(np.float64)


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_a_private_trainer_is_not_refuted_and_a_bad_one_is(share: float) -> None:
    """At confidence 1 - 1e-7: the false alarm rate of this test is at most 1e-7 for each share."""
    options: dict[str, Any] = {"confidence": 1 - 1e-7, "share": share, "seed": 5}
    fine = one_run_lower_bound(noisy_bits(1.0), as_numbers, lambda model: model, 2_000, **options)
    bad = one_run_lower_bound(noisy_bits(0.25), as_numbers, lambda model: model, 2_000, **options)
    assert fine.lower <= 1.0 < bad.lower <= 4.0
    assert "add" in fine.assumption and fine.guesses == 2 * int(2_000 * share / 2)


def test_guesses() -> None:
    assert guesses_of([0.0, 5.0, 1.0, 2.0], 0.5).tolist() == [-1, 1, 0, 0]
    assert guesses_of([0.0, 5.0, 1.0, 2.0], 1.0).tolist() == [-1, 1, -1, 1]


def test_bad_input() -> None:
    with pytest.raises(InvalidParameter, match="right = 5"):
        bound(5, 4, 10)
    with pytest.raises(InvalidParameter, match="one a canary"):
        one_run_lower_bound(noisy_bits(1.0), as_numbers, lambda model: model[:3], 10)


def trained_with_canaries(epsilon: float) -> float:
    """The bound from one DPBoost run: canaries stand beside known records of the opposite label."""
    from refdp.faces.estimators import DPBoostRegressor
    from refdp.faces.seeds import ReproducibleSeed

    count = 100
    places = (np.arange(count)[:, None] + 0.5) / count
    labels = np.ones(count)

    def records(included: NDArray[np.bool_]) -> Any:
        return np.concatenate([places, places[included]]), np.concatenate([-labels, labels[included]])

    def train(data: Any, seed: int) -> Any:
        settings: dict[str, Any] = {
            "settings": "paper",
            "trees": 10,
            "trees_per_ensemble": 1,
            "depth": 8,
            "bins": count,
        }
        settings |= {"regularisation": 0.1, "relation": "add-remove", "insecure_seed": ReproducibleSeed(seed)}
        model = DPBoostRegressor(epsilon=epsilon, bounds={0: (0.0, 1.0)}, label_bounds=(-1.0, 1.0), **settings)
        return model.fit(*data)

    def score(model: Any) -> NDArray[np.float64]:
        return np.asarray(-((model.predict(places) - labels) ** 2))

    return one_run_lower_bound(train, records, score, count, confidence=1 - 1e-6, share=0.5).lower


@pytest.mark.filterwarnings("ignore:insecure_seed:refdp.errors.PrivacyWarning")
def test_canaries_in_a_real_trainer() -> None:
    """False alarms: 1e-6. The mutant adds next to no noise and is refuted at the same claim."""
    assert trained_with_canaries(1.0) <= 1.0 < trained_with_canaries(1e6)
