"""Places where mistakes drawn at random lived on: what the code promises there."""

from __future__ import annotations

import io
import math
import re
import secrets
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import norm

from refdp.accounting.composition import compose
from refdp.accounting.grid import pessimistic
from refdp.accounting.mixtures import Exchanged
from refdp.accounting.normal import normalise
from refdp.accounting.pairs import GaussianPair, LaplacePair
from refdp.audit import events_choice
from refdp.audit.blackbox_rows import power
from refdp.audit.events_statistics import Ratio
from refdp.audit.page_replay import witness_of
from refdp.audit.pair_search import Ranges
from refdp.data.population import COUNT, Nodes, values
from refdp.data.records import Interval, Numeric, Schema
from refdp.engines.federated import Asks
from refdp.errors import InvalidParameter
from refdp.faces.commands import train_run
from refdp.faces.training import source_for
from refdp.noise.mechanisms import Gaussian
from refdp.papers import dpboost, fedgbdt
from refdp.privacy.events import Plan, Relation, Release, Sensitivity, Subsample
from refdp.privacy.sources import NoiselessSource, SampleSource

ADD = Relation.ADD_REMOVE
SCHEMA = Schema((Numeric("a", 0.0, 1.0), Numeric("b", -3.0, 17.0)), Interval(0.0, 1.0))
BOUNDS = {"a": [0.0, 1.0], "b": [-3.0, 17.0], "y": [0.0, 1.0]}


# --- Audits -----------------------------------------------------------------------------------------------------------


def test_candidates_of_a_pair_reach_from_the_least_to_the_greatest_value() -> None:
    """Lower bounds that are not 0: shares 0 and 1 are the ends, a half lies between them."""
    columns = Ranges(np.array([-3.0, 5.0, 1.0]), np.array([7.0, 5.5, 5.0]), ((), (), (1.0, 2.0, 5.0)))
    found = columns.at(np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.5, 0.5, 0.5]]))
    assert found.tolist() == [[-3.0, 5.0, 1.0], [7.0, 5.5, 5.0], [2.0, 5.25, 2.0]]


def test_a_witness_says_whether_a_record_came_or_changed() -> None:
    added: dict[str, Any] = {"schema": BOUNDS, "base_x": [[0.5, 2.0]], "base_y": [1.0], "position": 0,
                             "new_x": [0.25, 3.0], "new_y": 0.0}  # fmt: skip
    one, other = witness_of(added), witness_of(added | {"old_x": [0.75, 4.0], "old_y": 0.5})
    assert one is not None and other is not None
    assert "one record added" in str(one) and "one record replaced" not in str(one)
    assert "one record replaced" in str(other) and "one record added" not in str(other)
    assert "second only" in str(other) and "second only" not in str(one)


@pytest.mark.parametrize("claimed", [0.5, 2.0])
def test_with_ever_more_runs_a_test_sees_ever_less_above_the_claim(claimed: float) -> None:
    """Half of one side's runs: the standard error of log of a ratio of two shares is known."""
    found = []
    for runs in (20_000, 2_000_000, 200_000_000):
        told = power(SimpleNamespace(claimed=claimed, last=runs, pairs=1, columns=1, confidence=0.95, delta=0.0))  # type: ignore[arg-type]
        match = re.match(r"epsilon ([0-9.]+) \(95%\)", told)
        assert match
        found.append(float(match[1]) - claimed)
        share = math.exp(-claimed) / 2
        error = math.sqrt(1 / (runs / 2) + (1 - share) / (runs * share))
        assert 0 < found[-1] < 1.15 * (8 * error + 0.05) + 0.01
    assert found[0] >= found[1] >= found[2]


