"""Random settings of the five papers' programs, as plain data: `settings(paper, k)` is the same on every machine."""

from __future__ import annotations

import random
from typing import Any

PAPERS = ("dpboost", "dpxgboost", "fedgbdt", "inprivate", "sgbdt")
COUNT = 210
"""Settings of each paper."""
RELATIONS = ("add-remove", "replace-one")
NOISE = ("floating", "discrete")


def settings(paper: str, number: int) -> dict[str, Any]:
    """Setting `number` of a paper: its records, its parameters, and how it is run."""
    chance = random.Random(f"{paper} {number}")
    target = chance.choice(("regression", "binary", "classes"))
    given: dict[str, Any] = {
        "data": {"target": target, "rows": chance.randint(40, 300), "numeric": chance.randint(1, 3),
                 "categories": chance.choice(([], [3], [2, 5])), "missing": chance.choice((0.0, 0.1)), "seed": number},
        "seed": chance.randrange(2**32),
        "exact": chance.random() < 0.5,
        "form": "central",
    }  # fmt: skip
    given["params"] = {"epsilon": chance.choice((0.5, 1.0, 4.0, 20.0))} | MAKERS[paper](chance, given)
    return given


def some(chance: random.Random, share: float, **values: tuple[Any, ...]) -> dict[str, Any]:
    """Each of these parameters with this chance, at one of its values; else it keeps its default."""
    drawn = {name: (chance.random() < share, chance.choice(listed)) for name, listed in values.items()}
    return {name: value for name, (taken, value) in drawn.items() if taken}


def published(chance: random.Random, **values: Any) -> dict[str, Any]:
    """In one setting of four the readings that the paper prints, each with a chance of three in four."""
    taken = chance.random() < 0.25
    return {name: value for name, value in values.items() if chance.random() < 0.75 and taken}


def dpboost(chance: random.Random, given: dict[str, Any]) -> dict[str, Any]:
    return {
        "relation": chance.choice(RELATIONS),
        "trees": chance.randint(1, 6),
        "trees_per_ensemble": chance.randint(1, 4),
        "depth": chance.randint(1, 4),
        "noise": chance.choice(NOISE),
        "bins": chance.choice((1, 3, 8)),
        **some(chance, 0.5, regularisation=(0.01, 0.37, 2.0), shrinkage=(0.05, 0.3, 0.77),
               gradient_bound=(0.3, 0.9, 1.7), candidates=("log", "data"), gradients=("clip",)),
        **some(chance, 0.3, scheme=("np", "para", "seq")),
        **published(chance, constants="published", leaf_budget="level", clip_position="global", blocks="sizes"),
    }  # fmt: skip


def dpxgboost(chance: random.Random, given: dict[str, Any]) -> dict[str, Any]:
    given["form"] = chance.choice(("central", "central", "sparse zero", "sparse missing"))
    if given["form"].startswith("sparse"):
        given["data"]["categories"] = []  # sparse records have numeric features only
    losses = ("square",) if given["data"]["target"] == "regression" else ("square", "log")
    found = {
        "relation": chance.choice(RELATIONS),
        "trees": chance.randint(1, 4),
        "depth": chance.randint(1, 3),
        "noise": chance.choice(NOISE),
        "loss": chance.choice(losses),
        "candidates": chance.choice(("sketch", "quantiles", "uniform")),
        "bins": chance.choice((1, 4, 9)),
        "sketch_bins": chance.choice((2, 8, 32)),
        "leaf": chance.choice(("laplace", "minimum", "average")),
        "child_minimum": chance.choice((1, 5, 50)),
        "subsample": chance.choice((0.1, 0.5, 1.0)),
        **some(chance, 0.4, gain=("count",), ratio_bound=(0.7, 3.0), gradients=("clip",), sketch_per=("run",),
               missing=("left",), count_weight=(0.3, 1.5), stopping=("noisy",), columns=(0.4, 0.8),
               sketch_part=(0.5,), split_part=(2.0,), leaf_part=(1.5,), count_part=(0.7,), level_growth=(1.4, 0.8),
               tree_growth=(1.2, 0.7), sampler=("gumbel",), regularisation=(0.01, 2.0), shrinkage=(0.1, 1.0),
               gradient_bound=(0.4, 1.3)),
        **published(chance, constants="published", exponent="whole", sampling="without-replacement"),
    }  # fmt: skip
    if chance.random() < 0.02:  # calibrated with delta > 0: seconds each
        found |= {"delta": 1e-5, "subsample": 1.0, "trees": 1, "depth": 1, "candidates": "uniform"}
    return found


