"""diffprivlib: mechanisms and the random forest."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from diffprivlib import mechanisms
from diffprivlib.accountant import BudgetAccountant
from diffprivlib.models import RandomForestClassifier
from diffprivlib.utils import PrivacyLeakWarning

from benchmarks.packages.checks import Check, Outcome, Table, from_replay, from_structure, table
from refdp.audit.adapters.diffprivlib import leaf_labels_from_seeds
from refdp.audit.opened_replay import audit_opened
from refdp.audit.structural import inspect
from refdp.privacy.events import Relation

PACKAGE = "diffprivlib"
TREES = 10
FOREST = (
    "models.RandomForestClassifier: “ε-Differential privacy is achieved by constructing decision trees via random "
    "splitting criterion and applying the PermuteAndFlip Mechanism to determine a noisy label”; “each datapoint is "
    "used to train exactly one tree”"
)
RANDOM = (
    "mechanisms.Laplace: samples are generated “using 4 uniform variates […] to prevent against reconstruction attacks "
    "due to limited floating point precision”"
)
NORMAL = (
    "mechanisms.Gaussian: samples are generated “using two samples from random.normalvariate […] to prevent against "
    "reconstruction attacks due to limited floating point precision”"
)
CALIBRATED = "each mechanism: “epsilon: Privacy parameter ε for the mechanism”"


def checks() -> Iterator[Check]:
    """Everything that is asked of diffprivlib, on Adult and cod-rna."""
    for name in ("adult", "cod_rna"):
        data = table(name, 2000)
        yield from _mechanisms(data)
        yield from _forest(table(name, 400))


Maker = Callable[[Any], Any]
MAKERS: dict[str, Maker] = {
    "Laplace": lambda rng: mechanisms.Laplace(epsilon=1.0, sensitivity=1.0, random_state=rng),
    "LaplaceTruncated": lambda rng: mechanisms.LaplaceTruncated(
        epsilon=1.0, sensitivity=1.0, lower=0.0, upper=1e6, random_state=rng
    ),
    "Gaussian": lambda rng: mechanisms.Gaussian(epsilon=1.0, delta=1e-5, sensitivity=1.0, random_state=rng),
    "GaussianAnalytic": lambda rng: mechanisms.GaussianAnalytic(
        epsilon=1.0, delta=1e-5, sensitivity=1.0, random_state=rng
    ),
    "Geometric": lambda rng: mechanisms.Geometric(epsilon=1.0, sensitivity=1, random_state=rng),
    "GaussianDiscrete": lambda rng: mechanisms.GaussianDiscrete(
        epsilon=1.0, delta=1e-5, sensitivity=1, random_state=rng
    ),
    "Snapping": lambda rng: mechanisms.Snapping(epsilon=1.0, sensitivity=1.0, lower=0.0, upper=1e6, random_state=rng),
}
LAWS = ("Laplace", "LaplaceTruncated", "Gaussian", "GaussianAnalytic", "Geometric")
"""Mechanisms whose distribution refdp knows."""
PRECISION = {"Laplace": RANDOM, "LaplaceTruncated": RANDOM, "Gaussian": NORMAL, "GaussianAnalytic": NORMAL}


def _mechanisms(data: Table) -> Iterator[Check]:
    """Counts of real records: scale against declared cost, the noise that comes out, and the last bits of a noisy 0."""
    pairs = [(data.y, np.delete(data.y, row)) for row in (0, 1)]
    for name, make in MAKERS.items():

        def count(labels: Any, make: Maker = make) -> list[Any]:
            rng = np.random.RandomState(7)
            return [make(rng).randomise(int((labels == label).sum()) if whole else 0) for label, whole in CELLS]

        delta = 1e-5 if "Gaussian" in name else 0.0
        report = audit_opened(count, pairs, PACKAGE, epsilon=1.0, delta=delta)
        known = (
            "scale, sampler, sensitivity and loss" if name in LAWS else "sensitivity and control flow (no known law)"
        )
        question = f"{name}: {known} of noisy counts"
        first = next(iter(report.kinds()), "budget")
        yield from_replay(PACKAGE, data.name, question, report, first, CALIBRATED)
    for name, make in MAKERS.items():
        found = _last_bits(data, make)
        question = f"{name}: do the last bits of a noisy count tell a 0 from a 1?"
        statement = PRECISION.get(name, CALIBRATED)
        yield from_structure(PACKAGE, data.name, question, found, ("precision", "support"), statement, calls=BITS)


CELLS = [(label, True) for label in (0.0, 1.0)] + [(0.0, False)] * 60
"""The two labels are counted, and sixty empty cells show whether the noise has the scale that it says."""


BITS = 4000
"""Runs a side for the last bits: Gaussian noise at ε = 1 is rarely so small that they show."""


def _last_bits(data: Table, make: Maker) -> list[Any]:
    """The count of records with one record's exact values: 1 with it, 0 without it; the system's own randomness."""
    distinct = np.unique(data.x, axis=0, return_index=True, return_counts=True)
    row = int(distinct[1][np.argmin(distinct[2])])
    wanted = data.x[row]

    def count(rows: Any, generator: Any) -> float:
        return float(make(None).randomise(int((rows == wanted).all(axis=1).sum())))

    return inspect(count, (data.x, data.without(row)[0]), seed=1, delta=make(None).delta, calls=BITS, order=False)


def _forest(data: Table) -> Iterator[Check]:
    """The random forest with bounds and classes given, so that nothing has to be read off the data."""

    def train(rows: Any, seed: Any = 3) -> Any:
        model = RandomForestClassifier(
            TREES,
            epsilon=1.0,
            bounds=(data.low, data.high),
            classes=[0, 1],
            max_depth=4,
            random_state=seed,
            accountant=BudgetAccountant(),
        )
        return model.fit(*rows)

    yield from _forest_replays(data, train)
    small = table(data.name, 200)
    yield _forest_seeds(small, train)
    found = inspect(
        lambda rows, generator: train(rows, int(generator.integers(2**31))),
        (small.rows, small.without(0)),
        seed=2,
        calls=120,
        order=False,
    )
    for question, kinds in (
        ("forest: exact statistics in the model object", ("exact statistic",)),
        ("forest: outputs possible on one side only", ("support", "identical outputs")),
        ("forest: noise shared between trees", ("reused noise",)),
    ):
        yield from_structure(PACKAGE, data.name, question, found, kinds, FOREST, calls=120)
    yield _forest_bounds(data)


def _forest_replays(data: Table, train: Callable[..., Any]) -> Iterator[Check]:
    rows = data.rows
    removed = audit_opened(
        train, [(rows, data.without(0)), (rows, data.without(len(rows[1]) // 2))], PACKAGE, epsilon=1.0
    )
    yield from_replay(
        PACKAGE,
        data.name,
        f"forest of {TREES} trees, a record removed: loss of the run (sum over trees, exact)",
        removed,
        "budget",
        FOREST,
        " nats: trees take records by position, so that removing one moves others between trees",
    )
    swapped = audit_opened(
        train,
        [(rows, data.relabelled(row)) for row in range(40)],
        PACKAGE,
        epsilon=1.0,
        relation=Relation.REPLACE_ONE,
    )
    yield from_replay(
        PACKAGE,
        data.name,
        f"forest of {TREES} trees, a label replaced: loss of the run (sum over trees, exact)",
        swapped,
        "budget",
        FOREST,
        " nats: `monotonic=True` halves the noise, and one count rises while another falls",
    )
    yield from_replay(
        PACKAGE,
        data.name,
        "forest: does the fitted model hold anything but the noisy labels?",
        swapped,
        "result",
        FOREST,
    )


def _forest_seeds(data: Table, train: Callable[..., Any]) -> Check:
    """`random_state=None`: the seeds of the noise are attributes of the published trees."""
    model = train(data.rows, None)
    own = leaf_labels_from_seeds(model, *data.rows)
    others = [leaf_labels_from_seeds(model, *data.relabelled(row)) for row in range(len(data.y))]
    lowest = min(others)
    outcome: Outcome = "found" if own == TREES and lowest < TREES else "not found"
    evidence = (
        f"random_state=None: {own} of {TREES} published trees follow bit for bit from the records and the trees' "
        f"`random_state`; {sum(other < TREES for other in others)} of {len(others)} neighbours with one label replaced "
        "give another tree from the same seeds, so that the published model rules them out"
    )
    where = "estimators_[i].random_state"
    return Check(
        PACKAGE, data.name, "forest: does the model hold the seeds of its noise?", outcome, where, evidence, FOREST
    )


def _forest_bounds(data: Table) -> Check:
    """Without bounds and classes: read off the data, with a warning."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = RandomForestClassifier(TREES, epsilon=1.0, accountant=BudgetAccountant()).fit(*data.rows)
    told = sum(issubclass(warning.category, PrivacyLeakWarning) for warning in seen)
    exact = bool(np.array_equal(model.bounds[1], data.x.astype(np.float32).max(axis=0)))
    evidence = f"model.bounds[1] equals the exact maxima: {exact}; PrivacyLeakWarning raised {told} times"
    statement = "“If not provided, the bounds are computed on the data […], resulting in a PrivacyLeakWarning”"
    outcome: Outcome = "documented" if exact and told else "found" if exact else "not found"
    question = "forest without bounds and classes: are they taken from the data?"
    return Check(PACKAGE, data.name, question, outcome, "model.bounds, model.classes", evidence, statement)
