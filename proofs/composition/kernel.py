"""What Coq's kernel has checked about whole runs: theorems about the programs of proofs/coq, each cited by its name.

They are about programs over the real numbers. That refdp's text is that program is not decided here: recorded runs and
mutants of the text are compared with it (docs/coq.md). So the claim about a run as it stands remains ARGUED.
"""

from __future__ import annotations

from typing import NamedTuple

from proofs.checker.evidence import KernelChecked
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.kernel import described

AXIOMS = tuple(sorted(described()["axioms"]))


class Covered(NamedTuple):
    """A paper's theorems: the file in proofs/coq, what is private, how, and what the theorems leave out.

    rounded: what is moved to the grid of discrete noise, where that has theorems of its own.
    """

    paper: str
    file: str
    locus: str
    private: str
    left_out: str
    replaced: bool = True
    rounded: str = ""


GRID = "_on_grid"
PURE = "is epsilon-differentially private for every finite event"
RENYI = "is (epsilon, delta)-differentially private, delta by the Renyi moment of every whole order"
ALWAYS = "float64, the samplers' bits, time and the loading of data"
PAPERS = (
    Covered("dpboost", "DPBoost", "Algorithms 1 and 2, repaired, as a program", PURE,
            ALWAYS, rounded="leaf values"),
    Covered("inprivate", "InPrivate", "Algorithms 1 and 2, repaired, as a program", PURE,
            f"owners' messages, quality control, {ALWAYS}", rounded="leaf sums"),
    Covered("dpxgboost", "DPXGBoost", "section 4, repaired, as a program",
            "costs the sum of its trees' costs, amplified by Poisson samples where a record is added or removed",
            f"noisy averages and counts, medians, {ALWAYS}", rounded="leaf values and histograms"),
    Covered("fedgbdt", "FedGBDT", "Algorithm 1 as a program", f"with discrete Gaussian noise {RENYI}",
            f"floating noise, the local model, participants of several records, {ALWAYS}"),
    Covered("sgbdt", "SGBDT", "slides and full text, repaired, as a program",
            f"with its individual filter and discrete noise {RENYI}",
            f"floating noise, filters at several orders, streams, {ALWAYS}", replaced=False),
)  # fmt: skip


def proposition(covered: Covered, theorem: str, relation: str, suffix: str) -> Proposition:
    """The theorem of one relation."""
    grid, left_out = "", covered.left_out
    if covered.rounded and GRID in theorem:
        grid = f" with {covered.rounded} rounded to the grid of discrete noise"
    elif covered.rounded:
        left_out = f"rounding of {covered.rounded} to the grid of discrete noise, {left_out}"
    return Proposition(
        f"{covered.paper}/kernel{suffix}",
        covered.locus,
        f"Theorem {covered.file}.{theorem} of proofs/coq: the program of a whole run over the real numbers{grid}, "
        f"for all records, parameters and outputs that its hypotheses name, {covered.private}. "
        f"Not covered: {left_out}.",
        relation,
        evidence=(KernelChecked(f"{covered.file}.{theorem}", AXIOMS),),
    )


PROPOSITIONS = tuple(
    proposition(covered, theorem + end, relation, part + suffix)
    for covered in PAPERS
    for theorem, relation, suffix in (("add_remove", ADD_REMOVE, ""), ("replace_one", REPLACE_ONE, "-replace-one"))
    for end, part in (("", ""), (GRID, "-grid"))
    if (covered.replaced or relation == ADD_REMOVE) and (covered.rounded or not part)
)
