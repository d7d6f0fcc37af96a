"""One run against a trade-off curve: the recursion against linear programs, brute force, and known mechanisms."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, special, stats

from refdp.accounting import gaussian
from refdp.audit import onerun
from refdp.audit.onerun_rows import blind_alone
from refdp.audit.onerun_tradeoff import (
    approximate_curve,
    gaussian_bound,
    gaussian_curve,
    isolated_bound,
    isolated_gaussian_lower_bound,
    one_run_gaussian_lower_bound,
    p_value,
)
from refdp.data.records import Classes, Numeric, Schema, make_records
from refdp.errors import InvalidParameter
from refdp.faces.cli import run
from refdp.papers import sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.replay import Recorder
from refdp.privacy.sources import SampleSource


def by_linear_program(right: int, guesses: int, canaries: int, tangents: list[tuple[float, float]]) -> float:
    """max P(N >= right) under (1), F being the least of the lines a + b x."""
    n = np.arange(guesses + 1)
    rows, limits = [], []
    for c in range(1, guesses + 1):
        more, less = np.where(n >= c, n, 0) / canaries, np.where(n >= c - 1, guesses - n, 0) / canaries
        for a, b in tangents:
            rows.append(more - b * less)
            limits.append(a)
    found = optimize.linprog(-(n >= right).astype(float), rows, limits, np.ones((1, guesses + 1)), [1.0])
    assert found.status == 0
    return float(-found.fun)


@pytest.mark.parametrize(("guesses", "canaries"), [(1, 1), (4, 4), (6, 9), (10, 40)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.7, 0.0), (1.0, 0.05), (2.0, 1e-3)])
def test_the_recursion_is_the_optimum(guesses: int, canaries: int, epsilon: float, delta: float) -> None:
    lines = [(delta, math.exp(epsilon)), (1 - math.exp(-epsilon) * (1 - delta), math.exp(-epsilon))]
    for right in range(1, guesses + 1):
        exact = by_linear_program(right, guesses, canaries, lines)
        assert p_value(right, guesses, canaries, approximate_curve(epsilon, delta)) == pytest.approx(exact, rel=1e-6)


def test_it_is_tight_for_randomised_response_of_one_canary() -> None:
    """One canary: the chance of a right guess under epsilon is at most e^epsilon / (1 + e^epsilon)."""
    for epsilon in (0.0, 0.5, 2.0):
        assert p_value(1, 1, 1, approximate_curve(epsilon, 0.0)) == pytest.approx(special.expit(epsilon))
    for mu in (0.5, 2.0):  # and under mu at most Phi(mu / 2)
        assert p_value(1, 1, 1, gaussian_curve(mu)) == pytest.approx(stats.norm.cdf(mu / 2))


@pytest.mark.parametrize("mu", [0.5, 1.5])
@pytest.mark.parametrize("canaries", [3, 12])
def test_no_gaussian_run_beats_it(mu: float, canaries: int) -> None:
    """All canaries guessed by the sign of their own noisy bit: N is binomial with Phi(mu / 2)."""
    for right in range(1, canaries + 1):
        exact = stats.binom.sf(right - 1, canaries, stats.norm.cdf(mu / 2))
        assert p_value(right, canaries, canaries, gaussian_curve(mu)) >= exact * (1 - 1e-8)


def noisy_bits(mu: float):  # type: ignore[no-untyped-def]
    return lambda bits, seed: bits + np.random.default_rng(seed).normal(0.0, 1.0, len(bits)) / mu


def as_numbers(included: NDArray[np.bool_]) -> NDArray[np.float64]:
    return included.astype(np.float64)


def test_the_bound_holds_and_is_near() -> None:
    """Confidence 1 - 1e-6 over 20 runs: never above mu = 2; a mutant that says 0.5, four times the noise, is seen."""
    bounds = [
        one_run_gaussian_lower_bound(
            noisy_bits(2.0), as_numbers, lambda model: model, 4_000, confidence=1 - 1e-6, share=0.2, seed=seed
        ).mu
        for seed in range(20)
    ]
    assert max(bounds) <= 2.0
    assert min(bounds) > 0.5  # what the mutant says of itself


def test_isolated_canaries_give_nearly_all_of_mu() -> None:
    """Confidence 1 - 1e-6 over 40 runs: never above the truth; above 90% of it with 4,000 canaries at 0.95."""
    options = {"confidence": 1 - 1e-6}
    for seed in range(40):
        found = isolated_gaussian_lower_bound(noisy_bits(2.0), as_numbers, lambda m: m, 500, seed=seed, **options)
        assert 0 < found.mu <= 2.0 and "no other canary reaches" in found.assumption
    near = isolated_gaussian_lower_bound(noisy_bits(2.0), as_numbers, lambda m: m, 4_000, confidence=0.95)
    assert 1.8 < near.mu < 2.0
    mutant = isolated_gaussian_lower_bound(noisy_bits(4.0), as_numbers, lambda m: m, 500, **options)
    assert mutant.mu > 2.0  # half of the noise
    flat = isolated_gaussian_lower_bound(lambda bits, seed: bits * 0.0, as_numbers, lambda m: m, 50)
    assert flat.mu == 0.0


WIDTH = 8
SCHEMA = Schema(tuple(Numeric(f"x{i}", 0.0, 1.0) for i in range(WIDTH)), Classes(("0", "1")))
PARAMS = sgbdt.Params(8.0, Relation.ADD_REMOVE, delta=1e-5, trees=1, depth=8, subsample=1.0, initial_share=0.0)


def test_leaves_of_one_tree_are_isolated_canaries() -> None:
    """One run of S-GBDT with a canary in every leaf of its random tree: above 85% of the true mu, at 0.95."""
    coins = 1_440_510_676
    model, _ = trained(PARAMS, np.full((1, WIDTH), 0.5), coins)
    at, places = inside_leaves(model.outputs[0].trees[0].splits)
    deviations = np.sqrt(PARAMS.variances(SCHEMA))
    own = np.array([0.5, 0.25]) / deviations  # gradient and Hessian of a record at score 0
    truth = float(np.hypot(*own))

    def bound(params: sgbdt.Params) -> float:
        def run(chosen: NDArray[np.bool_], seed: int) -> NDArray[np.float64]:
            return trained(params, places[chosen], coins)[1]

        def score(sums: NDArray[np.float64]) -> NDArray[np.float64]:
            return sums[at] @ (own * np.array([-1.0, 1.0]) / deviations)

        return isolated_gaussian_lower_bound(run, lambda c: c, score, len(at), confidence=0.95, seed=1).mu

    assert len(at) > 150
    assert 0.85 * truth < bound(PARAMS) <= truth


def trained(params: sgbdt.Params, x: NDArray[np.float64], coins: int) -> tuple[Any, NDArray[np.float64]]:
    """Model, and the noisy sums of the leaves of its only tree, shape (leaves, 2)."""
    recorder = Recorder(SampleSource(np.random.default_rng(coins)), params.relation)
    records = make_records(SCHEMA, x, np.ones(len(x)))
    model = sgbdt.train(params, records, Curator(recorder, params.relation))
    sums = next(one.output for one in recorder.transcript.entries if one.request.name.endswith("leaves"))
    return model, np.asarray(sums)


def inside_leaves(splits: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Leaves that records can reach, and a record in the middle of each. splits: (feature, threshold), level order."""
    boxes = [(0, np.zeros(WIDTH), np.ones(WIDTH))]
    for _ in range(int(np.log2(len(splits) + 1))):
        below = []
        for node, low, high in boxes:
            feature, threshold = int(splits[node, 0]), splits[node, 1]
            left, right = high.copy(), low.copy()
            left[feature], right[feature] = min(high[feature], threshold), max(low[feature], threshold)
            below += [(2 * node + 1, low, left), (2 * node + 2, right, high)]
        boxes = below
    wide = [(node - len(splits), (low + high) / 2) for node, low, high in boxes if (high - low).min() > 1e-9]
    return np.array([leaf for leaf, _ in wide]), np.array([middle for _, middle in wide])


