"""Functions of private sums, entry by entry, against the same function of numbers put in."""

from __future__ import annotations

import itertools
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.prove.arithmetic import called, combined, reduced
from refdp.prove.asking import evaluated, name_of, real
from refdp.prove.exchange import array
from refdp.prove.symbols import Known
from refdp.prove.tables import ALL, Axis, Binned, Formula, Sum, Table
from refdp.prove.terms import Leak, Unmodelled
from tests.prove.test_open_numbers import parameter

EACH, PART, OPTION = Axis("each", 3), Axis("part", 4, of=("node", 1)), Axis("option", 5, of=("sides", b""))
BINS = Axis("part", 4, of=("bins", 2, 1))


class World:
    """Every sum has two unknowns."""

    def __init__(self) -> None:
        self.sums: dict[Any, tuple[Any, Any]] = {}
        self.reader = SimpleNamespace(optional=set())

    def pair(self, one: Any) -> tuple[Any, Any]:
        return self.sums.setdefault(one, (real(), real()))


def sums(name: str, *axes: Axis) -> Table:
    """A sum for every entry, by name and place."""
    return Table(axes, lambda index, world: Sum(0, name, (), (("place", str(index)),), ALL, None))


def numbers(world: World) -> dict[str, Any]:
    """Another number for each unknown: before and after."""
    return {name_of(term): Fraction(3 * place + 7 * side + 2) for place, pair in enumerate(world.sums.values())
            for side, term in enumerate(pair)}  # fmt: skip


def test_no_public_numbers_lie_along_sums_of_which_released_values_say_how_many() -> None:
    """In the example there are as many; where there is one sum, numpy puts it beside all numbers."""
    loose = sums("a", EACH, Axis("part", 4, of=("node", 1), loose=True))
    for one in (np.zeros(4), [0.0, 0.0, 0.0, 0.0], np.zeros((3, 4))):
        with pytest.raises(Unmodelled, match="as many public numbers as an example has private sums"):
            combined("add", (loose, one))
    for one in (np.zeros((3, 1)), 2.0, sums("b", EACH, Axis("part", 4, of=("node", 1), loose=True))):
        assert combined("add", (loose, one)).shape == (3, 4)
    assert combined("add", (sums("a", EACH, PART), np.zeros(4))).shape == (3, 4)


def test_nothing_released_of_any_length_stands_beside_sums() -> None:
    """In the example it is one number; of others it can be an array of more axes than the sums."""
    table = sums("a", EACH, PART)
    for one in (Known(np.float64(2.0), True), Known(np.zeros(4), True), [Known(2.0, True), 1.0]):
        with pytest.raises(Unmodelled, match="in how many axes"):
            combined("multiply", (table, one))
    with pytest.raises(Unmodelled, match="released or large"):
        combined("multiply", (table, Known(2.0)))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "minimum", "maximum"])
def test_a_function_of_two_tables(name: str) -> None:
    a, b = sums("a", EACH, PART), sums("b", EACH, PART)
    found, world = combined(name, (a, b)), World()
    assert found.shape == (3, 4) and [axis.kind for axis in found.axes] == ["each", "part"]
    pair = found.cell((1, "r2"), world)
    first, second = (world.sums[Sum(0, one, (), (("place", "(1, 'r2')"),), ALL, None)] for one in "ab")
    values = numbers(world)
    for side in (0, 1):
        x, y = values[name_of(first[side])], values[name_of(second[side])]
        plain = {"add": x + y, "subtract": x - y, "multiply": x * y, "divide": x / y, "minimum": min(x, y),
                 "maximum": max(x, y)}[name]  # fmt: skip
        assert evaluated(pair[side], values) == plain
    assert len(pair.sums) == (2 if name in ("add", "subtract") else 0)


def test_functions_of_one_table_and_of_three() -> None:
    a, b, world = sums("a", EACH), sums("b", EACH), World()
    negative = combined("negative", (a,)).cell((2,), world)
    assert len(negative.sums) == 1 and len(combined("absolute", (a,)).cell((2,), world).sums) == 0
    chosen = combined("where", (combined("greater", (a, 5.0)), a, b)).cell((2,), world)
    for low, high in ((3, 9), (5, 1), (6, 2)):
        terms = [one for pair in world.sums.values() for one in pair]
        values: dict[str, Any] = dict(zip(map(name_of, terms), (low, high, 40, 50), strict=True))
        assert [evaluated(one, values) for one in chosen] == [low if low > 5 else 40, high if high > 5 else 50]
        assert [evaluated(one, values) for one in negative] == [-low, -high]


