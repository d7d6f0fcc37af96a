"""DPBoost, InPrivate Digging and DP-XGBoost: parameters, records and answers as terms, from public settings alone.

Nothing here asks the papers' modules for a sensitivity, a scale or a share: what a change of them changes must show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from proofs.replay.runs import REGRESSION, RELATIONS, THREE, TWO, Recorded, some_records, trained, word
from proofs.replay.terms import Requests, candidate, grid, labels_by_index, listed, number, numbers, record, truth
from refdp.data.records import Floats, Interval, Numeric, Schema, Target
from refdp.noise.mechanisms import Exponential
from refdp.papers import dpboost, dpxgboost, inprivate
from refdp.privacy.curator import Entry


def _signed(schema: Schema, y: Floats) -> list[Floats]:
    """The labels of every score, in [-1, 1], or 1 for the class and -1 for the rest."""
    plain = [schema.label(score, y) for score in range(schema.scores)]
    return plain if isinstance(schema.target, Interval) else [2 * label - 1 for label in plain]


def _data(run: Recorded, columns: Sequence[Floats]) -> tuple[str, list[str]]:
    labels, functions = labels_by_index(columns)
    return listed(record(row, label) for row, label in zip(run.records.x, labels, strict=True)), functions


def _noise(rng: np.random.Generator) -> Any:
    return word(rng, "floating", "discrete")


# --- DPBoost ----------------------------------------------------------------------------------------------------------


def dpboost_run(seed: int) -> Recorded:
    """A run of DPBoost."""
    rng = np.random.default_rng(seed)
    targets: list[Target] = [REGRESSION, TWO, THREE]
    records = some_records(rng, targets[int(rng.choice(3, p=[0.5, 0.3, 0.2]))])
    params = dpboost.Params(
        epsilon=float(rng.uniform(0.5, 50)), relation=RELATIONS[int(rng.integers(2))], trees=int(rng.integers(2, 6)),
        trees_per_ensemble=int(rng.integers(1, 4)), depth=int(rng.integers(1, 4)),
        regularisation=float(rng.choice([0.1, 1.0, 0.37])), shrinkage=float(rng.uniform(0.2, 0.8)),
        gradient_bound=float(rng.choice([1.0, 0.7, 1.3])),
        scheme=word(rng, "dpboost", "dpboost", "para", "seq"), bins=int(rng.integers(1, 5)),
        gradients=word(rng, "filter", "clip"), noise=_noise(rng),
    )  # fmt: skip
    return trained(dpboost, params, records, seed)


def dpboost_text(run: Recorded) -> tuple[str, Requests]:
    """Shares and clips of Algorithm 2 are what Coq computes; those of the baselines are written down.

    Certified are the parameters with the shares that the run declared, exactly: `Certify.certified` is about them.
    """
    p = run.params
    data, labels = _data(run, _signed(run.schema, run.records.y))
    size = {"dpboost": p.trees_per_ensemble, "para": p.trees, "seq": 1}[p.scheme]
    sizes = [min(size, p.trees - start) for start in range(0, p.trees, size)]
    head = (
        f"{{| eps := {number(p.epsilon)}; depth := {p.depth}; lam := {number(p.regularisation)}; "
        f"eta := {number(p.shrinkage)}; bound := {number(p.gradient_bound)}; "
        f"clipping := {truth(p.gradients == 'clip')}; "
        f"changed := {run.changed}; cands := {grid(run.encoded[0])}; classes := {listed(labels)}; runs := "
    )
    blocks = f"map (published_blocks ({head}[] |}})) {listed(f'{one}%nat' for one in sizes)}"
    if p.scheme != "dpboost":
        shares = [[Fraction(1, 2 ** (t + 1)) if p.scheme == "para" else Fraction(1) for t in range(n)] for n in sizes]
        blocks = listed(listed(f"({number(s)}, {number(p.gradient_bound)})" for s in own) for own in shares)
    requests = Requests(run.transcript, run.changed)
    requests.certified = f"Certify.ok ({head}{_declared(run, len(sizes))} |}})"
    return f"train ({head}{blocks} |}}) {data}", requests


def _declared(run: Recorded, ensembles: int) -> str:
    """The shares of every ensemble of the first score as the run declared them, with the clips of its trees."""
    p = run.params
    laws = [entry.request.law for entry in run.transcript.entries if entry.request.kind == "assign"]
    kept = 1 - Fraction(p.shrinkage) if p.scheme == "dpboost" else Fraction(1)
    clips = [Fraction(p.gradient_bound) * kept**t for t in range(p.trees)]
    return listed(listed(f"({number(s)}, {number(c)})" for s, c in zip(law[1], clips)) for law in laws[:ensembles])


# --- InPrivate Digging ------------------------------------------------------------------------------------------------


def inprivate_run(seed: int) -> Recorded:
    """A run of InPrivate Digging, two of ten with classes: the log loss within the bounds of `Logistic.v`."""
    rng = np.random.default_rng(seed)
    classes = [TWO, THREE][seed % 10 - 8 :] if seed % 10 >= 8 else []
    records = some_records(rng, classes[0], 5) if classes else some_records(rng, REGRESSION)
    noise = _noise(rng)
    params = inprivate.Params(
        epsilon=float(rng.uniform(0.5, 50)), relation=RELATIONS[int(rng.integers(2))], owners=int(rng.integers(1, 3)),
        rounds=int(rng.integers(1, 4)), depth=int(rng.integers(2, 5)), split_share=float(rng.uniform(0.2, 0.8)),
        residual_bound=float(rng.choice([1.0, 0.6, 1.7])), leaf_bound=float(rng.choice([0.1, 0.3, 1.0])),
        damping=4.0 if noise == "floating" else 0.0, shrinkage=float(rng.uniform(0.3, 1.0)),
        bins=int(rng.integers(1, 5)), noise=noise,
    )  # fmt: skip
    return trained(inprivate, params, records, seed)


LOG_RESIDUAL = "(fun y s => match Logistic.logistic (- (2 * y * s)) with Some p => Qred (2 * y * p) | None => 1000 end)"
"""2 y / (1 + e^(2 y f)); where its bounds are apart, a number that no record has."""


def inprivate_text(run: Recorded) -> tuple[str, Requests]:
    """Turns: owners one after the other, once a round, which takes half of what remains."""
    p = run.params
    data, labels = _data(run, _signed(run.schema, run.records.y))
    rounds = [Fraction(1)] if p.rounds == 1 else [Fraction(1, 2**t) for t in range(1, p.rounds + 1)]
    turns = [share / p.owners for share in rounds for _ in range(p.owners)]
    regression = isinstance(run.schema.target, Interval)
    loss = "(fun y s => sub y s) true" if regression else f"{LOG_RESIDUAL} false"
    rules = (
        f"@InPrivate.Build_rules Q {number(p.epsilon)} {p.depth - 1} {number(p.split_share)} "
        f"{number(p.residual_bound)} {number(p.leaf_bound)} {number(p.damping)} "
        f"{number(p.shrinkage)} {run.changed} {grid(run.encoded[0])} "
        f"{listed(map(number, turns))} {loss} {listed(labels)}"
    )
    return f"InPrivate.digging ({rules}) {data}", Requests(run.transcript, 2 * run.changed)


# --- DP-XGBoost -------------------------------------------------------------------------------------------------------


def dpxgboost_run(seed: int) -> Recorded:
    """A run of DP-XGBoost with the square loss."""
    rng = np.random.default_rng(seed)
    records = some_records(rng, TWO if rng.integers(2) else REGRESSION)
    replaced = bool(rng.integers(3) == 0)
    params = dpxgboost.Params(
        epsilon=float(rng.uniform(0.5, 50)), relation=RELATIONS[replaced], trees=int(rng.integers(1, 4)),
        depth=int(rng.integers(1, 4)), regularisation=float(rng.choice([0.1, 1.0, 0.37])),
        shrinkage=float(rng.uniform(0.3, 1.5)), gradient_bound=float(rng.choice([1.0, 0.7, 1.3])),
        gradients=word(rng, "filter", "clip"), candidates=word(rng, "sketch", "uniform"),
        bins=int(rng.integers(1, 4)), sketch_bins=int(rng.integers(2, 6)), missing=word(rng, "learned", "left"),
        leaf=word(rng, "laplace", "minimum"), child_minimum=int(rng.integers(1, 5)),
        subsample=1.0 if replaced else float(rng.choice([0.5, 0.8])), noise=_noise(rng),
    )  # fmt: skip
    return trained(dpxgboost, params, records, seed)


def dpxgboost_text(run: Recorded) -> tuple[str, Requests]:
    """A tree's budget, a third each for sketch, levels and leaves, before sampling. Candidates are those offered."""
    p = run.params
    data, labels = _data(run, _signed(run.schema, run.records.y))
    numeric = [f for f, feature in enumerate(run.schema.features) if isinstance(feature, Numeric)]
    asked = p.candidates == "sketch" and bool(numeric)
    each = p.epsilon / run.schema.scores / p.trees
    whole = math.log1p(math.expm1(each) / p.subsample)
    part = whole / (3 if asked else 2)
    plan = (
        f"{{| DPXGBoost.sketch_eps := {f'Some {number(part)}' if asked else 'None'}; "
        f"DPXGBoost.level_eps := {numbers([part / p.depth] * p.depth)}; DPXGBoost.leaf_eps := {number(part)} |}}"
    )
    offered: list[str] = []
    for entry in run.transcript.entries:
        if isinstance(entry.request.mechanism, Exponential) and entry.request.path[-1] == "splits of level 0":
            assert entry.request.options is not None
            offered.append(listed(candidate(option, run.categorical) for option in entry.request.options))
    edges = "".join(f"if (k =? {k})%nat then {own} else " for k, own in enumerate(offered)) + "[]"
    bound, least = p.gradient_bound, p.child_minimum if p.leaf == "minimum" else 1
    clipped = f"clip (grid_down {number(bound)}) " if p.gradients == "clip" else ""
    settings = (
        f"@DPXGBoost.Build_settings Q {listed([plan] * p.trees)} {number(p.subsample)} {number(p.regularisation)} "
        f"{number(p.shrinkage)} {number(bound)} 1 false {number(bound)} {number(float(least))} {run.changed} "
        f"{listed(_bins(run, f) for f in numeric) if asked else '[]'} {p.sketch_bins} (fun k _ => {edges}) "
        f"(fun s y => ({clipped}(grid (sub s y)), 1)) {listed(labels)}"
    )
    requests = SketchRequests(run, len(numeric))
    if p.subsample == 1:  # the program tosses coins that always fall on the sample, the text none
        _certain_samples(run, requests, asked)
    return f"DPXGBoost.dpxgboost ({settings}) {data}", requests


class SketchRequests(Requests):
    """A record is in a bin of each feature that is sketched, and in one leaf."""

    def __init__(self, run: Recorded, sketched: int) -> None:
        self._sketched = sketched
        super().__init__(run.transcript, run.changed)

    def released(self, entry: Entry, touched: int) -> None:
        """Of a sketch so many times as many."""
        super().released(entry, touched * (self._sketched if entry.request.path[-1] == "sketch" else 1))


def _bins(run: Recorded, feature: int) -> str:
    """The sketch's bin of a record: how many edges are not above its value; none without a value."""
    edges = run.encoded[0].thresholds[feature]
    return (
        f"(fun r => match nth {feature} (features r) None with None => 1000%nat | "
        f"Some v => length (filter (fun e => Qle_bool e v) {numbers(edges)}) end)"
    )


def _certain_samples(run: Recorded, requests: Requests, sketched: bool) -> None:
    p, rows = run.params, run.records.size
    each = p.depth + 1 + sketched
    expected, requests.expected = requests.expected, []
    for start in range(0, len(expected), each):
        requests.everyone((1.0,), [0] * rows)
        requests.expected += expected[start : start + each]
