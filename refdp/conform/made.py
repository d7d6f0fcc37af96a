"""Small made-up runs: schemas, records, parameters and tapes, the same on every machine and with every numpy.

Everything is drawn from Python's `random`, whose streams are fixed, and lies on dyadic grids, so that ties happen.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from refdp.conform import wider
from refdp.data.records import (
    Categorical,
    Classes,
    Feature,
    Floats,
    Interval,
    Numeric,
    Records,
    Schema,
    make_records,
)
from refdp.faces import registry
from refdp.noise.mechanisms import Draws
from refdp.privacy.curator import Array, Curator, Request, own
from refdp.privacy.events import Relation
from refdp.privacy.replay import Recorder
from refdp.privacy.sources import Listed, asked, law_of
from refdp.privacy.tape import TapeSource

TARGETS = ("regression", "binary", "classes")


_SEED: ContextVar[int | None] = ContextVar("seed", default=None)


@contextmanager
def drawn_from(seed: int | None) -> Iterator[None]:
    """Within it all that is made up follows from this seed; None: what the repository's vectors follow from."""
    token = _SEED.set(seed)
    try:
        yield
    finally:
        _SEED.reset(token)


def is_fresh() -> bool:
    """Whether vectors are drawn from a seed of the caller's."""
    return _SEED.get() is not None


def chance_of(*names: object) -> random.Random:
    """A stream of its own for each name, and for each seed."""
    seed = _SEED.get()
    return random.Random(" ".join(map(str, names if seed is None else ("fresh", seed, *names))))


def schema_of(chance: random.Random, target: str, *, numeric_only: bool = False) -> Schema:
    """One to three features, some categorical, some with equal bounds; of fresh vectors up to seven."""
    features: list[Feature] = [Numeric("x0", 0.0, 1.0)]
    if chance.random() < 0.6:
        low = chance.choice((-3.0, 0.1, 0.0))
        features.append(Numeric("x1", low, low if chance.random() < 0.1 else low + chance.choice((0.3, 7.0, 1.0))))
    if not numeric_only and chance.random() < 0.5:
        features.append(Categorical("c", tuple("abcde"[: chance.randint(2, 4)])))
    found: Interval | Classes = Classes(("no", "yes") if target == "binary" else ("a", "b", "c"))
    if target == "regression":
        found = Interval(*chance.choice(((-1.0, 1.0), (0.0, 10.0), (-0.3, 0.7))))
    schema = Schema(tuple(features), found)
    return wider.schema(chance, schema, numeric_only=numeric_only) if is_fresh() else schema


def with_features(schema: Schema, which: Literal["one", "many", "categories", "even"]) -> Schema:
    """The schema with its first feature, or six: numeric ones, one of equal bounds, and categorical ones; or these;
    or all six, the one of equal bounds first and numeric ones before categorical ones."""
    if which == "one":
        return replace(schema, features=schema.features[:1])
    features: tuple[Feature, ...] = (
        Categorical("c", ("a", "b", "c")), Numeric("x0", 0.0, 1.0), Numeric("even", 2.0, 2.0), Numeric("x1", -3.0, 4.0),
        Categorical("d", ("a", "b")), Numeric("x2", 0.1, 0.4),
    )  # fmt: skip
    if which == "categories":
        features = tuple(one for one in features if isinstance(one, Categorical))
    if which == "even":
        features = tuple(sorted(features, key=lambda one: (isinstance(one, Categorical), one.name != "even")))
    return replace(schema, features=features)


def target_of(schema: Schema) -> str:
    """What its target is: of `TARGETS`."""
    return "regression" if isinstance(schema.target, Interval) else "binary" if schema.scores == 1 else "classes"


def records_of(chance: random.Random, schema: Schema, rows: int) -> Records:
    """Records of dyadic values, many of them equal, on bounds, or missing."""
    x = np.empty((rows, len(schema.features)))
    for column, feature in enumerate(schema.features):
        for row in range(rows):
            if chance.random() < 0.08:
                x[row, column] = np.nan
            elif isinstance(feature, Categorical):
                x[row, column] = chance.randrange(len(feature.categories))
            else:
                eighths = chance.uniform(0, 8) if is_fresh() and chance.random() < 0.5 else chance.randint(0, 8)
                x[row, column] = feature.low + (feature.high - feature.low) * eighths / 8
    target = schema.target
    if isinstance(target, Interval):
        y = np.array([target.low + (target.high - target.low) * chance.randint(0, 16) / 16 for _ in range(rows)])
    else:
        y = np.array([float(chance.randrange(len(target.values))) for _ in range(rows)])
    return make_records(schema, x, y)


