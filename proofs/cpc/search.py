"""Finds multiples for products.py: a linear program over products, made exact in rational numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
from scipy.optimize import linprog

from proofs.cpc.products import Case, Multiples, cases, refutes
from proofs.cpc.values import Formula, Meaning, Monomial, Polynomial, assertions, negated, number

DEGREES = ((1, 1), (2, 1), (2, 2), (3, 2), (4, 2), (5, 2), (6, 2))
"""Factors of a product, and the degree of what an equation is multiplied by, tried in turn."""
MOST, WHOLE = 2000, 6000
"""Columns of one linear program, and of all that are tried for one question."""
SECONDS = 10.0


def multiples_of(question: str) -> int:
    """In how many cases a question in SMT-LIB is refuted by products; 0 where one of them is not."""
    return _refuted(assertions(Meaning(), question))


def follows_by_products(premises: list[Formula], conclusion: Formula) -> bool:
    """Whether products show that premises exclude that a conclusion is false."""
    return _refuted([*premises, negated(conclusion)]) > 0


def _refuted(asserted: Sequence[Formula]) -> int:
    try:
        every = cases(asserted)
    except ValueError:
        return 0
    left = WHOLE
    for case in every:
        multiples, used = _tried(case, left)
        left -= used
        if multiples is None or not refutes(multiples, case):
            return 0
    return len(every)


def found(case: Case) -> Multiples | None:
    """Multiples that refute a case, None if there are none of these degrees."""
    return _tried(case, WHOLE)[0]


def _tried(case: Case, left: int) -> tuple[Multiples | None, int]:
    """Multiples, and how many columns were looked at. left: how many may be."""
    used = 0
    for factors, degree in DEGREES:
        places = list(_places(len(case.inequalities), factors))
        powers = list(_monomials(case, degree))
        columns = len(places) + len(powers) * len(case.equations)
        if columns > MOST or used + columns > left:
            break
        used += columns
        multiples = _solved(case, places, [(e, one) for e in range(len(case.equations)) for one in powers])
        if multiples is not None:
            return multiples, used
    return None, used


def _places(number_: int, factors: int) -> Iterator[tuple[int, ...]]:
    for many in range(factors + 1):
        yield from combinations_with_replacement(range(number_), many)


def _monomials(case: Case, degree: int) -> Iterator[Monomial]:
    """All up to a degree in the unknowns of a case."""
    every = [*case.equations, *(one for one, _ in case.inequalities)]
    names = sorted({atom for one in every for monomial, _ in one.terms for atom in monomial}, key=str)
    for many in range(degree + 1):
        yield from combinations_with_replacement(names, many)


def _solved(case: Case, places: Sequence[tuple[int, ...]], powers: Sequence[tuple[int, Monomial]]) -> Multiples | None:
    """A sum of 0 with few terms, whose positive products have 1 in all."""
    products = [_product(case, one) for one in places]
    free = [case.equations[place].times(Polynomial.of({one: Fraction(1)})) for place, one in powers]
    strict = [all(case.inequalities[place][1] for place in one) for one in places]
    rows: dict[Monomial, int] = {}
    columns = [{rows.setdefault(m, len(rows)): c for m, c in one.terms} for one in (*products, *free)]
    matrix = np.zeros((len(rows) + 1, len(columns)))
    for place, column in enumerate(columns):
        for row, value in column.items():
            matrix[row, place] = float(value)
    matrix[-1, : len(strict)] = strict
    size = np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1e-300)
    wanted = np.zeros(len(rows) + 1)
    wanted[-1] = 1 / size[-1, 0]
    bounds = [(0, None)] * len(products) + [(None, None)] * len(free)
    cost = np.r_[np.ones(len(products)), np.zeros(len(free))]
    answer = linprog(
        cost, A_eq=matrix / size, b_eq=wanted, bounds=bounds, method="highs", options={"time_limit": SECONDS}
    )
    if answer.status != 0:
        return None
    used = [place for place, value in enumerate(answer.x) if abs(value) > 1e-11]
    for place in used:
        columns[place] = {**columns[place], len(rows): Fraction(int(place < len(strict) and strict[place]))}
    exact = _exact([columns[place] for place in used], len(rows))
    if exact is None:
        return None
    values = dict(zip(used, exact, strict=True))
    return Multiples(
        tuple((places[at], value) for at, value in values.items() if at < len(places)),
        tuple(
            (powers[at - len(places)][0], Polynomial.of({powers[at - len(places)][1]: value}))
            for at, value in values.items() if at >= len(places)
        ),
    )  # fmt: skip


def _product(case: Case, places: tuple[int, ...]) -> Polynomial:
    product = number(Fraction(1))
    for place in places:
        product = product.times(case.inequalities[place][0])
    return product


def _exact(columns: Sequence[dict[int, Fraction]], last: int) -> list[Fraction] | None:
    """Multiples of columns whose sum is 0 but 1 in the last row, by elimination; None if there are none."""
    height = last + 1
    table = [
        [column.get(row, Fraction(0)) for column in columns] + [Fraction(int(row == last))] for row in range(height)
    ]
    pivots: list[int] = []
    done = 0
    for column in range(len(columns)):
        pivot = next((row for row in range(done, height) if table[row][column]), None)
        if pivot is None:
            continue
        table[done], table[pivot] = table[pivot], table[done]
        table[done] = [value / table[done][column] for value in table[done]]
        for row in range(height):
            if row != done and table[row][column]:
                times = table[row][column]
                table[row] = [a - times * b for a, b in zip(table[row], table[done], strict=True)]
        pivots.append(column)
        done += 1
    if any(row[-1] and not any(row[:-1]) for row in table):
        return None
    values = [Fraction(0)] * len(columns)
    for row, column in enumerate(pivots):
        values[column] = table[row][-1]
    return values
