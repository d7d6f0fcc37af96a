"""Certificates: an enclosure of ε with what an independent checker needs to verify it (proofs/accounting.py)."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

from refdp.accounting.accountant import account
from refdp.accounting.normal import Node, Sampled, normalise, parts
from refdp.accounting.releases import DiscreteLaplaceCost, GaussianCost, LaplaceCost, PureCost
from refdp.errors import InvalidParameter
from refdp.privacy.events import Plan

FORMAT = "refdp accounting certificate 1"


def certificate(plan: Plan, delta: float) -> dict[str, Any]:
    """The enclosure of the plan's ε at δ as JSON fields; every number is an exact fraction, as text.

    Fields: format, relation, delta, lower, upper, parts (kind, size, count, and shift or rate where they apply; size is
    μ² of Gaussian noise, the loss of one step of discrete noise, else the largest loss), digest (SHA-256 of the rest).
    Errors: InvalidParameter for an infinite or zero ε, and for what the checker does not know: selections, partitions,
      blocks, discrete Gaussian noise, sampled Gaussian noise, sampled sequences, sampling without replacement.
    """
    rows = [_row(node, count) for node, count in parts(normalise(plan))]
    bound = account(plan, delta=delta)
    if not 0 < bound.upper < float("inf") or delta <= 0:
        raise InvalidParameter(f"epsilon {bound.upper!r} at delta {delta!r}: nothing to certify")
    fields: dict[str, Any] = {
        "format": FORMAT,
        "relation": plan.relation.value,
        "delta": str(Fraction(delta)),
        "lower": str(Fraction(bound.lower)),
        "upper": str(Fraction(bound.upper)),
        "parts": rows,
    }
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return {**fields, "digest": hashlib.sha256(text.encode()).hexdigest()}


def _row(node: Node, count: int) -> dict[str, Any]:
    match node:
        case LaplaceCost():
            return {"kind": "laplace", "size": str(node.exact), "count": count}
        case PureCost():
            return {"kind": "pure", "size": str(node.exact), "count": count}
        case DiscreteLaplaceCost():
            return {"kind": "discrete-laplace", "size": str(node.step_loss), "count": count, "shift": node.shift}
        case GaussianCost():
            return {"kind": "gaussian", "size": str(node.square), "count": count}
        case Sampled(rate, LaplaceCost() | PureCost() | DiscreteLaplaceCost() as inner, "poisson"):
            return {**_row(inner, count), "rate": str(Fraction(rate))}
        case _:
            raise InvalidParameter(
                f"a certificate for {type(node).__name__} releases: allowed are Gaussian, Laplace, discrete Laplace "
                "and pure ones, the last three also Poisson sampled one by one"
            )
