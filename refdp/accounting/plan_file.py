"""A plan in a small TOML file.

relation = "add-remove"

[[event]]                      # events compose sequentially
gaussian = 2.0                 # or laplace = scale, exponential = coefficient, and the discrete ones (with step)
sensitivity = 1.0              # 1 unless given
norm = 2                       # 1, 2, "range" or "whitened"; the mechanism's own unless given
count = 100                    # 1 unless given

[[event]]
poisson = 0.01                 # or without-replacement = rate, parallel = true, weights = [...] (a partition),
                               # bins = 100 (an epoch of so many batches, each record in a random one of them)
count = 10
[[event.event]]
laplace = 1.0
relation = "add-remove"        # of this sensitivity; the plan's unless given; inside samples it may be another
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from refdp.checks import check_count
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, Mechanism
from refdp.privacy.events import (
    Event,
    Norm,
    Parallel,
    Partition,
    Plan,
    Relation,
    Release,
    Repeat,
    Sensitivity,
    Sequential,
    Subsample,
    balls_and_bins,
)

CLAIM = "account/declared"
_NORMS: dict[str, Norm] = {
    "gaussian": 2,
    "laplace": 1,
    "exponential": "range",
    "discrete-gaussian": 2,
    "discrete-laplace": 1,
}
_CONTAINERS = ("poisson", "without-replacement", "parallel", "weights", "bins")
_COMMON = {"count", "name", "sensitivity", "norm", "step", "event", "relation"}


def load_plan(path: str | Path) -> Plan:
    """The plan in a TOML file.

    Errors: InvalidParameter if the file cannot be read or a key is unknown, missing or of the wrong type.
    """
    try:
        return plan_from(tomllib.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidParameter(f"plan file {path}: {error}") from error
    except RecursionError:
        raise InvalidParameter(f"plan file {path}: nested too deeply") from None


def plan_from(table: dict[str, Any]) -> Plan:
    """The plan in a parsed TOML table.

    Errors: InvalidParameter for unknown keys or values, and where nothing is released: it would cost nothing.
    """
    if unknown := set(table) - {"relation", "event"}:
        raise InvalidParameter(f"keys {sorted(unknown)} of a plan: allowed are relation and event")
    relation = relation_of(table.get("relation"), "a plan")
    return Plan(relation, Sequential(_events(table, relation)))


def relation_of(name: Any, what: str) -> Relation:
    """The relation of that name. Errors: InvalidParameter for another one."""
    names = [relation.value for relation in Relation]
    if name not in names:
        raise InvalidParameter(f"relation {name!r} of {what}: allowed are {' and '.join(names)}")
    return Relation(name)


def release_of(kind: str, noise: float, relation: Relation, **options: Any) -> Release:
    """One release: `kind` as in the file, sensitivity 1 unless given.

    Errors: InvalidParameter for a norm or a number outside of its domain.
    """
    bound = _number("sensitivity", options.get("sensitivity", 1.0))
    norm = options.get("norm", _NORMS[kind])
    if isinstance(norm, bool) or norm not in (1, 2, "range", "whitened"):
        raise InvalidParameter(f"norm {norm!r}: allowed are 1, 2, 'range' and 'whitened'")
    if not isinstance(name := options.get("name", kind), str):
        raise InvalidParameter(f"name {name!r} of an event: a text is allowed")
    sensitivity = Sensitivity(bound, norm, CLAIM, relation)
    return Release(name, _mechanism(kind, _number(kind, noise), options), sensitivity)


def _mechanism(kind: str, noise: float, options: dict[str, Any]) -> Mechanism:
    match kind:
        case "gaussian":
            return Gaussian(noise)
        case "laplace":
            return Laplace(noise)
        case "exponential":
            return Exponential(noise)
        case "discrete-gaussian":
            return DiscreteGaussian(noise, _number("step", options.get("step", 1.0)))
        case _:
            return DiscreteLaplace(noise, _number("step", options.get("step", 1.0)))


def _events(table: dict[str, Any], relation: Relation) -> tuple[Event, ...]:
    rows = table.get("event", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidParameter("event of a plan: allowed is an array of tables, [[event]]")
    if not rows:
        raise InvalidParameter("a plan, or an event of others, without an event: [[event]], [[event.event]] inside")
    return tuple(_event(row, relation) for row in rows)


def _event(row: dict[str, Any], relation: Relation) -> Event:
    kinds = [key for key in row if key in _NORMS or key in _CONTAINERS]
    unknown = set(row) - set(_NORMS) - set(_CONTAINERS) - _COMMON
    if len(kinds) != 1 or unknown:
        allowed = ", ".join((*_NORMS, *_CONTAINERS))
        raise InvalidParameter(
            f"event with keys {sorted(row)}: allowed is exactly one of {allowed}, and {sorted(_COMMON)}"
        )
    event = _one(kinds[0], row, relation)
    count = row.get("count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise InvalidParameter(f"count {count!r} of an event: allowed are whole numbers >= 0")
    return event if count == 1 else Repeat(event, count)


def _one(kind: str, row: dict[str, Any], relation: Relation) -> Event:
    if kind in _NORMS:
        options = {key: row[key] for key in ("sensitivity", "norm", "name", "step") if key in row}
        own = relation_of(row["relation"], "an event") if "relation" in row else relation
        return release_of(kind, row[kind], own, **options)
    if "relation" in row:
        raise InvalidParameter(f"relation of an event {kind!r}: allowed is that of a plan or of a release")
    inner = _events(row, relation)
    if kind == "parallel":
        if row[kind] is not True:
            raise InvalidParameter(f"parallel {row[kind]!r}: allowed is true; events compose sequentially without it")
        return Parallel(inner)
    if kind == "weights":
        if not isinstance(row[kind], list):
            raise InvalidParameter(f"weights {row[kind]!r}: allowed is a list of numbers")
        return Partition(tuple(_number("weights", weight) for weight in row["weights"]), inner)
    whole = inner[0] if len(inner) == 1 else Sequential(inner)
    if kind == "bins":
        check_count("bins", row[kind])
        return balls_and_bins(whole, row[kind])
    method = "poisson" if kind == "poisson" else "without-replacement"
    return Subsample(_number(kind, row[kind]), whole, method)  # type: ignore[arg-type]


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidParameter(f"{name} {value!r}: allowed are numbers")
    try:
        return float(value)
    except OverflowError:
        raise InvalidParameter(
            f"{name}: a whole number of {int(value).bit_length()} bits is beyond all floats"
        ) from None
