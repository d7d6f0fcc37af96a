"""Functions of a training text, as the prove reading runs them on private, released, open and plain values."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

import z3

from refdp.data import candidates as grids
from refdp.data.records import Categorical, Classes, Numeric, Schema
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import Request
from refdp.privacy.events import Relation, Sensitivity
from refdp.prove import exchange
from refdp.prove.asking import Solvers, real
from refdp.prove.forms import Form
from refdp.prove.kinds import Kind, followed, kind_of
from refdp.prove.loops import Loop, Loops, Number, Numbers
from refdp.prove.open import Open, Opens
from refdp.prove.planned import Key, key_of
from refdp.prove.symbols import Each, Fixed, Known, Private, _arrays, privates, public, sized, unchanged, varies
from refdp.prove.tables import Axis, Table
from refdp.prove.terms import Leak, Unmodelled

SOLVERS = Solvers()
OPENS = Opens({"a": (0.5, 2.0)}, lambda conditions: SOLVERS.ask(conditions).refuted, {}, lambda _: None)
OPEN = OPENS.parameter("a", 1.0)
EACH, TRUTH = Each(real(), None), Each(real() > 0, None, Kind("truth"))


def table(*axes: Axis, told: Any = None) -> Table:
    return Table(axes, lambda index, world: (told, index, world))


def number(*each: int) -> Number:
    loop = Loop(Loops(), "a line", range(len(each)), Form(frozenset(), frozenset()), None)
    loop.rounds = list(range(1, len(each)))
    return Number(loop, each)


# --- Arrays -----------------------------------------------------------------------------------------------------------


def is_new(made: Any, one: Any) -> bool:
    """Whether it stands for the same numbers and is another object, as numpy's array is; a parameter is one number."""
    return (made is one) is (one is OPEN) and type(made) is type(one) and vars(made) == vars(one)


def test_an_array_of_a_symbol_is_a_new_symbol_of_the_same_numbers() -> None:
    own = Known(np.arange(3))
    numpy = exchange._Numpy()
    for make in (numpy.asarray, numpy.array):
        for one in (own, EACH, OPEN):
            assert is_new(make(one), one)
        assert is_new(make(OPEN, float), OPEN) and is_new(make(OPEN, dtype=np.float64), OPEN)
        assert is_new(make(own, float), own)
        assert type(make(own, int)) is Known and make(own, int).example.tolist() == [0, 1, 2]
        for kind in (int, bool):
            with pytest.raises(Unmodelled, match="another kind of numbers"):
                make(OPEN, kind)
        found = make([1, 2], float)
        assert found.dtype == float and make([1.5, 2.0], dtype=int).tolist() == [1, 2]
    assert is_new(numpy.array(EACH, copy=True), EACH) and numpy.sqrt is np.sqrt


def test_an_array_of_each_record_is_of_the_kind_that_is_named() -> None:
    numpy = exchange._Numpy()
    for given, named, of in (((int,), {}, "whole"), ((float,), {}, "float"), ((), {"dtype": np.int64}, "whole")):
        made = numpy.array(TRUTH, *given, **named)
        assert made.kind == Kind(of, 0, True) and z3.simplify(made.term).sort() == z3.RealSort()
        assert SOLVERS.ask([made.term != z3.If(TRUTH.term, z3.RealVal(1), z3.RealVal(0))]).refuted
    assert is_new(numpy.array(EACH, float), EACH)
    with pytest.raises(Unmodelled, match="can be another number"):
        numpy.array(TRUTH, dtype=np.uint8)
    for kind in (int, np.float32):
        with pytest.raises(Unmodelled, match="can be another number"):
            numpy.array(EACH, kind)
    with pytest.raises(Unmodelled, match="another kind"):
        Each(real(), None, Kind("whole")).astype(float)
    with pytest.raises(Unmodelled, match="another kind"):
        numpy.array([EACH], int)


def test_released_and_plain_numbers_make_a_released_array() -> None:
    made = exchange._Numpy.array([Known(1.0), 2], dtype=int)
    assert type(made) is Known and made.example.tolist() == [1, 2] and made.example.dtype == int
    with pytest.raises((Leak, Unmodelled)):
        exchange._Numpy.array([Known(1.0), EACH])
    ranged = exchange._Numpy.arange(1, Known(7), 2)
    assert type(ranged) is Known and ranged.example.tolist() == [1, 3, 5]
    assert exchange._Numpy.arange(1, 5, 2, dtype=float).tolist() == [1.0, 3.0]


def test_tables_are_stacked_where_their_axes_are_alike() -> None:
    axis, other = Axis("each", 2), Axis("each", 3)
    found = exchange._Numpy.array([table(axis, other, told="a"), table(axis, other, told="b")])
    assert isinstance(found, Table) and found.shape == (2, 2, 3)
    assert found.cell((1, 0, 2), "w") == ("b", (0, 2), "w") and found.cell((0, 1, 2), "w") == ("a", (1, 2), "w")
    with pytest.raises(Unmodelled, match="different parts"):
        exchange.stacked([table(axis), table(other)])


