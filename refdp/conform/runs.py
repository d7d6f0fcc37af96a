"""Vectors of whole runs: plan, train, negative, neighbour, account, statistical."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from refdp.accounting import account as account_of
from refdp.conform.further import FURTHER, LAST, SEVERAL, WHOLE, Further
from refdp.conform.made import (
    MadeSource,
    chance_of,
    is_fresh,
    outside,
    params_of,
    records_of,
    run,
    schema_of,
    settings_of,
    target_of,
    with_far_labels,
    with_features,
)
from refdp.conform.plain import hexed, mechanism_out, sensitivity_out
from refdp.conform.vector import (
    CHOICES,
    Vector,
    floats,
    outcome_json,
    params_json,
    records_json,
    schema_json,
    tape_json,
)
from refdp.data.records import Floats, Interval, Numeric, Records, Schema, make_records
from refdp.faces import registry
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, Mechanism
from refdp.privacy.curator import Array
from refdp.privacy.events import (
    Event,
    Parallel,
    Partition,
    Plan,
    Relation,
    Release,
    Repeat,
    Sensitivity,
    Sequential,
    Subsample,
    expand,
    releases,
)
from refdp.privacy.sources import Listed
from refdp.privacy.tape import TapeSource

TARGETS = ("regression", "binary", "classes")
RUNS, OUTSIDE = 40, 6
WIDE: dict[str, tuple[dict[str, Any], ...]] = {
    "dpboost": ({"bins": 300, "depth": 6}, {"trees": 1}), "inprivate": ({"bins": 300, "depth": 6}, {"owners": 1}),
    "dpxgboost": ({"bins": 250, "depth": 6}, {"trees": 1}), "fedgbdt": ({"bins": 300, "depth": 6}, {"trees": 2}),
    "sgbdt": ({"grid_points": 300, "depth": 6}, {"trees": 2, "extra_trees": 0}),
    "grove": ({"bins": 63, "depth": 6}, {"trees": 1}, {"trees": None, "depth": 1, "residual": None, "rows": 900,
              "epsilon": 1.0}),
}  # fmt: skip
"""Settings of the wider runs of fresh vectors: codes beyond 8 bits and many nodes; more than 2^16 records; as many
trees as follow where none are given."""
FOLLOWING: dict[str, Any] = {"trees": None, "depth": None, "rows": 600, "epsilon": 1.0}
"""Of runs whose trees follow rows and budget; of three classes near a border of the strength."""
LOOKED_AGAIN: dict[str, Any] = {"trees": 11, "residual": None, "rows": 10_000, "epsilon": 8.0, "start_share": 0.4}
"""Of Grove's runs whose c follows the residuals."""
OF_TWELVE: dict[int, dict[str, Any]] = {
    0: {"residual": None, "rows": 8, "epsilon": 8.0},
    3: LOOKED_AGAIN,
    6: {"residual": 0.5},
    9: LOOKED_AGAIN | {"rows": 340},
}
"""Of Grove's regressions, every twelfth: about as many records as it says, so that most may be in a run of bins; c that
follows; c that is given; and c that follows of fewer records, with which shares decide on bins."""
FEW: dict[str, Any] = {"residual": None, "start_share": None}
MORE: dict[str, Any] = {"turn_budget": "amplified", "relation": Relation.ADD_REMOVE, "rounds": 2}
"""Of InPrivate's plans whose turns may cost more than the run."""
OF_PLANS: dict[str, dict[int, dict[str, Any]]] = {
    "grove": {
        5: FOLLOWING | {"rows": 4_200},
        9: FEW | {"rows": 30},
        12: FEW | {"rows": 400},
        15: LOOKED_AGAIN,
        16: FOLLOWING,
        27: FOLLOWING,
    },
    "inprivate": {
        5: MORE,
        9: MORE | {"rounds": 3, "depth": 1},
        12: MORE | {"relation": Relation.REPLACE_ONE},
        13: {"depth": 1},
        16: MORE | {"rounds": 1},
        20: MORE | {"rounds": 5},
    },
    "fedgbdt": {number: {"one_vs_rest": "together"} for number in (3, 8, 11, 13, 17, 20)},
}
"""Of plans. Grove: what follows rows and budget, regressions whose start has more than usual, as nu is below 20 and
below 150, and one whose c follows the residuals. InPrivate: more for each turn, where it is allowed and where not;
nothing to split. The federated framework: one budget for all scores."""
ROWS = (700, 66000, 12)
"""Records of the wider runs."""
MISTAKES = ("TieBroken", "HessianFromRoundedGradient", "EmptyLeafNegativeZero", "FilterBeforeScores", "WrongSibling",
            "ScaleOff", "DrawsReused")  # fmt: skip


def case(paper: str, kind: str, number: int, **fixed: Any) -> tuple[random.Random, Any, Records]:
    """Parameters and records of one small run."""
    again = OF_TWELVE.get(number % 12, {}) if paper == "grove" and kind != "plan" else {}
    return _small(paper, chance_of(paper, kind, number), TARGETS[number % 3], again | fixed)


