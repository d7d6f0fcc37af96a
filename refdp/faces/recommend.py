"""Which estimator, with which settings, and what to expect: from public figures and a table of measured runs.

`expected.json` is what refdp's estimators reached at default settings on public sets (docs/league.md; both come from
`python -m benchmarks.league write`). A case is compared with the measured ones of its kind by how far rows times the
epsilon of one score lies off, and the number of features, on logarithmic scales: the estimator is recommended whose
measured figures have the best mean, weighted by a normal kernel of that distance. Expected is their mean over the cases
nearby, with a tenth of the nearest one's weight or more. No record of the user's is looked at.

Where rows times epsilon is less than in any case, Grove is taken, whose noise averages out over most trees, and where
it is less or more the figures are those of the cases next to it, and this is said. Where it is less, parameters and
plan of what is recommended are made before it is given, since little epsilon can be out of a mechanism's reach.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

from refdp.checks import check_count, check_number, of_numpy
from refdp.data.records import Classes, Interval, Numeric, Schema
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.faces.defaults import Public, delta_of, recommended
from refdp.faces.stated import doubts_of_delta, rounded
from refdp.faces.strength import outweighed, trees
from refdp.own.grove import shared_by
from refdp.privacy.events import Relation, records_changed

TASKS = ("classification", "binary", "multiclass", "regression")
PURE = ("dpboost", "inprivate")
"""Measured with pure epsilon. DP-XGBoost can do with it, but its measured figures have a delta, which is worth much."""
ESTIMATORS: Mapping[str, str] = {
    "dpboost": "DPBoost", "inprivate": "InPrivate", "dpxgboost": "DPXGBoost", "fedgbdt": "FedGBDT", "sgbdt": "SGBDT",
    "grove": "Grove",
}  # fmt: skip
KINDS = ("Classifier", "Regressor")
OUTSIDE, EXPECT = {"below": "less", "above": "more"}, {"below": "worse", "above": "no worse"}
MOST_FEATURES, MOST_CLASSES = 1000, 10
"""Of the schema with which is tried whether a recommendation can be fitted."""
WIDTH, WIDTH_FEATURES = 0.5, 1.0
"""Widths of the kernel, in factors of ten."""


@dataclass(frozen=True)
class Recommendation:
    """estimator: the class's name. settings: its keywords, besides bounds, classes or label_bounds. expected: metric,
    with its mean, least and largest value over the measured sets nearby, what a constant has, and those sets; outside:
    "below" or "above" if rows times epsilon is less or more than in any measured case, else nothing. useless: whether
    no more than a constant is expected; below it is so, and the value the constant's, where noise exceeds the most that
    leaves can show. doubts: what a fit with these settings would say of the public figures, as sentences."""

    estimator: str
    settings: Mapping[str, Any]
    expected: Mapping[str, Any]
    doubts: Sequence[str] = ()

    @property
    def paper(self) -> str:
        """The name of the estimator's system."""
        return next(name for name, title in ESTIMATORS.items() if self.estimator in (f"{title}{k}" for k in KINDS))

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    def __str__(self) -> str:
        """In words."""
        return "\n".join([self._expectation(), *self.doubts])

    def _expectation(self) -> str:
        e = self.expected
        given = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        worth = "no better than a constant is expected" if e["useless"] else f"a constant has {e['constant']:g}"
        seen = f"{e['low']:.3f} to {e['high']:.3f} on {', '.join(e['sets'])}"
        nearest = f"rows * epsilon is {OUTSIDE[e['outside']]} than was measured" if e["outside"] else ""
        if e["outside"] == "below" and e["useless"]:
            return f"{self.estimator}({given})\n{nearest}, and leaves are mostly noise: {worth}"
        told = (
            f"\n{nearest}: these figures are of the cases next to it, expect {EXPECT[e['outside']]}" if nearest else ""
        )
        return f"{self.estimator}({given})\nexpected {e['metric']} about {e['value']:.3f} ({seen}); {worth}{told}"


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

    delta: 0 for pure epsilon; by default 1e-5, at most a tenth of 1 / rows. rows: public; under add-remove taken down
    to two digits, since settings that a model shows follow from it, delta too. task: "classification" (or "binary"),
    "multiclass", "regression". classes: of a classification; 3 stand for any more where only the task says.
    Errors: InvalidParameter for figures outside their domain, or classes that the task does not have.
    """
    epsilon, delta, rows, features, classes = map(of_numpy, (epsilon, delta, rows, features, classes))
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
    regression, known = task == "regression", Relation(relation)
    rows = rounded(rows) if known is Relation.ADD_REMOVE else rows  # before anything follows from it
    given = delta_of(rows) if delta is None else delta
    check_number("delta", given, least=0, below=1)
    scores = 1 if regression else max(classes, 3) if task == "multiclass" or classes > 2 else 1
    public = Public(epsilon, given, regression, scores, rows, known, features)
    able = [name for name in ESTIMATORS if (given > 0 or name in PURE) and not _refuses(name, known)]
    near = {name: _nearby(name, _within(name, public)) for name in able}
    near = {name: cells for name, cells in near.items() if cells}
    ranked = sorted(near, key=lambda name: _mean(near[name]), reverse=not regression)
    if "grove" in near and _outside("grove", public) == "below":
        ranked.sort(key=lambda name: name != "grove")
    for best in ranked:
        settings = _settings(best, public)
        outside = _outside(best, public)
        try:
            mostly, surely = _noisy(best, settings, public) if outside == "below" else (False, False)
        except InvalidParameter:
            if best == ranked[-1]:
                raise
            continue
        break
    expected = _expected(near[best], regression) | {"outside": outside}
    constant = expected["constant"]
    if mostly:
        expected |= {"low": min(expected["low"], constant), "high": max(expected["high"], constant)}
    if surely:
        expected |= {"useless": True, "value": constant}
    doubted = tuple(doubts_of_delta(settings.get("delta", 0.0), rows))
    return Recommendation(f"{ESTIMATORS[best]}{KINDS[regression]}", settings, expected, doubted)


def _settings(name: str, public: Public) -> dict[str, Any]:
    found: dict[str, Any] = {"epsilon": public.epsilon, "relation": public.relation.value}
    if name not in PURE:
        found["delta"] = public.delta
    table = recommended(name, public)
    return (
        found | {"rows": public.rows} | {n: value for n, value in table.items() if n != "delta" and value is not None}
    )


def _noisy(name: str, settings: Mapping[str, Any], public: Public) -> tuple[bool, bool]:
    """Whether leaves are mostly noise: of hard labels, of any. Errors: InvalidParameter if this cannot be fitted."""
    text = registry.paper(name)
    target = Interval(0.0, 1.0) if public.regression else Classes(tuple(map(str, range(_classes(public)))))
    schema = Schema(tuple(Numeric(f"x{i}", 0, 1) for i in range(min(public.features, MOST_FEATURES))), target)
    kept = {n: value for n, value in settings.items() if n != "rows" or name in registry.OWN}
    params = text.params(kept, as_published=False)
    known = trees(text, params, schema)
    return (
        outweighed(text, params, schema, public.rows, known),
        outweighed(text, params, schema, public.rows, known, 1.0),
    )


def _classes(public: Public) -> int:
    return 2 if public.scores == 1 else min(public.scores, MOST_CLASSES)


Cells = Sequence[tuple[float, float, str]]
"""Weight, figure and set."""


def _refuses(name: str, relation: Relation) -> bool:
    return name == "sgbdt" and relation is Relation.REPLACE_ONE


def _nearby(name: str, public: Public) -> Cells:
    """The measured figures of an estimator on cases of this kind."""
    found, ours = [], _signal(name, public)
    for signal, case in _of_kind(name, public):
        off = math.log10(signal / ours) / WIDTH
        wide = math.log10(case["features"] / public.features) / WIDTH_FEATURES
        found.append((math.exp(-0.5 * min(off * off + wide * wide, 200.0)), case["figures"][name], case["data"]))
    return found


def _of_kind(name: str, public: Public) -> list[tuple[float, dict[str, Any]]]:
    """Measured cases with rows times the epsilon of one score; several classes: as two."""
    return [
        (case["rows"] * case["epsilon"] / _shared(name, 1 if case["classes"] <= 2 else case["classes"]), case)
        for case in measured()
        if (case["classes"] == 0) == public.regression and name in case["figures"]
    ]


def _signal(name: str, public: Public) -> float:
    return public.rows * public.epsilon / _shared(name, public.scores) / records_changed(public.relation)


def _within(name: str, public: Public) -> Public:
    """The case with an epsilon that takes it to the least or the most that was measured, if it is outside."""
    signals, ours = [signal for signal, _ in _of_kind(name, public)], _signal(name, public)
    inside = min(max(ours, min(signals, default=ours)), max(signals, default=ours))
    return replace(public, epsilon=public.epsilon * inside / ours)


def _outside(name: str, public: Public) -> str:
    """Whether rows times epsilon is "below" or "above" all measured cases, by more than rounding; or nothing."""
    signals, ours = [signal for signal, _ in _of_kind(name, public)], _signal(name, public)
    return "below" if ours < 0.999 * min(signals) else "above" if ours > 1.001 * max(signals) else ""


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
