"""Vectors of single steps: grid, encode, statistics, route, predict; and the list of all single steps."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from refdp.conform.further import FURTHER, LAST
from refdp.conform.made import MadeSource, chance_of, is_fresh, params_of, records_of, run, schema_of, settings_of
from refdp.conform.nodes import mechanism, node, sampler
from refdp.conform.plain import hexed
from refdp.conform.vector import Vector, ensemble_json, floats, params_json, schema_json, wholes
from refdp.data import candidates as grids
from refdp.data import kernels
from refdp.data.candidates import Candidates, inner_uniform_candidate, log_candidate
from refdp.data.losses import GRID
from refdp.data.records import Categorical, Floats, Interval, Numeric, Schema, Tree, clamp_features
from refdp.faces import registry

TARGETS = ("regression", "binary", "classes")
GRIDS = {"dpboost": ("uniform", "log"), "inprivate": ("uniform", "log"), "dpxgboost": ("uniform",),
         "fedgbdt": ("inner-uniform", "inner-log"), "sgbdt": (), "grove": ("uniform",)}  # fmt: skip
BOUNDS = ((0.0, 1.0), (-7.0, 30.0), (0.1, 0.4), (1e-3, 2e-3), (-1.0, 2.0), (5.0, 5.0), (-1e6, 1e6))


def grid(paper: str) -> Iterator[Vector]:
    """Thresholds from public bounds. The two papers' uniform grids differ in the order of their operations."""
    chance = chance_of(paper, "grid")
    drawn = [(low := chance.uniform(-50, 50), low + chance.expovariate(0.1)) for _ in range(8 if is_fresh() else 0)]
    for kind in GRIDS[paper]:
        for low, high in (*BOUNDS, *drawn):
            for count in (1, 2, 3, 7, 10, 32):
                schema = Schema((Numeric("x", low, high), Numeric("other", 0.0, 1.0)), Interval(-1.0, 1.0))
                made = _grid(kind, schema, count)
                flags = ("EqualBounds",) if low == high else ("GridFormula",)
                body = {"grid": kind, "low": hexed(low), "high": hexed(high), "count": count}
                loose = {"log": {"ulps": 64}, "inner-log": {"ulps": 4096}}.get(
                    kind, {}
                )  # the second one cancels digits
                yield Vector("grid", f"{count} thresholds on [{low}, {high}]", body,
                             {"thresholds": floats(made.thresholds[0])}, flags, tolerance=loose)  # fmt: skip


def _grid(kind: str, schema: Schema, count: int) -> Candidates:
    if not kind.startswith("inner"):
        return (grids.uniform if kind == "uniform" else grids.logarithmic)(schema, count)
    formula = inner_uniform_candidate if kind == "inner-uniform" else log_candidate
    return grids.on_bounds(schema, lambda f: formula(np.arange(1, count + 1), count, f.low, f.high))


def encode(paper: str) -> Iterator[Vector]:
    """Codes: ties, missing values, one ulp beside a threshold, unknown categories."""
    chance = chance_of(paper, "encode")
    for number in range(40):
        thresholds = np.array(
            sorted({chance.randint(-8, 8) / 4 for _ in range(chance.randint(0, 6))}), dtype=np.float64
        )
        beside = [side for t in thresholds for side in (t, math.nextafter(t, -math.inf), math.nextafter(t, math.inf))]
        column = np.array([*beside, math.nan, -0.0, 0.0, -1e300, 1e300], dtype=np.float64)
        yield Vector(
            "encode", f"{len(thresholds)} thresholds, each value on one, an ulp beside, missing, beyond",
            {"thresholds": floats(thresholds), "column": floats(column)},
            {"codes": wholes(kernels.encode_ordered(column, thresholds))},
            ("TieAtThreshold", "OneUlpBeside", "Missing"),
        )  # fmt: skip
        if number < 10:
            schema = Schema((Categorical("c", tuple("abcdefgh"[: 1 + number % 5])),), Interval(0.0, 1.0))
            raw = np.array([0.0, 0.5, 4.0, -1.0, -2.0, 7.0, math.nan, 1.0])
            codes = kernels.encode_categories(clamp_features(schema, raw[:, None])[:, 0], 1 + number % 5)
            yield Vector(
                "encode", f"{1 + number % 5} categories, some unknown",
                {"categories": 1 + number % 5, "column": floats(raw)}, {"codes": wholes(codes)},
                ("UnknownCategory", "Missing"),
            )  # fmt: skip
    schema = Schema((Categorical("c", ("a", "b", "c")),), Interval(0.0, 1.0))
    raw = np.array([-0.5, -0.0, -(2.0**-30), 0.75, 2.9375, 3.0, 3.5])
    codes = kernels.encode_categories(clamp_features(schema, raw[:, None])[:, 0], 3)
    yield Vector("encode", "3 categories, some between two", {"categories": 3, "column": floats(raw)},
                 {"codes": wholes(codes)}, ("UnknownCategory",))  # fmt: skip