# --- Functions of released values -------------------------------------------------------------------------------------


def listed(a: Any, b: Any = 2) -> Any:
    """What it is given."""
    return [a, b]


def test_a_function_is_run_on_examples_of_released_values() -> None:
    run = exchange.released_only(listed)
    assert run.__wrapped__ is listed and run(1) == [1, 2] and run([1], b=3) == [[1], 3]
    expected: list[tuple[Any, Any, Any]] = [
        ((Known(1),), {}, [1, 2]), ((1,), {"b": Known(5)}, [1, 5]), (([Known(1), 4],), {}, [[1, 4], 2]),
        (({"x": Known(3)},), {}, [{"x": 3}, 2]),
    ]  # fmt: skip
    for given, named, example in expected:
        found = run(*given, **named)
        assert type(found) is Known and found.example == example and found._varying
    assert run(EACH) == [EACH, 2] and run(Known(1), EACH)[1] is EACH  # the text's own, on values that stay symbols


def test_a_function_of_numbers_of_rounds_is_run_round_by_round() -> None:
    own = number(0, 4, 4, 5)
    run = exchange.released_only(lambda one, more=0: one[0] + more if isinstance(one, list) else one + more)
    assert run(own, more=1) == 5 and own.loop.rounds == [1, 2]
    own = number(0, 4, 4, 5)
    assert run([own], 2) == 6 and own.loop.rounds == [1, 2]
    over = Numbers(own.loop, [0, 1, 1, 2], 2)
    assert exchange.released_only(sum)(over) == 3


def test_a_released_array_beside_open_parameters() -> None:
    def scaled(one: Any, by: Any) -> Any:
        return one * by

    run = exchange.released_only(scaled)
    found = run(Known(3.0), OPEN)  # numbers alone: as public and as unknown as they are
    assert type(found) is Known and found.example == 3.0 and found._varying
    kept = run(Known(np.arange(3)), OPEN)
    assert type(kept) is not Known or not isinstance(kept.example, list)
    boxed = SimpleNamespace(a=1)
    assert exchange._with_open(lambda one, by: boxed, (Known(3.0), OPEN), {}) is boxed
    for made in (np.arange(3), np.float64(2), np.array([True])):
        found = exchange._with_open(lambda one, by, made=made: made, (Known(3.0),), {"by": OPEN})
        assert type(found) is Known and found._varying and np.array_equal(found.example, made)


def test_builtins_of_released_open_and_plain_numbers() -> None:
    most = exchange._plain_builtin(max)
    assert most(1, 3, 2) == 3 and most([4, 5], key=lambda one: -one) == 4
    found = most(Known(2.0), 1)
    assert type(found) is Known and found.example == 2.0
    assert most(number(0, 3, 3), 2) == 3
    larger = most(OPEN, 0.75)
    assert isinstance(larger, Open) and OPENS.never(larger.term < z3.RealVal("0.75"))
    least = exchange._plain_builtin(min)(OPEN, 0.75)
    assert isinstance(least, Open) and OPENS.never(least.term > z3.RealVal("0.75"))
    assert exchange._plain_builtin(float)(OPEN) is OPEN
    with pytest.raises(Unmodelled):
        exchange._plain_builtin(int)(OPEN)


def test_sums_to_the_right_are_over_bins_of_one_feature_and_none_that_is_missing() -> None:
    schema = Schema((Numeric("x", 0.0, 1.0), Categorical("c", ("a", "b", "d"))), Classes(("0", "1")))
    own = grids.uniform(schema, 3)
    right = type(own).right_sums
    exchange.check_sides(own, right)
    size = len(own.feature)
    place = int(own.offsets[own.feature[0]])
    for row, new in ((place, 1.0), (place + 1, 0.5), (int(own.offsets[own.feature[-1]]) + 1, 1.0)):
        other = grids.uniform(schema, 3)

        def wrong(candidates: Any, unit: Any, row: int = row, new: float = new) -> Any:
            made = right(candidates, unit)
            assert made.shape[-1] == size
            made[row, 0] = new
            return made

        with pytest.raises(Unmodelled, match="to the right"):
            exchange.check_sides(other, wrong)


def test_what_has_something_released_in_it_is_not_the_same_in_every_run() -> None:
    own, drawn = grids.uniform(Schema((Numeric("x", 0.0, 1.0),), Classes(("0", "1"))), 3), Known(np.arange(3.0))
    made = exchange._known(lambda *given: given[0])
    assert type(made(own)) is Fixed and made(own).example is own and type(made((own, 1.0))) is Fixed
    assert made(drawn) is drawn and made(Fixed(own)).example is own
    for value in ((drawn, 0.0), grids.Candidates((drawn,), own.categorical)):  # type: ignore[arg-type]
        with pytest.raises(Unmodelled, match="the same in every run"):
            made(value)