def test_plain_numbers_are_spread_along_axes() -> None:
    table, world = sums("a", EACH, PART), World()
    column = np.array([[10.0], [20.0], [30.0]])
    for other, expected in ((column, [10, 20, 30]), (4, [4, 4, 4]), (np.float64(0.5), [Fraction(1, 2)] * 3),
                            (np.array([[7.0]]), [7, 7, 7]), (np.array([2.0]), [2, 2, 2])):  # fmt: skip
        for row in range(3):
            pair = combined("add", (table, other)).cell((row, "r1"), world)
            values = dict.fromkeys(numbers(world), Fraction(100))
            assert [evaluated(one, values) for one in pair] == [100 + expected[row]] * 2
    turned = sums("b", PART, EACH)
    for place, plain in enumerate((5.0, 6.0, 7.0)):
        pair = combined("multiply", (np.array([5.0, 6.0, 7.0]), turned)).cell(("r0", place), world)
        values = dict.fromkeys(numbers(world), Fraction(2))
        assert evaluated(pair[0], values) == 2 * plain
    assert not world.reader.optional
    with pytest.raises(Unmodelled):
        combined("add", (table, np.array([1.0, 2.0, 3.0, 2.0**17]))).cell((0, "r0"), World())


def test_public_numbers_of_each_node_or_option_are_any_numbers() -> None:
    """The same one wherever an entry is asked for again, and another one for every option."""
    table, world = sums("a", EACH, PART), World()
    found = combined("add", (table, np.array([1.0, 2.0, 3.0, 4.0])))
    first, again, other = (found.cell(index, world) for index in ((0, "r0"), (2, "r0"), (0, "r9")))
    known = {name_of(one) for pair in world.sums.values() for one in pair}

    def free(pair: Any) -> set[str]:
        from refdp.prove.asking import unknowns

        return set(unknowns(list(pair))) - known

    assert len(free(first)) == 1 and free(first) == free(again) and free(first) != free(other)
    assert not world.reader.optional
    wide = combined("add", (sums("a", EACH, OPTION), np.arange(1.0, 6.0)))
    pair = wide.cell((1, (0, "o")), world)
    known |= {name_of(one) for own in world.sums.values() for one in own}
    assert world.reader.optional == free(pair) and len(free(pair)) == 1


def test_axes_of_one_entry_take_the_other_tables() -> None:
    a, b, world = sums("a", EACH, Axis("each", 1)), sums("b", PART), World()
    found = combined("subtract", (a, b))
    assert found.shape == (3, 4) and [axis.kind for axis in found.axes] == ["each", "part"]
    found.cell((2, "r1"), world)
    assert [one.seats[0][1] for one in world.sums] == ["(2, 0)", "('r1',)"]
    for first, second in ((sums("a", EACH), sums("b", Axis("part", 3, of=("node", 1)))),
            (sums("a", PART), sums("b", BINS)),
                          (sums("a", OPTION), sums("b", Axis("option", 5, of=("sides", b"x"))))):  # fmt: skip
        with pytest.raises(Unmodelled, match="different parts"):
            combined("add", (first, second))
    sides, missing = Axis("option", 5, of=("sides", b"f")), Axis("option", 5, of=("missing", b"f"))
    for pair in ((sums("a", sides), sums("b", missing)), (sums("a", missing), sums("b", sides))):
        assert combined("add", pair).axes == (sides,)
    with pytest.raises(Unmodelled, match="different parts"):
        combined("add", (sums("a", sides), sums("b", Axis("option", 5, of=("missing", b"g")))))


def test_functions_of_released_numbers() -> None:
    one = Known(np.array([1.0, -2.0, 5.0]))
    found = combined("maximum", (one, 0.5, 0.25)[:2])
    assert isinstance(found, Known) and found.example.tolist() == [1.0, 0.5, 5.0] and found.least == 0.5
    assert combined("add", (one, 1.0)).least is None and combined("maximum", (one, one)).least is None
    assert combined("divide", (one, 0.0)).example[0] == np.inf
    assert reduced("add", Known(np.arange(6.0).reshape(2, 3)), axis=1).example.tolist() == [3.0, 12.0]
    kept = reduced("maximum", Known(np.arange(6.0).reshape(2, 3)), axis=0, keepdims=True)
    assert kept.example.tolist() == [[3.0, 4.0, 5.0]]
    assert called(np.cumsum, (Known(np.arange(4.0)),), {}).example.tolist() == [0, 1, 3, 6]
    with pytest.raises(Unmodelled, match="released or large"):
        combined("add", (sums("a", EACH), one)).cell((0,), World())


