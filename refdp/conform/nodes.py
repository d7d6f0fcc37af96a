"""Vectors of sums, utilities, leaf values, mechanisms and samplers."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from refdp.conform.further import FURTHER
from refdp.conform.made import MadeSource, chance_of, params_of, records_of, schema_of, settings_of
from refdp.conform.plain import hexed, mechanism_out
from refdp.conform.vector import CHOICES, Vector, floats, params_json, schema_json, wholes
from refdp.data import candidates as grids
from refdp.data import kernels, sketch
from refdp.data.candidates import Candidates
from refdp.data.codes import Dense
from refdp.data.losses import GRID, grid_floor
from refdp.data.records import Classes, Floats, Interval, Numeric, Schema
from refdp.noise.draws import Draws
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, Mechanism
from refdp.noise.samplers import discrete_gaussian, discrete_laplace

TARGETS = ("regression", "binary", "classes")
NOTHING: Mapping[str, Any] = {}


def node(paper: str) -> Iterator[Vector]:
    """Sums in bins and nodes; utilities or scores from sums; leaf values from sums."""
    for number in range(40):
        chance = chance_of(paper, "node", number)
        yield _sums(chance)
        if number < 36:
            yield from NODES[paper](paper, chance)
    for number, one in enumerate(FURTHER[paper] if paper != "grove" else ()):
        yield from NODES[paper](paper, chance_of(paper, "further node", number), one.target, one.settings)
    if paper == "dpxgboost":
        for number in range(6):
            yield from _parted(chance_of(paper, "parted", number))
    if paper == "grove":
        yield from (_on_edges(chance_of(paper, "edges", number)) for number in range(6))


def _candidates(chance: random.Random) -> tuple[Schema, Candidates]:
    schema = schema_of(chance, "regression")
    return schema, grids.uniform(schema, chance.choice((1, 2, 3)))


def _candidates_json(candidates: Candidates) -> dict[str, Any]:
    return {"thresholds": [floats(t) for t in candidates.thresholds],
            "categorical": wholes(candidates.categorical.astype(np.int64))}  # fmt: skip


def _sums(chance: random.Random) -> Vector:
    schema, candidates = _candidates(chance)
    records = records_of(chance, schema, chance.choice((1, 5, 12)))
    g = np.array([chance.choice((chance.randint(-(2**25), 2**25), 0, 1)) * GRID for _ in range(records.size)])
    codes, depth = Dense.of(records.x, candidates), chance.choice((1, 2))
    splits = np.array([candidates.values[chance.randrange(len(candidates.values))] for _ in range(2**depth - 1)])
    member, tables = np.zeros(records.size, dtype=np.int64), []
    for level in range(depth):
        tables.append(codes.bin_sums(candidates.features, member, 2**level, [g, None], None))
        member = codes.route(member, splits[2**level - 1 : 2 ** (level + 1) - 1])
    body = {
        "x": floats(records.x),
        "g": floats(g),
        "candidates": _candidates_json(candidates),
        "splits": floats(splits),
    }
    expect = {"bins": [floats(table) for table in tables],
              "nodes": floats(kernels.leaf_sums(member, 2**depth, [g, None]))}  # fmt: skip
    return Vector("sums", "sums of g and counts by node and bin; missing values have bin 0 and go left", body,
                  expect, ("MissingLeft", "WrongSibling", "EmptyNode"))  # fmt: skip


def _table(chance: random.Random, candidates: Candidates, nodes: int, signed: bool = True) -> Floats:
    """Sums of g and counts in bins that could be those of records: every feature's bins have the same total."""
    members = chance.choice((0, 1, 4, 9))
    table = np.zeros((2, nodes, int(candidates.bins.sum())))
    for k in range(nodes):
        for _ in range(members):
            g = chance.randint(-(2**24), 2**24) * GRID if signed else chance.choice((-0.5, 0.5, 1.0))
            for f in range(len(candidates.bins)):
                place = candidates.offsets[f] + chance.randrange(int(candidates.bins[f]))
                table[:, k, place] += (g, 1.0)
    return table


