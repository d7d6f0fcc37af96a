"""What a training run promises, and what the promise rests on.

A certificate always gives two figures: the epsilon that the algorithm claims, and the epsilon that follows from the
sensitivities that the ledger proves. For a repaired run they agree; for a published one the second can be larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refdp import claims, shown
from refdp.accounting import account
from refdp.events import Plan, Relation, Release, expand, releases


@dataclass(frozen=True)
class Guarantee:
    """(epsilon, delta)-differential privacy; epsilon may be infinite."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class ReleaseLine:
    """All releases of one name: how many, and what each declares and costs (pure epsilon, nats)."""

    name: str
    mechanism: str
    count: int
    sensitivity: float
    norm: str
    claim: str
    charge: float


@dataclass(frozen=True, repr=False)
class Certificate:
    """Claimed and established guarantee of one run, under one neighbouring relation.

    claims: id and verdict of every statement that the declared sensitivities rest on.
    notes: plain sentences about what does not hold. assumptions: what is taken for granted and was not checked.
    """

    paper: str
    relation: Relation
    claimed: Guarantee
    established: Guarantee
    claims: tuple[tuple[str, str], ...]
    releases: tuple[ReleaseLine, ...]
    notes: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """One line; `to_dict` has everything."""
        return shown.certificate_line(self)

    def _repr_html_(self) -> str:
        return shown.certificate_html(self)

    def to_dict(self) -> dict[str, Any]:
        """As plain data; an infinite figure is the string "inf"."""
        return {
            "paper": self.paper,
            "relation": self.relation.value,
            "claimed": _guarantee(self.claimed),
            "established": _guarantee(self.established),
            "claims": [{"id": name, "verdict": verdict} for name, verdict in self.claims],
            "releases": [{**vars(line), "charge": number(line.charge)} for line in self.releases],
            "notes": list(self.notes),
            "assumptions": list(self.assumptions),
        }


def number(value: float) -> float | str:
    """A finite number as it is, infinity as "inf"."""
    return value if np.isfinite(value) else "inf"


def _guarantee(guarantee: Guarantee) -> dict[str, Any]:
    return {"epsilon": number(guarantee.epsilon), "delta": guarantee.delta}


def issue(
    paper: str,
    claimed: Guarantee,
    declared: Plan,
    proved: Plan,
    breaches: tuple[str, ...] = (),
    *,
    established: float | None = None,
    rests_on: tuple[str, ...] = (),
    remarks: tuple[str, ...] = (),
) -> Certificate:
    """The certificate of a run.

    declared: the plan as the algorithm declares it. proved: the same mechanisms with the ledger's sensitivities.
    breaches: reasons, known from parameters alone, why no guarantee holds at all; established is then infinite.
    established: the epsilon where something else than the plan bounds it, an individual filter say. rests_on: claims
    that the guarantee needs besides those of the declared sensitivities. remarks: sentences that explain it.
    """
    sensitivities = {release.sensitivity.claim for plan in (declared, proved) for release in releases(plan.event)}
    cited = sorted(sensitivities | set(rests_on))
    verdicts = tuple((name, claims.verdict(name)) for name in cited)
    own = {release.sensitivity.claim for release in releases(declared.event)}
    notes = [_complaint(name, verdict) for name, verdict in verdicts if name in own and verdict != "PROVED"]
    needed = {release.sensitivity.claim for release in releases(proved.event)} | set(rests_on)
    unproved = [f"{name} is {verdict}, and the guarantee rests on it" for name, verdict in verdicts
                if name in needed and verdict != "PROVED"]  # fmt: skip
    if established is None:
        established = account(proved, delta=claimed.delta).epsilon
    established = np.inf if breaches or unproved else established
    notes += unproved
    if established > claimed.epsilon * (1 + 1e-9):
        notes.append(
            f"the claim of epsilon {claimed.epsilon:g} does not hold; established is epsilon {established:.6g}"
        )
    return Certificate(
        paper,
        declared.relation,
        claimed,
        Guarantee(float(established), claimed.delta),
        verdicts,
        tuple(_lines(declared)),
        (*notes, *remarks, *breaches),
        _assumptions(proved),
    )


def _complaint(name: str, verdict: str) -> str:
    return f"{name} is {verdict}: the sensitivity that this run declares under that name is not established"


def _assumptions(plan: Plan) -> tuple[str, ...]:
    """Noise is ideal in every proof; floating-point draws are not, and rounding them does not hide all of that.

    A run with discrete noise chooses exactly too, see `refdp.training.source_for`.
    """
    kinds = {type(one.mechanism).__name__: one.mechanism.STANDARD for one in releases(plan.event)}
    if not kinds or any(standard.startswith("discrete-") for standard in kinds.values()):
        return ()
    return (f"ideal noise: that of {' and '.join(sorted(kinds))} is drawn in floating point",)


def _lines(plan: Plan) -> list[ReleaseLine]:
    counted: dict[Release, int] = {}
    for release in releases(expand(plan.event)):
        counted[release] = counted.get(release, 0) + 1
    return [
        ReleaseLine(
            release.name,
            repr(release.mechanism),
            count,
            release.sensitivity.bound,
            str(release.sensitivity.norm),
            release.sensitivity.claim,
            release.mechanism.pure_cost(release.sensitivity),
        )
        for release, count in counted.items()
    ]
