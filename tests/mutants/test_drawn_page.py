"""The page about random mutants: what is kept is whole, names tests that exist, and the page follows from it."""

from __future__ import annotations

import ast
import math

import pytest

from tests.mutants import drawn_page as page

DRAWS = page.kept()
LINES = [line for draw in DRAWS for line in draw.lines]


def test_the_page_follows_from_what_is_kept() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page()


def test_every_mutant_is_killed_by_a_test_that_exists_or_judged() -> None:
    for line in LINES:
        assert line.old != line.new and (page.ROOT / line.path).is_file(), line
        assert line.fate in (page.QUICK, page.REST, page.EQUIVALENT, page.MENDED, page.ALIVE), line
        assert bool(line.by) == (line.fate in (page.QUICK, page.REST, page.MENDED)), line
        assert bool(line.judged) == (line.fate != page.QUICK), line
        if line.by:
            file, _, name = line.by.partition("::")
            tree = ast.parse((page.ROOT / file).read_text(encoding="utf-8"))
            functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
            assert not name or name.partition("[")[0] in functions, line
    for draw in DRAWS:
        assert len({(line.path, line.line, line.old, line.new, line.kind) for line in draw.lines}) == len(draw.lines)
    numbers = [(draw.seed, draw.start + k) for draw in DRAWS for k in range(len(draw.lines))]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize(("killed", "number"), [(0, 7), (3, 10), (57, 60), (60, 60)])
def test_the_interval_leaves_a_fortieth_on_each_side(killed: int, number: int) -> None:
    """At its ends the binomial's tails, summed, are what is left."""
    low, high = page.interval(killed, number)
    term = [math.comb(number, k) for k in range(number + 1)]

    def tail(p: float, ks: range) -> float:
        return math.fsum(term[k] * p**k * (1 - p) ** (number - k) for k in ks)

    assert tail(low, range(killed, number + 1)) == pytest.approx(0.025) if killed else low == 0
    assert tail(high, range(killed + 1)) == pytest.approx(0.025) if killed < number else high == 1
