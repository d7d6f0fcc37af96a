"""Every number that a paper's settings take, at the ends of what is allowed and just outside them."""

from __future__ import annotations

import importlib
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.checks import check_count, check_number, of_numpy, plain
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.privacy.events import Relation

GRID, LARGEST, WIDEST = 2.0**-24, 2.0**10, 1e100


COUNTS: dict[str, dict[str, tuple[int, int]]] = {
    "dpboost": {"trees": (1, 10**6), "trees_per_ensemble": (1, 10**6), "depth": (1, 16), "bins": (1, 60_000)},
    "dpxgboost": {"trees": (1, 100_000), "depth": (1, 12), "bins": (1, 254), "sketch_bins": (2, 255),
                  "child_minimum": (1, 10**9)},
    "fedgbdt": {"depth": (1, 12), "bins": (1, 60_000), "trees": (1, 10**6), "rounds": (1, 10**6), "batch": (1, 10**6),
                "records_each": (1, 10**6), "features_per_tree": (1, 10**6)},
    "inprivate": {"owners": (1, 100_000), "rounds": (1, 60), "depth": (1, 16), "bins": (1, 60_000)},
    "sgbdt": {"trees": (1, 10_000), "extra_trees": (0, 10_000), "depth": (1, 8), "grid_points": (1, 60_000)},
}  # fmt: skip
"""Least and most, both allowed."""

NUMBERS: dict[str, dict[str, tuple[str, float, float]]] = {
    "dpboost": {"epsilon": ("[]", 1e-60, 1e15), "regularisation": ("[)", GRID, math.inf), "shrinkage": ("[)", 0.001, 1),
                "gradient_bound": ("(]", GRID, LARGEST)},
    "dpxgboost": {"epsilon": ("[]", 1e-60, 1e15), "delta": ("[)", 0, 1), "regularisation": ("[)", GRID, math.inf),
                  "shrinkage": ("(]", 0, WIDEST), "level_growth": ("()", 0, math.inf),
                  "tree_growth": ("()", 0, math.inf), "sketch_part": ("()", 0, math.inf),
                  "split_part": ("()", 0, math.inf), "leaf_part": ("()", 0, math.inf),
                  "count_part": ("()", 0, math.inf), "count_weight": ("()", 0, math.inf), "subsample": ("(]", 0, 1),
                  "columns": ("(]", 0, 1), "gradient_bound": ("(]", GRID, LARGEST),
                  "ratio_bound": ("()", GRID, math.inf)},
    "fedgbdt": {"epsilon": ("[]", 1e-60, 1e15), "delta": ("()", 0, 1), "regularisation": ("()", 0, math.inf),
                "shrinkage": ("(]", 0, WIDEST), "leaf_clip": ("(]", 0, WIDEST), "split_penalty": ("[)", 0, math.inf),
                "gradient_bound": ("(]", GRID, LARGEST), "batch_share": ("(]", 0, 1)},
    "inprivate": {"epsilon": ("[]", 1e-60, 1e15), "split_share": ("()", 0, 1), "residual_bound": ("(]", GRID, LARGEST),
                  "leaf_bound": ("(]", 0, WIDEST), "damping": ("[)", 0, math.inf), "shrinkage": ("(]", 0, 1)},
    "sgbdt": {"epsilon": ("[]", 1e-60, 1e15), "delta": ("()", 0, 1), "subsample": ("(]", 0, 1),
              "shrinkage": ("(]", 0, 1), "gradient_bound": ("[]", 2 * GRID, 1), "hessian_bound": ("[]", 2 * GRID, 1),
              "label_bound": ("[]", 2 * GRID, 1), "regularisation": ("()", 0, math.inf), "leaf_clip": ("(]", 0, WIDEST),
              "support_weight": ("()", 0, 1), "count_share": ("()", 0, 1), "initial_share": ("[)", 0, 1)},
}  # fmt: skip
"""Ends, in the usual brackets."""


class Cheap(float):
    """Equals its number, and calculates in its own way."""

    def __mul__(self, other: Any) -> float:
        return float(self) * other / 1000

    def __float__(self) -> float:
        return 64.0


class Spelt(str):
    def __str__(self) -> str:
        return "floating"


class Counted(int):
    def __int__(self) -> int:
        return 64


