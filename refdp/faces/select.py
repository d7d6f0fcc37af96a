"""Private selection among settings: train some of them at random, and keep the one of the best private score.

    chosen = refdp.select([FedGBDTClassifier(trees=50, **public), FedGBDTClassifier(trees=200, **public)], X, y,
                          score_epsilon=0.1, mean_runs=10)
    chosen.estimator            # fitted; its certificate_ is about the whole selection
    chosen.epsilon, chosen.delta

How many runs there were is secret and in nothing that is returned; how long it took tells something of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from refdp.accounting.budget import PrivacyBudget, ScopedBudget
from refdp.accounting.selection import Repetitions, selection_epsilon
from refdp.checks import check_number
from refdp.data.records import Schema
from refdp.errors import InvalidParameter, PrivacyWarning, RepeatedFitWarning
from refdp.faces import registry
from refdp.faces.budgets import repeated
from refdp.faces.seeds import ReproducibleSeed, generator_for, seeded
from refdp.io import frames
from refdp.ledger import claims
from refdp.ledger.certificate import Certificate, Guarantee
from refdp.noise.calibration import laplace_charge
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge, Plan, Relation, Sensitivity, Sequential
from refdp.privacy.sources import SampleSource

SCORE_CLAIM = "composition/laplace"
CLAIMS = ("composition/selection-renyi", "composition/selection-pure")
"""What the cost of the selection rests on, besides what one run rests on."""
GRID = 2.0**-10
"""Scores are sums of one number in [0, 1] a record, rounded to this."""


@dataclass(frozen=True)
class Selection:
    """What was selected: a fitted estimator, which of the candidates it was, its private score (negative number of
    errors, or negative sum of squared errors in units of the label range), and what all of it costs."""

    estimator: Any
    index: int
    score: float
    epsilon: float
    delta: float
    certificate: Certificate


def select(
    candidates: Sequence[Any],
    X: Any,
    y: Any,
    *,
    score_epsilon: float,
    mean_runs: float | None = None,
    eta: int = 0,
    delta: float | None = None,
    budget: PrivacyBudget | ScopedBudget | None = None,
    insecure_seed: ReproducibleSeed | None = None,
) -> Selection:
    """Train and score candidates at random, K times, and return the best.

    candidates: unfitted estimators of refdp with public bounds of every column and classes or label_bounds, of one
    relation.
    score_epsilon: pure epsilon of each score. mean_runs: E K, twice the number of candidates if not given. eta: 0 for
    the logarithmic law of K (cheaper), 1 for the geometric one. delta: of the result; the largest of the candidates'.
    budget: a `refdp.PrivacyBudget` that the whole selection is charged to before the first run, its epsilon at delta.
    Errors: InvalidParameter for candidates that do not go together or of which nothing is established, and
    BudgetExceeded, before any run; what fits raise.
    """
    kept = _checked(candidates)
    check_number("score_epsilon", score_epsilon, above=0)
    law = Repetitions.of_mean(2.0 * len(kept) if mean_runs is None else mean_runs, eta)
    if delta is not None:
        check_number("delta", delta, least=0, below=1)
    relation = Relation(kept[0].relation or Relation.ADD_REMOVE)
    declared = Sensitivity(1.0, 1, SCORE_CLAIM, relation)
    charge = laplace_charge(score_epsilon, declared, declared, "discrete", touched=1)
    generator = generator_for(insecure_seed)
    drawn = np.random.default_rng() if generator is None else generator
    described = [_described(one, X, y) for one in kept]
    plans, largest = _plans([(one, schema) for one, (schema, _) in zip(kept, described, strict=True)], charge, relation)
    at = largest if delta is None else delta
    epsilon = selection_epsilon(law, plans, at)
    if budget is not None:
        budget.charge_known(epsilon, at, name="selection", relation=relation)
    repeated(budget, X, y)
    best: tuple[float, int, Any] | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepeatedFitWarning)
        for _ in range(law.draw(drawn)):
            index = int(drawn.integers(len(kept)))
            model = clone(kept[index]).fit(X, y)
            score = _score(model, X, described[index][1], charge, relation, drawn)
            if best is None or score > best[0]:
                best = score, index, model
    assert best is not None  # K is at least 1
    score, index, model = best
    certificate = _certificate(model.certificate_, epsilon, at, law, len(kept))
    certificate = certificate.assuming(*seeded(generator))
    model.certificate_ = certificate
    return Selection(model, index, score, epsilon, at, certificate)


def _checked(candidates: Sequence[Any]) -> list[Any]:
    kept = list(candidates)
    if not kept or not all(hasattr(one, "_paper") and hasattr(one, "_target_parameter") for one in kept):
        raise InvalidParameter("candidates: at least one estimator of refdp is needed, and no other object")
    if len({(Relation(one.relation or "add-remove"), one._regression) for one in kept}) > 1:
        raise InvalidParameter("candidates of several relations or tasks: one of each is needed")
    for one in kept:
        if one.bounds is None or getattr(one, one._target_parameter) is None:
            raise InvalidParameter(f"a candidate without bounds or {one._target_parameter}: no guarantee would hold")
        if one.budget is not None:
            raise InvalidParameter("a candidate with a budget: selection has one cost, not one a run")
        if getattr(one, "extra_trees", 0) or getattr(one, "scheme", "") == "np":
            raise InvalidParameter("a candidate with extra_trees or scheme 'np': its plan is not what it costs")
    return kept


def _described(candidate: Any, X: Any, y: Any) -> tuple[Schema, Any]:
    """The public description that this candidate is trained under, and one label a record, as its predictions are.

    Errors: InvalidRecords; InvalidParameter where a column has no bounds, which would be taken from the records.
    """
    asked = clone(candidate)
    features, observed = asked._described(asked._validated(X, reset=True))
    if observed:
        raise InvalidParameter(f"a candidate without bounds of {', '.join(observed[:5])}: no guarantee would hold")
    target, label, _ = asked._target(frames.labels(y))
    return Schema(features, target), label if asked._regression else asked.classes_[label.astype(np.int64)]


def _score(model: Any, X: Any, y: Any, charge: Charge, relation: Relation, generator: np.random.Generator) -> float:
    """-(sum of one number in [0, 1] a record) with discrete Laplace noise. y: of `_described`, shape (records,)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        found = model.predict(X)
    if model._regression:
        low, high = (float(bound) for bound in model.label_bounds)
        error = np.clip((found - np.clip(np.asarray(y, dtype=float), low, high)) / (high - low), -1, 1) ** 2
    else:
        error = (np.asarray(found).astype(str) != np.asarray(y).astype(str)).astype(float)
    total = float(np.round(error / GRID).sum() * GRID)
    curator = Curator(SampleSource(generator, exact=True), relation)
    return float(curator.release("score", charge, np.array([-total]))[0])


