"""OpenDP: noisy counts, clamped sums and histograms, built from transformations and measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import opendp.prelude as dp

from benchmarks.packages.checks import Check, Table, from_replay, from_structure, table
from refdp.audit.opened_replay import audit_opened
from refdp.audit.structural import inspect

PACKAGE = "opendp"
CLOSE = (
    "Measurement.check: “if the distance between inputs is at most d_in, then the privacy usage is at most d_out”; the "
    "declared sensitivity is `transformation.map(1)`, the cost `measurement.map(1)`"
)
SCALE = 4.0
dp.enable_features("contrib")


def checks() -> Iterator[Check]:
    """Everything that is asked of OpenDP, on Adult and Abalone."""
    for name in ("adult", "abalone"):
        data = table(name, 2000)
        for column in (0, 1):
            yield from _replays(data, column)
        yield from _structure(data)


def _space() -> tuple[Any, Any]:
    return dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()


def _statistics(column: int, data: Table, noise: Any) -> Callable[[Any], Any]:
    """A noisy count, a noisy clamped sum of one column, and the sum of a wrongly scaled copy that clamping repairs."""
    low, high = float(data.low[column]), float(data.high[column])

    def release(rows: Any) -> Any:
        values = rows[:, column].tolist()
        count = _space() >> dp.t.then_count() >> noise(SCALE)
        total = _space() >> dp.t.then_clamp((low, high)) >> dp.t.then_sum() >> noise(SCALE * max(abs(low), abs(high)))
        return count(values), total(values), total([3 * value for value in values])

    return release


def _replays(data: Table, column: int) -> Iterator[Check]:
    pairs = [(data.x, np.delete(data.x, row, axis=0)) for row in range(10)]
    for name, noise in (("Laplace", dp.m.then_laplace), ("Gaussian", dp.m.then_gaussian)):
        release = _statistics(column, data, noise)
        pure = name == "Laplace"
        epsilon = 3 / SCALE * (1 + 1e-6)
        report = audit_opened(release, pairs, PACKAGE, epsilon=epsilon, delta=0.0 if pure else 0.05)
        kind = next(iter(report.kinds()), "budget")
        question = (
            f"{name} noise on count and clamped sums of column {column}: sensitivity, cost, loss, control flow, result"
        )
        yield from_replay(PACKAGE, data.name, question, report, kind, CLOSE)


def _structure(data: Table) -> Iterator[Check]:
    """The same function run as it is, and the last bits of a noisy 0 against a noisy 1."""
    small = data.x[:200]
    release = _statistics(0, data, dp.m.then_laplace)
    calls = 300
    found = inspect(lambda rows, generator: release(rows), (small, small[1:]), seed=1, calls=calls)
    kinds = (
        "identical outputs",
        "exact statistic",
        "reused noise",
        "support",
        "data-dependent range",
        "positional partition",
    )
    yield from_structure(
        PACKAGE, data.name, "all structural checks of the same statistics", found, kinds, CLOSE, calls=calls
    )
    for name, noise in (("Laplace", dp.m.then_laplace), ("Gaussian", dp.m.then_gaussian)):
        low, high = float(data.low[0]), float(data.high[0])
        chain = _space() >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum() >> noise(1.0)
        share = [np.zeros(5), np.append(np.zeros(5), (data.x[0, 0] - low) / (high - low) > -1)]
        bits = inspect(
            lambda rows, generator, chain=chain: chain(rows.tolist()),
            (share[0], share[1]),
            seed=1,
            calls=2000,
            order=False,
        )
        question = f"{name}: do the last bits of a noisy sum tell a 0 from a 1?"
        yield from_structure(PACKAGE, data.name, question, bits, ("precision", "support"), CLOSE, calls=2000)
