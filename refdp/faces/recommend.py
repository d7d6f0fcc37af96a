"""Which estimator, with which settings, and what to expect: from public figures and a table of measured runs.

`expected.json` is what refdp's estimators reached at default settings on public sets (docs/league.md; both come from
`python -m benchmarks.league write`). A case is compared with the measured ones of its kind by how far rows times the
epsilon of one score lies off, and the number of features, on logarithmic scales: the estimator is recommended whose
measured figures have the best mean, weighted by a normal kernel of that distance. Expected is their mean over the cases
nearby, with a tenth of the nearest one's weight or more. No record of the user's is looked at.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from refdp.checks import check_count, check_number
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.faces.defaults import DELTA, Public, recommended
from refdp.own.grove import shared_by
from refdp.privacy.events import Relation, records_changed

TASKS = ("classification", "binary", "multiclass", "regression")
PURE = ("dpboost", "inprivate")
ESTIMATORS: Mapping[str, str] = {
    "dpboost": "DPBoost", "inprivate": "InPrivate", "dpxgboost": "DPXGBoost", "fedgbdt": "FedGBDT", "sgbdt": "SGBDT",
    "grove": "Grove",
}  # fmt: skip
WIDTH, WIDTH_FEATURES = 0.5, 1.0
"""Widths of the kernel, in factors of ten."""


@dataclass(frozen=True)
class Recommendation:
    """estimator: the class's name. settings: its keywords, besides bounds, classes or label_bounds. expected: metric,
    with its mean, least and largest value over the measured sets nearby, what a constant has, and those sets."""

    estimator: str
    settings: Mapping[str, Any]
    expected: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    def __str__(self) -> str:
        """In words."""
        e = self.expected
        given = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        worth = "no better than a constant is expected" if e["useless"] else f"a constant has {e['constant']:g}"
        seen = f"{e['low']:.3f} to {e['high']:.3f} on {', '.join(e['sets'])}"
        return f"{self.estimator}({given})\nexpected {e['metric']} about {e['value']:.3f} ({seen}); {worth}"


def recommend(
    epsilon: float,
    delta: float | None = None,
    rows: int = 10_000,
    features: int = 10,
    task: str = "classification",
    *,
    classes: int = 2,
    relation: Relation | str = Relation.ADD_REMOVE,
) -> Recommendation:
    """The estimator whose measured figures near this case are best.

    delta: 0 for pure epsilon; by default 1e-5, at most 1 / rows. rows: public, round. task: "classification" (or
    "binary"), "multiclass", "regression". classes: of a classification; 3 stand for any more where only the task says.
    Errors: InvalidParameter for figures outside their domain, or classes that the task does not have.
    """
    check_number("epsilon", epsilon, above=0)
    check_count("rows", rows, most=10**12)
    check_count("features", features, most=10**7)
    check_count("classes", classes, least=2, most=10**6)
    if task not in TASKS:
        raise InvalidParameter(f"task = {task!r}: one of {', '.join(map(repr, TASKS))} is allowed")
    if classes != 2 and task in ("binary", "regression"):
        raise InvalidParameter(f"classes = {classes!r} with task = {task!r}: they are of several classes")
    if relation not in list(Relation):
        raise InvalidParameter(f"relation = {relation!r}: {' or '.join(Relation)} is allowed")
    given = min(DELTA, 1 / rows) if delta is None else delta
    check_number("delta", given, least=0, below=1)
    regression, known = task == "regression", Relation(relation)
    scores = 1 if regression else max(classes, 3) if task == "multiclass" or classes > 2 else 1
    public = Public(epsilon, given, regression, scores, rows, known, features)
    able = [name for name in ESTIMATORS if (given > 0 or name in PURE) and not _refuses(name, known)]
    near = {name: _nearby(name, public) for name in able}
    near = {name: cells for name, cells in near.items() if cells}
    pick = min if regression else max
    best = pick(near, key=lambda name: _mean(near[name]))
    settings: dict[str, Any] = {"epsilon": epsilon, "relation": known.value}
    if best not in PURE:
        settings["delta"] = given
    table = recommended(best, public)
    settings |= {"rows": rows} | {name: value for name, value in table.items() if name != "delta" and value is not None}
    kind = "Regressor" if regression else "Classifier"
    return Recommendation(f"{ESTIMATORS[best]}{kind}", settings, _expected(near[best], regression))


Cells = Sequence[tuple[float, float, str]]
"""Weight, figure and set."""


def _refuses(name: str, relation: Relation) -> bool:
    return name == "sgbdt" and relation is Relation.REPLACE_ONE


def _nearby(name: str, public: Public) -> Cells:
    """The measured figures of an estimator on cases of this kind."""
    found = []
    for case in measured():
        same = (case["classes"] == 0) == public.regression  # several classes: as two, at the epsilon of one score
        if not same or name not in case["figures"]:
            continue
        strength = case["rows"] * case["epsilon"] / _shared(name, 1 if case["classes"] <= 2 else case["classes"])
        ours = public.rows * public.epsilon / _shared(name, public.scores) / records_changed(public.relation)
        off = math.log10(strength / ours) / WIDTH
        wide = math.log10(case["features"] / public.features) / WIDTH_FEATURES
        found.append((math.exp(-0.5 * min(off * off + wide * wide, 200.0)), case["figures"][name], case["data"]))
    return found


def _shared(name: str, scores: int) -> float:
    """By how much less each of so many scores has of epsilon; Grove's are one release, of little more than one."""
    return shared_by(scores) if name == "grove" else scores


def _mean(cells: Cells) -> float:
    total = sum(weight for weight, _, _ in cells)
    return sum(weight * figure for weight, figure, _ in cells) / total


def _expected(cells: Cells, regression: bool) -> dict[str, Any]:
    most = max(weight for weight, _, _ in cells)
    close = [cell for cell in cells if cell[0] > most / 10]
    value, figures = _mean(close), [figure for _, figure, _ in close]
    constant = 1.0 if regression else 0.5
    return {
        "metric": "rmse / standard deviation" if regression else "auc",
        "value": round(value, 4),
        "low": min(figures),
        "high": max(figures),
        "constant": constant,
        "useless": value >= constant if regression else value <= constant + 0.01,
        "sets": sorted({data for _, _, data in close}),
    }


@lru_cache(maxsize=1)
def measured() -> list[dict[str, Any]]:
    """The measured cases: data, rows, features, classes (0 for a regression), epsilon, figures by paper."""
    text = files("refdp.faces").joinpath("expected.json").read_text(encoding="utf-8")
    cases: list[dict[str, Any]] = json.loads(text)
    known = {*registry.PAPERS, *registry.OWN}
    return [case | {"figures": {n: f for n, f in case["figures"].items() if n in known}} for case in cases]
