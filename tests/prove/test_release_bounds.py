"""What is asked of one release, with tables made up here: changes at a bound pass, and just above it they do not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

import z3

from refdp.data.kernels import GRID
from refdp.data.population import COUNT
from refdp.data.records import Interval, Numeric, Schema
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import ScopeRef
from refdp.privacy.events import Relation, Sensitivity
from refdp.prove import releases
from refdp.prove.asking import Reply, Solvers, name_of, number, real
from refdp.prove.releases import Unproved, check
from refdp.prove.tables import ALL, Axis, Choices, Sum, Table
from refdp.prove.terms import Leak, Unmodelled
from refdp.prove.unknown import Unknown

pytestmark = pytest.mark.usefixtures("on_grid")
SCHEMA = Schema((Numeric("x", 0.0, 1.0),), Interval(-2.0, 3.0))
ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
PART, OPTION = Axis("part", 4, of=("node", 1, 1)), Axis("option", 5, of=("sides", b""))
SOLVERS = Solvers()
Cell = Callable[[Any, Any], Any]


def host(relation: Relation = ADD) -> Unknown:
    return Unknown(relation, SCHEMA, SOLVERS)


def between(own: Unknown, low: Any, high: Any, optional: bool = False) -> Any:
    """An unknown in these bounds. optional: another one for every option."""
    one = real()
    own.known[name_of(one)] = [one >= number(low), one <= number(high)]
    if optional:
        own.optional.add(name_of(one))
    return one


def changes(own: Unknown, sizes: Sequence[tuple[Any, Any]], sums: bool = False) -> Table:
    """Entries that each change by anything between two numbers."""
    moves, common = [between(own, *size) for size in sizes], [real() for _ in sizes]

    def cell(index: Any, world: Any) -> Any:
        return common[index[0]], common[index[0]] + moves[index[0]]

    return Table((Axis("each", len(sizes)),), cell)


def counts(*axes: Axis, seats: Callable[[Any], Any] = lambda index: (), state: int = 0, **more: Any) -> Table:
    """Counts of records, of those in the part that an index names."""
    return Table(
        axes,
        lambda index, world: Sum(
            state, COUNT, more.get("scopes", ()), seats(index), ALL, None, more.get("units", False)
        ),
    )


def asked(own: Unknown, value: Any, mechanism: Any, bound: Any, norm: Any, scopes: tuple[ScopeRef, ...] = ()) -> None:
    declared = Sensitivity(bound, norm, "a/claim", own.relation)
    request: Any = SimpleNamespace(value=value, mechanism=mechanism, sensitivity=declared, scopes=scopes, name="r")
    check(own, request)


def least(made: Callable[[Unknown], Any], mechanism: Any, bound: float, norm: Any, relation: Relation = ADD) -> None:
    """The bound is enough, and nothing smaller is."""
    own = host(relation)
    asked(own, made(own), mechanism, bound, norm)
    own = host(relation)
    with pytest.raises(Unproved):
        asked(own, made(own), mechanism, bound * (1 - 2.0**-20), norm)


NODES = lambda index: (((("node", 1, 1)), index[0]),)  # noqa: E731


def test_changes_in_l1_and_l2() -> None:
    sizes = [(-1, 1), (0, Fraction(1, 2)), (-2, 0), (0, 0)]
    least(lambda own: changes(own, sizes), Laplace(1.0), 3.5, 1)
    least(lambda own: changes(own, sizes), Gaussian(1.0), math.nextafter(math.sqrt(5.25), 9), 2)
    least(lambda own: changes(own, [(0, 1), (0, 1)]), Laplace(1.0), 2.0, 1)
    least(lambda own: changes(own, [(-3, 1)]), Gaussian(1.0), 3.0, 2)
    asked(own := host(), changes(own, [(0, 0), (0, 0)]), Laplace(1.0), 0.0, 1)


def test_changes_in_units_of_several_deviations() -> None:
    """(3 / 2)^2 + (1 / 4)^2 and the like; a common deviation too."""
    bound = math.nextafter(math.sqrt(2.25 + 1 / 16), 9)
    least(lambda own: changes(own, [(-3, 1), (0, 1)]), Gaussian((2.0, 4.0)), bound, "whitened")
    least(lambda own: changes(own, [(-3, 1), (0, 4)]), Gaussian(2.0), 2.5, "whitened")
    least(lambda own: counts(Axis("each", 2)), DiscreteGaussian((0.5, 0.25), 0.25), math.nextafter(math.sqrt(20), 9),
          "whitened")  # fmt: skip
    own = host()
    with pytest.raises(Unmodelled, match="several deviations"):
        asked(own, changes(own, [(0, 1)]), DiscreteGaussian((0.5,), 0.25), 9.0, "whitened")


@pytest.mark.parametrize(("sizes", "step", "bound"), [
    ([(-1, 1)], 0.25, 1.25), ([(0, 1)], 0.375, 1.125), ([(0, 1), (-1, 0)], 0.25, 2.5),
    ([(0, Fraction(3, 4))], 1.0, 1.0),
])  # fmt: skip
def test_rounding_to_a_grid_adds_less_than_a_step_to_each_change(sizes: Any, step: float, bound: float) -> None:
    least(lambda own: changes(own, sizes), DiscreteLaplace(1.0, step), bound, 1)


def test_sums_on_the_grid_are_not_rounded() -> None:
    """Counts are multiples of 1, and so of a quarter; not of 3/8."""
    for step, bound in ((0.25, 1.0), (1.0, 1.0), (0.375, 1.125)):
        least(lambda own: counts(Axis("each", 1)), DiscreteLaplace(1.0, step), bound, 1)
    for step, bound in ((0.25, 1.0), (1.0, 1.0), (0.375, 1.375)):
        least(lambda own: counts(Axis("each", 1)), DiscreteGaussian(1.0, step), bound, 2)
    least(lambda own: counts(Axis("each", 3)), DiscreteGaussian(1.0, 0.25), math.nextafter(math.sqrt(3), 9), 2)


def test_rounding_adds_the_root_of_how_many_change_in_l2() -> None:
    above = 1 + 2.0**-40
    least(lambda own: changes(own, [(-1, 1)]), DiscreteGaussian(1.0, 0.25), 1.25, 2)
    least(lambda own: changes(own, [(-1, 1), (0, 1)]), DiscreteGaussian(1.0, 0.25), 1.25 * math.sqrt(2) * above, 2)

    def one_of_two(own: Unknown) -> Table:
        table = changes(own, [(0, 1), (0, 1)])
        first, second = (table.cell((k,), None)[1] - table.cell((k,), None)[0] for k in (0, 1))
        for one in (first, second):
            for name in [name for name in own.known if name in str(one)]:
                own.known[name].append(z3.Or(z3.simplify(first) == 0, z3.simplify(second) == 0))
        return table

    least(one_of_two, DiscreteGaussian(1.0, 0.25), 1.25, 2)
    own = host()
    with pytest.raises(Unproved, match="no room"):
        asked(own, changes(own, [(0, 0.0625)]), DiscreteGaussian(1.0, 0.25), 0.125, 2)


@pytest.mark.parametrize(("mechanism", "bound", "norm"), [
    (Laplace(1.0), 2.0, 1), (Gaussian(1.0), math.nextafter(math.sqrt(2), 9), 2),
    (DiscreteLaplace(1.0, 0.5), 2.0, 1), (DiscreteGaussian(1.0, 0.25), math.nextafter(math.sqrt(2), 9), 2),
    (Gaussian((0.5,)), math.nextafter(math.sqrt(8), 99), "whitened"),
])  # fmt: skip
def test_a_replaced_record_moves_from_one_part_to_another(mechanism: Any, bound: float, norm: Any) -> None:
    """Two counts change by one each, and by the record's halves alone they would be thought to change by two."""
    parts = replace(PART, size=4)
    axes = (parts, Axis("each", 1)) if norm == "whitened" else (parts,)
    least(lambda own: counts(*axes, seats=NODES), mechanism, bound, norm, REPLACE)