def _utilities(
    paper: str, chance: random.Random, target: str = "regression", fixed: Mapping[str, Any] = NOTHING
) -> Iterator[Vector]:
    from refdp.papers import dpboost, dpxgboost, inprivate

    schema, candidates = _candidates(chance)
    settings = {**settings_of(paper, chance, target), **fixed}
    if paper == "dpxgboost":
        settings |= {"loss": "square", "gain": "count"}
    params = params_of(paper, **settings)
    table = _table(chance, candidates, chance.choice((1, 2)), chance.random() < 0.5)
    if paper == "dpxgboost":
        utility = dpxgboost.gains(params, candidates, table, np.arange(len(candidates.values)))[0]
    else:
        left, right = candidates.sides(table)
        four = left[0], left[1], right[0], right[1]
        utility = inprivate.gain(*four) if paper == "inprivate" else dpboost.gain(*four, params.regularisation)
    body = {"params": params_json(params), "schema": schema_json(schema), "candidates": _candidates_json(candidates),
            "table": floats(table)}  # fmt: skip
    yield Vector("utilities", "utility of every candidate of every node, ties among them", body,
                 {"utility": floats(utility)}, ("MissingLeft", "EmptyNode", "OrderOfOperations"),
                 tolerance=CHOICES.get(paper, {}))  # fmt: skip


def _leaves(
    paper: str, chance: random.Random, target: str | None = None, fixed: Mapping[str, Any] = NOTHING
) -> Iterator[Vector]:
    from refdp.own import grove
    from refdp.papers import dpboost, dpxgboost, fedgbdt, sgbdt

    target = target or TARGETS[chance.randrange(3)]
    schema = schema_of(chance, target)
    params = params_of(paper, **{**settings_of(paper, chance, target), **fixed})
    g = np.array([chance.randint(-(2**26), 2**26) * GRID for _ in range(4)])
    n = np.array([float(chance.choice((0, 1, 3, 50))) for _ in range(4)])
    g = np.where(n == 0, 0.0, g)
    noisy = chance.choice((0.0, -0.75, 0.5)) + n
    body: dict[str, Any] = {"params": params_json(params), "schema": schema_json(schema)}
    match paper:
        case "dpboost":
            clip = chance.choice((1.0, 0.5, 0.1))
            sums, body["clip"] = np.stack([g, n]), hexed(clip)
            value = np.clip(dpboost.leaf_value(g, n, params.regularisation), -clip, clip)
        case "dpxgboost":
            sums = np.stack([g, n])
            value = np.asarray(dpxgboost.padded_leaf_value(g, n, params.padding, params.regularisation))
        case "inprivate":
            sums, mechanism = np.stack([g, noisy]), Laplace(chance.choice((0.5, 3.0)))
            body["mechanism"] = mechanism_out(mechanism)
            value = params.coefficients(mechanism, sums)
        case "fedgbdt":
            sums = np.stack([g, noisy])
            value = fedgbdt.leaf_values(params, schema, sums)
        case "grove":
            sums, unit = np.stack([g, noisy]), chance.choice((1.0, 0.25))
            params = params if unit == 1 else replace(params, trees=None, rows=10**9)
            body |= {"params": params_json(params)}
            body |= {"mechanism": mechanism_out(params.leaf_charge(schema).mechanism), "unit": hexed(unit)}
            value = grove.leaf_values(sums.T, params.padding(schema), unit)
        case _:
            sums = np.stack([g, noisy - 20.0 * (chance.random() < 0.3)])
            value = sgbdt.leaf_values(params, sums.T)
    yield Vector("leaves", "leaf values from sums; a leaf without records is -0.0, a support that is not positive", body
                 | {"sums": floats(sums)}, {"values": floats(value)},
                 ("EmptyLeafNegativeZero", "ClipLeaf", "NotPositiveSupport"))  # fmt: skip


