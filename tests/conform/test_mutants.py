"""Vectors alone kill the wrong programs; the page with the whole matrix is that of the mutants that there are."""

from __future__ import annotations

import pytest

from tests.conform.mutants import EQUAL, PAGE, Mutant, killed, mutants, text

SAMPLE = [one for one in mutants() if one.mistake not in EQUAL][::9]


def test_there_are_enough_mutants_of_every_paper() -> None:
    listed = mutants()
    assert len(listed) - len(EQUAL) >= 100 and len({m.old + m.new for m in listed}) == len(listed)
    assert {m.paper for m in listed} == {"", "dpboost", "inprivate", "dpxgboost", "fedgbdt", "sgbdt", "grove"}
    assert [m.mistake for m in listed if m.old not in text()] == []


@pytest.mark.parametrize("mutant", SAMPLE, ids=lambda m: m.mistake)
def test_a_mutant_is_killed(mutant: Mutant) -> None:
    """Every ninth; `python -m tests.conform.mutants` runs them all."""
    assert killed(mutant).kind


def test_the_page_lists_every_mutant_and_every_one_was_killed() -> None:
    listed = PAGE.read_text(encoding="utf-8").split("| paper | mistake |")[1]
    rows = [line.split(" | ") for line in listed.splitlines()[1:] if line.startswith("| ")]
    assert [(row[0][2:], row[1]) for row in rows] == [(m.paper or "all", m.mistake) for m in mutants()]
    assert [row[1] for row in rows if row[2] == "-"] == list(EQUAL)


@pytest.mark.statistics
def test_the_program_without_a_mistake_survives() -> None:
    assert killed(None).kind == ""
