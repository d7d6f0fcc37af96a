"""Private selection among settings: train some of them at random, and keep the one of the best private score.

    chosen = refdp.select([FedGBDTClassifier(trees=50, **public), FedGBDTClassifier(trees=200, **public)], X, y,
                          score_epsilon=0.1, mean_runs=10)
    chosen.estimator            # fitted; its certificate_ is about the whole selection
    chosen.epsilon, chosen.delta

How many runs there were is secret: it is in nothing that is returned, warned of, printed or raised, nor in a candidate
or a seed. How long it took tells something of it, and so does all else that is seen of the process at work.
Whatever a fit warns of or refuses it says once a candidate, from a rehearsal that ends where a budget would be charged;
what a candidate does with records is refdp's own text: a class derived from refdp's may change defaults alone, and runs
are fits of the class that it is derived from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import FunctionType, GetSetDescriptorType
from typing import Any

import numpy as np
from sklearn.base import clone

from refdp.accounting.budget import PrivacyBudget, ScopedBudget
from refdp.accounting.selection import Repetitions, selection_epsilon
from refdp.checks import check_number, of_numpy
from refdp.data.records import Schema
from refdp.errors import InvalidParameter, RefdpError
from refdp.faces import registry
from refdp.faces.estimators.base import PrivateEstimator, _range
from refdp.faces.estimators.labels import public_classes
from refdp.faces.repeats import parts_of_one, related, remember, repeated
from refdp.faces.seeds import SEED_ASSUMPTION, ReproducibleSeed, generator_for, seeded
from refdp.faces.training import generator_of
from refdp.faces.warned import muted, silence
from refdp.io import frames
from refdp.ledger import claims
from refdp.ledger.certificate import Certificate, Guarantee, composition, lines
from refdp.ledger.parts import LEFT_OUT, is_refdps
from refdp.ledger.proved import SELECTION
from refdp.noise.calibration import laplace_charge
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge, Plan, Relation, Sensitivity, Sequential
from refdp.privacy.sources import SampleSource

SCORE_CLAIM = "composition/laplace"
GRID = 2.0**-10
"""Scores are sums of one number in [0, 1] a record, rounded to this."""
HARMLESS = LEFT_OUT | {
    "__abstractmethods__",
    "__init__",
    "__module__",
    "__orig_bases__",
    "__parameters__",
    "__qualname__",
}
"""What a class derived from refdp's has of its own and no fit or score calls."""


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