def fedgbdt(chance: random.Random, given: dict[str, Any]) -> dict[str, Any]:
    given["form"] = chance.choice(("central",) * 3 + ("federated", "absent", "shares", "local"))
    found = {
        "relation": chance.choice(RELATIONS),
        "delta": chance.choice((1e-5, 1e-3)),
        "trees": chance.randint(1, 5),
        "depth": chance.randint(1, 3),
        "noise": chance.choice(NOISE),
        "bins": chance.choice((2, 5, 12)),
        "splits": chance.choice(("histogram", "partially-random", "totally-random")),
        "update": chance.choice(("averaging", "gradient", "newton")),
        "candidates": chance.choice(("uniform", "log", "iterative-hessian")),
        "rounds": chance.randint(1, 3),
        **some(chance, 0.4, features_per_tree=(1,), interactions=("random",), trees_per_feature=(True,),
               rounds_per_feature=(True,), batch=(2, 3), batch_share=(0.5, 1.0), gradient_bound=(0.3, 0.8),
               accounting=("renyi",), sensitivities=("by-round",), regularisation=(0.1, 3.0), shrinkage=(0.1, 1.0),
               leaf_clip=(0.5, 5.0), split_penalty=(0.0, 0.1)),
        **published(chance, sensitivities="published", accounting="renyi", grid="published", one_vs_rest="published"),
    }  # fmt: skip
    if given["form"] == "central" and chance.random() < 0.3:
        found |= some(chance, 0.5, candidates=("quantiles",), no_privacy=(True,))
        found |= {"no_privacy": True} if found["candidates"] == "quantiles" else {}
    if given["form"] == "central" and found["candidates"] != "quantiles" and chance.random() < 0.2:
        found |= {"noise_by": "record", "splits": "totally-random", "relation": "replace-one", "candidates": "uniform"}
        found |= some(chance, 0.5, local=("index",))
    if given["form"] != "central" and chance.random() < 0.3:
        found["records_each"] = given["records_each"] = 3
    found |= {"shares": {"noise": "discrete"}, "local": {"noise": "floating"}}.get(given["form"], {})
    return found


def inprivate(chance: random.Random, given: dict[str, Any]) -> dict[str, Any]:
    given["form"] = chance.choice(("central", "central", "owners", "broadcast"))
    found = {
        "relation": chance.choice(RELATIONS),
        "owners": chance.randint(1, 4),
        "rounds": chance.randint(1, 3),
        "depth": chance.randint(1, 4),
        "noise": chance.choice(NOISE),
        "bins": chance.choice((1, 4, 10)),
        **some(chance, 0.5, split_share=(0.2, 0.8), residual_bound=(0.3, 1.5), leaf_bound=(0.4, 3.0),
               damping=(0.0, 1.7), shrinkage=(0.1, 1.0), candidates=("log", "triples")),
        **some(chance, 0.15, scheme=("np",)),
        **published(chance, constants="published", level_budget="whole", halves="sizes", shrinkage=1.0),
    }  # fmt: skip
    if given["form"] != "central":
        given["control"] = chance.choice(("none", "private", "public"))
        given["threshold"] = chance.choice((-5.0, 0.0))
        given["faults"] = [
            [t, owner, chance.choice(("silent", "lost"))]
            for t in range(found["rounds"])
            for owner in range(found["owners"])
            if chance.random() < 0.15
        ]
    return found


def sgbdt(chance: random.Random, given: dict[str, Any]) -> dict[str, Any]:
    given["form"] = chance.choice(("central",) * 3 + ("stream", "participants", "shares"))
    given["parts"] = chance.randint(2, 4)
    found = {
        "relation": "add-remove",
        "delta": chance.choice((5e-8, 1e-4)),
        "trees": chance.randint(1, 6),
        "extra_trees": chance.choice((0, 0, 4)),
        "depth": chance.randint(1, 4),
        "subsample": chance.choice((0.1, 0.5, 1.0)),
        "noise": chance.choice(NOISE),
        **some(chance, 0.5, shrinkage=(0.1, 1.0), regularisation=(0.5, 3.0), gradient_bound=(0.2, 1.0),
               hessian_bound=(0.1, 0.7), leaf_clip=(0.3, 5.0), support_weight=(0.1, 0.5, 0.8), initial_share=(0.0, 0.4),
               count_share=(0.2,), label_bound=(0.4,), features=("cyclic",), values=("uniform",), grid_points=(3, 8),
               orders=("joint",)),
        **some(chance, 0.3, weights=("slides",), support=("max",)),
        **published(chance, weights="printed", support="max"),
    }  # fmt: skip
    if found.get("weights") == "printed" and given["form"] == "stream":
        given["form"] = "central"  # no stream is trained with these
    return found


MAKERS = {"dpboost": dpboost, "dpxgboost": dpxgboost, "fedgbdt": fedgbdt, "inprivate": inprivate, "sgbdt": sgbdt}