@pytest.mark.parametrize("name", [*registry.PAPERS, *registry.OWN])
def test_numbers_and_texts_of_other_classes_are_pythons(name: str) -> None:
    """Whatever is kept of them is found again by the numbers that they equal."""
    given = {"epsilon": Cheap(1.0), "depth": Counted(3), "noise": Spelt("discrete")}
    params = registry.paper(name).params({"relation": "add-remove", **given}, as_published=False)
    found = [getattr(params, one) for one in given]
    assert found == [1.0, 3, "discrete"] and [type(one) for one in found] == [float, int, str]
    assert type(params.relation) is Relation
    for value in (True, None, Relation.ADD_REMOVE, Fraction(1, 2), np.zeros(2)):
        assert plain(value) is value
    assert type(plain(np.float64(0.5))) is type(of_numpy(Cheap(0.5))) is float


def made(paper: str, name: str, value: Any) -> Any:
    kind = importlib.import_module(f"refdp.papers.{paper}").Params
    return kind(**{"epsilon": 1.0, "relation": Relation.ADD_REMOVE, name: value})


def refused(paper: str, name: str, value: Any) -> None:
    with pytest.raises(InvalidParameter, match=f"^{name} = "):
        made(paper, name, value)


@pytest.mark.parametrize("paper", COUNTS)
def test_whole_numbers(paper: str) -> None:
    for name, (least, most) in COUNTS[paper].items():
        for value in (least, least + 1, most - 1, most):
            assert getattr(made(paper, name, value), name) == value
        for wrong in (least - 1, most + 1, -1, float(least), True, "1"):
            refused(paper, name, wrong)


@pytest.mark.parametrize("paper", NUMBERS)
def test_real_numbers(paper: str) -> None:
    for name, ((left, right), low, high) in NUMBERS[paper].items():
        inside = [math.nextafter(low, math.inf), 0.5 if low < 0.5 < high else low + (min(high, 1e9) - low) / 2]
        inside += [low] * (left == "[") + [high] * (right == "]")
        if math.isfinite(high):
            inside.append(math.nextafter(high, 0))
        for value in inside:
            assert getattr(made(paper, name, value), name) == value, (name, value)
        outside = [math.nextafter(low, -math.inf), *([low] * (left == "(")), *([high] * (right == ")")), math.nan, True]
        outside += [math.nextafter(high, math.inf)] if math.isfinite(high) else []
        for wrong in [*outside, -1.0, math.inf, "1"]:
            refused(paper, name, wrong)


def test_checks_themselves() -> None:
    """Ends of one check each, and what the message says is allowed."""
    check_number("x", 0)
    check_count("x", 1)
    check_count("x", 1_000_000)
    for value in (0, 1_000_001):
        with pytest.raises(InvalidParameter, match=f"^x = {value}: a whole number from 1 to 1000000 is allowed$"):
            check_count("x", value)
    limits = {"above": ">", "least": ">=", "below": "<", "most": "<="}
    for name, sign in limits.items():
        for value, fine in ((2.5, name in ("least", "most")), (2.0, sign[0] == "<"), (3.0, sign[0] == ">")):
            if fine:
                check_number("x", value, **{name: 2.5})
            else:
                with pytest.raises(InvalidParameter, match=f"^x = {value}: a finite number {sign} 2.5 is allowed$"):
                    check_number("x", value, **{name: 2.5})
    with pytest.raises(InvalidParameter, match="a finite number > 1 and >= 2 and < 3 and <= 4 is allowed"):
        check_number("x", 9, above=1, least=2, below=3, most=4)


@pytest.mark.parametrize("paper", list(NUMBERS))
@pytest.mark.parametrize("value", [10**400, -(10**400), 10**5000], ids=["large", "small", "of 5,000 digits"])
def test_whole_numbers_beyond_all_floats_are_refused_by_their_size(paper: str, value: int) -> None:
    """Python compares them with no float, and writes none of more than 4,300 digits."""
    for name in (*NUMBERS[paper], *COUNTS[paper]):
        with pytest.raises(InvalidParameter, match=rf"^{name} = a whole number of {value.bit_length()} bits: a "):
            made(paper, name, value)
    check_number("x", 2**1023 - 1)
    with pytest.raises(InvalidParameter, match=r"^x = a whole number of 1024 bits"):
        check_number("x", 2**1023)