def test_as_many_records_as_before_where_one_is_replaced() -> None:
    own = host(REPLACE)
    asked(own, counts(Axis("each", 1)), Laplace(1.0), 2.0, 1)
    least(lambda own: changes(own, [(-1, 1)]), Laplace(1.0), 1.0, 1, REPLACE)


def options(own: Unknown, low: Any, high: Any, *, kind: Any = Table, first: Sequence[Axis] = ()) -> Table:
    """Utilities of options, each of which changes by anything between two numbers, beside what all share."""
    move, shared, common = between(own, low, high, optional=True), between(own, -7, 7), real()
    own.optional.add(name_of(common))
    return kind((*first, OPTION), lambda index, world: (common, common + shared + move))


def test_the_range_of_a_change() -> None:
    """Greatest less least change over the options; what all share is left out."""
    for low, high in ((-1, 1), (0, 1), (-1, 0), (Fraction(-1, 4), Fraction(3, 4)), (Fraction(-5, 8), Fraction(3, 8))):
        least(lambda own, low=low, high=high: options(own, low, high),  # type: ignore[misc]
              Exponential(1.0), float(Fraction(high) - low), "range")  # fmt: skip
    own = host(REPLACE)
    asked(own, options(own, -1, 1), Exponential(1.0), 4.0, "range")
    own = host(REPLACE)
    with pytest.raises(Unproved):
        asked(own, options(own, -1, 1), Exponential(1.0), 3.99, "range")