def statistics(paper: str) -> Iterator[Vector]:
    """Labels and statistics of records, half-way cases of the grid 2^-24 among them."""
    plain: dict[str, Any] = {}
    cases = [(chance_of(paper, "statistics", number), TARGETS[number % 3], plain) for number in range(45)]
    cases += [(chance_of(paper, "further statistics", number), one.target, one.settings)
              for number, one in enumerate(FURTHER[paper])]  # fmt: skip
    cases += [(chance_of(paper, "last statistics", number), one.target, one.settings)
              for number, one in enumerate(LAST[paper])]  # fmt: skip
    for chance, target, fixed in cases:
        schema = schema_of(chance, target)
        params = params_of(paper, **(settings_of(paper, chance, target) | fixed))
        comment = f"{target}: half-way cases, large scores, the filter's edge"
        yield _statistics(paper, chance, params, schema, _labels(schema, chance, 12), comment)
    for number in range(6):
        chance = chance_of(paper, "statistics outside", number)
        schema = schema_of(chance, "regression")
        fixed = {"update": ("averaging", "gradient")[number % 2]} if paper == "fedgbdt" else {}
        params = params_of(paper, **(settings_of(paper, chance, "regression") | fixed))
        y = _labels(schema, chance, 12)
        assert isinstance(schema.target, Interval)
        low, high = schema.target.low, schema.target.high
        far = (high - low) * np.array([0.0, 2.0**-20, 0.125, 1.0, 1000.0, 1e9])
        y[:6], y[6:] = high + far, low - far
        comment = "regression: labels outside their bounds"
        yield _statistics(paper, chance, params, schema, y, comment, ("LabelNotMoved",))


def _statistics(
    paper: str, chance: random.Random, params: Any, schema: Schema, y: Floats, comment: str,
    flags: tuple[str, ...] = ("HalfWayToEven", "FilterAfterRounding", "HessianFromGradient"),
) -> Vector:  # fmt: skip
    """Statistics of twelve records. y: labels as they are given, shape (12,)."""
    names = ("r", "c") if paper == "inprivate" else ("g", "h")
    contribution = registry.paper(paper).module.Contribution(params, schema)
    half = [(chance.randint(-(2**20), 2**20) + 0.5) * GRID for _ in range(4)]
    score = np.array(
        [*half, *(chance.randint(-64, 64) / 32 for _ in range(6)), 0.0, chance.choice((900.0, -900.0, 3.0))]
    )
    output = chance.randrange(schema.scores)
    inside = np.clip(y, schema.target.low, schema.target.high) if isinstance(schema.target, Interval) else y
    label = contribution.label(output, inside)
    with np.errstate(all="ignore"):
        found = contribution.statistics(score, label, ("g", "h"))
    used = np.ones(12, dtype=np.int64) if found.used is None else found.used.astype(np.int64)
    expect: dict[str, Any] = {"label": floats(label), "used": wholes(used)}
    for name in names:
        column = found.values.get(name)
        expect[name] = floats(np.ones(12) if column is None else column)
    body = {"params": params_json(params), "schema": schema_json(schema), "output": output,
            "score": floats(score), "y": floats(y)}  # fmt: skip
    return Vector("statistics", comment, body, expect, flags)


def _labels(schema: Schema, chance: random.Random, rows: int) -> Floats:
    if isinstance(schema.target, Interval):
        low, high = schema.target.low, schema.target.high
        return np.array([low + (high - low) * chance.randint(0, 16) / 16 for _ in range(rows)])
    classes = len(schema.target.values)
    return np.array([float(chance.randrange(classes)) for _ in range(rows)])


def route(paper: str) -> Iterator[Vector]:
    """Leaves of records in full trees: ties with thresholds, missing values, categories, default directions."""
    for number in range(40):
        chance = chance_of(paper, "route", number)
        schema = schema_of(chance, "regression")
        records = records_of(chance, schema, 10)
        depth, columns = chance.choice((1, 2, 3)), 3 if paper == "dpxgboost" else 2
        splits = np.zeros((2**depth - 1, columns))
        for k in range(len(splits)):
            f = chance.randrange(len(schema.features))
            feature = schema.features[f]
            value: float = 0.0
            if isinstance(feature, Numeric):
                value = feature.low + (feature.high - feature.low) * chance.randint(0, 8) / 8
            else:
                value = float(chance.randrange(len(feature.categories)))
            splits[k, :2] = f, value
            if columns == 3:
                splits[k, 2] = float(chance.randrange(2))
        categorical = np.array([isinstance(feature, Categorical) for feature in schema.features])
        leaf = Tree(splits, np.zeros(2**depth)).leaf_index(records.x, categorical)
        body = {"x": floats(records.x), "splits": floats(splits), "categorical": wholes(categorical.astype(np.int64))}
        yield Vector("route", f"a tree of depth {depth}, values on its thresholds", body, {"leaf": wholes(leaf)},
                     ("TieAtThreshold", "LeafNumbering", "MissingLeft", "WrongSibling"))  # fmt: skip


def predict(paper: str) -> Iterator[Vector]:
    """Scores of new records: clamped to the public bounds, summed tree by tree in order."""
    for number in range(40):
        chance = chance_of(paper, "predict", number)
        target = TARGETS[number % 3]
        schema = schema_of(chance, target)
        params = params_of(paper, **settings_of(paper, chance, target))
        model, _ = run(paper, params, records_of(chance, schema, 6), MadeSource(chance))
        x = records_of(chance, schema, 8).x.copy()
        x[0, 0], x[1, 0] = 1e9, -1e9
        body = {"schema": schema_json(schema), "model": [ensemble_json(one) for one in model.outputs], "x": floats(x)}
        found = model.scores(clamp_features(schema, x))
        yield Vector("predict", f"{target}: raw scores, (rows, scores)", body, {"scores": floats(found)},
                     ("LeafNumbering", "OrderOfOperations", "ClampFeatures"))  # fmt: skip


PARTS = {"grid": grid, "encode": encode, "statistics": statistics, "node": node, "mechanism": mechanism,
         "route": route, "predict": predict, "sampler": sampler}  # fmt: skip
