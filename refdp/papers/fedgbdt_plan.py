"""What a run of the federated framework (Maddock et al. 2022) releases and charges, from parameters alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import groupby

from refdp import portable
from refdp.accounting import account
from refdp.calibration import gaussian, total_mu
from refdp.certificate import Certificate, Guarantee, issue
from refdp.events import Charge, Event, Plan, Relation, Release, Repeat, Sensitivity, Sequential
from refdp.generic import Number
from refdp.losses import GRID
from refdp.papers.fedgbdt_formulas import (
    Splits,
    averaging_squared_sensitivity,
    candidate_queries,
    counting_squared_sensitivity_as_published,
    gradient_bound_after,
    gradient_squared_sensitivity,
    hessian_squared_sensitivity,
    newton_squared_sensitivity,
    newton_squared_sensitivity_as_published,
    split_queries,
    weight_queries,
)
from refdp.papers.fedgbdt_settings import Params, all_rounds, all_trees, batches, chosen_features
from refdp.records import Interval, Schema

CLAIMS: Mapping[tuple[str, str, Relation], str] = {
    ("averaging", "proved", Relation.ADD_REMOVE): "fedgbdt/averaging-sensitivity",
    ("averaging", "proved", Relation.REPLACE_ONE): "fedgbdt/averaging-sensitivity-vector-replace-one",
    ("averaging", "published", Relation.ADD_REMOVE): "fedgbdt/averaging-sensitivity",
    ("averaging", "published", Relation.REPLACE_ONE): "fedgbdt/averaging-sensitivity-replace-one",
    ("gradient", "proved", Relation.ADD_REMOVE): "fedgbdt/gradient-sensitivity-clipped",
    ("gradient", "proved", Relation.REPLACE_ONE): "fedgbdt/gradient-sensitivity-vector-replace-one",
    ("gradient", "published", Relation.ADD_REMOVE): "fedgbdt/gradient-sensitivity",
    ("gradient", "published", Relation.REPLACE_ONE): "fedgbdt/gradient-sensitivity-replace-one",
    ("newton", "proved", Relation.ADD_REMOVE): "fedgbdt/newton-sensitivity-joint",
    ("newton", "proved", Relation.REPLACE_ONE): "fedgbdt/newton-sensitivity-joint-replace-one",
    ("newton", "published", Relation.ADD_REMOVE): "fedgbdt/newton-sensitivity",
    ("newton", "published", Relation.REPLACE_ONE): "fedgbdt/newton-sensitivity-replace-one",
    ("hessian", "proved", Relation.ADD_REMOVE): "fedgbdt/hessian-histogram-sensitivity",
    ("hessian", "proved", Relation.REPLACE_ONE): "fedgbdt/hessian-histogram-sensitivity-replace-one",
    ("hessian", "published", Relation.ADD_REMOVE): "fedgbdt/hessian-histogram-sensitivity",
    ("hessian", "published", Relation.REPLACE_ONE): "fedgbdt/fact-2-2-replace-one",
}


def sums_charge(params: Params, schema: Schema, mu: float, updates: int) -> Charge:
    """One query of the sums of (g, h). updates: how many batches have moved the scores before it.

    The Hessian of the square loss is 1, so that Newton updates of a regression are gradient updates.
    """
    if isinstance(schema.target, Interval):
        return charge(params, mu, "gradient", 1.0 if params.update == "averaging" else params.gradient_bound)
    if params.sensitivities != "by-round" or params.update == "averaging":
        return charge(params, mu, params.update, 1.0)
    return charge(params, mu, params.update, gradient_bound_after(updates, params.leaf_clip, params.shrinkage))


def hessian_charge(params: Params, schema: Schema, mu: float) -> Charge:
    """One Hessian histogram of one feature. The square loss has h = 1 and pays for (g, h)."""
    return sums_charge(params, schema, mu, 0) if isinstance(schema.target, Interval) else charge(params, mu, "hessian")


def charge(params: Params, mu: float, kind: str, bound: float = 1.0) -> Charge:
    """kind: "averaging", "gradient", "newton" or "hessian"; bound: of |g|; mu: the cost in Gaussian privacy."""
    relation = params.relation
    squares = proved_square(kind, relation, Fraction(bound)), published_square(kind, Fraction(bound))
    proved = Sensitivity(portable.root(squares[0]), 2, CLAIMS[kind, "proved", relation], relation)
    printed = Sensitivity(portable.root(squares[1]), 2, CLAIMS[kind, "published", relation], relation)
    if params.sensitivities == "by-round":  # rounding to the grid keeps |g| <= 1 (fedgbdt/rounding), not |g| <= b < 1
        proved = replace(proved, bound=portable.at_least(Fraction(proved.bound) + 2 * Fraction(GRID)))
        if kind == "newton" and relation is Relation.ADD_REMOVE:
            proved = replace(proved, claim="fedgbdt/newton-sensitivity-by-round")
    declared = printed if params.sensitivities == "published" else proved
    if params.noise_by == "record":
        claim = "fedgbdt/ldp-vector" if params.local == "vector" else "fedgbdt/ldp-leaf-index"
        proved, declared = replace(proved, claim="fedgbdt/ldp-vector"), replace(declared, claim=claim)
    touched = (1 if kind == "hessian" else 2) * (1 if relation is Relation.ADD_REMOVE else 2) * params.records_each
    if params.records_each > 1:  # r times the sensitivity of one record (Section 4, fedgbdt/several-records)
        proved = replace(proved, bound=_times(params.records_each, proved.bound), claim="fedgbdt/several-records")
        declared = replace(declared, bound=_times(params.records_each, declared.bound), claim="fedgbdt/several-records")
    mechanism, rounded = gaussian(mu, declared, params.noise, touched=touched)
    added = Fraction(rounded.bound) - Fraction(declared.bound)
    return Charge(mechanism, rounded, replace(proved, bound=portable.at_least(Fraction(proved.bound) + added)))


def _times(records: int, bound: float) -> float:
    """So many times a bound, rounded up."""
    return portable.at_least(records * Fraction(bound))


def proved_square(kind: str, relation: Relation, bound: Number) -> Number:
    """The squared sensitivity that the ledger proves."""
    if kind == "newton":
        return newton_squared_sensitivity(relation, bound)
    if kind == "gradient":
        return gradient_squared_sensitivity(relation, bound)
    return averaging_squared_sensitivity(relation) if kind == "averaging" else hessian_squared_sensitivity(relation)


def published_square(kind: str, bound: Number) -> Number:
    """The squared sensitivity that the paper gives, whatever the neighbours."""
    if kind == "newton":
        return newton_squared_sensitivity_as_published()
    if kind == "gradient" and bound != 1:
        return bound * bound + 1  # Section 4.2: gradient clipping
    return (
        hessian_squared_sensitivity(Relation.ADD_REMOVE)
        if kind == "hessian"
        else (counting_squared_sensitivity_as_published())
    )


def queries(params: Params, schema: Schema) -> int:
    """kappa_s + kappa_w + kappa_c of one score (Table 1, as the ledger repairs it)."""
    splits, trees, chosen = Splits(params.splits), all_trees(params, schema), chosen_features(params, schema)
    asked = split_queries(splits, trees, chosen, params.depth) + weight_queries(splits, trees)
    return int(asked + candidate_queries(splits, all_rounds(params, schema), chosen))


def query_mu(params: Params, schema: Schema) -> float:
    """What one query may cost: queries of equal cost compose as the root of their number (fedgbdt/exact-composition).

    More than two classes share epsilon and delta (fedgbdt/one-vs-rest-divided). Discrete Gaussians keep below a
    Gaussian's Renyi curve, not below its exact profile.
    """
    models = schema.scores
    delta = params.delta / models if params.one_vs_rest == "divided" else params.delta
    accounting = params.accounting if params.noise == "floating" else "renyi"
    return total_mu(params.epsilon / models, delta, accounting) / math.sqrt(queries(params, schema))


def plan(params: Params, schema: Schema, *, proved: bool = False) -> Plan:
    """Everything that `train` will release. proved: with the ledger's sensitivities instead of the declared ones."""
    mu = query_mu(params, schema)
    hessian = hessian_charge(params, schema, mu)

    def tree(number: int, sums: Charge) -> Iterator[Release]:
        if number <= all_rounds(params, schema) and params.splits != "histogram":
            yield from (hessian.release(f"Hessian histogram {i}", proved) for i in range(chosen))
        yield from (sums.release(name, proved) for name in split_names(params, chosen))

    def batch(number: int, trees: range) -> Event:
        sums = sums_charge(params, schema, mu, number)
        asked = [release for t in trees for release in tree(t, sums)]
        leaves = [sums.release("leaves", proved)] * (len(trees) if asks_leaves(params, chosen) else 0)
        return Sequential((*asked, *leaves))

    chosen = chosen_features(params, schema)
    events = (batch(number, trees) for number, trees in enumerate(batches(params, schema)))
    run = tuple(Repeat(event, len(list(same))) for event, same in groupby(events))
    return Plan(params.relation, Repeat(Sequential(run), schema.scores))