def _scores(
    paper: str, chance: random.Random, target: str = "binary", fixed: Mapping[str, Any] = NOTHING
) -> Iterator[Vector]:
    from refdp.papers import fedgbdt

    params = params_of(paper, **{**settings_of(paper, chance, target), **fixed})
    left, right = (
        np.array([[chance.randint(-256, 256) / 32 for _ in range(4)], [chance.randint(-32, 96) / 32 for _ in range(4)]])
        for _ in range(2)
    )
    found = fedgbdt.split_scores(params, left, right)
    yield Vector("scores", "scores of splits from released sums, some not positive",
                 {"params": params_json(params), "left": floats(left), "right": floats(right)},
                 {"scores": floats(found)}, ("NotPositiveSupport", "OrderOfOperations"))  # fmt: skip


def _on_edges(chance: random.Random) -> Vector:
    """A tree of Grove whose features are drawn on the edges between their shares, and just below them."""
    from refdp.own import grove

    target = Interval(-1.0, 1.0) if chance.random() < 0.5 else Classes(("no", "yes"))
    schema = Schema(tuple(Numeric(f"x{f}", 0.0, 1.0) for f in range(4)), target)
    params = params_of("grove", epsilon=2.0, depth=3, explore=chance.choice((0.1, 0.3)))
    candidates = grids.uniform(schema, 2)
    credit, seen = (np.array([chance.uniform(1.0, 60.0) for _ in range(4)]) for _ in "ab")
    learnt = grove.Learnt(credit, np.zeros(4), seen, np.full(1, np.nan), 0.0, 0.0)
    edges = np.cumsum(grove.chances(params, schema, learnt, list(range(4)), 40))
    on = (edges / edges[-1])[:-1]
    which = np.array([*on, *np.nextafter(on, 0.0), chance.random()])
    where = np.array([chance.random() for _ in which])
    splits = grove.random_tree(params, schema, candidates, learnt, 40, which, where)
    body = {"params": params_json(params), "schema": schema_json(schema), "credit": floats(credit),
            "doubt": floats(learnt.doubt), "seen": floats(seen), "parted": floats(np.zeros(2)),
            "candidates": _candidates_json(candidates), "number": 40, "which": floats(which),
            "where": floats(where)}  # fmt: skip
    return Vector("tree", "splits of a random tree, all draws on edges or just below", body,
                  {"splits": floats(splits)}, ("TieBroken", "OrderOfOperations"))  # fmt: skip


def _both(first: Any, second: Any) -> Any:
    def made(paper: str, chance: random.Random, *further: Any) -> Iterator[Vector]:
        yield from first(paper, chance, *further)
        yield from second(paper, chance, *further)

    return made


def _parted(chance: random.Random) -> Iterator[Vector]:
    """DP-XGBoost's sketch of one feature, and utilities of its medians: weights with ties at every rank."""
    weights, count = [chance.choice((-1.0, 0.0, 1.0, 1.0, 2.0)) for _ in range(12)], chance.choice((3, 4))
    kept = [max(one, 0.0) for one in weights]
    weights.append(2 * sum(kept) / (count - 2))  # so that a rank is the middle of the last bin
    found = sketch.quantile_edges(np.array(weights), count)
    yield Vector("edges", "ranks on edges of bins and in the middle of the last one", {
        "weights": floats(weights), "count": count}, {"edges": wholes(found)}, ("TieBroken",))  # fmt: skip
    chosen, most = np.array(chance.choices(range(1, 12), k=3)), 13 + chance.choice((0, 2))
    utility = sketch._medians(np.array(kept), chosen, most)
    yield Vector("medians", "edges at the ends of intervals, equal ones, and beyond a feature's bins", {
        "weights": floats(kept), "chosen": wholes(chosen), "most": most},
        {"utility": floats(utility)}, ("TieBroken", "OrderOfOperations"))  # fmt: skip


def _noisy_counts(chance: random.Random, thresholds: int) -> Floats:
    """Counts of a feature's bins, some below 0, many of them in one bin now and then, or none at all."""
    counts = [chance.choice((0.0, 0.0, 1.0, 40.0)) * chance.uniform(-0.3, 1.0) for _ in range(thresholds + 2)]
    counts[chance.randrange(thresholds + 2)] += chance.choice((0.0, 1e4))
    return np.array(counts) * chance.choice((0.0, 1.0, 1.0, 1.0))