def _small(paper: str, chance: random.Random, target: str, fixed: dict[str, Any]) -> tuple[random.Random, Any, Records]:
    schema = schema_of(chance, target)
    params = params_of(paper, **(settings_of(paper, chance, target) | fixed))
    return chance, params, records_of(chance, schema, chance.choice((1, 4, 8, 12)))


def further(paper: str, kind: str) -> Iterator[tuple[random.Random, Any, Records]]:
    """Parameters and records of runs after the usual ones, whose settings no other run has."""
    yield from _listed(paper, f"further {kind}", FURTHER[paper])
    yield from _listed(paper, f"whole {kind}", WHOLE[paper])


def _listed(paper: str, name: str, listed: tuple[Further, ...]) -> Iterator[tuple[random.Random, Any, Records]]:
    for number, one in enumerate(listed):
        chance, params, records = _small(paper, chance_of(paper, name, number), one.target, one.settings)
        if one.far:
            records = with_far_labels(chance, records_of(chance, records.schema, 36), one.far)
        elif one.features != "drawn":
            records = records_of(chance, with_features(records.schema, one.features), one.records)
        elif records.size < one.records:
            records = records_of(chance, records.schema, one.records)
        yield chance, params, records


def _cases(paper: str, kind: str) -> Iterator[tuple[random.Random, Any, Records]]:
    """Of all plans, or of all whole runs."""
    for number in range(30 if kind == "plan" else RUNS):
        yield case(paper, kind, number, **(OF_PLANS.get(paper, {}).get(number, {}) if kind == "plan" else {}))
    yield from further(paper, kind)
    if kind == "train" and is_fresh():
        for number, (rows, settings) in enumerate(zip(ROWS, WIDE[paper], strict=False), RUNS):
            chance, params, records = case(paper, kind, number, **settings)
            yield chance, params, records_of(chance, records.schema, rows)
    yield from _listed(paper, f"last {kind}", LAST[paper])
    if kind == "plan" and paper == "fedgbdt":
        yield from _listed(paper, "several plan", SEVERAL)


def event_json(event: Event) -> dict[str, Any]:
    """An event as plain data, releases with mechanism and declared sensitivity."""
    match event:
        case Release(name, mechanism, sensitivity):
            return {"release": name, "mechanism": mechanism_out(mechanism), "sensitivity": sensitivity_out(sensitivity)}
        case Sequential(events):
            return {"sequential": [event_json(one) for one in events]}
        case Parallel(events):
            return {"parallel": [event_json(one) for one in events]}
        case Partition(weights, events):
            return {"partition": [hexed(w) for w in weights], "events": [event_json(one) for one in events]}
        case Subsample(rate, inner, method):
            return {"subsample": hexed(rate), "method": method, "event": event_json(inner)}
        case Repeat(inner, count):
            return {"repeat": count, "event": event_json(inner)}


def plan(paper: str) -> Iterator[Vector]:
    """Releases, mechanisms, scales and scopes, from parameters and schema alone."""
    for _, params, records in _cases(paper, "plan"):
        comment = "every release of a run; scales are rounded up, coefficients down"
        yield _planned(paper, params, records.schema, comment, ("ScaleOff", "WrongRange"))


def _planned(paper: str, params: Any, schema: Schema, comment: str, flags: tuple[str, ...]) -> Vector:
    """The plan of a run."""
    found = registry.paper(paper).plan(params, schema)
    claims = tuple(sorted({one.sensitivity.claim for one in releases(found.event)}))
    body = {"params": params_json(params), "schema": schema_json(schema)}
    loose = {"ulps": 4} if paper in ("fedgbdt", "sgbdt", "dpxgboost", "grove") else {}
    expect = {"event": event_json(expand(found.event))}
    return Vector("plan", comment, body, expect, flags, claims, tolerance=loose)


def train(paper: str) -> Iterator[Vector]:
    """A tape to every true value, output and the model."""
    for chance, params, records in _cases(paper, "train"):
        yield _trained(paper, chance, params, records, f"{target_of(records.schema)}, {records.size} records")
    for number in range(OUTSIDE):
        chance, params, records = _far(paper, "outside", number)
        x, y = outside(chance, records)
        comment = f"{target_of(records.schema)}, {records.size} records, features and labels outside their bounds"
        yield _trained(paper, chance, params, make_records(records.schema, x, y), comment, (x, y))


def _trained(
    paper: str, chance: random.Random, params: Any, records: Records, comment: str,
    given: tuple[Floats, Floats] | None = None,
) -> Vector:  # fmt: skip
    """A whole run. given: features and labels before they were moved into their bounds, if others than the records'."""
    source = MadeSource(chance)
    model, recorder = run(paper, params, records, source)
    body = {**run_json(params, records, given), "tape": tape_json(source.tape, recorder.transcript)}
    claims = {e.request.sensitivity.claim for e in recorder.transcript.entries if e.request.sensitivity is not None}
    return Vector("train", comment, body, outcome_json(model, recorder.transcript), MISTAKES, tuple(sorted(claims)),
                  tolerance=CHOICES.get(paper, {}))  # fmt: skip