def test_released_numbers_beside_an_open_one_take_its_example() -> None:
    one, p = Known(np.array([1.0, -2.0, 5.0])), parameter(1.0, 4.0, 2.0)
    assert combined("add", (one, p)).example.tolist() == [3.0, 0.0, 7.0]
    assert combined("subtract", (p, one)).example.tolist() == [1.0, 4.0, -3.0]
    assert called(np.clip, (one, -1.0, p), {}).example.tolist() == [1.0, -1.0, 2.0]
    assert called(np.where, (Known(np.array([True, False])), p, 9.0), {}).example.tolist() == [2.0, 9.0]


def test_sums_of_disjoint_sides_are_a_sum() -> None:
    left, right = (Table((EACH,), lambda index, world, side=side: Sum(index[0], "c", (), (), frozenset(side), "o"))
                   for side in ("am", "r"))  # fmt: skip
    found = combined("add", (left, right)).cell((2,), World())
    assert found == Sum(2, "c", (), (), ALL, None)


def test_a_total_is_over_the_bins_of_a_feature() -> None:
    table, world = sums("a", EACH, BINS), World()
    for axis, keep, index, shape in ((-1, False, (2,), (3,)), (1, False, (2,), (3,)), (-1, True, (2, 0), (3, 1))):
        found = reduced("add", table, axis=axis, keepdims=keep)
        assert found.shape == shape
        assert found.cell(index, world).seats == (("place", "(2, 'whole')"),)
    for name, value, axis in (("maximum", table, -1), ("add", table, 0), ("add", table, None),
                              ("add", sums("a", EACH, PART), -1)):  # fmt: skip
        with pytest.raises(Unmodelled):
            reduced(name, value, axis=axis)
    deep = reduced("add", sums("a", EACH, PART, BINS), axis=-1, keepdims=True)
    assert deep.shape == (3, 4, 1) and deep.cell((1, "r0", 0), world).seats == (("place", "(1, 'r0', 'whole')"),)
    with pytest.raises(Leak, match="over all records"):
        reduced("add", 3.0)


def test_numpys_functions_of_tables() -> None:
    table, world = sums("a", EACH, PART), World()
    clipped = called(np.clip, (table, -1.0, 3.0), {}).cell((0, "r0"), world)
    (own,) = world.sums.values()
    for value, expected in ((-5, -1), (2, 2), (9, 3)):
        assert evaluated(clipped[0], {name_of(own[0]): Fraction(value)}) == expected
    assert called(np.shape, (table,), {}) == (3, 4) and called(np.ndim, (table,), {}) == 2
    assert called(np.size, (table,), {}) == 12
    for function in (np.rint, np.trunc):
        with pytest.raises(Unmodelled, match="of private sums"):
            called(function, (table,), {})
    flat = called(np.ravel, (table,), {})
    assert flat.shape == (12,) and flat.axes == table.axes
    assert called(np.reshape, (table, (4, -1)), {}).shape == (4, 3)
    for function, arguments, options in (
        (np.clip, (table, -1.0), {}), (np.clip, (table, -1.0, 3.0), {"out": None}), (np.sort, (table,), {}),
        (np.ravel, (table, "F"), {}), (np.concatenate, ([table, 3.0],), {}), (np.split, (3.0, table), {}),
    ):  # fmt: skip
        with pytest.raises(Unmodelled):
            called(function, arguments, options)


def test_a_total_over_bins_has_what_is_the_same_for_each_of_them_more_than_once() -> None:
    part, bins = Axis("part", 1, of=("root", 1)), Axis("bins", 5, of=Binned(None, (2,), 1))
    table, other, whole = sums("a", EACH, bins), sums("b", EACH, bins), sums("a", EACH, Axis("each", 1))
    world: Any = World()
    for name in ("add", "subtract"):
        both = combined(name, (table, other))
        assert len(both.cell((0, ("side", "r", "x")), world).sums) == 2
        assert len(combined(name, (table, sums("b", bins))).cell((0, "r0"), world).sums) == 2  # of another first axis
        for one in ((table, whole), (whole, table)):
            assert combined(name, one).cell((0, "r0"), world).sums == ()
        assert len(combined(name, (table[:, None], sums("b", EACH, part, bins))).cell((0, "r0", "r0"), world).sums) == 2


def test_arrays_beside_sums_are_as_they_were_given() -> None:
    table, factor, pair = sums("a", Axis("each", 2)), np.array([8.0, 1.0]), [3.0, 1.0]
    for given, times in ((factor[:], 8), (pair, 3)):
        found, world = combined("multiply", (table, given)), World()
        given[0] = 1.0
        before, _ = found.cell((0,), world)
        (sums_of,) = world.sums.values()
        assert evaluated(before, {name_of(one): Fraction(5) for one in sums_of}) == 5 * times