@dataclass(frozen=True)
class _Candidate:
    """One that no fit refuses any more.

    estimator: unfitted, of refdp's own class, with a seed of its own if it has one. shell: unfitted, of the class that
    was given. label: one a record, classes by their place, shape (records,). plan: of training and score, as the ledger
    proves them. certificate: of one run.
    """

    estimator: Any
    shell: Any
    label: Any
    plan: Plan
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

    candidates: unfitted estimators of refdp with public bounds of every column, and the same classes or label_bounds
    and relation; of a class derived from refdp's, if it changes none of its methods. X, y: as `fit` takes them, in
    memory.
    score_epsilon: pure epsilon of each score. mean_runs: E K, twice the number of candidates if not given. eta: 0 for
    the logarithmic law of K (cheaper), 1 for the geometric one. delta: of the result; the largest of the candidates'.
    budget: a `refdp.PrivacyBudget` that the whole selection is charged to before the first run, its epsilon at delta.
    Errors: InvalidParameter for candidates that do not go together, of which nothing is established, or whose epsilon
    is infinite at delta, and for Dask frames, whose cluster would show how many runs there are; InvalidRecords; what
    else a fit refuses; and BudgetExceeded: all before any run, and nothing is charged. RefdpError if a run fails, which
    says neither which nor why, and leaves the selection charged.
    Warns: once a candidate of what its fit warns of, before any run. Runs are silent, and no other thread is; of what
    other packages warn of in a run that holds unless another thread puts a filter of warnings before all others in it.
    """
    kept = _checked(candidates)
    score_epsilon, mean_runs, eta, delta = map(of_numpy, (score_epsilon, mean_runs, eta, delta))
    check_number("score_epsilon", score_epsilon, above=0)
    law = Repetitions.of_mean(2.0 * len(kept) if mean_runs is None else mean_runs, eta)
    if delta is not None:
        check_number("delta", delta, least=0, below=1)
    if budget is not None and not isinstance(budget, PrivacyBudget | ScopedBudget):
        raise InvalidParameter(f"budget = {budget!r}: a refdp.PrivacyBudget, its on(...) or None is allowed")
    if "dask" in map(frames.computed_by, (X, y)):
        raise InvalidParameter(
            "selection on Dask frames or arrays: a cluster shows how many runs there are; give data frames"
        )
    frames.check_here(X, y)
    relation = _relation(kept[0])
    declared = Sensitivity(1.0, 1, SCORE_CLAIM, relation)
    charge = laplace_charge(score_epsilon, declared, declared, "discrete", touched=1)
    generator = generator_for(insecure_seed)
    table, labels = frames.read_once(X), frames.labels(y)
    with np.errstate(all="ignore"):  # as fits do
        ready = [_rehearsed(one, table, labels, charge, relation) for one in kept]
        at = max(float(one.certificate.claimed.delta) for one in ready) if delta is None else float(delta)
        epsilon = selection_epsilon(law, [one.plan for one in ready], at)
    if not math.isfinite(epsilon):
        raise InvalidParameter(f"delta = {at:g}: the epsilon of the selection is infinite at it, since a candidate has "
                               "no pure guarantee; a delta > 0 is needed")  # fmt: skip
    repeated(budget, X, y, by=kept)
    if budget is not None:
        budget.charge_known(epsilon, at, name="selection", relation=relation)
    remember(budget, X, y, by=kept)
    found = _best(ready, table, labels, law, charge, relation, generator_of(generator))
    if found is None:
        raise RefdpError("a run of the selection failed; which and why would tell of the records and of the number of "
                         "runs. Fit every candidate by itself, on records that are not private, to see it")  # fmt: skip
    score, index, fitted = found
    model = _returned(fitted, ready[index].shell)
    model.insecure_seed = kept[index].insecure_seed
    certificate = _certificate(model.certificate_, ready, Guarantee(epsilon, at), law, charge, score_epsilon)
    certificate = certificate.assuming(*seeded(generator))
    model.certificate_ = certificate
    return Selection(model, index, score, epsilon, at, certificate)


# --- Before any run ---------------------------------------------------------------------------------------------------


def _checked(candidates: Any) -> list[Any]:
    """The candidates, if they go together by what they were given alone. Errors: InvalidParameter."""
    kept = list(candidates) if isinstance(candidates, Iterable) else []
    if not kept or not all(isinstance(one, PrivateEstimator) for one in kept):
        raise InvalidParameter("candidates: a list of at least one estimator of refdp is needed, and no other object")
    if len({(_relation(one), one._regression) for one in kept}) > 1:
        raise InvalidParameter("candidates of several relations or tasks: one of each is needed")
    for one in kept:
        if changed := _changed(one):
            raise InvalidParameter(
                f"a candidate of {type(one).__name__}, which has a {changed} of its own: what that does with records, "
                "and what it would cost, is not known; a class derived from refdp's may change defaults"
            )
        if one.bounds is None or getattr(one, one._target_parameter) is None:
            raise InvalidParameter(f"a candidate without bounds or {one._target_parameter}: no guarantee would hold")
        if one.budget is not None:
            raise InvalidParameter("a candidate with a budget: selection has one cost, not one a run")
        if getattr(one, "extra_trees", 0) or getattr(one, "scheme", "") == "np":
            raise InvalidParameter("a candidate with extra_trees or scheme 'np': its plan is not what it costs")
    if len({_target(one) for one in kept}) > 1:
        raise InvalidParameter(f"candidates of several {kept[0]._target_parameter}: their scores have different units, "
                               "and the best of them would mean nothing; give all of them the same")  # fmt: skip
    return kept


def _changed(candidate: Any) -> str:
    """The first name under which a candidate has something else than the class of refdp that it is derived from."""
    kind, own = type(candidate), _own(candidate)
    others = [base for base in kind.__mro__ if base not in own.__mro__]
    names = [name for base in others for name, value in vars(base).items() if _behaves(own, name, value)]
    names += [name for name in vars(candidate) if hasattr(own, name) and name not in own._get_param_names()]
    names += [] if hasattr(own, "_paper") else ["trainer"]
    return next(iter(names), "" if type(kind) is type(own) else "metaclass")


def _own(candidate: Any) -> Any:
    """The class of refdp that a candidate's is, or is derived from."""
    return next(base for base in type(candidate).__mro__ if is_refdps(base))


