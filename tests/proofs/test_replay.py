"""Fresh runs of the papers are what Coq computes from the programs of the theorems; runs of a mutant are not."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proofs import kernel
from proofs.replay.checks import PAPERS, answers, term
from proofs.replay.terms import listed, number
from tests.mutants.harness import applied, edit
from tests.proofs.replay_mutants import MUTANTS, terms

needs_compiled = pytest.mark.skipif(
    not kernel.present() or not kernel.at_hand(), reason="the proofs are not compiled here: make coq"
)


def test_numbers_are_the_floats_themselves() -> None:
    assert number(0.1) == "(3602879701896397 # 36028797018963968)"
    assert listed([number(Fraction(1, 3)), number(-2.0)]) == "[(1 # 3); (-2 # 1)]"


def test_every_paper_has_twenty_mutants_and_each_edit_still_fits() -> None:
    assert set(MUTANTS) == set(PAPERS)
    for paper, mutants in MUTANTS.items():
        assert len(set(mutants)) >= 20, paper
        for mutant in mutants:
            where, old, new = mutant
            with applied({f"refdp.papers.{where}": edit((old, new))}):
                pass


def test_a_run_that_fails_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(seed: int) -> None:
        raise ValueError(seed)

    monkeypatch.setitem(PAPERS, "dpboost", PAPERS["dpboost"]._replace(run=failing))
    assert term(PAPERS["dpboost"], 0) == "false"


@needs_compiled
def test_coq_computes_runs_and_refuses_a_mutant_s() -> None:
    true = [term(PAPERS[paper], 50) for paper in ("inprivate", "dpxgboost", "fedgbdt")]
    mutant = terms("inprivate", MUTANTS["inprivate"][1], range(50, 51))
    assert answers([*true, *mutant]) == [True, True, True, False]