def _far(paper: str, kind: str, number: int) -> tuple[random.Random, Any, Records]:
    """Parameters and records of a small run, two of three regressions; S-GBDT takes all records there."""
    target = "regression" if number % 3 else TARGETS[1 + number // 3]
    fixed = {"subsample": 1.0} if paper == "sgbdt" else {}
    chance, params, records = _small(paper, chance_of(paper, kind, number), target, fixed)
    return chance, params, records_of(chance, records.schema, 9)


def run_json(params: Any, records: Records, given: tuple[Floats, Floats] | None = None) -> dict[str, Any]:
    """What a run is about.

    given: features and labels before they were moved into their bounds, shapes (rows, features) and (rows,).
    """
    told = records_json(records) if given is None else {"x": floats(given[0]), "y": floats(given[1])}
    return {"params": params_json(params), "schema": schema_json(records.schema), **told}


def neighbour(paper: str) -> Iterator[Vector]:
    """One record removed or replaced, the same draws: the true values of both sides."""
    for number in range(12):
        chance, params, records = case(paper, "neighbour", number, subsample=1.0) if paper == "sgbdt" else case(
            paper, "neighbour", number)  # fmt: skip
        records = records_of(chance, records.schema, 6)
        source = MadeSource(chance)
        model, recorder = run(paper, params, records, source)
        place = chance.randrange(records.size)
        other, tape = _other_side(chance, params, records, source.tape, place)
        second_model, second = run(paper, params, other, TapeSource(tape))
        sides = [
            {**run_json(params, records), "tape": tape_json(source.tape, recorder.transcript)},
            {**run_json(params, other), "tape": tape_json(tape, second.transcript)},
        ]
        answers = [outcome_json(model, recorder.transcript), outcome_json(second_model, second.transcript)]
        yield Vector("neighbour", f"record {place} is {'replaced' if other.size == records.size else 'removed'}",
                     {"sides": sides}, {"sides": answers}, ("StateBetweenRuns", "CountInsideRelease"),
                     tolerance=CHOICES.get(paper, {}))  # fmt: skip
    for number in range(1, 3):
        yield _neighbours_outside(paper, number)


def _neighbours_outside(paper: str, number: int) -> Vector:
    """Neighbours that differ in a record whose label lies far outside its bounds, above and below."""
    chance, params, records = _far(paper, "neighbour outside", number)
    x, y = outside(chance, records)
    place = number - 1  # of a label that is too low, and of one that is too high
    first = make_records(records.schema, x, y)
    source = MadeSource(chance)
    model, recorder = run(paper, params, first, source)
    other, tape = _other_side(chance, params, first, source.tape, place)
    second_model, second = run(paper, params, other, TapeSource(tape))
    replaced = other.size == first.size
    told = (other.x, other.y) if replaced else (np.delete(x, place, axis=0), np.delete(y, place))
    sides = [
        {**run_json(params, first, (x, y)), "tape": tape_json(source.tape, recorder.transcript)},
        {**run_json(params, other, told), "tape": tape_json(tape, second.transcript)},
    ]
    answers = [outcome_json(model, recorder.transcript), outcome_json(second_model, second.transcript)]
    what = f"record {place} is {'replaced' if replaced else 'removed'}; its label is outside its bounds"
    return Vector("neighbour", what, {"sides": sides}, {"sides": answers}, ("LabelNotMoved",),
                  tolerance=CHOICES.get(paper, {}))  # fmt: skip


def _other_side(
    chance: random.Random, params: Any, records: Records, tape: list[Listed], place: int
) -> tuple[Records, list[Listed]]:
    kept = [row for row in range(records.size) if row != place]
    if params.relation is Relation.REPLACE_ONE:
        new = records_of(chance, records.schema, 1)
        x, y = records.x.copy(), records.y.copy()
        x[place], y[place] = new.x[0], new.y[0]
        return Records(records.schema, x, y), tape
    shorter = [replace(one, values=np.delete(one.values, place)) if one.kind == "assign" else one for one in tape]
    return records.take(kept), shorter


BAD: dict[str, tuple[tuple[str, Any], ...]] = {
    "dpboost": (("epsilon", 0.0), ("epsilon", -1.0), ("trees", 0), ("depth", 0), ("depth", 17), ("bins", 0),
                ("regularisation", 0.0), ("shrinkage", 1.0), ("shrinkage", 0.0), ("gradient_bound", 0.0)),
    "inprivate": (("epsilon", 0.0), ("owners", 0), ("rounds", 0), ("rounds", 61), ("depth", 0), ("bins", 0),
                  ("split_share", 0.0), ("split_share", 1.0), ("residual_bound", 0.0), ("shrinkage", 0.0)),
    "dpxgboost": (("epsilon", 0.0), ("trees", 0), ("depth", 13), ("bins", 255), ("sketch_bins", 1), ("subsample", 0.0),
                  ("subsample", 1.5), ("regularisation", 0.0), ("child_minimum", 0), ("gradient_bound", 0.0)),
    "fedgbdt": (("epsilon", 0.0), ("delta", 0.0), ("delta", 1.0), ("depth", 13), ("bins", 0), ("trees", 0),
                ("regularisation", 0.0), ("shrinkage", 0.0), ("leaf_clip", 0.0), ("batch", 0)),
    "sgbdt": (("epsilon", 0.0), ("delta", 0.0), ("trees", 0), ("depth", 9), ("subsample", 0.0), ("support_weight", 1.0),
              ("support_weight", 0.0), ("hessian_bound", 2.0), ("regularisation", 0.0), ("initial_share", 1.0)),
    "grove": (("epsilon", 0.0), ("delta", 0.0), ("rows", 0), ("bins", 128), ("trees", 0), ("depth", 11),
              ("shrinkage", 0.0), ("residual", 2.0), ("hessian_weight", 3.5), ("threshold_share", 0.75),
              ("start_share", 0.5), ("explore", 0.0), ("score_noise", 0.0)),
}  # fmt: skip


BEYOND: dict[str, tuple[tuple[str, Any], ...]] = {
    "dpboost": (("epsilon", math.inf), ("epsilon", math.nan), ("epsilon", 1.001e15), ("epsilon", 0.999e-60),
                ("trees", 1_000_001), ("trees_per_ensemble", 0), ("bins", 60_001), ("regularisation", 2.0**600),
                ("regularisation", 2.0**-25), ("regularisation", math.inf), ("shrinkage", 2.0**-10),
                ("gradient_bound", 2.0**-24), ("gradient_bound", 1024.5), ("gradient_bound", -1.0)),
    "inprivate": (("epsilon", math.inf), ("epsilon", 1.001e15), ("epsilon", 0.999e-60), ("damping", math.inf),
                  ("owners", 100_001), ("depth", 17), ("bins", 60_001), ("residual_bound", 2.0**-24),
                  ("residual_bound", 1024.5), ("leaf_bound", 0.0), ("leaf_bound", 1.001e100), ("damping", -(2.0**-10)),
                  ("damping", math.nan), ("shrinkage", 1 + 2.0**-52)),
    "dpxgboost": (("epsilon", math.inf), ("epsilon", 1.001e15), ("epsilon", 0.999e-60), ("split_part", 2.0**-600),
                  ("leaf_part", 2.0**-600), ("trees", 100_001), ("depth", 0), ("bins", 0),
                  ("sketch_bins", 256), ("child_minimum", 1_000_000_001), ("regularisation", 2.0**-25),
                  ("shrinkage", 1.001e100), ("gradient_bound", 2.0**-24), ("gradient_bound", 1024.5),
                  ("ratio_bound", 2.0**-24), ("ratio_bound", math.inf), ("level_growth", 0.0), ("split_part", math.inf),
                  ("leaf_part", 0.0), ("count_part", 0.0), ("count_weight", 0.0)),
    "fedgbdt": (("epsilon", math.inf), ("epsilon", math.nan), ("epsilon", 1.001e15), ("epsilon", 0.999e-60),
                ("trees", 1_000_001), ("gradient_bound", 0.0), ("gradient_bound", -1.0), ("gradient_bound", 2.0**-24),
                ("gradient_bound", 1024.5), ("gradient_bound", math.inf), ("split_penalty", -(2.0**-20)),
                ("split_penalty", math.inf), ("regularisation", math.inf), ("leaf_clip", 1.001e100),
                ("shrinkage", 1.001e100), ("depth", 0), ("bins", 60_001), ("batch_share", 0.0),
                ("batch_share", 1 + 2.0**-52), ("features_per_tree", 0), ("rounds", 0), ("records_each", 0),
                ("splits", "other"), ("candidates", "other"), ("interactions", "other"), ("sensitivities", "other"),
                ("accounting", "other"), ("noise_by", "other")),
    "sgbdt": (("epsilon", math.inf), ("epsilon", 1.001e15), ("epsilon", 0.999e-60), ("regularisation", math.inf),
              ("support_weight", 2.0**-1020), ("delta", 1.0), ("depth", 0), ("grid_points", 0), ("grid_points", 60_001),
              ("extra_trees", -1), ("trees", 10_001), ("subsample", 1 + 2.0**-52), ("shrinkage", 1 + 2.0**-52),
              ("gradient_bound", 3 * 2.0**-25), ("gradient_bound", 1 + 2.0**-52), ("hessian_bound", 3 * 2.0**-25),
              ("label_bound", 3 * 2.0**-25), ("label_bound", 1 + 2.0**-52), ("leaf_clip", 0.0),
              ("leaf_clip", 1.001e100), ("count_share", 0.0), ("count_share", 1.0), ("orders", "other")),
    "grove": (("epsilon", math.inf), ("epsilon", 1.001e15), ("epsilon", 0.999e-60), ("delta", 1.0),
              ("rows", 10**12 + 1), ("bins", 0), ("bins", 64), ("trees", 10_001), ("depth", 0), ("shrinkage", 2.0**-23),
              ("residual", 2.0**-23), ("residual", 1 + 2.0**-52), ("hessian_weight", 0.0), ("threshold_share", 0.0),
              ("threshold_share", 0.5 + 2.0**-53), ("start_share", 0.0), ("start_share", 0.40625),
              ("explore", 1 + 2.0**-52), ("feature_share", -0.0625), ("feature_share", 0.90625),
              ("score_noise", 2.0**-10), ("score_noise", 1000.5)),
}  # fmt: skip
"""Just outside of domains, and settings inside of them that leave a budget or noise beyond 2^-500 to 2^500."""
AT: dict[str, tuple[tuple[str, Any], ...]] = {
    "dpboost": (("epsilon", 1e15), ("epsilon", 1e-60), ("regularisation", 2.0**-24), ("shrinkage", 0.001),
                ("gradient_bound", 1024.0), ("gradient_bound", 2.0**-24 + 2.0**-76), ("depth", 16)),
    "inprivate": (("epsilon", 1e15), ("epsilon", 1e-60), ("rounds", 60), ("depth", 16), ("residual_bound", 1024.0),
                  ("leaf_bound", 1e100), ("damping", 0.0), ("shrinkage", 1.0)),
    "dpxgboost": (("epsilon", 1e15), ("epsilon", 1e-60), ("depth", 12), ("bins", 254), ("sketch_bins", 2),
                  ("sketch_bins", 255), ("child_minimum", 1_000_000_000), ("regularisation", 2.0**-24),
                  ("shrinkage", 1e100), ("gradient_bound", 1024.0), ("columns", 1.0)),
    "fedgbdt": (("regularisation", 2.0**1000), ("gradient_bound", 1024.0), ("gradient_bound", 2.0**-24 + 2.0**-76),
                ("split_penalty", 0.0), ("leaf_clip", 1e100), ("shrinkage", 1e100), ("depth", 12),
                ("batch_share", 1.0)),
    "sgbdt": (("regularisation", 2.0**1000), ("depth", 8), ("subsample", 1.0), ("shrinkage", 1.0),
              ("gradient_bound", 2.0**-23), ("gradient_bound", 1.0), ("hessian_bound", 2.0**-23),
              ("hessian_bound", 1.0), ("label_bound", 2.0**-23), ("label_bound", 1.0), ("leaf_clip", 1e100),
              ("initial_share", 0.0)),
    "grove": (("rows", 1), ("bins", 63), ("depth", 10), ("shrinkage", 1.0), ("residual", 1.0), ("hessian_weight", 3.3),
              ("threshold_share", 0.5), ("start_share", 0.4), ("explore", 1.0), ("feature_share", 0.0),
              ("feature_share", 0.9), ("score_noise", 0.001), ("score_noise", 1000.0)),
}  # fmt: skip
"""Just inside."""
WORDS: dict[str, tuple[str, ...]] = {
    "dpboost": ("relation", "noise", "gradients", "candidates", "scheme"),
    "inprivate": ("relation", "noise", "candidates", "turn_budget"),
    "dpxgboost": ("relation", "noise", "loss", "gain", "gradients", "candidates", "sketch_per", "missing", "leaf",
                  "stopping", "sampler"),
    "fedgbdt": ("relation", "noise", "update", "one_vs_rest"),
    "sgbdt": ("relation", "noise", "features", "values", "weights", "support"),
    "grove": ("relation", "noise"),
}  # fmt: skip
"""Settings that are names."""
MEDIANS: dict[str, Any] = {
    "candidates": "quantiles", "sketch_bins": 4, "bins": 3, "sketch_per": "tree", "columns": 0.5, "subsample": 0.5,
    "trees": 1, "depth": 1, "stopping": "noisy", "relation": Relation.REPLACE_ONE, "noise": "discrete",
}  # fmt: skip
"""Of a run whose tape is damaged: choices that exclude options, public numbers, a sample of a fixed size."""

TOLD: dict[str, dict[str, Any]] = {
    "dpboost": {"trees": 2, "trees_per_ensemble": 2, "scheme": "dpboost"},
    "inprivate": {"rounds": 2},
    "dpxgboost": {"subsample": 0.5, "relation": Relation.ADD_REMOVE},
    "sgbdt": {"subsample": 0.5, "features": "uniform"},
}
"""Of a run whose tape tells other numbers of its laws: blocks of several shares, rates, and features."""


def negative(paper: str) -> Iterator[Vector]:
    """What a program has to refuse: parameters outside their domain, tapes of other runs."""
    for name, value in BAD[paper]:
        _, params, records = case(paper, "negative", 0)
        body = {"params": {**params_json(params), name: hexed(value) if isinstance(value, float) else value},
                "schema": schema_json(records.schema)}  # fmt: skip
        yield Vector(
            "plan", f"{name} = {value} is outside its domain", body, {}, ("ParameterDomain",), result="invalid"
        )
    for number in range(4):
        chance, params, records = case(paper, "negative", number)
        source = MadeSource(chance)
        _, recorder = run(paper, params, records, source)
        listed = tape_json(source.tape, recorder.transcript)
        first, last = listed[0], listed[-1]
        damaged = {
            "surplus entry": [*listed, last],
            "missing entry": listed[:-1],
            "wrong path": [{**first, "path": "elsewhere"}, *listed[1:]],
            "wrong law": [*listed[:-1], {**last, "law": ["other"]}],
            "wrong shape": [*listed[:-1], {**last, "shape": [1, *last["shape"], 1], "values": last["values"][:-1]}],
        }
        for what, tape in damaged.items():
            yield Vector("train", f"a tape with a {what}", {**run_json(params, records), "tape": tape}, {},
                         ("TapeNotChecked",), result="invalid")  # fmt: skip
    yield from _wrong_values(paper)
    for name, value in BEYOND[paper]:
        _, params, records = case(paper, "negative", 0)
        body = {"params": {**params_json(params), name: hexed(value) if isinstance(value, float) else value},
                "schema": schema_json(records.schema)}  # fmt: skip
        yield Vector("plan", f"{name} = {value} is outside of what is planned", body, {}, ("ParameterDomain",),
                     result="invalid")  # fmt: skip
    yield from _right(paper)


def _right(paper: str) -> Iterator[Vector]:
    """What those were made from, and the ends of domains: a program that refuses every one like them is wrong."""
    _, params, records = case(paper, "negative", 0)
    yield _planned(paper, params, records.schema, "all settings are inside their domains", ("RefusesAll",))
    for name, value in AT[paper]:
        given = replace(params, **{name: value})
        yield _planned(paper, given, records.schema, f"{name} = {value} is inside its domain", ("ParameterDomain",))
    for number in range(4):
        yield _trained(paper, *case(paper, "negative", number), "the run itself, its tape not damaged")
    for target in ("regression", "classes", "binary"):
        chance = chance_of(paper, "wrong label", target)
        schema = schema_of(chance, target)
        given, records = params_of(paper, **settings_of(paper, chance, target)), records_of(chance, schema, 3)
        yield _trained(paper, chance, given, records, f"{target}: the run itself, its labels not damaged")
    for number in range(3):
        chance, given, records = case(paper, "wrong values", number, noise="floating")
        yield _trained(paper, chance, given, records, "the run itself, its values not damaged")


def _wrong_values(paper: str) -> Iterator[Vector]:
    """Labels that are none, runs without a candidate, and values that the law of an entry does not give."""
    for target, label in (("regression", math.nan), ("regression", -math.inf), ("classes", 3.0), ("binary", 0.5)):
        chance = chance_of(paper, "wrong label", target)
        schema = schema_of(chance, target)
        if target == "classes" and not isinstance(schema.target, Interval):
            label = float(len(schema.target.values))
        params, records = params_of(paper, **settings_of(paper, chance, target)), records_of(chance, schema, 3)
        source = MadeSource(chance)
        _, recorder = run(paper, params, records, source)
        body = {**run_json(params, records), "tape": tape_json(source.tape, recorder.transcript)}
        body["y"] = floats([*records.y[:-1], label])
        yield Vector("train", f"{target}: a label of {label}", body, {}, ("LabelNotChecked",), result="invalid")
    for name, value in (("columns", 0.0), ("columns", 1.5), ("delta", 1.0), ("shrinkage", 0.0), ("ratio_bound", 0.0),
                        ("sketch_part", 0.0), ("tree_growth", 0.0)) if paper == "dpxgboost" else ():  # fmt: skip
        given = params_json(case(paper, "wrong values", 0)[1])
        body = {"params": {**given, name: hexed(value)}, "schema": schema_json(schema)}
        yield Vector("plan", f"{name} = {value} is outside its domain", body, {}, ("ParameterDomain",),
                     result="invalid")  # fmt: skip
    if paper == "sgbdt":  # of a start that costs nothing
        given = params_json(replace(case(paper, "wrong values", 0)[1], initial_share=0.0))
        body = {"params": {**given, "count_share": hexed(1.0)}, "schema": schema_json(schema)}
        yield Vector(
            "plan", "count_share = 1.0 is outside its domain", body, {}, ("ParameterDomain",), result="invalid"
        )
    for name in WORDS[paper]:
        given = params_json(case(paper, "wrong values", 0)[1])
        assert name in given
        body = {"params": {**given, name: "other"}, "schema": schema_json(schema)}
        yield Vector("plan", f"{name} of another name", body, {}, ("ParameterDomain",), result="invalid")
    runs = [case(paper, "wrong values", number, noise="floating") for number in range(3)]
    chance, params, records = runs[0]
    even = replace(records.schema, features=(Numeric("x", 2.0, 2.0),))
    body = {"params": params_json(params), "schema": schema_json(even)}
    if paper != "sgbdt":  # whose features are drawn, whatever their bounds
        yield Vector("plan", "no feature can be split", body, {}, ("NoCandidate",), result="invalid")
    if paper == "dpxgboost":
        body = {"params": params_json(replace(params, loss="log")), "schema": schema_json(records.schema)}
        yield Vector("plan", "log loss of a regression", body, {}, ("ParameterDomain",), result="invalid")
        runs.append(case(paper, "wrong values", 3, **MEDIANS))
    runs.append(case(paper, "wrong values", 4, noise="discrete", **TOLD.get(paper, {})))
    seen = set[str]()
    for chance, params, records in runs:
        source = MadeSource(chance)
        _, recorder = run(paper, params, records, source)
        listed = tape_json(source.tape, recorder.transcript)
        for place, (entry, said) in enumerate(zip(listed, recorder.transcript.entries, strict=True)):
            for what, other in _damaged(entry, said.value):
                if what not in seen and entry["values"]:
                    seen.add(what)
                    tape = [*listed[:place], {**entry, **other}, *listed[place + 1 :]]
                    yield Vector("train", what, {**run_json(params, records), "tape": tape}, {}, ("TapeNotChecked",),
                                 result="invalid")  # fmt: skip


def _damaged(entry: dict[str, Any], utility: Array | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is wrong with an entry of a tape, and the part of it that differs. utility: of a choice."""
    kind, law, values = entry["kind"], entry["law"][0], entry["values"]

    def last(value: str) -> dict[str, Any]:
        return {"values": [*values[:-1], value]}

    for what, told in _told(entry["law"]):
        yield f"a law {law} with {what}", {"law": [law, told]}
    if kind != "release":
        shape = [len(values)] if len(entry["shape"]) > 1 else [len(values), 1]
        yield f"kind {kind}, law {law}, in another shape of as many values", {"shape": shape}
    others = {"release": "draw", "draw": "assign", "assign": "release"}
    yield f"kind {others[kind]} in place of {kind}", {"kind": others[kind]}
    if entry["dtype"] == "float64":
        for number in ("nan", "inf"):
            yield f"a draw of law {law} that is {number}", last(number)
        yield f"draws of law {law} that are whole numbers", {"dtype": "int64", "values": ["0" for _ in values]}
    else:
        yield (
            f"kind {kind}, law {law}, as floats",
            {"dtype": "float64", "values": [hexed(float(one)) for one in values]},
        )
    if law == "uniform":
        yield "a uniform draw of 1", last(hexed(1.0))
        yield "a uniform draw below 0", last(hexed(-(2.0**-53)))
    if kind == "draw" and law == "integers":
        yield "a draw that is too large", last(str(entry["law"][1]))
        yield "a draw below 0", last("-1")
    if kind == "assign":
        yield f"a block below -1, {law}", last("-2")
        yield f"a block that is too large, {law}", last(str(len(entry["law"][1]) if law == "partition" else 1))
    if entry.get("mechanism", {}).get("name") == "Exponential":
        rows, options = entry["shape"]
        sizes = [hexed(abs(float.fromhex(one))) for one in values]
        yield "a choice by the other law", {"law": ["exponential" if law == "gumbel" else "gumbel"], "values": sizes}
        chosen = {"law": ["index"], "dtype": "int64", "shape": [rows]}
        yield "an option that does not exist", {**chosen, "values": ["0"] * (rows - 1) + [str(options)]}
        yield "an option below 0", {**chosen, "values": ["0"] * (rows - 1) + ["-1"]}
        if utility is not None and np.isneginf(utility).any():
            picks = np.isneginf(utility).argmax(axis=1)  # the first excluded option, or the first one where all are in
            yield "an option that is excluded", {**chosen, "values": [str(one) for one in picks]}
        yield "a choice for each option", {**entry, "law": ["index"], "dtype": "int64", "values": ["0"] * len(values)}


def _told(law: list[Any]) -> Iterator[tuple[str, Any]]:
    """Other numbers in place of those of a law, and what they are."""
    match law:
        case ["poisson" | "without-replacement", rate]:
            yield "half of its rate", hexed(float.fromhex(rate) / 2)
        case ["partition", shares]:
            yield "halves of its shares", [hexed(float.fromhex(one) / 2) for one in shares]
            if shares[::-1] != shares:
                yield "its shares turned round", shares[::-1]
        case ["integers", count]:
            yield "one number more", count + 1
        case [_, [*fractions]]:
            yield "its fractions doubled", [str(2 * Fraction(one)) for one in fractions]
        case [_, fraction]:
            yield "its fraction doubled", str(2 * Fraction(fraction))


def account(paper: str) -> Iterator[Vector]:
    """Plans to epsilon: a claim below the enclosure is wrong, one above it is not tight."""
    for number in range(20):
        chance = chance_of(paper, "account", number)
        count, scale, delta = chance.randint(1, 40), chance.choice((1.0, 4.0, 10.0)), 0.0
        kinds: dict[str, Mechanism] = {
            "dpboost": Laplace(scale), "inprivate": DiscreteLaplace(scale, 2.0**-10),
            "dpxgboost": Exponential(1 / scale), "fedgbdt": Gaussian(scale), "sgbdt": DiscreteGaussian(scale, 2.0**-10),
            "grove": DiscreteGaussian(scale, 2.0**-12),
        }  # fmt: skip
        made = kinds[paper]
        gaussian = isinstance(made, Gaussian | DiscreteGaussian)
        delta = 1e-5 if gaussian else 0.0
        norm: Any = 2 if gaussian else "range" if isinstance(made, Exponential) else 1
        one = Release("x", made, Sensitivity(1.0, norm, f"{paper}/account", Relation.ADD_REMOVE))
        bound = account_of(Plan(Relation.ADD_REMOVE, Repeat(one, count)), delta=delta, quick=gaussian)
        body = {"relation": "add-remove", "delta": hexed(delta), "event": event_json(Repeat(one, count))}
        yield Vector("account", f"{count} releases of {type(made).__name__}", body, _enclosed(bound, delta),
                     ("ScaleOff", "NotComposed"))  # fmt: skip
    yield from _accounts(paper)


def _accounts(paper: str) -> Iterator[Vector]:
    """Of releases that differ, samples and blocks; pure epsilons of these are attained: they are both bounds."""
    gaussian = paper in ("fedgbdt", "sgbdt", "grove")
    for number in range(4 if gaussian else 10):
        chance = chance_of(paper, "accounts", number)
        relation = Relation.ADD_REMOVE if gaussian or number % 2 == 0 else Relation.REPLACE_ONE
        event = _normals(chance, paper) if gaussian else _sampled(chance, relation, number // 2)
        delta = 1e-5 if gaussian else 0.0
        bound = account_of(Plan(relation, event), delta=delta, quick=True)
        body = {"relation": str(relation), "delta": hexed(delta), "event": event_json(event)}
        yield Vector("account", "releases that differ, samples, blocks", body, _enclosed(bound, delta),
                     ("ScaleOff", "NotComposed"))  # fmt: skip


def _normals(chance: random.Random, paper: str) -> Event:
    """Gaussian releases with different deviations and bounds."""
    declared = Sensitivity(chance.choice((1.0, 0.3, 2.5)), 2, f"{paper}/account", Relation.ADD_REMOVE)
    sds = [chance.choice((4.0, 8.0, 30.0)) for _ in range(3)]
    made = [Gaussian(sd) if paper == "fedgbdt" else DiscreteGaussian(sd, 2.0**-10) for sd in sds]
    found: list[Event] = [Release(f"x{number}", one, declared) for number, one in enumerate(made)]
    return Sequential((*found[:2], Repeat(found[2], chance.randint(2, 9))))


def _sampled(chance: random.Random, relation: Relation, form: int) -> Event:
    """Choices and Laplace noise on samples and, where a record is there or not, in blocks."""

    def one(mechanism: Mechanism, norm: Any) -> Release:
        declared = Sensitivity(chance.choice((1.0, 0.25, 2.0)), norm, "account", relation)
        return Release("x", mechanism, declared)

    scale, rate = chance.choice((1.0, 2.5, 8.0)), chance.choice((0.5, 0.1, 0.25))
    parts: list[Event] = [
        one(Exponential(chance.choice((0.5, 0.1))), "range"), one(Laplace(scale), 1),
        one(DiscreteLaplace(2 * scale, 2.0**-10), 1),
    ]  # fmt: skip
    both = Sequential((parts[0], Repeat(parts[1], chance.randint(1, 5))))
    replaced = relation is Relation.REPLACE_ONE
    sampled = Subsample(rate, both, "without-replacement" if replaced else "poisson")
    if form == 0:
        return Sequential((Repeat(parts[1], 3), parts[2]))
    if form in (1, 2) or replaced:
        return Sequential((Repeat(sampled, chance.randint(1, 9)), parts[form % 3]))
    blocks = Partition((0.5, rate), (parts[form - 2], both))
    return blocks if form == 3 else Sequential((blocks, sampled))


def _enclosed(bound: Any, delta: float) -> dict[str, str]:
    """What is expected of an epsilon: what a pure one is, is attained. Last places of accountants are no part of it."""
    return {"lower": hexed(_below(bound.lower if delta else bound.epsilon)), "upper": hexed(_above(bound.epsilon))}


def _above(number: float) -> float:
    """Moved up, to a multiple of 2^-16: what is above costs nothing but tightness."""
    return math.ceil(number * 2**16 * (1 + 2.0**-30)) / 2**16


def _below(number: float) -> float:
    """Moved down by less than 2^-30 of it, and to 32 significant bits: less is no bound of what the releases cost."""
    mantissa, exponent = math.frexp(number * (1 - 3 * 2.0**-33))
    return math.ldexp(math.floor(math.ldexp(mantissa, 32)), exponent - 32)


def statistical(paper: str) -> Iterator[Vector]:
    """Draws asked of the program, held against their law by one fixed test of a stated error rate."""
    laws = {
        "dpboost": (("laplace",), ("discrete-laplace", "1030/3"), ("gumbel",)),
        "inprivate": (("laplace",), ("discrete-laplace", "7/2")),
        "dpxgboost": (("exponential",), ("discrete-laplace", "1030/3")),
        "fedgbdt": (("normal",), ("discrete-gaussian", "1000001/3")),
        "sgbdt": (("normal",), ("discrete-gaussian", "50/3")),
        "grove": (("normal",), ("discrete-gaussian", "7000001/2")),
    }[paper]
    for law in laws:
        for count in (20000, 100000):
            body = {"law": list(law), "count": count}
            yield Vector("draw", f"{count} fresh draws", body, {"law": list(law), "error": "1e-9"},
                         ("ScaleOff", "WrongLaw", "DrawsReused"))  # fmt: skip


KINDS = {"plan": plan, "train": train, "negative": negative, "neighbour": neighbour, "account": account,
         "statistical": statistical}  # fmt: skip
