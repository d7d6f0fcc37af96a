"""Fresh runs of the papers are what Coq computes from the programs of the theorems; runs of a mutant are not."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest

from proofs import kernel
from proofs.replay.checks import PAPERS, answers, term
from proofs.replay.terms import listed, number
from tests.mutants.harness import applied, edit
from tests.proofs.replay_mutants import COUNTS, MUTANTS, PAGE, RUNS, WHY, page, terms

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


def test_every_mistake_is_seen_in_a_quarter_of_the_runs_or_refused_as_a_formula_or_explained() -> None:
    counts = json.loads(COUNTS.read_text(encoding="utf-8"))
    for paper, mutants in MUTANTS.items():
        seen, refused = counts["runs"][paper], counts["formulas"][paper]
        assert sum(4 * count >= RUNS for count in seen) >= 20, paper
        for (where, _, new), count, formulas in zip(mutants, seen, refused, strict=True):
            assert formulas != 0, (where, new)
            assert 4 * count >= RUNS or formulas or (where, new) in WHY, (where, new)
    assert page(counts["runs"], counts["formulas"], RUNS) == PAGE.read_text(encoding="utf-8")


def test_a_run_that_fails_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(seed: int) -> None:
        raise ValueError(seed)

    monkeypatch.setitem(PAPERS, "dpboost", PAPERS["dpboost"]._replace(run=failing))
    assert term(PAPERS["dpboost"], 0) == "false"


@needs_compiled
def test_coq_certifies_the_shares_that_a_run_declares_and_refuses_more_than_all() -> None:
    program, requests = PAPERS["dpboost"].text(PAPERS["dpboost"].run(50))
    assert program.startswith("train ")
    whole = re.sub(r"runs := \[.*\] \|\}\)$", "runs := [[(1 # 2, 1); (1 # 2, 1)]] |})", requests.certified)
    more = whole.replace("(1 # 2, 1)]]", "(4503599627370497 # 9007199254740992, 1)]]")
    assert whole != requests.certified and more != whole
    assert answers([requests.certified, whole, more]) == [True, True, False]


@needs_compiled
def test_coq_computes_runs_and_refuses_a_mutant_s() -> None:
    true = [term(PAPERS[paper], 50) for paper in ("inprivate", "dpxgboost", "fedgbdt")]
    mutant = terms("inprivate", MUTANTS["inprivate"][1], range(50, 51))
    assert answers([*true, *mutant]) == [True, True, True, False]


@needs_compiled
@pytest.mark.statistics
def test_runs_with_the_log_loss_are_computed_too() -> None:
    assert PAPERS["inprivate"].run(8).schema.scores == 1 and PAPERS["inprivate"].run(9).schema.scores == 3
    assert "Logistic.logistic" in (true := term(PAPERS["inprivate"], 8))
    mutant = terms("inprivate", ("inprivate:residual_at_odds", "2 * label / (1", "label / (1"), range(8, 10))
    assert answers([true, *mutant]) == [True, False, False]
