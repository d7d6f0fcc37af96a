"""Settings as a public function of (epsilon, delta, relation, task, classes, features, rows): the defaults of the
estimators and of `refdp train`. No record is read: each is a formula, and two users with the same figures get the same.

`settings="paper"` leaves all of this out and takes what the paper prints; what is given by name always comes first.

rows is a public round number of records, which the caller states; without it `ROWS` is assumed. Two figures drive the
table: mu, what (epsilon, delta) allows in Gaussian differential privacy to one score (K scores share epsilon and delta;
under replace-one a sum changes by twice as much, so half of it), and e, the same share of epsilon itself. rows mu and
rows e are signal over noise of one sum over all records. `docs/defaults.md` shows the table and how it was found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from refdp.checks import check_count
from refdp.data.records import Classes, Schema
from refdp.errors import InvalidParameter, PrivacyWarning
from refdp.faces.registry import Paper
from refdp.faces.stated import doubts
from refdp.faces.warned import warn
from refdp.noise.calibration import total_mu
from refdp.privacy.events import Relation

ROWS = 10_000
"""Assumed where no number of rows is stated."""
DELTA = 1e-5
"""The delta of systems with Gaussian noise where none is stated; a tenth of 1 / rows among more than `ROWS`."""
SETTINGS = ("default", "paper")

CHOSEN: Mapping[str, frozenset[str]] = {
    "dpboost": frozenset(
        ("trees", "trees_per_ensemble", "depth", "regularisation", "shrinkage", "gradient_bound", "gradients",
         "candidates", "bins")
    ),
    "inprivate": frozenset(
        ("rounds", "depth", "split_share", "turn_budget", "residual_bound", "leaf_bound", "damping", "shrinkage",
         "bins")
    ),
    "dpxgboost": frozenset(
        ("delta", "trees", "depth", "regularisation", "shrinkage", "gradient_bound", "gain", "gradients", "candidates",
         "bins", "leaf", "child_minimum", "subsample")
    ),
    "grove": frozenset(("delta",)),  # its module follows rows by itself
    "fedgbdt": frozenset(
        ("delta", "trees", "depth", "regularisation", "shrinkage", "leaf_clip", "candidates", "rounds",
         "features_per_tree", "gradient_bound", "one_vs_rest")
    ),
    "sgbdt": frozenset(
        ("delta", "trees", "depth", "shrinkage", "regularisation", "gradient_bound", "subsample", "support_weight",
         "initial_share", "orders")
    ),
}  # fmt: skip
"""What the table decides, by paper; everything else is the paper's."""


@dataclass(frozen=True)
class Public:
    """What everybody may know of a run before it starts. scores: one-vs-rest models, 1 unless there are 3 classes."""

    epsilon: float
    delta: float
    regression: bool
    scores: int = 1
    rows: int = ROWS
    relation: Relation = Relation.ADD_REMOVE
    features: int = 1

    @property
    def e(self) -> float:
        """Pure epsilon of one score, in units of what one record changes."""
        return self.epsilon / self.scores / (2 if self.relation is Relation.REPLACE_ONE else 1)

    @property
    def mu(self) -> float:
        """Gaussian differential privacy of one of K scores that share the budget, in the same units: 1 / sqrt(K)."""
        return self._mu(total_mu(self.epsilon, self.delta, "exact") / math.sqrt(self.scores))

    @property
    def divided_mu(self) -> float:
        """The same where each score has epsilon / K and delta / K."""
        return self._mu(total_mu(self.epsilon / self.scores, self.delta / self.scores, "exact"))

    def _mu(self, added: float) -> float:
        return added / (2 if self.relation is Relation.REPLACE_ONE else 1)


def check_settings(settings: object, rows: object) -> None:
    """Errors: InvalidParameter unless settings is "default" or "paper", and rows None or a whole number."""
    if settings not in SETTINGS:
        raise InvalidParameter(f"settings = {settings!r}: one of {', '.join(map(repr, SETTINGS))} is allowed")
    if rows is not None:
        check_count("rows", rows, most=10**12)


def delta_of(rows: int) -> float:
    """The delta of so many rows where none is stated: at most `DELTA`, and a tenth of 1 / rows.

    A program that publishes every record with the chance 1 / rows keeps the promise of a delta of 1 / rows.
    """
    return min(DELTA, 1 / (10 * rows))