def test_choices_of_several_groups_share_the_bound() -> None:
    def groups(own: Unknown) -> Table:
        moves = [between(own, 0, 1, optional=True) for _ in range(3)]
        common = real()
        return Choices(
            (Axis("each", 3), PART, OPTION),
            lambda index, world: (common, common + moves[index[0]] if index[1] == "r0" else common),
        )

    least(groups, Exponential(1.0), 3.0, "range")


@pytest.mark.parametrize(("axes", "fits"), [
    ((OPTION,), True), ((PART, OPTION), True), ((Axis("each", 1), PART, OPTION), True),
    ((Axis("each", 2), OPTION), False),
    ((OPTION, PART), False), ((OPTION, OPTION), False), ((PART,), False), ((Axis("each", 2), PART, OPTION), False),
])  # fmt: skip
def test_a_record_decides_one_choice(axes: Any, fits: bool) -> None:
    own = host()
    common = real()
    move = between(own, 0, 1, optional=True)
    value = Table(axes, lambda index, world: (common, common + move) if "r9" not in index else (common, common))
    if fits:
        asked(own, value, Exponential(1.0), 1.0, "range")
    else:
        with pytest.raises(Unmodelled, match="several choices"):
            asked(own, value, Exponential(1.0), 1.0, "range")


def test_utilities_may_not_be_reshaped_nor_released_as_sums() -> None:
    own = host()
    with pytest.raises(Unmodelled, match="reshaped"):
        asked(own, Table((PART, OPTION), lambda index, world: (real(),) * 2, (20,)), Exponential(1.0), 1.0, "range")
    with pytest.raises(Unmodelled, match="every candidate"):
        asked(own, options(own, 0, 0), Laplace(1.0), 1.0, 1)


def test_other_values_mechanisms_and_norms_are_refused() -> None:
    own = host()
    for value, mechanism, norm in ((3.0, Laplace(1.0), 1), (counts(PART), object(), 1), (counts(PART), Laplace(1.0), 2),
                                   (counts(PART), Gaussian(1.0), 1), (counts(PART), Laplace(1.0), "whitened"),
                                   (counts(PART), Exponential(1.0), 1), (counts(OPTION), Gaussian(1.0), "range"),
                                   (counts(Axis("bins", 3)), Laplace(1.0), 1)):  # fmt: skip
        with pytest.raises(Unmodelled):
            asked(own, value, mechanism, 9.0, norm)


def test_parts_without_the_record_do_not_change() -> None:
    own, extra = host(), real()
    asked(own, counts(PART, seats=NODES), Laplace(1.0), 1.0, 1)
    with pytest.raises(Unproved, match="not in"):
        asked(own, Table((PART,), lambda index, world: (extra, extra + int(index[0] == "r9"))), Laplace(1.0), 1.0, 1)
    with pytest.raises(Unmodelled, match="different parts"):
        asked(own, counts(PART, seats=lambda index: (("a", index[0]), ("b", index[0]))), Laplace(1.0), 1.0, 1)