# --- Values -----------------------------------------------------------------------------------------------------------


def nested(value: Any, depth: int) -> Any:
    for place in range(depth):
        value = [value] if place % 2 else {"a": value}
    return value


def test_what_is_private_is_found_in_everything_that_is_handed_over() -> None:
    box = SimpleNamespace(a=EACH)
    for value in (EACH, [EACH], (1, [EACH]), {"a": EACH}, box, {1: (2, {"b": [EACH]})}, nested(EACH, 12)):
        assert list(privates(value)) == [EACH]
    assert list(privates([EACH, TRUTH, EACH])) == [EACH, TRUTH, EACH]
    around: list[Any] = [TRUTH]
    around.append(around)
    assert set(map(id, privates(around))) == {id(TRUTH)}
    for value in (1, "a", None, Known([1.0]), np.zeros(3), Private, [], SimpleNamespace(a=1)):
        assert not list(privates(value))


def test_arrays_of_examples_cannot_be_written_to_meanwhile() -> None:
    own, other, closed, deep = np.zeros(2), np.zeros(3), np.zeros(4), np.zeros(5)
    closed.flags.writeable = False
    around: list[Any] = [own]
    around.append(around)
    given = (around, {"a": Known(other)}, closed, nested(deep, 9))
    assert {len(one) for one in _arrays(given)} == {2, 3, 4, 5}
    with unchanged(given):
        for one in (own, other, closed, deep):
            assert not one.flags.writeable
    assert own.flags.writeable and other.flags.writeable and deep.flags.writeable and not closed.flags.writeable


def test_which_functions_of_released_values_give_more_or_fewer_entries() -> None:
    one = Known(np.arange(3))
    assert sized("where", (one,), {}) and not sized("where", (one, 1, 2), {}) and sized("unique", (one,), {})
    assert not sized("repeat", (one, 2), {}) and sized("repeat", (1, one), {}) and sized("repeat", (1,), {"n": one})
    assert sized("cumsum", (one, one), {}) and sized("sum", (one,), {"axis": one}), "an axis decides"
    assert not sized("searchsorted", (one, one), {}) and sized("take", (one, 1, one), {})
    free = Known(np.arange(3), True)
    assert varies(free) and varies([1, (free,)]) and varies({"a": [free]}) and not varies([one, {"a": 1}, "a"])
    assert public([one, {"a": (free, 2)}])[1]["a"][1] == 2
    with pytest.raises(Leak):
        public({"a": EACH})


def test_kinds_of_public_numbers() -> None:
    small = {
        True: ("truth", 0, True), 3: ("whole", 0, True), -1024: ("whole", 0, True), 1025: ("whole", 0, False),
        -1025: ("whole", 0, False), 1024.0: ("float", 0, True), 0.5: ("float", 0, False),
        -1024.5: ("float", 0, False),
    }  # fmt: skip
    for value, kind in small.items():
        assert kind_of(value) == Kind(*kind)
    assert kind_of(np.bool_(False)) == Kind("truth", 0, True) and kind_of(np.float64(3)) == Kind("float", 0, True)
    assert kind_of(np.int64(3)) == Kind("whole", 0, True) and kind_of(np.zeros(2)) == Kind("whole", 0, False)


FAR, UP, DOWN = Kind(below=True, above=True), Kind(above=True), Kind(below=True)


@pytest.mark.parametrize(("name", "kinds", "numbers", "below", "above", "lost"), [
    ("add", [FAR, Kind()], [None, None], True, True, True),
    ("subtract", [Kind(), UP], [1.0, None], True, False, True),
    ("subtract", [UP, UP], [None, None], True, True, True),
    ("negative", [UP], [None], True, False, False),
    ("absolute", [DOWN], [None], False, True, False),
    ("minimum", [FAR, Kind()], [None, 1.0], True, False, False),
    ("minimum", [UP, Kind()], [None, 1.0], False, False, False),
    ("maximum", [FAR, UP], [None, None], False, True, False),
    ("where", [Kind("truth"), DOWN, Kind()], [None, None, 1.0], True, False, False),
    ("multiply", [FAR, Kind()], [None, 0.5], True, True, False),
    ("multiply", [UP, Kind()], [None, 3.0], True, True, True),
    ("multiply", [UP, Kind()], [None, None], True, True, True),
    ("divide", [FAR, Kind()], [None, 4.0], True, True, False),
    ("divide", [Kind(), FAR], [1.0, None], False, False, False),
    ("minimum", [FAR._replace(lost=True), Kind()], [None, 1.0], True, False, True),
    ("maximum", [Kind(below=True, lost=True), Kind()], [None, 1.0], False, False, False),
])  # fmt: skip
def test_what_is_of_any_size(name: str, kinds: Any, numbers: Any, below: bool, above: bool, lost: bool) -> None:
    found = followed(name, kinds, numbers)
    assert (found.below, found.above, found.lost, found.wide) == (below, above, lost, below or above)


