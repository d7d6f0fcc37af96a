"""Which functions can give None, and that utilities of medians are followed only where they are what they should be."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

import z3

from refdp.data import numbers, sketch
from refdp.prove import medians
from refdp.prove.asking import evaluated, name_of, real
from refdp.prove.nones import can_be_none
from refdp.prove.symbols import Known
from refdp.prove.tables import ALL, Axis, Choices, Sum, Table
from refdp.prove.terms import Leak, Unmodelled

SETTING = SimpleNamespace(found=None)
Pair = tuple[float, float]


# --- None -------------------------------------------------------------------------------------------------------------


def number_of(a: Any) -> Any:
    return a + 1


def several(a: Any) -> Any:
    b = [a - 1, -a]
    c, d = b[0], (a < 2, f"{a}")
    return {"x": c, "y": (d, *b)}


def chosen(a: Any) -> Any:
    return 1 if a else np.zeros(3)


def through_others(a: Any) -> Any:
    return max(number_of(a), len([a]), float(a)), numbers.exp(a), np.clip(a, 0, 1), a.sum(), math.pi, a.T


def entry(a: Any) -> Any:
    return SETTING.found[0]


def of_generator(a: Any) -> Any:
    e = [a]
    return tuple(one * 2 for one in e), (f := -a), f, [-one for one in e], {abs(one) for one in e}, a or 2


def given(a: Any) -> Any:
    return a


def wide(a: Any) -> Any:
    return ((((((((a + 1,),),),),),),),)


def nothing(a: Any) -> Any:
    a + 1


def plain_return(a: Any) -> Any:
    if a:
        return None
    return 1


def one_none(a: Any) -> Any:
    return None if a else 1


def hidden(a: Any) -> Any:
    b = None
    return [a, b]


def of_attribute(a: Any) -> Any:
    return SETTING.found


def appended(a: Any) -> Any:
    return [].append(a)


def looked_up(a: Any) -> Any:
    return {}.get(a)


def itself(a: Any) -> Any:
    return itself(a)


def other_none(a: Any) -> Any:
    return one_none(a)


def unknown_name(a: Any) -> Any:
    return undefined(a)  # type: ignore[name-defined] # noqa: F821


def strange(a: Any) -> Any:
    return SETTING.found.compute(a)


def called_twice(a: Any) -> Any:
    return (lambda: a)()


def a_function(a: Any) -> Any:
    return lambda: a


def of_list(a: Any) -> Any:
    return list([None])  # noqa: C410


def too_deep(a: Any) -> Any:
    return (((((((((a + 1,),),),),),),),),)


def after(a: Any) -> Any:  # noqa: RET503
    while a:
        return 1


def walrus(a: Any) -> Any:
    return 1 + 1 if (b := None) else b


def parameter_or(self: Any) -> Any:
    return self.residual or 1.0


def or_parameter(self: Any) -> Any:
    return 0.0 or self.residual


def made_or(self: Any, value: Any) -> Any:
    self = several([None if value > 0 else 1.0])
    return self.parts or 1.0


def names_or(self: Any, value: Any) -> Any:
    parts = [None if value > 0 else 1.0]
    return parts or self.residual or 1.0


def of_other_or(value: Any) -> Any:
    return value.residual or 1.0


@pytest.mark.parametrize(
    "function", [parameter_or, number_of, several, chosen, through_others, entry, of_generator, given, wide]
)
def test_functions_that_give_something(function: Any) -> None:
    assert not can_be_none(function)


@pytest.mark.parametrize("function", [
    nothing, plain_return, one_none, hidden, of_attribute, appended, looked_up, itself, other_none, unknown_name,
    strange, called_twice, a_function, of_list, too_deep, after, walrus, or_parameter,
    made_or, names_or, of_other_or, len, 3, lambda a: 1,
])  # fmt: skip
def test_functions_that_may_give_none(function: Any) -> None:
    assert can_be_none(function)


# --- Medians ----------------------------------------------------------------------------------------------------------


def bins(feature: int, size: int, some: bool = False) -> Table:
    of: Any = ("bins", feature, 1)
    if some:
        of = "some", of, 1

    def cell(index: Any, world: Any) -> Sum:
        within = index[0]
        return Sum(0, f"count of {feature}", (), ((within.part, within.seat),), within.sides, within.option)

    return Table((Axis("part", size, of=of),), cell)


def test_rows_are_intervals_between_edges() -> None:
    found = medians._rows([5, 4], [np.array([2, 3]), np.array([1, 1])])
    assert [(row.feature, row.low, row.high) for row in found] == [(0, 0, 2), (0, 2, 3), (0, 3, 5), (1, 0, 1),
            (1, 1, 1),
                                                                  (1, 1, 4)]  # fmt: skip


def test_utilities_of_medians_are_choices_of_each_interval() -> None:
    tables, edges = [bins(3, 5), bins(1, 4, some=True)], [np.array([4, 2]), np.array([1, 9])]
    found = medians.median_utilities(tables, edges)
    assert isinstance(found, Choices) and found.shape == (6, 4)
    assert [(axis.kind, axis.size) for axis in found.axes] == [("each", 2), ("part", 3), ("option", 4)]
    sums: dict[Sum, tuple[Any, Any]] = {}

    def pair(one: Sum) -> tuple[Any, Any]:
        return sums.setdefault(one, (real(), real()))

    world: Any = SimpleNamespace(pair=pair)
    for group, feature in ((0, 3), (1, 1)):
        sums.clear()
        before, after = found.cell((group, "r0", (0, "o")), world)
        assert {one.name for one in sums} == {f"count of {feature}"}
        assert {one.sides for one in sums} == {frozenset("a"), frozenset("r")}
        assert all(one.seats[0][0][:2] == ("interval", feature) and one.seats[0][1] == "r0" for one in sums)
        assert len({one.option for one in sums}) == 1
        left, right = (sums[one] for one in sorted(sums, key=lambda one: sorted(one.sides)))
        for a, b in ((3, 8), (8, 3), (5, 5)):
            at = {
                name_of(term): value for term, value in ((left[0], a), (right[0], b), (left[1], b), (right[1], a + 2))
            }
            assert evaluated(before, at) == -abs(a - b) / 2 and evaluated(after, at) == -abs(b - a - 2) / 2


def test_public_weights_have_public_utilities() -> None:
    weights, edges = [np.array([3.0, 1.0, 2.0]), np.array([1.0, 5.0])], [np.array([1]), np.array([1])]
    found = medians.median_utilities([Known(one) for one in weights], edges)
    assert isinstance(found, Known) and np.array_equal(found.example, sketch.median_utilities(weights, edges))
    joint = medians.halved(edges, np.array([0, 2, 1, 1]))
    assert [one.example.tolist() for one in joint] == [[0, 1, 2], [1, 1, 1]]


def test_other_weights_and_edges_are_refused() -> None:
    one = np.array([1])
    for tables, edges, says in (
        ([bins(0, 4), bins(0, 4)], [one, one], "two are of one feature"), ([bins(0, 4)], [one, one], "one feature"),
        ([bins(0, 4), bins(1, 4)], [one, np.array([1, 2])], "different numbers of intervals"),
        ([Table((Axis("each", 4),), lambda index, world: None)], [one], "anything but sums"),
        ([Table((Axis("part", 4, of=("node", 1)),), lambda index, world: None)], [one], "anything but sums"),
        ([Table((Axis("part", 4, of=("bins", 1, 1)), Axis("each", 1)), lambda index, world: None)],
        [one], "anything but"),
    ):  # fmt: skip
        with pytest.raises(Unmodelled, match=says):
            medians.median_utilities(tables, edges)
    with pytest.raises(Leak):
        medians.median_utilities([bins(0, 4)], [bins(1, 1)])


def right(weights: Any, edges: Any) -> Any:
    return KEPT(weights, edges)


KEPT = sketch.median_utilities


@pytest.mark.parametrize("wrong", ["shape", "twice", "sign", "outside", "offered", "withheld"])
def test_a_wrong_utility_is_not_followed(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry of one row is another one."""

    def made(weights: Any, edges: Any) -> Any:
        found = np.array(KEPT(weights, edges), dtype=object)
        if wrong == "shape":
            return found[:-1]
        if wrong == "offered":
            found[1, 0] = 0.0  # edge 1, of the interval from 2 on
        elif wrong == "outside":
            found[3, 3] = weights[1][0]  # a feature of 3 bins has no edge 4
        elif wrong == "withheld":
            found[0, 0] = -np.inf
        else:
            found[0, 0] = found[0, 0] * (2 if wrong == "twice" else -1)
        return found

    tables, edges = [bins(0, 5), bins(1, 3)], [np.array([2]), np.array([1])]
    medians.median_utilities(tables, edges)
    monkeypatch.setattr(sketch, "median_utilities", made)
    with pytest.raises((Unmodelled, z3.Z3Exception)):
        medians.median_utilities(tables, edges)
    assert frozenset("amr") == ALL