def test_no_divisor_is_0_on_either_side() -> None:
    for low, wrong in ((Fraction(1, 4), False), (0, True)):
        own = host()
        size, move = between(own, low, 2), between(own, 0, Fraction(1, 8))
        value = Table((Axis("each", 1),), lambda index, world, a=size, b=move: (1 / a, 1 / a + b))
        if wrong:
            with pytest.raises(Unproved, match="divisor"):
                asked(own, value, Laplace(1.0), 0.125, 1)
        else:
            asked(own, value, Laplace(1.0), 0.125, 1)
    own = host()
    same = real()
    asked(own, Table((Axis("each", 1),), lambda index, world: (1 / same, 1 / same)), Laplace(1.0), 0.125, 1)


def test_a_value_stays_within_2_to_the_52_steps() -> None:
    """Not asked where 2^26 records stay within them."""
    for step, bound, fails in ((2.0**-26, 1.0, False), (2.0**-27, 1.0, True), (2.0**-27, 0.5, False)):
        own = host()
        common, move = real(), between(own, 0, Fraction(bound))
        value = Table((Axis("each", 1),), lambda index, world, a=common, b=move: (a, a + b))
        declared = bound + step
        for mechanism, norm in ((DiscreteLaplace(1.0, step), 1), (DiscreteGaussian(1.0, step), 2)):
            far = declared * 2.0**26 > 2.0**52 * step
            if far:
                with pytest.raises(Unproved, match="2\\^52 steps"):
                    asked(own, value, mechanism, declared, norm)
            else:
                asked(own, value, mechanism, declared, norm)
        assert fails <= far
    for most in (2.0**24, 2.0**24 * 1.01):
        own = host()
        common, move = between(own, -most, most - 1), between(own, 0, 1)
        value = Table((Axis("each", 1),), lambda index, world, a=common, b=move: (a, a + b))
        if most == 2.0**24:
            asked(own, value, DiscreteLaplace(1.0, 2.0**-28), 1 + 2.0**-28, 1)
        else:
            with pytest.raises(Unproved, match="2\\^52 steps"):
                asked(own, value, DiscreteLaplace(1.0, 2.0**-28), 1 + 2.0**-28, 1)


def test_facts_that_exclude_each_other_show_nothing() -> None:
    own = host()
    value = changes(own, [(1, 0)])
    with pytest.raises(Unproved, match="exclude each other"):
        asked(own, value, Laplace(1.0), 5.0, 1)


def test_what_is_released_in_a_block_is_about_its_records() -> None:
    scope = ScopeRef(3, "s", "partition", (0.5, 0.5), 1)
    inside = counts(PART, seats=NODES, scopes=((3, 1),))
    asked(host(), inside, Laplace(1.0), 1.0, 1, (scope,))
    asked(host(), inside, Laplace(1.0), 1.0, 1)
    asked(host(), counts(Axis("each", 1), scopes=((3, 1),)), Laplace(1.0), 1.0, 1, (scope,))
    whole = counts(Axis("each", 1)), counts(), counts(Axis("each", 2), scopes=((3, 0),))
    for other in (counts(PART, seats=NODES), counts(PART, seats=NODES, scopes=((3, 0),)), *whole):
        with pytest.raises(Leak, match="outside"):
            asked(host(), other, Laplace(1.0), 1.0, 1, (scope,))
    with pytest.raises(Unmodelled, match="units of the grid"):
        asked(host(), counts(PART, seats=NODES, units=True), Laplace(1.0), 1.0, 1)


def test_what_solvers_found_is_told() -> None:
    own = host()
    with pytest.raises(Unproved) as error:
        asked(own, changes(own, [(0, 3)]), Laplace(1.0), 2.0, 1)
    assert error.value.found and error.value.exact and any(2 < value <= 3 for value in error.value.values.values())
    assert str(error.value) == "the change exceeds 2"
    plain = Unproved("a reason")
    assert plain.found and plain.values == {} and not plain.exact and str(plain) == "a reason"
    open_ = Unproved("a reason", releases.Reply((("z3", "unknown"), ("cvc5", "unknown"))))
    assert not open_.found and str(open_) == "a reason: no solver decides"
    assert GRID == 2.0**-24