def test_what_numpy_keeps_sums_in_is_followed() -> None:
    table = sums("a", EACH, PART)
    truth, whole = combined("greater", (table, 1)), called(np.where, (table > 1.0, 1, 0), {})
    assert (table.form.of, truth.form.of, whole.form.of) == ("float", "truth", "whole")
    for one in (whole[0], whole.T, called(np.ravel, (whole,), {}), called(np.concatenate, ([whole[0]] * 2, 0), {})):
        assert one.form.of == "whole"
    mixed = called(np.where, (truth, 1, 0.0), {})
    for one in (truth * 1.0, whole * table, table**2, mixed, array(np.array, truth, float),
                array(np.array, [whole, table])):  # fmt: skip
        assert one.form.of == "float"
    for one in (~truth, truth & (whole == 1), truth | True, array(np.array, truth)):
        assert one.form.of == "truth"
    assert array(np.array, [truth, whole]).form.of == "whole"
    for name in ("add", "subtract", "multiply", "divide", "minimum", "maximum", "power"):
        for pair in ((truth, 1), (whole, 2), (whole, truth), (np.ones(4, dtype=np.int64), whole)):
            with pytest.raises(Unmodelled, match="can wrap around"):
                combined(name, pair)
    for name in ("negative", "absolute", "square"):
        with pytest.raises(Unmodelled, match="can wrap around"):
            combined(name, (whole,))
    with pytest.raises(Unmodelled, match="over private sums"):
        reduced("add", sums("a", EACH, BINS) > 1.0, axis=-1)


def test_functions_that_no_release_could_have_are_refused_where_they_stand() -> None:
    table = sums("a", EACH, PART)
    truth = table > 1.0
    for wrong in (
        lambda: divmod(table, 1.0), lambda: table @ np.ones(4), lambda: table // 1.0, lambda: table % 1.0,
        lambda: np.log(table), lambda: 2.0**table, lambda: table**3, lambda: table**-1, lambda: truth ^ truth,
        lambda: truth & 1, lambda: table & table, lambda: np.logical_not(table), lambda: table == "a",
        lambda: table * Fraction(1, 2), lambda: Fraction(1, 2) / table, lambda: table * np.ones(4, dtype=np.float32),
        lambda: table + 2**60, lambda: table * np.nan, lambda: called(np.where, (table, 1.0, 0.0), {}),
        lambda: table / 0.0, lambda: table / np.array([1.0, 0.0, 1.0, 1.0]),
        lambda: table * [1.0], lambda: [1] * table, lambda: (1,) * table, lambda: table + "a",
    ):  # fmt: skip
        with pytest.raises(Unmodelled):
            wrong()


def test_every_entry_of_what_could_warn_is_part_of_a_release() -> None:
    Formula.made.clear()
    table, world = sums("a", EACH, PART), World()
    found = combined("divide", (1.0, table))
    (one,) = Formula.made
    for place in range(3):
        assert not one.released
        found[place].cell(("r0",), world)
    assert one.released and one.name == "divide"
    combined("greater", (table, 1.0))
    combined("minimum", (table, 1.0))
    assert called(np.clip, (table * 2.0**9, -1.0, 8), {}).form.order == 3
    few = combined("subtract", (combined("add", (table, table)), 4.0)) * 2.0 / 0.25
    assert few.form.order == 6 and (few * 16.0 * (table > 2.0)).form.order == 10
    assert Formula.made == [one]
    for many in (lambda: few * 64.0, lambda: few / 2.0**-6, lambda: table * table, lambda: table + 2.0**10,
                 lambda: called(np.where, (table > 1.0, table, -np.inf), {}) + table):  # fmt: skip
        Formula.made.clear()
        many()
        assert len(Formula.made) == 1
    Formula.made.clear()
    ways = Axis("option", 5, 2, ("ways", "x", "y"))
    found = combined("square", (sums("a", Axis("each", 2), ways),))
    for index in itertools.product(range(2), range(2)):
        assert not Formula.made[0].released
        found.cell((index[0], (index[1], "o")), world)
    assert Formula.made[0].released
    Formula.made.clear()
    bins = Axis("bins", 9, of=Binned(None, (0, 3), 1))
    for entries in ([("seat", 0, "r0"), ("seat", 3, "r0")], [("side", "r", "o")]):
        found = combined("multiply", (sums("a", bins), sums("b", bins)))
        for entry in entries:
            assert not Formula.made[-1].released
            found.cell((entry,), world)
        assert Formula.made[-1].released
    Formula.made.clear()