def _steered(paper: str, chance: random.Random) -> Iterator[Vector]:
    """Grove's steps between releases: thresholds, centre, trees, and what is learnt from sums."""
    from refdp.own import grove

    schema = schema_of(chance, target := TARGETS[chance.randrange(3)])
    params = params_of(paper, **settings_of(paper, chance, target))
    kind = Numeric("x", chance.choice((-3.0, 0.1, 0.0)), chance.choice((0.7, 7.0, 1e4)))
    first = Schema((kind,), schema.target)
    coarse = grove.coarse_cells(first, (0,), closer=chance.random() < 0.5)
    noisy = _noisy_counts(chance, len(coarse.thresholds[0]))
    deviation = chance.choice((0.25, 1.0, 30.0)) * chance.uniform(0.5, 1.0)
    fine = grove.between(first, coarse, (0,), noisy, deviation)
    yield Vector("between", "finer thresholds from noisy counts, many of them in one bin, or none", {
        "edges": floats(grove.edges_of(first, coarse, 0)), "noisy": floats(noisy), "deviation": hexed(deviation)},
        {"thresholds": floats(fine.thresholds[0])}, ("MissingLeft", "OrderOfOperations"))  # fmt: skip
    noisy = _noisy_counts(chance, grove.FINE)
    found = grove.quantiles(params, first, fine, (0,), noisy, deviation)
    yield Vector("quantiles", "thresholds from noisy counts, many of them in one bin, or none", {
        "params": params_json(params), "edges": floats(grove.edges_of(first, fine, 0)), "noisy": floats(noisy),
        "deviation": hexed(deviation)},
        {"thresholds": floats(found.thresholds[0])}, ("MissingLeft", "OrderOfOperations"))  # fmt: skip
    within, bins = chance.choice((0.0, 3.0, 9.0)), chance.choice((8, 16, 32, grove.LABEL_BINS))
    low, top = sorted(chance.randrange(bins) for _ in "ab")
    noisy = np.array([chance.uniform(-5.0, 9.0) + within * (low <= k <= top) for k in range(bins)])
    noisy, least = noisy * chance.choice((0.0, 1.0, 1.0, 1.0)), chance.uniform(1.0, 7.0)
    kept = grove.in_one_piece(noisy, chance.choice((1.0, 0.5, 0.0)) * least)
    rows = max(round(float(kept.sum()) * chance.choice((0.9, 1.15, 1.15, 1.4))), 1)
    centre, scale = grove.centre_and_scale(grove.most_of(noisy, least, rows))
    unit = grid_floor(least / 8)
    yield Vector("narrower", "c from what was released of residuals, or c as it was", {
        "noisy": floats(noisy), "least": hexed(least), "unit": hexed(unit), "rows": rows},
        {"unit": hexed(grove.narrower(unit, noisy, least, rows))}, ("OrderOfOperations",))  # fmt: skip
    yield Vector("centre", "centre and 85% point of labels from noisy counts, those of one run of bins", {
        "noisy": floats(noisy), "least": hexed(least), "rows": rows},
        {"centre": hexed(centre), "scale": hexed(scale)}, ("OrderOfOperations",))  # fmt: skip
    deep = not isinstance(schema.target, Interval) and chance.random() < 0.6
    params = replace(params, rows=10**9, epsilon=max(params.epsilon, 0.5), depth=None) if deep else replace(
        params, depth=chance.choice((1, 2, 3)))  # fmt: skip
    features, depth = len(schema.features), params.levels(schema)
    candidates = grids.uniform(schema, chance.choice((1, 2, 4)))
    if numeric := grove.numeric(schema):
        absent = np.array([chance.choice((0.0, 1e6)) for _ in numeric])
        candidates = grove.parting_missing(schema, candidates, numeric, absent, 1.0)
    credit = np.array([chance.choice((0.0, 0.0, chance.uniform(-1.0, 60.0))) for _ in range(features)])
    doubt = np.array([chance.choice((0.0, chance.uniform(0.0, 900.0))) for _ in range(features)])
    seen = np.array([1e-9 + chance.choice((0, 3, 17)) for _ in range(features)])
    which, where = (np.array([chance.choice((0.0, 0.5, chance.random())) for _ in range(2**depth - 1)]) for _ in "ab")
    looked = float(chance.choice((39, 39, 40, 40)) * schema.scores)
    learnt = grove.Learnt(
        credit, doubt, seen, np.full(schema.scores, np.nan), looked * chance.choice((0.9, 1.0, 4.0, 4.0)), looked
    )
    number = chance.choice((0, 1, 40))
    splits = grove.random_tree(params, schema, candidates, learnt, number, which, where)
    own = {"params": params_json(params), "schema": schema_json(schema), "credit": floats(credit),
           "doubt": floats(doubt), "seen": floats(seen),
           "parted": floats(np.array([learnt.parted, learnt.looked]))}  # fmt: skip
    yield Vector("tree", "splits of a random tree, draws on edges among them", {
        **own, "candidates": _candidates_json(candidates), "number": number, "which": floats(which),
        "where": floats(where)}, {"splits": floats(splits)}, ("TieBroken", "OrderOfOperations"))  # fmt: skip
    g, h = (np.array([chance.uniform(low, top) for _ in range(2**depth)]) for low, top in ((-4e3, 4e3), (-400.0, 4e3)))
    there = grove.where_records_are(params, schema, learnt, np.column_stack([g, h]))
    after = grove.learnt_from(params, schema, learnt, splits, there, params.deviation(schema))
    yield Vector("learn", "credit of features from sums of leaves, and what the last level parted", {
        **own, "splits": floats(splits), "sums": floats(np.stack([g, h])),
        "mechanism": mechanism_out(params.leaf_charge(schema).mechanism)},
        {"credit": floats(after.credit), "doubt": floats(after.doubt), "seen": floats(after.seen),
         "parted": floats(np.array([after.parted, after.looked]))},
        ("OrderOfOperations", "NotPositiveSupport"))  # fmt: skip
    params, feature = replace(params, feature_share=0.3), chance.choice(grove.splittable(schema))
    s, before = params.first_deviation(schema), chance.choice(((), (0.25,), (4.0,)))
    g = np.array([chance.uniform(-1, 1) * chance.choice((1.0, 5.0, 100.0)) * s for _ in range(6)])
    h = np.array([chance.choice((-1.0, 0.1, 1.0, 9.0)) * chance.random() * s for _ in range(6)])
    known = replace(learnt, priors=np.full(schema.scores, before[0] if before else np.nan))
    unit, output = chance.choice((1.0, 0.25)), chance.randrange(schema.scores)
    after, leaves = grove.bin_values(params, schema, known, output, feature, np.column_stack([g, h]), unit)
    yield Vector("bins", "values of a feature's bins in the first pass, and its credit", {
        **own, "params": params_json(params), "feature": feature, "before": floats(np.array(before)),
        "sums": floats(np.stack([g, h])), "unit": hexed(unit),
        "mechanism": mechanism_out(params.first_charge(schema).mechanism)},
        {"values": floats(leaves), "prior": hexed(float(after.priors[output])), "credit": floats(after.credit),
         "doubt": floats(after.doubt), "seen": floats(after.seen)},
        ("OrderOfOperations", "NotPositiveSupport"))  # fmt: skip
    begin = chance.choice((-32.0, -3.0, 0.0, 0.1, 10.0, 2.0**26))
    wide = Numeric("x", begin, begin + chance.choice((0.7, 32.0, 64.0, 1e7)))
    closer = chance.random() < 0.9
    found = grove.coarse_cells(Schema((wide,), schema.target), (0,), closer)
    yield Vector("coarse", "thresholds of the first histogram, where its noise allows it some closer to 0", {
        "low": hexed(wide.low), "high": hexed(wide.high), "closer": closer},
        {"thresholds": floats(found.thresholds[0])}, ("OrderOfOperations",))  # fmt: skip
    s, a, noisy = chance.uniform(0.5, 2.0), chance.choice((0.3, 1.0)), np.array([chance.uniform(-9, 9) for _ in "ab"])
    noisy[1] += chance.choice((0.0, 40.0))
    yield Vector("left", "the mean of what all trees leave, from its released sum and number of records", {
        "noisy": floats(noisy), "deviation": hexed(s), "weight": hexed(a)},
        {"mean": hexed(grove.mean_left(noisy, s, a))}, ("OrderOfOperations", "NotPositiveSupport"))  # fmt: skip