def test_one_solver_that_finds_a_failure_is_enough_for_it() -> None:
    for answers, found in ((("sat", "unknown"), True), (("unknown", "sat"), True), (("unknown", "unknown"), False),
                           (("unsat", "unknown"), False)):  # fmt: skip
        reply = Reply(tuple(zip(("z3", "cvc5"), answers, strict=True)), {}, lambda: True)  # type: ignore[arg-type]
        problem = Unproved("too much", reply)
        assert problem.found is found and (str(problem) == "too much") is found and problem.exact


def test_a_replaced_record_is_looked_at_in_the_same_part_and_in_others() -> None:
    """Sums of numbers from -2 to 1 move by 3 in one part, which is more than by 2 in each of two."""

    def sums(own: Unknown, low: int, high: int, seats: Any) -> Table:
        own._memo["statistics", 0] = {COUNT: None, "g": between(own, low, high)}, None
        for record in ("x", "z"):
            own._memo["own", 0, "g", record] = between(own, low, high)
        return Table((PART,), lambda index, world: Sum(0, "g", (), seats(index), ALL, None))

    least(lambda own: sums(own, -2, 1, NODES), Gaussian(1.0), 3.0, 2, REPLACE)
    root: Any = lambda index: ((("root", 1, 0), index[0]),)  # noqa: E731
    least(lambda own: sums(own, 0, 2, root), Gaussian(1.0), 2.0, 2, REPLACE)
    least(lambda own: sums(own, 0, 2, NODES), Gaussian(1.0), math.nextafter(math.sqrt(8), 9), 2, REPLACE)


def bins(own: Unknown, low: int, many: int = 3) -> Table:
    """Sums of so many statistics from low to 1, of which every record has one that is not 0."""
    names = [f"bin {number}" for number in range(many)]
    own._memo["statistics", 0] = {name: between(own, low, 1) for name in names}, None
    for record in ("x", "z"):
        moves = [between(own, low, 1) for _ in names]
        for one, other in itertools.combinations(moves, 2):
            own.known[name_of(one)].append(z3.Or(one == 0, other == 0))
        own._memo.update({("own", 0, name, record): move for name, move in zip(names, moves, strict=True)})
    return Table((Axis("each", many),), lambda index, world: Sum(0, names[index[0]], (), (), ALL, None))


@pytest.mark.parametrize(("mechanism", "rounded"), [(Gaussian(1.0), 0.0), (DiscreteGaussian(1.0, 0.25), 0.25)])
def test_a_replaced_record_in_one_of_several_sums(mechanism: Any, rounded: float) -> None:
    """Of which no record makes one smaller: two sums move by one each, and both can be rounded."""
    bound = math.sqrt(2) * (1 + rounded) * (1 + 2.0**-40)
    least(lambda own: bins(own, 0), mechanism, bound, 2, REPLACE)
    with pytest.raises(Unproved):  # from -1 to 1 in one sum
        asked(own := host(REPLACE), bins(own, -1), mechanism, bound, 2)
    asked(own := host(REPLACE), bins(own, -1), mechanism, 2 + math.sqrt(2) * rounded, 2)


def test_costs_of_noise_that_follows_from_parameters_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(opens: Any, mechanism: Any, declared: Any) -> None:
        assert (opens, mechanism) == ("parameters", Laplace(1.0)) and declared.bound == 1.0
        raise Unmodelled("seen")

    monkeypatch.setattr(releases, "check_cost", refused)
    own = host()
    asked(own, changes(own, [(0, 1)]), Laplace(1.0), 1.0, 1)
    own.opens = "parameters"  # type: ignore[assignment]
    with pytest.raises(Unmodelled, match="seen"):
        asked(own, changes(own, [(0, 1)]), Laplace(1.0), 1.0, 1)