def _plans(kept: Sequence[tuple[Any, Schema]], charge: Charge, relation: Relation) -> tuple[list[Plan], float]:
    """Training and score of every candidate under its schema, as the ledger proves them, and the largest delta.

    Errors: InvalidParameter for a candidate of which nothing is established.
    """
    plans, deltas = [], []
    for one, schema in kept:
        paper = registry.paper(one._paper)
        params = one._params(paper, schema)
        issued = paper.certificate(params, schema)
        if not np.isfinite(issued.established.epsilon):
            raise InvalidParameter(f"a candidate of which nothing is established: {'; '.join(issued.notes)}")
        trained = paper.module.plan(params, schema, proved=True)
        plans.append(Plan(relation, Sequential((trained.event, charge.release("score", True)))))
        deltas.append(float(issued.claimed.delta))
    return plans, max(deltas)


def _certificate(winner: Certificate, epsilon: float, delta: float, law: Repetitions, candidates: int) -> Certificate:
    """The winner's, with the cost of the selection in place of that of one run."""
    law_text = f"law eta = {law.eta}, gamma = {law.gamma:.6g}, mean {law.mean:.6g}"
    note = (
        f"the best of a secret number of runs ({law_text}) among {candidates} candidates: one run of the winner has "
        f"epsilon {winner.established.epsilon:.6g}"
    )
    said = (
        "private selection costs what Theorem 2 of Papernot and Steinke (2022) says: argued from lemmas that machines "
        f"checked ({CLAIMS[0]}), not proved by a machine as a whole",
        "the number of runs is drawn in floating point by a generator of numpy and kept secret, with the time it takes",
    )
    needed = tuple((name, claims.verdict(name)) for name in claims.closure(set(CLAIMS)))
    stands = all(verdict in claims.ESTABLISHED for _, verdict in needed)
    found = replace(
        winner, claimed=Guarantee(epsilon, delta), established=Guarantee(epsilon if stands else np.inf, delta),
        notes=(*winner.notes, note), rests_on=tuple(dict.fromkeys((*winner.rests_on, *needed))),
    )  # fmt: skip
    return found.assuming(*said)
