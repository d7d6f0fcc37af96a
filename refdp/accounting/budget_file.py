"""Plans as plain data: every event with its mechanism, sensitivity and relation, for files that outlive a process."""

from __future__ import annotations

from typing import Any

from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, Mechanism
from refdp.privacy.events import (
    Event,
    Parallel,
    Partition,
    Plan,
    Relation,
    Release,
    Repeat,
    Sensitivity,
    Sequential,
    Subsample,
    folded,
    proved,
)

_MECHANISMS = {kind.__name__: kind for kind in (Laplace, DiscreteLaplace, Gaussian, DiscreteGaussian, Exponential)}


def plan_out(plan: Plan) -> dict[str, Any]:
    """The plan as plain data, with the ledger's sensitivities where a release has them."""
    return {"relation": plan.relation.value, "event": _out(folded(proved(plan.event, plan.relation)))}


def plan_in(data: Any) -> Plan:
    """The inverse of `plan_out`. Errors: InvalidParameter for anything else."""
    try:
        relation = Relation(data["relation"])
        return Plan(relation, _in(data["event"], relation))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidParameter(f"a plan as plain data: {type(error).__name__} {error}") from None


def charges_in(data: Any) -> list[dict[str, Any]]:
    """The charges of a budget's file: name, scope, plan, epsilon and delta of each.

    Errors: ValueError, KeyError, TypeError or OverflowError for what no charge makes.
    """
    if not isinstance(data, list):
        raise TypeError("entries that are no list")
    return [_charge_in(one) for one in data]


def _charge_in(data: dict[str, Any]) -> dict[str, Any]:
    check_scope(data["scope"])
    figures = {name: data[name] for name in ("epsilon", "delta")}
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in figures.values()):
        raise TypeError("a charge that is no number")
    found = {name: float(one) for name, one in figures.items()}
    if not (found["epsilon"] >= 0 and 0 <= found["delta"] < 1):
        raise ValueError("a charge below 0, or none")
    plan = None if data["plan"] is None else plan_in(data["plan"])
    return {"name": str(data["name"]), "scope": data["scope"], "plan": plan, **found}


def check_scope(scope: object) -> None:
    """Names that are not equal to themselves, or to what a file gives back, would part what belongs together.

    Errors: InvalidParameter for anything but a text that is not empty, or None.
    """
    if scope is not None and (not isinstance(scope, str) or not scope):
        raise InvalidParameter(f"scope = {scope!r}: the name of some records as text is allowed, or None for all")


def _out(event: Event) -> dict[str, Any]:
    match event:
        case Release(name, mechanism, sensitivity, _):
            kind = type(mechanism).__name__
            if kind not in _MECHANISMS:
                raise InvalidParameter(f"{kind}: the mechanisms of a budget's file are {', '.join(_MECHANISMS)}")
            fields = {
                name: list(value) if isinstance(value, tuple) else value for name, value in vars(mechanism).items()
            }
            bound = {**vars(sensitivity), "relation": sensitivity.relation.value}
            return {"release": name, "mechanism": kind, **fields, "sensitivity": bound}
        case Repeat(inner, count):
            return {"repeat": count, "of": _out(inner)}
        case Sequential(events):
            return {"sequential": [_out(one) for one in events]}
        case Parallel(events):
            return {"parallel": [_out(one) for one in events]}
        case Partition(weights, events, independent):
            return {"partition": list(weights), "of": [_out(one) for one in events], "independent": independent}
        case Subsample(rate, inner, method, independent):
            return {"subsample": rate, "of": _out(inner), "method": method, "independent": independent}


def _in(data: dict[str, Any], dearest: Relation) -> Event:
    """dearest: what a sensitivity is about if nothing is said of it, as in files of earlier versions, which forgot."""
    if "release" in data:
        own = {k: v for k, v in data.items() if k not in ("release", "mechanism", "sensitivity")}
        own = {name: tuple(value) if isinstance(value, list) else value for name, value in own.items()}
        mechanism: Mechanism = _MECHANISMS[data["mechanism"]](**own)
        about = {**data["sensitivity"], "relation": Relation(data["sensitivity"].get("relation", dearest))}
        return Release(data["release"], mechanism, Sensitivity(**about))
    if "repeat" in data:
        return Repeat(_in(data["of"], dearest), int(data["repeat"]))
    if "sequential" in data:
        return Sequential(tuple(_in(one, dearest) for one in data["sequential"]))
    if "parallel" in data:
        return Parallel(tuple(_in(one, dearest) for one in data["parallel"]))
    if "partition" in data:
        inner = tuple(_in(one, dearest) for one in data["of"])
        return Partition(tuple(data["partition"]), inner, bool(data["independent"]))
    # of two records that differ by a replacement, what one of them adds counts twice
    independent = bool(data.get("independent", data["method"] == "poisson"))  # as in earlier files
    return Subsample(data["subsample"], _in(data["of"], Relation.ADD_REMOVE), data["method"], independent)
