"""What a training run promises, and what the promise rests on.

A certificate always gives two figures: the epsilon that the algorithm claims, and the epsilon that follows from the
sensitivities that the ledger proves. For a repaired run they agree; for a published one the second can be larger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from refdp import shown
from refdp.accounting import account
from refdp.data.records import Categorical, Classes, Schema
from refdp.ledger import claims
from refdp.ledger.proved import ELSEWHERE, Cited, cited, home, of_another, running, stranger
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, Mechanism
from refdp.privacy.events import (
    Event,
    Parallel,
    Partition,
    Plan,
    Relation,
    Release,
    Subsample,
    children,
    expand,
    releases,
)

MECHANISMS: Mapping[type, str] = {
    Laplace: "composition/laplace",
    DiscreteLaplace: "composition/discrete-laplace",
    Gaussian: "composition/gaussian",
    DiscreteGaussian: "composition/discrete-gaussian",
    Exponential: "composition/exponential-range",
}
"""The claim about the cost of each mechanism; any other class names its own (`noise.protocol.Supplying.claim`)."""
ROUNDED = ("composition/rounded-utilities", "composition/rounded-gain")

SUBSAMPLING = {
    "poisson": "dpxgboost/subsampling-poisson",
    "without-replacement": "dpxgboost/subsampling-replace-one",
}
"""The claim about what each way of sampling saves."""


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

    claims: id and verdict of every statement that the run declares or names. rests_on: the same of everything that the
    established guarantee rests on, premises of premises included: no figure is established unless all of it stands.
    notes: plain sentences about what does not hold. assumptions: what is taken for granted and was not checked; it
    names what is argued in prose, and every condition. proofs: machines' proofs about the program as a whole, with what
    each covers; the figure does not follow from them, it is accounted from the releases.
    """

    paper: str
    relation: Relation
    claimed: Guarantee
    established: Guarantee
    claims: tuple[tuple[str, str], ...]
    releases: tuple[ReleaseLine, ...]
    notes: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    rests_on: tuple[tuple[str, str], ...] = ()
    proofs: tuple[Cited, ...] = ()

    def assuming(self, *more: str) -> Certificate:
        """With further assumptions, each once."""
        return replace(self, assumptions=tuple(dict.fromkeys((*self.assumptions, *more))))

    def of_another(self, what: str, established: Guarantee, **more: Any) -> Certificate:
        """Of something else than one run, `proved.OTHERS` say what: with its figure, and with no proof that covers it.

        more: fields besides.
        """
        return replace(self, established=established, proofs=of_another(self.proofs, what), **more)

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
            "rests_on": [{"id": name, "verdict": verdict} for name, verdict in self.rests_on],
            "releases": [{**vars(line), "charge": number(line.charge)} for line in self.releases],
            "notes": list(self.notes),
            "assumptions": list(self.assumptions),
            "proofs": [asdict(one) for one in self.proofs],
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
    params: Any,
    schema: Schema | None = None,
    control: Any = None,
    established: float | None = None,
    rests_on: tuple[str, ...] = (),
    grants: tuple[str, ...] = (),
    remarks: tuple[str, ...] = (),
) -> Certificate:
    """The certificate of a run.

    declared: the plan as the algorithm declares it. proved: the same mechanisms with the ledger's sensitivities.
    breaches: reasons, known from parameters alone, why no guarantee holds at all; established is then infinite. So it
    is where something else runs than the sources say of refdp's modules (`proved.running`), or where settings, schema
    or control are of a class that is not refdp's (`proved.stranger`).
    params: the run's parameters, by which proofs of whole programs are cited; None where their class is not refdp's:
    nothing compares its bounds, and what they are is for the caller to answer for. schema: the public description of
    the records. control: what measures trees among owners, from which a part of their plan is made. established: the
    epsilon where something else than the plan bounds it, an individual filter say. rests_on: claims that the guarantee
    needs besides those of the declared sensitivities and of composition. grants: keys of conditions that the caller
    takes for granted, and which are then assumptions; a claim under any other condition establishes nothing. remarks:
    sentences that explain it.
    """
    own = {release.sensitivity.claim for release in releases(declared.event)}
    named = {release.sensitivity.claim for release in releases(proved.event)} | set(rests_on)
    verdicts = tuple((name, claims.verdict(name)) for name in sorted(own | named))
    notes = [_complaint(name, verdict) for name, verdict in verdicts
             if name in own and verdict not in claims.ESTABLISHED]  # fmt: skip
    needed = tuple((name, claims.verdict(name)) for name in claims.closure({*named, *composition(proved)}))
    lost = [line for name, verdict in needed if (line := _lost(name, verdict, grants))]
    if established is None:
        established = account(proved, delta=claimed.delta, both=claimed.delta > 0).epsilon
    place = running(paper, home(type(params))) or stranger(params, schema, control=control)
    changed = [f"{ELSEWHERE}, and nothing is established: {place}"] if place else []
    established = np.inf if breaches or lost or changed else established
    notes += [*lost, *changed]
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
        tuple(lines(declared)),
        (*notes, *remarks, *breaches),
        assumed(proved, schema, needed, grants),
        needed,
        cited(paper, params, schema, place=place) if params is not None and schema is not None else (),
    )


