"""Structural checks: each finds its broken example and passes the correct twin."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit.structural import inspect, lowest_bit
from refdp.audit.structural_samples import needed
from refdp.audit.structural_state import leaves
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Laplace

Rows = np.ndarray
N = 40
ROWS = np.column_stack([np.linspace(0.05, 0.95, N), (np.arange(N) % 3 == 0).astype(float)])
PAIR = (ROWS, ROWS[:-1])


def noisy(value: Any, generator: np.random.Generator, scale: float = 1.0) -> Any:
    """Laplace noise on a grid, so that last bits tell nothing."""
    mechanism = Laplace(scale)
    return mechanism.apply(value, generator.laplace(size=np.shape(value)))


def correct(rows: Rows, generator: np.random.Generator) -> Any:
    """A noisy count and a noisy clamped sum, in a model object with derived values."""
    count = float(noisy(len(rows), generator, 2.0))
    total = float(noisy(np.clip(rows[:, 0], 0, 1).sum(), generator, 2.0))
    return SimpleNamespace(count=count, total=total, mean=total / max(count, 1.0), copy=total, bounds=[0.0, 1.0])


def seeded(rows: Rows, generator: np.random.Generator) -> Any:
    return float(noisy(len(rows), np.random.default_rng(7)))


def few_seeds(rows: Rows, generator: np.random.Generator) -> Any:
    """Fresh noise, but only two different draws of it."""
    return [float(noisy(len(rows), np.random.default_rng(generator.integers(0, 2)))) for _ in range(1)]


def reused(rows: Rows, generator: np.random.Generator) -> Any:
    noise = generator.laplace()
    return {"first tree": len(rows) + 2 * noise, "second tree": np.clip(rows[:, 0], 0, 1).sum() + 3 * noise}


def exact_count(rows: Rows, generator: np.random.Generator) -> Any:
    return SimpleNamespace(**vars(correct(rows, generator)), seen=len(rows))


def exact_in_pickle(rows: Rows, generator: np.random.Generator) -> Any:
    return pickle.dumps({"noisy": float(noisy(0.0, generator)), "n": len(rows)})


def exact_in_json(rows: Rows, generator: np.random.Generator) -> Any:
    shown = {"noisy": float(noisy(0.0, generator)), "nodes": [{"cover": float((rows[:, 1] == 1).sum())}]}
    return json.dumps(shown)


def exact_leaf_counts(rows: Rows, generator: np.random.Generator) -> Any:
    """Counts on both sides of a random split: each varies, their sum does not."""
    inside = int((rows[:, 0] <= generator.random()).sum())
    return {"cover": [inside, len(rows) - inside]}


def domain_from_data(rows: Rows, generator: np.random.Generator) -> Any:
    return {f"{value:.3f}": float(noisy(0.0, generator)) for value in np.unique(rows[:, 0])}


def threshold_on_noisy_count(rows: Rows, generator: np.random.Generator) -> Any:
    """A category that occurs is published if its noisy count is above 1.5: a lone one now and then."""
    values, counts = np.unique(rows[:, 0], return_counts=True)
    kept = values[noisy(counts, generator, 2.0) > 1.5]
    return "last one published" if ROWS[-1, 0] in kept else "not"


def public_domain(rows: Rows, generator: np.random.Generator) -> Any:
    edges = np.linspace(0, 1, 5)
    counts = np.histogram(rows[:, 0], edges)[0]
    return dict(zip(map(str, edges[:-1]), noisy(counts, generator).tolist()))


def maximum(rows: Rows, generator: np.random.Generator) -> Any:
    cuts = np.linspace(rows[:, 0].min(), rows[:, 0].max(), 4)
    return SimpleNamespace(cuts=cuts, noise=float(noisy(0.0, generator)))


def by_position(rows: Rows, generator: np.random.Generator) -> Any:
    return [float(noisy(np.clip(part[:, 0], 0, 1).sum(), generator, 0.5)) for part in np.array_split(rows, 2)]


def by_chance(rows: Rows, generator: np.random.Generator) -> Any:
    block = generator.integers(0, 2, len(rows))
    return [float(noisy(np.clip(rows[block == j, 0], 0, 1).sum(), generator, 0.5)) for j in (0, 1)]


def textbook_laplace(rows: Rows, generator: np.random.Generator) -> Any:
    return float((rows[:, 1] == 7).sum() + generator.laplace())


def snapped_laplace(rows: Rows, generator: np.random.Generator) -> Any:
    return float(noisy((rows[:, 1] == 7).sum(), generator))


def refusing(rows: Rows, generator: np.random.Generator) -> Any:
    if len(rows) < N:
        raise ValueError(f"only {len(rows)} records")
    return float(noisy(len(rows), generator))


BROKEN: list[tuple[Callable[..., Any], str]] = [
    (seeded, "identical outputs"),
    (few_seeds, "identical outputs"),
    (reused, "reused noise"),
    (exact_count, "exact statistic"),
    (exact_in_pickle, "exact statistic"),
    (exact_in_json, "exact statistic"),
    (exact_leaf_counts, "exact statistic"),
    (domain_from_data, "support"),
    (threshold_on_noisy_count, "support"),
    (refusing, "support"),
    (maximum, "data-dependent range"),
    (by_position, "positional partition"),
]


@pytest.mark.parametrize(("function", "kind"), BROKEN, ids=lambda value: getattr(value, "__name__", value))
def test_broken_is_found(function: Callable[..., Any], kind: str) -> None:
    found = inspect(function, PAIR, seed=3)
    assert kind in {finding.kind for finding in found}, [finding.to_dict() for finding in found]
    json.dumps([finding.to_dict() for finding in found], allow_nan=False)


@pytest.mark.parametrize("function", [correct, public_domain, by_chance, snapped_laplace])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_correct_is_not_accused(function: Callable[..., Any], seed: int) -> None:
    assert inspect(function, PAIR, seed=seed) == []


def test_last_bits_of_textbook_laplace_noise_tell_the_true_value() -> None:
    """One record with the label 7, or none: a noisy 0 has bits that no noisy 1 has."""
    extra = np.vstack([ROWS, [0.5, 7.0]])
    found = inspect(textbook_laplace, (ROWS, extra), seed=5, order=False)
    assert [finding.kind for finding in found] == ["precision"]
    assert inspect(snapped_laplace, (ROWS, extra), seed=5, order=False) == []


def test_evidence_names_the_statistic() -> None:
    finding = next(f for f in inspect(exact_count, PAIR, seed=1, order=False) if f.where == ".seen")
    assert finding.evidence["equals"] == "number of records"
    assert (finding.evidence["first"], finding.evidence["second"]) == (N, N - 1)


def test_too_few_calls_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="at least"):
        inspect(correct, PAIR, seed=1, calls=10)


def test_occurrences_needed() -> None:
    """At ε = 1 an event falls on a side with probability at most 0.7311; 0.7311^67 < 1e-9 < 0.7311^66."""
    share = np.e / (1 + np.e)
    assert share ** needed(1.0, 1e-9) <= 1e-9 < share ** (needed(1.0, 1e-9) - 1)


def test_lowest_bit() -> None:
    assert lowest_bit(np.array([1.0, 0.75, 6.0, 0.1, 0.0])).tolist() == [0, -2, 1, -55, 1100]


def test_state_is_read_whole() -> None:
    model = SimpleNamespace(deep=[{"w": np.arange(2.0)}], text='{"n": 3}', blob=pickle.dumps(np.array([1.5, 2.5])))
    model.itself = model
    state = leaves(model)
    assert state[".deep[0]['w'][1]"] == 1.0
    assert state[".text['n']"] == 3
    assert {1.5, 2.5} <= set(state.values())
