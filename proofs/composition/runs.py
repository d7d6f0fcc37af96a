"""Whole runs: from what single releases cost to what `train` as it stands costs. Argued, and checked on small scopes.

Each is about the code that a run reaches, from `train`, `certificate` and `account` on, so that any change of it
reopens the claim. Each uses Coq's theorem about the program and what `refdp prove` shows of the text that trains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from proofs.checker.conditions import ONE_OWNER
from proofs.checker.evidence import Evidence, Follows, SmallScope
from proofs.checker.programs import ProgramProved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from refdp.accounting import account
from refdp.audit.exhaustive import Row, worst_loss
from refdp.data.records import Classes, Numeric, Schema
from refdp.data.shards import Shards
from refdp.faces import registry, training
from refdp.papers import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt
from refdp.papers.published import dpboost as printed_dpboost
from refdp.privacy.events import Relation
from refdp.privacy.shares import Shares
from refdp.protocols import owners, rounds

SCHEMA = Schema((Numeric("x", 0, 1),), Classes(("no", "yes")))
ROWS: tuple[Row, ...] = tuple(((x,), y) for x in (0.0, 1.0) for y in (0.0, 1.0))
MOST, TOLERANCE = 3, 1e-9
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "dpboost": {"trees": 2, "trees_per_ensemble": 1, "depth": 1, "bins": 1},
    "dpxgboost": {"trees": 2, "depth": 1, "bins": 1, "candidates": "uniform", "missing": "left", "subsample": 1.0},
    "inprivate": {"rounds": 1, "owners": 1, "depth": 2, "bins": 1},
}
RUNS = "the losses of whole runs, replayed: {} on up to 3 of four kinds of records, all splits, epsilon 1"


def small_run(paper: str, relation: Relation) -> Mapping[str, Any] | None:
    """The worst loss of a small repaired run over all neighbours, if it is above epsilon = 1."""
    chosen = registry.paper(paper)
    params = chosen.params({"epsilon": 1.0, "relation": relation, **SETTINGS[paper]}, as_published=False)
    module: Any = chosen.module
    worst = worst_loss(lambda data, curator: module.train(params, data, curator), SCHEMA, ROWS, MOST, relation)
    if worst.loss <= 1 + TOLERANCE:
        return None
    return {"first": worst.first, "second": worst.second, "outputs": worst.outputs, "loss": worst.loss}


def searched(paper: str, relation: Relation) -> SmallScope:
    """A search for a counterexample among small runs."""
    return SmallScope(lambda: small_run(paper, relation), RUNS.format(paper))


def run(
    name: str, locus: str, statement: str, relation: str, about: tuple[Callable[..., Any], ...],
    evidence: tuple[Evidence, ...], uses: tuple[str, ...], argument: str,
) -> Proposition:  # fmt: skip
    """A claim about a whole run."""
    return Proposition(
        name, locus, statement, relation, (*about, training.source_for, account), evidence, uses, argument=argument
    )


ACCOUNTED = (
    "A repaired run of `train` costs at most what `account` makes of its plan with this ledger's sensitivities: it "
    "releases what the plan lists, nothing else depends on a record, and a published one costs that unless its "
    "certificate names a breach."
)
PLANNED = "every release passes the curator, which records it; plan and transcript are equal, so that the releases' " \
    "bounds compose as the plan says"  # fmt: skip
BOTH = (("", ADD_REMOVE, Relation.ADD_REMOVE), ("-replace-one", REPLACE_ONE, Relation.REPLACE_ONE))
COMPOSED = ("composition/sequential", "composition/post-processing", "composition/laplace")

PROPOSITIONS = (
    *(
        run(
            f"dpboost/run{suffix}",
            "Algorithms 1 and 2, as refdp runs them",
            ACCOUNTED,
            relation,
            (dpboost.train, dpboost.certificate, printed_dpboost.Params),
            (Follows(PLANNED), searched("dpboost", kind), ProgramProved("dpboost", kind)),
            (
                *(f"dpboost/theorem-8-repaired-{relation}", f"composition/partition-{relation}", *COMPOSED),
                *(f"dpboost/kernel{suffix}", f"dpboost/kernel-grid{suffix}"),
                *("composition/exponential-range", "composition/grid-sums"),
            ),
            "Gradients look at a record and released trees; a record is in one node of a level and in one leaf; the "
            "models of several classes follow each other.",
        )
        for suffix, relation, kind in BOTH
    ),
    *(
        run(
            f"dpxgboost/run{suffix}",
            "section 4, as refdp runs it",
            ACCOUNTED,
            relation,
            (dpxgboost.train, dpxgboost.certificate),
            (Follows(PLANNED), searched("dpxgboost", kind), ProgramProved("dpxgboost", kind)),
            (
                *(f"dpxgboost/tree-repaired{suffix}", "dpxgboost/budget", *COMPOSED, "composition/exponential-range"),
                *(sampling, f"dpxgboost/gradient-filter{suffix}", "composition/grid-sums"),
                *(f"dpxgboost/kernel{suffix}", f"dpxgboost/kernel-grid{suffix}"),
            ),
            "Trees follow each other and see released trees; the rows and columns of a tree are drawn without looking "
            "at values; counts that stop a node are released first.",
        )
        for suffix, relation, kind, sampling in (
            (*BOTH[0], "dpxgboost/subsampling-poisson"),
            (*BOTH[1], "dpxgboost/subsampling-replace-one"),
        )
    ),
    *(
        run(
            f"inprivate/run{suffix}",
            "Algorithms 1 and 2, as refdp runs them in one place",
            ACCOUNTED,
            relation,
            (inprivate.train, inprivate.certificate),
            (Follows(PLANNED), searched("inprivate", kind), ProgramProved("inprivate", kind)),
            (
                *(f"inprivate/theorem-7-repaired{suffix}", f"composition/partition-{relation}", *COMPOSED),
                *("composition/exponential-range", "inprivate/residuals-local", "composition/grid-sums"),
                *(f"inprivate/kernel{suffix}", f"inprivate/kernel-grid{suffix}"),
            ),
            "A turn's records are drawn without looking at values, and a record is used in one turn.",
        )
        for suffix, relation, kind in BOTH
    ),
    *(
        Proposition(
            f"inprivate/algorithm-2{suffix}",
            "Algorithm 2 and section VI-B, among owners",
            "Algorithm 2 among owners costs a record what its own owner's plan costs, whatever the other owners and "
            "the miner see and do, messages, verdicts and private measurements included.",
            relation,
            (owners.step, owners.certificate, rounds.conduct, account),
            (Follows("all that leaves an owner is computed from trees already sent and its own recorded releases"),),
            (f"inprivate/run{suffix}", f"inprivate/owners{suffix}", f"inprivate/advance-sum{suffix}"),
            assumes=(ONE_OWNER,),
            argument="What an owner begins it writes down first and never begins again; crashes lose budget only.",
        )
        for suffix, relation, _ in BOTH
    ),
    run(
        "fedgbdt/run",
        "Algorithm 1, as refdp runs it",
        ACCOUNTED,
        ADD_REMOVE,
        (fedgbdt.train, fedgbdt.certificate),
        (Follows(PLANNED), ProgramProved("fedgbdt", Relation.ADD_REMOVE)),
        (
            "fedgbdt/kernel",
            "fedgbdt/algorithm-1",
            "fedgbdt/rounding",
            "composition/post-processing",
            "composition/grid-sums",
        ),
        "Sums of one record a participant, rounded to the public grid; candidates are public or follow from releases.",
    ),
    run(
        "fedgbdt/run-replace-one",
        "Algorithm 1, as refdp runs it",
        ACCOUNTED,
        REPLACE_ONE,
        (fedgbdt.train, fedgbdt.certificate),
        (Follows(PLANNED), ProgramProved("fedgbdt", Relation.REPLACE_ONE)),
        (
            "fedgbdt/kernel-replace-one",
            *("fedgbdt/algorithm-1-vector-replace-one", "fedgbdt/rounding-replace-one"),
            *("composition/post-processing", "composition/grid-sums"),
        ),
        "Sums of one record a participant, rounded to the public grid; candidates are public or follow from releases.",
    ),
    run(
        "sgbdt/run",
        "slides and full text, as refdp runs them",
        ACCOUNTED,
        ADD_REMOVE,
        (sgbdt.train, sgbdt.certificate),
        (Follows(PLANNED), ProgramProved("sgbdt", Relation.ADD_REMOVE)),
        (
            "sgbdt/kernel",
            "sgbdt/guarantee",
            "sgbdt/initial-score",
            "sgbdt/nonspherical-repaired",
            *COMPOSED,
            "composition/grid-sums",
        ),
        "Splits are drawn without the records; a record is charged before its round's sums are released.",
    ),
    run(
        "sgbdt/distributed",
        "slide Extension for distributed learning",
        "Distributed training releases what central training does: each participant samples and charges its own "
        "records, the secure sums are equal bit by bit, and shares of the noise of `honest` participants suffice.",
        ADD_REMOVE,
        (sgbdt.train_on, Shards.ask, Shares.release),
        (
            Follows(
                "integers on the public grid add up to the same sums in any order; accounts never leave a participant; "
                "who answers is public and depends on no record"
            ),
        ),
        ("sgbdt/run", "composition/grid-sums", "composition/discrete-gaussian"),
        "With fewer honest participants than stated, or a participant who reads the messages before they are summed, "
        "nothing is claimed. Sums of discrete shares are close to a discrete Gaussian, not one: the excess is added "
        "(fedgbdt/discrete-shares).",
    ),
)