def params_for(
    paper: Paper,
    given: Mapping[str, Any],
    schema: Schema | None = None,
    *,
    regression: bool = False,
    as_published: bool = False,
    settings: str = "default",
    rows: int | None = None,
) -> Any:
    """The paper's parameters: what is given, then the table, then the paper.

    schema: None before it is known, which only checks what is given. as_published takes the paper's settings.
    Errors: InvalidParameter for what is given, before any record is touched.
    Warns: PrivacyWarning, once the schema is known, about a stated number of rows (`refdp.faces.stated`).
    """
    check_settings(settings, rows)
    params = _params_for(paper, given, schema, regression, as_published, settings, rows)
    if rows is not None and schema is not None:
        for doubt in doubts(params, rows):
            warn(doubt, PrivacyWarning)
    return params


def _params_for(
    paper: Paper,
    given: Mapping[str, Any],
    schema: Schema | None,
    regression: bool,
    as_published: bool,
    settings: str,
    rows: int | None,
) -> Any:
    if rows is not None and "rows" in {field.name for field in fields(paper.module.Params)}:
        given = {"rows": rows, **given}
    params = paper.params(given, as_published=as_published)
    if as_published or settings == "paper":
        return params
    scores, features = (1, 1) if schema is None else (schema.scores, len(schema.features))
    regression = regression if schema is None else not isinstance(schema.target, Classes)
    stated = ROWS if rows is None else rows
    delta = params.delta if "delta" in given else delta_of(stated)
    public = Public(params.epsilon, delta, regression, scores, stated, params.relation, features)
    named = {name: getattr(params, name) for name in given if hasattr(params, name)}
    return paper.params({**recommended(paper.name, public, named), **given}, as_published=False)


