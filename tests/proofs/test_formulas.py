"""Formulas of Python printed as Coq terms: what is committed is what they print, and an edited formula is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from proofs import kernel
from proofs.kernel_page import FORMULAS, formulas_page
from proofs.replay.formulas import FILE, formulas, text
from proofs.replay.printed import Printed, Whole, printed, shown
from refdp.data.numbers import maximum
from tests.mutants.harness import applied, edit
from tests.proofs.formula_mutants import refusals
from tests.proofs.replay_mutants import MUTANTS

needs_compiled = pytest.mark.skipif(
    not kernel.present() or not kernel.at_hand(), reason="the proofs are not compiled here: make coq"
)
SAME = (
    ("dpboost:leaf_sensitivity", "(2 + regularisation)", "(1 + regularisation + 1)"),
    ("inprivate:curvature", "size * (2 - size)", "2 * size - size * size"),
    ("sgbdt:support_variance", "sigma_squared / (2 * r1)", "(sigma_squared / 2) / r1"),
)
"""Edits that change no value."""
OTHER = (
    ("dpboost:leaf_sensitivity", "records_changed(relation) * one_record", "one_record"),
    ("dpboost:Params.leaf_epsilon", "epsilon / 2", "epsilon / 3"),
    ("dpboost:splits_of_most_gain", "left[1], right[0], right[1]", "right[1], right[0], left[1]"),
    ("inprivate:regression_leaf_sensitivity", "(residual_bound + 1)", "residual_bound"),
    ("inprivate:Params.leaf_epsilon", "(1 - (self", "(2 - (self"),
    ("dpxgboost:leaf_change_as_published", "(2 * count", "(count"),
    ("dpxgboost:padded_leaf_value", "maximum(count, least)", "count + least"),
    ("fedgbdt:gradient_squared_sensitivity", "maximum(4", "maximum(8"),
    ("fedgbdt:released_leaf_weight", "hessian_sum <= 0", "hessian_sum <= 1"),
    ("sgbdt:gradient_variance", "(2 * (1 - r1))", "(2 * r1)"),
    ("sgbdt:leaf_values", "support > 0", "support > 1"),
)


def test_the_file_and_its_page_are_what_python_prints() -> None:
    assert text(formulas()) == FILE.read_text(encoding="utf-8")
    assert formulas_page() == FORMULAS.read_text(encoding="utf-8")


def test_every_paper_s_formulas_are_printed() -> None:
    functions = {one.python for one in formulas()}
    assert {name.partition(":")[0] for name in functions} == set(MUTANTS)
    assert len(functions) >= 40


def test_terms() -> None:
    x, n = Printed("x"), Whole("n")
    assert shown(1 - x * Fraction(1, 3)) == "(1 - (x * (1 / 3)))"
    assert shown(-2 / x + abs(x)) == "(((- 2) / x) + (Rabs x))"
    assert shown(x**n * n) == "((x ^ n) * (INR n))"
    assert [one.text for one in maximum(np.array([x, x * 2], dtype=object), -x)] == [
        "(Rmax x (- x))",
        "(Rmax (x * 2) (- x))",
    ]
    assert printed(lambda: x if x <= 0 else -x) == "(if (leR x 0) then x else (- x))"
    with pytest.raises(TypeError, match="equal"):
        printed(lambda: int(x == 0))
    with pytest.raises(TypeError, match="beside"):
        shown("x")


@pytest.mark.parametrize("mutant", OTHER, ids=str)
def test_an_edit_is_another_file(mutant: tuple[str, str, str]) -> None:
    where, old, new = mutant
    with applied({f"refdp.papers.{where}": edit((old, new))}):
        assert text(formulas()) != FILE.read_text(encoding="utf-8")


@needs_compiled
def test_coq_refuses_every_edit_that_changes_a_value_and_no_other() -> None:
    counts = refusals([*OTHER, *SAME])
    assert all(counts[: len(OTHER)]), counts
    assert counts[len(OTHER) :] == [0] * len(SAME)
