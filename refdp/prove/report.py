"""What `refdp prove` says: the readings of one setting for several kinds of target, as one verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema
from refdp.errors import InvalidParameter
from refdp.prove.asking import Solvers
from refdp.prove.ranges import Range, checked
from refdp.prove.reading import Proof, prove

FEATURES = (Numeric("first", 0.0, 1.0), Categorical("second", ("a", "b", "c")), Numeric("third", -5.0, 5.0))
"""Features of the schema of a proof: one of each kind, and a further one, so that some have candidates apart."""


@dataclass(frozen=True)
class Report(Proof):
    """The proofs for several targets together. targets: numbers of classes, 0 for a regression."""

    targets: tuple[int, ...]


def schema_of(classes: int) -> Schema:
    """A schema with features of both kinds, for a regression (0) or so many classes."""
    return Schema(FEATURES, Classes(tuple(f"class {n}" for n in range(classes))) if classes else Interval(-2.0, 3.0))


def proved(
    paper: str,
    params: Any,
    targets: Sequence[int],
    progress: Callable[[int], None] | None = None,
    anywhere: Mapping[str, Range | None] | None = None,
) -> Report:
    """One proof for each target that the settings allow. Errors: InvalidParameter where they allow none.

    anywhere: parameters that may have any value of a range, as `prove` takes them.
    """
    ranges = checked(params, anywhere or {})
    solvers = Solvers()
    found: dict[int, Proof] = {}
    refused: InvalidParameter | None = None
    for classes in targets:
        try:
            found[classes] = prove(
                paper, params, schema_of(classes), solvers=solvers, progress=progress, anywhere=ranges
            )
        except InvalidParameter as problem:
            refused = problem
    if not found:
        raise refused or InvalidParameter("no target given")
    proofs = list(found.values())
    kinds = " and ".join(f"{n} classes" if n else "a regression" for n in found)
    return Report(
        paper, params.relation,
        "PROVED" if all(one.verdict == "PROVED" for one in proofs) else "NOT PROVED",
        proofs[-1].statement, (f"targets: {kinds}", *proofs[0].covers), proofs[0].trusted,
        sum(one.seconds for one in proofs), sum(one.questions for one in proofs), sum(one.releases for one in proofs),
        solvers.counts, solvers.single, tuple(failure for one in proofs for failure in one.failures), tuple(found),
        anywhere=ranges,
    )  # fmt: skip