def asks_leaves(params: Params, chosen: int) -> bool:
    """Whether the leaves need a query of their own. One random candidate of one feature leaves nothing to score."""
    return params.splits == "totally-random" or (params.splits == "partially-random" and chosen == 1)


def split_names(params: Params, chosen: int) -> list[str]:
    """The queries of a tree's splits; one histogram serves all levels of a tree of one feature (Section 5.1)."""
    if asks_leaves(params, chosen):
        return []
    if chosen == 1:
        return ["histogram"]
    what = "histogram" if params.splits == "histogram" else "sides"
    return [f"{what} {i} of level {level}" for level in range(params.depth) for i in range(chosen)]


def certificate(params: Params, schema: Schema) -> Certificate:
    """Claimed: (epsilon, delta) (Theorem 4.1). Established: the plan's cost with the ledger's sensitivities."""
    breaches = []
    if params.candidates == "quantiles":
        breaches.append("split candidates are values of the records (fedgbdt/table-1-quantiles): outputs reveal them")
    if params.noise_by == "record" and params.local == "index":
        breaches.append("records send the index of their leaf without noise (fedgbdt/ldp-leaf-index)")
    proved = plan(params, schema, proved=True)
    bound = account(proved, delta=params.delta, quick=params.noise == "discrete")  # its distributions take gigabytes
    remark = f"established at delta {params.delta:g}: " + ", ".join(
        f"{said} epsilon {bound.methods[name]:.6g}" for name, said in METHODS.items() if name in bound.methods
    )
    return issue(
        "fedgbdt",
        Guarantee(params.epsilon, params.delta),
        plan(params, schema),
        proved,
        tuple(breaches),
        schema=schema,
        established=bound.epsilon,
        rests_on=WHOLE[params.relation],
        remarks=(remark,),
    )


METHODS = {"exact": "exact Gaussian composition gives", "renyi": "Renyi composition"}
WHOLE = {
    Relation.ADD_REMOVE: ("fedgbdt/run", "fedgbdt/rounding"),
    Relation.REPLACE_ONE: ("fedgbdt/run-replace-one", "fedgbdt/rounding-replace-one"),
}
"""Claims on the whole algorithm and on the grid of (g, h)."""
