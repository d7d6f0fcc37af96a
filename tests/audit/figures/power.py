"""The smallest violation of each kind that an audit names: cheats whose size is a setting, from large to small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import refdp
from refdp.accounting import account
from refdp.audit import epsilon_lower_bound
from refdp.noise.mechanisms import Exponential, Gaussian, Laplace
from refdp.privacy.events import Plan, Relation, Release
from tests.audit.cheats.zoo import SCHEMA, declared
from tests.audit.figures.kept import keep, load

SIZES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-6, 1e-8, 1e-9, 1e-10, 1e-12)
DELTA = 1e-5
Cheat = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Kind:
    """made: the cheat of a size. what: the size in words. named: kinds of violations that are its cause."""

    made: Callable[[float], Cheat]
    what: str
    named: tuple[str, ...]
    delta: float = 0.0
    pairs: int = 4


def _counted(records: Any) -> np.ndarray:
    return np.array([float(len(records.y))])


def _released(mechanism: Any, share: float = 1.0, name: str = "n", norm: Any = 1) -> Cheat:
    return lambda records, curator: curator.release(name, mechanism, share * _counted(records),
                                                    sensitivity=declared(1.0, norm))  # fmt: skip


def _choice(size: float) -> Cheat:
    def train(records: Any, curator: Any) -> Any:
        table = np.array([[(1 + size) * len(records.y), 0.0]])
        options = np.array([[0.0], [1.0]])
        return curator.release("choice", Exponential(1.0), table, sensitivity=declared(1.0, "range"), options=options)

    return train


def _spent(size: float) -> Cheat:
    return lambda records, curator: [
        curator.release("n", Laplace(scale), _counted(records), sensitivity=declared(1.0))
        for scale in (2.0, 2.0 / (1 + 2 * size))
    ]


def _gaussians(size: float) -> Cheat:
    plan = Plan(Relation.ADD_REMOVE, Release("n", Gaussian(1.0), declared(1.0, 2)))
    honest, low, high = 1.0, 0.1, 100.0
    while high - low > 1e-12 * high:  # the deviation that meets (1, DELTA)
        honest = (low + high) / 2
        plan = Plan(Relation.ADD_REMOVE, Release("n", Gaussian(honest), declared(1.0, 2)))
        low, high = (honest, high) if account(plan, epsilon=1.0).lower > DELTA else (low, honest)
    return _released(Gaussian(high / (1 + size)), norm=2)


class Less(Laplace):
    """Noise of a smaller scale than it says."""

    def apply(self, value: Any, standard: Any) -> Any:
        """The share stands in the scale's last digits."""
        return value + self.scale * (2 - self.scale) * np.asarray(standard)


class Mixed(Laplace):
    """Sometimes no noise."""

    def apply(self, value: Any, standard: Any) -> Any:
        """The share stands in the scale's last digits."""
        drawn = np.asarray(standard)
        return value + np.where(np.abs(drawn) < self.scale - 1, 0.0, self.scale * drawn)


def _published(size: float) -> Cheat:
    def train(records: Any, curator: Any) -> Any:
        noisy = float(_released(Laplace(1.0))(records, curator)[0])
        return noisy * (1 + size * len(records.y))

    return train


def _sampled(size: float) -> Cheat:
    """A sample at the rate 0.5, with a share of everybody else counted too."""

    def train(records: Any, curator: Any) -> Any:
        with curator.subsample("rows", 0.5, len(records.y)) as rows:
            exact = np.array([float(rows.sum() + size * (~rows).sum())])
            return curator.release("n", Laplace(1.0), exact, sensitivity=declared(1.0))

    return train


KINDS: dict[str, Kind] = {
    "sensitivity, Laplace": Kind(lambda x: _released(Laplace(1.0), 1 + x), "relative excess of the change",
                                 ("sensitivity",)),
    "sensitivity, Gaussian": Kind(lambda x: _released(Gaussian(4.0), 1 + x, norm=2), "relative excess of the change",
                                  ("sensitivity",), DELTA),
    "sensitivity, choice": Kind(_choice, "relative excess of the range", ("sensitivity",)),
    "composition, pure": Kind(_spent, "relative excess of epsilon", ("loss",)),
    "composition, with a delta": Kind(_gaussians, "relative lack of the deviation", ("composition",), DELTA),
    "noise scale": Kind(lambda x: _released(Less(1.0 + x)), "relative lack of the scale, about", ("noise law",)),
    "noise left out": Kind(lambda x: _released(Mixed(1.0 + x)), "share of draws without noise, about",
                           ("noise law", "noise scale")),
    "published object": Kind(_published, "relative change of the published number", ("published object",)),
    "secret sample": Kind(_sampled, "share of the change that reaches those outside", ("block",), pairs=12),
}  # fmt: skip


def found(name: str, size: float) -> tuple[bool, list[str]]:
    """Whether a cheat of that size is named at its cause, and all kinds of violations."""
    kind = KINDS[name]
    report = refdp.audit_trainer(kind.made(size), SCHEMA, 1.0, kind.delta, pairs=kind.pairs, steps=0)
    kinds = sorted({violation.kind for violation in report.violations})
    return bool(set(kinds) & set(kind.named)), kinds


def by_runs(size: float, runs: int) -> bool:
    """Whether a black box refutes a Laplace count whose scale is relatively too small by `size`."""

    class Batch:
        def batch(self, records: Any, count: int, generator: np.random.Generator) -> Any:
            noise = np.rint(generator.laplace(0.0, (1 - size), count) * 2**20) / 2**20
            return (len(records) + noise)[:, None]

    pair = (np.zeros((1, 1)), np.zeros((2, 1)))
    bound = epsilon_lower_bound(Batch(), pair, claimed=1.0, samples=runs, confidence=1 - 1e-6, seed=1)
    return bool(bound.refuted)


BLACK_BOX = {f"black box, {runs:,} runs a side": runs for runs in (10_000, 100_000, 1_000_000)}


def run(most: float) -> None:
    """Every kind at ever smaller sizes, until one is not named."""
    done = load("power")
    for name in KINDS:
        for size in SIZES:
            key = f"{name} {size:g}"
            if key not in done:
                seen, kinds = found(name, size)
                keep("power", key, name=name, size=size, found=seen, kinds=kinds)
                done = load("power")
            if not done[key]["found"]:
                break
    for name, runs in BLACK_BOX.items():
        for size in SIZES[1:]:
            key = f"{name} {size:g}"
            if key not in done:
                keep("power", key, name=name, size=size, found=by_runs(size, runs), kinds=[])
                done = load("power")
            if not done[key]["found"]:
                break
