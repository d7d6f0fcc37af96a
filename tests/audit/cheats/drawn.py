"""Correct trainers drawn at random: settings of five papers, participants, mechanisms and foreign functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from refdp.audit import ways
from refdp.faces import registry
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Relation, Sensitivity
from tests.audit.cheats.zoo import Entered, declared

DRAWN: dict[str, Entered] = {}
SETTINGS: dict[str, dict[str, list[Any]]] = {
    "dpboost": {"depth": [1, 2, 3], "trees": [1, 2, 4], "trees_per_ensemble": [1, 2], "bins": [2, 4, 8],
                "gradients": ["filter", "clip"], "scheme": ["dpboost", "para", "seq"], "shrinkage": [0.1, 0.5]},
    "inprivate": {"depth": [1, 2], "rounds": [1, 2], "owners": [1, 2]},
    "dpxgboost": {"depth": [1, 2], "trees": [1, 2], "bins": [2, 4], "subsample": [0.3, 1.0]},
    "fedgbdt": {"depth": [1, 2], "trees": [1, 2], "bins": [2, 4]},
    "sgbdt": {"depth": [1, 2], "trees": [1, 2, 3], "subsample": [0.2, 1.0]},
}  # fmt: skip
DELTA = {"fedgbdt": 1e-5, "sgbdt": 1e-5}


def _papers(number: int) -> None:
    for name, choices in SETTINGS.items():
        paper, generator = registry.paper(name), np.random.default_rng([7, len(name)])
        for turn in range(number):
            given = {key: values[int(generator.integers(len(values)))] for key, values in choices.items()}
            epsilon = [0.3, 1.0, 4.0][turn % 3]
            _enter(f"{name} {turn + 1}", _trainer(paper, given | {"epsilon": epsilon}, DELTA.get(name, 0.0)), epsilon,
                   DELTA.get(name, 0.0))  # fmt: skip


def _trainer(paper: Any, given: dict[str, Any], delta: float) -> Callable[[Any, Any], Any]:
    more = {"delta": delta} if delta else {}
    params = paper.params({**given, **more, "relation": Relation.ADD_REMOVE}, as_published=False)

    def train(records: Any, curator: Any) -> Any:
        return paper.train(replace(params), records, curator)

    return train


def _enter(name: str, train: Callable[[Any, Any], Any], epsilon: float, delta: float) -> None:
    DRAWN[name] = Entered(name, "", train, epsilon, delta)


def _ways() -> None:
    """Ways without secret samples: where rows are rearranged before, `audit PAPER` arranges its pairs first."""
    fedgbdt, small = registry.paper("fedgbdt"), {"epsilon": 1.0, "trees": 2, "depth": 1}
    for count in (2, 5):
        _enter(f"fedgbdt of {count}", _trainer(ways.participants(fedgbdt, count).paper, small, 1e-5), 1.0, 1e-5)


def _mechanisms() -> None:
    laws: dict[str, tuple[Any, Any, float]] = {
        "laplace": (Laplace(1.0), 1, 0.0), "laplace of three": (Laplace(3.0), 1, 0.0),
        "discrete laplace": (DiscreteLaplace(2.0, 0.5), 1, 0.0), "gaussian": (Gaussian(4.0), 2, 1e-5),
        "unequal gaussian": (Gaussian((8.0, 8.0, 8.0)), "whitened", 1e-5),
        "discrete gaussian": (DiscreteGaussian(5.0, 1.0), 2, 1e-5),
    }  # fmt: skip
    for name, (law, norm, delta) in laws.items():
        width = 3 if name in ("laplace of three", "unequal gaussian") else 1
        _enter(name, _released(law, norm, width), 1.0, delta)


def _released(law: Any, norm: Any, width: int) -> Callable[[Any, Any], Any]:
    def train(records: Any, curator: Any) -> Any:
        exact = np.full(width, float(len(records.y)))
        bound = {1: float(width), 2: width**0.5}.get(norm, width**0.5 / 8)
        return curator.release("n", law, exact, sensitivity=Sensitivity(bound, norm, "zoo", curator.relation))

    return train


def _foreign() -> None:
    for number, train in enumerate((quantile, histogram_of_ages, noisy_best, stops_by_noise, thresholded, two_of_noisy,
                                    clipped_mean, released_twice)):  # fmt: skip
        _enter(f"foreign {number + 1}: {train.__name__}", train, 1.0, 0.0)


def _ages(records: Any) -> np.ndarray:
    return np.clip(np.nan_to_num(records.x[:, 0], nan=0.5), 0.0, 1.0)


def quantile(records: Any, curator: Any) -> Any:
    """The median among ten cuts: minus the distance of ranks has a range of 1 under add-remove."""
    cuts = np.linspace(0.05, 0.95, 10)
    table = -np.abs(2 * (_ages(records)[:, None] < cuts).sum(axis=0) - len(records.y)) / 2.0
    charged = declared(1.0, "range")
    return curator.release("median", Exponential(1.0), table[None], sensitivity=charged, options=cuts[:, None])


def histogram_of_ages(records: Any, curator: Any) -> Any:
    """Eight cells."""
    exact = np.histogram(_ages(records), bins=8, range=(0, 1))[0].astype(np.float64)
    return np.maximum(curator.release("cells", Laplace(1.0), exact, sensitivity=declared(1.0)), 0)


def noisy_best(records: Any, curator: Any) -> Any:
    """The most frequent colour, then its noisy count."""
    colours = np.array([np.sum(records.x[:, 1] == category) for category in range(3)], dtype=np.float64)
    options = np.arange(3.0)[:, np.newaxis]
    best = curator.release(
        "colour", Exponential(0.5), colours[None], sensitivity=declared(1.0, "range"), options=options
    )
    exact = colours[[int(np.ravel(best)[0])]]
    return best, curator.release("its count", Laplace(2.0), exact, sensitivity=declared(1.0))


def stops_by_noise(records: Any, curator: Any) -> Any:
    """Up to four counts, ended by a released one."""
    exact, found = np.array([float(len(records.y))]), []
    for number in range(4):
        found.append(float(curator.release(f"look {number}", Laplace(4.0), exact, sensitivity=declared(1.0))[0]))
        if found[-1] > 5:
            break
    return found


def thresholded(records: Any, curator: Any) -> Any:
    """A sum that is published only where a noisy count is large."""
    exact = np.array([float(len(records.y))])
    many = curator.release("n", Laplace(2.0), exact, sensitivity=declared(1.0))[0] > 4
    if not many:
        return None
    total = np.array([np.sum(np.rint(records.y * 2**20)) / 2**20])
    return curator.release("sum", Laplace(2.0), total, sensitivity=declared(1.0))


def two_of_noisy(records: Any, curator: Any) -> Any:
    """Positive and other labels: one record is in one cell."""
    exact = np.array([float(np.sum(records.y > 0)), float(np.sum(records.y <= 0))])
    noisy = curator.release("signs", DiscreteLaplace(1.0, 1.0), exact, sensitivity=declared(1.0))
    return {"share": float(noisy[0] / max(noisy.sum(), 1.0))}


def clipped_mean(records: Any, curator: Any) -> Any:
    """A noisy sum over a noisy count."""
    total = np.array([np.sum(np.rint(np.clip(records.y, -0.5, 0.5) * 2**20)) / 2**20])
    above = curator.release("sum", Laplace(1.0), total, sensitivity=declared(0.5))
    size = curator.release("n", Laplace(2.0), np.array([float(len(records.y))]), sensitivity=declared(1.0))
    return float(above[0] / max(size[0], 1.0))


def released_twice(records: Any, curator: Any) -> Any:
    """One released number, published in two places."""
    noisy = curator.release("n", Laplace(1.0), np.array([float(len(records.y))]), sensitivity=declared(1.0))
    return {"n": noisy, "again": noisy}


_papers(6)
_ways()
_mechanisms()
_foreign()