def test_what_is_learnt_is_compared_on_other_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ratios see the second half of the runs alone, plain statistics see all."""
    seen: set[tuple[bool, int]] = set()
    real = events_choice._promised

    def promised(statistic: Any, first: Any, *given: Any) -> Any:
        seen.add((isinstance(statistic, Ratio), len(first)))
        return real(statistic, first, *given)

    monkeypatch.setattr(events_choice, "_promised", promised)
    generator = np.random.default_rng(0)
    events_choice.choose(*generator.integers(0, 4, (2, 400, 1)).astype(float), 400, 0.0, 0.05)
    assert seen == {(True, 200), (False, 400)}


# --- Secrets ----------------------------------------------------------------------------------------------------------


def test_secrets_of_runs_without_a_seed_have_128_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = secrets.token_bytes
    monkeypatch.setattr(secrets, "token_bytes", lambda count: asked.append(count) or real(count))
    assert isinstance(source_for(dpboost.Params(1.0, ADD), None), SampleSource)
    assert isinstance(source_for(SimpleNamespace(scheme="np"), None), NoiselessSource)
    assert len(asked) >= 2 and min(asked) >= 16


# --- Participants' sums -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moved", [0, -1])
def test_one_entry_that_is_no_sum_is_refused_among_sums(moved: int) -> None:
    """A quarter of a grid step more in one entry, as a function of two sums may have it."""

    def program(params: Any, schema: Any, population: Any, curator: Any) -> None:
        population.tell(fedgbdt.Encode(params.split_candidates(schema, population)))
        population.tell(fedgbdt.Root((0,)))
        sums = np.array(values(population.ask(Nodes(("g", COUNT)))))
        sums.flat[moved] += 2.0**-26
        curator.release("nodes", params.sums_charge(schema, 1.0, 0), sums)

    params = fedgbdt.Params(4.0, ADD, trees=1, depth=1, splits="totally-random")
    with pytest.raises(InvalidParameter, match="a function of exact sums"):
        Asks.of(program, params, SCHEMA)


# --- Bounds on tails --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [0.0, 30.0, 500.0, 2000.0])
def test_no_tail_is_bounded_by_more_than_one(more: float) -> None:
    """However large the factor, which overflows in the last case, a bound on a probability is at most 1."""
    composed = compose([(pessimistic(LaplacePair(0.5), 0.05, -60.0), 5)], 3.0)
    high = composed.upper_tails(True, slice(None))
    higher = replace(composed, log_scale=composed.log_scale + more).upper_tails(True, slice(None))
    assert np.all(high <= higher) and np.max(higher) <= 1.0


@pytest.mark.parametrize("tilt", [4.0, 15.0])
@pytest.mark.parametrize("step", [0.05, 0.002])
def test_what_the_transforms_error_is_multiplied_by_is_near_the_norm(tilt: float, step: float) -> None:
    composed = compose([(pessimistic(LaplacePair(0.5), step, -60.0), 2)], tilt)
    x = step * np.arange(1, 100_000)
    truth = math.sqrt(math.fsum((np.exp(-tilt * x) * -np.expm1(-x)) ** 2))
    assert truth <= composed._norm <= 2 * truth * math.exp(tilt * step)


# --- Samples ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.05, 0.6])
def test_a_record_exchanged_in_a_sample_costs_the_least_over_all_weights(rate: float) -> None:
    """delta of normal laws at distances 1 and 2, against the least of Theorem 2's bounds over a grid of weights."""

    def profile(mu: float, ratio: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        x = np.log(ratio) / mu
        return np.asarray(norm.cdf(mu / 2 - x) - ratio * norm.cdf(-mu / 2 - x))

    pair, share = Exchanged(rate, GaussianPair(1.0), GaussianPair(2.0)), np.linspace(1e-6, 1 - 1e-6, 200_001)
    for epsilon in (0.1, 0.5, 1.5):
        ratio = math.exp(epsilon)
        odds = (ratio - 1) * (1 - rate) / rate
        bounds = share * profile(1.0, odds / share) + (1 - share) * profile(2.0, ratio / (1 - share))
        tails = pair.tails(np.array([epsilon]))
        assert float(tails.above[0] - ratio * tails.above_q[0]) == pytest.approx(rate * bounds.min(), rel=1e-6)


@pytest.mark.parametrize(("relation", "method"), [(ADD, "poisson"), (Relation.REPLACE_ONE, "without-replacement")])
def test_a_sample_of_all_is_the_event_itself(relation: Relation, method: Any) -> None:
    one = Release("sum", Gaussian(3.0), Sensitivity(1.0, 2, "sums", relation))
    assert normalise(Plan(relation, Subsample(1.0, one, method))) == normalise(Plan(relation, one))


# --- What is printed --------------------------------------------------------------------------------------------------


def test_a_trained_models_page_names_where_bounds_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_run, "certificate_page", lambda certificate: "certificate")
    dataset: Any = SimpleNamespace(sources={"a": "declared", "b": "declared", "c": "documented"}, name="toy", y=[0, 1],
                                   features=[1, 2, 3], task="binary")  # fmt: skip
    run: Any = SimpleNamespace(seconds=0.5, certificate=None)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(train_run.page("dpboost", dataset, run, {}, {}))
    assert re.search(r"public bounds +2 declared, 1 documented *$", console.export_text(), re.MULTILINE)


# --- Workers ----------------------------------------------------------------------------------------------------------


def test_workers_keep_the_memory_of_arrays_of_megabytes() -> None:
    """Both of glibc's thresholds are far above its 128 kB, and what is trimmed is no smaller than what is mapped."""
    dask = pytest.importorskip("refdp.engines.dask", reason="the extra dask is not installed", exc_type=ImportError)
    trimmed, mapped = (int(dask.MALLOC[f"MALLOC_{name}_THRESHOLD_"]) for name in ("TRIM", "MMAP"))
    assert trimmed >= mapped >= 2**25