NODES: dict[str, Any] = {
    "dpboost": _both(_utilities, _leaves), "inprivate": _both(_utilities, _leaves),
    "dpxgboost": _both(_utilities, _leaves), "fedgbdt": _both(_scores, _leaves), "sgbdt": _leaves,
    "grove": _both(_leaves, _steered),
}  # fmt: skip

MECHANISMS: dict[str, tuple[str, ...]] = {
    "dpboost": ("Laplace", "DiscreteLaplace", "Exponential"), "inprivate": ("Laplace", "DiscreteLaplace",
    "Exponential"),
    "dpxgboost": ("Laplace", "DiscreteLaplace", "Exponential", "Racing"), "fedgbdt": ("Gaussian", "DiscreteGaussian"),
    "sgbdt": ("Gaussians", "DiscreteGaussians", "DiscreteLaplace"),
    "grove": ("Gaussian", "Gaussians", "DiscreteGaussian", "DiscreteGaussians"),
}  # fmt: skip


def mechanism(paper: str) -> Iterator[Vector]:
    """True value and standard draws to output: snapping, grids, ties of the argmax."""
    for kind in MECHANISMS[paper]:
        for number in range(60 if paper in ("fedgbdt", "sgbdt") else 40):
            chance = chance_of(paper, kind, number)
            scale = chance.choice((1.0, 0.3, 2.5, 1 / 3, 1e-3))
            made: dict[str, Mechanism] = {
                "Laplace": Laplace(scale), "DiscreteLaplace": DiscreteLaplace(scale, 2.0**-12),
                "Gaussian": Gaussian(scale), "DiscreteGaussian": DiscreteGaussian(scale, 2.0**-12),
                "Gaussians": Gaussian((scale, 2 * scale)), "DiscreteGaussians": DiscreteGaussian((scale, scale / 2),
                GRID),
                "Exponential": Exponential(scale), "Racing": Exponential(scale, "racing"),
            }  # fmt: skip
            yield _application(made[kind], chance)
        if kind in ("Exponential", "Racing"):
            yield from _narrow("gumbel" if kind == "Exponential" else "racing")
    yield from _of_all_bits(paper)