def with_far_labels(chance: random.Random, records: Records, side: int) -> Records:
    """The records with labels near one bound, and the first three at the other, the upper one where side is 1.

    A model that starts at the mean of those that are near each other leaves a mean of this side.
    """
    target = records.schema.target
    assert isinstance(target, Interval)
    near = [chance.randint(0, 1) / 16 for _ in range(records.size)]
    share = np.array([15 / 16 if row < 3 else one for row, one in enumerate(near)])
    width = target.high - target.low
    y = target.low + width * share if side > 0 else target.high - width * share
    return make_records(records.schema, records.x, y)


def outside(chance: random.Random, records: Records) -> tuple[Floats, Floats]:
    """Features and labels of records, some moved out of the schema's bounds on either side; categories to unknown
    ones, and to numbers between two.

    Shapes (rows, features) and (rows,). Labels of classes stay.
    """
    schema, x, y = records.schema, records.x.copy(), records.y.copy()
    for column, feature in enumerate(schema.features):
        for row in range(records.size):
            place = chance.randrange(6)
            if isinstance(feature, Categorical):
                x[row, column] = (-0.5, len(feature.categories), x[row, column] + 0.5, *[x[row, column]] * 3)[place]
            elif place < 2:
                far = (feature.high - feature.low) * chance.choice((0.25, 1.0, 1000.0))
                x[row, column] = feature.low - far if place else feature.high + far
    if isinstance(target := schema.target, Interval):
        for row in range(records.size):
            far = (target.high - target.low) * chance.choice((0.125, 1.0, 1000.0))
            y[row] = (target.low - far, target.high + far, y[row])[row % 3]
    return x, y


def params_of(paper: str, **settings: Any) -> Any:
    """Parameters of a paper."""
    given = {**settings, "relation": Relation(settings.get("relation", Relation.ADD_REMOVE))}
    return registry.paper(paper).module.Params(**given)


def settings_of(paper: str, chance: random.Random, target: str) -> dict[str, Any]:
    """Random settings of one small run; of fresh vectors about half of them anywhere in their domain."""
    small = _small(paper, chance, target)
    return wider.settings(paper, chance, small) if is_fresh() else small


def _small(paper: str, chance: random.Random, target: str) -> dict[str, Any]:
    relation = Relation.ADD_REMOVE if paper == "sgbdt" else chance.choice(tuple(Relation))
    both = {
        "epsilon": chance.choice((0.5, 2.0, 8.0)),
        "relation": relation,
        "noise": chance.choice(("discrete", "floating")),
    }
    pick = chance.choice
    if paper == "grove":
        return both | {
            "trees": pick((1, 2, 3)), "depth": pick((1, 2)), "bins": pick((1, 3, 4)), "delta": 1e-5,
            "shrinkage": pick((0.5, 0.3)), "hessian_weight": pick((None, None, 1.0)), "rows": pick((300, 10_000, 30)),
            "threshold_share": pick((0.1, 0.3)), "start_share": pick((None, 0.2)), "explore": pick((0.5, 1.0, 0.25)),
            "residual": pick((None, None, 0.5)), "feature_share": pick((None, 0.0, 0.25)),
            "score_noise": pick((None, 0.1, 2.0)),
        }  # fmt: skip
    own: dict[str, dict[str, Any]] = {
        "dpboost": {
            "trees": pick((1, 2, 3)), "trees_per_ensemble": pick((1, 2)), "depth": pick((1, 2, 2)), "bins": pick((1,
            3, 4)),
            "regularisation": pick((0.1, 1.0, 0.37)), "shrinkage": pick((0.1, 0.5)), "gradients": pick(("filter",
            "clip")),
            "gradient_bound": pick((1.0, 0.75, 0.3)), "candidates": pick(("uniform", "uniform", "log")),
            "scheme": pick(("dpboost", "dpboost", "seq", "para")),
        },
        "inprivate": {
            "owners": pick((1, 2)), "rounds": pick((1, 2)), "depth": pick((2, 3)), "bins": pick((1, 3, 4)),
            "residual_bound": pick((1.0, 0.7)), "leaf_bound": pick((1.0, 0.5)), "damping": pick((4.0, 0.0)),
            "shrinkage": pick((0.5, 1.0)),
        },
        "dpxgboost": {
            "trees": pick((1, 2)), "depth": pick((1, 2)), "bins": pick((2, 3)), "candidates": "uniform",
            "loss": "square" if target == "regression" else pick(("square", "log")), "gain": pick(("newton", "count")),
            "ratio_bound": pick((2.0, 0.7)), "gradient_bound": pick((1.0, 0.3)),
            "missing": pick(("learned", "left")), "leaf": pick(("laplace", "minimum", "average")),
            "child_minimum": pick((1, 4)),
            "subsample": pick((1.0, 0.5)), "sampler": pick(("racing", "gumbel")), "gradients": pick(("filter", "clip")),
        },
        "fedgbdt": {
            "trees": pick((1, 2, 3)), "depth": pick((1, 2)), "bins": pick((1, 3, 4)), "update": pick(("newton",
            "gradient", "averaging")),
            "batch": pick((1, 2)), "leaf_clip": pick((2.0, 0.5)), "delta": 1e-5, "shrinkage": pick((0.3, 1.0)),
        },
        "sgbdt": {
            "trees": pick((1, 2)), "extra_trees": pick((0, 0, 3)), "depth": pick((1, 2)), "grid_points": pick((2, 4)),
            "features": pick(("uniform", "cyclic")), "values": pick(("uniform", "grid")), "initial_share": pick((0.0,
            0.1)),
            "subsample": pick((0.5, 1.0)), "support": pick(("additive", "max")), "regularisation": pick((15.0, 1.0)),
            "delta": 1e-5,
        },
    }  # fmt: skip
    return {**both, **own[paper]}