def composition(plan: Plan) -> set[str]:
    """Claims about how the plan's events and mechanisms are accounted."""
    place = plan.relation.value
    found = {"composition/sequential", "composition/post-processing", "composition/renyi-to-dp"}
    waiting = [plan.event]
    while waiting:
        event = waiting.pop()
        waiting += children(event)
        match event:
            case Release():
                found.add(MECHANISMS.get(type(event.mechanism)) or _supplied(event.mechanism))
            case Parallel():
                found.add(f"composition/parallel-{'moved' if plan.relation is Relation.REPLACE_ONE else place}")
            case Partition():
                found.add(f"composition/partition-{place}")
            case Subsample(_, _, method):
                found.add(SUBSAMPLING[method])
    return found


def _supplied(mechanism: Mechanism) -> str:
    """The claim that a mechanism of somebody else names for its cost; without one there is nothing in the ledger."""
    return str(getattr(mechanism, "claim", f"{type(mechanism).__name__} names no claim"))


def _complaint(name: str, verdict: str) -> str:
    return f"{name} is {verdict}: the sensitivity that this run declares under that name is not established"


def _lost(name: str, verdict: str, grants: tuple[str, ...]) -> str:
    """Why a claim establishes nothing, empty if it stands."""
    if verdict in claims.ESTABLISHED:
        return ""
    if verdict == "CONDITIONAL":
        missing = [condition.text for condition in claims.get(name).assumes if condition.key not in grants]
        return f"{name} holds only if {'; '.join(missing)}, and the guarantee rests on it" if missing else ""
    why = claims.get(name).reason if name in claims.everything() else "the ledger does not have it"
    return f"{name} is {verdict}, and the guarantee rests on it: {why}"


ALWAYS = (
    "no setting and no column was chosen by what these records show without noise",
    "malformed records, and no records at all, are refused with an error, which tells them from others",
    "how long a run takes and how much memory it uses are not hidden",
)
ALONE = (
    "whether a record is in the run, its values and its weight follow from that record and public figures alone: {} "
    "and no scaling, encoding, column type or weight that is computed from other records"
)
SPLITS = {
    Relation.ADD_REMOVE: "no split by position, shuffled or stratified,",
    Relation.REPLACE_ONE: "no stratified split",
}
"""What moves other records when one changes; a position is public under replace-one."""
NAMED = 5
"""So many features are named; the rest is counted."""


def assumed(
    plan: Plan, schema: Schema | None, needed: tuple[tuple[str, str], ...], grants: tuple[str, ...]
) -> tuple[str, ...]:
    """What a guarantee takes for granted: prose, conditions, arithmetic, randomness and what an observer sees.

    Noise is ideal in every proof; floating-point draws are not, and rounding them does not hide all of that.
    A run with discrete noise alone chooses exactly too, see `refdp.faces.training.source_for`.
    """
    mechanisms = {type(one.mechanism).__name__: one.mechanism for one in releases(plan.event)}
    if not mechanisms:
        return ()
    found = []
    argued = [name for name, verdict in needed if verdict == "ARGUED"]
    if argued:
        found.append(f"argued in prose, not machine-checked: {', '.join(argued)}")
    known = {c.key: c.text for name, verdict in needed if verdict == "CONDITIONAL" for c in claims.get(name).assumes}
    found += [known[key] for key in grants if key in known]
    floating = {name for name, one in mechanisms.items() if not one.STANDARD.startswith("discrete-")}
    choices = {name for name in floating if isinstance(mechanisms[name], Exponential)}
    if floating == set(mechanisms) or floating - choices:  # beside discrete noise alone choices are exact
        found.append(f"ideal noise: that of {' and '.join(sorted(floating))} is drawn in floating point")
    lost = [name for name in ROUNDED if claims.verdict(name) not in claims.ESTABLISHED]
    adds = f"nothing bounds what that adds ({lost[0]} is lost)" if lost else f"{ROUNDED[0]} bounds what that adds"
    found.append("sums are exact, but what is computed from them, utilities and leaf values, is rounded to float64: "
                 f"{adds}, the figure leaves it out")  # fmt: skip
    if _has(plan.event, (Partition, Subsample)):
        found.append("secret samples and partitions come from a generator of numpy (Philox without a seed), which is "
                     "not cryptographic")  # fmt: skip
    found += _described(schema) if schema else ()
    return (*found, ALONE.format(SPLITS[plan.relation]), *ALWAYS)


def _described(schema: Schema) -> Iterator[str]:
    """What the schema says and nothing here holds against a source."""
    listed = [feature.name for feature in schema.features if isinstance(feature, Categorical)]
    bounded = [feature.name for feature in schema.features if not isinstance(feature, Categorical)]
    classes = isinstance(schema.target, Classes)
    for what, names, target in (("lists of categories", listed, classes), ("bounds", bounded, not classes)):
        named = [*names[:NAMED], *[f"{len(names) - NAMED} more"] * (len(names) > NAMED), *["the target"] * target]
        if named:
            yield f"the {what} of {', '.join(named)} are public: no source of them is checked"


def _has(event: Event, kinds: tuple[type, ...]) -> bool:
    return isinstance(event, kinds) or any(_has(child, kinds) for child in children(event))


def lines(plan: Plan) -> list[ReleaseLine]:
    """One for each kind of a plan's releases, in the order in which they come."""
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