def recommended(paper: str, public: Public, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The table. given: settings that are decided already, which the others follow. Names: `CHOSEN[paper]`.

    Nothing for a paper of somebody else.
    """
    return _TABLE[paper](public, given or {}) if paper in _TABLE else {}


def _dpboost(public: Public, given: Mapping[str, Any]) -> dict[str, Any]:
    strength, few = public.rows * public.e, {"gradients": "clip"}
    if not public.regression:
        trees, deep, padding = (
            (5, 2, 30.0) if strength < 700 or 6000 <= strength < 20_000
            else (1, 2, 30.0) if strength < 3000 else (1, 3, 30.0) if strength < 6000 else (5, 4, 100.0)
        )  # fmt: skip
        trees = given.get("trees", trees)
        return few | {
            "trees": trees, "trees_per_ensemble": trees, "depth": deep, "regularisation": _finite(padding / public.e),
            "shrinkage": 0.3, "gradient_bound": 1.0, "candidates": "uniform", "bins": 32,
        }  # fmt: skip
    trees, deep, within, grid, bins, part = (
        (3, 1, 0.5, "log", 32, 0.5) if strength < 1000
        else (5, 1, 0.25, "log", 16, 0.3) if strength < 3000
        else (5, 1, 0.25, "log", 16, 0.1) if strength < 6000
        else (12, 1, 0.125, "log", 16, 0.1) if strength < 25_000
        else (12, 2, 0.125, "uniform", 32, 0.1)
    )  # fmt: skip
    padding = part * public.rows / 2**deep  # so much of a leaf: what it takes from a tree, the next ones bring
    return few | {
        "trees": trees, "trees_per_ensemble": 1, "depth": deep, "regularisation": _finite(padding), "shrinkage": 0.95,
        "gradient_bound": within, "candidates": grid, "bins": bins,
    }  # fmt: skip


def _inprivate(public: Public, given: Mapping[str, Any]) -> dict[str, Any]:
    strength = public.rows * public.e
    if public.regression:
        deep, share = (3, 0.7) if min(strength, 2 * public.rows) >= 6000 else (2 if strength >= 1500 else 1, 0.2)
        return {
            "rounds": 2, "depth": deep, "split_share": share, "turn_budget": "amplified", "residual_bound": 0.5,
            "leaf_bound": 0.5, "damping": 4.0, "shrinkage": 1.0, "bins": 8,
        }  # fmt: skip
    found: dict[str, Any] = {"turn_budget": "amplified", "residual_bound": 0.5, "leaf_bound": 1.0}
    if strength < 10_000:
        return found | {"rounds": 1, "depth": 4, "split_share": 0.9, "damping": 8.0, "shrinkage": 1.0, "bins": 16}
    rounds, deep = (1, 5) if strength < 50_000 else (3, 6)
    return found | {
        "rounds": rounds, "depth": deep, "split_share": 0.8, "damping": 4.0, "shrinkage": 0.5, "bins": 32
    }  # fmt: skip


def _dpxgboost(public: Public, given: Mapping[str, Any]) -> dict[str, Any]:
    # The least number of records of an average is more than most leaves have, so that it acts as a large lambda.
    trees, deep, wanted, step, within, bins, seen = (
        (80, 2, 500, 0.6, 0.0625, 16, 1.0) if public.regression
        else (20, 1, 1000, 1.0, 1.0, 32, 1.0) if public.scores == 1 and public.delta == 0  # whose costs add up
        else (160, 2, 1000, 0.8, 1.0, 32, 0.3) if public.scores == 1
        else (40, 1 if public.rows * public.e < 5000 else 2, 200, 0.3, 1.0, 32, 1.0)
    )  # fmt: skip
    return {
        "delta": public.delta, "trees": trees, "depth": deep, "regularisation": 0.1, "shrinkage": step,
        "gradient_bound": within, "gain": "count", "gradients": "clip", "candidates": "uniform", "bins": bins,
        "leaf": "average", "child_minimum": min(max(50, int(wanted / public.e)), 1_000_000_000), "subsample": seen,
    }  # fmt: skip


def _fedgbdt(public: Public, given: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"delta": public.delta, "rounds": 1, "one_vs_rest": "together"}
    mu = public.mu if given.get("one_vs_rest", "together") == "together" else public.divided_mu
    nu, by_record = public.rows * mu, given.get("noise_by") == "record"
    # Where every record adds its noise it answers one query a tree, none for candidates.
    if public.regression:
        trees, deep, within, padding = (200, 1, 0.5, 100.0) if nu < 1000 else (400, 2, 0.25, 60.0)
        found |= {"trees": trees, "depth": deep, "shrinkage": 0.4, "leaf_clip": 0.5, "gradient_bound": within,
                  "candidates": "log" if by_record else "iterative-hessian", "features_per_tree": 1}  # fmt: skip
    else:
        trees, deep, few, padding = (200, 4, min(2, public.features), 12.0) if nu < 1500 else (400, 5, None, 16.0)
        found |= {"trees": trees, "depth": deep, "shrinkage": 0.6, "leaf_clip": 1.0, "gradient_bound": 0.5,
                  "candidates": "uniform" if by_record else "iterative-hessian", "features_per_tree": few}  # fmt: skip
    trees = given.get("trees", found["trees"])
    return found | {"regularisation": _finite(padding * math.sqrt(trees) / mu)}


def _sgbdt(public: Public, given: Mapping[str, Any]) -> dict[str, Any]:
    few = public.rows * public.divided_mu < 500
    found: dict[str, Any] = {"delta": public.delta, "subsample": 1.0, "orders": "shared"}
    found |= {"trees": 200, "depth": 4} if few else {"trees": 400, "depth": 5}
    if public.regression:
        found |= {"shrinkage": 0.5, "support_weight": 0.3, "gradient_bound": 0.125}
        first, padding = 0.1 if few else 0.05, 20.0
    else:
        found |= {"shrinkage": 0.7, "support_weight": 0.02, "gradient_bound": 0.5}
        first, padding = 0.05, 6.0
    trees = given.get("trees", found["trees"])
    padded = padding * math.sqrt(trees) / public.divided_mu
    return found | {"initial_share": first, "regularisation": _finite(padded)}


_TABLE: Mapping[str, Callable[[Public, Mapping[str, Any]], dict[str, Any]]] = {
    "dpboost": _dpboost,
    "inprivate": _inprivate,
    "dpxgboost": _dpxgboost,
    "fedgbdt": _fedgbdt,
    "sgbdt": _sgbdt,
    "grove": lambda public, given: {"delta": public.delta},
}


def _finite(value: float) -> float:
    return min(max(value, 0.01), 1e12)