def _of_all_bits(paper: str) -> Iterator[Vector]:
    """Floating noise of scales that are powers of 2 or just beside, on values and draws that use every bit."""
    for kind in ("Laplace", "Gaussian"):
        if any(one.startswith(kind) for one in MECHANISMS[paper]):
            for number, scale in enumerate((1.0, 0.125, 2.0**20, math.nextafter(4.0, 0.0), math.nextafter(4.0, 9.0))):
                chance = chance_of(paper, "all bits", kind, number)
                several = "Gaussians" in MECHANISMS[paper] and kind == "Gaussian"
                one: Mechanism = Laplace(scale) if kind == "Laplace" else Gaussian((scale, 0.5) if several else scale)
                value, standard = (np.array([[chance.uniform(-3, 3) for _ in range(2)]]) for _ in "ab")
                body = {"mechanism": mechanism_out(one), "value": floats(value), "standard": floats(standard)}
                yield Vector("apply", f"{kind} of scale {scale}, every bit in use", body,
                             {"output": floats(one.apply(value, standard))}, ("ScaleOff", "SnapToGrid"))  # fmt: skip


def _narrow(sampler: Literal["gumbel", "racing"]) -> Iterator[Vector]:
    """Choices that a coefficient 1% off turns round."""
    for coefficient in (1.0, 0.3, 2.5, 0.125, 4.0):
        for part in (0.99, 1.01):
            one = Exponential(coefficient, sampler)
            ahead = round(coefficient * part * 2**20) / 2**20
            standard = np.array(
                [[ahead, 0.0] if sampler == "gumbel" else [round(math.exp(-ahead) * 2**30) / 2**30, 1.0]]
            )
            value = np.array([[0.0, 1.0]])
            body = {"mechanism": mechanism_out(one), "value": floats(value), "standard": floats(standard)}
            yield Vector("apply", f"coefficient {coefficient}: draws {part} of what makes up for the utility", body,
                         {"index": wholes(one.apply(value, standard))}, ("CoefficientOff", "WrongRange"),
                         tolerance={"choices": 4})  # fmt: skip