@pytest.mark.parametrize(("name", "kinds"), [
    ("add", [FAR._replace(lost=True), Kind()]), ("subtract", [Kind(), UP._replace(lost=True)]),
    ("multiply", [FAR, UP]), ("divide", [FAR, DOWN]), ("square", [FAR]),
])  # fmt: skip
def test_what_float64_loses_of_numbers_of_any_size(name: str, kinds: Any) -> None:
    with pytest.raises(Unmodelled, match="numbers of any size"):
        followed(name, kinds, [None] * len(kinds))


@pytest.mark.parametrize(("name", "kinds", "numbers", "roundings", "small"), [
    ("add", [(0, True), (0, True)], [None, None], 0, True),
    ("add", [(0, True), (0, False)], [None, 0.5], 2, False),
    ("multiply", [(0, False), (0, True)], [None, 4.0], 0, False),
    ("multiply", [(1, False), (0, False)], [None, 0.25], 1, False),
    ("multiply", [(0, False), (0, True)], [None, -3.0], 1, False),
    ("multiply", [(0, True), (0, False)], [3.0, None], 1, False),
    ("multiply", [(1, False), (0, True)], [None, 3.0], 2, False),
    ("multiply", [(2, False), (0, True)], [None, 3.0], 2, False),
    ("multiply", [(0, False), (0, False)], [None, None], 2, False),
    ("divide", [(0, False), (0, True)], [None, 8.0], 0, False),
    ("divide", [(0, False), (0, True)], [None, 3.0], 1, False),
    ("divide", [(0, True), (0, False)], [1.0, None], 2, False),
    ("divide", [(0, True), (0, True)], [None, 4.0], 0, False),
    ("minimum", [(1, True), (0, True)], [None, 2.0], 1, True),
    ("negative", [(2, False)], [None], 2, False),
    ("exp", [(0, False)], [None], 2, False),
])  # fmt: skip
def test_how_often_a_value_was_rounded(name: str, kinds: Any, numbers: Any, roundings: int, small: bool) -> None:
    given = [Kind("float", *one) for one in kinds]
    assert followed(name, given, numbers) == Kind("float", roundings, small)


def test_what_numpy_does_otherwise_than_real_numbers_is_not_followed() -> None:
    whole, truth, real_one, rounded = Kind("whole", 0, True), Kind("truth", 0, True), Kind(), Kind("float", 1)
    assert followed("less", [real_one, whole], [None, 1]) == Kind("truth") == Kind("truth", 0, False)
    assert followed("add", [real_one, whole], [None, 0.5]).of == "float"
    assert followed("where", [truth, whole, truth], [None] * 3) == Kind("whole", 0, True)
    assert followed("where", [truth, truth, truth], [None] * 3) == Kind("truth", 0, True)
    assert followed("where", [truth, rounded, real_one], [None, None, 1.0]) == Kind("float", 1)
    assert followed("where", [truth, whole, Kind("whole")], [None, None, 1]) == Kind("whole")
    refused: list[tuple[str, Any, str]] = [
        ("less", [real_one, rounded], "rounded"), ("where", [whole, real_one, real_one], "no truth"),
        ("add", [whole, truth], "wrap around"), ("rint", [truth], "wrap around"),
    ]  # fmt: skip
    for name, kinds, what in refused:
        with pytest.raises(Unmodelled, match=what):
            followed(name, kinds, [None] * len(kinds))


def test_releases_of_one_kind_have_names_that_differ_in_numbers() -> None:
    noise, sensitivity = Laplace(2.0), Sensitivity(1.0, 1, "clipping", Relation.ADD_REMOVE)
    scope = SimpleNamespace(kind="partition", weights=(0.5, 0.5), method="poisson")
    chosen = SimpleNamespace(kind="subsample", weights=(0.1,), method="fixed size")
    request: Any = SimpleNamespace(path=("tree 3", "level 12 of node #"), mechanism=noise, sensitivity=sensitivity,
                                   scopes=(scope, chosen))  # fmt: skip
    assert key_of(request) == Key("level # of node #", noise, sensitivity,
                                  (("partition", (0.5, 0.5), ""), ("subsample", (0.1,), "fixed size")))  # fmt: skip
    assert {"path", "mechanism", "sensitivity", "scopes"} <= set(Request.__dataclass_fields__)
