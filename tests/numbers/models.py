"""Models of all five papers over many settings, from seeds alone. `python -m tests.numbers.models` prints a digest of
every model's bytes, one a line, so that two processes with other processors or options can be compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from refdp.data.records import Categorical, Classes, Interval, Model, Numeric, Records, Schema, make_records
from refdp.papers import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource

PAPERS: dict[str, Any] = {"dpboost": dpboost, "dpxgboost": dpxgboost, "fedgbdt": fedgbdt, "inprivate": inprivate,
                          "sgbdt": sgbdt}  # fmt: skip
FEATURES = (Numeric("a", 0.0, 1.0), Numeric("b", -3.0, 17.0), Categorical("c", ("u", "v", "w")))
REGRESSION, CLASSES = Schema(FEATURES, Interval(-2.0, 5.0)), Schema(FEATURES, Classes(("n", "y")))
SMALL: dict[str, Any] = {"epsilon": 3.0, "relation": Relation.ADD_REMOVE, "trees": 6, "depth": 3}
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "dpboost": [
        {"candidates": kind, "noise": noise, "shrinkage": shrinkage, "trees_per_ensemble": 3, "regularisation": 0.37}
        for kind, noise, shrinkage in product(("uniform", "log"), ("floating", "discrete"), (0.1, 0.3))
    ],
    "dpxgboost": [
        {"loss": loss, "candidates": kind, "noise": noise, "tree_growth": 1.3, "subsample": 0.7, "child_minimum": 3,
         "sampler": sampler}
        for loss, kind, noise, sampler in product(
            ("square", "log"), ("sketch", "quantiles"), ("floating", "discrete"), ("racing", "gumbel")
        )
    ]
    + [{"loss": "log", "candidates": "uniform", "delta": 1e-5, "subsample": 1.0, "child_minimum": 3}],
    "fedgbdt": [
        {"candidates": kind, "noise": noise, "accounting": accounting, "sensitivities": bound, "grid": grid}
        for kind, noise, accounting, bound, grid in product(
            ("log", "iterative-hessian"), ("floating", "discrete"), ("exact", "renyi"), ("joint", "by-round"),
            ("inside", "published"),
        )
    ],
    "inprivate": [
        {"candidates": kind, "noise": noise, "owners": owners, "rounds": rounds, "damping": 1.7}
        for kind, noise, owners, rounds in product(("uniform", "log"), ("floating", "discrete"), (1, 3), (1, 2))
    ],
    "sgbdt": [
        {"extra_trees": extra, "subsample": rate, "weights": weights, "support": support, "orders": orders}
        for extra, rate, weights, support, orders in product(
            (0, 9), (0.4, 1.0), ("relative", "slides"), ("additive", "max"), ("one", "joint")
        )
    ],
}  # fmt: skip


def records(schema: Schema, rows: int, seed: int) -> Records:
    """Skewed features, missing values, and labels that depend on them; made of arithmetic alone."""
    generator = np.random.default_rng(seed)
    x = np.column_stack([generator.random(rows) ** 2, 20 * generator.random(rows) - 3, generator.integers(0, 3, rows)])
    signal = x[:, 0] - 0.1 * x[:, 1] + 0.5 * (x[:, 2] == 1) + generator.random(rows) / 2
    x[generator.random(x.shape) < 0.05] = np.nan
    y = (signal > 0).astype(np.float64) if isinstance(schema.target, Classes) else signal
    return make_records(schema, x, y)


def train(paper: str, given: dict[str, Any], schema: Schema, seed: int, rows: int = 400) -> Model:
    """One model; settings that a paper has no field for are left out."""
    module = PAPERS[paper]
    known = module.Params.__dataclass_fields__
    params = module.Params(**{name: value for name, value in (SMALL | given).items() if name in known})
    source = SampleSource(np.random.default_rng(seed), exact=given.get("noise") == "discrete")
    return module.train(params, records(schema, rows, seed), Curator(source, params.relation))


def models() -> Iterator[tuple[str, Model]]:
    """Every paper, setting and kind of target."""
    for paper, settings in SETTINGS.items():
        for number, given in enumerate(settings):
            for schema in (REGRESSION, CLASSES):
                if not (given.get("loss") == "log" and schema is REGRESSION):
                    yield f"{paper} {number} {type(schema.target).__name__}", train(paper, given, schema, number)


def digests() -> dict[str, str]:
    """The digest of every model's bytes."""
    return {name: hashlib.sha256(model.to_json().encode()).hexdigest() for name, model in models()}


if __name__ == "__main__":
    for name, digest in digests().items():
        print(name, digest)