def _behaves(own: Any, name: str, value: Any) -> bool:
    """Whether something in a class derived from refdp's is, or may be, used in place of what is in that one.

    So may whatever has a name that fits set: what describes it is asked before what a fit has set.
    """
    if name in ("__dict__", "__weakref__"):
        return type(value) is not GetSetDescriptorType
    describes = hasattr(type(value), "__get__")
    if name.startswith("__"):
        return name not in HARMLESS or (describes and type(value) is not FunctionType)
    if name.startswith("set_") and name.endswith("_request"):  # scikit-learn gives every class its own
        return not type(value).__module__.startswith("sklearn.")
    if name in own._get_param_names():
        return callable(value) or describes
    return (hasattr(own, name) and name not in LEFT_OUT) or name.endswith("_")


def _bare(candidate: Any) -> Any:
    """An unfitted one of refdp's own class with a candidate's parameters: nothing of another class is called in it."""
    own = _own(candidate)
    made = clone(own(**{name: getattr(candidate, name) for name in own._get_param_names()}))
    related(candidate, made)
    return made


def _returned(fitted: Any, shell: Any) -> Any:
    """What was fitted, as one of the class that was given."""
    if type(shell) is type(fitted):
        return fitted
    names = type(fitted)._get_param_names()
    vars(shell).update({name: value for name, value in vars(fitted).items() if name not in names})
    return shell


def _relation(candidate: Any) -> Relation:
    given = candidate.relation
    if given is not None and given not in list(Relation):
        raise InvalidParameter(f"relation = {given!r}: {' or '.join(Relation)} is allowed")
    return Relation.ADD_REMOVE if given is None else Relation(given)


def _target(candidate: Any) -> Any:
    """What two candidates have to have alike for their scores to have one unit."""
    given = getattr(candidate, candidate._target_parameter)
    if candidate._regression:
        return _range(given)
    return tuple(map(frames.text_of, public_classes(given)))


class _Rehearsal(PrivacyBudget):
    """In the place of a budget: ends a fit where it would be charged, with all checked and nothing released."""

    def charge(
        self, plan: Plan, *, established: tuple[float, float] | None = None, name: str = "", scope: str | None = None
    ) -> None:
        """Errors: always."""
        raise _Ended


class _Ended(Exception):
    """A rehearsal came to its end."""


def _rehearsed(candidate: Any, X: Any, labels: Any, charge: Charge, relation: Relation) -> _Candidate:
    """The candidate after everything that its fit may refuse or warn of. labels: shape (records,).

    Errors: InvalidRecords; InvalidParameter where a column has no bounds, which would be taken from the records, or
    nothing is established; what else a fit refuses.
    """
    asked, shell = _bare(candidate), clone(candidate)
    features, observed = asked._described(asked._validated(X, reset=True))
    if observed:
        raise InvalidParameter(f"a candidate without bounds of {', '.join(observed[:5])}: no guarantee would hold")
    target, label, _ = asked._target(labels)
    schema = Schema(features, target)
    paper = registry.paper(asked._paper)
    with silence():  # what this warns of the rehearsal says
        params = asked._params(paper, schema)
    issued = paper.certificate(params, schema)
    if not np.isfinite(issued.established.epsilon):
        raise InvalidParameter(f"a candidate of which nothing is established: {'; '.join(issued.notes)}")
    trained = paper.module.plan(params, schema, proved=True)
    plan = Plan(relation, Sequential((trained.event, charge.release("score", True))))
    estimator = _bare(candidate)
    estimator.insecure_seed = _own_seed(candidate.insecure_seed)
    rehearsal = clone(estimator)
    rehearsal.budget = _Rehearsal(1.0)
    try:
        with parts_of_one():
            rehearsal.fit(X, labels)
    except _Ended:
        own = estimator.insecure_seed is not None
        issued = issued.assuming(*((SEED_ASSUMPTION,) if own else ()))
        return _Candidate(estimator, shell, label, plan, issued)
    raise InvalidParameter(f"a candidate of {type(candidate).__name__}, whose fit asks no budget before it trains")


