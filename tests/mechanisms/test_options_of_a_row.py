"""One option of a row by enclosures of all weights: against sums of rational weights, at every place of the uniform."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.noise.rational import exp_bounds, option_of


class Between:
    """A uniform number that is known to lie between two bounds; `refine` gives the next ones."""

    def __init__(self, *bounds: tuple[Fraction, Fraction]) -> None:
        self.left = list(bounds)

    def bounds(self) -> tuple[Fraction, Fraction]:
        return self.left[0]

    def refine(self) -> int:
        del self.left[0]
        return 60


@pytest.mark.parametrize("row", [[0.0, -1.0, 0.5], [3.0], [-np.inf, 2.0, -np.inf, 1.0, -np.inf], [1.0, 1.0, 1.0, -4.0]])
@pytest.mark.parametrize("coefficient", [Fraction(1, 2), Fraction(3)])
def test_an_option_is_where_the_number_falls(row: list[float], coefficient: Fraction) -> None:
    """Of 200 places each, and at the very ends: the first and the last allowed option need no refinement."""
    values = np.array(row)
    allowed = [place for place, value in enumerate(row) if value > -math.inf]
    weights = [math.exp(float(coefficient) * (row[place] - max(row))) for place in allowed]
    sums = list(itertools.accumulate(weights))
    for digit in range(200):
        low, high = Fraction(digit, 200) + Fraction(1, 10**4), Fraction(digit, 200) + Fraction(2, 10**4)
        places = {next(i for i, up in enumerate(sums) if float(end) * sums[-1] < up) for end in (low, high)}
        if len(places) == 1:
            given: Any = Between((low, high))
            assert option_of(values, coefficient, given) == allowed[places.pop()]
    for bounds, option in (
        ((Fraction(0), Fraction(1, 10**9)), allowed[0]),
        ((1 - Fraction(1, 10**9), Fraction(1)), allowed[-1]),
    ):
        ends: Any = Between(bounds)
        assert option_of(values, coefficient, ends) == option


def test_a_number_across_a_border_is_refined() -> None:
    """Two equal weights: below and above one half."""
    for narrow, option in (((Fraction(1, 4), Fraction(49, 100)), 0), ((Fraction(51, 100), Fraction(3, 4)), 1)):
        given: Any = Between((Fraction(1, 4), Fraction(3, 4)), narrow)
        assert option_of(np.array([2.0, 2.0]), Fraction(1), given) == option and given.left == [narrow]
    low, high = exp_bounds(Fraction(0), 40)
    assert low <= 1 <= high and high - low < Fraction(1, 10**38)
    low, high = exp_bounds(Fraction(1), 40)
    assert low < high and high - low < Fraction(1, 10**38) and float(low) == math.exp(-1)
