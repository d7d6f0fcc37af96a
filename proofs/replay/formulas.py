"""`python -m proofs.replay.formulas` writes proofs/coq/Formulas.v: the papers' formulas as Python computes them.

Each formula of a paper's module is run on numbers that print themselves, and the term that it makes is proved equal to
the text's in Coq for all arguments: an edit of a formula is another term, for which there is no proof. `make coq`
compares the file with what Python prints.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from proofs.replay import formulas_spending as spending
from proofs.replay.formula import Formula
from proofs.replay.formulas_pure import of_dpboost, of_dpxgboost, of_inprivate
from proofs.replay.formulas_renyi import of_fedgbdt, of_sgbdt

FILE = Path(__file__).parents[1] / "coq" / "Formulas.v"
HEAD = """(** Written by `python -m proofs.replay.formulas`: formulas as Python computes them, each one the text's.
    Real numbers; rounding in a stated direction is left out, rounding to the grid is any function. *)
From Coq Require Import List Arith Bool Reals Lra.
From DP Require Import Program Bounds Privacy Sums Formula.
From DP Require InPrivate DPXGBoost FedGBDT SGBDT.
Open Scope R_scope.
Section Formulas.
Variables gridR grid_downR : R -> R.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.
"""


def formulas() -> list[Formula]:
    """All of them, paper by paper."""
    return [
        *of_dpboost(), *of_inprivate(), *of_dpxgboost(), *spending.of_dpxgboost(),
        *of_fedgbdt(), *spending.of_fedgbdt(), *of_sgbdt(), *spending.of_sgbdt(),
    ]  # fmt: skip


def text(chosen: Iterable[Formula]) -> str:
    """The file."""
    parts = [HEAD]
    for one in chosen:
        parts.append(
            f"(** {one.python} *)\n{one.definition()}\nLemma {one.name}_text : {one.statement()}.\n"
            f"Proof. {one.tactic()}. Qed.\n"
        )
    return "\n".join([*parts, "End Formulas.", ""])


if __name__ == "__main__":
    FILE.write_text(text(formulas()), encoding="utf-8")