def _application(one: Mechanism, chance: random.Random) -> Vector:
    rows = chance.choice((1, 2))
    columns = 2 if isinstance(one, Gaussian | DiscreteGaussian) else chance.choice((1, 3, 5))
    value = np.array([[chance.randint(-32, 32) / 8 for _ in range(columns)] for _ in range(rows)])
    flags: tuple[str, ...] = ("ScaleOff", "SnapToGrid")
    if isinstance(one, DiscreteLaplace | DiscreteGaussian):
        value = value + chance.choice((0.0, 0.5, 0.25, -1.5)) * one.step  # half-way between two points of the grid
        flags = ("HalfWayToEven", "StepOfNoise")
    if isinstance(one, Exponential):
        value = np.where(np.arange(columns) > 0, np.where(value > 3, -np.inf, value), value)
        flags = ("TieBroken", "ExcludedOption")
    draws = one.draws(value)
    source = MadeSource(chance)
    standard = source.standard(Draws(draws.kind, draws.shape, draws.parameter))
    body = {"mechanism": mechanism_out(one), "value": floats(value),
            "standard": wholes(standard) if standard.dtype.kind == "i" else floats(standard)}  # fmt: skip
    found = one.apply(value, standard)
    answer = {"index": wholes(found)} if isinstance(one, Exponential) else {"output": floats(found)}
    loose = {"choices": 4} if isinstance(one, Exponential) else {}
    return Vector(
        "apply", f"{type(one).__name__} on a value of shape {value.shape}", body, answer, flags, tolerance=loose
    )


class HexBits:
    """Bits from a byte string, the lowest bit of the first byte first; as many as n - 1 has, again until below n."""

    def __init__(self, data: bytes) -> None:
        self._bits, self.used = int.from_bytes(data, "little"), 0

    def randbelow(self, n: int) -> int:
        """Uniform on 0..n-1."""
        size = (n - 1).bit_length()
        while True:
            found = (self._bits >> self.used) & ((1 << size) - 1)
            self.used += size
            if found < n:
                return found


def sampler(paper: str) -> Iterator[Vector]:
    """Bits to discrete noise, by the algorithms of Canonne, Kamath and Steinke as the specification orders them."""
    law = "discrete-gaussian" if paper in ("fedgbdt", "sgbdt", "grove") else "discrete-laplace"
    for number in range(30):
        chance = chance_of(paper, "sampler", number)
        parameter = Fraction(chance.choice((1, 3, 7, 1025, 2**20 + 1)), chance.choice((1, 2, 5)))
        data = chance.randbytes(4000)
        bits, draw = HexBits(data), discrete_laplace if law == "discrete-laplace" else discrete_gaussian
        found = draw(parameter, 4, bits)
        shown = data[: (bits.used + 7) // 8 + 8]
        body = {"law": law, "parameter": str(parameter), "count": 4, "bits": shown.hex()}
        yield Vector("sample", f"{law} of parameter {parameter}", body,
                     {"values": wholes(found), "used": bits.used}, ("SignOfZero", "FloatInSampler"))  # fmt: skip