def _own_seed(seed: Any) -> Any:
    """A seed for the runs of one candidate; the given one, which others see, is used once, however many there are."""
    generator = seed.generator() if isinstance(seed, ReproducibleSeed) else None
    if generator is None:
        return None if isinstance(seed, ReproducibleSeed) else seed
    return ReproducibleSeed(int.from_bytes(generator.bytes(16), "little"))


# --- Runs -------------------------------------------------------------------------------------------------------------


def _best(
    ready: Sequence[_Candidate], X: Any, labels: Any, law: Repetitions, charge: Charge, relation: Relation,
    generator: np.random.Generator,
) -> tuple[float, int, Any] | None:  # fmt: skip
    """Score, index and model of the best of K runs, in silence; None if one of them fails, whichever and why.

    To the cost a run that fails is one of the greatest score: it is all that is told of the runs.
    """
    best: tuple[float, int, Any] | None = None
    with parts_of_one(), np.errstate(all="ignore"):
        try:
            for _ in range(law.draw(generator)):
                with muted():
                    index = int(generator.integers(len(ready)))
                    model = clone(ready[index].estimator).fit(X, labels)
                    score = _score(model, X, ready[index].label, charge, relation, generator)
                if best is None or score > best[0]:
                    best = score, index, model
        except Exception:
            return None
    return best


def _score(model: Any, X: Any, y: Any, charge: Charge, relation: Relation, generator: np.random.Generator) -> float:
    """-(sum of one number in [0, 1] a record) with discrete Laplace noise. y: shape (records,)."""
    if model._regression:
        found = model.predict(X)
        low, high = (float(bound) for bound in model.label_bounds)
        error = np.clip((found - np.clip(np.asarray(y, dtype=float), low, high)) / (high - low), -1, 1) ** 2
    else:
        known, model.classes_ = model.classes_, np.arange(len(model.classes_))
        error = (model.predict(X) != y).astype(float)
        model.classes_ = known
    total = float(np.round(error / GRID).sum() * GRID)
    curator = Curator(SampleSource(generator, exact=True), relation)
    return float(curator.release("score", charge, np.array([-total]))[0])


def _certificate(
    winner: Certificate, ready: Sequence[_Candidate], cost: Guarantee, law: Repetitions, charge: Charge,
    score_epsilon: float,
) -> Certificate:  # fmt: skip
    """The winner's and its score's, with the cost of the selection in place of that of one run, and with what scores
    and the runs of all candidates rest on: each of them may have been run."""
    law_text = f"law eta = {law.eta}, gamma = {law.gamma:.6g}, mean {law.mean:.6g}"
    note = (
        f"the best of a secret number of runs ({law_text}) among {len(ready)} candidates, by scores of epsilon "
        f"{score_epsilon:g} each: one run of the winner has epsilon {winner.established.epsilon:.6g}"
    )
    said = (
        "private selection costs what Theorem 2 of Papernot and Steinke (2022) says: argued from lemmas that machines "
        f"checked ({claims.OF_SELECTIONS[0]}), not proved by a machine as a whole",
        "the number of runs is drawn in floating point by a generator of numpy and kept secret, with the time it takes",
    )
    score = Plan(winner.relation, charge.release("score", True))
    own = {*claims.OF_SELECTIONS, SCORE_CLAIM, *composition(score)}
    needed = tuple((name, claims.verdict(name)) for name in claims.closure(own))
    stands = all(verdict in claims.ESTABLISHED for _, verdict in needed)
    others = [one.certificate for one in ready]
    rests_on = (*winner.rests_on, *(line for one in others for line in one.rests_on), *needed)
    found = winner.of_another(
        SELECTION, cost if stands else Guarantee(np.inf, cost.delta), claimed=cost, notes=(*winner.notes, note),
        rests_on=tuple(dict.fromkeys(rests_on)), releases=(*winner.releases, *lines(score)),
    )  # fmt: skip
    return found.assuming(*(line for one in others for line in one.assumptions), *said)