class MadeSource:
    """Makes up what a run draws, on dyadic grids, and lists it. Not random noise: for vectors alone."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.tape: list[Listed] = []

    def release(self, request: Request) -> Array:
        """Standard draws of about the right size, of the value's shape."""
        mechanism, value = asked(request)
        draws = mechanism.draws(value)
        return TapeSource([self._listed(request, law_of(draws), self.standard(draws))]).release(request)

    def draw(self, request: Request) -> Array:
        """Public draws, of the request's shape."""
        shape = request.size if isinstance(request.size, tuple) else (request.size,)
        count = int(np.prod(shape))
        if request.law[0] == "uniform":
            steps = 4 if request.path[-1] == "columns" else 2**12  # of columns some are equal
            found: Array = np.array([self._chance.randrange(steps) / steps for _ in range(count)])
        else:
            high = request.law[1] if request.law[0] == "integers" else len(request.law[1])
            found = np.array([self._chance.randrange(high) for _ in range(count)], dtype=np.int64)
        return TapeSource([self._listed(request, law_of(request), found.reshape(shape))]).draw(request)

    def assign(self, request: Request) -> NDArray[np.int64]:
        """Secret blocks; of one block that holds everything, that block. Shape (records,)."""
        blocks = len(request.law[1]) if request.law[0] in ("partition", "shares") else 1
        whole = request.law in (("partition", (1.0,)), ("poisson", 1.0))
        size = int(np.prod(request.size))
        found = np.array([0 if whole else self._chance.randint(-1, blocks - 1) for _ in range(size)], dtype=np.int64)
        return TapeSource([self._listed(request, law_of(request), found)]).assign(request)

    def standard(self, draws: Draws) -> Array:
        """Made-up draws of this law; a third of them are 0, so that utilities tie. Of the draws' shape."""
        count = int(np.prod(draws.shape))
        if draws.kind.startswith("discrete"):
            parameter = draws.parameter[0] if isinstance(draws.parameter, tuple) else draws.parameter
            assert isinstance(parameter, Fraction)
            width = int(parameter if draws.kind == "discrete-laplace" else Fraction(float(parameter) ** 0.5)) + 1
            found: Array = np.array([self._one(width) for _ in range(count)], dtype=np.int64)
        elif draws.kind == "exponential":
            found = np.array([(1 + abs(self._one(64))) / 32 for _ in range(count)])
        else:
            found = np.array([self._one(64) / 32 for _ in range(count)])
        return found.reshape(draws.shape)

    def _one(self, width: int) -> int:
        return 0 if self._chance.random() < 1 / 3 else self._chance.randint(-width, width)

    def _listed(self, request: Request, law: tuple[Any, ...], values: Array) -> Listed:
        self.tape.append(Listed(request.path, request.kind, law, own(values)))
        return self.tape[-1]


def run(paper: str, params: Any, records: Records, source: Any) -> tuple[Any, Recorder]:
    """Train on records; the model, and the recorder with the true values."""
    recorder = Recorder(source, params.relation)
    with np.errstate(all="ignore"):
        model = registry.paper(paper).module.train(params, records, Curator(recorder, params.relation))
    return model, recorder
