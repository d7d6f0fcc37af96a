"""What a fourth draw of random mutants let live: docs/mutants-drawn.md."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy import special

from refdp.accounting.single import _gaussian
from refdp.audit import noise_shape
from refdp.audit.neighbours import pairs
from refdp.audit.report import SCHEMAS
from refdp.audit.search import Search
from refdp.noise.mechanisms import Laplace
from refdp.privacy.events import Relation, Sensitivity


@pytest.mark.parametrize("mu", [16.5, 20.0, 30.0])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.45])
def test_delta_of_little_noise_at_an_epsilon_far_below_its_loss(mu: float, share: float) -> None:
    """Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu), the second term being small: the first alone bounds it from above."""
    epsilon = share * mu * mu / 2
    first = special.ndtr(mu / 2 - epsilon / mu)
    second = math.exp(epsilon - (mu / 2 + epsilon / mu) ** 2 / 2)  # more than e^e Phi(-x)
    low, high = _gaussian(mu, epsilon)
    assert low <= first <= high * (1 + 1e-12) + second and high >= first - second
    assert high - low <= 1e-9


def test_odds_of_a_false_alarm_are_shared_by_all_looks_at_the_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded draws, and further ones of one kind of mechanism: eight looks at each."""
    asked = list[int]()

    def noted(groups: Any, tests: int) -> None:
        asked.append(tests)

    monkeypatch.setattr(noise_shape, "departures", noted)

    def train(records: Any, curator: Any) -> Any:
        unit = Sensitivity(1.0, 1, "test/unit", Relation.ADD_REMOVE)
        return [curator.release(f"r{scale}", Laplace(scale), np.array([float(len(records.y))]), sensitivity=unit)
                for scale in (4.0, 5.0)]  # fmt: skip

    search = Search(train, 1.0, 0.0, Relation.ADD_REMOVE, 0)
    for number, pair in enumerate(islice(pairs(SCHEMAS[0], Relation.ADD_REMOVE, 0), 2)):
        search.look(pair, number)
    search.noise()
    assert asked == [16, 16]