def test_it_shows_more_than_guesses_against_an_epsilon() -> None:
    """The same guesses, delta 1e-5, confidence 0.95: against the theorem for (epsilon, delta)."""
    ratios = []
    for seed in range(5):
        played = onerun.coins_and_scores(noisy_bits(2.0), as_numbers, lambda model: model, 1_000, seed)
        right, guesses = onerun.guessed(*played, 0.2)
        by_curve = gaussian_bound(right, guesses, 1_000, 1e-5, 0.95).epsilon
        ratios.append(by_curve / onerun.bound(right, guesses, 1_000, 1e-5, 0.95).lower)
    assert gaussian.epsilon(2.0, 1e-5) > 0 and min(ratios) > 1.4


def test_the_command_names_what_it_assumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    coins = np.random.default_rng(0).random(1_000) < 0.5
    scores = noisy_bits(2.0)(coins, 1)
    file = tmp_path / "scores.json"
    file.write_text(json.dumps({"included": coins.tolist(), "scores": scores.tolist()}))
    bounds = {}
    for assume in ("nothing", "gaussian", "isolated"):
        assert run(["audit", "one-run", str(file), "--assume", assume, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert "coins are fair" in told["assumption"] and told["verdict"] == "NOT FOUND"
        bounds[assume] = told["epsilon"]
    truth = gaussian.epsilon(2.0, 1e-5)
    assert 0 < bounds["nothing"] < bounds["gaussian"] < bounds["isolated"] < truth
    assert run(["audit", "one-run", str(file), "--assume", "isolated", "--epsilon", "1"]) == 1
    file.write_text(json.dumps({"included": [1, 0], "scores": [1.0]}))
    assert run(["audit", "one-run", str(file)]) == 2


def test_wrong_input_is_refused() -> None:
    assert gaussian_bound(0, 0, 10).mu == 0.0
    for wrong in ((5, 4, 10), (3, 11, 10)):
        with pytest.raises(InvalidParameter):
            gaussian_bound(*wrong)
    with pytest.raises(InvalidParameter, match="delta"):
        gaussian_bound(3, 4, 10, delta=0.0)


@pytest.mark.parametrize("exponent", [-1060, -600, 600, 1000])
def test_scores_whose_squares_are_no_floats(exponent: int) -> None:
    """Infinite squares passed for noise that hides everything, and squares of 0 for none."""
    included = np.arange(40) % 2 == 0
    scores = np.where(included, 8.0, 0.0) + np.arange(40) % 5
    due, found = isolated_bound(included, scores), isolated_bound(included, np.ldexp(scores, exponent))
    assert due.epsilon > 1.0 and found == due
    assert blind_alone(included, np.ldexp(scores, exponent)) == ""
    assert "lower" in blind_alone(included, np.ldexp(-scores, exponent))
    assert isolated_bound(included, np.zeros(40)).epsilon == 0.0
