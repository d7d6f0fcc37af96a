"""Correct trainers: none may be accused."""

from __future__ import annotations

from typing import Any

import numpy as np

from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.papers import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt
from refdp.privacy.events import Relation
from tests.audit.cheats.zoo import Entered, count, declared, enter

HONEST: dict[str, Entered] = {}


@enter(HONEST)
def one_count(records: Any, curator: Any) -> Any:
    """One count."""
    return count(records, curator)


@enter(HONEST)
def two_halves(records: Any, curator: Any) -> Any:
    """Two counts of half the claim."""
    return {"n": count(records, curator, 0.5), "m": count(records, curator, 0.5)}


@enter(HONEST)
def clipped_sum(records: Any, curator: Any) -> Any:
    """A sum of labels in [-1, 1], rounded to a grid record by record so that the order cannot show."""
    exact = np.sum(np.rint(records.y * 2**20)) / 2**20
    return curator.release("sum", Laplace(1.0), np.array([exact]), sensitivity=declared(1.0))


@enter(HONEST)
def histogram(records: Any, curator: Any) -> Any:
    """One record is in one bin; a missing colour is in none."""
    exact = np.array([np.sum(records.x[:, 1] == category) for category in range(3)], dtype=np.float64)
    return curator.release("colours", Laplace(1.0), exact, sensitivity=declared(1.0))


@enter(HONEST)
def discrete_count(records: Any, curator: Any) -> Any:
    """Discrete noise."""
    exact = np.array([float(len(records.y))])
    return curator.release("n", DiscreteLaplace(1.0, 1.0), exact, sensitivity=declared(1.0))


@enter(HONEST)
def chosen_colour(records: Any, curator: Any) -> Any:
    """The most frequent colour: a count is monotone, so that its range is 1."""
    table = np.array([[np.sum(records.x[:, 1] == category) for category in range(3)]], dtype=np.float64)
    options = np.arange(3.0)[:, np.newaxis]
    return curator.release("colour", Exponential(1.0), table, sensitivity=declared(1.0, "range"), options=options)


@enter(HONEST, epsilon=1.0, delta=1e-5)
def gaussian_count(records: Any, curator: Any) -> Any:
    """Gaussian noise of deviation 4: epsilon 0.99 at 1e-5."""
    exact = np.array([float(len(records.y))])
    return curator.release("n", Gaussian(4.0), exact, sensitivity=declared(1.0, 2))


@enter(HONEST, epsilon=1.0, delta=1e-5)
def many_laplace_and_one_gaussian(records: Any, curator: Any) -> Any:
    """40 Laplace counts and a Gaussian one, whose composition, not whose sum, meets the claim."""
    exact = np.array([float(len(records.y))])
    noisy = [curator.release("n", Laplace(30.0), exact, sensitivity=declared(1.0)) for _ in range(40)]
    return noisy, curator.release("m", Gaussian(6.0), exact, sensitivity=declared(1.0, 2))


@enter(HONEST, epsilon=1.0, delta=1e-5)
def discrete_gaussian_pair(records: Any, curator: Any) -> Any:
    """Count and sum with discrete Gaussian noise."""
    exact = np.array([float(len(records.y)), np.sum(np.rint(records.y))])
    return curator.release("pair", DiscreteGaussian(6.0, 1.0), exact, sensitivity=declared(2**0.5, 2))


@enter(HONEST)
def sampled_count(records: Any, curator: Any) -> Any:
    """A count of a secret sample: one half of e - 1 more."""
    with curator.subsample("rows", 0.5, len(records.y)) as rows:
        return curator.release("n", Laplace(0.75), np.array([float(rows.sum())]), sensitivity=declared(1.0))


@enter(HONEST)
def always_refuses(records: Any, curator: Any) -> Any:
    """The same error for all records."""
    raise ValueError("not implemented")


@enter(HONEST)
def says_hello(records: Any, curator: Any) -> Any:
    """The same words for all records."""
    print("training")
    return count(records, curator)


def _paper(module: Any, delta: float = 0.0, **settings: Any) -> None:
    params = module.Params(1.0, Relation.ADD_REMOVE, **({"delta": delta} if delta else {}), **settings)

    def train(records: Any, curator: Any) -> Any:
        return module.train(params, records, curator)

    name = module.__name__.rsplit(".", 1)[-1]
    HONEST[name] = Entered(name, "", train, 1.0, delta)


_paper(dpboost, trees=2, trees_per_ensemble=2, depth=2, bins=4)
_paper(dpxgboost, trees=2, depth=2, bins=4)
_paper(fedgbdt, delta=1e-5, trees=2, depth=2, bins=4)
_paper(inprivate, rounds=1, depth=1)
_paper(sgbdt, delta=1e-5, trees=3, depth=2)
